//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_GRAPH_GRADIENTCHECK_H
#define ZYX_TEST_UNIT_GRAPH_GRADIENTCHECK_H

#include "../Reference/TestGraph.h"

#include "zyx/Graph/Gradient.h"
#include "zyx/Graph/UnaryKind.h"

#include <functional>
#include <random>

namespace zyx::graph {

using reference::expectNumbers;
using reference::inf;
using reference::numbers;
using reference::quietNaN;
using reference::tensor;
using reference::TestGraph;

/// Numbers of a seed.
class Random {
public:
  explicit Random(uint32_t seed) : engine(seed) {}
  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() % static_cast<uint32_t>(high - low + 1));
  }
  double number(double low, double high) { return low + (high - low) * (static_cast<double>(engine()) / 4294967296.0); }
  HostTensor values(const Shape &shape, double low = 0.3, double high = 1.7) {
    std::vector<double> elements(static_cast<size_t>(*numElements(shape)));
    for (double &element : elements)
      element = number(low, high);
    return tensor(DType::F64, shape, elements);
  }
  /// Numbers of which no two are nearer to each other than 0.05, both signs among them.
  HostTensor distinct(const Shape &shape) {
    std::vector<double> elements(static_cast<size_t>(*numElements(shape)));
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = 0.1 * (static_cast<double>(i) - static_cast<double>(elements.size()) / 2) + number(0.01, 0.05);
    for (size_t i = elements.size(); i > 1; --i)
      std::swap(elements[i - 1], elements[engine() % i]);
    return tensor(DType::F64, shape, elements);
  }
  /// Of rank 0 to 4; sometimes of no elements.
  Shape shape(int64_t minRank = 0) {
    Shape result(static_cast<size_t>(integer(minRank, 4)));
    for (int64_t &extent : result)
      extent = integer(0, 11) == 0 ? 0 : integer(1, 3);
    return result;
  }

private:
  std::mt19937 engine;
};

inline NodeId total(Graph &g, NodeId x) {
  const NodeId flat = *g.reshape(x, {*numElements(g.node(x).type.shape)});
  return *g.reduce(ReduceKind::Add, flat, {0});
}

/// The derivatives of a scalar with respect to each element of one input, by central differences.
inline std::vector<double> differences(TestGraph &g, NodeId y, size_t input) {
  std::vector<double> result;
  const HostTensor tensors = g.tensors[input];
  const std::vector<double> values = numbers(tensors);
  for (size_t i = 0; i < values.size(); ++i) {
    const double step = 1e-4 * std::max(1.0, std::abs(values[i]));
    const auto at = [&](double value) {
      std::vector<double> moved = values;
      moved[i] = value;
      g.tensors[input] = tensor(DType::F64, tensors.type.shape, moved);
      return numbers(g.run(y))[0];
    };
    result.push_back((at(values[i] + step) - at(values[i] - step)) / (2 * step));
  }
  g.tensors[input] = tensors;
  return result;
}

/// Expects that gradients of a scalar are its differences; none is a gradient of zeros.
inline void expectDifferences(TestGraph &g, NodeId y, const std::vector<NodeId> &sources,
                              const std::vector<std::optional<NodeId>> &gradients) {
  for (size_t s = 0; s < sources.size(); ++s) {
    const std::vector<double> expected = differences(g, y, s);
    std::vector<double> actual(expected.size());
    if (gradients[s])
      actual = numbers(g.run(*gradients[s]));
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(actual[i], expected[i], 2e-6 * (1 + std::abs(expected[i]))) << "element " << i << " of source " << s;
  }
}

using Program = std::function<NodeId(TestGraph &, const std::vector<NodeId> &)>;

