//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In which order a result of one group lies in memory that other groups alone read.
//===----------------------------------------------------------------------===//
#include "Cutter.h"

#include "zyx/Base/Debug.h"
#include "zyx/Cost/Passes.h"
#include "zyx/Cost/ResultOrder.h"
#include "zyx/Dialect/Graph/Analysis/Attention.h"
#include "zyx/Dialect/Graph/Analysis/FactorReads.h"
#include "zyx/Dialect/Graph/Analysis/IterationSpace.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <numeric>

namespace zyx::cost {
#define GEN_PASS_DEF_LAYOUTRESULTSPASS
#include "zyx/Cost/Passes.h.inc"
} // namespace zyx::cost

using namespace mlir;
using namespace zyx;
using namespace zyx::cost;
using namespace zyx::graph::ir;
using target::TargetInfo;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
int64_t bytesOf(Value value) {
  return typeOf(value).getNumElements() * llvm::divideCeil(typeOf(value).getElementTypeBitWidth(), 8);
}

/// Which dimension of the results of one block comes last.
class ResultLayouter {
public:
  ResultLayouter(Block &block, Cutter &cutter) : block(block), cutter(cutter) {}
  void run();
  /// Only what stands beside the scores of attentions, for a processor with such vectors.
  void turnBiases(int64_t vectorBytes);
  /// What groups without products write across what they read: each element would be a store, or a read, or a copy in
  /// between.
  void turnAsRead();
  /// The same for a card, whose threads read as many bytes at once: rows of keys, which may be padded.
  void layOutBiases(int64_t laneBytes);

private:
  using Wish = std::pair<OpResult, int64_t>;
  /// Values that lie alike, with one of their dimensions last or not.
  struct Set {
    int64_t bytes = 0, dim = 0;
    SmallVector<OpResult> values;
    std::vector<ResultOrder> orders;
    bool isMoved = false;
  };
  bool sumsImages();
  void findWishes();
  std::vector<Set> findSets();
  std::optional<double> weigh(const llvm::SetVector<Operation *> &groups);
  llvm::SetVector<Operation *> groupsOf(ArrayRef<OpResult> values);
  bool tryOut(MutableArrayRef<Set> sets);

  Block &block;
  Cutter &cutter;
  /// Results that other groups of the block alone read.
  llvm::SetVector<OpResult> results;
  llvm::MapVector<Wish, int64_t> wishes;
};

struct LayOutResults : zyx::cost::impl::LayOutResultsPassBase<LayOutResults> {
  using LayOutResultsPassBase::LayOutResultsPassBase;
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Which order
//===----------------------------------------------------------------------===//

/// Whether products sum up over images, as gradients of filters do: the estimates of the sums that come with them are
/// wrong for values in another order (docs/fusion.md).
bool ResultLayouter::sumsImages() {
  for (auto group : block.getOps<GroupOp>())
    for (auto reduce : group.getBlock().getOps<ReduceOp>())
      for (const FactorRead &read : findFactorReads(reduce))
        if (read.roles.size() > 2 && read.roles.front() == FactorRead::Contracted)
          return true;
  return false;
}

void ResultLayouter::findWishes() {
  for (auto group : block.getOps<GroupOp>())
    for (auto reduce : group.getBlock().getOps<ReduceOp>())
      for (const FactorRead &read : findFactorReads(reduce)) {
        auto argument = dyn_cast<BlockArgument>(read.source);
        auto source = argument ? dyn_cast<OpResult>(group.getInputs()[argument.getArgNumber()]) : OpResult();
        if (!source || !results.contains(source))
          continue;
        if (std::optional<int64_t> last = findLastDim(read))
          wishes[{source, *last}] += bytesOf(source);
      }
}

static std::string toMicro(std::optional<double> seconds) {
  return seconds ? llvm::formatv("{0:f1} us", *seconds * 1e6).str() : "no kernel";
}

/// "tensor<64xf32> of tensor<8x64xf32>": the first result and the first input.
static std::string describe(GroupOp group) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << group.getResultTypes().front();
  if (!group.getInputs().empty())
    stream << " of " << group.getInputs().front().getType();
  return text;
}

