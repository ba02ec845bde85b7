//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SplitViews.h"

#include "zyx/Dialect/Graph/Analysis/IterationSpace.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

/// Views of views double the copies; nobody means thousands of them.
static constexpr size_t maxCopies = 4096;

/// The block argument or constant that a value is or is another name of: a reshape to the same type.
static Value getLeaf(Value value) {
  if (auto name = value.getDefiningOp<ReshapeOp>(); name && name.getX().getType() == name.getResult().getType())
    return getLeaf(name.getX());
  Operation *op = value.getDefiningOp();
  return !op || isa<ConstantOp>(op) ? value : Value();
}

/// Copies everything that `operand` is computed from, in front of its owner; leaves get new names.
/// Returns the number of ops that were made.
static size_t makePrivate(OpOperand &operand) {
  Operation *owner = operand.getOwner();
  OpBuilder builder(owner);
  IRMapping copies;
  DenseMap<Value, Value> names;
  llvm::SetVector<Operation *> slice;
  SmallVector<Value> work = {operand.get()};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (Value leaf = getLeaf(value)) {
      // Without dimensions it ties none to others, and a pad knows its fill.
      if (cast<RankedTensorType>(leaf.getType()).getRank() == 0)
        continue;
      Value &name = names[leaf];
      if (!name)
        name = ReshapeOp::create(builder, owner->getLoc(), leaf.getType(), leaf);
      copies.map(value, name);
    } else if (slice.insert(value.getDefiningOp())) {
      llvm::append_range(work, value.getDefiningOp()->getOperands());
    }
  }
  SmallVector<Operation *> ops = slice.takeVector();
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ops)
    builder.clone(*op, copies);
  operand.set(copies.lookup(operand.get()));
  return names.size() + ops.size();
}

/// Null where there would be too many copies.
static OwningOpRef<GroupOp> splitViews(GroupOp group) {
  OwningOpRef<GroupOp> copy(cast<GroupOp>(group->clone()));
  size_t count = 0;
  // Backwards, so that the views among the copies come next.
  for (Operation *op = &copy->getBlock().back(); op; op = op->getPrevNode()) {
    // Two readers of one view need not walk along the same axes.
    if (isView(op) && !op->use_empty()) {
      OpBuilder builder(op);
      SmallVector<OpOperand *> uses(llvm::make_pointer_range(op->getResult(0).getUses()));
      for (OpOperand *use : llvm::drop_begin(uses)) {
        use->set(builder.clone(*op)->getResult(0));
        ++count;
      }
    }
    // A view of a leaf is a value of its own already, and so is the name of a leaf.
    if (op->use_empty() || !(isa<GatherOp>(op) || (isView(op) && !getLeaf(op->getOperand(0)))))
      continue;
    count += makePrivate(op->getOpOperand(0));
    if (count > maxCopies)
      return {};
  }
  return copy;
}

/// Whether products of a group are made of other products' sums.
static bool hasContractionChain(GroupOp group) {
  auto isProduct = [](ReduceOp op) { return matchContraction(op).has_value(); };
  if (llvm::count_if(group.getBlock().getOps<ReduceOp>(), isProduct) < 2)
    return false;
  zyx::Result<IterationSpace> space = IterationSpace::compute(group);
  return space.isOk() && space->chainsProducts();
}

/// A copy in which every op has what it reads of an argument for itself: features that a chain's product sums
/// up are other axes than those of its results, though both are read from one argument.
static OwningOpRef<GroupOp> nameLeaves(GroupOp group) {
  OwningOpRef<GroupOp> copy(cast<GroupOp>(group->clone()));
  for (BlockArgument argument : copy->getBlock().getArguments()) {
    SmallVector<OpOperand *> uses(llvm::make_pointer_range(argument.getUses()));
    for (OpOperand *use : uses) {
      OpBuilder builder(use->getOwner());
      if (isElementwise(use->getOwner()))
        use->set(ReshapeOp::create(builder, use->getOwner()->getLoc(), argument.getType(), argument));
    }
  }
  return copy;
}

std::unique_ptr<GroupAxes> analyseGroup(GroupOp group, OwningOpRef<GroupOp> &copy, kernel::Refusal &refusal,
                                        int64_t packedLanes, int64_t tapSums, bool copiesWindows) {
  Operation *conflict = nullptr;
  if (hasContractionChain(group))
    copy = nameLeaves(group);
  auto axes = std::make_unique<GroupAxes>(copy ? *copy : group, packedLanes, tapSums, copiesWindows);
  if (succeeded(axes->analyse(conflict, refusal)))
    return axes;
  if (!conflict)
    return nullptr;
  OwningOpRef<GroupOp> split = splitViews(group);
  if (!split) {
    refusal.at(conflict) << "needs too many copies of what its group computes: views of it meet along different axes";
    return nullptr;
  }
  copy = std::move(split);
  axes = std::make_unique<GroupAxes>(*copy, packedLanes, tapSums, copiesWindows);
  if (succeeded(axes->analyse(conflict, refusal)))
    return axes;
  if (conflict)
    refusal.at(conflict) << "needs a value along two of its axes at once";
  return nullptr;
}

} // namespace zyx::lowering
