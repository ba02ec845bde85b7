//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_VISIBLERANGE_H
#define ZYX_CODEGEN_TILE_VISIBLERANGE_H

#include "zyx/Codegen/Tile/Axes.h"

namespace zyx::kernel {

/// Positions along an axis that a mask lets a program see: from `low` on and before `high`, where they are not null.
/// What lies outside is minus infinity for all of the program's other positions.
struct VisibleRange {
  mlir::Value low, high;
};

/// What scores are made of by a select between them and minus infinity, whose condition compares sums of indices: a
/// causal mask, or a window. Emits the bounds at the builder's place.
VisibleRange findVisibleRange(mlir::Value scores, const Axes &axes, Axis axis, mlir::OpBuilder &builder,
                              mlir::Location loc);

/// What share of the axis programs walk in blocks of `block` positions, in the mean of all programs: 1 where nothing is
/// hidden. `axes` are those of the whole kernel, `tiles` what a program has of the axes that programs are cut along.
double findVisibleShare(mlir::Value scores, const Axes &axes, Axis axis, int64_t block,
                        const llvm::SmallDenseMap<Axis, int64_t> &tiles);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_VISIBLERANGE_H
