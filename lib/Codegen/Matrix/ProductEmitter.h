//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CODEGEN_MATRIX_PRODUCTEMITTER_H
#define ZYX_LIB_CODEGEN_MATRIX_PRODUCTEMITTER_H

#include "MachineEmitter.h"

#include "zyx/Codegen/Matrix/TensorDot.h"

#include "llvm/ADT/MapVector.h"

namespace zyx::kernel {

/// What the makers of machine forms of a product have in common: which tile is where, and what is done to the sums in
/// registers, in pieces of some columns.
class ProductEmitter : protected MachineEmitter {
protected:
  /// Pieces have `pieceRows` by `pieceColumns` elements.
  ProductEmitter(FuncOp func, TensorDot dot, const Axes &axes, int64_t pieceRows, int64_t pieceColumns);

  /// Tiles of all batches.
  int64_t programs() const;

  /// The place of a tile.
  struct TileCoordinates {
    llvm::SmallDenseMap<Axis, mlir::Value> batches;
    mlir::Value row, column;
  };
  /// Tiles are taken in columns of some rows, so that workgroups that run together share slices in the cache.
  TileCoordinates coordinatesOf(mlir::Value tile);

  /// What is read or written behind the product.
  struct EpilogueAccess {
    mlir::Value view;
    /// Batches of the view's leading dimensions.
    llvm::SmallVector<Axis> batches;
    /// Columns of a run, and how many there are, which lead the view; 0 where all columns are one.
    int64_t run = 0, numRuns = 0;
    /// Whether the copy engine writes it, or threads do out of shared memory: their parts of the sums are short pieces
    /// of many rows.
    bool isCopied = false, isStaged = false;
    bool hasSlot() const { return isCopied || isStaged; }
  };
  EpilogueAccess makeAccess(mlir::Value view, mlir::ValueRange indices, mlir::Value tile, bool isResult, bool isCopied);
  /// Batches of a view that differ.
  llvm::SmallVector<Axis> batchesOf(const AxisStrides &strides) const;
  llvm::SmallVector<mlir::Value> indicesOf(const EpilogueAccess &access, const TileCoordinates &place, bool hasRows,
                                           bool hasColumns, mlir::Value column);
  /// True for dimensions of a view of which no tile has elements outside.
  mlir::DenseBoolArrayAttr inBounds(const EpilogueAccess &access, bool hasRows, bool hasColumns);

  /// Loads behind the product that differ along rows and columns: of memory that is as large as the result.
  llvm::SmallVector<LoadOp> findLargeLoads();
  /// In the order of the loads: that of addresses would differ from one compilation to the next.
  using Read = llvm::MapVector<mlir::Value, mlir::Value>;
  /// What these loads read of a piece, before anybody computes with it.
  Read readPiece(llvm::ArrayRef<LoadOp> large, const TileCoordinates &place, mlir::Value column);
  /// Begins a piece whose sums are `sums`, some of which has been read. What its stores share is computed once.
  void beginPiece(mlir::Value sums, const Read &read = Read());
  /// Writes this piece, at `place` and `column`, of some results: of those with a slot at `inSlot` of it.
  void storePiece(const TileCoordinates &place, mlir::Value column, llvm::ArrayRef<size_t> results,
                  llvm::ArrayRef<mlir::Value> slots = {}, int64_t inSlot = 0);
  /// Results whose pieces are computed at once, so that no value waits in registers for another result: as many as
  /// there are slots to copy them from.
  llvm::SmallVector<llvm::SmallVector<size_t>> joinResults(int64_t slots) const;
  /// Loads whose panels fit in registers beside the sums.
  llvm::SmallVector<LoadOp> findReadAhead();
  /// What does not depend on columns is evaluated once, until this.
  void forgetRows() { common.clear(); }

  TensorDot dot;
  /// Of each store.
  llvm::SmallVector<EpilogueAccess> accesses;
  const int64_t m, n, k, tilesDown, tilesAcross;
  const FragmentShape fragment;
  /// Where views that are made behind the roles' beginning are put in front of them.
  mlir::Value firstView;

private:
  mlir::Value evaluate(mlir::Value tile, const TileCoordinates &place, mlir::Value column);
  mlir::Value computePart(mlir::Value tile, const TileCoordinates &place, mlir::Value column);
  mlir::Value read(LoadOp load, const TileCoordinates &place, mlir::Value column);
  EpilogueAccess makeAccessOf(LoadOp load);

  llvm::DenseMap<mlir::Operation *, EpilogueAccess> loads;
  /// What has been evaluated, of a piece and of all.
  llvm::DenseMap<mlir::Value, mlir::Value> piece, common;
};

} // namespace zyx::kernel

#endif // ZYX_LIB_CODEGEN_MATRIX_PRODUCTEMITTER_H
