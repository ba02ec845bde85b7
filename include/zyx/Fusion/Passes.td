//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_FUSION_PASSES_TD
#define ZYX_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def NormalizeViewsPass : Pass<"zyx-fusion-normalize-views", "::mlir::func::FuncOp"> {
  let summary = "Move views to where they cost nothing";
  let description = [{
    - A reshape that splits or merges dimensions of an element-wise result moves up to the inputs of
      the element-wise ops, if they are few and end in inputs and constants: there it is folded into
      the loads.
    - An expand below an element-wise op moves behind it, so that the op computes each element once.
      The factors of a matrix product come out as expands of what is computed. So does an expand below
      a pad, window or flip of other dimensions.
    - Other reshapes of computed values move down, behind element-wise ops whose other operands are
      made of inputs: these ops can share the kernel of that value then.
    - A reduction of a reduction of the same kind becomes one, unless the inner one rounds to 16 bits.
    - A reduction that reads each of many numbers once, which are unpacked from fewer bytes in dimensions of their own and
      seen through a reshape, gets these dimensions (test/Fusion/fuse-unpacking.mlir).
    - A view of a splat becomes a splat, a reshape of a reshape one reshape, and a view that changes
      nothing disappears.

    ```mlir
    %0 = graph.cast %x : tensor<4x6xui8> -> tensor<4x6xf32>
    %1 = graph.reshape %0 : tensor<4x6xf32> -> tensor<24xf32>
    // becomes
    %0 = graph.reshape %x : tensor<4x6xui8> -> tensor<24xui8>
    %1 = graph.cast %0 : tensor<24xui8> -> tensor<24xf32>
    ```

    No value changes. The whole test is test/Fusion/normalize-views.mlir.
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def DecomposeMovementPass : Pass<"zyx-fusion-decompose-movement", "::mlir::func::FuncOp"> {
  let summary = "Write concats, pads and transfers with what a load can do";
  let description = [{
    Afterwards a pad is a view: it puts nothing between elements, its fill is a constant, the same as
    that of the pads below it, and its elements lie in memory. A load of it reads memory or the fill.

    - A pad between elements is one of a new dimension of extent 1 behind each element.
    - A pad with another fill, one that is computed or one beside a constant, is a select by the
      place: of the pad with zeros, and the fill.
    - A concat is the same: selects, by the place, of the parts padded to its extents.
    - A transfer is its operand: a program is for one device, and the doors of the compiler refuse one that
      names another.

    ```mlir
    %0 = graph.concat %a, %b dim = 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
    // becomes
    %zero = graph.constant dense<0.0> : tensor<f32>
    %0 = graph.pad %a, %zero low = [0] high = [3] interior = [0] : tensor<2xf32> -> tensor<5xf32>
    %1 = graph.pad %b, %zero low = [2] high = [0] interior = [0] : tensor<3xf32> -> tensor<5xf32>
    %i = graph.iota dim = 0 : tensor<5xi32>
    %end = graph.constant dense<2> : tensor<5xi32>
    %isFirst = graph.binary lt %i, %end : tensor<5xi32>
    %2 = graph.select %isFirst, %0, %1 : tensor<5xf32>
    ```

    No value changes. The whole test is test/Fusion/decompose-movement.mlir.
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def FormGroupsPass : Pass<"zyx-fusion-form-groups", "::mlir::func::FuncOp"> {
  let summary = "Put every computing op into a graph.group, one per kernel";
  let description = [{
    A greedy former. It joins producers and consumers as long as the group stays one kernel: one set
    of row axes for all reductions and results, views of computed values that only move axes, one
    contraction at most and no other reduction beside it, but for attentions and, with `tensor`, their gradients.
    With `threads`, rows that are summed up both along and across fall into parts, and with `tensor` as well one kernel
    has both sums of a part.
    Cheap producers are cloned into several groups, reductions never. docs/fusion.md says exactly what holds inside a group;
    `-zyx-fusion-verify-groups` checks it. Comparisons
    of indices of 64 bits that fit 32 get these, for vectors of f32 have no more. Reductions of reductions are one, and
    long ones with few results fall into two kernels; with `threads`, few are those that do not keep that many busy. Runs what `-zyx-fusion-decompose-movement` and
    `-zyx-fusion-normalize-views` do first.

    ```mlir
    %0 = graph.unary exp %x : tensor<4xf32>
    %1 = graph.binary add %0, %y : tensor<4xf32>
    // becomes
    %1 = graph.group(%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> tensor<4xf32> {
      %2 = graph.unary exp %a : tensor<4xf32>
      %3 = graph.binary add %2, %b : tensor<4xf32>
      graph.yield %3 : tensor<4xf32>
    }
    ```

    Choices are remarks of the category `zyx-fusion`: passed for each group, missed for each pair
    of groups that stay apart, with the reason.

    The body of a loop is grouped by itself. A loop is in no group, and what it reads and yields is
    stored.

    Without `fuse` each op is a kernel of its own, but for producers of a reduce that are larger than
    all that they are made of: nobody has room to store those.
  }];
  let options = [Option<"fuse", "fuse", "bool", "true", "Whether ops share kernels where they can">,
    Option<"threads", "threads", "int64_t", "0",
           "Of a machine that computes a result of a sum by a thread, those that it wants; 0 for few threads">,
    Option<"tensor", "tensor", "int64_t", "0",
           "Bits of the widest factors that tensor cores multiply: from such, gradients of an attention compute its "
           "weights again; 0 for none">,
    Option<"join", "join", "bool", "true",
           "Without it each op is a kernel of its own all the same, though what comes before joining is done">,
    Option<"turn", "turn", "bool", "false",
           "Whether sums fall into parts for the order in which contractions read, as -zyx-cost-lay-out-results may store it">];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def RecomputeResultsPass : Pass<"zyx-fusion-recompute-results", "::mlir::func::FuncOp"> {
  let summary = "Let groups compute again what takes longer to store and to read";
  let description = [{
    A result of a group that follows element by element, by at most 24 ops, from what is in memory anyway is not
    stored: the groups that read it compute it. What it follows from may be inputs of the group, its other results, and
    what is 16 times smaller, such as sums of rows, which becomes a result. That happens where fewer bytes are written
    and read in all, and where every reader stays a kernel of its kind; factors of contractions are read as they were.

    Gradients read what the forward half has computed: with this pass a curve's derivative is computed from what the
    curve was computed from.

    ```mlir
    %0:2 = graph.group(%a = %x : tensor<64xbf16>) -> (tensor<64xbf16>, tensor<64xf32>) {
      %1 = graph.cast %a : tensor<64xbf16> -> tensor<64xf32>
      %2 = graph.unary exp %1 : tensor<64xf32>
      %3 = graph.cast %2 : tensor<64xf32> -> tensor<64xbf16>
      graph.yield %3, %2 : tensor<64xbf16>, tensor<64xf32>
    }
    // becomes a group of one result; who read the other one has:
      %1 = graph.cast %a : tensor<64xbf16> -> tensor<64xf32>
      %2 = graph.unary exp %1 : tensor<64xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def VerifyGroupsPass : Pass<"zyx-fusion-verify-groups", "::mlir::func::FuncOp"> {
  let summary = "Check what the lowering of groups relies on";
  let description = [{
    Fails where an op computes outside of a group, or where a group has no iteration space as
    docs/fusion.md defines it.
  }];
}

#endif // ZYX_FUSION_PASSES_TD
