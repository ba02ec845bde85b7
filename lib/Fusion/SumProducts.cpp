//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sums over batches of what is computed of sums of products, as the gradient of a bias is that is added to the scores
// of all windows. Stored, these are the largest values of the program, and a sum reads each of them once. Here they are
// computed by the kernel that adds them up.
//===----------------------------------------------------------------------===//
#include "SumProducts.h"

#include "Blocks.h"
#include "DimSplitter.h"
#include "Machine.h"
#include "MergeProducts.h"
#include "NormalizeViews.h"
#include "Notes.h"

#include "zyx/Base/Debug.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_SUMPRODUCTSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Status;
using zyx::fusion::DimSplitter;
using zyx::fusion::GroupGraph;
using zyx::fusion::productsSumAttrName;
using zyx::target::TargetInfo;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {

/// What a sum is computed of: ops element by element, and the sums of products that these read.
struct Terms {
  llvm::SetVector<Operation *> between;
  SmallVector<ReduceOp> inner;
};

} // namespace

static Terms findTerms(ReduceOp sum) {
  Terms terms;
  auto take = [&](Value value) {
    Operation *op = value.getDefiningOp();
    auto reduce = dyn_cast_or_null<ReduceOp>(op);
    if (reduce && matchContraction(reduce)) {
      if (!llvm::is_contained(terms.inner, reduce))
        terms.inner.push_back(reduce);
    } else if (op && isElementwise(op) && typeOf(value).getShape() == typeOf(sum.getX()).getShape()) {
      terms.between.insert(op);
    }
  };
  take(sum.getX());
  for (size_t i = 0; i < terms.between.size(); ++i)
    for (Value operand : terms.between[i]->getOperands())
      take(operand);
  return terms;
}

/// Whether one kernel computes the terms of a sum, by tensor cores, and nobody else reads them.
static bool isForKernel(ReduceOp sum, const Terms &terms, int64_t bits) {
  constexpr unsigned mostOps = 48, mostInner = 3;
  // Tiles of fewer rows or columns are mostly empty, and fewer batches are no walk.
  constexpr int64_t fewestPlaces = 32, fewestBatches = 16;
  const ArrayRef<int64_t> shape = typeOf(sum.getX()).getShape();
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t batches = 1;
  for (int64_t dim : sum.getDims())
    batches *= shape[dim];
  if (sum.getKind() != ReduceKind::Add || !typeOf(sum.getX()).getElementType().isF32() || rank < 3 ||
      sum.getDims().back() >= rank - 2 || shape[rank - 2] < fewestPlaces || shape[rank - 1] < fewestPlaces ||
      batches < fewestBatches || terms.between.empty() || terms.between.size() > mostOps || terms.inner.empty() ||
      terms.inner.size() > mostInner)
    return false;
  Type element;
  for (ReduceOp inner : terms.inner) {
    const std::optional<Type> own = zyx::fusion::elementOfTensorProduct(inner, bits);
    const Contraction product = *matchContraction(inner);
    // The last two dimensions are those of rows and columns, whatever order they have.
    SmallVector<int64_t> places = {product.first.front(), product.second.front()};
    for (int64_t &place : places)
      place -= place > product.reduced.front();
    llvm::sort(places);
    if (!own || (element && *own != element) || typeOf(inner).getShape() != shape || places[0] != rank - 2)
      return false;
    element = *own;
  }
  auto isReadHere = [&](Operation *op) {
    return llvm::all_of(op->getUsers(), [&](Operation *reader) {
      return reader == sum.getOperation() || terms.between.contains(reader);
    });
  };
  return llvm::all_of(terms.between, isReadHere) &&
         llvm::all_of(terms.inner, [&](ReduceOp inner) { return isReadHere(inner); });
}

