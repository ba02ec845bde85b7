//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "StageCarried.h"

#include "zyx/Codegen/Tile/Axes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace zyx::kernel;

/// Whether nothing but the dot reads a tile that a loop carries, and adds to it element by element:
/// then its result may take the tile's place.
static bool isAccumulator(Value carried, DotOp dot) {
  if (!dot || !dot.getResult().hasOneUse())
    return false;
  while (carried.hasOneUse()) {
    Operation *user = *carried.user_begin();
    if (user == dot)
      return carried == dot.getAcc();
    if (!isElementwise(user))
      return false;
    carried = user->getResult(0);
  }
  return false;
}

/// Puts a tile into memory of its own in front of the operand's owner.
static void keep(OpOperand &operand, Space space) {
  OpBuilder builder(operand.getOwner());
  Location loc = operand.get().getLoc();
  auto type = cast<RankedTensorType>(operand.get().getType());
  auto memory = MemoryAttr::get(builder.getContext(), space);
  Value kept = ConvertOp::create(builder, loc, RankedTensorType::get(type.getShape(), type.getElementType(), memory),
                                 operand.get());
  operand.set(ConvertOp::create(builder, loc, type, kept));
}

void zyx::kernel::stageCarried(FuncOp func) {
  const Space space = spaceOfTiles(func);
  func.walk([&](scf::ForOp loop) {
    for (OpOperand &init : loop.getInitArgsMutable())
      if (isTile(init.get()) && !(init.get().getDefiningOp<scf::ForOp>() && init.get().hasOneUse()))
        keep(init, space);
    for (auto [carried, yielded] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOpOperands()))
      if (isTile(carried) && !isAccumulator(carried, yielded.get().getDefiningOp<DotOp>()))
        keep(yielded, space);
  });
}
