//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GroupRules.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/UnaryKinds.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Status;

bool zyx::fusion::isTranscendental(Operation *op) {
  if (auto binary = dyn_cast<BinaryOp>(op))
    return binary.getKind() == BinaryKind::Pow;
  auto unary = dyn_cast<UnaryOp>(op);
  if (!unary)
    return false;
  switch (unary.getKind()) {
#define ZYX_GRAPH_UNARY_TRANSCENDENTAL(Name) case UnaryKind::Name:
#include "zyx/Graph/UnaryKinds.inc"
    return true;
  default:
    return false;
  }
}

/// Whether an op is a cast to a wider float.
static bool widens(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  auto element = [](Value value) { return mlir::cast<RankedTensorType>(value.getType()).getElementType(); };
  return cast && isa<FloatType>(element(cast.getX())) && isa<FloatType>(element(cast.getResult())) &&
         element(cast.getX()).getIntOrFloatBitWidth() < element(cast.getResult()).getIntOrFloatBitWidth();
}

/// Whether an op is done again for few neighbours alone, as of pairs that are rotated.
static bool repeatsFew(const IterationSpace &space, Operation *op) {
  constexpr int64_t mostTimes = 4;
  int64_t times = 1;
  for (Axis axis : space.getRowAxes())
    if (!llvm::is_contained(space.getAxisSet(op->getResult(0)), axis) && times <= mostTimes)
      times *= space.getExtent(axis);
  return times <= mostTimes;
}

/// Whether an op is a power, for which machines of tensor cores have an instruction.
static bool isPower(Operation *op) {
  auto unary = dyn_cast<UnaryOp>(op);
  return unary && (unary.getKind() == UnaryKind::Exp || unary.getKind() == UnaryKind::Exp2);
}

/// Work that is done again for each row that does not differ in it.
static Status checkRepetition(const IterationSpace &space, const IterationSpace::Ops &ops) {
  unsigned repeated = 0, few = 0, transcendentals = 0, powers = 0;
  const bool hasContraction = space.getContraction() || space.getAttention() || space.chainsProducts();
  for (Operation *op : ops) {
    // What widens a factor is the product's own.
    if (isSubset(space.getRowAxes(), space.getAxisSet(op->getResult(0))) || (hasContraction && widens(op)))
      continue;
    ++(space.getReduces().empty() && repeatsFew(space, op) ? few : repeated);
    // To compute a power of places takes a chain less time than to read as many numbers: these are four bytes for each
    // element of its products, whose rows and columns it walks.
    if (space.chainsProducts() && isPower(op))
      ++powers;
    else
      transcendentals += zyx::fusion::isTranscendental(op);
  }
  if (repeated > (space.chainsProducts() ? zyx::fusion::maxRepeatedOpsInChains : zyx::fusion::maxRepeatedOps) ||
      repeated + few > zyx::fusion::maxRepeatedOpsInChains)
    return Status::unsupported("it would compute too many ops again in each row");
  if (transcendentals > (hasContraction ? 0 : zyx::fusion::maxRepeatedTranscendentals) ||
      powers > zyx::fusion::maxRepeatedTranscendentals)
    return Status::unsupported("it would compute transcendental functions again in each row");
  return Status::ok();
}

