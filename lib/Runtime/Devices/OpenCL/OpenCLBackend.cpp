//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Drivers.h"
#include "../Stream/DriverLibrary.h"
#include "../Stream/FoundDevices.h"
#include "../Stream/ObjectTable.h"
#include "../Stream/RecordedGraph.h"
#include "Driver.h"

#include "zyx/Base/Hash.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <deque>
#include <mutex>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::opencl;

namespace {

constexpr const char *buildOptions = "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";
/// Longer messages of the driver's compiler are cut.
constexpr size_t maxLog = 4000;
/// Work items that share a kernel's programs, for each core of a processor: the last to end is waited for.
constexpr size_t itemsOfCore = 8;

/// A kernel's arguments are part of the kernel: one launch at a time sets them.
struct LoadedKernel {
  opencl::Kernel kernel = nullptr;
  size_t mostThreads = 1;
  std::mutex mutex;
  /// What the arguments are, and how often memory had been given back when they were set.
  std::vector<uint64_t> values;
  uint64_t numFreed = 0;
};

struct LoadedModule {
  opencl::Program program = nullptr;
  std::deque<LoadedKernel> kernels;
};

Status check(Code code) { return Driver::statusOf(code); }
Status check(Code code, const std::string &action) { return cannot(action, Driver::statusOf(code)); }

class OpenCLBackend final : public FoundDevice<Backend, Driver, DeviceFound> {
public:
  using FoundDevice::FoundDevice;
  ~OpenCLBackend() override {
    for (const auto &[handle, memory] : memories.all())
      (void)driver.memoryRelease(memory);
    if (context)
      (void)driver.contextRelease(context);
  }
  Status open() {
    const intptr_t properties[] = {contextPlatform, reinterpret_cast<intptr_t>(found.platform), 0};
    Code code = 0;
    ZYX_ASSIGN_OR_RETURN(hasGraphs, chooseGraphs("OPENCL_GRAPHS", !found.isCPU));
    context = driver.contextCreate(properties, 1, &found.ordinal, nullptr, nullptr, &code);
    return check(code, "open device '" + itsFacts.name + "'");
  }

  Result<uint64_t> allocate(StreamHandle stream, uint64_t bytes) override;
  Status free(StreamHandle, uint64_t handle) override {
    // The driver keeps it for commands that are not over, and names other memory by it later.
    ++numFreed;
    return check(driver.memoryRelease(memories.take(handle)));
  }
  void freeHost(void *memory) override {
    const std::lock_guard lock(mutex);
    for (CommandQueue queue : queues)
      (void)driver.finish(queue);
    Backend::freeHost(memory);
  }
  Status upload(StreamHandle stream, MemoryRef to, const void *from, uint64_t bytes) override {
    return check(driver.copyIn(native(stream), memories.find(to), 0, to.offset, bytes, from, 0, nullptr, nullptr));
  }
  Status download(StreamHandle stream, void *to, MemoryRef from, uint64_t bytes) override {
    return check(driver.copyOut(native(stream), memories.find(from), 0, from.offset, bytes, to, 0, nullptr, nullptr));
  }
  Status copy(StreamHandle stream, const CopyCommand &copy) override {
    return check(driver.copy(native(stream), memories.find(copy.from), memories.find(copy.to), copy.from.offset,
                             copy.to.offset, copy.bytes, 0, nullptr, nullptr));
  }
  Status fill(StreamHandle stream, const FillCommand &fill) override {
    return check(driver.fill(native(stream), memories.find(fill.to), &fill.pattern, fill.patternBytes, fill.to.offset,
                             fill.bytes, 0, nullptr, nullptr));
  }

