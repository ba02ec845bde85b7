//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_IR_PLAINTYPES_H
#define ZYX_DIALECT_GRAPH_IR_PLAINTYPES_H

#include "zyx/Base/Shape.h"
#include "zyx/Graph/Implementation.h"

#include "mlir/IR/BuiltinTypes.h"

namespace zyx::graph::ir {

/// The dtype of an MLIR element type: i1 is bool, signless integers are signed. None where the
/// graph has no such type.
std::optional<DType> toDType(mlir::Type elementType);
/// The inverse of toDType.
mlir::Type toElementType(DType dtype, mlir::MLIRContext *context);

/// The plain form of a tensor type, or why it has none: not a ranked tensor, an element type that
/// the graph does not know, a `?` without `#graph.extents`, another encoding.
Result<TensorType> toPlainType(mlir::Type type);
/// The inverse of toPlainType.
mlir::RankedTensorType toTensorType(const TensorType &type, mlir::MLIRContext *context);

class ImplementationAttr;
/// The plain form of an implementation, or why it has none: a type that is no tensor of the graph.
Result<Implementation> toPlainImplementation(ImplementationAttr implementation);
/// The inverse of toPlainImplementation.
ImplementationAttr toImplementationAttr(const Implementation &implementation, mlir::MLIRContext *context);

/// Fails with an error at the first op of the function one of whose types has a symbol: passes that
/// count elements run on numbers.
mlir::LogicalResult requireNumbers(mlir::Operation *entry);

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_IR_PLAINTYPES_H
