//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "RecomputeWeights.h"
#include "FuseAttention.h"
#include "GroupRules.h"
#include "NormalizeViews.h"
#include "WeightAlgebra.h"

#include "zyx/Base/Debug.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

#include <cmath>

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Status;
using zyx::fusion::GroupGraph;
using zyx::fusion::isWidening;
using zyx::fusion::RecomputedSums;
using zyx::fusion::WeightAlgebra;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static Type elementOf(Value value) { return typeOf(value).getElementType(); }

/// The bits of the elements that a factor of a product has in memory.
static unsigned storedBits(Value factor) {
  while (isView(factor.getDefiningOp()) || isWidening(factor.getDefiningOp()))
    factor = factor.getDefiningOp()->getOperand(0);
  return elementOf(factor).getIntOrFloatBitWidth();
}

static std::optional<double> splatOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant || !constant.getValue().isSplat() || !isa<FloatType>(elementOf(value)))
    return std::nullopt;
  return constant.getValue().getSplatValue<APFloat>().convertToDouble();
}

//===----------------------------------------------------------------------===//
// Who reads weights
//===----------------------------------------------------------------------===//

namespace {

/// What hangs on the weights of one attention, beside the attention.
class WeightReaders {
public:
  explicit WeightReaders(Attention &attention) : attention(attention), algebra(attention) {}

  /// Why the readers are none that can compute the weights again; success where they can, or where there
  /// are none.
  Status find();

  Attention &attention;
  WeightAlgebra algebra;
  /// Weights and gradients of scores that are read from outside of the algebra.
  llvm::SetVector<Value> starts;
  /// What is computed from those, up to products that are summed up.
  llvm::SetVector<Value> behind;
  /// Sums along the keys, and along the queries.
  SmallVector<ReduceOp> sumsOfKeys, sumsOfQueries;

private:
  Status findStarts();
  Status follow(Value value, Operation *reader);
  Status followView(Value value, Operation *view);
  Status addBehind(Value value, SmallVector<int64_t> dims);
  Status addSum(ReduceOp reduce);

  /// The dimension of the scores that each dimension of a value in `behind` is, -1 for others.
  llvm::DenseMap<Value, SmallVector<int64_t>> labels;
  std::optional<int64_t> queries;
};

} // namespace

Status WeightReaders::findStarts() {
  llvm::SetVector<Value> inside;
  inside.insert(attention.exp.getResult());
  for (size_t i = 0; i < inside.size(); ++i) {
    Value value = inside[i];
    for (Operation *user : value.getUsers()) {
      if (isa<NodeOpInterface>(user) && user->getNumResults() == 1 && algebra.get(user->getResult(0)))
        inside.insert(user->getResult(0));
      else if (!algebra.isOfSums(value))
        starts.insert(value);
    }
  }
  for (Value value : starts)
    if (!algebra.hasShapeOfScores(value) || (!algebra.getWeights(value) && !algebra.getScoreGradient(value)))
      return Status::unsupported("what is read is neither a weight nor the gradient of a score");
  return Status::ok();
}

Status WeightReaders::addBehind(Value value, SmallVector<int64_t> dims) {
  auto [known, isNew] = labels.try_emplace(value, dims);
  if (!isNew && known->second != dims)
    return Status::unsupported("it reads one weight at two places");
  behind.insert(value);
  return Status::ok();
}

Status WeightReaders::followView(Value value, Operation *view) {
  auto dims = getOperandDims(view);
  if (!dims)
    return Status::unsupported("a view of its weights changes more than their axes");
  // By reference it would move when a value is added.
  const SmallVector<int64_t> from = labels.lookup(value);
  SmallVector<int64_t> to;
  for (std::optional<int64_t> dim : *dims)
    to.push_back(dim ? from[*dim] : -1);
  return addBehind(view->getResult(0), to);
}

