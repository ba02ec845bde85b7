//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Builder.h"

#include "zyx/Graph/Gradient.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace zyx::conformance {

static constexpr double inf = std::numeric_limits<double>::infinity();

namespace {

enum class Scale { After, Quotient, Queries, Keys };
enum class Mask {
  None,
  Causal,
  Add,
  Select,
  Window,
  Near,
  Ahead,
  Counted,
  Slope,
  Parts,
  Documents,
  /// Numbers that come back, so that blocks between those that are seen are not.
  Returning,
  Cap,
  NarrowCap,
  Start,
  Lengths
};
enum class Division { Before, Reciprocal, After };

/// How an attention is spelled. Batches come before the dimensions of rows.
struct Spelling {
  DType dtype = DType::F32;
  Shape batch = {2};
  int64_t queries = 70, keys = 150, features = 16, values = 8;
  Scale scale = Scale::After;
  Mask mask = Mask::None;
  Division division = Division::Before;
  /// Weights in the type of the inputs, as modules of half precision have them.
  bool narrowWeights = false;
  /// Queries per head of keys; more than one makes a batch of them.
  int64_t groups = 1;
  /// No gradient goes through the largest score, as none does through that of Tensor::softmax.
  bool detached = false;
  /// Scores of no key, of each head: in front of those of keys, or behind them. Those of one head may be the same for
  /// all of the batch.
  int64_t sinks = 0;
  bool sinksFirst = false, sharesSinks = false;
  /// What weights are multiplied with in front of the values.
  double share = 1;
};

} // namespace

static Shape join(const Shape &batch, std::initializer_list<int64_t> rest) {
  Shape shape = batch;
  shape.insert(shape.end(), rest);
  return shape;
}

static NodeId swapLast(Builder &b, NodeId x) {
  std::vector<int64_t> order;
  for (size_t dim = 0; dim < b.type(x).shape.size(); ++dim)
    order.push_back(static_cast<int64_t>(dim));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return b.permute(x, order);
}

/// Two dimensions repeated along those before them.
static NodeId spread(Builder &b, NodeId x, const Shape &shape) {
  Shape ones(shape.size(), 1);
  ones[ones.size() - 2] = shape[shape.size() - 2];
  ones[ones.size() - 1] = shape[shape.size() - 1];
  return b.expand(b.reshape(x, ones), shape);
}

static NodeId masked(Builder &b, NodeId scores, Mask mask, NodeId given, double closed) {
  const TensorType type = b.type(scores);
  const auto rank = static_cast<int64_t>(type.shape.size());
  switch (mask) {
  case Mask::None:
    return scores;
  case Mask::Causal: {
    const NodeId row = b.iota({DType::I32, type.shape}, rank - 2);
    const NodeId column = b.iota({DType::I32, type.shape}, rank - 1);
    return b.select(b.binary(BinaryKind::Ge, row, column), scores, b.like(scores, -inf));
  }
  case Mask::Window: {
    // 50 keys, from 9 behind the query's own on: some queries at the end see none.
    const NodeId row = b.iota({DType::I64, type.shape}, rank - 2);
    const NodeId column = b.iota({DType::I64, type.shape}, rank - 1);
    const NodeId distance = b.sub(row, column);
    const NodeId open = b.binary(BinaryKind::And, b.binary(BinaryKind::Ge, distance, b.like(distance, -9)),
                                 b.binary(BinaryKind::Lt, distance, b.like(distance, 41)));
    return b.select(open, scores, b.like(scores, -inf));
  }
  case Mask::Start: {
    // Queries follow so many keys of a cache, and see 40 at most.
    const NodeId row = b.iota({DType::I64, type.shape}, rank - 2);
    const NodeId column = b.iota({DType::I64, type.shape}, rank - 1);
    const NodeId start = b.expand(b.reshape(given, Shape(type.shape.size(), 1)), type.shape);
    const NodeId last = b.add(row, start);
    const NodeId open = b.binary(BinaryKind::And, b.binary(BinaryKind::Le, column, last),
                                 b.binary(BinaryKind::Gt, column, b.sub(last, b.like(last, 40))));
    return b.select(open, scores, b.like(scores, -inf));
  }
  case Mask::Lengths: {
    // Each text has its own number of keys.
    Shape ones(type.shape.size(), 1);
    ones[0] = type.shape[0];
    const NodeId length = b.expand(b.reshape(given, ones), type.shape);
    const NodeId column = b.iota({DType::I32, type.shape}, rank - 1);
    return b.select(b.binary(BinaryKind::Lt, column, length), scores, b.like(scores, -inf));
  }
  case Mask::Near:
  case Mask::Ahead: {
    // The key of a query's place and those before it; or from 70 keys before it on, and 20 behind it.
    const NodeId row = b.iota({DType::I32, type.shape}, rank - 2);
    const NodeId column = b.iota({DType::I32, type.shape}, rank - 1);
    const int64_t ahead = mask == Mask::Ahead ? 20 : 0;
    const NodeId isBefore = b.binary(BinaryKind::Le, column, b.add(row, b.like(row, static_cast<double>(ahead))));
    const NodeId isNear = b.binary(BinaryKind::Gt, column, b.sub(row, b.like(row, 70)));
    return b.select(b.binary(BinaryKind::And, isBefore, isNear), scores, b.like(scores, -inf));
  }
  case Mask::Counted:
  case Mask::Slope:
  case Mask::Parts:
  case Mask::Documents:
  case Mask::Returning: {
    // One row of numbers serves queries and keys, of which there are as many.
    const int64_t count = type.shape.back();
    NodeId numbers = b.iota({DType::I64, {count}}, 0);
    numbers = b.add(b.mul(numbers, b.like(numbers, 1)), b.like(numbers, 0));
    const bool isNumbered = mask == Mask::Parts || mask == Mask::Documents || mask == Mask::Returning;
    const NodeId places = numbers;
    if (isNumbered) {
      // Documents have numbers of 64 bits; some differ in the upper half alone.
      std::vector<double> ids;
      for (int64_t i = 0; i < count; ++i)
        ids.push_back(mask == Mask::Returning
                          ? static_cast<double>(i / 70 % 3)
                          : static_cast<double>(i / 45) * (mask == Mask::Documents && i % 3 == 0 ? 0x1p32 : 1));
      numbers = b.input(makeTensor(mask == Mask::Parts ? DType::I32 : DType::I64, {count}, ids));
    }
    auto along = [&](NodeId of, const Shape &shape) {
      return spread(b, b.expand(b.reshape(of, shape), {count, count}), type.shape);
    };
    const NodeId row = spread(b, b.expand(b.reshape(numbers, {count, 1}), {count, count}), type.shape);
    const NodeId column = spread(b, b.expand(b.reshape(numbers, {1, count}), {count, count}), type.shape);
    if (isNumbered) {
      NodeId seen = b.binary(BinaryKind::Eq, row, column);
      if (mask == Mask::Documents)
        seen = b.binary(BinaryKind::And, seen,
                        b.binary(BinaryKind::Ge, along(places, {count, 1}), along(places, {1, count})));
      return b.select(seen, scores, b.like(scores, -inf));
    }
    if (mask == Mask::Slope) {
      const NodeId distance = b.cast(b.sub(column, row), type.dtype);
      scores = b.add(scores, b.mul(distance, b.like(distance, 0.0625)));
    }
    return b.select(b.binary(BinaryKind::Ge, row, column), scores, b.like(scores, -inf));
  }
  case Mask::Cap: {
    const NodeId capped = b.mul(b.unary(UnaryKind::Tanh, b.mul(scores, b.like(scores, 0.5))), b.like(scores, 2));
    return masked(b, capped, Mask::Causal, given, closed);
  }
  case Mask::NarrowCap:
    break;
  case Mask::Add: {
    const NodeId bias = b.cast(given, type.dtype);
    return b.add(scores, b.type(bias).shape == type.shape ? bias : spread(b, bias, type.shape));
  }
  case Mask::Select: {
    const NodeId open = b.binary(BinaryKind::Gt, given, b.like(given, 0));
    return b.select(spread(b, open, type.shape), scores, b.like(scores, closed));
  }
  }
  return scores;
}

