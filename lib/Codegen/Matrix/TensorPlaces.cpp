//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Matrix/TensorPlaces.h"

#include "zyx/Codegen/Matrix/TensorDot.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;

static constexpr int64_t elementBytes = 2;
/// Places, and what is computed of two of them, are numbers of 32 bits.
static constexpr int64_t mostPlaces = (int64_t(1) << 29) - 1;
static Type elementOf(Value tile) { return getElementTypeOrSelf(tile.getType()); }
static bool is16Bit(Type type) { return type.isBF16() || type.isF16(); }

static std::optional<double> splatOf(Value tile) {
  while (Operation *op = tile.getDefiningOp()) {
    if (!isa<BroadcastOp, ReshapeOp, TransposeOp, SplatOp>(op))
      break;
    tile = op->getOperand(0);
  }
  if (FloatAttr number; matchPattern(tile, m_Constant(&number)))
    return number.getValueAsDouble();
  DenseElementsAttr value;
  if (!matchPattern(tile, m_Constant(&value)) || !value.isSplat() || !isa<FloatType>(value.getElementType()))
    return std::nullopt;
  return value.getSplatValue<APFloat>().convertToDouble();
}

std::optional<std::pair<Value, double>> zyx::kernel::scaledBy(arith::MulFOp product) {
  for (auto [value, factor] :
       {std::pair(product.getLhs(), product.getRhs()), std::pair(product.getRhs(), product.getLhs())})
    if (std::optional<double> number = splatOf(factor))
      return std::pair<Value, double>(value, *number);
  return std::nullopt;
}

bool zyx::kernel::isMinusInfinity(Value tile) {
  std::optional<double> number = splatOf(tile);
  return number && *number == -std::numeric_limits<double>::infinity();
}

//===----------------------------------------------------------------------===//
// Places in memory
//===----------------------------------------------------------------------===//

/// The parts of an axis of `extent` elements, `stride` numbers apart, whose numbers are split into the indices of
/// `block` again.
static bool splitInto(BlockAttr block, Axis axis, int64_t extent, int64_t stride, SmallVectorImpl<AxisPart> &parts) {
  int64_t size = 1, at = stride, left = extent, divisor = 1;
  SmallVector<AxisPart> found;
  for (size_t dim = block.getRank(); dim-- > 0 && left > 1;) {
    std::optional<int64_t> here = BlockAttr::constant(block.getShape()[dim]),
                           step = BlockAttr::constant(block.getStrides()[dim]);
    if (!here || !step)
      return false;
    const int64_t end = size * *here;
    if (at < end) {
      if (at % size != 0 || end % at != 0)
        return false;
      const int64_t taken = std::min(left, end / at);
      if (left % taken != 0)
        return false;
      found.push_back({axis, divisor, taken, *step * (at / size)});
      divisor *= taken;
      left /= taken;
      at *= taken;
    }
    size = end;
  }
  // Outermost first.
  parts.append(found.rbegin(), found.rend());
  return left == 1;
}

/// Where a tile that is loaded or stored as a whole lies: the parts of each of its dimensions.
static bool partsOf(Value view, ValueRange indices, Value tile, const Axes &axes, SmallVectorImpl<AxisPart> &parts,
                    int64_t &offset) {
  auto made = view.getDefiningOp<ViewOp>();
  auto type = cast<RankedTensorType>(tile.getType());
  if (!made || made.getMap().getBlocks().size() > 2 || !made.getType().hasStaticShape() ||
      type.getShape() != made.getType().getShape())
    return false;
  for (BlockAttr block : made.getMap().getBlocks())
    if (block.hasValid())
      return false;
  BlockAttr first = made.getMap().front();
  std::optional<int64_t> begin = BlockAttr::constant(made.getMap().getBlocks().back().getOffset());
  if (!begin)
    return false;
  offset = *begin;
  SmallVector<std::pair<int64_t, int64_t>> numbers;
  for (auto [dim, axis] : llvm::enumerate(axes.of(tile))) {
    std::optional<int64_t> stride = BlockAttr::constant(first.getStrides()[dim]);
    if (!stride || *stride < 0 || getConstantIntValue(indices[dim]) != 0)
      return false;
    const int64_t extent = type.getDimSize(dim);
    if (extent == 1)
      continue;
    if (made.getMap().isSingleBlock()) {
      parts.push_back({axis, 1, extent, *stride});
      continue;
    }
    numbers.push_back({*stride, extent});
    if (*stride == 0 || !splitInto(made.getMap().getBlocks()[1], axis, extent, *stride, parts))
      return false;
  }
  if (made.getMap().isSingleBlock())
    return true;
  // Numbers of two dimensions must not add up to those of a third.
  llvm::sort(numbers);
  for (size_t i = 0; i + 1 < numbers.size(); ++i)
    if (numbers[i + 1].first % (numbers[i].first * numbers[i].second) != 0)
      return false;
  return BlockAttr::constant(first.getOffset()) == 0;
}

