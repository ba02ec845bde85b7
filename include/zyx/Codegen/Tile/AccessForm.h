//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_ACCESSFORM_H
#define ZYX_CODEGEN_TILE_ACCESSFORM_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::kernel {

/// A map of several blocks without its divisions: dimensions are split into parts, the place of an
/// element is a sum of strides times the parts' positions, and it exists where some such sums lie
/// within bounds. Windows over padded tensors have one, whatever was flattened.
struct AccessForm {
  struct Part {
    int64_t extent, stride;
  };
  /// low <= offset + sum of factors[p] * position of part p < high.
  struct Bound {
    llvm::SmallVector<int64_t> factors;
    int64_t offset, low, high;
  };
  /// The numbers of each dimension's parts, outermost first. Parts of one element are left out.
  llvm::SmallVector<llvm::SmallVector<unsigned>> dims;
  llvm::SmallVector<Part> parts;
  int64_t offset = 0;
  llvm::SmallVector<Bound> bounds;

  /// The form of a map without symbols, or none where a block is stepped over otherwise than in whole
  /// rows of it.
  static std::optional<AccessForm> compute(MapAttr map);

  /// Makes one part of the two innermost ones of a dimension, as often as they are one in memory and in
  /// every bound.
  void mergeInnermost(unsigned dim);

  /// The largest power of two n for which this holds: from each multiple of n along the dimension on, n elements are
  /// contiguous in memory, begin there at a multiple of n, and all exist or are all missing.
  int64_t contiguityAlong(unsigned dim) const;

  /// Whether elements are found several times, as in windows that overlap.
  bool hasOverlaps() const;

private:
  void split(unsigned part, int64_t inner, llvm::SmallVectorImpl<llvm::SmallVector<int64_t>> &sums);
};

/// The largest power of two, at most `lanes`, of which each place is a multiple where a row along a dimension begins,
/// and where a short one ends; `lanes` where nothing is known of the map, or neighbours along the dimension are none in
/// memory.
int64_t alignmentOfRows(MapAttr map, unsigned dim, int64_t lanes);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_ACCESSFORM_H
