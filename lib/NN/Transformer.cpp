//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/NN/Transformer.h"

using namespace zyx;
using namespace zyx::nn;

static AttentionOptions acrossOf(AttentionOptions options) {
  options.causal = options.rotary = false;
  return options;
}

static void expectOneEach(std::string_view what, size_t given, size_t blocks, const Place &where) {
  if (given != blocks)
    throw Error(Status::invalidArgument(std::string(what) + " of " + std::to_string(given) + " blocks for " +
                                        std::to_string(blocks)),
                where);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

TransformerBlock::TransformerBlock(int64_t width, AttentionOptions options, InitRngRef rng, Place where)
    : attentionNorm(add("attention_norm", LayerNorm(width, 1e-5, where), where)),
      attention(add("attention", MultiheadAttention(width, options, rng, where), where)),
      mlpNorm(add("mlp_norm", LayerNorm(width, 1e-5, where), where)),
      mlp(add("mlp", Mlp(width, 4 * width, rng, where), where)) {}

Tensor TransformerBlock::operator()(const Tensor &x, const Tensor &mask, Place where) const {
  return callFor("TransformerBlock", where, [&] {
    const Tensor rows = attentionNorm(x), y = x + attention(rows, rows, mask, where);
    return y + mlp(mlpNorm(y));
  });
}

MultiheadAttention::CachedOutput TransformerBlock::forwardCached(const Tensor &x, const KVCache &cache,
                                                                 const Tensor &start, Place where) const {
  const auto [seen, next] = attention.forwardCached(attentionNorm(x), cache, start, where);
  const Tensor y = x + seen;
  return {y + mlp(mlpNorm(y)), next};
}

TransformerDecoderBlock::TransformerDecoderBlock(int64_t width, AttentionOptions options, InitRngRef rng, Place where)
    : attentionNorm(add("attention_norm", LayerNorm(width, 1e-5, where), where)),
      attention(add("attention", MultiheadAttention(width, options, rng, where), where)),
      crossNorm(add("cross_norm", LayerNorm(width, 1e-5, where), where)),
      cross(add("cross", MultiheadAttention(width, acrossOf(options), rng, where), where)),
      mlpNorm(add("mlp_norm", LayerNorm(width, 1e-5, where), where)),
      mlp(add("mlp", Mlp(width, 4 * width, rng, where), where)) {}

Tensor TransformerDecoderBlock::operator()(const Tensor &x, const Tensor &memory, const Tensor &mask,
                                           Place where) const {
  return callFor("TransformerDecoderBlock", where, [&] {
    const Tensor y = x + attention(attentionNorm(x));
    const Tensor z = y + cross(crossNorm(y), memory, mask, where);
    return z + mlp(mlpNorm(z));
  });
}

MultiheadAttention::CachedOutput TransformerDecoderBlock::forwardCached(const Tensor &x, const KVCache &cache,
                                                                        const KVCache &memoryKV, const Tensor &start,
                                                                        const Tensor &mask, Place where) const {
  const auto [seen, next] = attention.forwardCached(attentionNorm(x), cache, start, where);
  const Tensor y = x + seen;
  const Tensor z = y + cross.forwardKV(crossNorm(y), memoryKV, mask, {}, where);
  return {z + mlp(mlpNorm(z)), next};
}

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

TransformerEncoder::TransformerEncoder(int64_t layers, int64_t width, AttentionOptions options, InitRngRef rng,
                                       Place where)
    : norm(width, 1e-5, where) {
  for (int64_t i = 0; i < layers; ++i)
    blocks.push_back(add(std::to_string(i), TransformerBlock(width, options, rng, where), where));
  add("norm", norm, where);
}

Tensor TransformerEncoder::operator()(const Tensor &x, const Tensor &mask, Place where) const {
  return callFor("TransformerEncoder", where, [&] {
    Tensor rows = x;
    for (const TransformerBlock &block : blocks)
      rows = block(rows, mask, where);
    return norm(rows);
  });
}

std::vector<KVCache> TransformerEncoder::caches(const Shape &batch, int64_t rows, Place where) const {
  std::vector<KVCache> all;
  for (const TransformerBlock &block : blocks)
    all.push_back(block.attention.cache(batch, rows, where));
  return all;
}

CachedStackOutput TransformerEncoder::forwardCached(const Tensor &x, std::span<const KVCache> caches,
                                                    const Tensor &start, Place where) const {
  expectOneEach("TransformerEncoder: caches", caches.size(), blocks.size(), where);
  CachedStackOutput next{x, {}};
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto [rows, cache] = blocks[i].forwardCached(next.output, caches[i], start, where);
    next.output = rows;
    next.caches.push_back(cache);
  }
  next.output = norm(next.output);
  return next;
}

TransformerDecoder::TransformerDecoder(int64_t layers, int64_t width, AttentionOptions options, InitRngRef rng,
                                       Place where)
    : norm(width, 1e-5, where) {
  for (int64_t i = 0; i < layers; ++i)
    blocks.push_back(add(std::to_string(i), TransformerDecoderBlock(width, options, rng, where), where));
  add("norm", norm, where);
}

Tensor TransformerDecoder::operator()(const Tensor &x, const Tensor &memory, const Tensor &mask, Place where) const {
  return callFor("TransformerDecoder", where, [&] {
    Tensor rows = x;
    for (const TransformerDecoderBlock &block : blocks)
      rows = block(rows, memory, mask, where);
    return norm(rows);
  });
}

std::vector<KVCache> TransformerDecoder::caches(const Shape &batch, int64_t rows, Place where) const {
  std::vector<KVCache> all;
  for (const TransformerDecoderBlock &block : blocks)
    all.push_back(block.attention.cache(batch, rows, where));
  return all;
}

std::vector<KVCache> TransformerDecoder::precomputeKV(const Tensor &memory, Place where) const {
  std::vector<KVCache> all;
  for (const TransformerDecoderBlock &block : blocks)
    all.push_back(block.cross.precomputeKV(memory, where));
  return all;
}

CachedStackOutput TransformerDecoder::forwardCached(const Tensor &x, std::span<const KVCache> caches,
                                                    std::span<const KVCache> memoryKV, const Tensor &start,
                                                    const Tensor &mask, Place where) const {
  expectOneEach("TransformerDecoder: caches", caches.size(), blocks.size(), where);
  expectOneEach("TransformerDecoder: memories", memoryKV.size(), blocks.size(), where);
  CachedStackOutput next{x, {}};
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto [rows, cache] = blocks[i].forwardCached(next.output, caches[i], memoryKV[i], start, mask, where);
    next.output = rows;
    next.caches.push_back(cache);
  }
  next.output = norm(next.output);
  return next;
}
