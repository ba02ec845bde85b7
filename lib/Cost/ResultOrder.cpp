//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Cost/ResultOrder.h"

#include "zyx/Dialect/Graph/Analysis/IterationSpace.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"

using namespace mlir;
using namespace zyx;
using namespace zyx::cost;
using namespace zyx::graph::ir;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

ResultOrder ResultOrder::withLast(OpResult result, int64_t dim) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(result).getRank()));
  order.erase(order.begin() + dim);
  order.push_back(dim);
  return ResultOrder(result, order);
}

void ResultOrder::apply() {
  auto group = cast<GroupOp>(result.getOwner());
  Operation *yield = group.getBlock().getTerminator();
  OpBuilder builder(yield);
  before = result.getType();
  auto stored = PermuteOp::create(builder, yield->getLoc(), yield->getOperand(result.getResultNumber()), order);
  yield->setOperand(result.getResultNumber(), stored);
  result.setType(stored.getType());
  made.push_back(stored);
  SmallVector<int64_t> back(order.size());
  for (auto [to, from] : llvm::enumerate(order))
    back[from] = static_cast<int64_t>(to);
  for (OpOperand &use : result.getUses()) {
    Block &reader = cast<GroupOp>(use.getOwner()).getBlock();
    BlockArgument argument = reader.getArgument(use.getOperandNumber());
    argument.setType(stored.getType());
    builder.setInsertionPointToStart(&reader);
    auto shown = PermuteOp::create(builder, argument.getLoc(), argument, back);
    argument.replaceAllUsesExcept(shown, shown);
    made.push_back(shown);
  }
}

void ResultOrder::revert() {
  for (PermuteOp permute : made) {
    permute.getResult().replaceAllUsesWith(permute.getX());
    if (auto argument = dyn_cast<BlockArgument>(permute.getX()); argument && permute != made.front())
      argument.setType(before);
    permute.erase();
  }
  result.setType(before);
  made.clear();
}

bool zyx::cost::hasOwnOrder(GroupOp group) {
  if (llvm::any_of(group.getBlock(), [](Operation &op) { return isOrderOp(&op); }))
    return true;
  Result<IterationSpace> space = IterationSpace::compute(group);
  return !space.isOk() || space->getAttention() || space->chainsProducts() || space->getRowAndColumnReductions();
}

llvm::SetVector<OpResult> zyx::cost::findMovableResults(Block &block) {
  llvm::SetVector<OpResult> results;
  llvm::DenseMap<Operation *, bool> own;
  auto isPlain = [&](Operation *op) {
    auto group = dyn_cast<GroupOp>(op);
    if (!group || group->getBlock() != &block)
      return false;
    auto [place, isNew] = own.try_emplace(op, false);
    if (isNew)
      place->second = hasOwnOrder(group);
    return !place->second;
  };
  for (auto group : block.getOps<GroupOp>())
    for (OpResult result : group->getResults()) {
      const auto numDims = llvm::count_if(typeOf(result).getShape(), [](int64_t extent) { return extent != 1; });
      if (numDims > 2 && !result.use_empty() && typeOf(result).getNumElements() != 0 && isPlain(group) &&
          llvm::all_of(result.getUsers(), isPlain))
        results.insert(result);
    }
  return results;
}
