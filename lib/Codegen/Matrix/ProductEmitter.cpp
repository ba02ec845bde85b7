//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ProductEmitter.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;

ProductEmitter::ProductEmitter(FuncOp func, TensorDot found, const Axes &axes, int64_t pieceRows, int64_t pieceColumns)
    : MachineEmitter(func, axes), dot(std::move(found)), m(axes.extent(dot.m)), n(axes.extent(dot.n)), k(dot.depth),
      tilesDown(llvm::divideCeil(m, step.getRows())), tilesAcross(llvm::divideCeil(n, step.getColumns())),
      fragment{dot.m, dot.n, pieceColumns, pieceRows} {}

int64_t ProductEmitter::programs() const {
  int64_t count = tilesDown * tilesAcross;
  for (Axis axis : dot.batches)
    count *= axes.extent(axis);
  return count;
}

ProductEmitter::TileCoordinates ProductEmitter::coordinatesOf(Value tile) {
  TileCoordinates place;
  Value each = tile;
  if (!dot.batches.empty()) {
    Value size = index(tilesDown * tilesAcross);
    Value batch = divide(tile, size);
    each = rest(tile, size);
    for (auto [i, axis] : llvm::enumerate(llvm::reverse(dot.batches))) {
      Value extent = index(axes.extent(axis));
      bool isLast = i + 1 == dot.batches.size();
      place.batches[axis] = isLast ? batch : rest(batch, extent);
      if (!isLast)
        batch = divide(batch, extent);
    }
  }
  int64_t height = std::min(step.getGroup(), tilesDown);
  Value down = each, right;
  if (tilesAcross == 1) {
    right = index(0);
  } else if (tilesDown % height == 0) {
    Value area = index(tilesAcross * height), inGroup = rest(each, area);
    down = add(multiply(divide(each, area), height), rest(inGroup, index(height)));
    right = divide(inGroup, index(height));
  } else {
    Value area = index(tilesAcross * height), inGroup = rest(each, area);
    Value top = multiply(divide(each, area), height);
    Value below = sub(index(tilesDown), top);
    Value here = arith::MinUIOp::create(b, loc, below, index(height));
    down = add(top, rest(inGroup, here));
    right = divide(inGroup, here);
  }
  place.row = multiply(down, step.getRows());
  place.column = multiply(right, step.getColumns());
  return place;
}

SmallVector<Axis> ProductEmitter::batchesOf(const AxisStrides &strides) const {
  SmallVector<Axis> result;
  for (Axis axis : dot.batches)
    if (strides.of(axis))
      result.push_back(axis);
  return result;
}

ProductEmitter::EpilogueAccess ProductEmitter::makeAccess(Value view, ValueRange indices, Value tile, bool isResult,
                                                          bool isCopied) {
  const ColumnStrides found = *columnStridesOf(view, indices, tile, dot.n, axes);
  const AxisStrides &strides = found.strides;
  EpilogueAccess access;
  access.isCopied = isCopied;
  access.batches = batchesOf(strides);
  SmallVector<int64_t> shape, places;
  if (found.run != 0) {
    access.run = found.run;
    access.numRuns = n / found.run;
    shape.push_back(access.numRuns);
    places.push_back(found.step);
  }
  for (Axis axis : access.batches) {
    shape.push_back(axes.extent(axis));
    places.push_back(strides.of(axis));
  }
  if (axes.contains(tile, dot.m) || isResult) {
    shape.push_back(m);
    places.push_back(strides.of(dot.m) || !access.isCopied ? strides.of(dot.m) : llvm::alignTo(n, 8));
  }
  if (axes.contains(tile, dot.n) || isResult) {
    shape.push_back(access.run != 0 ? access.run : n);
    places.push_back(access.isCopied ? 1 : strides.of(dot.n));
  }
  access.view = viewOf(view, MapAttr::get(b.getContext(), stridedBlock(b.getContext(), shape, places, strides.offset)));
  return access;
}

SmallVector<Value> ProductEmitter::indicesOf(const EpilogueAccess &access, const TileCoordinates &place, bool hasRows,
                                             bool hasColumns, Value column) {
  SmallVector<Value> indices;
  if (access.run != 0) {
    // Columns behind the last one read what some other column does.
    Value run = divide(column, index(access.run));
    indices.push_back(arith::MinUIOp::create(b, loc, run, index(access.numRuns - 1)));
    column = rest(column, index(access.run));
  }
  for (Axis axis : access.batches)
    indices.push_back(place.batches.lookup(axis));
  if (hasRows)
    indices.push_back(place.row);
  if (hasColumns)
    indices.push_back(column);
  return indices;
}

