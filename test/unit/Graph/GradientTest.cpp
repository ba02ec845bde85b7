//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GradientCheck.h"

using namespace zyx;
using namespace zyx::graph;

static NodeId squared(TestGraph &g, NodeId x) { return *g.binary(BinaryKind::Mul, x, x); }

TEST(GradientTest, EachSourceHasItsGradientInOnePass) {
  TestGraph g;
  const NodeId a = g.input(vector({2, 3})), b = g.input(vector({5, 7})), c = g.input(vector({1, 1}));
  const NodeId product = *g.binary(BinaryKind::Mul, a, b);
  const NodeId y = *g.binary(BinaryKind::Mul, product, a);
  // An inner node, one that the target does not depend on, one that is no float, one behind the
  // target, and one twice.
  const NodeId whole = *g.cast(a, DType::I32), later = squared(g, y);
  const auto gradients = *gradient(g, y, {{a, b, c, product, whole, later, b, y}});
  expectNumbers(g.run(*gradients[0]), {20, 42});
  expectNumbers(g.run(*gradients[1]), {4, 9});
  EXPECT_FALSE(gradients[2]);
  expectNumbers(g.run(*gradients[3]), {2, 3});
  EXPECT_FALSE(gradients[4]);
  EXPECT_FALSE(gradients[5]);
  EXPECT_EQ(gradients[6], gradients[1]);
  expectNumbers(g.run(*gradients[7]), {1, 1});
  EXPECT_TRUE(gradient(g, y, {})->empty());
}

TEST(GradientTest, OnlyWhatLiesBetweenIsVisited) {
  // What cannot be differentiated is not asked, where no source is behind it.
  TestGraph g;
  const NodeId x = g.input(vector({1, 2})), other = g.input(vector({3, 4}));
  const NodeId moved = *g.transfer(other, "cpu");
  const NodeId y = *g.binary(BinaryKind::Mul, x, moved);
  const size_t before = g.size();
  EXPECT_EQ(derivative(g, y, x),
            *g.binary(BinaryKind::Mul, *g.splat({DType::F64, {2}}, tensor(DType::F64, {}, {1}).data), moved));
  // The seed and one product.
  EXPECT_EQ(g.size(), before + 2);
  EXPECT_FALSE(gradient(g, y, {{other}}).isOk());
}

TEST(GradientTest, SourcesMayBeViewsOfWhatNoneIsWantedOf) {
  TestGraph g;
  const NodeId x = g.input(vector({2, 3}));
  const NodeId view = *g.expand(*g.reshape(x, {1, 2}), {2, 2}), y = squared(g, view);
  expectNumbers(g.run(derivative(g, y, view)), {4, 6, 4, 6});
  const NodeId flipped = *g.flip(x, {0});
  expectNumbers(g.run(derivative(g, squared(g, flipped), flipped)), {6, 4});
}

TEST(GradientTest, SharedSubexpressionsAddUp) {
  // y = ((x^2)^2)^2 ..., 40 squarings: one visit each, not 2^40.
  TestGraph g;
  const NodeId x = g.input(vector({1}));
  NodeId y = x;
  for (int i = 0; i < 40; ++i)
    y = *g.binary(BinaryKind::Add, y, y);
  expectNumbers(g.run(derivative(g, y, x)), {1099511627776.0});
}

TEST(GradientTest, DeepChains) {
  TestGraph g;
  const NodeId x = g.input(vector({0.5}));
  const NodeId w = g.input(vector({1}));
  NodeId y = x;
  for (int i = 0; i < 100000; ++i)
    y = *g.binary(i % 2 ? BinaryKind::Add : BinaryKind::Mul, y, w);
  const auto gradients = *gradient(g, y, {{x, w}});
  EXPECT_GT(*gradients[0], 100000u);
  EXPECT_TRUE(gradients[1]);
  expectNumbers(g.run(*gradients[0]), {1});
}

TEST(GradientTest, LeavesAreNotLookedBehind) {
  TestGraph g;
  const NodeId x = g.input(vector({2}));
  const NodeId realized = squared(g, x);
  const NodeId y = *g.binary(BinaryKind::Mul, realized, x);
  GradientOptions options;
  options.isLeaf = [&](NodeId id) { return id == realized; };
  const auto gradients = *gradient(g, y, {{x, realized}}, options);
  expectNumbers(g.run(*gradients[0]), {4});
  expectNumbers(g.run(*gradients[1]), {2});
  // A leaf that is the target.
  options.isLeaf = [&](NodeId id) { return id == y; };
  EXPECT_FALSE((*gradient(g, y, {{x}}, options))[0]);
  EXPECT_TRUE((*gradient(g, y, {{y}}, options))[0]);
}

