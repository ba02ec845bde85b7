//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "LoopValues.h"
#include "Machine.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_SCATTERONEHOTSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static Value skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  return value;
}

static std::optional<int64_t> getNumber(Value value) {
  ConstantOp splat = zyx::fusion::getSplat(value);
  if (!splat || !isa<IntegerType>(typeOf(splat).getElementType()))
    return std::nullopt;
  return splat.getValue().getSplatValue<APInt>().getSExtValue();
}

static BinaryOp getBinary(Value value, BinaryKind kind) {
  auto binary = value.getDefiningOp<BinaryOp>();
  return binary && binary.getKind() == kind ? binary : BinaryOp();
}

/// The number of a row times its length, along the first of two dimensions.
static bool countsRows(Value value, int64_t length) {
  BinaryOp product = getBinary(value, BinaryKind::Mul);
  if (!product)
    return false;
  for (auto [count, factor] : {std::pair(product.getA(), product.getB()), std::pair(product.getB(), product.getA())}) {
    auto iota = count.getDefiningOp<IotaOp>();
    if (iota && iota.getDim() == 0 && getNumber(factor) == length)
      return true;
  }
  return false;
}

/// Places in a row of so many elements that a sort gives, or the first of them: they are in the row, and each is
/// another.
static bool arePlaces(Value value, int64_t rows, int64_t length) {
  if (auto pad = value.getDefiningOp<PadOp>()) {
    auto isCrop = [](ArrayRef<int64_t> sides) { return llvm::all_of(sides, [](int64_t side) { return side <= 0; }); };
    if (!isCrop(pad.getLow()) || !isCrop(pad.getHigh()) ||
        !llvm::all_of(pad.getInterior(), [](int64_t n) { return n == 0; }) || typeOf(pad).getRank() != 2 ||
        typeOf(pad.getX()).getDimSize(0) != rows)
      return false;
    value = pad.getX();
  }
  auto sort = value.getDefiningOp<SortOp>();
  return sort && sort.getKind() == SortKind::Indices && sort.getDim() == 1 &&
         typeOf(sort).getShape() == ArrayRef<int64_t>{rows, length};
}

static void scatterOneHots(Block &block) {
  // Each result looks at all updates of its row.
  constexpr int64_t mostPairs = 4096, fewestUpdates = 2048;
  for (auto scatter : llvm::make_early_inc_range(block.getOps<ScatterOp>())) {
    RankedTensorType type = typeOf(scatter.getX());
    const int64_t count = typeOf(scatter.getIndices()).getNumElements();
    if (scatter.getKind() != ScatterKind::Add || type.getRank() != 1 || count < fewestUpdates ||
        !isa<FloatType>(type.getElementType()) || !zyx::fusion::isZero(scatter.getX()))
      continue;
    Value index = skipReshapes(scatter.getIndices());
    BinaryOp sum = getBinary(index, BinaryKind::Add);
    if (!sum || typeOf(sum).getRank() != 2)
      continue;
    const int64_t rows = typeOf(sum).getDimSize(0), each = typeOf(sum).getDimSize(1);
    const int64_t length = type.getDimSize(0) / rows;
    if (length * rows != type.getDimSize(0) || length * each > mostPairs)
      continue;
    Value places;
    for (auto [own, number] : {std::pair(sum.getA(), sum.getB()), std::pair(sum.getB(), sum.getA())})
      if (countsRows(number, length) && arePlaces(own, rows, length))
        places = own;
    if (!places)
      continue;
    OpBuilder builder(scatter);
    Location loc = scatter.getLoc();
    const int64_t pairs[] = {rows, length, each}, single[] = {rows, 1, each};
    auto spread = [&](Value value) -> Value {
      RankedTensorType of = typeOf(value);
      Value one = ReshapeOp::create(builder, loc, of.clone(ArrayRef(single)), value);
      return ExpandOp::create(builder, loc, of.clone(ArrayRef(pairs)), one);
    };
    Value column = IotaOp::create(builder, loc, typeOf(places).clone(ArrayRef(pairs)), 1);
    Value isOwn = BinaryOp::create(builder, loc, BinaryKind::Eq, spread(places), column);
    auto terms = type.clone(ArrayRef(pairs));
    Value zero =
        ConstantOp::create(builder, loc, terms,
                           DenseElementsAttr::get(terms, Attribute(builder.getFloatAttr(type.getElementType(), 0.0))));
    Value updates = ReshapeOp::create(builder, loc, type.clone({rows, each}), scatter.getUpdates());
    Value chosen = SelectOp::create(builder, loc, isOwn, spread(updates), zero);
    Value result = ReduceOp::create(builder, loc, ReduceKind::Add, chosen, ArrayRef<int64_t>{2});
    scatter.replaceAllUsesWith(ReshapeOp::create(builder, loc, type, result).getResult());
    scatter.erase();
  }
}

