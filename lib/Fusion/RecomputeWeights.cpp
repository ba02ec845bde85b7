//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "RecomputeWeights.h"
#include "Blocks.h"
#include "FuseAttention.h"
#include "GroupRules.h"
#include "NormalizeViews.h"
#include "Notes.h"
#include "SumCloner.h"
#include "WeightReaders.h"

#include "zyx/Base/Debug.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

#include <cmath>

namespace zyx::fusion {
#define GEN_PASS_DEF_RECOMPUTEWEIGHTSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Status;
using zyx::fusion::isWidening;
using zyx::fusion::makeSplat;
using zyx::fusion::recomputedAttrName;
using zyx::fusion::RecomputedRole;
using zyx::fusion::RecomputedSums;
using zyx::fusion::Rows;
using zyx::fusion::Sinks;
using zyx::fusion::SumCloner;
using zyx::fusion::Term;
using zyx::fusion::WeightReaders;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static Type elementOf(Value value) { return typeOf(value).getElementType(); }

/// The bits of the elements that a factor of a product has in memory.
static unsigned storedBits(Value factor) {
  while (isView(factor.getDefiningOp()) || isWidening(factor.getDefiningOp()))
    factor = factor.getDefiningOp()->getOperand(0);
  return elementOf(factor).getIntOrFloatBitWidth();
}

//===----------------------------------------------------------------------===//
// One attention
//===----------------------------------------------------------------------===//

namespace {

class Recomputer {
public:
  Recomputer(WeightReaders &readers, Value largest, int64_t bits)
      : readers(readers), attention(readers.attention), largest(largest), bits(bits) {}

  /// Appends what it makes, or makes nothing and says why.
  Status run(std::vector<RecomputedSums> &made);

private:
  Status check();
  void makeLogSum(Rows &rows);
  Value findResult(OpBuilder &builder);
  std::optional<double> findScale();
  Value makeDelta(Operation *at);
  void replaceRows(Value delta);
  Status cloneSums(ArrayRef<ReduceOp> sums, const Rows &rows, std::vector<RecomputedSums> &made);
  Status cloneStored(const Rows &rows);
  Operation *findFirstReader();

