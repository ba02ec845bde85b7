//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ScheduleSteps.h"

#include "zyx/Codegen/Tile/Softmax.h"
#include "zyx/Codegen/Tile/TileEvaluator.h"
#include "zyx/Codegen/Tile/VisibleRange.h"
#include "zyx/Dialect/Kernel/IR/Target.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace zyx::kernel;

static RankedTensorType typeOf(Value tile) { return cast<RankedTensorType>(tile.getType()); }
static Type elementOf(Value tile) { return typeOf(tile).getElementType(); }

static RankedTensorType withElement(Value tile, Type element) {
  return RankedTensorType::get(typeOf(tile).getShape(), element);
}

static bool isSplatOf(Value tile, double number) {
  DenseElementsAttr value;
  return matchPattern(tile, m_Constant(&value)) && value.isSplat() && isa<FloatType>(value.getElementType()) &&
         value.getSplatValue<APFloat>().convertToDouble() == number;
}

namespace {

/// Splits one axis of one scope.
class OnlineLoop {
public:
  OnlineLoop(Block &scope, const Axes &axes, Axis axis, StringAttr name, int64_t tile)
      : scope(scope), axes(axes), axis(axis), name(name), tile(tile), builder(scope.getParentOp()),
        loc(scope.getParentOp()->getLoc()) {}

  LogicalResult run();

private:
  void collect();
  LogicalResult find();
  LogicalResult findSums();
  LogicalResult findSoftmax();
  LogicalResult findExponential(Operation *op);
  LogicalResult checkSum(Operation *op);
  LogicalResult refuse(Operation *op) {
    return op->emitOpError() << "walks axis " << name
                             << ", but neither takes the exponential of a softmax nor is linear in it";
  }
  bool dependsOnMax(Value value) { return value == max.getResult() || afterMax.contains(value); }
  void stageBefore();
  Value stage(Value tile);
  bool liesAcross(Value factor) const;
  Value swapped(Value tile);
  Value stageFactor(Value factor, bool isAcross, Type element);
  Value narrow(Value weights, DotOp dot);
  void stageFactors(DotOp dot, IRMapping &operands, Value weights = Value());
  /// Threads of a card have no memory of their own for whole tiles.
  bool isProcessor() const {
    const zyx::target::TargetInfo *target = findTarget(scope.getParentOp());
    return target && target->hasVectors() && !target->hasSubgroups();
  }
  Value splat(RankedTensorType type, double number) { return emitNumber(builder, loc, type, number); }
  Value widen(Value tile, Type element);
  Value spread(Value row, Value like, Value original);
  Value keep(Value tile);
  void emitPiece(ArrayRef<Value> carried, SmallVectorImpl<Value> &results);
  void emitPlainPiece(ArrayRef<Value> carried, SmallVectorImpl<Value> &results);
  LogicalResult emitWhole();
  FailureOr<scf::ForOp> emitLoop(int64_t from, int64_t to, int64_t step, ValueRange carried);
  void restoreEmptyRows(MutableArrayRef<Value> results);
  void dropSumsOfOne(scf::ForOp loop);
  void replace(ValueRange results);

  Block &scope;
  const Axes &axes;
  Axis axis;
  StringAttr name;
  int64_t tile;
  OpBuilder builder;
  Location loc;

  SmallVector<Operation *> dependent;
  /// Null where sums are of what hangs on no maximum.
  ReduceOp max;
  math::ExpOp exp;
  /// Sums and dots of what is linear in the exponentials.
  SmallVector<Operation *> sums;
  /// Tiles along the axis that hang on the maximum, and those linear in the exponentials among them.
  llvm::DenseSet<Value> afterMax, linear;
  /// What the maximum becomes: f32, where elements are narrower.
  Type wide;
  /// Outside of it a piece weighs nothing.
  VisibleRange seen;
  /// Factors of the piece that is being written which are in memory, in a type.
  llvm::DenseMap<std::pair<Value, Type>, Value> stagedFactors;
};

} // namespace

//===----------------------------------------------------------------------===//
// What is on the axis
//===----------------------------------------------------------------------===//

/// exp(x - max), with conversions to a wider type between.
LogicalResult OnlineLoop::findExponential(Operation *op) {
  auto found = dyn_cast<math::ExpOp>(op);
  if (!found || exp)
    return refuse(op);
  std::optional<SoftmaxExponential> softmax = matchSoftmaxExponential(found);
  if (!softmax || softmax->max != max || !softmax->isBroadcast || softmax->widensElements)
    return refuse(op);
  exp = found;
  linear.insert(exp.getResult());
  return success();
}