TEST(GradientTest, SeedsWeightTheResult) {
  TestGraph g;
  const NodeId x = g.input(vector({2, 3})), seed = g.input(vector({10, 100}));
  const NodeId y = squared(g, x);
  GradientOptions options;
  options.seed = seed;
  expectNumbers(g.run(*(*gradient(g, y, {{x}}, options))[0]), {40, 600});
  // Of two targets, one of which lies behind the other.
  const NodeId z = squared(g, y);
  const auto both = gradient(g, {{y, z}}, {{seed, seed}}, {{x}});
  expectNumbers(g.run(*(*both)[0]), {40 + 320, 600 + 10800});
}

TEST(GradientTest, ThirdOrder) {
  TestGraph g;
  const NodeId x = g.input(vector({2}));
  NodeId y = *g.binary(BinaryKind::Mul, squared(g, x), squared(g, x));
  for (int i = 0; i < 3; ++i)
    y = derivative(g, y, x);
  expectNumbers(g.run(y), {48});
}

TEST(GradientTest, RefusesWhatIsMalformed) {
  TestGraph g;
  const NodeId x = g.input(vector({2}));
  const NodeId whole = *g.cast(x, DType::I32);
  const auto message = [](const auto &result) { return result.status().message(); };
  EXPECT_EQ(message(gradient(g, whole, {{x}})), "gradient of i32[1]: only floats have gradients");
  EXPECT_EQ(message(gradient(g, 77, {{x}})), "gradient: the target is node 77 of a graph with 2");
  EXPECT_EQ(message(gradient(g, x, {{77}})), "gradient: the source is node 77 of a graph with 3");
  GradientOptions options;
  options.seed = whole;
  EXPECT_EQ(message(gradient(g, x, {{x}}, options)), "gradient of f64[1] has a seed of i32[1]");
  options.seed = 77;
  EXPECT_EQ(message(gradient(g, x, {{x}}, options)), "gradient: the seed is node 77 of a graph with 3");
  EXPECT_EQ(message(gradient(g, {{x, x}}, {{x}}, {{x}})), "gradient: 2 targets have 1 seeds");
  // Where it stands is part of a refusal.
  Attributes attributes;
  attributes.name = "cpu";
  const NodeId y = *g.add(Op::Transfer, {{x}}, attributes, {}, {"model.py", 3, 5});
  EXPECT_EQ(message(gradient(g, y, {{x}})), "gradient of transfer of f64[1] (model.py:3:5): nobody "
                                            "says where its operand lies; give deviceOf");
}

TEST(GradientTest, TypesWithSymbolsAreRefused) {
  Graph g;
  const NodeId x = *g.parameter("x", symbolicType(DType::F32, {*Extent::symbol("n")}));
  const NodeId y = *g.unary(UnaryKind::Exp, x);
  const NodeId seed = *g.unary(UnaryKind::Neg, x);
  GradientOptions options;
  options.seed = seed;
  EXPECT_EQ(gradient(g, y, {{x}}, options).status().message(),
            "gradient of parameter of f32[n]: a type with symbols; give them values first");
}

