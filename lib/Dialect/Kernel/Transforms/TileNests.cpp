//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TileLowering.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace zyx::kernel;

bool zyx::kernel::isTileRoot(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return isTile(store.getValue());
  if (auto convert = dyn_cast<ConvertOp>(op))
    return isa_and_nonnull<MemoryAttr>(cast<RankedTensorType>(convert.getType()).getEncoding());
  return isa<ReduceOp, ScanOp, DotOp>(op);
}

Value zyx::kernel::domainOf(Operation *root) { return root->getOperand(0); }

static int64_t bytesOf(Type type) { return std::max<int64_t>(type.isIndex() ? 8 : type.getIntOrFloatBitWidth() / 8, 1); }

TileLowering::Cone TileLowering::coneOf(ArrayRef<Operation *> roots) {
  Cone cone;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> work;
  for (Operation *root : roots) {
    if (isa<StoreOp>(root))
      cone.accesses.push_back(root);
    for (Value operand : root->getOperands())
      work.push_back(operand);
  }
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!isTile(value) || !seen.insert(value).second)
      continue;
    cone.tiles.push_back(value);
    if (auto it = evaluator.registers.find(value); it != evaluator.registers.end()) {
      cone.held = &it->second;
      continue;
    }
    if (evaluator.memory.contains(value) || evaluator.scalars.contains(value))
      continue;
    Operation *def = value.getDefiningOp();
    if (!def)
      continue;
    if (isTileRoot(def)) {
      cone.results.push_back(value);
      // A staged tile that joins a nest is evaluated there.
      if (!isa<ConvertOp>(def) || !llvm::is_contained(roots, def))
        continue;
    }
    if (isa<LoadOp>(def))
      cone.accesses.push_back(def);
    if (auto load = dyn_cast<LoadOp>(def))
      cone.complex |= isComplex(load.getView());
    if (isElementwise(def))
      ++cone.size;
    llvm::append_range(work, def->getOperands());
  }
  return cone;
}

int64_t TileLowering::lanesFor(const Cone &cone) {
  if (cone.held)
    return cone.held->lanes;
  if (cone.complex || machine.vectorBytes == 0)
    return 1;
  int64_t widest = 1;
  for (Value tile : cone.tiles)
    widest = std::max(widest, bytesOf(cast<RankedTensorType>(tile.getType()).getElementType()));
  return std::max<int64_t>(machine.vectorBytes / widest, 1);
}

//===----------------------------------------------------------------------===//
// Extents, loops, memory
//===----------------------------------------------------------------------===//

/// How far an axis goes here. A store that is not in bounds along it sticks out of its view in the
/// grid's last program; what sticks out is dropped, so no loop goes there, and loads need not either.
FailureOr<Extent> TileLowering::extentOf(Axis axis, Location loc) {
  int64_t tile = axes.extent(axis);
  struct End {
    Operation *op = nullptr;
    OpFoldResult base;
    int64_t viewExtent = 0;
  };
  End end;
  bool whole = false;
  LogicalResult same = success();
  auto look = [&](auto access, Value value) {
    for (auto [dim, a] : llvm::enumerate(axes.of(value))) {
      if (a != axis)
        continue;
      OpFoldResult base = getAsOpFoldResult(access.getIndices()[dim]);
      int64_t viewExtent = access.getView().getType().getDimSize(dim);
      std::optional<int64_t> constant = getConstantIntValue(base);
      bool inside = access.isInBounds(dim) ||
                    (constant && !ShapedType::isDynamic(viewExtent) && *constant + tile <= viewExtent);
      bool isStore = isa<StoreOp>(access.getOperation());
      if (inside) {
        whole |= isStore;
      } else if (!end.op) {
        end = {access, base, viewExtent};
      } else if (base != end.base || (isStore || isa<LoadOp>(end.op) ? viewExtent != end.viewExtent
                                                                     : viewExtent < end.viewExtent)) {
        access.emitOpError("leaves its view elsewhere than another access along the same axis");
        same = failure();
      }
    }
  };
  source.walk([&](StoreOp store) {
    if (isTile(store.getValue()))
      look(store, store.getValue());
  });
  source.walk([&](LoadOp load) {
    if (isTile(load.getResult()))
      look(load, load.getResult());
  });
  if (failed(same))
    return failure();
  if (!end.op)
    return Extent{tile, {}};
  if (axes.isCombined(axis))
    return end.op->emitOpError("may leave its view along an axis that is combined, which would combine `other`");
  if (whole)
    return end.op->emitOpError("may leave its view where a store along the same axis does not");
  if (ShapedType::isDynamic(end.viewExtent))
    return end.op->emitOpError("may leave a view whose extent is not known");
  Value base = getValueOrCreateConstantIndexOp(builder, loc, end.base);
  Value left = arith::SubIOp::create(builder, loc, evaluator.constantIndex(end.viewExtent, loc),
                                     evaluator.mapping.lookupOrDefault(base));
  left = arith::MinSIOp::create(builder, loc, left, evaluator.constantIndex(tile, loc));
  return Extent{std::nullopt, left};
}

