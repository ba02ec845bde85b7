//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Merges of sorted runs of packed words: in the shared memory of a workgroup, and through it of runs that lie in memory
// or in the shared memory of a cluster.
//===----------------------------------------------------------------------===//
#include "WorkgroupSort.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

/// Enough for runs of that length.
WorkgroupSort::Halvings WorkgroupSort::halvingsOf(int64_t length) {
  const int64_t steps = llvm::Log2_64_Ceil(static_cast<uint64_t>(length) + 1), pairs = divideCeil(steps, 2);
  return {index(pairs), word(int64_t(1) << (2 * pairs - 1))};
}

/// Words are different, but for those behind the last one. A step that would go too far ends at `most`.
template <typename Left, typename Right>
Value WorkgroupSort::findLeft(Value depth, Value least, Value most, const Halvings &halvings, Left left, Right right) {
  Value one = word(1);
  Values found =
      loop(index(0), halvings.pairs, index(1), {least, halvings.step}, [&](Value, ValueRange carried) -> Values {
        Value place = carried[0], step = carried[1];
        for (int64_t halving = 0; halving < 2; ++halving) {
          Value next = smaller(add(place, step), most);
          Value isBefore = compare(arith::CmpIPredicate::ule, left(subtract(next, one)), right(subtract(depth, next)));
          place = choose(isBefore, next, place);
          step = arith::ShRUIOp::create(builder, loc, step, one);
        }
        return {place, step};
      });
  return found[0];
}

/// Merge path (Odeh, Green, Mwassi, Shmueli, Birk, "Merge Path: Parallel Merging Made Simple", IPDPS workshops 2012).
template <typename Give>
void WorkgroupSort::mergeItems(Value words, Value left, Value right, Value numLeft, Value numRight, Value depth,
                               const Halvings &halvings, Give give) {
  Value one = word(1), none = constant(builder.getI64IntegerAttr(-1));
  auto at = [&](Value place) { return loadAt(words, toIndex(place)); };
  Value least = larger(subtract(depth, numRight), word(0)), most = smaller(depth, numLeft);
  Value taken = findLeft(
      depth, least, most, halvings, [&](Value place) { return at(add(left, place)); },
      [&](Value place) { return at(add(right, place)); });
  Value a = add(left, taken), b = add(right, subtract(depth, taken));
  Value endA = add(left, numLeft), endB = add(right, numRight);
  // What is behind a run comes after all words.
  Value headA = choose(isLess(a, endA), at(a), none), headB = choose(isLess(b, endB), at(b), none);
  for (int64_t item = 0; item < items; ++item) {
    Value takesRight = compare(arith::CmpIPredicate::ult, headB, headA);
    give(item, choose(takesRight, headB, headA));
    if (item + 1 == items)
      break;
    Value next = add(choose(takesRight, b, a), one);
    Value head = choose(isLess(next, choose(takesRight, endB, endA)), at(next), none);
    a = choose(takesRight, a, next), b = choose(takesRight, next, b);
    headA = choose(takesRight, headA, head), headB = choose(takesRight, head, headB);
  }
}

/// Blocks are whole: behind the last element there is room for what stands last.
void WorkgroupSort::mergeShared(const Words &all, Value from, Value to, Value count, Value width,
                                const Halvings &halvings) {
  auto times = [&](Value blocks) -> Value { return arith::MulIOp::create(builder, loc, blocks, word(items)); };
  Value blocks = arith::CeilDivUIOp::create(builder, loc, count, word(items)), end = times(blocks);
  Value mask = subtract(add(width, width), word(1)), length = times(width), base = toWord(from);
  forOwn(toIndex(blocks), [&](Value block) {
    Value number = toWord(block), within = both(number, mask);
    Value start = times(subtract(number, within)), middle = smaller(add(start, length), end);
    Value last = smaller(add(middle, length), end), target = add(to, multiply(block, items));
    mergeItems(all.words, add(base, start), add(base, middle), subtract(middle, start), subtract(last, middle),
               times(within), halvings,
               [&](int64_t item, Value word) { store(word, all.words, add(target, index(item))); });
  });
}

