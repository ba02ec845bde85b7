//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SquareEmitter.h"

#include "zyx/Codegen/Tile/Lanes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

bool SquareEmitter::find(Nest &n, std::optional<Axis> &rowAxis, SmallVectorImpl<Value> &loads) {
  TileContext &t = n.t;
  if (!n.vectorAxis || n.unrolled || n.vectorCombined() || n.lanes < 4 || !n.reduces.empty())
    return false;
  for (Operation *access : n.slice.accesses) {
    auto load = dyn_cast<LoadOp>(access);
    if (!load || !isTile(load.getResult()))
      continue;
    Value view = t.evaluator.mapping.lookupOrDefault(load.getView());
    std::optional<Axis> contiguous;
    bool isStrided = false;
    for (auto [dim, axis] : llvm::enumerate(t.axes.of(load.getResult()))) {
      std::optional<int64_t> stride = isComplex(view) ? std::nullopt : strideOf(view, dim);
      if (axis == *n.vectorAxis)
        isStrided = stride && *stride != 0 && *stride != 1;
      else if (stride == 1 && n.domain.contains(axis) && t.axes.extent(axis) >= 4)
        contiguous = axis;
    }
    if (isStrided && contiguous && rowAxis.value_or(*contiguous) == *contiguous) {
      rowAxis = contiguous;
      loads.push_back(load.getResult());
    }
  }
  if (!rowAxis)
    return false;
  // As many rows as lanes must exist, and be few enough to stay in registers.
  int64_t rows = llvm::bit_floor<uint64_t>(std::min(t.axes.extent(*rowAxis), t.axes.extent(*n.vectorAxis)));
  n.lanes = std::min<int64_t>({n.lanes, rows, 16});
  n.unroll = 1;
  return true;
}

LogicalResult SquareEmitter::emit(Axis rowAxis, ArrayRef<Value> loads, Point point) {
  Axis axis = *n.vectorAxis;
  Extent extent = n.extents[axis], rowExtent = n.extents[rowAxis];
  Nest::Pieces pieces = n.split(extent), rowPieces = n.split(rowExtent);
  using Result = FailureOr<Accumulators>;
  auto done = [](LogicalResult result) { return succeeded(result) ? Result(Accumulators()) : Result(failure()); };
  auto squares = [&](Value row, Accumulators) -> Result {
    Result whole = t.emitLoop(0, pieces.vectors, n.lanes, {}, loc, [&](Value column, Accumulators) {
      return done(emitSquare(rowAxis, loads, point, row, column));
    });
    if (failed(whole))
      return failure();
    return n.emitRest(pieces, {}, [&](Value column, Accumulators) -> Result {
      return t.emitLoop(0, {n.lanes, {}}, 1, {}, loc, [&](Value i, Accumulators) {
        Point at = point;
        at.positions[rowAxis] = t.evaluator.addIndex(row, i, loc);
        t.setLanes(at, axis, column, n.lanes, extent, /*partial=*/true, loc);
        return done(emitInner(at));
      });
    });
  };
  auto rest = [&](Value row, Accumulators) -> Result {
    Point at = point;
    at.positions[rowAxis] = row;
    return done(walkVectors(at));
  };
  if (failed(t.emitLoop(0, rowPieces.vectors, n.lanes, {}, loc, squares)))
    return failure();
  if (rowExtent.constant)
    return t.emitLoop(*rowPieces.vectors.constant, rowExtent, 1, {}, loc, rest);
  Value below = rowPieces.vectors.value;
  Value count = arith::SubIOp::create(t.builder, loc, rowExtent.value, below);
  return t.emitLoop(0, {std::nullopt, count}, 1, {}, loc,
                    [&](Value i, Accumulators) { return rest(t.evaluator.addIndex(i, below, loc), {}); });
}

LogicalResult SquareEmitter::emitSquare(Axis rowAxis, ArrayRef<Value> loads, const Point &point, Value row,
                                        Value column) {
  auto at = [&](Value from, int64_t i) { return t.evaluator.addIndex(from, t.evaluator.constantIndex(i, loc), loc); };
  SmallVector<SmallVector<Value>> squares;
  for (Value tile : loads) {
    SmallVector<Value> vectors;
    for (int64_t i = 0; i < n.lanes; ++i) {
      Point along = point;
      along.positions[*n.vectorAxis] = at(column, i);
      t.setLanes(along, rowAxis, row, n.lanes, n.extents[rowAxis], /*partial=*/false, loc);
      FailureOr<Value> vector = t.evaluator.evaluateVector(tile, along);
      if (failed(vector))
        return failure();
      vectors.push_back(*vector);
    }
    transposeVectors(t.builder, loc, vectors);
    squares.push_back(std::move(vectors));
  }
  for (int64_t i = 0; i < n.lanes; ++i) {
    Point across = point;
    across.positions[rowAxis] = at(row, i);
    t.setLanes(across, *n.vectorAxis, column, n.lanes, n.extents[*n.vectorAxis], /*partial=*/false, loc);
    for (auto [tile, square] : llvm::zip(loads, squares))
      across.memo[tile] = square[i];
    if (failed(emitInner(across)))
      return failure();
  }
  return success();
}