/// A sum of products of weights with something else, along the keys or the queries.
Status WeightReaders::addSum(ReduceOp reduce) {
  if (reduce == attention.output)
    return Status::ok();
  auto product = reduce.getX().getDefiningOp<BinaryOp>();
  const bool isSum = reduce.getKind() == ReduceKind::Add && reduce.getDims().size() == 1 && product &&
                     product.getKind() == BinaryKind::Mul &&
                     behind.contains(product.getA()) != behind.contains(product.getB());
  const int64_t along = isSum ? labels.lookup(reduce.getX())[reduce.getDims().front()] : -1;
  const bool isOfKeys = along == attention.max.getDims().front();
  if (along < 0 || (!isOfKeys && queries.value_or(along) != along))
    return Status::unsupported("another reduction reads its weights than sums of products along keys or queries");
  if (!isOfKeys)
    queries = along;
  (isOfKeys ? sumsOfKeys : sumsOfQueries).push_back(reduce);
  return Status::ok();
}

Status WeightReaders::follow(Value value, Operation *reader) {
  if (starts.contains(value) && isa<NodeOpInterface>(reader) && algebra.get(reader->getResult(0)))
    return Status::ok();
  if (auto reduce = dyn_cast<ReduceOp>(reader))
    return addSum(reduce);
  if (isView(reader))
    return followView(value, reader);
  if (isElementwise(reader))
    return addBehind(reader->getResult(0), labels.lookup(value));
  return Status::unsupported("its weights are a result, or read by an op that is a kernel of its own");
}

Status WeightReaders::find() {
  if (!algebra.isUsable())
    return Status::unsupported("its product with the values has other dimensions than its weights");
  ZYX_RETURN_IF_ERROR(findStarts());
  for (Value start : starts) {
    SmallVector<int64_t> own;
    for (int64_t dim = 0, rank = typeOf(start).getRank(); dim < rank; ++dim)
      own.push_back(dim);
    ZYX_RETURN_IF_ERROR(addBehind(start, own));
  }
  for (size_t i = 0; i < behind.size(); ++i) {
    const Value value = behind[i];
    llvm::SmallSetVector<Operation *, 4> readers(value.user_begin(), value.user_end());
    for (Operation *reader : readers)
      ZYX_RETURN_IF_ERROR(follow(value, reader));
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Computing them again
//===----------------------------------------------------------------------===//

namespace {

/// Values of the rows that weights are computed again from: the logarithm of the sum of exponentials, the digits that
/// it lost when it was rounded, and the sum along the keys of each weight's share times its gradient.
struct Rows {
  Value logSum, logRest, delta;
};

/// The size from which on a logarithm's lost digits count. Of a row that is masked from end to end by a large number it
/// is that number, in which the logarithm of the number of keys vanishes.
constexpr double fewestLost = 2048;

/// Makes the kernel of some sums, with a copy of its own of everything between them and what lies in memory.
class SumCloner {
public:
  SumCloner(WeightReaders &readers, const Rows &rows, Operation *at)
      : readers(readers), rows(rows), builder(at), loc(at->getLoc()), at(at) {}

  /// The sum in place of one; null where it reads what stands behind the place of the copies.
  Value clone(ReduceOp sum);
  RecomputedSums take() { return std::move(made); }

private:
  using Copies = llvm::DenseMap<Value, Value>;

  Value multiply(Value value, double by);
  Value castTo(Type element, Value value);
  Value spread(Value row);
  Value cloneLeaf(Value value, Copies &copies);
  Value cloneFactor(Value factor);
  ReduceOp cloneProduct(ReduceOp sum);
  bool isOfScores(Value value);
  Value cloneScores(Value value);
  Value getWeights();
  Value getScoreGradient();
  Value cloneBehind(Value value, double &factor);

  WeightReaders &readers;
  const Rows &rows;
  OpBuilder builder;
  Location loc;
  Operation *at;
  RecomputedSums made;
  /// Copies of what has an element for each weight, and of masks.
  Copies copies;
  llvm::DenseMap<Value, bool> ofScores;
  /// What is behind starts, as copies without the number that they are multiplied with behind the sum.
  llvm::DenseMap<Value, std::pair<Value, double>> copiesBehind;
  Value weights, scoreGradient;
  bool failed = false;
};

} // namespace

Value SumCloner::multiply(Value value, double by) {
  if (by == 1)
    return value;
  RankedTensorType type = typeOf(value);
  auto element = builder.getFloatAttr(type.getElementType(), by);
  Value splat = ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, Attribute(element)));
  return BinaryOp::create(builder, loc, BinaryKind::Mul, value, splat);
}

