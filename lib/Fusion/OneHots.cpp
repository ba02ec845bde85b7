//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "OneHots.h"

#include "Blocks.h"
#include "LoopValues.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace zyx::graph::ir;

using zyx::fusion::Shown;
using Dims = SmallVector<std::optional<int64_t>>;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool zyx::fusion::isExactCast(CastOp op) {
  auto from = dyn_cast<FloatType>(typeOf(op.getX()).getElementType());
  auto to = dyn_cast<FloatType>(typeOf(op.getResult()).getElementType());
  return from && to && (from == to || (to.isF32() && (from.isF16() || from.isBF16())) || to.isF64());
}

std::optional<Shown> zyx::fusion::look(Value value, llvm::function_ref<bool(CastOp)> passes) {
  Shown shown{value, {}};
  for (int64_t dim = 0, rank = typeOf(value).getRank(); dim < rank; ++dim)
    shown.dims.push_back(dim);
  while (Operation *op = shown.value.getDefiningOp()) {
    if (isView(op)) {
      const std::optional<Dims> step = getOperandDims(op);
      if (!step)
        break;
      for (std::optional<int64_t> &dim : shown.dims)
        if (dim)
          dim = (*step)[*dim];
    } else if (auto cast = dyn_cast<CastOp>(op); !cast || !passes(cast)) {
      break;
    }
    shown.value = op->getOperand(0);
  }
  ArrayRef<int64_t> shape = typeOf(shown.value).getShape();
  for (std::optional<int64_t> &dim : shown.dims)
    if (dim && shape[*dim] == 1)
      dim = std::nullopt;
  return shown;
}

std::optional<Shown> zyx::fusion::matchOneHot(const Shown &compared, int64_t along) {
  auto equal = compared.value.getDefiningOp<BinaryOp>();
  if (!equal || equal.getKind() != BinaryKind::Eq || !compared.dims[along])
    return std::nullopt;
  for (auto [counted, given] : {std::pair(equal.getA(), equal.getB()), std::pair(equal.getB(), equal.getA())}) {
    auto none = [](CastOp) { return false; };
    const std::optional<Shown> places = look(counted, none), indices = look(given, none);
    auto iota = places ? places->value.getDefiningOp<IotaOp>() : IotaOp();
    if (!iota || !indices)
      continue;
    const int64_t dim = *compared.dims[along];
    if (!isa<IntegerType>(typeOf(given).getElementType()) || places->dims[dim] != static_cast<int64_t>(iota.getDim()) ||
        indices->dims[dim])
      continue;
    // The iota's other dimensions repeat it.
    Shown result{indices->value, {}};
    for (std::optional<int64_t> own : compared.dims)
      result.dims.push_back(own ? indices->dims[*own] : std::nullopt);
    return result;
  }
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> zyx::fusion::findOwnDims(const Shown &shown) {
  SmallVector<int64_t> dims;
  llvm::SmallDenseSet<int64_t> seen;
  int64_t elements = 1;
  for (auto [dim, own] : llvm::enumerate(shown.dims))
    if (own) {
      dims.push_back(static_cast<int64_t>(dim));
      elements *= typeOf(shown.value).getDimSize(*own);
      // A diagonal has fewer elements than dimensions.
      if (!seen.insert(*own).second)
        return std::nullopt;
    }
  if (elements != typeOf(shown.value).getNumElements())
    return std::nullopt;
  llvm::sort(dims, [&](int64_t a, int64_t b) { return *shown.dims[a] < *shown.dims[b]; });
  return dims;
}

Value zyx::fusion::findNotFinite(OpBuilder &builder, Location loc, Value x) {
  Value difference = BinaryOp::create(builder, loc, BinaryKind::Sub, x, x);
  return BinaryOp::create(builder, loc, BinaryKind::Ne, difference, makeSplat(builder, loc, typeOf(x), 0));
}

Value zyx::fusion::reshapeTo(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  if (typeOf(value).getShape() == shape)
    return value;
  return ReshapeOp::create(builder, loc, typeOf(value).clone(shape), value);
}

Value zyx::fusion::spreadDims(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> own,
                              ArrayRef<int64_t> all, ArrayRef<int64_t> shape) {
  auto extentsOf = [&](ArrayRef<int64_t> dims) {
    return llvm::map_to_vector(dims, [&](int64_t dim) { return shape[dim]; });
  };
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(own.size()))), units;
  llvm::sort(order, [&](int64_t a, int64_t b) { return llvm::find(all, own[a]) < llvm::find(all, own[b]); });
  value = reshapeTo(builder, loc, value, extentsOf(own));
  if (!llvm::is_sorted(order)) {
    const SmallVector<int64_t> permuted = llvm::map_to_vector(order, [&](int64_t i) { return shape[own[i]]; });
    value = PermuteOp::create(builder, loc, typeOf(value).clone(permuted), value, order);
  }
  for (int64_t dim : all)
    units.push_back(llvm::is_contained(own, dim) ? shape[dim] : 1);
  value = reshapeTo(builder, loc, value, units);
  const SmallVector<int64_t> extents = extentsOf(all);
  return units == extents ? value : ExpandOp::create(builder, loc, typeOf(value).clone(extents), value).getResult();
}

