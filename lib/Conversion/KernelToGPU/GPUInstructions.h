//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_KERNELTOGPU_GPUINSTRUCTIONS_H
#define ZYX_LIB_CONVERSION_KERNELTOGPU_GPUINSTRUCTIONS_H

#include "zyx/Codegen/Scalar/Scalars.h"
#include "zyx/Conversion/KernelToLLVM/Steps.h"

namespace zyx::kernel {

/// All that the distribution over threads asks of a GPU's dialect. A second dialect is a second class.
class GPUInstructions : public ThreadInstructions {
public:
  /// Address spaces of LLVM's pointers.
  virtual unsigned globalSpace() const = 0;
  virtual unsigned sharedSpace() const = 0;
  virtual unsigned privateSpace() const { return 0; }
  virtual PairIntrinsics pairs() const { return {}; }
  /// Reports ops of a kernel that the dialect has nothing for.
  virtual mlir::LogicalResult check(FuncOp) const { return mlir::success(); }
  /// The number of threads of a workgroup, of workgroups of a launch, and of this workgroup among them, in 32 bits.
  virtual mlir::Value groupSize(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  virtual mlir::Value numGroups(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  virtual mlir::Value group(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  /// How a function is launched: threads of a workgroup, workgroups that a multiprocessor has at least, workgroups of a
  /// cluster.
  struct Launch {
    int32_t threads, minWorkgroups, cluster;
  };
  /// Makes a function a kernel.
  virtual void markKernel(mlir::LLVM::LLVMFuncOp func, Launch launch) const = 0;
  /// Replaces arithmetic that the machine has instructions for: its own powers of two, and products by warps. Comes
  /// behind the conversions of small floats, which have no bits in a register of two.
  virtual void lowerArithmetic(mlir::LLVM::LLVMFuncOp func) const = 0;
};

/// Those of NVIDIA's and of AMD's GPUs.
const GPUInstructions &nvvmInstructions();
const GPUInstructions &rocdlInstructions();

/// Replaces powers of two that need not be exact (`afn`) by calls of an intrinsic, one by one: a machine's own are
/// without denormals, which those of what is between -1/2 and 1/2 are not.
void lowerPowers(mlir::LLVM::LLVMFuncOp func, llvm::StringRef intrinsic);

} // namespace zyx::kernel

#endif // ZYX_LIB_CONVERSION_KERNELTOGPU_GPUINSTRUCTIONS_H
