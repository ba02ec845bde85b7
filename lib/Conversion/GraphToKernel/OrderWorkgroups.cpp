//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Scans, sorts and scatters whose rows are walked by a workgroup each. In all of them who combines what with what
// follows from the sizes alone, so that results do not depend on who comes first.
//===----------------------------------------------------------------------===//
#include "OrderEmitter.h"

#include "zyx/Dialect/Graph/IR/PlainTypes.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {
namespace {

int64_t divideCeil(int64_t a, int64_t b) { return llvm::divideCeilSigned(a, b); }

int64_t ceilPower(int64_t value) { return static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(value))); }

/// What is shorter is walked by a warp's threads one row each.
constexpr int64_t shortestRow = 32;
constexpr int64_t warp = 32;

/// Threads are `segments` by `columns`. Each combines `items` elements of its column in a round.
struct ScanShape {
  int64_t columns = 1, segments = 1, items = 8;

  explicit ScanShape(const Rows &rows) {
    constexpr int64_t mostThreads = 256, wantedThreads = 128;
    columns = std::min(warp, ceilPower(rows.inner));
    while (items > 1 && divideCeil(rows.extent, items) * columns < wantedThreads)
      items /= 2;
    segments = std::clamp(ceilPower(divideCeil(rows.extent, items)), warp / columns, mostThreads / columns);
  }
  int64_t threads() const { return columns * segments; }
  int64_t round() const { return segments * items; }
};

/// Threads merge runs in shared memory until they have a tile, and tiles in memory.
struct SortShape {
  int64_t tile, threads;

  SortShape(const Rows &rows, int64_t keyBytes, int64_t sharedBytes) {
    constexpr int64_t longestTile = 4096, longRow = 2048;
    // Two workgroups share a multiprocessor; keys and indices lie there twice.
    tile = std::min(longestTile, ceilPower(rows.extent));
    while (tile > warp && 2 * tile * (keyBytes + 4) > sharedBytes / 2)
      tile /= 2;
    threads = std::clamp<int64_t>(ceilPower(rows.extent), warp, rows.extent > longRow ? 1024 : 256);
  }
  bool isOneTile(const Rows &rows) const { return rows.extent <= tile; }
};

/// A workgroup has some rows of the result and a column of them for each of its threads; where columns are few, threads
/// take its rows in turns.
struct ScatterShape {
  static constexpr int64_t threads = 256;
  /// Indices that a thread looks at in a round.
  static constexpr int64_t looks = 8;
  int64_t columns, turns, rows;

  ScatterShape(const Rows &all, int64_t busyThreads)
      : columns(std::min(threads, ceilPower(all.inner))), turns(threads / columns) {
    const int64_t wanted = std::max<int64_t>(1, 2 * busyThreads / threads);
    const int64_t strips = all.outer * divideCeil(all.inner, columns);
    rows = std::clamp(divideCeil(all.extent, std::max<int64_t>(1, wanted / strips)), std::min(turns, all.extent), all.extent);
  }
};

class WorkgroupOrder : public OrderEmitter {
public:
  WorkgroupOrder(GroupOp group, Operation *op, OpBuilder &builder, const Workgroups &machine)
      : OrderEmitter(group, op, builder), machine(machine) {}

  /// Whether there is a row, or rows are few, for which that is better.
  static bool isFor(Operation *op, const Workgroups &machine);

private:
  void emitScan(ScanOp scan) override;
  void emitSort(SortOp sort) override;
  void emitScatter(ScatterOp scatter) override;
  SmallVector<TensorType> getScratch(SortOp sort) override;
  void explain(StringRef name) override;

  /// The runs of `width` in the first `count` elements from `from` on become runs of twice that length, from `to` on. Each
  /// element finds by bisection how many of the neighbouring run stand before it.
  struct Runs {
    Value keys, indices, from, to, count;
  };
  void mergeRuns(SortOp sort, Runs runs, Value width, Value numSteps);
  /// Merges from one half of `keys` and `indices`, of `half` elements each, to the other. Returns where the last one went.
  Value mergeAll(SortOp sort, Value keys, Value indices, Value base, Value count, int64_t half, int64_t width, int64_t end);

