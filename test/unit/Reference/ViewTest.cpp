//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TestGraph.h"

#include <random>

using namespace zyx;
using namespace zyx::reference;
using graph::BinaryKind;
using graph::NodeId;
using graph::ReduceKind;
using graph::UnaryKind;

namespace {

std::vector<double> counting(int64_t count) {
  std::vector<double> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = double(i);
  return values;
}

/// A view, done naively: element by element, from coordinates.
std::vector<double> naiveView(const Shape &from, const std::vector<double> &x, const Shape &to, graph::Op op,
                              const std::vector<int64_t> &order) {
  if (op == graph::Op::Reshape)
    return x;
  std::vector<double> result;
  for (int64_t i = 0, n = *numElements(to); i < n; ++i) {
    Shape at(to.size()), source(from.size());
    for (size_t d = to.size(), rest = i; d-- > 0; rest /= to[d])
      at[d] = int64_t(rest) % to[d];
    for (size_t d = 0; d < to.size(); ++d) {
      if (op == graph::Op::Permute)
        source[order[d]] = at[d];
      else
        source[d] = from[d] == 1 ? 0 : at[d];
    }
    int64_t index = 0;
    for (size_t d = 0; d < from.size(); ++d)
      index = index * from[d] + source[d];
    result.push_back(x[index]);
  }
  return result;
}

} // namespace

TEST(ViewTest, Transposition) {
  TestGraph g;
  const NodeId x = g.input(tensor(DType::I16, {2, 3}, counting(6)));
  const NodeId turned = *g.permute(x, {1, 0});
  expectNumbers(g.run(turned), {0, 3, 1, 4, 2, 5});
  // A reshape of it is no strided view of x.
  expectNumbers(g.run(*g.permute(*g.reshape(turned, {2, 3}), {1, 0})), {0, 4, 3, 2, 1, 5});
}

TEST(ViewTest, RankZero) {
  TestGraph g;
  const NodeId x = g.input(tensor(DType::F32, {}, {3}));
  expectNumbers(g.run(*g.unary(UnaryKind::Neg, x)), {-3});
  expectNumbers(g.run(*g.expand(*g.reshape(x, {1, 1}), {2, 3})), {3, 3, 3, 3, 3, 3});
  expectNumbers(g.run(*g.permute(x, {})), {3});
  expectNumbers(g.run(*g.reshape(*g.reduce(ReduceKind::Add, *g.reshape(x, {1}), {0}), {})), {3});
}

TEST(ViewTest, ZeroExtents) {
  TestGraph g;
  const NodeId x = g.input(tensor(DType::F32, {2, 0, 3}, {}));
  expectNumbers(g.run(*g.unary(UnaryKind::Exp, x)), {});
  expectNumbers(g.run(*g.permute(*g.reshape(x, {0, 5}), {1, 0})), {});
  expectNumbers(g.run(*g.expand(*g.reshape(g.scalar(DType::F32, {}, 1), {1, 1}), {0, 4})), {});
  expectNumbers(g.run(*g.reduce(ReduceKind::Mul, *g.permute(x, {2, 1, 0}), {1})), {1, 1, 1, 1, 1, 1});
}

TEST(ViewTest, RandomChains) {
  std::mt19937 random(1);
  const auto below = [&](size_t n) { return random() % n; };
  for (int round = 0; round < 400; ++round) {
    TestGraph g;
    // Extents whose products can be split in many ways; some are 1, for expand.
    Shape shape(1 + below(4));
    for (int64_t &extent : shape)
      extent = std::array<int64_t, 6>{1, 1, 2, 3, 4, 6}[below(6)];
    std::vector<double> values = counting(*numElements(shape));
    NodeId x = g.input(tensor(DType::I32, shape, values));
    for (int step = 0; step < 6; ++step) {
      const auto op = std::array{graph::Op::Reshape, graph::Op::Expand, graph::Op::Permute}[below(3)];
      Shape to;
      std::vector<int64_t> order;
      if (op == graph::Op::Reshape) {
        int64_t rest = *numElements(shape);
        while (rest > 1 && to.size() < 6) {
          std::vector<int64_t> divisors;
          for (int64_t d = 1; d <= rest; ++d)
            if (rest % d == 0)
              divisors.push_back(d);
          to.push_back(divisors[below(divisors.size())]);
          rest /= to.back();
        }
        to.push_back(rest);
        x = *g.reshape(x, to);
      } else if (op == graph::Op::Expand) {
        to = shape;
        for (int64_t &extent : to)
          if (extent == 1 && *numElements(to) < 2000)
            extent = int64_t(1 + below(3));
        x = *g.expand(x, to);
      } else {
        for (size_t d = 0; d < shape.size(); ++d)
          order.push_back(int64_t(d));
        std::shuffle(order.begin(), order.end(), random);
        for (int64_t d : order)
          to.push_back(shape[d]);
        x = *g.permute(x, order);
      }
      values = naiveView(shape, values, to, op, order);
      shape = to;
    }
    expectNumbers(g.run(x), values);
    if (HasFailure())
      FAIL() << "round " << round;
    // The same as the operand of an op, and reduced over a dimension.
    const NodeId one = g.scalar(DType::I32, shape, 1);
    std::vector<double> more = values;
    for (double &value : more)
      value += 1;
    const NodeId sum = *g.binary(BinaryKind::Add, x, one);
    expectNumbers(g.run(sum), more);
    if (shape.empty())
      continue;
    const size_t dim = below(shape.size());
    Shape kept = shape;
    kept.erase(kept.begin() + int64_t(dim));
    std::vector<double> totals(*numElements(kept));
    int64_t inner = 1;
    for (size_t d = dim + 1; d < shape.size(); ++d)
      inner *= shape[d];
    for (size_t i = 0; i < more.size(); ++i)
      totals[int64_t(i) / inner / shape[dim] * inner + int64_t(i) % inner] += more[i];
    expectNumbers(g.run(*g.reduce(ReduceKind::Add, sum, {int64_t(dim)})), totals);
  }
}

