//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Matrix/TensorChain.h"

#include "zyx/Codegen/Matrix/TensorDot.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace zyx::kernel;

/// Features of an inner product, and columns of all results that the registers of a group of warps hold beside it.
static constexpr int64_t mostFeatures = 256, mostColumns = 256;

static Type elementOf(Value tile) { return getElementTypeOrSelf(tile.getType()); }
static bool is16Bit(Type type) { return type.isBF16() || type.isF16(); }
static bool isZero(Value tile) { return matchPattern(tile, m_AnyZeroFloat()); }

SmallVector<const TensorOperand *> TensorChain::others() const {
  SmallVector<const TensorOperand *> all;
  auto add = [&](const TensorOperand &operand) {
    if (llvm::none_of(all, [&](const TensorOperand *known) { return isSame(*known, operand); }))
      all.push_back(&operand);
  };
  for (const Inner &each : inner)
    add(each.other);
  for (const Outer &each : outer)
    llvm::for_each(each.others, add);
  return all;
}

/// The ops that a value is computed of, up to products and loads, with these.
static llvm::SetVector<Operation *> opsOf(Value value) {
  llvm::SetVector<Operation *> ops;
  auto take = [&](Value of) {
    if (Operation *op = of.getDefiningOp())
      ops.insert(op);
  };
  take(value);
  for (size_t i = 0; i < ops.size(); ++i)
    if (!isa<DotOp, LoadOp>(ops[i]))
      llvm::for_each(ops[i]->getOperands(), take);
  return ops;
}

/// Whether a value is computed of the exponential of what a product is above a number of its row or column, as the
/// weights of an attention are.
static bool isOfWeights(Value value) {
  auto hasProduct = [](Value of) { return llvm::any_of(opsOf(of), [](Operation *op) { return isa<DotOp>(op); }); };
  return llvm::any_of(opsOf(value), [&](Operation *op) {
    auto exp = dyn_cast<math::ExpOp>(op);
    auto above = exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
    return above && hasProduct(above.getLhs()) && !hasProduct(above.getRhs());
  });
}

bool zyx::kernel::isChain(FuncOp func) {
  Block &body = func.getBody().front();
  auto dots = body.getOps<DotOp>();
  return llvm::range_size(dots) >= 2 && body.getOps<ReduceOp>().empty() &&
         llvm::any_of(dots, [](DotOp dot) { return isPlainLoad(dot.getLhs()) != isPlainLoad(dot.getRhs()); });
}

bool zyx::kernel::isTotal(FuncOp func) {
  Block &body = func.getBody().front();
  auto reduces = body.getOps<ReduceOp>();
  if (!llvm::hasSingleElement(reduces) || body.getOps<DotOp>().empty())
    return false;
  ReduceOp sum = *reduces.begin();
  const int64_t rank = cast<RankedTensorType>(sum.getInput().getType()).getRank();
  return sum.getKind() == Combine::Add && elementOf(sum.getResult()).isF32() && sum.getDims().back() + 2 < rank &&
         llvm::all_of(body.getOps<DotOp>(),
                      [](DotOp dot) { return isPlainLoad(dot.getLhs()) && isPlainLoad(dot.getRhs()); });
}

//===----------------------------------------------------------------------===//
// What is zero outside of a bound
//===----------------------------------------------------------------------===//

namespace {

/// Finds what tiles are where a condition does not hold.
class Outside {
public:
  explicit Outside(std::function<bool(Value)> isHidden) : isHidden(std::move(isHidden)) {}
  Outside(const TensorChain &chain, const TensorBound &bound, const Axes &axes)
      : Outside([&](Value condition) { return matchBound(condition, chain.rows, chain.streamed, axes) == bound; }) {}

  bool isZero(Value tile) { return kindOf(tile) == Kind::Zero; }

private:
  enum class Kind { Unknown, Zero, MinusInfinity };

  /// Whether a condition does not hold anywhere there: it is the one at hand, perhaps with others.
  bool isFalse(Value condition) {
    while (auto broadcast = condition.getDefiningOp<BroadcastOp>())
      condition = broadcast.getInput();
    if (isHidden(condition))
      return true;
    auto both = condition.getDefiningOp<arith::AndIOp>();
    return both && (isFalse(both.getLhs()) || isFalse(both.getRhs()));
  }

