//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SCHEDULE_ESTIMATEPACKING_H
#define ZYX_SCHEDULE_ESTIMATEPACKING_H

#include "zyx/Codegen/Tile/Axes.h"

namespace zyx::schedule {

/// A dot of a processor, with its blocking; which arguments of its kernel keep their values; and columns of a program.
struct PackedDot {
  kernel::DotOp dot;
  kernel::BlockingAttr blocking;
  llvm::ArrayRef<bool> isFixed;
  int64_t columns, lanes;
};

/// Cycles for each element of a factor that is read through windows, and for a program; both 0 for what is no such
/// factor, or is packed once for many runs.
struct PackingCycles {
  double perElement = 0, ofProgram = 0;
};
PackingCycles estimatePacking(const PackedDot &packed, kernel::LoadOp load, const kernel::Axes &axes);

} // namespace zyx::schedule

#endif // ZYX_SCHEDULE_ESTIMATEPACKING_H
