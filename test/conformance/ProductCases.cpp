//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Products whose factors are computed, windows, flipped, picked or converted, of odd sizes and of several slices along
// the contraction: what a card multiplies out of shared memory (docs/codegen-gpu.md).
//===----------------------------------------------------------------------===//
#include "Convolution.h"

#include "zyx/Graph/Gradient.h"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <tuple>

namespace zyx::conformance {

using Ints = std::vector<int64_t>;
using Inputs = std::span<const NodeId>;
using Nodes = std::vector<NodeId>;

namespace {

struct Layer {
  const char *name;
  int64_t batch, channels, outputs, side, size, stride, dilation, groups;
};

} // namespace

static NodeId roundTo(Builder &b, NodeId x, DType dtype) { return b.type(x).dtype == dtype ? x : b.cast(x, dtype); }

/// A convolution, and its gradients with respect to images and filters: windows of both, flipped filters, and sums over
/// all places of all images.
static void addGradients(std::vector<Case> &cases, const Layer &layer, bool channelsLast, DType dtype) {
  cases.push_back({std::string("product.convolution.") + layer.name + (channelsLast ? ".last." : ".first.") +
                       std::string(toString(dtype)),
                   [=](Builder &b) {
                     const int64_t c = layer.channels, each = c / layer.groups, s = layer.side, w = layer.size;
                     const NodeId x =
                         b.x(dtype, channelsLast ? Shape{layer.batch, s, s, c} : Shape{layer.batch, c, s, s});
                     const NodeId f =
                         b.x(dtype, channelsLast ? Shape{w, w, each, layer.outputs} : Shape{layer.outputs, each, w, w});
                     const int64_t pad = layer.dilation * (w - 1) / 2;
                     const NodeId y = convolve(b, x, f,
                                               {channelsLast,
                                                {layer.stride, layer.stride},
                                                {layer.dilation, layer.dilation},
                                                {pad, pad},
                                                {pad, pad},
                                                layer.groups},
                                               accumulatorType(dtype));
                     const NodeId seed = b.x(b.type(y).dtype, b.type(y).shape);
                     const auto gradients = graph::gradient(b.graph(), {{y}}, {{seed}}, {{x, f}});
                     if (!gradients.isOk() || !(*gradients)[0] || !(*gradients)[1]) {
                       std::fprintf(stderr, "a convolution without gradients\n");
                       std::abort();
                     }
                     return Nodes{y, *(*gradients)[0], *(*gradients)[1]};
                   }});
}

/// Weights of 8 bits, converted and scaled by channel.
static void addByChannel(std::vector<Case> &cases, int64_t rows, DType dtype) {
  cases.push_back({"product.by-channel." + std::to_string(rows) + "." + std::string(toString(dtype)), [=](Builder &b) {
                     const Shape shape{130, 520};
                     const NodeId w = b.cast(b.x(DType::I8, shape), DType::F32);
                     const NodeId scaled = b.mul(w, b.along(b.splat(DType::F32, {130}, 0.01), shape, 0));
                     const NodeId x = b.x(dtype, {rows, 520});
                     return Nodes{
                         roundTo(b, b.matmul(roundTo(b, x, DType::F32), b.permute(scaled, {1, 0}), DType::F32), dtype)};
                   }});
}

/// Weights of 8 bits with a zero point and a scale for each channel.
static void addWithZeros(std::vector<Case> &cases, int64_t rows, DType dtype) {
  cases.push_back({"product.with-zeros." + std::to_string(rows) + "." + std::string(toString(dtype)), [=](Builder &b) {
                     const Shape shape{260, 1040};
                     const NodeId zero = b.cast(b.x(DType::U8, {260}), DType::F32);
                     const NodeId w = b.sub(b.cast(b.x(DType::U8, shape), DType::F32), b.along(zero, shape, 0));
                     const NodeId scaled = b.mul(w, b.along(b.x(DType::F32, {260}), shape, 0));
                     const NodeId x = roundTo(b, b.x(dtype, {rows, 1040}), DType::F32);
                     return Nodes{roundTo(b, b.matmul(x, b.permute(scaled, {1, 0}), DType::F32), dtype)};
                   }});
}

/// Weights of 8 bits with a scale for each group of neighbours along the sum.
static void addByGroup(std::vector<Case> &cases, int64_t rows, int64_t group, DType dtype) {
  cases.push_back(
      {"product.by-group." + std::to_string(rows) + "x" + std::to_string(group) + "." + std::string(toString(dtype)),
       [=](Builder &b) {
         const int64_t columns = 130, groups = 13, depth = groups * group;
         const Shape shape{columns, groups, group};
         const NodeId scale = b.expand(b.x(DType::F32, {columns, groups, 1}), shape);
         const NodeId w = b.mul(b.cast(b.x(DType::I8, shape), DType::F32), scale);
         const NodeId x = roundTo(b, b.x(dtype, {rows, depth}), DType::F32);
         const NodeId right = b.permute(b.reshape(w, {columns, depth}), {1, 0});
         return Nodes{roundTo(b, b.matmul(x, right, DType::F32), dtype)};
       }});
}

/// Both factors are computed, one of them of two inputs.
static void addComputed(std::vector<Case> &cases, DType dtype, int64_t m, int64_t n, int64_t k) {
  cases.push_back({"product.computed." + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + "." +
                       std::string(toString(dtype)),
                   [=](Builder &b) {
                     const NodeId x = b.x(dtype, {m, k}), y = b.x(dtype, {m, k}), w = b.x(dtype, {n, k});
                     const NodeId left = b.mul(x, b.binary(BinaryKind::Max, y, b.like(y, 0)));
                     const NodeId right = b.permute(b.unary(UnaryKind::Tanh, w), {1, 0});
                     const NodeId sums = b.matmul(left, right, accumulatorType(dtype));
                     return Nodes{roundTo(b, b.add(sums, b.along(b.x(accumulatorType(dtype), {n}), {m, n}, 1)), dtype)};
                   }});
}

/// A layer of few rows, whose weights lie along the contraction, with a bias and an activation behind it.
static void addFewRows(std::vector<Case> &cases, DType dtype, int64_t rows, int64_t columns, int64_t depth) {
  cases.push_back({"product.few-rows." + std::to_string(rows) + "x" + std::to_string(columns) + "x" +
                       std::to_string(depth) + "." + std::string(toString(dtype)),
                   [=](Builder &b) {
                     const NodeId x = b.x(dtype, {rows, depth}), w = b.x(dtype, {columns, depth});
                     const DType wide = accumulatorType(dtype);
                     const NodeId sums = b.matmul(x, b.permute(w, {1, 0}), wide);
                     const NodeId biased = b.add(sums, b.along(b.x(wide, {columns}), {rows, columns}, 1));
                     return Nodes{roundTo(b, b.unary(UnaryKind::Tanh, biased), dtype)};
                   }});
}

/// A layer whose columns are groups of `run`, each scaled by a number for each row, as experts of which all are
/// computed.
static void addScaledGroups(std::vector<Case> &cases, DType dtype, int64_t rows, int64_t groups, int64_t run,
                            int64_t depth) {
  cases.push_back({"product.scaled-groups." + std::to_string(rows) + "x" + std::to_string(groups) + "x" +
                       std::to_string(run) + "." + std::string(toString(dtype)),
                   [=](Builder &b) {
                     const NodeId x = b.x(dtype, {rows, depth}), w = b.x(dtype, {groups * run, depth});
                     const NodeId sums = b.matmul(x, b.permute(w, {1, 0}), accumulatorType(dtype));
                     const NodeId scales =
                         b.expand(b.reshape(b.x(dtype, {rows, groups}), {rows, groups, 1}), {rows, groups, run});
                     return Nodes{b.mul(roundTo(b, sums, dtype), b.reshape(scales, {rows, groups * run}))};
                   }});
}

/// Batches of odd sizes: rows begin anywhere, and both factors are read along either axis.
static void addBatches(std::vector<Case> &cases, DType dtype) {
  for (const bool isTransposed : {false, true})
    cases.push_back(
        {std::string("product.batches.") + (isTransposed ? "transposed." : "plain.") + std::string(toString(dtype)),
         [=](Builder &b) {
           const NodeId x = b.x(dtype, isTransposed ? Shape{3, 131, 67} : Shape{3, 67, 131});
           const NodeId y = b.x(dtype, isTransposed ? Shape{3, 24, 131} : Shape{3, 131, 24});
           const NodeId left = isTransposed ? b.permute(x, {0, 2, 1}) : x,
                        right = isTransposed ? b.permute(y, {0, 2, 1}) : y;
           return Nodes{roundTo(b, b.matmul(left, right, accumulatorType(dtype)), dtype)};
         }});
}

/// So many products of a batch that tiles fit their rows or columns: threads have 10 or 13 of them.
static void addFitting(std::vector<Case> &cases, int64_t batches, int64_t rows, int64_t columns, int64_t depth) {
  for (const bool isTransposed : {false, true})
    cases.push_back({std::string("product.fitting.") + (isTransposed ? "transposed" : "plain") +
                         toString(Shape{rows, columns, depth}),
                     [=](Builder &b) {
                       const NodeId x = b.x(DType::F32, {batches, rows, depth});
                       const NodeId y = b.x(DType::F32, isTransposed ? Shape{batches, columns, depth}
                                                                     : Shape{batches, depth, columns});
                       return Nodes{b.matmul(x, isTransposed ? b.permute(y, {0, 2, 1}) : y, DType::F32)};
                     }});
}

/// Matrices that are picked by an index, which may be outside.
static void addPicked(std::vector<Case> &cases, DType dtype) {
  cases.push_back({"product.picked." + std::string(toString(dtype)), [=](Builder &b) {
                     const NodeId experts = b.x(dtype, {5, 70, 90});
                     const NodeId chosen = b.input(makeTensor(DType::I64, {4}, {3, 0, 4, 3}));
                     const NodeId w = b.gather(experts, chosen, 0);
                     const NodeId x = b.x(dtype, {4, 6, 70});
                     return Nodes{b.matmul(x, w, accumulatorType(dtype))};
                   }});
  cases.push_back({"product.of-rows." + std::string(toString(dtype)), [=](Builder &b) {
                     const NodeId table = b.x(dtype, {40, 129});
                     const NodeId rows = b.input(makeTensor(DType::I64, {7}, {39, 0, 12, 5, 5, 38, 1}));
                     return Nodes{b.matmul(b.gather(table, rows, 0), b.x(dtype, {129, 67}), accumulatorType(dtype))};
                   }});
}

/// Rows in between that are no multiple of 16 bytes: a product makes them, their sums divide them, and products of both
/// orders read what is left. Cards put them further apart.
static void addOddRows(std::vector<Case> &cases, DType dtype, int64_t columns) {
  cases.push_back({"product.odd-rows." + std::string(toString(dtype)) + toString(Shape{columns}), [=](Builder &b) {
                     constexpr int64_t rows = 330, width = 64;
                     const DType wide = accumulatorType(dtype);
                     const NodeId x = b.x(dtype, {rows, width}), w = b.x(dtype, {width, columns});
                     const NodeId y = roundTo(b, roundTo(b, b.matmul(x, w, wide), dtype), wide);
                     const NodeId sum = b.reduce(ReduceKind::Add, b.unary(UnaryKind::Abs, y), {1});
                     const NodeId p = roundTo(b, b.div(y, b.back(b.add(sum, b.like(sum, 1)), 1, columns)), dtype);
                     const NodeId wideP = roundTo(b, p, wide);
                     return Nodes{roundTo(b, b.matmul(wideP, roundTo(b, b.permute(w, {1, 0}), wide), wide), dtype),
                                  b.matmul(b.permute(roundTo(b, x, wide), {1, 0}), wideP, wide)};
                   }});
}

/// The gradients of a gated unit, y = silu(g) u: two results behind one product, which read g and u, divide, and share
/// what they compute. Rows of g are zero, large, and of all sizes; one of quotients has a zero of each sign.
static void addGated(std::vector<Case> &cases, DType dtype, int64_t m, int64_t n, int64_t k) {
  cases.push_back(
      {"product.gated." + std::string(toString(dtype)) + toString(Shape{m, n, k}), [=](Builder &b) {
         const DType wide = accumulatorType(dtype);
         std::vector<double> values;
         for (int64_t row = 0; row < m; ++row)
           for (int64_t column = 0; column < n; ++column) {
             const double size = row % 5 == 0 ? 0 : row % 5 == 1 ? 60 : row % 5 == 2 ? 0x1p-14 : row == 8 ? 95 : 2;
             values.push_back(size * (static_cast<double>((row * 7 + column * 3) % 17) / 8 - 1));
           }
         const NodeId g = roundTo(b, b.input(makeTensor(dtype, {m, n}, values)), wide);
         const NodeId u = b.x(dtype, {m, n});
         const NodeId y = roundTo(b, b.matmul(b.x(dtype, {m, k}), b.x(dtype, {k, n}), wide), dtype);
         const NodeId e = b.unary(UnaryKind::Exp, b.unary(UnaryKind::Neg, b.unary(UnaryKind::Abs, g)));
         const NodeId one = b.like(g, 1), all = b.add(e, one);
         const NodeId isBelow = b.binary(BinaryKind::Lt, g, b.like(g, 0));
         const NodeId gate = b.div(b.select(isBelow, e, one), all);
         const NodeId du = b.mul(y, roundTo(b, b.mul(g, gate), dtype));
         const NodeId dh = roundTo(b, b.mul(y, u), wide);
         const NodeId rest = b.div(b.mul(dh, g), all);
         const NodeId dg = b.add(b.mul(dh, gate), b.mul(rest, b.mul(gate, e)));
         return Nodes{roundTo(b, dg, dtype), du};
       }});
}

/// So much behind a product that its code would not stay in the instruction cache: quotients, one of the other, and one
/// or two results. One row of tiles, of so many columns that those of 128 or 192 are as many as a card has room for: an
/// even or an odd number of panels each.
static void addLong(std::vector<Case> &cases, DType dtype, int64_t m, int64_t n, bool hasSecond) {
  const std::string name = hasSecond ? "product.long-two." : "product.long.";
  Case made{name + std::string(toString(dtype)) + toString(Shape{m, n}), [=](Builder &b) {
              const DType wide = accumulatorType(dtype);
              const NodeId g = roundTo(b, b.x(dtype, {m, n}), wide), u = b.x(dtype, {m, n});
              const NodeId square = b.mul(g, g);
              NodeId v = roundTo(b, roundTo(b, b.matmul(b.x(dtype, {m, 64}), b.x(dtype, {64, n}), wide), dtype), wide);
              for (int i = 1; i <= 8; ++i)
                v = b.div(b.add(v, g), b.add(square, b.like(g, i)));
              Nodes results{roundTo(b, v, dtype)};
              if (hasSecond)
                results.push_back(b.mul(results.front(), u));
              return results;
            }};
  made.isLarge = true;
  cases.push_back(std::move(made));
}

/// What is summed up lies behind the dimensions of the result, as in gradients of products with transposed weights. A
/// card sums up parts of it, and adds a bias behind all of them.
static void addBehind(std::vector<Case> &cases, DType dtype) {
  constexpr int64_t m = 20, n = 37, k = 20000;
  cases.push_back({"product.behind." + std::string(toString(dtype)), [=](Builder &b) {
                     const DType wide = accumulatorType(dtype);
                     const Shape all = {m, n, k};
                     auto spread = [&](NodeId x, Shape own) { return b.expand(b.reshape(b.cast(x, wide), own), all); };
                     const NodeId a = spread(b.x(dtype, {m, k}), {m, 1, k}), w = spread(b.x(dtype, {n, k}), {1, n, k});
                     const NodeId y = b.reduce(ReduceKind::Add, b.mul(a, w), {2});
                     return Nodes{b.add(y, b.x(wide, {m, n}))};
                   }});
}

/// Each trip multiplies what it carries by weights, and adds a row that its index picks.
static void addLoop(std::vector<Case> &cases, DType dtype) {
  cases.push_back({"product.loop." + std::string(toString(dtype)), [=](Builder &b) {
                     constexpr int64_t rows = 20, width = 100;
                     const NodeId w = b.x(dtype, {width, width}), x = b.x(dtype, {5, rows, width});
                     return b.loop(5, {b.splat(dtype, {rows, width}, 0)}, {w, x}, [=](Builder &s, Inputs in) {
                       const NodeId y =
                           roundTo(s, s.matmul(in[1], s.permute(in[2], {1, 0}), accumulatorType(dtype)), dtype);
                       const NodeId row = s.reshape(s.gather(in[3], s.reshape(in[0], {1}), 0), {rows, width});
                       return Nodes{s.unary(UnaryKind::Tanh, s.add(s.mul(y, s.like(y, 0.05)), row))};
                     });
                   }});
}

/// What lies between two products of which the second reads nothing but the first: a decay of places that are not
/// behind the row, or in a window in front of it; or a rectifier.
enum class Between : uint8_t { Decay, Window, Rectified };

static void addPair(std::vector<Case> &cases, DType dtype, Between between, int64_t rows, int64_t features,
                    int64_t columns) {
  const std::string_view kind = between == Between::Decay    ? "decay"
                                : between == Between::Window ? "window"
                                                             : "rectified";
  cases.push_back({"product.pair." + std::string(kind) + "." + std::string(toString(dtype)) +
                       toString(Shape{rows, features, columns}),
                   [=](Builder &b) {
                     const int64_t batch = 2, others = rows + 9;
                     const NodeId q = b.x(dtype, {batch, rows, features}), k = b.x(dtype, {batch, others, features}),
                                  v = b.x(dtype, {batch, others, columns});
                     NodeId scores = b.matmul(q, b.permute(k, {0, 2, 1}), DType::F32);
                     scores = b.mul(scores, b.like(scores, 0.125));
                     const Shape all = {batch, rows, others};
                     const NodeId zero = b.splat(DType::F32, all, 0);
                     if (between == Between::Rectified) {
                       scores = b.binary(BinaryKind::Max, scores, zero);
                     } else {
                       const NodeId row = b.iota({DType::I32, all}, 1), column = b.iota({DType::I32, all}, 2);
                       const NodeId distance = b.sub(row, column);
                       NodeId factor = b.unary(UnaryKind::Exp,
                                               b.mul(b.cast(distance, DType::F32), b.splat(DType::F32, all, -0.02)));
                       factor = b.select(b.binary(BinaryKind::Ge, distance, b.like(distance, 0)), factor, zero);
                       if (between == Between::Window)
                         factor = b.select(b.binary(BinaryKind::Lt, distance, b.like(distance, 40)), factor, zero);
                       scores = b.mul(scores, factor);
                     }
                     return Nodes{roundTo(b, b.matmul(b.cast(scores, dtype), v, DType::F32), dtype)};
                   }});
}

/// The gradients of such a pair. What comes to the first product has more digits than queries and keys, which it is
/// multiplied with; with `hasSpecials` some of these are infinite, or no number.
static void addPairGradients(std::vector<Case> &cases, DType dtype, bool hasSpecials, int64_t rows, int64_t features,
                             int64_t columns) {
  cases.push_back({"product.pair.gradient." + std::string(hasSpecials ? "specials." : "") +
                       std::string(toString(dtype)) + toString(Shape{rows, features, columns}),
                   [=](Builder &b) {
                     // As many as keep the multiprocessors of a card busy.
                     const int64_t batch = 9, others = rows + 9;
                     auto input = [&](int64_t count, int64_t width, double special) {
                       const Shape shape = {batch, count, width};
                       if (!hasSpecials)
                         return b.x(dtype, shape);
                       std::vector<double> values(batch * count * width);
                       for (size_t i = 0; i < values.size(); ++i)
                         values[i] = static_cast<double>(i * 7919 % 61) / 32 - 1;
                       // In the first and the last matrix.
                       for (const size_t place : {size_t(0), values.size() / 2 + 3, values.size() - 5})
                         values[place] = special;
                       return b.input(makeTensor(dtype, shape, values));
                     };
                     const double infinity = std::numeric_limits<double>::infinity();
                     const NodeId q = input(rows, features, -infinity), k = input(others, features, infinity),
                                  v = input(others, columns, 0),
                                  dy = input(rows, columns, std::numeric_limits<double>::quiet_NaN());
                     const NodeId slopes = b.one(DType::F32, {batch});
                     const Shape all = {batch, rows, others};
                     const NodeId row = b.iota({DType::I32, all}, 1), column = b.iota({DType::I32, all}, 2);
                     const NodeId distance = b.sub(row, column);
                     NodeId factor = b.mul(b.cast(distance, DType::F32), b.along(slopes, all, 0));
                     factor = b.unary(UnaryKind::Exp, b.mul(factor, b.splat(DType::F32, all, -0.02)));
                     const NodeId zero = b.splat(DType::F32, all, 0);
                     factor = b.select(b.binary(BinaryKind::Ge, distance, b.like(distance, 0)), factor, zero);
                     auto turned = [&](NodeId x) { return b.permute(x, {0, 2, 1}); };
                     auto product = [&](NodeId x, NodeId y) { return roundTo(b, b.matmul(x, y, DType::F32), dtype); };
                     auto multiply = [&](NodeId x, NodeId y) { return b.mul(b.mul(x, b.like(x, 0.125)), y); };
                     const NodeId p = b.cast(multiply(b.matmul(q, turned(k), DType::F32), factor), dtype);
                     const NodeId ds = multiply(b.cast(product(dy, turned(v)), DType::F32), factor);
                     return Nodes{product(p, v), product(ds, b.cast(k, DType::F32)),
                                  turned(product(turned(b.cast(q, DType::F32)), ds)), product(turned(p), dy)};
                   }});
}

void addProductCases(std::vector<Case> &cases) {
  using enum DType;
  const Layer layers[] = {
      {"grouped", 3, 24, 32, 11, 3, 1, 1, 4}, {"strided", 2, 10, 20, 15, 3, 2, 1, 1},
      {"dilated", 2, 9, 17, 13, 3, 1, 3, 1},  {"patches", 2, 5, 33, 16, 4, 4, 1, 1},
      {"wide", 1, 33, 40, 9, 3, 1, 1, 1},
  };
  for (const Layer &layer : layers)
    for (const bool channelsLast : {false, true})
      for (const DType dtype : {F32, F16, BF16})
        addGradients(cases, layer, channelsLast, dtype);
  for (const int64_t rows : {2, 5, 16})
    for (const DType dtype : {F32, BF16})
      addByChannel(cases, rows, dtype), addWithZeros(cases, rows, dtype);
  for (const int64_t rows : {1, 5, 16, 21})
    for (const int64_t group : {32, 40})
      addByGroup(cases, rows, group, rows == 5 ? BF16 : F32);
  // So many rows that factors are packed.
  for (const int64_t group : {8, 32, 80})
    addByGroup(cases, 50, group, F32);
  addByGroup(cases, 100, 64, BF16);
  for (const DType dtype : {F32, F64, F16, BF16}) {
    addComputed(cases, dtype, 37, 75, 650);
    // Few sums of a long contraction.
    addComputed(cases, dtype, 7, 9, 9001);
    addBatches(cases, dtype);
    addPicked(cases, dtype);
    addLoop(cases, dtype);
    addBehind(cases, dtype);
  }
  // With panels that are not full, contractions in several pieces, and a prime one, which has no equal pieces.
  for (const auto [rows, columns, depth] :
       {std::tuple{7, 50, 70}, {8, 50, 70}, {20, 130, 650}, {36, 97, 1040}, {33, 64, 1021}})
    addFewRows(cases, F32, rows, columns, depth);
  addFewRows(cases, DType::F64, 20, 43, 650);
  addFewRows(cases, BF16, 33, 70, 1040);
  for (const DType dtype : {F16, BF16}) {
    addComputed(cases, dtype, 200, 131, 72);
    addComputed(cases, dtype, 130, 264, 96);
    addComputed(cases, dtype, 5, 19, 40);
    addGated(cases, dtype, 200, 264, 136);
    addGated(cases, dtype, 130, 131, 64);
    // Whole tiles and the last one in part, runs of several pieces and those that end within a piece.
    addScaledGroups(cases, dtype, 200, 2, 128, 72);
    addScaledGroups(cases, dtype, 130, 5, 64, 136);
    addScaledGroups(cases, dtype, 70, 3, 192, 64);
    addScaledGroups(cases, dtype, 70, 4, 40, 64);
  }
  for (const DType dtype : {F16, BF16, F32})
    for (const Between between : {Between::Decay, Between::Window, Between::Rectified}) {
      addPair(cases, dtype, between, 40, 24, 16);
      addPair(cases, dtype, between, 391, 64, 72);
    }
  addPair(cases, BF16, Between::Decay, 300, 128, 128);
  addPair(cases, F16, Between::Window, 70, 256, 256);
  for (const DType dtype : {F16, BF16}) {
    addPairGradients(cases, dtype, /*hasSpecials=*/false, 256, 24, 16);
    addPairGradients(cases, dtype, /*hasSpecials=*/true, 256, 16, 16);
  }
  addPairGradients(cases, BF16, /*hasSpecials=*/false, 256, 72, 136);
  addGated(cases, F32, 70, 136, 40);
  addLong(cases, BF16, 64, 16128, /*hasSecond=*/true);
  addLong(cases, BF16, 60, 24000, /*hasSecond=*/false);
  addLong(cases, F16, 64, 16003, /*hasSecond=*/true);
  // 1032: rows that begin on multiples of 16 bytes, but not on lines of memory.
  for (const int64_t columns : {197, 1031, 1032})
    for (const DType dtype : {F16, BF16, F32})
      addOddRows(cases, dtype, columns);
  addComputed(cases, F32, 1, 130, 257);
  addComputed(cases, F32, 130, 1, 257);
  addComputed(cases, F32, 200, 131, 40);
  // So many tiles that no two groups of threads share one, and rows and columns that end inside of the last ones.
  addComputed(cases, F32, 1001, 197, 96);
  addComputed(cases, F32, 1970, 200, 77);
  addFitting(cases, 270, 130, 130, 24);
  addFitting(cases, 270, 130, 40, 33);
  addFitting(cases, 270, 40, 130, 20);
  addFitting(cases, 270, 100, 100, 24);
  addFitting(cases, 140, 197, 40, 21);
}

} // namespace zyx::conformance
