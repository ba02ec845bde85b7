//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels that combine windows, as pooling and depthwise convolutions do.
//===----------------------------------------------------------------------===//
#include "ChooseWindows.h"

#include "Strides.h"

#include "zyx/Codegen/Tile/NearForm.h"

using namespace mlir;
using namespace zyx::kernel;
using namespace zyx::schedule;
using zyx::target::TargetInfo;

namespace {

/// Chooses for a kernel that reads elements for several results.
class WindowRules {
public:
  explicit WindowRules(ScheduleDraft &draft) : draft(draft), func(draft.func), axes(draft.axes), target(draft.target) {}

  /// Whether few elements are combined into each of the result's, and some are read for several of them.
  bool combinesWindows() { return draft.countCombined() <= mostWindowElements && (combinesTiles() || readsAgain()); }

  /// Windows beside each other, as most pooling has: of their rows a vector would be mostly empty, and neighbours are
  /// lanes that are apart.
  bool combinesTiles() {
    return target.hasVectors() && !target.hasSubgroups() && draft.dots.empty() &&
           llvm::any_of(draft.loads, [&](LoadOp load) {
             MapAttr map = load.getView().getDefiningOp<ViewOp>().getMap();
             SmallVector<Axis> own = axes.of(load.getResult());
             return llvm::any_of(llvm::enumerate(own), [&](auto it) {
               std::optional<NearForm> form =
                   axes.isCombined(it.value()) ? std::nullopt : NearForm::compute(map, it.index());
               return form && form->laneStep != 1;
             });
           });
  }

  /// Whether some elements are read for several results, or lie behind more than one step.
  bool readsAgain() {
    return llvm::any_of(draft.loads, [&](LoadOp load) {
      MapAttr map = load.getView().getDefiningOp<ViewOp>().getMap();
      int64_t points = cast<RankedTensorType>(load.getType()).getNumElements();
      return !map.isOneWholeBlock() || points > spanOf(map.front());
    });
  }

  /// Of what is copied near for windows along one axis, or is written, the elements of a line of memory that are
  /// neighbours along another axis.
  int64_t neighboursOfLine(Axis axis, Axis along) {
    int64_t most = 1;
    for (LoadOp load : draft.loads) {
      const SmallVector<Axis> own = axes.of(load.getResult());
      const auto *place = llvm::find(own, along), *other = llvm::find(own, axis);
      if (place == own.end() || other == own.end())
        continue;
      const std::optional<NearForm> form =
          NearForm::compute(load.getView().getDefiningOp<ViewOp>().getMap(), place - own.begin());
      for (const NearForm::Dim &dim : form ? ArrayRef(form->dims) : ArrayRef<NearForm::Dim>())
        if (dim.step == 1 && dim.factors[other - own.begin()] == 1)
          most = std::max(most, target.memory.lineBytes / bytesOf(load.getResult()));
    }
    for (StoreOp store : draft.stores)
      for (auto [dim, own] : llvm::enumerate(axes.of(store.getValue())))
        if (own == axis && strideThrough(store.getView().getDefiningOp<ViewOp>().getMap(), dim) == 1)
          most = std::max(most, target.memory.lineBytes / bytesOf(store.getValue()));
    return most;
  }

