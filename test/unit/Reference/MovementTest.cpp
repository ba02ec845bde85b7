//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TestGraph.h"

using namespace zyx;
using namespace zyx::reference;
using graph::NodeId;
using graph::UnaryKind;

namespace {

std::vector<double> counting(int64_t count) {
  std::vector<double> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = double(i);
  return values;
}

/// The coordinates of a linear index.
Shape coordinates(const Shape &shape, int64_t index) {
  Shape at(shape.size());
  for (size_t d = shape.size(); d-- > 0; index /= shape[d])
    at[d] = index % shape[d];
  return at;
}

int64_t linear(const Shape &shape, const Shape &at) {
  int64_t index = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    index = index * shape[d] + at[d];
  return index;
}

} // namespace

TEST(MovementTest, Flip) {
  TestGraph g;
  const NodeId x = g.input(tensor(DType::I16, {2, 3}, counting(6)));
  expectNumbers(g.run(*g.flip(x, {1})), {2, 1, 0, 5, 4, 3});
  expectNumbers(g.run(*g.flip(x, {0, 1})), {5, 4, 3, 2, 1, 0});
  // Behind other views, and computed values.
  expectNumbers(g.run(*g.flip(*g.permute(x, {1, 0}), {0})), {2, 5, 1, 4, 0, 3});
  expectNumbers(g.run(*g.reshape(*g.flip(x, {1}), {6})), {2, 1, 0, 5, 4, 3});
  expectNumbers(g.run(*g.flip(*g.reshape(*g.flip(x, {1}), {3, 2}), {0})), {4, 3, 0, 5, 2, 1});
  expectNumbers(g.run(*g.flip(*g.unary(UnaryKind::Neg, x), {0})), {-3, -4, -5, 0, -1, -2});
  const NodeId long_ = g.input(tensor(DType::I32, {3000}, counting(3000)));
  std::vector<double> reversed = counting(3000);
  std::ranges::reverse(reversed);
  expectNumbers(g.run(*g.flip(long_, {0})), reversed);
  EXPECT_EQ(g.run(*g.flip(g.input(tensor(DType::F32, {2, 0}, {})), {0, 1})).data.size(), 0u);
}

TEST(MovementTest, PadAgainstCoordinates) {
  struct Case {
    Shape shape;
    std::vector<int64_t> low, high, interior;
  };
  const std::vector<Case> cases = {
      {{}, {}, {}, {}},
      {{3}, {1}, {2}, {0}},
      {{3}, {-1}, {2}, {2}},
      {{3}, {-4}, {-2}, {2}},
      {{3}, {5}, {-6}, {1}},
      {{0}, {2}, {1}, {3}},
      {{1}, {0}, {0}, {5}},
      {{3, 4}, {1, -1}, {-1, 2}, {0, 1}},
      {{2, 0, 3}, {1, 1, 0}, {0, 0, 0}, {0, 4, 1}},
      {{40, 50}, {3, -2}, {1, 7}, {1, 0}},
  };
  for (const Case &c : cases)
    for (DType dtype : {DType::F32, DType::I8, DType::BF16, DType::F64, DType::F8E5M2}) {
      TestGraph g;
      std::vector<double> values = counting(*numElements(c.shape));
      for (double &value : values)
        value = double(int64_t(value) % 7);
      const NodeId x = g.input(tensor(dtype, c.shape, values));
      const NodeId padded = *g.pad(x, g.input(tensor(dtype, {}, {-16})), c.low, c.high, c.interior);
      const Shape shape = g.node(padded).type.shape;
      std::vector<double> expected;
      for (int64_t i = 0; i < *numElements(shape); ++i) {
        Shape at = coordinates(shape, i);
        bool isInside = true;
        for (size_t d = 0; d < at.size(); ++d) {
          at[d] -= c.low[d];
          isInside &= at[d] >= 0 && at[d] % (c.interior[d] + 1) == 0;
          at[d] /= c.interior[d] + 1;
          isInside &= at[d] < c.shape[d];
        }
        expected.push_back(isInside ? values[linear(c.shape, at)] : -16);
      }
      expectNumbers(g.run(padded), expected);
    }
}

TEST(MovementTest, PadKeepsTheSidesApart) {
  TestGraph g;
  const NodeId x = g.input(DType::F32, {quietNaN, 1, -0.0});
  expectNumbers(g.run(*g.pad(x, g.scalar(DType::F32, {}, quietNaN), {1}, {1}, {0})),
                {quietNaN, quietNaN, 1, -0.0, quietNaN});
  expectNumbers(g.run(*g.pad(x, g.scalar(DType::F32, {}, -0.0), {-1}, {1}, {0})), {1, -0.0, -0.0});
  // The operands may be anything.
  const NodeId counted = *g.iota({DType::F32, {3}}, 0);
  const NodeId last = *g.reduce(graph::ReduceKind::Max, counted, {0});
  expectNumbers(g.run(*g.pad(counted, last, {1}, {0}, {1})), {2, 0, 2, 1, 2, 2});
  const NodeId ones = g.scalar(DType::F32, {2}, 1);
  expectNumbers(g.run(*g.pad(*g.unary(UnaryKind::Neg, ones), last, {0}, {1}, {0})), {-1, -1, 2});
}

