//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDA_H
#define ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDA_H

#include "../Stream/Backend.h"

#include "zyx/Runtime/Device.h"

namespace zyx::runtime::cuda {

struct Vendor;

/// The card with this number, as a device of this name.
Result<std::unique_ptr<Backend>> openCard(const Vendor &vendor, std::string name, int index);
/// "cuda", "cuda:1", "hip": a card of the vendor's by its number.
Result<std::shared_ptr<Device>> createCard(const Vendor &vendor, std::string name, const DeviceOptions &options);
/// A line for each card, or one that says why there is none.
std::vector<DeviceListing> listCards(const Vendor &vendor);

} // namespace zyx::runtime::cuda

#endif // ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDA_H
