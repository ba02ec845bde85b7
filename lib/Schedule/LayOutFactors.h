//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_LAYOUTFACTORS_H
#define ZYX_LIB_SCHEDULE_LAYOUTFACTORS_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Plan/IR/PlanOps.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::schedule {

/// Cycles of a kernel whose factors are copied into another order for tensor cores, with the copies; none where they
/// are not, because it has tensor cores already or threads would take less.
std::optional<double> layOutCycles(kernel::FuncOp func, const target::TargetInfo &target);

/// Has each launch make a copy of its operand `at`, of so many elements, by the kernel `copy`, and read it behind its
/// other inputs. A weight is copied once, in the plan's init.
void launchCopies(kernel::FuncOp copy, llvm::MutableArrayRef<plan::LaunchOp> launches, unsigned at, int64_t elements,
                  mlir::OpBuilder &builder, mlir::Location loc);

/// Erases inputs that the kernel of these launches does not read any more.
void dropUnread(kernel::FuncOp func, llvm::MutableArrayRef<plan::LaunchOp> launches);

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_LAYOUTFACTORS_H
