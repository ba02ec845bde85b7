//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_TILECONTEXT_H
#define ZYX_CODEGEN_TILE_TILECONTEXT_H

#include "zyx/Codegen/Tile/TileEvaluator.h"

namespace zyx::kernel {

/// Number of iterations along an axis: a number, or a value where a grid's last program has fewer.
struct Extent {
  std::optional<int64_t> constant;
  mlir::Value value = {};
  /// Of a value, what it is in the last program where all others have whole tiles; 0 where not known.
  int64_t last = 0;
  /// Of a value that is 0 where a program begins beyond the end, how far the end is: less than 0 there. Else null.
  mlir::Value toEnd = {};
};

/// Where a tile may leave a view along an axis: an access to a view of `viewExtent` elements that begins at `base`.
struct AxisEnd {
  mlir::Operation *access = nullptr;
  mlir::OpFoldResult base;
  int64_t viewExtent = 0;

  /// Whether no access may leave its view: the axis goes as far as its tile.
  bool isWhole() const { return !access; }
};
/// Finds it for an axis of a kernel; fails where accesses do not agree, or where combining would read what is not
/// there.
mlir::FailureOr<AxisEnd> findEnd(FuncOp source, const Axes &axes, Axis axis);

/// What those share who emit code in place of a kernel's tiles: the evaluator, extents, loops, memory and the numbers
/// of threads. Dots of a processor, dots of threads and nests of loops are emitted by it, and know nothing of each
/// other.
class TileContext {
public:
  using Accumulators = llvm::SmallVector<mlir::Value>;

  TileContext(FuncOp source, mlir::OpBuilder &builder, const Axes &axes, const target::TargetInfo &machine)
      : source(source), builder(builder), axes(axes), machine(machine), evaluator(builder, axes, machine),
        cluster(source.getCluster().value_or(1)), threads(source.getThreads().value_or(1) * cluster) {}
  TileContext(const TileContext &) = delete;

  struct ProducerSlice;
  ProducerSlice sliceOf(llvm::ArrayRef<mlir::Operation *> roots);
  mlir::FailureOr<Extent> extentOf(Axis axis, mlir::Location loc);
  mlir::Value materialise(Extent extent, mlir::Location loc);
  /// Lanes along an axis. Of threads that share rows which begin anywhere, vectors of as many elements as each row's
  /// begin is a multiple of: neighbours read and write neighbours, where parts of wider vectors would lie apart, each
  /// in a sector of its own.
  int64_t lanesFor(const ProducerSlice &slice, Axis axis);
  /// The same, wherever rows begin.
  int64_t wholeLanesFor(const ProducerSlice &slice, Axis axis);
  /// The same at most, whichever roots join the nest.
  int64_t mostLanesFor(const ProducerSlice &slice, Axis axis);
  /// The one of two axes along which more of a tile's loads are contiguous, if there is one.
  std::optional<Axis> contiguousAxis(mlir::Value tile, Axis a, Axis b);
  /// Memory for a tile, at the start of the program: private, or shared by its threads.
  void allocate(mlir::Value tile);
  /// The number of this thread among those of the program.
  mlir::Value thread();
  /// The same in its workgroup, and the number of that in its cluster.
  mlir::Value threadInGroup();
  mlir::Value groupInCluster();
  /// Waits for the other threads, if there are any.
  void barrier(mlir::Location loc);
  /// `for (i = low; i < high; i += step) accs = body(i, accs)`, without a loop where it would run once.
  mlir::FailureOr<Accumulators>
  emitLoop(int64_t low, Extent high, int64_t step, Accumulators accs, mlir::Location loc,
           llvm::function_ref<mlir::FailureOr<Accumulators>(mlir::Value, Accumulators)> body);
  /// Sets the lanes of a point that begins at `position` of an axis with `extent` elements.
  void setLanes(Point &point, Axis axis, mlir::Value position, int64_t lanes, Extent extent, bool partial,
                mlir::Location loc);
  /// Loops over the batches of a dot's result, and what `tile` emits for each.
  mlir::LogicalResult overBatches(DotOp dot, const Point &at,
                                  llvm::function_ref<mlir::LogicalResult(const Point &)> tile, unsigned dim = 0);
  /// Stores of what is computed from a dot's result, element by element and from what is there already: they can be
  /// done while its sums are in registers. Nothing where something else uses it.
  std::optional<llvm::SmallVector<StoreOp>> findStores(DotOp dot);
  /// The same, with what their indices need lowered in front of them.
  llvm::SmallVector<StoreOp> takeStores(DotOp dot);
  /// The memory that a tile is kept in.
  ViewType memoryTypeOf(mlir::Value tile) const;

