//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ChooseTensor.h"

#include "zyx/Codegen/Matrix/TensorAttention.h"
#include "zyx/Codegen/Matrix/TensorChain.h"
#include "zyx/Dialect/Kernel/IR/Functions.h"
#include "zyx/Schedule/Estimate.h"
#include "zyx/Target/Info/Budgets.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;

namespace zyx::schedule {

/// A row of a panel fills what a swizzle exchanges; elements of 16 bits.
static constexpr int64_t panel = 64, elementBytes = 2;
static constexpr int64_t mostStages = 4;
/// Columns in which threads have the sum of a row, or its maximum, where they send it to another workgroup.
static constexpr int64_t sumColumns = 8;

/// Says why there are no tensor cores for a kernel.
static SmallVector<TensorChoice> refuse(FuncOp func, StringRef reason) {
  if (!func.getTrial())
    remark::missed(func.getLoc(), remark::RemarkOpts::name("NoTensorCores").category("zyx-schedule"))
        << func.getName() << " is not multiplied by tensor cores: " << reason;
  return {};
}

/// Batches of which half of the cache holds what is walked, a number of bytes of each.
static int64_t batchesTogether(int64_t bytes, const target::TargetInfo &target) {
  return std::max<int64_t>(1, target.memory.l2Bytes / 2 / bytes);
}

/// Whether registers hold what a thread has of a block: scores in f32, weights in 16 bits, and its results. Of two
/// groups of 64 rows each has 240 registers, of three 160, and some forty of them are something else's.
static bool fits(int64_t rows, int64_t keys, int64_t width) {
  return keys / 2 + keys / 4 + width / 2 <= (rows > 128 ? 120 : 200);
}

/// What blocks of so many columns cost, in columns: each is computed whole, and takes as long as some more by itself.
static int64_t costOfBlocks(int64_t places, int64_t columns) {
  constexpr int64_t beside = 16;
  return llvm::divideCeil(places, columns) * (columns + beside);
}

/// Places of which blocks are few: the last one is a large part of them, and may be mostly empty.
static bool areFew(int64_t places) {
  constexpr int64_t onePlaces = 128, fewPlaces = 512;
  return places > onePlaces && places <= fewPlaces;
}

/// Whether what is computed of products, as the cap of scores is, takes longer than these, and more registers.
static bool isHeavy(ArrayRef<Value> computed) {
  llvm::SetVector<Value> values(computed.begin(), computed.end());
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    std::optional<FunctionFacts> function = op ? findFunction(op) : std::nullopt;
    if (function && function->isHeavy)
      return true;
    if (op && !isa<DotOp, ReduceOp, LoadOp>(op))
      values.insert(op->operand_begin(), op->operand_end());
  }
  return false;
}

namespace {
/// Tiles of rows that stream blocks along another axis.
struct Streaming {
  /// Rows of a batch, and places along the other axis.
  int64_t batches, rows, streamed;
  /// Products of a row and a place; sums of f32 of a row, of which workgroups that share a tile have a part each, and
  /// numbers that all of them need.
  int64_t products, sums, common;
  int64_t tilesOf(int64_t height) const { return batches * static_cast<int64_t>(llvm::divideCeil(rows, height)); }
};
/// Rows of a tile, and workgroups that share it.
struct TileShape {
  int64_t rows, split;
};
} // namespace

/// Tiles that leave multiprocessors idle have fewer rows, and each workgroup of a cluster streams a part of the blocks
/// of one.
static TileShape chooseTile(const Streaming &all, int64_t mostRows, int64_t columns, const target::TargetInfo &target) {
  TileShape best{mostRows, 1};
  const int64_t cores = target.cores, blocks = llvm::divideCeil(all.streamed, columns);
  if (2 * all.tilesOf(mostRows) > cores)
    return best;
  auto costOf = [&](TileShape tile) {
    const double element =
        static_cast<double>(all.products) / static_cast<double>(target.costs.matrixProductsPerCycle) +
        static_cast<double>(target.costs.functionOps) / static_cast<double>(target.costs.lanesPerCycle);
    const double loss = tile.rows == 64 ? target::fits::groupProducts::oneGroupLoss : 1.0;
    const int64_t sent = tile.rows * 4 * (tile.split - 1) * (all.sums / tile.split + all.common);
    return static_cast<double>(tile.rows * columns * llvm::divideCeil(blocks, tile.split)) * element * loss +
           clusterExchangeCycles(tile.split, sent, target);
  };
  for (int64_t rows = mostRows; rows >= 64; rows -= 64)
    for (int64_t split = 1; split <= target.simt.clusterSize; split *= 2) {
      const TileShape tile{rows, split};
      // Each workgroup has two blocks and more.
      if (all.tilesOf(rows) * split <= cores && (split == 1 || (2 * split <= blocks && columns % (16 * split) == 0)) &&
          costOf(tile) < costOf(best))
        best = tile;
    }
  // Where less than a launch is gained, larger tiles read less.
  const TileShape whole{mostRows, 1};
  return costOf(whole) - costOf(best) > static_cast<double>(target.costs.launchCycles) ? best : whole;
}

