//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MergeProducts.h"

#include "NormalizeViews.h"

#include "zyx/Base/Debug.h"
#include "zyx/Target/Info/Fits.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Status;
using zyx::fusion::GroupGraph;
using zyx::fusion::isWidening;
using zyx::fusion::ProductPair;

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

class PairMatcher {
public:
  PairMatcher(ReduceOp sum, int64_t bits, bool anyType)
      : sum(sum), bits(static_cast<unsigned>(bits)), anyType(anyType) {}

  std::optional<ProductPair> match();
  /// Whether a product may be one of the first ones.
  bool isInner(ReduceOp reduce, Type element);
  bool isNarrow(Type element) const { return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == bits; }

private:
  /// Features of the first products and columns of the last one that registers hold beside each other, in whole pieces
  /// of memory.
  static constexpr int64_t mostColumns = 256, multipleOf = 8;
  static constexpr unsigned mostOps = 64;
  static bool fits(int64_t extent) { return extent <= mostColumns && extent % multipleOf == 0; }

  std::optional<Contraction> matchSum(ReduceOp reduce) {
    const bool isOne = reduce.getDims().size() == 1 && typeOf(reduce).getElementType().isF32();
    std::optional<Contraction> found = isOne ? matchContraction(reduce) : std::nullopt;
    return found && found->first.size() == 1 && found->second.size() == 1 ? found : std::nullopt;
  }
  bool takesFactors(const ProductPair &pair);
  bool findInner(ProductPair &pair);

  ReduceOp sum;
  const unsigned bits;
  const bool anyType;
};

} // namespace

Type ProductPair::rightElement() const { return typeOf(storedFactor(right)).getElementType(); }

bool PairMatcher::isInner(ReduceOp reduce, Type element) {
  std::optional<Contraction> found = matchSum(reduce);
  if (!found)
    return false;
  const int64_t features = found->reduced.front();
  return fits(typeOf(found->product).getDimSize(features)) &&
         llvm::all_of(found->product->getOperands(), [&](Value factor) {
           return typeOf(storedFactor(factor)).getElementType() == element && liesAlong(factor, features);
         });
}

/// Whether tensor cores take what is computed in the type of what it is multiplied with, or in parts.
bool PairMatcher::takesFactors(const ProductPair &pair) {
  const Type right = pair.rightElement();
  if (!isNarrow(right))
    return false;
  if (!pair.isWide)
    return typeOf(storedFactor(pair.left)).getElementType() == right;
  return (right.isBF16() || anyType) && pair.terms >= zyx::target::fits::groupProducts::fewestTermsOfParts;
}

/// What is computed element by element, up to products.
bool PairMatcher::findInner(ProductPair &pair) {
  Type element = pair.isWide ? Type() : pair.rightElement();
  auto take = [&](Value value) {
    Operation *op = getViewSource(value).getDefiningOp();
    if (auto reduce = dyn_cast_or_null<ReduceOp>(op)) {
      Operation *product = reduce.getX().getDefiningOp();
      // All of the first products have one type.
      Type own = element || !isa_and_nonnull<BinaryOp>(product)
                     ? element
                     : typeOf(storedFactor(product->getOperand(0))).getElementType();
      if (own && isNarrow(own) && isInner(reduce, own)) {
        element = own;
        if (!llvm::is_contained(pair.inner, product))
          pair.inner.push_back(product);
      }
    } else if (op && isElementwise(op)) {
      pair.between.insert(op);
    }
  };
  take(pair.left);
  for (size_t i = 0; i < pair.between.size() && pair.between.size() <= mostOps; ++i)
    for (Value operand : pair.between[i]->getOperands())
      take(operand);
  return !pair.inner.empty() && pair.between.size() <= mostOps;
}

std::optional<ProductPair> PairMatcher::match() {
  std::optional<Contraction> found = matchSum(sum);
  if (!found)
    return std::nullopt;
  RankedTensorType type = typeOf(found->product);
  for (bool isFirst : {true, false}) {
    ProductPair pair;
    pair.sum = sum;
    pair.product = found->product;
    pair.left = isFirst ? found->product.getA() : found->product.getB();
    pair.right = isFirst ? found->product.getB() : found->product.getA();
    pair.terms = type.getDimSize(found->reduced.front());
    pair.rows = type.getDimSize(isFirst ? found->first.front() : found->second.front());
    for (int64_t dim : found->batch)
      pair.batches *= type.getDimSize(dim);
    Value stored = storedFactor(pair.left);
    pair.isWide = typeOf(stored).getElementType().isF32() && stored.getDefiningOp();
    const int64_t columns = isFirst ? found->second.front() : found->first.front();
    if (takesFactors(pair) && liesAlong(pair.right, columns) && fits(type.getDimSize(columns)) && findInner(pair))
      return pair;
  }
  return std::nullopt;
}

std::optional<ProductPair> zyx::fusion::matchProductPair(ReduceOp sum, int64_t bits, bool anyType) {
  return PairMatcher(sum, bits, anyType).match();
}

bool ProductPair::isAddedTo(const ProductPair &other) const {
  auto addedTo = [](ReduceOp sum) {
    auto added = sum->hasOneUse() ? dyn_cast<BinaryOp>(*sum->user_begin()) : BinaryOp();
    return added && added.getKind() == BinaryKind::Add ? added : BinaryOp();
  };
  BinaryOp added = addedTo(sum);
  return added && sum != other.sum && left == other.left && addedTo(other.sum) == added;
}

std::optional<Type> zyx::fusion::elementOfTensorProduct(ReduceOp sum, int64_t bits) {
  std::optional<Contraction> found = matchContraction(sum);
  if (!found)
    return std::nullopt;
  PairMatcher matcher(sum, bits, /*anyType=*/false);
  const Type element = typeOf(storedFactor(found->product.getA())).getElementType();
  const bool isOne = matcher.isNarrow(element) && matcher.isInner(sum, element);
  return isOne ? std::optional(element) : std::nullopt;
}

void zyx::fusion::mergeProducts(GroupGraph &graph, int64_t bits) {
  std::vector<ProductPair> pairs;
  for (Operation *op : graph.getOps())
    if (auto reduce = dyn_cast<ReduceOp>(op))
      if (std::optional<ProductPair> pair = matchProductPair(reduce, bits))
        pairs.push_back(std::move(*pair));
  for (const ProductPair &pair : pairs) {
    SmallVector<Operation *> sums = {pair.sum};
    for (const ProductPair &other : pairs)
      if (pair.isAddedTo(other))
        sums.push_back(other.sum);
    SmallVector<Operation *> members = graph.getWays(pair.inner, sums);
    // An attention, or the gradients of one, is a kernel already.
    if (llvm::any_of(members, [&](Operation *member) { return graph.getMembers(graph.getHome(member)).size() > 1; }))
      continue;
    if (Status merged = graph.mergeStreaming(members); !merged.isOk())
      ZYX_DEBUG(Fusion, "products of what products are computed of are several kernels: " + merged.message());
  }
}
