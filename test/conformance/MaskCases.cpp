//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Masks of attention, its gradients and rows, as models use them: minus infinity, the lowest number of the type, -1e4
// and -1e9, added or chosen, for whole blocks of keys at the beginning, in the middle, at the end, and for all of them.
// Of numbers as large as those the bounds of an answer are infinite, so that answers are compared by a tolerance: of
// attention relative to the size of an answer's terms, as tensor cores round their factors, of rows to the largest.
//===----------------------------------------------------------------------===//
#include "Builder.h"
#include "Values.h"

#include "zyx/Graph/Gradient.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace zyx::conformance {

static constexpr double inf = std::numeric_limits<double>::infinity();
/// Of rows and layers: some roundings of weights and results to bf16.
static constexpr double tolerance = 1.0 / 64;

/// Four roundings to 16 bits: of the weights or the gradients of scores, of the results from which who computes weights
/// again makes the sum of weights times their gradients, of the answer in the reference and in the device. Of f32,
/// whose factors nobody rounds, sums of some hundred terms.
static double toleranceOf(DType dtype) {
  return dtype == DType::BF16 ? 4 * 0x1p-8 : dtype == DType::F16 ? 4 * 0x1p-11 : 0x1p-14;
}

namespace {

/// Where the mask has a value of its own: for each batch or head, or for each query.
enum class Scope { PerBatch, PerHead, PerQuery };

/// What a mask is that is added: numbers that are given; or slopes of each head times distances for keys that are not
/// behind the query, and minus infinity for others, all rounded to the type of the inputs. Of these, keys near the
/// query alone, or of its document.
enum class Bias { Given, Slopes, NearSlopes, DocumentSlopes };

struct Masked {
  DType dtype = DType::BF16;
  double value = -inf;
  /// Chosen by a condition, rather than added.
  bool isSelect = false;
  Scope scope = Scope::PerBatch;
  int64_t queries = 33, keys = 384, features = 16;
  /// Of scores in the type of the inputs before the softmax, as Hugging Face's modules have them.
  bool narrowScores = false;
  /// Whether some rows see no key at all.
  bool hidesAll = true;
  Bias bias = Bias::Given;
};

/// Batches, or heads, whose keys are hidden: none, the first third, the middle, the last, all.
constexpr int64_t numPatterns = 5;

} // namespace

static double lowest(DType dtype) {
  return dtype == DType::F16 ? -65504 : dtype == DType::BF16 ? -3.3895313892515355e38 : -3.4028234663852886e38;
}

static bool isHidden(const Masked &m, int64_t pattern, int64_t key) {
  if (pattern == 4)
    return m.hidesAll;
  return pattern != 0 && key * 3 / m.keys == pattern - 1;
}

/// Of [batch, heads, queries, keys], with a 1 where nothing depends on the dimension.
static Shape maskShape(const Masked &m) {
  return {m.scope == Scope::PerBatch ? numPatterns : 1, m.scope == Scope::PerHead ? numPatterns : 1,
          m.scope == Scope::PerQuery ? m.queries : 1, m.keys};
}

/// Of [1, heads, queries, keys].
static NodeId makeSlopes(Builder &b, const Masked &m, DType dtype) {
  const Shape places = {m.queries, m.keys}, one = {1, 1, m.queries, m.keys}, all = {1, numPatterns, m.queries, m.keys};
  const NodeId row = b.iota({DType::I32, places}, 0), column = b.iota({DType::I32, places}, 1);
  NodeId seen = b.binary(BinaryKind::Le, column, row);
  if (m.bias == Bias::NearSlopes)
    seen = b.binary(BinaryKind::And, seen, b.binary(BinaryKind::Gt, column, b.sub(row, b.like(row, 70))));
  if (m.bias == Bias::DocumentSlopes) {
    std::vector<double> ids;
    for (int64_t i = 0; i < m.keys; ++i)
      ids.push_back(static_cast<double>(i / 45));
    const NodeId documents = b.input(makeTensor(DType::I64, {m.keys}, ids));
    seen = b.binary(BinaryKind::And, seen,
                    b.binary(BinaryKind::Eq, b.along(documents, places, 0), b.along(documents, places, 1)));
  }
  auto spread = [&](NodeId of) { return b.expand(b.reshape(of, one), all); };
  const NodeId slopes = b.input(makeTensor(DType::F32, {1, numPatterns, 1, 1}, {0.011, 0.5, 0.0625, 0.37, 0.1}));
  const NodeId bias = b.mul(b.expand(slopes, all), spread(b.cast(b.sub(column, row), DType::F32)));
  return b.cast(b.select(spread(seen), bias, b.like(bias, -inf)), dtype);
}