TEST(MovementTest, WindowAgainstCoordinates) {
  struct Case {
    Shape shape;
    std::vector<int64_t> dims, size, stride, dilation;
  };
  const std::vector<Case> cases = {
      {{7}, {0}, {3}, {1}, {1}},       {{7}, {0}, {1}, {3}, {1}},    {{7}, {0}, {2}, {2}, {3}},
      {{2}, {0}, {3}, {1}, {1}},       {{0}, {0}, {1}, {1}, {1}},    {{5, 6}, {0, 1}, {2, 3}, {1, 2}, {2, 1}},
      {{2, 5, 3}, {1}, {2}, {1}, {1}}, {{4, 1}, {1}, {1}, {1}, {9}},
  };
  for (const Case &c : cases) {
    TestGraph g;
    const std::vector<double> values = counting(*numElements(c.shape));
    const NodeId x = g.input(tensor(DType::I32, c.shape, values));
    const NodeId slid = *g.window(x, c.dims, c.size, c.stride, c.dilation);
    const Shape shape = g.node(slid).type.shape;
    std::vector<double> expected;
    for (int64_t i = 0; i < *numElements(shape); ++i) {
      Shape at = coordinates(shape, i);
      for (size_t d = 0; d < c.dims.size(); ++d)
        at[c.dims[d]] = at[c.dims[d]] * c.stride[d] + at[c.shape.size() + d] * c.dilation[d];
      at.resize(c.shape.size());
      expected.push_back(values[linear(c.shape, at)]);
    }
    expectNumbers(g.run(slid), expected);
  }
}

TEST(MovementTest, WindowBehindOthers) {
  TestGraph g;
  const NodeId x = g.input(tensor(DType::I32, {2, 3}, counting(6)));
  const NodeId flat = *g.reshape(*g.permute(x, {1, 0}), {6}); // 0 3 1 4 2 5
  expectNumbers(g.run(*g.window(flat, {0}, {2}, {2}, {3})), {0, 4, 1, 5});
  // A maximum over windows of what is computed.
  const NodeId negative = *g.unary(UnaryKind::Neg, flat);
  const NodeId pooled = *g.reduce(graph::ReduceKind::Max, *g.window(negative, {0}, {2}, {1}, {1}), {1});
  expectNumbers(g.run(pooled), {0, -1, -1, -2, -2});
}

TEST(MovementTest, Concat) {
  TestGraph g;
  const NodeId a = g.input(tensor(DType::I8, {2, 3}, counting(6)));
  const NodeId b = g.input(tensor(DType::I8, {2, 1}, {-1, -2}));
  const NodeId none = g.input(tensor(DType::I8, {2, 0}, {}));
  expectNumbers(g.run(*g.concat({{none, a, none, none, b, none}}, 1)), {0, 1, 2, -1, 3, 4, 5, -2});
  expectNumbers(g.run(*g.concat({{a, a}}, 0)), {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
  expectNumbers(g.run(*g.concat({{a}}, 0)), counting(6));
  EXPECT_EQ(g.run(*g.concat({{none, none}}, 1)).data.size(), 0u);
  const NodeId counted = *g.iota({DType::I8, {2, 2}}, 0);
  expectNumbers(g.run(*g.concat({{counted, *g.unary(UnaryKind::Neg, b)}}, 1)), {0, 0, 1, 1, 1, 2});
  // Longer than a block, and each part too.
  const NodeId x = g.input(tensor(DType::I32, {1500}, counting(1500)));
  std::vector<double> expected = counting(1500);
  expected.insert(expected.end(), expected.begin(), expected.begin() + 1500);
  expectNumbers(g.run(*g.concat({{x, x}}, 0)), expected);
}

TEST(MovementTest, BitcastKeepsEveryBit) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = uint16_t(i);
  for (DType dtype : {DType::F16, DType::BF16, DType::I16}) {
    TestGraph g;
    const NodeId x = g.input(HostTensor{{DType::U16, {65536}}, bytesOf(all)});
    const NodeId other = *g.bitcast(x, dtype);
    const std::vector<uint16_t> back = valuesOf<uint16_t>(g.run(*g.bitcast(other, DType::U16)));
    const int fraction = dtype == DType::F16 ? 10 : 7;
    for (size_t i = 0; i < all.size(); ++i) {
      // A signalling NaN becomes quiet.
      const bool isNaN = dtype != DType::I16 && (all[i] & 0x7fff) > 0x7fff - (1 << fraction) + 1;
      const bool isQuiet = all[i] >> (fraction - 1) & 1;
      const int expected = isNaN && !isQuiet ? all[i] | 1 << (fraction - 1) : all[i];
      EXPECT_EQ(back[i], expected) << i << " as " << toString(dtype);
    }
  }
  TestGraph g;
  expectNumbers(g.run(*g.bitcast(g.input(DType::F32, {1, -2}), DType::U32)), {0x3f800000, 0xc0000000});
  expectNumbers(g.run(*g.bitcast(g.input(DType::U64, {0}), DType::F64)), {0});
}

TEST(MovementTest, TransferIsTheSame) {
  TestGraph g;
  const NodeId x = g.input(DType::F32, {1, quietNaN, -0.0});
  expectNumbers(g.run(*g.transfer(x, "cuda:1")), {1, quietNaN, -0.0});
  expectNumbers(g.run(*g.unary(UnaryKind::Neg, *g.transfer(*g.unary(UnaryKind::Neg, x), "cpu"))), {1, quietNaN, -0.0});
}