TEST(GradientTest, LocationsAreThoseOfTheForwardNodes) {
  TestGraph g;
  const NodeId x = g.input(vector({2}));
  Attributes attributes;
  attributes.kind = static_cast<uint8_t>(UnaryKind::Sin);
  const NodeId y = *g.add(Op::Unary, {{x}}, attributes, {}, {"model.py", 7, 1});
  EXPECT_EQ(g.location(derivative(g, y, x)).line, 7u);
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// What an op and its operands are, down to views, casts and parameters.
static std::string spelling(const Graph &g, NodeId id) {
  const Node &node = g.node(id);
  switch (node.op) {
  case Op::Parameter:
    return node.attributes.name;
  case Op::Reshape:
  case Op::Expand:
  case Op::Permute:
  case Op::Flip:
  case Op::Pad:
  case Op::Window:
    return spelling(g, node.operands[0]);
  default:
    break;
  }
  std::string text(toString(node.op));
  if (node.op == Op::Binary)
    text = toString(static_cast<BinaryKind>(node.attributes.kind));
  if (node.op == Op::Reduce)
    text = "sum";
  if (node.op == Op::Cast)
    text = toString(node.type.dtype);
  text += "(";
  for (NodeId operand : node.operands)
    text += (text.back() == '(' ? "" : ", ") + spelling(g, operand);
  return text + ")";
}

/// The sum of products of casts, with the casts before or behind the expands.
static NodeId matmul(Graph &g, NodeId a, NodeId b, bool castsFirst) {
  const int64_t m = g.node(a).type.shape[0], k = g.node(a).type.shape[1], n = g.node(b).type.shape[1];
  const DType dtype = g.node(a).type.dtype, wide = accumulatorType(dtype);
  const auto spread = [&](NodeId x, Shape shape) {
    if (castsFirst)
      x = *g.cast(x, wide);
    x = *g.expand(*g.reshape(x, std::move(shape)), {m, n, k});
    return castsFirst ? x : *g.cast(x, wide);
  };
  const NodeId product = *g.binary(BinaryKind::Mul, spread(a, {m, 1, k}), spread(*g.permute(b, {1, 0}), {1, n, k}));
  return *g.cast(*g.reduce(ReduceKind::Add, product, {2}), dtype);
}

TEST(GradientTest, MatricesHaveGradientsThatAreProductsOfMatrices) {
  for (bool castsFirst : {false, true}) {
    Graph g;
    const NodeId a = *g.parameter("a", {DType::BF16, {8, 16}});
    const NodeId b = *g.parameter("b", {DType::BF16, {16, 4}});
    GradientOptions options;
    options.seed = *g.parameter("g", {DType::BF16, {8, 4}});
    const auto gradients = *gradient(g, matmul(g, a, b, castsFirst), {{a, b}}, options);
    // Rounded once, behind the sum.
    EXPECT_EQ(spelling(g, *gradients[0]), "bf16(sum(mul(f32(g), f32(b))))");
    EXPECT_EQ(spelling(g, *gradients[1]), "bf16(sum(mul(f32(g), f32(a))))");
  }
}

TEST(GradientTest, OneFactorOfSeveralProductsGetsProductsOfMatricesToo) {
  Graph g;
  const NodeId a = *g.parameter("a", {DType::F32, {8, 16}});
  const NodeId b = *g.parameter("b", {DType::F32, {16, 4}});
  const NodeId c = *g.parameter("c", {DType::F32, {16, 4}});
  GradientOptions options;
  options.seed = *g.parameter("g", {DType::F32, {8, 4}});
  const NodeId y = *g.binary(BinaryKind::Mul, matmul(g, a, b, true), matmul(g, a, c, true));
  // No sum of a sum of products.
  const auto gradients = *gradient(g, y, {{a}}, options);
  const std::string text = spelling(g, *gradients[0]);
  EXPECT_EQ(text.find("sum(add("), std::string::npos) << text;
  EXPECT_NE(text.find("add(sum(mul("), std::string::npos) << text;
}

TEST(GradientTest, BetweenTwoProductsOfMatricesTheGradientIsNarrow) {
  Graph g;
  const NodeId a = *g.parameter("a", {DType::BF16, {8, 16}});
  const NodeId b = *g.parameter("b", {DType::BF16, {16, 4}});
  const NodeId c = *g.parameter("c", {DType::BF16, {4, 2}});
  GradientOptions options;
  options.seed = *g.parameter("g", {DType::BF16, {8, 2}});
  const NodeId y = matmul(g, matmul(g, a, b, false), c, false);
  const auto gradients = *gradient(g, y, {{a}}, options);
  EXPECT_EQ(spelling(g, *gradients[0]), "bf16(sum(mul(f32(bf16(sum(mul(f32(g), f32(c))))), f32(b))))");
}

TEST(GradientTest, ConvolutionsHaveGradientsThatAreConvolutions) {
  for (bool castsFirst : {false, true})
    for (bool channelsLast : {false, true})
      for (int64_t groups : {1, 2, 4}) {
        Convolution convolution;
        convolution.castsFirst = castsFirst;
        convolution.channelsLast = channelsLast;
        convolution.groups = groups;
        Graph g;
        const NodeId x = *g.parameter("x", {DType::BF16, {2, 4, 9, 7}});
        const NodeId w = *g.parameter("w", {DType::BF16, {4, 4 / groups, 3, 2}});
        GradientOptions options;
        options.seed = *g.parameter("g", {DType::BF16, {2, 4, 7, 6}});
        const auto gradients = *gradient(g, convolution.build(g, x, w), {{x, w}}, options);
        EXPECT_EQ(spelling(g, *gradients[0]), "bf16(sum(mul(f32(g), f32(w))))");
        EXPECT_EQ(spelling(g, *gradients[1]), "bf16(sum(mul(f32(g), f32(x))))");
      }
  // Groups are joined by a reshape of the sum as it is: its factors are permuted, not the sum.
  for (int64_t stride : {1, 2}) {
    const int64_t count = stride == 1 ? 6 : 3;
    const Shape all{2, 2, 2, 7, count, 2, 3, 3};
    Graph g;
    const NodeId x = *g.parameter("x", {DType::F32, {2, 4, 9, 8}});
    const NodeId w = *g.parameter("w", {DType::F32, {4, 2, 3, 3}});
    NodeId windows = *g.reshape(*g.window(x, {2, 3}, {3, 3}, {1, stride}, {1, 1}), {2, 2, 2, 7, count, 3, 3});
    windows = *g.reshape(*g.permute(windows, {0, 1, 3, 4, 2, 5, 6}), {2, 2, 1, 7, count, 2, 3, 3});
    const NodeId products =
        *g.binary(BinaryKind::Mul, *g.expand(windows, all), *g.expand(*g.reshape(w, {1, 2, 2, 1, 1, 2, 3, 3}), all));
    const NodeId y = *g.reshape(*g.reduce(ReduceKind::Add, products, {5, 6, 7}), {2, 4, 7, count});
    GradientOptions options;
    options.seed = *g.parameter("g", {DType::F32, {2, 4, 7, count}});
    NodeId id = *(*gradient(g, y, {{x}}, options))[0];
    if (stride == 2) {
      while (g.node(id).op != Op::Concat)
        id = g.node(id).operands[0];
      id = g.node(id).operands[0];
    }
    while (g.node(id).op == Op::Reshape)
      id = g.node(id).operands[0];
    EXPECT_EQ(g.node(id).op, Op::Reduce);
  }
  // Of windows two steps apart each phase is a convolution: of elements of the filters that are two steps apart.
  for (bool channelsLast : {false, true}) {
    Convolution strided;
    strided.channelsLast = channelsLast;
    strided.stride = {1, 2};
    Graph g;
    const NodeId x = *g.parameter("x", {DType::BF16, {2, 4, 9, 8}});
    const NodeId w = *g.parameter("w", {DType::BF16, {4, 4, 3, 3}});
    GradientOptions options;
    options.seed = *g.parameter("g", {DType::BF16, {2, 4, 7, 3}});
    const auto gradients = *gradient(g, strided.build(g, x, w), {{x}}, options);
    EXPECT_EQ(spelling(g, *gradients[0]), "bf16(concat(sum(mul(f32(g), f32(w))), sum(mul(f32(g), f32(w)))))");
  }
  // So it is with averages, which have no filters.
  {
    Graph g;
    const NodeId x = *g.parameter("x", {DType::F32, {4, 9}});
    GradientOptions options;
    options.seed = *g.parameter("g", {DType::F32, {4, 4}});
    const NodeId y = *g.reduce(ReduceKind::Add, *g.window(x, {1}, {3}, {2}, {1}), {2});
    const auto gradients = *gradient(g, y, {{x}}, options);
    EXPECT_EQ(spelling(g, *gradients[0]), "concat(sum(g), sum(g))");
  }
  // Windows along which filters have one element leave gaps. They are stored and added up.
  Convolution strided;
  strided.stride = {2, 2};
  Graph g;
  const NodeId x = *g.parameter("x", {DType::F32, {2, 4, 9, 8}});
  const NodeId w = *g.parameter("w", {DType::F32, {4, 4, 1, 3}});
  GradientOptions options;
  options.seed = *g.parameter("g", {DType::F32, {2, 4, 5, 3}});
  const auto gradients = *gradient(g, strided.build(g, x, w), {{x}}, options);
  EXPECT_EQ(spelling(g, *gradients[0]), "add(add(sum(mul(g, f32(w))), sum(mul(g, f32(w)))), sum(mul(g, f32(w))))");
}
