//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Nests that walk blocks: sums of columns in memory, and squares transposed in registers.
//===----------------------------------------------------------------------===//
#include "NestEmitter.h"

#include "zyx/Codegen/Tile/Lanes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

bool NestEmitter::findTransposed() {
  if (!vectorAxis || unrolled || vectorCombined() || lanes < 4 || !reduces.empty())
    return false;
  for (Operation *access : cone.accesses) {
    auto load = dyn_cast<LoadOp>(access);
    if (!load || !isTile(load.getResult()))
      continue;
    Value view = t.evaluator.mapping.lookupOrDefault(load.getView());
    std::optional<Axis> contiguous;
    bool isStrided = false;
    for (auto [dim, axis] : llvm::enumerate(t.axes.of(load.getResult()))) {
      std::optional<int64_t> stride = isComplex(view) ? std::nullopt : strideOf(view, dim);
      if (axis == *vectorAxis)
        isStrided = stride && *stride != 0 && *stride != 1;
      else if (stride == 1 && domain.contains(axis) && t.axes.extent(axis) >= 4)
        contiguous = axis;
    }
    if (isStrided && contiguous && transposedAxis.value_or(*contiguous) == *contiguous) {
      transposedAxis = contiguous;
      transposed.push_back(load.getResult());
    }
  }
  if (!transposedAxis)
    return false;
  // As many rows as lanes must exist, and be few enough to stay in registers.
  int64_t rows = llvm::bit_floor<uint64_t>(std::min(t.axes.extent(*transposedAxis), t.axes.extent(*vectorAxis)));
  lanes = std::min<int64_t>({lanes, rows, 16});
  unroll = 1;
  return true;
}

LogicalResult NestEmitter::walkSquares(Point point) {
  Axis rowAxis = *transposedAxis, axis = *vectorAxis;
  Extent extent = extents[axis], rowExtent = extents[rowAxis];
  Pieces pieces = split(extent), rowPieces = split(rowExtent);
  using Result = FailureOr<Accumulators>;
  auto done = [](LogicalResult result) { return succeeded(result) ? Result(Accumulators()) : Result(failure()); };
  auto squares = [&](Value row, Accumulators) -> Result {
    Result whole = t.emitLoop(0, pieces.vectors, lanes, {}, loc,
                              [&](Value column, Accumulators) { return done(emitSquare(point, row, column)); });
    if (failed(whole))
      return failure();
    return emitRest(pieces, {}, [&](Value column, Accumulators) -> Result {
      return t.emitLoop(0, {lanes, {}}, 1, {}, loc, [&](Value i, Accumulators) {
        Point at = point;
        at.positions[rowAxis] = t.evaluator.addIndex(row, i, loc);
        t.setLanes(at, axis, column, lanes, extent, /*partial=*/true, loc);
        return done(emitInner(at));
      });
    });
  };
  auto rest = [&](Value row, Accumulators) -> Result {
    Point at = point;
    at.positions[rowAxis] = row;
    return done(walkVectors(at));
  };
  if (failed(t.emitLoop(0, rowPieces.vectors, lanes, {}, loc, squares)))
    return failure();
  if (rowExtent.constant)
    return t.emitLoop(*rowPieces.vectors.constant, rowExtent, 1, {}, loc, rest);
  Value below = rowPieces.vectors.value;
  Value count = arith::SubIOp::create(t.builder, loc, rowExtent.value, below);
  return t.emitLoop(0, {std::nullopt, count}, 1, {}, loc,
                    [&](Value i, Accumulators) { return rest(t.evaluator.addIndex(i, below, loc), {}); });
}

