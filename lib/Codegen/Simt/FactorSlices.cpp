//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FactorSlices.h"

#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>
#include <tuple>

using namespace mlir;
using namespace zyx::kernel;

bool FactorSlices::isWhole(int64_t vector) const {
  if (extent.constant)
    return *extent.constant % vector == 0;
  return vector == 1 || (size % vector == 0 && extent.last != 0 && extent.last % vector == 0);
}

/// The axis along which windows have the longer runs of neighbours.
Axis FactorSlices::axisOfRuns() {
  int64_t alongAxis = 0, alongDepth = 0;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> work = {factor};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!isTile(value) || !seen.insert(value).second || d->t.evaluator.scalars.contains(value) ||
        d->t.evaluator.memory.contains(value))
      continue;
    Operation *def = value.getDefiningOp();
    auto loaded = dyn_cast_or_null<LoadOp>(def);
    auto view = loaded ? loaded.getView().getDefiningOp<ViewOp>() : ViewOp();
    if (def && !loaded)
      llvm::append_range(work, def->getOperands());
    std::optional<AccessForm> form = view && isComplex(view) ? AccessForm::compute(view.getMap()) : std::nullopt;
    if (!form)
      continue;
    for (auto [dim, own] : llvm::enumerate(d->t.axes.of(value))) {
      form->mergeInnermost(dim);
      if (form->dims[dim].empty())
        continue;
      const AccessForm::Part &inner = form->parts[form->dims[dim].back()];
      const int64_t run = std::abs(inner.stride) == 1 ? inner.extent : 1;
      (own == axis ? alongAxis : alongDepth) += own == axis || own == d->k ? run : 0;
    }
  }
  return alongDepth > alongAxis ? d->k : axis;
}

/// How many elements of a factor are read at once. What is found through several blocks has vectors where these lie
/// inside of a run of neighbours, as channels that come last do; what is found by an index is read one by one.
int64_t FactorSlices::lanesAtOnce() {
  const int64_t accessBytes = d->t.machine.simt.laneBytes;
  int64_t widest = 0, shortest = std::numeric_limits<int64_t>::max();
  llvm::DenseSet<Value> seen;
  SmallVector<Value> work = {factor};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!isTile(value) || !seen.insert(value).second || d->t.evaluator.scalars.contains(value))
      continue;
    const bool isInMemory = d->t.evaluator.memory.contains(value);
    auto loaded = isInMemory ? LoadOp() : value.getDefiningOp<LoadOp>();
    if (!isInMemory && !loaded) {
      if (!value.getDefiningOp() || value.getDefiningOp<GatherOp>())
        return 1;
      llvm::append_range(work, value.getDefiningOp()->getOperands());
      continue;
    }
    if (!d->t.axes.contains(value, readAxis))
      continue;
    Value view =
        isInMemory ? d->t.evaluator.memory[value].view : d->t.evaluator.mapping.lookupOrDefault(loaded.getView());
    const SmallVector<Axis> all = d->t.axes.of(value);
    const auto dim = static_cast<unsigned>(llvm::find(all, readAxis) - all.begin());
    const int64_t run = isComplex(view)            ? d->t.evaluator.contiguityAlong(view.getDefiningOp<ViewOp>(), dim)
                        : strideOf(view, dim) == 1 ? shortest
                                                   : 1;
    if (run == 1)
      return 1;
    shortest = std::min(shortest, run);
    widest = std::max<int64_t>(
        widest, std::max<int64_t>(cast<ViewType>(view.getType()).getElementType().getIntOrFloatBitWidth() / 8, 1));
  }
  if (widest == 0)
    return 1;
  readBytes = widest;
  int64_t count = std::max<int64_t>(std::min(accessBytes / widest, shortest), 1);
  const bool isAlongDepth = readAxis == d->k;
  auto fits = [&] {
    return isAlongDepth ? d->depth % count == 0 && d->step % count == 0 : isWhole(count) && brought % count == 0;
  };
  while (count > 1 && (!fits() || d->step * brought / count < d->t.threads))
    count /= 2;
  return count;
}

void FactorSlices::chooseReads() {
  readAxis = d->t.contiguousAxis(factor, axis, d->k).value_or(axisOfRuns());
  readLanes = lanesAtOnce();
  // Products read slices by vectors across the contraction. What is read along it becomes such by reads one by one.
  if (readAxis != d->k || readLanes == 1 || d->byWarps || !d->t.machine.memory.isTyped)
    return;
  int64_t count = d->t.machine.lanes(d->element.getIntOrFloatBitWidth() / 8);
  while (!isWhole(count) || brought % count != 0 || d->step * brought / count < d->t.threads) {
    count /= 2;
    if (count < 2)
      return;
  }
  readAxis = axis;
  readLanes = count;
  isAcross = true;
}

void FactorSlices::allocate() {
  const auto [rows, columns] = d->shape.sliceMemory(padded, isByElements());
  const Type type = d->byWarps ? getElementTypeOrSelf(factor.getType()) : d->element;
  memory = AllocOp::create(d->t.builder, d->loc, ViewType::get({rows, columns}, type, Space::Shared));
}

