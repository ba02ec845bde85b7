//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels that combine rows or columns.
//===----------------------------------------------------------------------===//
#include "ChooseRows.h"

#include "ChooseWindows.h"
#include "Strides.h"

#include "zyx/Codegen/Tile/AccessForm.h"
#include "zyx/Codegen/Tile/NearForm.h"
#include "zyx/Codegen/Tile/RowReductions.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"
#include "zyx/Target/Info/Budgets.h"
#include "zyx/Target/Info/Fits.h"

using namespace mlir;
using namespace zyx::kernel;
using namespace zyx::schedule;
using zyx::target::TargetInfo;

namespace {

/// Rows that one program reduces together, so that one waits for its sum while another is read.
constexpr int64_t rowsAtOnce = 4;
/// Elements of rows beyond that: few, so that reading one program's rows overlaps with computing another's.
constexpr int64_t rowElements = 1024;
/// Columns of one program: pieces of memory that are worth a prefetch, and sums that stay in the first cache.
constexpr int64_t fewestColumns = 256, mostColumns = 4096;
/// Of threads that share a row, vectors that each has before there are more of them.
constexpr int64_t vectorsPerThread = 2;
/// Those of a row that is read once, where there are enough rows: reads of several are in flight.
constexpr int64_t vectorsReadOnce = 4;
/// Those that it reads before it waits: with fewer, meeting in a cluster takes longer than reading.
constexpr int64_t vectorsAtOnce = 8;
/// Rows that a multiprocessor walks at a time where they are read again from the second cache.
constexpr int64_t nearRows = 2;

/// Chooses for a kernel that combines elements, along rows or across them.
class RowRules {
public:
  explicit RowRules(ScheduleDraft &draft)
      : draft(draft), func(draft.func), axes(draft.axes), target(draft.target),
        mostThreads(zyx::target::rowThreads(draft.target)) {}

  void chooseRows() {
    int64_t widest = 1;
    for (LoadOp load : draft.loads)
      widest = std::max(widest, bytesOf(load.getResult()));
    if (combinesWindows(draft))
      return chooseWindows(draft, target.lanes(widest));
    if (draft.dots.empty() && draft.countCombined() > mostWindowElements &&
        chooseNearWindows(draft, target.lanes(widest)))
      return;
    if (chooseColumns())
      return;
    SmallVector<Axis> parallel = inOrderOfThreads();
    bool widen = draft.dots.empty() && !target.hasSubgroups() && llvm::none_of(draft.stores, [&](StoreOp store) {
                   return llvm::any_of(axes.of(store.getValue()), [&](Axis axis) { return axes.isCombined(axis); });
                 });
    for (Axis axis : parallel) {
      if (draft.isContiguous(axis)) {
        const int64_t vectors = target.hasSubgroups() ? draft.wholeVectors(axis, target.lanes(draft.widestRead(axis)))
                                                      : 4 * target.lanes(widest);
        draft.grid(axis, widen ? columnsPerProgram(axis, vectors) : vectors);
      } else
        draft.grid(axis,
                   axis == parallel.back() && draft.dots.empty() && !target.hasSubgroups() ? rowsPerProgram(axis) : 1);
    }
  }

