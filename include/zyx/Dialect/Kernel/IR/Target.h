//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_TARGET_H
#define ZYX_DIALECT_KERNEL_IR_TARGET_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"

/// The machine that a module is for, as passes ask for it.
namespace zyx::kernel {

/// On a module: a TargetAttr.
inline constexpr llvm::StringLiteral targetAttrName = "kernel.target";

/// The record of the machine that the module around `op` is for; null where no module says.
const target::TargetInfo *findTarget(mlir::Operation *op);
/// The same for a pass that decides by it: where no module says, an error at `op` does, and the result is null.
const target::TargetInfo *requireTarget(mlir::Operation *op);
/// Says that a module is for the machine of another one, or for none.
void copyTarget(mlir::ModuleOp from, mlir::ModuleOp to);

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_IR_TARGET_H
