//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels with reductions that read across the order in which their threads are neighbours: another kernel copies what
// they read into that order.
//===----------------------------------------------------------------------===//
#include "FactorLayouter.h"
#include "LayOutFactors.h"
#include "LayOutWindows.h"
#include "Strides.h"

#include "zyx/Codegen/Tile/RowReductions.h"
#include "zyx/Schedule/Choices.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace zyx::kernel;
using zyx::schedule::FactorLayouter;
using zyx::schedule::mapOf;
using zyx::target::TargetInfo;
namespace fits = zyx::target::fits::layouts;
namespace walked = zyx::target::fits::walkedReads;

/// The dimension of a load along an axis, where another order of the whole buffer would bring its elements side by
/// side; none where they are, or are all the same, or where the load reads a part, or what is computed. Neighbouring
/// threads read a flipped row as fast as any, while vectors are read forwards alone.
static std::optional<unsigned> findStridedDim(LoadOp load, Axis axis, const Axes &axes, bool readsVectors) {
  auto view = load.getView().getDefiningOp<ViewOp>();
  SmallVector<Axis> own = axes.of(load.getResult());
  const auto *found = llvm::find(own, axis);
  if (found == own.end() || load.getMask() || load.getOther() || !view || !isa<BlockArgument>(view.getBuffer()) ||
      !view.getSymbols().empty() || !view.getMap().isOneWholeBlock() ||
      view.getType().getShape() != cast<RankedTensorType>(load.getType()).getShape())
    return std::nullopt;
  const auto dim = static_cast<unsigned>(found - own.begin());
  const int64_t stride = zyx::schedule::strideThrough(view.getMap(), dim);
  const bool isAlong = stride == 1 || stride == 0 || (stride == -1 && !readsVectors);
  return isAlong ? std::nullopt : std::optional(dim);
}

static int64_t countElements(Value tile) { return cast<RankedTensorType>(tile.getType()).getNumElements(); }
static int64_t bytesOfElement(Value tile) {
  return llvm::divideCeil(getElementTypeOrSelf(tile.getType()).getIntOrFloatBitWidth(), 8);
}

SmallVector<FactorLayouter::Transposed> FactorLayouter::findTerms(FuncOp of, const Axes &axes) {
  constexpr int64_t fewestElements = int64_t(1) << 16, fewestReads = 4;
  auto reduces = of.getBody().getOps<ReduceOp>();
  if (!llvm::hasSingleElement(reduces))
    return {};
  const int64_t points = countElements((*reduces.begin()).getInput());
  // Rows are what most is read along.
  std::optional<Axis> row;
  int64_t most = 0;
  for (LoadOp load : of.getBody().getOps<LoadOp>())
    if (load.getView().getDefiningOp<ViewOp>())
      for (auto [dim, axis] : llvm::enumerate(axes.of(load.getResult())))
        if (const int64_t count = countElements(load.getResult()); axes.isCombined(axis) && axes.extent(axis) > 1 &&
                                                                   count > most &&
                                                                   zyx::schedule::strideThrough(mapOf(load), dim) == 1)
          row = axis, most = count;
  SmallVector<Transposed> found;
  for (auto [number, load] : llvm::enumerate(of.getBody().getOps<LoadOp>())) {
    const std::optional<unsigned> dim = row ? findStridedDim(load, *row, axes, /*readsVectors=*/true) : std::nullopt;
    const int64_t count = dim ? countElements(load.getResult()) : 0;
    if (!dim || count < fewestElements || points / count < fewestReads)
      continue;
    if (std::optional<FactorLayout> layout = denseLayout(mapOf(load), *dim))
      found.push_back({number, *layout});
  }
  return found;
}

