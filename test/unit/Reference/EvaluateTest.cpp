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
using testing::HasSubstr;

namespace {

HostTensor randomTensor(Shape shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(*numElements(shape));
  for (double &value : values)
    value = normal(random);
  return tensor(DType::F32, std::move(shape), values);
}

/// [m, k] x [n, k]: reduce add (mul (cast a) (cast b)).
NodeId matmul(TestGraph &g, NodeId a, NodeId b, DType accumulator) {
  const int64_t m = g.node(a).type.shape[0], n = g.node(b).type.shape[0], k = g.node(a).type.shape[1];
  a = *g.expand(*g.reshape(*g.cast(a, accumulator), {m, 1, k}), {m, n, k});
  b = *g.expand(*g.reshape(*g.cast(b, accumulator), {1, n, k}), {m, n, k});
  return *g.reduce(ReduceKind::Add, *g.binary(BinaryKind::Mul, a, b), {2});
}

NodeId rowwise(TestGraph &g, ReduceKind kind, NodeId x) {
  const Shape shape = g.node(x).type.shape;
  return *g.expand(*g.reshape(*g.reduce(kind, x, {1}), {shape[0], 1}), shape);
}

NodeId softmax(TestGraph &g, NodeId x) {
  const NodeId e = *g.unary(UnaryKind::Exp, *g.binary(BinaryKind::Sub, x, rowwise(g, ReduceKind::Max, x)));
  return *g.binary(BinaryKind::Div, e, rowwise(g, ReduceKind::Add, e));
}

} // namespace

TEST(EvaluateTest, Softmax) {
  TestGraph g;
  const HostTensor x = randomTensor({256, 1024}, 1);
  const std::vector<double> in = numbers(x);
  const std::vector<double> y = numbers(g.run(softmax(g, g.input(x))));
  for (int64_t r = 0; r < 256; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < 1024; ++c)
      sum += std::exp(in[r * 1024 + c]);
    for (int64_t c = 0; c < 1024; ++c) {
      const double expected = std::exp(in[r * 1024 + c]) / sum;
      ASSERT_NEAR(y[r * 1024 + c], expected, expected * 1e-6);
    }
  }
}

TEST(EvaluateTest, MatmulNeedsNoMoreThanItsResult) {
  for (DType dtype : {DType::F32, DType::F64}) {
    TestGraph g;
    const int64_t m = 37, n = 50, k = 129;
    const HostTensor a = randomTensor({m, k}, 2), b = randomTensor({n, k}, 3);
    const NodeId y = matmul(g, g.input(a), g.input(b), dtype);
    // The casts of f64 are stored, because each element is used many times; the product is not.
    const int64_t width = byteSize(dtype);
    const HostTensor result = g.run(y, {.maxBytes = (m * n + m * k + n * k) * width});
    const std::vector<double> p = numbers(a), q = numbers(b), actual = numbers(result);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += p[i * k + l] * q[j * k + l];
        ASSERT_NEAR(actual[i * n + j], sum, dtype == DType::F32 ? 1e-4 : 1e-10);
      }
  }
}

TEST(EvaluateTest, ContractionOfBFloat16KeepsItsProducts) {
  // 1.0078125^2 has no bf16: as f32 the products stay whole, as bf16 each one rounds.
  TestGraph g;
  const double v = 1.0078125;
  const NodeId x = g.input(tensor(DType::BF16, {1, 2}, {v, v}));
  expectNumbers(g.run(matmul(g, x, x, DType::F32)), {2 * v * v});
  expectNumbers(g.run(matmul(g, x, x, DType::BF16)), {2.03125});
}

