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

static int64_t divisorOf(Value index, unsigned depth) {
  if (depth-- == 0)
    return 1;
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return divisorOfNumber(*constant);
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto grid = dyn_cast_or_null<zyx::kernel::GridOp>(parent))
      return divisorOfNumber(grid.getSteps()[argument.getArgNumber()]);
    auto loop = dyn_cast_or_null<scf::ForOp>(parent);
    if (!loop || argument != loop.getInductionVar())
      return 1;
    return std::min(divisorOf(loop.getLowerBound(), depth), divisorOf(loop.getStep(), depth));
  }
  Operation *op = index.getDefiningOp();
  if (isa<arith::MulIOp>(op))
    return std::min(mostDivisor, divisorOf(op->getOperand(0), depth) * divisorOf(op->getOperand(1), depth));
  // The rest of a division by a multiple keeps what both are multiples of.
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinUIOp, arith::MinSIOp, arith::MaxSIOp, arith::RemUIOp>(op))
    return std::min(divisorOf(op->getOperand(0), depth), divisorOf(op->getOperand(1), depth));
  // Divisors are powers of two: the bits that are zero stay.
  if (isa<arith::IndexCastOp>(op))
    return divisorOf(op->getOperand(0), depth);
  if (isa<arith::SelectOp>(op))
    return std::min(divisorOf(op->getOperand(1), depth), divisorOf(op->getOperand(2), depth));
  return 1;
}

int64_t zyx::kernel::knownDivisor(Value index) { return divisorOf(index, /*depth=*/20); }
