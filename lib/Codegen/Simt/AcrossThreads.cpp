//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Simt/AcrossThreads.h"

#include "zyx/Codegen/Tile/Lanes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace zyx::kernel;

/// Threads whose first one combines what they have.
static constexpr int64_t neighbours = 16;

ExchangeMemory ExchangeMemory::of(Type element, int64_t threads) {
  return {ViewType::get({threads}, element, Space::Shared),
          ViewType::get({threads / neighbours}, element, Space::Shared)};
}

ViewType zyx::kernel::clusterExchangeMemory(Type element, int64_t cluster) {
  return ViewType::get({cluster}, element, Space::Shared);
}

/// Each workgroup writes what it has into the memory of all, its own included. Every exchange has a place of its own,
/// so that nobody writes there before all have been at the barrier of another one.
static Value combineAcrossCluster(TileContext &t, Location loc, Combine kind, Value own) {
  const ViewType type = clusterExchangeMemory(own.getType(), t.cluster);
  Value places;
  {
    OpBuilder::InsertionGuard guard(t.builder);
    t.builder.setInsertionPointToStart(t.programStart);
    places = AllocOp::create(t.builder, loc, type);
  }
  Value thread = t.threadInGroup(), group = t.groupInCluster(), size = t.evaluator.constantIndex(t.cluster, loc);
  // Also a number that is used by few threads is made by all.
  Value other = arith::RemUIOp::create(t.builder, loc, thread, size);
  Value hands = arith::CmpIOp::create(t.builder, loc, arith::CmpIPredicate::ult, thread, size);
  auto branch = scf::IfOp::create(t.builder, loc, hands, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(t.builder);
    t.builder.setInsertionPointToStart(branch.thenBlock());
    Value peer = PeerOp::create(t.builder, loc, type, places, other);
    StoreOp::create(t.builder, loc, own, peer, group, Value(), DenseBoolArrayAttr());
  }
  BarrierOp::create(t.builder, loc, Scope::Cluster, /*async=*/false);
  ++t.exchanges;
  Value total;
  for (int64_t i = 0; i < t.cluster; ++i) {
    Value part = LoadOp::create(t.builder, loc, own.getType(), places, t.evaluator.constantIndex(i, loc), Value(),
                                Value(), ArrayAttr(), DenseBoolArrayAttr());
    total = total ? createCombine(t.builder, loc, kind, total, part) : part;
  }
  return total;
}

static bool hasSubgroupOp(const TileContext &t, Combine kind, Type element) {
  const bool isCompared = kind == Combine::Max || kind == Combine::Min;
  const bool isUnsigned = kind == Combine::UMax || kind == Combine::UMin;
  return t.machine.simt.hasSubgroupOps &&
         (element.isInteger(32)
              ? kind == Combine::Add || isCompared || isUnsigned
              : (element.isF32() && (kind == Combine::Add || isCompared)) || (element.isF64() && kind == Combine::Add));
}

/// What the threads of a subgroup have, combined: sums, and of integers the largest as they are turned around.
static Value combineInSubgroup(OpBuilder &b, Location loc, Combine kind, Value own) {
  if (kind == Combine::Add || kind == Combine::UMax)
    return SubgroupReduceOp::create(b, loc, kind, own);
  const uint32_t turned = kind == Combine::Max ? 1u << 31 : kind == Combine::UMin ? ~0u : ~(1u << 31);
  Value turn = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(static_cast<int32_t>(turned)));
  Value largest = SubgroupReduceOp::create(b, loc, Combine::UMax, arith::XOrIOp::create(b, loc, own, turn));
  return arith::XOrIOp::create(b, loc, largest, turn);
}

/// Each subgroup by an op, whatever its size, and then all subgroups by all threads. `parts` has room for as many as
/// there may be.
static Value combineSubgroups(TileContext &t, Location loc, Combine kind, Value own, Value parts) {
  OpBuilder &b = t.builder;
  auto id = [&](IdKind which) -> Value { return IdOp::create(b, loc, b.getIndexType(), which); };
  auto load = [&](Value at) -> Value {
    return LoadOp::create(b, loc, own.getType(), parts, at, Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
  };
  Value subgroup = id(IdKind::Subgroup), subgroups = id(IdKind::NumSubgroups);
  Value zero = t.evaluator.constantIndex(0, loc), one = t.evaluator.constantIndex(1, loc);
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, id(IdKind::Lane), zero);
  Value total = combineInSubgroup(b, loc, kind, own);
  // Somebody may still read what an earlier reduction left there.
  t.barrier(loc);
  auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    StoreOp::create(b, loc, total, parts, subgroup, Value(), DenseBoolArrayAttr());
  }
  t.barrier(loc);
  return scf::ForOp::create(b, loc, one, subgroups, one, load(zero),
                            [&](OpBuilder &, Location, Value at, ValueRange before) {
                              scf::YieldOp::create(b, loc, createCombine(b, loc, kind, before[0], load(at)));
                            })
      .getResult(0);
}

