//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_KERNELTOLLVM_DETAIL_H
#define ZYX_LIB_CONVERSION_KERNELTOLLVM_DETAIL_H

#include "zyx/Conversion/KernelToLLVM/Steps.h"

namespace zyx::kernel {

/// Emits a product by the matrix unit, of what lies at three addresses; rows of the left factor begin `lhsStride`
/// elements apart.
void lowerMatrixMultiply(mlir::OpBuilder &builder, MatrixMultiplyOp op, int64_t lhsStride, mlir::Value sums,
                         mlir::Value lhs, mlir::Value rhs);
/// The same by the instructions of AVX-512 for groups of narrow factors.
void lowerVectorMultiply(mlir::OpBuilder &builder, MatrixMultiplyOp op, int64_t lhsStride, mlir::Value sums,
                         mlir::Value lhs, mlir::Value rhs);

} // namespace zyx::kernel

#endif // ZYX_LIB_CONVERSION_KERNELTOLLVM_DETAIL_H