  Kind kindOf(Value tile) {
    auto [known, isNew] = kinds.try_emplace(tile, Kind::Unknown);
    if (!isNew)
      return known->second;
    return kinds[tile] = compute(tile);
  }

  Kind compute(Value tile) {
    if (::isZero(tile))
      return Kind::Zero;
    if (isMinusInfinity(tile))
      return Kind::MinusInfinity;
    Operation *op = tile.getDefiningOp();
    if (!op)
      return Kind::Unknown;
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      Kind otherwise = kindOf(select.getFalseValue());
      return isFalse(select.getCondition()) || kindOf(select.getTrueValue()) == otherwise ? otherwise : Kind::Unknown;
    }
    if (isa<BroadcastOp, TransposeOp, ReshapeOp, arith::ExtFOp, arith::TruncFOp>(op))
      return kindOf(op->getOperand(0));
    if (isa<math::ExpOp>(op))
      return kindOf(op->getOperand(0)) == Kind::MinusInfinity ? Kind::Zero : Kind::Unknown;
    if (auto product = dyn_cast<arith::MulFOp>(op)) {
      // Of zero and what is finite.
      if (kindOf(product.getLhs()) == Kind::Zero || kindOf(product.getRhs()) == Kind::Zero)
        return Kind::Zero;
      auto scaled = scaledBy(product);
      return scaled && scaled->second > 0 ? kindOf(scaled->first) : Kind::Unknown;
    }
    if (isa<arith::AddFOp, arith::SubFOp>(op)) {
      Kind left = kindOf(op->getOperand(0)), right = kindOf(op->getOperand(1));
      // What is added to an infinity is finite.
      if (left == Kind::MinusInfinity || (isa<arith::AddFOp>(op) && right == Kind::MinusInfinity))
        return Kind::MinusInfinity;
      return left == right ? left : Kind::Unknown;
    }
    if (isa<arith::DivFOp, arith::NegFOp>(op))
      return kindOf(op->getOperand(0)) == Kind::Zero ? Kind::Zero : Kind::Unknown;
    return Kind::Unknown;
  }

  std::function<bool(Value)> isHidden;
  llvm::DenseMap<Value, Kind> kinds;
};

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

class ChainMatcher {
public:
  ChainMatcher(FuncOp func, const Axes &axes, const zyx::target::CopyFacts &copies)
      : func(func), axes(axes), copies(copies) {}

  std::optional<TensorChain> match(std::string &reason) {
    const bool isSum = isTotal(func);
    const char *why = isSum ? findTotal() : findDots();
    why = why ? why : matchInner();
    if (isSum) {
      why = why ? why : matchTotal();
    } else {
      why = why ? why : matchOuter();
      why = why ? why : matchBetween();
    }
    if (!why)
      return std::move(found);
    reason = why;
    return std::nullopt;
  }

private:
  const char *findDots();
  const char *matchInner();
  const char *matchOuter();
  const char *matchRight(TensorChain::Outer &outer, DotOp dot);
  const char *matchLeft(TensorChain::Outer &outer);
  const char *matchBetween();
  const char *findTotal();
  const char *matchTotal();
  const char *matchStore(TensorChain::Outer &outer);
  size_t countInner(Value factor);
  std::optional<TensorOperand> operandOf(Value tile, Axis rows, Axis features) {
    auto load = tile.getDefiningOp<LoadOp>();
    return matchOperand(load.getView(), load.getIndices(), tile, rows, features, axes, copies);
  }
  SmallVector<Axis> batchesOf(Value tile) {
    SmallVector<Axis> all = axes.of(tile);
    return llvm::to_vector(
        llvm::make_filter_range(ArrayRef(all).drop_back(2), [&](Axis axis) { return axes.extent(axis) > 1; }));
  }

  FuncOp func;
  const Axes &axes;
  const zyx::target::CopyFacts &copies;
  TensorChain found;
  SmallVector<StoreOp> stores;
  Type element;
};

} // namespace

/// The computed factor of an outer product, and the one that is read.
static std::pair<Value, Value> factorsOf(DotOp dot, bool isTransposed) {
  std::pair<Value, Value> factors(dot.getLhs(), dot.getRhs());
  if (isTransposed)
    std::swap(factors.first, factors.second);
  return factors;
}

