//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "WindowDims.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace zyx::graph::ir;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

std::optional<int64_t> zyx::fusion::findDim(ArrayRef<int64_t> from, int64_t dim, ArrayRef<int64_t> to) {
  const int64_t before = ShapedType::getNumElements(from.take_front(dim));
  int64_t product = 1;
  for (auto [d, extent] : llvm::enumerate(to)) {
    if (product == before && extent == from[dim] && extent > 1)
      return static_cast<int64_t>(d);
    product *= extent;
  }
  return std::nullopt;
}

std::optional<int64_t> zyx::fusion::findResultDim(Operation *op, int64_t dim) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  if (isa<CastOp>(op))
    return dim;
  if (isa<ExpandOp>(op))
    return shapeOf(operand)[dim] == shapeOf(result)[dim] ? std::optional(dim) : std::nullopt;
  if (auto permute = dyn_cast<PermuteOp>(op))
    return llvm::find(permute.getOrder(), dim) - permute.getOrder().begin();
  if (isa<ReshapeOp>(op))
    return findDim(shapeOf(operand), dim, shapeOf(result));
  return std::nullopt;
}

bool zyx::fusion::isZeroPad(PadOp pad) {
  auto fill = getViewSource(pad.getFill()).getDefiningOp<ConstantOp>();
  if (!fill || !fill.getValue().isSplat() || llvm::any_of(pad.getInterior(), [](int64_t count) { return count != 0; }))
    return false;
  auto type = cast<RankedTensorType>(pad.getFill().getType());
  return fill.getValue().resizeSplat(type) ==
         DenseElementsAttr::get(type, Builder(pad.getContext()).getZeroAttr(type.getElementType()));
}

Type zyx::fusion::getFactorType(Value factor) {
  while (isa_and_nonnull<CastOp, ExpandOp, PermuteOp, ReshapeOp>(factor.getDefiningOp()))
    factor = factor.getDefiningOp()->getOperand(0);
  return cast<RankedTensorType>(factor.getType()).getElementType();
}
