//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The functions of wgpu-native 29 that are called, found in its library at run time. Types and numbers are those of its
// headers, which differ from one version to the next: a library of another version is refused.
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
  X(GetVersion) X(AdapterGetInfo) X(AdapterGetLimits) X(AdapterHasFeature) X(AdapterInfoFreeMembers) \
  X(AdapterRelease) X(AdapterRequestDevice) X(BindGroupLayoutRelease) X(BindGroupRelease) X(BufferGetConstMappedRange) \
  X(BufferMapAsync) X(BufferRelease) X(BufferUnmap) X(CommandBufferRelease) X(CommandEncoderBeginComputePass) \
  X(CommandEncoderClearBuffer) X(CommandEncoderCopyBufferToBuffer) X(CommandEncoderFinish) X(CommandEncoderRelease) \
  X(ComputePassEncoderDispatchWorkgroups) X(ComputePassEncoderEnd) X(ComputePassEncoderRelease) \
  X(ComputePassEncoderSetBindGroup) X(ComputePassEncoderSetImmediates) X(ComputePassEncoderSetPipeline) \
  X(ComputePipelineRelease) X(CreateInstance) X(DeviceCreateBindGroup) X(DeviceCreateBindGroupLayout) \
  X(DeviceCreateBuffer) X(DeviceCreateCommandEncoder) X(DeviceCreateComputePipeline) X(DeviceCreatePipelineLayout) \
  X(DeviceCreateShaderModuleTrusted) X(DeviceGetQueue) X(DevicePoll) X(DevicePopErrorScope) X(DevicePushErrorScope) \
  X(DeviceRelease) X(InstanceEnumerateAdapters) X(InstanceRelease) X(PipelineLayoutRelease) X(QueueRelease) \
  X(QueueSubmitForIndex) X(QueueWriteBuffer) X(ShaderModuleRelease)
// clang-format on

/// An adapter, and what it is. The instance ends behind it.
struct AdapterFound : FoundFacts {
  Owned<WGPUInstance> instance;
  Owned<WGPUAdapter> adapter;
  WGPULimits limits = {};
  uint32_t rank = 0;
};

/// The library's functions.
struct Driver {
  static constexpr const char *driverName = "WebGPU", *deviceName = "webgpu", *format = "wgsl";
#define ZYX_MEMBER(name) decltype(&wgpu##name) name = nullptr;
  ZYX_WEBGPU_FUNCTIONS(ZYX_MEMBER)
#undef ZYX_MEMBER

  /// Opens the library that the environment names now. One that could be opened stays.
  static Result<const Driver *> open();
  /// Those that compute; those first that the environment prefers.
  Result<std::vector<AdapterFound>> find() const;
};

/// Words of the numbers that a launch has: that of programs, a 0, and the scalars. The text of kernels says so, too.
inline constexpr uint32_t argumentWords = 32;

} // namespace zyx::runtime::webgpu

#endif // ZYX_LIB_RUNTIME_DEVICES_WEBGPU_DRIVER_H
