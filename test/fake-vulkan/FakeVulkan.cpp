//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A loader of Vulkan over the host's memory, for what real drivers do rarely: to lack something, to refuse, to be lost.
// Commands are done when they are submitted. Of kernels it knows one, `increment` of 32-bit integers; modules with
// the word 0xbad0bad0 make no pipeline. Kernels are executed by lavapipe, in the conformance suite.
//===----------------------------------------------------------------------===//
#include "FakeVulkan.h"

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

struct Memory {
  std::byte *bytes;
};
struct Buffer {
  uint64_t size;
  std::byte *bytes;
};
struct Commands {
  std::vector<std::function<void()>> all;
  std::vector<uint64_t> arguments;
  bool isEnded = false;
};
struct Module {
  std::vector<uint32_t> words;
};
struct Timeline {
  uint64_t value = 0;
};

FakeVulkan fake;
int devices[2], instance, device, queue;

VkDebugUtilsMessengerCreateInfoEXT listener = {};

/// What a layer says of a call where somebody listens.
void validate(const char *call) {
  if (!fake.wrongIn || std::strcmp(fake.wrongIn, call) != 0 || !listener.pfnUserCallback)
    return;
  VkDebugUtilsMessengerCallbackDataEXT told = {};
  told.pMessage = "VUID-fake: this is wrong";
  listener.pfnUserCallback(VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
                           VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT, &told, listener.pUserData);
}
bool fails(const char *call) { return fake.failIn && std::strcmp(fake.failIn, call) == 0 && --fake.after == 0; }
#define ZYX_MAY_FAIL                                                                                                   \
  if (fails(__func__))                                                                                                 \
  return static_cast<VkResult>(fake.failWith)

template <typename Handle, typename T> VkResult give(Handle *into, T *made) {
  *into = reinterpret_cast<Handle>(made);
  ++fake.objects;
  return VK_SUCCESS;
}
template <typename T, typename Handle> void take(Handle handle) {
  if (!handle)
    return;
  delete reinterpret_cast<T *>(handle);
  --fake.objects;
}
template <typename T, typename Handle> T &of(Handle handle) { return *reinterpret_cast<T *>(handle); }
void add(VkCommandBuffer commands, std::function<void()> command) {
  ++fake.commands;
  of<Commands>(commands).all.push_back(std::move(command));
}
/// Members of a chain of structs, each by its type.
template <typename F> void forEachIn(void *chain, F &&visit) {
  for (auto *each = static_cast<VkBaseOutStructure *>(chain); each; each = each->pNext)
    visit(each);
}

} // namespace

