//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Scores of a softmax may have other scores beside them, which have no value: sinks, to which a row gives what it has
// for no key. The sum over all is that over the keys and that over the others, both relative to one maximum.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "DivideAfterwards.h"
#include "FuseAttention.h"
#include "PartSplitter.h"
#include "Sinks.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <limits>

namespace zyx::fusion {
#define GEN_PASS_DEF_SEPARATESINKSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::Sinks;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The reduction of one dimension that views repeat along this dimension, and change no other, or none. With
/// `isReciprocal` one reciprocal stands before, between or behind the views.
static ReduceOp findRepeated(Value value, int64_t dim, bool isReciprocal = false) {
  auto dims = getSourceDims(value);
  Value source = getViewSource(value);
  if (isReciprocal) {
    auto reciprocal = source.getDefiningOp<UnaryOp>();
    auto inner =
        reciprocal && reciprocal.getKind() == UnaryKind::Recip ? getSourceDims(reciprocal.getX()) : std::nullopt;
    if (!dims || !inner)
      return {};
    for (std::optional<int64_t> &from : *dims)
      from = from ? (*inner)[*from] : std::nullopt;
    source = getViewSource(reciprocal.getX());
  }
  auto reduce = source.getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getDims() != ArrayRef<int64_t>{dim} || !dims)
    return {};
  for (auto [at, from] : llvm::enumerate(*dims)) {
    const int64_t own = static_cast<int64_t>(at);
    const bool isOwn = own != dim && typeOf(value).getDimSize(own) != 1;
    if (isOwn ? from != std::optional(own - (own > dim)) : from.has_value())
      return {};
  }
  return reduce;
}

/// The dimension along which a pad only removes elements, and nothing else.
static std::optional<int64_t> findSliced(PadOp pad) {
  std::optional<int64_t> sliced;
  for (auto [dim, low, high, interior] : llvm::enumerate(pad.getLow(), pad.getHigh(), pad.getInterior())) {
    if (interior != 0 || low > 0 || high > 0 || ((low < 0 || high < 0) && sliced))
      return std::nullopt;
    if (low < 0 || high < 0)
      sliced = static_cast<int64_t>(dim);
  }
  return sliced;
}

namespace {

/// Scores that are one part of a concat.
struct JoinedScores {
  ConcatOp all;
  Value part;
};

} // namespace

/// Scores of which a slice keeps the weights, out of a softmax of more.
static std::optional<JoinedScores> matchJoined(PadOp slice) {
  auto dim = findSliced(slice);
  if (!dim)
    return std::nullopt;
  Value value = slice.getX();
  while (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getX();
  auto quotient = value.getDefiningOp<BinaryOp>();
  if (!quotient || (quotient.getKind() != BinaryKind::Div && quotient.getKind() != BinaryKind::Mul) ||
      !(typeOf(value).getElementType().isF32() || typeOf(value).getElementType().isF64()))
    return std::nullopt;
  const bool isReciprocal = quotient.getKind() == BinaryKind::Mul;
  for (unsigned at : {0u, 1u}) {
    auto exp = quotient->getOperand(at).getDefiningOp<UnaryOp>();
    Value factor = quotient->getOperand(1 - at);
    if ((at == 1 && !isReciprocal) || !exp || exp.getKind() != UnaryKind::Exp)
      continue;
    auto distance = exp.getX().getDefiningOp<BinaryOp>();
    if (!distance || distance.getKind() != BinaryKind::Sub)
      continue;
    ReduceOp sum = findRepeated(factor, *dim, isReciprocal), max = findRepeated(distance.getB(), *dim);
    auto all = distance.getA().getDefiningOp<ConcatOp>();
    if (!sum || sum.getKind() != ReduceKind::Add || sum.getX() != exp.getResult() || !max ||
        max.getKind() != ReduceKind::Max || max.getX() != distance.getA() || !all ||
        static_cast<int64_t>(all.getDim()) != *dim)
      continue;
    int64_t first = 0, low = -slice.getLow()[*dim], extent = typeOf(slice.getResult()).getDimSize(*dim);
    for (Value part : all.getParts()) {
      if (first == low && typeOf(part).getDimSize(*dim) == extent && all.getParts().size() > 1)
        return JoinedScores{all, part};
      first += typeOf(part).getDimSize(*dim);
    }
  }
  return std::nullopt;
}

/// Whether a value goes into a sum of products by ops of one operand and products alone.
static bool isSummedUp(Value start) {
  llvm::SmallSetVector<Value, 8> values;
  values.insert(start);
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *reader : values[i].getUsers()) {
      auto binary = dyn_cast<BinaryOp>(reader);
      if (isa<ReduceOp>(reader))
        return true;
      if (isView(reader) || isa<CastOp>(reader) || (binary && binary.getKind() == BinaryKind::Mul))
        values.insert(reader->getResult(0));
    }
  return false;
}

namespace {

/// Makes of an attention with sinks one without them, and a factor of each row behind its last sum.
class SinkSeparator {
public:
  explicit SinkSeparator(Sinks &found)
      : found(found), builder(found.attention.exp), loc(found.attention.exp.getLoc()),
        keys(found.attention.max.getDims().front()), scores(found.attention.max.getX()) {
    SmallVector<int64_t> ones(typeOf(scores).getShape());
    ones[keys] = 1;
    row = typeOf(scores).clone(ones);
  }