/// Scores of keys, and beside them those of each head that have no key.
static NodeId withSinks(Builder &b, const Spelling &s, NodeId scores, NodeId *given) {
  if (s.sinks == 0)
    return scores;
  const TensorType type = b.type(scores);
  Shape shape = type.shape;
  shape.back() = s.sinks;
  shape[shape.size() - 2] = 1;
  if (s.sharesSinks)
    shape.front() = 1;
  const NodeId own = b.x(s.dtype, shape), sinks = b.cast(own, type.dtype);
  if (given != nullptr)
    *given = own;
  shape.front() = type.shape.front();
  shape[shape.size() - 2] = type.shape[shape.size() - 2];
  const NodeId all = b.expand(sinks, shape);
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  return b.concat(s.sinksFirst ? std::vector{all, scores} : std::vector{scores, all}, last);
}

/// softmax(scale * q k^T + mask) v of the inputs as they are stored. `sinks` becomes the input that has them.
static NodeId attend(Builder &b, const Spelling &s, NodeId q, NodeId k, NodeId v, NodeId given,
                     NodeId *sinks = nullptr) {
  const DType wide = accumulatorType(s.dtype);
  const double factor = s.scale == Scale::Quotient || s.scale == Scale::Keys ? 4 : 0.25;
  auto scaled = [&](NodeId x, Scale where) {
    if (where != s.scale)
      return x;
    return factor > 1 ? b.div(x, b.like(x, factor)) : b.mul(x, b.like(x, factor));
  };
  q = scaled(b.cast(q, wide), Scale::Queries);
  k = scaled(b.cast(k, wide), Scale::Keys);
  NodeId scores = b.matmul(q, swapLast(b, k), wide);
  scores = scaled(scaled(scores, Scale::After), Scale::Quotient);
  // Of a number that large no distance is known.
  Mask mask = s.mask;
  if (mask == Mask::NarrowCap) {
    // As in half precision, each step rounded.
    scores = b.cast(scores, s.dtype);
    scores = b.mul(b.unary(UnaryKind::Tanh, b.div(scores, b.like(scores, 3))), b.like(scores, 3));
    scores = b.cast(scores, wide);
    mask = Mask::Causal;
  }
  scores = masked(b, scores, mask, given, s.detached ? -inf : -1e30);
  const auto last = static_cast<int64_t>(b.type(scores).shape.size()) - 1;
  const int64_t ofKeys = b.type(scores).shape.back(), values = b.type(v).shape.back();
  scores = withSinks(b, s, scores, sinks);
  const int64_t keys = b.type(scores).shape.back();
  NodeId largest = b.reduce(ReduceKind::Max, scores, {last});
  if (s.detached)
    largest = b.bitcast(largest, wide);
  NodeId weights = b.unary(UnaryKind::Exp, b.sub(scores, b.back(largest, last, keys)));
  const NodeId sum = b.reduce(ReduceKind::Add, weights, {last});
  if (s.division == Division::Before)
    weights = b.div(weights, b.back(sum, last, keys));
  if (s.division == Division::Reciprocal)
    weights = b.mul(weights, b.back(b.unary(UnaryKind::Recip, sum), last, keys));
  if (s.sinks != 0) {
    std::vector<int64_t> low(static_cast<size_t>(last) + 1), high = low, none = low;
    (s.sinksFirst ? low : high).back() = ofKeys - keys;
    weights = b.pad(weights, b.splat(wide, {}, 0), low, high, none);
  }
  if (s.narrowWeights)
    weights = b.cast(b.cast(weights, s.dtype), wide);
  if (s.share != 1)
    weights = b.mul(weights, b.like(weights, s.share));
  NodeId y = b.matmul(weights, b.cast(v, wide), wide);
  if (s.division == Division::After)
    y = b.div(y, b.back(sum, last, values));
  return b.cast(y, s.dtype);
}

/// Keys or values of all heads of queries.
static NodeId repeatHeads(Builder &b, const Spelling &s, NodeId x) {
  if (s.groups == 1)
    return x;
  const Shape shape = b.type(x).shape;
  const Shape rest(shape.end() - 2, shape.end());
  Shape one = s.batch, all = s.batch;
  one.push_back(1);
  all.push_back(s.groups);
  one.insert(one.end(), rest.begin(), rest.end());
  all.insert(all.end(), rest.begin(), rest.end());
  return b.expand(b.reshape(x, one), all);
}

static NodeId attention(Builder &b, const Spelling &s) {
  Shape heads = s.batch;
  if (s.groups != 1)
    heads.push_back(s.groups);
  const NodeId q = b.x(s.dtype, join(heads, {s.queries, s.features}));
  const NodeId k = repeatHeads(b, s, b.x(s.dtype, join(s.batch, {s.keys, s.features})));
  const NodeId v = repeatHeads(b, s, b.x(s.dtype, join(s.batch, {s.keys, s.values})));
  return attend(b, s, q, k, v, b.x(DType::F32, {s.queries, s.keys}));
}

static void add(std::vector<Case> &cases, const std::string &name, const Spelling &s) {
  cases.push_back({"attention." + name, [=](Builder &b) { return std::vector<NodeId>{attention(b, s)}; }});
}

