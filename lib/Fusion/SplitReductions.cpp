//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "LongReductions.h"
#include "Machine.h"
#include "Notes.h"

#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

using zyx::fusion::hasRows;
using zyx::fusion::isLong;
using zyx::fusion::partsAttrName;
using zyx::target::TargetInfo;

/// The reduction of each part, and that of what they have.
static void splitParts(ReduceOp op, ArrayRef<int64_t> parts) {
  auto type = cast<RankedTensorType>(op.getX().getType());
  SmallVector<int64_t> inner, shape, outer;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    const bool isPart = llvm::is_contained(parts, dim);
    if (llvm::is_contained(op.getDims(), dim) && !isPart) {
      inner.push_back(dim);
      continue;
    }
    if (isPart)
      outer.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(type.getDimSize(dim));
  }
  if (inner.empty() || outer.empty())
    return;
  OpBuilder builder(op);
  Value partial = ReduceOp::create(builder, op.getLoc(), type.clone(shape), op.getKind(), op.getX(), inner);
  op.replaceAllUsesWith(
      ReduceOp::create(builder, op.getLoc(), op.getResult().getType(), op.getKind(), partial, outer).getResult());
  op.erase();
}

/// Whether windows combined along their first dimension, and then along all others, are two thirds of what they combine
/// at once, or less: those that overlap have elements in common.
static bool combinesLess(WindowOp window) {
  constexpr int64_t fewest = 4;
  const auto from = cast<RankedTensorType>(window.getX().getType()), to = cast<RankedTensorType>(window.getType());
  const int64_t first = window.getSize().front();
  int64_t others = 1, rows = 1, columns = 1;
  for (auto [dim, size] : llvm::drop_begin(llvm::zip_equal(window.getDims(), window.getSize()))) {
    others *= size;
    rows *= from.getDimSize(static_cast<unsigned>(dim));
    columns *= to.getDimSize(static_cast<unsigned>(dim));
  }
  return first >= fewest && others >= fewest && 2 * columns * first * others >= 3 * (rows * first + columns * others);
}

/// Combines windows along their first dimension, and what that has along the others; null where a reduction is of no
/// such windows, or would be rounded in between.
static ReduceOp splitWindow(ReduceOp op) {
  auto window = op.getX().getDefiningOp<WindowOp>();
  const auto type = cast<RankedTensorType>(op.getX().getType());
  const bool isRounded = isa<FloatType>(type.getElementType()) && type.getElementTypeBitWidth() < 32;
  const bool isExact = op.getKind() == ReduceKind::Max || op.getKind() == ReduceKind::Min;
  if (!window || !window->hasOneUse() || window.getDims().size() < 2 || (op.getKind() != ReduceKind::Add && !isExact) ||
      (isRounded && !isExact))
    return {};
  // Its elements are its last dimensions, in the order of the windows.
  const int64_t rank = type.getRank(), count = static_cast<int64_t>(window.getDims().size());
  SmallVector<int64_t> elements;
  for (int64_t dim = rank - count; dim < rank; ++dim)
    elements.push_back(dim);
  if (op.getDims() != ArrayRef(elements) || !combinesLess(window))
    return {};
  OpBuilder builder(op);
  Value value = window.getX();
  ReduceOp reduce;
  auto add = [&](size_t from, size_t to) {
    auto part = [&](ArrayRef<int64_t> all) { return all.slice(from, to - from); };
    auto shown = WindowOp::create(builder, window.getLoc(), value, part(window.getDims()), part(window.getSize()),
                                  part(window.getStride()), part(window.getDilation()));
    const auto all = cast<RankedTensorType>(shown.getType());
    const auto kept = ArrayRef(elements).take_front(to - from);
    reduce = ReduceOp::create(builder, op.getLoc(), all.clone(all.getShape().take_front(kept.front())), op.getKind(),
                              shown, kept);
    value = reduce.getResult();
  };
  add(0, 1);
  add(1, window.getDims().size());
  op.replaceAllUsesWith(value);
  op.erase();
  window.erase();
  return reduce;
}

static void splitReductions(Block &block, const TargetInfo &machine) {
  for (auto op : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    if (!machine.hasSubgroups())
      for (ReduceOp rest = splitWindow(op); rest; rest = splitWindow(rest))
        op = {};
    if (!op)
      continue;
    if (machine.hasSubgroups()) {
      if (auto parts = op->getAttrOfType<DenseI64ArrayAttr>(partsAttrName)) {
        op->removeAttr(partsAttrName);
        splitParts(op, parts.asArrayRef());
      }
      continue;
    }
    if (isLong(op, machine) && hasRows(op))
      splitParts(op, op.getDims().take_front());
  }
}

namespace {

struct SplitReductions : zyx::fusion::impl::SplitReductionsPassBase<SplitReductions> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { splitReductions(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
