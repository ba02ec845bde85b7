//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Families whose work goes by rows of features: norms, projections, quantised weights, embeddings, choices among
// scores, and losses.
//===----------------------------------------------------------------------===//
#include "smith/models/Sketch.h"

namespace zyx::smith {

namespace {

using Kind = Values::Kind;
constexpr Values nearOne{Kind::Normal, 1, 0.1}, nearZero{Kind::Normal, 0, 0.1};

int64_t featureWidth(Sketch &s) {
  return s.width("width", {768, 1024, 1280, 1600, 2048, 2560, 4096, 5120, 8192}, {8, 12, 24, 33, 40});
}

Tensor activated(Sketch &s, const Tensor &x, const char *name) {
  switch (s.variant({"gelu", "silu", "relu", "gelu-tanh"})) {
  case 0:
    s.say(name, " = F.gelu(", name, ")");
    return x.gelu();
  case 1:
    s.say(name, " = F.silu(", name, ")");
    return x.silu();
  case 2:
    s.say(name, " = F.relu(", name, ")");
    return x.relu();
  default:
    s.say(name, " = F.gelu(", name, ", approximate='tanh')");
    return geluTanh(x);
  }
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

void normOfRows(Sketch &s, bool isRms) {
  const auto [batch, rows] = s.tokens();
  const int64_t width = featureWidth(s);
  const bool hasResidual = s.chance(0.6);
  Tensor x = s.x("x", {batch, rows, width});
  if (hasResidual) {
    s.note("residual", 1);
    x = x + s.x("residual", {batch, rows, width});
    s.say("x = x + residual");
  }
  const Tensor weight = s.weight("weight", {width}, nearOne);
  Tensor y;
  if (isRms) {
    s.say("y = F.rms_norm(x, (", width, ",), weight, 1e-6)");
    y = rmsNorm(x, 1, weight, 1e-6);
  } else {
    const Tensor bias = s.weight("bias", {width}, nearZero);
    s.say("y = F.layer_norm(x, (", width, ",), weight, bias, 1e-5)");
    y = layerNorm(x, 1, weight, bias, 1e-5);
  }
  s.result("y", y);
  if (hasResidual)
    s.result("x", x);
}

/// [batch, channels, positions...], perhaps as a view of channels that come last.
struct Images {
  Tensor x;
  int64_t batch, channels, side;
  bool channelsLast;
};
Images images(Sketch &s, std::initializer_list<int64_t> channelsOfSmall) {
  Images made;
  made.channels = s.width("channels", {64, 96, 128, 256, 320, 512, 640, 1024}, channelsOfSmall);
  made.side = s.pick("side", {14, 28, 32, 56, 64, 112}, {7, 14, 28, 32, 56}, {3, 4, 5});
  made.batch = s.batch("batch", {8, 16, 32, 64}, {1, 2, 4}, {1, 2});
  made.channelsLast = s.chance(0.5);
  s.note("channels_last", made.channelsLast);
  if (made.channelsLast) {
    made.x = s.x("x", {made.batch, made.side, made.side, made.channels}).permute({0, 3, 1, 2});
    s.say("x = x.permute(0, 3, 1, 2)");
  } else {
    made.x = s.x("x", {made.batch, made.channels, made.side, made.side});
  }
  return made;
}
void returnImages(Sketch &s, const Images &given, const Tensor &y) {
  if (given.channelsLast)
    s.say("y = y.permute(0, 2, 3, 1)");
  s.result("y", given.channelsLast ? y.permute({0, 2, 3, 1}) : y);
}

void groupNormOfImages(Sketch &s) {
  const Images given = images(s, {8, 16, 24});
  const int64_t groups = s.width("groups", {8, 16, 32}, {2, 4, 8});
  const Tensor weight = s.weight("weight", {given.channels}, nearOne),
               bias = s.weight("bias", {given.channels}, nearZero);
  s.say("y = F.group_norm(x, ", groups, ", weight, bias, 1e-5)");
  Tensor y = groupNorm(given.x, groups, weight, bias, 1e-5);
  if (s.chance(0.6)) {
    s.note("silu", 1);
    s.say("y = F.silu(y)");
    y = y.silu();
  }
  returnImages(s, given, y);
}

void batchNormOfImages(Sketch &s, bool isTraining) {
  const Images given = images(s, {6, 8, 17});
  const Tensor weight = s.weight("weight", {given.channels}, nearOne),
               bias = s.weight("bias", {given.channels}, nearZero);
  Tensor y;
  if (isTraining) {
    // As nn::BatchNorm does.
    const Tensor wide = given.x.cast(accumulatorType(s.dtype()));
    s.say("y = F.batch_norm(x, None, None, weight, bias, True, 0.1, 1e-5)");
    y = batchNorm(given.x, wide.mean({0, 2, 3}), wide.var({0, 2, 3}, false, 0), weight, bias, 1e-5);
  } else {
    const Tensor mean = s.constant("mean", {s.dtype(), {given.channels}}, nearZero);
    const Tensor variance = s.constant("variance", {s.dtype(), {given.channels}}, {Kind::Uniform, 0.5, 1.5});
    s.say("y = F.batch_norm(x, mean, variance, weight, bias, False, 0.1, 1e-5)");
    y = batchNorm(given.x, mean, variance, weight, bias, 1e-5);
  }
  if (s.chance(0.5)) {
    s.note("residual", 1);
    const Tensor residual = s.x("residual", y.shape());
    s.say("y = F.relu(y + residual)");
    y = (y + residual).relu();
  }
  returnImages(s, given, y);
}

void drawNorm(Sketch &s) {
  const size_t which = s.variant({"layer", "rms", "group", "batch", "batch-training"});
  s.drawGradients(0.3);
  switch (which) {
  case 0:
    return normOfRows(s, false);
  case 1:
    return normOfRows(s, true);
  case 2:
    return groupNormOfImages(s);
  default:
    return batchNormOfImages(s, which == 4);
  }
}

//===----------------------------------------------------------------------===//
// Projections
//===----------------------------------------------------------------------===//

int64_t hiddenWidth(Sketch &s) {
  return s.width("hidden", {3072, 4096, 5120, 6400, 8960, 11008, 14336, 2730}, {16, 20, 31, 48});
}

void drawProjection(Sketch &s) {
  const size_t which = s.variant({"linear", "mlp", "gated", "normed", "adapted", "split"});
  s.drawGradients(0.25);
  const auto [batch, rows] = s.tokens();
  const int64_t width = s.width("width", {768, 1024, 1280, 1600, 2048, 4096, 5120}, {8, 12, 24, 33});
  Tensor x = s.x("x", {batch, rows, width});
  switch (which) {
  case 0: {
    Tensor y = s.linear(x, "x", "y", "out", hiddenWidth(s), s.chance(0.7));
    if (s.chance(0.6))
      y = activated(s, y, "y");
    return s.result("y", y);
  }
  case 1: {
    Tensor h = activated(s, s.linear(x, "x", "h", "up", hiddenWidth(s)), "h");
    h = s.linear(h, "h", "y", "down", width);
    s.say("y = x + y");
    return s.result("y", x + h);
  }
  case 2: {
    const int64_t hidden = hiddenWidth(s);
    const Tensor gate = activated(s, s.linear(x, "x", "g", "gate", hidden, false), "g");
    const Tensor up = s.linear(x, "x", "u", "up", hidden, false);
    s.say("h = g * u");
    return s.result("y", s.linear(gate * up, "h", "y", "down", width, false));
  }
  case 3: {
    const Tensor weight = s.weight("norm_weight", {width}, nearOne), bias = s.weight("norm_bias", {width}, nearZero);
    s.say("h = F.layer_norm(x, (", width, ",), norm_weight, norm_bias, 1e-5)");
    const Tensor y = s.linear(layerNorm(x, 1, weight, bias, 1e-5), "h", "y", "out", hiddenWidth(s));
    return s.result("y", y);
  }
  case 4: {
    const int64_t rank = s.width("rank", {8, 16, 64}, {2, 3});
    const Tensor y = s.linear(x, "x", "y", "out", width, false);
    const Tensor a = s.linear(x, "x", "a", "left", rank, false), b = s.linear(a, "a", "b", "right", width, false);
    s.say("y = y + b * 0.5");
    return s.result("y", y + b * 0.5);
  }
  default: {
    // Queries, keys and values of one product, by head.
    const int64_t head = s.isSmall() ? 4 : 64, heads = width / head;
    s.note("head", head);
    const Tensor all = s.linear(x, "x", "qkv", "qkv", 3 * heads * head);
    s.say("q, k, v = qkv.view(", batch, ", ", rows, ", 3, ", heads, ", ", head, ").permute(2, 0, 3, 1, 4)");
    const Tensor parts = all.reshape({batch, rows, 3, heads, head}).permute({2, 0, 3, 1, 4});
    s.result("q", parts.select(0, 0));
    s.result("k", parts.select(0, 1));
    s.result("v", parts.select(0, 2));
  }
  }
}

//===----------------------------------------------------------------------===//
// Quantised weights
//===----------------------------------------------------------------------===//

void drawQuantised(Sketch &s) {
  const size_t which = s.variant({"by-channel", "by-group", "with-zeros", "gated"});
  const int64_t rows = s.batch("rows", {1, 2, 4, 16, 48, 128, 1024, 4096}, {1, 2, 16, 48}, {1, 3, 6});
  const int64_t in = s.width("in", {2048, 4096, 5120, 8192, 11008}, {16, 32, 48}),
                out = s.width("out", {1024, 4096, 11008, 14336, 28672}, {9, 16, 20});
  const Values bytes{Kind::Uniform, -127, 128}, steps{Kind::Uniform, 0.0001, 0.0003};
  const Tensor x = s.x("x", {rows, in});
  const auto dequantised = [&](const char *name, const char *scaleName) {
    const Tensor q = s.constant(name, {DType::I8, {out, in}}, bytes);
    const Tensor scale = s.constant(scaleName, {s.dtype(), {out}}, steps);
    s.say("w = ", name, ".to(x.dtype) * ", scaleName, "[:, None]");
    s.countProduct(rows, out, in);
    return q.cast(s.dtype()) * scale.unsqueeze(1);
  };
  if (which == 1) {
    const int64_t group = s.width("group", {32, 64, 128}, {4, 8});
    const int64_t groups = in / group;
    const Tensor q = s.constant("q", {DType::I8, {out, groups, group}}, bytes);
    const Tensor scale = s.constant("scale", {s.dtype(), {out, groups, 1}}, steps);
    s.say("w = (q.to(x.dtype) * scale).flatten(1)");
    const Tensor w = (q.cast(s.dtype()) * scale).flatten(1);
    s.countProduct(rows, out, groups * group);
    s.say("y = F.linear(x[:, :", groups * group, "], w)");
    return s.result("y", matmul(x.narrow(1, 0, groups * group), w.transpose()));
  }
  if (which == 2) {
    const Tensor q = s.constant("q", {DType::U8, {out, in}}, {Kind::Uniform, 0, 256});
    const Tensor zero = s.constant("zero", {DType::U8, {out}}, {Kind::Uniform, 120, 136});
    const Tensor scale = s.constant("scale", {s.dtype(), {out}}, steps),
                 bias = s.constant("bias", {s.dtype(), {out}}, nearZero);
    s.countProduct(rows, out, in);
    s.say("w = (q.to(x.dtype) - zero.to(x.dtype)[:, None]) * scale[:, None]");
    s.say("y = F.linear(x, w, bias)");
    const Tensor w = (q.cast(s.dtype()) - zero.cast(s.dtype()).unsqueeze(1)) * scale.unsqueeze(1);
    return s.result("y", matmul(x, w.transpose()) + bias);
  }
  const Tensor y = matmul(x, dequantised("q", "scale").transpose());
  s.say("y = F.linear(x, w)");
  if (which == 0)
    return s.result("y", y);
  const Tensor up = matmul(x, dequantised("q_up", "scale_up").transpose());
  s.say("y = F.silu(y) * F.linear(x, w)");
  s.result("y", y.silu() * up);
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

int64_t vocabularyOf(Sketch &s) {
  return s.pick("vocabulary", {30522, 32000, 50257, 51865, 128256, 151936}, {30522, 32000, 50257}, {31, 50, 64});
}

void drawEmbedding(Sketch &s) {
  const size_t which = s.variant({"rows", "positions", "bag", "characters"});
  s.drawGradients(0.3);
  // Of a bag's rows the bytes of the table alone count, once, and caches bound a card that reads each row many times.
  const auto [batch, rows] = s.tokens(/*grows=*/which != 2);
  const int64_t width = s.width("width", {768, 1024, 2048, 4096}, {8, 12, 33});
  const int64_t vocabulary = which == 3 ? s.width("vocabulary", {65, 128, 256}, {11, 17}) : vocabularyOf(s);
  const Tensor tokens =
      s.data("tokens", {DType::I64, {batch, rows}}, {Kind::Uniform, 0, static_cast<double>(vocabulary)});
  const Tensor table = s.weight("table", {vocabulary, width}, Values{});
  if (!s.about().hasGradients)
    s.touches("table", batch * rows * width * byteSize(s.dtype()));
  if (which == 3) {
    // Few rows as a product.
    s.say("y = F.one_hot(tokens, ", vocabulary, ").to(table.dtype) @ table");
    s.countProduct(batch * rows, width, vocabulary, 0);
    return s.result("y", matmul(oneHot(tokens, vocabulary, s.dtype()), table));
  }
  Tensor y = take(table, tokens);
  s.say("y = F.embedding(tokens, table)");
  if (which == 1) {
    const Tensor positions = s.weight("positions", {rows, width}, Values{});
    const Tensor weight = s.weight("weight", {width}, nearOne), bias = s.weight("bias", {width}, nearZero);
    s.say("y = F.layer_norm(y + positions, (", width, ",), weight, bias, 1e-5)");
    y = layerNorm(y + positions, 1, weight, bias, 1e-5);
  } else if (which == 2) {
    s.say("y = y.mean(1)");
    y = y.mean({1});
  }
  s.result("y", y);
}

//===----------------------------------------------------------------------===//
// Choices among scores
//===----------------------------------------------------------------------===//

/// The nearest of a code book.
void nearest(Sketch &s, int64_t rows) {
  s.about().dtype = DType::F32;
  const int64_t width = s.width("width", {64, 256}, {4, 8}), codes = s.width("codes", {1024, 8192}, {9, 16});
  const Tensor x = s.x("x", {rows * 8, width}), book = s.weight("book", {codes, width}, Values{});
  s.about().mayDiffer = 0.01;
  s.countProduct(rows * 8, codes, width);
  s.say("d = (book * book).sum(-1) - 2 * x @ book.T");
  s.say("y = d.argmin(-1)");
  s.result("y", ((book * book).sum({-1}) - 2 * matmul(x, book.transpose())).argmin(-1));
}

void drawSelection(Sketch &s) {
  const size_t which = s.variant({"topk", "argmax", "softmax", "nucleus", "log-softmax", "nearest"});
  const int64_t rows = s.batch("rows", {1, 64, 512, 4096, 8192}, {1, 8, 64}, {1, 3});
  if (which == 5)
    return nearest(s, rows);
  const int64_t classes = vocabularyOf(s);
  // Numbers of 16 bits are often equal, and what is chosen of equal ones is free.
  s.about().dtype = which == 2 || which == 4 ? s.dtype() : DType::F32;
  const Tensor logits = s.x("logits", {rows, classes}, {Kind::Normal, 0, 3});
  switch (which) {
  case 0: {
    const int64_t k = s.width("k", {10, 40, 50, 100}, {3, 5});
    s.about().sorted = classes;
    s.say("y = logits.topk(", k, ").values.softmax(-1)");
    return s.result("y", logits.topk(k).values.softmax(-1));
  }
  case 1:
    s.about().mayDiffer = 0.001;
    s.say("y = logits.argmax(-1)");
    return s.result("y", logits.argmax(-1));
  case 2:
    s.say("y = (logits / 0.7).softmax(-1)");
    return s.result("y", (logits / 0.7).softmax(-1));
  case 3: {
    // What is likeliest, until it is 90 % together.
    s.about().sorted = classes;
    s.about().mayDiffer = 0.001;
    s.say("p = logits.softmax(-1).sort(-1, descending=True).values");
    s.say("y = torch.where(p.cumsum(-1) - p < 0.9, p, 0)");
    const Tensor p = logits.softmax(-1).sort(-1, true);
    return s.result("y", where(p.cumsum(-1) - p < 0.9, p, 0));
  }
  default: {
    const Tensor chosen = s.data("chosen", {DType::I64, {rows, 1}}, {Kind::Uniform, 0, static_cast<double>(classes)});
    s.say("y = wide(logits).log_softmax(-1).gather(-1, chosen)");
    return s.result("y", takeAlongAxis(logits.cast(DType::F32).logSoftmax(-1), chosen, -1));
  }
  }
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

void crossEntropyOfClasses(Sketch &s, bool hasProjection) {
  const int64_t rows = s.batch("rows", {2048, 4096, 8191, 16384}, {64, 197, 256}, {3, 7});
  const int64_t classes =
      hasProjection ? vocabularyOf(s) : s.width("classes", {10, 1000, 32000, 50257, 128256}, {10, 33});
  const Tensor targets = s.data("targets", {DType::I64, {rows}}, {Kind::Uniform, 0, static_cast<double>(classes)});
  Tensor logits;
  if (hasProjection) {
    const int64_t width = s.width("width", {768, 1024, 2048}, {8, 12});
    logits = s.linear(s.x("x", {rows, width}), "x", "logits", "head", classes, false);
  } else {
    logits = s.x("logits", {rows, classes}, {Kind::Normal, 0, 2});
  }
  s.say("loss = F.cross_entropy(wide(logits), targets)");
  s.result("loss", crossEntropy(logits.cast(DType::F32), targets));
}

void drawLoss(Sketch &s) {
  const size_t which =
      s.variant({"cross-entropy", "projected", "squared", "binary", "divergence", "huber", "contrastive"});
  s.drawGradients(0.7);
  if (which < 2)
    return crossEntropyOfClasses(s, which == 1);
  if (which == 6) {
    // Of pairs, as CLIP has it.
    const int64_t pairs = s.pick("pairs", {1024, 4096, 16384}, {64, 256}, {4, 7});
    const int64_t width = s.width("width", {512, 768, 1024}, {8, 12});
    s.countProduct(pairs, pairs, width);
    // Unit vectors in f32 are multiplied.
    s.about().products = DType::F32;
    const Tensor a = s.x("a", {pairs, width}), b = s.x("b", {pairs, width});
    s.say("a, b = (wide(t) / wide(t).norm(dim=-1, keepdim=True) for t in (a, b))");
    s.say("logits = (a @ b.T) * 14.0");
    s.say("labels = torch.arange(", pairs, ", device=a.device)");
    s.say("loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2");
    const auto unit = [](const Tensor &t) {
      const Tensor wide = t.cast(DType::F32);
      return wide / norm(wide, 2, {-1}, true);
    };
    const Tensor logits = matmul(unit(a), unit(b).transpose()) * 14.0, labels = Tensor::arange(pairs);
    return s.result("loss", (crossEntropy(logits, labels) + crossEntropy(logits.transpose(), labels)) / 2);
  }
  const int64_t rows = s.batch("rows", {4096, 65536, 262144}, {256, 1023, 4096}, {4, 9});
  const int64_t columns = s.width("columns", {1, 80, 768, 1000, 4096}, {1, 8, 13});
  const Shape shape = {rows, columns};
  // f32, as is said for losses.
  s.about().dtype = DType::F32;
  const Tensor x = s.x("x", shape);
  switch (which) {
  case 2: {
    const Tensor target = s.data("target", {DType::F32, shape}, {});
    s.say("loss = F.mse_loss(x, target)");
    return s.result("loss", mseLoss(x, target));
  }
  case 3: {
    const Tensor target = s.data("target", {DType::F32, shape}, {Kind::Uniform, 0, 1});
    s.say("loss = F.binary_cross_entropy_with_logits(x, target)");
    return s.result("loss", bceWithLogits(x, target));
  }
  case 4: {
    const Tensor target = s.data("target", {DType::F32, shape}, {});
    s.say("loss = F.kl_div(x.log_softmax(-1), target.softmax(-1), reduction='sum') / ", rows);
    return s.result("loss", klDivergence(x.logSoftmax(-1), target.softmax(-1), Reduction::Sum) / rows);
  }
  default: {
    const Tensor target = s.data("target", {DType::F32, shape}, {});
    s.say("loss = F.huber_loss(x, target)");
    return s.result("loss", huberLoss(x, target));
  }
  }
}

} // namespace

std::span<const Family> rowFamilies() {
  static constexpr Family all[] = {{"norm", drawNorm},           {"projection", drawProjection},
                                   {"quantised", drawQuantised}, {"embedding", drawEmbedding},
                                   {"selection", drawSelection}, {"loss", drawLoss}};
  return all;
}

} // namespace zyx::smith