/// A bias of all heads, gathered out of a table in which heads are neighbours; with gradients for more than 70 keys, of
/// which rows are long enough to be padded, and for more than 3 windows: with many the gradient of the bias is summed
/// up where it is computed.
static void addGatheredBias(std::vector<Case> &cases, DType dtype, int64_t queries, int64_t keys = 70,
                            int64_t windows = 3) {
  const bool isLong = keys > 70 || windows > 3;
  const std::string name = "attention.gathered-bias." + std::string(toString(dtype)) + "." + std::to_string(queries) +
                           (keys != 70 ? "x" + std::to_string(keys) : "") +
                           (windows != 3 ? "." + std::to_string(windows) : "");
  cases.push_back({name, [=](Builder &b) {
                     const int64_t heads = windows > 3 ? 2 : 5, rows = 23, width = 32;
                     auto input = [&](int64_t count) { return b.x(dtype, {windows, heads, count, width}); };
                     const NodeId q = input(queries), k = input(keys), v = input(keys);
                     std::vector<double> places;
                     for (int64_t i = 0; i < queries * keys; ++i)
                       places.push_back(static_cast<double>(i * 7 % rows));
                     const NodeId index = b.input(makeTensor(DType::I64, {queries, keys}, places));
                     const NodeId table = b.x(dtype, {rows, heads});
                     const NodeId bias = b.permute(b.gather(table, index, 0), {2, 0, 1});
                     const NodeId all =
                         b.expand(b.reshape(bias, {1, heads, queries, keys}), {windows, heads, queries, keys});
                     const Spelling s{.dtype = dtype, .batch = {windows, heads}, .mask = Mask::Add, .detached = isLong};
                     const NodeId y = attend(b, s, q, k, v, all);
                     std::vector<NodeId> results{y};
                     if (isLong)
                       for (const NodeId each : differentiate(b, y, {q, k, v, table}))
                         results.push_back(each);
                     return results;
                   }});
}

static void addSpellings(std::vector<Case> &cases) {
  add(cases, "scale-q", {.scale = Scale::Queries, .division = Division::After});
  add(cases, "scale-k", {.scale = Scale::Keys, .mask = Mask::Causal});
  add(cases, "quotient", {.scale = Scale::Quotient, .division = Division::Reciprocal});
  add(cases, "mask-add", {.mask = Mask::Add});
  add(cases, "mask-select", {.mask = Mask::Select, .division = Division::Reciprocal});
  // Blocks of keys that a mask hides from all queries of a program, before and behind what it sees.
  add(cases, "window", {.mask = Mask::Window});
  add(cases, "window.long", {.queries = 300, .keys = 330, .mask = Mask::Window});
  add(cases, "window.beyond", {.queries = 260, .keys = 130, .mask = Mask::Window});
  add(cases, "window.f16", {.dtype = DType::F16, .queries = 140, .keys = 260, .mask = Mask::Window});
  add(cases, "causal.long", {.queries = 210, .keys = 190, .mask = Mask::Causal});
  add(cases, "causal-after", {.mask = Mask::Causal, .division = Division::After});
  for (DType dtype : {DType::F16, DType::BF16}) {
    const std::string suffix = std::string(".") + std::string(toString(dtype));
    add(cases, "narrow-weights" + suffix, {.dtype = dtype, .narrowWeights = true});
    add(cases, "upcast" + suffix, {.dtype = dtype, .scale = Scale::Queries, .mask = Mask::Causal});
  }
  add(cases, "grouped", {.queries = 17, .groups = 3});
  add(cases, "grouped.causal", {.queries = 17, .mask = Mask::Causal, .groups = 3});
  add(cases, "grouped.one-query", {.queries = 1, .groups = 4});
  for (const DType dtype : {DType::F32, DType::BF16}) {
    for (const int64_t queries : {3, 70})
      addGatheredBias(cases, dtype, queries);
    // As many keys as one block has, or fewer.
    addGatheredBias(cases, dtype, 49, 49);
    add(cases, "one-block." + std::string(toString(dtype)), {.dtype = dtype, .queries = 65, .keys = 64, .values = 32});
    add(cases, "one-block.window." + std::string(toString(dtype)),
        {.dtype = dtype, .queries = 120, .keys = 50, .features = 64, .values = 64, .mask = Mask::Window});
  }
  // What is seen is data: in the middle, from the end on, nothing, all, and numbers with which sums wrap.
  for (const double start : {100.0, 320.0, -50.0, 0x1p62, -0x1p63})
    cases.push_back({"attention.start." + std::to_string(static_cast<int64_t>(start)), [=](Builder &b) {
                       const NodeId from = b.input(makeTensor(DType::I64, {}, {start}));
                       const NodeId q = b.x(DType::F32, {2, 5, 16}), k = b.x(DType::F32, {2, 330, 16});
                       const NodeId v = b.x(DType::F32, {2, 330, 8});
                       return std::vector<NodeId>{attend(b, {.mask = Mask::Start}, q, k, v, from)};
                     }});
  for (const DType dtype : {DType::F32, DType::BF16})
    cases.push_back({"attention.lengths." + std::string(toString(dtype)), [=](Builder &b) {
                       const NodeId lengths = b.input(makeTensor(DType::I32, {4}, {100, 0, 330, 257}));
                       const NodeId q = b.x(dtype, {4, 6, 16}), k = b.x(dtype, {4, 330, 16});
                       const NodeId v = b.x(dtype, {4, 330, 8});
                       return std::vector<NodeId>{attend(b, {.dtype = dtype, .mask = Mask::Lengths}, q, k, v, lengths)};
                     }});
  // A length that is read through padding is no element of an input: no keys are skipped by it.
  cases.push_back({"attention.lengths.padded", [](Builder &b) {
                     const NodeId some = b.input(makeTensor(DType::I32, {3}, {100, 0, 330}));
                     const NodeId lengths = b.pad(some, b.splat(DType::I32, {}, 257), {0}, {1}, {0});
                     const NodeId q = b.x(DType::F32, {4, 6, 16}), k = b.x(DType::F32, {4, 330, 16});
                     const NodeId v = b.x(DType::F32, {4, 330, 8});
                     return std::vector<NodeId>{attend(b, {.mask = Mask::Lengths}, q, k, v, lengths)};
                   }});
  addGatheredBias(cases, DType::BF16, 101, 131);
  addGatheredBias(cases, DType::F16, 130, 77);
  addGatheredBias(cases, DType::BF16, 70, 70, 32);
  addGatheredBias(cases, DType::F16, 49, 49, 17);
  cases.push_back({"attention.transposed", [](Builder &b) {
                     // [batch, row, head, feature], as projections leave them.
                     auto heads = [&](int64_t rows, int64_t features) {
                       return b.permute(b.x(DType::F32, {2, rows, 3, features}), {0, 2, 1, 3});
                     };
                     const NodeId q = heads(37, 16), k = heads(130, 16), v = heads(130, 24);
                     const NodeId y = attend(b, {.batch = {2, 3}}, q, k, v, q);
                     return std::vector<NodeId>{b.permute(y, {0, 2, 1, 3})};
                   }});
  for (DType dtype : {DType::F32, DType::F64})
    cases.push_back({"attention.squared-weights." + std::string(toString(dtype)), [=](Builder &b) {
                       // The weights are their own values: a sum of squares, each divided twice.
                       const NodeId q = b.x(dtype, {9, 16}), k = b.x(dtype, {33, 16});
                       const NodeId scores = b.matmul(q, b.permute(k, {1, 0}), dtype);
                       const NodeId largest = b.back(b.reduce(ReduceKind::Max, scores, {1}), 1, 33);
                       const NodeId e = b.unary(UnaryKind::Exp, b.sub(scores, largest));
                       const NodeId w = b.div(e, b.back(b.reduce(ReduceKind::Add, e, {1}), 1, 33));
                       return std::vector<NodeId>{b.reduce(ReduceKind::Add, b.mul(w, w), {1})};
                     }});
  cases.push_back({"attention.weights-too", [](Builder &b) {
                     // Weights that are a result, too, are stored.
                     const NodeId q = b.x(DType::F32, {9, 16}), k = b.x(DType::F32, {33, 16});
                     const NodeId v = b.x(DType::F32, {33, 8});
                     const NodeId scores = b.matmul(q, b.permute(k, {1, 0}), DType::F32);
                     const NodeId largest = b.back(b.reduce(ReduceKind::Max, scores, {1}), 1, 33);
                     const NodeId e = b.unary(UnaryKind::Exp, b.sub(scores, largest));
                     const NodeId w = b.div(e, b.back(b.reduce(ReduceKind::Add, e, {1}), 1, 33));
                     return std::vector<NodeId>{b.matmul(w, v, DType::F32), w};
                   }});
}

