//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels that combine nothing.
//===----------------------------------------------------------------------===//
#include "ChooseElements.h"

#include "Strides.h"

#include "zyx/Codegen/Tile/AccessForm.h"
#include "zyx/Target/Info/Fits.h"

using namespace mlir;
using namespace zyx::kernel;
using namespace zyx::schedule;
using zyx::target::TargetInfo;

namespace {

/// What a program transposes, along the axis that it reads and along the one that it writes: whole lines of
/// both, and so few places to write to that a processor knows their pages.
constexpr int64_t readTile = 64, writtenTile = 32;
/// Elements of a row that is written, of which most of a square exists.
constexpr int64_t fewestWritten = 7;
constexpr int64_t pageBytes = 4096;
/// Lines pages apart that a program reads at a time: they fall on few places of a cache.
constexpr int64_t farLines = 32;
/// What a subgroup has of either direction at least: the channels of an image, say.
constexpr int64_t fewestOfSubgroup = 32;

/// Chooses for an elementwise kernel, or a copy in another order.
class ElementRules {
public:
  explicit ElementRules(ScheduleDraft &draft)
      : draft(draft), func(draft.func), axes(draft.axes), target(draft.target) {}

  void chooseElements() {
    SmallVector<Axis> parallel = draft.parallelAxes();
    llvm::DenseMap<Axis, int64_t> tiles;
    // Neighbouring threads have what lies side by side, in whatever order the axes stand: channels may come last in
    // memory.
    if (target.hasSubgroups())
      if (SmallVector<Axis> sorted = draft.asInMemory(parallel); !sorted.empty() && draft.liesAlong(sorted.back()))
        parallel = sorted;
    if (std::optional<Phases> phases = findPhases(parallel))
      return choosePhases(parallel, *phases);
    int64_t left = draft.elementsPerProgram(target.hasSubgroups() && !parallel.empty() ? std::optional(parallel.back())
                                                                                       : std::nullopt);
    if (auto square = transposedAxes(parallel)) {
      auto [read, written, isGathered] = *square;
      if (isGathered)
        return chooseGathered(parallel, read, written);
      // The next program reads on where the last one ended.
      for (Axis axis : parallel)
        if (axis != read && axis != written)
          draft.grid(axis, 1);
      if (target.hasSubgroups()) {
        // A thread has a square of vectors, a subgroup 4 of them where it writes by 8 of 32 where it reads, which are
        // whole lines; the next subgroup writes the other halves of its lines. Eight of them have as much of both
        // directions.
        const int64_t lanes = draft.elementsPerProgram(), down = 4, across = target.simt.subgroupSize / down;
        draft.grid(written, 4 * down * lanes);
        draft.grid(read, 2 * across * lanes);
        draft.grid(written, 2 * down * lanes);
        draft.grid(read, across * lanes);
        draft.grid(written, down * lanes);
        draft.grid(written, lanes);
        draft.grid(read, lanes);
        return;
      }
      draft.grid(written, writtenTile);
      draft.grid(read, readTile);
      return;
    }
    if (std::optional<Axis> far = farColumns(parallel))
      return chooseFarColumns(parallel, *far);
    if (std::optional<Transposed> rows = shortRows(parallel)) {
      for (Axis axis : parallel)
        if (axis != rows->read && axis != rows->written)
          draft.grid(axis, 1);
      draft.grid(rows->read, 1);
      draft.grid(rows->written, axes.extent(rows->written));
      return;
    }
    if (std::optional<Transposed> windows = windowsOfApart(parallel))
      return chooseWindowsOfApart(parallel, *windows);
    // Elements that are found one by one are read from caches by whoever reads them: rather they are written side by
    // side.
    if (target.hasSubgroups())
      if (std::optional<Axis> written = scatteredAxis(parallel)) {
        auto *place = llvm::find(parallel, *written);
        std::rotate(place, std::next(place), parallel.end());
      }
    const SmallVector<Axis> outerFirst = target.hasSubgroups() ? parallel : draft.asInMemory(parallel);
    for (Axis axis : llvm::reverse(outerFirst)) {
      tiles[axis] = std::min(axes.extent(axis), left);
      if (target.hasSubgroups() && axis == parallel.back() && parallel.size() > 1)
        tiles[axis] = draft.wholeVectors(axis, tiles[axis]);
      else if (target.hasSubgroups())
        tiles[axis] = withinParts(axis, tiles[axis]);
      if (const int64_t whole = wholeOfFew(axis, tiles[axis]); whole < tiles[axis]) {
        tiles[axis] = whole;
        left = whole;
      }
      left = std::max<int64_t>(left / tiles[axis], 1);
    }
    if (target.hasSubgroups())
      orderAsRead(parallel);
    for (Axis axis : parallel)
      draft.grid(axis, tiles[axis]);
  }

private:
  struct Transposed {
    Axis read, written;
    bool isGathered = false;
  };