  void run();

private:
  /// A number of each row, with one key.
  Value keep(Value number) {
    return number.getType() == row ? number : ReshapeOp::create(builder, loc, row, number).getResult();
  }
  Value binary(BinaryKind kind, Value a, Value b) { return BinaryOp::create(builder, loc, kind, a, b); }
  Value exponential(Value x) { return UnaryOp::create(builder, loc, UnaryKind::Exp, x); }
  Value expand(Value number) { return ExpandOp::create(builder, loc, typeOf(scores), number); }
  Value splat(RankedTensorType type, double number) { return zyx::fusion::makeSplat(builder, loc, type, number); }
  bool divideBehind(Value exp, Value keysMax, Value factor, Value spread);

  Sinks &found;
  OpBuilder builder;
  Location loc;
  int64_t keys;
  Value scores;
  RankedTensorType row;
};

} // namespace

static constexpr double minusInfinity = -std::numeric_limits<double>::infinity();

/// The factor behind the last sum, if what is left of the attention is one without it. A row that sees no key is zero.
bool SinkSeparator::divideBehind(Value exp, Value keysMax, Value factor, Value spread) {
  ReduceOp output = found.attention.output;
  auto attention = matchAttention(output);
  if (!attention || attention->exp.getResult() != exp || attention->beside.size() != 1 ||
      attention->beside.front()->getOwner() != *spread.user_begin())
    return false;
  OpOperand &beside = *attention->beside.front();
  Value before = output.getResult();
  RankedTensorType type = typeOf(before);
  Value none = expand(binary(BinaryKind::Mul, factor, splat(row, 0))), all = expand(keysMax);
  OpBuilder behind(output->getBlock(), std::next(output->getIterator()));
  auto largest = zyx::fusion::spreadOverResult(behind, *attention, beside, all, row.getElementType());
  auto hidden = zyx::fusion::spreadOverResult(behind, *attention, beside, none, type.getElementType());
  if (!largest || !hidden)
    return false;
  builder.setInsertionPointAfterValue(*hidden);
  Value seesNothing = binary(BinaryKind::Eq, *largest, splat(typeOf(*largest), minusInfinity));
  auto chosen = SelectOp::create(builder, loc, seesNothing, *hidden, before);
  before.replaceAllUsesExcept(chosen, chosen);
  if (zyx::fusion::divideAfterwards(*attention, [&](Value value) { return value == spread; }))
    return true;
  chosen.getResult().replaceAllUsesWith(before);
  return false;
}

void SinkSeparator::run() {
  Value keysMax = keep(found.attention.max), largest = keep(found.largest);
  Value exp = exponential(binary(BinaryKind::Sub, scores, expand(keysMax)));
  // A row that sees no key has no distances between its keys.
  Value isHidden = binary(BinaryKind::Eq, keysMax, splat(row, minusInfinity));
  Value ofKeys = ReduceOp::create(builder, loc, ReduceKind::Add, exp, ArrayRef<int64_t>{keys});
  ofKeys = SelectOp::create(builder, loc, isHidden, splat(row, 0), keep(ofKeys));
  Value shrink = exponential(binary(BinaryKind::Sub, keysMax, largest));
  Value shrunk = binary(BinaryKind::Mul, ofKeys, shrink), before = found.keysSum;
  if (shrunk.getType() != before.getType())
    shrunk = ReshapeOp::create(builder, loc, typeOf(before), shrunk);
  before.replaceAllUsesWith(shrunk);

  builder.setInsertionPoint(found.quotient);
  Value factor = binary(BinaryKind::Div, shrink, keep(found.sum));
  Value spread = expand(factor), weights = binary(BinaryKind::Mul, exp, spread);
  found.quotient.getResult().replaceAllUsesWith(weights);
  if (divideBehind(exp, keysMax, factor, spread))
    return;
  weights.replaceAllUsesWith(found.quotient.getResult());
  shrunk.replaceAllUsesWith(before);
}

static void separateSinks(Block &block) {
  llvm::MapVector<Operation *, JoinedScores> joined;
  for (auto slice : block.getOps<PadOp>())
    if (auto found = matchJoined(slice); found && isSummedUp(slice))
      joined.insert({found->all, *found});
  bool changed = false;
  for (auto &[concat, found] : joined)
    changed |= zyx::fusion::PartSplitter(found.all, found.part).run();
  if (!joined.empty())
    zyx::fusion::eraseUnused(block);
  for (auto reduce : llvm::make_early_inc_range(block.getOps<ReduceOp>()))
    if (auto found = zyx::fusion::matchSinks(reduce); found && zyx::fusion::isPrivate(found->attention)) {
      SinkSeparator(*found).run();
      changed = true;
    }
  if (changed)
    zyx::fusion::eraseUnused(block);
}

namespace {

struct SeparateSinks : zyx::fusion::impl::SeparateSinksPassBase<SeparateSinks> {
  void runOnOperation() override {
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), separateSinks)))
      signalPassFailure();
  }
};

} // namespace
