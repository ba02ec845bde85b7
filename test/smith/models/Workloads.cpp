//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Single workloads that compilers are slow at, of fixed sizes: each was far behind a library once.
#include "smith/models/Layers.h"

#include <cmath>

namespace zyx::smith {

namespace {

using Kind = Values::Kind;

/// Of three sizes the one of the scale.
int64_t sized(Sketch &s, const char *name, int64_t full, int64_t host, int64_t small) {
  return s.pick(name, {full}, {host}, {small});
}

void inFloats(Sketch &s) { s.about().dtype = DType::F32; }

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

Heads heads(Sketch &s, int64_t batch, int64_t keys, int64_t keysOfHost) {
  const int64_t rows = sized(s, "keys", keys, keysOfHost, 9);
  s.note("batch", batch);
  switch (s.scale()) {
  case Scale::Full:
    return {batch, 32, 8, rows, rows, 128};
  case Scale::Host:
    return {1, 8, 2, rows, rows, 64};
  case Scale::Small:
    break;
  }
  return {batch == 1 ? 1 : 2, 4, 2, rows, rows, 4};
}

struct QueriesKeysValues {
  Tensor q, k, v;
};
QueriesKeysValues queriesKeysValues(Sketch &s, const Heads &h) {
  return {s.x("q", {h.batch, h.heads, h.queries, h.width}), s.x("k", {h.batch, h.groups, h.keys, h.width}),
          s.x("v", {h.batch, h.groups, h.keys, h.width})};
}

void rotaryAttention(Sketch &s) {
  const Heads h = heads(s, 1, 2048, 512);
  const auto [q, k, v] = queriesKeysValues(s, h);
  const Tensor positions = Tensor::arange(h.keys);
  sayRotary(s, "q", h.queries, h.width, 500000);
  sayRotary(s, "k", h.keys, h.width, 500000);
  countAttention(s, h, 0.5);
  s.say("y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)");
  const int64_t share = h.heads / h.groups;
  const Tensor keys = repeated(nn::rotary(k, positions, 500000), share);
  s.result("y",
           scaledDotProductAttention(nn::rotary(q, positions, 500000), keys, repeated(v, share), {.causal = true}));
}

/// One query for each text, what a cache has, and the row that it gets.
struct CacheStep {
  Heads h;
  QueriesKeysValues old;
  Tensor newKey, newValue;
};
CacheStep cacheStep(Sketch &s, Heads h) {
  h.queries = 1;
  const QueriesKeysValues old = queriesKeysValues(s, h);
  const Shape row = {h.batch, h.groups, 1, h.width};
  const Tensor newKey = s.x("new_k", row), newValue = s.x("new_v", row);
  return {h, old, newKey, newValue};
}
void attendCache(Sketch &s, const Heads &h, const Tensor &q, const Tensor &k, const Tensor &v) {
  const int64_t share = h.heads / h.groups;
  s.say("y = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)");
  s.result("y", scaledDotProductAttention(q, repeated(k, share), repeated(v, share)));
  s.result("k", k);
  s.result("v", v);
}

/// The cache grows by a row.
void decodeByConcat(Sketch &s) {
  auto [h, old, newKey, newValue] = cacheStep(s, heads(s, 1, 2047, 511));
  h.keys += 1;
  countAttention(s, h);
  s.say("k, v = torch.cat([k, new_k], 2), torch.cat([v, new_v], 2)");
  attendCache(s, h, old.q, concat(std::vector{old.k, newKey}, 2), concat(std::vector{old.v, newValue}, 2));
}

/// 16 texts; a select writes a row of the cache.
void decodeBySelect(Sketch &s) {
  const auto [h, old, newKey, newValue] = cacheStep(s, heads(s, 16, 2048, 512));
  const auto last = static_cast<double>(h.keys - 1);
  const Tensor start = s.data("start", {DType::I64, {}}, {Kind::Uniform, last, last + 1});
  countAttention(s, h);
  s.say("here = (torch.arange(", h.keys, ", device=q.device) == start)[:, None]");
  s.say("k, v = torch.where(here, new_k, k), torch.where(here, new_v, v)");
  const Shape &cache = old.k.shape();
  const Tensor here = (Tensor::arange(h.keys) == start).unsqueeze(1).expand(cache);
  attendCache(s, h, old.q, where(here, newKey.expand(cache), old.k), where(here, newValue.expand(cache), old.v));
  s.updatesInPlace("k", newKey.numel());
  s.updatesInPlace("v", newKey.numel());
}

void windowAttention(Sketch &s) {
  const Heads h = heads(s, 1, 8192, 1024);
  const int64_t window = sized(s, "window", 1024, 128, 3);
  const auto [q, k, v] = queriesKeysValues(s, h);
  countAttention(s, h, static_cast<double>(window) / static_cast<double>(h.keys));
  s.say("i = torch.arange(", h.queries, ", device=q.device)");
  s.say("mask = (i <= i[:, None]) & (i > i[:, None] - ", window, ")");
  s.say("y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)");
  const Tensor column = Tensor::arange(h.keys), row = column.unsqueeze(1);
  const int64_t share = h.heads / h.groups;
  s.result("y", scaledDotProductAttention(q, repeated(k, share), repeated(v, share),
                                          {.mask = (column <= row) & (column > row - window)}));
}

void causalAttention(Sketch &s) {
  const Heads h = heads(s, 1, 4096, 512);
  const auto [q, k, v] = queriesKeysValues(s, h);
  countAttention(s, h, 0.5);
  s.say("y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)");
  const int64_t share = h.heads / h.groups;
  s.result("y", scaledDotProductAttention(q, repeated(k, share), repeated(v, share), {.causal = true}));
}

void rotaryAlone(Sketch &s) {
  const Heads h = heads(s, 4, 2048, 512);
  const Tensor q = s.x("q", {h.batch, h.heads, h.queries, h.width});
  sayRotary(s, "q", h.queries, h.width, 10000);
  s.result("q", nn::rotary(q, Tensor::arange(h.queries), 10000));
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

Tensor image(Sketch &s, int64_t batch, int64_t channels, int64_t side, bool channelsLast = false) {
  const int64_t images = s.scale() == Scale::Full ? batch : s.isSmall() ? 2 : 1;
  return layout(s, "x", {images, s.isSmall() ? 8 : channels, s.isSmall() ? 5 : side, s.isSmall() ? 5 : side},
                channelsLast);
}
ConvolutionOptions padded(int64_t padding, int64_t groups = 1, int64_t stride = 1) {
  ConvolutionOptions options;
  options.padding = {padding, padding};
  options.stride = {stride, stride};
  options.groups = groups;
  return options;
}

/// A convolution behind a norm and an activation, with a vector for each image behind it.
void normConvolution(Sketch &s) {
  Tensor x = image(s, 16, 320, 32);
  const int64_t channels = x.size(1), groups = s.isSmall() ? 2 : 32;
  const Tensor weight = s.weight("weight", {channels}, nearOne), bias = s.weight("bias", {channels}, nearZero);
  const Tensor features = s.x("features", {x.size(0), channels});
  s.say("x = F.silu(F.group_norm(x, ", groups, ", weight, bias, 1e-5))");
  x = groupNorm(x, groups, weight, bias, 1e-5).silu();
  const Tensor y = convolved(s, x, "x", "y", "conv", channels, {3, 3}, padded(1));
  s.say("y = y + features[:, :, None, None]");
  s.result("y", y + features.unsqueeze(2).unsqueeze(3));
}

/// The gradients of one block of ResNet 50, with its stride.
void bottleneckStep(Sketch &s) {
  s.about().hasGradients = true;
  const Tensor x = image(s, 32, 256, 56);
  const int64_t inner = s.isSmall() ? 4 : 128;
  const auto part = [&](const Tensor &given, const char *from, const char *to, const std::string &name, int64_t outputs,
                        int64_t window, int64_t stride) {
    const Tensor y =
        convolved(s, given, from, to, name, outputs, {window, window}, padded(window / 2, 1, stride), false);
    return batchNormed(s, y, to, name + "_norm", true);
  };
  Tensor y = part(x, "x", "y", "conv1", inner, 1, 1).relu();
  s.say("y = y.relu()");
  y = part(y, "y", "y", "conv2", inner, 3, 2).relu();
  s.say("y = y.relu()");
  y = part(y, "y", "y", "conv3", 4 * inner, 1, 1);
  const Tensor shortcut = part(x, "x", "x", "shortcut", 4 * inner, 1, 2);
  s.say("y = (x + y).relu()");
  s.result("y", (shortcut + y).relu());
}

void batchNormOfLastChannels(Sketch &s) {
  const Tensor y = batchNormed(s, image(s, 32, 256, 56, true), "x", "norm", true);
  s.say("x = x.permute(0, 2, 3, 1)");
  s.result("x", y.permute({0, 2, 3, 1}));
}

void batchStatistics(Sketch &s) {
  const Tensor x = image(s, 32, 256, 56, true), wide = x.cast(accumulatorType(s.dtype()));
  s.say("variance, mean = torch.var_mean(wide(x), (0, 2, 3), correction=0)");
  s.result("mean", wide.mean({0, 2, 3}));
  s.result("variance", wide.var({0, 2, 3}, false, 0));
}

void depthwise(Sketch &s, bool channelsLast) {
  const Tensor x = image(s, 32, 256, 56, channelsLast);
  Tensor y = convolved(s, x, "x", "y", "conv", x.size(1), {3, 3}, padded(1, x.size(1)));
  if (channelsLast) {
    s.say("y = y.permute(0, 2, 3, 1)");
    y = y.permute({0, 2, 3, 1});
  }
  s.result("y", y);
}
void depthwiseFirst(Sketch &s) { depthwise(s, false); }
void depthwiseLast(Sketch &s) { depthwise(s, true); }

void groupedConvolution(Sketch &s) {
  const Tensor x = image(s, 32, 256, 28);
  s.result("y", convolved(s, x, "x", "y", "conv", x.size(1), {3, 3}, padded(1, s.isSmall() ? 4 : 32)));
}

void transposed(Sketch &s) {
  const Tensor x = image(s, 16, 256, 28);
  const int64_t channels = x.size(1), outputs = s.isSmall() ? 4 : 128;
  TransposedConvolutionOptions options;
  options.stride = {2, 2};
  options.padding = {1, 1};
  const Tensor filters = s.weight("weight", {channels, outputs, 4, 4}, channels * 4),
               bias = s.weight("bias", {outputs}, nearZero);
  s.say("y = F.conv_transpose2d(x, weight, bias, stride=2, padding=1)");
  s.countProduct(x.numel(), 1, outputs * 16);
  s.result("y", transposedConvolution(x, filters, bias, options));
}

/// 8 groups of 64 channels.
void groupNormOfManyChannels(Sketch &s) {
  const Tensor x = image(s, 16, 512, 56);
  const int64_t channels = x.size(1), groups = s.isSmall() ? 2 : 8;
  const Tensor weight = s.weight("weight", {channels}, nearOne), bias = s.weight("bias", {channels}, nearZero);
  s.say("y = F.group_norm(x, ", groups, ", weight, bias, 1e-5)");
  s.result("y", groupNorm(x, groups, weight, bias, 1e-5));
}

void filterGradients(Sketch &s) {
  s.about().hasGradients = true;
  const Tensor x = image(s, 32, 128, 28);
  s.result("y", convolved(s, x, "x", "y", "conv", x.size(1), {3, 3}, padded(1)));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Tensor product(Sketch &s, int64_t rows, int64_t columns, int64_t sums) {
  const Tensor a = s.x("a", {rows, sums}), b = s.weight("b", {sums, columns}, sums);
  s.countProduct(rows, columns, sums);
  s.say("y = a @ b");
  return matmul(a, b);
}
void smallProduct(Sketch &s) {
  const int64_t side = sized(s, "side", 256, 64, 8);
  s.result("y", product(s, side, side, side));
}
void oddProduct(Sketch &s) {
  const int64_t side = sized(s, "side", 2049, 385, 7);
  s.result("y", product(s, side, side + 2, side - 2));
}
void longProduct(Sketch &s) {
  const int64_t side = sized(s, "side", 256, 64, 4), sums = sized(s, "sums", 65536, 16384, 33);
  s.result("y", product(s, side, side, sums));
}

void normedProduct(Sketch &s) {
  const int64_t rows = sized(s, "rows", 4095, 127, 5), width = sized(s, "width", 1024, 768, 8);
  const Tensor x = s.x("x", {rows, width});
  const Tensor weight = s.weight("weight", {width}, nearOne), bias = s.weight("bias", {width}, nearZero);
  s.say("h = F.layer_norm(x, (", width, ",), weight, bias, 1e-5)");
  s.result("y", s.linear(layerNorm(x, 1, weight, bias, 1e-5), "h", "y", "out", 4 * width));
}

void bytesByChannel(Sketch &s) {
  const int64_t rows = sized(s, "rows", 16, 16, 3), in = sized(s, "in", 4096, 2048, 16),
                out = sized(s, "out", 11008, 4096, 9);
  const Tensor x = s.x("x", {rows, in}), q = s.constant("q", {DType::I8, {out, in}}, {Kind::Uniform, -127, 128});
  const Tensor scale = s.constant("scale", {s.dtype(), {out}}, {Kind::Uniform, 0.0001, 0.0003});
  s.countProduct(rows, out, in);
  s.say("y = F.linear(x, q.to(x.dtype) * scale[:, None])");
  s.result("y", matmul(x, (q.cast(s.dtype()) * scale.unsqueeze(1)).transpose()));
}

/// Layers that share one loop: the index picks the weights of a trip.
void loopOfProducts(Sketch &s) {
  const int64_t layers = sized(s, "layers", 12, 12, 3), rows = sized(s, "rows", 512, 32, 4),
                width = sized(s, "width", 1024, 512, 6);
  const Tensor x = s.x("x", {rows, width}), weights = s.weight("weights", {layers, width, width}, width);
  s.about().trips = layers;
  s.countProduct(layers * rows, width, width);
  s.say("for w in weights:");
  s.say("    x = torch.tanh(x @ w)");
  s.result("x", loop(layers, std::vector{x}, [&](const Tensor &trip, std::span<const Tensor> now) {
             return std::vector{matmul(now[0], take(weights, trip)).tanh()};
           })[0]);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void moved(Sketch &s) {
  const int64_t rows = sized(s, "rows", 8192, 1024, 6), width = sized(s, "width", 4096, 1024, 8);
  const Tensor a = s.x("a", {rows, width}), b = s.x("b", {rows, width});
  s.say("y = torch.cat([a[:, ", width / 2, ":], -b[:, :", width / 2, "]], 1)");
  s.result("y", concat(std::vector{a.narrow(1, width / 2, width - width / 2), -b.narrow(1, 0, width / 2)}, 1));
}

void gatheredRows(Sketch &s) {
  const int64_t vocabulary = sized(s, "vocabulary", 50257, 50257, 11), rows = sized(s, "rows", 65536, 4096, 5);
  const int64_t width = sized(s, "width", 1024, 768, 8);
  const Tensor tokens = s.data("tokens", {DType::I64, {rows}}, {Kind::Uniform, 0, static_cast<double>(vocabulary)});
  const Tensor table = s.weight("table", {vocabulary, width}, Values{});
  s.touches("table", std::min(rows, vocabulary) * width * byteSize(s.dtype()));
  s.say("y = table[tokens]");
  s.result("y", take(table, tokens));
}

void topOf(Sketch &s) {
  inFloats(s);
  const int64_t rows = sized(s, "rows", 128, 8, 2), classes = sized(s, "classes", 32000, 32000, 50),
                k = sized(s, "k", 50, 50, 5);
  const Tensor logits = s.x("logits", {rows, classes}, {Kind::Normal, 0, 3});
  s.about().sorted = classes;
  s.say("y = logits.topk(", k, ").values");
  s.result("y", logits.topk(k).values);
}

void largestOf(Sketch &s) {
  inFloats(s);
  const int64_t rows = sized(s, "rows", 1024, 64, 3), classes = sized(s, "classes", 50257, 50257, 50);
  const Tensor logits = s.x("logits", {rows, classes}, {Kind::Normal, 0, 3});
  s.about().mayDiffer = 0.001;
  s.say("y = logits.argmax(-1)");
  s.result("y", logits.argmax(-1));
}

void softmaxOf(Sketch &s, int64_t rows, int64_t columns, int64_t hostRows, int64_t hostColumns) {
  const Tensor x = s.x("x", {sized(s, "rows", rows, hostRows, 3), sized(s, "columns", columns, hostColumns, 33)});
  s.say("y = x.softmax(-1)");
  s.result("y", x.softmax(-1));
}
void softmaxOfShortRows(Sketch &s) { softmaxOf(s, 65536, 1000, 1024, 1000); }
void softmaxOfRows(Sketch &s) { softmaxOf(s, 16384, 4096, 256, 4096); }
void softmaxOfLongRows(Sketch &s) {
  inFloats(s);
  softmaxOf(s, 2048, 65536, 16, 65536);
}
void softmaxOfLongestRows(Sketch &s) {
  inFloats(s);
  softmaxOf(s, 1024, 262144, 4, 262144);
}

void outerScan(Sketch &s) {
  inFloats(s);
  const Tensor x = s.x("x", {sized(s, "steps", 8192, 2048, 9), sized(s, "width", 4096, 512, 6)});
  s.say("y = x.cumsum(0)");
  s.result("y", x.cumsum(0));
}

void transposedSum(Sketch &s) {
  inFloats(s);
  const int64_t side = sized(s, "side", 8192, 4096, 9);
  const Tensor a = s.x("a", {side, side}), b = s.x("b", {side, side});
  s.say("y = a.T + b");
  s.result("y", a.transpose() + b);
}

void geluOf(Sketch &s) {
  const Tensor x = s.x("x", {sized(s, "count", int64_t(1) << 26, int64_t(1) << 22, 37)});
  s.say("y = F.gelu(x)");
  s.result("y", x.gelu());
}

} // namespace

std::span<const Family> workloads() {
  static constexpr Family all[] = {{"rotary-attention", rotaryAttention},
                                   {"decode-concat", decodeByConcat},
                                   {"decode-select", decodeBySelect},
                                   {"attention-window", windowAttention},
                                   {"attention-causal", causalAttention},
                                   {"rotary", rotaryAlone},
                                   {"norm-convolution", normConvolution},
                                   {"bottleneck-step", bottleneckStep},
                                   {"batch-norm-last", batchNormOfLastChannels},
                                   {"batch-statistics", batchStatistics},
                                   {"depthwise-first", depthwiseFirst},
                                   {"depthwise-last", depthwiseLast},
                                   {"convolution-32-groups", groupedConvolution},
                                   {"convolution-transposed", transposed},
                                   {"group-norm-8x64", groupNormOfManyChannels},
                                   {"filter-gradients", filterGradients},
                                   {"product-small", smallProduct},
                                   {"product-odd", oddProduct},
                                   {"product-long", longProduct},
                                   {"norm-product", normedProduct},
                                   {"int8-by-channel", bytesByChannel},
                                   {"loop-of-products", loopOfProducts},
                                   {"concat-slices", moved},
                                   {"gather-rows", gatheredRows},
                                   {"top-50", topOf},
                                   {"arg-max", largestOf},
                                   {"softmax-1000", softmaxOfShortRows},
                                   {"softmax-4096", softmaxOfRows},
                                   {"softmax-65536", softmaxOfLongRows},
                                   {"softmax-262144", softmaxOfLongestRows},
                                   {"scan-outer", outerScan},
                                   {"transpose-sum", transposedSum},
                                   {"gelu", geluOf}};
  return all;
}

} // namespace zyx::smith
