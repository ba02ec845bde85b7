//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/DType.h"

#include <gtest/gtest.h>

using namespace zyx;

TEST(DTypeTest, NamesRoundTrip) {
  for (int i = 0; i < numDTypes; ++i) {
    const auto dtype = dtypeFromValue(static_cast<uint8_t>(i));
    ASSERT_TRUE(dtype.has_value());
    EXPECT_EQ(parseDType(toString(*dtype)), dtype);
  }
  EXPECT_EQ(dtypeFromValue(numDTypes), std::nullopt);
  EXPECT_EQ(parseDType("F32"), std::nullopt);
  EXPECT_EQ(parseDType(""), std::nullopt);
  EXPECT_EQ(toString(DType::F8E4M3FN), "f8e4m3fn");
}

TEST(DTypeTest, Facts) {
  EXPECT_EQ(byteSize(DType::Bool), 1);
  EXPECT_EQ(byteSize(DType::I16), 2);
  EXPECT_EQ(byteSize(DType::U32), 4);
  EXPECT_EQ(byteSize(DType::F64), 8);
  EXPECT_EQ(byteSize(DType::F8E5M2), 1);
  int floats = 0, integers = 0;
  for (int i = 0; i < numDTypes; ++i) {
    const DType dtype = static_cast<DType>(i);
    floats += isFloat(dtype);
    integers += isInteger(dtype);
    EXPECT_FALSE(isFloat(dtype) && isInteger(dtype));
  }
  EXPECT_EQ(floats, 6);
  EXPECT_EQ(integers, 8);
  EXPECT_FALSE(isFloat(DType::Bool) || isInteger(DType::Bool));
  EXPECT_TRUE(isSignedInteger(DType::I64));
  EXPECT_TRUE(isUnsignedInteger(DType::U8));
}

TEST(DTypeTest, AccumulatorTypes) {
  EXPECT_EQ(accumulatorType(DType::BF16), DType::F32);
  EXPECT_EQ(accumulatorType(DType::F8E4M3FN), DType::F32);
  EXPECT_EQ(accumulatorType(DType::F64), DType::F64);
  EXPECT_EQ(accumulatorType(DType::I8), DType::I8);
}
