//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Builder.h"
#include "Convolution.h"

#include "zyx/Graph/Gradient.h"

#include <cstdio>
#include <cstdlib>
#include <limits>

namespace zyx::conformance {

static NodeId softmax(Builder &b, NodeId x) {
  const Shape shape = b.type(x).shape;
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  const NodeId largest = b.back(b.reduce(ReduceKind::Max, x, {last}), last, shape.back());
  const NodeId e = b.unary(UnaryKind::Exp, b.sub(x, largest));
  return b.div(e, b.back(b.reduce(ReduceKind::Add, e, {last}), last, shape.back()));
}

static NodeId mean(Builder &b, NodeId x) {
  const Shape shape = b.type(x).shape;
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  const NodeId sum = b.reduce(ReduceKind::Add, x, {last});
  return b.back(b.mul(sum, b.like(sum, 1.0 / static_cast<double>(shape.back()))), last, shape.back());
}

static NodeId layerNorm(Builder &b, NodeId x) {
  const Shape shape = b.type(x).shape;
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  const NodeId centred = b.sub(x, mean(b, x));
  const NodeId variance = mean(b, b.mul(centred, centred));
  const NodeId scale = b.unary(UnaryKind::Rsqrt, b.add(variance, b.like(variance, 1e-5)));
  const NodeId gamma = b.along(b.one(b.type(x).dtype, {shape.back()}), shape, last);
  const NodeId beta = b.along(b.x(b.type(x).dtype, {shape.back()}), shape, last);
  return b.add(b.mul(b.mul(centred, scale), gamma), beta);
}

static NodeId rmsNorm(Builder &b, NodeId x) {
  const Shape shape = b.type(x).shape;
  const NodeId square = mean(b, b.mul(x, x));
  const NodeId scale = b.unary(UnaryKind::Rsqrt, b.add(square, b.like(square, 1e-5)));
  const NodeId gamma = b.along(b.one(b.type(x).dtype, {shape.back()}), shape, static_cast<int64_t>(shape.size()) - 1);
  return b.mul(b.mul(x, scale), gamma);
}

static NodeId logSumExp(Builder &b, NodeId x) {
  const Shape shape = b.type(x).shape;
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  const NodeId largest = b.reduce(ReduceKind::Max, x, {last});
  const NodeId e = b.unary(UnaryKind::Exp, b.sub(x, b.back(largest, last, shape.back())));
  return b.add(b.unary(UnaryKind::Log, b.reduce(ReduceKind::Add, e, {last})), largest);
}

static void addRows(std::vector<Case> &cases, const char *name, NodeId (*build)(Builder &, NodeId)) {
  for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16})
    for (const Shape &shape :
         {Shape{7, 33}, Shape{17, 100}, Shape{3, 5, 17}, Shape{1}, Shape{100}, Shape{5, 1}, Shape{2, 1000}})
      cases.push_back({std::string(name) + "." + std::string(toString(dtype)) + toString(shape),
                       [=](Builder &b) { return std::vector<NodeId>{build(b, b.x(dtype, shape))}; }});
  // The same over the columns of a matrix that lies the other way round.
  cases.push_back({std::string(name) + ".transposed", [=](Builder &b) {
                     const NodeId x = b.permute(b.x(DType::F32, {33, 17}), {1, 0});
                     const NodeId y = build(b, x);
                     if (b.type(y).shape.size() < 2)
                       return std::vector<NodeId>{y};
                     return std::vector<NodeId>{b.permute(y, {1, 0})};
                   }});
}

/// Rows of NaN, infinities, and huge numbers.
static void addHurtingSoftmax(std::vector<Case> &cases) {
  cases.push_back({"softmax.specials", [](Builder &b) {
                     const double inf = std::numeric_limits<double>::infinity();
                     const double nan = std::numeric_limits<double>::quiet_NaN();
                     const HostTensor rows = makeTensor(
                         DType::F32, {6, 3},
                         {1, nan, 2, inf, 1, 0, -inf, -inf, -inf, 0, -inf, 1, 3e38, 3e38, -3e38, 1e-40, 0, -0.0});
                     const NodeId x = b.input(rows);
                     return std::vector<NodeId>{softmax(b, x), logSumExp(b, x)};
                   }});
}

/// -log(softmax(x))[target] of each row, in f32, with the target picked by a sum of what is zero elsewhere.
static NodeId crossEntropy(Builder &b, NodeId logits, NodeId target) {
  const NodeId x = b.cast(logits, DType::F32);
  const Shape shape = b.type(x).shape;
  const NodeId d = b.sub(x, b.back(b.reduce(ReduceKind::Max, x, {1}), 1, shape[1]));
  const NodeId sums = b.reduce(ReduceKind::Add, b.unary(UnaryKind::Exp, d), {1});
  const NodeId logs = b.sub(d, b.back(b.unary(UnaryKind::Log, sums), 1, shape[1]));
  const NodeId place = b.iota({b.type(target).dtype, shape}, 1);
  const NodeId chosen = b.binary(BinaryKind::Eq, place, b.back(target, 1, shape[1]));
  return b.unary(UnaryKind::Neg, b.reduce(ReduceKind::Add, b.select(chosen, logs, b.like(logs, 0)), {1}));
}

/// Targets of rows, some of which do not exist: in front of the classes and behind them.
static NodeId someTargets(Builder &b, int64_t rows, int64_t classes) {
  std::vector<double> places;
  for (int64_t i = 0; i < rows; ++i)
    places.push_back(static_cast<double>(i == 1 ? -1 : i == 2 ? classes : i * 7919 % classes));
  return b.input(makeTensor(DType::I64, {rows}, places));
}

