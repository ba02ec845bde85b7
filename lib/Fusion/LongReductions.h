//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_LONGREDUCTIONS_H
#define ZYX_LIB_FUSION_LONGREDUCTIONS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::fusion {

/// The dimension of a value along which memory is read, by what most of it is made of; none where the nearest ops do
/// not tell.
std::optional<int64_t> findContiguousDim(mlir::Value value);
/// The dimension of what is reduced along which memory is read.
int64_t contiguousDim(graph::ir::ReduceOp op);
/// Whether elements that lie next to each other are combined.
bool isAlongRows(graph::ir::ReduceOp op);
/// Threads that a machine with subgroups has for a reduction that is not cut into parts.
int64_t threadsOf(graph::ir::ReduceOp op, const target::TargetInfo &machine);
/// What takes as long as some hundred launches.
bool hasManyElements(graph::ir::ReduceOp op);
/// The same, and results that are too few for the machine to share it. On a card what is looked up at one place
/// (OneHots.h) is not long.
bool isLong(graph::ir::ReduceOp op, const target::TargetInfo &machine);
/// Rows that are programs of their own: the first of several dimensions that are reduced.
bool hasRows(graph::ir::ReduceOp op);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_LONGREDUCTIONS_H
