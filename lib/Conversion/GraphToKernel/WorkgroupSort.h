//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_WORKGROUPSORT_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_WORKGROUPSORT_H

#include "WorkgroupOrder.h"

#include "zyx/Dialect/Graph/Analysis/FirstElements.h"

namespace zyx::lowering {

/// Threads sort and merge `items` elements at a time, in shared memory until they have a tile, and then in memory. An
/// odd number of them lies in other banks for each thread. More of them take fewer steps in all, and longer.
struct SortShape {
  static constexpr int64_t fewItems = graph::ir::FirstThreads::sortedItems, manyItems = graph::ir::clusterItems;
  int64_t items = fewItems, threads, tile;

  SortShape(const Rows &rows, int64_t wordBytes, const Workgroups &machine) {
    constexpr int64_t packedBytes = 8;
    int64_t mostThreads = machine.workgroupThreads;
    if (wordBytes == packedBytes && rows.outer * rows.inner * mostThreads >= machine.threads &&
        rows.extent > mostThreads * fewItems / 2)
      items = manyItems, mostThreads /= 2;
    threads = std::min(mostThreads, divideCeil(rows.extent, items));
    // What is no power of two is no part of a longer row. Two workgroups share a multiprocessor.
    threads = threads < mostThreads / 2 ? llvm::alignTo(threads, machine.warpSize) : ceilPower(threads);
    while (2 * threads * items * wordBytes > machine.sharedBytes / 2)
      threads = ceilPower(threads) / 2;
    tile = threads * items;
  }
  bool isOneTile(const Rows &rows) const { return rows.extent <= tile; }
};

/// How many of its first elements a sort has to give.
inline int64_t countFirst(graph::ir::SortOp sort, const Rows &rows) {
  auto attribute = sort->getAttrOfType<mlir::IntegerAttr>(graph::ir::firstElementsAttrName);
  return attribute ? std::min(attribute.getInt(), rows.extent) : rows.extent;
}

inline graph::ir::FirstThreads findFirstThreads(graph::ir::SortOp sort, const Rows &rows, const Workgroups &machine) {
  // Of many rows one is walked while others wait at barriers: fewer threads have fewer elements to sort.
  constexpr int64_t share = 4, fewItems = 8, manyItems = 32;
  const int64_t first = countFirst(sort, rows), half = machine.workgroupThreads / 2;
  const bool areMany = rows.outer * rows.inner * machine.workgroupThreads >= machine.threads && share * first <= half;
  return {rows.extent,
          first,
          machine.warpSize,
          machine.sharedBytes,
          areMany ? half : machine.workgroupThreads,
          areMany ? manyItems : fewItems};
}

/// Few first elements of short rows: threads of a subgroup, `lanes` to a row, sort `items` elements each and merge
/// their lists, of which the first `kept` elements stay. Rows share workgroups.
struct ListShape {
  int64_t first, kept, lanes, items, rowsOfGroup;
  /// Whether threads read each other's registers. They sort words of 32 bits then, which have a place in the last
  /// `placeBits`, and in front of it as many of the `keyBits` of an element as there is room for.
  bool isExchanged;
  int64_t placeBits, keyBits;

