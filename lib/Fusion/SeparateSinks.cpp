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

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

#include <limits>

namespace zyx::fusion {
#define GEN_PASS_DEF_SEPARATESINKSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;

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

namespace {

/// What keeps of the softmax of joined scores those of one part.
struct Sinks {
  PadOp slice;
  /// Between the quotient and the slice, the last one first.
  SmallVector<CastOp> casts;
  UnaryOp exp;
  ConcatOp scores;
  int64_t dim;
  size_t part;
};

} // namespace

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

static std::optional<Sinks> matchSinks(PadOp slice) {
  auto dim = findSliced(slice);
  if (!dim)
    return std::nullopt;
  Sinks found{slice, {}, {}, {}, *dim, 0};
  Value value = slice.getX();
  for (auto cast = value.getDefiningOp<CastOp>(); cast; cast = value.getDefiningOp<CastOp>()) {
    found.casts.push_back(cast);
    value = cast.getX();
  }
  auto quotient = value.getDefiningOp<BinaryOp>();
  if (!quotient || (quotient.getKind() != BinaryKind::Div && quotient.getKind() != BinaryKind::Mul) ||
      !(typeOf(value).getElementType().isF32() || typeOf(value).getElementType().isF64()))
    return std::nullopt;
  const bool isReciprocal = quotient.getKind() == BinaryKind::Mul;
  for (unsigned at : {0u, 1u}) {
    found.exp = quotient->getOperand(at).getDefiningOp<UnaryOp>();
    Value factor = quotient->getOperand(1 - at);
    if ((at == 1 && !isReciprocal) || !found.exp || found.exp.getKind() != UnaryKind::Exp)
      continue;
    auto distance = found.exp.getX().getDefiningOp<BinaryOp>();
    if (!distance || distance.getKind() != BinaryKind::Sub)
      continue;
    ReduceOp sum = findRepeated(factor, *dim, isReciprocal), max = findRepeated(distance.getB(), *dim);
    found.scores = distance.getA().getDefiningOp<ConcatOp>();
    if (!sum || sum.getKind() != ReduceKind::Add || sum.getX() != found.exp.getResult() || !max ||
        max.getKind() != ReduceKind::Max || max.getX() != distance.getA() || !found.scores ||
        static_cast<int64_t>(found.scores.getDim()) != *dim)
      continue;
    int64_t first = 0, low = -slice.getLow()[*dim], extent = typeOf(slice.getResult()).getDimSize(*dim);
    for (auto [number, part] : llvm::enumerate(found.scores.getParts())) {
      if (first == low && typeOf(part).getDimSize(*dim) == extent && found.scores.getParts().size() > 1) {
        found.part = number;
        return found;
      }
      first += typeOf(part).getDimSize(*dim);
    }
  }
  return std::nullopt;
}

/// The sums of products that a value goes into by ops of one operand and products alone, if it goes nowhere else.
static ReduceOp findOutput(Value value) {
  while (value.hasOneUse()) {
    Operation *reader = *value.user_begin();
    if (auto reduce = dyn_cast<ReduceOp>(reader))
      return reduce;
    auto binary = dyn_cast<BinaryOp>(reader);
    if (!isView(reader) && !isa<CastOp>(reader) && !(binary && binary.getKind() == BinaryKind::Mul))
      return {};
    value = reader->getResult(0);
  }
  return {};
}

namespace {

class SinkSeparator {
public:
  SinkSeparator(Sinks &found, ReduceOp output)
      : found(found), output(output), builder(found.slice), loc(found.slice.getLoc()) {}

  void run();

private:
  Value reduce(ReduceKind kind, Value x) {
    RankedTensorType type = typeOf(x);
    if (type.getDimSize(found.dim) == 1)
      return x;
    SmallVector<int64_t> ones(type.getShape());
    ones[found.dim] = 1;
    Value reduced = ReduceOp::create(builder, loc, kind, x, ArrayRef<int64_t>{found.dim});
    return ReshapeOp::create(builder, loc, type.clone(ones), reduced);
  }
  Value binary(BinaryKind kind, Value a, Value b) { return BinaryOp::create(builder, loc, kind, a, b); }
  Value exponential(Value x) { return UnaryOp::create(builder, loc, UnaryKind::Exp, x); }
  Value expand(Value row, Value like) { return ExpandOp::create(builder, loc, typeOf(like), row); }
  Value splat(RankedTensorType type, double number) { return zyx::fusion::makeSplat(builder, loc, type, number); }

