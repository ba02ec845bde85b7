//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDA_H
#define ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDA_H

#include "../Stream/Backend.h"

#include "zyx/Runtime/Device.h"

namespace zyx::runtime {
namespace cuda {

/// The card with this number, as a device of this name.
Result<std::unique_ptr<Backend>> openCard(std::string name, int index);

} // namespace cuda

/// "cuda", "cuda:1": a card of NVIDIA's by its number.
Result<std::shared_ptr<Device>> createCudaDevice(std::string name, const DeviceOptions &options);
/// A line for each card, or one that says why there is none.
std::vector<DeviceListing> listCudaDevices();

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDA_H
