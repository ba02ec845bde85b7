//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Convolution.h"

#include "Compose.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace zyx;
using namespace zyx::detail;
using graph::BinaryKind;
using graph::ReduceKind;

/// One number per dimension, of at least `least`.
static Dims perDimension(const Dims &given, size_t count, int64_t standard, int64_t least, std::string_view function,
                         const std::string &name, const Place &where) {
  if (given.size() > 1 && given.size() != count)
    refuse(std::string(function) + ": " + std::to_string(given.size()) + " numbers of " + name + " for " +
               std::to_string(count) + " dimensions",
           where);
  const Dims all = given.size() == count ? given : Dims::repeated(count, given.empty() ? standard : given.front());
  for (int64_t number : all)
    if (number < least)
      refuse(std::string(function) + ": " + name + " of " + std::to_string(number), where);
  return all;
}

/// The last dimensions of x as windows; their elements are the last dimensions of the result.
static Tensor windowsOf(const Tensor &x, const Shape &size, const Dims &stride, const Dims &dilation,
                        const Place &where) {
  graph::Attributes attributes;
  for (size_t i = 0; i < size.size(); ++i)
    attributes.dims.push_back(x.rank() - static_cast<int64_t>(size.size() - i));
  attributes.size = size;
  attributes.stride = stride;
  attributes.dilation = dilation;
  return makeNode(Op::Window, {x}, std::move(attributes), where);
}

