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

/// The lanes of a vector added up by halves; the last two as scalars (see NestEmitter::acrossLanes).
static Value sumLanes(OpBuilder &builder, Location loc, Value vector) {
  int64_t width = cast<VectorType>(vector.getType()).getNumElements();
  while (width > 2) {
    width /= 2;
    SmallVector<int64_t> low = llvm::to_vector(llvm::seq<int64_t>(0, width));
    SmallVector<int64_t> high = llvm::to_vector(llvm::seq<int64_t>(width, 2 * width));
    vector = add(builder, loc, vector::ShuffleOp::create(builder, loc, vector, vector, low),
                 vector::ShuffleOp::create(builder, loc, vector, vector, high));
  }
  Value first = vector::ExtractOp::create(builder, loc, vector, int64_t(0));
  return add(builder, loc, first, vector::ExtractOp::create(builder, loc, vector, int64_t(1)));
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
  for (auto [sum, vector] : llvm::zip(sums, partial))
    results.push_back(add(builder, loc, sum, tile.lanes > 1 ? sumLanes(builder, loc, vector) : vector));
  return results;
}
