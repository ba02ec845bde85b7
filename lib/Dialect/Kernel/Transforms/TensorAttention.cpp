//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/Transforms/TensorAttention.h"
#include "zyx/Dialect/Kernel/Transforms/TensorDot.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <functional>

using namespace mlir;
using namespace zyx::kernel;

/// What the copy engine asks of addresses and strides, and the dimensions that it knows.
static constexpr int64_t copyBytes = 16, elementBytes = 2;
static constexpr size_t mostDimensions = 5;
/// Indices have 31 bits, and strides 40.
static constexpr int64_t mostExtent = (int64_t(1) << 31) - 1, mostStrideBytes = int64_t(1) << 40;
/// Columns of a result that the registers of a group of warps hold.
static constexpr int64_t mostFeatures = 256;

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

/// The other factor of a product with a number.
static std::optional<std::pair<Value, double>> scaledBy(arith::MulFOp product) {
  for (auto [value, factor] : {std::pair(product.getLhs(), product.getRhs()), std::pair(product.getRhs(), product.getLhs())})
    if (std::optional<double> number = splatOf(factor))
      return std::pair<Value, double>(value, *number);
  return std::nullopt;
}

static bool isMinusInfinity(Value tile) {
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

/// As [batches, rows, features] of the copy engine.
static std::optional<AttentionOperand> matchOperand(Value view, ValueRange indices, Value tile, Axis rows, Axis features,
                                                    const Axes &axes) {
  AttentionOperand operand;
  operand.view = view;
  SmallVector<AxisPart> parts;
  int64_t offset = 0;
  if (!partsOf(view, indices, tile, axes, parts, offset) || offset * elementBytes % copyBytes != 0)
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
  const int64_t columns = axes.extent(features), aligned = llvm::alignTo(columns, copyBytes / elementBytes);
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
    if (extent > mostExtent || stride * elementBytes % copyBytes != 0 || stride * elementBytes >= mostStrideBytes)
      return std::nullopt;
  if (shape.size() > mostDimensions || row->stride < columns)
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

std::optional<AttentionBound> zyx::kernel::matchBound(Value condition, Axis queries, Axis keys, const Axes &axes) {
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
    return AttentionBound{sign * difference.keys, sign * difference.queries, sign * difference.number - less};
  };
  AttentionBound bound;
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
  // Places and their difference are numbers of 32 bits.
  const bool isSmall = axes.extent(queries) < mostExtent / 4 && axes.extent(keys) < mostExtent / 4 &&
                       std::abs(bound.offset) < mostExtent / 4;
  const bool isOneOfEach = std::abs(bound.factor) == 1 && (bound.ofQuery == 0 || bound.ofQuery == -bound.factor);
  return isSmall && isOneOfEach ? std::optional(bound) : std::nullopt;
}

/// What scores are before they are masked, and by which bounds.
static void peelMasks(TensorAttention &found, const Axes &axes) {
  Value value = found.max.getInput();
  while (auto select = value.getDefiningOp<arith::SelectOp>()) {
    auto bound = matchBound(select.getCondition(), found.queries, found.keys, axes);
    if (!bound || !isMinusInfinity(select.getFalseValue()))
      break;
    found.bounds.push_back(*bound);
    value = select.getTrueValue();
  }
  found.unmasked = value;
  auto product = value.getDefiningOp<arith::MulFOp>();
  auto scaled = product ? scaledBy(product) : std::nullopt;
  // The largest of the products is the product with the largest.
  if (scaled && scaled->first == found.scores.getResult() && scaled->second > 0 && std::isfinite(scaled->second)) {
    found.unmasked = scaled->first;
    found.scale = scaled->second;
  }
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

namespace {

/// Checks what is elementwise: between the scores and the maximum, or behind the last product.
struct Walk {
  const Axes &axes;
  /// Axes that its tiles may have.
  SmallVector<Axis> own;
  /// What is known already.
  SmallVector<Value> known;
  /// Conditions that bounds say, and what may be read.
  std::function<bool(Value)> isBound, isRead;
  bool check(Value root);
};

} // namespace

bool Walk::check(Value root) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> work = {root};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second || llvm::is_contained(known, value) || isBound(value))
      continue;
    Operation *op = value.getDefiningOp();
    Type element = elementOf(value);
    if (!op || !isTile(value) || (!element.isF32() && !is16Bit(element) && !element.isInteger(1)))
      return false;
    for (Axis axis : axes.of(value))
      if (axes.extent(axis) != 1 && !llvm::is_contained(own, axis))
        return false;
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (!isa<SplatElementsAttr>(constant.getValue()))
        return false;
      continue;
    }
    if (isRead(value))
      continue;
    if (!isa<BroadcastOp, TransposeOp, ReshapeOp>(op) && !isOnRegisters(op))
      return false;
    work.append(op->operand_begin(), op->operand_end());
  }
  return true;
}

