//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sorts whose rows are walked by a workgroup each.
//===----------------------------------------------------------------------===//
#include "WorkgroupSort.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

SmallVector<TensorType> WorkgroupSort::getScratch() {
  if (sort->hasAttr(runsAttrName))
    return {};
  if (isPacked() && (ListShape(sort, rows, machine).isFor(rows) || findFirstThreads(sort, rows, machine).isEnough()))
    return {};
  if (SortShape(rows, wordBytes(), machine).isOneTile(rows) || (isPacked() && ClusterShape(rows, machine).isFor()))
    return {};
  const int64_t numElements = 2 * rows.outer * rows.extent * rows.inner;
  SmallVector<TensorType> result{{DType::I64, {numElements}}};
  if (!isPacked())
    result.push_back({DType::I32, {numElements}});
  return result;
}

/// A number that is smaller where the element stands before, and the same where elements compare equal: both zeros do,
/// and NaN, which is last in either direction.
Value WorkgroupSort::encode(Value element) {
  Type type = element.getType();
  const unsigned width = type.getIntOrFloatBitWidth();
  Type bitsType = builder.getIntegerType(width), wordType = builder.getI64Type();
  auto bits = [&](const APInt &value) { return constant(IntegerAttr::get(bitsType, value)); };
  Value sign = bits(APInt::getSignMask(width)), ones = bits(APInt::getAllOnes(width));
  Value number = element;
  if (isa<FloatType>(type)) {
    Value zero = constant(FloatAttr::get(type, 0.0));
    Value isZero = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, element, zero);
    number = arith::BitcastOp::create(builder, loc, bitsType, choose(isZero, zero, element));
    // Of negative numbers all bits turn, of others the sign's alone.
    Value isNegative = compare(arith::CmpIPredicate::slt, number, bits(APInt::getZero(width)));
    number = arith::XOrIOp::create(builder, loc, number, choose(isNegative, ones, sign));
  } else if (!sortsUnsigned(sort)) {
    number = arith::XOrIOp::create(builder, loc, number, sign);
  }
  if (sort.getDescending())
    number = arith::XOrIOp::create(builder, loc, number, ones);
  if (isa<FloatType>(type))
    number = choose(arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, element, element), ones, number);
  return width == 64 ? number : arith::ExtUIOp::create(builder, loc, wordType, number).getResult();
}

Value WorkgroupSort::packWord(Value word, Value place) {
  Value high = arith::ShLIOp::create(builder, loc, word, constant(builder.getI64IntegerAttr(32)));
  return arith::OrIOp::create(builder, loc, high, arith::ExtUIOp::create(builder, loc, builder.getI64Type(), place));
}

WorkgroupSort::Words WorkgroupSort::shareWords(int64_t tile) {
  // A bisection may look at the element in front of the first one, and behind the last one.
  Value words = share(2 * tile + 2, builder.getI64Type());
  Value places = isPacked() ? Value() : share(2 * tile + 2, builder.getI32Type());
  return {words, places, index(1), tile, /*isShared=*/true};
}

