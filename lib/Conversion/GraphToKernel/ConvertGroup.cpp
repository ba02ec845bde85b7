//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Elements.h"
#include "ExternalKernel.h"
#include "GroupAxes.h"
#include "GroupKernel.h"
#include "LoopKernel.h"
#include "OrderKernels.h"
#include "SplitViews.h"

#include "zyx/Conversion/GraphToKernel/GraphToKernel.h"
#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"
#include "zyx/Dialect/Graph/Analysis/InsideGathers.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"

using namespace mlir;
using namespace zyx::graph::ir;
using namespace zyx::lowering;

namespace zyx {

namespace {

/// A value of the group as a tile of the axes along which it varies.
struct Tile {
  Value value;
  AxisList axes;
};

/// Tiles whose dimensions stand in one order.
struct Ordered {
  /// Place of each axis.
  SmallVector<unsigned> rank;
  DenseMap<Value, Tile> tiles;

  AxisList sort(AxisList axes) const {
    llvm::sort(axes, [&](unsigned a, unsigned b) { return rank[a] < rank[b]; });
    return axes;
  }
};

class Emitter {
public:
  Emitter(GroupOp group, const GroupAxes &axes, OpBuilder &builder) : group(group), axes(axes), builder(builder) {}

  ConvertedGroup emit(StringRef name);

private:
  RankedTensorType getTileType(ArrayRef<unsigned> tileAxes, Type element) const {
    SmallVector<int64_t> shape;
    for (unsigned axis : tileAxes)
      shape.push_back(axes.getAxis(axis).extent);
    return RankedTensorType::get(shape, element);
  }
  ArrayAttr getNames(ArrayRef<unsigned> tileAxes) {
    SmallVector<StringRef> names;
    for (unsigned axis : tileAxes) {
      names.push_back(axes.getAxis(axis).name);
      named.insert(axis);
    }
    return builder.getStrArrayAttr(names);
  }
  static Type getElement(Value value) { return toSignless(getElementTypeOrSelf(value.getType())); }

  Value createView(Location loc, Value buffer, kernel::MapAttr map, Type element);
  Tile get(Value value, Ordered &ordered, Location loc);
  Value getAs(Value value, ArrayRef<unsigned> tileAxes, Ordered &ordered, Location loc);
  Value transpose(Tile tile, ArrayRef<unsigned> to, Location loc);

  Tile emitOp(Operation *op, Ordered &ordered);
  Tile emitReduce(ReduceOp op, Ordered &ordered);
  Tile emitGather(GatherOp op, Ordered &ordered);
  Tile emitIota(Location loc, unsigned axis, Type element);
  Tile emitContraction(ReduceOp op, const ContractionAxes &contraction);
  Value getFactor(Value value, ArrayRef<unsigned> required, Location loc);
  void findUsed();
  void emitStore(Location loc, const Output &output, Value buffer);

