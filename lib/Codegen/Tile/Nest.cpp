//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/Nest.h"

#include "zyx/Codegen/Tile/AccessForm.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace zyx::kernel;

bool zyx::kernel::comparesBits(ReduceOp reduce, const target::TargetInfo &machine) {
  Type element = getElementTypeOrSelf(reduce.getType());
  // Maxima of 16-bit integers are instructions of every processor with vectors, of 32-bit ones of threads and
  // where vectors have 256 bits, of 64-bit ones where they have 512. Floats of 16 bits would be converted for each.
  bool hasIntegers = ((element.isF16() || element.isBF16()) && machine.hasVectors() && !machine.hasSubgroups()) ||
                     (element.isF32() && (machine.accessBytes() >= 32 || machine.hasSubgroups())) ||
                     (element.isF64() && machine.accessBytes() >= 64);
  return !machine.arithmetic.hasMaximum && hasIntegers &&
         (reduce.getKind() == Combine::Max || reduce.getKind() == Combine::Min);
}

/// Whether vectors of a load along an axis have one element each, as scales of groups do, if they begin at multiples of
/// their length.
static bool readsOneForAll(LoadOp load, Axis axis, int64_t lanes, const Axes &axes) {
  auto view = load.getView().getDefiningOp<ViewOp>();
  const std::optional<AccessForm> form = view ? AccessForm::compute(view.getMap()) : std::nullopt;
  if (!form || !form->bounds.empty())
    return false;
  for (auto [dim, a] : llvm::enumerate(axes.of(load.getResult())))
    if (a == axis && form->dims[dim].size() > 1) {
      const AccessForm::Part &inner = form->parts[form->dims[dim].back()];
      return inner.stride == 0 && inner.extent % lanes == 0;
    }
  return false;
}

void Nest::addAxes() {
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
}

int64_t Nest::countContiguous(Axis axis, llvm::function_ref<bool(LoadOp, Axis)> comesNear) {
  int64_t count = 0;
  auto look = [&](Value tile, llvm::function_ref<std::optional<int64_t>(unsigned)> strideAt) {
    for (auto [dim, own] : llvm::enumerate(t.axes.of(tile)))
      if (own == axis) {
        const std::optional<int64_t> stride = strideAt(static_cast<unsigned>(dim));
        count += stride == 1 ? 1 : stride == 0 ? 0 : -1;
      }
  };
  auto lookAt = [&](Value tile, Value view) {
    look(tile, [&](unsigned dim) { return strideOf(t.evaluator.mapping.lookupOrDefault(view), dim); });
  };
  for (Operation *access : slice.accesses) {
    auto load = dyn_cast<LoadOp>(access);
    if (load && comesNear(load, axis))
      ++count;
    else if (load)
      lookAt(load.getResult(), load.getView());
    else if (auto store = dyn_cast<StoreOp>(access))
      lookAt(store.getValue(), store.getView());
  }
  for (Value tile : slice.tiles) {
    if (auto it = t.evaluator.memory.find(tile); it != t.evaluator.memory.end()) {
      const MemoryTile &memory = it->second;
      if (memory.strides.empty())
        lookAt(tile, memory.view);
      else
        look(tile, [&](unsigned dim) { return memory.strides[dim]; });
    } else if (Operation *op = tile.getDefiningOp();
               !t.evaluator.scalars.contains(tile) &&
               (!op || (llvm::is_contained(slice.results, tile) && !llvm::is_contained(roots, op)))) {
      // Who counts what will be allocated asks before it is.
      const ViewType type = t.memoryTypeOf(tile);
      look(tile, [&](unsigned dim) { return strideOfMemory(type, dim); });
    }
    // Rows whose number is data, along which threads read side by side, and a processor reads vectors.
    auto gather = tile.getDefiningOp<GatherOp>();
    if (!gather || !t.axes.contains(tile, axis))
      continue;
    int64_t along = -1;
    for (auto [dim, index] : llvm::enumerate(gather.getIndices()))
      if (IotaOp iota = countsAlongAxis(index); iota && t.axes.of(iota.getResult(), iota.getDim()) == axis)
        along = strideOf(t.evaluator.mapping.lookupOrDefault(gather.getView()), dim) == 1 ? 1 : -1;
    count += along;
  }
  return count;
}