/// Each thread sorts its items by exchanging neighbours, which keeps equal ones in their order. Packed words are in
/// order whoever has them: in turns, threads read what lies side by side. Behind the last element of the tile stands
/// what is last.
void WorkgroupSort::sortOwn(const Operand &x, ArrayRef<Value> at, Value count, const Words &to,
                            llvm::function_ref<Value(Value p)> placeOf, bool inTurns) {
  Values words, places;
  Value own = multiply(thread, items), none = constant(builder.getI64IntegerAttr(-1));
  // As many threads have a block as are merged.
  Value blocks = isPacked() && inTurns
                     ? builder.createOrFold<arith::DivUIOp>(loc, add(count, index(items - 1)), index(items))
                     : Value();
  Value hasBlock = blocks ? isLess(thread, blocks) : Value();
  for (int64_t item = 0; item < items; ++item) {
    Value p =
        blocks ? add(builder.createOrFold<arith::MulIOp>(loc, blocks, index(item)), thread) : add(own, index(item));
    Value j = smaller(placeOf(p), index(rows.extent - 1));
    Value word = encode(load(x, {at[0], j, at[1]})), place = toWord(j), isOne = isLess(p, count);
    if (isPacked())
      word = packWord(word, place);
    if (hasBlock)
      isOne = both(isOne, hasBlock);
    words.push_back(choose(isOne, word, none));
    places.push_back(place);
  }
  if (!to.places)
    sortNetwork(words);
  for (int64_t round = 0; to.places && round < items; ++round)
    for (int64_t item = round % 2; item + 1 < items; item += 2) {
      Value &a = words[item], &b = words[item + 1], &placeA = places[item], &placeB = places[item + 1];
      Value turns = compare(arith::CmpIPredicate::ult, b, a), first = choose(turns, b, a), second = choose(turns, a, b);
      a = first, b = second;
      Value firstPlace = choose(turns, placeB, placeA), secondPlace = choose(turns, placeA, placeB);
      placeA = firstPlace, placeB = secondPlace;
    }
  for (int64_t item = 0; item < items; ++item) {
    Value p = add(to.base, add(own, index(item)));
    store(words[item], to.words, p);
    if (to.places)
      store(places[item], to.places, p);
  }
}

/// A thread merges a block of the result: how many of the left run's elements stand before it is found by bisection
/// (Odeh, Green, Mwassi, Shmueli, Birk, "Merge Path: Parallel Merging Made Simple", IPDPS workshops 2012).
void WorkgroupSort::mergeRuns(const Words &all, Value from, Value to, Value count, Value width, Value numSteps) {
  Value one = word(1), last = subtract(count, one), mask = subtract(add(width, width), one);
  auto times = [&](Value blocks) -> Value { return arith::MulIOp::create(builder, loc, blocks, word(items)); };
  auto at = [&](Value view, Value p) { return loadAt(view, add(from, toIndex(smaller(p, last)))); };
  auto isBelow = [&](Value a, Value b) { return compare(arith::CmpIPredicate::ult, a, b); };
  Value yes = constant(builder.getBoolAttr(true));
  auto isNot = [&](Value condition) { return arith::XOrIOp::create(builder, loc, condition, yes).getResult(); };
  Value numBlocks = toIndex(arith::CeilDivUIOp::create(builder, loc, count, word(items)));
  forOwn(numBlocks, [&](Value block) {
    Value number = toWord(block), within = both(number, mask), depth = times(within);
    Value start = times(subtract(number, within)), middle = smaller(add(start, times(width)), count);
    Value end = smaller(add(middle, times(width)), count);
    Value least = larger(subtract(depth, subtract(end, middle)), word(0)),
          most = smaller(depth, subtract(middle, start));
    Values bounds = loop(index(0), numSteps, index(1), {least, most}, [&](Value, ValueRange bound) -> Values {
      Value half = arith::ShRUIOp::create(builder, loc, add(bound[0], bound[1]), one);
      Value left = at(all.words, add(start, half));
      Value right = at(all.words, larger(add(middle, subtract(subtract(depth, one), half)), word(0)));
      // Of equal elements that of the left run stands before.
      Value isOpen = isLess(bound[0], bound[1]), goesUp = both(isOpen, isNot(isBelow(right, left)));
      return {choose(goesUp, add(half, one), bound[0]), choose(goesUp, bound[1], choose(isOpen, half, bound[1]))};
    });
    Value a = add(start, bounds[0]), b = add(middle, subtract(depth, bounds[0]));
    Value left = at(all.words, a), right = at(all.words, b), own = times(number);
    for (int64_t item = 0; item < items; ++item) {
      Value comesFirst = arith::OrIOp::create(builder, loc, isNot(isLess(a, middle)), isBelow(right, left));
      Value takesRight = both(isLess(b, end), comesFirst), place = add(own, word(item));
      Value taken = choose(takesRight, right, left);
      Value which = all.places ? at(all.places, choose(takesRight, b, a)) : Value();
      auto give = [&] {
        Value target = add(to, toIndex(place));
        store(taken, all.words, target);
        if (which)
          store(which, all.places, target);
      };
      // A tile has room for what is behind its last element.
      if (all.isShared)
        give();
      else
        when(isLess(place, count), give);
      if (item + 1 == items)
        break;
      a = choose(takesRight, a, add(a, one)), b = choose(takesRight, add(b, one), b);
      Value next = at(all.words, choose(takesRight, b, a));
      left = choose(takesRight, left, next), right = choose(takesRight, next, right);
    }
  });
}