/// The last dimensions, so many as there are numbers.
static Tensor padLast(const Tensor &x, const Dims &low, const Dims &high, const Dims &interior, double value,
                      const Place &where) {
  graph::Attributes attributes;
  const auto fill = [&](Dims numbers) {
    numbers.insert(numbers.begin(), x.rank() - numbers.size(), 0);
    return numbers;
  };
  attributes.low = fill(low);
  attributes.high = fill(high);
  attributes.interior = fill(interior);
  return makeNode(Op::Pad, {x, constantLike(x, value, x.dtype(), where)}, std::move(attributes), where);
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

static void expectFilters(const Tensor &x, const Tensor &filters, int64_t groups, std::string_view function,
                          const Place &where) {
  expectTensor(x, function, where);
  expectTensor(filters, function, where);
  if (x.rank() < 3 || x.rank() > 5 || filters.rank() != x.rank())
    refuse(std::string(function) + ": x of shape " + toString(x.shape()) + " and filters of shape " +
               toString(filters.shape()) + " do not have one to three dimensions of positions",
           where);
  if (x.dtype() != filters.dtype())
    refuse(std::string(function) + ": x is of dtype " + std::string(toString(x.dtype())) + ", filters of " +
               std::string(toString(filters.dtype())),
           where);
  if (groups < 1 || x.shape()[1] % groups != 0 || filters.shape()[0] % groups != 0)
    refuse(std::string(function) + ": channels of " + toString(x.shape()) + " or filters of " +
               toString(filters.shape()) + " do not fall into " + std::to_string(groups) + " groups",
           where);
}

static Tensor withBias(const Tensor &sums, const Tensor &bias, DType dtype, std::string_view function,
                       const Place &where) {
  Tensor result = sums;
  if (bias.isDefined()) {
    if (bias.shape() != Shape{sums.shape()[1]} || bias.dtype() != dtype)
      refuse(std::string(function) + ": a bias of type " + toString(bias.type()) + " for " +
                 std::to_string(sums.shape()[1]) + " outputs of " + std::string(toString(dtype)),
             where);
    Shape shape(sums.rank(), 1);
    shape[1] = -1;
    if (bias.numel() != 0)
      result = makeBinary(BinaryKind::Add, sums,
                          expandTo(bias.cast(sums.dtype(), where).reshape(shape, where), sums.shape(), where), where);
  }
  return isFloat(dtype) ? result.cast(dtype, where) : result;
}

/// Sums of products of the windows of a padded tensor with filters, in the accumulator's dtype. The
/// contraction comes last, as channels and windows lie in memory.
static Tensor sumWindows(const Tensor &padded, const Tensor &filters, const Dims &stride, const Dims &dilation,
                         int64_t groups, const Place &where) {
  const auto positions = static_cast<int64_t>(stride.size());
  const Shape size(filters.shape().begin() + 2, filters.shape().end());
  const Tensor windows = windowsOf(padded, size, stride, dilation, where);
  const int64_t batch = padded.shape()[0], outputs = filters.shape()[0], each = filters.shape()[1];
  const Shape counts(windows.shape().begin() + 2, windows.shape().begin() + 2 + positions);
  const auto join = [](Shape shape, const Shape &a, const Shape &b = {}) {
    shape.insert(shape.end(), a.begin(), a.end());
    shape.insert(shape.end(), b.begin(), b.end());
    return shape;
  };
  const DType dtype = padded.dtype();
  const DType sums = isFloat(dtype) ? accumulatorType(dtype) : withRoom(padded, where).dtype();
  // [batch, groups, outputs per group, counts..., channels per group, size...]
  const Shape all = join(join({batch, groups, outputs / groups}, counts, {each}), size);
  Dims order = {0, 1}, reduced;
  for (int64_t i = 0; i < positions; ++i)
    order.push_back(3 + i);
  order.push_back(2);
  for (int64_t i = 0; i < positions; ++i)
    order.push_back(3 + positions + i);
  for (int64_t i = 0; i <= positions; ++i)
    reduced.push_back(3 + positions + i);
  const Tensor left = windows.reshape(join({batch, groups, each}, counts, size), where)
                          .permute(order, where)
                          .reshape(join(join({batch, groups, 1}, counts, {each}), size), where);
  const Tensor right =
      filters.reshape(join(join({1, groups, outputs / groups}, Shape(positions, 1), {each}), size), where);
  const Tensor products = makeBinary(BinaryKind::Mul, expandTo(left.cast(sums, where), all, where),
                                     expandTo(right.cast(sums, where), all, where), where);
  return makeReduce(ReduceKind::Add, products, reduced, where).reshape(join({batch, outputs}, counts), where);
}

Tensor zyx::convolution(const Tensor &x, const Tensor &filters, const Tensor &bias, ConvolutionOptions options,
                        Place where) {
  constexpr std::string_view name = "convolution";
  expectFilters(x, filters, options.groups, name, where);
  if (filters.shape()[1] * options.groups != x.shape()[1])
    refuse("convolution: filters of shape " + toString(filters.shape()) + " in " + std::to_string(options.groups) +
               " groups do not fit " + std::to_string(x.shape()[1]) + " channels",
           where);
  const size_t count = x.rank() - 2;
  const Dims stride = perDimension(options.stride, count, 1, 1, name, "stride", where);
  const Dims padding = perDimension(options.padding, count, 0, 0, name, "padding", where);
  const Dims dilation = perDimension(options.dilation, count, 1, 1, name, "dilation", where);
  const Tensor padded =
      padding == Dims::repeated(count, 0) ? x : padLast(x, padding, padding, Dims::repeated(count, 0), 0, where);
  const Tensor sums = sumWindows(padded, filters, stride, dilation, options.groups, where);
  return withBias(sums, bias, x.dtype(), name, where);
}

Tensor zyx::slidingWindows(const Tensor &x, Dims window, Dims stride, Dims dilation, Place where) {
  constexpr std::string_view name = "slidingWindows";
  expectTensor(x, name, where);
  if (static_cast<int64_t>(window.size()) > x.rank())
    refuse("slidingWindows: a window of " + std::to_string(window.size()) + " dimensions for a tensor of rank " +
               std::to_string(x.rank()),
           where);
  if (window.empty())
    return x;
  const size_t count = window.size();
  perDimension(window, count, 1, 1, name, "window", where);
  return windowsOf(x, window, perDimension(stride, count, 1, 1, name, "stride", where),
                   perDimension(dilation, count, 1, 1, name, "dilation", where), where);
}

/// A convolution of the spread operand with flipped filters, one step apart.
Tensor zyx::transposedConvolution(const Tensor &x, const Tensor &filters, const Tensor &bias,
                                  TransposedConvolutionOptions options, Place where) {
  constexpr std::string_view name = "transposedConvolution";
  expectFilters(x, filters, options.groups, name, where);
  if (filters.shape()[0] != x.shape()[1])
    refuse("transposedConvolution: filters of shape " + toString(filters.shape()) + " do not fit " +
               std::to_string(x.shape()[1]) + " channels",
           where);
  const size_t count = x.rank() - 2;
  const Dims stride = perDimension(options.stride, count, 1, 1, name, "stride", where);
  const Dims padding = perDimension(options.padding, count, 0, 0, name, "padding", where);
  const Dims dilation = perDimension(options.dilation, count, 1, 1, name, "dilation", where);
  const Dims more = perDimension(options.outputPadding, count, 0, 0, name, "outputPadding", where);
  Dims low = Dims::repeated(count, 0), high = low, interior = low, dims = low;
  for (size_t i = 0; i < count; ++i) {
    low[i] = dilation[i] * (filters.shape()[i + 2] - 1) - padding[i];
    high[i] = low[i] + more[i];
    interior[i] = stride[i] - 1;
    dims[i] = static_cast<int64_t>(i) + 2;
  }
  const Tensor padded = padLast(x, low, high, interior, 0, where);
  // [channels, outputs per group, ...] to [outputs, channels per group, ...].
  const int64_t groups = options.groups, each = filters.shape()[1];
  Shape apart = filters.shape(), swapped = filters.shape();
  apart[0] /= groups;
  apart.insert(apart.begin(), groups);
  swapped[0] = groups * each;
  swapped[1] = apart[1];
  const Tensor turned =
      filters.reshape(apart, where).transpose(1, 2, where).reshape(swapped, where).flip(dims, where);
  return withBias(sumWindows(padded, turned, Dims::repeated(count, 1), dilation, groups, where), bias, x.dtype(), name, where);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

namespace {
/// Windows of the last dimensions; their elements are `elements` of what is shown.
struct Pool {
  Dims stride, padding, dilation, elements;
};
} // namespace

static Pool poolOf(const Tensor &x, const Dims &window, const WindowOptions &options, std::string_view function,
                   const Place &where) {
  expectTensor(x, function, where);
  if (window.empty() || static_cast<int64_t>(window.size()) > x.rank())
    refuse(std::string(function) + ": a window of " + std::to_string(window.size()) +
               " dimensions for a tensor of rank " + std::to_string(x.rank()),
           where);
  const size_t count = window.size();
  perDimension(window, count, 1, 1, function, "window", where);
  Pool pool;
  pool.stride = options.stride.empty() ? window : perDimension(options.stride, count, 1, 1, function, "stride", where);
  pool.padding = perDimension(options.padding, count, 0, 0, function, "padding", where);
  pool.dilation = perDimension(options.dilation, count, 1, 1, function, "dilation", where);
  for (size_t i = 0; i < count; ++i) {
    if (const int64_t spanned = (window[i] - 1) * pool.dilation[i] + 1; pool.padding[i] > spanned / 2)
      refuse(std::string(function) + ": a padding of " + std::to_string(pool.padding[i]) +
                 ", more than half of the " + std::to_string(spanned) + " elements that a window spans",
             where);
    pool.elements.push_back(x.rank() + static_cast<int64_t>(i));
  }
  return pool;
}

static Tensor showWindows(const Tensor &x, const Dims &window, const Pool &pool, double value, const Place &where) {
  const Dims none = Dims::repeated(window.size(), 0);
  const Tensor padded = pool.padding == none ? x : padLast(x, pool.padding, pool.padding, none, value, where);
  return windowsOf(padded, window, pool.stride, pool.dilation, where);
}

static double leastOf(DType dtype) {
  if (isFloat(dtype))
    return -std::numeric_limits<double>::infinity();
  return isSignedInteger(dtype) ? -std::ldexp(1.0, static_cast<int>(8 * byteSize(dtype)) - 1) : 0;
}

Tensor zyx::maxPool(const Tensor &x, Dims window, WindowOptions options, Place where) {
  const Pool pool = poolOf(x, window, options, "maxPool", where);
  return showWindows(x, window, pool, leastOf(x.dtype()), where).max(pool.elements, false, where);
}

Pooled zyx::maxPoolWithPositions(const Tensor &x, Dims window, WindowOptions options, Place where) {
  const Pool pool = poolOf(x, window, options, "maxPoolWithPositions", where);
  const At at{where};
  const Tensor elements = showWindows(x, window, pool, leastOf(x.dtype()), where);
  const Shape plane(x.shape().end() - static_cast<int64_t>(window.size()), x.shape().end());
  const int64_t count = std::accumulate(plane.begin(), plane.end(), int64_t(1), std::multiplies<>());
  Tensor own = positionsIn(x, {count}, 0, where).reshape(plane, where);
  own = showWindows(expandTo(own, x.shape(), where), window, pool, -1, where);
  const Tensor best = elements.max(pool.elements, true, where);
  const Tensor isBest = at(at(elements) == at(best)) | at(at(elements) != at(elements));
  // What was padded is no element, though it may be as small as all others.
  const Tensor mine = zyx::where(at(isBest) & at(at(own) >= at(0)), at(own), at(count));
  return {best.squeeze(pool.elements, where), mine.min(pool.elements, false, where)};
}

Tensor zyx::avgPool(const Tensor &x, Dims window, AverageOptions options, Place where) {
  expectFloat(x, "avgPool", where);
  const Pool pool = poolOf(x, window, options, "avgPool", where);
  const At at{where};
  const Tensor sums = showWindows(wide(x, where), window, pool, 0, where).sum(pool.elements, false, where);
  if (options.countPadding || pool.padding == Dims::repeated(window.size(), 0)) {
    double count = 1;
    for (int64_t extent : window)
      count *= static_cast<double>(extent);
    return (at(sums) / at(count)).cast(x.dtype(), where);
  }
  const Tensor real = expandTo(constantLike(x, 1, sums.dtype(), where), x.shape(), where);
  const Tensor counts = showWindows(real, window, pool, 0, where).sum(pool.elements, false, where);
  return (at(sums) / at(counts)).cast(x.dtype(), where);
}

//===----------------------------------------------------------------------===//
// Interpolation
//===----------------------------------------------------------------------===//

Tensor zyx::interpolate(const Tensor &x, Dims extents, Interpolation how, Place where) {
  expectTensor(x, "interpolate", where);
  const bool isLinear = how == Interpolation::Linear;
  if (isLinear)
    expectFloat(x, "interpolate", where);
  const At at{where};
  const int64_t first = x.rank() - static_cast<int64_t>(extents.size());
  Tensor result = isLinear ? wide(x, where) : x;
  for (size_t i = 0; i < extents.size(); ++i) {
    const int64_t dim = first + static_cast<int64_t>(i);
    if (dim < 0 || extents[i] < 1 || x.shape()[dim] < 1)
      refuse("interpolate: " + toString(x.shape()) + " has no last dimensions of extents " + toString(extents), where);
    const int64_t old = x.shape()[dim], extent = extents[i];
    if (old == extent)
      continue;
    const Tensor position = positionsIn(x, {extent}, 0, where);
    if (!isLinear) {
      result = take(result, at(at(position) * at(old)) / at(extent), dim, where);
      continue;
    }
    // (2 * position + 1) * old - extent, of 2 * extent parts.
    const Tensor odd = at(at(position) * at(2)) + at(1);
    const Tensor parts = maximum(at(at(at(odd) * at(old)) - at(extent)), at(0));
    const Tensor low = at(parts) / at(2 * extent), high = minimum(at(at(low) + at(1)), at(old - 1));
    Shape shape(x.rank(), 1);
    shape[dim] = extent;
    const Tensor rest = (at(parts) % at(2 * extent)).cast(result.dtype(), where).reshape(shape, where);
    const Tensor weight = at(rest) / at(2 * extent), start = take(result, low, dim, where);
    result = at(start) + at(at(weight) * at(at(take(result, high, dim, where)) - at(start)));
  }
  return result.cast(x.dtype(), where);
}
