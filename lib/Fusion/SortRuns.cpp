//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "FirstElements.h"
#include "Machine.h"

#include "zyx/Dialect/Graph/Analysis/FirstElements.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

#include <limits>

namespace zyx::fusion {
#define GEN_PASS_DEF_SORTRUNSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::target::TargetInfo;

/// What stands behind all elements: a NaN, or a number that none comes after.
static TypedAttr getLast(Type element, bool descending) {
  if (auto format = dyn_cast<FloatType>(element))
    return FloatAttr::get(element, APFloat::getNaN(format.getFloatSemantics()));
  auto type = cast<IntegerType>(element);
  const unsigned width = type.getWidth();
  const bool isUnsigned = type.isUnsigned() || width == 1;
  if (isUnsigned)
    return IntegerAttr::get(type, descending ? APInt::getMinValue(width) : APInt::getMaxValue(width));
  return IntegerAttr::get(type, descending ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width));
}

static void sortRuns(Block &block, const TargetInfo &machine) {
  // A workgroup sorts a run in shared memory; an element looks at each run. Where all rows have more runs than cores
  // have room for, a workgroup for each row takes less.
  constexpr int64_t runElements = 2048, fewestRuns = 4, mostRuns = 64, fewElements = 512;
  const int64_t mostOfAll = 2 * machine.cores;
  for (auto sort : llvm::make_early_inc_range(block.getOps<SortOp>())) {
    sort->removeAttr(runsAttrName);
    auto type = cast<RankedTensorType>(sort.getX().getType());
    const auto dim = static_cast<int64_t>(sort.getDim());
    const int64_t extent = type.getDimSize(dim), rows = extent == 0 ? 0 : type.getNumElements() / extent;
    const int64_t runs = llvm::divideCeil(extent, runElements);
    // The rows themselves may be enough, and indices are of one row alone.
    if (!machine.hasSubgroups() || runs < fewestRuns || runs > mostRuns || rows == 0 || rows * runs > mostOfAll ||
        dim + 1 != type.getRank() || (sort.getKind() == SortKind::Indices && rows != 1))
      continue;
    const int64_t most = zyx::fusion::countRead(sort);
    if (most <= fewElements && most * 8 <= extent)
      continue;
    OpBuilder builder(sort);
    Location loc = sort.getLoc();
    SmallVector<int64_t> none(type.getRank(), 0), high(none), apart(type.getShape()), whole(apart);
    high.back() = runs * runElements - extent;
    whole.back() = runs * runElements;
    apart.back() = runs;
    apart.push_back(runElements);
    Type element = type.getElementType();
    auto scalar = RankedTensorType::get({}, element);
    Value fill = ConstantOp::create(builder, loc, scalar,
                                    DenseElementsAttr::get(scalar, Attribute(getLast(element, sort.getDescending()))));
    Value x = sort.getX();
    if (high.back() != 0)
      x = PadOp::create(builder, loc, type.clone(whole), x, fill, none, high, none);
    x = ReshapeOp::create(builder, loc, type.clone(apart), x);
    Type number = cast<RankedTensorType>(sort.getType()).getElementType();
    auto sortOf = [&](SortKind kind, Value of, int64_t along) {
      auto result = cast<RankedTensorType>(of.getType()).clone(kind == SortKind::Values ? element : number);
      return SortOp::create(builder, loc, result, kind, of, along, sort.getDescending());
    };
    Value sorted = sortOf(SortKind::Values, x, dim + 1);
    auto merged = sortOf(sort.getKind(), ReshapeOp::create(builder, loc, type.clone(whole), sorted), dim);
    merged->setAttr(runsAttrName, builder.getI64IntegerAttr(runs));
    Value result = merged;
    if (sort.getKind() == SortKind::Indices) {
      // Where the run's element was, of its number in all runs.
      Value own = sortOf(SortKind::Indices, x, dim + 1);
      auto places = cast<RankedTensorType>(own.getType());
      Value run = IotaOp::create(builder, loc, places, dim);
      auto step = DenseElementsAttr::get(places, Attribute(builder.getIntegerAttr(number, runElements)));
      run = BinaryOp::create(builder, loc, BinaryKind::Mul, run, ConstantOp::create(builder, loc, places, step));
      Value all = BinaryOp::create(builder, loc, BinaryKind::Add, own, run);
      all = ReshapeOp::create(builder, loc, places.clone({whole.back()}), all);
      Value order = ReshapeOp::create(builder, loc, places.clone({whole.back()}), merged);
      result = GatherOp::create(builder, loc, places.clone({whole.back()}), all, order, 0);
      result = ReshapeOp::create(builder, loc, places.clone(whole), result);
    }
    if (high.back() != 0) {
      auto given = RankedTensorType::get({}, number);
      auto zero = sort.getKind() == SortKind::Indices ? TypedAttr(builder.getIntegerAttr(number, 0))
                                                      : getLast(element, sort.getDescending());
      Value rest = ConstantOp::create(builder, loc, given, DenseElementsAttr::get(given, Attribute(zero)));
      high.back() = -high.back();
      result = PadOp::create(builder, loc, sort.getType(), result, rest, none, high, none);
    }
    sort.replaceAllUsesWith(result);
    sort.erase();
  }
}

namespace {

struct SortRuns : zyx::fusion::impl::SortRunsPassBase<SortRuns> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { sortRuns(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
