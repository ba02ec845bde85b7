//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Numbers that are counted along a dimension: those of rows and keys in masks, mostly.
//===----------------------------------------------------------------------===//
#include "GroupRules.h"
#include "PrepareOps.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace zyx::graph::ir;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// The number that an integer is everywhere, seen through views.
static std::optional<APInt> getNumber(Value value) {
  while (isIndexMap(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat() && isa<IntegerType>(typeOf(value).getElementType())
             ? std::optional(constant.getValue().getSplatValue<APInt>())
             : std::nullopt;
}

/// The operand that an op on integers gives back, or null.
static Value getUnchanged(BinaryOp op) {
  auto is = [](Value value, uint64_t number) {
    auto known = getNumber(value);
    // Sums of bools are no numbers.
    return known && known->getBitWidth() > 1 && *known == number;
  };
  switch (op.getKind()) {
  case BinaryKind::Add:
    return is(op.getB(), 0) ? op.getA() : is(op.getA(), 0) ? op.getB() : Value();
  case BinaryKind::Sub:
    return is(op.getB(), 0) ? op.getA() : Value();
  case BinaryKind::Mul:
    return is(op.getB(), 1) ? op.getA() : is(op.getA(), 1) ? op.getB() : Value();
  default:
    return {};
  }
}

/// Whether an integer type has all numbers from 0 to `most`.
static bool hasPlaces(Type element, int64_t most) {
  auto type = dyn_cast<IntegerType>(element);
  if (!type || type.getWidth() == 1)
    return false;
  return type.getWidth() - !type.isUnsigned() >= 63 || most < (int64_t(1) << (type.getWidth() - !type.isUnsigned()));
}

/// A cast of an iota counts in the other type at once.
static void castPlaces(CastOp op) {
  SmallVector<Operation *> views;
  Value source = op.getX();
  for (; isIndexMap(source.getDefiningOp()); source = source.getDefiningOp()->getOperand(0))
    views.push_back(source.getDefiningOp());
  auto iota = source.getDefiningOp<IotaOp>();
  Type element = typeOf(op.getResult()).getElementType();
  if (!iota)
    return;
  const int64_t most = typeOf(source).getDimSize(iota.getDim()) - 1;
  if (!hasPlaces(element, most) || !hasPlaces(typeOf(source).getElementType(), most))
    return;
  OpBuilder builder(op);
  Value made = IotaOp::create(builder, iota.getLoc(), typeOf(source).clone(element), iota.getDim());
  for (Operation *view : llvm::reverse(views)) {
    Operation *copy = builder.clone(*view);
    copy->setOperand(0, made);
    copy->getResult(0).setType(typeOf(view->getResult(0)).clone(element));
    made = copy->getResult(0);
  }
  op.getResult().replaceAllUsesWith(made);
}

void zyx::fusion::foldPlaces(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto binary = dyn_cast<BinaryOp>(op)) {
      if (Value same = getUnchanged(binary))
        binary.getResult().replaceAllUsesWith(same);
    } else if (auto cast = dyn_cast<CastOp>(op)) {
      castPlaces(cast);
    } else if (auto iota = dyn_cast<IotaOp>(op)) {
      RankedTensorType type = typeOf(iota.getResult());
      if (type.getDimSize(iota.getDim()) != 1 || !isa<IntegerType>(type.getElementType()))
        continue;
      OpBuilder builder(&op);
      const APInt zero = APInt::getZero(type.getElementTypeBitWidth());
      iota.getResult().replaceAllUsesWith(
          ConstantOp::create(builder, iota.getLoc(), type, DenseElementsAttr::get(type, zero)).getResult());
    }
  }
}

//===----------------------------------------------------------------------===//
// Numbers of their own
//===----------------------------------------------------------------------===//

namespace {

/// Gives readers numbers of their own.
class Separator {
public:
  explicit Separator(Block &block) : block(block) {}

  void run() {
    for (Operation &op : block)
      find(&op);
    SmallVector<Operation *> ops(llvm::map_range(numbers, [](const auto &known) { return known.first; }));
    // Copies have operands that the next ones copy.
    for (Operation *op : llvm::reverse(ops))
      separate(op);
  }

private:
  /// More are rather stored.
  static constexpr size_t maxCopies = 4096;

  /// Notes an op whose results are numbers that differ along one dimension at most, which few cheap ops make of an
  /// iota.
  void find(Operation *op) {
    std::optional<int64_t> dim;
    if (auto iota = dyn_cast<IotaOp>(op)) {
      dim = iota.getDim();
    } else if (isa<ReshapeOp, ExpandOp, PermuteOp>(op)) {
      auto known = numbers.find(op->getOperand(0).getDefiningOp());
      auto dims = getOperandDims(op);
      if (known == numbers.end() || !dims)
        return;
      auto at = llvm::find(*dims, std::optional(known->second));
      if (at == dims->end())
        return;
      dim = at - dims->begin();
    } else if (isElementwise(op) && !zyx::fusion::isTranscendental(op)) {
      for (Value operand : op->getOperands()) {
        auto known = numbers.find(operand.getDefiningOp());
        if (known != numbers.end() && (!dim || *dim == known->second))
          dim = known->second;
        else if (known != numbers.end() || !isRepeated(operand))
          return;
      }
    }
    if (dim)
      numbers[op] = *dim;
  }

  static bool isRepeated(Value value) {
    while (isIndexMap(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    auto constant = value.getDefiningOp<ConstantOp>();
    return constant && constant.getValue().isSplat();
  }

  /// Whether a use counts by itself: others read memory, and may share it.
  static bool counts(OpOperand &use) {
    Operation *user = use.getOwner();
    return isIndexMap(user) || isElementwise(user) || isa<ReduceOp>(user) ||
           (isa<GatherOp>(user) && use.getOperandNumber() == 1);
  }

  void separate(Operation *op) {
    SmallVector<OpOperand *> uses;
    bool isShared = false;
    for (OpOperand &use : op->getResult(0).getUses())
      if (counts(use))
        uses.push_back(&use);
      else
        isShared = true;
    for (OpOperand *use : llvm::drop_begin(uses, isShared || uses.empty() ? 0 : 1)) {
      if (++numCopies > maxCopies)
        return;
      OpBuilder builder(op);
      use->set(builder.clone(*op)->getResult(0));
    }
  }

  Block &block;
  /// In the order of the block.
  llvm::MapVector<Operation *, int64_t> numbers;
  size_t numCopies = 0;
};

} // namespace

void zyx::fusion::separatePlaces(Block &block) { Separator(block).run(); }
