//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ColumnSums.h"

#include "zyx/Codegen/Tile/Lanes.h"

using namespace mlir;
using namespace zyx::kernel;

bool ColumnSums::apply(Nest &n) {
  if (!n.vectorAxis || n.unrolled || n.vectorCombined() || n.lanes == 1 || n.isShort() ||
      n.reduces.size() != n.roots.size() || !n.singles.empty())
    return false;
  int64_t rows = 1;
  for (Axis axis : n.combined)
    rows *= n.extents[axis].constant.value_or(1);
  bool innermost = llvm::all_of(n.reduces, [&](ReduceOp reduce) {
    SmallVector<Axis> kept = n.t.axes.of(reduce.getResult());
    return !kept.empty() && kept.back() == *n.vectorAxis;
  });
  return innermost && rows > blockRows && n.t.axes.extent(*n.vectorAxis) > 4 * n.lanes;
}

LogicalResult ColumnSums::emit(Point point) {
  auto clear = [&](SmallVectorImpl<Point> &points) {
    for (Point &at : points)
      for (ReduceOp reduce : n.reduces) {
        Type element = cast<RankedTensorType>(reduce.getType()).getElementType();
        t.evaluator.storeToMemory(reduce.getResult(), n.identityOf(reduce.getKind(), element, true), at);
      }
    return success();
  };
  if (failed(walkChunks(point, clear)))
    return failure();
  SmallVector<Axis> inner;
  for (Axis axis : n.domain)
    if (n.combined.contains(axis) && n.extents[axis].constant != 1)
      inner.push_back(axis);
  return walkRows(inner, point);
}

LogicalResult ColumnSums::walkRows(ArrayRef<Axis> inner, Point point) {
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
  Extent extent = n.extents[axis];
  if (inner.size() > 1 || !extent.constant)
    return t.emitLoop(0, extent, 1, {}, loc, rows(1));
  int64_t whole = *extent.constant - *extent.constant % blockRows;
  if (failed(t.emitLoop(0, {whole, {}}, blockRows, {}, loc, rows(blockRows))))
    return failure();
  return t.emitLoop(whole, extent, 1, {}, loc, rows(1));
}

LogicalResult ColumnSums::addRows(Point &column, Axis axis, int64_t count) {
  SmallVector<Point> points(count, column);
  for (int64_t row = 1; row < count; ++row)
    points[row].positions[axis] =
        t.evaluator.addIndex(column.positions[axis], t.evaluator.constantIndex(row, loc), loc);
  for (ReduceOp reduce : n.reduces) {
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
