//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/TileContext.h"

#include "zyx/Codegen/Tile/AccessForm.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace zyx::kernel;

bool zyx::kernel::isTileRoot(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return isTile(store.getValue());
  if (auto convert = dyn_cast<ConvertOp>(op))
    return isa_and_nonnull<MemoryAttr>(cast<RankedTensorType>(convert.getType()).getEncoding());
  return isa<ReduceOp, DotOp>(op);
}

Value zyx::kernel::domainOf(Operation *root) { return root->getOperand(0); }

Value zyx::kernel::findOwnSum(Value carried, Value yielded) {
  auto read = yielded.getDefiningOp<ConvertOp>();
  auto kept = read ? read.getInput().getDefiningOp<ConvertOp>() : ConvertOp();
  auto sum = kept ? kept.getInput().getDefiningOp<arith::AddFOp>() : arith::AddFOp();
  const bool isAlone =
      sum && carried.hasOneUse() && *carried.user_begin() == sum && sum->hasOneUse() && kept->hasOneUse();
  return isAlone ? kept.getResult() : Value();
}

static int64_t bytesOf(Type type) {
  return std::max<int64_t>(type.isIndex() ? 8 : type.getIntOrFloatBitWidth() / 8, 1);
}

/// Instructions, roughly; functions become polynomials.
static unsigned sizeOf(Operation *op) {
  constexpr unsigned polynomial = 16;
  bool isFunction = isa<math::MathDialect>(op->getDialect()) &&
                    !isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::SqrtOp, math::FloorOp, math::CeilOp,
                         math::TruncOp, math::RoundEvenOp>(op);
  return isFunction ? polynomial : 1;
}

TileContext::ProducerSlice TileContext::sliceOf(ArrayRef<Operation *> roots) {
  ProducerSlice slice;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> work;
  for (Operation *root : roots) {
    if (isa<StoreOp>(root))
      slice.accesses.push_back(root);
    for (Value operand : root->getOperands())
      work.push_back(operand);
  }
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!isTile(value) || !seen.insert(value).second)
      continue;
    slice.tiles.push_back(value);
    if (auto it = evaluator.registers.find(value); it != evaluator.registers.end()) {
      slice.held = &it->second;
      continue;
    }
    if (evaluator.memory.contains(value) || evaluator.scalars.contains(value))
      continue;
    Operation *def = value.getDefiningOp();
    if (!def)
      continue;
    if (isTileRoot(def)) {
      slice.results.push_back(value);
      // A staged tile that joins a nest is evaluated there.
      if (!isa<ConvertOp>(def) || !llvm::is_contained(roots, def))
        continue;
    }
    if (isa<LoadOp>(def))
      slice.accesses.push_back(def);
    if (auto load = dyn_cast<LoadOp>(def))
      slice.branches |= isComplex(load.getView()) && !load.getView().getDefiningOp<ViewOp>().getMap().isSingleBlock();
    if (isElementwise(def))
      slice.size += sizeOf(def);
    // An index that counts along an axis is no vector of its own.
    for (Value operand : def->getOperands())
      if (!isa<GatherOp>(def) || !isTile(operand) || !countsAlongAxis(operand))
        work.push_back(operand);
  }
  return slice;
}

static bool isRepeatedIndex(Value tile) {
  return tile.getDefiningOp<BroadcastOp>() && llvm::all_of(tile.getUsers(), llvm::IsaPred<GatherOp>);
}

/// Of a GPU: how much wider than the elements that are read and written those may be in which a vector is computed.
static constexpr int64_t mostWidening = 4;

int64_t TileContext::lanesFor(const ProducerSlice &slice, Axis axis) {
  const int64_t lanes = wholeLanesFor(slice, axis);
  // Groups of threads that have rows in turns are as many as vectors of a row were counted.
  if (slice.held || threads == 1 || !machine.hasSubgroups() || !axes.isCombined(axis) || source.getRowGroups())
    return lanes;
  int64_t aligned = lanes;
  for (Operation *access : slice.accesses) {
    auto look = [&](auto op, Value tile) {
      auto view = op.getView().template getDefiningOp<ViewOp>();
      for (auto [dim, own] : llvm::enumerate(axes.of(tile)))
        if (view && own == axis)
          aligned = alignmentOfRows(view.getMap(), dim, aligned);
    };
    if (auto store = dyn_cast<StoreOp>(access))
      look(store, store.getValue());
    else if (auto load = dyn_cast<LoadOp>(access))
      look(load, load.getResult());
  }
  return aligned;
}

