//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Products that a workgroup multiplies out of shared memory, after its threads have evaluated both factors.
//===----------------------------------------------------------------------===//
#include "ChooseShared.h"

#include "Overlap.h"

#include "zyx/Codegen/Tile/AccessForm.h"
#include "zyx/Codegen/Tile/SharedDotShape.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <tuple>

using namespace mlir;
using namespace zyx::kernel;
using zyx::schedule::SharedPlan;
namespace fits = zyx::target::fits::sharedProducts;

namespace {

/// Whether an op converts numbers, or rounds to 16 bits.
bool isConverted(Operation *op) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  return isa<arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::TruncFOp>(op) ||
         element.isF16() || element.isBF16();
}

/// What an element of a factor takes.
struct FactorCost {
  /// Instructions that read it, of which a vector has as many as an element; those of them that find it through
  /// windows; and those that compute it.
  double access = fits::elementOps, find = 0, compute = 0;
  /// Cycles of a thread that waits for itself, beside one for each of these: ops that follow one another.
  double alone = 0;
  /// What is read lies apart along the axis that the factor has beside the contraction; something is read through
  /// windows.
  bool isApart = false, isWindow = false;
  /// Elements that are read at once where they lie as in memory; and how often what the first cache holds is read.
  int64_t lanes = 1, reuse = 1;

  double each() const { return access + find / static_cast<double>(lanes) + compute; }
  double inVectors() const { return (access + find) / static_cast<double>(lanes) + compute; }
};

/// Windows of a padded image have three blocks, and parts of an element's place are found once for many, as of all
/// blocks whose way has a form. Where others lie behind, as of a shuffle, each splits the place of an element into
/// indices by itself, one after the other.
void addWindow(FactorCost &cost, MapAttr map, const zyx::target::CostFacts &costs) {
  constexpr int64_t ofImage = 3;
  const auto blocks = static_cast<int64_t>(map.getBlocks().size());
  const int64_t more = blocks > ofImage && !AccessForm::compute(map) ? blocks - ofImage : 0;
  const double ops = static_cast<double>(more) * fits::lonelyWindowOps;
  cost.find += fits::windowOps + ops;
  cost.alone += ops * static_cast<double>(std::max<int64_t>(costs.opCycles, 1) - 1);
}

/// What vectors of a window are that lie along the contraction, as those of channels do. Vectors along the other axis
/// are not told apart from single elements: which results lie in which order was measured so.
struct WindowRuns {
  int64_t contiguity = 1;
  /// Elements of the contraction for which the same lines of memory are read: pixels that follow each other, in windows
  /// of as many of them.
  int64_t reuse = 1;
  /// The channels of a group are a part of a pixel's.
  bool isApart = false;
};

WindowRuns runsOf(LoadOp load, ViewOp view, Axis axis, Axis depth, const Axes &axes) {
  WindowRuns runs;
  const SmallVector<Axis> own = axes.of(load.getResult());
  const auto pixels = static_cast<size_t>(llvm::find(own, axis) - own.begin()),
             steps = static_cast<size_t>(llvm::find(own, depth) - own.begin());
  const std::optional<AccessForm> form = AccessForm::compute(view.getMap());
  if (!form || steps == own.size() || !form->hasOverlaps())
    return runs;
  runs.contiguity = form->contiguityAlong(static_cast<unsigned>(steps));
  if (runs.contiguity == 1 || pixels == own.size() || form->dims[pixels].empty() || form->dims[steps].size() < 2)
    return runs;
  const AccessForm::Part &channels = form->parts[form->dims[steps].back()],
                         &next = form->parts[form->dims[pixels].back()],
                         &window = form->parts[form->dims[steps].end()[-2]];
  runs.isApart = next.stride != channels.extent;
  if (!runs.isApart && window.stride == next.stride)
    runs.reuse = window.extent;
  return runs;
}

