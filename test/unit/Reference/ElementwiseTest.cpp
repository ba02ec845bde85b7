//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TestGraph.h"

using namespace zyx;
using namespace zyx::reference;
using graph::BinaryKind;
using graph::NodeId;
using graph::UnaryKind;

namespace {
constexpr DType floats[] = {DType::F16, DType::BF16, DType::F32, DType::F64};
constexpr DType signedIntegers[] = {DType::I8, DType::I16, DType::I32, DType::I64};
constexpr DType unsignedIntegers[] = {DType::U8, DType::U16, DType::U32, DType::U64};

double lowest(DType dtype) { return -std::ldexp(1.0, int(byteSize(dtype)) * 8 - 1); }

void expectUnary(UnaryKind kind, DType dtype, const std::vector<double> &x, const std::vector<double> &expected) {
  SCOPED_TRACE(std::string(toString(kind)) + " of " + std::string(toString(dtype)));
  expectNumbers(evaluateUnary(kind, dtype, x), expected);
}
void expectBinary(BinaryKind kind, DType dtype, const std::vector<double> &a, const std::vector<double> &b,
                  const std::vector<double> &expected) {
  SCOPED_TRACE(std::string(toString(kind)) + " of " + std::string(toString(dtype)));
  expectNumbers(evaluateBinary(kind, dtype, a, b), expected);
}
} // namespace

TEST(ElementwiseTest, SignsAndBits) {
  for (DType dtype : floats) {
    expectUnary(UnaryKind::Neg, dtype, {0, -0.0, 1.5, -inf, quietNaN}, {-0.0, 0, -1.5, inf, quietNaN});
    expectUnary(UnaryKind::Abs, dtype, {0, -0.0, -1.5, -inf, quietNaN}, {0, 0, 1.5, inf, quietNaN});
  }
  for (DType dtype : signedIntegers) {
    const double low = lowest(dtype);
    expectUnary(UnaryKind::Neg, dtype, {0, 5, -7, low}, {0, -5, 7, low});
    expectUnary(UnaryKind::Abs, dtype, {0, 5, -7, low}, {0, 5, 7, low});
    expectUnary(UnaryKind::Not, dtype, {0, -1, 5, low}, {-1, 0, -6, -low - 1});
  }
  expectUnary(UnaryKind::Neg, DType::U8, {0, 1, 255}, {0, 255, 1});
  expectUnary(UnaryKind::Abs, DType::U16, {0, 65535}, {0, 65535});
  expectUnary(UnaryKind::Not, DType::U32, {0, 1}, {4294967295.0, 4294967294.0});
  expectUnary(UnaryKind::Not, DType::Bool, {0, 1}, {1, 0});
}

TEST(ElementwiseTest, Rounding) {
  const std::vector<double> x = {-2.5, -1.5, -0.5, -0.25, -0.0, 0.5, 1.5, 2.5, 2.75, inf, quietNaN};
  for (DType dtype : floats) {
    expectUnary(UnaryKind::Round, dtype, x, {-2, -2, -0.0, -0.0, -0.0, 0, 2, 2, 3, inf, quietNaN});
    expectUnary(UnaryKind::Floor, dtype, x, {-3, -2, -1, -1, -0.0, 0, 1, 2, 2, inf, quietNaN});
    expectUnary(UnaryKind::Ceil, dtype, x, {-2, -1, -0.0, -0.0, -0.0, 1, 2, 3, 3, inf, quietNaN});
    expectUnary(UnaryKind::Trunc, dtype, x, {-2, -1, -0.0, -0.0, -0.0, 0, 1, 2, 2, inf, quietNaN});
  }
}

// A kind without a case does not compile: docs/adding-an-op.md.
#pragma GCC diagnostic error "-Wswitch"

