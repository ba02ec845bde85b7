//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// GPT-2 from weights with the names and shapes of the published checkpoints.
//===----------------------------------------------------------------------===//
#ifndef ZYX_EXAMPLES_GPT2_H
#define ZYX_EXAMPLES_GPT2_H

#include <zyx/zyx.h>

namespace gpt2 {

using zyx::DType;
using zyx::NamedTensors;
using zyx::Tensor;

class Model {
public:
  /// Heads have 64 elements in all published sizes; 0 stands for as many as these are.
  explicit Model(NamedTensors weights, int64_t heads = 0) : weights(std::move(weights)) {
    vocabulary = weight("wte.weight").size(0);
    positions = weight("wpe.weight").size(0);
    width = weight("wte.weight").size(1);
    this->heads = heads == 0 ? width / 64 : heads;
    while (this->weights.contains(block(layers) + "ln_1.weight"))
      ++layers;
  }

  int64_t vocabulary, positions, width, heads, layers = 0;

  /// Tokens [rows] to the logits of what follows each, [rows, vocabulary].
  Tensor logits(const Tensor &tokens) const {
    Tensor x = embedded(tokens, Tensor::scalar<int64_t>(0));
    for (int64_t i = 0; i < layers; ++i) {
      const auto [queries, rows] = split(i, x);
      const zyx::DotProductAttentionOptions causal{.causal = true};
      x = after(i, x, zyx::scaledDotProductAttention(queries, rows.keys, rows.values, causal));
    }
    return head(x);
  }

  /// One per layer, with room for so many rows.
  std::vector<zyx::nn::KVCache> caches(int64_t rows) const {
    const Tensor zeros = Tensor::zeros({heads, rows, width / heads});
    return std::vector<zyx::nn::KVCache>(layers, {zeros, zeros});
  }

  /// Of the last of the tokens, [1, vocabulary], when the first of them is number `start`; caches have those before
  /// it, and get these.
  Tensor forwardCached(const Tensor &tokens, std::vector<zyx::nn::KVCache> &caches, const Tensor &start) const {
    Tensor x = embedded(tokens, start);
    for (int64_t i = 0; i < layers; ++i) {
      const auto [queries, rows] = split(i, x);
      caches[i] = zyx::nn::append(caches[i], rows, start);
      x = after(i, x, zyx::nn::cachedAttention(queries, caches[i], start));
    }
    return head(x.slice({{-1}}));
  }

  /// The likeliest token behind `prompt`, the likeliest behind that, and so on: `count` of them, i64.
  Tensor decode(const Tensor &prompt, int64_t count) const {
    std::vector<zyx::nn::KVCache> all = caches(prompt.size(0) + count);
    return continued(first(prompt, all), all, prompt.size(0), count);
  }
  /// The first of these, [1]; caches get the prompt.
  Tensor first(const Tensor &prompt, std::vector<zyx::nn::KVCache> &caches) const {
    return forwardCached(prompt, caches, Tensor::scalar<int64_t>(0)).argmax(1);
  }
  /// All of them, by a loop that carries the last token, all tokens and the caches, which have `start` rows.
  Tensor continued(const Tensor &first, const std::vector<zyx::nn::KVCache> &caches, int64_t start,
                   int64_t count) const {
    const Tensor places = Tensor::arange(0, count);
    std::vector<Tensor> carried = {first, zyx::where(places == 0, first, 0)};
    for (const auto &[keys, values] : caches)
      carried.insert(carried.end(), {keys, values});
    return zyx::loop(count - 1, carried, [&](const Tensor &trip, std::span<const Tensor> now) {
      std::vector<zyx::nn::KVCache> all;
      for (size_t i = 2; i < now.size(); i += 2)
        all.push_back({now[i], now[i + 1]});
      const Tensor token = forwardCached(now[0], all, trip + start).argmax(1);
      std::vector<Tensor> next = {token, zyx::where(places == trip + 1, token, now[1])};
      for (const auto &[keys, values] : all)
        next.insert(next.end(), {keys, values});
      return next;
    })[1];
  }

private:
  static std::string block(int64_t i) { return "h." + std::to_string(i) + "."; }
  const Tensor &weight(const std::string &name) const {
    const auto found = weights.find(name);
    if (found == weights.end())
      throw zyx::Error(zyx::Status::notFound("GPT-2: there is no tensor '" + name + "'"), zyx::Place::current());
    return found->second;
  }
  Tensor embedded(const Tensor &tokens, const Tensor &start) const {
    const Tensor rows = Tensor::arange(0, tokens.size(0)) + start;
    return zyx::take(weight("wte.weight"), tokens) + zyx::take(weight("wpe.weight"), rows);
  }
  /// Weights are [in, out].
  Tensor linear(const Tensor &x, const std::string &name) const {
    return zyx::matmul(x, weight(name + ".weight")) + weight(name + ".bias");
  }
  Tensor norm(const Tensor &x, const std::string &name) const {
    return zyx::layerNorm(x, 1, weight(name + ".weight"), weight(name + ".bias"));
  }
  /// [heads, rows, width / heads] each.
  std::pair<Tensor, zyx::nn::KVCache> split(int64_t i, const Tensor &x) const {
    const Tensor all = linear(norm(x, block(i) + "ln_1"), block(i) + "attn.c_attn")
                           .reshape({-1, 3, heads, width / heads})
                           .permute({1, 2, 0, 3});
    return {all.select(0, 0), {all.select(0, 1), all.select(0, 2)}};
  }
  Tensor after(int64_t i, const Tensor &x, const Tensor &attended) const {
    const Tensor y = x + linear(attended.transpose(0, 1).flatten(1), block(i) + "attn.c_proj");
    const Tensor hidden = linear(norm(y, block(i) + "ln_2"), block(i) + "mlp.c_fc");
    const Tensor curve = (hidden + 0.044715 * hidden * hidden * hidden) * 0.7978845608028654;
    return y + linear(0.5 * hidden * (1 + curve.tanh()), block(i) + "mlp.c_proj");
  }
  Tensor head(const Tensor &x) const { return zyx::matmul(norm(x, "ln_f"), weight("wte.weight").transpose()); }

  NamedTensors weights;
};

} // namespace gpt2

#endif // ZYX_EXAMPLES_GPT2_H