Value SumCloner::castTo(Type element, Value value) {
  RankedTensorType type = typeOf(value);
  return type.getElementType() == element ? value
                                          : CastOp::create(builder, loc, type.clone(element), value).getResult();
}

/// A row's number for each of its weights.
Value SumCloner::spread(Value row) {
  RankedTensorType scores = typeOf(readers.attention.max.getX()).clone(elementOf(row));
  SmallVector<int64_t> ones(scores.getShape());
  ones[readers.attention.max.getDims().front()] = 1;
  Value kept = ReshapeOp::create(builder, loc, scores.clone(ones), row);
  return ExpandOp::create(builder, loc, scores, kept);
}

/// Whether a value is made of inputs and constants by few ops, which each kernel computes by itself.
static bool isOfInputs(Value value, int &opsLeft) {
  Operation *op = zyx::graph::ir::getViewSource(value).getDefiningOp();
  if (!op || isa<ParameterOp, ConstantOp, IotaOp>(op))
    return true;
  return isElementwise(op) && --opsLeft >= 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isOfInputs(operand, opsLeft); });
}

/// A copy of the views and of what is computed without reading more than the value itself has; what lies
/// in memory is itself.
Value SumCloner::cloneLeaf(Value value, Copies &copies) {
  if (Value known = copies.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  int opsLeft = 8;
  const bool isCopied = op && (isa<ConstantOp, IotaOp>(op) || isView(op) || isWidening(op) ||
                               (isElementwise(op) && isOfInputs(value, opsLeft)));
  if (!isCopied) {
    failed |= op && op->getBlock() == at->getBlock() && !op->isBeforeInBlock(at);
    return value;
  }
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, cloneLeaf(operand, copies));
  return copies[value] = builder.clone(*op, mapping)->getResult(0);
}

/// Each factor is read for itself: features that one product sums up may be those of another's results.
Value SumCloner::cloneFactor(Value factor) {
  Copies own;
  return cloneLeaf(factor, own);
}

ReduceOp SumCloner::cloneProduct(ReduceOp sum) {
  auto product = sum.getX().getDefiningOp<BinaryOp>();
  Value a = cloneFactor(product.getA()), b = cloneFactor(product.getB());
  Value terms = BinaryOp::create(builder, loc, BinaryKind::Mul, a, b);
  auto copy = ReduceOp::create(builder, loc, sum.getResult().getType(), sum.getKind(), terms, sum.getDims());
  made.inner.push_back(copy);
  return copy;
}

bool SumCloner::isOfScores(Value value) {
  if (value == readers.attention.scores.getResult())
    return true;
  auto [known, isNew] = ofScores.try_emplace(value, false);
  Operation *op = value.getDefiningOp();
  if (!isNew || !(isView(op) || isElementwise(op)))
    return known->second;
  bool result = llvm::any_of(op->getOperands(), [&](Value operand) { return isOfScores(operand); });
  return ofScores[value] = result;
}

Value SumCloner::cloneScores(Value value) {
  if (!isOfScores(value))
    return cloneLeaf(value, copies);
  if (Value known = copies.lookup(value))
    return known;
  if (value == readers.attention.scores.getResult())
    return copies[value] = cloneProduct(readers.attention.scores);
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, cloneScores(operand));
  return copies[value] = builder.clone(*op, mapping)->getResult(0);
}

