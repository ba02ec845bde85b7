//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "LongReductions.h"
#include "Machine.h"
#include "Notes.h"

#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

using zyx::fusion::hasRows;
using zyx::fusion::isLong;
using zyx::fusion::partsAttrName;
using zyx::target::TargetInfo;

/// The reduction of each part, and that of what they have.
static void splitParts(ReduceOp op, ArrayRef<int64_t> parts) {
  auto type = cast<RankedTensorType>(op.getX().getType());
  SmallVector<int64_t> inner, shape, outer;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    const bool isPart = llvm::is_contained(parts, dim);
    if (llvm::is_contained(op.getDims(), dim) && !isPart) {
      inner.push_back(dim);
      continue;
    }
    if (isPart)
      outer.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(type.getDimSize(dim));
  }
  if (inner.empty() || outer.empty())
    return;
  OpBuilder builder(op);
  Value partial = ReduceOp::create(builder, op.getLoc(), type.clone(shape), op.getKind(), op.getX(), inner);
  op.replaceAllUsesWith(
      ReduceOp::create(builder, op.getLoc(), op.getResult().getType(), op.getKind(), partial, outer).getResult());
  op.erase();
}

static void splitReductions(Block &block, const TargetInfo &machine) {
  for (auto op : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    if (machine.hasSubgroups()) {
      if (auto parts = op->getAttrOfType<DenseI64ArrayAttr>(partsAttrName)) {
        op->removeAttr(partsAttrName);
        splitParts(op, parts.asArrayRef());
      }
      continue;
    }
    if (isLong(op, machine) && hasRows(op))
      splitParts(op, op.getDims().take_front());
  }
}

namespace {

struct SplitReductions : zyx::fusion::impl::SplitReductionsPassBase<SplitReductions> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { splitReductions(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
