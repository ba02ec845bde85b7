//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a thread of a GPU reads of windows whose positions are numbers: each element once for all steps and results.
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/TileEvaluator.h"

#include "zyx/Codegen/Tile/LaneAccess.h"
#include "zyx/Dialect/Kernel/IR/Divisor.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;

void TileEvaluator::shareWindows(bool isShared, bool areMoving) {
  sharesWindows = isShared;
  movesWindows = areMoving;
  windows.clear();
}

/// What the thread's own indices add to the place of each element that a load reads, and to what is compared. Null
/// where the map has no form.
TileEvaluator::Window *TileEvaluator::windowOf(LoadOp load, ViewOp view, ArrayRef<Value> moved) {
  const std::optional<AccessForm> &form = formOf(view);
  if (!form)
    return nullptr;
  Window &window = windows[load.getResult()];
  if (window.block == builder.getInsertionBlock() && ArrayRef(window.moved) == moved)
    return &window;
  Location loc = load.getLoc();
  window = {};
  window.block = builder.getInsertionBlock();
  window.moved.assign(moved.begin(), moved.end());
  window.row = viewAsRow(builder, view);
  window.other = load.getOther() ? mapping.lookupOrDefault(load.getOther()) : Value();
  SmallVector<Value> indices;
  for (auto [index, by] : llvm::zip_equal(load.getIndices(), moved)) {
    Value base = mapping.lookupOrDefault(index);
    indices.push_back(by ? addIndex(base, by, loc) : base);
  }
  const SmallVector<Value> positions = splitIndices(*form, indices, loc);
  auto sum = [&](llvm::function_ref<int64_t(size_t)> factor) {
    Value total = constantIndex(0, loc);
    for (size_t p = 0; p < positions.size(); ++p)
      if (int64_t by = positions[p] ? factor(p) : 0; by != 0)
        total = addIndex(total, builder.createOrFold<arith::MulIOp>(loc, positions[p], constantIndex(by, loc)), loc);
    return total;
  };
  window.place = sum([&](size_t p) { return form->parts[p].stride; });
  for (const AccessForm::Bound &bound : form->bounds)
    window.bounds.push_back(sum([&](size_t p) { return bound.factors[p]; }));
  return &window;
}

/// `lanes` neighbours that begin so far behind the thread's own place, where the bounded sums are these numbers more
/// than its own: what a result has read before is there.
Value TileEvaluator::readOfWindow(Window &window, const AccessForm &form, int64_t place, ArrayRef<int64_t> sums,
                                  int64_t lanes, Location loc) {
  SmallVector<int64_t> key(sums);
  key.append({place, lanes});
  Value &known = window.read[key];
  if (known)
    return known;
  Value exists;
  for (auto [bound, base, add] : llvm::zip_equal(form.bounds, window.bounds, sums)) {
    // Numbers below the bound are large when read as unsigned.
    Value at = addIndex(base, constantIndex(bound.offset - bound.low + add, loc), loc);
    Value inside = builder.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::ult, at, constantIndex(std::max<int64_t>(bound.high - bound.low, 0), loc));
    exists = exists ? builder.createOrFold<arith::AndIOp>(loc, exists, inside) : inside;
  }
  if (exists && matchPattern(exists, m_One()))
    exists = Value();
  Value index = addIndex(window.place, constantIndex(place, loc), loc);
  // What is read where nothing exists must exist: the beginning does.
  if (exists)
    index = builder.createOrFold<arith::SelectOp>(loc, exists, index, constantIndex(0, loc));
  Type type = cast<ViewType>(window.row.getType()).getElementType();
  Value other = window.other;
  if (exists && !other)
    other = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  if (lanes > 1) {
    type = VectorType::get(lanes, type);
    if (exists)
      other = vector::BroadcastOp::create(builder, loc, type, other);
  }
  Value read =
      LoadOp::create(builder, loc, type, window.row, index, Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
  return known = exists ? arith::SelectOp::create(builder, loc, exists, read, other).getResult() : read;
}

