//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Few first elements of short rows: lanes of a subgroup sort what they have in registers, and merge their lists.
//===----------------------------------------------------------------------===//
#include "WorkgroupSort.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

void WorkgroupSort::exchange(Value &a, Value &b) {
  // Words of 32 bits have instructions for both.
  if (a.getType().isInteger(32)) {
    Value less = arith::MinUIOp::create(builder, loc, a, b);
    b = arith::MaxUIOp::create(builder, loc, a, b);
    a = less;
    return;
  }
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

/// Threads without a row look at the last one: all of a subgroup come to where these meet.
WorkgroupSort::OpenRows WorkgroupSort::openRows(const ListShape &shape) {
  const int64_t numRows = rows.outer * rows.inner;
  Values at = openGroups({numRows}, {shape.rowsOfGroup}, shape.threads());
  Value lane = remainder(thread, shape.lanes), number = add(at[0], quotient(thread, shape.lanes));
  Value row = numRows % shape.rowsOfGroup == 0 ? number : smaller(number, index(numRows - 1));
  if (rows.inner == 1)
    return {numRows, lane, number, row, row, index(0)};
  return {numRows,
          lane,
          number,
          row,
          arith::DivUIOp::create(builder, loc, row, index(rows.inner)),
          arith::RemUIOp::create(builder, loc, row, index(rows.inner))};
}

/// Of two neighbours in the half of the lanes that still have a list each, the first takes the second's. No word is
/// written twice, so that one barrier orders a step.
void WorkgroupSort::emitLists(const ListShape &shape) {
  if (shape.isExchanged)
    return emitExchanged(shape);
  Operand x = getOperand(sort.getX(), rows.shape());
  const auto [numRows, lane, number, row, o, i] = openRows(shape);
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
      giveWord(x, {o, i}, word, j);
    });
  };
  if (row == number)
    giveAll();
  else
    when(isLess(number, index(numRows)), giveAll);
}

Values WorkgroupSort::sortList(Values words, int64_t kept) {
  SmallVector<Values> lists;
  for (Value word : words)
    lists.push_back({word});
  for (; lists.size() > 1; lists.resize(lists.size() / 2))
    for (size_t list = 0; list < lists.size() / 2; ++list)
      lists[list] = mergeLists(lists[list], lists[list + lists.size() / 2], kept);
  return lists.front();
}

/// Both of a pair of lanes have the same list behind each step.
void WorkgroupSort::exchangeLists(Values &own, const ListShape &shape) {
  for (int64_t distance = 1; distance < shape.lanes; distance *= 2) {
    Values theirs;
    for (Value word : own)
      theirs.push_back(kernel::ShuffleOp::create(builder, loc, word, distance));
    own = mergeLists(own, theirs, shape.kept);
  }
}

/// The words of a lane's elements, with their places in the last bits, of those that exist: a word of 32 bits may have
/// room for only the first bits of a key.
Values WorkgroupSort::readWords(const ListRow &row, const ListShape &shape, int64_t begin, int64_t end, Value ahead,
                                bool isWide) {
  Values words;
  Type i32 = builder.getI32Type();
  Value none = isWide ? constant(builder.getI64IntegerAttr(-1)) : word(-1);
  const int64_t numLanes = shape.items * shape.lanes;
  for (int64_t item = begin; item < end; item += row.vector) {
    Value place = add(multiply(row.lane, row.vector), index(item * shape.lanes));
    if (ahead)
      place = add(place, ahead);
    // Elements behind the last one are read as it is, and are no candidates. Vectors are whole.
    const bool mayEnd = numLanes > rows.extent && (ahead || (item + row.vector) * shape.lanes > rows.extent);
    Value read = load(row.x, {row.at[0], mayEnd ? smaller(place, index(rows.extent - row.vector)) : place, row.at[1]},
                      row.vector);
    Value exists = mayEnd ? isLess(place, index(rows.extent)) : Value();
    for (int64_t lane = 0; lane < row.vector; ++lane) {
      Value key = encode(extract(read, row.vector, lane)), own = toWord(add(place, index(lane))), made;
      if (isWide) {
        made = packWord(key, own);
      } else {
        key = arith::TruncIOp::create(builder, loc, i32, key);
        if (shape.isExact())
          key = arith::ShLIOp::create(builder, loc, key, word(shape.placeBits));
        else
          key = arith::AndIOp::create(builder, loc, key, word(~shape.placeMask()));
        made = arith::OrIOp::create(builder, loc, key, own);
      }
      words.push_back(exists ? choose(exists, made, none) : made);
    }
  }
  return words;
}

