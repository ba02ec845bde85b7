//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include "../Stream/DriverLibrary.h"

#include "zyx/Base/Config.h"

#include <algorithm>
#include <cstddef>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::vulkan;

namespace {

#define ZYX_SYMBOL(name) {"vk" #name, offsetof(Driver, name)},
constexpr DriverSymbol symbols[] = {ZYX_VULKAN_FUNCTIONS(ZYX_SYMBOL)};
#undef ZYX_SYMBOL

#define ZYX_RESULT(name) {name, #name}
constexpr std::pair<VkResult, const char *> results[] = {
    ZYX_RESULT(VK_TIMEOUT),
    ZYX_RESULT(VK_ERROR_OUT_OF_HOST_MEMORY),
    ZYX_RESULT(VK_ERROR_OUT_OF_DEVICE_MEMORY),
    ZYX_RESULT(VK_ERROR_INITIALIZATION_FAILED),
    ZYX_RESULT(VK_ERROR_DEVICE_LOST),
    ZYX_RESULT(VK_ERROR_MEMORY_MAP_FAILED),
    ZYX_RESULT(VK_ERROR_LAYER_NOT_PRESENT),
    ZYX_RESULT(VK_ERROR_FEATURE_NOT_PRESENT),
    ZYX_RESULT(VK_ERROR_INCOMPATIBLE_DRIVER),
    ZYX_RESULT(VK_ERROR_TOO_MANY_OBJECTS),
    ZYX_RESULT(VK_ERROR_UNKNOWN),
    ZYX_RESULT(VK_ERROR_INVALID_SHADER_NV),
};

#define ZYX_CAPABILITY(number, name, feature)                                                                          \
  {number, #name, [](Features &features) -> VkBool32 & { return features.feature; }}
constexpr Capability capabilities[] = {
    ZYX_CAPABILITY(10, Float64, all.features.shaderFloat64),
    ZYX_CAPABILITY(22, Int16, all.features.shaderInt16),
    ZYX_CAPABILITY(39, Int8, v12.shaderInt8),
    ZYX_CAPABILITY(4433, StorageBuffer16BitAccess, v11.storageBuffer16BitAccess),
    ZYX_CAPABILITY(4448, StorageBuffer8BitAccess, v12.storageBuffer8BitAccess),
};
constexpr uint32_t float64 = 10, int16 = 22, int8 = 39, storage16 = 4433, storage8 = 4448;

DeviceFound describe(const Driver &driver, std::shared_ptr<VkInstance_T> instance, VkPhysicalDevice device) {
  DeviceFound found{device, std::move(instance)};
  VkPhysicalDeviceDriverProperties itsDriver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceFloatControlsProperties floats = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES, .pNext = &itsDriver};
  VkPhysicalDeviceVulkan11Properties v11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES,
                                            .pNext = &floats};
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &v11};
  driver.GetPhysicalDeviceProperties2(device, &all);
  const VkPhysicalDeviceProperties &own = all.properties;
  const VkPhysicalDeviceLimits &limits = own.limits;
  Features features;
  driver.GetPhysicalDeviceFeatures2(device, &features.all);
  VkPhysicalDeviceMemoryProperties memory = {};
  driver.GetPhysicalDeviceMemoryProperties(device, &memory);

  DeviceFacts &facts = found.facts;
  facts.target = "vulkan";
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      facts.memoryBytes = std::max<uint64_t>(facts.memoryBytes, memory.memoryHeaps[i].size);
  const std::string version =
      std::to_string(VK_API_VERSION_MAJOR(own.apiVersion)) + "." + std::to_string(VK_API_VERSION_MINOR(own.apiVersion));
  facts.identity = std::string(own.deviceName) + ", Vulkan " + version + ", " + itsDriver.driverName + " " +
                   itsDriver.driverInfo + ", " + std::to_string(facts.memoryBytes >> 20) + " MiB";
  found.cacheIdentity = facts.identity + " " + std::to_string(own.driverVersion);
  for (uint8_t byte : own.pipelineCacheUUID)
    found.cacheIdentity += ' ' + std::to_string(byte);
  facts.alignment = 16;
  facts.workgroupThreads = std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
  facts.subgroupThreads = v11.subgroupSize;
  facts.sharedBytes = limits.maxComputeSharedMemorySize;
  found.largestBytes = v11.maxMemoryAllocationSize;
  found.mostGroups = limits.maxComputeWorkGroupCount[0];
  found.period = limits.timestampPeriod;

  uint32_t count = 0;
  driver.GetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  driver.GetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  const auto family = std::ranges::find_if(
      families, [](const VkQueueFamilyProperties &each) { return each.queueFlags & VK_QUEUE_COMPUTE_BIT; });
  found.queueFamily = static_cast<unsigned>(family - families.begin());

  const bool hasDoubles = floats.shaderSignedZeroInfNanPreserveFloat64 && floats.shaderRoundingModeRTEFloat64;
  for (const Capability &each : capabilities)
    if (each.feature(features) && (each.number != float64 || hasDoubles))
      found.capabilities.push_back(each.number);
  found.keepsDenormals = floats.shaderDenormPreserveFloat32 &&
                         floats.denormBehaviorIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
  auto lacks = [&](uint32_t number) {
    return std::ranges::find(found.capabilities, number) == found.capabilities.end();
  };
  facts.dtypes = allDTypes();
  std::erase_if(facts.dtypes, [&](DType dtype) {
    return byteSize(dtype) == 1   ? lacks(int8) || lacks(storage8)
           : byteSize(dtype) == 2 ? lacks(int16) || lacks(storage16)
                                  : dtype == DType::F64 && lacks(float64);
  });

  if (own.apiVersion < VK_API_VERSION_1_2)
    found.refusal = "it has Vulkan " + version + ", and 1.2 is needed";
  else if (family == families.end())
    found.refusal = "it has no queue that computes";
  else if (!features.all.features.shaderInt64 || !features.v12.bufferDeviceAddress || !features.v12.timelineSemaphore ||
           !features.v12.vulkanMemoryModel)
    found.refusal = "shaderInt64, bufferDeviceAddress, timelineSemaphore and vulkanMemoryModel are needed";
  else if (!floats.shaderSignedZeroInfNanPreserveFloat32 || !floats.shaderRoundingModeRTEFloat32)
    found.refusal = "it may drop infinity and NaN of f32, or does not round it to nearest even";
  return found;
}

} // namespace

