//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LoopValues.h"

#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::TripNumber;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

ConstantOp zyx::fusion::getSplat(Value value) {
  while (isIndexMap(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat() ? constant : ConstantOp();
}

bool zyx::fusion::isZero(Value value) {
  ConstantOp splat = getSplat(value);
  if (!splat)
    return false;
  Attribute element = splat.getValue().getSplatValue<Attribute>();
  if (auto real = dyn_cast<FloatAttr>(element))
    return real.getValue().isPosZero();
  auto integer = dyn_cast<IntegerAttr>(element);
  return integer && integer.getValue().isZero();
}

Value zyx::fusion::makeZeros(OpBuilder &builder, Location loc, RankedTensorType type) {
  return ConstantOp::create(builder, loc, type, cast<DenseElementsAttr>(builder.getZeroAttr(type)));
}

bool zyx::fusion::isKnown(LoopOp loop) {
  return loop.getTripsAttr() && loop.getTripsAttr().getInt() >= 2 && !loop->hasAttr(oneKernelAttrName);
}

Operation *zyx::fusion::yieldOf(LoopOp loop) { return loop.getBlock().getTerminator(); }

static std::optional<TripNumber> asNumber(Value value) {
  constexpr int64_t largest = int64_t(1) << 31;
  if (typeOf(value).getNumElements() != 1 || !typeOf(value).getElementType().isSignlessInteger(64))
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() == 0 ? std::optional(TripNumber{0, 1}) : std::nullopt;
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    const int64_t number = constant.getValue().getSplatValue<APInt>().getSExtValue();
    return std::abs(number) < largest ? std::optional(TripNumber{number, 0}) : std::nullopt;
  }
  if (isa<ReshapeOp>(op))
    return asNumber(op->getOperand(0));
  auto binary = dyn_cast<BinaryOp>(op);
  if (!binary || (binary.getKind() != BinaryKind::Add && binary.getKind() != BinaryKind::Sub))
    return std::nullopt;
  std::optional<TripNumber> a = asNumber(binary.getA()), b = asNumber(binary.getB());
  if (!a || !b)
    return std::nullopt;
  const int64_t sign = binary.getKind() == BinaryKind::Add ? 1 : -1;
  return TripNumber{a->constant + sign * b->constant, a->step + sign * b->step};
}

/// The number of a row that each trip has for itself, one behind the other.
std::optional<TripNumber> zyx::fusion::asRow(Value value) {
  std::optional<TripNumber> number = asNumber(value);
  return number && std::abs(number->step) == 1 ? number : std::nullopt;
}
