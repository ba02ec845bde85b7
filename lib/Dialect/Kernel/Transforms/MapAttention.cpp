//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// One thread has keys and values copied in blocks, from the last block that a tile of queries sees to the first one.
// Groups of four warps have 64 queries each. The product with the next block of keys runs while the softmax of the
// block before is multiplied with its values.
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/Transforms/TensorAttention.h"
#include "zyx/Dialect/Kernel/Transforms/TensorDot.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Rows of a group of four warps, and its threads; bytes of a swizzle, and columns that it is wide.
constexpr int64_t groupRows = 64, groupThreads = 128, swizzleBytes = 128, panelColumns = 64;
/// Columns of the sums that a thread has until they are added up at the end.
constexpr int64_t sumColumns = 8;
/// Registers of a thread that multiplies, and of one that copies, by the number of groups that multiply.
constexpr int64_t manyRegisters[] = {0, 0, 240, 160}, fewRegisters[] = {0, 0, 24, 32};
constexpr double minusInfinity = -std::numeric_limits<double>::infinity();

class AttentionMapper {
public:
  AttentionMapper(FuncOp func, TensorAttention found, const Axes &axes)
      : func(func), attention(std::move(found)), axes(axes), step(tensorStepOf(func)), b(func), loc(func.getLoc()),
        groups(step.getRows() / groupRows), queries(axes.extent(this->attention.queries)),
        keys(axes.extent(this->attention.keys)), depth(llvm::alignTo(this->attention.depth, panelColumns)),
        width(llvm::alignTo(this->attention.width, panelColumns)), tilesDown(llvm::divideCeil(queries, step.getRows())),
        blocks(llvm::divideCeil(keys, step.getColumns())) {}

  void run();

private:
  //===--------------------------------------------------------------------===//
  // Small things
  //===--------------------------------------------------------------------===//

  using Carried = SmallVector<Value>;

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value bit(bool value) { return arith::ConstantOp::create(b, loc, b.getBoolAttr(value)); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value add(Value x, int64_t y) { return y ? add(x, index(y)) : x; }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value multiply(Value x, int64_t y) { return arith::MulIOp::create(b, loc, x, index(y)); }
  Value divide(Value x, Value y) { return arith::DivUIOp::create(b, loc, x, y); }
  Value divide(Value x, int64_t y) { return y == 1 ? x : divide(x, index(y)); }
  Value rest(Value x, Value y) { return arith::RemUIOp::create(b, loc, x, y); }
  Value choose(Value condition, Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y); }

  ViewType sharedView(ArrayRef<int64_t> shape) {
    return ViewType::get(shape, element, Space::Shared, SharedAttr::get(b.getContext(), swizzleBytes));
  }
  /// A part of memory that begins at these indices, and at zero along the dimensions behind them.
  Value part(Value view, ArrayRef<Value> leading, ArrayRef<int64_t> shape) {
    SmallVector<Value> indices(leading);
    while (indices.size() < static_cast<size_t>(cast<ViewType>(view.getType()).getRank()))
      indices.push_back(index(0));
    return SubviewOp::create(b, loc, sharedView(shape), view, indices);
  }
  Value viewOf(const AttentionOperand &operand) {
    BlockAttr block = operand.map.front();
    auto shape = llvm::map_to_vector(block.getShape(), [](AffineExpr each) { return *BlockAttr::constant(each); });
    return ViewOp::create(b, loc, ViewType::get(shape, element, Space::Global),
                          arguments.lookup(operand.view.getDefiningOp<ViewOp>().getBuffer()), ValueRange(), operand.map);
  }
  Value barriers(int64_t count, int64_t arrivals) {
    return BarriersOp::create(b, loc, BarriersType::get(b.getContext(), count), arrivals);
  }

