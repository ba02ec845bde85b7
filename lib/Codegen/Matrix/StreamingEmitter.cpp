//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "StreamingEmitter.h"

#include "zyx/Codegen/Matrix/TensorDot.h"
#include "zyx/Target/Info/Budgets.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace zyx::kernel;
namespace fits = zyx::target::fits::groupProducts;

StreamingEmitter::StreamingEmitter(FuncOp func, const Axes &axes, Axis rowAxis, Axis streamedAxis,
                                   ArrayRef<Axis> batches)
    : MachineEmitter(func, axes), rowAxis(rowAxis), streamedAxis(streamedAxis), batches(batches),
      rows(axes.extent(rowAxis)), streamed(axes.extent(streamedAxis)),
      tilesDown(llvm::divideCeil(rows, step.getRows())), blocks(llvm::divideCeil(streamed, step.getColumns())),
      narrows(func.getVisible().has_value()), sharers(step.getSplit()) {
  for (Axis axis : batches)
    heads *= axes.extent(axis);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Tiles are dealt out forth and back, so that whoever has a long one in one round has a short one in the next.
Value StreamingEmitter::seatOf(Value round) {
  Value odd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest(round, index(2)), index(1));
  return choose(odd, sub(sub(numGroups, index(1)), group), group);
}

Value StreamingEmitter::rounds() {
  if (sharers > 1)
    return index(1);
  Value all = index(tilesDown * heads), full = divide(all, numGroups);
  Value hasMore = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, seatOf(full), rest(all, numGroups));
  return choose(hasMore, add(full, 1), full);
}

void StreamingEmitter::leaveOutHidden(TileCoordinates &place) {
  if (!narrows)
    return;
  const ArrayRef<int64_t> visible = *func.getVisible();
  auto numberAt = [&](int64_t number, int64_t count, Value at) -> Value {
    Value view =
        ViewOp::create(b, loc, ViewType::get({count}, b.getI32Type(), Space::Global), argument(number), ValueRange(),
                       MapAttr::get(b.getContext(), stridedBlock(b.getContext(), {count}, {1}, 0)));
    Value read = LoadOp::create(b, loc, b.getI32Type(), view, ValueRange{at}, Value(), Value(), ArrayAttr(),
                                DenseBoolArrayAttr());
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), read);
  };
  auto batchAt = [&](ArrayRef<int64_t> strides) {
    Value at = index(0);
    for (auto [axis, stride] : llvm::zip_equal(batches, strides))
      if (stride != 0)
        at = add(at, multiply(place.batches.lookup(axis), stride));
    return at;
  };
  const int64_t highs = visible[1], rowStride = visible[2];
  Value base = batchAt(visible.drop_front(3)), low, high;
  const int64_t parts = llvm::divideCeil(rows, visibleRows);
  for (int64_t part = 0; part < (rowStride == 0 ? 1 : step.getRows() / visibleRows); ++part) {
    Value own = add(divide(place.row, visibleRows), part);
    // A tile may reach behind the last rows.
    own = arith::MinUIOp::create(b, loc, own, index(parts - 1));
    Value at = rowStride == 0 ? base : add(base, multiply(own, rowStride));
    Value first = numberAt(visible[0], 2 * highs, at), behind = numberAt(visible[0], 2 * highs, add(at, highs));
    low = low ? arith::MinUIOp::create(b, loc, low, first).getResult() : first;
    high = high ? arith::MaxUIOp::create(b, loc, high, behind).getResult() : behind;
  }
  if (auto finite = func.getFinite()) {
    int64_t count = 1;
    for (auto [axis, stride] : llvm::zip_equal(batches, finite->drop_front()))
      count += (axes.extent(axis) - 1) * stride;
    Value isNot = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                        numberAt(finite->front(), count, batchAt(finite->drop_front())), index(0));
    low = choose(isNot, index(0), low);
    high = choose(isNot, index(streamed), high);
  }
  // One block is always streamed: rows that see nothing find so there.
  Value end = divide(add(high, step.getColumns() - 1), step.getColumns());
  end = arith::MinUIOp::create(b, loc, end, place.end);
  place.end = arith::MaxUIOp::create(b, loc, end, add(place.first, 1));
  Value first = arith::MaxUIOp::create(b, loc, divide(low, step.getColumns()), place.first);
  place.first = arith::MinUIOp::create(b, loc, first, sub(place.end, index(1)));
}

