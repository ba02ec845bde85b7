//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sorts whose rows are walked by a workgroup each.
//===----------------------------------------------------------------------===//
#include "WorkgroupOrder.h"

#include "zyx/Dialect/Graph/Analysis/FirstElements.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {
namespace {

/// Threads sort and merge `items` elements at a time, in shared memory until they have a tile, and then in memory. An
/// odd number of them lies in other banks for each thread.
struct SortShape {
  static constexpr int64_t items = 7;
  int64_t threads, tile;

  SortShape(const Rows &rows, int64_t wordBytes, const Workgroups &machine) {
    const int64_t mostThreads = machine.workgroupThreads;
    threads = std::min(mostThreads, divideCeil(rows.extent, items));
    // What is no power of two is no part of a longer row. Two workgroups share a multiprocessor.
    threads = threads < mostThreads / 2 ? llvm::alignTo(threads, machine.warpSize) : ceilPower(threads);
    while (2 * threads * items * wordBytes > machine.sharedBytes / 2)
      threads = ceilPower(threads) / 2;
    tile = threads * items;
  }
  bool isOneTile(const Rows &rows) const { return rows.extent <= tile; }
};

/// The first elements of a row are among those of as many threads, whose own first ones come first of all threads': of
/// each of these all elements are candidates. A thread has `items` of the row, one of each round of all threads.
struct FirstShape {
  int64_t first, threads, items;

  FirstShape(SortOp sort, const Rows &rows, const Workgroups &machine) : first(rows.extent) {
    if (auto attribute = sort->getAttrOfType<IntegerAttr>(firstElementsAttrName))
      first = std::min(attribute.getInt(), rows.extent);
    constexpr int64_t wordBytes = 8, wantedItems = 8;
    threads = std::clamp(ceilPower(std::max(divideCeil(rows.extent, wantedItems), 2 * first)), machine.warpSize,
                         machine.workgroupThreads);
    while (threads > machine.warpSize && 2 * threads * SortShape::items * wordBytes > machine.sharedBytes / 2)
      threads /= 2;
    items = divideCeil(rows.extent, threads);
  }
  /// Whether candidates have room, and are few of all.
  bool isFor(const Rows &rows) const {
    const int64_t candidates = first * items;
    return first > 0 && first <= threads && candidates <= threads * SortShape::items && 2 * candidates <= rows.extent;
  }
};

/// Few first elements of short rows: threads of a subgroup, `lanes` to a row, sort `items` elements each and merge
/// their lists, of which the first `kept` elements stay. Rows share workgroups.
struct ListShape {
  int64_t first, kept, lanes, items, rowsOfGroup;

  ListShape(SortOp sort, const Rows &rows, const Workgroups &machine) : first(rows.extent) {
    if (auto attribute = sort->getAttrOfType<IntegerAttr>(firstElementsAttrName))
      first = std::min(attribute.getInt(), rows.extent);
    constexpr int64_t wantedItems = 8, wantedThreads = 128;
    kept = ceilPower(std::max<int64_t>(first, 1));
    lanes = std::min(ceilPower(divideCeil(rows.extent, wantedItems)), machine.warpSize);
    items = ceilPower(divideCeil(rows.extent, lanes));
    const int64_t threads = std::clamp(wantedThreads, lanes, std::max(machine.workgroupThreads, lanes));
    rowsOfGroup = std::clamp<int64_t>(rows.outer * rows.inner, 1, threads / lanes);
  }
  int64_t threads() const { return rowsOfGroup * lanes; }
  /// Whether the lists of a thread have room in its registers.
  bool isFor(const Rows &rows) const {
    constexpr int64_t mostKept = 16, mostItems = 16;
    return first > 0 && kept <= mostKept && items <= mostItems && 2 * first <= rows.extent;
  }
};

class WorkgroupSort : public WorkgroupOrder {
public:
  WorkgroupSort(GroupOp group, SortOp sort, OpBuilder &builder, const Workgroups &machine)
      : WorkgroupOrder(group, sort, builder, machine), sort(sort), rows(getShape(sort.getX()), sort.getDim()) {}

private:
  void emitOp() override;
  SmallVector<TensorType> getScratch() override;

