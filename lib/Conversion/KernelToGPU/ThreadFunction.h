//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_KERNELTOGPU_THREADFUNCTION_H
#define ZYX_LIB_CONVERSION_KERNELTOGPU_THREADFUNCTION_H

#include "GPUInstructions.h"

#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::kernel {

/// `@k` as a kernel of a GPU: each of its threads, or of its workgroups where the kernel asks for threads, runs one
/// program after the other.
struct ThreadFunction {
  mlir::LLVM::LLVMFuncOp func;
  /// Where this thread's part of the scratch memory begins, and what its workgroup shares.
  mlir::Value scratch, shared;
  /// Several workgroups run a program, as a cluster.
  bool isCluster = false;
  /// Whether threads read of buffers what others of their workgroup wrote there.
  bool readsBack = false;
};
mlir::FailureOr<ThreadFunction> lowerThreadFunction(FuncOp func, const GPUInstructions &gpu,
                                                    const target::TargetInfo &machine);

} // namespace zyx::kernel

#endif // ZYX_LIB_CONVERSION_KERNELTOGPU_THREADFUNCTION_H
