//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Products that sum up rows by one-hot factors, as the gradients of embeddings of few characters are written.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Machine.h"
#include "Notes.h"
#include "OneHots.h"

#include "zyx/Fusion/Passes.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/IR/Builders.h"

#include <limits>

namespace zyx::fusion {
#define GEN_PASS_DEF_ADDONEHOTSPASS
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

/// Whether it takes longer to multiply so many updates with as many rows than to move so many of them by the kernels of
/// a scatter, and by those that look for what is not finite.
bool isFaster(int64_t updates, int64_t moved, int64_t rows, Type type, const TargetInfo &machine) {
  namespace fits = zyx::target::fits::oneHots;
  const auto &costs = machine.costs;
  const double products = type.isF32() ? static_cast<double>(costs.simtF32ProductsPerCycle)
                                       : static_cast<double>(costs.matrixProductsPerCycle) * fits::computedRate;
  if (products == 0 || costs.memoryBytesPerCycle == 0)
    return false;
  const auto cores = static_cast<double>(machine.cores);
  const double bytes = type.isF32() ? fits::wideBytes : fits::narrowBytes;
  return static_cast<double>(updates) / cores * static_cast<double>(rows) / products >
         static_cast<double>(moved) / cores * bytes / static_cast<double>(costs.memoryBytesPerCycle) +
             fits::moreKernels * static_cast<double>(costs.launchCycles);
}

/// A sum of products of which one factor says for each update its row. Both factors may have a batch, whose rows are
/// apart, or the updates are the same for all of it.
class OneHotSum {
public:
  OneHotSum(ReduceOp sum, const TargetInfo &machine) : sum(sum), builder(sum), loc(sum.getLoc()), machine(machine) {}

  void run() {
    auto product = sum.getX().getDefiningOp<BinaryOp>();
    if (sum.getKind() != ReduceKind::Add || !typeOf(sum.getResult()).getElementType().isF32() || !product ||
        product.getKind() != BinaryKind::Mul || typeOf(product).getNumElements() == 0)
      return;
    shape.assign(typeOf(product).getShape().begin(), typeOf(product).getShape().end());
    for (int64_t dim = 0, rank = static_cast<int64_t>(shape.size()); dim < rank; ++dim) {
      along = dim;
      if (isSummed(along) || shape[along] == 1)
        continue;
      for (auto [one, other] : {std::pair(product.getA(), product.getB()), std::pair(product.getB(), product.getA())}) {
        const std::optional<Shown> compared = look(one, [](CastOp) { return true; });
        const std::optional<Shown> indices = compared ? matchOneHot(*compared, along) : std::nullopt,
                                   updates = look(other, isExactCast);
        if (indices && updates && fits(*indices, *updates))
          return few ? replaceFew(*indices, *updates) : replace(*indices, *updates);
      }
    }
  }

private:
  bool isSummed(int64_t dim) { return llvm::is_contained(sum.getDims(), dim); }
  /// Indices have the summed dimensions, and those of a batch; updates have the summed dimensions and the columns.
  bool fits(const Shown &indices, const Shown &updates) {
    // Narrower numbers may not count all rows.
    const std::optional<SmallVector<int64_t>> ofIndices = findOwnDims(indices), ofUpdates = findOwnDims(updates);
    if (typeOf(indices.value).getElementTypeBitWidth() < 32 || !ofIndices || !ofUpdates || updates.dims[along])
      return false;
    int64_t count = 1, columns = 1, batch = 1;
    bool isAddedUp = false;
    for (auto [d, extent] : llvm::enumerate(shape)) {
      const auto dim = static_cast<int64_t>(d);
      if (extent == 1 || dim == along)
        continue;
      const bool isIndexed = indices.dims[dim].has_value(), isUpdated = updates.dims[dim].has_value();
      if (isSummed(dim) ? !isIndexed || !isUpdated : !isIndexed && !isUpdated)
        return false;
      (isIndexed ? count : columns) *= extent;
      isAddedUp |= isSummed(dim);
      if (isIndexed && !isSummed(dim))
        batch *= extent;
    }
    few = findFew(indices, *ofIndices);
    // Of a batch only those updates move that have a row there.
    const int64_t moved = few ? count / batch * static_cast<int64_t>(few->places.size()) : count;
    // One update of each place is a product, and nothing is added up.
    return isAddedUp && batch * shape[along] <= std::numeric_limits<int32_t>::max() &&
           isFaster(count * columns, moved * columns, shape[along], typeOf(updates.value).getElementType(), machine);
  }
  /// Where an update is of few elements of a batch, these.
  std::optional<FewPlaces> findFew(const Shown &indices, ArrayRef<int64_t> ofIndices) {
    SmallVector<int64_t> batch(llvm::make_filter_range(ofIndices, [&](int64_t dim) { return !isSummed(dim); }));
    if (batch.size() != 1)
      return std::nullopt;
    // Each place is compared with all others.
    constexpr size_t mostPlaces = 4;
    std::optional<FewPlaces> found = findFewPlaces(indices, batch.front());
    if (!found || found->places.empty() || found->places.size() > mostPlaces ||
        2 * static_cast<int64_t>(found->places.size()) > shape[batch.front()] ||
        (found->rest >= 0 && found->rest < shape[along]))
      return std::nullopt;
    return found;
  }

