//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_LOOPS_TILELOWERING_H
#define ZYX_CODEGEN_LOOPS_TILELOWERING_H

#include "zyx/Codegen/Tile/TileContext.h"

namespace zyx::kernel {

/// Lowers the tiles of one kernel. `lower` copies a block, with loops in place of its roots.
class TileLowering : public TileContext {
public:
  using TileContext::TileContext;

  mlir::LogicalResult lower(mlir::Block &block);
  mlir::IRMapping &mapping() { return evaluator.mapping; }
  /// See TileEvaluator::sumsByDimension.
  void sumByDimension() { evaluator.sumsByDimension = true; }

private:
  mlir::LogicalResult lowerOp(mlir::Operation &op);
  mlir::LogicalResult flush();
  std::optional<Axis> liesAlong(mlir::Operation *root);
  bool joinsPending(mlir::Operation *root);

  // Loops that carry tiles.
  mlir::LogicalResult emitTileLoop(mlir::Operation &loop);
  std::optional<MemoryTile> memoryOf(mlir::Value tile);
  mlir::LogicalResult copyMemory(MemoryTile from, MemoryTile to, mlir::Location loc);

  mlir::LogicalResult emitDot(DotOp dot);

  /// The same across programs: whoever comes to the next one may write what the last one's threads still read.
  void endProgram(mlir::Location loc);

  llvm::SmallVector<mlir::Operation *> pending;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_LOOPS_TILELOWERING_H
