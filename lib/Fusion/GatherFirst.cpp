//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Gathers in front of the element-wise ops whose results they pick.
//===----------------------------------------------------------------------===//
#include "Blocks.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_GATHERFIRSTPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

ConstantOp getSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat() ? constant : ConstantOp();
}

/// Whether elements of what is stored are where those of the value are, and their places are one number each.
bool isStored(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  Operation *op = value.getDefiningOp();
  return !op || (!isView(op) && !isElementwise(op) && !isa<IotaOp, ConstantOp>(op));
}

class Gatherer {
public:
  explicit Gatherer(GatherOp gather) : gather(gather), builder(gather), loc(gather.getLoc()) {}

  void run() {
    // The elements of a row-major array, chosen by their numbers, as indices along a dimension become.
    auto indices = typeOf(gather.getIndices());
    Value flat = gather.getX();
    if (typeOf(flat).getRank() != 1 || !indices.getElementType().isSignlessInteger(64))
      return;
    Value value = flat;
    while (value.hasOneUse() && value.getDefiningOp<ReshapeOp>())
      value = value.getDefiningOp<ReshapeOp>().getX();
    constexpr int64_t fewer = 4;
    if (!value.hasOneUse() || !isElementwise(value.getDefiningOp()) ||
        indices.getNumElements() * fewer > typeOf(flat).getNumElements())
      return;
    int opsLeft = mostOps;
    llvm::SmallPtrSet<Operation *, 16> seen;
    if (!canMove(value, opsLeft, seen))
      return;
    Value result = move(value);
    // Indices that are outside give 0.
    Value inside = binary(BinaryKind::And, binary(BinaryKind::Ge, gather.getIndices(), number(0)),
                          binary(BinaryKind::Lt, gather.getIndices(), number(typeOf(flat).getNumElements())));
    auto type = typeOf(gather.getResult());
    auto zero = DenseElementsAttr::get(type, Attribute(builder.getZeroAttr(type.getElementType())));
    result = SelectOp::create(builder, loc, inside, result, ConstantOp::create(builder, loc, type, zero));
    gather.replaceAllUsesWith(result);
    gather.erase();
  }

private:
  static constexpr int mostOps = 12;

  bool canMove(Value value, int &opsLeft, llvm::SmallPtrSetImpl<Operation *> &seen) {
    if (getSplat(value) || isStored(value))
      return true;
    Operation *op = value.getDefiningOp();
    if (!seen.insert(op).second)
      return true;
    if (isa<BitcastOp>(op))
      return false;
    if (isElementwise(op))
      return --opsLeft >= 0 &&
             llvm::all_of(op->getOperands(), [&](Value operand) { return canMove(operand, opsLeft, seen); });
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      return canMove(reshape.getX(), opsLeft, seen);
    // What is repeated is small: it may be stored, if it is computed.
    auto expand = dyn_cast<ExpandOp>(op);
    if (!expand)
      return false;
    Value source = expand.getX();
    while (auto reshape = source.getDefiningOp<ReshapeOp>())
      source = reshape.getX();
    return getSplat(source) || !source.getDefiningOp() ||
           (!isView(source.getDefiningOp()) && !isa<IotaOp, ConstantOp>(source.getDefiningOp()));
  }

  /// The elements at the indices of an array in row-major order.
  Value move(Value value) {
    if (Value known = moved.lookup(value))
      return known;
    return moved[value] = moveAnew(value);
  }

  Value moveAnew(Value value) {
    auto type = RankedTensorType::get(typeOf(gather.getIndices()).getShape(), typeOf(value).getElementType());
    if (ConstantOp splat = getSplat(value))
      return ConstantOp::create(builder, loc, type, splat.getValue().resizeSplat(type));
    if (isStored(value))
      return pick(value, gather.getIndices());
    Operation *op = value.getDefiningOp();
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      return move(reshape.getX());
    if (auto expand = dyn_cast<ExpandOp>(op))
      return moveExpand(expand, type);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(move(operand));
    return zyx::fusion::cloneWith(builder, op, operands, type);
  }

  Value moveExpand(ExpandOp expand, RankedTensorType type) {
    Value source = expand.getX(), shown = source;
    while (auto reshape = shown.getDefiningOp<ReshapeOp>())
      shown = reshape.getX();
    if (ConstantOp splat = getSplat(shown))
      return ConstantOp::create(builder, loc, type, splat.getValue().resizeSplat(type));
    ArrayRef<int64_t> from = typeOf(source).getShape(), to = typeOf(expand).getShape();
    Value place;
    int64_t stride = 1, own = 1;
    for (int64_t dim = static_cast<int64_t>(to.size()); dim-- > 0; stride *= to[dim], own *= from[dim]) {
      if (from[dim] == 1)
        continue;
      Value at = gather.getIndices();
      if (stride != 1)
        at = binary(BinaryKind::Div, at, number(stride));
      // The first coordinate has no more behind it.
      if (stride * to[dim] != typeOf(expand).getNumElements())
        at = binary(BinaryKind::Rem, at, number(to[dim]));
      if (own != 1)
        at = binary(BinaryKind::Mul, at, number(own));
      place = place ? binary(BinaryKind::Add, place, at) : at;
    }
    return pick(source, place ? place : number(0));
  }

  Value pick(Value value, Value places) {
    auto type = typeOf(value);
    if (type.getRank() != 1)
      value = ReshapeOp::create(builder, loc, type.clone({type.getNumElements()}), value);
    return GatherOp::create(builder, loc, type.clone(typeOf(places).getShape()), value, places, 0);
  }
  Value binary(BinaryKind kind, Value a, Value b) { return BinaryOp::create(builder, loc, kind, a, b); }
  Value number(int64_t value) {
    auto type = typeOf(gather.getIndices());
    return ConstantOp::create(builder, loc, type,
                              DenseElementsAttr::get(type, Attribute(builder.getI64IntegerAttr(value))));
  }

  GatherOp gather;
  OpBuilder builder;
  Location loc;
  llvm::DenseMap<Value, Value> moved;
};

} // namespace

static void gatherFirst(Block &block) {
  for (auto gather : llvm::make_early_inc_range(block.getOps<GatherOp>()))
    Gatherer(gather).run();
}

namespace {

struct GatherFirst : zyx::fusion::impl::GatherFirstPassBase<GatherFirst> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), gatherFirst)))
      signalPassFailure();
  }
};

} // namespace
