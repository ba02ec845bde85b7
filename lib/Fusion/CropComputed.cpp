//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A part of what is computed, of which nobody reads the rest: only that part is computed.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "NormalizeViews.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace {

/// Ops that a crop passes at most.
constexpr size_t mostCropped = 64;
/// One of so many results of a matrix product is left at most.
constexpr int64_t mostLeft = 8;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// What is taken off a value, by dimension.
struct Crop {
  SmallVector<int64_t> low, high;

  static Crop none(int64_t rank) { return {SmallVector<int64_t>(rank, 0), SmallVector<int64_t>(rank, 0)}; }
  bool isNone() const {
    auto isZero = [](int64_t count) { return count == 0; };
    return llvm::all_of(low, isZero) && llvm::all_of(high, isZero);
  }
  bool operator==(const Crop &other) const { return low == other.low && high == other.high; }
  /// Takes off dimension `to` what `other` takes off its dimension `from`.
  void take(size_t to, const Crop &other, size_t from) {
    low[to] = other.low[from];
    high[to] = other.high[from];
  }
  RankedTensorType applyTo(Value value) const {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    for (auto [extent, before, behind] : llvm::zip_equal(shape, low, high))
      extent -= before + behind;
    return typeOf(value).clone(shape);
  }
};

/// The crop of a reshape's operand: dimensions that are cropped must be ones of it, too.
std::optional<Crop> cropBehind(ReshapeOp op, const Crop &crop) {
  ArrayRef<int64_t> from = typeOf(op.getX()).getShape(), to = typeOf(op).getShape();
  Crop result = Crop::none(static_cast<int64_t>(from.size()));
  int64_t before = 1;
  for (size_t dim = 0; dim < to.size(); before *= to[dim++]) {
    if (crop.low[dim] == 0 && crop.high[dim] == 0)
      continue;
    size_t source = 0;
    int64_t rows = 1;
    while (source < from.size() && (rows != before || from[source] != to[dim]))
      rows *= from[source++];
    if (source == from.size())
      return std::nullopt;
    result.take(source, crop, dim);
  }
  return result;
}

/// The crop of a window's operand: whole windows, and what these read.
std::optional<Crop> cropBehind(WindowOp op, const Crop &crop) {
  ArrayRef<int64_t> from = typeOf(op.getX()).getShape();
  Crop result = Crop::none(static_cast<int64_t>(from.size()));
  for (size_t dim = from.size(); dim < crop.low.size(); ++dim)
    if (crop.low[dim] != 0 || crop.high[dim] != 0)
      return std::nullopt;
  for (size_t dim = 0; dim < from.size(); ++dim)
    result.take(dim, crop, dim);
  for (auto [dim, size, stride, dilation] :
       llvm::zip_equal(op.getDims(), op.getSize(), op.getStride(), op.getDilation())) {
    const int64_t left = typeOf(op).getDimSize(dim) - crop.low[dim] - crop.high[dim];
    if (left < 1)
      return std::nullopt;
    if (crop.low[dim] == 0 && crop.high[dim] == 0)
      continue;
    result.low[dim] = crop.low[dim] * stride;
    result.high[dim] = from[dim] - result.low[dim] - ((left - 1) * stride + (size - 1) * dilation + 1);
  }
  return result;
}

/// Whether a factor of a product is read through windows.
bool readsWindows(Value factor) {
  for (Operation *op = factor.getDefiningOp(); op && (isView(op) || isElementwise(op));
       op = op->getOperand(0).getDefiningOp())
    if (isa<WindowOp>(op))
      return true;
  return false;
}

/// Rows of a matrix product that are cut are no longer one dimension of its operand: most must be left out. Those
/// of a convolution are several dimensions anyway.
bool mayCut(ReduceOp reduce, const Crop &crop) {
  std::optional<Contraction> contraction = matchContraction(reduce);
  return !contraction || llvm::any_of(contraction->product->getOperands(), readsWindows) ||
         mostLeft * crop.applyTo(reduce).getNumElements() <= typeOf(reduce).getNumElements();
}

class Cropper {
public:
  explicit Cropper(PadOp root) : root(root), builder(root) {}
  void run();

private:
  bool collect(Value value, const Crop &crop);
  bool collectOperands(Operation *op, const Crop &crop);
  bool isOnlyRead(Operation *op);
  Value rebuild(Value value);
  Value cut(Value value, const Crop &crop);

  PadOp root;
  OpBuilder builder;
  /// What is taken off each value on the way, in the order in which they were met.
  llvm::MapVector<Value, Crop> crops;
  llvm::DenseMap<Value, Value> made;
  bool computes = false;
};

} // namespace

bool Cropper::collect(Value value, const Crop &crop) {
  if (auto known = crops.find(value); known != crops.end())
    return known->second == crop;
  if (crops.size() == mostCropped)
    return false;
  crops.insert({value, crop});
  Operation *op = value.getDefiningOp();
  return !op || isa<ParameterOp, ConstantOp>(op) || crop.isNone() || collectOperands(op, crop);
}

