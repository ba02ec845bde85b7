//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// One thread has keys and values copied in blocks, from the last block that a tile of queries sees to the first one.
// Groups of four warps have 64 queries each. The product with the next block of keys runs while the softmax of the
// block before is multiplied with its values.
//===----------------------------------------------------------------------===//
#include "StreamingEmitter.h"

#include "zyx/Codegen/Matrix/TensorAttention.h"
#include "zyx/Codegen/Matrix/TensorDot.h"
#include "zyx/Codegen/Tile/Softmax.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Columns of the sums that a thread has until they are added up at the end.
constexpr int64_t sumColumns = 8;
/// Features that an instruction contracts.
constexpr int64_t stepDepth = 16;
constexpr double minusInfinity = -std::numeric_limits<double>::infinity();

class AttentionMapper : StreamingEmitter {
public:
  AttentionMapper(FuncOp func, TensorAttention found, const Axes &axes)
      : StreamingEmitter(func, axes, found.queries, found.keys, found.batches), attention(std::move(found)),
        depth(llvm::alignTo(attention.depth, panelColumns)), used(llvm::alignTo(attention.depth, stepDepth)),
        width(llvm::alignTo(attention.width, panelColumns)) {}

  void run();

private:
  //===--------------------------------------------------------------------===//
  // What is known of it
  //===--------------------------------------------------------------------===//

  /// The bound up to which blocks are seen at all.
  std::optional<TensorBound> diagonal() {
    for (const TensorBound &bound : attention.bounds)
      if (bound.factor == -1 && bound.ofQuery == 1)
        return bound;
    return std::nullopt;
  }
  /// The bound from which on keys are seen.
  std::optional<TensorBound> window() {
    for (const TensorBound &bound : attention.bounds)
      if (bound.factor == 1 && bound.ofQuery == -1)
        return bound;
    return std::nullopt;
  }
  /// Whether blocks that are not the last one must be masked, beside those that diagonal and window cross.
  bool masksAll() { return attention.bounds.size() > (diagonal() ? 1u : 0u) + (window() ? 1u : 0u); }
  /// Whether a condition holds everywhere in blocks that neither diagonal nor window crosses.
  bool holdsInside(Value condition);
  /// Whether results are computed of a sum of weights, which is NaN where these are.
  bool dividesBySum();
  /// A power of two by which exponentials are multiplied as they are computed, so that no sum overflows. In f16 they
  /// would leave the range of its numbers, and values are too small to overflow an f32.
  double foldedWeight() {
    int exponent;
    return element.isBF16() && std::frexp(attention.weight, &exponent) == 0.5 ? attention.weight : 1;
  }
  /// Results leave from where queries came in, which there is no room beside.
  bool sharesQueries() { return width > 128 && sharers == 1; }
  /// Groups start their products one after the other, so that one multiplies while another computes its softmax.
  bool pingPongs() { return groups > 1; }
  /// Whether the diagonal crosses more than one block of a tile.
  bool crossesMany() {
    return diagonal() && (step.getColumns() % step.getRows() != 0 || diagonal()->offset % step.getRows() != 0);
  }

  //===--------------------------------------------------------------------===//
  // Roles
  //===--------------------------------------------------------------------===//

  struct Ring {
    Value memory, full, empty, view;
    const TensorOperand *operand;
    int64_t columns;
  };
  Ring makeRing(const TensorOperand &operand, int64_t columns) {
    return {allocShared({step.getStages(), step.getColumns(), columns}, element),
            barriers(step.getStages(), 1),
            barriers(step.getStages(), groups),
            viewOf(operand),
            &operand,
            columns};
  }
  Value slotOf(const Ring &ring, PipelineState pipe) {
    return part(ring.memory, {pipe.stage}, {step.getColumns(), ring.columns});
  }
  /// One block into the ring.
  PipelineState fetch(const Ring &ring, PipelineState pipe, const TileCoordinates &place, Value block) {
    WaitOp::create(b, loc, ring.empty, pipe.stage, pipe.parity);
    ExpectOp::create(b, loc, ring.full, pipe.stage, step.getColumns() * ring.columns * 2);
    AsyncLoadOp::create(b, loc, ring.view, indicesOf(*ring.operand, place, multiply(block, step.getColumns())),
                        slotOf(ring, pipe), ring.full, pipe.stage);
    return next(pipe);
  }
  void emitProducer();

