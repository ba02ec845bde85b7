//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "StageCarried.h"

#include "zyx/Codegen/Loops/Passes.h"
#include "zyx/Codegen/Simt/SharedMemory.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Target/Info/UnknownTarget.h"

#include "mlir/IR/Remarks.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_SETTLEMEMORYPASS
#include "zyx/Codegen/Loops/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

struct SettleMemory : zyx::kernel::impl::SettleMemoryPassBase<SettleMemory> {
  using SettleMemoryPassBase::SettleMemoryPassBase;

  /// Says of staged tiles where they are now.
  static void moveTiles(FuncOp func) {
    func.walk([&](ConvertOp convert) {
      auto type = cast<RankedTensorType>(convert.getType());
      if (isa_and_nonnull<MemoryAttr>(type.getEncoding()))
        convert.getResult().setType(type.cloneWithEncoding(MemoryAttr::get(func.getContext(), spaceOfTiles(func))));
    });
  }

  static void giveOneThread(FuncOp func, const Twine &reason) {
    remark::passed(func.getLoc(), remark::RemarkOpts::name("ProgramIsOneThread").category("zyx-shared"))
        << ("threads of " + func.getName() + " " + reason).str();
    func.removeThreadsAttr();
    func.removeMinResidentThreadsAttr();
    func.removeClusterAttr();
    moveTiles(func);
  }

  static LogicalResult settle(FuncOp func, const zyx::target::TargetInfo &machine) {
    // An attention that threads share is no loops over tiles.
    if (func.getForm() != Form::Tiled || func.getSchedule())
      return success();
    unshareConstants(func);
    stageCarried(func);
    if (spaceOfTiles(func) == Space::Private)
      return success();
    FailureOr<Axes> axes = Axes::compute(func);
    if (failed(axes))
      return failure();
    FailureOr<SharedMemory> shared = SharedMemory::of(func, *axes, machine);
    if (succeeded(shared) && !shared->refused && shared->hasTiles && func.getCluster().value_or(1) > 1) {
      remark::passed(func.getLoc(), remark::RemarkOpts::name("ProgramIsOneWorkgroup").category("zyx-shared"))
          << ("workgroups of a cluster would read tiles of " + func.getName() + " of each other").str();
      func.removeClusterAttr();
      moveTiles(func);
      shared = SharedMemory::of(func, *axes, machine);
    }
    if (failed(shared))
      return failure();
    if (shared->refused)
      giveOneThread(func, "do not multiply together what it multiplies");
    else if (func.getThreads().value_or(1) > 1 && shared->bytes > machine.simt.sharedBytes)
      giveOneThread(func,
                    "would share " + Twine(shared->bytes) + " bytes; there are " + Twine(machine.simt.sharedBytes));
    return success();
  }

  void runOnOperation() override {
    const zyx::target::TargetInfo *known = findTarget(getOperation());
    const zyx::target::TargetInfo machine = known ? *known : zyx::target::unknownTarget();
    WalkResult result = getOperation()->walk([&](FuncOp func) {
      CrashNote note(func);
      return WalkResult(settle(func, machine));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