DenseBoolArrayAttr ProductEmitter::inBounds(const EpilogueAccess &access, bool hasRows, bool hasColumns) {
  SmallVector<bool> flags(access.batches.size() + (access.run != 0), true);
  if (hasRows)
    flags.push_back(m % step.getRows() == 0);
  if (hasColumns)
    flags.push_back(access.run != 0 || n % step.getColumns() == 0);
  return b.getDenseBoolArrayAttr(flags);
}

SmallVector<LoadOp> ProductEmitter::findLargeLoads() {
  llvm::SetVector<Operation *> behind;
  for (StoreOp store : dot.stores)
    if (Operation *from = store.getValue().getDefiningOp())
      behind.insert(from);
  for (size_t i = 0; i < behind.size(); ++i)
    if (behind[i] != dot.dot && !isa<LoadOp>(behind[i]))
      for (Value operand : behind[i]->getOperands())
        if (Operation *from = operand.getDefiningOp())
          behind.insert(from);
  SmallVector<LoadOp> large;
  for (Operation *op : behind)
    if (auto load = dyn_cast<LoadOp>(op);
        load && axes.contains(load.getResult(), dot.m) && axes.contains(load.getResult(), dot.n))
      large.push_back(load);
  return large;
}

ProductEmitter::Read ProductEmitter::readPiece(ArrayRef<LoadOp> large, const TileCoordinates &place, Value column) {
  Read result;
  for (LoadOp load : large)
    result[load.getResult()] = read(load, place, column);
  return result;
}

void ProductEmitter::beginPiece(Value sums, const Read &read) {
  piece.clear();
  piece[dot.dot.getResult()] = sums;
  for (auto &[tile, value] : read)
    piece[tile] = widen(value);
}

void ProductEmitter::storePiece(const TileCoordinates &place, Value column, ArrayRef<size_t> results,
                                ArrayRef<Value> slots, int64_t inSlot) {
  for (size_t number : results) {
    StoreOp store = dot.stores[number];
    const EpilogueAccess &access = accesses[number];
    Value result = narrow(evaluate(store.getValue(), place, column), getElementTypeOrSelf(store.getValue().getType()));
    if (!slots.empty() && slots[number])
      StoreOp::create(b, loc, result, slots[number], ValueRange{index(0), index(inSlot)}, Value(),
                      DenseBoolArrayAttr());
    else
      StoreOp::create(b, loc, result, access.view, indicesOf(access, place, true, true, column), Value(),
                      inBounds(access, true, true));
  }
}

SmallVector<SmallVector<size_t>> ProductEmitter::joinResults(int64_t slots) const {
  SmallVector<SmallVector<size_t>> all(1);
  int64_t copied = 0;
  for (auto [result, access] : llvm::enumerate(accesses)) {
    if (access.hasSlot() && copied == slots) {
      all.emplace_back();
      copied = 0;
    }
    copied += access.hasSlot();
    all.back().push_back(result);
  }
  return all;
}

SmallVector<LoadOp> ProductEmitter::findReadAhead() {
  constexpr int64_t mostBytes = 4, mostOfThree = 2;
  SmallVector<LoadOp> large = findLargeLoads();
  int64_t bytes = 0;
  for (LoadOp load : large)
    bytes += llvm::divideCeil(getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth(), 8);
  if (bytes > (groups > 2 ? mostOfThree : mostBytes))
    large.clear();
  return large;
}

/// The part of a tile at a piece of the result. What does not depend on columns is evaluated once.
Value ProductEmitter::evaluate(Value tile, const TileCoordinates &place, Value column) {
  auto &known = axes.contains(tile, dot.n) ? piece : common;
  if (Value value = known.lookup(tile))
    return value;
  Value value = computePart(tile, place, column);
  known[tile] = value;
  return value;
}

Value ProductEmitter::computePart(Value tile, const TileCoordinates &place, Value column) {
  if (auto load = tile.getDefiningOp<LoadOp>())
    return widen(read(load, place, column));
  return compute(tile, fragment, [&](Value operand) { return evaluate(operand, place, column); });
}

Value ProductEmitter::read(LoadOp load, const TileCoordinates &place, Value column) {
  Value tile = load.getResult();
  EpilogueAccess access = makeAccessOf(load);
  bool hasRows = axes.contains(tile, dot.m), hasColumns = axes.contains(tile, dot.n);
  return LoadOp::create(b, loc, heldType(tile, fragment, getElementTypeOrSelf(tile.getType())), access.view,
                        indicesOf(access, place, hasRows, hasColumns, column), Value(), Value(), ArrayAttr(),
                        inBounds(access, hasRows, hasColumns));
}

/// A view stands once, before the roles.
ProductEmitter::EpilogueAccess ProductEmitter::makeAccessOf(LoadOp load) {
  auto [known, isNew] = loads.try_emplace(load);
  if (isNew) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(firstView);
    known->second =
        makeAccess(load.getView(), load.getIndices(), load.getResult(), /*isResult=*/false, /*isCopied=*/false);
  }
  return known->second;
}
