//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Products that a workgroup multiplies out of shared memory, after its threads have evaluated both factors.
//===----------------------------------------------------------------------===//
#include "ChooseShared.h"

#include "Overlap.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <tuple>

using namespace mlir;
using namespace zyx::kernel;
using zyx::schedule::SharedPlan;

namespace {

/// Of a multiprocessor: products that its lanes sum up in a cycle; registers; threads and workgroups that it has room for.
constexpr double lanesPerCycle = 128;
constexpr int64_t registerFile = 65536, mostThreads = 2048, mostGroups = 32;
/// Registers of a thread beside its sums, and what it has on the way of a slice.
constexpr int64_t otherRegisters = 56;
/// Integers are multiplied at half of the rate; no loop of products has more than this part of it.
constexpr double integerLoss = 2, productLoss = 1.2;
/// A warp's read of 16 bytes by each lane, most of which read what others read, in cycles of shared memory.
constexpr double readCycles = 2;
/// From one slice to the next, however little there is to do: elements come from memory. A tile begins and ends.
constexpr double sliceLatency = 900, tileLatency = 2500;
/// Instructions beside those that the factor itself needs, for an element that is read and written to shared memory; for
/// one that is found through several blocks, or by an index; and for a function.
constexpr double elementCost = 4, windowCost = 10, gatherCost = 14, functionCost = 12;
/// For a conversion, of which a multiprocessor has an eighth of the lanes; an op of 16 bits is rounded by one.
constexpr double conversionCost = 8;
/// More of them where neighbouring threads do not read neighbours: each touches a sector of its own.
constexpr double stridedCost = 40;
constexpr int64_t sharedPadding = 4;

/// Whether an op converts numbers, or rounds to 16 bits.
bool isConverted(Operation *op) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  return isa<arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::TruncFOp>(op) || element.isF16() ||
         element.isBF16();
}

/// Whether what is read of a factor lies apart along an axis.
bool isStridedAlong(Value factor, Axis axis, const Axes &axes) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> work{factor};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    auto load = dyn_cast<LoadOp>(op);
    auto view = load ? load.getView().getDefiningOp<ViewOp>() : ViewOp();
    if (!view) {
      llvm::append_range(work, op->getOperands());
      continue;
    }
    for (auto [stride, own] : llvm::zip(view.getMap().front().getStrides(), axes.of(load.getResult())))
      if (own == axis && std::abs(BlockAttr::constant(stride).value_or(2)) > 1)
        return true;
  }
  return false;
}

/// Instructions for an element of a factor.
double costOfElement(Value factor) {
  double cost = elementCost;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> work{factor};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (auto load = dyn_cast<LoadOp>(op)) {
      auto view = load.getView().getDefiningOp<ViewOp>();
      const bool isWindow = view && (!view.getMap().isSingleBlock() || view.getMap().front().hasValid());
      cost += isWindow ? windowCost : 1;
      // Of windows it is the last block that says how elements lie.
      const bool isNear = !view || isWindow || llvm::any_of(view.getMap().front().getStrides(), [](AffineExpr stride) {
        return BlockAttr::constant(stride) == 1;
      });
      cost += isNear ? 0 : stridedCost;
      continue;
    }
    if (isa<GatherOp>(op))
      cost += gatherCost;
    else if (isa<math::MathDialect>(op->getDialect()))
      cost += functionCost;
    else if (isElementwise(op) && !isa<arith::ExtFOp, arith::BitcastOp>(op))
      cost += isConverted(op) ? conversionCost : 1;
    llvm::append_range(work, op->getOperands());
  }
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
    left = costOfElement(dot.getLhs());
    right = costOfElement(dot.getRhs());
    isApart = isStridedAlong(dot.getRhs(), all.back(), axes);
    isInteger = isa<IntegerType>(getElementTypeOrSelf(dot.getType()));
    isWide = getElementTypeOrSelf(dot.getLhs().getType()).getIntOrFloatBitWidth() >= 32;
    sumBytes = std::max<int64_t>(getElementTypeOrSelf(dot.getType()).getIntOrFloatBitWidth() / 8, 1);
  }

  SmallVector<SharedPlan> rank(bool cutRows, bool cutColumns, unsigned most) const;

