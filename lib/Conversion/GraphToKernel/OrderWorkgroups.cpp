//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Scans, sorts and scatters whose rows are walked by a workgroup each. In all of them who combines what with what
// follows from the sizes alone, so that results do not depend on who comes first.
//===----------------------------------------------------------------------===//
#include "OrderEmitter.h"

#include "zyx/Dialect/Graph/Analysis/FirstElements.h"
#include "zyx/Dialect/Graph/Analysis/Updates.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {
namespace {

int64_t divideCeil(int64_t a, int64_t b) { return llvm::divideCeilSigned(a, b); }

int64_t ceilPower(int64_t value) { return static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(value))); }

/// More than what the smallest workgroup of each kind shares.
constexpr int64_t leastShared = 32 << 10;

/// Threads are `segments` by `columns`. Each combines `items` elements of its column in a round.
struct ScanShape {
  int64_t columns = 1, segments = 1, items = 8;

  ScanShape(const Rows &rows, int64_t elementBytes, const Workgroups &machine) {
    constexpr int64_t fewestThreads = 256, wantedThreads = 128;
    const int64_t mostThreads = machine.workgroupThreads;
    columns = std::min(machine.warpSize, ceilPower(rows.inner));
    // Few workgroups have as many threads as there may be, and columns that memory gives at once.
    auto groups = [&] { return rows.outer * divideCeil(rows.inner, columns); };
    while (columns * elementBytes > machine.transactionBytes && groups() * mostThreads < machine.threads / 2)
      columns /= 2;
    int64_t most = fewestThreads;
    while (most < mostThreads && 2 * most * groups() <= machine.threads / 2)
      most *= 2;
    // Each round waits for all threads: of few long rows they are fewer and larger.
    if (most > fewestThreads && rows.extent > 2 * most / columns * items)
      items *= 2;
    while (items > 1 && divideCeil(rows.extent, items) * columns < wantedThreads)
      items /= 2;
    segments = std::clamp(ceilPower(divideCeil(rows.extent, items)), std::max<int64_t>(machine.warpSize / columns, 1),
                          most / columns);
  }
  int64_t threads() const { return columns * segments; }
  int64_t round() const { return segments * items; }
};

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

/// A workgroup has some rows of the result and a column of them for each of its threads; where columns are few, threads
/// take its rows in turns.
struct ScatterShape {
  int64_t threads = 256, columns, turns, rows;
  /// Indices that a thread looks at in a round.
  int64_t looks = 4;

  ScatterShape(const Rows &all, int64_t numUpdates, const Workgroups &machine)
      : columns(std::min(threads, ceilPower(all.inner))) {
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
    rows = std::clamp(divideCeil(all.extent, std::max<int64_t>(1, wanted / strips)), std::min(turns, all.extent),
                      all.extent);
  }
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

class WorkgroupOrder : public OrderEmitter {
public:
  WorkgroupOrder(GroupOp group, Operation *op, OpBuilder &builder, const Workgroups &machine)
      : OrderEmitter(group, op, builder), machine(machine) {}

  /// Whether there is a row, or rows are few, for which that is better.
  static bool isFor(Operation *op, const Workgroups &machine, bool isUpdate);

private:
  void emitScan(ScanOp scan) override;
  void emitSort(SortOp sort) override;
  void emitScatter(ScatterOp scatter) override;
  SmallVector<TensorType> getScratch(SortOp sort) override;
  void explain(StringRef name) override;

  /// Elements of a row as numbers that are sorted upwards: of up to 32 bits with their places behind them, which
  /// differ, in one word, of 64 bits with those in `places`.
  struct Words {
    Value words, places;
    /// Where the first one is, and how far behind it merged ones go, or come from.
    Value base;
    int64_t half;
    bool isShared;
  };
  Value encode(SortOp sort, Value element);
  Value packWord(Value word, Value place);
  Words shareWords(SortOp sort, int64_t tile);
  void emitFirst(SortOp sort, const FirstShape &shape);
  void emitRuns(SortOp sort, int64_t runs);
  /// Each thread sorts its items of what `word` gives by place; behind the last one stands what is last.
  template <typename Word> void sortWords(Value count, Value to, Word word);
  void sortOwn(SortOp sort, const Operand &x, ArrayRef<Value> at, Value start, Value count, const Words &to);
  /// Merges neighbouring runs of `width` blocks of a thread's items, in the first `count` elements.
  void mergeRuns(const Words &all, Value from, Value to, Value count, Value width, Value numSteps);
  /// Merges all runs of `first` blocks of the `numBlocks`. Returns where the last one went.
  Value mergeAll(const Words &all, Value count, int64_t first, int64_t numBlocks);

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
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  static bool isPacked(SortOp sort) { return getElement(sort.getX()).getIntOrFloatBitWidth() <= 32; }
  static int64_t wordBytes(SortOp sort) { return isPacked(sort) ? 8 : 12; }

