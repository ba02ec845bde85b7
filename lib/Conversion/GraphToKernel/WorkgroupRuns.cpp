//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Rows of sorted runs: few runs are merged element by element, many by tiles of the result.
//===----------------------------------------------------------------------===//
#include "WorkgroupSort.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

/// A row of sorted runs: an element goes behind those before it in its own run, and as many of each other run as stand
/// before it, which is found by bisection. Of equal ones those of earlier runs do.
void WorkgroupSort::emitRuns(int64_t runs) {
  constexpr int64_t together = 8;
  const int64_t length = rows.extent / runs, groupThreads = std::min<int64_t>(256, machine.workgroupThreads);
  Operand x = getOperand(sort.getX(), rows.shape());
  Values at = openGroups({rows.outer, rows.extent, rows.inner}, {1, groupThreads, 1}, groupThreads);
  Value e = add(at[1], thread);
  when(isLess(e, index(rows.extent)), [&] {
    Value element = load(x, {at[0], e, at[2]}), own = encode(element);
    Value run = arith::DivUIOp::create(builder, loc, e, index(length)),
          place = arith::RemUIOp::create(builder, loc, e, index(length));
    const auto first = static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(length) + 1)) / 2;
    Values rank = loop(index(0), index(runs), index(together), {place}, [&](Value begin, ValueRange carried) -> Values {
      Values begins, isEarlier, state(together, index(0));
      for (int64_t i = 0; i < together; ++i) {
        Value other = smaller(add(begin, index(i)), index(runs - 1));
        begins.push_back(multiply(other, length));
        isEarlier.push_back(isLess(other, run));
      }
      state.push_back(index(first));
      // Steps halve: as many elements are known to stand before.
      state = loop(index(0), index(llvm::Log2_64_Ceil(static_cast<uint64_t>(length) + 1)), index(1), state,
                   [&](Value, ValueRange values) -> Values {
                     Values next;
                     Value step = values[together];
                     for (int64_t i = 0; i < together; ++i) {
                       Value count = add(values[i], step), last = subtract(smaller(count, index(length)), index(1));
                       Value theirs = encode(load(x, {at[0], add(begins[i], last), at[2]}));
                       Value isEqual = compare(arith::CmpIPredicate::eq, theirs, own);
                       Value comes = arith::OrIOp::create(builder, loc, compare(arith::CmpIPredicate::ult, theirs, own),
                                                          both(isEqual, isEarlier[i]));
                       Value fits = compare(arith::CmpIPredicate::sle, count, index(length));
                       next.push_back(choose(both(comes, fits), count, values[i]));
                     }
                     next.push_back(quotient(step, 2));
                     return next;
                   });
      Value sum = carried[0];
      for (int64_t i = 0; i < together; ++i) {
        Value other = add(begin, index(i)), isOther = compare(arith::CmpIPredicate::ne, other, run);
        sum = add(sum, choose(both(isOther, isLess(other, index(runs))), state[i], index(0)));
      }
      return {sum};
    });
    Value given = sort.getKind() == SortKind::Values
                      ? element
                      : arith::IndexCastOp::create(builder, loc, builder.getI64Type(), e).getResult();
    store(given, out, linear(rows, at[0], rank[0], at[2]));
  });
}