  GroupOp group;
  const GroupAxes &axes;
  OpBuilder &builder;
  DenseMap<Value, Value> buffers;
  Value zero;
  Ordered main;
  /// Ops whose tiles are computed in the main order.
  DenseSet<Operation *> used;
  /// Axes that a load or an iota names.
  llvm::SmallDenseSet<unsigned> named;
  uint64_t flops = 0;
};

} // namespace

Value Emitter::createView(Location loc, Value buffer, kernel::MapAttr map, Type element) {
  SmallVector<int64_t> shape;
  for (AffineExpr extent : map.front().getShape())
    shape.push_back(*kernel::BlockAttr::constant(extent));
  auto type = kernel::ViewType::get(shape, element, kernel::Space::Global);
  return kernel::ViewOp::create(builder, loc, type, buffer, ValueRange(), map);
}

Value Emitter::transpose(Tile tile, ArrayRef<unsigned> to, Location loc) {
  if (ArrayRef<unsigned>(tile.axes) == to)
    return tile.value;
  SmallVector<int64_t> order;
  for (unsigned axis : to)
    order.push_back(llvm::find(tile.axes, axis) - tile.axes.begin());
  return kernel::TransposeOp::create(builder, loc, getTileType(to, getElement(tile.value)), tile.value,
                                     builder.getDenseI64ArrayAttr(order));
}

/// The tile of a value: of a leaf it is loaded at the first use.
Tile Emitter::get(Value value, Ordered &ordered, Location loc) {
  if (auto known = ordered.tiles.find(value); known != ordered.tiles.end())
    return known->second;
  Type element = getElement(value);
  Tile tile;
  if (TypedAttr splat = axes.getSplat(value)) {
    tile = {createSplat(builder, loc, getTileType({}, element), splat), {}};
  } else if (const Leaf *leaf = axes.getLeaf(value)) {
    tile.axes = ordered.sort(axes.getVarying(value));
    Value view = createView(loc, buffers.lookup(leaf->root), axes.getTileMap(leaf->map, value, tile.axes), element);
    SmallVector<Value> indices(tile.axes.size(), zero);
    // A load reads zero where nothing is said.
    Value other;
    if (leaf->fill && leaf->fill != builder.getZeroAttr(element))
      other = arith::ConstantOp::create(builder, loc, leaf->fill);
    tile.value = kernel::LoadOp::create(builder, loc, getTileType(tile.axes, element), view, indices, Value(), other,
                                        getNames(tile.axes),
                                        builder.getDenseBoolArrayAttr(SmallVector<bool>(tile.axes.size(), true)));
  } else {
    // Computed in the main order.
    tile = main.tiles.lookup(value);
    AxisList to = ordered.sort(tile.axes);
    tile = {transpose(tile, to, loc), to};
  }
  ordered.tiles[value] = tile;
  return tile;
}

/// The tile repeated along the axes that it lacks. `tileAxes` stand in the order of `ordered`.
Value Emitter::getAs(Value value, ArrayRef<unsigned> tileAxes, Ordered &ordered, Location loc) {
  RankedTensorType type = getTileType(tileAxes, getElement(value));
  if (TypedAttr splat = axes.getSplat(value))
    return createSplat(builder, loc, type, splat);
  Tile tile = get(value, ordered, loc);
  if (ArrayRef<unsigned>(tile.axes) == tileAxes)
    return tile.value;
  SmallVector<int64_t> dims;
  for (unsigned axis : tile.axes)
    dims.push_back(llvm::find(tileAxes, axis) - tileAxes.begin());
  return kernel::BroadcastOp::create(builder, loc, type, tile.value, builder.getDenseI64ArrayAttr(dims));
}

Tile Emitter::emitOp(Operation *op, Ordered &ordered) {
  Location loc = op->getLoc();
  if (isView(op))
    return get(op->getOperand(0), ordered, loc);
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (const ContractionAxes *contraction = axes.getContraction(op))
      return emitContraction(reduce, *contraction);
    return emitReduce(reduce, ordered);
  }
  if (auto gather = dyn_cast<GatherOp>(op))
    return emitGather(gather, ordered);
  if (auto iota = dyn_cast<IotaOp>(op)) {
    AxisList varying = axes.getVarying(iota.getResult());
    Type element = getElement(iota.getResult());
    if (varying.empty())
      return {createSplat(builder, loc, getTileType({}, element), builder.getIntegerAttr(element, 0)), {}};
    return emitIota(loc, varying.front(), element);
  }
  AxisList tileAxes = ordered.sort(axes.getVarying(op->getResult(0)));
  SmallVector<Value> tiles;
  for (Value operand : op->getOperands())
    tiles.push_back(getAs(operand, tileAxes, ordered, loc));
  flops += getTileType(tileAxes, builder.getF32Type()).getNumElements();
  return {createElementwise(builder, op, tiles), tileAxes};
}

