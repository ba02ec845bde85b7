//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MergeReductions.h"
#include "Blocks.h"
#include "Notes.h"

#include "zyx/Fusion/Passes.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_MERGEREDUCTIONSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

void zyx::fusion::mergeReduction(ReduceOp op) {
  auto inner = op.getX().getDefiningOp<ReduceOp>();
  Type element = typeOf(op.getX()).getElementType();
  bool rounds =
      (element.isF16() || element.isBF16()) && (op.getKind() == ReduceKind::Add || op.getKind() == ReduceKind::Mul);
  if (!inner || inner.getKind() != op.getKind() || !inner->hasOneUse() || rounds ||
      op->hasAttr(zyx::fusion::headsAttrName))
    return;
  SmallVector<int64_t> kept, dims(inner.getDims());
  for (int64_t dim = 0, rank = typeOf(inner.getX()).getRank(); dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      kept.push_back(dim);
  for (int64_t dim : op.getDims())
    dims.push_back(kept[dim]);
  llvm::sort(dims);
  if (auto parts = op->getAttrOfType<DenseI64ArrayAttr>(zyx::fusion::partsAttrName)) {
    SmallVector<int64_t> moved;
    for (int64_t dim : parts.asArrayRef())
      moved.push_back(kept[dim]);
    op->setAttr(zyx::fusion::partsAttrName, DenseI64ArrayAttr::get(op.getContext(), moved));
  }
  op.getXMutable().assign(inner.getX());
  op.setDims(dims);
}

static void mergeReductions(Block &block) {
  for (auto reduce : block.getOps<ReduceOp>())
    zyx::fusion::mergeReduction(reduce);
  zyx::fusion::eraseUnused(block);
}

namespace {

struct MergeReductions : zyx::fusion::impl::MergeReductionsPassBase<MergeReductions> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), mergeReductions)))
      signalPassFailure();
  }
};

} // namespace
