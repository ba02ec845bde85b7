//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CODEGEN_MATRIX_STREAMINGEMITTER_H
#define ZYX_LIB_CODEGEN_MATRIX_STREAMINGEMITTER_H

#include "MachineEmitter.h"

#include "zyx/Codegen/Matrix/TensorPlaces.h"

namespace zyx::kernel {

/// Kernels whose workgroups take tiles of rows of several batches in turn, and stream blocks along another axis for
/// each: of queries along the keys, or of keys along the queries. A tile of scores has the rows of a group of warps,
/// and a block's columns.
class StreamingEmitter : protected MachineEmitter {
protected:
  StreamingEmitter(FuncOp func, const Axes &axes, Axis rowAxis, Axis streamedAxis, llvm::ArrayRef<Axis> batches);

  //===--------------------------------------------------------------------===//
  // Places
  //===--------------------------------------------------------------------===//

  struct TileCoordinates {
    llvm::SmallDenseMap<Axis, mlir::Value> batches;
    /// The first row; the blocks from `first` to `end` of which it sees something, and those among them from
    /// `wholeFirst` to `wholeEnd` of which all its rows see all.
    mlir::Value row, first, end, wholeFirst, wholeEnd;
    /// Of a tile that workgroups share: this one has no block of it, and streams one that is not its own. Null where
    /// all have some.
    mlir::Value isIdle;
  };
  /// The place of the tile that this workgroup has in a round. Blocks are left out by `diagonal`, if there is one, and
  /// behind one that ends what is seen by `window`, from which on it is; one block is always streamed.
  TileCoordinates coordinatesOf(mlir::Value round, const std::optional<TensorBound> &diagonal,
                                const std::optional<TensorBound> &window = std::nullopt);
  /// The number of rounds of this workgroup; a cluster has one tile.
  mlir::Value rounds();
  mlir::SmallVector<mlir::Value> indicesOf(const TensorOperand &operand, const TileCoordinates &place, mlir::Value row);
  mlir::Value viewOf(const TensorOperand &operand) { return MachineEmitter::viewOf(operand.view, operand.map); }

  /// A place in a ring, and the parity with which it is waited for.
  struct PipelineState {
    mlir::Value stage, parity;
  };
  PipelineState next(PipelineState state);

  //===--------------------------------------------------------------------===//
  // Roles
  //===--------------------------------------------------------------------===//

  /// The roles, behind what all of them share, and the kernel's end: a thread that copies, and the groups that
  /// multiply.
  void emitRoles(llvm::function_ref<void()> producer, llvm::function_ref<void(mlir::Value instance)> consumer);

  //===--------------------------------------------------------------------===//
  // Between workgroups that share a tile
  //===--------------------------------------------------------------------===//

  /// What each workgroup of the cluster sends to the groups of this one: a tile of f32 with so many columns.
  struct Inbox {
    mlir::Value memory;
    int64_t columns;
  };
  Inbox makeInbox(int64_t columns);
  /// Behind the last inbox, and before the roles.
  void openInboxes();
  /// Of a tile that all have computed in part, each workgroup gets its own columns.
  void sendColumns(const Inbox &inbox, mlir::Value tile, mlir::Value instance);
  /// All workgroups get the same tile.
  void sendAll(const Inbox &inbox, mlir::Value tile, mlir::Value instance);
  /// What workgroup `from` has sent, behind `awaitInboxes`.
  mlir::Value receive(const Inbox &inbox, int64_t from, mlir::Value instance);
  void awaitInboxes();
  /// The same tile, of zeros or of another number where the workgroup is idle.
  mlir::Value unlessIdle(const TileCoordinates &place, mlir::Value tile, double otherwise = 0);

  //===--------------------------------------------------------------------===//
  // What is elementwise
  //===--------------------------------------------------------------------===//

  /// Where a tile of the kernel is evaluated. `firstColumn` is the first one's place along the streamed axis.
  struct Site {
    FragmentShape fragment;
    const TileCoordinates &place;
    mlir::Value firstColumn;
    llvm::DenseMap<mlir::Value, mlir::Value> known = llvm::DenseMap<mlir::Value, mlir::Value>();
    /// The first column of a result, of which workgroups that share a tile have a part each; null where it is 0.
    mlir::Value resultColumn = mlir::Value();
    /// All of its columns exist, and no bound that hides blocks crosses it.
    bool isWhole = false;
  };
  mlir::RankedTensorType tile(int64_t columns);
  mlir::RankedTensorType row();
  mlir::Value alongRows(mlir::Value column, mlir::RankedTensorType type);
  /// By the machine's own instruction.
  mlir::Value power(mlir::Value x);
  /// The largest exponent of two that a number of a row or a column may have where exponentials of distances to it are
  /// computed by one fused multiply-add: the rounding of such an exponent is below 2^-12. Of larger ones, which only
  /// masks make, rounding would be a factor of the weights, and what is scaled may leave the range of f32.
  static constexpr double mostExponent = 4096;
  /// Whether some number of rows or columns is beyond a limit, an infinity too.
  mlir::Value isFar(mlir::Value vector, double limit);
  /// The condition that a bound says, of a tile of scores.
  mlir::Value boundOf(const TensorBound &bound, const TileCoordinates &place, mlir::Value firstColumn,
                      mlir::RankedTensorType type);
  /// The places that an iota counts, along rows or columns, or the same as f32; null where a value is neither.
  mlir::Value placesOf(mlir::Value of, const Site &site);
  /// What threads read for their scores themselves, and what they write of their rows.
  mlir::Value read(LoadOp load, const Site &site);
  void write(StoreOp store, mlir::Value held, const Site &site);
  /// A quotient by what rows or columns have, by the reciprocal of these: what is rounded to 16 bits does not show the
  /// difference. Null where it is none.
  mlir::Value divideByVector(mlir::Value of, const FragmentShape &fragment,
                             llvm::function_ref<mlir::Value(mlir::Value)> evaluate);

  const Axis rowAxis, streamedAxis;
  const llvm::SmallVector<Axis> batches;
  /// Rows, and places along the streamed axis.
  const int64_t rows, streamed;
  const int64_t tilesDown, blocks;
  /// Data says which blocks a tile sees (`visible`): they may begin behind, and end before, what bounds say.
  const bool narrows;
  /// Whether blocks of which a tile sees nothing are left out.
  bool hides = true;
  int64_t heads = 1;
  /// Workgroups of a cluster, which share a tile: each streams a part of the blocks.
  const int64_t sharers;
  /// This workgroup, and how many there are; or clusters, in which this workgroup has the number `rank`.
  mlir::Value group, numGroups, rank;

private:
  mlir::Value slotOf(const Inbox &inbox, mlir::Value from, mlir::Value instance);
  mlir::Value seatOf(mlir::Value round);
  /// Leaves out the blocks before the first and behind the last one of which data says that some row sees something.
  void leaveOutHidden(TileCoordinates &place);
  /// The part of memory of which a tile is.
  struct Patch {
    mlir::Value view;
    mlir::SmallVector<mlir::Value> indices;
    mlir::DenseBoolArrayAttr inBounds;
  };
  Patch patchOf(mlir::Value view, mlir::ValueRange at, mlir::Value tile, const Site &site);
  mlir::Value received;
  /// Of all inboxes.
  int64_t inboxColumns = 0;
};

} // namespace zyx::kernel

#endif // ZYX_LIB_CODEGEN_MATRIX_STREAMINGEMITTER_H
