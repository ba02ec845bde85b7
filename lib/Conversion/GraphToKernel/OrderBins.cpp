//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Scatters that add up many updates in few rows, part by part.
//===----------------------------------------------------------------------===//
#include "OrderBins.h"

#include "zyx/Dialect/Graph/Analysis/Updates.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {
namespace {

/// The rows of a part, and threads of a workgroup.
struct BinShape {
  int64_t parts = 0, rows = 0;

  BinShape(ScatterOp scatter, const Workgroups &machine) : machine(machine) {
    auto attribute = scatter->getAttrOfType<IntegerAttr>(scatterPartsAttrName);
    auto type = cast<RankedTensorType>(scatter.getX().getType());
    const int64_t updates = cast<RankedTensorType>(scatter.getIndices().getType()).getNumElements();
    const int64_t given = attribute ? attribute.getInt() : 0;
    if (given <= 0 || scatter.getKind() != ScatterKind::Add || scatter.getDim() != 0 ||
        !type.getElementType().isF32() || type.getDimSize(0) % given != 0 || updates % given != 0)
      return;
    rows = type.getDimSize(0) / given;
    if (share(1, /*isAlong=*/true).threads != 0)
      parts = given;
  }
  ScatterThreads share(int64_t columns, bool isAlong) const {
    ScatterThreads threads(rows, columns, isAlong, machine.warpSize, machine.sharedBytes, machine.workgroupThreads);
    threads.spread(std::max<int64_t>(parts, 1), columns, machine.threads);
    return threads;
  }

private:
  Workgroups machine;
};

class BinOrder : public OrderEmitter {
public:
  BinOrder(GroupOp group, ScatterOp scatter, OpBuilder &builder, const BinShape &shape)
      : OrderEmitter(group, scatter, builder), scatter(scatter), shape(shape) {}

private:
  void emitOp() override;
  void explain(StringRef name) override {
    remark::passed(loc, remark::RemarkOpts::name("WorkgroupRows").category("zyx-scalar"))
        << (name + ": '" + op->getName().getStringRef() + "' is computed by workgroups of " +
            Twine(shape.share(1, /*isAlong=*/true).threads) + " threads, in " + Twine(shape.parts) + " parts")
               .str();
  }
  void meet() { kernel::BarrierOp::create(builder, loc, kernel::Scope::Workgroup, /*async=*/false); }
  Value quotient(Value a, int64_t by) { return arith::DivUIOp::create(builder, loc, a, index(by)); }
  Value remainder(Value a, int64_t by) { return arith::RemUIOp::create(builder, loc, a, index(by)); }

  ScatterOp scatter;
  const BinShape shape;
};

} // namespace

/// A thread adds up what it reads in numbers of its own, one for each row and one for updates outside. Behind that each
/// result is the sum of those that segments have of it.
void BinOrder::emitOp() {
  const Rows rows(getShape(scatter.getX()), 0);
  const int64_t numUpdates = cast<RankedTensorType>(scatter.getIndices().getType()).getNumElements();
  const int64_t each = numUpdates / shape.parts;
  Operand indices = getOperand(scatter.getIndices(), {numUpdates});
  Operand updates = getOperand(scatter.getUpdates(), {1, numUpdates, rows.inner});
  // Neighbouring threads read what lies side by side.
  auto strideOf = [&](unsigned dim) -> std::optional<int64_t> {
    return updates.splat || !updates.map.isSingleBlock()
               ? std::nullopt
               : kernel::BlockAttr::constant(updates.map.front().getStrides()[dim]);
  };
  const bool isAlong = strideOf(1) == 1 && strideOf(2) != 1;
  const auto [threads, columns] = shape.share(rows.inner, isAlong);
  const int64_t segments = threads / columns;

  made.setThreads(threads);
  Values at = openGrid({shape.parts, rows.inner}, {1, columns});
  Value thread = kernel::IdOp::create(builder, loc, builder.getIndexType(), kernel::IdKind::Thread);
  Type f32 = builder.getF32Type();
  Value bins = kernel::AllocOp::create(builder, loc,
                                       kernel::ViewType::get({(shape.rows + 1) * threads}, f32, kernel::Space::Shared));
  Value zero = index(0), one = index(1);
  Value nothing = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  loop(zero, index(shape.rows + 1), one, [&](Value r) { store(nothing, bins, add(multiply(r, threads), thread)); });

  Value column = smaller(add(at[1], remainder(thread, columns)), index(rows.inner - 1));
  Value begin = multiply(at[0], each), end = add(begin, index(each)), firstRow = multiply(at[0], shape.rows);
  Value limit = index(shape.rows);
  constexpr int64_t together = 4;
  loop(add(begin, quotient(thread, columns)), end, index(segments * together), [&](Value first) {
    Values slots, given;
    for (int64_t i = 0; i < together; ++i) {
      Value u = add(first, index(i * segments)), some = smaller(u, subtract(end, one));
      Value row = subtract(toIndex(getPlace(scatter, load(indices, {some}))), firstRow);
      Value isOwn = both(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, row, limit), isLess(u, end));
      slots.push_back(add(multiply(choose(isOwn, row, limit), threads), thread));
      given.push_back(load(updates, {zero, some, column}));
    }
    for (int64_t i = 0; i < together; ++i)
      store(combine(kernel::Combine::Add, loadAt(bins, slots[i]), given[i]), bins, slots[i]);
  });
  meet();
  loop(thread, index(shape.rows * columns), index(threads), [&](Value item) {
    Value row = quotient(item, columns), own = remainder(item, columns), to = add(at[1], own);
    Value firstSlot = add(multiply(row, threads), own);
    // Rows begin with another segment each: threads of a warp read other banks of shared memory.
    const int64_t atOnce = std::min(together, segments);
    Values sums(atOnce, nothing);
    sums = loop(zero, index(segments), index(atOnce), sums, [&](Value first, ValueRange before) -> Values {
      Values after;
      for (int64_t i = 0; i < atOnce; ++i) {
        Value segment = remainder(add(add(first, row), index(i)), segments);
        after.push_back(
            combine(kernel::Combine::Add, before[i], loadAt(bins, add(firstSlot, multiply(segment, columns)))));
      }
      return after;
    });
    Value sum = sums.front();
    for (Value other : llvm::drop_begin(sums))
      sum = combine(kernel::Combine::Add, sum, other);
    when(isLess(to, index(rows.inner)), [&] { store(sum, out, linear(rows, zero, add(firstRow, row), to)); });
  });
}

std::unique_ptr<OrderEmitter> createBinOrder(GroupOp group, Operation *op, OpBuilder &builder,
                                             const Workgroups &machine, bool isUpdate) {
  auto scatter = dyn_cast<ScatterOp>(op);
  if (!scatter || isUpdate || machine.threads == 0 || machine.workgroupThreads == 0 || machine.warpSize == 1)
    return nullptr;
  BinShape shape(scatter, machine);
  if (shape.parts == 0 || !addsToZeros(scatter))
    return nullptr;
  return std::make_unique<BinOrder>(group, scatter, builder, shape);
}

} // namespace zyx::lowering
