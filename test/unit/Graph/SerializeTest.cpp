//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Bytes.h"
#include "zyx/Graph/UnaryKind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

using namespace zyx;
using namespace zyx::graph;
using testing::HasSubstr;

namespace {

/// One node of every op, with locations.
Graph everyOp() {
  Graph g;
  const TensorType type{DType::F32, {2, 3}};
  Attributes named;
  named.name = "x";
  const NodeId x = *g.add(Op::Parameter, {}, named, type, {"model.mlir", 2, 5});
  Attributes dense;
  dense.value.resize(24);
  dense.value[5] = std::byte(3);
  const NodeId c = *g.add(Op::Constant, {}, dense, type, {"other.mlir", 1, 1});
  const NodeId sum = *g.binary(BinaryKind::Add, x, c);
  const NodeId row = *g.reshape(*g.reduce(ReduceKind::Max, sum, {1}), {2, 1});
  const NodeId wide = *g.expand(row, {2, 3});
  const NodeId less = *g.binary(BinaryKind::Lt, wide, *g.unary(UnaryKind::Exp, x));
  const NodeId chosen = *g.select(less, wide, *g.splat(type, std::vector<std::byte>(4)));
  const NodeId turned = *g.permute(chosen, {1, 0});
  const NodeId half = *g.cast(turned, DType::BF16);
  const NodeId picked = *g.gather(half, *g.iota({DType::I32, {4}}, 0), 0);
  const NodeId zero = *g.splat({DType::BF16, {}}, std::vector<std::byte>(2));
  const NodeId padded = *g.pad(*g.flip(picked, {1}), zero, {1, -1}, {0, 2}, {2, 0});
  const NodeId slid = *g.window(padded, {0, 1}, {3, 1}, {2, 1}, {1, 4});
  const NodeId joined = *g.concat({{slid, slid, slid, slid}}, 0);
  const NodeId bits = *g.transfer(*g.bitcast(joined, DType::U16), "cuda:1");
  Graph inner;
  inner.inputs = {*inner.parameter("i", {DType::I64, {}}), *inner.parameter("p", type)};
  inner.outputs = {{"p", *inner.unary(UnaryKind::Tanh, inner.inputs[1])}};
  const Body step = *Body::create(inner);
  Graph outer;
  outer.inputs = {*outer.parameter("a", type), *outer.parameter("b", type)};
  const NodeId looped = (*outer.loop(step, 3, {{outer.inputs[0]}}))[0];
  outer.outputs = {{"l", looped}, {"b", outer.inputs[1]}};
  const std::vector<NodeId> custom = *g.custom("two", "fast", *Body::create(outer), {{sum, chosen}});
  const NodeId again = (*g.loop(step, 5, {{custom[1]}}))[0];
  const TensorType symbolic = symbolicType(DType::F32, {*Extent::parse("2*n + 1"), Extent(3), *Extent::parse("m")});
  const NodeId anySize = *g.unary(UnaryKind::Sqrt, *g.parameter("any", symbolic));
  g.name = "everything";
  g.inputs = {x};
  g.outputs = {{"picked", picked},    {"sum", sum},     {"bits", bits},
               {"custom", custom[0]}, {"again", again}, {"any", anySize}};
  return g;
}

void expectEqual(const Graph &a, const Graph &b) {
  ASSERT_EQ(a.size(), b.size());
  for (NodeId id = 0; id < a.size(); ++id) {
    EXPECT_EQ(a.node(id).op, b.node(id).op);
    EXPECT_EQ(a.node(id).attributes, b.node(id).attributes);
    EXPECT_EQ(a.node(id).operands, b.node(id).operands);
    EXPECT_EQ(a.node(id).type, b.node(id).type);
    EXPECT_EQ(a.location(id).file, b.location(id).file);
    EXPECT_EQ(a.location(id).line, b.location(id).line);
    EXPECT_EQ(a.location(id).column, b.location(id).column);
  }
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.canonicalHash(), b.canonicalHash());
}

constexpr size_t headerBytes = 16;

/// Recomputes the checksum, so that a change reaches the checks behind it.
void sign(std::vector<std::byte> &bytes) {
  ByteWriter writer;
  writer.u64(hash64(std::span(bytes).subspan(headerBytes)));
  std::memcpy(bytes.data() + 8, writer.view().data(), 8);
}

