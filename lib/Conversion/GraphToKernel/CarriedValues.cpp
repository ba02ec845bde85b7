//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "CarriedValues.h"

#include "OrderKernels.h"

#include "zyx/Dialect/Graph/Analysis/Updates.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"
#include "zyx/Dialect/Graph/Transport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/SetVector.h"

#include <numeric>

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

/// Bodies of one loop, and commands in all of them, from which on values are rather copied.
static constexpr int64_t mostBodies = 12, mostCommands = 512;

//===----------------------------------------------------------------------===//
// Who has whose memory
//===----------------------------------------------------------------------===//

bool MemoryReuse::isHandedOn(LoopOp loop, unsigned position) const {
  Block &block = loop.getBlock();
  return getRoot(block.getTerminator()->getOperand(position)) == block.getArgument(position + 1);
}

Value MemoryReuse::getRoot(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      value = reshape.getX();
      continue;
    }
    auto loop = dyn_cast<LoopOp>(op);
    const unsigned number = cast<OpResult>(value).getResultNumber();
    if (!loop || !isHandedOn(loop, number))
      break;
    value = loop.getInitial()[number];
  }
  return value;
}

/// The loop and the number of a result that it carries, where the value is one.
static std::pair<LoopOp, unsigned> getCarried(Value value) {
  auto loop = value.getDefiningOp<LoopOp>();
  return {loop, loop ? cast<OpResult>(value).getResultNumber() : 0};
}

/// All that read the memory of a value.
SmallVector<OpOperand *> MemoryReuse::getReaders(Value root) const {
  SmallVector<OpOperand *> readers;
  SmallVector<Value> work{root};
  while (!work.empty())
    for (OpOperand &use : work.pop_back_val().getUses()) {
      Operation *op = use.getOwner();
      if (isa<ReshapeOp>(op)) {
        work.push_back(op->getResult(0));
        continue;
      }
      readers.push_back(&use);
      auto loop = dyn_cast<LoopOp>(op);
      const unsigned first = loop && loop.getCount() ? 1 : 0;
      if (loop && use.getOperandNumber() >= first && use.getOperandNumber() - first < loop.getInitial().size() &&
          isHandedOn(loop, use.getOperandNumber() - first))
        work.push_back(loop.getResult(use.getOperandNumber() - first));
    }
  return readers;
}

/// Whether the memory of a value is that of its block alone: another pass, the caller or who reads it outside of the
/// loop finds nothing changed.
bool MemoryReuse::isOwned(Value root) const {
  if (isa_and_nonnull<GroupOp, LoopOp>(root.getDefiningOp()))
    return true;
  auto argument = dyn_cast<BlockArgument>(root);
  auto loop = argument ? dyn_cast<LoopOp>(argument.getOwner()->getParentOp()) : LoopOp();
  return loop && argument.getArgNumber() >= 1 && argument.getArgNumber() <= loop.getInitial().size() &&
         !isHandedOn(loop, argument.getArgNumber() - 1);
}

/// Whether all who read it stand before the op, but for one operand.
bool MemoryReuse::isDeadBehind(Value root, Operation *op, OpOperand *besides) const {
  return llvm::all_of(getReaders(root), [&](OpOperand *reader) {
    return reader == besides || (reader->getOwner() != op && reader->getOwner()->isBeforeInBlock(op));
  });
}

/// The value that lies where an operand does, if its memory is free once the op has read that operand.
Value MemoryReuse::findFree(OpOperand &operand) const {
  Value root = getRoot(operand.get());
  Operation *op = operand.getOwner();
  return isOwned(root) && root.getParentBlock() == op->getBlock() && isDeadBehind(root, op, &operand) &&
                 !isMadeOfWeights(root)
             ? root
             : Value();
}

/// Whether a value is computed from weights and constants alone, and from some weight: -zyx-plan-hoist-init computes it
/// once for many runs, unless one of them writes to it.
bool MemoryReuse::isMadeOfWeights(Value root) const {
  bool hasWeight = false;
  SetVector<Value> work;
  work.insert(root);
  for (size_t next = 0; next < work.size(); ++next) {
    Value value = work[next];
    Operation *op = value.getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *around = argument.getOwner()->getParentOp();
      if (auto loop = dyn_cast<LoopOp>(around)) {
        if (argument.getArgNumber() <= loop.getInitial().size())
          return false;
        work.insert(getRoot(loop.getInvariants()[argument.getArgNumber() - 1 - loop.getInitial().size()]));
        continue;
      }
      auto entry = dyn_cast<func::FuncOp>(around);
      if (!entry || !isWeight(entry, argument.getArgNumber()))
        return false;
      hasWeight = true;
    } else if (isa<ParameterOp>(op)) {
      hasWeight = true;
    } else if (auto group = dyn_cast<GroupOp>(op)) {
      for (Value input : group.getInputs())
        work.insert(getRoot(input));
    } else if (!isa<ConstantOp>(op)) {
      return false;
    }
  }
  return hasWeight;
}

Value MemoryReuse::findFree(LoopOp loop, unsigned position) const {
  return findFree(loop->getOpOperand((loop.getCount() ? 1 : 0) + position));
}

Value MemoryReuse::findTaken(Value result) {
  if (auto group = result.getDefiningOp<GroupOp>()) {
    OpOperand *updated = findUpdated(cast<OpResult>(result));
    return updated ? findFree(*updated) : Value();
  }
  auto [loop, number] = getCarried(result);
  if (!loop || isHandedOn(loop, number))
    return {};
  // What is behind the last pass where it was before the first one.
  for (const ShiftRegister &shift : get(loop).shiftRegisters)
    if (shift.positions.size() == 1 && shift.positions.front() == number &&
        (shift.cells() == 1 || loop.getTripsAttr().getInt() % shift.cells() == 0))
      return findFree(loop, number);
  return {};
}

