//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "NormalizeViews.h"
#include "Blocks.h"
#include "FuseUnpacking.h"
#include "MergeReductions.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <map>

namespace zyx::fusion {
#define GEN_PASS_DEF_NORMALIZEVIEWSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

/// A reshape is pushed through at most this many element-wise ops, which are cloned on the way, each once, and
/// through this many views between two of them.
static constexpr int maxPushedOps = 8, maxPushedViews = 32;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static RankedTensorType withShape(Value value, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, typeOf(value).getElementType());
}

/// Clones an element-wise op onto operands of another shape, and for a result of another type.
static Value cloneWithOperands(OpBuilder &builder, Operation *op, ValueRange operands, Type element = {}) {
  return zyx::fusion::cloneWith(builder, op, operands,
                                RankedTensorType::get(typeOf(operands.back()).getShape(),
                                                      element ? element : typeOf(op->getResult(0)).getElementType()));
}

static ConstantOp getSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat() ? constant : ConstantOp();
}

static Value makeSplat(OpBuilder &builder, ConstantOp splat, ArrayRef<int64_t> shape) {
  RankedTensorType type = withShape(splat, shape);
  return ConstantOp::create(builder, splat.getLoc(), type, splat.getValue().resizeSplat(type));
}

//===----------------------------------------------------------------------===//
// Reshapes move up
//===----------------------------------------------------------------------===//

/// Whether a value is made of inputs and constants by few views and element-wise ops.
static bool isMadeOfInputs(Value value, int &opsLeft, llvm::SmallPtrSetImpl<Operation *> &seen) {
  for (int views = 0; isView(value.getDefiningOp()); ++views) {
    if (views == maxPushedViews)
      return false;
    // Beside what is computed a pad would put what was to be computed with.
    if (auto pad = value.getDefiningOp<PadOp>()) {
      Operation *source = getViewSource(pad).getDefiningOp();
      return !source || isa<ParameterOp, ConstantOp>(source);
    }
    value = value.getDefiningOp()->getOperand(0);
  }
  Operation *op = value.getDefiningOp();
  if (!op || isa<ParameterOp, ConstantOp>(op))
    return true;
  if (!isElementwise(op))
    return false;
  if (!seen.insert(op).second)
    return true;
  return --opsLeft >= 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isMadeOfInputs(operand, opsLeft, seen); });
}

/// Applies a view to another value of the same extents.
static Value applyView(OpBuilder &builder, Operation *view, Value value) {
  if (ConstantOp splat = getSplat(value); splat && isIndexMap(view))
    return makeSplat(builder, splat, typeOf(view->getResult(0)).getShape());
  Operation *clone = builder.clone(*view);
  clone->setOperand(0, value);
  clone->getResult(0).setType(withShape(value, typeOf(view->getResult(0)).getShape()));
  return clone->getResult(0);
}

namespace {

/// What was pushed already, by the value and the views in front of it.
using Pushed = std::map<std::pair<void *, std::vector<Operation *>>, Value>;

} // namespace

/// The value seen through the views, outermost first, with the views on its leaves.
static Value push(OpBuilder &builder, Value value, std::vector<Operation *> views, Pushed &pushed) {
  for (; isView(value.getDefiningOp()); value = value.getDefiningOp()->getOperand(0))
    views.push_back(value.getDefiningOp());
  const auto key = std::pair(value.getAsOpaquePointer(), views);
  if (auto known = pushed.find(key); known != pushed.end())
    return known->second;
  Value result = value;
  if (Operation *op = value.getDefiningOp(); isElementwise(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(push(builder, operand, views, pushed));
    result = cloneWithOperands(builder, op, operands);
  } else {
    for (Operation *view : llvm::reverse(views))
      result = applyView(builder, view, result);
  }
  return pushed[key] = result;
}

bool zyx::fusion::isWidening(Operation *op) {
  auto cast = dyn_cast_or_null<CastOp>(op);
  if (!cast)
    return false;
  auto from = dyn_cast<FloatType>(typeOf(cast.getX()).getElementType()),
       to = dyn_cast<FloatType>(typeOf(cast).getElementType());
  return from && to && from.getWidth() < to.getWidth();
}

bool zyx::fusion::canPushReshape(ReshapeOp op) {
  int opsLeft = maxPushedOps;
  llvm::SmallPtrSet<Operation *, 16> seen;
  return !isUnitReshape(op) && isMadeOfInputs(op, opsLeft, seen) && opsLeft != maxPushedOps;
}

/// Whether only scans, sorts and scatters read a reshape, of what is smaller than they see it: they read a stored
/// value, and that would be stored as often as it is repeated.
static bool isRepeatedForOrder(ReshapeOp op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) { return isOrderOp(user); }) &&
         typeOf(getViewSource(op)).getNumElements() < typeOf(op).getNumElements();
}

