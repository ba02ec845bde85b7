//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Which positions a mask hides from a whole program, where the mask compares sums of indices.
#include "VisibleRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Larger numbers might not fit the type in which they are added.
constexpr int64_t mostNumber = int64_t(1) << 28;

/// A sum of indices, each times a number, of where programs begin, and of a number.
struct LinearForm {
  llvm::SmallDenseMap<Axis, int64_t> factors;
  SmallVector<std::pair<Value, int64_t>> bases;
  int64_t constant = 0;

  void add(const LinearForm &other, int64_t times) {
    for (auto [axis, factor] : other.factors)
      factors[axis] += times * factor;
    for (auto [base, factor] : other.bases)
      bases.push_back({base, times * factor});
    constant += times * other.constant;
  }
};

class RangeFinder {
public:
  RangeFinder(const Axes &axes, Axis axis, OpBuilder &builder, Location loc)
      : axes(axes), axis(axis), builder(builder), loc(loc) {}

  VisibleRange run(Value scores) {
    while (Operation *op = scores.getDefiningOp()) {
      if (isa<BroadcastOp, TransposeOp, ReshapeOp, arith::ExtFOp, arith::TruncFOp>(op)) {
        scores = op->getOperand(0);
        continue;
      }
      auto select = dyn_cast<arith::SelectOp>(op);
      if (!select)
        break;
      const bool hidesTrue = isHidden(select.getTrueValue());
      if (hidesTrue == isHidden(select.getFalseValue()))
        break;
      narrow(select.getCondition(), hidesTrue);
      scores = hidesTrue ? select.getFalseValue() : select.getTrueValue();
    }
    return range;
  }

private:
  static bool isHidden(Value tile) {
    while (Operation *op = tile.getDefiningOp()) {
      if (!isa<BroadcastOp, TransposeOp, ReshapeOp, arith::ExtFOp, arith::TruncFOp>(op))
        break;
      tile = op->getOperand(0);
    }
    DenseElementsAttr value;
    return matchPattern(tile, m_Constant(&value)) && value.isSplat() && isa<FloatType>(value.getElementType()) &&
           value.getSplatValue<APFloat>().isInfinity() && value.getSplatValue<APFloat>().isNegative();
  }

  static std::optional<int64_t> splatOf(Value tile) {
    DenseElementsAttr value;
    if (!matchPattern(tile, m_Constant(&value)) || !value.isSplat() || !value.getElementType().isInteger())
      return std::nullopt;
    const APInt number = value.getSplatValue<APInt>();
    if (number.getSignificantBits() > 62 || std::abs(number.getSExtValue()) > mostNumber)
      return std::nullopt;
    return number.getSExtValue();
  }

  std::optional<LinearForm> formOf(Value tile) {
    auto type = dyn_cast<RankedTensorType>(tile.getType());
    Operation *op = tile.getDefiningOp();
    if (!type || !op || !type.getElementType().isInteger() || type.getElementTypeBitWidth() < 32)
      return std::nullopt;
    if (isa<BroadcastOp, TransposeOp, ReshapeOp, arith::ExtSIOp, arith::TruncIOp>(op))
      return formOf(op->getOperand(0));
    LinearForm form;
    if (auto iota = dyn_cast<IotaOp>(op)) {
      const Axis own = axes.of(iota.getResult(), iota.getDim());
      if (axes.extent(own) > mostNumber)
        return std::nullopt;
      form.factors[own] = 1;
      if (iota.getBase())
        form.bases.push_back({iota.getBase(), 1});
      return form;
    }
    if (std::optional<int64_t> number = splatOf(tile)) {
      form.constant = *number;
      return form;
    }
    if (!isa<arith::AddIOp, arith::SubIOp>(op))
      return std::nullopt;
    std::optional<LinearForm> lhs = formOf(op->getOperand(0)), rhs = formOf(op->getOperand(1));
    if (!lhs || !rhs)
      return std::nullopt;
    lhs->add(*rhs, isa<arith::AddIOp>(op) ? 1 : -1);
    return lhs;
  }

  /// By a condition that holds, or does not, where something is seen.
  void narrow(Value condition, bool isNegated) {
    Operation *op = condition.getDefiningOp();
    if (!op)
      return;
    if (isa<BroadcastOp, TransposeOp, ReshapeOp>(op))
      return narrow(op->getOperand(0), isNegated);
    if (isNegated ? isa<arith::OrIOp>(op) : isa<arith::AndIOp>(op)) {
      narrow(op->getOperand(0), isNegated);
      return narrow(op->getOperand(1), isNegated);
    }
    if (isa<arith::XOrIOp>(op)) {
      for (unsigned side : {0, 1})
        if (DenseElementsAttr value; matchPattern(op->getOperand(side), m_Constant(&value)) && value.isSplat() &&
                                     value.getElementType().isInteger(1) && value.getSplatValue<APInt>().isOne())
          return narrow(op->getOperand(1 - side), !isNegated);
      return;
    }
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      narrowBy(compare, isNegated ? arith::invertPredicate(compare.getPredicate()) : compare.getPredicate());
  }

  void narrowBy(arith::CmpIOp compare, arith::CmpIPredicate predicate) {
    std::optional<LinearForm> lhs = formOf(compare.getLhs()), rhs = formOf(compare.getRhs());
    if (!lhs || !rhs)
      return;
    using Is = arith::CmpIPredicate;
    LinearForm difference = *lhs;
    difference.add(*rhs, -1);
    LinearForm opposite;
    opposite.add(difference, -1);
    if (predicate == Is::slt || predicate == Is::sle || predicate == Is::eq)
      bound(difference, predicate == Is::slt);
    if (predicate == Is::sgt || predicate == Is::sge || predicate == Is::eq)
      bound(opposite, predicate == Is::sgt);
  }

  /// Of a form that is at most zero, or below it, somewhere.
  void bound(const LinearForm &form, bool isBelow) {
    auto own = form.factors.find(axis);
    const int64_t factor = own == form.factors.end() ? 0 : own->second;
    if (factor != 1 && factor != -1)
      return;
    // The least that it can be without this axis.
    int64_t least = form.constant + (isBelow ? 1 : 0);
    for (auto [other, times] : form.factors)
      if (other != axis && times < 0)
        least += times * (axes.extent(other) - 1);
    Value rest = index(least);
    for (auto [base, times] : form.bases) {
      Value part = arith::MulIOp::create(builder, loc, base, index(times));
      rest = arith::AddIOp::create(builder, loc, rest, part);
    }
    if (factor == 1) {
      // position + rest <= 0
      Value high = arith::SubIOp::create(builder, loc, index(1), rest);
      range.high = range.high ? arith::MinSIOp::create(builder, loc, range.high, high).getResult() : high;
    } else {
      range.low = range.low ? arith::MaxSIOp::create(builder, loc, range.low, rest).getResult() : rest;
    }
  }

  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

  const Axes &axes;
  Axis axis;
  OpBuilder &builder;
  Location loc;
  VisibleRange range;
};

} // namespace

VisibleRange zyx::kernel::findVisibleRange(Value scores, const Axes &axes, Axis axis, OpBuilder &builder,
                                           Location loc) {
  return RangeFinder(axes, axis, builder, loc).run(scores);
}
