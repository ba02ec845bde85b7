//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_FLOAT_H
#define ZYX_BASE_FLOAT_H

#include "zyx/Base/DType.h"

#include <cstddef>
#include <cstdint>
#include <vector>

/// Conversions between the small floating-point formats, as bits, and wider ones. To a small
/// format the value is rounded once, to nearest, ties to even (from double directly: going through
/// float would round twice). f16, bf16 and f8e5m2 overflow to infinity; f8e4m3fn has none and
/// overflows to NaN, as OCP 8-bit Floating Point Specification 1.0 allows without saturation.
namespace zyx {

uint16_t floatToHalf(double value);
double halfToFloat(uint16_t bits);
uint16_t floatToBFloat16(double value);
double bfloat16ToFloat(uint16_t bits);
uint8_t floatToF8E4M3FN(double value);
double f8E4M3FNToFloat(uint8_t bits);
uint8_t floatToF8E5M2(double value);
double f8E5M2ToFloat(uint8_t bits);

/// The little-endian bytes of a number as an element of a dtype: a float rounded as above, an integer
/// truncated towards zero, a bool whether it is not 0. The number lies in the range of an integer dtype.
std::vector<std::byte> encodeElement(double value, DType dtype);

} // namespace zyx

#endif // ZYX_BASE_FLOAT_H