/// One stored node, written field by field.
struct NodeBytes {
  Op op = Op::Parameter;
  uint8_t kind = 0, splat = 0;
  std::vector<int64_t> dims = {};
  std::string value = {}, name = {};
  std::vector<uint32_t> operands = {};
  uint8_t dtype = static_cast<uint8_t>(DType::U8);
  Shape shape = {2};
  std::vector<std::string> extents = {};
  uint32_t file = 0;
  uint32_t body = 0;
  int64_t trips = 0;
};

/// The byte form of a graph that the arena itself would not build.
std::vector<std::byte> forge(const std::vector<NodeBytes> &nodes, const std::vector<uint32_t> &inputs = {},
                             const std::vector<std::pair<std::string, uint32_t>> &outputs = {},
                             const std::vector<std::vector<std::byte>> &bodies = {}) {
  ByteWriter w;
  w.u32(0x4758595a);
  w.u32(5);
  w.u64(0);
  w.string("main");
  w.u64(0);
  w.u64(bodies.size());
  for (const std::vector<std::byte> &body : bodies)
    w.blob(body);
  w.u64(nodes.size());
  for (const NodeBytes &node : nodes) {
    w.u8(static_cast<uint8_t>(node.op));
    w.u8(node.kind);
    w.u8(node.splat);
    w.u64(node.dims.size());
    for (int64_t dim : node.dims)
      w.i64(dim);
    for (int list = 0; list < 6; ++list)
      w.u64(0);
    w.string(node.value);
    w.string(node.name);
    w.i64(0);
    w.i64(node.trips);
    w.u32(node.body);
    w.u64(node.operands.size());
    for (uint32_t operand : node.operands)
      w.u32(operand);
    w.u8(node.dtype);
    w.u64(node.shape.size());
    for (int64_t extent : node.shape)
      w.i64(extent);
    w.u64(node.extents.size());
    for (const std::string &extent : node.extents)
      w.string(extent);
    w.u32(node.file);
    w.u32(0);
    w.u32(0);
  }
  w.u64(inputs.size());
  for (uint32_t input : inputs)
    w.u32(input);
  w.u64(0);
  w.u64(outputs.size());
  for (const auto &[name, node] : outputs) {
    w.string(name);
    w.u32(node);
  }
  std::vector<std::byte> bytes = w.take();
  sign(bytes);
  return bytes;
}

std::string refusal(std::span<const std::byte> bytes) {
  const Result<Graph> result = Graph::deserialize(bytes);
  EXPECT_FALSE(result.isOk());
  EXPECT_EQ(result.status().code(), ErrorCode::DataCorruption);
  return result.status().toString();
}

const NodeBytes x{.name = "x"};

} // namespace

TEST(SerializeTest, RoundTrips) {
  const Graph graph = everyOp();
  const Result<Graph> read = Graph::deserialize(graph.serialize());
  ASSERT_TRUE(read.isOk()) << read.status().toString();
  expectEqual(graph, *read);
  EXPECT_EQ(read->serialize(), graph.serialize());
  EXPECT_EQ(read->location(0).file, "model.mlir");
  EXPECT_EQ(read->outputs[1].name, "sum");
  // What was read is an arena like any other: equal nodes are found.
  Graph again = *read;
  EXPECT_EQ(*again.parameter("x", {DType::F32, {2, 3}}), 0u);
}

TEST(SerializeTest, EmptyGraph) {
  const Result<Graph> read = Graph::deserialize(Graph().serialize());
  ASSERT_TRUE(read.isOk()) << read.status().toString();
  EXPECT_EQ(read->size(), 0u);
}

TEST(SerializeTest, EveryTruncationFails) {
  const std::vector<std::byte> bytes = everyOp().serialize();
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(Graph::deserialize(cut).isOk()) << size;
    if (size < headerBytes)
      continue;
    sign(cut);
    EXPECT_FALSE(Graph::deserialize(cut).isOk()) << size;
  }
}

TEST(SerializeTest, EveryFlipFails) {
  std::vector<std::byte> bytes = everyOp().serialize();
  for (std::byte &b : bytes)
    for (int bit = 0; bit < 8; ++bit) {
      b ^= std::byte(1 << bit);
      EXPECT_FALSE(Graph::deserialize(bytes).isOk());
      b ^= std::byte(1 << bit);
    }
}