  /// Elements of a row as numbers that are sorted upwards: of up to 32 bits with their places behind them, which
  /// differ, in one word, of 64 bits with those in `places`.
  struct Words {
    Value words, places;
    /// Where the first one is, and how far behind it merged ones go, or come from.
    Value base;
    int64_t half;
    bool isShared;
  };
  Value encode(Value element);
  Value packWord(Value word, Value place);
  Words shareWords(int64_t tile);
  void emitFirst(const FirstShape &shape);
  void emitLists(const ListShape &shape);
  /// The lesser of two words stands in front behind it.
  void exchange(Value &a, Value &b);
  /// Sorts a list that rises and then falls.
  void sortTurning(Values &list);
  /// The first elements of two sorted lists as one, of which `kept` or fewer stay.
  Values mergeLists(ArrayRef<Value> a, ArrayRef<Value> b, int64_t kept);
  void emitRuns(int64_t runs);
  /// Each thread sorts its items of what `word` gives by place; behind the last one stands what is last.
  template <typename Word> void sortWords(Value count, Value to, Word word);
  void sortOwn(const Operand &x, ArrayRef<Value> at, Value start, Value count, const Words &to);
  /// Merges neighbouring runs of `width` blocks of a thread's items, in the first `count` elements.
  void mergeRuns(const Words &all, Value from, Value to, Value count, Value width, Value numSteps);
  /// Merges all runs of `first` blocks of the `numBlocks`. Returns where the last one went.
  Value mergeAll(const Words &all, Value count, int64_t first, int64_t numBlocks);
  /// What each thread takes in turns.
  template <typename Body> void forOwn(Value count, Body body) { loop(thread, count, index(threads), body); }
  bool isPacked() { return getElement(sort.getX()).getIntOrFloatBitWidth() <= 32; }
  int64_t wordBytes() { return isPacked() ? 8 : 12; }

  SortOp sort;
  const Rows rows;
};

} // namespace

SmallVector<TensorType> WorkgroupSort::getScratch() {
  if (sort->hasAttr(runsAttrName))
    return {};
  if (isPacked() && (ListShape(sort, rows, machine).isFor(rows) || FirstShape(sort, rows, machine).isFor(rows)))
    return {};
  if (SortShape(rows, wordBytes(), machine).isOneTile(rows))
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
  Value words = share(2 * tile, builder.getI64Type());
  return {words, isPacked() ? Value() : share(2 * tile, builder.getI32Type()), index(0), tile, /*isShared=*/true};
}

/// Each thread sorts its items by exchanging neighbours, which keeps equal ones in their order. Behind the last element
/// of the tile stands what is last.
void WorkgroupSort::sortOwn(const Operand &x, ArrayRef<Value> at, Value start, Value count, const Words &to) {
  constexpr int64_t items = SortShape::items;
  Values words, places;
  Value own = multiply(thread, items), none = constant(builder.getI64IntegerAttr(-1));
  for (int64_t item = 0; item < items; ++item) {
    Value p = add(own, index(item)), j = smaller(add(start, p), index(rows.extent - 1));
    Value word = encode(load(x, {at[0], j, at[1]})), place = toWord(j);
    if (isPacked())
      word = packWord(word, place);
    words.push_back(choose(isLess(p, count), word, none));
    places.push_back(place);
  }
  for (int64_t round = 0; round < items; ++round)
    for (int64_t item = round % 2; item + 1 < items; item += 2) {
      Value &a = words[item], &b = words[item + 1], &placeA = places[item], &placeB = places[item + 1];
      Value turns = compare(arith::CmpIPredicate::ult, b, a), first = choose(turns, b, a), second = choose(turns, a, b);
      a = first, b = second;
      if (to.places) {
        Value firstPlace = choose(turns, placeB, placeA), secondPlace = choose(turns, placeA, placeB);
        placeA = firstPlace, placeB = secondPlace;
      }
    }
  for (int64_t item = 0; item < items; ++item) {
    Value p = add(own, index(item));
    store(words[item], to.words, p);
    if (to.places)
      store(places[item], to.places, p);
  }
}

