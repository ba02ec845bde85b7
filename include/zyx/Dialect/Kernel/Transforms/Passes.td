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
      `ceil`, `trunc`, `roundeven`, `copysign`).
  }];
  let options = [Option<"form", "form", "std::string", "\"tiled\"", "tiled, machine or lowered">];
}

#endif // ZYX_DIALECT_KERNEL_TRANSFORMS_PASSES_TD