static void pushReshape(ReshapeOp op) {
  if (!zyx::fusion::canPushReshape(op) || isRepeatedForOrder(op))
    return;
  OpBuilder builder(op);
  Pushed pushed;
  op.replaceAllUsesWith(push(builder, op, {}, pushed));
}

void zyx::fusion::pushReshapes(Block &block) {
  for (ReshapeOp reshape : llvm::make_early_inc_range(block.getOps<ReshapeOp>()))
    if (!reshape.use_empty())
      pushReshape(reshape);
}

//===----------------------------------------------------------------------===//
// Expands move down
//===----------------------------------------------------------------------===//

/// Where all operands of an element-wise op repeat along some dimensions, computes before they do.
static void hoistExpand(Operation *op) {
  ArrayRef<int64_t> shape = typeOf(op->getResult(0)).getShape();
  SmallVector<int64_t> narrow(shape);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    bool isRepeated = llvm::all_of(op->getOperands(), [&](Value operand) {
      auto expand = operand.getDefiningOp<ExpandOp>();
      return getSplat(operand) || (expand && typeOf(expand.getX()).getDimSize(dim) == 1);
    });
    if (isRepeated)
      narrow[dim] = 1;
  }
  bool hasExpand = llvm::any_of(op->getOperands(), [](Value operand) { return operand.getDefiningOp<ExpandOp>(); });
  if (!hasExpand || ArrayRef(narrow) == shape)
    return;
  OpBuilder builder(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (ConstantOp splat = getSplat(operand)) {
      operands.push_back(makeSplat(builder, splat, narrow));
      continue;
    }
    auto expand = operand.getDefiningOp<ExpandOp>();
    Value source = expand.getX();
    if (typeOf(source).getShape() != ArrayRef(narrow))
      source = ExpandOp::create(builder, expand.getLoc(), withShape(source, narrow), source);
    operands.push_back(source);
  }
  Value computed = cloneWithOperands(builder, op, operands);
  op->getResult(0).replaceAllUsesWith(ExpandOp::create(builder, op->getLoc(), op->getResult(0).getType(), computed));
}

/// The dimension of a reshape's result that a dimension of its operand becomes, or -1 where it is split or merged.
static int64_t findReshaped(ReshapeOp reshape, int64_t dim) {
  ArrayRef<int64_t> from = typeOf(reshape.getX()).getShape(), to = typeOf(reshape).getShape();
  int64_t before = 1, place = 1;
  for (int64_t extent : from.take_front(dim))
    before *= extent;
  for (auto [at, extent] : llvm::enumerate(to)) {
    if (extent == from[dim] && extent != 1 && place == before)
      return static_cast<int64_t>(at);
    place *= extent;
  }
  return -1;
}

