//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TestGraph.h"

using namespace zyx;
using namespace zyx::reference;

namespace {
constexpr DType allDTypes[] = {DType::Bool, DType::I8,  DType::I16, DType::I32,      DType::I64,
                               DType::U8,   DType::U16, DType::U32, DType::U64,      DType::F16,
                               DType::BF16, DType::F32, DType::F64, DType::F8E4M3FN, DType::F8E5M2};

void expectCast(DType from, DType to, const std::vector<double> &x, const std::vector<double> &expected) {
  SCOPED_TRACE(std::string(toString(from)) + " to " + std::string(toString(to)));
  expectNumbers(evaluateCast(tensor(from, {int64_t(x.size())}, x), to), expected);
}
} // namespace

TEST(CastTest, SmallNumbersSurviveEveryPair) {
  for (DType from : allDTypes)
    for (DType to : allDTypes) {
      expectCast(from, to, {0, 1}, {0, 1});
      if (from != DType::Bool && to != DType::Bool)
        expectCast(from, to, {2, 7, 12}, {2, 7, 12});
    }
}

TEST(CastTest, FloatToIntegerSaturates) {
  for (DType from : {DType::F32, DType::F64}) {
    const std::vector<double> x = {-1.9, 1.9, 300, -300, 1e30, -inf, inf, quietNaN, -0.5};
    expectCast(from, DType::I8, x, {-1, 1, 127, -128, 127, -128, 127, 0, 0});
    expectCast(from, DType::U8, x, {0, 1, 255, 0, 255, 0, 255, 0, 0});
    expectCast(from, DType::I32, x, {-1, 1, 300, -300, 2147483647.0, -2147483648.0, 2147483647.0, 0, 0});
    expectCast(from, DType::U32, x, {0, 1, 300, 0, 4294967295.0, 0, 4294967295.0, 0, 0});
  }
  using Limits = std::numeric_limits<int64_t>;
  EXPECT_EQ(valuesOf<int64_t>(evaluateCast(tensor(DType::F64, {4}, {0x1p63, -0x1p63, 0x1p62, -0x1.8p63}), DType::I64)),
            (std::vector<int64_t>{Limits::max(), Limits::min(), int64_t(1) << 62, Limits::min()}));
  EXPECT_EQ(valuesOf<uint64_t>(evaluateCast(tensor(DType::F64, {3}, {0x1p64, 0x1p63, -1}), DType::U64)),
            (std::vector<uint64_t>{~uint64_t(0), uint64_t(1) << 63, 0}));
  expectCast(DType::F64, DType::I32, {2147483647.5, -2147483648.5}, {2147483647.0, -2147483648.0});
  expectCast(DType::F16, DType::I16, {65504, inf, quietNaN}, {32767, 32767, 0});
  expectCast(DType::BF16, DType::U8, {-3, 256, 255}, {0, 255, 255});
  expectCast(DType::F8E5M2, DType::I8, {57344, inf, quietNaN}, {127, 127, 0});
}

TEST(CastTest, IntegersWrapAndExtend) {
  expectCast(DType::I32, DType::I8, {128, 255, 256, -129}, {-128, -1, 0, 127});
  expectCast(DType::I8, DType::U32, {-1}, {4294967295.0});
  expectCast(DType::U8, DType::I32, {255}, {255});
  expectCast(DType::U8, DType::I8, {255}, {-1});
  EXPECT_EQ(valuesOf<uint64_t>(evaluateCast(tensor(DType::I8, {1}, {-1}), DType::U64)),
            std::vector<uint64_t>{~uint64_t(0)});
}

TEST(CastTest, BoolIsWhatIsNotZero) {
  expectCast(DType::F32, DType::Bool, {0, -0.0, 0.25, quietNaN, inf}, {0, 0, 1, 1, 1});
  expectCast(DType::I16, DType::Bool, {0, 256, -1}, {0, 1, 1});
  expectCast(DType::F8E4M3FN, DType::Bool, {0, std::ldexp(1.0, -9), quietNaN}, {0, 1, 1});
  expectCast(DType::Bool, DType::F16, {0, 1}, {0, 1});
}

TEST(CastTest, FloatToFloatRoundsOnce) {
  expectCast(DType::F64, DType::F16, {1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40), 65520, 1e-8},
             {1 + std::ldexp(1.0, -10), inf, 0});
  expectCast(DType::F64, DType::F32, {1 + std::ldexp(1.0, -24), 1e300, -0.0, quietNaN}, {1, inf, -0.0, quietNaN});
  expectCast(DType::F32, DType::BF16, {1.00390625, 1.01171875, 3.4e38}, {1, 1.015625, inf});
  expectCast(DType::F32, DType::F8E4M3FN, {448, 464, 465, inf, -0.0}, {448, 448, quietNaN, quietNaN, -0.0});
  expectCast(DType::F16, DType::F8E5M2, {57344, 65504, 1.125}, {57344, inf, 1});
  expectCast(DType::F8E4M3FN, DType::F32, {448, std::ldexp(1.0, -9), quietNaN}, {448, std::ldexp(1.0, -9), quietNaN});
  expectCast(DType::BF16, DType::F16, {std::ldexp(1.0, -25), 1e30}, {0, inf});
}

TEST(CastTest, IntegerToFloatRoundsOnce) {
  // 2^63 - 2^39 is the midpoint of two floats; one less must go down, though a double cannot tell.
  const int64_t midpoint = std::numeric_limits<int64_t>::max() - (int64_t(1) << 38) + 1;
  const HostTensor x{{DType::I64, {3}}, bytesOf<int64_t>({midpoint - 1, midpoint, -midpoint + 1})};
  expectNumbers(evaluateCast(x, DType::F32), {0x1.fffffep62, 0x1p63, -0x1.fffffep62});
  // The same for bf16, with 8 bits: 2^62 + 2^54 is a midpoint.
  const int64_t tie = (int64_t(1) << 62) + (int64_t(1) << 54);
  const HostTensor y{{DType::I64, {4}}, bytesOf<int64_t>({tie - 1, tie, tie + 1, -tie - 1})};
  expectNumbers(evaluateCast(y, DType::BF16), {0x1p62, 0x1p62, 0x1.02p62, -0x1.02p62});
  const HostTensor z{{DType::U64, {2}}, bytesOf<uint64_t>({~uint64_t(0), 1})};
  expectNumbers(evaluateCast(z, DType::F64), {0x1p64, 1});
  expectNumbers(evaluateCast(z, DType::F16), {inf, 1});
  expectNumbers(evaluateCast(z, DType::F8E4M3FN), {quietNaN, 1});
  expectCast(DType::I32, DType::F32, {16777217, -16777219}, {16777216, -16777220});
  expectCast(DType::U16, DType::F16, {65535, 2049, 2051}, {inf, 2048, 2052});
}