SmallVector<TensorChoice> chooseAttentionSteps(FuncOp func, const Axes &axes, const target::TargetInfo &target,
                                               unsigned most) {
  std::string reason;
  std::optional<TensorAttention> found = matchTensorAttention(func, axes, target, reason);
  if (!found)
    return refuse(func, reason);
  const int64_t depth = llvm::alignTo(found->depth, panel), width = llvm::alignTo(found->width, panel);
  const int64_t queries = axes.extent(found->queries), all = axes.extent(found->keys);
  // Rows of results, scores and weights of a block are in registers: three groups have fewer of these than two, and a
  // mask takes some.
  const bool isMasked = !found->bounds.empty() || found->readsPlaces;
  int64_t mostRows = std::min<int64_t>(depth <= 64 && width <= 64 && !isMasked ? 192 : 128, llvm::alignTo(queries, 64));
  // Of heavy scores two groups take twice as long as one. If there is a multiprocessor for each tile, small ones are
  // done first.
  int64_t heads = 1;
  for (Axis axis : found->batches)
    heads *= axes.extent(axis);
  if (isHeavy(found->unmasked) && heads * static_cast<int64_t>(llvm::divideCeil(queries, 64)) <= target.cores)
    mostRows = 64;
  int64_t keys = width > 192 && isMasked ? 48 : width <= 128 && depth <= 128 && !found->readsMasks ? 128 : 64;
  // The loop behind the first block would be straight code, of which more is in registers at a time.
  if (keys >= 64 && llvm::divideCeil(all, keys) == 2)
    keys /= 2;
  const int64_t group = batchesTogether(all * (depth + width) * elementBytes, target);
  SmallVector<TensorChoice> choices;
  auto add = [&](int64_t rows, int64_t columns, int64_t split) {
    // Wide results leave from where queries came in. Workgroups that share a tile get results in f32, and all sums and
    // maxima.
    const int64_t others = split > 1 ? rows * (depth * elementBytes + (width + split * 2 * sumColumns) * 4)
                                     : rows * (width > 128 ? std::max(depth, width) : depth + width) * elementBytes;
    const int64_t stage = columns * (depth + width) * elementBytes, barriers = 1024;
    const int64_t stages = std::min(mostStages, (target.simt.sharedBytes - others - barriers) / stage);
    if (choices.size() < most && ((choices.empty() && split == 1) || stages >= 2))
      choices.push_back({TensorStepAttr::get(func.getContext(), rows, columns, panel, stages, group, split,
                                             /*tf32=*/false, /*warps=*/0)});
  };
  const TileShape tile =
      chooseTile({heads, queries, all, depth + width, width, 2 * sumColumns}, mostRows, keys, target);
  add(tile.rows, keys, tile.split);
  if (tile.rows != mostRows || tile.split > 1)
    add(mostRows, keys, 1);
  // Nothing estimates these; measuring can tell.
  for (int64_t rows = mostRows; rows >= 64; rows -= 64)
    for (int64_t columns : {keys, keys / 2, keys + 16, keys + 32, keys + 48})
      if ((rows != mostRows || columns != keys) && (rows != tile.rows || columns != keys || tile.split > 1) &&
          columns % 16 == 0 && columns >= 32 && fits(rows, columns, width))
        add(rows, columns, 1);
  return choices;
}

//===----------------------------------------------------------------------===//
// By threads
//===----------------------------------------------------------------------===//

bool hasFewRows(const SharedChoice &choice) {
  constexpr int64_t fewRows = 8;
  return choice.attention.numRows() <= fewRows;
}

