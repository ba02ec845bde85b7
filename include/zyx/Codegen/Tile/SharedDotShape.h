//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_SHAREDDOTSHAPE_H
#define ZYX_CODEGEN_TILE_SHAREDDOTSHAPE_H

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::kernel {

/// How the threads of a workgroup multiply a tile out of shared memory, slice by slice along the contraction. The
/// schedule estimates by it, and code is emitted by it: both mean the same threads and the same bytes.
struct SharedDotShape {
  /// Of the tile, and of the part that a thread has sums of; or a warp, where `product` says what it multiplies.
  int64_t rows, columns, ownRows, ownColumns;
  /// Elements of the contraction, and as many of them as a slice is meant to have.
  int64_t depth, wantedDepth;
  /// Of the workgroup.
  int64_t threads;
  int64_t sumBytes;
  /// What the threads of a warp multiply together; null where each multiplies by itself.
  const target::MatrixInstruction *product = nullptr;

  /// What a dot is for the threads of its kernel; none where they cannot multiply it together. Fails where findEnd
  /// does.
  static mlir::FailureOr<std::optional<SharedDotShape>> of(DotOp dot, FuncOp func, const Axes &axes,
                                                           const target::TargetInfo &machine);

  int64_t paddedRows() const { return llvm::alignTo(rows, ownRows); }
  int64_t paddedColumns() const { return llvm::alignTo(columns, ownColumns); }
  int64_t sliceDepth() const;
  /// While one slice is multiplied the next one is brought.
  int64_t stages() const { return depth > sliceDepth() ? 2 : 1; }
  /// Threads that have sums of the tile.
  int64_t threadsOfTile() const;
  /// Groups of so many threads, which have the same sums of different parts of a slice.
  int64_t groups() const;
  /// Rows and columns of the memory that a factor's slices take, of which a tile has `padded` elements: row by row
  /// along the contraction, or with a row for each element of the tile.
  std::pair<int64_t, int64_t> sliceMemory(int64_t padded, bool byElements) const;
  /// Bytes that a program shares for both factors, whichever way they lie, and for sums that groups hand over.
  int64_t sharedBytes() const;
};

/// What kernel.warp_multiply computes, where the machine has it for factors of an element type; null where not. Its
/// definition says where each thread has its elements, so that other instructions are not taken.
const target::MatrixInstruction *findWarpProduct(const target::TargetInfo &machine, mlir::Type factor);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_SHAREDDOTSHAPE_H
