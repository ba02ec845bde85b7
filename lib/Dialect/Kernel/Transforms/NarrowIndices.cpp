//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_NARROWINDICESPASS
#include "zyx/Dialect/Kernel/Transforms/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Numbers from 0 on.
ConstantIntRanges below(int64_t end) {
  constexpr unsigned bits = IndexType::kInternalStorageBitWidth;
  return ConstantIntRanges::fromUnsigned(APInt(bits, 0),
                                         APInt(bits, static_cast<uint64_t>(std::max<int64_t>(end, 1) - 1)));
}

constexpr int64_t end32 = int64_t(1) << 31;

/// Ranges of integers, with what the indices of programs and the numbers of threads are.
class Ranges : public dataflow::IntegerRangeAnalysis {
public:
  /// With `onlyNarrow` whoever launches a kernel promises that its scalars have 32 bits.
  Ranges(DataFlowSolver &solver, bool onlyNarrow) : IntegerRangeAnalysis(solver), onlyNarrow(onlyNarrow) {}

  void setToEntryState(dataflow::IntegerValueRangeLattice *lattice) override {
    auto argument = dyn_cast<BlockArgument>(lattice->getAnchor());
    if (!onlyNarrow || !argument || !argument.getType().isIndex() || !isa<FuncOp>(argument.getOwner()->getParentOp()))
      return IntegerRangeAnalysis::setToEntryState(lattice);
    constexpr unsigned bits = IndexType::kInternalStorageBitWidth;
    propagateIfChanged(lattice,
                       lattice->join(IntegerValueRange(ConstantIntRanges::fromSigned(
                           APInt::getSignedMinValue(32).sext(bits), APInt::getSignedMaxValue(32).sext(bits)))));
  }

  LogicalResult visitOperation(Operation *op, ArrayRef<const dataflow::IntegerValueRangeLattice *> operands,
                               ArrayRef<dataflow::IntegerValueRangeLattice *> results) override {
    auto id = dyn_cast<IdOp>(op);
    if (!id || !isOfThreads(id.getKind()))
      return IntegerRangeAnalysis::visitOperation(op, operands, results);
    const auto threads = static_cast<int64_t>(op->getParentOfType<FuncOp>().getThreads().value_or(1));
    // There may be as many subgroups as threads.
    const int64_t end = threads + (id.getKind() == IdKind::NumSubgroups);
    propagateIfChanged(results[0], results[0]->join(IntegerValueRange(below(end))));
    return success();
  }

  void visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor,
                                    ArrayRef<dataflow::IntegerValueRangeLattice *> arguments,
                                    unsigned firstIndex) override {
    auto grid = dyn_cast<GridOp>(op);
    if (!grid)
      return IntegerRangeAnalysis::visitNonControlFlowArguments(op, successor, arguments, firstIndex);
    for (auto [extent, argument] : llvm::zip_equal(grid.getStaticExtents(), arguments)) {
      if (ShapedType::isDynamic(extent) && !onlyNarrow)
        setToEntryState(argument);
      else
        propagateIfChanged(argument,
                           argument->join(IntegerValueRange(below(ShapedType::isDynamic(extent) ? end32 : extent))));
    }
  }

private:
  static bool isOfThreads(IdKind kind) {
    return kind == IdKind::Thread || kind == IdKind::Lane || kind == IdKind::Subgroup || kind == IdKind::NumSubgroups;
  }

  const bool onlyNarrow;
};

/// What the solver knows; of what is never reached, nothing.
IntegerValueRange rangeOf(Value value, DataFlowSolver &solver) {
  const auto *state = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
  return state ? state->getValue() : IntegerValueRange();
}

/// Also what has no range yet: it is never reached.
bool isNarrow(const IntegerValueRange &range) {
  return range.isUninitialized() ||
         (range.getValue().smin().isSignedIntN(32) && range.getValue().smax().isSignedIntN(32));
}

/// An index that a loop carries is anything to the solver, which does not count trips. Here they are counted: what is
/// yielded is computed of ranges, trip for trip.
class Carried {
public:
  Carried(scf::ForOp loop, unsigned place, DataFlowSolver &solver)
      : ends{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}, argument(loop.getRegionIterArg(place)),
        init(loop.getInitArgs()[place]), yielded(loop.getYieldedValues()[place]), solver(solver) {}

