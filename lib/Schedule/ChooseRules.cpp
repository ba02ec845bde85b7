//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a kernel's schedule is, by its axes, its loads and the target's record: which rules are asked, in their order.
//===----------------------------------------------------------------------===//
#include "ChooseRules.h"

#include "ChooseElements.h"
#include "ChooseOnline.h"
#include "ChooseProducts.h"
#include "ChooseRows.h"
#include "ChooseTensor.h"

using namespace mlir;
using namespace zyx::kernel;
using namespace zyx::schedule;
using zyx::target::TargetInfo;

namespace {

/// Bytes of a load, none of them counted twice; 0 where that is not simple.
int64_t bytesRead(LoadOp load) {
  MapAttr map = load.getView().getDefiningOp<ViewOp>().getMap();
  if (!map.isSingleBlock())
    return 0;
  return std::min(bytesOfAll(load.getResult()), spanOf(map.front()) * bytesOf(load.getResult()));
}

/// Chooses for one kernel.
class ScheduleChooser {
public:
  explicit ScheduleChooser(ScheduleDraft &draft)
      : draft(draft), func(draft.func), axes(draft.axes), target(draft.target) {}

  /// The best one first, at most `most`.
  SmallVector<Choice> choose(unsigned most) {
    if (draft.stores.empty())
      return {draft.takeSteps()};
    const std::optional<SharedChoice> shared =
        draft.forms.sharing ? chooseSharedAttention(func, axes, target) : std::nullopt;
    auto takeShared = [&] { return SmallVector<Choice>{{shared->schedule, shared->threads, shared->cluster}}; };
    if (shared && hasFewRows(*shared))
      return takeShared();
    if (target.hasTensorCores()) {
      SmallVector<Choice> choices;
      for (const TensorChoice &tensor : chooseTensorSteps(func, axes, target, most))
        choices.push_back({ScheduleAttr::get(func.getContext(), {tensor.step}), 0, 0, tensor.cost});
      if (!choices.empty() && !isFasterByThreads(draft, choices.front().cost))
        return choices;
    }
    if (shared)
      return takeShared();
    if (chooseAttention(draft))
      return {draft.takeSteps()};
    draft.steps.clear();
    if (chooseChain(draft))
      return {draft.takeSteps()};
    draft.steps.clear();
    if (target.hasSharedMemory() && draft.forms.columnSums && draft.forms.sharing &&
        chooseRowAndColumnReductions(draft))
      return {draft.takeSteps()};
    draft.steps.clear();
    if (draft.dots.size() == 1 && !draft.combines)
      return chooseProducts(draft, draft.dots.front(), most);
    if (draft.combines || !draft.dots.empty()) {
      chooseRows(draft);
      if (draft.forms.sharing)
        chooseThreadsOfRows(draft);
    } else
      chooseElements(draft);
    int64_t read = 0, written = 0;
    for (StoreOp store : draft.stores)
      written += bytesOfAll(store.getValue());
    for (LoadOp load : draft.loads)
      read += bytesRead(load);
    if (draft.dots.empty() && target.accessBytes() != 0 &&
        (target.hasSubgroups() ? walksColumns() : std::max(read, written) >= target.costs.streamBytes))
      draft.steps.push_back(StreamStepAttr::get(func.getContext()));
    return withOtherThreads(draft.takeSteps(), most);
  }

private:
  /// Beside a choice, the same with half and twice as many threads for a row, and workgroups.
  SmallVector<Choice> withOtherThreads(const Choice &choice, unsigned most) {
    SmallVector<Choice> choices = {choice};
    auto add = [&](int64_t threads, int64_t cluster) {
      if (choices.size() < most && threads % target.simt.subgroupSize == 0 && threads >= draft.fewestThreads &&
          threads <= draft.mostKeepingThreads && cluster <= target.simt.clusterSize)
        choices.push_back({choice.schedule, threads, cluster > 1 ? cluster : 0});
    };
    if (choice.threads == 0)
      return choices;
    for (int64_t threads : {choice.threads / 2, 2 * choice.threads})
      add(threads, choice.cluster);
    if (choice.cluster > 1)
      for (int64_t cluster : {choice.cluster / 2, 2 * choice.cluster})
        add(choice.threads, cluster);
    return choices;
  }

  /// Whether threads add up columns: each reads on in another line, and comes back to none.
  bool walksColumns() {
    return draft.combines && (!func.getThreads() || draft.columns) && draft.dots.empty() &&
           llvm::any_of(draft.parallelAxes(), [&](Axis axis) { return draft.isContiguous(axis); });
  }

  ScheduleDraft &draft;
  FuncOp func;
  const Axes &axes;
  const TargetInfo &target;
};

} // namespace

SmallVector<Choice> zyx::schedule::chooseSchedules(FuncOp func, const Axes &axes, const TargetInfo &target,
                                                   unsigned most, ArrayRef<bool> isFixed, const Forms &forms) {
  ScheduleDraft draft(func, axes, target);
  draft.isFixed = isFixed;
  draft.forms = forms;
  return ScheduleChooser(draft).choose(most);
}