/// An expand along dimensions that a pad, flip or window leaves alone, or a pad of nothing cuts short, comes behind it,
/// so that what is repeated is seen to be.
static void sinkExpand(Operation *view) {
  auto expand = view->getOperand(0).getDefiningOp<ExpandOp>();
  if (!expand)
    return;
  ArrayRef<int64_t> from = typeOf(expand.getX()).getShape(), to = typeOf(expand).getShape();
  ArrayRef<int64_t> shape = typeOf(view->getResult(0)).getShape();
  auto pad = dyn_cast<PadOp>(view);
  auto isTouched = [&](int64_t dim) {
    if (pad)
      return pad.getLow()[dim] > 0 || pad.getHigh()[dim] > 0 || pad.getInterior()[dim] != 0 || shape[dim] == 0;
    if (auto flip = dyn_cast<FlipOp>(view))
      return llvm::is_contained(flip.getDims(), dim);
    return llvm::is_contained(cast<WindowOp>(view).getDims(), dim);
  };
  SmallVector<int64_t> before(to), after(shape), low, high;
  if (pad)
    llvm::append_range(low, pad.getLow()), llvm::append_range(high, pad.getHigh());
  bool isAny = false;
  for (size_t dim = 0; dim < to.size(); ++dim)
    if (from[dim] != to[dim] && !isTouched(dim)) {
      before[dim] = after[dim] = 1;
      if (pad)
        low[dim] = high[dim] = 0;
      isAny = true;
    }
  if (!isAny)
    return;
  OpBuilder builder(view);
  Value source = expand.getX();
  if (typeOf(source).getShape() != ArrayRef(before))
    source = ExpandOp::create(builder, expand.getLoc(), withShape(source, before), source);
  Operation *clone = builder.clone(*view);
  clone->setOperand(0, source);
  if (auto cut = dyn_cast<PadOp>(clone)) {
    cut.setLow(low);
    cut.setHigh(high);
  }
  clone->getResult(0).setType(withShape(source, after));
  Value result = clone->getResult(0);
  if (ArrayRef(after) != shape)
    result = ExpandOp::create(builder, view->getLoc(), view->getResult(0).getType(), result);
  view->getResult(0).replaceAllUsesWith(result);
}

/// An expand comes behind a reshape that pads alone read, along dimensions that it neither splits nor merges.
static void sinkExpand(ReshapeOp reshape) {
  auto expand = reshape.getX().getDefiningOp<ExpandOp>();
  if (!expand || !llvm::all_of(reshape->getUsers(), llvm::IsaPred<PadOp>))
    return;
  ArrayRef<int64_t> from = typeOf(expand.getX()).getShape(), to = typeOf(expand).getShape();
  SmallVector<int64_t> narrow(typeOf(reshape).getShape());
  for (size_t dim = 0; dim < to.size(); ++dim)
    if (from[dim] != to[dim]) {
      // Without elements the other extents are not those of the operand.
      const int64_t reshaped = to[dim] == 0 ? -1 : findReshaped(reshape, static_cast<int64_t>(dim));
      if (reshaped < 0)
        return;
      narrow[reshaped] = 1;
    }
  OpBuilder builder(reshape);
  Value moved = ReshapeOp::create(builder, reshape.getLoc(), withShape(expand, narrow), expand.getX());
  reshape.replaceAllUsesWith(ExpandOp::create(builder, expand.getLoc(), reshape.getType(), moved).getResult());
}

//===----------------------------------------------------------------------===//
// Reshapes of what is computed move down
//===----------------------------------------------------------------------===//

/// The reshape of a computed value that an operand is, unless it is a unit reshape.
static ReshapeOp getComputedReshape(Value operand) {
  auto reshape = operand.getDefiningOp<ReshapeOp>();
  if (!reshape || isUnitReshape(reshape))
    return {};
  Operation *source = getViewSource(reshape).getDefiningOp();
  bool isComputed = source && (isElementwise(source) || isa<ReduceOp>(source));
  return isComputed ? reshape : ReshapeOp();
}

