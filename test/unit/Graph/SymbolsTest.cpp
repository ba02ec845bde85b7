//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Graph/Symbols.h"
#include "zyx/Graph/UnaryKind.h"

#include "Graph/InferSymbolic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using namespace zyx::graph;
using testing::HasSubstr;

namespace {

TensorType typeOf(std::vector<std::string> texts, DType dtype = DType::F32) {
  std::vector<Extent> extents;
  for (const std::string &text : texts)
    extents.push_back(*Extent::parse(text));
  return symbolicType(dtype, std::move(extents));
}

std::string textOf(const Graph &graph, const Result<NodeId> &node) {
  return node.isOk() ? toString(graph.node(*node).type) : "refused: " + node.status().message();
}

Result<NodeId> reshape(Graph &graph, NodeId x, std::vector<std::string> texts) {
  return graph.add(Op::Reshape, {{x}}, {}, typeOf(std::move(texts)));
}

/// y = sum of each row of x [n, 2*m] added to b [n].
Graph rowSums() {
  Graph graph;
  const NodeId x = *graph.parameter("x", typeOf({"n", "2*m"}));
  const NodeId b = *graph.parameter("b", typeOf({"n"}));
  const NodeId sums = *graph.reduce(ReduceKind::Add, x, {1});
  graph.inputs = {x, b};
  graph.outputs = {{"y", *graph.binary(BinaryKind::Add, sums, b)}};
  return graph;
}

} // namespace

TEST(SymbolsTest, TypesFollowTheRulesOnNumbers) {
  Graph graph;
  const NodeId x = *graph.parameter("x", typeOf({"n", "m", "3"}));
  EXPECT_EQ(textOf(graph, graph.permute(x, {2, 0, 1})), "f32[3, n, m]");
  EXPECT_EQ(textOf(graph, graph.reduce(ReduceKind::Max, x, {1})), "f32[n, 3]");
  EXPECT_EQ(textOf(graph, graph.cast(x, DType::F16)), "f16[n, m, 3]");
  EXPECT_EQ(textOf(graph, reshape(graph, x, {"m", "3*n"})), "f32[m, 3*n]");
  EXPECT_EQ(textOf(graph, reshape(graph, x, {"3*m*n"})), "f32[3*m*n]");
  const NodeId flat = *reshape(graph, x, {"3*m*n"});
  EXPECT_EQ(textOf(graph, reshape(graph, flat, {"n", "m", "3"})), "f32[n, m, 3]");
  const NodeId indices = *graph.parameter("i", typeOf({"2*k + 1"}, DType::I64));
  EXPECT_EQ(textOf(graph, graph.gather(x, indices, 1)), "f32[n, 2*k + 1, 3]");
  EXPECT_EQ(textOf(graph, graph.iota(typeOf({"n", "4"}, DType::I64), 0)), "i64[n, 4]");
  EXPECT_EQ(textOf(graph, graph.binary(BinaryKind::Lt, x, x)), "bool[n, m, 3]");
}

TEST(SymbolsTest, ComputedExtents) {
  Graph graph;
  const NodeId x = *graph.parameter("x", typeOf({"n", "4"}));
  const NodeId zero = *graph.splat({DType::F32, {}}, std::vector<std::byte>(4));
  Attributes pad;
  pad.low = {2, 0}, pad.high = {-1, 1}, pad.interior = {1, 0};
  EXPECT_EQ(textOf(graph, graph.add(Op::Pad, {{x, zero}}, pad)), "f32[2*n, 5]");
  Attributes window;
  window.dims = {0}, window.size = {3}, window.stride = {2}, window.dilation = {1};
  EXPECT_EQ(textOf(graph, graph.add(Op::Window, {{x}}, window)), "f32[((n + 1) floordiv 2) - 1, 4, 3]");
  Attributes concat;
  concat.dims = {0};
  const NodeId fixed = *graph.parameter("y", {DType::F32, {7, 4}});
  EXPECT_EQ(textOf(graph, graph.add(Op::Concat, {{x, fixed, x}}, concat)), "f32[2*n + 7, 4]");
}

