//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Products with one-hot rows, as embeddings of few characters are written.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Machine.h"
#include "Notes.h"
#include "OneHots.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

#include <limits>

namespace zyx::fusion {
#define GEN_PASS_DEF_GATHERONEHOTSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::isExactCast;
using zyx::fusion::look;
using zyx::fusion::matchOneHot;
using zyx::fusion::Shown;
using zyx::target::TargetInfo;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

class OneHotProduct {
public:
  OneHotProduct(ReduceOp sum, bool isCard) : sum(sum), builder(sum), loc(sum.getLoc()), isCard(isCard) {}

  void run() {
    auto product = sum.getX().getDefiningOp<BinaryOp>();
    if (sum.getKind() != ReduceKind::Add || sum.getDims().size() != 1 || !product ||
        product.getKind() != BinaryKind::Mul)
      return;
    along = sum.getDims().front();
    constexpr int64_t fewestPlaces = 4;
    if (typeOf(product).getDimSize(along) < fewestPlaces || typeOf(product).getNumElements() == 0)
      return;
    for (auto [one, other] : {std::pair(product.getA(), product.getB()), std::pair(product.getB(), product.getA())}) {
      // Zero and one are numbers of each type.
      const std::optional<Shown> compared = look(one, [](CastOp) { return true; });
      const std::optional<Shown> indices = compared ? matchOneHot(*compared, along) : std::nullopt,
                                 table = look(other, isExactCast);
      if (indices && table && fits(*indices, *table, typeOf(product).getShape()))
        return replace(*indices, *table);
    }
  }

private:
  /// Each dimension of the product is one of the indices or of the table, or is 1, and each has its own in their order.
  bool fits(const Shown &indices, const Shown &table, ArrayRef<int64_t> shape) const {
    auto areAll = [&](const Shown &shown) {
      int64_t next = 0;
      for (std::optional<int64_t> dim : shown.dims) {
        if (!dim)
          continue;
        while (next < *dim && typeOf(shown.value).getDimSize(next) == 1)
          ++next;
        if (*dim != next++)
          return false;
      }
      ArrayRef<int64_t> rest = typeOf(shown.value).getShape().drop_front(next);
      return llvm::all_of(rest, [](int64_t extent) { return extent == 1; });
    };
    if (!areAll(indices) || !areAll(table) || !table.dims[along])
      return false;
    for (auto [dim, extent] : llvm::enumerate(shape))
      if (extent != 1 && static_cast<int64_t>(dim) != along &&
          indices.dims[dim].has_value() == table.dims[dim].has_value())
        return false;
    return true;
  }

  Value withoutUnits(Value value) {
    SmallVector<int64_t> shape(
        llvm::make_filter_range(typeOf(value).getShape(), [](int64_t extent) { return extent != 1; }));
    return ReshapeOp::create(builder, loc, typeOf(value).clone(shape), value);
  }
  Value splat(RankedTensorType type, double number) { return zyx::fusion::makeSplat(builder, loc, type, number); }
  /// One where an element is not finite, else zero.
  Value isNotFinite(Value x) {
    Value difference = BinaryOp::create(builder, loc, BinaryKind::Sub, x, x);
    Value differs = BinaryOp::create(builder, loc, BinaryKind::Ne, difference, splat(typeOf(x), 0));
    return CastOp::create(builder, loc, typeOf(x).clone(builder.getF32Type()), differs);
  }

  void replace(const Shown &indices, const Shown &table) {
    Value rows = withoutUnits(table.value), chosen = withoutUnits(indices.value);
    // Dimensions of the product, as rows and what is gathered have them.
    SmallVector<int64_t> ofRows, ofChosen, gathered;
    for (int64_t dim = 0, rank = table.dims.size(); dim < rank; ++dim) {
      if (table.dims[dim])
        ofRows.push_back(dim);
      if (indices.dims[dim])
        ofChosen.push_back(dim);
    }
    const auto place = static_cast<int64_t>(llvm::find(ofRows, along) - ofRows.begin());
    for (int64_t dim : ofRows)
      if (dim == along)
        llvm::append_range(gathered, ofChosen);
      else
        gathered.push_back(dim);
    SmallVector<int64_t> shape, order;
    for (int64_t dim : gathered)
      shape.push_back(typeOf(sum.getX()).getDimSize(dim));
    for (int64_t i = 0, rank = gathered.size(); i < rank; ++i)
      order.push_back(i);
    llvm::sort(order, [&](int64_t a, int64_t b) { return gathered[a] < gathered[b]; });

    Value result = GatherOp::create(builder, loc, typeOf(rows).clone(shape), rows, chosen, place);
    if (auto element = dyn_cast<FloatType>(typeOf(rows).getElementType())) {
      auto numbers = cast<RankedTensorType>(typeOf(rows).clone(builder.getF32Type()));
      SmallVector<int64_t> columns(numbers.getShape());
      columns.erase(columns.begin() + place);
      auto counts =
          ReduceOp::create(builder, loc, numbers.clone(columns), ReduceKind::Add, isNotFinite(rows), ArrayRef(place));
      // Sums of its parts would be added up by each of their many readers.
      if (isCard)
        counts->setAttr(zyx::fusion::partsAttrName, builder.getDenseI64ArrayAttr({}));
      Value others = counts;
      // Columns have the dimensions of what is gathered but for those of the indices.
      SmallVector<int64_t> units(shape);
      for (size_t i = 0; i < ofChosen.size(); ++i)
        units[place + i] = 1;
      others = ReshapeOp::create(builder, loc, numbers.clone(units), others);
      others = ExpandOp::create(builder, loc, numbers.clone(shape), others);
      Value isLost = BinaryOp::create(builder, loc, BinaryKind::Gt, others, isNotFinite(result));
      Value lost = splat(typeOf(result), std::numeric_limits<double>::quiet_NaN());
      result = SelectOp::create(builder, loc, isLost, lost, result);
    }
    if (!llvm::is_sorted(order)) {
      SmallVector<int64_t> permuted;
      for (int64_t i : order)
        permuted.push_back(shape[i]);
      result = PermuteOp::create(builder, loc, typeOf(result).clone(permuted), result, order);
    }
    auto type = typeOf(sum.getResult());
    result = ReshapeOp::create(builder, loc, typeOf(result).clone(type.getShape()), result);
    if (result.getType() != type)
      result = CastOp::create(builder, loc, type, result);
    sum.replaceAllUsesWith(result);
    sum.erase();
  }

  ReduceOp sum;
  OpBuilder builder;
  Location loc;
  const bool isCard;
  int64_t along = 0;
};

} // namespace

static void gatherOneHots(Block &block, const TargetInfo &machine) {
  for (auto sum : llvm::make_early_inc_range(block.getOps<ReduceOp>()))
    OneHotProduct(sum, machine.hasSubgroups()).run();
}

namespace {

struct GatherOneHots : zyx::fusion::impl::GatherOneHotsPassBase<GatherOneHots> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { gatherOneHots(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
