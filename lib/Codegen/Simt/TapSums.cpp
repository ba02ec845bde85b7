//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Simt/TapSums.h"

#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"
#include "zyx/Target/Info/Budgets.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;
namespace fits = zyx::target::fits::tapSums;

bool TapSums::apply(Nest &nest) {
  TileContext &t = nest.t;
  if (!t.source.getRowGroups() || t.threads % fits::neighbours != 0 || t.cluster > 1 || !nest.vectorCombined() ||
      nest.unrolled || nest.oneHot || nest.online || nest.roots.size() != 1 || nest.reduces.size() != 1)
    return false;
  const int64_t most = zyx::target::tapSums(t.machine);
  int64_t taps = 1;
  for (Axis axis : nest.domain) {
    const std::optional<int64_t> extent = nest.extents[axis].constant;
    if (!extent || *extent == 0)
      return false;
    if (!nest.combined.contains(axis))
      taps = std::min(taps * *extent, most + 1);
  }
  return taps > 1 && taps <= most;
}

LogicalResult TapSums::forEachTap(const Point &point, llvm::function_ref<LogicalResult(int64_t, Point &)> body) {
  int64_t count = 1;
  for (Axis axis : taps)
    count *= *n.extents[axis].constant;
  for (int64_t tap = 0; tap < count; ++tap) {
    Point at = point;
    int64_t rest = tap;
    for (Axis axis : llvm::reverse(taps)) {
      const int64_t own = rest % *n.extents[axis].constant;
      rest /= *n.extents[axis].constant;
      at.positions[axis] = t.evaluator.constantIndex(own, loc);
    }
    if (failed(body(tap, at)))
      return failure();
  }
  return success();
}

LogicalResult TapSums::evaluateShared(Value tile, Point &point) {
  if (!isTile(tile))
    return success();
  if (llvm::none_of(taps, [&](Axis axis) { return t.axes.contains(tile, axis); }))
    return failed(t.evaluator.evaluate(tile, point)) ? failure() : success();
  Operation *op = tile.getDefiningOp();
  if (!op || isa<LoadOp, GatherOp>(op) || isTileRoot(op) || t.evaluator.memory.contains(tile))
    return success();
  for (Value operand : op->getOperands())
    if (failed(evaluateShared(operand, point)))
      return failure();
  return success();
}

FailureOr<TapSums::Accumulators> TapSums::addStep(const Point &point, Accumulators accs) {
  ReduceOp reduce = n.reduces.front();
  Value input = reduce.getInput();
  Type element = getElementTypeOrSelf(input.getType());
  Point shared = point;
  if (failed(evaluateShared(input, shared)))
    return failure();
  arith::MulFOp product;
  if (t.machine.arithmetic.hasFma && reduce.getKind() == Combine::Add && (element.isF32() || element.isF64()))
    product = input.getDefiningOp<arith::MulFOp>();
  auto laneOf = [&](Value value, int64_t lane) -> Value {
    return isa<VectorType>(value.getType()) ? vector::ExtractOp::create(t.builder, loc, value, lane).getResult()
                                            : value;
  };
  LogicalResult done = forEachTap(shared, [&](int64_t tap, Point &at) -> LogicalResult {
    FailureOr<Value> a = t.evaluator.evaluate(product ? product.getLhs() : input, at), b = a;
    if (product)
      b = t.evaluator.evaluate(product.getRhs(), at);
    if (failed(a) || failed(b))
      return failure();
    for (int64_t lane = 0; lane < at.lanes; ++lane)
      accs[tap] = product ? math::FmaOp::create(t.builder, loc, laneOf(*a, lane), laneOf(*b, lane), accs[tap])
                          : createCombine(t.builder, loc, reduce.getKind(), accs[tap], laneOf(*a, lane));
    return success();
  });
  if (failed(done))
    return failure();
  return accs;
}

/// Sums of threads, and of their groups. A row of each group has one element more: threads that combine neighbouring
/// groups meet in no bank.
static std::array<ViewType, 2> exchangeTypes(Type element, int64_t numTaps, int64_t threads) {
  const int64_t groups = threads / fits::neighbours;
  return {ViewType::get({numTaps, groups, fits::neighbours + 1}, element, Space::Shared),
          ViewType::get({numTaps, groups}, element, Space::Shared)};
}

int64_t TapSums::sharedBytes(Type element, int64_t numTaps, int64_t threads) {
  int64_t bytes = 0;
  for (ViewType type : exchangeTypes(element, numTaps, threads))
    bytes += allocatedBytes(type);
  return bytes;
}

