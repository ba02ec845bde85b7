//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_BLOCKS_H
#define ZYX_LIB_FUSION_BLOCKS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace zyx::fusion {

/// The block of a function and those of the loops in it, outermost first; none of a loop that is one kernel.
llvm::SmallVector<mlir::Block *> getBlocks(mlir::func::FuncOp entry);

/// Erases graph ops whose result nobody reads.
void eraseUnused(mlir::Block &block);

/// The result of a clone of an op of one result, with other operands and a result of another type.
mlir::Value cloneWith(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange operands, mlir::Type type);

/// A constant of floats, or of integers, that are all one number; an integer wraps as the type does.
mlir::Value makeSplat(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type, double number);
mlir::Value makeIntegerSplat(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type, int64_t number);

/// What combines what parts have; none for kinds that no op of two operands has.
std::optional<graph::ir::BinaryKind> getCombine(graph::ir::ReduceKind kind);

/// Whether results have fewer digits than the sums that they are rounded from: to combine them would round more often.
bool isRounded(graph::ir::ReduceOp op);

/// Runs a rewrite on each of these blocks, innermost first, so that it may erase a loop with its block. Fails with a
/// diagnostic where an extent is no number yet; leaves functions of no block or of several as they are.
mlir::LogicalResult rewriteBlocks(mlir::func::FuncOp entry, llvm::function_ref<void(mlir::Block &)> rewrite);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_BLOCKS_H
