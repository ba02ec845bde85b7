//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_NN_ATTENTION_H
#define ZYX_NN_ATTENTION_H

#include "zyx/NN/Layers.h"
#include "zyx/NN/Norms.h"

namespace zyx::nn {

struct AttentionOptions {
  int64_t heads = 1;
  /// Of keys and values, where several heads of queries share one; 0 = as many as `heads`.
  int64_t groups = 0;
  bool causal = false, hasBias = true;
  /// Queries and keys go through rotary() first, by their rows.
  bool rotary = false;
};
/// scaledDotProductAttention() with learned projections: [..., rows, width] to the same. Children query, key, value,
/// output.
class MultiheadAttention : public Module {
public:
  MultiheadAttention(int64_t width, AttentionOptions options, Draws &draws, Place where = Place::current());
  /// To itself.
  Tensor operator()(const Tensor &x) const { return (*this)(x, x); }
  /// Of x to `memory`; the mask expands to [..., heads, rows of x, rows of memory].
  Tensor operator()(const Tensor &x, const Tensor &memory, const Tensor &mask = {}, Place where = Place::current()) const;

private:
  AttentionOptions options;

public:
  Linear query, key, value, output;
};

/// Rows [..., rows, width] turned by their positions, integers [rows]: elements i and i + width / 2 are a pair, by the
/// angle position base^(-2 i / width). Products of turned rows depend on the distance of their positions.
Tensor rotary(const Tensor &x, const Tensor &positions, double base = 10000, Place where = Place::current());
/// [rows, width]: sin(position 10000^(-2 i / width)) in columns 2 i, the cosine in columns 2 i + 1.
Tensor sinusoids(int64_t rows, int64_t width, Place where = Place::current());

/// x + attention(norm(x)), then y + mlp(norm(y)) with 4 width elements between. Children attention_norm, attention,
/// mlp_norm, mlp.
class TransformerBlock : public Module {
public:
  TransformerBlock(int64_t width, AttentionOptions options, Draws &draws, Place where = Place::current());
  Tensor operator()(const Tensor &x) const;
  LayerNorm attentionNorm;
  MultiheadAttention attention;
  LayerNorm mlpNorm;
  Mlp mlp;
};

} // namespace zyx::nn

#endif // ZYX_NN_ATTENTION_H
