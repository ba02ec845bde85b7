//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_CPU_PACKING_H
#define ZYX_CODEGEN_CPU_PACKING_H

#include "zyx/Codegen/Tile/TileContext.h"

namespace zyx::kernel {

/// A box of a tile of two axes, and memory where its columns are neighbours.
struct PackedBox {
  mlir::Value tile;
  Axis rowAxis, columnAxis;
  /// Where the box begins; other axes are at `base`.
  Point base;
  mlir::Value row0, column0;
  Extent rows, columns;
  /// The element type in memory, to which elements are widened.
  mlir::Type element;
  /// A view whose innermost dimension is along columns, and the indices of (row, column) in it. Whole
  /// vectors are written: there is room for rows and columns up to the next multiple of the lanes.
  mlir::Value memory;
  llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value row, mlir::Value column)> place;
  /// Whether packRuns takes a plain matrix that lies along rows, too.
  bool takesPlain = false;
};

/// Copies boxes of tiles into memory, evaluating what computes the tile on the way.
class Packer {
public:
  Packer(TileContext &lowering, mlir::Location loc) : t(lowering), loc(loc) {}

  /// Reads along the axis that is contiguous in the tile. Where that is the rows' one, squares of vectors
  /// are transposed in registers.
  mlir::LogicalResult pack(const PackedBox &box, int64_t lanes);
  /// Packs what is read through several blocks or with padding in runs of neighbours (WindowPacking.cpp);
  /// false, with nothing emitted, where it has none.
  mlir::FailureOr<bool> packRuns(const PackedBox &box, int64_t lanes);
  /// How many elements lie in a run, and whether runs lie along the rows; 0 where the box is not packed so.
  struct Runs {
    int64_t length = 0;
    bool isTransposed = false;
  };
  Runs findRuns(const PackedBox &box, int64_t lanes);
  /// How many rows are written out together where a box is packed in short runs; else 1.
  int64_t rowsOfWindow(const PackedBox &box, int64_t lanes);

private:
  mlir::LogicalResult copy(const PackedBox &box, int64_t lanes);
  mlir::LogicalResult transpose(const PackedBox &box, int64_t lanes);
  /// Whole pieces of `step`, then what is left as one more.
  mlir::LogicalResult walk(Extent extent, int64_t step,
                           llvm::function_ref<mlir::LogicalResult(mlir::Value position, bool partial)> body);

  TileContext &t;
  mlir::Location loc;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_CPU_PACKING_H
