//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/RowReductions.h"

#include "zyx/Codegen/Tile/TileEvaluator.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace zyx::kernel;

//===----------------------------------------------------------------------===//
// One of many
//===----------------------------------------------------------------------===//

/// Whether elements of a tile may differ along an axis of it.
static bool varies(Value tile, Axis axis, const Axes &axes) {
  if (!axes.contains(tile, axis))
    return false;
  Operation *def = tile.getDefiningOp();
  if (isa_and_nonnull<BroadcastOp, TransposeOp, ReshapeOp>(def))
    return varies(def->getOperand(0), axis, axes);
  if (def && isElementwise(def))
    return llvm::any_of(def->getOperands(), [&](Value operand) { return varies(operand, axis, axes); });
  return !isa_and_nonnull<arith::ConstantOp, SplatOp>(def);
}

static bool isZero(Value tile) { return matchPattern(tile, m_PosZeroFloat()) || matchPattern(tile, m_Zero()); }

/// Whether a tile counts the places of an axis, in a type that holds all of them.
static bool counts(Value tile, Axis axis, const Axes &axes) {
  IotaOp iota = countsAlongAxis(tile);
  if (!iota || iota.getBase() || axes.of(iota.getResult(), iota.getDim()) != axis)
    return false;
  auto type = dyn_cast<IntegerType>(cast<RankedTensorType>(iota.getType()).getElementType());
  return type && type.getWidth() >= 32 && axes.extent(axis) <= std::numeric_limits<int32_t>::max();
}

Value zyx::kernel::findPickedIndex(ReduceOp sum, const Axes &axes) {
  if (sum.getKind() != Combine::Add || sum.getDims().size() != 1)
    return {};
  Value input = sum.getInput();
  while (isa_and_nonnull<arith::ExtFOp, arith::NegFOp>(input.getDefiningOp()))
    input = input.getDefiningOp()->getOperand(0);
  auto select = input.getDefiningOp<arith::SelectOp>();
  auto same = select ? select.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  if (!same || same.getPredicate() != arith::CmpIPredicate::eq || !isZero(select.getFalseValue()))
    return {};
  Axis axis = axes.of(sum.getInput(), sum.getDims()[0]);
  Value a = same.getLhs(), b = same.getRhs();
  if (!counts(a, axis, axes))
    std::swap(a, b);
  return counts(a, axis, axes) && !varies(b, axis, axes) ? b : Value();
}

//===----------------------------------------------------------------------===//
// Exponentials of distances to the maximum
//===----------------------------------------------------------------------===//

static Value skipWidening(Value tile) {
  while (auto wider = tile.getDefiningOp<arith::ExtFOp>())
    tile = wider.getIn();
  return tile;
}

bool zyx::kernel::addsExponentials(ReduceOp sum, ReduceOp max) {
  if (sum.getKind() != Combine::Add || max.getKind() != Combine::Max || sum.getDims() != max.getDims())
    return false;
  auto exponential = skipWidening(sum.getInput()).getDefiningOp<math::ExpOp>();
  if (!exponential || getElementTypeOrSelf(exponential.getType()).getIntOrFloatBitWidth() < 32)
    return false;
  auto distance = skipWidening(exponential.getOperand()).getDefiningOp<arith::SubFOp>();
  // Rounded to few digits, distances to two maxima do not differ by that of the maxima.
  if (!distance || getElementTypeOrSelf(distance.getType()).getIntOrFloatBitWidth() < 32)
    return false;
  auto spread = skipWidening(distance.getRhs()).getDefiningOp<BroadcastOp>();
  if (!spread || skipWidening(spread.getInput()) != max.getResult() ||
      skipWidening(distance.getLhs()) != skipWidening(max.getInput()))
    return false;
  // Each row's own.
  SmallVector<int64_t> kept;
  for (int64_t dim = 0, rank = cast<RankedTensorType>(max.getInput().getType()).getRank(); dim < rank; ++dim)
    if (!llvm::is_contained(max.getDims(), dim))
      kept.push_back(dim);
  return llvm::equal(kept, spread.getDims());
}
