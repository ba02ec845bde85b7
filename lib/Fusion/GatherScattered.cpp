//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Scatters at positions that are known become gathers.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "LoopValues.h"
#include "Machine.h"
#include "Tables.h"

#include "zyx/Dialect/Graph/IR/UnaryKinds.h"
#include "zyx/Fusion/Passes.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_GATHERSCATTEREDPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::Table;
using zyx::fusion::TableEvaluator;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Which updates each row of the result has: of each round at most one, -1 where there is none.
using Rounds = SmallVector<SmallVector<int64_t>>;

/// Rows of updates, chosen by a round.
class Picker {
public:
  Picker(ScatterOp scatter, TableEvaluator &evaluator)
      : scatter(scatter), evaluator(evaluator), builder(scatter), loc(scatter.getLoc()), dim(scatter.getDim()) {
    opsLeft = mostOps;
    llvm::SmallPtrSet<Operation *, 16> seen;
    moves = canMove(scatter.getUpdates(), seen) && read.size() <= mostRead;
  }

  Value pick(ArrayRef<int64_t> rows) {
    Table table;
    for (const int64_t row : rows)
      table.integers.push_back(APInt(64, static_cast<uint64_t>(row), /*isSigned=*/true));
    chosen = rows;
    places = zyx::fusion::makeTable(
        builder, loc, RankedTensorType::get({static_cast<int64_t>(rows.size())}, builder.getI64Type()), table);
    picked.clear();
    return moves ? move(scatter.getUpdates()) : gather(scatter.getUpdates());
  }

private:
  static constexpr int mostOps = 12;
  static constexpr size_t mostRead = 2;

  /// Whether zeros in the place of what is gathered make a zero: a row without an update adds nothing.
  bool canMove(Value value, llvm::SmallPtrSetImpl<Operation *> &seen) {
    Operation *op = value.getDefiningOp();
    if (isTable(value) || zyx::fusion::isZero(value))
      return true;
    if (!isMoved(op)) {
      read.insert(value);
      return true;
    }
    if (!seen.insert(op).second)
      return true;
    return --opsLeft >= 0 && llvm::all_of(op->getOperands(), [&](Value operand) {
      return findFactor(op, operand) || canMove(operand, seen);
    });
  }

  /// A finite number by which something else is multiplied.
  static ConstantOp findFactor(Operation *op, Value operand) {
    auto product = dyn_cast<BinaryOp>(op);
    if (!product || product.getKind() != BinaryKind::Mul || product.getA() == product.getB())
      return {};
    ConstantOp splat = zyx::fusion::getSplat(operand);
    const bool isFirst = operand == product.getA();
    if (!splat || zyx::fusion::getSplat(isFirst ? product.getB() : product.getA()))
      return {};
    if (!isa<FloatType>(typeOf(splat).getElementType()))
      return splat;
    return splat.getValue().getSplatValue<APFloat>().isFinite() ? splat : ConstantOp();
  }

  bool isMoved(Operation *op) {
    if (auto binary = dyn_cast_or_null<BinaryOp>(op))
      return binary.getKind() == BinaryKind::Add || binary.getKind() == BinaryKind::Sub ||
             binary.getKind() == BinaryKind::Mul;
    if (auto unary = dyn_cast_or_null<UnaryOp>(op))
      return unary.getKind() == UnaryKind::Neg;
    if (auto cast = dyn_cast_or_null<CastOp>(op))
      return isa<FloatType>(typeOf(cast).getElementType()) && isa<FloatType>(typeOf(cast.getX()).getElementType());
    auto expand = dyn_cast_or_null<ExpandOp>(op);
    return expand && typeOf(expand.getX()).getDimSize(dim) == typeOf(expand).getDimSize(dim);
  }

  /// Numbers along the dimension alone.
  bool isTable(Value value) {
    RankedTensorType type = typeOf(value);
    return type.getNumElements() == type.getDimSize(dim) && evaluator.get(value);
  }

  RankedTensorType typeOfPicked(Value value) {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    shape[dim] = static_cast<int64_t>(chosen.size());
    return typeOf(value).clone(shape);
  }

  Value gather(Value value) { return GatherOp::create(builder, loc, typeOfPicked(value), value, places, dim); }

  Value move(Value value) {
    if (Value known = picked.lookup(value))
      return known;
    return picked[value] = moveAnew(value);
  }

