//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_NORMALIZEVIEWS_H
#define ZYX_LIB_FUSION_NORMALIZEVIEWS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

namespace zyx::fusion {

/// A cast between floats that loses nothing. None for no op.
bool isWidening(mlir::Operation *op);

/// Whether the normal form has the reshape on the inputs of what it reads instead: few ops lie between.
bool canPushReshape(graph::ir::ReshapeOp op);

/// Computes of values of which a part is read, and nothing else, that part: crops move up to inputs, and to what
/// pads and windows are taken of.
void cropComputed(mlir::Block &block);

/// Puts all such reshapes there.
void pushReshapes(mlir::Block &block);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_NORMALIZEVIEWS_H
