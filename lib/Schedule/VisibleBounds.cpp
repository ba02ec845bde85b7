//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What data may show of blocks of 16 rows and 16 to 64 places, by the least and the largest number of each.
//===----------------------------------------------------------------------===//
#include "VisibleKernel.h"

#include "zyx/Codegen/Matrix/TensorPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace zyx::kernel;
using namespace zyx::schedule;
using arith::CmpIPredicate;

namespace {

/// So many places have bounds together: fewer than an attention streams at a time, but of many as many. With more than
/// 128 numbers for a row of parts, the kernel has more workgroups, and took 2.6 times as long for 8192 places (by the
/// simulator).
int64_t placesOfPart(int64_t places) {
  constexpr int64_t fewest = 16, most = 64, parts = 128;
  return std::clamp(static_cast<int64_t>(llvm::bit_ceil(static_cast<uint64_t>(llvm::divideCeil(places, parts)))),
                    fewest, most);
}

unsigned widthOf(Value value) { return getElementTypeOrSelf(value).getIntOrFloatBitWidth(); }
int64_t leastOf(unsigned width) { return llvm::minIntN(width); }
int64_t largestOf(unsigned width) { return llvm::maxIntN(width); }

/// What has the same elements, in other places or more often.
Value peelViews(Value tile) {
  while (Operation *op = tile.getDefiningOp()) {
    if (!isa<BroadcastOp, TransposeOp, ReshapeOp>(op))
      break;
    tile = op->getOperand(0);
  }
  return tile;
}

std::optional<APInt> constantOf(Value tile) {
  DenseElementsAttr value;
  if (!matchPattern(tile, m_Constant(&value)) || !value.isSplat() || !value.getElementType().isInteger())
    return std::nullopt;
  return value.getSplatValue<APInt>();
}

bool isUnsignedOrder(CmpIPredicate predicate) {
  switch (predicate) {
  case CmpIPredicate::ult:
  case CmpIPredicate::ule:
  case CmpIPredicate::ugt:
  case CmpIPredicate::uge:
    return true;
  default:
    return false;
  }
}

bool isEquality(CmpIPredicate predicate) { return predicate == CmpIPredicate::eq || predicate == CmpIPredicate::ne; }

/// The least and the largest of each so many elements of a vector.
class TableKernel : public VisibleKernel {
public:
  TableKernel(FuncOp func, const Axes &axes, const Streamed &streamed, BoundsBuilder::Table &table)
      : VisibleKernel(func, axes, streamed), table(table) {
    takeBatches([&](Axis axis) { return table.strides.of(axis) != 0; });
    part = dims.size();
    kept = part + 1;
    take(table.along, llvm::divideCeil(axes.extent(table.along), table.size), "t", table.size);
    take(table.along, table.size, "r", /*step=*/1, /*isInner=*/true);
  }

  void emit(SymbolTable &symbols, FuncOp after) {
    begin(symbols, after, "_bounds", table.source, table.written);
    table.kernel = made;
    Tile numbers = read(made.getBody().getArgument(0), table.element, table.strides);
    const unsigned width = table.element.getIntOrFloatBitWidth(), wide = table.written.getIntOrFloatBitWidth();
    if (table.isUnsigned)
      numbers.value =
          arith::XOrIOp::create(b, loc, numbers.value, integer(numbers.dims, leastOf(width), table.element));
    if (width == 1)
      numbers.value = arith::ExtUIOp::create(b, loc, typeOf(numbers.dims, table.written), numbers.value);
    else if (width < wide)
      numbers.value = arith::ExtSIOp::create(b, loc, typeOf(numbers.dims, table.written), numbers.value);
    const int64_t extent = axes.extent(table.along);
    if (extent % table.size != 0) {
      Tile place = placesIn(part, b.getI32Type());
      Value isThere =
          arith::CmpIOp::create(b, loc, CmpIPredicate::slt, place.value, integer(place.dims, extent, b.getI32Type()));
      exists = spread({place.dims, isThere}, numbers.dims);
    }
    write(Combine::Min, numbers, largestOf(wide));
    write(Combine::Max, numbers, leastOf(wide));
    if (table.hasBits) {
      Value low = arith::AndIOp::create(b, loc, numbers.value, integer(numbers.dims, wide - 1, table.written));
      Value bit = arith::ShLIOp::create(b, loc, integer(numbers.dims, 1, table.written), low);
      write(Combine::Or, {numbers.dims, bit}, 0);
    }
    ReturnOp::create(b, loc);
  }

private:
  void write(Combine kind, const Tile &of, int64_t otherwise) {
    Value terms = of.value;
    if (exists)
      terms = arith::SelectOp::create(b, loc, exists, terms, integer(of.dims, otherwise, table.written));
    Value all = ReduceOp::create(b, loc, typeOf(ArrayRef(of.dims).drop_back(), table.written), kind, terms,
                                 ArrayRef<int64_t>{static_cast<int64_t>(of.dims.size()) - 1});
    if (table.isOfRows)
      store(all, plane, BoundsBuilder::Table::rowNumbers);
    else
      store(all, plane * table.parts);
    ++plane;
  }

