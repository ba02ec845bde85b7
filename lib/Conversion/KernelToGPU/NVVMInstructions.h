//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_KERNELTOGPU_NVVMINSTRUCTIONS_H
#define ZYX_LIB_CONVERSION_KERNELTOGPU_NVVMINSTRUCTIONS_H

#include "GPUInstructions.h"

namespace zyx::kernel {

/// NVVM, for NVIDIA's GPUs.
class NVVMInstructions final : public GPUInstructions {
public:
  mlir::Value id(mlir::OpBuilder &builder, mlir::Location loc, IdKind kind) const override;
  void barrier(mlir::OpBuilder &builder, mlir::Location loc, Scope scope, BarrierMemory memory) const override;
  mlir::Value peer(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address, mlir::Value group) const override;
  llvm::SmallVector<mlir::Value> readMatrix(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                                            bool transposed) const override;
  mlir::Value loadPastFirstCache(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                                 mlir::VectorType type) const override;
  unsigned globalSpace() const override;
  PairIntrinsics pairs() const override {
    return {"llvm.nvvm.fma.rn.", "llvm.nvvm.fmax.nan.", "llvm.nvvm.fmin.nan.", "f16x2", "bf16x2"};
  }
  unsigned sharedSpace() const override;
  mlir::Value groupSize(mlir::OpBuilder &builder, mlir::Location loc) const override;
  mlir::Value numGroups(mlir::OpBuilder &builder, mlir::Location loc) const override;
  mlir::Value group(mlir::OpBuilder &builder, mlir::Location loc) const override;
  void markKernel(mlir::LLVM::LLVMFuncOp func, Launch launch) const override;
  void lowerArithmetic(mlir::LLVM::LLVMFuncOp func) const override;
};

} // namespace zyx::kernel

#endif // ZYX_LIB_CONVERSION_KERNELTOGPU_NVVMINSTRUCTIONS_H