/// Numbers that everybody knows, zeros of both signs, infinities and NaN among them.
static void expectEdges(UnaryKind kind, DType dtype) {
  const auto expect = [&](const std::vector<double> &x, const std::vector<double> &expected) {
    expectUnary(kind, dtype, x, expected);
  };
  switch (kind) {
  case UnaryKind::Exp:
    return expect({0, -inf, inf, quietNaN}, {1, 0, inf, quietNaN});
  case UnaryKind::Exp2:
    return expect({0, 3, -2, -inf}, {1, 8, 0.25, 0});
  case UnaryKind::Expm1: {
    expect({0, -0.0, -inf, inf, quietNaN, -100}, {0, -0.0, -1, inf, quietNaN, -1});
    // x + x^2 / 2 rounds to x.
    const double tiny = std::ldexp(1.0, dtype == DType::F16 ? -24 : -60);
    return expect({tiny, -tiny}, {tiny, -tiny});
  }
  case UnaryKind::Log:
    return expect({1, 0, -0.0, -1, inf}, {0, -inf, -inf, quietNaN, inf});
  case UnaryKind::Log2:
    return expect({8, 0.25, 0, -1}, {3, -2, -inf, quietNaN});
  case UnaryKind::Recip:
    return expect({4, 0, -0.0, inf, -inf}, {0.25, inf, -inf, 0, -0.0});
  case UnaryKind::Sqrt:
    return expect({4, 0, -0.0, -1, inf}, {2, 0, -0.0, quietNaN, inf});
  case UnaryKind::Rsqrt:
    return expect({4, 0, -1, inf}, {0.5, inf, quietNaN, 0});
  case UnaryKind::Cbrt:
    return expect({8, -27, 0.125, 0, -0.0, inf, -inf, quietNaN}, {2, -3, 0.5, 0, -0.0, inf, -inf, quietNaN});
  case UnaryKind::Sin:
    return expect({0, -0.0, inf}, {0, -0.0, quietNaN});
  case UnaryKind::Cos:
    return expect({0, inf}, {1, quietNaN});
  case UnaryKind::Tan:
    return expect({-0.0, inf}, {-0.0, quietNaN});
  case UnaryKind::Tanh:
    return expect({-0.0, inf, -inf, quietNaN}, {-0.0, 1, -1, quietNaN});
  case UnaryKind::Erf:
    return expect({-0.0, inf, -inf, quietNaN}, {-0.0, 1, -1, quietNaN});
  case UnaryKind::Neg:
  case UnaryKind::Abs:
  case UnaryKind::Not:
  case UnaryKind::Floor:
  case UnaryKind::Ceil:
  case UnaryKind::Round:
  case UnaryKind::Trunc:
    // In the tests above.
    return;
  }
}

TEST(ElementwiseTest, FunctionsAtTheirEdges) {
  for (DType dtype : floats) {
#define ZYX_GRAPH_UNARY(Name, name) expectEdges(UnaryKind::Name, dtype);
#include "zyx/Graph/UnaryKinds.inc"
  }
}

