//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SCHEDULE_ESTIMATE_H
#define ZYX_SCHEDULE_ESTIMATE_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::schedule {

/// What a launch of a kernel takes by the target's record.
struct Estimate {
  /// With the schedule that is chosen without measuring, and the launch.
  double seconds = 0;
  /// What no schedule goes below: each byte once at the speed of memory, each op once, products by the fastest unit.
  double least = 0;
};

/// Of a kernel of whole tiles, which gets the form that schedules are chosen for (unshareConstants). None where its
/// axes cannot be told apart. `isFixed` says of the first arguments which keep their values from run to run.
std::optional<Estimate> estimateKernel(kernel::FuncOp func, const target::TargetInfo &target,
                                       llvm::ArrayRef<bool> isFixed = {});

/// The same of a kernel that has a schedule, with that one. It stays as it is.
std::optional<Estimate> estimateScheduled(kernel::FuncOp func, const target::TargetInfo &target);

} // namespace zyx::schedule

#endif // ZYX_SCHEDULE_ESTIMATE_H
