//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_CONFORMANCE_BOUNDS_H
#define ZYX_TEST_CONFORMANCE_BOUNDS_H

#include "Builder.h"

#include <map>
#include <optional>

namespace zyx::conformance {

/// What machines of some kinds round besides, which others must not.
struct Roundings {
  /// Weights of a softmax, and gradients of its scores, that multiply values of 16 bits, to their type: tensor cores
  /// take two factors of one. Their powers are 0 below the smallest normal f32.
  bool ofWeights = false;
  /// The results of which the sum of weights times their gradients is made, to the 16 bits that they are stored with:
  /// who computes weights again reads them.
  bool ofResults = false;
};

/// How far a device's value of a node may lie from the reference's, written as a graph of f64 over
/// the same inputs that the reference evaluates. A node without a bound must have the same bits.
///
/// A bound starts where the meaning leaves a freedom: a floating sum or product of n terms may be
/// off by 2 n u sum|terms| (products relatively), a transcendental function by its ULPs, and what
/// the device's roundings name by one rounding more. It is
/// carried on through the ops by the usual first-order rules, with one rounding on either side;
/// where a decision (a comparison, an index) hangs on an inexact value it becomes infinite.
class Bounds {
public:
  explicit Bounds(Builder &builder, Roundings roundings = {}) : b(builder), roundings(roundings) {}
  /// A node of f64 and the shape of x.
  std::optional<NodeId> of(NodeId x);
  /// The roundings that were asked for: with others of these the bounds would be others.
  const Roundings &asked() const { return wasAsked; }

private:
  std::optional<NodeId> compute(NodeId x);
  std::optional<NodeId> reduce(NodeId y, const graph::Node &node);
  std::optional<NodeId> roundedProducts(NodeId x, int depth = 8);
  std::optional<NodeId> unary(NodeId y, const graph::Node &node);
  std::optional<NodeId> binary(NodeId y, const graph::Node &node);
  std::optional<NodeId> select(const graph::Node &node);
  std::optional<NodeId> cast(NodeId y, const graph::Node &node);
  std::optional<NodeId> gather(const graph::Node &node);
  std::optional<NodeId> loop(const graph::Node &node);
  std::optional<NodeId> scan(NodeId y, const graph::Node &node);
  std::optional<NodeId> sort(const graph::Node &node);
  std::optional<NodeId> scatter(NodeId y, const graph::Node &node);
  /// The bound of what combines up to `terms` elements of x; `combine` does so with other tensors.
  std::optional<NodeId> combined(NodeId y, NodeId x, ReduceKind kind, double terms,
                                 const std::function<NodeId(ReduceKind, NodeId)> &combine);
  /// The type of 16 bits to which one factor of the product x may be rounded, and the other factor.
  struct RoundedWeights {
    DType dtype;
    NodeId values;
  };
  std::optional<RoundedWeights> roundedWeights(NodeId x);
  /// Infinite where a bound is positive, else 0.
  NodeId infiniteWhereInexact(NodeId bound);
  std::optional<NodeId> pad(const graph::Node &node);
  std::optional<NodeId> concat(const graph::Node &node);

  bool allows(bool Roundings::*rounding) {
    wasAsked.*rounding = true;
    return roundings.*rounding;
  }
  NodeId magnitude(NodeId x);
  NodeId wide(NodeId x) { return b.cast(x, DType::F64); }
  NodeId orZero(std::optional<NodeId> bound, NodeId x);
  NodeId scaled(NodeId x, double factor) { return b.mul(x, b.like(x, factor)); }
  NodeId maximum(NodeId a, NodeId c) { return b.binary(BinaryKind::Max, a, c); }
  /// Relative error `units` times u of y's dtype, at least some denormals.
  NodeId rounding(NodeId y, double units);
  /// Infinite where any of the bounds is not 0.
  std::optional<NodeId> taint(const graph::Node &node, NodeId y);

  Builder &b;
  const Roundings roundings;
  Roundings wasAsked;
  std::map<NodeId, std::optional<NodeId>> known;
};

/// The name of the function if x is a transcendental function of exact operands: compared by ULPs.
std::string ulpFunction(Builder &builder, Bounds &bounds, NodeId x);
/// ULPs a transcendental function may be off in a dtype.
int64_t allowedUlps(DType dtype);

} // namespace zyx::conformance

#endif // ZYX_TEST_CONFORMANCE_BOUNDS_H
