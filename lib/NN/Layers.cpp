//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/NN/Layers.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace zyx;
using namespace zyx::nn;

//===----------------------------------------------------------------------===//
// First values
//===----------------------------------------------------------------------===//

double Draws::next() {
  counter += 0x9e3779b97f4a7c15;
  uint64_t bits = counter;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  bits ^= bits >> 31;
  return static_cast<double>(bits >> 40) * 0x1p-24;
}

Tensor Draws::uniform(Shape shape, double low, double high, Place where) {
  std::vector<float> values(valueOrThrow(numElements(shape), where));
  for (float &value : values)
    value = static_cast<float>(low + (high - low) * next());
  return Tensor::from(values, std::move(shape), where);
}

/// By Box and Muller: two uniform numbers for each.
Tensor Draws::normal(Shape shape, double mean, double deviation, Place where) {
  std::vector<float> values(valueOrThrow(numElements(shape), where));
  for (float &value : values) {
    const double radius = std::sqrt(-2 * std::log(1 - next()));
    value = static_cast<float>(mean + deviation * radius * std::cos(2 * std::numbers::pi * next()));
  }
  return Tensor::from(values, std::move(shape), where);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

Linear::Linear(int64_t in, int64_t out, Draws &draws, bool hasBias, Place where) {
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  weight = add("weight", draws.uniform({out, in}, -bound, bound, where), where);
  if (hasBias)
    bias = add("bias", draws.uniform({out}, -bound, bound, where), where);
}
Tensor Linear::operator()(const Tensor &x) const {
  const Tensor product = matmul(x, weight->transpose());
  return bias ? product + *bias : product;
}

Embedding::Embedding(int64_t rows, int64_t width, Draws &draws, Place where)
    : weight(add("weight", draws.normal({rows, width}, 0, 1, where), where)) {}
Tensor Embedding::operator()(const Tensor &positions) const { return take(*weight, positions); }

/// f16 and bf16 in f32.
static Tensor wide(const Tensor &x) { return byteSize(x.dtype()) < 4 ? x.cast(DType::F32) : x; }

LayerNorm::LayerNorm(int64_t width, double epsilon, Place where)
    : weight(add("weight", Tensor::ones({width}, DType::F32, where), where)),
      bias(add("bias", Tensor::zeros({width}, DType::F32, where), where)), epsilon(epsilon) {}
Tensor LayerNorm::operator()(const Tensor &given) const {
  const Tensor x = wide(given), distance = x - x.mean({-1}, true);
  const Tensor scale = ((distance * distance).mean({-1}, true) + epsilon).rsqrt();
  return (distance * scale * *weight + *bias).cast(given.dtype());
}

RmsNorm::RmsNorm(int64_t width, double epsilon, Place where)
    : weight(add("weight", Tensor::ones({width}, DType::F32, where), where)), epsilon(epsilon) {}
Tensor RmsNorm::operator()(const Tensor &given) const {
  const Tensor x = wide(given);
  return (x * ((x * x).mean({-1}, true) + epsilon).rsqrt() * *weight).cast(given.dtype());
}

Mlp::Mlp(int64_t width, int64_t hidden, Draws &draws, Place where)
    : in(add("in", Linear(width, hidden, draws, true, where), where)),
      out(add("out", Linear(hidden, width, draws, true, where), where)) {}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

Tensor zyx::nn::attention(const Tensor &queries, const Tensor &keys, const Tensor &values, bool causal,
                          const Tensor &mask, Place where) {
  const double scale = 1 / std::sqrt(static_cast<double>(queries.extent(-1, where)));
  Tensor scores = matmul({queries, where}, {keys.transpose(-2, -1, where), where}) * scale;
  const double never = -std::numeric_limits<double>::infinity();
  if (causal) {
    const ContextScope scope(queries.context());
    const int64_t rows = queries.extent(-2, where), columns = keys.extent(-2, where);
    const Tensor row = Tensor::arange(0, rows, 1, DType::I64, where).unsqueeze(1, where);
    scores = zyx::where(Tensor::arange(0, columns, 1, DType::I64, where) <= row + (columns - rows), {scores, where}, never);
  }
  if (mask)
    scores = zyx::where(mask, {scores, where}, never);
  return matmul({scores.softmax(-1, where), where}, {values, where});
}

static AttentionOptions checked(int64_t width, AttentionOptions options, const Place &where) {
  if (options.groups == 0)
    options.groups = options.heads;
  if (options.heads <= 0 || options.groups <= 0 || width % options.heads != 0 || options.heads % options.groups != 0)
    throw Error(Status::invalidArgument("MultiheadAttention: a width of " + std::to_string(width) + " and " +
                                        std::to_string(options.heads) + " heads in " + std::to_string(options.groups) +
                                        " groups do not divide"),
                where);
  return options;
}

MultiheadAttention::MultiheadAttention(int64_t width, AttentionOptions given, Draws &draws, Place where)
    : options(checked(width, given, where)),
      query(add("query", Linear(width, width, draws, options.hasBias, where), where)),
      key(add("key", Linear(width, width / options.heads * options.groups, draws, options.hasBias, where), where)),
      value(add("value", Linear(width, width / options.heads * options.groups, draws, options.hasBias, where), where)),
      output(add("output", Linear(width, width, draws, options.hasBias, where), where)) {}

Tensor MultiheadAttention::operator()(const Tensor &x, const Tensor &memory, const Tensor &mask, Place where) const {
  const int64_t share = options.heads / options.groups;
  // [..., rows, heads width] to [..., heads, rows, width]; groups come once for each of their heads.
  auto split = [&](const Tensor &all, int64_t heads, int64_t repeat) {
    Shape shape = all.shape();
    const int64_t width = shape.back() / heads, rank = all.rank();
    shape.back() = heads;
    shape.push_back(width);
    Tensor parts = all.reshape(shape, where).transpose(-3, -2, where);
    if (repeat == 1)
      return parts;
    Shape repeated = parts.shape();
    repeated.insert(repeated.end() - 2, repeat);
    return parts.unsqueeze(-3, where).expand(repeated, where).flatten(rank - 2, rank - 1, where);
  };
  const Tensor heads = attention(split(query(x), options.heads, 1), split(key(memory), options.groups, share),
                                 split(value(memory), options.groups, share), options.causal, mask, where);
  return output(heads.transpose(-3, -2, where).flatten(-2, -1, where));
}
