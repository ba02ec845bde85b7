//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "DotEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace zyx::kernel;

static Type elementOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getElementType(); }

/// `rows` rows of `vectors` vectors of the result, with the sums in registers all along k.
FailureOr<DotEmitter::Block2D> DotEmitter::sumBlock(Point base, int64_t rows, int64_t vectors, Extent columns) {
  unsigned rank = cast<RankedTensorType>(dot.getType()).getRank();
  Axis m = t.axes.of(dot.getResult(), rank - 2), n = t.axes.of(dot.getResult(), rank - 1),
       k = t.axes.of(dot.getLhs(), rank - 1);
  Type element = elementOf(dot.getResult());
  int64_t lanes = base.lanes;
  Value row0 = t.evaluator.position(base, m, loc), column0 = t.evaluator.position(base, n, loc);

  auto rowPoint = [&](const Point &from, int64_t r) {
    Point at = from;
    at.positions[m] = t.evaluator.addIndex(row0, t.evaluator.constantIndex(r, loc), loc);
    at.memo.clear();
    return at;
  };
  auto columnPoint = [&](Point from, int64_t v) {
    Value position = t.evaluator.addIndex(column0, t.evaluator.constantIndex(v * lanes, loc), loc);
    std::optional<int64_t> known = getConstantIntValue(position);
    bool partial = !columns.constant || !known || *known + lanes > *columns.constant;
    from.memo.clear();
    t.setLanes(from, n, position, lanes, columns, partial, loc);
    return from;
  };

  Accumulators accs;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v) {
      Point at = columnPoint(rowPoint(base, r), v);
      FailureOr<Value> init = t.evaluator.evaluateVector(dot.getAcc(), at);
      if (failed(init))
        return failure();
      accs.push_back(*init);
    }
  FailureOr<Extent> depth = t.extentOf(k, loc);
  if (failed(depth))
    return failure();
  // Masks do not change along k.
  SmallVector<Point> columnPoints;
  for (int64_t v = 0; v < vectors; ++v)
    columnPoints.push_back(columnPoint(base, v));

  auto step = [&](Value i, Accumulators sums) -> FailureOr<Accumulators> {
    SmallVector<Value> factors;
    for (Point at : columnPoints) {
      at.positions[k] = i;
      FailureOr<Value> b = t.evaluator.evaluateVector(dot.getRhs(), at);
      if (failed(b))
        return failure();
      factors.push_back(widenFactor(t.builder, loc, *b, element));
    }
    for (int64_t r = 0; r < rows; ++r) {
      Point at = rowPoint(base, r);
      at.positions[k] = i;
      FailureOr<Value> a = t.evaluator.evaluate(dot.getLhs(), at);
      if (failed(a))
        return failure();
      Value factor = t.evaluator.broadcast(widenFactor(t.builder, loc, *a, element), at);
      for (int64_t v = 0; v < vectors; ++v) {
        Value &sum = sums[r * vectors + v];
        if (isa<FloatType>(element))
          sum = math::FmaOp::create(t.builder, loc, factor, factors[v], sum);
        else
          sum = arith::AddIOp::create(t.builder, loc, sum, arith::MulIOp::create(t.builder, loc, factor, factors[v]));
      }
    }
    return sums;
  };
  // A long contraction in rounds of two steps, where none is left over.
  constexpr int64_t longDepth = 16;
  int64_t steps = depth->constant && *depth->constant >= longDepth && *depth->constant % 2 == 0 ? 2 : 1;
  auto round = [&](Value i, Accumulators sums) -> FailureOr<Accumulators> {
    for (int64_t s = 0; s < steps; ++s) {
      FailureOr<Accumulators> next = step(t.evaluator.addIndex(i, t.evaluator.constantIndex(s, loc), loc), sums);
      if (failed(next))
        return failure();
      sums = *next;
    }
    return sums;
  };
  FailureOr<Accumulators> sums = t.emitLoop(0, *depth, steps, accs, loc, round);
  if (failed(sums))
    return failure();
  Block2D result(rows);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      result[r].push_back((*sums)[r * vectors + v]);
  return result;
}

/// Whether all that reads a dot's result can do so in registers: nests that are unrolled over its rows
/// and columns alone, and that read no other dot.
bool DotEmitter::readsFromRegisters(Axis m, Axis n) {
  llvm::SmallSetVector<Value, 8> values;
  values.insert(dot.getResult());
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      if (isa<DotOp>(user) || user->hasTrait<OpTrait::IsTerminator>())
        return false;
      if (!isTileRoot(user)) {
        values.insert(user->result_begin(), user->result_end());
        continue;
      }
      for (Axis axis : t.axes.of(domainOf(user)))
        if (axis != m && axis != n && t.axes.extent(axis) != 1)
          return false;
      for (Value tile : t.sliceOf(user).tiles)
        if (tile != dot.getResult() && tile.getDefiningOp<DotOp>())
          return false;
    }
  return true;
}

