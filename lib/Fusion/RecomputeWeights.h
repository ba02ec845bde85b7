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

/// What an op is in such a kernel: the second number of its note (recomputedAttrName).
enum class RecomputedRole : int64_t { Inner, Sum, Beside };

/// Makes groups of the sums that -zyx-fusion-recompute-weights has noted, and removes the notes.
void mergeRecomputed(GroupGraph &graph);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_RECOMPUTEWEIGHTS_H
