//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Gradients of norms sum up along rows and along columns. Rows fall into parts here, in all that both kinds of sums are
// made of, so that one kernel can have a part of the rows and its share of the columns' sums.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Machine.h"
#include "Notes.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Fusion/Passes.h"
#include "zyx/Target/Info/Budgets.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_PARTROWSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::target::TargetInfo;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static ArrayRef<int64_t> shapeOf(Value value) { return typeOf(value).getShape(); }

static bool isSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat();
}

namespace {

/// What lies along some rows: the leading dimensions of a value.
class RowParter {
public:
  RowParter(Block &block, ReduceOp first, int64_t parts)
      : block(block), first(first), rows(shapeOf(first.getX()).take_front(first.getDims().size())), parts(parts) {}

  /// False, with nothing changed, where the columns' sums have nothing to do with sums of rows.
  bool run();
  ArrayRef<ReduceOp> getSums() const { return sums.getArrayRef(); }

private:
  bool liesAlongRows(Value value) const {
    return shapeOf(value).size() >= rows.size() && shapeOf(value).take_front(rows.size()) == ArrayRef(rows);
  }
  bool isRepeatedForRows(Value value) const {
    auto expand = value.getDefiningOp<ExpandOp>();
    return isSplat(value) || (expand && llvm::all_of(shapeOf(expand.getX()).take_front(rows.size()),
                                                     [](int64_t extent) { return extent == 1; }));
  }
  bool sumsUpRow(Operation *op) const {
    auto reduce = dyn_cast<ReduceOp>(op);
    return reduce && reduce.getDims().front() >= static_cast<int64_t>(rows.size()) &&
           reduce.getDims().back() + 1 == static_cast<int64_t>(shapeOf(reduce.getX()).size()) &&
           !matchContraction(reduce);
  }
  bool keepsRows(Operation *op) const;
  bool isKept(Value value) const;
  bool findLeaves(Value value, llvm::SetVector<Value> &found) const;
  bool findSums();
  void findRegion();
  bool findNeeded();

  RankedTensorType partedType(Value value) const;
  Value parted(Value value);
  void clone(Operation *op);

  Block &block;
  ReduceOp first;
  const SmallVector<int64_t> rows;
  const int64_t parts;
  /// Sums of columns, and what they and their rows' sums are made of in the end.
  llvm::SetVector<ReduceOp> sums;
  llvm::SetVector<Value> leaves;
  /// Ops of what lies along the rows and is made of leaves alone, with those leaves that have columns.
  llvm::MapVector<Operation *, llvm::SmallPtrSet<Value, 4>> region;
  llvm::SetVector<Operation *> needed;
  /// Of these, whose results others read.
  llvm::SetVector<Operation *> results;
  IRMapping mapping;
};

} // namespace

/// Whether an op does to each row what it does to others.
bool RowParter::keepsRows(Operation *op) const {
  if (!op || op->getNumResults() != 1 || !liesAlongRows(op->getResult(0)))
    return false;
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return isUnitReshape(reshape) && liesAlongRows(reshape.getX());
  if (isa<ExpandOp>(op))
    return liesAlongRows(op->getOperand(0));
  return isElementwise(op) || (sumsUpRow(op) && liesAlongRows(op->getOperand(0)));
}

/// Whether a value is in memory in any case, as far as one sees here: an input, or what others made in 16 bits.
bool RowParter::isKept(Value value) const {
  Operation *op = value.getDefiningOp();
  return !op || isa<ParameterOp>(op) ||
         (typeOf(value).getElementTypeBitWidth() < 32 && !typeOf(value).getElementType().isInteger(1));
}

