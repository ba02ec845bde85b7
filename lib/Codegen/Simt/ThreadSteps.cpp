//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Simt/ThreadSteps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace zyx::kernel;

FailureOr<ThreadSteps::Accumulators> ThreadSteps::emitOwn(Extent low, Extent high, int64_t step, Accumulators accs,
                                                          Body body) {
  if (low.constant && low.constant == high.constant)
    return accs;
  Value own = arith::MulIOp::create(t.builder, loc, t.thread(), t.evaluator.constantIndex(step, loc));
  const int64_t all = step * t.threads;
  // Few steps: what one loop has read or computed stays in registers for the next one. Who has nothing in the last
  // round reads what the last one has.
  if (low.constant && high.constant && staysInRegisters(*high.constant - *low.constant, step, t.threads)) {
    SmallVector<Value> positions, presents;
    for (int64_t i = *low.constant; i < *high.constant; i += all) {
      positions.push_back(t.evaluator.addIndex(own, t.evaluator.constantIndex(i, loc), loc));
      presents.emplace_back();
      if (i + all > *high.constant) {
        Value last = t.evaluator.constantIndex(*high.constant - step, loc);
        presents.back() = arith::CmpIOp::create(t.builder, loc, arith::CmpIPredicate::ule, positions.back(), last);
        positions.back() = arith::MinUIOp::create(t.builder, loc, positions.back(), last);
      }
    }
    if (failed(readAhead(positions)))
      return failure();
    for (auto [i, position] : llvm::enumerate(positions)) {
      n.present = presents[i];
      n.ownStep = i;
      FailureOr<Accumulators> next = body(position, accs);
      n.present = Value();
      n.ownStep.reset();
      if (failed(next))
        return failure();
      accs = *next;
    }
    return accs;
  }
  Value first = t.evaluator.addIndex(t.materialise(low, loc), own, loc);
  // Several at once, as often as all threads have so many.
  const int64_t count = low.constant && high.constant ? n.stepsAtOnce() : 1;
  const int64_t rounds = count > 1 ? (*high.constant - *low.constant) / (count * all) : 0;
  if (rounds > 0) {
    const int64_t covered = rounds * count * all;
    Value end = t.evaluator.constantIndex(*low.constant + covered, loc);
    FailureOr<Accumulators> next =
        n.emitFor(first, end, count * all, accs, [&](Value i, Accumulators carried) -> FailureOr<Accumulators> {
          for (int64_t u = 0; u < count; ++u) {
            FailureOr<Accumulators> one =
                body(t.evaluator.addIndex(i, t.evaluator.constantIndex(u * all, loc), loc), carried);
            if (failed(one))
              return failure();
            carried = *one;
          }
          return carried;
        });
    if (failed(next) || *low.constant + covered == *high.constant)
      return next;
    accs = *next;
    first = t.evaluator.addIndex(first, t.evaluator.constantIndex(covered, loc), loc);
  }
  return n.emitFor(first, t.materialise(high, loc), all, accs, body);
}

LogicalResult ThreadSteps::readAhead(ArrayRef<Value> positions) {
  // As many registers as have room beside what is computed.
  constexpr int64_t mostBytes = 256;
  const Axis axis = *n.vectorAxis;
  SmallVector<LoadOp> loads;
  int64_t bytes = 0;
  for (auto load : n.roots.front()->getBlock()->getOps<LoadOp>()) {
    const bool isOwn = llvm::any_of(load.getIndices(), [](Value index) { return !getConstantIntValue(index); });
    if (!isTile(load.getResult()) || !t.axes.contains(load.getResult(), axis) || !isOwn)
      continue;
    // What has other axes, too, is at another place in each round of the loops around this one.
    if (llvm::any_of(t.axes.of(load.getResult()),
                     [&](Axis other) { return other != axis && t.axes.extent(other) != 1; }))
      continue;
    loads.push_back(load);
    bytes += positions.size() * n.lanes * getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth() / 8;
  }
  // Others than of one width are read in vectors of their own.
  if (loads.size() < 2 || bytes > mostBytes || !llvm::all_equal(llvm::map_range(loads, [](LoadOp load) {
        return getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth();
      })))
    return success();
  for (LoadOp load : loads)
    for (auto [i, position] : llvm::enumerate(positions)) {
      Point point;
      t.setLanes(point, axis, position, n.lanes, n.extents[axis], false, loc);
      point.step = i;
      if (failed(t.evaluator.evaluate(load.getResult(), point)))
        return failure();
    }
  return success();
}

FailureOr<ThreadSteps::Accumulators> ThreadSteps::emitPieces(Extent extent, Accumulators accs, Body whole,
                                                             Body partial) {
  Nest::Pieces pieces = n.split(extent);
  FailureOr<Accumulators> results = emitOwn({0, {}}, pieces.vectors, n.lanes, accs, whole);
  if (succeeded(results) && n.lanes > 1)
    results = emitOwn(pieces.vectors, pieces.all, n.lanes, *results, partial);
  return results;
}
