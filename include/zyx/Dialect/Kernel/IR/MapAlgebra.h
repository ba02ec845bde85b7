//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Movement ops applied to the maps of views, so that they cost nothing but another stride.
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_MAPALGEBRA_H
#define ZYX_DIALECT_KERNEL_IR_MAPALGEBRA_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::kernel {

/// Dimension i of the result is dimension `order[i]` of the map.
MapAttr permuteMap(MapAttr map, llvm::ArrayRef<int64_t> order);

/// Repeats dimensions of extent 1 up to `shape`, by a stride of 0.
MapAttr expandMap(MapAttr map, llvm::ArrayRef<int64_t> shape);

/// Walks dimensions backwards: strides turn negative.
MapAttr flipMap(MapAttr map, llvm::ArrayRef<int64_t> dims);

/// Adds indices that have no element before and after those of each dimension, or removes indices
/// where a number is negative. All extents are static.
MapAttr padMap(MapAttr map, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high);

/// Along each of `dims`, `counts` windows of `sizes` elements that begin `strides` apart and have
/// their elements `dilations` apart; the dimensions inside of windows are appended. All extents are
/// static.
MapAttr windowMap(MapAttr map, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> counts,
                  llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> dilations);

/// False where it is clear that no index has an element.
bool hasElements(MapAttr map);

/// Whether every index along a dimension of the map's first block exists there.
bool isWhole(MapAttr map, unsigned dim);

/// The indices of the map in row-major order under other extents, of as many elements. Dimensions
/// split and merge inside the first block where strides allow; elsewhere a block is prepended. All
/// extents are static.
MapAttr reshapeMap(MapAttr map, llvm::ArrayRef<int64_t> shape);

/// Dimension i of the result is dimension `dims[i]` of the map, or where that is -1, a new one of
/// extent `extents[i]` along which the map repeats. Dimensions that are not named stand at index 0; where
/// the map has no element there, the result has none (it must have a dimension to say so).
MapAttr selectDims(MapAttr map, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> extents);

/// The place in the buffer of the element at a static index, or std::nullopt where there is none.
/// The map has no symbols.
std::optional<int64_t> evaluateMap(MapAttr map, llvm::ArrayRef<int64_t> index);

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_IR_MAPALGEBRA_H
