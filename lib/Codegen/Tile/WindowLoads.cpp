//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Vectors of windows and padded views that need no division: see AccessForm.h.
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/LaneAccess.h"
#include "zyx/Codegen/Tile/TileEvaluator.h"
#include "zyx/Dialect/Kernel/IR/Divisor.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

const std::optional<AccessForm> &TileEvaluator::formOf(ViewOp view) {
  auto [known, isNew] = forms.try_emplace(view.getMap());
  if (isNew)
    known->second = AccessForm::compute(view.getMap());
  return known->second;
}

/// The form of a view whose vectors along `dim` are neighbours in memory wherever they begin; null where
/// they are not, or where numbers beyond 32 bits are met on the way.
const AccessForm *TileEvaluator::formOf(ViewOp view, unsigned dim) {
  const std::optional<AccessForm> &form = formOf(view);
  if (!form || form->dims[dim].size() != 1)
    return nullptr;
  unsigned lane = form->dims[dim].front();
  if (form->parts[lane].stride != 1)
    return nullptr;
  for (const AccessForm::Bound &bound : form->bounds) {
    int64_t reach = std::abs(bound.offset) + std::abs(bound.low) + std::abs(bound.high);
    for (auto [part, factor] : llvm::zip(form->parts, bound.factors))
      reach += std::abs(factor) * part.extent;
    if ((bound.factors[lane] != 0 && bound.factors[lane] != 1) || reach > std::numeric_limits<int32_t>::max() / 2)
      return nullptr;
  }
  return &*form;
}

bool TileEvaluator::readsNeighbours(LoadOp load, Axis axis) {
  auto view = load.getView().getDefiningOp<ViewOp>();
  for (auto [dim, a] : llvm::enumerate(axes.of(load.getResult())))
    if (a == axis)
      return formOf(view, dim) != nullptr;
  return false;
}

SmallVector<Value> TileEvaluator::splitIndices(const AccessForm &form, ArrayRef<Value> indices, Location loc) {
  SmallVector<Value> positions(form.parts.size());
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value rest = index;
    ArrayRef<unsigned> parts = form.dims[dim];
    for (size_t i = parts.size(); i-- > 1;) {
      Value extent = constantIndex(form.parts[parts[i]].extent, loc);
      positions[parts[i]] = builder.createOrFold<arith::RemUIOp>(loc, rest, extent);
      rest = builder.createOrFold<arith::DivUIOp>(loc, rest, extent);
    }
    if (!parts.empty())
      positions[parts.front()] = rest;
  }
  return positions;
}