bool zyx::kernel::areOneSubgroup(const TileContext &t) {
  return t.machine.simt.hasShuffles && t.cluster == 1 && t.threads <= t.machine.simt.subgroupSize &&
         llvm::isPowerOf2_64(t.threads);
}

/// Pairs, pairs of these, and so on: both of a pair have the same then, in whatever order they are combined.
static Value combineInSubgroup(TileContext &t, Location loc, Combine kind, Value own) {
  for (int64_t distance = 1; distance < t.threads; distance *= 2)
    own = createCombine(t.builder, loc, kind, own, ShuffleOp::create(t.builder, loc, own, distance));
  return own;
}

/// Where subgroups have no op for it, in two rounds: each group of neighbours, by its first thread, and then the
/// groups, by all. A thread can come back to write the first memory only behind the second barrier, when nobody reads
/// it any more, and the second one behind the next reduction's first barrier: all reductions share them.
Value zyx::kernel::combineAcrossThreads(TileContext &t, Location loc, Combine kind, Value own) {
  if (areOneSubgroup(t))
    return combineInSubgroup(t, loc, kind, own);
  Type element = own.getType();
  // Of floats a driver's maximum may lose NaN.
  if (element.isF32() && kind != Combine::Add && hasSubgroupOp(t, kind, element)) {
    Value bits = combineAcrossThreads(t, loc, kind, toOrderedBits(t.builder, loc, kind, own));
    return fromOrderedBits(t.builder, loc, kind, bits, cast<FloatType>(element));
  }
  auto allocate = [&](ViewType type) -> Value {
    OpBuilder::InsertionGuard guard(t.builder);
    t.builder.setInsertionPointToStart(t.programStart);
    return AllocOp::create(t.builder, loc, type);
  };
  auto index = [&](int64_t value) { return t.evaluator.constantIndex(value, loc); };
  auto load = [&](Value from, Value at) -> Value {
    return LoadOp::create(t.builder, loc, element, from, at, Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
  };
  auto store = [&](Value value, Value to, Value at) {
    StoreOp::create(t.builder, loc, value, to, at, Value(), DenseBoolArrayAttr());
  };
  auto combineFrom = [&](Value from, Value first, int64_t count) {
    Value total = load(from, first);
    for (int64_t i = 1; i < count; ++i)
      total = createCombine(t.builder, loc, kind, total, load(from, t.evaluator.addIndex(first, index(i), loc)));
    return total;
  };
  const int64_t threads = t.threads / t.cluster, groups = threads / neighbours;
  auto [known, isNew] = t.acrossMemory.try_emplace({t.programStart, element});
  if (isNew) {
    const ExchangeMemory memory = ExchangeMemory::of(element, threads);
    known->second = {allocate(memory.parts), allocate(memory.sums)};
  }
  auto [parts, sums] = known->second;
  if (hasSubgroupOp(t, kind, element)) {
    Value total = combineSubgroups(t, loc, kind, own, parts);
    return t.cluster > 1 ? combineAcrossCluster(t, loc, kind, total) : total;
  }
  Value thread = t.threadInGroup();
  store(own, parts, thread);
  t.barrier(loc);
  Value place = arith::RemUIOp::create(t.builder, loc, thread, index(neighbours));
  Value isFirst = arith::CmpIOp::create(t.builder, loc, arith::CmpIPredicate::eq, place, index(0));
  auto branch = scf::IfOp::create(t.builder, loc, isFirst, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(t.builder);
    t.builder.setInsertionPointToStart(branch.thenBlock());
    Value group = arith::DivUIOp::create(t.builder, loc, thread, index(neighbours));
    store(combineFrom(parts, thread, neighbours), sums, group);
  }
  t.barrier(loc);
  Value total = combineFrom(sums, index(0), groups);
  return t.cluster > 1 ? combineAcrossCluster(t, loc, kind, total) : total;
}
