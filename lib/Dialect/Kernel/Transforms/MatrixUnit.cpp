//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MatrixUnit.h"

#include "VectorTranspose.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

static Type elementOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getElementType(); }

/// What a factor is before it is widened; integers are widened as signed ones by the dot itself.
MatrixUnit::Factor MatrixUnit::narrow(Value tile) {
  Operation *def = tile.getDefiningOp();
  if (def && isa<arith::ExtUIOp, arith::ExtSIOp>(def) && elementOf(def->getOperand(0)).isInteger(8))
    return {def->getOperand(0), isa<arith::ExtUIOp>(def)};
  if (def && isa<arith::ExtFOp>(def) && elementOf(def->getOperand(0)).isBF16())
    return {def->getOperand(0)};
  return {tile};
}

MatrixUnit::MatrixUnit(TileLowering &lowering, DotOp dot, Axis m, Axis n, Axis k)
    : t(lowering), b(lowering.builder), loc(dot.getLoc()), m(m), n(n), k(k), lhs(narrow(dot.getLhs())),
      rhs(narrow(dot.getRhs())), factorType(elementOf(lhs.tile)), sumType(elementOf(dot.getResult())) {}

bool MatrixUnit::takes() const {
  if (!t.machine.amx || factorType != elementOf(rhs.tile))
    return false;
  return (factorType.isBF16() && sumType.isF32()) || (factorType.isInteger(8) && sumType.isInteger(32));
}

