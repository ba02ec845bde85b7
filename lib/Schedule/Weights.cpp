//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Schedule/Weights.h"

using namespace mlir;

bool zyx::schedule::readWeights(ArrayRef<plan::LaunchOp> launches, unsigned at) {
  return !launches.empty() && llvm::all_of(launches, [&](plan::LaunchOp launch) {
    if (launch->getParentOfType<plan::InitOp>() || at >= launch.getIns().size())
      return false;
    Value weight = launch.getIns()[at];
    if (auto alloc = weight.getDefiningOp<plan::AllocOp>())
      return alloc.getKept();
    auto argument = dyn_cast<BlockArgument>(weight);
    return argument && launch->getParentOfType<plan::FuncOp>().isWeight(argument.getArgNumber());
  });
}

zyx::plan::InitOp zyx::schedule::initOf(plan::FuncOp plan, Location loc) {
  if (plan::InitOp init = plan.getInit())
    return init;
  OpBuilder builder(plan.getContext());
  builder.setInsertionPointToStart(&plan.getBody().front());
  auto init = plan::InitOp::create(builder, loc);
  builder.setInsertionPointToEnd(&init.getBody().emplaceBlock());
  plan::ReturnOp::create(builder, loc);
  return init;
}