extern "C" {

FakeVulkan *zyxFakeVulkan() { return &fake; }

VkResult vkCreateDebugUtilsMessengerEXT(VkInstance, const VkDebugUtilsMessengerCreateInfoEXT *info,
                                        const VkAllocationCallbacks *, VkDebugUtilsMessengerEXT *into) {
  ZYX_MAY_FAIL;
  listener = *info;
  return give(into, new int(0));
}
void vkDestroyDebugUtilsMessengerEXT(VkInstance, VkDebugUtilsMessengerEXT messenger, const VkAllocationCallbacks *) {
  listener = {};
  take<int>(messenger);
}
PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance, const char *name) {
  if (fake.hasMessages && std::string_view(name) == "vkCreateDebugUtilsMessengerEXT")
    return reinterpret_cast<PFN_vkVoidFunction>(vkCreateDebugUtilsMessengerEXT);
  if (fake.hasMessages && std::string_view(name) == "vkDestroyDebugUtilsMessengerEXT")
    return reinterpret_cast<PFN_vkVoidFunction>(vkDestroyDebugUtilsMessengerEXT);
  return nullptr;
}
VkResult vkCreateInstance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *, VkInstance *into) {
  ZYX_MAY_FAIL;
  if (info->enabledExtensionCount != 0 && !fake.hasMessages)
    return VK_ERROR_EXTENSION_NOT_PRESENT;
  *into = reinterpret_cast<VkInstance>(&instance);
  return ++fake.objects, VK_SUCCESS;
}
void vkDestroyInstance(VkInstance, const VkAllocationCallbacks *) { --fake.objects; }
VkResult vkEnumeratePhysicalDevices(VkInstance, uint32_t *count, VkPhysicalDevice *into) {
  ZYX_MAY_FAIL;
  for (uint32_t i = 0; into && i < *count; ++i)
    into[i] = reinterpret_cast<VkPhysicalDevice>(&devices[i]);
  *count = fake.devices;
  return VK_SUCCESS;
}
void vkGetPhysicalDeviceProperties2(VkPhysicalDevice which, VkPhysicalDeviceProperties2 *all) {
  VkPhysicalDeviceProperties &own = all->properties;
  own.apiVersion = VK_MAKE_API_VERSION(0, 1, fake.minorVersion, 0);
  own.driverVersion = fake.driverVersion;
  std::strcpy(own.deviceName, which == reinterpret_cast<VkPhysicalDevice>(&devices[0]) ? "Fake" : "Other");
  own.limits.maxComputeWorkGroupInvocations = own.limits.maxComputeWorkGroupSize[0] = fake.groupThreads;
  own.limits.maxComputeSharedMemorySize = fake.sharedBytes;
  own.limits.maxComputeWorkGroupCount[0] = fake.mostGroups;
  own.limits.timestampPeriod = 1;
  forEachIn(all, [](VkBaseOutStructure *each) {
    if (each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES) {
      auto *v11 = reinterpret_cast<VkPhysicalDeviceVulkan11Properties *>(each);
      v11->subgroupSize = 8;
      v11->subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
      v11->subgroupSupportedOperations =
          VK_SUBGROUP_FEATURE_BASIC_BIT | (fake.hasSubgroups ? VK_SUBGROUP_FEATURE_ARITHMETIC_BIT : 0);
      v11->maxMemoryAllocationSize = fake.largestBytes;
    } else if (each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES) {
      auto *v12 = reinterpret_cast<VkPhysicalDeviceVulkan12Properties *>(each);
      v12->shaderSignedZeroInfNanPreserveFloat32 = v12->shaderRoundingModeRTEFloat32 = fake.rounds;
      v12->shaderSignedZeroInfNanPreserveFloat64 = v12->shaderRoundingModeRTEFloat64 = fake.rounds;
      v12->shaderDenormPreserveFloat32 = fake.keepsDenormals;
      v12->denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
      std::strcpy(v12->driverName, "fake");
      std::strcpy(v12->driverInfo, "7");
    }
  });
}
void vkGetPhysicalDeviceFeatures2(VkPhysicalDevice, VkPhysicalDeviceFeatures2 *all) {
  all->features.shaderInt64 = VK_TRUE;
  all->features.shaderFloat64 = fake.hasDoubles;
  all->features.shaderInt16 = fake.hasSmallTypes;
  forEachIn(all, [](VkBaseOutStructure *each) {
    if (each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
      auto *v12 = reinterpret_cast<VkPhysicalDeviceVulkan12Features *>(each);
      v12->bufferDeviceAddress = fake.hasAddresses;
      v12->timelineSemaphore = v12->vulkanMemoryModel = VK_TRUE;
      v12->shaderInt8 = v12->storageBuffer8BitAccess = fake.hasSmallTypes;
    } else if (each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES) {
      reinterpret_cast<VkPhysicalDeviceVulkan11Features *>(each)->storageBuffer16BitAccess = fake.hasSmallTypes;
    }
  });
}
void vkGetPhysicalDeviceMemoryProperties(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties *memory) {
  memory->memoryHeapCount = memory->memoryTypeCount = 1;
  memory->memoryHeaps[0] = {uint64_t(1) << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  memory->memoryTypes[0] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                            0};
}
void vkGetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice, uint32_t *count, VkQueueFamilyProperties *into) {
  *count = 1 + fake.hasOwnQueue;
  if (!into)
    return;
  into[0].queueFlags = fake.computes ? VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT : VK_QUEUE_TRANSFER_BIT;
  if (fake.hasOwnQueue)
    into[1].queueFlags = VK_QUEUE_COMPUTE_BIT;
}
VkResult vkCreateDevice(VkPhysicalDevice, const VkDeviceCreateInfo *info, const VkAllocationCallbacks *,
                        VkDevice *into) {
  ZYX_MAY_FAIL;
  fake.queueFamily = info->pQueueCreateInfos->queueFamilyIndex;
  *into = reinterpret_cast<VkDevice>(&device);
  return ++fake.objects, VK_SUCCESS;
}
void vkDestroyDevice(VkDevice, const VkAllocationCallbacks *) { --fake.objects; }
void vkGetDeviceQueue(VkDevice, uint32_t, uint32_t, VkQueue *into) { *into = reinterpret_cast<VkQueue>(&queue); }

