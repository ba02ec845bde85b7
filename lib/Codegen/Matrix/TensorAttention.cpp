//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Matrix/TensorAttention.h"

#include "zyx/Codegen/Matrix/TensorDot.h"
#include "zyx/Codegen/Tile/Softmax.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace zyx::kernel;

/// Columns of a result that the registers of a group of warps hold.
static constexpr int64_t mostFeatures = 256;

static Type elementOf(Value tile) { return getElementTypeOrSelf(tile.getType()); }
static bool is16Bit(Type type) { return type.isBF16() || type.isF16(); }

/// Takes the bounds of which a condition says that all hold; false where it says anything else.
static bool takeBounds(Value condition, const TensorAttention &found, const Axes &axes,
                       SmallVectorImpl<TensorBound> &bounds) {
  while (auto broadcast = condition.getDefiningOp<BroadcastOp>())
    condition = broadcast.getInput();
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return takeBounds(both.getLhs(), found, axes, bounds) && takeBounds(both.getRhs(), found, axes, bounds);
  auto bound = matchBound(condition, found.queries, found.keys, axes);
  if (bound)
    bounds.push_back(*bound);
  return bound.has_value();
}

static void takeBound(const TensorBound &bound, TensorAttention &found) {
  if (!llvm::is_contained(found.bounds, bound))
    found.bounds.push_back(bound);
}

/// Takes those bounds that hold, among others, where a condition does.
static void takeSomeBounds(Value condition, TensorAttention &found, const Axes &axes) {
  while (auto broadcast = condition.getDefiningOp<BroadcastOp>())
    condition = broadcast.getInput();
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    takeSomeBounds(both.getLhs(), found, axes);
    takeSomeBounds(both.getRhs(), found, axes);
  } else if (auto bound = matchBound(condition, found.queries, found.keys, axes)) {
    takeBound(*bound, found);
  }
}

/// Takes the bounds by which what is added to scores is minus infinity, as a mask of numbers has them. Neither a sum
/// nor rounding makes anything else of that.
static void takeAddedBounds(Value value, TensorAttention &found, const Axes &axes,
                            llvm::SmallPtrSetImpl<Operation *> &seen) {
  for (Operation *op = value.getDefiningOp(); op && seen.insert(op).second; op = value.getDefiningOp()) {
    if (auto sum = dyn_cast<arith::AddFOp>(op)) {
      takeAddedBounds(sum.getLhs(), found, axes, seen);
      value = sum.getRhs();
    } else if (auto select = dyn_cast<arith::SelectOp>(op); select && isMinusInfinity(select.getFalseValue())) {
      takeSomeBounds(select.getCondition(), found, axes);
      value = select.getTrueValue();
    } else if (isa<BroadcastOp, TransposeOp, ReshapeOp, arith::ExtFOp, arith::TruncFOp>(op)) {
      value = op->getOperand(0);
    } else {
      return;
    }
  }
}

