//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/TileEvaluator.h"

#include "SharedDivisor.h"

#include "zyx/Base/Assert.h"
#include "zyx/Codegen/Tile/LaneAccess.h"
#include "zyx/Codegen/Tile/Lanes.h"
#include "zyx/Codegen/Tile/NearForm.h"
#include "zyx/Dialect/Kernel/IR/Divisor.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

bool zyx::kernel::isComplex(Value view) {
  auto op = view.getDefiningOp<ViewOp>();
  return op && !op.getMap().isOneWholeBlock();
}

std::optional<int64_t> zyx::kernel::strideOf(Value view, unsigned dim) {
  if (auto op = view.getDefiningOp<ViewOp>()) {
    if (!isComplex(view))
      return BlockAttr::constant(op.getMap().front().getStrides()[dim]);
    if (op.getMap().getNumSymbols() != 0)
      return std::nullopt;
    LaneStride lanes = laneStride(op.getMap(), dim, /*lanes=*/2);
    return lanes.run == LaneRun::Seldom ? std::nullopt : std::optional(lanes.step);
  }
  return strideOfMemory(cast<ViewType>(view.getType()), dim);
}

int64_t zyx::kernel::strideOfMemory(ViewType type, unsigned dim) {
  int64_t stride = 1;
  for (int64_t extent : type.getShape().drop_front(dim + 1))
    stride *= extent;
  return stride;
}

Value TileEvaluator::constantIndex(int64_t value, Location loc) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value TileEvaluator::addIndex(Value a, Value b, Location loc) {
  if (matchPattern(a, m_Zero()))
    return b;
  if (matchPattern(b, m_Zero()))
    return a;
  return arith::AddIOp::create(builder, loc, a, b);
}

Value TileEvaluator::position(Point &point, Axis axis, Location loc) {
  if (auto it = point.positions.find(axis); it != point.positions.end())
    return it->second;
  return constantIndex(0, loc);
}

Value TileEvaluator::broadcast(Value value, Point &point) {
  if (point.lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(builder, value.getLoc(), VectorType::get(point.lanes, value.getType()), value);
}

FailureOr<Value> TileEvaluator::evaluateVector(Value tile, Point &point) {
  FailureOr<Value> value = evaluate(tile, point);
  if (failed(value))
    return failure();
  return broadcast(*value, point);
}

FailureOr<Value> TileEvaluator::evaluate(Value tile, Point &point) {
  if (!isTile(tile))
    return mapping.lookupOrDefault(tile);
  if (auto it = point.memo.find(tile); it != point.memo.end())
    return it->second;
  if (auto it = scalars.find(tile); it != scalars.end())
    return it->second;

  FailureOr<Value> result = failure();
  Operation *op = tile.getDefiningOp();
  ZYX_ASSERT(op || memory.contains(tile), "a tile that a loop carries is in memory");
  if (memory.contains(tile)) {
    result = evaluateMemory(tile, point);
  } else if (auto it = registers.find(tile); it != registers.end()) {
    RegisterTile &held = it->second;
    auto row = point.constants.find(held.rowAxis), column = point.constants.find(held.vectorAxis);
    int64_t r = row == point.constants.end() ? 0 : row->second;
    int64_t c = column == point.constants.end() ? 0 : column->second;
    result = held.vectors[r][c / held.lanes];
  } else if (auto load = dyn_cast<LoadOp>(op)) {
    result = evaluateOwnLoad(load, point);
  } else if (auto gather = dyn_cast<GatherOp>(op)) {
    result = evaluateGather(gather, point);
  } else if (auto iota = dyn_cast<IotaOp>(op)) {
    result = evaluateIota(iota, point);
  } else if (auto splat = dyn_cast<SplatOp>(op)) {
    result = mapping.lookupOrDefault(splat.getValue());
  } else if (isa<BroadcastOp, TransposeOp, ReshapeOp, ConvertOp>(op)) {
    // The same element under other names of its dimensions; axes have found them already.
    result = evaluate(op->getOperand(0), point);
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense || !dense.isSplat())
      return op->emitOpError("holds different elements; tiles of constants are passed as buffers"), failure();
    result =
        arith::ConstantOp::create(builder, op->getLoc(), cast<TypedAttr>(dense.getSplatValue<Attribute>())).getResult();
  } else if (isElementwise(op)) {
    SmallVector<Value, 3> operands;
    bool vectors = false;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> value = evaluate(operand, point);
      if (failed(value))
        return failure();
      vectors |= isa<VectorType>(value->getType());
      operands.push_back(*value);
    }
    if (vectors && isa<arith::DivFOp>(op) && !isa<VectorType>(operands[1].getType()) &&
        sharesDivisor(operands[1], hasFma))
      return point.memo[tile] = divideByShared(builder, op->getLoc(), operands[0], operands[1], hasSubgroups);
    IRMapping operandMap;
    for (auto [from, to] : llvm::zip(op->getOperands(), operands))
      operandMap.map(from, vectors ? broadcast(to, point) : to);
    if (vectors && point.mask && isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
      // Lanes that do not exist may hold zero, and a division by it stops the program.
      Value divisor = operandMap.lookup(op->getOperand(1));
      auto type = cast<VectorType>(divisor.getType());
      Value one = arith::ConstantOp::create(
          builder, op->getLoc(),
          DenseElementsAttr::get(type, Attribute(builder.getIntegerAttr(type.getElementType(), 1))));
      divisor = arith::SelectOp::create(builder, op->getLoc(), point.mask, divisor, one);
      operandMap.map(op->getOperand(1), divisor);
    }
    Operation *clone = builder.clone(*op, operandMap);
    Type element = cast<RankedTensorType>(tile.getType()).getElementType();
    clone->getResult(0).setType(vectors ? VectorType::get(point.lanes, element) : element);
    result = clone->getResult(0);
  } else {
    return op->emitOpError("cannot be evaluated element by element"), failure();
  }
  if (succeeded(result))
    point.memo[tile] = *result;
  return result;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

