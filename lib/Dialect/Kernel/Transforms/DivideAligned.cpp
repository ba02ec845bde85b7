//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

namespace zyx::kernel {
#define GEN_PASS_DEF_DIVIDEALIGNEDPASS
#include "zyx/Dialect/Kernel/Transforms/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

std::optional<int64_t> numberOf(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)) || number.isNegative())
    return std::nullopt;
  return number.getSExtValue();
}

/// The largest number known to divide an index; 0 of zero, which all numbers divide, and 1 where nothing is known.
/// Of what is read backwards a term may be negative; sums and products of indices do not wrap.
int64_t alignmentOf(Value index, unsigned depth = 6) {
  if (std::optional<int64_t> number = numberOf(index))
    return *number;
  if (depth == 0)
    return 1;
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto grid = dyn_cast<GridOp>(parent))
      return grid.getSteps()[argument.getArgNumber()];
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (loop && loop.getInductionVar() == index)
      return std::gcd(alignmentOf(loop.getLowerBound(), depth - 1), alignmentOf(loop.getStep(), depth - 1));
    return 1;
  }
  Operation *op = index.getDefiningOp();
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return alignmentOf(op->getOperand(0), depth - 1);
  if (isa<arith::AddIOp, arith::RemUIOp>(op))
    return std::gcd(alignmentOf(op->getOperand(0), depth - 1), alignmentOf(op->getOperand(1), depth - 1));
  if (isa<arith::MulIOp>(op)) {
    int64_t product = 0;
    bool isTooLarge = llvm::MulOverflow(alignmentOf(op->getOperand(0), depth - 1),
                                        alignmentOf(op->getOperand(1), depth - 1), product);
    return isTooLarge ? 1 : product;
  }
  return 1;
}

/// Whether an index is known not to be negative, as a term of a sum is that is read backwards.
bool isNotNegative(Value index, unsigned depth = 6) {
  if (numberOf(index))
    return true;
  if (depth == 0)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    return isa<GridOp>(parent) ||
           (loop && loop.getInductionVar() == index && isNotNegative(loop.getLowerBound(), depth - 1));
  }
  Operation *op = index.getDefiningOp();
  return isa<arith::IndexCastOp, arith::AddIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isNotNegative(operand, depth - 1); });
}

/// `base` plus a number, of the type that the sum has.
struct Sum {
  Value base;
  int64_t number = 0;
};

Sum splitSum(Value value) {
  if (auto add = value.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> number = numberOf(add.getRhs()))
      return {add.getLhs(), *number};
  // Casts stand behind sums: one of the base is shared by all of them.
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>()) {
    Sum inner = splitSum(cast.getIn());
    if (inner.number == 0)
      return {value, 0};
    OpBuilder builder(cast);
    return {arith::IndexCastOp::create(builder, cast.getLoc(), value.getType(), inner.base), inner.number};
  }
  return {value, 0};
}

void divideAligned(Operation *op) {
  Value dividend = op->getOperand(0);
  std::optional<int64_t> divisor = numberOf(op->getOperand(1));
  if (!divisor || *divisor < 2 || !op->getResult(0).getType().isIntOrIndex())
    return;
  const Sum sum = splitSum(dividend);
  // Whole divisors add to the quotient alone, and what is less than the alignment to the remainder alone. Without its
  // whole divisors a sum may be negative where the base is, which divides otherwise.
  const int64_t unit = std::gcd(alignmentOf(sum.base), *divisor), rest = sum.number % unit;
  const int64_t whole = isNotNegative(sum.base) ? sum.number / *divisor : 0;
  const int64_t kept = sum.number - rest - whole * *divisor;
  const bool isQuotient = isa<arith::DivUIOp>(op), isKnown = !isQuotient && unit == *divisor;
  if (rest == 0 && whole == 0 && !isKnown)
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Type type = dividend.getType();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  };
  Value result;
  if (isKnown) {
    result = number(rest);
  } else {
    Value aligned = kept == 0 ? sum.base : arith::AddIOp::create(builder, loc, sum.base, number(kept)).getResult();
    result = isQuotient ? arith::DivUIOp::create(builder, loc, aligned, op->getOperand(1)).getResult()
                        : arith::RemUIOp::create(builder, loc, aligned, op->getOperand(1)).getResult();
    if (const int64_t added = isQuotient ? whole : rest)
      result = arith::AddIOp::create(builder, loc, result, number(added));
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

struct DivideAlignedPass : public zyx::kernel::impl::DivideAlignedPassBase<DivideAlignedPass> {
  void runOnOperation() override {
    SmallVector<Operation *> divisions;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::DivUIOp, arith::RemUIOp>(op))
        divisions.push_back(op);
    });
    llvm::for_each(divisions, divideAligned);
  }
};

} // namespace
