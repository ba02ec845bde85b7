//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SimplifyLoops.h"

#include "ElementLoops.h"
#include "NormalizeViews.h"

#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

#include <set>

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::fusion {

/// What one trip may add to the memory of all: beyond that, trips are long enough by themselves.
static constexpr int64_t mostBytesOfTrip = int64_t(4) << 20;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static int64_t bytesOf(Value value) {
  return typeOf(value).getNumElements() *
         std::max<int64_t>(typeOf(value).getElementType().getIntOrFloatBitWidth() / 8, 1);
}

static ConstantOp getSplat(Value value) {
  while (isIndexMap(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat() ? constant : ConstantOp();
}

static bool isZero(Value value) {
  ConstantOp splat = getSplat(value);
  if (!splat)
    return false;
  Attribute element = splat.getValue().getSplatValue<Attribute>();
  if (auto real = dyn_cast<FloatAttr>(element))
    return real.getValue().isPosZero();
  auto integer = dyn_cast<IntegerAttr>(element);
  return integer && integer.getValue().isZero();
}

static Value makeZeros(OpBuilder &builder, Location loc, RankedTensorType type) {
  return ConstantOp::create(builder, loc, type, cast<DenseElementsAttr>(builder.getZeroAttr(type)));
}

/// Memory that the values of all trips may take together, in relation to what the loop has anyway.
static int64_t getRoom(LoopOp loop) {
  int64_t bytes = 0;
  for (Value operand : loop->getOperands())
    bytes += bytesOf(operand);
  return std::max<int64_t>(int64_t(64) << 20, 4 * bytes);
}

static bool isKnown(LoopOp loop) {
  return loop.getTripsAttr() && loop.getTripsAttr().getInt() >= 2 && !loop->hasAttr(oneKernelAttrName);
}

static Operation *yieldOf(LoopOp loop) { return loop.getBlock().getTerminator(); }

static LoopOp replaceLoop(LoopOp from, LoopOp to) {
  for (auto [old, result] : llvm::zip(from.getResults(), to.getResults()))
    old.replaceAllUsesWith(result);
  from.erase();
  return to;
}

static LoopOp addInvariant(LoopOp loop, Value outside, BlockArgument &argument) {
  SmallVector<Value> invariants(loop.getInvariants());
  invariants.push_back(outside);
  LoopOp made = moveBody(loop, loop.getInitial(), invariants);
  argument = made.getBlock().addArgument(outside.getType(), outside.getLoc());
  return replaceLoop(loop, made);
}

/// One more carried value, for which the caller makes what is yielded.
static LoopOp addCarried(LoopOp loop, Value initial, llvm::function_ref<Value(OpBuilder &, BlockArgument)> makeNext) {
  SmallVector<Value> initials(loop.getInitial());
  initials.push_back(initial);
  LoopOp made = moveBody(loop, initials, loop.getInvariants());
  Block &block = made.getBlock();
  BlockArgument argument =
      block.insertArgument(static_cast<unsigned>(initials.size()), initial.getType(), initial.getLoc());
  OpBuilder builder(block.getTerminator());
  Value next = makeNext(builder, argument);
  block.getTerminator()->insertOperands(block.getTerminator()->getNumOperands(), next);
  return replaceLoop(loop, made);
}

//===----------------------------------------------------------------------===//
// Numbers of the trip
//===----------------------------------------------------------------------===//

/// constant + step * trip
struct TripNumber {
  int64_t constant, step;
};

static std::optional<TripNumber> asNumber(Value value) {
  constexpr int64_t largest = int64_t(1) << 31;
  if (typeOf(value).getNumElements() != 1 || !typeOf(value).getElementType().isSignlessInteger(64))
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() == 0 ? std::optional(TripNumber{0, 1}) : std::nullopt;
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    const int64_t number = constant.getValue().getSplatValue<APInt>().getSExtValue();
    return std::abs(number) < largest ? std::optional(TripNumber{number, 0}) : std::nullopt;
  }
  if (isa<ReshapeOp>(op))
    return asNumber(op->getOperand(0));
  auto binary = dyn_cast<BinaryOp>(op);
  if (!binary || (binary.getKind() != BinaryKind::Add && binary.getKind() != BinaryKind::Sub))
    return std::nullopt;
  std::optional<TripNumber> a = asNumber(binary.getA()), b = asNumber(binary.getB());
  if (!a || !b)
    return std::nullopt;
  const int64_t sign = binary.getKind() == BinaryKind::Add ? 1 : -1;
  return TripNumber{a->constant + sign * b->constant, a->step + sign * b->step};
}

/// The number of a row that each trip has for itself, one behind the other.
static std::optional<TripNumber> asRow(Value value) {
  std::optional<TripNumber> number = asNumber(value);
  return number && std::abs(number->step) == 1 ? number : std::nullopt;
}

//===----------------------------------------------------------------------===//
// What is carried without need
//===----------------------------------------------------------------------===//

/// A row that is read before it is written was never written.
static LoopOp readInitialRows(LoopOp loop) {
  for (unsigned k = 0; k < loop.getInitial().size(); ++k) {
    BlockArgument argument = loop.getBlock().getArgument(k + 1);
    auto scatter = yieldOf(loop)->getOperand(k).getDefiningOp<ScatterOp>();
    if (!scatter || scatter.getX() != argument || scatter.getUpdates() == argument || !asRow(scatter.getIndices()))
      continue;
    SmallVector<GatherOp> gathers;
    bool isRows = true;
    for (OpOperand &use : argument.getUses()) {
      auto gather = dyn_cast<GatherOp>(use.getOwner());
      if (use.getOwner() == scatter)
        continue;
      isRows &= gather && gather.getX() == argument && gather.getIndices() == scatter.getIndices() &&
                gather.getDim() == scatter.getDim();
      gathers.push_back(gather);
    }
    if (!isRows)
      continue;
    if (!gathers.empty()) {
      BlockArgument invariant;
      loop = addInvariant(loop, loop.getInitial()[k], invariant);
      for (GatherOp gather : gathers)
        gather.getXMutable().assign(invariant);
    }
    // Zero and what is added to it.
    if (scatter.getKind() == ScatterKind::Add && isZero(loop.getInitial()[k]))
      scatter.setKind(ScatterKind::Set);
  }
  return loop;
}

/// Leaves out what nobody reads in the end; and what stays as it is becomes an invariant. Null where nothing is left.
static LoopOp dropCarried(LoopOp loop) {
  const unsigned size = loop.getInitial().size();
  for (unsigned k = 0; k < size; ++k)
    if (yieldOf(loop)->getOperand(k) == loop.getBlock().getArgument(k + 1))
      loop.getResult(k).replaceAllUsesWith(loop.getInitial()[k]);
  SmallVector<bool> isLive(size);
  DenseSet<Value> seen;
  std::function<void(Value)> follow = [&](Value value) {
    if (!seen.insert(value).second)
      return;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      const unsigned number = argument.getArgNumber();
      if (argument.getOwner() == &loop.getBlock() && number >= 1 && number <= size && !isLive[number - 1]) {
        isLive[number - 1] = true;
        follow(yieldOf(loop)->getOperand(number - 1));
      }
      return;
    }
    for (Value operand : value.getDefiningOp()->getOperands())
      follow(operand);
  };
  for (unsigned k = 0; k < size; ++k)
    if (!loop.getResult(k).use_empty() && !isLive[k]) {
      isLive[k] = true;
      follow(yieldOf(loop)->getOperand(k));
    }
  auto isKept = [&](unsigned k) { return yieldOf(loop)->getOperand(k) == loop.getBlock().getArgument(k + 1); };
  bool changes = false, hasAny = false;
  for (unsigned k = 0; k < size; ++k) {
    changes |= !isLive[k] || isKept(k);
    hasAny |= isLive[k] && !isKept(k);
  }
  if (!changes)
    return loop;
  if (!hasAny) {
    if (llvm::any_of(loop.getResults(), [](Value result) { return !result.use_empty(); }))
      return loop;
    loop.erase();
    return {};
  }
  SmallVector<Value> initial, invariants(loop.getInvariants());
  SmallVector<OpResult> results;
  Block &block = loop.getBlock();
  llvm::BitVector erased(block.getNumArguments()), unyielded(size);
  SmallVector<Value> yielded(yieldOf(loop)->getOperands());
  SmallVector<unsigned> kept;
  for (unsigned k = 0; k < size; ++k) {
    if (isLive[k] && !isKept(k)) {
      initial.push_back(loop.getInitial()[k]);
      results.push_back(loop->getResult(k));
      continue;
    }
    unyielded.set(k);
    erased.set(k + 1);
    if (isLive[k])
      kept.push_back(k);
  }
  for (unsigned k : kept)
    invariants.push_back(loop.getInitial()[k]);
  SmallVector<Value> keptInitial;
  LoopOp made = moveBody(loop, initial, invariants);
  Operation *yield = made.getBlock().getTerminator();
  yield->eraseOperands(unyielded);
  for (unsigned k : kept) {
    BlockArgument old = made.getBlock().getArgument(k + 1);
    old.replaceAllUsesWith(made.getBlock().addArgument(old.getType(), old.getLoc()));
    erased.resize(made.getBlock().getNumArguments());
  }
  eraseUnused(made.getBlock());
  made.getBlock().eraseArguments(erased);
  for (auto [old, result] : llvm::zip_equal(results, made.getResults()))
    old.replaceAllUsesWith(result);
  loop.erase();
  return made;
}

//===----------------------------------------------------------------------===//
// Loops in loops' places
//===----------------------------------------------------------------------===//

namespace {

/// Whether all that one loop carries another one carries, too: pairs of carried values that begin alike, and that go on
/// alike as long as all pairs are alike.
class Containment {
public:
  Containment(LoopOp inner, LoopOp outer) : inner(inner), outer(outer) {}

  /// By carried value of the inner one that of the outer one.
  std::optional<SmallVector<unsigned>> find() {
    for (unsigned i = 0; i < inner.getInitial().size(); ++i)
      for (unsigned j = 0; j < outer.getInitial().size(); ++j)
        if (isSame(inner.getInitial()[i], outer.getInitial()[j]))
          pairs.insert({i, j});
    for (bool changed = true; changed;) {
      changed = false;
      known.clear();
      for (auto pair = pairs.begin(); pair != pairs.end();)
        if (isAlike(yieldOf(inner)->getOperand(pair->first), yieldOf(outer)->getOperand(pair->second))) {
          ++pair;
        } else {
          pair = pairs.erase(pair);
          changed = true;
        }
    }
    SmallVector<unsigned> result;
    for (unsigned i = 0; i < inner.getInitial().size(); ++i) {
      auto found = pairs.lower_bound({i, 0});
      if (found == pairs.end() || found->first != i)
        return std::nullopt;
      result.push_back(found->second);
    }
    return result;
  }

private:
  static bool isSame(Value a, Value b) {
    if (a == b)
      return true;
    ConstantOp x = getSplat(a), y = getSplat(b);
    return a.getType() == b.getType() && x && y &&
           x.getValue().getSplatValue<Attribute>() == y.getValue().getSplatValue<Attribute>();
  }

  bool isAlike(Value a, Value b) {
    auto [entry, isNew] = known.try_emplace({a, b}, false);
    if (!isNew)
      return entry->second;
    const bool result = compare(a, b);
    return known[{a, b}] = result;
  }

  bool compare(Value a, Value b) {
    if (a.getType() != b.getType())
      return false;
    auto x = dyn_cast<BlockArgument>(a), y = dyn_cast<BlockArgument>(b);
    if (x || y) {
      if (!x || !y || x.getOwner() != &inner.getBlock() || y.getOwner() != &outer.getBlock())
        return false;
      const unsigned i = x.getArgNumber(), j = y.getArgNumber();
      const unsigned numInner = inner.getInitial().size(), numOuter = outer.getInitial().size();
      if (i == 0 || j == 0)
        return i == j;
      if (i <= numInner && j <= numOuter)
        return pairs.count({i - 1, j - 1}) != 0;
      return i > numInner && j > numOuter &&
             isSame(inner.getInvariants()[i - 1 - numInner], outer.getInvariants()[j - 1 - numOuter]);
    }
    Operation *p = a.getDefiningOp(), *q = b.getDefiningOp();
    return p->getName() == q->getName() && p->getNumRegions() == 0 && p->getNumResults() == 1 &&
           p->getNumOperands() == q->getNumOperands() && p->getAttrDictionary() == q->getAttrDictionary() &&
           p->getPropertiesAsAttribute() == q->getPropertiesAsAttribute() &&
           llvm::all_of(llvm::zip_equal(p->getOperands(), q->getOperands()),
                        [&](auto both) { return isAlike(std::get<0>(both), std::get<1>(both)); });
  }

  LoopOp inner, outer;
  std::set<std::pair<unsigned, unsigned>> pairs;
  DenseMap<std::pair<Value, Value>, bool> known;
};

} // namespace

static bool reaches(Operation *from, Operation *to, DenseSet<Operation *> &seen) {
  if (from == to)
    return true;
  return seen.insert(from).second &&
         llvm::any_of(from->getUsers(), [&](Operation *user) { return reaches(user, to, seen); });
}

/// A gradient evaluates a loop again, and stores what it carried: what is done twice is done once.
static void replaceContained(Block &block) {
  for (bool changed = true; std::exchange(changed, false);) {
    SmallVector<LoopOp> loops(llvm::make_filter_range(block.getOps<LoopOp>(), isKnown));
    for (LoopOp inner : loops) {
      for (LoopOp outer : loops) {
        DenseSet<Operation *> ahead, behind;
        if (inner == outer || inner.getTripsAttr() != outer.getTripsAttr() ||
            inner.getInitial().size() > outer.getInitial().size() || reaches(inner, outer, ahead) ||
            reaches(outer, inner, behind))
          continue;
        std::optional<SmallVector<unsigned>> found = Containment(inner, outer).find();
        if (!found)
          continue;
        for (auto [result, position] : llvm::zip_equal(inner.getResults(), *found))
          result.replaceAllUsesWith(outer.getResult(position));
        inner.erase();
        sortTopologically(&block);
        changed = true;
        break;
      }
      if (changed)
        break;
    }
  }
}

//===----------------------------------------------------------------------===//
// All trips at once
//===----------------------------------------------------------------------===//

namespace {

/// Values of a body for all trips, in front of a loop or behind it: with one dimension more in front, where they differ
/// from trip to trip. Trip t is row t, or the rows are those of the trips from the last one on.
class AllTrips {
public:
  AllTrips(LoopOp loop, OpBuilder &builder, bool isReversed)
      : loop(loop), builder(builder), trips(loop.getTripsAttr().getInt()), isReversed(isReversed) {}

  struct Known {
    Value value;
    bool isEach;
  };

  /// Null where that is not known.
  std::optional<Known> get(Value value);
  /// With the dimension in any case.
  Value getEach(Value value);
  /// What is known of a value that a loop carries or makes.
  void set(Value value, Value all) { known[value] = Known{all, true}; }
  Value spread(Value value);

private:
  std::optional<Known> compute(Operation *op);
  std::optional<Known> gather(GatherOp gather);
  Value clone(Operation *op, ValueRange operands, Type type) {
    Operation *made = builder.clone(*op);
    made->setOperands(operands);
    made->getResult(0).setType(type);
    return made->getResult(0);
  }
  RankedTensorType withTrips(Value value) const {
    SmallVector<int64_t> shape{trips};
    llvm::append_range(shape, typeOf(value).getShape());
    return RankedTensorType::get(shape, typeOf(value).getElementType());
  }

  LoopOp loop;
  OpBuilder &builder;
  int64_t trips;
  bool isReversed;
  DenseMap<Value, std::optional<Known>> known;
};

} // namespace

Value AllTrips::spread(Value value) {
  SmallVector<int64_t> shape{1};
  llvm::append_range(shape, typeOf(value).getShape());
  Type element = typeOf(value).getElementType();
  Value row = ReshapeOp::create(builder, value.getLoc(), RankedTensorType::get(shape, element), value);
  shape[0] = trips;
  return ExpandOp::create(builder, value.getLoc(), RankedTensorType::get(shape, element), row);
}

Value AllTrips::getEach(Value value) {
  std::optional<Known> all = get(value);
  return !all ? Value() : all->isEach ? all->value : spread(all->value);
}

std::optional<AllTrips::Known> AllTrips::get(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  std::optional<Known> result;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const unsigned number = argument.getArgNumber(), first = 1 + loop.getInitial().size();
    if (number >= first)
      result = Known{loop.getInvariants()[number - first], false};
    else if (number == 0) {
      auto type = RankedTensorType::get({trips}, builder.getI64Type());
      Value all = IotaOp::create(builder, loop.getLoc(), type, builder.getI64IntegerAttr(0));
      if (isReversed)
        all = FlipOp::create(builder, loop.getLoc(), all, ArrayRef<int64_t>{0});
      result = Known{all, true};
    }
  } else {
    result = compute(value.getDefiningOp());
  }
  known[value] = result;
  return result;
}

