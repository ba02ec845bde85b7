//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Graph/Graph.h"

#include <gmock/gmock.h>

using namespace zyx;
using namespace zyx::graph;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

const TensorType number{DType::I64, {}}, vector{DType::F32, {4}};

/// (i, p, w) -> p * w, with names and unused nodes that do not matter.
Graph product(const std::string &prefix, bool extra = false) {
  Graph g;
  g.name = prefix;
  if (extra)
    EXPECT_TRUE(g.splat(vector, std::vector<std::byte>(4)).isOk());
  for (const TensorType &type : {number, vector, vector})
    g.inputs.push_back(*g.parameter(prefix + std::to_string(g.inputs.size()), type));
  g.outputs = {{prefix, *g.binary(BinaryKind::Mul, g.inputs[1], g.inputs[2])}};
  return g;
}

/// A body of these inputs that returns some of them.
Body passing(const std::vector<TensorType> &types, const std::vector<size_t> &results) {
  Graph g;
  for (const TensorType &type : types)
    g.inputs.push_back(*g.parameter("p" + std::to_string(g.inputs.size()), type));
  for (size_t result : results)
    g.outputs.push_back({"r" + std::to_string(g.outputs.size()), g.inputs[result]});
  const Result<Body> body = Body::create(g);
  EXPECT_TRUE(body.isOk()) << body.status().toString();
  return *body;
}

std::string refusal(const Result<std::vector<NodeId>> &result) {
  EXPECT_FALSE(result.isOk());
  return result.status().message();
}

} // namespace

TEST(BodyTest, HasOneForm) {
  const Body a = *Body::create(product("a")), b = *Body::create(product("other", true));
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_EQ(a.graph().serialize(), b.graph().serialize());
  EXPECT_EQ(a.graph().name, "body");
  EXPECT_EQ(a.graph().node(2).attributes.name, "arg2");
  EXPECT_EQ(a.graph().outputs[0].name, "result0");
  EXPECT_NE(a, Body());
  EXPECT_NE(a, passing({number, vector, vector}, {1}));
  EXPECT_EQ(Body(), Body());

  Graph g;
  const NodeId x = *g.parameter("x", vector);
  const NodeId first = (*g.loop(a, 3, {{x}}, {{x}}))[0];
  EXPECT_EQ((*g.loop(b, 3, {{x}}, {{x}}))[0], first);
  EXPECT_NE((*g.loop(b, 4, {{x}}, {{x}}))[0], first);
}

TEST(BodyTest, RefusesWhatIsNoBody) {
  Graph g = product("f");
  g.outputs.clear();
  EXPECT_THAT(Body::create(g).status().message(), HasSubstr("body f has no result"));
  g = product("f");
  g.inputs.pop_back();
  EXPECT_THAT(Body::create(g).status().message(), HasSubstr("body f uses the parameter f2"));
  EXPECT_THAT(Body::create(g).status().message(), HasSubstr(", which is none of its inputs: pass it as an operand"));
  g.inputs.push_back(g.inputs[0]);
  EXPECT_FALSE(Body::create(g).isOk());

  Body deep = passing({number, vector}, {1});
  Result<Body> next = deep;
  int depth = 1;
  for (; depth < 40 && next.isOk(); ++depth) {
    EXPECT_EQ(next->depth(), depth);
    Graph around;
    around.inputs = {*around.parameter("i", number), *around.parameter("p", vector)};
    around.outputs = {{"r", (*around.loop(*next, 1, {{around.inputs[1]}}))[0]}};
    next = Body::create(around);
  }
  EXPECT_EQ(depth, maxBodyDepth + 1);
  EXPECT_THAT(next.status().message(), HasSubstr(" has bodies inside of bodies, 17 deep; at most are 16"));
}

TEST(BodyTest, ResultsAreNodesOfOneOp) {
  Graph g;
  const NodeId x = *g.parameter("x", vector), n = *g.parameter("n", number);
  const Body swap = passing({number, vector, vector}, {2, 1});
  const std::vector<NodeId> results = *g.countedLoop(swap, n, {{x, x}});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(g.node(results[1]).attributes.result, 1);
  EXPECT_EQ(g.otherResult(results[0], 1), results[1]);
  EXPECT_EQ(g.otherResult(results[1], 0), results[0]);

  Graph part;
  Attributes attributes;
  attributes.body = swap;
  attributes.result = 1;
  attributes.trips = 2;
  const NodeId y = *part.parameter("x", vector);
  const NodeId alone = *part.add(Op::Loop, {{y, y}}, attributes);
  EXPECT_EQ(part.otherResult(alone, 0), std::nullopt);

  Graph inlined;
  const NodeId z = *inlined.parameter("z", vector);
  const Body body = *Body::create(product("a"));
  const NodeId i = *inlined.splat(number, std::vector<std::byte>(8));
  const NodeId made = (*inlined.inlineBody(body, {{i, z, z}}))[0];
  EXPECT_EQ(made, *inlined.binary(BinaryKind::Mul, z, z));
  EXPECT_THAT(refusal(inlined.inlineBody(body, {{i, z}})),
              HasSubstr("inlining passes 2 values to a body that takes 3"));
  EXPECT_THAT(refusal(inlined.inlineBody(body, {{i, z, 99}})), HasSubstr("a body is given node 99 of a graph with"));
}