  RankedTensorType tile(int64_t columns) { return RankedTensorType::get({groupRows, columns}, b.getF32Type(), acc); }
  RankedTensorType row() { return RankedTensorType::get({groupRows}, b.getF32Type(), SliceAttr::get(b.getContext(), 1, acc)); }
  Value splat(RankedTensorType type, double number) {
    Attribute value = type.getElementType().isInteger()
                          ? Attribute(b.getIntegerAttr(type.getElementType(), static_cast<int64_t>(number)))
                          : b.getFloatAttr(type.getElementType(), number);
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value));
  }
  Value alongRows(Value column, RankedTensorType type) {
    return BroadcastOp::create(b, loc, type.clone(getElementTypeOrSelf(column.getType())), column, ArrayRef<int64_t>{0});
  }
  /// By the machine's own instruction.
  Value power(Value x) {
    auto result = math::Exp2Op::create(b, loc, x);
    result.setFastmath(arith::FastMathFlags::afn);
    return result;
  }

  Carried loop(Value from, Value to, ValueRange init, llvm::function_ref<Carried(Value, ValueRange)> body) {
    auto made = scf::ForOp::create(b, loc, from, to, index(1), init);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(made.getBody());
    Carried next = body(made.getInductionVar(), made.getRegionIterArgs());
    scf::YieldOp::create(b, loc, next);
    return Carried(made.getResults());
  }
  void onFirst(llvm::function_ref<void()> body) {
    auto elect = ElectOp::create(b, loc);
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&elect.getBody());
    body();
    YieldOp::create(b, loc);
  }
  void emitRole(StringRef name, int64_t count, int64_t registers, bool single, llvm::function_ref<void(Value)> body);

  //===--------------------------------------------------------------------===//
  // Places
  //===--------------------------------------------------------------------===//

  struct Place {
    llvm::SmallDenseMap<Axis, Value> batches;
    /// The first query; blocks of keys that it sees, and those among them in which all queries see all keys. The last
    /// one is never among these.
    Value row, blocks, whole;
  };
  Place placeOf(Value round);
  Value seatIn(Value round);
  Value rounds();
  SmallVector<Value> indicesOf(const AttentionOperand &operand, const Place &place, Value row);
  /// The bound up to which blocks are seen at all.
  std::optional<AttentionBound> diagonal() {
    for (const AttentionBound &bound : attention.bounds)
      if (bound.factor == -1 && bound.ofQuery == 1)
        return bound;
    return std::nullopt;
  }
  /// Whether blocks that are not the last one must be masked, beside those that the diagonal crosses.
  bool masksAll() { return attention.readsPlaces || attention.bounds.size() > (diagonal() ? 1u : 0u); }
  /// Where all scores of a row may be minus infinity.
  bool mayBeNone() { return !attention.bounds.empty() || attention.unmasked != attention.scores.getResult(); }
  /// A power of two by which exponentials are multiplied as they are computed, so that no sum overflows. In f16 they would
  /// leave the range of its numbers, and values are too small to overflow an f32.
  double foldedWeight() {
    int exponent;
    return element.isBF16() && std::frexp(attention.weight, &exponent) == 0.5 ? attention.weight : 1;
  }
  /// Results leave from where queries came in, which there is no room beside.
  bool sharesQueries() { return width > 128; }
  /// Groups start their products one after the other, so that one multiplies while another computes its softmax.
  bool takesTurns() { return groups > 1; }
  /// Whether the diagonal crosses more than one block of a tile.
  bool crossesMany() {
    return diagonal() && (step.getColumns() % step.getRows() != 0 || diagonal()->offset % step.getRows() != 0);
  }

  //===--------------------------------------------------------------------===//
  // Roles
  //===--------------------------------------------------------------------===//

  /// A place in a ring, and the parity with which it is waited for.
  struct Turn {
    Value stage, parity;
  };
  Turn next(Turn turn) {
    Value up = add(turn.stage, 1);
    Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, up, index(step.getStages()));
    return {choose(wraps, index(0), up), arith::XOrIOp::create(b, loc, turn.parity, wraps)};
  }
  struct Ring {
    Value memory, full, empty, view;
    const AttentionOperand *operand;
    int64_t columns;
  };
  Ring makeRing(const AttentionOperand &operand, int64_t columns) {
    return {AllocOp::create(b, loc, sharedView({step.getStages(), step.getColumns(), columns})),
            barriers(step.getStages(), 1),
            barriers(step.getStages(), groups),
            viewOf(operand),
            &operand,
            columns};
  }
  Value slotOf(const Ring &ring, Turn turn) {
    return part(ring.memory, {turn.stage}, {step.getColumns(), ring.columns});
  }
  /// One block into the ring.
  Turn fetch(const Ring &ring, Turn turn, const Place &place, Value block) {
    WaitOp::create(b, loc, ring.empty, turn.stage, turn.parity);
    ExpectOp::create(b, loc, ring.full, turn.stage, step.getColumns() * ring.columns * 2);
    AsyncLoadOp::create(b, loc, ring.view, indicesOf(*ring.operand, place, multiply(block, step.getColumns())),
                        slotOf(ring, turn), ring.full, turn.stage, IntegerAttr());
    return next(turn);
  }
  void emitProducer();

  /// What a group knows of its queries.
  struct State {
    Turn k, v;
    Value out, max, sum, weights;
    /// The parity with which the group waits for its turn to multiply.
    Value turn;
    Carried carried() const { return {k.stage, k.parity, v.stage, v.parity, out, max, sum, weights, turn}; }
    static State of(ValueRange all) {
      return {{all[0], all[1]}, {all[2], all[3]}, all[4], all[5], all[6], all[7], all[8]};
    }
  };
  Value startScores(Turn turn);
  Value startOutput(const State &state);
  Value scoresOf(Value sums, bool masked, const Place &place, Value block);
  Value boundOf(const AttentionBound &bound, const Place &place, Value firstKey, RankedTensorType type);
  /// Takes a block of scores in; gives back the factor by which what was summed up before shrinks.
  Value soften(State &state, Value scores, bool isFirst);
  State takeBlock(State state, bool masked, const Place &place, Value block);
  void emitConsumer(Value instance);
  void emitResult(Value out, const State &state, const Place &place, Value instance);

  //===--------------------------------------------------------------------===//
  // What is elementwise
  //===--------------------------------------------------------------------===//

  /// Where a tile of the kernel is evaluated.
  struct Frame {
    /// The axis of the columns, and how many there are.
    Axis columns;
    int64_t extent;
    const Place &place;
    Value firstKey;
    llvm::DenseMap<Value, Value> known = llvm::DenseMap<Value, Value>();
  };
  Type heldType(Value of, const Frame &frame, Type held, bool isNarrow = false);
  Value read(LoadOp load, Type type, const Frame &frame);
  Value spread(Value value, Type held);
  Value narrow(Value held, Type to);
  Value widen(Value value);
  Value evaluate(Value of, Frame &frame);
  Value compute(Value of, Frame &frame);

  FuncOp func;
  TensorAttention attention;
  const Axes &axes;
  const TensorStepAttr step;
  OpBuilder b;
  Location loc;
  const int64_t groups, queries, keys, depth, width, tilesDown, blocks;
  int64_t heads = 1;
  IRMapping arguments;
  FragAttr acc;
  Type element;
  Ring k, v;
  Value q, qFull, qEmpty, qView, out, outView, first, stride, myQueries, turns, mine, following;
};

} // namespace

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void AttentionMapper::emitRole(StringRef name, int64_t count, int64_t registers, bool single,
                               llvm::function_ref<void(Value)> body) {
  OpBuilder::InsertionGuard guard(b);
  // One group has as many registers as a thread can have already.
  IntegerAttr wanted = registers ? b.getI64IntegerAttr(registers) : IntegerAttr();
  auto role = RoleOp::create(b, loc, b.getStringAttr(name), b.getI64IntegerAttr(count), b.getI64IntegerAttr(groupThreads),
                             wanted, single ? b.getUnitAttr() : UnitAttr());
  Block *block = b.createBlock(&role.getBody(), {}, b.getIndexType(), loc);
  body(block->getArgument(0));
  YieldOp::create(b, loc);
}