/// A vector along `vectorDim`, or null where the view has no form for it.
Value TileEvaluator::loadThroughForm(ViewOp view, ArrayRef<Value> indices, Value other, unsigned vectorDim,
                                     Point &point, Location loc) {
  const AccessForm *form = formOf(view, vectorDim);
  if (!form)
    return {};
  unsigned lane = form->dims[vectorDim].front();
  const SmallVector<Value> positions = splitIndices(*form, indices, loc);
  auto sum = [&](int64_t offset, llvm::function_ref<int64_t(size_t)> factor) {
    Value total = constantIndex(offset, loc);
    for (size_t p = 0; p < positions.size(); ++p)
      if (int64_t by = positions[p] ? factor(p) : 0; by != 0) {
        Value step = builder.createOrFold<arith::MulIOp>(loc, positions[p], constantIndex(by, loc));
        total = builder.createOrFold<arith::AddIOp>(loc, total, step);
      }
    return total;
  };
  auto both = [&](Value a, Value b) -> Value {
    return a && b ? arith::AndIOp::create(builder, loc, a, b).getResult() : a ? a : b;
  };

  Value all, each;
  for (const AccessForm::Bound &bound : form->bounds) {
    // Numbers below the bound are large when read as unsigned.
    Value at = sum(bound.offset - bound.low, [&](size_t p) { return bound.factors[p]; });
    int64_t length = std::max<int64_t>(bound.high - bound.low, 0);
    // Of vectors that begin at multiples of their length, a bound that is such a multiple, too, cuts none.
    const bool isWhole =
        hasSubgroups && bound.factors[lane] == 1 && length % point.lanes == 0 && knownDivisor(at) % point.lanes == 0;
    if (bound.factors[lane] == 0 || isWhole) {
      all = both(all, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, constantIndex(length, loc)));
      continue;
    }
    auto type = VectorType::get(point.lanes, builder.getI32Type());
    SmallVector<int32_t> numbers;
    for (int64_t i = 0; i < point.lanes; ++i)
      numbers.push_back(i);
    Value own = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
    Value first = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), at);
    Value distance = arith::AddIOp::create(builder, loc, vector::BroadcastOp::create(builder, loc, type, first), own);
    Value limit = arith::ConstantOp::create(builder, loc,
                                            DenseElementsAttr::get(type, Attribute(builder.getI32IntegerAttr(length))));
    each = both(each, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, distance, limit));
  }
  Value row = viewAsRow(builder, view);
  auto rowType = cast<ViewType>(row.getType());
  Value place = sum(form->offset, [&](size_t p) { return form->parts[p].stride; });
  Value mask = both(point.mask, each);
  auto type = VectorType::get(point.lanes, rowType.getElementType());
  if (hasSubgroups && all && !mask) {
    if (!other)
      other = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(rowType.getElementType()));
    return readBehindBranch(builder, all, vector::BroadcastOp::create(builder, loc, type, other), [&]() -> Value {
      return LoadOp::create(builder, loc, type, row, place, Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
    });
  }
  if (all) {
    // Where nothing exists the place may be far away.
    place = arith::SelectOp::create(builder, loc, all, place, constantIndex(0, loc));
    mask =
        both(mask, vector::BroadcastOp::create(builder, loc, VectorType::get(point.lanes, builder.getI1Type()), all));
  }
  if (each) {
    place = builder.createOrFold<arith::MaxSIOp>(loc, place, constantIndex(1 - point.lanes, loc));
    place = builder.createOrFold<arith::MinSIOp>(loc, place,
                                                 constantIndex(std::max<int64_t>(rowType.getDimSize(0) - 1, 0), loc));
  }
  return LoadOp::create(builder, loc, type, row, place, mask, mask ? other : Value(), ArrayAttr(),
                        DenseBoolArrayAttr());
}

/// A vector along a dimension whose neighbours are of so many rows in turn, as those of an upsampled image are: a part
/// of each row is read, and their lanes are taken in turn. Null where the view is not of that form.
Value TileEvaluator::loadInterleaved(ViewOp view, ArrayRef<Value> indices, unsigned vectorDim, Point &point,
                                     Location loc) {
  constexpr int64_t mostRows = 4;
  const std::optional<AccessForm> &form = formOf(view);
  if (hasSubgroups || !form || form->dims[vectorDim].size() != 2)
    return {};
  const unsigned along = form->dims[vectorDim].front(), across = form->dims[vectorDim].back();
  const int64_t rows = form->parts[across].extent;
  // Nothing is padded, and vectors begin with the first row.
  if (rows > mostRows || !llvm::isPowerOf2_64(rows) || point.lanes % rows != 0 || point.lanes == rows ||
      form->parts[along].stride != 1 || !form->bounds.empty() || knownDivisor(indices[vectorDim]) % rows != 0)
    return {};
  const SmallVector<Value> positions = splitIndices(*form, indices, loc);
  Value place = constantIndex(form->offset, loc);
  for (size_t p = 0; p < positions.size(); ++p)
    if (p != across && positions[p] && form->parts[p].stride != 0)
      place = addIndex(
          place, builder.createOrFold<arith::MulIOp>(loc, positions[p], constantIndex(form->parts[p].stride, loc)),
          loc);
  const int64_t lanes = point.lanes / rows;
  Value row = viewAsRow(builder, view);
  auto type = VectorType::get(lanes, cast<ViewType>(row.getType()).getElementType());
  SmallVector<Value> parts;
  for (int64_t r = 0; r < rows; ++r) {
    Value mask;
    if (point.mask) {
      SmallVector<int64_t> own;
      for (int64_t lane = 0; lane < lanes; ++lane)
        own.push_back(lane * rows + r);
      mask = vector::ShuffleOp::create(builder, loc, point.mask, point.mask, own);
    }
    Value at = addIndex(place, constantIndex(r * form->parts[across].stride, loc), loc);
    parts.push_back(LoadOp::create(builder, loc, type, row, at, mask, Value(), ArrayAttr(), DenseBoolArrayAttr()));
  }
  // Of rows 0 to 3 first 0 and 2, 1 and 3 are taken in turn, then both results.
  for (int64_t width = lanes; parts.size() > 1; width *= 2) {
    SmallVector<int64_t> inTurn;
    for (int64_t lane = 0; lane < width; ++lane)
      inTurn.append({lane, width + lane});
    const size_t half = parts.size() / 2;
    for (size_t i = 0; i < half; ++i)
      parts[i] = vector::ShuffleOp::create(builder, loc, parts[i], parts[i + half], inTurn);
    parts.resize(half);
  }
  return parts.front();
}

