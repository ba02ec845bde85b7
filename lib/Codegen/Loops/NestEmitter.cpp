//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "NestEmitter.h"

#include "ColumnSums.h"

#include "zyx/Codegen/Cpu/NearOperands.h"
#include "zyx/Codegen/Simt/AcrossThreads.h"
#include "zyx/Codegen/Simt/RowReductionEmitter.h"
#include "zyx/Codegen/Simt/TapSums.h"
#include "zyx/Codegen/Simt/ThreadSteps.h"
#include "zyx/Codegen/Tile/Lanes.h"
#include "zyx/Codegen/Tile/RowReductions.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

LogicalResult NestEmitter::emit() {
  addAxes();
  for (Axis axis : domain) {
    FailureOr<Extent> extent = t.extentOf(axis, loc);
    if (failed(extent))
      return failure();
    extents[axis] = *extent;
  }
  oneHot = roots.size() == 1 && isOneHotSum(t, roots.front());
  if (!oneHot)
    chooseVectorAxis();
  online = roots.size() == 2 && reduces.size() == 2 && addsExponentials(reduces[1], reduces[0]);
  for (Operation *root : roots)
    if (!isa<StoreOp>(root))
      prepareResult(root);
  SmallVector<Axis> outer;
  for (Axis axis : domain)
    if (!combined.contains(axis) && vectorAxis != axis)
      outer.push_back(axis);
  // Memory that is written here may still be read by another thread, and will be.
  const bool writesMemory = llvm::any_of(roots, [&](Operation *root) {
    return !isa<StoreOp>(root) && !singles.contains(root->getResult(0)) && !t.ownSums.contains(root->getResult(0));
  });
  if (writesMemory)
    t.barrier(loc);
  if (TapSums::apply(*this)) {
    if (failed(TapSums(*this).emit()))
      return failure();
    t.barrier(loc);
    return success();
  }
  NearOperands(*this).copy();
  groups.choose(outer);
  writeOut(outer);
  if (t.threads == 1 && !oneHot && (square = SquareEmitter::find(*this))) {
    auto *rows = llvm::find(outer, square->rowAxis);
    std::rotate(rows, std::next(rows), outer.end());
    if (square->lineAxis)
      llvm::erase(outer, *square->lineAxis);
  }
  if (failed(walkOuter(outer, Point())))
    return failure();
  t.evaluator.shareWindows(false);
  // Another nest may walk it along another axis.
  for (Value load : near)
    t.evaluator.memory.erase(load);
  if (writesMemory)
    t.barrier(loc);
  return success();
}

void NestEmitter::chooseVectorAxis() {
  if (slice.held) {
    vectorAxis = slice.held->vectorAxis;
    lanes = slice.held->lanes;
    unrolled = true;
    unroll = 1;
    return;
  }
  vectorAxis = findVectorAxis([this](LoadOp load, Axis axis) { return NearOperands(*this).comesNear(load, axis); });
  if (!vectorAxis)
    return;
  vectorAxis = writtenAxis().value_or(*vectorAxis);
  lanes = t.lanesFor(slice, *vectorAxis);
  narrowing = t.wholeLanesFor(slice, *vectorAxis) / lanes;
  if (extents[*vectorAxis].constant)
    lanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(std::max<int64_t>(*extents[*vectorAxis].constant, 1)));
  if (isCopyOfParts())
    lanes = std::min<int64_t>(lanes, *extents[*vectorAxis].constant);
  // Several independent chains hide the latency of short ones; long ones overlap by themselves.
  bool several = t.threads == 1 && slice.size <= 8 && !branches() && (vectorCombined() || lanes > 1);
  unroll = several ? 4 : 1;
  if (std::optional<int64_t> extent = extents[*vectorAxis].constant)
    unroll = std::clamp<int64_t>(*extent / lanes, 1, unroll);
}