/// Adds up what the threads that have runs give, of each of some numbers, for all threads.
Values WorkgroupSort::sumRuns(const RunMemory &memory, ArrayRef<Value> own) {
  if (machine.hasSubgroupOps) {
    Value hasRun = isLess(thread, index(memory.runs)), zero = constant(builder.getI64IntegerAttr(0));
    return addUp(llvm::map_to_vector(own, [&](Value each) { return choose(hasRun, each, zero); }), memory.given).all;
  }
  constexpr int64_t groups = RunShape::groups;
  for (auto [number, value] : llvm::enumerate(own))
    store(value, memory.given, add(thread, index(static_cast<int64_t>(number) * threads)));
  meet();
  forOwn(index(static_cast<int64_t>(own.size()) * groups), [&](Value slot) {
    Value begin = add(multiply(quotient(slot, groups), threads), remainder(slot, groups));
    Value sum = loadAt(memory.given, begin);
    for (int64_t other = groups; other < memory.runs; other += groups)
      sum = add(sum, loadAt(memory.given, add(begin, index(other))));
    store(sum, memory.sums, slot);
  });
  meet();
  Values result;
  for (size_t number = 0; number < own.size(); ++number) {
    Value sum = constant(builder.getI64IntegerAttr(0));
    for (int64_t group = 0; group < groups; ++group)
      sum = add(sum, loadAt(memory.sums, index(static_cast<int64_t>(number) * groups + group)));
    result.push_back(sum);
  }
  return result;
}

/// What the runs before a thread's own have together.
Value WorkgroupSort::sumBefore(const RunMemory &memory, Value own) {
  if (machine.hasSubgroupOps)
    return subtract(addUp(own, memory.given).upTo[0], own);
  Value sum = own, zero = constant(builder.getI64IntegerAttr(0));
  int64_t from = 0;
  auto slot = [&](Value of, int64_t half) { return add(of, index(half * threads)); };
  store(sum, memory.given, thread);
  meet();
  for (int64_t distance = 1; distance < memory.runs; distance *= 2, from = 1 - from) {
    Value other = larger(subtract(thread, index(distance)), index(0));
    Value theirs = loadAt(memory.given, slot(other, from));
    sum = add(sum, choose(isLess(thread, index(distance)), zero, theirs));
    store(sum, memory.given, slot(thread, 1 - from));
    meet();
  }
  return subtract(sum, own);
}

/// All searches at once: loads of one wait for those of no other.
void WorkgroupSort::findPivots(MutableArrayRef<PivotSearch> searches, llvm::function_ref<Value(Value place)> keyAt) {
  constexpr size_t numbers = 4;
  auto isBelow = [&](Value a, Value b) { return compare(arith::CmpIPredicate::ult, a, b); };
  Value one = word(1);
  Values inits;
  // The element in front of the first bound is below the pivot, and that at the second one is not. Most pivots are
  // outside of what is left of a run.
  for (const PivotSearch &search : searches) {
    Value low = search.low.count, high = search.high.count;
    Value isEmpty = compare(arith::CmpIPredicate::eq, low, high);
    Value isInFront = compare(arith::CmpIPredicate::ule, search.pivot, search.low.above);
    Value isBefore = arith::OrIOp::create(builder, loc, isEmpty, isInFront);
    Value isBehind = isBelow(search.high.below, search.pivot);
    Value isOutside = arith::OrIOp::create(builder, loc, isBefore, isBehind), outside = choose(isBefore, low, high);
    llvm::append_range(inits, Values{choose(isOutside, outside, add(low, one)),
                                     choose(isOutside, outside, subtract(high, one)),
                                     choose(isBehind, search.high.below, search.low.above),
                                     choose(isBefore, search.low.above, search.high.below)});
  }
  auto isOpen = [&](ValueRange values, size_t number) {
    return isLess(values[numbers * number], values[numbers * number + 1]);
  };
  auto loops = scf::WhileOp::create(
      builder, loc, ValueRange(inits).getTypes(), inits,
      [&](OpBuilder &, Location, ValueRange values) {
        Value isAnyOpen = isOpen(values, 0);
        for (size_t number = 1; number < searches.size(); ++number)
          isAnyOpen = arith::OrIOp::create(builder, loc, isAnyOpen, isOpen(values, number));
        scf::ConditionOp::create(builder, loc, isAnyOpen, values);
      },
      [&](OpBuilder &, Location, ValueRange values) {
        Values keys, middles, next;
        for (size_t number = 0; number < searches.size(); ++number) {
          Value sum = add(values[numbers * number], values[numbers * number + 1]);
          middles.push_back(arith::ShRUIOp::create(builder, loc, sum, one));
          keys.push_back(keyAt(middles.back()));
        }
        for (auto [number, search] : llvm::enumerate(searches)) {
          const ValueRange own = values.slice(numbers * number, numbers);
          Value open = isOpen(values, number), goesUp = both(open, isBelow(keys[number], search.pivot));
          Value goesDown = both(open, compare(arith::CmpIPredicate::uge, keys[number], search.pivot));
          llvm::append_range(
              next, Values{choose(goesUp, add(middles[number], one), own[0]), choose(goesDown, middles[number], own[1]),
                           choose(goesUp, keys[number], own[2]), choose(goesDown, keys[number], own[3])});
        }
        scf::YieldOp::create(builder, loc, next);
      });
  for (auto [number, search] : llvm::enumerate(searches)) {
    const ValueRange own = loops.getResults().slice(numbers * number, numbers);
    search.found = {own[0], own[2], own[3]};
  }
}

