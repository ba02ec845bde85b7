//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "conformance/Convolution.h"
#include "smith/Drawer.h"

#include "zyx/Graph/Gradient.h"

namespace zyx::smith {

static std::optional<NodeId> drawSoftmax(Drawer &d, NodeId x) {
  if (d.rank(x) == 0 || !isFloat(d.type(x).dtype) || d.isEmpty(x))
    return std::nullopt;
  x = d.arithmetic(x);
  const int64_t dim = d.drawDim(x);
  const int64_t extent = d.shape(x)[static_cast<size_t>(dim)];
  const NodeId largest = d.b.back(d.b.reduce(ReduceKind::Max, x, {dim}), dim, extent);
  const NodeId e = d.b.unary(UnaryKind::Exp, d.b.sub(x, largest));
  return d.b.div(e, d.b.back(d.b.reduce(ReduceKind::Add, e, {dim}), dim, extent));
}

static std::optional<NodeId> drawMatmul(Drawer &d, NodeId x) {
  if (d.rank(x) < 2 || d.rank(x) > 3)
    return std::nullopt;
  x = d.computable(x);
  const Shape left = d.shape(x);
  Shape right = left, result = left;
  right[right.size() - 2] = left.back();
  right.back() = result.back() = 1 + d.random.below(20);
  if (!d.fits(right) || !d.fits(result))
    return std::nullopt;
  const DType dtype = d.type(x).dtype;
  return d.b.matmul(x, d.partner({dtype, right}), accumulatorType(dtype));
}

static std::optional<NodeId> drawConvolution(Drawer &d, NodeId x) {
  if (d.rank(x) < 3 || d.rank(x) > 4 || d.isEmpty(x))
    return std::nullopt;
  x = d.computable(x);
  const Shape shape = d.shape(x);
  const auto dims = static_cast<size_t>(d.rank(x) - 2);
  conformance::Convolution how;
  how.channelsLast = d.random.chance(0.5);
  const int64_t channels = how.channelsLast ? shape.back() : shape[1];
  how.groups = d.random.chance(0.3) ? channels : channels % 2 == 0 && d.random.chance(0.3) ? 2 : 1;
  const int64_t outputs = how.groups * (1 + d.random.below(how.groups == 1 ? 20 : 3));
  Shape filter, result = {shape[0], outputs};
  for (size_t i = 0; i < dims; ++i) {
    const int64_t extent = shape[i + (how.channelsLast ? 1 : 2)];
    filter.push_back(1 + d.random.below(3));
    how.stride.push_back(1 + d.random.below(3));
    how.dilation.push_back(1 + d.random.below(2));
    const int64_t reach = (filter.back() - 1) * how.dilation.back();
    how.low.push_back(d.random.below(3));
    how.high.push_back(d.random.below(3));
    // At least one window fits.
    how.high.back() += std::max<int64_t>(reach + 1 - extent - how.low.back() - how.high.back(), 0);
    result.push_back((extent + how.low.back() + how.high.back() - reach - 1) / how.stride.back() + 1);
  }
  filter.insert(how.channelsLast ? filter.end() : filter.begin(), channels / how.groups);
  filter.insert(how.channelsLast ? filter.end() : filter.begin(), outputs);
  if (!d.fits(filter) || !d.fits(result))
    return std::nullopt;
  const DType dtype = d.type(x).dtype;
  return conformance::convolve(d.b, x, d.partner({dtype, filter}), how, accumulatorType(dtype));
}

/// The gradients of an attention, of which the last is drawn on with, or y where they are refused.
static NodeId drawGradients(Drawer &d, NodeId y, const std::vector<NodeId> &sources) {
  const NodeId seed = d.partner(d.type(y));
  const auto gradients = graph::gradient(d.b.graph(), {{y}}, {{seed}}, sources);
  if (!gradients.isOk())
    return y;
  d.keep(y);
  NodeId last = y;
  for (const std::optional<NodeId> &gradient : *gradients)
    if (gradient)
      d.keep(last = *gradient);
  return last;
}

/// softmax(scores) v in one of its spellings: where the scale, the mask, the division and casts stand.
static std::optional<NodeId> drawAttention(Drawer &d, NodeId x) {
  if (d.rank(x) < 2 || d.rank(x) > 3 || !isFloat(d.type(x).dtype) || d.isEmpty(x))
    return std::nullopt;
  x = d.arithmetic(x);
  const DType dtype = d.type(x).dtype, wide = accumulatorType(dtype);
  Shape keys = d.shape(x), values = keys, scores = keys;
  const int64_t count = 1 + d.random.below(40);
  keys[keys.size() - 2] = keys.back();
  keys.back() = scores.back() = values[values.size() - 2] = count;
  values.back() = 1 + d.random.below(20);
  Shape result = scores;
  result.back() = values.back();
  if (!d.fits(keys) || !d.fits(scores) || !d.fits(values) || !d.fits(result))
    return std::nullopt;
  const int64_t scaled = d.random.below(3), divided = d.random.below(3);
  const bool hasGradients = d.random.chance(0.4);
  auto scale = [&](NodeId value) { return d.b.mul(value, d.b.like(value, 0.25)); };
  NodeId q = d.b.cast(x, wide);
  if (scaled == 0)
    q = scale(q);
  const NodeId k = d.partner({dtype, keys}), v = d.partner({dtype, values});
  NodeId s = d.b.matmul(q, k, wide);
  if (scaled == 1)
    s = scale(s);
  const auto last = static_cast<int64_t>(scores.size()) - 1;
  if (d.random.chance(0.3)) {
    const NodeId row = d.b.iota({DType::I32, scores}, last - 1);
    const NodeId column = d.b.iota({DType::I32, scores}, last);
    s = d.b.select(d.b.binary(BinaryKind::Ge, row, column), s, d.b.like(s, -1e4));
  } else if (d.random.chance(0.3)) {
    s = d.b.add(s, d.partner({wide, scores}));
  }
  NodeId largest = d.b.reduce(ReduceKind::Max, s, {last});
  if (hasGradients)
    largest = d.b.bitcast(largest, wide);
  NodeId weights = d.b.unary(UnaryKind::Exp, d.b.sub(s, d.b.back(largest, last, count)));
  const NodeId sum = d.b.reduce(ReduceKind::Add, weights, {last});
  if (divided == 0)
    weights = d.b.div(weights, d.b.back(sum, last, count));
  if (divided == 1)
    weights = d.b.mul(weights, d.b.back(d.b.unary(UnaryKind::Recip, sum), last, count));
  if (d.random.chance(0.3))
    weights = d.b.cast(weights, dtype);
  if (d.random.chance(0.1))
    d.keep(weights);
  NodeId y = d.b.matmul(weights, d.b.cast(v, d.b.type(weights).dtype), wide);
  if (divided == 2)
    y = d.b.div(y, d.b.back(sum, last, values.back()));
  y = d.b.cast(y, dtype);
  return hasGradients ? drawGradients(d, y, {x, k, v}) : y;
}

/// One step of a loop: the same arithmetic on integers and floats, and a sum that comes back.
static NodeId drawStep(Builder &s, NodeId x, NodeId y, int64_t choice) {
  switch (choice) {
  case 0:
    return s.add(x, y);
  case 1:
    return s.sub(y, x);
  case 2:
    return s.binary(BinaryKind::Max, x, y);
  case 3:
    return isFloat(s.type(x).dtype) ? s.unary(UnaryKind::Tanh, x) : s.mul(x, y);
  default: {
    const Shape shape = s.type(x).shape;
    if (shape.empty() || *numElements(shape) == 0)
      return s.unary(UnaryKind::Neg, x);
    const auto last = static_cast<int64_t>(shape.size()) - 1;
    return s.sub(x, s.back(s.reduce(ReduceKind::Max, x, {last}), last, shape.back()));
  }
  }
}

/// A loop that updates carried values at places that depend on its index, and reads them before and behind that, in the
/// order and the places that are drawn.
static std::optional<NodeId> drawUpdates(Drawer &d, NodeId x, NodeId y, int64_t trips) {
  std::vector<int64_t> choices(static_cast<size_t>(1 + d.random.below(5)));
  for (int64_t &choice : choices)
    choice = d.random.below(7);
  const int64_t order = d.random.below(6);
  const bool nested = d.random.chance(0.3);
  const auto step = [=](Builder &s, std::span<const NodeId> in) {
    // Two values of one type, one row of it, and what is made of them from choice to choice.
    NodeId a = in[1], b = in[2], line = in[3];
    for (int64_t choice : choices) {
      const NodeId place = choice % 2 == 0 ? in[0] : s.binary(BinaryKind::Sub, s.like(in[0], 2), in[0]);
      switch (choice) {
      case 0:
      case 1:
        a = s.scatter(graph::ScatterKind::Set, a, place, line, 0);
        break;
      case 2:
        b = s.scatter(graph::ScatterKind::Max, b, place, line, 0);
        break;
      case 3:
        line = s.binary(BinaryKind::Max, line, s.gather(a, place, 0));
        break;
      case 4:
        line = s.gather(b, place, 0);
        break;
      case 5:
        b = s.binary(BinaryKind::Max, a, in[2]);
        break;
      default:
        std::swap(a, b);
        break;
      }
    }
    const std::vector<std::vector<NodeId>> all = {{a, b}, {b, a}, {in[2], a}, {b, in[1]}, {a, a}, {a, in[1]}};
    std::vector<NodeId> next = all[static_cast<size_t>(order)];
    next.push_back(line);
    return next;
  };
  const auto around = [=](Builder &s, std::span<const NodeId> in) {
    return s.loop(2, {in[1], in[2], in[3]}, {}, step);
  };
  const NodeId line = d.b.gather(x, d.b.splat(DType::I64, {}, 0), 0);
  const std::vector<NodeId> results =
      nested ? d.b.loop(trips, {x, y, line}, {}, around) : d.b.loop(trips, {x, y, line}, {}, step);
  if (d.random.chance(0.5))
    d.keep(results[1]);
  d.keep(results[2]);
  return results[0];
}

static std::optional<NodeId> drawLoop(Drawer &d, NodeId x) {
  x = d.computable(x);
  const TensorType type = d.type(x);
  const NodeId y = d.partner(type);
  std::vector<int64_t> choices(static_cast<size_t>(1 + d.random.below(3)));
  for (int64_t &choice : choices)
    choice = d.random.below(5);
  const bool exchange = d.random.chance(0.3), nested = d.random.chance(0.2);
  const auto step = [=](Builder &s, std::span<const NodeId> in) {
    NodeId next = in[1];
    for (int64_t choice : choices)
      next = drawStep(s, next, choice == choices[0] ? in[3] : in[2], choice);
    return exchange ? std::vector<NodeId>{in[2], next} : std::vector<NodeId>{next, in[2]};
  };
  const auto around = [=](Builder &s, std::span<const NodeId> in) { return s.loop(2, {in[1], in[2]}, {in[3]}, step); };
  const int64_t trips = d.random.below(5);
  if (!type.shape.empty() && type.shape[0] > 0 && d.random.chance(0.4))
    return drawUpdates(d, x, y, trips);
  std::optional<NodeId> count;
  // Bounds of floats are drawn up trip by trip, so their number must be known.
  if (!isFloat(type.dtype) && d.random.chance(0.3))
    count = d.b.input(conformance::integers(DType::I64, {}, -1, 4, d.random));
  const std::vector<NodeId> results =
      nested ? d.b.loop(trips, {x, y}, {y}, around, count) : d.b.loop(trips, {x, y}, {x}, step, count);
  d.keep(results[1]);
  return results[0];
}

std::span<const Production> patternProductions() {
  static constexpr Production table[] = {
      {"loop", 3, drawLoop},           {"softmax", 3, drawSoftmax},
      {"matmul", 4, drawMatmul},       {"convolution", 3, drawConvolution},
      {"attention", 2, drawAttention},
  };
  return table;
}

} // namespace zyx::smith
