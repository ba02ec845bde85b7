//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the steps of a schedule share, and those that are more than a few lines.
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_SCHEDULESTEPS_H
#define ZYX_CODEGEN_TILE_SCHEDULESTEPS_H

#include "zyx/Codegen/Tile/Axes.h"

namespace zyx::kernel {

/// Ops of a block that are split together; views, scalars and the end stay where they are.
llvm::SmallVector<mlir::Operation *> tileOps(mlir::Block &block);
/// Whether an op, or one in it, has a tile along the axis.
bool dependsOn(const Axes &axes, mlir::Operation *op, Axis axis);

/// Gives every tile below `ops` the extent `tile` along `axis`, and moves loads, stores and iotas by
/// `position`, which counts from where they begin now. `inBounds` says whether every tile lies inside
/// its view along the axis if the tiles before did; `always`, that it does in any case.
void resizeTiles(llvm::ArrayRef<mlir::Operation *> ops, const Axes &axes, Axis axis, int64_t tile, mlir::Value position,
                 bool inBounds, bool always = false);

/// The transpose of the dot of the transposed factors, in place of a dot (SwapStepAttr).
void swapFactors(DotOp dot);

/// Makes a loop of what depends on `axis` in a scope (OnlineStepAttr). An error where the axis is not
/// that of a softmax whose exponentials are only summed up, nor one along which all is summed up that has it.
mlir::LogicalResult walkOnline(mlir::Block &scope, const Axes &axes, Axis axis, mlir::StringAttr name, int64_t tile);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_SCHEDULESTEPS_H