  Sinks &found;
  ReduceOp output;
  OpBuilder builder;
  Location loc;
};

} // namespace

void SinkSeparator::run() {
  constexpr double minusInfinity = -std::numeric_limits<double>::infinity();
  Value scores = found.scores.getParts()[found.part];
  Value keysMax = reduce(ReduceKind::Max, scores);
  Value exp = exponential(binary(BinaryKind::Sub, scores, expand(keysMax, scores)));
  RankedTensorType row = typeOf(keysMax);
  Value zero = splat(row, 0);
  // A row that sees no key has no distances between its keys.
  Value isHidden = binary(BinaryKind::Eq, keysMax, splat(row, minusInfinity));
  Value keysSum = SelectOp::create(builder, loc, isHidden, zero, reduce(ReduceKind::Add, exp));
  Value max = keysMax;
  SmallVector<Value> others;
  for (auto [number, part] : llvm::enumerate(found.scores.getParts()))
    if (number != found.part && typeOf(part).getDimSize(found.dim) != 0)
      others.push_back(part);
  for (Value part : others)
    max = binary(BinaryKind::Max, max, reduce(ReduceKind::Max, part));
  Value shrink = exponential(binary(BinaryKind::Sub, keysMax, max));
  Value sum = binary(BinaryKind::Mul, keysSum, shrink);
  for (Value part : others) {
    Value weights = exponential(binary(BinaryKind::Sub, part, expand(max, part)));
    sum = binary(BinaryKind::Add, sum, reduce(ReduceKind::Add, weights));
  }
  Value factor = binary(BinaryKind::Div, shrink, sum);
  Value spread = expand(factor, scores), weights = binary(BinaryKind::Mul, exp, spread);
  for (CastOp cast : llvm::reverse(found.casts))
    weights = CastOp::create(builder, loc, typeOf(weights).clone(typeOf(cast.getResult()).getElementType()), weights);
  found.slice.getResult().replaceAllUsesWith(weights);

  auto attention = matchAttention(output);
  auto isOwn = [&](Value value) { return value == spread; };
  if (attention && attention->exp.getResult() == exp && attention->beside.size() == 1 &&
      attention->beside.front()->getOwner() == spread.use_begin()->getOwner() && zyx::fusion::isPrivate(*attention)) {
    OpOperand &beside = *attention->beside.front();
    Value before = output.getResult();
    RankedTensorType type = typeOf(before);
    OpBuilder behind(output->getBlock(), std::next(output->getIterator()));
    auto largest =
        zyx::fusion::spreadOverResult(behind, *attention, beside, expand(keysMax, scores), row.getElementType());
    auto hidden = zyx::fusion::spreadOverResult(
        behind, *attention, beside, expand(binary(BinaryKind::Mul, factor, zero), scores), type.getElementType());
    if (largest && hidden) {
      builder.setInsertionPointAfterValue(*hidden);
      Value seesNothing = binary(BinaryKind::Eq, *largest, splat(typeOf(*largest), minusInfinity));
      auto chosen = SelectOp::create(builder, loc, seesNothing, *hidden, before);
      before.replaceAllUsesExcept(chosen, chosen);
      if (zyx::fusion::divideAfterwards(*attention, isOwn))
        return;
      chosen.getResult().replaceAllUsesWith(before);
    }
  }
  weights.replaceAllUsesWith(found.slice.getResult());
}

static void separateSinks(Block &block) {
  bool changed = false;
  for (auto slice : llvm::make_early_inc_range(block.getOps<PadOp>())) {
    auto found = matchSinks(slice);
    ReduceOp output = found ? findOutput(slice.getResult()) : ReduceOp();
    if (!output)
      continue;
    SinkSeparator(*found, output).run();
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
