//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a kernel takes with its schedule: ops and bytes, each as often as programs compute and read it.
//===----------------------------------------------------------------------===//
#include "ChooseDot.h"
#include "ChooseRules.h"
#include "ChooseTensor.h"
#include "EstimatePacking.h"
#include "LayOutFactors.h"
#include "LayOutWindows.h"
#include "Overlap.h"
#include "Strides.h"

#include "zyx/Codegen/Matrix/Epilogue.h"
#include "zyx/Codegen/Tile/OpCost.h"
#include "zyx/Codegen/Tile/RowReductions.h"
#include "zyx/Codegen/Tile/TileEvaluator.h"
#include "zyx/Codegen/Tile/VisibleRange.h"
#include "zyx/Schedule/Estimate.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;
using zyx::schedule::Choice;
using zyx::schedule::Estimate;
using zyx::schedule::overlapped;
using zyx::target::TargetInfo;
namespace fits = zyx::target::fits::kernels;

namespace {

int64_t bytesOf(Value tile) {
  return std::max<int64_t>(getElementTypeOrSelf(tile.getType()).getIntOrFloatBitWidth() / 8, 1);
}

class Estimator {
public:
  Estimator(FuncOp func, const Axes &axes, const Choice &choice, const TargetInfo &target, ArrayRef<bool> isFixed)
      : func(func), axes(axes), choice(choice), target(target), isFixed(isFixed) {}

  Estimate run();

private:
  struct Work {
    /// Simple ops, elements that are read or written one by one or as vectors, and the bytes that move for them.
    double ops = 0, accesses = 0, moved = 0;
    /// Bytes of memory, each once.
    double bytes = 0;
    double products = 0;
  };
  void readSteps();
  void readMask();
  double repeats(Value tile) const;
  void addFactors(DotOp dot);
  void addTerms(ReduceOp reduce);
  double countWalks(ReduceOp reduce);
  double countReaders(Value tile) const;
  int64_t extentInProgram(Axis axis) const {
    auto found = tiles.find(axis);
    return found == tiles.end() ? axes.extent(axis) : std::min(found->second, axes.extent(axis));
  }
  void addAccess(Value view, Value tile, Work &work, double times, Axis along);
  Axis findReadAlong(LoadOp load) const;
  bool addPacking(LoadOp load, Work &work, double times);
  double lookedUp(Value tile) const;
  bool readsRows(GatherOp gather) const;
  std::optional<int64_t> strideOf(Value view, Value tile, Axis axis) const;
  Axis findWalked();
  double onThreads(const Work &work) const;
  double onTensorCores(const Work &work) const;
  double onProduct(double lanes) const;
  double onSharedKeys(const zyx::schedule::SharedChoice &shared, double bytes);
  double onProcessor(const Work &work) const;
  double lanesPerCycle() const { return static_cast<double>(target.costs.lanesPerCycle); }
  double secondsOf(double cycles) const { return cycles / (static_cast<double>(target.costs.megahertz) * 1e6); }

  FuncOp func;
  const Axes &axes;
  const Choice &choice;
  const TargetInfo &target;
  /// Of the first arguments.
  ArrayRef<bool> isFixed;
  SmallVector<DotOp> dots;
  /// Elements of each axis that a program has, of those that programs are cut along.
  llvm::SmallDenseMap<Axis, int64_t> tiles;
  TensorStepAttr tensor;
  BlockingAttr blocking;
  OnlineStepAttr online;
  /// Along it a loop leaves blocks out that a mask hides.
  std::optional<Axis> masked;
  /// What is left, of 1.
  double visible = 1;
  /// How much more often than programs alone say.
  llvm::DenseMap<Operation *, double> again;
  /// Along it neighbouring threads or lanes have neighbouring elements.
  Axis walked = 0;
  double programs = 1;
};

} // namespace