/// As many as the widest tile has that varies along the axis. The index of a gather that is repeated along it is one
/// number.
int64_t TileContext::wholeLanesFor(const ProducerSlice &slice, Axis axis) {
  if (slice.held)
    return slice.held->lanes;
  if (machine.accessBytes() == 0)
    return 1;
  int64_t widest = 1;
  for (Value tile : slice.tiles)
    if (axes.contains(tile, axis) && !isRepeatedIndex(tile))
      widest = std::max(widest, bytesOf(cast<RankedTensorType>(tile.getType()).getElementType()));
  const int64_t lanes = std::max<int64_t>(machine.accessBytes() / widest, 1);
  if (!machine.hasSubgroups())
    return lanes;
  // Registers are not whole vectors: what counts is the width of accesses.
  int64_t accessed = 0;
  auto look = [&](Value tile) {
    if (axes.contains(tile, axis))
      accessed = std::max(accessed, bytesOf(cast<RankedTensorType>(tile.getType()).getElementType()));
  };
  for (Operation *access : slice.accesses)
    look(isa<StoreOp>(access) ? cast<StoreOp>(access).getValue() : access->getResult(0));
  return accessed ? std::clamp<int64_t>(machine.accessBytes() / accessed, lanes, mostWidening * lanes) : lanes;
}

int64_t TileContext::mostLanesFor(const ProducerSlice &slice, Axis axis) {
  const bool isAccessed = llvm::any_of(slice.accesses, [&](Operation *access) {
    return axes.contains(isa<StoreOp>(access) ? cast<StoreOp>(access).getValue() : access->getResult(0), axis);
  });
  return lanesFor(slice, axis) * (isAccessed || !machine.hasSubgroups() ? 1 : mostWidening);
}

//===----------------------------------------------------------------------===//
// Extents, loops, memory
//===----------------------------------------------------------------------===//

