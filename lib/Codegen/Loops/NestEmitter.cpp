//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "NestEmitter.h"

#include "zyx/Codegen/Tile/Lanes.h"
#include "zyx/Codegen/Tile/RowReductions.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

LogicalResult NestEmitter::emit() {
  for (Operation *root : roots)
    if (auto reduce = dyn_cast<ReduceOp>(root)) {
      reduces.push_back(reduce);
      for (int64_t dim : reduce.getDims())
        combined.insert(t.axes.of(reduce.getInput(), dim));
    }
  // Axes of extent 1 differ between roots that share a nest; nothing walks them.
  for (Operation *root : roots)
    for (Axis axis : t.axes.of(domainOf(root)))
      if (!domain.contains(axis) && (t.axes.extent(axis) != 1 || root == roots.front()))
        domain.insert(axis);
  for (Axis axis : domain) {
    FailureOr<Extent> extent = t.extentOf(axis, loc);
    if (failed(extent))
      return failure();
    extents[axis] = *extent;
  }
  picked = roots.size() == 1 && isPicked(t, roots.front());
  if (!picked)
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
  copyNear();
  chooseGroups(outer);
  if (t.threads == 1 && !picked && findTransposed())
    std::rotate(llvm::find(outer, *transposedAxis), std::next(llvm::find(outer, *transposedAxis)), outer.end());
  if (failed(walkOuter(outer, Point())))
    return failure();
  // Another nest may walk it along another axis.
  for (Value load : near)
    t.evaluator.memory.erase(load);
  if (writesMemory)
    t.barrier(loc);
  return success();
}

void NestEmitter::chooseVectorAxis() {
  if (cone.held) {
    vectorAxis = cone.held->vectorAxis;
    lanes = cone.held->lanes;
    unrolled = true;
    unroll = 1;
    return;
  }
  int64_t best = std::numeric_limits<int64_t>::min();
  for (Axis axis : domain) {
    if (extents[axis].constant == 1)
      continue;
    int64_t score = 0;
    auto look = [&](Value tile, Value view, int64_t weight, ArrayRef<int64_t> strides = {}) {
      for (auto [dim, a] : llvm::enumerate(t.axes.of(tile)))
        if (a == axis) {
          std::optional<int64_t> stride =
              strides.empty() ? strideOf(t.evaluator.mapping.lookupOrDefault(view), dim) : strides[dim];
          score += stride == 1 ? weight : stride == 0 ? 0 : -weight;
        }
    };
    for (Operation *access : cone.accesses) {
      auto load = dyn_cast<LoadOp>(access);
      if (load && comesNear(load, axis))
        ++score;
      else if (load)
        look(load.getResult(), load.getView(), 1);
      else if (auto store = dyn_cast<StoreOp>(access))
        look(store.getValue(), store.getView(), 1);
    }
    for (Value tile : cone.tiles) {
      if (auto it = t.evaluator.memory.find(tile); it != t.evaluator.memory.end())
        look(tile, it->second.view, 1, it->second.strides);
      // Rows whose number is data, along which threads read side by side.
      auto gather = t.machine.isGpu ? tile.getDefiningOp<GatherOp>() : GatherOp();
      if (!gather || !t.axes.contains(tile, axis))
        continue;
      int64_t along = -1;
      for (auto [dim, index] : llvm::enumerate(gather.getIndices()))
        if (IotaOp iota = countsAlongAxis(index); iota && t.axes.of(iota.getResult(), iota.getDim()) == axis)
          along = strideOf(t.evaluator.mapping.lookupOrDefault(gather.getView()), dim) == 1 ? 1 : -1;
      score += along;
    }
    // Where it makes no other difference, whole lines are written.
    score *= 2;
    for (Operation *access : cone.accesses)
      if (auto store = dyn_cast<StoreOp>(access))
        for (auto [dim, a] : llvm::enumerate(t.axes.of(store.getValue())))
          score += a == axis && strideOf(t.evaluator.mapping.lookupOrDefault(store.getView()), dim) == 1;
    // Of a window a vector would be mostly empty, and its lanes would have to be added up for each result. A thread of
    // a card loses as much by two that are.
    if (t.threads == 1 && combined.contains(axis) && extents[axis].constant &&
        *extents[axis].constant < (t.machine.isGpu ? 2 : 1) * t.lanesFor(cone, axis))
      score = std::min<int64_t>(score, 0) - 1;
    if (score >= best) {
      best = score;
      vectorAxis = axis;
    }
  }
  if (!vectorAxis)
    return;
  lanes = t.lanesFor(cone, *vectorAxis);
  if (extents[*vectorAxis].constant)
    lanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(std::max<int64_t>(*extents[*vectorAxis].constant, 1)));
  // Several independent chains hide the latency of short ones; long ones overlap by themselves.
  bool several = t.threads == 1 && cone.size <= 8 && !branches() && (vectorCombined() || lanes > 1);
  unroll = several ? 4 : 1;
  if (std::optional<int64_t> extent = extents[*vectorAxis].constant)
    unroll = std::clamp<int64_t>(*extent / lanes, 1, unroll);
}