/// Whether a thread copies elements one by one along an axis that is read in parts: there are as many lanes as
/// elements, none of which needs a mask.
bool NestEmitter::isCopyOfParts() {
  return t.machine.hasSubgroups() && t.threads == 1 && extents[*vectorAxis].constant && !vectorCombined() &&
         llvm::all_of(slice.accesses, [&](Operation *access) {
           if (auto store = dyn_cast<StoreOp>(access))
             return llvm::all_of(llvm::enumerate(t.axes.of(store.getValue())), [&](auto own) {
               return own.value() != *vectorAxis ||
                      strideOf(t.evaluator.mapping.lookupOrDefault(store.getView()), own.index()) != 1;
             });
           auto load = dyn_cast<LoadOp>(access);
           return load && isComplex(t.evaluator.mapping.lookupOrDefault(load.getView()));
         });
}

/// Where all is read along one axis and written along another one, a processor transposes it in registers rather than
/// writing elements one by one.
std::optional<Axis> NestEmitter::writtenAxis() {
  if (t.machine.hasSubgroups() || !reduces.empty() || !llvm::all_of(roots, llvm::IsaPred<StoreOp, ConvertOp>))
    return std::nullopt;
  constexpr int64_t fewest = 4;
  auto isWritten = [&](Axis axis) {
    return t.axes.extent(axis) >= fewest && llvm::all_of(roots, [&](Operation *root) {
             // What is kept has its last dimension side by side.
             if (auto kept = dyn_cast<ConvertOp>(root))
               return t.axes.of(kept.getResult()).back() == axis;
             auto store = cast<StoreOp>(root);
             for (auto [dim, own] : llvm::enumerate(t.axes.of(store.getValue())))
               if (own == axis)
                 return strideOf(t.evaluator.mapping.lookupOrDefault(store.getView()), dim) == 1;
             return false;
           });
  };
  const bool isSimple = llvm::none_of(slice.accesses, [&](Operation *access) {
    auto load = dyn_cast<LoadOp>(access);
    return load && t.axes.contains(load.getResult(), *vectorAxis) &&
           isComplex(t.evaluator.mapping.lookupOrDefault(load.getView()));
  });
  if (!isSimple || t.axes.extent(*vectorAxis) < fewest || isWritten(*vectorAxis))
    return std::nullopt;
  for (Axis axis : domain)
    if (isWritten(axis))
      return axis;
  return std::nullopt;
}

bool NestEmitter::walksWindows() {
  return t.machine.hasSubgroups() && t.threads == 1 && vectorAxis && !vectorCombined() && !unrolled && !oneHot &&
         !online && !reduces.empty() && !branches() && extents[*vectorAxis].constant &&
         isShort(slice.size <= 4 ? mostWindowSteps : mostShortSteps);
}

void NestEmitter::writeOut(SmallVectorImpl<Axis> &outer) {
  if (t.threads != 1 || !t.machine.hasSubgroups() || !vectorAxis || vectorCombined() || square || !near.empty())
    return;
  const bool isWindow = walksWindows();
  if (isWindow)
    t.evaluator.shareWindows(true);
  // Of a short row vectors have no lanes that do not exist.
  if (isWindow && lanes > 1)
    t.windowLanes[*vectorAxis] = std::min(lanes, *extents[*vectorAxis].constant);
  if (auto it = t.windowLanes.find(*vectorAxis); it != t.windowLanes.end() && lanes > 1 && !unrolled) {
    lanes = it->second;
    unroll = 1;
  }
  auto rows = llvm::make_filter_range(outer, [&](Axis axis) { return extents[axis].constant != 1; });
  if (!llvm::hasSingleElement(rows))
    return;
  const Axis axis = *rows.begin();
  const std::optional<int64_t> extent = extents[axis].constant;
  if (!extent || *extent > mostWindowRows)
    return;
  interleaves = isInterleaved(axis);
  if (!isWindow && !interleaves && !t.windowRows.contains(axis))
    return;
  if (!interleaves)
    t.windowRows.insert(axis);
  rowsAxis = axis;
  std::rotate(llvm::find(outer, axis), std::next(llvm::find(outer, axis)), outer.end());
}

bool NestEmitter::isInterleaved(Axis axis) {
  // What is unrolled has its elements in registers, by numbers that points of rows do not have.
  return reduces.empty() && !unrolled && llvm::all_of(roots, [&](Operation *root) {
           auto store = dyn_cast<StoreOp>(root);
           if (!store)
             return false;
           std::optional<int64_t> apart, along;
           for (auto [dim, own] : llvm::enumerate(t.axes.of(store.getValue()))) {
             const std::optional<int64_t> stride = strideOf(t.evaluator.mapping.lookupOrDefault(store.getView()), dim);
             if (own == axis)
               apart = stride;
             if (own == *vectorAxis)
               along = stride;
           }
           return apart == 1 && along == *extents[axis].constant;
         });
}

