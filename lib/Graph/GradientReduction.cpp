//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GradientRules.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace zyx::graph {

static NodeId scan(GradientPass &p, ReduceKind kind, NodeId x, int64_t dim, bool exclusive, bool reverse) {
  Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  attributes.dims = {dim};
  attributes.exclusive = exclusive;
  attributes.reverse = reverse;
  return p.emit(Op::Scan, {{x}}, std::move(attributes));
}

/// Shared equally by all that equal the result; by none where that is NaN.
static NodeId shareExtremum(GradientPass &p, NodeId x, NodeId y, const Node &node, NodeId g) {
  const TensorType type = p.type(x);
  const std::vector<int64_t> &dims = node.attributes.dims;
  const NodeId isOne = p.binary(BinaryKind::Eq, x, p.spread(y, dims, type.shape));
  // f16 does not count far.
  const DType wide = accumulatorType(type.dtype);
  const NodeId count = p.sum(p.cast(isOne, wide), dims);
  const NodeId share = p.cast(p.div(p.cast(g, wide), count), type.dtype);
  return p.keepWhere(isOne, p.spread(share, dims, type.shape));
}

/// Poolings of more elements than this give to all elements of their windows, one after the other.
static constexpr int64_t maxPooled = 64;

/// An extent of an image in phases: element `stride` x a + r is seen by the windows a + least to a + least + reach - 1,
/// and stands in the window a + e at place r + padding - stride x e, where that is one of `size`.
struct PoolPhases {
  size_t dim;
  int64_t extent, windows, size, stride, padding;

  int64_t phases() const { return (extent + stride - 1) / stride; }
  /// (padding - size + 1) / stride, rounded up.
  int64_t least() const {
    const int64_t behind = size - 1 - padding;
    return behind >= 0 ? -(behind / stride) : (stride - 1 - behind) / stride;
  }
  int64_t reach() const { return (stride - 1 + padding) / stride - least() + 1; }
};

/// What comes to the image of a pooling: each element looks at the windows that show it, and takes the gradients of
/// those whose first best element it is. `first` has its number within each window.
static void givePooled(GradientPass &p, NodeId image, const Attributes &a, NodeId first, NodeId g, int64_t count) {
  // What was padded around the image gets nothing.
  NodeId receiver = image;
  std::vector<int64_t> before(p.shape(image).size());
  if (const Node *padded = p.visible(image, Op::Pad); padded && !p.isSource(image)) {
    const Attributes &b = padded->attributes;
    const auto isPlain = [](int64_t low, int64_t high, int64_t interior) {
      return low >= 0 && high >= 0 && interior == 0;
    };
    bool arePlain = true;
    for (size_t dim = 0; dim < before.size(); ++dim) {
      const bool isPooled = std::ranges::find(a.dims, static_cast<int64_t>(dim)) != a.dims.end();
      arePlain &=
          isPlain(b.low[dim], b.high[dim], b.interior[dim]) && (isPooled || (b.low[dim] == 0 && b.high[dim] == 0));
    }
    if (arePlain) {
      receiver = padded->operands[0];
      before = b.low;
    }
  }
  const Shape extents = p.shape(receiver);
  std::vector<PoolPhases> dims;
  std::vector<int64_t> low(extents.size()), high(extents.size());
  Attributes moved;
  moved.dims = a.dims;
  moved.dilation.assign(a.dims.size(), 1);
  moved.stride.assign(a.dims.size(), 1);
  for (size_t i = 0; i < a.dims.size(); ++i) {
    const auto dim = static_cast<size_t>(a.dims[i]);
    const PoolPhases phases{dim, extents[dim], p.shape(g)[dim], a.size[i], a.stride[i], before[dim]};
    low[dim] = -phases.least();
    high[dim] = phases.phases() + phases.reach() - 1 - phases.windows - low[dim];
    moved.size.push_back(phases.reach());
    dims.push_back(phases);
  }
  // [..., phases, stride, ..., reach...]: windows of what was given, once for each place between two windows.
  Shape split, repeated;
  std::vector<size_t> placeDims(dims.size());
  for (size_t dim = 0; dim < extents.size(); ++dim) {
    const auto pooled = std::ranges::find(dims, dim, &PoolPhases::dim);
    split.push_back(pooled == dims.end() ? extents[dim] : pooled->phases());
    if (pooled == dims.end())
      continue;
    placeDims[static_cast<size_t>(pooled - dims.begin())] = split.size();
    split.push_back(1);
  }
  repeated = split;
  std::vector<int64_t> reached;
  for (size_t i = 0; i < dims.size(); ++i) {
    repeated[placeDims[i]] = dims[i].stride;
    reached.push_back(static_cast<int64_t>(split.size()));
    split.push_back(dims[i].reach());
    repeated.push_back(dims[i].reach());
  }
  const auto windowsAt = [&](NodeId x) {
    return p.expand(p.reshape(p.emit(Op::Window, {{p.pad(x, low, high)}}, moved), split), repeated);
  };
  // One byte each, where that counts far enough; what is no place of a window is one more than what none has.
  const NodeId chosen = windowsAt(count < 255 ? p.cast(first, DType::U8) : first), given = windowsAt(g);
  const TensorType numbers{DType::I32, repeated};
  NodeId place = p.zeros(numbers), isPlace = p.fill({DType::Bool, repeated}, 1);
  int64_t step = count;
  for (size_t i = 0; i < dims.size(); ++i) {
    step /= dims[i].size;
    const NodeId at =
        p.add(p.iota(numbers, static_cast<int64_t>(placeDims[i])),
              p.add(p.scale(p.iota(numbers, reached[i]), -static_cast<double>(dims[i].stride)),
                    p.fill(numbers, static_cast<double>(dims[i].padding - dims[i].stride * dims[i].least()))));
    const NodeId isInside = p.binary(BinaryKind::And, p.binary(BinaryKind::Ge, at, p.zeros(numbers)),
                                     p.binary(BinaryKind::Lt, at, p.fill(numbers, static_cast<double>(dims[i].size))));
    isPlace = p.binary(BinaryKind::And, isPlace, isInside);
    place = p.add(place, p.scale(at, static_cast<double>(step)));
  }
  const NodeId wanted = p.select(isPlace, place, p.fill(numbers, static_cast<double>(count + 1)));
  const NodeId mine = p.keepWhere(p.binary(BinaryKind::Eq, p.cast(chosen, DType::I32), wanted), given);
  NodeId sum = p.sum(p.cast(mine, accumulatorType(p.dtype(mine))), reached);
  Shape whole = extents;
  std::vector<int64_t> none(extents.size()), less(extents.size());
  for (const PoolPhases &each : dims) {
    whole[each.dim] = each.phases() * each.stride;
    less[each.dim] = each.extent - whole[each.dim];
  }
  p.give(receiver, p.pad(p.reshape(sum, whole), none, less));
}

