//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A right factor that is read as windows, packed for the matrix unit: copied in runs first, then joined in groups.
//===----------------------------------------------------------------------===//
#include "MatrixUnit.h"

#include "Packing.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

/// Memory for steps of a right factor that is read as windows with runs. They are copied as they lie first: what exists
/// of a run is found once for many columns, and not for each panel.
void MatrixUnit::allocateRuns() {
  Packer packer(t, loc);
  const PackedBox any{rhs.tile, k, n, Point(), {}, {}, {depth}, {depth}, factorType, {}, {}};
  const Packer::Runs runs = packer.findRuns(any, lanes);
  if (runs.length == 0)
    return;
  constexpr int64_t fewSteps = 8, windowsAtOnce = 8;
  runLanes = !runs.isTransposed && runs.length >= unit() ? unit() : lanes;
  runSteps = fewSteps;
  // Runs that lie along the steps are copied whole, and windows that are written out are cut at both ends.
  if (runs.isTransposed)
    runSteps = llvm::alignTo(lanes, std::min(runs.length, lanes));
  else if (const int64_t window = packer.rowsOfWindow(any, runLanes); window > 1)
    runSteps = windowsAtOnce * window;
  // The plan of the product has room for a quarter of the factor (planMatrixUnit).
  runSteps = std::min<int64_t>(runSteps, llvm::alignTo(std::max(depth / 4, lanes), group()));
  runSteps = std::min<int64_t>(llvm::alignTo(runSteps, group()), depth);
  const int64_t height = runs.isTransposed ? llvm::alignTo(runSteps, lanes) : runSteps;
  runMemory = AllocOp::create(
      b, loc, ViewType::get({height, int64_t(llvm::alignTo(panels * columns, runLanes))}, factorType, Space::Private));
}

/// `count` steps from `first` of the piece on, of all panels, copied in runs and then joined out of the cache.
LogicalResult MatrixUnit::packInRuns(const Point &at, Value start, Value first, int64_t count, Extent width,
                                     llvm::function_ref<LogicalResult(Panel)> overPanels) {
  Value zero = t.evaluator.constantIndex(0, loc), from = t.evaluator.addIndex(start, first, loc);
  PackedBox box{rhs.tile, k, n, at, from, zero, {count}, width, factorType, runMemory, {}};
  box.base.memo.clear();
  auto place = [](Value row, Value step) -> SmallVector<Value> { return {row, step}; };
  box.place = place;
  FailureOr<bool> isPackedSo = Packer(t, loc).packRuns(box, runLanes);
  if (failed(isPackedSo) || !*isPackedSo)
    return failure();
  auto allLanes = VectorType::get(unit(), b.getI16Type());
  Value groupStart = arith::DivUIOp::create(b, loc, first, t.evaluator.constantIndex(group(), loc));
  return overPanels([&](Value panel, Value column, int64_t ofPanel) -> LogicalResult {
    int64_t wide = ofPanel > lanes ? 2 * lanes : lanes;
    auto joinSome = [&](int64_t steps) {
      return [&, steps](Value i, Accumulators smallest) -> FailureOr<Accumulators> {
        SmallVector<Value> read;
        for (int64_t j = 0; j < steps; ++j) {
          Value one = load(b, loc, VectorType::get(wide, factorType), runMemory,
                           {t.evaluator.addIndex(i, t.evaluator.constantIndex(j, loc), loc), column});
          if (isFloat())
            one = arith::BitcastOp::create(b, loc, VectorType::get(wide, b.getI16Type()), one);
          read.push_back(one);
        }
        Value group = arith::DivUIOp::create(b, loc, i, t.evaluator.constantIndex(this->group(), loc));
        Value least = storeSteps(read, panel, t.evaluator.addIndex(groupStart, group, loc),
                                 isFloat() ? smallest.front() : Value());
        return isFloat() ? Accumulators{least} : Accumulators();
      };
    };
    Accumulators before;
    if (isFloat())
      before.push_back(load(b, loc, allLanes, leastLanes, zero));
    int64_t whole = count - count % group();
    FailureOr<Accumulators> smallest = t.emitLoop(0, {whole}, group(), before, loc, joinSome(group()));
    if (succeeded(smallest) && whole < count)
      smallest = t.emitLoop(whole, {count}, group(), *smallest, loc, joinSome(count - whole));
    if (failed(smallest))
      return failure();
    if (isFloat())
      StoreOp::create(b, loc, smallest->front(), leastLanes, ValueRange{zero}, Value(), DenseBoolArrayAttr());
    return success();
  });
}
