//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Settle.h"
#include "StageCarried.h"

#include "zyx/Codegen/Loops/Passes.h"
#include "zyx/Codegen/Loops/SettledMemory.h"
#include "zyx/Codegen/Simt/SharedMemory.h"
#include "zyx/Codegen/Tile/ApplySchedule.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Target/Info/UnknownTarget.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/CSE.h"

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

  static void explain(FuncOp func, StringRef name, StringRef reason) {
    remark::passed(func.getLoc(), remark::RemarkOpts::name(name).category("zyx-shared")) << reason;
  }

  static LogicalResult settleFunc(FuncOp func, const zyx::target::TargetInfo &machine) {
    // An attention that threads share is no loops over tiles.
    if (func.getForm() != Form::Tiled || func.getSchedule())
      return success();
    unshareConstants(func);
    stageCarried(func);
    FailureOr<ThreadsDecision> decision = settle(func, machine);
    if (succeeded(decision) && decision->program == ThreadsDecision::OneWorkgroup) {
      explain(func, "ProgramIsOneWorkgroup", decision->reason);
      func.removeClusterAttr();
      moveTiles(func);
      decision = settle(func, machine);
    }
    if (failed(decision))
      return failure();
    if (decision->program == ThreadsDecision::OneThread) {
      explain(func, "ProgramIsOneThread", decision->reason);
      func.removeThreadsAttr();
      func.removeMinResidentThreadsAttr();
      func.removeClusterAttr();
      moveTiles(func);
    }
    return success();
  }

  void runOnOperation() override {
    const zyx::target::TargetInfo *known = findTarget(getOperation());
    const zyx::target::TargetInfo machine = known ? *known : zyx::target::unknownTarget();
    WalkResult result = getOperation()->walk([&](FuncOp func) {
      CrashNote note(func);
      return WalkResult(settleFunc(func, machine));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace

FailureOr<ThreadsDecision> zyx::kernel::settle(FuncOp func, const target::TargetInfo &machine) {
  ThreadsDecision stays;
  if (spaceOfTiles(func) == Space::Private)
    return stays;
  FailureOr<Axes> axes = Axes::compute(func);
  if (failed(axes))
    return failure();
  FailureOr<SharedMemory> shared = SharedMemory::of(func, *axes, machine);
  if (failed(shared))
    return failure();
  auto become = [](ThreadsDecision::Program program, const Twine &reason) {
    return ThreadsDecision{program, reason.str()};
  };
  if (!shared->refused && shared->hasTiles && func.getCluster().value_or(1) > 1)
    return become(ThreadsDecision::OneWorkgroup,
                  "workgroups of a cluster would read tiles of " + func.getName() + " of each other");
  if (shared->refused)
    return become(ThreadsDecision::OneThread,
                  "threads of " + func.getName() + " do not multiply together what it multiplies");
  if (func.getThreads().value_or(1) > 1 && shared->bytes > machine.simt.sharedBytes)
    return become(ThreadsDecision::OneThread, "threads of " + func.getName() + " would share " + Twine(shared->bytes) +
                                                  " bytes; there are " + Twine(machine.simt.sharedBytes));
  stays.sharedBytes = shared->bytes;
  return stays;
}

/// What would become of a kernel with a schedule, once that is applied. None where other rules count its memory, or
/// where it cannot be counted yet. Fails, with the reason, where the schedule cannot be applied.
static FailureOr<std::optional<ThreadsDecision>> settleCopy(FuncOp func, const zyx::target::TargetInfo &machine,
                                                            std::string &reason) {
  const std::optional<ThreadsDecision> none;
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(func.getLoc()));
  FuncOp copy = func.clone();
  scratch->push_back(copy);
  ScopedDiagnosticHandler collect(func.getContext(), [&](Diagnostic &diagnostic) {
    if (reason.empty())
      reason = diagnostic.str();
    return success();
  });
  if (failed(applySchedule(copy)))
    return failure();
  // Tensor cores and attentions that threads share have memory that their own rules counted.
  if (copy.getSchedule())
    return none;
  // One place of a tile is one value, as it will be then.
  IRRewriter rewriter(copy.getContext());
  DominanceInfo dominance(copy);
  eliminateCommonSubExpressions(rewriter, dominance, copy);
  const bool isStaged = succeeded(stageReused(copy, &machine));
  unshareConstants(copy);
  stageCarried(copy);
  // What cannot be counted here is settled, or refused, once the kernel has been simplified.
  FailureOr<ThreadsDecision> decision = isStaged ? settle(copy, machine) : FailureOr<ThreadsDecision>(failure());
  return failed(decision) ? none : std::optional(std::move(*decision));
}

zyx::Status zyx::kernel::checkSettledMemory(FuncOp func, const target::TargetInfo &machine) {
  if (func.getForm() != Form::Tiled || spaceOfTiles(func) == Space::Private)
    return Status::ok();
  std::string reason;
  const FailureOr<std::optional<ThreadsDecision>> decision = settleCopy(func, machine, reason);
  if (failed(decision))
    return Status::unsupported(std::move(reason));
  if (!*decision || (*decision)->program == ThreadsDecision::AsScheduled)
    return Status::ok();
  return Status::unsupported((*decision)->reason);
}

FailureOr<int64_t> zyx::kernel::countSharedBytes(FuncOp func, const target::TargetInfo &machine) {
  if (func.getForm() == Form::Tiled && spaceOfTiles(func) == Space::Private)
    return 0;
  std::string reason;
  if (func.getForm() != Form::Tiled)
    return failure();
  const FailureOr<std::optional<ThreadsDecision>> decision = settleCopy(func, machine, reason);
  if (failed(decision) || !*decision || (*decision)->program != ThreadsDecision::AsScheduled)
    return failure();
  return (*decision)->sharedBytes;
}
