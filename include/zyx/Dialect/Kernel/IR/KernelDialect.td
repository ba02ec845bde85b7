//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_KERNELDIALECT_TD
#define ZYX_DIALECT_KERNEL_IR_KERNELDIALECT_TD

include "mlir/IR/OpBase.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::zyx::kernel";
  let summary = "One kernel, for every machine";
  let description = [{
    A `kernel.func` is one launch. It is written in one of three forms, which its attribute `form` names and its
    verifier checks; lowering goes from the first to one of the other two, and every emitter consumes those.

    - **tiled**: values are tiles, of builtin type `tensor<8x32xf32>`, and `arith` and `math` apply
      to them as they are. Loads and stores name a view and the index of the tile's first element.
      A fused chain is straight-line code. Right after conversion from `graph` the only tile is the
      whole iteration space; a schedule splits it.
    - **machine**: where the target has asynchronous copies or matrix units. Tiles carry layouts
      (`#kernel.frag`, `#kernel.slice`), shared memory is explicit, roles of warps run side by side
      and meet at barriers. Each op is one or a few instructions.
    - **lowered**: `scf`, scalars and native 1-D vectors, private and shared allocations, workgroup
      barriers. Emitters walk it once and optimise nothing.

    A kernel of tiles reads no buffer that it writes, and writes no element twice: tiles are read where
    they are used, and programs of the grid run in any order.

    Tiles are pure values: only `load`, `gather`, `store`, asynchronous copies and barriers touch
    memory. Distinct buffer arguments never alias. Element types are signless; ops name the sign
    where it matters. `i1` buffers hold one byte per element, 0 or 1.

    `kernel.nonpositive` on a `math.exp` says that its operand is at most 0 or NaN, which makes the
    exponential shorter: it does not overflow. `math.exp` is not an op of this dialect, so the attribute is a
    discardable one: without it the exponential is longer, and right.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Registers what KernelAttrs.cpp defines.
    void registerAttributesAndTypes();
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let hasOperationAttrVerify = 1;
}

#endif // ZYX_DIALECT_KERNEL_IR_KERNELDIALECT_TD