Tile Emitter::emitReduce(ReduceOp op, Ordered &ordered) {
  Location loc = op.getLoc();
  AxisList reduced = axes.getAxesOf(op.getX(), op.getDims());
  AxisList all = axes.getVarying(op.getX());
  for (unsigned axis : reduced)
    if (!llvm::is_contained(all, axis))
      all.push_back(axis);
  all = ordered.sort(all);
  Value x = getAs(op.getX(), all, ordered, loc);
  flops += cast<RankedTensorType>(x.getType()).getNumElements();
  Type graphElement = getElementTypeOrSelf(op.getX().getType());
  kernel::Combine kind = getCombine(op.getKind(), graphElement);
  const bool isFloatSum = kind == kernel::Combine::Add && isa<FloatType>(graphElement);
  if (reduced.empty() && !isFloatSum)
    return {x, all};

  bool isWidened =
      (graphElement.isF16() || graphElement.isBF16()) && (kind == kernel::Combine::Add || kind == kernel::Combine::Mul);
  Type element = isWidened ? Type(builder.getF32Type()) : getElement(op.getX());
  if (isWidened)
    x = arith::ExtFOp::create(builder, loc, getTileType(all, element), x);
  SmallVector<int64_t> dims;
  AxisList kept;
  for (auto [i, axis] : llvm::enumerate(all)) {
    if (llvm::is_contained(reduced, axis))
      dims.push_back(i);
    else
      kept.push_back(axis);
  }
  // The sum of one element is what it is added to +0: -0 becomes +0.
  Value result;
  if (reduced.empty())
    result = arith::AddFOp::create(builder, loc, x,
                                   createSplat(builder, loc, getTileType(kept, element), builder.getZeroAttr(element)));
  else
    result = kernel::ReduceOp::create(builder, loc, getTileType(kept, element), kind, x, dims);
  if (isWidened)
    result = arith::TruncFOp::create(builder, loc, getTileType(kept, graphElement), result);
  return {result, kept};
}

Tile Emitter::emitIota(Location loc, unsigned axis, Type element) {
  Value tile = kernel::IotaOp::create(builder, loc, getTileType({axis}, element), Value(), builder.getI64IntegerAttr(0),
                                      getNames({axis}));
  return {tile, {axis}};
}

/// One index tile per dimension of the view: the data's along the gathered one, the tile's own along
/// the others.
Tile Emitter::emitGather(GatherOp op, Ordered &ordered) {
  Location loc = op.getLoc();
  AxisList all = ordered.sort(axes.getVarying(op.getResult()));
  Type i64 = builder.getI64Type(), element = getElement(op.getX());
  RankedTensorType type = getTileType(all, element);
  // u64 beyond the range of i64 turns negative, which is as far outside.
  int64_t extent = op.getX().getType().getDimSize(op.getDim());
  const Leaf *leaf = axes.getLeaf(op.getX());
  Type given = getElementTypeOrSelf(op.getIndices().getType());
  Value chosen;
  if (leaf && extent > 0 && op->hasAttr(insideAttrName) && !axes.getSplat(op.getIndices())) {
    // Lowerings see a bound, and emit no test. It stands before the index is repeated: an i64 of each element would
    // halve the vectors.
    const Tile tile = get(op.getIndices(), ordered, loc);
    Value index = createElementCast(builder, loc, tile.value, given, i64);
    Value last = createSplat(builder, loc, getTileType(tile.axes, i64), builder.getI64IntegerAttr(extent - 1));
    chosen = arith::MinUIOp::create(builder, loc, index, last);
    SmallVector<int64_t> dims;
    for (unsigned axis : tile.axes)
      dims.push_back(llvm::find(all, axis) - all.begin());
    if (ArrayRef<unsigned>(tile.axes) != ArrayRef<unsigned>(all))
      chosen = kernel::BroadcastOp::create(builder, loc, type.clone(i64), chosen, builder.getDenseI64ArrayAttr(dims));
  } else {
    chosen = createElementCast(builder, loc, getAs(op.getIndices(), all, ordered, loc), given, i64);
  }
  if (!leaf) {
    // Of an iota, or of what is the same for each index: nothing to read, but the range counts.
    Value inside;
    if (TypedAttr splat = axes.getSplat(op.getX()))
      inside = createSplat(builder, loc, type, splat);
    else if (auto iota = op.getX().getDefiningOp<IotaOp>(); iota && iota.getDim() == op.getDim())
      inside = createElementCast(builder, loc, chosen, i64, element);
    else
      inside = getAs(op.getX(), all, ordered, loc);
    Value limit = createSplat(builder, loc, type.clone(i64), builder.getI64IntegerAttr(extent));
    Value isInside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, chosen, limit);
    Value zeros = createSplat(builder, loc, type, builder.getZeroAttr(element));
    return {arith::SelectOp::create(builder, loc, isInside, inside, zeros), all};
  }

  // The view keeps the gathered dimension and those along which x varies.
  AxisList viewAxes = ordered.sort(axes.getGatherAxes(op));
  kernel::MapAttr map = axes.getGatherMap(leaf->map, op.getX(), op.getDim(), viewAxes);
  Value view = createView(loc, buffers.lookup(leaf->root), map, element);
  SmallVector<Value> indices = {chosen};
  for (unsigned axis : viewAxes) {
    Value own = emitIota(loc, axis, i64).value;
    if (all.size() != 1)
      own = kernel::BroadcastOp::create(builder, loc, type.clone(i64), own,
                                        builder.getDenseI64ArrayAttr({llvm::find(all, axis) - all.begin()}));
    indices.push_back(own);
  }
  return {kernel::GatherOp::create(builder, loc, type, view, indices), all};
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// Reductions and exponentials are computed once.
static bool hasFixedOrder(Operation *op) {
  auto unary = dyn_cast_or_null<UnaryOp>(op);
  return !op || isa<ReduceOp>(op) || (unary && unary.getKind() == UnaryKind::Exp);
}

