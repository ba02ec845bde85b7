//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The functions of wgpu-native 29 that are called, found in its library at run time. Types and numbers are those of its
// headers, which differ from one version to the next: a library of another version is refused.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_WEBGPU_DRIVER_H
#define ZYX_LIB_RUNTIME_DEVICES_WEBGPU_DRIVER_H

#include "zyx-c/Backend.h"
#include "zyx-c/Runtime.h"

#include <wgpu.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zyx::webgpu {

inline constexpr uint32_t supportedVersion = 29;

inline std::string textOf(WGPUStringView text) {
  return !text.data ? "" : text.length == WGPU_STRLEN ? std::string(text.data) : std::string(text.data, text.length);
}

// clang-format off: it indents each line further.
#define ZYX_WEBGPU_FUNCTIONS(X) \
  X(GetVersion) X(AdapterGetInfo) X(AdapterGetLimits) X(AdapterInfoFreeMembers) X(AdapterRelease) \
  X(AdapterRequestDevice) X(BindGroupLayoutRelease) X(BindGroupRelease) X(BufferGetConstMappedRange) \
  X(BufferMapAsync) X(BufferRelease) X(BufferUnmap) X(CommandBufferRelease) X(CommandEncoderBeginComputePass) \
  X(CommandEncoderClearBuffer) X(CommandEncoderCopyBufferToBuffer) X(CommandEncoderFinish) X(CommandEncoderRelease) \
  X(ComputePassEncoderDispatchWorkgroups) X(ComputePassEncoderEnd) X(ComputePassEncoderRelease) \
  X(ComputePassEncoderSetBindGroup) X(ComputePassEncoderSetPipeline) X(ComputePipelineRelease) X(CreateInstance) \
  X(DeviceCreateBindGroup) X(DeviceCreateBindGroupLayout) X(DeviceCreateBuffer) X(DeviceCreateCommandEncoder) \
  X(DeviceCreateComputePipeline) X(DeviceCreatePipelineLayout) X(DeviceCreateShaderModule) X(DeviceGetQueue) \
  X(DevicePoll) X(DevicePopErrorScope) X(DevicePushErrorScope) X(DeviceRelease) \
  X(InstanceEnumerateAdapters) X(InstanceProcessEvents) X(PipelineLayoutRelease) X(QueueRelease) \
  X(QueueSubmitForIndex) X(QueueWriteBuffer) X(ShaderModuleRelease)
// clang-format on

/// What a call of the table gives back.
struct Failure {
  zyx_backend_code code = 0;
  std::string text;
  explicit operator bool() const { return code != 0; }
};
/// Of the backend itself, and a whole sentence.
inline Failure refuse(std::string text) { return {ZYX_UNSUPPORTED, std::move(text)}; }
inline Failure noAdapter() { return {ZYX_NOT_FOUND, "no driver of Vulkan, Metal or DX12 has an adapter for WebGPU"}; }

/// The library's functions.
struct Driver {
#define ZYX_MEMBER(name) decltype(&wgpu##name) name = nullptr;
  ZYX_WEBGPU_FUNCTIONS(ZYX_MEMBER)
#undef ZYX_MEMBER
  WGPUInstance instance = nullptr;
};

/// An adapter of a driver, both alive with it. The texts are of the process.
struct AdapterFound {
  const Driver &driver;
  WGPUAdapter adapter;
  WGPULimits limits = {};
  const char *identity = "", *architecture = "";

  AdapterFound(const Driver &driver, WGPUAdapter adapter) : driver(driver), adapter(adapter) {}
  AdapterFound(const AdapterFound &) = delete;
  ~AdapterFound() { driver.AdapterRelease(adapter); }
};
using Adapters = std::vector<std::shared_ptr<const AdapterFound>>;

/// Those that compute, by the library that the environment names now; those first that it prefers.
Failure findAdapters(Adapters &all);

} // namespace zyx::webgpu

#endif // ZYX_LIB_RUNTIME_DEVICES_WEBGPU_DRIVER_H