  /// Several threads walk a long row together, so that neighbours read neighbours. What a row is
  /// combined into must be one element in each program.
  void chooseThreadsOfRows() {
    if (!target.hasSubgroups() || !draft.dots.empty() || draft.columns ||
        (mayGroupRows() && (chooseTaps() || chooseNestedRows())))
      return;
    std::optional<Axis> row;
    for (Axis axis = 0; axis < axes.size(); ++axis)
      if (axes.isCombined(axis) && draft.isContiguous(axis) && (!row || axes.extent(axis) > axes.extent(*row)))
        row = axis;
    SmallVector<Axis> parallel = draft.parallelAxes();
    bool isOne =
        !func.walk([&](ReduceOp reduce) {
               for (Axis axis : axes.of(reduce.getResult()))
                 if (axes.extent(axis) != 1 && (!llvm::is_contained(parallel, axis) || draft.isContiguous(axis)))
                   return WalkResult::interrupt();
               return WalkResult::advance();
             })
             .wasInterrupted();
    if (!row || !isOne)
      return;
    int64_t widest = 1;
    for (LoadOp load : draft.loads)
      if (axes.contains(load.getResult(), *row))
        widest = std::max(widest, bytesOf(load.getResult()));
    const int64_t lanes = target.lanes(widest), threads = axes.extent(*row) / (vectorsPerThread * lanes),
                  aligned = alignedLanes(*row, lanes);
    if (threads < draft.fewestThreads) {
      // Of rows that begin anywhere a thread would read one element at a time, and its neighbours others far away: of
      // each sector one element. Lanes of a warp read neighbours. So does half of a warp or more where a thread
      // that walks its row again would not find it in the first cache any more.
      const bool hasLanes = 2 * axes.extent(*row) >= draft.fewestThreads * lanes;
      // Of few rows a thread each would leave the machine idle, and wait for one vector after the other.
      const bool isOfFew = axes.extent(*row) >= 2 * target.simt.subgroupSize &&
                           countPrograms() <= target.busyThreads() / target.simt.subgroupSize;
      const bool isShared = (axes.extent(*row) % lanes != 0 || isOfFew || (hasLanes && leavesFirstCache(*row))) &&
                            axes.extent(*row) >= target.simt.subgroupSize;
      // Parts of a warp that read each other's registers share lines, too: a thread alone reads half of a sector.
      const bool hasLines = target.simt.hasShuffles && axes.extent(*row) * widest >= target.memory.lineBytes &&
                            countWalks(*row).apart > 1;
      if (isShared || hasLines)
        func.setThreads(threadsOfShortRow(*row, aligned, widest));
      return;
    }
    func.setThreads(std::min<int64_t>(llvm::bit_floor(static_cast<uint64_t>(threads)), mostThreads));
    // Of rows that begin anywhere, many that no workgroup has registers for are read again: single elements that a
    // cluster reads took longer. Few of them have as many threads as keep the machine busy, which keep them, too.
    const bool isKept = aligned == lanes || axes.extent(*row) <= keptElements * draft.mostKeepingThreads;
    if (isKept && axes.extent(*row) % aligned == 0)
      keepRow(*row, axes.extent(*row) / aligned, aligned);
    else
      spreadRow(axes.extent(*row) / lanes, countPrograms(), vectorsPerThread);
  }

private:
  /// The axes of results. Where each thread has some, and nothing is combined along rows of memory, neighbours have
  /// what lies side by side, in whatever order the axes stand.
  SmallVector<Axis> inOrderOfThreads() {
    SmallVector<Axis> parallel = draft.parallelAxes();
    if (!target.hasSubgroups() || !draft.dots.empty() || parallel.empty() || draft.isContiguous(parallel.back()))
      return parallel;
    for (Axis axis = 0; axis < axes.size(); ++axis)
      if (axes.isCombined(axis) && axes.extent(axis) > 1 && draft.isContiguous(axis))
        return parallel;
    SmallVector<Axis> sorted = draft.asInMemory(parallel);
    return draft.isContiguous(sorted.back()) && draft.liesAlong(sorted.back()) ? sorted : parallel;
  }

  bool mayGroupRows() const { return draft.forms.rowGroups && draft.forms.sharing; }