void NestEmitter::prepareResult(Operation *root) {
  Value result = root->getResult(0);
  // An axis that only a root behind the first one has is one of extent 1, which nothing walks.
  bool single = isa<ReduceOp>(root) && llvm::all_of(t.axes.of(result), [&](Axis axis) {
                  return !domain.contains(axis) || extents[axis].constant == 1;
                });
  for (Axis axis : domain)
    single &= combined.contains(axis) || extents[axis].constant == 1;
  if (single)
    singles.insert(result);
  else if (!t.evaluator.memory.contains(result) && !NearOperands(*this).allocateAlong(result))
    t.allocate(result);
}

LogicalResult NestEmitter::walkOuter(ArrayRef<Axis> outer, Point point) {
  if (outer.empty() && t.threads == 1 && near.empty() && ColumnSums::apply(*this))
    return ColumnSums(*this, [&](Point at, Chunk body) { return walkChunks(at, body); }).emit(point);
  if (square && outer.size() == 1)
    return SquareEmitter(*this, [&](Point at) { return emitInner(at); }).emit(*square, point);
  if (!near.empty() && outer.size() == 1 && !vectorCombined())
    return walkPositions(outer.front(), point, NearOperands(*this).positionsAtOnce(outer.front()));
  if (outer.size() == 1 && rowsAxis == outer.front())
    return walkPositions(*rowsAxis, point, *extents[*rowsAxis].constant);
  if (outer.empty() && groups.exist())
    return emitInner(vectorCombined() ? point : groups.ownColumn(point));
  if (outer.empty())
    return vectorAxis && !vectorCombined() ? walkVectors(point) : emitInner(point);
  Axis axis = outer.front();
  Extent extent = extents[axis];
  if (groups.walk(axis)) {
    auto body = [&](Value i, Accumulators) -> FailureOr<Accumulators> {
      Point at = point;
      at.positions[axis] = i;
      if (failed(walkOuter(outer.drop_front(), at)))
        return failure();
      return Accumulators();
    };
    return groups.walkSteps(*extent.constant, 1, {}, body);
  }
  if (unrolled) {
    for (int64_t i = 0; i < *extent.constant; ++i) {
      point.positions[axis] = t.evaluator.constantIndex(i, loc);
      point.constants[axis] = i;
      if (failed(walkOuter(outer.drop_front(), point)))
        return failure();
    }
    return success();
  }
  return t.emitLoop(0, extent, 1, {}, loc, [&](Value i, Accumulators) -> FailureOr<Accumulators> {
    Point at = point;
    at.positions[axis] = i;
    if (failed(walkOuter(outer.drop_front(), at)))
      return failure();
    return Accumulators();
  });
}

LogicalResult NestEmitter::walkVectors(Point point) {
  return walkChunks(point, [&](SmallVectorImpl<Point> &points) { return emitInner(points); });
}

LogicalResult NestEmitter::walkChunks(Point point, Chunk body) {
  Axis axis = *vectorAxis;
  Extent extent = extents[axis];
  if (unrolled) {
    int64_t tile = t.axes.extent(axis);
    for (int64_t i = 0; i < tile; i += lanes) {
      Point at = point;
      at.constants[axis] = i;
      bool partial = !extent.constant || i + lanes > *extent.constant;
      t.setLanes(at, axis, t.evaluator.constantIndex(i, loc), lanes, extent, partial, loc);
      SmallVector<Point> points = {at};
      if (failed(body(points)))
        return failure();
    }
    return success();
  }
  auto chunk = [&](int64_t count, bool partial) {
    return [&, count, partial](Value i, Accumulators) -> FailureOr<Accumulators> {
      SmallVector<Point> points;
      for (int64_t u = 0; u < count; ++u) {
        Point at = point;
        Value position = t.evaluator.addIndex(i, t.evaluator.constantIndex(u * lanes, loc), loc);
        t.setLanes(at, axis, position, lanes, extent, partial, loc);
        at.present = present;
        at.step = ownStep;
        points.push_back(at);
      }
      if (failed(body(points)))
        return failure();
      return Accumulators();
    };
  };
  if (t.threads > 1)
    return ThreadSteps(*this).emitPieces(extent, {}, chunk(1, false), chunk(1, true));
  Pieces pieces = split(extent);
  if (failed(t.emitLoop(0, pieces.groups, lanes * unroll, {}, loc, chunk(unroll, false))) ||
      failed(emitFrom(pieces.groups, pieces.vectors, lanes, {}, chunk(1, false))) ||
      failed(emitRest(pieces, {}, chunk(1, true))))
    return failure();
  return success();
}