/// The first ones by words of 32 bits, which have fewer bits of keys than elements. Only where more elements than are
/// wanted agree in these with the last of them, or come before it, the words are sorted whole.
void WorkgroupSort::emitExchanged(const ListShape &shape) {
  Operand x = getOperand(sort.getX(), rows.shape());
  const int64_t first = shape.first;
  const auto [numRows, lane, number, chosen, o, i] = openRows(shape);
  ListRow row{x, {o, i}, lane, std::min(lanesOf(getElement(sort.getX())), shape.items)};
  while (row.vector > 1 && !hasLanes(rows, x, getElement(sort.getX()), row.vector))
    row.vector /= 2;

  Values narrow = readWords(row, shape, 0, shape.items, {}, /*isWide=*/false);
  Values list = sortList(narrow, shape.kept);
  exchangeLists(list, shape);
  auto isLane = [&](int64_t of) { return compare(arith::CmpIPredicate::eq, lane, index(of)); };
  auto chooseOwn = [&](ArrayRef<Value> of) {
    Value own = of.back();
    for (auto [j, other] : llvm::enumerate(of.drop_back()))
      own = choose(isLane(static_cast<int64_t>(j)), other, own);
    return own;
  };
  Value own = chooseOwn(list), rank = lane;
  Value place = arith::AndIOp::create(builder, loc, own, word(shape.placeMask()));
  if (!shape.isExact()) {
    Value none = constant(builder.getI64IntegerAttr(-1));
    Value limit = arith::OrIOp::create(builder, loc, list[first - 1], word(shape.placeMask())), count = word(0);
    for (Value other : narrow)
      count = add(count, arith::ExtUIOp::create(builder, loc, builder.getI32Type(),
                                                compare(arith::CmpIPredicate::ule, other, limit)));
    for (int64_t distance = 1; distance < machine.warpSize; distance *= 2)
      count = add(count, kernel::ShuffleOp::create(builder, loc, count, distance));
    Value areMore = compare(arith::CmpIPredicate::ugt, count, word(first * (machine.warpSize / shape.lanes)));
    auto sorted = scf::IfOp::create(builder, loc, none.getType(), areMore, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(sorted.elseBlock());
      Value element = load(x, {o, toIndex(place), i});
      scf::YieldOp::create(builder, loc, packWord(encode(element), place));
      builder.setInsertionPointToStart(sorted.thenBlock());
      // Some elements at a time, so that whole words need no more registers.
      constexpr int64_t together = 8;
      const int64_t each = std::min(shape.items, std::max(together, row.vector));
      Values wide = loop(index(0), index(shape.items * shape.lanes), index(each * shape.lanes),
                         Values(shape.kept, none), [&](Value ahead, ValueRange carried) -> Values {
                           Values of = sortList(readWords(row, shape, 0, each, ahead, /*isWide=*/true), shape.kept);
                           of.resize(shape.kept, none);
                           return mergeLists(Values(carried), of, shape.kept);
                         });
      exchangeLists(wide, shape);
      scf::YieldOp::create(builder, loc, chooseOwn(wide));
    }
    // Each lane's word has its place among those of the first lanes.
    Value whole = choose(isLess(lane, index(first)), sorted.getResult(0), none);
    Value before = word(0);
    for (int64_t distance = 1; distance < shape.kept; ++distance) {
      Value other = kernel::ShuffleOp::create(builder, loc, whole, distance);
      before = add(before, arith::ExtUIOp::create(builder, loc, builder.getI32Type(),
                                                  compare(arith::CmpIPredicate::ult, other, whole)));
    }
    rank = toIndex(before), place = placeIn(whole);
  }
  Value isGiven = isLess(lane, index(first));
  if (chosen != number)
    isGiven = both(isGiven, isLess(number, index(numRows)));
  when(isGiven, [&] { giveElement(x, row.at, place, rank); });
}

} // namespace zyx::lowering
