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

Value zyx::kernel::widenFactor(OpBuilder &builder, Location loc, Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type to = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = vector.clone(element);
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(builder, loc, to, value);
  return arith::ExtSIOp::create(builder, loc, to, value);
}

/// sum + a * b.
static Value multiplyAdd(OpBuilder &builder, Location loc, Value a, Value b, Value sum) {
  if (isa<FloatType>(getElementTypeOrSelf(sum.getType())))
    return math::FmaOp::create(builder, loc, a, b, sum);
  return arith::AddIOp::create(builder, loc, sum, arith::MulIOp::create(builder, loc, a, b));
}

FailureOr<SmallVector<Value>> zyx::kernel::emitMicroKernel(OpBuilder &builder, Location loc, MicroTile tile,
                                                           Value depth, ValueRange sums,
                                                           const MicroFactors &factors) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0), one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, zero, depth, one, sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBody());
  Value k = loop.getInductionVar();
  SmallVector<Value> row;
  for (int64_t v = 0; v < tile.vectors; ++v) {
    FailureOr<Value> factor = factors.rhs(k, v);
    if (failed(factor))
      return failure();
    row.push_back(*factor);
  }
  SmallVector<Value> next(loop.getRegionIterArgs());
  for (int64_t r = 0; r < tile.rows; ++r) {
    FailureOr<Value> element = factors.lhs(r, k);
    if (failed(element))
      return failure();
    Value factor = *element;
    if (tile.lanes > 1)
      factor = vector::BroadcastOp::create(builder, loc, VectorType::get(tile.lanes, factor.getType()), factor);
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Value &sum = next[r * tile.vectors + v];
      sum = multiplyAdd(builder, loc, factor, row[v], sum);
    }
  }
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults());
}
