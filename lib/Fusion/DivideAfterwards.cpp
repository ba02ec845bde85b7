//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "DivideAfterwards.h"

#include "Blocks.h"
#include "FuseAttention.h"

#include "zyx/Dialect/Graph/Analysis/Attention.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace zyx::fusion {
#define GEN_PASS_DEF_DIVIDEAFTERWARDSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether a factor is the sum of the softmax or one over it, which are finite numbers or NaN.
static bool isOfSum(Value factor, UnaryOp exp) {
  while (Operation *op = getViewSource(factor).getDefiningOp()) {
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return isSumOf(reduce, exp);
    auto unary = dyn_cast<UnaryOp>(op);
    if (!isa<CastOp>(op) && !(unary && unary.getKind() == UnaryKind::Recip))
      return false;
    factor = op->getOperand(0);
  }
  return false;
}

namespace {

/// Rewrites one attention.
class DivisionMover {
public:
  DivisionMover(Attention &found, llvm::function_ref<bool(Value)> isFinite)
      : found(found), isFinite(isFinite), builder(found.output->getBlock(), std::next(found.output->getIterator())),
        loc(found.output->getLoc()) {}

  bool run();

private:
  bool spreadFactors();
  bool needsScale();
  Value cloneOutput();

  Attention &found;
  llvm::function_ref<bool(Value)> isFinite;
  OpBuilder builder;
  Location loc;
  /// The factors of the rows with the shape of the result.
  SmallVector<Value> factors;
  double scale = 1;

  /// Not f16: what was divided before it was added may fit where the sum does not.
  Type sumElement() {
    Type element = typeOf(found.output.getResult()).getElementType();
    return element.isF16() ? builder.getF32Type() : element;
  }
  Value castTo(Type element, Value value) {
    RankedTensorType type = typeOf(value);
    return type.getElementType() == element ? value
                                            : CastOp::create(builder, loc, type.clone(element), value).getResult();
  }
};

} // namespace

static Value multiply(OpBuilder &builder, Location loc, Value value, double by) {
  return BinaryOp::create(builder, loc, BinaryKind::Mul, value,
                          zyx::fusion::makeSplat(builder, loc, typeOf(value), by));
}

/// For each dimension of a value that an operand among an attention's weights is, or of the factor beside it, the one
/// among the dimensions of the last product that it is.
static SmallVector<std::optional<int64_t>> dimsAt(Attention &found, OpOperand &at) {
  SmallVector<std::optional<int64_t>> dims;
  for (int64_t dim = 0, rank = typeOf(found.output.getX()).getRank(); dim < rank; ++dim)
    dims.push_back(dim);
  for (OpOperand *operand : found.weights) {
    if (operand == &at)
      break;
    if (isView(operand->getOwner())) {
      auto step = getOperandDims(operand->getOwner());
      for (std::optional<int64_t> &dim : dims)
        if (dim)
          dim = (*step)[*dim];
    }
  }
  return dims;
}

std::optional<Value> zyx::fusion::spreadOverResult(OpBuilder &builder, Attention &found, OpOperand &beside,
                                                   Value factor, Type element, double by) {
  auto sourceDims = getSourceDims(factor);
  if (!sourceDims)
    return std::nullopt;
  Location loc = found.output->getLoc();
  Value source = getViewSource(factor);
  RankedTensorType type = typeOf(source), result = typeOf(found.output.getResult()).clone(element);
  SmallVector<int64_t> numbers, kept, order, ones;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (extent != 1) {
      numbers.push_back(dim);
      kept.push_back(extent);
    }
  for (auto [dim, known] : llvm::enumerate(dimsAt(found, beside))) {
    std::optional<int64_t> from = known ? (*sourceDims)[*known] : std::nullopt;
    if (from)
      order.push_back(llvm::find(numbers, *from) - numbers.begin());
    if (!llvm::is_contained(found.output.getDims(), static_cast<int64_t>(dim)))
      ones.push_back(from ? type.getDimSize(*from) : 1);
    else if (from)
      return std::nullopt;
  }
  if (order.size() != kept.size())
    return std::nullopt;
  if (type.getElementType() != element)
    source = CastOp::create(builder, loc, result.clone(type.getShape()), source);
  if (by != 1)
    source = multiply(builder, loc, source, by);
  if (!llvm::is_sorted(order)) {
    source = ReshapeOp::create(builder, loc, result.clone(kept), source);
    SmallVector<int64_t> permuted;
    for (int64_t at : order)
      permuted.push_back(kept[at]);
    source = PermuteOp::create(builder, loc, result.clone(permuted), source, order);
  }
  source = ReshapeOp::create(builder, loc, result.clone(ones), source);
  return ExpandOp::create(builder, loc, result, source);
}

