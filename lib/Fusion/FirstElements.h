//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_FIRSTELEMENTS_H
#define ZYX_LIB_FUSION_FIRSTELEMENTS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

namespace zyx::fusion {

/// How many of the first elements along its dimension the readers of a sort see; all of them where one is no slice.
int64_t countRead(graph::ir::SortOp sort);

/// Has the readers of a sort read its first elements, as many as they see, or more; the sort is erased.
void giveFirst(graph::ir::SortOp sort, mlir::Value first);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_FIRSTELEMENTS_H
