//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FactorStaging.h"

using namespace mlir;
using namespace zyx::kernel;

/// Whether memory that a factor is made of lies side by side along an axis.
static bool liesAlong(Value factor, Axis axis, const Axes &axes) {
  SmallVector<Value> pending{factor};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!isTile(next) || !seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (auto load = dyn_cast_or_null<LoadOp>(op))
      for (auto [dim, own] : llvm::enumerate(axes.of(next)))
        if (own == axis && strideOf(load.getView(), dim) == 1)
          return true;
    if (op)
      llvm::append_range(pending, op->getOperands());
  }
  return false;
}

FactorStaging::FactorStaging(AttentionProgram &program, Value tile, Axis rowAxis, int64_t rows, int64_t all,
                             Axis columnAxis, int64_t columns)
    : p(&program), tile(tile), rowAxis(rowAxis), columnAxis(columnAxis), rows(rows), columns(columns), all(all) {
  const Axes &axes = p->axes;
  alongColumns = liesAlong(tile, columnAxis, axes) || !liesAlong(tile, rowAxis, axes);
  const unsigned bits = getElementTypeOrSelf(tile.getType()).getIntOrFloatBitWidth();
  lanes = std::min<int64_t>(p->evaluator.laneBytes / std::max<int64_t>(bits / 8, 1), 8);
  auto divides = [&] { return alongColumns ? columns % lanes == 0 : rows % lanes == 0 && all % lanes == 0; };
  while (!divides())
    lanes /= 2;
}

FactorStaging FactorStaging::ofQueries(AttentionProgram &program) {
  const SharedAttention &attention = program.attention;
  FactorStaging staging(program, attention.q, attention.features, program.shape.rows, program.numRows,
                        attention.features, program.shape.depth);
  // Vectors run along features, or are single elements.
  if (!liesAlong(attention.q, attention.features, program.axes))
    staging.lanes = 1;
  staging.alongColumns = true;
  staging.isOfRows = true;
  return staging;
}

void FactorStaging::allocate(int64_t stride, Type element) { memory = p->share({rows, stride}, element); }

FailureOr<FactorStaging::Values> FactorStaging::fetch(Value first) const {
  Values result;
  const int64_t perRow = alongColumns ? columns / lanes : rows / lanes;
  for (int64_t i = 0; i < vectors(); i += p->shape.threads) {
    Value vector = p->add(p->thread, i);
    if (i + p->shape.threads > vectors())
      vector = p->atMost(vector, vectors() - 1);
    Point point = p->program;
    Value row, column;
    if (alongColumns) {
      row = p->add(first, p->over(vector, perRow));
      column = p->times(p->rest(vector, perRow), lanes);
      row = p->atMost(row, all - 1);
    } else {
      column = p->over(vector, perRow);
      row = p->atMost(p->add(first, p->times(p->rest(vector, perRow), lanes)), all - lanes);
    }
    if (isOfRows)
      p->setRow(point, row);
    else
      point.positions[rowAxis] = row;
    point.positions[columnAxis] = column;
    point.lanes = lanes;
    if (lanes > 1)
      point.vectorAxis = alongColumns ? columnAxis : rowAxis;
    FailureOr<Value> read = p->evaluator.evaluateVector(tile, point);
    if (failed(read))
      return failure();
    result.push_back(*read);
  }
  return result;
}

void FactorStaging::put(ValueRange read, Value first) const {
  const int64_t perRow = alongColumns ? columns / lanes : rows / lanes;
  Type element = cast<ViewType>(memory.getType()).getElementType();
  for (auto [i, value] : llvm::enumerate(read)) {
    const int64_t from = static_cast<int64_t>(i) * p->shape.threads;
    Value vector = p->add(p->thread, from);
    Value exists = from + p->shape.threads > vectors() ? p->isBelow(vector, vectors()) : Value();
    Value kept = value;
    p->when(exists, [&] {
      if (getElementTypeOrSelf(kept.getType()) != element)
        kept = p->widen(kept);
      if (first) {
        Value row = alongColumns ? p->over(vector, perRow) : p->times(p->rest(vector, perRow), lanes);
        kept =
            arith::SelectOp::create(p->b, p->loc, p->isBelow(p->add(first, row), all), kept, p->zeros(kept.getType()));
      }
      if (alongColumns)
        return p->write(kept, memory, {p->over(vector, perRow), p->times(p->rest(vector, perRow), lanes)});
      Value row = p->times(p->rest(vector, perRow), lanes);
      for (int64_t l = 0; l < lanes; ++l)
        p->write(p->lane(kept, l), memory, {p->add(row, l), p->over(vector, perRow)});
    });
  }
}
