//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_TRANSFORMS_PASSES_TD
#define ZYX_DIALECT_GRAPH_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InlineCustomPass : Pass<"zyx-graph-inline-custom", "::mlir::func::FuncOp"> {
  let summary = "Put what custom ops mean in their place";
  let description = [{
    The body of a `graph.custom` takes the place of the op, in the bodies of loops as well. Where it has an
    implementation for one of `targets`, a `graph.external` by that takes the place instead: of several, by the one
    whose target is listed first. One that has implementations for others alone is named in a remark of the category
    `zyx-custom`. Ops of the names in `keep` stay.

    `zyx.recompute`, which hands on its first operands (docs/gradients.md, checkpoints), becomes a loop of one
    trip that does so: what is computed from its results is another value than what was computed from its
    operands, and comes behind all of them.

    ```mlir
    %y = graph.custom "double"(%p = %x : tensor<4xf32>) -> tensor<4xf32> {
      %0 = graph.binary add %p, %p : tensor<4xf32>
      graph.yield %0 : tensor<4xf32>
    }
    // becomes
    %y = graph.binary add %x, %x : tensor<4xf32>
    ```

    The whole test is test/Dialect/Graph/Transforms/inline-custom.mlir.
  }];
  let options = [ListOption<"keep", "keep", "std::string", "Names of ops that are left alone">,
                 ListOption<"targets", "targets", "std::string",
                            "What the machine is called in implementations, the closest name first">];
}

def CheckDevicesPass : Pass<"zyx-graph-check-devices", "::mlir::func::FuncOp"> {
  let summary = "Refuse a transfer to another device than the program's";
  let description = [{
    A program has one device, and its transfers are gone behind `-zyx-fusion-decompose-movement`: one that names
    another device would be dropped. `cuda` is `cuda:0`.

    ```mlir
    // with device=cpu: error: 'graph.transfer' op to 'cuda:1' in a program for 'cpu': a program has one device
    %y = graph.transfer %x to "cuda:1" : tensor<4xf32>
    ```

    The whole test is test/Dialect/Graph/Transforms/check-devices.mlir.
  }];
  let options = [Option<"device", "device", "std::string", "\"cpu\"", "The program's device, as cpu or cuda:1">];
}

def SpecialisePass : Pass<"zyx-graph-specialise", "::mlir::func::FuncOp"> {
  let summary = "Put numbers in the place of symbols";
  let description = [{
    Every type of the function gets numbers for the symbols in its extents. The verifier checks all
    ops again on these numbers, so a program that is legal for some values only is refused for the
    others. Symbols without a value are refused by name.

    ```mlir
    %y = graph.unary exp %x : tensor<?x8xf32, #graph.extents<"2*n", "8">>
    // becomes, with values=n=3
    %y = graph.unary exp %x : tensor<6x8xf32>
    ```

    The whole test is test/Dialect/Graph/Transforms/specialise.mlir.
  }];
  let options = [ListOption<"values", "values", "std::string", "Values of symbols, as n=4,m=8">];
}

#endif // ZYX_DIALECT_GRAPH_TRANSFORMS_PASSES_TD
