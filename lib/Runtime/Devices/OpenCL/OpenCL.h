//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_OPENCL_OPENCL_H
#define ZYX_LIB_RUNTIME_DEVICES_OPENCL_OPENCL_H

#include "zyx/Runtime/Device.h"

namespace zyx::runtime {

/// "opencl", "opencl:1": a device of OpenCL's by its number, of all platforms together.
Result<std::shared_ptr<Device>> createOpenCLDevice(std::string name, const DeviceOptions &options);
/// A line for each device, or one that says why there is none.
std::vector<DeviceListing> listOpenCLDevices();

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_OPENCL_OPENCL_H
