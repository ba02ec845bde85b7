//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels that walk an axis in blocks: attention, chains of contractions, sums along rows and across them.
//===----------------------------------------------------------------------===//
#include "ChooseOnline.h"

#include "ChooseDot.h"
#include "ChooseRows.h"

#include "zyx/Codegen/Tile/ApplySchedule.h"

using namespace mlir;
using namespace zyx::kernel;
using namespace zyx::schedule;
using zyx::target::TargetInfo;

namespace {

/// Scores that an attention has at a time: with them, queries and results stay in the first caches.
constexpr int64_t attentionQueries = 64, attentionKeys = 64;
/// The same of few queries, and of a single one.
constexpr int64_t fewQueriesKeys = 256, maxKeys = 4096;

/// Chooses an online step, and what goes with it.
class OnlineRules {
public:
  explicit OnlineRules(ScheduleDraft &draft) : draft(draft), func(draft.func), axes(draft.axes), target(draft.target) {}

  /// False where the kernel is no attention.
  bool chooseAttention() {
    std::optional<Axis> keys = findKeys();
    if (!keys || (draft.dots.size() != 2 && !draft.dots.empty()))
      return false;
    int64_t keysAtOnce = target.hasSubgroups() || !draft.dots.empty() ? attentionKeys : maxKeys;
    bool isWalked = false;
    if (draft.dots.size() == 2 && chooseFewQueries(*keys)) {
      keysAtOnce = fewQueriesKeys;
    } else if (draft.dots.size() == 2) {
      chooseQueries(*keys);
      // One block of all keys is walked, too: queries are turned and weights computed once for it.
      isWalked = target.hasVectors() && !target.hasSubgroups();
    } else if (2 * axes.extent(*keys) * int64_t(sizeof(double)) > target.memory.privateBytes / 2) {
      // The scores of one query would be too many.
      chooseRows(draft);
    } else {
      return false;
    }
    if (isWalked || keysAtOnce < axes.extent(*keys))
      draft.steps.push_back(OnlineStepAttr::get(func.getContext(), draft.nameOf(*keys), keysAtOnce));
    return checkSchedule(func, draft.steps).isOk();
  }

  /// False where the kernel is no chain of contractions. A program per block of rows walks what is summed up.
  bool chooseChain() {
    std::optional<Axis> walked = draft.dots.size() < 2 || draft.combines ? std::nullopt : findWalked();
    if (!walked)
      return false;
    // What a row has in private memory: its factors, its part of a block, and its results.
    int64_t wide = 4 * attentionKeys;
    for (DotOp dot : draft.dots)
      wide += axes.extent(axes.of(axes.contains(dot.getResult(), *walked) ? dot.getLhs() : dot.getResult()).back());
    int64_t block = attentionQueries;
    while (block > 1 && block * wide * bytesOf(draft.dots.front().getResult()) > target.memory.privateBytes / 2)
      block /= 2;
    auto isRow = [&](Axis axis) {
      return llvm::any_of(draft.dots, [&](DotOp dot) {
        return llvm::is_contained(ArrayRef(axes.of(dot.getResult())).take_back(2), axis);
      });
    };
    for (Axis axis : draft.parallelAxes())
      draft.grid(axis, isRow(axis) ? block : 1);
    if (attentionKeys < axes.extent(*walked))
      draft.steps.push_back(OnlineStepAttr::get(func.getContext(), draft.nameOf(*walked), attentionKeys));
    return checkSchedule(func, draft.steps).isOk();
  }

