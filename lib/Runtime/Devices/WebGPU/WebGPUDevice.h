//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_WEBGPU_WEBGPUDEVICE_H
#define ZYX_LIB_RUNTIME_DEVICES_WEBGPU_WEBGPUDEVICE_H

#include "Driver.h"

#include <map>
#include <mutex>

namespace zyx::webgpu {

/// Launches that are handed over together, and the bytes of arguments that each has.
inline constexpr uint32_t launchesOfSubmission = 64, argumentBytes = 256, argumentWords = argumentBytes / 4;

struct Memory {
  WGPUBuffer buffer = nullptr;
  uint64_t bytes = 0;
};
struct LoadedKernel {
  std::string name;
  WGPUComputePipeline pipeline = nullptr;
  WGPUBindGroupLayout layout = nullptr;
  uint32_t numBuffers = 0, numScalars = 0;
  bool isByGroup = false;
};
struct LoadedModule {
  WGPUShaderModule shader = nullptr;
  std::vector<std::unique_ptr<LoadedKernel>> kernels;
};
struct RecordedEvent {
  uint64_t submission = 0;
  bool wasRecorded = false, isTimed = false;
  /// When the host was told that it was reached.
  uint64_t reached = 0;
};
template <typename T> T &objectOf(uint64_t handle) { return *reinterpret_cast<T *>(handle); }

/// One queue: what streams are handed is done in the order of the calls.
class OpenDevice {
public:
  explicit OpenDevice(std::shared_ptr<const AdapterFound> found)
      : found(std::move(found)), driver(this->found->driver), limits(this->found->limits) {}
  ~OpenDevice();
  Failure open();

  Failure allocate(uint64_t bytes, uint64_t *handle);
  Failure free(uint64_t handle);
  Failure upload(zyx_backend_memory to, const void *from, uint64_t bytes);
  Failure download(void *to, zyx_backend_memory from, uint64_t bytes);
  Failure copy(zyx_backend_memory to, zyx_backend_memory from, uint64_t bytes);
  Failure fill(zyx_backend_memory to, uint64_t bytes, uint64_t pattern, uint32_t patternBytes);
  Failure load(const char *format, const void *code, size_t size, uint64_t *module);
  void unload(LoadedModule *module);
  Failure find(uint64_t module, const zyx_backend_kernel_v1 *what, uint64_t *kernel);
  Failure launch(const zyx_backend_launch_v1 *launch);
  Failure synchronize() {
    if (Failure failure = flush())
      return failure;
    return hasSubmitted ? waitFor(submission) : Failure();
  }
  Failure record(uint64_t event);
  Failure synchronizeEvent(uint64_t event) {
    const auto &awaited = objectOf<RecordedEvent>(event);
    return awaited.wasRecorded ? waitFor(awaited.submission) : checkLost();
  }
  bool isLost() const {
    const std::lock_guard lock(lostMutex);
    return !lost.empty();
  }
  Failure checkLost() const {
    const std::lock_guard lock(lostMutex);
    return lost.empty() ? Failure() : Failure{ZYX_DEVICE_LOST, lost};
  }

  /// Held by each call.
  std::mutex mutex;

private:
  /// Makes an object between error scopes; what went wrong is the driver's text. Objects of errors are no null.
  template <typename Info, typename T>
  Failure make(const std::string &what, T (*create)(WGPUDevice, const Info *), void (*release)(T), const Info &info,
               T &into) {
    Failure failure = scoped(what, [&] { return (into = create(device, &info)) != nullptr; });
    if (failure && into)
      release(std::exchange(into, nullptr));
    return failure;
  }
  template <typename Body> Failure scoped(const std::string &what, Body body);
  void popScope(Failure &failure);
  void lose(std::string why) {
    const std::lock_guard lock(lostMutex);
    if (lost.empty())
      lost = std::move(why);
  }
  Failure makeBuffer(WGPUBufferUsage usage, uint64_t bytes, WGPUBuffer &buffer);
  Failure makeKernel(WGPUShaderModule shader, LoadedKernel &kernel, const std::string &entry);
  void release(LoadedKernel &kernel);
  /// The buffer of a place.
  Failure place(zyx_backend_memory at, uint64_t bytes, Memory &memory) const;
  WGPUCommandEncoder encoder() {
    return current ? current : current = driver.DeviceCreateCommandEncoder(device, nullptr);
  }
  void endPass();
  Failure flush();
  Failure waitFor(uint64_t awaited);
  Failure bind(const LoadedKernel &kernel, const zyx_backend_memory *buffers, WGPUBindGroup &group);
  Failure dispatch(const LoadedKernel &kernel, const zyx_backend_memory *buffers, const uint32_t *values,
                   size_t numValues, uint64_t groups);
  /// Sets bytes from `begin` on of the first buffer to a pattern, or to those of the second one so far away.
  Failure dispatchBytes(const LoadedKernel &kernel, const zyx_backend_memory *buffers, uint64_t begin, uint64_t bytes,
                        uint64_t pattern, uint64_t distance);
  void forgetBindGroups() {
    for (const auto &[key, group] : bindGroups)
      driver.BindGroupRelease(group);
    bindGroups.clear();
  }

  const std::shared_ptr<const AdapterFound> found;
  const Driver &driver;
  const WGPULimits &limits;
  WGPUDevice device = nullptr;
  WGPUQueue queue = nullptr;
  /// Of what the driver's callbacks say, on any thread.
  mutable std::mutex lostMutex;
  std::string lost;
  std::map<uint64_t, Memory> memories;
  uint64_t nextHandle = uint64_t(1) << 20;
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
  uint64_t bytesModule = 0;
  LoadedKernel fillKernel, copyKernel;
};

} // namespace zyx::webgpu

#endif // ZYX_LIB_RUNTIME_DEVICES_WEBGPU_WEBGPUDEVICE_H