/// Rows that the trip's number chooses are a slice.
std::optional<AllTrips::Known> AllTrips::gather(GatherOp gather) {
  std::optional<Known> x = get(gather.getX());
  std::optional<TripNumber> row = asRow(gather.getIndices());
  Location loc = gather.getLoc();
  if (x && !x->isEach && row) {
    const int64_t dim = gather.getDim(), extent = typeOf(x->value).getShape()[dim];
    const int64_t last = row->constant + row->step * (trips - 1);
    const int64_t low = std::min(row->constant, last), high = std::max(row->constant, last);
    if (low < 0 || high >= extent)
      return std::nullopt;
    Value rows = x->value;
    if (low != 0 || high != extent - 1) {
      const size_t rank = typeOf(rows).getRank();
      SmallVector<int64_t> before(rank), after(rank), none(rank);
      before[dim] = -low;
      after[dim] = high + 1 - extent;
      Value fill = makeZeros(builder, loc, RankedTensorType::get({}, typeOf(rows).getElementType()));
      rows = PadOp::create(builder, loc, rows, fill, before, after, none);
    }
    if ((row->step < 0) != isReversed)
      rows = FlipOp::create(builder, loc, rows, ArrayRef<int64_t>{dim});
    if (dim != 0) {
      SmallVector<int64_t> order{dim};
      for (int64_t d = 0, rank = typeOf(rows).getRank(); d < rank; ++d)
        if (d != dim)
          order.push_back(d);
      rows = PermuteOp::create(builder, loc, rows, order);
    }
    // An index of several dimensions of extent 1.
    if (typeOf(rows) != withTrips(gather))
      rows = ReshapeOp::create(builder, loc, withTrips(gather), rows);
    return Known{rows, true};
  }
  std::optional<Known> indices = get(gather.getIndices());
  if (!x || !indices)
    return std::nullopt;
  if (!x->isEach && !indices->isEach)
    return Known{GatherOp::create(builder, loc, x->value, indices->value, builder.getI64IntegerAttr(gather.getDim())),
                 false};
  if (x->isEach && !indices->isEach)
    return Known{
        GatherOp::create(builder, loc, x->value, indices->value, builder.getI64IntegerAttr(gather.getDim() + 1)), true};
  if (x->isEach || gather.getDim() != 0)
    return std::nullopt;
  return Known{GatherOp::create(builder, loc, x->value, indices->value, builder.getI64IntegerAttr(0)), true};
}