FailureOr<Value> TileEvaluator::evaluateOwnLoad(LoadOp load, Point &point) {
  // A step is a place along one axis: what has others, too, is another part in each of its rows.
  const bool hasRows = llvm::any_of(axes.of(load.getResult()),
                                    [&](Axis axis) { return axis != point.vectorAxis && axes.extent(axis) != 1; });
  if (!point.step || !point.vectorAxis || hasRows || !axes.contains(load.getResult(), *point.vectorAxis))
    return evaluateLoad(load, point);
  OwnPart &part = ownParts[{load.getResult(), *point.step}];
  if (part.value && part.lanes == point.lanes && part.value.getParentBlock() == builder.getInsertionBlock())
    return part.value;
  FailureOr<Value> value = evaluateLoad(load, point);
  if (succeeded(value))
    ownParts[{load.getResult(), *point.step}] = {*value, point.lanes};
  return value;
}

Value TileEvaluator::permutedView(Value view, unsigned innermost) {
  auto op = view.getDefiningOp<ViewOp>();
  unsigned rank = op.getType().getRank();
  if (innermost + 1 == rank)
    return view;
  Value &known = permuted[{view, innermost}];
  if (known)
    return known;
  auto rotate = [&](auto list) {
    SmallVector<std::decay_t<decltype(list[0])>> result(list.begin(), list.end());
    std::rotate(result.begin() + innermost, result.begin() + innermost + 1, result.end());
    return result;
  };
  BlockAttr block = op.getMap().front();
  auto rotated = BlockAttr::get(view.getContext(), rotate(block.getShape()), rotate(block.getStrides()),
                                block.getOffset(), {}, {});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(op);
  ViewType type = op.getType();
  known = ViewOp::create(builder, op.getLoc(),
                         ViewType::get(rotate(type.getShape()), type.getElementType(), type.getSpace()), op.getBuffer(),
                         op.getSymbols(), MapAttr::get(view.getContext(), rotated));
  return known;
}

