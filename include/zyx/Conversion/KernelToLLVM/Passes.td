//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CONVERSION_KERNELTOLLVM_PASSES_TD
#define ZYX_CONVERSION_KERNELTOLLVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertKernelToLLVMPass : Pass<"zyx-convert-kernel-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Kernels in the lowered form become functions of the LLVM dialect, for CPUs";
  let description = [{
    Each `kernel.func @k` becomes two functions. `@k(args, begin, end)` is what the runtime calls: `args`
    points at a pointer to the buffers' addresses and a pointer to the 64-bit scalars, and the programs of
    the grid with linear (row-major) numbers from `begin` below `end` are run. It unpacks the arguments for
    `@k.body`, whose pointers are `noalias`: LLVM knows no other way to say that buffers do not overlap.

    - A view is gone: its offset and strides become address arithmetic in 64 bits. A vector whose innermost
      stride is not 1 is gathered and scattered.
    - `i1` in memory is a byte. `f16`, `bf16`, `f8E4M3FN` and `f8E5M2` are their bits; arithmetic on `f16` and
      `bf16` is done in `f32` and rounded after every op, and `f64` is rounded once on its way to them.
    - Private allocations are on the stack, 64-byte aligned, at most as many bytes a kernel as the module's target has of them. The artifact
      says how much each kernel takes, and a thread without that room does not run it.
    - No fast-math flag is added. A `vector.reduction` keeps the ones that it carries.

    The module's target says how much the stack has room for, whether the processor converts between f16 and f32, and
    whether products of packed factors are for Intel's AMX, or vectors of AVX-512 multiply them. Without one the stack has
    room for 512 KiB, and there are both.

    Tiles, shared memory and threads have no meaning here and are refused.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
    "::mlir::math::MathDialect"];
}

#endif // ZYX_CONVERSION_KERNELTOLLVM_PASSES_TD