std::optional<AllTrips::Known> AllTrips::compute(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || isa<ScatterOp, WindowOp, RandomBitsOp, TransferOp>(op))
    return std::nullopt;
  if (auto taken = dyn_cast<GatherOp>(op))
    return gather(taken);
  SmallVector<Known> operands;
  bool isEach = false;
  for (Value operand : op->getOperands()) {
    std::optional<Known> all = get(operand);
    if (!all)
      return std::nullopt;
    isEach |= all->isEach;
    operands.push_back(*all);
  }
  Value result = op->getResult(0);
  if (!isEach) {
    SmallVector<Value> values;
    for (const Known &operand : operands)
      values.push_back(operand.value);
    return Known{clone(op, values, result.getType()), false};
  }
  RankedTensorType type = withTrips(result);
  Location loc = op->getLoc();
  if (isElementwise(op)) {
    SmallVector<Value> values;
    for (const Known &operand : operands)
      values.push_back(operand.isEach ? operand.value : spread(operand.value));
    return Known{clone(op, values, type), true};
  }
  Value x = operands[0].value;
  if (!operands[0].isEach)
    return std::nullopt;
  auto behind = [](ArrayRef<int64_t> dims) { return llvm::map_to_vector(dims, [](int64_t dim) { return dim + 1; }); };
  if (isa<ReshapeOp, ExpandOp>(op))
    return Known{clone(op, x, type), true};
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    SmallVector<int64_t> order{0};
    llvm::append_range(order, behind(permute.getOrder()));
    return Known{PermuteOp::create(builder, loc, x, order), true};
  }
  if (auto flip = dyn_cast<FlipOp>(op))
    return Known{FlipOp::create(builder, loc, x, behind(flip.getDims())), true};
  if (auto pad = dyn_cast<PadOp>(op)) {
    if (operands[1].isEach)
      return std::nullopt;
    auto with = [](ArrayRef<int64_t> all) {
      SmallVector<int64_t> result{0};
      llvm::append_range(result, all);
      return result;
    };
    return Known{PadOp::create(builder, loc, x, operands[1].value, with(pad.getLow()), with(pad.getHigh()),
                               with(pad.getInterior())),
                 true};
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return Known{ReduceOp::create(builder, loc, reduce.getKind(), x, behind(reduce.getDims())), true};
  return std::nullopt;
}