/// A vector whose lanes are read one by one, each at a position that exists.
Value TileEvaluator::loadLanes(Point &point, Type elementType, Location loc,
                               llvm::function_ref<Value(Value lane)> load) {
  SmallVector<Value> elements;
  // Lanes that do not exist read what the last one that does reads, in an earlier vector if need be.
  Value last = point.lastLane;
  for (int64_t lane = 0; lane < point.lanes; ++lane) {
    Value index = constantIndex(lane, loc);
    if (last)
      index = arith::MinSIOp::create(builder, loc, index, last);
    elements.push_back(load(index));
  }
  return vector::FromElementsOp::create(builder, loc, VectorType::get(point.lanes, elementType), elements);
}

Value TileEvaluator::loadAt(Value view, ArrayRef<Value> indices, Value other, std::optional<unsigned> vectorDim,
                            Point &point, Location loc) {
  auto type = cast<ViewType>(view.getType());
  if (isComplex(view)) {
    if (!vectorDim)
      return loadThroughMap(view.getDefiningOp<ViewOp>(), indices, other, loc);
    const bool sums = sumsByDimension && hasSubgroups && !point.mask && hasNarrowForm(view.getDefiningOp<ViewOp>());
    if (Value read = loadThroughForm(view.getDefiningOp<ViewOp>(), indices, other, *vectorDim, point, loc))
      return read;
    if (sums && contiguityAlong(view.getDefiningOp<ViewOp>(), *vectorDim) % point.lanes == 0 &&
        knownDivisor(indices[*vectorDim]) % point.lanes == 0)
      if (Value read = loadElementThroughForm(view.getDefiningOp<ViewOp>(), indices, other, loc, point.lanes))
        return read;
    if (Value read = loadInterleaved(view.getDefiningOp<ViewOp>(), indices, *vectorDim, point, loc))
      return read;
    // One by one, what the other dimensions add is the same for all of them.
    if (sums)
      return loadLanes(point, type.getElementType(), loc, [&](Value lane) {
        SmallVector<Value> at(indices);
        at[*vectorDim] = addIndex(at[*vectorDim], lane, loc);
        return loadElementThroughForm(view.getDefiningOp<ViewOp>(), at, other, loc);
      });
    SmallVector<LaneIndex> lanes;
    for (auto [dim, index] : llvm::enumerate(indices))
      lanes.push_back({index, dim == *vectorDim ? 1 : 0, {}});
    return LaneLoader(builder, loc, point.lanes, hasSubgroups ? WholeVectors::Branch : WholeVectors::Masked)
        .load(view.getDefiningOp<ViewOp>(), lanes, {{}, point.mask}, other);
  }
  auto scalarAt = [&](ArrayRef<Value> at) -> Value {
    return LoadOp::create(builder, loc, type.getElementType(), view, at, Value(), Value(), ArrayAttr(),
                          DenseBoolArrayAttr());
  };
  if (!vectorDim)
    return scalarAt(indices);
  std::optional<int64_t> stride = strideOf(view, *vectorDim);
  if (stride == 0)
    return scalarAt(indices);
  bool innermost = *vectorDim + 1 == type.getRank();
  if (stride == 1 && (innermost || view.getDefiningOp<ViewOp>())) {
    SmallVector<Value> at(indices);
    std::rotate(at.begin() + *vectorDim, at.begin() + *vectorDim + 1, at.end());
    Value rotated = innermost ? view : permutedView(view, *vectorDim);
    return LoadOp::create(builder, loc, VectorType::get(point.lanes, type.getElementType()), rotated, at, point.mask,
                          Value(), ArrayAttr(), DenseBoolArrayAttr());
  }
  return loadLanes(point, type.getElementType(), loc, [&](Value lane) {
    SmallVector<Value> at(indices);
    at[*vectorDim] = addIndex(at[*vectorDim], lane, loc);
    return scalarAt(at);
  });
}

/// Refuses what loadThroughMap cannot compute.
static LogicalResult checkMap(Operation *op, Value view) {
  auto viewOp = view.getDefiningOp<ViewOp>();
  if (viewOp && isComplex(view) && viewOp.getMap().getNumSymbols() != 0)
    return op->emitOpError("reads through several blocks or a valid interval whose numbers are not known");
  return success();
}