bool zyx::kernel::isSame(const TensorOperand &a, const TensorOperand &b) {
  auto isSamePart = [](const AxisPart &x, const AxisPart &y) {
    return x.axis == y.axis && x.divisor == y.divisor && x.extent == y.extent;
  };
  return a.map == b.map && a.view.getDefiningOp<ViewOp>().getBuffer() == b.view.getDefiningOp<ViewOp>().getBuffer() &&
         llvm::equal(a.batches, b.batches, isSamePart);
}

std::optional<TensorOperand> zyx::kernel::matchOperand(Value view, ValueRange indices, Value tile, Axis rows,
                                                       Axis features, const Axes &axes,
                                                       const target::CopyFacts &copies) {
  TensorOperand operand;
  operand.view = view;
  SmallVector<AxisPart> parts;
  int64_t offset = 0;
  if (!partsOf(view, indices, tile, axes, parts, offset) || offset * elementBytes % copies.alignmentBytes != 0)
    return std::nullopt;
  std::optional<AxisPart> row, feature;
  for (const AxisPart &part : parts) {
    if (part.axis == rows || part.axis == features) {
      std::optional<AxisPart> &mine = part.axis == rows ? row : feature;
      if (mine || part.stride == 0)
        return std::nullopt;
      mine = part;
    } else if (part.stride != 0 && part.extent != 1) {
      operand.batches.push_back(part);
    }
  }
  // Of a single row nobody knows where the next one would be.
  const int64_t columns = axes.extent(features), aligned = llvm::alignTo(columns, copies.alignmentBytes / elementBytes);
  if (!feature || feature->stride != 1 || (!row && axes.extent(rows) != 1))
    return std::nullopt;
  if (!row)
    row = AxisPart{rows, 1, 1, aligned};
  SmallVector<int64_t> shape, strides;
  for (const AxisPart &part : operand.batches) {
    shape.push_back(part.extent);
    strides.push_back(part.stride);
  }
  shape.append({row->extent, columns});
  strides.append({row->stride, 1});
  for (auto [extent, stride] : llvm::zip(shape, ArrayRef(strides).drop_back()))
    if (extent > copies.dimensionElements || stride * elementBytes % copies.alignmentBytes != 0 ||
        stride * elementBytes >= copies.strideBytes)
      return std::nullopt;
  if (static_cast<int64_t>(shape.size()) > copies.dimensions || row->stride < columns)
    return std::nullopt;
  operand.map = MapAttr::get(tile.getContext(), stridedBlock(tile.getContext(), shape, strides, offset));
  return operand;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

namespace {
/// keys * key + queries * query + number.
struct Linear {
  int64_t keys = 0, queries = 0, number = 0;
};
} // namespace

static std::optional<Linear> matchLinear(Value tile, Axis queries, Axis keys, const Axes &axes) {
  Operation *op = tile.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat || !splat.getElementType().isInteger())
      return std::nullopt;
    APInt number = splat.getSplatValue<APInt>();
    if (number.getSignificantBits() > 32)
      return std::nullopt;
    return Linear{.number = number.getSExtValue()};
  }
  if (auto iota = dyn_cast<IotaOp>(op)) {
    Axis axis = axes.of(iota.getResult(), iota.getDim());
    if (iota.getBase() || (axis != queries && axis != keys) || elementOf(tile).getIntOrFloatBitWidth() < 32)
      return std::nullopt;
    return axis == keys ? Linear{.keys = 1} : Linear{.queries = 1};
  }
  if (isa<BroadcastOp, TransposeOp, ReshapeOp>(op))
    return matchLinear(op->getOperand(0), queries, keys, axes);
  if (!isa<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  auto x = matchLinear(op->getOperand(0), queries, keys, axes), y = matchLinear(op->getOperand(1), queries, keys, axes);
  if (!x || !y)
    return std::nullopt;
  const int64_t sign = isa<arith::AddIOp>(op) ? 1 : -1;
  return Linear{x->keys + sign * y->keys, x->queries + sign * y->queries, x->number + sign * y->number};
}

