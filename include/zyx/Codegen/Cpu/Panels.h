//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_CPU_PANELS_H
#define ZYX_CODEGEN_CPU_PANELS_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::kernel {

/// A matrix of `depth` x `columns` elements in pieces of `piece` rows, and each of these in panels of `width`
/// columns, [piece][panel][row][column], the last one filled up: how a blocked dot reads its right factor. With a
/// `group` above 1 so many rows are side by side, [piece][panel][rows of a group][column][row], as matrix units
/// read narrow factors. `piece` divides `depth`, and `group` divides `piece`.
struct Panels {
  int64_t depth, columns, piece, width, group = 1;

  /// Of a piece.
  int64_t count() const { return (columns + width - 1) / width; }
  /// The map of the matrix, [row][column], to where panels lie.
  MapAttr lookThrough(mlir::MLIRContext *context) const;
  llvm::SmallVector<int64_t> shape() const;
  /// The map of panels, of that shape, to where `matrix`, a block without bounds, says that the elements
  /// are. Behind the last column there is none.
  MapAttr readFrom(BlockAttr matrix) const;
  /// The panels that a map looks through, if it does.
  static std::optional<Panels> match(MapAttr map);
};

/// Rows of a piece where `depth` of them are in pieces of one size: at most `most`, at least half as many, and a
/// multiple of `unit`; 0 where there is no such size.
int64_t findEqualPiece(int64_t depth, int64_t most, int64_t unit);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_CPU_PANELS_H
