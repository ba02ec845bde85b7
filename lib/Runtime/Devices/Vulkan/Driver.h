//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The functions of Vulkan 1.2 that are called, found in the system's loader at run time. They are called through
// Khronos' header for C++, whose objects end themselves; no library of Vulkan is needed to build.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_VULKAN_DRIVER_H
#define ZYX_LIB_RUNTIME_DEVICES_VULKAN_DRIVER_H

#include "../Stream/Refusals.h"

#define VK_NO_PROTOTYPES
#define VULKAN_HPP_NO_EXCEPTIONS
#define VULKAN_HPP_ASSERT(condition)
#define VULKAN_HPP_ASSERT_ON_RESULT(condition)
#include <vulkan/vulkan.hpp>

namespace zyx::runtime::vulkan {

// clang-format off: it indents each line further.
#define ZYX_VULKAN_FUNCTIONS(X) \
  X(AllocateCommandBuffers) X(AllocateMemory) X(BeginCommandBuffer) X(BindBufferMemory) X(CmdBindPipeline) \
  X(CmdCopyBuffer) X(CmdDispatch) X(CmdFillBuffer) X(CmdPipelineBarrier) X(CmdPushConstants) \
  X(CmdResetQueryPool) X(CmdUpdateBuffer) X(CmdWriteTimestamp) X(CreateBuffer) X(CreateCommandPool) \
  X(CreateComputePipelines) X(CreateDevice) X(CreateInstance) X(CreatePipelineCache) X(CreatePipelineLayout) \
  X(CreateQueryPool) X(CreateSemaphore) X(CreateShaderModule) X(DestroyBuffer) X(DestroyCommandPool) X(DestroyDevice) \
  X(DestroyInstance) X(DestroyPipeline) X(DestroyPipelineCache) X(DestroyPipelineLayout) X(DestroyQueryPool) \
  X(DestroySemaphore) X(DestroyShaderModule) X(EndCommandBuffer) X(EnumeratePhysicalDevices) X(FreeCommandBuffers) \
  X(FreeMemory) X(GetBufferDeviceAddress) X(GetBufferMemoryRequirements) X(GetDeviceQueue) X(GetInstanceProcAddr) \
  X(GetPhysicalDeviceFeatures2) X(GetPhysicalDeviceMemoryProperties) X(GetPhysicalDeviceProperties2) \
  X(GetPhysicalDeviceQueueFamilyProperties) X(GetPipelineCacheData) X(GetQueryPoolResults) X(GetSemaphoreCounterValue) \
  X(MapMemory) X(QueueSubmit) X(WaitSemaphores)
// clang-format on

struct Driver;
/// An object that the driver destroys with it.
template <typename T> using Unique = vk::UniqueHandle<T, Driver>;

/// A device, and what it is.
struct DeviceFound : FoundFacts {
  vk::PhysicalDevice device;
  /// Ends behind the device.
  std::shared_ptr<const Unique<vk::Instance>> instance;
  uint64_t mostGroups = 0;
  /// Nanoseconds of a tick.
  double period = 1;
  unsigned queueFamily = 0;
  bool isProcessor = false;
  /// Denormals of f32 are kept where a module asks for it.
  bool keepsDenormals = false;
  /// Who wrote what a cache of pipelines keeps.
  std::string cacheIdentity;
};

/// The loader's functions.
struct Driver {
  static constexpr const char *driverName = "Vulkan", *deviceName = "vulkan", *format = "spirv";
#define ZYX_MEMBER(name) PFN_vk##name vk##name = nullptr;
  ZYX_VULKAN_FUNCTIONS(ZYX_MEMBER)
#undef ZYX_MEMBER

  /// Opens the library that ZYX_VULKAN_DRIVER names, or the system's loader. It stays open until the process ends.
  static Result<const Driver *> open();
  /// Lets a layer that validates tell of errors, with `self`, as long as the result lives; null where none can.
  std::shared_ptr<void> listen(vk::Instance instance, PFN_vkDebugUtilsMessengerCallbackEXT hear, void *self) const;
  /// All devices, in the loader's order.
  Result<std::vector<DeviceFound>> find() const;
};

/// Success, or what the driver says, behind what could not be done.
Status check(vk::Result result, std::string_view action = {});
/// The same of a call that gives something.
template <typename T> Status take(vk::ResultValue<T> given, T &into, std::string_view action = {}) {
  into = std::move(given.value);
  return check(given.result, action);
}

} // namespace zyx::runtime::vulkan

#endif // ZYX_LIB_RUNTIME_DEVICES_VULKAN_DRIVER_H
