//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Activations.h"
#include "Compose.h"
#include "zyx/Tensor/Functions.h"

#include <numbers>

using namespace zyx;
using namespace zyx::detail;

Tensor zyx::leakyRelu(const Tensor &x, double slope, Place where) {
  const At at{where};
  return widely(x, "leakyRelu", where,
                [&](const Tensor &t) { return zyx::where(at(t) > at(0), at(t), at(at(t) * at(slope))); });
}

/// scale (e^(x / alpha) - 1) where x is not above 0. The power of large x, which is infinite, is not computed: its
/// gradient would be NaN.
static Tensor exponentialUnit(const Tensor &x, double scale, double alpha, const Place &where) {
  const At at{where};
  const Tensor isAbove = at(x) > at(0), below = zyx::where(isAbove, at(0), at(x));
  const Tensor curve = at((alpha == 1 ? below : at(below) / at(alpha)).expm1(where)) * at(scale);
  return zyx::where(isAbove, at(x), at(curve));
}

Tensor zyx::elu(const Tensor &x, double alpha, Place where) {
  return widely(x, "elu", where, [&](const Tensor &t) { return exponentialUnit(t, alpha, 1, where); });
}

Tensor zyx::celu(const Tensor &x, double alpha, Place where) {
  if (alpha == 0)
    refuse("celu: an alpha of 0 divides by it", where);
  return widely(x, "celu", where, [&](const Tensor &t) { return exponentialUnit(t, alpha, alpha, where); });
}

/// Klambauer, Unterthiner, Mayr, Hochreiter, "Self-normalizing neural networks", 2017.
Tensor zyx::selu(const Tensor &x, Place where) {
  const At at{where};
  constexpr double alpha = 1.6732632423543772848, scale = 1.0507009873554804934;
  return widely(x, "selu", where, [&](const Tensor &t) { return at(exponentialUnit(t, alpha, 1, where)) * at(scale); });
}

Tensor zyx::geluTanh(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "geluTanh", where, [&](const Tensor &t) -> Tensor {
    const Tensor cubic = at(at(at(t) * at(t)) * at(0.044715)) + at(1);
    const Tensor inner = at(at(t) * at(cubic)) * at(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
    return at(at(t) * at(0.5)) * at(at(inner.tanh(where)) + at(1));
  });
}

Tensor zyx::quickGelu(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "quickGelu", where, [&](const Tensor &t) { return at(t) * at((at(t) * at(1.702)).sigmoid(where)); });
}

/// max(x, 0) + log(1 + e^-|x|): at 0 the slopes of both, a half and none, are its own.
static Tensor smoothRelu(const Tensor &x, const Place &where) {
  const At at{where};
  return at(maximum(at(x), at(0))) + at(log1p(x.abs(where).neg(where).exp(where), where));
}

Tensor zyx::softplus(const Tensor &x, double beta, Place where) {
  if (!(beta > 0))
    refuse("softplus: a beta of " + std::to_string(beta) + " is not positive", where);
  const At at{where};
  return widely(x, "softplus", where, [&](const Tensor &t) -> Tensor {
    return beta == 1 ? smoothRelu(t, where) : at(smoothRelu(at(t) * at(beta), where)) / at(beta);
  });
}

Tensor zyx::mish(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "mish", where, [&](const Tensor &t) { return at(t) * at(smoothRelu(t, where).tanh(where)); });
}

Tensor zyx::hardSigmoid(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "hardSigmoid", where,
                [&](const Tensor &t) { return clamp(at(at(t) / at(6)) + at(0.5), at(0), at(1)); });
}
