//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/NN/Attention.h"

#include "zyx/Tensor/Linalg.h"

#include <cmath>

using namespace zyx;
using namespace zyx::nn;

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
  auto turned = [&](const Tensor &heads) {
    if (!options.rotary)
      return heads;
    const ContextScope scope(heads.context());
    return nn::rotary(heads, Tensor::arange(0, heads.extent(-2, where), 1, DType::I64, where), 10000, where);
  };
  const Tensor heads = scaledDotProductAttention(
      turned(split(query(x), options.heads, 1)), turned(split(key(memory), options.groups, share)),
      split(value(memory), options.groups, share), {.mask = mask, .causal = options.causal}, where);
  return output(heads.transpose(-3, -2, where).flatten(-2, -1, where));
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

Tensor zyx::nn::rotary(const Tensor &x, const Tensor &positions, double base, Place where) {
  const int64_t width = x.extent(-1, where), half = width / 2;
  if (width % 2 != 0 || positions.rank() != 1 || positions.shape()[0] != x.extent(-2, where))
    throw Error(Status::invalidArgument("rotary: rows of shape " + toString(x.shape()) + " at positions of shape " +
                                        toString(positions.shape()) + " are not [..., rows, even width] and [rows]"),
                where);
  const DType dtype = x.dtype() == DType::F64 ? DType::F64 : DType::F32;
  const ContextScope scope(x.context());
  const Tensor turns = (Tensor::arange(0, half, 1, DType::I64, where).cast(dtype, where) *
                        (-2 / static_cast<double>(width) * std::log(base)))
                           .exp(where);
  const Tensor angles = positions.cast(dtype, where).unsqueeze(1, where) * turns;
  const Tensor wide = x.cast(dtype, where), cosines = angles.cos(where), sines = angles.sin(where);
  std::vector<Slice> first(x.rank()), second(x.rank());
  first.back().stop = second.back().start = half;
  const Tensor a = wide.slice(first, where), b = wide.slice(second, where);
  return concat(std::vector{a * cosines - b * sines, b * cosines + a * sines}, -1, where).cast(x.dtype(), where);
}

Tensor zyx::nn::sinusoids(int64_t rows, int64_t width, Place where) {
  std::vector<float> values;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < width; ++column) {
      const double exponent = -2 * static_cast<double>(column / 2) / static_cast<double>(width);
      const double angle = static_cast<double>(row) * std::pow(10000, exponent);
      values.push_back(static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle)));
    }
  return Tensor::from(values, {rows, width}, where);
}

TransformerBlock::TransformerBlock(int64_t width, AttentionOptions options, Draws &draws, Place where)
    : attentionNorm(add("attention_norm", LayerNorm(width, 1e-5, where), where)),
      attention(add("attention", MultiheadAttention(width, options, draws, where), where)),
      mlpNorm(add("mlp_norm", LayerNorm(width, 1e-5, where), where)),
      mlp(add("mlp", Mlp(width, 4 * width, draws, where), where)) {}

Tensor TransformerBlock::operator()(const Tensor &x) const {
  const Tensor y = x + attention(attentionNorm(x));
  return y + mlp(mlpNorm(y));
}
