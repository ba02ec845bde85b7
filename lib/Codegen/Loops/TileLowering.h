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
  /// Whether a tile lies in memory that only the threads of one workgroup share, of a cluster of several.
  bool keepsApart() const { return cluster > 1 && sharesTiles; }
  /// Whether there is something that several threads do not compute together, whatever they were meant to.
  bool wantsOneThread() const { return refusesThreads; }

private:
  mlir::LogicalResult lowerOp(mlir::Operation &op);
  mlir::LogicalResult flush();
  bool joinsPending(mlir::Operation *root);

  // Loops that carry tiles.
  mlir::LogicalResult emitTileLoop(mlir::Operation &loop);
  MemoryTile memoryOf(mlir::Value tile);
  mlir::LogicalResult copyMemory(MemoryTile from, MemoryTile to, mlir::Location loc);

  mlir::LogicalResult emitDot(DotOp dot);

  /// The same across programs: whoever comes to the next one may write what the last one's threads still read.
  void endProgram(mlir::Location loc);

  bool refusesThreads = false;
  llvm::SmallVector<mlir::Operation *> pending;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_LOOPS_TILELOWERING_H
