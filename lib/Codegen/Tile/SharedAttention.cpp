//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Which kernels are attentions that the threads of a workgroup share, and how they do.
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/SharedAttention.h"

#include "zyx/Codegen/Tile/Softmax.h"
#include "zyx/Codegen/Tile/TileEvaluator.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace zyx::kernel;

static Type elementOf(Value tile) { return getElementTypeOrSelf(tile.getType()); }

/// The same element under other names of its dimensions.
static bool isRenaming(Operation *op) {
  return isa_and_nonnull<BroadcastOp, TransposeOp, ReshapeOp>(op) ||
         (isa_and_nonnull<ConvertOp>(op) && !cast<RankedTensorType>(op->getResult(0).getType()).getEncoding());
}

/// A factor as it is read, before it is widened.
static Value peel(Value factor) {
  while (Operation *op = factor.getDefiningOp()) {
    if (!isRenaming(op) && !isa<arith::ExtFOp>(op))
      break;
    factor = op->getOperand(0);
  }
  return factor;
}

/// Both factors of a sum of products from zero on.
static std::optional<std::pair<Value, Value>> factorsOf(Operation *op) {
  if (auto dot = dyn_cast<DotOp>(op)) {
    if (!matchPattern(dot.getAcc(), m_AnyZeroFloat()))
      return std::nullopt;
    return std::pair(dot.getLhs(), dot.getRhs());
  }
  auto reduce = dyn_cast<ReduceOp>(op);
  auto product = reduce && reduce.getKind() == Combine::Add && reduce.getDims().size() == 1
                     ? reduce.getInput().getDefiningOp<arith::MulFOp>()
                     : arith::MulFOp();
  if (!product)
    return std::nullopt;
  return std::pair(product.getLhs(), product.getRhs());
}

namespace {

class Matcher {
public:
  Matcher(FuncOp func, const Axes &axes) : func(func), axes(axes) {}
  std::optional<SharedAttention> match();

private:
  bool collect();
  bool findExponential();
  bool findOutput();
  bool findScores();
  bool findAxes();
  void orderRows();
  bool checkStores();
  bool isLinear(Value value, unsigned depth = 16);
  bool reaches(Value value, ArrayRef<Value> ends);
  bool canEvaluate(Value value, ArrayRef<Value> known, ArrayRef<Axis> never = {});
  int64_t sharedAlong(Value tile, Axis axis);

  FuncOp func;
  const Axes &axes;
  SharedAttention found;
  SmallVector<Operation *> combining;
  SmallVector<StoreOp> stores;
};

} // namespace

/// False where there is what is no part of any attention.
bool Matcher::collect() {
  if (!llvm::hasSingleElement(func.getBody()))
    return false;
  for (Operation &op : func.getBody().front()) {
    if (op.getNumRegions() != 0)
      return false;
    if (auto store = dyn_cast<StoreOp>(op)) {
      if (store.getMask() || isComplex(store.getView()))
        return false;
      stores.push_back(store);
    }
    if (auto load = dyn_cast<LoadOp>(op); load && (load.getMask() || !isTile(load.getResult())))
      return false;
    if (!isa<DotOp, ReduceOp>(op))
      continue;
    combining.push_back(&op);
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce || reduce.getKind() != Combine::Max)
      continue;
    if (found.max || reduce.getDims().size() != 1 || !isa<FloatType>(elementOf(reduce.getResult())) ||
        elementOf(reduce.getResult()).getIntOrFloatBitWidth() > 32)
      return false;
    found.max = reduce;
    found.keys = axes.of(reduce.getInput(), reduce.getDims()[0]);
  }
  return found.max && combining.size() >= 3 && axes.extent(found.keys) > 1 && !stores.empty();
}

/// Whether a tile is computed of one of some values.
bool Matcher::reaches(Value value, ArrayRef<Value> ends) {
  SmallVector<Value> pending{value};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (llvm::is_contained(ends, next))
      return true;
    if (Operation *op = next.getDefiningOp(); op && seen.insert(next).second)
      llvm::append_range(pending, op->getOperands());
  }
  return false;
}

