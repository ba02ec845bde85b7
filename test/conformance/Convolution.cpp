//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Convolution.h"

namespace zyx::conformance {

using Ints = std::vector<int64_t>;

NodeId convolve(Builder &b, NodeId x, NodeId filters, const Convolution &how, DType sum) {
  const auto n = static_cast<int64_t>(how.stride.size());
  const Shape given = b.type(x).shape, f = b.type(filters).shape;
  const int64_t first = how.channelsLast ? 1 : 2, channelDim = how.channelsLast ? n + 1 : 1;
  const int64_t groups = how.groups, channels = given[static_cast<size_t>(channelDim)] / groups;
  const int64_t outputs = (how.channelsLast ? f.back() : f.front()) / groups;
  const auto spatial = [&](const Shape &shape, int64_t from) {
    return Ints(shape.begin() + from, shape.begin() + from + n);
  };
  const auto join = [](std::initializer_list<Ints> lists) {
    Ints all;
    for (const Ints &list : lists)
      all.insert(all.end(), list.begin(), list.end());
    return all;
  };
  const auto count = [&](int64_t from) {
    Ints dims;
    for (int64_t i = 0; i < n; ++i)
      dims.push_back(from + i);
    return dims;
  };
  const Ints size = spatial(f, how.channelsLast ? 0 : 2), ones(static_cast<size_t>(n), 1);

  Ints low(given.size(), 0), high = low;
  for (int64_t i = 0; i < n; ++i) {
    low[static_cast<size_t>(first + i)] = how.low[static_cast<size_t>(i)];
    high[static_cast<size_t>(first + i)] = how.high[static_cast<size_t>(i)];
  }
  if (low != Ints(given.size(), 0) || high != Ints(given.size(), 0))
    x = b.pad(x, b.splat(b.type(x).dtype, {}, 0), low, high, Ints(given.size(), 0));
  NodeId slid = b.window(x, count(first), size, how.stride, how.dilation);
  const Ints out = spatial(b.type(slid).shape, first);

  // [n, groups, outputs, ..., channels, window...]
  NodeId left, right;
  if (how.channelsLast) {
    slid = b.reshape(slid, join({{given[0]}, out, {groups, channels}, size}));
    left = b.permute(slid, join({{0, n + 1}, count(1), {n + 2}, count(n + 3)}));
    right = b.reshape(filters, join({size, {channels, groups, outputs}}));
    right = b.permute(right, join({{n + 1, n + 2, n}, count(0)}));
  } else {
    slid = b.reshape(slid, join({{given[0], groups, channels}, out, size}));
    left = b.permute(slid, join({{0, 1}, count(3), {2}, count(3 + n)}));
    right = filters;
  }
  const Shape all = join({{given[0], groups, outputs}, out, {channels}, size});
  left = b.expand(b.reshape(left, join({{given[0], groups, 1}, out, {channels}, size})), all);
  right = b.expand(b.reshape(right, join({{1, groups, outputs}, ones, {channels}, size})), all);
  NodeId y = b.reduce(ReduceKind::Add, b.mul(b.cast(left, sum), b.cast(right, sum)), join({{3 + n}, count(4 + n)}));
  if (!how.channelsLast)
    return b.reshape(y, join({{given[0], groups * outputs}, out}));
  y = b.permute(y, join({{0}, count(3), {1, 2}}));
  return b.reshape(y, join({{given[0]}, out, {groups * outputs}}));
}

} // namespace zyx::conformance