std::span<const Capability> vulkan::optionalCapabilities() { return capabilities; }

Features::Features() {
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  v11.pNext = &v12;
  all.pNext = &v11;
}

Status vulkan::check(VkResult result, const std::string &action) {
  if (result == VK_SUCCESS)
    return Status::ok();
  std::string text = "error " + std::to_string(result);
  for (const auto &[known, name] : results)
    if (result == known)
      text = name;
  if (!action.empty())
    text = "cannot " + action + ": " + text;
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
      result == VK_ERROR_TOO_MANY_OBJECTS)
    return Status::outOfMemory(std::move(text));
  return {result == VK_ERROR_DEVICE_LOST ? ErrorCode::DeviceLost : ErrorCode::Internal, std::move(text)};
}

Result<const Driver *> Driver::open() {
  const char *named = zyxVariable("VULKAN_DRIVER");
  ZYX_ASSIGN_OR_RETURN(const void *table,
                       openDriverTable(named ? named : "libvulkan.so.1", {"the loader of Vulkan", "Vulkan 1.2"},
                                       symbols, sizeof(Driver)));
  return static_cast<const Driver *>(table);
}

Result<std::vector<DeviceFound>> Driver::find() const {
  const VkApplicationInfo program = {
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "zyx", .apiVersion = VK_API_VERSION_1_2};
  const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &program};
  VkInstance made = nullptr;
  const VkResult created = CreateInstance(&info, nullptr, &made);
  if (created == VK_ERROR_INCOMPATIBLE_DRIVER)
    return Status::notFound("no driver of Vulkan is installed (ICD)");
  ZYX_RETURN_IF_ERROR(check(created, "begin with Vulkan"));
  const std::shared_ptr<VkInstance_T> instance(made, [this](VkInstance each) { DestroyInstance(each, nullptr); });
  uint32_t count = 0;
  (void)EnumeratePhysicalDevices(made, &count, nullptr);
  std::vector<VkPhysicalDevice> devices(count);
  const VkResult listed = EnumeratePhysicalDevices(made, &count, devices.data());
  if (listed < 0)
    return check(listed, "list the devices of Vulkan");
  std::vector<DeviceFound> found;
  for (VkPhysicalDevice device : devices)
    found.push_back(describe(*this, instance, device));
  if (found.empty())
    return Status::notFound("no driver of Vulkan has a device");
  return found;
}