/// Sorts the keys that the first runs have where targets would be if runs were alike: `own` has one for each target.
void WorkgroupSort::sortGuesses(const RunMemory &memory, int64_t asked, ArrayRef<Value> own) {
  for (auto [side, key] : llvm::enumerate(own))
    store(key, memory.given, add(thread, index(static_cast<int64_t>(side) * threads)));
  meet();
  when(isLess(thread, index(asked)), [&] {
    // An equal key of an earlier run comes first.
    Values ranks(own.size(), index(0));
    ranks = loop(index(0), index(asked), index(1), ranks, [&](Value run, ValueRange values) -> Values {
      Values next;
      Value isEarlier = isLess(run, thread);
      for (auto [side, key] : llvm::enumerate(own)) {
        Value other = loadAt(memory.given, add(run, index(static_cast<int64_t>(side) * threads)));
        Value isEqual = both(compare(arith::CmpIPredicate::eq, other, key), isEarlier);
        Value isBefore = compare(arith::CmpIPredicate::ult, other, key);
        Value counts = arith::OrIOp::create(builder, loc, isBefore, isEqual);
        next.push_back(add(values[side], choose(counts, index(1), index(0))));
      }
      return next;
    });
    for (auto [side, key] : llvm::enumerate(own))
      store(key, memory.guesses, add(ranks[side], index(static_cast<int64_t>(side) * asked)));
  });
  meet();
}