/// Whether a tile can be evaluated at a point from what is known, and walks none of some axes.
bool Matcher::canEvaluate(Value value, ArrayRef<Value> known, ArrayRef<Axis> never) {
  SmallVector<Value> pending{value};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!isTile(next) || !seen.insert(next).second)
      continue;
    for (Axis axis : never)
      if (axes.extent(axis) > 1 && axes.contains(next, axis))
        return false;
    if (llvm::is_contained(known, next))
      continue;
    Operation *op = next.getDefiningOp();
    auto constant = dyn_cast_or_null<arith::ConstantOp>(op);
    if (constant && !isa<SplatElementsAttr>(constant.getValue()))
      return false;
    if (!isElementwise(op) && !isRenaming(op) &&
        !isa_and_nonnull<LoadOp, GatherOp, IotaOp, SplatOp, arith::ConstantOp>(op))
      return false;
    llvm::append_range(pending, op->getOperands());
  }
  return true;
}

/// The only exponential of distances to the maximum.
bool Matcher::findExponential() {
  for (auto exp : func.getBody().front().getOps<math::ExpOp>()) {
    std::optional<SoftmaxExponential> softmax = matchSoftmaxExponential(exp);
    if (!softmax || softmax->max != found.max || softmax->widensElements)
      continue;
    if (found.exp)
      return false;
    found.exp = exp;
  }
  return found.exp && elementOf(found.exp.getResult()).isF32();
}

/// Whether what is made of the exponentials shrinks as they do.
bool Matcher::isLinear(Value value, unsigned depth) {
  if (value == found.exp.getResult())
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || depth-- == 0)
    return false;
  if (isRenaming(op) || isa<arith::ExtFOp, arith::TruncFOp>(op))
    return isLinear(op->getOperand(0), depth);
  Value ends[] = {found.exp.getResult(), found.max.getResult()};
  if (auto product = dyn_cast<arith::MulFOp>(op)) {
    const bool isLeft = reaches(product.getLhs(), ends), isRight = reaches(product.getRhs(), ends);
    return isLeft != isRight && isLinear(isLeft ? product.getLhs() : product.getRhs(), depth);
  }
  return false;
}

/// Sums of weights, and the one of their products with values.
bool Matcher::findOutput() {
  Value ends[] = {found.exp.getResult(), found.max.getResult()};
  for (Operation *op : combining) {
    if (op == found.max)
      continue;
    auto reduce = dyn_cast<ReduceOp>(op);
    if (auto factors = factorsOf(op)) {
      const bool isLeft = reaches(factors->first, ends), isRight = reaches(factors->second, ends);
      Value other = isLeft ? factors->second : factors->first;
      const bool summed = !axes.contains(op->getResult(0), found.keys);
      // Of a sum of scaled weights the other factor has no columns.
      const bool hasColumns = isLeft != isRight && summed && llvm::any_of(axes.of(op->getResult(0)), [&](Axis axis) {
                                return axes.extent(axis) > 1 && !axes.contains(found.max.getResult(), axis);
                              });
      if (hasColumns) {
        if (found.output)
          return false;
        found.output = op;
        found.weights = isLeft ? factors->first : factors->second;
        found.v = peel(other);
        continue;
      }
    }
    if (!reaches(op->getResult(0), ends))
      continue;
    if (!reduce || reduce.getKind() != Combine::Add || reduce.getDims().size() != 1 ||
        axes.of(reduce.getInput(), reduce.getDims()[0]) != found.keys || !elementOf(reduce.getResult()).isF32() ||
        !isLinear(reduce.getInput()))
      return false;
    found.sums.push_back(reduce);
  }
  return found.output && elementOf(found.output->getResult(0)).isF32() && isLinear(found.weights);
}

/// What is left is the product of queries and keys.
bool Matcher::findScores() {
  for (Operation *op : combining) {
    if (op == found.max || op == found.output || llvm::is_contained(found.sums, dyn_cast<ReduceOp>(op)))
      continue;
    if (found.scores)
      return false;
    found.scores = op;
  }
  auto factors = found.scores ? factorsOf(found.scores) : std::nullopt;
  if (!factors || !elementOf(found.scores->getResult(0)).isF32() ||
      !axes.contains(found.scores->getResult(0), found.keys))
    return false;
  // The one that is the same for all keys is the query.
  Value left = peel(factors->first), right = peel(factors->second);
  const bool isLeft = axes.contains(right, found.keys);
  if (isLeft == axes.contains(left, found.keys))
    return false;
  found.q = isLeft ? left : right;
  found.k = isLeft ? right : left;
  if (auto dot = dyn_cast<DotOp>(found.scores)) {
    found.features = axes.of(dot.getLhs()).back();
  } else {
    auto reduce = cast<ReduceOp>(found.scores);
    found.features = axes.of(reduce.getInput(), reduce.getDims()[0]);
  }
  return axes.contains(found.q, found.features) && axes.contains(found.k, found.features);
}