/// Whether a value is cast to a wider type for the terms of reductions alone, or for those of a contraction among
/// others: what is stored of it has the narrow one.
static bool widensTerms(Operation *op) {
  auto wide = dyn_cast<CastOp>(op);
  if (!wide || typeOf(wide).getElementTypeBitWidth() <= typeOf(wide->getOperand(0)).getElementTypeBitWidth())
    return false;
  auto isTerm = [](Operation *user) {
    auto product = dyn_cast<BinaryOp>(user);
    return product && product.getKind() == BinaryKind::Mul &&
           llvm::all_of(product->getUsers(), [](Operation *reader) { return isa<ReduceOp>(reader); });
  };
  auto isContracted = [](Operation *user) {
    return llvm::any_of(user->getUsers(), [](Operation *reader) {
      auto reduce = dyn_cast<ReduceOp>(reader);
      return reduce && matchContraction(reduce);
    });
  };
  bool isForTerms = true;
  SmallVector<Value> pending{wide->getResult(0)};
  while (!pending.empty()) {
    const Value value = pending.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (isView(user))
        pending.push_back(user->getResult(0));
      else if (!isTerm(user))
        isForTerms = false;
      else if (isContracted(user))
        return true;
    }
  }
  return isForTerms;
}

/// What is done to a reshaped value, with nothing beside it that is computed, is done before the
/// reshape: there it is in the kernel of that value.
static void sinkReshape(Operation *op) {
  ReshapeOp chosen;
  for (Value operand : op->getOperands())
    if (ReshapeOp reshape = getComputedReshape(operand); reshape && !chosen)
      chosen = reshape;
  if (!chosen || widensTerms(op))
    return;
  ArrayRef<int64_t> shape = typeOf(chosen.getX()).getShape();
  for (Value operand : op->getOperands()) {
    ReshapeOp reshape = getComputedReshape(operand);
    int opsLeft = maxPushedOps;
    llvm::SmallPtrSet<Operation *, 16> seen;
    bool fits = reshape ? typeOf(reshape.getX()).getShape() == shape : isMadeOfInputs(operand, opsLeft, seen);
    if (!fits)
      return;
  }
  OpBuilder builder(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (ReshapeOp reshape = getComputedReshape(operand)) {
      operands.push_back(reshape.getX());
    } else if (ConstantOp splat = getSplat(operand)) {
      operands.push_back(makeSplat(builder, splat, shape));
    } else {
      operands.push_back(ReshapeOp::create(builder, op->getLoc(), withShape(operand, shape), operand));
    }
  }
  Value computed = cloneWithOperands(builder, op, operands);
  for (Value operand : operands)
    if (auto back = operand.getDefiningOp<ReshapeOp>())
      pushReshape(back);
  op->getResult(0).replaceAllUsesWith(
      ReshapeOp::create(builder, chosen.getLoc(), op->getResult(0).getType(), computed));
}

/// Whether a reshape makes one dimension of several that the permute in front of it has put side by side.
static bool joinsPermuted(ReshapeOp reshape, PermuteOp permute) {
  ArrayRef<int64_t> from = typeOf(reshape.getX()).getShape(), to = typeOf(reshape).getShape(),
                    order = permute.getOrder();
  size_t dim = 0;
  for (int64_t extent : to) {
    std::optional<int64_t> last;
    int64_t product = 1;
    for (; dim < from.size() && product < extent; product *= from[dim++]) {
      if (from[dim] == 1)
        continue;
      if (last && order[dim] != *last + 1)
        return true;
      last = order[dim];
    }
    if (product != extent)
      return false;
  }
  return false;
}

/// What a product reads is cast to its narrow type in the order in which it is read, so that it lies in memory like
/// that.
static void castInOrder(CastOp op) {
  auto reshape = op->getOperand(0).getDefiningOp<ReshapeOp>();
  auto permute = reshape ? reshape.getX().getDefiningOp<PermuteOp>() : PermuteOp();
  auto narrow = permute ? permute.getX().getDefiningOp<CastOp>() : CastOp();
  if (!narrow || !widensTerms(op) || !reshape->hasOneUse() || !permute->hasOneUse() || !narrow->hasOneUse() ||
      !joinsPermuted(reshape, permute))
    return;
  OpBuilder builder(permute);
  Value moved = applyView(builder, permute, narrow->getOperand(0));
  permute.getResult().replaceAllUsesWith(cloneWithOperands(builder, narrow, moved));
}

