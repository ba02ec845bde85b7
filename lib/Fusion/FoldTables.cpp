//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Machine.h"
#include "Tables.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_FOLDTABLESPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// What computes a value, but for positions, numbers and views of them.
static llvm::SetVector<Operation *> findOps(Value value) {
  llvm::SetVector<Operation *> all;
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || isa<IotaOp, ConstantOp>(op) || !all.insert(op))
      continue;
    llvm::append_range(work, op->getOperands());
  }
  all.remove_if([](Operation *op) { return isView(op); });
  return all;
}

static void foldTables(Block &block) {
  constexpr size_t fewestOps = 4;
  zyx::fusion::TableEvaluator evaluator;
  // Positions that are gathered, and what else is made of them, as the weights of an interpolation.
  llvm::SetVector<Operation *> places;
  for (auto gather : block.getOps<GatherOp>())
    if (evaluator.get(gather.getIndices()))
      if (llvm::SetVector<Operation *> ops = findOps(gather.getIndices()); ops.size() >= fewestOps)
        places.insert_range(ops);
  if (places.empty())
    return;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isa<BinaryOp, CastOp, ReshapeOp>(op) || !evaluator.get(op.getResult(0)))
      continue;
    // Only what somebody else reads.
    const bool isRead = llvm::any_of(op.getUsers(), [&](Operation *user) {
      return !isa<BinaryOp, CastOp, ReshapeOp>(user) || !evaluator.get(user->getResult(0));
    });
    const llvm::SetVector<Operation *> ops = findOps(op.getResult(0));
    if (!isRead || ops.size() < fewestOps || llvm::none_of(ops, [&](Operation *each) { return places.contains(each); }))
      continue;
    OpBuilder builder(&op);
    Value made = zyx::fusion::makeTable(builder, op.getLoc(), typeOf(op.getResult(0)), *evaluator.get(op.getResult(0)));
    op.getResult(0).replaceUsesWithIf(made, [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return !isa<BinaryOp, CastOp, ReshapeOp>(user) || !evaluator.get(user->getResult(0));
    });
  }
  zyx::fusion::eraseUnused(block);
}

namespace {

struct FoldTables : zyx::fusion::impl::FoldTablesPassBase<FoldTables> {
  void runOnOperation() override {
    if (!zyx::fusion::getMachine(getOperation()).hasSubgroups())
      return;
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), foldTables)))
      signalPassFailure();
  }
};

} // namespace
