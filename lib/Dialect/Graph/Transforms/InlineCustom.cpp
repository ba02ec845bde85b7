//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/Transforms/Passes.h"
#include "zyx/Graph/Gradient.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

namespace zyx::graph::ir {
#define GEN_PASS_DEF_INLINECUSTOMPASS
#include "zyx/Dialect/Graph/Transforms/Passes.h.inc"
} // namespace zyx::graph::ir

using namespace mlir;
using namespace zyx;
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

/// What a checkpoint is recomputed from: a loop of one trip that hands on its operands. No pass looks through
/// a loop, so that what is computed from its results is not taken for what was computed before.
static void holdApart(CustomOp op) {
  OpBuilder builder(op);
  const auto numHeld = op.getNumResults();
  auto loop = LoopOp::create(builder, op.getLoc(), op.getResultTypes(), builder.getI64IntegerAttr(1), Value(),
                             op.getInputs().take_front(numHeld), op.getInputs().drop_front(numHeld));
  Block &block = loop.getBody().emplaceBlock();
  block.addArgument(RankedTensorType::get({}, builder.getI64Type()), op.getLoc());
  for (Value input : op.getInputs())
    block.addArgument(input.getType(), op.getLoc());
  builder.setInsertionPointToEnd(&block);
  YieldOp::create(builder, op.getLoc(), block.getArguments().slice(1, numHeld));
  op->replaceAllUsesWith(loop.getResults());
  op.erase();
}

/// Hands on its first operands.
static bool isRecompute(CustomOp op) {
  return op.getName() == StringRef(graph::recomputeName) && op.getNumResults() <= op.getInputs().size() &&
         llvm::equal(op.getBlock().getTerminator()->getOperands(),
                     op.getBlock().getArguments().take_front(op.getNumResults()));
}

/// The implementation for the first of the targets that has one.
static ImplementationAttr findImplementation(CustomOp op, ArrayRef<std::string> targets) {
  for (const std::string &target : targets)
    for (auto implementation : op.getImplementationsAttr().getAsRange<ImplementationAttr>())
      if (implementation.getTarget().getValue() == target)
        return implementation;
  return {};
}

/// Puts a kernel of the user's own in the op's place, if there is one for the machine.
static bool tryImplementation(CustomOp op, ArrayRef<std::string> targets) {
  if (!op.getImplementationsAttr())
    return false;
  auto options = remark::RemarkOpts::name("Implementation")
                     .category("zyx-custom")
                     .function(op->getParentOfType<func::FuncOp>().getName());
  ImplementationAttr found = findImplementation(op, targets);
  if (!found) {
    std::string known;
    for (auto implementation : op.getImplementationsAttr().getAsRange<ImplementationAttr>())
      known += (known.empty() ? "'" : ", '") + implementation.getTarget().str() + "'";
    remark::missed(op.getLoc(), options) << "custom '" << op.getName() << "' has implementations for " << known
                                         << ", and none for '" << llvm::join(targets, "' or '")
                                         << "': its body is compiled";
    return false;
  }
  remark::passed(op.getLoc(), options) << "custom '" << op.getName() << "' is the kernel of its implementation for '"
                                       << found.getTarget().getValue() << "'";
  OpBuilder builder(op);
  auto made = ExternalOp::create(builder, op.getLoc(), op.getResultTypes(), op.getNameAttr(), found, op.getInputs());
  op->replaceAllUsesWith(made.getResults());
  op.erase();
  return true;
}

void InlineCustom::runOnOperation() {
  // Inner ones come first, so that each is moved once for every op around it.
  getOperation().walk([&](CustomOp op) {
    if (llvm::is_contained(keep, op.getName().str()))
      return;
    if (tryImplementation(op, targets))
      return;
    if (isRecompute(op))
      holdApart(op);
    else
      inlineBody(op);
  });
}