FactorCost costOf(Value factor, Axis axis, const Axes &axes, const zyx::target::TargetInfo &target) {
  const zyx::target::CostFacts &costs = target.costs;
  FactorCost cost;
  int64_t shortest = fits::mostLanes;
  const Axis depth = axes.of(factor).back() == axis ? axes.of(factor).end()[-2] : axes.of(factor).back();
  bool isPlain = true;
  std::optional<Axis> along;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> work{factor};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    auto load = dyn_cast<LoadOp>(op);
    if (!load) {
      if (isa<GatherOp>(op)) {
        cost.access += fits::gatherOps;
        isPlain = false;
      } else if (isa<math::MathDialect>(op->getDialect())) {
        cost.compute += static_cast<double>(costs.functionOps);
      } else if (isElementwise(op) && !isa<arith::ExtFOp, arith::BitcastOp>(op)) {
        cost.compute += isConverted(op) ? static_cast<double>(costs.convertOps) : 1;
      }
      llvm::append_range(work, op->getOperands());
      continue;
    }
    auto view = load.getView().getDefiningOp<ViewOp>();
    const bool isWindow = view && !view.getMap().isOneWholeBlock();
    if (isWindow)
      addWindow(cost, view.getMap(), costs);
    else
      cost.access += 1;
    isPlain &= static_cast<bool>(view);
    cost.isWindow |= isWindow;
    if (!view)
      continue;
    if (isWindow) {
      const auto [run, reuse, isApart] = runsOf(load, view, axis, depth, axes);
      cost.reuse = reuse;
      const int64_t bytes = std::max<int64_t>(getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth() / 8, 1);
      isPlain &= run > 1 && (!along || *along == depth);
      along = depth;
      if (isApart && run * bytes < fits::nearBytes)
        cost.find += fits::apartOps;
      shortest = std::min({shortest, run, std::max<int64_t>(target.simt.laneBytes / bytes, 1)});
    }
    bool isNear = isWindow;
    for (auto [stride, own] : llvm::zip(view.getMap().front().getStrides(), axes.of(load.getResult()))) {
      const int64_t step = std::abs(BlockAttr::constant(stride).value_or(2));
      // Of windows it is the last block that says how elements lie.
      isNear |= step == 1;
      cost.isApart |= own == axis && step > 1;
      if (isWindow || step != 1 || axes.extent(own) == 1 || (own != axis && own != depth))
        continue;
      isPlain &= !along || *along == own;
      along = own;
    }
    cost.access += isNear ? 0 : fits::stridedOps;
  }
  if (isPlain && along)
    while (2 * cost.lanes <= shortest && axes.extent(*along) % (2 * cost.lanes) == 0)
      cost.lanes *= 2;
  return cost;
}

class Planner {
public:
  Planner(DotOp dot, const Axes &axes, const zyx::target::TargetInfo &target) : target(target) {
    SmallVector<Axis> all = axes.of(dot.getResult());
    m = axes.extent(all[all.size() - 2]);
    n = axes.extent(all.back());
    k = axes.extent(axes.of(dot.getLhs()).back());
    for (Axis axis : ArrayRef(all).drop_back(2))
      batches *= axes.extent(axis);
    left = ::costOf(dot.getLhs(), all[all.size() - 2], axes, target);
    right = ::costOf(dot.getRhs(), all.back(), axes, target);
    isInteger = isa<IntegerType>(getElementTypeOrSelf(dot.getType()));
    isWide = getElementTypeOrSelf(dot.getLhs().getType()).getIntOrFloatBitWidth() >= 32;
    sumBytes = std::max<int64_t>(getElementTypeOrSelf(dot.getType()).getIntOrFloatBitWidth() / 8, 1);
    const Type factor = getElementTypeOrSelf(dot.getLhs().getType());
    if (getElementTypeOrSelf(dot.getRhs().getType()) == factor && getElementTypeOrSelf(dot.getType()).isF32())
      product = findWarpProduct(target, factor);
  }

