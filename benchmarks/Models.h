//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The models of benchmarks/steps, which tests compile, too: the same as in benchmarks/steps/peer_torch.py. The network
// of digits is in examples/digits.h.
//===----------------------------------------------------------------------===//
#ifndef ZYX_BENCHMARKS_MODELS_H
#define ZYX_BENCHMARKS_MODELS_H

#include <zyx/zyx.h>

#include <optional>
#include <string>
#include <vector>

namespace bench {

struct TransformerSizes {
  int64_t vocabulary, context, width, layers, heads;
};

/// Characters [batch, context] to logits [batch, context, vocabulary].
struct CharTransformer : zyx::nn::Module {
  CharTransformer(const TransformerSizes &sizes, zyx::nn::InitRng &rng)
      : tokens(add("tokens", zyx::nn::Embedding(sizes.vocabulary, sizes.width, rng))),
        positions(add("positions", zyx::nn::Embedding(sizes.context, sizes.width, rng))) {
    for (int64_t layer = 0; layer < sizes.layers; ++layer)
      blocks.push_back(add("block" + std::to_string(layer),
                           zyx::nn::TransformerBlock(sizes.width, {.heads = sizes.heads, .causal = true}, rng)));
    norm.emplace(add("norm", zyx::nn::LayerNorm(sizes.width)));
    out.emplace(add("out", zyx::nn::Linear(sizes.width, sizes.vocabulary, rng, /*hasBias=*/false)));
  }
  zyx::Tensor operator()(const zyx::Tensor &characters) const {
    zyx::Tensor x = tokens(characters) + *positions.weight;
    for (const zyx::nn::TransformerBlock &block : blocks)
      x = block(x);
    return (*out)((*norm)(x));
  }
  zyx::nn::Embedding tokens;
  zyx::nn::Embedding positions;
  std::vector<zyx::nn::TransformerBlock> blocks;
  std::optional<zyx::nn::LayerNorm> norm;
  std::optional<zyx::nn::Linear> out;
};

/// The loss that a training step makes smaller, of logits [batch, classes] or [batch, context, classes].
inline zyx::Tensor lossOf(const zyx::Tensor &logits, const zyx::Tensor &targets) {
  return zyx::crossEntropy(logits.rank() == 3 ? logits.flatten(0, 1) : logits, targets.flatten(0));
}

} // namespace bench

#endif // ZYX_BENCHMARKS_MODELS_H
