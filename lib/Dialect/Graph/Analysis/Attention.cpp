//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/Analysis/Attention.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace zyx::graph::ir;

/// Ops that a spelling has between two reductions; more are another program.
static constexpr unsigned maxChain = 64;

static bool isSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat();
}

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

/// Between floats, so that sums stay sums up to rounding.
static bool isRounding(CastOp op) {
  return isa<FloatType>(elementOf(op.getX())) && isa<FloatType>(elementOf(op.getResult()));
}

/// Whether sums in one type lose no more than rounding does that are scaled in another.
static bool isWideEnough(Value sum, Value exp) {
  return std::max(elementOf(sum).getIntOrFloatBitWidth(), 32u) >= elementOf(exp).getIntOrFloatBitWidth();
}

static int64_t extentOf(Value value, int64_t dim) { return cast<RankedTensorType>(value.getType()).getDimSize(dim); }

/// Follows an operand up to the exponential of a softmax, along whose dimension `keys` it is summed.
static UnaryOp followWeights(OpOperand &last, int64_t keys, Attention &found) {
  OpOperand *operand = &last;
  while (found.weights.size() < maxChain) {
    found.weights.push_back(operand);
    Operation *op = operand->get().getDefiningOp();
    if (!op || op->getNumOperands() == 0)
      return {};
    operand = &op->getOpOperand(0);
    if (isView(op)) {
      auto dims = getOperandDims(op);
      if (!dims || !(*dims)[keys])
        return {};
      keys = *(*dims)[keys];
    } else if (auto binary = dyn_cast<BinaryOp>(op)) {
      bool isQuotient = binary.getKind() == BinaryKind::Div;
      if (!isQuotient && binary.getKind() != BinaryKind::Mul)
        return {};
      // The factor of the row is the one that does not differ between keys.
      unsigned factor = getRepeatedDims(binary.getB())[keys] ? 1 : 0;
      if (factor == 0 && (isQuotient || !getRepeatedDims(binary.getA())[keys]))
        return {};
      operand = &op->getOpOperand(1 - factor);
      if (!isSplat(op->getOperand(factor)))
        found.beside.push_back(operand);
    } else if (auto exp = dyn_cast<UnaryOp>(op)) {
      return exp.getKind() == UnaryKind::Exp ? exp : UnaryOp();
    } else if (auto cast = dyn_cast<CastOp>(op); !cast || !isRounding(cast)) {
      return {};
    }
  }
  return {};
}

/// Whether each row has its own number of a reduction of its scores: views repeat that along the keys, and leave the
/// other dimensions in their places. Without the keys' dimension it may as well stand for columns, of which there can
/// be as many.
static bool isOfOwnRow(Value value, ReduceOp reduce) {
  const auto dims = getSourceDims(value);
  const int64_t keys = reduce.getDims().front();
  if (!dims)
    return false;
  for (auto [dim, from] : llvm::enumerate(*dims)) {
    const auto at = static_cast<int64_t>(dim);
    if (extentOf(value, at) != 1 && from != (at == keys ? std::nullopt : std::optional(at - (at > keys))))
      return false;
  }
  return true;
}

/// The reduction of some scores to the largest of a row that a value is, or that is compared with others for it.
static ReduceOp findMaxOf(Value scores, Value value, Largest largest) {
  Value ofRows = value;
  value = getViewSource(value);
  auto larger = value.getDefiningOp<BinaryOp>();
  for (Value operand : {value, larger ? larger.getA() : Value(), larger ? larger.getB() : Value()}) {
    auto max = operand ? getViewSource(operand).getDefiningOp<ReduceOp>() : ReduceOp();
    if (max && max.getKind() == ReduceKind::Max && max.getDims().size() == 1 && max.getX() == scores)
      return operand != value || isOfOwnRow(ofRows, max) ? max : ReduceOp();
    if (!larger || larger.getKind() != BinaryKind::Max || largest == Largest::OfScores)
      return {};
  }
  return {};
}

/// The largest element that an exponential's operand has subtracted.
static ReduceOp findMax(UnaryOp exp, Largest largest) {
  Value argument = exp.getX();
  while (auto cast = argument.getDefiningOp<CastOp>()) {
    if (!isRounding(cast) ||
        elementOf(cast.getX()).getIntOrFloatBitWidth() > elementOf(argument).getIntOrFloatBitWidth())
      return {};
    argument = cast.getX();
  }
  auto difference = argument.getDefiningOp<BinaryOp>();
  if (!difference || difference.getKind() != BinaryKind::Sub)
    return {};
  return findMaxOf(difference.getA(), difference.getB(), largest);
}

/// The only sum of products that an element-wise computation reads.
static ReduceOp findScores(Value x) {
  ReduceOp scores;
  llvm::SmallSetVector<Value, 16> values;
  values.insert(x);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values.size() > maxChain)
      return {};
    Value value = getViewSource(values[i]);
    Operation *op = value.getDefiningOp();
    if (auto reduce = dyn_cast_or_null<ReduceOp>(op)) {
      auto product = reduce.getX().getDefiningOp<BinaryOp>();
      if (reduce.getKind() != ReduceKind::Add || reduce.getDims().size() != 1 || !product ||
          product.getKind() != BinaryKind::Mul)
        continue;
      if (scores && scores != reduce)
        return {};
      scores = reduce;
    } else if (isElementwise(op)) {
      values.insert(op->operand_begin(), op->operand_end());
    }
  }
  return scores;
}

std::optional<Attention> zyx::graph::ir::matchAttention(ReduceOp output, Largest largest) {
  auto product = output.getX().getDefiningOp<BinaryOp>();
  if (output.getKind() != ReduceKind::Add || output.getDims().size() != 1 || !product ||
      product.getKind() != BinaryKind::Mul)
    return std::nullopt;
  int64_t keys = output.getDims().front();
  // Squared weights have no values beside them, and are divided twice.
  if (extentOf(product.getResult(), keys) <= 1 || product.getA() == product.getB())
    return std::nullopt;
  for (OpOperand &weights : product->getOpOperands()) {
    Attention found;
    found.output = output;
    found.exp = followWeights(weights, keys, found);
    if (!found.exp || !isWideEnough(output, found.exp))
      continue;
    found.max = findMax(found.exp, largest);
    if (!found.max)
      continue;
    found.scores = findScores(found.max.getX());
    if (found.scores && found.scores != output)
      return found;
  }
  return std::nullopt;
}

bool zyx::graph::ir::isSumOf(ReduceOp reduce, UnaryOp exp) {
  Attention found;
  return reduce.getKind() == ReduceKind::Add && reduce.getDims().size() == 1 &&
         followWeights(reduce.getXMutable(), reduce.getDims().front(), found) == exp && found.beside.empty() &&
         isWideEnough(reduce, exp);
}
