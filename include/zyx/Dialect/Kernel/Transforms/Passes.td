//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_TRANSFORMS_PASSES_TD
#define ZYX_DIALECT_KERNEL_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyFormPass : Pass<"zyx-kernel-verify-form"> {
  let summary = "Check that every kernel is in one of the three forms";
  let description = [{
    Fails at the first op that does not belong to the form, or whose types do not.

    - `tiled`: views, grid, `scf.for` and `scf.if`; loads, stores and the tile ops; `arith` and `math`
      on tiles without a register layout, and on scalars.
    - `machine`: besides the structure, roles, barriers, asynchronous copies, matrix ops, and tiles
      that all have a layout.
    - `lowered`: no tiles at all: scalars and 1-D vectors; views of one block with no valid interval;
      of `math` only what every target has as an instruction or exactly (`fma`, `sqrt`, `absf`, `floor`,
      `ceil`, `trunc`, `roundeven`, `copysign`), and `exp2` with the flag `afn`, which asks for the machine's own.
  }];
  let options = [Option<"form", "form", "std::string", "\"tiled\"", "tiled, machine or lowered">];
}

def ExpandMathPass : Pass<"zyx-kernel-expand-math"> {
  let summary = "Replace transcendental functions by arithmetic";
  let description = [{
    `math.exp exp2 log log2 tanh erf rsqrt sin cos tan powf` and `arith.remf`, on scalars, vectors and
    tiles, become `arith`, bit operations and `math.fma sqrt absf trunc roundeven copysign`: no machine
    has them all, and a call per element is many times slower. f32 and f64 are within 4 units in the
    last place, with NaN, infinities, signs of zeros and denormals as in C; `arith.remf` is exact; f16
    and bf16 are computed in f32 and rounded once. Sine, cosine and tangent reduce every argument
    exactly.

    Without `fma`, a `math.fma` that is there already becomes a product and a sum: it is a term of a
    contraction, where both are right. In the functions above a step of a polynomial does too; where
    the last bit of the product matters, `fma` is computed with what the processor has: in f64 for f32,
    with the exact product as a pair of f64 for f64. Without `rounding`, `math.floor ceil trunc roundeven`
    become additions of 2^23 or 2^52. With `powers`, exponentials of f32 are made of the machine's powers of two of
    what is between -1/2 and 1/2, which stay as `math.exp2` with the flag `afn`.
  }];
  let options = [
    Option<"fma", "fma", "bool", "true", "Whether the machine has an instruction for fma">,
    Option<"rounding", "rounding", "bool", "true", "Whether the machine has instructions that round to whole numbers">,
    Option<"powers", "powers", "bool", "false",
           "Whether the machine has an instruction for powers of two of f32, good to 2 units in the last place">,
    Option<"maximum", "maximum", "bool", "false",
           "Whether the machine has instructions for the maximum and minimum of floats, with NaN where either is">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ApplySchedulePass : Pass<"zyx-kernel-apply-schedule"> {
  let summary = "Split the whole tiles of each kernel as its schedule says";
  let description = [{
    Applies the steps of `schedule` in order and removes the attribute. A step is refused, with a
    reason, where it would change the meaning: an axis that is combined cannot be given to the grid, a
    step that names no axis does nothing silently, and so on.

    With the schedule `[grid_step<"i", 4>]`, a kernel that loads, negates and stores one tile of
    `tensor<10x64xf32>` becomes a grid over ten rows in steps of four of the same three ops on
    `tensor<4x64xf32>`, whose loads and stores begin at the program's row. Ten is no multiple of four, so
    they are no longer `in_bounds` along rows, and the last program's surplus is dropped by the store.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def MergeIdenticalPass : Pass<"zyx-kernel-merge-identical", "::mlir::ModuleOp"> {
  let summary = "One kernel for all that compute the same";
  let description = [{
    Of kernels that differ in their names and places only, the first stays, and what named another one
    names it. A network of equal layers is compiled as one of them is.

    Before:

    ```mlir
    %0 = plan.launch @first ins(%x : !plan.buffer<f32[4]>) outs(%y : !plan.buffer<f32[4]>)
    %1 = plan.launch @second ins(%y : !plan.buffer<f32[4]>) outs(%z : !plan.buffer<f32[4]>)
    ```

    After, where both negate four elements:

    ```mlir
    %0 = plan.launch @first ins(%x : !plan.buffer<f32[4]>) outs(%y : !plan.buffer<f32[4]>)
    %1 = plan.launch @first ins(%y : !plan.buffer<f32[4]>) outs(%z : !plan.buffer<f32[4]>)
    ```
  }];
}

def StageReusedPass : Pass<"zyx-kernel-stage-reused"> {
  let summary = "Keep tiles that are dear to compute and used again after a reduction";
  let description = [{
    A tile that is used both by a reduction and after it would be computed twice, since the loops of
    the one end before those of the other begin. Where its computation contains a function that
    becomes a polynomial, or reads memory with a stride, and it fits, it is converted to private
    memory: the exponentials of a softmax are computed once.

    Rows that several threads walk more than once, and that are too long for their registers, are read into
    the memory that they share where there is room.
  }];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", "262144", "Largest sum of staged tiles of one kernel">,
    Option<"sharedBytes", "shared-bytes", "int64_t", "32768",
           "The same where several threads compute a program and share its memory">,
    Option<"rowBytes", "row-bytes", "int64_t", "0", "Largest sum of rows that are kept in shared memory as they were read">];
}

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
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def LowerTilesPass : Pass<"zyx-kernel-lower-tiles"> {
  let summary = "Tiled form to lowered form: loops over native vectors";
  let description = [{
    Walks the roots of each block (stores, reductions, scans, dots, staged tiles) and gives each a nest of loops over
    its axes; everything between is evaluated where it is needed, so a chain never touches memory.
    Roots over the same axes that do not wait for each other share a nest. The axis along which most
    accesses are contiguous is walked in native vectors, the rest of it under a mask. A reduction along
    that axis keeps four vectors of partial results; one along another axis walks blocks of four rows and keeps its
    results in memory where they are more than a few vectors. A dot keeps a block of its result in registers.
    Where there is an fma, a sum of products uses it, and a vector divided by one number is multiplied by the
    reciprocal and corrected, which gives the same quotients. Where there is no instruction for the maximum of floats,
    a reduction with it compares their bits as integers. A kernel whose threads would share more memory than there is
    is lowered for programs of one thread.
  }];
  let options = [
    Option<"vectorBytes", "vector-bytes", "int64_t", "64", "Bytes of a native vector; 0 makes scalar code">,
    Option<"vectorRegisters", "vector-registers", "int64_t", "32", "Native vector registers">,
    Option<"bf16Dots", "bf16-dots", "bool", "false", "Whether the machine sums up products of bf16 in f32">,
    Option<"i8Dots", "i8-dots", "bool", "false", "Whether it sums up products of 8-bit integers in i32">,
    Option<"hasFma", "fma", "bool", "true", "Whether one instruction computes a * b + c with one rounding">,
    Option<"hasMaximum", "maximum", "bool", "true",
           "Whether one instruction computes the maximum of floats, with NaN where either is">,
    Option<"sharedBytes", "shared-bytes", "int64_t", "232448", "Shared memory of a workgroup">,
    Option<"isGpu", "gpu", "bool", "false",
           "Whether vectors are registers of a thread, of as many elements as it reads or writes at once">,
    Option<"warpDots", "warp-dots", "bool", "false", "Whether a warp multiplies 16 x 16 by 16 x 8 bf16 or f16 at once">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::math::MathDialect"];
}

#endif // ZYX_DIALECT_KERNEL_TRANSFORMS_PASSES_TD
