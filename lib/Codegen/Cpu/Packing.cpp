//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Packing.h"

#include "MicroKernel.h"

#include "zyx/Codegen/Tile/Lanes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace zyx::kernel;

LogicalResult Packer::walk(Extent extent, int64_t step,
                           llvm::function_ref<LogicalResult(Value position, bool partial)> body) {
  auto piece = [&](bool partial) {
    return [&, partial](Value i, TileContext::Accumulators) -> FailureOr<TileContext::Accumulators> {
      if (failed(body(i, partial)))
        return failure();
      return TileContext::Accumulators();
    };
  };
  if (extent.constant) {
    int64_t whole = *extent.constant - *extent.constant % step;
    if (failed(t.emitLoop(0, {whole}, step, {}, loc, piece(false))) ||
        failed(t.emitLoop(whole, extent, step, {}, loc, piece(true))))
      return failure();
    return success();
  }
  if (step == 1)
    return failed(t.emitLoop(0, extent, 1, {}, loc, piece(false))) ? failure() : success();
  Value by = t.evaluator.constantIndex(step, loc);
  Value rest = arith::RemUIOp::create(t.builder, loc, extent.value, by);
  Value whole = arith::SubIOp::create(t.builder, loc, extent.value, rest);
  if (failed(t.emitLoop(0, {std::nullopt, whole}, step, {}, loc, piece(false))))
    return failure();
  // At most one round: the structured way to say "if there is a rest".
  auto loop = scf::ForOp::create(t.builder, loc, whole, extent.value, by);
  OpBuilder::InsertionGuard guard(t.builder);
  t.builder.setInsertionPointToStart(loop.getBody());
  return body(loop.getInductionVar(), true);
}

LogicalResult Packer::pack(const PackedBox &box, int64_t lanes) {
  FailureOr<bool> inRuns = packRuns(box, lanes);
  if (failed(inRuns))
    return failure();
  if (*inRuns)
    return success();
  if (lanes > 1 && llvm::isPowerOf2_64(lanes) && t.contiguousAxis(box.tile, box.rowAxis, box.columnAxis) == box.rowAxis)
    return transpose(box, lanes);
  return copy(box, lanes);
}

LogicalResult Packer::copy(const PackedBox &box, int64_t lanes) {
  return walk(box.rows, 1, [&](Value row, bool) {
    return walk(box.columns, lanes, [&](Value column, bool partial) -> LogicalResult {
      Point at = box.base;
      at.memo.clear();
      at.positions[box.rowAxis] = t.evaluator.addIndex(box.row0, row, loc);
      // What exists is counted from where the box begins.
      t.setLanes(at, box.columnAxis, column, lanes, box.columns, partial, loc);
      at.positions[box.columnAxis] = t.evaluator.addIndex(box.column0, column, loc);
      FailureOr<Value> value = t.evaluator.evaluateVector(box.tile, at);
      if (failed(value))
        return failure();
      StoreOp::create(t.builder, loc, widenFactor(t.builder, loc, *value, box.element), box.memory,
                      box.place(row, column), Value(), DenseBoolArrayAttr());
      return success();
    });
  });
}

LogicalResult Packer::transpose(const PackedBox &box, int64_t lanes) {
  return walk(box.rows, lanes, [&](Value row, bool partialRows) {
    return walk(box.columns, lanes, [&](Value column, bool partialColumns) -> LogicalResult {
      Point at = box.base;
      t.setLanes(at, box.rowAxis, row, lanes, box.rows, partialRows, loc);
      at.positions[box.rowAxis] = t.evaluator.addIndex(box.row0, row, loc);
      Value last;
      if (partialColumns)
        last =
            arith::SubIOp::create(t.builder, loc, t.materialise(box.columns, loc), t.evaluator.constantIndex(1, loc));
      SmallVector<Value> square;
      for (int64_t j = 0; j < lanes; ++j) {
        at.memo.clear();
        Value position = t.evaluator.addIndex(column, t.evaluator.constantIndex(j, loc), loc);
        // Behind the last column it is read again: what is made of it is not used.
        if (partialColumns && j > 0)
          position = arith::MinSIOp::create(t.builder, loc, position, last);
        at.positions[box.columnAxis] = t.evaluator.addIndex(box.column0, position, loc);
        FailureOr<Value> value = t.evaluator.evaluateVector(box.tile, at);
        if (failed(value))
          return failure();
        square.push_back(widenFactor(t.builder, loc, *value, box.element));
      }
      transposeVectors(t.builder, loc, square);
      for (auto [i, vector] : llvm::enumerate(square))
        StoreOp::create(t.builder, loc, vector, box.memory,
                        box.place(t.evaluator.addIndex(row, t.evaluator.constantIndex(i, loc), loc), column), Value(),
                        DenseBoolArrayAttr());
      return success();
    });
  });
}