/// False where something is computed in between that is better off in another's kernel.
bool RowParter::findLeaves(Value value, llvm::SetVector<Value> &found) const {
  SmallVector<Value> pending{value};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!seen.insert(next).second || isRepeatedForRows(next))
      continue;
    if (isKept(next)) {
      if (!liesAlongRows(next))
        return false;
      found.insert(next);
    } else if (keepsRows(next.getDefiningOp())) {
      llvm::append_range(pending, next.getDefiningOp()->getOperands());
    } else {
      return false;
    }
  }
  return true;
}

/// All sums over the same rows that read some of what the first one reads.
bool RowParter::findSums() {
  if (!findLeaves(first.getX(), leaves))
    return false;
  sums.insert(first);
  for (bool grows = true; std::exchange(grows, false);)
    for (auto sum : block.getOps<ReduceOp>()) {
      llvm::SetVector<Value> own;
      if (sums.contains(sum) || sum.getKind() != first.getKind() || sum.getDims() != first.getDims() ||
          shapeOf(sum.getX()) != shapeOf(first.getX()) || !typeOf(sum.getX()).getElementType().isF32() ||
          !findLeaves(sum.getX(), own) || llvm::none_of(own, [&](Value leaf) { return leaves.contains(leaf); }))
        continue;
      sums.insert(sum);
      leaves.insert_range(own);
      grows = true;
    }
  return true;
}

void RowParter::findRegion() {
  for (Operation &op : block.without_terminator()) {
    // What was rounded to 16 bits is stored so, and others widen it: a factor of a contraction is read as it lies.
    auto wide = dyn_cast<CastOp>(op);
    if (!keepsRows(&op) || (wide && region.contains(wide.getX().getDefiningOp()) && isKept(wide.getX())))
      continue;
    llvm::SmallPtrSet<Value, 4> reads;
    const bool isInside = llvm::all_of(op.getOperands(), [&](Value operand) {
      auto known = operand.getDefiningOp() ? region.find(operand.getDefiningOp()) : region.end();
      if (known != region.end())
        reads.insert_range(known->second);
      else if (leaves.contains(operand) && shapeOf(operand) == shapeOf(first.getX()))
        reads.insert(operand);
      return known != region.end() || leaves.contains(operand) || isRepeatedForRows(operand);
    });
    if (isInside)
      region.insert({&op, reads});
  }
}

/// What the sums need, and what is made of all that they read: the gradient of the rows. What is made of less, as the
/// result of a norm, is another kernel's. False where no row is summed up.
bool RowParter::findNeeded() {
  const auto numWide = llvm::count_if(leaves, [&](Value leaf) { return shapeOf(leaf) == shapeOf(first.getX()); });
  SmallVector<Operation *> pending;
  for (auto &[op, reads] : region) {
    const bool isRead = llvm::any_of(op->getUsers(), [&](Operation *user) {
      return !region.contains(user) && !llvm::is_contained(sums, dyn_cast<ReduceOp>(user));
    });
    if (isRead && static_cast<int64_t>(reads.size()) == numWide) {
      results.insert(op);
      pending.push_back(op);
    }
  }
  for (ReduceOp sum : sums)
    if (Operation *op = sum.getX().getDefiningOp())
      pending.push_back(op);
  bool sumsRows = false;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (!region.contains(op) || !needed.insert(op))
      continue;
    sumsRows |= sumsUpRow(op);
    for (Value operand : op->getOperands())
      if (operand.getDefiningOp())
        pending.push_back(operand.getDefiningOp());
  }
  return sumsRows;
}

RankedTensorType RowParter::partedType(Value value) const {
  SmallVector<int64_t> shape{parts, 1};
  for (int64_t extent : rows)
    shape[1] *= extent;
  shape[1] /= parts;
  llvm::append_range(shape, shapeOf(value).drop_front(rows.size()));
  return typeOf(value).clone(shape);
}

