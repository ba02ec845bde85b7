//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MatrixUnit.h"

#include "Packing.h"

#include "zyx/Codegen/Cpu/BlockedDots.h"
#include "zyx/Codegen/Tile/Lanes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

static Type elementOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getElementType(); }

Value zyx::kernel::repeatedFactor(Value factor) {
  while (auto repeat = factor.getDefiningOp<BroadcastOp>()) {
    // Its two last dimensions are that of rows or columns and that of the contraction.
    const int64_t rank = cast<RankedTensorType>(repeat.getType()).getRank();
    const ArrayRef<int64_t> dims = repeat.getDims();
    if (dims.size() < 2 || dims.back() != rank - 1 || dims[dims.size() - 2] != rank - 2)
      break;
    factor = repeat.getInput();
  }
  return factor;
}

/// What a factor is before it is widened; integers are widened as signed ones by the dot itself.
MatrixUnit::Factor MatrixUnit::narrow(Value tile) {
  tile = repeatedFactor(tile);
  Operation *def = tile.getDefiningOp();
  if (def && isa<arith::ExtUIOp, arith::ExtSIOp>(def) && elementOf(def->getOperand(0)).isInteger(8))
    return {repeatedFactor(def->getOperand(0)), isa<arith::ExtUIOp>(def)};
  if (def && isa<arith::ExtFOp>(def) && elementOf(def->getOperand(0)).isBF16())
    return {repeatedFactor(def->getOperand(0))};
  return {tile};
}

MatrixUnit::MatrixUnit(TileContext &lowering, DotOp dot, Axis m, Axis n, Axis k)
    : t(lowering), b(lowering.builder), loc(dot.getLoc()), m(m), n(n), k(k), lanes(lanesOf(t.machine)),
      lhs(narrow(dot.getLhs())), rhs(narrow(dot.getRhs())), factorType(elementOf(lhs.tile)),
      sumType(elementOf(dot.getResult())) {}

bool MatrixUnit::takes() const {
  if (factorType != elementOf(rhs.tile))
    return false;
  return (t.machine.hasBf16Dots() && factorType.isBF16() && sumType.isF32()) ||
         (t.machine.hasI8Dots() && factorType.isInteger(8) && sumType.isInteger(32));
}

