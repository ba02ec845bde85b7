//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Which places data hides from the rows of an attention, found by a kernel of its own before.
//===----------------------------------------------------------------------===//
#include "ChooseTensor.h"
#include "FactorLayouter.h"

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
using zyx::target::TargetInfo;

namespace {

/// What is seen where a condition holds, or where it does not.
struct Condition {
  Value tile;
  bool isSeen;
};

/// What is known of an attention, or of a chain.
struct Streamed {
  Axis rows = 0, places = 0;
  SmallVector<Axis> batches;
  SmallVector<Condition> conditions;
  /// Of a chain: vectors along the places that must be finite.
  SmallVector<Value> vectors;
  /// Products of a row and a place.
  int64_t products = 0;
};

Value peel(Value tile) {
  while (auto broadcast = tile.getDefiningOp<BroadcastOp>())
    tile = broadcast.getInput();
  return tile;
}

/// All that a tile is computed of, with itself.
llvm::SetVector<Value> sliceOf(Value tile) {
  llvm::SetVector<Value> values;
  values.insert(tile);
  for (size_t i = 0; i < values.size(); ++i)
    if (Operation *op = values[i].getDefiningOp(); op && isTile(values[i]) && !isa<LoadOp, DotOp>(op))
      values.insert_range(op->getOperands());
  return values;
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
class RangeBuilder {
public:
  RangeBuilder(FuncOp func, const Axes &axes, const Streamed &streamed, ArrayRef<Value> roots, bool hasRows)
      : func(func), axes(axes), streamed(streamed), b(func.getContext()), loc(func.getLoc()) {
    for (Axis axis : streamed.batches)
      if (llvm::any_of(roots, [&](Value root) { return axes.contains(root, axis); }))
        take(axis, axes.extent(axis), "b" + std::to_string(dims.size()));
    const int64_t rows = axes.extent(streamed.rows);
    numBatches = dims.size();
    if (hasRows) {
      isSplit = true;
      take(streamed.rows, llvm::divideCeil(rows, visibleRows), "t");
      take(streamed.rows, visibleRows, "r");
    }
    take(streamed.places, axes.extent(streamed.places), "c");
    for (Value root : roots)
      for (Value value : sliceOf(root))
        if (auto load = value.getDefiningOp<LoadOp>(); load && bufferOf(load))
          sources.insert(bufferOf(load));
  }

  /// Of each batch the numbers of parts, and those of the other axes; what is combined is behind them.
  unsigned numKept() const { return numBatches + isSplit; }
  int64_t countKept() const {
    int64_t count = 1;
    for (const Dim &dim : ArrayRef(dims).take_front(numKept()))
      count *= dim.extent;
    return count;
  }
  /// How far apart the numbers of an axis are among those that are kept; 0 where it has none.
  int64_t strideOf(Axis axis) const {
    int64_t stride = 1;
    for (const Dim &dim : llvm::reverse(ArrayRef(dims).take_front(numKept()))) {
      if (dim.axis == axis)
        return stride;
      stride *= dim.extent;
    }
    return 0;
  }
  ArrayRef<BlockArgument> getSources() const { return sources.getArrayRef(); }
  double countPairs() const {
    double count = 1;
    for (const Dim &dim : dims)
      count *= static_cast<double>(dim.extent);
    return count;
  }

  /// A kernel without ops behind another one.
  FuncOp begin(SymbolTable &symbols, FuncOp after, StringRef suffix) {
    SmallVector<Type> types;
    for (BlockArgument source : sources)
      types.push_back(source.getType());
    types.push_back(BufferType::get(func.getContext(), b.getI32Type(), Space::Global));
    b.setInsertionPointAfter(after);
    made = FuncOp::create(b, loc, (after.getName() + suffix).str(), b.getFunctionType(types, {}));
    symbols.insert(made);
    b.setInsertionPointToEnd(&made.getBody().front());
    zero = arith::ConstantIndexOp::create(b, loc, 0);
    return made;
  }
  /// False where something could not be made.
  bool emitRanges(ArrayRef<Condition> conditions);
  bool emitFinite(ArrayRef<Value> vectors);

private:
  struct Dim {
    Axis axis;
    int64_t extent;
    std::string name;
  };
  /// A tile of some of the dimensions, in their order; none where it could not be made.
  struct Tile {
    SmallVector<unsigned> dims;
    Value value;
    explicit operator bool() const { return value != Value(); }
  };
  void take(Axis axis, int64_t extent, std::string name) { dims.push_back({axis, extent, std::move(name)}); }
  static BlockArgument bufferOf(LoadOp load) {
    auto view = load.getView().getDefiningOp<ViewOp>();
    return view && view.getSymbols().empty() ? dyn_cast<BlockArgument>(view.getBuffer()) : BlockArgument();
  }
  RankedTensorType typeOf(ArrayRef<unsigned> own, Type element) {
    return RankedTensorType::get(llvm::map_to_vector(own, [&](unsigned dim) { return dims[dim].extent; }), element);
  }
  Value constant(ArrayRef<unsigned> own, Attribute number, Type element) {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(typeOf(own, element), number));
  }
  Value integer(ArrayRef<unsigned> own, int64_t number, Type element) {
    return constant(own, b.getIntegerAttr(element, number), element);
  }
  Value spread(const Tile &tile, ArrayRef<unsigned> onto) {
    if (ArrayRef(tile.dims) == onto)
      return tile.value;
    Type type = typeOf(onto, getElementTypeOrSelf(tile.value));
    SmallVector<int64_t> places;
    for (unsigned dim : tile.dims)
      places.push_back(llvm::find(onto, dim) - onto.begin());
    return BroadcastOp::create(b, loc, type, tile.value, places);
  }
  static SmallVector<unsigned> join(ArrayRef<unsigned> a, ArrayRef<unsigned> b) {
    SmallVector<unsigned> all;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
  }
  Value iota(unsigned dim, Type element) {
    return IotaOp::create(b, loc, typeOf({dim}, element), Value(), 0, b.getStrArrayAttr({dims[dim].name}));
  }
  /// The places of the rows: so many for each part, and those in it.
  Tile rowPlaces(Type element) {
    const unsigned part = numBatches, row = numBatches + 1;
    Value first = arith::MulIOp::create(b, loc, iota(part, element), integer({part}, visibleRows, element));
    SmallVector<unsigned> both{part, row};
    return {both,
            arith::AddIOp::create(b, loc, spread({{part}, first}, both), spread({{row}, iota(row, element)}, both))};
  }
  Tile evaluate(Value tile);
  Tile compute(Value tile);
  Tile read(LoadOp load);
  void store(Value tile, int64_t offset);

  FuncOp func;
  const Axes &axes;
  const Streamed &streamed;
  OpBuilder b;
  Location loc;
  SmallVector<Dim> dims;
  unsigned numBatches = 0;
  bool isSplit = false;
  llvm::SetVector<BlockArgument> sources;
  FuncOp made;
  Value zero;
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

RangeBuilder::Tile RangeBuilder::read(LoadOp load) {
  auto strides = isPlainLoad(load.getResult()) ? stridesOf(load.getView(), load.getIndices(), load.getResult(), axes)
                                               : std::nullopt;
  if (!strides || !bufferOf(load))
    return {};
  for (auto [axis, stride] : strides->strides)
    if (llvm::none_of(dims, [axis = axis](const Dim &dim) { return dim.axis == axis; }))
      return {};
  const int64_t rows = axes.extent(streamed.rows), padded = llvm::alignTo(rows, visibleRows);
  Tile tile;
  SmallVector<int64_t> shape, places, inner, innerPlaces, valid;
  for (auto [at, dim] : llvm::enumerate(dims)) {
    auto own = llvm::find_if(strides->strides, [axis = dim.axis](const auto &each) { return each.first == axis; });
    if (own == strides->strides.end())
      continue;
    const bool isPart = isSplit && at == numBatches, isRow = isSplit && at == numBatches + 1;
    tile.dims.push_back(at);
    shape.push_back(dim.extent);
    places.push_back(isPart ? own->second * visibleRows : own->second);
    if (isRow)
      continue;
    inner.push_back(isPart ? padded : dim.extent);
    innerPlaces.push_back(own->second);
    valid.push_back(isPart ? rows : dim.extent);
  }
  MLIRContext *context = b.getContext();
  SmallVector<BlockAttr> blocks{stridedBlock(context, shape, places, strides->offset)};
  const bool hasEdge = inner != valid;
  if (hasEdge) {
    // Rows that do not exist are no elements: the first block numbers them, too.
    SmallVector<int64_t> numbered(shape.size());
    int64_t number = 1;
    for (size_t i = shape.size(); i-- > 0; number *= shape[i])
      numbered[i] = number;
    auto constants = [&](ArrayRef<int64_t> all) {
      return llvm::map_to_vector(all, [&](int64_t each) { return getAffineConstantExpr(each, context); });
    };
    SmallVector<int64_t> begins(inner.size(), 0);
    blocks = {stridedBlock(context, shape, numbered, 0),
              BlockAttr::get(context, constants(inner), constants(innerPlaces),
                             getAffineConstantExpr(strides->offset, context), constants(begins), constants(valid))};
  }
  Type element = getElementTypeOrSelf(load.getType());
  Value buffer = made.getBody().getArgument(llvm::find(sources, bufferOf(load)) - sources.begin());
  Value view = ViewOp::create(b, loc, ViewType::get(shape, element, Space::Global), buffer, ValueRange(),
                              MapAttr::get(context, blocks));
  SmallVector<StringRef> names;
  for (unsigned dim : tile.dims)
    names.push_back(dims[dim].name);
  tile.value =
      LoadOp::create(b, loc, typeOf(tile.dims, element), view, SmallVector<Value>(shape.size(), zero), Value(), Value(),
                     b.getStrArrayAttr(names), b.getDenseBoolArrayAttr(SmallVector<bool>(shape.size(), true)));
  return tile;
}

RangeBuilder::Tile RangeBuilder::compute(Value of) {
  Operation *op = of.getDefiningOp();
  if (!op || !isTile(of))
    return {};
  Type element = getElementTypeOrSelf(of);
  if (auto load = dyn_cast<LoadOp>(op))
    return read(load);
  if (auto iotaOp = dyn_cast<IotaOp>(op)) {
    const Axis axis = axes.of(of, iotaOp.getDim());
    if (iotaOp.getBase() || !element.isInteger() || axes.of(of).size() != 1)
      return {};
    if (axis == streamed.rows && isSplit)
      return rowPlaces(element);
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

void RangeBuilder::store(Value tile, int64_t offset) {
  SmallVector<int64_t> shape, strides;
  int64_t stride = countKept();
  for (const Dim &dim : ArrayRef(dims).take_front(numKept())) {
    stride /= dim.extent;
    shape.push_back(dim.extent);
    strides.push_back(stride);
  }
  Value view =
      ViewOp::create(b, loc, ViewType::get(shape, b.getI32Type(), Space::Global), made.getBody().getArguments().back(),
                     ValueRange(), MapAttr::get(b.getContext(), stridedBlock(b.getContext(), shape, strides, offset)));
  StoreOp::create(b, loc, tile, view, SmallVector<Value>(shape.size(), zero), Value(),
                  b.getDenseBoolArrayAttr(SmallVector<bool>(shape.size(), true)));
}

bool RangeBuilder::emitRanges(ArrayRef<Condition> conditions) {
  Type bit = b.getI1Type(), number = b.getI32Type();
  SmallVector<unsigned> all = llvm::to_vector(llvm::seq<unsigned>(0, dims.size()));
  Tile isSeen;
  auto both = [&](const Tile &other) {
    if (!isSeen) {
      isSeen = other;
      return;
    }
    SmallVector<unsigned> joined = join(isSeen.dims, other.dims);
    isSeen = {joined, arith::AndIOp::create(b, loc, spread(isSeen, joined), spread(other, joined))};
  };
  for (const Condition &condition : conditions) {
    Tile holds = evaluate(condition.tile);
    if (!holds)
      return false;
    if (!condition.isSeen)
      holds.value = arith::XOrIOp::create(b, loc, holds.value, integer(holds.dims, 1, bit));
    both(holds);
  }
  const int64_t rows = axes.extent(streamed.rows), places = axes.extent(streamed.places);
  if (isSplit && rows % visibleRows != 0) {
    Tile place = rowPlaces(number);
    both({place.dims,
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, place.value, integer(place.dims, rows, number))});
  }
  const unsigned last = dims.size() - 1;
  Value seen = spread(isSeen, all), place = iota(last, number);
  Value behind = arith::AddIOp::create(b, loc, place, integer({last}, 1, number));
  SmallVector<int64_t> combined;
  for (unsigned dim = numKept(); dim < dims.size(); ++dim)
    combined.push_back(dim);
  auto reduce = [&](Combine kind, Value of, int64_t otherwise) -> Value {
    Value chosen = arith::SelectOp::create(b, loc, seen, spread({{last}, of}, all), integer(all, otherwise, number));
    return ReduceOp::create(b, loc, typeOf(ArrayRef(all).take_front(numKept()), number), kind, chosen, combined);
  };
  Value first = reduce(Combine::Min, place, places), end = reduce(Combine::Max, behind, 0);
  store(first, 0);
  store(end, countKept());
  ReturnOp::create(b, loc);
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
  /// Has each launch of `func` come behind one of `before`, whose result becomes an argument; gives its number.
  static int64_t launchBefore(FuncOp func, FuncOp before, ArrayRef<BlockArgument> sources, int64_t count,
                              MutableArrayRef<zyx::plan::LaunchOp> launches);
};

} // namespace

int64_t FindVisible::launchBefore(FuncOp func, FuncOp before, ArrayRef<BlockArgument> sources, int64_t count,
                                  MutableArrayRef<zyx::plan::LaunchOp> launches) {
  OpBuilder b(func.getContext());
  const Location loc = func.getLoc();
  const unsigned at = launches.front().getIns().size();
  func.getBody().front().insertArgument(at, BufferType::get(func.getContext(), b.getI32Type(), Space::Global), loc);
  func.setFunctionType(b.getFunctionType(func.getBody().getArgumentTypes(), {}));
  for (zyx::plan::LaunchOp launch : launches) {
    b.setInsertionPoint(launch);
    SmallVector<Value> ins;
    for (BlockArgument source : sources)
      ins.push_back(launch.getIns()[source.getArgNumber()]);
    auto made =
        zyx::plan::AllocOp::create(b, loc, zyx::plan::BufferType::get(b.getContext(), {zyx::DType::I32, {count}}));
    zyx::plan::LaunchOp::create(b, loc, zyx::plan::EventType::get(b.getContext()),
                                FlatSymbolRefAttr::get(before.getSymNameAttr()), ins, ValueRange{made.getResult()},
                                b.getDenseI64ArrayAttr({}), b.getI64IntegerAttr(0), ValueRange());
    launch.getInsMutable().append(made.getResult());
  }
  return at;
}

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
  const double launch = static_cast<double>(target.costs.launchCycles * target.cores);
  const double cost =
      ranges.countPairs() * zyx::target::fits::visible::pairOps / ops + launch * (found->vectors.empty() ? 1 : 2);
  if (cost > share * cycles)
    return;
  FuncOp ofRanges = ranges.begin(symbols, func, "_visible");
  FuncOp ofVectors = found->vectors.empty() ? FuncOp() : finite.begin(symbols, func, "_finite");
  if (!ranges.emitRanges(found->conditions) || (ofVectors && !finite.emitFinite(found->vectors))) {
    symbols.erase(ofRanges);
    if (ofVectors)
      symbols.erase(ofVectors);
    return;
  }
  // The arguments of the trial are those of the kernel.
  SmallVector<int64_t> visible{launchBefore(func, ofRanges, ranges.getSources(), 2 * ranges.countKept(), launches),
                               ranges.countKept(), hasRows ? ranges.strideOf(found->rows) : 0};
  for (Axis axis : found->batches)
    visible.push_back(ranges.strideOf(axis));
  func.setVisible(visible);
  if (ofVectors) {
    SmallVector<int64_t> places{launchBefore(func, ofVectors, finite.getSources(), finite.countKept(), launches)};
    for (Axis axis : found->batches)
      places.push_back(finite.strideOf(axis));
    func.setFinite(places);
  }
  remark::passed(func.getLoc(), remark::RemarkOpts::name("FindVisible").category("zyx-schedule"))
      << func.getName() << ": " << ofRanges.getName() << " finds which blocks data hides";
}
