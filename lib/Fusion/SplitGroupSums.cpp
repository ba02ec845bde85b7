//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Reductions over positions and few neighbours in memory, as norms of groups of channels have them where channels come
// last. Vectors along so few neighbours would be mostly empty, and what the neighbours share would keep them apart from
// those of the next group.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "LongReductions.h"
#include "Machine.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_SPLITGROUPSUMSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// What a reduction is for each of the neighbours that it combines.
struct EachSum {
  ReduceOp whole;
  /// The neighbours' dimension of the operand.
  int64_t dim;
  /// The result with this dimension, along which it is the same, and without.
  Value each, once;
};

class GroupSums {
public:
  GroupSums(Block &block, const zyx::target::TargetInfo &machine) : block(block), machine(machine) {}
  void run();

private:
  std::optional<int64_t> findNeighbours(ReduceOp op) const;
  bool isWorth(ReduceOp op, int64_t neighbours) const;
  void split(ReduceOp op, int64_t dim);
  Value spread(OpBuilder &builder, Value value, int64_t dim, int64_t extent);
  Value spreadSum(OpBuilder &builder, ReshapeOp op, int64_t dim);

  Block &block;
  const zyx::target::TargetInfo &machine;
  llvm::DenseMap<Operation *, EachSum> sums;
  /// What was made of values for each neighbour, by the value and the dimension; null for what hangs on no sum.
  llvm::DenseMap<std::pair<Value, int64_t>, Value> known;
};

} // namespace

/// Bytes of an element in memory: what is computed of it may be wider.
static int64_t storedBytes(Value value) {
  const int64_t elements = typeOf(value).getNumElements();
  int64_t bits = 0;
  SmallVector<Value> work{value};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second || typeOf(next).getNumElements() != elements)
      continue;
    Operation *op = next.getDefiningOp();
    if (op && (isElementwise(op) || isView(op)))
      llvm::append_range(work, op->getOperands());
    else
      bits = std::max<int64_t>(bits, typeOf(next).getElementTypeBitWidth());
  }
  return llvm::divideCeil(bits, 8);
}

/// A vector has room for more than these neighbours. A card reads a sector for them, more than once, and the sectors of
/// the next groups are those of other programs; sums of channels are further launches, which large images alone pay.
bool GroupSums::isWorth(ReduceOp op, int64_t neighbours) const {
  constexpr int64_t mostNeighbours = 32, fewestWasted = 32 << 20;
  if (!machine.hasSubgroups())
    return neighbours < mostNeighbours;
  const int64_t bytes = neighbours * storedBytes(op.getX()), sector = machine.memory.transactionBytes;
  return bytes != 0 && bytes < sector &&
         typeOf(op.getX()).getNumElements() / neighbours * (sector - bytes) >= fewestWasted;
}

/// The dimension of few neighbours, each of which many others are combined with, while the next dimension in memory is
/// kept.
std::optional<int64_t> GroupSums::findNeighbours(ReduceOp op) const {
  constexpr int64_t fewestPositions = 16, fewestElements = 4096, fewestChannels = 16;
  const std::optional<int64_t> dim = zyx::fusion::findContiguousDim(op.getX());
  auto isReduced = [&](int64_t d) { return llvm::is_contained(op.getDims(), d); };
  if (!dim || *dim == 0 || !isReduced(*dim) || isReduced(*dim - 1) || op.getDims().size() < 2)
    return std::nullopt;
  ArrayRef<int64_t> shape = typeOf(op.getX()).getShape();
  int64_t positions = 1;
  for (int64_t d : op.getDims())
    positions *= d == *dim ? 1 : shape[d];
  const int64_t neighbours = shape[*dim];
  const bool isLarge = neighbours > 1 && positions >= fewestPositions && shape[*dim - 1] > 1 &&
                       neighbours * shape[*dim - 1] >= fewestChannels &&
                       typeOf(op.getX()).getNumElements() >= fewestElements;
  return isLarge && isWorth(op, neighbours) && !matchContraction(op) ? dim : std::nullopt;
}

