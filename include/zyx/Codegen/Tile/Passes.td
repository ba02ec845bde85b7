//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_PASSES_TD
#define ZYX_CODEGEN_TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

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

#endif // ZYX_CODEGEN_TILE_PASSES_TD