void AttentionMapper::run() {
  for (Axis axis : attention.batches)
    heads *= axes.extent(axis);
  auto mapped = cast<FuncOp>(b.cloneWithoutRegions(*func.getOperation()));
  mapped.removeScheduleAttr();
  mapped.setThreads(groupThreads * (groups + 1));
  mapped.setPrograms(tilesDown * heads);
  Block &entry = mapped.getBody().emplaceBlock();
  for (BlockArgument argument : func.getBody().getArguments())
    arguments.map(argument, entry.addArgument(argument.getType(), argument.getLoc()));
  b.setInsertionPointToEnd(&entry);
  acc = FragAttr::get(b.getContext(), FragKind::WgmmaAcc);
  element = getElementTypeOrSelf(attention.store.getValue().getType());

  q = AllocOp::create(b, loc, sharedView({step.getRows(), sharesQueries() ? std::max(depth, width) : depth}));
  qView = viewOf(attention.q);
  qFull = barriers(1, 1);
  qEmpty = barriers(1, groups);
  k = makeRing(attention.k, depth);
  v = makeRing(attention.v, width);
  out = sharesQueries() ? q : AllocOp::create(b, loc, sharedView({step.getRows(), width})).getResult();
  outView = viewOf(attention.result);
  if (takesTurns())
    turns = barriers(groups, 1);
  BarrierOp::create(b, loc, Scope::Workgroup, /*async=*/false);
  first = IdOp::create(b, loc, b.getIndexType(), IdKind::Workgroup);
  stride = IdOp::create(b, loc, b.getIndexType(), IdKind::NumWorkgroups);
  auto roles = RolesOp::create(b, loc);
  b.createBlock(&roles.getBody());
  emitRole("producer", 1, fewRegisters[groups], /*single=*/true, [&](Value) { emitProducer(); });
  emitRole("consumer", groups, manyRegisters[groups], /*single=*/false, [&](Value instance) { emitConsumer(instance); });
  YieldOp::create(b, loc);
  b.setInsertionPointToEnd(&entry);
  ReturnOp::create(b, loc);
  func.erase();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Tiles are dealt out forth and back, so that whoever has a long one in one round has a short one in the next.
Value AttentionMapper::seatIn(Value round) {
  Value odd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest(round, index(2)), index(1));
  return choose(odd, sub(sub(stride, index(1)), first), first);
}