Value MatrixUnit::number(Type type, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

/// Whole registers of a plain load whose rows lie along the contraction.
bool MatrixUnit::readsLhs(int64_t steps) const {
  auto load = lhs.tile.getDefiningOp<LoadOp>();
  if (!load || steps % unit() != 0 || t.evaluator.memory.contains(lhs.tile) || t.evaluator.scalars.contains(lhs.tile))
    return false;
  SmallVector<Axis> dims = t.axes.of(lhs.tile);
  size_t rank = dims.size();
  return !isComplex(load.getView()) && rank >= 2 && dims[rank - 2] == m && dims[rank - 1] == k &&
         llvm::count(dims, m) == 1 && llvm::count(dims, k) == 1 && strideOf(load.getView(), rank - 1) == 1 &&
         strideOf(load.getView(), rank - 2);
}

void MatrixUnit::allocate(int64_t numPanels, int64_t tileRows, int64_t tileColumns, int64_t height, int64_t steps,
                          bool inPlace) {
  depth = steps;
  rows = tileRows;
  columns = tileColumns;
  panels = numPanels;
  if (inPlace && height < t.axes.extent(m))
    blockRows = height;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(t.programStart);
  auto make = [&](ArrayRef<int64_t> shape, Type type) -> Value {
    return AllocOp::create(b, loc, ViewType::get(shape, type, Space::Private));
  };
  int64_t deep = llvm::alignTo(depth, unit());
  // The same steps of all panels, and of all rows, begin in different places of a cache, whatever the depth.
  if (!isPacked) {
    rhsMemory = make({panels, deep / group() + 1, columns}, b.getI32Type());
    allocateRuns();
  }
  if (!inPlace)
    lhsMemory = make({int64_t(llvm::alignTo(height, rows)), deep + unit()}, factorType);
  sumMemory = make({rows, columns}, sumType);
  if (!isFloat())
    return;
  leastMemory = make({2}, b.getI32Type());
  leastLanes = make({unit()}, b.getI16Type());
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

FailureOr<Value> MatrixUnit::bits(Value tile, Point &point) {
  FailureOr<Value> value = t.evaluator.evaluateVector(tile, point);
  if (failed(value))
    return failure();
  Type type = VectorType::get(point.lanes, b.getIntegerType(factorType.getIntOrFloatBitWidth()));
  Value result = isFloat() ? arith::BitcastOp::create(b, loc, type, *value).getResult() : *value;
  return point.mask ? arith::SelectOp::create(b, loc, point.mask, result, number(type, 0)).getResult() : result;
}

SmallVector<Value> MatrixUnit::join(ArrayRef<Value> steps, int64_t width) {
  auto pairs = VectorType::get(width, b.getI16Type());
  // Halves of a group: steps of bf16, or two integers each.
  SmallVector<Value> halves(2, number(pairs, 0));
  int64_t perHalf = group() / 2;
  for (auto [i, step] : llvm::enumerate(steps)) {
    Value &half = halves[i / perHalf];
    if (perHalf == 1) {
      half = step;
      continue;
    }
    Value wide = arith::ExtUIOp::create(b, loc, pairs, step);
    if (i % perHalf == 0)
      half = wide;
    else
      half = arith::OrIOp::create(b, loc, half, arith::ShLIOp::create(b, loc, wide, number(pairs, 8)));
  }
  SmallVector<Value> joined;
  for (int64_t from = 0; from < width; from += lanes) {
    SmallVector<int64_t> order;
    for (int64_t lane = from; lane < from + lanes; ++lane)
      order.append({lane, width + lane});
    Value mixed = vector::ShuffleOp::create(b, loc, halves[0], halves[1], order);
    joined.push_back(vector::BitCastOp::create(b, loc, VectorType::get(lanes, b.getI32Type()), mixed));
  }
  return joined;
}

void MatrixUnit::storeGroup(Value value, Value panel, Value at, int64_t vector) {
  SmallVector<Value> place = {panel, at, t.evaluator.constantIndex(vector * lanes, loc)};
  StoreOp::create(b, loc, value, rhsMemory, place, Value(), DenseBoolArrayAttr());
}

Value MatrixUnit::storeSteps(ArrayRef<Value> steps, Value panel, Value at, Value smallest) {
  const int64_t wide = cast<VectorType>(steps.front().getType()).getNumElements();
  for (Value lanesOf : isFloat() ? steps : ArrayRef<Value>()) {
    if (wide < unit()) {
      SmallVector<int64_t> twice;
      for (int64_t lane = 0; lane < unit(); ++lane)
        twice.push_back(lane % wide);
      lanesOf = vector::ShuffleOp::create(b, loc, lanesOf, lanesOf, twice);
    }
    smallest = least(smallest, lanesOf);
  }
  for (auto [v, joined] : llvm::enumerate(join(steps, wide)))
    storeGroup(joined, panel, at, v);
  return smallest;
}

/// Pieces of the steps, `atOnce` of them and then what is left.
LogicalResult MatrixUnit::overSteps(int64_t atOnce, llvm::function_ref<LogicalResult(Value, int64_t)> body) {
  int64_t whole = depth - depth % atOnce;
  if (failed(t.emitLoop(0, {whole}, atOnce, {}, loc, [&](Value first, Accumulators) -> FailureOr<Accumulators> {
        if (failed(body(first, atOnce)))
          return failure();
        return Accumulators();
      })))
    return failure();
  return whole < depth ? body(t.evaluator.constantIndex(whole, loc), depth - whole) : success();
}

/// Zeros behind the last step, up to a whole register.
LogicalResult MatrixUnit::fillUp(llvm::function_ref<LogicalResult(Panel)> overPanels) {
  int64_t packed = llvm::divideCeil(depth, group()), deep = llvm::alignTo(depth, unit()) / group();
  if (packed == deep)
    return success();
  return overPanels([&](Value panel, Value, int64_t) -> LogicalResult {
    return t.emitLoop(packed, {deep}, 1, {}, loc, [&](Value i, Accumulators) -> FailureOr<Accumulators> {
      for (int64_t v = 0; v * lanes < columns; ++v)
        storeGroup(number(VectorType::get(lanes, b.getI32Type()), 0), panel, i, v);
      return Accumulators();
    });
  });
}

/// Where rows of the factor lie along columns a few of them are read at a time across all panels, in the order in
/// which memory likes to be read.
LogicalResult MatrixUnit::packRhs(Point at, Value start, bool alongDepth, Extent width,
                                  llvm::function_ref<LogicalResult(Panel)> overPanels) {
  forget(0);
  if (alongDepth && !runMemory)
    return overPanels(
        [&](Value panel, Value column, int64_t width) { return packAlong(at, start, panel, column, width); });
  constexpr int64_t stepsAtOnce = 8;
  auto packSome = [&](Value first, int64_t count) {
    if (runMemory)
      return packInRuns(at, start, first, count, width, overPanels);
    return overPanels([&](Value panel, Value column, int64_t width) {
      return packAcross(at, start, first, count, panel, column, width);
    });
  };
  if (failed(overSteps(runMemory ? runSteps : stepsAtOnce, packSome)) || failed(fillUp(overPanels)))
    return failure();
  if (isFloat())
    remember(0, load(b, loc, VectorType::get(unit(), b.getI16Type()), leastLanes, t.evaluator.constantIndex(0, loc)));
  return success();
}

Value MatrixUnit::loadGroups(Value panel, Value row, int64_t vector) {
  auto groups = VectorType::get(lanes, b.getI32Type());
  if (!isPacked)
    return load(b, loc, groups, rhsMemory, {panel, row, t.evaluator.constantIndex(vector * lanes, loc)});
  int64_t width = lanes * group();
  Value value = load(b, loc, VectorType::get(width, factorType), rhsMemory,
                     {panel, row, t.evaluator.constantIndex(vector * width, loc)});
  return vector::BitCastOp::create(b, loc, groups, value);
}

LogicalResult MatrixUnit::lookThroughRhs(llvm::function_ref<LogicalResult(Panel)> overPanels) {
  if (!isFloat())
    return success();
  forget(0);
  auto bitsType = VectorType::get(unit(), b.getI16Type());
  return overPanels([&](Value panel, Value, int64_t) -> LogicalResult {
    int64_t vectors = columns / lanes;
    auto step = [&](Value i, Accumulators smallest) -> FailureOr<Accumulators> {
      for (int64_t v = 0; v < vectors; ++v)
        smallest[v] = least(smallest[v], vector::BitCastOp::create(b, loc, bitsType, loadGroups(panel, i, v)));
      return smallest;
    };
    Accumulators none(vectors, beginLeast(unit()).front());
    FailureOr<Accumulators> smallest = t.emitLoop(0, {depth / group()}, 1, none, loc, step);
    if (failed(smallest))
      return failure();
    for (Value one : *smallest)
      remember(0, one);
    return success();
  });
}

/// `count` steps from `first` of the piece on, of one panel: its columns are one vector.
LogicalResult MatrixUnit::packAcross(Point at, Value start, Value first, int64_t count, Value panel, Value column,
                                     int64_t width) {
  int64_t wide = width > lanes ? 2 * lanes : lanes;
  auto allLanes = VectorType::get(unit(), b.getI16Type());
  Value zero = t.evaluator.constantIndex(0, loc), smallest;
  if (isFloat())
    smallest = load(b, loc, allLanes, leastLanes, zero);
  Value groupStart = arith::DivUIOp::create(b, loc, first, t.evaluator.constantIndex(group(), loc));
  for (int64_t from = 0; from < count; from += group()) {
    SmallVector<Value> steps;
    for (int64_t i = from; i < std::min(from + group(), count); ++i) {
      Point point = at;
      point.memo.clear();
      t.setLanes(point, n, zero, wide, {width}, wide > width, loc);
      point.positions[n] = column;
      Value step = t.evaluator.addIndex(first, t.evaluator.constantIndex(i, loc), loc);
      point.positions[k] = t.evaluator.addIndex(start, step, loc);
      FailureOr<Value> vector = bits(rhs.tile, point);
      if (failed(vector))
        return failure();
      steps.push_back(*vector);
    }
    Value place = t.evaluator.addIndex(groupStart, t.evaluator.constantIndex(from / group(), loc), loc);
    smallest = storeSteps(steps, panel, place, smallest);
  }
  if (isFloat())
    StoreOp::create(b, loc, smallest, leastLanes, ValueRange{zero}, Value(), DenseBoolArrayAttr());
  return success();
}

/// Squares of groups: a register of steps from each of 16 columns, transposed.
LogicalResult MatrixUnit::packAlong(Point at, Value start, Value panel, Value column, int64_t width) {
  auto groups = VectorType::get(lanes, b.getI32Type());
  auto pack = [&](bool partial) {
    return [&, partial](Value position, Accumulators smallest) -> FailureOr<Accumulators> {
      Value index = arith::DivUIOp::create(b, loc, position, t.evaluator.constantIndex(group(), loc));
      for (int64_t v = 0; v * lanes < width; ++v) {
        SmallVector<Value> square;
        for (int64_t j = 0; j < lanes; ++j) {
          if (v * lanes + j >= width) {
            square.push_back(number(groups, 0));
            continue;
          }
          Point point = at;
          point.memo.clear();
          t.setLanes(point, k, position, unit(), {depth}, partial, loc);
          point.positions[k] = t.evaluator.addIndex(start, position, loc);
          point.positions[n] = t.evaluator.addIndex(column, t.evaluator.constantIndex(v * lanes + j, loc), loc);
          FailureOr<Value> steps = bits(rhs.tile, point);
          if (failed(steps))
            return failure();
          if (isFloat())
            smallest[0] = least(smallest[0], *steps);
          square.push_back(vector::BitCastOp::create(b, loc, groups, *steps));
        }
        transposeVectors(b, loc, square);
        for (auto [i, value] : llvm::enumerate(square))
          storeGroup(value, panel, t.evaluator.addIndex(index, t.evaluator.constantIndex(i, loc), loc), v);
      }
      return smallest;
    };
  };
  int64_t whole = depth - depth % unit();
  FailureOr<Accumulators> smallest = t.emitLoop(0, {whole}, unit(), beginLeast(unit()), loc, pack(false));
  if (failed(smallest))
    return failure();
  smallest = t.emitLoop(whole, {depth}, unit(), *smallest, loc, pack(true));
  if (failed(smallest))
    return failure();
  if (isFloat())
    remember(0, smallest->front());
  return success();
}

/// Zeros for the last register of each packed row, where the steps do not fill it.
LogicalResult MatrixUnit::clearBehind(Extent height) {
  if (depth % unit() == 0)
    return success();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(VectorType::get(unit(), factorType)));
  Value from = t.evaluator.constantIndex(depth - depth % unit(), loc);
  return t.emitLoop(0, height, 1, {}, loc, [&](Value row, Accumulators) -> FailureOr<Accumulators> {
    StoreOp::create(b, loc, zero, lhsMemory, ValueRange{row, from}, Value(), DenseBoolArrayAttr());
    return Accumulators();
  });
}

/// Packs rows of a window along the contraction, or of what lies across it in squares; false where these are no runs.
FailureOr<bool> MatrixUnit::packRuns(const Point &at, Value start, Value row0, Extent height) {
  if (!lhsMemory)
    return false;
  PackedBox box{lhs.tile, m, k, at, row0, start, height, {depth}, factorType, lhsMemory, {}, /*takesPlain=*/true};
  box.base.memo.clear();
  auto place = [](Value row, Value step) -> SmallVector<Value> { return {row, step}; };
  box.place = place;
  Packer packer(t, loc);
  int64_t width = unit();
  Packer::Runs runs = packer.findRuns(box, width);
  // Runs that leave most of a register's lanes empty, as rows of 6 or 7 positions do, are copied with half of them.
  if (runs.length == 0) {
    width /= 2;
    runs = packer.findRuns(box, width);
    if (runs.length == 0 || runs.isTransposed)
      return false;
    if (failed(clearBehind(height)))
      return failure();
  }
  FailureOr<bool> isPackedSo = packer.packRuns(box, width);
  if (failed(isPackedSo) || !*isPackedSo || !runs.isTransposed || depth % unit() == 0)
    return isPackedSo;
  // Squares read the last step again behind it, which may be infinite: times zero that is no zero.
  const int64_t last = depth - depth % unit();
  auto type = VectorType::get(unit(), factorType);
  SmallVector<bool> exists;
  for (int64_t lane = 0; lane < unit(); ++lane)
    exists.push_back(last + lane < depth);
  Value mask = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(VectorType::get(unit(), b.getI1Type()), ArrayRef<bool>(exists)));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type)), from = t.evaluator.constantIndex(last, loc);
  FailureOr<Accumulators> cleared =
      t.emitLoop(0, height, 1, {}, loc, [&](Value row, Accumulators) -> FailureOr<Accumulators> {
        Value packed = load(b, loc, type, lhsMemory, {row, from});
        StoreOp::create(b, loc, arith::SelectOp::create(b, loc, mask, packed, zero), lhsMemory, ValueRange{row, from},
                        Value(), DenseBoolArrayAttr());
        return Accumulators();
      });
  if (failed(cleared))
    return failure();
  return true;
}

