//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels with reductions that read across the order in which their threads are neighbours: another kernel copies what
// they read into that order.
//===----------------------------------------------------------------------===//
#include "LayOutFactors.h"
#include "LayOutWindows.h"
#include "Layouter.h"
#include "Strides.h"

#include "zyx/Codegen/Tile/RowReductions.h"
#include "zyx/Schedule/Choices.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace zyx::kernel;
using zyx::schedule::Layouter;
using zyx::schedule::mapOf;
using zyx::target::TargetInfo;
namespace fits = zyx::target::fits::layouts;
namespace walked = zyx::target::fits::walkedReads;

/// The dimension of a load along an axis, where another order of the whole buffer would bring its elements side by
/// side; none where they are, or where the load reads a part, or what is computed.
static std::optional<unsigned> findStridedDim(LoadOp load, Axis axis, const Axes &axes) {
  auto view = load.getView().getDefiningOp<ViewOp>();
  SmallVector<Axis> own = axes.of(load.getResult());
  const auto *found = llvm::find(own, axis);
  if (found == own.end() || load.getMask() || load.getOther() || !isa<BlockArgument>(view.getBuffer()) ||
      !view.getSymbols().empty() || !view.getMap().isSingleBlock() || view.getMap().front().hasValid() ||
      view.getType().getShape() != cast<RankedTensorType>(load.getType()).getShape())
    return std::nullopt;
  const auto dim = static_cast<unsigned>(found - own.begin());
  return zyx::schedule::strideThrough(view.getMap(), dim) == 1 ? std::nullopt : std::optional(dim);
}

void Layouter::transposeTerms(SymbolTable &into, MutableArrayRef<zyx::plan::LaunchOp> launches) {
  constexpr int64_t fewestElements = int64_t(1) << 16, fewestReads = 4;
  symbols = &into;
  auto reduces = func.getBody().getOps<ReduceOp>();
  unshareConstants(func);
  FailureOr<Axes> axes = Axes::compute(func);
  if (failed(axes) || !llvm::hasSingleElement(reduces))
    return;
  ReduceOp reduce = *reduces.begin();
  const auto points = cast<RankedTensorType>(reduce.getInput().getType()).getNumElements();
  auto countOf = [](LoadOp load) { return cast<RankedTensorType>(load.getType()).getNumElements(); };
  // Rows are what most is read along.
  std::optional<Axis> row;
  int64_t most = 0;
  SmallVector<LoadOp> loads(func.getBody().getOps<LoadOp>());
  for (LoadOp load : loads)
    for (auto [dim, axis] : llvm::enumerate(axes->of(load.getResult())))
      if (axes->isCombined(axis) && axes->extent(axis) > 1 && countOf(load) > most &&
          zyx::schedule::strideThrough(mapOf(load), dim) == 1)
        row = axis, most = countOf(load);
  if (!row)
    return;
  for (auto [number, load] : llvm::enumerate(loads)) {
    const std::optional<unsigned> dim = findStridedDim(load, *row, *axes);
    if (!dim || countOf(load) < fewestElements || points / countOf(load) < fewestReads)
      continue;
    if (std::optional<FactorLayout> transposed = denseLayout(mapOf(load), *dim)) {
      apply(*transposed, load, ("_term" + Twine(number)).str(), launches);
      remark::passed(func.getLoc(), remark::RemarkOpts::name("LayOutFactors").category("zyx-schedule"))
          << func.getName() << ": what it sums up is copied, so that it lies along the rows of the sum";
    }
  }
  zyx::schedule::dropUnread(func, launches);
}

namespace {

/// What a kernel reads or writes of memory, and how often.
struct Access {
  LoadOp load;
  Value tile;
  MapAttr map;
  double elements, walks;
  int64_t bytes;

