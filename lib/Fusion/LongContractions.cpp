//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LongContractions.h"

#include "NormalizeViews.h"

#include "zyx/Dialect/Graph/Analysis/FactorReads.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"
#include "zyx/Target/Info/Fits.h"

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

/// What a factor is in memory, or what computes it: without views and casts to wider floats.
static Value stripFactor(Value factor) {
  while (isView(factor.getDefiningOp()) || zyx::fusion::isWidening(factor.getDefiningOp()))
    factor = factor.getDefiningOp()->getOperand(0);
  return factor;
}

/// Whether a factor that nothing else reads follows a reduction: the kernel of one might be that of the contraction.
static bool followsOwnReduction(Value factor) {
  while (factor.hasOneUse() && (isView(factor.getDefiningOp()) || zyx::fusion::isWidening(factor.getDefiningOp())))
    factor = factor.getDefiningOp()->getOperand(0);
  llvm::DenseSet<Operation *> seen;
  return factor.hasOneUse() && followsReduction(factor, seen);
}

/// Whether one factor is of 16 bits and the other one is not: no matrix unit has instructions for both.
static bool hasMixedFactors(ReduceOp op) {
  auto isNarrow = [](Value factor) {
    return cast<RankedTensorType>(stripFactor(factor).getType()).getElementTypeBitWidth() <= 16;
  };
  auto product = op.getX().getDefiningOp<BinaryOp>();
  return product && isNarrow(product.getA()) != isNarrow(product.getB());
}

/// Whether several products read a value of 16 bits as it is, or widened. None of their kernels computes it then: it is
/// stored once for all, since a product of what lies in memory is faster than one of the same numbers that threads
/// bring.
static bool isSharedByProducts(Value source) {
  if (cast<RankedTensorType>(source.getType()).getElementTypeBitWidth() > 16)
    return false;
  llvm::SetVector<Value> same;
  same.insert(source);
  unsigned products = 0;
  for (size_t i = 0; i < same.size(); ++i)
    for (Operation *user : same[i].getUsers()) {
      if (isView(user) || zyx::fusion::isWidening(user))
        same.insert(user->getResult(0));
      else if (auto product = dyn_cast<BinaryOp>(user); product && product.getKind() == BinaryKind::Mul)
        products += llvm::count_if(product->getUsers(), [](Operation *reader) {
          auto sum = dyn_cast<ReduceOp>(reader);
          return sum && matchContraction(sum);
        });
    }
  return products > 1;
}

/// Whether threads bring the factors of a contraction to where they are multiplied: f32, or what each reader computes
/// of inputs. Others are copied by an engine, and their long sums are split by the kernel itself.
static bool isBroughtByThreads(ReduceOp op, const TargetInfo &machine) {
  bool isNarrow = false;
  for (Value factor : op.getX().getDefiningOp()->getOperands()) {
    const Value source = stripFactor(factor);
    isNarrow |= cast<RankedTensorType>(source.getType()).getElementTypeBitWidth() <= 16;
    llvm::DenseSet<Operation *> seen;
    if (isElementwise(source.getDefiningOp()) && !followsReduction(source, seen) &&
        !(machine.hasTensorTiles() && isSharedByProducts(source)))
      return true;
  }
  return !isNarrow || hasMixedFactors(op);
}

/// How many terms a reduction combines.
static int64_t termsOf(ReduceOp op) {
  return cast<RankedTensorType>(op.getX().getType()).getNumElements() /
         std::max<int64_t>(cast<RankedTensorType>(op.getResult().getType()).getNumElements(), 1);
}