  /// What a group knows of its queries.
  struct State {
    PipelineState k, v;
    Value out, max, sum, weights;
    /// The parity with which the group waits for its turn to multiply.
    Value pingPong;
    Carried carried() const { return {k.stage, k.parity, v.stage, v.parity, out, max, sum, weights, pingPong}; }
    static State of(ValueRange all) {
      return {{all[0], all[1]}, {all[2], all[3]}, all[4], all[5], all[6], all[7], all[8]};
    }
  };
  Value startScores(PipelineState pipe);
  Value startOutput(const State &state);
  /// A block of scores, for which what each of them needs of memory is on its way.
  Site openBlock(bool masked, const TileCoordinates &place, Value block);
  Value scoresOf(Value sums, bool masked, Site &site);
  /// Takes a block of scores in; gives back the factor by which what was summed up before shrinks.
  Value soften(State &state, Value scores, bool isFirst);
  State takeBlock(State state, bool masked, const TileCoordinates &place, Value block);
  void emitConsumer(Value instance);
  void emitResult(Value out, const State &state, const TileCoordinates &place, Value instance);
  /// Of a tile that workgroups share: what all have of this one's columns of the result, and of its sums, relative to
  /// the largest score of all.
  Value combine(Value out, State &state, const TileCoordinates &place, Value instance);

  TileCoordinates placeIn(Value round) { return coordinatesOf(round, diagonal(), window()); }
  Value evaluate(Value of, Site &site);
  Value compute(Value of, Site &site);
  /// Scores times a number, plus something, rounded once. Null where it is none.
  Value addScaled(Value of, Site &site);

  TensorAttention attention;
  /// Features of queries and keys in shared memory, those of them that are multiplied, and of values. The rest of a
  /// panel is zero.
  const int64_t depth, used, width;
  Type element;
  Ring k, v;
  Value q, qFull, qEmpty, qView, out, outView, myQueries, pingPongBarriers, mine, following;
  /// Where workgroups share a tile.
  Inbox outInbox, sumInbox, maxInbox;
  /// What is read for each of the scores, as far as there are registers for it before these come.
  SmallVector<Value> readAhead;
  void findReadAhead();
};

} // namespace

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void AttentionMapper::run() {
  FuncOp mapped = beginKernel(tilesDown * heads);
  if (sharers > 1)
    mapped.setCluster(sharers);
  acc = FragAttr::get(b.getContext(), FragKind::WgmmaAcc);
  element = getElementTypeOrSelf(attention.store.getValue().getType());

  q = allocShared({step.getRows(), sharesQueries() ? std::max(depth, width) : depth}, element);
  qView = viewOf(attention.q);
  qFull = barriers(1, 1);
  qEmpty = barriers(1, groups);
  k = makeRing(attention.k, depth);
  v = makeRing(attention.v, width);
  if (sharers > 1) {
    outInbox = makeInbox(width / sharers);
    sumInbox = makeInbox(sumColumns);
    maxInbox = makeInbox(sumColumns);
    openInboxes();
  } else {
    out = sharesQueries() ? q : allocShared({step.getRows(), width}, element);
    outView = viewOf(attention.result);
  }
  if (pingPongs())
    pingPongBarriers = barriers(groups, 1);
  findReadAhead();
  emitRoles([&] { emitProducer(); }, [&](Value instance) { emitConsumer(instance); });
}

