//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// An attention by workgroups whose threads share blocks of keys and values. A block passes through five steps, with
// barriers between: it is written to shared memory; each thread has a tile of scores, over a part of the features;
// whoever has a score adds up its parts and masks it; rows are compared, and weights taken; each thread adds to its
// part of the results. Loops with barriers have the same trips for all threads, and what follows their number is chosen
// by selects or is a store alone.
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Simt/Simt.h"
#include "zyx/Codegen/Tile/Lanes.h"
#include "zyx/Codegen/Tile/TileEvaluator.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using namespace zyx::kernel;

static Type elementOf(Value tile) { return getElementTypeOrSelf(tile.getType()); }

namespace {

class AttentionLowering {
public:
  AttentionLowering(FuncOp func, const Axes &axes, const zyx::target::TargetInfo &machine,
                    const SharedAttention &attention, const SharedAttentionShape &shape)
      : func(func), axes(axes), attention(attention), shape(shape), b(func), loc(func.getLoc()),
        evaluator(b, axes, machine.arithmetic.hasFma, machine.hasSubgroups()), f32(b.getF32Type()),
        scoreLanes(machine.simt.laneBytes / 4) {}

  LogicalResult run();

private:
  using Values = SmallVector<Value>;
  /// What brings one factor into shared memory.
  struct Staging {
    Value tile, memory;
    /// The axis along which vectors are read, and the extents of rows and of one row in vectors.
    Axis rowAxis, columnAxis;
    bool alongColumns;
    int64_t rows, columns, lanes;
    int64_t vectors() const { return rows * columns / lanes; }
  };

  //===--------------------------------------------------------------------===//
  // Small ops
  //===--------------------------------------------------------------------===//
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value add(Value x, int64_t y) { return y == 0 ? x : add(x, index(y)); }
  Value times(Value x, int64_t y) { return y == 1 ? x : b.createOrFold<arith::MulIOp>(loc, x, index(y)); }
  Value over(Value x, int64_t y) { return y == 1 ? x : b.createOrFold<arith::DivUIOp>(loc, x, index(y)); }
  Value rest(Value x, int64_t y) { return y == 1 ? index(0) : b.createOrFold<arith::RemUIOp>(loc, x, index(y)); }
  Value atMost(Value x, int64_t y) { return b.createOrFold<arith::MinUIOp>(loc, x, index(y)); }
  Value isBelow(Value x, int64_t y) {
    return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, x, index(y));
  }
  Value choose(Value condition, Value x, Value y) {
    return condition ? b.createOrFold<arith::SelectOp>(loc, condition, x, y) : x;
  }
  Value both(Value x, Value y) { return !x ? y : !y ? x : b.createOrFold<arith::AndIOp>(loc, x, y); }
  Value number(double value) { return arith::ConstantOp::create(b, loc, b.getFloatAttr(f32, value)); }
  Value zeros(Type type) { return arith::ConstantOp::create(b, loc, b.getZeroAttr(type)); }
  Value widen(Value value) {
    Type wide = isa<VectorType>(value.getType()) ? Type(cast<VectorType>(value.getType()).clone(f32)) : Type(f32);
    return value.getType() == wide ? value : arith::ExtFOp::create(b, loc, wide, value).getResult();
  }
  Value narrow(Value value, Type type) {
    return value.getType() == type ? value : arith::TruncFOp::create(b, loc, type, value).getResult();
  }
  Type vectorOf(Type element, int64_t lanes) { return lanes == 1 ? element : Type(VectorType::get(lanes, element)); }
  Value lane(Value value, int64_t at) {
    return isa<VectorType>(value.getType()) ? vector::ExtractOp::create(b, loc, value, at).getResult() : value;
  }
  Value repeat(Value value, int64_t lanes) {
    return lanes == 1 ? value
                      : vector::BroadcastOp::create(b, loc, VectorType::get(lanes, value.getType()), value).getResult();
  }
  Value fma(Value x, Value y, Value sum) { return math::FmaOp::create(b, loc, x, y, sum); }
  Value exponential(Value distance) {
    auto power = math::ExpOp::create(b, loc, distance);
    power->setAttr(nonpositiveAttrName, b.getUnitAttr());
    return power;
  }
  Value share(ArrayRef<int64_t> shape, Type element) {
    return AllocOp::create(b, loc, ViewType::get(shape, element, Space::Shared));
  }
  Value read(Value view, ArrayRef<Value> at, int64_t lanes = 1) {
    return LoadOp::create(b, loc, vectorOf(cast<ViewType>(view.getType()).getElementType(), lanes), view, at, Value(),
                          Value(), ArrayAttr(), DenseBoolArrayAttr());
  }
  void write(Value value, Value view, ArrayRef<Value> at) {
    StoreOp::create(b, loc, value, view, at, Value(), DenseBoolArrayAttr());
  }
  void meet() { BarrierOp::create(b, loc, Scope::Workgroup, /*async=*/false); }
  Values loop(Value from, Value to, Value by, ValueRange init, llvm::function_ref<Values(Value, ValueRange)> body);
  /// Always, where there is no condition.
  void when(Value condition, llvm::function_ref<void()> body);

