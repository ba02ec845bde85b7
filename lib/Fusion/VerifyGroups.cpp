//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"
#include "zyx/Dialect/Graph/Analysis/IterationSpace.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_VERIFYGROUPSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

namespace {

struct VerifyGroups : zyx::fusion::impl::VerifyGroupsPassBase<VerifyGroups> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk<WalkOrder::PreOrder>([](Operation *op) {
      // A reshape of what a kernel or a loop has stored shows the same bytes.
      auto reshape = dyn_cast<ReshapeOp>(op);
      if (reshape && isa_and_nonnull<GroupOp, LoopOp, ExternalOp, ReshapeOp>(reshape.getX().getDefiningOp()))
        return WalkResult::advance();
      // So are loops that are one kernel, and the constants of one element that they read.
      if (op->hasAttr(oneKernelAttrName))
        return WalkResult::skip();
      if (isa<ConstantOp>(op) && isInLoopKernel(op->getResult(0)) &&
          llvm::all_of(op->getUsers(), [](Operation *user) { return user->hasAttr(oneKernelAttrName); }))
        return WalkResult::advance();
      if (isa<NodeOpInterface>(op) && !isa<ParameterOp>(op)) {
        op->emitError("computes outside of a group");
        return WalkResult::interrupt();
      }
      auto group = dyn_cast<GroupOp>(op);
      if (!group)
        return WalkResult::advance();
      if (auto space = IterationSpace::compute(group); !space.isOk()) {
        group.emitError() << "is no kernel: " << space.status().message();
        return WalkResult::interrupt();
      }
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
