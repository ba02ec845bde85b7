//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GradientRules.h"

#include <algorithm>
#include <numeric>

namespace zyx::graph {

static std::vector<int64_t> negated(std::vector<int64_t> numbers) {
  for (int64_t &number : numbers)
    number = -number;
  return numbers;
}

/// Each element gets what its repetitions got.
static void differentiateExpand(GradientPass &p, const Node &node, NodeId g) {
  const NodeId x = node.operands[0];
  const Shape shape = p.shape(x);
  std::vector<int64_t> dims;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != node.type.shape[d])
      dims.push_back(static_cast<int64_t>(d));
  p.give(x, p.reshape(p.sum(g, std::move(dims)), shape));
}

static void differentiatePermute(GradientPass &p, const Node &node, NodeId g) {
  std::vector<int64_t> inverse(node.attributes.dims.size());
  for (size_t i = 0; i < inverse.size(); ++i)
    inverse[static_cast<size_t>(node.attributes.dims[i])] = static_cast<int64_t>(i);
  p.give(node.operands[0], p.permute(g, std::move(inverse)));
}

static void differentiatePad(GradientPass &p, const Node &node, NodeId g) {
  const NodeId x = node.operands[0], fill = node.operands[1];
  const Attributes &a = node.attributes;
  if (p.needs(x)) {
    // What was removed gets zeros, what was added is removed.
    std::vector<int64_t> strides = a.interior;
    for (int64_t &stride : strides)
      ++stride;
    p.give(x, p.strided(p.pad(g, negated(a.low), negated(a.high)), strides));
  }
  if (p.needs(fill)) {
    const NodeId isOperand = p.pad(p.fill({DType::Bool, p.shape(x)}, 1), a.low, a.high, a.interior);
    std::vector<int64_t> dims(node.type.shape.size());
    std::iota(dims.begin(), dims.end(), 0);
    p.give(fill, p.sum(p.zeroWhere(isOperand, g), std::move(dims)));
  }
}

/// Windows of more elements than this are added up by a scatter, others slice by slice.
static constexpr int64_t maxSlices = 16;

/// What one dimension with its windows gets: `g` counts windows along `dim` and their elements along
/// its last dimension, and the result has `extent` elements along `dim` and that last dimension no
/// more.
static NodeId addWindows(GradientPass &p, NodeId g, size_t dim, int64_t extent, int64_t size, int64_t stride,
                         int64_t dilation) {
  if (!p.status.isOk())
    return g;
  const Shape shape = p.shape(g);
  const size_t last = shape.size() - 1;
  const int64_t windows = shape[dim];
  const int64_t steps = std::max<int64_t>(windows - 1, 0) * stride;
  Shape result(shape.begin(), shape.end() - 1);
  if (windows == 0) {
    result[dim] = extent;
    return p.zeros({p.dtype(g), result});
  }
  // The element `k` of each window, put where it came from.
  const auto slice = [&](NodeId x, int64_t k) {
    x = p.reshape(p.padDim(x, last, -k, k + 1 - size), result);
    std::vector<int64_t> low(last), high(last), interior(last);
    low[dim] = k * dilation;
    high[dim] = extent - k * dilation - steps - 1;
    interior[dim] = stride - 1;
    return p.pad(x, std::move(low), std::move(high), std::move(interior));
  };
  if (size == 1)
    return slice(g, 0);

  // Elements behind their window.
  std::vector<int64_t> order(last);
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.begin() + static_cast<ptrdiff_t>(dim) + 1, static_cast<int64_t>(last));
  if (dilation == 1 && stride >= size) {
    // No window reaches into the next one.
    const NodeId apart = p.padDim(p.permute(g, std::move(order)), dim + 1, 0, stride - size);
    result[dim] = windows * stride;
    return p.padDim(p.reshape(apart, result), dim, 0, extent - windows * stride);
  }
  if (size > maxSlices) {
    const TensorType indices{DType::I64, {windows, size}};
    const auto steps = [&](int64_t along, int64_t step) {
      return p.scale(p.iota(indices, along), static_cast<double>(step));
    };
    result[dim] = extent;
    Attributes attributes;
    attributes.kind = static_cast<uint8_t>(ScatterKind::Add);
    attributes.dims = {static_cast<int64_t>(dim)};
    const NodeId place = p.add(steps(0, stride), steps(1, dilation));
    const NodeId updates = p.permute(p.cast(g, accumulatorType(p.dtype(g))), std::move(order));
    const NodeId zeros = p.zeros({p.dtype(updates), result});
    return p.emit(Op::Scatter, {{zeros, place, updates}}, std::move(attributes));
  }
  const NodeId wide = p.cast(g, accumulatorType(p.dtype(g)));
  NodeId sum = slice(wide, 0);
  for (int64_t k = 1; k < size; ++k)
    sum = p.add(sum, slice(wide, k));
  return sum;
}

static void differentiateWindow(GradientPass &p, const Node &node, NodeId g) {
  const NodeId x = node.operands[0];
  const Shape shape = p.shape(x);
  const Attributes &a = node.attributes;
  if (const std::optional<NodeId> sum = transposeConvolution(p, node, g))
    return p.give(x, *sum);
  // A window along several dimensions is one after the other; the last one's elements stand last.
  for (size_t i = a.dims.size(); i-- > 0;) {
    const auto dim = static_cast<size_t>(a.dims[i]);
    g = addWindows(p, g, dim, shape[dim], a.size[i], a.stride[i], a.dilation[i]);
  }
  p.give(x, g);
}

static void differentiateConcat(GradientPass &p, const Node &node, NodeId g) {
  const auto dim = static_cast<size_t>(node.attributes.dims[0]);
  int64_t begin = 0;
  for (NodeId part : node.operands) {
    const int64_t end = begin + p.shape(part)[dim];
    if (p.needs(part))
      p.give(part, p.padDim(g, dim, -begin, end - node.type.shape[dim]));
    begin = end;
  }
}

static void differentiateTransfer(GradientPass &p, const Node &node, NodeId g) {
  if (!p.options.deviceOf)
    return p.refuse(node, "nobody says where its operand lies; give deviceOf");
  Attributes attributes;
  attributes.name = p.options.deviceOf(node.operands[0]);
  p.give(node.operands[0], p.emit(Op::Transfer, {{g}}, std::move(attributes)));
}

void differentiateView(GradientPass &pass, const Node &node, NodeId g) {
  const NodeId x = node.operands[0];
  switch (node.op) {
  case Op::Reshape:
    return pass.give(x, pass.reshape(g, Shape(pass.shape(x))));
  case Op::Expand:
    return differentiateExpand(pass, node, g);
  case Op::Permute:
    return differentiatePermute(pass, node, g);
  case Op::Flip:
    return pass.give(x, pass.flip(g, node.attributes.dims));
  case Op::Pad:
    return differentiatePad(pass, node, g);
  case Op::Window:
    return differentiateWindow(pass, node, g);
  case Op::Concat:
    return differentiateConcat(pass, node, g);
  default:
    ZYX_ASSERT(node.op == Op::Transfer, "a view");
    return differentiateTransfer(pass, node, g);
  }
}

} // namespace zyx::graph
