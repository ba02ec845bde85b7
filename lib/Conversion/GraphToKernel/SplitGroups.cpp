//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "OrderKernels.h"
#include "SplitViews.h"

#include "zyx/Conversion/GraphToKernel/GraphToKernel.h"
#include "zyx/Conversion/GraphToKernel/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

#include "llvm/ADT/SetVector.h"

namespace zyx {
#define GEN_PASS_DEF_SPLITGROUPSPASS
#include "zyx/Conversion/GraphToKernel/Passes.h.inc"
} // namespace zyx

using namespace mlir;
using namespace zyx::graph::ir;
using namespace zyx::lowering;

namespace {

using Slice = llvm::SetVector<Operation *>;

struct SplitGroupsPass : zyx::impl::SplitGroupsPassBase<SplitGroupsPass> {
  void runOnOperation() override;
};

} // namespace

/// Why a group is no kernel; empty where it is one.
static std::string findReason(GroupOp group) {
  OwningOpRef<GroupOp> copy;
  zyx::kernel::Refusal refusal;
  return analyseGroup(group, copy, refusal) ? std::string() : refusal.getText().str();
}

/// Where a group may be cut: at what it computes and then views or gathers from; without any at its
/// reductions.
static SmallVector<Value> findPlaces(GroupOp group) {
  GroupAxes axes(group);
  axes.findLeaves();
  llvm::SetVector<Value> viewed, reduced;
  for (Operation &op : group.getBlock().without_terminator()) {
    auto isRead = [&](OpOperand &use) { return use.getOwner() != group.getBlock().getTerminator(); };
    if (isa<ReduceOp>(op) && llvm::any_of(op.getUses(), isRead))
      reduced.insert(op.getResult(0));
    if (!isView(&op) && !isa<GatherOp>(op))
      continue;
    Value source = op.getOperand(0);
    if (!axes.getLeaf(source) && !axes.getSplat(source))
      viewed.insert(source);
  }
  return viewed.empty() ? reduced.takeVector() : viewed.takeVector();
}

/// The ops that `values` are computed by, up to `known`.
static Slice findSlice(ValueRange values, Value known) {
  Slice slice;
  SmallVector<Value> work(values);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (value != known && op && slice.insert(op))
      llvm::append_range(work, op->getOperands());
  }
  return slice;
}

GroupOp zyx::cloneIntoGroup(GroupOp group, Location loc, ArrayRef<Operation *> ops, ValueRange values,
                            ArrayRef<Value> reads, ValueRange inputs) {
  OpBuilder builder(group);
  auto part = GroupOp::create(builder, loc, TypeRange(values), inputs);
  Block &block = part.getBody().empty() ? part.getBody().emplaceBlock() : part.getBlock();
  IRMapping mapping;
  for (Value read : reads)
    mapping.map(read, block.addArgument(read.getType(), read.getLoc()));
  builder.setInsertionPointToEnd(&block);
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  YieldOp::create(builder, group.getLoc(),
                  llvm::map_to_vector(values, [&](Value value) { return mapping.lookup(value); }));
  return part;
}

/// A group of those ops of `group` that `values` need, in front of it; where the value of `known` is
/// already there it is `from`.
static GroupOp createPart(GroupOp group, ValueRange values, Value known, Value from) {
  Slice slice = findSlice(values, known);
  SmallVector<Operation *> ops = slice.takeVector();
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  llvm::SetVector<Value> reads;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (operand == known || isa<BlockArgument>(operand))
        reads.insert(operand);
  SmallVector<Value> inputs;
  for (Value read : reads)
    inputs.push_back(read == known ? from : group.getInputs()[cast<BlockArgument>(read).getArgNumber()]);
  return zyx::cloneIntoGroup(group, group.getLoc(), ops, values, reads.getArrayRef(), inputs);
}

/// Stores `value` by a group of its own, with all results that it needs anyway. Returns both groups.
static std::pair<GroupOp, GroupOp> cut(GroupOp group, Value value) {
  Slice before = findSlice(value, {});
  llvm::SetVector<Value> first, second;
  first.insert(value);
  OperandRange yielded = group.getBlock().getTerminator()->getOperands();
  for (Value result : yielded)
    (before.contains(result.getDefiningOp()) ? first : second).insert(result);
  GroupOp producer = createPart(group, first.getArrayRef(), {}, {});
  GroupOp consumer = createPart(group, second.getArrayRef(), value, producer.getResult(0));
  for (auto [result, inside] : llvm::zip_equal(group.getResults(), yielded)) {
    auto place = llvm::find(first, inside);
    if (place != first.end())
      result.replaceAllUsesWith(producer.getResult(place - first.begin()));
    else
      result.replaceAllUsesWith(consumer.getResult(llvm::find(second, inside) - second.begin()));
  }
  group.erase();
  return {producer, consumer};
}

void SplitGroupsPass::runOnOperation() {
  SmallVector<GroupOp> work;
  getOperation().walk([&](GroupOp group) {
    if (group.getBlock().getOperations().size() > 2 && !findOrderOp(group))
      work.push_back(group);
  });
  while (!work.empty()) {
    GroupOp group = work.pop_back_val();
    std::string reason = findReason(group);
    if (reason.empty())
      continue;
    // Without any it is refused when it is converted.
    SmallVector<Value> places = findPlaces(group);
    if (places.empty())
      continue;
    remark::missed(group.getLoc(), remark::RemarkOpts::name("SplitGroup").category("zyx-fusion"))
        << "two kernels instead of one: " + reason;
    auto [producer, consumer] = cut(group, places[places.size() / 2]);
    work.append({producer, consumer});
  }
}