using zyx::fusion::FewPlaces;

/// A number of a splat that all types have, in which ops compute with it.
static std::optional<int64_t> getNumber(ConstantOp splat) {
  Attribute number = splat.getValue().getSplatValue<Attribute>();
  if (auto integer = dyn_cast<IntegerAttr>(number))
    return integer.getType().isInteger(1) ? integer.getValue().getZExtValue() : integer.getValue().getSExtValue();
  auto real = dyn_cast<FloatAttr>(number);
  if (!real)
    return std::nullopt;
  llvm::APSInt integer(64, /*isUnsigned=*/false);
  bool isExact = false;
  // bf16 has all integers up to 256.
  if (real.getValue().convertToInteger(integer, APFloat::rmTowardZero, &isExact) != APFloat::opOK || !isExact ||
      integer.abs().sgt(256))
    return std::nullopt;
  return integer.getSExtValue();
}

/// What a number becomes in a cast, where that keeps it.
static std::optional<int64_t> castNumber(int64_t number, Type from, Type to) {
  if (isa<FloatType>(to))
    return number >= -256 && number <= 256 && to.getIntOrFloatBitWidth() >= 16 ? std::optional(number) : std::nullopt;
  if (to.isInteger(1))
    return number != 0;
  if (number < 0 && to.isUnsignedInteger())
    return std::nullopt;
  return llvm::isIntN(static_cast<unsigned>(to.getIntOrFloatBitWidth() - 1), number) || from == to
             ? std::optional(number)
             : std::nullopt;
}

void zyx::fusion::addPlaces(FewPlaces &all, const FewPlaces &more) {
  for (const Shown &place : more.places)
    if (llvm::none_of(all.places, [&](const Shown &own) { return own.value == place.value && own.dims == place.dims; }))
      all.places.push_back(place);
}

std::optional<FewPlaces> zyx::fusion::findFewPlaces(Value value, int64_t dim, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return std::nullopt;
  if (ConstantOp splat = getSplat(value)) {
    const std::optional<int64_t> number = getNumber(splat);
    return number ? std::optional(FewPlaces{{}, *number}) : std::nullopt;
  }
  auto find = [&](Value operand) { return findFewPlaces(operand, dim, depth - 1); };
  Shown same{value, {}};
  for (int64_t d = 0, rank = typeOf(value).getRank(); d < rank; ++d)
    same.dims.push_back(d);
  if (auto binary = dyn_cast<BinaryOp>(op)) {
    if (std::optional<Shown> place = matchOneHot(same, dim); place && findOwnDims(*place))
      return FewPlaces{{*place}, 0};
    std::optional<FewPlaces> a = find(binary.getA()), b = a ? find(binary.getB()) : std::nullopt;
    if (!b)
      return std::nullopt;
    const bool isTruth = typeOf(binary.getA()).getElementType().isInteger(1);
    addPlaces(*a, *b);
    switch (binary.getKind()) {
    case BinaryKind::Ne:
      a->rest = a->rest != b->rest;
      return a;
    case BinaryKind::Eq:
      a->rest = a->rest == b->rest;
      return a;
    case BinaryKind::And:
      a->rest &= b->rest;
      return isTruth ? a : std::nullopt;
    case BinaryKind::Or:
      a->rest |= b->rest;
      return isTruth ? a : std::nullopt;
    default:
      return std::nullopt;
    }
  }
  if (auto cast = dyn_cast<CastOp>(op)) {
    std::optional<FewPlaces> few = find(cast.getX());
    const std::optional<int64_t> rest =
        few ? castNumber(few->rest, typeOf(cast.getX()).getElementType(), typeOf(value).getElementType())
            : std::nullopt;
    if (!rest)
      return std::nullopt;
    few->rest = *rest;
    return few;
  }
  if (auto select = dyn_cast<SelectOp>(op)) {
    std::optional<FewPlaces> few = find(select.getCondition());
    const std::optional<FewPlaces> other = few ? find(few->rest != 0 ? select.getA() : select.getB()) : std::nullopt;
    if (!other)
      return std::nullopt;
    addPlaces(*few, *other);
    few->rest = other->rest;
    return few;
  }
  // A flat tensor in between, as scatters have it, changes nothing.
  Value flat = value;
  while (auto reshape = flat.getDefiningOp<ReshapeOp>())
    if (flat = reshape.getX(); flat.getType() == value.getType())
      return find(flat);
  const std::optional<Dims> step = isView(op) ? getOperandDims(op) : std::nullopt;
  if (!step || !(*step)[dim])
    return std::nullopt;
  std::optional<FewPlaces> few = findFewPlaces(op->getOperand(0), *(*step)[dim], depth - 1);
  if (!few)
    return std::nullopt;
  for (Shown &place : few->places) {
    Dims dims;
    for (std::optional<int64_t> from : *step)
      dims.push_back(from ? place.dims[*from] : std::nullopt);
    place.dims = std::move(dims);
  }
  return few;
}