std::optional<double> ResultLayouter::weigh(const llvm::SetVector<Operation *> &groups) {
  double sum = 0;
  for (Operation *group : groups) {
    const std::optional<double> own = cutter.weigh(cast<GroupOp>(group));
    if (!own)
      return std::nullopt;
    ZYX_DEBUG(Fusion, "  " + toMicro(*own) + " for " + describe(cast<GroupOp>(group)));
    sum += *own;
  }
  return sum;
}

llvm::SetVector<Operation *> ResultLayouter::groupsOf(ArrayRef<OpResult> values) {
  llvm::SetVector<Operation *> groups;
  for (OpResult value : values) {
    groups.insert(value.getOwner());
    groups.insert(value.user_begin(), value.user_end());
  }
  return groups;
}

/// Gives the values of these sets another order, or their own one again, where the groups that write and read them take
/// less then.
bool ResultLayouter::tryOut(MutableArrayRef<Set> sets) {
  SmallVector<OpResult> values;
  for (const Set &set : sets)
    llvm::append_range(values, set.values);
  const llvm::SetVector<Operation *> groups = groupsOf(values);
  const std::optional<double> before = weigh(groups);
  auto turn = [&] {
    for (Set &set : sets) {
      for (ResultOrder &order : set.orders) {
        if (set.isMoved)
          order.revert();
        else
          order.apply();
      }
      set.isMoved = !set.isMoved;
    }
  };
  turn();
  const std::optional<double> after = weigh(groups);
  ZYX_DEBUG(Fusion, std::to_string(values.size()) + " results of " + std::to_string(groups.size()) + " groups " +
                        (sets.front().isMoved ? "in another order: " : "in their own order: ") + toMicro(after) +
                        " instead of " + toMicro(before));
  if (after && (!before || *after < target::fits::orders::clearlyLess * *before))
    return true;
  turn();
  return false;
}

/// What is asked to have which dimension last, with all that lies beside it: values of one shape that meet in a group,
/// but for positions, as those before and behind a pool.
std::vector<ResultLayouter::Set> ResultLayouter::findSets() {
  using Entry = std::pair<void *, int64_t>;
  auto entryOf = [](OpResult value, int64_t dim) { return Entry(value.getAsOpaquePointer(), dim); };
  llvm::EquivalenceClasses<Entry> alike;
  llvm::SetVector<int64_t> dims;
  for (auto &[wish, bytes] : wishes)
    dims.insert(wish.second);
  for (int64_t dim : dims)
    for (auto group : block.getOps<GroupOp>()) {
      SmallVector<OpResult> own;
      auto add = [&](Value value) {
        auto result = dyn_cast<OpResult>(value);
        if (result && results.contains(result) && dim + 1 < typeOf(result).getRank())
          own.push_back(result);
      };
      llvm::for_each(group.getInputs(), add);
      llvm::for_each(group.getResults(), add);
      for (size_t i = 0; i < own.size(); ++i)
        for (size_t j = 0; j < i; ++j) {
          ArrayRef<int64_t> a = typeOf(own[i]).getShape(), b = typeOf(own[j]).getShape();
          if (a.size() == b.size() && a[0] == b[0] && a[dim] == b[dim])
            alike.unionSets(entryOf(own[i], dim), entryOf(own[j], dim));
        }
    }
  llvm::MapVector<Entry, Set> found;
  for (auto &[wish, bytes] : wishes) {
    Set &set = found[alike.getOrInsertLeaderValue(entryOf(wish.first, wish.second))];
    set.bytes += bytes;
    set.dim = wish.second;
  }
  // Of two dimensions of a value the one that more want.
  llvm::SmallVector<std::pair<Entry, Set *>> order;
  for (auto &[leader, set] : found)
    order.push_back({leader, &set});
  llvm::stable_sort(order, [](const auto &a, const auto &b) { return a.second->bytes > b.second->bytes; });
  std::vector<Set> sets;
  llvm::DenseSet<OpResult> taken;
  for (auto &[leader, set] : order) {
    for (OpResult result : results)
      if (set->dim + 1 < typeOf(result).getRank() &&
          alike.getOrInsertLeaderValue(entryOf(result, set->dim)) == leader && taken.insert(result).second) {
        set->values.push_back(result);
        set->orders.push_back(ResultOrder::withLast(result, set->dim));
      }
    if (!set->values.empty())
      sets.push_back(std::move(*set));
  }
  return sets;
}