static NodeId makeMask(Builder &b, const Masked &m, DType dtype) {
  if (m.bias != Bias::Given)
    return makeSlopes(b, m, dtype);
  const Shape shape = maskShape(m);
  std::vector<double> values;
  for (int64_t row = 0; row < shape[0] * shape[1] * shape[2]; ++row)
    for (int64_t key = 0; key < m.keys; ++key) {
      const bool hidden = isHidden(m, row % numPatterns, key);
      values.push_back(m.isSelect ? !hidden : hidden ? m.value : 0);
    }
  return b.input(makeTensor(m.isSelect ? DType::Bool : dtype, shape, values));
}

static NodeId applyMask(Builder &b, const Masked &m, NodeId scores, NodeId mask) {
  const TensorType type = b.type(scores);
  NodeId all = mask;
  if (!m.isSelect && b.type(mask).dtype != type.dtype)
    all = b.cast(all, type.dtype);
  all = b.expand(all, type.shape);
  return m.isSelect ? b.select(all, scores, b.like(scores, m.value)) : b.add(scores, all);
}

/// Values that tell the thirds of the keys apart, so that a wrong weighting shows.
static NodeId makeValues(Builder &b, DType dtype, const Shape &shape) {
  std::vector<double> values;
  const int64_t keys = shape[2], features = shape[3];
  for (int64_t head = 0; head < shape[0] * shape[1]; ++head)
    for (int64_t key = 0; key < keys; ++key)
      for (int64_t f = 0; f < features; ++f)
        values.push_back(static_cast<double>(key * 3 / keys) - 1 +
                         0.125 * static_cast<double>((key * 7 + f * 3 + head) % 11));
  return b.input(makeTensor(dtype, shape, values));
}

/// The size that the rounding of a weight, or of the gradient of a score, to the type of the inputs is relative to. The
/// subnormal numbers of f16 are equally far from each other, so that it is at least the smallest normal number.
static NodeId roundedSize(Builder &b, const Masked &m, NodeId size) {
  return m.dtype == DType::F16 ? b.add(size, b.like(size, 0x1p-14)) : size;
}

namespace {

struct Attended {
  NodeId y;
  /// The size that an error of a weight is relative to.
  NodeId weights;
};

} // namespace

static Attended attend(Builder &b, const Masked &m, NodeId q, NodeId k, NodeId v, bool isDetached = false) {
  const DType wide = accumulatorType(m.dtype);
  NodeId scores = b.matmul(b.cast(q, wide), b.permute(b.cast(k, wide), {0, 1, 3, 2}), wide);
  if (m.narrowScores)
    scores = b.cast(scores, m.dtype);
  scores = b.mul(scores, b.like(scores, 0.25));
  scores = applyMask(b, m, scores, makeMask(b, m, m.dtype));
  scores = b.cast(scores, wide);
  const int64_t keys = b.type(scores).shape.back();
  NodeId largest = b.reduce(ReduceKind::Max, scores, {3});
  // Through a bitcast goes no gradient.
  if (isDetached)
    largest = b.bitcast(largest, wide);
  const NodeId e = b.unary(UnaryKind::Exp, b.sub(scores, b.back(largest, 3, keys)));
  const NodeId weights = b.div(e, b.back(b.reduce(ReduceKind::Add, e, {3}), 3, keys));
  const NodeId y = b.cast(b.matmul(weights, b.cast(v, wide), wide), m.dtype);
  if (m.dtype != DType::F16 || m.isSelect || m.value != lowest(DType::F16))
    return {y, weights};
  // Near the lowest f16 the numbers of f32 are 2^-8 apart. In a row of which all is hidden, two orders of the sums of
  // products make scores that differ by so much, and so do the exponentials, relatively.
  const NodeId isHidden = b.binary(BinaryKind::Lt, largest, b.like(largest, 0.5 * m.value));
  const NodeId factor = b.select(isHidden, b.like(largest, 1 + 0x1p-8 / toleranceOf(m.dtype)), b.like(largest, 1));
  return {y, b.mul(weights, b.back(factor, 3, keys))};
}