/// How many neighbours along a dimension read the same elements, counted from its first.
static int64_t sharedAlong(LoadOp load, unsigned dim, int64_t extent) {
  auto view = load.getView().getDefiningOp<ViewOp>();
  if (!view)
    return 1;
  if (!isComplex(load.getView()))
    return strideOf(load.getView(), dim) == 0 ? extent : 1;
  std::optional<AccessForm> form =
      view.getMap().getNumSymbols() == 0 ? AccessForm::compute(view.getMap()) : std::nullopt;
  if (!form)
    return 1;
  int64_t shared = 1;
  for (unsigned part : llvm::reverse(form->dims[dim])) {
    const bool isBound =
        llvm::any_of(form->bounds, [&](const AccessForm::Bound &bound) { return bound.factors[part] != 0; });
    if (form->parts[part].stride != 0 || isBound)
      return shared;
    shared *= form->parts[part].extent;
  }
  return extent;
}

/// How many neighbours along an axis are the same, in memory or as they are computed.
int64_t Matcher::sharedAlong(Value tile, Axis axis) {
  int64_t shared = axes.extent(axis);
  SmallVector<Value> pending{tile};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!isTile(next) || !seen.insert(next).second || !axes.contains(next, axis))
      continue;
    Operation *op = next.getDefiningOp();
    if (auto load = dyn_cast_or_null<LoadOp>(op)) {
      for (auto [dim, own] : llvm::enumerate(axes.of(next)))
        if (own == axis)
          shared = std::gcd(shared, ::sharedAlong(load, dim, axes.extent(axis)));
      continue;
    }
    if (auto iota = dyn_cast_or_null<IotaOp>(op)) {
      if (axes.of(next, iota.getDim()) == axis)
        return 1;
      continue;
    }
    if (!op || isa<GatherOp>(op))
      return 1;
    llvm::append_range(pending, op->getOperands());
  }
  return shared;
}

bool Matcher::findAxes() {
  llvm::SmallSetVector<Axis, 4> rows;
  for (Axis axis : axes.of(found.max.getResult()))
    if (axes.extent(axis) > 1)
      rows.insert(axis);
  std::optional<Axis> columns;
  for (Axis axis : axes.of(found.output->getResult(0))) {
    if (axes.extent(axis) == 1 || rows.contains(axis))
      continue;
    if (columns && *columns != axis)
      return false;
    columns = axis;
  }
  if (!columns || *columns == found.keys || !axes.contains(found.v, *columns) || !axes.contains(found.v, found.keys))
    return false;
  found.columns = *columns;
  for (Axis axis : axes.of(found.scores->getResult(0)))
    if (axes.extent(axis) > 1 && axis != found.keys && !rows.contains(axis))
      return false;
  if (rows.contains(found.features) || found.features == found.keys || rows.contains(found.keys))
    return false;
  for (Axis axis : rows) {
    if (!axes.contains(found.output->getResult(0), axis))
      return false;
    const int64_t extent = axes.extent(axis), shared = std::gcd(sharedAlong(found.k, axis), sharedAlong(found.v, axis));
    if (shared > 1)
      found.rows.push_back({axis, shared});
    if (shared < extent)
      found.batches.push_back({axis, extent / shared});
  }
  // Whatever else a factor has would be summed up without being walked.
  auto hasOwn = [&](Value factor, ArrayRef<Axis> own) {
    return llvm::all_of(axes.of(factor), [&](Axis axis) {
      return axes.extent(axis) == 1 || rows.contains(axis) || llvm::is_contained(own, axis);
    });
  };
  return hasOwn(found.q, {found.features}) && hasOwn(found.k, {found.features, found.keys}) &&
         hasOwn(found.v, {found.columns, found.keys}) && hasOwn(found.weights, {found.columns, found.keys});
}

