//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Scalar/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;

namespace zyx::kernel {

static Value numberOf(OpBuilder &b, Location loc, IdKind kind) {
  if (kind == IdKind::Lane)
    return gpu::LaneIdOp::create(b, loc, IntegerAttr());
  if (kind == IdKind::Subgroup)
    return gpu::SubgroupIdOp::create(b, loc, IntegerAttr());
  return gpu::NumSubgroupsOp::create(b, loc, IntegerAttr());
}

void lowerSubgroups(FunctionOpInterface body) {
  body->walk([](Operation *op) {
    OpBuilder b(op);
    Value made;
    if (auto id = dyn_cast<IdOp>(op); id && id.getKind() >= IdKind::Lane) {
      made = numberOf(b, op->getLoc(), id.getKind());
      if (!id.getType().isIndex())
        made = arith::IndexCastUIOp::create(b, op->getLoc(), id.getType(), made);
    } else if (auto combine = dyn_cast<SubgroupReduceOp>(op)) {
      using enum gpu::AllReduceOperation;
      made = gpu::SubgroupReduceOp::create(b, op->getLoc(), combine.getValue(),
                                           combine.getKind() == Combine::Add ? ADD : MAXUI, /*uniform=*/false);
    } else {
      return;
    }
    op->getResult(0).replaceAllUsesWith(made);
    op->erase();
  });
}

} // namespace zyx::kernel
