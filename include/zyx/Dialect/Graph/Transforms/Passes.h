//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_TRANSFORMS_PASSES_H
#define ZYX_DIALECT_GRAPH_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <string>

namespace zyx::graph::ir {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "zyx/Dialect/Graph/Transforms/Passes.h.inc"

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_TRANSFORMS_PASSES_H
