//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "AttentionResults.h"

#include <limits>

using namespace mlir;
using namespace zyx::kernel;

static Type elementOf(Value tile) { return getElementTypeOrSelf(tile.getType()); }

void AttentionResults::allocate() {
  const auto numSums = static_cast<int64_t>(p.attention.sums.size());
  maxima = p.share({p.shape.rows}, p.f32);
  partSums = p.share({std::max<int64_t>(numSums, 1), p.shape.rows, p.perRow}, p.f32);
  totals = p.share({std::max<int64_t>(numSums, 1), p.shape.rows}, p.f32);
  if (p.shape.outSlices > 1)
    outputs = p.share({p.shape.outHeld, p.shape.rows, p.shape.width}, p.f32);
}

void AttentionResults::allocateForCluster() {
  const auto numSums = static_cast<int64_t>(p.attention.sums.size());
  allNumbers = p.share({p.shape.cluster, 1 + numSums, p.shape.rows}, p.f32);
  allOutputs = p.share({p.shape.cluster, p.shape.rows, p.shape.width}, p.f32);
  rank = IdOp::create(p.b, p.loc, p.b.getIndexType(), IdKind::ClusterRank);
}

/// A thread's parts of sums and maxima, and of results where several threads have them, become the workgroup's.
void AttentionResults::keepOwn(ValueRange carried) {
  const int64_t columns = p.shape.outColumns(), items = p.shape.rows / p.shape.outRows * columns,
                lanes = p.shape.valueLanes, held = p.shape.outHeld;
  Value isFirst = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::eq, p.comparedPlace, p.index(0));
  p.when(isFirst, [&] { p.write(carried[0], maxima, p.comparedRow); });
  for (size_t s = 0; s < p.attention.sums.size(); ++s)
    p.write(carried[1 + s], partSums, {p.index(static_cast<int64_t>(s)), p.comparedRow, p.comparedPlace});
  if (p.shape.outSlices == 1)
    return p.meet();
  Value slice = p.over(p.thread, items), item = p.rest(p.thread, items),
        row = p.times(p.over(item, columns), p.shape.outRows), column = p.times(p.rest(item, columns), lanes);
  // As many slices as there is room for, then the next ones, which are added to those: in a fixed order.
  for (int64_t first = 0; first < p.shape.outSlices; first += held) {
    Value exists = first + held < p.shape.outSlices || items * p.shape.outSlices < p.shape.threads
                       ? p.isBelow(slice, first + held)
                       : Value();
    if (first != 0)
      exists = p.both(exists, p.isAtLeast(slice, first));
    p.when(exists, [&] {
      for (int64_t r = 0; r < p.shape.outRows; ++r)
        for (int64_t c = 0; c < p.shape.outVectors; ++c) {
          Value own = carried[1 + p.attention.sums.size() + static_cast<size_t>(r * p.shape.outVectors + c)];
          AttentionProgram::Values at{p.rest(slice, held), p.add(row, r), p.add(column, c * columns * lanes)};
          if (first != 0)
            own = arith::AddFOp::create(p.b, p.loc, p.read(outputs, at, lanes), own);
          p.write(own, outputs, at);
        }
    });
    p.meet();
  }
}

/// Sums of a row, from the parts of those that compared it.
AttentionResults::Values AttentionResults::sumsOf(Value row) {
  Values sums;
  for (size_t s = 0; s < p.attention.sums.size(); ++s)
    sums.push_back(
        p.loop(p.index(0), p.index(p.perRow), p.index(1), p.number(0), [&](Value place, ValueRange before) -> Values {
          return {arith::AddFOp::create(p.b, p.loc, before[0],
                                        p.read(partSums, {p.index(static_cast<int64_t>(s)), row, place}))};
        })[0]);
  return sums;
}

