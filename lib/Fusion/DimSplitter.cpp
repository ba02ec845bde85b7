//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Two dimensions in the place of one, through what a value is computed of.
//===----------------------------------------------------------------------===//
#include "DimSplitter.h"

#include "Blocks.h"
#include "NormalizeViews.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::DimSplitter;

bool DimSplitter::meetsGather(Value value, int64_t dim, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || (!value.hasOneUse() && !isa<GatherOp>(op)))
    return false;
  if (isa<GatherOp>(op))
    return true;
  if (isElementwise(op))
    return llvm::any_of(op->getOperands(), [&](Value operand) { return meetsGather(operand, dim, depth - 1); });
  const std::optional<int64_t> inner = innerDim(op, dim);
  return inner && meetsGather(op->getOperand(0), *inner, depth - 1);
}

bool DimSplitter::isLargerThanSources(Value value, int64_t most, int depth) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<ConstantOp>(op))
    return true;
  if (depth > 0 && zyx::fusion::isWidening(op))
    return isLargerThanSources(op->getOperand(0), most, 0);
  if (depth > 0 && isElementwise(op) && value.hasOneUse())
    return llvm::all_of(op->getOperands(),
                        [&](Value operand) { return isLargerThanSources(operand, most, depth - 1); });
  return cast<RankedTensorType>(getViewSource(value).getType()).getNumElements() < most;
}

Value DimSplitter::split(Value value, int64_t dim) {
  if (!through.contains(value.getDefiningOp()))
    return splitOnce(value, dim);
  auto known = clones.find({value, dim});
  if (known != clones.end())
    return known->second;
  Value made = splitOnce(value, dim);
  return clones[{value, dim}] = made;
}

Value DimSplitter::splitOnce(Value value, int64_t dim) {
  Operation *op = value.getDefiningOp();
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape = splitShape(type.getShape(), dim);
  Location loc = value.getLoc();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op); constant && constant.getValue().isSplat()) {
    auto made = type.clone(shape);
    return ConstantOp::create(builder, loc, made, constant.getValue().resizeSplat(made));
  }
  if (auto gather = dyn_cast_or_null<GatherOp>(op)) {
    const auto at = static_cast<int64_t>(gather.getDim());
    const int64_t rank = cast<RankedTensorType>(gather.getIndices().getType()).getRank();
    if (dim >= at && dim < at + rank)
      return GatherOp::create(builder, loc, type.clone(shape), gather.getX(), split(gather.getIndices(), dim - at), at);
    Value x = split(gather.getX(), dim < at ? dim : dim - rank + 1);
    return GatherOp::create(builder, loc, type.clone(shape), x, gather.getIndices(), dim < at ? at + 1 : at);
  }
  // What is stored has the narrow type. What it is computed from has other readers through it.
  if (zyx::fusion::isWidening(op) && !value.hasOneUse() && !through.contains(op)) {
    Value narrow = op->getOperand(0);
    Value parted = ReshapeOp::create(builder, loc, cast<RankedTensorType>(narrow.getType()).clone(shape), narrow);
    return CastOp::create(builder, loc, type.clone(shape), parted);
  }
  if (auto reduce = dyn_cast_or_null<ReduceOp>(op); reduce && through.contains(op)) {
    SmallVector<int64_t> dims(reduce.getDims());
    int64_t from = dim;
    for (int64_t each : dims)
      from += each <= from;
    for (int64_t &each : dims)
      each += each > from;
    return ReduceOp::create(builder, loc, type.clone(shape), reduce.getKind(), split(reduce.getX(), from), dims);
  }
  if (isElementwise(op) && (value.hasOneUse() || through.contains(op))) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(split(operand, dim));
    return zyx::fusion::cloneWith(builder, op, operands, type.clone(shape));
  }
  if (auto expand = dyn_cast_or_null<ExpandOp>(op)) {
    auto from = cast<RankedTensorType>(expand.getX().getType());
    if (from.getDimSize(dim) != 1)
      return ExpandOp::create(builder, loc, type.clone(shape), split(expand.getX(), dim));
    SmallVector<int64_t> units(from.getShape());
    units.insert(units.begin() + dim, 1);
    Value source = ReshapeOp::create(builder, loc, from.clone(units), expand.getX());
    return ExpandOp::create(builder, loc, type.clone(shape), source);
  }
  if (const std::optional<int64_t> inner = op ? innerDim(op, dim) : std::nullopt) {
    Value source = split(op->getOperand(0), *inner);
    auto permute = dyn_cast<PermuteOp>(op);
    if (!permute)
      return ReshapeOp::create(builder, loc, type.clone(shape), source);
    SmallVector<int64_t> order;
    for (int64_t from : permute.getOrder()) {
      order.push_back(from > *inner ? from + 1 : from);
      if (from == *inner)
        order.push_back(from + 1);
    }
    return PermuteOp::create(builder, loc, type.clone(shape), source, order);
  }
  return ReshapeOp::create(builder, loc, type.clone(shape), value);
}

SmallVector<int64_t> DimSplitter::splitShape(ArrayRef<int64_t> shape, int64_t dim) const {
  SmallVector<int64_t> result(shape);
  result.insert(result.begin() + dim, count);
  result[dim + 1] /= count;
  return result;
}

std::optional<int64_t> DimSplitter::innerDim(Operation *op, int64_t dim) {
  if (!isa<PermuteOp, ReshapeOp, ExpandOp>(op))
    return std::nullopt;
  const auto dims = getOperandDims(op);
  return dims ? (*dims)[dim] : std::nullopt;
}