TEST(BodyTest, HashSeesTheBody) {
  const auto hash = [](const Body &body, int64_t trips) {
    Graph g;
    const NodeId x = *g.parameter("x", vector);
    g.outputs = {{"y", (*g.loop(body, trips, {{x, x}}))[0]}};
    return g.canonicalHash();
  };
  const Body swap = passing({number, vector, vector}, {2, 1}), keep = passing({number, vector, vector}, {1, 2});
  EXPECT_EQ(hash(swap, 2), hash(swap, 2));
  EXPECT_NE(hash(swap, 2), hash(keep, 2));
  EXPECT_NE(hash(swap, 2), hash(swap, 3));
}

TEST(BodyTest, LoopsAreChecked) {
  Graph g;
  const NodeId x = *g.parameter("x", vector), n = *g.parameter("n", number);
  const Body keep = passing({number, vector}, {1});
  EXPECT_THAT(refusal(g.loop(Body(), 1, {{x}})), HasSubstr("loop has no body"));
  EXPECT_THAT(refusal(g.loop(keep, -5, {{x}})), HasSubstr("loop has -5 trips"));
  EXPECT_THAT(refusal(g.loop(keep, 1, {})), HasSubstr("loop needs at least one operand"));
  EXPECT_THAT(refusal(g.countedLoop(keep, x, {{x}})), HasSubstr("loop counts to f32[4], which is no i64[]"));
  EXPECT_THAT(refusal(g.whileLoop(keep, {{x}})), HasSubstr("loop goes on while f32[4], which is no bool[]"));
  EXPECT_THAT(refusal(g.whileLoop(keep, {})), HasSubstr("loop needs at least one operand"));
  EXPECT_THAT(refusal(g.loop(keep, -3, {{x}})), HasSubstr("loop has -3 trips"));
  EXPECT_THAT(refusal(g.loop(keep, 1, {{x, x}})), HasSubstr("loop passes 3 values to a body that takes 2"));
  EXPECT_THAT(refusal(g.loop(keep, 1, {{n}})),
              HasSubstr("loop passes i64[] to a body that takes f32[4] as its value 1"));
  EXPECT_THAT(refusal(g.loop(passing({vector, vector}, {1}), 1, {{x}})),
              HasSubstr("loop passes its index to a body that takes f32[4] first"));
  EXPECT_THAT(refusal(g.loop(passing({number, vector}, {1, 1}), 1, {{x}})),
              HasSubstr("loop carries 2 values, and has 1"));
  EXPECT_THAT(refusal(g.loop(passing({number, vector}, {0}), 1, {{x}})),
              HasSubstr("loop carries f32[4], and its body makes it i64[]"));
  Attributes attributes;
  attributes.body = keep;
  attributes.result = 1;
  EXPECT_THAT(g.add(Op::Loop, {{x}}, attributes).status().message(),
              HasSubstr("loop has 1 results, and none of number 1"));
}

TEST(BodyTest, CustomsAreChecked) {
  Graph g;
  const NodeId x = *g.parameter("x", vector);
  const Body keep = passing({vector}, {0});
  EXPECT_EQ(g.node((*g.custom("c", "", keep, {{x}}))[0]).type, vector);
  EXPECT_NE((*g.custom("c", "1", keep, {{x}}))[0], (*g.custom("c", "2", keep, {{x}}))[0]);
  EXPECT_THAT(refusal(g.custom("", "", keep, {{x}})), HasSubstr("custom has no name"));
  EXPECT_THAT(refusal(g.custom("c", "", Body(), {{x}})), HasSubstr("custom c has no body"));
  EXPECT_THAT(refusal(g.custom("c", "", keep, {{x, x}})), HasSubstr("custom c passes 2 values to a body that takes 1"));
  Attributes attributes;
  attributes.body = keep;
  EXPECT_THAT(g.add(Op::Unary, {{x}}, attributes).status().message(), HasSubstr("unary takes no body"));
  attributes = {};
  attributes.trips = 1;
  EXPECT_THAT(g.add(Op::Unary, {{x}}, attributes).status().message(), HasSubstr("unary takes no trips"));
}
