//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_NN_LAYERS_H
#define ZYX_NN_LAYERS_H

#include "zyx/NN/Module.h"

namespace zyx::nn {

/// First values of parameters: the i-th number of a seed is a fixed function of both (SplitMix64), so that a
/// model that is made twice is the same one. Numbers are drawn on the host, in the current context.
class Draws {
public:
  explicit Draws(uint64_t seed) : counter(seed) {}
  /// Multiples of 2^-24 of the range, from low up to but without high.
  Tensor uniform(Shape shape, double low, double high, Place where = Place::current());
  Tensor normal(Shape shape, double mean = 0, double deviation = 1, Place where = Place::current());

private:
  /// In [0, 1).
  double next();
  uint64_t counter;
};

/// x weight^T + bias: [..., in] to [..., out]. weight [out, in] and bias [out] begin uniform in
/// +-1 / sqrt(in), which is Kaiming's bound for a = sqrt(5).
class Linear : public Module {
public:
  Linear(int64_t in, int64_t out, Draws &draws, bool hasBias = true, Place where = Place::current());
  Tensor operator()(const Tensor &x) const;
  Parameter weight, bias;
};

/// The row of each position: integers of any shape to [..., width]; zeros where there is no such row. weight
/// [rows, width] begins normal.
class Embedding : public Module {
public:
  Embedding(int64_t rows, int64_t width, Draws &draws, Place where = Place::current());
  Tensor operator()(const Tensor &positions) const;
  Parameter weight;
};

/// (x - mean) / sqrt(variance + epsilon) weight + bias over the last dimension, with the variance of the
/// elements themselves (no correction). Computed in f32 at least.
class LayerNorm : public Module {
public:
  explicit LayerNorm(int64_t width, double epsilon = 1e-5, Place where = Place::current());
  Tensor operator()(const Tensor &x) const;
  Parameter weight, bias;

private:
  double epsilon;
};

/// x / sqrt(mean of squares + epsilon) weight over the last dimension. Computed in f32 at least.
class RmsNorm : public Module {
public:
  explicit RmsNorm(int64_t width, double epsilon = 1e-6, Place where = Place::current());
  Tensor operator()(const Tensor &x) const;
  Parameter weight;

private:
  double epsilon;
};

/// Attention of `queries` to `keys` and `values`: [..., heads, rows, width]; softmax of the products over
/// sqrt(width). `mask` broadcasts to [..., heads, rows of queries, rows of keys] and is true where a query may
/// look; `causal` lets row i look at rows up to i + (rows of keys - rows of queries). A query that may look
/// nowhere gives NaN.
Tensor attention(const Tensor &queries, const Tensor &keys, const Tensor &values, bool causal = false,
                 const Tensor &mask = {}, Place where = Place::current());

struct AttentionOptions {
  int64_t heads = 1;
  /// Of keys and values, where several heads of queries share one; 0 = as many as `heads`.
  int64_t groups = 0;
  bool causal = false, hasBias = true;
};
/// Attention with learned projections: [..., rows, width] to the same. Children query, key, value, output.
class MultiheadAttention : public Module {
public:
  MultiheadAttention(int64_t width, AttentionOptions options, Draws &draws, Place where = Place::current());
  /// To itself.
  Tensor operator()(const Tensor &x) const { return (*this)(x, x); }
  /// Of x to `memory`.
  Tensor operator()(const Tensor &x, const Tensor &memory, const Tensor &mask = {}, Place where = Place::current()) const;

private:
  AttentionOptions options;

public:
  Linear query, key, value, output;
};

/// Linear to `hidden`, GELU, Linear back. Children in, out.
class Mlp : public Module {
public:
  Mlp(int64_t width, int64_t hidden, Draws &draws, Place where = Place::current());
  Tensor operator()(const Tensor &x) const { return out(in(x).gelu()); }
  Linear in, out;
};

} // namespace zyx::nn

#endif // ZYX_NN_LAYERS_H