/// A pad, window or flip of what is cast to wider floats is taken of the narrow ones: these are stored then, or read as
/// they lie, and a product widens its factors itself.
static void sinkWidening(Operation *view) {
  SmallVector<Operation *> views;
  Value value = view->getResult(0);
  for (; isView(value.getDefiningOp()); value = value.getDefiningOp()->getOperand(0))
    views.push_back(value.getDefiningOp());
  auto wide = value.getDefiningOp<CastOp>();
  if (!wide)
    return;
  auto to = dyn_cast<FloatType>(typeOf(wide).getElementType()),
       from = dyn_cast<FloatType>(typeOf(wide.getX()).getElementType());
  if (!from || !to || from.getWidth() >= to.getWidth())
    return;
  OpBuilder builder(view);
  Value narrow = wide.getX();
  for (Operation *each : llvm::reverse(views)) {
    auto pad = dyn_cast<PadOp>(each);
    if (!pad) {
      narrow = applyView(builder, each, narrow);
      continue;
    }
    ConstantOp fill = getSplat(pad.getFill());
    if (!fill)
      return;
    APFloat number = fill.getValue().getSplatValue<APFloat>();
    bool isRounded = false;
    number.convert(from.getFloatSemantics(), APFloat::rmNearestTiesToEven, &isRounded);
    if (isRounded || number.isNaN())
      return;
    auto type = RankedTensorType::get({}, from);
    Value own = ConstantOp::create(builder, fill.getLoc(), type, DenseElementsAttr::get(type, number));
    narrow = PadOp::create(builder, pad.getLoc(), withShape(narrow, typeOf(pad).getShape()), narrow, own, pad.getLow(),
                           pad.getHigh(), pad.getInterior());
  }
  Operation *copy = builder.clone(*wide);
  copy->setOperand(0, narrow);
  copy->getResult(0).setType(typeOf(view->getResult(0)));
  view->getResult(0).replaceAllUsesWith(copy->getResult(0));
}

//===----------------------------------------------------------------------===//
// Sums of what stands in different places
//===----------------------------------------------------------------------===//

namespace {

/// A cast of parts that stand side by side, as gradients of slices do: a sum of values with zeros around, no two of
/// which have elements in the same place. Each is cast before, where it is computed.
class PartsCast {
public:
  explicit PartsCast(CastOp op) : op(op), builder(op) {}