/// Rows of which only sums and maxima leave: short ones, such as threads keep in registers, and longer ones.
static void addLosses(std::vector<Case> &cases) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16})
    for (const Shape &shape :
         {Shape{40, 70}, Shape{5, 300}, Shape{3, 2048}, Shape{3, 5003}, Shape{2, 20000}, Shape{300, 1024}})
      cases.push_back({"cross-entropy." + std::string(toString(dtype)) + toString(shape), [=](Builder &b) {
                         const NodeId target = someTargets(b, shape[0], shape[1]);
                         return std::vector<NodeId>{crossEntropy(b, b.x(dtype, shape), target)};
                       }});
  // Rows and columns of one matrix, as losses of pairs have them, and what the targets add up of numbers of rows.
  for (DType dtype : {DType::F32, DType::BF16})
    for (const Shape &shape : {Shape{70, 33}, Shape{520, 512}})
      cases.push_back({"cross-entropy.both-ways." + std::string(toString(dtype)) + toString(shape), [=](Builder &b) {
                         const NodeId rows = someTargets(b, shape[0], shape[1]);
                         const NodeId columns = someTargets(b, shape[1], shape[0]);
                         const NodeId x = b.x(dtype, shape), turned = b.permute(x, {1, 0});
                         const NodeId y = b.x(DType::F32, {shape[0]});
                         const NodeId wanted =
                             b.binary(BinaryKind::Eq, b.iota({DType::I64, shape}, 1), b.back(rows, 1, shape[1]));
                         const NodeId all = b.back(y, 1, shape[1]);
                         const NodeId terms = b.unary(UnaryKind::Neg, b.select(wanted, all, b.like(all, 0)));
                         return std::vector<NodeId>{crossEntropy(b, x, rows), crossEntropy(b, turned, columns),
                                                    b.reduce(ReduceKind::Add, terms, {1})};
                       }});
  for (const Shape &shape : {Shape{6, 5003}, Shape{6, 9216}, Shape{2, 70000}})
    for (DType dtype : {DType::F32, DType::F64, DType::BF16})
      cases.push_back({"log-sum-exp." + std::string(toString(dtype)) + toString(shape), [=](Builder &b) {
                         const DType wide = dtype == DType::F64 ? dtype : DType::F32;
                         return std::vector<NodeId>{logSumExp(b, b.cast(b.x(dtype, shape), wide))};
                       }});
  // Maxima that come late, infinities, a row of nothing but minus infinity, NaN, and numbers next to the largest.
  cases.push_back({"log-sum-exp.specials", [](Builder &b) {
                     const double inf = std::numeric_limits<double>::infinity();
                     const double nan = std::numeric_limits<double>::quiet_NaN();
                     constexpr int64_t columns = 5003;
                     const double fill[] = {-inf, -inf, -inf, 1, 3e38, -3e38, -1e4};
                     const double one[] = {-inf, 2, inf, nan, 3.3e38, 0, 1e4};
                     std::vector<double> numbers;
                     for (int64_t row = 0; row < 7; ++row)
                       for (int64_t i = 0; i < columns; ++i)
                         numbers.push_back(i == (row % 2 ? columns - 1 : 2500) ? one[row] : fill[row]);
                     const NodeId x = b.input(makeTensor(DType::F32, {7, columns}, numbers));
                     return std::vector<NodeId>{logSumExp(b, x), softmax(b, x)};
                   }});
}

struct Product {
  int64_t m, k, n;
};

static DType accumulatorOf(DType dtype) {
  return dtype == DType::I8 || dtype == DType::U8 ? DType::I32 : accumulatorType(dtype);
}

/// Left and right as stored, transposed or not.
static void addMatmul(std::vector<Case> &cases, DType dtype, Product p, bool leftT, bool rightT) {
  const std::string form = std::string(leftT ? "T" : "N") + (rightT ? "T" : "N");
  cases.push_back(
      {"matmul." + std::string(toString(dtype)) + "." + form + toString(Shape{p.m, p.k, p.n}), [=](Builder &b) {
         NodeId l = leftT ? b.permute(b.x(dtype, {p.k, p.m}), {1, 0}) : b.x(dtype, {p.m, p.k});
         NodeId r = rightT ? b.permute(b.x(dtype, {p.n, p.k}), {1, 0}) : b.x(dtype, {p.k, p.n});
         NodeId y = b.matmul(l, r, accumulatorOf(dtype));
         if (dtype == DType::BF16 || dtype == DType::F16)
           y = b.cast(y, dtype);
         return std::vector<NodeId>{y};
       }});
}

static NodeId gelu(Builder &b, NodeId x) {
  const NodeId inner = b.unary(UnaryKind::Erf, b.mul(x, b.like(x, 0.70710678118654752)));
  return b.mul(b.mul(x, b.like(x, 0.5)), b.add(inner, b.like(inner, 1)));
}

static NodeId relu(Builder &b, NodeId x) { return b.binary(BinaryKind::Max, x, b.like(x, 0)); }

/// Products that fill the registers of a matrix unit, in the types of its factors; of the first ones
/// rows of the left factor do so where they lie.
static void addNarrowMatmuls(std::vector<Case> &cases) {
  for (DType dtype : {DType::BF16, DType::I8, DType::U8})
    for (const bool rightT : {false, true})
      addMatmul(cases, dtype, {64, 192, 75}, false, rightT);
  // Of two pieces, and of a last panel that is not full.
  addMatmul(cases, DType::BF16, {64, 4416, 75}, false, false);
  cases.push_back({"matmul.bf16.heads-in-place", [](Builder &b) {
                     const NodeId q = b.permute(b.x(DType::BF16, {2, 64, 3, 32}), {0, 2, 1, 3});
                     const NodeId k = b.permute(b.x(DType::BF16, {2, 96, 3, 32}), {0, 2, 3, 1});
                     return std::vector<NodeId>{b.matmul(q, k, DType::F32)};
                   }});
  for (DType dtype : {DType::BF16, DType::I8, DType::U8})
    for (const bool leftT : {false, true})
      for (const bool rightT : {false, true})
        addMatmul(cases, dtype, {70, 101, 75}, leftT, rightT);
  for (const auto &[left, right] : {std::pair(DType::U8, DType::I8), std::pair(DType::I8, DType::U8)})
    cases.push_back({"matmul.mixed." + std::string(toString(left)) + std::string(toString(right)),
                     [left = left, right = right](Builder &b) {
                       return std::vector<NodeId>{b.matmul(b.x(left, {64, 200}), b.x(right, {200, 64}), DType::I32)};
                     }});
  // Denormals among the factors, and products that are denormals: units that take them for zero lose
  // what the bound of a sum counts.
  const std::tuple<const char *, double, double> scales[] = {
      {"denormal-factors", 1e-40, 1e35}, {"denormal-products", 1e-20, 1e-20}, {"small", 1e-15, 1e-12}};
  const auto fill = [](Shape shape, double scale, int64_t period) {
    std::vector<double> values(static_cast<size_t>(shape[0] * shape[1]));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(static_cast<int64_t>(i) % period - period / 3) * scale;
    return makeTensor(DType::BF16, std::move(shape), values);
  };
  for (const auto &[name, left, right] : scales)
    for (const int64_t rows : {48, 64})
      cases.push_back({std::string("matmul.bf16.") + name + (rows == 64 ? "-in-place" : ""),
                       [=, left = left, right = right](Builder &b) {
                         const NodeId l = b.input(fill({rows, 64}, left, 13));
                         const NodeId r = b.input(fill({64, 40}, right, 11));
                         return std::vector<NodeId>{b.matmul(l, r, DType::F32)};
                       }});
}

