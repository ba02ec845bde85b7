//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ScheduleSteps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace zyx::kernel;

SmallVector<Operation *> zyx::kernel::tileOps(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator()) {
    bool touchesTiles = llvm::any_of(op.getOperands(), [](Value v) { return isTile(v); }) ||
                        llvm::any_of(op.getResults(), [](Value v) { return isTile(v); });
    if (touchesTiles || isa<scf::ForOp>(op))
      ops.push_back(&op);
  }
  return ops;
}

bool zyx::kernel::dependsOn(const Axes &axes, Operation *op, Axis axis) {
  auto has = [&](Value v) { return isTile(v) && axes.contains(v, axis); };
  return op
      ->walk([&](Operation *nested) {
        return llvm::any_of(nested->getOperands(), has) || llvm::any_of(nested->getResults(), has)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {

Value addIndex(OpBuilder &builder, Location loc, Value a, Value b) {
  if (matchPattern(a, m_Zero()))
    return b;
  return arith::AddIOp::create(builder, loc, a, b);
}

/// See resizeTiles.
class Resize {
public:
  Resize(const Axes &axes, Axis axis, int64_t tile, Value position, bool inBounds, bool always = false)
      : axes(axes), axis(axis), tile(tile), position(position), inBounds(inBounds), always(always) {}

  /// Accesses first: they need the axes of the types as they are.
  void apply(ArrayRef<Operation *> ops) {
    for (Operation *op : ops)
      op->walk([&](Operation *nested) { moveAccess(nested); });
    SmallVector<std::pair<Value, Type>> retyped;
    for (Operation *op : ops)
      op->walk([&](Operation *nested) {
        for (Value result : nested->getResults())
          if (isTile(result))
            retyped.push_back({result, resized(result)});
        for (Region &region : nested->getRegions())
          for (BlockArgument argument : region.getArguments())
            if (isTile(argument))
              retyped.push_back({argument, resized(argument)});
      });
    for (auto [value, type] : retyped) {
      value.setType(type);
      if (auto constant = value.getDefiningOp<arith::ConstantOp>())
        if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
          constant.setValueAttr(DenseElementsAttr::get(cast<ShapedType>(type), dense.getSplatValue<Attribute>()));
    }
  }

private:
  Type resized(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    for (auto [dim, a] : llvm::enumerate(axes.of(value)))
      if (a == axis)
        shape[dim] = tile;
    return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
  }

  template <typename AccessOp> void move(AccessOp access, Value value, MutableOperandRange indices) {
    OpBuilder builder(access);
    SmallVector<bool> flags(indices.size(), false);
    if (auto known = access.getInBounds())
      flags.assign(known->begin(), known->end());
    for (auto [dim, a] : llvm::enumerate(axes.of(value)))
      if (a == axis) {
        indices[dim].set(addIndex(builder, access.getLoc(), indices[dim].get(), position));
        flags[dim] = always || (flags[dim] && inBounds);
      }
    access.setInBounds(flags);
  }

  void moveAccess(Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      if (isTile(load.getResult()))
        move(load, load.getResult(), load.getIndicesMutable());
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      if (isTile(store.getValue()))
        move(store, store.getValue(), store.getIndicesMutable());
    } else if (auto iota = dyn_cast<IotaOp>(op)) {
      if (axes.of(iota.getResult(), iota.getDim()) != axis)
        return;
      OpBuilder builder(op);
      Value base = iota.getBase() ? addIndex(builder, op->getLoc(), iota.getBase(), position) : position;
      iota.getBaseMutable().assign(base);
    }
  }

  const Axes &axes;
  Axis axis;
  int64_t tile;
  Value position;
  bool inBounds, always;
};

} // namespace

void zyx::kernel::resizeTiles(ArrayRef<Operation *> ops, const Axes &axes, Axis axis, int64_t tile, Value position,
                              bool inBounds, bool always) {
  Resize(axes, axis, tile, position, inBounds, always).apply(ops);
}

void zyx::kernel::swapFactors(DotOp dot) {
  OpBuilder builder(dot);
  Location loc = dot.getLoc();
  auto transpose = [&](Value tile) -> Value {
    auto type = cast<RankedTensorType>(tile.getType());
    SmallVector<int64_t> shape(type.getShape());
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    std::swap(shape.rbegin()[0], shape.rbegin()[1]);
    std::swap(order.rbegin()[0], order.rbegin()[1]);
    auto swapped = RankedTensorType::get(shape, type.getElementType());
    if (DenseElementsAttr value; matchPattern(tile, m_Constant(&value)) && value.isSplat())
      return arith::ConstantOp::create(builder, loc, value.resizeSplat(swapped));
    return TransposeOp::create(builder, loc, swapped, tile, order);
  };
  Value rhs = transpose(dot.getLhs()), lhs = transpose(dot.getRhs()), acc = transpose(dot.getAcc());
  Value product = DotOp::create(builder, loc, acc.getType(), lhs, rhs, acc);
  dot.getResult().replaceAllUsesWith(transpose(product));
  dot.erase();
}