  /// Windows over what is padded, and factors that lie across vectors: a program copies what it reads of them, once,
  /// and has so many rows of results that it reads each element of the operand hardly more often than they overlap.
  /// False where nothing is copied.
  bool chooseNearWindows(int64_t lanes) {
    constexpr int64_t mostElements = 16384, enoughRows = 8;
    SmallVector<Axis> parallel = draft.parallelAxes();
    std::optional<Axis> along;
    for (Axis axis : parallel)
      if (draft.liesAlong(axis))
        along = axis;
    // Neighbours of windows that are moved by several elements are that far apart in what is read.
    for (Axis axis : parallel)
      if (!along && readsLanesApart(axis) && writesAlong(axis))
        along = axis;
    const bool isLong = draft.countCombined() > mostWindowElements;
    if (isLong && !parallel.empty())
      along = draft.asInMemory(parallel).back();
    if (!target.hasVectors() || !along)
      return false;
    auto has = [&](LoadOp load, Axis axis) { return axes.contains(load.getResult(), axis); };
    // Where each neighbour has factors of its own, as channels have that come last, those of two vectors stay in
    // registers.
    const bool hasFactors = llvm::any_of(draft.loads, [&](LoadOp load) {
      return has(load, *along) && llvm::any_of(parallel, [&](Axis other) { return !has(load, other); });
    });
    llvm::DenseMap<Axis, int64_t> tiles;
    for (Axis axis : parallel)
      tiles[axis] = axis == *along && hasFactors ? std::min(axes.extent(axis), 2 * lanes) : axes.extent(axis);
    // Windows overlap along axes that share a dimension of the operand with what is combined.
    llvm::DenseSet<Axis> sliding;
    for (LoadOp load : draft.loads) {
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
    // Images and channels are programs of their own before anything that overlaps is cut. Of channels that come last a
    // program with fewer than a line has would read or write all of the line.
    for (Axis axis : parallel) {
      const int64_t line = neighboursOfLine(axis, *along);
      auto isLonger = [&] { return tiles[axis] > line; };
      while (axis != *along && !sliding.contains(axis) && tiles[axis] > 1 &&
             isTooLarge(isLonger() ? target.memory.l1Bytes / 2 : mostNearBytes * 7 / 8,
                        isLonger() || line == 1 ? mostElements / 4 : mostElements))
        halve(axis);
    }
    for (int64_t fewest : {enoughRows, int64_t(1)})
      for (Axis axis : parallel)
        while ((axis != *along || !hasFactors) && sliding.contains(axis) && tiles[axis] > fewest &&
               isTooLarge(mostNearBytes * 7 / 8, mostElements))
          halve(axis);
    if (isLong && bytesNear(*along, tiles) > mostNearBytes)
      return false;
    for (Axis axis : parallel)
      draft.grid(axis, tiles[axis]);
    return true;
  }

  /// Pooling and depthwise convolutions: programs as large as those of element-wise kernels, so that rows of
  /// results are loops inside. What is read for each channel alone stays in registers along them.
  void chooseWindows(int64_t lanes) {
    if (target.hasSubgroups())
      return chooseThreadWindows();
    if (chooseNearWindows(lanes))
      return;
    SmallVector<Axis> parallel = draft.parallelAxes();
    llvm::DenseMap<Axis, int64_t> tiles;
    int64_t left = draft.elementsPerProgram();
    auto take = [&](Axis axis, int64_t most) {
      int64_t pieces = llvm::divideCeil(axes.extent(axis), std::max<int64_t>(std::min(most, left), 1));
      tiles[axis] = llvm::divideCeil(axes.extent(axis), pieces);
      left = std::max<int64_t>(left / tiles[axis], 1);
    };
    for (Axis axis : parallel)
      if (draft.isContiguous(axis)) {
        bool hasFactors = llvm::any_of(draft.loads, [&](LoadOp load) {
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
      draft.grid(axis, tiles[axis]);
  }

private:
  /// Whether loads have neighbours along an axis that are few elements apart, between which others of a window lie.
  bool readsLanesApart(Axis axis) {
    return llvm::any_of(draft.loads, [&](LoadOp load) {
      const SmallVector<Axis> own = axes.of(load.getResult());
      const auto *place = llvm::find(own, axis);
      std::optional<NearForm> form =
          place == own.end() ? std::nullopt
                             : NearForm::compute(load.getView().getDefiningOp<ViewOp>().getMap(), place - own.begin());
      return form && form->laneStep != 1;
    });
  }

  /// Whether results along an axis are neighbours in memory.
  bool writesAlong(Axis axis) {
    return llvm::all_of(draft.stores, [&](StoreOp store) {
      return llvm::any_of(llvm::enumerate(axes.of(store.getValue())), [&](auto own) {
        return own.value() == axis && strideThrough(store.getView().getDefiningOp<ViewOp>().getMap(), own.index()) == 1;
      });
    });
  }

  /// Bytes that a program of these tiles copies near, along an axis; 0 where it copies nothing.
  int64_t bytesNear(Axis axis, const llvm::DenseMap<Axis, int64_t> &tiles) {
    uint64_t reads = 1;
    auto sizeOf = [&](Axis a) { return tiles.contains(a) ? tiles.lookup(a) : axes.extent(a); };
    for (Axis a = 0; a < axes.size(); ++a)
      reads = llvm::SaturatingMultiply(reads, static_cast<uint64_t>(sizeOf(a)));
    int64_t bytes = 0;
    for (LoadOp load : draft.loads) {
      SmallVector<Axis> own = axes.of(load.getResult());
      const auto *along = llvm::find(own, axis);
      if (along == own.end())
        continue;
      MapAttr map = load.getView().getDefiningOp<ViewOp>().getMap();
      std::optional<NearForm> form = NearForm::compute(map, along - own.begin());
      const int64_t lanes = target.lanes(bytesOf(load.getResult()));
      SmallVector<int64_t> tile = llvm::map_to_vector(own, sizeOf);
      const bool isOnly = draft.countCombined() > mostWindowElements;
      if (form && form->isReused(tile, along - own.begin(), lanes,
                                 static_cast<int64_t>(std::min<uint64_t>(reads, INT64_MAX)), isOnly))
        bytes += form->countElements(tile, lanes) * bytesOf(load.getResult());
    }
    return bytes;
  }

  /// Whether neighbours along an axis of results read elements of a window that are the same.
  bool slides(Axis axis) {
    return llvm::any_of(draft.loads, [&](LoadOp load) {
      SmallVector<Axis> own = axes.of(load.getResult());
      const auto *place = llvm::find(own, axis);
      if (place == own.end())
        return false;
      MapAttr map = load.getView().getDefiningOp<ViewOp>().getMap();
      const int64_t step = std::abs(strideThrough(map, place - own.begin()));
      return llvm::any_of(llvm::enumerate(own), [&](auto it) {
        const int64_t inner = axes.isCombined(it.value()) ? std::abs(strideThrough(map, it.index())) : 0;
        return inner != 0 && step != 0 && step % inner == 0 && step / inner < axes.extent(it.value());
      });
    });
  }

  /// How far neighbours along an axis are from each other in what is read for each element of a window: the strides
  /// of all such reads that have the axis.
  SmallVector<int64_t> readStrides(Axis axis) {
    SmallVector<int64_t> strides;
    for (LoadOp load : draft.loads) {
      const SmallVector<Axis> own = axes.of(load.getResult());
      const auto *place = llvm::find(own, axis);
      if (place != own.end() && llvm::any_of(own, [&](Axis each) { return axes.isCombined(each); }))
        strides.push_back(
            std::abs(strideThrough(load.getView().getDefiningOp<ViewOp>().getMap(), place - own.begin())));
    }
    return strides;
  }

  /// Axes in the order in which results lie in memory. If each result reads many elements, the last one is that along
  /// which all of them are side by side: neighbours read neighbours, even if they write results that are apart.
  SmallVector<Axis> findOrder() {
    constexpr uint64_t manyReads = 8;
    constexpr int64_t fewestNeighbours = 8;
    SmallVector<Axis> parallel = draft.asInMemory(draft.parallelAxes());
    if (parallel.empty() || draft.countCombined() < manyReads)
      return parallel;
    auto isRead = [&](Axis axis) {
      const SmallVector<int64_t> strides = readStrides(axis);
      return axes.extent(axis) >= fewestNeighbours && !strides.empty() &&
             llvm::all_of(strides, [](int64_t stride) { return stride == 1; });
    };
    auto *read = llvm::find_if(parallel, isRead);
    if (read != parallel.end() && !isRead(parallel.back()))
      std::rotate(read, read + 1, parallel.end());
    return parallel;
  }

  /// The same for threads: each has a vector of neighbours in what is written, and its neighbours have the next ones.
  /// Of rows whose windows overlap it has several: it reads what these share once, and factors of a channel once for
  /// all of them.
  void chooseThreadWindows() {
    constexpr int64_t mostSums = 32, enoughThreads = 256;
    // Code writes out so many rows: it reads what they share once, and their results stay in registers. More of them
    // are loops, which would pass what another reduction of the windows reads of the first one through memory.
    constexpr int64_t mostRows = 8;
    const bool combinesOnce = llvm::count_if(func.getOps(), llvm::IsaPred<ReduceOp>) <= 1;
    const SmallVector<Axis> parallel = findOrder();
    if (parallel.empty())
      return;
    llvm::DenseMap<Axis, int64_t> tiles;
    const int64_t lanes = draft.elementsPerProgram(parallel.back()), extent = axes.extent(parallel.back());
    // A part of a vector that does not divide the row would be read and written one by one, each by threads that are as
    // far apart as they have elements.
    int64_t tile = lanes;
    while (extent % tile != 0)
      tile /= 2;
    // What strides is read one by one: neighbouring threads share lines of memory then.
    const SmallVector<int64_t> strides = readStrides(parallel.back());
    if (!strides.empty() && llvm::all_of(strides, [](int64_t stride) { return stride > 1; }))
      tile = 1;
    tiles[parallel.back()] = tile;
    int64_t threads = llvm::divideCeil(extent, tile);
    for (Axis axis : ArrayRef(parallel).drop_back())
      threads *= axes.extent(axis);
    auto rows = llvm::make_filter_range(llvm::reverse(ArrayRef(parallel).drop_back()),
                                        [&](Axis axis) { return axes.extent(axis) > 1 && slides(axis); });
    if (!rows.empty()) {
      const int64_t length = axes.extent(*rows.begin()), most = std::min(mostSums / tile, mostRows);
      auto isPossible = [&](int64_t count) {
        return length % count == 0 && threads / count >= enoughThreads * target.cores;
      };
      int64_t count = most;
      while (count > 1 && !isPossible(count))
        --count;
      const int64_t mostOfPrimes = tile == 1 && combinesOnce ? 2 * mostRows : mostRows;
      for (int64_t more = most + 1; count <= 1 && more <= mostOfPrimes && more * tile <= 2 * mostSums; ++more)
        if (isPossible(more))
          count = more;
      tiles[*rows.begin()] = std::max<int64_t>(count, 1);
    }
    for (Axis axis : withSharersTogether(parallel))
      draft.grid(axis, tiles.contains(axis) ? tiles[axis] : 1);
  }

  /// Axes in an order in which threads that read the same windows, as those of all rows of a group do, follow each
  /// other: the first cache has what the others have read. Neighbours along the last axis stay neighbours.
  SmallVector<Axis> withSharersTogether(SmallVector<Axis> parallel) {
    auto isCombined = [&](Axis axis) { return axes.isCombined(axis); };
    LoadOp largest;
    int64_t most = 0;
    for (LoadOp load : draft.loads) {
      const int64_t points = cast<RankedTensorType>(load.getType()).getNumElements();
      if (points > most && llvm::any_of(axes.of(load.getResult()), isCombined))
        largest = load, most = points;
    }
    if (largest)
      std::stable_partition(parallel.begin(), std::prev(parallel.end()),
                            [&](Axis axis) { return axes.contains(largest.getResult(), axis); });
    return parallel;
  }

  ScheduleDraft &draft;
  FuncOp func;
  const Axes &axes;
  const TargetInfo &target;
};

} // namespace

bool zyx::schedule::combinesWindows(ScheduleDraft &draft) { return WindowRules(draft).combinesWindows(); }

void zyx::schedule::chooseWindows(ScheduleDraft &draft, int64_t lanes) { WindowRules(draft).chooseWindows(lanes); }

bool zyx::schedule::chooseNearWindows(ScheduleDraft &draft, int64_t lanes) {
  return WindowRules(draft).chooseNearWindows(lanes);
}
