//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/LaneAccess.h"

#include "zyx/Dialect/Kernel/IR/Divisor.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

static int64_t number(AffineExpr expr) { return *BlockAttr::constant(expr); }

/// Lanes `step` apart cross the end of a row of `extent` elements now and then; whether seldom.
static bool crossesSeldom(int64_t step, int64_t lanes, int64_t extent) { return 2 * lanes * std::abs(step) <= extent; }

LaneStride zyx::kernel::laneStride(MapAttr map, unsigned dim, int64_t lanes) {
  LaneRun run = LaneRun::Always;
  int64_t step = 0;
  bool asked = false;
  for (auto [b, block] : llvm::enumerate(map.getBlocks())) {
    SmallVector<int64_t> steps(block.getRank(), 0);
    if (b == 0)
      steps[dim] = 1;
    for (unsigned d = block.getRank(); b > 0 && d-- > 0;) {
      int64_t extent = number(block.getShape()[d]);
      if (d == 0) {
        steps[d] = step;
      } else if (step % extent == 0) {
        step /= extent;
      } else {
        steps[d] = std::exchange(step, 0);
        run = crossesSeldom(steps[d], lanes, extent) && run != LaneRun::Seldom ? LaneRun::Mostly : LaneRun::Seldom;
      }
    }
    // Whether the next block's rows can be told from lane 0 depends on its existence.
    if (asked && run == LaneRun::Always)
      run = LaneRun::Mostly;
    step = 0;
    for (auto [d, stride] : llvm::enumerate(block.getStrides())) {
      step += steps[d] * number(stride);
      if (steps[d] != 0 && block.hasValid() && b + 1 < map.getBlocks().size())
        asked = true;
    }
  }
  return {run, step};
}

Value zyx::kernel::readBehindBranch(OpBuilder &builder, Value condition, Value fill, function_ref<Value()> read) {
  Location loc = condition.getLoc();
  auto branch = scf::IfOp::create(builder, loc, TypeRange(fill.getType()), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, read());
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, fill);
  return branch.getResult(0);
}

Value zyx::kernel::viewAsRow(OpBuilder &builder, ViewOp view) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(view);
  BlockAttr last = view.getMap().getBlocks().back();
  int64_t length = 1 + number(last.getOffset());
  for (auto [extent, stride] : llvm::zip(last.getShape(), last.getStrides()))
    length += (number(extent) - 1) * std::max<int64_t>(number(stride), 0);
  length = std::max<int64_t>(length, 0);
  return ViewOp::create(builder, view.getLoc(),
                        ViewType::get({length}, view.getType().getElementType(), view.getType().getSpace()),
                        view.getBuffer(), ValueRange(), MapAttr::identity(view.getContext(), {length}));
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

void LaneLoader::setMap(MapAttr map) {
  // The largest number that any lane with an element meets on its way.
  int64_t largest = numLanes;
  auto note = [&](int64_t value) { largest = std::max(largest, std::abs(value)); };
  for (BlockAttr block : map.getBlocks()) {
    int64_t reach = std::abs(number(block.getOffset()));
    for (auto [extent, stride] : llvm::zip(block.getShape(), block.getStrides())) {
      note(number(extent));
      note(number(stride));
      reach += number(extent) * std::abs(number(stride));
    }
    note(reach);
    if (block.hasValid())
      for (auto bounds : {block.getValidLow(), block.getValidHigh()})
        for (AffineExpr bound : bounds)
          note(number(bound));
  }
  bool isSmall = largest <= std::numeric_limits<int32_t>::max() / 2;
  laneType = builder.getIntegerType(isSmall ? 32 : 64);
}

Value LaneLoader::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

Value LaneLoader::splat(int64_t value) {
  auto type = VectorType::get(numLanes, laneType);
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, Attribute(builder.getIntegerAttr(laneType, value))));
}

Value LaneLoader::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(builder, loc, a, b);
}

Value LaneLoader::combined(const LaneMask &mask) {
  if (!mask.all)
    return mask.each;
  Value all = vector::BroadcastOp::create(builder, loc, VectorType::get(numLanes, builder.getI1Type()), mask.all);
  return both(all, mask.each);
}

Value LaneLoader::toLaneType(Value vector) {
  auto type = VectorType::get(numLanes, laneType);
  unsigned width = getElementTypeOrSelf(vector.getType()).isIndex()
                       ? 64
                       : getElementTypeOrSelf(vector.getType()).getIntOrFloatBitWidth();
  if (getElementTypeOrSelf(vector.getType()).isIndex())
    return arith::IndexCastOp::create(builder, loc, type, vector);
  if (width == laneType.getIntOrFloatBitWidth())
    return vector;
  if (width > laneType.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, loc, type, vector);
  return arith::ExtSIOp::create(builder, loc, type, vector);
}