static Shape headsOf(const Masked &m) {
  return {m.scope == Scope::PerBatch ? numPatterns : 2, m.scope == Scope::PerHead ? numPatterns : 1};
}

static NodeId make(Builder &b, const Masked &m, int64_t rows) {
  const Shape heads = headsOf(m);
  return b.x(m.dtype, {heads[0], heads[1], rows, m.features});
}

static NodeId makeValues(Builder &b, const Masked &m) {
  const Shape heads = headsOf(m);
  return makeValues(b, m.dtype, {heads[0], heads[1], m.keys, m.features});
}

static std::vector<NodeId> gradients(Builder &b, const Masked &m) {
  const NodeId q = make(b, m, m.queries), k = make(b, m, m.keys), v = makeValues(b, m);
  const auto [y, weights] = attend(b, m, q, k, v, /*isDetached=*/true);
  const NodeId seed = b.x(m.dtype, b.type(y).shape);
  const auto made = graph::gradient(b.graph(), {{y}}, {{seed}}, std::vector<NodeId>{q, k, v});
  if (!made.isOk()) {
    std::fprintf(stderr, "an attention without gradients: %s\n", made.status().message().c_str());
    std::abort();
  }
  std::vector<NodeId> results = {y};
  for (const auto &gradient : *made)
    results.push_back(*gradient);
  const DType wide = accumulatorType(m.dtype);
  const auto sizeOf = [&](NodeId x) { return b.unary(UnaryKind::Abs, b.cast(x, wide)); };
  const auto product = [&](NodeId left, NodeId right) { return b.matmul(left, right, wide); };
  const auto transposed = [&](NodeId x) { return b.permute(x, {0, 1, 3, 2}); };
  // The gradient of a score is its weight times what comes to it less the sum of what comes to all of the row, which is
  // also that of the results.
  const NodeId arriving = product(sizeOf(seed), transposed(sizeOf(v)));
  const NodeId ofRow = b.back(b.reduce(ReduceKind::Add, b.mul(sizeOf(seed), sizeOf(y)), {3}), 3, m.keys);
  const NodeId scores = roundedSize(b, m, b.mul(weights, b.add(arriving, ofRow))), rounded = roundedSize(b, m, weights);
  b.setSize(y, product(rounded, sizeOf(v)));
  const auto scaled = [&](NodeId x) { return b.mul(x, b.like(x, 0.25)); };
  b.setSize(results[1], scaled(product(scores, sizeOf(k))));
  b.setSize(results[2], scaled(product(transposed(scores), sizeOf(q))));
  b.setSize(results[3], product(transposed(rounded), sizeOf(seed)));
  return results;
}

/// A layer of BERT: heads of a projection, a mask of each batch, a projection, a residual and a layer norm.
static NodeId bertLayer(Builder &b, const Masked &m, int64_t batch, int64_t heads) {
  const int64_t length = m.keys, width = heads * m.features;
  const DType wide = accumulatorType(m.dtype);
  const NodeId x = b.x(m.dtype, {batch, length, width});
  auto linear = [&](NodeId of) {
    NodeId product = b.matmul(b.reshape(of, {batch * length, width}), b.x(m.dtype, {width, width}), wide);
    product = b.mul(product, b.like(product, 0.125));
    const NodeId y = b.add(product, b.along(b.cast(b.x(m.dtype, {width}), wide), {batch * length, width}, 1));
    return b.reshape(b.cast(y, m.dtype), {batch, length, width});
  };
  auto split = [&](NodeId of) { return b.permute(b.reshape(of, {batch, length, heads, m.features}), {0, 2, 1, 3}); };
  const NodeId q = split(linear(x)), k = split(linear(x)), v = split(linear(x));
  NodeId scores = b.cast(b.matmul(b.cast(q, wide), b.permute(b.cast(k, wide), {0, 1, 3, 2}), wide), m.dtype);
  scores = b.mul(scores, b.like(scores, 0.25));
  std::vector<double> hidden;
  for (int64_t i = 0; i < batch; ++i)
    for (int64_t key = 0; key < length; ++key)
      // The last keys of every second one, and all of the third.
      hidden.push_back((i % 2 == 1 && key * 3 >= 2 * length) || i == 2 ? m.value : 0);
  const NodeId mask = b.input(makeTensor(m.dtype, {batch, 1, 1, length}, hidden));
  scores = b.cast(b.add(scores, b.expand(mask, b.type(scores).shape)), wide);
  const NodeId largest = b.back(b.reduce(ReduceKind::Max, scores, {3}), 3, length);
  const NodeId e = b.unary(UnaryKind::Exp, b.sub(scores, largest));
  const NodeId weights = b.cast(b.div(e, b.back(b.reduce(ReduceKind::Add, e, {3}), 3, length)), m.dtype);
  const NodeId y = b.cast(b.matmul(b.cast(weights, wide), b.cast(v, wide), wide), m.dtype);
  const NodeId joined = b.reshape(b.permute(y, {0, 2, 1, 3}), {batch, length, width});
  NodeId z = b.cast(b.add(linear(joined), x), wide);
  const double inverse = 1.0 / static_cast<double>(width);
  auto mean = [&](NodeId of) {
    const NodeId sum = b.reduce(ReduceKind::Add, of, {2});
    return b.back(b.mul(sum, b.like(sum, inverse)), 2, width);
  };
  z = b.sub(z, mean(z));
  const NodeId variance = mean(b.mul(z, z));
  return b.cast(b.mul(z, b.unary(UnaryKind::Rsqrt, b.add(variance, b.like(variance, 1e-5)))), m.dtype);
}