/// Whether most rows that the body reads come from the last one on.
static bool isBackward(LoopOp loop) {
  int forward = 0, backward = 0;
  for (auto gather : loop.getBlock().getOps<GatherOp>())
    if (std::optional<TripNumber> row = asRow(gather.getIndices()))
      ++(row->step < 0 ? backward : forward);
  return backward > forward;
}

static Value makeRowNumber(OpBuilder &builder, LoopOp loop, bool isReversed) {
  Value trip = loop.getBlock().getArgument(0);
  if (!isReversed)
    return trip;
  auto type = cast<RankedTensorType>(trip.getType());
  const int64_t last = loop.getTripsAttr().getInt() - 1;
  Value end = ConstantOp::create(builder, loop.getLoc(), type,
                                 DenseElementsAttr::get(type, Attribute(builder.getI64IntegerAttr(last))));
  return BinaryOp::create(builder, loop.getLoc(), BinaryKind::Sub, end, trip);
}

static DenseSet<Value> findCarriedDependent(LoopOp loop) {
  DenseSet<Value> dependent;
  for (BlockArgument argument : loop.getBlock().getArguments().slice(1, loop.getInitial().size()))
    dependent.insert(argument);
  for (Operation &op : loop.getBlock().without_terminator())
    if (op.getNumRegions() != 0 || llvm::any_of(op.getOperands(), [&](Value v) { return dependent.contains(v); }))
      dependent.insert(op.result_begin(), op.result_end());
  return dependent;
}

