//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GradientCheck.h"

using namespace zyx;
using namespace zyx::graph;

static NodeId squared(TestGraph &g, NodeId x) { return *g.binary(BinaryKind::Mul, x, x); }

/// Indices with several of one place and some that are out of range.
static NodeId someIndices(TestGraph &g, const Shape &shape) {
  Random random(31);
  std::vector<double> places(static_cast<size_t>(*numElements(shape)));
  for (double &place : places)
    place = static_cast<double>(random.integer(-1, 3));
  return *g.constant({DType::I32, shape}, tensor(DType::I32, shape, places).data);
}

static Shape updatesOf(const Shape &x, const Shape &indices, int64_t dim) {
  Shape shape(x.begin(), x.begin() + dim);
  shape.insert(shape.end(), indices.begin(), indices.end());
  shape.insert(shape.end(), x.begin() + dim + 1, x.end());
  return shape;
}

TEST(GradientIndexingTest, GatherIsTheDifference) {
  Random random(32);
  for (const Shape &indices : {Shape{}, Shape{7}, Shape{2, 3}, Shape{0}})
    for (const auto &[shape, dim] :
         {std::pair(Shape{3}, 0), std::pair(Shape{2, 3}, 1), std::pair(Shape{3, 2}, 0), std::pair(Shape{2, 3, 2}, 1)}) {
      SCOPED_TRACE(toString(shape) + " at " + toString(indices));
      expectGradient(
          [&](TestGraph &g, const std::vector<NodeId> &x) {
            return squared(g, *g.gather(x[0], someIndices(g, indices), dim));
          },
          {random.values(shape)});
    }
}

TEST(GradientIndexingTest, ScatterIsTheDifference) {
  Random random(33);
  for (ScatterKind kind : {ScatterKind::Set, ScatterKind::Add, ScatterKind::Max, ScatterKind::Min})
    for (const Shape &indices : {Shape{}, Shape{7}, Shape{2, 3}, Shape{0}})
      for (const auto &[shape, dim] : {std::pair(Shape{3}, 0), std::pair(Shape{2, 3}, 1), std::pair(Shape{3, 2}, 0),
                                       std::pair(Shape{2, 3, 2}, 1)}) {
        SCOPED_TRACE(std::string(toString(kind)) + " into " + toString(shape) + " at " + toString(indices));
        expectGradient(
            [&](TestGraph &g, const std::vector<NodeId> &x) {
              return squared(g, *g.scatter(kind, x[0], someIndices(g, indices), x[1], dim));
            },
            {random.distinct(shape), random.values(updatesOf(shape, indices, dim), -0.6, 0.6)});
      }
  // Products, with respect to what is multiplied.
  expectGradient(
      [&](TestGraph &g, const std::vector<NodeId> &x) {
        const NodeId updates = *g.constant({DType::F64, {7}}, vector({2, 3, 0, 5, -1, 7, 2}).data);
        return squared(g, *g.scatter(ScatterKind::Mul, x[0], someIndices(g, {7}), updates, 0));
      },
      {random.values({3})});
}

TEST(GradientIndexingTest, OfSeveralUpdatesThatAreSetTheLastOneCounts) {
  const auto program = [](TestGraph &g, const std::vector<NodeId> &x) {
    const NodeId indices = *g.constant({DType::I64, {4}}, tensor(DType::I64, {4}, {1, 0, 1, 5}).data);
    return *g.scatter(ScatterKind::Set, x[0], indices, x[1], 0);
  };
  const std::vector<HostTensor> values{vector({1, 2, 3}), vector({4, 5, 6, 7})};
  expectNumbers(gradientAt(program, values, 0), {0, 0, 1});
  expectNumbers(gradientAt(program, values, 1), {0, 1, 1, 0});
}

TEST(GradientIndexingTest, TiesOfScatterShareEqually) {
  const auto program = [](TestGraph &g, const std::vector<NodeId> &x) {
    const NodeId indices = *g.constant({DType::I64, {4}}, tensor(DType::I64, {4}, {0, 0, 1, 2}).data);
    return *g.scatter(ScatterKind::Max, x[0], indices, x[1], 0);
  };
  const std::vector<HostTensor> values{vector({5, 2, quietNaN}), vector({5, 5, 1, 7})};
  EXPECT_NEAR(numbers(gradientAt(program, values, 0))[0], 1.0 / 3, 1e-15);
  expectNumbers(gradientAt(program, values, 1), {1.0 / 3, 1.0 / 3, 0, 0});
}

TEST(GradientIndexingTest, ProductsOfUpdatesAreRefused) {
  TestGraph g;
  const NodeId x = g.input(vector({1, 2})), u = g.input(vector({3}));
  const NodeId indices = *g.constant({DType::I64, {1}}, tensor(DType::I64, {1}, {0}).data);
  const NodeId y = *g.scatter(ScatterKind::Mul, x, indices, u, 0);
  EXPECT_EQ(gradient(g, y, {{u}}).status().message(),
            "gradient of scatter mul of f64[2]: no rule for its updates, because several of them "
            "may meet a zero at one place; multiply by what is gathered, and set that");
  EXPECT_TRUE(gradient(g, y, {{x}}).isOk());
}

TEST(GradientIndexingTest, NarrowFloatsAreSummedInF32) {
  for (DType dtype : {DType::BF16, DType::F16}) {
    TestGraph g;
    const NodeId x = g.input(tensor(dtype, {2}, {1, 2}));
    const NodeId places = g.input(tensor(DType::I64, {4000}, std::vector<double>(4000)));
    const NodeId dx = derivative(g, *g.gather(x, places, 0), x);
    EXPECT_EQ(g.node(dx).type.dtype, dtype);
    // Of f16, 2048 and 1 are 2048; of bf16, 256 and 1 are 256.
    expectNumbers(g.run(dx), {4000, 0});
  }
}

TEST(GradientIndexingTest, SortIsTheDifference) {
  Random random(34);
  for (bool descending : {false, true})
    for (const auto &[shape, dim] : {std::pair(Shape{5}, 0), std::pair(Shape{2, 4}, 1), std::pair(Shape{3, 2, 2}, 0),
                                     std::pair(Shape{2, 3, 2}, 1), std::pair(Shape{2, 0}, 1), std::pair(Shape{1}, 0)}) {
      SCOPED_TRACE(toString(shape));
      expectGradient(
          [&](TestGraph &g, const std::vector<NodeId> &x) {
            return squared(g, *g.sort(SortKind::Values, x[0], dim, descending));
          },
          {random.distinct(shape)});
    }
}

TEST(GradientIndexingTest, TiesOfSortKeepTheirOrder) {
  TestGraph g;
  const NodeId x = g.input(vector({2, 1, 2, quietNaN}));
  const NodeId weights = g.input(vector({1, 10, 100, 1000}));
  const NodeId y = *g.binary(BinaryKind::Mul, *g.sort(SortKind::Values, x, 0), weights);
  expectNumbers(g.run(derivative(g, y, x)), {10, 1, 100, 1000});
  // Places have no gradient.
  const NodeId places = *g.cast(*g.sort(SortKind::Indices, x, 0), DType::F64);
  EXPECT_FALSE((*gradient(g, places, {{x}}))[0]);
}
