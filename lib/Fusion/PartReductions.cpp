//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "DimSplitter.h"
#include "LongReductions.h"
#include "Machine.h"
#include "NormalizeViews.h"
#include "Notes.h"

#include "zyx/Dialect/Graph/Analysis/Attention.h"
#include "zyx/Dialect/Graph/Analysis/FactorReads.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"
#include "zyx/Target/Info/Budgets.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_PARTREDUCTIONSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

using zyx::fusion::contiguousDim;
using zyx::fusion::DimSplitter;
using zyx::fusion::hasManyElements;
using zyx::fusion::hasRows;
using zyx::fusion::isAlongRows;
using zyx::fusion::isLong;
using zyx::fusion::lastDimAttrName;
using zyx::fusion::partsAttrName;
using zyx::fusion::threadsOf;
using zyx::target::TargetInfo;

/// Into how many parts an extent falls, for a processor; 0 where it does not.
static int64_t partsOf(int64_t extent) {
  for (int64_t parts : {256, 128, 64, 32, 16})
    if (extent % parts == 0)
      return parts;
  return 0;
}

/// The same with its terms in f32, and what they are cast from last: nothing is rounded between two steps of it.
static ReduceOp widen(ReduceOp op) {
  OpBuilder builder(op);
  auto wide = [&](Value value) { return cast<RankedTensorType>(value.getType()).clone(builder.getF32Type()); };
  Value x = CastOp::create(builder, op.getLoc(), wide(op.getX()), op.getX());
  auto sum = ReduceOp::create(builder, op.getLoc(), wide(op.getResult()), op.getKind(), x, op.getDims());
  op.replaceAllUsesWith(CastOp::create(builder, op.getLoc(), op.getResult().getType(), sum.getResult()).getResult());
  op.erase();
  return sum;
}

/// Notes, on what contractions of 16-bit factors are made of in the end, which dimension is going to lie last in memory
/// (-zyx-cost-lay-out-results), where that is not its own last one.
static void noteLastDims(Block &block) {
  llvm::MapVector<std::pair<Operation *, int64_t>, unsigned> wishes;
  for (auto reduce : block.getOps<ReduceOp>())
    for (const FactorRead &read : findFactorReads(reduce))
      if (Operation *source = read.source.getDefiningOp(); source && source->getBlock() == &block && read.isNarrow)
        if (std::optional<int64_t> last = findLastDim(read))
          ++wishes[{source, *last}];
  llvm::DenseMap<Operation *, unsigned> most;
  for (auto &[wish, count] : wishes)
    if (count > most[wish.first]) {
      most[wish.first] = count;
      wish.first->setAttr(lastDimAttrName, Builder(wish.first->getContext()).getI64IntegerAttr(wish.second));
    }
}

static void forgetLastDims(Block &block) {
  for (Operation &op : block)
    op.removeAttr(lastDimAttrName);
}

/// The reductions of attentions that workgroups walk in one pass, of which there are enough for the machine: with parts
/// of their own they would be none.
static llvm::DenseSet<Operation *> findWholeAttentions(Block &block, const TargetInfo &machine) {
  // Where a quarter of the cores has a program, others of its cluster have parts of its keys.
  constexpr int64_t keysOfFew = 8192, coresPerProgram = 4;
  const int64_t cluster = machine.simt.clusterSize;
  llvm::DenseSet<Operation *> whole;
  if (!machine.hasSubgroups())
    return whole;
  for (auto output : block.getOps<ReduceOp>()) {
    auto found = matchAttention(output, Largest::OfOthersToo);
    if (!found || !cast<RankedTensorType>(found->exp.getType()).getElementType().isF32())
      continue;
    auto product = output.getX().getDefiningOp<BinaryOp>();
    Value weights = found->weights.front()->get(), values = product.getA() == weights ? product.getB() : product.getA();
    auto numElements = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); };
    // Of each of its programs values are keys times columns; heads that share them are one.
    const int64_t rows = numElements(found->max.getResult()),
                  keys = numElements(found->max.getX()) / std::max<int64_t>(rows, 1);
    const int64_t columns = numElements(output.getResult()) / std::max<int64_t>(rows, 1);
    if (columns < 2 || keys < 2)
      continue;
    // So few keys take no longer, however few workgroups a cluster has.
    const int64_t programs = numElements(getViewSource(values)) / (keys * columns);
    if (programs * cluster < machine.cores / coresPerProgram && (cluster == 1 || keys > keysOfFew))
      continue;
    for (Operation *op : {found->scores.getOperation(), found->max.getOperation(), output.getOperation()})
      whole.insert(op);
    for (auto sum : block.getOps<ReduceOp>())
      if (isSumOf(sum, found->exp))
        whole.insert(sum);
  }
  return whole;
}