  /// Short axes, each place of which has operands of its own, as the phases of a transposed convolution do that fill
  /// an image together, and the axis of their elements.
  struct Phases {
    SmallVector<Axis> places;
    Axis elements;
  };

  /// How many places of a dimension a load reads; none where that is no number.
  static std::optional<int64_t> countPlaces(BlockAttr block, unsigned dim) {
    if (!block.hasValid())
      return BlockAttr::constant(block.getShape()[dim]);
    const std::optional<int64_t> low = BlockAttr::constant(block.getValidLow()[dim]),
                                 high = BlockAttr::constant(block.getValidHigh()[dim]);
    return low && high ? std::optional(*high - *low) : std::nullopt;
  }

  /// Only of two axes and more: an axis alone is that of vectors.
  std::optional<Phases> findPhases(ArrayRef<Axis> parallel) {
    constexpr int64_t longest = 4, mostPlaces = 16;
    constexpr size_t fewestAxes = 2;
    if (!target.hasSubgroups() || !draft.gathers.empty() || draft.stores.size() != 1 || draft.loads.size() < 2)
      return std::nullopt;
    // Where an axis has several places, each load reads one of them.
    auto readsOne = [&](LoadOp load, Axis axis) {
      const SmallVector<Axis> own = axes.of(load.getResult());
      auto *place = llvm::find(own, axis);
      auto view = load.getView().getDefiningOp<ViewOp>();
      return place != own.end() && view && view.getMap().isSingleBlock() &&
             countPlaces(view.getMap().front(), place - own.begin()) == 1;
    };
    Phases phases{};
    int64_t places = 1;
    for (Axis axis : parallel)
      if (axes.extent(axis) > 1 && axes.extent(axis) <= longest &&
          llvm::all_of(draft.loads, [&](LoadOp load) { return readsOne(load, axis); })) {
        phases.places.push_back(axis);
        places *= axes.extent(axis);
      }
    if (phases.places.size() < fewestAxes || places > mostPlaces)
      return std::nullopt;
    // Neighbours among the elements are neighbours wherever they are read, and have those of other places between them
    // where they are written.
    auto strideOf = [&](Value view, Value tile, Axis axis) -> int64_t {
      const SmallVector<Axis> own = axes.of(tile);
      auto *place = llvm::find(own, axis);
      auto op = view.getDefiningOp<ViewOp>();
      if (place == own.end() || !op || !op.getMap().isSingleBlock())
        return 0;
      return BlockAttr::constant(op.getMap().front().getStrides()[place - own.begin()]).value_or(0);
    };
    StoreOp store = draft.stores.front();
    auto writtenOf = [&](Axis axis) { return strideOf(store.getView(), store.getValue(), axis); };
    auto *nearest = llvm::find_if(phases.places, [&](Axis axis) { return writtenOf(axis) == 1; });
    auto *elements = nearest == phases.places.end() ? parallel.end() : llvm::find_if(parallel, [&](Axis axis) {
      return !llvm::is_contained(phases.places, axis) && axes.extent(axis) > 1 &&
             writtenOf(axis) == axes.extent(*nearest) && llvm::all_of(draft.loads, [&](LoadOp load) {
               return strideOf(load.getView(), load.getResult(), axis) == 1;
             });
    });
    if (elements == parallel.end())
      return std::nullopt;
    phases.elements = *elements;
    return phases;
  }

