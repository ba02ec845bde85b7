//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SquareEmitter.h"

#include "zyx/Codegen/Tile/AccessForm.h"
#include "zyx/Codegen/Tile/Lanes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace zyx::kernel;

/// Whether what an index is computed of has an axis: what is repeated along it has not.
static bool differs(TileContext &t, Value index, Axis axis) {
  Operation *op = index.getDefiningOp();
  if (auto repeated = dyn_cast_or_null<BroadcastOp>(op))
    return differs(t, repeated.getInput(), axis);
  if (op && isElementwise(op) && isTile(index))
    return llvm::any_of(op->getOperands(), [&](Value operand) { return differs(t, operand, axis); });
  return isTile(index) && t.axes.contains(index, axis);
}

/// The stride of what is read through several blocks, or beside padding. It is 1 where vectors are read at once alone.
static std::optional<int64_t> strideThroughMap(TileContext &t, LoadOp load, Value view, unsigned dim) {
  MapAttr map = view.getDefiningOp<ViewOp>().getMap();
  if (!t.machine.hasSubgroups() || map.getNumSymbols() != 0)
    return std::nullopt;
  if (t.evaluator.readsNeighbours(load, t.axes.of(load.getResult(), dim)))
    return 1;
  const std::optional<AccessForm> form = AccessForm::compute(map);
  if (!form)
    return std::nullopt;
  const int64_t stride = form->dims[dim].empty() ? 0 : form->parts[form->dims[dim].back()].stride;
  return stride == 1 ? std::nullopt : std::optional(stride);
}

/// The stride of what a tile reads along each of its axes; nothing of a stride where that is no number.
static SmallVector<std::pair<Axis, std::optional<int64_t>>> stridesOf(TileContext &t, Value tile) {
  SmallVector<std::pair<Axis, std::optional<int64_t>>> strides;
  if (auto load = tile.getDefiningOp<LoadOp>()) {
    Value view = t.evaluator.mapping.lookupOrDefault(load.getView());
    for (auto [dim, axis] : llvm::enumerate(t.axes.of(tile)))
      strides.push_back({axis, isComplex(view) ? strideThroughMap(t, load, view, dim) : strideOf(view, dim)});
    return strides;
  }
  auto gather = tile.getDefiningOp<GatherOp>();
  Value view = t.evaluator.mapping.lookupOrDefault(gather.getView());
  for (Axis axis : t.axes.of(tile)) {
    std::optional<int64_t> stride = 0;
    for (auto [dim, index] : llvm::enumerate(gather.getIndices()))
      if (IotaOp iota = countsAlongAxis(index)) {
        if (t.axes.of(iota.getResult(), iota.getDim()) == axis)
          stride = isComplex(view) ? std::nullopt : strideOf(view, dim);
      } else if (differs(t, index, axis)) {
        stride = std::nullopt;
      }
    strides.push_back({axis, stride});
  }
  return strides;
}

/// The axis along which a tile in memory has neighbours side by side.
static std::optional<Axis> neighboursOf(TileContext &t, Value tile) {
  const SmallVector<Axis> dims = t.axes.of(tile);
  const MemoryTile &kept = t.evaluator.memory.find(tile)->second;
  if (kept.strides.empty())
    return dims.size() > 1 ? std::optional(dims.back()) : std::nullopt;
  for (auto [axis, stride] : llvm::zip_equal(dims, kept.strides))
    if (stride == 1)
      return axis;
  return std::nullopt;
}

/// The axis along which the lines of columns of all stores follow each other, if vectors are whole in all of them
/// together and not in one; nothing where a program has no whole lines. Vectors that begin anywhere would gain little:
/// their rows are computed for each column then.
static std::optional<Axis> findLines(Nest &n, Axis rows) {
  const Axis columns = *n.vectorAxis;
  const std::optional<int64_t> length = n.extents[columns].constant;
  std::optional<Axis> lines;
  for (Operation *root : n.roots) {
    auto store = dyn_cast<StoreOp>(root);
    if (!store || !length)
      return std::nullopt;
    auto view = n.t.evaluator.mapping.lookupOrDefault(store.getView()).getDefiningOp<ViewOp>();
    const SmallVector<Axis> axes = n.t.axes.of(store.getValue());
    if (!view || isComplex(view) || view.getMap().getNumSymbols() != 0 || axes.size() != store.getIndices().size())
      return std::nullopt;
    std::optional<Axis> own;
    bool areWhole = false;
    for (auto [dim, axis] : llvm::enumerate(axes)) {
      const std::optional<int64_t> stride = strideOf(view, dim);
      if (axis == columns)
        areWhole = stride == 1 && view.getType().getDimSize(dim) == *length &&
                   getConstantIntValue(n.t.evaluator.mapping.lookupOrDefault(store.getIndices()[dim])) == 0;
      else if (axis != rows && stride == *length && n.domain.contains(axis) && n.extents[axis].constant.value_or(1) > 1)
        own = axis;
    }
    if (!areWhole || !own || lines.value_or(*own) != *own)
      return std::nullopt;
    lines = own;
  }
  const int64_t all = lines ? *length * *n.extents[*lines].constant : 0;
  return all % n.lanes == 0 && *length % n.lanes != 0 ? lines : std::nullopt;
}