/// All threads store a tile of words, neighbours side by side.
template <typename Word> void WorkgroupSort::copyTile(Value words, Value to, Word word) {
  // More on their way would want more registers.
  constexpr int64_t together = 5;
  loop(index(0), index(divideCeil(items, together)), index(1), [&](Value round) {
    Values given, slots;
    for (int64_t item = 0; item < together; ++item) {
      // The last ones are copied twice.
      Value own = smaller(add(multiply(round, together), index(item)), index(items - 1));
      Value slot = add(thread, multiply(own, threads));
      given.push_back(word(toWord(slot)));
      slots.push_back(add(to, slot));
    }
    for (auto [element, slot] : llvm::zip_equal(given, slots))
      store(element, words, slot);
  });
}

/// One level: pairs of runs of `width` elements, a multiple of a tile. The words of each tile of the result come to
/// shared memory, those of the left run first, and are merged there: memory is read and written in the order in which
/// it lies. `give` takes the words of the result with their place.
void WorkgroupSort::mergeLevel(const Words &tile, const Words &memory, Value width, const Halvings &halvings,
                               Value from, llvm::function_ref<void(Value word, Value j)> give) {
  const int64_t numTiles = divideCeil(rows.extent, tile.half), each = threads - 1;
  Value n = word(rows.extent), none = constant(builder.getI64IntegerAttr(-1)), base = add(memory.base, from);
  Value bounds = share(threads, builder.getI32Type()), size = word(tile.half);
  struct Pair {
    Value start, middle, end;
  };
  auto pairOf = [&](Value begin) -> Pair {
    Value both = add(width, width);
    Value start = subtract(begin, arith::RemUIOp::create(builder, loc, begin, both));
    Value middle = smaller(add(start, width), n);
    return {start, middle, smaller(add(middle, width), n)};
  };
  auto at = [&](Value place) { return loadAt(memory.words, add(base, toIndex(place))); };
  loop(index(0), index(numTiles), index(each), [&](Value firstTile) {
    // Where each tile begins in the left run.
    Value begin = smaller(arith::MulIOp::create(builder, loc, toWord(add(firstTile, thread)), size), n);
    const Pair own = pairOf(begin);
    Value depth = subtract(begin, own.start), numLeft = subtract(own.middle, own.start);
    Value least = larger(subtract(depth, subtract(own.end, own.middle)), word(0)), most = smaller(depth, numLeft);
    Value last = subtract(n, word(1));
    store(findLeft(
              depth, least, most, halvings, [&](Value place) { return at(larger(add(own.start, place), word(0))); },
              [&](Value place) { return at(smaller(add(own.middle, place), last)); }),
          bounds, thread);
    meet();
    Value endTile = smaller(add(firstTile, index(each)), index(numTiles));
    loop(firstTile, endTile, index(1), [&](Value number) {
      Value begin = arith::MulIOp::create(builder, loc, toWord(number), size), bound = subtract(number, firstTile);
      const Pair pair = pairOf(begin);
      Value lefts = loadAt(bounds, bound), next = loadAt(bounds, add(bound, index(1)));
      Value hasNext = isLess(add(begin, size), pair.end);
      Value numLeft = subtract(choose(hasNext, next, subtract(pair.middle, pair.start)), lefts);
      Value count = smaller(size, subtract(pair.end, begin));
      Value left = add(pair.start, lefts);
      Value right = subtract(add(pair.middle, subtract(subtract(begin, pair.start), lefts)), numLeft);
      copyTile(tile.words, tile.base, [&](Value i) {
        Value source = add(i, choose(isLess(i, numLeft), left, right));
        return choose(isLess(i, count), at(smaller(source, last)), none);
      });
      meet();
      Value to = add(tile.base, index(tile.half)), own = add(to, multiply(thread, items));
      Value first = toWord(tile.base);
      mergeItems(tile.words, first, add(first, numLeft), numLeft, subtract(size, numLeft),
                 toWord(multiply(thread, items)), halvingsOf(tile.half),
                 [&](int64_t item, Value word) { store(word, tile.words, add(own, index(item))); });
      meet();
      for (int64_t item = 0; item < items; ++item) {
        Value i = add(thread, index(item * threads));
        when(isLess(toWord(i), count), [&] { give(loadAt(tile.words, add(to, i)), add(toIndex(begin), i)); });
      }
    });
    meet();
  });
}

