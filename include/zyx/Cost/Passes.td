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

    A value that another group stores anyway is read there. Each cut is a remark of the category `zyx-search`, with the
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

    With a `seed`, groups are cut anywhere: for tests, because no cut may change a value.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "Name of the machine's record">,
    Option<"seed", "seed", "uint64_t", "0", "Unless 0, what cuts are drawn from instead of weighing any">];
  let dependentDialects = ["::zyx::kernel::KernelDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // ZYX_COST_PASSES_TD