Value AttentionMapper::rounds() {
  Value all = index(tilesDown * heads), full = divide(all, stride);
  Value hasMore = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, seatIn(full), rest(all, stride));
  return choose(hasMore, add(full, 1), full);
}

AttentionMapper::Place AttentionMapper::placeOf(Value round) {
  Place place;
  Value number = add(arith::MulIOp::create(b, loc, round, stride), seatIn(round));
  // Some heads at a time, whose keys and values the cache holds; of these the longest tiles first.
  const int64_t together = std::min(step.getGroup(), heads);
  Value area = index(tilesDown * together), section = divide(number, area), inside = rest(number, area);
  Value here = heads % together == 0
                   ? index(together)
                   : arith::MinUIOp::create(b, loc, sub(index(heads), multiply(section, together)), index(together))
                         .getResult();
  Value head = add(multiply(section, together), rest(inside, here));
  Value down = sub(index(tilesDown - 1), divide(inside, here));
  for (auto [i, axis] : llvm::enumerate(llvm::reverse(attention.batches))) {
    const bool isLast = i + 1 == attention.batches.size();
    Value extent = index(axes.extent(axis));
    place.batches[axis] = isLast ? head : rest(head, extent);
    if (!isLast)
      head = divide(head, extent);
  }
  place.row = multiply(down, step.getRows());
  place.blocks = index(blocks);
  place.whole = index(blocks - 1);
  if (std::optional<AttentionBound> bound = diagonal()) {
    // The query in row r sees the keys up to r + offset.
    Value last = add(place.row, bound->offset + step.getRows() - 1 + step.getColumns());
    Value seen = divide(arith::MaxSIOp::create(b, loc, last, index(step.getColumns())), step.getColumns());
    place.blocks = arith::MinUIOp::create(b, loc, seen, index(blocks));
    Value before = arith::MaxSIOp::create(b, loc, add(place.row, bound->offset + 1), index(0));
    place.whole = arith::MinUIOp::create(b, loc, divide(before, step.getColumns()), sub(place.blocks, index(1)));
  }
  return place;
}

