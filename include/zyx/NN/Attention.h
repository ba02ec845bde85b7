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
  /// Heads of keys and values: fewer than `heads` are grouped-query attention (GQA). 0 = as many as `heads`.
  int64_t kvHeads = 0;
  bool causal = false, hasBias = true;
  /// Queries and keys go through rotary() first, by their rows.
  bool rotary = false;
};
/// Projected keys and values, split by head and rotated: [..., kvHeads, rows, width of a head] each. In a KV cache the
/// first rows hold the tokens so far. The other rows are capacity for more.
struct KVCache {
  Tensor keys, values;
};

/// The cache with more rows written from row `start` on. `start` is a tensor: an integer of rank 0. Rows beyond the
/// capacity are dropped.
KVCache append(const KVCache &cache, const KVCache &more, const Tensor &start, Place where = Place::current());
/// scaledDotProductAttention() of queries to the filled rows of a cache. The rows of the queries are the last filled
/// ones and begin at `start`. A causal query sees the rows up to its own; else it sees all filled rows. The result is
/// NaN where the rows exceed the capacity.
Tensor cachedAttention(const Tensor &queries, const KVCache &cache, const Tensor &start, bool causal = true,
                       Place where = Place::current());

/// scaledDotProductAttention() with learned projections: [..., rows, width] to the same. Children query, key, value,
/// output.
class MultiheadAttention : public Module {
public:
  MultiheadAttention(int64_t width, AttentionOptions options, InitRngRef rng, Place where = Place::current());
  /// To itself.
  Tensor operator()(const Tensor &x, Place where = Place::current()) const { return (*this)(x, x, {}, where); }
  /// Of x to `memory`; the mask expands to [..., heads, rows of x, rows of memory].
  Tensor operator()(const Tensor &x, const Tensor &memory, const Tensor &mask = {},
                    Place where = Place::current()) const;

  /// Projects keys and values of a memory once for several calls of forwardKV().
  KVCache precomputeKV(const Tensor &memory, Place where = Place::current()) const {
    return projectKV(memory, {}, where);
  }
  /// Attention of x to precomputed keys and values. `start` is the position of the first row of x, an integer of rank
  /// 0; only rotary() reads it.
  Tensor forwardKV(const Tensor &x, const KVCache &memory, const Tensor &mask = {}, const Tensor &start = {},
                   Place where = Place::current()) const;

  /// An empty cache with a capacity of `rows`, zeros. `batch` are the leading dimensions.
  KVCache cache(Shape batch, int64_t rows, Place where = Place::current()) const;
  /// Attention of x to itself and to the first `start` rows of a cache, by append() and cachedAttention().
  struct CachedOutput {
    Tensor output;
    KVCache cache;
  };
  CachedOutput forwardCached(const Tensor &x, const KVCache &cache, const Tensor &start,
                             Place where = Place::current()) const;

private:
  /// Split by head and rotated.
  Tensor queries(const Tensor &x, const Tensor &start, const Place &where) const;
  KVCache projectKV(const Tensor &memory, const Tensor &start, const Place &where) const;
  /// Repeats each head of keys and values for the heads of queries that share it.
  KVCache repeated(const KVCache &kv, const Place &where) const;
  Tensor joined(const Tensor &heads, const Place &where) const;
  AttentionOptions options;

public:
  Linear query, key, value, output;
};

/// Rows [..., rows, width] turned by their positions, integers [rows]: elements i and i + width / 2 are a pair, by the
/// angle position base^(-2 i / width). Products of turned rows depend on the distance of their positions.
Tensor rotary(const Tensor &x, const Tensor &positions, double base = 10000, Place where = Place::current());
/// [rows, width]: sin(position 10000^(-2 i / width)) in columns 2 i, the cosine in columns 2 i + 1.
Tensor sinusoids(int64_t rows, int64_t width, Place where = Place::current());

} // namespace zyx::nn

#endif // ZYX_NN_ATTENTION_H