/// Products of one computed factor that are added up are one product.
static void joinSums(std::vector<TensorChain::Outer> &all) {
  auto findPartner = [&](TensorChain::Outer &outer) -> TensorChain::Outer * {
    auto added = outer.sum.hasOneUse() ? dyn_cast<arith::AddFOp>(*outer.sum.user_begin()) : arith::AddFOp();
    for (TensorChain::Outer &other : all)
      if (added && &other != &outer && other.isTransposed == outer.isTransposed && other.sum.hasOneUse() &&
          *other.sum.user_begin() == added &&
          factorsOf(other.dot, other.isTransposed).first == factorsOf(outer.dot, outer.isTransposed).first)
        return &other;
    return nullptr;
  };
  for (size_t i = 0; i < all.size();) {
    TensorChain::Outer *other = findPartner(all[i]);
    if (!other) {
      ++i;
      continue;
    }
    all[i].more.push_back(other->dot);
    all[i].more.append(other->more);
    all[i].sum = (*all[i].sum.user_begin())->getResult(0);
    all.erase(all.begin() + (other - all.data()));
    i = 0;
  }
}

/// Which dots are inner and which are outer, and the axes of both.
const char *ChainMatcher::findDots() {
  for (Operation &op : func.getBody().front()) {
    if (isa<ReduceOp, GatherOp>(op) || op.getNumRegions() != 0)
      return "there is more than a chain of products";
    if (auto store = dyn_cast<StoreOp>(op))
      stores.push_back(store);
    auto dot = dyn_cast<DotOp>(op);
    if (!dot)
      continue;
    if (!elementOf(dot.getResult()).isF32() || !isZero(dot.getAcc()))
      return "sums are not in f32, from zero on";
    const bool isLeft = isPlainLoad(dot.getLhs()), isRight = isPlainLoad(dot.getRhs());
    if (isLeft && isRight)
      found.inner.emplace_back().dot = dot;
    else if (isLeft || isRight) {
      TensorChain::Outer &outer = found.outer.emplace_back();
      outer.dot = dot;
      outer.sum = dot.getResult();
      outer.isTransposed = isLeft;
    } else
      return "products are not of what is read, or of what is computed with what is read";
  }
  joinSums(found.outer);
  if (found.inner.empty() || found.outer.empty() || found.outer.size() > found.inner.size() ||
      stores.size() != found.outer.size())
    return "there is not a result for each product of what is computed, and an inner product for each of these";
  TensorChain::Outer &first = found.outer.front();
  SmallVector<Axis> weights = axes.of(first.isTransposed ? first.dot.getRhs() : first.dot.getLhs());
  found.rows = weights[weights.size() - 2];
  found.streamed = weights.back();
  if (first.isTransposed)
    std::swap(found.rows, found.streamed);
  found.batches = batchesOf(found.inner.front().dot.getResult());
  element = elementOf(found.inner.front().dot.getLhs());
  if (!is16Bit(element))
    return "factors are not of one 16-bit type";
  return nullptr;
}

static const char *const noTotal =
    "it is no sum over batches, with one result, of what is computed of products element by element";

/// The products of a sum over batches, and the axes of both.
const char *ChainMatcher::findTotal() {
  TensorChain::Total &total = found.total.emplace();
  for (Operation &op : func.getBody().front()) {
    if (isa<GatherOp>(op) || op.getNumRegions() != 0)
      return noTotal;
    if (auto store = dyn_cast<StoreOp>(op))
      stores.push_back(store);
    if (auto sum = dyn_cast<ReduceOp>(op))
      total.sum = sum;
    if (auto dot = dyn_cast<DotOp>(op)) {
      if (!elementOf(dot.getResult()).isF32() || !isZero(dot.getAcc()))
        return "sums are not in f32, from zero on";
      found.inner.emplace_back().dot = dot;
    }
  }
  if (stores.size() != 1)
    return noTotal;
  total.store = stores.front();
  total.term = total.sum.getInput();
  SmallVector<Axis> all = axes.of(total.term);
  found.rows = all[all.size() - 2];
  found.streamed = all.back();
  found.batches = batchesOf(found.inner.front().dot.getResult());
  for (Axis axis : found.batches)
    if (!axes.contains(total.sum.getResult(), axis))
      total.walked.push_back(axis);
  element = elementOf(found.inner.front().dot.getLhs());
  if (!is16Bit(element))
    return "factors are not of one 16-bit type";
  if (total.walked.empty())
    return noTotal;
  return nullptr;
}

