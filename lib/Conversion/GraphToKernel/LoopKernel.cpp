//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LoopKernel.h"

#include "GroupKernel.h"
#include "LoopEmitter.h"

#include "zyx/Dialect/Graph/IR/PlainTypes.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace zyx::graph::ir;
namespace fits = zyx::target::fits::loops;

namespace zyx::lowering {

using Kind = ElementStep::Kind;

LoopOp findLoop(GroupOp group) {
  for (Operation &op : group.getBlock().without_terminator())
    if (auto loop = dyn_cast<LoopOp>(op))
      return loop;
  return {};
}

GroupOp wrapLoop(LoopOp loop, OpBuilder &builder) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  // Who reads nothing of a result needs no memory for it.
  SmallVector<Value> results;
  llvm::copy_if(loop.getResults(), std::back_inserter(results), [](Value result) { return !result.use_empty(); });
  if (results.empty())
    results.push_back(loop.getResult(0));
  SmallVector<Value> inputs;
  for (Value operand : loop->getOperands())
    if (!isInLoopKernel(operand) && !llvm::is_contained(inputs, operand))
      inputs.push_back(operand);
  auto group = GroupOp::create(builder, loop.getLoc(), ValueRange(results).getTypes(), inputs);
  Block &block = group.getBody().empty() ? group.getBody().emplaceBlock() : group.getBlock();
  for (Value input : inputs)
    block.addArgument(input.getType(), input.getLoc());
  for (auto [result, outside] : llvm::zip_equal(results, group.getResults()))
    result.replaceAllUsesWith(outside);
  builder.setInsertionPointToEnd(&block);
  for (OpOperand &operand : loop->getOpOperands()) {
    Value value = operand.get();
    operand.set(isInLoopKernel(value) ? Value(builder.clone(*value.getDefiningOp())->getResult(0))
                                      : Value(block.getArgument(llvm::find(inputs, value) - inputs.begin())));
  }
  loop->moveBefore(&block, block.end());
  builder.setInsertionPointToEnd(&block);
  YieldOp::create(builder, loop.getLoc(), results);
  return group;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value LoopEmitter::view(Value buffer, Type tensor) {
  const int64_t numElements = cast<RankedTensorType>(tensor).getNumElements();
  Type element = cast<kernel::BufferType>(buffer.getType()).getElementType();
  return kernel::ViewOp::create(builder, loc, kernel::ViewType::get({numElements}, element, kernel::Space::Global),
                                buffer, ValueRange(), kernel::MapAttr::identity(builder.getContext(), {numElements}));
}

Value LoopEmitter::offset(const Linear &place, ArrayRef<Value> at, Value trip) {
  Value result = index(place.constant);
  for (auto [i, factor] : llvm::enumerate(ArrayRef(place.factors).drop_back()))
    if (factor != 0)
      result = add(result, times(at[i], factor));
  // Behind what all trips share.
  if (trip && place.factors.back() != 0)
    result = add(result, times(trip, place.factors.back()));
  return result;
}

Value LoopEmitter::read(Value source, const Linear &place, ArrayRef<Value> at, Value trip, Value mask) {
  if (auto constant = source.getDefiningOp<ConstantOp>())
    return broadcast(arith::ConstantOp::create(builder, loc, getSplatElement(constant.getValue())));
  return readFrom(views.lookup(source), place, at, trip, mask);
}

Value LoopEmitter::readFrom(Value from, const Linear &place, ArrayRef<Value> at, Value trip, Value mask) {
  Value start = offset(place, at, trip);
  const bool isVector = lanes != 1 && innerFactor(place) == 1;
  Type element = cast<kernel::ViewType>(from.getType()).getElementType();
  Value loaded = kernel::LoadOp::create(builder, loc, isVector ? shaped(element) : element, from, start,
                                        isVector ? mask : Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
  return isVector ? loaded : broadcast(loaded);
}

void LoopEmitter::store(Value value, Value view, const Linear &place, ArrayRef<Value> at, Value trip, Value mask) {
  if (!view)
    return;
  const bool isVector = lanes != 1 && innerFactor(place) == 1;
  if (lanes != 1 && !isVector)
    value = vector::ExtractOp::create(builder, loc, value, ArrayRef<int64_t>{0});
  kernel::StoreOp::create(builder, loc, value, view, offset(place, at, trip), isVector ? mask : Value(),
                          DenseBoolArrayAttr());
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The ops that a tile would have, on the elements of a program.
Value LoopEmitter::compute(Operation *op, ArrayRef<Value> operands) {
  SmallVector<Value> tiles;
  SmallVector<UnrealizedConversionCastOp> casts;
  for (Value operand : operands) {
    Type element = getElementTypeOrSelf(operand.getType());
    casts.push_back(UnrealizedConversionCastOp::create(builder, loc, RankedTensorType::get({lanes}, element), operand));
    tiles.push_back(casts.back().getResult(0));
  }
  Operation *before = casts.back();
  Value result = createElementwise(builder, op, tiles);
  for (Operation *made = before->getNextNode(); made; made = made->getNextNode()) {
    for (OpResult value : made->getResults())
      if (auto tile = dyn_cast<RankedTensorType>(value.getType()))
        value.setType(shaped(tile.getElementType()));
    auto constant = dyn_cast<arith::ConstantOp>(made);
    auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    if (!dense)
      continue;
    if (lanes == 1)
      constant.setValueAttr(cast<TypedAttr>(dense.getSplatValue<Attribute>()));
    else
      constant.setValueAttr(
          DenseElementsAttr::get(cast<ShapedType>(constant.getType()), dense.getSplatValue<Attribute>()));
  }
  for (auto [cast, operand] : llvm::zip_equal(casts, operands)) {
    if (result == cast.getResult(0))
      result = operand;
    cast.getResult(0).replaceAllUsesWith(operand);
    cast.erase();
  }
  return result;
}

/// Pairs are combined, and pairs of these, so that few wait for each other.
Value LoopEmitter::reduce(const ElementStep &step, ArrayRef<Value> operands) {
  auto op = cast<ReduceOp>(step.op);
  const kernel::Combine kind = getCombine(op.getKind(), getElementTypeOrSelf(op.getX().getType()));
  Type stored = getElementTypeOrSelf(operands.front().getType()), wide = stored;
  if ((stored.isF16() || stored.isBF16()) && (kind == kernel::Combine::Add || kind == kernel::Combine::Mul))
    wide = builder.getF32Type();
  SmallVector<Value> level(operands);
  if (wide != stored)
    for (Value &value : level)
      value = arith::ExtFOp::create(builder, loc, shaped(wide), value);
  while (level.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(combineElements(builder, loc, kind, level[i], level[i + 1]));
    if (level.size() % 2 != 0)
      next.push_back(level.back());
    level = std::move(next);
  }
  return wide == stored ? level[0] : arith::TruncFOp::create(builder, loc, shaped(stored), level[0]).getResult();
}

Value LoopEmitter::number(const ElementStep &step, ArrayRef<Value> at, Value trip) {
  Type type = toSignless(step.type);
  if (step.place.isConstant())
    return broadcast(arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, step.place.constant)));
  Value first = arith::IndexCastOp::create(builder, loc, type, offset(step.place, at, trip));
  const int64_t factor = innerFactor(step.place);
  if (lanes == 1 || factor == 0)
    return broadcast(first);
  SmallVector<Attribute> beyond;
  for (int64_t lane = 0; lane < lanes; ++lane)
    beyond.push_back(builder.getIntegerAttr(type, lane * factor));
  Value steps = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(VectorType::get(lanes, type), beyond));
  return arith::AddIOp::create(builder, loc, broadcast(first), steps);
}