/// The value with its rows in parts.
Value RowParter::parted(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  RankedTensorType type = partedType(value);
  Value result;
  if (auto constant = value.getDefiningOp<ConstantOp>(); constant && isSplat(value)) {
    result = ConstantOp::create(builder, value.getLoc(), type, constant.getValue().resizeSplat(type));
  } else if (isRepeatedForRows(value)) {
    Value source = value.getDefiningOp<ExpandOp>().getX();
    SmallVector<int64_t> shape{1, 1};
    llvm::append_range(shape, shapeOf(source).drop_front(rows.size()));
    source = ReshapeOp::create(builder, value.getLoc(), typeOf(source).clone(shape), source);
    result = ExpandOp::create(builder, value.getLoc(), type, source);
  } else {
    result = ReshapeOp::create(builder, value.getLoc(), type, value);
  }
  mapping.map(value, result);
  return result;
}

void RowParter::clone(Operation *op) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(parted(operand));
  Value result = op->getResult(0), made;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    SmallVector<int64_t> dims;
    for (int64_t dim : reduce.getDims())
      dims.push_back(dim + 2 - static_cast<int64_t>(rows.size()));
    made = ReduceOp::create(builder, op->getLoc(), partedType(result), reduce.getKind(), operands[0], dims);
  } else {
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    made = copy->getResult(0);
    made.setType(partedType(result));
  }
  mapping.map(result, made);
  if (!results.contains(op))
    return;
  Value back = ReshapeOp::create(builder, op->getLoc(), result.getType(), made);
  result.replaceUsesWithIf(back,
                           [&](OpOperand &use) { return !region.contains(use.getOwner()) && use.get() == result; });
}

bool RowParter::run() {
  if (!findSums())
    return false;
  findRegion();
  if (!findNeeded())
    return false;
  for (auto &[op, reads] : region)
    if (needed.contains(op))
      clone(op);
  for (ReduceOp sum : sums) {
    OpBuilder builder(sum);
    auto made = ReduceOp::create(builder, sum.getLoc(), sum.getResult().getType(), sum.getKind(), parted(sum.getX()),
                                 ArrayRef<int64_t>{0, 1});
    made->setAttr(zyx::fusion::partsAttrName, builder.getDenseI64ArrayAttr({0}));
    sum.getResult().replaceAllUsesWith(made.getResult());
  }
  return true;
}

/// Parts of rows: workgroups that stay on the machine, two on a multiprocessor, and each with some rows; 0 where there
/// are too few.
static int64_t partsOf(int64_t rows, const TargetInfo &machine) {
  constexpr int64_t fewestRows = 16;
  const int64_t most = machine.busyThreads() / zyx::target::columnThreads(machine);
  for (int64_t parts = std::min(most, rows / fewestRows); parts > most / 2; --parts)
    if (rows % parts == 0)
      return parts;
  return 0;
}

static void partRows(Block &block, const TargetInfo &machine) {
  constexpr int64_t fewestColumns = 512;
  if (!machine.hasSubgroups())
    return;
  llvm::DenseSet<Operation *> done;
  for (ReduceOp op : llvm::to_vector(block.getOps<ReduceOp>())) {
    ArrayRef<int64_t> shape = shapeOf(op.getX()), dims = op.getDims();
    const bool isLeading = llvm::equal(dims, llvm::seq<int64_t>(0, dims.size())) && dims.size() < shape.size();
    if (done.contains(op) || !isLeading || op.getKind() != ReduceKind::Add ||
        !typeOf(op.getX()).getElementType().isF32() || matchContraction(op))
      continue;
    int64_t rows = 1, columns = 1;
    for (auto [dim, extent] : llvm::enumerate(shape))
      (dim < dims.size() ? rows : columns) *= extent;
    const int64_t parts = partsOf(rows, machine);
    if (parts == 0 || columns < fewestColumns)
      continue;
    RowParter parter(block, op, parts);
    if (parter.run())
      for (ReduceOp sum : parter.getSums())
        done.insert(sum);
  }
}

namespace {

struct PartRows : zyx::fusion::impl::PartRowsPassBase<PartRows> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { partRows(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
