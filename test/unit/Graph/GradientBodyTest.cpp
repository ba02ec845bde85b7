//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GradientCheck.h"

using namespace zyx;
using namespace zyx::graph;

static const TensorType number{DType::I64, {}};

/// (i, h, n, w, x) -> (tanh(h * w + x[i]), n + i, ...): a recurrent cell with a counter.
static Body cell(int64_t width, int64_t trips) {
  Graph g;
  const TensorType row{DType::F64, {width}};
  g.inputs = {*g.parameter("i", number), *g.parameter("h", row), *g.parameter("n", number), *g.parameter("w", row),
              *g.parameter("x", {DType::F64, {trips, width}})};
  const NodeId input = *g.gather(g.inputs[4], g.inputs[0], 0);
  const NodeId sum = *g.binary(BinaryKind::Add, *g.binary(BinaryKind::Mul, g.inputs[1], g.inputs[3]), input);
  g.outputs = {{"h", *g.unary(UnaryKind::Tanh, sum)}, {"n", *g.binary(BinaryKind::Add, g.inputs[2], g.inputs[0])}};
  return *Body::create(g);
}

TEST(GradientBodyTest, LoopIsTheDifference) {
  Random random(41);
  for (int64_t trips : {0, 1, 2, 5}) {
    SCOPED_TRACE(trips);
    expectGradient(
        [&](TestGraph &g, const std::vector<NodeId> &x) {
          const NodeId zero = g.scalar(DType::I64, {}, 0);
          return (*g.loop(cell(2, trips), trips, {{x[0], zero}}, {{x[1], x[2]}}))[0];
        },
        {random.values({2}), random.values({2}), random.values({trips, 2})});
  }
}

TEST(GradientBodyTest, CarriedCountersAreStored) {
  // h = h * n^2, n = n + 2 from 1 on: the second carried value is no float, and its square is read.
  Graph body;
  body.inputs = {*body.parameter("i", number), *body.parameter("h", {DType::F64, {}}), *body.parameter("n", number)};
  const NodeId n = *body.cast(body.inputs[2], DType::F64);
  const NodeId two = *body.binary(BinaryKind::Add, *body.splat(number, tensor(DType::I64, {}, {1}).data),
                                  *body.splat(number, tensor(DType::I64, {}, {1}).data));
  body.outputs = {{"h", *body.binary(BinaryKind::Mul, body.inputs[1], *body.binary(BinaryKind::Mul, n, n))},
                  {"n", *body.binary(BinaryKind::Add, body.inputs[2], two)}};
  TestGraph g;
  const NodeId h = g.input(tensor(DType::F64, {}, {2}));
  const NodeId y = (*g.loop(*Body::create(body), 3, {{h, g.scalar(DType::I64, {}, 1)}}))[0];
  expectNumbers(g.run(derivative(g, y, h)), {225});
}

TEST(GradientBodyTest, SeveralResultsOfALoop) {
  // (a, b) -> (b * w, a + b): both results, one of which is used before the other one exists.
  Graph body;
  const TensorType row{DType::F64, {2}};
  body.inputs = {*body.parameter("i", number), *body.parameter("a", row), *body.parameter("b", row),
                 *body.parameter("w", row)};
  body.outputs = {{"a", *body.binary(BinaryKind::Mul, body.inputs[2], body.inputs[3])},
                  {"b", *body.binary(BinaryKind::Add, body.inputs[1], body.inputs[2])}};
  const Body both = *Body::create(body);
  Random random(42);
  const auto program = [&](TestGraph &g, const std::vector<NodeId> &x) {
    Attributes attributes;
    attributes.body = both;
    attributes.trips = 3;
    const NodeId a = *g.add(Op::Loop, x, attributes);
    const NodeId used = *g.unary(UnaryKind::Sin, a);
    attributes.result = 1;
    const NodeId b = *g.add(Op::Loop, x, attributes);
    return *g.binary(BinaryKind::Mul, used, b);
  };
  expectGradient(program, {random.values({2}), random.values({2}), random.values({2})});
  // The second result alone.
  expectGradient(
      [&](TestGraph &g, const std::vector<NodeId> &x) { return (*g.loop(both, 3, {{x[0], x[1]}}, {{x[2]}}))[1]; },
      {random.values({2}), random.values({2}), random.values({2})});
}

