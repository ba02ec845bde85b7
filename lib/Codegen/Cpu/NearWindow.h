//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_CPU_NEARWINDOW_H
#define ZYX_CODEGEN_CPU_NEARWINDOW_H

#include "zyx/Codegen/Tile/NearLines.h"
#include "zyx/Codegen/Tile/TileContext.h"

namespace zyx::kernel {

/// Windows that are the right factor of a dot, read out of a padded copy of the image instead of being packed.
class NearWindow {
public:
  /// None where a blocking does not ask for it, or the factor is something else. `lanes`: those of whole vectors.
  static std::optional<NearWindow> find(TileContext &lowering, DotOp dot, Axis depth, Axis columns, int64_t lanes);

  /// Vectors have no more lanes than a line has positions.
  int64_t lanes() const { return width; }
  /// Steps of the contraction that a micro-kernel has in a round.
  int64_t stepsAtOnce() const { return lines.stepsAtOnce(); }
  /// Copies what a program reads for the batch at a point.
  void copy(const Point &at);
  /// Where windows of the positions from `column` on begin.
  mlir::Value beginOf(mlir::Value column);
  /// The same behind `step` steps of the contraction, a multiple of those of a round.
  mlir::Value round(mlir::Value begin, mlir::Value step);
  /// A vector of the factor: so many steps behind the beginning of a round.
  mlir::Value load(mlir::Value round, int64_t step, int64_t vector);

private:
  NearWindow(TileContext &lowering, DotOp dot) : t(lowering), dot(dot) {}

  /// The positions of parts of a dimension of the load, outermost first, from an index along it.
  llvm::SmallVector<mlir::Value> decompose(llvm::ArrayRef<unsigned> parts, mlir::Value index);
  /// How far neighbours of a part are apart in the copy.
  int64_t strideOf(unsigned part) const;
  void allocate();

  mlir::Value constant(int64_t value) { return t.evaluator.constantIndex(value, dot.getLoc()); }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return t.builder.createOrFold<mlir::arith::AddIOp>(dot.getLoc(), a, b);
  }
  mlir::Value times(mlir::Value a, int64_t by) {
    return t.builder.createOrFold<mlir::arith::MulIOp>(dot.getLoc(), a, constant(by));
  }

  TileContext &t;
  DotOp dot;
  LoadOp image;
  ViewOp view;
  NearLines lines;
  int64_t width = 1, positions = 0;
  mlir::Type element;
  llvm::SmallVector<int64_t> extents, strides;
  mlir::Value memory;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_CPU_NEARWINDOW_H