TEST(EvaluateTest, NearestNeighbour) {
  // Distances of 797 x 1000 points in 64 dimensions as the demo writes them, and the first index of
  // the least.
  TestGraph g;
  const int64_t m = 797, n = 1000, k = 64;
  const HostTensor a = randomTensor({m, k}, 4), b = randomTensor({n, k}, 5);
  const NodeId x = g.input(a), y = g.input(b);
  const auto wide = [&](NodeId id, Shape shape) { return *g.expand(*g.reshape(id, shape), {m, n}); };
  const NodeId xx = *g.reduce(ReduceKind::Add, *g.binary(BinaryKind::Mul, x, x), {1});
  const NodeId yy = *g.reduce(ReduceKind::Add, *g.binary(BinaryKind::Mul, y, y), {1});
  const NodeId xy = matmul(g, x, y, DType::F32);
  const NodeId distances = *g.binary(BinaryKind::Sub, *g.binary(BinaryKind::Add, wide(xx, {m, 1}), wide(yy, {1, n})),
                                     *g.binary(BinaryKind::Add, xy, xy));
  const NodeId least = rowwise(g, ReduceKind::Min, distances);
  const NodeId found = *g.select(*g.binary(BinaryKind::Eq, distances, least), *g.iota({DType::I32, {m, n}}, 1),
                                 g.scalar(DType::I32, {m, n}, n));
  const std::vector<double> nearest = numbers(g.run(*g.reduce(ReduceKind::Min, found, {1})));

  const std::vector<float> p = valuesOf<float>(a), q = valuesOf<float>(b);
  for (int64_t i = 0; i < m; i += 50) {
    const auto distance = [&](int64_t j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += std::pow(double(p[i * k + l]) - q[j * k + l], 2);
      return sum;
    };
    int64_t best = 0;
    for (int64_t j = 1; j < n; ++j)
      if (distance(j) < distance(best))
        best = j;
    EXPECT_EQ(nearest[i], double(best)) << "row " << i;
  }
}

TEST(EvaluateTest, SharedSubtractionIsComputedInPlace) {
  // sum((a - b)^2) uses the difference twice in one place: it need not be stored.
  TestGraph g;
  const int64_t m = 60, n = 70, k = 80;
  const NodeId a = *g.expand(*g.reshape(g.input(randomTensor({m, k}, 6)), {m, 1, k}), {m, n, k});
  const NodeId b = *g.expand(*g.reshape(g.input(randomTensor({n, k}, 7)), {1, n, k}), {m, n, k});
  const NodeId d = *g.binary(BinaryKind::Sub, a, b);
  const NodeId y = *g.reduce(ReduceKind::Add, *g.binary(BinaryKind::Mul, d, d), {2});
  g.run(y, {.maxBytes = m * n * 4});
}

TEST(EvaluateTest, WhatIsStoredDoesNotChangeValues) {
  // Random graphs of every op: each node as the only output gives the bits that it has where all
  // nodes are outputs, and so are stored.
  std::mt19937 random(8);
  const auto below = [&](size_t n) { return random() % n; };
  for (int round = 0; round < 60; ++round) {
    TestGraph g;
    std::vector<NodeId> ids;
    const Shape shape = {3, 4};
    ids.push_back(g.input(randomTensor(shape, random())));
    ids.push_back(g.input(randomTensor(shape, random())));
    for (int step = 0; step < 25; ++step) {
      const NodeId x = ids[below(ids.size())], y = ids[below(ids.size())];
      switch (below(8)) {
      case 0:
        ids.push_back(*g.unary(UnaryKind::Tanh, x));
        break;
      case 1:
        ids.push_back(rowwise(g, ReduceKind::Add, x));
        break;
      case 2:
        ids.push_back(*g.reshape(*g.permute(x, {1, 0}), shape));
        break;
      case 3:
        ids.push_back(*g.select(*g.binary(BinaryKind::Lt, x, y), y, x));
        break;
      case 4:
        ids.push_back(*g.gather(x, *g.cast(*g.reduce(ReduceKind::Max, y, {1}), DType::I32), 0));
        break;
      case 5:
        ids.push_back(*g.cast(*g.cast(x, DType::F16), DType::F32));
        break;
      default:
        ids.push_back(*g.binary(below(2) ? BinaryKind::Mul : BinaryKind::Sub, x, y));
      }
    }
    g.outputs.clear();
    for (NodeId id = 0; id < g.size(); ++id)
      g.outputs.push_back({"y" + std::to_string(id), id});
    const Result<std::vector<HostTensor>> all = evaluate(g, g.tensors);
    ASSERT_TRUE(all.isOk()) << all.status().toString();
    for (NodeId id = 0; id < g.size(); ++id)
      ASSERT_EQ(g.run(id), (*all)[id]) << "node " << id << " of round " << round;
  }
}

TEST(EvaluateTest, LongChainsNeedLittle) {
  TestGraph g;
  NodeId x = g.input(DType::I32, std::vector<double>(3000, 0));
  const NodeId one = g.scalar(DType::I32, {3000}, 1);
  for (int i = 0; i < 20000; ++i)
    x = *g.binary(BinaryKind::Add, x, one);
  expectNumbers(g.run(x, {.maxBytes = 12000}), std::vector<double>(3000, 20000));
}