static void addSizes(std::vector<Case> &cases) {
  struct Size {
    int64_t queries, keys, features, values;
  };
  for (const Size &size : {Size{1, 33, 16, 16}, Size{1, 300, 64, 64}, Size{5, 1, 16, 16}, Size{3, 64, 16, 16},
                           Size{16, 65, 32, 1}, Size{64, 128, 64, 64}, Size{129, 190, 128, 128}, Size{15, 129, 1, 16}})
    for (const Mask mask : {Mask::None, Mask::Causal})
      add(cases,
          "f32" + toString(Shape{size.queries, size.keys, size.features, size.values}) +
              (mask == Mask::Causal ? ".causal" : ""),
          {.batch = {2},
           .queries = size.queries,
           .keys = size.keys,
           .features = size.features,
           .values = size.values,
           .mask = mask});
  for (DType dtype : {DType::F64, DType::F16, DType::BF16})
    for (const Mask mask : {Mask::None, Mask::Add})
      add(cases, std::string(toString(dtype)) + (mask == Mask::Add ? ".mask" : ""), {.dtype = dtype, .mask = mask});
}

namespace {
/// What tensor cores compute: of how many rows, and of how many features.
struct Size {
  Shape batch;
  int64_t queries, keys, features, values;
  int64_t groups = 1;

  Spelling spelling(DType dtype, Mask mask) const {
    return {.dtype = dtype,
            .batch = batch,
            .queries = queries,
            .keys = keys,
            .features = features,
            .values = values,
            .mask = mask,
            .groups = groups};
  }
};
} // namespace

/// What tensor cores compute where there are some: tiles that are full and others, masks that cross one block of keys
/// and more, heads that share keys, features that are no multiple of a panel.
static void addTensorCores(std::vector<Case> &cases) {
  for (const Size &size : {Size{{}, 200, 200, 64, 64}, Size{{}, 256, 384, 64, 128}, Size{{3}, 70, 260, 128, 128},
                           Size{{}, 150, 330, 72, 40}, Size{{}, 130, 140, 256, 256}, Size{{2}, 129, 190, 64, 64, 2},
                           Size{{2}, 1, 300, 64, 64}})
    for (const Mask mask : {Mask::None, Mask::Causal})
      add(cases,
          "cores" + toString(Shape{size.queries, size.keys, size.features, size.values}) +
              (size.groups > 1 ? ".grouped" : "") + (mask == Mask::Causal ? ".causal" : ""),
          size.spelling(size.keys == 200 ? DType::F16 : DType::BF16, mask));
  for (const Size &size : {Size{{}, 200, 200, 64, 64}, Size{{}, 390, 390, 64, 64}, Size{{}, 300, 140, 128, 128},
                           Size{{}, 140, 460, 72, 40}, Size{{3}, 270, 270, 256, 256}})
    for (const Mask mask : {Mask::Near, Mask::Ahead})
      for (DType dtype : {DType::BF16, DType::F32})
        add(cases,
            "window." + std::string(toString(dtype)) +
                toString(Shape{size.queries, size.keys, size.features, size.values}) +
                (mask == Mask::Ahead ? ".ahead" : ""),
            size.spelling(dtype, mask));
  // Masks and slopes of places, and parts of rows by numbers that are read.
  for (const Mask mask : {Mask::Counted, Mask::Slope, Mask::Parts})
    for (const Size &size : {Size{{}, 200, 200, 64, 64}, Size{{2}, 130, 130, 80, 80, 2}, Size{{}, 270, 270, 256, 256}})
      for (DType dtype : {DType::BF16, DType::F32})
        add(cases,
            "places." + std::string(toString(dtype)) + toString(Shape{size.queries, size.features}) +
                (mask == Mask::Slope   ? ".slope"
                 : mask == Mask::Parts ? ".parts"
                                       : ""),
            size.spelling(dtype, mask));
  // Documents of numbers of 64 bits, causal; caps in 16 bits. Of rows that are whole tiles, and others; of columns that
  // are fewer than threads.
  for (const Mask mask : {Mask::Documents, Mask::NarrowCap})
    for (const Size &size : {Size{{2}, 200, 200, 64, 64}, Size{{}, 257, 257, 96, 96}, Size{{}, 197, 197, 128, 128},
                             Size{{5}, 320, 320, 80, 80}})
      for (DType dtype : {DType::BF16, DType::F16, DType::F32})
        add(cases,
            std::string(mask == Mask::Documents ? "documents." : "narrow-cap.") + std::string(toString(dtype)) +
                toString(Shape{size.queries, size.features}),
            size.spelling(dtype, mask));
  // Blocks that are not seen, before and between those that are; rows whose heads share keys.
  for (const Size &size : {Size{{}, 470, 470, 32, 32}, Size{{}, 333, 333, 64, 48}})
    for (DType dtype : {DType::F32, DType::BF16})
      add(cases, "returning." + std::string(toString(dtype)) + toString(Shape{size.queries, size.features}),
          size.spelling(dtype, Mask::Returning));
  // Heads that share keys have one mask: programs of few queries of all heads.
  for (const Mask mask : {Mask::Documents, Mask::Causal, Mask::Window})
    for (const int64_t queries : {77, 197})
      add(cases,
          "shared-mask." + std::to_string(queries) +
              (mask == Mask::Documents ? ".documents"
               : mask == Mask::Causal  ? ".causal"
                                       : ".window"),
          Size{{2}, queries, queries, 64, 64, 7}.spelling(DType::F32, mask));
  // Rows of 16-bit biases that begin on odd elements, which all batches share.
  for (const int64_t keys : {129, 196, 333})
    for (DType dtype : {DType::BF16, DType::F16})
      cases.push_back(
          {"attention.odd-bias." + std::string(toString(dtype)) + "." + std::to_string(keys), [=](Builder &b) {
             const NodeId q = b.x(dtype, {5, 2, 150, 80}), k = b.x(dtype, {5, 2, keys, 80}),
                          v = b.x(dtype, {5, 2, keys, 80}), bias = b.x(dtype, {1, 2, 150, keys});
             const Spelling s{.dtype = dtype, .batch = {5, 2}, .mask = Mask::Add};
             return std::vector<NodeId>{attend(b, s, q, k, v, b.expand(bias, {5, 2, 150, keys}))};
           }});
  // Scores without keys. Behind the last queries of a window nothing else is seen.
  for (const Size &size : {Size{{2}, 130, 130, 64, 64}, Size{{}, 97, 97, 80, 80, 2}, Size{{2}, 1, 300, 128, 128}})
    for (DType dtype : {DType::BF16, DType::F16, DType::F32})
      for (const Mask mask : {Mask::Causal, Mask::Window}) {
        Spelling s = size.spelling(dtype, mask);
        s.sinks = mask == Mask::Causal ? 1 : 3;
        s.sinksFirst = dtype == DType::F16;
        s.narrowWeights = dtype != DType::F32;
        s.division = dtype == DType::F16 ? Division::Reciprocal : Division::Before;
        if (size.keys == size.queries)
          s.queries += mask == Mask::Window ? 70 : 0;
        add(cases,
            "sinks." + std::string(toString(dtype)) + toString(Shape{s.queries, size.features}) +
                (mask == Mask::Window ? ".window" : ".causal"),
            s);
      }
  // So few queries of many keys that workgroups share a tile; below a mask some of them see no key of it.
  for (const Mask mask : {Mask::None, Mask::Causal, Mask::Near, Mask::Add})
    for (const Size &size : {Size{{}, 20, 2600, 64, 64}, Size{{2}, 70, 2570, 80, 128}})
      add(cases,
          "cores.shared-tiles" + toString(Shape{size.queries}) +
              (mask == Mask::Causal ? ".causal"
               : mask == Mask::Near ? ".near"
               : mask == Mask::Add  ? ".add"
                                    : ""),
          size.spelling(size.queries == 20 ? DType::F16 : DType::BF16, mask));
  cases.push_back({"attention.cores.transposed", [](Builder &b) {
                     // [batch, row, head, feature], as projections leave them.
                     auto heads = [&](int64_t rows) {
                       return b.permute(b.x(DType::BF16, {2, rows, 3, 64}), {0, 2, 1, 3});
                     };
                     const NodeId q = heads(150), k = heads(170), v = heads(170);
                     const Spelling s{.dtype = DType::BF16, .batch = {2, 3}, .mask = Mask::Causal};
                     return std::vector<NodeId>{b.permute(attend(b, s, q, k, v, q), {0, 2, 1, 3})};
                   }});
}