bool AttentionMapper::dividesBySum() {
  llvm::SetVector<Value> values;
  values.insert(attention.store.getValue());
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (llvm::any_of(attention.sums, [&](ReduceOp sum) { return sum == op; }))
      return true;
    if (op && !isa<DotOp, ReduceOp, LoadOp>(op))
      values.insert(op->operand_begin(), op->operand_end());
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void AttentionMapper::emitProducer() {
  Carried start = {index(0), bit(true), index(0), bit(true), bit(true)};
  loop(index(0), rounds(), index(1), start, [&](Value round, ValueRange carried) -> Carried {
    PipelineState toK{carried[0], carried[1]}, toV{carried[2], carried[3]};
    TileCoordinates place = placeIn(round);
    Value last = sub(place.end, index(1));
    toK = fetch(k, toK, place, last);
    WaitOp::create(b, loc, qEmpty, index(0), carried[4]);
    ExpectOp::create(b, loc, qFull, index(0), step.getRows() * depth * 2);
    AsyncLoadOp::create(b, loc, qView, indicesOf(attention.q, place, place.row), part(q, {}, {step.getRows(), depth}),
                        qFull, index(0));
    Carried turns = loop(index(1), sub(place.end, place.first), index(1),
                         {toK.stage, toK.parity, toV.stage, toV.parity}, [&](Value i, ValueRange at) -> Carried {
                           Value block = sub(last, i);
                           PipelineState afterK = fetch(k, {at[0], at[1]}, place, block);
                           PipelineState afterV = fetch(v, {at[2], at[3]}, place, add(block, 1));
                           return {afterK.stage, afterK.parity, afterV.stage, afterV.parity};
                         });
    toV = fetch(v, {turns[2], turns[3]}, place, place.first);
    return {turns[0], turns[1], toV.stage, toV.parity,
            arith::XOrIOp::create(b, loc, carried[4], bit(true)).getResult()};
  });
}

//===----------------------------------------------------------------------===//
// Products and the softmax between them
//===----------------------------------------------------------------------===//

Value AttentionMapper::startScores(PipelineState pipe) {
  Value slot = part(k.memory, {pipe.stage}, {step.getColumns(), used});
  WaitOp::create(b, loc, k.full, pipe.stage, pipe.parity);
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

void AttentionMapper::findReadAhead() {
  int64_t registers = step.getColumns() * 3 / 4 + width / 2;
  llvm::SetVector<Value> values;
  values.insert(attention.unmasked);
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (isa_and_nonnull<LoadOp>(op)) {
      registers += step.getColumns() / 2;
      if (axes.contains(values[i], attention.queries) && axes.contains(values[i], attention.keys) &&
          registers <= zyx::target::fits::groupProducts::readAheadRegisters)
        readAhead.push_back(values[i]);
    } else if (op && !isa<DotOp, ReduceOp>(op)) {
      values.insert(op->operand_begin(), op->operand_end());
    }
  }
}

AttentionMapper::Site AttentionMapper::openBlock(bool masked, const TileCoordinates &place, Value block) {
  Value firstKey = block ? multiply(block, step.getColumns()) : Value();
  Site site{{attention.queries, attention.keys, step.getColumns()}, place, firstKey};
  site.isWhole = !masked;
  for (Value load : readAhead)
    evaluate(load, site);
  return site;
}

Value AttentionMapper::scoresOf(Value sums, bool masked, Site &site) {
  auto type = tile(step.getColumns());
  site.known[attention.scores.getResult()] = sums;
  Value result = evaluate(attention.unmasked, site);
  if (!masked)
    return result;
  SmallVector<TensorBound> bounds(ArrayRef(attention.bounds).take_front(attention.peeled));
  if (streamed % step.getColumns() != 0)
    bounds.push_back({-1, 0, streamed - 1});
  Value none = number(type, minusInfinity);
  for (const TensorBound &bound : bounds)
    result = choose(boundOf(bound, site.place, site.firstColumn, type), result, none);
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
  Value bias = number(row(), std::log2(foldedWeight()));
  // Where all that a row has seen is masked, by minus infinity or by a large number, distances come first.
  Carried taken = branch(
      isFar(largest, mostExponent / factor),
      [&]() -> Carried {
        Value from = emitSoftmaxBase(b, loc, largest);
        return {arith::SubFOp::create(b, loc, scores, alongRows(from, type)), from, bias};
      },
      [&]() -> Carried {
        return {scores, largest, math::FmaOp::create(b, loc, largest, number(row(), -factor), bias)};
      });
  scores = taken[0];
  Value factors = number(row(), factor), shrink, down = taken[2];
  if (!isFirst)
    shrink = power(arith::MulFOp::create(b, loc, arith::SubFOp::create(b, loc, before, taken[1]), factors));
  Value weights = power(math::FmaOp::create(b, loc, scores, number(type, factor), alongRows(down, type)));
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

AttentionMapper::State AttentionMapper::takeBlock(State state, bool masked, const TileCoordinates &place, Value block) {
  Site site = openBlock(masked, place, block);
  if (pingPongs())
    WaitOp::create(b, loc, pingPongBarriers, mine, state.pingPong);
  Value started = startScores(state.k), product = startOutput(state);
  if (pingPongs())
    ArriveOp::create(b, loc, pingPongBarriers, following);
  Value sums = MmaWaitOp::create(b, loc, TypeRange(started.getType()), 1, started).getResult(0);
  ArriveOp::create(b, loc, k.empty, state.k.stage);
  State after = state;
  Value shrink = soften(after, scoresOf(sums, masked, site), /*isFirst=*/false);
  Value done = MmaWaitOp::create(b, loc, TypeRange(product.getType()), 0, product).getResult(0);
  ArriveOp::create(b, loc, v.empty, state.v.stage);
  after.out = arith::MulFOp::create(b, loc, done, alongRows(shrink, tile(width)));
  after.k = next(state.k);
  after.v = next(state.v);
  if (pingPongs())
    after.pingPong = arith::XOrIOp::create(b, loc, state.pingPong, bit(true));
  return after;
}

void AttentionMapper::emitConsumer(Value instance) {
  Value myRow = multiply(instance, groupRows);
  myQueries = part(q, {myRow}, {groupRows, used});
  Value zero = number(tile(width), 0);
  mine = instance;
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, instance, index(groups - 1));
  following = choose(isLast, index(0), add(instance, 1));
  // The first group need not wait for the last one at the beginning.
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, instance, index(0));
  Carried start = {index(0), bit(false), index(0), bit(false), bit(false), pingPongs() ? isFirst : bit(false)};
  loop(index(0), rounds(), index(1), start, [&](Value round, ValueRange carried) -> Carried {
    TileCoordinates place = placeIn(round);
    place.row = add(place.row, myRow);
    Value last = sub(place.end, index(1));
    State state{{carried[0], carried[1]}, {carried[2], carried[3]}, zero, Value(), Value(), Value(), carried[5]};
    const bool masksLast = !attention.bounds.empty() || streamed % step.getColumns() != 0;
    auto needsPlace = [&](bool masked) { return masked || attention.readsPlaces; };
    Site lastBlock = openBlock(masksLast, place, needsPlace(masksLast) ? last : Value());
    WaitOp::create(b, loc, qFull, index(0), carried[4]);
    Value started = startScores(state.k);
    Value sums = MmaWaitOp::create(b, loc, TypeRange(started.getType()), 0, started).getResult(0);
    ArriveOp::create(b, loc, k.empty, state.k.stage);
    state.k = next(state.k);
    soften(state, scoresOf(sums, masksLast, lastBlock), /*isFirst=*/true);
    auto stream = [&](Value from, Value to, bool masked) {
      state = State::of(loop(from, to, index(1), state.carried(), [&](Value i, ValueRange at) -> Carried {
        return takeBlock(State::of(at), masked, place, needsPlace(masked) ? sub(last, i) : Value()).carried();
      }));
    };
    // Blocks that the diagonal crosses, those before it, and those that the window crosses.
    Value from = index(1), count = sub(place.end, place.first);
    auto atMost = [&](Value x, Value most) -> Value { return arith::MinUIOp::create(b, loc, x, most); };
    if (crossesMany() && !masksAll()) {
      // The last one has been taken.
      Value whole = atMost(place.wholeEnd, last), to = sub(place.end, whole);
      if (window() || sharers > 1 || narrows)
        to = atMost(to, count);
      stream(from, to, /*masked=*/true);
      from = to;
    }
    if (window() && !masksAll()) {
      Value to = sub(place.end, atMost(place.wholeFirst, place.end));
      to = atMost(arith::MaxUIOp::create(b, loc, to, from), count);
      stream(from, to, /*masked=*/false);
      stream(to, count, /*masked=*/true);
    } else {
      stream(from, count, masksAll());
    }
    if (!sharesQueries())
      ArriveOp::create(b, loc, qEmpty, index(0));
    Value product = startOutput(state);
    Value done = MmaWaitOp::create(b, loc, TypeRange(product.getType()), 0, product).getResult(0);
    ArriveOp::create(b, loc, v.empty, state.v.stage);
    emitResult(done, state, place, instance);
    PipelineState pipe = next(state.v);
    return {state.k.stage,
            state.k.parity,
            pipe.stage,
            pipe.parity,
            arith::XOrIOp::create(b, loc, carried[4], bit(true)).getResult(),
            state.pingPong};
  });
  onFirst([&] { AsyncWaitOp::create(b, loc, 0, /*read=*/false); });
}