  BoundsBuilder::Table &table;
  unsigned part = 0;
  Value exists;
  int64_t plane = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// What is possible
//===----------------------------------------------------------------------===//

BoundsBuilder::BoundsBuilder(FuncOp func, const Axes &axes, const Streamed &streamed)
    : VisibleKernel(func, axes, streamed), partPlaces(placesOfPart(axes.extent(streamed.places))) {
  auto depends = [&](Axis axis) {
    return llvm::any_of(streamed.conditions,
                        [&](const Condition &condition) { return axes.contains(condition.tile, axis); });
  };
  takeBatches(depends);
  hasRows = depends(streamed.rows);
  if (hasRows)
    take(streamed.rows, llvm::divideCeil(axes.extent(streamed.rows), visibleRows), "t");
  kept = dims.size();
  take(streamed.places, llvm::divideCeil(axes.extent(streamed.places), partPlaces), "c");
}

bool BoundsBuilder::isPossible() {
  // Of places alone there are not more elements than what bounds of them would take.
  return hasRows &&
         llvm::all_of(streamed.conditions, [&](const Condition &condition) { return isOfKind(condition.tile); });
}

double BoundsBuilder::countElements() {
  double count = 0;
  llvm::SmallPtrSet<Value, 8> seen;
  for (const Condition &condition : streamed.conditions)
    for (Value value : sliceOf(condition.tile))
      if (std::optional<Leaf> leaf = leafOf(value); leaf && leaf->along && seen.insert(value).second) {
        double own = 1;
        for (auto [axis, stride] : leaf->strides.strides)
          own *= static_cast<double>(axes.extent(axis));
        count += own;
      }
  return count;
}

std::optional<BoundsBuilder::Leaf> BoundsBuilder::leafOf(Value value) const {
  value = peelViews(value);
  auto load = value.getDefiningOp<LoadOp>();
  if (!load || !isPlainLoad(value) || !bufferOf(load) || !getElementTypeOrSelf(value).isSignlessInteger() ||
      widthOf(value) > 64)
    return std::nullopt;
  std::optional<AxisStrides> strides = stridesOf(load.getView(), load.getIndices(), value, axes);
  if (!strides)
    return std::nullopt;
  llvm::erase_if(strides->strides, [](const auto &each) { return each.second == 0; });
  Leaf leaf{load, *strides, std::nullopt};
  for (auto [axis, stride] : strides->strides) {
    if (llvm::is_contained(streamed.batches, axis))
      continue;
    if (leaf.along || (axis != streamed.rows && axis != streamed.places))
      return std::nullopt;
    leaf.along = axis;
  }
  return leaf;
}

std::optional<BoundsBuilder::Range> BoundsBuilder::rangeOf(Value value) const {
  if (auto found = ranges.find(value); found != ranges.end())
    return found->second;
  std::optional<Range> range;
  if (isTile(value) && getElementTypeOrSelf(value).isSignlessInteger() && widthOf(value) > 1 && widthOf(value) <= 64)
    range = findRange(value);
  // Where it could wrap, bounds of operands are none of it.
  if (range && (range->low < leastOf(widthOf(value)) || range->high > largestOf(widthOf(value))))
    range = std::nullopt;
  ranges[value] = range;
  return range;
}

std::optional<BoundsBuilder::Range> BoundsBuilder::findRange(Value value) const {
  if (std::optional<APInt> number = constantOf(value))
    return Range{number->getSExtValue(), number->getSExtValue()};
  if (leafOf(value))
    return Range{leastOf(widthOf(value)), largestOf(widthOf(value))};
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto iotaOp = dyn_cast<IotaOp>(op)) {
    if (iotaOp.getBase() || axes.of(value).size() != 1)
      return std::nullopt;
    const Axis axis = axes.of(value).front();
    if (axis != streamed.rows && axis != streamed.places && !llvm::is_contained(streamed.batches, axis))
      return std::nullopt;
    return Range{0, axes.extent(axis) - 1};
  }
  if (isa<BroadcastOp, TransposeOp, ReshapeOp>(op))
    return rangeOf(op->getOperand(0));
  if (isa<arith::ExtUIOp, arith::ExtSIOp>(op) && widthOf(op->getOperand(0)) == 1) {
    if (!isOfKind(op->getOperand(0)))
      return std::nullopt;
    return isa<arith::ExtUIOp>(op) ? Range{0, 1} : Range{-1, 0};
  }
  if (!isa<arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MaxSIOp,
           arith::MinSIOp>(op))
    return std::nullopt;
  const std::optional<Range> x = rangeOf(op->getOperand(0));
  if (!x)
    return std::nullopt;
  if (isa<arith::ExtSIOp, arith::TruncIOp>(op))
    return x;
  if (isa<arith::ExtUIOp>(op)) {
    if (x->low >= 0)
      return x;
    if (!leafOf(op->getOperand(0)))
      return std::nullopt;
    return Range{0, static_cast<int64_t>(llvm::maxUIntN(widthOf(op->getOperand(0))))};
  }
  const std::optional<Range> y = rangeOf(op->getOperand(1));
  if (!y)
    return std::nullopt;
  Range range{};
  bool wraps = false;
  if (isa<arith::AddIOp>(op)) {
    wraps = llvm::AddOverflow(x->low, y->low, range.low) || llvm::AddOverflow(x->high, y->high, range.high);
  } else if (isa<arith::SubIOp>(op)) {
    wraps = llvm::SubOverflow(x->low, y->high, range.low) || llvm::SubOverflow(x->high, y->low, range.high);
  } else if (isa<arith::MaxSIOp>(op)) {
    range = {std::max(x->low, y->low), std::max(x->high, y->high)};
  } else if (isa<arith::MinSIOp>(op)) {
    range = {std::min(x->low, y->low), std::min(x->high, y->high)};
  } else {
    // By a constant: others have more than one sign.
    const std::optional<APInt> left = constantOf(peelViews(op->getOperand(0)));
    const std::optional<APInt> right = constantOf(peelViews(op->getOperand(1)));
    if (!left && !right)
      return std::nullopt;
    const int64_t factor = left ? x->low : y->low;
    const Range &of = left ? *y : *x;
    wraps = llvm::MulOverflow(factor < 0 ? of.high : of.low, factor, range.low) ||
            llvm::MulOverflow(factor < 0 ? of.low : of.high, factor, range.high);
  }
  return wraps ? std::nullopt : std::optional(range);
}

bool BoundsBuilder::isTurnable(Value value) const {
  const std::optional<Range> range = rangeOf(value);
  return range && (range->low >= 0 || leafOf(value));
}

bool BoundsBuilder::comparesTurned(arith::CmpIOp compare) const {
  return isUnsignedOrder(compare.getPredicate()) &&
         (rangeOf(compare.getLhs())->low < 0 || rangeOf(compare.getRhs())->low < 0);
}

bool BoundsBuilder::isComparable(arith::CmpIOp compare) const {
  if (widthOf(compare.getLhs()) == 1)
    return isEquality(compare.getPredicate()) && isOfKind(compare.getLhs()) && isOfKind(compare.getRhs());
  if (!rangeOf(compare.getLhs()) || !rangeOf(compare.getRhs()))
    return false;
  return !comparesTurned(compare) || (isTurnable(compare.getLhs()) && isTurnable(compare.getRhs()));
}

bool BoundsBuilder::isOfKind(Value condition) const {
  if (!isTile(condition) || !getElementTypeOrSelf(condition).isSignlessInteger(1))
    return false;
  if (auto found = kinds.find(condition); found != kinds.end())
    return found->second;
  bool is = false;
  Operation *op = condition.getDefiningOp();
  if (constantOf(condition) || leafOf(condition)) {
    is = true;
  } else if (op && isa<BroadcastOp, TransposeOp, ReshapeOp>(op)) {
    is = isOfKind(op->getOperand(0));
  } else if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op)) {
    is = isComparable(compare);
  } else if (op && isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp>(op)) {
    is = llvm::all_of(op->getOperands(), [&](Value operand) { return isOfKind(operand); });
  }
  kinds[condition] = is;
  return is;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

