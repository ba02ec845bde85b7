//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_LOOPS_SQUAREEMITTER_H
#define ZYX_CODEGEN_LOOPS_SQUAREEMITTER_H

#include "zyx/Codegen/Tile/Nest.h"

namespace zyx::kernel {

/// Emits a nest in squares of vectors where loads are contiguous along another axis than the vectors': they are read
/// along theirs and transposed in registers.
class SquareEmitter {
public:
  using Emit = llvm::function_ref<mlir::LogicalResult(Point)>;

  /// `emitInner` emits what happens at a point, `walkVectors` walks the vectors of a row.
  SquareEmitter(Nest &nest, Emit emitInner, Emit walkVectors)
      : n(nest), t(nest.t), loc(nest.loc), emitInner(emitInner), walkVectors(walkVectors) {}

  /// Along which axis loads of a nest are transposed, and which; nothing where none is. Narrows the vectors.
  static bool find(Nest &n, std::optional<Axis> &rowAxis, llvm::SmallVectorImpl<mlir::Value> &loads);
  /// Squares of vectors, and what is left beside and below them.
  mlir::LogicalResult emit(Axis rowAxis, llvm::ArrayRef<mlir::Value> loads, Point point);

private:
  using Accumulators = Nest::Accumulators;
  mlir::LogicalResult emitSquare(Axis rowAxis, llvm::ArrayRef<mlir::Value> loads, const Point &point, mlir::Value row,
                                 mlir::Value column);

  Nest &n;
  TileContext &t;
  mlir::Location loc;
  Emit emitInner, walkVectors;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_LOOPS_SQUAREEMITTER_H