LogicalResult NestEmitter::emitInner(Point point) {
  SmallVector<Point> points = {point};
  return emitInner(points);
}

LogicalResult NestEmitter::emitInner(SmallVectorImpl<Point> &points) {
  if (online)
    return RowReductionEmitter(*this).emitOnline(points.front());
  if (oneHot)
    return RowReductionEmitter(*this).emitOneHotSum(reduces.front(), points.front());
  bool inVectors = !vectorCombined() && lanes > 1 && vectorAxis;
  // Partial results: by reduce, then by point or, where the vector axis is combined, by chain.
  int64_t chains = vectorCombined() ? unroll : points.size();
  Accumulators accs;
  for (ReduceOp reduce : reduces) {
    Type element = cast<RankedTensorType>(reduce.getType()).getElementType();
    bool vectors = inVectors || (vectorCombined() && lanes > 1);
    Value identity = identityOf(reduce.getKind(), vectors && comparesBits(reduce) ? bitsOf(element) : element, vectors);
    for (int64_t c = 0; c < chains; ++c)
      accs.push_back(identity);
  }
  SmallVector<Axis> inner;
  for (Axis axis : domain)
    if (combined.contains(axis) && vectorAxis != axis)
      inner.push_back(axis);
  FailureOr<Accumulators> results = walkCombined(inner, points, accs, chains);
  if (failed(results))
    return failure();
  if (groups.exist() && !reduces.empty() && !vectorCombined()) {
    groups.finish(*results, points.front());
    return success();
  }
  for (auto [r, reduce] : llvm::enumerate(reduces))
    finish(reduce, ArrayRef(*results).slice(r * chains, chains), points);
  return success();
}

FailureOr<NestEmitter::Accumulators> NestEmitter::walkSteps(Extent extent, int64_t count, Accumulators accs,
                                                            Body body) {
  const int64_t covered = count > 1 && extent.constant ? *extent.constant - *extent.constant % count : 0;
  auto several = [&](Value i, Accumulators carried) -> FailureOr<Accumulators> {
    for (int64_t u = 0; u < count; ++u) {
      FailureOr<Accumulators> next = body(t.evaluator.addIndex(i, t.evaluator.constantIndex(u, loc), loc), carried);
      if (failed(next))
        return failure();
      carried = *next;
    }
    return carried;
  };
  FailureOr<Accumulators> results = t.emitLoop(0, {covered, {}}, count, accs, loc, several);
  return failed(results) ? results : t.emitLoop(covered, extent, 1, *results, loc, body);
}