/// Products whose factors lie along the contraction and on multiples of 16 bytes, which an engine can copy: tiles that
/// are shared along the contraction, and edges in each direction.
static void addCopiedMatmuls(std::vector<Case> &cases) {
  for (const Product p : {Product{9, 1024, 128}, Product{64, 12288, 32}, Product{130, 512, 200}, Product{1, 2048, 72}})
    addMatmul(cases, DType::BF16, p, false, true);
  for (DType dtype : {DType::I8, DType::F8E4M3FN, DType::F8E5M2, DType::F32})
    for (const Product p : {Product{70, 400, 80}, Product{130, 512, 200}})
      addMatmul(cases, dtype, p, false, true);
  cases.push_back({"matmul.f32.residual-copied", [](Builder &b) {
                     const NodeId r = b.permute(b.x(DType::F32, {140, 96}), {1, 0});
                     NodeId y = b.matmul(b.x(DType::F32, {70, 96}), r, DType::F32);
                     y = b.add(y, b.along(b.x(DType::F32, {140}), {70, 140}, 1));
                     y = b.mul(y, b.along(b.x(DType::F32, {70}), {70, 140}, 0));
                     return std::vector<NodeId>{b.add(y, b.x(DType::F32, {70, 140}))};
                   }});
  cases.push_back({"matmul.bf16.tanh-copied", [](Builder &b) {
                     const NodeId r = b.permute(b.x(DType::BF16, {72, 64}), {1, 0});
                     const NodeId y = b.matmul(b.x(DType::BF16, {40, 64}), r, DType::F32);
                     return std::vector<NodeId>{b.unary(UnaryKind::Tanh, y)};
                   }});
  // Variances of columns of all magnitudes, as a normalisation behind a product has them.
  for (DType dtype : {DType::BF16, DType::F32})
    cases.push_back({"matmul." + std::string(toString(dtype)) + ".rsqrt-copied", [=](Builder &b) {
                       const NodeId r = b.permute(b.x(dtype, {72, 64}), {1, 0});
                       const NodeId y = b.matmul(b.x(dtype, {40, 64}), r, DType::F32);
                       const NodeId exponent = b.x(DType::F32, {72});
                       const NodeId variance = b.unary(UnaryKind::Exp2, b.mul(exponent, b.like(exponent, 45)));
                       const NodeId scale = b.unary(UnaryKind::Rsqrt, variance);
                       return std::vector<NodeId>{b.mul(y, b.along(scale, {40, 72}, 1))};
                     }});
}

