//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SumCloner.h"
#include "NormalizeViews.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::isWidening;
using zyx::fusion::SumCloner;

/// The size from which on a logarithm's lost digits count. Of a row that is masked from end to end by a large number it
/// is that number, in which the logarithm of the number of keys vanishes.
static constexpr int64_t fewestLost = 2048;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static Type elementOf(Value value) { return typeOf(value).getElementType(); }

static std::optional<double> splatOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant || !constant.getValue().isSplat() || !isa<FloatType>(elementOf(value)))
    return std::nullopt;
  return constant.getValue().getSplatValue<APFloat>().convertToDouble();
}

Value SumCloner::multiply(Value value, double by) {
  if (by == 1)
    return value;
  RankedTensorType type = typeOf(value);
  auto element = builder.getFloatAttr(type.getElementType(), by);
  Value splat = ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, Attribute(element)));
  return BinaryOp::create(builder, loc, BinaryKind::Mul, value, splat);
}

Value SumCloner::castTo(Type element, Value value) {
  RankedTensorType type = typeOf(value);
  return type.getElementType() == element ? value
                                          : CastOp::create(builder, loc, type.clone(element), value).getResult();
}

/// A row's number for each of its weights.
Value SumCloner::spread(Value row) {
  RankedTensorType scores = typeOf(readers.attention.max.getX()).clone(elementOf(row));
  SmallVector<int64_t> ones(scores.getShape());
  ones[readers.attention.max.getDims().front()] = 1;
  Value kept = ReshapeOp::create(builder, loc, scores.clone(ones), row);
  return ExpandOp::create(builder, loc, scores, kept);
}

/// Whether a value is made of inputs and constants by few ops, which each kernel computes by itself.
static bool isOfInputs(Value value, int &opsLeft) {
  Operation *op = zyx::graph::ir::getViewSource(value).getDefiningOp();
  if (!op || isa<ParameterOp, ConstantOp, IotaOp>(op))
    return true;
  return isElementwise(op) && --opsLeft >= 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isOfInputs(operand, opsLeft); });
}

/// A copy of the views and of what is computed without reading more than the value itself has; what lies
/// in memory is itself.
Value SumCloner::cloneLeaf(Value value, Copies &copies) {
  if (Value known = copies.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  int opsLeft = 8;
  const bool isCopied = op && (isa<ConstantOp, IotaOp>(op) || isView(op) || isWidening(op) ||
                               (isElementwise(op) && isOfInputs(value, opsLeft)));
  if (!isCopied) {
    failed |= op && op->getBlock() == at->getBlock() && !op->isBeforeInBlock(at);
    return value;
  }
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, cloneLeaf(operand, copies));
  return copies[value] = builder.clone(*op, mapping)->getResult(0);
}

/// Each factor is read for itself: features that one product sums up may be those of another's results.
Value SumCloner::cloneFactor(Value factor) {
  Copies own;
  return cloneLeaf(factor, own);
}

ReduceOp SumCloner::cloneProduct(ReduceOp sum) {
  auto product = sum.getX().getDefiningOp<BinaryOp>();
  Value a = cloneFactor(product.getA()), b = cloneFactor(product.getB());
  Value terms = BinaryOp::create(builder, loc, BinaryKind::Mul, a, b);
  auto copy = ReduceOp::create(builder, loc, sum.getResult().getType(), sum.getKind(), terms, sum.getDims());
  made.inner.push_back(copy);
  return copy;
}

/// Whether a value has an element for each score, and hangs on it.
bool SumCloner::isOfScores(Value value) {
  if (ofScores.empty())
    ofScores.insert(readers.attention.scores.getResult());
  for (; numFollowed < ofScores.size(); ++numFollowed)
    for (Operation *user : ofScores[numFollowed].getUsers())
      if (isView(user) || isElementwise(user))
        ofScores.insert_range(user->getResults());
  return ofScores.contains(value);
}

Value SumCloner::cloneScores(Value value) {
  if (!isOfScores(value))
    return cloneLeaf(value, copies);
  if (Value known = copies.lookup(value))
    return known;
  if (value == readers.attention.scores.getResult())
    return copies[value] = cloneProduct(readers.attention.scores);
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, cloneScores(operand));
  return copies[value] = builder.clone(*op, mapping)->getResult(0);
}

