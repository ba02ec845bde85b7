//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "smith/Drawer.h"

namespace zyx::smith {

static std::optional<NodeId> drawSoftmax(Drawer &d, NodeId x) {
  if (d.rank(x) == 0 || !isFloat(d.type(x).dtype) || d.isEmpty(x))
    return std::nullopt;
  x = d.arithmetic(x);
  const int64_t dim = d.drawDim(x);
  const int64_t extent = d.shape(x)[static_cast<size_t>(dim)];
  const NodeId largest = d.b.back(d.b.reduce(ReduceKind::Max, x, {dim}), dim, extent);
  const NodeId e = d.b.unary(UnaryKind::Exp, d.b.sub(x, largest));
  return d.b.div(e, d.b.back(d.b.reduce(ReduceKind::Add, e, {dim}), dim, extent));
}

static std::optional<NodeId> drawMatmul(Drawer &d, NodeId x) {
  if (d.rank(x) < 2 || d.rank(x) > 3)
    return std::nullopt;
  x = d.computable(x);
  const Shape left = d.shape(x);
  Shape right = left, result = left;
  right[right.size() - 2] = left.back();
  right.back() = result.back() = 1 + d.random.below(20);
  if (!d.fits(right) || !d.fits(result))
    return std::nullopt;
  const DType dtype = d.type(x).dtype;
  return d.b.matmul(x, d.partner({dtype, right}), accumulatorType(dtype));
}

std::span<const Production> patternProductions() {
  static constexpr Production table[] = {
      {"softmax", 3, drawSoftmax},
      {"matmul", 4, drawMatmul},
  };
  return table;
}

} // namespace zyx::smith
