//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Cost/CutGroup.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Target/Info/Fits.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace zyx::cost;
using namespace zyx::graph::ir;
namespace fits = zyx::target::fits::cuts;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static unsigned bitsOf(Value value) { return typeOf(value).getElementTypeBitWidth(); }

namespace {

class PlaceFinder {
public:
  explicit PlaceFinder(GroupOp group) : group(group) {}
  Places find();

private:
  static bool isComputing(Operation *op) { return op && (isElementwise(op) || isa<ReduceOp, GatherOp>(op)); }
  /// The cast to wider floats that a factor is, of what is in memory.
  static Value findWidened(Value factor);
  /// What a factor shows of what is in memory, if that is more than other strides.
  static Value findShown(Value factor);
  /// The operand that a factor shows windows of, if it is a permutation of what lies in memory.
  static Value findPermuted(Value factor);
  /// The image that a factor shows windows of, if a reshape joins what an op of this kind made its dimensions of:
  /// elements are repeated where they lie, as upsampled ones are, or lie in other places, as shuffled pixels do.
  template <typename Made> static Value findJoined(Value factor);
  /// Permutations of what lies in memory, in another order, that a reduction reads.
  static SmallVector<Value> findPermutedTerms(ReduceOp reduce);
  /// Whether something larger reads a value: what only values as small are made of is computed where these are.
  static bool isSpread(Value value);
  /// What would be stored of a factor: the narrowest of what casts to wider types make of it.
  static Value findNarrow(Value factor);
  bool isStorable(Value value) const {
    const int64_t elements = typeOf(value).getNumElements();
    return elements <= most && elements <= fits::mostBytes / llvm::divideCeil(bitsOf(value), 8);
  }
  void add(llvm::SmallSetVector<Value, 8> &to, Value value) {
    if (isComputing(value.getDefiningOp()) && !products.contains(value.getDefiningOp()) && isStorable(value))
      to.insert(value);
  }

  GroupOp group;
  llvm::DenseSet<Operation *> products;
  /// Ops that hang on a contraction.
  llvm::DenseSet<Operation *> behind;
  int64_t most = 1;
};

} // namespace

bool PlaceFinder::isSpread(Value value) {
  const int64_t enough = typeOf(value).getNumElements() * fits::smaller;
  SmallVector<Value> work{value};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (user->getNumResults() != 1)
        continue;
      Value result = user->getResult(0);
      if (typeOf(result).getNumElements() >= enough)
        return true;
      if (isView(user))
        work.push_back(result);
    }
  return false;
}

Value PlaceFinder::findNarrow(Value factor) {
  Value value = getViewSource(factor);
  while (auto cast = value.getDefiningOp<CastOp>()) {
    Value source = getViewSource(cast.getX());
    if (bitsOf(source) > bitsOf(value) || !isComputing(source.getDefiningOp()))
      break;
    value = source;
  }
  // A cast of floats in memory is the dot's own.
  if (auto cast = value.getDefiningOp<CastOp>(); cast && bitsOf(cast.getX()) <= bitsOf(value) &&
                                                 isa<FloatType>(typeOf(cast.getX()).getElementType()) &&
                                                 !isComputing(getViewSource(cast.getX()).getDefiningOp()))
    return getViewSource(cast.getX());
  return value;
}

Value PlaceFinder::findWidened(Value factor) {
  auto cast = getViewSource(factor).getDefiningOp<CastOp>();
  return cast && bitsOf(cast.getX()) < bitsOf(cast.getResult()) && isa<FloatType>(typeOf(cast.getX()).getElementType())
             ? cast.getResult()
             : Value();
}

Value PlaceFinder::findShown(Value factor) {
  Value value = factor;
  while (Operation *op = value.getDefiningOp()) {
    if (auto reshape = dyn_cast<ReshapeOp>(op); reshape ? !isUnitReshape(reshape) : isa<PadOp, WindowOp, FlipOp>(op))
      return isa_and_nonnull<ConstantOp, IotaOp>(getViewSource(value).getDefiningOp()) ? Value() : value;
    if (!isView(op) && !isa<CastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return {};
}

Value PlaceFinder::findPermuted(Value factor) {
  Value operand, value = factor;
  while (Operation *op = value.getDefiningOp()) {
    if (!isView(op) && !isa<CastOp>(op))
      return {};
    value = op->getOperand(0);
    if (isa<PadOp, WindowOp>(op))
      operand = value;
  }
  auto permute = operand ? operand.getDefiningOp<PermuteOp>() : PermuteOp();
  return permute && isa<BlockArgument>(permute.getX()) ? operand : Value();
}

template <typename Made> Value PlaceFinder::findJoined(Value factor) {
  Value value = factor;
  for (bool isShown = false; Operation *op = value.getDefiningOp(); value = op->getOperand(0)) {
    auto reshape = dyn_cast<ReshapeOp>(op);
    if (isShown && reshape && !isUnitReshape(reshape) && reshape.getX().getDefiningOp<Made>())
      return value;
    if (!isView(op) && !isa<CastOp>(op))
      break;
    isShown |= isa<PadOp, WindowOp>(op);
  }
  return {};
}

SmallVector<Value> PlaceFinder::findPermutedTerms(ReduceOp reduce) {
  SmallVector<Value> found, work{reduce.getX()};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || isa<ReduceOp>(op) || !seen.insert(op).second)
      continue;
    auto permute = dyn_cast<PermuteOp>(op);
    if (permute && isa<BlockArgument>(getViewSource(permute.getX())) &&
        permute.getOrder().back() + 1 != typeOf(permute.getX()).getRank())
      found.push_back(permute.getResult());
    else
      llvm::append_range(work, op->getOperands());
  }
  return found;
}

