//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A backend as the table of a plug-in, a library of its own: the other side of PluginBackend. Programs that name no
// device of it neither open it nor carry its code. What a backend refuses and how it fails goes through the table in
// its own words.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_PLUGIN_EXPORT_H
#define ZYX_LIB_RUNTIME_DEVICES_PLUGIN_EXPORT_H

#include "../Stream/Backend.h"

#include "zyx-c/Backend.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <new>
#include <set>

namespace zyx::runtime {

/// As for devices in the runtime (Stream/FoundDevices.h), each `Found` of a driver has the facts of a device, and a
/// refusal or nothing.
template <typename DriverBackend, typename Driver, typename Found> class Export {
public:
  /// Texts of the table are of the process.
  static const zyx_backend_v1 *table(const char *name, const char *description) {
    static zyx_backend_v1 made = {};
    made.struct_size = sizeof(made);
    made.abi_version = ZYX_BACKEND_ABI_VERSION;
    made.name = name;
    listing().name = name;
    made.description = description;
    addDevice(made);
    addMemory(made);
    addCode(made);
    addOrder(made);
    return &made;
  }

private:
  using Code = zyx_backend_code;
  using Error = zyx_backend_error;

  static Backend &of(void *device) { return *static_cast<Backend *>(device); }
  static MemoryRef from(zyx_backend_memory memory) { return {memory.handle, memory.offset}; }
  static Code tell(const Status &status, Error *error) {
    if (!status.isOk())
      std::snprintf(error->text, error->size, "%s", status.message().c_str());
    return static_cast<Code>(status.code());
  }
  /// Nothing may be thrown through the table, and the host's memory may end anywhere.
  template <typename Body> static Code guarded(Error *error, Body body) {
    try {
      return tell(body(), error);
    } catch (const std::bad_alloc &) {
      return tell(Status::outOfMemory("out of memory"), error);
    }
  }
  /// Of a call that gives something.
  template <typename Into, typename Body> static Code given(Error *error, Into *into, Body body) {
    return guarded(error, [&]() -> Status {
      ZYX_ASSIGN_OR_RETURN(auto made, body());
      *into = static_cast<Into>(made);
      return Status::ok();
    });
  }

  /// What was found when the number of devices was asked for.
  struct Listing {
    std::mutex mutex;
    std::string name;
    const Driver *driver = nullptr;
    std::vector<Found> all;
    Status failure;
    std::set<std::string> texts;

    Status find() {
      all.clear();
      ZYX_ASSIGN_OR_RETURN(driver, Driver::open());
      ZYX_ASSIGN_OR_RETURN(all, driver->find());
      return Status::ok();
    }
    Result<Found> at(uint32_t index) const {
      if (index >= all.size())
        return failure.isOk() ? Status::notFound("there is no such device") : failure;
      const Found &found = all[index];
      if (!found.refusal.empty())
        return Status::unsupported(found.facts.identity + ": " + found.refusal);
      return found;
    }
  };
  static Listing &listing() {
    static Listing &its = *new Listing;
    return its;
  }

  static void addDevice(zyx_backend_v1 &made) {
    // Of one that is not there, its facts say why.
    made.device_count = [] {
      Listing &its = listing();
      const std::lock_guard lock(its.mutex);
      try {
        its.failure = its.find();
      } catch (const std::bad_alloc &) {
        its.failure = Status::outOfMemory("out of memory");
      }
      return static_cast<uint32_t>(std::max<size_t>(its.all.size(), 1));
    };
    made.get_facts = [](uint32_t index, zyx_backend_facts_v1 *into, Error *error) {
      return guarded(error, [&]() -> Status {
        Listing &its = listing();
        const std::lock_guard lock(its.mutex);
        ZYX_ASSIGN_OR_RETURN(const Found found, its.at(index));
        const DeviceFacts &facts = found.facts;
        into->target = its.texts.insert(facts.target).first->c_str();
        into->identity = its.texts.insert(facts.identity).first->c_str();
        into->architecture = its.texts.insert(facts.architecture).first->c_str();
        into->processors = facts.processors;
        into->lanes = facts.lanes;
        into->megahertz = facts.megahertz;
        into->workgroup_threads = facts.workgroupThreads;
        into->subgroup_threads = facts.subgroupThreads;
        into->shared_bytes = facts.sharedBytes;
        into->memory_bytes = facts.memoryBytes;
        into->free_bytes = facts.freeBytes.value_or(facts.memoryBytes);
        into->alignment = facts.alignment;
        for (DType dtype : facts.dtypes)
          into->dtypes |= 1u << static_cast<unsigned>(dtype);
        return Status::ok();
      });
    };
    made.open = [](uint32_t index, void **device, Error *error) {
      return guarded(error, [&]() -> Status {
        Listing &its = listing();
        const std::lock_guard lock(its.mutex);
        ZYX_ASSIGN_OR_RETURN(Found found, its.at(index));
        const std::string name = its.name + (index == 0 ? "" : ":" + std::to_string(index));
        auto backend = std::make_unique<DriverBackend>(*its.driver, std::move(found), name, nullptr);
        ZYX_RETURN_IF_ERROR(backend->open());
        *device = static_cast<Backend *>(backend.release());
        return Status::ok();
      });
    };
    made.close = [](void *device) { delete &of(device); };
    made.enter = [](void *device, Error *error) { return guarded(error, [&] { return of(device).enter(); }); };
    made.leave = [](void *device) { of(device).leave(); };
  }

  static void addMemory(zyx_backend_v1 &made) {
    made.allocate = [](void *device, uint64_t stream, uint64_t bytes, uint64_t *handle, Error *error) {
      return given(error, handle, [&] { return of(device).allocate(StreamHandle(stream), bytes); });
    };
    made.free = [](void *device, uint64_t stream, uint64_t handle, Error *error) {
      return guarded(error, [&] { return of(device).free(StreamHandle(stream), handle); });
    };
    made.trim = [](void *device, Error *error) { return guarded(error, [&] { return of(device).trim(); }); };
    made.allocate_host = [](void *device, uint64_t bytes, void **memory, Error *error) {
      return given(error, memory, [&] { return of(device).allocateHost(bytes); });
    };
    made.free_host = [](void *device, void *memory) { of(device).freeHost(memory); };
    made.upload = [](void *device, uint64_t stream, zyx_backend_memory to, const void *data, uint64_t bytes,
                     Error *error) {
      return guarded(error, [&] { return of(device).upload(StreamHandle(stream), from(to), data, bytes); });
    };
    made.download = [](void *device, uint64_t stream, void *to, zyx_backend_memory memory, uint64_t bytes,
                       Error *error) {
      return guarded(error, [&] { return of(device).download(StreamHandle(stream), to, from(memory), bytes); });
    };
    made.copy = [](void *device, uint64_t stream, zyx_backend_memory to, zyx_backend_memory memory, uint64_t bytes,
                   Error *error) {
      return guarded(error, [&] { return of(device).copy(StreamHandle(stream), {from(to), from(memory), bytes}); });
    };
    made.fill = [](void *device, uint64_t stream, zyx_backend_memory to, uint64_t bytes, uint64_t pattern,
                   uint32_t patternBytes, Error *error) {
      const FillCommand command = {from(to), bytes, pattern, static_cast<uint8_t>(patternBytes)};
      return guarded(error, [&] { return of(device).fill(StreamHandle(stream), command); });
    };
  }

  static void addCode(zyx_backend_v1 &made) {
    made.load = [](void *device, const char *format, const void *code, size_t size, uint64_t *module, Error *error) {
      return given(error, module, [&]() -> Result<ModuleHandle> {
        artifact::Artifact whole;
        whole.target = of(device).facts().target;
        const auto *bytes = static_cast<const std::byte *>(code);
        whole.code.push_back({format, {bytes, bytes + size}});
        ZYX_RETURN_IF_ERROR(of(device).accept(whole));
        return of(device).load(whole.code[0]);
      });
    };
    made.unload = [](void *device, uint64_t module) { of(device).unload(ModuleHandle(module)); };
    made.find = [](void *device, uint64_t module, const zyx_backend_kernel_v1 *what, uint64_t *kernel, Error *error) {
      return given(error, kernel, [&] {
        artifact::Kernel wanted;
        wanted.symbol = what->symbol;
        wanted.name = what->name;
        wanted.numBuffers = what->num_buffers;
        wanted.numScalars = what->num_scalars;
        wanted.numWritten = what->num_written;
        wanted.groupThreads = what->group_threads;
        wanted.sharedBytes = what->shared_bytes;
        wanted.clusterGroups = what->cluster_groups;
        wanted.stackBytes = what->stack_bytes;
        return of(device).find(ModuleHandle(module), wanted);
      });
    };
    // Arguments lie as in a replay: PluginBackend hands over its own.
    made.launch = [](void *device, uint64_t stream, const zyx_backend_launch_v1 *what, Error *error) {
      const LaunchCommand command = {KernelHandle(what->kernel),
                                     what->groups,
                                     what->threads,
                                     what->shared_bytes,
                                     {reinterpret_cast<const KernelArgument *>(what->arguments), what->num_arguments},
                                     what->parameters};
      return guarded(error, [&] { return of(device).launch(StreamHandle(stream), command); });
    };
  }

  static void addOrder(zyx_backend_v1 &made) {
    made.create_stream = [](void *device, uint64_t *stream, Error *error) {
      return given(error, stream, [&] { return of(device).createStream(); });
    };
    made.destroy_stream = [](void *device, uint64_t stream) { of(device).destroyStream(StreamHandle(stream)); };
    made.synchronize_stream = [](void *device, uint64_t stream, Error *error) {
      return guarded(error, [&] { return of(device).synchronize(StreamHandle(stream)); });
    };
    made.native_stream = [](void *device, uint64_t stream) { return of(device).nativeStream(StreamHandle(stream)); };
    made.create_event = [](void *device, int isTimed, uint64_t *event, Error *error) {
      return given(error, event, [&] { return of(device).createEvent(isTimed != 0); });
    };
    made.destroy_event = [](void *device, uint64_t event) { of(device).destroyEvent(EventHandle(event)); };
    made.record = [](void *device, uint64_t stream, uint64_t event, Error *error) {
      return guarded(error, [&] { return of(device).record(StreamHandle(stream), EventHandle(event)); });
    };
    made.wait = [](void *device, uint64_t stream, uint64_t event, Error *error) {
      return guarded(error, [&] { return of(device).wait(StreamHandle(stream), EventHandle(event)); });
    };
    made.synchronize_event = [](void *device, uint64_t event, Error *error) {
      return guarded(error, [&] { return of(device).synchronize(EventHandle(event)); });
    };
    made.elapsed = [](void *device, uint64_t begin, uint64_t end, uint64_t *nanoseconds, Error *error) {
      return given(error, nanoseconds, [&] { return of(device).elapsed(EventHandle(begin), EventHandle(end)); });
    };
  }
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_PLUGIN_EXPORT_H
