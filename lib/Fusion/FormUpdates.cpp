//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// select(iota == position, rows, x) is x with a few rows exchanged: as a scatter it can update x where it lies.
//===----------------------------------------------------------------------===//
#include "Blocks.h"

#include "zyx/Dialect/Graph/Analysis/Updates.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/Transport.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_FORMUPDATESPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

/// A mask is made by few ops.
static constexpr int maxDepth = 16;
/// Of fewer places a copy without the rows that are exchanged is not much less than one with them.
static constexpr int64_t fewestPlaces = 8;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static ConstantOp getSplat(Value value) {
  auto constant = getViewSource(value).getDefiningOp<ConstantOp>();
  // A pad puts something else beside it.
  for (Value view = value; isView(view.getDefiningOp()); view = view.getDefiningOp()->getOperand(0))
    if (!isIndexMap(view.getDefiningOp()))
      return {};
  return constant && constant.getValue().isSplat() ? constant : ConstantOp();
}

namespace {

/// Tries to make a scatter of one select.
class UpdateFormer {
public:
  explicit UpdateFormer(SelectOp op)
      : op(op), builder(op), loc(op.getLoc()), shape(typeOf(op.getResult()).getShape()) {}

  bool run();

private:
  bool isStored();
  bool mayReuseMemory();
  bool findMask(Value condition, int depth);
  std::optional<int64_t> offsetOf(Value value, int64_t dim, int depth);
  Value narrow(Value value, int64_t dim, int depth = maxDepth);
  bool scatterOne(Value place, Value rows);
  bool scatterEach(Value place, Value rows);

  SelectOp op;
  OpBuilder builder;
  Location loc;
  ArrayRef<int64_t> shape;
  /// The dimension whose places are compared.
  int64_t along = -1;
  /// What they equal, and what else must hold, with one element along that dimension.
  Value position;
  SmallVector<Value> conditions;
};

} // namespace

/// Whether the result is one of the block's: others had better be computed by those who read them.
bool UpdateFormer::isStored() {
  SmallVector<Value> work{op.getResult()};
  while (!work.empty())
    for (OpOperand &use : work.pop_back_val().getUses()) {
      if (use.getOwner()->hasTrait<OpTrait::IsTerminator>())
        return true;
      if (isa<ReshapeOp>(use.getOwner()))
        work.push_back(use.getOwner()->getResult(0));
    }
  return false;
}

