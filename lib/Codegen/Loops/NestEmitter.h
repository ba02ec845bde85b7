//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_LOOPS_NESTEMITTER_H
#define ZYX_CODEGEN_LOOPS_NESTEMITTER_H

#include "SquareEmitter.h"

#include "zyx/Codegen/Simt/ThreadGroups.h"
#include "zyx/Codegen/Tile/Nest.h"

namespace zyx::kernel {

/// Emits the loops of roots that walk the same axes.
class NestEmitter : private Nest {
public:
  NestEmitter(TileContext &context, llvm::ArrayRef<mlir::Operation *> roots) : Nest(context, roots), groups(*this) {}

  mlir::LogicalResult emit();

private:
  /// Steps of a sum that are written out on a card, where the step is a product or less: what neighbours read of a
  /// window is read once then.
  static constexpr int64_t mostWindowSteps = 64;
  /// Rows of results that a thread of a card has of windows at most: what they read alike is read once.
  static constexpr int64_t mostWindowRows = 8;

  /// Whether a thread of a card combines windows whose steps are all written out.
  bool walksWindows();
  /// Has vectors and rows of such a nest, and of what follows with its results, written out. Puts the axis of rows
  /// last.
  void writeOut(llvm::SmallVectorImpl<Axis> &outer);

  /// Whether results alternate in memory along the axis with those of vectors, and nothing is combined.
  bool isInterleaved(Axis axis);

  void chooseVectorAxis();
  bool isCopyOfParts();
  std::optional<Axis> writtenAxis();
  /// One element: a value. More: memory.
  void prepareResult(mlir::Operation *root);
  mlir::LogicalResult walkOuter(llvm::ArrayRef<Axis> outer, Point point);
  /// Chunks of an axis that is not combined: whole groups of vectors, whole vectors, and the rest.
  mlir::LogicalResult walkVectors(Point point);
  mlir::LogicalResult walkChunks(Point point, Chunk body);
  /// Walks an axis beside the vectors', `count` positions at a time.
  mlir::LogicalResult walkPositions(Axis axis, Point point, int64_t count);
  /// Steps along a combined axis, `count` of them at a time.
  mlir::FailureOr<Accumulators> walkSteps(Extent extent, int64_t count, Accumulators accs, Body body);
  mlir::LogicalResult emitInner(Point point);
  /// Loops over the combined axes for one or more points, then the results there.
  mlir::LogicalResult emitInner(llvm::SmallVectorImpl<Point> &points);
  mlir::FailureOr<Accumulators> walkCombined(llvm::ArrayRef<Axis> inner, llvm::ArrayRef<Point> points,
                                             Accumulators accs, int64_t chains);
  /// The sum of products that an fma adds to; the freedom of floating-point sums allows it.
  mlir::arith::MulFOp fusedProduct(ReduceOp reduce, Point &point);
  /// `next`, or `before` where the thread has nothing at the point.
  mlir::Value wherePresent(const Point &point, mlir::Value next, mlir::Value before);
  /// What happens at the innermost place, at each of the points.
  mlir::FailureOr<Accumulators> emitBody(llvm::SmallVector<Point> points, Accumulators accs, int64_t chains);
  void finish(ReduceOp reduce, llvm::ArrayRef<mlir::Value> partial, llvm::SmallVectorImpl<Point> &points);

  /// Groups of threads that walk an axis together.
  ThreadGroups groups;
  /// What is contiguous along another axis.
  std::optional<SquareEmitter::Square> square;
  /// The axis of rows that are written out.
  std::optional<Axis> rowsAxis;
  /// Its results alternate with those of vectors: they are written one behind the other, with no branch in between, so
  /// that the machine's compiler joins what a thread writes.
  bool interleaves = false;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_LOOPS_NESTEMITTER_H