  /// Sums of columns of which there are too few for all threads: a workgroup has a strip of columns, and groups of its
  /// threads have the rows of it in turns. False where another way is better.
  bool chooseColumns() {
    constexpr int64_t fewestVectors = 4, rowsPerGroup = 8, fewestRowsPerGroup = 2, fewestRows = 32, groupsOfIdle = 32;
    if (!target.hasSubgroups() || !draft.dots.empty() || !mayGroupRows())
      return false;
    const int64_t mostVectors = zyx::target::stripBytes(target) / target.accessBytes(),
                  groupThreads = zyx::target::columnThreads(target);
    const SmallVector<Axis> parallel = draft.parallelAxes();
    std::optional<Axis> along;
    // Windows of what is padded overlap in an order of their own, which is not that of memory.
    const bool isPadded = draft.gathers.empty() && llvm::any_of(draft.loads, [](LoadOp load) {
                            MapAttr map = load.getView().getDefiningOp<ViewOp>().getMap();
                            return !map.isSingleBlock() && map.getBlocks().back().hasValid();
                          });
    for (Axis axis = 0; axis < axes.size(); ++axis) {
      const bool isRead = axes.extent(axis) > 1 && (isPadded ? draft.liesAlong(axis) : draft.isContiguous(axis));
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
                                   if (findOneHotIndex(reduce, axes))
                                     return WalkResult::advance();
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
    int64_t lanes = target.lanes(draft.widestRead(*along)), programs = 1;
    while (axes.extent(*along) % lanes != 0)
      lanes /= 2;
    const int64_t all = axes.extent(*along) / lanes;
    for (Axis axis : parallel)
      programs *= axis == *along ? 1 : axes.extent(axis);
    // The widest strips that every multiprocessor has one of, or the narrowest.
    int64_t vectors = 0;
    for (int64_t width = std::min(all, mostVectors); width >= std::min(all, fewestVectors); --width)
      if (all % width == 0 && (vectors == 0 || programs * (all / vectors) < target.cores))
        vectors = width;
    if (vectors == 0)
      return false;
    programs *= all / vectors;
    const int64_t wanted = target.busyThreads();
    if (programs * vectors >= wanted / 2)
      return false;
    auto power = [](int64_t value) { return static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(value))); };
    int64_t groups = std::min(power(rows / rowsPerGroup), power(groupThreads / vectors));
    while (groups > 2 && programs * vectors * groups > 2 * wanted)
      groups /= 2;
    // Where most of the machine is idle, a thread has fewer rows, and waits for fewer. Who adds up the groups waits for
    // more of them.
    const int64_t mostGroups =
        std::min({power(rows / fewestRowsPerGroup), power(groupThreads / vectors), groupsOfIdle});
    while (groups < mostGroups && 4 * programs * vectors * groups <= wanted)
      groups *= 2;
    if (groups < 2)
      return false;
    for (Axis axis : parallel)
      draft.grid(axis, axis == *along ? vectors * lanes : 1);
    func.setThreads(llvm::alignTo(vectors * groups, target.simt.subgroupSize));
    func.setRowGroups(true);
    draft.columns = along;
    return true;
  }

  /// Whether neighbours along an axis of results read what neighbours along a combined one do, but for the ends: those
  /// of a window and of the image that it slides over.
  bool isTap(Axis axis) {
    return llvm::any_of(draft.loads, [&](LoadOp load) {
      const SmallVector<Axis> own = axes.of(load.getResult());
      const auto *place = llvm::find(own, axis);
      if (place == own.end())
        return false;
      MapAttr map = load.getView().getDefiningOp<ViewOp>().getMap();
      const int64_t step = std::abs(strideThrough(map, place - own.begin()));
      return step != 0 && llvm::any_of(llvm::enumerate(own), [&](auto it) {
               if (!axes.isCombined(it.value()) || axes.extent(it.value()) == 1)
                 return false;
               const int64_t inner = std::abs(strideThrough(map, it.index()));
               return inner != 0 && step * (axes.extent(axis) - 1) >= inner &&
                      inner * (axes.extent(it.value()) - 1) >= step;
             });
    });
  }

  /// Sums along images for each element of a window (tap), as gradients of depthwise filters are: a workgroup has those
  /// of all taps, and each thread adds up all of them at once. False where another way is better.
  bool chooseTaps() {
    constexpr int64_t fewestElements = 1024;
    int64_t reductions = 0, combined = 1, taps = 1, programs = 1, lanes = 0;
    const SmallVector<Axis> parallel = draft.parallelAxes();
    func.walk([&](ReduceOp) { ++reductions; });
    for (Axis axis = 0; axis < axes.size(); ++axis)
      if (axes.isCombined(axis)) {
        combined *= axes.extent(axis);
        if (axes.extent(axis) > 1 && draft.isContiguous(axis))
          lanes = std::max(lanes, zyx::target::fits::tapSums::lanes(axes.extent(axis)));
      } else if (axes.extent(axis) != 1 && !llvm::is_contained(parallel, axis)) {
        return false;
      }
    if (reductions != 1 || lanes == 0 || combined < fewestElements || !draft.gathers.empty())
      return false;
    // Of the innermost axes of a window, as many as a thread has sums for.
    llvm::DenseMap<Axis, int64_t> tiles;
    for (Axis axis : llvm::reverse(parallel))
      if (axes.extent(axis) > 1 && taps * axes.extent(axis) <= zyx::target::tapSums(target) && isTap(axis)) {
        tiles[axis] = axes.extent(axis);
        taps *= axes.extent(axis);
      }
    if (taps < 2)
      return false;
    // What the other operand is the same for, as channels of a group, so that it is read once.
    for (Axis axis : llvm::reverse(parallel)) {
      const bool isOfWindows = llvm::all_of(draft.loads, [&](LoadOp load) {
        const bool hasTaps = llvm::any_of(tiles, [&](auto &it) { return axes.contains(load.getResult(), it.first); });
        return hasTaps == axes.contains(load.getResult(), axis);
      });
      if (tiles.contains(axis) || !isOfWindows)
        continue;
      int64_t tile = std::min(zyx::target::tapSums(target) / taps, axes.extent(axis));
      while (axes.extent(axis) % tile != 0)
        --tile;
      tiles[axis] = tile;
      taps *= tile;
    }
    for (Axis axis : parallel)
      programs *= axes.extent(axis) / (tiles.contains(axis) ? tiles[axis] : 1);
    // Rows of a window are programs of their own where there would be too few: each reads what all of them do.
    for (Axis axis : parallel)
      if (2 * programs < target.cores && tiles.contains(axis) && taps > tiles[axis]) {
        programs *= tiles[axis];
        taps /= tiles[axis];
        tiles.erase(axis);
      }
    draft.steps.clear();
    for (Axis axis : parallel)
      draft.grid(axis, tiles.contains(axis) ? tiles[axis] : 1);
    // Sums of threads are combined at the end, each of all taps: where there are programs enough, a thread has several
    // vectors before. Half of them are idle where the others have a vector each.
    constexpr int64_t fewestVectors = 8;
    const int64_t vectors = combined / lanes;
    int64_t threads = mostThreads;
    while (threads > 2 * target.simt.subgroupSize &&
           (2 * vectors <= threads ||
            (vectors < fewestVectors * threads && programs * threads / 2 >= target.busyThreads())))
      threads /= 2;
    func.setThreads(threads);
    func.setRowGroups(true);
    draft.setMinResidentThreads(2 * mostThreads);
    return true;
  }

