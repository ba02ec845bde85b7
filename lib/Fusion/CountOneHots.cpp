//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sums of comparisons of indices with all places, as the load of experts is written: how many indices name each place.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Machine.h"
#include "Notes.h"
#include "OneHots.h"

#include "zyx/Dialect/Graph/Analysis/Updates.h"
#include "zyx/Fusion/Passes.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_COUNTONEHOTSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::findOwnDims;
using zyx::fusion::look;
using zyx::fusion::matchOneHot;
using zyx::fusion::Shown;
using zyx::target::TargetInfo;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether threads that count so many indices in numbers of their own are done sooner than those that compare each with
/// all places.
static bool isFaster(int64_t indices, int64_t places, const TargetInfo &machine) {
  namespace fits = zyx::target::fits::oneHots;
  // As many as make the fewest parts (PartScatters).
  constexpr int64_t perPlace = 16, perThread = 32;
  const zyx::graph::ir::ScatterThreads threads(places, 1, /*areUpdatesNeighbours=*/true, machine.simt.subgroupSize,
                                               machine.simt.sharedBytes, machine.simt.workgroupThreads);
  const auto &costs = machine.costs;
  if (threads.threads == 0 || indices < std::max(perPlace * places, perThread * threads.threads) ||
      costs.simtF32ProductsPerCycle == 0)
    return false;
  const double perCore = static_cast<double>(indices) / static_cast<double>(machine.cores);
  return perCore * static_cast<double>(places) * fits::compareCycles /
             static_cast<double>(costs.simtF32ProductsPerCycle) >
         fits::countLaunches * static_cast<double>(costs.launchCycles);
}

/// Ones are added up as f32, which has each number up to 2^24: so many indices are counted right in any order.
static void countOneHots(ReduceOp sum, const TargetInfo &machine) {
  constexpr int64_t mostExact = int64_t(1) << 24;
  RankedTensorType type = typeOf(sum.getResult());
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  if (sum.getKind() != ReduceKind::Add || (integer ? integer.getWidth() < 32 : !type.getElementType().isF32()))
    return;
  ArrayRef<int64_t> shape = typeOf(sum.getX()).getShape();
  const std::optional<Shown> compared = look(sum.getX(), [](CastOp) { return true; });
  if (!compared || !typeOf(compared->value).getElementType().isInteger(1))
    return;
  auto isSummed = [&](int64_t dim) { return llvm::is_contained(sum.getDims(), dim); };
  int64_t along = -1;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent != 1 && !isSummed(static_cast<int64_t>(dim))) {
      if (along >= 0)
        return;
      along = static_cast<int64_t>(dim);
    }
  const std::optional<Shown> indices = along < 0 ? std::nullopt : matchOneHot(*compared, along);
  const std::optional<SmallVector<int64_t>> own = indices ? findOwnDims(*indices) : std::nullopt;
  // Narrower numbers may not count all places.
  if (!own || typeOf(indices->value).getElementTypeBitWidth() < 32)
    return;
  const int64_t count = typeOf(indices->value).getNumElements();
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent != 1 && static_cast<int64_t>(dim) != along && !indices->dims[dim])
      return;
  if (count > mostExact || !isFaster(count, shape[along], machine))
    return;

  OpBuilder builder(sum);
  Location loc = sum.getLoc();
  auto counts = RankedTensorType::get({shape[along]}, builder.getF32Type());
  auto ones = counts.clone(ArrayRef<int64_t>{count});
  Value at = zyx::fusion::reshapeTo(builder, loc, indices->value, ones.getShape());
  Value found =
      ScatterOp::create(builder, loc, counts, ScatterKind::Add, zyx::fusion::makeSplat(builder, loc, counts, 0), at,
                        zyx::fusion::makeSplat(builder, loc, ones, 1), 0);
  if (integer)
    found = CastOp::create(builder, loc, counts.clone(type.getElementType()), found);
  sum.replaceAllUsesWith(zyx::fusion::reshapeTo(builder, loc, found, type.getShape()));
  sum.erase();
}

namespace {

struct CountOneHots : zyx::fusion::impl::CountOneHotsPassBase<CountOneHots> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (!machine.hasSubgroups())
      return;
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) {
          for (auto sum : llvm::make_early_inc_range(block.getOps<ReduceOp>()))
            countOneHots(sum, machine);
        })))
      signalPassFailure();
  }
};

} // namespace
