//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SplitViews.h"

#include "GroupAxes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

/// Views of views double the copies; nobody means thousands of them.
static constexpr size_t maxCopies = 4096;

/// The block argument or constant that a value is or is another name of: a reshape to the same type.
static Value getLeaf(Value value) {
  if (auto name = value.getDefiningOp<ReshapeOp>();
      name && name.getX().getType() == name.getResult().getType())
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

OwningOpRef<GroupOp> splitViews(GroupOp group) {
  OwningOpRef<GroupOp> copy(cast<GroupOp>(group->clone()));
  size_t count = 0;
  // Backwards, so that the views among the copies come next.
  for (Operation *op = &copy->getBlock().back(); op; op = op->getPrevNode()) {
    // A view of a leaf is a value of its own already, and so is the name of a leaf.
    if (op->use_empty() || !(isa<GatherOp>(op) || (isView(op) && !getLeaf(op->getOperand(0)))))
      continue;
    count += makePrivate(op->getOpOperand(0));
    if (count > maxCopies)
      return {};
  }
  return copy;
}

} // namespace zyx::lowering