Value MatrixUnit::number(Type type, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

void MatrixUnit::allocate(int64_t panels, int64_t tileRows, int64_t tileColumns, int64_t height, int64_t steps) {
  depth = steps;
  rows = tileRows;
  columns = tileColumns;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(t.programStart);
  auto make = [&](ArrayRef<int64_t> shape, Type type) -> Value {
    return AllocOp::create(b, loc, ViewType::get(shape, type, Space::Private));
  };
  int64_t deep = llvm::alignTo(depth, unit());
  rhsMemory = make({panels, deep / group(), columns}, b.getI32Type());
  // The rows of a register begin in different places of a cache, whatever the depth.
  lhsMemory = make({int64_t(llvm::alignTo(height, rows)), deep + unit()}, factorType);
  sumMemory = make({rows, columns}, sumType);
  if (isFloat())
    leastMemory = make({2}, b.getI32Type());
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

Value MatrixUnit::join(ArrayRef<Value> steps) {
  auto type = VectorType::get(lanes, b.getI32Type());
  Value joined;
  for (auto [i, step] : llvm::enumerate(steps)) {
    Value wide = arith::ExtUIOp::create(b, loc, type, step);
    if (i != 0)
      wide = arith::ShLIOp::create(b, loc, wide, number(type, int64_t(i) * 32 / group()));
    joined = joined ? arith::OrIOp::create(b, loc, joined, wide).getResult() : wide;
  }
  return joined ? joined : number(type, 0);
}

void MatrixUnit::storeGroup(Value value, Value panel, Value at, int64_t vector) {
  SmallVector<Value> place = {panel, at, t.evaluator.constantIndex(vector * lanes, loc)};
  StoreOp::create(b, loc, value, rhsMemory, place, Value(), DenseBoolArrayAttr());
}

LogicalResult MatrixUnit::packRhs(Point at, Value start, Value panel, Value column, int64_t width,
                                  bool alongDepth) {
  return alongDepth ? packAlong(at, start, panel, column, width) : packAcross(at, start, panel, column, width);
}

/// Vectors of columns, as many as there are steps in a group.
LogicalResult MatrixUnit::packAcross(Point at, Value start, Value panel, Value column, int64_t width) {
  int64_t vectors = llvm::divideCeil(width, lanes), whole = depth / group();
  // A group of which `count` steps exist.
  auto pack = [&](Value index, int64_t count, Accumulators smallest) -> FailureOr<Accumulators> {
    Value first = arith::MulIOp::create(b, loc, index, t.evaluator.constantIndex(group(), loc));
    first = t.evaluator.addIndex(start, first, loc);
    for (int64_t v = 0; v < vectors; ++v) {
      Value offset = t.evaluator.constantIndex(v * lanes, loc);
      SmallVector<Value> steps;
      for (int64_t i = 0; i < count; ++i) {
        Point point = at;
        point.memo.clear();
        t.setLanes(point, n, offset, lanes, {width}, (v + 1) * lanes > width, loc);
        point.positions[n] = t.evaluator.addIndex(column, offset, loc);
        point.positions[k] = t.evaluator.addIndex(first, t.evaluator.constantIndex(i, loc), loc);
        FailureOr<Value> step = bits(rhs.tile, point);
        if (failed(step))
          return failure();
        steps.push_back(*step);
        if (isFloat())
          smallest[0] = least(smallest[0], *step);
      }
      storeGroup(join(steps), panel, index, v);
    }
    return smallest;
  };
  auto all = [&](int64_t count) {
    return [&, count](Value i, Accumulators smallest) { return pack(i, count, smallest); };
  };
  FailureOr<Accumulators> smallest = t.emitLoop(0, {whole}, 1, beginLeast(lanes), loc, all(group()));
  if (failed(smallest))
    return failure();
  if (int64_t rest = depth % group()) {
    smallest = pack(t.evaluator.constantIndex(whole, loc), rest, *smallest);
    if (failed(smallest))
      return failure();
    ++whole;
  }
  if (failed(t.emitLoop(whole, {int64_t(llvm::alignTo(depth, unit())) / group()}, 1, {}, loc,
                        [&](Value i, Accumulators) { return pack(i, 0, {}); })))
    return failure();
  if (isFloat())
    remember(0, smallest->front());
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

LogicalResult MatrixUnit::packLhs(Point at, Value start, Value row0, Extent height) {
  forget(1);
  FailureOr<Accumulators> smallest =
      t.emitLoop(0, height, 1, beginLeast(unit()), loc, [&](Value row, Accumulators carried) {
        Value rowPosition = t.evaluator.addIndex(row0, row, loc);
        auto pack = [&](bool partial) {
          return [&, partial](Value position, Accumulators inner) -> FailureOr<Accumulators> {
            Point point = at;
            point.memo.clear();
            point.positions[m] = rowPosition;
            t.setLanes(point, k, position, unit(), {depth}, partial, loc);
            point.positions[k] = t.evaluator.addIndex(start, position, loc);
            FailureOr<Value> steps = bits(lhs.tile, point);
            if (failed(steps))
              return failure();
            Value stored = isFloat() ? arith::BitcastOp::create(b, loc, VectorType::get(unit(), factorType), *steps)
                                           .getResult()
                                     : *steps;
            StoreOp::create(b, loc, stored, lhsMemory, ValueRange{row, position}, Value(), DenseBoolArrayAttr());
            if (isFloat())
              inner[0] = least(inner[0], *steps);
            return inner;
          };
        };
        int64_t whole = depth - depth % unit();
        FailureOr<Accumulators> next = t.emitLoop(0, {whole}, unit(), carried, loc, pack(false));
        return failed(next) ? next : t.emitLoop(whole, {depth}, unit(), *next, loc, pack(true));
      });
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
  if (isFloat())
    StoreOp::create(b, loc, number(b.getI32Type(), 0xffff), leastMemory, ValueRange{t.evaluator.constantIndex(side, loc)},
                    Value(), DenseBoolArrayAttr());
}

static Value loadScalar(OpBuilder &b, Location loc, Type type, Value view, ValueRange indices) {
  return LoadOp::create(b, loc, type, view, indices, Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
}

void MatrixUnit::remember(int64_t side, Value smallest) {
  Value one = vector::ReductionOp::create(b, loc, vector::CombiningKind::MINUI, smallest);
  one = arith::ExtUIOp::create(b, loc, b.getI32Type(), one);
  Value at = t.evaluator.constantIndex(side, loc);
  Value known = loadScalar(b, loc, b.getI32Type(), leastMemory, at);
  StoreOp::create(b, loc, arith::MinUIOp::create(b, loc, known, one), leastMemory, ValueRange{at}, Value(),
                  DenseBoolArrayAttr());
}

/// Products of normal numbers that are at least 2^-110, and so multiples of 2^-124, have sums that are zero or
/// normal. Of the numbers that are remembered, 0x7f stands for the smallest normal one, 2^-126.
Value MatrixUnit::isSafe() {
  auto exponent = [&](int64_t side) -> Value {
    Value size = loadScalar(b, loc, b.getI32Type(), leastMemory, t.evaluator.constantIndex(side, loc));
    size = arith::AddIOp::create(b, loc, size, number(size.getType(), 1));
    return arith::ShRUIOp::create(b, loc, size, number(size.getType(), 7));
  };
  Value left = exponent(1), right = exponent(0), zero = number(left.getType(), 0);
  auto isNormal = [&](Value of) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, of, zero);
  };
  Value normal = arith::AndIOp::create(b, loc, isNormal(left), isNormal(right));
  Value sum = arith::AddIOp::create(b, loc, left, right);
  Value large = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, sum,
                                      number(sum.getType(), 2 * 127 - 110));
  return arith::AndIOp::create(b, loc, normal, large);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult MatrixUnit::multiply(Value row, Value panel) {
  Value zero = t.evaluator.constantIndex(0, loc);
  Value deep = t.evaluator.constantIndex(llvm::alignTo(depth, unit()), loc);
  auto byUnit = [&] {
    MatrixMultiplyOp::create(b, loc, sumMemory, lhsMemory, ValueRange{row, zero}, rhsMemory,
                             ValueRange{panel, zero, zero}, deep, lhs.isUnsigned, rhs.isUnsigned);
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
  return multiplyExactly(row, panel);
}

/// Row by row, the two steps of each group one after the other.
LogicalResult MatrixUnit::multiplyExactly(Value row, Value panel) {
  auto groups = VectorType::get(lanes, b.getI32Type()), floats = VectorType::get(lanes, b.getF32Type());
  int64_t vectors = columns / lanes;
  auto inRow = [&](Value r, Accumulators) -> FailureOr<Accumulators> {
    Value from = t.evaluator.addIndex(row, r, loc);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(floats));
    auto step = [&](Value i, Accumulators sums) -> FailureOr<Accumulators> {
      Value first = arith::MulIOp::create(b, loc, i, t.evaluator.constantIndex(2, loc));
      SmallVector<Value> left;
      for (int64_t j = 0; j < 2; ++j) {
        Value at = t.evaluator.addIndex(first, t.evaluator.constantIndex(j, loc), loc);
        Value element = loadScalar(b, loc, factorType, lhsMemory, {from, at});
        element = arith::ExtFOp::create(b, loc, b.getF32Type(), element);
        left.push_back(vector::BroadcastOp::create(b, loc, floats, element));
      }
      for (int64_t v = 0; v < vectors; ++v) {
        Value pairs = loadScalar(b, loc, groups, rhsMemory, {panel, i, t.evaluator.constantIndex(v * lanes, loc)});
        Value even = arith::ShLIOp::create(b, loc, pairs, number(groups, 16));
        Value odd = arith::AndIOp::create(b, loc, pairs, number(groups, -0x10000));
        for (auto [factor, right] : {std::pair(left[0], even), {left[1], odd}})
          sums[v] = math::FmaOp::create(b, loc, factor, arith::BitcastOp::create(b, loc, floats, right), sums[v]);
      }
      return sums;
    };
    FailureOr<Accumulators> sums = t.emitLoop(0, {int64_t(llvm::divideCeil(depth, 2))}, 1,
                                              Accumulators(vectors, zero), loc, step);
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
  return loadScalar(b, loc, VectorType::get(lanes, sumType), sumMemory,
                    {row, t.evaluator.constantIndex(vector * lanes, loc)});
}
