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

def ExpandMathPass : Pass<"zyx-kernel-expand-math"> {
  let summary = "Replace transcendental functions by arithmetic";
  let description = [{
    `math.exp exp2 log log2 tanh erf rsqrt sin cos tan powf` and `arith.remf`, on scalars, vectors and
    tiles, become `arith`, bit operations and `math.fma sqrt absf trunc roundeven copysign`: no machine
    has them all, and a call per element is many times slower. f32 and f64 are within 4 units in the
    last place, with NaN, infinities, signs of zeros and denormals as in C; `arith.remf` is exact; f16
    and bf16 are computed in f32 and rounded once. Sine, cosine and tangent of f32 reduce every argument
    exactly; with `remf`, they are refused for f64.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // ZYX_DIALECT_KERNEL_TRANSFORMS_PASSES_TD