static void addMatmuls(std::vector<Case> &cases) {
  addNarrowMatmuls(cases);
  addCopiedMatmuls(cases);
  for (DType dtype : {DType::F32, DType::F64, DType::BF16, DType::F16, DType::I32, DType::I8, DType::U8,
                      DType::F8E4M3FN, DType::F8E5M2})
    for (const bool leftT : {false, true})
      for (const bool rightT : {false, true})
        addMatmul(cases, dtype, {17, 33, 7}, leftT, rightT);
  for (DType dtype : {DType::F32, DType::BF16, DType::I32})
    for (const Product p : {Product{1, 100, 1}, Product{1, 33, 100}, Product{100, 33, 1}, Product{7, 1, 9},
                            Product{64, 64, 64}, Product{100, 100, 100}, Product{33, 17, 65}, Product{8, 256, 48},
                            Product{3, 0, 4}, Product{0, 3, 4}, Product{130, 300, 70}})
      addMatmul(cases, dtype, p, false, false);
  addMatmul(cases, DType::F32, {100, 65, 130}, true, false);
  addMatmul(cases, DType::F32, {100, 65, 130}, false, true);
  addMatmul(cases, DType::F32, {100, 600, 130}, false, false);
  // Pieces of the contraction, of factors in every direction; few rows of factors that both lie along it.
  for (DType dtype : {DType::F32, DType::F64}) {
    addMatmul(cases, dtype, {65, 530, 100}, true, true);
    for (const Product p : {Product{2, 100, 65}, Product{5, 40, 33}, Product{19, 70, 21}})
      addMatmul(cases, dtype, p, false, true);
  }
  for (DType dtype : {DType::F32, DType::F64, DType::BF16}) {
    const std::string suffix = "." + std::string(toString(dtype));
    cases.push_back({"matmul.batched" + suffix, [=](Builder &b) {
                       const NodeId l = b.x(dtype, {3, 17, 9}), r = b.x(dtype, {3, 9, 33});
                       return std::vector<NodeId>{b.matmul(l, r, accumulatorOf(dtype))};
                     }});
    cases.push_back({"matmul.heads" + suffix, [=](Builder &b) {
                       // [batch, row, head, feature] read as [batch, head, row, feature].
                       const NodeId q = b.permute(b.x(dtype, {2, 7, 3, 16}), {0, 2, 1, 3});
                       const NodeId k = b.permute(b.x(dtype, {2, 9, 3, 16}), {0, 2, 3, 1});
                       const NodeId y = b.matmul(q, k, accumulatorOf(dtype));
                       return std::vector<NodeId>{b.permute(y, {0, 2, 1, 3})};
                     }});
    cases.push_back({"matmul.epilogue" + suffix, [=](Builder &b) {
                       const DType wide = accumulatorOf(dtype);
                       NodeId y = b.matmul(b.x(dtype, {33, 64}), b.x(dtype, {64, 17}), wide);
                       y = b.add(y, b.along(b.x(wide, {17}), {33, 17}, 1));
                       return std::vector<NodeId>{relu(b, y), b.cast(gelu(b, y), dtype)};
                     }});
    cases.push_back({"matmul.residual" + suffix, [=](Builder &b) {
                       const DType wide = accumulatorOf(dtype);
                       NodeId y = b.matmul(b.x(dtype, {33, 20}), b.x(dtype, {20, 17}), wide);
                       y = b.add(b.mul(y, b.like(y, 0.125)), b.x(wide, {33, 17}));
                       return std::vector<NodeId>{b.cast(y, dtype)};
                     }});
    cases.push_back({"matmul.prologue" + suffix, [=](Builder &b) {
                       const DType wide = accumulatorOf(dtype);
                       const NodeId l = b.x(dtype, {17, 33});
                       const NodeId scale = b.along(b.one(wide, {33}), {17, 33}, 1);
                       const NodeId scaled = b.mul(b.cast(l, wide), scale);
                       return std::vector<NodeId>{b.matmul(scaled, b.x(dtype, {33, 20}), wide)};
                     }});
  }
  cases.push_back({"matmul.mixed-f8", [](Builder &b) {
                     const NodeId l = b.x(DType::F8E4M3FN, {17, 33});
                     const NodeId r = b.x(DType::F8E5M2, {33, 20});
                     const NodeId y = b.matmul(l, r, DType::F32);
                     return std::vector<NodeId>{y, b.cast(y, DType::F8E4M3FN)};
                   }});
  cases.push_back({"matmul.prologue.u8", [](Builder &b) {
                     const NodeId pixels = b.cast(b.x(DType::U8, {33, 64}), DType::F32);
                     const NodeId scaled = b.mul(pixels, b.like(pixels, 0.0625));
                     return std::vector<NodeId>{b.matmul(scaled, b.x(DType::F32, {64, 10}), DType::F32)};
                   }});
  cases.push_back({"matmul.shared-operand", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {17, 33});
                     return std::vector<NodeId>{b.matmul(x, b.permute(x, {1, 0}), DType::F32),
                                                b.matmul(b.permute(x, {1, 0}), x, DType::F32)};
                   }});
  cases.push_back({"matmul.chain", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {9, 17});
                     const NodeId h = relu(b, b.matmul(x, b.x(DType::F32, {17, 33}), DType::F32));
                     return std::vector<NodeId>{b.matmul(h, b.x(DType::F32, {33, 5}), DType::F32)};
                   }});
  cases.push_back({"matmul.rounded-products", [](Builder &b) {
                     // A bf16 multiply before a reduce rounds each product: no contraction.
                     const NodeId l = b.expand(b.reshape(b.x(DType::BF16, {7, 16}), {7, 16, 1}), {7, 16, 9});
                     const NodeId r = b.expand(b.reshape(b.x(DType::BF16, {16, 9}), {1, 16, 9}), {7, 16, 9});
                     return std::vector<NodeId>{b.reduce(ReduceKind::Add, b.mul(l, r), {1})};
                   }});
  cases.push_back({"matmul.specials", [](Builder &b) {
                     // 0 * inf is NaN, also where a factor is padding.
                     HostTensor l = makeTensor(DType::F32, {3, 2}, {0, 1, 1, 0, 2, 3});
                     HostTensor r = makeTensor(
                         DType::F32, {2, 2},
                         {std::numeric_limits<double>::infinity(), 1, 1, std::numeric_limits<double>::quiet_NaN()});
                     return std::vector<NodeId>{b.matmul(b.input(std::move(l)), b.input(std::move(r)), DType::F32)};
                   }});
}

static NodeId attention(Builder &b, DType dtype, int64_t queries, int64_t keys, bool causal) {
  const NodeId q = b.x(dtype, {2, queries, 16}), k = b.x(dtype, {2, keys, 16});
  const NodeId v = b.x(dtype, {2, keys, 8});
  const DType wide = accumulatorOf(dtype);
  NodeId scores = b.matmul(q, b.permute(k, {0, 2, 1}), wide);
  scores = b.mul(scores, b.like(scores, 0.25));
  if (causal) {
    const Shape shape = b.type(scores).shape;
    const NodeId row = b.iota({DType::I32, shape}, 1), column = b.iota({DType::I32, shape}, 2);
    scores = b.select(b.binary(BinaryKind::Ge, row, column), scores,
                      b.like(scores, -std::numeric_limits<double>::infinity()));
  }
  return b.matmul(softmax(b, scores), b.cast(v, wide), wide);
}

