//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx-c/Runtime.h"

#include "zyx/Artifact/File.h"
#include "zyx/Base/Exceptions.h"
#include "zyx/Runtime/Executor.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

using namespace zyx;
using namespace zyx::runtime;

struct zyx_error {
  Status status;
  std::string text;
};
struct zyx_device {
  std::shared_ptr<Device> device;
};
struct zyx_executor {
  std::shared_ptr<Device> device;
  std::unique_ptr<Executor> executor;
  uint64_t constantBytes = 0;
  size_t numLaunches = 0;
};

static_assert(static_cast<int>(ErrorCode::Internal) == ZYX_INTERNAL);
static_assert(static_cast<int>(DType::F8E5M2) == ZYX_F8E5M2);

namespace {

/// Made in advance, for when nothing can be made; shared and never released.
zyx_error exhausted{outOfHostMemory(), outOfHostMemory().toString()};

/// Runs what a function of the surface does. The rooms below throw nothing themselves; what the
/// standard library throws, or a host program's functions, stops here.
template <typename Body> zyx_error *guard(Body body) noexcept {
  const Status status = withoutExceptions(body);
  if (status.isOk())
    return nullptr;
  try {
    return new zyx_error{status, status.toString()};
  } catch (...) {
    return &exhausted;
  }
}

Status checkNull(const void *pointer, const char *what) {
  if (pointer)
    return Status::ok();
  return Status::invalidArgument("the argument '" + std::string(what) + "' is NULL");
}

/// Only memory of no bytes may lie nowhere.
Status checkData(const void *data, size_t size) { return size == 0 ? Status::ok() : checkNull(data, "data"); }

// The sizes of the first versions that were published, which stay what they are when members are added. What
// a caller's version lacks is 0, or is not written.
template <typename Last> constexpr size_t endOf(size_t offset, Last) { return offset + sizeof(Last); }
constexpr size_t leastOptions = offsetof(zyx_device_options, thread_pool),
                 leastPool = endOf(offsetof(zyx_thread_pool, release), &zyx_device_release),
                 leastExecutorInfo = endOf(offsetof(zyx_executor_info, pool_high_water), uint64_t()),
                 leastTensorInfo = endOf(offsetof(zyx_tensor_info, bytes), size_t()),
                 leastMeasurement = endOf(offsetof(zyx_measurement, host_nanoseconds), uint64_t());

/// `least` is the size of the struct's first version.
Status checkStruct(size_t size, size_t least, const char *what) {
  if (size >= least)
    return Status::ok();
  return Status::invalidArgument("struct_size of '" + std::string(what) + "' is " + std::to_string(size) +
                                 ", less than " + std::to_string(least));
}

/// Writes as much as the caller's version of the struct has.
template <typename Info> void give(Info *to, Info value) {
  value.struct_size = to->struct_size;
  std::memcpy(to, &value, std::min(to->struct_size, sizeof(Info)));
}

Status load(zyx_device *device, std::span<const std::byte> bytes, const std::string &name, zyx_executor **executor) {
  ZYX_ASSIGN_OR_RETURN(artifact::Artifact artifact, artifact::Artifact::deserialize(bytes, name));
  auto result = std::make_unique<zyx_executor>();
  result->device = device->device;
  result->constantBytes = artifact.constants.size();
  for (const artifact::Command &command : std::span(artifact.commands).subspan(artifact.numInitCommands))
    result->numLaunches += std::holds_alternative<artifact::Launch>(command.action);
  ZYX_ASSIGN_OR_RETURN(result->executor, Executor::create(device->device, std::move(artifact)));
  *executor = result.release();
  return Status::ok();
}

Status describe(const std::vector<artifact::Argument> &arguments, const char *kind, size_t index,
                zyx_tensor_info *info) {
  ZYX_RETURN_IF_ERROR(checkStruct(info->struct_size, leastTensorInfo, "info"));
  if (index >= arguments.size())
    return Status::invalidArgument(std::string(kind) + " " + std::to_string(index) + " of " +
                                   std::to_string(arguments.size()) + " does not exist");
  const artifact::Argument &argument = arguments[index];
  const Shape &shape = argument.type.shape;
  give(info, {0, argument.name.c_str(), static_cast<zyx_dtype>(argument.type.dtype), shape.size(), shape.data(),
              static_cast<size_t>(*byteSize(argument.type))});
  return Status::ok();
}

Status find(const zyx_executor *executor, const char *name, size_t *index, bool isInput) {
  ZYX_RETURN_IF_ERROR(checkNull(index, "index"));
  *index = 0;
  ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
  ZYX_RETURN_IF_ERROR(checkNull(name, "name"));
  const Executor &of = *executor->executor;
  ZYX_ASSIGN_OR_RETURN(*index, isInput ? of.inputIndex(name) : of.outputIndex(name));
  return Status::ok();
}

/// A host program's pool.
class GivenPool : public ThreadPool {
public:
  explicit GivenPool(const zyx_thread_pool &given) : given(given) {}
  ~GivenPool() override {
    if (isOwner && given.release)
      given.release(given.context);
  }
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
  /// From here on it releases. A call that fails has changed nothing.
  void own() { isOwner = true; }

private:
  zyx_thread_pool given;
  bool isOwner = false;
};

Result<std::shared_ptr<GivenPool>> givenPool(const zyx_thread_pool &pool) {
  ZYX_RETURN_IF_ERROR(checkStruct(pool.struct_size, leastPool, "thread_pool"));
  zyx_thread_pool known = {};
  std::memcpy(&known, &pool, std::min(pool.struct_size, sizeof(known)));
  ZYX_RETURN_IF_ERROR(checkNull(reinterpret_cast<const void *>(known.run), "thread_pool.run"));
  return std::make_shared<GivenPool>(known);
}

std::span<const std::byte> asBytes(const void *data, size_t size) {
  return {static_cast<const std::byte *>(data), size};
}

} // namespace

