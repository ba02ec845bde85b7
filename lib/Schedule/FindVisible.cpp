//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Which places data hides from the rows of an attention, found by a kernel of its own before.
//===----------------------------------------------------------------------===//
#include "ChooseTensor.h"
#include "FactorLayouter.h"
#include "VisibleKernel.h"

#include "zyx/Codegen/Matrix/TensorAttention.h"
#include "zyx/Codegen/Matrix/TensorChain.h"
#include "zyx/Codegen/Matrix/TensorDot.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Schedule/Choices.h"
#include "zyx/Schedule/Passes.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace zyx::schedule {
#define GEN_PASS_DEF_FINDVISIBLEPASS
#include "zyx/Schedule/Passes.h.inc"
} // namespace zyx::schedule

using namespace mlir;
using namespace zyx::kernel;
using namespace zyx::schedule;
using zyx::target::TargetInfo;

namespace {

Value peel(Value tile) {
  while (auto broadcast = tile.getDefiningOp<BroadcastOp>())
    tile = broadcast.getInput();
  return tile;
}

bool readsData(Value tile) {
  return llvm::any_of(sliceOf(tile), [](Value value) { return isa_and_nonnull<LoadOp>(value.getDefiningOp()); });
}

/// By which conditions scores are minus infinity. Neither a sum nor rounding makes anything else of that.
void findHidden(Value scores, SmallVectorImpl<Condition> &found) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> work{scores};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (auto sum = dyn_cast<arith::AddFOp>(op)) {
      work.append({sum.getLhs(), sum.getRhs()});
    } else if (auto select = dyn_cast<arith::SelectOp>(op); select && isTile(select.getCondition())) {
      const bool isSeen = isMinusInfinity(select.getFalseValue());
      if (!isSeen && !isMinusInfinity(select.getTrueValue()))
        continue;
      found.push_back({peel(select.getCondition()), isSeen});
      work.push_back(isSeen ? select.getTrueValue() : select.getFalseValue());
    } else if (isa<BroadcastOp, TransposeOp, ReshapeOp, arith::ExtFOp, arith::TruncFOp>(op)) {
      work.push_back(op->getOperand(0));
    }
  }
}

std::optional<Streamed> matchStreamed(FuncOp func, const Axes &axes, const TargetInfo &target) {
  Streamed found;
  std::string reason;
  if (isAttention(func)) {
    std::optional<TensorAttention> attention = matchTensorAttention(func, axes, target, reason);
    if (!attention)
      return std::nullopt;
    found.rows = attention->queries, found.places = attention->keys, found.batches = attention->batches;
    found.products = attention->depth + attention->width;
    findHidden(attention->max.getInput(), found.conditions);
  } else if (isChain(func)) {
    std::optional<TensorChain> chain = matchTensorChain(func, axes, target, reason);
    if (!chain)
      return std::nullopt;
    found.rows = chain->rows, found.places = chain->streamed, found.batches = chain->batches;
    for (const TensorChain::Inner &inner : chain->inner)
      found.products += inner.depth;
    llvm::SetVector<Value> vectors;
    for (const TensorChain::Outer &outer : chain->outer) {
      found.products += outer.width;
      for (Value value : sliceOf(outer.factor))
        if (isa_and_nonnull<LoadOp>(value.getDefiningOp()) && isa<FloatType>(getElementTypeOrSelf(value)) &&
            axes.contains(value, found.places) && !axes.contains(value, found.rows))
          vectors.insert(value);
    }
    found.vectors = vectors.takeVector();
    for (auto select : func.getBody().getOps<arith::SelectOp>()) {
      const Condition condition{peel(select.getCondition()), true};
      if (isTile(condition.tile) && isMinusInfinity(select.getFalseValue()) && isZeroWhereFalse(*chain, condition.tile))
        found.conditions.push_back(condition);
    }
  }
  // Bounds of places alone are no data: the attention knows them.
  llvm::erase_if(found.conditions, [&](const Condition &condition) {
    return !axes.contains(condition.tile, found.places) || !readsData(condition.tile);
  });
  return found.conditions.empty() ? std::nullopt : std::optional(found);
}