  Value moveAnew(Value value) {
    const RankedTensorType type = typeOfPicked(value);
    if (zyx::fusion::isZero(value))
      return zyx::fusion::makeZeros(builder, loc, type);
    if (isTable(value))
      return pickTable(*evaluator.get(value), type);
    Operation *op = value.getDefiningOp();
    if (!isMoved(op))
      return gather(value);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto factorType = typeOfPicked(operand);
      if (ConstantOp factor = findFactor(op, operand))
        operands.push_back(ConstantOp::create(builder, loc, factorType, factor.getValue().resizeSplat(factorType)));
      else
        operands.push_back(move(operand));
    }
    return zyx::fusion::cloneWith(builder, op, operands, type);
  }

  Value pickTable(const Table &all, RankedTensorType type) {
    Table table;
    for (const int64_t row : chosen) {
      if (all.floats.empty())
        table.integers.push_back(row < 0 ? APInt(type.getElementTypeBitWidth(), 0) : all.integers[row]);
      else
        table.floats.push_back(row < 0 ? APFloat::getZero(all.floats.front().getSemantics()) : all.floats[row]);
    }
    return zyx::fusion::makeTable(builder, loc, type, table);
  }

  ScatterOp scatter;
  TableEvaluator &evaluator;
  OpBuilder builder;
  Location loc;
  int64_t dim;
  int opsLeft = 0;
  bool moves = false;
  llvm::SmallPtrSet<Value, 4> read;
  ArrayRef<int64_t> chosen;
  Value places;
  llvm::DenseMap<Value, Value> picked;
};

} // namespace

/// None where a row has too many updates.
static std::optional<Rounds> findRounds(const Table &places, int64_t rows) {
  constexpr size_t mostRounds = 8;
  Rounds rounds;
  SmallVector<size_t> counts(rows, 0);
  for (auto [at, place] : llvm::enumerate(places.integers)) {
    if (place.isNegative() || place.sge(rows))
      continue;
    const int64_t row = place.getSExtValue();
    const size_t round = counts[row]++;
    if (round == mostRounds)
      return std::nullopt;
    if (round == rounds.size())
      rounds.emplace_back(rows, -1);
    rounds[round][row] = static_cast<int64_t>(at);
  }
  return rounds;
}

/// Whether no element is -0, to which the 0 of a row without an update would be added. A sum is -0 only if both terms
/// are.
static bool hasNoNegativeZero(Value value, int depth = 16) {
  if (!isa<FloatType>(typeOf(value).getElementType()) || zyx::fusion::isZero(value))
    return true;
  auto sum = value.getDefiningOp<BinaryOp>();
  return depth > 0 && sum && sum.getKind() == BinaryKind::Add &&
         (hasNoNegativeZero(sum.getA(), depth - 1) || hasNoNegativeZero(sum.getB(), 0));
}

static void gatherScattered(Block &block) {
  // A scatter in place does not touch rows without updates.
  constexpr int64_t mostUntouched = 4, mostRows = 4096;
  TableEvaluator evaluator;
  for (auto scatter : llvm::make_early_inc_range(block.getOps<ScatterOp>())) {
    auto indices = typeOf(scatter.getIndices());
    const int64_t rows = typeOf(scatter).getDimSize(static_cast<unsigned>(scatter.getDim()));
    if (scatter.getKind() != ScatterKind::Add || indices.getRank() != 1 || rows > mostRows ||
        rows > mostUntouched * indices.getNumElements() || typeOf(scatter).getNumElements() == 0)
      continue;
    const Table *places = evaluator.get(scatter.getIndices());
    std::optional<Rounds> rounds = places ? findRounds(*places, rows) : std::nullopt;
    if (!rounds)
      continue;
    const bool haveAll = llvm::none_of(*rounds, [](ArrayRef<int64_t> round) { return llvm::is_contained(round, -1); });
    if (!haveAll && !hasNoNegativeZero(scatter.getX()))
      continue;
    OpBuilder builder(scatter);
    Picker picker(scatter, evaluator);
    // A zero is added to as well: -0 becomes +0, as it does where it is scattered.
    Value sum = scatter.getX();
    for (const SmallVector<int64_t> &round : *rounds)
      sum = BinaryOp::create(builder, scatter.getLoc(), BinaryKind::Add, sum, picker.pick(round));
    scatter.replaceAllUsesWith(sum);
    scatter.erase();
  }
  zyx::fusion::eraseUnused(block);
}

namespace {

struct GatherScattered : zyx::fusion::impl::GatherScatteredPassBase<GatherScattered> {
  void runOnOperation() override {
    if (!zyx::fusion::getMachine(getOperation()).hasSubgroups())
      return;
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), gatherScattered)))
      signalPassFailure();
  }
};

} // namespace