const char *zyx_version(void) { return ZYX_VERSION; }

zyx_error_code zyx_error_get_code(const zyx_error *error) {
  return error ? static_cast<zyx_error_code>(error->status.code()) : ZYX_OK;
}

const char *zyx_error_get_message(const zyx_error *error) { return error ? error->text.c_str() : ""; }

void zyx_error_release(zyx_error *error) {
  if (error != &exhausted)
    delete error;
}

zyx_error *zyx_device_create(const char *name, const zyx_device_options *options, zyx_device **device) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(device, "device"));
    *device = nullptr;
    ZYX_RETURN_IF_ERROR(checkNull(name, "name"));
    DeviceOptions given;
    std::shared_ptr<GivenPool> pool;
    if (options) {
      // Members that the caller's version does not have are 0.
      zyx_device_options known = {};
      ZYX_RETURN_IF_ERROR(checkStruct(options->struct_size, leastOptions, "options"));
      std::memcpy(&known, options, std::min(options->struct_size, sizeof(known)));
      given.threads = known.threads;
      given.memoryLimit = known.memory_limit;
      given.oversubscribe = known.oversubscribe != 0;
      if (known.thread_pool) {
        ZYX_ASSIGN_OR_RETURN(pool, givenPool(*known.thread_pool));
        given.threadPool = pool;
      }
    }
    auto result = std::make_unique<zyx_device>();
    ZYX_ASSIGN_OR_RETURN(result->device, createDevice(name, given));
    // Nothing fails any more, so that it is released with the device.
    if (pool)
      pool->own();
    *device = result.release();
    return Status::ok();
  });
}

void zyx_device_release(zyx_device *device) { delete device; }

zyx_error *zyx_executor_load_memory(zyx_device *device, const void *bytes, size_t size, zyx_executor **executor) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    *executor = nullptr;
    ZYX_RETURN_IF_ERROR(checkNull(device, "device"));
    ZYX_RETURN_IF_ERROR(checkNull(bytes, "bytes"));
    return load(device, asBytes(bytes, size), "artifact", executor);
  });
}

zyx_error *zyx_executor_load_file(zyx_device *device, const char *path, zyx_executor **executor) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    *executor = nullptr;
    ZYX_RETURN_IF_ERROR(checkNull(device, "device"));
    ZYX_RETURN_IF_ERROR(checkNull(path, "path"));
    ZYX_ASSIGN_OR_RETURN(const ReadOnlyFile file, ReadOnlyFile::open(path));
    ZYX_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, artifact::readFile(file));
    return load(device, bytes, path, executor);
  });
}