/// Of windows over all of their elements, as a pooling makes it: to the first that equals the result, which is what
/// PyTorch's max_pool and cuDNN do; to none where the result is NaN. False where it is no pooling.
static bool poolExtremum(GradientPass &p, NodeId windows, NodeId y, const Node &node, NodeId g) {
  const Node *found = p.visible(windows, Op::Window);
  if (!found || p.isSource(windows))
    return false;
  // Adding nodes moves those of the graph.
  const Attributes a = found->attributes;
  const NodeId image = found->operands[0];
  const Shape extents = p.shape(image), shape = p.shape(windows);
  const auto rank = static_cast<int64_t>(extents.size());
  std::vector<int64_t> elements(a.dims.size());
  std::iota(elements.begin(), elements.end(), rank);
  if (node.attributes.dims != elements)
    return false;
  int64_t count = 1;
  for (int64_t size : a.size)
    count *= size;
  if (count == 0 || count > std::numeric_limits<int32_t>::max())
    return false;

  // The number of each element within its window.
  const auto placesOf = [&](const Shape &all) {
    NodeId sum = p.zeros({DType::I32, all});
    int64_t step = count;
    for (size_t i = 0; i < a.dims.size(); ++i) {
      step /= a.size[i];
      sum = p.add(sum, p.scale(p.iota({DType::I32, all}, elements[i]), static_cast<double>(step)));
    }
    return sum;
  };
  const NodeId isBest = p.binary(BinaryKind::Eq, windows, p.spread(y, elements, shape));
  const NodeId places = placesOf(shape);
  Attributes least;
  least.kind = static_cast<uint8_t>(ReduceKind::Min);
  least.dims = elements;
  const NodeId none = p.fillLike(places, static_cast<double>(count));
  const NodeId first = p.emit(Op::Reduce, {{p.select(isBest, places, none)}}, std::move(least));

  bool overlap = false, isDilated = false;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    overlap |= a.size[i] > 1 && (a.dilation[i] != 1 || a.stride[i] < a.size[i]);
    isDilated |= a.size[i] > 1 && a.dilation[i] != 1;
  }
  if (!overlap || isDilated || count > maxPooled || std::ranges::find(p.shape(y), 0) != p.shape(y).end()) {
    const NodeId isFirst = p.binary(BinaryKind::Eq, places, p.spread(first, elements, shape));
    p.give(windows, p.keepWhere(isFirst, p.spread(g, elements, shape)));
    return true;
  }
  givePooled(p, image, a, first, g, count);
  return true;
}