Places PlaceFinder::find() {
  Block &block = group.getBlock();
  auto isRead = [&](Operation *op) {
    return llvm::any_of(op->getUsers(), [&](Operation *user) { return user != block.getTerminator(); });
  };
  int64_t touched = 1, widest = 1;
  for (Value input : group.getInputs())
    touched += typeOf(input).getNumElements();
  for (Value output : group.getOutputs()) {
    touched += typeOf(output).getNumElements();
    widest = std::max(widest, typeOf(output).getNumElements());
  }
  most = touched * fits::mostGrowth;
  SmallVector<std::pair<ReduceOp, Contraction>, 2> contractions;
  for (Operation &op : block.without_terminator())
    if (auto reduce = dyn_cast<ReduceOp>(op))
      if (std::optional<Contraction> found = matchContraction(reduce)) {
        contractions.push_back({reduce, *found});
        products.insert(found->product);
      }
  for (Operation &op : block.without_terminator()) {
    bool isBehind = false;
    for (Value operand : op.getOperands()) {
      Operation *def = operand.getDefiningOp();
      isBehind |=
          def && (behind.contains(def) || llvm::any_of(contractions, [&](auto &each) { return each.first == def; }));
    }
    if (isBehind)
      behind.insert(&op);
  }
  llvm::SmallSetVector<Value, 8> factors, shown, repeated, shuffled, permuted, beside, later, sums, reduced, combined,
      small, all;
  for (auto &[reduce, contraction] : contractions) {
    // A factor of f32 beside one of 16 bits is for no unit: the other one may be stored in f32.
    const bool isMixed =
        bitsOf(findNarrow(contraction.product.getA())) != bitsOf(findNarrow(contraction.product.getB()));
    for (Value factor : contraction.product->getOperands()) {
      Value narrow = findNarrow(factor);
      Operation *def = narrow.getDefiningOp();
      const bool isLater =
          def && (behind.contains(def) || llvm::any_of(contractions, [&](auto &each) { return each.first == def; }));
      add(isLater ? later : factors, narrow);
      if (Value wide = findWidened(factor); wide && isMixed && isStorable(wide))
        shown.insert(wide);
      if (Value operand = findPermuted(factor))
        permuted.insert(operand);
      if (Value view = findShown(factor); view && !isLater && isStorable(view))
        shown.insert(view);
      if (Value image = findJoined<ExpandOp>(factor); image && isStorable(image))
        repeated.insert(image);
      if (Value image = findJoined<PermuteOp>(factor); image && isStorable(image))
        shuffled.insert(image);
    }
    Value sum = reduce.getResult();
    while (sum.hasOneUse())
      if (auto cast = dyn_cast<CastOp>(*sum.user_begin()); cast && bitsOf(cast.getResult()) < bitsOf(sum))
        sum = cast.getResult();
      else
        break;
    if (isRead(sum.getDefiningOp()))
      add(sums, sum);
  }
  for (Operation &op : block.without_terminator()) {
    if (!isComputing(&op) || products.contains(&op))
      continue;
    Value result = op.getResult(0);
    if (behind.contains(&op))
      for (Value operand : op.getOperands())
        if (Operation *def = getViewSource(operand).getDefiningOp();
            isComputing(def) && !behind.contains(def) && !sums.contains(def->getResult(0)))
          add(beside, def->getResult(0));
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && !matchContraction(reduce)) {
      for (Value term : findPermutedTerms(reduce))
        if (isStorable(term))
          permuted.insert(term);
      if (isRead(&op))
        add(reduced, result);
      // Rather than a product, what is repeated for it.
      Value term = getViewSource(reduce.getX());
      bool isRepeated = false;
      if (auto product = term.getDefiningOp<BinaryOp>())
        for (Value factor : product->getOperands())
          if (Value source = getViewSource(factor); typeOf(source).getNumElements() < typeOf(term).getNumElements()) {
            isRepeated = true;
            add(combined, source);
          }
      if (!isRepeated)
        add(combined, term);
    }
    if (isRead(&op) &&
        (isa<GatherOp>(op) || (typeOf(result).getNumElements() * fits::smaller <= widest && isSpread(result))))
      add(small, result);
    if (isRead(&op))
      add(all, result);
  }
  auto take = [](llvm::SmallSetVector<Value, 8> &set) { return SmallVector<Value>(set.begin(), set.end()); };
  return {take(factors), take(shown), take(repeated), take(shuffled), take(permuted), take(beside),
          take(later),   take(sums),  take(reduced),  take(combined), take(small),    take(all)};
}

Places zyx::cost::findPlaces(GroupOp group) { return PlaceFinder(group).find(); }