FailureOr<Value> TileEvaluator::evaluateLoad(LoadOp load, Point &point) {
  if (failed(checkMap(load, load.getView())))
    return failure();
  if (Value shared = loadOfWindow(load, point))
    return shared;
  Location loc = load.getLoc();
  SmallVector<Value> indices;
  std::optional<unsigned> vectorDim;
  for (auto [dim, axis] : llvm::enumerate(axes.of(load.getResult()))) {
    Value base = mapping.lookupOrDefault(load.getIndices()[dim]);
    indices.push_back(addIndex(base, position(point, axis, loc), loc));
    if (point.vectorAxis == axis && point.lanes > 1)
      vectorDim = dim;
  }
  Value other = load.getOther() ? mapping.lookupOrDefault(load.getOther()) : Value();
  Value read = loadAt(mapping.lookupOrDefault(load.getView()), indices, other, vectorDim, point, loc);
  if (auto whole = read.getDefiningOp<LoadOp>())
    whole.setStream(load.getStream());
  return read;
}

Value TileEvaluator::placeOf(const MemoryTile &tile, ArrayRef<Value> indices, Location loc) {
  Value place = constantIndex(0, loc);
  for (auto [index, stride] : llvm::zip_equal(indices, tile.strides))
    if (stride != 0) {
      Value step = builder.createOrFold<arith::MulIOp>(loc, index, constantIndex(stride, loc));
      place = builder.createOrFold<arith::AddIOp>(loc, place, step);
    }
  return place;
}

/// Whether lanes that do not exist are memory of the tile all the same. Its rows are whole vectors: that is so of a
/// vector that begins at a multiple of its length. One that begins elsewhere, as behind a piece of a contraction that
/// is no whole number of vectors, may end behind the last row.
static bool isWholeVector(Value first, const Point &point) {
  return !point.mask || knownDivisor(first) % point.lanes == 0;
}