/// Calls `body` for each vector of results that this thread has, where that exists: with its row in the program, its
/// first column, and its sum.
void AttentionResults::forResults(ValueRange carried, llvm::function_ref<void(Value, Value, Value)> body) {
  const int64_t lanes = p.shape.valueLanes;
  // Parts of results that a thread has in registers, or adds up in the order of their slices.
  const bool isShared = p.shape.outSlices > 1;
  const int64_t rowsEach = isShared ? 1 : p.shape.outRows, vectorsEach = isShared ? 1 : p.shape.outVectors;
  const int64_t columns = p.shape.width / lanes / vectorsEach, all = p.shape.rows / rowsEach * columns;
  for (int64_t i = 0; i < all; i += p.shape.threads) {
    Value item = p.add(p.thread, i);
    Value exists = i + p.shape.threads > all ? p.isBelow(item, all) : Value();
    Value firstOwn = p.times(p.over(item, columns), rowsEach), firstColumn = p.times(p.rest(item, columns), lanes);
    for (int64_t place = 0; place < rowsEach * vectorsEach; ++place)
      p.when(exists, [&] {
        Value row = p.add(firstOwn, place / vectorsEach),
              column = p.add(firstColumn, place % vectorsEach * columns * lanes), sum;
        if (!isShared)
          sum = carried[1 + p.attention.sums.size() +
                        static_cast<size_t>(i / p.shape.threads * rowsEach * vectorsEach + place)];
        for (int64_t s = 0; isShared && s < p.shape.outHeld; ++s) {
          Value part = p.read(outputs, {p.index(s), row, column}, lanes);
          sum = sum ? arith::AddFOp::create(p.b, p.loc, sum, part).getResult() : part;
        }
        body(row, column, sum);
      });
  }
}

/// Evaluates and stores what a row has: results of a vector of columns, or with none, its numbers.
LogicalResult AttentionResults::storeRow(Value row, Value max, ValueRange sums, Value column, Value result) {
  Value isEmpty = arith::CmpFOp::create(p.b, p.loc, arith::CmpFPredicate::OEQ, max,
                                        p.number(-std::numeric_limits<double>::infinity()));
  // A row of nothing but minus infinity has no distances: its weights are NaN, and so are their sums.
  Value nothing = p.number(std::numeric_limits<double>::quiet_NaN());
  Value global = p.add(p.firstRow, row);
  LogicalResult written = success();
  p.when(p.numRows % p.shape.rows != 0 ? p.isBelow(global, p.numRows) : Value(), [&] {
    Point point = p.program;
    p.setRow(point, global);
    point.memo[p.attention.max.getResult()] = p.narrow(max, elementOf(p.attention.max.getResult()));
    for (auto [sum, value] : llvm::zip(p.attention.sums, sums))
      point.memo[ReduceOp(sum).getResult()] = p.choose(isEmpty, nothing, value);
    if (result) {
      const int64_t lanes = p.shape.valueLanes;
      point.memo[p.attention.output->getResult(0)] =
          arith::SelectOp::create(p.b, p.loc, isEmpty, p.repeat(nothing, lanes), result);
      point.positions[p.attention.columns] = column;
      point.lanes = lanes;
      if (lanes > 1)
        point.vectorAxis = p.attention.columns;
    }
    for (StoreOp store : result ? p.attention.results : p.attention.ofRows) {
      FailureOr<Value> value =
          result ? p.evaluator.evaluateVector(store.getValue(), point) : p.evaluator.evaluate(store.getValue(), point);
      if (failed(value) || failed(p.evaluator.store(store, *value, point)))
        written = failure();
    }
  });
  return written;
}

LogicalResult AttentionResults::finish(ValueRange carried) {
  if (p.shape.cluster > 1)
    return finishTogether(carried);
  const auto numSums = static_cast<int64_t>(p.attention.sums.size());
  keepOwn(carried);
  Value isRow = p.shape.rows < p.shape.threads ? p.isBelow(p.thread, p.shape.rows) : Value();
  LogicalResult written = success();
  // A thread for each row adds up what those have that compared it.
  p.when(isRow, [&] {
    Values sums = sumsOf(p.thread);
    for (int64_t s = 0; s < numSums; ++s)
      p.write(sums[static_cast<size_t>(s)], totals, {p.index(s), p.thread});
    if (!p.attention.ofRows.empty() && failed(storeRow(p.thread, p.read(maxima, p.thread), sums, {}, {})))
      written = failure();
  });
  p.meet();
  forResults(carried, [&](Value row, Value column, Value result) {
    Values sums;
    for (int64_t s = 0; s < numSums; ++s)
      sums.push_back(p.read(totals, {p.index(s), row}));
    if (failed(storeRow(row, p.read(maxima, row), sums, column, result)))
      written = failure();
  });
  return written;
}