void Estimator::readSteps() {
  for (Attribute step : choice.schedule.getSteps()) {
    if (auto grid = dyn_cast<GridStepAttr>(step)) {
      if (FailureOr<Axis> axis = axes.find(grid.getAxis(), func); succeeded(axis))
        tiles[*axis] = grid.getTile();
    } else if (auto block = dyn_cast<BlockStepAttr>(step)) {
      blocking = block.getBlocking();
    } else if (auto own = dyn_cast<TensorStepAttr>(step)) {
      tensor = own;
    } else if (auto own = dyn_cast<OnlineStepAttr>(step)) {
      online = own;
    }
  }
  for (auto [axis, tile] : tiles)
    programs *= static_cast<double>(llvm::divideCeil(axes.extent(axis), tile));
}

/// Only OnlineLoop.cpp asks this rule: what workgroups share, and tensor cores, leave out blocks by rules of their own.
void Estimator::readMask() {
  FailureOr<Axis> keys = axes.find(online.getAxis(), func);
  func.walk([&](ReduceOp reduce) {
    if (failed(keys) || reduce.getKind() != Combine::Max || reduce.getDims().size() != 1 ||
        axes.of(reduce.getInput(), reduce.getDims()[0]) != *keys)
      return;
    masked = *keys;
    visible = findVisibleShare(reduce.getInput(), axes, *keys, online.getTile(), tiles);
  });
}

/// How many programs compute a tile.
double Estimator::repeats(Value tile) const {
  double result = 1;
  for (auto [axis, own] : tiles)
    if (!axes.contains(tile, axis))
      result *= static_cast<double>(llvm::divideCeil(axes.extent(axis), own));
  return result;
}

std::optional<int64_t> Estimator::strideOf(Value view, Value tile, Axis axis) const {
  auto made = view.getDefiningOp<ViewOp>();
  if (!made)
    return std::nullopt;
  for (auto [dim, each] : llvm::enumerate(axes.of(tile)))
    if (each == axis)
      return target.hasSubgroups() && !made.getMap().isSingleBlock()
                 ? zyx::schedule::strideThrough(made.getMap(), dim)
                 : BlockAttr::constant(made.getMap().front().getStrides()[dim]);
  return 0;
}

/// The axis along which most is read and written side by side; on a card the last one that programs are cut along,
/// unless threads share a row, or that of the columns that they share.
Axis Estimator::findWalked() {
  if (choice.columns)
    return *choice.columns;
  if (target.hasSubgroups() && choice.threads == 0)
    for (Attribute step : llvm::reverse(choice.schedule.getSteps()))
      if (auto grid = dyn_cast<GridStepAttr>(step))
        if (FailureOr<Axis> axis = axes.find(grid.getAxis(), func); succeeded(axis))
          return *axis;
  SmallVector<double> bytes(axes.size(), 0);
  // Lanes along a short sum would be mostly empty: no vectors lie there.
  llvm::SmallDenseSet<Axis> shortSums;
  if (!target.hasSubgroups())
    func.walk([&](ReduceOp reduce) {
      for (int64_t dim : reduce.getDims())
        if (const Axis axis = axes.of(reduce.getInput(), dim);
            axes.extent(axis) < static_cast<int64_t>(target.lanes(bytesOf(reduce.getInput()))))
          shortSums.insert(axis);
    });
  auto count = [&](Value view, Value tile) {
    for (Axis axis : axes.of(tile))
      if (axes.extent(axis) > 1 && !shortSums.contains(axis) && strideOf(view, tile, axis) == 1)
        bytes[axis] += elementsOf(tile) * static_cast<double>(bytesOf(tile));
  };
  func.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      count(load.getView(), load.getResult());
    else if (auto store = dyn_cast<StoreOp>(op))
      count(store.getView(), store.getValue());
  });
  return bytes.empty() ? 0 : static_cast<Axis>(llvm::max_element(bytes) - bytes.begin());
}

