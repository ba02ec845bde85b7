//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "LongContractions.h"
#include "Machine.h"

#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

#include <algorithm>

namespace zyx::fusion {
#define GEN_PASS_DEF_PARTCONTRACTIONSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

using zyx::fusion::findPartsWorth;
using zyx::fusion::LeadingPart;
using zyx::target::TargetInfo;

static void partContractions(Block &block, const TargetInfo &machine) {
  if (!machine.hasSubgroups())
    return;
  for (auto op : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    std::optional<LeadingPart> leading = findPartsWorth(op, machine);
    if (!leading || leading->cut < 0)
      continue;
    // The cut dimension becomes two: its pieces, and what each has. Pieces behind all dimensions of the result would
    // lie side by side in memory, and each element of a part would be a store of its own. Those of a product of
    // matrices come first then; those of windows stay where windows are looked for.
    auto type = cast<RankedTensorType>(op.getX().getType());
    SmallVector<int64_t> shape(type.getShape()), dims;
    const bool areFirst = op.getDims().size() == 1 &&
                          llvm::all_of(llvm::seq<int64_t>(leading->cut + 1, type.getRank()), [&](int64_t dim) {
                            return type.getDimSize(dim) == 1 || llvm::is_contained(op.getDims(), dim);
                          });
    const int64_t place = areFirst ? 0 : leading->cut;
    for (int64_t dim : op.getDims()) {
      if (dim == leading->cut)
        dims.push_back(place);
      dims.push_back(dim >= place ? dim + 1 : dim);
    }
    llvm::sort(dims);
    shape[leading->cut] /= leading->pieces;
    shape.insert(shape.begin() + place, leading->pieces);
    OpBuilder builder(op);
    Location loc = op.getLoc();
    auto product = op.getX().getDefiningOp<BinaryOp>();
    // In front of what repeats a factor, so that it is still seen to do so.
    std::function<Value(Value)> parted = [&](Value value) -> Value {
      auto own = cast<RankedTensorType>(value.getType());
      SmallVector<int64_t> extents(own.getShape());
      const bool isRepeated = extents[leading->cut] == 1;
      extents[leading->cut] /= isRepeated ? 1 : leading->pieces;
      const int64_t pieces = isRepeated ? 1 : leading->pieces;
      SmallVector<int64_t> cut(extents);
      cut.insert(cut.begin() + leading->cut, pieces);
      extents.insert(extents.begin() + place, pieces);
      if (auto expand = value.getDefiningOp<ExpandOp>())
        return ExpandOp::create(builder, loc, own.clone(extents), parted(expand.getX()));
      Value reshaped = ReshapeOp::create(builder, loc, own.clone(cut), value);
      if (place == leading->cut)
        return reshaped;
      SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, own.getRank() + 1));
      std::rotate(order.begin(), order.begin() + leading->cut, order.begin() + leading->cut + 1);
      return PermuteOp::create(builder, loc, own.clone(extents), reshaped, order);
    };
    Value terms = BinaryOp::create(builder, loc, type.clone(shape), BinaryKind::Mul, parted(product.getA()),
                                   parted(product.getB()));
    op.replaceAllUsesWith(
        ReduceOp::create(builder, loc, op.getResult().getType(), ReduceKind::Add, terms, dims).getResult());
    op.erase();
  }
}

namespace {

struct PartContractions : zyx::fusion::impl::PartContractionsPassBase<PartContractions> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { partContractions(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
