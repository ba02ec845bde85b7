//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_HOST_HOST_H
#define ZYX_LIB_RUNTIME_DEVICES_HOST_HOST_H

#include "zyx/Runtime/Device.h"

namespace zyx::runtime {

/// Success where this machine, and its operating system, have all of these CPU features.
Status checkCpuFeatures(std::span<const std::string> features);

/// `functions` are those of the artifact's kernels. Both, and the pool, outlive the result.
std::unique_ptr<Replay> recordHost(const artifact::Artifact &artifact,
                                   std::span<const artifact::KernelFunction> functions,
                                   ThreadPool &threads);

std::shared_ptr<Device> createHostDevice(std::string name, const DeviceOptions &options);

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_HOST_HOST_H
