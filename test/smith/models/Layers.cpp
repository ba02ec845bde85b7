//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "smith/models/Layers.h"

#include <cmath>
#include <functional>

namespace zyx::smith {

//===----------------------------------------------------------------------===//
// Transformers
//===----------------------------------------------------------------------===//

void countAttention(Sketch &s, const Heads &h, double visible) {
  s.countProduct(h.queries, h.keys, h.width, 2 * static_cast<double>(h.batch * h.heads) * visible);
}

Tensor repeated(const Tensor &x, int64_t share) {
  if (share == 1)
    return x;
  Shape shape = x.shape();
  shape.insert(shape.end() - 2, share);
  return x.unsqueeze(-3).expand(shape).flatten(x.rank() - 3, x.rank() - 2);
}

const char *groupOption(const Heads &h) { return h.heads == h.groups ? "" : ", enable_gqa=True"; }

void sayRotary(Sketch &s, const char *name, int64_t rows, int64_t width, double base, const char *start) {
  s.say("t = torch.exp(torch.arange(", width / 2, ", device=", name, ".device, dtype=wide(", name, ").dtype) * ",
        -2 / static_cast<double>(width) * std::log(base), ")");
  const std::string first = start ? std::string(start) + " + " : "";
  s.say("a = (", first, "torch.arange(", rows, ", device=", name, ".device)).to(t.dtype)[:, None] * t");
  s.say("lo, hi = wide(", name, ").chunk(2, -1)");
  s.say(name, " = torch.cat([lo * a.cos() - hi * a.sin(), hi * a.cos() + lo * a.sin()], -1).to(", name, ".dtype)");
}

namespace {

constexpr double llamaBase = 500000;

/// What blocks of transformers have in common: weights by the layer's names, and norms of its kind.
class Block {
public:
  Block(Sketch &s, const TransformerLayer &layer) : s(s), layer(layer) {}

  bool isLlama() const { return layer.kind == TransformerLayer::Kind::Llama; }
  int64_t width() const { return layer.heads.heads * layer.heads.width; }

