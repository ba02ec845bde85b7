//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Functions.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

std::optional<zyx::kernel::FunctionFacts> zyx::kernel::findFunction(Operation *op) {
#define ZYX_KERNEL_FUNCTION(Op, name, Length, isOnRegisters, isHeavy)                                                  \
  if (isa<math::Op>(op))                                                                                               \
    return FunctionFacts{FunctionLength::Length, isOnRegisters, isHeavy};
#include "zyx/Dialect/Kernel/IR/Functions.inc"
  return std::nullopt;
}