/// The product of all other elements: of those before and of those behind, so that it is right
/// where elements are zero.
static NodeId productOfOthers(GradientPass &p, NodeId x, const Node &node) {
  const Shape shape = p.shape(x);
  // The dimensions that are multiplied as one, behind the others.
  std::vector<int64_t> order, inverse(shape.size());
  Shape permuted, flat;
  int64_t factors = 1;
  for (bool isReduced : {false, true})
    for (size_t d = 0; d < shape.size(); ++d) {
      const auto dim = static_cast<int64_t>(d);
      if (std::ranges::binary_search(node.attributes.dims, dim) != isReduced)
        continue;
      inverse[d] = static_cast<int64_t>(order.size());
      order.push_back(dim);
      permuted.push_back(shape[d]);
      if (isReduced)
        factors *= shape[d];
      else
        flat.push_back(shape[d]);
    }
  const auto last = static_cast<int64_t>(flat.size());
  flat.push_back(factors);
  const NodeId row = p.reshape(p.permute(x, order), flat);
  const NodeId others =
      p.mul(scan(p, ReduceKind::Mul, row, last, true, false), scan(p, ReduceKind::Mul, row, last, true, true));
  return p.permute(p.reshape(others, std::move(permuted)), std::move(inverse));
}

static void differentiateReduce(GradientPass &p, NodeId y, const Node &node, NodeId g) {
  const NodeId x = node.operands[0];
  const Shape shape = p.shape(x);
  switch (static_cast<ReduceKind>(node.attributes.kind)) {
  case ReduceKind::Add:
    return p.give(x, p.spread(g, node.attributes.dims, shape));
  case ReduceKind::Max:
  case ReduceKind::Min:
    if (poolExtremum(p, x, y, node, g))
      return;
    return p.give(x, shareExtremum(p, x, y, node, g));
  case ReduceKind::Mul:
    return p.give(x, p.mul(p.spread(g, node.attributes.dims, shape), productOfOthers(p, x, node)));
  case ReduceKind::And:
  case ReduceKind::Or:
    // Not of floats.
    return;
  }
}

/// x, `distance` elements earlier along `dim`, with zeros behind.
static NodeId earlier(GradientPass &p, NodeId x, size_t dim, int64_t distance) {
  return p.padDim(x, dim, -distance, distance);
}

/// Of an inclusive product: what stands before element i times S_i, where
/// S_i = g_i + x_(i+1) S_(i+1) and S is zero behind the end. The recurrence is solved in a
/// logarithmic number of steps, each of which joins intervals of twice the length: nothing is
/// divided, so that zeros among the elements are as good as others, in higher orders too.
static NodeId scanProduct(GradientPass &p, NodeId x, size_t dim, NodeId g) {
  const int64_t extent = p.shape(x)[dim];
  NodeId sum = g, factor = earlier(p, x, dim, 1);
  for (int64_t length = 1; length < extent; length *= 2) {
    sum = p.add(sum, p.mul(factor, earlier(p, sum, dim, length)));
    if (length * 2 < extent)
      factor = p.mul(factor, earlier(p, factor, dim, length));
  }
  return p.mul(scan(p, ReduceKind::Mul, x, static_cast<int64_t>(dim), true, false), sum);
}

/// Of an inclusive maximum or minimum: to the last of the elements so far that equal it.
static NodeId scanExtremum(GradientPass &p, ReduceKind kind, NodeId x, size_t dim, NodeId g) {
  const TensorType type = p.type(x);
  const NodeId y = scan(p, kind, x, static_cast<int64_t>(dim), false, false);
  // Nothing comes from NaN.
  g = p.keepWhere(p.binary(BinaryKind::Eq, y, y), g);
  const TensorType places{DType::I64, type.shape};
  const NodeId place = p.iota(places, static_cast<int64_t>(dim));
  const NodeId isLast = p.binary(BinaryKind::Eq, x, y);
  const NodeId from = scan(p, ReduceKind::Max, p.keepWhere(isLast, place), static_cast<int64_t>(dim), false, false);
  return p.scatterAlong(from, g, dim);
}

static void differentiateScan(GradientPass &p, const Node &node, NodeId g) {
  const NodeId operand = node.operands[0];
  const auto dim = static_cast<size_t>(node.attributes.dims[0]);
  const auto kind = static_cast<ReduceKind>(node.attributes.kind);
  if (kind == ReduceKind::Add)
    return p.give(operand,
                  scan(p, kind, g, static_cast<int64_t>(dim), node.attributes.exclusive, !node.attributes.reverse));
  if (p.shape(operand)[dim] == 0)
    return p.give(operand, g);
  // A scan from the end is one of the flipped operand, and an exclusive one is an inclusive one
  // whose results stand one place further on.
  std::vector<int64_t> flipped;
  if (node.attributes.reverse)
    flipped.push_back(static_cast<int64_t>(dim));
  const NodeId x = p.flip(operand, flipped);
  g = p.flip(g, flipped);
  if (node.attributes.exclusive)
    g = earlier(p, g, dim, 1);
  g = kind == ReduceKind::Mul ? scanProduct(p, x, dim, g) : scanExtremum(p, kind, x, dim, g);
  p.give(operand, p.flip(g, std::move(flipped)));
}

void differentiateReduction(GradientPass &pass, NodeId id, const Node &node, NodeId g) {
  if (node.op == Op::Reduce)
    differentiateReduce(pass, id, node, g);
  else
    differentiateScan(pass, node, g);
}

} // namespace zyx::graph
