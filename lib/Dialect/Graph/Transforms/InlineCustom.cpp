//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/Transforms/Passes.h"

namespace zyx::graph::ir {
#define GEN_PASS_DEF_INLINECUSTOMPASS
#include "zyx/Dialect/Graph/Transforms/Passes.h.inc"
} // namespace zyx::graph::ir

using namespace mlir;
using namespace zyx::graph::ir;

namespace {

struct InlineCustom : zyx::graph::ir::impl::InlineCustomPassBase<InlineCustom> {
  using InlineCustomPassBase::InlineCustomPassBase;
  void runOnOperation() override;
};

} // namespace

static void inlineBody(CustomOp op) {
  Block &block = op.getBlock();
  auto yield = cast<YieldOp>(block.getTerminator());
  for (auto [argument, input] : llvm::zip_equal(block.getArguments(), op.getInputs()))
    argument.replaceAllUsesWith(input);
  op->replaceAllUsesWith(yield.getValues());
  yield.erase();
  op->getBlock()->getOperations().splice(op->getIterator(), block.getOperations());
  op.erase();
}

void InlineCustom::runOnOperation() {
  // Inner ones come first, so that each is moved once for every op around it.
  getOperation().walk([&](CustomOp op) {
    if (!llvm::is_contained(keep, op.getName().str()))
      inlineBody(op);
  });
}
