//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FactorOrders.h"

#include "zyx/Base/Assert.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"

using namespace mlir;
using namespace zyx::cost;
using namespace zyx::graph::ir;

/// Fewer channels are no long runs, wherever they lie.
static constexpr int64_t fewestTurned = 16;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// How a value is read from memory.
struct Reading {
  /// Whether it is so by more than other strides, and by windows.
  bool isShown = false, isWindow = false;
  /// From one index of a dimension to the next; nothing where these are not known.
  std::optional<SmallVector<int64_t>> steps;
  /// Elements in memory; 0 where the value is computed.
  int64_t elements = 0;
};

/// Of what may be stored for the sake of its order the reading is that of the copy.
static Reading readingOf(Value value, ArrayRef<Value> stored = {}) {
  Operation *op = value.getDefiningOp();
  if (!op || llvm::is_contained(stored, value)) {
    SmallVector<int64_t> steps(typeOf(value).getRank(), 1);
    for (size_t dim = steps.size(); dim-- > 1;)
      steps[dim - 1] = steps[dim] * typeOf(value).getDimSize(static_cast<unsigned>(dim));
    return {false, false, std::move(steps), typeOf(value).getNumElements()};
  }
  if (!isView(op) && !isa<CastOp>(op))
    return {};
  Reading reading = readingOf(op->getOperand(0), stored);
  if (!reading.steps && !isa<ReshapeOp>(op)) {
    reading.isShown |= isa<PadOp, WindowOp, FlipOp>(op);
    return reading;
  }
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    const SmallVector<int64_t> before = *reading.steps;
    for (auto [dim, from] : llvm::enumerate(permute.getOrder()))
      (*reading.steps)[dim] = before[from];
  } else if (auto window = dyn_cast<WindowOp>(op)) {
    reading.isShown = reading.isWindow = true;
    for (auto [i, dim] : llvm::enumerate(window.getDims())) {
      reading.steps->push_back((*reading.steps)[dim] * window.getDilation()[i]);
      (*reading.steps)[dim] *= window.getStride()[i];
    }
  } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    if (!isUnitReshape(reshape)) {
      reading.isShown = true;
      reading.steps = std::nullopt;
      return reading;
    }
    // Dimensions of one element have any step.
    SmallVector<int64_t> steps;
    const RankedTensorType from = typeOf(reshape.getX());
    unsigned next = 0;
    for (int64_t extent : typeOf(value).getShape()) {
      while (extent != 1 && from.getDimSize(next) == 1)
        ++next;
      steps.push_back(extent == 1 || !reading.steps ? 0 : (*reading.steps)[next++]);
    }
    if (reading.steps)
      reading.steps = std::move(steps);
  } else {
    reading.isShown |= isa<PadOp, FlipOp>(op);
  }
  return reading;
}

bool FactorOrders::isOurs(Operation *op) const {
  return llvm::any_of(added, [&](const Added &made) { return llvm::is_contained(made.ops, op); });
}