Value AttentionMapper::combine(Value done, State &state, const TileCoordinates &place, Value instance) {
  const double factor = attention.scale * std::numbers::log2e;
  auto few = tile(sumColumns), mine = tile(outInbox.columns);
  ClusterWaitOp::create(b, loc);
  sendAll(maxInbox, unlessIdle(place, alongRows(state.max, few), minusInfinity), instance);
  sendAll(sumInbox, unlessIdle(place, state.sum), instance);
  sendColumns(outInbox, unlessIdle(place, done), instance);
  awaitInboxes();
  SmallVector<Value> largest;
  for (int64_t from = 0; from < sharers; ++from)
    largest.push_back(
        ReduceOp::create(b, loc, row(), Combine::Max, receive(maxInbox, from, instance), ArrayRef<int64_t>{1}));
  Value max = largest.front();
  for (Value other : ArrayRef(largest).drop_front())
    max = arith::MaximumFOp::create(b, loc, max, other);
  Value base = emitSoftmaxBase(b, loc, max), out, sum;
  auto plus = [&](Value before, Value part) {
    return before ? arith::AddFOp::create(b, loc, before, part).getResult() : part;
  };
  for (int64_t from = 0; from < sharers; ++from) {
    Value distance = arith::SubFOp::create(b, loc, largest[from], base);
    Value shrink = power(arith::MulFOp::create(b, loc, distance, number(row(), factor)));
    out = plus(out, arith::MulFOp::create(b, loc, receive(outInbox, from, instance), alongRows(shrink, mine)));
    sum = plus(sum, arith::MulFOp::create(b, loc, receive(sumInbox, from, instance), alongRows(shrink, few)));
  }
  state.max = max;
  state.sum = sum;
  return out;
}

