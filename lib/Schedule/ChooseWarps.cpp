//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ChooseTensor.h"
#include "Overlap.h"

#include "zyx/Target/Info/Fits.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;

namespace zyx::schedule {
namespace {

namespace fits = target::fits::warpProducts;

/// A column of tiles that are walked together.
constexpr int64_t group = 8;
constexpr int64_t mostStages = 6;
struct WarpTile {
  int64_t rows, columns, warps, sliceBytes;
};

/// A product and the card that it is for.
struct WarpProduct {
  int64_t m, n, k, batches, elementBytes;
  const target::TargetInfo &target;

  int64_t tilesOf(WarpTile tile) const {
    return llvm::divideCeil(m, tile.rows) * llvm::divideCeil(n, tile.columns) * batches;
  }
  int64_t stageBytes(WarpTile tile) const { return (tile.rows + tile.columns) * tile.sliceBytes; }

  /// Of the ring: as many as leave room for a second workgroup where its registers do. Two where copies pass through
  /// registers.
  int64_t stagesOf(WarpTile tile) const {
    if (!target.hasAsyncCopies())
      return stageBytes(tile) * 2 <= target.simt.sharedBytes ? 2 : 0;
    const int64_t whole = target.simt.sharedBytes / stageBytes(tile),
                  half = target.simt.sharedBytes / 2 / stageBytes(tile);
    return std::min(mostStages, groupsByRegisters(tile) > 1 && half >= 3 ? half : whole);
  }
  int64_t groupsByRegisters(WarpTile tile) const {
    const int64_t threads = tile.warps * target.simt.subgroupSize;
    return target.simt.registers / (threads * (tile.rows * tile.columns / threads + fits::otherRegisters));
  }
  int64_t groupsPerCore(WarpTile tile) const {
    const int64_t byMemory = target.simt.sharedBytes / (stageBytes(tile) * stagesOf(tile));
    return std::max<int64_t>(1, std::min(byMemory, groupsByRegisters(tile)));
  }

  /// Cycles of all tiles that a multiprocessor has, and of memory beside them.
  double costOf(WarpTile tile) const {
    const auto part = TensorStepAttr::warpPart(tile.rows, tile.columns, tile.warps);
    const auto bytes = static_cast<double>(tile.sliceBytes);
    const int64_t each = llvm::divideCeil(tilesOf(tile), target.cores);
    const int64_t together = std::min(each, groupsPerCore(tile));
    const double multiply = static_cast<double>(tile.rows * tile.columns) * bytes / 2 /
                            static_cast<double>(target.costs.matrixProductsPerCycle) *
                            (together * tile.warps < target.costs.busySubgroups ? fits::fewWarpsLoss : 1.0);
    const double read = static_cast<double>(tile.warps * (part.rows + part.columns)) * bytes /
                        static_cast<double>(target.costs.sharedBytesPerCycle);
    const double copy =
        static_cast<double>(tile.rows + tile.columns) * bytes / static_cast<double>(target.costs.cacheBytesPerCycle);
    const auto slices = static_cast<double>(llvm::divideCeil(k * elementBytes, tile.sliceBytes));
    const double longest = std::max({multiply, read, copy});
    const double slice = longest + fits::notHiddenInSlice * (multiply + read + copy - longest);
    const double work = static_cast<double>(each) * slices * slice +
                        static_cast<double>(llvm::divideCeil(each, together) * target.costs.tileCycles);
    const double moved = static_cast<double>(batches) * static_cast<double>(elementBytes * (m * k + n * k) + 2 * m * n);
    const double memory = moved / static_cast<double>(target.costs.memoryBytesPerCycle * target.cores);
    return overlapped(work, memory);
  }

  /// Whether warps can share it, and the ring has room.
  bool fits(WarpTile tile) const {
    const auto part = TensorStepAttr::warpPart(tile.rows, tile.columns, tile.warps);
    return part.down != 0 && part.rows * part.columns <= 64 * 64 && stagesOf(tile) >= (target.hasAsyncCopies() ? 3 : 2);
  }
};

/// Tiles worth a thought, the largest first.
SmallVector<WarpTile> candidates(const WarpProduct &product) {
  SmallVector<WarpTile> result;
  for (int64_t rows : {256, 128, 64, 32, 16})
    for (int64_t columns : {256, 128, 64})
      for (int64_t warps : {8, 4})
        for (int64_t sliceBytes : {64, 128}) {
          const WarpTile tile{rows, columns, warps, sliceBytes};
          // Not for rows of which most do not exist.
          if (rows > 16 && rows >= 2 * static_cast<int64_t>(llvm::alignTo(product.m, 16)))
            continue;
          if (product.fits(tile))
            result.push_back(tile);
        }
  return result;
}

} // namespace

bool isForTarget(const TensorDot &dot, const target::TargetInfo &target, std::string &reason) {
  if (target.hasTensorTiles())
    return true;
  if (!isForWarps(dot, reason))
    return false;
  // Every card multiplies f16; those that multiply bf16 do the others, too.
  Type element = getElementTypeOrSelf(DotOp(dot.dot).getLhs().getType());
  if (!element.isF16() && !target.findSubgroupProduct(target::MatrixType::BF16)) {
    reason = "tensor cores of " + target.name + " know f16 alone";
    return false;
  }
  for (const TensorFactor *factor : {&dot.lhs, &dot.rhs}) {
    const int64_t columns = *BlockAttr::constant(factor->map.front().getShape().back());
    if (!target.hasAsyncCopies() && columns * dot.elementBytes() % target.copies.alignmentBytes != 0) {
      reason = "rows of a factor end inside of 16 bytes";
      return false;
    }
  }
  return true;
}

SmallVector<TensorChoice> chooseWarpSteps(FuncOp func, const TensorDot &dot, const Axes &axes,
                                          const target::TargetInfo &target, unsigned most) {
  int64_t batches = 1;
  for (Axis axis : dot.batches)
    batches *= axes.extent(axis);
  const WarpProduct product{axes.extent(dot.m), axes.extent(dot.n), dot.depth, batches, dot.elementBytes(), target};
  SmallVector<TensorChoice> choices;
  for (WarpTile tile : candidates(product))
    choices.push_back(
        {TensorStepAttr::get(func.getContext(), tile.rows, tile.columns, tile.sliceBytes / dot.elementBytes(),
                             product.stagesOf(tile), group,
                             /*split=*/1, target.matrix.allowsReducedPrecision && dot.elementBytes() == 4, tile.warps),
         product.costOf(tile)});
  // Of those that take as long, the first: large ones.
  llvm::stable_sort(choices, [](const TensorChoice &a, const TensorChoice &b) { return a.cost < b.cost; });
  choices.truncate(std::min<size_t>(most, choices.size()));
  return choices;
}

} // namespace zyx::schedule
