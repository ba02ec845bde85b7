//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_TILEEVALUATOR_H
#define ZYX_CODEGEN_TILE_TILEEVALUATOR_H

#include "AccessForm.h"

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/IR/IRMapping.h"

#include <map>

namespace zyx::kernel {

struct LaneIndex;

/// Where in the iteration space code is being emitted: a position on every axis that a loop walks,
/// and the lanes of the axis that is walked in vectors.
struct Point {
  /// Position on each axis; axes of extent 1 may be absent.
  llvm::DenseMap<Axis, mlir::Value> positions;
  /// Positions that are known numbers, where a nest is unrolled.
  llvm::DenseMap<Axis, int64_t> constants;
  /// The axis along which values are vectors, if there is one.
  std::optional<Axis> vectorAxis;
  int64_t lanes = 1;
  /// How many lanes exist, where some may not; null where all do.
  mlir::Value activeLanes;
  /// The number of the last lane that exists, negative where none does; null where all do.
  mlir::Value lastLane;
  /// The lanes that exist as a mask; null where all do.
  mlir::Value mask;
  /// Whether this thread has anything here, where some may not: such a point is a copy of another thread's. Null where
  /// all have.
  mlir::Value present;
  /// Where the steps of threads along a row are unrolled, the number of the step.
  std::optional<int64_t> step;
  /// What has been evaluated here.
  llvm::DenseMap<mlir::Value, mlir::Value> memo;
};

/// A tile that lies in private memory: row-major, its innermost extent rounded up to whole vectors, unless it says
/// more.
struct MemoryTile {
  mlir::Value view;
  /// Of a tile whose elements share a row of memory: by dimension, how far neighbours are apart there.
  llvm::SmallVector<int64_t> strides = {};
  /// Whether there is memory behind it for whole vectors that are read from any of its elements on, and for as many
  /// more as lanes are apart.
  bool hasRoom = false;
};

/// A tile of two dimensions that lies in registers: vectors along `vectorAxis`.
struct RegisterTile {
  Axis rowAxis, vectorAxis;
  int64_t lanes;
  /// By row, then by vector.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> vectors;
};

/// Evaluates tiles at a point: the value of an elementwise chain there is the chain of scalars or
/// vectors. What roots have computed before is looked up.
class TileEvaluator {
public:
  TileEvaluator(mlir::OpBuilder &builder, const Axes &axes, const target::TargetInfo &machine)
      : hasFma(machine.arithmetic.hasExactFma()), hasSubgroups(machine.hasSubgroups()),
        laneBytes(machine.simt.laneBytes), builder(builder), axes(axes) {}

  /// The value of `tile` at the point: a vector where it depends on the vector axis, else a scalar.
  mlir::FailureOr<mlir::Value> evaluate(mlir::Value tile, Point &point);
  /// The same, made a vector if the point has lanes.
  mlir::FailureOr<mlir::Value> evaluateVector(mlir::Value tile, Point &point);
  /// Writes a value at the point, as `kernel.store` says.
  mlir::LogicalResult store(StoreOp store, mlir::Value value, Point &point);
  /// Writes a vector to as many elements as follow each other in memory from the point on, in whichever dimensions of
  /// the view these are: the caller knows that it has them. The map of the view has no symbols.
  mlir::LogicalResult storeOn(StoreOp store, mlir::Value value, Point &point);
  /// Reads what `store` wrote at the point; along lanes the view must be contiguous.
  mlir::Value readBack(StoreOp store, Point &point);
  /// Writes a value into a tile in memory.
  void storeToMemory(mlir::Value tile, mlir::Value value, Point &point);

  /// Whether a load through several blocks has vectors of neighbours along an axis, wherever they begin.
  bool readsNeighbours(LoadOp load, Axis axis);

  /// Position of the point on an axis: zero where no loop walks it.
  mlir::Value position(Point &point, Axis axis, mlir::Location loc);
  mlir::Value constantIndex(int64_t value, mlir::Location loc);
  mlir::Value addIndex(mlir::Value a, mlir::Value b, mlir::Location loc);
  /// A value as a vector of the point's lanes.
  mlir::Value broadcast(mlir::Value value, Point &point);

