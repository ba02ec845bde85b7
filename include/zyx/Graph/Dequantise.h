//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_GRAPH_DEQUANTISE_H
#define ZYX_GRAPH_DEQUANTISE_H

#include "zyx/Base/BlockFormat.h"
#include "zyx/Graph/Graph.h"

namespace zyx::graph {

/// Adds the nodes that compute the f32 tensor of `shape` from its blocks, and returns the last one.
/// `blocks` is u8 of any shape whose row-major elements are the bytes of the blocks (blockedType is
/// the usual one). They are element-wise ops on views of it, so that they join the kernel that uses
/// the numbers. Values are those of the format's definition to the last bit: scale times quant,
/// less the minimum times its scale, rounded once. Refuses another dtype, another number of bytes,
/// and rows that are no whole number of blocks.
Result<NodeId> dequantise(Graph &graph, NodeId blocks, BlockFormat format, const Shape &shape);

} // namespace zyx::graph

#endif // ZYX_GRAPH_DEQUANTISE_H