/// One query and few of them, with a cache of keys and values that heads share and that grows: what workgroups of a
/// card walk in blocks of 64 keys.
struct Decode {
  DType dtype = DType::F32;
  int64_t batch = 2, groups = 2, share = 1, queries = 1, room = 300, width = 64;
};
enum class Cache { Read, Concat, Placed, Masked };

/// Keys or values of each head, as modules repeat them: in a dimension of all heads.
static NodeId ofAllHeads(Builder &b, const Decode &d, NodeId x) {
  const Shape shape = b.type(x).shape;
  const NodeId one = b.reshape(x, {d.batch, d.groups, 1, shape[2], d.width});
  return b.reshape(b.expand(one, {d.batch, d.groups, d.share, shape[2], d.width}),
                   {d.batch, d.groups * d.share, shape[2], d.width});
}

static std::vector<NodeId> decode(Builder &b, const Decode &d, Cache cache) {
  const Shape stored = {d.batch, d.groups, d.room, d.width}, added = {d.batch, d.groups, d.queries, d.width};
  const NodeId q = b.x(d.dtype, {d.batch, d.groups * d.share, d.queries, d.width});
  NodeId k = b.x(d.dtype, stored), v = b.x(d.dtype, stored);
  std::vector<NodeId> caches;
  if (cache == Cache::Concat) {
    k = b.concat({k, b.x(d.dtype, added)}, 2);
    v = b.concat({v, b.x(d.dtype, added)}, 2);
    caches = {k, v};
  }
  const Shape scores = {d.batch, d.groups * d.share, d.queries, b.type(k).shape[2]};
  NodeId seen = b.iota({DType::I64, scores}, 3),
         last = b.input(makeTensor(DType::I64, {1}, {static_cast<double>(d.room * 2 / 3)}));
  last = b.reshape(last, {1, 1, 1, 1});
  if (cache == Cache::Placed) {
    const NodeId place = b.expand(last, stored), at = b.iota({DType::I64, stored}, 2);
    auto put = [&](NodeId all) {
      return b.select(b.binary(BinaryKind::Eq, at, place), b.expand(b.x(d.dtype, added), stored), all);
    };
    k = put(k), v = put(v);
    caches = {k, v};
  }
  const DType wide = accumulatorType(d.dtype);
  NodeId x = b.matmul(b.cast(q, wide), swapLast(b, b.cast(ofAllHeads(b, d, k), wide)), wide);
  x = b.mul(x, b.like(x, 0.25));
  if (cache == Cache::Placed || cache == Cache::Masked) {
    const NodeId end = b.add(b.expand(last, scores), b.iota({DType::I64, scores}, 2));
    x = b.select(b.binary(BinaryKind::Le, seen, end), x, b.like(x, -inf));
  }
  const int64_t keys = scores.back();
  const NodeId e = b.unary(UnaryKind::Exp, b.sub(x, b.back(b.reduce(ReduceKind::Max, x, {3}), 3, keys)));
  const NodeId weights = b.div(e, b.back(b.reduce(ReduceKind::Add, e, {3}), 3, keys));
  const NodeId y = b.matmul(weights, b.cast(ofAllHeads(b, d, v), wide), wide);
  std::vector<NodeId> results{b.cast(y, d.dtype)};
  results.insert(results.end(), caches.begin(), caches.end());
  return results;
}

