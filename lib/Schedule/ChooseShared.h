//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_CHOOSESHARED_H
#define ZYX_LIB_SCHEDULE_CHOOSESHARED_H

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::schedule {

/// How a workgroup multiplies out of shared memory: the tile of the result that it has, the part of each thread,
/// elements of a slice along the contraction, and its threads; and the cycles that all of that is estimated to take,
/// without what memory takes. By warps the part is that of a warp, which multiplies factors of 16 bits by tensor cores.
struct SharedPlan {
  int64_t tileRows, tileColumns, rows, columns, depth, threads;
  double cost;
  bool byWarps;
  /// Of the workgroups that a multiprocessor is estimated to have at once; 0 where that asks for no limit of registers.
  int64_t residentThreads = 0;
};

/// Plans of a dot on a GPU, the one that costs least first, and at most `most`; none where threads that read both
/// factors where they lie are estimated to take less. Tiles are smaller than rows and columns only where these can be
/// cut. docs/codegen-gpu.md has the rules.
llvm::SmallVector<SharedPlan> planSharedDots(kernel::DotOp dot, const kernel::Axes &axes, bool cutRows, bool cutColumns,
                                             const target::TargetInfo &target, unsigned most);

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_CHOOSESHARED_H