/// The factor with its dimensions as the dot wants them. What is not in that order is computed in
/// it, from loads that step through memory so; only what is computed once is transposed.
Value Emitter::getFactor(Value value, ArrayRef<unsigned> required, Location loc) {
  if (ArrayRef<unsigned>(main.sort(AxisList(required))) == required)
    return getAs(value, required, main, loc);

  Ordered ordered;
  ordered.rank.assign(axes.getNumAxes(), axes.getNumAxes());
  for (auto [i, axis] : llvm::enumerate(required))
    ordered.rank[axis] = i;
  // The ops between the leaves and the factor, in their order.
  llvm::SetVector<Operation *> slice;
  SmallVector<Value> work = {value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (axes.getLeaf(next) || axes.getSplat(next) || hasFixedOrder(op) || !slice.insert(op))
      continue;
    llvm::append_range(work, op->getOperands());
  }
  SmallVector<Operation *> ops = slice.takeVector();
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ops)
    ordered.tiles[op->getResult(0)] = emitOp(op, ordered);
  return getAs(value, required, ordered, loc);
}

Tile Emitter::emitContraction(ReduceOp op, const ContractionAxes &dot) {
  Location loc = op.getLoc();
  auto with = [&](unsigned a, unsigned b) {
    AxisList list = dot.batch;
    list.append({a, b});
    return list;
  };
  AxisList resultAxes = with(dot.m, dot.n);
  Value lhs = getFactor(dot.lhs, with(dot.m, dot.k), loc);
  Value rhs = getFactor(dot.rhs, with(dot.k, dot.n), loc);
  RankedTensorType type = getTileType(resultAxes, getElement(op.getResult()));
  Value acc = createSplat(builder, loc, type, builder.getZeroAttr(type.getElementType()));
  Value result = kernel::DotOp::create(builder, loc, type, lhs, rhs, acc);
  flops += 2 * static_cast<uint64_t>(type.getNumElements()) * axes.getAxis(dot.k).extent;
  AxisList sorted = main.sort(resultAxes);
  return {transpose({result, resultAxes}, sorted, loc), sorted};
}

/// Marks what is computed in the main order: not what only factors in another order need.
void Emitter::findUsed() {
  SmallVector<Value> work;
  for (const Output &output : axes.getOutputs())
    work.push_back(output.value);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !axes.isNeeded(op) || !used.insert(op).second)
      continue;
    const ContractionAxes *dot = axes.getContraction(op);
    if (!dot) {
      llvm::append_range(work, op->getOperands());
      continue;
    }
    auto addFactor = [&](Value factor, unsigned a, unsigned b) {
      AxisList required = dot->batch;
      required.append({a, b});
      if (main.sort(required) == required) {
        work.push_back(factor);
        return;
      }
      SmallVector<Value> inner = {factor};
      DenseSet<Value> seen;
      while (!inner.empty()) {
        Value next = inner.pop_back_val();
        if (!seen.insert(next).second)
          continue;
        Operation *producer = next.getDefiningOp();
        if (axes.getLeaf(next) || axes.getSplat(next))
          continue;
        if (hasFixedOrder(producer))
          work.push_back(next);
        else
          llvm::append_range(inner, producer->getOperands());
      }
    };
    addFactor(dot->lhs, dot->m, dot->k);
    addFactor(dot->rhs, dot->k, dot->n);
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void Emitter::emitStore(Location loc, const Output &output, Value buffer) {
  AxisList all = main.sort(axes.getAll(output.value));
  Value tile = getAs(output.value, all, main, loc);
  Value view = createView(loc, buffer, axes.getTileMap(output.map, output.value, all), getElement(output.value));
  SmallVector<Value> indices(all.size(), zero);
  auto store = kernel::StoreOp::create(builder, loc, tile, view, indices, Value(),
                                       builder.getDenseBoolArrayAttr(SmallVector<bool>(all.size(), true)));
  // Nothing that is read varies along the others.
  if (!llvm::all_of(all, [&](unsigned axis) { return named.contains(axis); }))
    store.setAxesAttr(getNames(all));
}