VkResult vkAllocateMemory(VkDevice, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *,
                          VkDeviceMemory *into) {
  ZYX_MAY_FAIL;
  ++fake.allocations;
  return give(into,
              new Memory{static_cast<std::byte *>(std::aligned_alloc(256, (info->allocationSize + 255) / 256 * 256))});
}
void vkFreeMemory(VkDevice, VkDeviceMemory memory, const VkAllocationCallbacks *) {
  if (memory)
    std::free(of<Memory>(memory).bytes);
  take<Memory>(memory);
}
VkResult vkMapMemory(VkDevice, VkDeviceMemory memory, VkDeviceSize, VkDeviceSize, VkMemoryMapFlags, void **into) {
  ZYX_MAY_FAIL;
  return *into = of<Memory>(memory).bytes, VK_SUCCESS;
}
VkResult vkCreateBuffer(VkDevice, const VkBufferCreateInfo *info, const VkAllocationCallbacks *, VkBuffer *into) {
  ZYX_MAY_FAIL;
  return give(into, new Buffer{info->size, nullptr});
}
void vkDestroyBuffer(VkDevice, VkBuffer buffer, const VkAllocationCallbacks *) { take<Buffer>(buffer); }
void vkGetBufferMemoryRequirements(VkDevice, VkBuffer buffer, VkMemoryRequirements *needs) {
  *needs = {of<Buffer>(buffer).size, 256, 1};
}
VkResult vkBindBufferMemory(VkDevice, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize) {
  ZYX_MAY_FAIL;
  return of<Buffer>(buffer).bytes = of<Memory>(memory).bytes, VK_SUCCESS;
}
VkDeviceAddress vkGetBufferDeviceAddress(VkDevice, const VkBufferDeviceAddressInfo *info) {
  return reinterpret_cast<uintptr_t>(of<Buffer>(info->buffer).bytes);
}

