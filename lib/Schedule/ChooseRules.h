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

/// The schedules of a kernel for a target, the best one first, at most `most`. Gives the kernel the threads of that
/// one. `isFixed` says of the first arguments which keep their values from run to run.
llvm::SmallVector<Choice> chooseSchedules(kernel::FuncOp func, const kernel::Axes &axes,
                                          const target::TargetInfo &target, unsigned most,
                                          llvm::ArrayRef<bool> isFixed = {});

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_CHOOSERULES_H
