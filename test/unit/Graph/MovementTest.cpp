//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Graph/Graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using namespace zyx::graph;
using testing::HasSubstr;

namespace {

/// A graph with a parameter x, and what inference says of an op on it.
struct Movement : Graph {
  NodeId x;
  explicit Movement(Shape shape, DType dtype = DType::F32) : x(*parameter("x", {dtype, std::move(shape)})) {}
  NodeId fill(DType dtype = DType::F32) { return *parameter("fill", {dtype, {}}); }
  std::string type(const Result<NodeId> &id) { return id.isOk() ? toString(node(*id).type) : id.status().message(); }
};

} // namespace

TEST(MovementTest, Flip) {
  Movement g({2, 3, 0});
  EXPECT_EQ(g.type(g.flip(g.x, {0, 2})), "f32[2, 3, 0]");
  EXPECT_EQ(g.type(g.flip(g.x, {})), "flip of f32[2, 3, 0] lists no dimension");
  const std::string reason = ", which are not increasing dimensions of it";
  EXPECT_EQ(g.type(g.flip(g.x, {1, 0})), "flip of f32[2, 3, 0] along [1, 0]" + reason);
  EXPECT_EQ(g.type(g.flip(g.x, {1, 1})), "flip of f32[2, 3, 0] along [1, 1]" + reason);
  EXPECT_EQ(g.type(g.flip(g.x, {-1})), "flip of f32[2, 3, 0] along [-1]" + reason);
  EXPECT_EQ(g.type(g.flip(g.x, {3})), "flip of f32[2, 3, 0] along [3]" + reason);
}

TEST(MovementTest, Pad) {
  Movement g({2, 3, 0});
  const NodeId fill = g.fill();
  EXPECT_EQ(g.type(g.pad(g.x, fill, {1, 0, 2}, {0, 2, 3}, {0, 1, 7})), "f32[3, 7, 5]");
  EXPECT_EQ(g.type(g.pad(g.x, fill, {-1, -3, 0}, {-1, 0, 0}, {0, 0, 0})), "f32[0, 0, 0]");
  EXPECT_EQ(g.type(g.pad(g.x, fill, {-2, 0, 0}, {-1, 0, 0}, {0, 0, 0})),
            "pad of f32[2, 3, 0] along dimension 0 removes 1 elements more than there are");
  EXPECT_EQ(g.type(g.pad(g.x, fill, {0, 0, 0}, {0, 0, 0}, {0, -1, 0})),
            "pad of f32[2, 3, 0] along dimension 1 adds -1 elements between two, which cannot be "
            "removed");
  EXPECT_EQ(g.type(g.pad(g.x, fill, {0, 0, 0}, {0, 0, 0}, {0, INT64_MAX, 0})),
            "pad of f32[2, 3, 0] along dimension 1 gives an extent that does not fit in 63 bits");
  EXPECT_EQ(g.type(g.pad(g.x, fill, {0, 0, 0}, {0, 0}, {0, 0, 0})),
            "pad of f32[2, 3, 0] by low [0, 0, 0] high [0, 0] interior [0, 0, 0]: each needs one "
            "number per dimension");
  const std::string reason = ": the fill must be one element of its dtype";
  EXPECT_EQ(g.type(g.pad(g.x, g.x, {0, 0, 0}, {0, 0, 0}, {0, 0, 0})), "pad of f32[2, 3, 0] with f32[2, 3, 0]" + reason);
  const NodeId other = *g.parameter("i", {DType::I32, {}});
  EXPECT_EQ(g.type(g.pad(g.x, other, {0, 0, 0}, {0, 0, 0}, {0, 0, 0})), "pad of f32[2, 3, 0] with i32[]" + reason);
  EXPECT_EQ(g.type(g.pad(fill, fill, {}, {}, {})), "f32[]");
}

