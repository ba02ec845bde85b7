//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_LOOPS_DOTEMITTER_H
#define ZYX_CODEGEN_LOOPS_DOTEMITTER_H

#include "zyx/Codegen/Tile/TileContext.h"

namespace zyx::kernel {

/// Emits a dot by rows and columns: one that no machine's own emitter takes.
class DotEmitter {
public:
  DotEmitter(TileContext &context, DotOp dot) : t(context), dot(dot), loc(dot.getLoc()) {}

  /// A dot whose result fits the registers stays there; a larger one goes to memory block by block.
  mlir::LogicalResult emit();

private:
  using Accumulators = TileContext::Accumulators;
  using Block2D = llvm::SmallVector<llvm::SmallVector<mlir::Value>>;

  /// `rows` rows of `vectors` vectors of the result, with the sums in registers all along k.
  mlir::FailureOr<Block2D> sumBlock(Point base, int64_t rows, int64_t vectors, Extent columns);
  /// Whether all that reads a dot's result can do so in registers: nests that are unrolled over its rows
  /// and columns alone, and that read no other dot.
  bool readsFromRegisters(Axis m, Axis n);

  TileContext &t;
  DotOp dot;
  mlir::Location loc;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_LOOPS_DOTEMITTER_H