  SmallVector<SharedPlan> rank(bool cutRows, bool cutColumns, unsigned most) const;

private:
  double costOf(const SharedPlan &plan) const;
  double costOfWarps(const SharedPlan &plan) const;
  double costOfSlices(const SharedPlan &plan, double slice, double own, int64_t registers) const;
  double threadCost() const;
  int64_t registersOf(const SharedPlan &plan) const;
  int64_t tilesOf(const SharedPlan &plan) const {
    return llvm::divideCeil(m, plan.tileRows) * llvm::divideCeil(n, plan.tileColumns) * batches;
  }
  int64_t residentOf(const SharedPlan &plan, int64_t registers) const;
  int64_t residentThreads(const SharedPlan &plan) const;
  /// What a thread waits for itself in a slice of that depth.
  double aloneCycles(const SharedPlan &plan, int64_t depth) const {
    const double cycles =
        static_cast<double>(plan.tileRows) * left.alone + static_cast<double>(plan.tileColumns) * right.alone;
    return cycles * static_cast<double>(depth) / static_cast<double>(plan.threads);
  }
  double lanesPerCycle() const { return static_cast<double>(target.costs.lanesPerCycle); }
  /// How much longer the busiest part of a core takes than all of them would together: the subgroups of a workgroup are
  /// dealt out to parts that issue for themselves, and where those that multiply are no multiple of these some parts
  /// have one more.
  double idleLoss(const SharedPlan &plan, int64_t busy) const {
    const int64_t subgroup = target.simt.subgroupSize, lanes = std::max(target.costs.lanesPerCycle, subgroup);
    const auto dealt = static_cast<int64_t>(llvm::alignTo(busy, std::min(lanes, std::max(plan.threads, subgroup))));
    return static_cast<double>(dealt) / static_cast<double>(busy);
  }
  /// As the threads multiply it.
  SharedDotShape shapeOf(const SharedPlan &plan) const {
    return {plan.tileRows,
            plan.tileColumns,
            plan.rows,
            plan.columns,
            k,
            plan.depth,
            plan.threads,
            sumBytes,
            plan.byWarps ? product : nullptr};
  }
  int64_t sharedBytesOf(const SharedPlan &plan) const { return shapeOf(plan).sharedBytes(); }
  /// Rows or columns of a tile, and those of a thread where these are not chosen among the usual ones.
  struct TileExtent {
    int64_t extent, part = 0;
  };
  void addFitting(int64_t extent, SmallVectorImpl<TileExtent> &tiles) const;
  void addThreads(TileExtent tileRows, TileExtent tileColumns, SmallVectorImpl<SharedPlan> &plans) const;
  void addWarps(int64_t tileRows, int64_t tileColumns, SmallVectorImpl<SharedPlan> &plans) const;

  const zyx::target::TargetInfo &target;
  int64_t m, n, k, batches = 1, sumBytes;
  FactorCost left, right;
  bool isInteger, isWide;
  /// What a warp multiplies at once, where factors are of 16 bits; null where none does.
  const zyx::target::MatrixInstruction *product = nullptr;
};

/// Workgroups that a multiprocessor has room for.
int64_t Planner::residentOf(const SharedPlan &plan, int64_t registers) const {
  const zyx::target::SimtFacts &simt = target.simt;
  return std::max<int64_t>(1, std::min({simt.registers / (std::min(registers, simt.threadRegisters) * plan.threads),
                                        simt.residentThreads / plan.threads, simt.residentWorkgroups,
                                        simt.sharedBytes / sharedBytesOf(plan)}));
}

/// Where threads multiply: sums, a step's rows and columns, and what is on its way of a slice.
int64_t Planner::registersOf(const SharedPlan &plan) const {
  const SharedDotShape shape = shapeOf(plan);
  const int64_t pieces =
      llvm::divideCeil((shape.paddedRows() + shape.paddedColumns()) * shape.sliceDepth(), plan.threads);
  return plan.rows * plan.columns + plan.rows + plan.columns + pieces + fits::otherRegisters;
}

