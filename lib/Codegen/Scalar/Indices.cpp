//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Indices as integers, in place.
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Scalar/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace zyx::kernel {

/// What a loop counts has 32 bits where all of it is from 0 below 2^31.
static void narrowCounter(scf::ForOp op) {
  const std::optional<int64_t> begin = getConstantIntValue(op.getLowerBound()),
                               end = getConstantIntValue(op.getUpperBound()), step = getConstantIntValue(op.getStep());
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  Value counter = op.getInductionVar();
  Type type = counter.getType();
  if (!begin || !end || !step || *begin < 0 || *end < 0 || *step < 0 || *step > most || *end > most - *step ||
      type.getIntOrFloatBitWidth() <= 32)
    return;
  OpBuilder b(op);
  auto narrow = [&](int64_t bound) { return arith::ConstantIntOp::create(b, op.getLoc(), bound, 32); };
  op.setLowerBound(narrow(*begin));
  op.setUpperBound(narrow(*end));
  op.setStep(narrow(*step));
  counter.setType(b.getI32Type());
  b.setInsertionPointToStart(op.getBody());
  Value wide = arith::ExtUIOp::create(b, op.getLoc(), type, counter);
  counter.replaceAllUsesExcept(wide, wide.getDefiningOp());
}

Value resize(OpBuilder &b, Location loc, Value value, Type type, bool isSigned) {
  const unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  return from == to  ? value
         : to < from ? b.createOrFold<arith::TruncIOp>(loc, type, value)
         : isSigned  ? b.createOrFold<arith::ExtSIOp>(loc, type, value)
                     : b.createOrFold<arith::ExtUIOp>(loc, type, value);
}

void lowerIndices(FunctionOpInterface body, unsigned bits) {
  Type integer = IntegerType::get(body->getContext(), bits);
  auto lower = [&](Value value) {
    if (value.getType().isIndex())
      value.setType(integer);
  };
  body->walk([&](Operation *op) {
    llvm::for_each(op->getResults(), lower);
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArguments(), lower);
    auto constant = dyn_cast<arith::ConstantOp>(op);
    auto value = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
    if (value && value.getType().isIndex())
      constant.setValueAttr(IntegerAttr::get(integer, value.getInt()));
  });
  body->walk(narrowCounter);
  body->walk([&](Operation *op) {
    if (!isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
      return;
    OpBuilder b(op);
    Value value = resize(b, op->getLoc(), op->getOperand(0), op->getResult(0).getType(), isa<arith::IndexCastOp>(op));
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  });
}

} // namespace zyx::kernel
