//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "AllTrips.h"
#include "Blocks.h"
#include "ContainedLoops.h"
#include "ElementLoops.h"
#include "LoopValues.h"
#include "NormalizeViews.h"

#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::fusion {
#define GEN_PASS_DEF_SIMPLIFYLOOPSPASS
#include "zyx/Fusion/Passes.h.inc"

/// What one trip may add to the memory of all: beyond that, trips are long enough by themselves.
static constexpr int64_t mostBytesOfTrip = int64_t(4) << 20;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static int64_t bytesOf(Value value) {
  return typeOf(value).getNumElements() *
         std::max<int64_t>(typeOf(value).getElementType().getIntOrFloatBitWidth() / 8, 1);
}

/// Memory that the values of all trips may take together, in relation to what the loop has anyway.
static int64_t getRoom(LoopOp loop) {
  int64_t bytes = 0;
  for (Value operand : loop->getOperands())
    bytes += bytesOf(operand);
  return std::max<int64_t>(int64_t(64) << 20, 4 * bytes);
}

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
    if (scatter.getKind() == ScatterKind::Add && zyx::fusion::isZero(loop.getInitial()[k]))
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
// Sums of all trips
//===----------------------------------------------------------------------===//

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
    if (!zyx::fusion::isZero(loop.getInitial()[position]))
      sum = BinaryOp::create(behind, loop.getLoc(), BinaryKind::Add, loop.getInitial()[position], sum);
    loop.getResult(position).replaceAllUsesWith(sum);
    remarkOn(loop, "a sum over all trips is computed behind the loop");
  }
  return loop;
}

static void simplifyLoops(func::FuncOp entry) {
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

namespace {

struct SimplifyLoops : impl::SimplifyLoopsPassBase<SimplifyLoops> {
  void runOnOperation() override {
    func::FuncOp entry = getOperation();
    // Before anything is left out of one of two loops.
    if (failed(zyx::fusion::rewriteBlocks(entry, zyx::fusion::replaceContained)))
      return signalPassFailure();
    if (!entry.isExternal() && entry.getBody().hasOneBlock())
      simplifyLoops(entry);
  }
};

} // namespace

} // namespace zyx::fusion
