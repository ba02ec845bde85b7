//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Scatters of wide rows, as gradients of embeddings are: updates are listed by row, and a row is written once.
//===----------------------------------------------------------------------===//
#include "WorkgroupOrder.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {
namespace {

/// A workgroup has some rows. Threads have a vector of columns each; as many teams of them as a workgroup has room for
/// have some of its rows each.
struct RowScatterShape {
  static constexpr int64_t bits = 32, shortest = 4;
  int64_t lanes = 0, columns = 0, teams = 0, rows = 0;
  /// Indices that a thread looks at in a round, and updates that have room in a list.
  int64_t looks = 0, room = 0;
  /// Of a row or a place in a list. Where there is little shared memory the machine may be any, and not each has
  /// numbers of 16 bits.
  int64_t listBits = 16;

  RowScatterShape(const Rows &all, int64_t lanes, const Workgroups &machine) : lanes(lanes) {
    constexpr int64_t mostColumns = 256, mostRows = 4096, anyShared = 32 << 10;
    if (machine.sharedBytes <= anyShared)
      listBits = 32;
    const int64_t step = std::max(machine.warpSize, bits), most = machine.workgroupThreads / step * step;
    columns = std::min({divideCeil(divideCeil(all.inner, lanes), step) * step, mostColumns, most});
    teams = columns == 0 ? 0 : most / columns;
    if (teams == 0)
      return;
    // All workgroups read all indices: there are no more than keep the machine busy. Each team has rows of its own.
    const int64_t strips = all.outer * divideCeil(all.inner, columns * lanes);
    auto rowsOfGroup = [&] {
      const int64_t wanted = std::max<int64_t>(1, machine.threads / threads());
      return std::min(divideCeil(all.extent, std::max<int64_t>(1, wanted / strips)), mostRows);
    };
    while (teams > 1 && rowsOfGroup() < teams)
      --teams;
    rows = rowsOfGroup();
    looks = bits;
    setRoom();
    for (; looks > shortest && !fits(machine); setRoom())
      looks /= 2;
  }
  int64_t threads() const { return columns * teams; }
  int64_t round() const { return threads() * looks; }
  /// Whether there is room in shared memory, and rows keep some of the machine busy: a team waits for several updates
  /// of its row at a time.
  bool isFor(const Rows &all, const Workgroups &machine) const {
    constexpr int64_t share = 8;
    return teams != 0 && fits(machine) &&
           share * all.outer * all.extent * divideCeil(all.inner, columns * lanes) * columns >= machine.threads;
  }

private:
  void setRoom() { room = round() + round() / 4; }
  bool fits(const Workgroups &machine) const {
    // Updates and their rows, in both orders; sums, words of bits, and where rows begin.
    const int64_t bytesOfUpdate = 4 + 2 * listBits / 8;
    constexpr int64_t bytesOfThread = 13;
    return room * bytesOfUpdate + threads() * bytesOfThread + 4 * rows + 64 <= machine.sharedBytes &&
           room <= std::numeric_limits<uint16_t>::max();
  }
};

class RowScatter : public WorkgroupOrder {
public:
  RowScatter(GroupOp group, ScatterOp scatter, OpBuilder &builder, const Workgroups &machine)
      : WorkgroupOrder(group, scatter, builder, machine), scatter(scatter),
        rows(getShape(scatter.getX()), scatter.getDim()),
        updateRows(getShape(scatter.getUpdates()), scatter.getDim(),
                   static_cast<int64_t>(getShape(scatter.getIndices()).size())) {}

  /// How many elements a thread has side by side, at most.
  static int64_t mostLanes(ScatterOp scatter, const Rows &rows, const Workgroups &machine);

private:
  /// Updates of the workgroup in their order, with their rows, and that order by rows, which begin at `begins`.
  struct Lists {
    Value updates, rows, order, begins, sums;
  };
  void emitOp() override;
  int64_t findLanes();
  void orderByRow(const RowScatterShape &shape, const Lists &lists, Value count, Value numRows);
  void applyRows(const RowScatterShape &shape, const Lists &lists, Value team, Value column, Value numRows,
                 Value isFirst);
  Value narrow(Value word) {
    return word.getType() == listed ? word : arith::TruncIOp::create(builder, loc, listed, word).getResult();
  }
  Value widen(Value number) {
    Type i32 = builder.getI32Type();
    return number.getType() == i32 ? number : arith::ExtUIOp::create(builder, loc, i32, number).getResult();
  }
  Value bit(Value word, Value of) { return both(arith::ShRUIOp::create(builder, loc, word, of), this->word(1)); }

