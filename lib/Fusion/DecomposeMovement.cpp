//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Machine.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_DECOMPOSEMOVEMENTPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static ConstantOp getSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat() ? constant : ConstantOp();
}

/// The fill of the pads among the views that make up a value; they have one. Null without a pad.
static Value getFill(Value value) {
  for (; isView(value.getDefiningOp()); value = value.getDefiningOp()->getOperand(0))
    if (auto pad = value.getDefiningOp<PadOp>())
      return pad.getFill();
  return {};
}

/// Whether an op of these kinds reads the value through views, a gather as what it picks from.
template <typename... Ops> static bool isReadBy(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (use.getOperandNumber() != 0 && isa<GatherOp>(user))
      return false;
    return isa<Ops...>(user) || (use.getOperandNumber() == 0 && isView(user) && isReadBy<Ops...>(user->getResult(0)));
  });
}

/// Of what alternates, so many neighbours are computed by the same ops rather than stored one after the other, if these
/// are few.
static constexpr int64_t mostSpread = 4;
static constexpr size_t mostSpreadOps = 16;

/// Whether a value is computed element by element, by few ops, of what is stored.
static bool isComputedByFew(Value value) {
  llvm::SmallSetVector<Operation *, mostSpreadOps> ops;
  auto visit = [&](Value x) {
    while (Operation *op = x.getDefiningOp()) {
      auto reshape = dyn_cast<ReshapeOp>(op);
      if (isa<ExpandOp, PermuteOp>(op) || (reshape && isUnitReshape(reshape))) {
        x = op->getOperand(0);
        continue;
      }
      if (isElementwise(op))
        ops.insert(op);
      // What is seen through other views is stored.
      return isElementwise(op) || isView(op) || isa<ConstantOp, IotaOp, ParameterOp>(op);
    }
    return true;
  };
  if (!visit(value) || ops.empty())
    return false;
  for (size_t i = 0; i < ops.size(); ++i)
    if (ops.size() > mostSpreadOps || !llvm::all_of(ops[i]->getOperands(), visit))
      return false;
  return true;
}

/// Positions added before the first element, after the last one, and between each two.
struct Padding {
  SmallVector<int64_t> low, high, interior;
  explicit Padding(size_t rank) : low(rank), high(rank), interior(rank) {}
};

/// Concats that are made with the one that they are a part of, and how many such are around each.
using Joined = llvm::DenseMap<Operation *, int64_t>;

namespace {

class Decomposer {
public:
  Decomposer(Operation *op, const Joined &joined, bool inLockstep)
      : joined(joined), inLockstep(inLockstep), builder(op), loc(op->getLoc()) {}

  Value decompose(PadOp op);
  Value decompose(ConcatOp op);

private:
  Value splat(RankedTensorType type, Attribute element) {
    return ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, element));
  }
  Value zeros(RankedTensorType type) { return splat(type, builder.getZeroAttr(type.getElementType())); }
  Value reshape(Value x, ArrayRef<int64_t> shape) { return ReshapeOp::create(builder, loc, typeOf(x).clone(shape), x); }
  Value repeat(Value fill, ArrayRef<int64_t> shape);
  Value counter(ArrayRef<int64_t> shape, int64_t dim);
  Value compare(BinaryKind kind, Value counter, int64_t number);
  Value isElement(ArrayRef<int64_t> from, RankedTensorType to, const Padding &padding);
  Value pad(Value x, const Padding &padding, ArrayRef<int64_t> shape, Value fill);
  Value padWithAnything(Value x, const Padding &padding, ArrayRef<int64_t> shape);
  Value padBetween(Value x, int64_t dim, int64_t count, Value fill);
  Value spread(Value x, const Padding &padding, ArrayRef<int64_t> shape);
  Value spreadBetween(PadOp op);
  Value choose(ArrayRef<Value> parts, ArrayRef<int64_t> ends, Value place);
  Value join(ConcatOp op, const Padding &around, ArrayRef<int64_t> shape);

  const Joined &joined;
  const bool inLockstep;
  OpBuilder builder;
  Location loc;
};

} // namespace

/// A tensor of rank 0 as every element of a shape.
Value Decomposer::repeat(Value fill, ArrayRef<int64_t> shape) {
  if (ConstantOp constant = getSplat(fill)) {
    RankedTensorType type = typeOf(fill).clone(shape);
    return ConstantOp::create(builder, loc, type, constant.getValue().resizeSplat(type));
  }
  Value one = reshape(fill, SmallVector<int64_t>(shape.size(), 1));
  return ExpandOp::create(builder, loc, typeOf(fill).clone(shape), one);
}

