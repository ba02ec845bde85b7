//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/Analysis/IterationSpace.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "Blocks.h"
#include "NormalizeViews.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_RECOMPUTERESULTSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

int64_t bytesOf(Value value) {
  return typeOf(value).getNumElements() * llvm::divideCeil(typeOf(value).getElementTypeBitWidth(), 8);
}

/// How a result of a group follows, element by element, from what is in memory anyway.
struct Recipe {
  /// The ops, each behind those that it reads.
  llvm::SetVector<Operation *> ops;
  /// Values of the group that they read: arguments, results, and what is so small that it may become one.
  llvm::SetVector<Value> leaves;
};

/// What may be in memory beside arguments and results: what is small beside the result, or what it is when it is not
/// widened.
enum class Stored { Nothing, Small, Narrow };

class RecipeFinder {
public:
  RecipeFinder(Value wanted, Stored stored) : wanted(wanted), stored(stored) {}

  std::optional<Recipe> find() {
    Operation *op = wanted.getDefiningOp();
    if (stored == Stored::Narrow && !zyx::fusion::isWidening(op))
      return std::nullopt;
    if (stored == Stored::Narrow)
      return widened(op);
    if (!collect(wanted))
      return std::nullopt;
    return std::move(recipe);
  }

private:
  /// Reading memory is as long as some hundred of the simplest ops on the same elements.
  static constexpr size_t mostOps = 24;
  /// What is that much smaller than the result is a sum of its rows, say.
  static constexpr int64_t small = 16;

  bool collect(Value value) {
    Operation *op = value.getDefiningOp();
    if (value != wanted && (!op || isYielded(value) || isSmall(value)) && !isa_and_nonnull<ConstantOp>(op)) {
      recipe.leaves.insert(value);
      return true;
    }
    if (!op || recipe.ops.contains(op))
      return op;
    if (auto constant = dyn_cast<ConstantOp>(op))
      return constant.getValue().isSplat() && recipe.ops.insert(op);
    if (!isElementwise(op) && !isIndexMap(op) && !isa<IotaOp>(op))
      return false;
    if (!llvm::all_of(op->getOperands(), [&](Value operand) { return collect(operand); }))
      return false;
    recipe.ops.insert(op);
    return recipe.ops.size() <= mostOps;
  }
  static Recipe widened(Operation *op) {
    Recipe only;
    only.ops.insert(op);
    only.leaves.insert(op->getOperand(0));
    return only;
  }
  bool isSmall(Value value) {
    return stored == Stored::Small && typeOf(value).getNumElements() * small <= typeOf(wanted).getNumElements();
  }
  static bool isYielded(Value value) {
    return llvm::any_of(value.getUsers(), [](Operation *user) { return isa<YieldOp>(user); });
  }

  Value wanted;
  const Stored stored;
  Recipe recipe;
};

/// A result that its readers compute themselves.
class Recomputation {
public:
  /// `countsFreed`: whether what the group does not read any more is saved, too.
  Recomputation(GroupOp group, unsigned number, bool countsFreed = false)
      : group(group), number(number), countsFreed(countsFreed) {}

  /// Does that where it saves memory traffic and leaves every reader one kernel of its kind.
  bool run() {
    if (!findReaders(group->getResult(number)))
      return false;
    if (findRecipe() && tryRecipe())
      return true;
    return findRecipe(Stored::Narrow) && staysKernel() && tryRecipe();
  }

  /// How many bytes that saves where `value` is a result, too, if the readers compute it of that one; 0 where they
  /// cannot.
  int64_t countSaved(Value value) {
    if (!findReaders(group->getResult(number)) || !findRecipe() || !recipe.leaves.contains(value))
      return 0;
    const bool isPossible = tryReaders();
    forgetTrials();
    return isPossible ? saved() : 0;
  }

  /// The group that took the place of the first one.
  GroupOp group;

private:
  Value yielded(unsigned i) { return group.getBlock().getTerminator()->getOperand(i); }

  bool tryRecipe() {
    if ((saved() > 0 || keepsFromTensorCores()) && tryReaders()) {
      apply();
      return true;
    }
    forgetTrials();
    return false;
  }

  void forgetTrials() {
    for (GroupOp trial : trials)
      trial.erase();
    trials.clear();
    pending.clear();
  }

  /// What an outer product is made of is small, but has no rows in common: then the readers compute that, too.
  bool findRecipe() {
    return (findRecipe(Stored::Small) && staysKernel()) || (findRecipe(Stored::Nothing) && staysKernel());
  }
  bool findRecipe(Stored stored) {
    std::optional<Recipe> found = RecipeFinder(yielded(number), stored).find();
    if (!found || found->leaves.empty())
      return false;
    recipe = std::move(*found);
    return true;
  }

