//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_CHECKENTRY_H
#define ZYX_LIB_FUSION_CHECKENTRY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zyx::fusion {

/// Fails with a diagnostic unless groups can be formed of an entry that is no declaration: one block of graph ops and
/// loops of such, whose extents are numbers.
mlir::LogicalResult checkEntry(mlir::func::FuncOp entry);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_CHECKENTRY_H
