//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Objects.h"

#include "zyx/Base/Debug.h"
#include "zyx/Runtime/Plugin.h"

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::c;

namespace {

constexpr size_t leastOptions = offsetof(zyx_device_options, thread_pool),
                 leastPool = ZYX_SIZE_UP_TO(zyx_thread_pool, release),
                 leastAllocator = ZYX_SIZE_UP_TO(zyx_allocator, release),
                 leastFacts = ZYX_SIZE_UP_TO(zyx_device_facts, dtypes),
                 leastStatistics = ZYX_SIZE_UP_TO(zyx_statistics, pool_high_water);

/// A host program's functions, which are told when nobody needs them any more. A call that fails has changed nothing,
/// so that only who has owned them says so.
template <typename Functions> class Given {
public:
  explicit Given(const Functions &given) : given(given) {}
  ~Given() {
    if (isOwner && given.release)
      given.release(given.context);
  }
  Given(const Given &) = delete;
  /// From here on it releases.
  void own() { isOwner = true; }

  const Functions given;

private:
  bool isOwner = false;
};

class GivenPool : public ThreadPool, public Given<zyx_thread_pool> {
public:
  using Given::Given;
  unsigned threads() const override { return given.threads; }
  void run(unsigned calls, Body body, void *context) override {
    struct Call {
      Body body;
      void *context;
    } call{body, context};
    given.run(
        given.context, calls,
        [](void *argument, uint32_t index) {
          const auto *of = static_cast<Call *>(argument);
          of->body(of->context, index);
        },
        &call);
  }
};

class GivenAllocator : public HostAllocator, public Given<zyx_allocator> {
public:
  using Given::Given;
  void *allocate(uint64_t size, uint64_t alignment) override { return given.allocate(given.context, size, alignment); }
  void deallocate(void *data, uint64_t size) override { given.deallocate(given.context, data, size); }
};

Result<std::shared_ptr<GivenPool>> givenPool(const zyx_thread_pool &pool) {
  ZYX_ASSIGN_OR_RETURN(const zyx_thread_pool known, take(pool, leastPool, "thread_pool"));
  ZYX_RETURN_IF_ERROR(checkNull(reinterpret_cast<const void *>(known.run), "thread_pool.run"));
  return std::make_shared<GivenPool>(known);
}

Result<std::shared_ptr<GivenAllocator>> givenAllocator(const zyx_allocator &allocator) {
  ZYX_ASSIGN_OR_RETURN(const zyx_allocator known, take(allocator, leastAllocator, "allocator"));
  ZYX_RETURN_IF_ERROR(checkNull(reinterpret_cast<const void *>(known.allocate), "allocator.allocate"));
  ZYX_RETURN_IF_ERROR(checkNull(reinterpret_cast<const void *>(known.deallocate), "allocator.deallocate"));
  return std::make_shared<GivenAllocator>(known);
}

/// The texts are those of `listing`; the numbers may be newer.
void giveFacts(const DeviceListing &listing, const DeviceFacts &now, zyx_device_facts *to) {
  uint32_t dtypes = 0;
  for (DType dtype : now.dtypes)
    dtypes |= uint32_t(1) << static_cast<unsigned>(dtype);
  zyx_device_facts facts = {};
  facts.name = listing.name.c_str();
  facts.present = listing.present;
  facts.description = listing.description.c_str();
  facts.target = listing.facts.target.c_str();
  facts.identity = listing.facts.identity.c_str();
  facts.architecture = listing.facts.architecture.c_str();
  facts.processors = now.processors;
  facts.lanes = now.lanes;
  facts.megahertz = now.megahertz;
  facts.workgroup_threads = now.workgroupThreads;
  facts.subgroup_threads = now.subgroupThreads;
  facts.shared_bytes = now.sharedBytes;
  facts.memory_bytes = now.memoryBytes;
  facts.free_bytes = now.freeBytes.value_or(ZYX_UNKNOWN_BYTES);
  facts.alignment = now.alignment;
  facts.dtypes = dtypes;
  give(to, facts);
}

} // namespace

