//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GradientRules.h"

#include <algorithm>

namespace zyx::graph {

static NodeId scan(GradientPass &p, ReduceKind kind, NodeId x, int64_t dim, bool exclusive,
                   bool reverse) {
  Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  attributes.dims = {dim};
  attributes.exclusive = exclusive;
  attributes.reverse = reverse;
  return p.emit(Op::Scan, {{x}}, std::move(attributes));
}

/// Shared equally by all that equal the result; by none where that is NaN.
static NodeId shareExtremum(GradientPass &p, NodeId x, NodeId y, const Node &node, NodeId g) {
  const TensorType type = p.type(x);
  const std::vector<int64_t> &dims = node.attributes.dims;
  const NodeId isOne = p.binary(BinaryKind::Eq, x, p.spread(y, dims, type.shape));
  // f16 does not count far.
  const DType wide = accumulatorType(type.dtype);
  const NodeId count = p.sum(p.cast(isOne, wide), dims);
  const NodeId share = p.cast(p.div(p.cast(g, wide), count), type.dtype);
  return p.keepWhere(isOne, p.spread(share, dims, type.shape));
}

/// The product of all other elements: of those before and of those behind, so that it is right
/// where elements are zero.
static NodeId productOfOthers(GradientPass &p, NodeId x, const Node &node) {
  const Shape shape = p.shape(x);
  // The dimensions that are multiplied as one, behind the others.
  std::vector<int64_t> order, inverse(shape.size());
  Shape permuted, flat;
  int64_t factors = 1;
  for (bool isReduced : {false, true})
    for (size_t d = 0; d < shape.size(); ++d) {
      const auto dim = static_cast<int64_t>(d);
      if (std::ranges::binary_search(node.attributes.dims, dim) != isReduced)
        continue;
      inverse[d] = static_cast<int64_t>(order.size());
      order.push_back(dim);
      permuted.push_back(shape[d]);
      if (isReduced)
        factors *= shape[d];
      else
        flat.push_back(shape[d]);
    }
  const auto last = static_cast<int64_t>(flat.size());
  flat.push_back(factors);
  const NodeId row = p.reshape(p.permute(x, order), flat);
  const NodeId others = p.mul(scan(p, ReduceKind::Mul, row, last, true, false),
                              scan(p, ReduceKind::Mul, row, last, true, true));
  return p.permute(p.reshape(others, std::move(permuted)), std::move(inverse));
}

static void differentiateReduce(GradientPass &p, NodeId y, const Node &node, NodeId g) {
  const NodeId x = node.operands[0];
  const Shape shape = p.shape(x);
  switch (static_cast<ReduceKind>(node.attributes.kind)) {
  case ReduceKind::Add:
    return p.give(x, p.spread(g, node.attributes.dims, shape));
  case ReduceKind::Max:
  case ReduceKind::Min:
    return p.give(x, shareExtremum(p, x, y, node, g));
  case ReduceKind::Mul:
    return p.give(x, p.mul(p.spread(g, node.attributes.dims, shape), productOfOthers(p, x, node)));
  case ReduceKind::And:
  case ReduceKind::Or:
    // Not of floats.
    return;
  }
}

/// x, `distance` elements earlier along `dim`, with zeros behind.
static NodeId earlier(GradientPass &p, NodeId x, size_t dim, int64_t distance) {
  return p.padDim(x, dim, -distance, distance);
}

/// Of an inclusive product: what stands before element i times S_i, where
/// S_i = g_i + x_(i+1) S_(i+1) and S is zero behind the end. The recurrence is solved in a
/// logarithmic number of steps, each of which joins intervals of twice the length: nothing is
/// divided, so that zeros among the elements are as good as others, in higher orders too.
static NodeId scanProduct(GradientPass &p, NodeId x, size_t dim, NodeId g) {
  const int64_t extent = p.shape(x)[dim];
  NodeId sum = g, factor = earlier(p, x, dim, 1);
  for (int64_t length = 1; length < extent; length *= 2) {
    sum = p.add(sum, p.mul(factor, earlier(p, sum, dim, length)));
    if (length * 2 < extent)
      factor = p.mul(factor, earlier(p, factor, dim, length));
  }
  return p.mul(scan(p, ReduceKind::Mul, x, static_cast<int64_t>(dim), true, false), sum);
}

/// Of an inclusive maximum or minimum: to the last of the elements so far that equal it.
static NodeId scanExtremum(GradientPass &p, ReduceKind kind, NodeId x, size_t dim, NodeId g) {
  const TensorType type = p.type(x);
  const NodeId y = scan(p, kind, x, static_cast<int64_t>(dim), false, false);
  // Nothing comes from NaN.
  g = p.keepWhere(p.binary(BinaryKind::Eq, y, y), g);
  const TensorType places{DType::I64, type.shape};
  const NodeId place = p.iota(places, static_cast<int64_t>(dim));
  const NodeId isLast = p.binary(BinaryKind::Eq, x, y);
  const NodeId from = scan(p, ReduceKind::Max, p.keepWhere(isLast, place),
                           static_cast<int64_t>(dim), false, false);
  return p.scatterAlong(from, g, dim);
}

static void differentiateScan(GradientPass &p, const Node &node, NodeId g) {
  const NodeId operand = node.operands[0];
  const auto dim = static_cast<size_t>(node.attributes.dims[0]);
  const auto kind = static_cast<ReduceKind>(node.attributes.kind);
  if (kind == ReduceKind::Add)
    return p.give(operand, scan(p, kind, g, static_cast<int64_t>(dim), node.attributes.exclusive,
                                !node.attributes.reverse));
  if (p.shape(operand)[dim] == 0)
    return p.give(operand, g);
  // A scan from the end is one of the flipped operand, and an exclusive one is an inclusive one
  // whose results stand one place further on.
  std::vector<int64_t> flipped;
  if (node.attributes.reverse)
    flipped.push_back(static_cast<int64_t>(dim));
  const NodeId x = p.flip(operand, flipped);
  g = p.flip(g, flipped);
  if (node.attributes.exclusive)
    g = earlier(p, g, dim, 1);
  g = kind == ReduceKind::Mul ? scanProduct(p, x, dim, g) : scanExtremum(p, kind, x, dim, g);
  p.give(operand, p.flip(g, std::move(flipped)));
}

void differentiateReduction(GradientPass &pass, NodeId id, const Node &node, NodeId g) {
  if (node.op == Op::Reduce)
    differentiateReduce(pass, id, node, g);
  else
    differentiateScan(pass, node, g);
}

} // namespace zyx::graph