TEST(ElementwiseTest, FunctionsRoundOnceToTheirDType) {
  // From tables, not from libm: exp(1), expm1, log(2), sin(1), cos(1), tan(1), tanh(1), erf(1), 1/sqrt(2),
  // cbrt(2).
  expectUnary(UnaryKind::Exp, DType::F32, {1}, {double(2.718281828459045f)});
  expectUnary(UnaryKind::Exp, DType::F16, {1}, {2.71875});
  expectUnary(UnaryKind::Exp, DType::BF16, {1}, {2.71875});
  expectUnary(UnaryKind::Expm1, DType::F64, {1, 1e-5}, {1.71828182845904523536, 1.0000050000166668e-5});
  expectUnary(UnaryKind::Expm1, DType::F32, {1, -1}, {double(1.718281828459045f), double(-0.6321205588285577f)});
  expectUnary(UnaryKind::Expm1, DType::F16, {1, 12}, {1.71875, inf});
  expectUnary(UnaryKind::Expm1, DType::BF16, {1, -1}, {1.71875, -0.6328125});
  expectUnary(UnaryKind::Log, DType::F32, {2}, {double(0.6931471805599453f)});
  expectUnary(UnaryKind::Sin, DType::F32, {1}, {double(0.8414709848078965f)});
  expectUnary(UnaryKind::Cos, DType::F32, {1}, {double(0.5403023058681398f)});
  expectUnary(UnaryKind::Tan, DType::F32, {1}, {double(1.5574077246549023f)});
  expectUnary(UnaryKind::Tanh, DType::F32, {1}, {double(0.7615941559557649f)});
  expectUnary(UnaryKind::Erf, DType::F32, {1}, {double(0.8427007929497149f)});
  expectUnary(UnaryKind::Rsqrt, DType::F32, {2}, {double(0.7071067811865476f)});
  expectUnary(UnaryKind::Cbrt, DType::F64, {2, -2}, {1.25992104989487316477, -1.25992104989487316477});
  expectUnary(UnaryKind::Cbrt, DType::F32, {2, std::ldexp(1.0, -149)},
              {double(1.2599210498948732f), std::ldexp(double(1.2599210498948732f), -50)});
  expectUnary(UnaryKind::Cbrt, DType::F16, {2}, {1.259765625});
  expectUnary(UnaryKind::Cbrt, DType::BF16, {-2}, {-1.2578125});
  expectUnary(UnaryKind::Exp, DType::F16, {12}, {inf}); // beyond 65504
  expectUnary(UnaryKind::Recip, DType::BF16, {3}, {0.333984375});
  expectUnary(UnaryKind::Sqrt, DType::F16, {2}, {1.4140625});
}

TEST(ElementwiseTest, FloatArithmetic) {
  for (DType dtype : floats) {
    expectBinary(BinaryKind::Add, dtype, {1, inf, inf, 0, -0.0}, {2, 1, -inf, -0.0, -0.0}, {3, inf, quietNaN, 0, -0.0});
    expectBinary(BinaryKind::Sub, dtype, {1, inf, 0, 0}, {2, inf, 0, -0.0}, {-1, quietNaN, 0, 0});
    expectBinary(BinaryKind::Mul, dtype, {3, inf, -0.0, -2}, {0.5, 0, 5, inf}, {1.5, quietNaN, -0.0, -inf});
    expectBinary(BinaryKind::Div, dtype, {1, 1, -1, 0, inf}, {4, 0, 0, 0, inf}, {0.25, inf, -inf, quietNaN, quietNaN});
    expectBinary(BinaryKind::Rem, dtype, {5, -5, 5, -5, 5, 5, inf}, {3, 3, -3, -3, 0, inf, 2},
                 {2, -2, 2, -2, quietNaN, 5, quietNaN});
    expectBinary(BinaryKind::Pow, dtype, {2, -2, -8, 0, 0, quietNaN, 1}, {3, 3, 0.5, 0, -1, 0, inf},
                 {8, -8, quietNaN, 1, inf, 1, 1});
  }
  expectBinary(BinaryKind::Rem, DType::F32, {-6}, {3}, {-0.0});
}

TEST(ElementwiseTest, EachOpRounds) {
  expectBinary(BinaryKind::Add, DType::F16, {2048, 65504, 2048}, {1, 32, 3}, {2048, inf, 2052});
  expectBinary(BinaryKind::Add, DType::BF16, {256, 256}, {1, 3}, {256, 260});
  expectBinary(BinaryKind::Mul, DType::F16, {0.1, std::ldexp(1.0, -14)}, {0.1, std::ldexp(1.0, -11)},
               {halfToFloat(0x211e), 0});
  expectBinary(BinaryKind::Add, DType::F32, {16777216, 1e-45}, {1, 1e-45}, {16777216, double(float(1e-45)) * 2});
  expectBinary(BinaryKind::Div, DType::F32, {1}, {3}, {double(1.0f / 3.0f)});
  // (x + 1) - x in one expression: the sum rounds although it is never stored.
  TestGraph g;
  const NodeId x = g.input(DType::F16, {2048, 4}), one = g.scalar(DType::F16, {2}, 1);
  expectNumbers(g.run(*g.binary(BinaryKind::Sub, *g.binary(BinaryKind::Add, x, one), x)), {0, 1});
}

