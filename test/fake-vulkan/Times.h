//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Times of a kernel with each of the changes of its module, side by side in one list of commands.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FAKE_VULKAN_TIMES_H
#define ZYX_TEST_FAKE_VULKAN_TIMES_H

#include "Module.h"

#include <vulkan/vulkan_core.h>

#include <dlfcn.h>

#include <string>

namespace zyx::test {

/// The loader's function of that name.
#define ZYX_NEXT(name) reinterpret_cast<PFN_##name>(dlsym(RTLD_NEXT, #name))

std::vector<std::string> split(std::string_view names, char by);
/// A module with changes, whose names have "+" between them.
Words changed(const Words &words, std::string_view changes);

/// A device with what the driver tells of pipelines, and float controls, as far as it has them.
VkResult createTimedDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo &info, VkDevice *into);
bool hasFastMath();
void keepModule(VkShaderModule module, const Words &words);
void addVariants(VkDevice device, const VkComputePipelineCreateInfo &info, VkPipeline pipeline);
void keepPipeline(VkCommandBuffer list, VkPipeline pipeline);
void dispatchVariants(VkCommandBuffer list, uint32_t x, uint32_t y, uint32_t z);
void printTimes(VkDevice device, VkPipeline pipeline);

} // namespace zyx::test

#endif // ZYX_TEST_FAKE_VULKAN_TIMES_H