  bool findReaders(OpResult result) {
    for (Operation *user : result.getUsers()) {
      auto reader = dyn_cast<GroupOp>(user);
      if (!reader || reader->getBlock() != group->getBlock())
        return false;
      if (!llvm::is_contained(readers, reader))
        readers.push_back(reader);
    }
    return !readers.empty();
  }

  /// What a leaf is outside of the group; null of what is to become a result.
  Value outside(Value leaf) {
    if (auto argument = dyn_cast<BlockArgument>(leaf))
      return group.getInputs()[argument.getArgNumber()];
    for (auto [i, value] : llvm::enumerate(group.getBlock().getTerminator()->getOperands()))
      if (value == leaf)
        return group->getResult(i);
    return {};
  }

  int64_t saved() {
    const int64_t bytes = bytesOf(yielded(number));
    int64_t sum = bytes + (countsFreed ? freed : 0);
    for (Value leaf : recipe.leaves)
      if (!outside(leaf))
        sum -= bytesOf(leaf);
    for (GroupOp reader : readers) {
      sum += bytes;
      for (Value leaf : recipe.leaves)
        if (Value source = outside(leaf); !source || !llvm::is_contained(reader.getInputs(), source))
          sum -= bytesOf(leaf) / countAlike(reader, leaf);
    }
    return sum;
  }

  /// Whether a result of bits is what a product reads behind its sums: threads of tensor cores read none there, and
  /// other threads would multiply. Where the contraction is long, that takes more than what is read in its place.
  bool keepsFromTensorCores() {
    constexpr int64_t fewestProductsPerByte = 16;
    if (!typeOf(yielded(number)).getElementType().isInteger(1))
      return false;
    int64_t products = 0;
    for (GroupOp reader : readers)
      if (auto space = IterationSpace::compute(reader); space.isOk() && space->getContraction())
        products += typeOf(space->getContraction().getX()).getNumElements();
    return products != 0 && products >= -saved() * fewestProductsPerByte;
  }

  /// How many results a reader might compute of a leaf: it reads that once for all of them, as the operand of an
  /// activation for all conditions that the gradient of the activation has.
  int64_t countAlike(GroupOp reader, Value leaf) {
    int64_t alike = 0;
    for (auto [i, value] : llvm::enumerate(group.getBlock().getTerminator()->getOperands()))
      if (i != number && llvm::is_contained(reader.getInputs(), group->getResult(i)))
        if (std::optional<Recipe> other = RecipeFinder(value, Stored::Small).find())
          alike += other->leaves.contains(leaf);
    return alike + 1;
  }

  /// What the group has as results without this one, and with what the readers want beside, which comes last.
  SmallVector<Value> valuesWithout() {
    SmallVector<Value> values;
    for (auto [i, value] : llvm::enumerate(group.getBlock().getTerminator()->getOperands()))
      if (i != number)
        values.push_back(value);
    for (Value leaf : recipe.leaves)
      if (!outside(leaf))
        values.push_back(leaf);
    return values;
  }

  /// Whether the group is one kernel with these results. Notes how many bytes it does not read then.
  bool staysKernel() {
    IRMapping mapping;
    auto trial = cast<GroupOp>(group->clone(mapping));
    trial.getBlock().getTerminator()->setOperands(
        llvm::map_to_vector(valuesWithout(), [&](Value value) { return mapping.lookup(value); }));
    zyx::fusion::eraseUnused(trial.getBlock());
    const bool isKernel = IterationSpace::compute(trial).isOk();
    freed = 0;
    for (BlockArgument argument : trial.getBlock().getArguments())
      if (argument.use_empty())
        freed += bytesOf(argument);
    trial->erase();
    return isKernel;
  }

  bool tryReaders() {
    OpBuilder builder(group.getContext());
    for (GroupOp reader : readers) {
      builder.setInsertionPoint(reader);
      auto trial = cast<GroupOp>(builder.clone(*reader));
      trials.push_back(trial);
      rewrite(trial);
      if (!isSameKind(reader, trial))
        return false;
    }
    return true;
  }