  ScatterOp scatter;
  const Rows rows, updateRows;
  Operand x, indices, updates;
  Values at;
  /// Of rows and places in lists.
  Type listed;
};

} // namespace

/// Whether so many neighbours of the last dimension lie one behind the other in memory, at a multiple of their size.
static bool hasNeighbours(kernel::MapAttr map, int64_t lanes) {
  auto isWhole = [&](AffineExpr entry) { return *kernel::BlockAttr::constant(entry) % lanes == 0; };
  return llvm::all_of(map.getBlocks(), [&](kernel::BlockAttr block) {
    return isWhole(block.getOffset()) && isWhole(block.getShape().back()) &&
           kernel::BlockAttr::constant(block.getStrides().back()) == 1 &&
           llvm::all_of(block.getStrides().drop_back(), isWhole);
  });
}

int64_t RowScatter::mostLanes(ScatterOp scatter, const Rows &rows, const Workgroups &machine) {
  constexpr int64_t fewestThreads = 96;
  Type element = getElement(scatter.getX());
  if (element.isInteger(1))
    return 1;
  int64_t lanes = std::max<int64_t>(8 * machine.laneBytes / std::max(8u, element.getIntOrFloatBitWidth()), 1);
  while (lanes > 1 && (rows.inner % lanes != 0 || rows.inner / lanes < fewestThreads))
    lanes /= 2;
  return lanes;
}

int64_t RowScatter::findLanes() {
  int64_t lanes = mostLanes(scatter, rows, machine);
  auto hasLanes = [&](Value operand, ArrayRef<int64_t> shape) {
    const Leaf *leaf = axes.getSplat(operand) ? nullptr : axes.getLeaf(operand);
    return !leaf || hasNeighbours(kernel::reshapeMap(leaf->map, shape), lanes);
  };
  while (lanes > 1 &&
         !(hasLanes(scatter.getUpdates(), updateRows.shape()) && (isUpdate || hasLanes(scatter.getX(), rows.shape()))))
    lanes /= 2;
  return lanes;
}

/// A thread for each row counts its updates in the list, and then writes where they stand.
void RowScatter::orderByRow(const RowScatterShape &shape, const Lists &lists, Value count, Value numRows) {
  constexpr int64_t together = RowScatterShape::shortest;
  Type i32 = builder.getI32Type();
  // No row is behind the last update.
  when(isLess(thread, index(together)),
       [&] { store(constant(builder.getIntegerAttr(listed, -1)), lists.rows, add(count, thread)); });
  meet();
  Values all =
      loop(index(0), index(shape.rows), index(threads), {index(0)}, [&](Value first, ValueRange sum) -> Values {
        Value row = add(first, thread), own = narrow(toWord(row));
        Value isRow = isLess(row, numRows), end = choose(isRow, count, index(0));
        auto isOwn = [&](Value p) { return compare(arith::CmpIPredicate::eq, loadAt(lists.rows, p), own); };
        Values found = loop(index(0), end, index(together), {word(0)}, [&](Value p, ValueRange sums) -> Values {
          Value next = sums[0];
          for (int64_t i = 0; i < together; ++i)
            next = add(next, arith::ExtUIOp::create(builder, loc, i32, isOwn(add(p, index(i)))));
          return {next};
        });
        auto [before, every] = sumUp(lists.sums, found[0]);
        Value begin = add(sum[0], before);
        when(isRow, [&] { store(toWord(begin), lists.begins, row); });
        loop(index(0), end, index(together), {begin}, [&](Value p, ValueRange slots) -> Values {
          Value slot = slots[0];
          for (int64_t i = 0; i < together; ++i) {
            Value place = add(p, index(i)), isOne = isOwn(place);
            when(isOne, [&] { store(narrow(toWord(place)), lists.order, slot); });
            slot = add(slot, choose(isOne, index(1), index(0)));
          }
          return {slot};
        });
        meet();
        return {add(sum[0], every)};
      });
  when(compare(arith::CmpIPredicate::eq, thread, index(0)), [&] { store(toWord(all[0]), lists.begins, numRows); });
  meet();
}

