//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GradientCheck.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::graph;

namespace {
constexpr UnaryKind ofFloats[] = {
#define ZYX_GRAPH_UNARY_NUMBERS(Name) UnaryKind::Name,
#define ZYX_GRAPH_UNARY_FLOATS(Name) UnaryKind::Name,
#include "zyx/Graph/UnaryKinds.inc"
};
constexpr UnaryKind flat[] = {
#define ZYX_GRAPH_UNARY_FLAT(Name) UnaryKind::Name,
#include "zyx/Graph/UnaryKinds.inc"
};
constexpr UnaryKind nanBelowZero[] = {
#define ZYX_GRAPH_UNARY_NAN_BELOW_ZERO(Name) UnaryKind::Name,
#include "zyx/Graph/UnaryKinds.inc"
};
} // namespace

static Program unary(UnaryKind kind) {
  return [kind](TestGraph &g, const std::vector<NodeId> &x) { return *g.unary(kind, x[0]); };
}
static Program binary(BinaryKind kind) {
  return [kind](TestGraph &g, const std::vector<NodeId> &x) { return *g.binary(kind, x[0], x[1]); };
}

TEST(GradientElementwiseTest, EachUnaryIsTheDifference) {
  Random random(1);
  for (UnaryKind kind : ofFloats) {
    SCOPED_TRACE(toString(kind));
    if (std::ranges::find(flat, kind) != std::end(flat))
      continue;
    for (int i = 0; i < 3; ++i)
      expectGradient(unary(kind), {random.values(random.shape(), 0.3, 1.2)});
    if (std::ranges::find(nanBelowZero, kind) == std::end(nanBelowZero))
      expectGradient(unary(kind), {random.values({4}, -1.2, -0.3)});
  }
}

TEST(GradientElementwiseTest, EachBinaryIsTheDifference) {
  using enum BinaryKind;
  Random random(2);
  for (BinaryKind kind : {Add, Sub, Mul, Div, Pow, Max, Min, Rem})
    for (int i = 0; i < 3; ++i) {
      SCOPED_TRACE(toString(kind));
      const Shape shape = random.shape();
      // A remainder of a quotient that no step brings to a whole number.
      expectGradient(binary(kind), {kind == Rem ? random.values(shape, 2.4, 2.8) : random.values(shape),
                                    kind == Rem ? random.values(shape, 0.9, 1.1) : random.values(shape)});
    }
  // Of one operand twice.
  for (BinaryKind kind : {Add, Mul, Pow, Div}) {
    SCOPED_TRACE(toString(kind));
    expectGradient([&](TestGraph &g, const std::vector<NodeId> &x) { return *g.binary(kind, x[0], x[0]); },
                   {random.values({5})});
  }
}

TEST(GradientElementwiseTest, SelectIsTheDifference) {
  Random random(3);
  const auto program = [](TestGraph &g, const std::vector<NodeId> &x) {
    const NodeId isLess = *g.binary(BinaryKind::Lt, x[0], x[1]);
    return *g.select(isLess, *g.unary(UnaryKind::Exp, x[0]), *g.binary(BinaryKind::Mul, x[0], x[1]));
  };
  expectGradient(program, {random.distinct({3, 4}), random.values({3, 4}, -0.02, 0.0)});
  expectGradient(program, {random.distinct({}), random.values({}, -0.02, 0.0)});
}

TEST(GradientElementwiseTest, NothingComesThroughWhatIsConstantNearby) {
  TestGraph g;
  const NodeId x = g.input(vector({0.5, 1.5}));
  const auto none = [&](NodeId y) {
    const auto result = gradient(g, y, {{x}});
    return result.isOk() && !(*result)[0];
  };
  for (UnaryKind kind : flat)
    EXPECT_TRUE(none(*g.unary(kind, x)));
  const NodeId bits = *g.bitcast(x, DType::I64);
  EXPECT_TRUE(none(*g.bitcast(bits, DType::F64)));
  EXPECT_TRUE(none(*g.bitcast(*g.bitcast(*g.cast(x, DType::F32), DType::I32), DType::F32)));
  EXPECT_TRUE(none(*g.cast(*g.cast(x, DType::I32), DType::F64)));
  for (BinaryKind kind :
       {BinaryKind::Lt, BinaryKind::Le, BinaryKind::Gt, BinaryKind::Ge, BinaryKind::Eq, BinaryKind::Ne})
    EXPECT_TRUE(none(*g.cast(*g.binary(kind, x, g.scalar(DType::F64, {2}, 1)), DType::F64)));
  const NodeId isNot = *g.unary(UnaryKind::Not, *g.cast(x, DType::Bool));
  EXPECT_TRUE(none(*g.cast(isNot, DType::F64)));
  EXPECT_TRUE(none(*g.bitcast(x, DType::F64)));
  // Bits of one float as another one of its width.
  const NodeId half = *g.cast(x, DType::F16);
  EXPECT_TRUE(none(*g.bitcast(half, DType::BF16)));
  // The condition.
  EXPECT_TRUE(none(*g.select(*g.cast(x, DType::Bool), g.scalar(DType::F64, {2}, 1), g.scalar(DType::F64, {2}, 2))));
}