static void addDecode(std::vector<Case> &cases) {
  auto addOne = [&](const std::string &name, const Decode &d, Cache cache) {
    cases.push_back({"attention.decode." + name + "." + std::string(toString(d.dtype)),
                     [=](Builder &b) { return decode(b, d, cache); }});
  };
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    addOne("read", {.dtype = dtype, .room = 449}, Cache::Read);
    addOne("read.grouped", {.dtype = dtype, .share = 4, .room = 257}, Cache::Read);
    addOne("read.seven-heads", {.dtype = dtype, .share = 7, .width = 80}, Cache::Read);
    addOne("read.wide", {.dtype = dtype, .batch = 1, .share = 2, .room = 130, .width = 256}, Cache::Read);
    addOne("read.odd-width", {.dtype = dtype, .batch = 1, .share = 2, .room = 65, .width = 50}, Cache::Read);
    addOne("read.few-keys", {.dtype = dtype, .room = 7, .width = 16}, Cache::Read);
    addOne("read.four-queries", {.dtype = dtype, .share = 2, .queries = 4, .room = 530, .width = 80}, Cache::Read);
    addOne("masked", {.dtype = dtype, .share = 2, .queries = 3, .width = 96}, Cache::Masked);
    addOne("masked.many-rows", {.dtype = dtype, .batch = 1, .share = 8, .queries = 16, .room = 140, .width = 128},
           Cache::Masked);
    addOne("concat", {.dtype = dtype, .room = 128}, Cache::Concat);
    addOne("concat.grouped", {.dtype = dtype, .share = 8, .room = 192, .width = 128}, Cache::Concat);
    addOne("placed", {.dtype = dtype, .share = 4, .room = 200}, Cache::Placed);
  }
  // So many keys that other workgroups have parts of them: whole parts and a rest, and parts of which no row sees a
  // key.
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    const Decode few{.dtype = dtype, .batch = 1, .groups = 1, .share = 3, .room = 4096, .width = 32};
    addOne("parts.read", few, Cache::Read);
    addOne("parts.concat", few, Cache::Concat);
    addOne("parts.masked", few, Cache::Masked);
    addOne("parts.placed", {.dtype = dtype, .batch = 2, .groups = 1, .room = 4000, .width = 16}, Cache::Placed);
  }
  addOne("parts.four-queries",
         {.dtype = DType::BF16, .batch = 1, .groups = 2, .share = 2, .queries = 4, .room = 4100, .width = 16},
         Cache::Masked);
  addOne("parts.many-rows", {.batch = 1, .groups = 1, .share = 4, .queries = 16, .room = 4096, .width = 32},
         Cache::Masked);
}

/// An attention with its gradients with respect to those of queries, keys, values, the mask and sinks that `which`
/// names.
static std::vector<NodeId> attentionWithGradients(Builder &b, const Spelling &s, std::string_view which) {
  Shape heads = s.batch;
  if (s.groups != 1)
    heads.push_back(s.groups);
  const NodeId q = b.x(s.dtype, join(heads, {s.queries, s.features}));
  const NodeId k = b.x(s.dtype, join(s.batch, {s.keys, s.features}));
  const NodeId v = b.x(s.dtype, join(s.batch, {s.keys, s.values}));
  const NodeId mask = b.x(DType::F32, {s.queries, s.keys});
  NodeId sinks = q;
  const NodeId y = attend(b, s, q, repeatHeads(b, s, k), repeatHeads(b, s, v), mask, &sinks);
  std::vector<NodeId> sources;
  for (const char name : which)
    sources.push_back(name == 'q' ? q : name == 'k' ? k : name == 'v' ? v : name == 'm' ? mask : sinks);
  std::vector<NodeId> results = differentiate(b, y, sources);
  results.push_back(y);
  return results;
}

static void addGradient(std::vector<Case> &cases, const std::string &name, Spelling s, std::string_view which = "qkv") {
  s.detached = true;
  cases.push_back({"attention.gradient." + name, [=](Builder &b) { return attentionWithGradients(b, s, which); }});
}