void GroupSums::split(ReduceOp op, int64_t dim) {
  OpBuilder builder(op);
  const Location loc = op.getLoc();
  RankedTensorType result = typeOf(op.getResult());
  ArrayRef<int64_t> shape = typeOf(op.getX()).getShape();
  SmallVector<int64_t> positions, kept;
  int64_t place = 0;
  for (int64_t d = 0, rank = shape.size(); d < rank; ++d) {
    if (d == dim)
      place = static_cast<int64_t>(kept.size());
    else if (llvm::is_contained(op.getDims(), d)) {
      positions.push_back(d);
      continue;
    }
    kept.push_back(shape[d]);
  }
  Value parts = ReduceOp::create(builder, loc, result.clone(kept), op.getKind(), op.getX(), positions);
  // [..., groups, 1, neighbours, ...], once for each neighbour, as [..., channels, neighbours, ...].
  SmallVector<int64_t> apart(kept), channels(kept);
  apart.insert(apart.begin() + place, 1);
  Value all = ReshapeOp::create(builder, loc, result.clone(apart), parts);
  apart[place] = shape[dim];
  all = ExpandOp::create(builder, loc, result.clone(apart), all);
  channels[place - 1] *= shape[dim];
  all = ReshapeOp::create(builder, loc, result.clone(channels), all);
  channels.erase(channels.begin() + place);
  all = ReduceOp::create(builder, loc, result.clone(channels), op.getKind(), all, ArrayRef(place));
  Value each = ReshapeOp::create(builder, loc, result.clone(kept), all);
  Value once = ReduceOp::create(builder, loc, result, op.getKind(), parts, ArrayRef(place));
  sums[op] = {op, dim, each, once};
}

/// A reduction's result with the dimensions of its operand, each of the combined ones of extent 1.
Value GroupSums::spreadSum(OpBuilder &builder, ReshapeOp op, int64_t dim) {
  auto found = sums.find(op.getX().getDefiningOp());
  if (found == sums.end() || found->second.dim != dim)
    return {};
  ReduceOp whole = found->second.whole;
  SmallVector<int64_t> shape(typeOf(whole.getX()).getShape());
  for (int64_t d : whole.getDims())
    shape[d] = 1;
  if (typeOf(op.getResult()).getShape() != ArrayRef(shape))
    return {};
  shape[dim] = typeOf(whole.getX()).getDimSize(dim);
  return ReshapeOp::create(builder, op.getLoc(), typeOf(op.getResult()).clone(shape), found->second.each);
}

/// A value of extent 1 along a dimension, as computed for each neighbour; null where it hangs on no sum.
Value GroupSums::spread(OpBuilder &builder, Value value, int64_t dim, int64_t extent) {
  if (auto found = known.find({value, dim}); found != known.end())
    return found->second;
  known[{value, dim}] = {};
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &block)
    return {};
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(op);
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[dim] = extent;
  Value result;
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    result = spreadSum(builder, reshape, dim);
  } else if (auto expand = dyn_cast<ExpandOp>(op)) {
    if (Value own = spread(builder, expand.getX(), dim, extent))
      result = ExpandOp::create(builder, op->getLoc(), typeOf(value).clone(shape), own);
  } else if (isElementwise(op)) {
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return spread(builder, operand, dim, extent); });
    if (llvm::none_of(operands, [](Value own) { return bool(own); }))
      return {};
    for (auto [own, operand] : llvm::zip_equal(operands, op->getOperands()))
      if (!own)
        own = ExpandOp::create(builder, op->getLoc(), typeOf(operand).clone(shape), operand);
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    copy->getResult(0).setType(typeOf(value).clone(shape));
    result = copy->getResult(0);
  }
  known[{value, dim}] = result;
  return result;
}

void GroupSums::run() {
  for (auto op : llvm::make_early_inc_range(block.getOps<ReduceOp>()))
    if (std::optional<int64_t> dim = findNeighbours(op))
      split(op, *dim);
  if (sums.empty())
    return;
  for (auto op : llvm::make_early_inc_range(block.getOps<ExpandOp>())) {
    ArrayRef<int64_t> from = typeOf(op.getX()).getShape(), to = typeOf(op).getShape();
    for (auto [dim, extent] : llvm::enumerate(to)) {
      if (from[dim] != 1 || extent == 1)
        continue;
      OpBuilder builder(op);
      if (Value own = spread(builder, op.getX(), static_cast<int64_t>(dim), extent)) {
        op.getXMutable().assign(own);
        break;
      }
    }
  }
  for (auto &[op, sum] : sums) {
    sum.whole.getResult().replaceAllUsesWith(sum.once);
    op->erase();
  }
}

namespace {

struct SplitGroupSums : zyx::fusion::impl::SplitGroupSumsPassBase<SplitGroupSums> {
  void runOnOperation() override {
    const zyx::target::TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    auto split = [&](Block &block) { GroupSums(block, machine).run(); };
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), split)))
      signalPassFailure();
  }
};

} // namespace
