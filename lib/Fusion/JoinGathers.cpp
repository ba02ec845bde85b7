//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Rows and columns that are gathered one after the other are gathered at once.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Machine.h"
#include "Tables.h"

#include "zyx/Dialect/Graph/Analysis/InsideGathers.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_JOINGATHERSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::TableEvaluator;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static bool isSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat();
}

/// Whether the indices are known, and all of them are in what is gathered from.
static bool isInside(GatherOp gather, TableEvaluator &tables) {
  const zyx::fusion::Table *table = tables.get(gather.getIndices());
  if (!table)
    return false;
  const int64_t extent = typeOf(gather.getX()).getDimSize(gather.getDim());
  return llvm::all_of(table->integers, [&](const APInt &index) { return !index.isNegative() && index.slt(extent); });
}

namespace {

/// Computes what a gather picks from, at the picked places alone.
class Joiner {
public:
  Joiner(GatherOp gather, TableEvaluator &tables)
      : gather(gather), tables(tables), builder(gather), loc(gather.getLoc()) {}

  void run() {
    if (!canPick(gather))
      return;
    // In memory what is gathered from may have its dimensions in another order.
    Value source = gather.getX();
    int64_t dim = gather.getDim();
    auto permute = source.getDefiningOp<PermuteOp>();
    if (permute) {
      dim = permute.getOrder()[dim];
      source = permute.getX();
    }
    Operation *op = source.getDefiningOp();
    if (!op || !(isElementwise(op) || isa<GatherOp>(op)) || !isReadByAlike(source, permute))
      return;
    if (!canMove(source, dim) || joined == 0)
      return;
    Value result = move(source, dim);
    if (permute)
      result = PermuteOp::create(builder, loc, gather.getType(), result, permute.getOrder());
    gather.replaceAllUsesWith(result);
    gather.erase();
  }

private:
  /// What is computed again for each place costs less than to store it, if it is little.
  static constexpr int mostOps = 8, mostValues = 24;
  /// How many places there are at most for each element that would be stored.
  static constexpr int64_t mostRepeats = 4;

  /// Whether a gather picks along one dimension, by known places.
  bool canPick(GatherOp op) {
    return typeOf(op.getIndices()).getRank() == 1 && typeOf(op.getIndices()).getElementType().isSignlessInteger(64) &&
           isInside(op, tables);
  }

  /// Whether nobody needs all of a value: gathers along one dimension read it.
  bool isReadByAlike(Value value, PermuteOp through) {
    if (through && !value.hasOneUse())
      return false;
    return llvm::all_of(gather.getX().getUsers(), [&](Operation *user) {
      auto other = dyn_cast<GatherOp>(user);
      return other && other.getX() == gather.getX() && other.getDim() == gather.getDim() && canPick(other);
    });
  }

  bool canMove(Value value, int64_t dim) {
    Operation *op = value.getDefiningOp();
    if (isSplat(value) || !seen.insert({value, dim}).second)
      return true;
    if (!op || seen.size() > mostValues)
      return false;
    if (auto expand = dyn_cast<ExpandOp>(op))
      return typeOf(expand.getX()).getDimSize(dim) == 1;
    if (auto permute = dyn_cast<PermuteOp>(op))
      return canMove(permute.getX(), permute.getOrder()[dim]);
    if (auto inner = dyn_cast<GatherOp>(op))
      return canJoin(inner, dim);
    // A root and a function are slow, and so is a division.
    if (!isElementwise(op) || isa<UnaryOp, BitcastOp>(op) || ++ops > mostOps)
      return false;
    if (auto binary = dyn_cast<BinaryOp>(op); binary && binary.getKind() != BinaryKind::Add &&
                                              binary.getKind() != BinaryKind::Sub &&
                                              binary.getKind() != BinaryKind::Mul)
      return false;
    return llvm::all_of(op->getOperands(), [&](Value operand) { return canMove(operand, dim); });
  }

  /// Whether a gather can pick along `dim`, too. What is contiguous stays so: elements that are gathered along it are
  /// found one by one, of which there would be more.
  bool canJoin(GatherOp inner, int64_t dim) {
    const int64_t own = inner.getDim(), last = typeOf(inner.getX()).getRank() - 1;
    const int64_t places = typeOf(gather.getIndices()).getNumElements();
    if (!canPick(inner) || std::abs(own - dim) != 1 || std::max(own, dim) == last ||
        inner.getX().getDefiningOp<PermuteOp>() || places > mostRepeats * typeOf(inner.getX()).getDimSize(dim))
      return false;
    ++joined;
    return true;
  }