  bool isAlong(Axis axis, const Axes &axes) const {
    for (auto [dim, own] : llvm::enumerate(axes.of(tile)))
      if (own == axis)
        return std::abs(zyx::schedule::strideThrough(map, dim)) == 1;
    return false;
  }
  /// Bytes that memory moves for it where neighbouring threads are neighbours along the axis.
  double countMoved(Axis axis, const Axes &axes, const TargetInfo &target) const {
    int64_t apart = 0;
    for (auto [dim, own] : llvm::enumerate(axes.of(tile)))
      if (own == axis)
        apart = std::abs(zyx::schedule::strideThrough(map, dim));
    const double sector = load ? static_cast<double>(target.memory.transactionBytes) : walked::scatteredBytes;
    return elements * walks *
           (apart == 1 ? static_cast<double>(bytes)
                       : std::clamp<double>(static_cast<double>(apart * bytes), static_cast<double>(bytes), sector));
  }
};

} // namespace

/// How often a kernel walks what it loads: for each reduction, and for what it writes.
static int64_t countWalks(LoadOp load) {
  int64_t walks = 0;
  bool isWritten = false;
  SmallVector<Value> work{load.getResult()};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (!seen.insert(user).second)
        continue;
      if (isa<ReduceOp>(user))
        ++walks;
      else if (isa<StoreOp>(user))
        isWritten = true;
      else
        llvm::append_range(work, user->getResults());
    }
  return walks + isWritten;
}

void Layouter::transposeWalked(SymbolTable &into, MutableArrayRef<zyx::plan::LaunchOp> launches) {
  constexpr int64_t fewestNeighbours = 16;
  symbols = &into;
  if (launches.empty() || func.getBody().getOps<ReduceOp>().empty() || !func.getBody().getOps<DotOp>().empty() ||
      !func.getBody().getOps<GatherOp>().empty() || llvm::any_of(launches, [&](zyx::plan::LaunchOp launch) {
        return launch.getIns().size() != launches.front().getIns().size();
      }))
    return;
  unshareConstants(func);
  FailureOr<Axes> axes = Axes::compute(func);
  if (failed(axes))
    return;
  SmallVector<Access> all;
  double largest = 0;
  for (Operation &op : func.getBody().front()) {
    auto load = dyn_cast<LoadOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    if ((!load && !store) || (load && findLookedUpAxis(load.getResult(), *axes)))
      continue;
    Value tile = load ? load.getResult() : store.getValue();
    auto view = (load ? load.getView() : store.getView()).getDefiningOp<ViewOp>();
    if (!view || !isTile(tile) || view.getMap().getNumSymbols() != 0)
      return;
    const auto elements = static_cast<double>(cast<RankedTensorType>(tile.getType()).getNumElements());
    const int64_t bytes = llvm::divideCeil(getElementTypeOrSelf(tile.getType()).getIntOrFloatBitWidth(), 8);
    all.push_back({load, tile, view.getMap(), elements, load ? static_cast<double>(countWalks(load)) : 1, bytes});
    largest = std::max(largest, elements);
  }
  llvm::erase_if(all, [&](const Access &access) { return access.elements * walked::mostSmaller < largest; });
  if (largest < walked::fewestElements)
    return;
  // As it is written, or else as most is read.
  const bool writes = llvm::any_of(all, [](const Access &access) { return !access.load; });
  std::optional<Axis> along;
  double most = 0, asItIs = std::numeric_limits<double>::infinity();
  for (Axis axis = 0; axis < axes->size(); ++axis) {
    double weight = 0, moved = 0;
    for (const Access &access : all) {
      moved += access.countMoved(axis, *axes, target);
      if (access.isAlong(axis, *axes) && !(writes && access.load))
        weight += access.elements * static_cast<double>(access.bytes);
    }
    if (axes->extent(axis) < fewestNeighbours || !axes->name(axis))
      continue;
    asItIs = std::min(asItIs, moved);
    if (weight > most)
      along = axis, most = weight;
  }
  if (!along)
    return;
  SmallVector<std::pair<LoadOp, FactorLayout>> made;
  double copied = 0;
  for (const Access &access : all) {
    const std::optional<unsigned> dim =
        access.load ? findStridedDim(access.load, *along, *axes) : std::optional<unsigned>();
    std::optional<FactorLayout> layout = dim && access.elements * static_cast<double>(access.bytes) <= walked::mostBytes
                                             ? denseLayout(access.map, *dim)
                                             : std::nullopt;
    if (!layout || !layout->isCopy() || zyx::schedule::strideThrough(access.map, *dim) == 0) {
      copied += access.countMoved(*along, *axes, target);
      continue;
    }
    const double bytes = access.elements * static_cast<double>(access.bytes);
    copied += bytes * (2 / rateOf(*layout) + access.walks);
    made.push_back({access.load, *layout});
  }
  const auto rate = static_cast<double>(target.costs.memoryBytesPerCycle);
  if (made.empty() ||
      cyclesOf(copied, rate) + static_cast<double>(target.costs.launchCycles) * static_cast<double>(made.size()) >
          walked::clearlyLess * cyclesOf(asItIs, rate))
    return;
  for (auto [number, each] : llvm::enumerate(made))
    apply(each.second, each.first, ("_walked" + Twine(number)).str(), launches);
  remark::passed(func.getLoc(), remark::RemarkOpts::name("LayOutFactors").category("zyx-schedule"))
      << func.getName() << ": what it reads across the order of the rest is copied, so that all lies along one axis";
  zyx::schedule::dropUnread(func, launches);
}