/// exp(x - L), which is one for all that lies between the maximum and the division by the sum. What L lacks is
/// subtracted, too, where that shows.
Value SumCloner::getWeights() {
  if (weights)
    return weights;
  Value x = castTo(elementOf(rows.logSum), cloneScores(readers.attention.max.getX()));
  Value distance = BinaryOp::create(builder, loc, BinaryKind::Sub, x, spread(rows.logSum));
  auto number = [&](double value) -> Value {
    RankedTensorType type = typeOf(rows.logSum);
    auto element = builder.getFloatAttr(type.getElementType(), value);
    return ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, Attribute(element)));
  };
  Value size = UnaryOp::create(builder, loc, UnaryKind::Abs, rows.logSum);
  Value isLarge = BinaryOp::create(builder, loc, BinaryKind::Gt, size, number(fewestLost));
  Value rest = SelectOp::create(builder, loc, isLarge, rows.logRest, number(0));
  // In this kernel, which then sees when nothing is subtracted, and need not read it.
  for (Value value : {size, isLarge, rest})
    made.beside.push_back(value.getDefiningOp());
  distance = BinaryOp::create(builder, loc, BinaryKind::Sub, distance, spread(rest));
  return weights = UnaryOp::create(builder, loc, UnaryKind::Exp, distance);
}

/// P (g - d).
Value SumCloner::getScoreGradient() {
  if (scoreGradient)
    return scoreGradient;
  Value p = getWeights();
  Value g = castTo(elementOf(p), cloneProduct(readers.algebra.getGradient()));
  Value difference = BinaryOp::create(builder, loc, BinaryKind::Sub, g, spread(castTo(elementOf(p), rows.delta)));
  return scoreGradient = BinaryOp::create(builder, loc, BinaryKind::Mul, p, difference);
}

/// A copy of what hangs on the weights. It is to be multiplied with `factor` where it is summed up: a number
/// there is one operation for each result, and here it would be one for each weight.
Value SumCloner::cloneBehind(Value value, double &factor) {
  if (auto known = copiesBehind.find(value); known != copiesBehind.end()) {
    factor = known->second.second;
    return known->second.first;
  }
  Value copy;
  factor = 1;
  Operation *op = value.getDefiningOp();
  auto cloneOver = [&](Value operand) {
    IRMapping mapping;
    for (Value other : op->getOperands())
      mapping.map(other, other == operand ? cloneBehind(other, factor) : cloneScores(other));
    return builder.clone(*op, mapping)->getResult(0);
  };
  auto scale = dyn_cast<BinaryOp>(op);
  auto choice = dyn_cast<SelectOp>(op);
  if (readers.starts.contains(value)) {
    const bool isWeight = readers.algebra.getWeights(value).has_value();
    factor = isWeight ? *readers.algebra.getWeights(value) : *readers.algebra.getScoreGradient(value);
    copy = castTo(elementOf(value), isWeight ? getWeights() : getScoreGradient());
  } else if (isView(op)) {
    copy = cloneOver(op->getOperand(0));
  } else if (scale && scale.getKind() == BinaryKind::Mul && (splatOf(scale.getA()) || splatOf(scale.getB()))) {
    const bool isSecond = splatOf(scale.getB()).has_value();
    copy = cloneBehind(scale.getOperand(isSecond ? 0 : 1), factor);
    factor *= *splatOf(scale.getOperand(isSecond ? 1 : 0));
  } else if (choice && splatOf(choice.getB()) == 0 && readers.behind.contains(choice.getA())) {
    copy = cloneOver(choice.getA());
  } else if (choice && splatOf(choice.getA()) == 0 && readers.behind.contains(choice.getB())) {
    copy = cloneOver(choice.getB());
  } else {
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      double own = 1;
      // What the scores were made of, as the slope of a soft cap, is made again with them.
      Value inside = readers.behind.contains(operand) ? cloneBehind(operand, own) : cloneScores(operand);
      mapping.map(operand, multiply(inside, own));
    }
    copy = builder.clone(*op, mapping)->getResult(0);
  }
  copiesBehind[value] = {copy, factor};
  return copy;
}