/// How many weights the longest softmax has whose weights a value is made of: of an exponential that is measured from a
/// largest element, or that is summed up. 0 where it is made of none.
static int64_t findSoftmaxLength(Value value, llvm::DenseSet<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(op).second || !(isView(op) || isa<UnaryOp, BinaryOp, CastOp, SelectOp>(op)))
    return 0;
  int64_t length = 0;
  if (auto exp = dyn_cast<UnaryOp>(op); exp && exp.getKind() == UnaryKind::Exp) {
    llvm::SetVector<Value> below, above;
    below.insert(exp.getX());
    for (size_t i = 0; i < below.size(); ++i) {
      Operation *from = below[i].getDefiningOp();
      if (auto reduce = dyn_cast_if_present<ReduceOp>(from); reduce && reduce.getKind() == ReduceKind::Max)
        length = std::max(length, termsOf(reduce));
      if (from && (isView(from) || isa<UnaryOp, BinaryOp, CastOp, SelectOp>(from)))
        below.insert(from->operand_begin(), from->operand_end());
    }
    above.insert(exp.getResult());
    for (size_t i = 0; i < above.size(); ++i)
      for (Operation *user : above[i].getUsers()) {
        if (auto reduce = dyn_cast<ReduceOp>(user))
          length = std::max(length, termsOf(reduce));
        if (isView(user) || isa<CastOp>(user))
          above.insert(user->result_begin(), user->result_end());
      }
  }
  for (Value operand : op->getOperands())
    length = std::max(length, findSoftmaxLength(operand, seen));
  return length;
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

/// Whether each image is rather a part: where channels lie between images and positions in memory, no factor is a
/// matrix of all images, and both would be copied in another order. Sums of each image take less memory than such
/// copies.
static bool hasPartPerImage(ReduceOp op, Through through) {
  constexpr int64_t fewestPositions = 64, sumBytes = 4;
  auto type = cast<RankedTensorType>(op.getX().getType());
  const int64_t results = cast<RankedTensorType>(op.getResult().getType()).getNumElements();
  if (op.getDims().size() < 2)
    return false;
  const int64_t images = type.getDimSize(op.getDims().front());
  if (type.getNumElements() / results < images * fewestPositions)
    return false;
  int64_t copied = 0;
  for (const FactorRead &read : findFactorReads(op, through)) {
    auto source = cast<RankedTensorType>(read.source.getType());
    // What is repeated along images or positions is small.
    if (llvm::count(read.roles, FactorRead::Contracted) < 2)
      continue;
    SmallVector<unsigned> runs;
    for (unsigned role : read.roles)
      if (role != FactorRead::Repeated && (runs.empty() || runs.back() != role))
        runs.push_back(role);
    const bool isApart = runs.size() == 3 && runs.front() == FactorRead::Contracted && runs[1] == FactorRead::Row &&
                         runs.back() == FactorRead::Contracted;
    if (!isApart || read.isWindow || !read.isNarrow || source.getDimSize(0) != images ||
        read.roles[0] != FactorRead::Contracted || read.roles[1] == FactorRead::Contracted)
      return false;
    copied += source.getNumElements();
  }
  // Both are written and read once.
  return copied > 0 && results * sumBytes * images < copied * 2;
}

/// Results of a tile.
constexpr int64_t tileResults = 1024;

/// How many parts a contraction of windows is worth that threads multiply: a thread of a large tile multiplies each
/// element that it reads eight times. Where such tiles of all results would leave half of the cores idle, the tiles
/// that would not are so small that threads wait for memory rather than multiply.
static int64_t partsOfWindows(ReduceOp op, int64_t results, int64_t steps, const TargetInfo &machine) {
  constexpr int64_t largeTile = 128 * 128, workgroupsPerCore = 2, fewestSteps = int64_t(1) << 12;
  const auto tiles = static_cast<int64_t>(llvm::divideCeil(results, largeTile));
  const SmallVector<FactorRead> reads = findFactorReads(op);
  if (2 * tiles > machine.cores || llvm::none_of(reads, [](const FactorRead &read) { return read.isWindow; }) ||
      llvm::any_of(reads, [](const FactorRead &read) { return read.isNarrow; }))
    return 0;
  const int64_t parts =
      std::min<int64_t>(llvm::divideCeil(workgroupsPerCore * machine.cores, tiles), steps / fewestSteps);
  return parts > 1 ? parts : 0;
}

