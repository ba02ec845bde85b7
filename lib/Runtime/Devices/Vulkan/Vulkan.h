//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_VULKAN_VULKAN_H
#define ZYX_LIB_RUNTIME_DEVICES_VULKAN_VULKAN_H

#include "zyx/Runtime/Device.h"

namespace zyx::runtime {

/// "vulkan", "vulkan:1": a device of Vulkan's by its number.
Result<std::shared_ptr<Device>> createVulkanDevice(std::string name, const DeviceOptions &options);
/// A line for each device, or one that says why there is none.
std::vector<DeviceListing> listVulkanDevices();

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_VULKAN_VULKAN_H
