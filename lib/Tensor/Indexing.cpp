//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Indexing.h"

#include "Compose.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::detail;
using graph::ScatterKind;

//===----------------------------------------------------------------------===//
// Elements at positions
//===----------------------------------------------------------------------===//

/// The shape of positions along `dim` of `x`, with the other dimensions of x, to which they expand.
static Shape alongShape(const Shape &x, const Shape &positions, int64_t dim) {
  Shape shape = x;
  shape[dim] = positions[dim];
  return shape;
}

/// Positions along a dimension as positions in the flattened tensor of shape `x`; -1 for what is none.
static Tensor flatPositions(const Tensor &positions, const Shape &x, int64_t dim, const Place &where) {
  const At at{where};
  const Shape shape = alongShape(x, positions.shape(), dim);
  const Tensor own = expandTo(positions.cast(DType::I64, where), shape, where);
  Tensor flat;
  int64_t step = 1;
  for (int64_t i = static_cast<int64_t>(x.size()) - 1; i >= 0; step *= x[i--]) {
    const Tensor part = at(i == dim ? own : positionsIn(positions, shape, i, where)) * at(step);
    flat = flat.isDefined() ? at(flat) + at(part) : part;
  }
  const Tensor exists = at(at(own) >= at(0)) & at(at(own) < at(x[dim]));
  return zyx::where(exists, at(flat), at(-1));
}

static void expectPositions(const Tensor &x, const Tensor &positions, std::string_view function, const Place &where) {
  expectTensor(x, function, where);
  expectTensor(positions, function, where);
  if (!isInteger(positions.dtype()))
    refuse(std::string(function) + ": positions are of dtype " + std::string(toString(positions.dtype())) +
               ", which is no integer",
           where);
}

Tensor zyx::takeAlongAxis(const Tensor &x, const Tensor &positions, int64_t dim, Place where) {
  expectPositions(x, positions, "takeAlongAxis", where);
  dim = dimension(dim, x.rank(), "takeAlongAxis", where);
  std::optional<Shape> shape;
  if (x.rank() == positions.rank()) {
    // The dimension itself takes no part.
    Shape others = x.shape();
    others[dim] = 1;
    shape = broadcast(others, positions.shape());
  }
  if (!shape)
    refuse("takeAlongAxis: positions of shape " + toString(positions.shape()) + " along dimension " +
               std::to_string(dim) + " of " + toString(x.shape()),
           where);
  const Tensor own = expandTo(positions, *shape, where);
  (*shape)[dim] = x.shape()[dim];
  const Tensor all = expandTo(x, *shape, where);
  return take(all.reshape({all.numel()}, where), flatPositions(own, *shape, dim, where), 0, where);
}

Tensor zyx::scatter(const Tensor &x, const Tensor &positions, const Tensor &updates, int64_t dim, ScatterMode mode,
                    Place where) {
  expectPositions(x, positions, "scatter", where);
  graph::Attributes attributes;
  attributes.dims = {dimension(dim, x.rank(), "scatter", where)};
  constexpr ScatterKind kinds[] = {ScatterKind::Set, ScatterKind::Add, ScatterKind::Max, ScatterKind::Min,
                                   ScatterKind::Mul};
  attributes.kind = static_cast<uint8_t>(kinds[static_cast<size_t>(mode)]);
  return makeNode(Op::Scatter, {x, positions, updates}, std::move(attributes), where);
}

Tensor zyx::indexAdd(const Tensor &x, const Tensor &positions, const Tensor &updates, int64_t dim, Place where) {
  return scatter(x, positions, updates, dim, ScatterMode::Add, where);
}

Tensor zyx::putAlongAxis(const Tensor &x, const Tensor &positions, const Tensor &updates, int64_t dim, ScatterMode mode,
                         Place where) {
  expectPositions(x, positions, "putAlongAxis", where);
  expectTensor(updates, "putAlongAxis", where);
  dim = dimension(dim, x.rank(), "putAlongAxis", where);
  const bool hasRank = x.rank() == positions.rank();
  const Shape shape = hasRank ? alongShape(x.shape(), positions.shape(), dim) : Shape();
  if (!hasRank || broadcast(positions.shape(), shape) != shape || broadcast(updates.shape(), shape) != shape)
    refuse("putAlongAxis: positions of shape " + toString(positions.shape()) + " and updates of shape " +
               toString(updates.shape()) + " along dimension " + std::to_string(dim) + " of " + toString(x.shape()),
           where);
  const Tensor flat = scatter(x.reshape({x.numel()}, where), flatPositions(positions, x.shape(), dim, where),
                              expandTo(updates, shape, where), 0, mode, where);
  return flat.reshape(x.shape(), where);
}

Tensor zyx::maskedFill(const Tensor &x, const Tensor &mask, Operand value) {
  expectTensor(x, "maskedFill", value.where);
  expectTensor(mask, "maskedFill", value.where);
  if (broadcast(mask.shape(), x.shape()) != x.shape())
    refuse("maskedFill: a mask of shape " + toString(mask.shape()) + " does not expand to " + toString(x.shape()),
           value.where);
  return zyx::where(mask, value, {x, value.where});
}