/// Rows for which a mask differs come first: those that a program has then differ less, and more blocks are hidden from
/// all of them. Heads that share keys mostly have one mask.
void Matcher::orderRows() {
  // What is computed of scores alone, and then what masks are computed of: repeated, they have all dimensions.
  SmallVector<Value> pending{found.max.getInput()}, conditions;
  llvm::DenseSet<Value> seen;
  auto next = [&](SmallVectorImpl<Value> &values) {
    Operation *op = values.pop_back_val().getDefiningOp();
    return op && op != found.scores && seen.insert(op->getResult(0)).second ? op : nullptr;
  };
  while (!pending.empty())
    if (Operation *op = next(pending)) {
      if (auto select = dyn_cast<arith::SelectOp>(op))
        conditions.push_back(select.getCondition());
      llvm::append_range(pending, op->getOperands());
    }
  llvm::SmallDenseSet<Axis> masked;
  seen.clear();
  while (!conditions.empty())
    if (Operation *op = next(conditions)) {
      if (isa<LoadOp, GatherOp, IotaOp>(op))
        for (Axis axis : axes.of(op->getResult(0)))
          masked.insert(axis);
      llvm::append_range(conditions, op->getOperands());
    }
  std::stable_partition(found.rows.begin(), found.rows.end(),
                        [&](const SharedAttention::Part &part) { return masked.contains(part.axis); });
}

bool Matcher::checkStores() {
  SmallVector<Value> behind{found.output->getResult(0), found.max.getResult()};
  for (ReduceOp sum : found.sums)
    behind.push_back(sum.getResult());
  for (StoreOp store : stores) {
    if (!canEvaluate(store.getValue(), behind, found.keys))
      return false;
    for (Axis axis : axes.of(store.getValue()))
      if (axes.extent(axis) > 1 && axis != found.columns && !axes.contains(found.max.getResult(), axis))
        return false;
    const bool hasColumns = axes.contains(store.getValue(), found.columns);
    // Who lacks a row would write what others write.
    for (Axis axis : axes.of(found.max.getResult()))
      if (axes.extent(axis) > 1 && !axes.contains(store.getValue(), axis))
        return false;
    if (!hasColumns && reaches(store.getValue(), found.output->getResult(0)))
      return false;
    (hasColumns ? found.results : found.ofRows).push_back(store);
  }
  return !found.results.empty();
}

std::optional<SharedAttention> Matcher::match() {
  auto isFactor = [](Value factor) {
    Type element = elementOf(factor);
    return isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 32;
  };
  if (!collect() || !findExponential() || !findOutput() || !findScores() || !findAxes())
    return std::nullopt;
  if (!isFactor(found.q) || !isFactor(found.k) || !isFactor(found.v) || !isFactor(found.weights))
    return std::nullopt;
  // A product is one of f32 wherever it is a dot; else what it is widened to says so.
  for (Operation *op : {found.scores, found.output})
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && !elementOf(reduce.getInput()).isF32())
      return std::nullopt;
  Value scores = found.scores->getResult(0), max = found.max.getResult();
  bool works = canEvaluate(found.max.getInput(), scores, {found.features, found.columns}) &&
               canEvaluate(found.weights, {scores, max}, found.features) &&
               canEvaluate(found.q, {}, {found.keys, found.columns}) && canEvaluate(found.k, {}, found.columns) &&
               canEvaluate(found.v, {}, found.features);
  for (ReduceOp sum : found.sums)
    works &= canEvaluate(sum.getInput(), {scores, max}, {found.features, found.columns});
  if (!works || !checkStores())
    return std::nullopt;
  orderRows();
  return found;
}

std::optional<SharedAttention> zyx::kernel::matchSharedAttention(FuncOp func, const Axes &axes) {
  return Matcher(func, axes).match();
}

int64_t SharedAttention::numRows() const {
  int64_t result = 1;
  for (const Part &part : rows)
    result *= part.extent;
  return result;
}