  //===--------------------------------------------------------------------===//
  // The kernel
  //===--------------------------------------------------------------------===//
  Staging stagingOf(Value factor, Axis rowAxis, int64_t rows, int64_t all, Axis columnAxis, int64_t columns, Type type);
  /// The thread's vectors of a factor, of the rows from `first` on; of those that do not exist the last ones'.
  FailureOr<Values> fetch(const Staging &staging, Value first, int64_t all);
  /// Writes them there; with `first`, zeros in place of rows that do not exist: of an infinity, a weight of zero makes
  /// NaN.
  void put(const Staging &staging, ValueRange vectors, Value first = {}, int64_t all = 0);
  void setRow(Point &point, Value row);
  LogicalResult stageQueries();
  /// What a condition says of the keys that a row sees: those below, or not below, a number that is evaluated for it.
  struct Limit {
    Value number;
    bool isEnd;
    int64_t plus;
  };
  void findLimits(Value condition, bool isSeen, SmallVectorImpl<Limit> &limits);
  SmallVector<Limit> findLimits();
  LogicalResult narrowKeys(Value &begin, Value &end);
  Values scoreParts();
  LogicalResult weigh(Value firstKey, Values &carried);
  void addValues(Values &carried, unsigned first);
  void keepOwn(ValueRange carried);
  Values sumsOf(Value row);
  void forResults(ValueRange carried, llvm::function_ref<void(Value, Value, Value)> body);
  LogicalResult storeRow(Value row, Value max, ValueRange sums, Value column, Value result);
  LogicalResult finish(ValueRange carried);
  LogicalResult finishTogether(ValueRange carried);
  FailureOr<Values> block(Value firstKey, ValueRange carried);

  FuncOp func;
  const Axes &axes;
  SharedAttention attention;
  const SharedAttentionShape &shape;
  OpBuilder b;
  Location loc;
  TileEvaluator evaluator;
  const Type f32;
  /// Scores that a thread reads at once.
  const int64_t scoreLanes;

  /// Of the program: where it is on the batches' axes, its first row, its thread's number.
  Point program;
  Value firstRow, thread;
  int64_t numRows = 1, numKeys = 1;
  Staging keys, values;
  Value queries, parts, weights, shrinks, maxima, partSums, totals, outputs;
  /// Of a cluster: this workgroup's number, and what the first one gets of all.
  Value rank, allNumbers, allOutputs;
  /// Who compares: its row, its place among those of the row, and how many these are.
  Value comparedRow, comparedPlace;
  int64_t perRow = 1, each = 1;
};

} // namespace

AttentionLowering::Values AttentionLowering::loop(Value from, Value to, Value by, ValueRange init,
                                                  llvm::function_ref<Values(Value, ValueRange)> body) {
  auto made = scf::ForOp::create(b, loc, from, to, by, init);
  OpBuilder::InsertionGuard guard(b);
  if (init.empty())
    b.setInsertionPoint(made.getBody()->getTerminator());
  else
    b.setInsertionPointToEnd(made.getBody());
  Values next = body(made.getInductionVar(), made.getRegionIterArgs());
  if (!init.empty())
    scf::YieldOp::create(b, loc, next);
  return Values(made.getResults());
}

void AttentionLowering::when(Value condition, llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(b, loc, condition);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

//===----------------------------------------------------------------------===//
// Into shared memory
//===----------------------------------------------------------------------===//

/// Whether memory that a factor is made of lies side by side along an axis.
static bool liesAlong(Value factor, Axis axis, const Axes &axes) {
  SmallVector<Value> pending{factor};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!isTile(next) || !seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (auto load = dyn_cast_or_null<LoadOp>(op))
      for (auto [dim, own] : llvm::enumerate(axes.of(next)))
        if (own == axis && strideOf(load.getView(), dim) == 1)
          return true;
    if (op)
      llvm::append_range(pending, op->getOperands());
  }
  return false;
}

AttentionLowering::Staging AttentionLowering::stagingOf(Value factor, Axis rowAxis, int64_t rows, int64_t all,
                                                        Axis columnAxis, int64_t columns, Type type) {
  Staging staging{factor, Value(), rowAxis, columnAxis, true, rows, columns, 1};
  staging.alongColumns = liesAlong(factor, columnAxis, axes) || !liesAlong(factor, rowAxis, axes);
  int64_t lanes = std::min<int64_t>(16 / std::max<int64_t>(type.getIntOrFloatBitWidth() / 8, 1), 8);
  auto divides = [&] { return staging.alongColumns ? columns % lanes == 0 : rows % lanes == 0 && all % lanes == 0; };
  while (!divides())
    lanes /= 2;
  staging.lanes = lanes;
  return staging;
}

FailureOr<AttentionLowering::Values> AttentionLowering::fetch(const Staging &staging, Value first, int64_t all) {
  Values result;
  const int64_t perRow = staging.alongColumns ? staging.columns / staging.lanes : staging.rows / staging.lanes;
  for (int64_t i = 0; i < staging.vectors(); i += shape.threads) {
    Value vector = add(thread, i);
    if (i + shape.threads > staging.vectors())
      vector = atMost(vector, staging.vectors() - 1);
    Point point = program;
    Value row, column;
    if (staging.alongColumns) {
      row = add(first, over(vector, perRow));
      column = times(rest(vector, perRow), staging.lanes);
      row = atMost(row, all - 1);
    } else {
      column = over(vector, perRow);
      row = atMost(add(first, times(rest(vector, perRow), staging.lanes)), all - staging.lanes);
    }
    if (&staging != &keys && &staging != &values)
      setRow(point, row);
    else
      point.positions[staging.rowAxis] = row;
    point.positions[staging.columnAxis] = column;
    point.lanes = staging.lanes;
    if (staging.lanes > 1)
      point.vectorAxis = staging.alongColumns ? staging.columnAxis : staging.rowAxis;
    FailureOr<Value> read = evaluator.evaluateVector(staging.tile, point);
    if (failed(read))
      return failure();
    result.push_back(*read);
  }
  return result;
}

