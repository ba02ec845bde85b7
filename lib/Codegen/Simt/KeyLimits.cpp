//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "KeyLimits.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace zyx::kernel;

static Type elementOf(Value tile) { return getElementTypeOrSelf(tile.getType()); }

/// Whether a tile counts along the keys, in whatever type.
static bool countsKeys(Value tile, Axis keys, const Axes &axes) {
  while (isa_and_nonnull<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp, BroadcastOp, TransposeOp, ReshapeOp>(
      tile.getDefiningOp()))
    tile = tile.getDefiningOp()->getOperand(0);
  auto iota = tile.getDefiningOp<IotaOp>();
  return iota && !iota.getBase() && isa<IntegerType, IndexType>(elementOf(tile)) &&
         axes.of(iota.getResult(), iota.getDim()) == keys;
}

/// The limit that a comparison is, if it is one.
static void addLimit(arith::CmpIOp compare, bool isSeen, Axis keys, const Axes &axes,
                     SmallVectorImpl<KeyLimit> &limits) {
  if (!compare)
    return;
  arith::CmpIPredicate predicate = compare.getPredicate();
  Value key = compare.getLhs(), other = compare.getRhs();
  if (!countsKeys(key, keys, axes)) {
    std::swap(key, other);
    switch (predicate) {
    case arith::CmpIPredicate::slt:
      predicate = arith::CmpIPredicate::sgt;
      break;
    case arith::CmpIPredicate::sle:
      predicate = arith::CmpIPredicate::sge;
      break;
    case arith::CmpIPredicate::sgt:
      predicate = arith::CmpIPredicate::slt;
      break;
    case arith::CmpIPredicate::sge:
      predicate = arith::CmpIPredicate::sle;
      break;
    default:
      break;
    }
  }
  // What is the same for all keys is repeated along them.
  while (isa_and_nonnull<BroadcastOp, TransposeOp, ReshapeOp>(other.getDefiningOp()))
    other = other.getDefiningOp()->getOperand(0);
  if (!countsKeys(key, keys, axes) || axes.contains(other, keys) || !isa<IntegerType>(elementOf(other)) ||
      elementOf(other).getIntOrFloatBitWidth() < 32)
    return;
  if (!isSeen)
    predicate = arith::invertPredicate(predicate);
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return limits.push_back({other, true, 0});
  case arith::CmpIPredicate::sle:
    return limits.push_back({other, true, 1});
  case arith::CmpIPredicate::sgt:
    return limits.push_back({other, false, 1});
  case arith::CmpIPredicate::sge:
    return limits.push_back({other, false, 0});
  default:
    return;
  }
}

/// Limits of what is seen where a condition holds, or where it does not, and the parts of it that are none.
static void findLimits(Value condition, bool isSeen, Axis keys, const Axes &axes, SmallVectorImpl<KeyLimit> &limits,
                       SmallVectorImpl<KeyCondition> &others) {
  Operation *op = condition.getDefiningOp();
  if (isa_and_nonnull<BroadcastOp, TransposeOp, ReshapeOp>(op))
    return findLimits(op->getOperand(0), isSeen, keys, axes, limits, others);
  // Where one of both hides a key nobody sees it.
  if (isSeen ? isa_and_nonnull<arith::AndIOp>(op) : isa_and_nonnull<arith::OrIOp>(op)) {
    findLimits(op->getOperand(0), isSeen, keys, axes, limits, others);
    return findLimits(op->getOperand(1), isSeen, keys, axes, limits, others);
  }
  const size_t numLimits = limits.size();
  addLimit(dyn_cast_or_null<arith::CmpIOp>(op), isSeen, keys, axes, limits);
  if (limits.size() == numLimits)
    others.push_back({condition, isSeen});
}

/// Walks the selects between scores and minus infinity.
static void walkMasks(const SharedAttention &attention, const Axes &axes, SmallVectorImpl<KeyLimit> &limits,
                      SmallVectorImpl<KeyCondition> &others) {
  auto isHidden = [](Value tile) {
    DenseElementsAttr value;
    while (isa_and_nonnull<BroadcastOp, arith::ExtFOp, arith::TruncFOp>(tile.getDefiningOp()))
      tile = tile.getDefiningOp()->getOperand(0);
    if (!matchPattern(tile, m_Constant(&value)) || !value.isSplat() || !isa<FloatType>(value.getElementType()))
      return false;
    const auto number = value.getSplatValue<APFloat>();
    return number.isInfinity() && number.isNegative();
  };
  Value scores = ReduceOp(attention.max).getInput();
  while (Operation *op = scores.getDefiningOp()) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
      scores = op->getOperand(0);
      continue;
    }
    auto select = dyn_cast<arith::SelectOp>(op);
    if (!select || !isTile(select.getCondition()))
      break;
    const bool isSeen = isHidden(select.getFalseValue());
    if (!isSeen && !isHidden(select.getTrueValue()))
      break;
    findLimits(select.getCondition(), isSeen, attention.keys, axes, limits, others);
    scores = isSeen ? select.getTrueValue() : select.getFalseValue();
  }
}

SmallVector<KeyLimit> zyx::kernel::findKeyLimits(const SharedAttention &attention, const Axes &axes) {
  SmallVector<KeyLimit> limits;
  SmallVector<KeyCondition> others;
  walkMasks(attention, axes, limits, others);
  return limits;
}

/// Whether a tile is computed of another one, or of more ops than are cheap to repeat.
static bool isCheapWithout(Value tile, Value never) {
  constexpr size_t mostOps = 24;
  SmallVector<Value> pending{tile};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (next == never || seen.size() > mostOps)
      return false;
    if (Operation *op = next.getDefiningOp(); op && seen.insert(next).second)
      llvm::append_range(pending, op->getOperands());
  }
  return true;
}

SmallVector<KeyCondition> zyx::kernel::findKeyConditions(const SharedAttention &attention, const Axes &axes) {
  SmallVector<KeyLimit> limits;
  SmallVector<KeyCondition> others;
  walkMasks(attention, axes, limits, others);
  llvm::erase_if(others, [&](const KeyCondition &each) {
    return !axes.contains(each.tile, attention.keys) || !isCheapWithout(each.tile, attention.scores->getResult(0));
  });
  return others;
}
