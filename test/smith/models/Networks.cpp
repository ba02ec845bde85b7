//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Whole networks of published sizes, and their steps. Nothing of them is drawn but their inputs.
#include "smith/models/Layers.h"

namespace zyx::smith {

namespace {

using Kind = TransformerLayer::Kind;

/// Of three sizes the one of the scale.
int64_t sized(Sketch &s, const char *name, int64_t full, int64_t host, int64_t small) {
  return s.pick(name, {full}, {host}, {small});
}

//===----------------------------------------------------------------------===//
// Transformers
//===----------------------------------------------------------------------===//

/// A layer of Llama 3 8B.
TransformerLayer llamaLayer(Sketch &s, int64_t batch, int64_t queries, int64_t keys) {
  TransformerLayer layer;
  layer.kind = Kind::Llama;
  layer.heads = s.isSmall() ? Heads{batch, 4, 2, queries, keys, 4} : Heads{batch, 32, 8, queries, keys, 128};
  layer.hidden = s.isSmall() ? 24 : 14336;
  return layer;
}

void llamaPrefill(Sketch &s) {
  const int64_t rows = sized(s, "rows", 2048, 128, 5);
  const TransformerLayer layer = llamaLayer(s, 1, rows, rows);
  s.result("x", transformerLayer(s, s.x("x", {1, rows, layer.heads.heads * layer.heads.width}), layer));
}

void llamaDecode(Sketch &s, int64_t batch) {
  s.note("batch", batch);
  const int64_t room = sized(s, "room", 2048, 512, 7);
  const TransformerLayer layer = llamaLayer(s, batch, 1, room);
  const Heads &h = layer.heads;
  const Shape cache = {batch, h.groups, room, h.width};
  const Tensor x = s.x("x", {batch, 1, h.heads * h.width}), keys = s.x("keys", cache), values = s.x("values", cache);
  // The last row of the cache.
  const auto last = static_cast<double>(room - 1);
  const Tensor start = s.data("start", {DType::I64, {}}, {Values::Kind::Uniform, last, last + 1});
  const Decoded decoded = decodeLayer(s, x, keys, values, start, layer);
  s.result("x", decoded.x);
  s.result("keys", decoded.keys);
  s.result("values", decoded.values);
  s.updatesInPlace("keys", h.batch * h.groups * h.width);
  s.updatesInPlace("values", h.batch * h.groups * h.width);
}
void llamaDecodeOne(Sketch &s) { llamaDecode(s, 1); }
void llamaDecodeMany(Sketch &s) { llamaDecode(s, s.isSmall() ? 2 : 16); }

/// So many layers, one behind the other, of width 768 in heads of 64.
Tensor baseLayers(Sketch &s, Tensor x, Kind kind, const Tensor &mask = {}) {
  const int64_t batch = x.size(0), rows = x.size(1), width = x.size(2), head = s.isSmall() ? 4 : 64;
  const int64_t layers = sized(s, "layers", 12, 2, 2);
  for (int64_t i = 0; i < layers; ++i) {
    TransformerLayer layer;
    layer.kind = kind;
    layer.heads = {batch, width / head, width / head, rows, rows, head};
    layer.hidden = 4 * width;
    layer.prefix = "h" + std::to_string(i) + "_";
    layer.mask = mask;
    x = transformerLayer(s, x, layer);
  }
  return x;
}
int64_t baseWidth(const Sketch &s) { return s.isSmall() ? 8 : 768; }

Tensor normed(Sketch &s, const Tensor &x, const std::string &name) {
  const int64_t width = x.size(-1);
  const Tensor weight = s.weight((name + "_weight").c_str(), {width}, nearOne),
               bias = s.weight((name + "_bias").c_str(), {width}, nearZero);
  s.say("x = F.layer_norm(x, (", width, ",), ", name, "_weight, ", name, "_bias, 1e-5)");
  return layerNorm(x, 1, weight, bias, 1e-5);
}

/// Images of 224 in patches of 16.
void visionTransformer(Sketch &s) {
  const int64_t batch = sized(s, "batch", 32, 1, 2), patch = s.isSmall() ? 4 : 16, side = s.isSmall() ? 8 : 224;
  const int64_t width = baseWidth(s), rows = (side / patch) * (side / patch) + 1;
  ConvolutionOptions patches;
  patches.stride = {patch, patch};
  Tensor x = convolved(s, s.x("x", {batch, 3, side, side}), "x", "x", "patches", width, {patch, patch}, patches);
  const Tensor first = s.weight("first", {1, 1, width}, nearZero),
               positions = s.weight("positions", {1, rows, width}, nearZero);
  s.say("x = torch.cat([first.expand(", batch, ", 1, ", width, "), x.flatten(2).mT], 1) + positions");
  x = concat(std::vector{first.expand({batch, 1, width}), x.flatten(2, 3).transpose()}, 1) + positions;
  x = normed(s, baseLayers(s, x, Kind::Vit), "norm");
  s.say("x = x[:, 0]");
  s.result("x", s.linear(x.select(1, 0), "x", "x", "head", s.isSmall() ? 5 : 1000));
}

void bertBase(Sketch &s) {
  const int64_t batch = sized(s, "batch", 32, 1, 2), rows = sized(s, "rows", 384, 128, 5), width = baseWidth(s);
  const int64_t vocabulary = s.isSmall() ? 11 : 30522;
  const Tensor tokens =
      s.data("tokens", {DType::I64, {batch, rows}}, {Values::Kind::Uniform, 0, static_cast<double>(vocabulary)});
  const Tensor mask = s.data("mask", {DType::Bool, {batch, 1, 1, rows}}, {Values::Kind::Mask, 0.8, 0});
  const Tensor words = s.weight("words", {vocabulary, width}, nearZero),
               positions = s.weight("positions", {rows, width}, nearZero);
  s.touches("words", batch * rows * width * 2);
  s.say("x = words[tokens] + positions");
  const Tensor x = normed(s, take(words, tokens) + positions, "norm");
  s.result("x", baseLayers(s, x, Kind::Bert, mask));
}

/// A step of GPT-2 small with its update.
void gpt2Step(Sketch &s) {
  const int64_t batch = sized(s, "batch", 8, 1, 2), rows = sized(s, "rows", 1024, 64, 5), width = baseWidth(s);
  const int64_t vocabulary = s.isSmall() ? 11 : 50257;
  const Values token{Values::Kind::Uniform, 0, static_cast<double>(vocabulary)};
  const Tensor tokens = s.data("tokens", {DType::I64, {batch, rows}}, token),
               targets = s.data("targets", {DType::I64, {batch * rows}}, token);
  const Values small{Values::Kind::Normal, 0, 0.02};
  const Tensor words = s.weight("words", {vocabulary, width}, small),
               positions = s.weight("positions", {rows, width}, small);
  s.say("x = words[tokens] + positions");
  Tensor x = normed(s, baseLayers(s, take(words, tokens) + positions, Kind::Gpt2), "norm");
  s.countProduct(batch * rows, vocabulary, width);
  s.say("loss = F.cross_entropy(wide(x.flatten(0, 1) @ words.T), targets)");
  s.result("loss", crossEntropy(matmul(x.flatten(0, 1), words.transpose()).cast(DType::F32), targets));
  s.trainByAdamW();
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// ResNet 50 with its strides in the windows of 3x3, channels last; its 1000 numbers of each image.
Tensor resnet50(Sketch &s, bool isTraining) {
  const int64_t batch = sized(s, "batch", 32, 1, 2), side = s.isSmall() ? 32 : 224, first = s.isSmall() ? 4 : 64;
  s.say("x = x.permute(0, 3, 1, 2)");
  Tensor x = s.data("x", {s.dtype(), {batch, side, side, 3}}, Values{}).permute({0, 3, 1, 2});
  const auto convolution = [&](const Tensor &given, const char *from, const char *to, const std::string &name,
                               int64_t outputs, int64_t window, int64_t stride) {
    ConvolutionOptions options;
    options.stride = {stride, stride};
    options.padding = {window / 2, window / 2};
    const Tensor y = convolved(s, given, from, to, name, outputs, {window, window}, options, false, true);
    return batchNormed(s, y, to, name + "_norm", isTraining);
  };
  x = convolution(x, "x", "x", "stem", first, 7, 2).relu();
  s.say("x = F.max_pool2d(x.relu(), 3, 2, 1)");
  WindowOptions pool;
  pool.stride = {2, 2};
  pool.padding = {1, 1};
  x = maxPool(x, {3, 3}, pool);
  constexpr int64_t published[] = {3, 4, 6, 3}, few[] = {2, 1};
  const std::span<const int64_t> depths =
      s.isSmall() ? std::span<const int64_t>(few) : std::span<const int64_t>(published);
  for (size_t stage = 0; stage < depths.size(); ++stage)
    for (int64_t i = 0; i < depths[stage]; ++i) {
      const std::string name = "s" + std::to_string(stage) + "b" + std::to_string(i) + "_";
      const int64_t inner = first << stage, stride = stage && !i ? 2 : 1;
      Tensor y = convolution(x, "x", "y", name + "conv1", inner, 1, 1).relu();
      s.say("y = y.relu()");
      y = convolution(y, "y", "y", name + "conv2", inner, 3, stride).relu();
      s.say("y = y.relu()");
      y = convolution(y, "y", "y", name + "conv3", 4 * inner, 1, 1);
      if (!i)
        x = convolution(x, "x", "x", name + "shortcut", 4 * inner, 1, stride);
      s.say("x = (x + y).relu()");
      x = (x + y).relu();
    }
  s.say("x = x.mean((2, 3))");
  return s.linear(x.mean({2, 3}), "x", "x", "head", s.isSmall() ? 5 : 1000);
}

void resnet50Inference(Sketch &s) { s.result("x", resnet50(s, false)); }

void resnet50Step(Sketch &s) {
  s.about().hasGradients = true;
  const Tensor logits = resnet50(s, true);
  const auto classes = static_cast<double>(logits.size(1));
  const Tensor targets = s.data("targets", {DType::I64, {logits.size(0)}}, {Values::Kind::Uniform, 0, classes});
  s.say("loss = F.cross_entropy(wide(x), targets)");
  s.result("loss", crossEntropy(logits.cast(DType::F32), targets));
}

/// As Stable Diffusion 1 has it where channels double.
void unetResidual(Sketch &s) {
  const int64_t batch = sized(s, "batch", 16, 1, 2), side = sized(s, "side", 32, 16, 4);
  const Tensor x = s.x("x", {batch, s.isSmall() ? 8 : 320, side, side});
  s.result("y", residualOfUNet(s, x, s.isSmall() ? 16 : 640, s.isSmall() ? 12 : 1280));
}

} // namespace

std::span<const Family> networks() {
  static constexpr Family all[] = {{"llama-prefill", llamaPrefill},
                                   {"llama-decode-1", llamaDecodeOne},
                                   {"llama-decode-16", llamaDecodeMany},
                                   {"vit-b16", visionTransformer},
                                   {"bert-base", bertBase},
                                   {"resnet50", resnet50Inference},
                                   {"resnet50-step", resnet50Step},
                                   {"unet-residual", unetResidual},
                                   {"gpt2-step", gpt2Step}};
  return all;
}

} // namespace zyx::smith
