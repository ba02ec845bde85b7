//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_COST_PASSES_TD
#define ZYX_COST_PASSES_TD

include "mlir/Pass/PassBase.td"

def CutGroupsPass : Pass<"zyx-cost-cut-groups", "::mlir::func::FuncOp"> {
  let summary = "Make several kernels of a group where they take less than one";
  let description = [{
    Each group is lowered to its kernel and scheduled, and what that takes is estimated in seconds, by the target's record
    (`Schedule/Estimate.h`). Where it is far from what no schedule goes below, values in between are stored by kernels of
    their own, as long as all of these together are estimated to take less:

    - what the factors of a contraction, and of an attention, are computed by, because tensor cores read factors from
      memory;
    - what is computed beside sums of products, and these sums;
    - results of reductions that every program would compute again, and what they reduce;
    - small values that every element of a result computes again, and what is gathered;
    - every op by itself.

    A value that another group stores anyway is read there. Each cut is a remark of the category `zyx-fusion`, with the
    seconds of both; a group that is far from its least and stays whole is one, too.

    ```mlir
    %y = graph.group(%a = %x : tensor<64x64xbf16>, %b = %w : tensor<64x64xbf16>) -> tensor<64x64xf32> {
      %0 = graph.unary exp %a : tensor<64x64xbf16>
      ... the product of %0 and %b
    }
    // becomes, for a card with tensor cores
    %0 = graph.group(%a = %x : tensor<64x64xbf16>) -> tensor<64x64xbf16> {
      %1 = graph.unary exp %a : tensor<64x64xbf16>
      graph.yield %1 : tensor<64x64xbf16>
    }
    %y = graph.group(%a = %0 : tensor<64x64xbf16>, %b = %w : tensor<64x64xbf16>) -> tensor<64x64xf32> {
      ... the product of %a and %b
    }
    ```
  }];
  let dependentDialects = ["::zyx::kernel::KernelDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

def LayOutResultsPass : Pass<"zyx-cost-lay-out-results", "::mlir::func::FuncOp"> {
  let summary = "Store results of groups in the order that their readers want";
  let description = [{
    The order in which a value lies in memory between two groups is nobody's but theirs. A contraction reads it as a
    matrix: what is summed up along, and what is beside that, each in one run. Images with their channels behind the batch
    have positions on both sides of them; with channels last, they are such a matrix, and windows of them are what the copy
    engine of a card reads.

    Values that a contraction reads in another order, and those of their shape that meet them in a group, get that dimension
    last, where the groups that write and read them are estimated to take less together. So may a result lie as what it is
    made of, if its group permutes that. The group that writes such a
    value permutes it, and those that read it permute it back: in kernels both are strides. What is returned, or read by
    loops, scans, sorts, scatters and attentions, stays as it is.

    On a processor with vectors what stands beside the scores of an attention gets another order: keys and then
    queries come last, along which vectors lie, or queries and then keys, where half of a vector of queries would be empty.
    Results of a group without products lie as an input that the group permutes, where that is estimated to take less: a norm
    of channels that come last stores what its weights' gradients add up with channels last, too.

    ```mlir
    %0 = graph.group(%a = %x : tensor<8x64x784xbf16>) -> tensor<8x64x784xbf16> {
      %1 = graph.unary exp %a : tensor<8x64x784xbf16>
      graph.yield %1 : tensor<8x64x784xbf16>
    }
    // becomes, where a convolution reads it
    %0 = graph.group(%a = %x : tensor<8x64x784xbf16>) -> tensor<8x784x64xbf16> {
      %1 = graph.unary exp %a : tensor<8x64x784xbf16>
      %2 = graph.permute %1 order = [0, 2, 1] : tensor<8x64x784xbf16> -> tensor<8x784x64xbf16>
      graph.yield %2 : tensor<8x784x64xbf16>
    }
    ```
  }];
  let dependentDialects = ["::zyx::kernel::KernelDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // ZYX_COST_PASSES_TD