SmallVector<Value> AttentionMapper::indicesOf(const AttentionOperand &operand, const Place &place, Value row) {
  SmallVector<Value> indices;
  for (const AxisPart &each : operand.batches) {
    Value at = divide(place.batches.lookup(each.axis), each.divisor);
    indices.push_back(each.divisor * each.extent == axes.extent(each.axis) ? at : rest(at, index(each.extent)));
  }
  indices.append({row, index(0)});
  return indices;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void AttentionMapper::emitProducer() {
  Carried start = {index(0), bit(true), index(0), bit(true), bit(true)};
  loop(index(0), rounds(), start, [&](Value round, ValueRange carried) -> Carried {
    Turn toK{carried[0], carried[1]}, toV{carried[2], carried[3]};
    Place place = placeOf(round);
    Value last = sub(place.blocks, index(1));
    toK = fetch(k, toK, place, last);
    WaitOp::create(b, loc, qEmpty, index(0), carried[4]);
    ExpectOp::create(b, loc, qFull, index(0), step.getRows() * depth * 2);
    AsyncLoadOp::create(b, loc, qView, indicesOf(attention.q, place, place.row),
                        part(q, {}, {step.getRows(), depth}), qFull, index(0), IntegerAttr());
    Carried turns = loop(index(1), place.blocks, {toK.stage, toK.parity, toV.stage, toV.parity},
                         [&](Value i, ValueRange at) -> Carried {
                           Value block = sub(last, i);
                           Turn afterK = fetch(k, {at[0], at[1]}, place, block);
                           Turn afterV = fetch(v, {at[2], at[3]}, place, add(block, 1));
                           return {afterK.stage, afterK.parity, afterV.stage, afterV.parity};
                         });
    toV = fetch(v, {turns[2], turns[3]}, place, index(0));
    return {turns[0], turns[1], toV.stage, toV.parity, arith::XOrIOp::create(b, loc, carried[4], bit(true)).getResult()};
  });
}

//===----------------------------------------------------------------------===//
// Products and the softmax between them
//===----------------------------------------------------------------------===//

Value AttentionMapper::startScores(Turn turn) {
  Value slot = slotOf(k, turn);
  WaitOp::create(b, loc, k.full, turn.stage, turn.parity);
  MmaFenceOp::create(b, loc);
  Value started = MmaAsyncOp::create(b, loc, tile(step.getColumns()), myQueries, slot, Value(), /*transpose_lhs=*/false,
                                     /*transpose_rhs=*/true);
  MmaCommitOp::create(b, loc);
  return started;
}

Value AttentionMapper::startOutput(const State &state) {
  Value slot = slotOf(v, state.v);
  WaitOp::create(b, loc, v.full, state.v.stage, state.v.parity);
  MmaFenceOp::create(b, loc);
  Value started = MmaAsyncOp::create(b, loc, tile(width), state.weights, slot, state.out, /*transpose_lhs=*/false,
                                     /*transpose_rhs=*/false);
  MmaCommitOp::create(b, loc);
  return started;
}

Value AttentionMapper::boundOf(const AttentionBound &bound, const Place &place, Value firstKey, RankedTensorType type) {
  // factor * (firstKey + column) + ofQuery * (place.row + row) + offset >= 0
  auto numbers = type.clone(b.getI32Type());
  Value columns, limit;
  auto predicate = bound.factor < 0 ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge;
  if (bound.ofQuery == 0) {
    Value base = add(firstKey, bound.factor * bound.offset);
    columns = IotaOp::create(b, loc, numbers, base, 1, ArrayAttr());
    limit = splat(numbers, 0);
  } else {
    Value base = sub(add(place.row, -bound.factor * bound.offset), firstKey);
    Value rows = IotaOp::create(b, loc, row().clone(b.getI32Type()), base, 0, ArrayAttr());
    columns = IotaOp::create(b, loc, numbers, Value(), 1, ArrayAttr());
    limit = alongRows(rows, numbers);
  }
  return arith::CmpIOp::create(b, loc, predicate, columns, limit);
}

Value AttentionMapper::scoresOf(Value sums, bool masked, const Place &place, Value block) {
  auto type = tile(step.getColumns());
  Value firstKey = masked ? multiply(block, step.getColumns()) : Value();
  Frame frame{attention.keys, step.getColumns(), place, firstKey};
  frame.known[attention.scores.getResult()] = sums;
  Value result = evaluate(attention.unmasked, frame);
  if (!masked)
    return result;
  SmallVector<AttentionBound> bounds(attention.bounds);
  if (keys % step.getColumns() != 0)
    bounds.push_back({-1, 0, keys - 1});
  Value none = splat(type, minusInfinity);
  for (const AttentionBound &bound : bounds)
    result = choose(boundOf(bound, place, firstKey, type), result, none);
  return result;
}

Value AttentionMapper::soften(State &state, Value scores, bool isFirst) {
  const double factor = attention.scale * std::numbers::log2e;
  auto type = tile(step.getColumns()), sums = tile(sumColumns);
  Value largest = ReduceOp::create(b, loc, row(), Combine::Max, scores, ArrayRef<int64_t>{1});
  Value before = state.max;
  if (!isFirst)
    largest = arith::MaximumFOp::create(b, loc, before, largest);
  state.max = largest;
  // From minus infinity no distance can be taken: such a row has weighed nothing yet.
  if (mayBeNone()) {
    Value isNone = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, largest, splat(row(), minusInfinity));
    largest = choose(isNone, splat(row(), 0), largest);
  }
  Value factors = splat(row(), factor), shrink;
  if (!isFirst)
    shrink = power(arith::MulFOp::create(b, loc, arith::SubFOp::create(b, loc, before, largest), factors));
  Value down = math::FmaOp::create(b, loc, largest, splat(row(), -factor), splat(row(), std::log2(foldedWeight())));
  Value weights = power(math::FmaOp::create(b, loc, scores, splat(type, factor), alongRows(down, type)));
  // A chain, as exponentials come, keeps fewer registers busy than a tree.
  Value sum = isFirst ? Value() : arith::MulFOp::create(b, loc, state.sum, alongRows(shrink, sums)).getResult();
  for (int64_t column = 0; column < step.getColumns(); column += sumColumns) {
    Value piece = ExtractOp::create(b, loc, sums, weights, ArrayRef<int64_t>{0, column});
    sum = sum ? arith::AddFOp::create(b, loc, sum, piece).getResult() : piece;
  }
  state.sum = sum;
  Value rounded = arith::TruncFOp::create(b, loc, type.clone(element), weights);
  auto factorType = RankedTensorType::get(type.getShape(), element, FragAttr::get(b.getContext(), FragKind::WgmmaA));
  state.weights = ConvertOp::create(b, loc, factorType, rounded);
  return shrink;
}

