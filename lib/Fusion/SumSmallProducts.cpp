//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Products of matrices that are so small that what takes their time is to begin them: sums like any other, which
// threads add up, and which share kernels and launches with others.
//===----------------------------------------------------------------------===//
#include "GroupRules.h"
#include "Machine.h"
#include "MergeProducts.h"
#include "Notes.h"

#include "zyx/Dialect/Graph/Analysis/Attention.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"
#include "zyx/Target/Info/Budgets.h"
#include "zyx/Target/Info/Fits.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_SUMSMALLPRODUCTSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
namespace fits = zyx::target::fits::smallProducts;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether a factor is no window, no table of numbers, and no integer that is made a float: those have ways of their
/// own.
static bool isPlainFactor(Value factor) {
  Value source = getViewSource(factor);
  while (auto cast = source.getDefiningOp<CastOp>()) {
    if (!isa<FloatType>(typeOf(cast.getX()).getElementType()))
      return false;
    source = getViewSource(cast.getX());
  }
  for (Value value = factor; Operation *op = value.getDefiningOp(); value = op->getOperand(0)) {
    if (isa<PadOp, WindowOp, FlipOp>(op))
      return false;
    if (!isView(op) && !isa<CastOp>(op))
      break;
  }
  return !isa_and_nonnull<IotaOp, ConstantOp>(source.getDefiningOp());
}

static bool isSmall(ReduceOp sum) {
  if (!matchContraction(sum) || !typeOf(sum).getElementType().isF32() ||
      sum->hasAttr(zyx::fusion::recomputedAttrName) || sum->hasAttr(zyx::fusion::productsSumAttrName) ||
      sum->hasAttr(zyx::fusion::partsAttrName))
    return false;
  return typeOf(sum.getX()).getNumElements() <= fits::mostProducts &&
         llvm::all_of(sum.getX().getDefiningOp()->getOperands(), isPlainFactor);
}

/// Whether a transcendental function of the first products lies between those of a pair: then they are no chain.
static bool isStoredBetween(const zyx::fusion::ProductPair &pair) {
  SmallVector<Operation *> work;
  for (Operation *product : pair.inner)
    work.append(product->user_begin(), product->user_end());
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty())
    for (Operation *user : work.pop_back_val()->getUsers())
      if ((isView(user) || pair.between.contains(user)) && seen.insert(user).second) {
        if (zyx::fusion::isTranscendental(user))
          return true;
        work.push_back(user);
      }
  return false;
}

/// Sums of products that are one kernel with others: of attentions, and of chains.
static llvm::DenseSet<Operation *> findChained(Block &block, const zyx::target::TargetInfo &machine) {
  llvm::DenseSet<Operation *> chained;
  for (auto reduce : block.getOps<ReduceOp>()) {
    llvm::SmallSetVector<Operation *, 4> sums;
    sums.insert(reduce);
    if (auto attention = matchAttention(reduce, Largest::OfOthersToo)) {
      sums.insert(attention->scores);
      chained.insert_range(sums);
    }
    if (auto pair = zyx::fusion::matchProductPair(reduce, zyx::target::matrixOperandBits(machine))) {
      for (Operation *product : pair->inner)
        sums.insert(product->user_begin(), product->user_end());
      if (!isStoredBetween(*pair) || !llvm::all_of(sums, [](Operation *sum) { return isSmall(cast<ReduceOp>(sum)); }))
        chained.insert_range(sums);
    }
  }
  return chained;
}

namespace {

struct SumSmallProducts : zyx::fusion::impl::SumSmallProductsPassBase<SumSmallProducts> {
  void runOnOperation() override {
    func::FuncOp entry = getOperation();
    const zyx::target::TargetInfo &machine = zyx::fusion::getMachine(entry);
    if (entry.isExternal() || !machine.hasTensorTiles())
      return;
    // Steps of loops have kernels of their own.
    Block &block = entry.getBody().front();
    const llvm::DenseSet<Operation *> chained = findChained(block, machine);
    for (auto sum : block.getOps<ReduceOp>())
      if (!chained.contains(sum) && isSmall(sum))
        sum->setAttr(sumAttrName, UnitAttr::get(sum.getContext()));
  }
};

} // namespace