Value TileEvaluator::evaluateStrided(const MemoryTile &tile, ArrayRef<Value> indices, std::optional<unsigned> vectorDim,
                                     Point &point, Location loc) {
  Type element = cast<ViewType>(tile.view.getType()).getElementType();
  Value place = placeOf(tile, indices, loc);
  auto read = [&](Type type, Value at) -> Value {
    return LoadOp::create(builder, loc, type, tile.view, at, Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
  };
  const int64_t stride = vectorDim ? tile.strides[*vectorDim] : 0;
  if (stride == 0)
    return read(element, place);
  auto vector = VectorType::get(point.lanes, element);
  if (stride == 1 && (tile.hasRoom || isWholeVector(indices[*vectorDim], point)))
    return read(vector, place);
  if (tile.hasRoom && stride > 1 && stride <= mostRunStep) {
    Value chosen = read(vector, place);
    for (int64_t piece = 1; piece * point.lanes <= (point.lanes - 1) * stride; ++piece) {
      Value next = read(vector, addIndex(place, constantIndex(piece * point.lanes, loc), loc));
      chosen = chooseLanes(builder, loc, chosen, next, piece, stride);
    }
    return chosen;
  }
  return loadLanes(point, element, loc, [&](Value lane) {
    Value step = builder.createOrFold<arith::MulIOp>(loc, lane, constantIndex(stride, loc));
    return read(element, addIndex(place, step, loc));
  });
}

Value TileEvaluator::evaluateMemory(Value tile, Point &point) {
  Location loc = tile.getLoc();
  SmallVector<Value> indices;
  std::optional<unsigned> vectorDim;
  for (auto [dim, axis] : llvm::enumerate(axes.of(tile))) {
    indices.push_back(position(point, axis, loc));
    if (point.vectorAxis == axis && point.lanes > 1)
      vectorDim = dim;
  }
  if (!memory[tile].strides.empty())
    return evaluateStrided(memory[tile], indices, vectorDim, point, loc);
  Value view = memory[tile].view;
  if (vectorDim && *vectorDim + 1 == indices.size() && isWholeVector(indices.back(), point))
    return LoadOp::create(builder, loc, VectorType::get(point.lanes, cast<ViewType>(view.getType()).getElementType()),
                          view, indices, Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
  return loadAt(view, indices, Value(), vectorDim, point, loc);
}

/// An element found through several blocks, or one that may not exist: `other` or zero then.
Value TileEvaluator::loadThroughMap(ViewOp view, ArrayRef<Value> indices, Value other, Location loc) {
  if (sumsByDimension || !hasSubgroups)
    if (Value read = loadElementThroughForm(view, indices, other, loc))
      return read;
  auto expression = [&](AffineExpr expr) -> Value { return constantIndex(*BlockAttr::constant(expr), loc); };
  SmallVector<Value> at(indices);
  Value exists, linear;
  ArrayRef<BlockAttr> blocks = view.getMap().getBlocks();
  for (auto [b, block] : llvm::enumerate(blocks)) {
    if (b > 0) {
      // The previous block's number, split into row-major indices of this one.
      at.assign(block.getRank(), Value());
      for (unsigned d = block.getRank(); d-- > 0;) {
        if (d == 0) {
          at[d] = linear;
          break;
        }
        Value extent = expression(block.getShape()[d]);
        at[d] = arith::RemUIOp::create(builder, loc, linear, extent);
        linear = arith::DivUIOp::create(builder, loc, linear, extent);
      }
    }
    for (unsigned d = 0; block.hasValid() && d < block.getRank(); ++d) {
      auto test = [&](arith::CmpIPredicate predicate, AffineExpr bound) {
        Value ok = arith::CmpIOp::create(builder, loc, predicate, at[d], expression(bound));
        exists = exists ? arith::AndIOp::create(builder, loc, exists, ok).getResult() : ok;
      };
      test(arith::CmpIPredicate::sge, block.getValidLow()[d]);
      test(arith::CmpIPredicate::slt, block.getValidHigh()[d]);
    }
    linear = expression(block.getOffset());
    for (unsigned d = 0; d < block.getRank(); ++d)
      linear = addIndex(linear, arith::MulIOp::create(builder, loc, at[d], expression(block.getStrides()[d])), loc);
  }
  Type element = view.getType().getElementType();
  if (!other)
    other = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  Value row = viewAsRow(builder, view);
  auto read = [&](OpBuilder &b) -> Value {
    return LoadOp::create(b, loc, element, row, linear, Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
  };
  if (!exists)
    return read(builder);
  auto branch = scf::IfOp::create(builder, loc, TypeRange(element), exists, /*withElseRegion=*/true);
  OpBuilder then = branch.getThenBodyBuilder();
  scf::YieldOp::create(then, loc, read(then));
  OpBuilder otherwise = branch.getElseBodyBuilder();
  scf::YieldOp::create(otherwise, loc, other);
  return branch.getResult(0);
}

/// Whether a tile of indices is at most a number below `extent`, by the op that makes it. The tile tells it even where
/// its elements are kept in memory.
static bool isBelow(Value tile, int64_t extent) {
  while (isa_and_nonnull<BroadcastOp, TransposeOp, ReshapeOp>(tile.getDefiningOp()))
    tile = tile.getDefiningOp()->getOperand(0);
  auto least = tile.getDefiningOp<arith::MinUIOp>();
  APInt limit;
  return least && extent > 0 &&
         (matchPattern(least.getRhs(), m_ConstantInt(&limit)) || matchPattern(least.getLhs(), m_ConstantInt(&limit))) &&
         limit.ult(static_cast<uint64_t>(extent));
}

/// Whether all numbers that an iota counts are below `extent`: on their own, or behind where a program of the grid
/// begins.
static bool countsBelow(IotaOp iota, const Axes &axes, Axis axis, Value base, int64_t extent) {
  if (!iota.getBase())
    return axes.extent(axis) <= extent;
  auto begin = dyn_cast<BlockArgument>(base);
  auto grid = begin ? dyn_cast<GridOp>(begin.getOwner()->getParentOp()) : GridOp();
  std::optional<int64_t> all = grid ? getConstantIntValue(grid.getMixedExtents()[begin.getArgNumber()]) : std::nullopt;
  return all && *all <= extent;
}

FailureOr<Value> TileEvaluator::evaluateGather(GatherOp gather, Point &point) {
  if (failed(checkMap(gather, gather.getView())))
    return failure();
  Location loc = gather.getLoc();
  Value view = mapping.lookupOrDefault(gather.getView());
  ViewType type = gather.getView().getType();
  SmallVector<Value> indices;
  bool vectors = false;
  for (Value tile : gather.getIndices()) {
    FailureOr<Value> index = evaluate(tile, point);
    if (failed(index))
      return failure();
    vectors |= isa<VectorType>(index->getType());
    indices.push_back(*index);
  }
  if (!type.hasStaticShape())
    return gather.emitOpError("reads a view whose extents are not known"), failure();
  auto zero = [&](Type t) { return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(t)).getResult(); };
  if (llvm::is_contained(type.getShape(), 0))
    return zero(type.getElementType());

  if (point.lanes > 1 && view.getDefiningOp<ViewOp>().getMap().getNumSymbols() == 0)
    if (Value read = gatherLanes(gather, indices, point))
      return read;
  auto readAt = [&](Value lane) -> Value {
    SmallVector<Value> at;
    Value inside;
    for (auto [dim, index] : llvm::enumerate(indices)) {
      Value i = index;
      const bool isKnown = isBelow(gather.getIndices()[dim], type.getDimSize(dim));
      if (isa<VectorType>(i.getType()))
        i = vector::ExtractOp::create(builder, loc, i, OpFoldResult(lane));
      if (!i.getType().isIndex())
        i = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), i);
      if (isKnown) {
        at.push_back(i);
        continue;
      }
      Value extent = constantIndex(type.getDimSize(dim), loc);
      // Negative indices are large when read as unsigned.
      Value ok = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, i, extent);
      at.push_back(arith::SelectOp::create(builder, loc, ok, i, constantIndex(0, loc)));
      inside = inside ? arith::AndIOp::create(builder, loc, inside, ok).getResult() : ok;
    }
    Value read = isComplex(view) ? loadThroughMap(view.getDefiningOp<ViewOp>(), at, Value(), loc)
                                 : LoadOp::create(builder, loc, type.getElementType(), view, at, Value(), Value(),
                                                  ArrayAttr(), DenseBoolArrayAttr())
                                       .getResult();
    return inside ? arith::SelectOp::create(builder, loc, inside, read, zero(type.getElementType())).getResult() : read;
  };
  if (!vectors)
    return readAt(Value());
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < point.lanes; ++lane)
    elements.push_back(readAt(constantIndex(lane, loc)));
  return vector::FromElementsOp::create(builder, loc, VectorType::get(point.lanes, type.getElementType()), elements)
      .getResult();
}