std::optional<FewPlaces> zyx::fusion::findFewPlaces(const Shown &shown, int64_t dim) {
  std::optional<FewPlaces> found = findFewPlaces(shown.value, *shown.dims[dim]);
  if (!found)
    return std::nullopt;
  for (Shown &place : found->places) {
    SmallVector<std::optional<int64_t>> dims;
    for (std::optional<int64_t> own : shown.dims)
      dims.push_back(own ? place.dims[*own] : std::nullopt);
    place.dims = dims;
    if (!findOwnDims(place))
      return std::nullopt;
  }
  return found;
}

Value zyx::fusion::takePlace(OpBuilder &builder, Location loc, Value place, ArrayRef<int64_t> own, Value value,
                             ArrayRef<int64_t> all, int64_t dim, ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(value);
  const auto along = static_cast<int64_t>(llvm::find(all, dim) - all.begin());
  Value given = spreadDims(builder, loc, place, own, all, shape);
  Value places = IotaOp::create(builder, loc, typeOf(given), along);
  Value isOwn = BinaryOp::create(builder, loc, BinaryKind::Eq, given, places);
  Value zero = isa<FloatType>(type.getElementType()) ? makeSplat(builder, loc, type, 0)
                                                     : makeIntegerSplat(builder, loc, type, 0);
  Value chosen = SelectOp::create(builder, loc, isOwn, value, zero);
  return ReduceOp::create(builder, loc, ReduceKind::Add, chosen, ArrayRef(along));
}

SmallVector<Value> zyx::fusion::findFewRows(OpBuilder &builder, Location loc, ArrayRef<Shown> places, Value index,
                                            ArrayRef<int64_t> all, int64_t dim, int64_t rows, IntegerType number,
                                            ArrayRef<int64_t> shape) {
  SmallVector<int64_t> kept(llvm::make_filter_range(all, [&](int64_t d) { return d != dim; }));
  auto binary = [&](BinaryKind kind, Value a, Value b) -> Value { return BinaryOp::create(builder, loc, kind, a, b); };
  auto splat = [&](Value like, int64_t n) { return makeIntegerSplat(builder, loc, typeOf(like), n); };
  auto isBelow = [&](Value x, int64_t end) {
    return binary(BinaryKind::And, binary(BinaryKind::Ge, x, splat(x, 0)), binary(BinaryKind::Lt, x, splat(x, end)));
  };
  auto convert = [&](Value x) -> Value {
    auto type = typeOf(x).clone(number);
    return x.getType() == type ? x : CastOp::create(builder, loc, type, x).getResult();
  };
  SmallVector<Value> earlier, found;
  for (const Shown &shown : places) {
    const SmallVector<int64_t> own = *findOwnDims(shown);
    SmallVector<int64_t> extents = llvm::map_to_vector(own, [&](int64_t d) { return shape[d]; });
    Value compact = reshapeTo(builder, loc, shown.value, extents);
    Value place = spreadDims(builder, loc, compact, own, kept, shape);
    Value row = takePlace(builder, loc, compact, own, index, all, dim, shape);
    Value isInside = binary(BinaryKind::And, isBelow(row, rows), isBelow(place, shape[dim]));
    place = convert(place);
    for (Value other : earlier)
      isInside = binary(BinaryKind::And, isInside, binary(BinaryKind::Ne, place, other));
    earlier.push_back(place);
    Value flat = binary(BinaryKind::Add, convert(row), binary(BinaryKind::Mul, place, splat(place, rows)));
    found.push_back(SelectOp::create(builder, loc, isInside, flat, splat(flat, -1)));
  }
  return found;
}

bool zyx::fusion::isLookedUp(ReduceOp sum) {
  if (sum.getKind() != ReduceKind::Add || sum.getDims().size() != 1)
    return false;
  Value term = sum.getX();
  for (Operation *op = term.getDefiningOp(); op; op = term.getDefiningOp()) {
    auto unary = dyn_cast<UnaryOp>(op);
    auto widened = dyn_cast<CastOp>(op);
    const bool isWider = widened && isa<FloatType>(typeOf(widened.getX()).getElementType()) &&
                         typeOf(widened.getX()).getElementTypeBitWidth() < typeOf(widened).getElementTypeBitWidth();
    if (!isWider && !(unary && unary.getKind() == UnaryKind::Neg))
      break;
    term = op->getOperand(0);
  }
  auto select = term.getDefiningOp<SelectOp>();
  if (!select || !isZero(select.getB()))
    return false;
  const std::optional<Shown> compared = look(select.getCondition(), [](CastOp) { return false; });
  const std::optional<Shown> index = compared ? matchOneHot(*compared, sum.getDims().front()) : std::nullopt;
  // Narrower numbers may not count all places.
  return index && typeOf(index->value).getElementTypeBitWidth() >= 32;
}
