//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "smith/Drawer.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace zyx::smith {

static std::optional<NodeId> drawPermute(Drawer &d, NodeId x) {
  if (d.rank(x) < 2)
    return std::nullopt;
  std::vector<int64_t> order(static_cast<size_t>(d.rank(x)));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = d.rank(x) - 1; i > 0; --i)
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(d.random.below(i + 1))]);
  return d.b.permute(x, order);
}

/// Makes one dimension of two.
static std::optional<NodeId> drawMerge(Drawer &d, NodeId x) {
  if (d.rank(x) < 2)
    return std::nullopt;
  const int64_t at = d.random.below(d.rank(x) - 1);
  Shape shape = d.shape(x);
  shape[static_cast<size_t>(at)] *= shape[static_cast<size_t>(at + 1)];
  shape.erase(shape.begin() + at + 1);
  return d.b.reshape(x, shape);
}

/// Makes two dimensions of one.
static std::optional<NodeId> drawSplit(Drawer &d, NodeId x) {
  if (d.rank(x) < 1 || d.rank(x) >= 6)
    return std::nullopt;
  const int64_t at = d.drawDim(x);
  Shape shape = d.shape(x);
  int64_t factor = 1;
  for (int64_t candidate : {2, 3, 4, 5, 8, 11})
    if (shape[static_cast<size_t>(at)] % candidate == 0 && d.random.chance(0.5))
      factor = candidate;
  shape[static_cast<size_t>(at)] /= factor;
  shape.insert(shape.begin() + at + 1, factor);
  return d.b.reshape(x, shape);
}

/// Repeats along a new dimension.
static std::optional<NodeId> drawRepeat(Drawer &d, NodeId x) {
  Shape shape = d.shape(x), ones = shape;
  const int64_t at = d.random.below(d.rank(x) + 1);
  ones.insert(ones.begin() + at, 1);
  shape.insert(shape.begin() + at, 2 + d.random.below(6));
  if (!d.fits(shape))
    return std::nullopt;
  return d.b.expand(d.b.reshape(x, ones), shape);
}

/// All elements in rows of another length, whatever dimensions there were.
static std::optional<NodeId> drawReshape(Drawer &d, NodeId x) {
  const int64_t elements = *numElements(d.shape(x));
  if (elements == 0)
    return std::nullopt;
  std::vector<int64_t> divisors;
  for (int64_t i = 1; i <= elements; ++i)
    if (elements % i == 0)
      divisors.push_back(i);
  const int64_t first = d.oneOf(std::span<const int64_t>(divisors));
  return d.b.reshape(x, {first, elements / first});
}

static std::optional<NodeId> drawFlip(Drawer &d, NodeId x) {
  std::vector<int64_t> dims;
  for (int64_t dim = 0; dim < d.rank(x); ++dim)
    if (d.random.chance(0.5))
      dims.push_back(dim);
  if (dims.empty())
    return std::nullopt;
  return d.b.flip(x, dims);
}

/// Adds to and takes from the ends of some dimensions, and puts the fill between elements of others.
static std::optional<NodeId> drawPad(Drawer &d, NodeId x) {
  const auto rank = static_cast<size_t>(d.rank(x));
  std::vector<int64_t> low(rank), high(rank), interior(rank);
  Shape shape = d.shape(x);
  for (size_t dim = 0; dim < rank; ++dim) {
    if (d.random.chance(0.4))
      continue;
    low[dim] = d.random.below(5) - 2;
    high[dim] = d.random.below(5) - 2;
    interior[dim] = d.random.chance(0.2) ? 1 + d.random.below(2) : 0;
    const int64_t inner = std::max<int64_t>(shape[dim] - 1, 0) * interior[dim];
    if (shape[dim] + inner + low[dim] + high[dim] < 1)
      low[dim] = high[dim] = 0;
    shape[dim] += inner + low[dim] + high[dim];
  }
  if (!d.fits(shape))
    return std::nullopt;
  const DType dtype = d.type(x).dtype;
  const NodeId fill =
      d.random.chance(0.3) ? d.drawInput(dtype, {}) : d.b.splat(dtype, {}, static_cast<double>(d.random.below(2)));
  return d.b.pad(x, fill, low, high, interior);
}

static std::optional<NodeId> drawWindow(Drawer &d, NodeId x) {
  if (d.rank(x) < 1 || d.isEmpty(x))
    return std::nullopt;
  std::vector<int64_t> dims, size, stride, dilation;
  Shape shape = d.shape(x);
  for (int64_t dim = 0; dim < d.rank(x) && dims.size() < 2; ++dim) {
    if (!d.random.chance(0.5))
      continue;
    int64_t &extent = shape[static_cast<size_t>(dim)];
    dims.push_back(dim);
    dilation.push_back(1 + d.random.below(2));
    size.push_back(1 + d.random.below(std::min<int64_t>(4, (extent - 1) / dilation.back() + 1)));
    stride.push_back(1 + d.random.below(3));
    extent = (extent - 1 - (size.back() - 1) * dilation.back()) / stride.back() + 1;
  }
  shape.insert(shape.end(), size.begin(), size.end());
  if (dims.empty() || !d.fits(shape))
    return std::nullopt;
  return d.b.window(x, dims, size, stride, dilation);
}

static std::optional<NodeId> drawConcat(Drawer &d, NodeId x) {
  if (d.rank(x) < 1)
    return std::nullopt;
  const int64_t dim = d.drawDim(x);
  std::vector<NodeId> parts = {x};
  TensorType type = d.type(x);
  Shape shape = type.shape;
  for (int64_t count = d.random.below(3); count >= 0; --count) {
    if (d.random.chance(0.5))
      type.shape[static_cast<size_t>(dim)] = d.random.below(4);
    const NodeId part = d.random.chance(0.3) && type == d.type(x) ? x : d.partner(type);
    parts.insert(d.random.chance(0.5) ? parts.begin() : parts.end(), part);
    shape[static_cast<size_t>(dim)] += type.shape[static_cast<size_t>(dim)];
  }
  if (!d.fits(shape))
    return std::nullopt;
  return d.b.concat(parts, dim);
}

/// Another dtype of the same width; not of a float, because of signalling NaNs.
static std::optional<NodeId> drawBitcast(Drawer &d, NodeId x) {
  const DType dtype = d.type(x).dtype;
  if (!isInteger(dtype))
    return std::nullopt;
  DType to = d.drawDType();
  if (to == DType::Bool || byteSize(to) != byteSize(dtype))
    to = dtype;
  return d.b.bitcast(x, to);
}

std::span<const Production> viewProductions() {
  static constexpr Production table[] = {
      {"permute", 5, drawPermute}, {"merge", 4, drawMerge},     {"split", 4, drawSplit}, {"repeat", 5, drawRepeat},
      {"reshape", 2, drawReshape}, {"flip", 3, drawFlip},       {"pad", 4, drawPad},     {"window", 3, drawWindow},
      {"concat", 3, drawConcat},   {"bitcast", 2, drawBitcast},
  };
  return table;
}

} // namespace zyx::smith
