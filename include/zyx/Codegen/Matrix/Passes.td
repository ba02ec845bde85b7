//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_MATRIX_PASSES_TD
#define ZYX_CODEGEN_MATRIX_PASSES_TD

include "mlir/Pass/PassBase.td"

def MapTensorCoresPass : Pass<"zyx-kernel-map-tensor-cores"> {
  let summary = "Tiled form to machine form, where the schedule says so: a product or an attention by tensor cores";
  let description = [{
    A kernel whose schedule is one `tensor_step` becomes a persistent one in the machine form. One thread has the
    copy engine bring slices of both factors into a ring in shared memory; one or two groups of four warps multiply
    them and keep the sums in registers. What the kernel does to the sums is done there, in pieces of 64 columns; 16-bit
    results leave through shared memory by the copy engine where their rows lie on multiples of 16 bytes, others
    are written by the threads. Types of 16 bits are computed in f32 and rounded after each op.

    With `warps` in its step, a product becomes one for a card before Hopper: warps that multiply by mma.sync, and all of
    whose threads copy.

    Of an attention the keys are walked in blocks, with the softmax of one block in registers while the product with the
    next one runs.

    Before:

    ```mlir
    kernel.func @gemm(...) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<128, 256, 64, stages 4, group 8>]>} {
      %sums = kernel.dot %a, %b, %zero : tensor<4096x4096xbf16>, tensor<4096x4096xbf16> -> tensor<4096x4096xf32>
    ```

    After:

    ```mlir
    kernel.func @gemm(...) attributes {programs = 512 : i64, threads = 384 : i64} {
      kernel.roles {
        kernel.role "producer" count 1 threads 128 registers 40 single { ... kernel.async_load ... }
        kernel.role "consumer" count 2 threads 128 registers 232 { ... kernel.mma_async ... kernel.async_store ... }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

#endif // ZYX_CODEGEN_MATRIX_PASSES_TD
