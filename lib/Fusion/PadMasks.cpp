//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Inputs that are added to the scores of attentions, or hide them, and whose rows begin on odd elements: threads of
// tensor cores would read them one by one.
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/Analysis/Attention.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_PADMASKSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// What an attention's scores are computed of besides their product, through views and element by element.
static SmallVector<BlockArgument> findMasks(const Attention &attention) {
  ReduceOp max = attention.max;
  llvm::SetVector<Value> values;
  values.insert(max.getX());
  SmallVector<BlockArgument> masks;
  for (size_t i = 0; i < values.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(values[i]))
      masks.push_back(argument);
    else if (Operation *op = values[i].getDefiningOp(); op != attention.scores && (isView(op) || isElementwise(op)))
      values.insert(op->operand_begin(), op->operand_end());
  }
  return masks;
}

/// The same input with rows that begin on multiples of 16 bytes.
static Value padRows(GroupOp group, Value input, int64_t more) {
  RankedTensorType type = typeOf(input);
  SmallVector<int64_t> none(type.getRank(), 0), high(none), shape(type.getShape());
  high.back() = more;
  shape.back() += more;
  OpBuilder builder(group);
  if (isa<BlockArgument>(input))
    builder.setInsertionPointToStart(group->getBlock());
  else
    builder.setInsertionPointAfterValue(input);
  Location loc = group.getLoc();
  auto made = GroupOp::create(builder, loc, TypeRange(type.clone(shape)), ValueRange(input));
  Block &block = made.getBody().empty() ? made.getBody().emplaceBlock() : made.getBlock();
  Value argument = block.addArgument(type, loc);
  builder.setInsertionPointToEnd(&block);
  auto number = RankedTensorType::get({}, type.getElementType());
  Value fill = ConstantOp::create(builder, loc, number,
                                  DenseElementsAttr::get(number, builder.getZeroAttr(type.getElementType())));
  Value padded = PadOp::create(builder, loc, type.clone(shape), argument, fill, none, high, none);
  YieldOp::create(builder, loc, padded);
  return made.getResult(0);
}

/// Reads what is padded without the padding.
static void readPadded(GroupOp group, BlockArgument argument, Value padded, int64_t more) {
  group.getInputsMutable()[argument.getArgNumber()].set(padded);
  RankedTensorType type = typeOf(argument);
  argument.setType(padded.getType());
  OpBuilder builder = OpBuilder::atBlockBegin(&group.getBlock());
  SmallVector<int64_t> none(type.getRank(), 0), high(none);
  high.back() = -more;
  auto number = RankedTensorType::get({}, type.getElementType());
  Location loc = group.getLoc();
  Value fill = ConstantOp::create(builder, loc, number,
                                  DenseElementsAttr::get(number, builder.getZeroAttr(type.getElementType())));
  auto cut = PadOp::create(builder, loc, type, argument, fill, none, high, none);
  argument.replaceAllUsesExcept(cut, cut);
}

namespace {

struct PadMasks : zyx::fusion::impl::PadMasksPassBase<PadMasks> {
  void runOnOperation() override {
    // A copy reads and writes each element once; so many scores that read it pay for that.
    constexpr int64_t fewestReaders = 4, rowBytes = 16, narrowBits = 16;
    llvm::DenseMap<Value, Value> padded;
    SmallVector<GroupOp> groups;
    getOperation().walk([&](GroupOp group) { groups.push_back(group); });
    for (GroupOp group : groups) {
      llvm::SetVector<Value> masks;
      int64_t scores = 0;
      for (auto reduce : group.getBlock().getOps<ReduceOp>())
        if (auto attention = matchAttention(reduce)) {
          scores = typeOf(attention->max.getX()).getNumElements();
          for (BlockArgument mask : findMasks(*attention))
            masks.insert(mask);
        }
      for (Value mask : masks) {
        auto argument = cast<BlockArgument>(mask);
        Value input = group.getInputs()[argument.getArgNumber()];
        RankedTensorType type = typeOf(input);
        // What a group stores has such rows anyway (-zyx-schedule-pad-rows).
        const bool isInput = isa<BlockArgument>(input) || input.getDefiningOp<ParameterOp>();
        if (!isInput || type.getRank() < 2 || type.getElementTypeBitWidth() != narrowBits ||
            type.getShape().back() % 2 == 0 || type.getShape().back() == 1 ||
            type.getNumElements() * fewestReaders > scores)
          continue;
        const int64_t extent = type.getShape().back(), more = llvm::alignTo(extent, rowBytes * 8 / narrowBits) - extent;
        Value &own = padded[input];
        if (!own || own.getParentBlock() != group->getBlock())
          own = padRows(group, input, more);
        readPadded(group, argument, own, more);
      }
    }
  }
};

} // namespace