/// The assembler takes all registers that it may have, to read what is multiplied long before: two workgroups of 256
/// threads had no room beside each other where estimates count on both. Of fewer registers than as many threads leave,
/// it spills.
int64_t Planner::residentThreads(const SharedPlan &plan) const {
  const int64_t resident = residentOf(plan, registersOf(plan));
  const int64_t together = std::min<int64_t>(llvm::divideCeil(tilesOf(plan), target.cores), resident);
  return together > 1 ? std::min(together * plan.threads, target.simt.residentThreads / 4) : 0;
}

/// Cycles of all tiles that a multiprocessor has: of those of a slice that it takes to do all, of those in which a
/// workgroup that is alone does its part, and of registers of a thread.
double Planner::costOfSlices(const SharedPlan &plan, double slice, double own, int64_t registers) const {
  auto real = [](int64_t value) { return static_cast<double>(value); };
  const SharedDotShape shape = shapeOf(plan);
  const int64_t depth = shape.sliceDepth(), groups = shape.groups();
  const zyx::target::SharedProductCosts &costs = target.sharedProducts;
  const int64_t resident = residentOf(plan, registers), tiles = tilesOf(plan);
  const int64_t each = llvm::divideCeil(tiles, target.cores), together = std::min(each, resident);
  const int64_t turns = llvm::divideCeil(each, together);
  // While one waits for memory, others have something to do, if there are some; and with much to do it has waited
  // before.
  const double most = real(costs.waitCycles);
  const double wait =
      std::clamp(most - fits::waitsHidden * (slice * real(together) - real(costs.busyCycles)), 0.0, most);
  const double waits = plan.byWarps ? 0 : wait / real(together);
  const double longest =
      std::max({slice * real(together) + waits, real(costs.sliceCycles), own + real(costs.sliceCycles) / 2});
  const double slices = real(llvm::divideCeil(k, depth));
  // What other workgroups read, too, comes from the second cache.
  const double read = real(plan.tileRows) / real(left.reuse) + real(plan.tileColumns) / real(right.reuse);
  const double bytes = real(tiles) * read * real(k) * (isWide ? 4.0 : 2.0);
  const double fetched = bytes / real(target.costs.cacheBytesPerCycle * target.cores);
  return std::max(real(turns) * slices * longest, fetched) +
         real(turns) * (real(costs.tileCycles) + real(groups) * fits::groupCycles);
}

double Planner::costOf(const SharedPlan &plan) const {
  if (plan.byWarps)
    return costOfWarps(plan);
  auto real = [](int64_t value) { return static_cast<double>(value); };
  const zyx::target::SharedProductCosts &costs = target.sharedProducts;
  const SharedDotShape shape = shapeOf(plan);
  const int64_t depth = shape.sliceDepth(), groups = shape.groups(), threads = shape.threadsOfTile();
  const int64_t rows = shape.paddedRows(), columns = shape.paddedColumns();
  const double multiply = real(rows * columns * depth) / lanesPerCycle() * fits::productLoss *
                          (isInteger ? costs.integerLoss : 1) * idleLoss(plan, threads * groups);
  const double warps = std::max(real(threads * groups) / real(target.simt.subgroupSize), 1.0) / real(groups);
  // As SharedDots arranges them. Of more workgroups than the machine holds at once it has not been measured: sums over
  // 16384 rows of computed factors took half as long again.
  const bool isFew = tilesOf(plan) <= 2 * target.cores;
  const bool isNear = isFew && (rows / plan.rows) % 4 == 0 && (columns / plan.columns) % 8 == 0;
  const double read =
      warps * real(depth * (plan.rows + plan.columns)) * (isNear ? costs.nearReadCycles : costs.readCycles) +
      real((rows + columns) * depth) * costs.bringCycles;
  const double evaluate = (real(rows) * left.each() + real(columns) * right.each()) * real(depth) / lanesPerCycle();
  const double slice = zyx::schedule::overlapped(multiply, read) + evaluate;
  // Of few warps each waits for itself.
  const double own = real(rows * columns * depth) / real(threads * groups) * fits::lonelyProductCycles +
                     real((rows + columns) * depth) / real(plan.threads) * std::max(left.each(), right.each()) +
                     aloneCycles(plan, depth);
  return costOfSlices(plan, slice, own, registersOf(plan));
}