/// The order in which a group reads what it makes a result of, if it permutes that: written in the graph's order, the
/// result would lie across what is read. Positions may be more or fewer, as those of windows are. None where it does
/// not.
static std::optional<SmallVector<int64_t>> findReadOrder(OpResult result) {
  auto group = cast<GroupOp>(result.getOwner());
  auto findDims = [](RankedTensorType type) {
    return llvm::filter_to_vector(llvm::seq<int64_t>(0, type.getRank()),
                                  [&](int64_t dim) { return type.getDimSize(dim) != 1; });
  };
  // Dimensions of one element, as convolutions have of groups, lie anywhere.
  const SmallVector<int64_t> own = findDims(typeOf(result));
  for (auto permute : group.getBlock().getOps<PermuteOp>()) {
    const SmallVector<int64_t> read = findDims(typeOf(permute));
    if (!isa<BlockArgument>(permute.getX()) || read.size() != own.size() || own.empty())
      continue;
    SmallVector<size_t> places(own.size());
    std::iota(places.begin(), places.end(), 0);
    llvm::sort(places, [&](size_t a, size_t b) { return permute.getOrder()[read[a]] < permute.getOrder()[read[b]]; });
    const size_t last = places.back();
    if (last + 1 == own.size() || typeOf(permute).getDimSize(read[last]) != typeOf(result).getDimSize(own[last]))
      continue;
    SmallVector<int64_t> order = llvm::filter_to_vector(llvm::seq<int64_t>(0, typeOf(result).getRank()),
                                                        [&](int64_t dim) { return !llvm::is_contained(own, dim); });
    for (const size_t place : places)
      order.push_back(own[place]);
    return order;
  }
  return std::nullopt;
}

/// Whether a group gathers elements of a value: in another order they would be found one by one.
static bool isGathered(OpResult result) {
  return llvm::any_of(result.getUses(), [](OpOperand &use) {
    Block &reader = cast<GroupOp>(use.getOwner()).getBlock();
    BlockArgument argument = reader.getArgument(use.getOperandNumber());
    return llvm::any_of(reader.getOps<GatherOp>(),
                        [&](GatherOp gather) { return getViewSource(gather.getX()) == argument; });
  });
}

void ResultLayouter::run() {
  if (sumsImages())
    return;
  results = findMovableResults(block);
  findWishes();
  std::vector<Set> sets = findSets();
  // What one set wins hangs on how those beside it lie: all together first, and then each by itself.
  constexpr int mostRounds = 4;
  bool changes = sets.size() > 1 ? (tryOut(sets), true) : true;
  for (int round = 0; round < mostRounds && std::exchange(changes, false); ++round)
    for (Set &set : sets)
      changes |= tryOut(MutableArrayRef<Set>(set));
  // What nobody turned may lie as what it is made of, if its readers take that: a product reads either order.
  llvm::DenseSet<OpResult> turned;
  for (const Set &set : sets)
    if (set.isMoved)
      turned.insert_range(set.values);
  for (OpResult result : results)
    if (std::optional<SmallVector<int64_t>> order = findReadOrder(result);
        order && !turned.contains(result) && !isGathered(result)) {
      Set set;
      set.values.push_back(result);
      set.orders.emplace_back(result, *order);
      if (tryOut(MutableArrayRef<Set>(set)))
        sets.push_back(std::move(set));
    }
  SmallVector<OpResult> moved;
  for (const Set &set : sets)
    for (OpResult value : set.values)
      if (set.isMoved)
        moved.push_back(value);
  for (OpResult value : moved)
    remark::passed(value.getLoc(), remark::RemarkOpts::name("LayOutResults").category("zyx-fusion"))
        << "a result is stored in another order, in which it is read or made";
  // What every program would compute again, and what stands beside a sum, are others now.
  for (Operation *group : groupsOf(moved))
    cutter.run(cast<GroupOp>(group));
}

