//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "WeightAlgebra.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"

#include "llvm/Support/SaveAndRestore.h"

#include <cmath>

using namespace mlir;
using namespace zyx::graph::ir;
using namespace zyx::fusion;

/// Gradients of a softmax have two terms; what has many is something else.
static constexpr size_t mostTerms = 8;
/// As many values behind each other: a few ops, with their views.
static constexpr int mostSteps = 256;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
static bool hasFloats(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

static void addTerm(Polynomial &to, const Term &term) {
  for (Term &known : to)
    if (known.hasPowersOf(term)) {
      known.number += term.number;
      return;
    }
  to.push_back(term);
}

static Polynomial add(const Polynomial &a, const Polynomial &b, double sign) {
  Polynomial result = a;
  for (Term term : b) {
    term.number *= sign;
    addTerm(result, term);
  }
  llvm::erase_if(result, [](const Term &term) { return term.number == 0; });
  return result;
}

static Polynomial multiply(const Polynomial &a, const Polynomial &b) {
  Polynomial result;
  for (const Term &x : a)
    for (const Term &y : b)
      addTerm(result, {x.number * y.number, x.exp + y.exp, x.sum + y.sum, x.others + y.others, x.gradient + y.gradient,
                       x.delta + y.delta});
  llvm::erase_if(result, [](const Term &term) { return term.number == 0; });
  return result;
}

/// One over a number or a power of the sum; of anything else it is none.
static std::optional<Polynomial> invert(const Polynomial &a) {
  if (a.size() != 1 || !a[0].hasPowersOf({.sum = a[0].sum}))
    return std::nullopt;
  return Polynomial{{.number = 1 / a[0].number, .sum = -a[0].sum}};
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

bool zyx::fusion::areAlike(Value a, Value b) {
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return x && y && (isView(x) || isa<CastOp>(x)) && a.getType() == b.getType() && x->getName() == y->getName() &&
         x->getNumOperands() == 1 && y->getNumOperands() == 1 && x->getAttrDictionary() == y->getAttrDictionary() &&
         areAlike(x->getOperand(0), y->getOperand(0));
}

WeightAlgebra::WeightAlgebra(Attention &attention, const Sinks *sinks)
    : attention(attention), sinks(sinks), shape(shapeOf(attention.max.getX())), keys(attention.max.getDims().front()) {
  OpOperand &weights = *attention.weights.front();
  auto product = cast<BinaryOp>(weights.getOwner());
  values = product.getOperand(1 - weights.getOperandNumber());
  // The product has the dimensions of the scores, and one more for the features.
  std::optional<SmallVector<std::optional<int64_t>>> dims = getSourceDims(weights.get());
  if (!dims || dims->size() != shape.size() + 1)
    return;
  size_t next = 0;
  bool found = false;
  for (auto [dim, source] : llvm::enumerate(*dims)) {
    const int64_t extent = shapeOf(weights.get())[dim];
    const bool isNext = source == static_cast<int64_t>(next) || (extent == 1 && !source);
    if (next < shape.size() && extent == shape[next] && isNext)
      ++next;
    else if (!found && !source)
      features = dim, found = true;
    else
      return;
  }
  usable =
      found && hasShapeOfScores(getViewSource(weights.get())) && (*dims)[attention.output.getDims().front()] == keys;
  if (!sinks)
    return;
  sum = BinaryOp(sinks->sum).getResult();
  Value others = sinks->others;
  known[others] = Polynomial{{.others = 1}};
  while (isIndexMap(others.getDefiningOp()) && keepsLabels(others.getDefiningOp()))
    known[others = others.getDefiningOp()->getOperand(0)] = Polynomial{{.others = 1}};
}

/// The dimension of the scores that each dimension of a value is; none where its shape is another.
std::optional<SmallVector<int64_t>> WeightAlgebra::labelsOf(Value value) const {
  ArrayRef<int64_t> given = shapeOf(value);
  const bool lacksKeys = given.size() + 1 == shape.size();
  if (!lacksKeys && given.size() != shape.size())
    return std::nullopt;
  SmallVector<int64_t> labels;
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
    if (!lacksKeys || dim != keys)
      labels.push_back(dim);
  for (auto [extent, label] : llvm::zip_equal(given, labels))
    if (extent != shape[label] && !(label == keys && extent == 1))
      return std::nullopt;
  return labels;
}

bool WeightAlgebra::hasShapeOfScores(Value value) const { return shapeOf(value) == shape; }

/// Whether a view repeats the keys at most, and leaves the other dimensions what they are.
bool WeightAlgebra::keepsLabels(Operation *view) const {
  auto from = labelsOf(view->getOperand(0)), to = labelsOf(view->getResult(0));
  auto dims = getOperandDims(view);
  if (!from || !to || !dims)
    return false;
  for (auto [dim, label] : llvm::enumerate(*to)) {
    if (shapeOf(view->getResult(0))[dim] == 1)
      continue;
    std::optional<int64_t> source = (*dims)[dim];
    if (source ? (*from)[*source] != label : label != keys)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value WeightAlgebra::getSeed() {
  auto product = gradient.getX().getDefiningOp<BinaryOp>();
  return areAlike(product.getA(), values) ? product.getB() : product.getA();
}

/// What is summed up along the features with the values is the gradient of the weights, if it does not
/// differ between keys.
bool WeightAlgebra::isGradient(ReduceOp reduce) const {
  auto product = reduce.getX().getDefiningOp<BinaryOp>();
  if (reduce.getKind() != ReduceKind::Add || reduce.getDims() != ArrayRef(features) || !product ||
      product.getKind() != BinaryKind::Mul || shapeOf(reduce.getX()) != shapeOf(attention.output.getX()))
    return false;
  const bool isFirst = areAlike(product.getA(), values);
  if (!isFirst && !areAlike(product.getB(), values))
    return false;
  return getRepeatedDims(isFirst ? product.getB() : product.getA())[attention.output.getDims().front()];
}

const Polynomial *WeightAlgebra::get(Value value) {
  auto found = known.find(value);
  if (found == known.end()) {
    llvm::SaveAndRestore deeper(depth, depth + 1);
    std::optional<Polynomial> computed = depth <= mostSteps ? compute(value) : std::nullopt;
    if (computed && computed->size() > mostTerms)
      computed = std::nullopt;
    found = known.insert({value, std::move(computed)}).first;
  }
  return found->second ? &*found->second : nullptr;
}

std::optional<Polynomial> WeightAlgebra::compute(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !hasFloats(value) || !labelsOf(value))
    return std::nullopt;
  auto copyOf = [&](Value operand) {
    const Polynomial *known = get(operand);
    return known ? std::optional(*known) : std::nullopt;
  };
  if (op == attention.exp)
    return Polynomial{{.exp = 1}};
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    if (!constant.getValue().isSplat())
      return std::nullopt;
    const double number = constant.getValue().getSplatValue<APFloat>().convertToDouble();
    if (number == 0)
      return Polynomial();
    return std::isfinite(number) ? std::optional(Polynomial{{.number = number}}) : std::nullopt;
  }
  if (isView(op))
    return isIndexMap(op) && keepsLabels(op) ? copyOf(op->getOperand(0)) : std::nullopt;
  if (auto cast = dyn_cast<CastOp>(op))
    return copyOf(cast.getX());
  if (auto binary = dyn_cast<BinaryOp>(op))
    return computeBinary(binary);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return computeReduce(reduce);
  if (auto select = dyn_cast<SelectOp>(op)) {
    const bool isZero = llvm::all_of(ValueRange{select.getA(), select.getB()}, [&](Value side) {
      const Polynomial *known = get(side);
      return known && known->empty();
    });
    return isZero ? std::optional(Polynomial()) : std::nullopt;
  }
  auto unary = dyn_cast<UnaryOp>(op);
  std::optional<Polynomial> x = unary ? copyOf(unary.getX()) : std::nullopt;
  if (!x)
    return std::nullopt;
  switch (unary.getKind()) {
  case UnaryKind::Neg:
    return add({}, *x, -1);
  case UnaryKind::Recip:
    return invert(*x);
  default:
    return std::nullopt;
  }
}

std::optional<Polynomial> WeightAlgebra::computeBinary(BinaryOp op) {
  const BinaryKind kind = op.getKind();
  if (kind != BinaryKind::Add && kind != BinaryKind::Sub && kind != BinaryKind::Mul && kind != BinaryKind::Div)
    return std::nullopt;
  const Polynomial *left = get(op.getA());
  // As what comes through the largest score is, whatever it is shared by.
  if (left && left->empty() && (kind == BinaryKind::Mul || kind == BinaryKind::Div))
    return Polynomial();
  if (!left)
    return std::nullopt;
  // Asking for the other one may move the first.
  const Polynomial a = *left;
  const Polynomial *b = get(op.getB());
  if (!b)
    return std::nullopt;
  if (kind == BinaryKind::Add || kind == BinaryKind::Sub)
    return add(a, *b, kind == BinaryKind::Add ? 1 : -1);
  if (kind == BinaryKind::Mul)
    return multiply(a, *b);
  std::optional<Polynomial> inverse = invert(*b);
  return inverse ? std::optional(multiply(a, *inverse)) : std::nullopt;
}

std::optional<Polynomial> WeightAlgebra::computeReduce(ReduceOp op) {
  if (usable && isGradient(op)) {
    // Of two spellings of it only one is taken.
    if (gradient && gradient != op)
      return std::nullopt;
    gradient = op;
    return Polynomial{{.gradient = 1}};
  }
  if (op.getKind() != ReduceKind::Add || op.getDims() != ArrayRef(keys) || shapeOf(op.getX()) != shape)
    return std::nullopt;
  const Polynomial *terms = get(op.getX());
  if (!terms)
    return std::nullopt;
  // With fewer digits than the exponentials it would say too little of them.
  const bool isOfExponentials = terms->size() == 1 && (*terms)[0].hasPowersOf({.exp = 1});
  if (isOfExponentials && !isSumOf(op, attention.exp))
    return std::nullopt;
  Polynomial result;
  for (const Term &term : *terms) {
    // The sum of e is s, or s without o, and that of e g is s d.
    if (term.exp != 1 || term.gradient > 1)
      return std::nullopt;
    addTerm(result, {term.number, 0, term.sum + 1, term.others, 0, term.delta + term.gradient});
    if (sinks && term.gradient == 0)
      addTerm(result, {-term.number, 0, term.sum, term.others + 1, 0, term.delta});
  }
  llvm::erase_if(result, [](const Term &term) { return term.number == 0; });
  if (isOfExponentials && !sum)
    sum = op, sumNumber = result[0].number;
  return result;
}

std::optional<double> WeightAlgebra::getWeights(Value value) {
  const Polynomial *terms = get(value);
  if (!terms || terms->size() != 1 || !(*terms)[0].hasPowersOf({.exp = 1, .sum = -1}))
    return std::nullopt;
  return (*terms)[0].number;
}

std::optional<double> WeightAlgebra::getScoreGradient(Value value) {
  const Polynomial *terms = get(value);
  if (!terms || terms->size() != 2)
    return std::nullopt;
  Term first = (*terms)[0], second = (*terms)[1];
  if (first.gradient == 0)
    std::swap(first, second);
  const bool fits = first.hasPowersOf({.exp = 1, .sum = -1, .gradient = 1}) &&
                    second.hasPowersOf({.exp = 1, .sum = -1, .delta = 1}) && first.number == -second.number;
  return fits ? std::optional(first.number) : std::nullopt;
}

std::optional<Term> WeightAlgebra::getRow(Value value) {
  const Polynomial *terms = get(value);
  const bool isOfRows =
      ShapedType::getNumElements(shapeOf(value)) == ShapedType::getNumElements(shapeOf(attention.max));
  if (!isOfRows || !terms || terms->size() != 1)
    return std::nullopt;
  const Term &term = (*terms)[0];
  return term.exp == 0 && term.gradient == 0 && term.delta == 1 ? std::optional(term) : std::nullopt;
}

bool WeightAlgebra::isOfSums(Value value) {
  const Polynomial *terms = get(value);
  return terms &&
         llvm::all_of(*terms, [](const Term &term) { return term.exp == 0 && term.gradient == 0 && term.delta == 0; });
}
