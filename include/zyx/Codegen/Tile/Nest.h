//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_NEST_H
#define ZYX_CODEGEN_TILE_NEST_H

#include "zyx/Codegen/Tile/TileContext.h"

#include "llvm/ADT/SetVector.h"

namespace zyx::kernel {

/// Whether vectors of a maximum or minimum of floats are combined as integers of the same order.
bool comparesBits(ReduceOp reduce, const target::TargetInfo &machine);

/// Roots that share loops, what is known of these, and the loops themselves. Who emits a part of a nest gets it from
/// the NestEmitter, and may narrow its vectors.
class Nest {
public:
  using Accumulators = TileContext::Accumulators;
  using Body = llvm::function_ref<mlir::FailureOr<Accumulators>(mlir::Value, Accumulators)>;
  using Chunk = llvm::function_ref<mlir::LogicalResult(llvm::SmallVectorImpl<Point> &)>;
  /// Where whole groups of vectors, and whole vectors, of an axis end.
  struct Pieces {
    Extent groups, vectors, all;
  };
  static constexpr int64_t mostShortSteps = 16;
  /// Vectors that a thread of a GPU asks for before it waits for the first, where little is done with them.
  static constexpr int64_t loadsAtOnce = 8;

  Nest(TileContext &context, llvm::ArrayRef<mlir::Operation *> roots)
      : t(context), roots(roots), loc(roots.front()->getLoc()), slice(t.sliceOf(roots)) {}

  /// Fills in what the roots say alone: reductions, the axes that are walked, and those of them that are combined.
  void addAxes();
  /// The axis with the most contiguous accesses; the last one where none stands out. Extents are known by now.
  /// `comesNear` says whether a load's elements are copied side by side where vectors are along an axis.
  std::optional<Axis> findVectorAxis(llvm::function_ref<bool(LoadOp, Axis)> comesNear);
  bool vectorCombined() const { return vectorAxis && combined.contains(*vectorAxis); }
  /// Whether some load has a branch in it.
  bool branches();
  /// Whether what is combined is so little that its positions are numbers: the window of a depthwise
  /// convolution, whose tests and offsets are constants then.
  bool isShort(int64_t mostSteps = mostShortSteps);
  /// Steps of a loop whose loads are independent, that a thread takes at once.
  int64_t stepsAtOnce();

  Pieces split(Extent extent);
  /// A loop that begins where another ended.
  mlir::FailureOr<Accumulators> emitFrom(Extent low, Extent high, int64_t step, Accumulators accs, Body body);
  /// A loop that carries `accs`, which may be none.
  mlir::FailureOr<Accumulators> emitFor(mlir::Value low, mlir::Value high, int64_t step, Accumulators accs, Body body);
  /// The last vector, of which some lanes do not exist.
  mlir::FailureOr<Accumulators> emitRest(const Pieces &pieces, Accumulators accs, Body body);

  bool comparesBits(ReduceOp reduce) const { return kernel::comparesBits(reduce, t.machine); }
  mlir::Type bitsOf(mlir::Type element);
  mlir::Value identityOf(Combine kind, mlir::Type element, bool vector);
  void write(mlir::Value result, mlir::Value value, Point &point);

  TileContext &t;
  llvm::ArrayRef<mlir::Operation *> roots;
  mlir::Location loc;
  TileContext::ProducerSlice slice;
  llvm::SmallVector<ReduceOp> reduces;
  llvm::SmallSetVector<Axis, 4> domain, combined;
  llvm::DenseMap<Axis, Extent> extents;
  llvm::DenseSet<mlir::Value> singles;
  std::optional<Axis> vectorAxis;
  int64_t lanes = 1, unroll = 1;
  /// Vectors of rows that begin anywhere have so many times fewer lanes: a thread asks for more of them at once.
  int64_t narrowing = 1;
  /// Loads whose elements have been copied.
  llvm::SmallVector<mlir::Value> near;
  /// Every position is a number: tiles in registers are read.
  bool unrolled = false;
  /// Of the step that is being emitted, what `Point::present` and `Point::step` say.
  mlir::Value present;
  std::optional<int64_t> ownStep;
  /// The only root looks at one place of its axis; or there are a maximum and a sum, taken at once.
  bool oneHot = false, online = false;

private:
  /// How many accesses are contiguous along the axis, less those that are apart along it.
  int64_t countContiguous(Axis axis, llvm::function_ref<bool(LoadOp, Axis)> comesNear);
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_NEST_H