FailureOr<AxisEnd> zyx::kernel::findEnd(FuncOp source, const Axes &axes, Axis axis) {
  const int64_t tile = axes.extent(axis);
  AxisEnd end;
  bool whole = false;
  LogicalResult same = success();
  auto look = [&](auto access, Value value) {
    for (auto [dim, a] : llvm::enumerate(axes.of(value))) {
      if (a != axis)
        continue;
      OpFoldResult base = getAsOpFoldResult(access.getIndices()[dim]);
      int64_t viewExtent = access.getView().getType().getDimSize(dim);
      std::optional<int64_t> constant = getConstantIntValue(base);
      bool inside =
          access.isInBounds(dim) || (constant && !ShapedType::isDynamic(viewExtent) && *constant + tile <= viewExtent);
      bool isStore = isa<StoreOp>(access.getOperation());
      if (inside) {
        whole |= isStore;
      } else if (end.isWhole()) {
        end = {access, base, viewExtent};
      } else if (base != end.base ||
                 (isStore || isa<LoadOp>(end.access) ? viewExtent != end.viewExtent : viewExtent < end.viewExtent)) {
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
  if (end.isWhole())
    return end;
  if (axes.isCombined(axis))
    return end.access->emitOpError("may leave its view along an axis that is combined, which would combine `other`");
  if (whole)
    return end.access->emitOpError("may leave its view where a store along the same axis does not");
  if (ShapedType::isDynamic(end.viewExtent))
    return end.access->emitOpError("may leave a view whose extent is not known");
  return end;
}

/// How far an axis goes here. A store that is not in bounds along it sticks out of its view in the
/// grid's last program; what sticks out is dropped, so no loop goes there, and loads need not either.
FailureOr<Extent> TileContext::extentOf(Axis axis, Location loc) {
  const int64_t tile = axes.extent(axis);
  FailureOr<AxisEnd> end = findEnd(source, axes, axis);
  if (failed(end))
    return failure();
  if (end->isWhole())
    return Extent{tile, {}};
  Value base = getValueOrCreateConstantIndexOp(builder, loc, end->base);
  Value left = arith::SubIOp::create(builder, loc, evaluator.constantIndex(end->viewExtent, loc),
                                     evaluator.mapping.lookupOrDefault(base));
  left = arith::MinSIOp::create(builder, loc, left, evaluator.constantIndex(tile, loc));
  Value toEnd;
  if (mayBeginBeyond(base)) {
    toEnd = left;
    left = arith::MaxSIOp::create(builder, loc, left, evaluator.constantIndex(0, loc));
  }
  int64_t last = 0;
  if (auto argument = dyn_cast_or_null<BlockArgument>(dyn_cast<Value>(end->base)))
    if (auto grid = dyn_cast<GridOp>(argument.getOwner()->getParentOp()))
      if (grid.getSteps()[argument.getArgNumber()] == tile)
        last = end->viewExtent % tile;
  return Extent{std::nullopt, left, last, toEnd};
}

Value TileContext::materialise(Extent extent, Location loc) {
  return extent.constant ? evaluator.constantIndex(*extent.constant, loc) : extent.value;
}

ViewType TileContext::memoryTypeOf(Value tile) const {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> shape(type.getShape());
  if (!shape.empty() && machine.accessBytes())
    shape.back() = llvm::alignTo(shape.back(), (machine.hasSubgroups() ? mostWidening : 1) * machine.accessBytes() /
                                                   bytesOf(type.getElementType()));
  // Who staged the tile has said where; what is not staged lies where it can.
  auto staged = dyn_cast_or_null<MemoryAttr>(type.getEncoding());
  const Space space = staged ? staged.getSpace() : threads > 1 ? Space::Shared : Space::Private;
  return ViewType::get(shape, type.getElementType(), space);
}

void TileContext::allocate(Value tile) {
  if (evaluator.memory.contains(tile))
    return;
  const ViewType type = memoryTypeOf(tile);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(programStart);
  sharesTiles |= type.getSpace() == Space::Shared;
  evaluator.memory[tile] = {AllocOp::create(builder, tile.getLoc(), type)};
}

Value TileContext::number(Value &known, IdKind kind) {
  if (!known) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(programStart);
    known = IdOp::create(builder, source.getLoc(), builder.getIndexType(), kind);
  }
  return known;
}

Value TileContext::threadInGroup() { return number(numbers.threadInGroup, IdKind::Thread); }
Value TileContext::groupInCluster() { return number(numbers.groupInCluster, IdKind::ClusterRank); }

Value TileContext::thread() {
  if (cluster == 1)
    return threadInGroup();
  if (!numbers.thread) {
    Value inGroup = threadInGroup(), group = groupInCluster();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(inGroup.getDefiningOp()->isBeforeInBlock(group.getDefiningOp())
                                       ? group.getDefiningOp()
                                       : inGroup.getDefiningOp());
    Location loc = source.getLoc();
    Value before = arith::MulIOp::create(builder, loc, group, evaluator.constantIndex(threads / cluster, loc));
    numbers.thread = arith::AddIOp::create(builder, loc, before, inGroup);
  }
  return numbers.thread;
}

void TileContext::barrier(Location loc) {
  if (threads > 1)
    BarrierOp::create(builder, loc, Scope::Workgroup, /*async=*/false);
}

FailureOr<TileContext::Accumulators>
TileContext::emitLoop(int64_t low, Extent high, int64_t step, Accumulators accs, Location loc,
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

void TileContext::setLanes(Point &point, Axis axis, Value position, int64_t lanes, Extent extent, bool partial,
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
    // A program that begins beyond the end reads the last element, too, which lies before it.
    Value toEnd = extent.toEnd ? arith::SubIOp::create(builder, loc, extent.toEnd, position) : left;
    point.lastLane = arith::SubIOp::create(builder, loc, toEnd, evaluator.constantIndex(1, loc));
    point.activeLanes = arith::MinSIOp::create(builder, loc, left, evaluator.constantIndex(lanes, loc));
    point.activeLanes = arith::MaxSIOp::create(builder, loc, point.activeLanes, evaluator.constantIndex(0, loc));
  }
  point.mask = vector::CreateMaskOp::create(builder, loc, VectorType::get(lanes, builder.getI1Type()),
                                            ValueRange(point.activeLanes));
}

std::optional<Axis> TileContext::contiguousAxis(Value tile, Axis a, Axis b) {
  int64_t scoreA = 0, scoreB = 0;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> work = {tile};
  auto look = [&](Value access, Value view) {
    // What lies along one of them alone, as scales of columns do, is read once for many elements.
    constexpr int64_t whole = 16;
    const int64_t weight = axes.contains(access, a) && axes.contains(access, b) ? whole : 1;
    for (auto [dim, axis] : llvm::enumerate(axes.of(access))) {
      std::optional<int64_t> stride = strideOf(view, dim);
      int64_t score = weight * (stride == 1 ? 1 : stride == 0 ? 0 : -1);
      scoreA += axis == a ? score : 0;
      scoreB += axis == b ? score : 0;
    }
  };
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!isTile(value) || !seen.insert(value).second || evaluator.scalars.contains(value))
      continue;
    if (auto it = evaluator.memory.find(value); it != evaluator.memory.end()) {
      look(value, it->second.view);
      continue;
    }
    if (auto load = value.getDefiningOp<LoadOp>())
      look(value, load.getView());
    else if (Operation *def = value.getDefiningOp())
      llvm::append_range(work, def->getOperands());
  }
  if (scoreA == scoreB)
    return std::nullopt;
  return scoreA > scoreB ? a : b;
}

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

