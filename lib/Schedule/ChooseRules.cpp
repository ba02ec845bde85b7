//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a kernel's schedule is, by its axes, its loads and the target's record.
//===----------------------------------------------------------------------===//
#include "ChooseRules.h"

#include "ChooseDot.h"
#include "ChooseShared.h"
#include "ChooseTensor.h"
#include "Legality.h"
#include "Overlap.h"

#include "zyx/Codegen/Tile/NearForm.h"
#include "zyx/Codegen/Tile/RowReductions.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace zyx::kernel;
using zyx::schedule::Choice;
using zyx::schedule::strideThrough;
using zyx::target::TargetInfo;

namespace {

/// Elements that one program of an elementwise kernel computes: enough to hide what it costs to begin
/// a program, few enough that the inputs of a long chain stay in the first cache.
constexpr int64_t programElements = 4096;
/// Programs that a kernel should have before its blocks grow further.
constexpr int64_t enoughPrograms = 16;
constexpr int64_t rowsPerBlock = 256;
/// Scores that an attention has at a time: with them, queries and results stay in the first caches.
constexpr int64_t attentionQueries = 64, attentionKeys = 64;
/// The same of a single query.
constexpr int64_t maxKeys = 4096;
/// What a program transposes, along the axis that it reads and along the one that it writes: whole lines of
/// both, and so few places to write to that a processor knows their pages.
constexpr int64_t readTile = 64, writtenTile = 32;
/// Rows that one program reduces together, so that one waits for its sum while another is read.
constexpr int64_t rowsAtOnce = 4;
/// Elements of rows beyond that: few, so that reading one program's rows overlaps with computing another's.
constexpr int64_t rowElements = 1024;
/// Columns of one program: pieces of memory that are worth a prefetch, and sums that stay in the first cache.
constexpr int64_t fewestColumns = 256, mostColumns = 4096;
/// Of threads that share a row, vectors that each has before there are more of them, and how many there are.
constexpr int64_t vectorsPerThread = 2, mostThreads = 256;
/// Those of a row that is read once, where there are enough rows: reads of several are in flight.
constexpr int64_t vectorsReadOnce = 4;
/// The same where a row is walked again: elements that each thread keeps in registers. Twice as many are possible.
constexpr int64_t keptElements = 32;
/// Rows that a multiprocessor walks at a time where they are read again from the second cache.
constexpr int64_t nearRows = 2;
/// Rows of a product that a thread computes: with 16 bytes of columns its sums stay in registers.
constexpr int64_t threadRows = 4;

int64_t bytesOf(Value tile) {
  Type element = cast<RankedTensorType>(tile.getType()).getElementType();
  return std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
}

int64_t bytesOfAll(Value tile) { return cast<RankedTensorType>(tile.getType()).getNumElements() * bytesOf(tile); }

/// Elements between the first and the last one of a block.
int64_t spanOf(BlockAttr block) {
  int64_t span = 1;
  for (auto [extent, stride] : llvm::zip(block.getShape(), block.getStrides()))
    span += (BlockAttr::constant(extent).value_or(1) - 1) * std::abs(BlockAttr::constant(stride).value_or(0));
  return span;
}

/// Bytes of a load, none of them counted twice; 0 where that is not simple.
int64_t bytesRead(LoadOp load) {
  MapAttr map = load.getView().getDefiningOp<ViewOp>().getMap();
  if (!map.isSingleBlock())
    return 0;
  return std::min(bytesOfAll(load.getResult()), spanOf(map.front()) * bytesOf(load.getResult()));
}

/// Chooses for one kernel.
class Chooser {
public:
  Chooser(FuncOp func, const Axes &axes, const TargetInfo &target)
      : func(func), axes(axes), target(target), fewestThreads(target.simt.subgroupSize),
        mostKeepingThreads(target.simt.threadsWith(4 * keptElements)),
        residentThreads(target.simt.threadsWith(2 * keptElements)) {}

  /// The best one first, at most `most`.
  SmallVector<Choice> choose(unsigned most) {
    func.walk([&](Operation *op) {
      if (auto store = dyn_cast<StoreOp>(op))
        stores.push_back(store);
      else if (auto load = dyn_cast<LoadOp>(op))
        loads.push_back(load);
      else if (auto gather = dyn_cast<GatherOp>(op))
        gathers.push_back(gather);
      else if (auto found = dyn_cast<DotOp>(op))
        dots.push_back(found);
      combines |= isa<ReduceOp, ScanOp>(op);
    });
    if (stores.empty())
      return {takeSteps()};
    const std::optional<zyx::schedule::SharedChoice> shared = zyx::schedule::chooseSharedAttention(func, axes, target);
    auto takeShared = [&] { return SmallVector<Choice>{{shared->schedule, shared->threads, shared->cluster}}; };
    if (shared && zyx::schedule::hasFewRows(*shared))
      return takeShared();
    if (target.hasTensorCores()) {
      SmallVector<Choice> choices;
      for (const zyx::schedule::TensorChoice &tensor : zyx::schedule::chooseTensorSteps(func, axes, target, most))
        choices.push_back({ScheduleAttr::get(func.getContext(), {tensor.step}), 0, 0, tensor.cost});
      if (!choices.empty() && !isFasterByThreads(choices.front().cost))
        return choices;
    }
    if (shared)
      return takeShared();
    if (chooseAttention())
      return {takeSteps()};
    steps.clear();
    if (chooseChain())
      return {takeSteps()};
    steps.clear();
    if (target.hasSharedMemory() && chooseCrossed())
      return {takeSteps()};
    steps.clear();
    if (dots.size() == 1 && !combines)
      return chooseDot(dots.front(), most);
    if (combines || !dots.empty()) {
      chooseRows();
      chooseThreadsOfRows();
    } else
      chooseElements();
    int64_t read = 0, written = 0;
    for (StoreOp store : stores)
      written += bytesOfAll(store.getValue());
    for (LoadOp load : loads)
      read += bytesRead(load);
    if (dots.empty() && target.accessBytes() != 0 &&
        (target.hasSubgroups() ? walksColumns() : std::max(read, written) >= target.costs.streamBytes))
      steps.push_back(StreamStepAttr::get(func.getContext()));
    return withOtherThreads(takeSteps(), most);
  }

private:
  /// A choice of what was found, with the threads that the kernel was given.
  Choice takeSteps() {
    Choice choice{ScheduleAttr::get(func.getContext(), steps), static_cast<int64_t>(func.getThreads().value_or(0)),
                  static_cast<int64_t>(func.getCluster().value_or(0))};
    steps.clear();
    func.removeThreadsAttr();
    func.removeClusterAttr();
    return choice;
  }

