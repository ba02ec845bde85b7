//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GroupGraph.h"
#include "GroupRules.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"

#include <set>

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Status;
using zyx::search::GroupGraph;

/// A value is computed again where its slice has at most this many ops, this many of them
/// transcendental, and reads at most this many times the bytes that it saves.
static constexpr unsigned maxClonedOps = 8, maxClonedTranscendentals = 1;
static constexpr int64_t maxReadFactor = 2;

static bool isLeaf(Operation *op) { return isa<ConstantOp, IotaOp, ParameterOp>(op); }

GroupGraph::GroupGraph(func::FuncOp entry) {
  Block &block = entry.getBody().front();
  for (Value value : block.getTerminator()->getOperands())
    if (Operation *op = value.getDefiningOp(); op && !isa<ParameterOp>(op))
      returned.insert(op);
  for (Operation &op : block.without_terminator()) {
    if ((isLeaf(&op) || isView(&op)) && !returned.contains(&op))
      continue;
    GroupId group = ops.size();
    positions[&op] = group;
    homes[&op] = group;
    holders[&op].push_back(group);
    members.emplace_back().insert(&op);
    ops.push_back(&op);
    for (Value operand : op.getOperands()) {
      Operation *source = getViewSource(operand).getDefiningOp();
      if (!source || isLeaf(source) || llvm::is_contained(producers[&op], source))
        continue;
      producers[&op].push_back(source);
      consumers[source].push_back(&op);
    }
  }
}

ArrayRef<Operation *> GroupGraph::getProducers(Operation *op) const {
  auto found = producers.find(op);
  return found == producers.end() ? ArrayRef<Operation *>() : ArrayRef(found->second);
}

ArrayRef<Operation *> GroupGraph::getConsumers(Operation *op) const {
  auto found = consumers.find(op);
  return found == consumers.end() ? ArrayRef<Operation *>() : ArrayRef(found->second);
}

/// Somebody reads the op who has no copy of it.
bool GroupGraph::isStored(Operation *op) const {
  return returned.contains(op) || llvm::any_of(getConsumers(op), [&](Operation *consumer) {
           return llvm::any_of(holders.find(consumer)->second, [&](GroupId holder) {
             return !members[holder].contains(op);
           });
         });
}

SmallVector<Value> GroupGraph::getOutputs(GroupId group) const {
  SmallVector<Value> outputs;
  for (Operation *op : members[group])
    if (getHome(op) == group && isStored(op))
      outputs.push_back(op->getResult(0));
  return outputs;
}

GroupGraph::Ops GroupGraph::unite(const Ops &first, const Ops &second) const {
  SmallVector<Operation *> all(first.begin(), first.end());
  all.append(second.begin(), second.end());
  llvm::sort(all, [&](Operation *a, Operation *b) {
    return positions.lookup(a) < positions.lookup(b);
  });
  return Ops(all.begin(), all.end());
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// Whether a path leads from one group to the other over a third.
bool GroupGraph::reachesAround(GroupId from, GroupId to) const {
  llvm::DenseSet<GroupId> seen{from};
  SmallVector<GroupId> pending{from};
  while (!pending.empty()) {
    GroupId group = pending.pop_back_val();
    for (Operation *op : members[group])
      for (Operation *consumer : getConsumers(op)) {
        GroupId next = getHome(consumer);
        if (next == to && group != from)
          return true;
        if (next != to && seen.insert(next).second)
          pending.push_back(next);
      }
  }
  return false;
}

Status GroupGraph::checkMerge(GroupId first, GroupId second) const {
  Ops all = unite(members[first], members[second]);
  SmallVector<Value> outputs;
  for (Operation *op : all)
    if (returned.contains(op) || !llvm::all_of(getConsumers(op), [&](Operation *consumer) {
          return all.contains(consumer);
        }))
      outputs.push_back(op->getResult(0));
  ZYX_RETURN_IF_ERROR(checkGroup(all, outputs));
  if (reachesAround(first, second) || reachesAround(second, first))
    return Status::unsupported("another kernel lies between them");
  return Status::ok();
}

void GroupGraph::merge(GroupId first, GroupId second) {
  members[first] = unite(members[first], members[second]);
  for (Operation *op : members[second]) {
    homes[op] = first;
    holders[op] = {first};
  }
  members[second].clear();
}

//===----------------------------------------------------------------------===//
// Cloning
//===----------------------------------------------------------------------===//

static int64_t bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * zyx::byteSize(*toDType(type.getElementType()));
}