Value SumCloner::clone(ReduceOp sum) {
  auto product = sum.getX().getDefiningOp<BinaryOp>();
  const bool isFirst = readers.behind.contains(product.getA());
  double factor = 1;
  Value left = cloneBehind(isFirst ? product.getA() : product.getB(), factor);
  Value right = cloneFactor(isFirst ? product.getB() : product.getA());
  Value terms = BinaryOp::create(builder, loc, BinaryKind::Mul, left, right);
  auto copy = ReduceOp::create(builder, loc, sum.getResult().getType(), sum.getKind(), terms, sum.getDims());
  made.sums.push_back(copy);
  return failed ? Value() : multiply(copy, factor);
}

//===----------------------------------------------------------------------===//
// One attention
//===----------------------------------------------------------------------===//

namespace {

class Recomputer {
public:
  Recomputer(WeightReaders &readers, int64_t bits) : readers(readers), attention(readers.attention), bits(bits) {}

  /// Appends what it makes, or makes nothing and says why.
  Status run(std::vector<RecomputedSums> &made);

private:
  Status check();
  void makeLogSum(Rows &rows);
  Value findResult(OpBuilder &builder);
  Value makeDelta(Operation *at);
  Status cloneSums(ArrayRef<ReduceOp> sums, const Rows &rows, std::vector<RecomputedSums> &made);

  WeightReaders &readers;
  Attention &attention;
  int64_t bits;
  /// What takes the place of each sum.
  llvm::MapVector<Value, Value> results;
};

} // namespace

static Operation *findFirst(ArrayRef<ReduceOp> sums) {
  Operation *first = nullptr;
  for (ReduceOp sum : sums)
    if (!first || sum->isBeforeInBlock(first))
      first = sum;
  return first;
}

Status Recomputer::check() {
  Type element = elementOf(attention.exp.getResult());
  if (!element.isF32() && !element.isF64())
    return Status::unsupported("its exponentials have too few digits to be computed from a logarithm");
  SmallVector<ReduceOp> products(readers.sumsOfKeys);
  llvm::append_range(products, readers.sumsOfQueries);
  products.push_back(attention.scores);
  if (ReduceOp gradient = readers.algebra.getGradient())
    products.push_back(gradient);
  for (ReduceOp sum : products) {
    auto product = sum.getX().getDefiningOp<BinaryOp>();
    for (Value factor : product.getOperands())
      if (!readers.behind.contains(factor) && storedBits(factor) > bits)
        return Status::unsupported("its factors have more bits than are multiplied fast");
  }
  return Status::ok();
}

/// max + log(sum), and what that loses, in the kernel of the attention.
void Recomputer::makeLogSum(Rows &rows) {
  ReduceOp sum = readers.algebra.getSum(), max = attention.max;
  OpBuilder builder(sum->getContext());
  builder.setInsertionPointAfter(max->isBeforeInBlock(sum) ? sum : max);
  Type element = elementOf(attention.exp.getResult());
  auto widen = [&](Value value) {
    RankedTensorType type = typeOf(value);
    return type.getElementType() == element
               ? value
               : CastOp::create(builder, sum.getLoc(), type.clone(element), value).getResult();
  };
  Value total = widen(sum.getResult());
  if (double number = readers.algebra.getSumNumber(); number != 1) {
    RankedTensorType type = typeOf(total);
    auto inverse = builder.getFloatAttr(element, 1 / number);
    Value splat = ConstantOp::create(builder, sum.getLoc(), type, DenseElementsAttr::get(type, Attribute(inverse)));
    total = BinaryOp::create(builder, sum.getLoc(), BinaryKind::Mul, total, splat);
  }
  Value log = UnaryOp::create(builder, sum.getLoc(), UnaryKind::Log, total);
  Value largest = widen(max.getResult());
  auto make = [&](BinaryKind kind, Value a, Value b) -> Value {
    return BinaryOp::create(builder, sum.getLoc(), kind, a, b);
  };
  rows.logSum = make(BinaryKind::Add, largest, log);
  rows.logRest = make(BinaryKind::Sub, log, make(BinaryKind::Sub, rows.logSum, largest));
}