std::optional<Axis> Nest::findVectorAxis(llvm::function_ref<bool(LoadOp, Axis)> comesNear) {
  std::optional<Axis> found;
  int64_t best = std::numeric_limits<int64_t>::min();
  for (Axis axis : domain) {
    if (extents[axis].constant == 1)
      continue;
    // Where it makes no other difference, whole lines are written.
    int64_t score = 2 * countContiguous(axis, comesNear);
    for (Operation *access : slice.accesses)
      if (auto store = dyn_cast<StoreOp>(access))
        for (auto [dim, own] : llvm::enumerate(t.axes.of(store.getValue())))
          score += own == axis && strideOf(t.evaluator.mapping.lookupOrDefault(store.getView()), dim) == 1;
    // Of a window a vector would be mostly empty, and its lanes would have to be added up for each result. A thread of
    // a card loses as much by two that are.
    if (t.threads == 1 && combined.contains(axis) && extents[axis].constant &&
        *extents[axis].constant < (t.machine.hasSubgroups() ? 2 : 1) * t.lanesFor(slice, axis))
      score = std::min<int64_t>(score, 0) - 1;
    if (score >= best) {
      best = score;
      found = axis;
    }
  }
  return found;
}

bool Nest::branches() {
  return slice.branches && llvm::any_of(slice.accesses, [&](Operation *access) {
           auto load = dyn_cast<LoadOp>(access);
           return load && isComplex(load.getView()) && !t.evaluator.readsNeighbours(load, *vectorAxis) &&
                  !readsOneForAll(load, *vectorAxis, lanes, t.axes);
         });
}

bool Nest::isShort(int64_t mostSteps) {
  int64_t steps = 1;
  for (Axis axis : combined)
    steps = std::min(steps, mostSteps + 1) * extents[axis].constant.value_or(mostSteps + 1);
  return !vectorCombined() && steps <= mostSteps;
}

Nest::Pieces Nest::split(Extent extent) {
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

FailureOr<Nest::Accumulators> Nest::emitFrom(Extent low, Extent high, int64_t step, Accumulators accs, Body body) {
  if (low.constant && high.constant)
    return t.emitLoop(*low.constant, high, step, accs, loc, body);
  if (unroll == 1)
    return accs;
  Value length = arith::SubIOp::create(t.builder, loc, t.materialise(high, loc), t.materialise(low, loc));
  return t.emitLoop(0, {std::nullopt, length}, step, accs, loc, [&](Value i, Accumulators inner) {
    return body(t.evaluator.addIndex(i, t.materialise(low, loc), loc), inner);
  });
}

FailureOr<Nest::Accumulators> Nest::emitFor(Value low, Value high, int64_t step, Accumulators accs, Body body) {
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

FailureOr<Nest::Accumulators> Nest::emitRest(const Pieces &pieces, Accumulators accs, Body body) {
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

int64_t Nest::stepsAtOnce() {
  const int64_t steps = !t.machine.hasSubgroups() || slice.branches || slice.size > 64 ? 1
                        : slice.size > 8                                               ? loadsAtOnce / 4
                                                                                       : loadsAtOnce;
  return steps * narrowing;
}

Type Nest::bitsOf(Type element) { return t.builder.getIntegerType(element.getIntOrFloatBitWidth()); }

Value Nest::identityOf(Combine kind, Type element, bool vector) {
  TypedAttr identity = getIdentity(kind, element);
  // A sum begins with +0, whatever its terms are: without one, or with -0 only, it is +0.
  if (kind == Combine::Add)
    identity = t.builder.getZeroAttr(element);
  if (vector)
    identity = DenseElementsAttr::get(VectorType::get(lanes, element), Attribute(identity));
  return arith::ConstantOp::create(t.builder, loc, identity);
}

void Nest::write(Value result, Value value, Point &point) {
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