FailureOr<NestEmitter::Accumulators> NestEmitter::walkCombined(ArrayRef<Axis> inner, ArrayRef<Point> points,
                                                               Accumulators accs, int64_t chains) {
  if (!inner.empty()) {
    Axis axis = inner.front();
    auto body = [&](Value i, Accumulators carried) {
      SmallVector<Point> at(points.begin(), points.end());
      for (Point &point : at) {
        point.positions[axis] = i;
        point.memo.clear();
      }
      return walkCombined(inner.drop_front(), at, carried, chains);
    };
    const bool isOwn = t.threads == 1 || groups.exist();
    const int64_t count = inner.size() == 1 && isOwn ? stepsAtOnce() / static_cast<int64_t>(points.size()) : 1;
    if (groups.walk(axis))
      return groups.walkSteps(*extents[axis].constant, count, accs, body);
    if (!unrolled && !isShort() && !walksWindows())
      return walkSteps(extents[axis], count, accs, body);
    for (int64_t i = 0; i < *extents[axis].constant; ++i) {
      SmallVector<Point> at(points.begin(), points.end());
      for (Point &point : at) {
        point.positions[axis] = t.evaluator.constantIndex(i, loc);
        point.constants[axis] = i;
        point.memo.clear();
      }
      FailureOr<Accumulators> next = walkCombined(inner.drop_front(), at, accs, chains);
      if (failed(next))
        return failure();
      accs = *next;
    }
    return accs;
  }
  if (!vectorCombined())
    return emitBody(SmallVector<Point>(points.begin(), points.end()), accs, chains);

  Axis axis = *vectorAxis;
  Extent extent = extents[axis];
  auto chunk = [&](int64_t count, bool partial) {
    return [&, count, partial](Value i, Accumulators carried) -> FailureOr<Accumulators> {
      SmallVector<Point> at;
      for (int64_t u = 0; u < count; ++u) {
        Point point = points.front();
        Value position = t.evaluator.addIndex(i, t.evaluator.constantIndex(u * lanes, loc), loc);
        if (unrolled)
          point.constants[axis] = *getConstantIntValue(position);
        t.setLanes(point, axis, position, lanes, extent, partial, loc);
        point.present = present;
        point.step = ownStep;
        point.memo.clear();
        at.push_back(point);
      }
      return emitBody(at, carried, chains);
    };
  };
  if (unrolled) {
    for (int64_t i = 0, tile = t.axes.extent(axis); i < tile; i += lanes) {
      bool partial = !extent.constant || i + lanes > *extent.constant;
      FailureOr<Accumulators> next = chunk(1, partial)(t.evaluator.constantIndex(i, loc), accs);
      if (failed(next))
        return failure();
      accs = *next;
    }
    return accs;
  }
  if (groups.exist())
    return emitBody({groups.ownColumn(points.front())}, accs, chains);
  if (t.threads > 1)
    return ThreadSteps(*this).emitPieces(extent, accs, chunk(1, false), chunk(1, true));
  Pieces pieces = split(extent);
  FailureOr<Accumulators> sums = t.emitLoop(0, pieces.groups, lanes * unroll, accs, loc, chunk(unroll, false));
  if (succeeded(sums))
    sums = emitFrom(pieces.groups, pieces.vectors, lanes, *sums, chunk(1, false));
  if (succeeded(sums))
    sums = emitRest(pieces, *sums, chunk(1, true));
  return sums;
}

arith::MulFOp NestEmitter::fusedProduct(ReduceOp reduce, Point &point) {
  Value input = reduce.getInput();
  Type element = cast<RankedTensorType>(input.getType()).getElementType();
  if (!t.machine.arithmetic.hasFma || reduce.getKind() != Combine::Add || !(element.isF32() || element.isF64()) ||
      point.memo.contains(input) || t.evaluator.memory.contains(input) || (point.mask && vectorCombined()))
    return {};
  return input.getDefiningOp<arith::MulFOp>();
}

Value NestEmitter::wherePresent(const Point &point, Value next, Value before) {
  return point.present ? arith::SelectOp::create(t.builder, loc, point.present, next, before).getResult() : next;
}

