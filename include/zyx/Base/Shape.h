//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_SHAPE_H
#define ZYX_BASE_SHAPE_H

#include "zyx/Base/DType.h"
#include "zyx/Base/Extent.h"
#include "zyx/Base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace zyx {

/// Extents of a tensor, outermost first; empty for rank 0. Row-major order is meant wherever a
/// linear order is.
using Shape = std::vector<int64_t>;

/// Stands in a shape where the extent is an expression of symbols (TensorType::extents).
inline constexpr int64_t symbolicExtent = INT64_MIN;

/// Tensors of more elements or bytes than this are refused by name and size: 2^40 bytes.
inline constexpr int64_t maxTensorBytes = int64_t(1) << 40;
inline constexpr int maxRank = 16;

/// The product of the extents; a failure where one is negative or symbolic, or where the product does not fit
/// in 63 bits.
Result<int64_t> numElements(const Shape &shape);

/// "[2, 3]"; "[]" for rank 0; symbolic extents are "?".
std::string toString(const Shape &shape);

struct TensorType {
  DType dtype = DType::F32;
  Shape shape;
  /// Empty where all extents are numbers; else one per dimension, and the shape holds
  /// symbolicExtent for each that is none. `symbolicType` makes such types.
  std::vector<Extent> extents = {};
  bool isSymbolic() const { return !extents.empty(); }
  bool operator==(const TensorType &) const = default;
};

/// A type of these extents; an ordinary one where all are numbers.
TensorType symbolicType(DType dtype, std::vector<Extent> extents);
/// The type with every symbol's value in its place. Refuses a symbol that has none, and extents
/// that become negative.
Result<TensorType> specialise(const TensorType &type, const Bindings &bindings);

void collectSymbols(const TensorType &type, std::set<std::string> &symbols);

/// "f32[2, 3]", "f32[2*n, 3]".
std::string toString(const TensorType &type);
/// Bytes of a dense tensor; a failure where it exceeds maxTensorBytes or maxRank.
Result<int64_t> byteSize(const TensorType &type);

} // namespace zyx

#endif // ZYX_BASE_SHAPE_H