/// Of a long sum, whose operand slides along what is summed up.
bool NestEmitter::comesNear(LoadOp load, Axis axis) {
  if (t.threads > 1 || t.machine.isGpu || t.machine.vectorBytes == 0 || picked || reduces.empty() || !combinesMany())
    return false;
  const int64_t width =
      std::min<int64_t>(t.lanesFor(cone, axis), llvm::PowerOf2Ceil(static_cast<uint64_t>(t.axes.extent(axis))));
  return nearFormOf(load, axis, width).has_value();
}

void NestEmitter::chooseGroups(ArrayRef<Axis> outer) {
  const bool isOwnSum = llvm::any_of(
      roots, [&](Operation *root) { return !isa<StoreOp>(root) && t.ownSums.contains(root->getResult(0)); });
  if (!t.source->hasAttr(rowGroupsAttrName) || t.threads == 1 || t.cluster > 1 || !vectorAxis || unrolled || picked ||
      online || isOwnSum || !extents[*vectorAxis].constant || (!reduces.empty() && isShort()))
    return;
  const int64_t extent = *extents[*vectorAxis].constant;
  int64_t own = lanes;
  while (own > 1 && extent % own != 0)
    own /= 2;
  const int64_t vectors = extent / own;
  if (vectors == 0 || t.threads / vectors < 2)
    return;
  SmallVector<Axis> candidates(outer);
  if (!reduces.empty()) {
    // Who combines what groups have would have to wait between two rows.
    if (llvm::any_of(outer, [&](Axis axis) { return extents[axis].constant != 1; }))
      return;
    candidates.clear();
    llvm::copy_if(domain, std::back_inserter(candidates),
                  [&](Axis axis) { return combined.contains(axis) && vectorAxis != axis; });
  }
  // As few steps as can be; the first such axis, whose rows are furthest apart.
  double best = 1;
  for (Axis axis : candidates) {
    const std::optional<int64_t> steps = extents[axis].constant;
    if (!steps || *steps < 2)
      continue;
    const double share =
        static_cast<double>(llvm::divideCeil(*steps, t.threads / vectors)) / static_cast<double>(*steps);
    if (share < best)
      best = share, groupAxis = axis;
  }
  if (!groupAxis)
    return;
  groups = std::min(t.threads / vectors, *extents[*groupAxis].constant);
  groupVectors = vectors;
  lanes = own;
  unroll = 1;
}

Point NestEmitter::ownColumn(const Point &point) {
  Value column = arith::RemUIOp::create(t.builder, loc, t.thread(), t.evaluator.constantIndex(groupVectors, loc));
  Value position = arith::MulIOp::create(t.builder, loc, column, t.evaluator.constantIndex(lanes, loc));
  Point at = point;
  t.setLanes(at, *vectorAxis, position, lanes, extents[*vectorAxis], /*partial=*/false, loc);
  return at;
}