/// The value to store for a factor; null where there is none.
Value FactorOrders::order(Value factor, Value other, ArrayRef<int64_t> contracted) {
  Value value = factor;
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ExpandOp, CastOp>(op) || isOurs(op))
      break;
    value = op->getOperand(0);
  }
  const Reading own = readingOf(value), others = readingOf(other, turned);
  // Overlapping windows have more elements than what they show.
  if (value == factor || own.elements == 0 || typeOf(value).getNumElements() > own.elements ||
      (!own.isShown && !others.isWindow))
    return {};
  const RankedTensorType type = typeOf(value);
  SmallVector<int64_t> order, inverse(type.getRank()), back;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    (llvm::is_contained(contracted, dim) ? back : order).push_back(dim);
  // Windows are walked as they lie, if neighbours lie along the contraction.
  if (others.isWindow && others.steps) {
    auto step = [&](int64_t dim) { return (*others.steps)[dim]; };
    if (llvm::any_of(back, [&](int64_t dim) { return type.getDimSize(dim) > 1 && step(dim) == 1; }))
      llvm::stable_sort(back, [&](int64_t a, int64_t b) { return step(a) > step(b); });
  }
  llvm::append_range(order, back);
  // Dimensions of one element have no place.
  SmallVector<int64_t> places = order;
  llvm::erase_if(places, [&](int64_t dim) { return type.getDimSize(dim) == 1; });
  const bool isOrdered = llvm::is_sorted(places);
  if (isOrdered && !own.isShown)
    return {};
  // Of what is cast to a wider type below its views, the narrow elements.
  SmallVector<Operation *> views;
  Value narrow = value;
  while (Operation *op = narrow.getDefiningOp()) {
    // Another factor is ordered below: what it added may go before this one, and has an order already.
    if (isOurs(op))
      return {};
    if (!isView(op) || isa<PadOp>(op))
      break;
    views.push_back(op);
    narrow = op->getOperand(0);
  }
  auto cast = narrow.getDefiningOp<CastOp>();
  const bool isNarrowed = cast && typeOf(cast.getX()).getElementTypeBitWidth() < type.getElementTypeBitWidth();
  if (isOrdered && !isNarrowed)
    return value;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Added made{value, value, {}};
  auto add = [&](Operation *op) {
    made.ops.push_back(op);
    return op->getResult(0);
  };
  if (isNarrowed) {
    made.stored = cast.getX();
    for (Operation *view : llvm::reverse(views)) {
      Operation *copy = builder.clone(*view);
      copy->setOperand(0, made.stored);
      copy->getResult(0).setType(typeOf(copy->getResult(0)).clone(typeOf(made.stored).getElementType()));
      made.stored = add(copy);
    }
  }
  Value shown = made.stored;
  if (!isOrdered) {
    SmallVector<int64_t> shape;
    for (auto [place, dim] : llvm::enumerate(order)) {
      shape.push_back(type.getDimSize(dim));
      inverse[dim] = static_cast<int64_t>(place);
    }
    const RankedTensorType stored = typeOf(made.stored);
    made.stored = add(PermuteOp::create(builder, value.getLoc(), stored.clone(shape), made.stored, order));
    shown = add(PermuteOp::create(builder, value.getLoc(), stored, made.stored, inverse));
  }
  if (isNarrowed)
    shown = add(CastOp::create(builder, value.getLoc(), type, shown));
  const llvm::SmallPtrSet<Operation *, 8> ours(made.ops.begin(), made.ops.end());
  value.replaceAllUsesExcept(shown, ours);
  added.push_back(made);
  return made.stored;
}

/// What a factor shows windows of, below all pads, and for each dimension of the factor the one of it that is walked
/// along; none for those within a window, and for repeated ones. Null where it shows no windows, or what is computed.
static Value findWindowed(Value factor, SmallVectorImpl<std::optional<int64_t>> &dims) {
  Value below, value = factor;
  SmallVector<std::optional<int64_t>> walked;
  for (int64_t dim = 0; dim < typeOf(factor).getRank(); ++dim)
    walked.push_back(dim);
  bool isWindow = false;
  while (Operation *op = value.getDefiningOp()) {
    if (!isView(op) && !isa<CastOp>(op))
      return {};
    value = op->getOperand(0);
    if (isa<WindowOp>(op))
      for (std::optional<int64_t> &dim : walked)
        if (dim && *dim >= typeOf(value).getRank())
          dim = std::nullopt;
    if (!isa<WindowOp, PadOp, FlipOp, CastOp>(op)) {
      const auto own = getOperandDims(op);
      if (!own)
        return {};
      for (std::optional<int64_t> &dim : walked)
        if (dim)
          dim = (*own)[*dim];
    }
    isWindow |= isa<WindowOp>(op);
    if (isa<PadOp, WindowOp>(op)) {
      below = value;
      dims.assign(walked.begin(), walked.end());
    }
  }
  return isWindow ? below : Value();
}

