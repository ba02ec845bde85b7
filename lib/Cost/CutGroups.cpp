//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Cutter.h"
#include "FactorOrders.h"

#include "zyx/Base/Debug.h"
#include "zyx/Cost/Passes.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/Transport.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace zyx::cost {
#define GEN_PASS_DEF_CUTGROUPSPASS
#include "zyx/Cost/Passes.h.inc"
} // namespace zyx::cost

using namespace mlir;
using namespace zyx;
using namespace zyx::cost;
using namespace zyx::graph::ir;
using schedule::Estimate;
using target::TargetInfo;
namespace fits = zyx::target::fits::cuts;

namespace {

/// More ops are not stored one by one.
constexpr size_t mostSingles = 48;

struct CutGroups : zyx::cost::impl::CutGroupsPassBase<CutGroups> {
  using CutGroupsPassBase::CutGroupsPassBase;
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Seconds
//===----------------------------------------------------------------------===//

bool RunsOnceAnalysis::isFixed(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &entry.getBody().front() && isWeight(entry, argument.getArgNumber());
  Operation *op = value.getDefiningOp();
  if (isa<ParameterOp, ConstantOp>(op))
    return true;
  if (isView(op))
    return isFixed(op->getOperand(0));
  auto group = dyn_cast<GroupOp>(op);
  return group && holds(group);
}

bool RunsOnceAnalysis::holds(GroupOp group) {
  // What is kept of weights has at most twice their bytes, and a MiB: -zyx-plan-hoist-init.
  constexpr int64_t freeBytes = int64_t(1) << 20;
  int64_t read = 0, written = 0;
  auto bytesOf = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  };
  for (Value input : group.getInputs())
    read += bytesOf(input);
  for (Value output : group.getOutputs())
    written += bytesOf(output);
  return written <= 2 * read + freeBytes &&
         llvm::all_of(group.getInputs(), [&](Value input) { return isFixed(input); });
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

std::optional<double> Cutter::weigh(const GroupCut &cut) {
  double sum = 0;
  for (GroupOp part : cut.getParts()) {
    std::optional<Estimate> own = costs.weigh(part);
    if (!own)
      return std::nullopt;
    sum += runsOnce.holds(part) ? 0 : own->seconds;
  }
  return sum;
}

void Cutter::tryOut(GroupOp group, ArrayRef<Value> stored) {
  GroupCut cut(group, stored);
  // One part alone is the group itself, unless it reads what others store.
  std::optional<double> seconds = weigh(cut);
  ZYX_DEBUG(Fusion, "a cut at " + std::to_string(stored.size()) + " values into " +
                        std::to_string(cut.getParts().size()) + " kernels takes " +
                        (seconds ? std::to_string(*seconds * 1e6) + " us" : "more than a kernel can"));
  // Parts that are kept for many runs add nothing to one that an estimate may miss.
  auto isEach = [&](GroupOp part) { return !runsOnce.holds(part); };
  const bool keepsRest =
      !costs.getTarget().hasSubgroups() && cut.getParts().size() > 1 && llvm::count_if(cut.getParts(), isEach) == 1;
  const double most = best.empty() && keepsRest ? least / fits::clearlyLess * fits::lessWhereKept : least;
  if (seconds && *seconds < most) {
    least = *seconds;
    best.assign(stored.begin(), stored.end());
  }
}

/// Leaves away what need not be stored.
void Cutter::trimBest(GroupOp group) {
  constexpr size_t mostTrimmed = 16;
  const SmallVector<Value> whole = best;
  if (whole.size() < 2 || whole.size() > mostTrimmed)
    return;
  for (Value value : whole) {
    SmallVector<Value> fewer = best;
    llvm::erase(fewer, value);
    if (!fewer.empty())
      tryOut(group, fewer);
  }
}

/// A processor packs windows as it multiplies them: to store all of them takes as long, and their memory besides.
static bool showsWindows(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<WindowOp>(op))
      return true;
    if (!isView(op) && !isa<CastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return false;
}

/// What a processor converts as it packs or reads it: stored, it takes twice the memory, and a product loses the unit
/// that takes narrow factors.
static bool widensMemory(Value value) {
  auto bitsOfFloat = [](Value of) -> unsigned {
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(of.getType()));
    return type ? type.getWidth() : 0;
  };
  const unsigned bits = bitsOfFloat(value);
  while (Operation *op = value.getDefiningOp()) {
    if (!isView(op) && !isa<CastOp>(op))
      return false;
    value = op->getOperand(0);
    if (bitsOfFloat(value) == 0)
      return false;
  }
  return bitsOfFloat(value) < bits;
}

SmallVector<SmallVector<Value>> Cutter::findCuts(GroupOp group, ArrayRef<Value> ordered) const {
  const Places places = findPlaces(group);
  SmallVector<SmallVector<Value>> cuts;
  auto add = [&](std::initializer_list<ArrayRef<Value>> sets) {
    llvm::SetVector<Value> all;
    for (ArrayRef<Value> set : sets)
      all.insert_range(set);
    SmallVector<Value> cut = all.takeVector();
    if (!cut.empty() && !llvm::is_contained(cuts, cut))
      cuts.push_back(cut);
  };
  add({places.factors});
  SmallVector<Value> shown = places.shown;
  if (!costs.getTarget().hasSubgroups())
    llvm::erase_if(shown, showsWindows);
  constexpr size_t mostEach = 4;
  add({ordered});
  // Beside windows that stay where they lie one alone may be better: its order is theirs.
  for (Value value : ordered)
    add({ArrayRef(value)});
  // Cards lay such factors out behind this pass.
  if (!costs.getTarget().hasSubgroups()) {
    add({places.permuted});
    add({places.permuted, ordered});
    add({places.factors, places.permuted});
    add({places.shuffled});
  }
  add({places.repeated});
  for (Value value : ArrayRef(shown).take_front(mostEach))
    add({ArrayRef(value)});
  add({places.factors, shown});
  add({places.beside});
  add({places.factors, places.beside});
  add({places.sums});
  add({places.factors, places.beside, places.sums});
  add({places.factors, places.beside, places.sums, places.later});
  add({places.factors, shown, places.beside, places.sums, places.later});
  for (Value value : ArrayRef(places.reduced).take_front(mostEach))
    add({ArrayRef(value)});
  add({places.reduced});
  add({places.combined});
  add({places.reduced, places.combined});
  add({places.small});
  SmallVector<Value> all = places.all;
  if (!costs.getTarget().hasSubgroups())
    llvm::erase_if(all, widensMemory);
  if (places.all.size() <= mostSingles)
    add({all});
  return cuts;
}

bool Cutter::mayCut(GroupOp group) {
  Block &block = group.getBlock();
  return llvm::range_size(block.without_terminator()) >= 2 &&
         llvm::none_of(block, [](Operation &op) { return isOrderOp(&op); }) && !runsOnce.holds(group);
}

static bool isFarFromLeast(const Estimate &whole) {
  return whole.seconds > fits::nearLeast * whole.least && whole.seconds - whole.least >= fits::fewSeconds;
}

/// What is summed up of weights alone, where others read it: stored, it is computed once for many runs. What cards make
/// of it has not been measured.
SmallVector<Value> Cutter::findKept(GroupOp group) {
  if (costs.getTarget().hasSubgroups())
    return {};
  llvm::DenseSet<Value> fixed, summed;
  llvm::SetVector<Value> kept;
  for (auto [argument, input] : llvm::zip_equal(group.getBlock().getArguments(), group.getInputs()))
    if (runsOnce.isFixed(input))
      fixed.insert(argument);
  for (Operation &op : group.getBlock()) {
    const bool isFixed = op.getNumResults() == 1 && (op.getNumOperands() > 0 || isa<ConstantOp, IotaOp>(op)) &&
                         llvm::all_of(op.getOperands(), [&](Value operand) { return fixed.contains(operand); });
    for (Value operand : op.getOperands())
      if (isFixed && (isa<ReduceOp>(op) || summed.contains(operand)))
        summed.insert(op.getResult(0));
      else if (!isFixed && summed.contains(operand) && summed.contains(getViewSource(operand)))
        kept.insert(getViewSource(operand));
    if (isFixed)
      fixed.insert(op.getResult(0));
  }
  return kept.takeVector();
}

bool Cutter::isWorthCutting(GroupOp group, const Estimate &whole) {
  return mayCut(group) && (isFarFromLeast(whole) || !findKept(group).empty());
}

/// Leaves the best cut in `best`, and says of how many.
size_t Cutter::findBest(GroupOp group, const Estimate &whole, ArrayRef<Value> ordered) {
  best.clear();
  least = whole.seconds * fits::clearlyLess;
  SmallVector<SmallVector<Value>> cuts;
  if (isFarFromLeast(whole))
    cuts = findCuts(group, ordered);
  if (SmallVector<Value> kept = findKept(group); !kept.empty() && !llvm::is_contained(cuts, kept))
    cuts.insert(cuts.begin(), std::move(kept));
  for (ArrayRef<Value> cut : cuts) {
    tryOut(group, cut);
    // There is little left to win.
    if (!best.empty() && least <= fits::nearLeast * whole.least)
      break;
  }
  return cuts.size();
}

/// Whether cuts are clearly better where windows are of copies whose channels come last.
bool Cutter::turnsWindows(GroupOp group, const Estimate &whole) {
  auto secondsOf = [&](const FactorOrders &orders) {
    findBest(group, whole, orders.getValues());
    return best.empty() ? whole.seconds : least;
  };
  double turned = 0, most = 0;
  {
    const FactorOrders orders(group, !costs.getTarget().hasSubgroups(), /*turnsWindows=*/true);
    if (!orders.hasTurned())
      return false;
    turned = secondsOf(orders);
    most = orders.turnsColumns() ? fits::lessAsColumns : fits::lessAsRows;
  }
  return turned < most * secondsOf(FactorOrders(group, /*isWanted=*/true));
}

std::optional<double> Cutter::weigh(GroupOp group) {
  std::optional<Estimate> whole = costs.weigh(group);
  if (!whole || !isWorthCutting(group, *whole))
    return whole ? std::optional(whole->seconds) : std::nullopt;
  auto [place, isNew] = known.try_emplace(keyOf(group));
  if (isNew) {
    const FactorOrders orders(group, !costs.getTarget().hasSubgroups(), turnsWindows(group, *whole));
    findBest(group, *whole, orders.getValues());
    place->second = best.empty() ? whole->seconds : least;
  }
  return place->second;
}

bool Cutter::run(GroupOp first) {
  SmallVector<GroupOp> work{first};
  bool isCut = false;
  while (!work.empty()) {
    GroupOp group = work.pop_back_val();
    if (!mayCut(group))
      continue;
    std::optional<Estimate> whole = costs.weigh(group);
    if (!whole || !isWorthCutting(group, *whole))
      continue;
    FactorOrders orders(group, !costs.getTarget().hasSubgroups(), turnsWindows(group, *whole));
    const size_t numCuts = findBest(group, *whole, orders.getValues());
    auto micro = [](double seconds) { return llvm::formatv("{0:f1} us", seconds * 1e6).str(); };
    const auto options = remark::RemarkOpts::name("CutGroup").category("zyx-fusion").function(entry.getName());
    if (best.empty()) {
      if (numCuts != 0)
        remark::missed(group.getLoc(), options)
            << ("stays one kernel, of " + micro(whole->seconds) + " where " + micro(whole->least) +
                " would do: no cut of " + std::to_string(numCuts) + " is clearly less");
      continue;
    }
    trimBest(group);
    orders.keepOnly(best);
    GroupCut cut(group, best);
    Location loc = group.getLoc();
    const size_t numStored = best.size();
    SmallVector<GroupOp> parts = cut.apply();
    orders.release();
    remark::passed(loc, options) << (std::to_string(parts.size()) +
                                     (parts.size() == 1 ? " kernel of " : " kernels of ") + micro(least) +
                                     " instead of one of " + micro(whole->seconds) + ": " + std::to_string(numStored) +
                                     (numStored == 1 ? " value in between is stored"
                                                     : " values in between are stored"));
    ZYX_DEBUG(Fusion, "a group is cut: " + micro(least) + " instead of " + micro(whole->seconds));
    llvm::append_range(work, parts);
    isCut = true;
  }
  return isCut;
}

void CutGroups::runOnOperation() {
  func::FuncOp entry = getOperation();
  if (entry.isExternal())
    return;
  const TargetInfo *record = zyx::kernel::requireTarget(entry);
  if (!record)
    return signalPassFailure();
  SmallVector<GroupOp> groups;
  entry.walk([&](GroupOp group) { groups.push_back(group); });
  CostModel costs(entry, *record);
  Cutter cutter(entry, costs);
  for (GroupOp group : groups)
    cutter.run(group);
}
