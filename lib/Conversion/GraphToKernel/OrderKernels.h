//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ORDERKERNELS_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ORDERKERNELS_H

#include "zyx/Conversion/GraphToKernel/GraphToKernel.h"

namespace zyx::lowering {

/// The scan, sort or scatter that a group has, or null.
mlir::Operation *findOrderOp(graph::ir::GroupOp group);

/// What a group's scatter begins with, where that is an operand of the group which nothing else in it reads: the
/// scatter may update it where it lies. Null for other groups.
mlir::OpOperand *findUpdated(graph::ir::GroupOp group);
/// The same for one of its results: a group of a trip's elements may have several.
mlir::OpOperand *findUpdated(mlir::OpResult result);

/// The kernel of a group with such an op, which must be its only computing op. It walks rows
/// element by element in the lowered form: the order of elements is its meaning, which tiles do not
/// have. A row is a program's, or a workgroup's of the machine.
mlir::FailureOr<ConvertedGroup> convertOrderGroup(graph::ir::GroupOp group, mlir::Operation *op, llvm::StringRef name,
                                                  mlir::OpBuilder &builder, const Workgroups &machine, bool isUpdate);

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ORDERKERNELS_H