  /// A thread has all places of some elements: it asks for none of them whether it is there, and writes what lies
  /// between its elements, too. So many elements divide a row that all threads have as many, which begin at multiples
  /// of them.
  void choosePhases(ArrayRef<Axis> parallel, const Phases &phases) {
    int64_t count = draft.elementsPerProgram(phases.elements);
    while (axes.extent(phases.elements) % count != 0)
      count /= 2;
    for (Axis axis : parallel)
      if (axis != phases.elements && !llvm::is_contained(phases.places, axis))
        draft.grid(axis, 1);
    draft.grid(phases.elements, count);
  }

  /// Elements of a thread along an axis that is read in parts, as a filter's rows are: so many that they begin together
  /// with a part and end with one, or with a share of one. Then they divide one index (-zyx-kernel-divide-aligned).
  int64_t withinParts(Axis axis, int64_t most) {
    for (LoadOp load : draft.loads) {
      SmallVector<Axis> own = axes.of(load.getResult());
      auto *place = llvm::find(own, axis);
      auto view = load.getView().getDefiningOp<ViewOp>();
      if (place == own.end() || !view || view.getMap().isSingleBlock())
        continue;
      std::optional<AccessForm> form = AccessForm::compute(view.getMap());
      if (!form || form->dims[place - own.begin()].size() < 2)
        continue;
      const int64_t part = form->parts[form->dims[place - own.begin()].back()].extent;
      for (int64_t count = most; 2 * count > most; --count)
        if (part % count == 0 || count % part == 0)
          return count;
    }
    return most;
  }

  /// Whether all that is done is to find elements through several blocks, as of windows, and to write them.
  bool isCopyOfWindows() {
    if (draft.loads.size() != 1 || draft.stores.size() != 1 || !draft.gathers.empty() ||
        draft.stores.front().getValue() != draft.loads.front().getResult())
      return false;
    auto from = draft.loads.front().getView().getDefiningOp<ViewOp>(),
         to = draft.stores.front().getView().getDefiningOp<ViewOp>();
    return from && to && !from.getMap().isSingleBlock() && from.getMap().getNumSymbols() == 0 &&
           to.getMap().isSingleBlock();
  }

  /// Of a short axis of a copy, as a window's rows are, so many elements that no program has fewer: the others would
  /// ask for each whether it is there.
  int64_t wholeOfFew(Axis axis, int64_t most) {
    constexpr int64_t few = 16;
    if (!target.hasSubgroups() || !isCopyOfWindows())
      return most;
    while (axes.extent(axis) <= few && axes.extent(axis) % most != 0)
      --most;
    return most;
  }

  /// Of a copy of windows that are read where neighbouring positions are apart, as those of channels-last images are:
  /// the axis along which a workgroup shares what it reads, channels or elements of windows, and the positions. A
  /// sector that one position reads an element of has those that its neighbours along the first axis read: where these
  /// belong to other workgroups, each reads the sector again.
  std::optional<Transposed> windowsOfApart(ArrayRef<Axis> parallel) {
    constexpr int64_t fewestPositions = 16;
    if (!target.hasSubgroups() || !isCopyOfWindows())
      return std::nullopt;
    auto from = draft.loads.front().getView().getDefiningOp<ViewOp>(),
         to = draft.stores.front().getView().getDefiningOp<ViewOp>();
    const SmallVector<Axis> own = axes.of(draft.loads.front().getResult());
    auto readOf = [&](Axis axis) {
      return std::abs(strideThrough(from.getMap(), llvm::find(own, axis) - own.begin()));
    };
    // Positions: of the axes that are no few elements of a window the one whose results are nearest.
    std::optional<Axis> positions;
    int64_t nearest = 0;
    for (auto [stride, axis] : llvm::zip(to.getMap().front().getStrides(), axes.of(draft.stores.front().getValue()))) {
      const int64_t step = BlockAttr::constant(stride).value_or(0);
      if (step > 0 && axes.extent(axis) >= fewestPositions && llvm::is_contained(parallel, axis) &&
          llvm::is_contained(own, axis) && (!positions || step < nearest))
        positions = axis, nearest = step;
    }
    if (!positions || readOf(*positions) < fewestPositions)
      return std::nullopt;
    std::optional<Axis> shared;
    for (Axis axis : parallel)
      if (axis != *positions && axes.extent(axis) > 1 && llvm::is_contained(own, axis) && readOf(axis) != 0 &&
          readOf(axis) <= readOf(*positions) && (!shared || readOf(axis) < readOf(*shared)))
        shared = axis;
    return shared ? std::optional(Transposed{*shared, *positions}) : std::nullopt;
  }

