//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "GroupRules.h"
#include "Machine.h"
#include "MergeProducts.h"
#include "NormalizeViews.h"
#include "Notes.h"

#include "zyx/Dialect/Graph/IR/UnaryKinds.h"
#include "zyx/Fusion/Passes.h"
#include "zyx/Target/Info/Budgets.h"

#include "mlir/IR/IRMapping.h"

#include <limits>

namespace zyx::fusion {
#define GEN_PASS_DEF_RECOMPUTEPRODUCTSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::makeSplat;
using zyx::fusion::matchProductPair;
using zyx::fusion::ProductPair;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {

/// A pair, and what becomes its own.
struct Candidate {
  ProductPair pair;
  /// The first products with what is computed of them; and with what lies beside that and may be computed again.
  llvm::SetVector<Operation *> way, own;
};

class Recomputer {
public:
  Recomputer(Block &block, const zyx::target::TargetInfo &machine, int64_t bits)
      : block(block), machine(machine), bits(bits) {}

  void run();

private:
  std::optional<Candidate> match(ReduceOp sum);
  bool isKernel(const Candidate &candidate);
  bool fillsMachine(const ProductPair &pair);
  /// Whether others read what only a candidate and those like it should.
  bool isRead(const llvm::SetVector<Operation *> &own, llvm::function_ref<bool(Operation *)> mayRead);
  void splitRight(const ProductPair &pair);
  void cloneFor(const Candidate &candidate, ArrayRef<BinaryOp> products);
  std::vector<Candidate> findAll() {
    std::vector<Candidate> all;
    for (auto sum : block.getOps<ReduceOp>())
      if (std::optional<Candidate> found = match(sum))
        all.push_back(std::move(*found));
    return all;
  }

  Block &block;
  const zyx::target::TargetInfo &machine;
  const int64_t bits;
};

} // namespace

/// The clusters that have tiles of 128 rows, of up to eight workgroups each, keep all multiprocessors busy. Where they
/// do not, products of what is stored have more tiles.
bool Recomputer::fillsMachine(const ProductPair &pair) {
  constexpr int64_t tileRows = 128, sharers = 8;
  return pair.batches * static_cast<int64_t>(llvm::divideCeil(pair.rows, tileRows)) * sharers >= machine.cores;
}

/// Values that hang on some ops of a block, in its order.
static llvm::SetVector<Operation *> findBehind(ArrayRef<Operation *> begins, Operation *end) {
  llvm::SetVector<Operation *> behind(begins.begin(), begins.end());
  Operation *first = *llvm::min_element(begins, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op = first; op != end; op = op->getNextNode())
    if (llvm::any_of(op->getOperands(), [&](Value value) { return behind.contains(value.getDefiningOp()); }))
      behind.insert(op);
  return behind;
}

std::optional<Candidate> Recomputer::match(ReduceOp sum) {
  std::optional<ProductPair> pair = matchProductPair(sum, bits, /*anyType=*/true);
  if (!pair || !fillsMachine(*pair))
    return std::nullopt;
  const llvm::SetVector<Operation *> behind = findBehind(pair->inner, pair->product);
  Candidate found{*pair, {}, {}};
  SmallVector<Operation *> beside;
  for (Operation *op : pair->inner) {
    Operation *reduce = *op->user_begin();
    if (!op->hasOneUse() || reduce->hasAttr(zyx::fusion::recomputedAttrName))
      return std::nullopt;
    found.own.insert(op);
    found.own.insert(reduce);
  }
  for (Operation *op : pair->between) {
    // What is reduced of the products, as the maximum and the sum of a softmax, is complete before: others have stored
    // it, or an attention is one kernel.
    for (Value operand : op->getOperands())
      if (auto reduce = getViewSource(operand).getDefiningOp<ReduceOp>();
          reduce && behind.contains(reduce) && !found.own.contains(reduce))
        return std::nullopt;
    if (behind.contains(op)) {
      if (zyx::fusion::isTranscendental(op) && !pair->isWide)
        return std::nullopt;
      found.own.insert(op);
    } else if (op->getBlock() == &block) {
      beside.push_back(op);
    }
  }
  // Beside them lies what rows and columns have in common, of which powers alone are computed faster than read, and
  // vectors, which take no time.
  found.way = found.own;
  Candidate all = found;
  for (Operation *op : beside)
    if (typeOf(op->getResult(0)).getNumElements() >= pair->rows * pair->terms)
      all.own.insert(op);
  for (Candidate *each : {&all, &found})
    if (isKernel(*each))
      return std::move(*each);
  return std::nullopt;
}

/// Whether a kernel of its own has a place for all of it.
bool Recomputer::isKernel(const Candidate &candidate) {
  SmallVector<Operation *> ordered(candidate.own.begin(), candidate.own.end());
  ordered.push_back(candidate.pair.product);
  ordered.push_back(candidate.pair.sum);
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  IterationSpace::Ops ops;
  ops.insert(ordered.begin(), ordered.end());
  Value output = ReduceOp(candidate.pair.sum).getResult();
  return zyx::fusion::checkGroup(ops, output, {.chain = true}).isOk();
}

bool Recomputer::isRead(const llvm::SetVector<Operation *> &own, llvm::function_ref<bool(Operation *)> mayRead) {
  SmallVector<Operation *> work(own.begin(), own.end());
  while (!work.empty())
    for (Operation *user : work.pop_back_val()->getUsers()) {
      if (isView(user))
        work.push_back(user);
      else if (!own.contains(user) && !mayRead(user))
        return true;
    }
  return false;
}

/// Writes a factor of f16 as a sum of two of bf16, which together have all of its digits: as in the parts that codegen
/// makes of the other factor, the first is smaller than the number by a unit of its digits, so that both have its sign,
/// neither is zero unless the number is, and both are infinities where it is one. They are stored: each product would
/// compute them again.
void Recomputer::splitRight(const ProductPair &pair) {
  SmallVector<Operation *> views;
  Value value = pair.right;
  for (; isView(value.getDefiningOp()); value = value.getDefiningOp()->getOperand(0))
    views.push_back(value.getDefiningOp());
  auto widening = value.getDefiningOp<CastOp>();
  // What is seen through views would be stored in their order.
  if (!widening || isView(widening.getX().getDefiningOp()) || !typeOf(value).getElementType().isF32())
    return;
  OpBuilder builder(BinaryOp(pair.product));
  const Location loc = widening.getLoc();
  RankedTensorType wide = typeOf(value), narrow = wide.clone(builder.getBF16Type());
  // What the products that read it as it is widen is theirs.
  const Value from = builder.clone(*widening)->getResult(0);
  auto round = [&](Value x) -> Value {
    auto part = CastOp::create(builder, loc, narrow, x);
    part->setAttr(zyx::fusion::tableAttrName, builder.getUnitAttr());
    return part;
  };
  auto combine = [&](BinaryKind kind, Value a, Value b) -> Value { return BinaryOp::create(builder, loc, kind, a, b); };
  Value high = round(combine(BinaryKind::Mul, from, makeSplat(builder, loc, wide, 1 - 0x1p-8)));
  Value rest = combine(BinaryKind::Sub, from, CastOp::create(builder, loc, wide, high));
  Value isInfinite = combine(BinaryKind::Eq, UnaryOp::create(builder, loc, UnaryKind::Abs, from),
                             makeSplat(builder, loc, wide, std::numeric_limits<double>::infinity()));
  Value low = round(SelectOp::create(builder, loc, isInfinite, from, rest));
  Value sum;
  for (Value part : {high, low}) {
    IRMapping mapping;
    mapping.map(value, CastOp::create(builder, loc, wide, part).getResult());
    for (Operation *view : llvm::reverse(views))
      builder.clone(*view, mapping);
    builder.clone(*BinaryOp(pair.product), mapping);
    Value each = builder.clone(*ReduceOp(pair.sum), mapping)->getResult(0);
    sum = sum ? combine(BinaryKind::Add, sum, each) : each;
  }
  ReduceOp(pair.sum).replaceAllUsesWith(sum);
}

/// Gives products a computed factor of their own.
void Recomputer::cloneFor(const Candidate &candidate, ArrayRef<BinaryOp> products) {
  auto isFirst = [](BinaryOp a, BinaryOp b) { return a->isBeforeInBlock(b); };
  OpBuilder builder(*llvm::min_element(products, isFirst));
  IRMapping mapping;
  std::function<void(Value)> copy = [&](Value value) {
    Operation *source = getViewSource(value).getDefiningOp();
    if (mapping.contains(value) || !source || !candidate.own.contains(source))
      return;
    Operation *op = value.getDefiningOp();
    llvm::for_each(op->getOperands(), copy);
    builder.clone(*op, mapping);
  };
  const Value left = candidate.pair.left;
  copy(left);
  for (BinaryOp product : products)
    product->replaceUsesOfWith(left, mapping.lookup(left));
}

void Recomputer::run() {
  // A factor of f16 that is multiplied with what has more digits: bf16 has room for all of both.
  for (const Candidate &candidate : findAll())
    if (candidate.pair.isWide && !candidate.pair.rightElement().isBF16())
      splitRight(candidate.pair);
  zyx::fusion::eraseUnused(block);
  std::vector<Candidate> all = findAll();
  llvm::erase_if(all, [](const Candidate &each) { return each.pair.isWide && !each.pair.rightElement().isBF16(); });
  llvm::DenseSet<Operation *> readers;
  for (const Candidate &candidate : all) {
    readers.insert(candidate.own.begin(), candidate.own.end());
    readers.insert(candidate.pair.product);
  }
  // What is rounded is read fast, too, where it is stored anyway.
  llvm::erase_if(all, [&](const Candidate &candidate) {
    return !candidate.pair.isWide && isRead(candidate.way, [&](Operation *op) { return readers.contains(op); });
  });
  llvm::SmallPtrSet<Operation *, 8> done;
  for (const Candidate &candidate : all) {
    if (!done.insert(candidate.pair.sum).second)
      continue;
    SmallVector<BinaryOp> products = {candidate.pair.product};
    for (const Candidate &other : all)
      if (candidate.pair.isAddedTo(other.pair)) {
        products.push_back(other.pair.product);
        done.insert(other.pair.sum);
      }
    if (isRead(candidate.own, [&](Operation *op) { return llvm::is_contained(products, op); }))
      cloneFor(candidate, products);
  }
  zyx::fusion::eraseUnused(block);
}

namespace {

struct RecomputeProducts : zyx::fusion::impl::RecomputeProductsPassBase<RecomputeProducts> {
  using RecomputeProductsPassBase::RecomputeProductsPassBase;
  void runOnOperation() override {
    const zyx::target::TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    const int64_t bits = zyx::target::matrixOperandBits(machine);
    if (bits == 0)
      return;
    if (failed(
            zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { Recomputer(block, machine, bits).run(); })))
      signalPassFailure();
  }
};

} // namespace
