//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_DECOMPOSEMOVEMENT_H
#define ZYX_LIB_FUSION_DECOMPOSEMOVEMENT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zyx::fusion {

/// What -zyx-fusion-decompose-movement does to the body of an entry or of a loop.
void decomposeMovement(mlir::Block &block);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_DECOMPOSEMOVEMENT_H