LogicalResult NestEmitter::emitSquare(const Point &point, Value row, Value column) {
  auto at = [&](Value from, int64_t i) { return t.evaluator.addIndex(from, t.evaluator.constantIndex(i, loc), loc); };
  SmallVector<SmallVector<Value>> squares;
  for (Value tile : transposed) {
    SmallVector<Value> vectors;
    for (int64_t i = 0; i < lanes; ++i) {
      Point along = point;
      along.positions[*vectorAxis] = at(column, i);
      t.setLanes(along, *transposedAxis, row, lanes, extents[*transposedAxis], /*partial=*/false, loc);
      FailureOr<Value> vector = t.evaluator.evaluateVector(tile, along);
      if (failed(vector))
        return failure();
      vectors.push_back(*vector);
    }
    squares.push_back(transposeLanes(t.builder, loc, vectors));
  }
  for (int64_t i = 0; i < lanes; ++i) {
    Point across = point;
    across.positions[*transposedAxis] = at(row, i);
    t.setLanes(across, *vectorAxis, column, lanes, extents[*vectorAxis], /*partial=*/false, loc);
    for (auto [tile, square] : llvm::zip(transposed, squares))
      across.memo[tile] = square[i];
    if (failed(emitInner(across)))
      return failure();
  }
  return success();
}

bool NestEmitter::sumsInMemory() {
  if (!vectorAxis || unrolled || vectorCombined() || lanes == 1 || isShort() || reduces.size() != roots.size() ||
      !singles.empty())
    return false;
  int64_t rows = 1;
  for (Axis axis : combined)
    rows *= extents[axis].constant.value_or(1);
  bool innermost = llvm::all_of(reduces, [&](ReduceOp reduce) {
    SmallVector<Axis> kept = t.axes.of(reduce.getResult());
    return !kept.empty() && kept.back() == *vectorAxis;
  });
  return innermost && rows > blockRows && t.axes.extent(*vectorAxis) > 4 * lanes;
}

LogicalResult NestEmitter::walkBlocks(Point point) {
  auto clear = [&](SmallVectorImpl<Point> &points) {
    for (Point &at : points)
      for (ReduceOp reduce : reduces) {
        Type element = cast<RankedTensorType>(reduce.getType()).getElementType();
        t.evaluator.storeToMemory(reduce.getResult(), identityOf(reduce.getKind(), element, true), at);
      }
    return success();
  };
  if (failed(walkChunks(point, clear)))
    return failure();
  SmallVector<Axis> inner;
  for (Axis axis : domain)
    if (combined.contains(axis) && extents[axis].constant != 1)
      inner.push_back(axis);
  return walkRows(inner, point);
}

LogicalResult NestEmitter::walkRows(ArrayRef<Axis> inner, Point point) {
  Axis axis = inner.front();
  auto rows = [&](int64_t count) {
    return [&, count](Value i, Accumulators) -> FailureOr<Accumulators> {
      Point at = point;
      at.positions[axis] = i;
      LogicalResult done =
          inner.size() > 1 ? walkRows(inner.drop_front(), at) : walkChunks(at, [&](SmallVectorImpl<Point> &points) {
            for (Point &column : points)
              if (failed(addRows(column, axis, count)))
                return failure();
            return success();
          });
      if (failed(done))
        return failure();
      return Accumulators();
    };
  };
  Extent extent = extents[axis];
  if (inner.size() > 1 || !extent.constant)
    return t.emitLoop(0, extent, 1, {}, loc, rows(1));
  int64_t whole = *extent.constant - *extent.constant % blockRows;
  if (failed(t.emitLoop(0, {whole, {}}, blockRows, {}, loc, rows(blockRows))))
    return failure();
  return t.emitLoop(whole, extent, 1, {}, loc, rows(1));
}

LogicalResult NestEmitter::addRows(Point &column, Axis axis, int64_t count) {
  SmallVector<Point> points(count, column);
  for (int64_t row = 1; row < count; ++row)
    points[row].positions[axis] =
        t.evaluator.addIndex(column.positions[axis], t.evaluator.constantIndex(row, loc), loc);
  for (ReduceOp reduce : reduces) {
    SmallVector<Value> values;
    for (Point &point : points) {
      FailureOr<Value> value = t.evaluator.evaluate(reduce.getInput(), point);
      if (failed(value))
        return failure();
      values.push_back(t.evaluator.broadcast(*value, point));
    }
    Value before = *t.evaluator.evaluate(reduce.getResult(), column);
    Value sum =
        createCombine(t.builder, loc, reduce.getKind(), before, combineAll(t.builder, loc, reduce.getKind(), values));
    t.evaluator.storeToMemory(reduce.getResult(), sum, column);
  }
  return success();
}