/// A dot whose result fits the registers stays there; a larger one goes to memory block by block.
LogicalResult DotEmitter::emit() {
  auto type = cast<RankedTensorType>(dot.getType());
  unsigned rank = type.getRank();
  Axis m = t.axes.of(dot.getResult(), rank - 2), n = t.axes.of(dot.getResult(), rank - 1);
  FailureOr<Extent> rows = t.extentOf(m, loc), columns = t.extentOf(n, loc);
  if (failed(rows) || failed(columns))
    return failure();
  int64_t rowTile = t.axes.extent(m), columnTile = t.axes.extent(n);
  TileContext::ProducerSlice slice = t.sliceOf({dot.getOperation()});
  int64_t lanes = std::min<int64_t>(t.lanesFor(slice, n), llvm::PowerOf2Ceil(std::max<int64_t>(columnTile, 1)));
  int64_t vectors = llvm::divideCeil(columnTile, lanes);
  bool batched = llvm::any_of(type.getShape().drop_back(2), [](int64_t extent) { return extent != 1; });
  // The accumulators, one row of the right factor and a broadcast element of the left one.
  int64_t registersLeft = t.machine.accessRegisters() - 2;

  Point base;
  base.vectorAxis = n;
  base.lanes = lanes;
  // One by one, columns have no mask: those that do not exist must not be touched.
  bool wholeColumns = columns->constant || lanes > 1;
  if (!batched && rows->constant && wholeColumns && rowTile * vectors + vectors <= registersLeft &&
      readsFromRegisters(m, n)) {
    FailureOr<Block2D> block = sumBlock(base, rowTile, vectors, *columns);
    if (failed(block))
      return failure();
    t.evaluator.registers[dot.getResult()] = {m, n, lanes, *block};
    return success();
  }

  t.allocate(dot.getResult());
  int64_t mostVectors = t.machine.accessRegisters() >= 32 && vectors % 4 == 0 ? 4 : 2;
  int64_t blockVectors = std::clamp<int64_t>(vectors, 1, mostVectors);
  int64_t blockRows = std::clamp<int64_t>((registersLeft - blockVectors) / blockVectors, 1, 8);
  // Surplus rows of the grid's last program must not be read.
  if (!rows->constant)
    blockRows = 1;
  auto emitBlock = [&](Point at, int64_t r, int64_t v) -> LogicalResult {
    FailureOr<Block2D> block = sumBlock(at, r, v, *columns);
    if (failed(block))
      return failure();
    for (int64_t i = 0; i < r; ++i)
      for (int64_t j = 0; j < v; ++j) {
        Point to = at;
        to.positions[m] =
            t.evaluator.addIndex(t.evaluator.position(at, m, loc), t.evaluator.constantIndex(i, loc), loc);
        to.positions[n] =
            t.evaluator.addIndex(t.evaluator.position(at, n, loc), t.evaluator.constantIndex(j * lanes, loc), loc);
        t.evaluator.storeToMemory(dot.getResult(), (*block)[i][j], to);
      }
    return success();
  };
  auto overColumns = [&](Point at, int64_t r) -> LogicalResult {
    int64_t whole = vectors - vectors % blockVectors;
    auto pieces = [&](int64_t v) {
      return [&, v](Value j, Accumulators) -> FailureOr<Accumulators> {
        Point to = at;
        to.positions[n] = j;
        if (failed(emitBlock(to, r, v)))
          return failure();
        return Accumulators();
      };
    };
    if (!wholeColumns)
      return succeeded(t.emitLoop(0, *columns, 1, {}, loc, pieces(1))) ? success() : failure();
    if (failed(t.emitLoop(0, {whole * lanes, {}}, blockVectors * lanes, {}, loc, pieces(blockVectors))) ||
        failed(t.emitLoop(whole * lanes, {vectors * lanes, {}}, lanes, {}, loc, pieces(1))))
      return failure();
    return success();
  };
  auto overRows = [&](Point at) -> LogicalResult {
    auto pieces = [&](int64_t r) {
      return [&, r](Value i, Accumulators) -> FailureOr<Accumulators> {
        Point to = at;
        to.positions[m] = i;
        if (failed(overColumns(to, r)))
          return failure();
        return Accumulators();
      };
    };
    if (!rows->constant)
      return t.emitLoop(0, *rows, 1, {}, loc, pieces(1));
    int64_t whole = rowTile - rowTile % blockRows;
    if (failed(t.emitLoop(0, {whole, {}}, blockRows, {}, loc, pieces(blockRows))))
      return failure();
    return t.emitLoop(whole, {rowTile, {}}, blockRows, {}, loc, pieces(rowTile - whole));
  };
  return t.overBatches(dot, base, overRows);
}
