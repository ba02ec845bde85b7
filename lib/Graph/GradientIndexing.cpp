//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GradientRules.h"

#include <algorithm>

namespace zyx::graph {

static NodeId gather(GradientPass &p, NodeId x, NodeId indices, int64_t dim) {
  Attributes attributes;
  attributes.dims = {dim};
  return p.emit(Op::Gather, {{x, indices}}, std::move(attributes));
}

static NodeId scatter(GradientPass &p, ScatterKind kind, NodeId x, NodeId indices, NodeId updates, int64_t dim) {
  Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  attributes.dims = {dim};
  return p.emit(Op::Scatter, {{x, indices, updates}}, std::move(attributes));
}

/// A tensor of this shape with the sums of the updates at each of its places, in their accumulator's type:
/// a scatter rounds after each addition.
static NodeId scatterSum(GradientPass &p, const Shape &shape, NodeId indices, NodeId updates, int64_t dim) {
  updates = p.cast(updates, accumulatorType(p.dtype(updates)));
  return scatter(p, ScatterKind::Add, p.zeros({p.dtype(updates), shape}), indices, updates, dim);
}

NodeId GradientPass::scatterAlong(NodeId places, NodeId updates, size_t dim) {
  const Shape shape = this->shape(updates);
  const int64_t elements = *numElements(shape);
  if (!status.isOk() || elements == 0)
    return updates;
  // Where each element goes in row-major order: another place along `dim`, the same elsewhere.
  std::optional<NodeId> index;
  int64_t step = 1;
  for (size_t d = shape.size(); d-- > 0; step *= shape[d]) {
    const NodeId place = d == dim ? places : iota({DType::I64, shape}, static_cast<int64_t>(d));
    const NodeId scaled = scale(place, static_cast<double>(step));
    index = index ? add(*index, scaled) : scaled;
  }
  const NodeId sums = scatterSum(*this, {elements}, reshape(*index, {elements}), reshape(updates, {elements}), 0);
  return reshape(sums, shape);
}

/// Which updates of a `scatter set` are not replaced by a later one at the same place: a tensor of
/// bools of the indices' shape.
static NodeId lastUpdates(GradientPass &p, NodeId indices, int64_t extent) {
  const Shape shape = p.shape(indices);
  const int64_t count = *numElements(shape);
  const NodeId flat = p.reshape(indices, {count});
  const NodeId number = p.iota({DType::I64, {count}}, 0);
  const NodeId winner = scatter(p, ScatterKind::Set, p.zeros({DType::I64, {extent}}), flat, number, 0);
  return p.reshape(p.binary(BinaryKind::Eq, gather(p, winner, flat, 0), number), shape);
}

/// What stands along the dimensions of the indices, for each update.
static NodeId spreadIndices(GradientPass &p, NodeId x, const Shape &updates, size_t dim) {
  std::vector<int64_t> others;
  const size_t rank = p.shape(x).size();
  for (size_t d = 0; d < updates.size(); ++d)
    if (d < dim || d >= dim + rank)
      others.push_back(static_cast<int64_t>(d));
  return p.spread(x, others, updates);
}

static void differentiateScatterSet(GradientPass &p, const Node &node, NodeId g) {
  const NodeId x = node.operands[0], indices = node.operands[1], updates = node.operands[2];
  const int64_t dim = node.attributes.dims[0];
  const TensorType type = p.type(updates);
  if (p.needs(x))
    p.give(x, scatter(p, ScatterKind::Set, g, indices, p.zeros({p.dtype(g), type.shape}), dim));
  // A single one is replaced by no other one.
  if (p.needs(updates) && *numElements(p.shape(indices)) == 1) {
    p.give(updates, gather(p, g, indices, dim));
  } else if (p.needs(updates)) {
    const NodeId isLast = lastUpdates(p, indices, node.type.shape[static_cast<size_t>(dim)]);
    p.give(updates,
           p.keepWhere(spreadIndices(p, isLast, type.shape, static_cast<size_t>(dim)), gather(p, g, indices, dim)));
  }
}

/// Shared equally by the element and the updates that equal the result; by none where it is NaN.
static void differentiateScatterExtremum(GradientPass &p, NodeId y, const Node &node, NodeId g) {
  const NodeId x = node.operands[0], indices = node.operands[1], updates = node.operands[2];
  const int64_t dim = node.attributes.dims[0];
  const DType narrow = node.type.dtype, wide = accumulatorType(narrow);
  const NodeId isElement = p.binary(BinaryKind::Eq, x, y);
  const NodeId isUpdate = p.binary(BinaryKind::Eq, updates, gather(p, y, indices, dim));
  const NodeId count = scatter(p, ScatterKind::Add, p.cast(isElement, wide), indices, p.cast(isUpdate, wide), dim);
  const NodeId share = p.cast(p.div(p.cast(g, wide), count), narrow);
  if (p.needs(x))
    p.give(x, p.keepWhere(isElement, share));
  if (p.needs(updates))
    p.give(updates, p.keepWhere(isUpdate, gather(p, share, indices, dim)));
}

static void differentiateScatter(GradientPass &p, NodeId y, const Node &node, NodeId g) {
  const NodeId x = node.operands[0], indices = node.operands[1], updates = node.operands[2];
  const int64_t dim = node.attributes.dims[0];
  switch (static_cast<ScatterKind>(node.attributes.kind)) {
  case ScatterKind::Set:
    return differentiateScatterSet(p, node, g);
  case ScatterKind::Add:
    if (p.needs(x))
      p.give(x, g);
    if (p.needs(updates))
      p.give(updates, gather(p, g, indices, dim));
    return;
  case ScatterKind::Max:
  case ScatterKind::Min:
    return differentiateScatterExtremum(p, y, node, p.cast(g, node.type.dtype));
  case ScatterKind::Mul: {
    if (p.needs(updates))
      return p.refuse(node, "no rule for its updates, because several of them may meet a zero at "
                            "one place; multiply by what is gathered, and set that");
    const NodeId factors = scatter(p, ScatterKind::Mul, p.fill(node.type, 1), indices, updates, dim);
    return p.give(x, p.mul(p.cast(g, node.type.dtype), factors));
  }
  }
}

/// Each element goes back to where it was.
static void differentiateSort(GradientPass &p, const Node &node, NodeId g) {
  const NodeId x = node.operands[0];
  Attributes attributes = node.attributes;
  attributes.kind = static_cast<uint8_t>(SortKind::Indices);
  const NodeId places = p.emit(Op::Sort, {{x}}, std::move(attributes));
  p.give(x, p.scatterAlong(places, g, static_cast<size_t>(node.attributes.dims[0])));
}

void differentiateIndexing(GradientPass &pass, NodeId id, const Node &node, NodeId g) {
  switch (node.op) {
  case Op::Gather: {
    const NodeId x = node.operands[0];
    return pass.give(x, scatterSum(pass, Shape(pass.shape(x)), node.operands[1], g, node.attributes.dims[0]));
  }
  case Op::Scatter:
    return differentiateScatter(pass, id, node, g);
  default:
    ZYX_ASSERT(node.op == Op::Sort, "an op with indices");
    return differentiateSort(pass, node, g);
  }
}

} // namespace zyx::graph