/// The same where warps multiply: only what exists is brought, in its own type.
double Planner::costOfWarps(const SharedPlan &plan) const {
  auto real = [](int64_t value) { return static_cast<double>(value); };
  const zyx::target::SharedProductCosts &costs = target.sharedProducts;
  const SharedDotShape shape = shapeOf(plan);
  const int64_t depth = shape.sliceDepth(), groups = shape.groups(), threads = shape.threadsOfTile();
  const int64_t rows = shape.paddedRows(), columns = shape.paddedColumns();
  const double rate = real(target.costs.matrixProductsPerCycle) * (target.hasTensorTiles() ? costs.subgroupShare : 1);
  const double multiply = real(rows * columns * depth) / rate * fits::productLoss;
  const double blocks = real(llvm::divideCeil(plan.rows, product->m) + llvm::divideCeil(plan.columns, product->m));
  const double read =
      real(threads / product->threads * llvm::divideCeil(depth, product->k)) * blocks * real(costs.blockCycles);
  const double bring =
      (real(plan.tileRows) * left.inVectors() + real(plan.tileColumns) * right.inVectors()) * real(depth);
  const double brought =
      real(plan.tileRows * depth) / real(left.lanes) + real(plan.tileColumns * depth) / real(right.lanes);
  const double slice =
      zyx::schedule::overlapped(multiply, read + brought * costs.bringCycles) + bring / lanesPerCycle();
  auto piecesOf = [&](int64_t tile, const FactorCost &cost) {
    return llvm::divideCeil(tile * depth, plan.threads * (cost.lanes > 1 ? 2 : 1));
  };
  const int64_t pieces = piecesOf(plan.tileRows, left) + piecesOf(plan.tileColumns, right);
  const int64_t registers =
      (plan.rows * plan.columns + fits::blockRegisters * (plan.rows + plan.columns)) / product->threads + pieces +
      fits::otherRegisters;
  const double products =
      real(plan.rows * plan.columns * llvm::divideCeil(depth, groups)) / real(product->m * product->n * product->k);
  const double own = products * real(costs.instructionCycles) +
                     blocks * real(depth / product->k / groups) * real(costs.blockCycles) + bring / real(plan.threads) +
                     aloneCycles(plan, depth);
  return costOfSlices(plan, slice, own, registers);
}

/// Cycles of threads that have 4 rows and 16 bytes of columns each, and read both factors where they lie.
double Planner::threadCost() const {
  auto real = [](int64_t value) { return static_cast<double>(value); };
  const int64_t rows = std::min<int64_t>(m, 4), columns = std::min(n, target.lanes(sumBytes));
  const double programs = real(llvm::divideCeil(m, rows) * llvm::divideCeil(n, columns) * batches);
  const double products = real(m * n) * real(k * batches);
  const double each = real(target.costs.threadProductsOf(isWide ? 4 : 2));
  // Programs at the edges have as much to do. No two elements share what says where they lie, as they do in a slice.
  auto ownOf = [](const FactorCost &cost) { return cost.each() + (cost.isWindow ? fits::lonelyWindowOps : 0); };
  const double eachRows = real(m) / real(llvm::divideCeil(m, rows)),
               eachColumns = real(n) / real(llvm::divideCeil(n, columns));
  const double own = ownOf(right) + (right.isApart ? fits::stridedOps : 0);
  const double evaluate =
      products * (ownOf(left) / eachColumns + own / eachRows) / lanesPerCycle() / real(target.cores);
  // Where the last programs are not full, every program reads its elements one by one.
  const double edges = (m % rows != 0 ? fits::edgeRows : 1) * (n % columns != 0 ? fits::edgeColumns : 1);
  const double latency = real(k) * (real(target.sharedProducts.sliceCycles) / fits::stepsInFlight) *
                         std::max(1.0, programs / real(target.cores * target.simt.residentThreads));
  return edges * std::max({products / (each * real(target.cores)), evaluate, latency});
}

