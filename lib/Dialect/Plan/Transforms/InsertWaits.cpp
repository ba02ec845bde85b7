//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Plan/Transforms/Passes.h"

#include "llvm/ADT/BitVector.h"

namespace zyx::plan {
#define GEN_PASS_DEF_INSERTWAITSPASS
#include "zyx/Dialect/Plan/Transforms/Passes.h.inc"
} // namespace zyx::plan

using namespace mlir;
using namespace zyx::plan;

namespace {

struct Access {
  SmallVector<Storage> reads, writes;
};

bool overlap(ArrayRef<Storage> a, ArrayRef<Storage> b) {
  return llvm::any_of(
      a, [&](const Storage &x) { return llvm::any_of(b, [&](const Storage &y) { return x.overlaps(y); }); });
}

bool dependsOn(const Access &later, const Access &earlier) {
  return overlap(later.reads, earlier.writes) || overlap(later.writes, earlier.writes) ||
         overlap(later.writes, earlier.reads);
}

struct InsertWaits : zyx::plan::impl::InsertWaitsPassBase<InsertWaits> {
  void runOnOperation() override;
};

} // namespace

static void insertWaits(Block &block) {
  SmallVector<CommandOpInterface> commands(block.getOps<CommandOpInterface>());
  SmallVector<Access> accesses;
  // For each command, the earlier ones that are over when it starts.
  SmallVector<llvm::BitVector> before;
  for (auto [i, command] : llvm::enumerate(commands)) {
    Access access;
    for (Value buffer : command.getReadBuffers())
      access.reads.push_back(getStorage(buffer));
    for (Value buffer : command.getWrittenBuffers())
      access.writes.push_back(getStorage(buffer));

    llvm::BitVector done(commands.size());
    SmallVector<Value> wait;
    // From the latest to the earliest: what a later wait implies is skipped.
    for (unsigned j = i; j-- > 0;) {
      if (done.test(j) || !dependsOn(access, accesses[j]))
        continue;
      wait.push_back(commands[j].getEvent());
      done |= before[j];
      done.set(j);
    }
    std::reverse(wait.begin(), wait.end());
    command.getWaitMutable().assign(wait);
    accesses.push_back(std::move(access));
    before.push_back(std::move(done));
  }
}

void InsertWaits::runOnOperation() {
  insertWaits(getOperation().getBody().front());
  if (InitOp init = getOperation().getInit())
    insertWaits(init.getBody().front());
  getOperation().walk([](LoopOp loop) {
    for (Region &body : loop.getBodies())
      insertWaits(body.front());
  });
}