  /// A workgroup has some of both axes. A subgroup writes vectors or elements that follow each other.
  void chooseWindowsOfApart(ArrayRef<Axis> parallel, Transposed windows) {
    constexpr int64_t fewRows = 8, shortRow = 4;
    auto to = draft.stores.front().getView().getDefiningOp<ViewOp>();
    auto writtenOf = [&](Axis axis) {
      for (auto [stride, own] : llvm::zip(to.getMap().front().getStrides(), axes.of(draft.stores.front().getValue())))
        if (own == axis)
          return BlockAttr::constant(stride).value_or(0);
      return int64_t(0);
    };
    const int64_t subgroup = target.simt.subgroupSize;
    if (writtenOf(windows.written) == 1) {
      const int64_t lanes = draft.wholeVectors(windows.written, draft.elementsPerProgram(windows.written));
      for (Axis axis : parallel)
        if (axis != windows.read && axis != windows.written)
          draft.grid(axis, 1);
      draft.grid(windows.read, fewRows);
      draft.grid(windows.written, subgroup * lanes);
      draft.grid(windows.read, 1);
      draft.grid(windows.written, lanes);
      return;
    }
    // Neighbouring threads write what lies side by side: elements of a window, and some positions.
    int64_t elements = 1;
    SmallVector<Axis> nearer;
    for (Axis axis : parallel)
      if (axis != windows.read && axis != windows.written && writtenOf(axis) < writtenOf(windows.written)) {
        elements *= axes.extent(axis);
        nearer.push_back(axis);
      }
    llvm::stable_sort(nearer, [&](Axis a, Axis b) { return writtenOf(a) > writtenOf(b); });
    for (Axis axis : parallel)
      if (axis != windows.read && axis != windows.written && !llvm::is_contained(nearer, axis))
        draft.grid(axis, 1);
    draft.grid(windows.read, fewRows);
    draft.grid(windows.written, llvm::divideCeil(subgroup, elements));
    draft.grid(windows.read, 1);
    draft.grid(windows.written, 1);
    // What says where an element lies takes longer than to move it: a thread has a short row of a window.
    for (Axis axis : nearer)
      draft.grid(axis, axis == nearer.back() && axes.extent(axis) <= shortRow ? axes.extent(axis) : 1);
  }

  /// Where rows of results are apart in all that is read of them, and too short for squares, neighbouring threads
  /// read neighbours: a vector that is written is half a sector, and an element that is read by itself would be a whole
  /// one.
  void orderAsRead(SmallVector<Axis> &parallel) {
    constexpr int64_t fewestNeighbours = 16;
    if (parallel.size() < 2 || !draft.gathers.empty() || llvm::any_of(draft.stores, [&](StoreOp store) {
          const SmallVector<Axis> own = axes.of(store.getValue());
          auto *place = llvm::find(own, parallel.back());
          auto view = store.getView().getDefiningOp<ViewOp>();
          return place == own.end() || !view || strideThrough(view.getMap(), place - own.begin()) != 1;
        }))
      return;
    // Of loads that are as large as results; what is repeated along a row is found once, or in the first cache.
    SmallVector<LoadOp> large;
    for (LoadOp load : draft.loads)
      if (axes.contains(load.getResult(), parallel.back()))
        large.push_back(load);
    auto strideOf = [&](LoadOp load, Axis axis) {
      const SmallVector<Axis> own = axes.of(load.getResult());
      auto *place = llvm::find(own, axis);
      return place == own.end()
                 ? 0
                 : std::abs(
                       BlockAttr::constant(
                           load.getView().getDefiningOp<ViewOp>().getMap().front().getStrides()[place - own.begin()])
                           .value_or(0));
    };
    if (large.empty())
      return;
    for (LoadOp load : large) {
      auto view = load.getView().getDefiningOp<ViewOp>();
      if (!view || !view.getMap().isSingleBlock())
        return;
      const int64_t apart = strideOf(load, parallel.back());
      int64_t nearer = 1, nearest = apart;
      for (Axis axis : parallel) {
        const int64_t stride = strideOf(load, axis);
        if (stride == 0 || stride != strideOf(large.front(), axis))
          return;
        if (stride < apart && axes.extent(axis) > 1) {
          nearer *= axes.extent(axis);
          nearest = std::min(nearest, stride);
        }
      }
      if (nearest != 1 || apart < fewestNeighbours || nearer < fewestNeighbours)
        return;
    }
    llvm::stable_sort(parallel,
                      [&](Axis a, Axis b) { return strideOf(large.front(), a) > strideOf(large.front(), b); });
  }