/// Looks for the smallest factor of packed rows, behind whose steps are zeros.
LogicalResult MatrixUnit::lookThroughLhs(Extent height) {
  auto type = VectorType::get(unit(), factorType), bitsType = VectorType::get(unit(), b.getI16Type());
  FailureOr<Accumulators> smallest =
      t.emitLoop(0, height, 1, beginLeast(unit()), loc, [&](Value row, Accumulators carried) {
        return t.emitLoop(0, {int64_t(llvm::alignTo(depth, unit()))}, unit(), carried, loc,
                          [&](Value step, Accumulators inner) -> FailureOr<Accumulators> {
                            Value packed = load(b, loc, type, lhsMemory, {row, step});
                            inner[0] = least(inner[0], arith::BitcastOp::create(b, loc, bitsType, packed));
                            return inner;
                          });
      });
  if (failed(smallest))
    return failure();
  remember(1, smallest->front());
  return success();
}

/// Packs a block of rows, or only looks for its smallest factor.
LogicalResult MatrixUnit::packLhs(Point at, Value start, Value row0, Extent height) {
  if (!lhsMemory && !isFloat())
    return success();
  forget(1);
  FailureOr<bool> inRuns = packRuns(at, start, row0, height);
  if (failed(inRuns))
    return failure();
  if (*inRuns)
    return isFloat() ? lookThroughLhs(height) : success();
  auto inRow = [&](Value row, Accumulators carried) -> FailureOr<Accumulators> {
    Value rowPosition = t.evaluator.addIndex(row0, row, loc);
    // `count` registers from `position` on.
    auto pack = [&](int64_t count, bool partial) {
      return [&, count, partial](Value position, Accumulators inner) -> FailureOr<Accumulators> {
        for (int64_t i = 0; i < count; ++i) {
          Value there = t.evaluator.addIndex(position, t.evaluator.constantIndex(i * unit(), loc), loc);
          Point point = at;
          point.memo.clear();
          point.positions[m] = rowPosition;
          t.setLanes(point, k, there, unit(), {depth}, partial, loc);
          point.positions[k] = t.evaluator.addIndex(start, there, loc);
          FailureOr<Value> steps = bits(lhs.tile, point);
          if (failed(steps))
            return failure();
          if (lhsMemory) {
            Value stored = *steps;
            if (isFloat())
              stored = arith::BitcastOp::create(b, loc, VectorType::get(unit(), factorType), stored);
            StoreOp::create(b, loc, stored, lhsMemory, ValueRange{row, there}, Value(), DenseBoolArrayAttr());
          }
          if (isFloat())
            inner[i % inner.size()] = least(inner[i % inner.size()], *steps);
        }
        return inner;
      };
    };
    constexpr int64_t unitsAtOnce = 4;
    int64_t whole = depth - depth % unit(), most = depth - depth % (unitsAtOnce * unit());
    FailureOr<Accumulators> next = t.emitLoop(0, {most}, unitsAtOnce * unit(), carried, loc, pack(unitsAtOnce, false));
    if (succeeded(next))
      next = t.emitLoop(most, {whole}, unit(), *next, loc, pack(1, false));
    return failed(next) ? next : t.emitLoop(whole, {depth}, unit(), *next, loc, pack(1, true));
  };
  FailureOr<Accumulators> smallest = t.emitLoop(0, height, 1, beginLeast(unit()), loc, inRow);
  if (failed(smallest))
    return failure();
  if (isFloat())
    remember(1, smallest->front());
  return success();
}

