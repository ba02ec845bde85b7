//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_CPU_MATRIXUNIT_H
#define ZYX_CODEGEN_CPU_MATRIXUNIT_H

#include "zyx/Codegen/Tile/TileContext.h"

namespace zyx::kernel {

/// Packs the factors of a dot as the processor's matrix unit reads them, or instructions that take groups of narrow
/// factors, and multiplies them there: of the right one groups of 4 bytes of neighbouring steps of the contraction,
/// filled up with zeros; rows of the left one as they are, which are read where they lie if they need no filling
/// up. Both take denormals of bf16 for zero and make none, so the smallest factor of either side is found before, and
/// where products might come near such numbers fma of f32 multiplies the same memory.
class MatrixUnit {
public:
  MatrixUnit(TileContext &lowering, DotOp dot, Axis m, Axis n, Axis k);

  /// Whether the machine has a unit or instructions for the dot's types.
  bool takes() const;
  /// Whether the left factor's rows lie in memory as the unit reads them, `depth` steps at a time.
  bool readsLhs(int64_t depth) const;
  /// Memory for `panels` panels of `columns` columns, and for `height` rows unless the left factor is read
  /// where it lies, along `depth` steps; and for a tile of `rows` x `columns` sums.
  void allocate(int64_t panels, int64_t rows, int64_t columns, int64_t height, int64_t depth, bool inPlace);
  /// Packs the right factor's steps from `start` on. `overPanels` runs its argument on each panel: its number,
  /// its first column, and how many it has; all together have `width`. `alongDepth`: whether neighbours along the
  /// contraction are neighbours in memory.
  using Panel = llvm::function_ref<mlir::LogicalResult(mlir::Value panel, mlir::Value column, int64_t width)>;
  mlir::LogicalResult packRhs(Point at, mlir::Value start, bool alongDepth, Extent width,
                              llvm::function_ref<mlir::LogicalResult(Panel)> overPanels);
  /// In place of packRhs: `view` holds panels of the right factor, [piece * panel][group of steps][column and
  /// step]. `allocate` comes behind.
  void readPackedRhs(mlir::Value view) { rhsMemory = view, isPacked = true; }
  /// Looks through the panels of a piece, each of which is one for `overPanels`, for the smallest factor.
  mlir::LogicalResult lookThroughRhs(llvm::function_ref<mlir::LogicalResult(Panel)> overPanels);
  mlir::LogicalResult packLhs(Point at, mlir::Value start, mlir::Value row0, Extent height);
  /// Sums up the tile that begins at `row` of the block of rows at `row0`, and at `panel` of those that lie in
  /// memory. `share`, its number in the program, says which rows of the next block it fetches ahead.
  mlir::LogicalResult multiply(Point at, mlir::Value start, mlir::Value row0, mlir::Value row, mlir::Value panel,
                               mlir::Value share);
  /// A vector of the latest tile.
  mlir::Value sums(mlir::Value row, int64_t vector);
  mlir::Value rhsTile() const { return rhs.tile; }

  /// Steps of the contraction in 4 bytes.
  int64_t group() const { return 32 / factorType.getIntOrFloatBitWidth(); }

  /// Sums of a vector: groups of narrow factors of 4 bytes each.
  static int64_t lanesOf(const target::TargetInfo &machine) { return machine.lanes(4); }

private:
  using Accumulators = llvm::SmallVector<mlir::Value>;
  struct Factor {
    mlir::Value tile;
    bool isUnsigned = false;
  };
  mlir::LogicalResult clearBehind(Extent height);
  mlir::FailureOr<bool> packRuns(const Point &at, mlir::Value start, mlir::Value row0, Extent height);
  mlir::LogicalResult lookThroughLhs(Extent height);
  static Factor narrow(mlir::Value tile);
  static mlir::Value load(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, mlir::Value view,
                          mlir::ValueRange indices) {
    return LoadOp::create(b, loc, type, view, indices, mlir::Value(), mlir::Value(), mlir::ArrayAttr(),
                          mlir::DenseBoolArrayAttr());
  }

  /// Steps of the contraction in one register.
  int64_t unit() const { return lanes * group(); }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(factorType); }

  mlir::Value number(mlir::Type type, int64_t value);
  /// A vector of groups of the right factor, the `vector`-th of a row.
  mlir::Value loadGroups(mlir::Value panel, mlir::Value row, int64_t vector);
  /// The bits of a tile's vector; zeros in lanes that do not exist.
  mlir::FailureOr<mlir::Value> bits(mlir::Value tile, Point &point);
  /// Lanes of the steps of a group side by side; null is zeros.
  llvm::SmallVector<mlir::Value> join(llvm::ArrayRef<mlir::Value> steps, int64_t width);
  void storeGroup(mlir::Value value, mlir::Value panel, mlir::Value at, int64_t vector);
  /// Bits of the steps of one group, side by side, to a panel; null or the smallest factor with them.
  mlir::Value storeSteps(llvm::ArrayRef<mlir::Value> steps, mlir::Value panel, mlir::Value at, mlir::Value smallest);
  mlir::LogicalResult overSteps(int64_t atOnce, llvm::function_ref<mlir::LogicalResult(mlir::Value, int64_t)> body);
  mlir::LogicalResult fillUp(llvm::function_ref<mlir::LogicalResult(Panel)> overPanels);
  void allocateRuns();
  mlir::LogicalResult packInRuns(const Point &at, mlir::Value start, mlir::Value first, int64_t count, Extent width,
                                 llvm::function_ref<mlir::LogicalResult(Panel)> overPanels);
  mlir::LogicalResult packAcross(Point at, mlir::Value start, mlir::Value first, int64_t count, mlir::Value panel,
                                 mlir::Value column, int64_t width);
  mlir::LogicalResult packAlong(Point at, mlir::Value start, mlir::Value panel, mlir::Value column, int64_t width);
  mlir::Value lhsView();
  /// Where in it the tile at `row` of a block of rows begins.
  llvm::SmallVector<mlir::Value> placeOfLhs(Point &at, mlir::Value start, mlir::Value row0, mlir::Value row);

  /// What is smallest: |bits| - 1 as an unsigned number, so that zero is the largest.
  Accumulators beginLeast(int64_t count);
  mlir::Value least(mlir::Value smallest, mlir::Value bits);
  void forget(int64_t side);
  void remember(int64_t side, mlir::Value smallest);
  mlir::Value isSafe();
  mlir::LogicalResult multiplyExactly(llvm::ArrayRef<mlir::Value> lhsPlace, mlir::Value panel);

  TileContext &t;
  mlir::OpBuilder &b;
  mlir::Location loc;
  Axis m, n, k;
  int64_t lanes;
  Factor lhs, rhs;
  mlir::Type factorType, sumType;
  int64_t depth = 0, columns = 0, rows = 0, panels = 0;
  bool isPacked = false;
  /// Rows of a block where another one follows, which the unit's tiles read ahead; else 0.
  int64_t blockRows = 0;
  /// The left factor's is null where it is read in place.
  mlir::Value rhsMemory, lhsMemory, sumMemory;
  /// Where a right factor that is read as windows waits, [step][column]: so many steps at once, in vectors of so many
  /// lanes; else null.
  mlir::Value runMemory;
  int64_t runSteps = 0, runLanes = 0;
  /// The smallest factors of both sides; and of each lane of the right one, while it is packed.
  mlir::Value leastMemory, leastLanes;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_CPU_MATRIXUNIT_H