LogicalResult OnlineLoop::checkSum(Operation *op) {
  if (auto dot = dyn_cast<DotOp>(op)) {
    bool isLeft = dependsOnMax(dot.getLhs()), isRight = dependsOnMax(dot.getRhs());
    if (isLeft == isRight || !linear.contains(isLeft ? dot.getLhs() : dot.getRhs()) ||
        axes.contains(dot.getResult(), axis) || !isSplatOf(dot.getAcc(), 0))
      return refuse(op);
  } else {
    auto reduce = cast<ReduceOp>(op);
    if (reduce.getKind() != Combine::Add || !linear.contains(reduce.getInput()) || reduce.getDims().size() != 1 ||
        axes.of(reduce.getInput(), reduce.getDims()[0]) != axis)
      return refuse(op);
  }
  sums.push_back(op);
  return success();
}

/// Whether elements are combined along the axis.
static bool combinesAlong(const Axes &axes, Operation *op, Axis axis) {
  if (auto dot = dyn_cast<DotOp>(op))
    return !axes.contains(dot.getResult(), axis);
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && !axes.contains(reduce.getResult(), axis);
}

void OnlineLoop::collect() {
  for (Operation *op : tileOps(scope))
    if (dependsOn(axes, op, axis))
      dependent.push_back(op);
  for (Operation *op : dependent)
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getKind() == Combine::Max && !max)
      max = reduce;
}

LogicalResult OnlineLoop::find() {
  if (failed(max ? findSoftmax() : findSums()))
    return failure();
  for (Operation *op : dependent)
    for (Value operand : op->getOperands())
      for (Operation *sum : sums)
        if (operand == sum->getResult(0))
          return op->emitOpError() << "needs a sum along axis " << name << " before that is complete";
  return success();
}

/// Sums of what is computed element by element, and of nothing that was combined along the axis before.
LogicalResult OnlineLoop::findSums() {
  for (Operation *op : dependent) {
    if (isa<scf::ForOp>(op))
      return op->emitOpError() << "walks axis " << name << ", along which it combines nothing";
    // What is stored for each place of the axis is stored there.
    if (isa<StoreOp>(op) || !combinesAlong(axes, op, axis))
      continue;
    auto dot = dyn_cast<DotOp>(op);
    auto reduce = dyn_cast<ReduceOp>(op);
    if (dot ? !isSplatOf(dot.getAcc(), 0) : reduce.getKind() != Combine::Add)
      return op->emitOpError() << "walks axis " << name << ", but neither takes a maximum nor sums up from zero";
    Type element = elementOf(op->getResult(0));
    if (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() < 32)
      return op->emitOpError() << "sums up along axis " << name << " in a type in which pieces would not add up";
    sums.push_back(op);
  }
  if (sums.empty())
    return dependent.front()->emitOpError() << "walks axis " << name << ", along which nothing is summed up";
  return success();
}