TEST(SerializeTest, SignedFlipsFailOrGiveAGraph) {
  const std::vector<std::byte> bytes = everyOp().serialize();
  int accepted = 0;
  for (size_t i = headerBytes; i < bytes.size(); ++i)
    for (uint8_t change : {0x01, 0x80, 0xff}) {
      std::vector<std::byte> changed = bytes;
      changed[i] ^= std::byte(change);
      sign(changed);
      const Result<Graph> read = Graph::deserialize(changed);
      if (!read.isOk())
        continue;
      ++accepted;
      EXPECT_TRUE(read->verify().isOk());
      const Result<Graph> again = Graph::deserialize(read->serialize());
      ASSERT_TRUE(again.isOk());
      expectEqual(*read, *again);
    }
  EXPECT_GT(accepted, 0); // names, locations and constants may be others
}

TEST(SerializeTest, HeaderIsChecked) {
  std::vector<std::byte> bytes = everyOp().serialize();
  EXPECT_THAT(refusal(std::span(bytes).first(3)), HasSubstr("truncated: the mark"));
  EXPECT_THAT(refusal(std::span(bytes).first(6)), HasSubstr("truncated: the version"));
  EXPECT_THAT(refusal(std::span(bytes).first(9)), HasSubstr("truncated: the checksum"));
  bytes[20] ^= std::byte(1);
  EXPECT_THAT(refusal(bytes), HasSubstr("the checksum does not match: the bytes are damaged"));
  bytes[4] = std::byte(9);
  EXPECT_THAT(refusal(bytes), HasSubstr("the bytes have version 9, this build reads 5"));

  auto withExtents = [](Shape shape, std::vector<std::string> extents) {
    return refusal(forge({{.name = "x", .shape = std::move(shape), .extents = std::move(extents)}}));
  };
  EXPECT_THAT(withExtents({symbolicExtent}, {"n + n"}), HasSubstr("has an extent that is not in its one form"));
  EXPECT_THAT(withExtents({symbolicExtent}, {"n +"}), HasSubstr("not in its one form"));
  EXPECT_THAT(withExtents({2}, {"n"}), HasSubstr("has the shape [2], and other symbolic extents"));
  EXPECT_THAT(withExtents({2}, {"2"}), HasSubstr("and other symbolic extents"));
  EXPECT_THAT(withExtents({symbolicExtent}, {}), HasSubstr("an extent that is not known yet"));
  bytes[0] = std::byte(0);
  EXPECT_THAT(refusal(bytes), HasSubstr("the bytes are not a graph"));
}

TEST(SerializeTest, ForgedNodesAreRefused) {
  ASSERT_TRUE(Graph::deserialize(forge({x}, {0}, {{"y", 0}})).isOk());
  const NodeBytes not0{.op = Op::Unary, .kind = 1, .operands = {0}};
  ASSERT_TRUE(Graph::deserialize(forge({x, not0}, {0}, {{"y", 1}})).isOk());

  NodeBytes bad = x;
  bad.dtype = 15;
  EXPECT_THAT(refusal(forge({bad})), HasSubstr("node 0 has the unknown dtype 15"));
  bad = x;
  bad.splat = 16;
  EXPECT_THAT(refusal(forge({bad})), HasSubstr("node 0 has the flags 16"));
  bad.splat = 4;
  EXPECT_THAT(refusal(forge({bad})), HasSubstr("node 0 is malformed"));
  bad = x;
  bad.file = 1;
  EXPECT_THAT(refusal(forge({bad})), HasSubstr("node 0 comes from file 1 of 0"));
  bad = not0;
  bad.operands = {1};
  EXPECT_THAT(refusal(forge({x, bad})),
              HasSubstr("node 1 is malformed; caused by: invalid argument: unary has the operand 1 "
                        "of a graph with 1 nodes"));
  EXPECT_THAT(refusal(forge({x, x})), HasSubstr("node 1 repeats node 0"));
  bad = not0;
  bad.shape = {3};
  EXPECT_THAT(refusal(forge({x, bad})), HasSubstr("node 1 is stored as u8[3], but it is u8[2]"));
  const NodeBytes dense{.op = Op::Constant, .value = "aa"};
  EXPECT_THAT(refusal(forge({dense})), HasSubstr("node 0 is a constant that is not in its one form"));
  bad = x;
  bad.shape = {3};
  EXPECT_THAT(refusal(forge({x, bad})), HasSubstr("parameter x is declared twice"));
}