static void remarkOn(LoopOp loop, const Twine &text) {
  remark::passed(loop.getLoc(), remark::RemarkOpts::name("SimplifyLoops").category("zyx-fusion")) << text.str();
}

/// Reductions of what no trip carries leave the loop, which then reads a row of their results.
static LoopOp hoistReductions(LoopOp loop) {
  const int64_t trips = loop.getTripsAttr().getInt();
  const bool isReversed = isBackward(loop);
  SmallVector<Operation *> reduces;
  DenseSet<Value> dependent = findCarriedDependent(loop);
  for (auto reduce : loop.getBlock().getOps<ReduceOp>())
    if (!dependent.contains(reduce) && typeOf(reduce.getX()).getNumElements() > typeOf(reduce).getNumElements() &&
        bytesOf(reduce) <= mostBytesOfTrip)
      reduces.push_back(reduce);
  int64_t room = getRoom(loop);
  for (Operation *reduce : llvm::reverse(reduces)) {
    // What only reductions behind it read is gone with them.
    eraseUnused(loop.getBlock());
    if (!llvm::is_contained(llvm::map_range(loop.getBlock(), [](Operation &op) { return &op; }), reduce))
      continue;
    const int64_t bytes = bytesOf(reduce->getResult(0)) * trips;
    if (bytes > room)
      continue;
    OpBuilder builder(loop);
    AllTrips all(loop, builder, isReversed);
    std::optional<AllTrips::Known> made = all.get(reduce->getResult(0));
    if (!made)
      continue;
    room -= bytes;
    BlockArgument argument;
    Value outside = made->value;
    const bool isEach = made->isEach;
    loop = addInvariant(loop, outside, argument);
    OpBuilder inside(reduce);
    Value row = argument;
    if (isEach)
      row = GatherOp::create(inside, reduce->getLoc(), argument, makeRowNumber(inside, loop, isReversed),
                             inside.getI64IntegerAttr(0));
    reduce->getResult(0).replaceAllUsesWith(row);
    remarkOn(loop, "a reduction of what no trip carries is computed for all trips at once");
  }
  eraseUnused(loop.getBlock());
  return loop;
}