/// Groups with several results, values used twice, long chains.
static void addShapesOfGraphs(std::vector<Case> &cases) {
  cases.push_back({"graph.diamond", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {17, 33});
                     const NodeId s = b.mul(x, x);
                     const NodeId l = b.add(s, x), r = b.sub(s, x);
                     return std::vector<NodeId>{b.mul(l, r)};
                   }});
  cases.push_back({"graph.diamond-reduce", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {17, 33});
                     const NodeId s = b.mul(x, x);
                     const NodeId rows = b.back(b.reduce(ReduceKind::Max, s, {1}), 1, 33);
                     const NodeId columns = b.back(b.reduce(ReduceKind::Max, s, {0}), 0, 17);
                     return std::vector<NodeId>{b.add(b.sub(s, rows), columns), rows};
                   }});
  cases.push_back({"graph.many-outputs", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {7, 100}), y = b.x(DType::F32, {7, 100});
                     const NodeId s = b.add(x, y);
                     return std::vector<NodeId>{s,
                                                b.sub(x, y),
                                                b.binary(BinaryKind::Lt, x, y),
                                                b.cast(s, DType::I8),
                                                b.cast(s, DType::F64),
                                                b.reduce(ReduceKind::Max, s, {1}),
                                                b.reduce(ReduceKind::Min, x, {1}),
                                                b.reduce(ReduceKind::Max, y, {0})};
                   }});
  cases.push_back({"graph.same-output-twice", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {33});
                     const NodeId y = b.add(x, x);
                     return std::vector<NodeId>{y, y, x};
                   }});
  cases.push_back({"graph.chain", [](Builder &b) {
                     NodeId x = b.x(DType::I32, {100});
                     const NodeId first = x;
                     for (int i = 0; i < 40; ++i)
                       x = b.binary(i % 3 ? BinaryKind::Add : BinaryKind::Xor, b.mul(x, b.like(x, 3)), first);
                     return std::vector<NodeId>{x};
                   }});
  cases.push_back({"graph.no-inputs", [](Builder &b) {
                     const NodeId i = b.iota({DType::F32, {33, 17}}, 0);
                     return std::vector<NodeId>{b.mul(i, b.like(i, 0.5)), b.splat(DType::I8, {0, 3}, 0)};
                   }});
  cases.push_back({"graph.rank-0", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {}), y = b.x(DType::F32, {});
                     const NodeId c = b.binary(BinaryKind::Lt, x, y);
                     return std::vector<NodeId>{b.add(x, y), c, b.select(c, x, y), b.cast(x, DType::I64)};
                   }});
  cases.push_back({"graph.zero-size", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {0, 7});
                     return std::vector<NodeId>{b.add(x, x), b.permute(x, {1, 0}), b.unary(UnaryKind::Exp, x),
                                                b.cast(x, DType::I8)};
                   }});
  cases.push_back({"graph.zero-size-shared", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {0, 4});
                     const NodeId y = b.add(x, x);
                     return std::vector<NodeId>{b.reduce(ReduceKind::Add, y, {0}), b.reduce(ReduceKind::Add, y, {1})};
                   }});
  // Kernels that touch nothing are one, whatever they would write.
  cases.push_back({"graph.zero-size-roles", [](Builder &b) {
                     const NodeId x = b.x(DType::I64, {0});
                     const NodeId y = b.unary(UnaryKind::Abs, x), i = b.iota({DType::I64, {1}}, 0);
                     const NodeId z = b.scatter(graph::ScatterKind::Min, y, i, i, 0);
                     return std::vector<NodeId>{b.mul(z, x), b.unary(UnaryKind::Not, y)};
                   }});
  cases.push_back({"graph.extent-1", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {1, 1, 7}), y = b.x(DType::F32, {1, 1, 7});
                     return std::vector<NodeId>{b.add(x, y), b.reduce(ReduceKind::Add, x, {0}),
                                                b.reduce(ReduceKind::Max, x, {0, 1}), b.permute(x, {2, 0, 1})};
                   }});
  cases.push_back({"graph.variance", [](Builder &b) {
                     const NodeId x = b.x(DType::F32, {9, 33});
                     const NodeId m = mean(b, x);
                     const NodeId centred = b.sub(x, m);
                     return std::vector<NodeId>{mean(b, b.mul(centred, centred)), m};
                   }});
  cases.push_back({"graph.select-hides-nan", [](Builder &b) {
                     const NodeId x = b.input(specials(DType::F32));
                     const NodeId finite = b.binary(BinaryKind::Eq, b.sub(x, x), b.like(x, 0));
                     const NodeId shown = b.select(finite, x, b.like(x, 0));
                     return std::vector<NodeId>{shown, b.reduce(ReduceKind::Max, shown, {0})};
                   }});
  cases.push_back({"graph.no-contraction", [](Builder &b) {
                     // An fma would give another last bit.
                     const NodeId x = b.x(DType::F32, {1000}), y = b.x(DType::F32, {1000});
                     const NodeId z = b.x(DType::F32, {1000});
                     return std::vector<NodeId>{b.add(b.mul(x, y), z), b.sub(b.mul(x, y), z), b.sub(z, b.mul(x, y))};
                   }});
  cases.push_back({"graph.i64-indices", [](Builder &b) {
                     const NodeId i = b.iota({DType::U64, {7, 9}}, 0);
                     const NodeId j = b.iota({DType::U64, {7, 9}}, 1);
                     return std::vector<NodeId>{b.add(b.mul(i, b.like(i, 1e15)), j)};
                   }});
  cases.push_back({"graph.nearest-neighbour", [](Builder &b) {
                     const NodeId train = b.cast(b.x(DType::U8, {50, 16}), DType::F32);
                     const NodeId test = b.cast(b.x(DType::U8, {20, 16}), DType::F32);
                     const NodeId cross = b.matmul(test, b.permute(train, {1, 0}), DType::F32);
                     const NodeId norms = b.reduce(ReduceKind::Add, b.mul(train, train), {1});
                     const NodeId all = b.along(norms, {20, 50}, 1);
                     const NodeId d = b.cast(b.sub(all, b.mul(cross, b.like(cross, 2))), DType::F32);
                     const NodeId near = b.back(b.reduce(ReduceKind::Min, d, {1}), 1, 50);
                     const NodeId index = b.iota({DType::I32, {20, 50}}, 1);
                     const NodeId hit = b.select(b.binary(BinaryKind::Le, d, near), index, b.like(index, 50));
                     const NodeId best = b.reduce(ReduceKind::Min, hit, {1});
                     return std::vector<NodeId>{d, b.gather(b.x(DType::I64, {50}), best, 0)};
                   }});
}

