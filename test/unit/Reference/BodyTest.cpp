//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TestGraph.h"

#include <gmock/gmock.h>

using namespace zyx;
using namespace zyx::reference;
using graph::BinaryKind;
using graph::Body;
using graph::Graph;
using graph::NodeId;
using graph::ReduceKind;
using graph::UnaryKind;
using testing::HasSubstr;

namespace {

const TensorType number{DType::I64, {}};

/// (i, a, b, w) -> (b, a + i * w): Fibonacci and sums.
Body step(const TensorType &type = number) {
  Graph g;
  g.inputs = {*g.parameter("i", number), *g.parameter("a", type), *g.parameter("b", type), *g.parameter("w", type)};
  const NodeId scaled = *g.binary(BinaryKind::Mul, g.inputs[0], g.inputs[3]);
  g.outputs = {{"b", g.inputs[2]}, {"c", *g.binary(BinaryKind::Add, g.inputs[1], scaled)}};
  return *Body::create(g);
}

/// (i, p) -> 2 p over vectors.
Body twice() {
  Graph g;
  g.inputs = {*g.parameter("i", number), *g.parameter("p", {DType::F32, {2}})};
  g.outputs = {{"r", *g.binary(BinaryKind::Add, g.inputs[1], g.inputs[1])}};
  return *Body::create(g);
}

} // namespace

TEST(BodyTest, LoopsCarryValues) {
  TestGraph g;
  const NodeId one = g.scalar(DType::I64, {}, 1), ten = g.scalar(DType::I64, {}, 10);
  // (a, b) -> (b, a + 10 i): (1, 2), (2, 1), (1, 12), (12, 21), (21, 42)
  const NodeId two = g.input(tensor(DType::I64, {}, {2}));
  const auto results = [&](int64_t trips) {
    const std::vector<NodeId> nodes = *g.loop(step(), trips, {{one, two}}, {{ten}});
    return std::pair(numbers(g.run(nodes[0]))[0], numbers(g.run(nodes[1]))[0]);
  };
  EXPECT_EQ(results(0), std::pair(1.0, 2.0));
  EXPECT_EQ(results(1), std::pair(2.0, 1.0));
  EXPECT_EQ(results(2), std::pair(1.0, 12.0));
  EXPECT_EQ(results(4), std::pair(21.0, 42.0));
  // Both results at once, used together with views and computed operands.
  const NodeId sum = *g.binary(BinaryKind::Add, one, one);
  const std::vector<NodeId> both = *g.loop(step(), 2, {{one, sum}}, {{ten}});
  expectNumbers(g.run(*g.binary(BinaryKind::Sub, both[1], both[0])), {11});
}

TEST(BodyTest, CountsMayBeData) {
  for (int64_t count : {3, 1, 0, -7}) {
    TestGraph g;
    const NodeId n = g.input(tensor(DType::I64, {1}, {double(count)}));
    const NodeId x = g.input(DType::F32, {1, -3});
    const NodeId y = (*g.countedLoop(twice(), *g.reshape(n, {}), {{x}}))[0];
    const double factor = std::exp2(double(std::max<int64_t>(count, 0)));
    expectNumbers(g.run(y), {factor, -3 * factor});
  }
}

TEST(BodyTest, LoopsMayGoOnWhileAConditionIsTrue) {
  // x = 2 x while x < 100.
  for (double first : {1.0, 60.0, 100.0, 500.0}) {
    TestGraph g;
    Graph body;
    const TensorType scalar{DType::F32, {}}, truth{DType::Bool, {}};
    body.inputs = {*body.parameter("i", number), *body.parameter("go", truth), *body.parameter("x", scalar),
                   *body.parameter("most", scalar)};
    const NodeId next = *body.binary(BinaryKind::Add, body.inputs[2], body.inputs[2]);
    body.outputs = {{"go", *body.binary(BinaryKind::Lt, next, body.inputs[3])}, {"x", next}};
    const NodeId x = g.input(tensor(DType::F32, {}, {first})), most = g.scalar(DType::F32, {}, 100);
    const NodeId go = *g.binary(BinaryKind::Lt, x, most);
    const std::vector<NodeId> results = *g.whileLoop(*Body::create(body), {{go, x}}, {{most}});
    double expected = first;
    while (expected < 100)
      expected *= 2;
    expectNumbers(g.run(results[1]), {expected});
    expectNumbers(g.run(results[0]), {0});
  }
}

TEST(BodyTest, LoopsNestAndOperandsAreAnything) {
  Graph around;
  around.inputs = {*around.parameter("i", number), *around.parameter("p", {DType::F32, {2}})};
  const NodeId inner = (*around.countedLoop(twice(), around.inputs[0], {{around.inputs[1]}}))[0];
  around.outputs = {{"r", inner}};
  const Body triangle = *Body::create(around);
  // 2 to the power of 0 + 1 + 2 + 3.
  TestGraph g;
  const NodeId x = g.input(tensor(DType::F32, {2, 1}, {1, 3}));
  expectNumbers(g.run((*g.loop(triangle, 4, {{*g.reshape(x, {2})}}))[0]), {64, 192});
  expectNumbers(g.run((*g.loop(twice(), 1, {{*g.iota({DType::F32, {2}}, 0)}}))[0]), {0, 2});
  const NodeId splat = g.scalar(DType::F32, {2}, 5);
  expectNumbers(g.run((*g.loop(twice(), 1, {{splat}}))[0]), {10, 10});
  const NodeId folded = *g.reduce(ReduceKind::Add, x, {1});
  const NodeId looped = (*g.loop(twice(), 1, {{*g.unary(UnaryKind::Neg, folded)}}))[0];
  expectNumbers(g.run(*g.flip(looped, {0})), {-6, -2});
}

TEST(BodyTest, CustomsMeanTheirBody) {
  Graph body;
  body.inputs = {*body.parameter("x", {DType::F32, {2}})};
  body.outputs = {{"x", body.inputs[0]}, {"n", *body.unary(UnaryKind::Neg, body.inputs[0])}};
  TestGraph g;
  const NodeId x = g.input(DType::F32, {1, -3});
  const std::vector<NodeId> results = *g.custom("c", "", *Body::create(body), {{x}});
  expectNumbers(g.run(results[0]), {1, -3});
  expectNumbers(g.run(results[1]), {-1, 3});
}

TEST(BodyTest, MemoryIsCounted) {
  TestGraph g;
  const TensorType large{DType::F32, {1000}};
  Graph body;
  body.inputs = {*body.parameter("i", number), *body.parameter("x", large)};
  const NodeId t = *body.unary(UnaryKind::Neg, body.inputs[1]);
  body.outputs = {{"t", t}};
  const NodeId x = g.input(tensor(DType::F32, {1000}, std::vector<double>(1000)));
  g.outputs = {{"y", (*g.loop(*Body::create(body), 2, {{x}}))[0]}};
  const auto status = [&](int64_t maxBytes) { return evaluate(g, g.tensors, {maxBytes}).status(); };
  EXPECT_TRUE(status(8000).isOk());
  EXPECT_EQ(status(7999).code(), ErrorCode::OutOfMemory);
  EXPECT_THAT(status(7999).toString(), HasSubstr("loop, f32[1000]"));
}
