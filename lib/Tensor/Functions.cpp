//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Functions.h"

#include "Compose.h"

#include <cmath>
#include <limits>

using namespace zyx;
using namespace zyx::detail;
using graph::ReduceKind;

static constexpr double infinity = std::numeric_limits<double>::infinity();

void zyx::detail::expectTensor(const Tensor &x, std::string_view function, const Place &where) {
  if (!x.isDefined())
    refuse(std::string(function) + ": there is no tensor in this place", where);
}

Tensor zyx::detail::positionsIn(const Tensor &beside, const Shape &shape, int64_t dim, const Place &where,
                                DType dtype) {
  graph::Attributes attributes;
  attributes.dims = {dim};
  return makeIn(stateOf(beside), Op::Iota, {}, std::move(attributes), where, {dtype, shape});
}

//===----------------------------------------------------------------------===//
// Of several elements
//===----------------------------------------------------------------------===//

static Tensor reduceBools(ReduceKind kind, std::string_view function, const Tensor &x, const Dims &dims, bool keepDims,
                          const Place &where) {
  expectTensor(x, function, where);
  const Dims all = dimensions(dims, x.rank(), function, where);
  const Tensor bools = x.cast(DType::Bool, where);
  if (all.empty())
    return bools;
  return unsqueezeReduced(makeReduce(kind, bools, all, where), x, all, keepDims, where);
}

Tensor zyx::any(const Tensor &x, Dims dims, bool keepDims, Place where) {
  return reduceBools(ReduceKind::Or, "any", x, dims, keepDims, where);
}
Tensor zyx::all(const Tensor &x, Dims dims, bool keepDims, Place where) {
  return reduceBools(ReduceKind::And, "all", x, dims, keepDims, where);
}

Tensor zyx::logsumexp(const Tensor &x, Dims dims, bool keepDims, Place where) {
  expectFloat(x, "logsumexp", where);
  const At at{where};
  const Dims all = dimensions(dims, x.rank(), "logsumexp", where);
  if (all.empty())
    return x;
  const Tensor elements = wide(x, where);
  if (x.numel() == 0) // There may be no maximum.
    return elements.exp(where).sum(all, keepDims, where).log(where).cast(x.dtype(), where);
  const Tensor top = elements.max(all, true, where);
  // An infinite maximum is not subtracted: it would leave NaN.
  const Tensor base = zyx::where(isFinite(top, where), at(top), at(0));
  const Tensor sums = (at(elements) - at(base)).exp(where).sum(all, true, where);
  const Tensor result = (at(sums.log(where)) + at(base)).cast(x.dtype(), where);
  return keepDims ? result : result.squeeze(all, where);
}

Tensor zyx::norm(const Tensor &x, double p, Dims dims, bool keepDims, Place where) {
  expectFloat(x, "norm", where);
  const At at{where};
  const Tensor size = wide(x, where).abs(where);
  Tensor result;
  if (p == infinity)
    result = size.max(dims, keepDims, where);
  else if (p == -infinity)
    result = size.min(dims, keepDims, where);
  else if (p == 0)
    result = (at(size) != at(0)).cast(size.dtype(), where).sum(dims, keepDims, where);
  else if (p == 1)
    result = size.sum(dims, keepDims, where);
  else if (p == 2)
    result = (at(size) * at(size)).sum(dims, keepDims, where).sqrt(where);
  else
    result = pow(at(pow(at(size), at(p)).sum(dims, keepDims, where)), at(1 / p));
  return result.cast(x.dtype(), where);
}

Tensor zyx::stddev(const Tensor &x, Dims dims, bool keepDims, double correction, Place where) {
  expectFloat(x, "stddev", where);
  return wide(x, where).var(std::move(dims), keepDims, correction, where).sqrt(where).cast(x.dtype(), where);
}

//===----------------------------------------------------------------------===//
// Of each element
//===----------------------------------------------------------------------===//

Tensor zyx::clamp(const Tensor &x, Operand low, Operand high) {
  const Tensor raised = maximum({x, low.where}, std::move(low));
  return minimum({raised, high.where}, std::move(high));
}

Tensor zyx::sign(const Tensor &x, Place where) {
  expectTensor(x, "sign", where);
  const At at{where};
  if (x.dtype() == DType::Bool)
    refuse("sign: needs numbers, not bools", where);
  const Tensor above = (at(x) > at(0)).cast(x.dtype(), where);
  return isUnsignedInteger(x.dtype()) ? above : at(above) - at((at(x) < at(0)).cast(x.dtype(), where));
}

Tensor zyx::isNan(const Tensor &x, Place where) {
  const At at{where};
  return at(x) != at(x);
}
Tensor zyx::isInf(const Tensor &x, Place where) {
  const At at{where};
  return x.isDefined() && isFloat(x.dtype()) ? at(x.abs(where)) == at(infinity) : at(x) != at(x);
}
Tensor zyx::isFinite(const Tensor &x, Place where) {
  const At at{where};
  return x.isDefined() && isFloat(x.dtype()) ? at(x.abs(where)) < at(infinity) : at(x) == at(x);
}

Tensor zyx::lerp(Operand a, Operand b, Operand weight) {
  return a + Operand(weight * Operand(b - a, a.where), a.where);
}
