//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What is computed to be gathered from lies in memory in the order of what it is made of.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Machine.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_ORDERGATHEREDPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

using Order = SmallVector<int64_t>;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static bool isSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat();
}

/// A gather that replaces one dimension by another one.
static GatherOp getGather(Operation *op) {
  auto gather = dyn_cast_or_null<GatherOp>(op);
  return gather && typeOf(gather.getIndices()).getRank() == 1 ? gather : GatherOp();
}

namespace {

/// Takes one value as another that has its dimensions in another order.
class Reorderer {
public:
  explicit Reorderer(Value value) : value(value), builder(value.getContext()) {}

  void run() {
    if (!value.getDefiningOp() || !computes(value.getDefiningOp()) || value.use_empty() || !findOrder(value) ||
        order.empty())
      return;
    const int64_t last = typeOf(value).getRank() - 1;
    const int64_t contiguous = llvm::find(order, last) - order.begin();
    // Elements that are gathered along what is contiguous are found one by one in any order.
    const bool isKept = llvm::all_of(value.getUsers(), [&](Operation *user) {
      GatherOp gather = getGather(user);
      return gather && gather.getX() == value && static_cast<int64_t>(gather.getDim()) != contiguous;
    });
    if (contiguous == last || !isKept)
      return;
    builder.setInsertionPointAfterValue(value);
    Value result = move(value);
    value.replaceAllUsesWith(PermuteOp::create(builder, value.getLoc(), value.getType(), result, order));
  }

private:
  static bool computes(Operation *op) { return isElementwise(op) || getGather(op); }

  /// The order in which what a value is made of shows what lies in memory; false where there are several, or too much
  /// is computed.
  bool findOrder(Value of) {
    if (isSplat(of) || of.getDefiningOp<ExpandOp>() || !seen.insert(of).second)
      return true;
    Operation *op = of.getDefiningOp();
    constexpr size_t mostValues = 32;
    if (seen.size() > mostValues)
      return false;
    if (isElementwise(op))
      return llvm::all_of(op->getOperands(), [&](Value operand) { return findOrder(operand); });
    if (GatherOp gather = getGather(op))
      return findOrder(gather.getX());
    auto permute = dyn_cast_or_null<PermuteOp>(op);
    if (!permute || (!order.empty() && ArrayRef(order) != permute.getOrder()))
      return false;
    order.assign(permute.getOrder().begin(), permute.getOrder().end());
    return true;
  }

  SmallVector<int64_t> moved(ArrayRef<int64_t> shape) const {
    SmallVector<int64_t> result(shape.size());
    for (auto [dim, from] : llvm::enumerate(order))
      result[from] = shape[dim];
    return result;
  }

  /// The value with its dimensions as they lie in memory.
  Value move(Value of) {
    if (Value known = done.lookup(of))
      return known;
    return done[of] = moveAnew(of);
  }

  Value moveAnew(Value of) {
    RankedTensorType type = typeOf(of).clone(moved(typeOf(of).getShape()));
    Operation *op = of.getDefiningOp();
    if (isSplat(of))
      return ConstantOp::create(builder, of.getLoc(), type, cast<ConstantOp>(op).getValue().resizeSplat(type));
    if (auto permute = dyn_cast<PermuteOp>(op))
      return permute.getX();
    if (GatherOp gather = getGather(op))
      return GatherOp::create(builder, of.getLoc(), type, move(gather.getX()), gather.getIndices(),
                              order[gather.getDim()]);
    if (!isElementwise(op)) {
      SmallVector<int64_t> inverse(order.size());
      for (auto [dim, from] : llvm::enumerate(order))
        inverse[from] = static_cast<int64_t>(dim);
      return PermuteOp::create(builder, of.getLoc(), type, of, inverse);
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(move(operand));
    return zyx::fusion::cloneWith(builder, op, operands, type);
  }

  Value value;
  OpBuilder builder;
  Order order;
  llvm::DenseSet<Value> seen;
  llvm::DenseMap<Value, Value> done;
};

} // namespace

static void orderGathered(Block &block) {
  llvm::SmallSetVector<Value, 8> sources;
  for (auto gather : block.getOps<GatherOp>())
    sources.insert(gather.getX());
  for (Value source : sources)
    Reorderer(source).run();
  zyx::fusion::eraseUnused(block);
}

namespace {

struct OrderGathered : zyx::fusion::impl::OrderGatheredPassBase<OrderGathered> {
  void runOnOperation() override {
    if (zyx::fusion::getMachine(getOperation()).hasSubgroups())
      return;
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), orderGathered)))
      signalPassFailure();
  }
};

} // namespace