  Value share(int64_t numElements, Type element) {
    return kernel::AllocOp::create(builder, loc, kernel::ViewType::get({numElements}, element, kernel::Space::Shared));
  }
  void meet() { kernel::BarrierOp::create(builder, loc, kernel::Scope::Workgroup, /*async=*/false); }
  /// Opens a grid for workgroups of so many threads.
  Values openGroups(ArrayRef<int64_t> extents, ArrayRef<int64_t> steps, int64_t threads) {
    made.setThreads(threads);
    this->threads = threads;
    Values at = openGrid(extents, steps);
    thread = kernel::IdOp::create(builder, loc, builder.getIndexType(), kernel::IdKind::Thread);
    return at;
  }
  /// What each thread takes in turns.
  template <typename Body> void forOwn(Value count, Body body) { loop(thread, count, index(threads), body); }
  Value remainder(Value a, int64_t power) { return builder.createOrFold<arith::AndIOp>(loc, a, index(power - 1)); }
  Value quotient(Value a, int64_t power) {
    return builder.createOrFold<arith::ShRUIOp>(loc, a, index(llvm::Log2_64(static_cast<uint64_t>(power))));
  }
  Value constant(TypedAttr value) { return arith::ConstantOp::create(builder, loc, value); }
  Value word(int64_t value) { return constant(builder.getI32IntegerAttr(static_cast<int32_t>(value))); }
  Value toWord(Value number) { return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), number); }
  /// Bools are kept as bytes.
  Type getKey(SortOp sort) {
    Type element = getElement(sort.getX());
    return element.isInteger(1) ? builder.getI8Type() : element;
  }

  const Workgroups &machine;
  Value thread;
  int64_t threads = 1;
};

} // namespace

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// A round's elements are combined by threads, their results by all, in steps of twice the distance, and what all rounds
/// before have is carried.
void WorkgroupOrder::emitScan(ScanOp scan) {
  Rows rows(getShape(scan.getX()), scan.getDim());
  ScanShape shape(rows);
  ScanTypes types(scan);
  Operand x = getOperand(scan.getX(), rows.shape());
  Values at = openGroups({rows.outer, rows.inner}, {1, shape.columns}, shape.threads());
  Value neutral = constant(getIdentity(types.kind, types.carried, /*exclusive=*/false));
  Value first = constant(getIdentity(types.kind, types.carried, scan.getExclusive()));
  Value shared = share(2 * threads, types.carried);
  Value lane = remainder(thread, shape.columns), segment = quotient(thread, shape.columns);
  Value column = add(at[1], lane), last = index(rows.extent - 1);
  const bool hasColumns = rows.inner % shape.columns == 0, hasRounds = rows.extent % shape.round() == 0;
  Value isColumn = hasColumns ? Value() : isLess(column, index(rows.inner));
  Value someColumn = hasColumns ? column : smaller(column, index(rows.inner - 1));
  auto place = [&](Value j) { return scan.getReverse() ? subtract(last, j) : j; };

  loop(index(0), index(rows.extent), index(shape.round()), first, [&](Value begin, ValueRange carried) -> Values {
    Value from = add(begin, multiply(segment, shape.items));
    Values elements;
    Value sum;
    for (int64_t item = 0; item < shape.items; ++item) {
      Value j = add(from, index(item));
      Value element = types.widen(builder, loc, load(x, {at[0], place(hasRounds ? j : smaller(j, last)), someColumn}));
      if (!hasRounds)
        element = choose(isLess(j, index(rows.extent)), element, neutral);
      elements.push_back(element);
      sum = sum ? combine(types.kind, sum, element) : element;
    }
    int64_t half = 0;
    auto slot = [&](Value of) { return add(of, index(half * threads)); };
    store(sum, shared, slot(thread));
    meet();
    for (int64_t distance = 1; distance < shape.segments; distance *= 2) {
      Value before = loadAt(shared, slot(larger(subtract(thread, index(distance * shape.columns)), index(0))));
      sum = choose(isLess(segment, index(distance)), sum, combine(types.kind, before, sum));
      half = 1 - half;
      store(sum, shared, slot(thread));
      meet();
    }
    Value others = loadAt(shared, slot(larger(subtract(thread, index(shape.columns)), index(0))));
    Value running = combine(types.kind, carried[0], choose(isLess(segment, index(1)), neutral, others));
    Value whole = loadAt(shared, slot(add(lane, index((shape.segments - 1) * shape.columns))));
    for (auto [item, element] : llvm::enumerate(elements)) {
      Value next = combine(types.kind, running, element), j = add(from, index(static_cast<int64_t>(item)));
      Value given = types.round(builder, loc, scan.getExclusive() ? running : next);
      auto give = [&] { store(given, out, linear(rows, at[0], place(j), column)); };
      Value exists = hasRounds ? Value() : isLess(j, index(rows.extent));
      if (Value condition = exists && isColumn ? both(exists, isColumn) : exists ? exists : isColumn)
        when(condition, give);
      else
        give();
      running = next;
    }
    meet();
    return {combine(types.kind, carried[0], whole)};
  });
}

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