/// Follows the left factor of the last product up to the exponentials.
static math::ExpOp followWeights(TensorAttention &found) {
  Value value = found.output.getLhs();
  Type own = elementOf(found.output.getRhs());
  while (Operation *op = value.getDefiningOp()) {
    if (auto exp = dyn_cast<math::ExpOp>(op))
      return exp;
    if (auto product = dyn_cast<arith::MulFOp>(op)) {
      auto scaled = scaledBy(product);
      if (!scaled || !elementOf(value).isF32())
        return {};
      found.weight *= scaled->second;
      value = scaled->first;
      continue;
    }
    if (isa<arith::TruncFOp>(op) ? elementOf(value) != own : !isa<arith::ExtFOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

static bool isLoad(Value tile) {
  auto load = tile.getDefiningOp<LoadOp>();
  return load && !load.getMask() && !load.getOther();
}

bool zyx::kernel::isAttention(FuncOp func) {
  Block &body = func.getBody().front();
  return llvm::range_size(body.getOps<DotOp>()) == 2 && !body.getOps<ReduceOp>().empty();
}

std::optional<TensorAttention> zyx::kernel::matchTensorAttention(FuncOp func, const Axes &axes, std::string &reason) {
  TensorAttention found;
  reason.clear();
  auto none = [&](const char *why) -> std::optional<TensorAttention> {
    reason = why;
    return std::nullopt;
  };
  SmallVector<DotOp> dots;
  SmallVector<ReduceOp> reductions;
  SmallVector<StoreOp> stores;
  bool hasOthers = false;
  for (Operation &op : func.getBody().front()) {
    if (auto dot = dyn_cast<DotOp>(op))
      dots.push_back(dot);
    else if (auto reduce = dyn_cast<ReduceOp>(op))
      reductions.push_back(reduce);
    else if (auto store = dyn_cast<StoreOp>(op))
      stores.push_back(store);
    hasOthers |= isa<ScanOp, GatherOp>(op) || op.getNumRegions() != 0;
  }
  if (hasOthers || stores.size() != 1)
    return none("there is more than an attention");
  found.store = stores.front();
  found.scores = dots[0], found.output = dots[1];
  for (DotOp dot : dots)
    if (!elementOf(dot.getResult()).isF32() || !matchPattern(dot.getAcc(), m_AnyZeroFloat()))
      return none("sums are not in f32, from zero on");
  found.exp = followWeights(found);
  if (!found.exp || !elementOf(found.exp.getResult()).isF32())
    return none("its weights are no exponentials in f32");
  auto difference = found.exp.getOperand().getDefiningOp<arith::SubFOp>();
  auto row = difference ? difference.getRhs().getDefiningOp<BroadcastOp>() : BroadcastOp();
  found.max = row ? row.getInput().getDefiningOp<ReduceOp>() : ReduceOp();
  if (!found.max || found.max.getKind() != Combine::Max || found.max.getDims().size() != 1 ||
      difference.getLhs() != found.max.getInput())
    return none("its weights are not relative to a maximum");

  SmallVector<Axis> scoreAxes = axes.of(found.scores.getResult()), outAxes = axes.of(found.output.getResult());
  found.queries = scoreAxes[scoreAxes.size() - 2];
  found.keys = scoreAxes.back();
  const Axis features = axes.of(found.scores.getLhs()).back(), columns = outAxes.back();
  for (Axis axis : ArrayRef(scoreAxes).drop_back(2))
    if (axes.extent(axis) > 1)
      found.batches.push_back(axis);
  SmallVector<Axis> distinct = {found.queries, found.keys, features, columns};
  distinct.append(found.batches);
  llvm::SmallDenseSet<Axis> unique(distinct.begin(), distinct.end());
  auto batchesOf = [&](ArrayRef<Axis> all) {
    return llvm::to_vector(llvm::make_filter_range(all.drop_back(2), [&](Axis axis) { return axes.extent(axis) > 1; }));
  };
  if (unique.size() != distinct.size() || axes.of(found.max.getInput(), found.max.getDims()[0]) != found.keys ||
      outAxes[outAxes.size() - 2] != found.queries || axes.of(found.output.getLhs()).back() != found.keys ||
      batchesOf(outAxes) != found.batches ||
      llvm::any_of(distinct, [&](Axis axis) { return axes.extent(axis) < 1; }))
    return none("its products are not of queries and keys, and of these and values");
  found.depth = axes.extent(features);
  found.width = axes.extent(columns);
  if (found.depth > mostFeatures || found.width > mostFeatures)
    return none("there are more than 256 features");

  Type element = elementOf(found.scores.getLhs());
  if (!is16Bit(element) || elementOf(found.scores.getRhs()) != element || elementOf(found.output.getRhs()) != element ||
      elementOf(found.store.getValue()) != element)
    return none("queries, keys, values and results are not of one 16-bit type");
  if (!isLoad(found.scores.getLhs()) || !isLoad(found.scores.getRhs()) || !isLoad(found.output.getRhs()))
    return none("queries, keys or values are computed");
  auto operandOf = [&](Value tile, Axis rows, Axis inner) {
    auto load = tile.getDefiningOp<LoadOp>();
    return matchOperand(load.getView(), load.getIndices(), tile, rows, inner, axes);
  };
  auto q = operandOf(found.scores.getLhs(), found.queries, features);
  auto k = operandOf(found.scores.getRhs(), found.keys, features);
  auto v = operandOf(found.output.getRhs(), found.keys, columns);
  auto result = found.store.getMask() ? std::nullopt
                                      : matchOperand(found.store.getView(), found.store.getIndices(),
                                                     found.store.getValue(), found.queries, columns, axes);
  if (!q || !k || !v || !result)
    return none("queries, keys, values or results do not lie on multiples of 16 bytes, features side by side");
  // Programs that share a place in the result would all write it.
  int64_t places = 1, programs = 1;
  for (const AxisPart &part : result->batches)
    places *= part.extent;
  for (Axis axis : found.batches)
    programs *= axes.extent(axis);
  if (places != programs)
    return none("results do not lie on multiples of 16 bytes, features side by side");
  found.q = *q, found.k = *k, found.v = *v, found.result = *result;

  for (ReduceOp reduce : reductions) {
    if (reduce == found.max)
      continue;
    if (reduce.getKind() != Combine::Add || reduce.getInput() != found.exp.getResult() || reduce.getDims().size() != 1 ||
        axes.of(reduce.getInput(), reduce.getDims()[0]) != found.keys)
      return none("it sums up more than its weights");
    found.sums.push_back(reduce);
  }
  peelMasks(found, axes);
  SmallVector<Axis> own = {found.queries, found.keys};
  own.append(found.batches);
  Walk scores{axes, own, {found.scores.getResult()}, [&](Value value) {
                bool isOne = elementOf(value).isInteger(1) && matchBound(value, found.queries, found.keys, axes);
                found.readsPlaces |= isOne;
                return isOne;
              },
              [&](Value value) {
                auto load = value.getDefiningOp<LoadOp>();
                bool isOne = load && isLoad(value) && stridesOf(load.getView(), load.getIndices(), value, axes);
                found.readsPlaces |= isOne;
                found.readsMasks |= isOne && axes.contains(value, found.queries) && axes.contains(value, found.keys);
                return isOne;
              }};
  if (!scores.check(found.unmasked))
    return none("scores are not computed element by element, of what lies along queries and keys");
  own[1] = columns;
  auto never = [](Value) { return false; };
  Walk behind{axes, own, {found.output.getResult(), found.max.getResult()}, never, never};
  for (ReduceOp sum : found.sums)
    behind.known.push_back(sum.getResult());
  if (!behind.check(found.store.getValue()))
    return none("results are not computed element by element of sums");
  return found;
}
