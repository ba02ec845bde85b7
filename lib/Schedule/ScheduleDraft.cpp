//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ScheduleDraft.h"

#include "Strides.h"

#include "zyx/Codegen/Tile/RowReductions.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"

using namespace mlir;
using namespace zyx::kernel;
using zyx::schedule::Choice;
using zyx::schedule::ScheduleDraft;
using zyx::schedule::strideThrough;
using zyx::target::TargetInfo;

/// Elements that one program of an elementwise kernel computes: enough to hide what it costs to begin
/// a program, few enough that the inputs of a long chain stay in the first cache.
static constexpr int64_t programElements = 4096;

int64_t zyx::schedule::bytesOf(Value tile) {
  Type element = cast<RankedTensorType>(tile.getType()).getElementType();
  return std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
}

int64_t zyx::schedule::bytesOfAll(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getNumElements() * bytesOf(tile);
}

int64_t zyx::schedule::spanOf(BlockAttr block) {
  int64_t span = 1;
  for (auto [extent, stride] : llvm::zip(block.getShape(), block.getStrides()))
    span += (BlockAttr::constant(extent).value_or(1) - 1) * std::abs(BlockAttr::constant(stride).value_or(0));
  return span;
}

ScheduleDraft::ScheduleDraft(FuncOp func, const Axes &axes, const TargetInfo &target)
    : func(func), axes(axes), target(target), fewestThreads(target.simt.subgroupSize),
      mostKeepingThreads(std::min(target.simt.threadsWith(4 * keptElements), target.simt.workgroupThreads)),
      residentThreads(target.simt.threadsWith(2 * keptElements)) {
  func.walk([&](Operation *op) {
    if (auto store = dyn_cast<StoreOp>(op))
      stores.push_back(store);
    else if (auto load = dyn_cast<LoadOp>(op); load && !(target.hasSubgroups() && findLookedUpAxis(load, axes)))
      loads.push_back(load);
    else if (auto gather = dyn_cast<GatherOp>(op))
      gathers.push_back(gather);
    else if (auto found = dyn_cast<DotOp>(op))
      dots.push_back(found);
    combines |= isa<ReduceOp>(op);
  });
}

Choice ScheduleDraft::takeSteps() {
  Choice choice{ScheduleAttr::get(func.getContext(), steps), static_cast<int64_t>(func.getThreads().value_or(0)),
                static_cast<int64_t>(func.getCluster().value_or(0)), /*cost=*/0, columns};
  steps.clear();
  func.removeThreadsAttr();
  func.removeClusterAttr();
  return choice;
}

void ScheduleDraft::grid(Axis axis, int64_t tile) {
  if (tile < axes.extent(axis))
    steps.push_back(GridStepAttr::get(func.getContext(), nameOf(axis), tile));
}

StringAttr ScheduleDraft::nameOf(Axis axis) { return StringAttr::get(func.getContext(), *axes.name(axis)); }

void ScheduleDraft::setMinResidentThreads(int64_t count) { func.setMinResidentThreads(count); }

SmallVector<Axis> ScheduleDraft::parallelAxes() {
  SmallVector<Axis> result;
  for (Axis axis : axes.of(stores.front().getValue())) {
    bool everywhere = llvm::all_of(stores, [&](StoreOp store) { return axes.contains(store.getValue(), axis); });
    if (everywhere && !axes.isCombined(axis) && axes.extent(axis) > 1 && axes.name(axis))
      result.push_back(axis);
  }
  return result;
}

bool ScheduleDraft::isContiguous(Axis axis) {
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

bool ScheduleDraft::gathersAlong(GatherOp gather, Axis axis) {
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

int64_t ScheduleDraft::widestRead(std::optional<Axis> axis) {
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

bool ScheduleDraft::liesAlong(Axis axis) {
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

SmallVector<Axis> ScheduleDraft::asInMemory(SmallVector<Axis> sorted) {
  StoreOp store = stores.front();
  SmallVector<Axis> own = axes.of(store.getValue());
  MapAttr map = store.getView().getDefiningOp<ViewOp>().getMap();
  auto strideOf = [&](Axis axis) { return std::abs(strideThrough(map, llvm::find(own, axis) - own.begin())); };
  llvm::stable_sort(sorted, [&](Axis a, Axis b) { return strideOf(a) > strideOf(b); });
  return sorted;
}

uint64_t ScheduleDraft::countCombined() {
  uint64_t combined = 1;
  for (Axis axis = 0; axis < axes.size(); ++axis)
    if (axes.isCombined(axis))
      combined = llvm::SaturatingMultiply(combined, uint64_t(axes.extent(axis)));
  return combined;
}

int64_t ScheduleDraft::elementsPerProgram(std::optional<Axis> along) {
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

int64_t ScheduleDraft::wholeVectors(Axis axis, int64_t most) {
  const int64_t extent = axes.extent(axis);
  if (extent <= most)
    return extent;
  while (extent % most != 0)
    most = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(most - 1)));
  return most;
}