//===----------------------------------------------------------------------===//
// The smallest factors
//===----------------------------------------------------------------------===//

MatrixUnit::Accumulators MatrixUnit::beginLeast(int64_t count) {
  if (!isFloat())
    return {};
  return {number(VectorType::get(count, b.getI16Type()), -1)};
}

Value MatrixUnit::least(Value smallest, Value bits) {
  Value size = arith::AndIOp::create(b, loc, bits, number(bits.getType(), 0x7fff));
  size = arith::SubIOp::create(b, loc, size, number(bits.getType(), 1));
  return arith::MinUIOp::create(b, loc, smallest, size);
}

void MatrixUnit::forget(int64_t side) {
  if (!isFloat())
    return;
  auto store = [&](Value value, Value memory, int64_t at) {
    StoreOp::create(b, loc, value, memory, ValueRange{t.evaluator.constantIndex(at, loc)}, Value(),
                    DenseBoolArrayAttr());
  };
  store(number(b.getI32Type(), 0xffff), leastMemory, side);
  if (side == 0)
    store(number(VectorType::get(unit(), b.getI16Type()), -1), leastLanes, 0);
}

void MatrixUnit::remember(int64_t side, Value smallest) {
  Value one = vector::ReductionOp::create(b, loc, vector::CombiningKind::MINUI, smallest);
  one = arith::ExtUIOp::create(b, loc, b.getI32Type(), one);
  Value at = t.evaluator.constantIndex(side, loc);
  Value known = load(b, loc, b.getI32Type(), leastMemory, at);
  StoreOp::create(b, loc, arith::MinUIOp::create(b, loc, known, one), leastMemory, ValueRange{at}, Value(),
                  DenseBoolArrayAttr());
}

