//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_LOOPS_SQUAREEMITTER_H
#define ZYX_CODEGEN_LOOPS_SQUAREEMITTER_H

#include "zyx/Codegen/Tile/Nest.h"

namespace zyx::kernel {

/// Emits a nest in squares of vectors where what is read is contiguous along another axis than the vectors': it is read
/// along that one and transposed in registers.
class SquareEmitter {
public:
  using Emit = llvm::function_ref<mlir::LogicalResult(Point)>;

  /// What is transposed, and the axis along which it is read.
  struct Square {
    Axis rowAxis = 0;
    /// Loads and gathers; or, where these are more, what is stored.
    llvm::SmallVector<mlir::Value> tiles;
    /// Rows are the innermost loop: what their elements share, as places of a gather, is computed once for all rows.
    bool walksRows = false;
    /// Along which lines of columns follow each other in all that is written: columns go on in the next line, so that
    /// vectors are whole and lie where lines of a cache do, however long a line of columns is.
    std::optional<Axis> lineAxis;
  };

  /// `emitInner` emits what happens at a point.
  SquareEmitter(Nest &nest, Emit emitInner) : n(nest), t(nest.t), loc(nest.loc), emitInner(emitInner) {}

  /// What of a nest is transposed; nothing where all is read along its vectors. Narrows these.
  static std::optional<Square> find(Nest &n);
  mlir::LogicalResult emit(const Square &square, Point point);

private:
  using Accumulators = Nest::Accumulators;
  /// A square that begins at a row and a column; of some only a part exists.
  mlir::LogicalResult emitSquare(const Square &square, const Point &point, mlir::Value row, bool hasAllRows,
                                 mlir::Value column, bool hasAllColumns);
  /// Whole squares along an axis, and the rest.
  mlir::LogicalResult walk(Extent extent,
                           llvm::function_ref<mlir::LogicalResult(mlir::Value position, bool isWhole)> body);
  /// All columns of the program: those of all its lines, where they go on.
  Extent columnsOf(const Square &square);
  void setColumn(const Square &square, Point &point, mlir::Value column);

  Nest &n;
  TileContext &t;
  mlir::Location loc;
  Emit emitInner;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_LOOPS_SQUAREEMITTER_H