/// The attention's last sum as it lies in memory: of narrow results, these.
Value Recomputer::findResult(OpBuilder &builder) {
  Value output = attention.output.getResult();
  Location loc = attention.output.getLoc();
  auto narrowed = [&](Value value) -> Value {
    for (Operation *user : value.getUsers())
      if (auto cast = dyn_cast<CastOp>(user);
          cast && cast->isBeforeInBlock(&*builder.getInsertionPoint()) && isa<FloatType>(elementOf(cast)) &&
          elementOf(cast).getIntOrFloatBitWidth() < elementOf(value).getIntOrFloatBitWidth())
        return cast;
    return {};
  };
  if (Value narrow = narrowed(output))
    return CastOp::create(builder, loc, output.getType(), narrow);
  // In the order in which a product behind the attention reads them.
  for (Operation *user : output.getUsers()) {
    auto permute = dyn_cast<PermuteOp>(user);
    Value narrow = permute ? narrowed(permute) : Value();
    if (!narrow)
      continue;
    SmallVector<int64_t> inverse(permute.getOrder().size());
    for (auto [index, dim] : llvm::enumerate(permute.getOrder()))
      inverse[dim] = index;
    Value wide = CastOp::create(builder, loc, permute.getResult().getType(), narrow);
    return PermuteOp::create(builder, loc, output.getType(), wide, inverse);
  }
  return output;
}

/// The sum along the keys of P g is the sum along the features of the result times what comes to it.
Value Recomputer::makeDelta(Operation *at) {
  Value seed = readers.algebra.getSeed();
  auto expand = seed.getDefiningOp<ExpandOp>();
  const int64_t keys = attention.output.getDims().front();
  if (!expand || typeOf(expand.getX()).getDimSize(keys) != 1)
    return {};
  OpBuilder builder(at);
  Location loc = at->getLoc();
  // A copy of casts and views, which belong to this kernel then.
  Value source = expand.getX();
  SmallVector<Operation *> chain;
  while (isView(source.getDefiningOp()) || isWidening(source.getDefiningOp())) {
    chain.push_back(source.getDefiningOp());
    source = source.getDefiningOp()->getOperand(0);
  }
  Operation *producer = source.getDefiningOp();
  if (producer && producer->getBlock() == at->getBlock() && !producer->isBeforeInBlock(at))
    return {};
  IRMapping mapping;
  for (Operation *op : llvm::reverse(chain)) {
    for (Value operand : op->getOperands().drop_front())
      if (Operation *other = operand.getDefiningOp(); other && !other->isBeforeInBlock(at))
        return {};
    builder.clone(*op, mapping);
  }
  Value given = mapping.lookupOrDefault(expand.getX());
  Value result = findResult(builder);
  RankedTensorType type = typeOf(result), sums = typeOf(given);
  SmallVector<int64_t> shape(sums.getShape());
  shape.erase(shape.begin() + keys);
  given = ReshapeOp::create(builder, loc, sums.clone(shape), given);
  if (ArrayRef(shape) != type.getShape())
    given = ExpandOp::create(builder, loc, sums.clone(type.getShape()), given);
  if (type.getElementType() != sums.getElementType())
    result = CastOp::create(builder, loc, type.clone(sums.getElementType()), result);
  int64_t features = readers.algebra.getGradient().getDims().front();
  features -= features > keys ? 1 : 0;
  Value terms = BinaryOp::create(builder, loc, BinaryKind::Mul, given, result);
  SmallVector<int64_t> rows(type.getShape());
  rows.erase(rows.begin() + features);
  return ReduceOp::create(builder, loc, sums.clone(rows), ReduceKind::Add, terms, ArrayRef(features));
}

/// Whether the ops from one to another, without the latter, are one kernel.
static Status checkKernel(Operation *begin, Operation *end, const RecomputedSums &made) {
  IterationSpace::Ops ops;
  for (Operation *op = begin; op != end; op = op->getNextNode())
    if (!isView(op) && !isa<ConstantOp, IotaOp>(op))
      ops.insert(op);
  // A number behind a sum is another op of the kernel.
  SmallVector<Value> outputs;
  for (ReduceOp sum : made.sums)
    outputs.push_back(sum.getResult());
  return zyx::fusion::checkGroup(ops, outputs, /*mayBeChain=*/true);
}