VkResult vkCreateCommandPool(VkDevice, const VkCommandPoolCreateInfo *, const VkAllocationCallbacks *,
                             VkCommandPool *into) {
  ZYX_MAY_FAIL;
  return give(into, new std::vector<Commands *>);
}
void vkDestroyCommandPool(VkDevice, VkCommandPool pool, const VkAllocationCallbacks *) {
  if (pool)
    for (Commands *each : of<std::vector<Commands *>>(pool))
      delete each;
  take<std::vector<Commands *>>(pool);
}
VkResult vkAllocateCommandBuffers(VkDevice, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *into) {
  ZYX_MAY_FAIL;
  auto *made = new Commands;
  of<std::vector<Commands *>>(info->commandPool).push_back(made);
  *into = reinterpret_cast<VkCommandBuffer>(made);
  return VK_SUCCESS;
}
void vkFreeCommandBuffers(VkDevice, VkCommandPool pool, uint32_t, const VkCommandBuffer *lists) {
  if (!*lists)
    return;
  std::erase(of<std::vector<Commands *>>(pool), reinterpret_cast<Commands *>(*lists));
  delete reinterpret_cast<Commands *>(*lists);
}
VkResult vkBeginCommandBuffer(VkCommandBuffer commands, const VkCommandBufferBeginInfo *) {
  ZYX_MAY_FAIL;
  of<Commands>(commands).isEnded = false;
  return of<Commands>(commands).all.clear(), VK_SUCCESS;
}
VkResult vkEndCommandBuffer(VkCommandBuffer commands) {
  ZYX_MAY_FAIL;
  of<Commands>(commands).isEnded = true;
  return VK_SUCCESS;
}
void vkCmdPipelineBarrier(VkCommandBuffer, VkPipelineStageFlags, VkPipelineStageFlags behind, VkDependencyFlags,
                          uint32_t, const VkMemoryBarrier *, uint32_t, const VkBufferMemoryBarrier *, uint32_t,
                          const VkImageMemoryBarrier *) {
  if (behind & VK_PIPELINE_STAGE_HOST_BIT)
    ++fake.hostBarriers;
}
void vkCmdBindPipeline(VkCommandBuffer, VkPipelineBindPoint, VkPipeline) {}
void vkCmdPushConstants(VkCommandBuffer commands, VkPipelineLayout, VkShaderStageFlags, uint32_t, uint32_t size,
                        const void *values) {
  const auto *words = static_cast<const uint64_t *>(values);
  of<Commands>(commands).arguments.assign(words, words + size / sizeof(uint64_t));
}
/// Its arguments: from where, to where, scratch memory, the number of programs, and that of threads.
void vkCmdDispatch(VkCommandBuffer commands, uint32_t, uint32_t, uint32_t) {
  validate(__func__);
  add(commands, [arguments = of<Commands>(commands).arguments] {
    for (uint64_t i = 0; i < arguments[3]; ++i) {
      int32_t value;
      std::memcpy(&value, reinterpret_cast<const void *>(arguments[0] + 4 * i), 4);
      ++value;
      std::memcpy(reinterpret_cast<void *>(arguments[1] + 4 * i), &value, 4);
    }
    ++fake.launches;
  });
}
void vkCmdCopyBuffer(VkCommandBuffer commands, VkBuffer from, VkBuffer to, uint32_t count,
                     const VkBufferCopy *regions) {
  add(commands, [=, all = std::vector<VkBufferCopy>(regions, regions + count)] {
    for (const VkBufferCopy &each : all)
      std::memcpy(of<Buffer>(to).bytes + each.dstOffset, of<Buffer>(from).bytes + each.srcOffset, each.size);
  });
}
void vkCmdUpdateBuffer(VkCommandBuffer commands, VkBuffer to, VkDeviceSize offset, VkDeviceSize size,
                       const void *values) {
  const auto *begin = static_cast<const std::byte *>(values);
  add(commands, [=, all = std::vector<std::byte>(begin, begin + size)] {
    std::memcpy(of<Buffer>(to).bytes + offset, all.data(), all.size());
  });
}
void vkCmdFillBuffer(VkCommandBuffer commands, VkBuffer to, VkDeviceSize offset, VkDeviceSize size, uint32_t word) {
  add(commands, [=] {
    for (VkDeviceSize i = 0; i < size; i += 4)
      std::memcpy(of<Buffer>(to).bytes + offset + i, &word, 4);
  });
}
void vkCmdResetQueryPool(VkCommandBuffer, VkQueryPool, uint32_t, uint32_t) {}
void vkCmdWriteTimestamp(VkCommandBuffer, VkPipelineStageFlagBits, VkQueryPool, uint32_t) {}

