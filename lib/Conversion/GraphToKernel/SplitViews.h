//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_SPLITVIEWS_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_SPLITVIEWS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include "mlir/IR/OwningOpRef.h"

namespace zyx::lowering {

/// A copy of the group in which every view, and every gather for the tensor it reads, has its operand
/// for itself: what was one value along two axes, as in the product of a matrix with its own
/// transposition, is two. Null where that takes too many ops.
mlir::OwningOpRef<graph::ir::GroupOp> splitViews(graph::ir::GroupOp group);

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_SPLITVIEWS_H