  WeightReaders &readers;
  Attention &attention;
  /// What the exponentials of each row are relative to.
  Value largest;
  int64_t bits;
  /// What takes the place of each sum, and of what is stored for its other readers.
  llvm::MapVector<Value, Value> results, stored;
};

} // namespace

static Operation *findFirst(ArrayRef<ReduceOp> sums) {
  Operation *first = nullptr;
  for (ReduceOp sum : sums)
    if (!first || sum->isBeforeInBlock(first))
      first = sum;
  return first;
}

/// The first op that reads what is computed again.
Operation *Recomputer::findFirstReader() {
  SmallVector<ReduceOp> sums(readers.sumsOfKeys);
  llvm::append_range(sums, readers.sumsOfQueries);
  Operation *first = findFirst(sums);
  for (const auto *read : {&readers.stored, &readers.rows})
    for (const auto &[value, others] : *read)
      for (Operation *reader : others)
        if (!first || reader->isBeforeInBlock(first))
          first = reader;
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

/// What exponentials are relative to + log(sum), and what that loses, in the kernel of the attention.
void Recomputer::makeLogSum(Rows &rows) {
  Value sum = readers.algebra.getSum();
  Operation *last = sum.getDefiningOp();
  if (last->isBeforeInBlock(largest.getDefiningOp()))
    last = largest.getDefiningOp();
  OpBuilder builder(sum.getContext());
  builder.setInsertionPointAfter(last);
  Location loc = sum.getLoc();
  Type element = elementOf(attention.exp.getResult());
  auto widen = [&](Value value) -> Value {
    if (elementOf(value) != element)
      value = CastOp::create(builder, loc, typeOf(value).clone(element), value);
    RankedTensorType own = typeOf(attention.max).clone(element);
    return value.getType() == own ? value : ReshapeOp::create(builder, loc, own, value).getResult();
  };
  Value total = widen(sum);
  if (double number = readers.algebra.getSumNumber(); number != 1)
    total = BinaryOp::create(builder, loc, BinaryKind::Mul, total, makeSplat(builder, loc, typeOf(total), 1 / number));
  Value log = UnaryOp::create(builder, loc, UnaryKind::Log, total);
  Value most = widen(largest);
  auto make = [&](BinaryKind kind, Value a, Value b) -> Value { return BinaryOp::create(builder, loc, kind, a, b); };
  rows.logSum = make(BinaryKind::Add, most, log);
  rows.logRest = make(BinaryKind::Sub, log, make(BinaryKind::Sub, rows.logSum, most));
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

/// The number that weights are multiplied with in front of the values; none where something else is there.
std::optional<double> Recomputer::findScale() {
  for (OpOperand *operand : attention.weights)
    if (readers.algebra.hasShapeOfScores(operand->get()))
      return readers.algebra.getWeights(operand->get());
  return std::nullopt;
}

/// The sum along the keys of P g is the sum along the features of the result times what comes to it, if the result is
/// that of P.
Value Recomputer::makeDelta(Operation *at) {
  std::optional<double> scale = findScale();
  if (!scale || *scale == 0)
    return {};
  Value seed = readers.algebra.getSeed();
  auto expand = seed.getDefiningOp<ExpandOp>();
  const int64_t keys = attention.output.getDims().front();
  if (!expand || typeOf(expand.getX()).getDimSize(keys) != 1 || !attention.output->isBeforeInBlock(at))
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
  Value delta = ReduceOp::create(builder, loc, sums.clone(rows), ReduceKind::Add, terms, ArrayRef(features));
  return *scale == 1 ? delta
                     : BinaryOp::create(builder, loc, BinaryKind::Mul, delta,
                                        makeSplat(builder, loc, typeOf(delta), 1 / *scale))
                           .getResult();
}

/// What the gradients of sinks read of rows, made of the sum along the keys of P g.
void Recomputer::replaceRows(Value delta) {
  for (const auto &[value, others] : readers.rows) {
    OpBuilder builder(delta.getContext());
    builder.setInsertionPointAfterValue(delta);
    Location loc = value.getLoc();
    RankedTensorType type = typeOf(value);
    auto take = [&](Value row) -> Value {
      if (elementOf(row) != type.getElementType())
        row = CastOp::create(builder, loc, typeOf(row).clone(type.getElementType()), row);
      return row.getType() == type ? row : ReshapeOp::create(builder, loc, type, row).getResult();
    };
    const Term term = *readers.algebra.getRow(value);
    Value row = take(delta);
    auto multiply = [&](Value by, int power) {
      for (int i = 0; i < std::abs(power); ++i)
        row = BinaryOp::create(builder, loc, power > 0 ? BinaryKind::Mul : BinaryKind::Div, row, take(by));
    };
    multiply(readers.algebra.getSum(), term.sum);
    multiply(readers.algebra.getOthers(), term.others);
    // s is a number of the sum that stands for it.
    if (double number = term.number * std::pow(readers.algebra.getSumNumber(), -term.sum); number != 1)
      row = BinaryOp::create(builder, loc, BinaryKind::Mul, row, makeSplat(builder, loc, type, number));
    for (Operation *reader : others)
      reader->replaceUsesOfWith(value, row);
  }
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
  return zyx::fusion::checkGroup(ops, outputs, {.chain = true});
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

/// What others read in memory is computed again, too, by products that are kernels of their own: if it stayed what it
/// was, the attention would store its weights for it.
Status Recomputer::cloneStored(const Rows &rows) {
  if (readers.stored.empty())
    return Status::ok();
  SumCloner cloner(readers, rows, findFirstReader());
  for (const auto &[value, others] : readers.stored)
    if (!(stored[value] = cloner.clone(value)))
      return Status::unsupported("what its weights are multiplied with is not known where they are computed again");
  return Status::ok();
}

Status Recomputer::run(std::vector<RecomputedSums> &made) {
  ZYX_RETURN_IF_ERROR(check());
  Rows rows;
  const bool hasGradients = !readers.rows.empty() || llvm::any_of(readers.starts, [&](Value start) {
    return readers.algebra.getScoreGradient(start).has_value();
  });
  if (hasGradients && !(rows.delta = makeDelta(findFirstReader())))
    return Status::unsupported("what its weights are multiplied with is not known where they are computed again");
  makeLogSum(rows);
  std::vector<RecomputedSums> kernels;
  for (ArrayRef<ReduceOp> sums : {ArrayRef(readers.sumsOfQueries), ArrayRef(readers.sumsOfKeys)})
    ZYX_RETURN_IF_ERROR(cloneSums(sums, rows, kernels));
  ZYX_RETURN_IF_ERROR(cloneStored(rows));
  if (rows.delta)
    replaceRows(rows.delta);
  for (auto [sum, copy] : results)
    sum.replaceAllUsesWith(copy);
  for (const auto &[value, others] : readers.stored)
    for (Operation *reader : others)
      reader->replaceUsesOfWith(value, stored[value]);
  for (RecomputedSums &kernel : kernels)
    made.push_back(std::move(kernel));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// All attentions
//===----------------------------------------------------------------------===//

/// Notes which kernel is made of which ops, for who forms it (mergeRecomputed).
static void note(ArrayRef<RecomputedSums> made) {
  for (auto [number, kernel] : llvm::enumerate(made)) {
    const auto noteAll = [&, number = static_cast<int64_t>(number)](auto &ops, RecomputedRole role) {
      for (auto [place, op] : llvm::enumerate(ops)) {
        Operation *noted = op;
        noted->setAttr(recomputedAttrName,
                       DenseI64ArrayAttr::get(noted->getContext(),
                                              {number, static_cast<int64_t>(role), static_cast<int64_t>(place)}));
      }
    };
    noteAll(kernel.inner, RecomputedRole::Inner);
    noteAll(kernel.sums, RecomputedRole::Sum);
    noteAll(kernel.beside, RecomputedRole::Beside);
  }
}

static void recomputeWeights(Block &block, int64_t bits) {
  for (Operation &op : block)
    op.removeAttr(recomputedAttrName);
  std::vector<RecomputedSums> made;
  std::vector<std::pair<Attention, std::optional<Sinks>>> attentions;
  for (auto reduce : block.getOps<ReduceOp>()) {
    if (std::optional<Attention> found = matchAttention(reduce))
      attentions.emplace_back(std::move(*found), std::nullopt);
    else if (std::optional<Sinks> sinks = zyx::fusion::matchSinks(reduce))
      attentions.emplace_back(sinks->attention, *sinks);
  }
  for (auto &[attention, sinks] : attentions) {
    // The last sum of one may be a sum that another has computed again.
    if (attention.output->use_empty() || zyx::fusion::isPrivate(attention))
      continue;
    WeightReaders readers(attention, sinks ? &*sinks : nullptr);
    Status status = readers.find();
    if (status.isOk() && readers.sumsOfKeys.empty() && readers.sumsOfQueries.empty() && readers.rows.empty())
      continue;
    Value largest = sinks ? sinks->largest.getResult() : attention.max.getResult();
    if (status.isOk())
      status = Recomputer(readers, largest, bits).run(made);
    if (status.isOk())
      continue;
    ZYX_DEBUG(Fusion, "weights of an attention stay in memory: " + status.message());
    remark::missed(attention.output.getLoc(), remark::RemarkOpts::name("RecomputeWeights").category("zyx-fusion"))
        << ("weights of an attention stay in memory: " + status.message());
  }
  note(made);
  zyx::fusion::eraseUnused(block);
}

namespace {

struct RecomputeWeights : zyx::fusion::impl::RecomputeWeightsPassBase<RecomputeWeights> {
  using RecomputeWeightsPassBase::RecomputeWeightsPassBase;
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { recomputeWeights(block, bits); })))
      signalPassFailure();
  }
};

} // namespace