bool MemoryReuse::isCopied(GroupOp group) const {
  // What is copied moves twice, by threads that do nothing else.
  constexpr int64_t fewest = 8;
  OpOperand *updated = findUpdated(group);
  if (!updated)
    return false;
  auto scatter = cast<ScatterOp>(findOrderOp(group));
  auto numElements = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); };
  if (numElements(scatter.getUpdates()) * fewest > numElements(scatter.getX()) || numElements(scatter.getX()) == 0)
    return false;
  Value root = getRoot(updated->get());
  // Selects were made scatters for the sake of this.
  if (scatter->hasAttr(apartAttrName))
    return !root.getDefiningOp<ConstantOp>() && !isMadeOfWeights(root);
  auto argument = dyn_cast<BlockArgument>(root);
  auto entry = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return entry && !isWeight(entry, argument.getArgNumber()) &&
         llvm::any_of(entry.getBody().front().getTerminator()->getOperands(),
                      [&](Value result) { return getRoot(result) == group.getResult(0); });
}

Value MemoryReuse::getFirst(Value value) {
  while (Value taken = findTaken(value))
    value = taken;
  return value;
}

/// Whether a value behind it may take its memory.
bool MemoryReuse::isTaken(Value root) {
  return llvm::any_of(getReaders(root), [&](OpOperand *reader) {
    return llvm::any_of(reader->getOwner()->getResults(), [&](Value result) {
      return isa<GroupOp, LoopOp>(reader->getOwner()) && findTaken(result) == root;
    });
  });
}

void MemoryReuse::delayUpdates(Block &block) const {
  SmallVector<GroupOp> groups(block.getOps<GroupOp>());
  for (GroupOp group : llvm::reverse(groups)) {
    OpOperand *begin = findUpdated(group);
    if (!begin || !isOwned(getRoot(begin->get())) || isDeadBehind(getRoot(begin->get()), group, begin))
      continue;
    Operation *first = block.getTerminator();
    for (Operation *user : group->getUsers())
      if (user->isBeforeInBlock(first))
        first = user;
    group->moveBefore(first);
  }
}

//===----------------------------------------------------------------------===//
// What a loop carries
//===----------------------------------------------------------------------===//

const CarriedValues &MemoryReuse::get(LoopOp loop) {
  if (auto found = known.find(loop); found != known.end())
    return found->second;
  return known.emplace(loop, compute(loop)).first->second;
}

static int64_t bytesOf(Value value) { return *byteSize(*toPlainType(value.getType())); }

CarriedValues MemoryReuse::compute(LoopOp loop) {
  Block &block = loop.getBlock();
  const unsigned size = loop.getInitial().size();
  ValueRange yielded = block.getTerminator()->getOperands();
  CarriedValues result;
  // By carried value where its memory goes to.
  SmallVector<std::optional<unsigned>> next(size);
  SmallVector<bool> isMoved(size);
  DenseSet<Value> seen;
  SmallVector<ShiftRegister> shiftRegisters;
  for (unsigned i = 0; i != size; ++i) {
    if (isHandedOn(loop, i))
      continue;
    Value source = getRoot(yielded[i]);
    auto argument = dyn_cast<BlockArgument>(source);
    const bool isNew = seen.insert(source).second;
    if (isNew && argument && isOwned(argument)) {
      next[argument.getArgNumber() - 1] = i;
      isMoved[i] = true;
      continue;
    }
    const bool isMade = isNew && isa_and_nonnull<GroupOp, LoopOp>(source.getDefiningOp());
    shiftRegisters.push_back({{i}, source, isMade});
  }
  SmallVector<bool> isInOne(size);
  auto follow = [&](ShiftRegister &shift) {
    isInOne[shift.positions.front()] = true;
    for (std::optional<unsigned> at = next[shift.positions.front()]; at && !isInOne[*at]; at = next[*at]) {
      isInOne[*at] = true;
      shift.positions.push_back(*at);
    }
  };
  for (ShiftRegister &shift : shiftRegisters)
    follow(shift);
  for (unsigned i = 0; i != size; ++i)
    if (isMoved[i] && !isInOne[i])
      follow(shiftRegisters.emplace_back(ShiftRegister{{i}, {}}));

  for (ShiftRegister &shift : shiftRegisters) {
    if (!shift.isMade)
      continue;
    Value last = block.getArgument(shift.positions.back() + 1), first = getFirst(shift.source);
    shift.isDirect =
        first == last || (first.getDefiningOp() && isDeadBehind(last, first.getDefiningOp()) && !isTaken(last));
  }

  int64_t commands = 0;
  for (Operation &op : block.without_terminator())
    commands += isa<LoopOp>(op) ? 1 + get(cast<LoopOp>(op)).numCommands : isa<GroupOp>(op);
  // The largest values come first.
  llvm::sort(shiftRegisters, [&](const ShiftRegister &a, const ShiftRegister &b) {
    const unsigned first = a.positions.front(), second = b.positions.front();
    return std::pair(-bytesOf(loop.getResult(first)), first) < std::pair(-bytesOf(loop.getResult(second)), second);
  });
  for (ShiftRegister &shift : shiftRegisters) {
    const int64_t bodies = std::lcm(result.numBodies, shift.cells());
    if (bodies == result.numBodies ||
        (loop.getTripsAttr() && bodies <= mostBodies && bodies * commands <= mostCommands)) {
      result.numBodies = bodies;
      result.shiftRegisters.push_back(std::move(shift));
      continue;
    }
    for (unsigned position : shift.positions)
      result.shiftRegisters.push_back({{position}, getRoot(yielded[position])});
  }
  result.numCommands = result.numBodies * commands;
  return result;
}

} // namespace zyx::lowering