StreamingEmitter::TileCoordinates StreamingEmitter::coordinatesOf(Value round,
                                                                  const std::optional<TensorBound> &diagonal,
                                                                  const std::optional<TensorBound> &window) {
  TileCoordinates place;
  Value number = add(arith::MulIOp::create(b, loc, round, numGroups), seatOf(round));
  // Some heads at a time, of which the cache holds what is streamed; of these the longest tiles first.
  const int64_t together = std::min(step.getGroup(), heads);
  Value area = index(tilesDown * together), section = divide(number, area), inside = rest(number, area);
  Value here =
      heads % together == 0
          ? index(together)
          : arith::MinUIOp::create(b, loc, sub(index(heads), multiply(section, together)), index(together)).getResult();
  Value head = add(multiply(section, together), rest(inside, here));
  const bool isLastLongest = !diagonal || diagonal->factor < 0;
  Value down = divide(inside, here);
  if (isLastLongest)
    down = sub(index(tilesDown - 1), down);
  for (auto [i, axis] : llvm::enumerate(llvm::reverse(batches))) {
    const bool isLast = i + 1 == batches.size();
    Value extent = index(axes.extent(axis));
    place.batches[axis] = isLast ? head : rest(head, extent);
    if (!isLast)
      head = divide(head, extent);
  }
  place.row = multiply(down, step.getRows());
  place.first = place.wholeFirst = index(0);
  place.end = place.wholeEnd = index(blocks);
  const int64_t columns = step.getColumns();
  auto blockOf = [&](Value row, int64_t plus, int64_t least) {
    return divide(arith::MaxSIOp::create(b, loc, add(row, plus), index(least)), columns);
  };
  auto atMost = [&](Value x, Value most) -> Value { return arith::MinUIOp::create(b, loc, x, most); };
  // Row r sees what is from r - offset on.
  auto beginBy = [&](const TensorBound &bound, Value most) {
    place.first = atMost(blockOf(place.row, -bound.offset, 0), most);
    place.wholeFirst = atMost(blockOf(place.row, step.getRows() - 2 - bound.offset + columns, 0), index(blocks));
  };
  if (diagonal && isLastLongest) {
    // Row r sees what is up to r + offset.
    place.end = atMost(blockOf(place.row, diagonal->offset + step.getRows() - 1 + columns, columns), index(blocks));
    place.wholeEnd = atMost(blockOf(place.row, diagonal->offset + 1, 0), place.end);
  } else if (diagonal) {
    beginBy(*diagonal, index(blocks - 1));
  }
  if (window)
    beginBy(*window, sub(place.end, index(1)));
  if (!hides) {
    place.first = index(0);
    place.end = index(blocks);
  }
  leaveOutHidden(place);
  if (sharers > 1) {
    Value count = sub(place.end, place.first), own = divide(add(count, sharers - 1), index(sharers));
    Value before = arith::MulIOp::create(b, loc, rank, own);
    if ((hides && (diagonal || window)) || narrows ||
        static_cast<int64_t>(llvm::divideCeil(blocks, sharers)) * (sharers - 1) >= blocks)
      place.isIdle = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, before, count);
    place.first = atMost(add(place.first, before), sub(place.end, index(1)));
    place.end = atMost(add(place.first, own), place.end);
  }
  return place;
}

SmallVector<Value> StreamingEmitter::indicesOf(const TensorOperand &operand, const TileCoordinates &place, Value row) {
  SmallVector<Value> indices;
  for (const AxisPart &each : operand.batches) {
    Value at = divide(place.batches.lookup(each.axis), each.divisor);
    indices.push_back(each.divisor * each.extent == axes.extent(each.axis) ? at : rest(at, index(each.extent)));
  }
  indices.append({row, index(0)});
  return indices;
}

StreamingEmitter::PipelineState StreamingEmitter::next(PipelineState state) {
  auto [stage, parity] = advance(state.stage, state.parity);
  return {stage, parity};
}

//===----------------------------------------------------------------------===//
// Between workgroups that share a tile
//===----------------------------------------------------------------------===//

StreamingEmitter::Inbox StreamingEmitter::makeInbox(int64_t columns) {
  inboxColumns += columns;
  auto type = ViewType::get({groups, sharers, groupRows, columns}, b.getF32Type(), Space::Shared);
  return {AllocOp::create(b, loc, type), columns};
}

void StreamingEmitter::openInboxes() {
  received = barriers(1, 1);
  ExpectOp::create(b, loc, received, index(0), groups * sharers * groupRows * inboxColumns * 4);
}

Value StreamingEmitter::slotOf(const Inbox &inbox, Value from, Value instance) {
  auto type = ViewType::get({groupRows, inbox.columns}, b.getF32Type(), Space::Shared);
  return SubviewOp::create(b, loc, type, inbox.memory, ValueRange{instance, from, index(0), index(0)});
}

