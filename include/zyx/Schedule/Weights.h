//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SCHEDULE_WEIGHTS_H
#define ZYX_SCHEDULE_WEIGHTS_H

#include "zyx/Dialect/Plan/IR/PlanOps.h"

namespace zyx::schedule {

/// Whether all launches read weights at that place of their `ins`, or what is made of them.
bool readWeights(llvm::ArrayRef<plan::LaunchOp> launches, unsigned at);

/// The plan's init, made where there is none.
plan::InitOp initOf(plan::FuncOp plan, mlir::Location loc);

} // namespace zyx::schedule

#endif // ZYX_SCHEDULE_WEIGHTS_H