LogicalResult OnlineLoop::findSoftmax() {
  if (max.getDims().size() != 1 || axes.of(max.getInput(), max.getDims()[0]) != axis ||
      !isa<FloatType>(elementOf(max.getResult())))
    return dependent.front()->emitOpError() << "walks axis " << name << ", along which no maximum is taken";
  for (Operation *op : dependent) {
    if (op == max)
      continue;
    bool isAfter = llvm::any_of(op->getOperands(), [&](Value v) { return dependsOnMax(v); });
    bool combines = isa<ReduceOp>(op) || (isa<DotOp>(op) && !axes.contains(op->getResult(0), axis));
    if (isa<StoreOp, scf::ForOp>(op) || (!isAfter && combines))
      return refuse(op);
    if (!isAfter)
      continue;
    if (isa<ReduceOp, DotOp>(op)) {
      if (failed(checkSum(op)))
        return failure();
      continue;
    }
    afterMax.insert(op->getResult(0));
    bool isLinear = llvm::any_of(op->getOperands(), [&](Value v) { return linear.contains(v); });
    if (isLinear) {
      auto product = dyn_cast<arith::MulFOp>(op);
      bool isAlone = product && dependsOnMax(product.getLhs()) != dependsOnMax(product.getRhs());
      if (!isAlone && !isa<arith::ExtFOp, arith::TruncFOp, TransposeOp, BroadcastOp>(op))
        return refuse(op);
      linear.insert(op->getResult(0));
    } else if (!isa<BroadcastOp, arith::SubFOp, arith::ExtFOp>(op) && failed(findExponential(op))) {
      return failure();
    }
  }
  if (!exp || sums.empty())
    return refuse(max);
  wide = elementOf(exp.getResult());
  if (wide.getIntOrFloatBitWidth() < 32)
    wide = builder.getF32Type();
  for (Operation *sum : sums)
    if (elementOf(sum->getResult(0)).getIntOrFloatBitWidth() < wide.getIntOrFloatBitWidth())
      return sum->emitOpError() << "sums up along axis " << name << " in a type that is too narrow to be scaled again";
  return success();
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

Value OnlineLoop::stage(Value tile) {
  RankedTensorType type = typeOf(tile);
  if (type.getEncoding())
    return tile;
  auto func = dyn_cast<FuncOp>(scope.getParentOp());
  auto memory =
      MemoryAttr::get(builder.getContext(), spaceOfTiles(func ? func : scope.getParentOp()->getParentOfType<FuncOp>()));
  auto staged = RankedTensorType::get(type.getShape(), type.getElementType(), memory);
  // What is kept lies there already.
  if (auto kept = tile.getDefiningOp<ConvertOp>(); kept && kept.getInput().getType() == staged)
    return kept.getInput();
  return ConvertOp::create(builder, loc, staged, tile);
}

/// The tile, computed here once.
Value OnlineLoop::keep(Value tile) { return ConvertOp::create(builder, loc, tile.getType(), stage(tile)); }

/// Whether a dot is multiplied by a unit that takes narrow factors as they are.
static bool isNarrow(DotOp dot) { return dot.getBlocking() && dot.getBlocking()->getNarrow(); }

/// Whether a factor is read where it lies.
static bool isRead(Value factor) {
  while (auto transpose = factor.getDefiningOp<TransposeOp>())
    factor = transpose.getInput();
  return factor.getDefiningOp<LoadOp>();
}

/// Factors of dots that do not walk the axis are read again for each piece. A processor converts them here once, unless
/// a unit takes them as they are: it packs what can be read where it lies.
void OnlineLoop::stageBefore() {
  for (Operation *op : dependent)
    if (auto dot = dyn_cast<DotOp>(op))
      for (OpOperand *factor : {&dot.getLhsMutable(), &dot.getRhsMutable()})
        if (!axes.contains(factor->get(), axis)) {
          builder.setInsertionPoint(dot);
          Value tile = factor->get();
          const bool isWanted = isProcessor() && isa<FloatType>(elementOf(tile)) && !typeOf(tile).getEncoding();
          if (isNarrow(dot) && isRead(tile))
            continue;
          // What is computed is so in the order in which vectors read, and transposed behind that.
          if (isWanted && !isRead(tile) && liesAcross(tile))
            tile = stageFactor(tile, /*isAcross=*/true, elementOf(tile));
          if (isWanted && isNarrow(dot)) {
            factor->set(tile == factor->get() ? keep(tile) : tile);
            continue;
          }
          if (isWanted)
            tile = widen(tile, elementOf(dot.getResult()));
          factor->set(stage(tile));
        }
}

Value OnlineLoop::widen(Value tile, Type element) {
  if (elementOf(tile) == element)
    return tile;
  return arith::ExtFOp::create(builder, loc, withElement(tile, element), tile);
}

/// Whether neighbours in memory, of what a factor is read or computed of, are neighbours along its last dimension but
/// one.
bool OnlineLoop::liesAcross(Value factor) const {
  const int64_t rank = typeOf(factor).getRank();
  const Axis across = axes.of(factor, rank - 2), along = axes.of(factor, rank - 1);
  int64_t balance = 0;
  SmallVector<Value> work{factor};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second || isa<DotOp, ReduceOp>(op))
      continue;
    llvm::append_range(work, op->getOperands());
    if (auto load = dyn_cast<LoadOp>(op))
      for (auto [dim, own] : llvm::enumerate(axes.of(load.getResult())))
        if (strideOf(load.getView(), dim) == 1 && axes.extent(own) > 1)
          balance += (own == across) - (own == along);
  }
  return balance > 0;
}