void StreamingEmitter::sendColumns(const Inbox &inbox, Value tile, Value instance) {
  Value mine = slotOf(inbox, rank, instance);
  for (int64_t to = 0; to < sharers; ++to) {
    Value part = ExtractOp::create(b, loc, this->tile(inbox.columns), tile, ArrayRef<int64_t>{0, to * inbox.columns});
    ClusterSendOp::create(b, loc, part, mine, index(to), received, index(0));
  }
}

void StreamingEmitter::sendAll(const Inbox &inbox, Value tile, Value instance) {
  Value mine = slotOf(inbox, rank, instance);
  for (int64_t to = 0; to < sharers; ++to)
    ClusterSendOp::create(b, loc, tile, mine, index(to), received, index(0));
}

Value StreamingEmitter::receive(const Inbox &inbox, int64_t from, Value instance) {
  return ClusterReceiveOp::create(b, loc, tile(inbox.columns), slotOf(inbox, index(from), instance));
}

void StreamingEmitter::awaitInboxes() { WaitOp::create(b, loc, received, index(0), bit(false), /*cluster=*/true); }

Value StreamingEmitter::unlessIdle(const TileCoordinates &place, Value tile, double otherwise) {
  if (!place.isIdle)
    return tile;
  auto type = cast<RankedTensorType>(tile.getType());
  return choose(spread(place.isIdle, type.clone(b.getI1Type())), number(type, otherwise), tile);
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

void StreamingEmitter::emitRoles(llvm::function_ref<void()> producer, llvm::function_ref<void(Value)> consumer) {
  BarrierOp::create(b, loc, Scope::Workgroup, /*async=*/false);
  if (sharers > 1) {
    ClusterArriveOp::create(b, loc);
    rank = IdOp::create(b, loc, b.getIndexType(), IdKind::ClusterRank);
  }
  group = IdOp::create(b, loc, b.getIndexType(), IdKind::Workgroup);
  numGroups = IdOp::create(b, loc, b.getIndexType(), IdKind::NumWorkgroups);
  auto roles = RolesOp::create(b, loc);
  b.createBlock(&roles.getBody());
  const int64_t copying = fits::streamingRegisters[groups];
  const int64_t multiplying = zyx::target::registersOfGroups(machine, groups, groups + 1, copying);
  emitRole("producer", 1, copying, /*single=*/true, [&](Value) { producer(); });
  emitRole("consumer", groups, multiplying, /*single=*/false, consumer);
  YieldOp::create(b, loc);
  b.setInsertionPointAfter(roles);
  endKernel();
}

//===----------------------------------------------------------------------===//
// What is elementwise
//===----------------------------------------------------------------------===//

RankedTensorType StreamingEmitter::tile(int64_t columns) {
  return RankedTensorType::get({groupRows, columns}, b.getF32Type(), acc);
}

RankedTensorType StreamingEmitter::row() {
  return RankedTensorType::get({groupRows}, b.getF32Type(), SliceAttr::get(b.getContext(), 1, acc));
}

Value StreamingEmitter::alongRows(Value column, RankedTensorType type) {
  return BroadcastOp::create(b, loc, type.clone(getElementTypeOrSelf(column.getType())), column, ArrayRef<int64_t>{0});
}

Value StreamingEmitter::power(Value x) {
  auto result = math::Exp2Op::create(b, loc, x);
  result.setFastmath(arith::FastMathFlags::afn);
  return result;
}

Value StreamingEmitter::isFar(Value vector, double limit) {
  Value size = math::AbsFOp::create(b, loc, vector);
  // An infinity is beyond each number of f32, also where a tiny factor would allow for more.
  limit = std::min<double>(limit, std::numeric_limits<float>::max());
  return AnyOp::create(b, loc, b.getI1Type(),
                       arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, size, number(vector.getType(), limit)));
}

Value StreamingEmitter::boundOf(const TensorBound &bound, const TileCoordinates &place, Value firstColumn,
                                RankedTensorType type) {
  // factor * (firstColumn + column) + ofQuery * (place.row + row) + offset >= 0
  auto numbers = type.clone(b.getI32Type());
  Value columns, limit;
  auto predicate = bound.factor < 0 ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge;
  if (bound.ofQuery == 0) {
    Value base = add(firstColumn, bound.factor * bound.offset);
    columns = IotaOp::create(b, loc, numbers, base, 1, ArrayAttr());
    limit = number(numbers, 0);
  } else {
    Value base = sub(add(place.row, -bound.factor * bound.offset), firstColumn);
    Value rows = IotaOp::create(b, loc, row().clone(b.getI32Type()), base, 0, ArrayAttr());
    columns = IotaOp::create(b, loc, numbers, Value(), 1, ArrayAttr());
    limit = alongRows(rows, numbers);
  }
  return arith::CmpIOp::create(b, loc, predicate, columns, limit);
}

