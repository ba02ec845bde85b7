//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Simt/RowReductionEmitter.h"

#include "zyx/Codegen/Simt/AcrossThreads.h"
#include "zyx/Codegen/Tile/Lanes.h"
#include "zyx/Codegen/Tile/RowReductions.h"
#include "zyx/Codegen/Tile/Softmax.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

static Type elementOf(Value tile) { return getElementTypeOrSelf(tile.getType()); }

//===----------------------------------------------------------------------===//
// Which
//===----------------------------------------------------------------------===//

/// Few terms are added up as fast as one is looked for.
bool zyx::kernel::isOneHotSum(TileContext &t, Operation *root) {
  constexpr int64_t fewestTerms = 16;
  auto sum = dyn_cast<ReduceOp>(root);
  if (!sum || !findOneHotIndex(sum, t.axes) || t.axes.extent(t.axes.of(sum.getInput(), sum.getDims()[0])) < fewestTerms)
    return false;
  // Of threads that compute a program together, each has the result, and nobody stores it.
  bool isOne = llvm::all_of(t.axes.of(sum.getResult()), [&](Axis axis) { return t.axes.extent(axis) == 1; });
  return (t.threads == 1 || isOne) && !t.sliceOf(root).held;
}

/// Where threads keep a row in registers, or have computed it into memory, they take its maximum first.
bool zyx::kernel::joinsOnline(TileContext &t, ArrayRef<Operation *> pending, Operation *root) {
  auto sum = dyn_cast<ReduceOp>(root);
  auto max = pending.size() == 1 ? dyn_cast<ReduceOp>(pending.front()) : ReduceOp();
  if (t.threads == 1 || !sum || !max || sum.getDims().size() != 1 || !addsExponentials(sum, max))
    return false;
  const Axis row = t.axes.of(sum.getInput(), sum.getDims()[0]);
  for (Axis axis : t.axes.of(sum.getInput()))
    if (axis != row && t.axes.extent(axis) != 1)
      return false;
  Operation *both[] = {max, sum};
  TileContext::ProducerSlice slice = t.sliceOf(both);
  bool isInMemory = llvm::any_of(slice.tiles, [&](Value tile) {
    return t.axes.contains(tile, row) && (t.evaluator.memory.contains(tile) || t.evaluator.registers.contains(tile));
  });
  return !isInMemory && !slice.branches && !staysInRegisters(t.axes.extent(row), t.lanesFor(slice, row), t.threads);
}

//===----------------------------------------------------------------------===//
// One of many
//===----------------------------------------------------------------------===//

/// Evaluates the sum at the only place that counts, or at another one where that does not exist: there it is zero.
LogicalResult RowReductionEmitter::emitOneHotSum(ReduceOp sum, Point &point) {
  const Axis axis = t.axes.of(sum.getInput(), sum.getDims()[0]);
  FailureOr<Value> index = t.evaluator.evaluate(findOneHotIndex(sum, t.axes), point);
  if (failed(index))
    return failure();
  Value place = *index;
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(t.builder, loc, t.builder.getIntegerAttr(place.getType(), value));
  };
  // Negative ones are large when read as unsigned.
  Value exists = arith::CmpIOp::create(t.builder, loc, arith::CmpIPredicate::ult, place, number(t.axes.extent(axis)));
  place = arith::SelectOp::create(t.builder, loc, exists, place, number(0));
  Point at = point;
  at.memo.clear();
  at.positions[axis] = arith::IndexCastOp::create(t.builder, loc, t.builder.getIndexType(), place);
  FailureOr<Value> value = t.evaluator.evaluate(sum.getInput(), at);
  if (failed(value))
    return failure();
  // With the others, which are zero: of -0 the sum is 0.
  if (isa<FloatType>(value->getType()))
    value = arith::AddFOp::create(t.builder, loc, *value,
                                  arith::ConstantOp::create(t.builder, loc, t.builder.getZeroAttr(value->getType())))
                .getResult();
  n.write(sum.getResult(), *value, point);
  return success();
}

//===----------------------------------------------------------------------===//
// Maximum and exponentials at once
//===----------------------------------------------------------------------===//

Value RowReductionEmitter::widen(Value value, Type element) {
  return value.getType() == element ? value : arith::ExtFOp::create(t.builder, loc, element, value).getResult();
}

/// The exponential of a distance to a maximum.
Value RowReductionEmitter::shrinkage(Value before, Value after, Type element) {
  Value distance = arith::SubFOp::create(t.builder, loc, widen(before, element), widen(after, element));
  return emitSoftmaxExponential(t.builder, loc, distance);
}

/// The largest element at the points. What is widened is compared as it was read: two of 16 bits at once.
FailureOr<Value> RowReductionEmitter::largestOf(ReduceOp max, MutableArrayRef<Point> points) {
  Value read = max.getInput();
  while (t.machine.arithmetic.hasMaximum && read.getDefiningOp<arith::ExtFOp>())
    read = read.getDefiningOp<arith::ExtFOp>().getIn();
  SmallVector<Value> values;
  for (Point &point : points) {
    FailureOr<Value> value = t.evaluator.evaluateVector(read, point);
    if (failed(value))
      return failure();
    // A thread may look at what is another's: that is in the row, too.
    values.push_back(point.mask ? arith::SelectOp::create(t.builder, loc, point.mask, *value,
                                                          n.identityOf(Combine::Max, elementOf(*value), n.lanes > 1))
                                      .getResult()
                                : *value);
  }
  Value largest = combineAll(t.builder, loc, Combine::Max, values);
  if (isa<VectorType>(largest.getType()))
    largest = combineLanes(t.builder, loc, Combine::Max, largest);
  return widen(largest, elementOf(max.getResult()));
}

