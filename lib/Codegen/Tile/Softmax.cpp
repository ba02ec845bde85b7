//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/Softmax.h"

#include <limits>

using namespace mlir;
using namespace zyx::kernel;

/// Steps over conversions to a wider type, and tells whether there was one; `throughMemory`, over those to memory, too.
static Value skipWidening(Value tile, bool throughMemory, bool &widens) {
  while (Operation *op = tile.getDefiningOp()) {
    if (isa<arith::ExtFOp>(op))
      widens = true;
    else if (!throughMemory || !isa<ConvertOp>(op))
      break;
    tile = op->getOperand(0);
  }
  return tile;
}

/// Whether an op shows the same elements under other dimensions.
static bool isRenaming(Operation *op) {
  return isa_and_nonnull<BroadcastOp, TransposeOp, ReshapeOp>(op) ||
         (isa_and_nonnull<ConvertOp>(op) && !cast<RankedTensorType>(op->getResult(0).getType()).getEncoding());
}

std::optional<SoftmaxExponential> zyx::kernel::matchSoftmaxExponential(math::ExpOp exp, bool throughMemory) {
  SoftmaxExponential found;
  found.exp = exp;
  found.distance = skipWidening(exp.getOperand(), throughMemory, found.widensDistance).getDefiningOp<arith::SubFOp>();
  if (!found.distance)
    return std::nullopt;
  Value row = skipWidening(found.distance.getRhs(), throughMemory, found.widensElements);
  auto spread = row.getDefiningOp<BroadcastOp>();
  while (isRenaming(row.getDefiningOp()))
    row = row.getDefiningOp()->getOperand(0);
  row = skipWidening(row, throughMemory, found.widensElements);
  found.max = row.getDefiningOp<ReduceOp>();
  if (!found.max || found.max.getKind() != Combine::Max)
    return std::nullopt;
  if (found.distance.getLhs() != found.max.getInput()) {
    found.widensElements = true;
    bool ignored = false;
    if (skipWidening(found.distance.getLhs(), throughMemory, ignored) !=
        skipWidening(found.max.getInput(), throughMemory, ignored))
      return std::nullopt;
  }
  SmallVector<int64_t> kept;
  for (int64_t dim = 0, rank = cast<RankedTensorType>(found.max.getInput().getType()).getRank(); dim < rank; ++dim)
    if (!llvm::is_contained(found.max.getDims(), dim))
      kept.push_back(dim);
  bool ignored = false;
  found.isBroadcast = spread && llvm::equal(kept, spread.getDims()) &&
                      skipWidening(spread.getInput(), throughMemory, ignored) == found.max.getResult();
  return found;
}

Value zyx::kernel::emitNumber(OpBuilder &builder, Location loc, Type type, double number) {
  auto element = builder.getFloatAttr(getElementTypeOrSelf(type), number);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(shaped, Attribute(element)));
  return arith::ConstantOp::create(builder, loc, element);
}

Value zyx::kernel::emitSoftmaxBase(OpBuilder &builder, Location loc, Value max) {
  Value none = emitNumber(builder, loc, max.getType(), -std::numeric_limits<double>::infinity());
  Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, max, none);
  return arith::SelectOp::create(builder, loc, isNone, emitNumber(builder, loc, max.getType(), 0), max);
}

Value zyx::kernel::emitSoftmaxExponential(OpBuilder &builder, Location loc, Value distance) {
  auto exponential = math::ExpOp::create(builder, loc, distance);
  exponential->setAttr(nonpositiveAttrName, builder.getUnitAttr());
  return exponential;
}
