//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_MERGEREDUCTIONS_H
#define ZYX_LIB_FUSION_MERGEREDUCTIONS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

namespace zyx::fusion {

/// A reduction of nothing but another one of its kind combines in one go. Not where the inner one
/// rounds its results.
void mergeReduction(graph::ir::ReduceOp op);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_MERGEREDUCTIONS_H