  Value splat(RankedTensorType type, int64_t number) {
    return zyx::fusion::makeIntegerSplat(builder, loc, type, number);
  }
  Value binary(BinaryKind kind, Value a, Value b) { return BinaryOp::create(builder, loc, kind, a, b); }
  SmallVector<int64_t> extentsOf(ArrayRef<int64_t> dims) const {
    return llvm::map_to_vector(dims, [&](int64_t dim) { return shape[dim]; });
  }
  Value reshape(Value value, ArrayRef<int64_t> to) { return zyx::fusion::reshapeTo(builder, loc, value, to); }
  Value spread(Value value, ArrayRef<int64_t> own, ArrayRef<int64_t> all) {
    return zyx::fusion::spreadDims(builder, loc, value, own, all, shape);
  }

  /// Zero times what is not finite is NaN: a row has that where an update of another one is not finite. The least and
  /// the last row of such updates of each column say whether there is one.
  Value findLost(Value row, ArrayRef<int64_t> ofRow, Value updates, ArrayRef<int64_t> ofUpdates,
                 ArrayRef<int64_t> results) {
    auto number = builder.getI32Type();
    SmallVector<int64_t> all(ofRow), kept, summed;
    for (int64_t dim : ofUpdates)
      if (!llvm::is_contained(all, dim))
        all.push_back(dim);
    for (auto [i, dim] : llvm::enumerate(all))
      if (isSummed(dim))
        summed.push_back(static_cast<int64_t>(i));
      else
        kept.push_back(dim);
    const auto flags = RankedTensorType::get(extentsOf(all), number);
    Value isLost = spread(zyx::fusion::findNotFinite(builder, loc, updates), ofUpdates, all);
    row = spread(row, ofRow, all);
    auto bound = [&](ReduceKind kind, int64_t none) {
      Value chosen = SelectOp::create(builder, loc, isLost, row, splat(flags, none));
      Value found =
          ReduceOp::create(builder, loc, RankedTensorType::get(extentsOf(kept), number), kind, chosen, summed);
      return spread(found, kept, results);
    };
    const auto place = static_cast<int64_t>(llvm::find(results, along) - results.begin());
    Value own = IotaOp::create(builder, loc, RankedTensorType::get(extentsOf(results), number), place);
    return binary(BinaryKind::Or,
                  binary(BinaryKind::Lt, bound(ReduceKind::Min, std::numeric_limits<int32_t>::max()), own),
                  binary(BinaryKind::Gt, bound(ReduceKind::Max, std::numeric_limits<int32_t>::min()), own));
  }