void AttentionMapper::emitResult(Value done, const State &own, const TileCoordinates &place, Value instance) {
  Axis columns = axes.of(attention.output.getResult()).back();
  State state = own;
  Site site{{attention.queries, columns, width / sharers}, place, Value()};
  if (sharers > 1) {
    done = combine(done, state, place, instance);
    site.resultColumn = multiply(rank, outInbox.columns);
  }
  Value total = ReduceOp::create(b, loc, row(), Combine::Add, state.sum, ArrayRef<int64_t>{1}), product = done;
  if (foldedWeight() != 1)
    total = arith::MulFOp::create(b, loc, total, number(row(), 1 / foldedWeight()));
  else if (attention.weight != 1)
    product = arith::MulFOp::create(b, loc, done, number(done.getType(), attention.weight));
  // A row of nothing but minus infinity has no distances: its weights are NaN, and so are their sums.
  Value isNone = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, state.max, number(row(), minusInfinity));
  Value nothing = number(row(), std::numeric_limits<double>::quiet_NaN());
  total = choose(isNone, nothing, total);
  if (!dividesBySum()) {
    Value factor = choose(isNone, nothing, number(row(), 1));
    product = arith::MulFOp::create(b, loc, product, alongRows(factor, tile(site.fragment.width)));
  }
  site.known[attention.output.getResult()] = product;
  for (ReduceOp sum : attention.sums)
    site.known[sum.getResult()] = total;
  site.known[attention.max.getResult()] =
      attention.scale == 1 ? state.max
                           : arith::MulFOp::create(b, loc, state.max, number(row(), attention.scale)).getResult();
  for (StoreOp store : attention.ofRows) {
    Value held = evaluate(store.getValue(), site);
    OpBuilder::InsertionGuard guard(b);
    // All workgroups of a cluster have it.
    if (sharers > 1) {
      Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rank, index(0));
      auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    write(store, held, site);
  }
  if (sharers > 1)
    return write(attention.store, evaluate(attention.store.getValue(), site), site);
  Value result = narrow(evaluate(attention.store.getValue(), site), element);
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
      ArriveOp::create(b, loc, qEmpty, index(0));
    }
  });
}

