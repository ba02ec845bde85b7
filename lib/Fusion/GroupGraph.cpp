//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GroupGraph.h"
#include "GroupRules.h"
#include "Notes.h"

#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Status;
using zyx::fusion::GroupGraph;

/// A value is computed again where its slice has at most this many ops, this many of them
/// transcendental, and reads at most this many times the bytes that it saves.
static constexpr unsigned maxClonedOps = 8, maxClonedTranscendentals = 1;
static constexpr int64_t maxReadFactor = 2;

/// Commands of the host, or code that nobody sees into: no part of a group, and they read what is stored.
static bool standsAlone(Operation *op) { return isa<LoopOp, ExternalOp>(op); }

static bool isLeaf(Operation *op) { return isa<ConstantOp, IotaOp, ParameterOp>(op); }

Value zyx::fusion::getStored(Value value) {
  Value source = value;
  while (auto reshape = source.getDefiningOp<ReshapeOp>())
    source = reshape.getX();
  Operation *op = source.getDefiningOp();
  const bool isStored = op && op->hasAttr(storedAttrName);
  return op && !isLeaf(op) && (!isView(op) || isStored) ? source : value;
}

/// Constants of one element are in the kernel of a loop, where it is one.
static bool isPartOfKernel(Value value, Operation *reader) {
  return reader->hasAttr(oneKernelAttrName) && isInLoopKernel(value);
}