namespace {

/// What a kernel reads or writes of memory, and how often.
struct Access {
  LoadOp load;
  /// The load's among those of the kernel.
  size_t number;
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
    const auto sector = static_cast<double>(load ? target.memory.transactionBytes : target.memory.scatteredBytes);
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

/// Which share of the cores has a workgroup where neighbouring threads are neighbours along the axis: one for each
/// result of sums along it, or else one for each sector of what lies side by side.
static double widthAlong(Axis axis, FuncOp of, int64_t bytes, const Axes &axes, const TargetInfo &target) {
  auto reduces = of.getBody().getOps<ReduceOp>();
  if (reduces.empty())
    return 1;
  double workgroups = 1;
  for (Axis own : axes.of((*reduces.begin()).getInput()))
    if (!axes.isCombined(own) && own != axis)
      workgroups *= static_cast<double>(axes.extent(own));
  if (!axes.isCombined(axis))
    workgroups *= static_cast<double>(llvm::divideCeil(axes.extent(axis) * bytes, target.memory.transactionBytes));
  return std::min(1.0, workgroups / static_cast<double>(target.cores));
}

SmallVector<FactorLayouter::Transposed> FactorLayouter::findWalked(FuncOp of, const Axes &axes) {
  constexpr int64_t fewestNeighbours = 16;
  if (!of.getBody().getOps<DotOp>().empty() || !of.getBody().getOps<GatherOp>().empty())
    return {};
  SmallVector<Access> all;
  double largest = 0;
  size_t number = 0;
  for (Operation &op : of.getBody().front()) {
    auto load = dyn_cast<LoadOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    const size_t own = load ? number++ : 0;
    if ((!load && !store) || (load && findLookedUpAxis(load.getResult(), axes)))
      continue;
    Value tile = load ? load.getResult() : store.getValue();
    auto view = (load ? load.getView() : store.getView()).getDefiningOp<ViewOp>();
    if (!view || !isTile(tile) || view.getMap().getNumSymbols() != 0)
      return {};
    const auto elements = static_cast<double>(countElements(tile));
    all.push_back({load, own, tile, view.getMap(), elements, load ? static_cast<double>(countWalks(load)) : 1,
                   bytesOfElement(tile)});
    largest = std::max(largest, elements);
  }
  llvm::erase_if(all, [&](const Access &access) { return access.elements * walked::mostSmaller < largest; });
  // As it is written, or else as most is read.
  const bool writes = llvm::any_of(all, [](const Access &access) { return !access.load; });
  if (largest < (writes ? walked::fewestElements : walked::fewestSummed))
    return {};
  int64_t narrowest = std::numeric_limits<int64_t>::max();
  for (const Access &access : all)
    narrowest = std::min(narrowest, access.bytes);
  std::optional<Axis> along;
  double most = 0, asItIs = std::numeric_limits<double>::infinity();
  for (Axis axis = 0; axis < axes.size(); ++axis) {
    double weight = 0, moved = 0;
    for (const Access &access : all) {
      moved += access.countMoved(axis, axes, target);
      if (access.isAlong(axis, axes) && !(writes && access.load))
        weight += access.elements * static_cast<double>(access.bytes);
    }
    if (axes.extent(axis) < fewestNeighbours || !axes.name(axis))
      continue;
    asItIs = std::min(asItIs, moved);
    // Columns of few results are so few workgroups that rows are read faster. What is written decides by itself.
    if (!writes && weight > 0)
      weight *= widthAlong(axis, of, narrowest, axes, target);
    if (weight > most)
      along = axis, most = weight;
  }
  if (!along)
    return {};
  SmallVector<Transposed> found;
  double copied = 0;
  for (const Access &access : all) {
    const std::optional<unsigned> dim =
        access.load ? findStridedDim(access.load, *along, axes, /*readsVectors=*/false) : std::optional<unsigned>();
    const double bytes = access.elements * static_cast<double>(access.bytes);
    std::optional<FactorLayout> layout =
        dim && bytes <= walked::mostBytes ? denseLayout(access.map, *dim) : std::nullopt;
    if (!layout) {
      copied += access.countMoved(*along, axes, target);
      continue;
    }
    copied += bytes * (2 / rateOf(*layout) + access.walks);
    found.push_back({access.number, *layout});
  }
  const auto rate = static_cast<double>(target.costs.memoryBytesPerCycle);
  const double launched = static_cast<double>(target.costs.launchCycles) * static_cast<double>(found.size());
  if (cyclesOf(copied, rate) + launched > walked::clearlyLess * cyclesOf(asItIs, rate))
    return {};
  return found;
}

SmallVector<FactorLayouter::Transposed> FactorLayouter::findSmall(FuncOp of, const Axes &axes) {
  const std::optional<Axis> along = zyx::schedule::findWritten(of, axes);
  if (!along)
    return {};
  SmallVector<Transposed> found;
  for (auto [number, load] : llvm::enumerate(of.getBody().getOps<LoadOp>())) {
    const std::optional<unsigned> dim = findStridedDim(load, *along, axes, /*readsVectors=*/true);
    const int64_t lanes = target.lanes(bytesOfElement(load.getResult()));
    if (!dim || lanes < 2 || axes.extent(*along) % lanes != 0)
      continue;
    SmallVector<Axis> own = axes.of(load.getResult());
    // What all sums read of it, one by one and in vectors.
    double reads = 0;
    for (ReduceOp reduce : of.getBody().getOps<ReduceOp>())
      if (llvm::all_of(own, [&](Axis axis) { return axes.contains(reduce.getInput(), axis); }))
        reads = std::max(reads, static_cast<double>(countElements(reduce.getInput())));
    const auto elements = static_cast<double>(countElements(load.getResult()));
    const double saved =
        cyclesOf(reads * (1 - 1 / static_cast<double>(lanes)), static_cast<double>(target.simt.subgroupSize));
    const double copied = static_cast<double>(target.costs.launchCycles) +
                          cyclesOf(elements * fits::copiedBytes,
                                   fits::lookUpRate * static_cast<double>(target.costs.memoryBytesPerCycle));
    if (std::optional<FactorLayout> layout = saved > 2 * copied ? denseLayout(mapOf(load), *dim) : std::nullopt)
      found.push_back({number, *layout});
  }
  return found;
}

void FactorLayouter::transpose(SymbolTable &into, MutableArrayRef<zyx::plan::LaunchOp> launches, bool hasWindows) {
  struct Rule {
    SmallVector<Transposed> (FactorLayouter::*find)(FuncOp, const Axes &);
    StringRef suffix, why;
  };
  const Rule rules[] = {
      {&FactorLayouter::findTerms, "_term", "what it sums up is copied, so that it lies along the rows of the sum"},
      {&FactorLayouter::findWalked, "_walked",
       "what it reads across the order of the rest is copied, so that all lies along one axis"},
      {&FactorLayouter::findSmall, "_turned",
       "what each of its sums reads is copied, so that it lies along the results"}};
  symbols = &into;
  if (func.getBody().getOps<ReduceOp>().empty() || !readAlike(launches))
    return;
  for (const Rule &rule : llvm::drop_begin(rules, hasWindows ? 0 : 1)) {
    OwningOpRef<FuncOp> trial = zyx::schedule::cloneUnshared(func);
    FailureOr<Axes> axes = Axes::compute(*trial);
    if (failed(axes))
      return;
    const SmallVector<Transposed> found = (this->*rule.find)(*trial, *axes);
    const SmallVector<LoadOp> loads(func.getBody().getOps<LoadOp>());
    for (const Transposed &each : found)
      apply(each.layout, loads[each.number], (rule.suffix + Twine(each.number)).str(), launches);
    if (found.empty())
      continue;
    remark::passed(func.getLoc(), remark::RemarkOpts::name("LayOutFactors").category("zyx-schedule"))
        << func.getName() << ": " << rule.why;
    zyx::schedule::dropUnread(func, launches);
  }
}
