//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GPUInstructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

void zyx::kernel::lowerPowers(LLVM::LLVMFuncOp func, StringRef intrinsic) {
  func.walk([&](math::Exp2Op power) {
    if (!getElementTypeOrSelf(power.getType()).isF32() ||
        !bitEnumContainsAll(power.getFastmath(), arith::FastMathFlags::afn))
      return;
    OpBuilder builder(power);
    Location loc = power.getLoc();
    auto take = [&](Value x) -> Value {
      StringAttr name = builder.getStringAttr(intrinsic);
      return LLVM::CallIntrinsicOp::create(builder, loc, x.getType(), name, x).getResult(0);
    };
    Value x = power.getOperand();
    Value result;
    if (auto type = dyn_cast<VectorType>(x.getType())) {
      SmallVector<Value> lanes;
      for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
        lanes.push_back(take(vector::ExtractOp::create(builder, loc, x, lane)));
      result = vector::FromElementsOp::create(builder, loc, type, lanes);
    } else {
      result = take(x);
    }
    power.replaceAllUsesWith(result);
    power.erase();
  });
}
