//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ChooseTensor.h"

#include "Overlap.h"

#include "zyx/Codegen/Matrix/TensorAttention.h"
#include "zyx/Codegen/Matrix/TensorChain.h"
#include "zyx/Codegen/Matrix/TensorDot.h"
#include "zyx/Schedule/Estimate.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

#include <tuple>

using namespace mlir;
using namespace zyx::kernel;

namespace zyx::schedule {
namespace {

constexpr int64_t sliceBytes = TensorDot::sliceBytes;
/// A column of tiles that are walked together.
constexpr int64_t group = 8;
constexpr int64_t mostStages = 16;
/// Of tiles of three groups.
constexpr int64_t threeGroupsRows = 192, mostColumnsOfThree = 192;

/// Columns of a tile that threads multiply, and fewest rows: a single one is read as fast elsewhere. Of a shorter
/// contraction the ring has no use: results take most of the time, and threads write them better that have no roles.
constexpr int64_t simtF32Columns = 128, fewestSimtF32Rows = 32, fewestSimtF32Depth = 64;
/// How much faster threads of the generic way multiply f32 than 16 bits.
constexpr int64_t threadsFaster = 2;

struct TensorTile {
  int64_t rows, columns, split;
};

/// A product and the card that it is for.
struct TensorProduct {
  int64_t m, n, k, batches;
  /// Elements of a slice along the contraction, and bytes of one.
  int64_t depth, elementBytes;
  /// Each slice has sums of its own; threads multiply.
  bool sumsSlices, isSimtF32;
  /// Factors of which slices are transposed in shared memory, and are there twice.
  bool transposesLeft, transposesRight;
  /// Rows of a left factor that do not exist are not fetched.
  bool fetchesFewRows;
  /// Lines of memory that a row of a slice lies in.
  int64_t linesLeft, linesRight;
  const target::TargetInfo &target;

  int64_t tilesOf(TensorTile tile) const {
    return llvm::divideCeil(m, tile.rows) * llvm::divideCeil(n, tile.columns) * batches;
  }

  /// Cycles of all tiles, one wave of workgroups after the other, and of memory beside them.
  double costOf(TensorTile tile) const {
    // As many bytes take as long, whatever they are.
    const double multiply =
        isSimtF32
            ? static_cast<double>(tile.rows * tile.columns * depth) / target.costs.simtF32ProductsPerCycle
            : static_cast<double>(tile.rows * tile.columns * sliceBytes / 2) / target.costs.matrixProductsPerCycle;
    const int64_t rows = fetchesFewRows ? std::min<int64_t>(tile.rows, llvm::alignTo(m, 8)) : tile.rows;
    const double copy = static_cast<double>(rows * linesLeft + tile.columns * linesRight) * sliceBytes /
                        target.costs.cacheBytesPerCycle;
    namespace fits = target::fits::groupProducts;
    const double loss = tile.rows == 64                ? fits::oneGroupLoss
                        : tile.rows == threeGroupsRows ? fits::threeGroupsLoss
                                                       : 1.0;
    const double slice = std::max({multiply * loss, copy, static_cast<double>(target.costs.sliceCycles)});
    // Each sends what it has of the others' columns.
    const int64_t sent = tile.rows * tile.columns * 4 * (tile.split - 1) / tile.split;
    const double meeting = clusterExchangeCycles(tile.split, sent, target);
    const int64_t slices = llvm::divideCeil(llvm::divideCeil(k, depth), tile.split);
    const double work =
        llvm::divideCeil(tilesOf(tile) * tile.split, target.cores) *
        (slices * slice + target.costs.tileCycles + meeting + (isSimtF32 ? target.costs.simtF32TileCycles : 0));
    const double memory = (static_cast<double>(elementBytes) * batches * (m * k + n * k) + 2.0 * batches * m * n) /
                          (target.costs.memoryBytesPerCycle * target.cores);
    return overlapped(work, memory);
  }

