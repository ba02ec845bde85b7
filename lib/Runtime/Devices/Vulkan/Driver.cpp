//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include "../Stream/DriverLibrary.h"

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::vulkan;

#define ZYX_SYMBOL(name) "vk" #name,
static constexpr const char *symbols[] = {ZYX_VULKAN_FUNCTIONS(ZYX_SYMBOL)};
#undef ZYX_SYMBOL

static DeviceFound describe(const Driver &driver, vk::PhysicalDevice device) {
  DeviceFound found;
  found.device = device;
  const auto properties = device.getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceVulkan11Properties,
                                                vk::PhysicalDeviceVulkan12Properties>(driver);
  const vk::PhysicalDeviceProperties &own = properties.get<vk::PhysicalDeviceProperties2>().properties;
  const auto &own11 = properties.get<vk::PhysicalDeviceVulkan11Properties>();
  const auto &own12 = properties.get<vk::PhysicalDeviceVulkan12Properties>();
  const auto features = device.getFeatures2<vk::PhysicalDeviceFeatures2, vk::PhysicalDeviceVulkan11Features,
                                            vk::PhysicalDeviceVulkan12Features>(driver);
  const vk::PhysicalDeviceFeatures &has = features.get<vk::PhysicalDeviceFeatures2>().features;
  const auto &has11 = features.get<vk::PhysicalDeviceVulkan11Features>();
  const auto &has12 = features.get<vk::PhysicalDeviceVulkan12Features>();
  const vk::PhysicalDeviceMemoryProperties memory = device.getMemoryProperties(driver);

  DeviceFacts &facts = found.facts;
  constexpr auto combine = vk::SubgroupFeatureFlagBits::eBasic | vk::SubgroupFeatureFlagBits::eArithmetic;
  found.setTarget("vulkan", (own11.subgroupSupportedOperations & combine) == combine &&
                                (own11.subgroupSupportedStages & vk::ShaderStageFlagBits::eCompute));
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if (memory.memoryHeaps[i].flags & vk::MemoryHeapFlagBits::eDeviceLocal)
      facts.memoryBytes = std::max<uint64_t>(facts.memoryBytes, memory.memoryHeaps[i].size);
  const std::string version =
      std::to_string(VK_API_VERSION_MAJOR(own.apiVersion)) + "." + std::to_string(VK_API_VERSION_MINOR(own.apiVersion));
  facts.identity = std::string(own.deviceName) + ", Vulkan " + version + ", " + own12.driverName.data() + " " +
                   own12.driverInfo.data() + ", " + std::to_string(facts.memoryBytes >> 20) + " MiB";
  found.cacheIdentity = facts.identity + " " + std::to_string(own.driverVersion) + " " +
                        std::string(own.pipelineCacheUUID.begin(), own.pipelineCacheUUID.end());
  facts.alignment = 16;
  facts.workgroupThreads = std::min(own.limits.maxComputeWorkGroupInvocations, own.limits.maxComputeWorkGroupSize[0]);
  facts.subgroupThreads = own11.subgroupSize;
  facts.sharedBytes = own.limits.maxComputeSharedMemorySize;
  found.mostGroups = own.limits.maxComputeWorkGroupCount[0];
  found.period = own.limits.timestampPeriod;
  found.isProcessor = own.deviceType == vk::PhysicalDeviceType::eCpu;
  found.largestBytes = own11.maxMemoryAllocationSize;
  found.keepsDenormals = own12.shaderDenormPreserveFloat32 &&
                         own12.denormBehaviorIndependence != vk::ShaderFloatControlsIndependence::eNone;
  facts.dtypes = dtypesWith(
      has12.shaderInt8 && has12.storageBuffer8BitAccess, has.shaderInt16 && has11.storageBuffer16BitAccess,
      has.shaderFloat64 && own12.shaderSignedZeroInfNanPreserveFloat64 && own12.shaderRoundingModeRTEFloat64);

  const std::vector<vk::QueueFamilyProperties> families = device.getQueueFamilyProperties(driver);
  // One that has no graphics, where there is one: on NVIDIA's driver a launch takes 5 us less there.
  const auto fitness = [](const vk::QueueFamilyProperties &each) {
    return each.queueFlags & vk::QueueFlagBits::eCompute ? 2 - !!(each.queueFlags & vk::QueueFlagBits::eGraphics) : 0;
  };
  const auto family = std::ranges::max_element(families, {}, fitness);
  found.queueFamily = static_cast<unsigned>(family - families.begin());
  if (own.apiVersion < VK_API_VERSION_1_2)
    found.refusal = "it has Vulkan " + version + ", and 1.2 is needed";
  else if (family == families.end() || fitness(*family) == 0)
    found.refusal = "it has no queue that computes";
  else if (!has.shaderInt64 || !has12.bufferDeviceAddress || !has12.timelineSemaphore || !has12.vulkanMemoryModel)
    found.refusal = "shaderInt64, bufferDeviceAddress, timelineSemaphore and vulkanMemoryModel are needed";
  else if (!own12.shaderSignedZeroInfNanPreserveFloat32 || !own12.shaderRoundingModeRTEFloat32)
    found.refusal = "it may drop infinity and NaN of f32, or does not round it to nearest even";
  return found;
}

