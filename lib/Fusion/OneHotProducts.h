//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_ONEHOTPRODUCTS_H
#define ZYX_LIB_FUSION_ONEHOTPRODUCTS_H

#include "mlir/IR/Block.h"

namespace zyx::fusion {

/// Makes gathers of products with a factor that is one where an index equals the place along the contraction, and zero
/// elsewhere. Each result of such a product is one element, or NaN where another element of its column is not finite:
/// zero times that is NaN. So columns are looked through once, for what is not finite. For a machine that wants many
/// `threads`, or 0 for others.
void gatherOneHots(mlir::Block &block, int64_t threads);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_ONEHOTPRODUCTS_H
