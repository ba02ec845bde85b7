//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Programs whose few threads share no memory become threads of workgroups.
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/BufferUse.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_SPREADPROGRAMSPASS
#include "zyx/Dialect/Kernel/Transforms/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Whether all programs of a subgroup come to an op equally often, and together.
bool isInStep(Operation *op) {
  for (Operation *parent = op->getParentOp(); !isa<GridOp>(parent); parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || !getConstantIntValue(loop.getLowerBound()) || !getConstantIntValue(loop.getUpperBound()) ||
        !getConstantIntValue(loop.getStep()))
      return false;
  }
  return true;
}

/// Whether threads of a program, part of a subgroup, meet nowhere but where they read each other's registers.
bool canSpread(FuncOp func, int64_t threads, int64_t subgroup) {
  auto grids = func.getBody().getOps<GridOp>();
  if (func.getForm() != Form::Lowered || func.getExternal() || !llvm::hasSingleElement(grids) || threads < 2 ||
      threads > subgroup || !llvm::isPowerOf2_64(threads) || func.getCluster().value_or(1) > 1)
    return false;
  // What is read and written by threads has an order that barriers and workgroups keep.
  if (llvm::any_of(func.getBody().getArguments(), [](BlockArgument argument) { return isReadAndWritten(argument); }))
    return false;
  return !func.walk([&](Operation *op) {
                auto memory = dyn_cast<AllocOp>(op);
                auto id = dyn_cast<IdOp>(op);
                const bool isOwn = !isa<BarrierOp, SubviewOp, PeerOp, WarpReadOp, WarpMultiplyOp, scf::WhileOp>(op) &&
                                   (!memory || memory.getType().getSpace() == Space::Private) &&
                                   (!id || id.getKind() == IdKind::Thread) &&
                                   (!isa<ShuffleOp>(op) || threads == subgroup || isInStep(op));
                return isOwn ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// The number of a thread is the last one of its program.
void spread(FuncOp func, int64_t threads) {
  GridOp grid = *func.getBody().getOps<GridOp>().begin();
  OpBuilder builder(grid);
  SmallVector<OpFoldResult> extents = grid.getMixedExtents();
  SmallVector<int64_t> steps(grid.getSteps());
  extents.push_back(builder.getIndexAttr(threads));
  steps.push_back(1);
  auto wider = GridOp::create(builder, grid.getLoc(), extents, steps);
  Block &from = grid.getBody().front(), &to = wider.getBody().front();
  to.getOperations().splice(to.begin(), from.getOperations(), from.begin(), std::prev(from.end()));
  for (auto [before, after] : llvm::zip(grid.getIndices(), wider.getIndices()))
    before.replaceAllUsesWith(after);
  wider.walk([&](IdOp id) {
    id.replaceAllUsesWith(Value(wider.getIndices().back()));
    id.erase();
  });
  grid.erase();
  func.removeThreadsAttr();
  func.removeMinResidentThreadsAttr();
}

struct SpreadPrograms : zyx::kernel::impl::SpreadProgramsPassBase<SpreadPrograms> {
  void runOnOperation() override {
    const zyx::target::TargetInfo *machine = findTarget(getOperation());
    if (!machine || !machine->simt.hasShuffles)
      return;
    getOperation()->walk([&](FuncOp func) {
      const auto threads = static_cast<int64_t>(func.getThreads().value_or(1));
      if (canSpread(func, threads, machine->simt.subgroupSize))
        spread(func, threads);
    });
  }
};

} // namespace