/// Rows in which whole parts are masked: softmax, its logarithm, and the logarithm of the sum of exponentials.
static std::vector<NodeId> maskedRows(Builder &b, DType dtype, int64_t length, double value) {
  const Masked m{.dtype = dtype, .value = value, .keys = length};
  const Shape shape = {numPatterns, length};
  std::vector<double> values;
  for (int64_t row = 0; row < numPatterns; ++row)
    for (int64_t key = 0; key < length; ++key)
      values.push_back(isHidden(m, row, key) ? value : 0);
  const DType wide = accumulatorType(dtype);
  const NodeId x = b.cast(b.add(b.x(dtype, shape), b.input(makeTensor(dtype, shape, values))), wide);
  const NodeId largest = b.reduce(ReduceKind::Max, x, {1});
  const NodeId distance = b.sub(x, b.back(largest, 1, length));
  const NodeId e = b.unary(UnaryKind::Exp, distance);
  const NodeId sum = b.reduce(ReduceKind::Add, e, {1});
  // Of 1 / length, what is near 1.
  const NodeId weights = b.div(e, b.back(sum, 1, length));
  const NodeId scaled = b.mul(weights, b.like(weights, static_cast<double>(length)));
  return {b.cast(scaled, dtype), b.unary(UnaryKind::Log, sum)};
}

static std::string describe(double value) {
  return value == 0 ? "zero" : value == -inf ? "inf" : value == -1e4 ? "1e4" : value == -1e9 ? "1e9" : "lowest";
}

static void add(std::vector<Case> &cases, const std::string &name, const Masked &m, bool hasGradients = false) {
  const std::string text = std::string("attention.") + (hasGradients ? "gradient." : "") + "masked." + name;
  cases.push_back({text, [=](Builder &b) {
                     if (hasGradients)
                       return gradients(b, m);
                     const NodeId q = make(b, m, m.queries), k = make(b, m, m.keys), v = makeValues(b, m);
                     const auto [y, weights] = attend(b, m, q, k, v);
                     const DType wide = accumulatorType(m.dtype);
                     b.setSize(y, b.matmul(roundedSize(b, m, weights), b.unary(UnaryKind::Abs, b.cast(v, wide)), wide));
                     return std::vector<NodeId>{y};
                   }});
  cases.back().tolerance = toleranceOf(m.dtype);
}

