//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_ELEMENTLOOPS_H
#define ZYX_LIB_FUSION_ELEMENTLOOPS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zyx::fusion {

/// A loop in the place of another, with its body: what it begins with, and its invariants, are these; the arguments of
/// the body are for the caller to adapt. Results are as many as what it begins with. The other one stays, without a
/// body.
graph::ir::LoopOp moveBody(graph::ir::LoopOp loop, mlir::ValueRange initial, mlir::ValueRange invariants);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_ELEMENTLOOPS_H