void LoopEmitter::evaluate(unsigned at, Made &made, ArrayRef<Value> states, ArrayRef<Value> point, Value trip,
                           Value mask) {
  if (made[at])
    return;
  const ElementStep &step = program.steps[at];
  SmallVector<Value> operands;
  for (unsigned operand : step.operands)
    operands.push_back(made[operand]);
  switch (step.kind) {
  case Kind::State:
    made[at] = states[step.state];
    break;
  case Kind::Load:
    made[at] = read(step.source, step.place, point, trip, mask);
    break;
  case Kind::Number:
    made[at] = number(step, point, trip);
    break;
  case Kind::Constant:
    made[at] =
        broadcast(arith::ConstantOp::create(builder, loc, getSplatElement(cast<ConstantOp>(step.op).getValue())));
    break;
  case Kind::Compute:
    made[at] = compute(step.op, operands);
    break;
  case Kind::Reduce:
    made[at] = reduce(step, operands);
    break;
  case Kind::Dot:
    llvm_unreachable("a dot is computed by a cluster");
  }
}

void LoopEmitter::write(const WrittenElement &element, Value update, ArrayRef<Value> at, Value trip, Value mask) {
  Value out = outs[element.position];
  if (!out)
    return;
  if (element.kind != ScatterKind::Set) {
    // A group's scatters update what is there.
    Value before = loopOp ? read(loopOp.getInitial()[element.position], element.place, at, trip, mask)
                          : readFrom(out, element.place, at, trip, mask);
    Value result = loopOp ? Value(loopOp.getResult(element.position)) : Value(group.getResult(element.position));
    update =
        combineElements(builder, loc, getCombine(element.kind, getElementTypeOrSelf(result.getType())), before, update);
  }
  store(update, out, element.place, at, trip, mask);
}

