//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "KeyLimits.h"

#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using namespace zyx::kernel;

static Type elementOf(Value tile) { return getElementTypeOrSelf(tile.getType()); }

/// Of fewer bits a number of a key could wrap.
static bool isWhole(Value tile) {
  return isa<IntegerType>(elementOf(tile)) && elementOf(tile).getIntOrFloatBitWidth() >= 32;
}

/// The same number by other names of its dimensions, and in whatever type.
static Value peel(Value tile) {
  while (isa_and_nonnull<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp, BroadcastOp, TransposeOp, ReshapeOp>(
      tile.getDefiningOp()))
    tile = tile.getDefiningOp()->getOperand(0);
  return tile;
}

/// Counts from zero along an axis.
static IotaOp findIota(Value tile) {
  auto iota = peel(tile).getDefiningOp<IotaOp>();
  return iota && !iota.getBase() && isa<IntegerType, IndexType>(elementOf(iota.getResult())) ? iota : IotaOp();
}

/// Whether a tile is where parts of the keys begin: the number of the part times what each has, which with that does
/// not wrap.
static bool isFirstOfPart(Value tile, Axis keys, const Axes &axes) {
  auto product = peel(tile).getDefiningOp<arith::MulIOp>();
  if (!product)
    return false;
  for (auto [counted, factor] :
       {std::pair(product.getLhs(), product.getRhs()), std::pair(product.getRhs(), product.getLhs())}) {
    DenseElementsAttr each;
    IotaOp iota = findIota(counted);
    if (!iota || axes.contains(iota.getResult(), keys) || !matchPattern(peel(factor), m_Constant(&each)) ||
        !each.isSplat())
      continue;
    const APInt number = each.getSplatValue<APInt>();
    const int64_t parts = axes.extent(axes.of(iota.getResult(), iota.getDim()));
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    return number.isStrictlyPositive() && number.getActiveBits() < 32 &&
           number.getSExtValue() <= (most - axes.extent(keys)) / parts;
  }
  return false;
}

/// Whether a tile counts along the keys, from zero or from the first one of the part that `base` becomes.
static bool countsKeys(Value tile, Axis keys, const Axes &axes, Value &base) {
  if (auto sum = peel(tile).getDefiningOp<arith::AddIOp>(); sum && isWhole(sum.getResult())) {
    Value left = peel(sum.getLhs()), right = peel(sum.getRhs());
    if (axes.contains(right, keys))
      std::swap(left, right);
    if (axes.contains(right, keys) || !isFirstOfPart(right, keys, axes))
      return false;
    base = right;
    tile = left;
  }
  IotaOp iota = findIota(tile);
  return iota && axes.of(iota.getResult(), iota.getDim()) == keys;
}

/// The limit that a comparison is, if it is one.
static void addLimit(arith::CmpIOp compare, bool isSeen, Axis keys, const Axes &axes,
                     SmallVectorImpl<KeyLimit> &limits) {
  if (!compare)
    return;
  arith::CmpIPredicate predicate = compare.getPredicate();
  Value key = compare.getLhs(), other = compare.getRhs(), base;
  if (!countsKeys(key, keys, axes, base)) {
    std::swap(key, other);
    base = {};
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
  base = {};
  if (!countsKeys(key, keys, axes, base) || axes.contains(other, keys) || !isWhole(other))
    return;
  if (!isSeen)
    predicate = arith::invertPredicate(predicate);
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return limits.push_back({other, base, true, 0});
  case arith::CmpIPredicate::sle:
    return limits.push_back({other, base, true, 1});
  case arith::CmpIPredicate::sgt:
    return limits.push_back({other, base, false, 1});
  case arith::CmpIPredicate::sge:
    return limits.push_back({other, base, false, 0});
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
  auto isUseful = [&](const KeyCondition &each) {
    return axes.contains(each.tile, attention.keys) && isCheapWithout(each.tile, attention.scores->getResult(0));
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
    const size_t numOthers = others.size();
    findLimits(select.getCondition(), isSeen, attention.keys, axes, limits, others);
    // Who evaluates a part of a mask may as well evaluate all of it.
    const KeyCondition whole{select.getCondition(), isSeen};
    if (llvm::any_of(ArrayRef(others).drop_front(numOthers), isUseful) && isUseful(whole)) {
      others.truncate(numOthers);
      others.push_back(whole);
    }
    scores = isSeen ? select.getTrueValue() : select.getFalseValue();
  }
  llvm::erase_if(others, [&](const KeyCondition &each) { return !isUseful(each); });
}

SmallVector<KeyLimit> zyx::kernel::findKeyLimits(const SharedAttention &attention, const Axes &axes) {
  SmallVector<KeyLimit> limits;
  SmallVector<KeyCondition> others;
  walkMasks(attention, axes, limits, others);
  return limits;
}

SmallVector<KeyCondition> zyx::kernel::findKeyConditions(const SharedAttention &attention, const Axes &axes) {
  SmallVector<KeyLimit> limits;
  SmallVector<KeyCondition> others;
  walkMasks(attention, axes, limits, others);
  return others;
}
