//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_NEARFORM_H
#define ZYX_CODEGEN_TILE_NEARFORM_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::kernel {

/// Bytes that a program copies near at most: they stay in the second cache.
inline constexpr int64_t mostNearBytes = 96 << 10;
/// Elements of a window that is combined for each element of a result. A sum of more is along something else, over
/// which the results slide, as a filter's gradient.
inline constexpr uint64_t mostWindowElements = 64;

/// Elements of a run that lie this far apart are read as so many vectors, of which lanes are chosen.
inline constexpr int64_t mostRunStep = 4;

/// What a load reads of a buffer, as an array that a program copies into memory of its own: each element once, those of
/// padding too, neighbours along the lanes of vectors. A window over it takes neither tests nor divisions.
struct NearForm {
  struct Dim {
    /// Elements between neighbours in the buffer.
    int64_t step;
    /// By dimension of the load: neighbours that one position along it is apart.
    llvm::SmallVector<int64_t> factors;
    /// Of what exists: low <= offset + position < high.
    bool isBounded = false;
    int64_t offset = 0, low = 0, high = 0;
  };
  /// The lanes' dimension is the last one.
  llvm::SmallVector<Dim> dims;
  /// Where the array begins in the buffer.
  int64_t offset = 0;
  /// How far neighbours along the lanes' dimension are apart in the array.
  int64_t laneStep = 1;

  /// None where the map is not of that form, or nothing is won: vectors along the load's dimension `lanes` are
  /// neighbours and all exist. Lanes may be up to `mostRunStep` apart, as those of a window that is moved by several
  /// elements. What a kernel of its own copies may lie in any order.
  static std::optional<NearForm> compute(MapAttr map, unsigned lanes, bool isCopied = false);

  /// The array's extents for a tile of the load.
  llvm::SmallVector<int64_t> getExtents(llvm::ArrayRef<int64_t> tile) const;
  /// The same in elements, with whole vectors of `lanes`.
  int64_t countElements(llvm::ArrayRef<int64_t> tile, int64_t lanes) const;
  /// Whether each element is read so often, where so many are read in all, that copying it takes little beside.
  /// `along`: the dimension of the tile along which vectors are; both are counted in whole vectors. `isOnly`: vectors
  /// along no other dimension would read neighbours.
  bool isReused(llvm::ArrayRef<int64_t> tile, int64_t along, int64_t lanes, int64_t numReads,
                bool isOnly = false) const;
};

/// Cycles for each element of a factor that is read through such a map and packed, in vectors along the load's
/// dimension `columns` (WindowPacking.cpp): few where columns, or the rows of the packed factor, are runs in memory,
/// and more where elements are looked up one by one.
double packingCycles(MapAttr map, unsigned columns, unsigned rows, int64_t lanes);

/// Cycles of a program that reads windows by so many positions out of a copy (NearLines.h), of the load's dimensions of
/// positions and of windows; 0 where they are not read so.
double copyingCycles(MapAttr map, std::pair<unsigned, unsigned> dims, int64_t positions, int64_t lanes);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_NEARFORM_H