void AttentionLowering::put(const Staging &staging, ValueRange vectors, Value first, int64_t all) {
  const int64_t perRow = staging.alongColumns ? staging.columns / staging.lanes : staging.rows / staging.lanes;
  Type element = cast<ViewType>(staging.memory.getType()).getElementType();
  for (auto [i, value] : llvm::enumerate(vectors)) {
    const int64_t from = static_cast<int64_t>(i) * shape.threads;
    Value vector = add(thread, from);
    Value exists = from + shape.threads > staging.vectors() ? isBelow(vector, staging.vectors()) : Value();
    Value kept = value;
    when(exists, [&] {
      if (getElementTypeOrSelf(kept.getType()) != element)
        kept = widen(kept);
      if (first) {
        Value row = staging.alongColumns ? over(vector, perRow) : times(rest(vector, perRow), staging.lanes);
        kept = arith::SelectOp::create(b, loc, isBelow(add(first, row), all), kept, zeros(kept.getType()));
      }
      if (staging.alongColumns)
        return write(kept, staging.memory, {over(vector, perRow), times(rest(vector, perRow), staging.lanes)});
      Value row = times(rest(vector, perRow), staging.lanes);
      for (int64_t l = 0; l < staging.lanes; ++l)
        write(lane(kept, l), staging.memory, {add(row, l), over(vector, perRow)});
    });
  }
}

/// Sets the positions of a row among those that share keys; of one that does not exist, the last one's.
void AttentionLowering::setRow(Point &point, Value row) {
  row = atMost(row, numRows - 1);
  for (auto [i, part] : llvm::enumerate(llvm::reverse(attention.rows))) {
    const bool isLast = i + 1 == attention.rows.size();
    Value own = isLast ? row : rest(row, part.extent), first = program.positions.lookup(part.axis);
    point.positions[part.axis] = first ? add(first, own) : own;
    if (!isLast)
      row = over(row, part.extent);
  }
}

LogicalResult AttentionLowering::stageQueries() {
  queries = share({shape.rows, shape.depth}, f32);
  Staging staging = stagingOf(attention.q, attention.features, shape.rows, numRows, attention.features, shape.depth,
                              elementOf(attention.q));
  // Rows are of several axes: vectors run along features, or are single elements.
  if (!liesAlong(attention.q, attention.features, axes))
    staging.lanes = 1;
  staging.alongColumns = true;
  staging.memory = queries;
  FailureOr<Values> read = fetch(staging, firstRow, numRows);
  if (failed(read))
    return failure();
  put(staging, *read);
  return success();
}

//===----------------------------------------------------------------------===//
// Which blocks
//===----------------------------------------------------------------------===//

/// Whether a tile counts along the keys, in whatever type.
static bool countsKeys(Value tile, Axis keys, const Axes &axes) {
  while (isa_and_nonnull<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp, BroadcastOp, TransposeOp, ReshapeOp>(
      tile.getDefiningOp()))
    tile = tile.getDefiningOp()->getOperand(0);
  auto iota = tile.getDefiningOp<IotaOp>();
  return iota && !iota.getBase() && isa<IntegerType, IndexType>(elementOf(tile)) &&
         axes.of(iota.getResult(), iota.getDim()) == keys;
}

/// Limits of what is seen where a condition holds, or where it does not.
void AttentionLowering::findLimits(Value condition, bool isSeen, SmallVectorImpl<Limit> &limits) {
  Operation *op = condition.getDefiningOp();
  if (isa_and_nonnull<BroadcastOp, TransposeOp, ReshapeOp>(op))
    return findLimits(op->getOperand(0), isSeen, limits);
  // Where one of both hides a key nobody sees it.
  if (isSeen ? isa_and_nonnull<arith::AndIOp>(op) : isa_and_nonnull<arith::OrIOp>(op)) {
    findLimits(op->getOperand(0), isSeen, limits);
    return findLimits(op->getOperand(1), isSeen, limits);
  }
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare)
    return;
  arith::CmpIPredicate predicate = compare.getPredicate();
  Value key = compare.getLhs(), other = compare.getRhs();
  if (!countsKeys(key, attention.keys, axes)) {
    std::swap(key, other);
    switch (predicate) {
    case arith::CmpIPredicate::slt:
      predicate = arith::CmpIPredicate::sgt;
      break;
    case arith::CmpIPredicate::sle:
      predicate = arith::CmpIPredicate::sge;
      break;
    case arith::CmpIPredicate::sgt:
      predicate = arith::CmpIPredicate::slt;
      break;
    case arith::CmpIPredicate::sge:
      predicate = arith::CmpIPredicate::sle;
      break;
    default:
      break;
    }
  }
  // What is the same for all keys is repeated along them.
  while (isa_and_nonnull<BroadcastOp, TransposeOp, ReshapeOp>(other.getDefiningOp()))
    other = other.getDefiningOp()->getOperand(0);
  if (!countsKeys(key, attention.keys, axes) || axes.contains(other, attention.keys) ||
      !isa<IntegerType>(elementOf(other)) || elementOf(other).getIntOrFloatBitWidth() < 32)
    return;
  if (!isSeen)
    predicate = arith::invertPredicate(predicate);
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return limits.push_back({other, true, 0});
  case arith::CmpIPredicate::sle:
    return limits.push_back({other, true, 1});
  case arith::CmpIPredicate::sgt:
    return limits.push_back({other, false, 1});
  case arith::CmpIPredicate::sge:
    return limits.push_back({other, false, 0});
  default:
    return;
  }
}

