//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/Axes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace zyx::kernel;

bool zyx::kernel::isTile(Type type) { return isa<RankedTensorType>(type); }

static ArrayRef<int64_t> shapeOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getShape(); }

bool zyx::kernel::isElementwise(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op) &&
         op->getNumResults() == 1;
}

bool zyx::kernel::mayBeginBeyond(Value position) {
  auto argument = dyn_cast<BlockArgument>(position);
  return !argument || !isa<GridOp>(argument.getOwner()->getParentOp());
}

void zyx::kernel::unshareConstants(Operation *root) {
  SmallVector<Operation *> constants;
  root->walk([&](Operation *op) {
    if (isa<arith::ConstantOp, SplatOp, IotaOp, BroadcastOp>(op) && isTile(op->getResult(0)))
      constants.push_back(op);
  });
  for (Operation *op : constants) {
    bool first = true;
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      // A copy beside its user, so that splitting a loop around the user splits the copy.
      OpBuilder builder(use.getOwner());
      if (!first || op->getBlock() != use.getOwner()->getBlock())
        use.set(builder.clone(*op)->getResult(0));
      else
        first = false;
    }
    if (op->use_empty())
      op->erase();
  }
}

unsigned Axes::node(Value tile, unsigned dim) {
  auto [it, inserted] = nodes.try_emplace({tile, dim}, parents.size());
  if (inserted) {
    parents.push_back(parents.size());
    order.push_back({tile, dim});
  }
  return it->second;
}

unsigned Axes::root(unsigned n) const {
  while (parents[n] != n)
    n = parents[n] = parents[parents[n]];
  return n;
}

void Axes::tie(Value a, unsigned dimA, Value b, unsigned dimB) {
  unsigned x = root(node(a, dimA)), y = root(node(b, dimB));
  parents[std::max(x, y)] = std::min(x, y);
}

void Axes::tieAll(Value a, Value b) {
  for (unsigned i = 0, e = shapeOf(a).size(); i < e; ++i)
    tie(a, i, b, i);
}

LogicalResult Axes::visit(Operation *op) {
  for (Value result : op->getResults())
    if (isTile(result))
      for (unsigned i = 0, e = shapeOf(result).size(); i < e; ++i)
        node(result, i);

  auto note = [&](std::optional<ArrayAttr> axes, Value tile) {
    if (axes)
      for (auto [i, name] : llvm::enumerate(axes->getAsRange<StringAttr>()))
        names.push_back({name.getValue(), tile, i});
  };
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (isTile(load.getResult()))
      note(load.getAxes(), load.getResult());
  } else if (auto iota = dyn_cast<IotaOp>(op)) {
    note(iota.getAxes(), iota.getResult());
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    note(store.getAxes(), store.getValue());
  } else if (auto gather = dyn_cast<GatherOp>(op)) {
    for (Value index : gather.getIndices())
      tieAll(gather.getResult(), index);
  } else if (auto dot = dyn_cast<DotOp>(op)) {
    Value lhs = dot.getLhs(), rhs = dot.getRhs(), out = dot.getResult();
    unsigned rank = shapeOf(out).size();
    for (unsigned i = 0; i + 2 < rank; ++i) {
      tie(out, i, lhs, i);
      tie(out, i, rhs, i);
    }
    tie(out, rank - 2, lhs, rank - 2);
    tie(out, rank - 1, rhs, rank - 1);
    tie(lhs, rank - 1, rhs, rank - 2);
    tieAll(out, dot.getAcc());
    combinedDims.push_back({lhs, rank - 1});
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    unsigned kept = 0;
    for (unsigned i = 0, e = shapeOf(reduce.getInput()).size(); i < e; ++i) {
      if (llvm::is_contained(reduce.getDims(), i)) {
        node(reduce.getInput(), i);
        combinedDims.push_back({reduce.getInput(), i});
      } else {
        tie(reduce.getInput(), i, reduce.getResult(), kept++);
      }
    }
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (auto [i, dim] : llvm::enumerate(broadcast.getDims()))
      tie(broadcast.getInput(), i, broadcast.getResult(), dim);
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [i, dim] : llvm::enumerate(transpose.getOrder()))
      tie(transpose.getInput(), dim, transpose.getResult(), i);
  } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    // Only dimensions of extent 1 may come and go: anything else has no axis of its own.
    ArrayRef<int64_t> from = shapeOf(reshape.getInput()), to = shapeOf(reshape.getResult());
    unsigned i = 0, j = 0;
    while (i < from.size() || j < to.size()) {
      bool skipFrom = i < from.size() && from[i] == 1, skipTo = j < to.size() && to[j] == 1;
      if (skipFrom && skipTo) {
        tie(reshape.getInput(), i++, reshape.getResult(), j++);
      } else if (skipFrom) {
        ++i;
      } else if (skipTo) {
        ++j;
      } else if (i < from.size() && j < to.size() && from[i] == to[j]) {
        tie(reshape.getInput(), i++, reshape.getResult(), j++);
      } else {
        return op->emitOpError("changes more than dimensions of extent 1, so its axes have no names");
      }
    }
  } else if (auto convert = dyn_cast<ConvertOp>(op)) {
    tieAll(convert.getInput(), convert.getResult());
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, arg, yielded, result] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues(), loop.getResults()))
      if (isTile(result)) {
        tieAll(init, result);
        tieAll(arg, result);
        tieAll(yielded, result);
      }
  } else if (isElementwise(op) && isTile(op->getResult(0))) {
    for (Value operand : op->getOperands())
      if (isTile(operand))
        tieAll(operand, op->getResult(0));
  }
  return success();
}

