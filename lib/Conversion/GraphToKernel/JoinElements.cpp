//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a trip computes element by element is one kernel: a launch takes longer than what it does.
//===----------------------------------------------------------------------===//
#include "LoopKernel.h"

#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

/// Points beyond which memory takes longer than a launch.
static constexpr int64_t mostPoints = int64_t(1) << 21;

/// Rows of a carried tensor that nobody else reads may be updated in a kernel that does more.
static bool updatesWhatIsCarried(GroupOp group, Value result, ScatterOp scatter) {
  auto argument = dyn_cast<BlockArgument>(scatter.getX());
  if (!argument || !argument.hasOneUse() || !scatter->hasOneUse())
    return false;
  auto carried = dyn_cast<BlockArgument>(group.getInputs()[argument.getArgNumber()]);
  auto loop = cast<LoopOp>(group->getParentOp());
  if (!carried || carried.getOwner() != group->getBlock() || !carried.hasOneUse() || carried.getArgNumber() == 0 ||
      carried.getArgNumber() > loop.getInitial().size() || !result.hasOneUse())
    return false;
  OpOperand &use = *result.use_begin();
  return isa<YieldOp>(use.getOwner()) && use.getOperandNumber() == carried.getArgNumber() - 1;
}

/// Whether threads that are neighbours read and write neighbours, or few points matter little.
static bool isNear(const ElementLoop &program) {
  constexpr int64_t fewPoints = 4096;
  if (program.numPoints() <= fewPoints || program.domain.empty())
    return true;
  const size_t last = program.domain.size() - 1;
  auto isDense = [&](const Linear &place) { return std::abs(place.factors[last]) <= 1; };
  return llvm::all_of(
             program.steps,
             [&](const ElementStep &step) { return step.kind != ElementStep::Kind::Load || isDense(step.place); }) &&
         llvm::all_of(program.stored, [&](const StoredElement &element) { return isDense(element.place); }) &&
         llvm::all_of(program.written, [&](const WrittenElement &element) { return isDense(element.place); });
}

static bool isElements(GroupOp group) {
  for (auto [result, value] : llvm::zip_equal(group.getResults(), group.getBlock().getTerminator()->getOperands()))
    if (auto scatter = value.getDefiningOp<ScatterOp>(); scatter && !updatesWhatIsCarried(group, result, scatter))
      return false;
  for (Operation &op : group.getBlock().without_terminator())
    if (isa<ReduceOp, ScanOp, SortOp, WindowOp, LoopOp>(op))
      return false;
  std::optional<ElementLoop> program = ElementLoop::analyse(group);
  return program && program->numPoints() <= mostPoints && isNear(*program);
}

static bool reaches(Operation *from, Operation *to, DenseSet<Operation *> &seen) {
  if (from == to)
    return true;
  if (!seen.insert(from).second)
    return false;
  return llvm::any_of(from->getUsers(), [&](Operation *user) { return reaches(user, to, seen); });
}

/// Whether something lies between both, so that they are not one kernel.
static bool isBetween(GroupOp first, GroupOp second) {
  DenseSet<Operation *> seen;
  return llvm::any_of(first->getUsers(),
                      [&](Operation *user) { return user != second && reaches(user, second, seen); });
}

/// Whether they have something to do with each other, besides the trip's number.
static bool areConnected(GroupOp first, GroupOp second) {
  for (Value input : second.getInputs()) {
    if (input.getDefiningOp() == first)
      return true;
    auto argument = dyn_cast<BlockArgument>(input);
    if ((!argument || argument.getArgNumber() != 0) && llvm::is_contained(first.getInputs(), input))
      return true;
  }
  return false;
}