  ListShape(graph::ir::SortOp sort, const Rows &rows, const Workgroups &machine)
      : first(countFirst(sort, rows)), isExchanged(machine.hasShuffles),
        placeBits(llvm::Log2_64_Ceil(static_cast<uint64_t>(std::max<int64_t>(rows.extent, 1)))),
        keyBits(mlir::getElementTypeOrSelf(sort.getX().getType()).getIntOrFloatBitWidth()) {
    constexpr int64_t wantedItems = 8, mostItems = 32, wantedThreads = 128;
    const int64_t numRows = rows.outer * rows.inner;
    kept = ceilPower(std::max<int64_t>(first, 1));
    lanes = std::min(ceilPower(divideCeil(rows.extent, wantedItems)), machine.warpSize);
    // Lists are merged between lanes in fewer steps where these are fewer. A lane each gives a first element.
    if (isExchanged)
      while (lanes > kept && 2 * divideCeil(rows.extent, lanes) <= mostItems &&
             numRows * (lanes / 2) >= machine.threads / 4)
        lanes /= 2;
    lanes = isExchanged ? std::max(lanes, kept) : lanes;
    items = ceilPower(divideCeil(rows.extent, lanes));
    int64_t threads = std::clamp(wantedThreads, lanes, std::max(machine.workgroupThreads, lanes));
    // Half as many workgroups begin where these are many.
    if (isExchanged && numRows * lanes >= 4 * machine.threads && 2 * threads <= machine.workgroupThreads)
      threads *= 2;
    rowsOfGroup = std::clamp<int64_t>(numRows, 1, threads / lanes);
    if (isExchanged)
      rowsOfGroup = llvm::alignTo(rowsOfGroup, std::max<int64_t>(machine.warpSize / lanes, 1));
  }
  int64_t threads() const { return rowsOfGroup * lanes; }
  int64_t placeMask() const { return (int64_t(1) << placeBits) - 1; }
  /// Whether a word of 32 bits has all of an element.
  bool isExact() const { return keyBits + placeBits <= 32; }
  /// Whether the lists of a thread have room in its registers.
  bool isFor(const Rows &rows) const {
    constexpr int64_t mostKept = 16, mostItems = 16;
    return first > 0 && kept <= mostKept && items <= (isExchanged ? 2 * mostItems : mostItems) &&
           2 * first <= rows.extent;
  }
};

/// Few long rows: workgroups of a cluster sort a tile of one each, and merge these in their shared memory.
struct ClusterShape {
  int64_t size = 1, threads = 0, tile = 0;

  ClusterShape(const Rows &rows, const Workgroups &machine) {
    constexpr int64_t items = SortShape::manyItems, fewestThreads = 128, wordBytes = 8;
    const int64_t numRows = rows.outer * rows.inner;
    // A workgroup for each row would leave half of the machine idle.
    if (machine.clusterSize < 2 || 2 * numRows * machine.workgroupThreads > machine.threads)
      return;
    auto setSize = [&](int64_t of) {
      size = of;
      threads = llvm::alignTo(divideCeil(divideCeil(rows.extent, of), items), machine.warpSize);
      tile = threads * items;
    };
    auto fits = [&] { return threads <= machine.workgroupThreads && 2 * tile * wordBytes <= machine.sharedBytes / 2; };
    for (setSize(2); 2 * size <= machine.clusterSize && (!fits() || threads > fewestThreads);)
      setSize(2 * size);
    if (!fits())
      size = 1;
  }
  bool isFor() const { return size > 1; }
};

/// Rows of many sorted runs: each workgroup has a tile of the result, and a thread for each run.
struct RunShape {
  /// Numbers that the threads of runs give each other at once, and groups of runs that are added up apart.
  static constexpr int64_t numbers = 2, groups = 8;
  /// A workgroup has room for more elements than its tile: where that begins and ends need not be found exactly.
  static constexpr int64_t tileItems = 5;
  int64_t runs, length, threads, tile, room;

  RunShape(const Rows &rows, int64_t runs, int64_t wordBytes, const Workgroups &machine)
      : runs(runs), length(rows.extent / runs),
        threads(
            graph::ir::threadsOfRunTiles(wordBytes, machine.warpSize, machine.sharedBytes, machine.workgroupThreads)),
        tile(threads * tileItems), room(threads * SortShape::fewItems) {}
  /// Fewer runs are merged element by element.
  bool isFor(const Rows &rows) const {
    return runs >= graph::ir::fewestRunsOfTiles && runs <= threads && rows.inner == 1;
  }
};

class WorkgroupSort : public WorkgroupOrder {
public:
  WorkgroupSort(graph::ir::GroupOp group, graph::ir::SortOp sort, mlir::OpBuilder &builder, const Workgroups &machine)
      : WorkgroupOrder(group, sort, builder, machine), sort(sort), rows(getShape(sort.getX()), sort.getDim()) {}

private:
  void emitOp() override;
  llvm::SmallVector<TensorType> getScratch() override;

