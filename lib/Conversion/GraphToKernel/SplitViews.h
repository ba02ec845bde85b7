//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_SPLITVIEWS_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_SPLITVIEWS_H

#include "GroupAxes.h"

#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace zyx::lowering {

/// A copy of the group in which every view, and every gather for the tensor it reads, has its operand
/// for itself: what was one value along two axes, as in the product of a matrix with its own
/// transposition, is two. Null where that takes too many ops.
/// The axes of `group`, or where views of one value meet along different axes those of a `copy` in
/// which each view has the ops that it reads for itself. Emits an error where neither is a kernel.
std::unique_ptr<GroupAxes> analyseGroup(graph::ir::GroupOp group, mlir::OwningOpRef<graph::ir::GroupOp> &copy,
                                        kernel::Refusal &refusal, int64_t packedLanes = 0, int64_t tapSums = 0,
                                        bool copiesWindows = false);

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_SPLITVIEWS_H
