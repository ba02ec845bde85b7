//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_TRANSFORMS_PASSES_TD
#define ZYX_DIALECT_KERNEL_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachTargetPass : Pass<"zyx-kernel-attach-target", "::mlir::ModuleOp"> {
  let summary = "Say what machine a module is for";
  let description = [{
    Sets `kernel.target` of the module to the record `target`, with `facts` in which the machine differs from it. Passes
    that ask for facts of the machine read them there. A target that the module has already is replaced.

    ```mlir
    module {}
    // becomes with target=sm_90a facts=simt.sharedBytes=65536
    module attributes {kernel.target = #kernel.target<"sm_90a", {simt.sharedBytes = 65536 : i64}>} {}
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "Name of the machine's record">,
    ListOption<"facts", "facts", "std::string", "Facts that the record says otherwise, as vector.bytes=16">];
  let dependentDialects = ["::zyx::kernel::KernelDialect"];
}

def VerifyFormPass : Pass<"zyx-kernel-verify-form"> {
  let summary = "Check that every kernel is in a form that is asked for";
  let description = [{
    Fails at the first kernel whose attribute `form` names none of these, and at the first op that does not belong to the
    form of its kernel, or whose types do not, as the verifier of `kernel.func` does:

    - `tiled`: views, grid, `scf.for` and `scf.if`; loads, stores and the tile ops; `arith` and `math`
      on tiles without a register layout, and on scalars.
    - `machine`: besides the structure, roles, barriers, asynchronous copies, matrix ops, and tiles
      that all have a layout.
    - `lowered`: no tiles at all: scalars and 1-D vectors; views of one block with no valid interval.

    With `expanded` kernels of the lowered form have of `math` only what every target has as an instruction or exactly
    (`fma`, `sqrt`, `absf`, `floor`, `ceil`, `trunc`, `roundeven`, `copysign`), and `exp2` with the flag `afn`, which asks for
    the machine's own: `-zyx-kernel-expand-math` makes that of the rest.
  }];
  let options = [ListOption<"form", "form", "std::string", "tiled, machine or lowered, or several of them">,
    Option<"expanded", "expanded", "bool", "false", "whether functions must have been replaced by arithmetic">];
}

def ExpandMathPass : Pass<"zyx-kernel-expand-math"> {
  let summary = "Replace transcendental functions by arithmetic";
  let description = [{
    Functions such as `math.exp`, those of one operand in `zyx/Dialect/Kernel/IR/Functions.inc`, beside them
    `math.powf` and `arith.remf`, on scalars, vectors and tiles, become `arith`, bit operations and `math.fma sqrt absf trunc roundeven copysign`: no machine
    has them all, and a call per element is many times slower. f32 and f64 are within 4 units in the
    last place, with NaN, infinities, signs of zeros and denormals as in C; `arith.remf` is exact; f16
    and bf16 are computed in f32 and rounded once. Sine, cosine and tangent reduce every argument
    exactly.

    The module's target says what instructions there are; without one there is an fma, rounding, and no more.
    Without an fma, a `math.fma` that is there already becomes a product and a sum: it is a term of a
    contraction, where both are right. In the functions above a step of a polynomial does too; where
    the last bit of the product matters, `fma` is computed with what the processor has: in f64 for f32,
    with the exact product as a pair of f64 for f64. Without rounding, `math.floor ceil trunc roundeven`
    become additions of 2^23 or 2^52. Where threads run in lockstep, exponentials of f32 are made of
    the machine's powers of two of what is between -1/2 and 1/2, which stay as `math.exp2` with the flag `afn`. The quotient
    of `math.tanh` is then 1 divided by a number from 2 on, with that flag.

    A quotient of f16 or bf16 by a constant becomes a product with its inverse in f32 where that is rounded to the same number for
    each of the dividends that there are, which is tried.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def JoinPartsPass : Pass<"zyx-kernel-join-parts", "::mlir::ModuleOp"> {
  let summary = "Make one kernel of kernels that a launch runs side by side";
  let description = [{
    Of a kernel with `parts` that are in the lowered form. Each workgroup runs a program of one part, by its number, or, of a
    part whose programs are threads, as many as it has threads. A workgroup has the most threads that a part asks for. Where
    a part asks for fewer, these meet at barriers of their own. What parts share within a workgroup is one memory. A part
    that nothing launches by itself is erased.

    ```mlir
    kernel.func @both(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
      form = #kernel.form<lowered>, parts = [@a, @b], part_arguments = [array<i64: 0>, array<i64: 1>]} {
    // becomes, where @a has 96 programs
    kernel.grid (%group) in [200] step [1] {
      %0 = arith.cmpi ult, %group, %c96 : index
      scf.if %0 {
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PackProgramsPass : Pass<"zyx-kernel-pack-programs", "::zyx::kernel::FuncOp"> {
  let summary = "Several programs of one subgroup are a workgroup";
  let description = [{
    A core begins few workgroups in a time, and has room for few of them: one subgroup each, as short rows have, leaves it
    half empty. Of kernels of the lowered form whose programs have one subgroup, eight neighbours along the grid are
    one workgroup, or two to seven, where these divide the number of programs. Each subgroup has a part of the shared memory of its own. Barriers stay those of the workgroup: kernels in
    which one is in a branch, or in a loop whose trips are not numbers, stay as they are. So do those whose cores would have unequal work.

    ```mlir
    kernel.grid (%i) in [73728] step [1] {
      %0 = kernel.id thread
    ```

    becomes, with `threads = 256` instead of 32,

    ```mlir
    kernel.grid (%group) in [73728] step [8] {
      %thread = kernel.id thread
      %place = arith.divui %thread, %c32 : index
      %0 = arith.remui %thread, %c32 : index
      %i = arith.addi %group, %place : index
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ScalarizePass : Pass<"zyx-kernel-scalarize", "::zyx::kernel::FuncOp"> {
  let summary = "Vectors are their lanes, and views are rows of elements";
  let description = [{
    For languages of scalars, or of vectors with few `lanes`. In a kernel of the lowered form each vector becomes as many
    values, also where loops and branches carry it, or as many vectors of equal length as it takes; each view, allocation and subview becomes one dimension with the stride 1, with the place of an
    element computed in front of its load or store; a gather is loads that are masked where an index is outside; and the
    grid counts programs, of which each computes its indices.
    Lanes that are not known, as those of `vector.extract` at an index, are refused.

    With `access-lanes` loads and stores of global and shared memory have vectors of up to so many lanes and 16 bytes, where
    no lane is masked, the elements lie together and their place is known to be a multiple of the access. Values are
    scalars all the same.

    ```mlir
    %v = kernel.load %x[%i, %j] : !kernel.view<64x32xf32, global> -> vector<2xf32>
    // becomes
    %0 = arith.muli %i, %c32 : index
    %1 = arith.addi %0, %j : index
    %v0 = kernel.load %flat[%1] : !kernel.view<2048xf32, global> -> f32
    %2 = arith.addi %1, %c1 : index
    %v1 = kernel.load %flat[%2] : !kernel.view<2048xf32, global> -> f32
    ```
  }];
  let options = [
    Option<"lanes", "lanes", "unsigned", "1", "Lanes that a vector may have: a power of two">,
    Option<"accessLanes", "access-lanes", "unsigned", "1", "Lanes that a load or a store of aligned elements may have">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
}

def NarrowIndicesPass : Pass<"zyx-kernel-narrow-indices", "::zyx::kernel::FuncOp"> {
  let summary = "Indices that fit are computed with in 32 bits";
  let description = [{
    For machines whose integers have 32 bits. The extents of grids and loops and the number of threads say how large
    indices can become: where operands and result of an op are from 0 below 2^31, the op has 32 bits, be it of an index or
    of a user's number. Addresses stay as wide as they are.

    ```mlir
    kernel.grid (%p) in [504] step [1] {
      %0 = arith.divui %p, %c21 : index
    // becomes
      %1 = arith.index_castui %p : index to i32
      %2 = arith.divui %1, %c21_i32 : i32
      %0 = arith.index_castui %2 : i32 to index
    ```

    With `only-narrow` an index has 32 bits in the end, with or without a sign: scalars of a kernel are taken for such, and
    an op whose result would differ because an operand is larger, or may be, gets the attribute `wide_index`: an emitter
    refuses it. What a loop carries is bounded by its trips, and gets a maximum and a minimum that tell so;
    comparisons, quotients and remainders of more than 32 bits become those of integers of 64 where the index is a sum of such.
  }];
  let options = [
    Option<"onlyNarrow", "only-narrow", "bool", "false", "whether all indices become numbers of 32 bits behind this pass">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def SpreadProgramsPass : Pass<"zyx-kernel-spread-programs"> {
  let summary = "Programs of few threads share workgroups";
  let description = [{
    A program whose threads are a subgroup, or a part of one, and share no memory needs no workgroup of its own. A core has room for few
    workgroups, and beginning one takes longer than a short row. The threads of a program become its last dimension, and
    the runtime chooses how many threads a workgroup has: a multiple of a subgroup's.

    Machines whose threads read registers of each other (`#kernel.target` of the module) are meant; on others nothing changes.

    Before, in a kernel of `threads = 8`:

    ```mlir
    kernel.grid (%i) in [65536] step [1] {
      %t = kernel.id thread
    ```

    After, in a kernel of one thread:

    ```mlir
    kernel.grid (%i, %t) in [65536, 8] step [1, 1] {
    ```
  }];
}

def DivideAlignedPass : Pass<"zyx-kernel-divide-aligned"> {
  let summary = "Neighbours share divisions";
  let description = [{
    The elements of a program are unrolled, and each divides its own index. Where the first one's index is a
    multiple of a number that divides the divisor, too, the others up to that number have the same quotient, and
    remainders that follow on. One division is left for all of them.

    Before, where `%i` runs in steps of 8:

    ```mlir
    %0 = arith.addi %i, %c3 : index
    %1 = arith.divui %0, %c112 : index
    %2 = arith.remui %0, %c112 : index
    ```

    After:

    ```mlir
    %1 = arith.divui %i, %c112 : index
    %0 = arith.remui %i, %c112 : index
    %2 = arith.addi %0, %c3 : index
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
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

#endif // ZYX_DIALECT_KERNEL_TRANSFORMS_PASSES_TD
