//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_COST_PASSES_H
#define ZYX_COST_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace zyx::cost {

#define GEN_PASS_DECL
#include "zyx/Cost/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "zyx/Cost/Passes.h.inc"

} // namespace zyx::cost

#endif // ZYX_COST_PASSES_H
