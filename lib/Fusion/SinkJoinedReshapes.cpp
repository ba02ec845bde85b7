//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Results that are permuted behind a reshape which joins their dimensions.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "LongReductions.h"
#include "Machine.h"
#include "Notes.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_SINKJOINEDRESHAPESPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// Whether an op computes what this is a view of.
static bool isComputed(Value value) {
  Operation *source = getViewSource(value).getDefiningOp();
  return source && (isElementwise(source) || isa<ReduceOp>(source));
}

/// The dimensions that a reshape makes one of, for each of its own; none where it splits any.
static std::optional<SmallVector<SmallVector<int64_t>>> findJoined(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<SmallVector<int64_t>> joined(to.size());
  int64_t dim = 0;
  for (auto [own, extent] : llvm::zip_equal(joined, to))
    for (int64_t product = 1; product < extent;) {
      product *= from[dim];
      if (product > extent)
        return std::nullopt;
      own.push_back(dim++);
    }
  for (; dim < static_cast<int64_t>(from.size()); ++dim) {
    if (joined.empty())
      return std::nullopt;
    joined.back().push_back(dim);
  }
  return joined;
}

/// Whether a value is nothing but a result of the block.
static bool isReturned(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == value.getParentBlock()->getTerminator();
  });
}

/// Where programs are threads, neighbours write what lies side by side only if they read side by side, too: elsewhere
/// the permute is a kernel of its own, which transposes squares.
static bool isReadInOrder(Value value, int64_t last, const zyx::target::TargetInfo &machine) {
  return !machine.hasSubgroups() || zyx::fusion::findContiguousDim(value) == last;
}

static void sinkJoined(PermuteOp op, const zyx::target::TargetInfo &machine) {
  auto reshape = op.getX().getDefiningOp<ReshapeOp>();
  // What is cast behind is cast before: the kernel stores what is returned.
  auto cast = op->hasOneUse() ? dyn_cast<CastOp>(*op->user_begin()) : CastOp();
  Value result = cast ? cast.getResult() : op.getResult();
  if (!reshape || !isReturned(result) || !isComputed(reshape) || op.getType().getNumElements() == 0)
    return;
  ArrayRef<int64_t> from = shapeOf(reshape.getX());
  const auto joined = findJoined(from, shapeOf(reshape));
  if (!joined)
    return;
  SmallVector<int64_t> order, shape;
  for (int64_t each : op.getOrder())
    llvm::append_range(order, (*joined)[each]);
  for (int64_t each : order)
    shape.push_back(from[each]);
  // A scalar under other extents has no dimensions to permute.
  if (order.empty() || !isReadInOrder(reshape.getX(), order.back(), machine))
    return;
  OpBuilder builder(op);
  const auto type = llvm::cast<RankedTensorType>(result.getType());
  Value source = reshape.getX();
  if (cast)
    source = CastOp::create(builder, cast.getLoc(), type.clone(from), source);
  auto permuted = PermuteOp::create(builder, op.getLoc(), type.clone(shape), source, order);
  permuted->setAttr(zyx::fusion::storedAttrName, builder.getUnitAttr());
  result.replaceAllUsesWith(ReshapeOp::create(builder, reshape.getLoc(), type, permuted).getResult());
}

static void sinkJoinedReshapes(Block &block, const zyx::target::TargetInfo &machine) {
  for (auto op : llvm::make_early_inc_range(block.getOps<PermuteOp>()))
    sinkJoined(op, machine);
  zyx::fusion::eraseUnused(block);
}

namespace {

struct SinkJoinedReshapes : zyx::fusion::impl::SinkJoinedReshapesPassBase<SinkJoinedReshapes> {
  void runOnOperation() override {
    const zyx::target::TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { sinkJoinedReshapes(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