IotaOp zyx::kernel::countsAlongAxis(Value tile) {
  Operation *op = tile.getDefiningOp();
  while (isa_and_nonnull<BroadcastOp, TransposeOp, ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<IotaOp>(op);
}

/// The index of a gather at the point, where it counts along an axis.
std::optional<LaneIndex> TileEvaluator::countedIndex(Value tile, Point &point) {
  IotaOp iota = countsAlongAxis(tile);
  if (!iota || memory.contains(tile))
    return std::nullopt;
  Axis axis = axes.of(iota.getResult(), iota.getDim());
  Value first = position(point, axis, iota.getLoc());
  if (iota.getBase())
    first = addIndex(mapping.lookupOrDefault(iota.getBase()), first, iota.getLoc());
  return LaneIndex{first, point.vectorAxis == axis ? 1 : 0, {}};
}

/// A gather for all lanes at once; null where none of its indices differs between lanes.
Value TileEvaluator::gatherLanes(GatherOp gather, ArrayRef<Value> indices, Point &point) {
  Location loc = gather.getLoc();
  auto view = mapping.lookupOrDefault(gather.getView()).getDefiningOp<ViewOp>();
  // A processor tests what all lanes share once for many vectors, by branches that it foresees.
  LaneLoader loader(builder, loc, point.lanes, hasSubgroups ? WholeVectors::Select : WholeVectors::Branch);
  loader.setMap(view.getMap());
  LaneMask mask{{}, point.mask};
  SmallVector<LaneIndex> at;
  bool differ = false;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    int64_t extent = view.getType().getDimSize(dim);
    LaneIndex lane;
    bool isKnown = isBelow(gather.getIndices()[dim], extent);
    if (std::optional<LaneIndex> counted = countedIndex(gather.getIndices()[dim], point)) {
      lane = *counted;
      IotaOp iota = countsAlongAxis(gather.getIndices()[dim]);
      isKnown = !hasSubgroups && countsBelow(iota, axes, axes.of(iota.getResult(), iota.getDim()),
                                             mapping.lookupOrDefault(iota.getBase()), extent);
    } else if (auto type = dyn_cast<VectorType>(index.getType())) {
      // Compared as it is: in fewer bits an index far outside could come back in.
      unsigned width = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
      APInt beyond = APInt::getSignedMinValue(width);
      if (beyond.ugt(extent))
        beyond = APInt(width, extent);
      if (!isKnown) {
        auto limit = DenseElementsAttr::get(type, beyond);
        Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index,
                                             arith::ConstantOp::create(builder, loc, limit));
        mask.each = mask.each ? arith::AndIOp::create(builder, loc, mask.each, inside).getResult() : inside;
      }
      lane.lanes = loader.toLaneType(index);
    } else {
      lane.first = index.getType().isIndex()
                       ? index
                       : arith::IndexCastOp::create(builder, loc, builder.getIndexType(), index).getResult();
    }
    if (!lane.lanes && !isKnown)
      loader.require(mask, lane, 0, extent);
    differ |= lane.lanes || lane.step != 0;
    at.push_back(lane);
  }
  return differ ? loader.load(view, at, mask, Value()) : Value();
}

