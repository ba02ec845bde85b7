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
    - Private allocations are on the stack, 64-byte aligned, at most `private-bytes` a kernel. The artifact
      says how much each kernel takes, and a thread without that room does not run it.
    - No fast-math flag is added. A `vector.reduction` keeps the ones that it carries.

    Tiles, shared memory and threads have no meaning here and are refused.
  }];
  let options = [Option<"privateBytes", "private-bytes", "int64_t", "512 << 10",
    "the most that a kernel may allocate on the stack">,
    Option<"halfConversion", "half-conversion", "bool", "true",
    "whether the processor converts between f16 and f32; else integer arithmetic does">,
    Option<"amx", "amx", "bool", "true",
    "whether products of packed factors are for Intel's AMX; else vectors of AVX-512 multiply them">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
    "::mlir::math::MathDialect"];
}

def ConvertKernelToThreadsPass : Pass<"zyx-convert-kernel-to-threads", "::mlir::ModuleOp"> {
  let summary = "Kernels in the lowered form become kernels of NVVM, a program per thread or workgroup";
  let description = [{
    The way to NVIDIA's GPUs that every kernel of the lowered form can go. Each `kernel.func @k` becomes a
    kernel `@k(buffers..., scalars..., scratch, programs)`: scalars are 64-bit integers, `programs` is the
    number of the grid's programs, of which thread t of n runs t, t + n, ...: any number of threads is right.
    Neighbours in the grid are neighbours in a warp, so a schedule makes accesses coalesce by its last axis.

    - A kernel with `threads` is run by workgroups of so many: group g of n runs the programs g, g + n, ...
      Shared allocations are together at most `shared-bytes`. With `cluster`, so many groups run a program, and as many
      times more groups are launched.
    - Buffers do not overlap and are aligned to 16 bytes; what LLVM sees to be only
      read is loaded past the coherent cache (`ld.global.nc`).
    - Private allocations of at most `private-bytes` together are in local memory. Else all are in `scratch`,
      where each thread has the sum of them, each rounded up to 64 bytes.
    - The rest is as in `-zyx-convert-kernel-to-llvm`: small floats are bits, no fast-math flag is added.
  }];
  let options = [Option<"privateBytes", "private-bytes", "int64_t", "1024",
    "the most that a thread has in local memory">,
    Option<"sharedBytes", "shared-bytes", "int64_t", "49152",
    "the most that a workgroup has in shared memory">,
    Option<"packedHalf", "packed-half", "bool", "false", "whether sums and products of f16 are instructions">,
    Option<"packedBfloat", "packed-bfloat", "bool", "false", "whether sums and products of bf16 are instructions">,
    Option<"maximum", "maximum", "bool", "false", "whether maxima and minima of both are, with NaN where either is">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::math::MathDialect"];
}

#endif // ZYX_CONVERSION_KERNELTOLLVM_PASSES_TD
