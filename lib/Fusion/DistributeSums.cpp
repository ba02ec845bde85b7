//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sums that wait for other sums over the same elements only because of factors that all their terms share, as in
// gradients of norms: all of them are sums of one pass, and the factors come afterwards. On a card so are sums that are
// the same but for such factors: one sum.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Machine.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_DISTRIBUTESUMSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// How many sums like one of them each value waits for, one after the other.
using Depths = llvm::DenseMap<Value, unsigned>;

/// A product as what differs from term to term, and what all terms of a sum share.
struct Product {
  SmallVector<Value, 4> own, shared;
};

class SumDistributor {
public:
  SumDistributor(Block &block, bool onCard) : block(block), onCard(onCard) {}
  void run();

private:
  const Depths &depthsFor(ReduceOp op);
  bool isWalkedAgain(ReduceOp op) const;
  Product split(ReduceOp op, Value term) const;
  bool findLeaves(ReduceOp op, Value term, unsigned steps, llvm::SmallVectorImpl<Product> &leaves,
                  bool takesShared = true) const;
  Value multiply(OpBuilder &builder, Location loc, ArrayRef<Value> factors);
  Value addUp(OpBuilder &builder, ReduceOp op, Value term);
  Value distribute(OpBuilder &builder, ReduceOp op, Value term);
  bool mayDistribute(ReduceOp op) const;
  bool distributeWaiting();
  bool distributeAlike();

  Block &block;
  const bool onCard;
  /// Whether sums that are alike are made one, and that one as soon as there is one.
  bool isForAlike = false;
  Value alike;
  llvm::DenseMap<std::pair<Attribute, Attribute>, Depths> depths;
};

} // namespace

/// Whether all terms of a sum have the same element of a value.
static bool isShared(ReduceOp op, Value value) {
  auto expand = value.getDefiningOp<ExpandOp>();
  return expand && llvm::all_of(op.getDims(), [&](int64_t dim) { return typeOf(expand.getX()).getDimSize(dim) == 1; });
}

