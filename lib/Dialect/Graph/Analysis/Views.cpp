//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/Analysis/Views.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace ir = zyx::graph::ir;

bool ir::isView(Operation *op) { return isIndexMap(op) || isa_and_nonnull<PadOp>(op); }

bool ir::isIndexMap(Operation *op) { return isa_and_nonnull<ReshapeOp, ExpandOp, PermuteOp, FlipOp, WindowOp>(op); }

bool ir::isElementwise(Operation *op) { return isa_and_nonnull<UnaryOp, BinaryOp, SelectOp, CastOp, BitcastOp>(op); }

bool ir::isOrderOp(Operation *op) { return isa_and_nonnull<ScanOp, SortOp, ScatterOp>(op); }

Value ir::getViewSource(Value value) {
  while (isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

static bool haveSameDims(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  auto isNoUnit = [](int64_t extent) { return extent != 1; };
  return llvm::equal(llvm::make_filter_range(from, isNoUnit), llvm::make_filter_range(to, isNoUnit));
}

bool ir::isUnitReshape(ReshapeOp op) { return haveSameDims(shapeOf(op.getX()), shapeOf(op)); }

using Dims = SmallVector<std::optional<int64_t>>;

std::optional<Dims> ir::getOperandDims(Operation *view) {
  ArrayRef<int64_t> from = shapeOf(view->getOperand(0)), to = shapeOf(view->getResult(0));
  Dims dims(to.size());
  if (auto permute = dyn_cast<PermuteOp>(view)) {
    for (auto [dim, source] : llvm::zip(dims, permute.getOrder()))
      dim = source;
    return dims;
  }
  if (isa<ExpandOp>(view)) {
    for (auto [index, dim] : llvm::enumerate(dims))
      if (from[index] == to[index])
        dim = index;
    return dims;
  }
  if (!isa<ReshapeOp>(view) || !haveSameDims(from, to))
    return std::nullopt;
  size_t next = 0;
  for (auto [index, dim] : llvm::enumerate(dims)) {
    if (to[index] == 1)
      continue;
    while (from[next] == 1)
      ++next;
    dim = next++;
  }
  return dims;
}

std::optional<Dims> ir::getSourceDims(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  Dims dims;
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
    dims.push_back(dim);
  while (isView(value.getDefiningOp())) {
    Operation *view = value.getDefiningOp();
    std::optional<Dims> step = getOperandDims(view);
    if (!step)
      return std::nullopt;
    for (std::optional<int64_t> &dim : dims)
      if (dim)
        dim = (*step)[*dim];
    value = view->getOperand(0);
  }
  for (auto [index, dim] : llvm::enumerate(dims))
    if (shape[index] == 1)
      dim = std::nullopt;
  return dims;
}

namespace {

/// Finds the dimensions along which a value is the same everywhere. Looks at the nearest ops only:
/// factors of products lie close to their expands.
class Repetition {
public:
  llvm::SmallBitVector of(Value value, int depth = 16) {
    if (auto known = cache.find(value); known != cache.end())
      return known->second;
    llvm::SmallBitVector repeated = compute(value, depth);
    cache[value] = repeated;
    return repeated;
  }

private:
  llvm::SmallBitVector compute(Value value, int depth) {
    ArrayRef<int64_t> shape = shapeOf(value);
    llvm::SmallBitVector repeated(shape.size());
    Operation *op = value.getDefiningOp();
    if (auto constant = dyn_cast_or_null<ConstantOp>(op)) {
      repeated.resize(0);
      repeated.resize(shape.size(), constant.getValue().isSplat());
    } else if (auto iota = dyn_cast_or_null<IotaOp>(op)) {
      repeated.set();
      repeated.reset(iota.getDim());
    } else if (depth > 0 && isElementwise(op)) {
      repeated.set();
      for (Value operand : op->getOperands())
        repeated &= of(operand, depth - 1);
    } else if (depth > 0 && isView(op)) {
      // A reshape that splits or merges dimensions is not looked through.
      std::optional<Dims> dims = getOperandDims(op);
      for (size_t i = 0; dims && i < shape.size(); ++i)
        repeated[i] = !(*dims)[i] || of(op->getOperand(0), depth - 1)[*(*dims)[i]];
    }
    for (auto [index, extent] : llvm::enumerate(shape))
      if (extent == 1)
        repeated.set(index);
    return repeated;
  }

  llvm::DenseMap<Value, llvm::SmallBitVector> cache;
};

} // namespace

llvm::SmallBitVector ir::getRepeatedDims(Value value) { return Repetition().of(value); }

std::optional<Contraction> ir::matchContraction(ReduceOp op) {
  auto product = op.getX().getDefiningOp<BinaryOp>();
  if (op.getKind() != ReduceKind::Add || !product || product.getKind() != BinaryKind::Mul || op->hasAttr(sumAttrName))
    return std::nullopt;
  Repetition repetition;
  const llvm::SmallBitVector a = repetition.of(product.getA()), b = repetition.of(product.getB());
  Contraction result;
  result.product = product;
  result.reduced.assign(op.getDims().begin(), op.getDims().end());
  for (int64_t dim = 0, rank = a.size(); dim < rank; ++dim) {
    if (llvm::is_contained(op.getDims(), dim) || (a[dim] && b[dim]))
      continue;
    (b[dim] ? result.first : a[dim] ? result.second : result.batch).push_back(dim);
  }
  if (result.first.empty() || result.second.empty())
    return std::nullopt;
  return result;
}
