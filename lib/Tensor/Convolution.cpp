//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Convolution.h"

#include "Compose.h"

#include <algorithm>
#include <cmath>
#include <functional>
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

static void expectBias(const Tensor &bias, int64_t outputs, DType dtype, std::string_view function,
                       const Place &where) {
  if (bias.isDefined() && (bias.shape() != Shape{outputs} || bias.dtype() != dtype))
    refuse(std::string(function) + ": a bias of type " + toString(bias.type()) + " for " + std::to_string(outputs) +
               " outputs of " + std::string(toString(dtype)),
           where);
}

static Tensor withBias(const Tensor &sums, const Tensor &bias, DType dtype, std::string_view function,
                       const Place &where) {
  expectBias(bias, sums.shape()[1], dtype, function, where);
  Tensor result = sums;
  if (bias.isDefined()) {
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

//===----------------------------------------------------------------------===//
// Transposed convolution
//===----------------------------------------------------------------------===//

namespace {

/// Neighbouring phases of the stride along a dimension: positions that lie these steps behind a multiple of it. All of
/// them are sums of so many elements of the operand that are neighbours, the last of which is `shift` behind the
/// multiple's number, with elements of the filter that are one stride apart.
struct Phases {
  int64_t begin, end, taps, shift;
};

/// What a transposed convolution does along one dimension.
struct Spread {
  int64_t extent, window, stride, padding, result;

  /// A position o is reached from x by the filter's element k where o + padding = stride * x + k.
  std::vector<Phases> getPhases() const {
    std::vector<Phases> all;
    for (int64_t phase = 0; phase < stride; ++phase) {
      const int64_t taps = (window - firstOf(phase) + stride - 1) / stride, shift = (phase + padding) / stride;
      if (!all.empty() && all.back().taps == taps && all.back().shift == shift)
        ++all.back().end;
      else
        all.push_back({phase, phase + 1, taps, shift});
    }
    return all;
  }
  /// The filter's first element at a phase.
  int64_t firstOf(int64_t phase) const { return (phase + padding) % stride; }
  int64_t countMultiples() const { return (result + stride - 1) / stride; }
  /// Whether each phase has an element of the filter.
  bool reachesAll() const { return window >= stride && extent > 0 && result > 0; }
};

} // namespace

/// The elements of filters [..., window...] that some phases take, one stride apart, the last ones first:
/// [phases..., ..., taps...].
static Tensor filtersOf(const Tensor &filters, const std::vector<Spread> &spreads, const std::vector<Phases> &phases,
                        const Place &where) {
  const auto count = static_cast<int64_t>(spreads.size()), rank = filters.rank(), fixed = rank - count;
  Shape taps;
  Dims strides, low = Dims::repeated(2 * count, 0), high = low, order, flipped;
  for (int64_t i = 0; i < count; ++i) {
    taps.push_back(phases[i].taps);
    strides.push_back(spreads[i].stride);
    // Of all places where so many elements one stride apart begin, those of the phases.
    const int64_t first = spreads[i].firstOf(phases[i].begin), last = first + phases[i].end - phases[i].begin;
    low[i] = -first;
    high[i] = last - (spreads[i].window - (phases[i].taps - 1) * spreads[i].stride);
    order.push_back(fixed + i);
    flipped.push_back(rank + i);
  }
  for (int64_t d = 0; d < fixed; ++d)
    order.push_back(d);
  for (int64_t i = 0; i < count; ++i)
    order.push_back(rank + i);
  const Tensor begins = windowsOf(filters, taps, Dims::repeated(count, 1), strides, where);
  return padLast(begins, low, high, Dims::repeated(2 * count, 0), 0, where).permute(order, where).flip(flipped, where);
}

/// Each phase of the strides is a convolution of the operand as it is; no inserted zeros are multiplied. `apart` are
/// filters of [groups, channels per group, outputs per group, window...].
static Tensor convolvePhases(const Tensor &x, const Tensor &apart, const Tensor &bias,
                             const std::vector<Spread> &spreads, const Place &where) {
  const auto count = static_cast<int64_t>(spreads.size());
  const int64_t groups = apart.shape()[0], channels = apart.shape()[1], each = apart.shape()[2];
  // [batch, groups, outputs, multiples, phases, multiples, phases, ...] of some phases along the first dimensions, all
  // along the others.
  const std::function<Tensor(std::vector<Phases>)> join = [&](std::vector<Phases> chosen) -> Tensor {
    const auto done = static_cast<int64_t>(chosen.size());
    if (done < count) {
      std::vector<Tensor> parts;
      for (const Phases &phases : spreads[done].getPhases()) {
        chosen.push_back(phases);
        parts.push_back(join(chosen));
        chosen.pop_back();
      }
      return parts.size() == 1 ? parts[0] : concat(parts, 4 + 2 * done, where);
    }
    Dims low = Dims::repeated(count, 0), high = low;
    Shape counts, phaseCounts, taps;
    int64_t phases = 1;
    for (int64_t i = 0; i < count; ++i) {
      counts.push_back(spreads[i].countMultiples());
      taps.push_back(chosen[i].taps);
      phaseCounts.push_back(chosen[i].end - chosen[i].begin);
      phases *= phaseCounts.back();
      low[i] = chosen[i].taps - 1 - chosen[i].shift;
      high[i] = counts.back() + chosen[i].shift - spreads[i].extent;
    }
    const Tensor padded = padLast(x, low, high, Dims::repeated(count, 0), 0, where);
    // [phases..., groups, channels, outputs, taps...] to [groups * phases... * outputs, channels, taps...].
    const Tensor own = filtersOf(apart, spreads, chosen, where);
    Dims order = {count};
    for (int64_t i = 0; i < count; ++i)
      order.push_back(i);
    order.push_back(count + 2);
    order.push_back(count + 1);
    for (int64_t i = 0; i < count; ++i)
      order.push_back(count + 3 + i);
    Shape filterShape = {groups * phases * each, channels};
    filterShape.insert(filterShape.end(), taps.begin(), taps.end());
    const Tensor sums = sumWindows(padded, own.permute(order, where).reshape(filterShape, where),
                                   Dims::repeated(count, 1), Dims::repeated(count, 1), groups, where);
    Shape shape = {x.shape()[0], groups};
    shape.insert(shape.end(), phaseCounts.begin(), phaseCounts.end());
    shape.push_back(each);
    shape.insert(shape.end(), counts.begin(), counts.end());
    // [batch, groups, phases..., outputs, multiples...].
    Tensor y = sums.reshape(shape, where);
    if (bias.isDefined() && bias.numel() != 0) {
      Shape biasShape(shape.size(), 1);
      biasShape[1] = groups;
      biasShape[2 + count] = each;
      y = makeBinary(BinaryKind::Add, y, expandTo(bias.cast(y.dtype(), where).reshape(biasShape, where), shape, where),
                     where);
    }
    if (isFloat(x.dtype()))
      y = y.cast(x.dtype(), where);
    Dims interleaved = {0, 1, 2 + count};
    for (int64_t i = 0; i < count; ++i) {
      interleaved.push_back(3 + count + i);
      interleaved.push_back(2 + i);
    }
    return y.permute(interleaved, where);
  };
  const Tensor all = join({});
  Shape shape = {x.shape()[0], groups * each};
  Dims high = Dims::repeated(count, 0);
  for (int64_t i = 0; i < count; ++i) {
    shape.push_back(spreads[i].countMultiples() * spreads[i].stride);
    high[i] = spreads[i].result - shape.back();
  }
  return padLast(all.reshape(shape, where), Dims::repeated(count, 0), high, Dims::repeated(count, 0), 0, where);
}

/// A convolution of each phase of the strides, or of the spread operand with flipped filters, one step apart.
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
  std::vector<Spread> spreads;
  for (size_t i = 0; i < count; ++i) {
    low[i] = dilation[i] * (filters.shape()[i + 2] - 1) - padding[i];
    high[i] = low[i] + more[i];
    interior[i] = stride[i] - 1;
    dims[i] = static_cast<int64_t>(i) + 2;
    const int64_t extent = x.shape()[i + 2], window = filters.shape()[i + 2];
    spreads.push_back(
        {extent, window, stride[i], padding[i], (extent - 1) * stride[i] + low[i] + high[i] + 2 - window});
  }
  // [channels, outputs per group, ...] to [outputs, channels per group, ...].
  const int64_t groups = options.groups, each = filters.shape()[1];
  expectBias(bias, groups * each, x.dtype(), name, where);
  Shape apart = filters.shape(), swapped = filters.shape();
  apart[0] /= groups;
  apart.insert(apart.begin(), groups);
  const auto isOne = [](int64_t number) { return number == 1; };
  const bool isSpread = !std::ranges::all_of(stride, isOne);
  if (isSpread && std::ranges::all_of(dilation, isOne) && x.numel() != 0 && filters.numel() != 0 &&
      std::ranges::all_of(spreads, &Spread::reachesAll))
    return convolvePhases(x, filters.reshape(apart, where), bias, spreads, where);
  const Tensor padded = padLast(x, low, high, interior, 0, where);
  swapped[0] = groups * each;
  swapped[1] = apart[1];
  const Tensor turned = filters.reshape(apart, where).transpose(1, 2, where).reshape(swapped, where).flip(dims, where);
  return withBias(sumWindows(padded, turned, Dims::repeated(count, 1), dilation, groups, where), bias, x.dtype(), name,
                  where);
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
      refuse(std::string(function) + ": a padding of " + std::to_string(pool.padding[i]) + ", more than half of the " +
                 std::to_string(spanned) + " elements that a window spans",
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

Pooled zyx::maxPoolWithIndices(const Tensor &x, Dims window, WindowOptions options, Place where) {
  const Pool pool = poolOf(x, window, options, "maxPoolWithIndices", where);
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
