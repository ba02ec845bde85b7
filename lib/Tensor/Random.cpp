//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Random.h"
#include "zyx/Tensor/Sorting.h"

#include "Capture.h"
#include "Compose.h"
#include "zyx/Base/Random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

using namespace zyx;
using namespace zyx::detail;

uint64_t Generator::Numbers::draw() { return mixBits(mixBits(seed) + ++count * splitMixStep); }

Tensor Generator::next(Place where) {
  if (ParameterScope *scope = ParameterScope::capturing())
    return scope->seeds.emplace_back(ParameterScope::Seed{numbers, scope->addSeed(where)}).placeholder;
  if (CaptureScope::isOpen())
    refuse("Generator: a seed that is drawn in the body of a loop would be the same one in each trip; take it as an "
           "argument",
           where);
  const uint64_t key = numbers->draw();
  return Tensor::from(std::span<const uint64_t>(&key, 1), {}, where);
}

Tensor zyx::randomBits(const Tensor &seed, Shape shape, Place where) {
  return makeNode(Op::RandomBits, {seed}, {}, where, {DType::U32, std::move(shape)});
}

/// u64, each of two words.
static Tensor longBits(const Tensor &seed, Shape shape, const Place &where) {
  const At at{where};
  shape.push_back(2);
  const Tensor words = randomBits(seed, std::move(shape), where).cast(DType::U64, where);
  return at(at(words.select(-1, 0, where)) << at(32)) | at(words.select(-1, 1, where));
}

/// [0, 1) in as many digits as the dtype has.
static Tensor fractions(const Tensor &seed, const Shape &shape, DType dtype, std::string_view function,
                        const Place &where) {
  const At at{where};
  int digits = 0;
  if (dtype == DType::F64)
    digits = 53;
  else if (dtype == DType::F32)
    digits = 24;
  else if (dtype == DType::F16)
    digits = 11;
  else if (dtype == DType::BF16)
    digits = 8;
  else
    refuse(std::string(function) + ": needs a dtype of floats, not " + std::string(toString(dtype)), where);
  const bool isLong = dtype == DType::F64;
  const Tensor bits = isLong ? longBits(seed, shape, where) : randomBits(seed, shape, where);
  return at((at(bits) >> at((isLong ? 64 : 32) - digits)).cast(dtype, where)) * at(std::ldexp(1.0, -digits));
}

Tensor zyx::uniform(const Tensor &seed, Shape shape, double low, double high, DType dtype, Place where) {
  const At at{where};
  const Tensor u = fractions(seed, shape, dtype, "uniform", where);
  return low == 0 && high == 1 ? u : at(at(u) * at(high - low)) + at(low);
}

Tensor zyx::normal(const Tensor &seed, Shape shape, double mean, double deviation, DType dtype, Place where) {
  const At at{where};
  shape.push_back(2);
  const Tensor u =
      fractions(seed, shape, dtype == DType::F16 || dtype == DType::BF16 ? DType::F32 : dtype, "normal", where);
  const Tensor radius = (at((at(1) - at(u.select(-1, 0, where))).log(where)) * at(-2)).sqrt(where);
  const Tensor angle = at(u.select(-1, 1, where)) * at(2 * std::numbers::pi);
  const Tensor unit = at(radius) * at(angle.cos(where));
  return (at(at(unit) * at(deviation)) + at(mean)).cast(dtype, where);
}

Tensor zyx::randint(const Tensor &seed, Shape shape, int64_t low, int64_t high, DType dtype, Place where) {
  const At at{where};
  const std::string range = "[" + std::to_string(low) + ", " + std::to_string(high) + ")";
  if (!isInteger(dtype))
    refuse("randint: " + std::string(toString(dtype)) + " is no dtype of integers", where);
  const int bits = 8 * static_cast<int>(byteSize(dtype)) - (isSignedInteger(dtype) ? 1 : 0);
  const int64_t most = bits >= 63 ? INT64_MAX : (int64_t(1) << bits) - 1;
  const int64_t least = isSignedInteger(dtype) ? -most - 1 : 0;
  // The number of elements has to be an i64.
  if (low >= high || low < least || high - 1 > most || (low < 0 && high > INT64_MAX + low))
    refuse("randint: " + range + " is empty or not within " + std::string(toString(dtype)), where);
  const Tensor offset = (at(longBits(seed, std::move(shape), where)) % at(high - low)).cast(DType::I64, where);
  return (at(offset) + at(low)).cast(dtype, where);
}

