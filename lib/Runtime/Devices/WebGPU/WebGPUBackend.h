//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_WEBGPU_WEBGPUBACKEND_H
#define ZYX_LIB_RUNTIME_DEVICES_WEBGPU_WEBGPUBACKEND_H

#include "../Stream/FoundDevices.h"
#include "../Stream/ObjectTable.h"
#include "Driver.h"

#include <cstdlib>
#include <map>

namespace zyx::runtime::webgpu {

/// Launches that are handed over together, and the bytes of arguments that each has.
inline constexpr uint32_t launchesOfSubmission = 64, argumentBytes = 256, argumentWords = argumentBytes / 4;

struct Memory {
  WGPUBuffer buffer = nullptr;
  uint64_t bytes = 0;
};
struct LoadedKernel {
  std::string name;
  uint32_t numBuffers = 0, numScalars = 0;
  bool isByGroup = false;
  WGPUComputePipeline pipeline = nullptr;
  WGPUBindGroupLayout layout = nullptr;
};
struct LoadedModule {
  WGPUShaderModule shader = nullptr;
  std::vector<std::unique_ptr<LoadedKernel>> kernels;
};
struct RecordedEvent {
  bool isTimed = false, wasRecorded = false;
  uint64_t submission = 0;
  /// When the host was told that it was reached.
  uint64_t reached = 0;
};

/// One queue: what streams are handed is done in the order of the calls.
class WebGPUBackend final : public Backend, protected FoundDevice<Driver, AdapterFound> {
public:
  using FoundDevice::FoundDevice;
  const BackendFacts &facts() const override { return itsFacts; }
  ~WebGPUBackend() override;
  Status open();

  Result<uint64_t> allocate(StreamHandle, uint64_t bytes) override;
  Status free(StreamHandle, uint64_t handle) override;
  Result<void *> allocateHost(uint64_t bytes) override {
    void *const made = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    return made ? Result<void *>(made) : Status::outOfMemory("the host has no memory");
  }
  /// Copies of it are over when their calls return.
  void freeHost(void *memory) override { std::free(memory); }
  Status upload(StreamHandle, MemoryRef to, const void *from, uint64_t bytes) override;
  Status download(StreamHandle, void *to, MemoryRef from, uint64_t bytes) override;
  Status copy(StreamHandle, const CopyCommand &copy) override;
  Status fill(StreamHandle, const FillCommand &fill) override;

  Status accept(const artifact::Artifact &artifact) const override {
    return checkFormat(artifact, "webgpu", "wgsl", "a device of WebGPU");
  }
  Result<ModuleHandle> load(const artifact::CodeBlob &code) override;
  void unload(ModuleHandle module) override;
  Result<KernelHandle> find(ModuleHandle module, const artifact::Kernel &kernel) override;
  Status launch(StreamHandle, const LaunchCommand &launch) override;

