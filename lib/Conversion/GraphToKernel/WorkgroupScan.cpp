//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Scans, and sums of segments, whose rows are walked by a workgroup each.
//===----------------------------------------------------------------------===//
#include "WorkgroupOrder.h"

#include "zyx/Dialect/Graph/Analysis/Updates.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {
namespace {

/// Threads are `segments` by `columns`. Each combines `items` elements of its column in a round.
struct ScanShape {
  int64_t columns = 1, segments = 1, items = 8;

  ScanShape(const Rows &rows, int64_t elementBytes, const Workgroups &machine) {
    constexpr int64_t wantedThreads = 128;
    const int64_t mostThreads = machine.workgroupThreads, fewestThreads = std::min<int64_t>(256, mostThreads);
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

/// An element, or what elements that follow each other are combined to.
struct Sum {
  Value value;
  /// Whether a segment begins in there: nothing before it is combined with what follows. Null where none do.
  Value begins;
  /// What is known besides of an element.
  Value place;
};

class RowScan : public WorkgroupOrder {
public:
  RowScan(GroupOp group, Operation *op, OpBuilder &builder, const Workgroups &machine, const ScanTypes &types,
          const Rows &rows, bool exclusive, bool reverse, bool hasSegments)
      : WorkgroupOrder(group, op, builder, machine), types(types), rows(rows), exclusive(exclusive), reverse(reverse),
        hasSegments(hasSegments) {}

protected:
  using Elements = SmallVector<Sum>;

  /// Finds the operands, and says how many elements are read at once.
  virtual int64_t open(const ScanShape &shape) = 0;
  /// The elements from a place on, in the order of memory; `before` is what was read last, or null.
  virtual Elements read(ArrayRef<Value> at, int64_t lanes, const Sum *before) = 0;
  /// What stands in memory of the element `lane` places behind `at`, up to which the sum is `sum`.
  virtual Value finish(const Sum &element, Value sum, ArrayRef<Value> at, int64_t lane) = 0;
  /// Whose elements lie one behind the other, and come and go through shared memory: neighbouring threads read and
  /// write neighbours where a thread has no vectors of its own. Null where there is none.
  virtual const Operand *getStaged() { return nullptr; }

  /// Whether rows begin at whole vectors, and threads have such.
  bool hasLanes(const ScanShape &shape, const Operand &x, Type stored, int64_t lanes) const {
    return shape.items % lanes == 0 && WorkgroupOrder::hasLanes(rows, x, stored, lanes);
  }
  Sum join(const Sum &before, const Sum &after);

  const ScanTypes types;
  const Rows rows;
  const bool exclusive, reverse, hasSegments;

private:
  void emitOp() final;
};

class WorkgroupScan : public RowScan {
public:
  WorkgroupScan(GroupOp group, ScanOp scan, OpBuilder &builder, const Workgroups &machine)
      : RowScan(group, scan, builder, machine, ScanTypes(scan), Rows(getShape(scan.getX()), scan.getDim()),
                scan.getExclusive(), scan.getReverse(), /*hasSegments=*/false),
        scan(scan) {}

private:
  int64_t open(const ScanShape &shape) override;
  Elements read(ArrayRef<Value> at, int64_t lanes, const Sum *before) override;
  Value finish(const Sum &element, Value sum, ArrayRef<Value> at, int64_t lane) override;
  const Operand *getStaged() override {
    return !types.stored.isInteger(1) && WorkgroupOrder::hasLanes(rows, x, types.stored, 1) ? &x : nullptr;
  }

  ScanOp scan;
  Operand x;
};

/// A scatter whose places are noted to be segments: a row is scanned from its end, and an element that is a place has
/// what is summed up since the segment's end.
class SegmentSum : public RowScan {
public:
  SegmentSum(GroupOp group, ScatterOp scatter, OpBuilder &builder, const Workgroups &machine, const Rows &rows)
      : RowScan(group, scatter, builder, machine, ScanTypes(scatter), rows, /*exclusive=*/false, /*reverse=*/true,
                /*hasSegments=*/true),
        scatter(scatter) {}

private:
  int64_t open(const ScanShape &shape) override;
  Elements read(ArrayRef<Value> at, int64_t lanes, const Sum *before) override;
  Value finish(const Sum &element, Value sum, ArrayRef<Value> at, int64_t lane) override;

  ScatterOp scatter;
  Operand indices, updates;
};

} // namespace

Sum RowScan::join(const Sum &before, const Sum &after) {
  Value sum = combine(types.kind, before.value, after.value);
  if (!after.begins)
    return {sum, {}, {}};
  Value begins = before.begins ? builder.createOrFold<arith::OrIOp>(loc, before.begins, after.begins) : after.begins;
  return {choose(after.begins, after.value, sum), begins, {}};
}

int64_t WorkgroupScan::open(const ScanShape &shape) {
  x = getOperand(scan.getX(), rows.shape());
  const int64_t lanes = lanesOf(types.stored);
  return hasLanes(shape, x, types.stored, lanes) ? lanes : 1;
}

RowScan::Elements WorkgroupScan::read(ArrayRef<Value> at, int64_t lanes, const Sum *) {
  Value all = load(x, at, lanes);
  Elements elements;
  for (int64_t lane = 0; lane < lanes; ++lane)
    elements.push_back({types.widen(builder, loc, extract(all, lanes, lane)), {}, {}});
  return elements;
}

Value WorkgroupScan::finish(const Sum &, Value sum, ArrayRef<Value>, int64_t) { return types.round(builder, loc, sum); }

int64_t SegmentSum::open(const ScanShape &shape) {
  indices = getOperand(scatter.getIndices(), rows.shape());
  updates = getOperand(scatter.getUpdates(), rows.shape());
  const int64_t lanes = lanesOf(types.stored);
  return hasLanes(shape, updates, types.stored, lanes) &&
                 hasLanes(shape, indices, getElement(scatter.getIndices()), lanes)
             ? lanes
             : 1;
}

/// A segment ends where the next element has another place; read from there, it begins.
RowScan::Elements SegmentSum::read(ArrayRef<Value> at, int64_t lanes, const Sum *before) {
  Value all = load(updates, at, lanes), places = load(indices, at, lanes);
  Value next =
      before ? before->place : load(indices, {at[0], smaller(add(at[1], index(lanes)), index(rows.extent - 1)), at[2]});
  Elements elements(lanes);
  for (int64_t lane = lanes; lane-- > 0;) {
    Value place = extract(places, lanes, lane);
    elements[lane] = {types.widen(builder, loc, extract(all, lanes, lane)),
                      compare(arith::CmpIPredicate::ne, place, next), place};
    next = place;
  }
  return elements;
}

/// The sum is added to the 0 in memory: -0 becomes +0.
Value SegmentSum::finish(const Sum &element, Value sum, ArrayRef<Value> at, int64_t lane) {
  Value number = linear(rows, at[0], add(at[1], index(lane)), at[2]);
  Value own = arith::IndexCastOp::create(builder, loc, element.place.getType(), number);
  Value zero = constant(builder.getZeroAttr(types.carried));
  Value isPlace = compare(arith::CmpIPredicate::eq, element.place, own);
  return types.round(builder, loc, choose(isPlace, combine(types.kind, sum, zero), zero));
}

/// A round's elements are combined by threads, their results by all, in steps of twice the distance, and what all
/// rounds before have is carried.
void RowScan::emitOp() {
  ScanShape shape(rows, std::max<int64_t>(types.stored.getIntOrFloatBitWidth() / 8, 1), machine);
  // Along rows that lie one element behind the other, whole vectors are read and written.
  const int64_t lanes = open(shape), end = rows.extent - lanes;
  Values at = openGroups({rows.outer, rows.inner}, {1, shape.columns}, shape.threads());
  const Sum neutral{constant(getIdentity(types.kind, types.carried, /*exclusive=*/false)),
                    hasSegments ? constant(builder.getBoolAttr(false)) : Value(),
                    {}};
  Value first = constant(getIdentity(types.kind, types.carried, exclusive));
  Value shared = share(2 * threads, types.carried);
  Value sharedBegins = hasSegments ? share(2 * threads, builder.getI32Type()) : Value();
  // Ops of subgroups add up what neighbours have.
  const bool isOfSubgroups = machine.hasSubgroupOps && !hasSegments && shape.columns == 1 &&
                             types.kind == kernel::Combine::Add &&
                             (types.carried.isF32() || types.carried.isF64() || types.carried.isInteger(32));
  if (isOfSubgroups)
    numberBySubgroups(share(threads, builder.getI32Type()));
  Value strip = remainder(thread, shape.columns), segment = quotient(thread, shape.columns);
  // What is known to be 0 does not hide that vectors lie on multiples of 16 bytes.
  Value column = rows.inner == 1 ? index(0) : add(at[1], strip);
  const bool hasColumns = rows.inner % shape.columns == 0, hasRounds = rows.extent % shape.round() == 0;
  Value isColumn = hasColumns ? Value() : isLess(column, index(rows.inner));
  Value someColumn = hasColumns ? column : smaller(column, index(rows.inner - 1));
  auto place = [&](Value j) { return reverse ? subtract(index(end), j) : j; };
  auto turn = [&](int64_t lane) { return reverse ? lanes - 1 - lane : lane; };
  const Operand *staged = lanes == 1 && shape.items > 1 ? getStaged() : nullptr;
  // Of items that follow each other each thread reads one in other banks.
  auto slotOf = [&](Value element) { return add(element, quotient(element, machine.warpSize)); };
  const int64_t numSlots = shape.round() + divideCeil(shape.round(), machine.warpSize);
  if (staged && numSlots * types.stored.getIntOrFloatBitWidth() / 8 > machine.sharedBytes / 2)
    staged = nullptr;
  Value stage = staged ? share(numSlots, types.stored) : Value();
  auto storeSum = [&](const Sum &sum, Value slot) {
    store(sum.value, shared, slot);
    if (sum.begins)
      store(arith::ExtUIOp::create(builder, loc, builder.getI32Type(), sum.begins), sharedBegins, slot);
  };
  auto loadSum = [&](Value slot) -> Sum {
    Value begins;
    if (sharedBegins)
      begins = compare(arith::CmpIPredicate::ne, loadAt(sharedBegins, slot), word(0));
    return {loadAt(shared, slot), begins, {}};
  };
  auto chooseSum = [&](Value condition, const Sum &a, const Sum &b) -> Sum {
    return {choose(condition, a.value, b.value), a.begins ? choose(condition, a.begins, b.begins) : Value(), {}};
  };

  loop(index(0), index(rows.extent), index(shape.round()), first, [&](Value begin, ValueRange carried) -> Values {
    Value from = add(begin, multiply(segment, shape.items));
    auto inTurn = [&](int64_t item) { return add(thread, index(item * threads)); };
    for (int64_t item = 0; stage && item < shape.items; ++item) {
      Value j = add(begin, inTurn(item)), some = hasRounds ? j : smaller(j, index(end));
      store(load(*staged, {at[0], place(some), column}), stage, slotOf(inTurn(item)));
    }
    if (stage)
      meet();
    auto own = [&](int64_t item) { return slotOf(add(multiply(segment, shape.items), index(item))); };
    // In the order in which they are combined.
    Elements elements;
    Sum sum;
    for (int64_t item = 0; item < shape.items; item += lanes) {
      Value j = add(from, index(item)), exists = hasRounds ? Value() : isLess(j, index(rows.extent));
      Value some = place(hasRounds ? j : smaller(j, index(end)));
      Elements given = stage ? Elements{{types.widen(builder, loc, loadAt(stage, own(item))), {}, {}}}
                             : read({at[0], some, someColumn}, lanes, elements.empty() ? nullptr : &elements.back());
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Sum element = given[turn(lane)];
        if (exists) {
          Value known = element.place;
          element = chooseSum(exists, element, neutral);
          element.place = known;
        }
        elements.push_back(element);
        sum = sum.value ? join(sum, element) : element;
      }
    }
    int64_t half = 0;
    auto slot = [&](Value of) { return add(of, index(half * threads)); };
    if (isOfSubgroups)
      sum.value = addUp(sum.value, shared).upTo[0], half = 1;
    storeSum(sum, slot(thread));
    meet();
    for (int64_t distance = 1; !isOfSubgroups && distance < shape.segments; distance *= 2) {
      Sum before = loadSum(slot(larger(subtract(thread, index(distance * shape.columns)), index(0))));
      sum = chooseSum(isLess(segment, index(distance)), sum, join(before, sum));
      half = 1 - half;
      storeSum(sum, slot(thread));
      meet();
    }
    Sum others = loadSum(slot(larger(subtract(thread, index(shape.columns)), index(0))));
    const Sum earlier{carried[0], {}, {}};
    Sum running = join(earlier, chooseSum(isLess(segment, index(1)), neutral, others));
    Sum whole = loadSum(slot(add(strip, index((shape.segments - 1) * shape.columns))));
    for (int64_t item = 0; item < shape.items; item += lanes) {
      Value j = add(from, index(item)), position = place(j);
      Values given(lanes);
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const Sum &element = elements[item + lane];
        Sum next = join(running, element);
        given[turn(lane)] =
            finish(element, exclusive ? running.value : next.value, {at[0], position, column}, turn(lane));
        running = next;
      }
      if (stage) {
        store(given[0], stage, own(item));
        continue;
      }
      auto give = [&] {
        Value all =
            lanes == 1
                ? given[0]
                : vector::FromElementsOp::create(builder, loc, VectorType::get(lanes, types.stored), given).getResult();
        store(all, out, linear(rows, at[0], position, column));
      };
      Value exists = hasRounds ? Value() : isLess(j, index(rows.extent));
      if (Value condition = exists && isColumn ? both(exists, isColumn) : exists ? exists : isColumn)
        when(condition, give);
      else
        give();
    }
    if (stage)
      meet();
    for (int64_t item = 0; stage && item < shape.items; ++item) {
      Value j = add(begin, inTurn(item));
      auto give = [&] { store(loadAt(stage, slotOf(inTurn(item))), out, linear(rows, at[0], place(j), column)); };
      if (hasRounds)
        give();
      else
        when(isLess(j, index(rows.extent)), give);
    }
    meet();
    return {join(earlier, whole).value};
  });
}

std::unique_ptr<OrderEmitter> createWorkgroupScan(GroupOp group, ScanOp scan, OpBuilder &builder,
                                                  const Workgroups &machine) {
  return std::make_unique<WorkgroupScan>(group, scan, builder, machine);
}

std::unique_ptr<OrderEmitter> createSegmentSum(GroupOp group, ScatterOp scatter, OpBuilder &builder,
                                               const Workgroups &machine) {
  auto noted = scatter->getAttrOfType<DenseI64ArrayAttr>(segmentsAttrName);
  const int64_t numElements = cast<RankedTensorType>(scatter.getType()).getNumElements();
  Type number = getElementTypeOrSelf(scatter.getIndices().getType());
  if (!noted || noted.size() != 3 || !addsToZeros(scatter) || number.getIntOrFloatBitWidth() < 32 ||
      cast<RankedTensorType>(scatter.getIndices().getType()).getNumElements() != numElements)
    return nullptr;
  const Rows rows(noted.asArrayRef(), 1);
  if (rows.outer * rows.extent * rows.inner != numElements)
    return nullptr;
  return std::make_unique<SegmentSum>(group, scatter, builder, machine, rows);
}

} // namespace zyx::lowering
