//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Gradients of random graphs, and the gradients of these, against central differences, wherever the
// values around say that the graph is smooth.
#include "GradientCheck.h"

#include "smith/Drawer.h"

#include <array>
#include <set>

using namespace zyx;
using namespace zyx::graph;

namespace {

/// How many derivatives were compared, those that are zero apart, and of how many nothing is known,
/// because values jump, or are infinite on the way: the chain rule multiplies zero by infinity where 1 / e^x has become
/// flat.
struct Counts {
  int compared = 0, zeros = 0, unknown = 0;
};

class RandomGradient {
public:
  RandomGradient(uint64_t seed, Counts &counts) : counts(counts), random(static_cast<uint32_t>(seed)) {
    smith::Profile profile = smith::Profile::mixed();
    profile.dtypes.assign(14, DType::F64);
    profile.dtypes.insert(profile.dtypes.end(), {DType::I64, DType::Bool});
    profile.extents = {1, 2, 3};
    profile.maxElements = 60;
    profile.minSteps = 8;
    profile.maxSteps = 24;
    conformance::Program program = smith::drawProgram(seed, profile);
    static_cast<Graph &>(g) = std::move(program.graph);
    g.tensors = std::move(program.tensors);
    for (size_t i = 0; i < g.inputs.size(); ++i)
      if (const TensorType type = g.tensors[i].type; type.dtype == DType::F64) {
        g.tensors[i] = values(type.shape);
        inputs.push_back(i);
        sources.push_back(g.inputs[i]);
      }
  }

  void compare() {
    std::vector<NodeId> results;
    for (const Output &output : g.outputs)
      if (g.node(output.node).type.dtype == DType::F64)
        results.push_back(output.node);
    std::optional<NodeId> y = weigh(results);
    for (int order = 1; order <= 2 && y && !sources.empty(); ++order) {
      SCOPED_TRACE(order);
      const auto gradients = gradient(g, *y, sources);
      ASSERT_TRUE(gradients.isOk()) << gradients.status().toString();
      std::vector<NodeId> found;
      for (size_t i = 0; i < sources.size(); ++i) {
        compareSource(*y, inputs[i], (*gradients)[i]);
        if ((*gradients)[i])
          found.push_back(*(*gradients)[i]);
      }
      y = weigh(found);
    }
  }

private:
  /// Both signs, none near to zero.
  HostTensor values(const Shape &shape) {
    std::vector<double> elements(static_cast<size_t>(*numElements(shape)));
    for (double &element : elements)
      element = random.number(0.2, 1.5) * (random.integer(0, 1) ? 1 : -1);
    return tensor(DType::F64, shape, elements);
  }

  std::optional<NodeId> weigh(const std::vector<NodeId> &results) {
    std::optional<NodeId> sum;
    for (NodeId result : results) {
      const NodeId weights = g.input(random.values(Shape(g.node(result).type.shape)));
      const NodeId next = total(g, *g.binary(BinaryKind::Mul, result, weights));
      sum = sum ? *g.binary(BinaryKind::Add, *sum, next) : next;
    }
    return sum;
  }

  /// Whether an element of what y is computed from is not finite.
  bool isInfiniteOnTheWay(NodeId y) {
    std::vector<NodeId> work{y};
    std::set<NodeId> seen{y};
    while (!work.empty()) {
      const NodeId id = work.back();
      work.pop_back();
      if (g.node(id).type.dtype == DType::F64)
        for (double value : numbers(g.run(id)))
          if (!std::isfinite(value))
            return true;
      for (NodeId operand : g.node(id).operands)
        if (seen.insert(operand).second)
          work.push_back(operand);
    }
    return false;
  }

  void compareSource(NodeId y, size_t input, std::optional<NodeId> gradient) {
    const HostTensor kept = g.tensors[input];
    const std::vector<double> x = numbers(kept);
    if (x.empty())
      return;
    std::vector<double> actual(x.size());
    if (gradient)
      actual = numbers(g.run(*gradient));
    for (int samples = 0; samples < 3; ++samples) {
      const auto i = static_cast<size_t>(random.integer(0, static_cast<int64_t>(x.size()) - 1));
      const auto at = [&](double distance) {
        std::vector<double> moved = x;
        moved[i] += distance;
        g.tensors[input] = tensor(DType::F64, kept.type.shape, moved);
        return numbers(g.run(y))[0];
      };
      const double step = 1e-5, here = at(0);
      const std::array<double, 4> f{at(-2 * step), at(-step), at(step), at(2 * step)};
      const double narrow = (f[2] - f[1]) / (2 * step), wide = (f[3] - f[0]) / (4 * step);
      const double left = (here - f[1]) / step, right = (f[2] - here) / step;
      const double scale = 1 + std::abs(narrow);
      // What is lost to rounding in a difference of such values.
      const double noise = 1e-10 * (1 + std::abs(here));
      if (!std::isfinite(narrow) || std::abs(left - right) > 1e-3 * scale || std::abs(narrow - wide) > 1e-7 * scale ||
          noise > 1e-7 * scale || (std::isnan(actual[i]) && isInfiniteOnTheWay(y)))
        ++counts.unknown;
      else {
        ++(narrow == 0 ? counts.zeros : counts.compared);
        EXPECT_NEAR(actual[i], narrow, 1e-6 * scale) << "element " << i << " of input " << input;
      }
    }
    g.tensors[input] = kept;
  }

  Counts &counts;
  Random random;
  TestGraph g;
  std::vector<size_t> inputs;
  std::vector<NodeId> sources;
};

} // namespace

TEST(GradientRandomTest, GradientsAreDifferences) {
  Counts counts;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGradient(seed, counts).compare();
  }
  // Derivatives of constants agree with anything that does nothing.
  EXPECT_GT(counts.compared, 1500);
  EXPECT_LT(counts.unknown, (counts.compared + counts.zeros) / 10);
}
