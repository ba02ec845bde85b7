//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_DRIVERS_H
#define ZYX_LIB_RUNTIME_DEVICES_DRIVERS_H

#include "zyx/Runtime/Device.h"

namespace zyx::runtime {

/// Devices whose driver is opened at run time: one by its name and number ("cuda", "cuda:1"), in the order in which the
/// driver counts them; and a line for each, or one that says why there is none.
Result<std::shared_ptr<Device>> createCudaDevice(std::string name, const DeviceOptions &options);
std::vector<DeviceListing> listCudaDevices();
/// Through the functions of CUDA's backend under HIP's names.
Result<std::shared_ptr<Device>> createHipDevice(std::string name, const DeviceOptions &options);
std::vector<DeviceListing> listHipDevices();
/// Of all platforms together.
Result<std::shared_ptr<Device>> createOpenCLDevice(std::string name, const DeviceOptions &options);
std::vector<DeviceListing> listOpenCLDevices();

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_DRIVERS_H
