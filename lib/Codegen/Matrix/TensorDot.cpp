//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Matrix/TensorDot.h"
#include "zyx/Dialect/Kernel/IR/Functions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace zyx::kernel;

int64_t AxisStrides::of(Axis axis) const {
  for (auto [each, stride] : strides)
    if (each == axis)
      return stride;
  return 0;
}

std::optional<AxisStrides> zyx::kernel::stridesOf(Value view, ValueRange indices, Value tile, const Axes &axes) {
  auto made = view.getDefiningOp<ViewOp>();
  if (!made || !made.getMap().isOneWholeBlock())
    return std::nullopt;
  BlockAttr block = made.getMap().front();
  std::optional<int64_t> offset = BlockAttr::constant(block.getOffset());
  auto type = cast<RankedTensorType>(tile.getType());
  if (!offset || !made.getType().hasStaticShape() || type.getShape() != made.getType().getShape())
    return std::nullopt;
  AxisStrides result;
  result.offset = *offset;
  for (auto [dim, axis] : llvm::enumerate(axes.of(tile))) {
    std::optional<int64_t> stride = BlockAttr::constant(block.getStrides()[dim]);
    if (!stride || *stride < 0 || getConstantIntValue(indices[dim]) != 0)
      return std::nullopt;
    if (type.getDimSize(dim) == 1)
      continue;
    result.strides.push_back({axis, *stride});
  }
  return result;
}

namespace {

/// Steps of a number through the digits of an inner block, the last of them first.
struct Digit {
  int64_t extent, weight, stride;
  /// The largest value that it has.
  int64_t reached = 0;
};

} // namespace

std::optional<ColumnStrides> zyx::kernel::columnStridesOf(Value view, ValueRange indices, Value tile, Axis columns,
                                                          const Axes &axes) {
  if (std::optional<AxisStrides> strides = stridesOf(view, indices, tile, axes))
    return ColumnStrides{*strides};
  // A piece of a result lies in one run.
  constexpr int64_t pieceColumns = 64;
  auto made = view.getDefiningOp<ViewOp>();
  if (!made || made.getMap().getBlocks().size() != 2)
    return std::nullopt;
  const BlockAttr outer = made.getMap().front(), inner = made.getMap().getBlocks().back();
  auto type = cast<RankedTensorType>(tile.getType());
  const std::optional<int64_t> offset = BlockAttr::constant(inner.getOffset());
  if (outer.hasValid() || inner.hasValid() || !offset || BlockAttr::constant(outer.getOffset()) != 0 ||
      !made.getType().hasStaticShape() || type.getShape() != made.getType().getShape())
    return std::nullopt;
  SmallVector<Digit> digits;
  int64_t weight = 1;
  for (auto [extentExpr, strideExpr] : llvm::reverse(llvm::zip_equal(inner.getShape(), inner.getStrides()))) {
    const std::optional<int64_t> extent = BlockAttr::constant(extentExpr), stride = BlockAttr::constant(strideExpr);
    if (!extent || *extent == 0 || !stride || *stride < 0)
      return std::nullopt;
    digits.push_back({*extent, weight, *stride});
    weight *= *extent;
  }
  ColumnStrides result;
  result.strides.offset = *offset;
  for (auto [dim, axis] : llvm::enumerate(axes.of(tile))) {
    const std::optional<int64_t> step = BlockAttr::constant(outer.getStrides()[dim]);
    if (!step || *step < 0 || getConstantIntValue(indices[dim]) != 0)
      return std::nullopt;
    int64_t count = type.getDimSize(dim);
    if (count == 1 || *step == 0)
      continue;
    auto *digit = llvm::find_if(
        digits, [&](const Digit &each) { return *step % each.weight == 0 && *step < each.weight * each.extent; });
    if (digit == digits.end())
      return std::nullopt;
    const int64_t own = *step / digit->weight;
    result.strides.strides.push_back({axis, own * digit->stride});
    if (own * (count - 1) >= digit->extent) {
      // What the digit does not hold is carried to the next one.
      auto *next = std::next(digit);
      const int64_t run = digit->extent / own;
      if (axis != columns || next == digits.end() || digit->extent % own != 0 || count % run != 0 ||
          run % pieceColumns != 0)
        return std::nullopt;
      result.run = run;
      result.step = next->stride;
      next->reached += count / run - 1;
      count = run;
    }
    digit->reached += own * (count - 1);
  }
  // Sums of digits carry nothing.
  if (llvm::any_of(digits, [](const Digit &digit) { return digit.reached >= digit.extent; }))
    return std::nullopt;
  return result;
}