  /// Of the argument and the result. Where sums and choices alone lead to what is yielded, the range grows by no more
  /// in a trip than in the one before, and trips that are not followed count as the last that is.
  std::optional<ConstantIntRanges> bound() const {
    const std::optional<int64_t> trips = mostTrips();
    IntegerValueRange reached = rangeOf(init, solver);
    if (!trips || reached.isUninitialized() || !isNarrow(reached))
      return std::nullopt;
    for (int64_t trip = 0; trip < *trips; ++trip) {
      unsigned slope = 0;
      const IntegerValueRange next = IntegerValueRange::join(reached, evaluate(yielded, reached, slope, mostOps));
      if (next.isUninitialized() || !isNarrow(next))
        return std::nullopt;
      if (next == reached)
        break;
      const ConstantIntRanges &from = reached.getValue(), &to = next.getValue();
      if (trip == mostFollowed) {
        if (slope > 1)
          return std::nullopt;
        const int64_t left = *trips - trip;
        int64_t down = 0, up = 0;
        if (llvm::MulOverflow((from.smin() - to.smin()).getSExtValue(), left, down) ||
            llvm::MulOverflow((to.smax() - from.smax()).getSExtValue(), left, up))
          return std::nullopt;
        const int64_t low = from.smin().getSExtValue() - down, high = from.smax().getSExtValue() + up;
        if (!llvm::isInt<32>(low) || !llvm::isInt<32>(high))
          return std::nullopt;
        return ConstantIntRanges::fromSigned(APInt(bits, static_cast<uint64_t>(low)),
                                             APInt(bits, static_cast<uint64_t>(high)));
      }
      reached = next;
    }
    return reached.getValue();
  }

private:
  static constexpr unsigned bits = IndexType::kInternalStorageBitWidth;
  /// Trips, and ops one behind the other.
  static constexpr int64_t mostFollowed = 40;
  static constexpr unsigned mostOps = 6, steep = 1 << 16;

  std::optional<int64_t> mostTrips() const {
    SmallVector<ConstantIntRanges> ranges;
    for (Value end : ends) {
      const IntegerValueRange range = rangeOf(end, solver);
      if (range.isUninitialized() || !end.getType().isIndex() || !isNarrow(range))
        return std::nullopt;
      ranges.push_back(range.getValue());
    }
    const int64_t step = ranges[2].smin().getSExtValue();
    if (step < 1)
      return std::nullopt;
    const int64_t length = ranges[1].smax().getSExtValue() - ranges[0].smin().getSExtValue();
    return llvm::divideCeilSigned(std::max<int64_t>(length, 0), step);
  }

  /// Where the argument has that range. `slope`: how much more the result can be for an argument that is one more.
  IntegerValueRange evaluate(Value value, const IntegerValueRange &range, unsigned &slope, unsigned depth) const {
    slope = value == argument;
    if (value == argument)
      return range;
    const IntegerValueRange known = rangeOf(value, solver);
    auto op = value.getDefiningOp<InferIntRangeInterface>();
    if (!value.getType().isIndex() || isNarrow(known) || !op || op->getNumResults() != 1 || depth == 0)
      return known;
    SmallVector<IntegerValueRange> operands;
    SmallVector<unsigned> slopes;
    for (Value operand : op->getOperands())
      operands.push_back(evaluate(operand, range, slopes.emplace_back(), depth - 1));
    IntegerValueRange result;
    op.inferResultRangesFromOptional(operands, [&](Value, const IntegerValueRange &of) { result = of; });
    if (isa<arith::AddIOp>(op))
      slope = slopes[0] + slopes[1];
    else if (isa<arith::SelectOp>(op))
      slope = std::max(slopes[1], slopes[2]);
    else
      slope = llvm::any_of(slopes, [](unsigned each) { return each != 0; }) ? steep : 0;
    return result;
  }

  /// Of the loop.
  Value ends[3];
  Value argument, init, yielded;
  DataFlowSolver &solver;
};