Value LaneLoader::toVector(const LaneIndex &index) {
  if (index.lanes)
    return index.lanes;
  auto type = VectorType::get(numLanes, laneType);
  Value first = arith::IndexCastOp::create(builder, loc, laneType, index.first);
  first = vector::BroadcastOp::create(builder, loc, type, first);
  if (index.step == 0)
    return first;
  SmallVector<APInt> steps;
  for (int64_t lane = 0; lane < numLanes; ++lane)
    steps.emplace_back(laneType.getIntOrFloatBitWidth(), lane * index.step, /*isSigned=*/true);
  Value offsets = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, steps));
  return arith::AddIOp::create(builder, loc, first, offsets);
}

LaneIndex LaneLoader::add(const LaneIndex &a, const LaneIndex &b) {
  if (!a.lanes && !b.lanes)
    return {builder.createOrFold<arith::AddIOp>(loc, a.first, b.first), a.step + b.step, {}};
  return {{}, 0, arith::AddIOp::create(builder, loc, toVector(a), toVector(b))};
}

LaneIndex LaneLoader::multiply(const LaneIndex &a, int64_t factor) {
  if (!a.lanes)
    return {builder.createOrFold<arith::MulIOp>(loc, a.first, index(factor)), a.step * factor, {}};
  return {{}, 0, arith::MulIOp::create(builder, loc, a.lanes, splat(factor))};
}

void LaneLoader::require(LaneMask &mask, const LaneIndex &lane, int64_t low, int64_t high) {
  // Numbers below `low` are large when read as unsigned.
  LaneIndex distance = add(lane, {index(-low), 0, {}});
  int64_t length = std::max<int64_t>(high - low, 0);
  auto isBelow = [&](Value number, Value limit) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, limit);
  };
  // Of vectors that begin at multiples of their length, bounds that are such multiples, too, cut none.
  const bool isWhole = whole != WholeVectors::Masked && !lane.lanes && lane.step == 1 && low % numLanes == 0 &&
                       high % numLanes == 0 && knownDivisor(lane.first) % numLanes == 0;
  if (!lane.lanes && (lane.step == 0 || isWhole))
    mask.all = both(mask.all, isBelow(distance.first, index(length)));
  else
    mask.each = both(mask.each, isBelow(toVector(distance), splat(length)));
}

//===----------------------------------------------------------------------===//
// The way through a map
//===----------------------------------------------------------------------===//

/// Row-major indices of a number. As a run, lanes keep their distance along the dimension in which they
/// differ, if none of them crosses its end.
void LaneLoader::split(LaneIndex linear, BlockAttr block, SmallVectorImpl<LaneIndex> &at, bool asRun, Value &fits) {
  at.assign(block.getRank(), {});
  for (unsigned d = block.getRank(); d-- > 0;) {
    int64_t extent = number(block.getShape()[d]);
    if (d == 0) {
      at[d] = linear;
      return;
    }
    if (extent == 1) {
      at[d] = {index(0), 0, {}};
      continue;
    }
    bool keeps = !linear.lanes && linear.step % extent == 0;
    if (!linear.lanes && (keeps || asRun)) {
      Value rest = arith::RemUIOp::create(builder, loc, linear.first, index(extent));
      at[d] = {rest, keeps ? 0 : linear.step, {}};
      // Vectors that begin at multiples of their length cross no end that is one.
      const bool isWhole = linear.step == 1 && extent % numLanes == 0 && knownDivisor(linear.first) % numLanes == 0;
      if (!keeps && !isWhole) {
        Value last = builder.createOrFold<arith::AddIOp>(loc, rest, index((numLanes - 1) * linear.step));
        fits = both(fits, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, last, index(extent)));
      }
      linear.first = arith::DivUIOp::create(builder, loc, linear.first, index(extent));
      linear.step = keeps ? linear.step / extent : 0;
      continue;
    }
    Value lanes = toVector(linear);
    at[d] = {{}, 0, arith::RemUIOp::create(builder, loc, lanes, splat(extent))};
    linear = {{}, 0, arith::DivUIOp::create(builder, loc, lanes, splat(extent))};
  }
}

LaneLoader::LaneAddress LaneLoader::follow(MapAttr map, ArrayRef<LaneIndex> indices, LaneMask mask, bool asRun) {
  LaneAddress place;
  place.mask = mask;
  SmallVector<LaneIndex> at(indices);
  for (auto [b, block] : llvm::enumerate(map.getBlocks())) {
    // Where lane 0 may not exist, its number tells nothing about the others.
    if (b > 0 && place.mask.each && !asRun)
      place.number = {{}, 0, toVector(place.number)};
    if (b > 0)
      split(place.number, block, at, asRun, place.fits);
    for (unsigned d = 0; block.hasValid() && d < block.getRank(); ++d) {
      int64_t low = number(block.getValidLow()[d]), high = number(block.getValidHigh()[d]);
      if (low <= 0 && high >= number(block.getShape()[d]))
        continue;
      bool isLast = b + 1 == map.getBlocks().size();
      if (asRun && !isLast && at[d].step != 0) {
        // What follows is told from lane 0, which must exist.
        Value distance = builder.createOrFold<arith::SubIOp>(loc, at[d].first, index(low));
        for (int64_t lane : {int64_t(0), numLanes - 1}) {
          Value there = builder.createOrFold<arith::AddIOp>(loc, distance, index(lane * at[d].step));
          Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, there,
                                               index(std::max<int64_t>(high - low, 0)));
          place.fits = both(place.fits, inside);
        }
      } else {
        require(place.mask, at[d], low, high);
      }
    }
    place.number = {index(number(block.getOffset())), 0, {}};
    for (auto [d, stride] : llvm::enumerate(block.getStrides()))
      place.number = add(place.number, multiply(at[d], number(stride)));
  }
  return place;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