bool zyx::kernel::isCopied(const AxisStrides &strides, Axis inner, int64_t elementBytes, const Axes &axes,
                           const target::CopyFacts &copies) {
  if (axes.extent(inner) > 1 && strides.of(inner) != 1)
    return false;
  if (strides.offset * elementBytes % copies.alignmentBytes != 0)
    return false;
  return llvm::all_of(strides.strides, [&](auto each) {
    auto [axis, stride] = each;
    int64_t bytes = stride * elementBytes;
    return axes.extent(axis) <= copies.dimensionElements &&
           (axis == inner || (bytes % copies.alignmentBytes == 0 && bytes < copies.strideBytes));
  });
}

BlockAttr zyx::kernel::stridedBlock(MLIRContext *context, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                                    int64_t offset) {
  auto numbers = [&](ArrayRef<int64_t> values) {
    return llvm::map_to_vector(values, [&](int64_t value) { return getAffineConstantExpr(value, context); });
  };
  return BlockAttr::get(context, numbers(shape), numbers(strides), getAffineConstantExpr(offset, context), {}, {});
}

static int64_t bytesOf(Type element) { return element.getIntOrFloatBitWidth() / 8; }

static bool isF8(Type element) { return isa<Float8E4M3FNType, Float8E5M2Type>(element); }

static Type factorOf(DotOp dot) { return getElementTypeOrSelf(dot.getLhs().getType()); }
int64_t TensorDot::elementBytes() const { return bytesOf(factorOf(dot)); }
bool TensorDot::sumsSlices() const { return isF8(factorOf(dot)); }

/// Whether tensor cores multiply these and sum up so.
static bool hasInstruction(Type lhs, Type rhs, Type sums) {
  if (lhs.isInteger(8) && rhs.isInteger(8))
    return sums.isInteger(32);
  return sums.isF32() && ((lhs == rhs && (lhs.isBF16() || lhs.isF16() || lhs.isF32())) || (isF8(lhs) && isF8(rhs)));
}

/// Reads one factor, whose other axis is `free`. Where the other one has windows of `channels` that are no whole
/// slices, the contraction is cut into these.
static std::optional<TensorFactor> matchFactor(Value tile, Axis free, Axis k, ArrayRef<Axis> batches, const Axes &axes,
                                               const zyx::target::CopyFacts &copies, std::string &reason,
                                               int64_t channels = 0) {
  TensorFactor factor;
  // Along batches that it does not have it is the same.
  if (auto broadcast = tile.getDefiningOp<BroadcastOp>())
    tile = broadcast.getInput();
  factor.load = tile.getDefiningOp<LoadOp>();
  if (!factor.load || factor.load.getMask() || factor.load.getOther()) {
    reason = "a factor is computed";
    return std::nullopt;
  }
  std::optional<AxisStrides> strides = stridesOf(factor.load.getView(), factor.load.getIndices(), tile, axes);
  if (!strides) {
    factor.window = matchWindow(factor.load, free, k, axes, copies, reason);
    if (!factor.window)
      return std::nullopt;
    factor.alongDepth = true;
    factor.map = MapAttr::get(tile.getContext(), stridedBlock(tile.getContext(), factor.window->shape,
                                                              factor.window->strides, factor.window->offset));
    return factor;
  }
  Type element = getElementTypeOrSelf(tile.getType());
  factor.alongDepth = isCopied(*strides, k, bytesOf(element), axes, copies);
  if (!factor.alongDepth && !isCopied(*strides, free, bytesOf(element), axes, copies)) {
    reason = "a factor does not lie on multiples of 16 bytes";
    return std::nullopt;
  }
  SmallVector<int64_t> shape, places;
  for (Axis axis : batches)
    if (int64_t stride = strides->of(axis)) {
      factor.batches.push_back(axis);
      shape.push_back(axes.extent(axis));
      places.push_back(stride);
    }
  factor.channels = channels;
  Axis outer = factor.alongDepth ? free : k, inner = factor.alongDepth ? k : free;
  auto extentOf = [&](Axis axis) { return axis == k && channels ? channels : axes.extent(axis); };
  if (channels) {
    shape.push_back(axes.extent(k) / channels);
    places.push_back(channels * strides->of(k));
    if (places.back() * bytesOf(element) % copies.alignmentBytes != 0) {
      reason = "a factor does not lie on multiples of 16 bytes";
      return std::nullopt;
    }
  }
  shape.append({extentOf(outer), extentOf(inner)});
  // Of a single row nobody knows where the next one would be.
  int64_t row = strides->of(outer), aligned = llvm::alignTo(axes.extent(inner), copies.alignmentBytes);
  if (axes.extent(outer) > 1 && row < axes.extent(inner)) {
    reason = "a factor has rows that overlap";
    return std::nullopt;
  }
  places.append({row ? row : aligned, 1});
  if (static_cast<int64_t>(shape.size()) > copies.dimensions) {
    reason = "a factor has more than 5 dimensions";
    return std::nullopt;
  }
  factor.map = MapAttr::get(tile.getContext(), stridedBlock(tile.getContext(), shape, places, strides->offset));
  return factor;
}