/// The last level writes the result.
void WorkgroupSort::mergeTiles(const Words &tile, const Words &memory, ArrayRef<Value> at, const Operand &x) {
  const int64_t levels = llvm::Log2_64_Ceil(static_cast<uint64_t>(divideCeil(rows.extent, tile.half)));
  Values last = loop(
      index(0), index(levels - 1), index(1), {word(tile.half), index(0)}, [&](Value, ValueRange carried) -> Values {
        Value from = carried[1], to = subtract(index(memory.half), from);
        mergeLevel(tile, memory, carried[0], halvingsOf(rows.extent), from,
                   [&](Value word, Value j) { store(word, memory.words, add(memory.base, add(to, j))); });
        return {add(carried[0], carried[0]), to};
      });
  mergeLevel(tile, memory, last[0], halvingsOf(rows.extent), last[1],
             [&](Value word, Value j) { giveWord(x, at, word, j); });
}

/// A workgroup finds where its tile of the result begins and ends in the runs of a pair, and takes their words.
void WorkgroupSort::mergeCluster(const Words &tile, Value from, Value other, Value rank, int64_t runs) {
  auto meetAll = [&] { kernel::BarrierOp::create(builder, loc, kernel::Scope::Cluster, /*async=*/false); };
  Value bounds = share(2, builder.getI32Type()), size = word(tile.half), length = word(runs * tile.half);
  Value within = remainder(rank, 2 * runs), first = subtract(rank, within);
  Value begin = arith::MulIOp::create(builder, loc, toWord(within), size);
  // A word of the run that begins in a workgroup.
  auto at = [&](Value group, Value place) {
    Value of = runs == 1 ? group : add(group, toIndex(arith::DivUIOp::create(builder, loc, place, size)));
    Value slot = runs == 1 ? place : arith::RemUIOp::create(builder, loc, place, size).getResult();
    return loadAt(kernel::PeerOp::create(builder, loc, tile.words.getType(), tile.words, of), add(from, toIndex(slot)));
  };
  Value second = add(first, index(runs));
  when(isLess(thread, index(2)), [&] {
    Value depth = add(begin, choose(compare(arith::CmpIPredicate::eq, thread, index(0)), word(0), size));
    store(findLeft(
              depth, larger(subtract(depth, length), word(0)), smaller(depth, length), halvingsOf(runs * tile.half),
              [&](Value place) { return at(first, larger(place, word(0))); },
              [&](Value place) { return at(second, smaller(place, subtract(length, word(1)))); }),
          bounds, thread);
  });
  meet();
  Value lefts = loadAt(bounds, index(0)), numLeft = subtract(loadAt(bounds, index(1)), lefts);
  Value right = subtract(subtract(begin, lefts), numLeft);
  copyTile(tile.words, other, [&](Value i) {
    Value isLeft = isLess(i, numLeft);
    return at(choose(isLeft, first, second), add(i, choose(isLeft, lefts, right)));
  });
  // Nobody reads what is overwritten now.
  meetAll();
  Value here = toWord(other), to = add(from, multiply(thread, items));
  mergeItems(tile.words, here, add(here, numLeft), numLeft, subtract(size, numLeft), toWord(multiply(thread, items)),
             halvingsOf(tile.half), [&](int64_t item, Value word) { store(word, tile.words, add(to, index(item))); });
  meetAll();
}

void WorkgroupSort::emitCluster(const ClusterShape &shape) {
  items = SortShape::manyItems;
  Operand x = getOperand(sort.getX(), rows.shape());
  made.setCluster(shape.size);
  // One workgroup sorts while another waits at a barrier.
  made.setMinResidentThreads(2 * shape.threads);
  Values at = openGroups({rows.outer, rows.inner}, {1, 1}, shape.threads);
  Words tile = shareWords(shape.tile);
  Value rank = kernel::IdOp::create(builder, loc, builder.getIndexType(), kernel::IdKind::ClusterRank);
  Value start = multiply(rank, shape.tile), size = index(shape.tile);
  Value count = larger(smaller(subtract(index(rows.extent), start), size), index(0));
  sortOwn(x, at, count, tile, [&](Value p) { return add(start, p); });
  meet();
  Value from = mergeAll(tile, size, 1, shape.threads);
  Value other = subtract(add(add(tile.base, tile.base), index(tile.half)), from);
  kernel::BarrierOp::create(builder, loc, kernel::Scope::Cluster, /*async=*/false);
  for (int64_t runs = 1; runs < shape.size; runs *= 2)
    mergeCluster(tile, from, other, rank, runs);
  forOwn(count, [&](Value i) { giveWord(x, at, loadAt(tile.words, add(from, i)), add(start, i)); });
}

} // namespace zyx::lowering