/// Attention of which the whole batch has the same keys, values or queries: what is a batch of one product is rows of
/// the other.
static void addSharedFactors(std::vector<Case> &cases) {
  for (const char *shared : {"queries", "keys", "values"})
    for (DType dtype : {DType::F32, DType::BF16})
      for (const int64_t batch : {3, 20})
        cases.push_back({"attention.shared-" + std::string(shared) + "." + std::string(toString(dtype)) + "." +
                             std::to_string(batch),
                         [=](Builder &b) {
                           auto factor = [&](const char *name, int64_t rows, int64_t columns) {
                             const bool isShared = std::string_view(name) == shared;
                             const NodeId x = b.x(dtype, {isShared ? 1 : batch, rows, columns});
                             return isShared ? b.expand(x, {batch, rows, columns}) : x;
                           };
                           const NodeId q = factor("queries", 4, 17), k = factor("keys", 17, 7),
                                        v = factor("values", 7, 8);
                           return std::vector<NodeId>{b.matmul(softmax(b, b.matmul(q, k, DType::F32)), v, DType::F32)};
                         }});
}

/// Means, variances and gradients over all dimensions but one, as of batches: with channels in the middle each sum has
/// several rows in memory, with channels last it has columns.
static void addBatchNorms(std::vector<Case> &cases) {
  struct Size {
    Shape shape;
    int64_t channels;
  };
  for (DType dtype : {DType::F32, DType::BF16, DType::F16})
    for (const Size &size : {Size{{3, 5, 2048}, 1}, Size{{2, 3, 8200}, 1}, Size{{4, 6, 1500}, 1},
                             Size{{2, 70, 1024}, 1}, Size{{5, 3, 40}, 1}, Size{{2, 9, 100, 64}, 3}, Size{{700, 30}, 1}})
      cases.push_back({"batch-norm." + std::string(toString(dtype)) + toString(size.shape), [=](Builder &b) {
                         const Shape &shape = size.shape;
                         std::vector<int64_t> dims;
                         double count = 1;
                         for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
                           if (dim != size.channels) {
                             dims.push_back(dim);
                             count *= static_cast<double>(shape[dim]);
                           }
                         const auto sum = [&](NodeId x) { return b.reduce(ReduceKind::Add, x, dims); };
                         const auto mean = [&](NodeId x) {
                           const NodeId total = sum(x);
                           return b.mul(total, b.like(total, 1 / count));
                         };
                         const auto all = [&](NodeId x) { return b.along(x, shape, size.channels); };
                         const auto wide = [&](NodeId x) { return b.cast(x, DType::F32); };
                         const NodeId x = wide(b.x(dtype, shape)), residual = wide(b.x(dtype, shape));
                         const NodeId g = wide(b.x(dtype, shape));
                         const NodeId scale = wide(b.one(dtype, {shape[size.channels]}));
                         const NodeId centred = b.sub(x, all(mean(x)));
                         const NodeId variance = mean(b.mul(centred, centred));
                         const NodeId factor = b.unary(UnaryKind::Rsqrt, b.add(variance, b.like(variance, 1e-5)));
                         const NodeId normed = b.mul(centred, all(factor));
                         const NodeId y = b.add(b.mul(normed, all(scale)), residual);
                         const NodeId scaleGradient = sum(b.mul(g, normed)), shiftGradient = sum(g);
                         return std::vector<NodeId>{b.cast(y, dtype), scaleGradient, shiftGradient, sum(b.mul(x, g))};
                       }});
}

/// Images times a gate for each channel, a pointwise convolution and a norm of the batch, and the gradients of all:
/// between the kernels are images of which none begins on 16 bytes where they lie one behind the other, and the
/// product's gradient has two readers.
static void addGatedImages(std::vector<Case> &cases) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16})
    for (const Shape &shape : {Shape{6, 48, 14, 14}, Shape{12, 64, 7, 7}, Shape{5, 40, 9, 6}})
      cases.push_back(
          {"gated-images." + std::string(toString(dtype)) + toString(shape), [=](Builder &b) {
             const int64_t channels = shape[1];
             const double count = static_cast<double>(shape[0] * shape[2] * shape[3]);
             const auto wide = [&](NodeId x) { return b.cast(x, DType::F32); };
             const auto all = [&](NodeId x) { return b.along(x, shape, 1); };
             const NodeId x = b.x(dtype, shape), gate = b.one(dtype, {shape[0], channels});
             const NodeId weight = b.x(dtype, {channels, channels, 1, 1}), scale = b.one(dtype, {channels});
             const NodeId bounded = b.cast(b.unary(UnaryKind::Tanh, wide(x)), dtype);
             const NodeId gated = b.mul(bounded, b.expand(b.reshape(gate, {shape[0], channels, 1, 1}), shape));
             const Convolution how{.stride = {1, 1}, .dilation = {1, 1}, .low = {0, 0}, .high = {0, 0}};
             const NodeId y = wide(b.cast(convolve(b, gated, weight, how, DType::F32), dtype));
             const auto mean = [&](NodeId terms) {
               const NodeId sum = b.reduce(ReduceKind::Add, terms, {0, 2, 3});
               return b.mul(sum, b.like(sum, 1 / count));
             };
             const NodeId centred = b.sub(y, all(mean(y))), variance = mean(b.mul(centred, centred));
             const NodeId factor = b.unary(UnaryKind::Rsqrt, b.add(variance, b.like(variance, 1e-2)));
             const NodeId normed = b.mul(b.mul(centred, all(factor)), all(wide(scale)));
             const NodeId result = b.cast(normed, dtype);
             const auto gradients =
                 graph::gradient(b.graph(), {{result}}, {{b.x(dtype, shape)}}, {{x, gate, weight, scale}});
             if (!gradients.isOk()) {
               std::fprintf(stderr, "gated images without gradients: %s\n", gradients.status().message().c_str());
               std::abort();
             }
             std::vector<NodeId> results{result};
             for (const std::optional<NodeId> &gradient : *gradients)
               results.push_back(*gradient);
             return results;
           }});
}