BoundsBuilder::Tile BoundsBuilder::widened(const Tile &tile, Type type) {
  if (getElementTypeOrSelf(tile.value) == type)
    return tile;
  return {tile.dims, arith::ExtSIOp::create(b, loc, typeOf(tile.dims, type), tile.value)};
}

void BoundsBuilder::match(Tile &x, Tile &y) {
  Type type = b.getIntegerType(std::max(widthOf(x.value), widthOf(y.value)));
  x = widened(x, type);
  y = widened(y, type);
}

Type BoundsBuilder::typeFor(const Range &range) {
  return llvm::isInt<32>(range.low) && llvm::isInt<32>(range.high) ? b.getI32Type() : b.getI64Type();
}

BoundsBuilder::Tile BoundsBuilder::number(int64_t value) { return {{}, integer({}, value, typeFor({value, value}))}; }

Value BoundsBuilder::argumentOf(const Input &input, Type type) {
  Block &body = made.getBody().front();
  const auto *found = llvm::find_if(
      inputs, [&](const Input &each) { return each.source == input.source && each.table == input.table; });
  const unsigned at = found - inputs.begin();
  if (found != inputs.end())
    return body.getArgument(at);
  inputs.push_back(input);
  Value argument = body.insertArgument(at, BufferType::get(b.getContext(), type, Space::Global), loc);
  made.setFunctionType(b.getFunctionType(body.getArgumentTypes(), {}));
  return argument;
}