/// Both as one group, whose results are those of the first that others read, unless it `stays`, and all of the second.
static GroupOp join(GroupOp first, GroupOp second, SmallVectorImpl<Value> &replaced, bool stays) {
  OpBuilder builder(second);
  OperationState state(second.getLoc(), GroupOp::getOperationName());
  auto *block = new Block;
  state.addRegion()->push_back(block);
  builder.setInsertionPointToEnd(block);
  DenseMap<Value, Value> inside;
  SmallVector<Value> yielded;
  for (GroupOp group : {first, second}) {
    IRMapping mapping;
    for (auto [argument, input] : llvm::zip_equal(group.getBlock().getArguments(), group.getInputs())) {
      Value &known = inside[input];
      if (!known) {
        known = block->addArgument(input.getType(), argument.getLoc());
        state.operands.push_back(input);
      }
      mapping.map(argument, known);
    }
    for (Operation &op : group.getBlock().without_terminator())
      builder.clone(op, mapping);
    for (auto [result, value] : llvm::zip_equal(group.getResults(), group.getBlock().getTerminator()->getOperands())) {
      Value made = mapping.lookupOrDefault(value);
      if (group == first)
        inside[result] = made;
      if (group == first && (stays || llvm::all_of(result.getUsers(), [&](Operation *user) { return user == second; })))
        continue;
      yielded.push_back(made);
      replaced.push_back(result);
      state.types.push_back(result.getType());
    }
  }
  YieldOp::create(builder, state.location, yielded);
  builder.setInsertionPoint(second);
  return cast<GroupOp>(builder.create(state));
}

/// Puts both into one group where that computes element by element. What else reads the first one reads it there, or,
/// where it `stays`, from that itself.
static bool tryJoin(GroupOp first, GroupOp second, bool stays) {
  SmallVector<Value> replaced;
  GroupOp made = join(first, second, replaced, stays);
  // Scatters are looked at as what the body yields.
  for (auto [from, to] : llvm::zip_equal(replaced, made.getResults()))
    from.replaceAllUsesWith(to);
  SmallVector<Value> firstInputs(first.getInputs()), secondInputs(second.getInputs());
  if (!stays)
    first->setOperands(ValueRange());
  second->setOperands(ValueRange());
  if (isElements(made)) {
    made->setAttr(elementsAttrName, UnitAttr::get(made.getContext()));
    second.erase();
    if (!stays)
      first.erase();
    return true;
  }
  if (!stays)
    first->setOperands(firstInputs);
  second->setOperands(secondInputs);
  for (auto [from, to] : llvm::zip_equal(replaced, made.getResults()))
    to.replaceAllUsesWith(from);
  made.erase();
  return false;
}

/// Whether a group computes numbers of the trip alone.
static bool isNumber(GroupOp group) {
  auto isScalar = [](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return tensor.getNumElements() == 1 && tensor.getElementType().isInteger();
  };
  return llvm::all_of(group.getResultTypes(), isScalar) && llvm::all_of(group.getInputs(), [&](Value input) {
           auto argument = dyn_cast<BlockArgument>(input);
           return argument && argument.getArgNumber() == 0;
         });
}

/// Whoever reads a number of the trip computes it.
static bool cloneNumbers(Block &block) {
  for (GroupOp first : block.getOps<GroupOp>()) {
    if (!isNumber(first))
      continue;
    llvm::SmallSetVector<Operation *, 4> users(first->user_begin(), first->user_end());
    for (Operation *user : users)
      if (auto second = dyn_cast<GroupOp>(user); second && tryJoin(first, second, /*stays=*/true)) {
        if (first->use_empty())
          first.erase();
        return true;
      }
  }
  return false;
}

static bool joinOne(Block &block) {
  SmallVector<GroupOp> candidates;
  for (GroupOp group : block.getOps<GroupOp>())
    if (isElements(group))
      candidates.push_back(group);
  for (GroupOp second : candidates)
    for (GroupOp first : candidates)
      if (first != second && first->isBeforeInBlock(second) && areConnected(first, second) &&
          !isBetween(first, second) && tryJoin(first, second, /*stays=*/false)) {
        sortTopologically(&block);
        return true;
      }
  return false;
}

void joinElementGroups(Operation *entry) {
  entry->walk([](LoopOp loop) {
    if (loop->hasAttr(oneKernelAttrName) || !loop.getTripsAttr())
      return;
    while (cloneNumbers(loop.getBlock()))
      ;
    while (joinOne(loop.getBlock()))
      ;
  });
}

} // namespace zyx::lowering