Value TileEvaluator::evaluateIota(IotaOp iota, Point &point) {
  Location loc = iota.getLoc();
  Type element = cast<RankedTensorType>(iota.getType()).getElementType();
  Axis axis = axes.of(iota.getResult(), iota.getDim());
  Value index = position(point, axis, loc);
  if (iota.getBase())
    index = addIndex(mapping.lookupOrDefault(iota.getBase()), index, loc);
  Type type = element, wide = builder.getI64Type();
  if (point.vectorAxis == axis && point.lanes > 1) {
    auto step = vector::StepOp::create(builder, loc, VectorType::get(point.lanes, builder.getIndexType()));
    index = arith::AddIOp::create(builder, loc, broadcast(index, point), step);
    type = VectorType::get(point.lanes, element);
    wide = VectorType::get(point.lanes, wide);
  }
  if (element.isIndex())
    return index;
  if (isa<FloatType>(element)) {
    Value integer = arith::IndexCastOp::create(builder, loc, wide, index);
    return arith::SIToFPOp::create(builder, loc, type, integer);
  }
  return arith::IndexCastOp::create(builder, loc, type, index);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Lanes that are not neighbours in memory, each written if it exists.
void TileEvaluator::storeLanes(Value value, Value view, ArrayRef<Value> indices, unsigned vectorDim, Point &point,
                               Location loc) {
  for (int64_t lane = 0; lane < point.lanes; ++lane) {
    Value offset = constantIndex(lane, loc);
    SmallVector<Value> at(indices);
    at[vectorDim] = addIndex(at[vectorDim], offset, loc);
    Value element = vector::ExtractOp::create(builder, loc, value, lane);
    OpBuilder::InsertionGuard guard(builder);
    if (point.activeLanes) {
      Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, offset, point.activeLanes);
      auto branch = scf::IfOp::create(builder, loc, exists);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    StoreOp::create(builder, loc, element, view, at, Value(), DenseBoolArrayAttr());
  }
}

std::pair<SmallVector<Value>, std::optional<unsigned>> TileEvaluator::placeOf(StoreOp op, Point &point) {
  Location loc = op.getLoc();
  SmallVector<Value> indices;
  std::optional<unsigned> vectorDim;
  for (auto [dim, axis] : llvm::enumerate(axes.of(op.getValue()))) {
    indices.push_back(addIndex(mapping.lookupOrDefault(op.getIndices()[dim]), position(point, axis, loc), loc));
    if (point.vectorAxis == axis && point.lanes > 1)
      vectorDim = dim;
  }
  return {std::move(indices), vectorDim};
}

LogicalResult TileEvaluator::store(StoreOp op, Value value, Point &point) {
  Location loc = op.getLoc();
  Value view = mapping.lookupOrDefault(op.getView());
  if (isComplex(view))
    return op.emitOpError("writes through a view that is not one whole block");
  auto [indices, vectorDim] = placeOf(op, point);
  auto write = [&](OpBuilder &b, Value v, Value to, ArrayRef<Value> at, Value mask) {
    StoreOp::create(b, loc, v, to, at, mask, DenseBoolArrayAttr(), op.getStream());
  };
  if (!vectorDim) {
    write(builder, value, view, indices, Value());
    return success();
  }
  value = broadcast(value, point);
  if (strideOf(view, *vectorDim) == 1) {
    std::rotate(indices.begin() + *vectorDim, indices.begin() + *vectorDim + 1, indices.end());
    write(builder, value, permutedView(view, *vectorDim), indices, point.mask);
    return success();
  }
  storeLanes(value, view, indices, *vectorDim, point, loc);
  return success();
}

LogicalResult TileEvaluator::storeOn(StoreOp op, Value value, Point &point) {
  const Location loc = op.getLoc();
  auto view = mapping.lookupOrDefault(op.getView()).getDefiningOp<ViewOp>();
  if (!view || isComplex(view.getResult()))
    return op.emitOpError("writes through a view that is not one whole block");
  BlockAttr block = view.getMap().front();
  Value place = constantIndex(BlockAttr::constant(block.getOffset()).value_or(0), loc);
  for (auto [index, stride] : llvm::zip_equal(placeOf(op, point).first, block.getStrides())) {
    Value step =
        builder.createOrFold<arith::MulIOp>(loc, index, constantIndex(BlockAttr::constant(stride).value_or(0), loc));
    place = builder.createOrFold<arith::AddIOp>(loc, place, step);
  }
  StoreOp::create(builder, loc, broadcast(value, point), viewAsRow(builder, view), place, point.mask,
                  DenseBoolArrayAttr(), op.getStream());
  return success();
}

Value TileEvaluator::readBack(StoreOp op, Point &point) {
  Location loc = op.getLoc();
  auto [indices, vectorDim] = placeOf(op, point);
  return loadAt(mapping.lookupOrDefault(op.getView()), indices, Value(), vectorDim, point, loc);
}

void TileEvaluator::storeToMemory(Value tile, Value value, Point &point) {
  Location loc = tile.getLoc();
  Value view = memory[tile].view;
  SmallVector<Value> indices;
  std::optional<unsigned> vectorDim;
  for (auto [dim, axis] : llvm::enumerate(axes.of(tile))) {
    indices.push_back(position(point, axis, loc));
    if (point.vectorAxis == axis && point.lanes > 1)
      vectorDim = dim;
  }
  auto write = [&](Value v, ArrayRef<Value> at) {
    StoreOp::create(builder, loc, v, view, at, Value(), DenseBoolArrayAttr());
  };
  if (const MemoryTile &own = memory[tile]; !own.strides.empty()) {
    Value place = placeOf(own, indices, loc);
    const int64_t stride = vectorDim ? own.strides[*vectorDim] : 0;
    if (stride == 0)
      return write(value, place);
    value = broadcast(value, point);
    if (stride == 1)
      return write(value, place);
    for (int64_t lane = 0; lane < point.lanes; ++lane) {
      OpBuilder::InsertionGuard guard(builder);
      if (point.activeLanes) {
        Value exists =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, constantIndex(lane, loc), point.activeLanes);
        auto branch = scf::IfOp::create(builder, loc, exists);
        builder.setInsertionPointToStart(branch.thenBlock());
      }
      write(vector::ExtractOp::create(builder, loc, value, lane),
            addIndex(place, constantIndex(lane * stride, loc), loc));
    }
    return;
  }
  if (!vectorDim || !isa<VectorType>(broadcast(value, point).getType())) {
    write(value, indices);
    return;
  }
  value = broadcast(value, point);
  if (*vectorDim + 1 == indices.size()) {
    // Rows are whole vectors: surplus lanes land in the padding.
    write(value, indices);
    return;
  }
  storeLanes(value, view, indices, *vectorDim, point, loc);
}
