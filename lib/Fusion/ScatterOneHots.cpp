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

namespace {

struct ScatterOneHots : zyx::fusion::impl::ScatterOneHotsPassBase<ScatterOneHots> {
  void runOnOperation() override {
    if (!zyx::fusion::getMachine(getOperation()).hasSubgroups())
      return;
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), scatterOneHots)))
      signalPassFailure();
  }
};

} // namespace