Status vulkan::check(vk::Result result, std::string_view action) {
  using enum vk::Result;
  if (result == eSuccess)
    return Status::ok();
  const bool isShort =
      result == eErrorOutOfDeviceMemory || result == eErrorOutOfHostMemory || result == eErrorTooManyObjects;
  return cannot(action, driverFailure(vk::to_string(result), isShort, result == eErrorDeviceLost));
}

Result<const Driver *> Driver::open() {
  return openDriver<Driver>("VULKAN_DRIVER", "libvulkan.so.1", {"the loader of Vulkan", "Vulkan 1.2"}, symbols);
}

std::shared_ptr<void> Driver::listen(vk::Instance on, PFN_vkDebugUtilsMessengerCallbackEXT hear, void *self) const {
  const auto entry = [&](const char *name) { return vkGetInstanceProcAddr(on, name); };
  const auto make = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(entry("vkCreateDebugUtilsMessengerEXT"));
  const auto end = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(entry("vkDestroyDebugUtilsMessengerEXT"));
  VkDebugUtilsMessengerEXT made = nullptr;
  const VkDebugUtilsMessengerCreateInfoEXT info =
      vk::DebugUtilsMessengerCreateInfoEXT({}, vk::DebugUtilsMessageSeverityFlagBitsEXT::eError,
                                           vk::DebugUtilsMessageTypeFlagBitsEXT::eValidation, hear, self);
  if (!make || !end || make(on, &info, nullptr, &made) != VK_SUCCESS)
    return nullptr;
  return {made, [=](VkDebugUtilsMessengerEXT its) { end(on, its, nullptr); }};
}

Result<std::vector<DeviceFound>> Driver::find() const {
  const vk::ApplicationInfo program("zyx", 0, nullptr, 0, VK_API_VERSION_1_2);
  const char *const messages = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  vk::ResultValue<Unique<vk::Instance>> made =
      vk::createInstanceUnique({{}, &program, 0, nullptr, 1, &messages}, nullptr, *this);
  if (made.result == vk::Result::eErrorExtensionNotPresent)
    made = vk::createInstanceUnique({{}, &program}, nullptr, *this);
  if (made.result == vk::Result::eErrorIncompatibleDriver)
    return Status::notFound("no driver of Vulkan is installed (ICD)");
  ZYX_RETURN_IF_ERROR(check(made.result, "begin with Vulkan"));
  const auto instance = std::make_shared<const Unique<vk::Instance>>(std::move(made.value));
  std::vector<vk::PhysicalDevice> devices;
  ZYX_RETURN_IF_ERROR(take((*instance)->enumeratePhysicalDevices(*this), devices, "list the devices of Vulkan"));
  std::vector<DeviceFound> found;
  for (vk::PhysicalDevice device : devices)
    found.emplace_back(describe(*this, device)).instance = instance;
  if (found.empty())
    return Status::notFound("no driver of Vulkan has a device");
  return found;
}
