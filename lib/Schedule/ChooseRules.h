//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_CHOOSERULES_H
#define ZYX_LIB_SCHEDULE_CHOOSERULES_H

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Schedule/Choices.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::schedule {

/// Forms that a kernel may get; without one, where others need too much memory.
struct Forms {
  /// Groups of a workgroup's threads have rows in turns.
  bool rowGroups = true;
  /// Sums along rows and sums across them in one walk.
  bool columnSums = true;
  /// Threads compute a program together.
  bool sharing = true;
};

/// The schedules of a kernel for a target, the best one first, at most `most`. Gives the kernel the threads of that
/// one. `isFixed` says of the first arguments which keep their values from run to run.
llvm::SmallVector<Choice> chooseSchedules(kernel::FuncOp func, const kernel::Axes &axes,
                                          const target::TargetInfo &target, unsigned most,
                                          llvm::ArrayRef<bool> isFixed = {}, const Forms &forms = {});

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_CHOOSERULES_H
