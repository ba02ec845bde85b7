//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "smith/Drawer.h"

#include <algorithm>

namespace zyx::smith {

static std::optional<NodeId> drawReduce(Drawer &d, NodeId x) {
  if (d.rank(x) == 0)
    return std::nullopt;
  x = d.arithmetic(x);
  std::vector<int64_t> dims;
  const int64_t always = d.drawDim(x);
  for (int64_t dim = 0; dim < d.rank(x); ++dim)
    if (dim == always || d.random.chance(0.3))
      dims.push_back(dim);
  const DType dtype = d.type(x).dtype;
  ReduceKind kind = d.random.chance(0.6) ? ReduceKind::Add : d.oneOf({ReduceKind::Max, ReduceKind::Min});
  if (dtype == DType::Bool)
    kind = d.oneOf({ReduceKind::And, ReduceKind::Or});
  else if (isInteger(dtype) && d.random.chance(0.2))
    kind = d.oneOf({ReduceKind::Mul, ReduceKind::Or, ReduceKind::And});
  // The largest of nothing is no value of an integer, and refused.
  if (d.isEmpty(x) && (kind == ReduceKind::Max || kind == ReduceKind::Min))
    kind = ReduceKind::Add;
  const NodeId y = d.b.reduce(kind, x, dims);
  if (d.isEmpty(x) || !d.random.chance(0.4))
    return y;
  // Repeated along what was combined, as in softmax.
  Shape kept = d.shape(x);
  for (int64_t dim : dims)
    kept[static_cast<size_t>(dim)] = 1;
  d.keep(y);
  return d.b.expand(d.b.reshape(y, kept), d.shape(x));
}

static std::optional<NodeId> drawGather(Drawer &d, NodeId x) {
  if (d.rank(x) == 0)
    return std::nullopt;
  const int64_t dim = d.drawDim(x);
  const int64_t extent = d.shape(x)[static_cast<size_t>(dim)];
  // Some indices lie outside.
  NodeId indices;
  if (const NodeId drawn = d.anyNode(); isInteger(d.type(drawn).dtype) && d.rank(drawn) <= 2 && d.random.chance(0.3)) {
    indices = drawn;
  } else {
    const DType dtype = d.oneOf({DType::I32, DType::I32, DType::I64, DType::U8});
    Shape shape = {1 + d.random.below(9)};
    if (d.random.chance(0.2))
      shape.push_back(2);
    indices = d.b.input(
        conformance::integers(dtype, shape, dtype == DType::U8 ? 0 : -1, std::min<int64_t>(extent, 100), d.random));
  }
  const Shape at = d.shape(indices);
  Shape shape = d.shape(x);
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, at.begin(), at.end());
  if (!d.fits(shape))
    return std::nullopt;
  return d.b.gather(x, indices, dim);
}

static std::optional<NodeId> drawScan(Drawer &d, NodeId x) {
  x = d.arithmetic(x);
  if (d.rank(x) == 0)
    return std::nullopt;
  const bool isBool = d.type(x).dtype == DType::Bool;
  ReduceKind kind = !isBool && d.random.chance(0.6) ? ReduceKind::Add : d.oneOf({ReduceKind::Max, ReduceKind::Min});
  if (isInteger(d.type(x).dtype) && d.random.chance(0.2))
    kind = d.oneOf({ReduceKind::Mul, ReduceKind::Or, ReduceKind::And});
  return d.b.scan(kind, x, d.drawDim(x), d.random.chance(0.3), d.random.chance(0.3));
}

static std::optional<NodeId> drawSort(Drawer &d, NodeId x) {
  x = d.arithmetic(x);
  if (d.rank(x) == 0)
    return std::nullopt;
  const auto kind = d.oneOf({graph::SortKind::Values, graph::SortKind::Indices});
  return d.b.sort(kind, x, d.drawDim(x), d.random.chance(0.4));
}

static std::optional<NodeId> drawScatter(Drawer &d, NodeId x) {
  using graph::ScatterKind;
  x = d.arithmetic(x);
  if (d.rank(x) == 0)
    return std::nullopt;
  const int64_t dim = d.drawDim(x);
  Shape shape = d.shape(x);
  const int64_t extent = shape[static_cast<size_t>(dim)];
  const int64_t count = 1 + d.random.below(9);
  // Some indices lie outside.
  const NodeId indices =
      d.b.input(conformance::integers(DType::I32, {count}, -1, std::min<int64_t>(extent, 100), d.random));
  shape[static_cast<size_t>(dim)] = count;
  if (!d.fits(shape))
    return std::nullopt;
  const NodeId updates = d.partner({d.type(x).dtype, shape});
  const bool isBool = d.type(x).dtype == DType::Bool;
  const auto kind =
      d.oneOf({ScatterKind::Set, isBool ? ScatterKind::Set : ScatterKind::Add, ScatterKind::Max, ScatterKind::Min});
  return d.b.scatter(kind, x, indices, updates, dim);
}

static std::optional<NodeId> drawRandomBits(Drawer &d, NodeId) {
  const NodeId seed = d.b.splat(DType::U64, {}, static_cast<double>(d.random.below(1000)));
  return d.b.randomBits(seed, d.drawShape());
}

std::span<const Production> combiningProductions() {
  static constexpr Production table[] = {
      {"reduce", 12, drawReduce}, {"gather", 4, drawGather},   {"scan", 3, drawScan},
      {"sort", 2, drawSort},      {"scatter", 3, drawScatter}, {"random_bits", 1, drawRandomBits},
  };
  return table;
}

} // namespace zyx::smith
