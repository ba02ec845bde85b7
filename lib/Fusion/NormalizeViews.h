//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_NORMALIZEVIEWS_H
#define ZYX_LIB_FUSION_NORMALIZEVIEWS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zyx::fusion {

/// The block of a function and those of the loops in it, outermost first.
llvm::SmallVector<mlir::Block *> getBlocks(mlir::func::FuncOp entry);

/// Erases the graph ops of a block whose results nobody reads.
void eraseUnused(mlir::Block &block);

/// A cast between floats that loses nothing. None for no op.
bool isWidening(mlir::Operation *op);

/// Whether the normal form has the reshape on the inputs of what it reads instead: few ops lie between.
bool canPushReshape(graph::ir::ReshapeOp op);

/// Puts all of these there.
void pushReshapes(mlir::Block &block);

/// What -zyx-fusion-normalize-views does in a block of graph ops.
void normalizeViews(mlir::Block &block);

/// On a reduction of another one's result: it stays apart.
inline constexpr llvm::StringLiteral headsAttrName = "zyx.heads";
/// Notes sums over heads of what is summed up of weights and 16-bit factors, as gradients of keys are that heads share:
/// each head's weights are computed again from its own scores, in one kernel with its sums.
void keepSumsOfHeads(mlir::Block &block);

/// Reductions of nothing but another one's result become one, as a part of the normal form, and before it for whoever
/// splits them anew.
void mergeReductions(mlir::Block &block);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_NORMALIZEVIEWS_H
