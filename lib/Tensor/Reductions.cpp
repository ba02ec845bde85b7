//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Reductions, and what is made of them.
//===----------------------------------------------------------------------===//
#include "Compose.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::detail;
using graph::ReduceKind;

Tensor zyx::detail::unsqueezeReduced(const Tensor &reduced, const Tensor &x, const Dims &dims, bool keepDims,
                                     const Place &where) {
  if (!keepDims)
    return reduced;
  Shape shape = x.shape();
  for (int64_t dim : dims)
    shape[dim] = 1;
  return reduced.reshape(std::move(shape), where);
}

static Tensor reduce(ReduceKind kind, std::string_view function, const Tensor &x, const Dims &dims, bool keepDims,
                     const Place &where) {
  expectTensor(x, function, where);
  const Dims all = dimensions(dims, x.rank(), function, where);
  if (all.empty())
    return x;
  return unsqueezeReduced(makeReduce(kind, x, all, where), x, all, keepDims, where);
}

/// Integers in which sums and products of small ones have room.
Tensor zyx::detail::withRoom(const Tensor &x, const Place &where) {
  if (x.dtype() == DType::Bool || (isSignedInteger(x.dtype()) && byteSize(x.dtype()) < 4))
    return x.cast(DType::I32, where);
  return isUnsignedInteger(x.dtype()) && byteSize(x.dtype()) < 4 ? x.cast(DType::U32, where) : x;
}

Tensor Tensor::sum(Dims dims, bool keepDims, Place where) const {
  return reduce(ReduceKind::Add, "sum", withRoom(*this, where), dims, keepDims, where);
}
Tensor Tensor::prod(Dims dims, bool keepDims, Place where) const {
  return reduce(ReduceKind::Mul, "prod", withRoom(*this, where), dims, keepDims, where);
}
Tensor Tensor::max(Dims dims, bool keepDims, Place where) const {
  return reduce(ReduceKind::Max, "max", *this, dims, keepDims, where);
}
Tensor Tensor::min(Dims dims, bool keepDims, Place where) const {
  return reduce(ReduceKind::Min, "min", *this, dims, keepDims, where);
}

void zyx::detail::expectFloat(const Tensor &x, std::string_view function, const Place &where) {
  if (!x.isDefined() || !isFloat(x.dtype()))
    refuse(std::string(function) + ": needs a tensor of floats, not of " + std::string(toString(x.dtype())), where);
}

/// Of the dimensions, as a float.
static double elementsOf(const Tensor &x, const Dims &dims) {
  double count = 1;
  for (int64_t dim : dims)
    count *= static_cast<double>(x.shape()[dim]);
  return count;
}

/// f16 and bf16 in f32: a sum may overflow where the mean does not.
Tensor zyx::detail::wide(const Tensor &x, const Place &where) {
  return byteSize(x.dtype()) < 4 ? x.cast(DType::F32, where) : x;
}

Tensor Tensor::mean(Dims dims, bool keepDims, Place where) const {
  expectFloat(*this, "mean", where);
  const Dims all = dimensions(dims, rank(), "mean", where);
  const Tensor total = wide(*this, where).sum(all, keepDims, where);
  return (Operand(total, where) / Operand(elementsOf(*this, all), where)).cast(dtype(), where);
}

Tensor Tensor::var(Dims dims, bool keepDims, double correction, Place where) const {
  expectFloat(*this, "var", where);
  const Dims all = dimensions(dims, rank(), "var", where);
  const Tensor x = wide(*this, where);
  const Tensor distance = Operand(x, where) - Operand(x.mean(all, true, where), where);
  const Tensor total = (Operand(distance, where) * Operand(distance, where)).sum(all, keepDims, where);
  const double freedom = std::max(elementsOf(x, all) - correction, 0.0);
  return (Operand(total, where) / Operand(freedom, where)).cast(dtype(), where);
}

