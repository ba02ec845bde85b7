//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "AttentionProgram.h"

#include "zyx/Codegen/Tile/EmitLoop.h"

using namespace mlir;
using namespace zyx::kernel;

AttentionProgram::Values AttentionProgram::loop(Value from, Value to, Value by, ValueRange init,
                                                llvm::function_ref<Values(Value, ValueRange)> body) {
  return emitLoop(b, loc, from, to, by, init, body);
}

void AttentionProgram::when(Value condition, llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(b, loc, condition);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

void AttentionProgram::setRow(Point &point, Value row) {
  row = atMost(row, numRows - 1);
  for (auto [i, part] : llvm::enumerate(llvm::reverse(attention.rows))) {
    const bool isLast = i + 1 == attention.rows.size();
    Value own = isLast ? row : rest(row, part.extent), first = program.positions.lookup(part.axis);
    point.positions[part.axis] = first ? add(first, own) : own;
    if (!isLast)
      row = over(row, part.extent);
  }
}