TEST(MovementTest, Window) {
  Movement g({8, 9, 10});
  EXPECT_EQ(g.type(g.window(g.x, {1, 2}, {3, 2}, {2, 1}, {1, 4})), "f32[8, 4, 6, 3, 2]");
  EXPECT_EQ(g.type(g.window(g.x, {0}, {9}, {1}, {1})), "f32[0, 9, 10, 9]");
  EXPECT_EQ(g.type(g.window(g.x, {0}, {1}, {100}, {1})), "f32[1, 9, 10, 1]");
  EXPECT_EQ(g.type(g.window(g.x, {}, {}, {}, {})), "window of f32[8, 9, 10] lists no dimension");
  EXPECT_EQ(g.type(g.window(g.x, {0, 0}, {1, 1}, {1, 1}, {1, 1})),
            "window of f32[8, 9, 10] along [0, 0], which are not increasing dimensions of it");
  EXPECT_EQ(g.type(g.window(g.x, {0}, {1}, {1, 1}, {1})),
            "window of f32[8, 9, 10] by size [1] stride [1, 1] dilation [1]: each needs one number "
            "per dimension of [0]");
  for (int zero = 0; zero < 3; ++zero)
    EXPECT_THAT(g.type(g.window(g.x, {0}, {zero != 0}, {zero != 1}, {zero != 2})),
                HasSubstr(": each number must be positive"));
  EXPECT_EQ(g.type(g.window(g.x, {0}, {INT64_MAX}, {1}, {3})),
            "window of f32[8, 9, 10] along dimension 0 reaches further than fits in 63 bits");
}

TEST(MovementTest, Concat) {
  Movement g({2, 3});
  const NodeId longer = *g.parameter("y", {DType::F32, {2, 5}});
  EXPECT_EQ(g.type(g.concat({{g.x, longer, g.x, g.x}}, 1)), "f32[2, 14]");
  EXPECT_EQ(g.type(g.concat({{g.x}}, 0)), "f32[2, 3]");
  EXPECT_EQ(g.type(g.concat({}, 0)), "concat needs at least one operand");
  EXPECT_EQ(g.type(g.concat({{g.x, 17}}, 0)), "concat has the operand 17 of a graph with 4 nodes");
  EXPECT_EQ(g.type(g.concat({{g.x, g.x, g.x, 17}}, 0)), "concat has the operand 17 of a graph with 4 nodes");
  const std::string reason = ": all else must be the same";
  EXPECT_EQ(g.type(g.concat({{g.x, longer}}, 0)), "concat of f32[2, 3] and f32[2, 5] along dimension 0" + reason);
  EXPECT_EQ(g.type(g.concat({{g.x, g.fill()}}, 0)), "concat of f32[2, 3] and f32[] along dimension 0" + reason);
  const NodeId half = *g.parameter("h", {DType::F16, {2, 3}});
  EXPECT_EQ(g.type(g.concat({{g.x, half}}, 0)), "concat of f32[2, 3] and f16[2, 3] along dimension 0" + reason);
  EXPECT_EQ(g.type(g.concat({{g.x, g.x}}, 2)), "concat of f32[2, 3] along [2], which is not one of its dimensions");
  const NodeId huge = *g.expand(*g.reshape(g.fill(), {1}), {INT64_MAX / 8});
  EXPECT_EQ(g.type(g.concat(std::vector<NodeId>(9, huge), 0)),
            "concat along dimension 0 gives an extent that does not fit in 63 bits");
  EXPECT_EQ(g.type(g.concat(std::vector<NodeId>(4096, g.x), 0)), "f32[8192, 3]");
  EXPECT_EQ(g.type(g.concat(std::vector<NodeId>(4097, g.x), 0)),
            "concat of 4097 parts, more than 4096: concat some of them first");
}

TEST(MovementTest, NamesHaveNoZeroByte) {
  Movement g({2});
  EXPECT_EQ(g.type(g.parameter(std::string("a\0b", 3), {DType::F32, {2}})), "parameter has a name with a zero byte");
  EXPECT_EQ(g.type(g.transfer(g.x, std::string("cpu\0", 4))), "transfer has a name with a zero byte");
}

