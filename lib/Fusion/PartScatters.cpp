//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "LoopValues.h"
#include "Machine.h"

#include "zyx/Dialect/Graph/Analysis/Updates.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"
#include "zyx/Target/Info/Budgets.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_PARTSCATTERSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::target::TargetInfo;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether neighbours in memory are neighbouring updates, and not neighbouring columns of one.
static bool areUpdatesAlongMemory(Value updates, int64_t numIndexDims) {
  while (auto reshape = updates.getDefiningOp<ReshapeOp>())
    updates = reshape.getX();
  auto permute = updates.getDefiningOp<PermuteOp>();
  if (!permute)
    return false;
  ArrayRef<int64_t> order = permute.getOrder();
  return llvm::find(order, static_cast<int64_t>(order.size()) - 1) - order.begin() < numIndexDims;
}

/// Into how many parts of as many updates each a scatter falls; 0 where it does not.
static int64_t countParts(ScatterOp scatter, const TargetInfo &machine) {
  // Fewer updates are added up one by one as soon.
  constexpr int64_t fewestUpdates = 1024;
  RankedTensorType type = typeOf(scatter.getX()), indices = typeOf(scatter.getIndices());
  auto number = dyn_cast<IntegerType>(indices.getElementType());
  if (!machine.hasSubgroups() || scatter.getKind() != ScatterKind::Add || !type.getElementType().isF32() ||
      scatter.getDim() != 0 || !number || number.getWidth() < 32)
    return 0;
  const int64_t rows = type.getDimSize(0), updates = indices.getNumElements();
  const int64_t columns = type.getNumElements() / std::max<int64_t>(rows, 1);
  // Results that are many have their workgroups already.
  if (rows == 0 || updates < fewestUpdates || rows * columns >= machine.busyThreads())
    return 0;
  ScatterThreads shared(rows, columns, areUpdatesAlongMemory(scatter.getUpdates(), indices.getRank()),
                        machine.simt.subgroupSize, machine.simt.sharedBytes, machine.simt.workgroupThreads);
  if (shared.threads == 0)
    return 0;
  // What a part clears, adds up and writes is less than what it reads.
  constexpr int64_t perRow = 4, perThread = 8, fewest = 4;
  auto countMost = [&] {
    const int64_t segments = shared.threads / shared.columns;
    return std::min<int64_t>(
        llvm::divideCeil(machine.busyThreads() / zyx::target::rowThreads(machine), shared.countStrips(columns)),
        updates / std::max(perRow * rows, perThread * segments));
  };
  shared.spread(std::max(countMost(), fewest), columns, machine.busyThreads());
  const int64_t most = countMost();
  if (most < fewest)
    return 0;
  // Without a rest, if that leaves half of them.
  for (int64_t parts = most; parts >= std::max(fewest, most / 2); --parts)
    if (updates % parts == 0)
      return parts;
  return most;
}

static void partScatters(Block &block, const TargetInfo &machine) {
  for (auto scatter : llvm::make_early_inc_range(block.getOps<ScatterOp>())) {
    scatter->removeAttr(scatterPartsAttrName);
    const int64_t parts = countParts(scatter, machine);
    if (parts == 0)
      continue;
    OpBuilder builder(scatter);
    Location loc = scatter.getLoc();
    RankedTensorType type = typeOf(scatter.getX()), indices = typeOf(scatter.getIndices());
    const int64_t rows = type.getDimSize(0), updates = indices.getNumElements(), each = updates / parts;
    auto splat = [&](RankedTensorType of, TypedAttr value) -> Value {
      return ConstantOp::create(builder, loc, of, DenseElementsAttr::get(of, Attribute(value)));
    };
    auto number = [&](RankedTensorType of, int64_t value) {
      return splat(of, builder.getIntegerAttr(of.getElementType(), value));
    };
    // Each part has rows of its own.
    auto apart = RankedTensorType::get({parts, each}, indices.getElementType());
    auto place = apart.clone(builder.getI32Type());
    // Updates `begin` to `end` of all of them in a row.
    auto slice = [&](Value x, int64_t rank, int64_t begin, int64_t end) -> Value {
      if (end - begin == updates)
        return x;
      RankedTensorType of = typeOf(x);
      SmallVector<int64_t> flat{updates};
      llvm::append_range(flat, of.getShape().drop_front(rank));
      x = ReshapeOp::create(builder, loc, of.clone(flat), x);
      SmallVector<int64_t> none(flat.size(), 0), low(none), high(none);
      low.front() = -begin, high.front() = end - updates, flat.front() = end - begin;
      Value fill = splat(of.clone(ArrayRef<int64_t>()), builder.getZeroAttr(of.getElementType()));
      return PadOp::create(builder, loc, of.clone(flat), x, fill, low, high, none);
    };
    const int64_t rank = indices.getRank(), inParts = parts * each;
    auto binary = [&](BinaryKind kind, Value a, Value b) -> Value {
      return BinaryOp::create(builder, loc, kind, a, b);
    };
    Value index = ReshapeOp::create(builder, loc, apart, slice(scatter.getIndices(), rank, 0, inParts));
    Value isInside = binary(BinaryKind::And, binary(BinaryKind::Ge, index, number(apart, 0)),
                            binary(BinaryKind::Lt, index, number(apart, rows)));
    Value first = binary(BinaryKind::Mul, IotaOp::create(builder, loc, place, 0), number(place, rows));
    Value own = index;
    if (apart != place)
      own = CastOp::create(builder, loc, place, index);
    Value chosen = SelectOp::create(builder, loc, isInside, binary(BinaryKind::Add, own, first), number(place, -1));

    SmallVector<int64_t> all(type.getShape()), updated{parts, each}, ofParts{parts};
    all.front() = parts * rows;
    llvm::append_range(updated, type.getShape().drop_front());
    llvm::append_range(ofParts, type.getShape());
    FloatAttr zero = builder.getFloatAttr(type.getElementType(), 0.0);
    Value terms = ReshapeOp::create(builder, loc, type.clone(updated), slice(scatter.getUpdates(), rank, 0, inParts));
    auto sums = ScatterOp::create(builder, loc, type.clone(all), ScatterKind::Add, splat(type.clone(all), zero), chosen,
                                  terms, 0);
    sums->setAttr(scatterPartsAttrName, builder.getI64IntegerAttr(parts));
    Value partSums = ReshapeOp::create(builder, loc, type.clone(ofParts), sums);
    Value result = ReduceOp::create(builder, loc, ReduceKind::Add, partSums, ArrayRef<int64_t>{0});
    Value x = scatter.getX();
    if (inParts != updates)
      // Fewer than there are parts.
      x = ScatterOp::create(builder, loc, type, ScatterKind::Add, x,
                            slice(scatter.getIndices(), rank, inParts, updates),
                            slice(scatter.getUpdates(), rank, inParts, updates), 0);
    if (!zyx::fusion::isZero(x))
      result = binary(BinaryKind::Add, x, result);
    scatter.replaceAllUsesWith(result);
    scatter.erase();
  }
}

namespace {

struct PartScatters : zyx::fusion::impl::PartScattersPassBase<PartScatters> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { partScatters(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
