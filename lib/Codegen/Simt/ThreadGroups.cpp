//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Simt/ThreadGroups.h"

#include "zyx/Codegen/Tile/Lanes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace zyx::kernel;

/// As many lanes as divide a row.
static int64_t ownLanes(int64_t extent, int64_t lanes) {
  while (lanes > 1 && extent % lanes != 0)
    lanes /= 2;
  return lanes;
}

int64_t ThreadGroups::mostElements(int64_t extent, int64_t lanes, int64_t steps, int64_t threads) {
  const int64_t vectors = extent / ownLanes(extent, lanes);
  return vectors == 0 || threads / vectors < 2 ? 0 : std::min(threads / vectors, steps) * extent;
}

void ThreadGroups::choose(ArrayRef<Axis> outer) {
  const bool isOwnSum = llvm::any_of(
      n.roots, [&](Operation *root) { return !isa<StoreOp>(root) && t.ownSums.contains(root->getResult(0)); });
  if (!t.source.getRowGroups() || t.threads == 1 || t.cluster > 1 || !n.vectorAxis || n.unrolled || n.oneHot ||
      n.online || isOwnSum || !n.extents[*n.vectorAxis].constant || (!n.reduces.empty() && n.isShort()))
    return;
  const int64_t extent = *n.extents[*n.vectorAxis].constant;
  const int64_t own = ownLanes(extent, n.lanes);
  const int64_t vectors = extent / own;
  if (vectors == 0 || t.threads / vectors < 2)
    return;
  SmallVector<Axis> candidates(outer);
  if (!n.reduces.empty()) {
    // Who combines what groups have would have to wait between two rows.
    if (llvm::any_of(outer, [&](Axis axis) { return n.extents[axis].constant != 1; }))
      return;
    candidates.clear();
    llvm::copy_if(n.domain, std::back_inserter(candidates),
                  [&](Axis axis) { return n.combined.contains(axis) && n.vectorAxis != axis; });
  }
  // As few steps as can be; the first such axis, whose rows are furthest apart.
  double best = 1;
  for (Axis axis : candidates) {
    const std::optional<int64_t> steps = n.extents[axis].constant;
    if (!steps || *steps < 2)
      continue;
    const double share =
        static_cast<double>(llvm::divideCeil(*steps, t.threads / vectors)) / static_cast<double>(*steps);
    if (share < best)
      best = share, groupAxis = axis;
  }
  if (!groupAxis)
    return;
  groups = std::min(t.threads / vectors, *n.extents[*groupAxis].constant);
  groupVectors = vectors;
  narrower = n.lanes / own;
  n.lanes = own;
  n.unroll = 1;
}

Point ThreadGroups::ownColumn(const Point &point) {
  Value column = arith::RemUIOp::create(t.builder, loc, t.thread(), t.evaluator.constantIndex(groupVectors, loc));
  Value position = arith::MulIOp::create(t.builder, loc, column, t.evaluator.constantIndex(n.lanes, loc));
  Point at = point;
  t.setLanes(at, *n.vectorAxis, position, n.lanes, n.extents[*n.vectorAxis], /*partial=*/false, loc);
  return at;
}

FailureOr<ThreadGroups::Accumulators> ThreadGroups::walkSteps(int64_t extent, int64_t count, Accumulators accs,
                                                              Body body) {
  auto index = [&](int64_t value) { return t.evaluator.constantIndex(value, loc); };
  Value first = arith::DivUIOp::create(t.builder, loc, t.thread(), index(groupVectors));
  // Threads beyond the last group have nothing.
  if (groups * groupVectors != t.threads) {
    Value exists = arith::CmpIOp::create(t.builder, loc, arith::CmpIPredicate::ult, first, index(groups));
    first = arith::SelectOp::create(t.builder, loc, exists, first, index(extent));
  }
  // What is left of steps that are taken together is taken in fewer together: of single ones each waits for memory.
  FailureOr<Accumulators> results = accs;
  int64_t covered = 0;
  for (int64_t together = count > 1 ? count * narrower : count; together > 0 && covered != extent; together /= 2) {
    const int64_t end = extent - (extent - covered) % (together * groups);
    if (together > 1 && end == covered)
      continue;
    Value begin = covered == 0 ? first : t.evaluator.addIndex(first, index(covered), loc);
    covered = together == 1 ? extent : end;
    results = n.emitFor(begin, index(covered), together * groups, *results,
                        [&](Value i, Accumulators carried) -> FailureOr<Accumulators> {
                          for (int64_t u = 0; u < together; ++u) {
                            FailureOr<Accumulators> next =
                                body(t.evaluator.addIndex(i, index(u * groups), loc), carried);
                            if (failed(next))
                              return failure();
                            carried = *next;
                          }
                          return carried;
                        });
    if (failed(results))
      return failure();
  }
  return results;
}

void ThreadGroups::finish(ArrayRef<Value> partial, Point point) {
  auto index = [&](int64_t value) { return t.evaluator.constantIndex(value, loc); };
  const int64_t columns = groupVectors * n.lanes;
  Value group = arith::DivUIOp::create(t.builder, loc, t.thread(), index(groupVectors));
  Value column = t.evaluator.position(point, *n.vectorAxis, loc);
  SmallVector<Value> memory;
  for (Value own : partial) {
    OpBuilder::InsertionGuard guard(t.builder);
    t.builder.setInsertionPointToStart(t.programStart);
    memory.push_back(AllocOp::create(
        t.builder, loc, ViewType::get({groups, columns}, getElementTypeOrSelf(own.getType()), Space::Shared)));
  }
  {
    OpBuilder::InsertionGuard guard(t.builder);
    if (groups * groupVectors != t.threads) {
      Value exists = arith::CmpIOp::create(t.builder, loc, arith::CmpIPredicate::ult, group, index(groups));
      auto branch = scf::IfOp::create(t.builder, loc, exists, /*withElseRegion=*/false);
      t.builder.setInsertionPointToStart(branch.thenBlock());
    }
    for (auto [own, to] : llvm::zip_equal(partial, memory))
      StoreOp::create(t.builder, loc, own, to, ValueRange{group, column}, Value(), DenseBoolArrayAttr());
  }
  t.barrier(loc);
  (void)n.emitFor(t.thread(), index(columns), t.threads, {}, [&](Value at, Accumulators) -> FailureOr<Accumulators> {
    Point own = point;
    own.memo.clear();
    own.vectorAxis.reset();
    own.lanes = 1;
    own.positions[*n.vectorAxis] = at;
    for (auto [reduce, from] : llvm::zip_equal(n.reduces, memory)) {
      Type element = cast<ViewType>(from.getType()).getElementType(), wanted = getElementTypeOrSelf(reduce.getType());
      Value total;
      for (int64_t i = 0; i < groups; ++i) {
        Value part = LoadOp::create(t.builder, loc, element, from, ValueRange{index(i), at}, Value(), Value(),
                                    ArrayAttr(), DenseBoolArrayAttr());
        total = total ? createCombine(t.builder, loc, reduce.getKind(), total, part) : part;
      }
      if (element != wanted)
        total = fromOrderedBits(t.builder, loc, reduce.getKind(), total, cast<FloatType>(wanted));
      n.write(reduce.getResult(), total, own);
    }
    return Accumulators();
  });
}
