//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What passes ask about the functions that no machine has.
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_FUNCTIONS_H
#define ZYX_DIALECT_KERNEL_IR_FUNCTIONS_H

#include "mlir/IR/Operation.h"

namespace zyx::kernel {

/// What it takes of an element: little more than a square root; a polynomial; that of an argument that is reduced.
enum class FunctionLength { Root, Short, Long };

/// Of an op of `math` with one operand, which zyx-kernel-expand-math makes arithmetic of: a row of
/// zyx/Dialect/Graph/IR/UnaryKinds.td.
struct FunctionFacts {
  FunctionLength length;
  /// Whether it can be computed of what a product or an attention on tensor cores has in its registers.
  bool isOnRegisters;
  /// Whether it takes more time and registers than the exponential of a softmax.
  bool isHeavy;
};

/// None of other ops.
std::optional<FunctionFacts> findFunction(mlir::Operation *op);

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_IR_FUNCTIONS_H