GroupGraph::GroupGraph(Block &block, int64_t columnSumBytes, size_t mostBuffers)
    : columnSumBytes(columnSumBytes), mostBuffers(mostBuffers) {
  for (Operation &op : block)
    if (standsAlone(&op) || &op == block.getTerminator())
      for (Value value : op.getOperands())
        if (Operation *source = getStored(value).getDefiningOp();
            source && !isa<ParameterOp>(source) && !isPartOfKernel(value, &op))
          returned.insert(source);
  for (Operation &op : block)
    if (op.hasAttr(tableAttrName))
      returned.insert(&op);
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
      // What stands alone reads what is stored: views and leaves themselves.
      Operation *source = (standsAlone(&op) ? getStored(operand) : getViewSource(operand)).getDefiningOp();
      if (!source || (standsAlone(&op) ? !homes.contains(source) : isLeaf(source)) ||
          llvm::is_contained(producers[&op], source))
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

SmallVector<Operation *> GroupGraph::getWays(ArrayRef<Operation *> from, ArrayRef<Operation *> to) const {
  llvm::SetVector<Operation *> members;
  Operation *first = *llvm::min_element(from, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  llvm::DenseMap<Operation *, bool> isOnWay;
  std::function<bool(Operation *)> visit = [&](Operation *op) -> bool {
    auto [entry, isNew] = isOnWay.try_emplace(op, llvm::is_contained(from, op));
    // What comes before the first does not depend on it.
    if (!isNew || op->isBeforeInBlock(first))
      return entry->second;
    bool result = entry->second;
    for (Operation *producer : getProducers(op))
      result |= visit(producer);
    if (result)
      members.insert(op);
    return isOnWay[op] = result;
  };
  for (Operation *op : to)
    visit(op);
  return members.takeVector();
}

Operation *GroupGraph::getAlone(GroupId group) const {
  return !members[group].empty() && standsAlone(members[group].front()) ? members[group].front() : nullptr;
}

/// Somebody reads the op who has no copy of it.
bool GroupGraph::isStored(Operation *op) const {
  return returned.contains(op) || standsAlone(op) || llvm::any_of(getConsumers(op), [&](Operation *consumer) {
           return llvm::any_of(holders.find(consumer)->second,
                               [&](GroupId holder) { return !members[holder].contains(op); });
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
  llvm::sort(all, [&](Operation *a, Operation *b) { return positions.lookup(a) < positions.lookup(b); });
  return Ops(all.begin(), all.end());
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// The last position on paths that end at or before one. They may enter a group behind it and leave
/// the same group before it.
unsigned GroupGraph::findEndOfPaths(unsigned end) const {
  for (unsigned last = end;; end = last) {
    for (unsigned node = std::min<unsigned>(end + 1, ends.size()); node != 0; node -= node & -node)
      last = std::max(last, ends[node - 1]);
    if (last == end)
      return end;
  }
}

/// A group that shrinks again leaves its former end: paths are then looked for further than they can lead.
void GroupGraph::spread(GroupId group) {
  ends.resize(ops.size());
  const unsigned first = positions.lookup(members[group].front()), last = positions.lookup(members[group].back());
  for (unsigned node = first + 1; node <= ends.size(); node += node & -node)
    ends[node - 1] = std::max(ends[node - 1], last);
}

/// Whether a path leads from one group to the other over a third.
bool GroupGraph::reachesAround(GroupId from, GroupId to) const {
  const unsigned end = findEndOfPaths(positions.lookup(members[to].back()));
  llvm::DenseSet<GroupId> seen{from};
  SmallVector<GroupId> pending{from};
  while (!pending.empty()) {
    GroupId group = pending.pop_back_val();
    for (Operation *op : members[group])
      for (Operation *consumer : getConsumers(op)) {
        if (positions.lookup(consumer) > end)
          continue;
        GroupId next = getHome(consumer);
        if (next == to && group != from)
          return true;
        if (next != to && seen.insert(next).second)
          pending.push_back(next);
      }
  }
  return false;
}

/// Whether a path leads from some of the groups to others of them over one that is none.
bool GroupGraph::reachesAround(const llvm::SetVector<GroupId> &groups) const {
  llvm::DenseSet<GroupId> seen;
  SmallVector<GroupId> pending(groups.begin(), groups.end());
  while (!pending.empty()) {
    GroupId group = pending.pop_back_val();
    const bool isOutside = !groups.contains(group);
    for (Operation *op : members[group])
      for (Operation *consumer : getConsumers(op)) {
        GroupId next = getHome(consumer);
        if (isOutside && groups.contains(next))
          return true;
        if (!groups.contains(next) && seen.insert(next).second)
          pending.push_back(next);
      }
  }
  return false;
}

/// The results of ops that would be one group, while nothing is cloned.
SmallVector<Value> GroupGraph::getOutputs(const Ops &all) const {
  SmallVector<Value> outputs;
  for (Operation *op : all)
    if (returned.contains(op) ||
        !llvm::all_of(getConsumers(op), [&](Operation *consumer) { return all.contains(consumer); }))
      outputs.push_back(op->getResult(0));
  return outputs;
}

/// What ops read that others make: arguments, parameters, and constants that are no numbers, behind views.
size_t GroupGraph::countInputs(const Ops &all) const {
  llvm::SmallDenseSet<Value> inputs;
  const auto add = [&](Value value) {
    Operation *made = value.getDefiningOp();
    auto constant = dyn_cast_if_present<ConstantOp>(made);
    if (!isa_and_present<IotaOp>(made) && (!constant || !constant.getValue().isSplat()) && !all.contains(made))
      inputs.insert(value);
  };
  for (Operation *op : all)
    for (Value operand : op->getOperands()) {
      for (Value view = operand; isView(view.getDefiningOp()); view = view.getDefiningOp()->getOperand(0))
        if (auto pad = dyn_cast<PadOp>(view.getDefiningOp()))
          add(getViewSource(pad.getFill()));
      add(getViewSource(operand));
    }
  return inputs.size();
}

Status GroupGraph::check(const Ops &all, ValueRange outputs) const {
  if (mostBuffers != 0 && all.size() > 1)
    if (const size_t buffers = countInputs(all) + outputs.size(); buffers > mostBuffers)
      return Status::unsupported("together they read and write " + std::to_string(buffers) +
                                 " buffers, and ops are fused up to " + std::to_string(mostBuffers) + " here");
  const bool mayStream = llvm::any_of(all, [&](Operation *op) { return streaming.contains(op); });
  const bool isOnCard = columnSumBytes != 0;
  return checkGroup(all, outputs, {mayStream, mayStream ? columnSumBytes : 0, !isOnCard});
}

Status GroupGraph::mergeStreaming(ArrayRef<Operation *> together) {
  streaming.insert(together.begin(), together.end());
  Status merged = mergeAll(together);
  if (!merged.isOk())
    for (Operation *op : together)
      streaming.erase(op);
  return merged;
}

Status GroupGraph::mergeAll(ArrayRef<Operation *> together) {
  llvm::SetVector<GroupId> groups;
  for (Operation *op : together)
    groups.insert(getHome(op));
  Ops all;
  for (GroupId group : groups)
    all = unite(all, members[group]);
  ZYX_RETURN_IF_ERROR(check(all, getOutputs(all)));
  if (reachesAround(groups))
    return Status::unsupported("another kernel lies between them");
  for (GroupId group : ArrayRef(groups.getArrayRef()).drop_front())
    merge(groups.front(), group);
  return Status::ok();
}

Status GroupGraph::checkMerge(GroupId first, GroupId second) const {
  for (GroupId group : {first, second})
    if (Operation *alone = getAlone(group))
      return Status::unsupported(isa<LoopOp>(alone) ? "a loop is no part of a kernel"
                                                    : "a kernel of the user's own is no part of another");
  Ops all = unite(members[first], members[second]);
  ZYX_RETURN_IF_ERROR(check(all, getOutputs(all)));
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
  spread(first);
}

//===----------------------------------------------------------------------===//
// Cloning
//===----------------------------------------------------------------------===//

/// Grows the slice that computes a root until what it reads is stored anyway, or takes less than
/// the root. Returns false where it becomes too much to compute twice.
bool GroupGraph::growSlice(Operation *root, GroupId into, Slice &slice) const {
  auto &[ops, frontier, read] = slice;
  const int64_t saved = bytesOf(root->getResult(0));
  SmallVector<Operation *> missing{root};
  while (true) {
    for (Operation *op : missing)
      if (!isElementwise(op) || !ops.insert(op))
        return false;
    if (ops.size() > maxClonedOps || llvm::count_if(ops, isTranscendental) > maxClonedTranscendentals)
      return false;
    missing.clear();
    frontier.clear();
    int64_t newlyStored = 0;
    bool mustGrow = false;
    for (Operation *op : ops)
      for (Operation *producer : getProducers(op)) {
        if (ops.contains(producer) || members[into].contains(producer) || !frontier.insert(producer) ||
            isStored(producer))
          continue;
        newlyStored += bytesOf(producer->getResult(0));
        missing.push_back(producer);
        // Its home may have dropped it when all its readers got copies.
        mustGrow |= !members[getHome(producer)].contains(producer);
      }
    // A root without elements saves nothing, but has no more to grow by at last.
    if (!mustGrow && (missing.empty() || newlyStored < saved))
      break;
  }
  // Of a source no more than its views show.
  llvm::SmallMapVector<Value, int64_t, 4> sources;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (Value source = getViewSource(operand); !source.getDefiningOp() || isa<ParameterOp>(source.getDefiningOp()) ||
                                                 frontier.contains(source.getDefiningOp()))
        sources[source] += bytesOf(operand);
  read = 0;
  for (auto [source, shown] : sources)
    read += std::min(bytesOf(source), shown);
  return read <= saved * maxReadFactor;
}

/// Removes members that nobody reads any more, from a group and then from those that fed them.
/// \p touched gets every group that changes, with its former members.
void GroupGraph::removeUnused(GroupId start, std::map<GroupId, Ops> &touched) {
  SmallVector<GroupId> pending{start};
  while (!pending.empty()) {
    GroupId group = pending.pop_back_val();
    llvm::DenseSet<Operation *> used;
    for (Value output : getOutputs(group))
      used.insert(output.getDefiningOp());
    for (Operation *op : llvm::reverse(members[group].getArrayRef()))
      if (used.contains(op))
        used.insert_range(getProducers(op));
    Ops kept;
    SmallVector<Operation *> unused;
    for (Operation *op : members[group])
      used.contains(op) ? void(kept.insert(op)) : unused.push_back(op);
    if (unused.empty())
      continue;
    touched.try_emplace(group, members[group]);
    members[group] = std::move(kept);
    for (Operation *op : unused) {
      llvm::erase(holders[op], group);
      for (Operation *producer : getProducers(op))
        pending.push_back(getHome(producer));
    }
  }
}

bool GroupGraph::hasContraction(GroupId group) const {
  return llvm::any_of(members[group], [](Operation *op) {
    auto reduce = dyn_cast<ReduceOp>(op);
    return reduce && matchContraction(reduce);
  });
}

/// Clones for one reader. What changed is in \p touched, for undo.
bool GroupGraph::cloneInto(GroupId into, Operation *root, Slice &slice, std::map<GroupId, Ops> &touched) {
  touched.try_emplace(into, members[into]);
  members[into] = unite(members[into], slice.ops);
  spread(into);
  for (Operation *op : slice.ops)
    holders[op].push_back(into);
  // What was inside of a group may have to leave it now, and what tied its members may be gone.
  removeUnused(getHome(root), touched);
  for (Operation *op : slice.frontier)
    touched.try_emplace(getHome(op), members[getHome(op)]);
  return llvm::all_of(touched, [&](const auto &entry) {
    return getAlone(entry.first) || check(members[entry.first], getOutputs(entry.first)).isOk();
  });
}

void GroupGraph::undo(std::map<GroupId, Ops> &touched) {
  for (auto &[group, before] : touched) {
    for (Operation *op : members[group])
      llvm::erase(holders[op], group);
    for (Operation *op : before)
      holders[op].push_back(group);
    members[group] = std::move(before);
  }
}

bool GroupGraph::tryClone(Operation *root) {
  if (!isElementwise(root) || returned.contains(root))
    return false;
  llvm::SetVector<GroupId> readers;
  for (Operation *consumer : getConsumers(root))
    for (GroupId holder : holders.find(consumer)->second)
      if (!members[holder].contains(root))
        readers.insert(holder);
  // Where the clone reads less than the root has, each reader gains by itself. Else only the store
  // is saved, so all that are left must clone; and a contraction reads its operands more than once.
  bool changed = false;
  SmallVector<GroupId> rest;
  for (GroupId reader : readers) {
    Slice slice;
    std::map<GroupId, Ops> touched;
    if (!growSlice(root, reader, slice) || slice.read >= bytesOf(root->getResult(0))) {
      rest.push_back(reader);
    } else if (cloneInto(reader, root, slice, touched)) {
      changed = true;
    } else {
      undo(touched);
      return changed;
    }
  }
  std::map<GroupId, Ops> touchedByAll;
  for (GroupId reader : rest) {
    Slice slice;
    std::map<GroupId, Ops> touched;
    bool isGood = !hasContraction(reader) && growSlice(root, reader, slice) && cloneInto(reader, root, slice, touched);
    for (auto &[group, before] : touched)
      touchedByAll.try_emplace(group, before);
    if (!isGood) {
      undo(touchedByAll);
      return changed;
    }
  }
  return changed || !rest.empty();
}