std::optional<SquareEmitter::Square> SquareEmitter::find(Nest &n) {
  TileContext &t = n.t;
  if (!n.vectorAxis || n.unrolled || n.vectorCombined() || n.lanes < 4 || !n.reduces.empty())
    return std::nullopt;
  Square square;
  std::optional<Axis> rowAxis;
  bool gathers = false;
  SmallVector<Value> others;
  // A processor keeps or writes a tile in another order than that in which it has it already.
  const bool isMoved = !t.machine.hasSubgroups() && llvm::all_of(n.roots, llvm::IsaPred<ConvertOp, StoreOp>);
  for (Value tile : n.slice.tiles) {
    if (t.evaluator.memory.contains(tile)) {
      const std::optional<Axis> along = isMoved ? neighboursOf(t, tile) : std::nullopt;
      if (along && *along != *n.vectorAxis && t.axes.contains(tile, *n.vectorAxis) && n.domain.contains(*along) &&
          t.axes.extent(*along) >= 4 && rowAxis.value_or(*along) == *along) {
        rowAxis = along;
        square.tiles.push_back(tile);
      } else {
        others.push_back(tile);
      }
    }
    if (!isa_and_nonnull<LoadOp, GatherOp>(tile.getDefiningOp()) || t.evaluator.memory.contains(tile))
      continue;
    const bool isGathered = isa<GatherOp>(tile.getDefiningOp());
    if (isGathered && t.machine.hasSubgroups())
      continue;
    std::optional<Axis> contiguous;
    bool isStrided = false;
    for (auto [axis, stride] : stridesOf(t, tile)) {
      if (axis == *n.vectorAxis)
        isStrided = isGathered ? stride != 0 && stride != 1 : stride && *stride != 0 && *stride != 1;
      else if (stride == 1 && n.domain.contains(axis) && t.axes.extent(axis) >= 4)
        contiguous = axis;
    }
    if (isStrided && contiguous && rowAxis.value_or(*contiguous) == *contiguous) {
      rowAxis = contiguous;
      square.tiles.push_back(tile);
      gathers |= isGathered;
    } else {
      others.push_back(tile);
    }
  }
  if (!rowAxis)
    return std::nullopt;
  square.rowAxis = *rowAxis;
  square.walksRows = gathers;
  // What else has both axes is read along the vectors.
  const bool areAll = llvm::none_of(
      others, [&](Value tile) { return t.axes.contains(tile, *rowAxis) && t.axes.contains(tile, *n.vectorAxis); });
  if (areAll && !t.machine.hasSubgroups()) {
    // Places of a gather are no vectors.
    n.lanes = t.lanesFor(n.slice, *rowAxis);
    if (gathers)
      square.lineAxis = findLines(n, *rowAxis);
    // Rather than all that is read, what is made of it.
    if (square.lineAxis || (square.tiles.size() > n.roots.size() && llvm::all_of(n.roots, llvm::IsaPred<StoreOp>))) {
      square.tiles.clear();
      for (Operation *root : n.roots)
        square.tiles.push_back(cast<StoreOp>(root).getValue());
    }
  }
  // As many rows as lanes must exist, and be few enough to stay in registers. Of a processor's columns most must.
  const int64_t columns = t.axes.extent(*n.vectorAxis) * (square.lineAxis ? *n.extents[*square.lineAxis].constant : 1),
                most = t.machine.hasSubgroups() ? columns : llvm::PowerOf2Ceil(columns);
  int64_t rows = llvm::bit_floor<uint64_t>(std::min(t.axes.extent(*rowAxis), most));
  n.lanes = std::min<int64_t>({n.lanes, rows, 16});
  n.unroll = 1;
  return square;
}

LogicalResult SquareEmitter::walk(Extent extent, llvm::function_ref<LogicalResult(Value, bool)> body) {
  using Result = FailureOr<Accumulators>;
  Nest::Pieces pieces = n.split(extent);
  auto at = [&](bool isWhole) {
    return [&body, isWhole](Value position, Accumulators) -> Result {
      if (failed(body(position, isWhole)))
        return failure();
      return Accumulators();
    };
  };
  if (failed(t.emitLoop(0, pieces.vectors, n.lanes, {}, loc, at(true))))
    return failure();
  return n.emitRest(pieces, {}, at(false));
}