/// The first of the positions in a stable order, in which NaN stands last.
static Tensor firstOf(const Tensor &x, bool largest, int64_t dim, bool keepDims, std::string_view function,
                      const Place &where) {
  expectTensor(x, function, where);
  dim = dimension(dim, x.rank(), function, where);
  const int64_t extent = x.shape()[dim];
  if (extent == 0)
    refuse(std::string(function) + ": dimension " + std::to_string(dim) + " of " + toString(x.shape()) + " is empty",
           where);
  // The smallest position among those of the largest element, or of NaN.
  const Tensor best = largest ? x.max({dim}, true, where) : x.min({dim}, true, where);
  Tensor is = Operand(x, where) == Operand(best, where);
  if (isFloat(x.dtype()))
    is = Operand(is, where) | Operand(Operand(x, where) != Operand(x, where), where);
  return zyx::where(is, {positionsIn(x, x.shape(), dim, where), where}, {extent, where}).min({dim}, keepDims, where);
}

Tensor Tensor::argmax(int64_t dim, bool keepDims, Place where) const {
  return firstOf(*this, true, dim, keepDims, "argmax", where);
}
Tensor Tensor::argmin(int64_t dim, bool keepDims, Place where) const {
  return firstOf(*this, false, dim, keepDims, "argmin", where);
}

/// How far elements are below the largest one along a dimension. What is made of it does not depend on where
/// they are measured from, so that none of its gradients goes through the largest one.
static Tensor belowLargest(const Tensor &x, int64_t dim, const Place &where) {
  const Tensor largest = x.max({dim}, true, where);
  const Tensor constant = makeNode(Op::Bitcast, {largest}, {}, where, largest.type());
  return Operand(x, where) - Operand(constant, where);
}

Tensor Tensor::softmax(int64_t dim, Place where) const {
  expectFloat(*this, "softmax", where);
  const Tensor x = wide(*this, where);
  const Tensor powers = belowLargest(x, dim, where).exp(where);
  return (Operand(powers, where) / Operand(powers.sum({dim}, true, where), where)).cast(dtype(), where);
}

Tensor Tensor::logSoftmax(int64_t dim, Place where) const {
  expectFloat(*this, "logSoftmax", where);
  const Tensor x = wide(*this, where);
  const Tensor distance = belowLargest(x, dim, where);
  const Tensor total = distance.exp(where).sum({dim}, true, where).log(where);
  return (Operand(distance, where) - Operand(total, where)).cast(dtype(), where);
}

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

Tensor zyx::matmul(Operand a, Operand b) {
  const Place where = a.where;
  Pair pair = resolve(a, b, "matmul", /*sameShape=*/false);
  const Shape shapeA = pair.a.shape(), shapeB = pair.b.shape();
  auto fail = [&](const std::string &reason) {
    refuse("matmul: shapes " + toString(shapeA) + " and " + toString(shapeB) + reason, where);
  };
  if (shapeA.empty() || shapeB.empty())
    fail(": a scalar is no matrix");
  const bool isRow = shapeA.size() == 1, isColumn = shapeB.size() == 1;
  Tensor x = isRow ? pair.a.unsqueeze(0, where) : pair.a, y = isColumn ? pair.b.unsqueeze(1, where) : pair.b;
  const int64_t m = x.shape()[x.rank() - 2], k = x.shape().back(), n = y.shape().back();
  if (y.shape()[y.rank() - 2] != k)
    fail(" do not multiply: " + std::to_string(k) + " columns meet " + std::to_string(y.shape()[y.rank() - 2]) +
         " rows");
  const std::optional<Shape> batch =
      broadcast(Shape(x.shape().begin(), x.shape().end() - 2), Shape(y.shape().begin(), y.shape().end() - 2));
  if (!batch)
    fail(": the dimensions before the matrices do not broadcast");
  const DType dtype = x.dtype();
  const DType sums = isFloat(dtype) ? accumulatorType(dtype) : withRoom(x, where).dtype();
  Shape all = *batch;
  all.insert(all.end(), {m, k, n});
  x = expandTo(x.cast(sums, where).unsqueeze(-1, where), all, where);
  y = expandTo(y.cast(sums, where).unsqueeze(-3, where), all, where);
  const int64_t depth = static_cast<int64_t>(all.size()) - 2;
  Tensor result = makeReduce(ReduceKind::Add, makeBinary(graph::BinaryKind::Mul, x, y, where), {depth}, where);
  if (isFloat(dtype))
    result = result.cast(dtype, where);
  if (isColumn)
    result = result.squeeze(Dims{-1}, where);
  return isRow ? result.squeeze(Dims{isColumn ? -1 : -2}, where) : result;
}