std::optional<SharedChoice> chooseSharedAttention(FuncOp func, const Axes &axes, const target::TargetInfo &target) {
  constexpr int64_t mostRows = 64, fewestRows = 16, mostKeys = 64, fewestKeys = 16, mostGathered = 1 << 14;
  if (!target.hasSharedMemory())
    return std::nullopt;
  std::optional<SharedAttention> found = matchSharedAttention(func, axes);
  if (!found)
    return std::nullopt;
  const int64_t all = found->numRows(), programs = found->numPrograms();
  auto isWide = [](Value factor) { return getElementTypeOrSelf(factor.getType()).getIntOrFloatBitWidth() > 16; };
  auto toPower = [](int64_t value) { return static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(value))); };
  int64_t rows = std::min(mostRows, toPower(all));
  // Two for each multiprocessor, as long as rows share what they read, and the one that has most has fewer of them.
  auto groupsOf = [&](int64_t each) { return programs * static_cast<int64_t>(llvm::divideCeil(all, each)); };
  auto mostOf = [&](int64_t each) {
    return static_cast<int64_t>(llvm::divideCeil(groupsOf(each), target.cores)) * each;
  };
  while (rows > fewestRows && groupsOf(rows) < 2 * target.cores &&
         (groupsOf(rows) <= target.cores || mostOf(rows / 2) < mostOf(rows)))
    rows /= 2;
  int64_t keys = std::clamp(toPower(axes.extent(found->keys)), fewestKeys, mostKeys);
  const int64_t threads = std::min<int64_t>(rows > fewestRows || isWide(found->k) || isWide(found->v) ? 256 : 128,
                                            target.simt.workgroupThreads);
  // Two workgroups of a multiprocessor work in turns.
  for (int64_t share : {2, 1})
    for (int64_t most = rows; most >= 1; most /= 2)
      for (int64_t columns = keys; columns >= fewestKeys; columns /= 2) {
        const int64_t own = std::max(most, threads / columns);
        if (own > mostRows || (share == 2 && most < std::min(rows, fewestRows)))
          continue;
        // Few programs have clusters of workgroups, each with two blocks of keys and more.
        const int64_t groups = programs * llvm::divideCeil(all, own),
                      blocks = llvm::divideCeil(axes.extent(found->keys), columns);
        int64_t cluster = 1;
        while (2 * cluster <= target.simt.clusterSize && 2 * cluster * groups <= 2 * target.cores &&
               4 * cluster <= blocks && 2 * cluster * own * axes.extent(found->columns) <= mostGathered)
          cluster *= 2;
        auto shape = SharedAttentionShape::of(*found, axes, target, own, columns, threads, cluster);
        if (!shape || shape->bytes > target.simt.sharedBytes / share)
          continue;
        if (ScheduleAttr schedule = sharedSchedule(*found, axes, {own, columns}, threads, func.getContext()))
          return SharedChoice{schedule, threads, cluster > 1 ? cluster : 0, *shape, *found};
      }
  return std::nullopt;
}

/// Of a thread of two groups that stream.
static int64_t registersOfStreaming(const target::TargetInfo &target) {
  return target::registersOfGroups(target, 2, 3, target::fits::groupProducts::streamingRegisters[2]);
}

SmallVector<TensorChoice> chooseTotalSteps(FuncOp func, const Axes &axes, const target::TargetInfo &target,
                                           unsigned most) {
  std::string reason;
  std::optional<TensorChain> found = matchTensorChain(func, axes, target, reason);
  if (!found)
    return refuse(func, reason);
  const int64_t mostRegisters = registersOfStreaming(target);
  constexpr int64_t scratch = 56, barriers = 1024;
  const int64_t all = axes.extent(found->rows), places = axes.extent(found->streamed);
  const int64_t rows = std::min<int64_t>(128, llvm::alignTo(all, 64));
  int64_t own = 0, other = 0;
  for (const TensorChain::Inner &inner : found->inner)
    own += llvm::alignTo(inner.own.columns(), panel);
  for (const TensorOperand *operand : found->others())
    other += llvm::alignTo(operand->columns(), panel);
  // Of the sum, of products, and of what all batches read alike a thread has half of the columns of 64 rows.
  const auto held = static_cast<int64_t>(1 + found->inner.size() + found->total->ofTile.size());
  // Tiles that have sums of their own, of one block of columns.
  int64_t sums = static_cast<int64_t>(llvm::divideCeil(all, rows));
  for (Axis axis : found->batches)
    if (!llvm::is_contained(found->total->walked, axis))
      sums *= axes.extent(axis);
  // In rounds of as many tiles as there are multiprocessors: of fewer wide ones some would have nothing to do. What
  // rows have is brought for each batch, however many columns a tile has, and then its products are waited for.
  constexpr int64_t beside = 48;
  auto costOf = [&](int64_t columns) {
    const auto blocks = static_cast<int64_t>(llvm::divideCeil(places, columns));
    return (columns + beside) * static_cast<int64_t>(llvm::divideCeil(sums * blocks, target.cores));
  };
  SmallVector<std::pair<int64_t, TensorStepAttr>> steps;
  for (int64_t columns : {80, 64, 48, 32}) {
    const int64_t stages =
        std::min(mostStages, (target.simt.sharedBytes - barriers) / ((rows * own + columns * other) * elementBytes));
    if (stages < 2 || columns * held / 2 + scratch > mostRegisters)
      continue;
    steps.emplace_back(costOf(columns),
                       TensorStepAttr::get(func.getContext(), rows, columns, panel, stages, /*group=*/1, /*split=*/1,
                                           /*tf32=*/false, /*warps=*/0));
  }
  if (steps.empty())
    return refuse(func, "its rows and blocks need more registers or shared memory than there are");
  llvm::stable_sort(steps, llvm::less_first());
  SmallVector<TensorChoice> choices;
  for (const auto &[cost, step] : steps)
    if (choices.size() < most)
      choices.push_back({step});
  return choices;
}

