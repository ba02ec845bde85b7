//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Numbers that the host has no type for, and what PTX says of those that it has.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FAKECUDA_PTX_NUMBERS_H
#define ZYX_TEST_FAKECUDA_PTX_NUMBERS_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace zyx::ptx {

enum class Rounding { Even, Zero, Down, Up, Away };

inline double roundToInteger(double x, Rounding rounding) {
  switch (rounding) {
  case Rounding::Even:
    return std::nearbyint(x);
  case Rounding::Zero:
    return std::trunc(x);
  case Rounding::Down:
    return std::floor(x);
  case Rounding::Up:
    return std::ceil(x);
  default:
    return std::round(x);
  }
}

/// How numbers of few bits are written. `largest` is the code of the largest finite number.
template <int Mantissa, int MinExponent, uint32_t Largest, uint32_t Infinity, uint32_t NotANumber, uint32_t Sign>
struct Format {
  static uint32_t encode(double x, Rounding rounding = Rounding::Even, bool isSaturated = false) {
    if (x != x)
      return NotANumber;
    const uint32_t sign = std::signbit(x) ? Sign : 0;
    const double magnitude = std::fabs(x);
    if (rounding == Rounding::Down || rounding == Rounding::Up)
      rounding = (rounding == Rounding::Up) == (sign == 0) ? Rounding::Up : Rounding::Down;
    uint32_t code = 0;
    if (std::isinf(magnitude)) {
      code = Infinity;
    } else if (magnitude != 0) {
      const int exponent = std::max(static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> 52) - 1023, MinExponent);
      // At least 2^-1022, so that no exponent below is met.
      const double scale = std::bit_cast<double>(uint64_t(1023 - exponent + Mantissa) << 52);
      const auto digits = static_cast<uint32_t>(roundToInteger(magnitude * scale, rounding));
      code = (static_cast<uint32_t>(exponent - MinExponent) << Mantissa) + digits;
      if (code > Largest)
        code = rounding == Rounding::Zero || rounding == Rounding::Down ? Largest : Infinity;
    }
    return sign | (isSaturated && code > Largest ? Largest : code);
  }
  static double decode(uint32_t code) {
    const double sign = code & Sign ? -1 : 1;
    code &= Sign - 1;
    if (code == Infinity && Infinity != NotANumber)
      return sign * std::numeric_limits<double>::infinity();
    if (code > Largest)
      return std::numeric_limits<double>::quiet_NaN();
    const uint32_t field = code >> Mantissa, digits = code & ((1u << Mantissa) - 1);
    const int exponent = field == 0 ? MinExponent : static_cast<int>(field) - 1 + MinExponent;
    return sign * (field == 0 ? digits : digits + (1u << Mantissa)) *
           std::bit_cast<double>(uint64_t(1023 + exponent - Mantissa) << 52);
  }
};

using Half = Format<10, -14, 0x7bff, 0x7c00, 0x7fff, 0x8000>;
using BHalf = Format<7, -126, 0x7f7f, 0x7f80, 0x7fff, 0x8000>;
using E4M3 = Format<3, -6, 0x7e, 0x7f, 0x7f, 0x80>;
using E5M2 = Format<2, -14, 0x7b, 0x7c, 0x7f, 0x80>;

inline float fromBHalf(uint16_t code) { return std::bit_cast<float>(uint32_t(code) << 16); }
inline float fromHalf(uint16_t code) {
  const uint32_t sign = uint32_t(code & 0x8000) << 16, rest = code & 0x7fff;
  if (rest >= 0x7c00)
    return std::bit_cast<float>(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  // Scaled by a power of two, which denormal numbers need.
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(std::bit_cast<float>(rest << 13) * 0x1p112f));
}

/// The one that PTX gives.
inline float canonical(float x) { return x == x ? x : std::bit_cast<float>(0x7fffffffu); }
inline double canonical(double x) { return x; }
inline float flush(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return (bits & 0x7f800000) == 0 ? std::bit_cast<float>(bits & 0x80000000) : x;
}
inline double flush(double x) { return x; }
/// To the 10 digits of a number of tf32; a half goes away from zero.
inline uint32_t toTF32(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7f800000) == 0x7f800000)
    return x == x ? bits : 0x7fffffff;
  return (bits + 0x1000) & ~uint32_t(0x1fff);
}

template <bool propagates, typename T> T smaller(T a, T b) {
  if (a != a || b != b)
    return propagates || (a != a && b != b) ? canonical(std::numeric_limits<T>::quiet_NaN()) : a != a ? b : a;
  return a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
}
template <bool propagates, typename T> T larger(T a, T b) {
  if (a != a || b != b)
    return propagates || (a != a && b != b) ? canonical(std::numeric_limits<T>::quiet_NaN()) : a != a ? b : a;
  return a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
}

} // namespace zyx::ptx

#endif // ZYX_TEST_FAKECUDA_PTX_NUMBERS_H