Extent SquareEmitter::columnsOf(const Square &square) {
  Extent columns = n.extents[*n.vectorAxis];
  if (square.lineAxis)
    columns.constant = *columns.constant * *n.extents[*square.lineAxis].constant;
  return columns;
}

void SquareEmitter::setColumn(const Square &square, Point &point, Value column) {
  if (square.lineAxis) {
    Value length = t.evaluator.constantIndex(*n.extents[*n.vectorAxis].constant, loc);
    point.positions[*square.lineAxis] = t.builder.createOrFold<arith::DivUIOp>(loc, column, length);
    column = t.builder.createOrFold<arith::RemUIOp>(loc, column, length);
  }
  point.positions[*n.vectorAxis] = column;
}

LogicalResult SquareEmitter::emit(const Square &square, Point point) {
  const Extent columns = columnsOf(square), rows = n.extents[square.rowAxis], outer = square.walksRows ? columns : rows,
               inner = square.walksRows ? rows : columns;
  return walk(outer, [&](Value first, bool hasAllFirst) {
    return walk(inner, [&](Value second, bool hasAllSecond) {
      return square.walksRows ? emitSquare(square, point, second, hasAllSecond, first, hasAllFirst)
                              : emitSquare(square, point, first, hasAllFirst, second, hasAllSecond);
    });
  });
}

LogicalResult SquareEmitter::emitSquare(const Square &square, const Point &point, Value row, bool hasAllRows,
                                        Value column, bool hasAllColumns) {
  auto at = [&](Value from, int64_t i) { return t.evaluator.addIndex(from, t.evaluator.constantIndex(i, loc), loc); };
  const Extent columns = columnsOf(square), rows = n.extents[square.rowAxis];
  // Positions that exist, where that is a number.
  auto countOf = [&](Extent extent, Value from, bool isWhole) -> int64_t {
    std::optional<int64_t> first = getConstantIntValue(from);
    return isWhole || !extent.constant || !first ? n.lanes : std::min(n.lanes, *extent.constant - *first);
  };
  SmallVector<SmallVector<Value>> squares;
  for (Value tile : square.tiles) {
    SmallVector<Value> vectors;
    for (int64_t i = 0; i < n.lanes; ++i) {
      // Behind the last column it is there again: what is made of it is not stored.
      if (i >= countOf(columns, column, hasAllColumns)) {
        vectors.push_back(vectors.back());
        continue;
      }
      Point along = point;
      Value position = at(column, i);
      if (!hasAllColumns && !columns.constant && i > 0) {
        Value last = arith::SubIOp::create(t.builder, loc, columns.value, t.evaluator.constantIndex(1, loc));
        position = arith::MinSIOp::create(t.builder, loc, position, last);
      }
      setColumn(square, along, position);
      t.setLanes(along, square.rowAxis, row, n.lanes, rows, /*partial=*/!hasAllRows, loc);
      FailureOr<Value> vector = t.evaluator.evaluateVector(tile, along);
      if (failed(vector))
        return failure();
      vectors.push_back(*vector);
    }
    transposeVectors(t.builder, loc, vectors);
    squares.push_back(std::move(vectors));
  }
  for (int64_t i = 0, count = countOf(rows, row, hasAllRows); i < count; ++i) {
    OpBuilder::InsertionGuard guard(t.builder);
    Point across = point;
    across.positions[square.rowAxis] = at(row, i);
    if (!hasAllRows && !rows.constant && i > 0) {
      Value exists = arith::CmpIOp::create(t.builder, loc, arith::CmpIPredicate::slt, at(row, i), rows.value);
      t.builder.setInsertionPointToStart(
          scf::IfOp::create(t.builder, loc, exists, /*withElseRegion=*/false).thenBlock());
    }
    t.setLanes(across, *n.vectorAxis, column, n.lanes, columns, /*partial=*/!hasAllColumns, loc);
    if (square.lineAxis) {
      setColumn(square, across, column);
      for (auto [root, values] : llvm::zip_equal(n.roots, squares))
        if (failed(t.evaluator.storeOn(cast<StoreOp>(root), values[i], across)))
          return failure();
      continue;
    }
    for (auto [tile, values] : llvm::zip(square.tiles, squares))
      across.memo[tile] = values[i];
    if (failed(emitInner(across)))
      return failure();
  }
  return success();
}