TEST(SymbolsTest, RefusesWhatIsNotSoForAllValues) {
  Graph graph;
  const NodeId x = *graph.parameter("x", typeOf({"n", "4"}));
  const NodeId y = *graph.parameter("y", typeOf({"m", "4"}));
  EXPECT_THAT(textOf(graph, graph.binary(BinaryKind::Add, x, y)), HasSubstr("both must have the same dtype and shape"));
  EXPECT_THAT(textOf(graph, graph.binary(BinaryKind::Add, x, y)), HasSubstr("at m = "));
  EXPECT_THAT(textOf(graph, reshape(graph, x, {"2*n"})), HasSubstr("number of elements"));
  EXPECT_THAT(textOf(graph, reshape(graph, x, {"2", "2", "n + 1"})), HasSubstr("number of elements"));
  EXPECT_THAT(textOf(graph, reshape(graph, x, {"-n"})), HasSubstr("becomes -"));
  EXPECT_THAT(textOf(graph, graph.add(Op::Expand, {{x}}, {}, typeOf({"n", "n"}))), HasSubstr("whose extent is not 1"));
  EXPECT_THAT(textOf(graph, graph.splat(typeOf({"n"}), std::vector<std::byte>(4))),
              HasSubstr("expand a constant of numbers to symbolic extents"));
}

TEST(SymbolsTest, ExtentsAreFoundByTheirValues) {
  const std::vector<Bindings> points{{{"n", 3}}, {{"n", 5}}};
  const std::vector<Extent> candidates{*Extent::parse("n*n"), *Extent::parse("2*n + 3")};
  EXPECT_EQ(findExtent({7, 7}, points, candidates)->toString(), "7");
  EXPECT_EQ(findExtent({9, 13}, points, candidates)->toString(), "2*n + 3");
  EXPECT_EQ(findExtent({9, 25}, points, candidates)->toString(), "n*n");
  EXPECT_EQ(findExtent({9, 12}, points, candidates).status().message(),
            "has an extent that no expression of the operands gives");
}

TEST(SymbolsTest, NodesOfEqualTypesAreOne) {
  Graph graph;
  const NodeId x = *graph.parameter("x", typeOf({"n", "m"}));
  const NodeId flat = *reshape(graph, x, {"n*m"});
  EXPECT_EQ(*reshape(graph, x, {"m*n"}), flat);
  EXPECT_NE(*reshape(graph, x, {"m", "n"}), flat);
}

TEST(SymbolsTest, BindsAndSpecialises) {
  const Graph graph = rowSums();
  EXPECT_EQ(collectSymbols(graph), (std::set<std::string>{"m", "n"}));
  const std::vector<TensorType> types{{DType::F32, {5, 8}}, {DType::F32, {5}}};
  const Result<Bindings> bindings = bindSymbols(graph, types);
  ASSERT_TRUE(bindings.isOk()) << bindings.status().message();
  EXPECT_EQ(*bindings, (Bindings{{"m", 4}, {"n", 5}}));
  const Result<Graph> numbers = specialise(graph, *bindings);
  ASSERT_TRUE(numbers.isOk()) << numbers.status().message();
  EXPECT_TRUE(collectSymbols(*numbers).empty());
  EXPECT_EQ(toString(numbers->node(numbers->outputs[0].node).type), "f32[5]");
  EXPECT_EQ(numbers->outputs[0].name, "y");
  EXPECT_EQ(numbers->inputs.size(), 2u);
}

