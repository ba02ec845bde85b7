//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_STOREIOTASPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

/// Whether a view, or one of it, has dimensions that are none of the view's source, or is read by
/// an op that is a kernel of its own.
static bool needsMemory(Operation *reader) {
  if (isOrderOp(reader))
    return true;
  if (!isView(reader))
    return false;
  return !getSourceDims(reader->getResult(0)) || llvm::any_of(reader->getUsers(), needsMemory);
}

static void storeIotas(Block &block) {
  for (auto iota : llvm::make_early_inc_range(block.getOps<IotaOp>())) {
    OpBuilder builder(iota->getContext());
    builder.setInsertionPointAfter(iota);
    Value stored;
    for (OpOperand &use : llvm::make_early_inc_range(iota->getUses())) {
      if (!needsMemory(use.getOwner()))
        continue;
      // The result of an op that does not change what is not negative.
      if (!stored)
        stored = UnaryOp::create(builder, iota.getLoc(), UnaryKind::Abs, iota.getResult());
      use.set(stored);
    }
  }
}

namespace {

struct StoreIotas : zyx::fusion::impl::StoreIotasPassBase<StoreIotas> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), storeIotas)))
      signalPassFailure();
  }
};

} // namespace
