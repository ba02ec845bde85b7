//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_LOOPS_NESTEMITTER_H
#define ZYX_CODEGEN_LOOPS_NESTEMITTER_H

#include "zyx/Codegen/Tile/NearForm.h"
#include "zyx/Codegen/Tile/TileContext.h"

#include "llvm/ADT/SetVector.h"

namespace zyx::kernel {

/// Whether a sum has all its terms but one zero, and that one is looked at alone (TileRows.cpp).
bool isPicked(TileContext &t, mlir::Operation *root);
/// Whether a sum is taken along with the maximum that waits, although it needs that (TileRows.cpp).
bool joinsOnline(TileContext &t, llvm::ArrayRef<mlir::Operation *> pending, mlir::Operation *root);

/// Emits the loops of roots that walk the same axes.
class NestEmitter {
public:
  NestEmitter(TileContext &lowering, llvm::ArrayRef<mlir::Operation *> roots)
      : t(lowering), roots(roots), loc(roots.front()->getLoc()), cone(t.coneOf(roots)) {}

  mlir::LogicalResult emit();

private:
  using Accumulators = TileContext::Accumulators;
  using Chunk = llvm::function_ref<mlir::LogicalResult(llvm::SmallVectorImpl<Point> &)>;
  using Body = llvm::function_ref<mlir::FailureOr<Accumulators>(mlir::Value, Accumulators)>;
  /// Where whole groups of vectors, and whole vectors, of an axis end.
  struct Pieces {
    Extent groups, vectors, all;
  };
  /// Rows that are added to sums in memory at once.
  static constexpr int64_t blockRows = 4;
  static constexpr int64_t mostShortSteps = 16;
  /// The same of a card, where the step is a product or less: what neighbours read of a window is read once then.
  static constexpr int64_t mostWindowSteps = 64;
  /// Vectors that a thread of a GPU asks for before it waits for the first, where little is done with them.
  static constexpr int64_t loadsAtOnce = 8;

  bool vectorCombined() const { return vectorAxis && combined.contains(*vectorAxis); }

  /// The axis with the most contiguous accesses; the last one where none stands out.
  void chooseVectorAxis();
  /// Whether some load has a branch in it.
  bool branches();
  /// Whether what is combined is so little that its positions are numbers: the window of a depthwise
  /// convolution, whose tests and offsets are constants then.
  bool isShort(int64_t mostSteps = mostShortSteps);
  /// One element: a value. More: memory.
  void prepareResult(mlir::Operation *root);
  mlir::LogicalResult walkOuter(llvm::ArrayRef<Axis> outer, Point point);
  /// Chunks of an axis that is not combined: whole groups of vectors, whole vectors, and the rest.
  mlir::LogicalResult walkVectors(Point point);
  mlir::LogicalResult walkChunks(Point point, Chunk body);
  Pieces split(Extent extent);

  /// A loop that begins where another ended.
  mlir::FailureOr<Accumulators> emitFrom(Extent low, Extent high, int64_t step, Accumulators accs, Body body);
  /// The part of such a loop that this thread has: each takes a step, and as many steps further the next one.
  mlir::FailureOr<Accumulators> emitOwn(Extent low, Extent high, int64_t step, Accumulators accs, Body body);
  /// Reads what the program has of a row, of all its loads that differ between programs, before anything waits for some
  /// of it.
  mlir::LogicalResult readAhead(llvm::ArrayRef<mlir::Value> positions);
  /// The same for whole vectors, and the last one of which some lanes do not exist.
  mlir::FailureOr<Accumulators> emitOwnPieces(Extent extent, Accumulators accs, Body whole, Body partial);
  /// Steps along a combined axis, `count` of them at a time.
  mlir::FailureOr<Accumulators> walkSteps(Extent extent, int64_t count, Accumulators accs, Body body);
  /// Steps of a loop whose loads are independent, that a thread takes at once.
  int64_t stepsAtOnce();
  /// What the threads have, combined: the same in all of them.
  mlir::Value acrossThreads(Combine kind, mlir::Value own);
  /// The same of the workgroups of a cluster.
  mlir::Value acrossCluster(Combine kind, mlir::Value own);
  /// A loop that carries `accs`, which may be none.
  mlir::FailureOr<Accumulators> emitFor(mlir::Value low, mlir::Value high, int64_t step, Accumulators accs, Body body);
  /// The last vector, of which some lanes do not exist.
  mlir::FailureOr<Accumulators> emitRest(const Pieces &pieces, Accumulators accs, Body body);
  /// Where a workgroup's threads are more than the vectors of a row, groups of them walk an axis together: the first
  /// one that is combined, or of what is only written the longest one.
  void chooseGroups(llvm::ArrayRef<Axis> outer);
  /// Where the thread's vector is, if it has one.
  Point ownColumn(const Point &point);
  /// The steps along an axis that the thread's group has, `count` of them at a time.
  mlir::FailureOr<Accumulators> walkGroupSteps(int64_t extent, int64_t count, Accumulators accs, Body body);
  /// What groups have combined, combined in their order.
  void finishGroups(llvm::ArrayRef<mlir::Value> partial, Point point);
  mlir::LogicalResult emitInner(Point point);
  /// Loops over the combined axes for one or more points, then the results there.
  mlir::LogicalResult emitInner(llvm::SmallVectorImpl<Point> &points);
  /// Whether vectors of a maximum or minimum of floats are combined as integers of the same order.
  bool comparesBits(ReduceOp reduce);
  mlir::Type bitsOf(mlir::Type element);
  mlir::Value identityOf(Combine kind, mlir::Type element, bool vector);
  mlir::FailureOr<Accumulators> walkCombined(llvm::ArrayRef<Axis> inner, llvm::ArrayRef<Point> points,
                                             Accumulators accs, int64_t chains);