TEST(SymbolsTest, RefusesInputsThatFitNoValues) {
  const Graph graph = rowSums();
  auto refusal = [&](Shape x, Shape b, DType dtype = DType::F32) {
    return bindSymbols(graph, std::vector<TensorType>{{dtype, x}, {DType::F32, b}}).status().message();
  };
  EXPECT_THAT(refusal({5, 7}, {5}), HasSubstr("no input of graph main gives the symbol m a value; input 'x' is "
                                              "f32[n, 2*m], and f32[5, 7] is given"));
  EXPECT_THAT(refusal({5, 8}, {4}), HasSubstr("input 'b' is f32[n], and f32[4] is given: at m = 4, "
                                              "n = 5 dimension 0 is 5"));
  EXPECT_THAT(refusal({5, 8, 1}, {5}), HasSubstr("and f32[5, 8, 1] is given"));
  EXPECT_THAT(refusal({5, 8}, {5}, DType::F64), HasSubstr("and f64[5, 8] is given"));
  EXPECT_THAT(bindSymbols(graph, {}).status().message(), HasSubstr("0 types are given for 2 inputs"));

  Graph negative;
  negative.inputs = {*negative.parameter("x", typeOf({"n + 3"}))};
  EXPECT_THAT(bindSymbols(negative, std::vector<TensorType>{{DType::F32, {1}}}).status().message(),
              HasSubstr("n would be -2"));
  Graph product;
  product.inputs = {*product.parameter("x", typeOf({"n*m"}))};
  EXPECT_THAT(bindSymbols(product, std::vector<TensorType>{{DType::F32, {6}}}).status().message(),
              HasSubstr("no input of graph main gives the symbol m a value"));
}

TEST(SymbolsTest, SpecialisingChecksEverythingAgain) {
  Graph graph;
  const NodeId x = *graph.parameter("x", typeOf({"n"}));
  const Result<NodeId> max = graph.reduce(ReduceKind::Max, x, {0});
  graph.inputs = {x};
  graph.outputs = {{"y", *max}};
  EXPECT_THAT(specialise(graph, {{"n", 0}}).status().message(),
              HasSubstr("reduce at n = 0: reduce max of f32[0] over [0] is empty"));
  EXPECT_THAT(specialise(graph, {}).status().message(), HasSubstr("the symbol n has no value"));
  EXPECT_EQ(specialise(graph, {{"n", 1}, {"q", 2}}).status().message(), "graph main has no symbol q");
}

TEST(SymbolsTest, BodiesHaveTheSymbolsOfTheirGraph) {
  Graph body;
  body.inputs = {*body.parameter("i", {DType::I64, {}}), *body.parameter("x", typeOf({"2*n"}))};
  body.outputs = {{"x", *body.unary(UnaryKind::Tanh, body.inputs[1])}};
  const Body step = *Body::create(body);
  Graph graph;
  const NodeId x = *graph.parameter("x", typeOf({"2*n"}));
  graph.inputs = {x};
  const Result<std::vector<NodeId>> looped = graph.loop(step, 3, {{x}});
  ASSERT_TRUE(looped.isOk()) << looped.status().message();
  graph.outputs = {{"y", (*looped)[0]}};
  EXPECT_EQ(toString(graph.node((*looped)[0]).type), "f32[2*n]");
  const Result<Graph> numbers = specialise(graph, {{"n", 4}});
  ASSERT_TRUE(numbers.isOk()) << numbers.status().message();
  EXPECT_TRUE(collectSymbols(*numbers).empty());
  EXPECT_EQ(toString(numbers->node(numbers->outputs[0].node).type), "f32[8]");
  EXPECT_EQ(Graph::deserialize(graph.serialize())->canonicalHash(), graph.canonicalHash());

  const NodeId odd = *graph.parameter("odd", typeOf({"2*n + 1"}));
  EXPECT_FALSE(graph.loop(step, 3, {{odd}}).isOk());
}

TEST(SymbolsTest, SymbolicGraphsSurviveTheByteForm) {
  const Graph graph = rowSums();
  const Result<Graph> read = Graph::deserialize(graph.serialize());
  ASSERT_TRUE(read.isOk()) << read.status().toString();
  EXPECT_EQ(read->canonicalHash(), graph.canonicalHash());
  Graph other;
  const NodeId x = *other.parameter("x", typeOf({"n", "2*k"}));
  const NodeId b = *other.parameter("b", typeOf({"n"}));
  other.inputs = {x, b};
  other.outputs = {{"y", *other.binary(BinaryKind::Add, *other.reduce(ReduceKind::Add, x, {1}), b)}};
  EXPECT_NE(other.canonicalHash(), graph.canonicalHash());
}
