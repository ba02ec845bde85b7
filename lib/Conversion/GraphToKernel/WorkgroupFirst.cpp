//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// First elements of rows, which a workgroup finds without a sort of all.
//===----------------------------------------------------------------------===//
#include "WorkgroupSort.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

template <typename Word> void WorkgroupSort::sortWords(Value count, const Words &to, Word word) {
  Value own = multiply(thread, items), none = constant(builder.getI64IntegerAttr(-1));
  when(isLess(own, count), [&] {
    Values words;
    for (int64_t item = 0; item < items; ++item) {
      Value p = add(own, index(item));
      words.push_back(choose(isLess(p, count), word(smaller(p, subtract(count, index(1)))), none));
    }
    sortNetwork(words);
    for (int64_t item = 0; item < items; ++item)
      store(words[item], to.words, add(to.base, add(own, index(item))));
  });
}

/// Odd and even ones merged (Knuth, "Sorting and Searching", 5.2.2, algorithm M).
void WorkgroupSort::sortNetwork(Values &list) {
  const auto length = static_cast<int64_t>(list.size()), half = ceilPower(length) / 2;
  for (int64_t p = half; p > 0; p /= 2)
    for (int64_t q = half, r = 0, d = p;; d = q - p, q /= 2, r = p) {
      for (int64_t i = 0; i + d < length; ++i)
        if ((i & p) == r)
          exchange(list[i], list[i + d]);
      if (q == p)
        break;
    }
}

/// Each thread looks for the first of its elements, those are sorted, and then the candidates.
void WorkgroupSort::emitFirst(const FirstThreads &shape) {
  Operand x = getOperand(sort.getX(), rows.shape());
  Values at = openGroups({rows.outer, rows.inner}, {1, 1}, shape.threads);
  const int64_t candidates = shape.first * shape.items;
  Words words = shareWords(threads * items);
  Value bests = share(threads, builder.getI64Type()), winners = share(shape.first, builder.getI32Type());
  Value none = constant(builder.getI64IntegerAttr(-1));
  auto wordOf = [&](Value j) {
    Value element = load(x, {at[0], smaller(j, index(rows.extent - 1)), at[1]});
    return choose(isLess(j, index(rows.extent)), packWord(encode(element), toWord(j)), none);
  };
  auto sortAll = [&](int64_t count, auto word) {
    sortWords(index(count), words, word);
    meet();
    return mergeAll(words, index(count), 1, divideCeil(count, items));
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
  auto placeAt = [&](Value p) { return placeIn(loadAt(words.words, add(from, p))); };
  forOwn(index(shape.first),
         [&](Value p) { store(arith::AndIOp::create(builder, loc, placeAt(p), word(threads - 1)), winners, p); });
  meet();
  from = sortAll(candidates, [&](Value p) {
    Value rank = arith::DivUIOp::create(builder, loc, p, index(shape.items));
    Value round = arith::RemUIOp::create(builder, loc, p, index(shape.items));
    return wordOf(add(toIndex(loadAt(winners, rank)), multiply(round, threads)));
  });
  forOwn(index(shape.first), [&](Value j) { giveWord(x, at, loadAt(words.words, add(from, j)), j); });
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
      giveWord(x, {o, i}, word, j);
    });
  };
  if (row == number)
    giveAll();
  else
    when(isLess(number, index(numRows)), giveAll);
}

} // namespace zyx::lowering