  Result<StreamHandle> createStream() override { return StreamHandle(1); }
  void destroyStream(StreamHandle) override {}
  Status synchronize(StreamHandle) override {
    const std::lock_guard lock(mutex);
    ZYX_RETURN_IF_ERROR(flush());
    return hasSubmitted ? waitFor(submission) : Status::ok();
  }
  Result<EventHandle> createEvent(bool isTimed) override { return handleOf<EventHandle>(new RecordedEvent{isTimed}); }
  void destroyEvent(EventHandle event) override { delete objectOf<RecordedEvent>(event); }
  Status record(StreamHandle, EventHandle event) override;
  Status wait(StreamHandle, EventHandle) override { return Status::ok(); }
  Status synchronize(EventHandle event) override {
    const std::lock_guard lock(mutex);
    const RecordedEvent &awaited = *objectOf<RecordedEvent>(event);
    return awaited.wasRecorded ? waitFor(awaited.submission) : checkLost();
  }
  Result<uint64_t> elapsed(EventHandle begin, EventHandle end) override {
    const uint64_t from = objectOf<RecordedEvent>(begin)->reached, to = objectOf<RecordedEvent>(end)->reached;
    return to > from ? to - from : 0;
  }

private:
  /// Makes an object between error scopes; what went wrong is the driver's text. Objects of errors are no null.
  template <typename Info, typename T>
  Status make(const std::string &what, T (*create)(WGPUDevice, const Info *), void (*release)(T), const Info &info,
              T &into) {
    const Status status = scoped(what, [&] { return (into = create(device, &info)) != nullptr; });
    if (!status.isOk() && into)
      release(std::exchange(into, nullptr));
    return status;
  }
  template <typename Body> Status scoped(const std::string &what, Body body);
  Status popScope();
  Status checkLost() const {
    const std::lock_guard lock(lostMutex);
    return lost.empty() ? Status::ok() : Status(ErrorCode::DeviceLost, lost);
  }
  void lose(std::string why) {
    const std::lock_guard lock(lostMutex);
    if (lost.empty())
      lost = std::move(why);
  }
  Status makeBuffer(WGPUBufferUsage usage, uint64_t bytes, WGPUBuffer &buffer);
  Status makeShader(std::string_view text, WGPUShaderModule &shader);
  Status makeKernel(WGPUShaderModule shader, LoadedKernel &kernel, const std::string &entry);
  void release(LoadedKernel &kernel);
  /// The buffer of a place.
  Result<Memory> place(MemoryRef at, uint64_t bytes) const;
  WGPUCommandEncoder encoder() {
    return current ? current : current = driver.DeviceCreateCommandEncoder(device, nullptr);
  }
  /// Of whole words, between two buffers.
  void copyWords(WGPUBuffer to, uint64_t toByte, WGPUBuffer from, uint64_t fromByte, uint64_t bytes) {
    endPass();
    driver.CommandEncoderCopyBufferToBuffer(encoder(), from, fromByte, to, toByte, bytes);
  }
  void endPass();
  Status flush();
  Status waitFor(uint64_t awaited);
  Result<WGPUBindGroup> bind(const LoadedKernel &kernel, std::span<const MemoryRef> buffers);
  Status dispatch(const LoadedKernel &kernel, std::span<const MemoryRef> buffers, std::span<const uint32_t> values,
                  uint64_t groups);
  /// Sets bytes from `begin` on of the first buffer to a pattern, or to those of the second one so far away.
  Status dispatchBytes(const LoadedKernel &kernel, std::span<const MemoryRef> buffers, uint64_t begin, uint64_t bytes,
                       uint64_t pattern, uint64_t distance);
  /// Sets of which a part of the key is this; all with none.
  void forgetBindGroups(std::optional<uint64_t> part = std::nullopt);

  const WGPULimits &limits = found.limits;
  WGPUDevice device = nullptr;
  WGPUQueue queue = nullptr;
  /// Held by each call; once more where one uses another.
  std::recursive_mutex mutex;
  /// Of what the driver's callbacks say, on any thread.
  mutable std::mutex lostMutex;
  std::string lost;
  ObjectTable<Memory> memories;
  WGPUCommandEncoder current = nullptr;
  WGPUComputePassEncoder pass = nullptr;
  uint32_t launches = 0;
  uint64_t submission = 0;
  bool hasSubmitted = false;
  WGPUBuffer arguments = nullptr, reader = nullptr;
  /// Memory through which copies within one buffer go.
  uint64_t readerBytes = 0, between = 0, betweenBytes = 0;
  WGPUBindGroupLayout argumentLayout = nullptr;
  WGPUBindGroup argumentGroup = nullptr;
  uint32_t argumentValues[launchesOfSubmission * argumentWords] = {};
  std::map<std::vector<uint64_t>, WGPUBindGroup> bindGroups;
  WGPUShaderModule bytesShader = nullptr;
  LoadedKernel fillKernel{"fill", 1}, copyKernel{"copy", 2};
};

} // namespace zyx::runtime::webgpu

#endif // ZYX_LIB_RUNTIME_DEVICES_WEBGPU_WEBGPUBACKEND_H
