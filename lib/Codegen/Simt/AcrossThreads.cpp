//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Simt/AcrossThreads.h"

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

/// In two rounds: each group of neighbours, by its first thread, and then the groups, by all. A thread can come
/// back to write the first memory only behind the second barrier, when nobody reads it any more, and the second
/// one behind the next reduction's first barrier: all reductions share them.
Value zyx::kernel::combineAcrossThreads(TileContext &t, Location loc, Combine kind, Value own) {
  if (areOneSubgroup(t))
    return combineInSubgroup(t, loc, kind, own);
  Type element = own.getType();
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