/// What a sum over batches adds up, and what is made of it.
const char *ChainMatcher::matchTotal() {
  TensorChain::Total &total = *found.total;
  auto isWalked = [&](Axis axis) { return llvm::is_contained(total.walked, axis); };
  llvm::SetVector<Value> ofTile, ofBatch;
  ElementwiseSlice terms{
      axes,
      {found.rows, found.streamed},
      {},
      [&](Value value) { return elementOf(value).isInteger(1) && matchBound(value, found.rows, found.streamed, axes); },
      [&](Value value) {
        auto load = value.getDefiningOp<LoadOp>();
        if (!load || !isPlainLoad(value) || !stridesOf(load.getView(), load.getIndices(), value, axes))
          return false;
        (llvm::any_of(axes.of(value), isWalked) ? ofBatch : ofTile).insert(value);
        return true;
      },
      [&](Value value) { return isPlaceOf(value, found.rows, found.streamed, axes); }};
  terms.own.append(found.batches);
  for (TensorChain::Inner &inner : found.inner)
    terms.known.push_back(inner.dot.getResult());
  if (!terms.check(total.term))
    return noTotal;
  ElementwiseSlice behind{axes,
                          {found.rows, found.streamed},
                          {total.sum.getResult()},
                          [](Value) { return false; },
                          [](Value) { return false; }};
  llvm::copy_if(found.batches, std::back_inserter(behind.own), [&](Axis axis) { return !isWalked(axis); });
  StoreOp store = total.store;
  auto strides =
      store.getMask() ? std::nullopt : stridesOf(store.getView(), store.getIndices(), store.getValue(), axes);
  // Who shares a place would write it, too.
  auto isOwn = [&](Axis axis) { return axes.extent(axis) == 1 || strides->of(axis) != 0; };
  if (!behind.check(store.getValue()) || !strides || !llvm::all_of(behind.own, isOwn))
    return noTotal;
  total.ofTile = ofTile.takeVector();
  total.ofBatch = ofBatch.takeVector();
  return nullptr;
}

const char *ChainMatcher::matchInner() {
  for (TensorChain::Inner &inner : found.inner) {
    SmallVector<Axis> result = axes.of(inner.dot.getResult());
    const bool isTransposed = result.back() == found.rows;
    Value own = inner.dot.getLhs(), other = inner.dot.getRhs();
    const Axis features = axes.of(own).back();
    if (isTransposed)
      std::swap(own, other);
    SmallVector<Axis> wanted = {found.rows, found.streamed};
    if (isTransposed)
      std::swap(wanted[0], wanted[1]);
    if (ArrayRef(result).take_back(2) != ArrayRef(wanted) || found.rows == found.streamed ||
        batchesOf(inner.dot.getResult()) != found.batches)
      return "its products do not have the same rows and columns";
    if (elementOf(own) != element || elementOf(other) != element)
      return "factors are not of one 16-bit type";
    inner.depth = axes.extent(features);
    if (inner.depth > mostFeatures)
      return "there are more than 256 features";
    auto ofRows = operandOf(own, found.rows, features), ofOthers = operandOf(other, found.streamed, features);
    if (!ofRows || !ofOthers)
      return "factors do not lie on multiples of 16 bytes, features side by side";
    inner.own = *ofRows;
    inner.other = *ofOthers;
  }
  return nullptr;
}

