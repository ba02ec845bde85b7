//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GradientEmitter.h"

#include "zyx/Base/Float.h"

#include <algorithm>

namespace zyx::graph {

NodeId GradientEmitter::check(Result<NodeId> result) {
  if (result.isOk())
    return *result;
  if (status.isOk())
    status = result.status();
  return 0;
}

std::vector<NodeId> GradientEmitter::check(Result<std::vector<NodeId>> results, size_t count) {
  if (results.isOk())
    return std::move(*results);
  if (status.isOk())
    status = results.status();
  return std::vector<NodeId>(count, 0);
}

NodeId GradientEmitter::emit(Op op, std::span<const NodeId> operands, Attributes attributes, TensorType requested) {
  if (!status.isOk())
    return 0;
  const NodeId id = check(graph.add(op, operands, std::move(attributes), std::move(requested), location));
  if (onEmit && status.isOk())
    onEmit(id);
  return id;
}

const Node *GradientEmitter::visible(NodeId id, Op op) const {
  const Node &node = graph.node(id);
  return node.op == op && !(isLeaf && isLeaf(id)) ? &node : nullptr;
}

NodeId GradientEmitter::unary(UnaryKind kind, NodeId x) {
  Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  return emit(Op::Unary, {{x}}, std::move(attributes));
}

NodeId GradientEmitter::binary(BinaryKind kind, NodeId a, NodeId b) {
  Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  return emit(Op::Binary, {{a, b}}, std::move(attributes));
}

NodeId GradientEmitter::scale(NodeId x, double factor) { return factor == 1 ? x : mul(x, fillLike(x, factor)); }

NodeId GradientEmitter::select(NodeId condition, NodeId a, NodeId b) {
  return emit(Op::Select, {{condition, a, b}}, {});
}

NodeId GradientEmitter::fill(const TensorType &type, double value) {
  Attributes attributes;
  attributes.value = encodeElement(value, type.dtype);
  attributes.splat = true;
  return emit(Op::Constant, {}, std::move(attributes), type);
}

NodeId GradientEmitter::cast(NodeId x, DType dtype) {
  if (this->dtype(x) == dtype)
    return x;
  return emit(Op::Cast, {{x}}, {}, {dtype, shape(x)});
}

/// Whether updates are added to nothing else.
static bool isScatteredSum(const GradientEmitter &e, NodeId id) {
  const Node *scatter = e.visible(id, Op::Scatter);
  if (!scatter || static_cast<ScatterKind>(scatter->attributes.kind) != ScatterKind::Add)
    return false;
  const Node &begin = e.graph.node(scatter->operands[0]);
  return begin.op == Op::Constant && begin.attributes.splat &&
         begin.attributes.value == encodeElement(0, begin.type.dtype);
}

NodeId GradientEmitter::accumulate(NodeId a, NodeId b) {
  if (!status.isOk())
    return 0;
  if (isScatteredSum(*this, a) && !isScatteredSum(*this, b))
    std::swap(a, b);
  if (const Node *view = visible(b, Op::Reshape); view && isScatteredSum(*this, view->operands[0])) {
    const NodeId within = view->operands[0];
    const Shape outer = shape(b);
    return reshape(accumulate(reshape(a, Shape(shape(within))), within), outer);
  }
  if (!isScatteredSum(*this, b))
    return add(a, b);
  const Node &scatter = graph.node(b);
  Attributes attributes = scatter.attributes;
  const std::vector<NodeId> operands{a, scatter.operands[1], scatter.operands[2]};
  return emit(Op::Scatter, operands, std::move(attributes));
}

NodeId GradientEmitter::reshape(NodeId x, Shape shape) {
  if (const Node *node = visible(x, Op::Reshape))
    x = node->operands[0];
  if (this->shape(x) == shape)
    return x;
  return emit(Op::Reshape, {{x}}, {}, {dtype(x), std::move(shape)});
}

NodeId GradientEmitter::expand(NodeId x, Shape shape) {
  if (this->shape(x) == shape)
    return x;
  return emit(Op::Expand, {{x}}, {}, {dtype(x), std::move(shape)});
}

NodeId GradientEmitter::permute(NodeId x, std::vector<int64_t> order) {
  if (std::ranges::is_sorted(order))
    return x;
  Attributes attributes;
  attributes.dims = std::move(order);
  return emit(Op::Permute, {{x}}, std::move(attributes));
}

NodeId GradientEmitter::flip(NodeId x, std::vector<int64_t> dims) {
  if (dims.empty())
    return x;
  Attributes attributes;
  attributes.dims = std::move(dims);
  return emit(Op::Flip, {{x}}, std::move(attributes));
}

static bool isZero(const std::vector<int64_t> &numbers) {
  return std::ranges::all_of(numbers, [](int64_t number) { return number == 0; });
}

NodeId GradientEmitter::pad(NodeId x, std::vector<int64_t> low, std::vector<int64_t> high,
                            std::vector<int64_t> interior) {
  interior.resize(low.size());
  if (isZero(low) && isZero(high) && isZero(interior))
    return x;
  // What was added is removed.
  const auto undoes = [](const std::vector<int64_t> &a, const std::vector<int64_t> &b) {
    return std::ranges::equal(a, b, [](int64_t x, int64_t y) { return x >= 0 && x == -y; });
  };
  if (const Node *node = visible(x, Op::Pad); node && isZero(interior) && isZero(node->attributes.interior) &&
                                              undoes(node->attributes.low, low) && undoes(node->attributes.high, high))
    return node->operands[0];
  Attributes attributes;
  attributes.low = std::move(low);
  attributes.high = std::move(high);
  attributes.interior = std::move(interior);
  const NodeId zero = zeros({dtype(x), {}});
  return emit(Op::Pad, {{x, zero}}, std::move(attributes));
}

NodeId GradientEmitter::padDim(NodeId x, size_t dim, int64_t low, int64_t high) {
  if (!status.isOk())
    return x;
  std::vector<int64_t> lows(shape(x).size()), highs(shape(x).size());
  lows[dim] = low;
  highs[dim] = high;
  return pad(x, std::move(lows), std::move(highs));
}

NodeId GradientEmitter::strided(NodeId x, const std::vector<int64_t> &strides) {
  Attributes attributes;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] == 1)
      continue;
    attributes.dims.push_back(static_cast<int64_t>(d));
    attributes.stride.push_back(strides[d]);
  }
  if (attributes.dims.empty())
    return x;
  attributes.size.assign(attributes.dims.size(), 1);
  attributes.dilation.assign(attributes.dims.size(), 1);
  const NodeId slices = emit(Op::Window, {{x}}, std::move(attributes));
  // Without the dimensions inside of the windows.
  Shape kept = shape(slices);
  kept.resize(strides.size());
  return status.isOk() ? reshape(slices, std::move(kept)) : slices;
}

NodeId GradientEmitter::spread(NodeId x, const std::vector<int64_t> &dims, const Shape &shape) {
  Shape ones = shape;
  for (int64_t dim : dims)
    ones[static_cast<size_t>(dim)] = 1;
  return expand(reshape(x, std::move(ones)), shape);
}

NodeId GradientEmitter::sum(NodeId x, std::vector<int64_t> dims) {
  if (isStorageOnly(dtype(x)))
    x = cast(x, DType::F32);
  if (dims.empty())
    return x;
  Attributes attributes;
  attributes.kind = static_cast<uint8_t>(ReduceKind::Add);
  attributes.dims = std::move(dims);
  return emit(Op::Reduce, {{x}}, std::move(attributes));
}

NodeId GradientEmitter::iota(TensorType type, int64_t dim) {
  Attributes attributes;
  attributes.dims = {dim};
  return emit(Op::Iota, {}, std::move(attributes), std::move(type));
}

} // namespace zyx::graph
