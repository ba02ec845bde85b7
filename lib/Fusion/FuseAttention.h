//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_FUSEATTENTION_H
#define ZYX_LIB_FUSION_FUSEATTENTION_H

#include "GroupGraph.h"

#include "zyx/Dialect/Graph/Analysis/Attention.h"

namespace zyx::fusion {

/// Divides what each attention sums up instead of its weights, where nobody else reads those:
/// `(P / s) V` becomes `((P * 2^-n) V) / (s * 2^-n)`. The power of two, not above one over the number
/// of keys, keeps a sum from overflowing that did not before.
void divideAfterwards(mlir::Block &block);

/// Whether nothing but the last sum and sums along the keys reads an attention's weights.
bool isPrivate(graph::ir::Attention &found);

/// Puts each attention, from the product of its scores to its last sum, into one group.
void mergeAttentions(GroupGraph &graph);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_FUSEATTENTION_H
