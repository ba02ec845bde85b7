//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Numbers along one dimension that are made of no input: tables, which are computed once.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Machine.h"
#include "Notes.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_STORETABLESPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

/// Fewer ops than these are computed as fast as a table is read.
static constexpr int64_t fewestOps = 4;
/// How often an element is read at least, and how many a table has at most.
static constexpr int64_t fewestReads = 16, mostElements = int64_t(1) << 16;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

static int64_t countElements(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

/// Whether elements differ along one dimension alone.
static bool isLine(Value value) {
  const int64_t count = countElements(value);
  return count > 1 && count <= mostElements && llvm::is_contained(shapeOf(value), count);
}

static void storeTables(Block &block) {
  // A loop would compute them in each of its trips.
  if (!isa<func::FuncOp>(block.getParentOp()))
    return;
  // Of values that are made of no input: how many ops compute one.
  llvm::DenseMap<Operation *, int64_t> made;
  auto isMade = [&](Value value) {
    Operation *source = getViewSource(value).getDefiningOp();
    return isa_and_nonnull<ConstantOp, IotaOp>(source) || made.contains(source);
  };
  for (Operation &op : block) {
    if (!isElementwise(&op) || !isLine(op.getResult(0)) || !llvm::all_of(op.getOperands(), isMade))
      continue;
    int64_t ops = 1;
    for (Value operand : op.getOperands())
      ops += made.lookup(getViewSource(operand).getDefiningOp());
    made[&op] = ops;
  }
  // Whether something that is made of inputs reads a value, each element many times.
  auto isReadOften = [&](Value value) {
    SmallVector<Value> work{value};
    while (!work.empty())
      for (Operation *user : work.pop_back_val().getUsers()) {
        if (user->getNumResults() != 1 || user->getNumRegions() != 0)
          continue;
        if (isView(user))
          work.push_back(user->getResult(0));
        else if (!made.contains(user) && countElements(user->getResult(0)) >= fewestReads * countElements(value))
          return true;
      }
    return false;
  };
  for (Operation &op : block)
    if (auto found = made.find(&op); found != made.end() && found->second >= fewestOps && isReadOften(op.getResult(0)))
      op.setAttr(zyx::fusion::tableAttrName, UnitAttr::get(op.getContext()));
}

namespace {

struct StoreTables : zyx::fusion::impl::StoreTablesPassBase<StoreTables> {
  void runOnOperation() override {
    // A thread of a card computes such a number faster than it reads one.
    if (zyx::fusion::getMachine(getOperation()).hasSubgroups())
      return;
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), storeTables)))
      signalPassFailure();
  }
};

} // namespace
