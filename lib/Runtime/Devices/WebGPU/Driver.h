//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What is used of webgpu.h, as wgpu-native 29 has it. No distribution has the header, and structs differ from one
// version of the library to the next: another version is refused.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_WEBGPU_DRIVER_H
#define ZYX_LIB_RUNTIME_DEVICES_WEBGPU_DRIVER_H

#include "zyx-c/Backend.h"
#include "zyx-c/Runtime.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zyx::webgpu {

using Bool = uint32_t;
using Flags = uint64_t;
using Instance = struct InstanceTag *;
using Adapter = struct AdapterTag *;
using DeviceHandle = struct DeviceTag *;
using Queue = struct QueueTag *;
using Buffer = struct BufferTag *;
using BindGroup = struct BindGroupTag *;
using BindGroupLayout = struct BindGroupLayoutTag *;
using PipelineLayout = struct PipelineLayoutTag *;
using Pipeline = struct PipelineTag *;
using ShaderModule = struct ShaderModuleTag *;
using Encoder = struct EncoderTag *;
using Pass = struct PassTag *;
using CommandBuffer = struct CommandBufferTag *;

inline constexpr uint32_t supportedVersion = 29;
inline constexpr uint32_t statusSuccess = 1;
inline constexpr uint32_t sTypeWGSL = 2;
inline constexpr uint32_t callbackAnytime = 3;
inline constexpr uint32_t filterValidation = 1, filterOutOfMemory = 2;
inline constexpr uint32_t errorNone = 1, errorOutOfMemory = 3;
inline constexpr uint32_t lostDestroyed = 2;
inline constexpr uint32_t adapterDiscrete = 1, adapterIntegrated = 2, adapterCPU = 3;
inline constexpr uint32_t backendNull = 1, backendVulkan = 6;
inline constexpr uint32_t bindUniform = 2, bindStorage = 3;
inline constexpr Flags usageMapRead = 1, usageCopySource = 4, usageCopyTarget = 8, usageUniform = 64,
                       usageStorage = 128;
inline constexpr Flags stageCompute = 4, mapRead = 1;
/// Vulkan, Metal and DX12.
inline constexpr Flags primaryBackends = 1 | 4 | 8;

struct Chained {
  Chained *next;
  uint32_t sType;
};
struct Text {
  const char *data = nullptr;
  size_t length = SIZE_MAX;

  std::string str() const { return !data ? "" : length == SIZE_MAX ? std::string(data) : std::string(data, length); }
};
struct Limits {
  Chained *next;
  uint32_t textures[4], bindGroups, groupsAndVertices, bindings, dynamicUniforms, dynamicStorage, sampled, samplers,
      storageBuffers, storageTextures, uniformBuffers;
  uint64_t uniformBytes, storageBytes;
  uint32_t uniformAlignment, storageAlignment, vertexBuffers;
  uint64_t bufferBytes;
  uint32_t vertices[5], sharedBytes, groupThreads, groupX, groupY, groupZ, groups, immediateBytes;
};
struct AdapterInfo {
  Chained *next;
  Text vendor, architecture, device, description;
  uint32_t backend, type, vendorNumber, deviceNumber, subgroupLeast, subgroupMost;
};
struct CallbackInfo {
  Chained *next = nullptr;
  uint32_t mode = callbackAnytime;
  void (*callback)() = nullptr;
  void *first = nullptr, *second = nullptr;
};
struct ErrorCallbackInfo {
  Chained *next;
  void (*callback)(const DeviceHandle *, uint32_t type, Text, void *, void *);
  void *first, *second;
};
struct DeviceInfo {
  Chained *next;
  Text label;
  size_t numFeatures;
  const uint32_t *features;
  const Limits *limits;
  struct {
    Chained *next;
    Text label;
  } queue;
  CallbackInfo lost;
  ErrorCallbackInfo uncaptured;
};
struct EnumerateOptions {
  Chained *next;
  Flags backends;
};
struct BufferInfo {
  Chained *next;
  Text label;
  Flags usage;
  uint64_t size;
  Bool isMapped;
};
struct BindGroupEntry {
  Chained *next;
  uint32_t binding;
  Buffer buffer;
  uint64_t offset, size;
  void *sampler, *texture;
};
struct BindGroupInfo {
  Chained *next;
  Text label;
  BindGroupLayout layout;
  size_t count;
  const BindGroupEntry *entries;
};
struct LayoutEntry {
  Chained *next;
  uint32_t binding;
  Flags visibility;
  uint32_t arraySize;
  struct {
    Chained *next;
    uint32_t type;
    Bool isDynamic;
    uint64_t leastBytes;
  } buffer;
  uint64_t sampler[2], texture[3], storageTexture[3];
};
static_assert(sizeof(LayoutEntry) == 120);
struct LayoutInfo {
  Chained *next;
  Text label;
  size_t count;
  const LayoutEntry *entries;
};
struct PipelineLayoutInfo {
  Chained *next;
  Text label;
  size_t count;
  const BindGroupLayout *layouts;
  uint32_t immediateBytes;
};
struct PipelineInfo {
  Chained *next;
  Text label;
  PipelineLayout layout;
  Chained *computeNext;
  ShaderModule module;
  Text entryPoint;
  size_t numConstants;
  const void *constants;
};
struct SourceWGSL {
  Chained chain;
  Text code;
};
struct ShaderInfo {
  Chained *next;
  Text label;
};

