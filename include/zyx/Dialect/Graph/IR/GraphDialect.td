//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_IR_GRAPHDIALECT_TD
#define ZYX_DIALECT_GRAPH_IR_GRAPHDIALECT_TD

include "mlir/IR/OpBase.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::zyx::graph::ir";
  let summary = "Tensors and their meaning";
  let description = [{
    A tensor program as pure ops on `tensor<...>`: no device, no layout, no order of execution. It
    is the plain graph of `zyx/Graph/Graph.h` as MLIR, op for op; import and export lose nothing.
    There are few ops on purpose: a matrix product, a softmax or a convolution is a composition.

    An entry is a `func.func` whose arguments and results are tensors. Their names, by which a
    caller binds them, are the attribute `graph.name`; where it is absent they are `arg0`, `arg1`,
    ... and `result0`, `result1`, ...:

    ```mlir
    func.func @scale(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
      %two = graph.constant dense<2.0> : tensor<4xf32>
      %y = graph.binary mul %x, %two : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```

    Arguments with the attribute `graph.weight`, the last ones, are weights: they keep their values
    from run to run, so what depends on them alone may be computed once. A parameter that is bound by
    its name is one.

    **Types.** Ranked tensors. Extents are numbers, or expressions of symbols in the encoding
    `#graph.extents`; a `?` without that names nothing and is refused. A program with symbols is
    specialised, by numbers in their place, before it is interpreted or compiled
    (`-zyx-graph-specialise`; a session does it when a program is called). Element types: `i1` (bool, one
    byte 0 or 1 in memory), `i8` to `i64` (signed), `ui8` to `ui64` (unsigned), `f16`, `bf16`,
    `f32`, `f64`, and `f8E4M3FN`, `f8E5M2`, which are stored, gathered, moved and cast, but not
    computed with. Extents may be 0 and the rank may be 0.

    **Rounding.** f16 and bf16 results are rounded to nearest even after each op. Nothing is
    contracted into fma and nothing is reassociated, with one licence: inside a floating-point add
    reduction the order of summation and fma are free, and |y - y64| <= c * n * u * sum |terms|.
    `+ - * /` and `sqrt` are correctly rounded where the machine's record says nothing else;
    transcendentals are within 4 ULP in f32 where it says nothing else.

    **Contractions.** A matrix product is `reduce add (binary mul (cast a), (cast b))`, with both
    casts to the accumulator type before the multiplication: f32 for f16, bf16 and f8, i32 for 8-bit
    integers, f64 for f64; f32 operands need no cast. A multiplication in bf16 followed by a
    reduction rounds each product and is not a contraction.
  }];
  let extraClassDeclaration = "void registerAttributes();";
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let hasOperationAttrVerify = 1;
}

#endif // ZYX_DIALECT_GRAPH_IR_GRAPHDIALECT_TD