void TapSums::combine(ArrayRef<Value> own) {
  ReduceOp reduce = n.reduces.front();
  Type element = own.front().getType();
  const auto count = static_cast<int64_t>(own.size());
  const int64_t groups = t.threads / fits::neighbours;
  auto index = [&](int64_t value) { return t.evaluator.constantIndex(value, loc); };
  auto allocate = [&](ViewType type) -> Value {
    OpBuilder::InsertionGuard guard(t.builder);
    t.builder.setInsertionPointToStart(t.programStart);
    return AllocOp::create(t.builder, loc, type);
  };
  const auto [ofThreads, ofGroups] = exchangeTypes(element, count, t.threads);
  Value parts = allocate(ofThreads), sums = allocate(ofGroups);
  auto div = [&](Value value, int64_t by) -> Value { return arith::DivUIOp::create(t.builder, loc, value, index(by)); };
  auto rem = [&](Value value, int64_t by) -> Value { return arith::RemUIOp::create(t.builder, loc, value, index(by)); };
  auto store = [&](Value value, Value to, ValueRange at) {
    StoreOp::create(t.builder, loc, value, to, at, Value(), DenseBoolArrayAttr());
  };
  auto combineRow = [&](Value from, SmallVector<Value> at, int64_t length) {
    Value total;
    for (int64_t i = 0; i < length; ++i) {
      at.back() = index(i);
      Value part =
          LoadOp::create(t.builder, loc, element, from, at, Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
      total = total ? createCombine(t.builder, loc, reduce.getKind(), total, part) : part;
    }
    return total;
  };
  Value group = div(t.thread(), fits::neighbours), place = rem(t.thread(), fits::neighbours);
  for (auto [tap, value] : llvm::enumerate(own))
    store(value, parts, {index(static_cast<int64_t>(tap)), group, place});
  t.barrier(loc);
  (void)n.emitFor(t.thread(), index(count * groups), t.threads, {},
                  [&](Value item, Accumulators) -> FailureOr<Accumulators> {
                    Value tap = div(item, groups), from = rem(item, groups);
                    store(combineRow(parts, {tap, from, Value()}, fits::neighbours), sums, {tap, from});
                    return Accumulators();
                  });
  t.barrier(loc);
  (void)n.emitFor(t.thread(), index(count), t.threads, {}, [&](Value tap, Accumulators) -> FailureOr<Accumulators> {
    Point at;
    Value rest = tap;
    for (auto [i, axis] : llvm::enumerate(llvm::reverse(taps))) {
      const int64_t extent = *n.extents[axis].constant;
      at.positions[axis] = i + 1 == taps.size() ? rest : rem(rest, extent);
      rest = i + 1 == taps.size() ? rest : div(rest, extent);
    }
    n.write(reduce.getResult(), combineRow(sums, {tap, Value()}, groups), at);
    return Accumulators();
  });
}

LogicalResult TapSums::emit() {
  ReduceOp reduce = n.reduces.front();
  SmallVector<Axis> rows;
  int64_t count = 1, numTaps = 1;
  for (Axis axis : n.domain) {
    const int64_t extent = *n.extents[axis].constant;
    if (n.combined.contains(axis) && axis != *n.vectorAxis) {
      rows.push_back(axis);
      count *= extent;
    } else if (!n.combined.contains(axis) && extent != 1) {
      taps.push_back(axis);
      numTaps *= extent;
    }
  }
  const int64_t extent = *n.extents[*n.vectorAxis].constant;
  const int64_t lanes = fits::lanes(extent), vectors = extent / lanes;
  auto index = [&](int64_t value) { return t.evaluator.constantIndex(value, loc); };
  const Accumulators identities(numTaps, n.identityOf(reduce.getKind(), getElementTypeOrSelf(reduce.getType()), false));
  t.evaluator.shareWindows(true, /*areMoving=*/true);
  // Vectors of all rows are numbered: threads have them in turns, however many a row has.
  auto step = [&](Value item, Accumulators accs) -> FailureOr<Accumulators> {
    auto split = [&](Value number, int64_t by) {
      return std::pair<Value, Value>(t.builder.createOrFold<arith::DivUIOp>(loc, number, index(by)),
                                     t.builder.createOrFold<arith::RemUIOp>(loc, number, index(by)));
    };
    auto [rest, column] = split(item, vectors);
    Point point;
    t.setLanes(point, *n.vectorAxis, arith::MulIOp::create(t.builder, loc, column, index(lanes)), lanes,
               n.extents[*n.vectorAxis], /*partial=*/false, loc);
    for (Axis axis : llvm::reverse(rows)) {
      auto [outer, inner] = split(rest, *n.extents[axis].constant);
      point.positions[axis] = axis == rows.front() ? rest : inner;
      rest = outer;
    }
    return addStep(point, accs);
  };
  // Of short vectors, as rows of 14 elements have, a thread takes several at once: each alone would wait for memory.
  constexpr int64_t mostProducts = 128;
  const int64_t together =
      std::clamp<int64_t>(mostProducts / (numTaps * lanes), 1, std::clamp<int64_t>(fits::mostLanes / lanes, 1, 4));
  const int64_t total = count * vectors, covered = together == 1 ? 0 : total - total % (together * t.threads);
  FailureOr<Accumulators> own = identities;
  if (covered != 0)
    own = n.emitFor(t.thread(), index(covered), together * t.threads, identities,
                    [&](Value first, Accumulators accs) -> FailureOr<Accumulators> {
                      for (int64_t i = 0; i < together; ++i) {
                        FailureOr<Accumulators> next =
                            step(t.evaluator.addIndex(first, index(i * t.threads), loc), accs);
                        if (failed(next))
                          return failure();
                        accs = *next;
                      }
                      return accs;
                    });
  if (succeeded(own) && covered != total) {
    Value first = covered == 0 ? t.thread() : t.evaluator.addIndex(t.thread(), index(covered), loc);
    own = n.emitFor(first, index(total), t.threads, *own, step);
  }
  t.evaluator.shareWindows(false);
  if (failed(own))
    return failure();
  combine(*own);
  return success();
}
