//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GradientCheck.h"

using namespace zyx;
using namespace zyx::graph;
using enum zyx::graph::ReduceKind;

static NodeId squared(TestGraph &g, NodeId x) { return *g.binary(BinaryKind::Mul, x, x); }

static Program reduction(ReduceKind kind, std::vector<int64_t> dims) {
  return
      [=](TestGraph &g, const std::vector<NodeId> &x) { return squared(g, *g.reduce(kind, squared(g, x[0]), dims)); };
}

static Program scan(ReduceKind kind, int64_t dim, bool exclusive, bool reverse) {
  return [=](TestGraph &g, const std::vector<NodeId> &x) {
    return squared(g, *g.scan(kind, squared(g, x[0]), dim, exclusive, reverse));
  };
}

TEST(GradientReductionTest, EachReduceIsTheDifference) {
  Random random(21);
  for (ReduceKind kind : {Add, Mul, Max, Min})
    for (int i = 0; i < 8; ++i) {
      const bool isExtremum = kind == Max || kind == Min;
      Shape shape = random.shape(1);
      std::vector<int64_t> dims;
      for (size_t d = 0; d < shape.size(); ++d) {
        if (isExtremum && shape[d] == 0)
          shape[d] = 2;
        if (random.integer(0, 1))
          dims.push_back(static_cast<int64_t>(d));
      }
      if (dims.empty())
        dims.push_back(0);
      SCOPED_TRACE(std::string(toString(kind)) + toString(shape) + toString(dims));
      HostTensor values = random.values(shape);
      if (isExtremum) {
        // Far from each other, and positive, so that squares are as well.
        std::vector<double> elements = numbers(random.distinct(shape));
        for (double &element : elements)
          element += 0.1 * static_cast<double>(elements.size());
        values = tensor(DType::F64, shape, elements);
      }
      expectGradient(reduction(kind, dims), {values});
    }
}

TEST(GradientReductionTest, ProductsOfZeros) {
  for (const std::vector<double> &x : {std::vector<double>{2, 0, 3}, {0, 2, 0}, {0, 0, 0}, {0}}) {
    const auto product = [](TestGraph &g, const std::vector<NodeId> &x) { return *g.reduce(Mul, x[0], {0}); };
    expectGradient(product, {vector(x)});
    for (bool exclusive : {false, true})
      for (bool reverse : {false, true})
        expectGradient(
            [&](TestGraph &g, const std::vector<NodeId> &x) { return *g.scan(Mul, x[0], 0, exclusive, reverse); },
            {vector(x)});
  }
  expectNumbers(gradientAt([](TestGraph &g, const std::vector<NodeId> &x) { return *g.reduce(Mul, x[0], {0}); },
                           {vector({2, 0, 3})}, 0),
                {0, 6, 0});
}

TEST(GradientReductionTest, TiesShareEqually) {
  const auto at = [](ReduceKind kind, const std::vector<double> &x) {
    return gradientAt([&](TestGraph &g, const std::vector<NodeId> &x) { return *g.reduce(kind, x[0], {0}); },
                      {vector(x)}, 0);
  };
  expectNumbers(at(Max, {3, 1, 3, 3, 3}), {0.25, 0, 0.25, 0.25, 0.25});
  expectNumbers(at(Min, {0.0, 1, -0.0}), {0.5, 0, 0.5});
  expectNumbers(at(Max, {3, quietNaN, 3}), {0, 0, 0});
  expectNumbers(at(Max, {-inf, -inf}), {0.5, 0.5});
  // More ties than f16 counts.
  TestGraph g;
  const NodeId x = g.input(tensor(DType::F16, {4096}, std::vector<double>(4096, 1.0)));
  const NodeId dx = derivative(g, *g.reduce(Max, x, {0}), x);
  EXPECT_EQ(numbers(g.run(dx))[4095], 1.0 / 4096);
}

TEST(GradientReductionTest, EachScanIsTheDifference) {
  Random random(22);
  for (ReduceKind kind : {Add, Mul, Max, Min})
    for (bool exclusive : {false, true})
      for (bool reverse : {false, true}) {
        SCOPED_TRACE(std::string(toString(kind)) + (exclusive ? " exclusive" : "") + (reverse ? " reverse" : ""));
        // An exclusive maximum begins with infinity.
        const bool isInfinite = exclusive && (kind == Max || kind == Min);
        for (const auto &[shape, dim] :
             {std::pair(Shape{5}, 0), std::pair(Shape{2, 4}, 1), std::pair(Shape{3, 2, 2}, 0), std::pair(Shape{1}, 0),
              std::pair(Shape{2, 0}, 1), std::pair(Shape{2, 0}, 0)}) {
          SCOPED_TRACE(toString(shape));
          std::vector<double> elements = numbers(random.distinct(shape));
          for (double &element : elements)
            element += 0.1 * static_cast<double>(elements.size());
          const HostTensor values = tensor(DType::F64, shape, elements);
          if (!isInfinite) {
            expectGradient(scan(kind, dim, exclusive, reverse), {values});
            continue;
          }
          expectGradient(
              [&](TestGraph &g, const std::vector<NodeId> &x) {
                const NodeId y = *g.scan(kind, squared(g, x[0]), dim, exclusive, reverse);
                const NodeId isFinite =
                    *g.binary(BinaryKind::Lt, *g.unary(UnaryKind::Abs, y), g.scalar(DType::F64, shape, 1e9));
                return squared(g, *g.select(isFinite, y, g.scalar(DType::F64, shape, 0)));
              },
              {values});
        }
      }
  // Longer than a few steps of the recurrence.
  expectGradient(scan(Mul, 0, false, false), {random.values({13}, 0.8, 1.2)});
}

TEST(GradientReductionTest, TiesOfScansGoToTheLast) {
  const auto at = [](ReduceKind kind, bool reverse, const std::vector<double> &x) {
    return gradientAt(
        [&](TestGraph &g, const std::vector<NodeId> &x) { return *g.scan(kind, x[0], 0, false, reverse); }, {vector(x)},
        0);
  };
  expectNumbers(at(Max, false, {1, 3, 2, 3, 0}), {1, 2, 0, 2, 0});
  expectNumbers(at(Max, true, {0, 3, 2, 3, 1}), {0, 2, 0, 2, 1});
  expectNumbers(at(Min, false, {1, 1, 1}), {1, 1, 1});
  expectNumbers(at(Max, false, {1, quietNaN, 3}), {1, 0, 0});
}

TEST(GradientReductionTest, HalvesAccumulateInF32) {
  // 4097 is no f16, and a sum in f16 would stay at 2048.
  TestGraph g;
  const NodeId x = g.input(tensor(DType::F16, {1}, {1}));
  const NodeId dx = derivative(g, *g.expand(x, {4100}), x);
  EXPECT_EQ(g.node(dx).type.dtype, DType::F16);
  expectNumbers(g.run(dx), {4100});
}