/// The tile with its last two dimensions swapped.
Value OnlineLoop::swapped(Value tile) {
  const int64_t rank = typeOf(tile).getRank();
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[rank - 1], order[rank - 2]);
  auto transpose = tile.getDefiningOp<TransposeOp>();
  if (transpose && ArrayRef<int64_t>(transpose.getOrder()) == ArrayRef<int64_t>(order))
    return transpose.getInput();
  SmallVector<int64_t> shape(typeOf(tile).getShape());
  std::swap(shape[rank - 1], shape[rank - 2]);
  return TransposeOp::create(builder, loc, RankedTensorType::get(shape, elementOf(tile)), tile, order);
}

/// A factor in memory, in the order in which it lies where it is read.
Value OnlineLoop::stageFactor(Value factor, bool isAcross, Type element) {
  Value read = isAcross ? swapped(factor) : factor;
  // Several dots may read it.
  Value &staged = stagedFactors[{read, element}];
  if (!staged)
    staged = keep(widen(read, element));
  return isAcross ? swapped(staged) : staged;
}

/// The elements of a piece that dots of a processor read one by one are converted, and computed, once for all rows and
/// columns that they are multiplied with. `weights` are in memory anyway.
void OnlineLoop::stageFactors(DotOp dot, IRMapping &operands, Value weights) {
  if (!isProcessor() || dot.getBlocking() || !isa<FloatType>(elementOf(dot.getResult())))
    return;
  for (Value factor : {dot.getLhs(), dot.getRhs()}) {
    Value inside = factor == weights ? Value() : operands.lookupOrNull(factor);
    if (!inside || typeOf(inside).getEncoding())
      continue;
    Value read = inside;
    while (auto transpose = read.getDefiningOp<TransposeOp>())
      read = transpose.getInput();
    if (!read.getDefiningOp<LoadOp>() || elementOf(read) != elementOf(dot.getResult()))
      operands.map(factor, stageFactor(inside, liesAcross(factor), elementOf(dot.getResult())));
  }
}