/// Those of what is minus infinity elsewhere.
SmallVector<AttentionLowering::Limit> AttentionLowering::findLimits() {
  auto isHidden = [](Value tile) {
    DenseElementsAttr value;
    while (isa_and_nonnull<BroadcastOp, arith::ExtFOp, arith::TruncFOp>(tile.getDefiningOp()))
      tile = tile.getDefiningOp()->getOperand(0);
    if (!matchPattern(tile, m_Constant(&value)) || !value.isSplat() || !isa<FloatType>(value.getElementType()))
      return false;
    const auto number = value.getSplatValue<APFloat>();
    return number.isInfinity() && number.isNegative();
  };
  SmallVector<Limit> limits;
  Value scores = attention.max.getInput();
  while (Operation *op = scores.getDefiningOp()) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
      scores = op->getOperand(0);
      continue;
    }
    auto select = dyn_cast<arith::SelectOp>(op);
    if (!select || !isTile(select.getCondition()))
      break;
    const bool isSeen = isHidden(select.getFalseValue());
    if (!isSeen && !isHidden(select.getTrueValue()))
      break;
    findLimits(select.getCondition(), isSeen, limits);
    scores = isSeen ? select.getTrueValue() : select.getFalseValue();
  }
  return limits;
}

/// Leaves out keys that no row of the program sees: in front, whole blocks.
LogicalResult AttentionLowering::narrowKeys(Value &begin, Value &end) {
  auto smaller = [&](Value x, Value y) { return b.createOrFold<arith::MinSIOp>(loc, x, y); };
  auto larger = [&](Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(loc, x, y); };
  LogicalResult evaluated = success();
  auto numberAt = [&](const Limit &limit, Point point) -> Value {
    FailureOr<Value> number = evaluator.evaluate(limit.number, point);
    if (failed(number)) {
      evaluated = failure();
      return index(0);
    }
    Value place = arith::IndexCastOp::create(b, loc, b.getIndexType(), *number);
    place = smaller(larger(place, index(-1)), index(numKeys));
    return larger(smaller(add(place, limit.plus), index(numKeys)), index(0));
  };
  for (const Limit &limit : findLimits()) {
    const bool differs = llvm::any_of(
        attention.rows, [&](const SharedAttention::Part &part) { return axes.contains(limit.number, part.axis); });
    Value all;
    if (!differs)
      all = numberAt(limit, program);
    else
      all = loop(index(0), index(shape.rows), index(1), limit.isEnd ? index(0) : index(numKeys),
                 [&](Value row, ValueRange before) -> Values {
                   Point point = program;
                   setRow(point, add(firstRow, row));
                   Value own = numberAt(limit, point);
                   return {limit.isEnd ? larger(before[0], own) : smaller(before[0], own)};
                 })[0];
    if (limit.isEnd)
      end = smaller(end, all);
    else
      begin = larger(begin, all);
  }
  begin = times(over(begin, shape.keys), shape.keys);
  return evaluated;
}

//===----------------------------------------------------------------------===//
// A block
//===----------------------------------------------------------------------===//

/// Scores of a thread: rows and keys that lie as far apart as there are threads along them, so that neighbours read
/// neighbouring keys, and the same rows.
AttentionLowering::Values AttentionLowering::scoreParts() {
  const int64_t across = shape.keys / shape.ownKeys, down = shape.rows / shape.ownRows;
  Value key = rest(thread, across), row = rest(over(thread, across), down), slice = over(thread, across * down);
  const int64_t lanes = shape.keyLanes;
  Values sums(static_cast<size_t>(shape.ownRows * shape.ownKeys), number(0));
  sums = loop(times(slice, lanes), index(shape.depth), index(shape.slices * lanes), sums,
              [&](Value feature, ValueRange before) -> Values {
                Values q, k, next(before);
                for (int64_t r = 0; r < shape.ownRows; ++r)
                  q.push_back(read(queries, {add(row, r * down), feature}, lanes));
                for (int64_t c = 0; c < shape.ownKeys; ++c)
                  k.push_back(widen(read(keys.memory, {add(key, c * across), feature}, lanes)));
                for (int64_t l = 0; l < lanes; ++l)
                  for (int64_t r = 0; r < shape.ownRows; ++r)
                    for (int64_t c = 0; c < shape.ownKeys; ++c) {
                      Value &sum = next[static_cast<size_t>(r * shape.ownKeys + c)];
                      sum = fma(lane(q[static_cast<size_t>(r)], l), lane(k[static_cast<size_t>(c)], l), sum);
                    }
                return next;
              });
  Value exists = across * down * shape.slices < shape.threads ? isBelow(slice, shape.slices) : Value();
  when(exists, [&] {
    for (int64_t r = 0; r < shape.ownRows; ++r)
      for (int64_t c = 0; c < shape.ownKeys; ++c)
        write(sums[static_cast<size_t>(r * shape.ownKeys + c)], parts,
              {slice, add(row, r * down), add(key, c * across)});
  });
  return sums;
}

