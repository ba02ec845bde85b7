//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDA_H
#define ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDA_H

#include "Card.h"

#include "zyx/Runtime/Device.h"

namespace zyx::runtime {
namespace cuda {

/// Memory of the card, ordered by its stream. `limit` counts bytes.
std::shared_ptr<MemoryPool> createPool(std::shared_ptr<Card> card, uint64_t limit);

/// How a kernel is launched for that many programs.
struct LaunchShape {
  unsigned groups = 1, threads = 1;
  /// Of scratch memory for all threads.
  uint64_t scratchBytes = 0;
};
LaunchShape shapeOf(const artifact::Kernel &kernel, int64_t programs, int processors);

/// A command of an artifact on the card. `functions` are those of its kernels; `scratch` is as large as the
/// largest of its launches asks for. They, and the queue, outlive the result.
std::unique_ptr<Replay> recordReplay(std::shared_ptr<Card> card, const artifact::Artifact &artifact,
                                     std::span<const Function> functions, uint64_t scratch, Queue &queue);

} // namespace cuda

/// "cuda", "cuda:1": a card of NVIDIA's by its number.
Result<std::shared_ptr<Device>> createCudaDevice(std::string name, const DeviceOptions &options);
/// A line for each card, or one that says why there is none.
std::vector<DeviceListing> listCudaDevices();

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDA_H