/// Takes the points into the maximum, a scalar, and into the sum, one for each lane.
FailureOr<RowReductionEmitter::Accumulators> RowReductionEmitter::stepOnline(MutableArrayRef<Point> points,
                                                                             Accumulators before) {
  ReduceOp max = n.reduces[0], sum = n.reduces[1];
  const Type element = elementOf(sum.getResult());
  FailureOr<Value> here = largestOf(max, points);
  if (failed(here))
    return failure();
  Value largest = arith::MaximumFOp::create(t.builder, loc, before[0], *here);
  Value base = emitSoftmaxBase(t.builder, loc, largest);
  Value total = arith::MulFOp::create(t.builder, loc, before[1],
                                      t.evaluator.broadcast(shrinkage(before[0], base, element), points.front()));
  for (Point &point : points) {
    point.memo[max.getResult()] = base;
    FailureOr<Value> value = t.evaluator.evaluateVector(sum.getInput(), point);
    if (failed(value))
      return failure();
    Value next = *value, zero = n.identityOf(Combine::Add, element, n.lanes > 1);
    for (Value counts : {point.mask, point.present})
      if (counts)
        next = arith::SelectOp::create(t.builder, loc, counts, next, zero);
    total = arith::AddFOp::create(t.builder, loc, total, next);
  }
  return Accumulators{largest, total};
}

/// Each thread walks its vectors of the row, several at once, as often as all threads have so many. The rest is one
/// step, in whose last round some may have nothing.
FailureOr<RowReductionEmitter::Accumulators> RowReductionEmitter::walkOnline(const Point &point, Accumulators accs) {
  const Axis axis = *n.vectorAxis;
  const Extent extent = n.extents[axis];
  const int64_t all = n.lanes * t.threads, count = Nest::loadsAtOnce / 2 * n.narrowing;
  const int64_t whole = *extent.constant - *extent.constant % n.lanes, covered = whole - whole % (count * all);
  auto index = [&](int64_t value) { return t.evaluator.constantIndex(value, loc); };
  auto pointAt = [&](Value position, bool partial) {
    Point at = point;
    t.setLanes(at, axis, position, n.lanes, extent, partial, loc);
    return at;
  };
  Value own = arith::MulIOp::create(t.builder, loc, t.thread(), index(n.lanes));
  FailureOr<Accumulators> result = accs;
  if (covered > 0)
    result = n.emitFor(own, index(covered), count * all, accs, [&](Value i, Accumulators carried) {
      SmallVector<Point> points;
      for (int64_t u = 0; u < count; ++u)
        points.push_back(pointAt(t.evaluator.addIndex(i, index(u * all), loc), false));
      return stepOnline(points, carried);
    });
  SmallVector<Point> rest;
  for (int64_t i = covered; i < whole; i += all) {
    Value position = t.evaluator.addIndex(own, index(i), loc), present;
    if (i + all > whole) {
      Value last = index(whole - n.lanes);
      present = arith::CmpIOp::create(t.builder, loc, arith::CmpIPredicate::ule, position, last);
      position = arith::MinUIOp::create(t.builder, loc, position, last);
    }
    rest.push_back(pointAt(position, false));
    rest.back().present = present;
  }
  if (whole < *extent.constant) {
    rest.push_back(pointAt(index(whole), true));
    rest.back().present = arith::CmpIOp::create(t.builder, loc, arith::CmpIPredicate::eq, t.thread(), index(0));
  }
  return failed(result) || rest.empty() ? result : stepOnline(rest, *result);
}

/// What a thread added up is known relative to what was largest in its part; then all compare.
LogicalResult RowReductionEmitter::emitOnline(Point &point) {
  ReduceOp max = n.reduces[0], sum = n.reduces[1];
  const Type element = elementOf(sum.getResult());
  FailureOr<Accumulators> own = walkOnline(point, {n.identityOf(Combine::Max, elementOf(max.getResult()), false),
                                                   n.identityOf(Combine::Add, element, n.lanes > 1)});
  if (failed(own))
    return failure();
  Value largest = (*own)[0], total = (*own)[1];
  if (isa<VectorType>(total.getType()))
    total = combineLanes(t.builder, loc, Combine::Add, total);
  Value ofAll = combineAcrossThreads(t, loc, Combine::Max, largest);
  // Of a row of nothing but minus infinity this is NaN, as its sum is.
  total = arith::MulFOp::create(t.builder, loc, total, shrinkage(largest, ofAll, element));
  n.write(max.getResult(), ofAll, point);
  n.write(sum.getResult(), combineAcrossThreads(t, loc, Combine::Add, total), point);
  return success();
}
