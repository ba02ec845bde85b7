//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Cost/CutGroup.h"

#include "zyx/Conversion/GraphToKernel/GraphToKernel.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace zyx::cost;
using namespace zyx::graph::ir;

using Slice = llvm::SetVector<Operation *>;
using Known = llvm::DenseMap<Value, Value>;

/// The ops that `values` are computed by, up to what is known.
static Slice findSlice(ArrayRef<Value> values, const Known &known) {
  Slice slice;
  SmallVector<Value> work(values);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (Operation *op = value.getDefiningOp(); op && !known.contains(value) && slice.insert(op))
      llvm::append_range(work, op->getOperands());
  }
  return slice;
}

static bool isComputing(Operation *op) { return !isView(op) && !isa<ConstantOp, IotaOp>(op); }

void GroupCut::create(ArrayRef<Value> values) {
  SmallVector<Operation *> ops = findSlice(values, outside).takeVector();
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  llvm::SetVector<Value> reads;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (outside.contains(operand))
        reads.insert(operand);
  SmallVector<Value> inputs = llvm::map_to_vector(reads, [&](Value read) { return outside.lookup(read); });
  GroupOp part = zyx::cloneIntoGroup(group, values.front().getLoc(), ops, values, reads.getArrayRef(), inputs);
  for (auto [value, result] : llvm::zip_equal(values, part.getResults()))
    outside[value] = result;
  parts.push_back(part);
}

GroupCut::GroupCut(GroupOp group, ArrayRef<Value> stored) : group(group) {
  for (auto [argument, input] : llvm::zip_equal(group.getBlock().getArguments(), group.getInputs()))
    outside[argument] = input;
  SmallVector<Value> order(stored);
  llvm::sort(order, [](Value a, Value b) { return a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp()); });
  llvm::SetVector<Value> results;
  results.insert_range(group.getBlock().getTerminator()->getOperands());
  for (Value value : order) {
    if (outside.contains(value))
      continue;
    if (Value known = findStored(group, value)) {
      outside[value] = known;
      continue;
    }
    // Results on the way to it are there anyway.
    const Slice slice = findSlice({value}, outside);
    SmallVector<Value> own{value};
    for (Value result : results)
      if (result != value && !outside.contains(result) && slice.contains(result.getDefiningOp()))
        own.push_back(result);
    create(own);
  }
  // Results that have no op in common are no group.
  SmallVector<std::pair<Slice, SmallVector<Value>>> rest;
  for (Value result : results) {
    if (outside.contains(result))
      continue;
    std::pair<Slice, SmallVector<Value>> own{findSlice({result}, outside), {result}};
    for (auto &other : llvm::make_early_inc_range(rest))
      if (llvm::any_of(own.first, [&](Operation *op) { return isComputing(op) && other.first.contains(op); })) {
        own.first.insert_range(other.first);
        llvm::append_range(own.second, std::exchange(other.second, {}));
        other.first.clear();
      }
    llvm::erase_if(rest, [](const auto &other) { return other.second.empty(); });
    rest.push_back(std::move(own));
  }
  for (auto &[slice, values] : rest)
    create(values);
}

GroupCut::~GroupCut() {
  for (GroupOp part : llvm::reverse(parts))
    part.erase();
}

SmallVector<GroupOp> GroupCut::apply() {
  for (auto [result, inside] : llvm::zip_equal(group.getResults(), group.getBlock().getTerminator()->getOperands()))
    result.replaceAllUsesWith(outside.lookup(inside));
  group.erase();
  return std::exchange(parts, {});
}

//===----------------------------------------------------------------------===//
// What is stored already
//===----------------------------------------------------------------------===//

/// Whether a value of one group is the same as one of another, of the same inputs.
static bool isSame(Value a, GroupOp of, Value b, GroupOp in, int depth) {
  auto first = dyn_cast<BlockArgument>(a), second = dyn_cast<BlockArgument>(b);
  if (first || second)
    return first && second && of.getInputs()[first.getArgNumber()] == in.getInputs()[second.getArgNumber()];
  Operation *one = a.getDefiningOp(), *other = b.getDefiningOp();
  if (depth == 0 || one->getName() != other->getName() || a.getType() != b.getType() || one->getNumRegions() != 0 ||
      one->getDiscardableAttrDictionary() != other->getDiscardableAttrDictionary() ||
      one->getPropertiesAsAttribute() != other->getPropertiesAsAttribute() ||
      one->getNumOperands() != other->getNumOperands())
    return false;
  return llvm::all_of(llvm::zip_equal(one->getOperands(), other->getOperands()),
                      [&](auto pair) { return isSame(std::get<0>(pair), of, std::get<1>(pair), in, depth - 1); });
}

Value zyx::cost::findStored(GroupOp group, Value value) {
  // Only groups that read what it is made of come into question.
  constexpr int mostOps = 32;
  const Slice slice = findSlice({value}, Known());
  for (Value argument : group.getBlock().getArguments()) {
    if (llvm::none_of(argument.getUsers(), [&](Operation *user) { return slice.contains(user); }))
      continue;
    Value input = group.getInputs()[cast<BlockArgument>(argument).getArgNumber()];
    for (Operation *user : input.getUsers()) {
      auto other = dyn_cast<GroupOp>(user);
      if (!other || other == group || other->getBlock() != group->getBlock() || !other->isBeforeInBlock(group))
        continue;
      for (auto [result, inside] : llvm::zip_equal(other.getResults(), other.getBlock().getTerminator()->getOperands()))
        if (result.getType() == value.getType() && isSame(value, group, inside, other, mostOps))
          return result;
    }
    break;
  }
  return {};
}