FailureOr<Axes> Axes::compute(Operation *rootOp) {
  Axes axes;
  WalkResult walked = rootOp->walk<WalkOrder::PreOrder>(
      [&](Operation *op) { return failed(axes.visit(op)) ? WalkResult::interrupt() : WalkResult::advance(); });
  if (walked.wasInterrupted())
    return failure();
  for (auto [tile, dim] : axes.order) {
    unsigned r = axes.root(axes.nodes[{tile, dim}]);
    auto [it, inserted] = axes.axisOfRoot.try_emplace(r, axes.extents.size());
    if (inserted) {
      axes.extents.push_back(shapeOf(tile)[dim]);
      axes.combined.push_back(false);
    }
  }
  // Nothing could tell the two positions apart.
  llvm::DenseSet<std::pair<Value, Axis>> seen;
  for (auto [tile, dim] : axes.order)
    if (shapeOf(tile)[dim] != 1 && !seen.insert({tile, axes.of(tile, dim)}).second)
      return emitError(tile.getLoc(), "one axis runs along two dimensions of a tile; load it twice"), failure();
  for (auto [tile, dim] : axes.combinedDims)
    axes.combined[axes.of(tile, dim)] = true;
  return axes;
}

Axis Axes::of(Value tile, unsigned dim) const { return axisOfRoot.lookup(root(nodes.lookup({tile, dim}))); }

SmallVector<Axis> Axes::of(Value tile) const {
  SmallVector<Axis> result;
  for (unsigned i = 0, e = shapeOf(tile).size(); i < e; ++i)
    result.push_back(of(tile, i));
  return result;
}

bool Axes::contains(Value tile, Axis axis) const { return llvm::is_contained(of(tile), axis); }

FailureOr<Axis> Axes::find(StringRef name, Operation *user) const {
  std::optional<Axis> found;
  for (auto [known, tile, dim] : names) {
    if (known != name)
      continue;
    Axis axis = of(tile, dim);
    if (found.value_or(axis) != axis)
      return user->emitOpError() << "has two axes called '" << name << "'";
    found = axis;
  }
  if (!found)
    return user->emitOpError() << "has no axis called '" << name << "'";
  return *found;
}

std::optional<StringRef> Axes::name(Axis axis) const {
  for (auto [name, tile, dim] : names) {
    if (of(tile, dim) != axis)
      continue;
    bool unique = llvm::none_of(names, [&, name = name](const auto &other) {
      auto [otherName, otherTile, otherDim] = other;
      return otherName == name && of(otherTile, otherDim) != axis;
    });
    if (unique)
      return name;
  }
  return std::nullopt;
}