/// What feeds a factor that is not packed is computed for each tile of the other one. A unit's rate has its reads.
void Estimator::addFactors(DotOp dot) {
  // A piece of an attention is packed whole.
  if (!blocking || (online && blocking.getNarrow()))
    return;
  SmallVector<Axis> all = axes.of(dot.getResult());
  auto cut = [&](Axis axis, int64_t tile) {
    return static_cast<double>(llvm::divideCeil(extentInProgram(axis), std::max<int64_t>(tile, 1)));
  };
  auto mark = [&](Value factor, double times) {
    SmallVector<Value> work{factor};
    while (!work.empty())
      if (Operation *op = work.pop_back_val().getDefiningOp();
          op && again.try_emplace(op, times).second && !isa<DotOp>(op))
        llvm::append_range(work, op->getOperands());
  };
  mark(dot.getLhs(), blocking.getPackLhs() || blocking.getNarrow() ? 1 : cut(all.back(), blocking.getColumns()));
  mark(dot.getRhs(), blocking.getPackRhs() || blocking.getNarrow() ? 1 : cut(all[all.size() - 2], blocking.getRows()));
}

/// How often a sum is computed that others walk along: by each of them, and by what is stored of it, one element after
/// the other.
double Estimator::countWalks(ReduceOp reduce) {
  double walks = 0;
  bool isInside = false;
  SmallVector<Value> work{reduce.getResult()};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (!seen.insert(user).second)
        continue;
      if (auto other = dyn_cast<ReduceOp>(user)) {
        const bool walksAlong = llvm::any_of(other.getDims(), [&](int64_t dim) {
          const Axis axis = axes.of(other.getInput(), dim);
          return axes.extent(axis) > 1 && axes.contains(reduce.getResult(), axis);
        });
        walks += walksAlong;
        isInside |= walksAlong;
      } else if (isa<StoreOp>(user)) {
        ++walks;
      } else if (user->getNumResults() == 1 && !isa<DotOp>(user)) {
        work.push_back(user->getResult(0));
      }
    }
  return isInside ? walks * static_cast<double>(target.lanes(4)) * fits::nestedRate : 1;
}

/// How many reductions read a tile: each walks it anew.
double Estimator::countReaders(Value tile) const {
  double readers = 0;
  SmallVector<Value> work{tile};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (!seen.insert(user).second)
        continue;
      readers += isa<ReduceOp>(user);
      if (!isa<ReduceOp, DotOp>(user) && user->getNumResults() == 1)
        work.push_back(user->getResult(0));
    }
  return readers;
}

/// A processor computes what it sums up where it sums it up: again along each axis that the sum keeps.
void Estimator::addTerms(ReduceOp reduce) {
  SmallVector<Axis> kept = axes.of(reduce.getResult());
  const double walks = countWalks(reduce);
  double &own = again.try_emplace(reduce, 1).first->second;
  own = std::max(own, walks);
  SmallVector<Value> work{reduce.getInput()};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || isa<LoadOp, ReduceOp, DotOp>(op) || !isTile(op->getResult(0)) || !seen.insert(op).second)
      continue;
    double times = walks;
    for (Axis axis : kept)
      if (!axes.contains(op->getResult(0), axis))
        times *= static_cast<double>(extentInProgram(axis));
    double &most = again.try_emplace(op, times).first->second;
    most = std::max(most, times);
    llvm::append_range(work, op->getOperands());
  }
}

/// Rows that a matrix unit reads where they lie it reads along the contraction, wherever vectors lie.
Axis Estimator::findReadAlong(LoadOp load) const {
  if (blocking && !online && blocking.getNarrow() && !blocking.getPackLhs())
    for (DotOp dot : dots)
      if (zyx::schedule::narrowFactor(dot.getLhs()) == load.getResult())
        return axes.of(dot.getLhs()).back();
  return walked;
}