/// Norms of groups of channels that come last: few neighbours in memory, or many, are combined with all positions.
static void addGroupNorms(std::vector<Case> &cases) {
  struct Size {
    Shape shape;
    int64_t groups;
  };
  for (DType dtype : {DType::F32, DType::BF16, DType::F16})
    for (const Size &size : {Size{{2, 9, 7, 96}, 16}, Size{{1, 8, 11, 60}, 3}, Size{{3, 5, 6, 64}, 32},
                             Size{{4, 28, 28, 64}, 32}, Size{{2, 14, 14, 256}, 2}, Size{{3, 13, 9, 192}, 4}})
      cases.push_back(
          {"group-norm.last." + std::string(toString(dtype)) + toString(size.shape), [=](Builder &b) {
             const Shape &shape = size.shape;
             const int64_t channels = shape[3], each = channels / size.groups;
             const NodeId given = b.x(dtype, shape);
             const Shape apart = {shape[0], size.groups, each, shape[1], shape[2]};
             const NodeId x = b.reshape(b.cast(b.permute(given, {0, 3, 1, 2}), DType::F32), apart);
             const double count = static_cast<double>(each * shape[1] * shape[2]);
             const auto mean = [&](NodeId v) {
               const NodeId all = b.reshape(b.reduce(ReduceKind::Add, v, {2, 3, 4}), {shape[0], size.groups, 1, 1, 1});
               return b.mul(all, b.like(all, 1 / count));
             };
             const NodeId own = mean(x), centred = b.sub(x, b.expand(own, apart));
             const NodeId variance = mean(b.mul(centred, centred));
             const NodeId factor = b.unary(UnaryKind::Rsqrt, b.add(variance, b.like(variance, 1e-5)));
             const NodeId normed =
                 b.reshape(b.mul(centred, b.expand(factor, apart)), {shape[0], channels, shape[1], shape[2]});
             const NodeId scale = b.one(dtype, {channels});
             const NodeId scaled = b.mul(normed, b.along(b.cast(scale, DType::F32), b.type(normed).shape, 1));
             const NodeId y = b.permute(b.cast(scaled, dtype), {0, 2, 3, 1});
             // The largest element of each group, with nothing that is read along it.
             const NodeId most = b.reduce(ReduceKind::Max, b.mul(x, b.like(x, 2)), {2, 3, 4});
             const NodeId seed = b.x(dtype, shape);
             const auto gradients = graph::gradient(b.graph(), {{y}}, {{seed}}, {{given, scale}});
             if (!gradients.isOk() || !gradients->front() || !gradients->back()) {
               std::fprintf(stderr, "a norm without gradients: %s\n", gradients.status().message().c_str());
               std::abort();
             }
             return std::vector<NodeId>{y, most, own, *gradients->front(), *gradients->back()};
           }});
}

/// Rows that are read across their order in memory, and written along it, beside what is read along it: of many
/// elements they are copied into that order.
static void addTurnedRows(std::vector<Case> &cases) {
  for (DType dtype : {DType::F32, DType::BF16})
    for (const Shape &shape : {Shape{32, 64, 1024}, Shape{9, 70, 1931}})
      cases.push_back({"softmax.turned." + std::string(toString(dtype)) + toString(shape), [=](Builder &b) {
                         const NodeId x = b.cast(b.permute(b.x(dtype, shape), {0, 2, 1}), DType::F32);
                         const NodeId along = b.cast(b.x(dtype, {shape[0], shape[2], shape[1]}), DType::F32);
                         return std::vector<NodeId>{b.cast(softmax(b, b.mul(x, along)), dtype)};
                       }});
}

/// Linear interpolation along both dimensions of images: positions and weights are made of positions of the results.
static NodeId interpolate(Builder &b, NodeId y, int64_t from, int64_t to) {
  const NodeId i = b.iota({DType::I64, {to}}, 0);
  const auto number = [&](double value) { return b.like(i, value); };
  const NodeId odd = b.add(b.mul(i, number(2)), number(1));
  const auto twice = static_cast<double>(2 * to);
  const NodeId place =
      b.binary(BinaryKind::Max, b.sub(b.mul(odd, number(static_cast<double>(from))), number(static_cast<double>(to))),
               number(0));
  const NodeId low = b.div(place, number(twice));
  const NodeId high = b.binary(BinaryKind::Min, b.add(low, number(1)), number(static_cast<double>(from - 1)));
  const NodeId rest = b.cast(b.binary(BinaryKind::Rem, place, number(twice)), DType::F32);
  const NodeId weight = b.div(rest, b.like(rest, twice));
  for (const int64_t dim : {2, 3}) {
    const NodeId first = b.gather(y, low, dim), second = b.gather(y, high, dim);
    const Shape shape = b.type(first).shape;
    Shape along(4, 1);
    along[static_cast<size_t>(dim)] = to;
    const NodeId w = b.expand(b.reshape(weight, along), shape);
    y = b.add(first, b.mul(w, b.sub(second, first)));
  }
  return y;
}

static void addInterpolations(std::vector<Case> &cases) {
  for (DType dtype : {DType::F32, DType::F16})
    for (const bool channelsLast : {false, true}) {
      const std::string name = std::string(toString(dtype)) + (channelsLast ? ".last" : "");
      const auto draw = [=](Builder &b, int64_t size) {
        return channelsLast ? b.permute(b.x(dtype, {2, size, size, 40}), {0, 3, 1, 2})
                            : b.x(dtype, {2, 40, size, size});
      };
      cases.push_back({"interpolation." + name, [=](Builder &b) {
                         const NodeId y = interpolate(b, b.cast(draw(b, 9), DType::F32), 9, 21);
                         return std::vector<NodeId>{b.cast(y, dtype)};
                       }});
      // Larger and smaller ones: rows that several results read, and rows that none does.
      for (auto [from, to] : {std::pair<int64_t, int64_t>{9, 21}, {21, 9}, {30, 7}})
        cases.push_back({"interpolation.gradient." + name + "." + std::to_string(from) + "-" + std::to_string(to),
                         [=, from = from, to = to](Builder &b) {
                           const NodeId x = draw(b, from);
                           const NodeId y = b.cast(interpolate(b, b.cast(x, DType::F32), from, to), dtype);
                           const auto gradients = graph::gradient(b.graph(), {{y}}, {{draw(b, to)}}, {{x}});
                           if (!gradients.isOk() || !gradients->front()) {
                             std::fprintf(stderr, "an interpolation without gradients: %s\n",
                                          gradients.status().message().c_str());
                             std::abort();
                           }
                           return std::vector<NodeId>{*gradients->front()};
                         }});
    }
  // Rows are added at positions that are known: some twice, some outside, to what is there or to zeros.
  for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32})
    for (const int64_t dim : {0, 1})
      cases.push_back({"scatter.known." + std::string(toString(dtype)) + "." + std::to_string(dim), [=](Builder &b) {
                         constexpr int64_t rows = 17, updates = 40;
                         const NodeId i = b.iota({DType::I64, {updates}}, 0);
                         const NodeId place = b.sub(b.div(i, b.like(i, 2)), b.like(i, 2));
                         Shape shape{30, 30}, own = shape;
                         shape[static_cast<size_t>(dim)] = rows;
                         own[static_cast<size_t>(dim)] = updates;
                         const NodeId x = b.x(dtype, shape), u = b.x(dtype, own);
                         const NodeId twice = b.mul(u, b.like(u, 2));
                         return std::vector<NodeId>{b.scatter(graph::ScatterKind::Add, x, place, u, dim),
                                                    b.scatter(graph::ScatterKind::Add, b.like(x, 0), place,
                                                              b.sub(twice, b.x(dtype, own)), dim)};
                       }});
}

