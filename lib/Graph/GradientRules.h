//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The rule of each op, by family; docs/gradients.md lists them.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_GRAPH_GRADIENTRULES_H
#define ZYX_LIB_GRAPH_GRADIENTRULES_H

#include "GradientEmitter.h"

#include "zyx/Graph/Gradient.h"

#include <algorithm>
#include <unordered_map>

namespace zyx::graph {

/// One walk from targets to sources.
class GradientPass : public GradientEmitter {
public:
  GradientPass(Graph &graph, const GradientOptions &options) : GradientEmitter(graph), options(options) {
    isLeaf = options.isLeaf;
    onEmit = options.onEmit;
  }

  const GradientOptions &options;

  Result<std::vector<std::optional<NodeId>>> run(std::span<const NodeId> targets, std::span<const NodeId> seeds,
                                                 std::span<const NodeId> wrt);

  /// Whether the node lies between sources and targets, so that its gradient is wanted.
  bool needs(NodeId id) const {
    const auto place = places.find(id);
    return place != places.end() && wanted[place->second];
  }
  /// Whether the gradient of the node itself is asked for.
  bool isSource(NodeId id) const { return std::ranges::find(sources, id) != sources.end(); }
  /// Adds a summand to the gradient of a node that is needed. It has the node's shape, and its type
  /// or a wider float: what comes out of a cast moves through views as it is, so that the sum
  /// behind an expand is one of products and not of rounded products.
  void give(NodeId id, NodeId gradient);
  /// The gradient of a node, none where nothing has come.
  std::optional<NodeId> gradientOf(NodeId id) const;
  /// Sums of the updates that have one place along `dim`; places are i64 of the updates' shape, and
  /// within it.
  NodeId scatterAlong(NodeId places, NodeId updates, size_t dim);
  /// Refuses to go on, with the op, its place and the reason.
  void refuse(const Node &node, const std::string &reason);

private:
  Status visit(std::span<const NodeId> targets);
  void differentiate(NodeId id);

  std::span<const NodeId> sources;
  /// The nodes behind the targets, by which the lists that follow are indexed: nothing here is as
  /// large as the graph, which may hold much more.
  std::unordered_map<NodeId, uint32_t> places;
  /// Whether they lie between sources and targets, and their gradients.
  std::vector<bool> wanted;
  std::vector<NodeId> gradients;
  /// The wanted ones, in ascending order.
  std::vector<NodeId> order;
};

// Each gives to the operands that need it what comes to them from the gradient `g` of `node`, which
// is a copy, because adding nodes moves those of the graph. `id` is the node; `g` has its type, in
// differentiateView and differentiateIndexing perhaps a wider one.

/// unary, binary, select, cast.
void differentiateElementwise(GradientPass &pass, NodeId id, const Node &node, NodeId g);
/// reshape, expand, permute, flip, pad, window, concat, transfer.
void differentiateView(GradientPass &pass, const Node &node, NodeId g);
/// What comes to the operand of a window of a convolution, as a convolution; none where it is none, or
/// where stored windows are better.
std::optional<NodeId> transposeConvolution(GradientPass &pass, const Node &window, NodeId g);
/// reduce, scan.
void differentiateReduction(GradientPass &pass, NodeId id, const Node &node, NodeId g);
/// gather, scatter, sort.
void differentiateIndexing(GradientPass &pass, NodeId id, const Node &node, NodeId g);
/// loop, custom: `gradients` has one for each result of the op, where there is one.
void differentiateBody(GradientPass &pass, const Node &node, std::span<const std::optional<NodeId>> gradients);

} // namespace zyx::graph

#endif // ZYX_LIB_GRAPH_GRADIENTRULES_H
