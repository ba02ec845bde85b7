//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CONVERSION_GRAPHTOKERNEL_PASSES_TD
#define ZYX_CONVERSION_GRAPHTOKERNEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertGraphToKernelPass : Pass<"zyx-convert-graph-to-kernel", "::mlir::ModuleOp"> {
  let summary = "Make a kernel of every group, and a plan of every function";
  let description = [{
    Each `graph.group` becomes a `kernel.func` in the tiled form whose tiles are the whole iteration
    space, and each `func.func` a `plan.func` that launches them in order. An op outside of groups is
    a group of its own.

    - Dimensions that must be walked together are one axis. Views of a group's inputs become the maps
      of its loads, reshapes and permutes of its results those of its stores, and a tile has a
      dimension only where its elements differ: expands cost nothing until two tiles meet.
    - Axes that every tile has together, and that every view steps through in one stride, are
      collapsed: an element-wise kernel over dense tensors has one axis, a softmax two.
    - `reduce add` of a product whose factors each lack an axis of the other is a `kernel.dot`. Ops
      before the product are computed on the factors; casts of f16, bf16 and i8 to the accumulator
      are left to the dot.
    - Element-wise ops get their exact meaning (division by zero, shifts by the width, saturating
      casts) from `arith` and `math`. f16 and bf16 sums and products are accumulated in f32.

    ```mlir
    %y = graph.group(%a = %x : tensor<2x512xf32>) -> tensor<2x512xf32> {
      %0 = graph.unary neg %a : tensor<2x512xf32>
      graph.yield %0 : tensor<2x512xf32>
    }
    // becomes
    kernel.func @main_0(%arg0: !kernel.buffer<f32, global>, %arg1: !kernel.buffer<f32, global>) {
      %c0 = arith.constant 0 : index
      %0 = kernel.view %arg0 map #kernel.map<[#kernel.block<[1024] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1024xf32, global>
      %1 = kernel.load %0[%c0] axes ["i0"] in_bounds array<i1: true> : !kernel.view<1024xf32, global> -> tensor<1024xf32>
      %2 = arith.negf %1 : tensor<1024xf32>
      %3 = kernel.view %arg1 map #kernel.map<[#kernel.block<[1024] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1024xf32, global>
      kernel.store %2, %3[%c0] in_bounds array<i1: true> : tensor<1024xf32>, !kernel.view<1024xf32, global>
      kernel.return
    }
    ```

    A scan, sort or scatter is alone in its group. Its kernel is in the lowered form at once: a grid of
    rows, each walked by one program element by element, which a remark of the category `zyx-scalar`
    says. A sort has a further buffer of indices to merge in; one of which only the first elements are read keeps few
    candidates instead. Where the module's target has vectors, rows of a scan that are neighbours in memory are walked in them, and where
    the first elements of a sort are looked for, elements are compared in them. Where its threads share memory, long rows,
    and those of few, are walked by workgroups. Without a target, or without `optimise`, a program is one thread without
    vectors.

    Parameters become inputs of the plan under their names. A `graph.loop` becomes a `plan.loop` of what
    its body becomes, with buffers for what it carries.
  }];
  let options = [Option<"optimise", "optimise", "bool", "true", "Whether kernels use what the module's target has">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::zyx::kernel::KernelDialect", "::zyx::plan::PlanDialect"];
}

def SplitGroupsPass : Pass<"zyx-split-groups", "::mlir::func::FuncOp"> {
  let summary = "Make two kernels of a group that is none";
  let description = [{
    A group whose views of what it computes meet along different axes, or that gathers from what it
    computes, may be no single iteration space. One of the values that are viewed, or else reduced, is
    then stored by a group of its own, with a remark of the category `zyx-fusion`, and both parts are
    looked at again.

    ```mlir
    %y = graph.group(%a = %x : tensor<4xf32>, %b = %i : tensor<2xi64>) -> tensor<2xf32> {
      %0 = graph.unary exp %a : tensor<4xf32>
      %1 = graph.gather %0[%b] dim = 0 : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
      graph.yield %1 : tensor<2xf32>
    }
    // becomes
    %0 = graph.group(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
      %2 = graph.unary exp %a : tensor<4xf32>
      graph.yield %2 : tensor<4xf32>
    }
    %1 = graph.group(%a = %0 : tensor<4xf32>, %b = %i : tensor<2xi64>) -> tensor<2xf32> {
      %2 = graph.gather %a[%b] dim = 0 : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
      graph.yield %2 : tensor<2xf32>
    }
    ```
  }];
  let dependentDialects = ["::zyx::kernel::KernelDialect"];
}

#endif // ZYX_CONVERSION_GRAPHTOKERNEL_PASSES_TD
