//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Objects.h"

#include "zyx/Artifact/File.h"

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::c;

static_assert(static_cast<int>(ErrorCode::Internal) == ZYX_INTERNAL);
static_assert(static_cast<int>(DType::F8E5M2) == ZYX_F8E5M2);

namespace {

/// Made in advance, for when nothing can be made; shared and never released.
zyx_error exhausted{outOfHostMemory(), outOfHostMemory().toString()};

constexpr size_t leastExecutorInfo = ZYX_SIZE_UP_TO(zyx_executor_info, pool_high_water),
                 leastMeasurement = ZYX_SIZE_UP_TO(zyx_measurement, host_nanoseconds);

Status load(zyx_device *device, std::span<const std::byte> bytes, const std::string &name, zyx_executor **executor) {
  ZYX_ASSIGN_OR_RETURN(artifact::Artifact artifact, artifact::Artifact::deserialize(bytes, name));
  auto result = std::make_unique<zyx_executor>();
  result->device = device->device;
  result->constantBytes = artifact.constants.size();
  for (const artifact::Command &command : std::span(artifact.commands).subspan(artifact.numInitCommands))
    result->numLaunches += std::holds_alternative<artifact::Launch>(command.action);
  ZYX_ASSIGN_OR_RETURN(result->executor, Executor::create(device->device, std::move(artifact)));
  result->counters = device->counters;
  result->alive.emplace(device->counters);
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

/// One command after the other, with what each took told to the executor's callback.
Status runTraced(zyx_executor &executor) {
  ZYX_ASSIGN_OR_RETURN(const std::vector<CommandTime> times, executor.executor->profile());
  for (const CommandTime &time : times) {
    const zyx_trace_record record = {sizeof(record), time.name.c_str(), time.nanoseconds, time.flops, time.bytes};
    executor.trace(executor.traceContext, &record);
  }
  return Status::ok();
}

/// Of a call that runs the program so often.
void count(const zyx_executor &executor, uint64_t runs, bool isSubmitted = false) {
  executor.counters->runs += runs;
  executor.counters->submittedRuns += isSubmitted ? runs : 0;
  executor.counters->launches += runs * executor.numLaunches;
}

} // namespace

zyx_error *c::makeError(const Status &status) noexcept {
  try {
    return new zyx_error{status, status.toString()};
  } catch (...) {
    return &exhausted;
  }
}

Status c::checkNull(const void *pointer, const char *what) {
  if (pointer)
    return Status::ok();
  return Status::invalidArgument("the argument '" + std::string(what) + "' is NULL");
}

Status c::checkData(const void *data, size_t size) { return size == 0 ? Status::ok() : checkNull(data, "data"); }

Status c::checkStruct(size_t size, size_t least, const char *what) {
  if (size >= least)
    return Status::ok();
  return Status::invalidArgument("struct_size of '" + std::string(what) + "' is " + std::to_string(size) +
                                 ", less than " + std::to_string(least));
}

const char *zyx_version(void) { return ZYX_VERSION; }
uint32_t zyx_api_version(void) { return ZYX_C_API_VERSION; }

zyx_error_code zyx_error_get_code(const zyx_error *error) {
  return error ? static_cast<zyx_error_code>(error->status.code()) : ZYX_OK;
}

const char *zyx_error_get_message(const zyx_error *error) { return error ? error->text.c_str() : ""; }

void zyx_error_release(zyx_error *error) {
  if (error != &exhausted)
    delete error;
}

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
    ZYX_RETURN_IF_ERROR(executor->trace ? runTraced(*executor) : executor->executor->run());
    count(*executor, 1);
    return Status::ok();
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
    count(*executor, 1);
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
    count(*executor, uint64_t(runs) + 1);
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

/// Where a run is handed over: on its device alone, or in an order with a stream of the host program.
enum class Order { Free, Behind, On };

static zyx_error *submitBy(Order order, zyx_executor *executor, void *stream, const zyx_event *const *wait,
                           size_t num_wait, zyx_event **event) {
  return guard([&] {
    if (event)
      *event = nullptr;
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    if (num_wait != 0)
      ZYX_RETURN_IF_ERROR(checkNull(wait, "wait"));
    std::vector<Point> points;
    for (size_t i = 0; i < num_wait; ++i)
      if (wait[i])
        points.push_back(wait[i]->point);
    auto result = event ? std::make_unique<zyx_event>() : nullptr;
    Point run;
    if (executor->trace) {
      for (const Point &point : points)
        ZYX_RETURN_IF_ERROR(point.wait());
      if (order != Order::Free) {
        ZYX_ASSIGN_OR_RETURN(const std::shared_ptr<Fence> fence, executor->device->recordStream(stream));
        ZYX_RETURN_IF_ERROR(fence->wait());
      }
      ZYX_RETURN_IF_ERROR(runTraced(*executor));
    } else {
      Executor &of = *executor->executor;
      ZYX_ASSIGN_OR_RETURN(run, order == Order::Free     ? of.submit(points)
                                : order == Order::Behind ? of.submitBehind(stream, points)
                                                         : of.submitOn(stream, points));
    }
    count(*executor, 1, /*isSubmitted=*/true);
    if (event) {
      result->point = std::move(run);
      *event = result.release();
    }
    return Status::ok();
  });
}

zyx_error *zyx_executor_submit(zyx_executor *executor, const zyx_event *const *wait, size_t num_wait,
                               zyx_event **event) {
  return submitBy(Order::Free, executor, nullptr, wait, num_wait, event);
}

zyx_error *zyx_executor_submit_behind(zyx_executor *executor, void *stream, const zyx_event *const *wait,
                                      size_t num_wait, zyx_event **event) {
  return submitBy(Order::Behind, executor, stream, wait, num_wait, event);
}

zyx_error *zyx_executor_submit_on(zyx_executor *executor, void *stream, const zyx_event *const *wait, size_t num_wait,
                                  zyx_event **event) {
  return submitBy(Order::On, executor, stream, wait, num_wait, event);
}

zyx_error *zyx_device_stream_wait(zyx_device *device, void *stream, const zyx_event *event) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(device, "device"));
    return device->device->letStreamWait(stream, event ? event->point : Point());
  });
}

zyx_error *zyx_executor_set_trace(zyx_executor *executor, zyx_trace_callback callback, void *context) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    executor->trace = callback;
    executor->traceContext = context;
    return Status::ok();
  });
}
