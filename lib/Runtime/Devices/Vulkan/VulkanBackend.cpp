//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "VulkanBackend.h"

#include "Vulkan.h"

#include "zyx/Base/Hash.h"

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::vulkan;

Status VulkanBackend::open() {
  Features features;
  features.all.features.shaderInt64 = VK_TRUE;
  features.v12.bufferDeviceAddress = features.v12.timelineSemaphore = features.v12.vulkanMemoryModel = VK_TRUE;
  for (const Capability &each : optionalCapabilities())
    if (std::ranges::find(found.capabilities, each.number) != found.capabilities.end())
      each.feature(features) = VK_TRUE;
  const float priority = 1;
  const VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = found.queueFamily,
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority};
  const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .pNext = &features.all,
                                   .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos = &queues};
  ZYX_RETURN_IF_ERROR(
      check(driver.CreateDevice(found.device, &info, nullptr, &device), "open device '" + itsFacts.name + "'"));
  driver.GetDeviceQueue(device, found.queueFamily, 0, &queue);
  const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, pushedBytes};
  const VkPipelineLayoutCreateInfo arguments = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                                .pushConstantRangeCount = 1,
                                                .pPushConstantRanges = &range};
  ZYX_RETURN_IF_ERROR(
      check(driver.CreatePipelineLayout(device, &arguments, nullptr, &layout), "open device '" + itsFacts.name + "'"));
  constexpr VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  auto own = [this](uint64_t bytes) { return makeMemory(bytes, {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT}); };
  auto shared = [this](uint64_t bytes) { return makeMemory(bytes, {host | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, host}); };
  auto destroy = [this](const Memory &memory) {
    driver.DestroyBuffer(device, memory.buffer, nullptr);
    driver.FreeMemory(device, memory.memory, nullptr);
  };
  // To hand over what is recorded takes less than to record a single command.
  itsFacts.fewestOfGraph = 1;
  deviceMemory.emplace(deviceBlockBytes, own, destroy);
  hostMemory.emplace(hostBlockBytes, shared, destroy);
  return Status::ok();
}

/// The first of the kinds of memory that the device has is taken. The host reaches what it sees.
Result<Memory> VulkanBackend::makeMemory(uint64_t bytes, const std::vector<VkMemoryPropertyFlags> &kinds) const {
  Memory made;
  const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                   .size = bytes,
                                   .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                            VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                            VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
  ZYX_RETURN_IF_ERROR(check(driver.CreateBuffer(device, &info, nullptr, &made.buffer)));
  VkMemoryRequirements needs = {};
  driver.GetBufferMemoryRequirements(device, made.buffer, &needs);
  VkPhysicalDeviceMemoryProperties properties = {};
  driver.GetPhysicalDeviceMemoryProperties(found.device, &properties);
  VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  for (VkMemoryPropertyFlags kind : kinds)
    for (uint32_t type = 0; type < properties.memoryTypeCount && result == VK_ERROR_OUT_OF_DEVICE_MEMORY; ++type) {
      if (!(needs.memoryTypeBits >> type & 1) || (properties.memoryTypes[type].propertyFlags & kind) != kind)
        continue;
      const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                               .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
      const VkMemoryAllocateInfo wanted = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .pNext = &flags,
                                           .allocationSize = needs.size,
                                           .memoryTypeIndex = type};
      result = driver.AllocateMemory(device, &wanted, nullptr, &made.memory);
    }
  if (result == VK_SUCCESS)
    result = driver.BindBufferMemory(device, made.buffer, made.memory, 0);
  void *mapped = nullptr;
  if (result == VK_SUCCESS && (kinds[0] & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT))
    result = driver.MapMemory(device, made.memory, 0, VK_WHOLE_SIZE, 0, &mapped);
  if (result != VK_SUCCESS) {
    driver.DestroyBuffer(device, made.buffer, nullptr);
    driver.FreeMemory(device, made.memory, nullptr);
    return check(result);
  }
  made.mapped = static_cast<std::byte *>(mapped);
  const VkBufferDeviceAddressInfo asked = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                           .buffer = made.buffer};
  made.address = driver.GetBufferDeviceAddress(device, &asked);
  return made;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

