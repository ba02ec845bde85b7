//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_LOOPS_PASSES_TD
#define ZYX_CODEGEN_LOOPS_PASSES_TD

include "mlir/Pass/PassBase.td"

def StageReusedPass : Pass<"zyx-kernel-stage-reused"> {
  let summary = "Keep tiles that are dear to compute and used again after a reduction";
  let description = [{
    A tile that is used both by a reduction and after it would be computed twice, since the loops of
    the one end before those of the other begin. Where its computation contains a function that
    becomes a polynomial, or reads memory with a stride, and it fits, it is converted to memory
    of the program: the exponentials of a softmax are computed once. That is private memory where a program is one thread,
    and shared memory where threads compute it together.

    Rows that several threads walk more than once, and that are too long for their registers, are read into
    the memory that they share where there is room. Elements that are side by side where a row is read are so there, too. What has no room there beside all else that the threads share stays
    as it was, rows first.

    The module's target says how much is staged: what a program has as private memory, and a half of what two workgroups
    share. Without one 256 KiB are staged, and no rows.
  }];
}

def SettleMemoryPass : Pass<"zyx-kernel-settle-memory"> {
  let summary = "Where the tiles of a program lie, before it is lowered, and whether its threads have room for them";
  let description = [{
    What loops carry gets memory of its own, but for dots that add to what a loop carries.

    How many bytes the threads of a program share follows from its schedule and its staged tiles. Where that is more than
    there is, or where a dot is not one that threads multiply together, the program becomes one thread, whose tiles are
    private. Where workgroups of a cluster would have to read each other's tiles, the program becomes one workgroup's. A
    remark says so. Neither happens to a schedule that -zyx-schedule-choose has chosen, which asks before.
    -zyx-kernel-lower-tiles refuses such programs: no kernel is lowered twice.

    Without a target threads share as much as they like.
  }];
}

def LowerTilesPass : Pass<"zyx-kernel-lower-tiles"> {
  let summary = "Tiled form to lowered form: loops over native vectors";
  let description = [{
    Walks the roots of each block (stores, reductions, dots, staged tiles) and gives each a nest of loops over
    its axes; everything between is evaluated where it is needed, so a chain never touches memory.
    Roots over the same axes that do not wait for each other share a nest. The axis along which most
    accesses are contiguous is walked in native vectors, the rest of it under a mask. A reduction along
    that axis keeps four vectors of partial results; one along another axis walks blocks of four rows and keeps its
    results in memory where they are more than a few vectors. A dot keeps a block of its result in registers.
    The module's target says what vectors, instructions and memory there are; without one vectors have 64 bytes, and there
    are an fma and maxima. Where there is an fma, a sum of products uses it, and a vector divided by one number is multiplied by the
    reciprocal and corrected, which gives the same quotients. Where there is no instruction for the maximum of floats,
    a reduction with it compares their bits as integers.

    What -zyx-kernel-settle-memory sees to is refused where it is not so: threads that share more memory than there is,
    dots that they do not multiply together, tiles of a cluster, and tiles that loops carry outside of memory.

    A staged tile lies where its layout says, which is refused where the kernel's threads cannot obey. Kernels of the
    machine and of the lowered form stay.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::math::MathDialect"];
}

#endif // ZYX_CODEGEN_LOOPS_PASSES_TD
