//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_DEVICEFACTS_H
#define ZYX_RUNTIME_DEVICEFACTS_H

#include "zyx/Base/DType.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zyx::runtime {

/// What a device is. A number is 0, and a text empty, where the device does not tell.
struct DeviceFacts {
  /// The record of targets that code for the device is compiled with: "cpu", "sm_90a".
  std::string target;
  /// The machine behind it, as in Device::identity().
  std::string identity;
  /// "x86-64" or "aarch64" of a host; of a card its compute capability, as "sm_90".
  std::string architecture;

  /// What computes: processors or multiprocessors, elements of f32 that an instruction of each takes (of all its
  /// threads together), and the highest clock, in millions of cycles a second.
  unsigned processors = 0, lanes = 0, megahertz = 0;
  /// Operations of f32 a second, where each lane multiplies and adds once a cycle. An upper bound by which devices are
  /// compared, and no promise; 0 where one of the three is not known.
  double flops() const { return 2e6 * processors * lanes * megahertz; }

  /// Bytes that the device has, and those that nobody uses now. A card tells the second only where it is open.
  uint64_t memoryBytes = 0;
  std::optional<uint64_t> freeBytes;

  /// Bytes to whose multiples buffers of its programs are aligned, beside what their elements need.
  uint64_t alignment = 1;
  /// Threads of a workgroup and of a subgroup (CUDA's block and warp), and bytes of a workgroup's shared memory, at
  /// most.
  unsigned workgroupThreads = 0, subgroupThreads = 0;
  uint64_t sharedBytes = 0;
  /// Element types that programs of the device may have.
  std::vector<DType> dtypes;
};

/// Where a device's memory lies, by DLPack's numbers.
struct DLPackPlace {
  static constexpr int32_t host = 1, cuda = 2;
  int32_t kind = host, number = 0;
};

struct DeviceListing {
  std::string name;
  bool present = false;
  /// What the device is; for an absent one, why it is absent.
  std::string description;
  /// Of a present one.
  DeviceFacts facts = {};
};

/// All that are known, present or not, in the order in which they are tried. Opens no device: no card's memory is
/// taken, and how much of it is free is not known.
std::vector<DeviceListing> listDevices();
/// Without those that only who names them gets: drivers of OpenCL and Vulkan bring compilers of their own into the
/// process.
std::vector<DeviceListing> listDefaultDevices();

/// The name of the present device with the most flops(), the first of equals; "cpu" where none is present. What
/// createDevice("") makes.
std::string fastestDevice(std::span<const DeviceListing> listings);

/// Every element type that there is.
std::vector<DType> allDTypes();

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_DEVICEFACTS_H
