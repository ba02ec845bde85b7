//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "NormalizeViews.h"
#include "Notes.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"
#include "zyx/Fusion/Passes.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_KEEPHEADSUMSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

using zyx::fusion::headsAttrName;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether a value is computed element by element of exponentials.
static bool isMadeOfExponentials(Value value, int &opsLeft) {
  value = getViewSource(value);
  Operation *op = value.getDefiningOp();
  if (!op || !isElementwise(op) || --opsLeft < 0)
    return false;
  auto unary = dyn_cast<UnaryOp>(op);
  return (unary && unary.getKind() == UnaryKind::Exp) ||
         llvm::any_of(op->getOperands(), [&](Value operand) { return isMadeOfExponentials(operand, opsLeft); });
}

static void keepHeadSums(Block &block) {
  for (auto reduce : block.getOps<ReduceOp>()) {
    reduce->removeAttr(headsAttrName);
    auto inner = reduce.getX().getDefiningOp<ReduceOp>();
    auto product = inner && inner.getDims().size() == 1 ? matchContraction(inner) : std::nullopt;
    int opsLeft = 32;
    const bool isNarrow = product && llvm::any_of(product->product->getOperands(), [](Value factor) {
                            auto wide = getViewSource(factor).getDefiningOp<CastOp>();
                            return zyx::fusion::isWidening(wide) && typeOf(wide.getX()).getElementTypeBitWidth() == 16;
                          });
    if (isNarrow && llvm::any_of(product->product->getOperands(),
                                 [&](Value factor) { return isMadeOfExponentials(factor, opsLeft); }))
      reduce->setAttr(headsAttrName, UnitAttr::get(reduce.getContext()));
  }
}

namespace {

struct KeepHeadSums : zyx::fusion::impl::KeepHeadSumsPassBase<KeepHeadSums> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), keepHeadSums)))
      signalPassFailure();
  }
};

} // namespace
