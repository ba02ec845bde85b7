//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Gradients as the compiler sees them: how many kernels they become, and what these compute.
#include "../Graph/GradientCheck.h"

#include "zyx/Session/Session.h"

#include "smith/Drawer.h"

#include <cstdlib>

using namespace zyx;
using namespace zyx::graph;

namespace {

/// A graph of f32, or of bf16, and the sources of its gradient.
struct Model : TestGraph {
  explicit Model(DType dtype = DType::F32) : dtype(dtype) {}

  DType dtype;
  Random random{51};
  std::vector<NodeId> sources;

  NodeId source(const Shape &shape) {
    sources.push_back(data(shape));
    return sources.back();
  }
  NodeId data(const Shape &shape) {
    std::vector<double> values(static_cast<size_t>(*numElements(shape)));
    for (double &value : values)
      value = random.number(-1, 1);
    return input(tensor(dtype, shape, values));
  }
  NodeId spread(NodeId x, Shape ones, Shape shape) { return *expand(*reshape(x, std::move(ones)), std::move(shape)); }
  /// [m, k] times [k, n].
  NodeId matmul(NodeId a, NodeId b) {
    const int64_t m = node(a).type.shape[0], k = node(a).type.shape[1], n = node(b).type.shape[1];
    const NodeId left = *cast(spread(a, {m, 1, k}, {m, n, k}), DType::F32);
    const NodeId right = *cast(spread(*permute(b, {1, 0}), {1, n, k}, {m, n, k}), DType::F32);
    const NodeId product = *binary(BinaryKind::Mul, left, right);
    return *cast(*reduce(ReduceKind::Add, product, {2}), dtype);
  }
  /// Images with channels first, padded by one, with filters of [out, in, 3, 3].
  NodeId convolution(NodeId x, NodeId filters, int64_t stride) {
    const Shape f = node(filters).type.shape;
    const NodeId padded = *pad(x, scalar(DType::F32, {}, 0), {0, 0, 1, 1}, {0, 0, 1, 1}, {0, 0, 0, 0});
    const NodeId windows = *window(padded, {2, 3}, {3, 3}, {stride, stride}, {1, 1});
    const Shape w = node(windows).type.shape;
    const Shape all{w[0], f[0], w[1], w[2], w[3], 3, 3};
    const NodeId product = *binary(BinaryKind::Mul, spread(windows, {w[0], 1, w[1], w[2], w[3], 3, 3}, all),
                                   spread(filters, {1, f[0], f[1], 1, 1, 3, 3}, all));
    return *reduce(ReduceKind::Add, product, {2, 5, 6});
  }

  /// The kernels of the gradients of y alone, after comparing them with the interpreter's.
  size_t kernels(NodeId y) {
    outputs.clear();
    const NodeId seed = data(Shape(node(y).type.shape));
    addGradients({{y}}, {{seed}});
    EXPECT_EQ(outputs.size(), sources.size());
    return compare(dtype == DType::BF16 ? 4e-3 : 1e-5, 0);
  }
  /// Makes the gradients the outputs, where there are some.
  void addGradients(std::span<const NodeId> targets, std::span<const NodeId> seeds) {
    const auto gradients = gradient(*this, targets, seeds, sources);
    ASSERT_TRUE(gradients.isOk()) << gradients.status().toString();
    for (const std::optional<NodeId> &found : *gradients)
      if (found)
        outputs.push_back({"d" + std::to_string(outputs.size()), *found});
  }
  /// Runs the outputs on the CPU and by the interpreter, and returns the number of kernels. The
  /// tolerance is of the largest element, and of no less than `least`; where an element is not finite
  /// nothing is known of it.
  size_t compare(double tolerance, double least) {
    setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
    session::Session session;
    auto executable = session.prepare(*this, "cpu");
    EXPECT_TRUE(executable.isOk()) << executable.status().toString();
    if (!executable.isOk())
      return 0;
    EXPECT_TRUE((*executable)->setInputs(tensors).isOk());
    EXPECT_TRUE((*executable)->run().isOk());
    const auto actual = (*executable)->readOutputs();
    const auto expected = reference::evaluate(*this, tensors);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::vector<double> a = numbers((*actual)[i]), b = numbers((*expected)[i]);
      double largest = least, distance = 0;
      for (size_t e = 0; e < a.size(); ++e) {
        if (!std::isfinite(b[e]))
          continue;
        largest = std::max(largest, std::abs(b[e]));
        distance = std::isfinite(a[e]) ? std::max(distance, std::abs(a[e] - b[e])) : reference::inf;
      }
      EXPECT_LE(distance, tolerance * largest) << "output " << i;
    }
    return (*executable)->numKernels;
  }
};

} // namespace