  void run() {
    if (!narrows() || !collect(skipViews()))
      return;
    // What is put together lies in memory in the order in which it was to be cast.
    while (!views.empty() && isa<PermuteOp>(views.back()))
      permutes.push_back(views.pop_back_val());
    Value result = rebuild(sum);
    for (Operation *view : llvm::reverse(views))
      result = applyView(builder, view, result);
    op.getResult().replaceAllUsesWith(result);
  }

private:
  bool narrows() {
    auto from = dyn_cast<FloatType>(typeOf(op->getOperand(0)).getElementType()),
         to = dyn_cast<FloatType>(typeOf(op).getElementType());
    return from && to && to.getWidth() < from.getWidth();
  }
  Value skipViews() {
    sum = op->getOperand(0);
    while (isa_and_nonnull<ReshapeOp, PermuteOp>(sum.getDefiningOp()) && sum.hasOneUse()) {
      views.push_back(sum.getDefiningOp());
      sum = sum.getDefiningOp()->getOperand(0);
    }
    return sum;
  }
  bool collect(Value value) {
    if (!value.hasOneUse())
      return false;
    if (auto add = value.getDefiningOp<BinaryOp>())
      return add.getKind() == BinaryKind::Add && add.getA() != add.getB() && collect(add.getA()) && collect(add.getB());
    auto pad = value.getDefiningOp<PadOp>();
    auto isPositive = [](int64_t count) { return count >= 0; };
    if (!pad || !matchPattern(pad.getFill(), m_PosZeroFloat()) ||
        !llvm::all_of(pad.getInterior(), [](int64_t n) { return n == 0; }) || !llvm::all_of(pad.getLow(), isPositive) ||
        !llvm::all_of(pad.getHigh(), isPositive) ||
        !llvm::all_of(pads, [&](PadOp other) { return isApart(pad, other); }))
      return false;
    pads.push_back(pad);
    return true;
  }
  static bool isApart(PadOp a, PadOp b) {
    ArrayRef<int64_t> ofA = typeOf(a.getX()).getShape(), ofB = typeOf(b.getX()).getShape();
    for (size_t dim = 0; dim < ofA.size(); ++dim)
      if (a.getLow()[dim] + ofA[dim] <= b.getLow()[dim] || b.getLow()[dim] + ofB[dim] <= a.getLow()[dim])
        return true;
    return false;
  }
  Value rebuild(Value value) {
    Operation *old = value.getDefiningOp();
    if (auto add = dyn_cast<BinaryOp>(old))
      return cloneWithOperands(builder, add, {rebuild(add.getA()), rebuild(add.getB())}, typeOf(op).getElementType());
    auto pad = cast<PadOp>(old);
    Value x = CastOp::create(builder, op.getLoc(), narrow(pad.getX()), pad.getX()), fill = zero(narrow(pad.getFill()));
    Operation *made = builder.clone(*old);
    made->setOperands({x, fill});
    made->getResult(0).setType(narrow(value));
    Value part = made->getResult(0);
    for (Operation *permute : permutes)
      part = applyView(builder, permute, part);
    return part;
  }
  RankedTensorType narrow(Value value) {
    return RankedTensorType::get(typeOf(value).getShape(), typeOf(op).getElementType());
  }
  Value zero(RankedTensorType type) {
    return ConstantOp::create(builder, op.getLoc(), type,
                              DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
  }

  CastOp op;
  OpBuilder builder;
  Value sum;
  SmallVector<Operation *> views, permutes;
  SmallVector<PadOp> pads;
};

} // namespace

//===----------------------------------------------------------------------===//
// Views that are none, and the whole
//===----------------------------------------------------------------------===//

static void foldView(Operation *view) {
  if (auto reshape = dyn_cast<ReshapeOp>(view))
    if (auto inner = reshape.getX().getDefiningOp<ReshapeOp>())
      reshape.getXMutable().assign(inner.getX());
  SmallVector<OpFoldResult> folded;
  if (succeeded(view->fold(folded)) && folded.size() == 1) {
    view->getResult(0).replaceAllUsesWith(cast<Value>(folded[0]));
  } else if (ConstantOp splat = getSplat(view->getOperand(0)); splat && isIndexMap(view)) {
    OpBuilder builder(view);
    view->getResult(0).replaceAllUsesWith(makeSplat(builder, splat, typeOf(view->getResult(0)).getShape()));
  }
}

static void normalizeViews(Block &block) {
  zyx::fusion::eraseUnused(block);
  zyx::fusion::cropComputed(block);
  zyx::fusion::eraseUnused(block);
  zyx::fusion::fuseUnpacking(block);
  for (auto op : llvm::make_early_inc_range(block.getOps<CastOp>()))
    PartsCast(op).run();
  zyx::fusion::eraseUnused(block);
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isView(&op))
      foldView(&op);
    if (auto reshape = dyn_cast<ReshapeOp>(op); reshape && !reshape.use_empty()) {
      pushReshape(reshape);
      if (!reshape.use_empty())
        sinkExpand(reshape);
    } else if (isa<PadOp, FlipOp, WindowOp>(op)) {
      sinkExpand(&op);
      if (!op.use_empty())
        sinkWidening(&op);
    } else if (auto reduce = dyn_cast<ReduceOp>(op))
      zyx::fusion::mergeReduction(reduce);
    else if (isElementwise(&op)) {
      hoistExpand(&op);
      if (!op.use_empty())
        sinkReshape(&op);
      if (auto cast = dyn_cast<CastOp>(op); cast && !cast->use_empty())
        castInOrder(cast);
    }
  }
  zyx::fusion::eraseUnused(block);
}

namespace {

struct NormalizeViews : zyx::fusion::impl::NormalizeViewsPassBase<NormalizeViews> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), normalizeViews)))
      signalPassFailure();
  }
};

} // namespace
