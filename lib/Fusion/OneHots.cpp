//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "OneHots.h"

#include "Blocks.h"
#include "LoopValues.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace zyx::graph::ir;

using zyx::fusion::Shown;
using Dims = SmallVector<std::optional<int64_t>>;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool zyx::fusion::isExactCast(CastOp op) {
  auto from = dyn_cast<FloatType>(typeOf(op.getX()).getElementType());
  auto to = dyn_cast<FloatType>(typeOf(op.getResult()).getElementType());
  return from && to && (from == to || (to.isF32() && (from.isF16() || from.isBF16())) || to.isF64());
}

std::optional<Shown> zyx::fusion::look(Value value, llvm::function_ref<bool(CastOp)> passes) {
  Shown shown{value, {}};
  for (int64_t dim = 0, rank = typeOf(value).getRank(); dim < rank; ++dim)
    shown.dims.push_back(dim);
  while (Operation *op = shown.value.getDefiningOp()) {
    if (isView(op)) {
      const std::optional<Dims> step = getOperandDims(op);
      if (!step)
        break;
      for (std::optional<int64_t> &dim : shown.dims)
        if (dim)
          dim = (*step)[*dim];
    } else if (auto cast = dyn_cast<CastOp>(op); !cast || !passes(cast)) {
      break;
    }
    shown.value = op->getOperand(0);
  }
  ArrayRef<int64_t> shape = typeOf(shown.value).getShape();
  for (std::optional<int64_t> &dim : shown.dims)
    if (dim && shape[*dim] == 1)
      dim = std::nullopt;
  return shown;
}

std::optional<Shown> zyx::fusion::matchOneHot(const Shown &compared, int64_t along) {
  auto equal = compared.value.getDefiningOp<BinaryOp>();
  if (!equal || equal.getKind() != BinaryKind::Eq || !compared.dims[along])
    return std::nullopt;
  for (auto [counted, given] : {std::pair(equal.getA(), equal.getB()), std::pair(equal.getB(), equal.getA())}) {
    auto none = [](CastOp) { return false; };
    const std::optional<Shown> places = look(counted, none), indices = look(given, none);
    auto iota = places ? places->value.getDefiningOp<IotaOp>() : IotaOp();
    if (!iota || !indices)
      continue;
    const int64_t dim = *compared.dims[along];
    if (!isa<IntegerType>(typeOf(given).getElementType()) || places->dims[dim] != static_cast<int64_t>(iota.getDim()) ||
        indices->dims[dim])
      continue;
    // The iota's other dimensions repeat it.
    Shown result{indices->value, {}};
    for (std::optional<int64_t> own : compared.dims)
      result.dims.push_back(own ? indices->dims[*own] : std::nullopt);
    return result;
  }
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> zyx::fusion::findOwnDims(const Shown &shown) {
  SmallVector<int64_t> dims;
  llvm::SmallDenseSet<int64_t> seen;
  int64_t elements = 1;
  for (auto [dim, own] : llvm::enumerate(shown.dims))
    if (own) {
      dims.push_back(static_cast<int64_t>(dim));
      elements *= typeOf(shown.value).getDimSize(*own);
      // A diagonal has fewer elements than dimensions.
      if (!seen.insert(*own).second)
        return std::nullopt;
    }
  if (elements != typeOf(shown.value).getNumElements())
    return std::nullopt;
  llvm::sort(dims, [&](int64_t a, int64_t b) { return *shown.dims[a] < *shown.dims[b]; });
  return dims;
}

Value zyx::fusion::findNotFinite(OpBuilder &builder, Location loc, Value x) {
  Value difference = BinaryOp::create(builder, loc, BinaryKind::Sub, x, x);
  return BinaryOp::create(builder, loc, BinaryKind::Ne, difference, makeSplat(builder, loc, typeOf(x), 0));
}

Value zyx::fusion::reshapeTo(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  if (typeOf(value).getShape() == shape)
    return value;
  return ReshapeOp::create(builder, loc, typeOf(value).clone(shape), value);
}

Value zyx::fusion::spreadDims(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> own,
                              ArrayRef<int64_t> all, ArrayRef<int64_t> shape) {
  auto extentsOf = [&](ArrayRef<int64_t> dims) {
    return llvm::map_to_vector(dims, [&](int64_t dim) { return shape[dim]; });
  };
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(own.size()))), units;
  llvm::sort(order, [&](int64_t a, int64_t b) { return llvm::find(all, own[a]) < llvm::find(all, own[b]); });
  value = reshapeTo(builder, loc, value, extentsOf(own));
  if (!llvm::is_sorted(order)) {
    const SmallVector<int64_t> permuted = llvm::map_to_vector(order, [&](int64_t i) { return shape[own[i]]; });
    value = PermuteOp::create(builder, loc, typeOf(value).clone(permuted), value, order);
  }
  for (int64_t dim : all)
    units.push_back(llvm::is_contained(own, dim) ? shape[dim] : 1);
  value = reshapeTo(builder, loc, value, units);
  const SmallVector<int64_t> extents = extentsOf(all);
  return units == extents ? value : ExpandOp::create(builder, loc, typeOf(value).clone(extents), value).getResult();
}

bool zyx::fusion::isLookedUp(ReduceOp sum) {
  if (sum.getKind() != ReduceKind::Add || sum.getDims().size() != 1)
    return false;
  Value term = sum.getX();
  for (Operation *op = term.getDefiningOp(); op; op = term.getDefiningOp()) {
    auto unary = dyn_cast<UnaryOp>(op);
    auto widened = dyn_cast<CastOp>(op);
    const bool isWider = widened && isa<FloatType>(typeOf(widened.getX()).getElementType()) &&
                         typeOf(widened.getX()).getElementTypeBitWidth() < typeOf(widened).getElementTypeBitWidth();
    if (!isWider && !(unary && unary.getKind() == UnaryKind::Neg))
      break;
    term = op->getOperand(0);
  }
  auto select = term.getDefiningOp<SelectOp>();
  if (!select || !isZero(select.getB()))
    return false;
  const std::optional<Shown> compared = look(select.getCondition(), [](CastOp) { return false; });
  const std::optional<Shown> index = compared ? matchOneHot(*compared, sum.getDims().front()) : std::nullopt;
  // Narrower numbers may not count all places.
  return index && typeOf(index->value).getElementTypeBitWidth() >= 32;
}