Value LaneLoader::gather(Value row, const LaneIndex &lane, Value mask, Value other) {
  auto type = cast<ViewType>(row.getType());
  Value at = toVector(lane);
  if (mask)
    at = arith::SelectOp::create(builder, loc, mask, at, splat(-1));
  auto result = VectorType::get(numLanes, type.getElementType());
  Value read = GatherOp::create(builder, loc, result, row, at);
  if (!mask || !other)
    return read;
  return arith::SelectOp::create(builder, loc, mask, read, vector::BroadcastOp::create(builder, loc, result, other));
}

Value LaneLoader::emit(ViewOp view, const LaneAddress &place, Value other) {
  Value row = viewAsRow(builder, view);
  auto rowType = cast<ViewType>(row.getType());
  Type element = rowType.getElementType();
  auto result = VectorType::get(numLanes, element);
  const LaneIndex &at = place.number;
  auto read = [&](Type type, Value index, Value mask) -> Value {
    return LoadOp::create(builder, loc, type, row, index, mask, mask ? other : Value(), ArrayAttr(),
                          DenseBoolArrayAttr());
  };
  const bool isWhole = !at.lanes && at.step == 1 && place.mask.all && !place.mask.each;
  if (whole == WholeVectors::Branch && isWhole) {
    Value fill = other ? other : arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element)).getResult();
    return readBehindBranch(builder, place.mask.all, vector::BroadcastOp::create(builder, loc, result, fill),
                            [&] { return read(result, at.first, Value()); });
  }
  if (whole == WholeVectors::Select && isWhole && rowType.getDimSize(0) >= numLanes) {
    Value fill = other ? other : arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element)).getResult();
    Value first = arith::SelectOp::create(builder, loc, place.mask.all, at.first, index(0));
    Value taken = read(result, first, Value());
    return arith::SelectOp::create(builder, loc, place.mask.all, taken,
                                   vector::BroadcastOp::create(builder, loc, result, fill));
  }
  if (!at.lanes && at.step == 1) {
    Value mask = combined(place.mask), first = at.first;
    if (mask) {
      // Where no lane exists the place may be far away, and even a load of no lane asks for its page.
      first = arith::MaxSIOp::create(builder, loc, first, index(1 - numLanes));
      first = arith::MinSIOp::create(builder, loc, first, index(std::max<int64_t>(rowType.getDimSize(0) - 1, 0)));
    }
    return read(result, first, mask);
  }
  if (!at.lanes && at.step == 0) {
    Value fill = other ? other : arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element)).getResult();
    Value one;
    auto readOne = [&] { return read(element, at.first, Value()); };
    one = place.mask.all ? readBehindBranch(builder, place.mask.all, fill, readOne) : readOne();
    Value all = vector::BroadcastOp::create(builder, loc, result, one);
    if (!place.mask.each)
      return all;
    return arith::SelectOp::create(builder, loc, place.mask.each, all,
                                   vector::BroadcastOp::create(builder, loc, result, fill));
  }
  return gather(row, at, combined(place.mask), other);
}

Value LaneLoader::load(ViewOp view, ArrayRef<LaneIndex> indices, LaneMask mask, Value other) {
  MapAttr map = view.getMap();
  if (!laneType)
    setMap(map);
  LaneRun run = LaneRun::Always;
  for (auto [dim, lane] : llvm::enumerate(indices)) {
    if (lane.lanes)
      run = LaneRun::Seldom;
    else if (lane.step != 0 && run != LaneRun::Seldom)
      run = std::max(run, laneStride(map, dim, numLanes).run);
  }
  if (run == LaneRun::Seldom)
    return emit(view, follow(map, indices, mask, /*asRun=*/false), other);
  LaneAddress place = follow(map, indices, mask, /*asRun=*/true);
  if (!place.fits)
    return emit(view, place, other);
  auto result = VectorType::get(numLanes, view.getType().getElementType());
  auto branch = scf::IfOp::create(builder, loc, TypeRange(result), place.fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, emit(view, place, other));
  builder.setInsertionPointToStart(branch.elseBlock());
  LaneAddress general = follow(map, indices, mask, /*asRun=*/false);
  scf::YieldOp::create(builder, loc, emit(view, general, other));
  return branch.getResult(0);
}
