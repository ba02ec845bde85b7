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

/// The rows of a part, and threads of a workgroup, which are `segments` by `columns`.
struct BinShape {
  int64_t parts = 0, rows = 0, threads = 256;

  BinShape(ScatterOp scatter, const Workgroups &machine) {
    auto attribute = scatter->getAttrOfType<IntegerAttr>(scatterPartsAttrName);
    auto type = cast<RankedTensorType>(scatter.getX().getType());
    const int64_t updates = cast<RankedTensorType>(scatter.getIndices().getType()).getNumElements();
    const int64_t given = attribute ? attribute.getInt() : 0;
    if (given <= 0 || scatter.getKind() != ScatterKind::Add || scatter.getDim() != 0 ||
        !type.getElementType().isF32() || type.getDimSize(0) % given != 0 || updates % given != 0)
      return;
    rows = type.getDimSize(0) / given;
    // Two workgroups or more share a multiprocessor.
    while (threads > machine.warpSize && (rows + 1) * threads * 4 > machine.sharedBytes / 3)
      threads /= 2;
    if (threads <= machine.workgroupThreads && (rows + 1) * threads * 4 <= machine.sharedBytes / 3)
      parts = given;
  }
};

class BinOrder : public OrderEmitter {
public:
  BinOrder(GroupOp group, ScatterOp scatter, OpBuilder &builder, const BinShape &shape)
      : OrderEmitter(group, scatter, builder), scatter(scatter), shape(shape) {}

private:
  void emitOp() override;
  void explain(StringRef name) override {
    remark::passed(loc, remark::RemarkOpts::name("WorkgroupRows").category("zyx-scalar"))
        << (name + ": '" + op->getName().getStringRef() + "' is computed by workgroups of " + Twine(shape.threads) +
            " threads, in " + Twine(shape.parts) + " parts")
               .str();
  }
  void meet() { kernel::BarrierOp::create(builder, loc, kernel::Scope::Workgroup, /*async=*/false); }
  Value quotient(Value a, int64_t by) { return arith::DivUIOp::create(builder, loc, a, index(by)); }
  Value remainder(Value a, int64_t by) { return arith::RemUIOp::create(builder, loc, a, index(by)); }

  ScatterOp scatter;
  const BinShape shape;
};

} // namespace

/// A thread adds up what it reads in numbers of its own, one for each row and one for updates outside. Segments are
/// added up behind that, by halves.
void BinOrder::emitOp() {
  const Rows rows(getShape(scatter.getX()), 0);
  const int64_t numUpdates = cast<RankedTensorType>(scatter.getIndices().getType()).getNumElements();
  const int64_t threads = shape.threads, each = numUpdates / shape.parts;
  Operand indices = getOperand(scatter.getIndices(), {numUpdates});
  Operand updates = getOperand(scatter.getUpdates(), {1, numUpdates, rows.inner});
  // Neighbouring threads read what lies side by side.
  auto strideOf = [&](unsigned dim) -> std::optional<int64_t> {
    return updates.splat || !updates.map.isSingleBlock()
               ? std::nullopt
               : kernel::BlockAttr::constant(updates.map.front().getStrides()[dim]);
  };
  const bool isAlong = strideOf(1) == 1 && strideOf(2) != 1;
  const int64_t columns =
      isAlong ? 1 : std::min<int64_t>(threads, static_cast<int64_t>(llvm::PowerOf2Ceil(rows.inner)));
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
  for (int64_t half = segments / 2; half > 0; half /= 2) {
    loop(thread, index(shape.rows * half * columns), index(threads), [&](Value item) {
      Value to = add(multiply(quotient(item, half * columns), threads), remainder(item, half * columns));
      Value other = loadAt(bins, add(to, index(half * columns)));
      store(combine(kernel::Combine::Add, loadAt(bins, to), other), bins, to);
    });
    meet();
  }
  loop(thread, index(shape.rows * columns), index(threads), [&](Value item) {
    Value row = quotient(item, columns), own = remainder(item, columns), to = add(at[1], own);
    when(isLess(to, index(rows.inner)), [&] {
      store(loadAt(bins, add(multiply(row, threads), own)), out, linear(rows, zero, add(firstRow, row), to));
    });
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
