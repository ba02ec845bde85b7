//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compose.h"

#include <algorithm>
#include <numeric>

using namespace zyx;
using namespace zyx::detail;

Tensor Tensor::reshape(Shape shape, Place where) const {
  const auto unknown = std::count(shape.begin(), shape.end(), -1);
  if (unknown > 1)
    refuse("reshape: only one extent may be -1, not those of " + zyx::toString(shape), where);
  if (unknown == 1) {
    int64_t rest = 1;
    for (int64_t extent : shape)
      if (extent != -1 && __builtin_mul_overflow(rest, extent, &rest))
        rest = 0;
    if (rest == 0 || numel() % rest != 0)
      refuse("reshape: the elements of " + zyx::toString(this->shape()) + " do not fill " + zyx::toString(shape),
             where);
    *std::find(shape.begin(), shape.end(), -1) = numel() / rest;
  }
  if (handle && shape == this->shape())
    return *this;
  return makeNode(Op::Reshape, {*this}, {}, where, {dtype(), std::move(shape)});
}

Tensor Tensor::expand(Shape shape, Place where) const {
  const Shape &own = this->shape();
  if (shape.size() < own.size())
    refuse("expand: " + zyx::toString(own) + " has more dimensions than " + zyx::toString(shape), where);
  const size_t added = shape.size() - own.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1 && i >= added)
      shape[i] = own[i - added];
    if (shape[i] < 0 || (i >= added && own[i - added] != shape[i] && own[i - added] != 1))
      refuse("expand: " + zyx::toString(own) + " does not expand to " + zyx::toString(shape), where);
  }
  return expandTo(*this, shape, where);
}

Tensor Tensor::permute(Dims order, Place where) const {
  if (int64_t(order.size()) != rank())
    refuse("permute: an order of " + std::to_string(order.size()) + " dimensions for a tensor of rank " +
               std::to_string(rank()),
           where);
  for (int64_t &dim : order)
    dim = dimension(dim, rank(), "permute", where);
  if (!order.empty())
    dimensions(order, rank(), "permute", where);
  if (handle && std::is_sorted(order.begin(), order.end()))
    return *this;
  graph::Attributes attributes;
  attributes.dims = std::move(order);
  return makeNode(Op::Permute, {*this}, std::move(attributes), where);
}

Tensor Tensor::transpose(int64_t a, int64_t b, Place where) const {
  Dims order = Dims::repeated(rank(), 0);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[dimension(a, rank(), "transpose", where)], order[dimension(b, rank(), "transpose", where)]);
  return permute(std::move(order), where);
}

Tensor Tensor::flip(Dims dims, Place where) const {
  expectTensor(*this, "flip", where);
  if (dims.empty())
    return *this;
  graph::Attributes attributes;
  attributes.dims = dimensions(dims, rank(), "flip", where);
  return makeNode(Op::Flip, {*this}, std::move(attributes), where);
}

Tensor Tensor::unsqueeze(int64_t dim, Place where) const {
  Shape grown = shape();
  grown.insert(grown.begin() + dimension(dim, rank() + 1, "unsqueeze", where), 1);
  return reshape(std::move(grown), where);
}

Tensor Tensor::squeeze(std::optional<Dims> dims, Place where) const {
  Dims gone;
  if (!dims) {
    for (int64_t dim = 0; dim < rank(); ++dim)
      if (shape()[dim] == 1)
        gone.push_back(dim);
  } else if (!dims->empty()) {
    gone = dimensions(*dims, rank(), "squeeze", where);
  }
  Shape left;
  for (int64_t dim = 0; dim < rank(); ++dim) {
    const bool goes = std::binary_search(gone.begin(), gone.end(), dim);
    if (goes && shape()[dim] != 1)
      refuse("squeeze: dimension " + std::to_string(dim) + " of " + zyx::toString(shape()) + " is not of extent 1",
             where);
    if (!goes)
      left.push_back(shape()[dim]);
  }
  return reshape(std::move(left), where);
}

Tensor Tensor::flatten(int64_t from, int64_t to, Place where) const {
  if (rank() == 0)
    return reshape({1}, where);
  from = dimension(from, rank(), "flatten", where);
  to = dimension(to, rank(), "flatten", where);
  if (from > to)
    refuse("flatten: dimension " + std::to_string(from) + " stands behind " + std::to_string(to), where);
  Shape flat(shape().begin(), shape().begin() + from);
  flat.push_back(std::accumulate(shape().begin() + from, shape().begin() + to + 1, int64_t(1), std::multiplies<>()));
  flat.insert(flat.end(), shape().begin() + to + 1, shape().end());
  return reshape(std::move(flat), where);
}

