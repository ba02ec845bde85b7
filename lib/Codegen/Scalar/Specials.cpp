//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Scalar/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace zyx::kernel {

bool needsSpecials(FuncOp func) {
  const auto walked = func.walk([](Operation *op) {
    const auto isFloat = [](Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); };
    if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
        (llvm::none_of(op->getOperandTypes(), isFloat) && llvm::none_of(op->getResultTypes(), isFloat)))
      return WalkResult::advance();
    const auto isZero = [](Value value) { return matchPattern(value, m_AnyZeroFloat()); };
    FloatAttr number;
    const bool isLeft = matchPattern(op, m_Constant(&number))
                            ? number.getValue().isFinite() && !number.getValue().isNegative()
                            : isa<arith::AddFOp, arith::MulFOp, math::FmaOp, arith::ExtFOp>(op) &&
                                  !isSmallFloat(op->getResult(0).getType()) &&
                                  llvm::none_of(op->getOperands().take_front(2), isZero);
    return isLeft ? WalkResult::advance() : WalkResult::interrupt();
  });
  return walked.wasInterrupted();
}

} // namespace zyx::kernel
