//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_WINDOWDIMS_H
#define ZYX_LIB_FUSION_WINDOWDIMS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

namespace zyx::fusion {

/// The dimension of `to` that is the dimension `dim` of `from`, of which it is a reshape.
std::optional<int64_t> findDim(llvm::ArrayRef<int64_t> from, int64_t dim, llvm::ArrayRef<int64_t> to);

/// The dimension of the result of a cast, expand, permute or reshape that walks along one of its operand.
std::optional<int64_t> findResultDim(mlir::Operation *op, int64_t dim);

/// Whether a pad puts zeros beside its operand, and none between elements.
bool isZeroPad(graph::ir::PadOp pad);

/// The type that a factor of a product is made of, before casts to that of the sum.
mlir::Type getFactorType(mlir::Value factor);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_WINDOWDIMS_H