AttentionMapper::State AttentionMapper::takeBlock(State state, bool masked, const Place &place, Value block) {
  if (takesTurns())
    WaitOp::create(b, loc, turns, mine, state.turn);
  Value started = startScores(state.k), product = startOutput(state);
  if (takesTurns())
    ArriveOp::create(b, loc, turns, following, Value());
  Value sums = MmaWaitOp::create(b, loc, TypeRange(started.getType()), 1, started).getResult(0);
  ArriveOp::create(b, loc, k.empty, state.k.stage, Value());
  State after = state;
  Value shrink = soften(after, scoresOf(sums, masked, place, block), /*isFirst=*/false);
  Value done = MmaWaitOp::create(b, loc, TypeRange(product.getType()), 0, product).getResult(0);
  ArriveOp::create(b, loc, v.empty, state.v.stage, Value());
  after.out = arith::MulFOp::create(b, loc, done, alongRows(shrink, tile(width)));
  after.k = next(state.k);
  after.v = next(state.v);
  if (takesTurns())
    after.turn = arith::XOrIOp::create(b, loc, state.turn, bit(true));
  return after;
}

void AttentionMapper::emitConsumer(Value instance) {
  Value myRow = multiply(instance, groupRows);
  myQueries = part(q, {myRow}, {groupRows, depth});
  Value zero = splat(tile(width), 0);
  mine = instance;
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, instance, index(groups - 1));
  following = choose(isLast, index(0), add(instance, 1));
  // The first group need not wait for the last one at the beginning.
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, instance, index(0));
  Carried start = {index(0), bit(false), index(0), bit(false), bit(false), takesTurns() ? isFirst : bit(false)};
  loop(index(0), rounds(), start, [&](Value round, ValueRange carried) -> Carried {
    Place place = placeOf(round);
    place.row = add(place.row, myRow);
    Value last = sub(place.blocks, index(1));
    State state{{carried[0], carried[1]}, {carried[2], carried[3]}, zero, Value(), Value(), Value(), carried[5]};
    WaitOp::create(b, loc, qFull, index(0), carried[4]);
    Value started = startScores(state.k);
    Value sums = MmaWaitOp::create(b, loc, TypeRange(started.getType()), 0, started).getResult(0);
    ArriveOp::create(b, loc, k.empty, state.k.stage, Value());
    state.k = next(state.k);
    const bool masksLast = diagonal() || masksAll() || keys % step.getColumns() != 0;
    soften(state, scoresOf(sums, masksLast, place, last), /*isFirst=*/true);
    auto walk = [&](Value from, Value to, bool masked) {
      state = State::of(loop(from, to, state.carried(), [&](Value i, ValueRange at) -> Carried {
        return takeBlock(State::of(at), masked, place, masked ? sub(last, i) : Value()).carried();
      }));
    };
    // Blocks that the diagonal crosses, and those before it.
    Value from = index(1);
    if (crossesMany() && !masksAll()) {
      Value to = sub(place.blocks, place.whole);
      walk(from, to, /*masked=*/true);
      from = to;
    }
    walk(from, place.blocks, masksAll());
    if (!sharesQueries())
      ArriveOp::create(b, loc, qEmpty, index(0), Value());
    Value product = startOutput(state);
    Value done = MmaWaitOp::create(b, loc, TypeRange(product.getType()), 0, product).getResult(0);
    ArriveOp::create(b, loc, v.empty, state.v.stage, Value());
    emitResult(done, state, place, instance);
    Turn turn = next(state.v);
    return {state.k.stage, state.k.parity, turn.stage, turn.parity,
            arith::XOrIOp::create(b, loc, carried[4], bit(true)).getResult(), state.turn};
  });
  onFirst([&] { AsyncWaitOp::create(b, loc, 0, /*read=*/false); });
}

