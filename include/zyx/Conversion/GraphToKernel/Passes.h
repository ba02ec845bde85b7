//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CONVERSION_GRAPHTOKERNEL_PASSES_H
#define ZYX_CONVERSION_GRAPHTOKERNEL_PASSES_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace zyx {

#define GEN_PASS_DECL
#include "zyx/Conversion/GraphToKernel/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "zyx/Conversion/GraphToKernel/Passes.h.inc"

} // namespace zyx

#endif // ZYX_CONVERSION_GRAPHTOKERNEL_PASSES_H
