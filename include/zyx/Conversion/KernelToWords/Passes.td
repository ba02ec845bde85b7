//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CONVERSION_KERNELTOWORDS_PASSES_TD
#define ZYX_CONVERSION_KERNELTOWORDS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertKernelToWordsPass : Pass<"zyx-convert-kernel-to-words", "::zyx::kernel::FuncOp"> {
  let summary = "Scalars of 8 and 16 bits are computed with in words of 32 bits";
  let description = [{
    For machines that compute with f32 and with integers of 32 bits. A kernel is in the lowered form, and scalar.

    - `f16`, `bf16`, `f8E4M3FN` and `f8E5M2` are their bits, in buffers and views, too. Arithmetic on them is done in f32
      and rounded once after every op. No step has a denormal of f32, which a device may take for 0.
    - What machines and drivers compute otherwise becomes ops on which all agree, as for SPIR-V: comparisons, maxima and
      roots of f32 by its bits, and shifts, remainders and conversions that a language leaves open.
    - Arithmetic on `i8` and `i16` is done in `i32`. What is left of them are constants, loads and stores, `arith.select`,
      what control flow carries, and `arith.extui`, `arith.extsi` to i32 and `arith.trunci` from it.
    - Conversions between `i64` and fewer than 32 bits, and between `i64` and `index`, go by way of `i32`. So
      `-zyx-kernel-narrow-indices` comes before, with `only-narrow`.

    ```mlir
    %2 = arith.divsi %0, %1 : i8
    // becomes
    %3 = arith.extsi %0 : i8 to i32
    %4 = arith.extsi %1 : i8 to i32
    %5 = arith.divsi %3, %4 : i32
    %2 = arith.trunci %5 : i32 to i8
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // ZYX_CONVERSION_KERNELTOWORDS_PASSES_TD