/// Whether a card counts what a form adds up in 32 bits.
static bool isNarrow(const AccessForm &form, ViewOp view) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max() / 2;
  auto reach = [&](int64_t constant, llvm::function_ref<int64_t(size_t)> factor) {
    int64_t sum = std::abs(constant);
    for (auto [p, part] : llvm::enumerate(form.parts))
      sum += std::abs(factor(p)) * part.extent;
    return sum;
  };
  bool narrow = reach(form.offset, [&](size_t p) { return form.parts[p].stride; }) <= most;
  for (const AccessForm::Bound &bound : form.bounds)
    narrow &= reach(std::abs(bound.offset) + std::abs(bound.low) + std::abs(bound.high),
                    [&](size_t p) { return bound.factors[p]; }) <= most;
  for (int64_t extent : view.getType().getShape())
    narrow &= extent <= most;
  return narrow;
}

/// What the position along a dimension adds, with these factors of its parts; null where that is nothing.
Value TileEvaluator::sumOfParts(const AccessForm &form, unsigned dim, Value index,
                                llvm::function_ref<int64_t(size_t)> factor, Location loc) {
  ArrayRef<unsigned> parts = form.dims[dim];
  if (llvm::all_of(parts, [&](unsigned p) { return factor(p) == 0; }))
    return {};
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(index.getType(), value));
  };
  Value rest = index, total;
  auto add = [&](Value position, int64_t by) {
    Value step = by == 0 ? Value() : builder.createOrFold<arith::MulIOp>(loc, position, constant(by));
    total = !step ? total : total ? builder.createOrFold<arith::AddIOp>(loc, total, step) : step;
  };
  for (size_t i = parts.size(); i-- > 1;) {
    Value extent = constant(form.parts[parts[i]].extent);
    add(builder.createOrFold<arith::RemUIOp>(loc, rest, extent), factor(parts[i]));
    rest = builder.createOrFold<arith::DivUIOp>(loc, rest, extent);
  }
  add(rest, factor(parts.front()));
  return total;
}

bool TileEvaluator::hasNarrowForm(ViewOp view) {
  const std::optional<AccessForm> &form = formOf(view);
  return form && isNarrow(*form, view) && cast<ViewType>(viewAsRow(builder, view).getType()).getDimSize(0) >= 1;
}

