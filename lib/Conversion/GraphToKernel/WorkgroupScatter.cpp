//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Scatters whose rows are walked by a workgroup each.
//===----------------------------------------------------------------------===//
#include "WorkgroupOrder.h"

#include "zyx/Target/Info/Fits.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {
namespace {

/// A workgroup has some rows of the result and a column of them for each of its threads; where columns are few, threads
/// take its rows in turns.
struct ScatterShape {
  int64_t threads, columns, turns, rows;
  /// Indices that a thread looks at in a round.
  int64_t looks = 4;

  ScatterShape(const Rows &all, int64_t numUpdates, const Workgroups &machine)
      : threads(std::min<int64_t>(256, machine.workgroupThreads)), columns(std::min(threads, ceilPower(all.inner))) {
    constexpr int64_t mostColumns = 8, busyPerGroup = 2048, mostLooks = 16;
    const int64_t mostThreads = machine.workgroupThreads;
    // Each workgroup reads all indices. Where elements are few, it has as many of them as there may be.
    auto groups = [&](int64_t of) { return all.outer * divideCeil(all.extent, of / columns); };
    // Their targets, those that are its own in their order, those of each thread, and sums, twice.
    auto fits = [&](int64_t of, int64_t each) { return of * (12 * each + 8) <= machine.sharedBytes / 2; };
    while (columns <= mostColumns && threads < mostThreads && groups(2 * threads) * busyPerGroup >= machine.threads &&
           fits(2 * threads, looks))
      threads *= 2;
    while (looks < mostLooks && numUpdates > threads * looks && fits(threads, 2 * looks))
      looks *= 2;
    turns = threads / columns;
    const int64_t wanted = std::max<int64_t>(1, 2 * machine.threads / threads);
    const int64_t strips = all.outer * divideCeil(all.inner, columns);
    const int64_t least = walkedRows(all.extent, strips, numUpdates, machine);
    rows = std::clamp(divideCeil(all.extent, std::max<int64_t>(1, wanted / strips)), least, all.extent);
  }

private:
  /// Rows of a workgroup where its threads take them in turns. One for each turn uses all threads, but each thread
  /// walks the updates of all these rows for its own. Fewer rows are less to walk, and more workgroups that read all
  /// indices.
  int64_t walkedRows(int64_t extent, int64_t strips, int64_t numUpdates, const Workgroups &machine) const {
    using namespace zyx::target::fits::scatters;
    const int64_t most = std::min(turns, extent), atOnce = std::max<int64_t>(1, machine.threads / threads);
    if (most < 2)
      return most;
    auto cycles = [&](int64_t of) {
      const int64_t rounds = divideCeil(numUpdates, threads * looks);
      const int64_t waves = divideCeil(strips * divideCeil(extent, of), atOnce);
      return waves * (rounds * roundCycles + divideCeil(numUpdates * of, extent) * walkCycles);
    };
    int64_t best = most;
    for (int64_t of = most; of >= 1; of /= 2)
      if (clearlyLess * cycles(of) < cycles(most) && cycles(of) < cycles(best))
        best = of;
    return best;
  }
};

class WorkgroupScatter : public WorkgroupOrder {
public:
  WorkgroupScatter(GroupOp group, ScatterOp scatter, OpBuilder &builder, const Workgroups &machine)
      : WorkgroupOrder(group, scatter, builder, machine), scatter(scatter) {}

private:
  void emitOp() override;

  ScatterOp scatter;
};

} // namespace