TEST(MovementTest, Bitcast) {
  Movement g({2, 3});
  EXPECT_EQ(g.type(g.bitcast(g.x, DType::U32)), "u32[2, 3]");
  EXPECT_EQ(g.type(g.bitcast(g.x, DType::F32)), "f32[2, 3]");
  EXPECT_EQ(g.type(g.bitcast(g.x, DType::F64)), "bitcast of f32[2, 3] to f64[2, 3] changes the width of elements");
  const std::string reason = ": bools are no numbers of bits, cast them";
  const NodeId bytes = *g.parameter("b", {DType::U8, {2}});
  EXPECT_EQ(g.type(g.bitcast(bytes, DType::F8E5M2)), "f8e5m2[2]");
  EXPECT_EQ(g.type(g.bitcast(bytes, DType::Bool)), "bitcast of u8[2] to bool[2]" + reason);
  const NodeId flags = *g.parameter("f", {DType::Bool, {2}});
  EXPECT_EQ(g.type(g.bitcast(flags, DType::U8)), "bitcast of bool[2] to u8[2]" + reason);
  EXPECT_EQ(g.add(Op::Bitcast, {{g.x}}, {}, {DType::U32, {3, 2}}).status().message(),
            "bitcast of f32[2, 3] to u32[3, 2] changes the shape");
}

TEST(MovementTest, Transfer) {
  Movement g({2});
  for (const char *device : {"cpu", "cuda:1", "x86v4", "hip:15"})
    EXPECT_EQ(g.type(g.transfer(g.x, device)), "f32[2]") << device;
  for (const char *device : {"", "CPU", "1cuda", "cuda:", ":1", "cuda:1:2", "cuda:x", "my gpu", "cuda:1234567890"})
    EXPECT_EQ(g.type(g.transfer(g.x, device)), "transfer of f32[2] to '" + std::string(device) +
                                                   "', which is no name of a device, such as cpu or cuda:1");
}

TEST(MovementTest, AttributesOfOtherOpsAreRefused) {
  Movement g({2});
  const auto refusal = [&](auto set) {
    Attributes attributes;
    set(attributes);
    return g.add(Op::Cast, {{g.x}}, attributes, {DType::F32, {2}}).status().message();
  };
  EXPECT_EQ(refusal([](Attributes &a) { a.low = {0}; }), "cast takes no padding");
  EXPECT_EQ(refusal([](Attributes &a) { a.high = {0}; }), "cast takes no padding");
  EXPECT_EQ(refusal([](Attributes &a) { a.interior = {0}; }), "cast takes no padding");
  EXPECT_EQ(refusal([](Attributes &a) { a.size = {0}; }), "cast takes no window");
  EXPECT_EQ(refusal([](Attributes &a) { a.stride = {0}; }), "cast takes no window");
  EXPECT_EQ(refusal([](Attributes &a) { a.dilation = {0}; }), "cast takes no window");
  EXPECT_EQ(refusal([](Attributes &a) { a.name = "cpu"; }), "cast takes no name");
}

TEST(MovementTest, EachAttributeIsPartOfTheIdentity) {
  Movement g({4, 4});
  const NodeId fill = g.fill();
  std::vector<NodeId> ids = {*g.pad(g.x, fill, {1, 1}, {1, 1}, {0, 0}),
                             *g.pad(g.x, fill, {2, 1}, {0, 1}, {0, 0}),
                             *g.pad(g.x, fill, {1, 1}, {1, 1}, {1, 0}),
                             *g.window(g.x, {0}, {2}, {2}, {1}),
                             *g.window(g.x, {0}, {2}, {2}, {2}),
                             *g.window(g.x, {0}, {2}, {1}, {2}),
                             *g.flip(g.x, {0}),
                             *g.flip(g.x, {1}),
                             *g.transfer(g.x, "cpu"),
                             *g.transfer(g.x, "cpu:1")};
  std::vector<std::pair<uint64_t, uint64_t>> hashes;
  for (NodeId id : ids) {
    g.outputs = {{"y", id}};
    const Hash128 hash = g.canonicalHash();
    hashes.push_back({hash.low, hash.high});
  }
  std::ranges::sort(ids);
  std::ranges::sort(hashes);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
  EXPECT_EQ(std::ranges::adjacent_find(hashes), hashes.end());
}