  /// Few results that are combined of many short rows, as filters' gradients of images and norms of their channels are:
  /// a workgroup has one, and groups of its threads have the rows in turns, those that are written too. False where
  /// another way is better.
  bool chooseNestedRows() {
    constexpr int64_t fewestElements = 1024, manyElements = 4096, fewestPrograms = 512;
    std::optional<Axis> row, rows;
    const SmallVector<Axis> parallel = draft.parallelAxes();
    int64_t combined = 1, programs = 1;
    for (Axis axis = 0; axis < axes.size(); ++axis) {
      if (!axes.isCombined(axis) || axes.extent(axis) == 1)
        continue;
      combined *= axes.extent(axis);
      if (draft.isContiguous(axis) && (!row || axes.extent(axis) > axes.extent(*row)))
        row = axis;
    }
    for (Axis axis = 0; axis < axes.size(); ++axis)
      if (axes.isCombined(axis) && axis != row && (!rows || axes.extent(axis) > axes.extent(*rows)))
        rows = axis;
    if (!row || !rows || axes.extent(*rows) < 2 || combined < fewestElements)
      return false;
    int64_t groupThreads = std::min<int64_t>(combined < manyElements ? 128 : 256, target.simt.workgroupThreads);
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
    int64_t lanes = target.lanes(draft.widestRead(*row));
    while (axes.extent(*row) % lanes != 0)
      lanes /= 2;
    const int64_t vectors = axes.extent(*row) / lanes;
    for (Axis axis : parallel)
      programs *= axes.extent(axis);
    // Few have larger workgroups, while threads have several vectors: one for each core is as large as two would be.
    // Two groups of threads are worth more than a second workgroup that a core has registers for.
    const int64_t mostGroupThreads = std::min(combined / (vectorsPerThread * lanes), target.simt.workgroupThreads / 2);
    while (2 * groupThreads <= mostGroupThreads &&
           (programs <= target.cores || (programs <= 2 * target.cores && groupThreads < 2 * vectors)))
      groupThreads *= 2;
    // Where a thread has a result, or some, there are enough of them; or where threads that share a row have all rows
    // of a result, one after the other.
    const int64_t sharing =
        std::min<int64_t>(llvm::bit_floor(static_cast<uint64_t>(vectors / vectorsPerThread)), mostThreads);
    if (!areSame || vectors > groupThreads / 2 ||
        (sharing >= draft.fewestThreads && programs * sharing >= target.busyThreads() / 2) ||
        programs / target.lanes(4) >= target.cores * fewestPrograms)
      return false;
    const int64_t most = std::min(groupThreads / vectors, axes.extent(*rows));
    if (most < 2)
      return false;
    // No more of them than the longest turns need.
    const int64_t groups = llvm::divideCeil(axes.extent(*rows), llvm::divideCeil(axes.extent(*rows), most));
    if (groups < 2)
      return false;
    draft.steps.clear();
    for (Axis axis : parallel)
      draft.grid(axis, 1);
    func.setThreads(llvm::alignTo(vectors * groups, target.simt.subgroupSize));
    func.setRowGroups(true);
    return true;
  }

