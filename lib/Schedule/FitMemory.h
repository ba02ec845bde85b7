//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_FITMEMORY_H
#define ZYX_LIB_SCHEDULE_FITMEMORY_H

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Schedule/Choices.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::schedule {

/// The same as chooseSchedules, but only schedules whose threads have room for what they share. Where none of its
/// rules' has, smaller tiles and fewer threads are tried, and then other forms: sums without groups of threads, rows
/// and columns apart, products by threads that share nothing. A remark says so. A program is one thread where nothing
/// else fits.
llvm::SmallVector<Choice> chooseFittingSchedules(kernel::FuncOp func, const kernel::Axes &axes,
                                                 const target::TargetInfo &target, unsigned most,
                                                 llvm::ArrayRef<bool> isFixed);

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_FITMEMORY_H