  Result<ModuleHandle> load(const artifact::CodeBlob &code) override;
  void unload(ModuleHandle module) override {
    const std::unique_ptr<LoadedModule> owned(objectOf<LoadedModule>(module));
    for (LoadedKernel &each : owned->kernels)
      (void)driver.kernelRelease(each.kernel);
    (void)driver.programRelease(owned->program);
  }
  Result<KernelHandle> find(ModuleHandle module, const artifact::Kernel &kernel) override;
  Status launch(StreamHandle stream, const LaunchCommand &launch) override {
    return prepare(launch, [&](opencl::Kernel kernel, const size_t *all, const size_t *threads) {
      return driver.launch(native(stream), kernel, 1, nullptr, all, threads, 0, nullptr, nullptr);
    });
  }
  std::unique_ptr<CommandGraph> createGraph() override;

  Result<StreamHandle> createStream() override {
    Code code = 0;
    CommandQueue queue = driver.queueCreate(context, found.ordinal, queueProfiling, &code);
    ZYX_RETURN_IF_ERROR(check(code));
    const std::lock_guard lock(mutex);
    queues.push_back(queue);
    return handleOf<StreamHandle>(queue);
  }
  void destroyStream(StreamHandle stream) override {
    const std::lock_guard lock(mutex);
    std::erase(queues, native(stream));
    (void)driver.queueRelease(native(stream));
  }
  Status synchronize(StreamHandle stream) override { return Driver::statusOfWait(driver.finish(native(stream))); }
  Result<EventHandle> createEvent(bool) override { return handleOf<EventHandle>(new opencl::Event(nullptr)); }
  void destroyEvent(EventHandle event) override {
    const std::unique_ptr<opencl::Event> owned(objectOf<opencl::Event>(event));
    release(*owned);
  }
  Status record(StreamHandle stream, EventHandle event) override {
    opencl::Event &into = *objectOf<opencl::Event>(event);
    release(into);
    const Code code = driver.marker(native(stream), 0, nullptr, &into);
    // Another queue, or the host, may wait for what was handed over: the driver has to begin with it.
    return check(code != 0 ? code : driver.flush(native(stream)));
  }
  Status wait(StreamHandle stream, EventHandle event) override {
    const opencl::Event &awaited = *objectOf<opencl::Event>(event);
    return awaited ? check(driver.barrier(native(stream), 1, &awaited, nullptr)) : Status::ok();
  }
  Status synchronize(EventHandle event) override {
    const opencl::Event &awaited = *objectOf<opencl::Event>(event);
    return awaited ? Driver::statusOfWait(driver.eventWait(1, &awaited)) : Status::ok();
  }
  Result<uint64_t> elapsed(EventHandle begin, EventHandle end) override {
    uint64_t times[2] = {};
    for (const EventHandle each : {begin, end})
      ZYX_RETURN_IF_ERROR(check(
          driver.eventTime(*objectOf<opencl::Event>(each), eventEnd, sizeof(uint64_t), &times[each == end], nullptr)));
    return times[1] > times[0] ? times[1] - times[0] : 0;
  }

private:
  friend class OpenCLGraph;
  static CommandQueue native(StreamHandle stream) { return objectOf<CommandQueueTag>(stream); }
  /// Sets the arguments of a kernel and calls with it, its threads and those of a workgroup, while nobody changes them.
  template <typename F> Status prepare(const LaunchCommand &launch, F &&hand);
  void release(opencl::Event &event) {
    if (event)
      (void)driver.eventRelease(std::exchange(event, nullptr));
  }
  Code build(opencl::Program program) const {
    return driver.build(program, 1, &found.ordinal, buildOptions, nullptr, nullptr);
  }
  std::string logOf(opencl::Program program) const;

