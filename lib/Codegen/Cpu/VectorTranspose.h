//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_CPU_VECTORTRANSPOSE_H
#define ZYX_CODEGEN_CPU_VECTORTRANSPOSE_H

#include "mlir/IR/Builders.h"

namespace zyx::kernel {

/// Transposes a square of as many 1-D vectors as each has lanes, a power of two, in registers: lane j of
/// result i is lane i of vector j. Each of the log2(lanes) rounds is one shuffle of two vectors per result.
void transposeVectors(mlir::OpBuilder &builder, mlir::Location loc, llvm::SmallVectorImpl<mlir::Value> &vectors);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_CPU_VECTORTRANSPOSE_H