  Tensor norm(const char *from, const Tensor &given, const char *to, const char *part) {
    const std::string name = layer.prefix + part;
    const Tensor weight = s.weight((name + "_weight").c_str(), {width()}, nearOne);
    if (isLlama()) {
      s.say(to, " = F.rms_norm(", from, ", (", width(), ",), ", name, "_weight, 1e-5)");
      return rmsNorm(given, 1, weight, 1e-5);
    }
    const Tensor bias = s.weight((name + "_bias").c_str(), {width()}, nearZero);
    s.say(to, " = F.layer_norm(", from, ", (", width(), ",), ", name, "_weight, ", name, "_bias, 1e-5)");
    return layerNorm(given, 1, weight, bias, 1e-5);
  }
  Tensor linear(const Tensor &x, const char *from, const char *to, const char *part, int64_t out) {
    return s.linear(x, from, to, layer.prefix + part, out, !isLlama());
  }
  /// [batch, count, rows, width of a head].
  Tensor byHead(const Tensor &from, const char *name, const char *part, int64_t count) {
    const Heads &h = layer.heads;
    const Tensor y = linear(from, "n", name, part, count * h.width);
    s.say(name, " = ", name, ".view(", h.batch, ", ", h.queries, ", ", count, ", ", h.width, ").transpose(1, 2)");
    return y.reshape({h.batch, h.queries, count, h.width}).transpose(1, 2);
  }
  /// Behind the attention, whose result is "y": both residuals and what is between.
  Tensor rest(Tensor x, Tensor y) {
    s.say("y = y.transpose(1, 2).flatten(2)");
    y = linear(y.transpose(1, 2).flatten(2), "y", "y", "output", width());
    s.say("x = x + y");
    x = x + y;
    const bool isAfter = layer.kind == TransformerLayer::Kind::Bert;
    if (isAfter)
      x = norm("x", x, "x", "norm1");
    const Tensor inner = isAfter ? x : norm("x", x, "n", "norm2");
    if (isAfter)
      s.say("n = x");
    if (isLlama()) {
      const Tensor gate = linear(inner, "n", "g", "gate", layer.hidden),
                   up = linear(inner, "n", "u", "up", layer.hidden);
      s.say("m = F.silu(g) * u");
      y = linear(gate.silu() * up, "m", "m", "down", width());
    } else {
      const bool isTanh = layer.kind == TransformerLayer::Kind::Gpt2;
      const Tensor up = linear(inner, "n", "m", "up", layer.hidden);
      s.say(isTanh ? "m = F.gelu(m, approximate='tanh')" : "m = F.gelu(m)");
      y = linear(isTanh ? geluTanh(up) : up.gelu(), "m", "m", "down", width());
    }
    s.say("x = x + m");
    x = x + y;
    return isAfter ? norm("x", x, "x", "norm2") : x;
  }

private:
  Sketch &s;
  const TransformerLayer &layer;
};

} // namespace

Tensor transformerLayer(Sketch &s, Tensor x, const TransformerLayer &layer) {
  using enum TransformerLayer::Kind;
  Block block(s, layer);
  const Heads &h = layer.heads;
  const bool isCausal = layer.kind == Llama || layer.kind == Gpt2;
  if (layer.kind == Bert)
    s.say("n = x");
  const Tensor before = layer.kind == Bert ? x : block.norm("x", x, "n", "norm1");
  Tensor q = block.byHead(before, "q", "query", h.heads), k = block.byHead(before, "k", "key", h.groups);
  const Tensor v = block.byHead(before, "v", "value", h.groups);
  if (layer.kind == Llama) {
    sayRotary(s, "q", h.queries, h.width, llamaBase);
    sayRotary(s, "k", h.keys, h.width, llamaBase);
    const Tensor positions = Tensor::arange(h.keys);
    q = nn::rotary(q, positions, llamaBase);
    k = nn::rotary(k, positions, llamaBase);
  }
  countAttention(s, h, isCausal ? 0.5 : 1);
  s.say("y = F.scaled_dot_product_attention(q, k, v",
        isCausal             ? ", is_causal=True"
        : layer.kind == Bert ? ", attn_mask=mask"
                             : "",
        groupOption(h), ")");
  const int64_t share = h.heads / h.groups;
  DotProductAttentionOptions options;
  options.causal = isCausal;
  options.mask = layer.mask;
  return block.rest(x, scaledDotProductAttention(q, repeated(k, share), repeated(v, share), options));
}

Decoded decodeLayer(Sketch &s, const Tensor &x, const Tensor &keys, const Tensor &values, const Tensor &start,
                    const TransformerLayer &layer) {
  Block block(s, layer);
  const Heads &h = layer.heads;
  const Tensor before = block.norm("x", x, "n", "norm1");
  Tensor q = block.byHead(before, "q", "query", h.heads), k = block.byHead(before, "k", "key", h.groups);
  const Tensor v = block.byHead(before, "v", "value", h.groups);
  sayRotary(s, "q", 1, h.width, llamaBase, "start");
  sayRotary(s, "k", 1, h.width, llamaBase, "start");
  const Tensor position = start.reshape({1});
  q = nn::rotary(q, position, llamaBase);
  k = nn::rotary(k, position, llamaBase);
  s.say("rows = start + torch.arange(1, device=q.device)");
  s.say("keys, values = keys.index_copy_(2, rows, k), values.index_copy_(2, rows, v)");
  s.say("mask = torch.arange(", h.keys, ", device=q.device) <= rows[:, None]");
  countAttention(s, h);
  s.say("y = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask", groupOption(h), ")");
  const nn::KVCache all = nn::append({keys, values}, {k, v}, start);
  const int64_t share = h.heads / h.groups;
  const Tensor y = nn::cachedAttention(q, {repeated(all.keys, share), repeated(all.values, share)}, start);
  return {block.rest(x, y), all.keys, all.values};
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

static int64_t product(std::span<const int64_t> numbers) {
  int64_t result = 1;
  for (int64_t number : numbers)
    result *= number;
  return result;
}

/// "a, stride=2, ..." behind the operands of F.conv2d.
static std::string pythonOptions(const ConvolutionOptions &options) {
  std::string text;
  const auto add = [&](const char *name, const Dims &numbers) {
    if (!numbers.empty())
      text += std::string(", ") + name + "=" + pythonTuple(Shape(numbers.begin(), numbers.end()));
  };
  add("stride", options.stride);
  add("padding", options.padding);
  add("dilation", options.dilation);
  if (options.groups != 1)
    text += ", groups=" + std::to_string(options.groups);
  return text;
}

/// [first, channels, positions...], as a view of an input that has channels last.
static Tensor lastChannels(Sketch &s, const char *name, const Shape &shape,
                           const std::function<Tensor(const Shape &)> &input) {
  const auto rank = static_cast<int64_t>(shape.size());
  Shape stored = {shape[0]};
  stored.insert(stored.end(), shape.begin() + 2, shape.end());
  stored.push_back(shape[1]);
  Dims order = {0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i)
    order.push_back(i);
  s.say(name, " = ", name, ".permute", Shape(order.begin(), order.end()));
  return input(stored).permute(order);
}

Tensor convolved(Sketch &s, const Tensor &x, const char *from, const char *to, const std::string &name, int64_t outputs,
                 const Shape &window, const ConvolutionOptions &options, bool hasBias, bool channelsLast) {
  const int64_t each = x.shape()[1] / options.groups, sums = each * product(window);
  Shape shape = {outputs, each};
  shape.insert(shape.end(), window.begin(), window.end());
  const std::string weight = name + "_weight";
  const Tensor filters = channelsLast
                             ? lastChannels(s, weight.c_str(), shape,
                                            [&](const Shape &stored) { return s.weight(weight.c_str(), stored, sums); })
                             : s.weight(weight.c_str(), shape, sums);
  const Tensor bias = hasBias ? s.weight((name + "_bias").c_str(), {outputs}, nearZero) : Tensor();
  s.say(to, " = F.conv", static_cast<int64_t>(window.size()), "d(", from, ", ", weight, ", ",
        hasBias ? name + "_bias" : std::string("None"), pythonOptions(options), ")");
  const Tensor y = convolution(x, filters, bias, options);
  s.countProduct(y.numel(), 1, sums);
  return y;
}

Tensor layout(Sketch &s, const char *name, const Shape &shape, bool channelsLast) {
  return channelsLast ? lastChannels(s, name, shape, [&](const Shape &stored) { return s.x(name, stored); })
                      : s.x(name, shape);
}

Tensor batchNormed(Sketch &s, const Tensor &x, const char *name, const std::string &prefix, bool isTraining) {
  const int64_t channels = x.shape()[1];
  const Tensor weight = s.weight((prefix + "_weight").c_str(), {channels}, nearOne),
               bias = s.weight((prefix + "_bias").c_str(), {channels}, nearZero);
  if (isTraining) {
    s.say(name, " = F.batch_norm(", name, ", None, None, ", prefix, "_weight, ", prefix, "_bias, True)");
    const Tensor wide = x.cast(accumulatorType(x.dtype()));
    return batchNorm(x, wide.mean({0, 2, 3}), wide.var({0, 2, 3}, false, 0), weight, bias);
  }
  const Tensor mean = s.constant((prefix + "_mean").c_str(), {s.dtype(), {channels}}, nearZero),
               variance = s.constant((prefix + "_variance").c_str(), {s.dtype(), {channels}},
                                     {Values::Kind::Uniform, 0.5, 1.5});
  s.say(name, " = F.batch_norm(", name, ", ", prefix, "_mean, ", prefix, "_variance, ", prefix, "_weight, ", prefix,
        "_bias)");
  return batchNorm(x, mean, variance, weight, bias);
}

Tensor residualOfUNet(Sketch &s, const Tensor &x, int64_t outputs, int64_t features) {
  const int64_t groups = s.isSmall() ? 4 : 32;
  const auto normed = [&](const Tensor &given, const char *name, const std::string &prefix) {
    const int64_t count = given.shape()[1];
    const Tensor weight = s.weight((prefix + "_weight").c_str(), {count}, nearOne),
                 bias = s.weight((prefix + "_bias").c_str(), {count}, nearZero);
    s.say("y = F.silu(F.group_norm(", name, ", ", groups, ", ", prefix, "_weight, ", prefix, "_bias))");
    return groupNorm(given, groups, weight, bias).silu();
  };
  ConvolutionOptions same;
  same.padding = {1, 1};
  Tensor y = convolved(s, normed(x, "x", "norm1"), "y", "y", "conv1", outputs, {3, 3}, same);
  const Tensor time = s.x("time", {x.shape()[0], features});
  const Tensor shift = s.linear(time.silu(), "F.silu(time)", "t", "time", outputs);
  s.say("y = y + t[:, :, None, None]");
  y = y + shift.reshape({x.shape()[0], outputs, 1, 1});
  y = convolved(s, normed(y, "y", "norm2"), "y", "y", "conv2", outputs, {3, 3}, same);
  Tensor shortcut = x;
  if (outputs != x.shape()[1])
    shortcut = convolved(s, x, "x", "x", "shortcut", outputs, {1, 1}, {});
  s.say("y = x + y");
  return shortcut + y;
}

} // namespace zyx::smith
