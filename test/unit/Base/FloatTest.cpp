//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Float.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

using namespace zyx;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity();
const double quietNaN = std::numeric_limits<double>::quiet_NaN();

/// Every bit pattern survives a round trip (a NaN stays a NaN of the same sign), and everything
/// between two neighbours rounds to the nearer one, the midpoint to the even one.
template <typename Encode, typename Decode> void checkFormat(Encode encode, Decode decode, uint32_t signBit) {
  for (uint32_t bits = 0; bits < 2 * signBit; ++bits) {
    const double value = decode(bits);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(decode(encode(value)))) << bits;
      EXPECT_EQ(encode(value) & signBit, bits & signBit) << bits;
      continue;
    }
    ASSERT_EQ(encode(value), bits) << value;
    const double next = decode(bits + 1);
    if (((bits + 1) & (signBit - 1)) == 0 || std::isnan(next) || std::isinf(next) || std::isinf(value))
      continue;
    const double middle = (value + next) / 2; // exact: both have few significant bits
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(encode(middle), even) << value;
    ASSERT_EQ(encode(std::nextafter(middle, value)), bits) << value;
    ASSERT_EQ(encode(std::nextafter(middle, next)), bits + 1) << value;
  }
}
} // namespace

TEST(FloatTest, EveryPatternRoundTrips) {
  checkFormat(floatToHalf, halfToFloat, 0x8000);
  checkFormat(floatToBFloat16, bfloat16ToFloat, 0x8000);
  checkFormat(floatToF8E4M3FN, f8E4M3FNToFloat, 0x80);
  checkFormat(floatToF8E5M2, f8E5M2ToFloat, 0x80);
}

TEST(FloatTest, KnownValues) {
  EXPECT_EQ(halfToFloat(0x3c00), 1.0);
  EXPECT_EQ(halfToFloat(0xc000), -2.0);
  EXPECT_EQ(halfToFloat(0x7bff), 65504.0);
  EXPECT_EQ(halfToFloat(0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(bfloat16ToFloat(0x3f80), 1.0);
  EXPECT_EQ(bfloat16ToFloat(0x0001), std::ldexp(1.0, -133));
  EXPECT_EQ(f8E4M3FNToFloat(0x7e), 448.0);
  EXPECT_EQ(f8E4M3FNToFloat(0x01), std::ldexp(1.0, -9));
  EXPECT_EQ(f8E5M2ToFloat(0x7b), 57344.0);
  EXPECT_TRUE(std::isnan(f8E4M3FNToFloat(0x7f)));
  EXPECT_TRUE(std::isnan(f8E4M3FNToFloat(0xff)));
  EXPECT_EQ(f8E5M2ToFloat(0x7c), inf);
  EXPECT_TRUE(std::isnan(f8E5M2ToFloat(0x7d)));
}

TEST(FloatTest, OverflowIsInfinityOrNaN) {
  EXPECT_EQ(floatToHalf(65519.99), 0x7bff);
  EXPECT_EQ(floatToHalf(65520.0), 0x7c00);
  EXPECT_EQ(floatToHalf(-1e300), 0xfc00);
  EXPECT_EQ(floatToHalf(-inf), 0xfc00);
  EXPECT_EQ(floatToBFloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(floatToF8E4M3FN(464.0), 0x7e); // the tie between 448 and NaN's place goes to even
  EXPECT_EQ(floatToF8E4M3FN(464.001), 0x7f);
  EXPECT_EQ(floatToF8E4M3FN(-inf), 0xff);
  EXPECT_EQ(floatToF8E4M3FN(quietNaN) & 0x7f, 0x7f);
  EXPECT_EQ(floatToF8E5M2(61440.0), 0x7c);
  EXPECT_EQ(floatToF8E5M2(61439.0), 0x7b);
}

TEST(FloatTest, UnderflowKeepsTheSign) {
  EXPECT_EQ(floatToHalf(-0.0), 0x8000);
  EXPECT_EQ(floatToHalf(std::ldexp(1.0, -25)), 0x0000); // the tie goes to zero
  EXPECT_EQ(floatToHalf(std::nextafter(std::ldexp(1.0, -25), 1.0)), 0x0001);
  EXPECT_EQ(floatToHalf(-std::ldexp(1.0, -26)), 0x8000);
  EXPECT_EQ(floatToHalf(-std::numeric_limits<double>::denorm_min()), 0x8000);
  EXPECT_EQ(floatToHalf(std::ldexp(1023.75, -24)), 0x0400); // a denormal that rounds to a normal
  EXPECT_EQ(floatToBFloat16(std::numeric_limits<double>::min()), 0x0000);
}

TEST(FloatTest, RoundsOnceFromDouble) {
  // Above the midpoint of 1 and the next half by less than a float can tell: going through float
  // would make it a tie and give 1.
  EXPECT_EQ(floatToHalf(1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)), 0x3c01);
  EXPECT_EQ(floatToHalf(static_cast<float>(1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40))), 0x3c00);
}

TEST(FloatTest, NaNIsQuietAndKeepsItsPayload) {
  EXPECT_EQ(floatToHalf(halfToFloat(0x7e2a)), 0x7e2a);
  EXPECT_EQ(floatToHalf(std::bit_cast<double>(uint64_t(0xfff0000000000001))), 0xfe00);
  EXPECT_EQ(floatToBFloat16(quietNaN) & 0x7fff, 0x7fc0);
}