void Planner::addWarps(int64_t tileRows, int64_t tileColumns, SmallVectorImpl<SharedPlan> &plans) const {
  constexpr std::pair<int64_t, int64_t> parts[] = {{64, 32}, {32, 64}, {32, 32}, {64, 16}, {16, 64}, {32, 16}, {16, 32},
                                                   {16, 16}, {64, 8},  {8, 64},  {32, 8},  {8, 32},  {16, 8},  {8, 16}};
  auto fits = [&](int64_t part, int64_t tile) {
    return part < 2 * tile || part == product->n || (part == product->m && tile > product->n / 2);
  };
  for (auto [rows, columns] : parts)
    for (int64_t threads : {64, 128, 256})
      for (int64_t depth : {16, 32, 64, 128}) {
        SharedPlan plan{tileRows, tileColumns, rows, columns, depth, threads, 0, true};
        const SharedDotShape shape = shapeOf(plan);
        if (!fits(rows, tileRows) || !fits(columns, tileColumns) || shape.threadsOfTile() > threads ||
            threads > target.simt.workgroupThreads || (depth > 16 && depth / 2 >= k))
          continue;
        const int64_t own = shape.sliceDepth(), used = shape.threadsOfTile() * shape.groups();
        if (2 * used <= threads && threads > 64)
          continue;
        if ((tileRows + tileColumns) * own > 64 * threads || sharedBytesOf(plan) > target.simt.sharedBytes)
          continue;
        plan.cost = costOf(plan);
        plans.push_back(plan);
      }
}

/// Where tiles of powers of two are mostly beyond the end, as two of 128 for 197 rows are, those of parts that fit: a
/// thread has a few more rows, and there is less that nobody wants. What does not lie along the contraction is read one
/// by one beside so many sums, as no vectors divide it: on an H200 products of 197 transposed rows took 896 us instead
/// of 754, and those of rows along it 598 instead of 762.
void Planner::addFitting(int64_t extent, SmallVectorImpl<TileExtent> &tiles) const {
  constexpr int64_t largest = 208, smallest = 96, whole = 64;
  for (int64_t part : {10, 13})
    for (int64_t count = llvm::divideCeil(extent, largest); count <= extent / smallest; ++count) {
      const auto tile = static_cast<int64_t>(llvm::alignTo(llvm::divideCeil(extent, count), part));
      if (tile <= largest &&
          static_cast<double>(tile * count) < fits::fittingLoss * static_cast<double>(llvm::alignTo(extent, whole)))
        tiles.push_back({tile, part});
    }
}

