//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Scans whose rows are walked by a workgroup each.
//===----------------------------------------------------------------------===//
#include "WorkgroupOrder.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

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

class WorkgroupScan : public WorkgroupOrder {
public:
  WorkgroupScan(GroupOp group, ScanOp scan, OpBuilder &builder, const Workgroups &machine)
      : WorkgroupOrder(group, scan, builder, machine), scan(scan) {}

private:
  void emitOp() override;

  ScanOp scan;
};

} // namespace

/// Elements that a thread reads at once, where rows begin at such and threads have whole ones; else 1.
static int64_t getLanes(const Rows &rows, const ScanShape &shape, const Operand &x, Type stored, int64_t laneBytes) {
  const int64_t lanes = std::max<int64_t>(laneBytes / std::max<int64_t>(stored.getIntOrFloatBitWidth() / 8, 1), 1);
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
void WorkgroupScan::emitOp() {
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
  const int64_t lanes = getLanes(rows, shape, x, types.stored, machine.laneBytes), end = rows.extent - lanes;
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

std::unique_ptr<OrderEmitter> createWorkgroupScan(GroupOp group, ScanOp scan, OpBuilder &builder,
                                                  const Workgroups &machine) {
  return std::make_unique<WorkgroupScan>(group, scan, builder, machine);
}

} // namespace zyx::lowering
