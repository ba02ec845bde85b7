//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CONVERSION_KERNELTOGPU_PASSES_TD
#define ZYX_CONVERSION_KERNELTOGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertKernelToThreadsPass : Pass<"zyx-convert-kernel-to-threads", "::mlir::ModuleOp"> {
  let summary = "Kernels in the lowered form become kernels of a GPU, a program per thread or workgroup";
  let description = [{
    The module's target says what memory and instructions there are, without which nothing is lowered. A kernel of
    another form than the lowered one is refused.

    The way to GPUs that every kernel of the lowered form can go: in NVVM to NVIDIA's, in ROCDL to AMD's. Each `kernel.func @k` becomes a
    kernel `@k(buffers..., scalars..., scratch, programs)`: scalars are 64-bit integers, `programs` is the
    number of the grid's programs, of which thread t of n runs t, t + n, ...: any number of threads is right.
    Neighbours in the grid are neighbours in a warp, so a schedule makes accesses coalesce by its last axis.

    - A kernel with `threads` is run by workgroups of so many: group g of n runs the programs g, g + n, ...
      Shared allocations are together at most what the target has for a workgroup. With `cluster`, so many groups run a program, and as many
      times more groups are launched.
    - Buffers do not overlap and are aligned to 16 bytes; what LLVM sees to be only
      read is loaded past the coherent cache (`ld.global.nc`).
    - Private allocations that together are at most what the target has for a thread are in local memory. Else all are in `scratch`,
      where each thread has the sum of them, each rounded up to 64 bytes.
    - Where the target has fences of shared memory alone, barriers have them, unless the kernel reads a buffer that it
      writes. ROCDL has no clusters and no products by warps: kernels with them are refused.
    - Sums, products and maxima of small floats are instructions where the target has them.
    - The rest is as in `-zyx-convert-kernel-to-llvm`: small floats are bits, no fast-math flag is added.
  }];
  let options = [
    Option<"dialect", "dialect", "::zyx::kernel::GPUDialect", "::zyx::kernel::GPUDialect::NVVM",
    "the dialect of ids and barriers",
    [{::llvm::cl::values(clEnumValN(::zyx::kernel::GPUDialect::NVVM, "nvvm", "of NVIDIA's GPUs"),
                         clEnumValN(::zyx::kernel::GPUDialect::ROCDL, "rocdl", "of AMD's GPUs"))}]>];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::ROCDL::ROCDLDialect",
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::math::MathDialect"];
}

#endif // ZYX_CONVERSION_KERNELTOGPU_PASSES_TD
