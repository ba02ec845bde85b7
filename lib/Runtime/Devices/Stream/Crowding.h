//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_CROWDING_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_CROWDING_H

#include <cstdint>

namespace zyx::runtime {

/// What a launch takes of a device's multiprocessors.
struct Occupancy {
  uint64_t groups = 1, threads = 1;
  /// Of a workgroup, with what the device takes for itself.
  uint64_t sharedBytes = 1;
  /// Workgroups that a multiprocessor has at once where it has no others.
  uint64_t resident = 1;
  bool hasClusters = false;
};

/// Workgroups of a kernel on the multiprocessor that has most of them.
struct Crowding {
  /// Where the kernel begins on a device that does nothing else, and where it begins while another one is at work.
  uint64_t alone = 1, beside = 1;
};

/// What becomes of a kernel that begins as soon as all workgroups of the one before have begun. A device gives a
/// workgroup to the multiprocessor that has most room. Where some have none, those of them that the kernel before
/// leaves first are filled up, while others are still at work: few multiprocessors run what many would.
Crowding crowdingOf(const Occupancy &before, const Occupancy &behind, uint64_t processors);

/// Whether a kernel loses nothing if it begins like that: no multiprocessor has more of it than if it had begun later,
/// or so little that its time is that of one warp.
bool isUncrowded(const Occupancy &before, const Occupancy &behind, uint64_t processors);

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_CROWDING_H