namespace {

/// Which reduced dimensions are parts as they are, and one that falls into parts.
struct Parts {
  SmallVector<int64_t> whole;
  int64_t cut = -1, count = 1;
};

} // namespace

/// Whether parts save more than the launch that adds them up, and that no reader of the sum shares with them: without
/// them fewer cores read, and each has one workgroup.
static bool savesLaunch(ReduceOp op, const TargetInfo &machine) {
  const int64_t threads = isAlongRows(op) ? zyx::target::rowThreads(machine) : zyx::target::columnThreads(machine);
  const double memory = static_cast<double>(machine.costs.memoryBytesPerCycle),
               cores = static_cast<double>(machine.cores);
  if (memory == 0 || threads == 0)
    return true;
  auto widened = op.getX().getDefiningOp<CastOp>();
  auto type = cast<RankedTensorType>((widened ? widened.getX() : op.getX()).getType());
  const double bytes = static_cast<double>(type.getNumElements()) *
                       static_cast<double>(llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8));
  const auto workgroups = static_cast<double>(std::max<int64_t>(threadsOf(op, machine) / threads, 1));
  const double whole = bytes / (std::min(workgroups, cores) * memory * zyx::target::fits::sums::aloneRate);
  return whole - bytes / (cores * memory) > static_cast<double>(machine.costs.launchCycles);
}

/// As many parts as a card wants, as nearly as the extents allow. Each has some rows to add up, so that adding up parts
/// is not the most of it.
static std::optional<Parts> chooseParts(ReduceOp op, const TargetInfo &machine) {
  constexpr int64_t fewestElements = 64, mostParts = 4096;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getX().getType()).getShape(), dims = op.getDims();
  const int64_t contiguous = contiguousDim(op), all = ShapedType::getNumElements(shape);
  const int64_t combined =
      all / std::max<int64_t>(cast<RankedTensorType>(op.getResult().getType()).getNumElements(), 1);
  // Of a row each thread of a workgroup has several vectors.
  const int64_t fewest = isAlongRows(op) ? fewestElements * zyx::target::rowThreads(machine) / 8 : fewestElements;
  const int64_t most = std::min(combined / fewest, mostParts);
  const int64_t wanted = std::min(machine.busyThreads() / std::max<int64_t>(threadsOf(op, machine), 1), most);
  if (wanted < 2 || dims.size() > 8 || !savesLaunch(op, machine))
    return std::nullopt;
  std::optional<std::pair<Parts, int64_t>> best;
  auto distance = [&](int64_t parts) { return parts > wanted ? parts - wanted : 2 * (wanted - parts); };
  auto consider = [&](Parts parts, int64_t total) {
    if (total >= 2 && total <= most && (!best || distance(total) < distance(best->second)))
      best = {std::move(parts), total};
  };
  for (unsigned subset = 0; subset < 1u << dims.size(); ++subset) {
    Parts parts;
    int64_t total = 1;
    bool isAllowed = true;
    for (auto [i, dim] : llvm::enumerate(dims))
      if (subset >> i & 1) {
        isAllowed &= dim != contiguous;
        parts.whole.push_back(dim);
        total = std::min(total * shape[dim], all);
      }
    if (!isAllowed || total > most || parts.whole.size() == dims.size())
      continue;
    consider(parts, total);
    for (auto [i, dim] : llvm::enumerate(dims)) {
      if (subset >> i & 1)
        continue;
      // Parts of a row begin where lines of memory do.
      const int64_t step = dim == contiguous ? 64 : 1;
      for (int64_t count = 2; count * total <= most && count <= shape[dim]; ++count)
        if (shape[dim] % (count * step) == 0) {
          parts.cut = dim, parts.count = count;
          consider(parts, total * count);
        }
    }
  }
  // A second kernel is not worth a few more workgroups.
  constexpr int64_t fewestParts = 8;
  if (!best || (best->second < fewestParts && 4 * best->second < wanted))
    return std::nullopt;
  return best->first;
}

