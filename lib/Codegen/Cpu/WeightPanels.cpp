//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "WeightPanels.h"

#include "zyx/Codegen/Cpu/Panels.h"

using namespace mlir;
using namespace zyx::kernel;

static Type elementOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getElementType(); }

/// Whether a column is one that a panel begins with, in every program.
static bool beginsPanel(Value column, int64_t width) {
  if (std::optional<int64_t> constant = getConstantIntValue(column))
    return *constant % width == 0;
  auto index = dyn_cast<BlockArgument>(column);
  auto grid = index ? dyn_cast<GridOp>(index.getOwner()->getParentOp()) : GridOp();
  return grid && grid.getSteps()[index.getArgNumber()] % width == 0;
}

std::optional<WeightPanels> WeightPanels::find(TileContext &lowering, DotOp dot, Value rhs, int64_t group,
                                               int64_t lanes, int64_t depth) {
  WeightPanels result(lowering, dot);
  TileContext &t = lowering;
  BlockingAttr blocking = result.blocking;
  auto load = rhs.getDefiningOp<LoadOp>();
  unsigned rank = cast<RankedTensorType>(dot.getType()).getRank();
  if (!blocking.getPackRhs() || !load || rank != 2 || load.getMask() || load.getOther() ||
      t.evaluator.memory.contains(load))
    return std::nullopt;
  auto view = load.getView().getDefiningOp<ViewOp>();
  std::optional<Panels> found = view ? Panels::match(view.getMap()) : std::nullopt;
  int64_t width = blocking.getColumns();
  result.steps = std::min(blocking.getDepth(), depth);
  Axis k = t.axes.of(dot.getLhs(), rank - 1);
  if (!found || found->group != group || found->width != width || found->piece != result.steps || width % lanes != 0 ||
      t.axes.of(load)[0] != k || !matchPattern(load.getIndices()[0], m_Zero()) ||
      !beginsPanel(load.getIndices()[1], width))
    return std::nullopt;

  result.element = elementOf(load);
  result.firstColumn = t.evaluator.mapping.lookupOrDefault(load.getIndices()[1]);
  result.numPanels = found->count();
  result.numPieces = llvm::divideCeil(depth, result.steps);
  OpBuilder::InsertionGuard guard(t.builder);
  t.builder.setInsertionPointToStart(t.programStart);
  auto viewOf = [&](ArrayRef<int64_t> shape) -> Value {
    return ViewOp::create(t.builder, result.loc, ViewType::get(shape, result.element, view.getType().getSpace()),
                          t.evaluator.mapping.lookupOrDefault(view.getBuffer()), ValueRange(),
                          MapAttr::identity(t.builder.getContext(), shape));
  };
  SmallVector<int64_t> shape = found->shape();
  if (group > 1)
    shape = {shape[0] * shape[1], shape[2], shape[3] * shape[4]};
  result.panels = viewOf(shape);
  if (group == 1)
    result.inOrder = viewOf({ShapedType::getNumElements(shape)});
  return result;
}

Value WeightPanels::piece(Value start) { return arith::DivUIOp::create(t.builder, loc, start, number(steps)); }

Value WeightPanels::panel(Value column) {
  column = t.evaluator.addIndex(firstColumn, column, loc);
  return arith::DivUIOp::create(t.builder, loc, column, number(blocking.getColumns()));
}

Value WeightPanels::panelOfAll(Value start, Value column) {
  Value before = arith::MulIOp::create(t.builder, loc, piece(start), number(numPanels));
  return t.evaluator.addIndex(before, panel(column), loc);
}

Value WeightPanels::panelAfter(Value start, Value column) {
  Value here = panel(column), at = piece(start);
  Axis n = t.axes.of(dot.getResult(), 1);
  Value across = t.evaluator.addIndex(here, number(llvm::divideCeil(t.axes.extent(n), blocking.getColumns())), loc);
  Value isLast = arith::CmpIOp::create(t.builder, loc, arith::CmpIPredicate::eq, at, number(numPieces - 1));
  Value next = arith::MulIOp::create(t.builder, loc, t.evaluator.addIndex(at, number(1), loc), number(numPanels));
  next = arith::SelectOp::create(t.builder, loc, isLast, across, t.evaluator.addIndex(next, here, loc));
  return arith::MulIOp::create(t.builder, loc, next, number(steps * blocking.getColumns()));
}

WeightPanels::Ahead WeightPanels::readAhead(Value start, Value column, Value tileRow, int64_t unroll) {
  Axis m = t.axes.of(dot.getResult(), 0);
  int64_t tiles = llvm::divideCeil(t.axes.extent(m), blocking.getRows());
  int64_t line = std::max<int64_t>(512 / element.getIntOrFloatBitWidth(), 1);
  int64_t perStep = llvm::divideCeil(blocking.getColumns(), tiles);
  Value tile = arith::DivUIOp::create(t.builder, loc, tileRow, number(blocking.getRows()));
  Value share = arith::MulIOp::create(t.builder, loc, tile, number(perStep * steps));
  return {t.evaluator.addIndex(panelAfter(start, column), share, loc), perStep,
          int64_t(llvm::divideCeil(perStep * unroll, line)), line};
}

void WeightPanels::fetch(const Ahead &ahead, Value step) {
  Value at = arith::MulIOp::create(t.builder, loc, step, number(ahead.perStep));
  at = t.evaluator.addIndex(ahead.from, at, loc);
  for (int64_t i = 0; i < ahead.linesPerRound; ++i)
    PrefetchOp::create(t.builder, loc, inOrder, t.evaluator.addIndex(at, number(i * ahead.line), loc));
}