void addMaskCases(std::vector<Case> &cases) {
  static constexpr std::string_view scopes[] = {".per-batch", ".per-head", ".per-query"};
  auto nameOf = [](const Masked &m) {
    return std::string(toString(m.dtype)) + "." + describe(m.value) + (m.isSelect ? ".select" : ".add") +
           std::string(scopes[static_cast<size_t>(m.scope)]);
  };
  // On Hopper blocks of 128 keys, of 64 where each query has a mask of its own.
  for (const double value : {0.0, -inf, lowest(DType::BF16), -1e4, -1e9})
    for (const bool isSelect : {false, true})
      for (const Scope scope : {Scope::PerBatch, Scope::PerHead, Scope::PerQuery}) {
        if (value == 0 && (isSelect || scope != Scope::PerBatch))
          continue;
        const Masked m{.value = value, .isSelect = isSelect, .scope = scope};
        add(cases, nameOf(m), m);
      }
  for (const DType dtype : {DType::F32, DType::F16})
    for (const bool isSelect : {false, true}) {
      const Masked m{.dtype = dtype, .value = lowest(dtype), .isSelect = isSelect, .keys = 150};
      add(cases, nameOf(m), m);
    }
  const double value = lowest(DType::BF16);
  // Two groups of warps; one block and a half; keys that end within a block; results that leave from where queries
  // came.
  add(cases, "bf16.two-groups", {.value = value, .queries = 130});
  add(cases, "bf16.two-blocks", {.value = value, .keys = 192});
  add(cases, "bf16.edge", {.value = value, .queries = 20, .keys = 330});
  add(cases, "bf16.wide", {.value = value, .queries = 10, .keys = 150, .features = 200});
  add(cases, "bf16.narrow-scores", {.value = value, .narrowScores = true});
  add(cases, "bf16.one-query", {.value = value, .queries = 1});
  // Blocks that are hidden by what is added: of one block, of several with the last one in part, of tiles that are not
  // full, with one more key than blocks have.
  for (const DType dtype : {DType::BF16, DType::F16, DType::F32})
    for (const Bias bias : {Bias::Slopes, Bias::NearSlopes, Bias::DocumentSlopes})
      for (const int64_t length : {60, 257, 390}) {
        static constexpr std::string_view names[] = {"", "slopes", "near-slopes", "document-slopes"};
        add(cases,
            std::string(names[static_cast<size_t>(bias)]) + "." + std::string(toString(dtype)) + "[" +
                std::to_string(length) + "]",
            {.dtype = dtype, .scope = Scope::PerHead, .queries = length, .keys = length, .bias = bias});
      }
  // Rows of a mask of which neighbours do not lie on multiples of two, and those that are read together.
  for (const DType dtype : {DType::BF16, DType::F16})
    for (const int64_t keys : {258, 385})
      add(cases, std::string(toString(dtype)) + ".rows-of[" + std::to_string(keys) + "]",
          {.dtype = dtype, .value = -1e4, .scope = Scope::PerQuery, .queries = 130, .keys = keys});
  for (const double value : {-inf, lowest(DType::BF16), -1e4, -1e9})
    for (const bool isSelect : {false, true})
      for (const Scope scope : {Scope::PerBatch, Scope::PerQuery}) {
        Masked m{.value = value, .isSelect = isSelect, .scope = scope, .keys = 192};
        // Of minus infinity alone every gradient is NaN.
        m.hidesAll = value != -inf;
        add(cases, nameOf(m), m, /*hasGradients=*/true);
      }
  add(cases, "f16.lowest", {.dtype = DType::F16, .value = lowest(DType::F16), .keys = 192}, true);
  add(cases, "f32.lowest", {.dtype = DType::F32, .value = lowest(DType::F32), .keys = 96}, true);
  add(cases, "bf16.two-groups", {.value = value, .queries = 70, .keys = 96}, true);
  add(cases, "bf16.wide", {.value = value, .queries = 20, .keys = 130, .features = 128}, true);
  add(cases, "bf16.nothing-seen", {.value = -inf, .keys = 96}, true);
  auto addLayer = [&](const std::string &name, const Masked &m, int64_t batch, int64_t heads) {
    cases.push_back({"attention.masked.bert" + name,
                     [=](Builder &b) { return std::vector<NodeId>{bertLayer(b, m, batch, heads)}; }});
    cases.back().tolerance = tolerance;
  };
  for (const double value : {lowest(DType::BF16), -1e4})
    addLayer("." + describe(value), {.value = value, .keys = 192, .features = 8}, 3, 2);
  addLayer(".large", {.value = lowest(DType::BF16), .keys = 384, .features = 64}, 3, 2);
  cases.back().isLarge = true;
  // A thread, a workgroup, registers, shared memory and clusters have a row of these.
  for (const DType dtype : {DType::F32, DType::BF16})
    for (const double value : {-inf, lowest(dtype), -1e9})
      for (const int64_t length : {90, 1000, 6000, 20000, 70000}) {
        cases.push_back({"softmax.masked." + std::string(toString(dtype)) + "." + describe(value) + "[" +
                             std::to_string(length) + "]",
                         [=](Builder &b) { return maskedRows(b, dtype, length, value); }});
        cases.back().tolerance = tolerance;
      }
}

} // namespace zyx::conformance