#define ZYX_WEBGPU_FUNCTIONS(X)                                                                                        \
  X(getVersion, wgpuGetVersion, uint32_t, (void))                                                                      \
  X(createInstance, wgpuCreateInstance, Instance, (const void *))                                                      \
  X(enumerate, wgpuInstanceEnumerateAdapters, size_t, (Instance, const EnumerateOptions *, Adapter *))                 \
  X(processEvents, wgpuInstanceProcessEvents, void, (Instance))                                                        \
  X(adapterInfo, wgpuAdapterGetInfo, uint32_t, (Adapter, AdapterInfo *))                                               \
  X(adapterInfoFree, wgpuAdapterInfoFreeMembers, void, (AdapterInfo))                                                  \
  X(adapterRelease, wgpuAdapterRelease, void, (Adapter))                                                               \
  X(adapterLimits, wgpuAdapterGetLimits, uint32_t, (Adapter, Limits *))                                                \
  X(requestDevice, wgpuAdapterRequestDevice, uint64_t, (Adapter, const DeviceInfo *, CallbackInfo))                    \
  X(getQueue, wgpuDeviceGetQueue, Queue, (DeviceHandle))                                                               \
  X(deviceRelease, wgpuDeviceRelease, void, (DeviceHandle))                                                            \
  X(queueRelease, wgpuQueueRelease, void, (Queue))                                                                     \
  X(pushScope, wgpuDevicePushErrorScope, void, (DeviceHandle, uint32_t))                                               \
  X(popScope, wgpuDevicePopErrorScope, uint64_t, (DeviceHandle, CallbackInfo))                                         \
  X(poll, wgpuDevicePoll, Bool, (DeviceHandle, Bool, const uint64_t *))                                                \
  X(createBuffer, wgpuDeviceCreateBuffer, Buffer, (DeviceHandle, const BufferInfo *))                                  \
  X(bufferDestroy, wgpuBufferDestroy, void, (Buffer))                                                                  \
  X(bufferRelease, wgpuBufferRelease, void, (Buffer))                                                                  \
  X(bufferMap, wgpuBufferMapAsync, uint64_t, (Buffer, Flags, size_t, size_t, CallbackInfo))                            \
  X(bufferMapped, wgpuBufferGetConstMappedRange, const void *, (Buffer, size_t, size_t))                               \
  X(bufferUnmap, wgpuBufferUnmap, void, (Buffer))                                                                      \
  X(createShader, wgpuDeviceCreateShaderModule, ShaderModule, (DeviceHandle, const ShaderInfo *))                      \
  X(shaderRelease, wgpuShaderModuleRelease, void, (ShaderModule))                                                      \
  X(createLayout, wgpuDeviceCreateBindGroupLayout, BindGroupLayout, (DeviceHandle, const LayoutInfo *))                \
  X(layoutRelease, wgpuBindGroupLayoutRelease, void, (BindGroupLayout))                                                \
  X(createPipelineLayout, wgpuDeviceCreatePipelineLayout, PipelineLayout, (DeviceHandle, const PipelineLayoutInfo *))  \
  X(pipelineLayoutRelease, wgpuPipelineLayoutRelease, void, (PipelineLayout))                                          \
  X(createPipeline, wgpuDeviceCreateComputePipeline, Pipeline, (DeviceHandle, const PipelineInfo *))                   \
  X(pipelineRelease, wgpuComputePipelineRelease, void, (Pipeline))                                                     \
  X(createBindGroup, wgpuDeviceCreateBindGroup, BindGroup, (DeviceHandle, const BindGroupInfo *))                      \
  X(bindGroupRelease, wgpuBindGroupRelease, void, (BindGroup))                                                         \
  X(createEncoder, wgpuDeviceCreateCommandEncoder, Encoder, (DeviceHandle, const void *))                              \
  X(encoderRelease, wgpuCommandEncoderRelease, void, (Encoder))                                                        \
  X(beginPass, wgpuCommandEncoderBeginComputePass, Pass, (Encoder, const void *))                                      \
  X(copy, wgpuCommandEncoderCopyBufferToBuffer, void, (Encoder, Buffer, uint64_t, Buffer, uint64_t, uint64_t))         \
  X(clear, wgpuCommandEncoderClearBuffer, void, (Encoder, Buffer, uint64_t, uint64_t))                                 \
  X(finish, wgpuCommandEncoderFinish, CommandBuffer, (Encoder, const void *))                                          \
  X(commandBufferRelease, wgpuCommandBufferRelease, void, (CommandBuffer))                                             \
  X(setPipeline, wgpuComputePassEncoderSetPipeline, void, (Pass, Pipeline))                                            \
  X(setBindGroup, wgpuComputePassEncoderSetBindGroup, void, (Pass, uint32_t, BindGroup, size_t, const uint32_t *))     \
  X(dispatch, wgpuComputePassEncoderDispatchWorkgroups, void, (Pass, uint32_t, uint32_t, uint32_t))                    \
  X(endPass, wgpuComputePassEncoderEnd, void, (Pass))                                                                  \
  X(passRelease, wgpuComputePassEncoderRelease, void, (Pass))                                                          \
  X(write, wgpuQueueWriteBuffer, void, (Queue, Buffer, uint64_t, const void *, size_t))                                \
  X(submit, wgpuQueueSubmitForIndex, uint64_t, (Queue, size_t, const CommandBuffer *))

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
#define ZYX_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
  ZYX_WEBGPU_FUNCTIONS(ZYX_MEMBER)
#undef ZYX_MEMBER
  Instance instance = nullptr;
};

/// An adapter of a driver, both alive with it. The texts are of the process.
struct AdapterFound {
  const Driver &driver;
  Adapter adapter;
  Limits limits = {};
  const char *identity = "", *architecture = "";

  AdapterFound(const Driver &driver, Adapter adapter) : driver(driver), adapter(adapter) {}
  AdapterFound(const AdapterFound &) = delete;
  ~AdapterFound() { driver.adapterRelease(adapter); }
};
using Adapters = std::vector<std::shared_ptr<const AdapterFound>>;

/// Those that compute, by the library that the environment names now; those first that it prefers.
Failure findAdapters(Adapters &all);

} // namespace zyx::webgpu

#endif // ZYX_LIB_RUNTIME_DEVICES_WEBGPU_DRIVER_H
