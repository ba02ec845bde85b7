//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_LEGALITY_H
#define ZYX_LIB_SCHEDULE_LEGALITY_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::schedule {

/// Whether a copy of the kernel can be split by these steps.
bool isLegal(kernel::FuncOp func, mlir::ArrayRef<mlir::Attribute> steps);

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_LEGALITY_H
