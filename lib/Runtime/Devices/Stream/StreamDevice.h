//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMDEVICE_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMDEVICE_H

#include "StreamContext.h"

#include "zyx/Runtime/Device.h"

namespace zyx::runtime {

/// A device of a backend that could be opened. Its memory limit is what was free when it was opened, if the options
/// name none.
Result<std::shared_ptr<Device>> createStreamDevice(Result<std::unique_ptr<Backend>> backend,
                                                   const DeviceOptions &options);

/// Of devices of backends, as Device::largestHostInput says it: scalars of all types. More would be more commands than
/// a copy is.
inline constexpr uint64_t largestHostInput = 8;

/// Memory of the device, ordered by its stream. `limit` counts bytes.
std::shared_ptr<MemoryPool> createStreamPool(std::shared_ptr<StreamContext> context, uint64_t limit);

/// How a kernel is launched for that many programs.
struct LaunchShape {
  unsigned groups = 1, threads = 1;
  bool isByGroup = false;
  /// Of scratch memory for all threads.
  uint64_t scratchBytes = 0;
};
LaunchShape shapeOf(const artifact::Kernel &kernel, int64_t programs, int processors);

/// The commands of an artifact on the device. `kernels` are the artifact's; `scratch` is as large as the largest of its
/// launches asks for. They, and the queue, outlive the result.
std::unique_ptr<Replay> recordStream(std::shared_ptr<StreamContext> context, const artifact::Artifact &artifact,
                                     std::span<const KernelHandle> kernels, MemoryRef scratch, Queue &queue);

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMDEVICE_H