//===----------------------------------------------------------------------===//
// What is elementwise
//===----------------------------------------------------------------------===//

Value AttentionMapper::evaluate(Value of, Site &site) {
  if (Value value = site.known.lookup(of))
    return value;
  Value value = compute(of, site);
  site.known[of] = value;
  return value;
}

bool AttentionMapper::holdsInside(Value condition) {
  while (auto broadcast = condition.getDefiningOp<BroadcastOp>())
    condition = broadcast.getInput();
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return holdsInside(both.getLhs()) && holdsInside(both.getRhs());
  auto bound = matchBound(condition, attention.queries, attention.keys, axes);
  return bound && (bound == diagonal() || bound == window());
}

Value AttentionMapper::addScaled(Value of, Site &site) {
  auto sum = of.getDefiningOp<arith::AddFOp>();
  if (!sum || !getElementTypeOrSelf(of.getType()).isF32())
    return {};
  for (auto [scores, other] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
    auto product = scores.getDefiningOp<arith::MulFOp>();
    if (auto scaled = product ? scaledBy(product) : std::nullopt;
        scaled && scaled->first == attention.scores.getResult()) {
      Value x = evaluate(scaled->first, site);
      return math::FmaOp::create(b, loc, x, number(x.getType(), scaled->second), evaluate(other, site));
    }
  }
  return {};
}

Value AttentionMapper::compute(Value of, Site &site) {
  Type element = getElementTypeOrSelf(of.getType());
  auto inner = [&](Value operand) { return evaluate(operand, site); };
  if (site.isWhole) {
    if (auto select = of.getDefiningOp<arith::SelectOp>(); select && holdsInside(select.getCondition()))
      return inner(select.getTrueValue());
    if (auto both = of.getDefiningOp<arith::AndIOp>(); both && element.isInteger(1))
      for (auto [condition, other] : {std::pair(both.getLhs(), both.getRhs()), std::pair(both.getRhs(), both.getLhs())})
        if (holdsInside(condition))
          return inner(other);
  }
  if (element.isInteger(1))
    if (auto bound = matchBound(of, attention.queries, attention.keys, axes))
      return boundOf(*bound, site.place, site.firstColumn, tile(site.fragment.width));
  if (auto load = of.getDefiningOp<LoadOp>())
    return widen(read(load, site));
  if (Value places = placesOf(of, site))
    return places;
  if (Value sum = addScaled(of, site))
    return sum;
  if (Value quotient = divideByVector(of, site.fragment, inner))
    return quotient;
  return MachineEmitter::compute(of, site.fragment, inner);
}

void zyx::kernel::mapAttention(FuncOp func, const TensorAttention &attention, const Axes &axes) {
  AttentionMapper(func, attention, axes).run();
}