  void replace(const Shown &indices, const Shown &shownUpdates) {
    RankedTensorType type = typeOf(sum.getResult());
    const SmallVector<int64_t> ofIndices = *findOwnDims(indices), ofUpdates = *findOwnDims(shownUpdates);
    SmallVector<int64_t> batch, columns, all(ofIndices);
    for (int64_t dim : ofIndices)
      if (!isSummed(dim))
        batch.push_back(dim);
    for (int64_t dim : ofUpdates)
      if (!llvm::is_contained(ofIndices, dim))
        columns.push_back(dim);
    llvm::append_range(all, columns);
    const int64_t rows = shape[along], count = ShapedType::getNumElements(extentsOf(ofIndices)),
                  numColumns = ShapedType::getNumElements(extentsOf(columns)),
                  numRows = rows * ShapedType::getNumElements(extentsOf(batch));

    // Rows are numbers of 32 bits, and -1 where they lie outside.
    auto number = builder.getI32Type();
    Value at = reshape(indices.value, extentsOf(ofIndices)), given = reshape(shownUpdates.value, extentsOf(ofUpdates));
    RankedTensorType own = typeOf(at);
    Value isInside = binary(BinaryKind::And, binary(BinaryKind::Ge, at, splat(own, 0)),
                            binary(BinaryKind::Lt, at, splat(own, rows)));
    auto narrow = RankedTensorType::get(extentsOf(ofIndices), number);
    Value row = typeOf(at) == narrow ? at : CastOp::create(builder, loc, narrow, at).getResult();
    row = SelectOp::create(builder, loc, isInside, row, splat(narrow, -1));
    if (!batch.empty()) {
      Value apart = at = row;
      int64_t stride = rows;
      for (int64_t dim : llvm::reverse(batch)) {
        Value place = IotaOp::create(builder, loc, narrow, llvm::find(ofIndices, dim) - ofIndices.begin());
        apart = binary(BinaryKind::Add, apart, binary(BinaryKind::Mul, place, splat(narrow, stride)));
        stride *= shape[dim];
      }
      at = SelectOp::create(builder, loc, isInside, apart, row);
    }

    SmallVector<int64_t> results(batch);
    results.push_back(along);
    llvm::append_range(results, columns);
    SmallVector<int64_t> kept(results);
    llvm::sort(kept);
    Value isLost = findLost(row, ofIndices, given, ofUpdates, results), wide = given;
    if (!typeOf(given).getElementType().isF32())
      wide = CastOp::create(builder, loc, typeOf(given).clone(builder.getF32Type()), given);
    wide = reshape(spread(wide, ofUpdates, all), {count, numColumns});
    auto flat = type.clone(ArrayRef<int64_t>{numRows, numColumns});
    Value added = ScatterOp::create(builder, loc, flat, ScatterKind::Add, zyx::fusion::makeSplat(builder, loc, flat, 0),
                                    reshape(at, {count}), wide, 0);
    auto made = type.clone(extentsOf(results));
    Value lost = zyx::fusion::makeSplat(builder, loc, made, std::numeric_limits<double>::quiet_NaN());
    Value result = SelectOp::create(builder, loc, isLost, lost, reshape(added, extentsOf(results)));
    sum.replaceAllUsesWith(reshape(spread(result, results, kept), type.getShape()));
    sum.erase();
  }

  /// Which rows are NaN, in columns of updates in a row each, where an update has few rows: those that do not have all
  /// updates of the column that are not finite. Only rows of the first such update can have them all.
  Value findLost(ArrayRef<Value> rowsOf, Value updates, RankedTensorType flat) {
    auto number = builder.getI32Type();
    ArrayRef<int64_t> pairs = typeOf(updates).getShape();
    const auto all = RankedTensorType::get(pairs, number), columns = RankedTensorType::get({pairs[1]}, number);
    auto down = [&](Value row) -> Value { return spread2(row, {pairs[0], 1}, pairs); };
    auto across = [&](Value column, ArrayRef<int64_t> to) -> Value { return spread2(column, {1, pairs[1]}, to); };
    constexpr int64_t none = std::numeric_limits<int32_t>::max();
    Value isLost = zyx::fusion::findNotFinite(builder, loc, updates);
    // Numbers of one dimension: parts of the reduction go through what is repeated.
    Value update = down(IotaOp::create(builder, loc, RankedTensorType::get({pairs[0]}, number), 0));
    Value first = ReduceOp::create(builder, loc, columns, ReduceKind::Min,
                                   SelectOp::create(builder, loc, isLost, update, splat(all, none)).getResult(),
                                   ArrayRef<int64_t>{0});
    SmallVector<Value> candidates;
    for (Value row : rowsOf)
      candidates.push_back(GatherOp::create(builder, loc, columns, row, first, 0));
    const ArrayRef<int64_t> made = flat.getShape();
    Value own = IotaOp::create(builder, loc, RankedTensorType::get(made, number), 0);
    Value lost = across(binary(BinaryKind::Ne, first, splat(columns, none)), made);
    for (Value candidate : candidates) {
      Value isMissing = isLost;
      for (Value row : rowsOf)
        isMissing = binary(BinaryKind::And, isMissing, binary(BinaryKind::Ne, down(row), across(candidate, pairs)));
      Value misses = ReduceOp::create(builder, loc, columns, ReduceKind::Max,
                                      CastOp::create(builder, loc, all, isMissing).getResult(), ArrayRef<int64_t>{0});
      Value isWhole = binary(BinaryKind::Eq, misses, splat(columns, 0));
      Value whole = SelectOp::create(builder, loc, isWhole, candidate, splat(columns, -1));
      lost = binary(BinaryKind::And, lost, binary(BinaryKind::Ne, across(whole, made), own));
    }
    return lost;
  }
  Value spread2(Value value, ArrayRef<int64_t> units, ArrayRef<int64_t> to) {
    RankedTensorType type = typeOf(value);
    return ExpandOp::create(builder, loc, type.clone(to), reshape(value, units));
  }