Status Recomputer::cloneSums(ArrayRef<ReduceOp> sums, const Rows &rows, std::vector<RecomputedSums> &made) {
  if (sums.empty())
    return Status::ok();
  Operation *at = findFirst(sums), *before = at->getPrevNode();
  SumCloner cloner(readers, rows, at);
  Status status = Status::ok();
  llvm::MapVector<Value, Value> copies;
  for (ReduceOp sum : sums) {
    copies[sum.getResult()] = cloner.clone(sum);
    if (!copies[sum.getResult()])
      status = Status::unsupported("what its weights are multiplied with is not known where they are computed again");
  }
  RecomputedSums all = cloner.take();
  if (status.isOk())
    status = checkKernel(before->getNextNode(), at, all);
  if (!status.isOk()) {
    while (at->getPrevNode() != before)
      at->getPrevNode()->erase();
    return status;
  }
  made.push_back(std::move(all));
  for (auto [sum, copy] : copies)
    results[sum] = copy;
  return Status::ok();
}

Status Recomputer::run(std::vector<RecomputedSums> &made) {
  ZYX_RETURN_IF_ERROR(check());
  SmallVector<ReduceOp> all(readers.sumsOfKeys);
  llvm::append_range(all, readers.sumsOfQueries);
  Rows rows;
  const bool hasGradients =
      llvm::any_of(readers.starts, [&](Value start) { return readers.algebra.getScoreGradient(start).has_value(); });
  if (hasGradients && !(rows.delta = makeDelta(findFirst(all))))
    return Status::unsupported("what its weights are multiplied with is not known where they are computed again");
  makeLogSum(rows);
  std::vector<RecomputedSums> kernels;
  for (ArrayRef<ReduceOp> sums : {ArrayRef(readers.sumsOfQueries), ArrayRef(readers.sumsOfKeys)})
    ZYX_RETURN_IF_ERROR(cloneSums(sums, rows, kernels));
  for (auto [sum, copy] : results)
    sum.replaceAllUsesWith(copy);
  for (RecomputedSums &kernel : kernels)
    made.push_back(std::move(kernel));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// All attentions
//===----------------------------------------------------------------------===//

std::vector<RecomputedSums> zyx::fusion::recomputeWeights(Block &block, int64_t bits) {
  std::vector<RecomputedSums> made;
  SmallVector<Attention> attentions;
  for (auto reduce : block.getOps<ReduceOp>())
    if (std::optional<Attention> found = matchAttention(reduce))
      attentions.push_back(std::move(*found));
  for (Attention &attention : attentions) {
    // The last sum of one may be a sum that another has computed again.
    if (attention.output->use_empty() || isPrivate(attention))
      continue;
    WeightReaders readers(attention);
    Status status = readers.find();
    if (status.isOk() && readers.sumsOfKeys.empty() && readers.sumsOfQueries.empty())
      continue;
    if (status.isOk())
      status = Recomputer(readers, bits).run(made);
    if (status.isOk())
      continue;
    ZYX_DEBUG(Fusion, "weights of an attention stay in memory: " + status.message());
    remark::missed(attention.output.getLoc(), remark::RemarkOpts::name("RecomputeWeights").category("zyx-fusion"))
        << ("weights of an attention stay in memory: " + status.message());
  }
  eraseUnused(block);
  return made;
}

void zyx::fusion::mergeRecomputed(GroupGraph &graph, ArrayRef<RecomputedSums> all) {
  for (const RecomputedSums &kernel : all) {
    SmallVector<Operation *> products, sums(kernel.sums.begin(), kernel.sums.end());
    for (ReduceOp inner : kernel.inner)
      products.push_back(inner.getX().getDefiningOp());
    SmallVector<Operation *> members = graph.getWays(products, sums);
    llvm::append_range(members, kernel.beside);
    Status merged = graph.mergeWalked(members);
    if (!merged.isOk())
      ZYX_DEBUG(Fusion, "weights that are computed again are several kernels: " + merged.message());
  }
}