  /// Sums along rows and sums across them: a workgroup has a part of the rows, reads one of them at a time into
  /// registers, and adds to the columns' sums in shared memory. False where the kernel has no such sums.
  bool chooseRowAndColumnReductions() {
    std::optional<Axis> columns, rows;
    bool isCrossed = draft.dots.empty();
    func.walk([&](ReduceOp reduce) {
      SmallVector<Axis> input = axes.of(reduce.getInput());
      const Axis summed = input[reduce.getDims()[0]];
      std::optional<Axis> &own = summed == input.back() ? columns : rows;
      isCrossed &= reduce.getDims().size() == 1 && (!own || *own == summed);
      own = summed;
    });
    if (!isCrossed || !columns || !rows || !draft.isContiguous(*columns) || !axes.name(*rows))
      return false;
    // What is summed up across rows has the columns that are summed up along them.
    func.walk([&](ReduceOp reduce) {
      SmallVector<Axis> input = axes.of(reduce.getInput());
      isCrossed &= input.back() == *columns && llvm::is_contained(input, *rows);
    });
    if (!isCrossed)
      return false;
    int64_t widest = 1, kept = 0;
    for (LoadOp load : draft.loads) {
      if (axes.contains(load.getResult(), *columns))
        widest = std::max(widest, bytesOf(load.getResult()));
      kept += axes.contains(load.getResult(), *columns) && axes.contains(load.getResult(), *rows);
    }
    for (Axis axis : draft.parallelAxes())
      draft.grid(axis, 1);
    draft.steps.push_back(OnlineStepAttr::get(func.getContext(), draft.nameOf(*rows), 1));
    if (!checkSchedule(func, draft.steps).isOk())
      return false;
    const int64_t lanes = target.lanes(widest), own = keptElements / std::max<int64_t>(kept, 1);
    const int64_t threads =
        llvm::alignTo(llvm::divideCeil(axes.extent(*columns), std::max(own, lanes)), draft.fewestThreads);
    func.setThreads(std::min(threads, draft.mostKeepingThreads));
    draft.setMinResidentThreads(draft.residentThreads);
    return true;
  }

private:
  /// The axis along which a maximum is taken, in a kernel with more sums than a softmax has, where no result
  /// has that axis.
  std::optional<Axis> findKeys() {
    std::optional<Axis> found;
    unsigned sums = draft.dots.size();
    func.walk([&](ReduceOp reduce) {
      ++sums;
      if (reduce.getKind() == Combine::Max && reduce.getDims().size() == 1)
        found = axes.of(reduce.getInput(), reduce.getDims()[0]);
    });
    bool isInside = found && sums > 2 && axes.name(*found) &&
                    llvm::none_of(draft.stores, [&](StoreOp store) { return axes.contains(store.getValue(), *found); });
    return isInside ? found : std::nullopt;
  }

  /// Queries that would leave half of a vector empty: features lie along vectors, of scores those that are summed up.
  /// Needs keys and values whose features are neighbours in memory; false where they are not, or queries are more.
  bool chooseFewQueries(Axis keys) {
    if (!target.hasVectors())
      return false;
    DotOp output = draft.dots[0], scores = draft.dots[1];
    if (axes.contains(output.getResult(), keys))
      std::swap(output, scores);
    SmallVector<Axis> scoreAxes = axes.of(scores.getResult()), outputAxes = axes.of(output.getResult());
    const Axis queries = outputAxes.end()[-2], features = outputAxes.back();
    const int64_t numQueries = axes.extent(queries), lanes = target.lanes(bytesOf(scores.getResult()));
    if (scoreAxes.back() != keys || scoreAxes.end()[-2] != queries || 2 * numQueries > lanes)
      return false;
    const DotFacts ofScores = describeDot(scores, {}, axes), ofOutput = describeDot(output, {}, axes);
    if (!ofScores.lhsAlongDepth || ofScores.rhsAlongColumns || ofScores.k < 2 * lanes || !ofOutput.rhsAlongColumns ||
        ofOutput.n < lanes)
      return false;
    for (Axis axis : draft.parallelAxes())
      if (axis != features)
        draft.grid(axis, axis == queries ? numQueries : 1);
    auto block = [&](int64_t rows, int64_t columns, int64_t depth, bool alongDepth) {
      draft.steps.push_back(BlockStepAttr::get(
          func.getContext(),
          BlockingAttr::get(func.getContext(), rows, columns, llvm::alignTo(numQueries, rows), depth, /*packLhs=*/false,
                            /*packRhs=*/false, alongDepth, /*narrow=*/false)));
    };
    const auto [rows, columns] = tileAlongDepth(numQueries, ofScores.n, ofScores.rhsComputed, target);
    block(rows, columns, ofScores.k, /*alongDepth=*/true);
    const DotPlan plan = planDots(ofOutput, target, 1).front().plan;
    block(plan.rows, plan.columns, ofOutput.k, /*alongDepth=*/false);
    return true;
  }