Status GroupGraph::check(GroupId group) const {
  return checkGroup(members[group], getOutputs(group));
}

bool GroupGraph::tryClone(Operation *root, GroupId into) {
  if (!isElementwise(root) || returned.contains(root) || members[into].contains(root))
    return false;
  int64_t saved = bytesOf(root->getResult(0));
  Ops slice, frontier;
  SmallVector<Operation *> unstored{root};
  // Grow the slice until what it reads is stored anyway, or takes less than its root.
  while (true) {
    for (Operation *op : unstored)
      if (!isElementwise(op) || !slice.insert(op))
        return false;
    if (slice.size() > maxClonedOps ||
        llvm::count_if(slice, isTranscendental) > maxClonedTranscendentals)
      return false;
    unstored.clear();
    frontier.clear();
    int64_t newlyStored = 0;
    for (Operation *op : slice)
      for (Operation *producer : getProducers(op)) {
        if (slice.contains(producer) || members[into].contains(producer) ||
            !frontier.insert(producer) || isStored(producer))
          continue;
        newlyStored += bytesOf(producer->getResult(0));
        unstored.push_back(producer);
      }
    if (newlyStored < saved)
      break;
  }
  llvm::SmallSetVector<Value, 4> sources;
  for (Operation *op : slice)
    for (Value operand : op->getOperands())
      if (Value source = getViewSource(operand);
          !source.getDefiningOp() || isa<ParameterOp>(source.getDefiningOp()) ||
          frontier.contains(source.getDefiningOp()))
        sources.insert(source);
  int64_t read = 0;
  for (Value source : sources)
    read += bytesOf(source);
  if (read > saved * maxReadFactor)
    return false;

  Ops before = members[into];
  members[into] = unite(members[into], slice);
  for (Operation *op : slice)
    holders[op].push_back(into);
  // What was inside of a group may have to leave it now.
  bool isGood = check(into).isOk() && llvm::all_of(frontier, [&](Operation *op) {
    return check(getHome(op)).isOk();
  });
  if (isGood)
    return true;
  members[into] = std::move(before);
  for (Operation *op : slice)
    holders[op].pop_back();
  return false;
}

void GroupGraph::removeUnused() {
  bool changed = true;
  while (std::exchange(changed, false))
    for (GroupId group = 0; group < members.size(); ++group) {
      llvm::DenseSet<Operation *> used;
      for (Value output : getOutputs(group))
        used.insert(output.getDefiningOp());
      for (Operation *op : llvm::reverse(members[group].getArrayRef()))
        if (used.contains(op))
          used.insert_range(getProducers(op));
      SmallVector<Operation *> unused;
      for (Operation *op : members[group])
        if (!used.contains(op))
          unused.push_back(op);
      for (Operation *op : unused) {
        members[group].remove(op);
        llvm::erase(holders[op], group);
        changed = true;
      }
    }
}

SmallVector<GroupGraph::GroupId> GroupGraph::sort() const {
  llvm::DenseMap<GroupId, llvm::DenseSet<GroupId>> waitsFor, waiters;
  // Where the order is free, it is that of the first members in the block.
  std::set<std::pair<unsigned, GroupId>> ready;
  auto makeReady = [&](GroupId group) {
    ready.insert({positions.lookup(members[group].front()), group});
  };
  for (GroupId group = 0; group < members.size(); ++group) {
    for (Operation *op : members[group])
      for (Operation *producer : getProducers(op))
        if (!members[group].contains(producer)) {
          waitsFor[group].insert(getHome(producer));
          waiters[getHome(producer)].insert(group);
        }
    if (!members[group].empty() && !waitsFor.contains(group))
      makeReady(group);
  }
  SmallVector<GroupId> order;
  while (!ready.empty()) {
    GroupId group = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(group);
    for (GroupId waiter : waiters[group])
      if (waitsFor[waiter].erase(group); waitsFor[waiter].empty())
        makeReady(waiter);
  }
  return order;
}
