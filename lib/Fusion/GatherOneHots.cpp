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
using zyx::fusion::FewPlaces;
using zyx::fusion::findFewPlaces;
using zyx::fusion::findOwnDims;
using zyx::fusion::isExactCast;
using zyx::fusion::look;
using zyx::fusion::matchOneHot;
using zyx::fusion::Shown;
using zyx::target::TargetInfo;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// A value that is one-hot along a dimension, and what each of its elements is multiplied with, if anything.
struct Hot {
  Shown indices;
  std::optional<Shown> scale;
};

class OneHotProduct {
public:
  OneHotProduct(ReduceOp sum, bool isCard) : sum(sum), builder(sum), loc(sum.getLoc()), isCard(isCard) {}

  void run() {
    auto product = sum.getX().getDefiningOp<BinaryOp>();
    if (sum.getKind() != ReduceKind::Add || !product || product.getKind() != BinaryKind::Mul ||
        typeOf(product).getNumElements() == 0)
      return;
    shape.assign(typeOf(product).getShape().begin(), typeOf(product).getShape().end());
    constexpr int64_t fewestPlaces = 4;
    for (int64_t dim : sum.getDims())
      for (auto [one, other] : {std::pair(product.getA(), product.getB()), std::pair(product.getB(), product.getA())}) {
        along = dim;
        if (shape[along] < fewestPlaces)
          continue;
        const std::optional<Hot> hot = matchHot(one);
        const std::optional<Shown> table = hot ? look(other, isExactCast) : std::nullopt;
        if (!table || !fits(hot->indices, *table))
          continue;
        if (std::optional<FewPlaces> few = isCard ? findFew(*hot, *table) : std::nullopt)
          return replaceFew(*hot, *table, *few);
        return replace(*hot, *table);
      }
  }

private:
  /// Zero and one are numbers of each type, and so is their product with another one.
  std::optional<Hot> matchHot(Value value) const {
    auto any = [](CastOp) { return true; };
    const std::optional<Shown> compared = look(value, any);
    if (std::optional<Shown> indices = compared ? matchOneHot(*compared, along) : std::nullopt)
      return Hot{*indices, std::nullopt};
    const std::optional<Shown> scaled = look(value, isExactCast);
    auto product = scaled ? scaled->value.getDefiningOp<BinaryOp>() : BinaryOp();
    if (!product || product.getKind() != BinaryKind::Mul || !isa<FloatType>(typeOf(product).getElementType()))
      return std::nullopt;
    auto through = [&](std::optional<Shown> shown) {
      if (shown) {
        SmallVector<std::optional<int64_t>> dims;
        for (std::optional<int64_t> dim : scaled->dims)
          dims.push_back(dim ? shown->dims[*dim] : std::nullopt);
        shown->dims = dims;
      }
      return shown;
    };
    for (auto [one, other] : {std::pair(product.getA(), product.getB()), std::pair(product.getB(), product.getA())}) {
      const std::optional<Shown> inner = through(look(one, any)), scale = through(look(other, isExactCast));
      std::optional<Shown> indices = inner && scale ? matchOneHot(*inner, along) : std::nullopt;
      if (indices && !scale->dims[along] && findOwnDims(*scale))
        return Hot{*indices, scale};
    }
    return std::nullopt;
  }

  /// Each dimension of the product is one of the indices or of the table, or is 1. Both have a batch, which precedes
  /// the rows of the table. What is summed up beside these has an index of its own.
  bool fits(const Shown &indices, const Shown &table) {
    const std::optional<SmallVector<int64_t>> ofTable = findOwnDims(table);
    if (!findOwnDims(indices) || !ofTable || !table.dims[along])
      return false;
    for (auto [d, extent] : llvm::enumerate(shape)) {
      const auto dim = static_cast<int64_t>(d);
      if (extent == 1 || dim == along || indices.dims[dim])
        continue;
      if (!table.dims[dim] || llvm::is_contained(sum.getDims(), dim))
        return false;
    }
    const auto *place = llvm::find(*ofTable, along);
    for (int64_t batch = countBatch(indices, table); batch > 0; --batch)
      if (place == ofTable->begin() || !indices.dims[*--place])
        return false;
    return true;
  }
  static int64_t countBatch(const Shown &indices, const Shown &table) {
    return static_cast<int64_t>(llvm::count_if(llvm::zip_equal(indices.dims, table.dims),
                                               [](auto both) { return std::get<0>(both) && std::get<1>(both); }));
  }