/// A thread merges a block of the result: how many of the left run's elements stand before it is found by bisection
/// (Odeh, Green, Mwassi, Shmueli, Birk, "Merge Path: Parallel Merging Made Simple", IPDPS workshops 2012).
void WorkgroupSort::mergeRuns(const Words &all, Value from, Value to, Value count, Value width, Value numSteps) {
  constexpr int64_t items = SortShape::items;
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
  const int64_t passes = std::max<int64_t>(0, llvm::Log2_64_Ceil(static_cast<uint64_t>(numBlocks)) - before);
  const int64_t itemSteps = llvm::Log2_64_Ceil(SortShape::items);
  loop(index(0), index(passes), index(1), {word(first), index(0)}, [&](Value pass, ValueRange values) -> Values {
    Value from = values[1], to = subtract(index(all.half), from);
    mergeRuns(all, add(all.base, from), add(all.base, to), toWord(count), values[0],
              add(pass, index(before + itemSteps)));
    meet();
    return {add(values[0], values[0]), to};
  });
  return add(all.base, index(passes % 2 * all.half));
}

template <typename Word> void WorkgroupSort::sortWords(Value count, Value to, Word word) {
  constexpr int64_t items = SortShape::items;
  Value own = multiply(thread, items), none = constant(builder.getI64IntegerAttr(-1));
  when(isLess(own, count), [&] {
    Values words;
    for (int64_t item = 0; item < items; ++item) {
      Value p = add(own, index(item));
      words.push_back(choose(isLess(p, count), word(smaller(p, subtract(count, index(1)))), none));
    }
    for (int64_t round = 0; round < items; ++round)
      for (int64_t item = round % 2; item + 1 < items; item += 2) {
        Value turns = compare(arith::CmpIPredicate::ult, words[item + 1], words[item]);
        Value before = choose(turns, words[item + 1], words[item]);
        words[item + 1] = choose(turns, words[item], words[item + 1]);
        words[item] = before;
      }
    for (int64_t item = 0; item < items; ++item)
      store(words[item], to, add(own, index(item)));
  });
}

/// Each thread looks for the first of its elements, those are sorted, and then the candidates.
void WorkgroupSort::emitFirst(const FirstShape &shape) {
  Operand x = getOperand(sort.getX(), rows.shape());
  Values at = openGroups({rows.outer, rows.inner}, {1, 1}, shape.threads);
  const int64_t tile = threads * SortShape::items, candidates = shape.first * shape.items;
  Words words{share(2 * tile, builder.getI64Type()), Value(), index(0), tile, /*isShared=*/true};
  Value bests = share(threads, builder.getI64Type()), winners = share(shape.first, builder.getI32Type());
  Value none = constant(builder.getI64IntegerAttr(-1));
  auto wordOf = [&](Value j) {
    Value element = load(x, {at[0], smaller(j, index(rows.extent - 1)), at[1]});
    return choose(isLess(j, index(rows.extent)), packWord(encode(element), toWord(j)), none);
  };
  auto sortAll = [&](int64_t count, auto word) {
    sortWords(index(count), words.words, word);
    meet();
    return mergeAll(words, index(count), 1, divideCeil(count, SortShape::items));
  };
  // Several elements are on their way at a time.
  constexpr int64_t together = 8;
  const int64_t each = std::min(shape.items, together);
  Values best = loop(index(0), index(shape.items), index(each), none, [&](Value begin, ValueRange carried) -> Values {
    Value least = carried[0];
    for (int64_t item = 0; item < each; ++item)
      least =
          arith::MinUIOp::create(builder, loc, least, wordOf(add(multiply(add(begin, index(item)), threads), thread)));
    return {least};
  });
  store(best[0], bests, thread);
  meet();
  Value from = sortAll(threads, [&](Value p) { return loadAt(bests, p); });
  auto placeAt = [&](Value p) -> Value {
    return arith::TruncIOp::create(builder, loc, builder.getI32Type(), loadAt(words.words, add(from, p)));
  };
  forOwn(index(shape.first),
         [&](Value p) { store(arith::AndIOp::create(builder, loc, placeAt(p), word(threads - 1)), winners, p); });
  meet();
  from = sortAll(candidates, [&](Value p) {
    Value rank = arith::DivUIOp::create(builder, loc, p, index(shape.items));
    Value round = arith::RemUIOp::create(builder, loc, p, index(shape.items));
    return wordOf(add(toIndex(loadAt(winners, rank)), multiply(round, threads)));
  });
  forOwn(index(shape.first), [&](Value j) {
    Value place = placeAt(j);
    Value given = sort.getKind() == SortKind::Values
                      ? load(x, {at[0], toIndex(place), at[1]})
                      : arith::ExtSIOp::create(builder, loc, builder.getI64Type(), place).getResult();
    store(given, out, linear(rows, at[0], j, at[1]));
  });
}

