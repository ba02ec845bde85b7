//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels with one dot, by vectors or threads.
//===----------------------------------------------------------------------===//
#include "ChooseProducts.h"

#include "ChooseDot.h"
#include "ChooseShared.h"
#include "Overlap.h"
#include "RightFactor.h"

using namespace mlir;
using namespace zyx::kernel;
using namespace zyx::schedule;
using zyx::target::TargetInfo;

namespace {

/// Rows of a program where there are few panels.
constexpr int64_t rowsPerBlock = 256;
/// Rows of a product that a thread computes: with 16 bytes of columns its sums stay in registers.
constexpr int64_t threadRows = 4;

/// Chooses for a kernel whose one dot is all that is combined.
class ProductRules {
public:
  explicit ProductRules(ScheduleDraft &draft)
      : draft(draft), func(draft.func), axes(draft.axes), target(draft.target) {}

  SmallVector<Choice> chooseDot(DotOp dot, unsigned most) {
    unsigned rank = cast<RankedTensorType>(dot.getType()).getRank();
    Axis m = axes.of(dot.getResult(), rank - 2), n = axes.of(dot.getResult(), rank - 1),
         k = axes.of(dot.getLhs(), rank - 1);
    SmallVector<Axis> parallel = draft.parallelAxes();
    bool mParallel = llvm::is_contained(parallel, m), nParallel = llvm::is_contained(parallel, n);
    if (target.hasVectors() && storesFollowTiles(dot, draft.stores, axes))
      return chooseBlocks(dot, parallel, m, n, most);
    if (target.hasSubgroups()) {
      SmallVector<Choice> shared = chooseShared(dot, parallel, m, n, most);
      if (!shared.empty())
        return shared;
      chooseThreads(dot, parallel, m, n);
      return {draft.takeSteps()};
    }
    int64_t lanes = target.lanes(bytesOf(dot.getResult()));
    int64_t panel = std::clamp<int64_t>(axes.extent(n), 1, 2 * std::max<int64_t>(lanes, 2));
    int64_t vectors = llvm::divideCeil(panel, lanes);
    int64_t rows = std::clamp<int64_t>((target.vector.registers - 2 - vectors) / vectors, 1, 8);
    int64_t panels = llvm::divideCeil(axes.extent(n), panel);
    for (Axis axis : parallel) {
      if (axis == m)
        draft.grid(m, panels >= enoughPrograms ? axes.extent(m) : llvm::alignTo(rowsPerBlock, rows));
      else if (axis == n)
        draft.grid(n, panel);
      else
        draft.grid(axis, 1);
    }
    if (!mParallel || !nParallel)
      return {draft.takeSteps()};
    // A panel is read once per block of rows; copied into one piece it stays in the cache.
    int64_t panelBytes = axes.extent(k) * llvm::alignTo(panel, lanes) * bytesOf(dot.getRhs());
    if (axes.extent(m) >= 4 * rows && panelBytes <= target.memory.privateBytes / 2)
      draft.steps.push_back(StageStepAttr::get(func.getContext(), 1, Space::Private));
    if (axes.extent(m) > rows)
      draft.steps.push_back(LoopStepAttr::get(func.getContext(), draft.nameOf(m), rows));
    return {draft.takeSteps()};
  }