Tensor Tensor::pad(Dims low, Dims high, double value, Place where) const {
  if (int64_t(low.size()) != rank() || int64_t(high.size()) != rank())
    refuse("pad: " + std::to_string(low.size()) + " and " + std::to_string(high.size()) +
               " amounts for a tensor of rank " + std::to_string(rank()),
           where);
  expectTensor(*this, "pad", where);
  if (!isRepresentable(value, dtype()))
    refuse("pad: no " + std::string(zyx::toString(dtype())) + " is " + std::to_string(value), where);
  graph::Attributes attributes;
  attributes.interior.assign(rank(), 0);
  attributes.low = std::move(low);
  attributes.high = std::move(high);
  return makeNode(Op::Pad, {*this, constantLike(*this, value, dtype(), where)}, std::move(attributes), where);
}

/// Backwards becomes forwards by a flip, then elements are removed at both ends, then some are skipped.
Tensor Tensor::slice(std::vector<Slice> slices, Place where) const {
  if (int64_t(slices.size()) > rank())
    refuse("slice: " + std::to_string(slices.size()) + " slices of a tensor of rank " + std::to_string(rank()), where);
  Dims backwards, low = Dims::repeated(rank(), 0), high = low;
  graph::Attributes skip;
  for (size_t dim = 0; dim < slices.size(); ++dim) {
    const Slice &slice = slices[dim];
    const int64_t extent = shape()[dim];
    if (slice.step == 0 || slice.step == INT64_MIN)
      refuse("slice: a step of " + std::to_string(slice.step) + " goes nowhere", where);
    auto clamp = [&](std::optional<int64_t> position, int64_t none, int64_t least, int64_t most) {
      if (!position)
        return none;
      return std::clamp(*position < 0 ? *position + extent : *position, least, most);
    };
    int64_t start = 0, stop = 0;
    if (slice.step > 0) {
      start = clamp(slice.start, 0, 0, extent);
      stop = clamp(slice.stop, extent, 0, extent);
    } else {
      // Positions of the flipped dimension.
      start = extent - 1 - clamp(slice.start, extent - 1, -1, extent - 1);
      stop = extent - 1 - clamp(slice.stop, -1, -1, extent - 1);
      backwards.push_back(static_cast<int64_t>(dim));
    }
    stop = std::max(start, stop);
    low[dim] = -start;
    high[dim] = stop - extent;
    if (const int64_t step = std::abs(slice.step); step != 1) {
      skip.dims.push_back(static_cast<int64_t>(dim));
      skip.size.push_back(1);
      // A longer step than the extent reaches nothing either.
      skip.stride.push_back(std::min(step, std::max<int64_t>(stop - start, 1)));
      skip.dilation.push_back(1);
    }
  }
  Tensor result = flip(backwards, where);
  auto isZero = [](int64_t amount) { return amount == 0; };
  if (!std::all_of(low.begin(), low.end(), isZero) || !std::all_of(high.begin(), high.end(), isZero))
    result = result.pad(std::move(low), std::move(high), 0, where);
  if (skip.dims.empty())
    return result;
  result = makeNode(Op::Window, {result}, std::move(skip), where);
  return result.reshape(Shape(result.shape().begin(), result.shape().begin() + rank()), where);
}

Tensor Tensor::select(int64_t dim, int64_t position, Place where) const {
  dim = dimension(dim, rank(), "select", where);
  const int64_t extent = shape()[dim], from = position < 0 ? position + extent : position;
  if (from < 0 || from >= extent)
    refuse("select: dimension " + std::to_string(dim) + " of " + zyx::toString(shape()) + " has no position " +
               std::to_string(position),
           where);
  std::vector<Slice> slices(dim + 1);
  slices[dim] = {from, from + 1};
  return slice(std::move(slices), where).squeeze(Dims{dim}, where);
}

Tensor zyx::concat(Tensors parts, int64_t dim, Place where) {
  if (parts.empty() || !parts.front().isDefined())
    refuse("concat: there is no tensor in the first place", where);
  graph::Attributes attributes;
  attributes.dims = {dimension(dim, parts.front().rank(), "concat", where)};
  return makeIn(stateOf(parts.front()), Op::Concat, parts, std::move(attributes), where);
}

Tensor zyx::take(const Tensor &x, const Tensor &positions, int64_t dim, Place where) {
  graph::Attributes attributes;
  attributes.dims = {dimension(dim, x.rank(), "take", where)};
  return makeNode(Op::Gather, {x, positions}, std::move(attributes), where);
}

Tensor zyx::oneHot(const Tensor &positions, int64_t classes, DType dtype, Place where) {
  if (classes < 0)
    refuse("oneHot: there are no " + std::to_string(classes) + " classes", where);
  expectTensor(positions, "oneHot", where);
  if (!isInteger(positions.dtype()))
    refuse("oneHot: positions are of dtype " + std::string(zyx::toString(positions.dtype())) + ", which is no integer",
           where);
  const At at{where};
  // Small integers may not count as far as there are classes.
  const bool counts = classes == 0 || isRepresentable(static_cast<double>(classes - 1), positions.dtype());
  const Tensor given = counts ? positions : positions.cast(DType::I64, where);
  const Tensor all = positionsIn(positions, {classes}, 0, where, given.dtype());
  return (at(given.unsqueeze(-1, where)) == at(all)).cast(dtype, where);
}