zyx_error *zyx_device_create(const char *name, const zyx_device_options *options, zyx_device **device) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(device, "device"));
    *device = nullptr;
    ZYX_RETURN_IF_ERROR(checkNull(name, "name"));
    DeviceOptions given;
    std::shared_ptr<GivenPool> pool;
    std::shared_ptr<GivenAllocator> allocator;
    if (options) {
      ZYX_ASSIGN_OR_RETURN(const zyx_device_options known, take(*options, leastOptions, "options"));
      given.threads = known.threads;
      given.memoryLimit = known.memory_limit;
      given.oversubscribe = known.oversubscribe != 0;
      if (known.thread_pool) {
        ZYX_ASSIGN_OR_RETURN(pool, givenPool(*known.thread_pool));
        given.threadPool = pool;
      }
      if (known.allocator) {
        ZYX_ASSIGN_OR_RETURN(allocator, givenAllocator(*known.allocator));
        given.allocator = allocator;
      }
    }
    auto result = std::make_unique<zyx_device>();
    result->counters = std::make_shared<Counters>();
    ZYX_ASSIGN_OR_RETURN(result->device, createDevice(name, given));
    result->listing = {result->device->name(), true, "", result->device->facts()};
    result->listing.description = result->listing.facts.identity;
    // Nothing fails any more, so that they are released with the device.
    if (pool)
      pool->own();
    if (allocator)
      allocator->own();
    *device = result.release();
    return Status::ok();
  });
}

void zyx_device_release(zyx_device *device) { delete device; }

zyx_error *zyx_load_backend(const char *path) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(path, "path"));
    return loadBackend(path).status();
  });
}

zyx_error *zyx_register_backend(const zyx_backend_v1 *table) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(table, "table"));
    return registerBackend(*table).status();
  });
}

zyx_error *zyx_device_list_create(zyx_device_list **list) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(list, "list"));
    *list = nullptr;
    *list = std::make_unique<zyx_device_list>(zyx_device_list{listDevices()}).release();
    return Status::ok();
  });
}

size_t zyx_device_list_size(const zyx_device_list *list) { return list ? list->listings.size() : 0; }

zyx_error *zyx_device_list_get(const zyx_device_list *list, size_t index, zyx_device_facts *facts) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(list, "list"));
    ZYX_RETURN_IF_ERROR(checkNull(facts, "facts"));
    ZYX_RETURN_IF_ERROR(checkStruct(facts->struct_size, leastFacts, "facts"));
    if (index >= list->listings.size())
      return Status::invalidArgument("device " + std::to_string(index) + " of " +
                                     std::to_string(list->listings.size()) + " does not exist");
    giveFacts(list->listings[index], list->listings[index].facts, facts);
    return Status::ok();
  });
}

void zyx_device_list_release(zyx_device_list *list) { delete list; }

zyx_error *zyx_device_get_facts(zyx_device *device, zyx_device_facts *facts) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(device, "device"));
    ZYX_RETURN_IF_ERROR(checkNull(facts, "facts"));
    ZYX_RETURN_IF_ERROR(checkStruct(facts->struct_size, leastFacts, "facts"));
    giveFacts(device->listing, device->device->facts(), facts);
    return Status::ok();
  });
}

zyx_error *zyx_device_get_statistics(const zyx_device *device, zyx_statistics *statistics) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(device, "device"));
    ZYX_RETURN_IF_ERROR(checkNull(statistics, "statistics"));
    ZYX_RETURN_IF_ERROR(checkStruct(statistics->struct_size, leastStatistics, "statistics"));
    const Counters &counters = *device->counters;
    const PoolUsage usage = device->device->pool()->usage();
    give(statistics, {0, counters.executorsLoaded, counters.executorsAlive, counters.runs, counters.submittedRuns,
                      counters.launches, counters.buffersAllocated, usage.limit, usage.inUse, usage.highWater});
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// The log
//===----------------------------------------------------------------------===//

namespace {

/// Who is called now; changed while no line is printed.
struct LogCallback {
  zyx_log_callback callback = nullptr;
  void *context = nullptr;
};

void printToCallback(void *context, std::string_view topic, std::string_view text) {
  const auto *log = static_cast<LogCallback *>(context);
  log->callback(log->context, std::string(topic).c_str(), std::string(text).c_str());
}

} // namespace

zyx_error *zyx_set_log(const char *topics, zyx_log_callback callback, void *context) {
  return guard([&] {
    const std::vector<std::string> wanted = splitDebugTopics(topics ? topics : "");
    for (const std::string &topic : wanted)
      if (!std::ranges::count(debugTopicNames(), topic))
        return Status::invalidArgument("the log has no topic '" + topic + "'");
    static LogCallback log;
    // Behind this nobody reads what it was.
    setDebugSink(nullptr, nullptr);
    log = {callback, context};
    if (callback)
      setDebugSink(printToCallback, &log);
    enableDebugTopics(wanted);
    return Status::ok();
  });
}