  /// Puts the recipe in place of the reader's argument. For what apply() makes a result of the group, the result that
  /// is replaced holds the operand's place.
  void rewrite(GroupOp reader) {
    Block &block = reader.getBlock();
    Value result = group->getResult(number);
    IRMapping mapping;
    SmallVector<std::pair<unsigned, Value>> &later = pending.emplace_back();
    for (Value leaf : recipe.leaves) {
      Value source = outside(leaf);
      const unsigned numInputs = reader.getInputs().size();
      const unsigned at =
          source ? std::distance(reader.getInputs().begin(), llvm::find(reader.getInputs(), source)) : numInputs;
      if (at == numInputs) {
        if (!source)
          later.push_back({at, leaf});
        reader->insertOperands(at, source ? source : result);
        block.addArgument(leaf.getType(), leaf.getLoc());
      }
      mapping.map(leaf, block.getArgument(at));
    }
    OpBuilder builder(&block, block.begin());
    Value computed;
    for (Operation *op : recipe.ops)
      computed = builder.clone(*op, mapping)->getResult(0);
    for (unsigned i = block.getNumArguments(); i-- > 0;)
      if (reader.getInputs()[i] == result && llvm::none_of(later, [&](auto &entry) { return entry.first == i; })) {
        block.getArgument(i).replaceAllUsesWith(computed);
        block.eraseArgument(i);
        reader->eraseOperand(i);
        for (auto &[at, leaf] : later)
          at -= at > i;
      }
    // What was an input may be reshaped, what is computed may not.
    zyx::fusion::pushReshapes(block);
  }

  /// Erases what nobody reads.
  static void clean(GroupOp group) {
    zyx::fusion::eraseUnused(group.getBlock());
    for (unsigned i = group.getBlock().getNumArguments(); i-- > 0;)
      if (group.getBlock().getArgument(i).use_empty()) {
        group.getBlock().eraseArgument(i);
        group->eraseOperand(i);
      }
  }

  /// Whether both are kernels that multiply the same, of factors as plain as before.
  static bool isSameKind(GroupOp before, GroupOp after) {
    if (llvm::any_of(after.getBlock().without_terminator(), [](Operation &op) { return isOrderOp(&op); }))
      return false;
    auto old = IterationSpace::compute(before), now = IterationSpace::compute(after);
    if (!old.isOk() || !now.isOk())
      return false;
    if (old->getAttention() || old->chainsProducts() || now->getAttention() || now->chainsProducts())
      return false;
    if (!old->getContraction() != !now->getContraction())
      return false;
    return !now->getContraction() || countOps(old->getContraction()) == countOps(now->getContraction());
  }
  /// How many ops the factors of a contraction are made by, but for what only says where elements lie, and for casts
  /// that lose nothing: a product of what has 16 bits in memory is faster than one of the same numbers in 32.
  static int64_t countOps(ReduceOp contraction) {
    llvm::SetVector<Operation *> ops;
    ops.insert(contraction);
    for (size_t i = 0; i < ops.size(); ++i)
      for (Value operand : ops[i]->getOperands())
        if (Operation *op = operand.getDefiningOp())
          ops.insert(op);
    return llvm::count_if(ops, [](Operation *op) { return !isIndexMap(op) && !zyx::fusion::isWidening(op); });
  }

  void apply() {
    SmallVector<Value> results, values = valuesWithout();
    for (OpResult result : group->getResults())
      if (result.getResultNumber() != number)
        results.push_back(result);
    const size_t numOld = results.size();
    OpBuilder builder(group);
    OperationState state(group.getLoc(), GroupOp::getOperationName());
    state.addOperands(group.getInputs());
    state.addTypes(ValueRange(values).getTypes());
    state.addRegion()->takeBody(group.getBody());
    auto made = cast<GroupOp>(builder.create(state));
    made.getBlock().getTerminator()->setOperands(values);
    for (auto [i, result] : llvm::enumerate(results))
      result.replaceAllUsesWith(made->getResult(i));
    for (auto [trial, later] : llvm::zip_equal(trials, pending))
      for (auto [at, leaf] : later)
        trial->setOperand(at, made->getResult(numOld + (llvm::find(ArrayRef(values).drop_front(numOld), leaf) -
                                                        ArrayRef(values).drop_front(numOld).begin())));
    for (auto [reader, trial] : llvm::zip_equal(readers, trials)) {
      reader->replaceAllUsesWith(trial->getResults());
      reader.erase();
    }
    group.erase();
    group = made;
    clean(made);
    for (GroupOp trial : trials)
      clean(trial);
  }

  unsigned number;
  const bool countsFreed;
  int64_t freed = 0;
  Recipe recipe;
  SmallVector<GroupOp> readers, trials;
  /// Of each trial, which operands are results that the group does not have yet.
  SmallVector<SmallVector<std::pair<unsigned, Value>>> pending;
};

