//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Graph/UnaryKind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

using namespace zyx;
using namespace zyx::graph;
using testing::HasSubstr;

namespace {
template <typename T> std::vector<std::byte> bytesOf(std::vector<T> values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// y = reduce max (exp (x + 1)) over rows, built after `noise` unrelated nodes.
Graph example(int noise = 0) {
  Graph graph;
  for (int i = 0; i < noise; ++i)
    EXPECT_TRUE(graph.iota({DType::I32, {i + 2}}, 0).isOk());
  const TensorType type{DType::F32, {2, 3}};
  const NodeId x = *graph.parameter("x", type);
  const NodeId one = *graph.splat(type, bytesOf<float>({1}));
  const NodeId sum = *graph.binary(BinaryKind::Add, x, one);
  const NodeId y = *graph.reduce(ReduceKind::Max, *graph.unary(UnaryKind::Exp, sum), {1});
  graph.inputs = {x};
  graph.outputs = {{"y", y}};
  return graph;
}
} // namespace

TEST(GraphTest, EqualNodesAreOne) {
  Graph graph;
  const TensorType type{DType::F32, {2, 3}};
  const NodeId x = *graph.parameter("x", type), y = *graph.parameter("y", type);
  const NodeId sum = *graph.binary(BinaryKind::Add, x, y);
  EXPECT_EQ(*graph.binary(BinaryKind::Add, x, y), sum);
  EXPECT_EQ(*graph.parameter("x", type), x);
  EXPECT_NE(*graph.binary(BinaryKind::Add, y, x), sum);
  EXPECT_NE(*graph.binary(BinaryKind::Sub, x, y), sum);
  EXPECT_NE(*graph.reduce(ReduceKind::Add, x, {0}), *graph.reduce(ReduceKind::Add, x, {1}));
  EXPECT_NE(*graph.reshape(x, {6}), *graph.reshape(x, {3, 2}));
  EXPECT_NE(*graph.iota({DType::I32, {2, 2}}, 0), *graph.iota({DType::I32, {2, 2}}, 1));
  EXPECT_NE(*graph.splat(type, bytesOf<float>({0.f})), *graph.splat(type, bytesOf<float>({-0.f})));
  EXPECT_EQ(graph.node(sum).operands, (std::vector<NodeId>{x, y}));
}

TEST(GraphTest, ConstantsHaveOneForm) {
  Graph graph;
  const TensorType type{DType::I32, {3}};
  const NodeId splat = *graph.splat(type, bytesOf<int32_t>({7}));
  EXPECT_EQ(*graph.constant(type, bytesOf<int32_t>({7, 7, 7})), splat);
  EXPECT_TRUE(graph.node(splat).attributes.splat);
  const NodeId dense = *graph.constant(type, bytesOf<int32_t>({7, 7, 8}));
  EXPECT_FALSE(graph.node(dense).attributes.splat);
  const NodeId scalar = *graph.constant({DType::I32, {}}, bytesOf<int32_t>({7}));
  EXPECT_TRUE(graph.node(scalar).attributes.splat);
  const NodeId empty = *graph.constant({DType::I32, {0}}, {});
  EXPECT_EQ(*graph.splat({DType::I32, {0}}, bytesOf<int32_t>({7})), empty);
  EXPECT_FALSE(graph.node(empty).attributes.splat);
}

TEST(GraphTest, EveryBuilderBuilds) {
  Graph graph;
  const NodeId x = *graph.parameter("x", {DType::F32, {2, 1, 3}});
  EXPECT_EQ(graph.node(*graph.reshape(x, {6})).type.shape, (Shape{6}));
  EXPECT_EQ(graph.node(*graph.expand(x, {2, 4, 3})).type.shape, (Shape{2, 4, 3}));
  EXPECT_EQ(graph.node(*graph.permute(x, {2, 1, 0})).type.shape, (Shape{3, 1, 2}));
  EXPECT_EQ(graph.node(*graph.cast(x, DType::BF16)).type, (TensorType{DType::BF16, {2, 1, 3}}));
  const NodeId less = *graph.binary(BinaryKind::Lt, x, x);
  EXPECT_EQ(graph.node(*graph.select(less, x, x)).type.dtype, DType::F32);
  const NodeId iota = *graph.iota({DType::U8, {5}}, 0);
  EXPECT_EQ(graph.node(*graph.gather(x, iota, 1)).type.shape, (Shape{2, 5, 3}));
}

TEST(GraphTest, BindParametersListsEachOnce) {
  Graph graph;
  const TensorType type{DType::F32, {2}};
  const NodeId weights = *graph.parameter("weights", type), x = *graph.parameter("x", type);
  graph.inputs = {x};
  graph.bindParameters();
  EXPECT_EQ(graph.inputs, (std::vector<NodeId>{x, weights}));
  graph.bindParameters();
  EXPECT_EQ(graph.inputs.size(), 2u);
  EXPECT_EQ(graph.numWeights, 1u);
}

TEST(GraphTest, WeightsArePartOfWhatIsComputed) {
  Graph graph;
  graph.inputs = {*graph.parameter("x", {DType::F32, {2}})};
  graph.outputs = {{"y", *graph.unary(UnaryKind::Exp, graph.inputs[0])}};
  const Hash128 input = graph.canonicalHash();
  graph.numWeights = 1;
  EXPECT_TRUE(graph.verify().isOk());
  EXPECT_NE(graph.canonicalHash(), input);
  auto back = Graph::deserialize(graph.serialize());
  ASSERT_TRUE(back.isOk());
  EXPECT_EQ(back->numWeights, 1u);
  graph.numWeights = 2;
  EXPECT_EQ(graph.verify().message(), "graph main has 2 weights among 1 inputs");
}

TEST(GraphTest, RefusesOperandsThatDoNotExist) {
  Graph graph;
  const std::string reason = "has the operand 4 of a graph with 0 nodes";
  EXPECT_THAT(graph.unary(UnaryKind::Exp, 4).status().message(), HasSubstr("unary " + reason));
  EXPECT_THAT(graph.reshape(4, {1}).status().message(), HasSubstr("reshape " + reason));
  EXPECT_THAT(graph.expand(4, {1}).status().message(), HasSubstr("expand " + reason));
  EXPECT_THAT(graph.cast(4, DType::F32).status().message(), HasSubstr("cast " + reason));
}

TEST(GraphTest, RefusesManyOperands) {
  Graph graph;
  const NodeId x = *graph.parameter("x", {DType::F32, {2}});
  EXPECT_EQ(graph.add(Op::Binary, {{x, x, x}}, {}).status().message(), "binary takes 2 operands, not 3");
  EXPECT_EQ(graph.add(Op::Select, {{x, x, x, x}}, {}).status().message(), "select takes 3 operands, not 4");
}

TEST(GraphTest, FindsEachOfManyNodes) {
  Graph graph;
  std::vector<NodeId> ids;
  for (int i = 0; i < 3000; ++i)
    ids.push_back(*graph.iota({DType::I32, {i + 1}}, 0));
  for (int i = 0; i < 3000; ++i)
    EXPECT_EQ(*graph.iota({DType::I32, {i + 1}}, 0), ids[i]);
  EXPECT_EQ(graph.size(), 3000u);
}

TEST(GraphTest, RefusesAParameterOfTwoTypes) {
  Graph graph;
  ASSERT_TRUE(graph.parameter("x", {DType::F32, {2}}).isOk());
  EXPECT_EQ(graph.parameter("x", {DType::F32, {3}}).status().message(),
            "parameter x is declared twice, as f32[2] and as f32[3]");
  EXPECT_EQ(graph.size(), 1u);
}

TEST(GraphTest, KeepsTheFirstLocation) {
  Graph graph;
  Attributes attributes;
  attributes.name = "x";
  const NodeId x = *graph.add(Op::Parameter, {}, attributes, {DType::F32, {}}, {"a.mlir", 3, 7});
  EXPECT_EQ(*graph.add(Op::Parameter, {}, attributes, {DType::F32, {}}, {"b.mlir", 1, 1}), x);
  EXPECT_EQ(graph.location(x).file, "a.mlir");
  EXPECT_EQ(graph.location(x).line, 3u);
  EXPECT_EQ(graph.location(x).column, 7u);
}

TEST(GraphTest, CopiesGrowApart) {
  Graph graph;
  NodeId x = *graph.parameter("x", {DType::F32, {4}});
  for (int i = 0; i < 300; ++i)
    x = *graph.add(Op::Unary, {{x}}, {}, {}, {"a.mlir", 1, 1});
  Graph copy = graph, assigned;
  assigned = copy;
  const NodeId here = *graph.binary(BinaryKind::Add, x, x), there = *copy.binary(BinaryKind::Mul, x, x);
  EXPECT_EQ(here, there);
  EXPECT_NE(graph.node(here).attributes, copy.node(there).attributes);
  EXPECT_EQ(assigned.size(), 301u);
  EXPECT_EQ(assigned.location(x).file, "a.mlir");
  // A node that is there is found in each.
  EXPECT_EQ(*copy.add(Op::Unary, {{0}}, {}), 1u);
  EXPECT_EQ(*assigned.binary(BinaryKind::Sub, x, x), 301u);
  // Names belong to the graph that has the nodes.
  const std::string_view file = assigned.location(x).file;
  const Graph moved = std::move(assigned);
  EXPECT_EQ(moved.location(x).file.data(), file.data());
  assigned = Graph();
  const NodeId y = *assigned.parameter("y", {DType::F32, {4}});
  EXPECT_EQ(assigned.location(*assigned.add(Op::Unary, {{y}}, {}, {}, {"b.mlir", 2, 1})).file, "b.mlir");
}

TEST(GraphTest, VerifiesInputsAndOutputs) {
  EXPECT_TRUE(example().verify().isOk());
  EXPECT_TRUE(Graph().verify().isOk());
  const auto reason = [](auto change) {
    Graph graph = example();
    change(graph);
    return graph.verify().message();
  };
  EXPECT_EQ(reason([](Graph &g) { g.inputs = {1}; }), "input 1 of graph main is not a parameter");
  EXPECT_EQ(reason([](Graph &g) { g.inputs = {99}; }), "input 99 of graph main is not a parameter");
  EXPECT_EQ(reason([](Graph &g) { g.inputs.push_back(g.inputs[0]); }), "input x of graph main is listed twice");
  EXPECT_EQ(reason([](Graph &g) { g.outputs[0].node = 99; }), "output y of graph main is node 99 of 5");
  EXPECT_EQ(reason([](Graph &g) { g.outputs[0].name = ""; }), "an output of graph main has no name");
  EXPECT_EQ(reason([](Graph &g) { g.outputs.push_back({"y", 0}); }), "graph main has two outputs named y");
  EXPECT_EQ(reason([](Graph &g) { g.inputs.clear(); }), "") << "x is then bound at load";
}

TEST(GraphTest, ReachableIsInOrder) {
  const Graph graph = example(3);
  EXPECT_EQ(graph.reachable(), (std::vector<NodeId>{3, 4, 5, 6, 7}));
}

TEST(GraphTest, LongChainsNeedNoStack) {
  Graph graph;
  NodeId x = *graph.parameter("x", {DType::I32, {2}});
  graph.inputs = {x};
  const NodeId one = *graph.splat({DType::I32, {2}}, bytesOf<int32_t>({1}));
  for (int i = 0; i < 100000; ++i)
    x = *graph.binary(BinaryKind::Add, x, one);
  graph.outputs = {{"y", x}};
  EXPECT_EQ(graph.reachable().size(), 100002u);
  EXPECT_TRUE(graph.verify().isOk());
}

TEST(GraphTest, HashSeesWhatIsComputed) {
  const Hash128 hash = example().canonicalHash();
  EXPECT_EQ(example(4).canonicalHash(), hash) << "unreachable nodes do not count";

  Graph located = example();
  Graph other;
  for (NodeId id = 0; id < located.size(); ++id) {
    const Node &node = located.node(id);
    ASSERT_EQ(*other.add(node.op, node.operands, node.attributes, node.type, {"f.mlir", id, 1}), id);
  }
  other.inputs = located.inputs;
  other.outputs = located.outputs;
  EXPECT_EQ(other.canonicalHash(), hash) << "locations do not count";

  const auto changed = [](auto change) {
    Graph graph = example();
    change(graph);
    return graph.canonicalHash();
  };
  EXPECT_NE(changed([](Graph &g) { g.outputs[0].name = "z"; }), hash);
  EXPECT_NE(changed([](Graph &g) { g.name = "other"; }), hash);
  EXPECT_NE(changed([](Graph &g) { g.outputs[0].node = 2; }), hash);
  EXPECT_NE(changed([](Graph &g) { g.outputs.push_back({"sum", 2}); }), hash);
  EXPECT_NE(changed([](Graph &g) { g.inputs.push_back(*g.parameter("u", {DType::F32, {1}})); }), hash);
  EXPECT_NE(changed([](Graph &g) { g.outputs[0].node = *g.unary(UnaryKind::Exp, 0); }),
            changed([](Graph &g) { g.outputs[0].node = *g.unary(UnaryKind::Log, 0); }));
}
