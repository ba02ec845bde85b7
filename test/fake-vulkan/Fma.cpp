//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Named by ZYX_VULKAN_DRIVER, it is the system's loader, but for what FMA names, with commas between. Changes of
// modules (Changes.cpp) are made before the driver gets them. With FMA=join a product and a sum that a driver may make
// one op are GLSL's Fma: so a card tells what its Fma does that products and sums do not. With FMA=flush each result of
// Fma that is a denormal is 0, as on NVIDIA's driver, and with FMA=join,flush so is what a module leaves open. The
// others are for times alone, whose results may be wrong. Changes of calls: compute-queue offers no family of queues
// that has graphics, too; no-barriers and no-waits leave out those between commands and submissions; times measures a
// kernel with each change (Times.cpp); clock says at the end how long submissions took the host, and how long the
// device then worked on each.
//===----------------------------------------------------------------------===//
#include "Times.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace zyx::test;

namespace {

struct Asked {
  std::vector<std::string> changes;
  bool usesComputeQueue = false, hasBarriers = true, hasWaits = true, isTimed = false, isClocked = false,
       saysFastMath = false;

  Asked() {
    const char *name = std::getenv("FMA");
    changes = split(name ? name : "", ',');
    const auto takes = [&](std::string_view its) { return std::erase(changes, its) != 0; };
    usesComputeQueue = takes("compute-queue");
    hasBarriers = !takes("no-barriers");
    hasWaits = !takes("no-waits");
    isTimed = takes("times");
    isClocked = takes("clock");
    saysFastMath = std::count(changes.begin(), changes.end(), "fast-math") != 0;
    // A name that is none ends the process, lest a test sees an ordinary driver.
    Module none{Words(headerWords)};
    if (!name || !std::all_of(changes.begin(), changes.end(), [&](const auto &each) { return change(none, each); }))
      std::abort();
  }
};

const Asked &asked() {
  static const Asked its;
  return its;
}

using Clock = std::chrono::steady_clock;

/// Of the submissions of a process, each with one semaphore.
struct Submissions {
  std::vector<double> handed, worked;
  Clock::time_point begin, end;
  uint64_t awaited = 0;

  static double between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::micro>(to - from).count();
  }
  static double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all.empty() ? 0 : all[all.size() / 2];
  }
  void reach(uint64_t value) {
    if (awaited == 0 || value < awaited)
      return;
    worked.push_back(between(end, Clock::now()));
    awaited = 0;
  }
  ~Submissions() {
    if (asked().isClocked)
      std::fprintf(stderr, "clock: %zu submissions, %.2f us to hand one over, %.2f us until it is over\n",
                   handed.size(), median(handed), median(worked));
  }
} submissions;

} // namespace

extern "C" {

VkResult vkCreateShaderModule(VkDevice device, const VkShaderModuleCreateInfo *info,
                              const VkAllocationCallbacks *allocator, VkShaderModule *into) {
  if (asked().saysFastMath && !hasFastMath())
    return VK_ERROR_FEATURE_NOT_PRESENT;
  Words words(info->pCode, info->pCode + info->codeSize / sizeof(uint32_t));
  for (const std::string &each : asked().changes)
    words = changed(words, each);
  VkShaderModuleCreateInfo its = *info;
  its.codeSize = words.size() * sizeof(uint32_t);
  its.pCode = words.data();
  const VkResult result = ZYX_NEXT(vkCreateShaderModule)(device, &its, allocator, into);
  if (asked().isTimed && result == VK_SUCCESS)
    keepModule(*into, words);
  return result;
}

void vkGetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice device, uint32_t *count, VkQueueFamilyProperties *into) {
  ZYX_NEXT(vkGetPhysicalDeviceQueueFamilyProperties)(device, count, into);
  if (!into || !asked().usesComputeQueue)
    return;
  const auto isAlone = [](const VkQueueFamilyProperties &each) {
    return (each.queueFlags & (VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT)) == VK_QUEUE_COMPUTE_BIT;
  };
  if (std::none_of(into, into + *count, isAlone))
    return;
  for (uint32_t i = 0; i < *count; ++i)
    if (!isAlone(into[i]))
      into[i].queueFlags &= ~VkQueueFlags(VK_QUEUE_COMPUTE_BIT);
}

void vkCmdPipelineBarrier(VkCommandBuffer list, VkPipelineStageFlags before, VkPipelineStageFlags behind,
                          VkDependencyFlags flags, uint32_t all, const VkMemoryBarrier *barriers, uint32_t ofBuffers,
                          const VkBufferMemoryBarrier *buffers, uint32_t ofImages, const VkImageMemoryBarrier *images) {
  if (asked().hasBarriers)
    ZYX_NEXT(vkCmdPipelineBarrier)
  (list, before, behind, flags, all, barriers, ofBuffers, buffers, ofImages, images);
}

VkResult vkCreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                        const VkAllocationCallbacks *allocator, VkDevice *into) {
  return asked().isTimed || asked().saysFastMath ? createTimedDevice(physical, *info, into)
                                                 : ZYX_NEXT(vkCreateDevice)(physical, info, allocator, into);
}

VkResult vkCreateComputePipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                  const VkComputePipelineCreateInfo *infos, const VkAllocationCallbacks *allocator,
                                  VkPipeline *into) {
  const VkResult result = ZYX_NEXT(vkCreateComputePipelines)(device, cache, count, infos, allocator, into);
  for (uint32_t i = 0; asked().isTimed && result == VK_SUCCESS && i < count; ++i)
    addVariants(device, infos[i], into[i]);
  return result;
}

void vkCmdBindPipeline(VkCommandBuffer list, VkPipelineBindPoint point, VkPipeline pipeline) {
  if (asked().isTimed)
    keepPipeline(list, pipeline);
  ZYX_NEXT(vkCmdBindPipeline)(list, point, pipeline);
}

void vkCmdDispatch(VkCommandBuffer list, uint32_t x, uint32_t y, uint32_t z) {
  if (asked().isTimed)
    dispatchVariants(list, x, y, z);
  ZYX_NEXT(vkCmdDispatch)(list, x, y, z);
}

VkResult vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence) {
  static const auto next = ZYX_NEXT(vkQueueSubmit);
  VkSubmitInfo info = *infos;
  if (!asked().hasWaits)
    info.waitSemaphoreCount = 0;
  submissions.begin = Clock::now();
  const VkResult result = next(queue, count, &info, fence);
  submissions.end = Clock::now();
  submissions.handed.push_back(Submissions::between(submissions.begin, submissions.end));
  if (const auto *values = static_cast<const VkTimelineSemaphoreSubmitInfo *>(infos->pNext))
    submissions.awaited = values->pSignalSemaphoreValues[0];
  return result;
}

VkResult vkGetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore, uint64_t *into) {
  static const auto next = ZYX_NEXT(vkGetSemaphoreCounterValue);
  const VkResult result = next(device, semaphore, into);
  submissions.reach(*into);
  return result;
}

VkResult vkWaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t most) {
  const VkResult result = ZYX_NEXT(vkWaitSemaphores)(device, info, most);
  submissions.reach(info->pValues[0]);
  return result;
}

void vkDestroyPipeline(VkDevice device, VkPipeline pipeline, const VkAllocationCallbacks *allocator) {
  if (asked().isTimed)
    printTimes(device, pipeline);
  ZYX_NEXT(vkDestroyPipeline)(device, pipeline, allocator);
}

} // extern "C"
