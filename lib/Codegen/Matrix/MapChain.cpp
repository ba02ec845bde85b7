//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What lies along rows stays in shared memory for a tile, and one thread has what lies along the other axis copied in
// blocks beside it. Groups of four warps have 64 rows each: inner products, what is computed of them and the left
// factors of the outer ones are in their registers, and the sums of these, too.
//===----------------------------------------------------------------------===//
#include "ChainMapper.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <numbers>

using namespace mlir;
using namespace zyx::kernel;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

ChainMapper::SharedOperand &ChainMapper::sharedOf(const TensorOperand &operand) {
  return *llvm::find_if(ring, [&](const SharedOperand &kept) { return isSame(*kept.operand, operand); });
}

int64_t ChainMapper::usedOf(const TensorChain::Inner &inner) {
  // Features that an instruction contracts.
  constexpr int64_t stepDepth = 16;
  return llvm::alignTo(inner.depth, stepDepth);
}

void ChainMapper::allocate() {
  for (auto [i, inner] : llvm::enumerate(chain.inner)) {
    const int64_t columns = llvm::alignTo(inner.own.columns(), panelColumns);
    if (chain.total) {
      own.push_back(
          {&inner.own, viewOf(inner.own), allocShared({step.getStages(), step.getRows(), columns}, element), columns});
      continue;
    }
    // Results leave from there.
    const int64_t leaving = i < chain.outer.size() ? llvm::alignTo(chain.outer[i].width, panelColumns) : 0;
    own.push_back(
        {&inner.own, viewOf(inner.own), allocShared({step.getRows(), std::max(columns, leaving)}, element), columns});
  }
  for (const TensorOperand *operand : chain.others()) {
    const int64_t columns = llvm::alignTo(operand->columns(), panelColumns);
    Value view = viewOf(*operand);
    Value memory =
        allocShared({step.getStages(), step.getColumns(), columns}, cast<ViewType>(view.getType()).getElementType());
    ring.push_back({operand, view, memory, columns});
  }
  for (TensorChain::Outer &outer : chain.outer)
    results.push_back(outer.isWide ? Value() : viewOf(outer.result));
  if (!chain.total) {
    ownFull = barriers(1, 1);
    ownEmpty = barriers(1, groups);
  }
  full = barriers(step.getStages(), 1);
  empty = barriers(step.getStages(), groups);
  if (sharers == 1)
    return;
  for (TensorChain::Outer &outer : chain.outer)
    inboxes.push_back(makeInbox(llvm::alignTo(outer.width, panelColumns) / sharers));
  openInboxes();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

void ChainMapper::run() {
  FuncOp mapped = beginKernel(chain.total ? numTotals() : tilesDown * heads);
  if (sharers > 1)
    mapped.setCluster(sharers);
  acc = FragAttr::get(b.getContext(), FragKind::WgmmaAcc);
  element = chain.element();
  findRests();
  allocate();
  if (chain.total)
    emitRoles([&] { emitTotalProducer(); }, [&](Value instance) { emitTotalConsumer(instance); });
  else
    emitRoles([&] { emitProducer(); }, [&](Value instance) { emitConsumer(instance); });
}

/// One block of all that is streamed into the ring.
ChainMapper::PipelineState ChainMapper::fetch(PipelineState pipe, const TileCoordinates &place, Value block) {
  WaitOp::create(b, loc, empty, pipe.stage, pipe.parity);
  int64_t columns = 0;
  for (const SharedOperand &kept : ring)
    columns += kept.columns;
  ExpectOp::create(b, loc, full, pipe.stage, step.getColumns() * columns * 2);
  for (const SharedOperand &kept : ring)
    AsyncLoadOp::create(b, loc, kept.view, indicesOf(*kept.operand, place, multiply(block, step.getColumns())),
                        slotOf(*kept.operand, pipe.stage), full, pipe.stage);
  return next(pipe);
}

void ChainMapper::emitProducer() {
  loop(index(0), rounds(), index(1), {index(0), bit(true), bit(true)}, [&](Value round, ValueRange carried) -> Carried {
    TileCoordinates place = placeIn(round);
    // The first block comes while results of the tile before leave.
    PipelineState pipe = fetch({carried[0], carried[1]}, place, place.first);
    WaitOp::create(b, loc, ownEmpty, index(0), carried[2]);
    int64_t columns = 0;
    for (const SharedOperand &kept : own)
      columns += kept.columns;
    ExpectOp::create(b, loc, ownFull, index(0), step.getRows() * columns * 2);
    for (const SharedOperand &kept : own)
      AsyncLoadOp::create(b, loc, kept.view, indicesOf(*kept.operand, place, place.row),
                          part(kept.memory, {}, {step.getRows(), kept.columns}), ownFull, index(0));
    Carried last = loop(add(place.first, 1), place.end, index(1), {pipe.stage, pipe.parity},
                        [&](Value block, ValueRange at) -> Carried {
                          PipelineState after = fetch({at[0], at[1]}, place, block);
                          return {after.stage, after.parity};
                        });
    return {last[0], last[1], arith::XOrIOp::create(b, loc, carried[2], bit(true)).getResult()};
  });
}

void ChainMapper::start(BlockState &block, RankedTensorType type, ArrayRef<Value> lefts, ArrayRef<Value> rights,
                        Value onto, bool isTransposed) {
  MmaFenceOp::create(b, loc);
  for (Value right : rights)
    for (Value left : lefts)
      onto = MmaAsyncOp::create(b, loc, type, left, right, onto, /*transpose_lhs=*/false, isTransposed);
  block.started.push_back(onto);
  MmaCommitOp::create(b, loc);
}

void ChainMapper::startInner(BlockState &block, Value stage, llvm::function_ref<Value(size_t)> own) {
  auto type = tile(step.getColumns());
  // Registers must not be written while products are on their way: what all begin with is there before the first one,
  // behind a wait for nothing.
  SmallVector<Value> begins;
  for (TensorChain::Inner &inner : chain.inner)
    if (std::optional<Start> begin = startOf(inner.dot, block.masked)) {
      Value vector = evaluate(begin->vector, block);
      Value scaled = arith::MulFOp::create(b, loc, vector, this->number(vector.getType(), -1 / begin->factor));
      begins.push_back(spread(scaled, type));
    }
  if (!begins.empty())
    begins = SmallVector<Value>(MmaWaitOp::create(b, loc, ValueRange(begins).getTypes(), 0, begins).getResults());
  auto begin = begins.begin();
  for (auto [i, inner] : llvm::enumerate(chain.inner)) {
    block.numbers[inner.dot.getResult()] = block.started.size();
    start(block, type, own(i), slotOf(inner.other, stage, usedOf(inner)),
          startOf(inner.dot, block.masked) ? *begin++ : Value(), /*isTransposed=*/true);
  }
}

ChainMapper::State ChainMapper::takeBlock(State state, bool masked, const TileCoordinates &place, Value number,
                                          const llvm::DenseMap<Value, Value> &ofRows) {
  Value stage = state.pipe.stage, firstColumn = multiply(number, step.getColumns());
  BlockState block({{rowAxis, streamedAxis, step.getColumns()}, place, firstColumn, ofRows}, masked);
  WaitOp::create(b, loc, full, stage, state.pipe.parity);
  startInner(block, stage, [&](size_t i) { return myOwn[i]; });
  auto type = tile(step.getColumns());
  for (auto [outer, sum] : llvm::zip(chain.outer, state.sums)) {
    readColumns(outer.factor, block);
    Value factor = evaluate(outer.factor, block);
    // What was read from places that do not exist is zero, but what is computed of it need not be.
    if (masked && hasEdge())
      factor = choose(boundOf({-1, 0, streamed - 1}, place, firstColumn, type), factor, this->number(type, 0));
    auto leftType =
        RankedTensorType::get(type.getShape(), outer.element, FragAttr::get(b.getContext(), FragKind::WgmmaA));
    SmallVector<Value> lefts;
    for (Value part : outer.parts == 1 ? Carried{narrow(factor, outer.element)} : partsOf(factor))
      lefts.push_back(ConvertOp::create(b, loc, leftType, part));
    auto rights = llvm::map_to_vector(outer.others, [&](const TensorOperand &other) { return slotOf(other, stage); });
    start(block, cast<RankedTensorType>(sum.getType()), lefts, rights, sum, /*isTransposed=*/false);
  }
  State after{next(state.pipe), {}};
  await(block, block.started.size() - 1);
  after.sums.append(block.started.begin() + chain.inner.size(), block.started.end());
  ArriveOp::create(b, loc, empty, stage);
  return after;
}

void ChainMapper::emitConsumer(Value instance) {
  Value myRow = multiply(instance, groupRows);
  for (auto [inner, kept] : llvm::zip_equal(chain.inner, own))
    myOwn.push_back(part(kept.memory, {myRow}, {groupRows, usedOf(inner)}));
  SmallVector<Value> zeros;
  for (TensorChain::Outer &outer : chain.outer)
    zeros.push_back(number(tile(llvm::alignTo(outer.width, panelColumns)), 0));
  loop(index(0), rounds(), index(1), {index(0), bit(false), bit(false)},
       [&](Value round, ValueRange carried) -> Carried {
         TileCoordinates place = placeIn(round);
         place.row = add(place.row, myRow);
         WaitOp::create(b, loc, ownFull, index(0), carried[2]);
         BlockState ofTile({{rowAxis, streamedAxis, step.getColumns()}, place, Value()}, /*masked=*/false);
         for (Value value : chain.ofRows)
           if (!rests.contains(value))
             evaluate(value, ofTile);
         State state{{carried[0], carried[1]}, zeros};
         auto stream = [&](Value from, Value to, bool masked) {
           state = State::of(loop(from, to, index(1), state.carried(), [&](Value i, ValueRange at) -> Carried {
             return takeBlock(State::of(at), masked, place, i, ofTile.site.known).carried();
           }));
         };
         if (masksAll()) {
           stream(place.first, place.end, /*masked=*/true);
         } else {
           // A bound that crosses the first blocks need not cross the last one, whose places may all exist.
           const bool begins = chain.begin.has_value(), ends = hasEdge() || chain.end, isPart = sharers > 1 || narrows;
           Value from = place.first, to = place.end;
           if (begins) {
             Value whole = arith::MinUIOp::create(b, loc, place.wholeFirst, place.end);
             if (isPart)
               whole = arith::MaxUIOp::create(b, loc, whole, from);
             stream(from, whole, /*masked=*/true);
             from = whole;
           }
           if (ends)
             to = hasEdge() ? arith::MinUIOp::create(b, loc, place.wholeEnd, index(blocks - 1)).getResult()
                            : place.wholeEnd;
           if (ends && (begins || isPart))
             to = arith::MaxUIOp::create(b, loc, from, to);
           if (ends && isPart)
             to = arith::MinUIOp::create(b, loc, to, place.end);
           stream(from, to, /*masked=*/false);
           if (ends)
             stream(to, place.end, /*masked=*/true);
         }
         if (sharers > 1)
           emitShared(state, place, instance);
         else
           emitResults(state, place, instance);
         return {state.pipe.stage, state.pipe.parity, arith::XOrIOp::create(b, loc, carried[2], bit(true)).getResult()};
       });
  onFirst([&] { AsyncWaitOp::create(b, loc, 0, /*read=*/false); });
}

void ChainMapper::emitResults(const State &state, const TileCoordinates &place, Value instance) {
  for (auto [outer, sum, kept] : llvm::zip(chain.outer, state.sums, own)) {
    const int64_t width = llvm::alignTo(outer.width, panelColumns);
    BlockState block({{rowAxis, outer.columns, width}, place, Value()}, /*masked=*/false);
    block.site.known[outer.sum] =
        outer.weight == 1 ? sum : arith::MulFOp::create(b, loc, sum, number(tile(width), outer.weight)).getResult();
    Value sums = evaluate(outer.store.getValue(), block);
    if (outer.isWide) {
      write(outer.store, sums, block.site);
      continue;
    }
    Value result = narrow(sums, element);
    Value slot = part(kept.memory, {multiply(instance, groupRows)}, {groupRows, width});
    StoreOp::create(b, loc, result, slot, ValueRange{index(0), index(0)}, Value(), DenseBoolArrayAttr());
  }
  BarrierOp::create(b, loc, Scope::Role, /*async=*/true);
  onFirst([&] {
    for (auto [outer, view, kept] : llvm::zip(chain.outer, results, own)) {
      if (outer.isWide)
        continue;
      const int64_t width = llvm::alignTo(outer.width, panelColumns);
      Value slot = part(kept.memory, {multiply(instance, groupRows)}, {groupRows, width});
      AsyncStoreOp::create(b, loc, slot, view, indicesOf(outer.result, place, place.row));
    }
    AsyncWaitOp::create(b, loc, 0, /*read=*/true);
    ArriveOp::create(b, loc, ownEmpty, index(0));
  });
}

void ChainMapper::emitShared(const State &state, const TileCoordinates &place, Value instance) {
  ClusterWaitOp::create(b, loc);
  for (auto [inbox, sum] : llvm::zip_equal(inboxes, state.sums))
    sendColumns(inbox, unlessIdle(place, sum), instance);
  awaitInboxes();
  for (auto [outer, inbox] : llvm::zip_equal(chain.outer, inboxes)) {
    Value sum = receive(inbox, 0, instance);
    for (int64_t from = 1; from < sharers; ++from)
      sum = arith::AddFOp::create(b, loc, sum, receive(inbox, from, instance));
    if (outer.weight != 1)
      sum = arith::MulFOp::create(b, loc, sum, number(sum.getType(), outer.weight));
    BlockState block({{rowAxis, outer.columns, inbox.columns}, place, Value()}, /*masked=*/false);
    block.site.resultColumn = multiply(rank, inbox.columns);
    block.site.known[outer.sum] = sum;
    write(outer.store, evaluate(outer.store.getValue(), block), block.site);
  }
}

//===----------------------------------------------------------------------===//
// What is elementwise
//===----------------------------------------------------------------------===//

/// A product that was started, with its sums in registers; products end in their order.
Value ChainMapper::await(BlockState &block, size_t number) {
  if (number < block.done)
    return block.started[number];
  SmallVector<Value> ending(ArrayRef(block.started).slice(block.done, number + 1 - block.done));
  auto wait = MmaWaitOp::create(b, loc, ValueRange(ending).getTypes(), block.started.size() - 1 - number, ending);
  llvm::copy(wait.getResults(), block.started.begin() + block.done);
  block.done = number + 1;
  return block.started[number];
}

/// Through broadcasts.
static Value spreadOf(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getInput();
  return value;
}

static std::optional<double> splatOf(Value value) {
  DenseFPElementsAttr elements;
  if (!matchPattern(spreadOf(value), m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

ChainMapper::Distance ChainMapper::distanceOf(Value operand) {
  Distance none{operand, Value(), Value()};
  auto outer = operand.getDefiningOp<arith::SubFOp>();
  auto inner = outer ? outer.getLhs().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  Value rest = outer ? spreadOf(outer.getRhs()) : Value();
  auto select = rest ? rest.getDefiningOp<arith::SelectOp>() : arith::SelectOp();
  auto condition = select ? spreadOf(select.getCondition()).getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  auto size = condition ? spreadOf(condition.getLhs()).getDefiningOp<math::AbsFOp>() : math::AbsFOp();
  if (!inner || !size || condition.getPredicate() != arith::CmpFPredicate::OGT || !splatOf(condition.getRhs()) ||
      splatOf(select.getFalseValue()) != 0 || spreadOf(size.getOperand()) != spreadOf(inner.getRhs()))
    return none;
  return {inner.getResult(), spreadOf(size.getOperand()), rest, *splatOf(condition.getRhs())};
}

void ChainMapper::findRests() {
  func.walk([&](math::ExpOp exp) {
    if (Distance distance = distanceOf(exp.getOperand()); distance.rest) {
      rests.insert(distance.rest);
      rests.insert(spreadOf(distance.rest.getDefiningOp<arith::SelectOp>().getTrueValue()));
    }
  });
}

/// Has what lies along columns on its way before it is waited for something else.
void ChainMapper::readColumns(Value of, BlockState &block) {
  llvm::SetVector<Value> values;
  values.insert(of);
  for (size_t i = 0; i < values.size(); ++i) {
    Value value = values[i];
    if (rests.contains(value))
      continue;
    Operation *op = value.getDefiningOp();
    if (isa<LoadOp>(op) && axes.contains(value, streamedAxis))
      evaluate(value, block);
    else if (!isa<DotOp, LoadOp>(op) && !block.site.known.contains(value))
      values.insert(op->operand_begin(), op->operand_end());
  }
}

bool ChainMapper::holdsInside(Value condition) {
  auto bounds = matchBounds(condition, rowAxis, streamedAxis, axes);
  return bounds &&
         llvm::all_of(*bounds, [&](const TensorBound &bound) { return bound == chain.begin || bound == chain.end; });
}

Value ChainMapper::evaluate(Value of, BlockState &block) {
  if (Value value = block.site.known.lookup(of))
    return value;
  Value value = compute(of, block);
  block.site.known[of] = value;
  return value;
}

std::optional<ChainMapper::Start> ChainMapper::startOf(DotOp dot, bool masked) {
  Start start;
  Value value = dot.getResult();
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    auto product = dyn_cast<arith::MulFOp>(user);
    if (auto scaled = product ? scaledBy(product) : std::nullopt;
        scaled && scaled->first == value && scaled->second > 0) {
      start.factor *= scaled->second;
      value = product;
      continue;
    }
    auto select = dyn_cast<arith::SelectOp>(user);
    if (select && !masked && select.getTrueValue() == value && holdsInside(select.getCondition())) {
      value = select;
      continue;
    }
    auto difference = dyn_cast<arith::SubFOp>(user);
    auto vector = difference ? difference.getRhs().getDefiningOp<BroadcastOp>() : BroadcastOp();
    if (!vector || difference.getLhs() != value || !vector.getInput().getDefiningOp<LoadOp>())
      return std::nullopt;
    start.difference = difference;
    start.vector = vector.getInput();
    return start;
  }
  return std::nullopt;
}

/// exp(s - row) by a power of two: what is a factor of scores, and what rows or columns have, is scaled before. Where
/// the latter is far from zero, the difference comes first, in place of the scores.
Value ChainMapper::emitExp(Value of, BlockState &block) {
  const double log2e = std::numbers::log2e;
  const Distance distance = distanceOf(of.getDefiningOp()->getOperand(0));
  const double limit = std::min(distance.limit, mostExponent / log2e);
  auto times = [&](Value x, double factor) -> Value {
    return factor == 1 ? x : arith::MulFOp::create(b, loc, x, number(x.getType(), factor)).getResult();
  };
  auto minus = [&](Value x, Value vector) -> Value {
    return arith::SubFOp::create(b, loc, x, spread(vector, x.getType()));
  };
  // What is evaluated on one side of a branch is not known behind it.
  auto aside = [&](llvm::function_ref<Carried()> body) {
    llvm::DenseMap<Value, Value> known = block.site.known;
    Carried results = body();
    block.site.known = std::move(known);
    return results;
  };
  auto difference = distance.operand.getDefiningOp<arith::SubFOp>();
  for (TensorChain::Inner &inner : chain.inner)
    if (auto start = startOf(inner.dot, block.masked); start && start->difference == difference) {
      Value x = evaluate(inner.dot.getResult(), block);
      if (distance.rest)
        x = branch(
            isFar(evaluate(distance.vector, block), limit),
            [&] {
              return aside(
                  [&]() -> Carried { return {minus(x, times(evaluate(distance.rest, block), 1 / start->factor))}; });
            },
            [&]() -> Carried { return {x}; })[0];
      return power(times(x, start->factor * log2e));
    }
  auto vector = difference ? difference.getRhs().getDefiningOp<BroadcastOp>() : BroadcastOp();
  if (!vector)
    return power(times(evaluate(of.getDefiningOp()->getOperand(0), block), log2e));
  Value scores = difference.getLhs(), condition;
  if (auto select = scores.getDefiningOp<arith::SelectOp>();
      select && isMinusInfinity(select.getFalseValue()) &&
      matchBounds(select.getCondition(), rowAxis, streamedAxis, axes)) {
    scores = select.getTrueValue();
    if (block.masked || !holdsInside(select.getCondition()))
      condition = evaluate(select.getCondition(), block);
  }
  double scale = 1;
  auto product = scores.getDefiningOp<arith::MulFOp>();
  if (auto scaled = product ? scaledBy(product) : std::nullopt; scaled && scaled->second != 0) {
    scale = scaled->second;
    scores = scaled->first;
  }
  Value x = evaluate(scores, block), from = evaluate(vector.getInput(), block);
  Carried taken = branch(
      isFar(from, limit),
      [&] {
        return aside([&]() -> Carried {
          Value difference = minus(times(x, scale), from);
          if (distance.rest)
            difference = minus(difference, evaluate(distance.rest, block));
          return {times(difference, 1 / scale), number(from.getType(), 0)};
        });
      },
      [&]() -> Carried { return {x, times(from, -log2e)}; });
  x = taken[0];
  Value result =
      power(math::FmaOp::create(b, loc, x, number(x.getType(), scale * log2e), spread(taken[1], x.getType())));
  return condition ? choose(condition, result, number(result.getType(), 0)) : result;
}

Value ChainMapper::compute(Value of, BlockState &block) {
  if (auto found = block.numbers.find(of); found != block.numbers.end())
    return await(block, found->second);
  Site &site = block.site;
  if (getElementTypeOrSelf(of.getType()).isInteger(1))
    if (auto bound = matchBound(of, rowAxis, streamedAxis, axes))
      return boundOf(*bound, site.place, site.firstColumn, tile(site.fragment.width));
  if (auto load = of.getDefiningOp<LoadOp>())
    return widen(read(load, site));
  if (Value places = placesOf(of, site))
    return places;
  auto inner = [&](Value operand) { return evaluate(operand, block); };
  for (TensorChain::Inner &each : chain.inner)
    if (auto start = startOf(each.dot, block.masked); start && start->difference.getResult() == of) {
      Value product = inner(each.dot.getResult());
      return start->factor == 1
                 ? product
                 : arith::MulFOp::create(b, loc, product, number(product.getType(), start->factor)).getResult();
    }
  if (auto select = of.getDefiningOp<arith::SelectOp>();
      select && (chain.idle.contains(of) || (!block.masked && holdsInside(select.getCondition()))))
    return inner(select.getTrueValue());
  if (auto both = of.getDefiningOp<arith::AndIOp>();
      both && !block.masked && getElementTypeOrSelf(of.getType()).isInteger(1))
    for (auto [condition, other] : {std::pair(both.getLhs(), both.getRhs()), std::pair(both.getRhs(), both.getLhs())})
      if (holdsInside(condition))
        return inner(other);
  if (of.getDefiningOp<math::ExpOp>() && axes.contains(of, streamedAxis))
    return emitExp(of, block);
  if (Value quotient = divideByVector(of, site.fragment, inner))
    return quotient;
  return MachineEmitter::compute(of, site.fragment, inner);
}

void zyx::kernel::mapChain(FuncOp func, const TensorChain &chain, const Axes &axes) {
  ChainMapper(func, chain, axes).run();
}
