//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "AllTrips.h"
#include "LoopValues.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::fusion {

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Value AllTrips::clone(Operation *op, ValueRange operands, Type type) {
  Operation *made = builder.clone(*op);
  made->setOperands(operands);
  made->getResult(0).setType(type);
  return made->getResult(0);
}

RankedTensorType AllTrips::withTrips(Value value) const {
  SmallVector<int64_t> shape{trips};
  llvm::append_range(shape, typeOf(value).getShape());
  return RankedTensorType::get(shape, typeOf(value).getElementType());
}

Value AllTrips::spread(Value value) {
  SmallVector<int64_t> shape{1};
  llvm::append_range(shape, typeOf(value).getShape());
  Type element = typeOf(value).getElementType();
  Value row = ReshapeOp::create(builder, value.getLoc(), RankedTensorType::get(shape, element), value);
  shape[0] = trips;
  return ExpandOp::create(builder, value.getLoc(), RankedTensorType::get(shape, element), row);
}

Value AllTrips::getEach(Value value) {
  std::optional<Known> all = get(value);
  return !all ? Value() : all->isEach ? all->value : spread(all->value);
}

std::optional<AllTrips::Known> AllTrips::get(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  std::optional<Known> result;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const unsigned number = argument.getArgNumber(), first = 1 + loop.getInitial().size();
    if (number >= first)
      result = Known{loop.getInvariants()[number - first], false};
    else if (number == 0) {
      auto type = RankedTensorType::get({trips}, builder.getI64Type());
      Value all = IotaOp::create(builder, loop.getLoc(), type, builder.getI64IntegerAttr(0));
      if (isReversed)
        all = FlipOp::create(builder, loop.getLoc(), all, ArrayRef<int64_t>{0});
      result = Known{all, true};
    }
  } else {
    result = compute(value.getDefiningOp());
  }
  known[value] = result;
  return result;
}

/// Rows that the trip's number chooses are a slice.
std::optional<AllTrips::Known> AllTrips::gather(GatherOp gather) {
  std::optional<Known> x = get(gather.getX());
  std::optional<TripNumber> row = asRow(gather.getIndices());
  Location loc = gather.getLoc();
  if (x && !x->isEach && row) {
    const int64_t dim = gather.getDim(), extent = typeOf(x->value).getShape()[dim];
    const int64_t last = row->constant + row->step * (trips - 1);
    const int64_t low = std::min(row->constant, last), high = std::max(row->constant, last);
    if (low < 0 || high >= extent)
      return std::nullopt;
    Value rows = x->value;
    if (low != 0 || high != extent - 1) {
      const size_t rank = typeOf(rows).getRank();
      SmallVector<int64_t> before(rank), after(rank), none(rank);
      before[dim] = -low;
      after[dim] = high + 1 - extent;
      Value fill = makeZeros(builder, loc, RankedTensorType::get({}, typeOf(rows).getElementType()));
      rows = PadOp::create(builder, loc, rows, fill, before, after, none);
    }
    if ((row->step < 0) != isReversed)
      rows = FlipOp::create(builder, loc, rows, ArrayRef<int64_t>{dim});
    if (dim != 0) {
      SmallVector<int64_t> order{dim};
      for (int64_t d = 0, rank = typeOf(rows).getRank(); d < rank; ++d)
        if (d != dim)
          order.push_back(d);
      rows = PermuteOp::create(builder, loc, rows, order);
    }
    // An index of several dimensions of extent 1.
    if (typeOf(rows) != withTrips(gather))
      rows = ReshapeOp::create(builder, loc, withTrips(gather), rows);
    return Known{rows, true};
  }
  std::optional<Known> indices = get(gather.getIndices());
  if (!x || !indices)
    return std::nullopt;
  if (!x->isEach && !indices->isEach)
    return Known{GatherOp::create(builder, loc, x->value, indices->value, builder.getI64IntegerAttr(gather.getDim())),
                 false};
  if (x->isEach && !indices->isEach)
    return Known{
        GatherOp::create(builder, loc, x->value, indices->value, builder.getI64IntegerAttr(gather.getDim() + 1)), true};
  if (x->isEach || gather.getDim() != 0)
    return std::nullopt;
  return Known{GatherOp::create(builder, loc, x->value, indices->value, builder.getI64IntegerAttr(0)), true};
}

std::optional<AllTrips::Known> AllTrips::compute(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || isa<ScatterOp, WindowOp, RandomBitsOp, TransferOp>(op))
    return std::nullopt;
  if (auto taken = dyn_cast<GatherOp>(op))
    return gather(taken);
  SmallVector<Known> operands;
  bool isEach = false;
  for (Value operand : op->getOperands()) {
    std::optional<Known> all = get(operand);
    if (!all)
      return std::nullopt;
    isEach |= all->isEach;
    operands.push_back(*all);
  }
  Value result = op->getResult(0);
  if (!isEach) {
    SmallVector<Value> values;
    for (const Known &operand : operands)
      values.push_back(operand.value);
    return Known{clone(op, values, result.getType()), false};
  }
  RankedTensorType type = withTrips(result);
  Location loc = op->getLoc();
  if (isElementwise(op)) {
    SmallVector<Value> values;
    for (const Known &operand : operands)
      values.push_back(operand.isEach ? operand.value : spread(operand.value));
    return Known{clone(op, values, type), true};
  }
  Value x = operands[0].value;
  if (!operands[0].isEach)
    return std::nullopt;
  auto behind = [](ArrayRef<int64_t> dims) { return llvm::map_to_vector(dims, [](int64_t dim) { return dim + 1; }); };
  if (isa<ReshapeOp, ExpandOp>(op))
    return Known{clone(op, x, type), true};
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    SmallVector<int64_t> order{0};
    llvm::append_range(order, behind(permute.getOrder()));
    return Known{PermuteOp::create(builder, loc, x, order), true};
  }
  if (auto flip = dyn_cast<FlipOp>(op))
    return Known{FlipOp::create(builder, loc, x, behind(flip.getDims())), true};
  if (auto pad = dyn_cast<PadOp>(op)) {
    if (operands[1].isEach)
      return std::nullopt;
    auto with = [](ArrayRef<int64_t> all) {
      SmallVector<int64_t> result{0};
      llvm::append_range(result, all);
      return result;
    };
    return Known{PadOp::create(builder, loc, x, operands[1].value, with(pad.getLow()), with(pad.getHigh()),
                               with(pad.getInterior())),
                 true};
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return Known{ReduceOp::create(builder, loc, reduce.getKind(), x, behind(reduce.getDims())), true};
  return std::nullopt;
}

} // namespace zyx::fusion
