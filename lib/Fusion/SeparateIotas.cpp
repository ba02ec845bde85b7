//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Numbers that are counted along a dimension: those of rows and keys in masks, mostly.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "GroupRules.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_SEPARATEIOTASPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

namespace {

/// Gives readers numbers of their own.
class Separator {
public:
  explicit Separator(Block &block) : block(block) {}

  void run() {
    for (Operation &op : block)
      find(&op);
    SmallVector<Operation *> ops(llvm::map_range(numbers, [](const auto &known) { return known.first; }));
    // Copies have operands that the next ones copy.
    for (Operation *op : llvm::reverse(ops))
      separate(op);
  }

private:
  /// More are rather stored.
  static constexpr size_t maxCopies = 4096;

  /// Notes an op whose results are numbers that differ along one dimension at most, which few cheap ops make of an
  /// iota.
  void find(Operation *op) {
    std::optional<int64_t> dim;
    if (auto iota = dyn_cast<IotaOp>(op)) {
      dim = iota.getDim();
    } else if (isa<ReshapeOp, ExpandOp, PermuteOp>(op)) {
      auto known = numbers.find(op->getOperand(0).getDefiningOp());
      auto dims = getOperandDims(op);
      if (known == numbers.end() || !dims)
        return;
      auto at = llvm::find(*dims, std::optional(known->second));
      if (at == dims->end())
        return;
      dim = at - dims->begin();
    } else if (isElementwise(op) && !zyx::fusion::isTranscendental(op)) {
      for (Value operand : op->getOperands()) {
        auto known = numbers.find(operand.getDefiningOp());
        if (known != numbers.end() && (!dim || *dim == known->second))
          dim = known->second;
        else if (known != numbers.end() || !isRepeated(operand))
          return;
      }
    }
    if (dim)
      numbers[op] = *dim;
  }

  static bool isRepeated(Value value) {
    while (isIndexMap(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    auto constant = value.getDefiningOp<ConstantOp>();
    return constant && constant.getValue().isSplat();
  }

  /// Whether a use counts by itself: others read memory, and may share it.
  static bool counts(OpOperand &use) {
    Operation *user = use.getOwner();
    return isIndexMap(user) || isElementwise(user) || isa<ReduceOp>(user) ||
           (isa<GatherOp>(user) && use.getOperandNumber() == 1);
  }

  void separate(Operation *op) {
    SmallVector<OpOperand *> uses;
    bool isShared = false;
    for (OpOperand &use : op->getResult(0).getUses())
      if (counts(use))
        uses.push_back(&use);
      else
        isShared = true;
    for (OpOperand *use : llvm::drop_begin(uses, isShared || uses.empty() ? 0 : 1)) {
      if (++numCopies > maxCopies)
        return;
      OpBuilder builder(op);
      use->set(builder.clone(*op)->getResult(0));
    }
  }

  Block &block;
  /// In the order of the block.
  llvm::MapVector<Operation *, int64_t> numbers;
  size_t numCopies = 0;
};

} // namespace

static void separateIotas(Block &block) { Separator(block).run(); }

namespace {

struct SeparateIotas : zyx::fusion::impl::SeparateIotasPassBase<SeparateIotas> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), separateIotas)))
      signalPassFailure();
  }
};

} // namespace