void Estimator::addAccess(Value view, Value tile, Work &work, double times, Axis along) {
  const double elements = elementsOf(tile) * times, width = static_cast<double>(bytesOf(tile));
  const std::optional<int64_t> stride = strideOf(view, tile, along);
  const double lanes = static_cast<double>(target.lanes(bytesOf(tile)));
  if (!axes.contains(tile, along) || stride == 0) {
    // All lanes read the same.
    const double shared = target.hasSubgroups() ? static_cast<double>(target.simt.subgroupSize) : lanes;
    work.accesses += elements / (target.hasSubgroups() ? 1 : shared);
    work.moved += elements * width / shared;
  } else if (stride == 1 || stride == -1) {
    work.accesses += elements / lanes;
    work.moved += elements * width;
  } else {
    const auto together = static_cast<double>(target.memory.transactionBytes);
    const double apart = stride ? std::abs(static_cast<double>(*stride)) * width : fits::unknownApart;
    const auto cycles = static_cast<double>(target.costs.strideCycles);
    work.accesses += elements * (target.hasSubgroups() ? 1 : std::max(1.0, cycles * countReaders(tile)));
    work.moved += elements * std::min(std::max(apart, width), together);
  }
}

/// The share of a tile that is looked at, where that is one element of each row.
double Estimator::lookedUp(Value tile) const {
  if (!target.hasSubgroups() || choice.columns)
    return 1;
  const std::optional<Axis> along = zyx::kernel::findLookedUpAxis(tile, axes);
  return along ? 1 / static_cast<double>(axes.extent(*along)) : 1;
}

/// Whether neighbours along an axis of which a program has whole vectors are neighbours in what is gathered from.
bool Estimator::readsRows(GatherOp gather) const {
  auto view = gather.getView().getDefiningOp<ViewOp>();
  for (auto [dim, index] : llvm::enumerate(gather.getIndices()))
    if (IotaOp iota = countsAlongAxis(index); iota && view)
      if (extentInProgram(axes.of(iota.getResult(), iota.getDim())) >=
              static_cast<int64_t>(target.lanes(bytesOf(gather.getResult()))) &&
          zyx::schedule::strideThrough(view.getMap(), dim) == 1)
        return true;
  return false;
}

/// What a processor packs of windows: each element looked up, unless columns are runs.
bool Estimator::addPacking(LoadOp load, Work &work, double times) {
  if (!target.hasVectors() || !blocking || dots.size() != 1)
    return false;
  const Axis columns = axes.of(dots.front().getResult()).back();
  const auto lanes = static_cast<int64_t>(target.lanes(bytesOf(dots.front().getResult())));
  const zyx::schedule::PackedDot packed{dots.front(), blocking, isFixed, extentInProgram(columns), lanes};
  const auto cycles = zyx::schedule::estimatePacking(packed, load, axes);
  work.accesses += cycles.perElement * elementsOf(load.getResult()) * times + cycles.ofProgram * programs;
  return cycles.perElement > 0 || cycles.ofProgram > 0;
}

/// What few warps compute behind a product, while nobody multiplies for them. Code that the caches do not hold is
/// fetched again for each tile.
double Estimator::onProduct(double lanes) const {
  const Epilogue epilogue = findEpilogue(func, tensor, axes, target);
  const bool isKept = epilogue.bytes <= target.memory.codeBytes;
  if (isKept && !epilogue.loops)
    return overlapped(choice.cost, lanes);
  double tiles = 1;
  for (Axis axis : axes.of(DotOp(dots.front()).getResult()))
    tiles *= static_cast<double>(axes.extent(axis));
  tiles = std::ceil(tiles / static_cast<double>(tensor.getRows() * tensor.getColumns() * target.cores));
  const double fetched = isKept ? 0 : tiles * static_cast<double>(epilogue.bytes) / target.costs.codeBytesPerCycle;
  return choice.cost + std::max(lanes / fits::epilogueRate, fetched);
}