/// What a trip writes.
void LoopEmitter::finish(const Made &made, ArrayRef<Value> at, Value trip, Value mask) {
  for (const WrittenElement &element : program.written)
    write(element, made[element.update], at, trip, mask);
  for (const StoredElement &element : program.stored)
    store(made[element.step], outs[element.position], element.place, at, Value(), mask);
}

/// The trip of which a group is a part, if it reads that.
Value LoopEmitter::loadTrip() {
  for (auto [argument, input] : llvm::zip_equal(group.getBlock().getArguments(), group.getInputs())) {
    auto outside = dyn_cast<BlockArgument>(input);
    if (!outside || outside.getOwner() != group->getBlock() || outside.getArgNumber() != 0)
      continue;
    Value number = kernel::LoadOp::create(builder, loc, builder.getI64Type(), views.lookup(argument), index(0), Value(),
                                          Value(), ArrayAttr(), DenseBoolArrayAttr());
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number);
  }
  return index(0);
}

/// Rows that no trip writes are those that the loop begins with.
void LoopEmitter::emitRest(ArrayRef<Value> at, Value mask) {
  for (const WrittenElement &element : program.written) {
    Value out = outs[element.position];
    if (!out)
      continue;
    const int64_t step = element.place.factors.back();
    Linear rows = element.place;
    rows.constant -= (step > 0 ? element.firstRow : element.endRow - 1) * element.rowStride;
    rows.factors.back() = element.rowStride;
    auto copy = [&](int64_t first, int64_t end) {
      if (first < end)
        loop(index(first), index(end), index(1), {}, [&](Value row, ValueRange) -> Values {
          store(read(loopOp.getInitial()[element.position], rows, at, row, mask), out, rows, at, row, mask);
          return {};
        });
    };
    copy(0, element.firstRow);
    copy(element.endRow, element.numRows);
  }
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

void LoopEmitter::markFixed() {
  for (const ElementStep &step : program.steps) {
    bool isSame = step.kind == Kind::Constant || step.kind == Kind::Compute || step.kind == Kind::Reduce ||
                  ((step.kind == Kind::Load || step.kind == Kind::Number) && step.place.factors.back() == 0);
    for (unsigned operand : step.operands)
      isSame &= isFixed[operand];
    isFixed.push_back(isSame);
  }
}

/// Trips whose elements are asked for at once: as many as there are registers for, since a thread waits for memory once
/// for all of them.
int64_t LoopEmitter::chooseTogether(bool isAhead) const {
  constexpr int64_t steps = 1024, most = 32;
  int64_t loads = 0, ops = 0;
  for (auto [step, same] : llvm::zip_equal(program.steps, isFixed)) {
    ops += !same;
    if (!same && step.kind == Kind::Load)
      loads += llvm::divideCeil(step.type.getIntOrFloatBitWidth(), 32);
  }
  // Beside what these trips read there is what the next ones do.
  const int64_t room =
      std::max<int64_t>((fits::readRegisters - static_cast<int64_t>(program.carried.size())) / (isAhead ? 2 : 1), 8);
  int64_t together =
      std::min({most, program.trips, room / std::max<int64_t>(loads, 1), steps / std::max<int64_t>(ops, 1)});
  return std::max<int64_t>(together, 1);
}

/// A thread has a point for all trips, and what it carries in registers.
void LoopEmitter::emitThreads() {
  SmallVector<int64_t> extents = program.domain;
  if (extents.empty())
    extents.push_back(1);
  Values at = openGrid(extents, SmallVector<int64_t>(extents.size(), 1));
  Values states;
  for (const CarriedElement &element : program.carried)
    states.push_back(begin(element.position, element.place, at, Value()));
  // What all trips share is read once where registers have room for it.
  int64_t shared = 0;
  for (auto [step, same] : llvm::zip_equal(program.steps, isFixed))
    shared += same && step.kind == Kind::Load;
  // Threads that are few hide no other's waiting. What they ask for takes some 150 registers with what they compute:
  // cores have room for three eighths of the threads that keep them busy, in one round.
  const bool isAhead = program.numPoints() <= threads / 8 * 3;
  Made common(program.steps.size());
  if (shared <= fits::sharedRegisters)
    for (unsigned step = 0; step < program.steps.size(); ++step)
      if (isFixed[step])
        evaluate(step, common, {}, at, Value(), Value());
  auto ask = [&](ArrayRef<Value> trips) {
    SmallVector<Made> made(trips.size(), common);
    for (auto [trip, own] : llvm::zip_equal(trips, made))
      for (auto [number, step] : llvm::enumerate(program.steps))
        if (step.kind == Kind::Load)
          evaluate(number, own, {}, at, trip, Value());
    return made;
  };
  auto compute = [&](ArrayRef<Value> trips, SmallVector<Made> made, Values now) {
    for (auto [trip, own] : llvm::zip_equal(trips, made)) {
      for (unsigned step = 0; step < program.steps.size(); ++step)
        evaluate(step, own, now, at, trip, Value());
      finish(own, at, trip, Value());
      for (auto [state, element] : llvm::zip_equal(now, program.carried))
        state = own[element.next];
    }
    return now;
  };
  auto advance = [&](ArrayRef<Value> trips, Values now) { return compute(trips, ask(trips), std::move(now)); };
  if (!loopOp) {
    advance(loadTrip(), {});
    return;
  }
  const int64_t together = chooseTogether(isAhead), whole = program.trips / together * together;
  auto tripsFrom = [&](Value first) {
    SmallVector<Value> trips;
    for (int64_t i = 0; i < together; ++i)
      trips.push_back(add(first, index(i)));
    return trips;
  };
  if (isAhead && whole > together) {
    // A thread asks for what the next trips read before it computes these ones.
    auto listAsked = [&](ArrayRef<Made> made) {
      Values asked;
      for (const Made &own : made)
        for (auto [number, step] : llvm::enumerate(program.steps))
          if (step.kind == Kind::Load && !common[number])
            asked.push_back(own[number]);
      return asked;
    };
    auto takeAsked = [&](ValueRange asked) {
      SmallVector<Made> made(together, common);
      for (Made &own : made)
        for (auto [number, step] : llvm::enumerate(program.steps))
          if (step.kind == Kind::Load && !common[number]) {
            own[number] = asked.front();
            asked = asked.drop_front();
          }
      return made;
    };
    Values carried = states;
    const size_t numStates = states.size();
    llvm::append_range(carried, listAsked(ask(tripsFrom(index(0)))));
    const int64_t last = whole - together;
    carried = loop(index(0), index(last), index(together), carried, [&](Value first, ValueRange now) -> Values {
      Values next = listAsked(ask(tripsFrom(add(first, index(together)))));
      Values result =
          compute(tripsFrom(first), takeAsked(now.drop_front(numStates)), Values(now.take_front(numStates)));
      llvm::append_range(result, next);
      return result;
    });
    const ValueRange all(carried);
    states = compute(tripsFrom(index(last)), takeAsked(all.drop_front(numStates)), Values(all.take_front(numStates)));
  } else {
    states = loop(index(0), index(whole), index(together), states,
                  [&](Value first, ValueRange now) -> Values { return advance(tripsFrom(first), Values(now)); });
  }
  SmallVector<Value> last;
  for (int64_t trip = whole; trip < program.trips; ++trip)
    last.push_back(index(trip));
  if (!last.empty())
    states = advance(last, states);
  for (auto [state, element] : llvm::zip_equal(states, program.carried))
    store(state, outs[element.position], element.place, at, Value(), Value());
  emitRest(at, Value());
}

/// Whether what a step reads lies apart, along the last dimension, and is the same in all trips: a strip's elements are
/// copied side by side before the first one.
bool LoopEmitter::isKept(unsigned step) const {
  const ElementStep &load = program.steps[step];
  const int64_t factor = innerFactor(load.place);
  return load.kind == Kind::Load && isFixed[step] && factor != 0 && factor != 1 &&
         !load.source.getDefiningOp<ConstantOp>();
}

/// Elements of a vector, where all that trips read and write lies side by side along the last dimension, or is the
/// same. What they share, begin with and end with may lie apart.
int64_t LoopEmitter::chooseLanes() {
  if (program.domain.empty() || vectorBytes == 0)
    return 1;
  bool isDense = true;
  int64_t widest = 1;
  auto check = [&](const Linear &place, Type type, bool mayLieApart = false) {
    const int64_t factor = innerFactor(place);
    isDense &= (factor == 0 || factor == 1 || mayLieApart) && !type.isInteger(1);
  };
  for (auto [number, step] : llvm::enumerate(program.steps)) {
    widest = std::max<int64_t>(widest, step.type.getIntOrFloatBitWidth() / 8);
    if (step.kind == Kind::Load && !step.source.getDefiningOp<ConstantOp>())
      check(step.place, step.type, isKept(number));
    // Lanes that do not exist might divide by zero.
    auto binary = dyn_cast_or_null<BinaryOp>(step.op);
    if (binary && step.type.isInteger() && binary.getKind() != BinaryKind::Add && binary.getKind() != BinaryKind::Sub &&
        binary.getKind() != BinaryKind::Mul && !step.type.isInteger(1))
      isDense = false;
  }
  for (const CarriedElement &element : program.carried)
    check(element.place, typeOf(element.position), /*mayLieApart=*/true);
  for (const WrittenElement &element : program.written)
    check(element.place, typeOf(element.position));
  for (const StoredElement &element : program.stored)
    check(element.place, typeOf(element.position));
  const int64_t most = vectorBytes / widest;
  return isDense && most > 1 && program.domain.back() >= most ? most : 1;
}

/// Copies what lies apart to the program's own memory, element by element: what trips share, and what is carried.
void LoopEmitter::copyElements(ArrayRef<Value> kept, ArrayRef<Value> carried, ArrayRef<Value> at, Value end) {
  if (llvm::none_of(kept, [](Value memory) { return bool(memory); }) &&
      llvm::none_of(program.carried, [&](const CarriedElement &each) { return isApart(each); }))
    return;
  const int64_t vector = std::exchange(lanes, 1);
  loop(index(0), end, index(1), {}, [&](Value i, ValueRange) -> Values {
    Values point(at);
    point.back() = add(at.back(), i);
    auto keep = [&](Value value, Value memory) {
      kernel::StoreOp::create(builder, loc, value, memory, i, Value(), DenseBoolArrayAttr());
    };
    for (auto [step, memory] : llvm::zip_equal(program.steps, kept))
      if (memory)
        keep(read(step.source, step.place, point, Value(), Value()), memory);
    for (auto [memory, element] : llvm::zip_equal(carried, program.carried))
      if (isApart(element))
        keep(begin(element.position, element.place, point, Value()), memory);
    return {};
  });
  lanes = vector;
}

/// Neighbours along the last dimension are a strip, which is walked trip by trip, so that what is read at a time are
/// long pieces. What is carried lies in memory of the program.
void LoopEmitter::emitStrips() {
  lanes = chooseLanes();
  hasVectors = lanes != 1;
  SmallVector<int64_t> extents = program.domain;
  if (extents.empty())
    extents.push_back(1);
  constexpr int64_t mostColumns = 1024, fewestColumns = 64, enoughPrograms = 16, mostBytes = 64 * 1024;
  int64_t outer = 1, bytes = 0;
  for (int64_t extent : ArrayRef(extents).drop_back())
    outer *= extent;
  for (const CarriedElement &element : program.carried)
    bytes += std::max<int64_t>(typeOf(element.position).getIntOrFloatBitWidth() / 8, 1);
  for (auto [number, step] : llvm::enumerate(program.steps))
    bytes += hasVectors && isKept(number) ? std::max<int64_t>(step.type.getIntOrFloatBitWidth() / 8, 1) : 0;
  int64_t columns = mostColumns;
  while (columns > lanes &&
         (columns * bytes > mostBytes ||
          (columns > fewestColumns && outer * llvm::divideCeil(extents.back(), columns) < enoughPrograms)))
    columns /= 2;
  columns = std::min<int64_t>(llvm::alignTo(columns, lanes), llvm::alignTo(extents.back(), lanes));
  SmallVector<int64_t> steps(extents.size(), 1);
  steps.back() = columns;
  const Values at = openGrid(extents, steps);
  Values memory;
  for (const CarriedElement &element : program.carried)
    memory.push_back(kernel::AllocOp::create(
        builder, loc, kernel::ViewType::get({columns}, typeOf(element.position), kernel::Space::Private)));
  Values kept(program.steps.size());
  for (auto [number, step] : llvm::enumerate(program.steps))
    if (hasVectors && isKept(number))
      kept[number] = kernel::AllocOp::create(
          builder, loc, kernel::ViewType::get({columns}, toSignless(step.type), kernel::Space::Private));
  const int64_t rest = extents.back() % lanes;
  Value step = index(lanes);
  Value end = builder.createOrFold<arith::MinSIOp>(
      loc, builder.createOrFold<arith::SubIOp>(loc, index(extents.back()), at.back()), index(columns));
  Value whole =
      rest == 0 ? end
                : builder.createOrFold<arith::SubIOp>(loc, end, builder.createOrFold<arith::RemUIOp>(loc, end, step));
  auto forVectors = [&](auto body) {
    auto run = [&](Value i, Value mask) {
      Values point = at;
      point.back() = add(at.back(), i);
      body(i, point, mask);
    };
    loop(index(0), whole, step, {}, [&](Value i, ValueRange) -> Values {
      run(i, Value());
      return {};
    });
    if (rest == 0)
      return;
    Value isLeft = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, whole, end);
    scf::IfOp::create(builder, loc, isLeft, [&](OpBuilder &, Location) {
      run(whole, vector::ConstantMaskOp::create(builder, loc, VectorType::get(lanes, builder.getI1Type()),
                                                ArrayRef<int64_t>(rest)));
      scf::YieldOp::create(builder, loc);
    });
  };
  auto loadOwn = [&](Value from, Value i) -> Value {
    return kernel::LoadOp::create(builder, loc, shaped(cast<kernel::ViewType>(from.getType()).getElementType()), from,
                                  i, Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
  };
  auto storeOwn = [&](Value value, Value to, Value i) {
    kernel::StoreOp::create(builder, loc, value, to, i, Value(), DenseBoolArrayAttr());
  };
  auto readKept = [&](Made &made, Value i) {
    for (auto [value, memory] : llvm::zip_equal(made, kept))
      if (memory)
        value = loadOwn(memory, i);
  };
  copyElements(kept, memory, at, end);
  if (!loopOp) {
    Value trip = loadTrip();
    forVectors([&](Value i, ArrayRef<Value> point, Value mask) {
      Made made(program.steps.size());
      readKept(made, i);
      for (unsigned step = 0; step < program.steps.size(); ++step)
        evaluate(step, made, {}, point, trip, mask);
      finish(made, point, trip, mask);
    });
    return;
  }
  forVectors([&](Value i, ArrayRef<Value> point, Value mask) {
    for (auto [own, element] : llvm::zip_equal(memory, program.carried))
      if (!isApart(element))
        storeOwn(begin(element.position, element.place, point, mask), own, i);
  });
  loop(index(0), index(program.trips), index(1), {}, [&](Value trip, ValueRange) -> Values {
    forVectors([&](Value i, ArrayRef<Value> point, Value mask) {
      Values states;
      for (Value own : memory)
        states.push_back(loadOwn(own, i));
      Made made(program.steps.size());
      readKept(made, i);
      for (unsigned step = 0; step < program.steps.size(); ++step)
        evaluate(step, made, states, point, trip, mask);
      finish(made, point, trip, mask);
      for (auto [own, element] : llvm::zip_equal(memory, program.carried))
        storeOwn(made[element.next], own, i);
    });
    return {};
  });
  forVectors([&](Value i, ArrayRef<Value> point, Value mask) {
    for (auto [own, element] : llvm::zip_equal(memory, program.carried))
      if (outs[element.position] && !isApart(element))
        store(loadOwn(own, i), outs[element.position], element.place, point, Value(), mask);
    emitRest(point, mask);
  });
  if (llvm::none_of(program.carried,
                    [&](const CarriedElement &element) { return isApart(element) && outs[element.position]; }))
    return;
  lanes = 1;
  loop(index(0), end, index(1), {}, [&](Value i, ValueRange) -> Values {
    Values point = at;
    point.back() = add(at.back(), i);
    for (auto [own, element] : llvm::zip_equal(memory, program.carried))
      if (outs[element.position] && isApart(element))
        store(loadOwn(own, i), outs[element.position], element.place, point, Value(), Value());
    return {};
  });
}

/// That a point reads and writes.
uint64_t LoopEmitter::countBytes() {
  uint64_t bits = 0;
  for (const ElementStep &step : program.steps)
    bits += step.kind == Kind::Load ? step.type.getIntOrFloatBitWidth() : 0;
  for (const WrittenElement &element : program.written)
    bits += (element.kind == ScatterKind::Set ? 1 : 2) * typeOf(element.position).getIntOrFloatBitWidth();
  for (const StoredElement &element : program.stored)
    bits += typeOf(element.position).getIntOrFloatBitWidth();
  return bits / 8;
}

ConvertedGroup LoopEmitter::emit(StringRef name, const RecurrentShape *shape) {
  if (!shape)
    program.joinDims();
  markFixed();
  ConvertedGroup result;
  OpBuilder::InsertionGuard guard(builder);
  GroupKernel opened = openKernel(group, {}, name, builder, result);
  result.kernel.setForm(kernel::Form::Lowered);
  result.kernel.setScheduleAttr(kernel::ScheduleAttr::get(builder.getContext(), {}));
  for (Value input : group.getBlock().getArguments())
    views[input] = view(opened.buffers.lookup(input), input.getType());
  outs.resize(loopOp ? loopOp.getNumResults() : group.getNumResults());
  for (auto [number, value] : llvm::enumerate(group.getBlock().getTerminator()->getOperands()))
    outs[loopOp ? cast<OpResult>(value).getResultNumber() : number] = view(opened.outputs[number], value.getType());
  if (shape) {
    result.kernel.setThreads(shape->threads);
    if (shape->cluster > 1)
      result.kernel.setCluster(shape->cluster);
    emitClusters(*shape);
  } else if (isCard) {
    emitThreads();
  } else {
    emitStrips();
  }
  builder.setInsertionPointToEnd(&result.kernel.getBody().front());
  kernel::ReturnOp::create(builder, loc);
  uint64_t ops = 0;
  for (const ElementStep &step : program.steps)
    ops += step.kind == Kind::Compute  ? 1
           : step.kind == Kind::Reduce ? step.operands.size()
           : step.kind == Kind::Dot    ? 2 * static_cast<uint64_t>(rowLength(program, step))
                                       : 0;
  if (!loopOp) {
    result.flops = ops * program.numPoints();
    result.bytes = std::max<uint64_t>(countBytes() * program.numPoints(), 1);
    // What is updated is a result, and no argument.
    llvm::BitVector updated(result.kernel.getNumArguments());
    for (Value value : group.getBlock().getTerminator()->getOperands())
      if (auto scatter = value.getDefiningOp<ScatterOp>()) {
        const unsigned number = cast<BlockArgument>(scatter.getX()).getArgNumber();
        updated.set(number);
        for (Operation *user : llvm::make_early_inc_range(result.kernel.getArgument(number).getUsers()))
          user->erase();
      }
    if (failed(result.kernel.eraseArguments(updated)))
      llvm_unreachable("a kernel loses arguments");
    remark::passed(loc, remark::RemarkOpts::name("LoopKernel").category("zyx-kernel"))
        << (name + ": element-wise groups of a trip over " + Twine(program.numPoints()) + " points").str();
    return result;
  }
  result.flops = ops * program.numPoints() * program.trips;
  remark::passed(loc, remark::RemarkOpts::name("LoopKernel").category("zyx-kernel"))
      << (name + ": a loop of " + Twine(program.trips) + " trips over " + Twine(program.numPoints()) + " points" +
          (shape ? ", by clusters of " + Twine(shape->cluster) + " workgroups of " + Twine(shape->threads) + " threads"
                 : ""))
             .str();
  return result;
}

FailureOr<ConvertedGroup> convertLoopGroup(GroupOp group, LoopOp loop, StringRef name, OpBuilder &builder,
                                           const Workgroups &machine) {
  // Who marked the loop has decided which of both it is.
  const std::optional<RecurrentShape> shape = RecurrentShape::of(loop);
  std::optional<ElementLoop> program = shape ? ElementLoop::analyseRecurrent(loop) : ElementLoop::analyse(loop);
  if (!program)
    return loop.emitOpError("is no kernel: its trips need more than each point of it has");
  if (shape && !shape->holds(*program))
    return loop.emitOpError("is no kernel: the clusters that it is marked with have no threads for all of its points");
  return LoopEmitter(group, loop, std::move(*program), builder, machine).emit(name, shape ? &*shape : nullptr);
}

FailureOr<ConvertedGroup> convertElementsGroup(GroupOp group, StringRef name, OpBuilder &builder,
                                               const Workgroups &machine) {
  std::optional<ElementLoop> program = ElementLoop::analyse(group);
  if (!program)
    return group.emitOpError("has more than the elements of a trip");
  return LoopEmitter(group, {}, std::move(*program), builder, machine).emit(name);
}

} // namespace zyx::lowering
