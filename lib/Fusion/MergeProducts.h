//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_MERGEPRODUCTS_H
#define ZYX_LIB_FUSION_MERGEPRODUCTS_H

#include "GroupGraph.h"

namespace zyx::fusion {

/// Makes one group of a product of matrices, what is computed of it element by element and rounded to `bits`, and the
/// product that reads that alone, so that nothing with rows and columns of the first product is stored.
void mergeProducts(GroupGraph &graph, int64_t bits);

/// The type of both factors in memory of a sum of products that tensor cores compute and keep in registers: of `bits`,
/// and at most 256 features side by side; none where it is no such sum.
std::optional<mlir::Type> elementOfTensorProduct(graph::ir::ReduceOp sum, int64_t bits);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_MERGEPRODUCTS_H
