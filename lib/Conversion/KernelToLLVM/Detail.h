//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_KERNELTOLLVM_DETAIL_H
#define ZYX_LIB_CONVERSION_KERNELTOLLVM_DETAIL_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

/// The steps of the conversion, in the order in which the pass takes them. Each rewrites the
/// function in one walk; what they leave are ops for which upstream has patterns.
namespace zyx::kernel {

/// Makes `@k` and `@k.body` and moves the kernel's code into the second, with the grid as a loop.
/// Buffer arguments are pointers after it; views still name them, through a cast.
mlir::FailureOr<mlir::LLVM::LLVMFuncOp> lowerFunction(FuncOp func);

/// The same for a GPU: `@k` is a kernel, each of whose threads, or of whose workgroups where the kernel asks
/// for threads, runs one program after the other.
struct ThreadFunction {
  mlir::LLVM::LLVMFuncOp func;
  /// Where this thread's part of the scratch memory begins, and what its workgroup shares.
  mlir::Value scratch, shared;
  /// Several workgroups run a program, as a cluster.
  bool isCluster = false;
};
mlir::FailureOr<ThreadFunction> lowerThreadFunction(FuncOp func);

/// What accesses to memory may rely on.
struct MemoryFacts {
  /// The most that a program allocates on its stack.
  int64_t privateBytes;
  /// Products of packed factors are for Intel's AMX.
  bool amx = false;
  /// Loads and stores may go past the caches; or, on a GPU, loads past the first one.
  bool streams = true, isGpu = false;
  /// Bytes to whose multiples buffers and scratch memory are aligned; 0 where it is their elements'.
  int64_t bufferAlignment = 0;
  /// Where allocations go instead of the stack, if anywhere.
  mlir::Value scratch = {};
  /// Where shared allocations go, if there is such memory.
  mlir::Value shared = {};
  /// The workgroup is one of several in a cluster.
  bool isCluster = false;
};

/// Replaces views, allocations, loads and stores by address arithmetic and memory accesses.
mlir::LogicalResult lowerMemory(mlir::LLVM::LLVMFuncOp body, const MemoryFacts &facts);

/// A vector of 16 bytes of global memory that no program writes, read past a GPU's first cache.
mlir::Value loadPastFirstCache(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                               mlir::VectorType type);

/// Emits a product by the matrix unit, of what lies at three addresses; rows of the left factor begin `lhsStride`
/// elements apart.
void lowerMatrixMultiply(mlir::OpBuilder &builder, MatrixMultiplyOp op, int64_t lhsStride, mlir::Value sums,
                         mlir::Value lhs, mlir::Value rhs);
/// The same by the instructions of AVX-512 for groups of narrow factors.
void lowerVectorMultiply(mlir::OpBuilder &builder, MatrixMultiplyOp op, int64_t lhsStride, mlir::Value sums,
                         mlir::Value lhs, mlir::Value rhs);

/// Formats that LLVM converts to: others are rounded by operations on bits.
struct SmallFloatConversions {
  bool half = true, bfloat = false;
  /// f16 from f64, too: elsewhere that is a function of a library.
  bool halfOfDouble = false;
  /// Instructions of a GPU add, subtract and multiply two f16, or two bf16; whether they know maxima and minima, too.
  bool halfPairs = false, bfloatPairs = false, maximum = false;
};
/// Leaves f16, bf16 and f8 only as bits, and in LLVM's conversions.
mlir::LogicalResult lowerSmallFloats(mlir::LLVM::LLVMFuncOp body, SmallFloatConversions has);

/// Rewrites of what these steps leave, to the LLVM dialect, with 64-bit indices. The result owns the type
/// converter that the patterns use.
std::shared_ptr<mlir::LLVMTypeConverter> addPatterns(mlir::RewritePatternSet &patterns);

/// True for f16, bf16, f8E4M3FN and f8E5M2, and vectors of them.
bool isSmallFloat(mlir::Type type);

} // namespace zyx::kernel

#endif // ZYX_LIB_CONVERSION_KERNELTOLLVM_DETAIL_H
