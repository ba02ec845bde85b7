//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MicroKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace zyx::kernel;

/// sum + a * b.
static Value multiplyAdd(OpBuilder &builder, Location loc, Value a, Value b, Value sum) {
  if (isa<FloatType>(getElementTypeOrSelf(sum.getType())))
    return math::FmaOp::create(builder, loc, a, b, sum);
  return arith::AddIOp::create(builder, loc, sum, arith::MulIOp::create(builder, loc, a, b));
}

static Value add(OpBuilder &builder, Location loc, Value a, Value b) {
  if (isa<FloatType>(getElementTypeOrSelf(a.getType())))
    return arith::AddFOp::create(builder, loc, a, b);
  return arith::AddIOp::create(builder, loc, a, b);
}

/// One step: each element of the left factor times the row of the right one.
static LogicalResult emitStep(OpBuilder &builder, Location loc, MicroTile tile, Value k, MutableArrayRef<Value> sums,
                              const MicroFactors &factors) {
  SmallVector<Value> row;
  for (int64_t v = 0; v < tile.vectors; ++v) {
    FailureOr<Value> factor = factors.rhs(k, v);
    if (failed(factor))
      return failure();
    row.push_back(*factor);
  }
  for (int64_t r = 0; r < tile.rows; ++r) {
    FailureOr<Value> element = factors.lhs(r, k);
    if (failed(element))
      return failure();
    Value factor = *element;
    if (tile.lanes > 1)
      factor = vector::BroadcastOp::create(builder, loc, VectorType::get(tile.lanes, factor.getType()), factor);
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Value &sum = sums[r * tile.vectors + v];
      sum = multiplyAdd(builder, loc, factor, row[v], sum);
    }
  }
  return success();
}

FailureOr<SmallVector<Value>> zyx::kernel::emitMicroKernel(OpBuilder &builder, Location loc, MicroTile tile,
                                                           Value depth, ValueRange sums, const MicroFactors &factors) {
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  SmallVector<Value> results(sums);
  auto loopFrom = [&](Value low, Value high, int64_t steps) -> LogicalResult {
    auto loop = scf::ForOp::create(builder, loc, low, high, index(steps), results);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    SmallVector<Value> next(loop.getRegionIterArgs());
    for (int64_t step = 0; step < steps; ++step) {
      Value k = loop.getInductionVar();
      if (step > 0)
        k = arith::AddIOp::create(builder, loc, k, index(step));
      if (failed(emitStep(builder, loc, tile, k, next, factors)))
        return failure();
    }
    scf::YieldOp::create(builder, loc, next);
    results.assign(loop.getResults().begin(), loop.getResults().end());
    return success();
  };
  std::optional<int64_t> known = getConstantIntValue(depth);
  int64_t steps = known && *known < tile.unroll ? 1 : tile.unroll;
  Value whole = depth;
  if (known)
    whole = index(*known - *known % steps);
  else if (steps > 1)
    whole = arith::SubIOp::create(builder, loc, depth, arith::RemUIOp::create(builder, loc, depth, index(steps)));
  if (failed(loopFrom(index(0), whole, steps)))
    return failure();
  if (steps > 1 && (!known || *known % steps != 0))
    if (failed(loopFrom(whole, depth, 1)))
      return failure();
  return results;
}

/// The sums of the lanes of each vector. Halves of two vectors are added up in one: a sum takes three instructions
/// where there are as many vectors as lanes.
static SmallVector<Value> sumLanes(OpBuilder &builder, Location loc, ArrayRef<Value> vectors) {
  const int64_t lanes = cast<VectorType>(vectors.front().getType()).getNumElements();
  const auto together =
      static_cast<int64_t>(llvm::bit_floor(std::min<size_t>(vectors.size(), static_cast<size_t>(lanes))));
  SmallVector<Value> parts(vectors.take_front(together));
  // Each has so many sums, of so many lanes each.
  int64_t own = 1, width = lanes;
  // The last two lanes of one sum are scalars.
  while (width > (together == 1 ? 2 : 1)) {
    const bool merges = parts.size() > 1;
    SmallVector<int64_t> low, high;
    for (int64_t sum = 0; sum < (merges ? 2 * own : own); ++sum)
      for (int64_t lane = 0; lane < width / 2; ++lane) {
        low.push_back(sum * width + lane);
        high.push_back(sum * width + width / 2 + lane);
      }
    SmallVector<Value> next;
    for (size_t i = 0; i < parts.size(); i += merges ? 2 : 1) {
      Value other = parts[merges ? i + 1 : i];
      next.push_back(add(builder, loc, vector::ShuffleOp::create(builder, loc, parts[i], other, low),
                         vector::ShuffleOp::create(builder, loc, parts[i], other, high)));
    }
    parts = std::move(next);
    own *= merges ? 2 : 1;
    width /= 2;
  }
  SmallVector<Value> sums;
  for (int64_t sum = 0; sum < together; ++sum) {
    sums.push_back(vector::ExtractOp::create(builder, loc, parts.front(), sum));
    if (width > 1)
      sums.back() = add(builder, loc, sums.back(), vector::ExtractOp::create(builder, loc, parts.front(), sum + 1));
  }
  if (vectors.size() > static_cast<size_t>(together))
    llvm::append_range(sums, sumLanes(builder, loc, vectors.drop_front(together)));
  return sums;
}

FailureOr<SmallVector<Value>> zyx::kernel::emitMicroKernelAlongDepth(OpBuilder &builder, Location loc, MicroTile tile,
                                                                     Value depth, ValueRange sums,
                                                                     const AlongDepthFactors &factors) {
  Type element = sums.front().getType();
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  Type type = tile.lanes > 1 ? VectorType::get(tile.lanes, element) : element;
  Value none = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  SmallVector<Value> partial(sums.size(), none);
  auto loopFrom = [&](Value low, Value high, bool isPartial) -> LogicalResult {
    auto loop = scf::ForOp::create(builder, loc, low, high, index(tile.lanes), partial);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    Value k = loop.getInductionVar();
    SmallVector<Value> row, next(loop.getRegionIterArgs());
    for (int64_t c = 0; c < tile.vectors; ++c) {
      FailureOr<Value> factor = factors.rhs(k, c, isPartial);
      if (failed(factor))
        return failure();
      row.push_back(*factor);
    }
    for (int64_t r = 0; r < tile.rows; ++r) {
      FailureOr<Value> factor = factors.lhs(r, k, isPartial);
      if (failed(factor))
        return failure();
      for (int64_t c = 0; c < tile.vectors; ++c) {
        Value &sum = next[r * tile.vectors + c];
        sum = multiplyAdd(builder, loc, *factor, row[c], sum);
      }
    }
    scf::YieldOp::create(builder, loc, next);
    partial.assign(loop.getResults().begin(), loop.getResults().end());
    return success();
  };
  std::optional<int64_t> known = getConstantIntValue(depth);
  Value whole = depth;
  if (known)
    whole = index(*known - *known % tile.lanes);
  else if (tile.lanes > 1)
    whole = arith::SubIOp::create(builder, loc, depth, arith::RemUIOp::create(builder, loc, depth, index(tile.lanes)));
  if (failed(loopFrom(index(0), whole, false)))
    return failure();
  // At most one round: what is left.
  if (tile.lanes > 1 && (!known || *known % tile.lanes != 0))
    if (failed(loopFrom(whole, depth, true)))
      return failure();
  SmallVector<Value> results;
  for (auto [sum, own] : llvm::zip(sums, tile.lanes > 1 ? sumLanes(builder, loc, partial) : partial))
    results.push_back(add(builder, loc, sum, own));
  return results;
}
