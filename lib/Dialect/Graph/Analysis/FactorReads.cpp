//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/Analysis/FactorReads.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

using namespace mlir;
using namespace zyx::graph::ir;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
static bool isHalf(Value value) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return element.isF16() || element.isBF16();
}

namespace {

class Walker {
public:
  explicit Walker(Through through) : through(through) {}
  SmallVector<FactorRead> reads;

  void walk(Value value, FactorRead read);

private:
  const Through through;
  llvm::DenseSet<Value> seen;
};

} // namespace

/// Roles of a reshape's operand: what its dimensions are made of, or become.
static SmallVector<unsigned> unreshape(ArrayRef<unsigned> roles, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<unsigned> result(to.size(), FactorRead::Repeated);
  size_t f = 0, t = 0;
  while (f < from.size() || t < to.size()) {
    int64_t have = 1, want = 1;
    const size_t firstFrom = f, firstTo = t;
    do {
      if (t == to.size() || (f < from.size() && have <= want))
        have *= from[f++];
      else
        want *= to[t++];
    } while ((have != want || f == firstFrom || t == firstTo) && (f < from.size() || t < to.size()));
    unsigned all = FactorRead::Repeated;
    for (size_t i = firstFrom; i < f; ++i)
      if (from[i] != 1)
        all |= roles[i];
    for (size_t i = firstTo; i < t; ++i)
      result[i] = to[i] == 1 ? unsigned(FactorRead::Repeated) : all;
  }
  return result;
}

void Walker::walk(Value value, FactorRead read) {
  // What comes on several ways is read alike on each.
  constexpr size_t mostValues = 512;
  if (seen.size() >= mostValues || !seen.insert(value).second)
    return;
  Operation *op = value.getDefiningOp();
  if (isElementwise(op) && (through == Through::Computed || isa<CastOp>(op))) {
    // What is cast for the product alone has as many bits as before.
    read.isNarrow |= isa<CastOp>(op) && isHalf(op->getOperand(0));
    for (Value operand : op->getOperands())
      walk(operand, read);
    return;
  }
  if (!op || !isView(op)) {
    read.source = value;
    reads.push_back(std::move(read));
    return;
  }
  Value source = op->getOperand(0);
  SmallVector<unsigned> own(shapeOf(source).size(), FactorRead::Repeated);
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    for (auto [to, from] : llvm::enumerate(permute.getOrder()))
      own[from] = read.roles[to];
  } else if (isa<ReshapeOp>(op)) {
    own = unreshape(read.roles, shapeOf(value), shapeOf(source));
  } else {
    // Dimensions inside of windows come last, and the operand does not have them.
    for (size_t dim = 0; dim < own.size(); ++dim)
      own[dim] = shapeOf(source)[dim] == 1 ? unsigned(FactorRead::Repeated) : read.roles[dim];
    if (auto window = dyn_cast<WindowOp>(op))
      read.isWindow |= llvm::any_of(window.getSize(), [](int64_t size) { return size != 1; });
  }
  read.roles = std::move(own);
  walk(source, std::move(read));
}

SmallVector<FactorRead> zyx::graph::ir::findFactorReads(ReduceOp reduce, Through through) {
  std::optional<Contraction> found = matchContraction(reduce);
  if (!found)
    return {};
  SmallVector<FactorRead> all;
  for (auto [factor, own] : {std::pair<Value, ArrayRef<int64_t>>(found->product.getA(), found->first),
                             std::pair<Value, ArrayRef<int64_t>>(found->product.getB(), found->second)}) {
    SmallVector<unsigned> roles(shapeOf(factor).size(), FactorRead::Repeated);
    for (int64_t dim : found->reduced)
      roles[dim] = FactorRead::Contracted;
    for (int64_t dim : own)
      roles[dim] = FactorRead::Row;
    for (int64_t dim : found->batch)
      roles[dim] = FactorRead::Batch;
    Walker walker(through);
    walker.walk(factor, {Value(), std::move(roles), false, isHalf(factor)});
    llvm::append_range(all, walker.reads);
  }
  return all;
}

static bool isMatrix(ArrayRef<unsigned> roles, bool isWindow) {
  SmallVector<bool> runs;
  for (unsigned role : roles) {
    if (role == FactorRead::Repeated || (role == FactorRead::Batch && runs.empty()))
      continue;
    const bool isContracted = role & FactorRead::Contracted;
    if (runs.empty() || runs.back() != isContracted)
      runs.push_back(isContracted);
  }
  return runs.size() < 2 || (runs.size() == 2 && (!isWindow || runs.back()));
}

std::optional<int64_t> zyx::graph::ir::findLastDim(const FactorRead &read) {
  if (isMatrix(read.roles, read.isWindow))
    return std::nullopt;
  std::optional<int64_t> last;
  int64_t fewest = 0;
  for (size_t dim = 0; dim + 1 < read.roles.size(); ++dim) {
    if (read.roles[dim] == FactorRead::Repeated)
      continue;
    SmallVector<unsigned> moved(read.roles);
    moved.erase(moved.begin() + dim);
    moved.push_back(read.roles[dim]);
    // Where windows are contracted with positions, as gradients of filters do, no order makes one matrix.
    if (!isMatrix(moved, /*isWindow=*/false))
      continue;
    // Channels are alone in what they are; images and positions are alike.
    const int64_t alike = llvm::count(read.roles, read.roles[dim]);
    if (!last || alike < fewest)
      std::tie(last, fewest) = std::pair(static_cast<int64_t>(dim), alike);
  }
  return last;
}