unsigned BoundsBuilder::tableOf(Leaf leaf, bool isTurned) {
  const Axis along = *leaf.along;
  for (auto [number, table] : llvm::enumerate(tables))
    if (table.source == bufferOf(leaf.load) && table.element == getElementTypeOrSelf(leaf.load.getType()) &&
        table.along == along && table.isUnsigned == isTurned && table.strides.offset == leaf.strides.offset &&
        table.strides.of(along) == leaf.strides.of(along) &&
        llvm::all_of(streamed.batches, [&](Axis axis) { return table.strides.of(axis) == leaf.strides.of(axis); }))
      return number;
  Table wanted{bufferOf(leaf.load),   getElementTypeOrSelf(leaf.load.getType()), leaf.strides, along, isTurned,
               along == streamed.rows};
  wanted.size = wanted.isOfRows ? visibleRows : partPlaces;
  wanted.written = b.getIntegerType(std::max(32u, wanted.element.getIntOrFloatBitWidth()));
  wanted.parts = llvm::divideCeil(axes.extent(along), wanted.size);
  for (Axis axis : streamed.batches)
    if (wanted.strides.of(axis) != 0)
      wanted.parts *= axes.extent(axis);
  tables.push_back(wanted);
  return tables.size() - 1;
}

BoundsBuilder::Tile BoundsBuilder::readTable(Leaf leaf, Plane plane, bool isTurned) {
  const unsigned at = tableOf(leaf, isTurned);
  Table &table = tables[at];
  table.hasBits |= plane == Plane::Bits;
  Value buffer = argumentOf({BlockArgument(), at}, table.written);
  AxisStrides strides;
  const auto number = static_cast<int64_t>(plane);
  strides.offset = table.isOfRows ? number : number * table.parts;
  int64_t stride = table.isOfRows ? Table::rowNumbers : 1;
  strides.strides.push_back({*leaf.along, stride});
  stride *= static_cast<int64_t>(llvm::divideCeil(axes.extent(table.along), table.size));
  for (Axis axis : llvm::reverse(streamed.batches))
    if (table.strides.of(axis) != 0) {
      strides.strides.push_back({axis, stride});
      stride *= axes.extent(axis);
    }
  return read(buffer, table.written, strides);
}