/// Makes a kernel of what another one reads and computes, with rows in parts of `visibleRows`.
class RangeBuilder : public VisibleKernel {
public:
  RangeBuilder(FuncOp func, const Axes &axes, const Streamed &streamed, ArrayRef<Value> roots, bool hasRows)
      : VisibleKernel(func, axes, streamed), hasRows(hasRows) {
    takeBatches([&](Axis axis) { return llvm::any_of(roots, [&](Value root) { return axes.contains(root, axis); }); });
    const int64_t rows = axes.extent(streamed.rows);
    numBatches = dims.size();
    kept = numBatches + hasRows;
    if (hasRows) {
      take(streamed.rows, llvm::divideCeil(rows, visibleRows), "t", visibleRows);
      take(streamed.rows, visibleRows, "r", /*step=*/1, /*isInner=*/true);
    }
    take(streamed.places, axes.extent(streamed.places), "c");
    for (Value root : roots)
      for (Value value : sliceOf(root))
        if (auto load = value.getDefiningOp<LoadOp>(); load && bufferOf(load))
          sources.insert(bufferOf(load));
  }

  ArrayRef<BlockArgument> getSources() const { return sources.getArrayRef(); }
  void begin(SymbolTable &symbols, FuncOp after, StringRef suffix) {
    VisibleKernel::begin(symbols, after, suffix, sources.getArrayRef(), b.getI32Type());
  }
  /// False where something could not be made.
  bool emitRanges(ArrayRef<Condition> conditions);
  bool emitFinite(ArrayRef<Value> vectors);

private:
  Tile evaluate(Value tile);
  Tile compute(Value tile);
  Tile readAs(LoadOp load);

  bool hasRows;
  unsigned numBatches = 0;
  llvm::SetVector<BlockArgument> sources;
  llvm::DenseMap<Value, Tile> known;
};

} // namespace

RangeBuilder::Tile RangeBuilder::evaluate(Value tile) {
  if (auto found = known.find(tile); found != known.end())
    return found->second;
  Tile made = compute(tile);
  known[tile] = made;
  return made;
}

RangeBuilder::Tile RangeBuilder::readAs(LoadOp load) {
  auto strides = isPlainLoad(load.getResult()) ? stridesOf(load.getView(), load.getIndices(), load.getResult(), axes)
                                               : std::nullopt;
  if (!strides || !bufferOf(load))
    return {};
  for (auto [axis, stride] : strides->strides)
    if (llvm::none_of(dims, [axis = axis](const Dim &dim) { return dim.axis == axis; }))
      return {};
  Value buffer = made.getBody().getArgument(llvm::find(sources, bufferOf(load)) - sources.begin());
  return read(buffer, getElementTypeOrSelf(load.getType()), *strides);
}

RangeBuilder::Tile RangeBuilder::compute(Value of) {
  Operation *op = of.getDefiningOp();
  if (!op || !isTile(of))
    return {};
  Type element = getElementTypeOrSelf(of);
  if (auto load = dyn_cast<LoadOp>(op))
    return readAs(load);
  if (auto iotaOp = dyn_cast<IotaOp>(op)) {
    const Axis axis = axes.of(of, iotaOp.getDim());
    if (iotaOp.getBase() || !element.isInteger() || axes.of(of).size() != 1)
      return {};
    if (axis == streamed.rows && hasRows)
      return placesIn(numBatches, element);
    for (auto [at, dim] : llvm::enumerate(dims))
      if (dim.axis == axis)
        return {{static_cast<unsigned>(at)}, iota(at, element)};
    return {};
  }
  if (isa<BroadcastOp, TransposeOp, ReshapeOp>(op))
    return evaluate(op->getOperand(0));
  if (DenseElementsAttr value; matchPattern(of, m_Constant(&value)) && value.isSplat())
    return {{}, constant({}, value.getSplatValue<Attribute>(), element)};
  if (!isElementwise(op) || op->getNumRegions() != 0 || op->getNumResults() != 1)
    return {};
  SmallVector<Tile> operands;
  SmallVector<unsigned> all;
  for (Value operand : op->getOperands()) {
    operands.push_back(evaluate(operand));
    if (!operands.back())
      return {};
    all = join(all, operands.back().dims);
  }
  OperationState state(loc, op->getName());
  for (const Tile &operand : operands)
    state.addOperands(spread(operand, all));
  state.addTypes(typeOf(all, element));
  state.addAttributes(op->getAttrs());
  return {all, b.create(state)->getResult(0)};
}

