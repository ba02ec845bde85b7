//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_MATRIX_TENSORPLACES_H
#define ZYX_CODEGEN_MATRIX_TENSORPLACES_H

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <functional>

namespace zyx::kernel {

/// A part of an axis that memory knows as a dimension of its own: index / divisor % extent of the axis' index.
/// Heads that share keys have one behind their share, and none for the rest.
struct AxisPart {
  Axis axis = 0;
  int64_t divisor = 1, extent = 1, stride = 0;
};

/// Queries, keys, values or results of an attention, or what is like them, as the copy engine sees it.
struct TensorOperand {
  mlir::Value view;
  /// Dimensions of the map before the last two, outermost first.
  llvm::SmallVector<AxisPart> batches;
  /// Looks at the buffer as [batches, rows, features].
  MapAttr map;
  int64_t columns() const { return *BlockAttr::constant(map.front().getShape().back()); }
};

/// So many rows have one range of places that they see (`visible`). Of more the kernel that finds them would have fewer
/// threads, each with a longer chain.
inline constexpr int64_t visibleRows = 16;

/// Whether both are the same elements of the same buffer.
bool isSame(const TensorOperand &a, const TensorOperand &b);

/// Scores for which factor * key + ofQuery * query + offset is at least 0; `factor` is 1 or -1, `ofQuery` its opposite
/// or 0.
struct TensorBound {
  int64_t factor = 0, ofQuery = 0, offset = 0;
  bool operator==(const TensorBound &) const = default;
};

/// Reads a tile that is loaded or stored as a whole as [batches, rows, features]; none where the copy engine cannot.
std::optional<TensorOperand> matchOperand(mlir::Value view, mlir::ValueRange indices, mlir::Value tile, Axis rows,
                                          Axis features, const Axes &axes, const target::CopyFacts &copies);

/// Whether a tile counts the places of queries or keys in i32.
bool isPlaceOf(mlir::Value tile, Axis queries, Axis keys, const Axes &axes);

/// Whether a tile is loaded as a whole, without a mask.
bool isPlainLoad(mlir::Value tile);

/// The bound that a condition on the places of a query and a key says, if it is one.
std::optional<TensorBound> matchBound(mlir::Value condition, Axis queries, Axis keys, const Axes &axes);

/// The bounds of which a condition says that all hold, if it says no more.
std::optional<llvm::SmallVector<TensorBound>> matchBounds(mlir::Value condition, Axis queries, Axis keys,
                                                          const Axes &axes);

/// The other factor of a product with a number, and that.
std::optional<std::pair<mlir::Value, double>> scaledBy(mlir::arith::MulFOp product);
bool isMinusInfinity(mlir::Value tile);

/// Checks what is computed element by element on registers.
struct ElementwiseSlice {
  const Axes &axes;
  /// Axes that its tiles may have.
  llvm::SmallVector<Axis> own;
  /// What is known already.
  llvm::SmallVector<mlir::Value> known;
  /// Conditions that bounds say, and what may be read.
  std::function<bool(mlir::Value)> isBound, isRead;
  /// Numbers of rows and columns in i32, of which scores may be computed; without it there are none, and no integers.
  std::function<bool(mlir::Value)> isPlace = {};
  /// Whether 64-bit integers may be read and compared.
  bool hasLongs = false;
  bool check(mlir::Value root);
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_MATRIX_TENSORPLACES_H