  bool hasGraphs = false;
  Context context = nullptr;
  ObjectTable<opencl::Memory> memories;
  std::atomic<uint64_t> numFreed = 0;
  /// Of the queues.
  std::mutex mutex;
  std::vector<CommandQueue> queues;
};

Result<uint64_t> OpenCLBackend::allocate(StreamHandle stream, uint64_t bytes) {
  ZYX_RETURN_IF_ERROR(checkAllocation(bytes, itsFacts.name, found.largestBytes));
  Code code = 0;
  opencl::Memory memory = driver.memoryCreate(context, memoryReadWrite, bytes, nullptr, &code);
  ZYX_RETURN_IF_ERROR(check(code));
  // Else some drivers take the memory when it is used first, and fail there.
  code = driver.migrate(native(stream), 1, &memory, migrateUndefined, 0, nullptr, nullptr);
  if (code != 0) {
    (void)driver.memoryRelease(memory);
    return check(code);
  }
  return memories.add(memory, bytes);
}

std::string OpenCLBackend::logOf(opencl::Program program) const {
  size_t length = 0;
  (void)driver.buildInfo(program, found.ordinal, programLog, 0, nullptr, &length);
  std::string log(length, '\0');
  (void)driver.buildInfo(program, found.ordinal, programLog, length, log.data(), nullptr);
  return log.substr(0, std::min(log.find('\0'), maxLog));
}

Result<ModuleHandle> OpenCLBackend::load(const artifact::CodeBlob &code) {
  const std::string_view text(reinterpret_cast<const char *>(code.bytes.data()), code.bytes.size());
  if (!found.has(DType::F64) && text.find("cl_khr_fp64") != std::string_view::npos)
    return refuseDType(itsFacts.name, DType::F64);
  const std::string key = textOf({"opencl ", itsFacts.identity, "\n", buildOptions, "\n", hashBytes(text).toHex()});
  Code result = 0, taken = 0;
  opencl::Program program = nullptr;
  if (const auto kept = findKept(key)) {
    const auto *bytes = reinterpret_cast<const unsigned char *>(kept->data());
    const size_t size = kept->size();
    program = driver.programOfBinary(context, 1, &found.ordinal, &size, &bytes, &taken, &result);
    // What the driver does not take any more is made again.
    if (program && (result != 0 || taken != 0 || build(program) != 0))
      (void)driver.programRelease(std::exchange(program, nullptr));
  }
  if (!program) {
    const char *begin = text.data();
    const size_t size = text.size();
    program = driver.programOfText(context, 1, &begin, &size, &result);
    ZYX_RETURN_IF_ERROR(check(result, "take the text of kernels"));
    if (const Status status = check(build(program), textOf({"compile kernels on device '", itsFacts.name, "'"}));
        !status.isOk()) {
      const std::string log = logOf(program);
      (void)driver.programRelease(program);
      return Status(status.code(), status.message() + (log.empty() ? "" : ": ") + log);
    }
    size_t binarySize = 0;
    if (cache && driver.programInfo(program, programSizes, sizeof(size_t), &binarySize, nullptr) == 0) {
      std::vector<std::byte> bytes(binarySize);
      std::byte *into = bytes.data();
      if (binarySize != 0 && driver.programInfo(program, programBinaries, sizeof(into), &into, nullptr) == 0)
        cache->keep(key, bytes);
    }
  }
  return handleOf<ModuleHandle>(new LoadedModule{program, {}});
}

Result<KernelHandle> OpenCLBackend::find(ModuleHandle module, const artifact::Kernel &kernel) {
  LoadedModule &owner = *objectOf<LoadedModule>(module);
  Code code = 0;
  opencl::Kernel made = driver.kernelCreate(owner.program, ("k_" + kernel.symbol).c_str(), &code);
  ZYX_RETURN_IF_ERROR(check(code, "find kernel " + kernel.name + " in its code"));
  LoadedKernel &loaded = owner.kernels.emplace_back(made);
  ZYX_RETURN_IF_ERROR(check(driver.kernelInfo(made, found.ordinal, kernelGroupThreads, sizeof(loaded.mostThreads),
                                              &loaded.mostThreads, nullptr),
                            "ask how many threads kernel " + kernel.name + " may have"));
  ZYX_RETURN_IF_ERROR(checkLimits(kernel, itsFacts.name, {loaded.mostThreads, found.facts.sharedBytes}));
  return handleOf<KernelHandle>(&loaded);
}

template <typename F> Status OpenCLBackend::prepare(const LaunchCommand &launch, F &&hand) {
  LoadedKernel &loaded = *objectOf<LoadedKernel>(launch.kernel);
  const std::lock_guard lock(loaded.mutex);
  unsigned index = 0;
  if (const uint64_t freed = numFreed; std::exchange(loaded.numFreed, freed) != freed)
    loaded.values.clear();
  // What it is already is not set again.
  const auto set = [&](uint64_t value) {
    if (index == loaded.values.size())
      loaded.values.push_back(~value);
    if (std::exchange(loaded.values[index++], value) == value)
      return Status::ok();
    const Status status = check(driver.kernelSet(loaded.kernel, index - 1, sizeof(value), &value));
    if (!status.isOk())
      loaded.values.clear();
    return status;
  };
  for (const KernelArgument &argument : launch.arguments) {
    if (argument.isBuffer)
      ZYX_RETURN_IF_ERROR(set(reinterpret_cast<uintptr_t>(memories.find(argument.memory))));
    ZYX_RETURN_IF_ERROR(set(argument.isBuffer ? argument.memory.offset : argument.value));
  }
  size_t threads = launch.threads, all = launch.allThreads();
  if (!launch.isByGroup)
    threads = std::min(threads, found.isCPU ? 1 : std::bit_floor(loaded.mostThreads));
  if (!launch.isByGroup && found.isCPU)
    all = std::min(all, itemsOfCore * found.facts.processors);
  return check(hand(loaded.kernel, &all, &threads));
}

/// A command buffer. One that is given back ends when what it was handed over for is over.
class OpenCLGraph final : public RecordedGraph {
public:
  explicit OpenCLGraph(OpenCLBackend &backend) : backend(backend), calls(backend.found.recording) {}
  Status launch(StreamHandle stream) override {
    CommandQueue queue = OpenCLBackend::native(stream);
    if (isStale) {
      constexpr uint64_t forMany[] = {recordingFlags, 1, 0};
      Code code = 0;
      list.reset(calls.create(1, &queue, forMany, &code));
      ZYX_RETURN_IF_ERROR(check(code));
      for (const AnyCommand &each : commands)
        ZYX_RETURN_IF_ERROR(std::visit([&](const auto &command) { return put(command); }, each));
      ZYX_RETURN_IF_ERROR(check(calls.finish(list.get())));
      isStale = false;
    }
    return check(calls.enqueue(1, &queue, list.get(), 0, nullptr, nullptr));
  }

private:
  Status put(const LaunchCommand &launch) {
    return backend.prepare(launch, [&](opencl::Kernel kernel, const size_t *all, const size_t *threads) {
      return calls.launch(list.get(), nullptr, nullptr, kernel, 1, nullptr, all, threads, 0, nullptr, nullptr, nullptr);
    });
  }
  Status put(const CopyCommand &copy) {
    return check(calls.copy(list.get(), nullptr, nullptr, backend.memories.find(copy.from),
                            backend.memories.find(copy.to), copy.from.offset, copy.to.offset, copy.bytes, 0, nullptr,
                            nullptr, nullptr));
  }
  Status put(const FillCommand &fill) {
    return check(calls.fill(list.get(), nullptr, nullptr, backend.memories.find(fill.to), &fill.pattern,
                            fill.patternBytes, fill.to.offset, fill.bytes, 0, nullptr, nullptr, nullptr));
  }

  OpenCLBackend &backend;
  const Recording &calls;
  std::unique_ptr<CommandBufferTag, decltype(Recording::release)> list{nullptr, calls.release};
};

std::unique_ptr<CommandGraph> OpenCLBackend::createGraph() {
  return hasGraphs && found.recording.version >= oldestRecording ? std::make_unique<OpenCLGraph>(*this) : nullptr;
}

} // namespace

Result<std::shared_ptr<Device>> runtime::createOpenCLDevice(std::string name, const DeviceOptions &options) {
  return createFound<OpenCLBackend, Driver>(std::move(name), options);
}

std::vector<DeviceListing> runtime::listOpenCLDevices() { return listFound<Driver>(); }