void Layouter::transposeSmall(SymbolTable &into, MutableArrayRef<zyx::plan::LaunchOp> launches) {
  symbols = &into;
  auto reduces = func.getBody().getOps<ReduceOp>();
  if (launches.empty() || reduces.empty() || llvm::any_of(launches, [&](zyx::plan::LaunchOp launch) {
        return launch.getIns().size() != launches.front().getIns().size();
      }))
    return;
  unshareConstants(func);
  FailureOr<Axes> axes = Axes::compute(func);
  std::optional<Axis> along = failed(axes) ? std::nullopt : zyx::schedule::findWritten(func, *axes);
  if (!along)
    return;
  bool isTransposed = false;
  for (auto [number, load] : llvm::enumerate(llvm::to_vector(func.getBody().getOps<LoadOp>()))) {
    const std::optional<unsigned> dim = findStridedDim(load, *along, *axes);
    const int64_t bytes = llvm::divideCeil(getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth(), 8);
    const int64_t lanes = target.lanes(bytes);
    if (!dim || lanes < 2 || axes->extent(*along) % lanes != 0)
      continue;
    SmallVector<Axis> own = axes->of(load.getResult());
    // What all sums read of it, one by one and in vectors.
    double reads = 0;
    for (ReduceOp reduce : reduces)
      if (llvm::all_of(own, [&](Axis axis) { return axes->contains(reduce.getInput(), axis); }))
        reads =
            std::max(reads, static_cast<double>(cast<RankedTensorType>(reduce.getInput().getType()).getNumElements()));
    const auto elements = static_cast<double>(cast<RankedTensorType>(load.getType()).getNumElements());
    const double saved =
        cyclesOf(reads * (1 - 1 / static_cast<double>(lanes)), static_cast<double>(target.simt.subgroupSize));
    const double copied = static_cast<double>(target.costs.launchCycles) +
                          cyclesOf(elements * fits::copiedBytes,
                                   fits::lookUpRate * static_cast<double>(target.costs.memoryBytesPerCycle));
    std::optional<FactorLayout> transposed = saved > 2 * copied ? denseLayout(mapOf(load), *dim) : std::nullopt;
    if (!transposed || !transposed->isCopy())
      continue;
    apply(*transposed, load, ("_turned" + Twine(number)).str(), launches);
    isTransposed = true;
    remark::passed(func.getLoc(), remark::RemarkOpts::name("LayOutFactors").category("zyx-schedule"))
        << func.getName() << ": what each of its sums reads is copied, so that it lies along the results";
  }
  if (isTransposed)
    zyx::schedule::dropUnread(func, launches);
}