static void expectProbability(double probability, std::string_view function, const Place &where) {
  if (!(probability >= 0 && probability <= 1))
    refuse(std::string(function) + ": " + std::to_string(probability) + " is no probability", where);
}

Tensor zyx::bernoulli(const Tensor &seed, Shape shape, double probability, Place where) {
  expectProbability(probability, "bernoulli", where);
  const At at{where};
  return at(fractions(seed, shape, DType::F32, "bernoulli", where)) < at(probability);
}

Tensor zyx::permutation(const Tensor &seed, int64_t count, Place where) {
  if (count < 0)
    refuse("permutation: there are no " + std::to_string(count) + " positions", where);
  return argsort(longBits(seed, {count}, where), 0, false, where);
}

/// Waiting times with these rates: which one ends first has a probability proportional to its rate. In f64, as
/// in f32 one of 2^24 would end at once.
Tensor zyx::multinomial(const Tensor &seed, const Tensor &weights, int64_t count, bool replacement, Place where) {
  expectFloat(weights, "multinomial", where);
  const At at{where};
  const int64_t classes = weights.size(-1, where);
  if (count < 0 || classes == 0 || (!replacement && count > classes))
    refuse("multinomial: " + std::to_string(count) + " positions of " + std::to_string(classes), where);
  const Tensor rates = replacement ? weights.unsqueeze(-2, where) : weights;
  Shape shape = rates.shape();
  if (replacement)
    shape[shape.size() - 2] = count;
  const Tensor u = fractions(seed, shape, DType::F64, "multinomial", where);
  const Tensor times = at((at(1) - at(u)).log(where).neg(where)) / at(rates.cast(DType::F64, where));
  const Tensor waits = zyx::where(at(rates) > at(0), at(times), at(std::numeric_limits<double>::infinity()));
  return replacement ? waits.argmin(-1, false, where) : topk(waits, count, -1, false, where).indices;
}

/// Inputs and outputs.
static std::pair<double, double> fansOf(const Shape &shape, std::string_view function, const Place &where) {
  if (shape.size() < 2)
    refuse(std::string(function) + ": weights of shape " + toString(shape) + " are not [out, in, window...]", where);
  double window = 1;
  for (size_t i = 2; i < shape.size(); ++i)
    window *= static_cast<double>(shape[i]);
  return {static_cast<double>(shape[1]) * window, static_cast<double>(shape[0]) * window};
}

Tensor zyx::kaimingUniform(const Tensor &seed, Shape shape, double a, DType dtype, Place where) {
  const double bound = std::sqrt(6 / ((1 + a * a) * std::max(fansOf(shape, "kaimingUniform", where).first, 1.0)));
  return uniform(seed, std::move(shape), -bound, bound, dtype, where);
}

Tensor zyx::glorotUniform(const Tensor &seed, Shape shape, DType dtype, Place where) {
  const auto [inputs, outputs] = fansOf(shape, "glorotUniform", where);
  const double bound = std::sqrt(6 / std::max(inputs + outputs, 1.0));
  return uniform(seed, std::move(shape), -bound, bound, dtype, where);
}

Tensor zyx::dropout(const Tensor &seed, const Tensor &x, double probability, Place where) {
  expectFloat(x, "dropout", where);
  expectProbability(probability, "dropout", where);
  const At at{where};
  const Tensor drops = bernoulli(seed, x.shape(), probability, where);
  return zyx::where(drops, at(0), at(probability == 1 ? x : at(x) * at(1 / (1 - probability))));
}
