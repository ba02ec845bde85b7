//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Sorting.h"

#include "Compose.h"

using namespace zyx;
using namespace zyx::detail;
using graph::ReduceKind;
using graph::SortKind;

static Tensor scan(ReduceKind kind, std::string_view function, const Tensor &x, int64_t dim, ScanOptions options,
                   const Place &where) {
  expectTensor(x, function, where);
  graph::Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  attributes.dims = {dimension(dim, x.rank(), function, where)};
  attributes.exclusive = options.exclusive;
  attributes.reverse = options.reverse;
  return makeNode(Op::Scan, {x}, std::move(attributes), where);
}

Tensor zyx::cumsum(const Tensor &x, int64_t dim, ScanOptions options, Place where) {
  expectTensor(x, "cumsum", where);
  return scan(ReduceKind::Add, "cumsum", withRoom(x, where), dim, options, where);
}
Tensor zyx::cumprod(const Tensor &x, int64_t dim, ScanOptions options, Place where) {
  expectTensor(x, "cumprod", where);
  return scan(ReduceKind::Mul, "cumprod", withRoom(x, where), dim, options, where);
}
Tensor zyx::cummax(const Tensor &x, int64_t dim, ScanOptions options, Place where) {
  return scan(ReduceKind::Max, "cummax", x, dim, options, where);
}
Tensor zyx::cummin(const Tensor &x, int64_t dim, ScanOptions options, Place where) {
  return scan(ReduceKind::Min, "cummin", x, dim, options, where);
}

static Tensor order(SortKind kind, std::string_view function, const Tensor &x, int64_t dim, bool descending,
                    const Place &where) {
  expectTensor(x, function, where);
  graph::Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  attributes.dims = {dimension(dim, x.rank(), function, where)};
  attributes.reverse = descending;
  return makeNode(Op::Sort, {x}, std::move(attributes), where);
}

Tensor zyx::sort(const Tensor &x, int64_t dim, bool descending, Place where) {
  return order(SortKind::Values, "sort", x, dim, descending, where);
}
Tensor zyx::argsort(const Tensor &x, int64_t dim, bool descending, Place where) {
  return order(SortKind::Indices, "argsort", x, dim, descending, where);
}

Ranked zyx::topk(const Tensor &x, int64_t k, int64_t dim, bool largest, Place where) {
  expectTensor(x, "topk", where);
  dim = dimension(dim, x.rank(), "topk", where);
  if (k < 0 || k > x.shape()[dim])
    refuse("topk: dimension " + std::to_string(dim) + " of " + toString(x.shape()) + " has no " + std::to_string(k) +
               " best elements",
           where);
  std::vector<Slice> first(dim + 1);
  first[dim] = {0, k};
  return {sort(x, dim, largest, where).slice(first, where), argsort(x, dim, largest, where).slice(first, where)};
}
