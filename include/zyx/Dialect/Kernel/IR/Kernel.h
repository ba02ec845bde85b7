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

namespace zyx::kernel {

/// What `kernel.id` reads: which thread runs the code. `kernel.role` gives code to other threads.
struct RunningThread : mlir::SideEffects::Resource::Base<RunningThread> {
  llvm::StringRef getName() final { return "RunningThread"; }
};

} // namespace zyx::kernel

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

/// On a math.exp: its operand is at most 0 or NaN. A UnitAttr. It is no attribute of the op, which is not ours, and a
/// pass that drops it changes no result's meaning: the exponential is longer then.
inline constexpr llvm::StringLiteral nonpositiveAttrName = "kernel.nonpositive";

/// The step of a kernel that tensor cores are to compute; null for any other.
TensorStepAttr tensorStepOf(FuncOp func);
/// Threads that compute a program of a kernel together, in all workgroups of a cluster.
int64_t threadsOfProgram(FuncOp func);
/// Where a program of a kernel keeps a tile as a whole: what threads compute together lies in memory that they share,
/// and in private memory each would have another part of it.
Space spaceOfTiles(FuncOp func);

/// An error at the kernel where it is in another form than the one that somebody takes.
mlir::LogicalResult requireForm(FuncOp func, Form form);

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_IR_KERNEL_H
