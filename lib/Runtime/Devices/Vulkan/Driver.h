//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The functions of Vulkan 1.2 that are called, found in the system's loader at run time. Types and numbers are those of
// Khronos' header; no library of Vulkan is needed to build.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_VULKAN_DRIVER_H
#define ZYX_LIB_RUNTIME_DEVICES_VULKAN_DRIVER_H

#include "zyx/Base/Status.h"
#include "zyx/Runtime/DeviceFacts.h"

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace zyx::runtime::vulkan {

// clang-format off: it indents each line further.
#define ZYX_VULKAN_FUNCTIONS(X) \
  X(AllocateCommandBuffers) X(AllocateMemory) X(BeginCommandBuffer) X(BindBufferMemory) X(CmdBindPipeline) \
  X(CmdCopyBuffer) X(CmdDispatch) X(CmdFillBuffer) X(CmdPipelineBarrier) X(CmdPushConstants) X(CmdResetQueryPool) \
  X(CmdWriteTimestamp) X(CreateBuffer) X(CreateCommandPool) X(CreateComputePipelines) X(CreateDevice) \
  X(CreateInstance) X(CreatePipelineCache) X(CreatePipelineLayout) X(CreateQueryPool) X(CreateSemaphore) \
  X(CreateShaderModule) X(DestroyBuffer) X(DestroyCommandPool) X(DestroyDevice) X(DestroyInstance) \
  X(DestroyPipeline) X(DestroyPipelineCache) X(DestroyPipelineLayout) X(DestroyQueryPool) X(DestroySemaphore) \
  X(DestroyShaderModule) X(EndCommandBuffer) X(EnumeratePhysicalDevices) X(FreeMemory) X(GetBufferDeviceAddress) \
  X(GetBufferMemoryRequirements) X(GetDeviceQueue) X(GetPhysicalDeviceFeatures2) \
  X(GetPhysicalDeviceMemoryProperties) X(GetPhysicalDeviceProperties2) X(GetPhysicalDeviceQueueFamilyProperties) \
  X(GetPipelineCacheData) X(GetQueryPoolResults) X(GetSemaphoreCounterValue) X(MapMemory) X(QueueSubmit) \
  X(WaitSemaphores)
// clang-format on

/// Features, one behind the other as Vulkan asks for them.
struct Features {
  Features();
  Features(const Features &) = delete;
  VkPhysicalDeviceVulkan12Features v12 = {};
  VkPhysicalDeviceVulkan11Features v11 = {};
  VkPhysicalDeviceFeatures2 all = {};
};

/// A device, and what it is.
struct DeviceFound {
  VkPhysicalDevice device = nullptr;
  /// Ends behind the device.
  std::shared_ptr<VkInstance_T> instance;
  DeviceFacts facts;
  unsigned queueFamily = 0;
  uint64_t largestBytes = 0, mostGroups = 0;
  /// Nanoseconds of a tick.
  double period = 1;
  /// Denormals of f32 are kept where a module asks for it.
  bool keepsDenormals = false;
  /// Capabilities of SPIR-V that not every device has.
  std::vector<uint32_t> capabilities;
  /// Who wrote what a cache of pipelines keeps.
  std::string cacheIdentity;
  /// Why the compiler's code does not run there; empty where it does.
  std::string refusal;
};

/// The loader's functions.
struct Driver {
#define ZYX_MEMBER(name) PFN_vk##name name = nullptr;
  ZYX_VULKAN_FUNCTIONS(ZYX_MEMBER)
#undef ZYX_MEMBER

  /// Opens the library that ZYX_VULKAN_DRIVER names, or the system's loader. It stays open until the process ends.
  static Result<const Driver *> open();
  /// All devices, in the loader's order.
  Result<std::vector<DeviceFound>> find() const;
};

/// Success, or what the driver says, behind what could not be done.
Status check(VkResult result, const std::string &action = {});

/// A capability of SPIR-V that not every device has, by its number, name, and what has to be asked for.
struct Capability {
  uint32_t number;
  const char *name;
  VkBool32 &(*feature)(Features &features);
};
std::span<const Capability> optionalCapabilities();

} // namespace zyx::runtime::vulkan

#endif // ZYX_LIB_RUNTIME_DEVICES_VULKAN_DRIVER_H