/// The copy to store for windows of what has neighbours nowhere along the contraction; null where there is none.
Value FactorOrders::turn(Value factor, ReduceOp reduce) {
  SmallVector<std::optional<int64_t>> dims;
  Value value = findWindowed(factor, dims);
  // Another contraction may show the same.
  const Reading own = value ? readingOf(value, turned) : Reading();
  if (own.elements == 0 || !own.steps)
    return {};
  const RankedTensorType type = typeOf(value);
  SmallVector<int64_t> order, back, inverse(type.getRank()), shape;
  int64_t summed = 1;
  for (int64_t dim : reduce.getDims())
    if (dims[dim] && type.getDimSize(*dims[dim]) > 1) {
      back.push_back(*dims[dim]);
      summed *= type.getDimSize(*dims[dim]);
    }
  llvm::sort(back);
  // Positions that are columns of a product have short runs, which a matrix unit's operands are joined of anyway.
  bool isColumn = false;
  for (int64_t dim = typeOf(factor).getRank(); dim-- > 0;)
    if (!llvm::is_contained(reduce.getDims(), dim) && typeOf(factor).getDimSize(dim) > 1) {
      isColumn = dims[dim] && (*own.steps)[*dims[dim]] == 1;
      break;
    }
  if (isColumn && type.getElementTypeBitWidth() < 32)
    return {};
  if (summed < fewestTurned || llvm::any_of(back, [&](int64_t dim) { return (*own.steps)[dim] == 1; }))
    return {};
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(back, dim))
      order.push_back(dim);
  llvm::append_range(order, back);
  for (auto [place, dim] : llvm::enumerate(order)) {
    shape.push_back(type.getDimSize(dim));
    inverse[dim] = static_cast<int64_t>(place);
  }
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto stored = PermuteOp::create(builder, value.getLoc(), type.clone(shape), value, order);
  auto shown = PermuteOp::create(builder, value.getLoc(), type, stored, inverse);
  value.replaceAllUsesExcept(shown, stored);
  added.push_back({stored, value, {stored, shown}});
  areColumns |= isColumn;
  return stored;
}

FactorOrders::FactorOrders(GroupOp group, bool isWanted, bool turnsWindows) {
  if (!isWanted)
    return;
  SmallVector<ReduceOp> reduces(group.getBlock().getOps<ReduceOp>());
  for (ReduceOp reduce : turnsWindows ? ArrayRef(reduces) : ArrayRef<ReduceOp>())
    if (std::optional<Contraction> contraction = matchContraction(reduce))
      for (Value factor : contraction->product->getOperands())
        if (Value value = turn(factor, reduce)) {
          values.push_back(value);
          turned.push_back(value);
        }
  for (ReduceOp reduce : reduces) {
    std::optional<Contraction> contraction = matchContraction(reduce);
    if (!contraction)
      continue;
    BinaryOp product = contraction->product;
    for (auto [factor, other] : {std::pair(product.getA(), product.getB()), std::pair(product.getB(), product.getA())})
      if (Value value = order(factor, other, reduce.getDims()); value && !llvm::is_contained(values, value))
        values.push_back(value);
  }
}

void FactorOrders::keepOnly(ArrayRef<Value> kept) {
  llvm::erase_if(added, [&](Added &made) {
    if (llvm::any_of(made.ops, [&](Operation *op) { return llvm::is_contained(kept, op->getResult(0)); }))
      return false;
    llvm::erase(values, made.stored);
    made.ops.back()->getResult(0).replaceAllUsesWith(made.original);
    for (Operation *op : llvm::reverse(made.ops)) {
      ZYX_ASSERT(op->use_empty(), "only its last op is read by others");
      op->erase();
    }
    return true;
  });
}
