//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ChooseTensor.h"

#include "zyx/Dialect/Kernel/Transforms/TensorAttention.h"
#include "zyx/Dialect/Kernel/Transforms/TensorDot.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;

namespace zyx::schedule {
namespace {

/// Elements of a slice along the contraction: a row of it fills what a swizzle exchanges.
constexpr int64_t depth = 64;
/// A column of tiles that are walked together.
constexpr int64_t group = 8;
constexpr int64_t mostStages = 16;
/// One group of warps alone does not keep the tensor cores busy.
constexpr double oneGroupLoss = 1.15;

struct Tile {
  int64_t rows, columns;
};
constexpr Tile tiles[] = {{128, 256}, {128, 192}, {128, 128}, {128, 64}, {64, 256}, {64, 128}, {64, 64}, {64, 32}};

/// Cycles of all tiles, one wave of workgroups after the other.
double costOf(Tile tile, int64_t m, int64_t n, int64_t k, int64_t batches, const target::TargetInfo &target) {
  const int64_t count = llvm::divideCeil(m, tile.rows) * llvm::divideCeil(n, tile.columns) * batches;
  const double multiply = static_cast<double>(tile.rows * tile.columns * depth) / target.productsPerCycle;
  const double copy = static_cast<double>(tile.rows + tile.columns) * depth * 2 / target.bytesPerCycle;
  double slice = std::max(multiply * (tile.rows == 64 ? oneGroupLoss : 1.0), copy);
  return llvm::divideCeil(count, target.cores) * (llvm::divideCeil(k, depth) * slice + target.tileCycles);
}

/// Of the ring's stages, beside what results leave through and the barriers.
int64_t stagesOf(Tile tile, const target::TargetInfo &target) {
  const int64_t results = tile.rows * 2 * 64 * 2, barriers = 2 * 8 * mostStages;
  return std::min(mostStages, (target.sharedBytes - results - barriers) / ((tile.rows + tile.columns) * depth * 2));
}

} // namespace

TensorStepAttr chooseTensorStep(FuncOp func, const Axes &axes, const target::TargetInfo &target) {
  if (isAttention(func))
    return chooseAttentionStep(func, axes, target);
  std::string reason;
  std::optional<TensorDot> dot = matchTensorDot(func, axes, reason);
  if (!dot) {
    if (!func.getBody().getOps<DotOp>().empty())
      remark::missed(func.getLoc(), remark::RemarkOpts::name("NoTensorCores").category("zyx-schedule"))
          << func.getName() << " is not multiplied by tensor cores: " << reason;
    return {};
  }
  int64_t batches = 1;
  for (Axis axis : dot->batches)
    batches *= axes.extent(axis);
  const Tile *best = nullptr;
  double least = 0;
  for (const Tile &tile : tiles) {
    // What does not run along the contraction lies in panels of 64 columns.
    if (tile.columns % 64 != 0 && !dot->rhs.alongDepth)
      continue;
    double cost = costOf(tile, axes.extent(dot->m), axes.extent(dot->n), dot->depth, batches, target);
    if (!best || cost < least) {
      best = &tile;
      least = cost;
    }
  }
  return TensorStepAttr::get(func.getContext(), best->rows, best->columns, depth, stagesOf(*best, target), group);
}

} // namespace zyx::schedule