  /// Whether what is gathered is added up, behind a product or without one.
  bool isSummed(const Hot &hot) { return hot.scale || sum.getDims().size() > 1; }

  Value withoutUnits(Value value) {
    SmallVector<int64_t> kept(
        llvm::make_filter_range(typeOf(value).getShape(), [](int64_t extent) { return extent != 1; }));
    return zyx::fusion::reshapeTo(builder, loc, value, kept);
  }
  Value splat(RankedTensorType type, double number) { return zyx::fusion::makeSplat(builder, loc, type, number); }
  Value binary(BinaryKind kind, Value a, Value b) { return BinaryOp::create(builder, loc, kind, a, b); }
  Value findNotFinite(Value x) { return zyx::fusion::findNotFinite(builder, loc, x); }
  /// One there, else zero.
  Value isNotFinite(Value x) {
    return CastOp::create(builder, loc, typeOf(x).clone(builder.getF32Type()), findNotFinite(x));
  }
  Value spread(Value value, ArrayRef<int64_t> own, ArrayRef<int64_t> all) {
    return zyx::fusion::spreadDims(builder, loc, value, own, all, shape);
  }

  /// The number of an element of a batch, in steps of some rows.
  Value findBatch(RankedTensorType type, ArrayRef<int64_t> ofChosen, ArrayRef<int64_t> batch, int64_t stride) {
    auto number = [&](int64_t of) { return zyx::fusion::makeIntegerSplat(builder, loc, type, of); };
    Value sum;
    for (int64_t dim : llvm::reverse(batch)) {
      Value at = IotaOp::create(builder, loc, type, llvm::find(ofChosen, dim) - ofChosen.begin());
      Value own = stride == 1 ? at : binary(BinaryKind::Mul, at, number(stride));
      sum = sum ? binary(BinaryKind::Add, sum, own) : own;
      stride *= shape[dim];
    }
    return sum ? sum : number(0);
  }
  /// Rows of all tables of a batch are one dimension. An index outside of its own table stays outside.
  Value findRows(Value chosen, ArrayRef<int64_t> ofChosen, ArrayRef<int64_t> batch) {
    auto type = cast<RankedTensorType>(typeOf(chosen).clone(builder.getI64Type()));
    if (typeOf(chosen) != type)
      chosen = CastOp::create(builder, loc, type, chosen);
    auto number = [&](int64_t of) { return zyx::fusion::makeIntegerSplat(builder, loc, type, of); };
    Value isInside = binary(BinaryKind::And, binary(BinaryKind::Ge, chosen, number(0)),
                            binary(BinaryKind::Lt, chosen, number(shape[along])));
    Value row = binary(BinaryKind::Add, chosen, findBatch(type, ofChosen, batch, shape[along]));
    return SelectOp::create(builder, loc, isInside, row, number(-1));
  }
  /// Counts of each column, for each element of a batch, as what is gathered has them. What follows adds up along other
  /// dimensions: on a card a kernel of its own makes the counts, from which these are gathered as well.
  Value gatherCounts(Value counts, int64_t first, int64_t numBatch, ArrayRef<int64_t> ofChosen, ArrayRef<int64_t> batch,
                     ArrayRef<int64_t> extents) {
    SmallVector<int64_t> merged(typeOf(counts).getShape()), chosen;
    const int64_t elements = ShapedType::getNumElements(ArrayRef(merged).slice(first, numBatch));
    merged.erase(merged.begin() + first, merged.begin() + first + numBatch);
    merged.insert(merged.begin() + first, elements);
    for (int64_t dim : ofChosen)
      chosen.push_back(shape[dim]);
    Value source = zyx::fusion::reshapeTo(builder, loc, counts, merged);
    Value at = findBatch(RankedTensorType::get(chosen, builder.getI64Type()), ofChosen, batch, 1);
    return GatherOp::create(builder, loc, typeOf(counts).clone(extents), source, at, first);
  }