private:
  double costOf(const SharedPlan &plan) const;
  double threadCost() const;
  int64_t sharedBytesOf(const SharedPlan &plan) const;

  const zyx::target::TargetInfo &target;
  int64_t m, n, k, batches = 1, sumBytes;
  double left, right;
  bool isInteger, isWide, isApart;
};

int64_t threadsOfTile(const SharedPlan &plan) {
  return llvm::divideCeil(plan.tileRows, plan.rows) * llvm::divideCeil(plan.tileColumns, plan.columns);
}

/// Threads that have the same sums, of different parts of a slice.
int64_t groupsOf(const SharedPlan &plan, int64_t depth) {
  int64_t groups = 1;
  while (2 * groups * threadsOfTile(plan) <= plan.threads && depth % (2 * groups) == 0)
    groups *= 2;
  return groups;
}

int64_t Planner::sharedBytesOf(const SharedPlan &plan) const {
  const int64_t stages = k > plan.depth ? 2 : 1, depth = std::min(k, plan.depth);
  auto padded = [](int64_t tile, int64_t each) {
    return llvm::alignTo(llvm::alignTo(tile, each), sharedPadding) + sharedPadding;
  };
  const int64_t slices = stages * depth * (padded(plan.tileRows, plan.rows) + padded(plan.tileColumns, plan.columns));
  const int64_t parts = (groupsOf(plan, depth) - 1) * threadsOfTile(plan) * plan.rows * plan.columns;
  return (slices + parts) * sumBytes;
}

/// Cycles of all tiles that a multiprocessor has.
double Planner::costOf(const SharedPlan &plan) const {
  auto real = [](int64_t value) { return static_cast<double>(value); };
  const int64_t depth = std::min(k, plan.depth), groups = groupsOf(plan, depth), threads = threadsOfTile(plan);
  const int64_t rows = llvm::alignTo(plan.tileRows, plan.rows), columns = llvm::alignTo(plan.tileColumns, plan.columns);
  const double multiply = real(rows * columns * depth) / lanesPerCycle * productLoss * (isInteger ? integerLoss : 1);
  const int64_t reads = llvm::divideCeil(plan.rows, 4) + llvm::divideCeil(plan.columns, 4);
  const double read = real(llvm::divideCeil(threads, target.warpSize) * depth * reads) * readCycles;
  const double evaluate = (real(rows) * left + real(columns) * right) * real(depth) / lanesPerCycle;
  const double slice = std::max(multiply, read) + 0.3 * std::min(multiply, read) + evaluate;
  const int64_t pieces = llvm::divideCeil((rows + columns) * depth, plan.threads);
  const int64_t registers = plan.rows * plan.columns + plan.rows + plan.columns + pieces + otherRegisters;
  const int64_t resident = std::max<int64_t>(
      1, std::min({registerFile / (std::min<int64_t>(registers, 255) * plan.threads), mostThreads / plan.threads, mostGroups,
                   target.sharedBytes / sharedBytesOf(plan)}));
  const int64_t tiles = llvm::divideCeil(m, plan.tileRows) * llvm::divideCeil(n, plan.tileColumns) * batches;
  const int64_t each = llvm::divideCeil(tiles, target.cores), together = std::min(each, resident);
  const int64_t turns = llvm::divideCeil(each, together);
  // Of few warps each waits for itself.
  const double own = real(rows * columns * depth) / real(threads * groups) * 2.5 + real((rows + columns) * depth) / real(plan.threads) * std::max(left, right);
  const double longest = std::max({slice * real(together), sliceLatency, own + sliceLatency / 2});
  const double slices = real(llvm::divideCeil(k, depth));
  // What other workgroups read, too, comes from the second cache.
  const double bytes = real(tiles) * real(plan.tileRows + plan.tileColumns) * real(k) * (isWide ? 4.0 : 2.0);
  const double fetched = bytes / real(target.bytesPerCycle * target.cores);
  return std::max(real(turns) * slices * longest, fetched) + real(turns) * (tileLatency + real(groups) * 100);
}