/// What scores are before they are masked, and by which bounds. Below a mask that is more than bounds all masks stay,
/// and bounds say which blocks are hidden.
static void peelMasks(TensorAttention &found, const Axes &axes) {
  Value value = found.max.getInput();
  found.unmasked = value;
  bool isPeeled = true;
  for (auto select = value.getDefiningOp<arith::SelectOp>(); select && isMinusInfinity(select.getFalseValue());
       select = select.getTrueValue().getDefiningOp<arith::SelectOp>()) {
    SmallVector<TensorBound> bounds;
    isPeeled &= takeBounds(select.getCondition(), found, axes, bounds);
    if (isPeeled) {
      for (const TensorBound &bound : bounds)
        takeBound(bound, found);
      found.unmasked = select.getTrueValue();
      found.peeled = found.bounds.size();
    } else {
      takeSomeBounds(select.getCondition(), found, axes);
    }
  }
  llvm::SmallPtrSet<Operation *, 16> seen;
  takeAddedBounds(found.unmasked, found, axes, seen);
  value = found.unmasked;
  auto product = value.getDefiningOp<arith::MulFOp>();
  auto scaled = product ? scaledBy(product) : std::nullopt;
  // The largest of the products is the product with the largest.
  if (scaled && scaled->first == found.scores.getResult() && scaled->second > 0 && std::isfinite(scaled->second)) {
    found.unmasked = scaled->first;
    found.scale = scaled->second;
  }
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Follows the left factor of the last product up to the exponentials.
static math::ExpOp followWeights(TensorAttention &found) {
  Value value = found.output.getLhs();
  Type own = elementOf(found.output.getRhs());
  while (Operation *op = value.getDefiningOp()) {
    if (auto exp = dyn_cast<math::ExpOp>(op))
      return exp;
    if (auto product = dyn_cast<arith::MulFOp>(op)) {
      auto scaled = scaledBy(product);
      if (!scaled || !elementOf(value).isF32())
        return {};
      found.weight *= scaled->second;
      value = scaled->first;
      continue;
    }
    if (isa<arith::TruncFOp>(op) ? elementOf(value) != own : !isa<arith::ExtFOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

bool zyx::kernel::isAttention(FuncOp func) {
  Block &body = func.getBody().front();
  return llvm::range_size(body.getOps<DotOp>()) == 2 && !body.getOps<ReduceOp>().empty();
}

std::optional<TensorAttention> zyx::kernel::matchTensorAttention(FuncOp func, const Axes &axes,
                                                                 const target::TargetInfo &machine,
                                                                 std::string &reason) {
  TensorAttention found;
  reason.clear();
  auto none = [&](const char *why) -> std::optional<TensorAttention> {
    reason = why;
    return std::nullopt;
  };
  SmallVector<DotOp> dots;
  SmallVector<ReduceOp> reductions;
  SmallVector<StoreOp> stores;
  bool hasOthers = false;
  for (Operation &op : func.getBody().front()) {
    if (auto dot = dyn_cast<DotOp>(op))
      dots.push_back(dot);
    else if (auto reduce = dyn_cast<ReduceOp>(op))
      reductions.push_back(reduce);
    else if (auto store = dyn_cast<StoreOp>(op))
      stores.push_back(store);
    hasOthers |= isa<GatherOp>(op) || op.getNumRegions() != 0;
  }
  found.scores = dots[0], found.output = dots[1];
  const Axis columns = axes.of(found.output.getResult()).back();
  for (StoreOp store : stores) {
    if (!axes.contains(store.getValue(), columns))
      found.ofRows.push_back(store);
    else
      hasOthers |= std::exchange(found.store, store) != StoreOp();
  }
  if (hasOthers || !found.store)
    return none("there is more than an attention");
  for (DotOp dot : dots)
    if (!elementOf(dot.getResult()).isF32() || !matchPattern(dot.getAcc(), m_AnyZeroFloat()))
      return none("sums are not in f32, from zero on");
  found.exp = followWeights(found);
  if (!found.exp || !elementOf(found.exp.getResult()).isF32())
    return none("its weights are no exponentials in f32");
  std::optional<SoftmaxExponential> softmax = matchSoftmaxExponential(found.exp);
  if (!softmax || !softmax->isBroadcast || softmax->widensDistance || softmax->widensElements ||
      softmax->max.getDims().size() != 1)
    return none("its weights are not relative to a maximum");
  found.max = softmax->max;

  SmallVector<Axis> scoreAxes = axes.of(found.scores.getResult()), outAxes = axes.of(found.output.getResult());
  found.queries = scoreAxes[scoreAxes.size() - 2];
  found.keys = scoreAxes.back();
  const Axis features = axes.of(found.scores.getLhs()).back();
  for (Axis axis : ArrayRef(scoreAxes).drop_back(2))
    if (axes.extent(axis) > 1)
      found.batches.push_back(axis);
  SmallVector<Axis> distinct = {found.queries, found.keys, features, columns};
  distinct.append(found.batches);
  llvm::SmallDenseSet<Axis> unique(distinct.begin(), distinct.end());
  auto batchesOf = [&](ArrayRef<Axis> all) {
    return llvm::to_vector(llvm::make_filter_range(all.drop_back(2), [&](Axis axis) { return axes.extent(axis) > 1; }));
  };
  if (unique.size() != distinct.size() || axes.of(found.max.getInput(), found.max.getDims()[0]) != found.keys ||
      outAxes[outAxes.size() - 2] != found.queries || axes.of(found.output.getLhs()).back() != found.keys ||
      batchesOf(outAxes) != found.batches || llvm::any_of(distinct, [&](Axis axis) { return axes.extent(axis) < 1; }))
    return none("its products are not of queries and keys, and of these and values");
  found.depth = axes.extent(features);
  found.width = axes.extent(columns);
  if (found.depth > mostFeatures || found.width > mostFeatures)
    return none("there are more than 256 features");

  Type element = elementOf(found.scores.getLhs());
  if (!is16Bit(element) || elementOf(found.scores.getRhs()) != element || elementOf(found.output.getRhs()) != element ||
      elementOf(found.store.getValue()) != element)
    return none("queries, keys, values and results are not of one 16-bit type");
  if (!isPlainLoad(found.scores.getLhs()) || !isPlainLoad(found.scores.getRhs()) || !isPlainLoad(found.output.getRhs()))
    return none("queries, keys or values are computed");
  auto operandOf = [&](Value tile, Axis rows, Axis inner) {
    auto load = tile.getDefiningOp<LoadOp>();
    return matchOperand(load.getView(), load.getIndices(), tile, rows, inner, axes, machine.copies);
  };
  auto q = operandOf(found.scores.getLhs(), found.queries, features);
  auto k = operandOf(found.scores.getRhs(), found.keys, features);
  auto v = operandOf(found.output.getRhs(), found.keys, columns);
  auto result = found.store.getMask()
                    ? std::nullopt
                    : matchOperand(found.store.getView(), found.store.getIndices(), found.store.getValue(),
                                   found.queries, columns, axes, machine.copies);
  if (!q || !k || !v || !result)
    return none("queries, keys, values or results do not lie on multiples of 16 bytes, features side by side");
  // Programs that share a place in the result would all write it.
  int64_t places = 1, programs = 1;
  for (const AxisPart &part : result->batches)
    places *= part.extent;
  for (Axis axis : found.batches)
    programs *= axes.extent(axis);
  if (places != programs)
    return none("results do not lie on multiples of 16 bytes, features side by side");
  found.q = *q, found.k = *k, found.v = *v, found.result = *result;

  for (ReduceOp reduce : reductions) {
    if (reduce == found.max)
      continue;
    if (reduce.getKind() != Combine::Add || reduce.getInput() != found.exp.getResult() ||
        reduce.getDims().size() != 1 || axes.of(reduce.getInput(), reduce.getDims()[0]) != found.keys)
      return none("it sums up more than its weights");
    found.sums.push_back(reduce);
  }
  peelMasks(found, axes);
  SmallVector<Axis> own = {found.queries, found.keys};
  own.append(found.batches);
  llvm::SmallDenseSet<Axis> maskAxes;
  auto isStrided = [&](Value value) {
    auto load = value.getDefiningOp<LoadOp>();
    return load && isPlainLoad(value) && stridesOf(load.getView(), load.getIndices(), value, axes).has_value();
  };
  ElementwiseSlice scores{axes,
                          own,
                          {found.scores.getResult()},
                          [&](Value value) {
                            bool isOne =
                                elementOf(value).isInteger(1) && matchBound(value, found.queries, found.keys, axes);
                            found.readsPlaces |= isOne;
                            return isOne;
                          },
                          [&](Value value) {
                            const bool isOne = isStrided(value);
                            found.readsPlaces |= isOne;
                            const bool isOfEach = axes.contains(value, found.queries);
                            if (!isOne || !axes.contains(value, found.keys))
                              return isOne;
                            found.readsMasks |= isOfEach || elementOf(value).isInteger(64);
                            if (isOfEach)
                              maskAxes.insert_range(axes.of(value));
                            return true;
                          },
                          [&](Value value) {
                            bool isOne = isPlaceOf(value, found.queries, found.keys, axes);
                            found.readsPlaces |= isOne;
                            return isOne;
                          },
                          /*hasLongs=*/true};
  if (!scores.check(found.unmasked))
    return none("scores are not computed element by element, of what lies along queries and keys");
  // Innermost, those batches that share a mask, so that they read it at the same time.
  if (!maskAxes.empty())
    llvm::stable_sort(found.batches, [&](Axis a, Axis b) { return maskAxes.contains(a) && !maskAxes.contains(b); });
  own[1] = columns;
  auto never = [](Value) { return false; };
  ElementwiseSlice behind{axes, own, {found.output.getResult(), found.max.getResult()}, never, isStrided};
  for (ReduceOp sum : found.sums)
    behind.known.push_back(sum.getResult());
  if (!behind.check(found.store.getValue()))
    return none("results are not computed element by element of sums");
  behind.own[1] = found.queries;
  llvm::erase(behind.known, found.output.getResult());
  for (StoreOp store : found.ofRows) {
    auto strides =
        store.getMask() ? std::nullopt : stridesOf(store.getView(), store.getIndices(), store.getValue(), axes);
    auto isOwn = [&](Axis axis) { return axes.extent(axis) == 1 || strides->of(axis) != 0; };
    // Who shares a place would write it, too.
    if (!strides || !axes.contains(store.getValue(), found.queries) || !elementOf(store.getValue()).isF32() ||
        !isOwn(found.queries) || !llvm::all_of(found.batches, isOwn) || !behind.check(store.getValue()))
      return none("what is stored of rows is not one number of each, which is computed of its maximum and its sum");
  }
  return found;
}
