//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Divisor.h"

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <algorithm>

using namespace mlir;

static constexpr int64_t mostDivisor = 4096;

static int64_t divisorOfNumber(int64_t number) {
  return number == 0 ? mostDivisor : std::min(mostDivisor, number & -number);
}

/// Visits at most so many values: sums of sums may share terms.
static int64_t divisorOf(Value index, unsigned &visits) {
  if (visits == 0)
    return 1;
  --visits;
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return divisorOfNumber(*constant);
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto grid = dyn_cast_or_null<zyx::kernel::GridOp>(parent))
      return divisorOfNumber(grid.getSteps()[argument.getArgNumber()]);
    auto loop = dyn_cast_or_null<scf::ForOp>(parent);
    if (!loop || argument != loop.getInductionVar())
      return 1;
    const int64_t first = divisorOf(loop.getLowerBound(), visits);
    return std::min(first, divisorOf(loop.getStep(), visits));
  }
  Operation *op = index.getDefiningOp();
  // One after the other: what is left of the visits goes to the second.
  auto ofBoth = [&](unsigned first, unsigned second) {
    const int64_t a = divisorOf(op->getOperand(first), visits);
    return std::pair(a, divisorOf(op->getOperand(second), visits));
  };
  auto leastOf = [&](unsigned first, unsigned second) {
    const auto [a, b] = ofBoth(first, second);
    return std::min(a, b);
  };
  if (isa<arith::MulIOp>(op)) {
    const auto [a, b] = ofBoth(0, 1);
    return std::min(mostDivisor, a * b);
  }
  // A number without its rest is a multiple of what it was divided by.
  if (auto whole = dyn_cast<arith::SubIOp>(op))
    if (auto rest = whole.getRhs().getDefiningOp<arith::RemUIOp>(); rest && rest.getLhs() == whole.getLhs())
      return std::max(leastOf(0, 1), divisorOf(rest.getRhs(), visits));
  // The rest of a division by a multiple keeps what both are multiples of.
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinUIOp, arith::MinSIOp, arith::MaxSIOp, arith::RemUIOp>(op))
    return leastOf(0, 1);
  // Divisors are powers of two: the bits that are zero stay.
  if (isa<arith::IndexCastOp>(op))
    return divisorOf(op->getOperand(0), visits);
  if (isa<arith::SelectOp>(op))
    return leastOf(1, 2);
  return 1;
}

int64_t zyx::kernel::knownDivisor(Value index) {
  unsigned visits = 256;
  return divisorOf(index, visits);
}
