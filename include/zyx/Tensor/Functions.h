//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Functions of elements, and of what reductions leave. Dimensions and `keepDims` mean what they mean for the
/// reductions of Tensor: no dimensions are all.
#ifndef ZYX_TENSOR_FUNCTIONS_H
#define ZYX_TENSOR_FUNCTIONS_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

/// Whether some, or all, elements are not 0, as bools. NaN is not 0.
Tensor any(const Tensor &x, Dims dims = {}, bool keepDims = false, Place where = Place::current());
Tensor all(const Tensor &x, Dims dims = {}, bool keepDims = false, Place where = Place::current());
/// log(sum(exp(x))) without overflow, of floats; -inf of nothing.
Tensor logsumexp(const Tensor &x, Dims dims = {}, bool keepDims = false, Place where = Place::current());
/// sum(|x|^p)^(1/p) of floats; infinite `p` gives the largest |x|, -inf the smallest, and 0 counts what
/// is not 0. f16 and bf16 are added up in f32.
Tensor norm(const Tensor &x, double p = 2, Dims dims = {}, bool keepDims = false, Place where = Place::current());
/// The root of Tensor::var.
Tensor stddev(const Tensor &x, Dims dims = {}, bool keepDims = false, double correction = 1,
              Place where = Place::current());

/// min(max(x, low), high); NaN stays.
Tensor clamp(const Tensor &x, Operand low, Operand high);
/// -1, 0 or 1, of the dtype of x, which is no bool; 0 of NaN.
Tensor sign(const Tensor &x, Place where = Place::current());
// Bools; integers are finite.
Tensor isNan(const Tensor &x, Place where = Place::current());
Tensor isInf(const Tensor &x, Place where = Place::current());
Tensor isFinite(const Tensor &x, Place where = Place::current());
/// floor(a / b), and a - b floor(a / b) with the sign of b: `//` and `%` of Python.
Tensor floorDivide(Operand a, Operand b);
Tensor floorRemainder(Operand a, Operand b);
/// a + weight * (b - a).
Tensor lerp(Operand a, Operand b, Operand weight);
/// Every bit of bools and integers the other way round.
Tensor operator~(Operand a);

// Of floats; f16 and bf16 are f32 inside.
Tensor log10(const Tensor &x, Place where = Place::current());
/// log(1 + x), with all digits near 0.
Tensor log1p(const Tensor &x, Place where = Place::current());
Tensor sinh(const Tensor &x, Place where = Place::current());
Tensor cosh(const Tensor &x, Place where = Place::current());
/// NaN where |x| > 1.
Tensor asin(const Tensor &x, Place where = Place::current());
Tensor acos(const Tensor &x, Place where = Place::current());
Tensor atan(const Tensor &x, Place where = Place::current());
Tensor asinh(const Tensor &x, Place where = Place::current());
/// NaN below 1.
Tensor acosh(const Tensor &x, Place where = Place::current());
/// Infinite at -1 and 1, NaN beyond.
Tensor atanh(const Tensor &x, Place where = Place::current());
/// The angle of the point (x, y), from -pi to pi; -0 counts as negative.
Tensor atan2(Operand y, Operand x);
/// sqrt(a^2 + b^2) without overflow; infinite where either is.
Tensor hypot(Operand a, Operand b);
/// log(e^a + e^b) without overflow.
Tensor logAddExp(Operand a, Operand b);
/// The y with erf(y) = x; infinite at -1 and 1, NaN beyond. Gradients are right up to the second order.
Tensor erfinv(const Tensor &x, Place where = Place::current());
/// Whether floats are negative, -0 and NaN of that sign among them; bools.
Tensor signBit(const Tensor &x, Place where = Place::current());
/// The size of the first one with the sign of the second.
Tensor copySign(Operand size, Operand sign);
/// The next float of the dtype in the direction of another one.
Tensor nextAfter(Operand from, Operand to);
/// x - trunc(x).
Tensor frac(const Tensor &x, Place where = Place::current());
/// x * x, of all numbers.
Tensor square(const Tensor &x, Place where = Place::current());
Tensor deg2rad(const Tensor &x, Place where = Place::current());
Tensor rad2deg(const Tensor &x, Place where = Place::current());

/// What is close to what.
struct Tolerance {
  double relative = 1e-5, absolute = 1e-8;
  /// Whether NaN is close to NaN.
  bool equalNan = false;
};
/// |a - b| <= absolute + relative |b|, or a == b, of floats; bools. Infinity is close to itself alone.
Tensor isClose(Operand a, Operand b, Tolerance tolerance = {});
/// Whether all are close and the shapes are the same; reads the values.
bool allClose(const Tensor &a, const Tensor &b, Tolerance tolerance = {}, Place where = Place::current());
/// sum(a b) / (max(|a|, epsilon) max(|b|, epsilon)) along a dimension, of floats that broadcast.
Tensor cosineSimilarity(const Tensor &a, const Tensor &b, int64_t dim = 1, double epsilon = 1e-8,
                        Place where = Place::current());

/// The bits as elements of another dtype; neither is bool. Of elements of 1/n of the width there are n times as many
/// along the last dimension, the lowest bits first; of wider ones as many fewer.
Tensor bitcast(const Tensor &x, DType dtype, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_FUNCTIONS_H