/// Maxima, sums and weights of a block. Carried are the row's maximum and, for each sum, the thread's part of it.
LogicalResult AttentionLowering::weigh(Value firstKey, Values &carried) {
  const bool isPartial = numKeys % shape.keys != 0;
  Point row = program;
  setRow(row, add(firstRow, comparedRow));
  Value none = number(-std::numeric_limits<double>::infinity());
  struct Own {
    Value place, exists;
    Point point;
  };
  SmallVector<Own> all;
  for (int64_t i = 0; i < each; ++i) {
    Own one{add(comparedPlace, i * perRow), Value(), row};
    Value key = add(firstKey, one.place);
    if (isPartial) {
      one.exists = isBelow(key, numKeys);
      key = atMost(key, numKeys - 1);
    }
    one.point.positions[attention.keys] = key;
    Value score;
    for (int64_t slice = 0; slice < shape.slices; ++slice) {
      Value part = read(parts, {index(slice), comparedRow, one.place});
      score = score ? arith::AddFOp::create(b, loc, score, part).getResult() : part;
    }
    one.point.memo[attention.scores->getResult(0)] = score;
    FailureOr<Value> masked = evaluator.evaluate(attention.max.getInput(), one.point);
    if (failed(masked))
      return failure();
    Value seen = choose(one.exists, widen(*masked), none);
    // Nobody else reads the parts of this score.
    write(seen, parts, {index(0), comparedRow, one.place});
    all.push_back(std::move(one));
  }
  meet();
  const int64_t lanes = scoreLanes;
  auto vector = VectorType::get(lanes, f32);
  Value start = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(vector, Attribute(b.getFloatAttr(f32, -std::numeric_limits<double>::infinity()))));
  Value largest = loop(index(0), index(shape.keys), index(lanes), start, [&](Value at, ValueRange before) -> Values {
    return {arith::MaximumFOp::create(b, loc, before[0], read(parts, {index(0), comparedRow, at}, lanes))};
  })[0];
  largest = arith::MaximumFOp::create(b, loc, carried[0], combineLanes(b, loc, Combine::Max, largest));
  // From minus infinity no distance can be taken: all so far weighs nothing.
  Value isNone = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, largest, none);
  Value base = choose(isNone, number(0), largest);
  Value shrink = exponential(arith::SubFOp::create(b, loc, carried[0], base));
  carried[0] = largest;
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, comparedPlace, index(0));
  when(isFirst, [&] { write(shrink, shrinks, comparedRow); });
  for (size_t s = 0; s < attention.sums.size(); ++s)
    carried[1 + s] = arith::MulFOp::create(b, loc, carried[1 + s], shrink);
  Value known = narrow(base, elementOf(attention.max.getResult()));
  for (Own &one : all) {
    one.point.memo[attention.max.getResult()] = known;
    for (auto [s, sum] : llvm::enumerate(attention.sums)) {
      ReduceOp reduce = sum;
      FailureOr<Value> term = evaluator.evaluate(reduce.getInput(), one.point);
      if (failed(term))
        return failure();
      carried[1 + s] = arith::AddFOp::create(b, loc, carried[1 + s], choose(one.exists, *term, number(0)));
    }
    FailureOr<Value> weight = evaluator.evaluate(attention.weights, one.point);
    if (failed(weight))
      return failure();
    write(choose(one.exists, widen(*weight), number(0)), weights, {comparedRow, one.place});
  }
  return success();
}

/// Adds a block's weighted values to the thread's parts of the results, which shrink first.
void AttentionLowering::addValues(Values &carried, unsigned first) {
  const int64_t vectors = shape.width / shape.valueLanes, items = shape.rows / shape.outRows * vectors;
  const int64_t perSlice = shape.keys / shape.outSlices, lanes = shape.valueLanes;
  const int64_t keysAtOnce = perSlice % 4 == 0 ? 4 : 1;
  Value slice = shape.outSlices > 1 ? atMost(over(thread, items), shape.outSlices - 1) : index(0);
  Value start = times(slice, perSlice);
  for (int64_t i = 0; i < shape.outItems; ++i) {
    Value item = shape.outSlices > 1 ? rest(thread, items) : atMost(add(thread, i * shape.threads), items - 1);
    Value row = times(over(item, vectors), shape.outRows), column = times(rest(item, vectors), lanes);
    const size_t at = first + static_cast<size_t>(i * shape.outRows);
    Values sums;
    for (int64_t r = 0; r < shape.outRows; ++r)
      sums.push_back(arith::MulFOp::create(b, loc, carried[at + static_cast<size_t>(r)],
                                           repeat(read(shrinks, add(row, r)), lanes)));
    sums = loop(start, add(start, perSlice), index(keysAtOnce), sums, [&](Value key, ValueRange before) -> Values {
      Values next(before), weight, value;
      for (int64_t r = 0; r < shape.outRows; ++r)
        weight.push_back(read(weights, {add(row, r), key}, keysAtOnce));
      for (int64_t k = 0; k < keysAtOnce; ++k) {
        Value own = widen(read(values.memory, {add(key, k), column}, lanes));
        for (int64_t r = 0; r < shape.outRows; ++r) {
          Value &sum = next[static_cast<size_t>(r)];
          sum = fma(repeat(lane(weight[static_cast<size_t>(r)], k), lanes), own, sum);
        }
      }
      return next;
    });
    for (int64_t r = 0; r < shape.outRows; ++r)
      carried[at + static_cast<size_t>(r)] = sums[static_cast<size_t>(r)];
  }
}