void AttentionMapper::emitResult(Value done, const State &state, const Place &place, Value instance) {
  Axis columns = axes.of(attention.output.getResult()).back();
  Frame frame{columns, width, place, Value()};
  Value total = ReduceOp::create(b, loc, row(), Combine::Add, state.sum, ArrayRef<int64_t>{1}), product = done;
  if (foldedWeight() != 1)
    total = arith::MulFOp::create(b, loc, total, splat(row(), 1 / foldedWeight()));
  else if (attention.weight != 1)
    product = arith::MulFOp::create(b, loc, done, splat(tile(width), attention.weight));
  frame.known[attention.output.getResult()] = product;
  for (ReduceOp sum : attention.sums)
    frame.known[sum.getResult()] = total;
  frame.known[attention.max.getResult()] =
      attention.scale == 1 ? state.max
                           : arith::MulFOp::create(b, loc, state.max, splat(row(), attention.scale)).getResult();
  Value result = narrow(evaluate(attention.store.getValue(), frame), element);
  Value slot = part(out, {multiply(instance, groupRows)}, {groupRows, width});
  // What was there before has left.
  if (!sharesQueries())
    onFirst([&] { AsyncWaitOp::create(b, loc, 0, /*read=*/true); });
  BarrierOp::create(b, loc, Scope::Role, /*async=*/false);
  StoreOp::create(b, loc, result, slot, ValueRange{index(0), index(0)}, Value(), DenseBoolArrayAttr());
  BarrierOp::create(b, loc, Scope::Role, /*async=*/true);
  SmallVector<Value> indices = indicesOf(attention.result, place, place.row);
  onFirst([&] {
    AsyncStoreOp::create(b, loc, slot, outView, indices);
    if (sharesQueries()) {
      AsyncWaitOp::create(b, loc, 0, /*read=*/true);
      ArriveOp::create(b, loc, qEmpty, index(0), Value());
    }
  });
}

//===----------------------------------------------------------------------===//
// What is elementwise
//===----------------------------------------------------------------------===//

/// 16-bit floats are held as f32, and rounded after each op.
Type AttentionMapper::heldType(Value of, const Frame &frame, Type held, bool isNarrow) {
  if (!isNarrow && (held.isBF16() || held.isF16()))
    held = b.getF32Type();
  bool hasRows = axes.contains(of, attention.queries), hasColumns = axes.contains(of, frame.columns);
  if (hasRows && hasColumns)
    return RankedTensorType::get({groupRows, frame.extent}, held, acc);
  if (hasRows)
    return RankedTensorType::get({groupRows}, held, SliceAttr::get(b.getContext(), 1, acc));
  if (hasColumns)
    return RankedTensorType::get({frame.extent}, held, SliceAttr::get(b.getContext(), 0, acc));
  return held;
}

static Type withElement(Type type, Type element) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? Type(tile.clone(element)) : element;
}

Value AttentionMapper::narrow(Value held, Type to) {
  if (getElementTypeOrSelf(held.getType()) == to)
    return held;
  return arith::TruncFOp::create(b, loc, withElement(held.getType(), to), held);
}

Value AttentionMapper::widen(Value value) {
  Type from = getElementTypeOrSelf(value.getType());
  if (!from.isBF16() && !from.isF16())
    return value;
  return arith::ExtFOp::create(b, loc, withElement(value.getType(), b.getF32Type()), value);
}

Value AttentionMapper::spread(Value value, Type held) {
  if (value.getType() == held)
    return value;
  auto slice = isTile(value) ? cast<SliceAttr>(cast<RankedTensorType>(value.getType()).getEncoding()) : SliceAttr();
  if (!slice)
    return SplatOp::create(b, loc, held, value);
  return BroadcastOp::create(b, loc, held, value, ArrayRef<int64_t>{slice.getDim() == 1 ? 0 : 1});
}

