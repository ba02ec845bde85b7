//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_OVERLAP_H
#define ZYX_LIB_SCHEDULE_OVERLAP_H

#include "zyx/Target/Info/Fits.h"

#include <algorithm>

namespace zyx::schedule {

/// What two things take that overlap, such as arithmetic and memory: the longer one, and still so much of the shorter
/// one.
inline double overlapped(double a, double b) { return std::max(a, b) + target::fits::notHidden * std::min(a, b); }

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_OVERLAP_H
