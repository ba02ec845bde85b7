//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A right factor of a blocked dot that was packed before the kernel runs.
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_CPU_WEIGHTPANELS_H
#define ZYX_CODEGEN_CPU_WEIGHTPANELS_H

#include "zyx/Codegen/Tile/TileContext.h"

namespace zyx::kernel {

/// Panels of all pieces of the contraction, in the order [piece][panel]. Positions of columns count from the
/// program's first one, those of pieces in steps of the contraction.
class WeightPanels {
public:
  /// What `rhs`, the factor of the dot that is read, is a load of, where that lies in the panels of the dot's
  /// blocking and the program begins with one of them. With a `group` above 1 they are those of a matrix unit.
  static std::optional<WeightPanels> find(TileContext &lowering, DotOp dot, mlir::Value rhs, int64_t group,
                                          int64_t lanes, int64_t depth);

  /// [piece][panel][k][column]; of a matrix unit [piece and panel][k of a group][column and k].
  mlir::Value view() const { return panels; }
  mlir::Value piece(mlir::Value start);
  /// Of those of a piece.
  mlir::Value panel(mlir::Value column);
  /// Of those of all pieces.
  mlir::Value panelOfAll(mlir::Value start, mlir::Value column);

  /// What a round of the innermost loop reads ahead.
  struct Ahead {
    mlir::Value from;
    int64_t perStep, linesPerRound, line;
  };
  /// The tiles of a program share the lines of the panels that are read next, a few in each round, of
  /// `unroll` steps, so that these are in the second cache when their turn comes.
  Ahead readAhead(mlir::Value start, mlir::Value column, mlir::Value tileRow, int64_t unroll);
  void fetch(const Ahead &ahead, mlir::Value step);

private:
  WeightPanels(TileContext &lowering, DotOp dot)
      : t(lowering), dot(dot), blocking(*dot.getBlocking()), loc(dot.getLoc()) {}
  mlir::Value number(int64_t value) { return t.evaluator.constantIndex(value, loc); }
  /// Where the panel begins that is read after this one: that of the next piece, or behind the last one that of
  /// the next program's first.
  mlir::Value panelAfter(mlir::Value start, mlir::Value column);

  TileContext &t;
  DotOp dot;
  BlockingAttr blocking;
  mlir::Location loc;
  mlir::Value panels, inOrder, firstColumn;
  int64_t numPanels = 0, numPieces = 0, steps = 0;
  mlir::Type element;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_CPU_WEIGHTPANELS_H