SmallVector<TensorChoice> chooseChainSteps(FuncOp func, const Axes &axes, const target::TargetInfo &target,
                                           unsigned most) {
  std::string reason;
  std::optional<TensorChain> found = matchTensorChain(func, axes, target, reason);
  if (!found)
    return refuse(func, reason);
  const int64_t mostRegisters = registersOfStreaming(target);
  int64_t sums = 0, own = 0, walked = 0, products = 0, added = 0, lefts = 0, batches = 1;
  for (auto [i, inner] : llvm::enumerate(found->inner)) {
    const int64_t leaving = i < found->outer.size() ? found->outer[i].width : 0;
    own += llvm::alignTo(std::max(inner.depth, leaving), panel);
    products += llvm::alignTo(inner.depth, panel);
  }
  for (Axis axis : found->batches)
    batches *= axes.extent(axis);
  for (const TensorOperand *other : found->others())
    walked += llvm::alignTo(other->columns(), panel);
  for (const TensorChain::Outer &outer : found->outer) {
    const int64_t width = llvm::alignTo(outer.width, panel), others = outer.others.size();
    sums += width;
    added += width * outer.parts * others;
    lefts += outer.parts;
  }
  const int64_t all = axes.extent(found->rows), streamed = axes.extent(found->streamed), barriers = 1024;
  const int64_t mostRows = std::min<int64_t>(128, llvm::alignTo(all, 64));
  const int64_t inner = found->inner.size();
  // What threads need for addresses and what they compute with.
  const int64_t scratch =
      isHeavy(llvm::map_to_vector(found->outer, [](const TensorChain::Outer &each) { return each.factor; })) ? 48 : 16;
  SmallVector<TensorChoice> choices;
  SmallVector<int64_t> widths = {128, 64, 32};
  if (areFew(streamed)) {
    widths = {128, 112, 96, 80, 64, 48, 32};
    llvm::stable_sort(widths,
                      [&](int64_t a, int64_t b) { return costOfBlocks(streamed, a) < costOfBlocks(streamed, b); });
  }
  for (int64_t columns : widths) {
    // Of 64 rows a thread holds half of the columns: sums, products and, in 16 bits, left factors.
    const int64_t registers = sums / 2 + columns * inner / 2 + columns * lefts / 4 + scratch;
    const int64_t group = batchesTogether(streamed * walked * elementBytes, target);
    auto add = [&](TileShape tile) {
      const int64_t others = tile.rows * (own * elementBytes + (tile.split > 1 ? sums * 4 : 0));
      const int64_t stages =
          std::min(mostStages, (target.simt.sharedBytes - others - barriers) / (columns * walked * elementBytes));
      // Of large blocks with few stages the first ones are waited for. The widest one is best; nothing estimates by how
      // much.
      if (registers <= mostRegisters && stages >= 3 && choices.size() < most)
        choices.push_back({TensorStepAttr::get(func.getContext(), tile.rows, columns, panel, stages, group, tile.split,
                                               /*tf32=*/false, /*warps=*/0)});
    };
    const TileShape tile =
        chooseTile({batches, all, streamed, products + added, sums, /*common=*/0}, mostRows, columns, target);
    add(tile);
    if (tile.rows != mostRows || tile.split > 1)
      add({mostRows, 1});
  }
  return choices.empty() ? refuse(func, "its rows and blocks need more registers or shared memory than there are")
                         : choices;
}

} // namespace zyx::schedule