/// Plans whose threads multiply by themselves.
void Planner::addThreads(TileExtent tileRows, TileExtent tileColumns, SmallVectorImpl<SharedPlan> &plans) const {
  constexpr int64_t mostSums = 104;
  constexpr std::pair<int64_t, int64_t> parts[] = {{8, 8}, {8, 4}, {4, 8}, {4, 4}, {2, 4}, {4, 2},
                                                   {2, 2}, {1, 4}, {4, 1}, {1, 2}, {1, 1}};
  SmallVector<std::pair<int64_t, int64_t>> own(std::begin(parts), std::end(parts));
  if (tileRows.part != 0 || tileColumns.part != 0) {
    constexpr int64_t usual = 8;
    own.assign({{tileRows.part ? tileRows.part : usual, tileColumns.part ? tileColumns.part : usual}});
  }
  for (auto [rows, columns] : own)
    for (int64_t threads : {64, 128, 256})
      for (int64_t depth : {8, 16, 32, 64, 128}) {
        SharedPlan plan{tileRows.extent, tileColumns.extent, rows, columns, depth, threads, 0, false};
        const SharedDotShape shape = shapeOf(plan);
        if (rows > plan.tileRows || columns > plan.tileColumns || rows * columns > mostSums ||
            shape.threadsOfTile() > threads || threads > target.simt.workgroupThreads || (depth > 8 && depth / 2 >= k))
          continue;
        const int64_t slice = shape.sliceDepth(), used = shape.threadsOfTile() * shape.groups();
        // Most threads have something to multiply, and none has much to bring.
        if (2 * used <= threads && threads > 64)
          continue;
        // Of few tiles large ones leave cores idle.
        if ((tileRows.part != 0 || tileColumns.part != 0) && tilesOf(plan) < 2 * target.cores)
          continue;
        if ((plan.tileRows + rows + plan.tileColumns + columns) * slice > 24 * threads ||
            sharedBytesOf(plan) > target.simt.sharedBytes)
          continue;
        plan.cost = costOf(plan);
        plan.residentThreads = residentThreads(plan);
        plans.push_back(plan);
      }
}

SmallVector<SharedPlan> Planner::rank(bool cutRows, bool cutColumns, unsigned most) const {
  SmallVector<SharedPlan> plans;
  if (m == 0 || n == 0 || k == 0 || batches == 0)
    return plans;
  // Beside powers of two, along columns those of which there are as many as multiprocessors in one wave, or in two: of
  // a few more some multiprocessors would have twice as much to do.
  auto extentsOf = [&](int64_t extent, bool canCut, int64_t others, const FactorCost &factor) {
    constexpr int64_t largest = 128, smallest = 8, multiple = 4;
    SmallVector<TileExtent> tiles;
    for (int64_t tile : {128, 64, 32, 16, 8, 4})
      if (tile < extent && canCut)
        tiles.push_back({tile});
    if (extent <= largest)
      tiles.push_back({extent});
    for (int64_t waves : {1, 2}) {
      const int64_t count = others == 0 ? 0 : target.cores * waves / others;
      const auto tile = count == 0 ? 0 : static_cast<int64_t>(llvm::alignTo(llvm::divideCeil(extent, count), multiple));
      if (canCut && tile >= smallest && tile < std::min(extent, largest) &&
          llvm::none_of(tiles, [&](const TileExtent &other) { return other.extent == tile; }))
        tiles.push_back({tile});
    }
    if (canCut && factor.isApart)
      addFitting(extent, tiles);
    return tiles;
  };
  for (const TileExtent &tileRows : extentsOf(m, cutRows, 0, left))
    for (const TileExtent &tileColumns :
         extentsOf(n, cutColumns, llvm::divideCeil(m, tileRows.extent) * batches, right)) {
      if (product && tileRows.part == 0 && tileColumns.part == 0)
        addWarps(tileRows.extent, tileColumns.extent, plans);
      addThreads(tileRows, tileColumns, plans);
    }
  const double threads = threadCost();
  llvm::erase_if(plans, [&](const SharedPlan &plan) { return plan.cost >= threads; });
  auto order = [](const SharedPlan &plan) {
    return std::tuple(plan.cost, plan.tileRows, plan.tileColumns, plan.rows, plan.columns, plan.depth, plan.threads,
                      plan.byWarps);
  };
  llvm::sort(plans, [&](const SharedPlan &a, const SharedPlan &b) { return order(a) < order(b); });
  plans.truncate(std::min<size_t>(most, plans.size()));
  return plans;
}

} // namespace

SmallVector<SharedPlan> zyx::schedule::planSharedDots(DotOp dot, const Axes &axes, bool cutRows, bool cutColumns,
                                                      const target::TargetInfo &target, unsigned most) {
  if (!target.hasSharedMemory())
    return {};
  return Planner(dot, axes, target).rank(cutRows, cutColumns, most);
}