Value StreamingEmitter::placesOf(Value of, const Site &site) {
  // Conversions take a slow unit. Of a thread's places one is converted, and the others are sums with it, which are
  // exact below 2^24; a block ends fewer than 2^10 places behind the last one that exists.
  constexpr int64_t mostExact = (int64_t(1) << 24) - (int64_t(1) << 10);
  auto conversion = of.getDefiningOp<arith::SIToFPOp>();
  auto iota = (conversion ? conversion.getIn() : of).getDefiningOp<IotaOp>();
  if (!iota)
    return {};
  const bool isRow = axes.contains(iota.getResult(), rowAxis);
  if (conversion && (!getElementTypeOrSelf(of.getType()).isF32() || (isRow ? rows : streamed) > mostExact))
    return {};
  Type type = heldType(iota.getResult(), site.fragment, getElementTypeOrSelf(of.getType()));
  return IotaOp::create(b, loc, type, isRow ? site.place.row : site.firstColumn, 0, ArrayAttr());
}

StreamingEmitter::Patch StreamingEmitter::patchOf(Value view, ValueRange at, Value tile, const Site &site) {
  AxisStrides strides = *stridesOf(view, at, tile, axes);
  SmallVector<int64_t> shape, places;
  SmallVector<Value> indices;
  SmallVector<bool> inBounds;
  auto take = [&](Axis axis, Value at, bool isInside) {
    shape.push_back(axes.extent(axis));
    places.push_back(strides.of(axis));
    indices.push_back(at);
    inBounds.push_back(isInside);
  };
  for (Axis axis : batches)
    if (strides.of(axis) != 0)
      take(axis, site.place.batches.lookup(axis), true);
  if (axes.contains(tile, rowAxis))
    take(rowAxis, site.place.row, rows % step.getRows() == 0);
  if (axes.contains(tile, streamedAxis))
    take(streamedAxis, site.firstColumn, site.isWhole || streamed % step.getColumns() == 0);
  else if (const Axis columns = site.fragment.columns; columns != streamedAxis && axes.contains(tile, columns))
    take(columns, site.resultColumn ? site.resultColumn : index(0),
         axes.extent(columns) % (site.fragment.width * sharers) == 0);
  auto map = MapAttr::get(b.getContext(), stridedBlock(b.getContext(), shape, places, strides.offset));
  return {MachineEmitter::viewOf(view, map), indices, b.getDenseBoolArrayAttr(inBounds)};
}

Value StreamingEmitter::read(LoadOp load, const Site &site) {
  Value of = load.getResult();
  Patch patch = patchOf(load.getView(), load.getIndices(), of, site);
  Type type = heldType(of, site.fragment, getElementTypeOrSelf(of.getType()));
  return LoadOp::create(b, loc, type, patch.view, patch.indices, Value(), Value(), ArrayAttr(), patch.inBounds);
}

void StreamingEmitter::write(StoreOp store, Value held, const Site &site) {
  Patch patch = patchOf(store.getView(), store.getIndices(), store.getValue(), site);
  Value result = narrow(held, getElementTypeOrSelf(store.getValue().getType()));
  StoreOp::create(b, loc, result, patch.view, patch.indices, Value(), patch.inBounds);
}

Value StreamingEmitter::divideByVector(Value of, const FragmentShape &fragment,
                                       llvm::function_ref<Value(Value)> evaluate) {
  auto quotient = of.getDefiningOp<arith::DivFOp>();
  auto divisor = quotient ? quotient.getRhs().getDefiningOp<BroadcastOp>() : BroadcastOp();
  if (!divisor || !getElementTypeOrSelf(of.getType()).isF32())
    return {};
  Value factor = evaluate(divisor.getInput());
  auto type = dyn_cast<RankedTensorType>(factor.getType());
  if (!type || !isa<SliceAttr>(type.getEncoding()))
    return {};
  Value reciprocal = arith::DivFOp::create(b, loc, number(type, 1), factor);
  return arith::MulFOp::create(b, loc, evaluate(quotient.getLhs()), spread(reciprocal, heldType(of, fragment)));
}