  /// The same where each update has a row in few elements of the batch.
  void replaceFew(const Shown &indices, const Shown &shownUpdates) {
    RankedTensorType type = typeOf(sum.getResult());
    const SmallVector<int64_t> ofIndices = *findOwnDims(indices), ofUpdates = *findOwnDims(shownUpdates);
    SmallVector<int64_t> summed, results, all;
    for (int64_t dim : ofIndices)
      (isSummed(dim) ? summed : results).push_back(dim);
    const int64_t batch = results.front();
    results.push_back(along);
    all = summed;
    for (int64_t dim : ofUpdates)
      if (!llvm::is_contained(ofIndices, dim)) {
        all.push_back(dim);
        results.push_back(dim);
      }
    const int64_t rows = shape[along], count = ShapedType::getNumElements(extentsOf(summed)),
                  each = static_cast<int64_t>(few->places.size()),
                  numColumns = ShapedType::getNumElements(extentsOf(all)) / count;
    Value at = reshape(indices.value, extentsOf(ofIndices)), given = reshape(shownUpdates.value, extentsOf(ofUpdates));
    SmallVector<Value> rowsOf =
        zyx::fusion::findFewRows(builder, loc, few->places, at, ofIndices, batch, rows, builder.getI32Type(), shape);
    for (Value &row : rowsOf)
      row = reshape(row, {count});
    given = reshape(spread(given, ofUpdates, all), {count, numColumns});
    auto flat = type.clone(ArrayRef<int64_t>{rows * shape[batch], numColumns});
    Value isLost = findLost(rowsOf, given, flat), wide = given, chosen;
    if (!typeOf(given).getElementType().isF32())
      wide = CastOp::create(builder, loc, typeOf(given).clone(builder.getF32Type()), given);
    wide = reshape(spread2(wide, {count, 1, numColumns}, {count, each, numColumns}), {count * each, numColumns});
    const auto places = RankedTensorType::get({count, each}, builder.getI32Type());
    for (auto [i, row] : llvm::enumerate(rowsOf)) {
      Value spreadRow = spread2(row, {count, 1}, {count, each});
      Value place = IotaOp::create(builder, loc, places, 1);
      Value isOwn = binary(BinaryKind::Eq, place, splat(places, static_cast<int64_t>(i)));
      chosen = i == 0 ? spreadRow : SelectOp::create(builder, loc, isOwn, spreadRow, chosen).getResult();
    }
    Value added = ScatterOp::create(builder, loc, flat, ScatterKind::Add, zyx::fusion::makeSplat(builder, loc, flat, 0),
                                    reshape(chosen, {count * each}), wide, 0);
    Value lost = zyx::fusion::makeSplat(builder, loc, flat, std::numeric_limits<double>::quiet_NaN());
    Value result = SelectOp::create(builder, loc, isLost, lost, added);
    SmallVector<int64_t> kept(results);
    llvm::sort(kept);
    sum.replaceAllUsesWith(reshape(spread(reshape(result, extentsOf(results)), results, kept), type.getShape()));
    sum.erase();
  }

  ReduceOp sum;
  OpBuilder builder;
  Location loc;
  const TargetInfo &machine;
  std::optional<FewPlaces> few;
  SmallVector<int64_t> shape;
  int64_t along = 0;
};

} // namespace

static void addOneHots(Block &block, const TargetInfo &machine) {
  for (auto sum : llvm::make_early_inc_range(block.getOps<ReduceOp>()))
    OneHotSum(sum, machine).run();
}

namespace {

struct AddOneHots : zyx::fusion::impl::AddOneHotsPassBase<AddOneHots> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (!machine.hasSubgroups())
      return;
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { addOneHots(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