FailureOr<NestEmitter::Accumulators> NestEmitter::walkGroupSteps(int64_t extent, int64_t count, Accumulators accs,
                                                                 Body body) {
  auto index = [&](int64_t value) { return t.evaluator.constantIndex(value, loc); };
  Value first = arith::DivUIOp::create(t.builder, loc, t.thread(), index(groupVectors));
  // Threads beyond the last group have nothing.
  if (groups * groupVectors != t.threads) {
    Value exists = arith::CmpIOp::create(t.builder, loc, arith::CmpIPredicate::ult, first, index(groups));
    first = arith::SelectOp::create(t.builder, loc, exists, first, index(extent));
  }
  const int64_t covered = extent - extent % (count * groups);
  FailureOr<Accumulators> results = accs;
  if (covered != 0)
    results = emitFor(first, index(covered), count * groups, accs,
                      [&](Value i, Accumulators carried) -> FailureOr<Accumulators> {
                        for (int64_t u = 0; u < count; ++u) {
                          FailureOr<Accumulators> next = body(t.evaluator.addIndex(i, index(u * groups), loc), carried);
                          if (failed(next))
                            return failure();
                          carried = *next;
                        }
                        return carried;
                      });
  if (failed(results) || covered == extent)
    return results;
  Value rest = t.evaluator.addIndex(first, index(covered), loc);
  return emitFor(rest, index(extent), groups, *results, body);
}

void NestEmitter::finishGroups(ArrayRef<Value> partial, Point point) {
  auto index = [&](int64_t value) { return t.evaluator.constantIndex(value, loc); };
  const int64_t columns = groupVectors * lanes;
  Value group = arith::DivUIOp::create(t.builder, loc, t.thread(), index(groupVectors));
  Value column = t.evaluator.position(point, *vectorAxis, loc);
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
  (void)emitFor(t.thread(), index(columns), t.threads, {}, [&](Value at, Accumulators) -> FailureOr<Accumulators> {
    Point own = point;
    own.memo.clear();
    own.vectorAxis.reset();
    own.lanes = 1;
    own.positions[*vectorAxis] = at;
    for (auto [reduce, from] : llvm::zip_equal(reduces, memory)) {
      Type element = cast<ViewType>(from.getType()).getElementType(), wanted = getElementTypeOrSelf(reduce.getType());
      Value total;
      for (int64_t i = 0; i < groups; ++i) {
        Value part = LoadOp::create(t.builder, loc, element, from, ValueRange{index(i), at}, Value(), Value(),
                                    ArrayAttr(), DenseBoolArrayAttr());
        total = total ? createCombine(t.builder, loc, reduce.getKind(), total, part) : part;
      }
      if (element != wanted)
        total = fromOrderedBits(t.builder, loc, reduce.getKind(), total);
      write(reduce.getResult(), total, own);
    }
    return Accumulators();
  });
}

bool NestEmitter::branches() {
  return cone.branches && llvm::any_of(cone.accesses, [&](Operation *access) {
           auto load = dyn_cast<LoadOp>(access);
           return load && isComplex(load.getView()) && !t.evaluator.readsNeighbours(load, *vectorAxis);
         });
}

bool NestEmitter::isShort(int64_t mostSteps) {
  int64_t steps = 1;
  for (Axis axis : combined)
    steps = std::min(steps, mostSteps + 1) * extents[axis].constant.value_or(mostSteps + 1);
  return !vectorCombined() && steps <= mostSteps;
}

void NestEmitter::prepareResult(Operation *root) {
  Value result = root->getResult(0);
  bool single =
      isa<ReduceOp>(root) && llvm::all_of(t.axes.of(result), [&](Axis axis) { return extents[axis].constant == 1; });
  for (Axis axis : domain)
    single &= combined.contains(axis) || extents[axis].constant == 1;
  if (single)
    singles.insert(result);
  else if (!t.evaluator.memory.contains(result) && !allocateAlong(result))
    t.allocate(result);
}

