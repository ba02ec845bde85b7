//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_NARROWINDICESPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

namespace {

/// Numbers of 64 bits that are known to fit 32, made again with those.
class IndexNarrower {
public:
  explicit IndexNarrower(Operation *op) : builder(op), i32(builder.getI32Type()), comparison(dyn_cast<BinaryOp>(op)) {}

  /// Casts narrow numbers to floats, of 16 bits and less by way of f32 where that has all of them: numbers of 32 bits
  /// have instructions for that, which round once.
  void runCast(CastOp op) {
    constexpr int64_t mostExact = int64_t(1) << 24;
    auto range = rangeOf(op.getX(), maxDepth);
    auto to = dyn_cast<FloatType>(cast<RankedTensorType>(op.getResult().getType()).getElementType());
    if (!range || !to)
      return;
    const bool isSmall = to.getWidth() < 32,
               isWide = cast<RankedTensorType>(op.getX().getType()).getElementTypeBitWidth() > 32;
    if ((!isSmall && !isWide) || (isSmall && (range->low < -mostExact || range->high > mostExact)))
      return;
    // Numbers that differ along two dimensions are made of those that differ along one, which are cast rather: fewer of
    // them.
    if (isExact(op.getX(), maxDepth) &&
        isa_and_nonnull<BinaryOp, UnaryOp>(zyx::graph::ir::getViewSource(op.getX()).getDefiningOp())) {
      Value real = toFloat(op.getX());
      if (to != builder.getF32Type())
        real = CastOp::create(builder, op.getLoc(), cast<RankedTensorType>(op.getResult().getType()), real);
      op.getResult().replaceAllUsesWith(real);
      return;
    }
    Value x = isWide ? narrow(op.getX()) : op.getX();
    if (isSmall)
      x = CastOp::create(builder, op.getLoc(), cast<RankedTensorType>(x.getType()).clone(builder.getF32Type()), x);
    op.getXMutable().assign(x);
  }

  /// Compares narrow numbers where both factors have some, or equals only those.
  void run() {
    std::optional<Range> a = rangeOf(comparison.getA(), maxDepth), b = rangeOf(comparison.getB(), maxDepth);
    if (!a && !b)
      return;
    if ((!a && !narrowsOutside(comparison.getA(), *b)) || (!b && !narrowsOutside(comparison.getB(), *a)))
      return;
    Value left = a ? narrow(comparison.getA()) : narrowOutside(comparison.getA(), *b);
    Value right = b ? narrow(comparison.getB()) : narrowOutside(comparison.getB(), *a);
    comparison.setOperand(0, left);
    comparison.setOperand(1, right);
  }

private:
  struct Range {
    int64_t low, high;
  };
  static constexpr int maxDepth = 16;

  static std::optional<Range> ifNarrow(int64_t low, int64_t high) {
    return low >= INT32_MIN && high <= INT32_MAX ? std::optional(Range{low, high}) : std::nullopt;
  }
  std::optional<Range> rangeOf(Value value, int depth);
  Value narrow(Value value);
  bool isExact(Value value, int depth);
  Value toFloat(Value value);
  bool narrowsOutside(Value value, Range others);
  Value narrowOutside(Value value, Range others);

  OpBuilder builder;
  Type i32;
  BinaryOp comparison;
  DenseMap<Value, Value> made, floats;
};

} // namespace

/// What the elements lie between, which follows from iotas and constants; none where that is not in 32 bits.
std::optional<IndexNarrower::Range> IndexNarrower::rangeOf(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return std::nullopt;
  if (auto iota = dyn_cast<IotaOp>(op))
    return ifNarrow(0, cast<RankedTensorType>(value.getType()).getDimSize(iota.getDim()) - 1);
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    if (!constant.getValue().isSplat())
      return std::nullopt;
    const int64_t number = constant.getValue().getSplatValue<APInt>().getSExtValue();
    return ifNarrow(number, number);
  }
  if (isIndexMap(op))
    return rangeOf(op->getOperand(0), depth - 1);
  if (auto unary = dyn_cast<UnaryOp>(op)) {
    std::optional<Range> x = rangeOf(unary.getX(), depth - 1);
    if (!x || (unary.getKind() != UnaryKind::Neg && unary.getKind() != UnaryKind::Abs))
      return std::nullopt;
    if (unary.getKind() == UnaryKind::Neg)
      return ifNarrow(-x->high, -x->low);
    return ifNarrow(std::max<int64_t>({x->low, -x->high, 0}), std::max(-x->low, x->high));
  }
  auto binary = dyn_cast<BinaryOp>(op);
  std::optional<Range> a = binary ? rangeOf(binary.getA(), depth - 1) : std::nullopt;
  std::optional<Range> b = a ? rangeOf(binary.getB(), depth - 1) : std::nullopt;
  if (!b)
    return std::nullopt;
  switch (binary.getKind()) {
  case BinaryKind::Add:
    return ifNarrow(a->low + b->low, a->high + b->high);
  case BinaryKind::Sub:
    return ifNarrow(a->low - b->high, a->high - b->low);
  case BinaryKind::Mul: {
    auto [low, high] = std::minmax({a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high});
    return ifNarrow(low, high);
  }
  case BinaryKind::Max:
    return ifNarrow(std::max(a->low, b->low), std::max(a->high, b->high));
  case BinaryKind::Min:
    return ifNarrow(std::min(a->low, b->low), std::min(a->high, b->high));
  default:
    return std::nullopt;
  }
}