double Estimator::onTensorCores(const Work &work) const {
  const auto cores = static_cast<double>(target.cores);
  const double lanes = work.ops / (cores * lanesPerCycle());
  if (choice.cost > 0 && dots.size() == 1)
    return onProduct(lanes);
  if (choice.cost > 0)
    return overlapped(choice.cost, lanes);
  // An attention or a chain: tiles of rows, one wave of workgroups after the other.
  double rows = 0;
  for (DotOp dot : dots) {
    SmallVector<Axis> all = axes.of(dot.getResult());
    double own = static_cast<double>(llvm::divideCeil(axes.extent(all[all.size() - 2]), tensor.getRows()));
    for (Axis axis : ArrayRef(all).drop_back(2))
      own *= static_cast<double>(axes.extent(axis));
    rows = std::max(rows, own);
  }
  // Of a tile that workgroups share each has a part.
  rows *= static_cast<double>(tensor.getSplit());
  const double waves = std::ceil(rows / cores);
  const double multiply =
      work.products / rows / (fits::attentionRate * static_cast<double>(target.costs.matrixProductsPerCycle)) * waves;
  const double memory = work.bytes / (static_cast<double>(target.costs.memoryBytesPerCycle) * cores);
  return overlapped(overlapped(multiply, lanes), memory) + static_cast<double>(target.costs.tileCycles);
}

/// Workgroups that walk blocks of keys: what their threads multiply, scores one by one, and what each reads again.
double Estimator::onSharedKeys(const zyx::schedule::SharedChoice &shared, double bytes) {
  const SharedAttention &attention = shared.attention;
  const SharedAttentionShape &shape = shared.shape;
  const auto cores = static_cast<double>(target.cores);
  auto has = [&](Value tile, Axis axis) { return axes.extent(axis) > 1 && axes.contains(tile, axis); };
  // Heads that share keys are an axis of both.
  auto isOfKeys = [&](Value tile) {
    return llvm::none_of(attention.rows, [&](const SharedAttention::Part &row) {
      return row.extent == axes.extent(row.axis) && has(tile, row.axis);
    });
  };
  double perScore = 0, perElement = 0;
  func.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || !isTile(op->getResult(0)))
      return;
    Value tile = op->getResult(0);
    const bool isWide = has(tile, attention.features) || has(tile, attention.columns);
    if (has(tile, attention.keys) && !isWide)
      perScore += costOf(op, target.costs);
    else if (has(tile, attention.keys) && isOfKeys(tile))
      perElement += isa<LoadOp>(op) ? 0 : costOf(op, target.costs);
  });
  const int64_t blocks = llvm::divideCeil(llvm::divideCeil(axes.extent(attention.keys), shape.keys), shape.cluster);
  const double groups = static_cast<double>(attention.numPrograms() * shape.cluster) *
                        static_cast<double>(llvm::divideCeil(attention.numRows(), shape.rows));
  const auto keys = static_cast<double>(blocks * shape.keys), wide = static_cast<double>(shape.depth + shape.width);
  // Of one workgroup: products, with what they read of shared memory, scores, and what is made of keys and values.
  const double products = keys * static_cast<double>(shape.rows) * wide;
  const double each = products / (lanesPerCycle() * fits::sharedAttentionRate) +
                      keys * static_cast<double>(shape.rows) * (perScore + fits::scoreOps) / lanesPerCycle() +
                      keys * wide * (perElement + fits::keyOps) / lanesPerCycle();
  const double resident = std::clamp<double>(
      static_cast<double>(target.simt.sharedBytes) / static_cast<double>(shape.bytes), 1,
      static_cast<double>(target.simt.threadsWith(fits::attentionRegisters)) / static_cast<double>(shape.threads));
  const double alone = static_cast<double>(blocks * target.sharedProducts.attentionBlockCycles);
  const double waves = std::ceil(groups / (cores * std::floor(resident)));
  const double compute = std::max(std::ceil(groups / cores) * each, waves * (each + alone));
  const double moved =
      groups * keys * (static_cast<double>(shape.depth * bytesOf(attention.k) + shape.width * bytesOf(attention.v)));
  const double read = moved / (cores * static_cast<double>(target.costs.cacheBytesPerCycle));
  const double share = std::min(1.0, groups * static_cast<double>(shape.threads) /
                                         (cores * static_cast<double>(target.costs.readingThreads)));
  const double memory = bytes / (static_cast<double>(target.costs.memoryBytesPerCycle) * cores * share);
  return overlapped(compute, std::max(read, memory));
}