/// What a load has at a point whose positions are numbers. Null where they are not and windows do not move, or where
/// the view has no form.
Value TileEvaluator::loadOfWindow(LoadOp load, Point &point) {
  Location loc = load.getLoc();
  auto view = mapping.lookupOrDefault(load.getView()).getDefiningOp<ViewOp>();
  if (!sharesWindows || !view || load.getMask() || point.mask || view.getMap().getNumSymbols() != 0)
    return {};
  SmallVector<int64_t> at;
  SmallVector<Value> moved;
  std::optional<unsigned> vectorDim;
  for (auto [dim, axis] : llvm::enumerate(axes.of(load.getResult()))) {
    Value own = position(point, axis, loc);
    std::optional<int64_t> number = getConstantIntValue(own);
    if (!number && !movesWindows)
      return {};
    at.push_back(number.value_or(0));
    moved.push_back(number ? Value() : own);
    if (point.vectorAxis == axis && point.lanes > 1)
      vectorDim = dim;
  }
  Window *window = windowOf(load, view, moved);
  if (!window)
    return {};
  const AccessForm &form = *formOf(view);
  const auto rowLength = cast<ViewType>(window->row.getType()).getDimSize(0);
  int64_t place = form.offset, step = 0;
  SmallVector<int64_t> sums(form.bounds.size(), 0), laneSums(form.bounds.size(), 0);
  for (auto [dim, number] : llvm::enumerate(at)) {
    // Divisions of a sum are not those of its terms.
    if (form.dims[dim].size() > 1 && (number != 0 || vectorDim == dim))
      return {};
    if (form.dims[dim].empty())
      continue;
    const unsigned part = form.dims[dim].front();
    if (form.dims[dim].size() == 1)
      place += form.parts[part].stride * number;
    for (auto [sum, lane, bound] : llvm::zip_equal(sums, laneSums, form.bounds)) {
      sum += bound.factors[part] * number;
      if (vectorDim == dim)
        lane = bound.factors[part];
    }
    if (vectorDim == dim)
      step = form.parts[part].stride;
  }
  const bool isCut = llvm::any_of(laneSums, [](int64_t factor) { return factor != 0; });
  if (rowLength < 1)
    return {};
  if (vectorDim && step == 0 && !isCut)
    vectorDim = std::nullopt;
  // Whole vectors of memory, of which elements are chosen, where steps of the window or lanes use most of one. The last
  // one may reach beyond the row, into bytes of the allocation that no other one has.
  bool isDense = vectorDim && step == 1;
  for (auto [dim, axis] : llvm::enumerate(axes.of(load.getResult())))
    isDense |= (axes.isCombined(axis) || movesWindows) && form.dims[dim].size() == 1 &&
               form.parts[form.dims[dim].front()].stride == 1;
  const int64_t elementBytes =
      std::max<int64_t>(llvm::divideCeil(view.getType().getElementType().getIntOrFloatBitWidth(), 8), 1);
  const int64_t vector = isDense && !isCut && step >= 0
                             ? std::min(std::max<int64_t>(laneBytes / elementBytes, 1), knownDivisor(window->place))
                             : 1;
  auto readElement = [&](int64_t own, ArrayRef<int64_t> ownSums) -> Value {
    if (vector == 1 || rowLength < vector)
      return readOfWindow(*window, form, own, ownSums, 1, loc);
    const int64_t first = llvm::divideFloorSigned(own, vector) * vector;
    Value read = readOfWindow(*window, form, first, ownSums, vector, loc);
    return vector::ExtractOp::create(builder, loc, read, own - first);
  };
  if (!vectorDim)
    return readElement(place, sums);
  if (step == 1 && vector == point.lanes && place % vector == 0 && rowLength >= vector)
    return readOfWindow(*window, form, place, sums, vector, loc);
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < point.lanes; ++lane) {
    SmallVector<int64_t> ownSums(sums);
    for (auto [sum, factor] : llvm::zip_equal(ownSums, laneSums))
      sum += factor * lane;
    elements.push_back(readElement(place + lane * step, ownSums));
  }
  return vector::FromElementsOp::create(builder, loc, VectorType::get(point.lanes, view.getType().getElementType()),
                                        elements);
}