  /// Beside a choice, the same with half and twice as many threads for a row, and workgroups.
  SmallVector<Choice> withOtherThreads(const Choice &choice, unsigned most) {
    SmallVector<Choice> choices = {choice};
    auto add = [&](int64_t threads, int64_t cluster) {
      if (choices.size() < most && threads % target.simt.subgroupSize == 0 && threads >= fewestThreads &&
          threads <= mostKeepingThreads && cluster <= target.simt.clusterSize)
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

  /// Axes that every store has and nothing combines, in the order of the first store.
  SmallVector<Axis> parallelAxes() {
    SmallVector<Axis> result;
    for (Axis axis : axes.of(stores.front().getValue())) {
      bool everywhere = llvm::all_of(stores, [&](StoreOp store) { return axes.contains(store.getValue(), axis); });
      if (everywhere && !axes.isCombined(axis) && axes.extent(axis) > 1 && axes.name(axis))
        result.push_back(axis);
    }
    return result;
  }

  /// Whether threads add up columns: each reads on in another line, and comes back to none.
  bool walksColumns() {
    return combines && (!func.getThreads() || sharesColumns) && dots.empty() &&
           llvm::any_of(parallelAxes(), [&](Axis axis) { return isContiguous(axis); });
  }

  /// Of what is read along the axis, most lies side by side.
  bool isContiguous(Axis axis) {
    int64_t score = 0;
    for (LoadOp load : loads)
      if (axes.contains(load.getResult(), axis)) {
        auto view = load.getView().getDefiningOp<ViewOp>();
        BlockAttr block = view.getMap().front();
        for (auto [dim, a] : llvm::enumerate(axes.of(load.getResult())))
          if (a == axis)
            score += (BlockAttr::constant(block.getStrides()[dim]) == 1 ? 1 : -1) * bytesOfAll(load.getResult());
      }
    for (GatherOp gather : gathers)
      if (target.hasSubgroups() && axes.contains(gather.getResult(), axis))
        score += (gathersAlong(gather, axis) ? 1 : -1) * bytesOfAll(gather.getResult());
    return score > 0;
  }

  /// Whether neighbours along an axis are neighbours in what is gathered from, as those of a row are whose number is
  /// data.
  bool gathersAlong(GatherOp gather, Axis axis) {
    MapAttr map = gather.getView().getDefiningOp<ViewOp>().getMap();
    for (auto [dim, index] : llvm::enumerate(gather.getIndices())) {
      Operation *op = index.getDefiningOp();
      while (isa_and_nonnull<BroadcastOp, TransposeOp, ReshapeOp>(op))
        op = op->getOperand(0).getDefiningOp();
      auto iota = dyn_cast_or_null<IotaOp>(op);
      if (iota && axes.of(iota.getResult(), iota.getDim()) == axis)
        return strideThrough(map, dim) == 1;
    }
    return false;
  }

  /// The widest element that is read along an axis, or any.
  int64_t widestRead(std::optional<Axis> axis) {
    int64_t widest = 1;
    auto look = [&](Value tile) {
      if (!axis || axes.contains(tile, *axis))
        widest = std::max(widest, bytesOf(tile));
    };
    for (LoadOp load : loads)
      look(load.getResult());
    for (GatherOp gather : gathers)
      look(gather.getResult());
    return widest;
  }

  void grid(Axis axis, int64_t tile) {
    if (tile < axes.extent(axis))
      steps.push_back(GridStepAttr::get(func.getContext(), nameOf(axis), tile));
  }
  StringAttr nameOf(Axis axis) { return StringAttr::get(func.getContext(), *axes.name(axis)); }

  SmallVector<Choice> chooseDot(DotOp dot, unsigned most) {
    unsigned rank = cast<RankedTensorType>(dot.getType()).getRank();
    Axis m = axes.of(dot.getResult(), rank - 2), n = axes.of(dot.getResult(), rank - 1),
         k = axes.of(dot.getLhs(), rank - 1);
    SmallVector<Axis> parallel = parallelAxes();
    bool mParallel = llvm::is_contained(parallel, m), nParallel = llvm::is_contained(parallel, n);
    if (target.hasVectors() && zyx::schedule::storesFollowTiles(dot, stores, axes))
      return chooseBlocks(dot, parallel, m, n, most);
    if (target.hasSubgroups()) {
      SmallVector<Choice> shared = chooseShared(dot, parallel, m, n, most);
      if (!shared.empty())
        return shared;
      chooseThreads(dot, parallel, m, n);
      return {takeSteps()};
    }
    int64_t lanes = target.lanes(bytesOf(dot.getResult()));
    int64_t panel = std::clamp<int64_t>(axes.extent(n), 1, 2 * std::max<int64_t>(lanes, 2));
    int64_t vectors = llvm::divideCeil(panel, lanes);
    int64_t rows = std::clamp<int64_t>((target.vector.registers - 2 - vectors) / vectors, 1, 8);
    int64_t panels = llvm::divideCeil(axes.extent(n), panel);
    for (Axis axis : parallel) {
      if (axis == m)
        grid(m, panels >= enoughPrograms ? axes.extent(m) : llvm::alignTo(rowsPerBlock, rows));
      else if (axis == n)
        grid(n, panel);
      else
        grid(axis, 1);
    }
    if (!mParallel || !nParallel)
      return {takeSteps()};
    // A panel is read once per block of rows; copied into one piece it stays in the cache.
    int64_t panelBytes = axes.extent(k) * llvm::alignTo(panel, lanes) * bytesOf(dot.getRhs());
    if (axes.extent(m) >= 4 * rows && panelBytes <= target.memory.privateBytes / 2)
      steps.push_back(StageStepAttr::get(func.getContext(), 1, Space::Private));
    if (axes.extent(m) > rows)
      steps.push_back(LoopStepAttr::get(func.getContext(), nameOf(m), rows));
    return {takeSteps()};
  }

  /// Where each thread is a program.
  void chooseThreads(DotOp dot, ArrayRef<Axis> parallel, Axis m, Axis n) {
    for (Axis axis : parallel)
      grid(axis, axis == m ? threadRows : axis == n ? target.lanes(bytesOf(dot.getResult())) : 1);
  }

  /// Whether workgroups that share small tiles are estimated to multiply f32 in less time than those of the copy
  /// engine's ring, whose tiles are large: of few results there are few of these. Both multiply by the same lanes.
  bool isFasterByThreads(double cost) {
    if (dots.size() != 1 || combines || target.matrix.fewDigits ||
        !getElementTypeOrSelf(dots.front().getLhs().getType()).isF32() ||
        !zyx::schedule::storesFollowTiles(dots.front(), stores, axes))
      return false;
    DotOp dot = dots.front();
    const SmallVector<Axis> all = axes.of(dot.getResult()), parallel = parallelAxes();
    const auto plans = zyx::schedule::planSharedDots(dot, axes, llvm::is_contained(parallel, all[all.size() - 2]),
                                                     llvm::is_contained(parallel, all.back()), target, 1);
    if (plans.empty())
      return false;
    int64_t bytes = bytesOfAll(dot.getLhs()) + bytesOfAll(dot.getRhs());
    for (StoreOp store : stores)
      bytes += bytesOfAll(store.getValue());
    const double memory =
        static_cast<double>(bytes) / static_cast<double>(target.costs.memoryBytesPerCycle * target.cores);
    return zyx::schedule::overlapped(plans.front().cost, memory) < cost;
  }

  /// Where a workgroup is a program, and multiplies out of shared memory.
  SmallVector<Choice> chooseShared(DotOp dot, ArrayRef<Axis> parallel, Axis m, Axis n, unsigned most) {
    SmallVector<Choice> choices;
    if (!zyx::schedule::storesFollowTiles(dot, stores, axes))
      return choices;
    for (const zyx::schedule::SharedPlan &plan : zyx::schedule::planSharedDots(
             dot, axes, llvm::is_contained(parallel, m), llvm::is_contained(parallel, n), target, most)) {
      for (Axis axis : parallel)
        grid(axis, axis == m ? plan.tileRows : axis == n ? plan.tileColumns : 1);
      auto blocking =
          BlockingAttr::get(func.getContext(), plan.rows, plan.columns, plan.rows, plan.depth, /*packLhs=*/true,
                            /*packRhs=*/true, /*alongDepth=*/false, /*narrow=*/plan.byWarps);
      steps.push_back(BlockStepAttr::get(func.getContext(), blocking));
      func.setThreads(plan.threads);
      choices.push_back(takeSteps());
      choices.back().cost = plan.cost;
    }
    return choices;
  }

  /// On a processor with vectors.
  SmallVector<Choice> chooseBlocks(DotOp dot, ArrayRef<Axis> parallel, Axis m, Axis n, unsigned most) {
    zyx::schedule::DotFacts facts = zyx::schedule::describeDot(dot, stores, axes);
    facts.cutRows = llvm::is_contained(parallel, m);
    facts.cutColumns = llvm::is_contained(parallel, n);
    SmallVector<Choice> choices;
    for (const auto &[plan, cost] : zyx::schedule::planDots(facts, target, most)) {
      for (Axis axis : parallel)
        grid(axis, axis == m ? plan.programRows : axis == n ? plan.programColumns : 1);
      auto blocking = BlockingAttr::get(func.getContext(), plan.rows, plan.columns, plan.rowBlock, plan.depth,
                                        plan.packLhs, plan.packRhs, plan.alongDepth, plan.narrow);
      steps.push_back(BlockStepAttr::get(func.getContext(), blocking));
      choices.push_back(takeSteps());
      choices.back().cost = cost;
    }
    return choices;
  }

  /// The axis along which a maximum is taken, in a kernel with more sums than a softmax has, where no result
  /// has that axis.
  std::optional<Axis> findKeys() {
    std::optional<Axis> found;
    unsigned sums = dots.size();
    func.walk([&](ReduceOp reduce) {
      ++sums;
      if (reduce.getKind() == Combine::Max && reduce.getDims().size() == 1)
        found = axes.of(reduce.getInput(), reduce.getDims()[0]);
    });
    bool isInside = found && sums > 2 && axes.name(*found) &&
                    llvm::none_of(stores, [&](StoreOp store) { return axes.contains(store.getValue(), *found); });
    return isInside ? found : std::nullopt;
  }

  /// Keys that are looked at together, of one query.
  int64_t keysAtOnce() { return target.hasSubgroups() || !dots.empty() ? attentionKeys : maxKeys; }

  /// False where the kernel is no attention.
  bool chooseAttention() {
    std::optional<Axis> keys = findKeys();
    if (!keys || (dots.size() != 2 && !dots.empty()))
      return false;
    if (dots.size() == 2)
      chooseQueries(*keys);
    else if (2 * axes.extent(*keys) * int64_t(sizeof(double)) > target.memory.privateBytes / 2)
      // The scores of one query would be too many.
      chooseRows();
    else
      return false;
    if (attentionKeys < axes.extent(*keys))
      steps.push_back(OnlineStepAttr::get(func.getContext(), nameOf(*keys), keysAtOnce()));
    return zyx::schedule::isLegal(func, steps);
  }

  /// A program per block of queries walks the keys in blocks. Queries lie along vectors: then neither
  /// keys nor values need a copy, and no sum crosses lanes.
  void chooseQueries(Axis keys) {
    DotOp output = dots[0], scores = dots[1];
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
    steps.push_back(SwapStepAttr::get(func.getContext()));
    for (Axis axis : parallelAxes())
      if (axis != features)
        grid(axis, axis == queries ? block : 1);
  }

  /// The axis along which dots sum up what is computed from others' results.
  std::optional<Axis> findWalked() {
    llvm::SmallSetVector<Axis, 2> walked;
    for (DotOp dot : dots) {
      const Axis summed = axes.of(dot.getLhs()).back();
      if (llvm::any_of(dots, [&](DotOp other) { return axes.contains(other.getResult(), summed); }))
        walked.insert(summed);
    }
    return walked.size() == 1 && axes.name(walked.front()) ? std::optional(walked.front()) : std::nullopt;
  }

  /// False where the kernel is no chain of contractions. A program per block of rows walks what is summed up.
  bool chooseChain() {
    std::optional<Axis> walked = dots.size() < 2 || combines ? std::nullopt : findWalked();
    if (!walked)
      return false;
    // What a row has in private memory: its factors, its part of a block, and its results.
    int64_t wide = 4 * attentionKeys;
    for (DotOp dot : dots)
      wide += axes.extent(axes.of(axes.contains(dot.getResult(), *walked) ? dot.getLhs() : dot.getResult()).back());
    int64_t block = attentionQueries;
    while (block > 1 && block * wide * bytesOf(dots.front().getResult()) > target.memory.privateBytes / 2)
      block /= 2;
    auto isRow = [&](Axis axis) {
      return llvm::any_of(
          dots, [&](DotOp dot) { return llvm::is_contained(ArrayRef(axes.of(dot.getResult())).take_back(2), axis); });
    };
    for (Axis axis : parallelAxes())
      grid(axis, isRow(axis) ? block : 1);
    if (attentionKeys < axes.extent(*walked))
      steps.push_back(OnlineStepAttr::get(func.getContext(), nameOf(*walked), attentionKeys));
    return zyx::schedule::isLegal(func, steps);
  }

  /// Sums along rows and sums across them: a workgroup has a part of the rows, reads one of them at a time into
  /// registers, and adds to the columns' sums in shared memory. False where the kernel has no such sums.
  bool chooseCrossed() {
    std::optional<Axis> columns, rows;
    bool isCrossed = dots.empty();
    func.walk([&](ReduceOp reduce) {
      SmallVector<Axis> input = axes.of(reduce.getInput());
      const Axis summed = input[reduce.getDims()[0]];
      std::optional<Axis> &own = summed == input.back() ? columns : rows;
      isCrossed &= reduce.getDims().size() == 1 && (!own || *own == summed);
      own = summed;
    });
    if (!isCrossed || !columns || !rows || !isContiguous(*columns) || !axes.name(*rows))
      return false;
    // What is summed up across rows has the columns that are summed up along them.
    func.walk([&](ReduceOp reduce) {
      SmallVector<Axis> input = axes.of(reduce.getInput());
      isCrossed &= input.back() == *columns && llvm::is_contained(input, *rows);
    });
    if (!isCrossed)
      return false;
    int64_t widest = 1, kept = 0;
    for (LoadOp load : loads) {
      if (axes.contains(load.getResult(), *columns))
        widest = std::max(widest, bytesOf(load.getResult()));
      kept += axes.contains(load.getResult(), *columns) && axes.contains(load.getResult(), *rows);
    }
    for (Axis axis : parallelAxes())
      grid(axis, 1);
    steps.push_back(OnlineStepAttr::get(func.getContext(), nameOf(*rows), 1));
    if (!zyx::schedule::isLegal(func, steps))
      return false;
    const int64_t lanes = target.lanes(widest), own = keptElements / std::max<int64_t>(kept, 1);
    const int64_t threads = llvm::alignTo(llvm::divideCeil(axes.extent(*columns), std::max(own, lanes)), fewestThreads);
    func.setThreads(std::min(threads, mostKeepingThreads));
    setResidents(residentThreads);
    return true;
  }

  void chooseRows() {
    int64_t widest = 1;
    for (LoadOp load : loads)
      widest = std::max(widest, bytesOf(load.getResult()));
    if (combinesWindows())
      return chooseWindows(target.lanes(widest));
    if (dots.empty() && countCombined() > mostWindowElements && chooseNearWindows(target.lanes(widest)))
      return;
    if (chooseColumns())
      return;
    SmallVector<Axis> parallel = parallelAxes();
    bool widen = dots.empty() && !target.hasSubgroups() && llvm::none_of(stores, [&](StoreOp store) {
                   return llvm::any_of(axes.of(store.getValue()), [&](Axis axis) { return axes.isCombined(axis); });
                 });
    for (Axis axis : parallel) {
      if (isContiguous(axis)) {
        const int64_t vectors =
            target.hasSubgroups() ? wholeVectors(axis, target.lanes(widestRead(axis))) : 4 * target.lanes(widest);
        grid(axis, widen ? columnsPerProgram(axis, vectors) : vectors);
      } else
        grid(axis, axis == parallel.back() && dots.empty() && !target.hasSubgroups() ? rowsPerProgram(axis) : 1);
    }
  }

  /// Sums of columns of which there are too few for all threads: a workgroup has a strip of columns, and groups of its
  /// threads have the rows of it in turns. False where another way is better.
  bool chooseColumns() {
    constexpr int64_t mostVectors = 32, fewestVectors = 8, groupThreads = 512, rowsPerGroup = 8, fewestRows = 32;
    if (!target.hasSubgroups() || !dots.empty() ||
        func.walk([](ScanOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return false;
    const SmallVector<Axis> parallel = parallelAxes();
    std::optional<Axis> along;
    for (Axis axis = 0; axis < axes.size(); ++axis) {
      const bool isRead = axes.extent(axis) > 1 && isContiguous(axis);
      if (isRead && !llvm::is_contained(parallel, axis))
        return false;
      if (isRead)
        along = axis;
    }
    if (!along)
      return false;
    // Each result belongs to a column, and is combined of rows that are enough for groups: fewer are read by each
    // thread that has columns, of which there are more than columns here.
    int64_t rows = std::numeric_limits<int64_t>::max();
    const bool areColumns = !func.walk([&](ReduceOp reduce) {
                                   int64_t own = 1;
                                   for (int64_t dim : reduce.getDims())
                                     own *= axes.extent(axes.of(reduce.getInput(), dim));
                                   rows = std::min(rows, own);
                                   bool isColumn = axes.contains(reduce.getResult(), *along);
                                   for (Axis axis : axes.of(reduce.getResult()))
                                     isColumn &= axes.extent(axis) == 1 || llvm::is_contained(parallel, axis);
                                   return isColumn ? WalkResult::advance() : WalkResult::interrupt();
                                 })
                                 .wasInterrupted();
    if (!areColumns || rows < fewestRows || rows == std::numeric_limits<int64_t>::max())
      return false;
    int64_t lanes = target.lanes(widestRead(*along)), programs = 1;
    while (axes.extent(*along) % lanes != 0)
      lanes /= 2;
    const int64_t all = axes.extent(*along) / lanes;
    int64_t vectors = std::min(all, mostVectors);
    while (all % vectors != 0)
      --vectors;
    if (vectors < std::min(all, fewestVectors))
      return false;
    for (Axis axis : parallel)
      programs *= axis == *along ? all / vectors : axes.extent(axis);
    const int64_t wanted = target.busyThreads();
    if (programs * vectors >= wanted / 2)
      return false;
    auto power = [](int64_t value) { return static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(value))); };
    int64_t groups = std::min(power(rows / rowsPerGroup), power(groupThreads / vectors));
    while (groups > 2 && programs * vectors * groups > 2 * wanted)
      groups /= 2;
    if (groups < 2)
      return false;
    for (Axis axis : parallel)
      grid(axis, axis == *along ? vectors * lanes : 1);
    func.setThreads(llvm::alignTo(vectors * groups, target.simt.subgroupSize));
    func->setAttr(rowGroupsAttrName, UnitAttr::get(func.getContext()));
    sharesColumns = true;
    return true;
  }

  /// Few results that are combined of many short rows, as filters' gradients of images and norms of their channels are:
  /// a workgroup has one, and groups of its threads have the rows in turns, those that are written too. False where
  /// another way is better.
  bool chooseNestedRows() {
    constexpr int64_t fewestElements = 1024, manyElements = 4096, fewestPrograms = 512;
    std::optional<Axis> row, rows;
    const SmallVector<Axis> parallel = parallelAxes();
    int64_t combined = 1, programs = 1;
    for (Axis axis = 0; axis < axes.size(); ++axis) {
      if (!axes.isCombined(axis) || axes.extent(axis) == 1)
        continue;
      combined *= axes.extent(axis);
      if (isContiguous(axis) && (!row || axes.extent(axis) > axes.extent(*row)))
        row = axis;
    }
    for (Axis axis = 0; axis < axes.size(); ++axis)
      if (axes.isCombined(axis) && axis != row && (!rows || axes.extent(axis) > axes.extent(*rows)))
        rows = axis;
    if (!row || !rows || axes.extent(*rows) < 2 || combined < fewestElements)
      return false;
    const int64_t groupThreads = combined < manyElements ? 128 : 256;
    // All are combined along the same axes, and each result is one number of a program.
    const bool areSame = !func.walk([&](ReduceOp reduce) {
                                int64_t own = 1;
                                for (int64_t dim : reduce.getDims())
                                  own *= axes.extent(axes.of(reduce.getInput(), dim));
                                bool isOne = own == combined;
                                for (Axis axis : axes.of(reduce.getResult()))
                                  isOne &= axes.extent(axis) == 1 || llvm::is_contained(parallel, axis);
                                return isOne ? WalkResult::advance() : WalkResult::interrupt();
                              })
                              .wasInterrupted();
    int64_t lanes = target.lanes(widestRead(*row));
    while (axes.extent(*row) % lanes != 0)
      lanes /= 2;
    const int64_t vectors = axes.extent(*row) / lanes;
    for (Axis axis : parallel)
      programs *= axes.extent(axis);
    // Where a thread has a result, or some, there are enough of them.
    if (!areSame || vectors > groupThreads / 2 || vectors >= fewestThreads * vectorsPerThread ||
        programs / target.lanes(4) >= target.cores * fewestPrograms)
      return false;
    const int64_t groups = std::min(groupThreads / vectors, axes.extent(*rows));
    if (groups < 2)
      return false;
    steps.clear();
    for (Axis axis : parallel)
      grid(axis, 1);
    func.setThreads(llvm::alignTo(vectors * groups, target.simt.subgroupSize));
    func->setAttr(rowGroupsAttrName, UnitAttr::get(func.getContext()));
    sharesRows = true;
    return true;
  }

  /// Several threads walk a long row together, so that neighbours read neighbours. What a row is
  /// combined into must be one element in each program.
  void chooseThreadsOfRows() {
    if (!target.hasSubgroups() || !dots.empty() || sharesColumns || chooseNestedRows() ||
        func.walk([](ScanOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return;
    std::optional<Axis> row;
    for (Axis axis = 0; axis < axes.size(); ++axis)
      if (axes.isCombined(axis) && isContiguous(axis) && (!row || axes.extent(axis) > axes.extent(*row)))
        row = axis;
    SmallVector<Axis> parallel = parallelAxes();
    bool isOne = !func.walk([&](ReduceOp reduce) {
                        for (Axis axis : axes.of(reduce.getResult()))
                          if (axes.extent(axis) != 1 && (!llvm::is_contained(parallel, axis) || isContiguous(axis)))
                            return WalkResult::interrupt();
                        return WalkResult::advance();
                      })
                      .wasInterrupted();
    if (!row || !isOne)
      return;
    int64_t widest = 1;
    for (LoadOp load : loads)
      if (axes.contains(load.getResult(), *row))
        widest = std::max(widest, bytesOf(load.getResult()));
    const int64_t lanes = target.lanes(widest), threads = axes.extent(*row) / (vectorsPerThread * lanes);
    if (threads < fewestThreads || sharesRows)
      return;
    func.setThreads(std::min<int64_t>(llvm::bit_floor(static_cast<uint64_t>(threads)), mostThreads));
    if (axes.extent(*row) % lanes == 0)
      keepRow(*row, axes.extent(*row) / lanes, lanes);
  }

  /// How often a row is walked, and how often where a maximum is taken along with the exponentials of distances to it.
  struct Walks {
    int64_t apart = 0, online = 0;
  };
  Walks countWalks(Axis row) {
    Walks walks;
    SmallVector<ReduceOp> before;
    func.walk([&](ReduceOp reduce) {
      if (!axes.contains(reduce.getInput(), row) || findPickedIndex(reduce, axes))
        return;
      ++walks.apart;
      walks.online += llvm::none_of(before, [&](ReduceOp max) { return addsExponentials(reduce, max); });
      before.push_back(reduce);
    });
    const bool writes = llvm::any_of(stores, [&](StoreOp store) { return axes.contains(store.getValue(), row); });
    return {walks.apart + writes, walks.online + writes};
  }

  /// More threads for a row of `vectors` that is walked more than once, and more workgroups, so that all of it is in
  /// registers. What can be had in one walk is not worth them.
  void keepRow(Axis row, int64_t vectors, int64_t lanes) {
    int64_t kept = 0, programs = 1;
    const Walks walks = countWalks(row);
    const SmallVector<Axis> parallel = parallelAxes();
    for (LoadOp load : loads)
      kept += axes.contains(load.getResult(), row) && (parallel.empty() || llvm::any_of(parallel, [&](Axis axis) {
                                                         return axes.contains(load.getResult(), axis);
                                                       }));
    for (Axis axis : parallel)
      programs *= axes.extent(axis);
    if (walks.apart < 2) {
      const auto fewer = std::clamp<int64_t>(llvm::bit_floor(static_cast<uint64_t>(vectors / vectorsReadOnce)),
                                             fewestThreads, mostThreads);
      if (programs * fewer >= target.busyThreads())
        func.setThreads(fewer);
      return;
    }
    const int64_t ofOne = std::max<int64_t>(keptElements / lanes, 1);
    // Of several rows at once each has fewer registers.
    int64_t rounds = std::max<int64_t>(ofOne / std::max<int64_t>(kept, 1), 1), cluster = 1;
    const bool isOnline = walks.online < 2 && vectors > rounds * mostThreads;
    auto mayDouble = [&] {
      return 2 * cluster <= target.simt.clusterSize && programs <= std::numeric_limits<int32_t>::max() / 16;
    };
    // What all multiprocessors walk at a time comes out of the second cache when it is walked again: that takes less
    // than meeting in clusters, where each has little of a row.
    const bool isNear =
        nearRows * target.cores * vectors * target.simt.laneBytes * kept <= target.memory.l2Bytes / 5 * 3;
    if (!isOnline && isNear && lanes >= 4 && programs >= nearRows * target.cores &&
        vectors > 2 * ofOne * mostKeepingThreads) {
      func.setThreads(mostKeepingThreads);
      return setResidents(nearRows * mostKeepingThreads);
    }
    while (!isOnline && mayDouble() && vectors > rounds * mostKeepingThreads * cluster)
      cluster *= 2;
    // Few rows are shared by more multiprocessors.
    while (mayDouble() && 2 * programs * cluster <= target.cores && vectors >= 4 * fewestThreads * cluster)
      cluster *= 2;
    if (cluster > 1)
      func.setCluster(cluster);
    auto divide = [](int64_t x, int64_t y) { return static_cast<int64_t>(llvm::divideCeil(x, y)); };
    auto stayTogether = [&] {
      // Computing in 64 bits takes more registers than there would be, as maxima do that are no instructions, and
      // longer ways than that of a softmax.
      constexpr int64_t mostWalks = 5;
      const int64_t own = divide(vectors, cluster * *func.getThreads()) * lanes;
      if (lanes >= 4 &&
          (isOnline ? target.arithmetic.hasMaximum : own * kept <= keptElements && walks.apart <= mostWalks))
        setResidents(residentThreads);
    };
    if (isOnline || (cluster == 1 && vectors <= rounds * mostThreads))
      return stayTogether();
    // Of several rows at once there would be too much.
    const int64_t mostRounds = kept > 1 || lanes < 4 ? rounds : 2 * rounds;
    rounds = std::max(std::min(rounds, divide(vectors, vectorsPerThread * fewestThreads * cluster)),
                      divide(vectors, mostKeepingThreads * cluster));
    func.setThreads(rounds > mostRounds ? mostThreads
                                        : llvm::alignTo(divide(vectors, rounds * cluster), fewestThreads));
    stayTogether();
  }

  void setResidents(int64_t count) {
    func->setAttr(residentsAttrName, IntegerAttr::get(IntegerType::get(func.getContext(), 64), count));
  }

  int64_t columnsPerProgram(Axis axis, int64_t vectors) {
    int64_t columns = std::clamp(axes.extent(axis) / enoughPrograms, fewestColumns, mostColumns);
    return llvm::alignTo(columns, vectors);
  }

  /// A power of two that divides the rows, leaves enough programs and half of the first cache.
  int64_t rowsPerProgram(Axis axis) {
    int64_t bytes = 0, elements = 1;
    for (LoadOp load : loads) {
      if (!axes.contains(load.getResult(), axis))
        continue;
      int64_t row = 1;
      for (Axis a : axes.of(load.getResult()))
        row *= axes.isCombined(a) ? axes.extent(a) : 1;
      bytes += row * bytesOf(load.getResult());
      elements = std::max(elements, row);
    }
    int64_t rows = 1, extent = axes.extent(axis);
    auto mayDouble = [&] {
      int64_t more = 2 * rows;
      return extent % more == 0 && extent / more >= enoughPrograms && more * bytes <= target.memory.l1Bytes / 2 &&
             (more <= rowsAtOnce || more * elements <= rowElements);
    };
    while (mayDouble())
      rows *= 2;
    return rows;
  }

  uint64_t countCombined() {
    uint64_t combined = 1;
    for (Axis axis = 0; axis < axes.size(); ++axis)
      if (axes.isCombined(axis))
        combined = llvm::SaturatingMultiply(combined, uint64_t(axes.extent(axis)));
    return combined;
  }

  /// Whether few elements are combined into each of the result's, and some are read for several of them.
  bool combinesWindows() {
    return countCombined() <= mostWindowElements && llvm::any_of(loads, [&](LoadOp load) {
             MapAttr map = load.getView().getDefiningOp<ViewOp>().getMap();
             int64_t points = cast<RankedTensorType>(load.getType()).getNumElements();
             return !map.isSingleBlock() || map.front().hasValid() || points > spanOf(map.front());
           });
  }

  /// Whether more elements that a kernel reads and writes are neighbours along an axis than are not, through all blocks
  /// of maps.
  bool liesAlong(Axis axis) {
    double score = 0;
    auto look = [&](Value view, Value tile) {
      const auto elements = static_cast<double>(cast<RankedTensorType>(tile.getType()).getNumElements());
      for (auto [dim, a] : llvm::enumerate(axes.of(tile)))
        if (a == axis)
          score += strideThrough(view.getDefiningOp<ViewOp>().getMap(), dim) == 1 ? elements : -elements;
    };
    for (LoadOp load : loads)
      look(load.getView(), load.getResult());
    for (StoreOp store : stores)
      look(store.getView(), store.getValue());
    return score > 0;
  }

  /// Bytes that a program of these tiles copies near, along an axis; 0 where it copies nothing.
  int64_t bytesNear(Axis axis, const llvm::DenseMap<Axis, int64_t> &tiles) {
    uint64_t reads = 1;
    auto sizeOf = [&](Axis a) { return tiles.contains(a) ? tiles.lookup(a) : axes.extent(a); };
    for (Axis a = 0; a < axes.size(); ++a)
      reads = llvm::SaturatingMultiply(reads, static_cast<uint64_t>(sizeOf(a)));
    int64_t bytes = 0;
    for (LoadOp load : loads) {
      SmallVector<Axis> own = axes.of(load.getResult());
      const auto *along = llvm::find(own, axis);
      if (along == own.end())
        continue;
      MapAttr map = load.getView().getDefiningOp<ViewOp>().getMap();
      std::optional<NearForm> form = NearForm::compute(map, along - own.begin());
      const int64_t lanes = target.lanes(bytesOf(load.getResult()));
      SmallVector<int64_t> tile = llvm::map_to_vector(own, sizeOf);
      const bool isOnly = countCombined() > mostWindowElements;
      if (form && form->isReused(tile, lanes, static_cast<int64_t>(std::min<uint64_t>(reads, INT64_MAX)), isOnly))
        bytes += form->countElements(tile, lanes) * bytesOf(load.getResult());
    }
    return bytes;
  }

  /// Windows over what is padded, and factors that lie across vectors: a program copies what it reads of them, once,
  /// and has so many rows of results that it reads each element of the operand hardly more often than they overlap.
  /// False where nothing is copied.
  bool chooseNearWindows(int64_t lanes) {
    constexpr int64_t mostElements = 16384, enoughRows = 8;
    SmallVector<Axis> parallel = parallelAxes();
    std::optional<Axis> along;
    for (Axis axis : parallel)
      if (liesAlong(axis))
        along = axis;
    const bool isLong = countCombined() > mostWindowElements;
    if (isLong && !parallel.empty())
      along = asInMemory(parallel).back();
    if (!target.hasVectors() || !along)
      return false;
    auto has = [&](LoadOp load, Axis axis) { return axes.contains(load.getResult(), axis); };
    // Where each neighbour has factors of its own, as channels have that come last, those of two vectors stay in
    // registers.
    const bool hasFactors = llvm::any_of(loads, [&](LoadOp load) {
      return has(load, *along) && llvm::any_of(parallel, [&](Axis other) { return !has(load, other); });
    });
    llvm::DenseMap<Axis, int64_t> tiles;
    for (Axis axis : parallel)
      tiles[axis] = axis == *along && hasFactors ? std::min(axes.extent(axis), 2 * lanes) : axes.extent(axis);
    // Windows overlap along axes that share a dimension of the operand with what is combined.
    llvm::DenseSet<Axis> sliding;
    for (LoadOp load : loads) {
      SmallVector<Axis> own = axes.of(load.getResult());
      const auto *place = llvm::find(own, *along);
      std::optional<NearForm> form =
          place == own.end() ? std::nullopt
                             : NearForm::compute(load.getView().getDefiningOp<ViewOp>().getMap(), place - own.begin());
      for (const NearForm::Dim &dim : form ? ArrayRef(form->dims) : ArrayRef<NearForm::Dim>())
        if (llvm::any_of(llvm::enumerate(dim.factors),
                         [&](auto it) { return it.value() != 0 && axes.isCombined(own[it.index()]); }))
          for (auto [i, factor] : llvm::enumerate(dim.factors))
            if (factor != 0 && !axes.isCombined(own[i]))
              sliding.insert(own[i]);
    }
    if (bytesNear(*along, tiles) == 0 || sliding.empty())
      return false;
    auto isTooLarge = [&](int64_t bytes, int64_t most) {
      int64_t elements = 1;
      for (Axis axis : parallel)
        elements *= tiles[axis];
      return bytesNear(*along, tiles) > bytes || elements > most;
    };
    auto halve = [&](Axis axis) {
      const int64_t pieces = 2 * llvm::divideCeil(axes.extent(axis), tiles[axis]);
      tiles[axis] = llvm::divideCeil(axes.extent(axis), std::min(pieces, axes.extent(axis)));
    };
    // Images and channels are programs of their own before anything that overlaps is cut.
    for (Axis axis : parallel)
      while (axis != *along && !sliding.contains(axis) && tiles[axis] > 1 &&
             isTooLarge(target.memory.l1Bytes / 2, mostElements / 4))
        halve(axis);
    for (int64_t fewest : {enoughRows, int64_t(1)})
      for (Axis axis : parallel)
        while ((axis != *along || !hasFactors) && sliding.contains(axis) && tiles[axis] > fewest &&
               isTooLarge(mostNearBytes * 7 / 8, mostElements))
          halve(axis);
    if (isLong && bytesNear(*along, tiles) > mostNearBytes)
      return false;
    for (Axis axis : parallel)
      grid(axis, tiles[axis]);
    return true;
  }

  /// The same for threads: each has a vector of neighbours in what is written, and its neighbours have the next ones.
  void chooseThreadWindows() {
    const SmallVector<Axis> parallel = asInMemory(parallelAxes());
    for (Axis axis : parallel) {
      int64_t tile = 1;
      if (axis == parallel.back()) {
        const int64_t lanes = elementsPerProgram(axis), extent = axes.extent(axis);
        tile = lanes;
        while (extent % tile != 0)
          tile /= 2;
        if (2 * tile < lanes)
          tile = llvm::divideCeil(extent, llvm::divideCeil(extent, lanes));
      }
      grid(axis, tile);
    }
  }

  /// Pooling and depthwise convolutions: programs as large as those of element-wise kernels, so that rows of
  /// results are loops inside. What is read for each channel alone stays in registers along them.
  void chooseWindows(int64_t lanes) {
    if (target.hasSubgroups())
      return chooseThreadWindows();
    if (chooseNearWindows(lanes))
      return;
    SmallVector<Axis> parallel = parallelAxes();
    llvm::DenseMap<Axis, int64_t> tiles;
    int64_t left = elementsPerProgram();
    auto take = [&](Axis axis, int64_t most) {
      int64_t pieces = llvm::divideCeil(axes.extent(axis), std::max<int64_t>(std::min(most, left), 1));
      tiles[axis] = llvm::divideCeil(axes.extent(axis), pieces);
      left = std::max<int64_t>(left / tiles[axis], 1);
    };
    for (Axis axis : parallel)
      if (isContiguous(axis)) {
        bool hasFactors = llvm::any_of(loads, [&](LoadOp load) {
          return axes.contains(load.getResult(), axis) &&
                 llvm::any_of(parallel, [&](Axis other) { return !axes.contains(load.getResult(), other); });
        });
        if (hasFactors)
          tiles[axis] = std::min(axes.extent(axis), 2 * lanes), left = std::max<int64_t>(left / tiles[axis], 1);
        else
          take(axis, axes.extent(axis));
      }
    for (Axis axis : llvm::reverse(parallel))
      if (!tiles.contains(axis))
        take(axis, axes.extent(axis));
    for (Axis axis : parallel)
      grid(axis, tiles[axis]);
  }

  /// A thread takes as many as it reads at once: its neighbours take their neighbours.
  int64_t elementsPerProgram(std::optional<Axis> along = std::nullopt) {
    if (!target.hasSubgroups())
      return programElements;
    // What is the same for all of them is no vector.
    const SmallVector<Axis> parallel = parallelAxes();
    if (!along && !parallel.empty())
      along = parallel.back();
    int64_t widest = widestRead(along);
    for (StoreOp store : stores)
      widest = std::max(widest, bytesOf(store.getValue()));
    return target.lanes(widest);
  }

  /// Elements of a thread, at most `most`, of which a row of its tile has whole ones: other rows would begin
  /// beside multiples of 16 bytes, and be read and written one by one with gaps between threads.
  int64_t wholeVectors(Axis axis, int64_t most) {
    const int64_t extent = axes.extent(axis);
    if (extent <= most)
      return extent;
    while (extent % most != 0)
      most = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(most - 1)));
    return most;
  }

  void chooseElements() {
    SmallVector<Axis> parallel = parallelAxes();
    llvm::DenseMap<Axis, int64_t> tiles;
    // Neighbouring threads have what lies side by side, in whatever order the axes stand: channels may come last in
    // memory.
    if (target.hasSubgroups())
      if (SmallVector<Axis> sorted = asInMemory(parallel); !sorted.empty() && liesAlong(sorted.back()))
        parallel = sorted;
    int64_t left =
        elementsPerProgram(target.hasSubgroups() && !parallel.empty() ? std::optional(parallel.back()) : std::nullopt);
    if (auto square = transposedAxes(parallel)) {
      // The next program reads on where the last one ended.
      auto [read, written] = *square;
      for (Axis axis : parallel)
        if (axis != read && axis != written)
          grid(axis, 1);
      if (target.hasSubgroups()) {
        // A thread has a square of vectors, a subgroup 4 of them where it writes by 8 of 32 where it reads, which are
        // whole lines; the next subgroup writes the other halves of its lines. Eight of them have as much of both
        // directions.
        const int64_t lanes = elementsPerProgram(), down = 4, across = target.simt.subgroupSize / down;
        grid(written, 4 * down * lanes);
        grid(read, 2 * across * lanes);
        grid(written, 2 * down * lanes);
        grid(read, across * lanes);
        grid(written, down * lanes);
        grid(written, lanes);
        grid(read, lanes);
        return;
      }
      grid(written, writtenTile);
      grid(read, readTile);
      return;
    }
    // Elements that are found one by one are read from caches by whoever reads them: rather they are written side by
    // side.
    if (target.hasSubgroups())
      if (std::optional<Axis> written = scatteredAxis(parallel)) {
        auto *place = llvm::find(parallel, *written);
        std::rotate(place, std::next(place), parallel.end());
      }
    for (Axis axis : llvm::reverse(target.hasSubgroups() ? parallel : asInMemory(parallel))) {
      tiles[axis] = std::min(axes.extent(axis), left);
      if (target.hasSubgroups() && axis == parallel.back() && parallel.size() > 1)
        tiles[axis] = wholeVectors(axis, tiles[axis]);
      left = std::max<int64_t>(left / tiles[axis], 1);
    }
    if (target.hasSubgroups())
      orderAsRead(parallel);
    for (Axis axis : parallel)
      grid(axis, tiles[axis]);
  }

  /// Of a copy whose rows of results are apart where they are read, and too short for squares, neighbouring threads
  /// read neighbours: a vector that is written is half a sector, and an element that is read by itself would be a whole
  /// one.
  void orderAsRead(SmallVector<Axis> &parallel) {
    constexpr int64_t fewestNeighbours = 16;
    if (loads.size() != 1 || stores.size() != 1 || parallel.size() < 2 ||
        stores.front().getValue() != loads.front().getResult())
      return;
    LoadOp load = loads.front();
    auto view = load.getView().getDefiningOp<ViewOp>();
    SmallVector<Axis> own = axes.of(load.getResult());
    const auto written = static_cast<unsigned>(llvm::find(own, parallel.back()) - own.begin());
    if (!view || !view.getMap().isSingleBlock() || written == own.size() ||
        strideThrough(stores.front().getView().getDefiningOp<ViewOp>().getMap(), written) != 1)
      return;
    auto strideOf = [&](Axis axis) {
      auto *place = llvm::find(own, axis);
      return place == own.end()
                 ? 0
                 : std::abs(BlockAttr::constant(view.getMap().front().getStrides()[place - own.begin()]).value_or(0));
    };
    const int64_t apart = strideOf(parallel.back());
    int64_t nearer = 1, nearest = apart;
    for (Axis axis : parallel) {
      const int64_t stride = strideOf(axis);
      if (stride == 0)
        return;
      if (stride < apart && axes.extent(axis) > 1) {
        nearer *= axes.extent(axis);
        nearest = std::min(nearest, stride);
      }
    }
    if (nearest == 1 && apart >= fewestNeighbours && nearer >= fewestNeighbours)
      llvm::stable_sort(parallel, [&](Axis a, Axis b) { return strideOf(a) > strideOf(b); });
  }

  /// The axes in the order in which what is stored lies in memory: neighbours along the last one.
  SmallVector<Axis> asInMemory(SmallVector<Axis> sorted) {
    StoreOp store = stores.front();
    SmallVector<Axis> own = axes.of(store.getValue());
    MapAttr map = store.getView().getDefiningOp<ViewOp>().getMap();
    auto strideOf = [&](Axis axis) { return std::abs(strideThrough(map, llvm::find(own, axis) - own.begin())); };
    llvm::stable_sort(sorted, [&](Axis a, Axis b) { return strideOf(a) > strideOf(b); });
    return sorted;
  }

  /// The axis along which all stores are contiguous, where that is not the last one, and something is read through
  /// several blocks.
  std::optional<Axis> scatteredAxis(ArrayRef<Axis> parallel) {
    const bool isFound = llvm::any_of(loads, [](LoadOp load) {
      auto view = load.getView().getDefiningOp<ViewOp>();
      return view && !view.getMap().isSingleBlock();
    });
    std::optional<Axis> written;
    for (StoreOp store : stores) {
      auto view = store.getView().getDefiningOp<ViewOp>();
      std::optional<Axis> own;
      if (view && view.getMap().isSingleBlock())
        for (auto [stride, axis] : llvm::zip(view.getMap().front().getStrides(), axes.of(store.getValue())))
          if (BlockAttr::constant(stride) == 1 && axes.extent(axis) > 1)
            own = axis;
      if (!own || !llvm::is_contained(parallel, *own) || (written && written != own))
        return std::nullopt;
      written = own;
    }
    return isFound && written != parallel.back() ? written : std::nullopt;
  }

  /// The axes along which a load and the first store are contiguous, where those are two.
  std::optional<std::pair<Axis, Axis>> transposedAxes(ArrayRef<Axis> parallel) {
    auto contiguous = [&](Value view, Value tile, int64_t apart, int64_t fewest) -> std::optional<Axis> {
      auto op = view.getDefiningOp<ViewOp>();
      if (!op || !op.getMap().isSingleBlock())
        return std::nullopt;
      for (auto [stride, axis] : llvm::zip(op.getMap().front().getStrides(), axes.of(tile)))
        if (BlockAttr::constant(stride) == apart && axes.extent(axis) >= fewest && llvm::is_contained(parallel, axis))
          return axis;
      return std::nullopt;
    };
    std::optional<Axis> columns = contiguous(stores.front().getView(), stores.front().getValue(), 1, readTile);
    if (!columns || target.accessBytes() == 0 || (target.hasSubgroups() && elementsPerProgram() < 4))
      return std::nullopt;
    for (LoadOp load : loads)
      if (std::optional<Axis> rows = contiguous(load.getView(), load.getResult(), 1, readTile);
          rows && *rows != *columns && axes.contains(load.getResult(), *columns))
        return std::pair(*rows, *columns);
    // Of a copy of every second element, as a convolution with stride reads, a thread reads whole sectors, too.
    constexpr int64_t every = 2, fewest = 14;
    if (target.hasSubgroups() && loads.size() == 1 && stores.size() == 1 &&
        stores.front().getValue() == loads.front().getResult())
      if (std::optional<Axis> rows = contiguous(loads.front().getView(), loads.front().getResult(), every, fewest);
          rows && *rows != *columns)
        return std::pair(*rows, *columns);
    return std::nullopt;
  }

  FuncOp func;
  const Axes &axes;
  const TargetInfo &target;
  /// Of threads that share a row: a subgroup; as many as have registers for what each may keep at most; and as many as
  /// a core has room for if each has the registers for so many elements and for computing with them: while some
  /// workgroups wait for a row's sum, others read theirs.
  const int64_t fewestThreads, mostKeepingThreads, residentThreads;
  SmallVector<StoreOp> stores;
  SmallVector<LoadOp> loads;
  SmallVector<GatherOp> gathers;
  SmallVector<DotOp> dots;
  bool combines = false;
  /// Threads have the rows of columns in turns.
  bool sharesColumns = false;
  /// Threads have the rows of a result in turns.
  bool sharesRows = false;
  SmallVector<Attribute> steps;
};

} // namespace

int64_t zyx::schedule::strideThrough(MapAttr map, unsigned dim) {
  int64_t stride = BlockAttr::constant(map.front().getStrides()[dim]).value_or(0);
  for (BlockAttr block : map.getBlocks().drop_front()) {
    SmallVector<int64_t> rows(block.getRank(), 1);
    for (unsigned d = block.getRank(); d-- > 1;)
      rows[d - 1] = rows[d] * std::max<int64_t>(BlockAttr::constant(block.getShape()[d]).value_or(1), 1);
    int64_t next = 0;
    for (auto [size, step] : llvm::zip_equal(rows, block.getStrides())) {
      next += stride / size * BlockAttr::constant(step).value_or(0);
      stride %= size;
    }
    stride = next;
  }
  return stride;
}

SmallVector<Choice> zyx::schedule::chooseSchedules(FuncOp func, const Axes &axes, const TargetInfo &target,
                                                   unsigned most) {
  return Chooser(func, axes, target).choose(most);
}