  /// How often a row is walked, and how often where a maximum is taken along with the exponentials of distances to it.
  struct Walks {
    int64_t apart = 0, online = 0;
  };
  Walks countWalks(Axis row) {
    Walks walks;
    SmallVector<ReduceOp> before;
    func.walk([&](ReduceOp reduce) {
      if (!axes.contains(reduce.getInput(), row) || findOneHotIndex(reduce, axes))
        return;
      ++walks.apart;
      walks.online += llvm::none_of(before, [&](ReduceOp max) { return addsExponentials(reduce, max); });
      before.push_back(reduce);
    });
    const bool writes = llvm::any_of(draft.stores, [&](StoreOp store) { return axes.contains(store.getValue(), row); });
    return {walks.apart + writes, walks.online + writes};
  }

  /// Elements of the vectors that threads read and write along a row, of at most `lanes`: what begins anywhere is in
  /// narrower ones.
  int64_t alignedLanes(Axis row, int64_t lanes) {
    auto look = [&](auto op, Value tile) {
      for (auto [dim, axis] : llvm::enumerate(axes.of(tile)))
        if (axis == row)
          if (auto view = op.getView().template getDefiningOp<ViewOp>())
            lanes = alignmentOfRows(view.getMap(), dim, lanes);
    };
    for (LoadOp load : draft.loads)
      look(load, load.getResult());
    for (StoreOp store : draft.stores)
      look(store, store.getValue());
    return lanes;
  }

  /// Lanes of a warp that share a row of few elements: so many that they read whole lines, and more where rows are few
  /// or that leaves fewer of them idle. Each keeps its elements in registers.
  int64_t threadsOfShortRow(Axis row, int64_t aligned, int64_t widest) {
    const int64_t all = target.simt.subgroupSize, vectors = llvm::divideCeil(axes.extent(row), aligned);
    // Where a row ends inside of a vector its elements are in shared memory, and a program needs a whole subgroup.
    if (!target.simt.hasShuffles || axes.extent(row) % aligned != 0)
      return all;
    namespace fits = zyx::target::fits::shortRows;
    const int64_t programs = countPrograms();
    const int64_t loads = std::max<int64_t>(
        llvm::count_if(draft.loads, [&](LoadOp load) { return axes.contains(load.getResult(), row); }), 1);
    int64_t best = all, least = std::numeric_limits<int64_t>::max();
    for (int64_t threads = std::min(all, std::max<int64_t>(target.memory.lineBytes / (aligned * widest), 1));
         threads <= all; threads *= 2) {
      const int64_t own = static_cast<int64_t>(llvm::divideCeil(vectors, threads)) * aligned;
      const int64_t cost = threads * (own * fits::elementOps + llvm::Log2_64(threads) * fits::exchangeOps);
      const bool isBusy = 2 * programs * threads >= target.busyThreads() || threads == all;
      if (isBusy && (own * loads <= keptElements || threads == all) && cost < least) {
        least = cost;
        best = threads;
      }
    }
    return best;
  }

  int64_t countPrograms() {
    int64_t programs = 1;
    for (Axis axis : draft.parallelAxes())
      programs *= axes.extent(axis);
    return programs;
  }

  /// Whether rows that threads walk three times or more, one each, are too long for the first cache together.
  bool leavesFirstCache(Axis row) {
    int64_t bytes = 0;
    for (LoadOp load : draft.loads)
      if (axes.contains(load.getResult(), row) &&
          llvm::any_of(draft.parallelAxes(), [&](Axis axis) { return axes.contains(load.getResult(), axis); }))
        bytes += axes.extent(row) * bytesOf(load.getResult());
    return countWalks(row).apart > 2 && bytes * draft.residentThreads > target.memory.l1Bytes;
  }

  bool mayDoubleCluster(int64_t cluster, int64_t programs) {
    return 2 * cluster <= target.simt.clusterSize && programs <= std::numeric_limits<int32_t>::max() / 16;
  }

