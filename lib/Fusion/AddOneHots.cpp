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
using zyx::fusion::isExactCast;
using zyx::fusion::look;
using zyx::fusion::matchOneHot;
using zyx::fusion::Shown;
using zyx::target::TargetInfo;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether it takes longer to multiply so many updates with as many rows than to move them by the kernels of a scatter,
/// and by those that look for what is not finite.
bool isFaster(int64_t updates, int64_t rows, Type type, const TargetInfo &machine) {
  namespace fits = zyx::target::fits::oneHots;
  const auto &costs = machine.costs;
  const double products = type.isF32() ? static_cast<double>(costs.simtF32ProductsPerCycle)
                                       : static_cast<double>(costs.matrixProductsPerCycle) * fits::computedRate;
  if (products == 0 || costs.memoryBytesPerCycle == 0)
    return false;
  const double elements = static_cast<double>(updates) / static_cast<double>(machine.cores);
  const double bytes = type.isF32() ? fits::wideBytes : fits::narrowBytes;
  return elements * static_cast<double>(rows) / products >
         elements * bytes / static_cast<double>(costs.memoryBytesPerCycle) +
             fits::moreKernels * static_cast<double>(costs.launchCycles);
}

/// A sum of products of [updates..., rows, columns...], of which one factor says for each update its row.
class OneHotSum {
public:
  OneHotSum(ReduceOp sum, const TargetInfo &machine) : sum(sum), builder(sum), loc(sum.getLoc()), machine(machine) {}

  void run() {
    auto product = sum.getX().getDefiningOp<BinaryOp>();
    if (sum.getKind() != ReduceKind::Add || !typeOf(sum.getResult()).getElementType().isF32() || !product ||
        product.getKind() != BinaryKind::Mul)
      return;
    ArrayRef<int64_t> shape = typeOf(product).getShape();
    numSummed = static_cast<int64_t>(sum.getDims().size());
    for (auto [dim, of] : llvm::enumerate(sum.getDims()))
      if (of != static_cast<int64_t>(dim))
        return;
    // The rows are the first dimension that stays.
    if (numSummed == static_cast<int64_t>(shape.size()))
      return;
    for (auto [one, other] : {std::pair(product.getA(), product.getB()), std::pair(product.getB(), product.getA())}) {
      const std::optional<Shown> compared = look(one, [](CastOp) { return true; });
      const std::optional<Shown> indices = compared ? matchOneHot(*compared, numSummed) : std::nullopt,
                                 updates = look(other, isExactCast);
      if (indices && updates && fits(*indices, *updates, shape) &&
          isFaster(typeOf(updates->value).getNumElements(), shape[numSummed], typeOf(updates->value).getElementType(),
                   machine))
        return replace(*indices, *updates);
    }
  }

private:
  /// Indices have the summed dimensions and updates these and the columns, each in their order; other dimensions are 1.
  bool fits(const Shown &indices, const Shown &updates, ArrayRef<int64_t> shape) const {
    SmallVector<int64_t> ofIndices, ofUpdates;
    for (auto [d, extent] : llvm::enumerate(shape)) {
      const auto dim = static_cast<int64_t>(d);
      const bool isSummed = dim<numSummed, isColumn = dim> numSummed;
      if (extent != 1 &&
          (indices.dims[d].has_value() != isSummed || updates.dims[d].has_value() != (isSummed || isColumn)))
        return false;
      if (extent != 1 && isSummed)
        ofIndices.push_back(*indices.dims[d]);
      if (extent != 1 && (isSummed || isColumn))
        ofUpdates.push_back(*updates.dims[d]);
    }
    auto areAll = [](ArrayRef<int64_t> dims, Value of) {
      int64_t elements = 1;
      for (int64_t dim : dims)
        elements *= typeOf(of).getDimSize(dim);
      return llvm::is_sorted(dims) && elements == typeOf(of).getNumElements();
    };
    // Narrower numbers may not count all rows.
    return typeOf(indices.value).getElementTypeBitWidth() >= 32 && areAll(ofIndices, indices.value) &&
           areAll(ofUpdates, updates.value) && typeOf(updates.value).getNumElements() != 0;
  }