/// Cycles of threads that have 4 rows and 16 bytes of columns each, and read both factors where they lie.
double Planner::threadCost() const {
  auto real = [](int64_t value) { return static_cast<double>(value); };
  const int64_t rows = std::min<int64_t>(m, 4), columns = std::min(n, target.lanes(sumBytes));
  const double programs = real(llvm::divideCeil(m, rows) * llvm::divideCeil(n, columns) * batches);
  const double products = real(m * n) * real(k * batches);
  const double each = real(target.threadProductsPerCycle * (isWide ? 2 : 1));
  const double own = right + (isApart ? stridedCost : 0);
  const double evaluate = products * (left / real(columns) + own / real(rows)) / lanesPerCycle / real(target.cores);
  const double latency = real(k) * (sliceLatency / 16) * std::max(1.0, programs / real(target.cores * mostThreads));
  return std::max({products / (each * real(target.cores)), evaluate, latency});
}

SmallVector<SharedPlan> Planner::rank(bool cutRows, bool cutColumns, unsigned most) const {
  SmallVector<SharedPlan> plans;
  if (m == 0 || n == 0 || k == 0 || batches == 0)
    return plans;
  auto tilesOf = [](int64_t extent, bool canCut) {
    SmallVector<int64_t> tiles;
    for (int64_t tile : {128, 64, 32, 16, 8, 4})
      if (tile < extent && canCut)
        tiles.push_back(tile);
    if (extent <= 128)
      tiles.push_back(extent);
    return tiles;
  };
  constexpr std::pair<int64_t, int64_t> parts[] = {{8, 8}, {8, 4}, {4, 8}, {4, 4}, {2, 4}, {4, 2}, {2, 2}, {1, 4}, {4, 1}, {1, 2}, {1, 1}};
  for (int64_t tileRows : tilesOf(m, cutRows))
    for (int64_t tileColumns : tilesOf(n, cutColumns))
      for (auto [rows, columns] : parts)
        for (int64_t threads : {64, 128, 256})
          for (int64_t depth : {8, 16, 32, 64, 128}) {
            SharedPlan plan{tileRows, tileColumns, rows, columns, depth, threads, 0};
            if (rows > tileRows || columns > tileColumns || threadsOfTile(plan) > threads || (depth > 8 && depth / 2 >= k))
              continue;
            const int64_t own = std::min(k, depth), used = threadsOfTile(plan) * groupsOf(plan, own);
            // Most threads have something to multiply, and none has much to bring.
            if (2 * used <= threads && threads > 64)
              continue;
            if ((tileRows + rows + tileColumns + columns) * own > 24 * threads || sharedBytesOf(plan) > target.sharedBytes)
              continue;
            plan.cost = costOf(plan);
            plans.push_back(plan);
          }
  const double threads = threadCost();
  llvm::erase_if(plans, [&](const SharedPlan &plan) { return plan.cost >= threads; });
  auto order = [](const SharedPlan &plan) {
    return std::tuple(plan.cost, plan.tileRows, plan.tileColumns, plan.rows, plan.columns, plan.depth, plan.threads);
  };
  llvm::sort(plans, [&](const SharedPlan &a, const SharedPlan &b) { return order(a) < order(b); });
  plans.truncate(std::min<size_t>(most, plans.size()));
  return plans;
}

} // namespace

SmallVector<SharedPlan> zyx::schedule::planSharedDots(DotOp dot, const Axes &axes, bool cutRows, bool cutColumns,
                                                      const target::TargetInfo &target, unsigned most) {
  if (target.sharedBytes == 0)
    return {};
  return Planner(dot, axes, target).rank(cutRows, cutColumns, most);
}