  /// Elements of a row as numbers that are sorted upwards: of up to 32 bits with their places behind them, which
  /// differ, in one word, of 64 bits with those in `places`.
  struct Words {
    mlir::Value words, places;
    /// Where the first one is, and how far behind it merged ones go, or come from.
    mlir::Value base;
    int64_t half;
    bool isShared;
  };
  /// How a bisection halves: two steps at a time, of which the first one is `step` long.
  struct Halvings {
    mlir::Value pairs, step;
  };
  mlir::Value encode(mlir::Value element);
  mlir::Value packWord(mlir::Value word, mlir::Value place);
  Words shareWords(int64_t tile);
  void emitFirst(const graph::ir::FirstThreads &shape);
  /// What threads know of the first elements: vectors of `lanes` elements, which all threads take in `rounds`, of which
  /// `winners` may be among the first ones, up to the word `limit`.
  struct FirstVectors {
    const Operand &x;
    llvm::ArrayRef<mlir::Value> at;
    int64_t lanes, rounds;
    mlir::Value winners, limit;
  };
  mlir::Value findBest(const FirstVectors &all);
  void findWinners(const graph::ir::FirstThreads &shape, FirstVectors &all, const Words &words);
  /// Words of a vector of a winner's; of what is no candidate the word that is last.
  Values candidatesOf(const FirstVectors &all, mlir::Value winner, mlir::Value round);
  /// The rows of a workgroup, each of some lanes: how many there are in all, a thread's lane and the number of its row,
  /// the row that it reads, and the place of that.
  struct OpenRows {
    int64_t numRows;
    mlir::Value lane, number, row, o, i;
  };
  OpenRows openRows(const ListShape &shape);
  void emitLists(const ListShape &shape);
  /// A row that lanes have together: vectors of so many elements of it, in turns.
  struct ListRow {
    const Operand &x;
    Values at;
    mlir::Value lane;
    int64_t vector;
  };
  void emitExchanged(const ListShape &shape);
  Values readWords(const ListRow &row, const ListShape &shape, int64_t begin, int64_t end, mlir::Value ahead,
                   bool isWide);
  Values sortList(Values words, int64_t kept);
  void exchangeLists(Values &own, const ListShape &shape);
  /// The lesser of two words stands in front behind it.
  void exchange(mlir::Value &a, mlir::Value &b);
  /// Sorts a list that rises and then falls.
  void sortTurning(Values &list);
  /// The first elements of two sorted lists as one, of which `kept` or fewer stay.
  Values mergeLists(llvm::ArrayRef<mlir::Value> a, llvm::ArrayRef<mlir::Value> b, int64_t kept);
  void emitRuns(int64_t runs);
  /// Shared memory in which the threads of runs exchange numbers.
  struct RunMemory {
    int64_t runs, asked;
    mlir::Value given, sums, guesses;
  };
  /// A key in a run: how many elements are below it, and the keys of the last of these and of the first of the others.
  struct PivotPlace {
    mlir::Value count, below, above;
  };
  struct PivotSearch {
    PivotPlace low, high;
    mlir::Value pivot;
    PivotPlace found;
  };
  /// Of a run from where to where a workgroup takes elements; of what it takes of all, how many come before its tile,
  /// and how many there are.
  struct RunPart {
    mlir::Value begin, end, ahead, count;
  };
  Values sumRuns(const RunMemory &memory, llvm::ArrayRef<mlir::Value> own);
  mlir::Value sumBefore(const RunMemory &memory, mlir::Value own);
  void findPivots(llvm::MutableArrayRef<PivotSearch> searches,
                  llvm::function_ref<mlir::Value(mlir::Value place)> keyAt);
  void sortGuesses(const RunMemory &memory, int64_t asked, llvm::ArrayRef<mlir::Value> own);
  RunPart splitRuns(const Operand &x, llvm::ArrayRef<mlir::Value> at, const RunShape &shape, const RunMemory &memory,
                    llvm::ArrayRef<mlir::Value> targets);
  void emitRunTiles(const RunShape &shape);
  /// Each thread sorts its items of packed words in shared memory, in their place; behind the last one stands what is
  /// last.
  void sortWords(mlir::Value count, const Words &of);
  /// `placeOf` says where in the row each element of the tile stands.
  void sortOwn(const Operand &x, llvm::ArrayRef<mlir::Value> at, mlir::Value count, const Words &to,
               llvm::function_ref<mlir::Value(mlir::Value p)> placeOf, bool inTurns = true);
  /// How many elements of the left of two sorted runs are among the first `depth` of both: at least `least` and at most
  /// `most`. `left` and `right` load words by their place in a run, of which one before and one behind may be asked
  /// for.
  template <typename Left, typename Right>
  mlir::Value findLeft(mlir::Value depth, mlir::Value least, mlir::Value most, const Halvings &halvings, Left left,
                       Right right);
  /// Merges a thread's items of packed words in shared memory: of two runs that begin at `left` and `right`, those from
  /// `depth` on. `give` takes each item's number and word.
  template <typename Give>
  void mergeItems(mlir::Value words, mlir::Value left, mlir::Value right, mlir::Value numLeft, mlir::Value numRight,
                  mlir::Value depth, const Halvings &halvings, Give give);
  Halvings halvingsOf(int64_t length);
  /// Each thread's block of a pass over packed words in shared memory.
  void mergeShared(const Words &all, mlir::Value from, mlir::Value to, mlir::Value count, mlir::Value width,
                   const Halvings &halvings);
  /// Stores a tile of words to shared memory: `word` gives each by its place.
  template <typename Word> void copyTile(mlir::Value words, mlir::Value to, Word word);
  /// Merges sorted tiles in memory, and writes the result.
  void mergeTiles(const Words &tile, const Words &memory, llvm::ArrayRef<mlir::Value> at, const Operand &x);
  void mergeLevel(const Words &tile, const Words &memory, mlir::Value width, const Halvings &halvings, mlir::Value from,
                  llvm::function_ref<void(mlir::Value word, mlir::Value j)> give);
  void emitCluster(const ClusterShape &shape);
  /// Merges tiles of the cluster's workgroups, `runs` of which are sorted already.
  void mergeCluster(const Words &tile, mlir::Value from, mlir::Value other, mlir::Value rank, int64_t runs);
  mlir::Value placeIn(mlir::Value word);
  /// The element of which a packed word is made, or what is equal to it.
  mlir::Value decode(mlir::Value word);
  /// Writes what a packed word stands for to `j`.
  void giveWord(const Operand &x, llvm::ArrayRef<mlir::Value> at, mlir::Value word, mlir::Value j);
  /// Sorts what no two of are equal.
  void sortNetwork(Values &list);
  /// Writes the element that stood at `place` to `j`.
  void giveElement(const Operand &x, llvm::ArrayRef<mlir::Value> at, mlir::Value place, mlir::Value j);
  /// Merges neighbouring runs of `width` blocks of a thread's items, in the first `count` elements.
  void mergeRuns(const Words &all, mlir::Value from, mlir::Value to, mlir::Value count, mlir::Value width,
                 mlir::Value numSteps);
  /// Merges all runs of `first` blocks of the `numBlocks`. Returns where the last one went.
  mlir::Value mergeAll(const Words &all, mlir::Value count, int64_t first, int64_t numBlocks);
  mlir::Value mergeAll(const Words &all, mlir::Value count, int64_t first, mlir::Value passes);
  /// What each thread takes in turns.
  template <typename Body> void forOwn(mlir::Value count, Body body) { loop(thread, count, index(threads), body); }
  bool isPacked() { return getElement(sort.getX()).getIntOrFloatBitWidth() <= 32; }
  int64_t wordBytes() { return isPacked() ? 8 : 12; }

  graph::ir::SortOp sort;
  const Rows rows;
  /// How many elements a thread sorts and merges at a time.
  int64_t items = SortShape::fewItems;
};

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_WORKGROUPSORT_H
