//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_DTYPE_H
#define ZYX_BASE_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace zyx {

/// The element types of tensors. Values are stable: they are written into artifacts and cross the
/// C surface. `Bool` is one byte in memory, 0 or 1.
enum class DType : uint8_t {
  Bool = 0,
  I8 = 1,
  I16 = 2,
  I32 = 3,
  I64 = 4,
  U8 = 5,
  U16 = 6,
  U32 = 7,
  U64 = 8,
  F16 = 9,
  BF16 = 10,
  F32 = 11,
  F64 = 12,
  F8E4M3FN = 13,
  F8E5M2 = 14,
};
inline constexpr int numDTypes = 15;

/// Bytes of one element in memory.
int64_t byteSize(DType dtype);
/// "bool", "i8", ..., "u64", "f16", "bf16", "f32", "f64", "f8e4m3fn", "f8e5m2".
std::string_view toString(DType dtype);
/// The inverse of toString.
std::optional<DType> parseDType(std::string_view name);
/// The dtype of a stored number, where the number is one.
std::optional<DType> dtypeFromValue(uint8_t value);

bool isFloat(DType dtype);
bool isSignedInteger(DType dtype);
bool isUnsignedInteger(DType dtype);
inline bool isInteger(DType dtype) { return isSignedInteger(dtype) || isUnsignedInteger(dtype); }
/// f8e4m3fn and f8e5m2 are stored, cast and multiplied in contractions, but not computed with.
inline bool isStorageOnly(DType dtype) { return dtype == DType::F8E4M3FN || dtype == DType::F8E5M2; }
/// The type in which sums of this type are accumulated: f32 for f16, bf16 and f8; i32 for 8-bit
/// integers in contractions is chosen by whoever writes the casts; every other type is its own.
DType accumulatorType(DType dtype);

} // namespace zyx

#endif // ZYX_BASE_DTYPE_H