  /// The axis along which all stores are contiguous, where that is not the last one, and something is read through
  /// several blocks.
  std::optional<Axis> scatteredAxis(ArrayRef<Axis> parallel) {
    const bool isFound = llvm::any_of(draft.loads, [](LoadOp load) {
      auto view = load.getView().getDefiningOp<ViewOp>();
      return view && !view.getMap().isSingleBlock();
    });
    std::optional<Axis> written;
    for (StoreOp store : draft.stores) {
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

  /// What is gathered is found in caches, in whatever order it is read. A program writes runs of a page or more, few of
  /// them at once: each write of a line waits until the line is there, and lines that follow each other are fetched
  /// ahead. Where many elements that are neighbours are gathered from one place, rather these are read in the order of
  /// memory, and a place is computed once for all of them; runs are short then.
  void chooseGathered(ArrayRef<Axis> parallel, Axis read, Axis written) {
    constexpr int64_t manyNeighbours = 128, mostNeighbours = 512, shortRunBytes = pageBytes / 4;
    const bool isWide = axes.extent(read) >= manyNeighbours;
    StoreOp store = draft.stores.front();
    auto view = store.getView().getDefiningOp<ViewOp>();
    const auto width =
        static_cast<int64_t>(llvm::divideCeil(view.getType().getElementType().getIntOrFloatBitWidth(), 8));
    // What stands behind a row that is written: the next one.
    std::optional<Axis> next;
    for (auto [stride, axis] : llvm::zip(view.getMap().front().getStrides(), axes.of(store.getValue())))
      if (BlockAttr::constant(stride) == axes.extent(written) && axis != read && axes.extent(axis) > 1)
        next = axis;
    const int64_t columns = std::min(axes.extent(written), pageBytes / width);
    int64_t rows = isWide ? 1 : llvm::bit_floor<uint64_t>(std::max<int64_t>(pageBytes / width / columns, 1));
    // Of a result that leaves the second cache each line is written at once.
    if (next && columns == axes.extent(written) && bytesOfAll(store.getValue()) > target.memory.l2Bytes)
      rows = rowsOfRuns(axes.extent(*next), columns, (isWide ? shortRunBytes : pageBytes) / width).value_or(rows);
    for (Axis axis : parallel)
      if (axis != read && axis != written)
        draft.grid(axis, axis == next ? rows : 1);
    draft.grid(read, isWide ? std::min(axes.extent(read), mostNeighbours) : static_cast<int64_t>(target.lanes(4)));
    draft.grid(written, columns);
  }

  /// How many of `all` rows of so many columns are whole vectors where one is not, and a run of about so many elements.
  /// They divide all rows, so that vectors go on from one to the next in each program. Nothing where no rows do: then
  /// vectors would not lie as lines of a cache do.
  std::optional<int64_t> rowsOfRuns(int64_t all, int64_t columns, int64_t wanted) {
    const auto lanes = static_cast<int64_t>(target.lanes(4));
    std::optional<int64_t> best;
    double least = zyx::target::fits::wholeLines::mostApart;
    for (int64_t rows = 1; rows <= all && columns % lanes != 0; ++rows) {
      const auto elements = static_cast<double>(rows * columns), run = static_cast<double>(wanted);
      const double apart = std::max(elements, run) / std::min(elements, run);
      if (all % rows == 0 && rows * columns % lanes == 0 && apart < least) {
        least = apart;
        best = rows;
      }
    }
    return best;
  }

  /// The axis along which neighbours are neighbours in memory, of a load whose view goes through several blocks, as one
  /// with fills between its elements does. Bounds keep what is filled apart.
  std::optional<Axis> rowsThroughBlocks(LoadOp load, ArrayRef<Axis> parallel, Axis columns) {
    auto view = load.getView().getDefiningOp<ViewOp>();
    if (!view || view.getMap().isSingleBlock() || view.getMap().getNumSymbols() != 0)
      return std::nullopt;
    constexpr int64_t mostRepeats = 8;
    std::optional<Axis> rows;
    bool areColumnsApart = false;
    for (auto [dim, axis] : llvm::enumerate(axes.of(load.getResult()))) {
      const int64_t stride = strideThrough(view.getMap(), dim);
      if (stride == 1 && axes.extent(axis) >= fewestOfSubgroup && llvm::is_contained(parallel, axis))
        rows = axis;
      // Of columns that are repeated, as those of upsampled images are, the next one that is another.
      int64_t apart = stride;
      for (int64_t steps = 2; apart == 0 && steps <= mostRepeats; steps *= 2)
        apart = strideThrough(view.getMap(), dim, steps);
      areColumnsApart |= axis == columns && apart >= fewestOfSubgroup;
    }
    return areColumnsApart ? rows : std::nullopt;
  }

  /// The axes of a copy that writes rows which are too short for squares, one behind the other, and reads each element
  /// of a row somewhere else, but neighbouring rows side by side: a thread writes a row. Rows may be padded, by less
  /// than a vector.
  std::optional<Transposed> shortRows(ArrayRef<Axis> parallel) {
    if (!target.hasSubgroups() || draft.loads.size() != 1 || draft.stores.size() != 1 ||
        draft.stores.front().getValue() != draft.loads.front().getResult())
      return std::nullopt;
    auto along = [&](Value view, Value tile, int64_t apart, int64_t most) -> std::optional<Axis> {
      auto op = view.getDefiningOp<ViewOp>();
      if (!op || !op.getMap().isOneWholeBlock())
        return std::nullopt;
      for (auto [stride, axis] : llvm::zip(op.getMap().front().getStrides(), axes.of(tile)))
        if (const int64_t own = BlockAttr::constant(stride).value_or(0);
            own >= apart && own <= most && axes.extent(axis) > 1 && llvm::is_contained(parallel, axis))
          return axis;
      return std::nullopt;
    };
    LoadOp load = draft.loads.front();
    StoreOp store = draft.stores.front();
    const std::optional<Axis> read = along(load.getView(), load.getResult(), 1, 1),
                              written = along(store.getView(), store.getValue(), 1, 1);
    if (!read || !written || read == written || axes.extent(*written) >= fewestOfSubgroup ||
        axes.extent(*read) < target.simt.subgroupSize ||
        along(store.getView(), store.getValue(), axes.extent(*written),
              llvm::alignTo(axes.extent(*written), target.lanes(bytesOf(store.getValue())))) != read)
      return std::nullopt;
    return Transposed{*read, *written};
  }

  /// The axis along which a copy writes neighbours that it reads pages apart, of lines that have elements for several
  /// places of its other axes, as filters have whose channels come last afterwards.
  std::optional<Axis> farColumns(ArrayRef<Axis> parallel) {
    if (target.hasSubgroups() || draft.loads.size() != 1 || draft.stores.size() != 1 || !draft.gathers.empty() ||
        draft.stores.front().getValue() != draft.loads.front().getResult())
      return std::nullopt;
    LoadOp load = draft.loads.front();
    MapAttr from = load.getView().getDefiningOp<ViewOp>().getMap(),
            to = draft.stores.front().getView().getDefiningOp<ViewOp>().getMap();
    if (!from.isSingleBlock() || !to.isSingleBlock())
      return std::nullopt;
    std::optional<Axis> far;
    bool sharesLines = false;
    for (auto [dim, axis] : llvm::enumerate(axes.of(load.getResult()))) {
      const int64_t apart = std::abs(strideThrough(from, dim)) * bytesOf(load.getResult());
      if (strideThrough(to, dim) == 1 && apart >= pageBytes && axes.extent(axis) > farLines)
        far = axis;
      sharesLines |= apart > 0 && 2 * apart <= target.memory.lineBytes && axes.extent(axis) > 1;
    }
    return sharesLines && far && llvm::is_contained(parallel, *far) ? far : std::nullopt;
  }

  /// So few lines at a time that they stay in the second cache while all that they have is read.
  void chooseFarColumns(ArrayRef<Axis> parallel, Axis far) {
    constexpr int64_t mostElements = 1 << 15;
    int64_t left = mostElements / farLines;
    llvm::DenseMap<Axis, int64_t> tiles;
    for (Axis axis : llvm::reverse(draft.asInMemory(SmallVector<Axis>(parallel)))) {
      tiles[axis] = axis == far ? farLines : std::min(axes.extent(axis), left);
      if (axis != far)
        left = std::max<int64_t>(left / tiles[axis], 1);
    }
    for (Axis axis : parallel)
      draft.grid(axis, tiles[axis]);
  }

  /// The axes along which a load or a gather and the first store are contiguous, where those are two.
  std::optional<Transposed> transposedAxes(ArrayRef<Axis> parallel) {
    auto contiguous = [&](Value view, Value tile, int64_t apart, int64_t fewest) -> std::optional<Axis> {
      auto op = view.getDefiningOp<ViewOp>();
      if (!op || !op.getMap().isSingleBlock())
        return std::nullopt;
      for (auto [stride, axis] : llvm::zip(op.getMap().front().getStrides(), axes.of(tile)))
        if (BlockAttr::constant(stride) == apart && axes.extent(axis) >= fewest && llvm::is_contained(parallel, axis))
          return axis;
      return std::nullopt;
    };
    // A processor writes short rows by squares, too.
    std::optional<Axis> columns = contiguous(draft.stores.front().getView(), draft.stores.front().getValue(), 1,
                                             target.hasSubgroups() ? fewestOfSubgroup : fewestWritten);
    if (!columns || target.accessBytes() == 0 || (target.hasSubgroups() && draft.elementsPerProgram() < 4))
      return std::nullopt;
    for (LoadOp load : draft.loads) {
      std::optional<Axis> rows =
          contiguous(load.getView(), load.getResult(), 1, target.hasSubgroups() ? fewestOfSubgroup : readTile);
      if (!rows && target.hasSubgroups())
        rows = rowsThroughBlocks(load, parallel, *columns);
      if (rows && *rows != *columns && axes.contains(load.getResult(), *columns))
        return Transposed{*rows, *columns};
    }
    if (!target.hasSubgroups())
      for (GatherOp gather : draft.gathers)
        for (Axis axis : parallel)
          if (axis != *columns && axes.extent(axis) >= readTile && draft.gathersAlong(gather, axis) &&
              axes.contains(gather.getResult(), *columns))
            return Transposed{axis, *columns, /*isGathered=*/true};
    // Of a copy of every second element, as a convolution with stride reads, a thread reads whole sectors, too.
    constexpr int64_t every = 2, fewest = 14;
    if (target.hasSubgroups() && draft.loads.size() == 1 && draft.stores.size() == 1 &&
        draft.stores.front().getValue() == draft.loads.front().getResult())
      if (std::optional<Axis> rows =
              contiguous(draft.loads.front().getView(), draft.loads.front().getResult(), every, fewest);
          rows && *rows != *columns)
        return Transposed{*rows, *columns};
    return std::nullopt;
  }

  ScheduleDraft &draft;
  FuncOp func;
  const Axes &axes;
  const TargetInfo &target;
};

} // namespace

void zyx::schedule::chooseElements(ScheduleDraft &draft) { ElementRules(draft).chooseElements(); }