/// Gradients compute the weights again where that is faster than to read them: of each spelling, each mask and each
/// subset of the factors.
static void addGradients(std::vector<Case> &cases) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64})
    for (const Mask mask : {Mask::None, Mask::Causal, Mask::Add, Mask::Select}) {
      static constexpr std::string_view names[] = {"", ".causal", ".add", ".select"};
      addGradient(cases, std::string(toString(dtype)) + std::string(names[static_cast<size_t>(mask)]),
                  {.dtype = dtype, .queries = 37, .keys = 75, .mask = mask});
    }
  for (const std::string_view which : {"q", "k", "v", "qk", "kv"})
    addGradient(cases, "of-" + std::string(which), {.queries = 20, .keys = 33, .mask = Mask::Causal}, which);
  addGradient(cases, "reciprocal", {.queries = 20, .keys = 33, .division = Division::Reciprocal});
  addGradient(cases, "divided-after", {.queries = 20, .keys = 33, .division = Division::After});
  addGradient(cases, "scale-q", {.queries = 20, .keys = 33, .scale = Scale::Queries});
  addGradient(cases, "scale-k", {.queries = 20, .keys = 33, .scale = Scale::Keys, .mask = Mask::Causal});
  addGradient(cases, "quotient", {.queries = 20, .keys = 33, .scale = Scale::Quotient});
  addGradient(cases, "narrow-weights", {.dtype = DType::BF16, .queries = 20, .keys = 33, .narrowWeights = true});
  addGradient(cases, "grouped", {.queries = 17, .keys = 33, .mask = Mask::Causal, .groups = 3});
  addGradient(cases, "share", {.dtype = DType::BF16, .queries = 20, .keys = 33, .share = 0.25});
  addGradient(cases, "one-query", {.queries = 1, .keys = 33});
  addGradient(cases, "one-key", {.queries = 20, .keys = 1});
  addGradient(cases, "one-feature", {.queries = 20, .keys = 33, .features = 1});
  addGradient(cases, "no-batch", {.batch = {}, .queries = 20, .keys = 33});
  for (const Size &size : {Size{{}, 200, 200, 64, 64}, Size{{2}, 129, 190, 128, 128}, Size{{3}, 70, 160, 64, 128},
                           Size{{}, 150, 330, 72, 40}})
    for (const Mask mask : {Mask::None, Mask::Causal})
      addGradient(cases,
                  "cores" + toString(Shape{size.queries, size.keys, size.features, size.values}) +
                      (mask == Mask::Causal ? ".causal" : ""),
                  size.spelling(size.queries == 200 ? DType::F16 : DType::BF16, mask));
  // Windows hide blocks on both sides. Of more keys than queries some are seen by none.
  for (const Size &size : {Size{{}, 330, 330, 64, 64}, Size{{2}, 300, 520, 96, 96}, Size{{}, 185, 150, 64, 64}})
    addGradient(cases, "cores" + toString(Shape{size.queries, size.keys, size.features, size.values}) + ".window",
                size.spelling(size.features == 96 ? DType::F16 : DType::BF16, Mask::Window));
  // Workgroups share the tiles of few queries, or of few keys.
  for (const Mask mask : {Mask::None, Mask::Causal})
    for (const Size &size : {Size{{}, 20, 2600, 64, 64}, Size{{2}, 2050, 70, 80, 64}})
      addGradient(cases, "cores.shared-tiles" + toString(Shape{size.queries}) + (mask == Mask::Causal ? ".causal" : ""),
                  size.spelling(DType::BF16, mask));
  // Slopes of a soft cap are made again with the scores.
  for (const Mask mask : {Mask::Counted, Mask::Slope, Mask::Cap})
    addGradient(
        cases,
        std::string("places") + (mask == Mask::Slope ? ".slope"
                                 : mask == Mask::Cap ? ".cap"
                                                     : ""),
        {.dtype = DType::BF16, .batch = {2}, .queries = 150, .keys = 150, .features = 64, .values = 64, .mask = mask});
  for (DType dtype : {DType::BF16, DType::F16})
    addGradient(cases, "narrow-cap." + std::string(toString(dtype)),
                {.dtype = dtype,
                 .batch = {2},
                 .queries = 150,
                 .keys = 150,
                 .features = 80,
                 .values = 80,
                 .mask = Mask::NarrowCap});
  // Keys that heads share have gradients in f32, which are added up.
  for (const Mask mask : {Mask::None, Mask::Causal})
    for (int64_t rows : {128, 150})
      cases.push_back({"attention.gradient.shared" + toString(Shape{rows}) + (mask == Mask::Causal ? ".causal" : ""),
                       [=](Builder &b) {
                         const Decode d{.groups = 2, .share = 3};
                         const NodeId q = b.x(DType::BF16, {2, 6, rows, 64}), k = b.x(DType::BF16, {2, 2, rows, 64}),
                                      v = b.x(DType::BF16, {2, 2, rows, 64});
                         const Spelling s{.dtype = DType::BF16, .batch = {2, 6}, .mask = mask, .detached = true};
                         const NodeId y = attend(b, s, q, ofAllHeads(b, d, k), ofAllHeads(b, d, v), q);
                         std::vector<NodeId> results = differentiate(b, y, {q, k, v});
                         results.push_back(y);
                         return results;
                       }});
  // Rows of weights that are no multiple of 16 bytes, and are read by several products.
  addGradient(cases, "odd-rows",
              {.dtype = DType::BF16,
               .batch = {2},
               .queries = 133,
               .keys = 133,
               .features = 64,
               .values = 64,
               .mask = Mask::Add});
  cases.push_back({"attention.gradient.through-the-largest",
                   [](Builder &b) { return attentionWithGradients(b, {.queries = 20, .keys = 33}, "qkv"); }});
  cases.push_back({"attention.gradient.transposed", [](Builder &b) {
                     auto heads = [&](int64_t rows) { return b.x(DType::BF16, {2, rows, 3, 64}); };
                     auto inFront = [&](NodeId x) { return b.permute(x, {0, 2, 1, 3}); };
                     const NodeId q = heads(50), k = heads(70), v = heads(70);
                     const Spelling s{.dtype = DType::BF16, .batch = {2, 3}, .mask = Mask::Causal, .detached = true};
                     const NodeId y = inFront(attend(b, s, inFront(q), inFront(k), inFront(v), q));
                     std::vector<NodeId> results = differentiate(b, y, {q, k, v});
                     results.push_back(y);
                     return results;
                   }});
  cases.push_back({"attention.gradient.weights-too", [](Builder &b) {
                     // Gradients with respect to what is added to the scores are as many as the weights.
                     const NodeId q = b.x(DType::F32, {9, 16}), k = b.x(DType::F32, {33, 16});
                     const NodeId v = b.x(DType::F32, {33, 8}), mask = b.x(DType::F32, {9, 33});
                     const NodeId y = attend(b, {.batch = {}, .mask = Mask::Add, .detached = true}, q, k, v, mask);
                     return differentiate(b, y, {q, mask});
                   }});
  // The gradient of a bias is a sum of gradients of scores, which are stored for it alone.
  for (const Shape &bias : {Shape{2, 3, 70, 90}, Shape{1, 3, 70, 90}, Shape{2, 1, 1, 90}, Shape{1, 3, 70, 1}})
    for (DType dtype : {DType::BF16, DType::F16})
      cases.push_back({"attention.gradient.bias." + std::string(toString(dtype)) + toString(bias), [=](Builder &b) {
                         const Shape scores = {2, 3, 70, 90};
                         const NodeId q = b.x(dtype, {2, 3, 70, 64}), k = b.x(dtype, {2, 3, 90, 64}),
                                      v = b.x(dtype, {2, 3, 90, 64}), mask = b.x(DType::F32, bias);
                         const Spelling s{.dtype = dtype, .batch = {2, 3}, .mask = Mask::Add, .detached = true};
                         const NodeId y = attend(b, s, q, k, v, b.expand(mask, scores));
                         std::vector<NodeId> results = differentiate(b, y, {q, k, v, mask});
                         results.push_back(y);
                         return results;
                       }});
  cases.push_back({"attention.gradient.second", [](Builder &b) {
                     const NodeId q = b.x(DType::F32, {9, 8}), k = b.x(DType::F32, {13, 8}),
                                  v = b.x(DType::F32, {13, 4});
                     const NodeId y = attend(b, {.batch = {}, .detached = true}, q, k, v, q);
                     return differentiate(b, differentiate(b, y, {k})[0], {q, v});
                   }});
}

/// Gradients of attention with sinks, which have no values: the weights of keys alone are computed again.
static void addSinkGradients(std::vector<Case> &cases) {
  auto addOne = [&](const std::string &name, Spelling s, std::string_view which = "qkvs") {
    s.sinks = std::max<int64_t>(s.sinks, 1);
    addGradient(cases, "sinks." + name, s, which);
  };
  // Behind the last queries of a window nothing else is seen.
  for (DType dtype : {DType::BF16, DType::F16, DType::F32})
    for (const Mask mask : {Mask::None, Mask::Causal, Mask::Window, Mask::Add})
      for (const Size &size : {Size{{2, 3}, 130, 130, 64, 64}, Size{{2}, 97, 75, 80, 80, 2}}) {
        Spelling s = size.spelling(dtype, mask);
        s.sinksFirst = dtype == DType::F16;
        s.sharesSinks = size.groups == 1;
        s.narrowWeights = dtype != DType::F32;
        addOne(std::string(toString(dtype)) + toString(Shape{size.queries, size.features}) +
                   (mask == Mask::Causal   ? ".causal"
                    : mask == Mask::Window ? ".window"
                    : mask == Mask::Add    ? ".add"
                                           : ""),
               s);
      }
  const Spelling small{.dtype = DType::BF16, .batch = {2}, .queries = 20, .keys = 33, .mask = Mask::Causal};
  auto with = [&](auto change) {
    Spelling s = small;
    change(s);
    return s;
  };
  for (const std::string_view which : {"q", "v", "s", "ks", "vs"})
    addOne("of-" + std::string(which), small, which);
  addOne("of-mask", with([](Spelling &s) { s.mask = Mask::Add; }), "qms");
  addOne("three", with([](Spelling &s) { s.sinks = 3; }));
  addOne("three.reciprocal", with([](Spelling &s) { s.sinks = 3, s.division = Division::Reciprocal; }));
  addOne("reciprocal", with([](Spelling &s) { s.division = Division::Reciprocal; }));
  addOne("quotient", with([](Spelling &s) { s.scale = Scale::Quotient; }));
  addOne("scale-q", with([](Spelling &s) { s.scale = Scale::Queries; }));
  addOne("share", with([](Spelling &s) { s.share = 0.25; }));
  addOne("one-query", with([](Spelling &s) { s.queries = 1; }));
  addOne("one-key", with([](Spelling &s) { s.keys = 1; }));
  addOne("many-keys", with([](Spelling &s) { s.keys = 2600, s.features = s.values = 64; }));
  addOne("narrow-cap", with([](Spelling &s) { s.mask = Mask::NarrowCap, s.narrowWeights = true; }));
  cases.push_back({"attention.gradient.sinks.through-the-largest", [](Builder &b) {
                     return attentionWithGradients(b, {.queries = 20, .keys = 33, .sinks = 1}, "qkvs");
                   }});
}