/// The place along a dimension, in as few bits as hold it.
Value Decomposer::counter(ArrayRef<int64_t> shape, int64_t dim) {
  bool isSmall = shape[dim] <= std::numeric_limits<int32_t>::max();
  Type element = isSmall ? builder.getI32Type() : builder.getI64Type();
  return IotaOp::create(builder, loc, RankedTensorType::get(shape, element), dim);
}

Value Decomposer::compare(BinaryKind kind, Value counter, int64_t number) {
  RankedTensorType type = typeOf(counter);
  Value limit = splat(type, builder.getIntegerAttr(type.getElementType(), number));
  return BinaryOp::create(builder, loc, kind, counter, limit);
}

/// Where a padded tensor has elements of its operand; null where it has no others.
Value Decomposer::isElement(ArrayRef<int64_t> from, RankedTensorType to, const Padding &padding) {
  Value all;
  auto require = [&](Value condition) {
    all = all ? BinaryOp::create(builder, loc, BinaryKind::And, all, condition).getResult() : condition;
  };
  for (int64_t dim = 0, rank = from.size(); dim < rank; ++dim) {
    int64_t low = padding.low[dim], extent = to.getDimSize(dim);
    int64_t step = from[dim] > 1 ? padding.interior[dim] + 1 : 1;
    int64_t end = low + (from[dim] == 0 ? 0 : (from[dim] - 1) * step + 1);
    Value place = counter(to.getShape(), dim);
    if (low > 0)
      require(compare(BinaryKind::Ge, place, std::min(low, extent)));
    if (end < extent)
      require(compare(BinaryKind::Lt, place, std::max<int64_t>(end, 0)));
    if (step == 1 || extent == 0)
      continue;
    // Elements lie at low, low + step, ...: the remainder by the step is that of the first one.
    RankedTensorType type = typeOf(place);
    if (step < extent)
      place = BinaryOp::create(builder, loc, BinaryKind::Rem, place,
                               splat(type, builder.getIntegerAttr(type.getElementType(), step)));
    int64_t first = ((low % step) + step) % step;
    require(first < extent ? compare(BinaryKind::Eq, place, first) : compare(BinaryKind::Lt, place, 0));
  }
  return all;
}

/// Puts `count` fills behind each element along a dimension.
Value Decomposer::padBetween(Value x, int64_t dim, int64_t count, Value fill) {
  SmallVector<int64_t> shape(typeOf(x).getShape());
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0, rank = shape.size(); d < rank; ++d)
    (d < dim ? outer : d > dim ? inner : shape[dim]) *= d == dim ? 1 : shape[d];
  Padding padding(4);
  padding.high[2] = count;
  Value apart = reshape(x, {outer, shape[dim], 1, inner});
  Value padded = PadOp::create(builder, loc, apart, fill, padding.low, padding.high, padding.interior);
  shape[dim] *= count + 1;
  return reshape(padded, shape);
}

/// A pad with a constant that suits the pads below it.
Value Decomposer::pad(Value x, const Padding &padding, ArrayRef<int64_t> shape, Value fill) {
  if (llvm::is_contained(shape, 0))
    return zeros(typeOf(x).clone(shape));
  Padding around = padding;
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim) {
    if (std::exchange(around.interior[dim], 0) == 0 || typeOf(x).getDimSize(dim) <= 1)
      continue;
    x = padBetween(x, dim, padding.interior[dim], fill);
    around.high[dim] -= padding.interior[dim];
  }
  Value padded = PadOp::create(builder, loc, x, fill, around.low, around.high, around.interior);
  SmallVector<OpFoldResult> folded;
  if (succeeded(padded.getDefiningOp()->fold(folded)) && !folded.empty()) {
    padded.getDefiningOp()->erase();
    return cast<Value>(folded.front());
  }
  return padded;
}

/// The same along dimensions of one element in place of padding, where that is computed by few ops: no kernel looks at
/// what it computes through a pad, and threads in lockstep choose what alternates. Null where it is stored.
Value Decomposer::spread(Value x, const Padding &padding, ArrayRef<int64_t> shape) {
  int64_t times = 1;
  for (auto [dim, from, to] : llvm::enumerate(typeOf(x).getShape(), shape)) {
    if (from == to && padding.low[dim] == 0)
      continue;
    if (from != 1 || padding.low[dim] < 0 || padding.low[dim] >= to || times > mostSpread)
      return {};
    times *= to;
  }
  const bool isSpread = inLockstep && times > 1 && times <= mostSpread && isComputedByFew(x);
  return isSpread ? ExpandOp::create(builder, loc, typeOf(x).clone(shape), x).getResult() : Value();
}