  FuncOp source;
  mlir::OpBuilder &builder;
  const Axes &axes;
  /// Facts of the machine that the kernel is for.
  const target::TargetInfo &machine;
  TileEvaluator evaluator;
  /// Workgroups that compute a program together, and threads of all of them.
  const int64_t cluster, threads;
  /// Whether a tile lies in memory that threads share.
  bool sharesTiles = false;
  /// Tiles in shared memory that a loop adds to, each thread at its own places.
  llvm::DenseSet<mlir::Value> ownSums;
  /// Of a thread of a GPU that combines windows: the lanes of its vectors along an axis, and axes of rows whose
  /// positions are written out. What follows in the program does the same, so that results stay in registers.
  llvm::DenseMap<Axis, int64_t> windowLanes;
  llvm::DenseSet<Axis> windowRows;
  /// Ops that have been lowered ahead of their turn, with a dot.
  llvm::DenseSet<mlir::Operation *> done;
  /// Where allocations go: the start of the grid's body.
  mlir::Block *programStart = nullptr;
  /// Of the program, as far as somebody has asked for them.
  struct Numbers {
    mlir::Value thread, threadInGroup, groupInCluster;
  } numbers;
  /// Of the program: how often its workgroups have exchanged what they have.
  int64_t exchanges = 0;
  /// Shared memory in which threads combine what each has: one element of each, and one of each group.
  llvm::DenseMap<std::pair<mlir::Block *, mlir::Type>, std::pair<mlir::Value, mlir::Value>> acrossMemory;

private:
  mlir::Value number(mlir::Value &known, IdKind kind);
};

/// What roots evaluate between themselves and what was computed before them.
struct TileContext::ProducerSlice {
  llvm::SmallVector<mlir::Operation *> accesses;
  llvm::SmallVector<mlir::Value> tiles;
  /// A tile in registers that is read, which fixes lanes and axis.
  const RegisterTile *held = nullptr;
  /// Results of other roots.
  llvm::SmallVector<mlir::Value> results;
  /// Vectors are read in one of two ways, which makes much code.
  bool branches = false;
  unsigned size = 0;
};

/// Whether threads that share a row of `extent` elements, in vectors of `lanes`, have so few each that nobody stores
/// them in between. Vectors are whole; in the last round some threads may have none.
inline bool staysInRegisters(int64_t extent, int64_t lanes, int64_t threads) {
  const int64_t mostElements = lanes < 4 ? 32 : 64;
  return threads > 1 && extent % lanes == 0 &&
         (extent + lanes * threads - 1) / (lanes * threads) * lanes <= mostElements;
}

bool isTileRoot(mlir::Operation *op);
/// The tile in memory that a carried one becomes by what is added to it, element by element, in one place: each thread
/// adds to what it has added to before. Null where more reads it.
mlir::Value findOwnSum(mlir::Value carried, mlir::Value yielded);
/// The tile whose dimensions a root walks.
mlir::Value domainOf(mlir::Operation *root);

/// A factor of a dot, converted to the element type in which products are summed up.
mlir::Value widenFactor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Type element);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_TILECONTEXT_H
