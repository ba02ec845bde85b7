//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_GROUPRULES_H
#define ZYX_LIB_FUSION_GROUPRULES_H

#include "zyx/Dialect/Graph/Analysis/IterationSpace.h"

namespace zyx::fusion {

/// A group keeps at most this many computing ops: kernels beyond it spill, and checks of them are
/// slow.
inline constexpr unsigned maxGroupOps = 256;
/// Ops that are computed again for rows which do not differ in them (the prologue of a matrix
/// product): how many may be. A chain of contractions has two products at least.
inline constexpr unsigned maxRepeatedOps = 8, maxRepeatedOpsInChains = 16;
/// Among those, transcendental ones; a contraction, which repeats them per tile, allows none.
inline constexpr unsigned maxRepeatedTranscendentals = 2;
/// Fewer rows than this leave a machine idle when each is longer than maxLongRow elements, so what
/// follows such a reduction goes into a kernel of its own.
inline constexpr int64_t minRows = 16;
inline constexpr int64_t maxLongRow = int64_t(1) << 16;

/// Whether an op takes tens of instructions.
bool isTranscendental(mlir::Operation *op);

/// Kernels that stream along an axis and keep several sums meanwhile, where they are asked for.
struct StreamingKinds {
  /// A chain of contractions, which computes for each of its sums again what it keeps out of memory, or a sum over
  /// batches of what is computed of products.
  bool chain = false;
  /// Bytes of column sums that a kernel may keep beside sums of rows; 0 where no kernel has both.
  int64_t columnSumBytes = 0;
};

/// Whether ops that may be one kernel are good as one: they neither repeat much work nor leave the machine idle. A
/// failure says why not. Whether they may be one at all is what `IterationSpace::compute` says.
Status checkProfit(const graph::ir::IterationSpace &space, const graph::ir::IterationSpace::Ops &ops,
                   mlir::ValueRange outputs, const StreamingKinds &allowed);
/// Both, and that the ops are not too many.
Status checkGroup(const graph::ir::IterationSpace::Ops &ops, mlir::ValueRange outputs,
                  const StreamingKinds &allowed = {});

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_GROUPRULES_H
