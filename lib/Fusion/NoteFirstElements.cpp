//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sorts for the sake of the largest or smallest elements: top-k is a sort and a slice.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "FirstElements.h"

#include "zyx/Dialect/Graph/Analysis/FirstElements.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_NOTEFIRSTELEMENTSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

/// How many elements of a dimension a reader sees from its begin on, at most; all of them where it is no slice.
static int64_t countReadBy(Operation *reader, Value source, int64_t dim) {
  const int64_t extent = cast<RankedTensorType>(source.getType()).getDimSize(dim);
  auto pad = dyn_cast<PadOp>(reader);
  if (!pad || pad.getX() != source || pad.getHigh()[dim] >= 0 || pad.getInterior()[dim] != 0)
    return extent;
  return std::max<int64_t>(extent + pad.getHigh()[dim], 0);
}

int64_t zyx::fusion::countRead(SortOp sort) {
  int64_t most = 0;
  for (Operation *reader : sort.getResult().getUsers())
    most = std::max(most, countReadBy(reader, sort.getResult(), static_cast<int64_t>(sort.getDim())));
  return most;
}

void zyx::fusion::giveFirst(SortOp sort, Value first) {
  const auto dim = static_cast<int64_t>(sort.getDim());
  const int64_t rest =
      cast<RankedTensorType>(sort.getType()).getDimSize(dim) - cast<RankedTensorType>(first.getType()).getDimSize(dim);
  auto areZero = [](ArrayRef<int64_t> counts) {
    return llvm::all_of(counts, [](int64_t count) { return count == 0; });
  };
  if (rest == 0)
    sort.replaceAllUsesWith(first);
  // Who reads fewer elements than there are reads a slice.
  for (Operation *reader : llvm::make_early_inc_range(sort->getUsers())) {
    auto slice = cast<PadOp>(reader);
    SmallVector<int64_t> high(slice.getHigh());
    high[dim] += rest;
    OpBuilder builder(slice);
    Value taken = first;
    if (!areZero(high) || !areZero(slice.getLow()) || !areZero(slice.getInterior()))
      taken = PadOp::create(builder, slice.getLoc(), slice.getType(), first, slice.getFill(), slice.getLow(), high,
                            slice.getInterior());
    slice.replaceAllUsesWith(taken);
    slice.erase();
  }
  sort.erase();
}

static void noteFirstElements(Block &block, bool note) {
  for (auto sort : block.getOps<SortOp>()) {
    const auto dim = static_cast<int64_t>(sort.getDim());
    const int64_t most = zyx::fusion::countRead(sort);
    sort->removeAttr(firstElementsAttrName);
    if (note && most < cast<RankedTensorType>(sort.getType()).getDimSize(dim))
      sort->setAttr(firstElementsAttrName, Builder(sort.getContext()).getI64IntegerAttr(most));
  }
}

namespace {

struct NoteFirstElements : zyx::fusion::impl::NoteFirstElementsPassBase<NoteFirstElements> {
  using NoteFirstElementsPassBase::NoteFirstElementsPassBase;
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { noteFirstElements(block, note); })))
      signalPassFailure();
  }
};

} // namespace