Value WorkgroupSort::mergeAll(const Words &all, Value count, int64_t first, int64_t numBlocks) {
  const int64_t before = llvm::Log2_64_Ceil(static_cast<uint64_t>(first));
  return mergeAll(all, count, first,
                  index(std::max<int64_t>(0, llvm::Log2_64_Ceil(static_cast<uint64_t>(numBlocks)) - before)));
}

Value WorkgroupSort::mergeAll(const Words &all, Value count, int64_t first, Value passes) {
  const int64_t before = llvm::Log2_64_Ceil(static_cast<uint64_t>(first));
  const int64_t itemSteps = llvm::Log2_64_Ceil(items);
  loop(index(0), passes, index(1), {word(first), index(0)}, [&](Value pass, ValueRange values) -> Values {
    Value from = values[1], to = subtract(index(all.half), from), steps = add(pass, index(before + itemSteps));
    if (all.isShared && isPacked()) {
      Value pairs = quotient(add(steps, index(1)), 2), last = subtract(multiply(pairs, 2), index(1));
      Value step = arith::ShLIOp::create(builder, loc, word(1), toWord(last));
      mergeShared(all, add(all.base, from), add(all.base, to), toWord(count), values[0], {pairs, step});
    } else {
      mergeRuns(all, add(all.base, from), add(all.base, to), toWord(count), values[0], steps);
    }
    meet();
    return {add(values[0], values[0]), to};
  });
  return add(all.base, multiply(remainder(passes, 2), all.half));
}

Value WorkgroupSort::placeIn(Value word) { return arith::TruncIOp::create(builder, loc, builder.getI32Type(), word); }

Value WorkgroupSort::decode(Value word) {
  Type type = getElement(sort.getX());
  const unsigned width = type.getIntOrFloatBitWidth();
  Type bitsType = builder.getIntegerType(width);
  auto bits = [&](const APInt &value) { return constant(IntegerAttr::get(bitsType, value)); };
  Value high = arith::ShRUIOp::create(builder, loc, word, constant(builder.getI64IntegerAttr(32)));
  Value number = arith::TruncIOp::create(builder, loc, bitsType, high);
  Value sign = bits(APInt::getSignMask(width)), ones = bits(APInt::getAllOnes(width));
  if (sort.getDescending())
    number = arith::XOrIOp::create(builder, loc, number, ones);
  if (isa<FloatType>(type)) {
    Value isPositive = compare(arith::CmpIPredicate::slt, number, bits(APInt::getZero(width)));
    number = arith::XOrIOp::create(builder, loc, number, choose(isPositive, sign, ones));
    return arith::BitcastOp::create(builder, loc, type, number);
  }
  return sortsUnsigned(sort) ? number : arith::XOrIOp::create(builder, loc, number, sign).getResult();
}

/// Zeros of both signs have one word, and all NaN: these are read where they stood.
void WorkgroupSort::giveWord(const Operand &x, ArrayRef<Value> at, Value word, Value j) {
  if (sort.getKind() != SortKind::Values)
    return giveElement(x, at, placeIn(word), j);
  Value element = decode(word);
  if (auto type = dyn_cast<FloatType>(element.getType())) {
    Value zero = constant(FloatAttr::get(type, 0.0));
    Value isPlain = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ONE, element, zero);
    auto found = scf::IfOp::create(builder, loc, type, isPlain, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(found.thenBlock());
    scf::YieldOp::create(builder, loc, element);
    builder.setInsertionPointToStart(found.elseBlock());
    scf::YieldOp::create(builder, loc, load(x, {at[0], toIndex(placeIn(word)), at[1]}));
    element = found.getResult(0);
  }
  store(element, out, linear(rows, at[0], j, at[1]));
}