namespace {
/// What a carried sum adds in each trip: a value, or the sum of it along dimensions, seen through views.
struct Summand {
  Value value;
  SmallVector<int64_t> dims;
  /// From the sum on.
  SmallVector<Operation *> views;
};
} // namespace

static std::optional<Summand> findSummand(LoopOp loop, unsigned position) {
  BlockArgument argument = loop.getBlock().getArgument(position + 1);
  auto sum = yieldOf(loop)->getOperand(position).getDefiningOp<BinaryOp>();
  if (!sum || sum.getKind() != BinaryKind::Add || !argument.hasOneUse() || !sum->hasOneUse() ||
      (sum.getA() != argument && sum.getB() != argument))
    return std::nullopt;
  Summand result;
  result.value = sum.getA() == argument ? sum.getB() : sum.getA();
  while (isa_and_nonnull<ReshapeOp, PermuteOp>(result.value.getDefiningOp())) {
    result.views.push_back(result.value.getDefiningOp());
    result.value = result.value.getDefiningOp()->getOperand(0);
  }
  auto reduce = result.value.getDefiningOp<ReduceOp>();
  if (reduce && reduce.getKind() == ReduceKind::Add) {
    result.value = reduce.getX();
    result.dims.assign(reduce.getDims().begin(), reduce.getDims().end());
  }
  return result;
}

