//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Groups that reduce the same elements and do not depend on each other, as gradients of a norm's scale and shift do.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "GroupRules.h"
#include "Machine.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_JOINSUMSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Result;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// What a group reduces: all of its reductions take operands of one shape, along the same dimensions.
struct Sums {
  GroupOp group;
  ReduceOp first;
  unsigned count = 0;
  /// Whether it has results as large as what it reduces.
  bool writes = false;
};

} // namespace

/// The reductions of a group; none of one that is a contraction or walks an order.
static std::optional<Sums> findSums(GroupOp group) {
  Sums sums{group, {}};
  for (Operation &op : group.getBlock().without_terminator()) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce && !isElementwise(&op) && !isIndexMap(&op) && !isa<ConstantOp, PadOp>(op))
      return std::nullopt;
    if (!reduce)
      continue;
    if (sums.first && (typeOf(reduce.getX()).getShape() != typeOf(sums.first.getX()).getShape() ||
                       reduce.getDims() != sums.first.getDims()))
      return std::nullopt;
    if (!sums.first)
      sums.first = reduce;
    ++sums.count;
  }
  if (!sums.first)
    return std::nullopt;
  const int64_t most = typeOf(sums.first).getNumElements();
  for (Value result : group.getBlock().getTerminator()->getOperands()) {
    // What is repeated behind its last op has more axes than that.
    Value computed = getViewSource(result);
    Operation *op = computed.getDefiningOp();
    if (!op || (!isElementwise(op) && !isa<ReduceOp>(op)) ||
        typeOf(result).getNumElements() > typeOf(computed).getNumElements())
      return std::nullopt;
    sums.writes |= typeOf(result).getNumElements() > most;
  }
  Result<IterationSpace> space = IterationSpace::compute(group);
  if (!space.isOk() || space->getContraction() || space->getAttention() || space->chainsProducts() ||
      space->getRowAndColumnReductions())
    return std::nullopt;
  return sums;
}

/// Whether it is worth a kernel to read once what both read: one value that is as large as half of what they reduce, or
/// all that they read. What walks its rows to write them has its own way to do so, to which sums of what it reads
/// anyway are added.
static bool shareInput(Sums a, Sums b) {
  const int64_t elements = typeOf(a.first.getX()).getNumElements();
  auto isLarge = [&](Value input) { return 2 * typeOf(input).getNumElements() >= elements; };
  auto areRead = [&](Sums by, Sums of, bool all) {
    return llvm::all_of(of.group.getInputs(), [&](Value input) {
      return (!all && !isLarge(input)) || llvm::is_contained(by.group.getInputs(), input);
    });
  };
  if (a.writes || b.writes) {
    Sums by = a.writes ? a : b, of = a.writes ? b : a;
    return !of.writes && llvm::any_of(of.group.getInputs(), isLarge) && areRead(by, of, /*all=*/false);
  }
  return (areRead(a, b, /*all=*/true) && areRead(b, a, /*all=*/true)) ||
         llvm::any_of(a.group.getInputs(),
                      [&](Value input) { return isLarge(input) && llvm::is_contained(b.group.getInputs(), input); });
}

/// Two loads of an input may walk along it in two ways. A product with one, which is what it was, makes one value of
/// those that are reduced as they are, and of the others.
static bool tieInputs(Block &block) {
  bool ties = false;
  for (BlockArgument argument : block.getArguments()) {
    auto type = typeOf(argument);
    if (!isa<FloatType>(type.getElementType()) || argument.hasOneUse() ||
        llvm::none_of(argument.getUsers(), llvm::IsaPred<ReduceOp>) ||
        !llvm::all_of(argument.getUsers(), [](Operation *user) { return isa<ReduceOp>(user) || isElementwise(user); }))
      continue;
    OpBuilder builder(&block, block.begin());
    Value one = zyx::fusion::makeSplat(builder, argument.getLoc(), type, 1);
    Operation *same = BinaryOp::create(builder, argument.getLoc(), BinaryKind::Mul, argument, one);
    argument.replaceAllUsesExcept(same->getResult(0), same);
    ties = true;
  }
  return ties;
}

/// Leaves one of ops that are the same: what both groups computed of the same input is what makes them one iteration
/// space.
static void shareOps(Block &block) {
  SmallVector<Operation *> known;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    auto *same = llvm::find_if(known, [&](Operation *other) {
      return OperationEquivalence::isEquivalentTo(other, &op, OperationEquivalence::exactValueMatch, nullptr,
                                                  OperationEquivalence::IgnoreLocations);
    });
    if (same == known.end()) {
      known.push_back(&op);
      continue;
    }
    op.replaceAllUsesWith(*same);
    op.erase();
  }
}

