//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Selection.h"
#include "Compose.h"
#include "zyx/Tensor/Indexing.h"
#include "zyx/Tensor/Sorting.h"

using namespace zyx;
using namespace zyx::detail;

namespace {
/// Where elements of a mask of one dimension go, -1 for those that do not hold, and how many hold.
struct Places {
  Tensor places, count;
};
} // namespace

static Places placesOf(const Tensor &mask, const Place &where) {
  const At at{where};
  const Tensor ones = mask.cast(DType::I64, where);
  const Tensor before = cumsum(ones, 0, {.exclusive = true}, where);
  return {zyx::where(mask, at(before), at(-1)), ones.sum({}, false, where)};
}

static void expectMask(const Tensor &mask, std::string_view function, const Place &where) {
  expectTensor(mask, function, where);
  if (mask.dtype() != DType::Bool)
    refuse(std::string(function) + ": a mask of type " + toString(mask.type()) + " is not of bools", where);
}

static Tensor filled(const Tensor &beside, Shape shape, double value, DType dtype, const Place &where) {
  return expandTo(constantLike(beside, value, dtype, where), shape, where);
}

Tensor Padded::trim(Place where) const {
  expectTensor(values, "trim", where);
  const Tensor both[] = {values, count};
  realize(both, where);
  std::vector<Slice> slices(dim + 1);
  slices[dim] = {0, count.item<int64_t>(where)};
  return values.slice(std::move(slices), where);
}

Padded zyx::nonzero(const Tensor &x, Place where) {
  expectTensor(x, "nonzero", where);
  const At at{where};
  const int64_t elements = x.numel();
  const auto [places, count] = placesOf(x.cast(DType::Bool, where).reshape({elements}, where), where);
  const Tensor own = positionsIn(x, {elements}, 0, where);
  const Tensor flat = scatter(filled(x, {elements}, -1, DType::I64, where), places, own, 0, ScatterMode::Set, where);
  if (x.rank() == 0)
    return {flat.reshape({elements, 1}, where).slice({{}, {0, 0}}, where), count};
  std::vector<Tensor> columns(x.rank());
  const Tensor isNone = at(flat) < at(0);
  Tensor rest = flat;
  for (int64_t dim = x.rank() - 1; dim >= 0; --dim) {
    const int64_t extent = std::max<int64_t>(x.shape()[dim], 1);
    columns[dim] = zyx::where(isNone, at(-1), dim == 0 ? at(rest) : at(at(rest) % at(extent)));
    rest = at(rest) / at(extent);
  }
  return {stack(columns, 1, where), count};
}

Padded zyx::maskedSelect(const Tensor &x, const Tensor &mask, Place where) {
  expectTensor(x, "maskedSelect", where);
  expectMask(mask, "maskedSelect", where);
  const std::optional<Shape> shape = broadcast(x.shape(), mask.shape());
  if (!shape)
    refuse("maskedSelect: shapes " + toString(x.shape()) + " and " + toString(mask.shape()) + " do not broadcast",
           where);
  const Tensor all = expandTo(x, *shape, where).flatten(0, -1, where);
  return compress(all, expandTo(mask, *shape, where).flatten(0, -1, where), 0, where);
}

Padded zyx::compress(const Tensor &x, const Tensor &mask, int64_t dim, Place where) {
  expectTensor(x, "compress", where);
  expectMask(mask, "compress", where);
  dim = dimension(dim, x.rank(), "compress", where);
  if (mask.shape() != Shape{x.shape()[dim]})
    refuse("compress: a mask of shape " + toString(mask.shape()) + " for dimension " + std::to_string(dim) + " of " +
               toString(x.shape()),
           where);
  const auto [places, count] = placesOf(mask, where);
  return {scatter(filled(x, x.shape(), 0, x.dtype(), where), places, x, dim, ScatterMode::Set, where), count, dim};
}

/// In order, elements that differ from the one before are those that are asked for.
Unique zyx::unique(const Tensor &x, Place where) {
  expectTensor(x, "unique", where);
  const At at{where};
  const int64_t elements = x.numel();
  const Tensor flat = x.reshape({elements}, where), order = argsort(flat, 0, false, where);
  const Tensor sorted = take(flat, order, 0, where);
  const Tensor isFirst = at(positionsIn(x, {elements}, 0, where)) == at(0);
  const Tensor isNew = at(isFirst) | at(at(sorted) != at(roll(sorted, {1}, {0}, where)));
  const auto [places, count] = placesOf(isNew, where);
  const Tensor which = at(cumsum(isNew.cast(DType::I64, where), 0, {}, where)) - at(1);
  const Tensor none = filled(x, {elements}, 0, DType::I64, where), one = filled(x, {elements}, 1, DType::I64, where);
  Unique result;
  result.values = {scatter(filled(x, {elements}, 0, x.dtype(), where), places, sorted, 0, ScatterMode::Set, where),
                   count};
  result.inverse = scatter(none, order, which, 0, ScatterMode::Set, where).reshape(x.shape(), where);
  result.counts = scatter(none, which, one, 0, ScatterMode::Add, where);
  return result;
}
