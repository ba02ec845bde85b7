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
    if (!id || id.getKind() != IdKind::Thread)
      return IntegerRangeAnalysis::visitOperation(op, operands, results);
    const auto threads = static_cast<int64_t>(op->getParentOfType<FuncOp>().getThreads().value_or(1));
    propagateIfChanged(results[0], results[0]->join(IntegerValueRange(below(threads))));
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
  const bool onlyNarrow;
};

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
            arith::ConstantOp, scf::YieldOp, scf::ConditionOp, scf::WhileOp, scf::IfOp>(op))
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
    DataFlowSolver solver;
    dataflow::loadBaselineAnalyses(solver);
    solver.load<Ranges>(onlyNarrow);
    if (failed(solver.initializeAndRun(func)))
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
};

} // namespace