TEST(GradientElementwiseTest, CornersOfUnary) {
  const auto at = [](UnaryKind kind, const std::vector<double> &x) { return gradientAt(unary(kind), {vector(x)}, 0); };
  expectNumbers(at(UnaryKind::Abs, {-2, -0.0, 0.0, 3, quietNaN, -inf}), {-1, 0, 0, 1, 0, -1});
  expectNumbers(at(UnaryKind::Sqrt, {0, 4, inf}), {inf, 0.25, 0});
  expectNumbers(at(UnaryKind::Log, {0, 2, -1}), {inf, 0.5, -1});
  expectNumbers(at(UnaryKind::Recip, {0, 2, inf}), {-inf, -0.25, -0.0});
  expectNumbers(at(UnaryKind::Rsqrt, {0, 4}), {-inf, -0.0625});
  expectNumbers(at(UnaryKind::Cbrt, {0, -0.0, 8, -8, inf, -inf}), {inf, inf, 1.0 / 12, 1.0 / 12, 0, 0});
  expectNumbers(at(UnaryKind::Tanh, {0, 1000, -1000}), {1, 0, 0});
  expectNumbers(at(UnaryKind::Erf, {1000}), {0});
  expectNumbers(at(UnaryKind::Exp, {-inf, 0}), {0, 1});
  // At -40 the result is -1, and the slope e^-40.
  expectNumbers(at(UnaryKind::Expm1, {-inf, -0.0, 0, inf, -40}), {0, 1, 1, inf, 4.248354255291589e-18});
}

TEST(GradientElementwiseTest, CornersOfBinary) {
  const auto at = [](BinaryKind kind, const std::vector<double> &a, const std::vector<double> &b, size_t source) {
    return gradientAt(binary(kind), {vector(a), vector(b)}, source);
  };
  // Equal operands share; NaN has no gradient.
  for (BinaryKind kind : {BinaryKind::Max, BinaryKind::Min}) {
    expectNumbers(at(kind, {1, 0, quietNaN, 1}, {1, -0.0, 1, quietNaN}, 0), {0.5, 0.5, 0, 0});
    expectNumbers(at(kind, {1, 0, quietNaN, 1}, {1, -0.0, 1, quietNaN}, 1), {0.5, 0.5, 0, 0});
  }
  expectNumbers(at(BinaryKind::Max, {1, 2}, {2, 1}, 0), {0, 1});
  expectNumbers(at(BinaryKind::Min, {1, 2}, {2, 1}, 1), {0, 1});
  // The base: 0^0, 0^1, 0^2, (-2)^3, 0^0.5, (-2)^0
  expectNumbers(at(BinaryKind::Pow, {0, 0, 0, -2, 0, -2}, {0, 1, 2, 3, 0.5, 0}, 0), {0, 1, 0, 12, inf, -0.0});
  // The exponent: 0^0 and 0^2 are flat, 0^-1 falls from infinity, a negative base has no power
  // nearby.
  expectNumbers(at(BinaryKind::Pow, {0, 0, 0, -2, 1}, {0, 2, -1, 3, 5}, 1), {0, 0, -inf, quietNaN, 0});
  // A quotient just below a whole number: 0.7 / 0.1 rounds to 7, and the remainder is of 6.
  expectNumbers(at(BinaryKind::Rem, {0.7, 7, -7}, {0.1, 2, 2}, 1), {-6, -3, 3});
  expectNumbers(at(BinaryKind::Div, {1, 0}, {0, 0}, 0), {inf, inf});
}

TEST(GradientElementwiseTest, SecondOrderOfPowersOfZero) {
  // d2/dx2 of x^2 is 2 and of x^1 is 0 where x is 0, with the exponent as data and as a constant.
  for (bool isConstant : {false, true}) {
    TestGraph g;
    const NodeId x = g.input(vector({0, 0}));
    const NodeId b = isConstant ? *g.constant({DType::F64, {2}}, vector({2, 1}).data) : g.input(vector({2, 1}));
    const NodeId y = *g.binary(BinaryKind::Pow, x, b);
    const NodeId first = derivative(g, y, x);
    expectNumbers(g.run(first), {0, 1});
    expectNumbers(g.run(derivative(g, first, x)), {2, 0});
  }
}

TEST(GradientElementwiseTest, ExponentsThatAreConstantsStayInTheGradient) {
  TestGraph g;
  const NodeId x = g.input(vector({1.5}));
  const NodeId b = g.scalar(DType::F64, {1}, 2);
  const NodeId first = derivative(g, *g.binary(BinaryKind::Pow, x, b), x);
  expectNumbers(g.run(first), {3});
  const NodeId mixed = derivative(g, first, b);
  // d/db of b x^(b - 1)
  EXPECT_NEAR(numbers(g.run(mixed))[0], 1.5 + 2 * 1.5 * std::log(1.5), 1e-14);
}

TEST(GradientElementwiseTest, CastsRoundWhereTheOperandIsNarrow) {
  TestGraph g;
  const NodeId x = g.input(tensor(DType::BF16, {1}, {2}));
  const NodeId w = g.input(tensor(DType::F32, {1}, {1 + 1.0 / 512}));
  const NodeId y = *g.binary(BinaryKind::Mul, *g.cast(x, DType::F32), w);
  const NodeId dx = derivative(g, y, x);
  EXPECT_EQ(g.node(dx).type.dtype, DType::BF16);
  expectNumbers(g.run(dx), {1});
  // A narrow result rounds the gradient that comes from it.
  const NodeId narrow = *g.cast(w, DType::BF16);
  const NodeId z = *g.binary(BinaryKind::Mul, *g.cast(narrow, DType::F32), w);
  const NodeId dw = derivative(g, z, w);
  expectNumbers(g.run(dw), {1 + 1});
}
