//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_INFO_UNKNOWNTARGET_H
#define ZYX_TARGET_INFO_UNKNOWNTARGET_H

#include "zyx/Target/Info/TargetInfo.h"

#include <limits>

namespace zyx::target {

/// For what a module without a target is lowered: vectors of 64 bytes, an fma and maxima, and shared memory of any
/// size.
inline TargetInfo unknownTarget() {
  TargetInfo info;
  info.vector.bytes = 64;
  info.vector.registers = 32;
  info.arithmetic.hasFma = true;
  info.simt.sharedBytes = std::numeric_limits<int64_t>::max();
  return info;
}

} // namespace zyx::target

#endif // ZYX_TARGET_INFO_UNKNOWNTARGET_H
