//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Which scans, sorts and scatters have workgroups for their rows, and what the emitters of these share.
//===----------------------------------------------------------------------===//
#include "WorkgroupOrder.h"

#include "zyx/Dialect/Graph/Analysis/Updates.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

Values WorkgroupOrder::openGroups(ArrayRef<int64_t> extents, ArrayRef<int64_t> steps, int64_t threads) {
  made.setThreads(threads);
  this->threads = threads;
  Values at = openGrid(extents, steps);
  thread = id(kernel::IdKind::Thread);
  return at;
}

/// No driver need have subgroups full, or of neighbours: so they are counted, and so are their threads.
void WorkgroupOrder::numberBySubgroups(Value sizes) {
  if (!machine.hasSubgroupOps)
    return;
  Value one = word(1), rank = kernel::SubgroupScanOp::create(builder, loc, one);
  Value size = kernel::SubgroupReduceOp::create(builder, loc, kernel::Combine::Add, one);
  Value subgroup = id(kernel::IdKind::Subgroup);
  isLast = compare(arith::CmpIPredicate::eq, rank, size);
  when(isLast, [&] { store(size, sizes, subgroup); });
  meet();
  Values before = loop(index(0), subgroup, index(1), {subtract(rank, one)},
                       [&](Value at, ValueRange sum) -> Values { return {add(sum[0], loadAt(sizes, at))}; });
  // Nothing else tells that the number is small.
  thread = toIndex(arith::RemUIOp::create(builder, loc, before[0], word(threads)));
}

Value WorkgroupOrder::addUpInSubgroup(Value own) {
  if (!own.getType().isInteger(64))
    return kernel::SubgroupScanOp::create(builder, loc, own);
  Type i32 = builder.getI32Type(), i64 = own.getType();
  Value bits = constant(builder.getI64IntegerAttr(32));
  Value low = arith::TruncIOp::create(builder, loc, i32, own);
  Value high = arith::TruncIOp::create(builder, loc, i32, arith::ShRUIOp::create(builder, loc, own, bits));
  low = arith::ExtUIOp::create(builder, loc, i64, addUpInSubgroup(low));
  high = arith::ExtUIOp::create(builder, loc, i64, addUpInSubgroup(high));
  return arith::OrIOp::create(builder, loc, low, arith::ShLIOp::create(builder, loc, high, bits));
}

/// Each subgroup by an op, whose last thread writes the sum, and then all subgroups by all threads. Who wants no sum of
/// all has its loop removed.
WorkgroupOrder::Sums WorkgroupOrder::addUp(ArrayRef<Value> own, Value parts) {
  Sums result;
  Values zeros;
  for (Value each : own) {
    result.upTo.push_back(addUpInSubgroup(each));
    zeros.push_back(constant(getIdentity(kernel::Combine::Add, each.getType(), /*exclusive=*/false)));
  }
  Value subgroup = id(kernel::IdKind::Subgroup);
  auto slot = [&](size_t number, Value of) { return add(of, index(static_cast<int64_t>(number) * threads)); };
  // Somebody may still read what is there.
  meet();
  when(isLast, [&] {
    for (auto [number, sum] : llvm::enumerate(result.upTo))
      store(sum, parts, slot(number, subgroup));
  });
  meet();
  auto addParts = [&](Value end) {
    return loop(index(0), end, index(1), zeros, [&](Value at, ValueRange before) -> Values {
      Values next;
      for (auto [number, sum] : llvm::enumerate(before))
        next.push_back(combine(kernel::Combine::Add, sum, loadAt(parts, slot(number, at))));
      return next;
    });
  };
  for (auto [sum, before] : llvm::zip_equal(result.upTo, addParts(subgroup)))
    sum = combine(kernel::Combine::Add, before, sum);
  result.all = addParts(id(kernel::IdKind::NumSubgroups));
  return result;
}

std::pair<Value, Value> WorkgroupOrder::sumUp(Value sums, Value own) {
  if (machine.hasSubgroupOps) {
    const Sums all = addUp(own, sums);
    return {toIndex(subtract(all.upTo[0], own)), toIndex(all.all[0])};
  }
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
}

bool WorkgroupOrder::hasLanes(const Rows &rows, const Operand &x, Type stored, int64_t lanes) {
  if (rows.inner != 1 || x.splat || stored.isInteger(1) || rows.extent % lanes != 0 || !x.map.isSingleBlock())
    return false;
  kernel::BlockAttr block = x.map.front();
  auto isWhole = [&](AffineExpr entry) { return *kernel::BlockAttr::constant(entry) % lanes == 0; };
  const bool isDense = kernel::BlockAttr::constant(block.getStrides()[1]) == 1;
  return isDense && isWhole(block.getOffset()) && isWhole(block.getStrides()[0]);
}

/// More than what the smallest workgroup of each kind shares.
static constexpr int64_t leastShared = 32 << 10;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

static bool hasWorkgroups(const Workgroups &machine) {
  return machine.threads != 0 && machine.workgroupThreads != 0 && machine.warpSize != 1 &&
         machine.sharedBytes >= leastShared;
}

/// Whether there is a row, or rows are few, for which that is better.
static bool isForWorkgroups(Operation *op, const Workgroups &machine, bool isUpdate) {
  if (auto scatter = dyn_cast<ScatterOp>(op)) {
    Rows rows(shapeOf(scatter.getX()), scatter.getDim());
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
      scan ? Rows(shapeOf(scan.getX()), scan.getDim()) : Rows(shapeOf(op->getOperand(0)), cast<SortOp>(op).getDim());
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
  if (!hasWorkgroups(machine))
    return nullptr;
  if (auto scatter = dyn_cast<ScatterOp>(op); scatter && !isUpdate)
    if (auto segments = createSegmentSum(group, scatter, builder, machine))
      return segments;
  if (!isForWorkgroups(op, machine, isUpdate))
    return nullptr;
  if (auto scan = dyn_cast<ScanOp>(op))
    return createWorkgroupScan(group, scan, builder, machine);
  if (auto sort = dyn_cast<SortOp>(op))
    return createWorkgroupSort(group, sort, builder, machine);
  if (auto wide = createRowScatter(group, cast<ScatterOp>(op), builder, machine))
    return wide;
  return createWorkgroupScatter(group, cast<ScatterOp>(op), builder, machine);
}

} // namespace zyx::lowering
