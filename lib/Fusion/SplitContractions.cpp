//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "LongContractions.h"
#include "Machine.h"

#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_SPLITCONTRACTIONSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

using zyx::fusion::findPartsWorth;
using zyx::fusion::LeadingPart;
using zyx::target::TargetInfo;

static void splitContractions(Block &block, const TargetInfo &machine) {
  if (!machine.hasSubgroups())
    return;
  for (auto op : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    std::optional<LeadingPart> leading = findPartsWorth(op, machine);
    if (!leading || leading->whole.empty())
      continue;
    auto type = cast<RankedTensorType>(op.getX().getType());
    SmallVector<int64_t> inner, kept, last;
    for (int64_t dim : op.getDims())
      if (!llvm::is_contained(leading->whole, dim))
        inner.push_back(dim);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!llvm::is_contained(inner, dim)) {
        if (llvm::is_contained(leading->whole, dim))
          last.push_back(static_cast<int64_t>(kept.size()));
        kept.push_back(type.getDimSize(dim));
      }
    OpBuilder builder(op);
    Value partial = ReduceOp::create(builder, op.getLoc(), type.clone(kept), ReduceKind::Add, op.getX(), inner);
    op.replaceAllUsesWith(
        ReduceOp::create(builder, op.getLoc(), op.getResult().getType(), ReduceKind::Add, partial, last).getResult());
    op.erase();
  }
}

namespace {

struct SplitContractions : zyx::fusion::impl::SplitContractionsPassBase<SplitContractions> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { splitContractions(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