Result<ModuleHandle> VulkanBackend::load(const artifact::CodeBlob &code) {
  constexpr uint32_t magic = 0x07230203, opExecutionMode = 16, opCapability = 17, localSize = 17, headerWords = 5;
  constexpr uint32_t modeDenormPreserve = 4459, capabilityDenormPreserve = 4464;
  std::vector<uint32_t> words(code.bytes.size() / sizeof(uint32_t));
  std::copy_n(code.bytes.begin(), words.size() * sizeof(uint32_t), reinterpret_cast<std::byte *>(words.data()));
  size_t at = headerWords;
  auto made = std::make_unique<LoadedModule>();
  if (words.size() < headerWords || words[0] != magic || code.bytes.size() % sizeof(uint32_t) != 0)
    return Status::unsupported("code of kernels is no SPIR-V");
  while (at < words.size()) {
    const uint32_t length = words[at] >> 16, op = words[at] & 0xffff;
    if (length == 0 || length > words.size() - at)
      return Status::unsupported("the SPIR-V of kernels is cut");
    if (op == opCapability && length == 2)
      for (const Capability &each : optionalCapabilities())
        if (words[at + 1] == each.number &&
            std::ranges::find(found.capabilities, each.number) == found.capabilities.end())
          return Status::unsupported(
              textOf({"device '", itsFacts.name, "' has no ", each.name, ", which the program computes with"}));
    if (op == opExecutionMode && length == 6 && words[at + 2] == localSize)
      made->localThreads = words[at + 3];
    const bool isOfDenormals = (op == opCapability && length == 2 && words[at + 1] == capabilityDenormPreserve) ||
                               (op == opExecutionMode && length == 4 && words[at + 2] == modeDenormPreserve);
    if (isOfDenormals && !found.keepsDenormals)
      words.erase(words.begin() + static_cast<ptrdiff_t>(at), words.begin() + static_cast<ptrdiff_t>(at + length));
    else
      at += length;
  }
  const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                         .codeSize = words.size() * sizeof(uint32_t),
                                         .pCode = words.data()};
  ZYX_RETURN_IF_ERROR(
      check(driver.CreateShaderModule(device, &info, nullptr, &made->shader), "take a module of SPIR-V"));
  made->hash = hashBytes(code.bytes).toHex();
  return handleOf<ModuleHandle>(made.release());
}

Result<KernelHandle> VulkanBackend::find(ModuleHandle module, const artifact::Kernel &kernel) {
  LoadedModule &owner = *objectOf<LoadedModule>(module);
  ZYX_RETURN_IF_ERROR(checkLimits(kernel, itsFacts.name, found.facts.workgroupThreads, found.facts.sharedBytes));
  const std::string key = textOf({"vulkan ", found.cacheIdentity, "\n", owner.hash, " ", kernel.symbol});
  const auto kept = findKept(key);
  const VkPipelineCacheCreateInfo from = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                          .initialDataSize = kept ? kept->size() : 0,
                                          .pInitialData = kept ? kept->data() : nullptr};
  VkPipelineCache pipelines = VK_NULL_HANDLE;
  // Without one everything is made again.
  if (cache && driver.CreatePipelineCache(device, &from, nullptr, &pipelines) != VK_SUCCESS)
    pipelines = VK_NULL_HANDLE;
  const VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                      .module = owner.shader,
                                                      .pName = kernel.symbol.c_str()},
                                            .layout = layout};
  LoadedKernel loaded{VK_NULL_HANDLE, kernel.groupThreads != 0 ? 0 : owner.localThreads};
  const Status status = check(driver.CreateComputePipelines(device, pipelines, 1, &info, nullptr, &loaded.pipeline),
                              textOf({"compile kernel ", kernel.name, " on device '", itsFacts.name, "'"}));
  size_t size = 0;
  if (status.isOk() && pipelines != VK_NULL_HANDLE && !kept &&
      driver.GetPipelineCacheData(device, pipelines, &size, nullptr) == VK_SUCCESS) {
    std::vector<std::byte> bytes(size);
    if (size != 0 && driver.GetPipelineCacheData(device, pipelines, &size, bytes.data()) == VK_SUCCESS)
      cache->keep(key, bytes);
  }
  if (pipelines != VK_NULL_HANDLE)
    driver.DestroyPipelineCache(device, pipelines, nullptr);
  ZYX_RETURN_IF_ERROR(status);
  return handleOf<KernelHandle>(&owner.kernels.emplace_back(loaded));
}

Result<std::shared_ptr<Device>> runtime::createVulkanDevice(std::string name, const DeviceOptions &options) {
  return createFound<VulkanBackend, Driver>(std::move(name), "Vulkan", options);
}

std::vector<DeviceListing> runtime::listVulkanDevices() { return listFound<Driver>("vulkan"); }
