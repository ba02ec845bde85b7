//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CONVERSION_KERNELTONVVM_PASSES_TD
#define ZYX_CONVERSION_KERNELTONVVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertKernelToNVVMPass : Pass<"zyx-convert-kernel-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Lower kernels of the machine form to the LLVM and NVVM dialects";
  let description = [{
    Each `kernel.func` becomes an `llvm.func` with `nvvm.kernel`. Every op becomes its one instruction
    or its few: nothing is chosen here, so a kernel that asks for what there is no instruction for is
    refused; what there is the module's target says, without which nothing is lowered. Functions that are not kernels stay,
    and so do kernels of other forms, which are for other passes.

    - `index` is `i32`. The sum of a size and a step must stay below 2^31.
    - `kernel::launchInfoOf` says how the kernel is launched: parameters, grid, threads, cluster and shared memory. The
      function's parameters are in its order: a tensor map for each view, box and swizzle that asynchronous copies
      move; then the addresses of all buffers, if threads read or write global memory themselves; and scalars.
      `zyx-translate --kernel-to-launch-info` prints it.
    - The last dimension of the grid is x. A kernel without a grid walks its tiles itself and is launched with as many
      workgroups as run at once.
    - Roles are branches on the number of the thread. What one thread does for its role is
      behind a branch to the first one.
    - A tile is a struct of what one thread holds of it; two 16-bit elements share a register.
      Waiting for contractions passes the accumulators through inline assembly, because the
      intrinsic would let LLVM move their uses before the wait.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // ZYX_CONVERSION_KERNELTONVVM_PASSES_TD