/// Neighbours among the threads read neighbours along `readAxis`, or along the contraction where memory has them. Where
/// `readAxis` is the contraction, so many as are two sectors of memory, and then the next row: what threads of a warp
/// write lies in few rows of the slice.
void FactorSlices::placePieces() {
  constexpr int64_t chunkBytes = 64;
  const bool isAlongDepth = readAxis == d->k;
  const int64_t row = (isAlongDepth ? d->step : brought) / readLanes;
  const int64_t all = d->step * brought / readLanes;
  int64_t inner = row, middle = d->step;
  if (isAlongDepth) {
    middle = brought;
    inner = std::max<int64_t>(chunkBytes / readBytes / readLanes, 1);
    if (inner > row || row % inner != 0)
      inner = row;
  }
  if (isAcross)
    std::tie(inner, middle) = std::pair(d->step, row);
  const int64_t outer = all / inner / middle;
  Value thread = d->t.threadInGroup();
  const bool mayStickOut = !extent.constant || *extent.constant < brought;
  Value last;
  if (mayStickOut)
    last = d->t.builder.createOrFold<arith::SubIOp>(d->loc, d->t.materialise(extent, d->loc),
                                                    d->index(isAlongDepth ? 1 : readLanes));
  for (int64_t first = 0; first < all; first += d->t.threads) {
    Piece piece;
    Value in, mid, out;
    // What does not depend on the round is computed once.
    const int64_t rows = d->t.threads % inner == 0 ? d->t.threads / inner : 0;
    Value linear = rows ? thread : d->add(thread, d->index(first));
    in = d->rest(linear, inner);
    mid = d->over(linear, inner);
    if (rows && middle % rows == 0) {
      mid = d->add(mid, d->index(first / inner % middle));
      out = d->index(first / inner / middle);
    } else if (rows && rows % middle == 0) {
      out = d->add(d->over(mid, middle), d->index(first / inner / middle));
      mid = d->rest(mid, middle);
    } else {
      if (rows)
        mid = d->add(mid, d->index(first / inner));
      out = d->over(mid, middle);
      mid = d->rest(mid, middle);
    }
    if (first + d->t.threads > all) {
      piece.isOwn = d->isBelow(thread, d->index(all - first));
      out = arith::MinUIOp::create(d->t.builder, d->loc, out, d->index(outer - 1));
    }
    if (isAlongDepth) {
      piece.behind = d->times(d->add(d->times(out, inner), in), readLanes);
      piece.place = mid;
    } else {
      piece.behind = isAcross ? in : mid;
      piece.place = d->times(isAcross ? mid : in, readLanes);
    }
    piece.position = piece.place;
    if (mayStickOut)
      piece.position = arith::MinSIOp::create(d->t.builder, d->loc, piece.place, last);
    pieces.push_back(piece);
  }
}

FailureOr<SmallVector<Value>> FactorSlices::read(const Point &base, Value start) {
  SmallVector<Value> values;
  for (const Piece &piece : pieces) {
    Point at = base;
    at.memo.clear();
    at.positions[axis] = piece.position;
    Value position = d->add(start, piece.behind), exists;
    if (d->depth % d->step != 0) {
      exists = d->isBelow(position, d->index(d->depth));
      position = arith::MinSIOp::create(d->t.builder, d->loc, position,
                                        d->index(d->depth - (readAxis == d->k ? readLanes : 1)));
    }
    at.positions[d->k] = position;
    if (readLanes > 1) {
      at.vectorAxis = readAxis;
      at.lanes = readLanes;
    }
    FailureOr<Value> value = d->t.evaluator.evaluateVector(factor, at);
    if (failed(value))
      return failure();
    if (exists) {
      Value zero = arith::ConstantOp::create(d->t.builder, d->loc, d->t.builder.getZeroAttr(value->getType()));
      value = arith::SelectOp::create(d->t.builder, d->loc, exists, *value, zero).getResult();
    }
    values.push_back(*value);
  }
  return values;
}

void FactorSlices::write(ArrayRef<Value> values, Value stage) {
  Value first = d->times(stage, isByElements() ? padded : d->step);
  for (auto [piece, value] : llvm::zip_equal(pieces, values))
    (void)d->where(piece.isOwn, [&] {
      if (d->byWarps) {
        Value row = isByElements() ? piece.place : piece.behind;
        d->store(value, memory, {d->add(first, row), isByElements() ? piece.behind : piece.place});
        return success();
      }
      Value wide = widenFactor(d->t.builder, d->loc, value, d->element);
      Value row = d->add(first, piece.behind);
      if (readLanes == 1 || readAxis != d->k) {
        d->store(wide, memory, {row, piece.place});
        return success();
      }
      for (int64_t lane = 0; lane < readLanes; ++lane)
        d->store(vector::ExtractOp::create(d->t.builder, d->loc, wide, lane), memory,
                 {d->add(row, d->index(lane)), piece.place});
      return success();
    });
}