SmallVector<TensorType> WorkgroupOrder::getScratch(SortOp sort) {
  Rows rows(getShape(sort.getX()), sort.getDim());
  const int64_t keyBytes = getKey(sort).getIntOrFloatBitWidth() / 8;
  if (SortShape(rows, keyBytes, machine.sharedBytes).isOneTile(rows))
    return {};
  const int64_t numElements = 2 * rows.outer * rows.extent * rows.inner;
  return {{*toDType(getKey(sort)), {numElements}}, {DType::I32, {numElements}}};
}

void WorkgroupOrder::mergeRuns(SortOp sort, Runs runs, Value width, Value numSteps) {
  Value one = index(1), pair = add(width, width), mask = subtract(pair, one), last = subtract(runs.count, one);
  forOwn(runs.count, [&](Value p) {
    Value key = loadAt(runs.keys, add(runs.from, p)), number = loadAt(runs.indices, add(runs.from, p));
    Value within = both(p, mask), start = subtract(p, within);
    Value isLeft = isLess(within, width);
    Value other = smaller(add(start, choose(isLeft, width, index(0))), runs.count);
    Value end = smaller(add(other, width), runs.count);
    Values bounds = loop(index(0), numSteps, one, {other, end}, [&](Value, ValueRange bound) -> Values {
      Value low = bound[0], high = bound[1];
      Value middle = arith::ShRUIOp::create(builder, loc, add(low, high), one);
      Value there = loadAt(runs.keys, add(runs.from, smaller(middle, last)));
      // Of equal elements that of the left run stands before.
      Value isSooner = isBefore(choose(isLeft, there, key), choose(isLeft, key, there), sortsUnsigned(sort), sort.getDescending());
      Value standsBefore = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, isSooner, isLeft);
      Value isOpen = isLess(low, high);
      Value goesUp = both(isOpen, standsBefore);
      return {choose(goesUp, add(middle, one), low), choose(goesUp, high, choose(isOpen, middle, high))};
    });
    // Both runs' elements before this one.
    Value own = choose(isLeft, within, subtract(within, width));
    Value place = add(runs.to, add(start, add(own, subtract(bounds[0], other))));
    store(key, runs.keys, place);
    store(number, runs.indices, place);
  });
}

Value WorkgroupOrder::mergeAll(SortOp sort, Value keys, Value indices, Value base, Value count, int64_t half, int64_t width,
                               int64_t end) {
  const int64_t first = llvm::Log2_64_Ceil(static_cast<uint64_t>(width));
  const int64_t passes = std::max<int64_t>(0, llvm::Log2_64_Ceil(static_cast<uint64_t>(end)) - first);
  Value zero = index(0), one = index(1);
  loop(zero, index(passes), one, {index(width), zero}, [&](Value pass, ValueRange values) -> Values {
    Value from = values[1], to = subtract(index(half), from);
    mergeRuns(sort, {keys, indices, add(base, from), add(base, to), count}, values[0], add(pass, index(first + 1)));
    meet();
    return {add(values[0], values[0]), to};
  });
  return add(base, index(passes % 2 * half));
}