double Estimator::onThreads(const Work &work) const {
  const auto cores = static_cast<double>(target.cores);
  // Out of shared memory, with all that feeds it.
  if (blocking && choice.cost > 0)
    return overlapped(choice.cost, work.bytes / (static_cast<double>(target.costs.memoryBytesPerCycle) * cores));
  const double threads =
      programs * static_cast<double>(std::max<int64_t>(choice.threads, 1) * std::max<int64_t>(choice.cluster, 1));
  const double turns = std::max(1.0, threads / (cores * static_cast<double>(target.simt.residentThreads)));
  const double compute =
      std::max(work.ops / (cores * lanesPerCycle()), work.ops / threads * static_cast<double>(target.costs.opCycles));
  const double read = std::max(work.moved / (cores * static_cast<double>(target.costs.cacheBytesPerCycle)),
                               work.accesses / threads * static_cast<double>(target.costs.readCycles) * turns);
  double multiply = 0;
  if (work.products > 0) {
    const bool isWide = llvm::all_of(dots, [](DotOp dot) { return bytesOf(dot.getLhs()) == 4; });
    const auto each = static_cast<double>(target.costs.threadProductsOf(isWide ? 4 : 2));
    multiply = std::max(work.products / (cores * each),
                        work.products / threads * static_cast<double>(target.costs.productCycles)) *
               (online ? fits::onlineLoss : 1);
  }
  const double share = std::min(1.0, threads / (cores * static_cast<double>(target.costs.readingThreads)));
  const double memory = work.bytes / (static_cast<double>(target.costs.memoryBytesPerCycle) * cores * share);
  return overlapped(compute + multiply, std::max(read, memory));
}

double Estimator::onProcessor(const Work &work) const {
  const double busy = std::min(static_cast<double>(target.cores), programs);
  const auto lanes = static_cast<double>(target.lanes(4));
  const double vectorProducts = lanes * static_cast<double>(target.costs.laneProductsPerCycle);
  double multiply = 0;
  if (blocking && choice.cost > 0)
    multiply = choice.cost;
  else if (blocking && blocking.getNarrow())
    multiply = work.products / static_cast<double>(target.costs.matrixProductsPerCycle);
  else
    multiply = work.products / (vectorProducts * fits::plainDotRate);
  const double compute = (multiply + work.ops / lanes + work.accesses) / busy;
  // What is small stays in caches from one kernel to the next.
  const bool isNear = work.bytes <= static_cast<double>(target.memory.l2Bytes);
  const auto cached = static_cast<double>(target.costs.cacheBytesPerCycle);
  const double each = isNear ? cached : static_cast<double>(target.costs.memoryBytesPerCycle);
  const double memory = std::max(work.bytes / (each * busy), work.moved / (cached * busy));
  return overlapped(compute, memory);
}