void WorkgroupSort::giveElement(const Operand &x, ArrayRef<Value> at, Value place, Value j) {
  Value given = sort.getKind() == SortKind::Values
                    ? load(x, {at[0], toIndex(place), at[1]})
                    : arith::ExtSIOp::create(builder, loc, builder.getI64Type(), place).getResult();
  store(given, out, linear(rows, at[0], j, at[1]));
}

/// A tile after the other is sorted in shared memory; tiles are merged in memory.
void WorkgroupSort::emitOp() {
  if (auto runs = sort->getAttrOfType<IntegerAttr>(runsAttrName)) {
    if (const RunShape shape(rows, runs.getInt(), wordBytes(), machine); shape.isFor(rows))
      return emitRunTiles(shape);
    return emitRuns(runs.getInt());
  }
  if (const ListShape lists(sort, rows, machine); isPacked() && lists.isFor(rows))
    return emitLists(lists);
  if (const FirstThreads first = findFirstThreads(sort, rows, machine); isPacked() && first.isEnough())
    return emitFirst(first);
  SortShape shape(rows, wordBytes(), machine);
  const bool isOneTile = shape.isOneTile(rows);
  if (const ClusterShape cluster(rows, machine); !isOneTile && isPacked() && cluster.isFor())
    return emitCluster(cluster);
  items = shape.items;
  // One workgroup sorts while another waits at a barrier.
  if (items == SortShape::manyItems)
    made.setMinResidentThreads(2 * shape.threads);
  Operand x = getOperand(sort.getX(), rows.shape());
  Values at = openGroups({rows.outer, rows.inner}, {1, 1}, shape.threads);
  Words tile = shareWords(shape.tile);
  Value zero = index(0), n = index(rows.extent);
  Words memory;
  if (!isOneTile)
    memory = {scratch[0], isPacked() ? Value() : scratch[1],
              multiply(add(multiply(at[0], rows.inner), at[1]), 2 * rows.extent), rows.extent, /*isShared=*/false};
  auto sortTile = [&](Value start) {
    Value count = isOneTile ? n : smaller(subtract(n, start), index(shape.tile));
    sortOwn(x, at, count, tile, [&](Value p) { return add(start, p); });
    meet();
    Value from = mergeAll(tile, count, 1, divideCeil(std::min(shape.tile, rows.extent), items));
    forOwn(count, [&](Value p) {
      Value source = add(from, p), j = add(start, p);
      if (isOneTile && isPacked())
        return giveWord(x, at, loadAt(tile.words, source), j);
      if (isOneTile)
        return giveElement(x, at, loadAt(tile.places, source), j);
      Value target = add(memory.base, j);
      store(loadAt(tile.words, source), memory.words, target);
      if (memory.places)
        store(loadAt(tile.places, source), memory.places, target);
    });
    meet();
  };
  if (isOneTile)
    return sortTile(zero);
  loop(zero, n, index(shape.tile), sortTile);
  if (isPacked())
    return mergeTiles(tile, memory, at, x);
  Value from = mergeAll(memory, n, shape.threads, divideCeil(rows.extent, items));
  forOwn(n, [&](Value j) { giveElement(x, at, loadAt(memory.places, add(from, j)), j); });
}

std::unique_ptr<OrderEmitter> createWorkgroupSort(GroupOp group, SortOp sort, OpBuilder &builder,
                                                  const Workgroups &machine) {
  return std::make_unique<WorkgroupSort>(group, sort, builder, machine);
}

} // namespace zyx::lowering
