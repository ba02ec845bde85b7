//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/IO/Print.h"
#include "../TestFiles.h"
#include "zyx/Base/Float.h"

#include <cmath>
#include <numeric>

using namespace zyx;

namespace {

// The expected texts are those of str() of the same NumPy arrays.

std::string f64(Shape shape, const std::vector<double> &values) {
  return io::toString(tensorOf(DType::F64, std::move(shape), values));
}
std::string f32(Shape shape, const std::vector<float> &values) {
  return io::toString(tensorOf(DType::F32, std::move(shape), values));
}

TEST(PrintTest, AlignsNumbersAtThePoint) {
  EXPECT_EQ(f32({2, 2}, {1, 2, 3, 4}), "[[1. 2.]\n [3. 4.]]");
  EXPECT_EQ(f64({2}, {1, 2.5}), "[1.  2.5]");
  EXPECT_EQ(f64({3}, {-1, 10.25, 100}), "[ -1.    10.25 100.  ]");
  EXPECT_EQ(f64({2}, {0, -0.0}), "[ 0. -0.]");
}

TEST(PrintTest, PrintsTheFewestDigitsUpToEight) {
  EXPECT_EQ(f32({3}, {0.1f, 0.2f, 1.0f / 3}), "[0.1        0.2        0.33333334]");
  EXPECT_EQ(f64({2}, {1.0 / 3, 2.0 / 3}), "[0.33333333 0.66666667]");
  EXPECT_EQ(io::toString(tensorOf<uint16_t>(DType::F16, {1}, {floatToHalf(0.1)})), "[0.1]");
  EXPECT_EQ(io::toString(tensorOf<uint16_t>(DType::BF16, {1}, {floatToBFloat16(0.3)})), "[0.30078125]");
  EXPECT_EQ(io::toString(tensorOf<uint8_t>(DType::F8E4M3FN, {1}, {floatToF8E4M3FN(448)})), "[448.]");
  EXPECT_EQ(io::toString(tensorOf<uint8_t>(DType::F8E5M2, {1}, {floatToF8E5M2(1.5)})), "[1.5]");
}

TEST(PrintTest, SwitchesToExponents) {
  EXPECT_EQ(f64({2}, {1e-5, 1}), "[1.e-05 1.e+00]");
  EXPECT_EQ(f64({1}, {1e8}), "[1.e+08]");
  EXPECT_EQ(f64({1}, {99999999}), "[99999999.]");
  EXPECT_EQ(f64({2}, {1e100, -1.25}), "[ 1.00e+100 -1.25e+000]");
  EXPECT_EQ(f64({2}, {1000, 1}), "[1000.    1.]");
  EXPECT_EQ(f64({2}, {1001, 1}), "[1.001e+03 1.000e+00]");
  EXPECT_EQ(f32({1}, {1e-4f}), "[0.0001]");
  EXPECT_EQ(io::toString(tensorOf<uint16_t>(DType::F16, {2}, {floatToHalf(65504), floatToHalf(0.1)})),
            "[6.55e+04 1.00e-01]");
  EXPECT_EQ(f64({3}, {1e-5, NAN, -INFINITY}), "[1.e-05    nan   -inf]");
}

TEST(PrintTest, PadsNotANumberAndInfinity) {
  EXPECT_EQ(f64({4}, {1.5, NAN, INFINITY, -INFINITY}), "[ 1.5  nan  inf -inf]");
  EXPECT_EQ(f64({1}, {NAN}), "[nan]");
  EXPECT_EQ(f64({2}, {INFINITY, 1}), "[inf  1.]");
}

TEST(PrintTest, AlignsIntegersAndBooleans) {
  EXPECT_EQ(io::toString(tensorOf<int32_t>(DType::I32, {3}, {-1, 10, 100})), "[ -1  10 100]");
  EXPECT_EQ(io::toString(tensorOf<int64_t>(DType::I64, {1}, {INT64_MIN})), "[-9223372036854775808]");
  EXPECT_EQ(io::toString(tensorOf<uint64_t>(DType::U64, {1}, {UINT64_MAX})), "[18446744073709551615]");
  EXPECT_EQ(io::toString(tensorOf<int8_t>(DType::I8, {2}, {-128, 127})), "[-128  127]");
  EXPECT_EQ(io::toString(tensorOf<int16_t>(DType::I16, {1}, {-5})), "[-5]");
  EXPECT_EQ(io::toString(tensorOf<uint8_t>(DType::U8, {1}, {255})), "[255]");
  EXPECT_EQ(io::toString(tensorOf<uint16_t>(DType::U16, {1}, {65535})), "[65535]");
  EXPECT_EQ(io::toString(tensorOf<uint32_t>(DType::U32, {1}, {UINT32_MAX})), "[4294967295]");
  EXPECT_EQ(io::toString(tensorOf<uint8_t>(DType::Bool, {2}, {1, 0})), "[ True False]");
  EXPECT_EQ(io::toString(tensorOf<uint8_t>(DType::Bool, {1}, {1})), "[ True]");
}

TEST(PrintTest, PrintsScalarsInFull) {
  EXPECT_EQ(f64({}, {1.5}), "1.5");
  EXPECT_EQ(f64({}, {2}), "2.0");
  EXPECT_EQ(f64({}, {0}), "0.0");
  EXPECT_EQ(f64({}, {1.0 / 3}), "0.3333333333333333");
  EXPECT_EQ(f64({}, {1e-5}), "1e-05");
  EXPECT_EQ(f64({}, {1.25e16}), "1.25e+16");
  EXPECT_EQ(f64({}, {-INFINITY}), "-inf");
  EXPECT_EQ(f64({}, {INFINITY}), "inf");
  EXPECT_EQ(f64({}, {NAN}), "nan");
  EXPECT_EQ(f32({}, {0.1f}), "0.1");
  EXPECT_EQ(io::toString(tensorOf<int32_t>(DType::I32, {}, {3})), "3");
  EXPECT_EQ(io::toString(tensorOf<uint8_t>(DType::Bool, {}, {1})), "True");
}

TEST(PrintTest, NestsBrackets) {
  EXPECT_EQ(io::toString(tensorOf<int8_t>(DType::I8, {2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7})),
            "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  EXPECT_EQ(f32({2, 0}, {}), "[]");
}

TEST(PrintTest, WrapsLongRows) {
  std::vector<double> values(30);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_EQ(f64({30}, values), "[ 0.  1.  2.  3.  4.  5.  6.  7.  8.  9. 10. 11. 12. 13. 14. 15. 16. 17.\n"
                               " 18. 19. 20. 21. 22. 23. 24. 25. 26. 27. 28. 29.]");
}

TEST(PrintTest, SummarisesBeyondAThousandElements) {
  std::vector<int32_t> values(1001);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_EQ(io::toString(tensorOf(DType::I32, {1001}, values)), "[   0    1    2 ...  998  999 1000]");
  EXPECT_EQ(io::toString(tensorOf(DType::F32, {1001, 1}, std::vector<float>(1001))),
            "[[0.]\n [0.]\n [0.]\n ...\n [0.]\n [0.]\n [0.]]");
  values.resize(1000);
  EXPECT_NE(io::toString(tensorOf(DType::I32, {1000}, values)).find(" 500 "), std::string::npos);
}

} // namespace