LogicalResult NestEmitter::walkOuter(ArrayRef<Axis> outer, Point point) {
  if (outer.empty() && t.threads == 1 && near.empty() && sumsInMemory())
    return walkBlocks(point);
  if (transposedAxis && outer.size() == 1)
    return walkSquares(point);
  if (!near.empty() && outer.size() == 1 && !vectorCombined())
    return walkPositions(outer.front(), point);
  if (outer.empty() && groups > 1)
    return emitInner(vectorCombined() ? point : ownColumn(point));
  if (outer.empty())
    return vectorAxis && !vectorCombined() ? walkVectors(point) : emitInner(point);
  Axis axis = outer.front();
  Extent extent = extents[axis];
  if (groupAxis == axis) {
    auto body = [&](Value i, Accumulators) -> FailureOr<Accumulators> {
      Point at = point;
      at.positions[axis] = i;
      if (failed(walkOuter(outer.drop_front(), at)))
        return failure();
      return Accumulators();
    };
    return walkGroupSteps(*extent.constant, 1, {}, body);
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
    return emitOwnPieces(extent, {}, chunk(1, false), chunk(1, true));
  Pieces pieces = split(extent);
  if (failed(t.emitLoop(0, pieces.groups, lanes * unroll, {}, loc, chunk(unroll, false))) ||
      failed(emitFrom(pieces.groups, pieces.vectors, lanes, {}, chunk(1, false))) ||
      failed(emitRest(pieces, {}, chunk(1, true))))
    return failure();
  return success();
}

NestEmitter::Pieces NestEmitter::split(Extent extent) {
  auto roundDown = [&](int64_t multiple) -> Extent {
    if (extent.constant)
      return {*extent.constant - *extent.constant % multiple, {}};
    if (multiple == 1)
      return extent;
    Value rest = arith::RemUIOp::create(t.builder, loc, extent.value, t.evaluator.constantIndex(multiple, loc));
    return {std::nullopt, arith::SubIOp::create(t.builder, loc, extent.value, rest)};
  };
  return {roundDown(lanes * unroll), roundDown(lanes), extent};
}

FailureOr<NestEmitter::Accumulators> NestEmitter::emitFrom(Extent low, Extent high, int64_t step, Accumulators accs,
                                                           Body body) {
  if (low.constant && high.constant)
    return t.emitLoop(*low.constant, high, step, accs, loc, body);
  if (unroll == 1)
    return accs;
  Value length = arith::SubIOp::create(t.builder, loc, t.materialise(high, loc), t.materialise(low, loc));
  return t.emitLoop(0, {std::nullopt, length}, step, accs, loc, [&](Value i, Accumulators inner) {
    return body(t.evaluator.addIndex(i, t.materialise(low, loc), loc), inner);
  });
}

FailureOr<NestEmitter::Accumulators> NestEmitter::emitFor(Value low, Value high, int64_t step, Accumulators accs,
                                                          Body body) {
  auto loop = scf::ForOp::create(t.builder, loc, low, high, t.evaluator.constantIndex(step, loc), accs);
  OpBuilder::InsertionGuard guard(t.builder);
  if (accs.empty())
    t.builder.setInsertionPointToStart(loop.getBody());
  else
    t.builder.setInsertionPointToEnd(loop.getBody());
  FailureOr<Accumulators> results = body(loop.getInductionVar(), Accumulators(loop.getRegionIterArgs()));
  if (failed(results))
    return failure();
  if (!accs.empty())
    scf::YieldOp::create(t.builder, loc, *results);
  return Accumulators(loop.getResults());
}

FailureOr<NestEmitter::Accumulators> NestEmitter::emitRest(const Pieces &pieces, Accumulators accs, Body body) {
  if (lanes == 1)
    return accs;
  if (pieces.all.constant) {
    if (*pieces.all.constant == *pieces.vectors.constant)
      return accs;
    return body(t.evaluator.constantIndex(*pieces.vectors.constant, loc), accs);
  }
  // At most one round of a loop: the structured way to say "if there is a rest".
  Value low = t.materialise(pieces.vectors, loc);
  return emitFor(low, pieces.all.value, lanes, accs, body);
}

FailureOr<NestEmitter::Accumulators> NestEmitter::emitOwn(Extent low, Extent high, int64_t step, Accumulators accs,
                                                          Body body) {
  if (low.constant && low.constant == high.constant)
    return accs;
  Value own = arith::MulIOp::create(t.builder, loc, t.thread(), t.evaluator.constantIndex(step, loc));
  const int64_t all = step * t.threads;
  // Few steps: what one loop has read or computed stays in registers for the next one. Who has nothing in the last
  // round reads what the last one has.
  if (low.constant && high.constant && staysInRegisters(*high.constant - *low.constant, step, t.threads)) {
    SmallVector<Value> positions, presents;
    for (int64_t i = *low.constant; i < *high.constant; i += all) {
      positions.push_back(t.evaluator.addIndex(own, t.evaluator.constantIndex(i, loc), loc));
      presents.emplace_back();
      if (i + all > *high.constant) {
        Value last = t.evaluator.constantIndex(*high.constant - step, loc);
        presents.back() = arith::CmpIOp::create(t.builder, loc, arith::CmpIPredicate::ule, positions.back(), last);
        positions.back() = arith::MinUIOp::create(t.builder, loc, positions.back(), last);
      }
    }
    if (failed(readAhead(positions)))
      return failure();
    for (auto [i, position] : llvm::enumerate(positions)) {
      present = presents[i];
      ownStep = i;
      FailureOr<Accumulators> next = body(position, accs);
      present = Value();
      ownStep.reset();
      if (failed(next))
        return failure();
      accs = *next;
    }
    return accs;
  }
  Value first = t.evaluator.addIndex(t.materialise(low, loc), own, loc);
  // Several at once, as often as all threads have so many.
  const int64_t count = low.constant && high.constant ? stepsAtOnce() : 1;
  const int64_t rounds = count > 1 ? (*high.constant - *low.constant) / (count * all) : 0;
  if (rounds > 0) {
    const int64_t covered = rounds * count * all;
    Value end = t.evaluator.constantIndex(*low.constant + covered, loc);
    FailureOr<Accumulators> next =
        emitFor(first, end, count * all, accs, [&](Value i, Accumulators carried) -> FailureOr<Accumulators> {
          for (int64_t u = 0; u < count; ++u) {
            FailureOr<Accumulators> one =
                body(t.evaluator.addIndex(i, t.evaluator.constantIndex(u * all, loc), loc), carried);
            if (failed(one))
              return failure();
            carried = *one;
          }
          return carried;
        });
    if (failed(next) || *low.constant + covered == *high.constant)
      return next;
    accs = *next;
    first = t.evaluator.addIndex(first, t.evaluator.constantIndex(covered, loc), loc);
  }
  return emitFor(first, t.materialise(high, loc), all, accs, body);
}

LogicalResult NestEmitter::readAhead(ArrayRef<Value> positions) {
  // As many registers as have room beside what is computed.
  constexpr int64_t mostBytes = 256;
  const Axis axis = *vectorAxis;
  SmallVector<LoadOp> loads;
  int64_t bytes = 0;
  for (auto load : roots.front()->getBlock()->getOps<LoadOp>()) {
    const bool isOwn = llvm::any_of(load.getIndices(), [](Value index) { return !getConstantIntValue(index); });
    if (!isTile(load.getResult()) || !t.axes.contains(load.getResult(), axis) || !isOwn)
      continue;
    // What has other axes, too, is at another place in each round of the loops around this one.
    if (llvm::any_of(t.axes.of(load.getResult()),
                     [&](Axis other) { return other != axis && t.axes.extent(other) != 1; }))
      continue;
    loads.push_back(load);
    bytes += positions.size() * lanes * getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth() / 8;
  }
  // Others than of one width are read in vectors of their own.
  if (loads.size() < 2 || bytes > mostBytes || !llvm::all_equal(llvm::map_range(loads, [](LoadOp load) {
        return getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth();
      })))
    return success();
  for (LoadOp load : loads)
    for (auto [i, position] : llvm::enumerate(positions)) {
      Point point;
      t.setLanes(point, axis, position, lanes, extents[axis], false, loc);
      point.step = i;
      if (failed(t.evaluator.evaluate(load.getResult(), point)))
        return failure();
    }
  return success();
}

int64_t NestEmitter::stepsAtOnce() {
  return !t.machine.isGpu || cone.branches || cone.size > 64 ? 1 : cone.size > 8 ? loadsAtOnce / 4 : loadsAtOnce;
}

FailureOr<NestEmitter::Accumulators> NestEmitter::emitOwnPieces(Extent extent, Accumulators accs, Body whole,
                                                                Body partial) {
  Pieces pieces = split(extent);
  FailureOr<Accumulators> results = emitOwn({0, {}}, pieces.vectors, lanes, accs, whole);
  if (succeeded(results) && lanes > 1)
    results = emitOwn(pieces.vectors, pieces.all, lanes, *results, partial);
  return results;
}

/// In two rounds: each group of neighbours, by its first thread, and then the groups, by all. A thread can come
/// back to write the first memory only behind the second barrier, when nobody reads it any more, and the second
/// one behind the next reduction's first barrier: all reductions share them.
Value NestEmitter::acrossThreads(Combine kind, Value own) {
  constexpr int64_t neighbours = 16;
  Type element = own.getType();
  auto allocate = [&](int64_t count) -> Value {
    OpBuilder::InsertionGuard guard(t.builder);
    t.builder.setInsertionPointToStart(t.programStart);
    return AllocOp::create(t.builder, loc, ViewType::get({count}, element, Space::Shared));
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
  if (isNew)
    known->second = {allocate(threads), allocate(groups)};
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
  return t.cluster > 1 ? acrossCluster(kind, total) : total;
}

/// Each workgroup writes what it has into the memory of all, its own included. Every exchange has a place of its own,
/// so that nobody writes there before all have been at the barrier of another one.
Value NestEmitter::acrossCluster(Combine kind, Value own) {
  ViewType type = ViewType::get({t.cluster}, own.getType(), Space::Shared);
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

LogicalResult NestEmitter::emitInner(Point point) {
  SmallVector<Point> points = {point};
  return emitInner(points);
}

LogicalResult NestEmitter::emitInner(SmallVectorImpl<Point> &points) {
  if (online)
    return emitOnline(points.front());
  if (picked)
    return emitPicked(reduces.front(), points.front());
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
  if (groups > 1 && !reduces.empty() && !vectorCombined()) {
    finishGroups(*results, points.front());
    return success();
  }
  for (auto [r, reduce] : llvm::enumerate(reduces))
    finish(reduce, ArrayRef(*results).slice(r * chains, chains), points);
  return success();
}

bool NestEmitter::comparesBits(ReduceOp reduce) {
  Type element = getElementTypeOrSelf(reduce.getType());
  // Maxima of 32-bit integers are instructions where vectors have 256 bits, of 64-bit ones where they have 512.
  bool hasIntegers =
      (element.isF32() && t.machine.vectorBytes >= 32) || (element.isF64() && t.machine.vectorBytes >= 64);
  return !t.machine.hasMaximum && hasIntegers && (reduce.getKind() == Combine::Max || reduce.getKind() == Combine::Min);
}

Type NestEmitter::bitsOf(Type element) { return t.builder.getIntegerType(element.getIntOrFloatBitWidth()); }

Value NestEmitter::identityOf(Combine kind, Type element, bool vector) {
  TypedAttr identity = getIdentity(kind, element);
  // A sum begins with +0, whatever its terms are: without one, or with -0 only, it is +0.
  if (kind == Combine::Add)
    identity = t.builder.getZeroAttr(element);
  if (vector)
    identity = DenseElementsAttr::get(VectorType::get(lanes, element), Attribute(identity));
  return arith::ConstantOp::create(t.builder, loc, identity);
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
    const bool isOwn = t.threads == 1 || groups > 1;
    const int64_t count = inner.size() == 1 && isOwn ? stepsAtOnce() / static_cast<int64_t>(points.size()) : 1;
    if (groupAxis == axis)
      return walkGroupSteps(*extents[axis].constant, count, accs, body);
    const bool isWindow = t.machine.isGpu && t.threads == 1 && !cone.branches && cone.size <= 4;
    if (!unrolled && !isShort(isWindow ? mostWindowSteps : mostShortSteps))
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
  if (groups > 1)
    return emitBody({ownColumn(points.front())}, accs, chains);
  if (t.threads > 1)
    return emitOwnPieces(extent, accs, chunk(1, false), chunk(1, true));
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
  if (!t.machine.hasFma || reduce.getKind() != Combine::Add || !(element.isF32() || element.isF64()) ||
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
      total = fromOrderedBits(t.builder, loc, reduce.getKind(), total);
    write(result, total, point);
  };
  if (vectorCombined()) {
    Value total = combineAll(t.builder, loc, reduce.getKind(), SmallVector<Value>(partial));
    if (isa<VectorType>(total.getType()))
      total = combineLanes(t.builder, loc, reduce.getKind(), total);
    if (t.threads > 1)
      total = acrossThreads(reduce.getKind(), total);
    writeTotal(total, points.front());
    return;
  }
  for (auto [value, point] : llvm::zip(partial, points))
    writeTotal(value, point);
}

void NestEmitter::write(Value result, Value value, Point &point) {
  if (singles.contains(result)) {
    t.evaluator.scalars[result] = value;
    return;
  }
  OpBuilder::InsertionGuard guard(t.builder);
  // A thread without columns of its own stands at the last ones, which another one writes.
  if (point.present) {
    auto branch = scf::IfOp::create(t.builder, loc, point.present, /*withElseRegion=*/false);
    t.builder.setInsertionPointToStart(branch.thenBlock());
  }
  t.evaluator.storeToMemory(result, value, point);
}
