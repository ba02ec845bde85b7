//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_KERNEL_H
#define ZYX_DIALECT_KERNEL_IR_KERNEL_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace zyx::target {
struct TargetInfo;
} // namespace zyx::target
namespace zyx::kernel::detail {
struct TargetAttrStorage;
} // namespace zyx::kernel::detail

#include "zyx/Dialect/Kernel/IR/KernelDialect.h.inc"
#include "zyx/Dialect/Kernel/IR/KernelEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "zyx/Dialect/Kernel/IR/KernelAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "zyx/Dialect/Kernel/IR/KernelTypes.h.inc"

#define GET_OP_CLASSES
#include "zyx/Dialect/Kernel/IR/KernelOps.h.inc"

namespace zyx::kernel {

/// The two elements' combination, as an op of `arith`. `a` and `b` may be scalars, vectors or tiles.
mlir::Value createCombine(mlir::OpBuilder &builder, mlir::Location loc, Combine kind, mlir::Value a, mlir::Value b);

/// The neutral element of a combination for an element type.
mlir::TypedAttr getIdentity(Combine kind, mlir::Type elementType);

/// On a math.exp: its operand is at most 0 or NaN. A UnitAttr.
inline constexpr llvm::StringLiteral nonpositiveAttrName = "kernel.nonpositive";

/// The step of a kernel that tensor cores are to compute; null for any other.
TensorStepAttr tensorStepOf(FuncOp func);
/// Whether a kernel is in the machine form, which `-zyx-convert-kernel-to-nvvm` lowers.
bool isMachineForm(FuncOp func);

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_IR_KERNEL_H