/// Of what comes in a row one behind the other the sum is carried. Several updates are on their way at a time.
void RowScatter::applyRows(const RowScatterShape &shape, const Lists &lists, Value team, Value column, Value numRows,
                           Value isFirst) {
  constexpr int64_t together = 8;
  const int64_t lanes = shape.lanes;
  Type element = getElement(scatter.getX());
  Type type = lanes == 1 ? element : VectorType::get(lanes, element);
  const bool isSet = scatter.getKind() == ScatterKind::Set;
  auto share = [&](Value of) {
    return arith::DivUIOp::create(builder, loc, arith::MulIOp::create(builder, loc, of, numRows), index(shape.teams))
        .getResult();
  };
  Value low = share(team), high = share(add(team, index(1)));
  auto beginOf = [&](Value row) { return toIndex(loadAt(lists.begins, row)); };
  auto placeOf = [&](Value row) { return linear(rows, at[0], add(at[1], row), column); };
  auto initial = [&](Value row) { return load(x, {at[0], add(at[1], row), column}, lanes); };
  if (!isUpdate)
    when(isFirst, [&] {
      loop(low, high, index(1), [&](Value row) {
        Value isLeft = compare(arith::CmpIPredicate::eq, beginOf(row), beginOf(add(row, index(1))));
        when(isLeft, [&] { store(initial(row), out, placeOf(row)); });
      });
    });
  // What is there before the first update of a row.
  auto choosing = [&](Value condition, auto then, auto otherwise) {
    auto made = scf::IfOp::create(builder, loc, type, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(made.thenBlock());
    scf::YieldOp::create(builder, loc, then());
    builder.setInsertionPointToStart(made.elseBlock());
    scf::YieldOp::create(builder, loc, otherwise());
    return made.getResult(0);
  };
  auto before = [&](Value row) -> Value {
    auto stored = [&] { return loadAt(out, placeOf(row), lanes); };
    return isUpdate ? stored() : choosing(isFirst, [&] { return initial(row); }, stored);
  };
  Value from = beginOf(low), to = beginOf(high), last = subtract(to, index(1)), none = word(-1);
  auto finish = [&](Value row, Value made) { store(made, out, placeOf(toIndex(row))); };
  Values left = loop(from, to, index(together), {none, constant(builder.getZeroAttr(type))},
                     [&](Value first, ValueRange carried) -> Values {
                       Values exists, own, given;
                       for (int64_t i = 0; i < together; ++i) {
                         Value p = add(first, index(i)), some = smaller(p, last);
                         Value place = toIndex(widen(loadAt(lists.order, some)));
                         exists.push_back(isLess(p, to));
                         own.push_back(widen(loadAt(lists.rows, place)));
                         given.push_back(load(updates, {at[0], toIndex(loadAt(lists.updates, place)), column}, lanes));
                       }
                       Value row = carried[0], made = carried[1];
                       for (int64_t i = 0; i < together; ++i) {
                         // What is behind the last update has its row.
                         Value isNew = compare(arith::CmpIPredicate::ne, own[i], row);
                         when(both(isNew, compare(arith::CmpIPredicate::ne, row, none)), [&] { finish(row, made); });
                         Value next = given[i];
                         if (!isSet) {
                           Value begun = choosing(isNew, [&] { return before(toIndex(own[i])); }, [&] { return made; });
                           next = combine(getCombine(scatter.getKind(), getElementTypeOrSelf(scatter.getX().getType())),
                                          begun, next);
                         }
                         made = choose(exists[i], next, made);
                         row = own[i];
                       }
                       return {row, made};
                     });
  when(compare(arith::CmpIPredicate::ne, left[0], none), [&] { finish(left[0], left[1]); });
}

/// All threads look at indices side by side, each at one of every so many, and note in a word which ones are the
/// workgroup's. Of these words each thread gathers the bits of neighbours, and so knows those that are next to each
/// other: updates are listed in their order. Where no more rounds have room, or are left, they are applied.
void RowScatter::emitOp() {
  constexpr int64_t bits = RowScatterShape::bits, together = RowScatterShape::shortest;
  indices = getOperand(scatter.getIndices(), {updateRows.extent});
  updates = getOperand(scatter.getUpdates(), updateRows.shape());
  Type i32 = builder.getI32Type();
  if (!isUpdate)
    x = getOperand(scatter.getX(), rows.shape());
  const RowScatterShape shape(rows, findLanes(), machine);
  at = openGroups({rows.outer, rows.extent, rows.inner}, {1, shape.rows, shape.columns * shape.lanes}, shape.threads());
  listed = builder.getIntegerType(static_cast<unsigned>(shape.listBits));
  Lists lists{share(shape.room + together, i32), share(shape.room + together, listed), share(shape.room, listed),
              share(shape.rows + 1, i32), share(2 * threads, i32)};
  numberBySubgroups(lists.sums);
  Value masks = share(threads + threads / bits, i32);
  Value team = arith::DivUIOp::create(builder, loc, thread, index(shape.columns));
  Value column = add(at[2], multiply(arith::RemUIOp::create(builder, loc, thread, index(shape.columns)), shape.lanes));
  Value isColumn = isLess(column, index(rows.inner));
  Value end = smaller(add(at[1], index(shape.rows)), index(rows.extent)), numRows = subtract(end, at[1]);
  Value numUpdates = index(updateRows.extent), lastUpdate = index(updateRows.extent - 1);
  auto offsetOf = [&](Value u) { return subtract(toIndex(getPlace(scatter, load(indices, {u}))), at[1]); };
  // Neighbours of a subgroup read words of other banks.
  auto maskAt = [&](Value of) { return add(of, quotient(of, bits)); };
  // A thread's neighbours are of one look: `looks` divides the threads.
  Value chunk = multiply(thread, shape.looks);
  Value look = toWord(arith::DivUIOp::create(builder, loc, chunk, index(threads)));
  Value source = arith::RemUIOp::create(builder, loc, chunk, index(threads));
  Value no = constant(builder.getBoolAttr(false)), yes = constant(builder.getBoolAttr(true));

  loop(index(0), numUpdates, index(shape.round()), {index(0), yes}, [&](Value begin, ValueRange carried) -> Values {
    Values mask =
        loop(index(0), index(shape.looks), index(together), {word(0)}, [&](Value first, ValueRange sum) -> Values {
          Value noted = sum[0];
          for (int64_t i = 0; i < together; ++i) {
            Value number = add(first, index(i)), u = add(begin, add(multiply(number, threads), thread));
            // As unsigned numbers those before the first row are outside, too.
            Value isOwn = compare(arith::CmpIPredicate::ult, offsetOf(smaller(u, lastUpdate)), numRows);
            Value one = arith::ExtUIOp::create(builder, loc, i32, both(isOwn, isLess(u, numUpdates)));
            noted = arith::OrIOp::create(builder, loc, noted, arith::ShLIOp::create(builder, loc, one, toWord(number)));
          }
          return {noted};
        });
    store(mask[0], masks, maskAt(thread));
    meet();
    Value found = word(0), own = word(0);
    for (int64_t i = 0; i < shape.looks; ++i) {
      Value one = bit(loadAt(masks, maskAt(add(source, index(i)))), look);
      found = add(found, one);
      own = arith::OrIOp::create(builder, loc, own, arith::ShLIOp::create(builder, loc, one, word(i)));
    }
    auto [before, all] = sumUp(lists.sums, found);
    when(compare(arith::CmpIPredicate::ne, own, word(0)), [&] {
      loop(index(0), index(shape.looks), index(1), {add(carried[0], before)}, [&](Value i, ValueRange next) -> Values {
        Value one = bit(own, toWord(i)), u = add(begin, add(chunk, i));
        when(compare(arith::CmpIPredicate::ne, one, word(0)), [&] {
          store(toWord(u), lists.updates, next[0]);
          store(narrow(toWord(offsetOf(u))), lists.rows, next[0]);
        });
        return {add(next[0], toIndex(one))};
      });
    });
    meet();
    Value count = add(carried[0], all);
    Value isLast = compare(arith::CmpIPredicate::sge, add(begin, index(shape.round())), numUpdates);
    Value isFull = isLess(index(shape.room - shape.round()), count);
    Value isDue = arith::OrIOp::create(builder, loc, isLast, isFull);
    when(isDue, [&] {
      orderByRow(shape, lists, count, numRows);
      when(isColumn, [&] { applyRows(shape, lists, team, column, numRows, carried[1]); });
      meet();
    });
    return {choose(isDue, index(0), count), choose(isDue, no, carried[1])};
  });
}

std::unique_ptr<OrderEmitter> createRowScatter(GroupOp group, ScatterOp scatter, OpBuilder &builder,
                                               const Workgroups &machine) {
  constexpr int64_t fewestColumns = 128;
  const Rows rows(cast<RankedTensorType>(scatter.getX().getType()).getShape(), scatter.getDim());
  if (rows.inner <= fewestColumns || machine.workgroupThreads == 0)
    return nullptr;
  for (int64_t lanes = RowScatter::mostLanes(scatter, rows, machine); lanes > 0; lanes /= 2)
    if (!RowScatterShape(rows, lanes, machine).isFor(rows, machine))
      return nullptr;
  return std::make_unique<RowScatter>(group, scatter, builder, machine);
}

} // namespace zyx::lowering