std::optional<TensorBound> zyx::kernel::matchBound(Value condition, Axis queries, Axis keys, const Axes &axes) {
  while (auto broadcast = condition.getDefiningOp<BroadcastOp>())
    condition = broadcast.getInput();
  auto cmp = condition.getDefiningOp<arith::CmpIOp>();
  if (!cmp)
    return std::nullopt;
  auto x = matchLinear(cmp.getLhs(), queries, keys, axes), y = matchLinear(cmp.getRhs(), queries, keys, axes);
  if (!x || !y)
    return std::nullopt;
  Linear difference{x->keys - y->keys, x->queries - y->queries, x->number - y->number};
  auto times = [&](int64_t sign, int64_t less) {
    return TensorBound{sign * difference.keys, sign * difference.queries, sign * difference.number - less};
  };
  TensorBound bound;
  switch (cmp.getPredicate()) {
  case arith::CmpIPredicate::sge:
    bound = times(1, 0);
    break;
  case arith::CmpIPredicate::sgt:
    bound = times(1, 1);
    break;
  case arith::CmpIPredicate::sle:
    bound = times(-1, 0);
    break;
  case arith::CmpIPredicate::slt:
    bound = times(-1, 1);
    break;
  default:
    return std::nullopt;
  }
  const bool isSmall =
      axes.extent(queries) < mostPlaces && axes.extent(keys) < mostPlaces && std::abs(bound.offset) < mostPlaces;
  const bool isOneOfEach = std::abs(bound.factor) == 1 && (bound.ofQuery == 0 || bound.ofQuery == -bound.factor);
  return isSmall && isOneOfEach ? std::optional(bound) : std::nullopt;
}

std::optional<SmallVector<TensorBound>> zyx::kernel::matchBounds(Value condition, Axis queries, Axis keys,
                                                                 const Axes &axes) {
  while (auto broadcast = condition.getDefiningOp<BroadcastOp>())
    condition = broadcast.getInput();
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (!both) {
    auto bound = matchBound(condition, queries, keys, axes);
    return bound ? std::optional(SmallVector<TensorBound>{*bound}) : std::nullopt;
  }
  auto bounds = matchBounds(both.getLhs(), queries, keys, axes);
  auto others = bounds ? matchBounds(both.getRhs(), queries, keys, axes) : std::nullopt;
  if (!others)
    return std::nullopt;
  bounds->append(*others);
  return bounds;
}

//===----------------------------------------------------------------------===//
// What is elementwise
//===----------------------------------------------------------------------===//

bool zyx::kernel::isPlaceOf(Value tile, Axis queries, Axis keys, const Axes &axes) {
  auto iota = tile.getDefiningOp<IotaOp>();
  if (!iota || iota.getBase() || !elementOf(tile).isInteger(32) ||
      cast<RankedTensorType>(tile.getType()).getRank() != 1)
    return false;
  const Axis axis = axes.of(tile, iota.getDim());
  return (axis == queries || axis == keys) && axes.extent(axis) < mostPlaces;
}

bool ElementwiseSlice::check(Value root) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> work = {root};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second || llvm::is_contained(known, value) || isBound(value))
      continue;
    Operation *op = value.getDefiningOp();
    Type element = elementOf(value);
    const bool isLong = hasLongs && element.isInteger(64) &&
                        isa_and_nonnull<LoadOp, BroadcastOp, TransposeOp, ReshapeOp, arith::ConstantOp>(op);
    if (!op || !isTile(value) ||
        (!element.isF32() && !is16Bit(element) && !element.isInteger(1) && !isLong &&
         !(isPlace && element.isInteger(32))))
      return false;
    for (Axis axis : axes.of(value))
      if (axes.extent(axis) != 1 && !llvm::is_contained(own, axis))
        return false;
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (!isa<SplatElementsAttr>(constant.getValue()))
        return false;
      continue;
    }
    if (isRead(value) || (isPlace && isPlace(value)))
      continue;
    if (!isa<BroadcastOp, TransposeOp, ReshapeOp>(op) && !isOnRegisters(op))
      return false;
    // Registers hold 16-bit floats as f32: integers would be rounded twice, and bits are others.
    if (is16Bit(element) && (isa<arith::BitcastOp>(op) ||
                             (isa<arith::SIToFPOp, arith::UIToFPOp>(op) && !elementOf(op->getOperand(0)).isInteger(1))))
      return false;
    if (isa<arith::BitcastOp>(op) && elementOf(op->getOperand(0)).getIntOrFloatBitWidth() != 32)
      return false;
    work.append(op->operand_begin(), op->operand_end());
  }
  return true;
}

bool zyx::kernel::isPlainLoad(Value tile) {
  auto load = tile.getDefiningOp<LoadOp>();
  return load && !load.getMask() && !load.getOther();
}
