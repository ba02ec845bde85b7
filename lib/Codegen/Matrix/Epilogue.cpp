//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Matrix/Epilogue.h"

#include "zyx/Codegen/Tile/OpCost.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace zyx::kernel;

Epilogue zyx::kernel::findEpilogue(FuncOp func, TensorStepAttr step, const Axes &axes,
                                   const zyx::target::TargetInfo &target) {
  Epilogue result;
  DotOp dot;
  // Back from what is stored, up to the product: what feeds that is none of it.
  llvm::SetVector<Operation *> behind;
  func.walk([&](StoreOp store) { behind.insert(store); });
  for (size_t i = 0; i < behind.size(); ++i) {
    Operation *op = behind[i];
    if (auto found = dyn_cast<DotOp>(op)) {
      dot = found;
      continue;
    }
    Value tile = isa<StoreOp>(op)           ? cast<StoreOp>(op).getValue()
                 : op->getNumResults() == 1 ? op->getResult(0)
                                            : Value();
    if (!tile || !isTile(tile))
      continue;
    result.ops += costOf(op, target.costs) * elementsOf(tile);
    for (Value operand : op->getOperands())
      if (Operation *from = operand.getDefiningOp())
        behind.insert(from);
  }
  if (!dot)
    return result;
  result.ops /= elementsOf(dot.getResult());
  // A thread runs through code for each of its sums. Those of a workgroup's tile are shared evenly.
  const bool isSimtF32 = getElementTypeOrSelf(dot.getLhs().getType()).isF32() && !step.getTf32();
  const int64_t columns = step.getColumns() / step.getSplit();
  const int64_t groups =
      isSimtF32 ? MachineShape::simtF32Groups : std::max<int64_t>(1, step.getRows() / MachineShape::groupRows);
  const int64_t threads =
      step.getWarps() ? step.getWarps() * target.simt.subgroupSize : groups * MachineShape::groupThreads;
  auto bytesOf = [&](int64_t rows, int64_t columns) {
    return static_cast<int64_t>(result.ops *
                                static_cast<double>(rows * columns / threads * target.memory.instructionBytes));
  };
  result.bytes = bytesOf(step.getRows(), columns);
  result.loops = result.bytes > target.memory.codeBytes && step.getWarps() == 0 && step.getSplit() == 1 && !isSimtF32 &&
                 columns > MachineShape::panelColumns && columns % MachineShape::panelColumns == 0;
  if (result.loops)
    result.bytes = bytesOf(step.getRows(), MachineShape::panelColumns);
  return result;
}