void WorkgroupSort::exchange(Value &a, Value &b) {
  Value turns = compare(arith::CmpIPredicate::ult, b, a), before = choose(turns, b, a);
  b = choose(turns, a, b);
  a = before;
}

void WorkgroupSort::sortTurning(Values &list) {
  for (size_t distance = list.size() / 2; distance > 0; distance /= 2)
    for (size_t i = 0; i < list.size(); ++i)
      if ((i & distance) == 0)
        exchange(list[i], list[i + distance]);
}

/// Both lists have the same length, a power of two (Batcher, "Sorting Networks and their Applications", AFIPS 1968).
Values WorkgroupSort::mergeLists(ArrayRef<Value> a, ArrayRef<Value> b, int64_t kept) {
  Values merged(a);
  if (static_cast<int64_t>(2 * a.size()) <= kept)
    llvm::append_range(merged, llvm::reverse(b));
  else
    for (auto [own, other] : llvm::zip(merged, llvm::reverse(b)))
      own = arith::MinUIOp::create(builder, loc, own, other);
  sortTurning(merged);
  return merged;
}

/// Of two neighbours in the half of the lanes that still have a list each, the first takes the second's. No word is
/// written twice, so that one barrier orders a step.
void WorkgroupSort::emitLists(const ListShape &shape) {
  Operand x = getOperand(sort.getX(), rows.shape());
  const int64_t numRows = rows.outer * rows.inner;
  Values at = openGroups({numRows}, {shape.rowsOfGroup}, shape.threads());
  Value lane = remainder(thread, shape.lanes), number = add(at[0], quotient(thread, shape.lanes));
  // Threads without a row look at the last one.
  Value row = numRows % shape.rowsOfGroup == 0 ? number : smaller(number, index(numRows - 1));
  Value o = row, i = index(0);
  if (rows.inner != 1) {
    o = arith::DivUIOp::create(builder, loc, row, index(rows.inner));
    i = arith::RemUIOp::create(builder, loc, row, index(rows.inner));
  }
  Value none = constant(builder.getI64IntegerAttr(-1));
  SmallVector<Values> lists;
  for (int64_t item = 0; item < shape.items; ++item) {
    Value j = add(lane, index(item * shape.lanes));
    const bool mayEnd = (item + 1) * shape.lanes > rows.extent;
    Value word = packWord(encode(load(x, {o, mayEnd ? smaller(j, index(rows.extent - 1)) : j, i})), toWord(j));
    lists.push_back({mayEnd ? choose(isLess(j, index(rows.extent)), word, none) : word});
  }
  for (; lists.size() > 1; lists.resize(lists.size() / 2))
    for (size_t list = 0; list < lists.size() / 2; ++list)
      lists[list] = mergeLists(lists[list], lists[list + lists.size() / 2], shape.kept);
  Values &own = lists.front();
  Value words = share(shape.threads() * shape.kept, builder.getI64Type());
  auto slot = [&](Value of, size_t element) { return add(of, index(static_cast<int64_t>(element) * shape.threads())); };
  for (int64_t half = shape.lanes / 2; half > 0; half /= 2) {
    Value isGiven = both(compare(arith::CmpIPredicate::sge, lane, index(half)), isLess(lane, index(2 * half)));
    when(isGiven, [&] {
      for (auto [element, word] : llvm::enumerate(own))
        store(word, words, slot(thread, element));
    });
    meet();
    // Lanes that are done read what they gave.
    Value other = choose(isLess(lane, index(half)), add(thread, index(half)), thread);
    Values theirs;
    for (size_t element = 0; element < own.size(); ++element)
      theirs.push_back(loadAt(words, slot(other, element)));
    own = mergeLists(own, theirs, shape.kept);
  }
  when(compare(arith::CmpIPredicate::eq, lane, index(0)), [&] {
    for (auto [element, word] : llvm::enumerate(own))
      if (static_cast<int64_t>(element) < shape.first)
        store(word, words, slot(thread, element));
  });
  meet();
  auto giveAll = [&] {
    Value begin = subtract(thread, lane);
    loop(lane, index(shape.first), index(shape.lanes), [&](Value j) {
      Value word = loadAt(words, add(begin, multiply(j, shape.threads())));
      Value place = arith::TruncIOp::create(builder, loc, builder.getI32Type(), word);
      Value given = sort.getKind() == SortKind::Values
                        ? load(x, {o, toIndex(place), i})
                        : arith::ExtSIOp::create(builder, loc, builder.getI64Type(), place).getResult();
      store(given, out, linear(rows, o, j, i));
    });
  };
  if (row == number)
    giveAll();
  else
    when(isLess(number, index(numRows)), giveAll);
}

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

