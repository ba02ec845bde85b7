//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LongContractions.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

using namespace mlir;
using namespace zyx::graph::ir;

using zyx::fusion::LeadingPart;
using zyx::target::TargetInfo;

/// Whether a value is computed from the result of another reduction, element by element and through views.
static bool followsReduction(Value value, llvm::DenseSet<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(op).second)
    return false;
  if (isa<ReduceOp>(op))
    return true;
  const bool isPassed = isView(op) || isa<UnaryOp, BinaryOp, CastOp, SelectOp>(op);
  return isPassed && llvm::any_of(op->getOperands(), [&](Value operand) { return followsReduction(operand, seen); });
}

/// At most so many parts, of the dimensions in their order.
static LeadingPart findLeadingPart(ReduceOp op, int64_t most) {
  LeadingPart result;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getX().getType()).getShape();
  for (int64_t dim : op.getDims()) {
    const int64_t extent = shape[dim];
    if (result.parts * extent <= most && result.whole.size() + 1 < op.getDims().size()) {
      result.whole.push_back(dim);
      result.parts *= extent;
      continue;
    }
    for (int64_t pieces = std::min(most / result.parts, extent - 1); pieces > 1; --pieces)
      if (extent % pieces == 0) {
        result.cut = dim;
        result.pieces = pieces;
        result.parts *= pieces;
        break;
      }
    break;
  }
  return result;
}

/// How many parts a contraction is worth: few results of a long sum are few tiles, which fill no card.
static int64_t partsOfContraction(ReduceOp op, const TargetInfo &machine) {
  // A tile's results; steps that a part has at least; parts that are worth a second kernel.
  constexpr int64_t tileResults = 1024, fewestSteps = 256, fewestParts = 8, fewestProducts = int64_t(1) << 23;
  const int64_t tileThreads = 4 * machine.simt.subgroupSize;
  auto type = cast<RankedTensorType>(op.getX().getType());
  const int64_t results = cast<RankedTensorType>(op.getResult().getType()).getNumElements();
  if (results == 0 || type.getNumElements() < fewestProducts || type.getElementTypeBitWidth() < 32)
    return 0;
  std::optional<Contraction> contraction = matchContraction(op);
  if (!contraction)
    return 0;
  int64_t batches = 1;
  for (int64_t dim : contraction->batch)
    batches *= type.getDimSize(dim);
  const int64_t tiles = std::max<int64_t>(llvm::divideCeil(results, tileResults), batches);
  const int64_t steps = type.getNumElements() / results;
  const int64_t parts = std::min(machine.busyThreads() / tileThreads / tiles, steps / fewestSteps);
  return parts < fewestParts ? 0 : parts;
}

std::optional<LeadingPart> zyx::fusion::findPartsWorth(ReduceOp op, const TargetInfo &machine) {
  const int64_t most = partsOfContraction(op, machine);
  llvm::DenseSet<Operation *> seen;
  if (most == 0 || followsReduction(op.getX(), seen))
    return std::nullopt;
  LeadingPart leading = findLeadingPart(op, most);
  if (2 * leading.parts < most && leading.parts < 16)
    return std::nullopt;
  return leading;
}