  void replace(const Hot &hot, const Shown &table) {
    Value rows = withoutUnits(table.value), chosen = withoutUnits(hot.indices.value);
    const SmallVector<int64_t> ofRows = *findOwnDims(table), ofChosen = *findOwnDims(hot.indices);
    const auto numBatch = countBatch(hot.indices, table);
    const auto place = static_cast<int64_t>(llvm::find(ofRows, along) - ofRows.begin()), first = place - numBatch;
    const ArrayRef<int64_t> batch = ArrayRef(ofRows).slice(first, numBatch);
    // Dimensions of the product, as what is gathered has them.
    SmallVector<int64_t> gathered(ArrayRef(ofRows).take_front(first)), extents;
    llvm::append_range(gathered, ofChosen);
    llvm::append_range(gathered, ArrayRef(ofRows).drop_front(place + 1));
    for (int64_t dim : gathered)
      extents.push_back(shape[dim]);

    Value source = rows, at = chosen;
    if (numBatch != 0) {
      SmallVector<int64_t> merged(typeOf(rows).getShape());
      merged[first] = ShapedType::getNumElements(ArrayRef(merged).slice(first, numBatch + 1));
      merged.erase(merged.begin() + first + 1, merged.begin() + place + 1);
      source = ReshapeOp::create(builder, loc, typeOf(rows).clone(merged), rows);
      at = findRows(chosen, ofChosen, batch);
    }
    Value result = GatherOp::create(builder, loc, typeOf(rows).clone(extents), source, at, first);
    if (isa<FloatType>(typeOf(rows).getElementType())) {
      auto numbers = cast<RankedTensorType>(typeOf(rows).clone(builder.getF32Type()));
      SmallVector<int64_t> columns(numbers.getShape()), ofColumns(ofRows);
      columns.erase(columns.begin() + place);
      ofColumns.erase(ofColumns.begin() + place);
      auto counts =
          ReduceOp::create(builder, loc, numbers.clone(columns), ReduceKind::Add, isNotFinite(rows), ArrayRef(place));
      // Sums of its parts would be added up by each of their many readers.
      if (isCard)
        counts->setAttr(zyx::fusion::partsAttrName, builder.getDenseI64ArrayAttr({}));
      Value others = isCard && isSummed(hot) ? gatherCounts(counts, first, numBatch, ofChosen, batch, extents)
                                             : spread(counts, ofColumns, gathered);
      Value isLost = binary(BinaryKind::Gt, others, isNotFinite(result));
      Value lost = splat(typeOf(result), std::numeric_limits<double>::quiet_NaN());
      result = SelectOp::create(builder, loc, isLost, lost, result);
    }
    SmallVector<int64_t> sorted(gathered);
    llvm::sort(sorted);
    result = spread(result, gathered, sorted);
    auto type = typeOf(sum.getResult());
    if (hot.scale) {
      result = CastOp::create(builder, loc, typeOf(result).clone(type.getElementType()), result);
      result = binary(BinaryKind::Mul, result, scaleOf(*hot.scale, sorted, type.getElementType()));
    }
    // What has an index for each of its elements is added up behind.
    SmallVector<int64_t> dims;
    for (auto [i, dim] : llvm::enumerate(sorted))
      if (llvm::is_contained(sum.getDims(), dim))
        dims.push_back(static_cast<int64_t>(i));
    if (!dims.empty()) {
      if (typeOf(result).getElementType() != type.getElementType())
        result = CastOp::create(builder, loc, typeOf(result).clone(type.getElementType()), result);
      SmallVector<int64_t> kept;
      for (auto [i, extent] : llvm::enumerate(typeOf(result).getShape()))
        if (!llvm::is_contained(dims, static_cast<int64_t>(i)))
          kept.push_back(extent);
      result = ReduceOp::create(builder, loc, type.clone(kept), ReduceKind::Add, result, dims);
    }
    result = zyx::fusion::reshapeTo(builder, loc, result, type.getShape());
    if (result.getType() != type)
      result = CastOp::create(builder, loc, type, result);
    sum.replaceAllUsesWith(result);
    sum.erase();
  }