/// Whether an index becomes an integer of no more than 32 bits: its low digits are what is wanted.
bool keepsLowDigits(Operation *op) {
  return isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) && op->getOperand(0).getType().isIndex() &&
         op->getResult(0).getType().getIntOrFloatBitWidth() <= 32;
}

/// Who reads the index gets it out of an op that tells its range.
void tell(OpBuilder &builder, Location loc, Value index, const ConstantIntRanges &range) {
  const auto number = [&](const APInt &of) -> Value {
    return arith::ConstantIntOp::create(builder, loc, of.getSExtValue(), 32);
  };
  auto word = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
  Value told = arith::MaxSIOp::create(builder, loc, word, number(range.smin()));
  told = arith::MinSIOp::create(builder, loc, told, number(range.smax()));
  told = arith::IndexCastOp::create(builder, loc, index.getType(), told);
  // What a loop yields it would take for anything again.
  index.replaceUsesWithIf(told,
                          [&](OpOperand &use) { return use.getOwner() != word && !isa<scf::YieldOp>(use.getOwner()); });
}

/// Tells the ranges of indices that loops carry; true where one is new.
bool tellCarried(FuncOp func, DataFlowSolver &solver) {
  struct Found {
    scf::ForOp loop;
    unsigned place;
    ConstantIntRanges range;
  };
  SmallVector<Found> found;
  func.walk([&](scf::ForOp loop) {
    for (unsigned place = 0; place < loop.getNumRegionIterArgs(); ++place) {
      const Value argument = loop.getRegionIterArg(place);
      const bool isTold = llvm::all_of(argument.getUsers(), keepsLowDigits);
      if (!argument.getType().isIndex() || isTold || isNarrow(rangeOf(argument, solver)))
        continue;
      if (const std::optional<ConstantIntRanges> range = Carried(loop, place, solver).bound())
        found.push_back({loop, place, *range});
    }
  });
  for (Found &each : found) {
    OpBuilder builder(each.loop.getBody(), each.loop.getBody()->begin());
    tell(builder, each.loop.getLoc(), each.loop.getRegionIterArg(each.place), each.range);
    builder.setInsertionPointAfter(each.loop);
    tell(builder, each.loop.getLoc(), each.loop.getResult(each.place), each.range);
    const Value yielded = each.loop.getYieldedValues()[each.place];
    if (Operation *op = yielded.getDefiningOp(); op && op->getBlock() == each.loop.getBody()) {
      builder.setInsertionPointAfter(op);
      tell(builder, op->getLoc(), yielded, each.range);
    }
  }
  return !found.empty();
}

/// The number that an index is, where all of what it is made of can be told in 64 bits. An integer that becomes an
/// index was one of 64 bits, or is narrow.
Value in64Bits(OpBuilder &builder, Value index, DataFlowSolver &solver, unsigned depth = 4) {
  const Location loc = index.getLoc();
  const Type i64 = builder.getI64Type();
  Operation *op = index.getDefiningOp();
  if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(op); cast && cast.getIn().getType() == i64)
    return cast.getIn();
  if (isNarrow(rangeOf(index, solver)))
    return arith::IndexCastOp::create(builder, loc, i64, index);
  if (depth == 0 || !isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::SelectOp>(op))
    return {};
  const unsigned first = isa<arith::SelectOp>(op) ? 1 : 0;
  SmallVector<Value> operands(op->getOperands());
  for (Value &operand : MutableArrayRef(operands).drop_front(first)) {
    operand = in64Bits(builder, operand, solver, depth - 1);
    if (!operand)
      return {};
  }
  OperationState state(loc, op->getName().getStringRef(), operands, {i64}, op->getAttrs());
  return builder.create(state)->getResult(0);
}