/// The same group with other results; those that stay are the first ones.
GroupOp replaceResults(GroupOp group, ValueRange values) {
  OpBuilder builder(group);
  OperationState state(group.getLoc(), GroupOp::getOperationName());
  state.addOperands(group.getInputs());
  state.addTypes(values.getTypes());
  SmallVector<Value> yielded(values);
  state.addRegion()->takeBody(group.getBody());
  auto made = cast<GroupOp>(builder.create(state));
  made.getBlock().getTerminator()->setOperands(yielded);
  for (auto [old, result] : llvm::zip(group->getResults(), made->getResults()))
    old.replaceAllUsesWith(result);
  group.erase();
  return made;
}

/// What several large results of a group follow from, element by element, and is stored in their place.
class CommonSource {
public:
  explicit CommonSource(GroupOp group) : group(group) {}

  /// Does that for the first value that saves memory traffic.
  bool run() {
    SmallVector<Value> candidates;
    for (Operation &op : group.getBlock().without_terminator())
      if (op.getNumResults() == 1 && isCandidate(op.getResult(0)))
        candidates.push_back(op.getResult(0));
    return llvm::any_of(candidates, [&](Value candidate) { return replaceBy(candidate); });
  }

  GroupOp group;

private:
  /// Whether a value has two users and more that compute others like it, and no reader could compute it again.
  bool isCandidate(Value value) {
    auto isOther = [&](Operation *user) {
      return isElementwise(user) && user->getResult(0).getType() == value.getType();
    };
    auto isLike = [&](Type type) { return type == value.getType(); };
    return isElementwise(value.getDefiningOp()) && llvm::all_of(value.getUsers(), isOther) &&
           llvm::any_of(value.getUsers(), [&](Operation *user) { return user != *value.user_begin(); }) &&
           llvm::count_if(group->getResultTypes(), isLike) > 1 && isOfSums(value.getDefiningOp());
  }

  static bool isOfSums(Operation *last) {
    llvm::SetVector<Operation *> ops;
    ops.insert(last);
    for (size_t i = 0; i < ops.size(); ++i) {
      if (isa<ReduceOp>(ops[i]))
        return true;
      for (Value operand : ops[i]->getOperands())
        if (Operation *op = operand.getDefiningOp())
          ops.insert(op);
    }
    return false;
  }

  bool replaceBy(Value source) {
    SmallVector<Value> before(group.getBlock().getTerminator()->getOperands()), with = before;
    with.push_back(source);
    group = replaceResults(group, with);
    int64_t saved = 0;
    SmallVector<Value> derived;
    for (auto [i, value] : llvm::enumerate(before))
      if (value.getType() == source.getType())
        if (int64_t own = Recomputation(group, i, /*countsFreed=*/true).countSaved(source)) {
          saved += own;
          derived.push_back(value);
        }
    if (derived.size() < 2 || saved <= bytesOf(source)) {
      group = replaceResults(group, before);
      return false;
    }
    for (Value value : derived) {
      ValueRange yielded = group.getBlock().getTerminator()->getOperands();
      Recomputation recomputation(group, std::distance(yielded.begin(), llvm::find(yielded, value)),
                                  /*countsFreed=*/true);
      recomputation.run();
      group = recomputation.group;
    }
    return true;
  }
};

struct RecomputeResults : zyx::fusion::impl::RecomputeResultsPassBase<RecomputeResults> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    for (Block *block : zyx::fusion::getBlocks(getOperation()))
      recompute(*block);
  }

private:
  static void noteRecomputed(GroupOp group) {
    remark::passed(group.getLoc(), remark::RemarkOpts::name("RecomputeResults").category("zyx-fusion"))
        << "a result is computed again by its readers";
  }

  /// The largest results of a group first: what is computed of others must not be needed by these.
  static void recompute(Block &block) {
    // Groups take the place of others, so those that are looked at are found by what is in front of them.
    for (Operation *op = block.empty() ? nullptr : &block.front(); op; op = op->getNextNode()) {
      auto group = dyn_cast<GroupOp>(op);
      if (!group)
        continue;
      CommonSource common(group);
      if (common.run())
        noteRecomputed(common.group);
      op = group = common.group;
      for (bool changes = true; changes;) {
        changes = false;
        SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, group->getNumResults()));
        auto rank = [&](unsigned number) { return std::pair(-bytesOf(group->getResult(number)), number); };
        llvm::sort(order, [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
        for (unsigned number : order) {
          Recomputation recomputation(group, number);
          if (!recomputation.run())
            continue;
          noteRecomputed(recomputation.group);
          op = group = recomputation.group;
          changes = true;
          break;
        }
      }
    }
    for (auto group : llvm::make_early_inc_range(block.getOps<GroupOp>()))
      if (group->getNumResults() == 0)
        group.erase();
  }
};

} // namespace