/// The order of an input that the attention of a group wants, if that stands beside its scores: vectors of a processor
/// lie along queries, or of few queries along keys.
/// On a card, without vectors, they lie along keys.
static std::optional<SmallVector<int64_t>> findBiasOrder(GroupOp group, BlockArgument argument,
                                                         std::optional<int64_t> vectorBytes) {
  const Result<IterationSpace> space = IterationSpace::compute(group);
  if (!space.isOk() || !space->getAttention())
    return std::nullopt;
  Attention attention = *space->getAttention();
  Axis inner = space->getOperandAxes(attention.max)[attention.max.getDims().front()], outer = inner;
  const Axis keys = inner;
  for (const Axis axis : space->getAxes(attention.scores))
    if (axis != -1 && axis != keys)
      inner = axis;
  if (!vectorBytes ||
      2 * space->getExtent(inner) * typeOf(attention.scores).getElementTypeBitWidth() <= 8 * *vectorBytes)
    std::swap(inner, outer);
  std::optional<SmallVector<int64_t>> found;
  for (Operation &op : group.getBlock().without_terminator()) {
    if (!isElementwise(&op))
      continue;
    for (Value operand : op.getOperands()) {
      if (getViewSource(operand) != argument)
        continue;
      const ArrayRef<Axis> axes = space->getAxes(op.getResult(0));
      const auto dims = getSourceDims(operand);
      if (!dims || !llvm::is_contained(axes, keys))
        return std::nullopt;
      SmallVector<int64_t> last;
      for (const Axis wanted : {outer, inner})
        for (auto [axis, dim] : llvm::zip_equal(axes, *dims))
          if (axis == wanted && dim)
            last.push_back(*dim);
      SmallVector<int64_t> order = llvm::filter_to_vector(llvm::seq<int64_t>(0, typeOf(argument).getRank()),
                                                          [&](int64_t dim) { return !llvm::is_contained(last, dim); });
      order.append(last);
      if (last.size() != 2 || (found && *found != order))
        return std::nullopt;
      found = std::move(order);
    }
  }
  return found;
}

/// The order of a result in which it lies as an input that its group permutes, where each dimension of that is one or
/// several of the result: channels that come last are groups of channels in norms.
static std::optional<SmallVector<int64_t>> findSplitOrder(OpResult result) {
  auto group = cast<GroupOp>(result.getOwner());
  ArrayRef<int64_t> own = typeOf(result).getShape();
  for (auto permute : group.getBlock().getOps<PermuteOp>()) {
    if (!isa<BlockArgument>(permute.getX()) || typeOf(permute).getNumElements() != typeOf(result).getNumElements())
      continue;
    ArrayRef<int64_t> read = typeOf(permute).getShape();
    SmallVector<SmallVector<int64_t>> parts(read.size());
    int64_t dim = 0;
    bool isSplit = true;
    for (auto [part, extent] : llvm::zip_equal(parts, read)) {
      int64_t product = 1;
      while (product < extent && dim < static_cast<int64_t>(own.size())) {
        product *= own[dim];
        part.push_back(dim++);
      }
      isSplit &= product == extent;
    }
    if (!isSplit)
      continue;
    // Dimensions of one element behind the last one.
    for (; dim < static_cast<int64_t>(own.size()); ++dim)
      parts.back().push_back(dim);
    SmallVector<SmallVector<int64_t>> inMemory(parts.size());
    for (auto [part, place] : llvm::zip_equal(parts, permute.getOrder()))
      inMemory[place] = part;
    SmallVector<int64_t> order;
    for (ArrayRef<int64_t> part : inMemory)
      llvm::append_range(order, part);
    if (!llvm::is_sorted(order))
      return order;
  }
  return std::nullopt;
}

/// Whether a group multiplies matrices: those have orders of their own.
static bool hasProducts(Operation *op) {
  return llvm::any_of(cast<GroupOp>(op).getBlock().getOps<ReduceOp>(),
                      [](ReduceOp reduce) { return matchContraction(reduce).has_value(); });
}

