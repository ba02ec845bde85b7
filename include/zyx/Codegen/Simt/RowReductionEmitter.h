//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_SIMT_ROWREDUCTIONEMITTER_H
#define ZYX_CODEGEN_SIMT_ROWREDUCTIONEMITTER_H

#include "zyx/Codegen/Tile/Nest.h"

namespace zyx::kernel {

/// Whether a sum has all its terms but one zero, and that one is looked at alone.
bool isOneHotSum(TileContext &t, mlir::Operation *root);
/// Whether a sum is taken along with the maximum that waits, although it needs that.
bool joinsOnline(TileContext &t, llvm::ArrayRef<mlir::Operation *> pending, mlir::Operation *root);

/// Emits the reductions of a nest whose rows are walked less often than they are reduced: a maximum and the
/// exponentials of distances to it at once, and sums of which all terms but one are zero.
class RowReductionEmitter {
public:
  explicit RowReductionEmitter(Nest &nest) : n(nest), t(nest.t), loc(nest.loc) {}

  mlir::LogicalResult emitOneHotSum(ReduceOp sum, Point &point);
  mlir::LogicalResult emitOnline(Point &point);

private:
  using Accumulators = Nest::Accumulators;

  mlir::FailureOr<Accumulators> walkOnline(const Point &point, Accumulators accs);
  mlir::FailureOr<Accumulators> stepOnline(llvm::MutableArrayRef<Point> points, Accumulators before);
  mlir::FailureOr<mlir::Value> largestOf(ReduceOp max, llvm::MutableArrayRef<Point> points);
  mlir::Value shrinkage(mlir::Value before, mlir::Value after, mlir::Type element);
  mlir::Value widen(mlir::Value value, mlir::Type element);

  Nest &n;
  TileContext &t;
  mlir::Location loc;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_SIMT_ROWREDUCTIONEMITTER_H