bool RangeBuilder::emitRanges(ArrayRef<Condition> conditions) {
  Type bit = b.getI1Type(), number = b.getI32Type();
  Tile isSeen;
  auto both = [&](const Tile &other) { isSeen = isSeen ? combine<arith::AndIOp>(isSeen, other) : other; };
  for (const Condition &condition : conditions) {
    Tile holds = evaluate(condition.tile);
    if (!holds)
      return false;
    if (!condition.isSeen)
      holds.value = arith::XOrIOp::create(b, loc, holds.value, integer(holds.dims, 1, bit));
    both(holds);
  }
  const int64_t rows = axes.extent(streamed.rows);
  if (hasRows && rows % visibleRows != 0) {
    Tile place = placesIn(numBatches, number);
    both({place.dims,
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, place.value, integer(place.dims, rows, number))});
  }
  const unsigned last = dims.size() - 1;
  Value place = iota(last, number);
  Value behind = arith::AddIOp::create(b, loc, place, integer({last}, 1, number));
  storeRange(isSeen, {{last}, place}, {{last}, behind});
  return true;
}

bool RangeBuilder::emitFinite(ArrayRef<Value> vectors) {
  Type number = b.getI32Type();
  SmallVector<unsigned> all = llvm::to_vector(llvm::seq<unsigned>(0, dims.size()));
  Value isAny;
  for (Value vector : vectors) {
    Tile tile = evaluate(vector);
    if (!tile)
      return false;
    auto element = cast<FloatType>(getElementTypeOrSelf(vector));
    Value size = math::AbsFOp::create(b, loc, tile.value);
    Value infinity =
        constant(tile.dims, b.getFloatAttr(element, APFloat::getInf(element.getFloatSemantics())), element);
    // A NaN, too.
    Value isFar = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGE, size, infinity);
    isFar = spread({tile.dims, isFar}, all);
    isAny = isAny ? arith::OrIOp::create(b, loc, isAny, isFar).getResult() : isFar;
  }
  Value chosen = arith::SelectOp::create(b, loc, isAny, integer(all, 1, number), integer(all, 0, number));
  Value most = ReduceOp::create(b, loc, typeOf(ArrayRef(all).take_front(numKept()), number), Combine::Max, chosen,
                                ArrayRef<int64_t>{static_cast<int64_t>(dims.size()) - 1});
  store(most, 0);
  ReturnOp::create(b, loc);
  return true;
}

namespace {

struct FindVisible : zyx::schedule::impl::FindVisiblePassBase<FindVisible> {
  using FindVisiblePassBase::FindVisiblePassBase;

