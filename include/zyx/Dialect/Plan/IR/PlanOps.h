//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_PLAN_IR_PLANOPS_H
#define ZYX_DIALECT_PLAN_IR_PLANOPS_H

#include "zyx/Base/Shape.h"
#include "zyx/Dialect/Plan/IR/PlanDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_TYPEDEF_CLASSES
#include "zyx/Dialect/Plan/IR/PlanTypes.h.inc"

#include "zyx/Dialect/Plan/IR/PlanInterfaces.h.inc"

#define GET_OP_CLASSES
#include "zyx/Dialect/Plan/IR/PlanOps.h.inc"

namespace zyx::plan {

/// Offsets in the arena are multiples of this many bytes: the artifact's alignment.
inline constexpr uint64_t alignment = 64;
/// Bytes of a plan.constant at most.
inline constexpr uint64_t maxConstantBytes = 4096;

/// The bytes that a buffer occupies: [begin, end) of `base`, which is the arena, an alloc, a
/// constant or an argument.
struct Storage {
  mlir::Value base;
  uint64_t begin, end;
  bool overlaps(const Storage &other) const { return base == other.base && begin < other.end && other.begin < end; }
};
Storage getStorage(mlir::Value buffer);

} // namespace zyx::plan

#endif // ZYX_DIALECT_PLAN_IR_PLANOPS_H
