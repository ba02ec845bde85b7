//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The factors of a dot in shared memory, slice by slice along the contraction: where a slice lies there, and which
// thread brings what of it.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CODEGEN_SIMT_FACTORSLICES_H
#define ZYX_LIB_CODEGEN_SIMT_FACTORSLICES_H

#include "zyx/Codegen/Tile/SharedDotShape.h"
#include "zyx/Codegen/Tile/TileContext.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace zyx::kernel {

/// A dot that the threads of a workgroup multiply slice by slice, and small ops at its location.
struct SharedDot {
  SharedDot(TileContext &context, DotOp dot)
      : t(context), dot(dot), loc(dot.getLoc()), element(mlir::getElementTypeOrSelf(dot.getType())) {
    rank = mlir::cast<mlir::RankedTensorType>(dot.getType()).getRank();
    k = t.axes.of(dot.getLhs(), rank - 1);
  }

  mlir::Value index(int64_t value) { return t.evaluator.constantIndex(value, loc); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return t.builder.createOrFold<mlir::arith::AddIOp>(loc, a, b); }
  mlir::Value times(mlir::Value a, int64_t b) { return t.builder.createOrFold<mlir::arith::MulIOp>(loc, a, index(b)); }
  mlir::Value over(mlir::Value a, int64_t b) { return t.builder.createOrFold<mlir::arith::DivUIOp>(loc, a, index(b)); }
  mlir::Value rest(mlir::Value a, int64_t b) { return t.builder.createOrFold<mlir::arith::RemUIOp>(loc, a, index(b)); }
  mlir::Value isBelow(mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpIOp::create(t.builder, loc, mlir::arith::CmpIPredicate::slt, a, b);
  }
  mlir::Value load(mlir::Type type, mlir::Value view, llvm::ArrayRef<mlir::Value> at) {
    return LoadOp::create(t.builder, loc, type, view, at, mlir::Value(), mlir::Value(), mlir::ArrayAttr(),
                          mlir::DenseBoolArrayAttr());
  }
  void store(mlir::Value value, mlir::Value view, llvm::ArrayRef<mlir::Value> at) {
    StoreOp::create(t.builder, loc, value, view, at, mlir::Value(), mlir::DenseBoolArrayAttr());
  }
  /// `body` where the condition holds; always where it is null.
  mlir::LogicalResult where(mlir::Value condition, llvm::function_ref<mlir::LogicalResult()> body) {
    if (!condition)
      return body();
    auto branch = mlir::scf::IfOp::create(t.builder, loc, condition, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(t.builder);
    t.builder.setInsertionPointToStart(branch.thenBlock());
    return body();
  }

  TileContext &t;
  DotOp dot;
  mlir::Location loc;
  mlir::Type element;
  unsigned rank;
  SharedDotShape shape = {};
  /// The contraction, its extent, and elements of a slice along it.
  Axis k;
  int64_t depth = 0, step = 0;
  /// Warps multiply what lies in shared memory in its own type of 16 bits.
  bool byWarps = false;
};

/// A factor, and the axis that it has beside the contraction.
class FactorSlices {
public:
  explicit FactorSlices(SharedDot &dot) : d(&dot) {}

  /// Whether the elements that exist are whole vectors, in the last tile, too.
  bool isWhole(int64_t vector) const;
  /// Whether a slice has a row for each element of the tile.
  bool isByElements() const { return d->byWarps && readAxis == d->k; }
  /// Sets along which axis slices are read, and how many elements at once.
  void chooseReads();
  /// Shared memory for the slices.
  void allocate();
  /// Sets what this thread brings of each slice.
  void placePieces();
  /// What this thread has of a slice that begins at `start`. Behind the end of the contraction that is zero.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> read(const Point &base, mlir::Value start);
  /// Writes that to the memory of slice number `stage`.
  void write(llvm::ArrayRef<mlir::Value> values, mlir::Value stage);

  mlir::Value factor;
  Axis axis;
  Extent extent;
  /// Elements of the tile, and as many as all threads have; those of one thread, `lanes` of which are neighbours;
  /// threads along the axis, and how far apart the neighbours of one thread begin. Where warps multiply, those of a
  /// warp, and warps.
  int64_t size = 0, padded = 0, each = 0, lanes = 1, threads = 0, apart = 0;
  /// How many of the tile are brought: of what only fills the blocks of a warp nothing is read.
  int64_t brought = 0;
  /// Both slices, row by row along the contraction; or with a row for each element of the tile, where warps multiply
  /// what is read along the contraction.
  mlir::Value memory;
  /// The number of this thread along the axis.
  mlir::Value number;

private:
  /// Elements that a thread reads at once of a slice: where they begin in the tile, and how far behind the slice's
  /// beginning.
  struct Piece {
    mlir::Value position, behind;
    /// Where it is written in the slice's rows; the position may be that of another element, where it does not exist.
    mlir::Value place;
    /// Whether the thread has it, where some have none; null where all have.
    mlir::Value isOwn;
  };

  Axis axisOfRuns();
  int64_t lanesAtOnce();

  SharedDot *d;
  /// Slices are read in pieces of so many elements along this axis.
  Axis readAxis;
  int64_t readLanes = 1, readBytes = 4;
  /// Memory has neighbours along the contraction, and pieces lie across it.
  bool isAcross = false;
  llvm::SmallVector<Piece> pieces;
};

} // namespace zyx::kernel

#endif // ZYX_LIB_CODEGEN_SIMT_FACTORSLICES_H
