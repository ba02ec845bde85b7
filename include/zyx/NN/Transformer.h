//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Transformer blocks and stacks of them, pre-norm. forwardCached() does what it does for MultiheadAttention: it
/// computes rows that follow others, whose keys and values are in a KV cache.
#ifndef ZYX_NN_TRANSFORMER_H
#define ZYX_NN_TRANSFORMER_H

#include "zyx/NN/Attention.h"

namespace zyx::nn {

/// x + attention(norm(x)), then y + mlp(norm(y)) with 4 width elements between. Children attention_norm, attention,
/// mlp_norm, mlp.
class TransformerBlock : public Module {
public:
  TransformerBlock(int64_t width, AttentionOptions options, InitRngRef rng, Place where = Place::current());
  /// The mask expands to [..., heads, rows, rows].
  Tensor operator()(const Tensor &x, const Tensor &mask = {}, Place where = Place::current()) const;
  MultiheadAttention::CachedOutput forwardCached(const Tensor &x, const KVCache &cache, const Tensor &start,
                                                 Place where = Place::current()) const;
  LayerNorm attentionNorm;
  MultiheadAttention attention;
  LayerNorm mlpNorm;
  Mlp mlp;
};

/// The same with attention to a memory between both: x + attention(norm(x)), y + cross(norm(y), memory),
/// z + mlp(norm(z)). Rows see those before them where `options` are causal; the memory is seen by all, and has no
/// rotary positions. Children attention_norm, attention, cross_norm, cross, mlp_norm, mlp.
class TransformerDecoderBlock : public Module {
public:
  TransformerDecoderBlock(int64_t width, AttentionOptions options, InitRngRef rng, Place where = Place::current());
  /// The mask says which rows of the memory are seen: it expands to [..., heads, rows, rows of memory].
  Tensor operator()(const Tensor &x, const Tensor &memory, const Tensor &mask = {},
                    Place where = Place::current()) const;
  /// `memoryKV` is cross.precomputeKV(memory).
  MultiheadAttention::CachedOutput forwardCached(const Tensor &x, const KVCache &cache, const KVCache &memoryKV,
                                                 const Tensor &start, const Tensor &mask = {},
                                                 Place where = Place::current()) const;
  LayerNorm attentionNorm;
  MultiheadAttention attention;
  LayerNorm crossNorm;
  MultiheadAttention cross;
  LayerNorm mlpNorm;
  Mlp mlp;
};

/// What forwardCached() of a stack returns: the normalised output of the last block, and the caches of all blocks.
struct CachedStackOutput {
  Tensor output;
  std::vector<KVCache> caches;
};

/// Blocks one after the other, and a norm. Children 0, 1, ..., norm. With causal blocks it is what writes a text
/// without a memory.
class TransformerEncoder : public Module {
public:
  TransformerEncoder(int64_t layers, int64_t width, AttentionOptions options, InitRngRef rng,
                     Place where = Place::current());
  Tensor operator()(const Tensor &x, const Tensor &mask = {}, Place where = Place::current()) const;
  std::vector<KVCache> caches(const Shape &batch, int64_t rows, Place where = Place::current()) const;
  CachedStackOutput forwardCached(const Tensor &x, std::span<const KVCache> caches, const Tensor &start,
                                  Place where = Place::current()) const;
  std::vector<TransformerBlock> blocks;
  LayerNorm norm;
};

/// Decoder blocks one after the other, and a norm. Children 0, 1, ..., norm.
class TransformerDecoder : public Module {
public:
  TransformerDecoder(int64_t layers, int64_t width, AttentionOptions options, InitRngRef rng,
                     Place where = Place::current());
  Tensor operator()(const Tensor &x, const Tensor &memory, const Tensor &mask = {},
                    Place where = Place::current()) const;
  std::vector<KVCache> caches(const Shape &batch, int64_t rows, Place where = Place::current()) const;
  /// Keys and values of the memory, of each block.
  std::vector<KVCache> precomputeKV(const Tensor &memory, Place where = Place::current()) const;
  CachedStackOutput forwardCached(const Tensor &x, std::span<const KVCache> caches, std::span<const KVCache> memoryKV,
                                  const Tensor &start, const Tensor &mask = {}, Place where = Place::current()) const;
  std::vector<TransformerDecoderBlock> blocks;
  LayerNorm norm;
};

} // namespace zyx::nn

#endif // ZYX_NN_TRANSFORMER_H