  void runOnOperation() override {
    const TargetInfo *target = requireTarget(getOperation());
    if (!target)
      return signalPassFailure();
    if (!target->hasTensorTiles())
      return;
    SymbolTable symbols(getOperation());
    zyx::schedule::Launches launches = zyx::schedule::collectLaunches(getOperation());
    for (FuncOp func : llvm::to_vector(getOperation().getOps<FuncOp>()))
      if (!func.getSchedule() && (isAttention(func) || isChain(func)))
        run(func, *target, symbols, launches[func.getName()]);
  }

private:
  void run(FuncOp func, const TargetInfo &target, SymbolTable &symbols, MutableArrayRef<zyx::plan::LaunchOp> launches);
  /// Which of the two ways takes less.
  static bool goesByBounds(BoundsBuilder &bounds, VisibleWay by, double ofPairs, double ofBounds) {
    return by != VisibleWay::Pairs && (by == VisibleWay::Bounds || ofBounds < ofPairs) && bounds.isPossible();
  }
};

/// A launch of a kernel that reads `ins`, before the builder's place; gives what it writes.
Value launch(OpBuilder &b, Location loc, FuncOp kernel, ValueRange ins, Type element, int64_t count) {
  const zyx::DType type = element.isInteger(64) ? zyx::DType::I64 : zyx::DType::I32;
  auto made = zyx::plan::AllocOp::create(b, loc, zyx::plan::BufferType::get(b.getContext(), {type, {count}}));
  zyx::plan::LaunchOp::create(b, loc, zyx::plan::EventType::get(b.getContext()),
                              FlatSymbolRefAttr::get(kernel.getSymNameAttr()), ins, ValueRange{made.getResult()},
                              b.getDenseI64ArrayAttr({}), b.getI64IntegerAttr(0), ValueRange());
  return made;
}

/// What is before a launch, of what it reads.
using Before = llvm::function_ref<Value(OpBuilder &, zyx::plan::LaunchOp)>;

/// Has each launch of `func` come behind others, whose result becomes an argument; gives its number.
int64_t launchBefore(FuncOp func, MutableArrayRef<zyx::plan::LaunchOp> launches, Before before) {
  OpBuilder b(func.getContext());
  const unsigned at = launches.front().getIns().size();
  func.getBody().front().insertArgument(at, BufferType::get(func.getContext(), b.getI32Type(), Space::Global),
                                        func.getLoc());
  func.setFunctionType(b.getFunctionType(func.getBody().getArgumentTypes(), {}));
  for (zyx::plan::LaunchOp each : launches) {
    b.setInsertionPoint(each);
    each.getInsMutable().append(before(b, each));
  }
  return at;
}

SmallVector<Value> inputsOf(zyx::plan::LaunchOp launch, ArrayRef<BlockArgument> sources) {
  return llvm::map_to_vector(sources,
                             [&](BlockArgument source) -> Value { return launch.getIns()[source.getArgNumber()]; });
}

/// Of a launch the ranges that bounds leave, which other launches have found before.
Value launchByBounds(OpBuilder &b, zyx::plan::LaunchOp launchOp, const BoundsBuilder &bounds, FuncOp ofRanges) {
  const Location loc = ofRanges.getLoc();
  SmallVector<Value> found = llvm::map_to_vector(bounds.getTables(), [&](const BoundsBuilder::Table &table) {
    return launch(b, loc, table.kernel, inputsOf(launchOp, table.source), table.written, table.count());
  });
  SmallVector<Value> ins = llvm::map_to_vector(bounds.getInputs(), [&](const BoundsBuilder::Input &input) -> Value {
    return input.source ? launchOp.getIns()[input.source.getArgNumber()] : found[input.table];
  });
  return launch(b, loc, ofRanges, ins, b.getI32Type(), 2 * bounds.countKept());
}

} // namespace

