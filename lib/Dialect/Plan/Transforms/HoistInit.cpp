//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Plan/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace zyx::plan {
#define GEN_PASS_DEF_HOISTINITPASS
#include "zyx/Dialect/Plan/Transforms/Passes.h.inc"
} // namespace zyx::plan

using namespace mlir;
using namespace zyx::plan;

namespace {

/// What may be kept, one by one and in all, beside twice the bytes of the weights that it depends on: tables of
/// positions and masks depend on none.
constexpr uint64_t freeBytes = uint64_t(1) << 20;

/// Finds what can run once, and moves it.
class Hoister {
public:
  explicit Hoister(FuncOp func) : func(func) {}
  void run();

private:
  bool isFixed(Value buffer);
  bool canRunOnce(CommandOpInterface command);
  void findCandidates();
  bool banLarge();
  bool banMany();
  bool isUsedOutside(Value buffer) const;
  void move();

  FuncOp func;
  /// Per buffer how many commands write it.
  DenseMap<Value, unsigned> writers;
  SetVector<Operation *> candidates;
  DenseSet<Operation *> banned;
  /// What candidates write, with the weights that it depends on.
  DenseMap<Value, SetVector<Value>> sources;
};

struct HoistInit : zyx::plan::impl::HoistInitPassBase<HoistInit> {
  void runOnOperation() override { Hoister(getOperation()).run(); }
};

} // namespace

static uint64_t byteSizeOf(Value buffer) { return cast<BufferType>(buffer.getType()).getByteSize(); }

/// The same in every run.
bool Hoister::isFixed(Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return func.isWeight(argument.getArgNumber());
  return buffer.getDefiningOp<ConstantOp>() || sources.contains(buffer);
}

bool Hoister::canRunOnce(CommandOpInterface command) {
  return !isa<LoopOp>(command) && !banned.contains(command) &&
         llvm::all_of(command.getReadBuffers(), [&](Value read) { return isFixed(read); }) &&
         llvm::all_of(command.getWrittenBuffers(),
                      [&](Value written) { return written.getDefiningOp<AllocOp>() && writers.lookup(written) == 1; });
}

void Hoister::findCandidates() {
  candidates.clear();
  sources.clear();
  func.walk<WalkOrder::PreOrder>([&](CommandOpInterface command) {
    if (!canRunOnce(command))
      return;
    candidates.insert(command);
    SetVector<Value> weights;
    for (Value read : command.getReadBuffers())
      if (isa<BlockArgument>(read))
        weights.insert(read);
      else if (auto it = sources.find(read); it != sources.end())
        weights.insert_range(it->second);
    for (Value written : command.getWrittenBuffers())
      sources[written] = weights;
  });
}

/// What may be kept of results that come from these weights.
static uint64_t limitOf(const SetVector<Value> &weights) {
  uint64_t bytes = 0;
  for (Value weight : weights)
    bytes += byteSizeOf(weight);
  return 2 * bytes + freeBytes;
}

bool Hoister::isUsedOutside(Value buffer) const {
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) { return !candidates.contains(user); });
}

/// Whether there was another candidate of which too much would be kept.
bool Hoister::banLarge() {
  bool changed = false;
  for (Operation *candidate : candidates)
    for (Value written : cast<CommandOpInterface>(candidate).getWrittenBuffers())
      if (isUsedOutside(written) && byteSizeOf(written) > limitOf(sources.find(written)->second))
        changed |= banned.insert(candidate).second;
  return changed;
}

/// Whether of all together too much would be kept. The largest results stay with the run, of equal ones the last.
bool Hoister::banMany() {
  struct HoistedResult {
    uint64_t bytes;
    size_t number;
    Operation *candidate;
  };
  SmallVector<HoistedResult> results;
  SetVector<Value> weights;
  uint64_t total = 0;
  for (Operation *candidate : candidates)
    for (Value written : cast<CommandOpInterface>(candidate).getWrittenBuffers())
      if (isUsedOutside(written)) {
        results.push_back({byteSizeOf(written), results.size(), candidate});
        weights.insert_range(sources.find(written)->second);
        total += results.back().bytes;
      }
  const uint64_t limit = limitOf(weights);
  if (total <= limit)
    return false;
  llvm::sort(results, [](const HoistedResult &a, const HoistedResult &b) {
    return std::pair(a.bytes, a.number) < std::pair(b.bytes, b.number);
  });
  for (; total > limit; results.pop_back()) {
    banned.insert(results.back().candidate);
    total -= results.back().bytes;
  }
  return true;
}

void Hoister::move() {
  Block &body = func.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  auto init = InitOp::create(builder, func.getLoc());
  Block &block = init.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&block);
  Operation *end = ReturnOp::create(builder, func.getLoc());
  // An order for which nothing waits any more; -zyx-plan-insert-waits makes that of the init.
  func.walk([&](CommandOpInterface command) {
    SmallVector<Value> kept;
    for (OpOperand &event : command.getWaitMutable())
      if (!candidates.contains(event.get().getDefiningOp()))
        kept.push_back(event.get());
    command.getWaitMutable().assign(candidates.contains(command) ? SmallVector<Value>() : kept);
  });
  uint64_t bytes = 0;
  for (Operation *candidate : candidates) {
    auto command = cast<CommandOpInterface>(candidate);
    for (Value read : command.getReadBuffers())
      if (auto constant = read.getDefiningOp<ConstantOp>())
        constant->moveBefore(init);
    for (Value written : command.getWrittenBuffers()) {
      auto alloc = written.getDefiningOp<AllocOp>();
      if (!isUsedOutside(written)) {
        alloc->moveBefore(end);
        continue;
      }
      alloc.setKept(true);
      alloc->moveBefore(init);
      bytes += byteSizeOf(written);
    }
    candidate->moveBefore(end);
  }
  remark::passed(func.getLoc(), remark::RemarkOpts::name("HoistInit").category("zyx-plan").function(func.getName()))
      << llvm::formatv("{0} commands run once for many runs, {1} bytes are kept", candidates.size(), bytes).str();
}

void Hoister::run() {
  if (func.getInit())
    return;
  func.walk([&](CommandOpInterface command) {
    if (auto loop = dyn_cast<LoopOp>(*command)) {
      if (loop.getIndex())
        ++writers[loop.getIndex()];
      return;
    }
    for (Value written : command.getWrittenBuffers())
      ++writers[written];
  });
  do
    findCandidates();
  while (banLarge() || banMany());
  if (!candidates.empty())
    move();
}