VkResult vkCreateSemaphore(VkDevice, const VkSemaphoreCreateInfo *, const VkAllocationCallbacks *, VkSemaphore *into) {
  ZYX_MAY_FAIL;
  return give(into, new Timeline);
}
void vkDestroySemaphore(VkDevice, VkSemaphore semaphore, const VkAllocationCallbacks *) { take<Timeline>(semaphore); }
VkResult vkQueueSubmit(VkQueue, uint32_t, const VkSubmitInfo *info, VkFence) {
  validate(__func__);
  ZYX_MAY_FAIL;
  ++fake.submissions;
  for (uint32_t i = 0; i < info->commandBufferCount; ++i) {
    const Commands &list = of<Commands>(info->pCommandBuffers[i]);
    fake.unordered += !list.isEnded;
    for (const auto &command : list.all)
      command();
  }
  const auto *values = static_cast<const VkTimelineSemaphoreSubmitInfo *>(info->pNext);
  Timeline &timeline = of<Timeline>(info->pSignalSemaphores[0]);
  fake.unordered += info->waitSemaphoreCount != 1 || values->pWaitSemaphoreValues[0] != timeline.value;
  timeline.value = values->pSignalSemaphoreValues[0];
  return VK_SUCCESS;
}
VkResult vkGetSemaphoreCounterValue(VkDevice, VkSemaphore semaphore, uint64_t *value) {
  ZYX_MAY_FAIL;
  *value = fake.isSlow ? 0 : of<Timeline>(semaphore).value;
  return VK_SUCCESS;
}
VkResult vkWaitSemaphores(VkDevice, const VkSemaphoreWaitInfo *info, uint64_t) {
  ZYX_MAY_FAIL;
  return of<Timeline>(info->pSemaphores[0]).value >= info->pValues[0] ? VK_SUCCESS : VK_TIMEOUT;
}
VkResult vkCreateQueryPool(VkDevice, const VkQueryPoolCreateInfo *, const VkAllocationCallbacks *, VkQueryPool *into) {
  ZYX_MAY_FAIL;
  return give(into, new int(0));
}
void vkDestroyQueryPool(VkDevice, VkQueryPool pool, const VkAllocationCallbacks *) { take<int>(pool); }
VkResult vkGetQueryPoolResults(VkDevice, VkQueryPool, uint32_t, uint32_t, size_t, void *into, VkDeviceSize,
                               VkQueryResultFlags) {
  ZYX_MAY_FAIL;
  // Each answer is a microsecond behind the one before.
  static uint64_t now = 0;
  now += 1000;
  std::memcpy(into, &now, sizeof(now));
  return VK_SUCCESS;
}

VkResult vkCreateShaderModule(VkDevice, const VkShaderModuleCreateInfo *info, const VkAllocationCallbacks *,
                              VkShaderModule *into) {
  ZYX_MAY_FAIL;
  fake.module.assign(info->pCode, info->pCode + info->codeSize / 4);
  return give(into, new Module{fake.module});
}
void vkDestroyShaderModule(VkDevice, VkShaderModule module, const VkAllocationCallbacks *) { take<Module>(module); }
VkResult vkCreatePipelineLayout(VkDevice, const VkPipelineLayoutCreateInfo *, const VkAllocationCallbacks *,
                                VkPipelineLayout *into) {
  ZYX_MAY_FAIL;
  return give(into, new int(0));
}
void vkDestroyPipelineLayout(VkDevice, VkPipelineLayout layout, const VkAllocationCallbacks *) { take<int>(layout); }
VkResult vkCreatePipelineCache(VkDevice, const VkPipelineCacheCreateInfo *info, const VkAllocationCallbacks *,
                               VkPipelineCache *into) {
  ZYX_MAY_FAIL;
  const std::string data(static_cast<const char *>(info->pInitialData), info->initialDataSize);
  return give(into, new std::string(data == "kept" ? data : ""));
}
void vkDestroyPipelineCache(VkDevice, VkPipelineCache cache, const VkAllocationCallbacks *) {
  take<std::string>(cache);
}
VkResult vkGetPipelineCacheData(VkDevice, VkPipelineCache, size_t *size, void *into) {
  ZYX_MAY_FAIL;
  if (into)
    std::memcpy(into, "kept", 4);
  *size = 4;
  return VK_SUCCESS;
}
VkResult vkCreateComputePipelines(VkDevice, VkPipelineCache cache, uint32_t, const VkComputePipelineCreateInfo *info,
                                  const VkAllocationCallbacks *, VkPipeline *into) {
  validate(__func__);
  ZYX_MAY_FAIL;
  for (uint32_t word : of<Module>(info->stage.module).words)
    if (word == 0xbad0bad0)
      return VK_ERROR_INVALID_SHADER_NV;
  ++fake.pipelines;
  fake.keptPipelines += cache && of<std::string>(cache) == "kept";
  return give(into, new int(0));
}
void vkDestroyPipeline(VkDevice, VkPipeline pipeline, const VkAllocationCallbacks *) { take<int>(pipeline); }
}