TEST(SerializeTest, ForgedProgramsAreRefused) {
  EXPECT_THAT(refusal(forge({x}, {0, 0})),
              HasSubstr("it is no program; caused by: invalid argument: input x of graph main is "
                        "listed twice"));
  EXPECT_THAT(refusal(forge({x}, {0}, {{"y", 0}, {"y", 0}})), HasSubstr("two outputs named y"));
  EXPECT_THAT(refusal(forge({x}, {0}, {{"y", 1}})), HasSubstr("output y of graph main is node 1"));
  std::vector<std::byte> longer = forge({x}, {0}, {{"y", 0}});
  longer.resize(longer.size() + 3);
  sign(longer);
  EXPECT_THAT(refusal(longer), HasSubstr("3 bytes follow the end"));
}

TEST(SerializeTest, BodiesAreStoredOnce) {
  const Graph graph = everyOp();
  const Result<Graph> read = Graph::deserialize(graph.serialize());
  ASSERT_TRUE(read.isOk()) << read.status().toString();
  const Node &custom = read->node(read->outputs[3].node);
  EXPECT_EQ(custom.op, Op::Custom);
  EXPECT_EQ(custom.attributes.body.depth(), 2);
  EXPECT_EQ(custom.attributes.body.graph().node(2).op, Op::Loop);
  // Ten loops of one body take little more than one loop.
  Graph many;
  NodeId x = *many.parameter("x", {DType::F32, {2, 3}});
  const Body body = graph.node(graph.outputs[4].node).attributes.body;
  x = (*many.loop(body, 1, {{x}}))[0];
  const size_t one = many.serialize().size();
  for (int trips = 2; trips <= 10; ++trips)
    x = (*many.loop(body, trips, {{x}}))[0];
  EXPECT_LT(many.serialize().size() - one, 9 * body.graph().serialize().size());
}

TEST(SerializeTest, ForgedBodiesAreRefused) {
  const TensorType type{DType::U8, {2}};
  Graph inner;
  inner.inputs = {*inner.parameter("i", {DType::I64, {}}), *inner.parameter("p", type)};
  inner.outputs = {{"p", inner.inputs[1]}};
  const std::vector<std::byte> body = Body::create(inner)->graph().serialize();
  const NodeBytes loop{.op = Op::Loop, .operands = {0}, .body = 1, .trips = 2};
  const Result<Graph> good = Graph::deserialize(forge({x, loop}, {0}, {{"y", 1}}, {body}));
  ASSERT_TRUE(good.isOk()) << good.status().toString();

  EXPECT_THAT(refusal(forge({x}, {0}, {}, {body})), HasSubstr("of 1 bodies only 0 are used"));
  EXPECT_THAT(refusal(forge({x, loop}, {0}, {}, {body, body})),
              HasSubstr("body 1 is not in its one form, or there twice"));
  EXPECT_THAT(refusal(forge({x, loop}, {0}, {}, {inner.serialize()})), HasSubstr("body 0 is not in its one form"));
  EXPECT_THAT(refusal(forge({x, loop}, {0}, {}, {{}})), HasSubstr("body 0 is malformed"));
  EXPECT_THAT(refusal(forge({x, loop}, {0}, {}, {forge({x}, {0})})),
              HasSubstr("body 0 is malformed; caused by: invalid argument: body main has no result"));
  NodeBytes bad = loop;
  bad.body = 2;
  EXPECT_THAT(refusal(forge({x, bad}, {0}, {}, {body})), HasSubstr("node 1 has body 2 after the first 0 of 1"));
  bad = loop;
  bad.trips = -3;
  EXPECT_THAT(refusal(forge({x, bad}, {0}, {}, {body})), HasSubstr("loop has -3 trips"));
  bad.trips = tripsAreWhile;
  EXPECT_THAT(refusal(forge({x, bad}, {0}, {}, {body})), HasSubstr("loop goes on while u8[2], which is no bool[]"));

  // However deep the bytes are, reading them ends.
  std::vector<std::byte> deep = body;
  for (int depth = 0; depth < 40; ++depth)
    deep = forge({x, loop}, {0}, {{"y", 1}}, {deep});
  EXPECT_THAT(refusal(deep), HasSubstr("more than 16 bodies are inside of each other"));
}
