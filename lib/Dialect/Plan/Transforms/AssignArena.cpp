//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Plan/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace zyx::plan {
#define GEN_PASS_DEF_ASSIGNARENAPASS
#include "zyx/Dialect/Plan/Transforms/Passes.h.inc"
} // namespace zyx::plan

using namespace mlir;
using namespace zyx::plan;

namespace {

/// A temporary: the commands between which it lives, both included, and its bytes.
struct Temporary {
  AllocOp op;
  unsigned first, last;
  uint64_t size;
  /// Place among the temporaries of the text.
  size_t number;
  uint64_t offset = 0;
  bool meets(const Temporary &other) const { return first <= other.last && other.first <= last; }
};

/// The beginning of the smallest gap of at least `size` bytes between the placed temporaries that
/// are alive with `wanted`; the end of the last of them where no gap is large enough.
uint64_t findGap(const Temporary &wanted, ArrayRef<Temporary> placed) {
  SmallVector<std::pair<uint64_t, uint64_t>> taken;
  for (const Temporary &other : placed)
    if (wanted.meets(other))
      taken.emplace_back(other.offset, other.offset + other.size);
  llvm::sort(taken);
  uint64_t end = 0, best = 0, bestSize = UINT64_MAX;
  for (auto [takenBegin, takenEnd] : taken) {
    uint64_t gap = takenBegin > end ? takenBegin - end : 0;
    if (gap >= wanted.size && gap < bestSize) {
      best = end;
      bestSize = gap;
    }
    end = std::max(end, takenEnd);
  }
  return bestSize == UINT64_MAX ? end : best;
}

struct AssignArena : zyx::plan::impl::AssignArenaPassBase<AssignArena> {
  void runOnOperation() override;

private:
  LogicalResult place(MutableArrayRef<Temporary> buffers, bool kept);
};

/// Commands of the init that use what others make stand beside these: what comes of other weights can be made alone.
void groupInit(InitOp init) {
  Block &block = init.getBody().front();
  llvm::EquivalenceClasses<Operation *> steps;
  llvm::DenseMap<Operation *, Operation *> users;
  SmallVector<Operation *> commands;
  for (Operation &command : block.without_terminator()) {
    if (!isa<CommandOpInterface>(command))
      continue;
    commands.push_back(&command);
    steps.insert(&command);
    command.walk([&](Operation *inside) {
      for (Value operand : inside->getOperands()) {
        Operation *made = operand.getDefiningOp();
        while (auto slice = dyn_cast_or_null<SliceOp>(made))
          made = slice->getOperand(0).getDefiningOp();
        if (!made)
          continue;
        if (isa<AllocOp>(made))
          steps.unionSets(users.try_emplace(made, &command).first->second, &command);
        else if (Operation *earlier = block.findAncestorOpInBlock(*made))
          steps.unionSets(earlier, &command);
      }
    });
  }
  llvm::MapVector<Operation *, SmallVector<Operation *>> members;
  for (Operation *command : commands)
    members[steps.getLeaderValue(command)].push_back(command);
  for (const auto &[leader, step] : members)
    for (Operation *command : step)
      command->moveBefore(block.getTerminator());
}

} // namespace

/// Gives all of them a place in one arena.
LogicalResult AssignArena::place(MutableArrayRef<Temporary> buffers, bool kept) {
  FuncOp func = getOperation();
  if (buffers.empty())
    return success();
  // All that is kept lives at once, and lies in the order in which the init makes it: steps of that are made alone.
  if (!kept)
    llvm::sort(buffers, [](const Temporary &a, const Temporary &b) {
      return std::make_pair(b.size, a.number) < std::make_pair(a.size, b.number);
    });
  uint64_t arenaSize = 0, total = 0;
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    buffer.offset = findGap(buffer, buffers.take_front(i));
    uint64_t end = buffer.offset + buffer.size;
    if (end > static_cast<uint64_t>(zyx::maxTensorBytes))
      return buffer.op.emitError(kept ? "what is kept needs" : "temporaries need")
             << " more than " << zyx::maxTensorBytes << " bytes of memory at once";
    arenaSize = std::max(arenaSize, end);
    total += buffer.size;
  }

  OpBuilder builder = OpBuilder::atBlockBegin(&func.getBody().front());
  auto arenaType = BufferType::get(&getContext(), zyx::TensorType{zyx::DType::U8, {static_cast<int64_t>(arenaSize)}});
  Value arena = ArenaOp::create(builder, func.getLoc(), arenaType, kept);
  for (Temporary &buffer : buffers) {
    builder.setInsertionPoint(buffer.op);
    Value slice = SliceOp::create(builder, buffer.op.getLoc(), buffer.op.getType(), arena, buffer.offset);
    buffer.op.getResult().replaceAllUsesWith(slice);
    buffer.op.erase();
  }
  remark::passed(func.getLoc(), remark::RemarkOpts::name("AssignArena").category("zyx-plan").function(func.getName()))
      << llvm::formatv(kept ? "{0} buffers of {1} bytes are kept in {2}"
                            : "{0} temporaries of {1} bytes in an arena of {2}",
                       buffers.size(), total, arenaSize)
             .str();
  return success();
}

void AssignArena::runOnOperation() {
  FuncOp func = getOperation();
  if (InitOp init = func.getInit())
    groupInit(init);
  // A loop spans the positions of its commands.
  llvm::DenseMap<Operation *, std::pair<unsigned, unsigned>> spans;
  llvm::DenseMap<Operation *, unsigned> positions;
  unsigned position = 0;
  func.walk<WalkOrder::PreOrder>([&](CommandOpInterface command) {
    for (Operation *around = command; around != func; around = around->getParentOp())
      spans.try_emplace(around, position, position).first->second.second = position;
    positions[command] = position++;
  });

  SmallVector<Temporary> temporaries, kept;
  func.walk([&](AllocOp op) {
    if (op.use_empty())
      return op.erase();
    Temporary temporary{op, UINT_MAX, 0, 0, temporaries.size() + kept.size()};
    auto type = cast<BufferType>(op.getType());
    temporary.size = llvm::alignTo(std::max<uint64_t>(type.getByteSize(), 1), alignment);
    if (op.getKept()) {
      for (Operation *user : op->getUsers())
        temporary.first = std::min(temporary.first, positions.lookup(user));
      kept.push_back(temporary);
      return;
    }
    for (Operation *user : op->getUsers()) {
      // What comes from outside of a loop is alive from pass to pass.
      auto [first, last] = spans.lookup(op->getBlock()->findAncestorOpInBlock(*user));
      temporary.first = std::min(temporary.first, first);
      temporary.last = std::max(temporary.last, last);
    }
    temporaries.push_back(temporary);
  });
  llvm::stable_sort(kept, [](const Temporary &a, const Temporary &b) { return a.first < b.first; });
  for (Temporary &one : kept) {
    one.first = 0;
    one.last = position;
  }
  if (failed(place(temporaries, /*kept=*/false)) || failed(place(kept, /*kept=*/true)))
    signalPassFailure();
}
