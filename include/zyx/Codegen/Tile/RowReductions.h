//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Reductions for which a row need not be walked once more.
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_ROWREDUCTIONS_H
#define ZYX_CODEGEN_TILE_ROWREDUCTIONS_H

#include "zyx/Codegen/Tile/Axes.h"

namespace zyx::kernel {

/// The index of the one place along its axis where what `sum` adds up may be something else than zero, where it is the
/// sum of a `select(number of the place == index, ..., 0)`: then that place is all that must be looked at. Null where
/// it is no such sum.
mlir::Value findOneHotIndex(ReduceOp sum, const Axes &axes);

/// The axis along which one element of a tile is looked at for each row, where nothing but such sums reads it.
std::optional<Axis> findLookedUpAxis(mlir::Value tile, const Axes &axes);

/// Whether `sum` adds up the exponentials of distances to `max`, along the same dimensions. Both can be had at once:
/// what was added up shrinks where a larger maximum comes.
bool addsExponentials(ReduceOp sum, ReduceOp max);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_ROWREDUCTIONS_H