/// Products of normal numbers that are at least 2^-110, and so multiples of 2^-124, have sums that are zero or
/// normal. Of the numbers that are remembered, 0x7f stands for the smallest normal one, 2^-126.
Value MatrixUnit::isSafe() {
  auto exponent = [&](int64_t side) -> Value {
    Value size = load(b, loc, b.getI32Type(), leastMemory, t.evaluator.constantIndex(side, loc));
    size = arith::AddIOp::create(b, loc, size, number(size.getType(), 1));
    return arith::ShRUIOp::create(b, loc, size, number(size.getType(), 7));
  };
  Value left = exponent(1), right = exponent(0), zero = number(left.getType(), 0);
  auto isNormal = [&](Value of) -> Value { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, of, zero); };
  Value normal = arith::AndIOp::create(b, loc, isNormal(left), isNormal(right));
  Value sum = arith::AddIOp::create(b, loc, left, right);
  Value large = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, sum, number(sum.getType(), 2 * 127 - 110));
  return arith::AndIOp::create(b, loc, normal, large);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

SmallVector<Value> MatrixUnit::placeOfLhs(Point &at, Value start, Value row0, Value row) {
  if (lhsMemory)
    return {row, t.evaluator.constantIndex(0, loc)};
  auto load = lhs.tile.getDefiningOp<LoadOp>();
  Point point = at;
  point.positions[m] = t.evaluator.addIndex(row0, row, loc);
  point.positions[k] = start;
  SmallVector<Value> place;
  for (auto [base, axis] : llvm::zip(load.getIndices(), t.axes.of(lhs.tile)))
    place.push_back(
        t.evaluator.addIndex(t.evaluator.mapping.lookupOrDefault(base), t.evaluator.position(point, axis, loc), loc));
  return place;
}