const char *ChainMatcher::matchStore(TensorChain::Outer &outer) {
  ElementwiseSlice behind{
      axes, {found.rows, outer.columns}, {outer.sum}, [](Value) { return false; }, [](Value) { return false; }};
  behind.own.append(found.batches);
  for (StoreOp store : stores) {
    if (!behind.check(store.getValue()))
      continue;
    if (elementOf(store.getValue()).isF32()) {
      auto strides =
          store.getMask() ? std::nullopt : stridesOf(store.getView(), store.getIndices(), store.getValue(), axes);
      // Who shares a place would write it, too.
      auto isOwn = [&](Axis axis) { return axes.extent(axis) == 1 || strides->of(axis) != 0; };
      if (!strides || !isOwn(found.rows) || !isOwn(outer.columns) || !llvm::all_of(found.batches, isOwn))
        return "results in f32 are stored through more than strides";
      outer.store = store;
      outer.isWide = true;
      return nullptr;
    }
    auto result = store.getMask() ? std::nullopt
                                  : matchOperand(store.getView(), store.getIndices(), store.getValue(), found.rows,
                                                 outer.columns, axes, copies);
    int64_t places = 1, programs = 1;
    if (result)
      for (const AxisPart &part : result->batches)
        places *= part.extent;
    for (Axis axis : found.batches)
      programs *= axes.extent(axis);
    // Programs that share a place in the result would all write it.
    if (!result || places != programs || elementOf(store.getValue()) != element)
      return "results do not lie on multiples of 16 bytes, features side by side, in the type of the factors";
    outer.store = store;
    outer.result = *result;
    return nullptr;
  }
  return "results are not computed element by element of one sum each";
}

/// What is read for an outer product.
const char *ChainMatcher::matchRight(TensorChain::Outer &outer, DotOp dot) {
  auto [left, read] = factorsOf(dot, outer.isTransposed);
  SmallVector<Axis> factor = axes.of(left), result = axes.of(dot.getResult());
  if (outer.isTransposed) {
    std::swap(factor[factor.size() - 2], factor.back());
    std::swap(result[result.size() - 2], result.back());
  }
  if (outer.others.empty())
    outer.columns = result.back();
  if (factor.back() != found.streamed || factor[factor.size() - 2] != found.rows || outer.columns == found.rows ||
      result.back() != outer.columns || result[result.size() - 2] != found.rows ||
      batchesOf(dot.getResult()) != found.batches)
    return "its products do not have the same rows and columns";
  if (outer.others.empty())
    outer.element = elementOf(read);
  if (!is16Bit(outer.element) || elementOf(read) != outer.element)
    return "factors are not of one 16-bit type";
  auto other = operandOf(read, found.streamed, outer.columns);
  if (!other)
    return "factors do not lie on multiples of 16 bytes, features side by side";
  outer.others.push_back(*other);
  return nullptr;
}

/// What is computed for one.
const char *ChainMatcher::matchLeft(TensorChain::Outer &outer) {
  outer.factor = factorsOf(outer.dot, outer.isTransposed).first;
  // Tensor cores take it in the type of the other factor anyway, and a number may as well scale the sum: of the
  // weights of an attention, and not where it is rounded to f16 behind it. Other factors, and their sums, need not be
  // finite without it.
  const bool isOfAttention = isOfWeights(outer.factor);
  bool mayScale = isOfAttention, isRounded = elementOf(outer.factor) == outer.element;
  while (Operation *op = outer.factor.getDefiningOp()) {
    auto scaled = isa<arith::MulFOp>(op) ? scaledBy(cast<arith::MulFOp>(op)) : std::nullopt;
    mayScale &= !(isa<arith::TruncFOp>(op) && outer.element.isF16());
    if (scaled && elementOf(outer.factor).isF32() && mayScale) {
      outer.weight *= scaled->second;
      outer.factor = scaled->first;
    } else if (isa<arith::ExtFOp>(op) || (isa<arith::TruncFOp>(op) && elementOf(outer.factor) == outer.element)) {
      outer.factor = op->getOperand(0);
    } else {
      break;
    }
    isRounded |= elementOf(outer.factor) == outer.element;
  }
  if (isRounded || isOfAttention) {
    // Other types have digits, or numbers, that this one lacks.
    return isRounded || outer.element == element ? nullptr : "factors are not of one 16-bit type";
  }
  if (!outer.element.isBF16())
    return "what is multiplied has more digits than the other factor, and numbers that its type lacks";
  if (axes.extent(found.streamed) < zyx::target::fits::groupProducts::fewestTermsOfParts)
    return "what is multiplied has more digits than the other factor, and sums of so few terms show them";
  outer.parts = 2;
  return nullptr;
}