/// What of a reduction's operand has to be kept of each trip: the factors of a product, without their repetition.
static void findSources(Value value, bool mayMultiply, const DenseSet<Value> &dependent,
                        SmallVectorImpl<Value> &sources) {
  if (!dependent.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<ReshapeOp, ExpandOp, PermuteOp, FlipOp>(op) || isWidening(op))
    return findSources(op->getOperand(0), mayMultiply, dependent, sources);
  auto product = dyn_cast_or_null<BinaryOp>(op);
  if (mayMultiply && product && product.getKind() == BinaryKind::Mul) {
    findSources(product.getA(), false, dependent, sources);
    findSources(product.getB(), false, dependent, sources);
    return;
  }
  if (!llvm::is_contained(sources, value))
    sources.push_back(value);
}

/// The carried tensor of which each trip sets its own row to a value, all of them together.
static std::optional<unsigned> findRowsOf(LoopOp loop, Value value, bool isReversed) {
  const int64_t trips = loop.getTripsAttr().getInt();
  for (auto [k, yielded] : llvm::enumerate(yieldOf(loop)->getOperands())) {
    auto scatter = yielded.getDefiningOp<ScatterOp>();
    if (!scatter || scatter.getKind() != ScatterKind::Set || scatter.getUpdates() != value || scatter.getDim() != 0 ||
        scatter.getX() != loop.getBlock().getArgument(k + 1) || typeOf(scatter).getShape()[0] != trips ||
        typeOf(scatter.getIndices()).getRank() != 0)
      continue;
    std::optional<TripNumber> row = asRow(scatter.getIndices());
    if (row && (row->step < 0) == isReversed && row->constant == (isReversed ? trips - 1 : 0))
      return k;
  }
  return std::nullopt;
}

