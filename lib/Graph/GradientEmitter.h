//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the rules of gradients are written with.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_GRAPH_GRADIENTEMITTER_H
#define ZYX_LIB_GRAPH_GRADIENTEMITTER_H

#include "zyx/Graph/Graph.h"
#include "zyx/Graph/UnaryKind.h"

#include <functional>

namespace zyx::graph {

/// Adds nodes to a graph. The first failure is kept, and from then on nothing is added and any node
/// returned, so that a formula is one expression.
class GradientEmitter {
public:
  explicit GradientEmitter(Graph &graph) : graph(graph) {}

  Graph &graph;
  /// Nodes that are not looked behind, and who hears of nodes that are added; perhaps nobody.
  std::function<bool(NodeId)> isLeaf;
  std::function<void(NodeId)> onEmit;
  /// Of the nodes that are added: those of the node whose gradient they compute.
  Location location;
  Status status;

  NodeId emit(Op op, std::span<const NodeId> operands, Attributes attributes, TensorType requested = {});
  /// The first of results, or any node after a failure.
  std::vector<NodeId> check(Result<std::vector<NodeId>> results, size_t count);
  NodeId check(Result<NodeId> result);

  /// The node as something that may be looked through, if it is of this op and no leaf.
  const Node *visible(NodeId id, Op op) const;

  const TensorType &type(NodeId id) const { return graph.node(id).type; }
  const Shape &shape(NodeId id) const { return type(id).shape; }
  DType dtype(NodeId id) const { return type(id).dtype; }

  NodeId unary(UnaryKind kind, NodeId x);
  NodeId binary(BinaryKind kind, NodeId a, NodeId b);
  NodeId neg(NodeId x) { return unary(UnaryKind::Neg, x); }
  NodeId add(NodeId a, NodeId b) { return binary(BinaryKind::Add, a, b); }
  /// The sum of two gradients of one type. What is zero but for some places is added at these alone, so that nothing
  /// as large as the whole is made for it: a loop that reads one row per trip adds to one row per trip.
  NodeId accumulate(NodeId a, NodeId b);
  NodeId sub(NodeId a, NodeId b) { return binary(BinaryKind::Sub, a, b); }
  NodeId mul(NodeId a, NodeId b) { return binary(BinaryKind::Mul, a, b); }
  NodeId div(NodeId a, NodeId b) { return binary(BinaryKind::Div, a, b); }
  /// x * factor; x itself for 1.
  NodeId scale(NodeId x, double factor);
  NodeId select(NodeId condition, NodeId a, NodeId b);
  /// x where the condition is true, zero elsewhere; and the other way round.
  NodeId keepWhere(NodeId condition, NodeId x) { return select(condition, x, zeros(type(x))); }
  NodeId zeroWhere(NodeId condition, NodeId x) { return select(condition, zeros(type(x)), x); }

  /// A splat of a number, a bool as 0 or 1.
  NodeId fill(const TensorType &type, double value);
  NodeId zeros(const TensorType &type) { return fill(type, 0); }
  NodeId fillLike(NodeId x, double value) { return fill(TensorType(type(x)), value); }

  // Views; none where nothing changes.
  NodeId cast(NodeId x, DType dtype);
  NodeId reshape(NodeId x, Shape shape);
  NodeId expand(NodeId x, Shape shape);
  NodeId permute(NodeId x, std::vector<int64_t> order);
  NodeId flip(NodeId x, std::vector<int64_t> dims);
  /// With zeros, or `false`.
  NodeId pad(NodeId x, std::vector<int64_t> low, std::vector<int64_t> high, std::vector<int64_t> interior = {});
  /// The same along one dimension.
  NodeId padDim(NodeId x, size_t dim, int64_t low, int64_t high);
  /// Every `stride`-th element of each dimension, from the first one on.
  NodeId strided(NodeId x, const std::vector<int64_t> &strides);
  /// Inverse of reduce: dimensions `dims` of `shape`, which x lacks, repeat its elements.
  NodeId spread(NodeId x, const std::vector<int64_t> &dims, const Shape &shape);
  /// The sum along `dims`, which may be empty; of 8-bit floats in f32.
  NodeId sum(NodeId x, std::vector<int64_t> dims);
  NodeId iota(TensorType type, int64_t dim);
};

} // namespace zyx::graph

#endif // ZYX_LIB_GRAPH_GRADIENTEMITTER_H