/// The loop carries the row's maximum, parts of sums, results, and what was read ahead.
FailureOr<AttentionLowering::Values> AttentionLowering::block(Value firstKey, ValueRange before) {
  const size_t numSums = attention.sums.size(), numResults = static_cast<size_t>(shape.outItems * shape.outRows);
  Values carried(before.take_front(1 + numSums + numResults)), next;
  auto fetchBoth = [&](Value from) -> FailureOr<Values> {
    FailureOr<Values> k = fetch(keys, from, numKeys),
                      v = failed(k) ? FailureOr<Values>(failure()) : fetch(values, from, numKeys);
    if (failed(v))
      return failure();
    k->append(v->begin(), v->end());
    return k;
  };
  const size_t numKeyVectors = static_cast<size_t>(llvm::divideCeil(keys.vectors(), shape.threads));
  Values here(before.drop_front(carried.size()));
  if (!shape.ahead) {
    FailureOr<Values> read = fetchBoth(firstKey);
    if (failed(read))
      return failure();
    here = *read;
  }
  put(keys, ValueRange(here).take_front(numKeyVectors));
  put(values, ValueRange(here).drop_front(numKeyVectors), numKeys % shape.keys != 0 ? firstKey : Value(), numKeys);
  meet();
  if (shape.ahead) {
    // Behind the last block it is read once more: nobody looks at that.
    FailureOr<Values> read = fetchBoth(atMost(add(firstKey, shape.keys), (numKeys - 1) / shape.keys * shape.keys));
    if (failed(read))
      return failure();
    next = *read;
  }
  scoreParts();
  meet();
  if (failed(weigh(firstKey, carried)))
    return failure();
  meet();
  addValues(carried, static_cast<unsigned>(1 + numSums));
  // The next block takes this one's place.
  meet();
  carried.append(next);
  return carried;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// A thread's parts of sums and maxima, and of results where several threads have them, become the workgroup's.
void AttentionLowering::keepOwn(ValueRange carried) {
  const int64_t vectors = shape.width / shape.valueLanes, items = shape.rows / shape.outRows * vectors;
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, comparedPlace, index(0));
  when(isFirst, [&] { write(carried[0], maxima, comparedRow); });
  for (size_t s = 0; s < attention.sums.size(); ++s)
    write(carried[1 + s], partSums, {index(static_cast<int64_t>(s)), comparedRow, comparedPlace});
  if (shape.outSlices == 1)
    return meet();
  Value slice = over(thread, items), item = rest(thread, items), row = times(over(item, vectors), shape.outRows),
        column = times(rest(item, vectors), shape.valueLanes);
  Value exists = items * shape.outSlices < shape.threads ? isBelow(slice, shape.outSlices) : Value();
  when(exists, [&] {
    for (int64_t r = 0; r < shape.outRows; ++r)
      write(carried[1 + attention.sums.size() + static_cast<size_t>(r)], outputs, {slice, add(row, r), column});
  });
  meet();
}

/// Sums of a row, from the parts of those that compared it.
AttentionLowering::Values AttentionLowering::sumsOf(Value row) {
  Values sums;
  for (size_t s = 0; s < attention.sums.size(); ++s)
    sums.push_back(loop(index(0), index(perRow), index(1), number(0), [&](Value place, ValueRange before) -> Values {
      return {arith::AddFOp::create(b, loc, before[0], read(partSums, {index(static_cast<int64_t>(s)), row, place}))};
    })[0]);
  return sums;
}

/// Calls `body` for each vector of results that this thread has, where that exists: with its row in the program, its
/// first column, and its sum.
void AttentionLowering::forResults(ValueRange carried, llvm::function_ref<void(Value, Value, Value)> body) {
  const int64_t vectors = shape.width / shape.valueLanes, lanes = shape.valueLanes;
  // Parts of results that a thread has in registers, or adds up in the order of their slices.
  const bool isShared = shape.outSlices > 1;
  const int64_t rowsEach = isShared ? 1 : shape.outRows, all = shape.rows / rowsEach * vectors;
  for (int64_t i = 0; i < all; i += shape.threads) {
    Value item = add(thread, i);
    Value exists = i + shape.threads > all ? isBelow(item, all) : Value();
    Value firstOwn = times(over(item, vectors), rowsEach), column = times(rest(item, vectors), lanes);
    for (int64_t r = 0; r < rowsEach; ++r)
      when(exists, [&] {
        Value row = add(firstOwn, r), sum;
        if (!isShared)
          sum = carried[1 + attention.sums.size() + static_cast<size_t>(i / shape.threads * shape.outRows + r)];
        for (int64_t s = 0; isShared && s < shape.outSlices; ++s) {
          Value part = read(outputs, {index(s), row, column}, lanes);
          sum = sum ? arith::AddFOp::create(b, loc, sum, part).getResult() : part;
        }
        body(row, column, sum);
      });
  }
}

/// Evaluates and stores what a row has: results of a vector of columns, or with none, its numbers.
LogicalResult AttentionLowering::storeRow(Value row, Value max, ValueRange sums, Value column, Value result) {
  Value isEmpty =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, max, number(-std::numeric_limits<double>::infinity()));
  // A row of nothing but minus infinity has no distances: its weights are NaN, and so are their sums.
  Value nothing = number(std::numeric_limits<double>::quiet_NaN());
  Value global = add(firstRow, row);
  LogicalResult written = success();
  when(numRows % shape.rows != 0 ? isBelow(global, numRows) : Value(), [&] {
    Point point = program;
    setRow(point, global);
    point.memo[attention.max.getResult()] = narrow(max, elementOf(attention.max.getResult()));
    for (auto [sum, value] : llvm::zip(attention.sums, sums))
      point.memo[ReduceOp(sum).getResult()] = choose(isEmpty, nothing, value);
    if (result) {
      const int64_t lanes = shape.valueLanes;
      point.memo[attention.output->getResult(0)] =
          arith::SelectOp::create(b, loc, isEmpty, repeat(nothing, lanes), result);
      point.positions[attention.columns] = column;
      point.lanes = lanes;
      if (lanes > 1)
        point.vectorAxis = attention.columns;
    }
    for (StoreOp store : result ? attention.results : attention.ofRows) {
      FailureOr<Value> value =
          result ? evaluator.evaluateVector(store.getValue(), point) : evaluator.evaluate(store.getValue(), point);
      if (failed(value) || failed(evaluator.store(store, *value, point)))
        written = failure();
    }
  });
  return written;
}