TEST(EvaluateTest, OutputsMayBeAnything) {
  TestGraph g;
  const NodeId x = g.input(DType::F32, {1, 2});
  const NodeId y = *g.unary(UnaryKind::Neg, x);
  g.outputs = {{"a", x}, {"b", y}, {"c", y}, {"d", x}, {"e", *g.reshape(y, {2, 1})}};
  const Result<std::vector<HostTensor>> results = evaluate(g, g.tensors);
  ASSERT_TRUE(results.isOk());
  expectNumbers((*results)[0], {1, 2});
  expectNumbers((*results)[1], {-1, -2});
  expectNumbers((*results)[2], {-1, -2});
  expectNumbers((*results)[3], {1, 2});
  expectNumbers((*results)[4], {-1, -2});
  g.outputs.clear();
  EXPECT_TRUE(evaluate(g, g.tensors)->empty());
}

TEST(EvaluateTest, RefusesInputsThatDoNotFit) {
  TestGraph g;
  const NodeId x = g.input(DType::Bool, {1, 0});
  g.outputs = {{"y", x}};
  const auto reason = [&](std::vector<HostTensor> inputs) { return evaluate(g, inputs).status().message(); };
  EXPECT_EQ(reason({}), "graph main has 1 inputs, but 0 tensors were given");
  EXPECT_EQ(reason({tensor(DType::Bool, {3}, {0, 0, 0})}), "input x0 is bool[2], but a tensor bool[3] was given");
  EXPECT_EQ(reason({tensor(DType::U8, {2}, {0, 0})}), "input x0 is bool[2], but a tensor u8[2] was given");
  HostTensor bad = g.tensors[0];
  bad.data.resize(1);
  EXPECT_EQ(reason({bad}), "input x0, bool[2], has 2 bytes, but 1 were given");
  EXPECT_THAT(reason({{{DType::Bool, {2}}, bytesOf<uint8_t>({1, 2})}}),
              HasSubstr("input x0, bool[2], holds a byte that is neither 0 nor 1"));
}

TEST(EvaluateTest, RefusesGraphsThatAreNoProgram) {
  TestGraph g;
  const NodeId w = *g.parameter("w", {DType::F32, {2}});
  g.outputs = {{"y", w}};
  EXPECT_EQ(evaluate(g, {}).status().message(), "parameter w of graph main is not bound: it is not among its inputs");
  g.outputs = {{"y", 7}};
  EXPECT_THAT(evaluate(g, {}).status().message(), HasSubstr("output y of graph main is node 7"));
}

TEST(EvaluateTest, RefusesWhatIsTooLarge) {
  TestGraph g;
  const NodeId x = g.input(DType::F32, {1});
  const NodeId huge = *g.expand(*g.reshape(x, {1, 1}), {int64_t(1) << 20, int64_t(1) << 20});
  g.outputs = {{"y", *g.unary(UnaryKind::Exp, huge)}};
  const Status large = evaluate(g, g.tensors).status();
  EXPECT_EQ(large.code(), ErrorCode::InvalidArgument);
  EXPECT_THAT(large.toString(), HasSubstr("the tensor f32[1048576, 1048576] has 4398046511104 bytes"));
  EXPECT_THAT(large.toString(), HasSubstr("in node 3, unary exp, f32[1048576, 1048576]"));

  const NodeId sum = *g.reduce(ReduceKind::Add, *g.expand(x, {1000}), {0});
  const NodeId wide = *g.expand(*g.reshape(*g.binary(BinaryKind::Mul, sum, sum), {1}), {1000});
  g.outputs = {{"y", wide}};
  const Status status = evaluate(g, g.tensors, {.maxBytes = 2000}).status();
  EXPECT_EQ(status.code(), ErrorCode::OutOfMemory);
  EXPECT_THAT(status.message(), HasSubstr(", expand, f32[1000] needs 4000 bytes, but 4 of 2000 are in use"));
  EXPECT_TRUE(evaluate(g, g.tensors, {.maxBytes = 4008}).isOk());
  g.outputs = {{"y", *g.reduce(ReduceKind::Max, wide, {0})}};
  EXPECT_THAT(evaluate(g, g.tensors, {.maxBytes = 7}).status().message(),
              HasSubstr("binary mul, f32[] needs 4 bytes, but 4 of 7 are in use"));
}

TEST(EvaluateTest, RefusesSymbolsWithoutValues) {
  graph::Graph g;
  const NodeId x = *g.parameter("x", symbolicType(DType::F32, {*Extent::symbol("n")}));
  g.inputs = {x};
  g.outputs = {{"y", *g.unary(UnaryKind::Neg, x)}};
  EXPECT_EQ(evaluate(g, std::vector<HostTensor>{}).status().message(),
            "graph main has the symbol n without a value: specialise it before it is evaluated");
}