/// A loop from `a` to `a + n` counts from 0 to `n`.
void countFromZero(FuncOp func, DataFlowSolver &solver) {
  func.walk([&](scf::ForOp loop) {
    auto end = loop.getUpperBound().getDefiningOp<arith::AddIOp>();
    const Value begin = loop.getLowerBound();
    if (!end || !end.getType().isIndex() || isNarrow(rangeOf(end, solver)) ||
        !llvm::is_contained(end->getOperands(), begin))
      return;
    OpBuilder builder(loop);
    loop.setUpperBound(end.getLhs() == begin ? end.getRhs() : end.getLhs());
    loop.setLowerBound(arith::ConstantIndexOp::create(builder, loop.getLoc(), 0));
    builder.setInsertionPointToStart(loop.getBody());
    auto place = arith::AddIOp::create(builder, loop.getLoc(), begin, loop.getInductionVar());
    loop.getInductionVar().replaceAllUsesExcept(place, place);
  });
}

/// Comparisons, quotients and remainders of indices that may need more than 32 bits, as a place that is read out of
/// memory and added to another one, are computed in 64. The minimum of such a sum is one of a term: `min(a + b, c)` is
/// `b + min(a, c - b)`.
void widen(FuncOp func, DataFlowSolver &solver) {
  SmallVector<Operation *> found;
  func.walk([&](Operation *op) {
    if (isa<arith::CmpIOp, arith::DivUIOp, arith::RemUIOp, arith::MinSIOp, arith::MaxSIOp>(op) &&
        op->getOperand(0).getType().isIndex() &&
        !llvm::all_of(op->getOperands(), [&](Value each) { return isNarrow(rangeOf(each, solver)); }))
      found.push_back(op);
  });
  for (Operation *op : found) {
    OpBuilder builder(op);
    const Location loc = op->getLoc();
    auto sum = op->getOperand(0).getDefiningOp<arith::AddIOp>();
    const Value limit = op->getOperand(1);
    if (isa<arith::MinSIOp>(op) && sum && isNarrow(rangeOf(limit, solver))) {
      const auto width = [&](Value of) {
        const IntegerValueRange range = rangeOf(of, solver);
        return range.isUninitialized() ? APInt(IndexType::kInternalStorageBitWidth, 0)
                                       : range.getValue().umax() - range.getValue().umin();
      };
      const bool isLeftMoved = width(sum.getLhs()).ult(width(sum.getRhs()));
      const Value moved = isLeftMoved ? sum.getLhs() : sum.getRhs(), left = isLeftMoved ? sum.getRhs() : sum.getLhs();
      const Value rest = arith::SubIOp::create(builder, loc, limit, moved);
      const Value least = arith::MinSIOp::create(builder, loc, left, rest);
      op->getResult(0).replaceAllUsesWith(arith::AddIOp::create(builder, loc, moved, least));
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(in64Bits(builder, operand, solver));
    if (llvm::is_contained(operands, Value()))
      continue;
    if (isa<arith::MinSIOp, arith::MaxSIOp>(op)) {
      const auto order = isa<arith::MinSIOp>(op) ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sgt;
      const Value isLeft = arith::CmpIOp::create(builder, loc, order, operands[0], operands[1]);
      const Value chosen = arith::SelectOp::create(builder, loc, isLeft, operands[0], operands[1]);
      const Value index = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), chosen);
      const IntegerValueRange range = rangeOf(op->getResult(0), solver);
      op->getResult(0).replaceAllUsesWith(index);
      if (isNarrow(range) && !range.isUninitialized())
        tell(builder, loc, index, range.getValue());
      continue;
    }
    const Type type = isa<arith::CmpIOp>(op) ? op->getResult(0).getType() : builder.getI64Type();
    OperationState state(loc, op->getName().getStringRef(), operands, {type}, op->getAttrs());
    Value result = builder.create(state)->getResult(0);
    if (!isa<arith::CmpIOp>(op))
      result = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), result);
    op->getResult(0).replaceAllUsesWith(result);
  }
}

