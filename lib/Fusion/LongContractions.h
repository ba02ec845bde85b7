//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_LONGCONTRACTIONS_H
#define ZYX_LIB_FUSION_LONGCONTRACTIONS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::fusion {

/// The leading part of what is summed up: whole dimensions, and then a part of another one.
struct LeadingPart {
  int64_t parts = 1;
  llvm::SmallVector<int64_t> whole;
  int64_t cut = -1, pieces = 1;
};

/// The contraction's parts, where it is worth some; attentions stay whole.
std::optional<LeadingPart> findPartsWorth(graph::ir::ReduceOp op, const target::TargetInfo &machine);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_LONGCONTRACTIONS_H
