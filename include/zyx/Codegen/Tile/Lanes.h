//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Work between the lanes of vectors.
#ifndef ZYX_CODEGEN_TILE_LANES_H
#define ZYX_CODEGEN_TILE_LANES_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::kernel {

/// Combines values pair by pair, so that they wait for each other as little as may be.
mlir::Value combineAll(mlir::OpBuilder &builder, mlir::Location loc, Combine kind,
                       llvm::SmallVector<mlir::Value> values);

/// Combines the lanes of a vector by halves, so that every machine does it in the same order.
mlir::Value combineLanes(mlir::OpBuilder &builder, mlir::Location loc, Combine kind, mlir::Value vector);

/// Floats as signed integers in the order in which they are combined: -0 below 0, and NaN above all
/// others where the kind is Max, below them where it is Min. The identity of the kind is that of its integers.
mlir::Value toOrderedBits(mlir::OpBuilder &builder, mlir::Location loc, Combine kind, mlir::Value floats);
/// What toOrderedBits() was given, of these floats.
mlir::Value fromOrderedBits(mlir::OpBuilder &builder, mlir::Location loc, Combine kind, mlir::Value bits,
                            mlir::FloatType element);

/// Transposes a square of as many 1-D vectors as each has lanes, a power of two, in registers: lane j of
/// result i is lane i of vector j. Each of the log2(lanes) rounds is one shuffle of two vectors per result.
void transposeVectors(mlir::OpBuilder &builder, mlir::Location loc, llvm::SmallVectorImpl<mlir::Value> &vectors);

/// Every `step`-th element of vectors that are neighbours in memory: of vector 0 all, where `piece` is 1, of the later
/// ones what was chosen. `before` has those of the vectors before `piece`, which is `read`.
mlir::Value chooseLanes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value before, mlir::Value read,
                        int64_t piece, int64_t step);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_LANES_H