ConvertedGroup Emitter::emit(StringRef name) {
  Location loc = group.getLoc();
  Block &block = group.getBlock();
  ConvertedGroup result;
  OpBuilder::InsertionGuard guard(builder);
  GroupKernel opened = openKernel(group, axes.getConstants(), name, builder, result);
  buffers = std::move(opened.buffers);
  zero = arith::ConstantIndexOp::create(builder, loc, 0);
  llvm::append_range(main.rank, llvm::seq<unsigned>(0, axes.getNumAxes()));

  findUsed();
  for (Operation &op : block.without_terminator())
    if (used.contains(&op))
      main.tiles[op.getResult(0)] = emitOp(&op, main);
  for (auto [output, buffer] : llvm::zip_equal(axes.getOutputs(), opened.outputs))
    if (!llvm::is_contained(cast<RankedTensorType>(output.value.getType()).getShape(), 0))
      emitStore(block.getTerminator()->getLoc(), output, buffer);
  kernel::ReturnOp::create(builder, loc);
  result.flops = flops;
  return result;
}

/// What a group touches of its buffers, where it reads some of them at places that are data.
static uint64_t countBytes(GroupOp group) {
  // What a view of a group shows may be more than any memory has.
  auto bytesOf = [](Value value) {
    const Result<int64_t> bytes = byteSize(*toPlainType(value.getType()));
    return static_cast<uint64_t>(bytes ? *bytes : maxTensorBytes);
  };
  uint64_t bytes = 0;
  bool isLess = false;
  for (Value argument : group.getBlock().getArguments()) {
    uint64_t gathered = 0;
    bool isGathered = true;
    SmallVector<Value> work{argument};
    while (!work.empty())
      for (OpOperand &use : work.pop_back_val().getUses())
        if (auto gather = dyn_cast<GatherOp>(use.getOwner()); gather && use.getOperandNumber() == 0)
          gathered += bytesOf(gather.getResult());
        else if (isView(use.getOwner()) && use.getOperandNumber() == 0)
          work.push_back(use.getOwner()->getResult(0));
        else
          isGathered = false;
    const uint64_t all = bytesOf(argument);
    isGathered &= gathered < all;
    isLess |= isGathered;
    bytes += isGathered ? gathered : all;
  }
  for (Value result : group.getResults())
    bytes += bytesOf(result);
  return isLess ? std::max<uint64_t>(bytes, 1) : 0;
}

FailureOr<ConvertedGroup> convertGroup(GroupOp group, StringRef name, OpBuilder &builder, const Workgroups &machine,
                                       bool isUpdate) {
  if (group->hasAttr(elementsAttrName))
    return convertElementsGroup(group, name, builder, machine);
  if (ExternalOp external = findExternal(group))
    return convertExternalGroup(group, external, name, builder);
  if (LoopOp loop = findLoop(group))
    return convertLoopGroup(group, loop, name, builder, machine);
  if (Operation *op = findOrderOp(group))
    return convertOrderGroup(group, op, name, builder, machine, isUpdate);
  OwningOpRef<GroupOp> copy;
  kernel::Refusal refusal;
  std::unique_ptr<GroupAxes> axes = analyseGroup(
      group, copy, refusal, machine.threads == 0 ? machine.vectorBytes / 4 : 0, machine.tapSums, machine.copiesWindows);
  if (!axes) {
    refusal.emit();
    return failure();
  }
  ConvertedGroup converted = Emitter(copy ? *copy : group, *axes, builder).emit(name);
  converted.bytes = countBytes(group);
  return converted;
}

} // namespace zyx
