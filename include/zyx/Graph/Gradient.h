//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_GRAPH_GRADIENT_H
#define ZYX_GRAPH_GRADIENT_H

#include "zyx/Graph/Graph.h"

#include <functional>

namespace zyx::graph {

struct GradientOptions {
  /// The gradient that comes into the target, of its type; none is a tensor of ones, so that what
  /// is differentiated is the sum of the target's elements.
  std::optional<NodeId> seed;
  /// Nodes that are not looked behind, as realized tensors are: they may be sources, but what they
  /// were made of has no gradient through them. Without it no node is a leaf.
  std::function<bool(NodeId)> isLeaf;
  /// Where a node lies, as transfer names devices. The gradient of a transfer goes back there; where
  /// a transfer lies between and nobody can say, differentiation is refused.
  std::function<std::string(NodeId)> deviceOf;
  /// Hears of each node that a gradient is made of, which may have been there before.
  std::function<void(NodeId)> onEmit;
};

/// A custom op of this name is a checkpoint: of its body nothing is kept for the gradient but its operands, from which
/// it is computed again, once the gradients of its results are there.
inline constexpr std::string_view checkpointName = "zyx.checkpoint";
/// A custom op of this name hands on its first operands. The gradient of a checkpoint computes from its results,
/// which are other nodes than its operands, and come behind the others of these.
inline constexpr std::string_view recomputeName = "zyx.recompute";

/// Whether a gradient flows from the node to its operand of this number. Both are floats, and the op
/// is none that is constant almost everywhere.
bool isDifferentiable(const Graph &graph, NodeId node, size_t operand);

/// Adds the nodes of the gradient of `target` with respect to each of `sources`, in reverse mode and
/// in one pass for all of them. Each is a node of its source's type, or none where the target does
/// not depend on the source through differentiable operands. A source may be made of another one,
/// whose gradient then contains what flows through it.
///
/// Gradients are ordinary nodes that read the forward ones, so that they can be differentiated in
/// turn. Only nodes between the sources and the target are visited; nothing recurses but bodies.
/// The rule of each op, with what it says at ties and corners, is in docs/gradients.md.
///
/// Refuses a target that is no float, a seed of another type, nodes that do not exist, types with
/// symbols, and ops without a rule, with their names and places.
Result<std::vector<std::optional<NodeId>>> gradient(Graph &graph, NodeId target, std::span<const NodeId> sources,
                                                    const GradientOptions &options = {});

/// The same for the sum over several targets; `seeds` has one for each of them, of its type.
Result<std::vector<std::optional<NodeId>>> gradient(Graph &graph, std::span<const NodeId> targets,
                                                    std::span<const NodeId> seeds, std::span<const NodeId> sources,
                                                    const GradientOptions &options = {});

} // namespace zyx::graph

#endif // ZYX_GRAPH_GRADIENT_H
