//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Conversions of small floats for languages whose devices may lack f64 and denormals of f32: by integers alone. The
// text is in the names of OpenCL C; another language of C's family defines them.
//===----------------------------------------------------------------------===//
#include "zyx/Target/Text/Language.h"

namespace zyx::target {
namespace {

/// From f32, and from f64 and integers, to a small float: its name, type, bits of exponent and mantissa, whether it has
/// infinity.
#define ZYX_FROM_F32(name, type, shape)                                                                                \
  {"zyx_" name "_from_f32(",                                                                                           \
   "static inline " type " zyx_" name "_from_f32(float x) { return (" type ")zyx_round_f32(x, " shape "); }\n"}
#define ZYX_FROM_OTHERS(name, type, shape)                                                                             \
  {"zyx_" name "_from_f64(",                                                                                           \
   "static inline " type " zyx_" name "_from_f64(double x) { return (" type ")zyx_round_f64(x, " shape "); }\n"},      \
      {"zyx_" name "_from_i64(",                                                                                       \
       "static inline " type " zyx_" name "_from_i64(ulong x) {\n"                                                     \
       "  return (" type ")zyx_round((long)x < 0 ? -x : x, 0, (uint)(x >> 63), " shape ");\n}\n"},                     \
      {"zyx_" name "_from_u64(",                                                                                       \
       "static inline " type " zyx_" name "_from_u64(ulong x) { return (" type ")zyx_round(x, 0, 0, " shape "); }\n"}

/// The same of a vector with so many lanes.
#define ZYX_VECTOR_TO_BF16(n)                                                                                          \
  {"zyx_bf16_from_f32_v" n "(",                                                                                        \
   "static inline ushort" n " zyx_bf16_from_f32_v" n "(float" n " x) {\n"                                              \
   "  const uint" n " bits = as_uint" n "(x), quiet = (bits >> 16 & 0x8000u) | 0x7fc0u;\n"                             \
   "  return convert_ushort" n "(x == x ? (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16 : quiet);\n}\n"}

// Each in front of those that use it.
constexpr Helper helpers[] = {
    // No step has a denormal of f32, which a device may take for 0.
    {"zyx_f16_to_f32(", R"(static inline float zyx_f16_to_f32(ushort x) {
  const uint exponent = x >> 10 & 31u, rest = x & 0x3ffu, sign = (uint)(x & 0x8000u) << 16;
  if (exponent == 0)
    return as_float(as_uint((float)rest * 0x1p-24f) | sign);
  return as_float(sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | rest << 13);
}
)"},
    {"zyx_bf16_to_f32(", R"(static inline float zyx_bf16_to_f32(ushort x) { return as_float((uint)x << 16); }
)"},
    ZYX_VECTOR_TO_BF16("2"),
    ZYX_VECTOR_TO_BF16("4"),
    ZYX_VECTOR_TO_BF16("8"),
    ZYX_VECTOR_TO_BF16("16"),
    {"zyx_f8e4m3fn_to_f32(", R"(static inline float zyx_f8e4m3fn_to_f32(uchar x) {
  const uint exponent = x >> 3 & 15u, rest = x & 7u, sign = (uint)(x & 0x80u) << 24;
  if (exponent == 0)
    return as_float(as_uint((float)rest * 0x1p-9f) | sign);
  return as_float(sign | ((x & 0x7fu) == 0x7fu ? 0x7fc00000u : (exponent + 120) << 23 | rest << 20));
}
)"},
    {"zyx_f8e5m2_to_f32(",
     R"(static inline float zyx_f8e5m2_to_f32(uchar x) { return zyx_f16_to_f32((ushort)(x << 8)); }
)"},
    {"zyx_beyond(", R"(/* Infinity, or NaN where the number is none or there is no infinity. */
static inline uint zyx_beyond(bool isNaN, uint sign, int exponent, int mantissa, bool infinity) {
  const uint sign_bit = 1u << (exponent + mantissa);
  const uint largest = infinity ? sign_bit - (1u << mantissa) : sign_bit - 1;
  return sign * sign_bit | largest | (isNaN && infinity ? 1u << (mantissa - 1) : 0);
}
)"},
    {"zyx_round",
     R"(/* Rounds significand * 2^scale to nearest even, once, to a sign, `exponent` and `mantissa` bits. */
static inline uint zyx_round(ulong significand, int scale, uint sign, int exponent, int mantissa, bool infinity) {
  const uint sign_bit = 1u << (exponent + mantissa);
  if (significand == 0)
    return sign * sign_bit;
  const int smallest = 2 - (1 << (exponent - 1)), e = scale + 63 - (int)clz(significand);
  const int shift = max(e, smallest) - mantissa - scale;
  if (shift > 63)
    return sign * sign_bit;
  ulong kept = significand << max(-shift, 0);
  if (shift > 0) {
    const ulong rest = significand & ((1ul << shift) - 1), middle = 1ul << (shift - 1);
    kept = significand >> shift;
    kept += rest > middle || (rest == middle && (kept & 1)) ? 1 : 0;
  }
  if (e >= smallest)
    kept += (ulong)(e - smallest) << mantissa;
  const uint beyond = zyx_beyond(false, sign, exponent, mantissa, infinity);
  return kept < (beyond & (sign_bit - 1)) ? sign * sign_bit | (uint)kept : beyond;
}
)"},
    {"zyx_round_f32(", R"(static inline uint zyx_round_f32(float x, int exponent, int mantissa, bool infinity) {
  const uint bits = as_uint(x), rest = bits & 0x7fffffu;
  const int e = (int)(bits >> 23 & 0xffu);
  if (e == 255)
    return zyx_beyond(rest != 0, bits >> 31, exponent, mantissa, infinity);
  return zyx_round(e ? rest | 0x800000u : rest, max(e, 1) - 150, bits >> 31, exponent, mantissa, infinity);
}
)"},
    {"zyx_round_f64(", R"(static inline uint zyx_round_f64(double x, int exponent, int mantissa, bool infinity) {
  const ulong bits = as_ulong(x), rest = bits & 0xffffffffffffful;
  const int e = (int)(bits >> 52 & 0x7fful);
  if (e == 2047)
    return zyx_beyond(rest != 0, (uint)(bits >> 63), exponent, mantissa, infinity);
  return zyx_round(e ? rest | 1ul << 52 : rest, max(e, 1) - 1075, (uint)(bits >> 63), exponent, mantissa, infinity);
}
)"},
    // Most conversions are of these, and a sum of bits rounds them.
    {"zyx_bf16_from_f32(", R"(static inline ushort zyx_bf16_from_f32(float x) {
  const uint bits = as_uint(x);
  return (ushort)((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16 & 0x8000u) | 0x7fc0u
                                                     : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
)"},
    ZYX_FROM_F32("f16", "ushort", "5, 10, true"),
    ZYX_FROM_F32("f8e4m3fn", "uchar", "4, 3, false"),
    ZYX_FROM_F32("f8e5m2", "uchar", "5, 2, true"),
    ZYX_FROM_OTHERS("f16", "ushort", "5, 10, true"),
    ZYX_FROM_OTHERS("bf16", "ushort", "8, 7, true"),
    ZYX_FROM_OTHERS("f8e4m3fn", "uchar", "4, 3, false"),
    ZYX_FROM_OTHERS("f8e5m2", "uchar", "5, 2, true"),
};

} // namespace

constinit const llvm::ArrayRef<Helper> helpersOfSmallFloats = helpers;

} // namespace zyx::target