void ResultLayouter::turnAsRead() {
  results = findMovableResults(block);
  llvm::MapVector<Operation *, Set> sets;
  for (OpResult result : results) {
    const llvm::SetVector<Operation *> groups = groupsOf(ArrayRef(result));
    if (isGathered(result) || llvm::any_of(groups, hasProducts))
      continue;
    if (std::optional<SmallVector<int64_t>> order = findSplitOrder(result)) {
      Set &set = sets[result.getOwner()];
      set.values.push_back(result);
      set.orders.emplace_back(result, *order);
    }
  }
  // Groups that were cut beside an earlier one: their results are those of other groups now.
  llvm::DenseSet<Operation *> gone;
  for (auto &[group, set] : sets) {
    if (gone.contains(group) || !tryOut(MutableArrayRef<Set>(set)))
      continue;
    remark::passed(group->getLoc(), remark::RemarkOpts::name("LayOutResults").category("zyx-fusion"))
        << (std::to_string(set.values.size()) + " results are stored in the order in which their group reads");
    for (Operation *each : groupsOf(set.values))
      if (cutter.run(cast<GroupOp>(each)))
        gone.insert(each);
  }
}

void ResultLayouter::turnBiases(int64_t vectorBytes) {
  auto findOrder = [&](OpResult result) -> std::optional<SmallVector<int64_t>> {
    std::optional<SmallVector<int64_t>> found;
    for (OpOperand &use : result.getUses()) {
      auto reader = dyn_cast<GroupOp>(use.getOwner());
      if (!reader || reader->getBlock() != &block)
        return std::nullopt;
      std::optional<SmallVector<int64_t>> own =
          findBiasOrder(reader, reader.getBlock().getArgument(use.getOperandNumber()), vectorBytes);
      if (!own || (found && found != own))
        return std::nullopt;
      found = std::move(own);
    }
    return found;
  };
  for (auto group : block.getOps<GroupOp>()) {
    if (hasOwnOrder(group))
      continue;
    for (OpResult result : group->getResults()) {
      const std::optional<SmallVector<int64_t>> order = findOrder(result);
      if (!order || llvm::is_sorted(*order))
        continue;
      ResultOrder(result, *order).apply();
      remark::passed(result.getLoc(), remark::RemarkOpts::name("LayOutResults").category("zyx-fusion"))
          << "what stands beside the scores of an attention is stored in the order in which vectors read it";
    }
  }
}

void ResultLayouter::layOutBiases(int64_t laneBytes) {
  for (auto group : block.getOps<GroupOp>()) {
    if (hasOwnOrder(group))
      continue;
    for (OpResult result : group->getResults()) {
      std::optional<SmallVector<int64_t>> order;
      bool isOther = false;
      for (OpOperand &use : result.getUses()) {
        auto reader = dyn_cast<GroupOp>(use.getOwner());
        isOther |= !reader || reader->getBlock() != &block;
        if (isOther)
          break;
        // Gradients read it in both orders.
        auto own = findBiasOrder(reader, reader.getBlock().getArgument(use.getOperandNumber()), std::nullopt);
        isOther |= own && order && own != order;
        if (own)
          order = std::move(own);
      }
      if (isOther || !order)
        continue;
      if (!llvm::is_sorted(*order)) {
        ResultOrder(result, *order).apply();
        remark::passed(result.getLoc(), remark::RemarkOpts::name("LayOutResults").category("zyx-fusion"))
            << "what stands beside the scores of an attention is stored in rows of keys";
      }
      const RankedTensorType type = typeOf(result);
      if (type.getShape().back() * type.getElementTypeBitWidth() % (8 * laneBytes) != 0)
        group->setAttr(keepsRowsAttrName, UnitAttr::get(group.getContext()));
    }
  }
}

void LayOutResults::runOnOperation() {
  func::FuncOp entry = getOperation();
  if (entry.isExternal())
    return;
  const TargetInfo *record = zyx::kernel::requireTarget(entry);
  if (!record)
    return signalPassFailure();
  CostModel costs(entry, *record);
  Cutter cutter(entry, costs);
  llvm::SetVector<Block *> blocks;
  entry.walk([&](GroupOp group) { blocks.insert(group->getBlock()); });
  for (Block *block : blocks) {
    ResultLayouter layouter(*block, cutter);
    if (record->hasVectors()) {
      layouter.turnBiases(record->vector.bytes);
      layouter.turnAsRead();
    } else {
      layouter.turnAsRead();
      layouter.run();
    }
    if (record->simt.laneBytes != 0)
      layouter.layOutBiases(record->simt.laneBytes);
  }
}
