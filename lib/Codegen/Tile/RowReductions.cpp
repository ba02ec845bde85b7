//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/RowReductions.h"

#include "zyx/Codegen/Tile/Softmax.h"
#include "zyx/Codegen/Tile/TileEvaluator.h"

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

Value zyx::kernel::findOneHotIndex(ReduceOp sum, const Axes &axes) {
  if (sum.getKind() != Combine::Add || sum.getDims().size() != 1)
    return {};
  Value input = sum.getInput();
  while (isa_and_nonnull<arith::ExtFOp, arith::NegFOp>(input.getDefiningOp()))
    input = input.getDefiningOp()->getOperand(0);
  auto select = input.getDefiningOp<arith::SelectOp>();
  if (!select)
    return {};
  // What is compared may be the same for all of other axes.
  Value condition = select.getCondition();
  while (isa_and_nonnull<BroadcastOp, TransposeOp>(condition.getDefiningOp()))
    condition = condition.getDefiningOp()->getOperand(0);
  auto same = condition.getDefiningOp<arith::CmpIOp>();
  if (!same || same.getPredicate() != arith::CmpIPredicate::eq || !isZero(select.getFalseValue()))
    return {};
  Axis axis = axes.of(sum.getInput(), sum.getDims()[0]);
  Value a = same.getLhs(), b = same.getRhs();
  if (!counts(a, axis, axes))
    std::swap(a, b);
  return counts(a, axis, axes) && !varies(b, axis, axes) ? b : Value();
}

std::optional<Axis> zyx::kernel::findLookedUpAxis(Value tile, const Axes &axes) {
  std::optional<Axis> along;
  SmallVector<Value> work{tile};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (value.use_empty())
      return std::nullopt;
    for (Operation *user : value.getUsers()) {
      if (!seen.insert(user).second)
        continue;
      if (auto sum = dyn_cast<ReduceOp>(user)) {
        const Axis axis = axes.of(sum.getInput(), sum.getDims()[0]);
        if (!findOneHotIndex(sum, axes) || (along && *along != axis))
          return std::nullopt;
        along = axis;
      } else if (user->getNumResults() == 1 && isTile(user->getResult(0)) && !isa<DotOp, GatherOp>(user)) {
        work.push_back(user->getResult(0));
      } else {
        return std::nullopt;
      }
    }
  }
  return along && axes.contains(tile, *along) ? along : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Exponentials of distances to the maximum
//===----------------------------------------------------------------------===//

bool zyx::kernel::addsExponentials(ReduceOp sum, ReduceOp max) {
  if (sum.getKind() != Combine::Add || sum.getDims() != max.getDims())
    return false;
  Value input = sum.getInput();
  while (auto wider = input.getDefiningOp<arith::ExtFOp>())
    input = wider.getIn();
  auto exponential = input.getDefiningOp<math::ExpOp>();
  std::optional<SoftmaxExponential> softmax = exponential ? matchSoftmaxExponential(exponential) : std::nullopt;
  auto isWide = [](Value tile) { return getElementTypeOrSelf(tile.getType()).getIntOrFloatBitWidth() >= 32; };
  // Rounded to few digits, distances to two maxima do not differ by that of the maxima.
  return softmax && softmax->max == max && softmax->isBroadcast && isWide(exponential) && isWide(softmax->distance);
}