Estimate Estimator::run() {
  readSteps();
  func.walk([&](DotOp dot) { dots.push_back(dot); });
  for (DotOp dot : dots)
    addFactors(dot);
  if (!target.hasSubgroups())
    func.walk([&](ReduceOp reduce) { addTerms(reduce); });
  walked = findWalked();
  std::optional<zyx::schedule::SharedChoice> shared;
  if (online && choice.threads > 0)
    shared = zyx::schedule::chooseSharedAttention(func, axes, target);
  if (online && !tensor && !shared)
    readMask();
  auto visibleOf = [&](Value tile) { return masked && axes.contains(tile, *masked) ? visible : 1; };
  // As it is scheduled, and as little as it may be.
  Work work, least;
  llvm::MapVector<Value, double> buffers;
  auto addBytes = [&](Value view, Value tile) {
    auto made = view.getDefiningOp<ViewOp>();
    if (!made)
      return;
    double elements = elementsOf(tile) * lookedUp(tile);
    const BlockAttr last = made.getMap().getBlocks().back();
    double own = 1;
    for (auto [extent, stride] : llvm::zip(last.getShape(), last.getStrides()))
      if (BlockAttr::constant(stride).value_or(1) != 0)
        own *= static_cast<double>(BlockAttr::constant(extent).value_or(1));
    double &bytes = buffers[made.getBuffer()];
    bytes = std::max(bytes, std::min(elements, own) * static_cast<double>(bytesOf(tile)));
  };
  func.walk([&](Operation *op) {
    if (auto dot = dyn_cast<DotOp>(op)) {
      const Axis depth = axes.of(dot.getLhs()).back();
      const double share = depth == masked ? visible : visibleOf(dot.getResult());
      // A chain multiplies factors of f32 in two parts.
      const bool isInParts = tensor && dots.size() > 1 && std::max(bytesOf(dot.getLhs()), bytesOf(dot.getRhs())) == 4 &&
                             target.hasTensorTiles();
      work.products +=
          share * (isInParts ? 2 : 1) * elementsOf(dot.getResult()) * static_cast<double>(axes.extent(depth));
      return;
    }
    if (op->getNumResults() == 0 && !isa<StoreOp>(op))
      return;
    Value tile = isa<StoreOp>(op) ? cast<StoreOp>(op).getValue() : op->getResult(0);
    // A reduction takes as long as what it reads is long.
    if (auto reduce = dyn_cast<ReduceOp>(op))
      tile = reduce.getInput();
    if (!isTile(tile))
      return;
    auto found = again.find(op);
    const double share = lookedUp(tile) * visibleOf(tile);
    const double times = share * (tensor ? 1 : repeats(tile)) * (found == again.end() || tensor ? 1 : found->second);
    // Rows whose number is data are read in vectors.
    const bool isRead = isa<GatherOp>(op) && !target.hasSubgroups() && readsRows(cast<GatherOp>(op));
    const double each = isRead ? fits::gatheredRowOps : costOf(op, target.costs);
    work.ops += elementsOf(tile) * each * times;
    least.ops += elementsOf(tile) * each * share;
    if (auto gather = dyn_cast<GatherOp>(op); gather && !target.hasSubgroups()) {
      const bool isCopied = isRead || (gather->hasOneUse() && isa<StoreOp>(*gather->user_begin()));
      work.accesses +=
          elementsOf(tile) * times *
          (isCopied ? 1 / static_cast<double>(target.lanes(4)) : static_cast<double>(target.costs.gatherCycles));
    }
    if (auto load = dyn_cast<LoadOp>(op)) {
      if (!addPacking(load, work, times))
        addAccess(load.getView(), tile, work, times, findReadAlong(load));
      addBytes(load.getView(), tile);
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      addAccess(store.getView(), tile, work, times, walked);
      addBytes(store.getView(), tile);
    }
  });
  for (auto [buffer, bytes] : buffers)
    work.bytes += bytes;
  const double cycles = shared                  ? onSharedKeys(*shared, work.bytes)
                        : tensor                ? onTensorCores(work)
                        : target.hasSubgroups() ? onThreads(work)
                                                : onProcessor(work);
  const auto cores = static_cast<double>(target.cores);
  const bool isNarrow =
      llvm::all_of(dots, [&](DotOp dot) { return bytesOf(dot.getLhs()) < 4 || target.matrix.allowsReducedPrecision; });
  const bool hasUnit = !target.hasSubgroups() && !dots.empty() &&
                       llvm::all_of(dots, [&](DotOp dot) { return zyx::schedule::isForMatrixUnit(dot, target); });
  const bool isByMatrix = hasUnit || (isNarrow && target.hasTensorCores());
  const auto lanes = static_cast<double>(target.opsPerCycle());
  const double rate = isByMatrix              ? static_cast<double>(target.costs.matrixProductsPerCycle)
                      : target.hasSubgroups() ? lanes
                                              : lanes * static_cast<double>(target.costs.laneProductsPerCycle);
  const bool isNear = !target.hasSubgroups() && work.bytes <= static_cast<double>(target.memory.l2Bytes);
  const auto bytesPerCycle =
      static_cast<double>(isNear ? target.costs.cacheBytesPerCycle : target.costs.memoryBytesPerCycle);
  const double fewest =
      std::max({work.products / (rate * cores), least.ops / (lanes * cores), work.bytes / (bytesPerCycle * cores)});
  const auto launch = static_cast<double>(target.costs.launchCycles);
  return {secondsOf(cycles + launch), secondsOf(fewest + launch)};
}