/// A tile of the rows with the shape of `like`; `original` has the same axes and is known to `axes`.
Value OnlineLoop::spread(Value row, Value like, Value original) {
  SmallVector<Axis> rows = axes.of(max.getResult()), all = axes.of(original);
  SmallVector<int64_t> dims, order;
  for (Axis a : rows)
    dims.push_back(llvm::find(all, a) - all.begin());
  order = llvm::to_vector(llvm::seq<int64_t>(0, rows.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  if (!llvm::is_sorted(order)) {
    SmallVector<int64_t> shape;
    for (int64_t at : order)
      shape.push_back(typeOf(row).getDimSize(at));
    row = TransposeOp::create(builder, loc, typeOf(row).clone(shape), row, order);
    llvm::sort(dims);
  }
  return BroadcastOp::create(builder, loc, withElement(like, elementOf(row)), row, dims);
}

/// Weights in the type of what a unit multiplies them with.
Value OnlineLoop::narrow(Value weights, DotOp dot) {
  Type narrow = builder.getBF16Type();
  if (!isNarrow(dot) || elementOf(weights).getIntOrFloatBitWidth() <= narrow.getIntOrFloatBitWidth())
    return weights;
  return arith::TruncFOp::create(builder, loc, withElement(weights, narrow), weights);
}

/// The maximum and the sums with the share of one piece. Nothing is carried into a piece that is the whole axis.
void OnlineLoop::emitPiece(ArrayRef<Value> carried, SmallVectorImpl<Value> &results) {
  IRMapping mapping;
  Value safe, shrink;
  const bool isWhole = carried.empty();
  results.assign(sums.size() + 1, Value());
  for (Operation *op : dependent) {
    Value result = op->getResult(0);
    size_t number = llvm::find(sums, op) - sums.begin();
    if (op == max) {
      Value larger = builder.clone(*op, mapping)->getResult(0);
      if (!isWhole)
        larger = arith::MaximumFOp::create(builder, loc, carried.front(), larger);
      results.front() = larger;
      safe = keep(widen(emitSoftmaxBase(builder, loc, larger), wide));
      if (isWhole)
        continue;
      Value change = arith::SubFOp::create(builder, loc, widen(carried.front(), wide), safe);
      shrink = keep(emitSoftmaxExponential(builder, loc, change));
    } else if (op == exp) {
      Value x = widen(mapping.lookupOrDefault(max.getInput()), wide);
      Value difference = arith::SubFOp::create(builder, loc, x, spread(safe, x, max.getInput()));
      Value powers = emitSoftmaxExponential(builder, loc, difference);
      if (Type element = elementOf(result); element != wide)
        powers = arith::TruncFOp::create(builder, loc, withElement(powers, element), powers);
      mapping.map(result, powers);
    } else if (number == sums.size()) {
      // What is between the maximum and the exponential has been written anew.
      if (auto dot = dyn_cast<DotOp>(op)) {
        IRMapping operands(mapping);
        stageFactors(dot, operands);
        mapping.map(result, builder.clone(*op, operands)->getResult(0));
      } else if (!afterMax.contains(result) || linear.contains(result)) {
        builder.clone(*op, mapping);
      }
    } else {
      Value shrunk;
      if (!isWhole) {
        Value before = carried[number + 1];
        Value factor = spread(widen(shrink, elementOf(before)), before, result);
        shrunk = arith::MulFOp::create(builder, loc, before, factor);
      }
      if (auto dot = dyn_cast<DotOp>(op)) {
        Value weights = linear.contains(dot.getLhs()) ? dot.getLhs() : dot.getRhs();
        IRMapping operands(mapping);
        if (!isWhole)
          operands.map(dot.getAcc(), shrunk);
        // First the weights, whose sums are taken in the same walk.
        operands.map(weights, stage(narrow(mapping.lookup(weights), dot)));
        stageFactors(dot, operands, weights);
        results[number + 1] = builder.clone(*op, operands)->getResult(0);
      } else {
        Value here = builder.clone(*op, mapping)->getResult(0);
        results[number + 1] = isWhole ? here : arith::AddFOp::create(builder, loc, shrunk, here);
      }
    }
  }
}

/// The sums with the share of one piece.
void OnlineLoop::emitPlainPiece(ArrayRef<Value> carried, SmallVectorImpl<Value> &results) {
  IRMapping mapping;
  results.assign(carried.begin(), carried.end());
  for (Operation *op : dependent) {
    if (isa<StoreOp>(op)) {
      builder.clone(*op, mapping);
      continue;
    }
    Value result = op->getResult(0);
    const size_t number = llvm::find(sums, op) - sums.begin();
    if (number == sums.size()) {
      Value copy = builder.clone(*op, mapping)->getResult(0);
      // What several sums are made of.
      if (isa<math::ExpOp>(op) && !result.hasOneUse())
        mapping.map(result, keep(copy));
    } else if (auto dot = dyn_cast<DotOp>(op)) {
      IRMapping operands(mapping);
      operands.map(dot.getAcc(), carried[number]);
      for (Value factor : {dot.getLhs(), dot.getRhs()})
        if (Value inside = mapping.lookupOrNull(factor); inside && !isRead(factor))
          operands.map(factor, stage(inside));
      stageFactors(dot, operands);
      results[number] = builder.clone(*op, operands)->getResult(0);
    } else {
      Value here = builder.clone(*op, mapping)->getResult(0);
      results[number] = arith::AddFOp::create(builder, loc, carried[number], here);
    }
  }
}

FailureOr<scf::ForOp> OnlineLoop::emitLoop(int64_t from, int64_t to, int64_t step, ValueRange carried) {
  Value low = arith::ConstantIndexOp::create(builder, loc, from);
  Value high = arith::ConstantIndexOp::create(builder, loc, to);
  Value by = arith::ConstantIndexOp::create(builder, loc, step);
  if (seen.high)
    high = arith::MinSIOp::create(builder, loc, high, seen.high);
  if (seen.low && from == 0) {
    Value first = arith::MaxSIOp::create(builder, loc, seen.low, low);
    Value rest = arith::RemUIOp::create(builder, loc, first, by);
    low = arith::SubIOp::create(builder, loc, first, rest);
  }
  auto loop = scf::ForOp::create(builder, loc, low, high, by, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> results;
  SmallVector<Value> inside(loop.getRegionIterArgs());
  stagedFactors.clear();
  max ? emitPiece(inside, results) : emitPlainPiece(inside, results);
  scf::YieldOp::create(builder, loc, results);
  FailureOr<Axes> own = Axes::compute(loop);
  FailureOr<Axis> ownAxis = failed(own) ? FailureOr<Axis>(failure()) : own->find(name, loop);
  if (failed(ownAxis))
    return failure();
  SmallVector<Operation *> ops;
  for (Operation &op : loop.getBody()->without_terminator())
    ops.push_back(&op);
  resizeTiles(ops, *own, *ownAxis, step, loop.getInductionVar(), true, /*always=*/true);
  if (step == 1)
    dropSumsOfOne(loop);
  return loop;
}

/// A sum of one tile's only element along the axis is that element.
void OnlineLoop::dropSumsOfOne(scf::ForOp loop) {
  for (ReduceOp reduce : llvm::to_vector(loop.getBody()->getOps<ReduceOp>())) {
    ArrayRef<int64_t> shape = typeOf(reduce.getInput()).getShape();
    if (reduce.getKind() != Combine::Add ||
        llvm::any_of(reduce.getDims(), [&](int64_t dim) { return shape[dim] != 1; }))
      continue;
    OpBuilder at(reduce);
    reduce.getResult().replaceAllUsesWith(ReshapeOp::create(at, loc, reduce.getType(), reduce.getInput()));
    reduce.erase();
  }
}

/// Puts what the loops carried in place of what they replace. What reads it without walking the axis
/// may stand before them.
void OnlineLoop::replace(ValueRange results) {
  llvm::DenseSet<Value> late;
  if (max)
    late.insert(max.getResult());
  for (Operation *sum : sums)
    late.insert(sum->getResult(0));
  Operation *end = results.back().getDefiningOp();
  SmallVector<Operation *> moved;
  for (Operation &op : llvm::make_range(scope.begin(), dependent.back()->getIterator()))
    if (!llvm::is_contained(dependent, &op) &&
        llvm::any_of(op.getOperands(), [&](Value v) { return late.contains(v); })) {
      late.insert(op.result_begin(), op.result_end());
      moved.push_back(&op);
    }
  for (Operation *op : llvm::reverse(moved))
    op->moveAfter(end);
  if (max)
    max.getResult().replaceAllUsesWith(results.front());
  for (auto [sum, result] : llvm::zip_equal(sums, results.take_back(sums.size())))
    sum->getResult(0).replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(dependent))
    op->erase();
}

/// A row whose every element is minus infinity has no distances to its maximum, so its sums are NaN.
void OnlineLoop::restoreEmptyRows(MutableArrayRef<Value> results) {
  Value row = results.front();
  double infinity = std::numeric_limits<double>::infinity();
  Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, row, splat(typeOf(row), -infinity));
  Value factor = arith::SelectOp::create(
      builder, loc, isNone, splat(typeOf(row), std::numeric_limits<double>::quiet_NaN()), splat(typeOf(row), 1));
  for (auto [sum, result] : llvm::zip_equal(sums, results.drop_front()))
    result = arith::MulFOp::create(builder, loc, result,
                                   spread(widen(factor, elementOf(result)), result, sum->getResult(0)));
}

/// One piece that is the whole axis, behind which nothing is left to scale. A processor gains by it nevertheless: each
/// query is turned, and each weight computed, once for all features.
LogicalResult OnlineLoop::emitWhole() {
  SmallVector<Value> results;
  emitPiece({}, results);
  restoreEmptyRows(results);
  replace(results);
  return success();
}

LogicalResult OnlineLoop::run() {
  collect();
  const int64_t extent = axes.extent(axis);
  if (tile >= extent && (!max || !isProcessor()))
    return success();
  if (failed(find()))
    return failure();
  stageBefore();
  builder.setInsertionPointAfter(dependent.back());
  if (tile >= extent)
    return emitWhole();
  SmallVector<Value> carried;
  if (max)
    carried.push_back(splat(typeOf(max.getResult()), -std::numeric_limits<double>::infinity()));
  for (Operation *sum : sums)
    carried.push_back(splat(typeOf(sum->getResult(0)), 0));
  if (max)
    seen = findVisibleRange(max.getInput(), axes, axis, builder, loc);
  const int64_t whole = extent - extent % tile;
  FailureOr<scf::ForOp> loop = emitLoop(0, whole, tile, carried);
  if (succeeded(loop) && whole != extent)
    loop = emitLoop(whole, extent, extent - whole, loop->getResults());
  if (failed(loop))
    return failure();
  SmallVector<Value> results(loop->getResults());
  if (max)
    restoreEmptyRows(results);
  replace(results);
  return success();
}

LogicalResult zyx::kernel::walkOnline(Block &scope, const Axes &axes, Axis axis, StringAttr name, int64_t tile) {
  return OnlineLoop(scope, axes, axis, name, tile).run();
}
