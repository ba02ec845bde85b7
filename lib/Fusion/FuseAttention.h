//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_FUSEATTENTION_H
#define ZYX_LIB_FUSION_FUSEATTENTION_H

#include "GroupGraph.h"

#include "zyx/Dialect/Graph/Analysis/Attention.h"

namespace zyx::fusion {

/// Whether nothing but the last sum and sums along the keys reads an attention's weights.
bool isPrivate(graph::ir::Attention &found);

/// Puts each attention, from the product of its scores to its last sum, into one group.
void mergeAttentions(GroupGraph &graph);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_FUSEATTENTION_H