  const Workgroups &machine;
  Value thread;
  int64_t threads = 1;
};

} // namespace

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// Elements of 16 bytes, where rows begin at such and threads have whole ones; else 1.
static int64_t getLanes(const Rows &rows, const ScanShape &shape, const Operand &x, Type stored) {
  const int64_t lanes = 128 / std::max(8u, stored.getIntOrFloatBitWidth());
  if (rows.inner != 1 || x.splat || stored.isInteger(1) || shape.items % lanes != 0 || rows.extent % lanes != 0 ||
      !x.map.isSingleBlock())
    return 1;
  kernel::BlockAttr block = x.map.front();
  auto isWhole = [&](AffineExpr entry) { return *kernel::BlockAttr::constant(entry) % lanes == 0; };
  const bool isDense = kernel::BlockAttr::constant(block.getStrides()[1]) == 1;
  return isDense && isWhole(block.getOffset()) && isWhole(block.getStrides()[0]) ? lanes : 1;
}

/// A round's elements are combined by threads, their results by all, in steps of twice the distance, and what all
/// rounds before have is carried.
void WorkgroupOrder::emitScan(ScanOp scan) {
  Rows rows(getShape(scan.getX()), scan.getDim());
  ScanTypes types(scan);
  ScanShape shape(rows, std::max<int64_t>(types.stored.getIntOrFloatBitWidth() / 8, 1), machine);
  Operand x = getOperand(scan.getX(), rows.shape());
  Values at = openGroups({rows.outer, rows.inner}, {1, shape.columns}, shape.threads());
  Value neutral = constant(getIdentity(types.kind, types.carried, /*exclusive=*/false));
  Value first = constant(getIdentity(types.kind, types.carried, scan.getExclusive()));
  Value shared = share(2 * threads, types.carried);
  Value strip = remainder(thread, shape.columns), segment = quotient(thread, shape.columns);
  // What is known to be 0 does not hide that vectors lie on multiples of 16 bytes.
  Value column = rows.inner == 1 ? index(0) : add(at[1], strip);
  const bool hasColumns = rows.inner % shape.columns == 0, hasRounds = rows.extent % shape.round() == 0;
  Value isColumn = hasColumns ? Value() : isLess(column, index(rows.inner));
  Value someColumn = hasColumns ? column : smaller(column, index(rows.inner - 1));
  // Along rows that lie one element behind the other, whole vectors are read and written.
  const int64_t lanes = getLanes(rows, shape, x, types.stored), end = rows.extent - lanes;
  auto place = [&](Value j) { return scan.getReverse() ? subtract(index(end), j) : j; };
  auto turn = [&](int64_t lane) { return scan.getReverse() ? lanes - 1 - lane : lane; };

  loop(index(0), index(rows.extent), index(shape.round()), first, [&](Value begin, ValueRange carried) -> Values {
    Value from = add(begin, multiply(segment, shape.items));
    Values elements;
    Value sum;
    for (int64_t item = 0; item < shape.items; item += lanes) {
      Value j = add(from, index(item)), exists = hasRounds ? Value() : isLess(j, index(rows.extent));
      Value read = load(x, {at[0], place(hasRounds ? j : smaller(j, index(end))), someColumn}, lanes);
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Value element = lanes == 1 ? read : vector::ExtractOp::create(builder, loc, read, turn(lane)).getResult();
        element = types.widen(builder, loc, element);
        if (exists)
          element = choose(exists, element, neutral);
        elements.push_back(element);
        sum = sum ? combine(types.kind, sum, element) : element;
      }
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
    Value whole = loadAt(shared, slot(add(strip, index((shape.segments - 1) * shape.columns))));
    for (int64_t item = 0; item < shape.items; item += lanes) {
      Values given(lanes);
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Value next = combine(types.kind, running, elements[item + lane]);
        given[turn(lane)] = types.round(builder, loc, scan.getExclusive() ? running : next);
        running = next;
      }
      Value j = add(from, index(item)), target = linear(rows, at[0], place(j), column);
      auto give = [&] {
        Value all =
            lanes == 1
                ? given[0]
                : vector::FromElementsOp::create(builder, loc, VectorType::get(lanes, types.stored), given).getResult();
        store(all, out, target);
      };
      Value exists = hasRounds ? Value() : isLess(j, index(rows.extent));
      if (Value condition = exists && isColumn ? both(exists, isColumn) : exists ? exists : isColumn)
        when(condition, give);
      else
        give();
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
  if (sort->hasAttr(runsAttrName))
    return {};
  if (isPacked(sort) && FirstShape(sort, rows, machine).isFor(rows))
    return {};
  if (SortShape(rows, wordBytes(sort), machine).isOneTile(rows))
    return {};
  const int64_t numElements = 2 * rows.outer * rows.extent * rows.inner;
  SmallVector<TensorType> result{{DType::I64, {numElements}}};
  if (!isPacked(sort))
    result.push_back({DType::I32, {numElements}});
  return result;
}

/// A number that is smaller where the element stands before, and the same where elements compare equal: both zeros do,
/// and NaN, which is last in either direction.
Value WorkgroupOrder::encode(SortOp sort, Value element) {
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

Value WorkgroupOrder::packWord(Value word, Value place) {
  Value high = arith::ShLIOp::create(builder, loc, word, constant(builder.getI64IntegerAttr(32)));
  return arith::OrIOp::create(builder, loc, high, arith::ExtUIOp::create(builder, loc, builder.getI64Type(), place));
}

WorkgroupOrder::Words WorkgroupOrder::shareWords(SortOp sort, int64_t tile) {
  Value words = share(2 * tile, builder.getI64Type());
  return {words, isPacked(sort) ? Value() : share(2 * tile, builder.getI32Type()), index(0), tile, /*isShared=*/true};
}

/// Each thread sorts its items by exchanging neighbours, which keeps equal ones in their order. Behind the last element
/// of the tile stands what is last.
void WorkgroupOrder::sortOwn(SortOp sort, const Operand &x, ArrayRef<Value> at, Value start, Value count,
                             const Words &to) {
  constexpr int64_t items = SortShape::items;
  Rows rows(getShape(sort.getX()), sort.getDim());
  Values words, places;
  Value own = multiply(thread, items), none = constant(builder.getI64IntegerAttr(-1));
  for (int64_t item = 0; item < items; ++item) {
    Value p = add(own, index(item)), j = smaller(add(start, p), index(rows.extent - 1));
    Value word = encode(sort, load(x, {at[0], j, at[1]})), place = toWord(j);
    if (isPacked(sort))
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
void WorkgroupOrder::mergeRuns(const Words &all, Value from, Value to, Value count, Value width, Value numSteps) {
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

Value WorkgroupOrder::mergeAll(const Words &all, Value count, int64_t first, int64_t numBlocks) {
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

template <typename Word> void WorkgroupOrder::sortWords(Value count, Value to, Word word) {
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
void WorkgroupOrder::emitFirst(SortOp sort, const FirstShape &shape) {
  Rows rows(getShape(sort.getX()), sort.getDim());
  Operand x = getOperand(sort.getX(), rows.shape());
  Values at = openGroups({rows.outer, rows.inner}, {1, 1}, shape.threads);
  const int64_t tile = threads * SortShape::items, candidates = shape.first * shape.items;
  Words words{share(2 * tile, builder.getI64Type()), Value(), index(0), tile, /*isShared=*/true};
  Value bests = share(threads, builder.getI64Type()), winners = share(shape.first, builder.getI32Type());
  Value none = constant(builder.getI64IntegerAttr(-1));
  auto wordOf = [&](Value j) {
    Value element = load(x, {at[0], smaller(j, index(rows.extent - 1)), at[1]});
    return choose(isLess(j, index(rows.extent)), packWord(encode(sort, element), toWord(j)), none);
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

/// A row of sorted runs: an element goes behind those before it in its own run, and as many of each other run as stand
/// before it, which is found by bisection. Of equal ones those of earlier runs do.
void WorkgroupOrder::emitRuns(SortOp sort, int64_t runs) {
  constexpr int64_t groupThreads = 256, together = 8;
  Rows rows(getShape(sort.getX()), sort.getDim());
  const int64_t length = rows.extent / runs;
  Operand x = getOperand(sort.getX(), rows.shape());
  Values at = openGroups({rows.outer, rows.extent, rows.inner}, {1, groupThreads, 1}, groupThreads);
  Value e = add(at[1], thread);
  when(isLess(e, index(rows.extent)), [&] {
    Value element = load(x, {at[0], e, at[2]}), own = encode(sort, element);
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
                       Value theirs = encode(sort, load(x, {at[0], add(begins[i], last), at[2]}));
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
void WorkgroupOrder::emitSort(SortOp sort) {
  Rows rows(getShape(sort.getX()), sort.getDim());
  if (auto runs = sort->getAttrOfType<IntegerAttr>(runsAttrName))
    return emitRuns(sort, runs.getInt());
  if (const FirstShape first(sort, rows, machine); isPacked(sort) && first.isFor(rows))
    return emitFirst(sort, first);
  SortShape shape(rows, wordBytes(sort), machine);
  const bool isOneTile = shape.isOneTile(rows);
  Operand x = getOperand(sort.getX(), rows.shape());
  Values at = openGroups({rows.outer, rows.inner}, {1, 1}, shape.threads);
  Words tile = shareWords(sort, shape.tile);
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
    memory = {scratch[0], isPacked(sort) ? Value() : scratch[1],
              multiply(add(multiply(at[0], rows.inner), at[1]), 2 * rows.extent), rows.extent, /*isShared=*/false};
  auto sortTile = [&](Value start) {
    Value count = isOneTile ? n : smaller(subtract(n, start), index(shape.tile));
    sortOwn(sort, x, at, start, count, tile);
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

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// A workgroup copies its part of the operand, looks at all indices, and applies the updates that are its own in their
/// order. No element has two threads.
void WorkgroupOrder::emitScatter(ScatterOp scatter) {
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
  // How many all threads before this one have, and all together.
  auto sumUp = [&](Value own) -> std::pair<Value, Value> {
    int64_t half = 0;
    Value sum = own;
    auto slot = [&](Value of) { return add(of, index(half * threads)); };
    store(sum, sums, slot(thread));
    meet();
    for (int64_t distance = 1; distance < threads; distance *= 2) {
      Value before = loadAt(sums, slot(larger(subtract(thread, index(distance)), index(0))));
      sum = choose(isLess(thread, index(distance)), sum, add(before, sum));
      half = 1 - half;
      store(sum, sums, slot(thread));
      meet();
    }
    Value all = loadAt(sums, slot(index(threads - 1)));
    return {toIndex(subtract(sum, own)), toIndex(all)};
  };
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
    auto [first, all] = sumUp(found);
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
      Value place = sumUp(choose(isFirst, own[0], word(0))).first;
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

//===----------------------------------------------------------------------===//
// Which rows
//===----------------------------------------------------------------------===//

bool WorkgroupOrder::isFor(Operation *op, const Workgroups &machine, bool isUpdate) {
  if (machine.threads == 0 || machine.workgroupThreads == 0 || machine.warpSize == 1 ||
      machine.sharedBytes < leastShared)
    return false;
  if (auto scatter = dyn_cast<ScatterOp>(op)) {
    Rows rows(getShape(scatter.getX()), scatter.getDim());
    const int64_t numUpdates = cast<RankedTensorType>(scatter.getIndices().getType()).getNumElements();
    // Where the other rows stay as they are, a workgroup has nothing to do for most of them.
    if (isUpdate && (numUpdates < machine.warpSize || scatter->hasAttr(apartAttrName)))
      return false;
    // Of many outer rows each is short, or all have their threads.
    return rows.extent <= std::numeric_limits<int32_t>::max() && rows.extent + numUpdates >= 2 * machine.warpSize &&
           rows.outer * divideCeil(rows.inner, 64) < machine.threads / 4 && numUpdates != 0;
  }
  auto scan = dyn_cast<ScanOp>(op);
  Rows rows =
      scan ? Rows(getShape(scan.getX()), scan.getDim()) : Rows(getShape(op->getOperand(0)), cast<SortOp>(op).getDim());
  // What is shorter is walked by a warp's threads one row each.
  if (rows.extent < machine.warpSize || rows.extent > std::numeric_limits<int32_t>::max() / 2)
    return false;
  // Threads of a warp that walk neighbouring columns read whole lines.
  return !scan || rows.inner < machine.warpSize || rows.outer * rows.inner < machine.threads / 2;
}

void WorkgroupOrder::explain(StringRef name) {
  remark::passed(loc, remark::RemarkOpts::name("WorkgroupRows").category("zyx-scalar"))
      << (name + ": '" + op->getName().getStringRef() + "' is computed by workgroups of " + Twine(threads) + " threads")
             .str();
}

std::unique_ptr<OrderEmitter> createWorkgroupOrder(GroupOp group, Operation *op, OpBuilder &builder,
                                                   const Workgroups &machine, bool isUpdate) {
  if (!WorkgroupOrder::isFor(op, machine, isUpdate))
    return nullptr;
  return std::make_unique<WorkgroupOrder>(group, op, builder, machine);
}

} // namespace zyx::lowering
