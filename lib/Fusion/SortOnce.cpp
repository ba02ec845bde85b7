//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// One sort for the values and the indices of the same rows.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "FirstElements.h"

#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_SORTONCEPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

namespace {

/// Picks what a sort gives as values by the indices of a sort of the same rows. Both are stable, so that these are the
/// same elements.
class ValuePicker {
public:
  ValuePicker(SortOp values, SortOp indices)
      : values(values), indices(indices), builder(values), loc(values.getLoc()),
        type(cast<RankedTensorType>(values.getType())), dim(static_cast<int64_t>(values.getDim())) {}

  /// `first`: how many elements along the dimension anybody reads.
  void apply(int64_t first) {
    zyx::fusion::giveFirst(
        values, GatherOp::create(builder, loc, typeOfFirst(first), flatten(values.getX()), findPlaces(first), 0));
  }

private:
  RankedTensorType typeOfFirst(int64_t first) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = first;
    return type.clone(shape);
  }
  Value flatten(Value x) {
    return ReshapeOp::create(builder, loc, type.clone(ArrayRef<int64_t>(type.getNumElements())), x);
  }

  /// The numbers in row-major order of the elements that the indices along the dimension name.
  Value findPlaces(int64_t first) {
    Value places = indices;
    auto number = cast<RankedTensorType>(places.getType()).getElementType();
    auto numbers = typeOfFirst(first).clone(number);
    if (first != type.getDimSize(dim)) {
      SmallVector<int64_t> none(type.getRank(), 0), high(none);
      high[dim] = first - type.getDimSize(dim);
      places =
          PadOp::create(builder, loc, numbers, places, count(RankedTensorType::get({}, number), 0), none, high, none);
    }
    int64_t stride = 1;
    for (int64_t d = type.getRank(); d-- > 0; stride *= type.getDimSize(d))
      if (d == dim && stride != 1)
        places = BinaryOp::create(builder, loc, BinaryKind::Mul, places, count(numbers, stride));
    stride = 1;
    for (int64_t d = type.getRank(); d-- > 0; stride *= type.getDimSize(d)) {
      if (d == dim || type.getDimSize(d) == 1)
        continue;
      Value own = IotaOp::create(builder, loc, numbers, d);
      if (stride != 1)
        own = BinaryOp::create(builder, loc, BinaryKind::Mul, own, count(numbers, stride));
      places = BinaryOp::create(builder, loc, BinaryKind::Add, places, own);
    }
    return places;
  }

  Value count(RankedTensorType numbers, int64_t value) {
    return zyx::fusion::makeIntegerSplat(builder, loc, numbers, value);
  }

  SortOp values, indices;
  OpBuilder builder;
  Location loc;
  RankedTensorType type;
  const int64_t dim;
};

} // namespace

static bool areRowsTheSame(SortOp a, SortOp b) {
  return a.getX() == b.getX() && a.getDim() == b.getDim() && a.getDescending() == b.getDescending();
}

static void sortOnce(Block &block) {
  for (auto values : llvm::make_early_inc_range(block.getOps<SortOp>())) {
    const int64_t first = zyx::fusion::countRead(values);
    if (values.getKind() != SortKind::Values || first == 0)
      continue;
    for (Operation *reader : values.getX().getUsers()) {
      auto indices = dyn_cast<SortOp>(reader);
      if (!indices || indices->getBlock() != &block || indices.getKind() != SortKind::Indices ||
          !areRowsTheSame(values, indices))
        continue;
      // What it reads is there already.
      if (values->isBeforeInBlock(indices))
        indices->moveBefore(values);
      ValuePicker(values, indices).apply(first);
      break;
    }
  }
}

namespace {

struct SortOnce : zyx::fusion::impl::SortOncePassBase<SortOnce> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), sortOnce)))
      signalPassFailure();
  }
};

} // namespace
