//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_HIP_HIP_H
#define ZYX_LIB_RUNTIME_DEVICES_HIP_HIP_H

#include "zyx/Runtime/Device.h"

namespace zyx::runtime {

/// "hip", "hip:1": a card of AMD's by its number, through the functions of CUDA's backend under HIP's names.
Result<std::shared_ptr<Device>> createHipDevice(std::string name, const DeviceOptions &options);
std::vector<DeviceListing> listHipDevices();

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_HIP_HIP_H
