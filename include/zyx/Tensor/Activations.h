//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Activations beside those that are members of Tensor. All are of floats, element by element, and compute
// f16 and bf16 in f32.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_ACTIVATIONS_H
#define ZYX_TENSOR_ACTIVATIONS_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

/// x above 0, slope * x elsewhere.
Tensor leakyRelu(const Tensor &x, double slope = 0.01, Place where = Place::current());
/// x above 0, alpha (e^x - 1) elsewhere.
Tensor elu(const Tensor &x, double alpha = 1, Place where = Place::current());
/// x above 0, alpha (e^(x / alpha) - 1) elsewhere; alpha is not 0.
Tensor celu(const Tensor &x, double alpha = 1, Place where = Place::current());
/// 1.0507 elu(x, 1.6733), by constants that keep mean 0 and variance 1 from layer to layer.
Tensor selu(const Tensor &x, Place where = Place::current());
/// gelu by x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
Tensor geluTanh(const Tensor &x, Place where = Place::current());
/// gelu by x sigmoid(1.702 x).
Tensor quickGelu(const Tensor &x, Place where = Place::current());
/// log(1 + e^(beta x)) / beta, without overflow; beta is positive.
Tensor softplus(const Tensor &x, double beta = 1, Place where = Place::current());
/// x tanh(softplus(x)).
Tensor mish(const Tensor &x, Place where = Place::current());
/// x / 6 + 1 / 2, between 0 and 1.
Tensor hardSigmoid(const Tensor &x, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_ACTIVATIONS_H
