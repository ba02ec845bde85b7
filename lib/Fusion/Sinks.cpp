//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Sinks.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::Sinks;

using Dims = SmallVector<std::optional<int64_t>>;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// For each dimension of scores, the one of a value that it walks along, and the same of what the value is a view of;
/// none where a view mixes dimensions.
static std::optional<Dims> takeViewsOff(Value &value, Dims dims) {
  while (isView(value.getDefiningOp())) {
    auto step = getOperandDims(value.getDefiningOp());
    if (!step)
      return std::nullopt;
    for (std::optional<int64_t> &dim : dims)
      if (dim)
        dim = (*step)[*dim];
    value = value.getDefiningOp()->getOperand(0);
  }
  return dims;
}

/// The reduction that a number of each row is, whose other dimensions are in their places.
static ReduceOp findReduce(Value value, const Dims &dims, ReduceKind kind, Value x) {
  auto own = takeViewsOff(value, dims);
  auto reduce = value.getDefiningOp<ReduceOp>();
  if (!own || !reduce || reduce.getKind() != kind || reduce.getX() != x || reduce.getDims().size() != 1)
    return {};
  const int64_t keys = reduce.getDims().front();
  for (auto [dim, from] : llvm::enumerate(*own)) {
    const auto at = static_cast<int64_t>(dim);
    if (typeOf(x).getDimSize(at) != 1 && from != (at == keys ? std::nullopt : std::optional(at - (at > keys))))
      return {};
  }
  return reduce;
}

/// Whether dimensions follow each other as those of `x` do: who takes a number of each row reshapes it alone.
static bool isInOrder(const Dims &dims, Value x) {
  std::optional<int64_t> last;
  for (auto [at, dim] : llvm::enumerate(dims)) {
    if (!dim || typeOf(x).getDimSize(static_cast<unsigned>(at)) == 1)
      continue;
    if (last && *dim <= *last)
      return false;
    last = dim;
  }
  return true;
}

/// A number of each row, or one over it, that is a reduction of `x` combined with another number of the row.
static BinaryOp findCombined(Value value, bool isInverse, BinaryKind kind, ReduceKind of, Value x, ReduceOp &reduce,
                             Value &other) {
  Dims dims;
  for (int64_t dim = 0, rank = typeOf(x).getRank(); dim < rank; ++dim)
    dims.emplace_back(dim);
  auto own = takeViewsOff(value, dims);
  if (isInverse) {
    auto unary = value.getDefiningOp<UnaryOp>();
    if (!own || !unary || unary.getKind() != UnaryKind::Recip)
      return {};
    value = unary.getX();
    own = takeViewsOff(value, *own);
  }
  auto binary = value.getDefiningOp<BinaryOp>();
  if (!own || !binary || binary.getKind() != kind || !isInOrder(*own, x))
    return {};
  for (unsigned at : {0u, 1u})
    if ((reduce = findReduce(binary->getOperand(at), *own, of, x))) {
      other = binary->getOperand(1 - at);
      return typeOf(binary).getNumElements() == typeOf(reduce).getNumElements() ? binary : BinaryOp();
    }
  return {};
}

/// Whether a value is made of exponentials and their sums, so that no element of it is negative.
static bool isOfExponentials(Value value, int depth = 8) {
  while (isIndexMap(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  auto unary = dyn_cast<UnaryOp>(op);
  auto binary = dyn_cast<BinaryOp>(op);
  auto reduce = dyn_cast<ReduceOp>(op);
  if (unary)
    return unary.getKind() == UnaryKind::Exp;
  if (!(binary && binary.getKind() == BinaryKind::Add) && !(reduce && reduce.getKind() == ReduceKind::Add) &&
      !isa<CastOp>(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isOfExponentials(operand, depth - 1); });
}

std::optional<Sinks> zyx::fusion::matchSinks(ReduceOp output) {
  auto attention = matchAttention(output, Largest::OfOthersToo);
  if (!attention || attention->beside.size() != 1 || !typeOf(attention->exp).getElementType().isF32())
    return std::nullopt;
  Sinks found;
  Value scores = attention->max.getX(), other;
  ReduceOp max;
  auto distance = attention->exp.getX().getDefiningOp<BinaryOp>();
  if (!distance)
    return std::nullopt;
  found.largest = findCombined(distance.getB(), false, BinaryKind::Max, ReduceKind::Max, scores, max, other);
  OpOperand &beside = *attention->beside.front();
  found.quotient = cast<BinaryOp>(beside.getOwner());
  if (!found.largest || max != attention->max || beside.get() != attention->exp.getResult())
    return std::nullopt;
  Value factor = found.quotient->getOperand(1 - beside.getOperandNumber());
  found.sum = findCombined(factor, found.quotient.getKind() == BinaryKind::Mul, BinaryKind::Add, ReduceKind::Add,
                           attention->exp.getResult(), found.keysSum, found.others);
  if (!found.sum || found.keysSum.getDims() != attention->max.getDims() || !isOfExponentials(found.others))
    return std::nullopt;
  found.attention = std::move(*attention);
  return found;
}
