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
    refused. Functions that are not kernels stay.

    - `index` is `i32`. The sum of a size and a step must stay below 2^31.
    - A buffer that asynchronous copies move is a tensor map, one for each view, box and swizzle.
      Attribute `kernel.params` says, for each parameter of the function, `{argument = n}`, the scalar
      argument n of the kernel, or how to make the tensor map: `buffer` (an argument's number), `map` and
      `symbols` (the view's map and the numbers of the arguments that are its symbols), `box` (in the
      order of the view's dimensions), `swizzle` (in bytes) and `element`. A kernel whose threads read or write
      global memory themselves has an address for each of its buffers behind them: `{buffer}`.
    - `kernel.shared_bytes` is the dynamic shared memory of a launch, `nvvm.maxntid` its threads.
    - `kernel.grid` has, for each dimension of the kernel's grid, `{extent, step}` or
      `{argument, step}`; the last dimension is x. Without it the kernel walks its tiles itself and
      is launched with as many workgroups as run at once.
    - Roles are branches on the number of the thread. What one thread does for its role is
      behind a branch to the first one.
    - A tile is a struct of what one thread holds of it; two 16-bit elements share a register.
      Waiting for contractions passes the accumulators through inline assembly, because the
      intrinsic would let LLVM move their uses before the wait.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "record of the machine">,
    Option<"onlyMachine", "only-machine", "bool", "false", "leave kernels that have no roles to other passes">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // ZYX_CONVERSION_KERNELTONVVM_PASSES_TD