  // Rows that are walked less often than they are reduced (TileRows.cpp).
  mlir::LogicalResult emitPicked(ReduceOp sum, Point &point);
  mlir::LogicalResult emitOnline(Point &point);
  mlir::FailureOr<Accumulators> walkOnline(const Point &point, Accumulators accs);
  mlir::FailureOr<Accumulators> stepOnline(llvm::MutableArrayRef<Point> points, Accumulators before);
  mlir::FailureOr<mlir::Value> largestOf(ReduceOp max, llvm::MutableArrayRef<Point> points);
  mlir::Value shrinkage(mlir::Value before, mlir::Value after, mlir::Type element);
  mlir::Value widen(mlir::Value value, mlir::Type element);

  // What is copied before it is walked (NearOperands.cpp).
  bool mayCopyNear();
  /// Whether what is combined is more than a window: results slide over it, not it over the operand.
  bool combinesMany();
  uint64_t countReads();
  /// What a load would be copied as, with vectors of `width` along an axis; none where it is better read where it lies.
  std::optional<NearForm> nearFormOf(LoadOp load, Axis along, int64_t width);
  bool comesNear(LoadOp load, Axis axis);
  void copyNear();
  void copyNear(LoadOp load, ViewOp view, const NearForm &form, int64_t elements);
  /// Walks an axis beside the vectors', several positions at a time.
  mlir::LogicalResult walkPositions(Axis axis, Point point);
  int64_t positionsAtOnce(Axis axis);
  /// Memory for what is combined, with the vectors' axis innermost; false where the tile has it there, or others may
  /// want rows.
  bool allocateAlong(mlir::Value result);

  // Blocks (TileBlocks.cpp).
  /// Finds the loads that are read along another axis than the vectors', and transposed in registers.
  bool findTransposed();
  /// Squares of vectors, and what is left beside and below them.
  mlir::LogicalResult walkSquares(Point point);
  mlir::LogicalResult emitSquare(const Point &point, mlir::Value row, mlir::Value column);
  /// Whether sums are kept in memory: of more columns than a few vectors, so that memory is read in long
  /// pieces and not in a narrow strip from row to row.
  bool sumsInMemory();
  /// Walks blocks of rows, and along each the columns.
  mlir::LogicalResult walkBlocks(Point point);
  mlir::LogicalResult walkRows(llvm::ArrayRef<Axis> inner, Point point);
  /// Combines `count` rows pair by pair, and with what is in memory.
  mlir::LogicalResult addRows(Point &column, Axis axis, int64_t count);

  /// The sum of products that an fma adds to; the freedom of floating-point sums allows it.
  mlir::arith::MulFOp fusedProduct(ReduceOp reduce, Point &point);
  /// `next`, or `before` where the thread has nothing at the point.
  mlir::Value wherePresent(const Point &point, mlir::Value next, mlir::Value before);
  /// What happens at the innermost place, at each of the points.
  mlir::FailureOr<Accumulators> emitBody(llvm::SmallVector<Point> points, Accumulators accs, int64_t chains);
  void finish(ReduceOp reduce, llvm::ArrayRef<mlir::Value> partial, llvm::SmallVectorImpl<Point> &points);
  void write(mlir::Value result, mlir::Value value, Point &point);

  TileContext &t;
  llvm::ArrayRef<mlir::Operation *> roots;
  mlir::Location loc;
  TileContext::Cone cone;
  llvm::SmallVector<ReduceOp> reduces;
  llvm::SmallSetVector<Axis, 4> domain, combined;
  llvm::DenseMap<Axis, Extent> extents;
  llvm::DenseSet<mlir::Value> singles;
  std::optional<Axis> vectorAxis;
  int64_t lanes = 1, unroll = 1;
  /// Groups of threads that walk an axis together, and that axis; each thread has one of so many vectors.
  int64_t groups = 1, groupVectors = 1;
  std::optional<Axis> groupAxis;
  /// Loads that are contiguous along another axis, and that axis.
  llvm::SmallVector<mlir::Value> transposed;
  std::optional<Axis> transposedAxis;
  /// Loads whose elements have been copied.
  llvm::SmallVector<mlir::Value> near;
  /// Every position is a number: tiles in registers are read.
  bool unrolled = false;
  /// Of the step that is being emitted, what `Point::present` and `Point::step` say.
  mlir::Value present;
  std::optional<int64_t> ownStep;
  /// The only root looks at one place of its axis; or there are a maximum and a sum, taken at once.
  bool picked = false, online = false;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_LOOPS_NESTEMITTER_H