/// A pad that puts fills between elements along one dimension, and around them as if there were more: elements
/// alternate with fills along a dimension of its own.
Value Decomposer::spreadBetween(PadOp op) {
  Value x = op.getX();
  std::optional<int64_t> dim;
  for (int64_t d = 0, rank = op.getType().getRank(); d < rank; ++d) {
    const int64_t low = op.getLow()[d], high = op.getHigh()[d], interior = op.getInterior()[d];
    if (low == 0 && high == 0 && interior == 0)
      continue;
    if (dim || interior == 0 || low < 0 || high < 0 || low + high != interior)
      return {};
    dim = d;
  }
  if (!dim || typeOf(x).getNumElements() == 0)
    return {};
  SmallVector<int64_t> shape(typeOf(x).getShape());
  shape.insert(shape.begin() + *dim + 1, 1);
  Padding padding(shape.size());
  padding.low[*dim + 1] = op.getLow()[*dim];
  padding.high[*dim + 1] = op.getHigh()[*dim];
  Value apart = reshape(x, shape);
  const SmallVector<int64_t> from = shape;
  shape[*dim + 1] = op.getInterior()[*dim] + 1;
  Value all = spread(apart, padding, shape);
  if (!all) {
    apart.getDefiningOp()->erase();
    return {};
  }
  Value chosen =
      SelectOp::create(builder, loc, isElement(from, typeOf(all), padding), all, repeat(op.getFill(), shape));
  return reshape(chosen, op.getType().getShape());
}

/// A pad whose other elements nobody looks at.
Value Decomposer::padWithAnything(Value x, const Padding &padding, ArrayRef<int64_t> shape) {
  if (Value all = spread(x, padding, shape))
    return all;
  if (getSplat(getViewSource(x)) && !getFill(x))
    return repeat(
        ConstantOp::create(builder, loc, typeOf(x).clone(ArrayRef<int64_t>()),
                           getSplat(getViewSource(x)).getValue().resizeSplat(typeOf(x).clone(ArrayRef<int64_t>()))),
        shape);
  Value fill = getFill(x);
  return pad(x, padding, shape, fill ? fill : zeros(typeOf(x).clone(ArrayRef<int64_t>())));
}

Value Decomposer::decompose(PadOp op) {
  Value x = op.getX();
  RankedTensorType type = op.getType();
  Padding padding(type.getRank());
  llvm::copy(op.getLow(), padding.low.begin());
  llvm::copy(op.getHigh(), padding.high.begin());
  llvm::copy(op.getInterior(), padding.interior.begin());
  // The fill may be a constant of one element that is seen through views.
  if (Value result = spreadBetween(op))
    return result;
  ConstantOp fill = getSplat(getViewSource(op.getFill()));
  bool isSplat = bool(getSplat(getViewSource(x)));
  if (fill && !isSplat) {
    Value below = getFill(x);
    DenseElementsAttr value = fill.getValue().resizeSplat(typeOf(op.getFill()));
    Attribute zero = builder.getZeroAttr(type.getElementType());
    bool isZero = value == DenseElementsAttr::get(value.getType(), zero);
    // A gather knows of no fill but zero; kernels of loops over scalars read memory alone.
    if ((!below || getSplat(below).getValue() == value) && (isZero || !isReadBy<GatherOp>(op)) &&
        !isReadBy<ScanOp, SortOp, ScatterOp>(op))
      return pad(x, padding, type.getShape(),
                 below ? below : ConstantOp::create(builder, loc, typeOf(op.getFill()), value));
  }
  Value padded = padWithAnything(x, padding, type.getShape());
  Value condition = isElement(typeOf(x).getShape(), type, padding);
  if (!condition)
    return padded;
  return SelectOp::create(builder, loc, condition, padded, repeat(op.getFill(), type.getShape()));
}

/// The part that holds a place, by halves: `ends` says behind which place each part ends.
Value Decomposer::choose(ArrayRef<Value> parts, ArrayRef<int64_t> ends, Value place) {
  if (parts.size() == 1)
    return parts.front();
  size_t half = parts.size() / 2;
  Value first = choose(parts.take_front(half), ends.take_front(half), place);
  Value second = choose(parts.drop_front(half), ends.drop_front(half), place);
  Value isFirst = compare(BinaryKind::Lt, place, ends[half - 1]);
  return SelectOp::create(builder, loc, isFirst, first, second);
}