/// Sums that f16 cannot hold before they are divided.
static NodeId averageOfMany(Builder &b) {
  const NodeId q = b.mul(b.x(DType::F16, {8, 16}), b.splat(DType::F16, {8, 16}, 0));
  const NodeId k = b.x(DType::F16, {1024, 16});
  const NodeId v = b.add(b.x(DType::F16, {1024, 16}), b.splat(DType::F16, {1024, 16}, 100));
  const NodeId scores = b.matmul(q, b.permute(k, {1, 0}), DType::F16);
  const NodeId largest = b.back(b.reduce(ReduceKind::Max, scores, {1}), 1, 1024);
  const NodeId e = b.unary(UnaryKind::Exp, b.sub(scores, largest));
  const NodeId w = b.div(e, b.back(b.reduce(ReduceKind::Add, e, {1}), 1, 1024));
  return b.matmul(w, v, DType::F16);
}

/// A row without any weight, its sums themselves results: the distance of two infinities is NaN. Of many keys, which
/// fall into parts, one row sees the first part alone.
static std::vector<NodeId> sumsOfNothing(Builder &b, int64_t keys) {
  std::vector<double> mask(static_cast<size_t>(8 * keys), 0);
  std::fill_n(mask.begin() + 2 * keys, keys, -inf);
  std::fill_n(mask.begin() + 5 * keys, keys * 3 / 4, -inf);
  std::fill_n(mask.begin() + 6 * keys + 50, keys - 50, -inf);
  const NodeId q = b.x(DType::F32, {8, 16}), k = b.x(DType::F32, {keys, 16});
  const NodeId v = b.x(DType::F32, {keys, 16});
  const NodeId scores =
      b.add(b.matmul(q, b.permute(k, {1, 0}), DType::F32), b.input(makeTensor(DType::F32, {8, keys}, mask)));
  const NodeId max = b.reduce(ReduceKind::Max, scores, {1});
  const NodeId e = b.unary(UnaryKind::Exp, b.sub(scores, b.back(max, 1, keys)));
  const NodeId sum = b.reduce(ReduceKind::Add, e, {1});
  return {b.matmul(e, v, DType::F32), b.add(b.unary(UnaryKind::Log, sum), max)};
}

/// Rows that are masked from end to end or up to late keys, and what is no number.
static void addHurting(std::vector<Case> &cases) {
  cases.push_back({"attention.f16.many-keys", [](Builder &b) { return std::vector<NodeId>{averageOfMany(b)}; }});
  for (const int64_t keys : {256, 8200})
    cases.push_back({keys == 256 ? "attention.f32.masked-sums" : "attention.f32.masked-sums.parts",
                     [=](Builder &b) { return sumsOfNothing(b, keys); }});
  auto given = [](Builder &b, const Shape &shape, double value,
                  const std::function<double(int64_t, int64_t, double)> &change) {
    std::vector<double> all(static_cast<size_t>(shape[0] * shape[1]));
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t j = 0; j < shape[1]; ++j)
        all[static_cast<size_t>(i * shape[1] + j)] =
            change(i, j, value + 0.125 * static_cast<double>((i * 7 + j * 3) % 11));
    return b.input(makeTensor(DType::F32, shape, all));
  };
  auto same = [](int64_t, int64_t, double x) { return x; };
  auto build = [=](Builder &b, Division division, double v, const std::function<double(int64_t, int64_t, double)> &q,
                   const std::function<double(int64_t, int64_t, double)> &changeV,
                   const std::function<double(int64_t, int64_t, double)> &mask) {
    const Spelling s{.batch = {}, .mask = Mask::Add, .division = division};
    return std::vector<NodeId>{attend(b, s, given(b, {20, 16}, -0.5, q), given(b, {150, 16}, 0, same),
                                      given(b, {150, 8}, v, changeV), given(b, {20, 150}, 0, mask))};
  };
  for (const Division division : {Division::Before, Division::After}) {
    const std::string suffix = division == Division::Before ? "" : ".after";
    cases.push_back({"attention.masked-rows" + suffix, [=](Builder &b) {
                       return build(b, division, 1, same, same, [](int64_t i, int64_t j, double x) {
                         return i % 3 == 0 || (i % 3 == 1 && j < 100) ? -inf : x;
                       });
                     }});
    cases.push_back(
        {"attention.specials" + suffix, [=](Builder &b) {
           return build(
               b, division, 1,
               [](int64_t i, int64_t j, double x) {
                 return i == 3 && j == 2 ? std::numeric_limits<double>::quiet_NaN() : i == 5 && j == 7 ? inf : x;
               },
               [](int64_t i, int64_t j, double x) {
                 return i == 149 && j == 3 ? inf : i == 2 && j == 5 ? std::numeric_limits<double>::quiet_NaN() : x;
               },
               [](int64_t i, int64_t j, double x) { return i == 7 && j == 120 ? inf
                                                           : i == 8 && j > 60 ? -inf
                                                                              : x; });
         }});
  }
  cases.push_back({"attention.huge-values", [=](Builder &b) {
                     return build(b, Division::Before, 2e38, same, [](int64_t, int64_t, double) { return 3e38; }, same);
                   }});
}

void addAttentionCases(std::vector<Case> &cases) {
  addSpellings(cases);
  addSizes(cases);
  addTensorCores(cases);
  addDecode(cases);
  addGradients(cases);
  addSinkGradients(cases);
  addHurting(cases);
}

} // namespace zyx::conformance
