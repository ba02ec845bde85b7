//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_AXES_H
#define ZYX_CODEGEN_TILE_AXES_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "llvm/ADT/SmallVector.h"

namespace zyx::kernel {

/// Number of an axis; axes are numbered as they appear.
using Axis = unsigned;

/// The axes of a kernel of tiles: which dimensions of which tiles must be indexed alike. Two
/// dimensions are one axis where an op ties them: the dimensions of an elementwise op's operands, the
/// contracted dimensions of a dot, a broadcast's kept ones, and so on. Every schedule step and the
/// lowering of tiles work on axes, so that no op needs a rule of its own there.
class Axes {
public:
  /// Analyses everything below `root`. Tile constants must have one use each (see unshareConstants),
  /// or they would tie axes that have nothing to do with each other.
  static mlir::FailureOr<Axes> compute(mlir::Operation *root);

  /// The axis of a dimension of a tile.
  Axis of(mlir::Value tile, unsigned dim) const;
  /// The axes of all dimensions of a tile.
  llvm::SmallVector<Axis> of(mlir::Value tile) const;
  bool contains(mlir::Value tile, Axis axis) const;

  /// The axis that loads and iotas call `name`; an error at `user` where none or more than one is.
  mlir::FailureOr<Axis> find(llvm::StringRef name, mlir::Operation *user) const;
  /// What loads and iotas call an axis and no other, if they do.
  std::optional<llvm::StringRef> name(Axis axis) const;
  /// The extent of an axis in the tiles at hand.
  int64_t extent(Axis axis) const { return extents[axis]; }
  /// True where a reduce, a scan or a dot's contraction combines elements along the axis.
  bool isCombined(Axis axis) const { return combined[axis]; }
  unsigned size() const { return extents.size(); }

private:
  unsigned node(mlir::Value tile, unsigned dim);
  unsigned root(unsigned node) const;
  void tie(mlir::Value a, unsigned dimA, mlir::Value b, unsigned dimB);
  void tieAll(mlir::Value a, mlir::Value b);
  mlir::LogicalResult visit(mlir::Operation *op);

  llvm::DenseMap<std::pair<mlir::Value, unsigned>, unsigned> nodes;
  mutable llvm::SmallVector<unsigned> parents;
  llvm::SmallVector<std::pair<mlir::Value, unsigned>> order;
  llvm::SmallVector<std::pair<mlir::Value, unsigned>> combinedDims;
  llvm::SmallVector<std::tuple<llvm::StringRef, mlir::Value, unsigned>> names;
  llvm::DenseMap<unsigned, Axis> axisOfRoot;
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<bool> combined;
};

/// True for values that are tiles.
bool isTile(mlir::Type type);
inline bool isTile(mlir::Value value) { return isTile(value.getType()); }

/// True for ops that compute each element of their tile from the same element of their operands.
bool isElementwise(mlir::Operation *op);

/// Whether a tile at that position may lie behind the end of its view as a whole. The index of a grid
/// never does; the sum of two does, where a piece that sticks out is split again.
bool mayBeginBeyond(mlir::Value position);

/// Gives every use of a tile constant, splat, iota or broadcast a copy of its own: along the dimensions
/// in which it repeats, two uses may stand for different axes.
void unshareConstants(mlir::Operation *root);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_AXES_H