/// Marks ops that would have other results in 32 bits: operands of an index may need more. Sums, differences and
/// products have the same low digits however many there are.
void markWide(FuncOp func, DataFlowSolver &solver) {
  const auto isNarrow = [&](Value value, bool isUnsigned) {
    const auto *state = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
    // What is never reached has no range.
    if (!value.getType().isIndex() || !state || state->getValue().isUninitialized())
      return true;
    const ConstantIntRanges &of = state->getValue().getValue();
    return of.smin().isSignedIntN(32) && of.smax().isSignedIntN(32) && (!isUnsigned || of.smin().isNonNegative());
  };
  func.walk([&](Operation *op) {
    if (!isa<arith::ArithDialect, scf::SCFDialect>(op->getDialect()) ||
        isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp,
            arith::ConstantOp, scf::YieldOp, scf::ConditionOp, scf::WhileOp, scf::IfOp>(op) ||
        keepsLowDigits(op))
      return;
    // Of comparisons without a sign the order of numbers below zero stays.
    const bool isUnsigned =
        isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp, arith::ShRUIOp, arith::UIToFPOp, arith::IndexCastUIOp>(
            op);
    auto loop = dyn_cast<scf::ForOp>(op);
    const ValueRange decisive = loop ? op->getOperands().take_front(loop.getNumControlOperands()) : op->getOperands();
    const bool hasHighPart = isa<arith::MulUIExtendedOp, arith::MulSIExtendedOp>(op) && decisive[0].getType().isIndex();
    if (hasHighPart || !llvm::all_of(decisive, [&](Value each) { return isNarrow(each, isUnsigned); }))
      op->setAttr(wideIndexAttr, UnitAttr::get(op->getContext()));
  });
}

/// Of numbers from 0 below 2^31 every op is the same in 32 bits, whatever sign it sees: the patterns do not ask for it.
bool isSameIn32Bits(const IntegerValueRange &range) {
  if (range.isUninitialized())
    return false;
  const ConstantIntRanges &of = range.getValue();
  return of.smin().getBitWidth() <= 32 || (of.smin().isNonNegative() && of.umax().isIntN(31));
}

/// Makes the patterns leave alone what has other values.
void forgetOthers(FuncOp func, DataFlowSolver &solver) {
  auto forget = [&](Value value) {
    const auto *state = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
    if (state && !isSameIn32Bits(state->getValue()))
      solver.eraseState(value);
  };
  func.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), forget);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), forget);
  });
}

/// What is known of an op that is gone must not be taken for that of another one at its place in memory.
class Forget : public RewriterBase::Listener {
public:
  explicit Forget(DataFlowSolver &solver) : solver(solver) {}

private:
  void notifyOperationErased(Operation *op) override {
    solver.eraseState(solver.getProgramPointAfter(op));
    for (Value result : op->getResults())
      solver.eraseState(result);
  }
  DataFlowSolver &solver;
};

struct NarrowIndices : zyx::kernel::impl::NarrowIndicesPassBase<NarrowIndices> {
  using NarrowIndicesPassBase::NarrowIndicesPassBase;

  void runOnOperation() override {
    FuncOp func = getOperation();
    if (func.getExternal())
      return;
    if (onlyNarrow) {
      DataFlowSolver solver;
      if (failed(solve(solver)))
        return signalPassFailure();
      countFromZero(func, solver);
    }
    // What one loop carries is known before what one inside of it does.
    constexpr unsigned mostRounds = 5;
    for (unsigned round = 0; onlyNarrow && round < mostRounds; ++round) {
      DataFlowSolver solver;
      if (failed(solve(solver)))
        return signalPassFailure();
      if (!tellCarried(func, solver))
        break;
    }
    if (onlyNarrow) {
      DataFlowSolver solver;
      if (failed(solve(solver)))
        return signalPassFailure();
      widen(func, solver);
    }
    DataFlowSolver solver;
    if (failed(solve(solver)))
      return signalPassFailure();
    if (onlyNarrow)
      markWide(func, solver);
    forgetOthers(func, solver);
    Forget forget(solver);
    RewritePatternSet patterns(&getContext());
    arith::populateIntRangeNarrowingPatterns(patterns, solver, {32});
    if (failed(applyPatternsGreedily(func, std::move(patterns),
                                     GreedyRewriteConfig()
                                         .setUseTopDownTraversal(false)
                                         .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
                                         .setListener(&forget))))
      signalPassFailure();
  }

private:
  LogicalResult solve(DataFlowSolver &solver) {
    dataflow::loadBaselineAnalyses(solver);
    solver.load<Ranges>(onlyNarrow);
    return solver.initializeAndRun(getOperation());
  }
};

} // namespace