/// Into how many parts a dimension falls: workgroups have a tile of one part each, and walk its batches.
static int64_t partsOf(ReduceOp sum, int64_t dim, const TargetInfo &machine) {
  // Of a tile of scores; and what a tile takes besides its batches, in batches.
  constexpr int64_t rows = 128, columns = 64, beside = 8;
  const ArrayRef<int64_t> shape = typeOf(sum.getX()).getShape();
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t tiles = llvm::divideCeil(shape[rank - 2], rows) * llvm::divideCeil(shape[rank - 1], columns), batches = 1;
  for (int64_t each = 0; each + 2 < rank; ++each)
    (llvm::is_contained(sum.getDims(), each) ? batches : tiles) *= shape[each];
  auto takes = [&](int64_t parts) {
    return static_cast<int64_t>(llvm::divideCeil(tiles * parts, machine.cores)) * (batches / parts + beside);
  };
  int64_t best = 1;
  for (int64_t parts = 2; parts <= std::min(shape[dim], batches / beside); ++parts)
    if (shape[dim] % parts == 0 && takes(parts) < takes(best))
      best = parts;
  return best;
}

static void sumProducts(Block &block, const TargetInfo &machine, int64_t bits) {
  for (auto sum : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    const Terms terms = findTerms(sum);
    if (!isForKernel(sum, terms, bits))
      continue;
    OpBuilder builder(sum);
    // The longest one may have the most parts.
    const ArrayRef<int64_t> shape = typeOf(sum.getX()).getShape();
    const int64_t cut = *llvm::max_element(sum.getDims(), [&](int64_t a, int64_t b) { return shape[a] < shape[b]; });
    const int64_t parts = partsOf(sum, cut, machine);
    if (parts == 1) {
      sum->setAttr(productsSumAttrName, builder.getUnitAttr());
      continue;
    }
    DimSplitter::Ops through(terms.between.begin(), terms.between.end());
    for (ReduceOp inner : terms.inner) {
      through.insert(inner);
      Operation *product = inner.getX().getDefiningOp();
      through.insert(product);
      for (Value factor : product->getOperands())
        for (Operation *op = factor.getDefiningOp(); isView(op) || zyx::fusion::isWidening(op);
             op = op->getOperand(0).getDefiningOp())
          through.insert(op);
    }
    DimSplitter splitter(builder, parts, std::move(through));
    Value parted = splitter.split(sum.getX(), cut);
    SmallVector<int64_t> dims, kept;
    int64_t before = 0;
    for (int64_t dim : sum.getDims()) {
      dims.push_back(dim + (dim >= cut));
      before += dim < cut;
    }
    for (auto [dim, extent] : llvm::enumerate(typeOf(parted).getShape()))
      if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
        kept.push_back(extent);
    RankedTensorType type = typeOf(sum).clone(kept);
    auto own = ReduceOp::create(builder, sum.getLoc(), type, ReduceKind::Add, parted, dims);
    own->setAttr(productsSumAttrName, builder.getUnitAttr());
    sum.replaceAllUsesWith(ReduceOp::create(builder, sum.getLoc(), typeOf(sum), ReduceKind::Add, own.getResult(),
                                            ArrayRef<int64_t>(cut - before))
                               .getResult());
    sum.erase();
  }
}

void zyx::fusion::mergeSums(GroupGraph &graph) {
  for (Operation *op : graph.getOps()) {
    if (!op->removeAttr(productsSumAttrName))
      continue;
    SmallVector<Operation *> products;
    for (ReduceOp inner : findTerms(cast<ReduceOp>(op)).inner)
      products.push_back(inner.getX().getDefiningOp());
    if (products.empty())
      continue;
    if (Status merged = graph.mergeStreaming(graph.getWays(products, {op})); !merged.isOk())
      ZYX_DEBUG(Fusion, "a sum of what is computed of products is several kernels: " + merged.message());
  }
}

namespace {

struct SumProducts : zyx::fusion::impl::SumProductsPassBase<SumProducts> {
  using SumProductsPassBase::SumProductsPassBase;
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    // Nobody else keeps sums in registers while it walks batches.
    if (!machine.hasTensorTiles())
      return;
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) {
          sumProducts(block, machine, bits);
          zyx::fusion::eraseUnused(block);
        })))
      signalPassFailure();
  }
};

} // namespace