Value zyx::kernel::widenFactor(OpBuilder &builder, Location loc, Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type to = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = vector.clone(element);
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(builder, loc, to, value);
  return arith::ExtSIOp::create(builder, loc, to, value);
}

LogicalResult TileContext::overBatches(DotOp dot, const Point &at,
                                       llvm::function_ref<LogicalResult(const Point &)> tile, unsigned dim) {
  const auto rank = static_cast<unsigned>(cast<RankedTensorType>(dot.getType()).getRank());
  if (dim + 2 == rank)
    return tile(at);
  Axis axis = axes.of(dot.getResult(), dim);
  FailureOr<Extent> extent = extentOf(axis, dot.getLoc());
  if (failed(extent))
    return failure();
  return emitLoop(0, *extent, 1, {}, dot.getLoc(), [&](Value i, Accumulators) -> FailureOr<Accumulators> {
    Point inner = at;
    inner.positions[axis] = i;
    if (failed(overBatches(dot, inner, tile, dim + 1)))
      return failure();
    return Accumulators();
  });
}

std::optional<SmallVector<StoreOp>> TileContext::findStores(DotOp dot) {
  llvm::SmallSetVector<Value, 8> values;
  llvm::SmallSetVector<Operation *, 4> stores;
  values.insert(dot.getResult());
  SmallVector<Axis> own = axes.of(dot.getResult());
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      if (user->getBlock() != dot->getBlock())
        return std::nullopt;
      if (!isTileRoot(user)) {
        values.insert(user->result_begin(), user->result_end());
        continue;
      }
      auto store = dyn_cast<StoreOp>(user);
      if (!store)
        return std::nullopt;
      for (Axis axis : axes.of(store.getValue()))
        if (!llvm::is_contained(own, axis) && axes.extent(axis) != 1)
          return std::nullopt;
      stores.insert(store);
    }
  SmallVector<Operation *> roots = stores.takeVector();
  ProducerSlice slice = sliceOf(roots);
  if (slice.held)
    return std::nullopt;
  // What stands in front of the dot has been computed, if it is not in memory.
  for (Value result : slice.results)
    if (Operation *def = result.getDefiningOp();
        def != dot && def->getBlock() == dot->getBlock() && !def->isBeforeInBlock(dot))
      return std::nullopt;
  return llvm::map_to_vector(roots, [](Operation *root) { return cast<StoreOp>(root); });
}

SmallVector<StoreOp> TileContext::takeStores(DotOp dot) {
  std::optional<SmallVector<StoreOp>> stores = findStores(dot);
  if (!stores)
    return {};
  // Indices of what follows the dot are needed now.
  for (Operation *op = dot->getNextNode(); op && !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode()) {
    auto touches = [](auto values) { return llvm::any_of(values, [](Value v) { return isTile(v); }); };
    if (done.contains(op) || op->getNumRegions() || !isPure(op) || touches(op->getOperands()) ||
        touches(op->getResults()))
      continue;
    builder.clone(*op, evaluator.mapping);
    done.insert(op);
  }
  return *stores;
}