static Tensor triangle(const Tensor &x, int64_t diagonal, bool lower, std::string_view function, const Place &where) {
  expectTensor(x, function, where);
  if (x.rank() < 2)
    refuse(std::string(function) + ": a tensor of rank " + std::to_string(x.rank()) + " has no matrices", where);
  const At at{where};
  const Shape shape(x.shape().end() - 2, x.shape().end());
  const Tensor column = positionsIn(x, shape, 1, where);
  // Further to a side there is nothing more to keep, or to cut off.
  const int64_t reached = std::clamp(diagonal, -shape[0] - 1, shape[1] + 1);
  const Tensor last = at(positionsIn(x, shape, 0, where)) + at(reached);
  return zyx::where(lower ? at(column) <= at(last) : at(column) >= at(last), at(x), at(0));
}

Tensor zyx::tril(const Tensor &x, int64_t diagonal, Place where) { return triangle(x, diagonal, true, "tril", where); }
Tensor zyx::triu(const Tensor &x, int64_t diagonal, Place where) { return triangle(x, diagonal, false, "triu", where); }

//===----------------------------------------------------------------------===//
// Copies and pieces
//===----------------------------------------------------------------------===//

/// From `start` up to `stop` along one dimension.
static Tensor cut(const Tensor &x, int64_t dim, int64_t start, int64_t stop, const Place &where) {
  std::vector<Slice> slices(dim + 1);
  slices[dim] = {start, stop};
  return x.slice(std::move(slices), where);
}

Tensor zyx::narrow(const Tensor &x, int64_t dim, int64_t start, int64_t length, Place where) {
  expectTensor(x, "narrow", where);
  dim = dimension(dim, x.rank(), "narrow", where);
  const int64_t extent = x.shape()[dim], from = start < 0 ? start + extent : start;
  if (from < 0 || length < 0 || from > extent || length > extent - from)
    refuse("narrow: dimension " + std::to_string(dim) + " of " + toString(x.shape()) + " has no " +
               std::to_string(length) + " elements from " + std::to_string(start) + " on",
           where);
  return cut(x, dim, from, from + length, where);
}

/// The diagonal of the last two dimensions n x n is the first column of n x (n + 1), where n more elements
/// stand at the end: no element moves.
Tensor zyx::diagonal(const Tensor &x, int64_t offset, int64_t a, int64_t b, Place where) {
  expectTensor(x, "diagonal", where);
  a = dimension(a, x.rank(), "diagonal", where);
  b = dimension(b, x.rank(), "diagonal", where);
  if (a == b)
    refuse("diagonal: dimension " + std::to_string(a) + " is named twice", where);
  Dims order;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (dim != a && dim != b)
      order.push_back(dim);
  order.insert(order.end(), {a, b});
  const Tensor last = x.permute(order, where);
  // Beyond the corners there is nothing.
  const int64_t down = std::clamp<int64_t>(-std::max(offset, -INT64_MAX), 0, x.shape()[a]);
  const int64_t right = std::clamp<int64_t>(offset, 0, x.shape()[b]);
  const int64_t n = std::min(x.shape()[a] - down, x.shape()[b] - right);
  const Tensor square =
      cut(cut(last, -2 + last.rank(), down, down + n, where), -1 + last.rank(), right, right + n, where);
  Shape flat(square.shape().begin(), square.shape().end() - 2), wider = flat;
  flat.push_back(n * n);
  wider.insert(wider.end(), {n, n + 1});
  Dims low = Dims::repeated(flat.size(), 0), high = low;
  high.back() = n;
  return square.reshape(flat, where).pad(low, high, 0, where).reshape(wider, where).select(-1, 0, where);
}

static void expectCount(int64_t count, std::string_view function, const Place &where) {
  if (count < 0)
    refuse(std::string(function) + ": there are no " + std::to_string(count) + " copies", where);
}

Tensor zyx::repeat(const Tensor &x, Dims counts, Place where) {
  expectTensor(x, "repeat", where);
  if (static_cast<int64_t>(counts.size()) < x.rank())
    refuse("repeat: " + std::to_string(counts.size()) + " counts for a tensor of rank " + std::to_string(x.rank()),
           where);
  // Each dimension as one of copies and one of elements.
  const size_t added = counts.size() - x.rank();
  Shape before, apart;
  for (size_t i = 0; i < counts.size(); ++i) {
    expectCount(counts[i], "repeat", where);
    const int64_t extent = i < added ? 1 : x.shape()[i - added];
    before.insert(before.end(), {1, extent});
    apart.insert(apart.end(), {counts[i], extent});
  }
  // Where there are too many of them, this refuses.
  const Tensor copies = expandTo(x.reshape(before, where), apart, where);
  Shape after;
  for (size_t i = 0; i < apart.size(); i += 2)
    after.push_back(apart[i] * apart[i + 1]);
  return copies.reshape(after, where);
}

