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

void WorkgroupSort::sortWords(Value count, const Words &of) {
  Value own = multiply(thread, items), none = constant(builder.getI64IntegerAttr(-1));
  when(isLess(own, count), [&] {
    Values words;
    for (int64_t item = 0; item < items; ++item) {
      Value p = add(own, index(item));
      words.push_back(choose(isLess(p, count), loadAt(of.words, add(of.base, p)), none));
    }
    sortNetwork(words);
    for (int64_t item = 0; item < items; ++item)
      store(words[item], of.words, add(of.base, add(own, index(item))));
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

/// The word of the first of a thread's elements, but that it has the place of the last one of its vector: of equal
/// elements the first vector has it, and no two threads have the same.
Value WorkgroupSort::findBest(const FirstVectors &all) {
  // Several loads are on their way at a time.
  constexpr int64_t elementsTogether = 16;
  const int64_t vectors = rows.extent / all.lanes;
  const int64_t together = std::min(all.rounds, std::max<int64_t>(elementsTogether / all.lanes, 2));
  Value last = constant(builder.getI32IntegerAttr(-1)), end = index(vectors);
  Values best = loop(
      index(0), index(all.rounds), index(together), {last, index(0)}, [&](Value begin, ValueRange carried) -> Values {
        Value key = carried[0], round = carried[1];
        for (int64_t item = 0; item < together; ++item) {
          Value number = add(begin, index(item)), vector = add(multiply(number, threads), thread);
          Value read =
              load(all.x, {all.at[0], multiply(smaller(vector, index(vectors - 1)), all.lanes), all.at[1]}, all.lanes);
          Value least;
          for (int64_t lane = 0; lane < all.lanes; ++lane) {
            Value own =
                arith::TruncIOp::create(builder, loc, builder.getI32Type(), encode(extract(read, all.lanes, lane)));
            least = least ? arith::MinUIOp::create(builder, loc, least, own).getResult() : own;
          }
          if (vectors % (threads * together) != 0)
            least = choose(isLess(vector, end), least, last);
          Value comes = compare(arith::CmpIPredicate::ult, least, key);
          key = choose(comes, least, key), round = choose(comes, number, round);
        }
        return {key, round};
      });
  Value place = add(multiply(add(multiply(best[1], threads), thread), all.lanes), index(all.lanes - 1));
  return packWord(arith::ExtUIOp::create(builder, loc, builder.getI64Type(), best[0]), toWord(place));
}

/// The threads whose own first elements come first of all threads'. Few are ranked by all of them at once.
void WorkgroupSort::findWinners(const FirstThreads &shape, FirstVectors &all, const Words &words) {
  constexpr int64_t mostRanked = 64, together = 8;
  Value own = findBest(all), last = index(shape.first - 1);
  store(own, words.words, add(words.base, thread));
  meet();
  auto win = [&](Value rank, Value of) {
    when(isLess(rank, index(shape.first)), [&] { store(of, all.winners, rank); });
  };
  if (threads > mostRanked) {
    sortWords(index(threads), words);
    meet();
    Value from = mergeAll(words, index(threads), 1, divideCeil(threads, items));
    all.limit = loadAt(words.words, add(from, last));
    forOwn(index(shape.first), [&](Value rank) {
      Value vector =
          arith::DivUIOp::create(builder, loc, placeIn(loadAt(words.words, add(from, rank))), word(all.lanes));
      store(both(vector, word(threads - 1)), all.winners, rank);
    });
  } else {
    Values rank =
        loop(index(0), index(threads), index(together), {word(0)}, [&](Value begin, ValueRange sums) -> Values {
          Value sum = sums[0];
          for (int64_t i = 0; i < together; ++i) {
            Value other = loadAt(words.words, add(words.base, add(begin, index(i))));
            sum = add(sum, arith::ExtUIOp::create(builder, loc, builder.getI32Type(),
                                                  compare(arith::CmpIPredicate::ult, other, own)));
          }
          return {sum};
        });
    Value at = toIndex(rank[0]), limit = share(1, builder.getI64Type());
    win(at, toWord(thread));
    when(compare(arith::CmpIPredicate::eq, at, last), [&] { store(own, limit, index(0)); });
    meet();
    all.limit = loadAt(limit, index(0));
  }
  meet();
}

Values WorkgroupSort::candidatesOf(const FirstVectors &all, Value winner, Value round) {
  const int64_t vectors = rows.extent / all.lanes;
  Value vector = add(multiply(round, threads), winner), none = constant(builder.getI64IntegerAttr(-1));
  Value place = multiply(smaller(vector, index(vectors - 1)), all.lanes);
  Value read = load(all.x, {all.at[0], place, all.at[1]}, all.lanes);
  Values words;
  for (int64_t lane = 0; lane < all.lanes; ++lane) {
    Value own = packWord(encode(extract(read, all.lanes, lane)), toWord(add(place, index(lane))));
    words.push_back(vectors % threads == 0 ? own : choose(isLess(vector, index(vectors)), own, none));
  }
  return words;
}

/// Each thread looks for the first of its elements. What is left of those threads that win is counted, and sorted all
/// together where there is room: of a row of equal elements one vector of each is left. Of what else there is as many
/// as there is room for are sorted with the first ones of those before.
void WorkgroupSort::emitFirst(const FirstThreads &shape) {
  Operand x = getOperand(sort.getX(), rows.shape());
  // Small workgroups walk rows while others wait at barriers.
  made.setMinResidentThreads(std::max(machine.workgroupThreads, shape.threads));
  Values at = openGroups({rows.outer, rows.inner}, {1, 1}, shape.threads);
  if (machine.hasSubgroupOps)
    numberBySubgroups(share(threads, builder.getI32Type()));
  int64_t lanes = lanesOf(getElement(sort.getX()));
  while (lanes > 1 && (rows.extent / lanes < threads || !hasLanes(rows, x, getElement(sort.getX()), lanes)))
    lanes /= 2;
  const int64_t first = shape.first, rounds = divideCeil(divideCeil(rows.extent, lanes), threads);
  const int64_t room = std::clamp(ceilPower((lanes + 1) * first), threads, threads * items);
  Value none = constant(builder.getI64IntegerAttr(-1));
  Words words = shareWords(llvm::alignTo(room, items));
  FirstVectors all{x, at, lanes, rounds, share(first, builder.getI32Type()), {}};
  findWinners(shape, all, words);

  const int64_t candidates = first * rounds;
  auto ofCandidate = [&](Value number) {
    Value rank = arith::DivUIOp::create(builder, loc, number, index(rounds));
    Value round = arith::RemUIOp::create(builder, loc, number, index(rounds));
    return candidatesOf(all, toIndex(loadAt(all.winners, rank)), round);
  };
  auto isLeft = [&](Value word) { return compare(arith::CmpIPredicate::ule, word, all.limit); };
  Type i64 = builder.getI64Type();
  Values left = loop(thread, index(candidates), index(threads), {constant(builder.getI64IntegerAttr(0))},
                     [&](Value number, ValueRange sums) -> Values {
                       Value sum = sums[0];
                       for (Value word : ofCandidate(number))
                         sum = add(sum, arith::ExtUIOp::create(builder, loc, i64, isLeft(word)));
                       return {sum};
                     });
  RunMemory memory{threads, 0, share(2 * threads, i64), {}, {}};
  Value before = sumBefore(memory, left[0]), total = share(1, i64);
  when(compare(arith::CmpIPredicate::eq, thread, index(threads - 1)),
       [&] { store(add(before, left[0]), total, index(0)); });
  meet();
  Value count = toIndex(loadAt(total, index(0)));
  Value areFew = compare(arith::CmpIPredicate::sle, count, index(room));

  // Elements that are sorted with those of earlier turns, whole vectors.
  const int64_t vectorsOfTurn = (room - first) / lanes;
  Value turns = choose(areFew, index(1), index(divideCeil(candidates, vectorsOfTurn)));
  Values from = loop(index(0), turns, index(1), {words.base}, [&](Value turn, ValueRange carried) -> Values {
    auto filled = scf::IfOp::create(builder, loc, areFew, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(filled.thenBlock());
      loop(thread, index(candidates), index(threads), {add(words.base, toIndex(before))},
           [&](Value number, ValueRange slots) -> Values {
             Value slot = slots[0];
             for (Value word : ofCandidate(number)) {
               Value isOne = isLeft(word);
               when(isOne, [&] { store(word, words.words, slot); });
               slot = add(slot, choose(isOne, index(1), index(0)));
             }
             return {slot};
           });
      builder.setInsertionPointToStart(filled.elseBlock());
      forOwn(index(first), [&](Value j) {
        Value kept = loadAt(words.words, add(carried[0], j));
        kept = choose(compare(arith::CmpIPredicate::eq, turn, index(0)), none, kept);
        store(kept, words.words, add(words.base, j));
      });
      forOwn(index(vectorsOfTurn), [&](Value own) {
        Value number = add(multiply(turn, vectorsOfTurn), own), isOne = isLess(number, index(candidates));
        Value slot = add(words.base, add(multiply(own, lanes), index(first)));
        for (auto [lane, word] : llvm::enumerate(ofCandidate(smaller(number, index(candidates - 1)))))
          store(choose(isOne, word, none), words.words, add(slot, index(static_cast<int64_t>(lane))));
      });
    }
    meet();
    Value number = choose(areFew, count, index(first + vectorsOfTurn * lanes));
    sortWords(number, words);
    meet();
    // As many passes as double a block until it has all.
    Value passes = index(0);
    for (int64_t blocks = 1; blocks * items < room; blocks *= 2)
      passes = add(passes, choose(isLess(index(blocks * items), number), index(1), index(0)));
    return {mergeAll(words, number, 1, passes)};
  });
  forOwn(index(first), [&](Value j) { giveWord(x, at, loadAt(words.words, add(from[0], j)), j); });
}

} // namespace zyx::lowering
