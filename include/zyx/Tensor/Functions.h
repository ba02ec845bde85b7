//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Functions of elements, and of what reductions leave. Dimensions and `keep` mean what they mean for the
/// reductions of Tensor: no dimensions are all.
#ifndef ZYX_TENSOR_FUNCTIONS_H
#define ZYX_TENSOR_FUNCTIONS_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

/// Whether some, or all, elements are not 0, as bools. NaN is not 0.
Tensor any(const Tensor &x, Dims dims = {}, bool keep = false, Place where = Place::current());
Tensor all(const Tensor &x, Dims dims = {}, bool keep = false, Place where = Place::current());
/// log(sum(exp(x))) without overflow, of floats; -inf of nothing.
Tensor logsumexp(const Tensor &x, Dims dims = {}, bool keep = false, Place where = Place::current());
/// sum(|x|^p)^(1/p) of floats; infinite `p` gives the largest |x|, -inf the smallest, and 0 counts what
/// is not 0. f16 and bf16 are added up in f32.
Tensor norm(const Tensor &x, double p = 2, Dims dims = {}, bool keep = false, Place where = Place::current());
/// The root of Tensor::var.
Tensor stddev(const Tensor &x, Dims dims = {}, bool keep = false, double correction = 1,
              Place where = Place::current());

/// min(max(x, low), high); NaN stays.
Tensor clamp(const Tensor &x, Operand low, Operand high);
/// -1, 0 or 1, of the dtype of x, which is no bool; 0 of NaN.
Tensor sign(const Tensor &x, Place where = Place::current());
// Bools; integers are finite.
Tensor isNan(const Tensor &x, Place where = Place::current());
Tensor isInf(const Tensor &x, Place where = Place::current());
Tensor isFinite(const Tensor &x, Place where = Place::current());
/// a + weight * (b - a).
Tensor lerp(Operand a, Operand b, Operand weight);

} // namespace zyx

#endif // ZYX_TENSOR_FUNCTIONS_H
