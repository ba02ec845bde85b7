//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/NN/Layers.h"

#include "zyx/Base/Random.h"

#include <cmath>
#include <numbers>

using namespace zyx;
using namespace zyx::nn;

//===----------------------------------------------------------------------===//
// First values
//===----------------------------------------------------------------------===//

double InitRng::next() { return static_cast<double>(mixBits(counter += splitMixStep) >> 40) * 0x1p-24; }

template <typename F> Initial InitRng::later(Shape shape, uint64_t perElement, F &&number, const Place &where) {
  const uint64_t count = static_cast<uint64_t>(valueOrThrow(numElements(shape), where));
  const TensorType type{DType::F32, std::move(shape)};
  auto make = [type, count, number, where, at = *this]() mutable {
    std::vector<float> values(count);
    for (float &value : values)
      value = static_cast<float>(number(at));
    return Tensor::from(values, type.shape, where);
  };
  counter += count * perElement * splitMixStep;
  return {type, std::move(make)};
}

Initial InitRng::uniformLater(Shape shape, double low, double high, Place where) {
  return later(std::move(shape), 1, [low, high](InitRng &rng) { return low + (high - low) * rng.next(); }, where);
}

/// By Box and Muller: two uniform numbers for each.
Initial InitRng::normalLater(Shape shape, double mean, double deviation, Place where) {
  auto number = [mean, deviation](InitRng &rng) {
    const double radius = std::sqrt(-2 * std::log(1 - rng.next()));
    return mean + deviation * radius * std::cos(2 * std::numbers::pi * rng.next());
  };
  return later(std::move(shape), 2, number, where);
}

Tensor InitRng::uniform(Shape shape, double low, double high, Place where) {
  return uniformLater(std::move(shape), low, high, where).make();
}
Tensor InitRng::normal(Shape shape, double mean, double deviation, Place where) {
  return normalLater(std::move(shape), mean, deviation, where).make();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

Linear::Linear(int64_t in, int64_t out, InitRngRef rng, bool hasBias, Place where) {
  const double bound = in == 0 ? 0 : 1 / std::sqrt(static_cast<double>(in));
  weight = add("weight", rng->uniformLater({out, in}, -bound, bound, where), where);
  if (hasBias)
    bias = add("bias", rng->uniformLater({out}, -bound, bound, where), where);
}
Tensor Linear::operator()(const Tensor &x, Place where) const {
  return callFor("Linear", where, [&] {
    const Tensor product = matmul(x, weight->transpose());
    return bias.isDefined() ? product + *bias : product;
  });
}

Embedding::Embedding(int64_t rows, int64_t width, InitRngRef rng, Place where)
    : weight(add("weight", rng->normalLater({rows, width}, 0, 1, where), where)) {}
Tensor Embedding::operator()(const Tensor &positions, Place where) const {
  return callFor("Embedding", where, [&] { return take(*weight, positions); });
}

Dropout::Dropout(double probability, uint64_t seed, Place where)
    : probability(probability), seeds(addGenerator("seeds", seed, where)) {
  if (!(probability >= 0 && probability <= 1))
    throw Error(Status::invalidArgument("Dropout: " + std::to_string(probability) + " is no probability"), where);
}
Tensor Dropout::operator()(const Tensor &x, Place where) const {
  if (!isTraining() || probability == 0)
    return x;
  return callFor("Dropout", where, [&] {
    const ContextScope scope(x.context());
    return dropout(seeds->next(), x, probability);
  });
}

Mlp::Mlp(int64_t width, int64_t hidden, InitRngRef rng, Place where)
    : in(add("in", Linear(width, hidden, rng, true, where), where)),
      out(add("out", Linear(hidden, width, rng, true, where), where)) {}

Tensor Mlp::operator()(const Tensor &x, Place where) const {
  return callFor("Mlp", where, [&] { return out(in(x).gelu()); });
}