/// Elements that threads can compute with and move: others are left to the generic way.
static bool isElement(Type element) {
  return element.isF32() || element.isBF16() || element.isF16() || element.isInteger(32);
}

bool zyx::kernel::isOnRegisters(Operation *op) {
  if (std::optional<FunctionFacts> function = findFunction(op))
    return function->isOnRegisters;
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::CmpFOp, arith::CmpIOp, arith::SelectOp, arith::TruncFOp, arith::ExtFOp,
             arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::MinSIOp,
             arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp, arith::BitcastOp, arith::SIToFPOp, arith::UIToFPOp,
             math::FmaOp, math::SqrtOp, math::AbsFOp, math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp,
             math::CopySignOp>(op);
}

/// Whether what is done behind the dot can be done to registers.
static bool isEpilogue(Operation *op, const TensorDot &dot, const Axes &axes, std::string &reason) {
  auto onlyOwnAxes = [&](Value tile) {
    SmallVector<Axis> seen;
    for (Axis axis : axes.of(tile)) {
      if (axes.extent(axis) == 1)
        continue;
      bool known = axis == dot.m || axis == dot.n || llvm::is_contained(dot.batches, axis);
      if (!known || llvm::is_contained(seen, axis))
        return false;
      seen.push_back(axis);
    }
    return true;
  };
  for (Value result : op->getResults()) {
    Type element = getElementTypeOrSelf(result.getType());
    // Threads that multiply hold no pairs of 16 bits.
    const bool isNarrow = element.isBF16() || element.isF16();
    if (!isTile(result) || !onlyOwnAxes(result) || (!isElement(element) && !element.isInteger(1)) ||
        (isNarrow && dot.isSimtF32)) {
      reason = "what is computed behind the dot has other axes or elements";
      return false;
    }
  }
  if (op == dot.dot)
    return true;
  if (auto load = dyn_cast<LoadOp>(op)) {
    bool fits = !load.getMask() && !load.getOther() && isElement(getElementTypeOrSelf(load.getType())) &&
                columnStridesOf(load.getView(), load.getIndices(), load.getResult(), dot.n, axes);
    if (!fits)
      reason = "what is read behind the dot is read through more than strides";
    return fits;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (isa<BroadcastOp, TransposeOp, ReshapeOp>(op))
    return true;
  // Integers would become 16-bit floats in two steps, and be rounded twice.
  bool fromInteger =
      isa<arith::SIToFPOp, arith::UIToFPOp>(op) && !getElementTypeOrSelf(op->getResult(0).getType()).isF32();
  bool sameBits = isa<arith::BitcastOp>(op) && !llvm::all_of(op->getOperandTypes(), [](Type type) {
                    return getElementTypeOrSelf(type).getIntOrFloatBitWidth() == 32;
                  });
  if (isOnRegisters(op) && !fromInteger && !sameBits &&
      llvm::all_of(op->getOperandTypes(), [](Type type) { return isTile(type); }))
    return true;
  reason = "what is computed behind the dot is no elementwise op";
  return false;
}

std::optional<TensorDot> zyx::kernel::matchTensorDot(FuncOp func, const Axes &axes, const target::TargetInfo &machine,
                                                     bool allowsReducedPrecision, std::string &reason) {
  TensorDot result;
  reason.clear();
  for (Operation &op : func.getBody().front()) {
    if (auto dot = dyn_cast<DotOp>(op)) {
      if (result.dot)
        reason = "there are two dots";
      result.dot = dot;
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      result.stores.push_back(store);
    } else if (op.getNumRegions() != 0) {
      reason = "there are loops";
    }
  }
  if (!result.dot)
    reason = "there is no dot";
  if (!reason.empty())
    return std::nullopt;
  DotOp dot = result.dot;
  Type lhs = getElementTypeOrSelf(dot.getLhs().getType()), rhs = getElementTypeOrSelf(dot.getRhs().getType());
  if (!hasInstruction(lhs, rhs, getElementTypeOrSelf(dot.getType()))) {
    reason = "factors are not of f32, of one 16-bit type or of f8 with sums in f32, or of i8 with sums in i32";
    return std::nullopt;
  }
  if (isF8(lhs) && !allowsReducedPrecision) {
    reason = "tensor cores sum up f8 with few digits";
    return std::nullopt;
  }
  result.isSimtF32 = lhs.isF32() && !allowsReducedPrecision;
  if (!matchPattern(dot.getAcc(), m_AnyZeroFloat()) && !matchPattern(dot.getAcc(), m_Zero())) {
    reason = "sums do not begin with zero";
    return std::nullopt;
  }
  SmallVector<Axis> all = axes.of(dot.getResult());
  result.m = all[all.size() - 2];
  result.n = all.back();
  result.k = axes.of(dot.getLhs()).back();
  for (Axis axis : ArrayRef(all).drop_back(2))
    if (axes.extent(axis) > 1)
      result.batches.push_back(axis);
  // A dimension of extent 1 is tied to whatever it meets.
  if (result.m == result.n || llvm::is_contained(result.batches, result.m) ||
      llvm::is_contained(result.batches, result.n) || axes.extent(result.m) < 1 || axes.extent(result.n) < 1 ||
      axes.extent(result.k) < 1 || ShapedType::getNumElements(cast<RankedTensorType>(dot.getType()).getShape()) == 0) {
    reason = "axes of the dot are one, or empty";
    return std::nullopt;
  }
  result.depth = axes.extent(result.k);
  auto left = matchFactor(dot.getLhs(), result.m, result.k, result.batches, axes, machine.copies, reason);
  auto right =
      left ? matchFactor(dot.getRhs(), result.n, result.k, result.batches, axes, machine.copies, reason) : std::nullopt;
  if (!left || !right)
    return std::nullopt;
  const bool runAlong = left->alongDepth && right->alongDepth;
  if (bytesOf(lhs) != 2 && ((!runAlong && !result.isSimtF32) || left->window || right->window)) {
    reason = runAlong ? "a factor of 8 or 32 bits has windows"
                      : "a factor of 8 or 32 bits does not run along the contraction";
    return std::nullopt;
  }
  if (left->window && right->window) {
    reason = "both factors have windows";
    return std::nullopt;
  }
  const std::optional<TensorWindow> &window = left->window ? left->window : right->window;
  if (window && window->channels % sliceDepth != 0) {
    // The slices of each element of a window end with zeros, and so do those that they are multiplied by.
    const int64_t channels = window->channels;
    result.depth = result.depth / channels * llvm::alignTo(channels, sliceDepth);
    if (left->window)
      right = matchFactor(dot.getRhs(), result.n, result.k, result.batches, axes, machine.copies, reason, channels);
    else
      left = matchFactor(dot.getLhs(), result.m, result.k, result.batches, axes, machine.copies, reason, channels);
    if (!left || !right)
      return std::nullopt;
  }
  result.lhs = *left;
  result.rhs = *right;
  if (result.stores.empty())
    reason = "nothing is stored";
  auto has = [&](StoreOp store, Axis axis) { return axes.extent(axis) == 1 || axes.contains(store.getValue(), axis); };
  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> work;
  for (StoreOp store : result.stores) {
    Operation *from = isTile(store.getValue()) ? store.getValue().getDefiningOp() : nullptr;
    bool fits = from && !store.getMask() && isElement(getElementTypeOrSelf(store.getValue().getType())) &&
                has(store, result.m) && has(store, result.n) &&
                llvm::all_of(result.batches, [&](Axis axis) { return has(store, axis); }) &&
                stridesOf(store.getView(), store.getIndices(), store.getValue(), axes);
    if (!fits)
      reason = "a result is stored through more than strides";
    else
      work.push_back(from);
  }
  bool readsDot = false;
  while (reason.empty() && !work.empty()) {
    Operation *op = work.pop_back_val();
    if (!seen.insert(op).second)
      continue;
    readsDot |= op == dot;
    if (!isEpilogue(op, result, axes, reason))
      break;
    if (op != dot && !isa<LoadOp>(op))
      for (Value operand : op->getOperands()) {
        if (Operation *def = operand.getDefiningOp())
          work.push_back(def);
        else
          reason = "what is computed behind the dot is no elementwise op";
      }
  }
  if (reason.empty() && !readsDot)
    reason = "nothing is stored";
  if (!reason.empty())
    return std::nullopt;
  return result;
}

bool zyx::kernel::isForWarps(const TensorDot &dot, std::string &reason) {
  if (dot.lhs.window || dot.rhs.window)
    reason = "windows of images are fetched by Hopper's copy engine";
  else if (dot.isSimtF32)
    reason = "f32 with all digits passes through Hopper's copy engine";
  else if (dot.sumsSlices())
    reason = "f8 is multiplied by Hopper's tensor cores";
  else
    return true;
  return false;
}
