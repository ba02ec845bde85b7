//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_RECOMPUTEWEIGHTS_H
#define ZYX_LIB_FUSION_RECOMPUTEWEIGHTS_H

#include "GroupGraph.h"

namespace zyx::fusion {

/// Sums of products with weights that are computed again, which are one kernel.
struct RecomputedSums {
  /// The products that scores and gradients of weights are, and the sums.
  llvm::SmallVector<graph::ir::ReduceOp> inner, sums;
  /// What is computed of rows for them alone.
  llvm::SmallVector<mlir::Operation *> beside;
};

/// Lets the gradients of attentions compute the weights again from queries and keys, so that nobody but the
/// attention itself has them: P = exp(x - L), where L, the logarithm of the sum of exponentials, is one
/// number for each query. An attention is left as it is where some reader of its weights is none that this
/// knows, or where factors have more than `bits`.
std::vector<RecomputedSums> recomputeWeights(mlir::Block &block, int64_t bits);

/// Makes groups of these sums.
void mergeRecomputed(GroupGraph &graph, mlir::ArrayRef<RecomputedSums> all);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_RECOMPUTEWEIGHTS_H
