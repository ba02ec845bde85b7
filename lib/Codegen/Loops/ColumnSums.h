//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_LOOPS_COLUMNSUMS_H
#define ZYX_CODEGEN_LOOPS_COLUMNSUMS_H

#include "zyx/Codegen/Tile/Nest.h"

namespace zyx::kernel {

/// Emits reductions along rows of more columns than a few vectors: the sums are kept in memory, so that it is read in
/// long pieces and not in a narrow strip from row to row.
class ColumnSums {
public:
  /// `walkChunks` walks the vectors of a row, several at a time.
  using WalkChunks = llvm::function_ref<mlir::LogicalResult(Point, Nest::Chunk)>;

  ColumnSums(Nest &nest, WalkChunks walkChunks) : n(nest), t(nest.t), loc(nest.loc), walkChunks(walkChunks) {}

  /// Whether a nest is of that kind.
  static bool apply(Nest &n);
  /// Walks blocks of rows, and along each the columns.
  mlir::LogicalResult emit(Point point);

private:
  using Accumulators = Nest::Accumulators;
  /// Rows that are added to sums in memory at once.
  static constexpr int64_t blockRows = 4;

  mlir::LogicalResult walkRows(llvm::ArrayRef<Axis> inner, Point point);
  /// Combines `count` rows pair by pair, and with what is in memory.
  mlir::LogicalResult addRows(Point &column, Axis axis, int64_t count);

  Nest &n;
  TileContext &t;
  mlir::Location loc;
  WalkChunks walkChunks;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_LOOPS_COLUMNSUMS_H