/// What threads read for their scores themselves.
Value AttentionMapper::read(LoadOp load, Type type, const Frame &frame) {
  Value of = load.getResult();
  AxisStrides strides = *stridesOf(load.getView(), load.getIndices(), of, axes);
  SmallVector<int64_t> shape, places;
  SmallVector<Value> indices;
  SmallVector<bool> inBounds;
  auto take = [&](Axis axis, Value at, bool isInside) {
    shape.push_back(axes.extent(axis));
    places.push_back(strides.of(axis));
    indices.push_back(at);
    inBounds.push_back(isInside);
  };
  for (Axis axis : attention.batches)
    if (strides.of(axis) != 0)
      take(axis, frame.place.batches.lookup(axis), true);
  if (axes.contains(of, attention.queries))
    take(attention.queries, frame.place.row, queries % step.getRows() == 0);
  if (axes.contains(of, frame.columns))
    take(frame.columns, frame.firstKey, keys % step.getColumns() == 0);
  auto map = MapAttr::get(b.getContext(), stridedBlock(b.getContext(), shape, places, strides.offset));
  Type held = getElementTypeOrSelf(of.getType());
  Value view = ViewOp::create(b, loc, ViewType::get(shape, held, Space::Global),
                              arguments.lookup(load.getView().getDefiningOp<ViewOp>().getBuffer()), ValueRange(), map);
  return LoadOp::create(b, loc, type, view, indices, Value(), Value(), ArrayAttr(), b.getDenseBoolArrayAttr(inBounds));
}

Value AttentionMapper::evaluate(Value of, Frame &frame) {
  if (Value value = frame.known.lookup(of))
    return value;
  Value value = compute(of, frame);
  frame.known[of] = value;
  return value;
}

Value AttentionMapper::compute(Value of, Frame &frame) {
  Operation *op = of.getDefiningOp();
  Type to = getElementTypeOrSelf(of.getType()), held = heldType(of, frame, to);
  if (to.isInteger(1))
    if (auto bound = matchBound(of, attention.queries, attention.keys, axes))
      return boundOf(*bound, frame.place, frame.firstKey, tile(frame.extent));
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto number = cast<SplatElementsAttr>(constant.getValue()).getSplatValue<TypedAttr>();
    if (auto real = dyn_cast<FloatAttr>(number))
      number = b.getF32FloatAttr(static_cast<float>(real.getValueAsDouble()));
    if (auto type = dyn_cast<RankedTensorType>(held))
      number = cast<TypedAttr>(Attribute(DenseElementsAttr::get(type, Attribute(number))));
    return arith::ConstantOp::create(b, loc, number);
  }
  if (auto load = dyn_cast<LoadOp>(op))
    return widen(read(load, heldType(of, frame, to, /*isNarrow=*/true), frame));
  if (auto quotient = dyn_cast<arith::DivFOp>(op))
    if (auto divisor = quotient.getRhs().getDefiningOp<BroadcastOp>(); divisor && to.isF32()) {
      // By the reciprocal of each row: what is rounded to 16 bits does not show the difference.
      Value factor = evaluate(divisor.getInput(), frame);
      if (factor.getType() == row()) {
        Value reciprocal = arith::DivFOp::create(b, loc, splat(row(), 1), factor);
        return arith::MulFOp::create(b, loc, evaluate(quotient.getLhs(), frame), spread(reciprocal, held));
      }
    }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(evaluate(operand, frame));
  if (isa<BroadcastOp, TransposeOp, ReshapeOp>(op))
    return spread(operands[0], held);
  // What is rounded is rounded; the format that it has is the wider one already.
  if (isa<arith::ExtFOp>(op))
    return operands[0];
  if (isa<arith::TruncFOp>(op))
    return widen(narrow(operands[0], to));
  OperationState state(loc, op->getName());
  state.addOperands(operands);
  state.addTypes(held);
  state.addAttributes(op->getAttrs());
  Value result = b.create(state)->getResult(0);
  bool isRounded = (to.isBF16() || to.isF16()) && !isa<arith::SelectOp, arith::NegFOp>(op);
  return isRounded ? widen(narrow(result, to)) : result;
}

void zyx::kernel::mapAttention(FuncOp func, const TensorAttention &attention, const Axes &axes) {
  AttentionMapper(func, attention, axes).run();
}