BoundsBuilder::Tile BoundsBuilder::leafEnd(Leaf leaf, bool isHigh, bool isTurned) {
  if (leaf.along)
    return readTable(leaf, isHigh ? Plane::High : Plane::Low, isTurned);
  Type element = getElementTypeOrSelf(leaf.load.getType());
  Tile tile = read(argumentOf({bufferOf(leaf.load), 0}, element), element, leaf.strides);
  const unsigned width = element.getIntOrFloatBitWidth();
  if (isTurned)
    tile.value = arith::XOrIOp::create(b, loc, tile.value, integer(tile.dims, leastOf(width), element));
  return width == 1 || width >= 32 ? tile : widened(tile, b.getI32Type());
}

BoundsBuilder::Tile BoundsBuilder::sum(Tile tile, int64_t other, const Range &range) {
  Tile second = number(other);
  tile = widened(tile, widthOf(tile.value) < typeFor(range).getIntOrFloatBitWidth() ? typeFor(range)
                                                                                    : getElementTypeOrSelf(tile.value));
  match(tile, second);
  return combine<arith::AddIOp>(tile, second);
}

BoundsBuilder::Tile BoundsBuilder::turnedEnd(Value value, bool isHigh) {
  const Range range = *rangeOf(value);
  if (range.low < 0)
    return leafEnd(*leafOf(value), isHigh, /*isTurned=*/true);
  const int64_t by = leastOf(widthOf(value));
  return sum(end(value, isHigh), by, {range.low + by, range.high + by});
}

BoundsBuilder::Tile BoundsBuilder::end(Value value, bool isHigh) {
  auto [place, isNew] = knownEnds.try_emplace({value.getAsOpaquePointer(), isHigh});
  if (isNew) {
    Tile made = findEnd(value, isHigh);
    return knownEnds[{value.getAsOpaquePointer(), isHigh}] = made;
  }
  return place->second;
}

