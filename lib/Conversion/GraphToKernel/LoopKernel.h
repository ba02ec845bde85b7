//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_LOOPKERNEL_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_LOOPKERNEL_H

#include "zyx/Conversion/GraphToKernel/GraphToKernel.h"

namespace zyx::lowering {

/// The loop that is all of a group, or null.
graph::ir::LoopOp findLoop(graph::ir::GroupOp group);

/// Puts a loop that is one kernel into a group, with the constants that it begins with.
graph::ir::GroupOp wrapLoop(graph::ir::LoopOp loop, mlir::OpBuilder &builder);

/// The kernel of such a group, in the lowered form. On cards a program is a point of the loop's domain, which carries
/// its elements in registers; on processors a strip of neighbours, which are carried in memory of the program.
mlir::FailureOr<ConvertedGroup> convertLoopGroup(graph::ir::GroupOp group, graph::ir::LoopOp loop, llvm::StringRef name,
                                                 mlir::OpBuilder &builder, const Workgroups &machine);

/// Joins groups in the bodies of loops that compute element by element, with rows that the trip's number chooses, to
/// groups that are marked. Each is one kernel.
void joinElementGroups(mlir::Operation *entry);

/// The kernel of a joined group: what it scatters into is the result's buffer, which it updates.
mlir::FailureOr<ConvertedGroup> convertElementsGroup(graph::ir::GroupOp group, llvm::StringRef name,
                                                     mlir::OpBuilder &builder, const Workgroups &machine);

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_LOOPKERNEL_H
