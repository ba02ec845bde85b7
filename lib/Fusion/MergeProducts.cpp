//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MergeProducts.h"

#include "NormalizeViews.h"

#include "zyx/Base/Debug.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Status;
using zyx::fusion::GroupGraph;
using zyx::fusion::isWidening;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The value that a factor of a product has in memory.
static Value storedFactor(Value factor) {
  while (isView(factor.getDefiningOp()) || isWidening(factor.getDefiningOp()))
    factor = factor.getDefiningOp()->getOperand(0);
  return factor;
}

/// Whether neighbours along a dimension of a factor are neighbours in memory.
static bool liesAlong(Value factor, int64_t dim) {
  while (true) {
    std::optional<SmallVector<std::optional<int64_t>>> dims = getSourceDims(factor);
    if (!dims || !(*dims)[dim])
      return false;
    dim = *(*dims)[dim];
    factor = getViewSource(factor);
    if (!isWidening(factor.getDefiningOp()))
      return dim + 1 == typeOf(factor).getRank();
    factor = factor.getDefiningOp()->getOperand(0);
  }
}

namespace {

/// Two products and what lies between them.
class ProductPair {
public:
  ProductPair(ReduceOp sum, int64_t bits) : sum(sum), bits(bits) {}

  /// The first products, of which what the last one reads is computed; none where tensor cores have no place for it.
  SmallVector<Operation *> findInner();
  /// Whether a product may be one of the first ones.
  bool isInner(ReduceOp reduce, Type element);

private:
  /// Features of the first products and columns of the last one that registers hold beside each other, in whole pieces
  /// of memory.
  static constexpr int64_t mostColumns = 256, multipleOf = 8;
  static constexpr unsigned mostOps = 64;
  static bool fits(int64_t extent) { return extent <= mostColumns && extent % multipleOf == 0; }

  std::optional<Contraction> match(ReduceOp reduce) {
    const bool isOne = reduce.getDims().size() == 1 && typeOf(reduce).getElementType().isF32();
    std::optional<Contraction> found = isOne ? matchContraction(reduce) : std::nullopt;
    return found && found->first.size() == 1 && found->second.size() == 1 ? found : std::nullopt;
  }

  ReduceOp sum;
  const int64_t bits;
};

} // namespace

bool ProductPair::isInner(ReduceOp reduce, Type element) {
  std::optional<Contraction> found = match(reduce);
  if (!found)
    return false;
  const int64_t features = found->reduced.front();
  return fits(typeOf(found->product).getDimSize(features)) &&
         llvm::all_of(found->product->getOperands(), [&](Value factor) {
           return typeOf(storedFactor(factor)).getElementType() == element && liesAlong(factor, features);
         });
}

SmallVector<Operation *> ProductPair::findInner() {
  std::optional<Contraction> found = match(sum);
  if (!found)
    return {};
  for (bool isFirst : {true, false}) {
    Value left = isFirst ? found->product.getA() : found->product.getB();
    Value right = isFirst ? found->product.getB() : found->product.getA();
    const int64_t columns = isFirst ? found->second.front() : found->first.front();
    const Type element = typeOf(storedFactor(left)).getElementType();
    if (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() != static_cast<unsigned>(bits) ||
        typeOf(storedFactor(right)).getElementType() != element || !liesAlong(right, columns) ||
        !fits(typeOf(found->product).getDimSize(columns)))
      continue;
    // What is computed element by element, up to products.
    llvm::SetVector<Operation *> between;
    SmallVector<Operation *> inner;
    auto take = [&](Value value) {
      Operation *op = getViewSource(value).getDefiningOp();
      if (auto reduce = dyn_cast_or_null<ReduceOp>(op); reduce && isInner(reduce, element)) {
        if (Operation *product = reduce.getX().getDefiningOp(); !llvm::is_contained(inner, product))
          inner.push_back(product);
      } else if (op && isElementwise(op)) {
        between.insert(op);
      }
    };
    take(left);
    for (size_t i = 0; i < between.size() && between.size() <= mostOps; ++i)
      for (Value operand : between[i]->getOperands())
        take(operand);
    if (!inner.empty() && between.size() <= mostOps)
      return inner;
  }
  return {};
}

std::optional<Type> zyx::fusion::elementOfTensorProduct(ReduceOp sum, int64_t bits) {
  ProductPair pair(sum, bits);
  std::optional<Contraction> found = matchContraction(sum);
  if (!found)
    return std::nullopt;
  const Type element = typeOf(storedFactor(found->product.getA())).getElementType();
  const bool isOne = isa<FloatType>(element) && element.getIntOrFloatBitWidth() == static_cast<unsigned>(bits) &&
                     pair.isInner(sum, element);
  return isOne ? std::optional(element) : std::nullopt;
}

void zyx::fusion::mergeProducts(GroupGraph &graph, int64_t bits) {
  for (Operation *op : graph.getOps()) {
    auto reduce = dyn_cast<ReduceOp>(op);
    SmallVector<Operation *> inner = reduce ? ProductPair(reduce, bits).findInner() : SmallVector<Operation *>();
    if (inner.empty())
      continue;
    SmallVector<Operation *> members = graph.getWays(inner, {op});
    // An attention, or the gradients of one, is a kernel already.
    if (llvm::any_of(members, [&](Operation *member) { return graph.getMembers(graph.getHome(member)).size() > 1; }))
      continue;
    if (Status merged = graph.mergeStreaming(members); !merged.isOk())
      ZYX_DEBUG(Fusion, "products of what products are computed of are several kernels: " + merged.message());
  }
}
