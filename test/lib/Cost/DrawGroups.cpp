//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// No cut of a group and no order of a result in memory may change a value. The same seed draws the same ones.
//===----------------------------------------------------------------------===//
#include "DrawGroups.h"

#include "zyx/Base/Random.h"
#include "zyx/Cost/CostModel.h"
#include "zyx/Cost/CutGroup.h"
#include "zyx/Cost/ResultOrder.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Kernel/IR/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace zyx;
using namespace zyx::cost;
using namespace zyx::graph::ir;

namespace {

/// SplitMix64: the same numbers everywhere.
struct Random {
  uint64_t state;
  uint64_t next() { return mixBits(state += splitMixStep); }
};

/// A pass that draws from a seed, and asks whether groups are kernels.
template <typename Derived> struct DrawPass : PassWrapper<Derived, OperationPass<func::FuncOp>> {
  using Base = DrawPass;
  explicit DrawPass(uint64_t from) { seed = from; }
  DrawPass(const DrawPass &other) : PassWrapper<Derived, OperationPass<func::FuncOp>>(other) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<kernel::KernelDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    func::FuncOp entry = this->getOperation();
    if (entry.isExternal())
      return;
    const target::TargetInfo *record = kernel::requireTarget(entry);
    if (!record)
      return this->signalPassFailure();
    CostModel costs(entry, *record);
    static_cast<Derived *>(this)->draw(entry, costs);
  }

  Pass::Option<uint64_t> seed{*this, "seed", llvm::cl::desc("What the numbers are drawn from"), llvm::cl::init(1)};
};

struct DrawCuts : DrawPass<DrawCuts> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DrawCuts)
  using Base::Base;
  StringRef getArgument() const final { return "zyx-test-draw-cuts"; }
  StringRef getDescription() const final { return "Cut half of the groups anywhere where each part is a kernel"; }

  void draw(func::FuncOp entry, CostModel &costs) {
    SmallVector<GroupOp> groups;
    entry.walk([&](GroupOp group) { groups.push_back(group); });
    Random random{seed};
    for (GroupOp group : groups)
      if (llvm::none_of(group.getBlock(), [](Operation &op) { return isOrderOp(&op); }))
        drawCut(group, random, costs);
  }

  static void drawCut(GroupOp group, Random &random, CostModel &costs) {
    const Places places = findPlaces(group);
    if (places.all.empty() || random.next() % 2 == 0)
      return;
    SmallVector<Value> stored;
    const uint64_t oneIn = 1 + random.next() % 4;
    for (Value value : places.all)
      if (random.next() % oneIn == 0)
        stored.push_back(value);
    if (stored.empty())
      return;
    GroupCut cut(group, stored);
    if (llvm::all_of(cut.getParts(), [&](GroupOp part) { return costs.weigh(part).has_value(); }))
      cut.apply();
  }
};

struct DrawOrders : DrawPass<DrawOrders> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DrawOrders)
  using Base::Base;
  StringRef getArgument() const final { return "zyx-test-draw-orders"; }
  StringRef getDescription() const final { return "Store two of three results of groups in a random order"; }

  void draw(func::FuncOp entry, CostModel &costs) {
    llvm::SetVector<Block *> blocks;
    entry.walk([&](GroupOp group) { blocks.insert(group->getBlock()); });
    for (Block *block : blocks) {
      Random random{seed};
      for (OpResult result : findMovableResults(*block))
        if (const uint64_t number = random.next(); number % 3 != 0)
          drawOrder(result, number / 3, costs);
    }
  }

  static void drawOrder(OpResult result, uint64_t number, CostModel &costs) {
    const auto numDims = static_cast<uint64_t>(cast<RankedTensorType>(result.getType()).getRank());
    ResultOrder order = ResultOrder::withLast(result, static_cast<int64_t>(number % (numDims - 1)));
    order.apply();
    auto isKernel = [&](Operation *group) { return costs.weigh(cast<GroupOp>(group)).has_value(); };
    if (!isKernel(result.getOwner()) || !llvm::all_of(result.getUsers(), isKernel))
      order.revert();
  }
};

} // namespace

std::unique_ptr<Pass> zyx::test::createDrawCutsPass(uint64_t seed) { return std::make_unique<DrawCuts>(seed); }
std::unique_ptr<Pass> zyx::test::createDrawOrdersPass(uint64_t seed) { return std::make_unique<DrawOrders>(seed); }

namespace zyx::test {
void registerDrawGroupsPasses() {
  registerPass([] { return createDrawCutsPass(1); });
  registerPass([] { return createDrawOrdersPass(1); });
}
} // namespace zyx::test