/// A tile after the other is sorted in shared memory; tiles are merged in memory.
void WorkgroupSort::emitOp() {
  if (auto runs = sort->getAttrOfType<IntegerAttr>(runsAttrName))
    return emitRuns(runs.getInt());
  if (const ListShape lists(sort, rows, machine); isPacked() && lists.isFor(rows))
    return emitLists(lists);
  if (const FirstShape first(sort, rows, machine); isPacked() && first.isFor(rows))
    return emitFirst(first);
  SortShape shape(rows, wordBytes(), machine);
  const bool isOneTile = shape.isOneTile(rows);
  Operand x = getOperand(sort.getX(), rows.shape());
  Values at = openGroups({rows.outer, rows.inner}, {1, 1}, shape.threads);
  Words tile = shareWords(shape.tile);
  Value zero = index(0), n = index(rows.extent);
  auto placeAt = [&](const Words &all, Value p) -> Value {
    Value place = loadAt(all.places ? all.places : all.words, p);
    return all.places ? place : arith::TruncIOp::create(builder, loc, builder.getI32Type(), place).getResult();
  };
  auto give = [&](Value place, Value j) {
    Value given = sort.getKind() == SortKind::Values
                      ? load(x, {at[0], toIndex(place), at[1]})
                      : arith::ExtSIOp::create(builder, loc, builder.getI64Type(), place).getResult();
    store(given, out, linear(rows, at[0], j, at[1]));
  };
  Words memory;
  if (!isOneTile)
    memory = {scratch[0], isPacked() ? Value() : scratch[1],
              multiply(add(multiply(at[0], rows.inner), at[1]), 2 * rows.extent), rows.extent, /*isShared=*/false};
  auto sortTile = [&](Value start) {
    Value count = isOneTile ? n : smaller(subtract(n, start), index(shape.tile));
    sortOwn(x, at, start, count, tile);
    meet();
    Value from = mergeAll(tile, count, 1, divideCeil(std::min(shape.tile, rows.extent), SortShape::items));
    forOwn(count, [&](Value p) {
      Value source = add(from, p), j = add(start, p);
      if (isOneTile)
        return give(placeAt(tile, source), j);
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
  Value from = mergeAll(memory, n, shape.threads, divideCeil(rows.extent, SortShape::items));
  forOwn(n, [&](Value j) { give(placeAt(memory, add(from, j)), j); });
}

std::unique_ptr<OrderEmitter> createWorkgroupSort(GroupOp group, SortOp sort, OpBuilder &builder,
                                                  const Workgroups &machine) {
  return std::make_unique<WorkgroupSort>(group, sort, builder, machine);
}

} // namespace zyx::lowering
