//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_IR_GRAPHOPS_H
#define ZYX_DIALECT_GRAPH_IR_GRAPHOPS_H

#include "zyx/Dialect/Graph/IR/GraphDialect.h"
#include "zyx/Graph/Graph.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace zyx::graph::ir {
/// In UnaryKinds.h.
enum class UnaryKind : uint32_t;
} // namespace zyx::graph::ir

#include "zyx/Dialect/Graph/IR/GraphEnums.h.inc"
#include "zyx/Dialect/Graph/IR/GraphInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "zyx/Dialect/Graph/IR/GraphAttrs.h.inc"

#define GET_OP_CLASSES
#include "zyx/Dialect/Graph/IR/GraphOps.h.inc"

#endif // ZYX_DIALECT_GRAPH_IR_GRAPHOPS_H
