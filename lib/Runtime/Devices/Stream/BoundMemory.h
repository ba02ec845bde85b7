//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_BOUNDMEMORY_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_BOUNDMEMORY_H

#include "zyx/Artifact/Artifact.h"

#include <cstdint>
#include <vector>

namespace zyx::runtime {

/// Two buffers that a program is given memory for, one of which it writes, and that share memory: which, and how far
/// the second one begins behind the first.
struct Overlap {
  size_t first = 0, second = 0;
  uint64_t distance = 0;
  auto operator<=>(const Overlap &) const = default;
};

/// Where the memory lies that a program is given: who calls may bind one buffer twice, as where an argument is donated.
/// What lies where in the arena never changes, and counts as one buffer; constants are nobody's to write.
class BoundMemory {
public:
  explicit BoundMemory(const artifact::Artifact &artifact);

  void bind(uint32_t buffer, uint64_t address) { buffers[owners[buffer]].begin = address - places[buffer]; }
  /// In order.
  std::vector<Overlap> overlaps() const;

private:
  struct Bound {
    uint64_t begin = 0, size = 0;
    bool isWritten = false;
  };
  std::vector<Bound> buffers;
  /// For each buffer of the artifact, its own of those, and where it begins there.
  std::vector<size_t> owners;
  std::vector<uint64_t> places;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_BOUNDMEMORY_H
