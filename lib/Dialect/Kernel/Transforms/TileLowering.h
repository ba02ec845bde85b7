//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_TRANSFORMS_TILELOWERING_H
#define ZYX_DIALECT_KERNEL_TRANSFORMS_TILELOWERING_H

#include "TileEvaluator.h"

namespace zyx::kernel {

/// What the lowering knows of the machine.
struct VectorMachine {
  int64_t vectorBytes;
  int64_t vectorRegisters;
  /// Products of bf16, and of 8-bit integers, are summed up in 32 bits by a matrix unit or by instructions.
  bool bf16Dots = false, i8Dots = false;
  /// One instruction computes a * b + c with one rounding.
  bool hasFma = false;
  /// One instruction computes the maximum or minimum of floats, with NaN where either is.
  bool hasMaximum = true;
  /// Vectors are registers of a GPU's thread: as many elements as it reads or writes at once, of whatever type they are
  /// computed in.
  bool isGpu = false;
  /// A warp multiplies 16 x 16 by 16 x 8 elements of 16 bits at once.
  bool warpDots = false;
};

/// Number of iterations along an axis: a number, or a value where a grid's last program has fewer.
struct Extent {
  std::optional<int64_t> constant;
  mlir::Value value = {};
  /// Of a value, what it is in the last program where all others have whole tiles; 0 where not known.
  int64_t last = 0;
};

/// Lowers the tiles of one kernel. `lower` copies a block, with loops in place of its roots.
class TileLowering {
public:
  TileLowering(FuncOp source, mlir::OpBuilder &builder, const Axes &axes, VectorMachine machine)
      : source(source), builder(builder), axes(axes), machine(machine),
        evaluator(builder, axes, machine.hasFma, machine.isGpu), cluster(source.getCluster().value_or(1)),
        threads(source.getThreads().value_or(1) * cluster) {}

  mlir::LogicalResult lower(mlir::Block &block);
  mlir::IRMapping &mapping() { return evaluator.mapping; }
  /// See TileEvaluator::sumsByDimension.
  void sumByDimension() { evaluator.sumsByDimension = true; }
  /// Whether a tile lies in memory that only the threads of one workgroup share, of a cluster of several.
  bool keepsApart() const { return cluster > 1 && sharesTiles; }
  /// Whether there is something that several threads do not compute together, whatever they were meant to.
  bool wantsOneThread() const { return refusesThreads; }

private:
  using Accumulators = llvm::SmallVector<mlir::Value>;

  // Roots and blocks, and nests (TileNests.cpp).
  mlir::LogicalResult lowerOp(mlir::Operation &op);
  mlir::LogicalResult flush();
  bool joinsPending(mlir::Operation *root);
  /// Whether a sum has all its terms but one zero, and that one is looked at alone (TileRows.cpp).
  bool isPicked(mlir::Operation *root);
  /// Whether a sum is taken along with the maximum that waits, although it needs that (TileRows.cpp).
  bool joinsOnline(mlir::Operation *root);
  mlir::LogicalResult emitNest(llvm::ArrayRef<mlir::Operation *> roots);
  mlir::LogicalResult emitScan(ScanOp scan);

  // Loops that carry tiles (TileLoops.cpp).
  mlir::LogicalResult emitTileLoop(mlir::Operation &loop);
  MemoryTile memoryOf(mlir::Value tile);
  mlir::LogicalResult copyMemory(MemoryTile from, MemoryTile to, mlir::Location loc);

  // Dots (TileDots.cpp, BlockedDots.cpp, SharedDots.cpp).
  mlir::LogicalResult emitDot(DotOp dot);
  /// Emits a dot as its `blocking` says; false, with nothing emitted, where its form does not allow that.
  mlir::FailureOr<bool> emitBlockedDot(DotOp dot);
  /// Emits a dot with `blocking` whose tile a workgroup's threads share, out of shared memory; false, with nothing
  /// emitted, where they cannot.
  mlir::FailureOr<bool> emitSharedDot(DotOp dot);
  /// Loops over the batches of a dot's result, and what `tile` emits for each.
  mlir::LogicalResult overBatches(DotOp dot, const Point &at,
                                  llvm::function_ref<mlir::LogicalResult(const Point &)> tile, unsigned dim = 0);
  /// Stores of what is computed from a dot's result, element by element and from what is there already, if nothing else
  /// uses it: they can be done while its sums are in registers. What their indices need is lowered with them.
  llvm::SmallVector<StoreOp> takeStores(DotOp dot);
  bool readsFromRegisters(DotOp dot, Axis m, Axis n);
  mlir::FailureOr<llvm::SmallVector<llvm::SmallVector<mlir::Value>>> emitDotBlock(DotOp dot, Point base, int64_t rows,
                                                                                  int64_t vectors, Extent columns);

  // Shared helpers.
  struct Cone;
  Cone coneOf(llvm::ArrayRef<mlir::Operation *> roots);
  mlir::FailureOr<Extent> extentOf(Axis axis, mlir::Location loc);
  mlir::Value materialise(Extent extent, mlir::Location loc);
  int64_t lanesFor(const Cone &cone, Axis axis);
  /// Memory for a tile, at the start of the program: private, or shared by its threads.
  void allocate(mlir::Value tile);
  /// The number of this thread among those of the program.
  mlir::Value thread();
  /// The same in its workgroup, and the number of that in its cluster.
  mlir::Value threadInGroup();
  mlir::Value groupInCluster();
  mlir::Value number(mlir::Value &known, IdKind kind);
  /// The same across programs: whoever comes to the next one may write what the last one's threads still read.
  void endProgram(mlir::Location loc);
  /// Waits for the other threads, if there are any.
  void barrier(mlir::Location loc);
  /// `for (i = low; i < high; i += step) accs = body(i, accs)`, without a loop where it would run once.
  mlir::FailureOr<Accumulators>
  emitLoop(int64_t low, Extent high, int64_t step, Accumulators accs, mlir::Location loc,
           llvm::function_ref<mlir::FailureOr<Accumulators>(mlir::Value, Accumulators)> body);
  /// Sets the lanes of a point that begins at `position` of an axis with `extent` elements.
  void setLanes(Point &point, Axis axis, mlir::Value position, int64_t lanes, Extent extent, bool partial,
                mlir::Location loc);
  friend class NestEmitter;
  friend class BlockedDotEmitter;
  friend class Packer;
  friend class RunPacker;
  friend class SharedDotEmitter;
  friend class MatrixUnit;
  friend class WeightPanels;

  FuncOp source;
  mlir::OpBuilder &builder;
  const Axes &axes;
  VectorMachine machine;
  TileEvaluator evaluator;
  /// Workgroups that compute a program together, and threads of all of them.
  const int64_t cluster, threads;
  bool sharesTiles = false, refusesThreads = false;
  llvm::SmallVector<mlir::Operation *> pending;
  /// Tiles in shared memory that a loop adds to, each thread at its own places.
  llvm::DenseSet<mlir::Value> ownSums;
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
};

/// What roots evaluate between themselves and what was computed before them.
struct TileLowering::Cone {
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

/// Has what loops begin with and yield computed into memory of its own, but for dots that add to what
/// the loop carries.
void stageCarried(FuncOp func);

bool isTileRoot(mlir::Operation *op);
/// The tile whose dimensions a root walks.
mlir::Value domainOf(mlir::Operation *root);

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_TRANSFORMS_TILELOWERING_H