TEST(ViewTest, Iota) {
  TestGraph g;
  expectNumbers(g.run(*g.iota({DType::I32, {2, 3}}, 0)), {0, 0, 0, 1, 1, 1});
  expectNumbers(g.run(*g.iota({DType::F16, {2, 3}}, 1)), {0, 1, 2, 0, 1, 2});
  expectNumbers(g.run(*g.iota({DType::U8, {256}}, 0)), counting(256));
  const NodeId turned = *g.permute(*g.iota({DType::I64, {2, 3}}, 1), {1, 0});
  expectNumbers(g.run(turned), {0, 0, 1, 1, 2, 2});
  expectNumbers(g.run(*g.reshape(turned, {6})), {0, 0, 1, 1, 2, 2});
  expectNumbers(g.run(*g.iota({DType::F64, {0, 3}}, 1)), {});
}

TEST(ViewTest, Constants) {
  TestGraph g;
  const NodeId dense = *g.constant({DType::F32, {2, 2}}, tensor(DType::F32, {4}, {1, 2, 3, 4}).data);
  expectNumbers(g.run(dense), {1, 2, 3, 4});
  expectNumbers(g.run(*g.permute(dense, {1, 0})), {1, 3, 2, 4});
  expectNumbers(g.run(g.scalar(DType::BF16, {2, 2}, 0.5)), {0.5, 0.5, 0.5, 0.5});
  expectNumbers(g.run(*g.reshape(g.scalar(DType::Bool, {2, 2}, 1), {4})), {1, 1, 1, 1});
}

TEST(ViewTest, GatherTakesAlongADimension) {
  TestGraph g;
  const NodeId x = g.input(tensor(DType::F16, {3, 2}, {1, 2, 3, 4, 5, 6}));
  const NodeId rows = g.input(tensor(DType::I32, {4}, {2, 0, 2, 1}));
  expectNumbers(g.run(*g.gather(x, rows, 0)), {5, 6, 1, 2, 5, 6, 3, 4});
  const NodeId table = g.input(tensor(DType::U8, {2, 2}, {1, 0, 0, 1}));
  expectNumbers(g.run(*g.gather(x, table, 1)), {2, 1, 1, 2, 4, 3, 3, 4, 6, 5, 5, 6});
  const NodeId one = g.input(tensor(DType::I64, {}, {1}));
  expectNumbers(g.run(*g.gather(x, one, 0)), {3, 4});
}

TEST(ViewTest, GatherOutOfRangeIsZero) {
  for (DType dtype : {DType::F32, DType::I8, DType::Bool, DType::F8E4M3FN, DType::U64}) {
    TestGraph g;
    const NodeId x = g.input(tensor(dtype, {2}, {1, 1}));
    const NodeId i = g.input(tensor(DType::I8, {5}, {0, -1, 2, 127, -128}));
    expectNumbers(g.run(*g.gather(x, i, 0)), {1, 0, 0, 0, 0});
    const HostTensor big{{DType::U64, {3}}, bytesOf<uint64_t>({~uint64_t(0), uint64_t(1) << 63, 1})};
    expectNumbers(g.run(*g.gather(x, g.input(big), 0)), {0, 0, 1});
    const NodeId none = g.input(tensor(dtype, {0, 2}, {}));
    expectNumbers(g.run(*g.gather(none, i, 0)), std::vector<double>(10, 0));
    const NodeId nothing = g.input(tensor(DType::I32, {0}, {}));
    expectNumbers(g.run(*g.gather(x, nothing, 0)), {});
  }
}

TEST(ViewTest, GatherFromAndByViewsAndOps) {
  TestGraph g;
  const NodeId x = g.input(tensor(DType::F32, {2, 3}, counting(6)));
  const NodeId turned = *g.permute(x, {1, 0}); // [[0, 3], [1, 4], [2, 5]]
  const NodeId ids = *g.iota({DType::I32, {3}}, 0);
  const NodeId back = *g.binary(BinaryKind::Sub, g.scalar(DType::I32, {3}, 2), ids);
  expectNumbers(g.run(*g.gather(turned, back, 0)), {2, 5, 1, 4, 0, 3});
  expectNumbers(g.run(*g.gather(*g.reshape(turned, {6}), back, 0)), {1, 3, 0});
  expectNumbers(g.run(*g.gather(*g.unary(UnaryKind::Neg, turned), back, 0)), {-2, -5, -1, -4, -0.0, -3});
  const NodeId eights = *g.iota({DType::U16, {8}}, 0);
  expectNumbers(g.run(*g.gather(eights, back, 0)), {2, 1, 0});
  const NodeId far = *g.binary(BinaryKind::Mul, back, g.scalar(DType::I32, {3}, 7));
  expectNumbers(g.run(*g.gather(eights, far, 0)), {0, 7, 0});
  expectNumbers(g.run(*g.gather(g.scalar(DType::F32, {8}, 5), far, 0)), {0, 5, 5});
}