Tensor zyx::repeatInterleave(const Tensor &x, int64_t count, int64_t dim, Place where) {
  expectTensor(x, "repeatInterleave", where);
  expectCount(count, "repeatInterleave", where);
  dim = dimension(dim, x.rank(), "repeatInterleave", where);
  Shape apart = x.shape();
  apart.insert(apart.begin() + dim + 1, count);
  return expandTo(x.unsqueeze(dim + 1, where), apart, where).flatten(dim, dim + 1, where);
}

Tensor zyx::pad(const Tensor &x, Dims low, Dims high, PadMode mode, Place where) {
  expectTensor(x, "pad", where);
  if (static_cast<int64_t>(low.size()) != x.rank() || low.size() != high.size())
    refuse("pad: " + std::to_string(low.size()) + " and " + std::to_string(high.size()) +
               " amounts for a tensor of rank " + std::to_string(x.rank()),
           where);
  Tensor result = x;
  for (int64_t dim = 0; dim < x.rank(); ++dim) {
    const int64_t n = x.shape()[dim], before = low[dim], behind = high[dim];
    const int64_t most = mode == PadMode::Reflect ? n - 1 : mode == PadMode::Circular ? n : n == 0 ? 0 : INT64_MAX;
    if (before == 0 && behind == 0)
      continue;
    if (before < 0 || behind < 0 || std::max(before, behind) > most)
      refuse("pad: dimension " + std::to_string(dim) + " of " + toString(x.shape()) + " does not show " +
                 std::to_string(before) + " and " + std::to_string(behind) + " elements around it",
             where);
    const auto piece = [&](int64_t start, int64_t count) { return cut(result, dim, start, start + count, where); };
    const auto copies = [&](int64_t start, int64_t count) {
      Shape shape = result.shape();
      shape[dim] = count;
      return expandTo(piece(start, 1), shape, where);
    };
    std::vector<Tensor> parts = {result};
    if (mode == PadMode::Reflect)
      parts = {piece(1, before).flip({dim}, where), result, piece(n - 1 - behind, behind).flip({dim}, where)};
    else if (mode == PadMode::Circular)
      parts = {piece(n - before, before), result, piece(0, behind)};
    else
      parts = {copies(0, before), result, copies(n - 1, behind)};
    result = concat(parts, dim, where);
  }
  return result;
}

Tensor zyx::stack(Tensors parts, int64_t dim, Place where) {
  std::vector<Tensor> grown;
  for (const Tensor &part : parts) {
    expectTensor(part, "stack", where);
    if (part.shape() != parts.front().shape())
      refuse("stack: shapes " + toString(parts.front().shape()) + " and " + toString(part.shape()) + " differ", where);
    grown.push_back(part.unsqueeze(dim, where));
  }
  if (grown.empty())
    refuse("stack: there are no tensors", where);
  return concat(grown, dim, where);
}

std::vector<Tensor> zyx::split(const Tensor &x, int64_t size, int64_t dim, Place where) {
  expectTensor(x, "split", where);
  dim = dimension(dim, x.rank(), "split", where);
  if (size <= 0)
    refuse("split: pieces of " + std::to_string(size) + " elements", where);
  std::vector<Tensor> pieces;
  const int64_t extent = x.shape()[dim];
  for (int64_t start = 0; start < extent; start += std::min(size, extent - start))
    pieces.push_back(cut(x, dim, start, start + std::min(size, extent - start), where));
  return pieces;
}

std::vector<Tensor> zyx::splitSizes(const Tensor &x, Dims sizes, int64_t dim, Place where) {
  expectTensor(x, "splitSizes", where);
  dim = dimension(dim, x.rank(), "splitSizes", where);
  int64_t left = x.shape()[dim];
  for (const int64_t size : sizes)
    left = size < 0 || size > left ? -1 : left - size;
  if (left != 0)
    refuse("splitSizes: pieces of extents " + toString(sizes) + " do not fill dimension " + std::to_string(dim) +
               " of " + toString(x.shape()),
           where);
  std::vector<Tensor> pieces;
  int64_t start = 0;
  for (const int64_t size : sizes) {
    pieces.push_back(cut(x, dim, start, start + size, where));
    start += size;
  }
  return pieces;
}

Tensor zyx::roll(const Tensor &x, Dims shifts, Dims dims, Place where) {
  expectTensor(x, "roll", where);
  if (shifts.size() != dims.size())
    refuse("roll: " + std::to_string(shifts.size()) + " shifts of " + std::to_string(dims.size()) + " dimensions",
           where);
  Tensor result = x;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = dimension(dims[i], x.rank(), "roll", where), extent = x.shape()[dim];
    if (extent == 0 || shifts[i] % extent == 0)
      continue;
    const int64_t kept = (extent - shifts[i] % extent) % extent;
    const Tensor parts[] = {cut(result, dim, kept, extent, where), cut(result, dim, 0, kept, where)};
    result = concat(parts, dim, where);
  }
  return result;
}
