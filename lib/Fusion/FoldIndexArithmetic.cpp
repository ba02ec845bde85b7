//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Numbers that are counted along a dimension: those of rows and keys in masks, mostly.
//===----------------------------------------------------------------------===//
#include "Blocks.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_FOLDINDEXARITHMETICPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The number that an integer is everywhere, seen through views.
static std::optional<APInt> getNumber(Value value) {
  while (isIndexMap(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat() && isa<IntegerType>(typeOf(value).getElementType())
             ? std::optional(constant.getValue().getSplatValue<APInt>())
             : std::nullopt;
}

/// The operand that an op on integers gives back, or null.
static Value getUnchanged(BinaryOp op) {
  auto is = [](Value value, uint64_t number) {
    auto known = getNumber(value);
    // Sums of bools are no numbers.
    return known && known->getBitWidth() > 1 && *known == number;
  };
  switch (op.getKind()) {
  case BinaryKind::Add:
    return is(op.getB(), 0) ? op.getA() : is(op.getA(), 0) ? op.getB() : Value();
  case BinaryKind::Sub:
    return is(op.getB(), 0) ? op.getA() : Value();
  case BinaryKind::Mul:
    return is(op.getB(), 1) ? op.getA() : is(op.getA(), 1) ? op.getB() : Value();
  default:
    return {};
  }
}

/// Whether an integer type has all numbers from 0 to `most`.
static bool hasPlaces(Type element, int64_t most) {
  auto type = dyn_cast<IntegerType>(element);
  if (!type || type.getWidth() == 1)
    return false;
  return type.getWidth() - !type.isUnsigned() >= 63 || most < (int64_t(1) << (type.getWidth() - !type.isUnsigned()));
}

/// A cast of an iota counts in the other type at once.
static void castPlaces(CastOp op) {
  SmallVector<Operation *> views;
  Value source = op.getX();
  for (; isIndexMap(source.getDefiningOp()); source = source.getDefiningOp()->getOperand(0))
    views.push_back(source.getDefiningOp());
  auto iota = source.getDefiningOp<IotaOp>();
  Type element = typeOf(op.getResult()).getElementType();
  if (!iota)
    return;
  const int64_t most = typeOf(source).getDimSize(iota.getDim()) - 1;
  if (!hasPlaces(element, most) || !hasPlaces(typeOf(source).getElementType(), most))
    return;
  OpBuilder builder(op);
  Value made = IotaOp::create(builder, iota.getLoc(), typeOf(source).clone(element), iota.getDim());
  for (Operation *view : llvm::reverse(views)) {
    Operation *copy = builder.clone(*view);
    copy->setOperand(0, made);
    copy->getResult(0).setType(typeOf(view->getResult(0)).clone(element));
    made = copy->getResult(0);
  }
  op.getResult().replaceAllUsesWith(made);
}

static void foldIndexArithmetic(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto binary = dyn_cast<BinaryOp>(op)) {
      if (Value same = getUnchanged(binary))
        binary.getResult().replaceAllUsesWith(same);
    } else if (auto cast = dyn_cast<CastOp>(op)) {
      castPlaces(cast);
    } else if (auto iota = dyn_cast<IotaOp>(op)) {
      RankedTensorType type = typeOf(iota.getResult());
      if (type.getDimSize(iota.getDim()) != 1 || !isa<IntegerType>(type.getElementType()))
        continue;
      OpBuilder builder(&op);
      const APInt zero = APInt::getZero(type.getElementTypeBitWidth());
      iota.getResult().replaceAllUsesWith(
          ConstantOp::create(builder, iota.getLoc(), type, DenseElementsAttr::get(type, zero)).getResult());
    }
  }
}

namespace {

struct FoldIndexArithmetic : zyx::fusion::impl::FoldIndexArithmeticPassBase<FoldIndexArithmetic> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), foldIndexArithmetic)))
      signalPassFailure();
  }
};

} // namespace
