//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The functions of WebGPU that are called, found in a library at run time: wgpu-native 29, or Dawn. Types and numbers
// are those of wgpu-native's headers, which differ from one version to the next: what has others is refused.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_WEBGPU_DRIVER_H
#define ZYX_LIB_RUNTIME_DEVICES_WEBGPU_DRIVER_H

#include "../Stream/Refusals.h"

#include <wgpu.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace zyx::runtime::webgpu {

/// An object of the driver's, which is released behind its last owner.
template <typename T> using Owned = std::shared_ptr<std::remove_pointer_t<T>>;

inline std::string textOf(WGPUStringView text) {
  return !text.data ? "" : text.length == WGPU_STRLEN ? std::string(text.data) : std::string(text.data, text.length);
}

// clang-format off: it indents each line further.
#define ZYX_WEBGPU_FUNCTIONS(X) \
  X(AdapterGetInfo) X(AdapterGetLimits) X(AdapterHasFeature) X(AdapterInfoFreeMembers) \
  X(AdapterRelease) X(AdapterRequestDevice) X(BindGroupLayoutRelease) X(BindGroupRelease) X(BufferGetConstMappedRange) \
  X(BufferMapAsync) X(BufferRelease) X(BufferUnmap) X(CommandBufferRelease) X(CommandEncoderBeginComputePass) \
  X(CommandEncoderClearBuffer) X(CommandEncoderCopyBufferToBuffer) X(CommandEncoderFinish) X(CommandEncoderRelease) \
  X(ComputePassEncoderDispatchWorkgroups) X(ComputePassEncoderEnd) X(ComputePassEncoderRelease) \
  X(ComputePassEncoderSetBindGroup) X(ComputePassEncoderSetImmediates) X(ComputePassEncoderSetPipeline) \
  X(ComputePipelineRelease) X(CreateInstance) X(DeviceCreateBindGroup) X(DeviceCreateBindGroupLayout) \
  X(DeviceCreateBuffer) X(DeviceCreateCommandEncoder) X(DeviceCreateComputePipeline) X(DeviceCreatePipelineLayout) \
  X(DeviceCreateShaderModule) X(DeviceGetQueue) X(DevicePopErrorScope) X(DevicePushErrorScope) X(DeviceRelease) \
  X(InstanceRelease) X(InstanceRequestAdapter) X(InstanceWaitAny) X(PipelineLayoutRelease) X(QueueOnSubmittedWorkDone) \
  X(QueueRelease) X(QueueSubmit) X(QueueWriteBuffer) X(ShaderModuleRelease)
// What wgpu-native has beside, and does in the place of others.
#define ZYX_WEBGPU_NATIVE_FUNCTIONS(X) \
  X(GetVersion) X(DeviceCreateShaderModuleTrusted) X(DevicePoll) X(InstanceEnumerateAdapters) X(QueueSubmitForIndex)
// clang-format on

/// An adapter, and what it is. The instance ends behind it.
struct AdapterFound : FoundFacts {
  Owned<WGPUInstance> instance;
  Owned<WGPUAdapter> adapter;
  WGPULimits limits = {};
  /// That a device is asked for.
  std::vector<WGPUFeatureName> features;
  uint32_t rank = 0;
};

/// The library's functions.
struct Driver {
  static constexpr const char *driverName = "WebGPU", *deviceName = "webgpu", *format = "wgsl";
#define ZYX_MEMBER(name) decltype(&wgpu##name) name = nullptr;
  ZYX_WEBGPU_FUNCTIONS(ZYX_MEMBER)
  ZYX_WEBGPU_NATIVE_FUNCTIONS(ZYX_MEMBER)
#undef ZYX_MEMBER

  /// Opens the library that the environment names now. One that could be opened stays.
  static Result<const Driver *> open();
  /// Those that compute; those first that the environment prefers.
  Result<std::vector<AdapterFound>> find() const;
  bool isDawn() const { return !GetVersion; }
  /// The adapters that there are; by Dawn, which lists none, those that it takes.
  std::vector<WGPUAdapter> list(WGPUInstance instance) const;
  /// Hands over commands, and says where the queue is behind them.
  uint64_t submit(WGPUQueue queue, WGPUCommandBuffer commands) const;
  /// Waits until it is there, or, of 0, until all is done; of Dawn, for what a call gave this number.
  void wait(WGPUInstance instance, WGPUDevice device, uint64_t awaited) const;
};

/// Words of the numbers that a launch has: that of programs, a 0, and the scalars. WebGPU has room for 16.
inline constexpr uint32_t mostArgumentWords = 32, fewestArgumentWords = 16;

} // namespace zyx::runtime::webgpu

#endif // ZYX_LIB_RUNTIME_DEVICES_WEBGPU_DRIVER_H