//===----------------------------------------------------------------------===//
// Few updates of each row
//===----------------------------------------------------------------------===//

namespace {

/// Places of a flat tensor that are positions along one dimension of the tensor that it shows.
struct Positions {
  Value value;
  int64_t dim;
  /// Of the tensor that is shown; of the positions it is another one along `dim`.
  SmallVector<int64_t> shape;
};

} // namespace

/// The terms of a sum of integers, each with the number that it is multiplied by.
static void addTerms(Value value, SmallVectorImpl<std::pair<Value, int64_t>> &terms) {
  if (BinaryOp sum = getBinary(value, BinaryKind::Add)) {
    addTerms(sum.getA(), terms);
    return addTerms(sum.getB(), terms);
  }
  if (BinaryOp product = getBinary(value, BinaryKind::Mul)) {
    for (auto [term, factor] : {std::pair(product.getA(), product.getB()), std::pair(product.getB(), product.getA())})
      if (std::optional<int64_t> number = getNumber(factor))
        return terms.push_back({term, *number});
  }
  terms.push_back({value, 1});
}

/// Whether a condition holds for just the positions from 0 on and below `length`.
static bool saysInside(Value condition, Value position, int64_t length) {
  BinaryOp both = getBinary(condition, BinaryKind::And);
  auto compares = [&](Value one, BinaryKind kind, int64_t number) {
    BinaryOp compare = getBinary(one, kind);
    return compare && compare.getA() == position && getNumber(compare.getB()) == number;
  };
  return both && ((compares(both.getA(), BinaryKind::Ge, 0) && compares(both.getB(), BinaryKind::Lt, length)) ||
                  (compares(both.getB(), BinaryKind::Ge, 0) && compares(both.getA(), BinaryKind::Lt, length)));
}

/// Finds positions in places of a flat tensor of `count` elements, as takeAlongAxis and putAlongAxis compute them. A
/// position outside has a place below 0, or there is none.
static std::optional<Positions> findPositions(Value places, int64_t count) {
  places = skipReshapes(places);
  Value condition;
  if (auto select = places.getDefiningOp<SelectOp>()) {
    std::optional<int64_t> otherwise = getNumber(select.getOperand(2));
    if (!otherwise || *otherwise >= 0)
      return std::nullopt;
    condition = select.getOperand(0);
    places = select.getOperand(1);
  }
  auto element = dyn_cast<IntegerType>(typeOf(places).getElementType());
  if (!element || element.isUnsigned() || element.getWidth() < 32)
    return std::nullopt;
  ArrayRef<int64_t> shape = typeOf(places).getShape();
  SmallVector<std::pair<Value, int64_t>> terms;
  addTerms(places, terms);
  Value position;
  int64_t step = 0;
  SmallVector<int64_t> steps(shape.size(), 0);
  for (auto [term, factor] : terms) {
    auto iota = term.getDefiningOp<IotaOp>();
    if (iota && steps[iota.getDim()] == 0) {
      steps[iota.getDim()] = factor;
      continue;
    }
    if (iota || position)
      return std::nullopt;
    position = term;
    step = factor;
  }
  if (!position)
    return std::nullopt;
  for (int64_t dim = 0, rank = static_cast<int64_t>(shape.size()); dim < rank; ++dim) {
    const int64_t others = typeOf(places).getNumElements() / std::max<int64_t>(shape[dim], 1);
    if (steps[dim] != 0 || others == 0 || count % others != 0)
      continue;
    Positions found{position, dim, SmallVector<int64_t>(shape)};
    const int64_t length = found.shape[dim] = count / others;
    int64_t stride = 1;
    bool fits = condition ? saysInside(condition, position, length)
                          : rank == 2 && dim == 1 && arePlaces(position, shape[0], length);
    for (int64_t i = rank - 1; i >= 0; stride *= found.shape[i--])
      fits &= i == dim ? step == stride : steps[i] == stride || (shape[i] == 1 && steps[i] == 0);
    if (fits)
      return found;
  }
  return std::nullopt;
}

