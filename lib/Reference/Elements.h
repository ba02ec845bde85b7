//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_REFERENCE_ELEMENTS_H
#define ZYX_LIB_REFERENCE_ELEMENTS_H

#include "zyx/Base/DType.h"
#include "zyx/Base/Float.h"
#include "zyx/Graph/Graph.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

/// The ops on blocks of elements. In a block an element is held as C++ computes with it: integers
/// as themselves, bool as uint8_t 0 or 1, f64 as double, and f32, f16, bf16 and f8 as a float that
/// is exactly a value of the dtype.
namespace zyx::reference {

/// Elements of a block at most, and bytes of the widest.
inline constexpr int64_t blockElements = 1024;
inline constexpr int64_t blockBytes = blockElements * 8;

/// Bytes of one element in a block.
inline int64_t heldBytes(DType dtype) {
  return isFloat(dtype) && dtype != DType::F64 ? sizeof(float) : byteSize(dtype);
}

/// What a float dtype is computed with. `Basic` is wide enough that + - * / sqrt in it, rounded
/// once more, are correctly rounded (2p + 2 bits or the type itself).
struct F32 {
  using Carrier = float;
  using Basic = float;
  static float round(float value) { return value; }
  static float round(double value) { return static_cast<float>(value); }
};
struct F64 {
  using Carrier = double;
  using Basic = double;
  static double round(double value) { return value; }
};
struct F16 {
  using Carrier = float;
  using Basic = double;
  static float round(double value) { return static_cast<float>(halfToFloat(floatToHalf(value))); }
};
struct BF16 {
  using Carrier = float;
  using Basic = double;
  static float round(double value) { return static_cast<float>(bfloat16ToFloat(floatToBFloat16(value))); }
};

/// NaN where either is NaN; +0 is larger than -0.
template <typename T> T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) ? a : b;
    if (a == b)
      return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}
template <typename T> T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) ? a : b;
    if (a == b)
      return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}

/// Reads `count` elements of a tensor at index, index + stride, ... into a block.
void loadRun(DType dtype, const std::byte *tensor, int64_t index, int64_t stride, int64_t count, std::byte *block);
/// Reads the elements at `indices`; 0 where an index is negative.
void loadAt(DType dtype, const std::byte *tensor, const int64_t *indices, int64_t count, std::byte *block);
/// Writes the first elements of a block to consecutive elements of a tensor.
void store(DType dtype, const std::byte *block, int64_t count, std::byte *tensor);

/// Elements with the values of `indices`, which the dtype holds exactly.
void fromIndices(DType dtype, const int64_t *indices, int64_t count, std::byte *block);
/// The inverse for a block of integers; values that do not fit are given as -1.
void toIndices(DType dtype, const std::byte *block, int64_t count, int64_t *indices);

void cast(DType from, DType to, const std::byte *x, int64_t count, std::byte *out);
/// Both have the same bytes in memory.
void bitcast(DType from, DType to, const std::byte *x, int64_t count, std::byte *out);
void unary(graph::UnaryKind kind, DType dtype, const std::byte *x, int64_t count, std::byte *out);
void binary(graph::BinaryKind kind, DType dtype, const std::byte *a, const std::byte *b, int64_t count, std::byte *out);
void select(DType dtype, const std::byte *condition, const std::byte *a, const std::byte *b, int64_t count,
            std::byte *out);

} // namespace zyx::reference

#endif // ZYX_LIB_REFERENCE_ELEMENTS_H