bool Cropper::collectOperands(Operation *op, const Crop &crop) {
  if (isElementwise(op)) {
    computes = true;
    return llvm::all_of(op->getOperands(), [&](Value operand) { return collect(operand, crop); });
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (!mayCut(reduce, crop))
      return false;
    computes = true;
    Crop inner = Crop::none(typeOf(reduce.getX()).getRank());
    size_t kept = 0;
    for (size_t dim = 0; dim < inner.low.size(); ++dim)
      if (!llvm::is_contained(reduce.getDims(), static_cast<int64_t>(dim)))
        inner.take(dim, crop, kept++);
    return collect(reduce.getX(), inner);
  }
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    Crop inner = Crop::none(typeOf(permute).getRank());
    for (auto [dim, source] : llvm::enumerate(permute.getOrder()))
      inner.take(source, crop, dim);
    return collect(permute.getX(), inner);
  }
  if (auto expand = dyn_cast<ExpandOp>(op)) {
    Crop inner = crop;
    for (auto [dim, extent] : llvm::enumerate(typeOf(expand.getX()).getShape()))
      if (extent == 1 && typeOf(expand).getDimSize(dim) != 1)
        inner.low[dim] = inner.high[dim] = 0;
    return collect(expand.getX(), inner);
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    std::optional<Crop> inner = cropBehind(reshape, crop);
    return inner && collect(reshape.getX(), *inner);
  }
  // What pads and windows are taken of is stored anyway.
  if (auto pad = dyn_cast<PadOp>(op))
    return llvm::all_of(pad.getInterior(), [](int64_t count) { return count == 0; }) &&
           llvm::all_of(llvm::enumerate(typeOf(pad.getX()).getShape()), [&](auto it) {
             auto [dim, extent] = it;
             return crop.low[dim] - pad.getLow()[dim] < extent && crop.high[dim] - pad.getHigh()[dim] < extent;
           });
  if (auto window = dyn_cast<WindowOp>(op)) {
    std::optional<Crop> inner = cropBehind(window, crop);
    return inner && (!window.getX().getDefiningOp<PadOp>() || collect(window.getX(), *inner));
  }
  return false;
}

/// Whether nobody reads what is computed there but what is computed anew: views of inputs may have other readers.
bool Cropper::isOnlyRead(Operation *op) {
  if (isView(op)) {
    Operation *source = getViewSource(op->getResult(0)).getDefiningOp();
    if (!source || isa<ParameterOp, ConstantOp>(source) || isa<PadOp, WindowOp>(op))
      return true;
  }
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto known = user->getNumResults() == 1 ? crops.find(user->getResult(0)) : crops.end();
    return user == root.getOperation() || (known != crops.end() && !known->second.isNone());
  });
}

/// A view of a part, or fewer equal elements.
Value Cropper::cut(Value value, const Crop &crop) {
  if (crop.isNone())
    return value;
  RankedTensorType type = crop.applyTo(value);
  if (auto constant = value.getDefiningOp<ConstantOp>(); constant && constant.getValue().isSplat())
    return ConstantOp::create(builder, constant.getLoc(), type, constant.getValue().resizeSplat(type));
  auto single = RankedTensorType::get({}, type.getElementType());
  Value fill =
      ConstantOp::create(builder, root.getLoc(), single,
                         DenseElementsAttr::get(single, Attribute(builder.getZeroAttr(type.getElementType()))));
  auto negated = [](ArrayRef<int64_t> counts) { return llvm::map_to_vector(counts, [](int64_t n) { return -n; }); };
  return PadOp::create(builder, root.getLoc(), type, value, fill, negated(crop.low), negated(crop.high),
                       SmallVector<int64_t>(crop.low.size(), 0));
}

Value Cropper::rebuild(Value value) {
  if (auto known = made.find(value); known != made.end())
    return known->second;
  auto found = crops.find(value);
  if (found == crops.end())
    return value;
  const Crop &crop = found->second;
  Operation *op = value.getDefiningOp();
  const bool isPassed =
      op && !crop.isNone() && (isElementwise(op) || isa<ReduceOp, PermuteOp, ExpandOp, ReshapeOp, WindowOp>(op));
  Value result;
  if (auto pad = value.getDefiningOp<PadOp>(); pad && !crop.isNone() && crops.contains(value) &&
                                               llvm::all_of(pad.getInterior(), [](int64_t n) { return n == 0; })) {
    SmallVector<int64_t> low(pad.getLow()), high(pad.getHigh());
    for (size_t dim = 0; dim < low.size(); ++dim) {
      low[dim] -= crop.low[dim];
      high[dim] -= crop.high[dim];
    }
    result = PadOp::create(builder, pad.getLoc(), crop.applyTo(value), pad.getX(), pad.getFill(), low, high,
                           pad.getInterior());
  } else if (isPassed) {
    auto rebuildOperand = [&](Value operand) {
      auto window = dyn_cast<WindowOp>(op);
      return window && !operand.getDefiningOp<PadOp>() ? cut(operand, *cropBehind(window, crop)) : rebuild(operand);
    };
    SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), rebuildOperand);
    result = zyx::fusion::cloneWith(builder, op, operands, crop.applyTo(value));
  } else {
    result = cut(value, crop);
  }
  return made[value] = result;
}

void Cropper::run() {
  auto isRemoved = [](int64_t count) { return count <= 0; };
  if (!llvm::all_of(root.getInterior(), [](int64_t count) { return count == 0; }) ||
      !llvm::all_of(root.getLow(), isRemoved) || !llvm::all_of(root.getHigh(), isRemoved) ||
      typeOf(root).getNumElements() == 0)
    return;
  Crop crop = Crop::none(typeOf(root).getRank());
  for (size_t dim = 0; dim < crop.low.size(); ++dim) {
    crop.low[dim] = -root.getLow()[dim];
    crop.high[dim] = -root.getHigh()[dim];
  }
  if (crop.isNone() || !collect(root.getX(), crop) || !computes)
    return;
  for (auto &[value, own] : crops)
    if (Operation *op = value.getDefiningOp();
        op && !own.isNone() && (isView(op) || isElementwise(op) || isa<ReduceOp>(op)) && !isOnlyRead(op))
      return;
  root.replaceAllUsesWith(rebuild(root.getX()));
}

void zyx::fusion::cropComputed(Block &block) {
  for (PadOp pad : llvm::make_early_inc_range(block.getOps<PadOp>()))
    if (!pad.use_empty())
      Cropper(pad).run();
}