std::optional<Estimate> zyx::schedule::estimateKernel(FuncOp func, const TargetInfo &target, ArrayRef<bool> isFixed) {
  unshareConstants(func);
  FailureOr<Axes> axes = Axes::compute(func);
  if (failed(axes))
    return std::nullopt;
  const SmallVector<Choice> choices = chooseSchedules(func, *axes, target, 1, isFixed);
  Estimate own = Estimator(func, *axes, choices.front(), target, isFixed).run();
  // Copies of factors may be what tensor cores take.
  const bool usesTensorCores =
      llvm::any_of(choices.front().schedule.getSteps(), [](Attribute step) { return isa<TensorStepAttr>(step); });
  if (target.hasTensorCores() && !usesTensorCores)
    if (std::optional<double> cycles = layOutCycles(func, target))
      own.seconds = std::min(own.seconds, (*cycles + static_cast<double>(target.costs.launchCycles)) /
                                              (static_cast<double>(target.costs.megahertz) * 1e6));
  // So may copies of what windows are taken of be what threads read side by side.
  if (target.hasTensorCores())
    if (const int64_t bytes = readAsCopied(func, *axes)) {
      const auto rate = static_cast<double>(target.costs.memoryBytesPerCycle) * static_cast<double>(target.cores);
      const double cycles = static_cast<double>(bytes) / rate + static_cast<double>(target.costs.launchCycles);
      FailureOr<Axes> copied = Axes::compute(func);
      if (failed(copied))
        return own;
      const Choice choice = chooseSchedules(func, *copied, target, 1, isFixed).front();
      const Estimate read = Estimator(func, *copied, choice, target, isFixed).run();
      own.seconds = std::min(own.seconds, read.seconds + cycles / (static_cast<double>(target.costs.megahertz) * 1e6));
    }
  return own;
}

std::optional<Estimate> zyx::schedule::estimateScheduled(FuncOp func, const TargetInfo &target) {
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(func.getLoc()));
  FuncOp copy = func.clone();
  scratch->push_back(copy);
  unshareConstants(copy);
  FailureOr<Axes> axes = Axes::compute(copy);
  if (failed(axes))
    return std::nullopt;
  Choice own;
  own.schedule = func.getScheduleAttr();
  own.threads = static_cast<int64_t>(func.getThreads().value_or(0));
  own.cluster = static_cast<int64_t>(func.getCluster().value_or(0));
  // What its rule said of it, and which axis its threads share.
  copy.removeScheduleAttr();
  copy.removeThreadsAttr();
  copy.removeClusterAttr();
  for (const Choice &choice : chooseSchedules(copy, *axes, target, 1))
    if (choice.schedule == own.schedule && choice.threads == own.threads && choice.cluster == own.cluster)
      own = choice;
  return Estimator(copy, *axes, own, target, {}).run();
}
