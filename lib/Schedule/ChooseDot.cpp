//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ChooseDot.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;

namespace zyx::schedule {
namespace {

/// Rows of a tile with two vectors of columns: enough independent sums to hide the latency of an fma,
/// and little enough of each step is loads.
constexpr int64_t mostRows = 12;
/// A factor is packed where each of its elements is used in at least so many tiles.
constexpr int64_t enoughUses = 4;
/// Rows up to which a right factor that lies along k is read so instead of being transposed.
constexpr int64_t mostRowsAlongDepth = 36;
/// Steps of the contraction at a time where the right factor is read once, in the order in which it lies.
constexpr int64_t streamedDepth = 16;
/// A product this small is not worth cutting for another thread.
constexpr double smallestFlops = 1e6;

/// What a factor is read from.
struct Source {
  int64_t alongFirst = 0, alongSecond = 0;
  bool computed = false, window = false;
};

Source inspect(Value factor, Axis first, Axis second, const Axes &axes) {
  Source source;
  SmallVector<Value> work = {factor};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *def = value.getDefiningOp();
    if (!def || !isTile(value) || !seen.insert(def).second)
      continue;
    if (auto load = dyn_cast<LoadOp>(def)) {
      auto view = load.getView().getDefiningOp<ViewOp>();
      BlockAttr block = view.getMap().front();
      source.window |= !view.getMap().isSingleBlock() || block.hasValid();
      source.computed |= source.window;
      for (auto [dim, axis] : llvm::enumerate(axes.of(value))) {
        bool unit = BlockAttr::constant(block.getStrides()[dim]) == 1;
        source.alongFirst += axis == first && unit;
        source.alongSecond += axis == second && unit;
      }
      continue;
    }
    source.computed |= isElementwise(def) || isa<GatherOp>(def);
    llvm::append_range(work, def->getOperands());
  }
  return source;
}

/// Pieces of `extent` of equal size, a multiple of `unit`.
int64_t share(int64_t extent, int64_t pieces, int64_t unit) {
  return std::min(llvm::alignTo(llvm::divideCeil(extent, pieces), unit), uint64_t(extent));
}

} // namespace

DotFacts describeDot(DotOp dot, const Axes &axes) {
  auto type = cast<RankedTensorType>(dot.getType());
  unsigned rank = type.getRank();
  Axis m = axes.of(dot.getResult(), rank - 2), n = axes.of(dot.getResult(), rank - 1),
       k = axes.of(dot.getLhs(), rank - 1);
  Source lhs = inspect(dot.getLhs(), m, k, axes), rhs = inspect(dot.getRhs(), k, n, axes);
  DotFacts facts{};
  facts.m = axes.extent(m);
  facts.n = axes.extent(n);
  facts.k = axes.extent(k);
  facts.batches = ShapedType::getNumElements(type.getShape().drop_back(2));
  facts.elementBytes = std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1);
  facts.lhsAlongDepth = lhs.alongSecond >= lhs.alongFirst;
  facts.rhsAlongColumns = rhs.alongSecond >= rhs.alongFirst;
  facts.lhsComputed = lhs.computed;
  facts.rhsComputed = rhs.computed;
  facts.lhsWindow = lhs.window;
  facts.rhsWindow = rhs.window;
  return facts;
}