  /// Where an element is of few tables of a batch that is added up, these. What it is multiplied by is a number at the
  /// others.
  std::optional<FewPlaces> findFew(const Hot &hot, const Shown &table) {
    // Rows of all of them are gathered, and those of the same table are told from each other.
    constexpr size_t mostPlaces = 8;
    const SmallVector<int64_t> ofChosen = *findOwnDims(hot.indices), ofTable = *findOwnDims(table);
    if (countBatch(hot.indices, table) != 1 || sum.getDims().size() != 2 ||
        !isa<FloatType>(typeOf(table.value).getElementType()) ||
        typeOf(hot.indices.value).getElementTypeBitWidth() < 32)
      return std::nullopt;
    const int64_t batch = *std::prev(llvm::find(ofTable, along));
    if (!llvm::is_contained(sum.getDims(), batch) || shape[batch] * shape[along] > std::numeric_limits<int32_t>::max())
      return std::nullopt;
    std::optional<FewPlaces> found = findFewPlaces(hot.indices, batch);
    if (!found || (found->rest >= 0 && found->rest < shape[along]))
      return std::nullopt;
    if (hot.scale) {
      const std::optional<SmallVector<int64_t>> ofScale = findOwnDims(*hot.scale);
      if (!ofScale || !llvm::all_of(*ofScale, [&](int64_t dim) { return llvm::is_contained(ofChosen, dim); }))
        return std::nullopt;
      if (hot.scale->dims[batch]) {
        const std::optional<FewPlaces> ofFactor = findFewPlaces(*hot.scale, batch);
        if (!ofFactor)
          return std::nullopt;
        zyx::fusion::addPlaces(*found, *ofFactor);
      }
    }
    const size_t count = found->places.size();
    return count != 0 && count <= mostPlaces && 2 * static_cast<int64_t>(count) <= shape[batch] ? found : std::nullopt;
  }
  /// Gathers from the few tables that an element is of. All the others are multiplied by zero: a column is NaN where
  /// there are more elements that are not finite than those that were gathered.
  void replaceFew(const Hot &hot, const Shown &table, const FewPlaces &few) {
    Value rows = withoutUnits(table.value), chosen = withoutUnits(hot.indices.value);
    const SmallVector<int64_t> ofRows = *findOwnDims(table), ofChosen = *findOwnDims(hot.indices);
    const auto place = static_cast<int64_t>(llvm::find(ofRows, along) - ofRows.begin()), first = place - 1;
    const int64_t batch = ofRows[first];
    SmallVector<int64_t> own(llvm::make_filter_range(ofChosen, [&](int64_t dim) { return dim != batch; }));
    SmallVector<int64_t> gathered(ArrayRef(ofRows).take_front(first)), extents;
    llvm::append_range(gathered, own);
    llvm::append_range(gathered, ArrayRef(ofRows).drop_front(place + 1));
    for (int64_t dim : gathered)
      extents.push_back(shape[dim]);

    SmallVector<int64_t> merged(typeOf(rows).getShape());
    merged[first] *= merged[place];
    merged.erase(merged.begin() + place);
    Value source = zyx::fusion::reshapeTo(builder, loc, rows, merged);
    auto type = typeOf(sum.getResult());
    auto wide = cast<RankedTensorType>(type.clone(extents));
    const SmallVector<Value> found = zyx::fusion::findFewRows(builder, loc, few.places, chosen, ofChosen, batch,
                                                              shape[along], builder.getI32Type(), shape);
    Value factor = hot.scale ? findFactor(*hot.scale, type.getElementType()) : Value(), result, taken;
    const SmallVector<int64_t> ofFactor = hot.scale ? *findOwnDims(*hot.scale) : SmallVector<int64_t>();
    for (auto [shown, at] : llvm::zip_equal(few.places, found)) {
      Value row = GatherOp::create(builder, loc, typeOf(rows).clone(extents), source, at, first);
      Value isLost = isNotFinite(row), term = row;
      taken = taken ? binary(BinaryKind::Add, taken, isLost) : isLost;
      if (term.getType() != wide)
        term = CastOp::create(builder, loc, wide, term);
      if (factor && llvm::is_contained(ofFactor, batch)) {
        const SmallVector<int64_t> ofPlace = *findOwnDims(shown);
        SmallVector<int64_t> placeExtents;
        for (int64_t dim : ofPlace)
          placeExtents.push_back(shape[dim]);
        Value compact = zyx::fusion::reshapeTo(builder, loc, shown.value, placeExtents);
        Value taken = zyx::fusion::takePlace(builder, loc, compact, ofPlace, spread(factor, ofFactor, ofChosen),
                                             ofChosen, batch, shape);
        term = binary(BinaryKind::Mul, term, spread(taken, own, gathered));
      } else if (factor) {
        term = binary(BinaryKind::Mul, term, spread(factor, ofFactor, gathered));
      }
      result = result ? binary(BinaryKind::Add, result, term) : term;
    }
    auto numbers = cast<RankedTensorType>(typeOf(rows).clone(builder.getF32Type()));
    SmallVector<int64_t> columns(merged);
    SmallVector<int64_t> withoutFirst(merged);
    withoutFirst.erase(withoutFirst.begin() + first);
    columns[first] = 1;
    Value counts = ReduceOp::create(builder, loc, numbers.clone(withoutFirst), ReduceKind::Add, isNotFinite(source),
                                    ArrayRef(first));
    // What is gathered from is stored: no reader adds up parts of the sum.
    SmallVector<int64_t> extentsOfOwn;
    for (int64_t dim : own)
      extentsOfOwn.push_back(shape[dim]);
    Value none =
        zyx::fusion::makeIntegerSplat(builder, loc, RankedTensorType::get(extentsOfOwn, builder.getI32Type()), 0);
    Value all = GatherOp::create(builder, loc, wide.clone(builder.getF32Type()),
                                 zyx::fusion::reshapeTo(builder, loc, counts, columns), none, first);
    Value isLost = binary(BinaryKind::Gt, all, taken);
    result = SelectOp::create(builder, loc, isLost, splat(wide, std::numeric_limits<double>::quiet_NaN()), result);
    SmallVector<int64_t> sorted(gathered);
    llvm::sort(sorted);
    sum.replaceAllUsesWith(zyx::fusion::reshapeTo(builder, loc, spread(result, gathered, sorted), type.getShape()));
    sum.erase();
  }

  /// Zero times a factor that is not finite is NaN, and all rows but one are multiplied by zero.
  Value scaleOf(const Shown &scale, ArrayRef<int64_t> all, Type type) {
    return spread(findFactor(scale, type), *findOwnDims(scale), all);
  }
  Value findFactor(const Shown &scale, Type type) {
    Value factor = withoutUnits(scale.value);
    Value nan = splat(typeOf(factor), std::numeric_limits<double>::quiet_NaN());
    factor = SelectOp::create(builder, loc, findNotFinite(factor), nan, factor);
    if (typeOf(factor).getElementType() != type)
      factor = CastOp::create(builder, loc, typeOf(factor).clone(type), factor);
    return factor;
  }

  ReduceOp sum;
  OpBuilder builder;
  Location loc;
  const bool isCard;
  SmallVector<int64_t> shape;
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
