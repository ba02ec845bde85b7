//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_DIMSPLITTER_H
#define ZYX_LIB_FUSION_DIMSPLITTER_H

#include "Blocks.h"
#include "NormalizeViews.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace zyx::fusion {

/// Makes two dimensions of one: parts, and what each has. Through gathers, too, whose result a kernel sees under no
/// other extents: what they gather from gets the dimensions, or their indices.
class DimSplitter {
public:
  using Ops = llvm::SmallPtrSet<mlir::Operation *, 16>;

  /// It goes through each op of `through`, whoever reads that too: these are cloned once.
  DimSplitter(mlir::OpBuilder &builder, int64_t count, Ops through = {})
      : builder(builder), count(count), through(std::move(through)) {}

  /// Whether a gather lies between the value and what is in memory, with nothing else on the way than `split` goes
  /// through.
  bool meetsGather(mlir::Value value, int64_t dim, int depth = 16) {
    mlir::Operation *op = value.getDefiningOp();
    if (!op || depth == 0 || (!value.hasOneUse() && !llvm::isa<graph::ir::GatherOp>(op)))
      return false;
    if (llvm::isa<graph::ir::GatherOp>(op))
      return true;
    if (graph::ir::isElementwise(op))
      return llvm::any_of(op->getOperands(), [&](mlir::Value operand) { return meetsGather(operand, dim, depth - 1); });
    const std::optional<int64_t> inner = innerDim(op, dim);
    return inner && meetsGather(op->getOperand(0), *inner, depth - 1);
  }

  /// Whether a value has more elements than each thing that it is made of, element by element and through views, so
  /// that it should not be stored. Behind a reshape that nothing goes through it would be.
  bool isLargerThanSources(mlir::Value value, int64_t most, int depth = 16) {
    mlir::Operation *op = value.getDefiningOp();
    if (llvm::isa_and_nonnull<graph::ir::ConstantOp>(op))
      return true;
    if (depth > 0 && isWidening(op))
      return isLargerThanSources(op->getOperand(0), most, 0);
    if (depth > 0 && graph::ir::isElementwise(op) && value.hasOneUse())
      return llvm::all_of(op->getOperands(),
                          [&](mlir::Value operand) { return isLargerThanSources(operand, most, depth - 1); });
    return llvm::cast<mlir::RankedTensorType>(graph::ir::getViewSource(value).getType()).getNumElements() < most;
  }

  mlir::Value split(mlir::Value value, int64_t dim) {
    if (!through.contains(value.getDefiningOp()))
      return splitOnce(value, dim);
    auto known = clones.find({value, dim});
    if (known != clones.end())
      return known->second;
    mlir::Value made = splitOnce(value, dim);
    return clones[{value, dim}] = made;
  }

private:
  mlir::Value splitOnce(mlir::Value value, int64_t dim) {
    mlir::Operation *op = value.getDefiningOp();
    auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    llvm::SmallVector<int64_t> shape = splitShape(type.getShape(), dim);
    mlir::Location loc = value.getLoc();
    if (auto constant = llvm::dyn_cast_or_null<graph::ir::ConstantOp>(op); constant && constant.getValue().isSplat()) {
      auto made = type.clone(shape);
      return graph::ir::ConstantOp::create(builder, loc, made, constant.getValue().resizeSplat(made));
    }
    if (auto gather = llvm::dyn_cast_or_null<graph::ir::GatherOp>(op)) {
      const auto at = static_cast<int64_t>(gather.getDim());
      const int64_t rank = llvm::cast<mlir::RankedTensorType>(gather.getIndices().getType()).getRank();
      if (dim >= at && dim < at + rank)
        return graph::ir::GatherOp::create(builder, loc, type.clone(shape), gather.getX(),
                                           split(gather.getIndices(), dim - at), at);
      mlir::Value x = split(gather.getX(), dim < at ? dim : dim - rank + 1);
      return graph::ir::GatherOp::create(builder, loc, type.clone(shape), x, gather.getIndices(),
                                         dim < at ? at + 1 : at);
    }
    // What is stored has the narrow type. What it is computed from has other readers through it.
    if (isWidening(op) && !value.hasOneUse() && !through.contains(op)) {
      mlir::Value narrow = op->getOperand(0);
      mlir::Value parted = graph::ir::ReshapeOp::create(
          builder, loc, llvm::cast<mlir::RankedTensorType>(narrow.getType()).clone(shape), narrow);
      return graph::ir::CastOp::create(builder, loc, type.clone(shape), parted);
    }
    if (auto reduce = llvm::dyn_cast_or_null<graph::ir::ReduceOp>(op); reduce && through.contains(op)) {
      llvm::SmallVector<int64_t> dims(reduce.getDims());
      int64_t from = dim;
      for (int64_t each : dims)
        from += each <= from;
      for (int64_t &each : dims)
        each += each > from;
      return graph::ir::ReduceOp::create(builder, loc, type.clone(shape), reduce.getKind(), split(reduce.getX(), from),
                                         dims);
    }
    if (graph::ir::isElementwise(op) && (value.hasOneUse() || through.contains(op))) {
      llvm::SmallVector<mlir::Value> operands;
      for (mlir::Value operand : op->getOperands())
        operands.push_back(split(operand, dim));
      return cloneWith(builder, op, operands, type.clone(shape));
    }
    if (auto expand = llvm::dyn_cast_or_null<graph::ir::ExpandOp>(op)) {
      auto from = llvm::cast<mlir::RankedTensorType>(expand.getX().getType());
      if (from.getDimSize(dim) != 1)
        return graph::ir::ExpandOp::create(builder, loc, type.clone(shape), split(expand.getX(), dim));
      llvm::SmallVector<int64_t> units(from.getShape());
      units.insert(units.begin() + dim, 1);
      mlir::Value source = graph::ir::ReshapeOp::create(builder, loc, from.clone(units), expand.getX());
      return graph::ir::ExpandOp::create(builder, loc, type.clone(shape), source);
    }
    if (const std::optional<int64_t> inner = op ? innerDim(op, dim) : std::nullopt) {
      mlir::Value source = split(op->getOperand(0), *inner);
      auto permute = llvm::dyn_cast<graph::ir::PermuteOp>(op);
      if (!permute)
        return graph::ir::ReshapeOp::create(builder, loc, type.clone(shape), source);
      llvm::SmallVector<int64_t> order;
      for (int64_t from : permute.getOrder()) {
        order.push_back(from > *inner ? from + 1 : from);
        if (from == *inner)
          order.push_back(from + 1);
      }
      return graph::ir::PermuteOp::create(builder, loc, type.clone(shape), source, order);
    }
    return graph::ir::ReshapeOp::create(builder, loc, type.clone(shape), value);
  }

  llvm::SmallVector<int64_t> splitShape(llvm::ArrayRef<int64_t> shape, int64_t dim) const {
    llvm::SmallVector<int64_t> result(shape);
    result.insert(result.begin() + dim, count);
    result[dim + 1] /= count;
    return result;
  }
  /// The dimension of its operand that one of a permute or a unit reshape is; an expand's own, where that is not
  /// repeated.
  static std::optional<int64_t> innerDim(mlir::Operation *op, int64_t dim) {
    if (!llvm::isa<graph::ir::PermuteOp, graph::ir::ReshapeOp, graph::ir::ExpandOp>(op))
      return std::nullopt;
    const auto dims = graph::ir::getOperandDims(op);
    return dims ? (*dims)[dim] : std::nullopt;
  }

  mlir::OpBuilder &builder;
  const int64_t count;
  const Ops through;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> clones;
};

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_DIMSPLITTER_H
