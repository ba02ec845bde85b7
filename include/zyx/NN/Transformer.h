//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Blocks of attention, and stacks of them, with norms before their parts. What extend() does is what it does for
/// MultiheadAttention: rows behind others, whose keys and values are kept.
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
  MultiheadAttention::Extended extend(const Tensor &x, const KeysValues &cache, const Tensor &start,
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
  /// `remembered` is cross.remember(memory).
  MultiheadAttention::Extended extend(const Tensor &x, const KeysValues &cache, const KeysValues &remembered,
                                      const Tensor &start, const Tensor &mask = {},
                                      Place where = Place::current()) const;
  LayerNorm attentionNorm;
  MultiheadAttention attention;
  LayerNorm crossNorm;
  MultiheadAttention cross;
  LayerNorm mlpNorm;
  Mlp mlp;
};

/// Of a stack: what its last block returns, normalised, and the caches of all.
struct ExtendedStack {
  Tensor output;
  std::vector<KeysValues> caches;
};

/// Blocks one after the other, and a norm. Children 0, 1, ..., norm. With causal blocks it is what writes a text
/// without a memory.
class TransformerEncoder : public Module {
public:
  TransformerEncoder(int64_t layers, int64_t width, AttentionOptions options, InitRngRef rng,
                     Place where = Place::current());
  Tensor operator()(const Tensor &x, const Tensor &mask = {}, Place where = Place::current()) const;
  std::vector<KeysValues> caches(const Shape &batch, int64_t rows, Place where = Place::current()) const;
  ExtendedStack extend(const Tensor &x, std::span<const KeysValues> caches, const Tensor &start,
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
  std::vector<KeysValues> caches(const Shape &batch, int64_t rows, Place where = Place::current()) const;
  /// Keys and values of the memory, of each block.
  std::vector<KeysValues> remember(const Tensor &memory, Place where = Place::current()) const;
  ExtendedStack extend(const Tensor &x, std::span<const KeysValues> caches, std::span<const KeysValues> remembered,
                       const Tensor &start, const Tensor &mask = {}, Place where = Place::current()) const;
  std::vector<TransformerDecoderBlock> blocks;
  LayerNorm norm;
};

} // namespace zyx::nn

#endif // ZYX_NN_TRANSFORMER_H