  /// More threads for each of few rows that nobody keeps in registers, and more workgroups, so that the machine is
  /// busy. Each thread has `fewest` vectors or more.
  void spreadRow(int64_t vectors, int64_t programs, int64_t fewest) {
    int64_t threads = *func.getThreads(), cluster = 1;
    auto isWanted = [&] {
      return 2 * programs * threads * cluster <= target.busyThreads() && vectors >= 2 * fewest * threads * cluster;
    };
    while (isWanted() && 2 * threads <= draft.mostKeepingThreads)
      threads *= 2;
    func.setThreads(threads);
    while (isWanted() && mayDoubleCluster(cluster, programs))
      cluster *= 2;
    if (cluster > 1)
      func.setCluster(cluster);
  }

  /// More threads for a row of `vectors` that is walked more than once, and more workgroups, so that all of it is in
  /// registers. What can be had in one walk is worth them where rows are few.
  void keepRow(Axis row, int64_t vectors, int64_t lanes) {
    int64_t kept = 0;
    const int64_t programs = countPrograms();
    const Walks walks = countWalks(row);
    const SmallVector<Axis> parallel = draft.parallelAxes();
    for (LoadOp load : draft.loads)
      kept += axes.contains(load.getResult(), row) && (parallel.empty() || llvm::any_of(parallel, [&](Axis axis) {
                                                         return axes.contains(load.getResult(), axis);
                                                       }));
    if (walks.apart < 2) {
      const auto fewer = std::clamp<int64_t>(llvm::bit_floor(static_cast<uint64_t>(vectors / vectorsReadOnce)),
                                             draft.fewestThreads, mostThreads);
      if (programs * fewer >= target.busyThreads())
        func.setThreads(fewer);
      else
        spreadRow(vectors, programs, vectorsAtOnce);
      return;
    }
    const int64_t ofOne = std::max<int64_t>(keptElements / lanes, 1);
    // Of several rows at once each has fewer registers.
    int64_t rounds = std::max<int64_t>(ofOne / std::max<int64_t>(kept, 1), 1), cluster = 1;
    const bool isOnline = walks.online < 2 && vectors > rounds * mostThreads;
    auto mayDouble = [&] { return mayDoubleCluster(cluster, programs); };
    // What all multiprocessors walk at a time comes out of the second cache when it is walked again: that takes less
    // than meeting in clusters, where each has little of a row.
    const bool isNear =
        nearRows * target.cores * vectors * target.simt.laneBytes * kept <= target.memory.l2Bytes / 5 * 3;
    if (!isOnline && isNear && lanes >= 4 && programs >= nearRows * target.cores &&
        vectors > 2 * ofOne * draft.mostKeepingThreads) {
      func.setThreads(draft.mostKeepingThreads);
      return draft.setMinResidentThreads(nearRows * draft.mostKeepingThreads);
    }
    while (!isOnline && mayDouble() && vectors > rounds * draft.mostKeepingThreads * cluster)
      cluster *= 2;
    // Few rows are shared by more multiprocessors.
    while (mayDouble() && 2 * programs * cluster <= target.cores && vectors >= 4 * draft.fewestThreads * cluster)
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
        draft.setMinResidentThreads(draft.residentThreads);
    };
    if (isOnline || (cluster == 1 && vectors <= rounds * mostThreads))
      return stayTogether();
    // Of several rows at once there would be too much.
    const int64_t mostRounds = kept > 1 || lanes < 4 ? rounds : 2 * rounds;
    rounds = std::max(std::min(rounds, divide(vectors, vectorsPerThread * draft.fewestThreads * cluster)),
                      divide(vectors, draft.mostKeepingThreads * cluster));
    func.setThreads(rounds > mostRounds ? mostThreads
                                        : llvm::alignTo(divide(vectors, rounds * cluster), draft.fewestThreads));
    stayTogether();
  }

  int64_t columnsPerProgram(Axis axis, int64_t vectors) {
    int64_t columns = std::clamp(axes.extent(axis) / enoughPrograms, fewestColumns, mostColumns);
    return llvm::alignTo(columns, vectors);
  }

  /// A power of two that divides the rows, leaves enough programs and half of the first cache.
  int64_t rowsPerProgram(Axis axis) {
    int64_t bytes = 0, elements = 1;
    for (LoadOp load : draft.loads) {
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

  ScheduleDraft &draft;
  FuncOp func;
  const Axes &axes;
  const TargetInfo &target;
  /// Of a workgroup that shares a row.
  const int64_t mostThreads;
};

} // namespace

void zyx::schedule::chooseRows(ScheduleDraft &draft) { RowRules(draft).chooseRows(); }

void zyx::schedule::chooseThreadsOfRows(ScheduleDraft &draft) { RowRules(draft).chooseThreadsOfRows(); }