/// Whether the memory of what stays may be that of the result: an argument that is no weight, or what a loop carries,
/// and nobody else reads it.
bool UpdateFormer::mayReuseMemory() {
  Value value = op.getOperand(2);
  while (true) {
    if (!value.hasOneUse())
      return false;
    auto reshape = value.getDefiningOp<ReshapeOp>();
    if (!reshape)
      break;
    value = reshape.getX();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  Operation *around = argument.getOwner()->getParentOp();
  if (auto entry = dyn_cast<func::FuncOp>(around))
    return !isWeight(entry, argument.getArgNumber());
  auto loop = dyn_cast<LoopOp>(around);
  return loop && argument.getArgNumber() >= 1 && argument.getArgNumber() <= loop.getInitial().size();
}

/// The number that is added to the place along `dim` of a value that is nothing else.
std::optional<int64_t> UpdateFormer::offsetOf(Value value, int64_t dim, int depth) {
  Operation *made = value.getDefiningOp();
  auto type = dyn_cast<IntegerType>(typeOf(value).getElementType());
  if (!made || depth == 0 || !type || type.isUnsigned() || type.getWidth() < 32)
    return std::nullopt;
  if (auto iota = dyn_cast<IotaOp>(made))
    return static_cast<int64_t>(iota.getDim()) == dim ? std::optional<int64_t>(0) : std::nullopt;
  if (isa<ReshapeOp, ExpandOp, PermuteOp>(made)) {
    auto dims = getOperandDims(made);
    return dims && (*dims)[dim] ? offsetOf(made->getOperand(0), *(*dims)[dim], depth - 1) : std::nullopt;
  }
  // Places fit either type.
  if (auto cast = dyn_cast<CastOp>(made))
    return offsetOf(cast.getX(), dim, depth - 1);
  auto binary = dyn_cast<BinaryOp>(made);
  if (!binary)
    return std::nullopt;
  const bool isAdd = binary.getKind() == BinaryKind::Add, isMul = binary.getKind() == BinaryKind::Mul;
  Value place = binary.getA(), other = binary.getB();
  if ((isAdd || isMul) && getSplat(place))
    std::swap(place, other);
  ConstantOp splat = getSplat(other);
  if (!splat || (!isAdd && !isMul && binary.getKind() != BinaryKind::Sub))
    return std::nullopt;
  const int64_t number = splat.getValue().getSplatValue<APInt>().sextOrTrunc(64).getSExtValue();
  constexpr int64_t most = int64_t(1) << 30;
  if (isMul ? number != 1 : number < -most || number > most)
    return std::nullopt;
  auto offset = offsetOf(place, dim, depth - 1);
  if (offset && !isMul)
    *offset += isAdd ? number : -number;
  return offset;
}

/// A value that is the same everywhere along `dim`, with one element there; null where that is not seen.
Value UpdateFormer::narrow(Value value, int64_t dim, int depth) {
  SmallVector<int64_t> own(typeOf(value).getShape());
  if (own[dim] == 1)
    return value;
  own[dim] = 1;
  Operation *made = value.getDefiningOp();
  if (!made || depth == 0)
    return {};
  const RankedTensorType type = typeOf(value).clone(own);
  if (ConstantOp splat = getSplat(value))
    return ConstantOp::create(builder, loc, type, splat.getValue().resizeSplat(type));
  if (isa<ReshapeOp, ExpandOp, PermuteOp>(made)) {
    auto dims = getOperandDims(made);
    if (!dims)
      return {};
    Value x = made->getOperand(0);
    if ((*dims)[dim])
      x = narrow(x, *(*dims)[dim], depth - 1);
    else if (isa<ReshapeOp>(made))
      return {};
    if (!x)
      return {};
    if (isa<ExpandOp>(made) && typeOf(x) == type)
      return x;
    Operation *copy = builder.clone(*made);
    copy->setOperand(0, x);
    copy->getResult(0).setType(type);
    return copy->getResult(0);
  }
  if (!isElementwise(made))
    return {};
  SmallVector<Value> operands;
  for (Value operand : made->getOperands()) {
    operands.push_back(narrow(operand, dim, depth - 1));
    if (!operands.back())
      return {};
  }
  Operation *copy = builder.clone(*made);
  copy->setOperands(operands);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

/// Reads the condition as a comparison of places with a position, and others that do not hang on the place.
bool UpdateFormer::findMask(Value condition, int depth) {
  Operation *made = condition.getDefiningOp();
  if (depth == 0 || !made)
    return false;
  // What is compared is seen through the same views.
  SmallVector<Operation *> views;
  while (isa<ReshapeOp, ExpandOp, PermuteOp>(made)) {
    views.push_back(made);
    made = made->getOperand(0).getDefiningOp();
    if (!made)
      return false;
  }
  auto binary = dyn_cast<BinaryOp>(made);
  if (!binary)
    return false;
  const int64_t rank = static_cast<int64_t>(shape.size());
  auto spread = [&](Value value) {
    for (Operation *view : llvm::reverse(views)) {
      Operation *copy = builder.clone(*view);
      copy->setOperand(0, value);
      copy->getResult(0).setType(typeOf(value).clone(typeOf(view->getResult(0)).getShape()));
      value = copy->getResult(0);
    }
    return value;
  };
  if (binary.getKind() == BinaryKind::And) {
    Value a = spread(binary.getA()), b = spread(binary.getB());
    return findMask(a, depth - 1) ? (conditions.push_back(b), true)
                                  : findMask(b, depth - 1) && (conditions.push_back(a), true);
  }
  if (binary.getKind() != BinaryKind::Eq || !isa<IntegerType>(typeOf(binary.getA()).getElementType()))
    return false;
  for (auto [places, other] : {std::pair(binary.getA(), binary.getB()), std::pair(binary.getB(), binary.getA())})
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value wide = spread(places);
      auto offset = shape[dim] >= fewestPlaces ? offsetOf(wide, dim, maxDepth) : std::nullopt;
      if (!offset || std::abs(*offset) + shape[dim] > std::numeric_limits<int32_t>::max())
        continue;
      Value number = narrow(spread(other), dim);
      if (!number)
        continue;
      along = dim;
      position = number;
      if (*offset != 0)
        position = BinaryOp::create(builder, loc, BinaryKind::Sub, position,
                                    zyx::fusion::makeIntegerSplat(builder, loc, typeOf(position), *offset));
      return true;
    }
  return false;
}

/// One place for all that lies beside the dimension.
bool UpdateFormer::scatterOne(Value place, Value rows) {
  for (int64_t dim = 0, rank = static_cast<int64_t>(shape.size()); dim < rank && place; ++dim)
    place = narrow(place, dim);
  if (!place)
    return false;
  place = ReshapeOp::create(builder, loc, typeOf(place).clone({int64_t(1)}), place);
  auto scatter = ScatterOp::create(builder, loc, op.getType(), ScatterKind::Set, op.getOperand(2), place, rows, along);
  scatter->setAttr(apartAttrName, builder.getUnitAttr());
  op.getResult().replaceAllUsesWith(scatter.getResult());
  return true;
}

/// A place for each of what lies in front of the dimension, as for each of several texts.
bool UpdateFormer::scatterEach(Value place, Value rows) {
  for (int64_t dim = along + 1, rank = static_cast<int64_t>(shape.size()); dim < rank && place; ++dim)
    place = narrow(place, dim);
  if (!place)
    return false;
  int64_t outer = 1, inner = 1;
  for (int64_t dim = 0; dim < along; ++dim)
    outer *= shape[dim];
  for (int64_t extent : shape.drop_front(along + 1))
    inner *= extent;
  const RankedTensorType number = RankedTensorType::get({outer}, builder.getI64Type());
  place = ReshapeOp::create(builder, loc, typeOf(place).clone({outer}), place);
  if (typeOf(place) != number)
    place = CastOp::create(builder, loc, number, place);
  auto binary = [&](BinaryKind kind, Value a, Value b) -> Value { return BinaryOp::create(builder, loc, kind, a, b); };
  Value isInside =
      binary(BinaryKind::And, binary(BinaryKind::Ge, place, zyx::fusion::makeIntegerSplat(builder, loc, number, 0)),
             binary(BinaryKind::Lt, place, zyx::fusion::makeIntegerSplat(builder, loc, number, shape[along])));
  Value first = binary(BinaryKind::Mul, IotaOp::create(builder, loc, number, 0),
                       zyx::fusion::makeIntegerSplat(builder, loc, number, shape[along]));
  Value index = SelectOp::create(builder, loc, isInside, binary(BinaryKind::Add, first, place),
                                 zyx::fusion::makeIntegerSplat(builder, loc, number, -1));
  const RankedTensorType flat = typeOf(op.getResult()).clone({outer * shape[along], inner});
  Value x = ReshapeOp::create(builder, loc, flat, op.getOperand(2));
  Value updates = ReshapeOp::create(builder, loc, flat.clone({outer, inner}), rows);
  auto scatter = ScatterOp::create(builder, loc, flat, ScatterKind::Set, x, index, updates, 0);
  scatter->setAttr(apartAttrName, builder.getUnitAttr());
  op.getResult().replaceAllUsesWith(ReshapeOp::create(builder, loc, op.getType(), scatter.getResult()));
  return true;
}

bool UpdateFormer::run() {
  if (llvm::is_contained(shape, 0) || !isStored() || !mayReuseMemory() || !findMask(op.getOperand(0), maxDepth))
    return false;
  Value rows = narrow(op.getOperand(1), along);
  if (!rows)
    return false;
  Value place = position;
  for (Value condition : conditions) {
    Value own = narrow(condition, along);
    if (!own)
      return false;
    Value outside = zyx::fusion::makeIntegerSplat(builder, loc, typeOf(place), -1);
    place = SelectOp::create(builder, loc, own, place, outside);
  }
  return scatterOne(place, rows) || scatterEach(place, rows);
}

static void formUpdates(Block &block) {
  for (auto scatter : block.getOps<ScatterOp>())
    scatter->removeAttr(apartAttrName);
  for (auto op : llvm::make_early_inc_range(block.getOps<SelectOp>()))
    UpdateFormer(op).run();
}

namespace {

struct FormUpdates : zyx::fusion::impl::FormUpdatesPassBase<FormUpdates> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), formUpdates)))
      signalPassFailure();
  }
};

} // namespace