TEST(GradientBodyTest, LoopsInLoops) {
  // h = (h * w five times), twice.
  Graph inner;
  const TensorType row{DType::F64, {2}};
  inner.inputs = {*inner.parameter("i", number), *inner.parameter("h", row), *inner.parameter("w", row)};
  inner.outputs = {
      {"h", *inner.unary(UnaryKind::Sin, *inner.binary(BinaryKind::Mul, inner.inputs[1], inner.inputs[2]))}};
  Graph outer;
  outer.inputs = {*outer.parameter("i", number), *outer.parameter("h", row), *outer.parameter("w", row)};
  outer.outputs = {{"h", (*outer.loop(*Body::create(inner), 3, {{outer.inputs[1]}}, {{outer.inputs[2]}}))[0]}};
  Random random(43);
  expectGradient(
      [&](TestGraph &g, const std::vector<NodeId> &x) {
        return (*g.loop(*Body::create(outer), 2, {{x[0]}}, {{x[1]}}))[0];
      },
      {random.values({2}), random.values({2})});
}

TEST(GradientBodyTest, WhatALoopForgetsHasNoGradient) {
  // h = w: the initial value counts where there is no trip.
  Graph body;
  const TensorType row{DType::F64, {2}};
  body.inputs = {*body.parameter("i", number), *body.parameter("h", row), *body.parameter("w", row)};
  body.outputs = {{"h", body.inputs[2]}};
  const Body forget = *Body::create(body);
  for (int64_t trips : {0, 2}) {
    TestGraph g;
    const NodeId h = g.input(vector({1, 2})), w = g.input(vector({3, 4}));
    const NodeId y = (*g.loop(forget, trips, {{h}}, {{w}}))[0];
    const auto gradients = *gradient(g, y, {{h}});
    EXPECT_EQ(gradients[0].has_value(), trips == 0);
    const double expected = trips == 0 ? 0 : 1;
    expectNumbers(g.run(derivative(g, y, w)), {expected, expected});
  }
}

TEST(GradientBodyTest, LoopsWhoseTripsAreDataAreRefused) {
  TestGraph g;
  const NodeId count = g.input(tensor(DType::I64, {}, {2}));
  const NodeId h = g.input(vector({1, 2})), w = g.input(vector({1, 2})), zero = g.scalar(DType::I64, {}, 0);
  const NodeId x = g.input(tensor(DType::F64, {3, 2}, {1, 2, 3, 4, 5, 6}));
  const NodeId y = (*g.countedLoop(cell(2, 3), count, {{h, zero}}, {{w, x}}))[0];
  EXPECT_EQ(gradient(g, y, {{w}}).status().message(),
            "gradient of loop of f64[2]: how often its body is evaluated is data, so that nobody "
            "knows how much of what it carries is to be stored; give it a constant number of trips, or "
            "one of data and a constant as the smaller of both");
}

TEST(GradientBodyTest, LoopsThatAConditionEndsAreRefused) {
  Graph body;
  const TensorType scalar{DType::F64, {}}, truth{DType::Bool, {}};
  body.inputs = {*body.parameter("i", number), *body.parameter("go", truth), *body.parameter("x", scalar)};
  const NodeId next = *body.binary(BinaryKind::Add, body.inputs[2], body.inputs[2]);
  body.outputs = {{"go", *body.binary(BinaryKind::Lt, next, *body.unary(UnaryKind::Neg, next))}, {"x", next}};
  TestGraph g;
  const NodeId x = g.input(tensor(DType::F64, {}, {1})), go = g.scalar(DType::Bool, {}, 0);
  const NodeId y = (*g.whileLoop(*Body::create(body), {{go, x}}))[1];
  EXPECT_EQ(gradient(g, y, {{x}}).status().message(),
            "gradient of loop of f64[]: how often its body is evaluated is known behind its last trip alone, so that "
            "nobody knows how much of what it carries is to be stored; give it a constant number of trips");
}

