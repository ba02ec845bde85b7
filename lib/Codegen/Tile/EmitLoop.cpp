//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/EmitLoop.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

SmallVector<Value> zyx::kernel::emitLoop(OpBuilder &builder, Location loc, Value from, Value to, Value by,
                                         ValueRange init,
                                         llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto made = scf::ForOp::create(builder, loc, from, to, by, init);
  OpBuilder::InsertionGuard guard(builder);
  // A loop that carries nothing has its terminator already.
  if (init.empty())
    builder.setInsertionPoint(made.getBody()->getTerminator());
  else
    builder.setInsertionPointToEnd(made.getBody());
  SmallVector<Value> next = body(made.getInductionVar(), made.getRegionIterArgs());
  if (!init.empty())
    scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(made.getResults());
}