const char *ChainMatcher::matchOuter() {
  int64_t columns = 0;
  for (TensorChain::Outer &outer : found.outer) {
    if (const char *why = matchRight(outer, outer.dot))
      return why;
    for (DotOp dot : outer.more)
      if (const char *why = matchRight(outer, dot))
        return why;
    outer.width = axes.extent(outer.columns);
    columns += outer.width;
    if (columns > mostColumns)
      return "results have more than 256 columns together";
    if (const char *why = matchLeft(outer))
      return why;
    if (const char *why = matchStore(outer))
      return why;
  }
  return nullptr;
}

/// The inner products that a factor is computed from.
size_t ChainMatcher::countInner(Value factor) {
  llvm::SetVector<Value> values;
  values.insert(factor);
  size_t count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (isa<DotOp>(op))
      ++count;
    else if (!isa<LoadOp>(op))
      values.insert(op->operand_begin(), op->operand_end());
  }
  return count;
}

const char *ChainMatcher::matchBetween() {
  SmallVector<Value> conditions;
  llvm::SetVector<Value> ofRows;
  found.hides = llvm::all_of(found.outer, [](const TensorChain::Outer &outer) { return isOfWeights(outer.factor); });
  for (TensorChain::Outer &outer : found.outer) {
    ElementwiseSlice slice{
        axes,
        {found.rows, found.streamed},
        {},
        [&](Value value) {
          bool isOne = elementOf(value).isInteger(1) && matchBound(value, found.rows, found.streamed, axes);
          if (isOne)
            conditions.push_back(value);
          return isOne;
        },
        [&](Value value) {
          auto load = value.getDefiningOp<LoadOp>();
          bool isOne = load && isPlainLoad(value) && stridesOf(load.getView(), load.getIndices(), value, axes);
          if (isOne && !axes.contains(value, found.streamed))
            ofRows.insert(value);
          return isOne;
        },
        [&](Value value) { return isPlaceOf(value, found.rows, found.streamed, axes); }};
    slice.own.append(found.batches);
    for (TensorChain::Inner &inner : found.inner)
      slice.known.push_back(inner.dot.getResult());
    if (!slice.check(outer.factor))
      return "what is multiplied is not computed element by element, of what lies along rows and columns";
  }
  llvm::sort(found.outer, [&](const TensorChain::Outer &a, const TensorChain::Outer &b) {
    size_t needed = countInner(a.factor), others = countInner(b.factor);
    return needed == others ? a.dot->isBeforeInBlock(b.dot) : needed < others;
  });
  found.ofRows = ofRows.takeVector();
  for (Value condition : conditions) {
    TensorBound bound = *matchBound(condition, found.rows, found.streamed, axes);
    if (llvm::is_contained(found.bounds, bound))
      continue;
    found.bounds.push_back(bound);
    std::optional<TensorBound> &limit = bound.factor < 0 ? found.end : found.begin;
    Outside outside(found, bound, axes);
    if (!limit && bound.ofQuery != 0 && (!found.hides || llvm::all_of(found.outer, [&](TensorChain::Outer &outer) {
          return outside.isZero(outer.factor);
        })))
      limit = bound;
  }
  if (!found.hides)
    return nullptr;
  for (auto select : func.getBody().front().getOps<arith::SelectOp>()) {
    std::optional<SmallVector<TensorBound>> bounds =
        isZero(select.getFalseValue()) ? matchBounds(select.getCondition(), found.rows, found.streamed, axes)
                                       : std::nullopt;
    if (bounds && llvm::all_of(*bounds, [&](const TensorBound &bound) {
          return Outside(found, bound, axes).isZero(select.getTrueValue());
        }))
      found.idle.insert(select.getResult());
  }
  return nullptr;
}

bool zyx::kernel::isZeroWhereFalse(const TensorChain &chain, Value condition) {
  Outside outside([&](Value value) { return value == condition; });
  return chain.hides &&
         llvm::all_of(chain.outer, [&](const TensorChain::Outer &outer) { return outside.isZero(outer.factor); });
}

std::optional<TensorChain> zyx::kernel::matchTensorChain(FuncOp func, const Axes &axes,
                                                         const target::TargetInfo &machine, std::string &reason) {
  return ChainMatcher(func, axes, machine.copies).match(reason);
}