/// Which elements of a thread's run a workgroup takes so that those from the first to the second target of the row are
/// among them. The key at a target is the largest that at most as many elements are below. Keys that runs have about
/// there, and then halves, divide those that are possible, until what is between these and the targets has room, or one
/// key is left. Of the elements with that key those of earlier runs come first.
WorkgroupSort::RunPart WorkgroupSort::splitRuns(const Operand &x, ArrayRef<Value> at, const RunShape &shape,
                                                const RunMemory &memory, ArrayRef<Value> targets) {
  constexpr size_t numSides = 2;
  const bool isWide = getElement(sort.getX()).getIntOrFloatBitWidth() == 64;
  Type keyType = builder.getIntegerType(isWide ? 64 : 32), wordType = builder.getI64Type();
  auto key = [&](int64_t value) { return constant(builder.getIntegerAttr(keyType, value)); };
  auto isBelow = [&](Value a, Value b) { return compare(arith::CmpIPredicate::ult, a, b); };
  auto isNot = [&](Value condition) {
    return arith::XOrIOp::create(builder, loc, condition, constant(builder.getBoolAttr(true))).getResult();
  };
  Value none = key(-1), zero = word(0), one = word(1), length = word(shape.length), last = word(shape.length - 1);
  Value exists = isLess(thread, index(shape.runs));
  Value begin = multiply(choose(exists, thread, index(0)), shape.length);
  auto widen = [&](Value value) -> Value {
    return value.getType() == wordType ? value : arith::ExtUIOp::create(builder, loc, wordType, value).getResult();
  };
  auto narrow = [&](Value value, Type type) -> Value {
    return type == wordType ? value : arith::TruncIOp::create(builder, loc, type, value).getResult();
  };
  auto keyAt = [&](Value place) -> Value {
    return narrow(encode(load(x, {at[0], add(begin, toIndex(smaller(place, last))), at[1]})), keyType);
  };
  // Numbers of both sides are added up in one word.
  Value wordBits = constant(builder.getI64IntegerAttr(32));
  auto pack = [&](Value a, Value b) -> Value {
    Value high = arith::ShLIOp::create(builder, loc, widen(b), wordBits);
    return arith::OrIOp::create(builder, loc, widen(a), high);
  };
  auto unpack = [&](Value packed, size_t side) {
    Value of = side == 0 ? packed : arith::ShRUIOp::create(builder, loc, packed, wordBits).getResult();
    return narrow(of, builder.getI32Type());
  };
  auto isTooMany = [&](Value count, size_t side) { return compare(arith::CmpIPredicate::sgt, count, targets[side]); };

  // Where the element of a target is in a run that is like the others, and not far from there: four times as far as it
  // is off on average, if elements are in no order.
  const auto near = static_cast<int32_t>(std::ceil(2 * std::sqrt(static_cast<double>(shape.length))));
  const PivotPlace start{zero, Value(), keyAt(zero)}, end{choose(exists, length, zero), keyAt(last), Value()};
  Values own, places;
  for (Value target : targets) {
    places.push_back(smaller(arith::DivUIOp::create(builder, loc, target, word(shape.runs)), last));
    own.push_back(widen(keyAt(places.back())));
  }
  SmallVector<PivotPlace> lows, highs;
  for (Value place : places) {
    Value before = larger(subtract(place, word(near)), zero), behind = smaller(add(place, word(near)), last);
    lows.push_back({before, Value(), keyAt(before)});
    highs.push_back({add(behind, one), keyAt(behind), Value()});
  }
  const int64_t asked = memory.asked;
  sortGuesses(memory, asked, own);
  auto guessAt = [&](size_t side, Value number) {
    return narrow(loadAt(memory.guesses, add(toIndex(number), index(static_cast<int64_t>(side) * asked))), keyType);
  };
  // Half of these are less than the one that is wanted, give or take half of the root of their number.
  const auto spread = static_cast<int64_t>(std::ceil(1.5 * std::sqrt(static_cast<double>(asked))));
  const std::array<int64_t, 2> outer = {std::max<int64_t>(asked / 2 - spread, 0),
                                        std::min(asked / 2 + spread, asked - 1)};
  SmallVector<PivotSearch> searches;
  for (size_t side = 0; side < numSides; ++side)
    for (const int64_t number : outer) {
      const PivotPlace &low = lows[side], &high = highs[side];
      Value pivot = guessAt(side, word(static_cast<int32_t>(number))), isLow = both(exists, isBelow(low.above, pivot));
      Value isHigh = both(exists, compare(arith::CmpIPredicate::uge, high.below, pivot));
      searches.push_back({{choose(isLow, low.count, start.count), Value(), choose(isLow, low.above, start.above)},
                          {choose(isHigh, high.count, end.count), choose(isHigh, high.below, end.below), Value()},
                          pivot,
                          {}});
    }
  findPivots(searches, keyAt);
  Values sums = sumRuns(memory, {pack(searches[0].found.count, searches[2].found.count),
                                 pack(searches[1].found.count, searches[3].found.count)});
  // Of each side the least key, how far from it the largest is, how many elements of all runs are below and up to
  // these, where those begin and end that may have the key, the keys of their first and last one, and of the guesses
  // the last one that is at most the least key, and the first that is more than the largest.
  enum { Least, Width, Below, UpTo, Low, High, First, Last, LowGuess, HighGuess, numbersOfSide };
  Values state;
  for (size_t side = 0; side < numSides; ++side) {
    const PivotSearch &low = searches[2 * side], &high = searches[2 * side + 1];
    Value below = unpack(sums[0], side), upTo = unpack(sums[1], side);
    Value isLow = isTooMany(below, side), isHigh = isTooMany(upTo, side);
    Value isFar = arith::OrIOp::create(builder, loc, isLow, isNot(isHigh));
    Value least = choose(isLow, key(0), low.pivot);
    Value largest = choose(isHigh, subtract(high.pivot, key(1)), none);
    Value lowGuess = word(static_cast<int32_t>(outer[0]));
    llvm::append_range(state,
                       Values{least, subtract(largest, least), choose(isLow, zero, below),
                              choose(isHigh, upTo, word(rows.extent)), choose(isLow, zero, low.found.count),
                              choose(isHigh, high.found.count, end.count), choose(isLow, start.above, low.found.above),
                              choose(isHigh, high.found.below, end.below), lowGuess,
                              choose(isFar, lowGuess, word(static_cast<int32_t>(outer[1])))});
  }
  auto numbersOf = [&](ValueRange values, size_t side) { return values.slice(numbersOfSide * side, numbersOfSide); };
  auto hasNoRoom = [&](ValueRange values) {
    Value all = subtract(numbersOf(values, 1)[UpTo], numbersOf(values, 0)[Below]);
    return compare(arith::CmpIPredicate::sgt, all, word(shape.room));
  };
  auto loops = scf::WhileOp::create(
      builder, loc, ValueRange(state).getTypes(), state,
      [&](OpBuilder &, Location, ValueRange values) {
        Values open;
        for (size_t side = 0; side < numSides; ++side) {
          const ValueRange own = numbersOf(values, side);
          open.push_back(both(compare(arith::CmpIPredicate::ne, own[Width], key(0)),
                              compare(arith::CmpIPredicate::ne, own[Below], targets[side])));
        }
        Value isOpen = arith::OrIOp::create(builder, loc, open[0], open[1]);
        scf::ConditionOp::create(builder, loc, both(hasNoRoom(values), isOpen), values);
      },
      [&](OpBuilder &, Location, ValueRange values) {
        SmallVector<PivotSearch> searches;
        Values guesses;
        for (size_t side = 0; side < numSides; ++side) {
          const ValueRange own = numbersOf(values, side);
          const PivotPlace low{own[Low], Value(), own[First]}, high{own[High], own[Last], Value()};
          // A guess in the middle of the others, and where there is none the key in the middle.
          guesses.push_back(arith::ShRUIOp::create(builder, loc, add(own[LowGuess], own[HighGuess]), one));
          Value hasGuess = isLess(own[LowGuess], guesses.back());
          Value half = subtract(own[Width], arith::ShRUIOp::create(builder, loc, own[Width], key(1)));
          Value pivot = choose(hasGuess, guessAt(side, guesses.back()), add(own[Least], half));
          searches.push_back({low, high, pivot, {}});
        }
        findPivots(searches, keyAt);
        Value sum = sumRuns(memory, pack(searches[0].found.count, searches[1].found.count))[0];
        Values next;
        for (size_t side = 0; side < numSides; ++side) {
          const ValueRange own = numbersOf(values, side);
          const PivotSearch &search = searches[side];
          Value count = unpack(sum, side), ends = isTooMany(count, side), largest = add(own[Least], own[Width]);
          Value least = choose(ends, own[Least], search.pivot);
          largest = choose(ends, subtract(search.pivot, key(1)), largest);
          llvm::append_range(
              next,
              Values{least, subtract(largest, least), choose(ends, own[Below], count), choose(ends, count, own[UpTo]),
                     choose(ends, own[Low], search.found.count), choose(ends, search.found.count, own[High]),
                     choose(ends, own[First], search.found.above), choose(ends, search.found.below, own[Last]),
                     choose(ends, own[LowGuess], guesses[side]), choose(ends, guesses[side], own[HighGuess])});
        }
        scf::YieldOp::create(builder, loc, next);
      });
  const ValueRange found = loops.getResults();
  Values equal, bounds;
  for (size_t side = 0; side < numSides; ++side)
    equal.push_back(subtract(numbersOf(found, side)[High], numbersOf(found, side)[Low]));
  // Where there is room for all it begins before the tile, and ends behind it.
  Value isExact = hasNoRoom(found), before = sumBefore(memory, pack(equal[0], equal[1]));
  for (size_t side = 0; side < numSides; ++side) {
    const ValueRange own = numbersOf(found, side);
    Value left = subtract(subtract(targets[side], own[Below]), unpack(before, side));
    Value taken = add(own[Low], larger(smaller(left, equal[side]), zero));
    bounds.push_back(choose(isExact, taken, own[side == 0 ? Low : High]));
  }
  Value first = numbersOf(found, 0)[Below], all = subtract(numbersOf(found, 1)[UpTo], first);
  return {bounds[0], bounds[1], choose(isExact, zero, subtract(targets[0], first)),
          choose(isExact, subtract(targets[1], targets[0]), all)};
}

