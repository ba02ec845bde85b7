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
/// Of some rows, split and turned: [..., groups, rows, width of a head] each. Of a cache, the first rows are those so
/// far, and the others have room for more.
struct KeysValues {
  Tensor keys, values;
};

/// A cache with more rows, from row `start` on, an integer of rank 0 that is data. Those for which it has no room are
/// dropped.
KeysValues append(const KeysValues &cache, const KeysValues &more, const Tensor &start, Place where = Place::current());
/// scaledDotProductAttention() to the rows of a cache that are there, when those of the queries are the last of them
/// and begin at `start`: each query sees the rows up to its own, without `causal` all of them. NaN where the rows go
/// beyond the cache.
Tensor attendCache(const Tensor &queries, const KeysValues &cache, const Tensor &start, bool causal = true,
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

  /// Keys and values of a memory, computed once for several calls of attend().
  KeysValues remember(const Tensor &memory, Place where = Place::current()) const {
    return keysValues(memory, {}, where);
  }
  /// Of x to what is remembered. The rows of x begin at position `start`, an integer of rank 0, where that matters:
  /// for rotary().
  Tensor attend(const Tensor &x, const KeysValues &memory, const Tensor &mask = {}, const Tensor &start = {},
                Place where = Place::current()) const;

  /// A cache of so many rows, zeros; `batch` is what stands before the rows.
  KeysValues cache(Shape batch, int64_t rows, Place where = Place::current()) const;
  /// Of x to itself and the first `start` rows of a cache, by append() and attendCache().
  struct Extended {
    Tensor output;
    KeysValues cache;
  };
  Extended extend(const Tensor &x, const KeysValues &cache, const Tensor &start, Place where = Place::current()) const;

private:
  /// By head or by group, turned.
  Tensor queries(const Tensor &x, const Tensor &start, const Place &where) const;
  KeysValues keysValues(const Tensor &memory, const Tensor &start, const Place &where) const;
  /// Groups once for each of their heads.
  KeysValues repeated(const KeysValues &groups, const Place &where) const;
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