TEST(GradientBodyTest, LoopsOfSoManyTripsOrFewer) {
  // As many trips as data says, at most three.
  Random random(44);
  for (int64_t trips : {-1, 0, 1, 2, 3, 9}) {
    const auto program = [&](TestGraph &g, const std::vector<NodeId> &x) {
      const NodeId count =
          *g.binary(BinaryKind::Min, g.input(tensor(DType::I64, {}, {double(trips)})), g.scalar(DType::I64, {}, 3));
      const NodeId zero = g.scalar(DType::I64, {}, 0);
      return (*g.countedLoop(cell(2, 3), count, {{x[0], zero}}, {{x[1], x[2]}}))[0];
    };
    expectGradient(program, {random.values({2}), random.values({2}), random.values({3, 2})});
  }
}

TEST(GradientBodyTest, BranchesAreLoopsOfAtMostOneTrip) {
  // h = sin(h w) where the condition is true; else h. And one that forgets what it is given.
  const TensorType row{DType::F64, {2}};
  Graph body, forget;
  body.inputs = {*body.parameter("i", number), *body.parameter("h", row), *body.parameter("w", row)};
  body.outputs = {{"h", *body.unary(UnaryKind::Sin, *body.binary(BinaryKind::Mul, body.inputs[1], body.inputs[2]))}};
  forget.inputs = {*forget.parameter("i", number), *forget.parameter("h", row), *forget.parameter("w", row)};
  forget.outputs = {{"h", forget.inputs[2]}};
  Random random(45);
  for (const Graph *branch : {&body, &forget})
    for (double condition : {0.0, 1.0}) {
      const auto program = [&](TestGraph &g, const std::vector<NodeId> &x) {
        const NodeId count = *g.cast(g.input(tensor(DType::Bool, {}, {condition})), DType::I64);
        return (*g.countedLoop(*Body::create(*branch), count, {{x[0]}}, {{x[1]}}))[0];
      };
      expectGradient(program, {random.values({2}), random.values({2})});
    }
}

TEST(GradientBodyTest, SumsOverTripsAreNotRoundedInHalves) {
  // h = h + w, 4100 times, in f16: the gradient of w is 4100.
  Graph body;
  const TensorType scalar{DType::F16, {}};
  body.inputs = {*body.parameter("i", number), *body.parameter("h", scalar), *body.parameter("w", scalar)};
  body.outputs = {{"h", *body.binary(BinaryKind::Add, body.inputs[1], body.inputs[2])}};
  TestGraph g;
  const NodeId h = g.input(tensor(DType::F16, {}, {1})), w = g.input(tensor(DType::F16, {}, {1}));
  const NodeId y = (*g.loop(*Body::create(body), 4100, {{h}}, {{w}}))[0];
  expectNumbers(g.run(derivative(g, y, w)), {4100});
}

/// (a, b) -> (exp(a) * b, sin(b)), of three numbers each.
static Body twoResults() {
  Graph body;
  const TensorType row{DType::F64, {3}};
  body.inputs = {*body.parameter("a", row), *body.parameter("b", row)};
  body.outputs = {{"y", *body.binary(BinaryKind::Mul, *body.unary(UnaryKind::Exp, body.inputs[0]), body.inputs[1])},
                  {"z", *body.unary(UnaryKind::Sin, body.inputs[1])}};
  return *Body::create(body);
}