/// Each result is the last update of its row whose position is its own, or what was there.
static void chooseUpdates(Block &block) {
  // Each result looks at all updates of its row.
  constexpr int64_t mostUpdates = 8;
  for (auto scatter : llvm::make_early_inc_range(block.getOps<ScatterOp>())) {
    RankedTensorType type = typeOf(scatter.getX());
    ConstantOp before = zyx::fusion::getSplat(scatter.getX());
    if (scatter.getKind() != ScatterKind::Set || type.getRank() != 1 || !before)
      continue;
    std::optional<Positions> found = findPositions(scatter.getIndices(), type.getNumElements());
    if (!found)
      continue;
    SmallVector<int64_t> own(typeOf(found->value).getShape());
    const int64_t dim = found->dim, each = own[dim];
    if (each > mostUpdates)
      continue;
    OpBuilder builder(scatter);
    Location loc = scatter.getLoc();
    auto allOf = [&](Value values, int64_t update) {
      RankedTensorType of = typeOf(values);
      if (each > 1) {
        auto scalar = RankedTensorType::get({}, of.getElementType());
        Value none = ConstantOp::create(builder, loc, scalar, cast<DenseElementsAttr>(builder.getZeroAttr(scalar)));
        SmallVector<int64_t> low(own.size(), 0), high(own.size(), 0), interior(own.size(), 0), one(own);
        low[dim] = -update, high[dim] = update + 1 - each, one[dim] = 1;
        values = PadOp::create(builder, loc, of.clone(one), values, none, low, high, interior);
      }
      auto whole = of.clone(found->shape);
      return typeOf(values) == whole ? values : ExpandOp::create(builder, loc, whole, values).getResult();
    };
    Value updates = scatter.getUpdates();
    if (typeOf(updates).getShape() != ArrayRef(own))
      updates = ReshapeOp::create(builder, loc, type.clone(own), updates);
    Value place = IotaOp::create(builder, loc, typeOf(found->value).clone(found->shape), dim);
    auto whole = type.clone(found->shape);
    Value result = ConstantOp::create(builder, loc, whole,
                                      DenseElementsAttr::get(whole, before.getValue().getSplatValue<Attribute>()));
    for (int64_t update = 0; update < each; ++update) {
      Value isOwn = BinaryOp::create(builder, loc, BinaryKind::Eq, allOf(found->value, update), place);
      result = SelectOp::create(builder, loc, isOwn, allOf(updates, update), result);
    }
    if (whole != type)
      result = ReshapeOp::create(builder, loc, type, result);
    scatter.replaceAllUsesWith(result);
    scatter.erase();
  }
}

namespace {

struct ScatterOneHots : zyx::fusion::impl::ScatterOneHotsPassBase<ScatterOneHots> {
  void runOnOperation() override {
    if (!zyx::fusion::getMachine(getOperation()).hasSubgroups())
      return;
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), scatterOneHots)) ||
        failed(zyx::fusion::rewriteBlocks(getOperation(), chooseUpdates)))
      signalPassFailure();
  }
};

} // namespace