void FindVisible::run(FuncOp func, const TargetInfo &target, SymbolTable &symbols,
                      MutableArrayRef<zyx::plan::LaunchOp> launches) {
  if (launches.empty() || llvm::any_of(launches, [&](zyx::plan::LaunchOp launch) {
        return launch.getIns().size() != launches.front().getIns().size() || !launch.getScalars().empty();
      }))
    return;
  OwningOpRef<FuncOp> trial = zyx::schedule::cloneUnshared(func);
  FailureOr<Axes> axes = Axes::compute(*trial);
  std::optional<Streamed> found = succeeded(axes) ? matchStreamed(*trial, *axes, target) : std::nullopt;
  if (!found || zyx::schedule::chooseTensorSteps(*trial, *axes, target, 1).empty())
    return;
  SmallVector<Value> conditions =
      llvm::map_to_vector(found->conditions, [](const Condition &each) { return each.tile; });
  const bool hasRows =
      llvm::any_of(conditions, [&](Value condition) { return axes->contains(condition, found->rows); });
  RangeBuilder ranges(*trial, *axes, *found, conditions, hasRows);
  RangeBuilder finite(*trial, *axes, *found, found->vectors, /*hasRows=*/false);
  // Buffers that the launch writes are no sources.
  const size_t numIns = launches.front().getIns().size();
  for (const RangeBuilder *builder : {&ranges, &finite})
    if (llvm::any_of(builder->getSources(), [&](BlockArgument source) { return source.getArgNumber() >= numIns; }))
      return;
  double pairs = static_cast<double>(axes->extent(found->rows)) * static_cast<double>(axes->extent(found->places));
  for (Axis axis : found->batches)
    pairs *= static_cast<double>(axes->extent(axis));
  const auto ops = static_cast<double>(target.costs.lanesPerCycle);
  const double cycles =
      pairs * (static_cast<double>(found->products) / static_cast<double>(target.costs.matrixProductsPerCycle) +
               static_cast<double>(target.costs.functionOps) / ops);
  namespace fits = zyx::target::fits::visible;
  BoundsBuilder bounds(*trial, *axes, *found);
  const double ofLaunch = static_cast<double>(target.costs.launchCycles * target.cores);
  const double ofPairs = ranges.countPairs() * fits::pairOps / ops + ofLaunch;
  const double ofBounds =
      (bounds.countPairs() * fits::blockOps + bounds.countElements() * fits::elementOps) / ops + 2 * ofLaunch;
  const bool byBounds = goesByBounds(bounds, by, ofPairs, ofBounds);
  if ((byBounds ? ofBounds : ofPairs) + (found->vectors.empty() ? 0 : ofLaunch) > share * cycles)
    return;
  if (!byBounds)
    ranges.begin(symbols, func, "_visible");
  if (!found->vectors.empty())
    finite.begin(symbols, func, "_finite");
  if ((!byBounds && !ranges.emitRanges(found->conditions)) ||
      (!found->vectors.empty() && !finite.emitFinite(found->vectors))) {
    for (FuncOp made : {ranges.getMade(), finite.getMade()})
      if (made)
        symbols.erase(made);
    return;
  }
  if (byBounds)
    bounds.emit(symbols, func);
  // The arguments of the trial are those of the kernel.
  const VisibleKernel &kernel = byBounds ? static_cast<VisibleKernel &>(bounds) : ranges;
  FuncOp ofRanges = byBounds ? bounds.getMade() : ranges.getMade();
  const int64_t at = launchBefore(func, launches, [&](OpBuilder &b, zyx::plan::LaunchOp each) {
    return byBounds ? launchByBounds(b, each, bounds, ofRanges)
                    : launch(b, func.getLoc(), ofRanges, inputsOf(each, ranges.getSources()), b.getI32Type(),
                             2 * ranges.countKept());
  });
  SmallVector<int64_t> visible{at, kernel.countKept(), hasRows ? kernel.strideOf(found->rows) : 0};
  for (Axis axis : found->batches)
    visible.push_back(kernel.strideOf(axis));
  func.setVisible(visible);
  if (!found->vectors.empty()) {
    SmallVector<int64_t> places{launchBefore(func, launches, [&](OpBuilder &b, zyx::plan::LaunchOp each) {
      return launch(b, func.getLoc(), finite.getMade(), inputsOf(each, finite.getSources()), b.getI32Type(),
                    finite.countKept());
    })};
    for (Axis axis : found->batches)
      places.push_back(finite.strideOf(axis));
    func.setFinite(places);
  }
  remark::passed(func.getLoc(), remark::RemarkOpts::name("FindVisible").category("zyx-schedule"))
      << func.getName() << ": " << ofRanges.getName() << " finds which blocks data hides"
      << (byBounds ? ", by bounds of blocks" : ", pair by pair");
}