/// Where a view that knows what exists has its last element in memory; -1 where that is not told by its last block.
static int64_t lastThatExists(ViewOp view) {
  BlockAttr block = view.getMap().getBlocks().back();
  if (!block.hasValid())
    return -1;
  int64_t last = *BlockAttr::constant(block.getOffset());
  for (unsigned d = 0; d < block.getRank(); ++d) {
    const int64_t stride = *BlockAttr::constant(block.getStrides()[d]);
    const int64_t low = std::max<int64_t>(*BlockAttr::constant(block.getValidLow()[d]), 0),
                  high = std::min(*BlockAttr::constant(block.getValidHigh()[d]),
                                  *BlockAttr::constant(block.getShape()[d]));
    if (high <= low)
      return -1;
    last += stride * (stride > 0 ? high - 1 : low);
  }
  return last;
}

int64_t TileEvaluator::contiguityAlong(ViewOp view, unsigned dim) {
  return hasSubgroups && hasNarrowForm(view) ? formOf(view)->contiguityAlong(dim) : 1;
}

/// One element, or neighbours that exist together, with what each dimension adds to its place and to what bounds
/// compare summed up apart: that of a dimension whose position does not change is the same for all elements. Null where
/// the view has no form, or numbers beyond 32 bits are met on the way, in which a card counts. A processor tests what
/// may not exist otherwise.
Value TileEvaluator::loadElementThroughForm(ViewOp view, ArrayRef<Value> indices, Value other, Location loc,
                                            int64_t lanes) {
  const std::optional<AccessForm> &form = formOf(view);
  // What is read where nothing exists must exist.
  Value row = viewAsRow(builder, view);
  auto rowType = cast<ViewType>(row.getType());
  if (!form || rowType.getDimSize(0) < lanes || (!hasSubgroups && !form->bounds.empty()))
    return {};
  if (hasSubgroups && !isNarrow(*form, view))
    return {};
  Type number = hasSubgroups ? Type(builder.getI32Type()) : Type(builder.getIndexType());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(number, value));
  };
  auto toNumber = [&](Value index) {
    return hasSubgroups ? builder.createOrFold<arith::IndexCastOp>(loc, number, index) : index;
  };
  auto sum = [&](int64_t offset, llvm::function_ref<int64_t(size_t)> factor) {
    Value total;
    auto add = [&](Value step) { total = total ? builder.createOrFold<arith::AddIOp>(loc, total, step) : step; };
    for (auto [dim, index] : llvm::enumerate(indices)) {
      if (llvm::all_of(form->dims[dim], [&](unsigned p) { return factor(p) == 0; }))
        continue;
      add(sumOfParts(*form, static_cast<unsigned>(dim), toNumber(index), factor, loc));
    }
    if (!total)
      return constant(offset);
    if (offset != 0)
      add(constant(offset));
    return total;
  };
  Value exists;
  for (const AccessForm::Bound &bound : form->bounds) {
    // Numbers below the bound are large when read as unsigned.
    Value at = sum(bound.offset - bound.low, [&](size_t p) { return bound.factors[p]; });
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at,
                                         constant(std::max<int64_t>(bound.high - bound.low, 0)));
    exists = exists ? arith::AndIOp::create(builder, loc, exists, inside).getResult() : inside;
  }
  Value place = sum(form->offset, [&](size_t p) { return form->parts[p].stride; });
  // What is missing reads something that exists: the last neighbours, or the first element.
  if (const int64_t last = exists && lanes > 1 ? lastThatExists(view) + 1 - lanes : -1; last >= 0 && last % lanes == 0)
    place = arith::MinUIOp::create(builder, loc, place, constant(last));
  else if (exists)
    place = arith::SelectOp::create(builder, loc, exists, place, constant(0));
  if (hasSubgroups)
    place = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), place);
  Type element = rowType.getElementType(), type = lanes == 1 ? element : Type(VectorType::get(lanes, element));
  Value read = LoadOp::create(builder, loc, type, row, place, Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
  if (!exists)
    return read;
  if (!other)
    other = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  else if (lanes > 1)
    other = vector::BroadcastOp::create(builder, loc, type, other);
  return arith::SelectOp::create(builder, loc, exists, read, other);
}