/// One group of both, behind the second one, and for each result of theirs its own; no group where that is no kernel.
static std::pair<GroupOp, SmallVector<unsigned>> makeBoth(Sums a, Sums b) {
  OpBuilder builder(b.group);
  builder.setInsertionPointAfter(b.group);
  llvm::SetVector<Value> inputs(a.group.getInputs().begin(), a.group.getInputs().end());
  inputs.insert(b.group.getInputs().begin(), b.group.getInputs().end());
  OperationState state(b.group.getLoc(), GroupOp::getOperationName());
  state.addOperands(inputs.getArrayRef());
  Block *block = new Block;
  state.addRegion()->push_back(block);
  for (Value input : inputs)
    block->addArgument(input.getType(), input.getLoc());
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToEnd(block);
  SmallVector<Value> results;
  for (GroupOp group : {a.group, b.group}) {
    IRMapping mapping;
    for (auto [argument, input] : llvm::zip_equal(group.getBlock().getArguments(), group.getInputs()))
      mapping.map(argument, block->getArgument(llvm::find(inputs, input) - inputs.begin()));
    for (Operation &op : group.getBlock().without_terminator())
      inside.clone(op, mapping);
    for (Value result : group.getBlock().getTerminator()->getOperands())
      results.push_back(mapping.lookup(result));
  }
  auto yield = YieldOp::create(inside, b.group.getLoc(), results);
  shareOps(*block);
  // What both computed is one result.
  const llvm::SetVector<Value> own(yield->operand_begin(), yield->operand_end());
  SmallVector<unsigned> places;
  for (Value result : yield->getOperands())
    places.push_back(static_cast<unsigned>(llvm::find(own, result) - own.begin()));
  yield->setOperands(own.getArrayRef());
  state.addTypes(TypeRange(ValueRange(own.getArrayRef())));
  auto made = cast<GroupOp>(builder.create(state));
  auto isKernel = [&] {
    IterationSpace::Ops ops;
    for (Operation &op : made.getBlock().without_terminator())
      if (isElementwise(&op) || isa<ReduceOp>(op))
        ops.insert(&op);
    SmallVector<Value> outputs;
    for (Value result : made.getBlock().getTerminator()->getOperands())
      outputs.push_back(getViewSource(result));
    return zyx::fusion::checkGroup(ops, outputs).isOk();
  };
  if (isKernel() || (tieInputs(made.getBlock()) && isKernel()))
    return {made, places};
  made.erase();
  return {};
}

/// The ops between two groups that follow from the first one, in their order; none where the second one does.
static std::optional<SmallVector<Operation *>> findBetween(GroupOp first, GroupOp second) {
  llvm::SmallSetVector<Operation *, 16> following;
  following.insert(first);
  for (Operation *op = first->getNextNode();; op = op->getNextNode()) {
    bool follows = false;
    op->walk([&](Operation *inner) {
      follows |= llvm::any_of(inner->getOperands(), [&](Value operand) {
        Operation *producer = operand.getDefiningOp();
        return producer && following.contains(producer);
      });
    });
    if (op == second)
      return follows ? std::nullopt
                     : std::optional(SmallVector<Operation *>(llvm::drop_begin(following.getArrayRef())));
    if (follows)
      following.insert(op);
  }
}

/// The group of both, in whose place they are erased; none where they stay apart.
static std::optional<Sums> tryJoin(Sums a, Sums b, const zyx::target::TargetInfo &machine) {
  // Each is a number that a thread keeps.
  constexpr unsigned mostSums = 8;
  if (typeOf(a.first.getX()).getShape() != typeOf(b.first.getX()).getShape() ||
      a.first.getDims() != b.first.getDims() || a.count + b.count > mostSums || !shareInput(a, b))
    return std::nullopt;
  llvm::SmallDenseSet<Value> inputs(a.group.getInputs().begin(), a.group.getInputs().end());
  inputs.insert(b.group.getInputs().begin(), b.group.getInputs().end());
  const auto mostBuffers = static_cast<size_t>(machine.simt.mostFusedBuffers());
  if (mostBuffers != 0 && inputs.size() + a.group->getNumResults() + b.group->getNumResults() > mostBuffers)
    return std::nullopt;
  if (b.group->isBeforeInBlock(a.group))
    std::swap(a, b);
  std::optional<SmallVector<Operation *>> between = findBetween(a.group, b.group);
  if (!between)
    return std::nullopt;
  auto [made, places] = makeBoth(a, b);
  if (!made)
    return std::nullopt;
  Operation *last = made;
  for (Operation *op : *between) {
    op->moveAfter(last);
    last = op;
  }
  SmallVector<Value> before(a.group->getResults());
  llvm::append_range(before, b.group->getResults());
  for (auto [result, place] : llvm::zip_equal(before, places))
    result.replaceAllUsesWith(made->getResult(place));
  auto reductions = made.getBlock().getOps<ReduceOp>();
  Sums sums{made, *reductions.begin(), static_cast<unsigned>(llvm::range_size(reductions)), a.writes || b.writes};
  remark::passed(made.getLoc(), remark::RemarkOpts::name("JoinSums").category("zyx-fusion"))
      << (std::to_string(sums.count) + " reductions that read the same are one kernel");
  a.group.erase();
  b.group.erase();
  return sums;
}

static void joinSums(Block &block, const zyx::target::TargetInfo &machine) {
  SmallVector<Sums> all;
  for (GroupOp group : llvm::to_vector(block.getOps<GroupOp>())) {
    std::optional<Sums> sums = findSums(group);
    if (!sums)
      continue;
    for (bool joined = true; std::exchange(joined, false);)
      for (size_t i = 0; i < all.size() && !joined; ++i)
        if (std::optional<Sums> made = tryJoin(all[i], *sums, machine)) {
          all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
          sums = made;
          joined = true;
        }
    all.push_back(*sums);
  }
}

namespace {

struct JoinSums : zyx::fusion::impl::JoinSumsPassBase<JoinSums> {
  void runOnOperation() override {
    const zyx::target::TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (!machine.hasSubgroups())
      return;
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { joinSums(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