TEST(GradientPlanTest, MatrixProductsHaveMatrixProducts) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    Model m(dtype);
    EXPECT_EQ(m.kernels(m.matmul(m.source({96, 64}), m.source({64, 80}))), 2u);
    // Of three factors: the inner product again, its gradient, and one for each factor.
    Model chain(dtype);
    const NodeId inner = chain.matmul(chain.source({96, 64}), chain.source({64, 80}));
    EXPECT_EQ(chain.kernels(chain.matmul(inner, chain.source({80, 32}))), 5u);
  }
}

TEST(GradientPlanTest, LayersWithSoftmax) {
  Model m;
  const NodeId x = m.source({32, 64}), w = m.source({64, 128}), b = m.source({128}), v = m.source({128, 10});
  const NodeId hidden = *m.binary(BinaryKind::Add, m.matmul(x, w), m.spread(b, {1, 128}, {32, 128}));
  const NodeId active = *m.binary(BinaryKind::Max, hidden, m.scalar(DType::F32, {32, 128}, 0));
  const NodeId logits = m.matmul(active, v);
  const NodeId top = m.spread(*m.reduce(ReduceKind::Max, logits, {1}), {32, 1}, {32, 10});
  const NodeId e = *m.unary(UnaryKind::Exp, *m.binary(BinaryKind::Sub, logits, top));
  const NodeId s = m.spread(*m.reduce(ReduceKind::Add, e, {1}), {32, 1}, {32, 10});
  // Two products forwards and four backwards, the softmax's gradient, and the bias's.
  EXPECT_LE(m.kernels(*m.binary(BinaryKind::Div, e, s)), 8u);
}

TEST(GradientPlanTest, ConvolutionsAndPools) {
  // Two convolutions; or one for the filters and one for each of four phases, which two kernels bring together.
  for (const auto &[stride, most] : {std::pair(1, 2u), std::pair(2, 7u)}) {
    Model m;
    EXPECT_LE(m.kernels(m.convolution(m.source({2, 8, 12, 12}), m.source({6, 8, 3, 3}), stride)), most);
  }
  Model m;
  const NodeId windows = *m.window(m.source({2, 8, 12, 12}), {2, 3}, {2, 2}, {2, 2}, {1, 1});
  EXPECT_LE(m.kernels(*m.reduce(ReduceKind::Max, windows, {4, 5})), 2u);
}

TEST(GradientPlanTest, OrdersAndIndices) {
  Model m;
  const NodeId x = m.source({8, 50});
  NodeId y = *m.sort(SortKind::Values, x, 1);
  for (ReduceKind kind : {ReduceKind::Add, ReduceKind::Mul, ReduceKind::Max})
    y = *m.binary(BinaryKind::Add, y, *m.scan(kind, x, 1, kind == ReduceKind::Mul, true));
  const NodeId places = *m.sort(SortKind::Indices, m.data({50}), 0);
  const NodeId rows = *m.gather(m.source({50, 8}), places, 0);
  const NodeId set = *m.scatter(ScatterKind::Set, rows, *m.gather(places, places, 0), m.source({50, 8}), 0);
  m.kernels(*m.binary(BinaryKind::Mul, y, *m.permute(set, {1, 0})));
}

/// softmax(q k) v of one head, with a mask that is added.
TEST(GradientPlanTest, Attention) {
  Model m;
  const NodeId q = m.source({24, 16}), k = m.source({16, 32}), v = m.source({32, 16});
  const NodeId scores = *m.binary(BinaryKind::Add, m.matmul(q, k), m.data({24, 32}));
  const NodeId top = *m.bitcast(*m.reduce(ReduceKind::Max, scores, {1}), DType::F32);
  const NodeId e = *m.unary(UnaryKind::Exp, *m.binary(BinaryKind::Sub, scores, m.spread(top, {24, 1}, {24, 32})));
  const NodeId s = m.spread(*m.reduce(ReduceKind::Add, e, {1}), {24, 1}, {24, 32});
  // The weights and what comes to them and to the scores, with three products.
  EXPECT_LE(m.kernels(m.matmul(*m.binary(BinaryKind::Div, e, s), v)), 7u);
}