  /// A program per block of queries walks the keys in blocks. Queries lie along vectors: then neither
  /// keys nor values need a copy, and no sum crosses lanes.
  void chooseQueries(Axis keys) {
    DotOp output = draft.dots[0], scores = draft.dots[1];
    if (axes.contains(output.getResult(), keys))
      std::swap(output, scores);
    // The last two dimensions of the one are queries and keys, of the other queries and features.
    auto lastTwo = [&](DotOp dot) {
      SmallVector<Axis> all = axes.of(dot.getResult());
      return std::pair(all.end()[-2], all.end()[-1]);
    };
    auto [scoreRow, scoreColumn] = lastTwo(scores);
    auto [outputRow, outputColumn] = lastTwo(output);
    Axis queries = scoreRow == keys ? scoreColumn : scoreRow;
    Axis features = outputRow == queries ? outputColumn : outputRow;
    // What a query has in private memory: itself, scores and weights of a block, its rows of the result.
    int64_t wide = axes.extent(axes.of(scores.getLhs()).back()) + 2 * attentionKeys + axes.extent(features) + 4;
    int64_t block = attentionQueries;
    while (block > 1 && block * wide * bytesOf(output.getResult()) > target.memory.privateBytes / 2)
      block /= 2;
    draft.steps.push_back(SwapStepAttr::get(func.getContext()));
    for (Axis axis : draft.parallelAxes())
      if (axis != features)
        draft.grid(axis, axis == queries ? block : 1);
    chooseMatrixBlocks(scores, output, keys, {queries, block}, features);
  }

  /// Where a processor has a unit or instructions for the factors of both dots, whose weights are then rounded as
  /// results are. The left factors are keys, and values whose neighbours along the keys are packed side by side.
  void chooseMatrixBlocks(DotOp scores, DotOp output, Axis keys, std::pair<Axis, int64_t> queries, Axis features) {
    const zyx::target::MatrixInstruction *unit = target.findDot(zyx::target::MatrixType::BF16);
    if (!target.hasVectors() || !unit || !isForMatrixUnit(scores, target) || axes.extent(keys) < 2 * unit->n)
      return;
    // In both dots the keys are rows or columns; in that of results they are summed up.
    Value values = axes.contains(output.getLhs(), queries.first) ? output.getRhs() : output.getLhs();
    const int64_t few = unit->n, depth = axes.extent(axes.of(scores.getLhs()).back());
    const int64_t columns = std::min(axes.extent(queries.first), queries.second), rows = axes.extent(features);
    auto isRounded = [&](StoreOp store) {
      return !axes.contains(store.getValue(), features) || bytesOf(store.getValue()) <= bytesOf(values);
    };
    if (!getElementTypeOrSelf(values.getType()).isBF16() || !getElementTypeOrSelf(output.getType()).isF32() ||
        columns < few || rows < few || 2 * depth < target.vector.bytes || !llvm::all_of(draft.stores, isRounded))
      return;
    auto block = [&](int64_t tileRows, int64_t height, int64_t steps, bool packLhs) {
      draft.steps.push_back(BlockStepAttr::get(
          func.getContext(), BlockingAttr::get(func.getContext(), tileRows, columns < 2 * few ? few : 2 * few, height,
                                               steps, packLhs, /*packRhs=*/true, /*alongDepth=*/false,
                                               /*narrow=*/true)));
    };
    block(2 * few, attentionKeys, depth, /*packLhs=*/false);
    const int64_t height = rows % (2 * few) == 0 ? 2 * few : few;
    block(height, llvm::alignTo(rows, height), attentionKeys, /*packLhs=*/true);
  }

  /// The axis along which dots sum up what is computed from others' results.
  std::optional<Axis> findWalked() {
    llvm::SmallSetVector<Axis, 2> walked;
    for (DotOp dot : draft.dots) {
      const Axis summed = axes.of(dot.getLhs()).back();
      if (llvm::any_of(draft.dots, [&](DotOp other) { return axes.contains(other.getResult(), summed); }))
        walked.insert(summed);
    }
    return walked.size() == 1 && axes.name(walked.front()) ? std::optional(walked.front()) : std::nullopt;
  }

  ScheduleDraft &draft;
  FuncOp func;
  const Axes &axes;
  const TargetInfo &target;
};

} // namespace

bool zyx::schedule::chooseAttention(ScheduleDraft &draft) { return OnlineRules(draft).chooseAttention(); }

bool zyx::schedule::chooseChain(ScheduleDraft &draft) { return OnlineRules(draft).chooseChain(); }

bool zyx::schedule::chooseRowAndColumnReductions(ScheduleDraft &draft) {
  return OnlineRules(draft).chooseRowAndColumnReductions();
}