  SmallVector<int64_t> picked(Value value, int64_t dim) {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    shape[dim] = typeOf(gather.getIndices()).getNumElements();
    return shape;
  }

  /// The value at the picked places along `dim`.
  Value move(Value value, int64_t dim) {
    if (Value known = moved.lookup({value, dim}))
      return known;
    Value made = moveAnew(value, dim);
    return moved[{value, dim}] = made;
  }

  Value moveAnew(Value value, int64_t dim) {
    RankedTensorType type = typeOf(value).clone(picked(value, dim));
    Operation *op = value.getDefiningOp();
    if (isSplat(value))
      return ConstantOp::create(builder, loc, type, cast<ConstantOp>(op).getValue().resizeSplat(type));
    if (auto expand = dyn_cast<ExpandOp>(op))
      return ExpandOp::create(builder, loc, type, expand.getX());
    if (auto permute = dyn_cast<PermuteOp>(op))
      return PermuteOp::create(builder, loc, type, move(permute.getX(), permute.getOrder()[dim]), permute.getOrder());
    if (auto inner = dyn_cast<GatherOp>(op))
      return join(inner, dim, type);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(move(operand, dim));
    return zyx::fusion::cloneWith(builder, op, operands, type);
  }

  /// Both dimensions as one, and the places in it.
  Value join(GatherOp inner, int64_t dim, RankedTensorType type) {
    const int64_t first = std::min<int64_t>(inner.getDim(), dim);
    const bool isInnerFirst = inner.getDim() == static_cast<uint64_t>(first);
    Value rows = isInnerFirst ? inner.getIndices() : gather.getIndices(),
          columns = isInnerFirst ? gather.getIndices() : inner.getIndices();
    SmallVector<int64_t> shape(typeOf(inner.getX()).getShape());
    const int64_t width = shape[first + 1];
    shape[first] *= width;
    shape.erase(shape.begin() + first + 1);
    Value flat = ReshapeOp::create(builder, loc, typeOf(inner.getX()).clone(shape), inner.getX());
    auto begin = DenseElementsAttr::get(typeOf(rows), Attribute(builder.getI64IntegerAttr(width)));
    rows = BinaryOp::create(builder, loc, BinaryKind::Mul, rows,
                            ConstantOp::create(builder, loc, typeOf(rows), begin).getResult());
    const int64_t height = typeOf(rows).getNumElements(), length = typeOf(columns).getNumElements();
    auto spread = [&](Value line, ArrayRef<int64_t> as) -> Value {
      Value unit = ReshapeOp::create(builder, loc, typeOf(line).clone(as), line);
      return ExpandOp::create(builder, loc, typeOf(line).clone({height, length}), unit);
    };
    Value places =
        BinaryOp::create(builder, loc, BinaryKind::Add, spread(rows, {height, 1}), spread(columns, {1, length}));
    auto all = GatherOp::create(builder, loc, type, flat, places, first);
    all->setAttr(insideAttrName, builder.getUnitAttr());
    return all;
  }

  GatherOp gather;
  TableEvaluator &tables;
  OpBuilder builder;
  Location loc;
  int ops = 0, joined = 0;
  llvm::DenseSet<std::pair<Value, int64_t>> seen;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> moved;
};

} // namespace

static void joinGathers(Block &block) {
  TableEvaluator tables;
  // The last ones have most elements.
  SmallVector<GatherOp> gathers(block.getOps<GatherOp>());
  for (GatherOp gather : llvm::reverse(gathers))
    if (isInside(gather, tables))
      gather->setAttr(insideAttrName, UnitAttr::get(gather.getContext()));
  for (GatherOp gather : llvm::reverse(gathers))
    Joiner(gather, tables).run();
  zyx::fusion::eraseUnused(block);
}

namespace {

struct JoinGathers : zyx::fusion::impl::JoinGathersPassBase<JoinGathers> {
  void runOnOperation() override {
    if (zyx::fusion::getMachine(getOperation()).hasSubgroups())
      return;
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), joinGathers)))
      signalPassFailure();
  }
};

} // namespace
