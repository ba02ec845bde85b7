//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In which order groups run. Dependences leave much of it free, and it decides what is alive at once: a training
// step that left the gradients of its weights for the end would keep all activations, and all their gradients.
//===----------------------------------------------------------------------===//
#include "GroupGraph.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"

#include <set>

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::GroupGraph;

namespace zyx::fusion {

int64_t bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * zyx::byteSize(*toDType(type.getElementType()));
}

/// What an order has to respect, and the buffers that its groups make and read.
struct GroupGraph::Uses {
  struct Buffer {
    int64_t bytes = 0;
    unsigned numReaders = 0;
  };
  explicit Uses(const GroupGraph &graph);

  /// By group: how many others it waits for, and who waits for it.
  SmallVector<unsigned> numWaits;
  SmallVector<llvm::SmallSetVector<GroupId, 4>> waiters;
  SmallVector<Buffer> buffers;
  /// By group, numbers of buffers.
  SmallVector<llvm::SmallSetVector<unsigned, 4>> made, read;
};

} // namespace zyx::fusion

/// Where a value lies that a member of a group reads: views are part of who reads them, and what a loop hands on as it
/// is stays where it was.
Value GroupGraph::getBuffer(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    if (auto loop = dyn_cast<LoopOp>(op)) {
      const unsigned number = cast<OpResult>(value).getResultNumber();
      if (loop.getBlock().getTerminator()->getOperand(number) != loop.getBlock().getArgument(number + 1))
        break;
      value = loop.getInitial()[number];
    } else if (!positions.contains(op) && isView(op)) {
      value = op->getOperand(0);
    } else {
      break;
    }
  }
  return value;
}

GroupGraph::Uses::Uses(const GroupGraph &graph)
    : numWaits(graph.members.size()), waiters(graph.members.size()), made(graph.members.size()),
      read(graph.members.size()) {
  llvm::DenseMap<Value, unsigned> numbers;
  auto make = [&](Value value, GroupId group) {
    if (graph.getBuffer(value) != value)
      return;
    numbers[value] = buffers.size();
    made[group].insert(buffers.size());
    buffers.push_back({bytesOf(value)});
  };
  for (GroupId group = 0; group < graph.members.size(); ++group) {
    const Ops &members = graph.members[group];
    for (Operation *op : members)
      for (Operation *producer : graph.getProducers(op))
        if (!members.contains(producer))
          waiters[graph.getHome(producer)].insert(group);
    if (Operation *alone = graph.getAlone(group))
      for (Value result : alone->getResults())
        make(result, group);
    else
      for (Value output : graph.getOutputs(group))
        make(output, group);
  }
  for (const auto &waiting : waiters)
    for (GroupId group : waiting)
      ++numWaits[group];
  for (GroupId group = 0; group < graph.members.size(); ++group) {
    const Ops &members = graph.members[group];
    for (Operation *op : members)
      for (Value operand : op->getOperands())
        if (auto known = numbers.find(graph.getBuffer(operand));
            known != numbers.end() && !members.contains(known->first.getDefiningOp()))
          read[group].insert(known->second);
    for (unsigned buffer : read[group])
      ++buffers[buffer].numReaders;
  }
  // What the caller gets lies in memory of its own, which is there from the beginning to the end.
  for (Operation *op : graph.ops)
    if (Block *block = op->getBlock(); isa<func::FuncOp>(block->getParentOp())) {
      for (Value value : block->getTerminator()->getOperands())
        if (auto known = numbers.find(graph.getBuffer(getStored(value))); known != numbers.end())
          buffers[known->second].bytes = 0;
      break;
    }
}

/// An order by one preference among the groups that may come next, and the most bytes that are alive in it.
std::pair<SmallVector<GroupGraph::GroupId>, int64_t> GroupGraph::sort(const Uses &uses, Preference preference) const {
  SmallVector<unsigned> numWaits = uses.numWaits;
  SmallVector<Uses::Buffer> buffers = uses.buffers;
  auto made = [&](GroupId group) {
    int64_t bytes = 0;
    for (unsigned buffer : uses.made[group])
      bytes += buffers[buffer].bytes;
    return bytes;
  };
  auto freed = [&](GroupId group) {
    int64_t bytes = 0;
    for (unsigned buffer : uses.read[group])
      if (buffers[buffer].numReaders == 1)
        bytes += buffers[buffer].bytes;
    return bytes;
  };
  auto rank = [&](GroupId group) -> int64_t {
    if (preference == Preference::First)
      return 0;
    const int64_t change = made(group) - freed(group);
    return preference == Preference::Least ? change : change > 0;
  };
  // By the position of the first member in the block.
  std::set<std::pair<unsigned, GroupId>> ready;
  auto makeReady = [&](GroupId group) { ready.insert({positions.lookup(members[group].front()), group}); };
  for (GroupId group = 0; group < members.size(); ++group)
    if (!members[group].empty() && numWaits[group] == 0)
      makeReady(group);
  SmallVector<GroupId> order;
  int64_t alive = 0, most = 0;
  while (!ready.empty()) {
    auto next = ready.begin();
    if (preference != Preference::First) {
      int64_t best = INT64_MAX;
      for (auto each = ready.begin(); each != ready.end(); ++each)
        if (int64_t own = rank(each->second); own < best) {
          best = own;
          next = each;
        }
    }
    const GroupId group = next->second;
    ready.erase(next);
    order.push_back(group);
    alive += made(group);
    most = std::max(most, alive);
    alive -= freed(group);
    for (unsigned buffer : uses.read[group])
      --buffers[buffer].numReaders;
    for (GroupId waiter : uses.waiters[group])
      if (--numWaits[waiter] == 0)
        makeReady(waiter);
  }
  return {std::move(order), most};
}

SmallVector<GroupGraph::GroupId> GroupGraph::sort() const {
  const Uses uses(*this);
  auto [order, least] = sort(uses, Preference::First);
  for (Preference preference : {Preference::Freeing, Preference::Least})
    if (auto [other, bytes] = sort(uses, preference); bytes < least) {
      order = std::move(other);
      least = bytes;
    }
  return order;
}
