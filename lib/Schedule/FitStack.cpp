//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ScheduleDraft.h"

#include "zyx/Codegen/Tile/ApplySchedule.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Schedule/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/SetVector.h"

namespace zyx::schedule {
#define GEN_PASS_DEF_FITSTACKPASS
#include "zyx/Schedule/Passes.h.inc"
} // namespace zyx::schedule

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Bytes of the sums, of what loops carry, and of staged tiles that a program of these steps keeps in private memory.
int64_t keptBytes(FuncOp func, ArrayRef<Attribute> steps) {
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(func.getLoc()));
  FuncOp copy = func.clone();
  scratch->push_back(copy);
  copy.setScheduleAttr(ScheduleAttr::get(func.getContext(), steps));
  if (failed(applySchedule(copy)))
    return 0;
  int64_t bytes = 0;
  copy.walk([&](Operation *op) {
    for (Value tile : op->getResults())
      if (isTile(tile) && (isa<DotOp, ReduceOp>(op) || op->getNumRegions() != 0 ||
                           cast<RankedTensorType>(tile.getType()).getEncoding()))
        bytes += zyx::schedule::bytesOfAll(tile);
  });
  return bytes;
}

/// The names of the axes, those of outer dimensions first.
llvm::SetVector<StringAttr> axisNames(FuncOp func) {
  llvm::SetVector<StringAttr> names;
  func.walk([&](LoadOp load) {
    if (std::optional<ArrayAttr> axes = load.getAxes())
      for (StringAttr name : axes->getAsRange<StringAttr>())
        names.insert(name);
  });
  return names;
}

struct FitStack : zyx::schedule::impl::FitStackPassBase<FitStack> {
  void runOnOperation() override {
    const zyx::target::TargetInfo *record = requireTarget(getOperation());
    if (!record)
      return signalPassFailure();
    // Where programs are threads of a card, what their stacks have no room for lies in memory.
    if (record->hasSubgroups())
      return;
    // Tiles have rows of whole vectors, and other values lie beside them.
    const int64_t room = record->memory.stackBytes / 2;
    getOperation()->walk([&](FuncOp func) {
      CrashNote note(func);
      SmallVector<Attribute> steps;
      if (ScheduleAttr schedule = func.getScheduleAttr())
        steps.assign(schedule.getSteps().begin(), schedule.getSteps().end());
      int64_t bytes = keptBytes(func, steps);
      if (bytes <= room)
        return;
      for (StringAttr name : axisNames(func)) {
        SmallVector<Attribute> more = {GridStepAttr::get(func.getContext(), name, 1)};
        more.append(steps);
        if (!checkSchedule(func, more).isOk())
          continue;
        const int64_t fewer = keptBytes(func, more);
        if (fewer >= bytes)
          continue;
        bytes = fewer;
        steps = more;
        if (bytes <= room)
          break;
      }
      func.setScheduleAttr(ScheduleAttr::get(func.getContext(), steps));
    });
  }
};

} // namespace