int64_t SharedAttention::numPrograms() const {
  int64_t result = 1;
  for (const Part &part : batches)
    result *= part.extent;
  return result;
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

/// What a program has without being told: threads divide blocks of keys and rows evenly.
static int64_t rowsWithout(int64_t keys, int64_t threads) { return std::max<int64_t>(threads / keys, 1); }

ScheduleAttr zyx::kernel::sharedSchedule(const SharedAttention &attention, const Axes &axes, SharedStep step,
                                         int64_t threads, MLIRContext *context) {
  auto nameOf = [&](Axis axis) { return axes.name(axis) ? StringAttr::get(context, *axes.name(axis)) : StringAttr(); };
  SmallVector<Attribute> steps;
  if (step.rows != rowsWithout(step.keys, threads)) {
    StringAttr name = attention.rows.empty() ? StringAttr() : nameOf(attention.rows.back().axis);
    if (!name)
      return {};
    steps.push_back(GridStepAttr::get(context, name, step.rows));
  }
  StringAttr keys = nameOf(attention.keys);
  if (!keys)
    return {};
  steps.push_back(OnlineStepAttr::get(context, keys, step.keys));
  return ScheduleAttr::get(context, steps);
}

std::optional<SharedStep> zyx::kernel::sharedStepOf(FuncOp func, const Axes &axes) {
  ScheduleAttr schedule = func.getScheduleAttr();
  const auto threads = static_cast<int64_t>(func.getThreads().value_or(1));
  if (!schedule || threads == 1 || schedule.getSteps().empty() || schedule.getSteps().size() > 2)
    return std::nullopt;
  auto online = dyn_cast<OnlineStepAttr>(schedule.getSteps().back());
  auto grid = dyn_cast<GridStepAttr>(schedule.getSteps().front());
  if (!online || (schedule.getSteps().size() == 2 && !grid))
    return std::nullopt;
  std::optional<SharedAttention> found = matchSharedAttention(func, axes);
  if (!found || axes.name(found->keys) != online.getAxis().getValue())
    return std::nullopt;
  if (grid && (found->rows.empty() || axes.name(found->rows.back().axis) != grid.getAxis().getValue()))
    return std::nullopt;
  return SharedStep{grid ? grid.getTile() : rowsWithout(online.getTile(), threads), online.getTile()};
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

static int64_t bytesOf(Value factor) { return std::max<int64_t>(elementOf(factor).getIntOrFloatBitWidth() / 8, 1); }

/// As many elements as a thread reads at once, of a row of so many.
static int64_t lanesOf(int64_t extent, int64_t bytes, int64_t laneBytes) {
  int64_t lanes = std::clamp<int64_t>(laneBytes / bytes, 1, zyx::target::fits::sharedProducts::mostLanes);
  while (extent % lanes != 0)
    lanes /= 2;
  return lanes;
}

/// Rows an odd number of vectors apart lie in different banks.
static int64_t bankedStride(int64_t extent, int64_t bytes, int64_t laneBytes) {
  const int64_t vectors = llvm::divideCeil(extent * bytes, laneBytes);
  return (vectors | 1) * laneBytes / bytes;
}

/// The shape that is estimated to take least; with `isSmall` of those that need no more shared memory than they must.
static std::optional<SharedAttentionShape> shapeOf(const SharedAttention &attention, SharedAttentionShape shape,
                                                   bool isSmall) {
  constexpr int64_t mostSums = 64, mostAhead = 16, fewRows = 16, mostShared = 4096;
  const int64_t rows = shape.rows, keys = shape.keys, threads = shape.threads;
  const int64_t keyBytes = bytesOf(attention.k), valueBytes = bytesOf(attention.v);
  // Of a unit of shared memory and one of products the one that takes longer counts, and a part of the other one. A
  // vector of 16 bytes is read in four passes, in each of which four products are multiplied.
  auto costOf = [](int64_t products, int64_t passes) {
    return std::max(products, 4 * passes) + std::min(products, 4 * passes) / 4;
  };
  // Of few rows the next block is read while this one is computed: its vectors are in registers meanwhile, so that a
  // thread has fewer scores and results. More of them would be in local memory.
  const int64_t vectorsRead = llvm::divideCeil(keys * shape.depth / shape.keyLanes, threads) +
                              llvm::divideCeil(keys * shape.width / shape.valueLanes, threads);
  shape.ahead = rows <= fewRows && vectorsRead <= mostAhead;
  int64_t leastScores = 0;
  shape.ownKeys = 4;
  for (int64_t ownRows : {4, 8}) {
    const int64_t own = std::min(rows, ownRows), tiles = rows / own * (keys / shape.ownKeys);
    if (tiles > threads || ((isSmall || shape.ahead) && ownRows > 4))
      continue;
    const int64_t slices = std::min(threads / tiles, shape.depth / shape.keyLanes);
    const int64_t steps = llvm::divideCeil(shape.depth / shape.keyLanes, slices);
    const int64_t cost =
        costOf(steps * shape.keyLanes * own * shape.ownKeys,
               steps * shape.keyLanes * (own + llvm::divideCeil(shape.ownKeys * keyBytes, int64_t(4))) +
                   own * shape.ownKeys + rows * keys / threads * slices);
    if (leastScores != 0 && cost >= leastScores)
      continue;
    leastScores = cost;
    shape.ownRows = own, shape.slices = slices;
  }
  if (leastScores == 0)
    return std::nullopt;
  // Of few results each is summed up by several threads. They stay in registers while scores are computed, which have
  // some, too: more of them would be in local memory.
  int64_t least = 0;
  const int64_t vectors = shape.width / shape.valueLanes;
  auto consider = [&](int64_t outRows, int64_t outVectors, int64_t most) {
    const int64_t items = rows / outRows * (vectors / outVectors), each = llvm::divideCeil(items, threads);
    int64_t slices =
        std::min<int64_t>(llvm::bit_floor(static_cast<uint64_t>(std::max<int64_t>(threads / items, 1))), keys);
    while (slices > 1 && (isSmall ? slices : 1) * rows * shape.width > mostShared)
      slices /= 2;
    int64_t held = slices;
    while (held > 1 && held * rows * shape.width > mostShared)
      held /= 2;
    const int64_t own = outRows * outVectors * shape.valueLanes, steps = each * (keys / slices);
    const int64_t cost =
        costOf(steps * own, steps * (outRows + llvm::divideCeil(outVectors * shape.valueLanes * valueBytes, 4))) +
        slices * own;
    if (each * own > most || (least != 0 && cost >= least))
      return;
    least = cost;
    shape.outRows = outRows, shape.outVectors = outVectors, shape.outItems = each, shape.outSlices = slices,
    shape.outHeld = held;
  };
  auto considerAll = [&](int64_t most) {
    for (int64_t outRows = std::min<int64_t>(rows, 8); outRows >= 1; outRows /= 2)
      for (int64_t outVectors : {1, 2})
        if (vectors % outVectors == 0)
          consider(outRows, outVectors, most);
  };
  const int64_t scores = shape.ownRows * shape.ownKeys, few = shape.ahead ? mostSums : 0;
  const int64_t beside = shape.ahead ? zyx::target::fits::sharedProducts::valuesAhead - scores - 4 * vectorsRead : 0;
  for (int64_t most : {beside, few / 4, few / 2, mostSums - scores, mostSums})
    if (least == 0)
      considerAll(most);
  if (least == 0)
    return std::nullopt;
  const int64_t perRow = threads / rows, numSums = static_cast<int64_t>(attention.sums.size());
  const int64_t floats = rows * shape.depth + (shape.slices + (shape.sharesWeights() ? 0 : 1)) * rows * (keys + 4) +
                         rows * (perRow + 2) + numSums * rows * (perRow + 1) +
                         (shape.outSlices > 1 ? shape.outHeld * rows * shape.width : 0) +
                         (shape.cluster > 1 ? shape.cluster * rows * (shape.width + 1 + numSums) : 0);
  shape.bytes = keys * (shape.keyStride * keyBytes + shape.valueStride * valueBytes) + floats * 4 + 1024;
  return shape;
}

std::optional<SharedAttentionShape> SharedAttentionShape::of(const SharedAttention &attention, const Axes &axes,
                                                             const zyx::target::TargetInfo &machine, int64_t rows,
                                                             int64_t keys, int64_t threads, int64_t cluster) {
  constexpr int64_t fewestKeys = 16;
  auto isPower = [](int64_t value) { return value > 0 && llvm::isPowerOf2_64(static_cast<uint64_t>(value)); };
  if (!isPower(rows) || !isPower(keys) || !isPower(threads) || keys < fewestKeys)
    return std::nullopt;
  // Each thread has scores of one row, and nobody else has them.
  if (threads % rows != 0 || threads > rows * keys || (rows * keys) % threads != 0)
    return std::nullopt;
  SharedAttentionShape shape{};
  shape.rows = rows, shape.keys = keys, shape.threads = threads, shape.cluster = cluster;
  shape.depth = axes.extent(attention.features), shape.width = axes.extent(attention.columns);
  const int64_t keyBytes = bytesOf(attention.k), valueBytes = bytesOf(attention.v), laneBytes = machine.simt.laneBytes;
  shape.keyLanes = lanesOf(shape.depth, keyBytes, laneBytes);
  shape.valueLanes = lanesOf(shape.width, valueBytes, laneBytes);
  shape.keyStride = bankedStride(shape.depth, keyBytes, laneBytes);
  shape.valueStride = bankedStride(shape.width, valueBytes, laneBytes);
  // Larger blocks are worth more than larger tiles, and so is a second workgroup.
  auto best = shapeOf(attention, shape, /*isSmall=*/false);
  if (best && best->bytes <= machine.simt.sharedBytes / 2)
    return best;
  auto small = shapeOf(attention, shape, /*isSmall=*/true);
  return small && best && small->bytes > machine.simt.sharedBytes / 2 && best->bytes <= machine.simt.sharedBytes
             ? best
             : small;
}
