//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Families around attention: positions, masks and groups, one query with a cache, and whole blocks of transformers.
#include "smith/models/Layers.h"

#include <cmath>
#include <limits>

namespace zyx::smith {

namespace {

using Kind = Values::Kind;

/// What PyTorch's references keep in f32: scores where they have a mask, twice, and repeated keys and values. 50 GB
/// have room on a card.
constexpr int64_t mostBytes = 50'000'000'000;

int64_t headWidth(Sketch &s) { return s.width("head", {64, 64, 80, 96, 128, 128, 256}, {4, 8, 6}); }

/// Lengths from `lengths`, on hosts and for the interpreter from shorter ones.
Heads drawHeads(Sketch &s, bool hasGroups) {
  Heads h;
  h.width = headWidth(s);
  h.groups = s.width("groups", {4, 8, 12, 16}, {2, 3});
  h.heads = h.groups;
  if (hasGroups)
    h.heads *= s.width("share", {2, 4, 7, 8}, {2, 3});
  s.note("heads", h.heads);
  h.batch = s.batch("batch", {2, 4, 8, 16}, {1, 2}, {1, 2});
  h.queries = h.keys =
      s.pick("keys", {197, 384, 577, 1024, 1500, 2048, 2049, 4096, 8192}, {77, 128, 197, 256, 512}, {5, 9, 12});
  return h;
}

//===----------------------------------------------------------------------===//
// Masks and groups
//===----------------------------------------------------------------------===//

/// Softmax of scores by hand, as those write it whose scores no library takes.
void attendByHand(Sketch &s, const Heads &h, const Tensor &q, const Tensor &k, const Tensor &v, bool hasSinks) {
  const double scale = 1 / std::sqrt(static_cast<double>(h.width));
  s.say("scores = (q @ k.mT) * ", scale);
  Tensor scores = matmul(q, k.transpose()) * scale;
  if (!hasSinks) {
    s.say("scores = 30.0 * torch.tanh(scores / 30.0)");
    scores = 30.0 * (scores / 30.0).tanh();
  }
  s.say("hidden = torch.ones(", h.queries, ", ", h.keys, ", dtype=torch.bool, device=q.device).triu(1)");
  s.say("scores = wide(scores).masked_fill(hidden, float('-inf'))");
  const Tensor row = Tensor::arange(h.queries).unsqueeze(1), column = Tensor::arange(h.keys);
  const double never = -std::numeric_limits<double>::infinity();
  scores = where((column <= row).expand({h.queries, h.keys}), scores.cast(DType::F32), never);
  if (!hasSinks) {
    s.say("y = (scores.softmax(-1).to(v.dtype) @ v)");
    return s.result("y", matmul(scores.softmax(-1).cast(s.dtype()), v));
  }
  // What goes to nobody.
  const Tensor sinks = s.weight("sinks", {h.heads}, Values{});
  const Shape all = {h.batch, h.heads, h.queries, 1};
  s.say("sink = wide(sinks)[None, :, None, None].expand", all);
  s.say("p = torch.cat([scores, sink], -1).softmax(-1)[..., :-1]");
  s.say("y = p.to(v.dtype) @ v");
  const Tensor sink = sinks.cast(DType::F32).reshape({1, h.heads, 1, 1}).expand(all);
  const Tensor p = concat(std::vector{scores, sink}, -1).softmax(-1).narrow(-1, 0, h.keys);
  s.result("y", matmul(p.cast(s.dtype()), v));
}

void drawAttention(Sketch &s) {
  const size_t which =
      s.variant({"plain", "causal", "window", "padding", "additive", "documents", "cross", "soft-cap", "sinks"});
  s.drawGradients(0.3);
  Heads h = drawHeads(s, which == 1 || which == 2 ? s.chance(0.6) : which >= 7 ? false : s.chance(0.2));
  if (which == 6)
    h.keys = s.pick("memory", {77, 257, 1500, 4096}, {77, 257}, {3, 7});
  if (s.about().hasGradients || which >= 7)
    h.batch = s.atMost("batch", h.batch, h.keys > 2048 ? 1 : 4 * s.about().batches);
  h.batch = s.atMost("batch", h.batch, std::max<int64_t>(1, mostBytes / (4 * h.heads * h.queries * h.keys)));
  const Tensor q = s.x("q", {h.batch, h.heads, h.queries, h.width}), k = s.x("k", {h.batch, h.groups, h.keys, h.width}),
               v = s.x("v", {h.batch, h.groups, h.keys, h.width});
  if (which >= 7) {
    countAttention(s, h, 0.5);
    return attendByHand(s, h, q, k, v, which == 8);
  }
  DotProductAttentionOptions options;
  std::string mask;
  double visible = 1;
  const Tensor row = Tensor::arange(h.queries).unsqueeze(1), column = Tensor::arange(h.keys);
  const std::string positions = "i = torch.arange(" + std::to_string(h.queries) + ", device=q.device)[:, None]";
  switch (which) {
  case 1:
    options.causal = true;
    mask = ", is_causal=True";
    visible = 0.5;
    break;
  case 2: {
    const int64_t window = s.pick("window", {512, 1024, 4096}, {64, 128}, {2, 3});
    s.say(positions);
    s.say("j = torch.arange(", h.keys, ", device=q.device)");
    s.say("mask = (j <= i) & (j > i - ", window, ")");
    options.mask = (column <= row) & (column > row - window);
    mask = ", attn_mask=mask";
    visible = std::min(0.5, static_cast<double>(window) / static_cast<double>(h.keys));
    break;
  }
  case 3:
    options.mask = s.data("mask", {DType::Bool, {h.batch, 1, 1, h.keys}}, {Kind::Mask, 0.8, 0});
    mask = ", attn_mask=mask";
    break;
  case 4: {
    const bool perHead = s.chance(0.5);
    options.mask = s.x("bias", {perHead ? 1 : h.batch, perHead ? h.heads : 1, perHead ? h.queries : 1, h.keys});
    mask = ", attn_mask=bias";
    break;
  }
  case 5: {
    const Tensor document = s.data("document", {DType::I64, {h.batch, h.keys}}, {Kind::Ascending, 0, 4});
    s.say("mask = (document[:, None, :, None] == document[:, None, None, :]).tril()");
    options.mask =
        (document.reshape({h.batch, 1, h.keys, 1}) == document.reshape({h.batch, 1, 1, h.keys})) & (column <= row);
    mask = ", attn_mask=mask";
    visible = 0.125;
    break;
  }
  default:
    break;
  }
  countAttention(s, h, visible);
  s.say("y = F.scaled_dot_product_attention(q, k, v", mask, groupOption(h), ")");
  const int64_t share = h.heads / h.groups;
  s.result("y", scaledDotProductAttention(q, repeated(k, share), repeated(v, share), options));
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// The rotation of neighbours, by tables.
Tensor rotatedPairs(Sketch &s, const Tensor &x, const char *name, const Tensor &cosines, const Tensor &sines) {
  s.say("e, o = wide(", name, ")[..., 0::2], wide(", name, ")[..., 1::2]");
  s.say(name, " = torch.stack([e * cosines - o * sines, o * cosines + e * sines], -1).flatten(-2).to(", name,
        ".dtype)");
  const Tensor wide = x.cast(DType::F32);
  std::vector<Slice> even(x.rank()), odd(x.rank());
  even.back() = {0, std::nullopt, 2};
  odd.back() = {1, std::nullopt, 2};
  const Tensor e = wide.slice(even), o = wide.slice(odd);
  return stack(std::vector{e * cosines - o * sines, o * cosines + e * sines}, -1).flatten(-2, -1).cast(x.dtype());
}

void drawPosition(Sketch &s) {
  const size_t which =
      s.variant({"rotary", "rotary-attention", "rotary-pairs", "relative-buckets", "relative-windows", "alibi"});
  s.drawGradients(0.25);
  Heads h = drawHeads(s, which == 1 && s.chance(0.5));
  const double base = s.chance(0.5) ? 10000 : 500000;
  if (which == 4) {
    // Windows of Swin.
    const int64_t side = s.width("side", {7, 8, 12, 14}, {2, 3});
    h.batch *= s.pick("windows", {64, 256, 1024}, {16, 64}, {2, 3});
    h.width = s.isSmall() ? 4 : 32;
    h.queries = h.keys = side * side;
  }
  // With a bias PyTorch stores scores, and for gradients some more of their size.
  const int64_t scoreBytes = (s.about().hasGradients ? 16 : 4) * h.heads * h.queries * h.keys;
  if (which >= 3)
    h.batch = s.atMost("batch", h.batch, std::max<int64_t>(1, mostBytes / scoreBytes));
  const Tensor q = s.x("q", {h.batch, h.heads, h.queries, h.width}), positions = Tensor::arange(h.keys);
  if (which == 0) {
    sayRotary(s, "q", h.queries, h.width, base);
    return s.result("q", nn::rotary(q, positions, base));
  }
  const Tensor k = s.x("k", {h.batch, h.groups, h.keys, h.width});
  const Tensor v = s.x("v", {h.batch, h.groups, h.keys, h.width});
  const int64_t share = h.heads / h.groups;
  if (which == 1 || which == 2) {
    Tensor turnedQ, turnedK;
    if (which == 1) {
      sayRotary(s, "q", h.queries, h.width, base);
      sayRotary(s, "k", h.queries, h.width, base);
      turnedQ = nn::rotary(q, positions, base);
      turnedK = nn::rotary(k, positions, base);
    } else {
      const Values circle{Kind::Uniform, -1, 1};
      const Tensor cosines = s.constant("cosines", {DType::F32, {h.keys, h.width / 2}}, circle),
                   sines = s.constant("sines", {DType::F32, {h.keys, h.width / 2}}, circle);
      turnedQ = rotatedPairs(s, q, "q", cosines, sines);
      turnedK = rotatedPairs(s, k, "k", cosines, sines);
    }
    countAttention(s, h, 0.5);
    s.say("y = F.scaled_dot_product_attention(q, k, v, is_causal=True", groupOption(h), ")");
    return s.result("y",
                    scaledDotProductAttention(turnedQ, repeated(turnedK, share), repeated(v, share), {.causal = true}));
  }
  countAttention(s, h, which == 5 ? 0.5 : 1);
  const Tensor row = positions.unsqueeze(1);
  if (which == 5) {
    const Tensor slopes = s.constant("slopes", {DType::F32, {h.heads}}, {Kind::Uniform, 0.01, 0.5});
    s.say("i = torch.arange(", h.keys, ", device=q.device)");
    s.say("bias = wide(slopes)[:, None, None] * (i[None, :] - i[:, None])");
    s.say("bias = bias.masked_fill(i[None, :] > i[:, None], float('-inf')).to(q.dtype)");
    s.say("y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)");
    const Tensor distance = (positions - row).cast(DType::F32);
    const Tensor bias = where((positions <= row).expand({h.keys, h.keys}), slopes.reshape({h.heads, 1, 1}) * distance,
                              -std::numeric_limits<double>::infinity());
    return s.result("y", scaledDotProductAttention(q, k, v, {.mask = bias.cast(s.dtype())}));
  }
  const int64_t rows = which == 3 ? 32 : (2 * h.keys - 1);
  const Tensor table = s.weight("table", {rows, h.heads}, Values{});
  const Tensor index =
      s.constant("index", {DType::I64, {h.keys, h.keys}}, {Kind::Uniform, 0, static_cast<double>(rows)});
  s.say("bias = table[index].permute(2, 0, 1)");
  s.say("y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)");
  s.result("y", scaledDotProductAttention(q, k, v, {.mask = take(table, index).permute({2, 0, 1})}));
}

//===----------------------------------------------------------------------===//
// One query, or few, with a cache
//===----------------------------------------------------------------------===//

void drawDecode(Sketch &s) {
  const size_t which = s.variant({"appended", "concat", "read-only", "few-queries"});
  Heads h;
  h.width = headWidth(s);
  h.groups = s.width("groups", {4, 8, 12, 32}, {2, 3});
  h.heads = h.groups * s.width("share", {1, 4, 8}, {1, 2});
  h.batch = s.pick("batch", {1, 16, 32, 64}, {1, 2, 4}, {1, 2});
  h.keys = s.pick("room", {448, 2048, 2049, 4096, 8192}, {448, 1024, 2048}, {7, 12});
  h.queries = which == 3 ? s.pick("queries", {2, 4, 8, 16}, {2, 4, 8}, {2, 3}) : 1;
  h.batch = s.atMost("batch", h.batch, std::max<int64_t>(1, mostBytes / (8 * h.heads * h.keys * h.width)));
  const Shape cache = {h.batch, h.groups, h.keys, h.width}, more = {h.batch, h.groups, h.queries, h.width};
  const int64_t share = h.heads / h.groups;
  const Tensor q = s.x("q", {h.batch, h.heads, h.queries, h.width});
  const Tensor keys = s.x("keys", cache), values = s.x("values", cache);
  const char *groups = groupOption(h);
  if (which == 2) {
    countAttention(s, h);
    const Tensor mask = s.data("mask", {DType::Bool, {h.batch, 1, 1, h.keys}}, {Kind::Mask, 0.9, 0});
    s.say("y = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask", groups, ")");
    return s.result("y", scaledDotProductAttention(q, repeated(keys, share), repeated(values, share), {.mask = mask}));
  }
  const Tensor k = s.x("k", more), v = s.x("v", more);
  if (which == 1) {
    h.keys += 1;
    countAttention(s, h);
    s.say("keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)");
    s.say("y = F.scaled_dot_product_attention(q, keys, values", groups, ")");
    const Tensor allKeys = concat(std::vector{keys, k}, 2), allValues = concat(std::vector{values, v}, 2);
    s.result("y", scaledDotProductAttention(q, repeated(allKeys, share), repeated(allValues, share)));
    s.result("keys", allKeys);
    return s.result("values", allValues);
  }
  // The cache is written from where it ends: about two thirds are there.
  const auto low = static_cast<double>(h.keys * 2 / 3 - h.queries), high = low + 1;
  countAttention(s, h, 0.67);
  const Tensor start = s.data("start", {DType::I64, {}}, {Kind::Uniform, low, high});
  s.say("rows = start + torch.arange(", h.queries, ", device=q.device)");
  s.say("keys, values = keys.index_copy(2, rows, k), values.index_copy(2, rows, v)");
  s.say("mask = torch.arange(", h.keys, ", device=q.device) <= rows[:, None]");
  s.say("y = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask", groups, ")");
  const nn::KVCache all = nn::append({keys, values}, {k, v}, start);
  s.result("y", nn::cachedAttention(q, {repeated(all.keys, share), repeated(all.values, share)}, start));
  s.result("keys", all.keys);
  s.result("values", all.values);
}

//===----------------------------------------------------------------------===//
// Whole blocks
//===----------------------------------------------------------------------===//

void drawBlock(Sketch &s) {
  constexpr TransformerLayer::Kind kinds[] = {TransformerLayer::Kind::Llama, TransformerLayer::Kind::Gpt2,
                                              TransformerLayer::Kind::Bert, TransformerLayer::Kind::Vit};
  TransformerLayer layer;
  layer.kind = kinds[s.variant({"llama", "gpt2", "bert", "vit"})];
  s.drawGradients(0.25);
  const bool isLlama = layer.kind == TransformerLayer::Kind::Llama;
  Sketch::Tokens tokens = s.tokens();
  if (s.about().hasGradients)
    tokens.batch = s.atMost("batch", tokens.batch, 8);
  const int64_t head = s.isSmall() ? 4 : isLlama ? 128 : 64;
  const int64_t heads = isLlama ? s.width("heads", {16, 32, 40}, {2, 4}) : s.width("heads", {12, 16, 20, 25}, {2, 3});
  const int64_t groups = isLlama ? heads / (s.chance(0.6) ? s.isSmall() ? 2 : 4 : 1) : heads;
  layer.hidden = isLlama ? s.width("hidden", {5632, 11008, 14336}, {16, 21}) : 4 * heads * head;
  s.note("groups", groups);
  const Tensor x = s.x("x", {tokens.batch, tokens.rows, heads * head});
  if (layer.kind == TransformerLayer::Kind::Bert)
    layer.mask = s.data("mask", {DType::Bool, {tokens.batch, 1, 1, tokens.rows}}, {Kind::Mask, 0.8, 0});
  layer.heads = {tokens.batch, heads, groups, tokens.rows, tokens.rows, head};
  s.result("x", transformerLayer(s, x, layer));
}

} // namespace

std::span<const Family> attentionFamilies() {
  static constexpr Family all[] = {
      {"attention", drawAttention}, {"position", drawPosition}, {"decode", drawDecode}, {"block", drawBlock}};
  return all;
}

} // namespace zyx::smith