/// Gives a reduction parts as dimensions of their own, and notes which these are.
static void partForCard(ReduceOp op, const TargetInfo &machine) {
  const std::optional<Parts> parts = chooseParts(op, machine);
  if (!parts)
    return;
  auto type = cast<RankedTensorType>(op.getX().getType());
  SmallVector<int64_t> shape(type.getShape()), dims(op.getDims()), whole(parts->whole);
  OpBuilder builder(op);
  if (parts->cut >= 0) {
    shape.insert(shape.begin() + parts->cut, parts->count);
    shape[parts->cut + 1] /= parts->count;
    for (SmallVector<int64_t> *list : {&dims, &whole})
      for (int64_t &dim : *list)
        dim += dim >= parts->cut;
    dims.push_back(parts->cut);
    whole.push_back(parts->cut);
    llvm::sort(dims);
    llvm::sort(whole);
    DimSplitter splitter(builder, parts->count);
    const bool goesThrough =
        splitter.meetsGather(op.getX(), parts->cut) || splitter.isLargerThanSources(op.getX(), type.getNumElements());
    Value parted = goesThrough ? splitter.split(op.getX(), parts->cut)
                               : ReshapeOp::create(builder, op.getLoc(), type.clone(shape), op.getX()).getResult();
    auto made = ReduceOp::create(builder, op.getLoc(), op.getResult().getType(), op.getKind(), parted, dims);
    op.replaceAllUsesWith(made.getResult());
    op.erase();
    op = made;
  }
  op->setAttr(partsAttrName, builder.getDenseI64ArrayAttr(whole));
}

static void partReductions(Block &block, const TargetInfo &machine, bool turn) {
  if (turn)
    noteLastDims(block);
  const llvm::DenseSet<Operation *> whole = findWholeAttentions(block, machine);
  for (auto op : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    // Rows may have parts already.
    if (op->hasAttr(partsAttrName)) {
      if (!hasManyElements(op))
        op->removeAttr(partsAttrName);
      continue;
    }
    if (!isLong(op, machine) || whole.contains(op))
      continue;
    if (zyx::fusion::isRounded(op))
      op = widen(op);
    if (machine.hasSubgroups()) {
      partForCard(op, machine);
      continue;
    }
    if (hasRows(op))
      continue;
    auto type = cast<RankedTensorType>(op.getX().getType());
    SmallVector<int64_t> shape(type.getShape()), dims(op.getDims());
    const int64_t first = dims.front();
    const int64_t parts = partsOf(shape[first]);
    if (parts == 0)
      continue;
    shape.insert(shape.begin() + first, parts);
    shape[first + 1] /= parts;
    for (int64_t &dim : dims)
      ++dim;
    dims.insert(dims.begin(), first);
    OpBuilder builder(op);
    Value parted = ReshapeOp::create(builder, op.getLoc(), type.clone(shape), op.getX());
    op.replaceAllUsesWith(
        ReduceOp::create(builder, op.getLoc(), op.getResult().getType(), op.getKind(), parted, dims).getResult());
    op.erase();
  }
  forgetLastDims(block);
}

namespace {

struct PartReductions : zyx::fusion::impl::PartReductionsPassBase<PartReductions> {
  using PartReductionsPassBase::PartReductionsPassBase;
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { partReductions(block, machine, turn); })))
      signalPassFailure();
  }
};

} // namespace
