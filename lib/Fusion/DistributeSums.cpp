//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sums that wait for other sums over the same elements only because of factors that all their terms share, as in
// gradients of norms: all of them are sums of one pass, and the factors come afterwards.
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

class SumDistributor {
public:
  explicit SumDistributor(Block &block) : block(block) {}
  void run();

private:
  const Depths &depthsFor(ReduceOp op);
  bool findLeaves(ReduceOp op, Value term, unsigned steps, llvm::SmallSetVector<Value, 4> &leaves);
  Value distribute(OpBuilder &builder, ReduceOp op, Value term, llvm::SmallMapVector<Value, Value, 4> &sums);

  Block &block;
  llvm::DenseMap<std::pair<Attribute, Attribute>, Depths> depths;
};

} // namespace

/// Whether all terms of a sum have the same element of a value.
static bool isShared(ReduceOp op, Value value) {
  auto expand = value.getDefiningOp<ExpandOp>();
  return expand && llvm::all_of(op.getDims(), [&](int64_t dim) { return typeOf(expand.getX()).getDimSize(dim) == 1; });
}

/// The operand of a product that a factor is shared beside, and the factor; none where it is no such product.
static std::optional<std::pair<Value, Value>> findShared(ReduceOp op, Operation *term) {
  auto product = dyn_cast_or_null<BinaryOp>(term);
  if (!product || product.getKind() != BinaryKind::Mul)
    return std::nullopt;
  if (isShared(op, product.getB()))
    return std::pair(product.getA(), product.getB());
  if (isShared(op, product.getA()))
    return std::pair(product.getB(), product.getA());
  return std::nullopt;
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

/// What has to be summed up where sums and shared factors come afterwards.
bool SumDistributor::findLeaves(ReduceOp op, Value term, unsigned steps, llvm::SmallSetVector<Value, 4> &leaves) {
  constexpr size_t mostLeaves = 4;
  Operation *own = term.getDefiningOp();
  if (steps == 0)
    return false;
  if (isNegation(own))
    return findLeaves(op, own->getOperand(0), steps - 1, leaves);
  if (isSum(own))
    return findLeaves(op, own->getOperand(0), steps - 1, leaves) &&
           findLeaves(op, own->getOperand(1), steps - 1, leaves);
  if (auto product = findShared(op, own))
    return findLeaves(op, product->first, steps - 1, leaves);
  leaves.insert(term);
  return leaves.size() <= mostLeaves;
}

Value SumDistributor::distribute(OpBuilder &builder, ReduceOp op, Value term,
                                 llvm::SmallMapVector<Value, Value, 4> &sums) {
  Operation *own = term.getDefiningOp();
  const Location loc = op.getLoc();
  if (isNegation(own))
    return UnaryOp::create(builder, loc, UnaryKind::Neg, distribute(builder, op, own->getOperand(0), sums));
  if (isSum(own)) {
    Value lhs = distribute(builder, op, own->getOperand(0), sums);
    Value rhs = distribute(builder, op, own->getOperand(1), sums);
    return BinaryOp::create(builder, loc, cast<BinaryOp>(own).getKind(), lhs, rhs);
  }
  const RankedTensorType result = op.getType();
  if (auto product = findShared(op, own)) {
    Value sum = distribute(builder, op, product->first, sums);
    Value once = product->second.getDefiningOp<ExpandOp>().getX();
    SmallVector<int64_t> kept;
    for (auto [dim, extent] : llvm::enumerate(typeOf(once).getShape()))
      if (!llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
        kept.push_back(extent);
    Value factor = ReshapeOp::create(builder, loc, result.clone(kept), once);
    if (factor.getType() != result)
      factor = ExpandOp::create(builder, loc, result, factor);
    return BinaryOp::create(builder, loc, BinaryKind::Mul, sum, factor);
  }
  Value &sum = sums[term];
  if (!sum)
    sum = ReduceOp::create(builder, loc, result, op.getKind(), term, op.getDims());
  return sum;
}

void SumDistributor::run() {
  constexpr unsigned mostSteps = 8;
  bool changes = false;
  for (auto op : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    const Type element = op.getType().getElementType();
    if (op.getKind() != ReduceKind::Add || !(element.isF32() || element.isF64()) || matchContraction(op))
      continue;
    Operation *term = op.getX().getDefiningOp();
    if (!isSum(term) && !isNegation(term) && !findShared(op, term))
      continue;
    llvm::SmallSetVector<Value, 4> leaves;
    if (!findLeaves(op, op.getX(), mostSteps, leaves))
      continue;
    // Another pass over the same elements is what the sums are worth.
    const Depths &known = depthsFor(op);
    const unsigned depth = known.lookup(op.getX());
    if (llvm::any_of(leaves, [&](Value leaf) { return known.lookup(leaf) >= depth; }))
      continue;
    OpBuilder builder(op);
    llvm::SmallMapVector<Value, Value, 4> sums;
    op.replaceAllUsesWith(distribute(builder, op, op.getX(), sums));
    changes = true;
  }
  if (changes)
    zyx::fusion::eraseUnused(block);
}

namespace {

struct DistributeSums : zyx::fusion::impl::DistributeSumsPassBase<DistributeSums> {
  void runOnOperation() override {
    if (zyx::fusion::getMachine(getOperation()).hasSubgroups())
      return;
    auto distribute = [](Block &each) { SumDistributor(each).run(); };
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), distribute)))
      signalPassFailure();
  }
};

} // namespace