bool DivisionMover::spreadFactors() {
  for (OpOperand *operand : found.beside) {
    auto op = cast<BinaryOp>(operand->getOwner());
    double by = operand != found.beside.back() ? 1 : op.getKind() == BinaryKind::Div ? scale : 1 / scale;
    Value factor = op->getOperand(1 - operand->getOperandNumber());
    auto spread = isFinite(factor) ? zyx::fusion::spreadOverResult(builder, found, *operand, factor, sumElement(), by)
                                   : std::nullopt;
    if (!spread)
      return false;
    factors.push_back(*spread);
  }
  return true;
}

/// Weights of half precision are too near to its smallest numbers, and what they are multiplied with
/// is too small to overflow an f32.
bool DivisionMover::needsScale() {
  return llvm::none_of(found.weights, [](OpOperand *operand) {
    return getElementTypeOrSelf(operand->get().getType()).getIntOrFloatBitWidth() < 32 &&
           !getElementTypeOrSelf(operand->get().getType()).isBF16();
  });
}

Value DivisionMover::cloneOutput() {
  Value value = found.exp.getResult();
  for (OpOperand *operand : llvm::reverse(found.weights)) {
    Operation *op = operand->getOwner();
    if (!llvm::is_contained(found.beside, operand)) {
      const bool isProduct = op->getResult(0) == found.output.getX();
      IRMapping mapping;
      if (isProduct)
        for (Value factor : op->getOperands())
          mapping.map(factor, castTo(sumElement(), factor == operand->get() ? value : factor));
      else
        mapping.map(operand->get(), value);
      Operation *copy = builder.clone(*op, mapping);
      value = copy->getResult(0);
      if (isProduct)
        value.setType(typeOf(value).clone(sumElement()));
    } else if (operand == found.beside.back() && scale != 1) {
      value = multiply(builder, loc, value, scale);
    }
  }
  IRMapping mapping;
  mapping.map(found.output.getX(), value);
  Value sum = builder.clone(*found.output, mapping)->getResult(0);
  sum.setType(typeOf(sum).clone(sumElement()));
  return sum;
}

bool DivisionMover::run() {
  int64_t keys = typeOf(found.output.getX()).getDimSize(found.output.getDims().front());
  if (needsScale())
    scale = std::ldexp(1.0, -static_cast<int>(llvm::Log2_64_Ceil(keys)));
  if (!spreadFactors())
    return false;
  Value result = cloneOutput();
  for (auto [operand, factor] : llvm::zip_equal(found.beside, factors))
    result = BinaryOp::create(builder, loc, cast<BinaryOp>(operand->getOwner()).getKind(), result, factor);
  found.output.getResult().replaceAllUsesWith(castTo(typeOf(found.output.getResult()).getElementType(), result));
  return true;
}

bool zyx::fusion::divideAfterwards(Attention &found, llvm::function_ref<bool(Value)> isFinite) {
  return DivisionMover(found, isFinite).run();
}

bool zyx::fusion::divideBySums(Attention &found) {
  return divideAfterwards(found, [&](Value factor) { return isOfSum(factor, found.exp); });
}

static void divideAfterwards(Block &block) {
  bool changed = false;
  for (auto reduce : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    auto found = matchAttention(reduce);
    if (!found || found->beside.empty() || !zyx::fusion::isPrivate(*found))
      continue;
    zyx::fusion::divideBySums(*found);
    changed = true;
  }
  if (changed)
    zyx::fusion::eraseUnused(block);
}

namespace {

struct DivideAfterwards : zyx::fusion::impl::DivideAfterwardsPassBase<DivideAfterwards> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), divideAfterwards)))
      signalPassFailure();
  }
};

} // namespace