TEST(ElementwiseTest, MaxAndMinPropagateNaN) {
  for (DType dtype : floats) {
    const std::vector<double> a = {1, quietNaN, 1, 0, -0.0, inf, quietNaN};
    const std::vector<double> b = {2, 1, quietNaN, -0.0, 0, -inf, quietNaN};
    expectBinary(BinaryKind::Max, dtype, a, b, {2, quietNaN, quietNaN, 0, 0, inf, quietNaN});
    expectBinary(BinaryKind::Min, dtype, a, b, {1, quietNaN, quietNaN, -0.0, -0.0, -inf, quietNaN});
  }
  for (DType dtype : signedIntegers) {
    expectBinary(BinaryKind::Max, dtype, {-1, lowest(dtype)}, {1, 0}, {1, 0});
    expectBinary(BinaryKind::Min, dtype, {-1, lowest(dtype)}, {1, 0}, {-1, lowest(dtype)});
  }
  expectBinary(BinaryKind::Max, DType::U8, {255, 1}, {1, 2}, {255, 2});
  expectBinary(BinaryKind::Max, DType::Bool, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 1});
  expectBinary(BinaryKind::Min, DType::Bool, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1});
}

TEST(ElementwiseTest, IntegersWrap) {
  for (DType dtype : signedIntegers) {
    const double low = lowest(dtype), high = -(low + 1);
    if (dtype == DType::I64)
      continue; // below, where doubles do not hold the values
    expectBinary(BinaryKind::Add, dtype, {high, low}, {1, -1}, {low, high});
    expectBinary(BinaryKind::Sub, dtype, {low, 0}, {1, low}, {high, low});
    expectBinary(BinaryKind::Mul, dtype, {low, high}, {-1, 2}, {low, -2});
  }
  TestGraph g;
  constexpr int64_t high = std::numeric_limits<int64_t>::max();
  const NodeId x = g.input({{DType::I64, {2}}, bytesOf<int64_t>({high, high})});
  const NodeId y = g.input({{DType::I64, {2}}, bytesOf<int64_t>({1, high})});
  EXPECT_EQ(valuesOf<int64_t>(g.run(*g.binary(BinaryKind::Add, x, y))), (std::vector<int64_t>{-high - 1, -2}));
  EXPECT_EQ(valuesOf<int64_t>(g.run(*g.binary(BinaryKind::Mul, x, y))), (std::vector<int64_t>{high, 1}));
  expectBinary(BinaryKind::Mul, DType::U16, {65535}, {65535}, {1});
  expectBinary(BinaryKind::Sub, DType::U32, {0}, {1}, {4294967295.0});
}

TEST(ElementwiseTest, IntegerDivision) {
  for (DType dtype : signedIntegers) {
    const double low = lowest(dtype);
    expectBinary(BinaryKind::Div, dtype, {7, -7, 7, -7, 5, 0, low, low}, {2, 2, -2, -2, 0, 0, -1, 1},
                 {3, -3, -3, 3, -1, -1, low, low});
    expectBinary(BinaryKind::Rem, dtype, {7, -7, 7, -7, 5, 0, low, low}, {2, 2, -2, -2, 0, 0, -1, 3},
                 {1, -1, 1, -1, 5, 0, 0, std::fmod(low, 3)});
  }
  for (DType dtype : unsignedIntegers) {
    expectBinary(BinaryKind::Rem, dtype, {7, 5, 0}, {4, 0, 0}, {3, 5, 0});
    TestGraph g;
    const NodeId x = g.input(dtype, {5});
    const HostTensor ones = g.run(*g.binary(BinaryKind::Div, x, g.scalar(dtype, {1}, 0)));
    EXPECT_EQ(ones.data, std::vector<std::byte>(byteSize(dtype), std::byte(0xff)));
  }
  expectBinary(BinaryKind::Div, DType::U8, {250, 255}, {255, 2}, {0, 127});
}