/// A workgroup finds a part of each run, by a thread for each, so that all parts together have its tile of the result,
/// and sorts these.
void WorkgroupSort::emitRunTiles(const RunShape &shape) {
  Operand x = getOperand(sort.getX(), rows.shape());
  const int64_t wanted = countFirst(sort, rows), slots = ceilPower(shape.runs);
  Values grid = openGroups({rows.outer, wanted, 1}, {1, shape.tile, 1}, shape.threads), at{grid[0], index(0)};
  Words tile = shareWords(shape.room);
  Type number = builder.getI32Type();
  Value begins = share(shape.threads, number), sources = share(shape.threads, number);
  numberBySubgroups(begins);
  // More guesses take longer than they are worth.
  constexpr int64_t mostAsked = 64;
  const int64_t asked = std::min(shape.runs, mostAsked);
  const RunMemory memory{shape.runs, asked, share(RunShape::numbers * shape.threads, builder.getI64Type()),
                         share(RunShape::numbers * RunShape::groups, builder.getI64Type()),
                         share(RunShape::numbers * asked, builder.getI64Type())};
  Value given = smaller(subtract(index(wanted), grid[1]), index(shape.tile));
  const RunPart part = splitRuns(x, at, shape, memory, {toWord(grid[1]), toWord(add(grid[1], given))});
  Value size = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), subtract(part.end, part.begin));
  Value begin = arith::TruncIOp::create(builder, loc, number, sumBefore(memory, size)), count = toIndex(part.count);
  store(begin, begins, thread);
  store(subtract(add(toWord(multiply(thread, shape.length)), part.begin), begin), sources, thread);
  meet();
  // The last part that begins so far on has an element: empty ones begin where the next one does.
  Values owners(items, index(0));
  owners.push_back(index(slots / 2));
  Value own = multiply(thread, items);
  owners = loop(index(0), index(llvm::Log2_64(static_cast<uint64_t>(slots))), index(1), owners,
                [&](Value, ValueRange values) -> Values {
                  Values next;
                  for (int64_t item = 0; item < items; ++item) {
                    Value part = add(values[item], values[items]), p = toWord(add(own, index(item)));
                    Value isThere = compare(arith::CmpIPredicate::sle, loadAt(begins, part), p);
                    next.push_back(choose(isThere, part, values[item]));
                  }
                  next.push_back(quotient(values[items], 2));
                  return next;
                });
  size_t item = 0;
  auto placeOf = [&](Value p) {
    Value source = toIndex(loadAt(sources, owners[item++]));
    return add(source, p);
  };
  sortOwn(x, at, count, tile, placeOf, /*inTurns=*/false);
  meet();
  Value from = add(mergeAll(tile, count, 1, divideCeil(shape.room, items)), toIndex(part.ahead));
  forOwn(given, [&](Value i) {
    Value j = add(grid[1], i), source = add(from, i);
    if (isPacked())
      giveWord(x, at, loadAt(tile.words, source), j);
    else
      giveElement(x, at, loadAt(tile.places, source), j);
  });
}

} // namespace zyx::lowering
