//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_PLAN_TRANSFORMS_PASSES_H
#define ZYX_DIALECT_PLAN_TRANSFORMS_PASSES_H

#include "zyx/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Pass/Pass.h"

namespace zyx::plan {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "zyx/Dialect/Plan/Transforms/Passes.h.inc"

} // namespace zyx::plan

#endif // ZYX_DIALECT_PLAN_TRANSFORMS_PASSES_H
