//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_FORKED_H
#define ZYX_BASE_FORKED_H

#include "zyx/Base/Status.h"

#include <cstdint>

namespace zyx {

/// The process in which something began. After fork() the child has its memory, but none of the threads
/// that worked on it, and locks that they held stay held: what began before is refused there instead
/// of waited for.
class ForkMark {
public:
  ForkMark() : began(now()) {}
  /// Whether this process was forked since. Costs the reading of a number.
  bool isForked() const { return began != now(); }
  Status check() const;

private:
  static uint64_t now();
  const uint64_t began;
};

} // namespace zyx

#endif // ZYX_BASE_FORKED_H