/// Rows whose extents no vector divides: short ones, of a warp; long ones, of one workgroup, and of a cluster's; read
/// once, and again.
static void addOddRows(std::vector<Case> &cases) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F64})
    for (const Shape &shape : {Shape{70, 49}, Shape{65, 77}, Shape{130, 33}, Shape{3, 1031}, Shape{2, 8191},
                               Shape{3, 20011}, Shape{1, 50257}})
      cases.push_back(
          {"rows.odd." + std::string(toString(dtype)) + "." + std::to_string(shape.back()), [=](Builder &b) {
             const DType wide = dtype == DType::BF16 ? DType::F32 : dtype;
             const NodeId x = b.cast(b.x(dtype, shape), wide);
             return std::vector<NodeId>{b.cast(softmax(b, x), dtype), layerNorm(b, x), logSumExp(b, x)};
           }});
  // One long row that is read once, whose length has a large prime factor: of workgroups of a cluster.
  for (DType dtype : {DType::F32, DType::BF16, DType::F64, DType::I64})
    for (const int64_t extent : {8191, 37984})
      cases.push_back({"rows.once." + std::string(toString(dtype)) + "." + std::to_string(extent), [=](Builder &b) {
                         const NodeId x = b.x(dtype, {1, extent});
                         return std::vector<NodeId>{b.reduce(ReduceKind::Max, x, {1}),
                                                    b.reduce(ReduceKind::Add, x, {1})};
                       }});
  // Short rows of whole vectors of several inputs, read again: of a warp.
  for (DType dtype : {DType::F32, DType::BF16})
    for (const int64_t extent : {80, 96, 192})
      cases.push_back({"rows.again." + std::string(toString(dtype)) + "." + std::to_string(extent), [=](Builder &b) {
                         const NodeId x = b.cast(b.x(dtype, {70, extent}), DType::F32),
                                      y = b.cast(b.x(dtype, {70, extent}), DType::F32);
                         const NodeId p = softmax(b, x), q = softmax(b, y);
                         return std::vector<NodeId>{b.cast(b.sub(p, q), dtype),
                                                    b.reduce(ReduceKind::Add, b.mul(p, q), {1})};
                       }});
  // The gradient of a norm whose results have one gradient for all rows: one sum belongs to all rows, one to each.
  for (DType dtype : {DType::F32, DType::BF16, DType::F64})
    for (const Shape &shape : {Shape{4, 768}, Shape{1, 2048}, Shape{3, 8192}})
      cases.push_back(
          {"rows.norm-gradient." + std::string(toString(dtype)) + "." + std::to_string(shape.back()), [=](Builder &b) {
             const NodeId x = b.x(dtype, shape), each = b.x(dtype, {shape.front()});
             const NodeId slopes =
                 b.mul(b.along(b.x(dtype, {shape.back()}), shape, 1), b.along(b.one(dtype, {shape.back()}), shape, 1));
             auto sum = [&](NodeId of) { return b.back(b.reduce(ReduceKind::Add, of, {1}), 1, shape.back()); };
             const NodeId own = b.sub(x, b.back(each, 1, shape.back()));
             const NodeId scaled = b.mul(slopes, b.like(slopes, static_cast<double>(shape.back())));
             return std::vector<NodeId>{b.sub(b.sub(scaled, sum(slopes)), b.mul(own, sum(b.mul(slopes, own))))};
           }});
}

void addCompositionCases(std::vector<Case> &cases) {
  addInterpolations(cases);
  addOddRows(cases);
  addRows(cases, "softmax", softmax);
  addRows(cases, "layer-norm", layerNorm);
  addRows(cases, "rms-norm", rmsNorm);
  addRows(cases, "log-sum-exp", logSumExp);
  addHurtingSoftmax(cases);
  addSharedFactors(cases);
  addBatchNorms(cases);
  addGatedImages(cases);
  addGroupNorms(cases);
  addTurnedRows(cases);
  addLosses(cases);
  cases.push_back({"chain.squares", [](Builder &b) {
                     // Every square has its operand twice: 2^40 ways from the end to the beginning.
                     NodeId y = b.x(DType::F32, {8, 64});
                     for (int i = 0; i < 40; ++i)
                       y = b.mul(y, y);
                     return std::vector<NodeId>{b.sub(y, b.back(b.reduce(ReduceKind::Max, y, {1}), 1, 64))};
                   }});
  addMatmuls(cases);
  for (DType dtype : {DType::F32, DType::BF16})
    for (const bool causal : {false, true})
      cases.push_back({"attention." + std::string(toString(dtype)) + (causal ? ".causal" : ""),
                       [=](Builder &b) { return std::vector<NodeId>{attention(b, dtype, 17, 33, causal)}; }});
  addShapesOfGraphs(cases);
}

} // namespace zyx::conformance