/// Compares the gradient of a program with respect to all inputs, and the gradient of that, with
/// central differences, in f64. The result and the gradients are weighted at random.
inline void expectGradient(const Program &program, const std::vector<HostTensor> &values, bool secondOrder = true) {
  TestGraph g;
  std::vector<NodeId> sources;
  for (const HostTensor &value : values)
    sources.push_back(g.input(value));
  const NodeId y = program(g, sources);
  Random random(7);
  const auto weighted = [&](NodeId x) {
    const NodeId weights = g.input(random.values(Shape(g.node(x).type.shape)));
    return std::pair(weights, total(g, *g.binary(BinaryKind::Mul, x, weights)));
  };
  const auto [seed, loss] = weighted(y);
  GradientOptions options;
  options.seed = seed;
  const auto first = gradient(g, y, sources, options);
  ASSERT_TRUE(first.isOk()) << first.status().toString();
  for (size_t s = 0; s < sources.size(); ++s)
    if ((*first)[s]) {
      ASSERT_EQ(g.node(*(*first)[s]).type, g.node(sources[s]).type);
    }
  expectDifferences(g, loss, sources, *first);
  if (!secondOrder || testing::Test::HasFailure())
    return;

  std::optional<NodeId> sum;
  for (const std::optional<NodeId> &partial : *first)
    if (partial) {
      const NodeId next = weighted(*partial).second;
      sum = sum ? *g.binary(BinaryKind::Add, *sum, next) : next;
    }
  if (!sum)
    return;
  const auto second = gradient(g, *sum, sources);
  ASSERT_TRUE(second.isOk()) << second.status().toString();
  SCOPED_TRACE("second order");
  expectDifferences(g, *sum, sources, *second);
}

/// The gradient of y with respect to x, which is expected to exist.
inline NodeId derivative(TestGraph &g, NodeId y, NodeId x) {
  const auto gradients = gradient(g, y, {{x}});
  EXPECT_TRUE(gradients.isOk()) << gradients.status().toString();
  EXPECT_TRUE(gradients.isOk() && (*gradients)[0]);
  return gradients.isOk() && (*gradients)[0] ? *(*gradients)[0] : x;
}

/// What the gradient of a program of vectors is, with respect to one of its inputs.
inline HostTensor gradientAt(const Program &program, const std::vector<HostTensor> &values, size_t source) {
  TestGraph g;
  std::vector<NodeId> sources;
  for (const HostTensor &value : values)
    sources.push_back(g.input(value));
  const NodeId y = program(g, sources);
  return g.run(derivative(g, y, sources[source]));
}

/// How a convolution of [images, groups * in, h, w] with [groups * out, in, r, s] is spelled.
struct Convolution {
  int64_t groups = 1;
  std::vector<int64_t> stride{1, 1}, dilation{1, 1};
  /// In the product.
  bool channelsLast = false;
  /// Casts before the expands, or behind them.
  bool castsFirst = true;

  NodeId build(Graph &g, NodeId x, NodeId filters) const {
    const Shape f = g.node(filters).type.shape;
    const int64_t in = f[1], out = f[0] / groups;
    const NodeId windows = *g.window(x, {2, 3}, {f[2], f[3]}, stride, dilation);
    const Shape w = g.node(windows).type.shape;
    std::vector<int64_t> order{0, 1, 2, 3, 4, 5, 6, 7};
    if (channelsLast)
      order = {0, 4, 5, 1, 2, 3, 6, 7};
    const DType narrow = g.node(x).type.dtype, wide = accumulatorType(narrow);
    const auto spread = [&](NodeId y, Shape shape) {
      y = *g.permute(*g.reshape(y, std::move(shape)), order);
      if (castsFirst)
        y = *g.cast(y, wide);
      const Shape all{w[0], groups, out, in, w[2], w[3], f[2], f[3]};
      Shape permuted;
      for (int64_t dim : order)
        permuted.push_back(all[static_cast<size_t>(dim)]);
      y = *g.expand(y, permuted);
      return castsFirst ? y : *g.cast(y, wide);
    };
    const NodeId product = *g.binary(BinaryKind::Mul, spread(windows, {w[0], groups, 1, in, w[2], w[3], f[2], f[3]}),
                                     spread(filters, {1, groups, out, in, 1, 1, f[2], f[3]}));
    NodeId sum = *g.reduce(ReduceKind::Add, product, {channelsLast ? 5 : 3, 6, 7});
    if (channelsLast)
      sum = *g.permute(sum, {0, 3, 4, 1, 2});
    return *g.cast(*g.reshape(sum, {w[0], f[0], w[2], w[3]}), narrow);
  }
};

inline HostTensor vector(const std::vector<double> &values) {
  return tensor(DType::F64, {static_cast<int64_t>(values.size())}, values);
}

} // namespace zyx::graph

#endif // ZYX_TEST_UNIT_GRAPH_GRADIENTCHECK_H