/// A tile after the other is sorted in shared memory; tiles are merged in memory.
void WorkgroupOrder::emitSort(SortOp sort) {
  Rows rows(getShape(sort.getX()), sort.getDim());
  Type element = getElement(sort.getX()), key = getKey(sort);
  SortShape shape(rows, key.getIntOrFloatBitWidth() / 8, machine.sharedBytes);
  const bool isOneTile = shape.isOneTile(rows);
  Operand x = getOperand(sort.getX(), rows.shape());
  Values at = openGroups({rows.outer, rows.inner}, {1, 1}, shape.threads);
  Value keys = share(2 * shape.tile, key), indices = share(2 * shape.tile, builder.getI32Type());
  Value zero = index(0), n = index(rows.extent);
  Value row = multiply(add(multiply(at[0], rows.inner), at[1]), 2 * rows.extent);
  auto give = [&](Value from, Value number, Value j) {
    if (sort.getKind() == SortKind::Indices)
      from = arith::ExtSIOp::create(builder, loc, builder.getI64Type(), number);
    else if (key != element)
      from = arith::TruncIOp::create(builder, loc, element, from);
    store(from, out, linear(rows, at[0], j, at[1]));
  };
  auto sortTile = [&](Value start) {
    Value count = isOneTile ? n : smaller(subtract(n, start), index(shape.tile));
    forOwn(count, [&](Value p) {
      Value j = add(start, p), value = load(x, {at[0], j, at[1]});
      if (key != element)
        value = arith::ExtUIOp::create(builder, loc, key, value);
      store(value, keys, p);
      store(toWord(j), indices, p);
    });
    meet();
    Value from = mergeAll(sort, keys, indices, zero, count, shape.tile, 1, std::min(shape.tile, rows.extent));
    forOwn(count, [&](Value p) {
      Value value = loadAt(keys, add(from, p)), number = loadAt(indices, add(from, p)), j = add(start, p);
      if (isOneTile)
        return give(value, number, j);
      store(value, scratch[0], add(row, j));
      store(number, scratch[1], add(row, j));
    });
    meet();
  };
  if (isOneTile)
    return sortTile(zero);
  loop(zero, n, index(shape.tile), sortTile);
  Value from = mergeAll(sort, scratch[0], scratch[1], row, n, rows.extent, shape.tile, rows.extent);
  forOwn(n, [&](Value j) { give(loadAt(scratch[0], add(from, j)), loadAt(scratch[1], add(from, j)), j); });
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// A workgroup copies its part of the operand, looks at all indices, and applies the updates that are its own in their
/// order. No element has two threads.
void WorkgroupOrder::emitScatter(ScatterOp scatter) {
  Rows rows(getShape(scatter.getX()), scatter.getDim());
  Rows updateRows(getShape(scatter.getUpdates()), scatter.getDim(), static_cast<int64_t>(getShape(scatter.getIndices()).size()));
  ScatterShape shape(rows, machine.threads);
  constexpr int64_t looks = ScatterShape::looks;
  Operand x = getOperand(scatter.getX(), rows.shape());
  Operand indices = getOperand(scatter.getIndices(), {updateRows.extent});
  Operand updates = getOperand(scatter.getUpdates(), updateRows.shape());
  Values at = openGroups({rows.outer, rows.extent, rows.inner}, {1, shape.rows, shape.columns}, ScatterShape::threads);
  Type i32 = builder.getI32Type();
  Value targets = share(threads * looks, i32), most = share(threads, i32);
  Value column = add(at[2], remainder(thread, shape.columns)), turn = quotient(thread, shape.columns);
  Value end = smaller(add(at[1], index(shape.rows)), index(rows.extent));
  Value zero = index(0), one = index(1), numUpdates = index(updateRows.extent);
  Value isColumn = isLess(column, index(rows.inner)), none = word(-1);

  when(isColumn, [&] {
    loop(add(at[1], turn), end, index(shape.turns),
         [&](Value j) { store(load(x, {at[0], j, column}), out, linear(rows, at[0], j, column)); });
  });
  loop(zero, numUpdates, index(threads * looks), [&](Value begin) {
    for (int64_t look = 0; look < looks; ++look) {
      Value slot = add(thread, index(look * threads)), u = add(begin, slot);
      Value chosen = getPlace(scatter, load(indices, {smaller(u, index(updateRows.extent - 1))}));
      Value offset = toIndex(chosen);
      offset = subtract(offset, at[1]);
      // As unsigned numbers those before the first row are outside, too.
      Value isInside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, offset, subtract(end, at[1]));
      store(choose(both(isInside, isLess(u, numUpdates)), toWord(offset), none), targets, slot);
    }
    meet();
    Value found = none;
    for (int64_t look = 0; look < looks; ++look)
      found = larger(found, loadAt(targets, add(multiply(thread, looks), index(look))));
    store(found, most, thread);
    meet();
    Value left = subtract(numUpdates, begin);
    Value pieces = smaller(arith::CeilDivUIOp::create(builder, loc, left, index(looks)), index(threads));
    loop(zero, pieces, one, [&](Value piece) {
      when(isLess(none, loadAt(most, piece)), [&] {
        loop(zero, index(looks), one, [&](Value look) {
          Value slot = add(multiply(piece, looks), look), target = loadAt(targets, slot);
          Value isOwn = both(isLess(none, target), isColumn);
          if (shape.turns > 1) {
            Value mine = builder.createOrFold<arith::AndIOp>(loc, target, word(shape.turns - 1));
            isOwn = both(isOwn, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, mine, toWord(turn)));
          }
          when(isOwn, [&] {
            Value j = add(at[1], toIndex(target));
            update(scatter, load(updates, {at[0], add(begin, slot), column}), linear(rows, at[0], j, column));
          });
        });
      });
    });
    meet();
  });
}