FailureOr<NestEmitter::Accumulators> NestEmitter::emitBody(SmallVector<Point> points, Accumulators accs,
                                                           int64_t chains) {
  size_t r = 0;
  for (Operation *root : roots) {
    if (interleaves && llvm::none_of(points, [](const Point &point) { return point.present; })) {
      SmallVector<Value> values;
      for (Point &point : points) {
        FailureOr<Value> value = t.evaluator.evaluate(domainOf(root), point);
        if (failed(value))
          return failure();
        values.push_back(*value);
      }
      for (auto [value, point] : llvm::zip_equal(values, points))
        if (failed(t.evaluator.store(cast<StoreOp>(root), value, point)))
          return failure();
      continue;
    }
    for (auto [u, point] : llvm::enumerate(points)) {
      auto sum = dyn_cast<ReduceOp>(root);
      if (arith::MulFOp product = sum ? fusedProduct(sum, point) : arith::MulFOp()) {
        FailureOr<Value> a = t.evaluator.evaluate(product.getLhs(), point),
                         b = t.evaluator.evaluate(product.getRhs(), point);
        if (failed(a) || failed(b))
          return failure();
        Value &acc = accs[r * chains + u];
        if (isa<VectorType>(acc.getType())) {
          a = t.evaluator.broadcast(*a, point);
          b = t.evaluator.broadcast(*b, point);
        }
        acc = wherePresent(point, math::FmaOp::create(t.builder, loc, *a, *b, acc), acc);
        continue;
      }
      FailureOr<Value> value = t.evaluator.evaluate(domainOf(root), point);
      if (failed(value))
        return failure();
      OpBuilder::InsertionGuard guard(t.builder);
      if (point.present && !isa<ReduceOp>(root)) {
        auto branch = scf::IfOp::create(t.builder, loc, point.present, /*withElseRegion=*/false);
        t.builder.setInsertionPointToStart(branch.thenBlock());
      }
      if (auto store = dyn_cast<StoreOp>(root)) {
        if (failed(t.evaluator.store(store, *value, point)))
          return failure();
      } else if (auto reduce = dyn_cast<ReduceOp>(root)) {
        Value &acc = accs[r * chains + u];
        Value x = *value;
        if (isa<VectorType>(acc.getType()))
          x = t.evaluator.broadcast(x, point);
        if (point.mask && vectorCombined())
          x = arith::SelectOp::create(t.builder, loc, point.mask, x,
                                      identityOf(reduce.getKind(), getElementTypeOrSelf(x.getType()), true));
        if (getElementTypeOrSelf(acc.getType()) != getElementTypeOrSelf(x.getType()))
          x = toOrderedBits(t.builder, loc, reduce.getKind(), x);
        acc = wherePresent(point, createCombine(t.builder, loc, reduce.getKind(), acc, x), acc);
      } else {
        t.evaluator.storeToMemory(root->getResult(0), *value, point);
        point.memo[root->getResult(0)] = *value;
      }
    }
    r += isa<ReduceOp>(root);
  }
  return accs;
}

void NestEmitter::finish(ReduceOp reduce, ArrayRef<Value> partial, SmallVectorImpl<Point> &points) {
  Value result = reduce.getResult();
  Type element = getElementTypeOrSelf(result.getType());
  auto writeTotal = [&](Value total, Point &point) {
    if (getElementTypeOrSelf(total.getType()) != element)
      total = fromOrderedBits(t.builder, loc, reduce.getKind(), total, cast<FloatType>(element));
    write(result, total, point);
  };
  if (vectorCombined()) {
    Value total = combineAll(t.builder, loc, reduce.getKind(), SmallVector<Value>(partial));
    if (isa<VectorType>(total.getType()))
      total = combineLanes(t.builder, loc, reduce.getKind(), total);
    if (t.threads > 1)
      total = combineAcrossThreads(t, loc, reduce.getKind(), total);
    writeTotal(total, points.front());
    return;
  }
  for (auto [value, point] : llvm::zip(partial, points))
    writeTotal(value, point);
}

LogicalResult NestEmitter::walkPositions(Axis axis, Point point, int64_t count) {
  Extent extent = extents[axis];
  auto several = [&](int64_t count) {
    return [&, count](Value i, Accumulators) -> FailureOr<Accumulators> {
      Point at = point;
      at.positions[axis] = i;
      LogicalResult done = walkChunks(at, [&](SmallVectorImpl<Point> &points) {
        SmallVector<Point> all;
        for (int64_t u = 0; u < count; ++u)
          for (Point one : points) {
            one.positions[axis] = t.evaluator.addIndex(i, t.evaluator.constantIndex(u, loc), loc);
            all.push_back(one);
          }
        return emitInner(all);
      });
      if (failed(done))
        return failure();
      return Accumulators();
    };
  };
  if (extent.constant) {
    const int64_t whole = *extent.constant - *extent.constant % count;
    if (failed(t.emitLoop(0, {whole, {}}, count, {}, loc, several(count))))
      return failure();
    return t.emitLoop(whole, extent, 1, {}, loc, several(1));
  }
  Value size = t.evaluator.constantIndex(count, loc);
  Value rest = arith::RemUIOp::create(t.builder, loc, extent.value, size);
  Value whole = arith::SubIOp::create(t.builder, loc, extent.value, rest);
  if (failed(emitFor(t.evaluator.constantIndex(0, loc), whole, count, {}, several(count))))
    return failure();
  return emitFor(whole, extent.value, 1, {}, several(1));
}