/// A value that all terms of a sum share, as the sum has it.
static Value shareOnce(OpBuilder &builder, ReduceOp op, Value shared) {
  const RankedTensorType result = op.getType();
  Value once = shared.getDefiningOp<ExpandOp>().getX();
  SmallVector<int64_t> kept;
  for (auto [dim, extent] : llvm::enumerate(typeOf(once).getShape()))
    if (!llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
      kept.push_back(extent);
  Value factor = ReshapeOp::create(builder, op.getLoc(), result.clone(kept), once);
  return factor.getType() == result ? factor : ExpandOp::create(builder, op.getLoc(), result, factor).getResult();
}

static bool isProduct(Operation *term) {
  auto product = dyn_cast_or_null<BinaryOp>(term);
  return product && product.getKind() == BinaryKind::Mul;
}

/// Takes what all terms share out of a product; on a card out of its factors, too.
Product SumDistributor::split(ReduceOp op, Value term) const {
  constexpr size_t mostFactors = 4;
  Operation *own = term.getDefiningOp();
  if (isShared(op, term))
    return {{}, {term}};
  if (!isProduct(own))
    return {{term}, {}};
  Value a = own->getOperand(0), b = own->getOperand(1);
  if (!onCard && !isShared(op, a) && !isShared(op, b))
    return {{term}, {}};
  Product left = split(op, a), right = split(op, b);
  if (left.shared.empty() && right.shared.empty())
    return {{term}, {}};
  llvm::append_range(left.own, right.own);
  llvm::append_range(left.shared, right.shared);
  return left.own.size() <= mostFactors ? left : Product{{term}, {}};
}

static bool isSum(Operation *term) {
  auto binary = dyn_cast_or_null<BinaryOp>(term);
  return binary && (binary.getKind() == BinaryKind::Add || binary.getKind() == BinaryKind::Sub);
}

static bool isNegation(Operation *term) {
  auto unary = dyn_cast_or_null<UnaryOp>(term);
  return unary && unary.getKind() == UnaryKind::Neg;
}

const Depths &SumDistributor::depthsFor(ReduceOp op) {
  auto [place, isNew] = depths.try_emplace({TypeAttr::get(op.getX().getType()), op.getDimsAttr()});
  if (!isNew)
    return place->second;
  Depths &found = place->second;
  for (Operation &each : block) {
    unsigned depth = 0;
    for (Value operand : each.getOperands())
      depth = std::max(depth, found.lookup(operand));
    auto reduce = dyn_cast<ReduceOp>(each);
    if (reduce && typeOf(reduce.getX()).getShape() == typeOf(op.getX()).getShape() && reduce.getDims() == op.getDims())
      ++depth;
    if (depth != 0)
      for (Value result : each.getResults())
        found[result] = depth;
  }
  return found;
}

/// Whether the elements are read from memory for each sum that waits for another one. On a card a workgroup keeps rows
/// whose elements follow each other, as those of a layer norm, and has all of their sums without reading them again.
bool SumDistributor::isWalkedAgain(ReduceOp op) const {
  const int64_t rank = typeOf(op.getX()).getRank(), count = static_cast<int64_t>(op.getDims().size());
  return !onCard || llvm::any_of(op.getDims(), [&](int64_t dim) { return dim < rank - count; });
}

/// What has to be summed up where sums and shared factors come afterwards. `takesShared`: of terms that all are the
/// same, too.
bool SumDistributor::findLeaves(ReduceOp op, Value term, unsigned steps, llvm::SmallVectorImpl<Product> &leaves,
                                bool takesShared) const {
  constexpr size_t mostLeaves = 4;
  Operation *own = term.getDefiningOp();
  if (steps == 0)
    return false;
  if (isNegation(own))
    return findLeaves(op, own->getOperand(0), steps - 1, leaves, takesShared);
  if (isSum(own))
    return findLeaves(op, own->getOperand(0), steps - 1, leaves, takesShared) &&
           findLeaves(op, own->getOperand(1), steps - 1, leaves, takesShared);
  Product product = split(op, term);
  // What all terms share is added up by a product.
  if (product.own.empty())
    return takesShared;
  if (product.own.size() == 1 && product.own.front() != term)
    return findLeaves(op, product.own.front(), steps - 1, leaves, takesShared);
  if (llvm::none_of(leaves, [&](const Product &other) { return other.own == product.own; }))
    leaves.push_back(product);
  return leaves.size() <= mostLeaves;
}

/// The product of factors: one that there is, or a new one.
Value SumDistributor::multiply(OpBuilder &builder, Location loc, ArrayRef<Value> factors) {
  Value product = factors.front();
  for (Value factor : factors.drop_front()) {
    auto known = llvm::find_if(product.getUsers(), [&](Operation *user) {
      return isProduct(user) && user->getBlock() == &block && user->isBeforeInBlock(&*builder.getInsertionPoint()) &&
             ((user->getOperand(0) == product && user->getOperand(1) == factor) ||
              (user->getOperand(0) == factor && user->getOperand(1) == product));
    });
    product = known != product.getUsers().end()
                  ? Value(known->getResult(0))
                  : Value(BinaryOp::create(builder, loc, BinaryKind::Mul, product, factor));
  }
  return product;
}

/// The sum of a value: one that there is, or a new one.
Value SumDistributor::addUp(OpBuilder &builder, ReduceOp op, Value term) {
  for (Operation *user : term.getUsers()) {
    auto known = dyn_cast<ReduceOp>(user);
    if (known && known != op && known->getBlock() == &block && known->isBeforeInBlock(op) &&
        known.getKind() == op.getKind() && known.getDims() == op.getDims() && known.getType() == op.getType())
      return known;
  }
  return ReduceOp::create(builder, op.getLoc(), op.getType(), op.getKind(), term, op.getDims());
}

Value SumDistributor::distribute(OpBuilder &builder, ReduceOp op, Value term) {
  Operation *own = term.getDefiningOp();
  const Location loc = op.getLoc();
  if (isNegation(own))
    return UnaryOp::create(builder, loc, UnaryKind::Neg, distribute(builder, op, own->getOperand(0)));
  if (isSum(own)) {
    Value lhs = distribute(builder, op, own->getOperand(0)), rhs = distribute(builder, op, own->getOperand(1));
    return BinaryOp::create(builder, loc, cast<BinaryOp>(own).getKind(), lhs, rhs);
  }
  Product product = split(op, term);
  auto multiplyBy = [&](Value sum, ArrayRef<Value> factors) {
    for (Value factor : factors)
      sum = BinaryOp::create(builder, loc, BinaryKind::Mul, sum, shareOnce(builder, op, factor));
    return sum;
  };
  if (product.own.empty()) {
    // Their number comes last: the product overflows where the sum does, and not before.
    const int64_t count = typeOf(op.getX()).getNumElements() / op.getType().getNumElements();
    auto number = builder.getFloatAttr(op.getType().getElementType(), static_cast<double>(count));
    Value times = ConstantOp::create(builder, loc, DenseElementsAttr::get(op.getType(), number));
    if (product.shared.empty())
      return times;
    Value term = multiplyBy(shareOnce(builder, op, product.shared.front()), ArrayRef(product.shared).drop_front());
    return BinaryOp::create(builder, loc, BinaryKind::Mul, term, times);
  }
  if (product.own.size() == 1 && product.own.front() != term)
    return multiplyBy(distribute(builder, op, product.own.front()), product.shared);
  Value sum = alike ? alike : addUp(builder, op, multiply(builder, loc, product.own));
  if (isForAlike)
    alike = sum;
  return multiplyBy(sum, product.shared);
}

/// Whether factors of the terms of a sum may come afterwards.
bool SumDistributor::mayDistribute(ReduceOp op) const {
  const Type element = op.getType().getElementType();
  if (op.getKind() != ReduceKind::Add || !(element.isF32() || element.isF64()) || matchContraction(op))
    return false;
  // A sum of nothing is 0, whatever its terms share.
  return typeOf(op.getX()).getNumElements() != 0 && isWalkedAgain(op);
}

constexpr unsigned mostSteps = 8;

/// Sums that need another pass over the same elements as long as their terms have the factors.
bool SumDistributor::distributeWaiting() {
  bool changes = false;
  for (auto op : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    Operation *term = op.getX().getDefiningOp();
    if (!mayDistribute(op) || (!isSum(term) && !isNegation(term) && !isProduct(term)))
      continue;
    SmallVector<Product, 4> leaves;
    if (!findLeaves(op, op.getX(), mostSteps, leaves))
      continue;
    // Another pass over the same elements is what the sums are worth.
    const Depths &known = depthsFor(op);
    const unsigned depth = known.lookup(op.getX());
    if (llvm::any_of(leaves, [&](const Product &leaf) {
          return llvm::any_of(leaf.own, [&](Value factor) { return known.lookup(factor) >= depth; });
        }))
      continue;
    OpBuilder builder(op);
    op.replaceAllUsesWith(distribute(builder, op, op.getX()));
    changes = true;
  }
  return changes;
}

/// Adds the factors of a product, and of its factors that are products.
static void addFactors(Value term, SmallVectorImpl<Value> &factors) {
  constexpr size_t mostFactors = 8;
  Operation *own = term.getDefiningOp();
  if (!isProduct(own) || factors.size() >= mostFactors) {
    factors.push_back(term);
    return;
  }
  addFactors(own->getOperand(0), factors);
  addFactors(own->getOperand(1), factors);
}

/// Sums that differ in nothing but factors that all of their terms share, as the gradient of a norm's weights and what
/// the gradient of its operand needs: one of them is enough, and what multiplies it is a number for each result. A
/// number that is subtracted from each term is no factor: of elements that are close to it, the sum without it has lost
/// the digits in which they differ.
bool SumDistributor::distributeAlike() {
  llvm::MapVector<std::pair<Attribute, SmallVector<Value, 4>>, SmallVector<ReduceOp, 2>> found;
  for (auto op : block.getOps<ReduceOp>()) {
    SmallVector<Product, 4> leaves;
    if (!mayDistribute(op) || !findLeaves(op, op.getX(), mostSteps, leaves, /*takesShared=*/false) ||
        leaves.size() != 1)
      continue;
    SmallVector<Value, 4> factors;
    for (Value own : leaves.front().own)
      addFactors(own, factors);
    llvm::sort(factors, [](Value a, Value b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); });
    found[{op.getDimsAttr(), factors}].push_back(op);
  }
  bool changes = false;
  isForAlike = true;
  for (auto &[_, sums] : found) {
    if (sums.size() < 2)
      continue;
    alike = Value();
    for (ReduceOp op : sums) {
      OpBuilder builder(op);
      op.replaceAllUsesWith(distribute(builder, op, op.getX()));
      changes = true;
    }
  }
  return changes;
}

void SumDistributor::run() {
  bool changes = distributeWaiting();
  if (changes)
    zyx::fusion::eraseUnused(block);
  if (onCard && distributeAlike())
    zyx::fusion::eraseUnused(block);
}

namespace {

struct DistributeSums : zyx::fusion::impl::DistributeSumsPassBase<DistributeSums> {
  void runOnOperation() override {
    const bool onCard = zyx::fusion::getMachine(getOperation()).hasSubgroups();
    auto distribute = [&](Block &each) { SumDistributor(each, onCard).run(); };
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), distribute)))
      signalPassFailure();
  }
};

} // namespace