  Value splat(RankedTensorType type, int64_t number) {
    return zyx::fusion::makeIntegerSplat(builder, loc, type, number);
  }
  Value binary(BinaryKind kind, Value a, Value b) { return BinaryOp::create(builder, loc, kind, a, b); }
  Value spread(Value value, ArrayRef<int64_t> units, ArrayRef<int64_t> shape) {
    value = ReshapeOp::create(builder, loc, typeOf(value).clone(units), value);
    return ExpandOp::create(builder, loc, typeOf(value).clone(shape), value);
  }

  /// Zero times what is not finite is NaN: a row has that where an update of another one is not finite. The least and
  /// the last row of such updates of each column say whether there is one.
  Value findLost(Value indices, Value updates, int64_t rows, int64_t count, int64_t columns) {
    const int64_t all[] = {count, columns}, results[] = {rows, columns};
    auto number = builder.getI32Type();
    auto flags = RankedTensorType::get(all, number), of = RankedTensorType::get(results, number);
    RankedTensorType given = typeOf(indices);
    Value isInside = binary(BinaryKind::And, binary(BinaryKind::Ge, indices, splat(given, 0)),
                            binary(BinaryKind::Lt, indices, splat(given, rows)));
    Value row = CastOp::create(builder, loc, given.clone(number), indices);
    row = SelectOp::create(builder, loc, isInside, row, splat(given.clone(number), -1));
    row = spread(row, {count, 1}, all);
    Value isLost = binary(BinaryKind::Ne, binary(BinaryKind::Sub, updates, updates),
                          zyx::fusion::makeSplat(builder, loc, typeOf(updates), 0));
    auto bound = [&](ReduceKind kind, int64_t none) {
      Value chosen = SelectOp::create(builder, loc, isLost, row, splat(flags, none));
      Value found = ReduceOp::create(builder, loc, kind, chosen, ArrayRef<int64_t>{0});
      return spread(found, {1, columns}, results);
    };
    Value own = IotaOp::create(builder, loc, of, 0);
    return binary(BinaryKind::Or,
                  binary(BinaryKind::Lt, bound(ReduceKind::Min, std::numeric_limits<int32_t>::max()), own),
                  binary(BinaryKind::Gt, bound(ReduceKind::Max, std::numeric_limits<int32_t>::min()), own));
  }

  void replace(const Shown &indices, const Shown &updates) {
    RankedTensorType type = typeOf(sum.getResult());
    const int64_t rows = typeOf(sum.getX()).getDimSize(numSummed), count = typeOf(indices.value).getNumElements();
    const int64_t columns = typeOf(updates.value).getNumElements() / count;
    Value at = ReshapeOp::create(builder, loc, typeOf(indices.value).clone(ArrayRef<int64_t>{count}), indices.value);
    Value given = ReshapeOp::create(builder, loc, typeOf(updates.value).clone({count, columns}), updates.value);
    auto results = type.clone(ArrayRef<int64_t>{rows, columns});
    Value lost = zyx::fusion::makeSplat(builder, loc, results, std::numeric_limits<double>::quiet_NaN());
    Value zeros = zyx::fusion::makeSplat(builder, loc, results, 0);
    Value isLost = findLost(at, given, rows, count, columns), wide = given;
    if (!typeOf(given).getElementType().isF32())
      wide = CastOp::create(builder, loc, typeOf(given).clone(builder.getF32Type()), given);
    Value added = ScatterOp::create(builder, loc, results, ScatterKind::Add, zeros, at, wide, 0);
    Value result = SelectOp::create(builder, loc, isLost, lost, added);
    sum.replaceAllUsesWith(ReshapeOp::create(builder, loc, type, result).getResult());
    sum.erase();
  }

  ReduceOp sum;
  OpBuilder builder;
  Location loc;
  const TargetInfo &machine;
  int64_t numSummed = 0;
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