/// A workgroup copies its part of the operand, looks at all indices, and applies the updates that are its own in their
/// order. No element has two threads.
void WorkgroupScatter::emitOp() {
  Rows rows(getShape(scatter.getX()), scatter.getDim());
  Rows updateRows(getShape(scatter.getUpdates()), scatter.getDim(),
                  static_cast<int64_t>(getShape(scatter.getIndices()).size()));
  ScatterShape shape(rows, updateRows.extent, machine);
  const int64_t looks = shape.looks;
  Operand indices = getOperand(scatter.getIndices(), {updateRows.extent});
  Operand updates = getOperand(scatter.getUpdates(), updateRows.shape());
  Values at = openGroups({rows.outer, rows.extent, rows.inner}, {1, shape.rows, shape.columns}, shape.threads);
  Type i32 = builder.getI32Type();
  Value targets = share(threads * looks, i32), slots = share(threads * looks, i32), sums = share(2 * threads, i32);
  numberBySubgroups(sums);
  // Those of each thread, where rows are shared out among threads.
  const bool takesTurns = shape.turns > 1;
  Value mine = takesTurns ? share(threads * looks, i32) : Value();
  Value column = add(at[2], remainder(thread, shape.columns)), turn = quotient(thread, shape.columns);
  Value end = smaller(add(at[1], index(shape.rows)), index(rows.extent));
  Value zero = index(0), one = index(1), numUpdates = index(updateRows.extent);
  Value isColumn = isLess(column, index(rows.inner)), none = word(-1);

  if (!isUpdate) {
    Operand x = getOperand(scatter.getX(), rows.shape());
    when(isColumn, [&] {
      loop(add(at[1], turn), end, index(shape.turns),
           [&](Value j) { store(load(x, {at[0], j, column}), out, linear(rows, at[0], j, column)); });
    });
  }
  auto count = [&](Value condition) { return arith::ExtUIOp::create(builder, loc, i32, condition).getResult(); };
  loop(zero, numUpdates, index(threads * looks), [&](Value begin) {
    for (int64_t look = 0; look < looks; ++look) {
      Value slot = add(thread, index(look * threads)), u = add(begin, slot);
      Value chosen = getPlace(scatter, load(indices, {smaller(u, index(updateRows.extent - 1))}));
      Value offset = subtract(toIndex(chosen), at[1]);
      // As unsigned numbers those before the first row are outside, too.
      Value isInside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, offset, subtract(end, at[1]));
      store(choose(both(isInside, isLess(u, numUpdates)), toWord(offset), none), targets, slot);
    }
    meet();
    // Those inside, in their order.
    Value found = word(0);
    SmallVector<Value> isFound;
    for (int64_t look = 0; look < looks; ++look) {
      isFound.push_back(isLess(none, loadAt(targets, add(multiply(thread, looks), index(look)))));
      found = add(found, count(isFound.back()));
    }
    auto [first, all] = sumUp(sums, found);
    Value next = first;
    for (int64_t look = 0; look < looks; ++look) {
      when(isFound[look], [&] { store(toWord(add(multiply(thread, looks), index(look))), slots, next); });
      next = add(next, choose(isFound[look], one, zero));
    }
    meet();
    // Several updates are on their way at a time; they are applied one by one.
    auto applyAll = [&](Value list, Value from, Value to) {
      constexpr int64_t together = 4;
      loop(from, to, index(together), [&](Value first) {
        Values exists, places, given;
        for (int64_t i = 0; i < together; ++i) {
          Value p = add(first, index(i)), slot = toIndex(loadAt(list, smaller(p, subtract(to, one))));
          exists.push_back(isLess(p, to));
          places.push_back(linear(rows, at[0], add(at[1], toIndex(loadAt(targets, slot))), column));
          given.push_back(load(updates, {at[0], add(begin, slot), column}));
        }
        for (int64_t i = 0; i < together; ++i)
          when(exists[i], [&] { update(scatter, given[i], places[i]); });
      });
    };
    if (!takesTurns) {
      when(isColumn, [&] { applyAll(slots, zero, all); });
    } else {
      // A thread has its own behind each other, so that those of a warp wait for memory together.
      auto isOwn = [&](Value slot) {
        Value theirs = builder.createOrFold<arith::AndIOp>(loc, loadAt(targets, slot), word(shape.turns - 1));
        return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, theirs, toWord(turn)).getResult();
      };
      Values own = loop(zero, all, one, {word(0)}, [&](Value p, ValueRange sum) -> Values {
        return {add(sum[0], count(isOwn(toIndex(loadAt(slots, p)))))};
      });
      // Threads of the same rows and of other columns have the same updates.
      Value isFirst = compare(arith::CmpIPredicate::eq, remainder(thread, shape.columns), zero);
      Value place = sumUp(sums, choose(isFirst, own[0], word(0))).first;
      if (shape.columns > 1)
        place = choose(isFirst, place, subtract(place, toIndex(own[0])));
      when(isFirst, [&] {
        loop(zero, all, one, place, [&](Value p, ValueRange to) -> Values {
          Value slot = loadAt(slots, p), isMine = isOwn(toIndex(slot));
          when(isMine, [&] { store(slot, mine, to[0]); });
          return {add(to[0], choose(isMine, one, zero))};
        });
      });
      meet();
      when(isColumn, [&] { applyAll(mine, place, add(place, toIndex(own[0]))); });
    }
    meet();
  });
}

std::unique_ptr<OrderEmitter> createWorkgroupScatter(GroupOp group, ScatterOp scatter, OpBuilder &builder,
                                                     const Workgroups &machine) {
  return std::make_unique<WorkgroupScatter>(group, scatter, builder, machine);
}

} // namespace zyx::lowering