LogicalResult AttentionLowering::finish(ValueRange carried) {
  if (shape.cluster > 1)
    return finishTogether(carried);
  const auto numSums = static_cast<int64_t>(attention.sums.size());
  keepOwn(carried);
  Value isRow = shape.rows < shape.threads ? isBelow(thread, shape.rows) : Value();
  LogicalResult written = success();
  // A thread for each row adds up what those have that compared it.
  when(isRow, [&] {
    Values sums = sumsOf(thread);
    for (int64_t s = 0; s < numSums; ++s)
      write(sums[static_cast<size_t>(s)], totals, {index(s), thread});
    if (!attention.ofRows.empty() && failed(storeRow(thread, read(maxima, thread), sums, {}, {})))
      written = failure();
  });
  meet();
  forResults(carried, [&](Value row, Value column, Value result) {
    Values sums;
    for (int64_t s = 0; s < numSums; ++s)
      sums.push_back(read(totals, {index(s), row}));
    if (failed(storeRow(row, read(maxima, row), sums, column, result)))
      written = failure();
  });
  return written;
}

/// Workgroups of a cluster have walked a part of the keys each. The first one gets what all have, relative to their own
/// maxima, and adds it up in their order.
LogicalResult AttentionLowering::finishTogether(ValueRange carried) {
  const auto numSums = static_cast<int64_t>(attention.sums.size());
  const int64_t lanes = shape.valueLanes;
  keepOwn(carried);
  auto ofFirst = [&](Value view) -> Value { return PeerOp::create(b, loc, view.getType(), view, index(0)); };
  Value isRow = shape.rows < shape.threads ? isBelow(thread, shape.rows) : Value();
  // Also what few threads write to is found by all.
  Value peerNumbers = ofFirst(allNumbers), peerOutputs = ofFirst(allOutputs);
  when(isRow, [&] {
    write(read(maxima, thread), peerNumbers, {rank, index(0), thread});
    for (auto [s, sum] : llvm::enumerate(sumsOf(thread)))
      write(sum, peerNumbers, {rank, index(1 + static_cast<int64_t>(s)), thread});
  });
  forResults(carried, [&](Value row, Value column, Value result) { write(result, peerOutputs, {rank, row, column}); });
  BarrierOp::create(b, loc, Scope::Cluster, /*async=*/false);
  LogicalResult written = success();
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rank, index(0));
  /// The maximum of all, the sums, and what each part shrinks by.
  auto combineRow = [&](Value row, Values &sums, Values &shrinkage) {
    Values parts;
    Value max;
    for (int64_t g = 0; g < shape.cluster; ++g) {
      parts.push_back(read(allNumbers, {index(g), index(0), row}));
      max = max ? arith::MaximumFOp::create(b, loc, max, parts.back()).getResult() : parts.back();
    }
    Value isNone =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, max, number(-std::numeric_limits<double>::infinity()));
    Value base = choose(isNone, number(0), max);
    for (Value part : parts)
      shrinkage.push_back(exponential(arith::SubFOp::create(b, loc, part, base)));
    for (int64_t s = 0; s < numSums; ++s) {
      Value sum = number(0);
      for (int64_t g = 0; g < shape.cluster; ++g)
        sum = fma(read(allNumbers, {index(g), index(1 + s), row}), shrinkage[static_cast<size_t>(g)], sum);
      sums.push_back(sum);
    }
    return max;
  };
  when(isFirst, [&] {
    if (!attention.ofRows.empty())
      when(isRow, [&] {
        Values sums, shrinkage;
        Value max = combineRow(thread, sums, shrinkage);
        if (failed(storeRow(thread, max, sums, {}, {})))
          written = failure();
      });
    const int64_t vectors = shape.width / lanes, all = shape.rows * vectors;
    for (int64_t i = 0; i < all; i += shape.threads) {
      Value item = add(thread, i);
      when(i + shape.threads > all ? isBelow(item, all) : Value(), [&] {
        Value row = over(item, vectors), column = times(rest(item, vectors), lanes);
        Values sums, shrinkage;
        Value max = combineRow(row, sums, shrinkage), result = zeros(vectorOf(f32, lanes));
        for (int64_t g = 0; g < shape.cluster; ++g)
          result = fma(read(allOutputs, {index(g), row, column}, lanes),
                       repeat(shrinkage[static_cast<size_t>(g)], lanes), result);
        if (failed(storeRow(row, max, sums, column, result)))
          written = failure();
      });
    }
  });
  // Nobody writes for the next program before the first one has read this one's, or ends before others write to it.
  BarrierOp::create(b, loc, Scope::Cluster, /*async=*/false);
  return written;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult AttentionLowering::run() {
  auto lowered = cast<FuncOp>(b.cloneWithoutRegions(*func.getOperation()));
  lowered.removeScheduleAttr();
  // Two workgroups of a multiprocessor work in turns: one computes while the other waits.
  lowered->setAttr(residentsAttrName, b.getI64IntegerAttr(2 * shape.threads));
  Block &entry = lowered.getBody().emplaceBlock();
  for (BlockArgument argument : func.getBody().getArguments())
    evaluator.mapping.map(argument, entry.addArgument(argument.getType(), argument.getLoc()));
  b.setInsertionPointToEnd(&entry);
  // Views, and what stands beside tiles.
  for (Operation &op : func.getBody().front().without_terminator())
    if (llvm::none_of(op.getResults(), [](Value result) { return isTile(result); }) && !isa<StoreOp>(op))
      b.clone(op, evaluator.mapping);
  numRows = attention.numRows();
  numKeys = axes.extent(attention.keys);
  SmallVector<OpFoldResult> extents;
  SmallVector<int64_t> steps;
  for (const SharedAttention::Part &part : attention.batches) {
    extents.push_back(b.getIndexAttr(part.extent));
    steps.push_back(1);
  }
  extents.push_back(b.getIndexAttr(llvm::divideCeil(numRows, shape.rows)));
  steps.push_back(1);
  auto grid = GridOp::create(b, loc, extents, steps);
  OpBuilder::InsertPoint behind = b.saveInsertionPoint();
  b.setInsertionPointToStart(&grid.getBody().front());
  for (auto [part, at] : llvm::zip(attention.batches, grid.getIndices()))
    program.positions[part.axis] = times(at, axes.extent(part.axis) / part.extent);
  firstRow = times(grid.getIndices().back(), shape.rows);
  thread = IdOp::create(b, loc, b.getIndexType(), IdKind::Thread);

  auto shared = [&](Value factor) {
    Type type = elementOf(factor);
    return type.isF32() || type.isBF16() || type.isF16() ? type : f32;
  };
  keys = stagingOf(attention.k, attention.keys, shape.keys, numKeys, attention.features, shape.depth,
                   elementOf(attention.k));
  values = stagingOf(attention.v, attention.keys, shape.keys, numKeys, attention.columns, shape.width,
                     elementOf(attention.v));
  keys.memory = share({shape.keys, shape.keyStride}, shared(attention.k));
  values.memory = share({shape.keys, shape.valueStride}, shared(attention.v));
  perRow = shape.threads / shape.rows;
  each = shape.keys / perRow;
  // Rows four numbers further apart lie in other banks.
  parts = share({shape.slices, shape.rows, shape.keys + 4}, f32);
  weights = share({shape.rows, shape.keys + 4}, f32);
  shrinks = share({shape.rows}, f32);
  maxima = share({shape.rows}, f32);
  const auto numSums = static_cast<int64_t>(attention.sums.size());
  partSums = share({std::max<int64_t>(numSums, 1), shape.rows, perRow}, f32);
  totals = share({std::max<int64_t>(numSums, 1), shape.rows}, f32);
  if (shape.outSlices > 1)
    outputs = share({shape.outSlices, shape.rows, shape.width}, f32);
  Value begin = index(0), end = index(numKeys);
  if (failed(narrowKeys(begin, end)))
    return lowered.erase(), failure();
  if (shape.cluster > 1) {
    allNumbers = share({shape.cluster, 1 + numSums, shape.rows}, f32);
    allOutputs = share({shape.cluster, shape.rows, shape.width}, f32);
    rank = IdOp::create(b, loc, b.getIndexType(), IdKind::ClusterRank);
    // What all see falls into parts of whole blocks.
    Value seen = b.createOrFold<arith::SubIOp>(loc, b.createOrFold<arith::MaxSIOp>(loc, end, begin), begin);
    Value own = times(over(add(seen, shape.keys * shape.cluster - 1), shape.keys * shape.cluster), shape.keys);
    begin = add(begin, b.createOrFold<arith::MulIOp>(loc, rank, own));
    end = b.createOrFold<arith::MinSIOp>(loc, add(begin, own), end);
  }
  comparedRow = over(thread, perRow);
  comparedPlace = rest(thread, perRow);
  if (failed(stageQueries()))
    return lowered.erase(), failure();

  Values carried{number(-std::numeric_limits<double>::infinity())};
  carried.append(static_cast<size_t>(numSums), number(0));
  carried.append(static_cast<size_t>(shape.outItems * shape.outRows), zeros(vectorOf(f32, shape.valueLanes)));
  if (shape.ahead) {
    FailureOr<Values> k = fetch(keys, begin, numKeys), v = failed(k) ? k : fetch(values, begin, numKeys);
    if (failed(v))
      return lowered.erase(), failure();
    carried.append(*k);
    carried.append(*v);
  }
  LogicalResult emitted = success();
  carried = loop(begin, end, index(shape.keys), carried, [&](Value firstKey, ValueRange before) -> Values {
    FailureOr<Values> next = block(firstKey, before);
    if (succeeded(next))
      return *next;
    emitted = failure();
    return Values(before);
  });
  if (failed(emitted) || failed(finish(carried)))
    return lowered.erase(), failure();
  b.restoreInsertionPoint(behind);
  b.setInsertionPointToEnd(&entry);
  ReturnOp::create(b, loc);
  func.erase();
  return success();
}

LogicalResult zyx::kernel::lowerSharedAttention(FuncOp func, const Axes &axes, const zyx::target::TargetInfo &machine) {
  std::optional<SharedStep> step = sharedStepOf(func, axes);
  std::optional<SharedAttention> attention = matchSharedAttention(func, axes);
  assert(step && attention && "who lowers asks sharedStepOf first");
  if (machine.simt.laneBytes == 0)
    return func.emitOpError("is an attention that threads share, which target '") << machine.name << "' does not run";
  auto shape = SharedAttentionShape::of(*attention, axes, machine.simt.laneBytes, step->rows, step->keys,
                                        static_cast<int64_t>(func.getThreads().value_or(1)),
                                        static_cast<int64_t>(func.getCluster().value_or(1)));
  if (!shape)
    return func.emitOpError("has too few threads for its rows and keys");
  return AttentionLowering(func, axes, machine, *attention, *shape).run();
}
