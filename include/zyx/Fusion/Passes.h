//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_FUSION_PASSES_H
#define ZYX_FUSION_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace zyx::fusion {

#define GEN_PASS_DECL
#include "zyx/Fusion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "zyx/Fusion/Passes.h.inc"

} // namespace zyx::fusion

#endif // ZYX_FUSION_PASSES_H
