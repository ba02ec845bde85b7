//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

using namespace zyx;
using testing::HasSubstr;

TEST(ShapeTest, CountsElements) {
  EXPECT_EQ(*numElements({}), 1);
  EXPECT_EQ(*numElements({2, 3, 4}), 24);
  EXPECT_EQ(*numElements({5, 0, 7}), 0);
  EXPECT_EQ(*numElements({std::numeric_limits<int64_t>::max()}), std::numeric_limits<int64_t>::max());
}

TEST(ShapeTest, RefusesNegativeAndOverflow) {
  EXPECT_THAT(numElements({2, -1}).status().message(), HasSubstr("shape [2, -1] has the negative extent -1"));
  EXPECT_THAT(numElements({0, -5}).status().message(), HasSubstr("negative extent -5"));
  const int64_t big = int64_t(1) << 32;
  EXPECT_THAT(numElements({big, big}).status().message(), HasSubstr("more elements than fit in 63 bits"));
  // Strides of an empty tensor are products of the others, so those must fit too.
  EXPECT_FALSE(numElements({big, big, 0}).isOk());
  EXPECT_FALSE(numElements({0, big, big}).isOk());
}

TEST(ShapeTest, Prints) {
  EXPECT_EQ(toString(Shape{}), "[]");
  EXPECT_EQ(toString(Shape{2, 3}), "[2, 3]");
  EXPECT_EQ(toString(TensorType{DType::BF16, {2, 3}}), "bf16[2, 3]");
}

TEST(ShapeTest, ByteSizes) {
  EXPECT_EQ(*byteSize(TensorType{DType::F64, {2, 3}}), 48);
  EXPECT_EQ(*byteSize(TensorType{DType::Bool, {}}), 1);
  EXPECT_EQ(*byteSize(TensorType{DType::F32, {0, 9}}), 0);
  EXPECT_EQ(*byteSize(TensorType{DType::U8, {maxTensorBytes}}), maxTensorBytes);
  EXPECT_EQ(*byteSize(TensorType{DType::U8, Shape(maxRank, 1)}), 1);
  EXPECT_THAT(byteSize(TensorType{DType::U8, Shape(maxRank + 1, 1)}).status().message(),
              HasSubstr("rank 17 exceeds the largest rank, 16"));
  EXPECT_THAT(byteSize(TensorType{DType::F64, {int64_t(1) << 40}}).status().message(),
              HasSubstr("the tensor f64[1099511627776] has 8796093022208 bytes, more than the "
                        "largest size, 1099511627776"));
  EXPECT_THAT(byteSize(TensorType{DType::F64, {int64_t(1) << 62}}).status().message(),
              HasSubstr("has more bytes than fit in 63 bits"));
  EXPECT_THAT(byteSize(TensorType{DType::F64, {-3}}).status().message(), HasSubstr("negative"));
}
