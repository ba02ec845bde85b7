//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Float.h"

#include <bit>

namespace zyx {

namespace {
/// A binary format of one sign bit, `exponent` and `mantissa` bits. Without infinity (the "fn"
/// formats) only the all-ones pattern is NaN and the exponent of all ones holds numbers.
template <int exponent, int mantissa, bool infinity> struct Format {
  static constexpr int bias = (1 << (exponent - 1)) - 1;
  static constexpr uint32_t signBit = 1u << (exponent + mantissa);
  static constexpr uint32_t exponentBits = signBit - (1u << mantissa);
  static constexpr uint32_t largest = infinity ? exponentBits - 1 : signBit - 2;
  static constexpr uint32_t overflow = largest + 1; // infinity, or the NaN of an fn format

  static uint32_t encode(double value) {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    const uint32_t sign = bits >> 63 ? signBit : 0;
    const int field = static_cast<int>(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
    if (field == 0x7ff) {
      if (fraction == 0 || !infinity)
        return sign | overflow;
      // A NaN keeps its sign and leading payload bits, and is made quiet.
      return sign | exponentBits | 1u << (mantissa - 1) | uint32_t(fraction >> (52 - mantissa));
    }
    if (field == 0) // zero, or a denormal far below half of every format's smallest number
      return sign;
    const int e = field - 1023;
    constexpr int smallest = 1 - bias;
    const int shift = 52 - mantissa + (e < smallest ? smallest - e : 0);
    if (shift > 53) // below half of the smallest denormal
      return sign;
    const uint64_t significand = fraction | uint64_t(1) << 52;
    uint64_t kept = significand >> shift;
    const uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
    const uint64_t half = uint64_t(1) << (shift - 1);
    kept += rest > half || (rest == half && (kept & 1));
    // `kept` holds the leading bit of a normal number, which adds one to the exponent field; a
    // carry out of the mantissa, or of the largest denormal, does the same.
    int64_t result = static_cast<int64_t>(kept);
    if (e >= smallest)
      result += static_cast<int64_t>(e - smallest) << mantissa;
    return sign | (result > largest ? overflow : static_cast<uint32_t>(result));
  }

  static double decode(uint32_t bits) {
    const uint64_t sign = bits & signBit ? uint64_t(1) << 63 : 0;
    const uint32_t magnitude = bits & (signBit - 1);
    const uint64_t fraction = magnitude & ((1u << mantissa) - 1);
    if (magnitude > largest) {
      if (infinity)
        return std::bit_cast<double>(sign | uint64_t(0x7ff) << 52 | fraction << (52 - mantissa));
      return std::bit_cast<double>(sign | uint64_t(0x7ff8) << 48);
    }
    const int field = static_cast<int>(magnitude >> mantissa);
    if (field == 0) {
      // 2^(1 - bias - mantissa), the smallest denormal; the product is exact.
      const double unit = std::bit_cast<double>(uint64_t(1023 + 1 - bias - mantissa) << 52);
      const double value = static_cast<double>(fraction) * unit;
      return sign ? -value : value;
    }
    return std::bit_cast<double>(sign | uint64_t(field - bias + 1023) << 52 | fraction << (52 - mantissa));
  }
};
using Half = Format<5, 10, true>;
using BFloat16 = Format<8, 7, true>;
using F8E4M3FN = Format<4, 3, false>;
using F8E5M2 = Format<5, 2, true>;
} // namespace

uint16_t floatToHalf(double value) { return static_cast<uint16_t>(Half::encode(value)); }
double halfToFloat(uint16_t bits) { return Half::decode(bits); }
uint16_t floatToBFloat16(double value) { return static_cast<uint16_t>(BFloat16::encode(value)); }
double bfloat16ToFloat(uint16_t bits) { return BFloat16::decode(bits); }
uint8_t floatToF8E4M3FN(double value) { return static_cast<uint8_t>(F8E4M3FN::encode(value)); }
double f8E4M3FNToFloat(uint8_t bits) { return F8E4M3FN::decode(bits); }
uint8_t floatToF8E5M2(double value) { return static_cast<uint8_t>(F8E5M2::encode(value)); }
double f8E5M2ToFloat(uint8_t bits) { return F8E5M2::decode(bits); }

std::vector<std::byte> encodeElement(double value, DType dtype) {
  auto bytesOf = [](auto number) {
    const auto *raw = reinterpret_cast<const std::byte *>(&number);
    return std::vector<std::byte>(raw, raw + sizeof number);
  };
  switch (dtype) {
  case DType::Bool:
    return bytesOf(uint8_t(value != 0));
  case DType::I8:
    return bytesOf(static_cast<int8_t>(value));
  case DType::I16:
    return bytesOf(static_cast<int16_t>(value));
  case DType::I32:
    return bytesOf(static_cast<int32_t>(value));
  case DType::I64:
    return bytesOf(static_cast<int64_t>(value));
  case DType::U8:
    return bytesOf(static_cast<uint8_t>(value));
  case DType::U16:
    return bytesOf(static_cast<uint16_t>(value));
  case DType::U32:
    return bytesOf(static_cast<uint32_t>(value));
  case DType::U64:
    return bytesOf(static_cast<uint64_t>(value));
  case DType::F16:
    return bytesOf(floatToHalf(value));
  case DType::BF16:
    return bytesOf(floatToBFloat16(value));
  case DType::F32:
    return bytesOf(static_cast<float>(value));
  case DType::F64:
    return bytesOf(value);
  case DType::F8E4M3FN:
    return bytesOf(floatToF8E4M3FN(value));
  case DType::F8E5M2:
    return bytesOf(floatToF8E5M2(value));
  }
  return {};
}

} // namespace zyx
