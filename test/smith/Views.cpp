//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "smith/Drawer.h"

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

std::span<const Production> viewProductions() {
  static constexpr Production table[] = {
      {"permute", 5, drawPermute}, {"merge", 4, drawMerge},     {"split", 4, drawSplit},
      {"repeat", 5, drawRepeat},   {"reshape", 2, drawReshape},
  };
  return table;
}

} // namespace zyx::smith
