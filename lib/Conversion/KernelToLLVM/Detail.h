//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_KERNELTOLLVM_DETAIL_H
#define ZYX_LIB_CONVERSION_KERNELTOLLVM_DETAIL_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

/// The steps of the conversion, in the order in which the pass takes them. Each rewrites the
/// function in one walk; what they leave are ops for which upstream has patterns.
namespace zyx::kernel {

/// Makes `@k` and `@k.body` and moves the kernel's code into the second, with the grid as a loop.
/// Buffer arguments are pointers after it; views still name them, through a cast.
mlir::FailureOr<mlir::LLVM::LLVMFuncOp> lowerFunction(FuncOp func);

/// Replaces views, allocations, loads and stores by address arithmetic and memory accesses.
mlir::LogicalResult lowerMemory(mlir::LLVM::LLVMFuncOp body, int64_t privateBytes, bool amx);

/// Emits a product by the matrix unit, of what lies at three addresses; rows of the left factor begin `lhsStride`
/// elements apart.
void lowerMatrixMultiply(mlir::OpBuilder &builder, MatrixMultiplyOp op, int64_t lhsStride, mlir::Value sums,
                         mlir::Value lhs, mlir::Value rhs);
/// The same by the instructions of AVX-512 for groups of narrow factors.
void lowerVectorMultiply(mlir::OpBuilder &builder, MatrixMultiplyOp op, int64_t lhsStride, mlir::Value sums,
                         mlir::Value lhs, mlir::Value rhs);

/// Leaves f16, bf16 and f8 only as bits and, with `halfConversion`, f16 in LLVM's conversions.
mlir::LogicalResult lowerSmallFloats(mlir::LLVM::LLVMFuncOp body, bool halfConversion);

/// True for f16, bf16, f8E4M3FN and f8E5M2, and vectors of them.
bool isSmallFloat(mlir::Type type);

} // namespace zyx::kernel

#endif // ZYX_LIB_CONVERSION_KERNELTOLLVM_DETAIL_H