Value IndexNarrower::narrow(Value value) {
  Value &result = made[value];
  if (result)
    return result;
  Operation *op = value.getDefiningOp();
  RankedTensorType type = cast<RankedTensorType>(value.getType()).clone(i32);
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    const int64_t number = constant.getValue().getSplatValue<APInt>().getSExtValue();
    return result = ConstantOp::create(builder, op->getLoc(), type,
                                       DenseElementsAttr::get(type, Attribute(builder.getI32IntegerAttr(number))));
  }
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, narrow(operand));
  Value copy = builder.clone(*op, mapping)->getResult(0);
  copy.setType(type);
  return made[value] = copy;
}

/// Whether f32 has all numbers on the way to a value, which are the same there as integers; no zero becomes negative.
bool IndexNarrower::isExact(Value value, int depth) {
  constexpr int64_t mostExact = int64_t(1) << 24;
  auto range = rangeOf(value, depth);
  Operation *op = value.getDefiningOp();
  if (!range || range->low < -mostExact || range->high > mostExact || !op)
    return false;
  if (isa<IotaOp, ConstantOp>(op))
    return true;
  if (auto binary = dyn_cast<BinaryOp>(op); binary && binary.getKind() == BinaryKind::Mul)
    if (rangeOf(binary.getA(), depth - 1)->low < 0 || rangeOf(binary.getB(), depth - 1)->low < 0)
      return false;
  if (auto unary = dyn_cast<UnaryOp>(op); unary && unary.getKind() != UnaryKind::Abs)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isExact(operand, depth - 1); });
}

Value IndexNarrower::toFloat(Value value) {
  if (Value known = floats.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  auto type = cast<RankedTensorType>(value.getType());
  const RankedTensorType real = type.clone(builder.getF32Type());
  Value result;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    const int64_t number = constant.getValue().getSplatValue<APInt>().getSExtValue();
    result = ConstantOp::create(builder, op->getLoc(), real, DenseElementsAttr::get(real, static_cast<float>(number)));
  } else if (isa<IotaOp>(op)) {
    result = CastOp::create(builder, op->getLoc(), real, type.getElementType() == i32 ? value : narrow(value));
  } else {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, toFloat(operand));
    result = builder.clone(*op, mapping)->getResult(0);
    result.setType(real);
  }
  return floats[value] = result;
}

/// Whether any number that is repeated along what it is compared with may become a narrow one, once for each of its
/// own: none of the others is negative, so that -1 equals none of them.
bool IndexNarrower::narrowsOutside(Value value, Range others) {
  Value source = getViewSource(value);
  auto numElements = [](Value x) { return cast<RankedTensorType>(x.getType()).getNumElements(); };
  bool isRepeated = numElements(source) < numElements(value);
  for (Value view = value; view != source; view = view.getDefiningOp()->getOperand(0))
    isRepeated &= isIndexMap(view.getDefiningOp());
  return isRepeated && others.low >= 0 && comparison.getKind() == BinaryKind::Eq;
}

/// What lies outside of the others' range becomes -1.
Value IndexNarrower::narrowOutside(Value value, Range others) {
  Value source = getViewSource(value);
  auto type = cast<RankedTensorType>(source.getType());
  Location loc = comparison.getLoc();
  auto number = [&](Type element, int64_t value) -> Value {
    auto splat = DenseElementsAttr::get(type.clone(element), Attribute(builder.getIntegerAttr(element, value)));
    return ConstantOp::create(builder, loc, splat.getType(), splat);
  };
  auto isInside = [&](BinaryKind kind, int64_t bound) -> Value {
    return BinaryOp::create(builder, loc, kind, source, number(type.getElementType(), bound));
  };
  Value inside = BinaryOp::create(builder, loc, BinaryKind::And, isInside(BinaryKind::Ge, others.low),
                                  isInside(BinaryKind::Le, others.high));
  Value small = CastOp::create(builder, loc, type.clone(i32), source);
  made[source] = SelectOp::create(builder, loc, inside, small, number(i32, -1));
  return narrow(value);
}

static void narrowIndices(Block &block) {
  for (auto op : llvm::make_early_inc_range(block.getOps<BinaryOp>()))
    if (cast<RankedTensorType>(op.getA().getType()).getElementType().isSignlessInteger(64) &&
        cast<RankedTensorType>(op.getResult().getType()).getElementType().isInteger(1))
      IndexNarrower(op).run();
  for (auto op : llvm::make_early_inc_range(block.getOps<CastOp>())) {
    auto from = dyn_cast<IntegerType>(cast<RankedTensorType>(op.getX().getType()).getElementType());
    if (from && from.isSignless() && (from.getWidth() == 64 || from.getWidth() == 32))
      IndexNarrower(op).runCast(op);
  }
}

namespace {

struct NarrowIndices : zyx::fusion::impl::NarrowIndicesPassBase<NarrowIndices> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), narrowIndices)))
      signalPassFailure();
  }
};

} // namespace