Value MatrixUnit::lhsView() {
  return lhsMemory ? lhsMemory : t.evaluator.mapping.lookupOrDefault(lhs.tile.getDefiningOp<LoadOp>().getView());
}

LogicalResult MatrixUnit::multiply(Point at, Value start, Value row0, Value row, Value panel, Value share) {
  Value zero = t.evaluator.constantIndex(0, loc);
  Value deep = t.evaluator.constantIndex(llvm::alignTo(depth, unit()), loc);
  SmallVector<Value> place = placeOfLhs(at, start, row0, row);
  auto byUnit = [&] {
    // The panels share the rows of the next block.
    int64_t aheadRows = blockRows ? llvm::divideCeil(rows, panels) : 0;
    Value ahead;
    if (blockRows)
      ahead =
          t.evaluator.addIndex(t.evaluator.constantIndex(blockRows, loc),
                               arith::MulIOp::create(b, loc, share, t.evaluator.constantIndex(aheadRows, loc)), loc);
    MatrixMultiplyOp::create(b, loc, sumMemory, lhsView(), place, rhsMemory, ValueRange{panel, zero, zero}, deep, ahead,
                             aheadRows, lhs.isUnsigned, rhs.isUnsigned);
  };
  if (!isFloat()) {
    byUnit();
    return success();
  }
  auto branch = scf::IfOp::create(b, loc, TypeRange(), isSafe(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  byUnit();
  b.setInsertionPointToStart(branch.elseBlock());
  return multiplyExactly(place, panel);
}

/// Row by row, the two steps of each group one after the other.
LogicalResult MatrixUnit::multiplyExactly(ArrayRef<Value> lhsPlace, Value panel) {
  auto groups = VectorType::get(lanes, b.getI32Type()), floats = VectorType::get(lanes, b.getF32Type());
  int64_t vectors = columns / lanes;
  auto inRow = [&](Value r, Accumulators) -> FailureOr<Accumulators> {
    SmallVector<Value> from(lhsPlace);
    Value &rowOf = from[from.size() - 2], first0 = from.back();
    rowOf = t.evaluator.addIndex(rowOf, r, loc);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(floats));
    auto step = [&](Value i, Accumulators sums) -> FailureOr<Accumulators> {
      Value first = arith::MulIOp::create(b, loc, i, t.evaluator.constantIndex(2, loc));
      SmallVector<Value> left;
      for (int64_t j = 0; j < 2; ++j) {
        Value step = t.evaluator.addIndex(first, t.evaluator.constantIndex(j, loc), loc);
        from.back() = t.evaluator.addIndex(first0, step, loc);
        Value element = load(b, loc, factorType, lhsView(), from);
        element = arith::ExtFOp::create(b, loc, b.getF32Type(), element);
        left.push_back(vector::BroadcastOp::create(b, loc, floats, element));
      }
      for (int64_t v = 0; v < vectors; ++v) {
        Value pairs = loadGroups(panel, i, v);
        Value even = arith::ShLIOp::create(b, loc, pairs, number(groups, 16));
        Value odd = arith::AndIOp::create(b, loc, pairs, number(groups, -0x10000));
        for (auto [factor, right] : {std::pair(left[0], even), {left[1], odd}})
          sums[v] = math::FmaOp::create(b, loc, factor, arith::BitcastOp::create(b, loc, floats, right), sums[v]);
      }
      return sums;
    };
    FailureOr<Accumulators> sums =
        t.emitLoop(0, {int64_t(llvm::divideCeil(depth, 2))}, 1, Accumulators(vectors, zero), loc, step);
    if (failed(sums))
      return failure();
    for (auto [v, sum] : llvm::enumerate(*sums))
      StoreOp::create(b, loc, sum, sumMemory, ValueRange{r, t.evaluator.constantIndex(v * lanes, loc)}, Value(),
                      DenseBoolArrayAttr());
    return Accumulators();
  };
  return success(succeeded(t.emitLoop(0, {rows}, 1, {}, loc, inRow)));
}

Value MatrixUnit::sums(Value row, int64_t vector) {
  return load(b, loc, VectorType::get(lanes, sumType), sumMemory,
              {row, t.evaluator.constantIndex(vector * lanes, loc)});
}