  /// Whether workgroups that share small tiles are estimated to multiply f32 in less time than those of the copy
  /// engine's ring, whose tiles are large: of few results there are few of these. Both multiply by the same lanes.
  bool isFasterByThreads(double cost) {
    if (draft.dots.size() != 1 || draft.combines || target.matrix.allowsReducedPrecision ||
        !getElementTypeOrSelf(draft.dots.front().getLhs().getType()).isF32() ||
        !storesFollowTiles(draft.dots.front(), draft.stores, axes))
      return false;
    DotOp dot = draft.dots.front();
    const SmallVector<Axis> all = axes.of(dot.getResult()), parallel = draft.parallelAxes();
    const auto plans = planSharedDots(dot, axes, llvm::is_contained(parallel, all[all.size() - 2]),
                                      llvm::is_contained(parallel, all.back()), target, 1);
    if (plans.empty())
      return false;
    int64_t bytes = bytesOfAll(dot.getLhs()) + bytesOfAll(dot.getRhs());
    for (StoreOp store : draft.stores)
      bytes += bytesOfAll(store.getValue());
    const double memory =
        static_cast<double>(bytes) / static_cast<double>(target.costs.memoryBytesPerCycle * target.cores);
    return overlapped(plans.front().cost, memory) < cost;
  }

private:
  /// Where each thread is a program. Of few results each has one, so that there are more of them: a thread waits for
  /// its factors, one step after the other, and the machine is idle beside it.
  void chooseThreads(DotOp dot, ArrayRef<Axis> parallel, Axis m, Axis n) {
    const auto lanes = static_cast<int64_t>(target.lanes(bytesOf(dot.getResult())));
    int64_t programs = 1;
    for (Axis axis : parallel)
      programs *= llvm::divideCeil(axes.extent(axis), axis == m ? threadRows : axis == n ? lanes : 1);
    const bool isOfFew = programs <= target.cores * target.simt.subgroupSize;
    for (Axis axis : parallel)
      draft.grid(axis, isOfFew ? 1 : axis == m ? threadRows : axis == n ? lanes : 1);
  }

  /// Where a workgroup is a program, and multiplies out of shared memory.
  SmallVector<Choice> chooseShared(DotOp dot, ArrayRef<Axis> parallel, Axis m, Axis n, unsigned most) {
    SmallVector<Choice> choices;
    if (!draft.forms.sharing || !storesFollowTiles(dot, draft.stores, axes))
      return choices;
    for (const SharedPlan &plan :
         planSharedDots(dot, axes, llvm::is_contained(parallel, m), llvm::is_contained(parallel, n), target, most)) {
      for (Axis axis : parallel)
        draft.grid(axis, axis == m ? plan.tileRows : axis == n ? plan.tileColumns : 1);
      auto blocking =
          BlockingAttr::get(func.getContext(), plan.rows, plan.columns, plan.rows, plan.depth, /*packLhs=*/true,
                            /*packRhs=*/true, /*alongDepth=*/false, /*narrow=*/plan.byWarps);
      draft.steps.push_back(BlockStepAttr::get(func.getContext(), blocking));
      func.setThreads(plan.threads);
      choices.push_back(draft.takeSteps());
      choices.back().cost = plan.cost;
      choices.back().residentThreads = plan.residentThreads;
    }
    return choices;
  }

  /// On a processor with vectors.
  SmallVector<Choice> chooseBlocks(DotOp dot, ArrayRef<Axis> parallel, Axis m, Axis n, unsigned most) {
    DotFacts facts = describeDot(dot, draft.stores, axes);
    facts.cutRows = llvm::is_contained(parallel, m);
    facts.cutColumns = llvm::is_contained(parallel, n);
    if (!draft.combines && storesFollowTiles(dot, draft.stores, axes))
      facts.rhsLines = findLines(dot, axes);
    const std::optional<RightFactor> right = findRightFactor(dot, /*isNarrow=*/false);
    facts.rhsKept = right && right->argument < draft.isFixed.size() && draft.isFixed[right->argument];
    SmallVector<Choice> choices;
    for (const auto &[plan, cost] : planDots(facts, target, most)) {
      for (Axis axis : parallel)
        draft.grid(axis, axis == m ? plan.programRows : axis == n ? plan.programColumns : 1);
      auto blocking = BlockingAttr::get(func.getContext(), plan.rows, plan.columns, plan.rowBlock, plan.depth,
                                        plan.packLhs, plan.packRhs, plan.alongDepth, plan.narrow);
      draft.steps.push_back(BlockStepAttr::get(func.getContext(), blocking));
      choices.push_back(draft.takeSteps());
      choices.back().cost = cost;
    }
    return choices;
  }

  ScheduleDraft &draft;
  FuncOp func;
  const Axes &axes;
  const TargetInfo &target;
};

} // namespace

SmallVector<Choice> zyx::schedule::chooseProducts(ScheduleDraft &draft, DotOp dot, unsigned most) {
  return ProductRules(draft).chooseDot(dot, most);
}

bool zyx::schedule::isFasterByThreads(ScheduleDraft &draft, double cost) {
  return ProductRules(draft).isFasterByThreads(cost);
}
