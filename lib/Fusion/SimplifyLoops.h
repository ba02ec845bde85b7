//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_SIMPLIFYLOOPS_H
#define ZYX_LIB_FUSION_SIMPLIFYLOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zyx::fusion {

/// Takes out of loops what does not need their order: reductions of what no trip carries are computed for all trips at
/// once, and so are sums over all trips that no trip reads. A loop that another one contains is that.
void simplifyLoops(mlir::func::FuncOp entry);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_SIMPLIFYLOOPS_H