//===----------------------------------------------------------------------===//
// Which rows
//===----------------------------------------------------------------------===//

bool WorkgroupOrder::isFor(Operation *op, const Workgroups &machine) {
  if (machine.threads == 0 || machine.sharedBytes == 0)
    return false;
  if (auto scatter = dyn_cast<ScatterOp>(op)) {
    Rows rows(getShape(scatter.getX()), scatter.getDim());
    const int64_t numUpdates = cast<RankedTensorType>(scatter.getIndices().getType()).getNumElements();
    // Of many outer rows each is short, or all have their threads.
    return rows.extent <= std::numeric_limits<int32_t>::max() && rows.extent + numUpdates >= 2 * shortestRow &&
           rows.outer * divideCeil(rows.inner, 64) < machine.threads / 4 && numUpdates != 0;
  }
  auto scan = dyn_cast<ScanOp>(op);
  Rows rows = scan ? Rows(getShape(scan.getX()), scan.getDim())
                   : Rows(getShape(op->getOperand(0)), cast<SortOp>(op).getDim());
  if (rows.extent < shortestRow || rows.extent > std::numeric_limits<int32_t>::max() / 2)
    return false;
  // Threads of a warp that walk neighbouring columns read whole lines.
  return !scan || rows.inner < warp || rows.outer * rows.inner < machine.threads / 2;
}

void WorkgroupOrder::explain(StringRef name) {
  remark::passed(loc, remark::RemarkOpts::name("WorkgroupRows").category("zyx-scalar"))
      << (name + ": '" + op->getName().getStringRef() + "' is computed by workgroups of " + Twine(threads) + " threads").str();
}

std::unique_ptr<OrderEmitter> createWorkgroupOrder(GroupOp group, Operation *op, OpBuilder &builder, const Workgroups &machine) {
  if (!WorkgroupOrder::isFor(op, machine))
    return nullptr;
  return std::make_unique<WorkgroupOrder>(group, op, builder, machine);
}

} // namespace zyx::lowering