void zyx_executor_release(zyx_executor *executor) { delete executor; }

zyx_error *zyx_executor_get_info(const zyx_executor *executor, zyx_executor_info *info) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    ZYX_RETURN_IF_ERROR(checkNull(info, "info"));
    ZYX_RETURN_IF_ERROR(checkStruct(info->struct_size, leastExecutorInfo, "info"));
    const artifact::Artifact &artifact = executor->executor->artifact();
    const PoolUsage usage = executor->device->pool()->usage();
    give(info, {0, artifact.entry.c_str(), artifact.target.c_str(), artifact.inputs.size(), artifact.outputs.size(),
                artifact.kernels.size(), executor->numLaunches, artifact.arenaSize, executor->constantBytes,
                usage.inUse, usage.highWater});
    return Status::ok();
  });
}

zyx_error *zyx_executor_get_input(const zyx_executor *executor, size_t index, zyx_tensor_info *info) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    ZYX_RETURN_IF_ERROR(checkNull(info, "info"));
    return describe(executor->executor->artifact().inputs, "input", index, info);
  });
}

zyx_error *zyx_executor_get_output(const zyx_executor *executor, size_t index, zyx_tensor_info *info) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    ZYX_RETURN_IF_ERROR(checkNull(info, "info"));
    return describe(executor->executor->artifact().outputs, "output", index, info);
  });
}

zyx_error *zyx_executor_find_input(const zyx_executor *executor, const char *name, size_t *index) {
  return guard([&] { return find(executor, name, index, true); });
}

zyx_error *zyx_executor_find_output(const zyx_executor *executor, const char *name, size_t *index) {
  return guard([&] { return find(executor, name, index, false); });
}

zyx_error *zyx_executor_set_input(zyx_executor *executor, size_t index, const void *data, size_t size) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    ZYX_RETURN_IF_ERROR(checkData(data, size));
    return executor->executor->setInput(index, asBytes(data, size));
  });
}

zyx_error *zyx_executor_borrow_input(zyx_executor *executor, size_t index, const void *data, size_t size) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    ZYX_RETURN_IF_ERROR(checkData(data, size));
    // Inputs are never written.
    return executor->executor->bindInput(index, Buffer::borrow(const_cast<void *>(data), size));
  });
}

zyx_error *zyx_executor_borrow_output(zyx_executor *executor, size_t index, void *data, size_t size) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    ZYX_RETURN_IF_ERROR(checkData(data, size));
    return executor->executor->bindOutput(index, Buffer::borrow(data, size));
  });
}

zyx_error *zyx_executor_run(zyx_executor *executor) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    return executor->executor->run();
  });
}

zyx_error *zyx_executor_profile(zyx_executor *executor, uint64_t *nanoseconds) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    ZYX_RETURN_IF_ERROR(checkNull(nanoseconds, "nanoseconds"));
    ZYX_ASSIGN_OR_RETURN(std::vector<CommandTime> times, executor->executor->profile());
    *nanoseconds = 0;
    for (const CommandTime &time : times)
      *nanoseconds += time.nanoseconds;
    return Status::ok();
  });
}

zyx_error *zyx_executor_measure(zyx_executor *executor, uint32_t runs, zyx_measurement *measurement) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    ZYX_RETURN_IF_ERROR(checkNull(measurement, "measurement"));
    ZYX_RETURN_IF_ERROR(checkStruct(measurement->struct_size, leastMeasurement, "measurement"));
    ZYX_ASSIGN_OR_RETURN(const Measurement took, executor->executor->measure(runs));
    give(measurement, {0, took.deviceNanoseconds, took.hostNanoseconds});
    return Status::ok();
  });
}

zyx_error *zyx_executor_read_output(const zyx_executor *executor, size_t index, void *data, size_t size) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    ZYX_RETURN_IF_ERROR(checkData(data, size));
    return executor->executor->readOutput(index, {static_cast<std::byte *>(data), size});
  });
}