/// Whether rows of a product are multiplied, behind it, with what compares positions in fewer elements than the product
/// has: no tensor core has a place for these, and each element would compare them again.
static bool comparesBehindProduct(const IterationSpace &space, const IterationSpace::Ops &ops) {
  llvm::SmallPtrSet<Operation *, 16> before;
  for (Operation *op : llvm::reverse(ops)) {
    if (!isa<ReduceOp>(op) && !before.contains(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = getViewSource(operand).getDefiningOp())
        before.insert(producer);
  }
  return llvm::any_of(ops, [&](Operation *op) {
    if (before.contains(op) || isSubset(space.getRowAxes(), space.getAxisSet(op->getResult(0))))
      return false;
    // What is chosen by a comparison is one kernel with it.
    auto select = dyn_cast<SelectOp>(op);
    auto compare = dyn_cast_or_null<BinaryOp>(select ? getViewSource(select.getOperand(0)).getDefiningOp() : op);
    return compare && compare.getKind() == BinaryKind::Eq &&
           isa<IntegerType>(cast<RankedTensorType>(compare.getA().getType()).getElementType());
  });
}

/// Few and long rows must be cut by whoever schedules the kernel, so nothing may walk along a row
/// but what feeds the reduction. An attention walks its keys once.
static Status checkRows(const IterationSpace &space, const IterationSpace::Ops &ops, ValueRange outputs) {
  if (space.getAttention() || space.chainsProducts())
    return Status::ok();
  int64_t longest = 0;
  for (ReduceOp reduce : space.getReduces()) {
    int64_t length = 1;
    for (int64_t dim : reduce.getDims())
      length *= cast<RankedTensorType>(reduce.getX().getType()).getDimSize(dim);
    longest = std::max(longest, length);
  }
  if (longest <= zyx::fusion::maxLongRow || space.getNumPoints(space.getRowAxes()) >= zyx::fusion::minRows)
    return Status::ok();
  auto isAlongRow = [&](Value value) { return !isSubset(space.getAxisSet(value), space.getRowAxes()); };
  llvm::SmallPtrSet<Operation *, 16> afterReduce;
  bool isWalkedAgain = llvm::any_of(outputs, isAlongRow);
  for (Operation *op : ops) {
    bool isAfter = isa<ReduceOp>(op);
    for (Value operand : op->getOperands())
      isAfter |= afterReduce.contains(getViewSource(operand).getDefiningOp());
    if (isAfter)
      afterReduce.insert(op);
    isWalkedAgain |= isAfter && isAlongRow(op->getResult(0));
    // A reduction of what follows another walks the row again, too.
    if (auto reduce = dyn_cast<ReduceOp>(op))
      isWalkedAgain |= afterReduce.contains(getViewSource(reduce.getX()).getDefiningOp());
  }
  if (isWalkedAgain)
    return Status::unsupported("its rows are few and long, and would be read twice");
  return Status::ok();
}

/// Columns' sums stay in the memory that the threads of a workgroup share.
static Status checkCrossed(const IterationSpace &space, int64_t mostBytes) {
  const RowAndColumnReductions &crossed = *space.getRowAndColumnReductions();
  constexpr int64_t fewestColumns = 2048, multipleOf = 64;
  const int64_t columns = space.getExtent(crossed.columns);
  const bool fits = columns >= fewestColumns && columns % multipleOf == 0 &&
                    static_cast<int64_t>(crossed.across.size() * sizeof(float)) * columns <= mostBytes;
  return fits ? Status::ok() : Status::unsupported("its reductions keep different axes");
}

Status zyx::fusion::checkProfit(const IterationSpace &space, const IterationSpace::Ops &ops, ValueRange outputs,
                                const StreamingKinds &allowed) {
  if (space.getRowAndColumnReductions())
    ZYX_RETURN_IF_ERROR(checkCrossed(space, allowed.columnSumBytes));
  // Its tiles would be those of rows.
  if ((space.getContraction() && !space.getAttention() && space.getReduces().size() > 1) ||
      (space.chainsProducts() && !allowed.chain))
    return Status::unsupported("a contraction stands alone among reductions");
  if (space.getContraction() && !space.getAttention() && !space.chainsProducts() && comparesBehindProduct(space, ops))
    return Status::unsupported("it would compare positions again for each element of a product");
  ZYX_RETURN_IF_ERROR(checkRepetition(space, ops));
  return checkRows(space, ops, outputs);
}

Status zyx::fusion::checkGroup(const IterationSpace::Ops &ops, ValueRange outputs, const StreamingKinds &allowed) {
  if (ops.size() > maxGroupOps)
    return Status::unsupported("it would have more than " + std::to_string(maxGroupOps) + " ops");
  ZYX_ASSIGN_OR_RETURN(const IterationSpace space, IterationSpace::compute(ops, outputs));
  return checkProfit(space, ops, outputs, allowed);
}