/// How many parts a contraction is worth: few results of a long sum are few tiles, which fill no card.
static int64_t partsOfContraction(ReduceOp op, const TargetInfo &machine) {
  // Steps that a part has at least; parts that are worth a second kernel.
  constexpr int64_t fewestSteps = 256, fewestParts = 8, fewestProducts = int64_t(1) << 23;
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
  return parts < fewestParts ? partsOfWindows(op, results, steps, machine) : parts;
}

/// Whether a product of f32 without a batch, as a gradient of weights is, keeps few cores busy for longer than it takes
/// to launch a second kernel twice. Without a batch it is no step of an attention.
static bool isLongOfFew(ReduceOp op, const TargetInfo &machine) {
  std::optional<Contraction> contraction = matchContraction(op);
  auto type = cast<RankedTensorType>(op.getX().getType());
  if (!contraction || machine.costs.simtF32ProductsPerCycle == 0 ||
      llvm::any_of(contraction->batch, [&](int64_t dim) { return type.getDimSize(dim) != 1; }) ||
      (!hasMixedFactors(op) && llvm::any_of(findFactorReads(op), [](const FactorRead &read) { return read.isNarrow; })))
    return false;
  const int64_t results = cast<RankedTensorType>(op.getResult().getType()).getNumElements();
  const double busy = static_cast<double>(std::min<int64_t>(llvm::divideCeil(results, tileResults), machine.cores));
  const double cycles =
      static_cast<double>(type.getNumElements()) / busy / static_cast<double>(machine.costs.simtF32ProductsPerCycle);
  return cycles > zyx::target::fits::sums::worthLaunches * static_cast<double>(machine.costs.launchCycles);
}

std::optional<LeadingPart> zyx::fusion::findPartsWorth(ReduceOp op, const TargetInfo &machine) {
  const int64_t most = partsOfContraction(op, machine);
  if (most == 0)
    return std::nullopt;
  // What follows another reduction stays whole where it may share a kernel with it: in an attention, or in a chain of
  // products. Sums over all positions of images share none, nor does what threads bring of values that others read,
  // too.
  constexpr int64_t fewestOfImages = int64_t(1) << 16;
  llvm::DenseSet<Operation *> seen, seenWeights;
  const int64_t steps = termsOf(op);
  const bool follows = followsReduction(op.getX(), seen);
  const bool mayShare = follows && (!isBroughtByThreads(op, machine) ||
                                    llvm::any_of(op.getX().getDefiningOp()->getOperands(), followsOwnReduction));
  const bool isLong = isLongOfFew(op, machine);
  if (follows && mayShare && steps < fewestOfImages && !isLong)
    return std::nullopt;
  // Attentions sum up along a softmax, and their gradients as many queries as it has keys. What sums up far more of
  // them is none: a router's gradient is of all tokens, and its softmax of few experts.
  constexpr int64_t manySoftmaxes = 64;
  if (const int64_t length = follows ? findSoftmaxLength(op.getX(), seenWeights) : 0;
      length != 0 && (!isLong || steps < manySoftmaxes * length))
    return std::nullopt;
  // Factors are what they are computed of, or another kernel stores them, in the order of their dimensions.
  if (hasPartPerImage(op, Through::Computed) || hasPartPerImage(op, Through::Casts)) {
    const int64_t images = op.getDims().front();
    return LeadingPart{cast<RankedTensorType>(op.getX().getType()).getDimSize(images), {images}};
  }
  LeadingPart leading = findLeadingPart(op, most);
  // Other readers of what is computed would have it in another shape: it would be computed and stored for each. Each
  // image is a part then, if that makes no more than twice as many.
  if (mayShare && leading.cut >= 0) {
    const int64_t first = op.getDims().front(), images = cast<RankedTensorType>(op.getX().getType()).getDimSize(first);
    if (leading.cut != first || op.getDims().size() < 2 || images > 2 * most)
      return std::nullopt;
    leading = {images, {first}};
  }
  if (2 * leading.parts < most && leading.parts < 16)
    return std::nullopt;
  return leading;
}