DotPlan planDot(const DotFacts &facts, const target::TargetInfo &target) {
  DotPlan plan{};
  int64_t lanes = target.lanes(facts.elementBytes), registers = std::max<int64_t>(target.vectorRegisters, 8);
  int64_t m = std::max<int64_t>(facts.m, 1), n = std::max<int64_t>(facts.n, 1), k = std::max<int64_t>(facts.k, 1);

  // Registers: sums, one row of the right factor, one element of the left one. Few rows take more columns.
  int64_t vectors = std::min<int64_t>(2, llvm::divideCeil(n, lanes));
  int64_t most = std::min<int64_t>((registers - 1 - vectors) / vectors, vectors == 1 ? 2 * mostRows : mostRows);
  plan.rows = llvm::divideCeil(m, llvm::divideCeil(m, most));
  if (vectors == 2)
    vectors = std::clamp<int64_t>((registers - 1) / (plan.rows + 1), 2, llvm::divideCeil(n, lanes));
  plan.columns = vectors * lanes;
  // Both factors along k, and few rows: vectors along k, and no transposition.
  plan.alongDepth = facts.lhsAlongDepth && !facts.rhsAlongColumns && !facts.lhsComputed && !facts.rhsComputed &&
                    m <= mostRowsAlongDepth && k >= 2 * lanes;
  if (plan.alongDepth) {
    plan.rows = llvm::divideCeil(m, llvm::divideCeil(m, registers >= 32 ? 4 : 2));
    plan.columns = std::min({int64_t(8), (registers - 1) / (plan.rows + 1), n});
  }

  // Programs: one per core, or a multiple; columns are cut until a packed block of them fits its budget.
  int64_t depthBudget = std::max<int64_t>(target.l1Bytes * 2 / 3 / (plan.columns * facts.elementBytes), lanes);
  int64_t tilesDown = llvm::divideCeil(m, plan.rows), tilesAcross = llvm::divideCeil(n, plan.columns);
  plan.packRhs = !plan.alongDepth && (tilesDown >= enoughUses || (tilesDown > 1 && facts.rhsComputed) ||
                                      !facts.rhsAlongColumns || facts.rhsWindow);
  plan.depth = k;
  if (plan.packRhs) {
    int64_t pieces = llvm::divideCeil(k, depthBudget);
    plan.depth = share(k, pieces, lanes);
  } else if (!plan.alongDepth && facts.rhsAlongColumns && tilesAcross > 1) {
    plan.depth = std::min(k, streamedDepth);
  }
  int64_t rhsBudget = std::min(target.l2Bytes / 4, target.privateBytes / 2);
  int64_t mostColumns = std::max<int64_t>(rhsBudget / (plan.depth * facts.elementBytes) / plan.columns, 1) * plan.columns;
  double flops = 2.0 * m * n * k * facts.batches;
  int64_t programs = flops < smallestFlops ? 1 : llvm::divideCeil(target.cores, facts.batches);
  int64_t across = 1, down = 1;
  // Cut what makes the least to be packed again: both factors are, in each program that uses them.
  if (programs > 1) {
    double best = 0;
    for (int64_t a = 1; a <= programs; ++a) {
      int64_t d = llvm::divideCeil(programs, a);
      if ((a > 1 && (!facts.cutColumns || tilesAcross < a)) || (d > 1 && (!facts.cutRows || tilesDown < d)))
        continue;
      double cost = double(d) * n + double(a) * m;
      if (best == 0 || cost <= best) {
        best = cost;
        across = a;
        down = d;
      }
    }
  }
  if (facts.cutColumns && plan.packRhs && n > across * mostColumns) {
    int64_t more = llvm::divideCeil(n, mostColumns);
    across = llvm::alignTo(more, across);
  }
  plan.programColumns = share(n, across, plan.columns);
  plan.programRows = share(m, down, plan.rows);
  tilesAcross = llvm::divideCeil(plan.programColumns, plan.columns);
  plan.packLhs = facts.lhsWindow ||
                 (!plan.alongDepth && plan.packRhs && tilesAcross > 1 &&
                  (facts.lhsComputed || !facts.lhsAlongDepth || tilesAcross >= enoughUses));
  int64_t lhsBudget = std::min(target.l2Bytes / 8, target.privateBytes / 4);
  plan.rowBlock = std::max<int64_t>(lhsBudget / (plan.depth * facts.elementBytes) / plan.rows, 1) * plan.rows;
  plan.rowBlock = std::min<int64_t>(plan.rowBlock, llvm::alignTo(m, plan.rows));
  return plan;
}

} // namespace zyx::schedule