/// exp(x - L), which is one for all that lies between the maximum and the division by the sum. What L lacks is
/// subtracted, too, where that shows.
Value SumCloner::getWeights() {
  if (weights)
    return weights;
  Value x = castTo(elementOf(rows.logSum), cloneScores(readers.attention.max.getX()));
  Value distance = BinaryOp::create(builder, loc, BinaryKind::Sub, x, spread(rows.logSum));
  auto number = [&](double value) -> Value {
    RankedTensorType type = typeOf(rows.logSum);
    auto element = builder.getFloatAttr(type.getElementType(), value);
    return ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, Attribute(element)));
  };
  Value size = UnaryOp::create(builder, loc, UnaryKind::Abs, rows.logSum);
  Value isLarge = BinaryOp::create(builder, loc, BinaryKind::Gt, size, number(fewestLost));
  Value rest = SelectOp::create(builder, loc, isLarge, rows.logRest, number(0));
  // In this kernel, which then sees when nothing is subtracted, and need not read it.
  for (Value value : {size, isLarge, rest})
    made.beside.push_back(value.getDefiningOp());
  distance = BinaryOp::create(builder, loc, BinaryKind::Sub, distance, spread(rest));
  return weights = UnaryOp::create(builder, loc, UnaryKind::Exp, distance);
}

/// P (g - d).
Value SumCloner::getScoreGradient() {
  if (scoreGradient)
    return scoreGradient;
  Value p = getWeights();
  Value g = castTo(elementOf(p), cloneProduct(readers.algebra.getGradient()));
  Value difference = BinaryOp::create(builder, loc, BinaryKind::Sub, g, spread(castTo(elementOf(p), rows.delta)));
  return scoreGradient = BinaryOp::create(builder, loc, BinaryKind::Mul, p, difference);
}

/// A copy of what hangs on the weights. It is to be multiplied with `factor` where it is summed up: a number
/// there is one operation for each result, and here it would be one for each weight.
Value SumCloner::cloneBehind(Value value, double &factor) {
  if (auto known = copiesBehind.find(value); known != copiesBehind.end()) {
    factor = known->second.second;
    return known->second.first;
  }
  Value copy;
  factor = 1;
  Operation *op = value.getDefiningOp();
  auto cloneOver = [&](Value operand) {
    IRMapping mapping;
    for (Value other : op->getOperands())
      mapping.map(other, other == operand ? cloneBehind(other, factor) : cloneScores(other));
    return builder.clone(*op, mapping)->getResult(0);
  };
  auto scale = dyn_cast<BinaryOp>(op);
  auto choice = dyn_cast<SelectOp>(op);
  if (readers.starts.contains(value)) {
    const bool isWeight = readers.algebra.getWeights(value).has_value();
    factor = isWeight ? *readers.algebra.getWeights(value) : *readers.algebra.getScoreGradient(value);
    copy = castTo(elementOf(value), isWeight ? getWeights() : getScoreGradient());
  } else if (isView(op)) {
    copy = cloneOver(op->getOperand(0));
  } else if (scale && scale.getKind() == BinaryKind::Mul && (splatOf(scale.getA()) || splatOf(scale.getB()))) {
    const bool isSecond = splatOf(scale.getB()).has_value();
    copy = cloneBehind(scale.getOperand(isSecond ? 0 : 1), factor);
    factor *= *splatOf(scale.getOperand(isSecond ? 1 : 0));
  } else if (choice && splatOf(choice.getB()) == 0 && readers.behind.contains(choice.getA())) {
    copy = cloneOver(choice.getA());
  } else if (choice && splatOf(choice.getA()) == 0 && readers.behind.contains(choice.getB())) {
    copy = cloneOver(choice.getB());
  } else {
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      double own = 1;
      // What the scores were made of, as the slope of a soft cap, is made again with them.
      Value inside = readers.behind.contains(operand) ? cloneBehind(operand, own) : cloneScores(operand);
      mapping.map(operand, multiply(inside, own));
    }
    copy = builder.clone(*op, mapping)->getResult(0);
  }
  copiesBehind[value] = {copy, factor};
  return copy;
}

Value SumCloner::clone(ReduceOp sum) {
  auto product = sum.getX().getDefiningOp<BinaryOp>();
  const bool isFirst = readers.behind.contains(product.getA());
  double factor = 1;
  Value left = cloneBehind(isFirst ? product.getA() : product.getB(), factor);
  Value right = cloneFactor(isFirst ? product.getB() : product.getA());
  Value terms = BinaryOp::create(builder, loc, BinaryKind::Mul, left, right);
  auto copy = ReduceOp::create(builder, loc, sum.getResult().getType(), sum.getKind(), terms, sum.getDims());
  made.sums.push_back(copy);
  return failed ? Value() : multiply(copy, factor);
}

Value SumCloner::clone(Value behind) {
  double factor = 1;
  Value copy = cloneBehind(behind, factor);
  return failed ? Value() : multiply(copy, factor);
}