/// The concat with `around` on all sides, which nobody looks at. Parts that are concats are no value of their own,
/// which would be written and read again: phases of a transposed convolution alternate along several dimensions.
Value Decomposer::join(ConcatOp op, const Padding &around, ArrayRef<int64_t> shape) {
  const auto dim = static_cast<int64_t>(op.getDim());
  int64_t end = around.low[dim];
  SmallVector<Value> parts;
  SmallVector<int64_t> ends;
  for (Value part : op.getParts()) {
    const int64_t length = typeOf(part).getDimSize(dim);
    if (length == 0)
      continue;
    Padding padding = around;
    padding.low[dim] = end;
    end += length;
    padding.high[dim] = shape[dim] - end;
    Operation *made = part.getDefiningOp();
    parts.push_back(joined.contains(made)              ? join(cast<ConcatOp>(made), padding, shape)
                    : typeOf(part).getShape() == shape ? part
                                                       : padWithAnything(part, padding, shape));
    ends.push_back(end);
  }
  return choose(parts, ends, parts.size() > 1 ? counter(shape, dim) : Value());
}

Value Decomposer::decompose(ConcatOp op) {
  RankedTensorType type = op.getType();
  return type.getNumElements() == 0 ? zeros(type) : join(op, Padding(type.getRank()), type.getShape());
}

/// Threads in lockstep write what alternates in vectors, so that concats which only others read are made with these. A
/// processor takes longer to choose each element than to copy parts twice.
static Joined findJoined(Block &block) {
  // As deep as images have dimensions: each element looks at all parts.
  constexpr int64_t mostAround = 2;
  Joined joined;
  if (!zyx::fusion::getMachine(block.getParentOp()).hasSubgroups())
    return joined;
  for (Operation &op : llvm::reverse(block)) {
    auto concat = dyn_cast<ConcatOp>(op);
    auto around = concat && concat->hasOneUse() ? dyn_cast<ConcatOp>(*concat->user_begin()) : ConcatOp();
    if (!around || around->getBlock() != &block)
      continue;
    if (const int64_t outer = joined.lookup(around); outer < mostAround)
      joined[concat] = outer + 1;
  }
  return joined;
}

/// A pad of a pad with the same fill is one, where that puts fills between elements as if there were more of them.
static void mergeAlternating(Block &block) {
  for (PadOp op : llvm::make_early_inc_range(block.getOps<PadOp>())) {
    auto inner = op.getX().getDefiningOp<PadOp>();
    auto isZero = [](int64_t number) { return number == 0; };
    if (!inner || !inner->hasOneUse() || inner.getFill() != op.getFill() || !llvm::all_of(op.getInterior(), isZero) ||
        llvm::all_of(inner.getInterior(), isZero) ||
        llvm::any_of(inner.getLow(), [](int64_t low) { return low < 0; }) ||
        llvm::any_of(inner.getHigh(), [](int64_t high) { return high < 0; }))
      continue;
    SmallVector<int64_t> low, high;
    bool alternates = true;
    for (size_t dim = 0; dim < op.getLow().size(); ++dim) {
      low.push_back(inner.getLow()[dim] + op.getLow()[dim]);
      high.push_back(inner.getHigh()[dim] + op.getHigh()[dim]);
      alternates &= low.back() >= 0 && high.back() >= 0 && low.back() + high.back() == inner.getInterior()[dim];
    }
    if (!alternates)
      continue;
    OpBuilder builder(op);
    op.replaceAllUsesWith(
        PadOp::create(builder, op.getLoc(), inner.getX(), op.getFill(), low, high, inner.getInterior()).getResult());
    op.erase();
    inner.erase();
  }
}

static void decomposeMovement(Block &block) {
  for (auto transfer : llvm::make_early_inc_range(block.getOps<TransferOp>())) {
    transfer.replaceAllUsesWith(transfer.getX());
    transfer.erase();
  }
  SmallVector<Operation *> ops;
  const Joined joined = findJoined(block);
  const bool inLockstep = zyx::fusion::getMachine(block.getParentOp()).hasSubgroups();
  if (inLockstep)
    mergeAlternating(block);
  SmallVector<Operation *> unread;
  for (Operation &op : block)
    if (isa<PadOp, ConcatOp>(op))
      ops.push_back(&op);
  for (Operation *op : ops) {
    if (joined.contains(op)) {
      unread.push_back(op);
      continue;
    }
    auto pad = dyn_cast<PadOp>(op);
    Decomposer decomposer(op, joined, inLockstep);
    Value result = pad ? decomposer.decompose(pad) : decomposer.decompose(cast<ConcatOp>(op));
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
  for (Operation *part : llvm::reverse(unread))
    part->erase();
}

namespace {

struct DecomposeMovement : zyx::fusion::impl::DecomposeMovementPassBase<DecomposeMovement> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), decomposeMovement)))
      signalPassFailure();
  }
};

} // namespace