TEST(GradientBodyTest, CustomIsTheDifferenceOfItsBody) {
  // Of values that depend on each other.
  const Body both = twoResults();
  Random random(44);
  expectGradient(
      [&](TestGraph &g, const std::vector<NodeId> &x) {
        const std::vector<NodeId> results = *g.custom("two", "", both, {{x[0], *g.unary(UnaryKind::Exp, x[0])}});
        return *g.binary(BinaryKind::Mul, results[0], results[1]);
      },
      {random.values({3})});

  // An operand that equals what the body computes is an operand all the same.
  TestGraph g;
  const NodeId x = g.input(vector({0, 1, 2}));
  const NodeId leaf = *g.unary(UnaryKind::Exp, x);
  const NodeId y = (*g.custom("two", "", both, {{x, leaf}}))[0];
  GradientOptions options;
  options.isLeaf = [&](NodeId id) { return id == leaf; };
  const NodeId dx = *(*gradient(g, y, {{x}}, options))[0];
  EXPECT_EQ(g.run(dx), g.run(*g.binary(BinaryKind::Mul, leaf, leaf)));

  // Of the second result nothing depends on the first operand.
  EXPECT_FALSE((*gradient(g, *g.otherResult(y, 1), {{x}}, options))[0]);
}

TEST(GradientBodyTest, CheckpointsAreComputedAgain) {
  const TensorType row{DType::F64, {3}};
  const Body both = twoResults();
  Random random(47);
  // Twice, and one in the other.
  expectGradient(
      [&](TestGraph &g, const std::vector<NodeId> &x) {
        const std::vector<NodeId> first = *g.custom(std::string(checkpointName), "", both, {{x[0], x[1]}});
        const std::vector<NodeId> second = *g.custom(std::string(checkpointName), "", both, {{first[1], first[0]}});
        return *g.binary(BinaryKind::Mul, second[0], second[1]);
      },
      {random.values({3}), random.values({3})});
  Graph outer;
  outer.inputs = {*outer.parameter("a", row)};
  outer.outputs = {{"y", (*outer.custom(std::string(checkpointName), "", both,
                                        {{outer.inputs[0], *outer.unary(UnaryKind::Cos, outer.inputs[0])}}))[0]}};
  const Body nested = *Body::create(outer);
  expectGradient(
      [&](TestGraph &g, const std::vector<NodeId> &x) {
        return (*g.custom(std::string(checkpointName), "", nested, x))[0];
      },
      {random.values({3})});

  // What is recomputed waits for the gradient that comes in, and is told from what was.
  TestGraph g;
  const NodeId x = g.input(vector({0, 1, 2})), w = g.input(vector({3, 4, 5})), seed = g.input(vector({1, 2, 3}));
  const NodeId forward = *g.unary(UnaryKind::Exp, x);
  const NodeId y = (*g.custom(std::string(checkpointName), "", both, {{x, w}}))[0];
  GradientOptions options;
  options.seed = seed;
  const NodeId dw = *(*gradient(g, y, {{w}}, options))[0];
  EXPECT_EQ(g.run(dw), g.run(*g.binary(BinaryKind::Mul, seed, forward)));
  g.outputs = {{"dw", dw}};
  int again = 0;
  for (NodeId id : g.reachable()) {
    EXPECT_NE(id, forward);
    if (g.node(id).op != Op::Unary)
      continue;
    const Node &held = g.node(g.node(id).operands[0]);
    ASSERT_EQ(held.op, Op::Custom);
    EXPECT_EQ(held.attributes.name, recomputeName);
    EXPECT_EQ(held.operands, (std::vector<NodeId>{x, w, seed}));
    ++again;
  }
  EXPECT_EQ(again, 1);
}

TEST(GradientBodyTest, RefusalsInBodiesAreRefused) {
  Graph body;
  body.inputs = {*body.parameter("a", {DType::F64, {2}})};
  body.outputs = {{"y", *body.transfer(body.inputs[0], "cpu")}};
  TestGraph g;
  const NodeId x = g.input(vector({0, 1}));
  const NodeId y = (*g.custom("there", "", *Body::create(body), {{x}}))[0];
  EXPECT_EQ(gradient(g, y, {{x}}).status().message(),
            "gradient of custom of f64[2]: gradient of transfer of f64[2]: nobody says where its "
            "operand lies; give deviceOf");
}