Value TileLowering::materialise(Extent extent, Location loc) {
  return extent.constant ? evaluator.constantIndex(*extent.constant, loc) : extent.value;
}

void TileLowering::allocate(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> shape(type.getShape());
  if (!shape.empty() && machine.vectorBytes)
    shape.back() = llvm::alignTo(shape.back(), machine.vectorBytes / bytesOf(type.getElementType()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(programStart);
  evaluator.memory[tile] = {
      AllocOp::create(builder, tile.getLoc(), ViewType::get(shape, type.getElementType(), Space::Private))};
}

FailureOr<TileLowering::Accumulators>
TileLowering::emitLoop(int64_t low, Extent high, int64_t step, Accumulators accs, Location loc,
                       llvm::function_ref<FailureOr<Accumulators>(Value, Accumulators)> body) {
  if (high.constant && *high.constant <= low)
    return accs;
  Value lower = evaluator.constantIndex(low, loc);
  if (high.constant && *high.constant <= low + step)
    return body(lower, accs);
  auto loop = scf::ForOp::create(builder, loc, lower, materialise(high, loc), evaluator.constantIndex(step, loc), accs);
  OpBuilder::InsertionGuard guard(builder);
  // With nothing carried the loop has its terminator already.
  if (accs.empty())
    builder.setInsertionPointToStart(loop.getBody());
  else
    builder.setInsertionPointToEnd(loop.getBody());
  FailureOr<Accumulators> results = body(loop.getInductionVar(), Accumulators(loop.getRegionIterArgs()));
  if (failed(results))
    return failure();
  if (!accs.empty())
    scf::YieldOp::create(builder, loc, *results);
  return Accumulators(loop.getResults());
}

void TileLowering::setLanes(Point &point, Axis axis, Value position, int64_t lanes, Extent extent, bool partial,
                            Location loc) {
  point.positions[axis] = position;
  point.vectorAxis = axis;
  point.lanes = lanes;
  point.activeLanes = Value();
  point.lastLane = Value();
  point.mask = Value();
  if (!partial || lanes == 1)
    return;
  std::optional<int64_t> at = getConstantIntValue(position);
  if (at && extent.constant) {
    int64_t active = std::clamp<int64_t>(*extent.constant - *at, 0, lanes);
    if (active == lanes)
      return;
    point.activeLanes = evaluator.constantIndex(active, loc);
    point.lastLane = evaluator.constantIndex(*extent.constant - *at - 1, loc);
  } else {
    Value left = arith::SubIOp::create(builder, loc, materialise(extent, loc), position);
    point.lastLane = arith::SubIOp::create(builder, loc, left, evaluator.constantIndex(1, loc));
    point.activeLanes = arith::MinSIOp::create(builder, loc, left, evaluator.constantIndex(lanes, loc));
    point.activeLanes = arith::MaxSIOp::create(builder, loc, point.activeLanes, evaluator.constantIndex(0, loc));
  }
  point.mask = vector::CreateMaskOp::create(builder, loc, VectorType::get(lanes, builder.getI1Type()),
                                            ValueRange(point.activeLanes));
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

namespace zyx::kernel {

/// Emits the loops of roots that walk the same axes.
class NestEmitter {
public:
  NestEmitter(TileLowering &lowering, ArrayRef<Operation *> roots)
      : t(lowering), roots(roots), loc(roots.front()->getLoc()), cone(t.coneOf(roots)) {}

  LogicalResult emit() {
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
    chooseVectorAxis();
    for (Operation *root : roots)
      if (!isa<StoreOp>(root))
        prepareResult(root);
    SmallVector<Axis> outer;
    for (Axis axis : domain)
      if (!combined.contains(axis) && vectorAxis != axis)
        outer.push_back(axis);
    return walkOuter(outer, Point());
  }

private:
  using Accumulators = TileLowering::Accumulators;
  bool vectorCombined() const { return vectorAxis && combined.contains(*vectorAxis); }

  /// The axis with the most contiguous accesses; the last one where none stands out.
  void chooseVectorAxis() {
    lanes = t.lanesFor(cone);
    if (cone.held) {
      vectorAxis = cone.held->vectorAxis;
      unrolled = true;
      unroll = 1;
      return;
    }
    int64_t best = std::numeric_limits<int64_t>::min();
    for (Axis axis : domain) {
      if (extents[axis].constant == 1)
        continue;
      int64_t score = 0;
      auto look = [&](Value tile, Value view, int64_t weight) {
        for (auto [dim, a] : llvm::enumerate(t.axes.of(tile)))
          if (a == axis) {
            std::optional<int64_t> stride = strideOf(t.evaluator.mapping.lookupOrDefault(view), dim);
            score += stride == 1 ? weight : stride == 0 ? 0 : -weight;
          }
      };
      for (Operation *access : cone.accesses) {
        if (auto load = dyn_cast<LoadOp>(access))
          look(load.getResult(), load.getView(), 1);
        else if (auto store = dyn_cast<StoreOp>(access))
          look(store.getValue(), store.getView(), 1);
      }
      for (Value tile : cone.tiles)
        if (auto it = t.evaluator.memory.find(tile); it != t.evaluator.memory.end())
          look(tile, it->second.view, 1);
      if (score >= best) {
        best = score;
        vectorAxis = axis;
      }
    }
    if (!vectorAxis) {
      lanes = 1;
      return;
    }
    if (extents[*vectorAxis].constant)
      lanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(std::max<int64_t>(*extents[*vectorAxis].constant, 1)));
    // Several independent chains hide the latency of short ones; long ones overlap by themselves.
    bool several = cone.size <= 8 && (vectorCombined() || lanes > 1);
    unroll = several ? 4 : 1;
  }

  /// One element: a value. More: memory.
  void prepareResult(Operation *root) {
    Value result = root->getResult(0);
    bool single = isa<ReduceOp>(root) && llvm::all_of(t.axes.of(result), [&](Axis axis) {
                    return extents[axis].constant == 1;
                  });
    for (Axis axis : domain)
      single &= combined.contains(axis) || extents[axis].constant == 1;
    if (single)
      singles.insert(result);
    else if (!t.evaluator.memory.contains(result))
      t.allocate(result);
  }

  LogicalResult walkOuter(ArrayRef<Axis> outer, Point point) {
    if (outer.empty())
      return vectorAxis && !vectorCombined() ? walkVectors(point) : emitInner(point);
    Axis axis = outer.front();
    Extent extent = extents[axis];
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

  /// Chunks of an axis that is not combined: whole groups of vectors, whole vectors, and the rest.
  LogicalResult walkVectors(Point point) {
    Axis axis = *vectorAxis;
    Extent extent = extents[axis];
    if (unrolled) {
      int64_t tile = t.axes.extent(axis);
      for (int64_t i = 0; i < tile; i += lanes) {
        Point at = point;
        at.constants[axis] = i;
        bool partial = !extent.constant || i + lanes > *extent.constant;
        t.setLanes(at, axis, t.evaluator.constantIndex(i, loc), lanes, extent, partial, loc);
        if (failed(emitInner(at)))
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
          points.push_back(at);
        }
        if (failed(emitInner(points)))
          return failure();
        return Accumulators();
      };
    };
    Pieces pieces = split(extent);
    if (failed(t.emitLoop(0, pieces.groups, lanes * unroll, {}, loc, chunk(unroll, false))) ||
        failed(emitFrom(pieces.groups, pieces.vectors, lanes, {}, chunk(1, false))) ||
        failed(emitRest(pieces, {}, chunk(1, true))))
      return failure();
    return success();
  }

  /// Where whole groups of vectors, and whole vectors, of an axis end.
  struct Pieces {
    Extent groups, vectors, all;
  };
  Pieces split(Extent extent) {
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

  using Body = llvm::function_ref<FailureOr<Accumulators>(Value, Accumulators)>;

  /// A loop that begins where another ended.
  FailureOr<Accumulators> emitFrom(Extent low, Extent high, int64_t step, Accumulators accs, Body body) {
    if (low.constant && high.constant)
      return t.emitLoop(*low.constant, high, step, accs, loc, body);
    if (unroll == 1)
      return accs;
    Value length = arith::SubIOp::create(t.builder, loc, t.materialise(high, loc), t.materialise(low, loc));
    return t.emitLoop(0, {std::nullopt, length}, step, accs, loc, [&](Value i, Accumulators inner) {
      return body(t.evaluator.addIndex(i, t.materialise(low, loc), loc), inner);
    });
  }

  /// The last vector, of which some lanes do not exist.
  FailureOr<Accumulators> emitRest(const Pieces &pieces, Accumulators accs, Body body) {
    if (lanes == 1)
      return accs;
    if (pieces.all.constant) {
      if (*pieces.all.constant == *pieces.vectors.constant)
        return accs;
      return body(t.evaluator.constantIndex(*pieces.vectors.constant, loc), accs);
    }
    // At most one round of a loop: the structured way to say "if there is a rest".
    Value low = t.materialise(pieces.vectors, loc);
    auto loop = scf::ForOp::create(t.builder, loc, low, pieces.all.value, t.evaluator.constantIndex(lanes, loc), accs);
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

  LogicalResult emitInner(Point point) {
    SmallVector<Point> points = {point};
    return emitInner(points);
  }

  /// Loops over the combined axes for one or more points, then the results there.
  LogicalResult emitInner(SmallVectorImpl<Point> &points) {
    bool inVectors = !vectorCombined() && lanes > 1 && vectorAxis;
    // Partial results: by reduce, then by point or, where the vector axis is combined, by chain.
    int64_t chains = vectorCombined() ? unroll : points.size();
    Accumulators accs;
    for (ReduceOp reduce : reduces) {
      Type element = cast<RankedTensorType>(reduce.getType()).getElementType();
      bool vectors = inVectors || (vectorCombined() && lanes > 1);
      Value identity = identityOf(reduce.getKind(), element, vectors);
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
    for (auto [r, reduce] : llvm::enumerate(reduces))
      finish(reduce, ArrayRef(*results).slice(r * chains, chains), points);
    return success();
  }

  Value identityOf(Combine kind, Type element, bool vector) {
    TypedAttr identity = getIdentity(kind, element);
    if (vector)
      identity = DenseElementsAttr::get(VectorType::get(lanes, element), Attribute(identity));
    return arith::ConstantOp::create(t.builder, loc, identity);
  }

  FailureOr<Accumulators> walkCombined(ArrayRef<Axis> inner, ArrayRef<Point> points, Accumulators accs,
                                       int64_t chains) {
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
      if (!unrolled)
        return t.emitLoop(0, extents[axis], 1, accs, loc, body);
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
    Pieces pieces = split(extent);
    FailureOr<Accumulators> sums = t.emitLoop(0, pieces.groups, lanes * unroll, accs, loc, chunk(unroll, false));
    if (succeeded(sums))
      sums = emitFrom(pieces.groups, pieces.vectors, lanes, *sums, chunk(1, false));
    if (succeeded(sums))
      sums = emitRest(pieces, *sums, chunk(1, true));
    return sums;
  }

  /// What happens at the innermost place, at each of the points.
  FailureOr<Accumulators> emitBody(SmallVector<Point> points, Accumulators accs, int64_t chains) {
    size_t r = 0;
    for (Operation *root : roots) {
      for (auto [u, point] : llvm::enumerate(points)) {
        FailureOr<Value> value = t.evaluator.evaluate(domainOf(root), point);
        if (failed(value))
          return failure();
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
          acc = createCombine(t.builder, loc, reduce.getKind(), acc, x);
        } else {
          t.evaluator.storeToMemory(root->getResult(0), *value, point);
          point.memo[root->getResult(0)] = *value;
        }
      }
      r += isa<ReduceOp>(root);
    }
    return accs;
  }

  void finish(ReduceOp reduce, ArrayRef<Value> partial, SmallVectorImpl<Point> &points) {
    Value result = reduce.getResult();
    if (vectorCombined()) {
      SmallVector<Value> left(partial);
      while (left.size() > 1) {
        SmallVector<Value> next;
        for (size_t i = 0; i + 1 < left.size(); i += 2)
          next.push_back(createCombine(t.builder, loc, reduce.getKind(), left[i], left[i + 1]));
        if (left.size() % 2)
          next.push_back(left.back());
        left = next;
      }
      Value total = isa<VectorType>(left[0].getType()) ? acrossLanes(reduce.getKind(), left[0]) : left[0];
      write(result, total, points.front());
      return;
    }
    for (auto [value, point] : llvm::zip(partial, points))
      write(result, value, point);
  }

  void write(Value result, Value value, Point &point) {
    if (singles.contains(result))
      t.evaluator.scalars[result] = value;
    else
      t.evaluator.storeToMemory(result, value, point);
  }

  /// Combines the lanes of a vector by halves, so that every machine does it in the same order. The
  /// last two are scalars: as vectors of one lane, LLVM 22.1 takes the sum of products of bytes for
  /// one `vpdpbusd` and loses its last additions.
  Value acrossLanes(Combine kind, Value vector) {
    int64_t width = cast<VectorType>(vector.getType()).getNumElements();
    while (width > 2) {
      width /= 2;
      SmallVector<int64_t> low(width), high(width);
      std::iota(low.begin(), low.end(), 0);
      std::iota(high.begin(), high.end(), width);
      Value a = vector::ShuffleOp::create(t.builder, loc, vector, vector, low);
      Value b = vector::ShuffleOp::create(t.builder, loc, vector, vector, high);
      vector = createCombine(t.builder, loc, kind, a, b);
    }
    Value first = vector::ExtractOp::create(t.builder, loc, vector, int64_t(0));
    if (width == 1)
      return first;
    Value second = vector::ExtractOp::create(t.builder, loc, vector, int64_t(1));
    return createCombine(t.builder, loc, kind, first, second);
  }

  TileLowering &t;
  ArrayRef<Operation *> roots;
  Location loc;
  TileLowering::Cone cone;
  SmallVector<ReduceOp> reduces;
  llvm::SmallSetVector<Axis, 4> domain, combined;
  llvm::DenseMap<Axis, Extent> extents;
  llvm::DenseSet<Value> singles;
  std::optional<Axis> vectorAxis;
  int64_t lanes = 1, unroll = 1;
  /// Every position is a number: tiles in registers are read.
  bool unrolled = false;
};

} // namespace zyx::kernel

LogicalResult TileLowering::emitNest(ArrayRef<Operation *> roots) { return NestEmitter(*this, roots).emit(); }

/// Roots share a nest if they walk the same axes, combine along the same ones, and none waits for
/// another's result other than element by element.
bool TileLowering::joinsPending(Operation *root) {
  if (pending.empty() || isa<ScanOp, DotOp>(root) || isa<ScanOp, DotOp>(pending.back()))
    return false;
  auto walked = [&](Operation *op) {
    llvm::SmallSetVector<Axis, 4> set;
    for (Axis axis : axes.of(domainOf(op)))
      if (axes.extent(axis) != 1)
        set.insert(axis);
    SmallVector<Axis> sorted(set.begin(), set.end());
    llvm::sort(sorted);
    return sorted;
  };
  auto combinedBy = [&](Operation *op) {
    SmallVector<Axis> result;
    if (auto reduce = dyn_cast<ReduceOp>(op))
      for (int64_t dim : reduce.getDims())
        result.push_back(axes.of(reduce.getInput(), dim));
    llvm::sort(result);
    return result;
  };
  if (walked(root) != walked(pending.front()))
    return false;
  for (Operation *other : pending)
    if (isa<ReduceOp>(root) && isa<ReduceOp>(other) && combinedBy(root) != combinedBy(other))
      return false;
  SmallVector<Operation *> together(pending);
  together.push_back(root);
  Cone cone = coneOf(together);
  // Two tiles in registers may lie there in different vectors.
  if (llvm::count_if(cone.tiles, [&](Value tile) { return evaluator.registers.contains(tile); }) > 1)
    return false;
  for (Value result : cone.results) {
    Operation *def = result.getDefiningOp();
    if (llvm::is_contained(pending, def) && !isa<ConvertOp>(def))
      return false;
  }
  return true;
}

LogicalResult TileLowering::flush() {
  if (pending.empty())
    return success();
  SmallVector<Operation *> roots = std::move(pending);
  pending.clear();
  if (auto dot = dyn_cast<DotOp>(roots.front()))
    return emitDot(dot);
  if (auto scan = dyn_cast<ScanOp>(roots.front()))
    return emitScan(scan);
  return emitNest(roots);
}

/// A running combination: loops over the other axes around one over the scanned axis.
LogicalResult TileLowering::emitScan(ScanOp scan) {
  Location loc = scan.getLoc();
  Value result = scan.getResult();
  Type element = cast<RankedTensorType>(scan.getType()).getElementType();
  Axis scanned = axes.of(result, scan.getDim());
  SmallVector<Axis> outer;
  for (Axis axis : axes.of(result))
    if (axis != scanned)
      outer.push_back(axis);
  allocate(result);
  std::function<LogicalResult(ArrayRef<Axis>, Point)> walk = [&](ArrayRef<Axis> rest, Point point) -> LogicalResult {
    if (!rest.empty()) {
      FailureOr<Extent> extent = extentOf(rest.front(), loc);
      if (failed(extent))
        return failure();
      return emitLoop(0, *extent, 1, {}, loc, [&](Value i, Accumulators) -> FailureOr<Accumulators> {
        Point at = point;
        at.positions[rest.front()] = i;
        if (failed(walk(rest.drop_front(), at)))
          return failure();
        return Accumulators();
      });
    }
    FailureOr<Extent> extent = extentOf(scanned, loc);
    if (failed(extent))
      return failure();
    Value identity = arith::ConstantOp::create(builder, loc, getIdentity(scan.getKind(), element));
    return emitLoop(0, *extent, 1, {identity}, loc, [&](Value i, Accumulators accs) -> FailureOr<Accumulators> {
      Point at = point;
      at.positions[scanned] = i;
      FailureOr<Value> value = evaluator.evaluate(scan.getInput(), at);
      if (failed(value))
        return failure();
      Value next = createCombine(builder, loc, scan.getKind(), accs[0], *value);
      evaluator.storeToMemory(result, scan.getExclusive() ? accs[0] : next, at);
      return Accumulators{next};
    });
  };
  return walk(outer, Point());
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

LogicalResult TileLowering::lowerOp(Operation &op) {
  if (isTileRoot(&op)) {
    if (!joinsPending(&op))
      if (failed(flush()))
        return failure();
    pending.push_back(&op);
    return success();
  }
  bool makesTiles = llvm::any_of(op.getResults(), [](Value v) { return isTile(v); });
  if (isa<GridOp, scf::ForOp, scf::IfOp>(op)) {
    if (failed(flush()))
      return failure();
    if (makesTiles)
      return emitTileLoop(op);
    Operation *copy = builder.cloneWithoutRegions(op, evaluator.mapping);
    for (auto [from, to] : llvm::zip(op.getRegions(), copy->getRegions())) {
      if (from.empty())
        continue;
      Block &target = to.emplaceBlock();
      for (BlockArgument argument : from.getArguments())
        evaluator.mapping.map(argument, target.addArgument(argument.getType(), argument.getLoc()));
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(&target);
      Block *outerStart = programStart;
      if (isa<GridOp>(op))
        programStart = &target;
      if (failed(lower(from.front())))
        return failure();
      builder.clone(*from.front().getTerminator(), evaluator.mapping);
      programStart = outerStart;
    }
    return success();
  }
  if (makesTiles)
    return success(); // Evaluated where it is used.
  builder.clone(op, evaluator.mapping);
  return success();
}

LogicalResult TileLowering::lower(Block &block) {
  if (!programStart)
    programStart = builder.getInsertionBlock();
  for (Operation &op : block.without_terminator())
    if (failed(lowerOp(op)))
      return failure();
  return flush();
}