/// Workgroups of a cluster have walked a part of the keys each. The first one gets what all have, relative to their own
/// maxima, and adds it up in their order.
LogicalResult AttentionResults::finishTogether(ValueRange carried) {
  const auto numSums = static_cast<int64_t>(p.attention.sums.size());
  const int64_t lanes = p.shape.valueLanes;
  keepOwn(carried);
  auto ofFirst = [&](Value view) -> Value { return PeerOp::create(p.b, p.loc, view.getType(), view, p.index(0)); };
  Value isRow = p.shape.rows < p.shape.threads ? p.isBelow(p.thread, p.shape.rows) : Value();
  // Also what few threads write to is found by all.
  Value peerNumbers = ofFirst(allNumbers), peerOutputs = ofFirst(allOutputs);
  p.when(isRow, [&] {
    p.write(p.read(maxima, p.thread), peerNumbers, {rank, p.index(0), p.thread});
    for (auto [s, sum] : llvm::enumerate(sumsOf(p.thread)))
      p.write(sum, peerNumbers, {rank, p.index(1 + static_cast<int64_t>(s)), p.thread});
  });
  forResults(carried,
             [&](Value row, Value column, Value result) { p.write(result, peerOutputs, {rank, row, column}); });
  BarrierOp::create(p.b, p.loc, Scope::Cluster, /*async=*/false);
  LogicalResult written = success();
  Value isFirst = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::eq, rank, p.index(0));
  /// The maximum of all, the sums, and what each part shrinks by.
  auto combineRow = [&](Value row, Values &sums, Values &shrinkage) {
    Values parts;
    Value max;
    for (int64_t g = 0; g < p.shape.cluster; ++g) {
      parts.push_back(p.read(allNumbers, {p.index(g), p.index(0), row}));
      max = max ? arith::MaximumFOp::create(p.b, p.loc, max, parts.back()).getResult() : parts.back();
    }
    Value base = emitSoftmaxBase(p.b, p.loc, max);
    for (Value part : parts)
      shrinkage.push_back(p.exponential(arith::SubFOp::create(p.b, p.loc, part, base)));
    for (int64_t s = 0; s < numSums; ++s) {
      Value sum = p.number(0);
      for (int64_t g = 0; g < p.shape.cluster; ++g)
        sum = p.fma(p.read(allNumbers, {p.index(g), p.index(1 + s), row}), shrinkage[static_cast<size_t>(g)], sum);
      sums.push_back(sum);
    }
    return max;
  };
  p.when(isFirst, [&] {
    if (!p.attention.ofRows.empty())
      p.when(isRow, [&] {
        Values sums, shrinkage;
        Value max = combineRow(p.thread, sums, shrinkage);
        if (failed(storeRow(p.thread, max, sums, {}, {})))
          written = failure();
      });
    const int64_t vectors = p.shape.width / lanes, all = p.shape.rows * vectors;
    for (int64_t i = 0; i < all; i += p.shape.threads) {
      Value item = p.add(p.thread, i);
      p.when(i + p.shape.threads > all ? p.isBelow(item, all) : Value(), [&] {
        Value row = p.over(item, vectors), column = p.times(p.rest(item, vectors), lanes);
        Values sums, shrinkage;
        Value max = combineRow(row, sums, shrinkage), result = p.zeros(p.vectorOf(p.f32, lanes));
        for (int64_t g = 0; g < p.shape.cluster; ++g)
          result = p.fma(p.read(allOutputs, {p.index(g), row, column}, lanes),
                         p.repeat(shrinkage[static_cast<size_t>(g)], lanes), result);
        if (failed(storeRow(row, max, sums, column, result)))
          written = failure();
      });
    }
  });
  // Nobody writes for the next program before the first one has read this one's, or ends before others write to it.
  BarrierOp::create(p.b, p.loc, Scope::Cluster, /*async=*/false);
  return written;
}