  /// Cycles of threads in a kernel of the generic way that reads f32 along rows.
  double threadCost() const {
    const double sums = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(batches);
    return sums * static_cast<double>(k) /
           static_cast<double>(threadsFaster * target.costs.threadProductsPerCycle * target.cores);
  }

  /// Of the ring's stages, beside what results leave through, what is exchanged, and the barriers.
  int64_t stagesOf(TensorTile tile) const {
    const int64_t results = isSimtF32 ? 0 : tile.rows * 2 * 64 * 2, barriers = (2 + isSimtF32) * 8 * mostStages + 8;
    const int64_t exchanged = tile.split == 1 ? 0 : tile.rows * tile.columns * 4;
    const int64_t stage = (tile.rows * (1 + transposesLeft) + tile.columns * (1 + transposesRight)) * sliceBytes;
    return std::min(mostStages, (target.simt.sharedBytes - results - exchanged - barriers) / stage);
  }
};

/// Tiles worth a thought, the widest first: they read the left factor less often.
SmallVector<TensorTile> candidates(const TensorProduct &product, bool isAnyWide) {
  SmallVector<TensorTile> result;
  for (int64_t columns = 256; columns >= 16; columns -= 16)
    for (int64_t rows : {threeGroupsRows, int64_t(128), int64_t(64)})
      for (int64_t split : {1, 2, 4, 8}) {
        TensorTile tile{rows, columns, split};
        if (rows > 64 && product.m <= rows - 64)
          continue;
        if (rows == threeGroupsRows &&
            (split > 1 || columns > mostColumnsOfThree || product.isSimtF32 || product.sumsSlices))
          continue;
        // A single row of tiles shares the columns evenly; elsewhere results leave in panels of 64, as does what does
        // not run along the contraction.
        if (columns % 64 != 0 && (!isAnyWide || (columns != 32 && product.m > rows)))
          continue;
        if (product.isSimtF32 && (columns != simtF32Columns || split > 1))
          continue;
        // Registers for twice the sums.
        if (product.sumsSlices && columns > 128)
          continue;
        // Where there are few tiles; each workgroup has four slices or more.
        if (split > 1 && (columns % (16 * split) != 0 || product.tilesOf(tile) * split > product.target.cores ||
                          product.k < 4 * product.depth * split))
          continue;
        if (product.stagesOf(tile) >= 3)
          result.push_back(tile);
      }
  return result;
}

/// Where rows of a factor begin in the middle of lines, what the copy engine fetches of one lies in two of them:
/// products whose rows have 8048 bytes were fed half as fast as those of 8192. Short rows share their lines with the
/// next ones.
int64_t countLines(const TensorFactor &factor, const TensorProduct &product) {
  constexpr int64_t shortRow = 4;
  const int64_t lineBytes = product.target.memory.lineBytes;
  if (factor.window || lineBytes > sliceBytes)
    return 1;
  BlockAttr block = factor.map.front();
  bool isOnLines = *BlockAttr::constant(block.getOffset()) * product.elementBytes % lineBytes == 0;
  for (auto [extent, stride] : llvm::drop_end(llvm::zip_equal(block.getShape(), block.getStrides()))) {
    const int64_t bytes = *BlockAttr::constant(stride) * product.elementBytes;
    isOnLines &= BlockAttr::constant(extent) == 1 || bytes < shortRow * lineBytes || bytes % lineBytes == 0;
  }
  return isOnLines ? 1 : 2;
}

} // namespace

double clusterExchangeCycles(int64_t split, int64_t sent, const target::TargetInfo &target) {
  return split == 1 ? 0
                    : static_cast<double>(target.costs.clusterBarrierCycles * split * split +
                                          sent / target.costs.distributedSharedBytesPerCycle);
}

SmallVector<TensorChoice> chooseTensorSteps(FuncOp func, const Axes &axes, const target::TargetInfo &target,
                                            unsigned most) {
  if (target.hasTensorTiles() && isTotal(func))
    return chooseTotalSteps(func, axes, target, most);
  if (target.hasTensorTiles() && isAttention(func))
    return chooseAttentionSteps(func, axes, target, most);
  if (target.hasTensorTiles() && isChain(func))
    return chooseChainSteps(func, axes, target, most);
  std::string reason;
  std::optional<TensorDot> dot = matchTensorDot(func, axes, target, target.matrix.allowsReducedPrecision, reason);
  // What cannot be cut to tf32 is multiplied with all digits.
  if (std::string ignored; !dot && target.matrix.allowsReducedPrecision)
    if (std::optional<TensorDot> whole = matchTensorDot(func, axes, target, /*allowsReducedPrecision=*/false, ignored);
        whole && whole->isSimtF32)
      dot = whole;
  auto refuse = [&] {
    if (!func.getBody().getOps<DotOp>().empty() && !func.getTrial())
      remark::missed(func.getLoc(), remark::RemarkOpts::name("NoTensorCores").category("zyx-schedule"))
          << func.getName() << " is not multiplied by tensor cores: " << reason;
    return SmallVector<TensorChoice>();
  };
  if (!dot || !isForTarget(*dot, target, reason))
    return refuse();
  if (dot->isSimtF32 && (axes.extent(dot->m) < fewestSimtF32Rows || axes.extent(dot->k) < fewestSimtF32Depth))
    return {};
  if (!target.hasTensorTiles())
    return chooseWarpSteps(func, *dot, axes, target, most);
  int64_t batches = 1;
  for (Axis axis : dot->batches)
    batches *= axes.extent(axis);
  TensorProduct product{.m = axes.extent(dot->m),
                        .n = axes.extent(dot->n),
                        .k = dot->depth,
                        .batches = batches,
                        .depth = dot->sliceElements(),
                        .elementBytes = dot->elementBytes(),
                        .sumsSlices = dot->sumsSlices(),
                        .isSimtF32 = dot->isSimtF32,
                        .transposesLeft = dot->isTransposed(dot->lhs),
                        .transposesRight = dot->isTransposed(dot->rhs),
                        .fetchesFewRows = dot->lhs.alongDepth,
                        .linesLeft = 1,
                        .linesRight = 1,
                        .target = target};
  product.linesLeft = countLines(dot->lhs, product);
  product.linesRight = countLines(dot->rhs, product);
  SmallVector<TensorChoice> choices;
  // Few tiles of a long contraction, or mostly empty ones, take longer than threads do that read a right factor along
  // rows.
  const bool areThreadsNear = product.isSimtF32 && !product.transposesRight;
  for (TensorTile tile : candidates(product, dot->rhs.alongDepth && !dot->rhs.window)) {
    if (areThreadsNear && product.costOf(tile) > product.threadCost())
      continue;
    const bool isCut = dot->elementBytes() == 4 && target.matrix.allowsReducedPrecision && !dot->isSimtF32;
    choices.push_back({TensorStepAttr::get(func.getContext(), tile.rows, tile.columns, product.depth,
                                           product.stagesOf(tile), group, tile.split, isCut, /*warps=*/0),
                       product.costOf(tile)});
  }
  if (choices.empty() && areThreadsNear) {
    reason = "threads that read its right factor along rows take less";
    return refuse();
  }
  // Of those that take as long, wide ones, which read the left factor less often.
  auto rank = [](const TensorChoice &choice) {
    return std::tuple(choice.cost, -choice.step.getColumns(), -choice.step.getRows(), choice.step.getSplit());
  };
  llvm::sort(choices, [&](const TensorChoice &a, const TensorChoice &b) { return rank(a) < rank(b); });
  choices.truncate(std::min<size_t>(most, choices.size()));
  return choices;
}

} // namespace zyx::schedule