TEST(ElementwiseTest, ShiftsBeyondTheWidth) {
  for (DType dtype : signedIntegers) {
    const double low = lowest(dtype), width = double(byteSize(dtype) * 8);
    expectBinary(BinaryKind::Shl, dtype, {1, 1, 3, -1, 1, 1}, {0, width - 1, width - 1, 1, width, -1},
                 {1, low, low, -2, 0, 0});
    expectBinary(BinaryKind::Shr, dtype, {-8, 8, low, -1, 1, -5, 5}, {1, 1, width - 1, width, width, -1, -1},
                 {-4, 4, -1, -1, 0, -1, 0});
  }
  expectBinary(BinaryKind::Shl, DType::U8, {255, 255, 255}, {1, 8, 255}, {254, 0, 0});
  expectBinary(BinaryKind::Shr, DType::U8, {255, 255, 255}, {7, 8, 200}, {1, 0, 0});
  expectBinary(BinaryKind::Shr, DType::U32, {4294967295.0}, {31}, {1});
}

TEST(ElementwiseTest, BitsAndBools) {
  expectBinary(BinaryKind::And, DType::I16, {12, -1}, {10, 5}, {8, 5});
  expectBinary(BinaryKind::Or, DType::U8, {12}, {10}, {14});
  expectBinary(BinaryKind::Xor, DType::I32, {12, -1}, {10, 0}, {6, -1});
  expectBinary(BinaryKind::And, DType::Bool, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1});
  expectBinary(BinaryKind::Or, DType::Bool, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 1});
  expectBinary(BinaryKind::Xor, DType::Bool, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0});
}

TEST(ElementwiseTest, Comparisons) {
  for (DType dtype : floats) {
    const std::vector<double> a = {1, 2, 2, quietNaN, quietNaN, -0.0, -inf};
    const std::vector<double> b = {2, 1, 2, 1, quietNaN, 0, inf};
    expectBinary(BinaryKind::Lt, dtype, a, b, {1, 0, 0, 0, 0, 0, 1});
    expectBinary(BinaryKind::Le, dtype, a, b, {1, 0, 1, 0, 0, 1, 1});
    expectBinary(BinaryKind::Gt, dtype, a, b, {0, 1, 0, 0, 0, 0, 0});
    expectBinary(BinaryKind::Ge, dtype, a, b, {0, 1, 1, 0, 0, 1, 0});
    expectBinary(BinaryKind::Eq, dtype, a, b, {0, 0, 1, 0, 0, 1, 0});
    expectBinary(BinaryKind::Ne, dtype, a, b, {1, 1, 0, 1, 1, 0, 1});
  }
  expectBinary(BinaryKind::Lt, DType::I8, {-1, 1}, {1, -1}, {1, 0});
  expectBinary(BinaryKind::Lt, DType::U8, {255, 1}, {1, 255}, {0, 1});
  expectBinary(BinaryKind::Lt, DType::Bool, {0, 1, 1}, {1, 0, 1}, {1, 0, 0});
  expectBinary(BinaryKind::Eq, DType::Bool, {0, 1, 1}, {1, 0, 1}, {0, 0, 1});
}

TEST(ElementwiseTest, SelectNeverLeaks) {
  for (DType dtype : floats) {
    TestGraph g;
    const NodeId c = g.input(DType::Bool, {1, 0, 1, 0});
    const NodeId a = g.input(dtype, {1, quietNaN, -0.0, inf});
    const NodeId b = g.input(dtype, {quietNaN, 2, inf, 3});
    expectNumbers(g.run(*g.select(c, a, b)), {1, 2, -0.0, 3});
  }
  for (DType dtype : {DType::Bool, DType::U16, DType::I64, DType::F8E4M3FN, DType::F8E5M2}) {
    TestGraph g;
    const NodeId c = g.input(DType::Bool, {1, 0});
    expectNumbers(g.run(*g.select(c, g.input(dtype, {1, 0}), g.input(dtype, {0, 1}))), {1, 1});
  }
}