  /// One instruction computes a * b + c with one rounding.
  const bool hasFma;
  /// Lanes of a vector are registers.
  const bool hasSubgroups;
  /// Bytes that a thread of a subgroup reads at once, at most.
  const int64_t laneBytes;
  /// Whether what a dimension adds to the place of an element is summed up by itself, where elements are read one by
  /// one: many of them share their position along one of two axes. A processor always does so, where all elements
  /// exist.
  bool sumsByDimension = false;
  /// From here on a thread of a GPU reads windows whose positions are numbers, or none: what has been read of them is
  /// forgotten. Each element is read once for all steps and results of such a nest. Of windows that move, positions may
  /// be no numbers, too, and the same for all that is read at once.
  void shareWindows(bool isShared, bool areMoving = false);
  /// Whether elements are found by sums of 32 bits.
  bool hasNarrowForm(ViewOp view);
  /// AccessForm::contiguityAlong() where such sums find the elements, and 1 elsewhere.
  int64_t contiguityAlong(ViewOp view, unsigned dim);
  /// Scalars and structure of the kernel being lowered, by their origin.
  mlir::IRMapping mapping;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, MemoryTile> memory;
  llvm::DenseMap<mlir::Value, RegisterTile> registers;

private:
  /// What a thread has read at its step of a row: it is not read again in the same block.
  struct OwnPart {
    mlir::Value value;
    int64_t lanes;
  };
  /// What a load reads of a window: its place and bounded sums without the numbers of steps and results, and what has
  /// been read, by these numbers and lanes.
  struct Window {
    mlir::Block *block = nullptr;
    mlir::Value row, other, place;
    /// Positions that are no numbers, by dimension; null where they are.
    llvm::SmallVector<mlir::Value> moved;
    llvm::SmallVector<mlir::Value> bounds;
    std::map<llvm::SmallVector<int64_t>, mlir::Value> read;
  };
  /// What indices of a view are along the parts of its form; null for a part that no dimension has.
  llvm::SmallVector<mlir::Value> splitIndices(const AccessForm &form, llvm::ArrayRef<mlir::Value> indices,
                                              mlir::Location loc);
  Window *windowOf(LoadOp load, ViewOp view, llvm::ArrayRef<mlir::Value> moved);
  mlir::Value readOfWindow(Window &window, const AccessForm &form, int64_t place, llvm::ArrayRef<int64_t> sums,
                           int64_t lanes, mlir::Location loc);
  mlir::Value loadOfWindow(LoadOp load, Point &point);
  mlir::FailureOr<mlir::Value> evaluateOwnLoad(LoadOp load, Point &point);
  /// Where a point of what is stored lies, and the dimension along which the point is a vector.
  std::pair<llvm::SmallVector<mlir::Value>, std::optional<unsigned>> placeOf(StoreOp store, Point &point);
  struct Access;
  mlir::FailureOr<mlir::Value> evaluateLoad(LoadOp load, Point &point);
  mlir::FailureOr<mlir::Value> evaluateGather(GatherOp gather, Point &point);
  std::optional<LaneIndex> countedIndex(mlir::Value tile, Point &point);
  mlir::Value gatherLanes(GatherOp gather, llvm::ArrayRef<mlir::Value> indices, Point &point);
  mlir::Value evaluateIota(IotaOp iota, Point &point);
  mlir::Value evaluateMemory(mlir::Value tile, Point &point);
  /// Where an element lies in the row of memory that its tile shares.
  mlir::Value placeOf(const MemoryTile &tile, llvm::ArrayRef<mlir::Value> indices, mlir::Location loc);
  mlir::Value evaluateStrided(const MemoryTile &tile, llvm::ArrayRef<mlir::Value> indices,
                              std::optional<unsigned> vectorDim, Point &point, mlir::Location loc);
  mlir::Value loadAt(mlir::Value view, llvm::ArrayRef<mlir::Value> indices, mlir::Value other,
                     std::optional<unsigned> vectorDim, Point &point, mlir::Location loc);
  const std::optional<AccessForm> &formOf(ViewOp view);
  const AccessForm *formOf(ViewOp view, unsigned dim);
  mlir::Value loadThroughForm(ViewOp view, llvm::ArrayRef<mlir::Value> indices, mlir::Value other, unsigned vectorDim,
                              Point &point, mlir::Location loc);
  mlir::Value loadInterleaved(ViewOp view, llvm::ArrayRef<mlir::Value> indices, unsigned vectorDim, Point &point,
                              mlir::Location loc);
  mlir::Value sumOfParts(const AccessForm &form, unsigned dim, mlir::Value index,
                         llvm::function_ref<int64_t(size_t)> factor, mlir::Location loc);
  mlir::Value loadElementThroughForm(ViewOp view, llvm::ArrayRef<mlir::Value> indices, mlir::Value other,
                                     mlir::Location loc, int64_t lanes = 1);
  mlir::Value loadLanes(Point &point, mlir::Type elementType, mlir::Location loc,
                        llvm::function_ref<mlir::Value(mlir::Value lane)> load);
  mlir::Value loadThroughMap(ViewOp view, llvm::ArrayRef<mlir::Value> indices, mlir::Value other, mlir::Location loc);
  void storeLanes(mlir::Value value, mlir::Value view, llvm::ArrayRef<mlir::Value> indices, unsigned vectorDim,
                  Point &point, mlir::Location loc);
  mlir::Value permutedView(mlir::Value view, unsigned innermost);

  mlir::OpBuilder &builder;
  const Axes &axes;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> permuted;
  llvm::DenseMap<MapAttr, std::optional<AccessForm>> forms;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, OwnPart> ownParts;
  bool sharesWindows = false, movesWindows = false;
  llvm::DenseMap<mlir::Value, Window> windows;
};

/// The stride of a view's dimension, where the view is one block and the stride a number.
std::optional<int64_t> strideOf(mlir::Value view, unsigned dim);
/// The same of an allocation, which is row-major.
int64_t strideOfMemory(ViewType type, unsigned dim);
/// The iota that a tile repeats, if it does.
IotaOp countsAlongAxis(mlir::Value tile);
/// True where the view needs more than strides: several blocks, or indices that do not exist.
bool isComplex(mlir::Value view);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_TILEEVALUATOR_H
