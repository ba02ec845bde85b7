//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_GROUPKERNEL_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_GROUPKERNEL_H

#include "zyx/Conversion/GraphToKernel/GraphToKernel.h"

#include "zyx/Dialect/Graph/IR/GraphOps.h"

namespace zyx::lowering {

/// The arguments of a group's kernel.
struct GroupKernel {
  /// Of the group's inputs, and of its constants that are more than one repeated element.
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::SmallVector<mlir::Value> outputs, scratch;
};

/// Makes the kernel of a group, in which nothing is computed yet, with a buffer for each input, constant, result and
/// scratch of `result`, which gets the kernel and the constants. `builder` goes into it.
GroupKernel openKernel(graph::ir::GroupOp group, llvm::ArrayRef<graph::ir::ConstantOp> constants, llvm::StringRef name,
                       mlir::OpBuilder &builder, ConvertedGroup &result);

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_GROUPKERNEL_H