TEST(GradientPlanTest, LayerNorm) {
  Model m;
  const Shape shape{32, 48};
  const NodeId x = m.source(shape), scale = m.source({48}), shift = m.source({48});
  const auto mean = [&](NodeId y) {
    const NodeId sum = *m.reduce(ReduceKind::Add, y, {1});
    return m.spread(*m.binary(BinaryKind::Mul, sum, m.scalar(DType::F32, {32}, 1.0 / 48)), {32, 1}, shape);
  };
  const NodeId centred = *m.binary(BinaryKind::Sub, x, mean(x));
  const NodeId variance = mean(*m.binary(BinaryKind::Mul, centred, centred));
  const NodeId normal =
      *m.binary(BinaryKind::Mul, centred,
                *m.unary(UnaryKind::Rsqrt, *m.binary(BinaryKind::Add, variance, m.scalar(DType::F32, shape, 1e-5))));
  const NodeId y = *m.binary(BinaryKind::Add, *m.binary(BinaryKind::Mul, normal, m.spread(scale, {1, 48}, shape)),
                             m.spread(shift, {1, 48}, shape));
  EXPECT_LE(m.kernels(y), 4u);
}

TEST(GradientPlanTest, Loops) {
  // h = tanh(h w + x)
  Graph step;
  const TensorType row{DType::F32, {16}};
  step.inputs = {*step.parameter("i", {DType::I64, {}}), *step.parameter("h", row), *step.parameter("w", row),
                 *step.parameter("x", row)};
  const NodeId product = *step.binary(BinaryKind::Mul, step.inputs[1], step.inputs[2]);
  step.outputs = {{"h", *step.unary(UnaryKind::Tanh, *step.binary(BinaryKind::Add, product, step.inputs[3]))}};
  Model m;
  const NodeId h = m.source({16}), w = m.source({16}), x = m.source({16});
  m.kernels((*m.loop(*Body::create(step), 7, {{h}}, {{w, x}}))[0]);
}

TEST(GradientPlanTest, ABitcastToItsOwnTypeStopsGradientsAndIsNothingElse) {
  // A softmax does not change with the maximum that it subtracts.
  Model m;
  const NodeId x = m.source({32, 64});
  const NodeId top = *m.bitcast(*m.reduce(ReduceKind::Max, x, {1}), DType::F32);
  const NodeId e = *m.unary(UnaryKind::Exp, *m.binary(BinaryKind::Sub, x, m.spread(top, {32, 1}, {32, 64})));
  const NodeId s = m.spread(*m.reduce(ReduceKind::Add, e, {1}), {32, 1}, {32, 64});
  EXPECT_EQ(m.kernels(*m.binary(BinaryKind::Div, e, s)), 1u);
}

TEST(GradientPlanTest, RandomPrograms) {
  smith::Profile profile = smith::Profile::mixed();
  profile.dtypes.assign(10, DType::F32);
  profile.dtypes.insert(profile.dtypes.end(), {DType::F64, DType::I32, DType::Bool, DType::BF16});
  profile.maxElements = 600;
  profile.minSteps = 4;
  profile.maxSteps = 12;
  int compared = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    conformance::Program program = smith::drawProgram(seed, profile);
    Model m;
    static_cast<Graph &>(m) = std::move(program.graph);
    m.tensors = std::move(program.tensors);
    for (size_t i = 0; i < m.inputs.size(); ++i) {
      const TensorType type = m.tensors[i].type;
      if (!isFloat(type.dtype))
        continue;
      m.sources.push_back(m.inputs[i]);
      std::vector<double> values = numbers(m.random.values(type.shape));
      for (double &value : values)
        value *= m.random.integer(0, 1) ? 1 : -1;
      m.tensors[i] = tensor(type.dtype, type.shape, values);
    }
    std::vector<NodeId> targets, seeds;
    for (const Output &output : std::exchange(m.outputs, {})) {
      const TensorType type = m.node(output.node).type;
      if (!isFloat(type.dtype))
        continue;
      targets.push_back(output.node);
      seeds.push_back(m.scalar(type.dtype, type.shape, 1));
    }
    m.addGradients(targets, seeds);
    if (m.outputs.empty())
      continue;
    ++compared;
    // Some are bf16, or went through it.
    m.compare(2e-2, 1);
  }
  EXPECT_GT(compared, 25);
}