/// A sum over all trips that no trip reads is one reduction behind the loop, of what the trips leave.
static LoopOp sinkSums(LoopOp loop) {
  const int64_t trips = loop.getTripsAttr().getInt();
  const bool isReversed = isBackward(loop);
  int64_t room = getRoom(loop);
  for (unsigned position = 0; position < loop.getInitial().size(); ++position) {
    std::optional<Summand> summand = findSummand(loop, position);
    if (!summand || loop.getResult(position).use_empty())
      continue;
    const DenseSet<Value> dependent = findCarriedDependent(loop);
    SmallVector<Value> sources;
    findSources(summand->value, true, dependent, sources);
    int64_t bytes = 0;
    // The sum of what is not repeated along anything is as cheap in the loop, unless its rows are there anyway.
    bool isKnown = !summand->dims.empty() || !llvm::is_contained(sources, summand->value) ||
                   findRowsOf(loop, summand->value, isReversed);
    for (Value source : sources) {
      isKnown &= !isa<BlockArgument>(source);
      bytes += findRowsOf(loop, source, isReversed) ? 0 : bytesOf(source);
    }
    if (!isKnown || bytes > mostBytesOfTrip || bytes * trips > room)
      continue;
    // A trial: all but what depends on carried values must be known in front.
    {
      OpBuilder scratch(loop);
      Operation *before = loop->getPrevNode();
      AllTrips all(loop, scratch, isReversed);
      for (Value source : sources) {
        SmallVector<int64_t> shape{trips};
        llvm::append_range(shape, typeOf(source).getShape());
        all.set(source,
                makeZeros(scratch, loop.getLoc(), RankedTensorType::get(shape, typeOf(source).getElementType())));
      }
      const bool works = static_cast<bool>(all.getEach(summand->value));
      while (loop->getPrevNode() != before)
        loop->getPrevNode()->erase();
      if (!works)
        continue;
    }
    room -= bytes * trips;
    SmallVector<unsigned> rows;
    for (Value source : sources) {
      std::optional<unsigned> kept = findRowsOf(loop, source, isReversed);
      if (!kept) {
        SmallVector<int64_t> shape{trips};
        llvm::append_range(shape, typeOf(source).getShape());
        OpBuilder front(loop);
        Value zeros = makeZeros(front, loop.getLoc(), RankedTensorType::get(shape, typeOf(source).getElementType()));
        kept = loop.getInitial().size();
        loop = addCarried(loop, zeros, [&](OpBuilder &builder, BlockArgument argument) -> Value {
          auto around = cast<LoopOp>(argument.getOwner()->getParentOp());
          return ScatterOp::create(builder, around.getLoc(), argument.getType(), ScatterKind::Set, argument,
                                   makeRowNumber(builder, around, isReversed), source, builder.getI64IntegerAttr(0));
        });
      }
      rows.push_back(*kept);
    }
    OpBuilder behind(loop);
    behind.setInsertionPointAfter(loop);
    AllTrips all(loop, behind, isReversed);
    for (auto [source, row] : llvm::zip_equal(sources, rows))
      all.set(source, loop.getResult(row));
    SmallVector<int64_t> dims{0};
    for (int64_t dim : summand->dims)
      dims.push_back(dim + 1);
    Value x = all.getEach(summand->value);
    Value sum = ReduceOp::create(behind, loop.getLoc(), ReduceKind::Add, x, dims);
    for (Operation *view : llvm::reverse(summand->views)) {
      Operation *made = behind.clone(*view);
      made->setOperands(sum);
      sum = made->getResult(0);
    }
    if (!isZero(loop.getInitial()[position]))
      sum = BinaryOp::create(behind, loop.getLoc(), BinaryKind::Add, loop.getInitial()[position], sum);
    loop.getResult(position).replaceAllUsesWith(sum);
    remarkOn(loop, "a sum over all trips is computed behind the loop");
  }
  return loop;
}

void simplifyLoops(func::FuncOp entry) {
  // Before anything is left out of one of two loops.
  for (Block *block : getBlocks(entry))
    replaceContained(*block);
  SmallVector<LoopOp> loops;
  entry.walk([&](LoopOp loop) { loops.push_back(loop); });
  for (LoopOp loop : loops) {
    if (!isKnown(loop))
      continue;
    loop = readInitialRows(loop);
    dropCarried(loop);
  }
  loops.clear();
  entry.walk([&](LoopOp loop) { loops.push_back(loop); });
  for (LoopOp loop : loops) {
    if (!isKnown(loop) || ElementLoop::analyse(loop))
      continue;
    loop = hoistReductions(loop);
    loop = sinkSums(loop);
    dropCarried(loop);
  }
}

} // namespace zyx::fusion