BoundsBuilder::Tile BoundsBuilder::findEnd(Value value, bool isHigh) {
  const Range range = *rangeOf(value);
  if (range.low == range.high)
    return number(range.low);
  Operation *op = value.getDefiningOp();
  if (isa<BroadcastOp, TransposeOp, ReshapeOp>(op))
    return end(op->getOperand(0), isHigh);
  if (std::optional<Leaf> leaf = leafOf(value))
    return leafEnd(*leaf, isHigh, /*isTurned=*/false);
  if (isa<IotaOp>(op)) {
    const Axis axis = axes.of(value).front();
    const unsigned dim = llvm::find_if(dims, [&](const Dim &each) { return each.axis == axis; }) - dims.begin();
    Type type = typeFor(range);
    Tile place{{dim}, iota(dim, type)};
    if (axis != streamed.rows && axis != streamed.places)
      return place;
    const int64_t size = axis == streamed.rows ? visibleRows : partPlaces;
    place.value = arith::MulIOp::create(b, loc, place.value, integer({dim}, size, type));
    if (!isHigh)
      return place;
    place.value = arith::AddIOp::create(b, loc, place.value, integer({dim}, size - 1, type));
    place.value = arith::MinSIOp::create(b, loc, place.value, integer({dim}, range.high, type));
    return place;
  }
  Value x = op->getOperand(0);
  if (isa<arith::ExtUIOp, arith::ExtSIOp>(op) && widthOf(x) == 1) {
    // Of a condition, which is 1 or -1 where it holds.
    const bool isSigned = isa<arith::ExtSIOp>(op), mayHold = isSigned != isHigh;
    Tile may = canBe(x, mayHold);
    Tile bit{may.dims, arith::ExtUIOp::create(b, loc, typeOf(may.dims, b.getI32Type()), may.value)};
    if (mayHold)
      return isSigned ? combine<arith::SubIOp>(number(0), bit) : bit;
    return isSigned ? combine<arith::SubIOp>(bit, number(1)) : combine<arith::SubIOp>(number(1), bit);
  }
  if (isa<arith::ExtUIOp>(op) && rangeOf(x)->low < 0)
    return sum(turnedEnd(x, isHigh), -leastOf(widthOf(x)), range);
  if (isa<arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp>(op))
    return end(x, isHigh);
  Value y = op->getOperand(1);
  const bool isProduct = isa<arith::MulIOp>(op), isLeft = isProduct && constantOf(peelViews(x)).has_value();
  const bool turnsFirst = isProduct && rangeOf(isLeft ? x : y)->low < 0, turnsSecond = isa<arith::SubIOp>(op);
  Tile first = end(x, isHigh != turnsFirst), second = end(y, isHigh != (turnsSecond || turnsFirst));
  match(first, second);
  if (Type type = typeFor(range); type.getIntOrFloatBitWidth() > widthOf(first.value)) {
    first = widened(first, type);
    second = widened(second, type);
  }
  if (isProduct)
    return combine<arith::MulIOp>(first, second);
  if (isa<arith::AddIOp>(op))
    return combine<arith::AddIOp>(first, second);
  if (isa<arith::SubIOp>(op))
    return combine<arith::SubIOp>(first, second);
  return isa<arith::MaxSIOp>(op) ? combine<arith::MaxSIOp>(first, second) : combine<arith::MinSIOp>(first, second);
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

BoundsBuilder::Tile BoundsBuilder::either(const Tile &x, const Tile &y) { return combine<arith::OrIOp>(x, y); }
BoundsBuilder::Tile BoundsBuilder::both(const Tile &x, const Tile &y) { return combine<arith::AndIOp>(x, y); }

BoundsBuilder::Tile BoundsBuilder::compare(CmpIPredicate predicate, Tile x, Tile y) {
  match(x, y);
  return combine<arith::CmpIOp>(x, y, predicate);
}

BoundsBuilder::Tile BoundsBuilder::canBe(Value condition, bool what) {
  auto [place, isNew] = knownConditions.try_emplace({condition.getAsOpaquePointer(), what});
  if (isNew) {
    Tile made = findWhether(condition, what);
    return knownConditions[{condition.getAsOpaquePointer(), what}] = made;
  }
  return place->second;
}

BoundsBuilder::Tile BoundsBuilder::findWhether(Value condition, bool what) {
  Type bit = b.getI1Type();
  if (std::optional<APInt> number = constantOf(condition))
    return {{}, integer({}, number->isZero() != what, bit)};
  Operation *op = condition.getDefiningOp();
  if (isa<BroadcastOp, TransposeOp, ReshapeOp>(op))
    return canBe(op->getOperand(0), what);
  if (std::optional<Leaf> leaf = leafOf(condition)) {
    Tile tile = leafEnd(*leaf, /*isHigh=*/what, /*isTurned=*/false);
    if (leaf->along)
      return compare(what ? CmpIPredicate::ne : CmpIPredicate::eq, tile, number(0));
    if (!what)
      tile.value = arith::XOrIOp::create(b, loc, tile.value, integer(tile.dims, 1, bit));
    return tile;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Value which = select.getCondition();
    return either(both(canBe(which, true), canBe(select.getTrueValue(), what)),
                  both(canBe(which, false), canBe(select.getFalseValue(), what)));
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (compare && widthOf(compare.getLhs()) > 1)
    return canHold(what ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate()), compare.getLhs(),
                   compare.getRhs(), comparesTurned(compare));
  Value x = op->getOperand(0), y = op->getOperand(1);
  if (isa<arith::AndIOp, arith::OrIOp>(op)) {
    const bool needsBoth = isa<arith::AndIOp>(op) == what;
    return needsBoth ? both(canBe(x, what), canBe(y, what)) : either(canBe(x, what), canBe(y, what));
  }
  // Two conditions are alike, or they are not.
  const bool differ = (isa<arith::XOrIOp>(op) || compare.getPredicate() == CmpIPredicate::ne) == what;
  return either(both(canBe(x, true), canBe(y, !differ)), both(canBe(x, false), canBe(y, differ)));
}

BoundsBuilder::Tile BoundsBuilder::canHold(CmpIPredicate predicate, Value x, Value y, bool isTurned) {
  auto low = [&](Value of) { return isTurned ? turnedEnd(of, false) : end(of, false); };
  auto high = [&](Value of) { return isTurned ? turnedEnd(of, true) : end(of, true); };
  switch (predicate) {
  case CmpIPredicate::eq: {
    Tile meet = both(compare(CmpIPredicate::sle, low(x), high(y)), compare(CmpIPredicate::sle, low(y), high(x)));
    // Of numbers that do not ascend, a block at the border of two documents would have all that are between.
    std::optional<Leaf> ofX = leafOf(x), ofY = leafOf(y);
    if (!ofX || !ofY || !ofX->along || !ofY->along || widthOf(x) != widthOf(y))
      return meet;
    Tile shared = combine<arith::AndIOp>(readTable(*ofX, Plane::Bits, false), readTable(*ofY, Plane::Bits, false));
    return both(meet, compare(CmpIPredicate::ne, shared, {{}, integer({}, 0, getElementTypeOrSelf(shared.value))}));
  }
  case CmpIPredicate::ne:
    // They do not where both have one number, the same.
    return either(compare(CmpIPredicate::slt, low(x), high(y)), compare(CmpIPredicate::slt, low(y), high(x)));
  case CmpIPredicate::slt:
  case CmpIPredicate::ult:
    return compare(CmpIPredicate::slt, low(x), high(y));
  case CmpIPredicate::sle:
  case CmpIPredicate::ule:
    return compare(CmpIPredicate::sle, low(x), high(y));
  case CmpIPredicate::sgt:
  case CmpIPredicate::ugt:
    return compare(CmpIPredicate::slt, low(y), high(x));
  case CmpIPredicate::sge:
  case CmpIPredicate::uge:
    return compare(CmpIPredicate::sle, low(y), high(x));
  }
  llvm_unreachable("all are there");
}

void BoundsBuilder::emit(SymbolTable &symbols, FuncOp after) {
  begin(symbols, after, "_visible", {}, b.getI32Type());
  Tile isSeen;
  for (const Condition &condition : streamed.conditions) {
    Tile own = canBe(condition.tile, condition.isSeen);
    isSeen = isSeen ? both(isSeen, own) : own;
  }
  const unsigned last = dims.size() - 1;
  Type number = b.getI32Type();
  Value first = arith::MulIOp::create(b, loc, iota(last, number), integer({last}, partPlaces, number));
  Value behind = arith::AddIOp::create(b, loc, first, integer({last}, partPlaces, number));
  behind = arith::MinSIOp::create(b, loc, behind, integer({last}, axes.extent(streamed.places), number));
  storeRange(isSeen, {{last}, first}, {{last}, behind});
  for (Table &table : tables)
    TableKernel(func, axes, streamed, table).emit(symbols, after);
}
