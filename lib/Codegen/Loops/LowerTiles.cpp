//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TileLowering.h"

#include "zyx/Codegen/Loops/Passes.h"
#include "zyx/Codegen/Simt/Simt.h"
#include "zyx/Codegen/Tile/Softmax.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Target/Info/UnknownTarget.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Iterators.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_LOWERTILESPASS
#include "zyx/Codegen/Loops/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

struct LowerTiles : zyx::kernel::impl::LowerTilesPassBase<LowerTiles> {
  using LowerTilesPassBase::LowerTilesPassBase;

  /// A tile is read where it is used, which may be behind a store that follows the load.
  LogicalResult checkBuffers(FuncOp func) {
    auto bufferOf = [](Value view) {
      auto op = view.getDefiningOp<ViewOp>();
      return op ? op.getBuffer() : Value();
    };
    llvm::DenseSet<Value> written;
    func.walk([&](StoreOp store) { written.insert(bufferOf(store.getView())); });
    WalkResult result = func.walk([&](Operation *op) {
      if (isa<LoadOp, GatherOp>(op) && written.contains(bufferOf(op->getOperand(0)))) {
        op->emitOpError("reads a buffer that the kernel writes");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// The space of a staged tile is obeyed, where the kernel's threads can.
  static LogicalResult checkSpaces(FuncOp func) {
    const Space possible = spaceOfTiles(func);
    WalkResult result = func.walk([&](ConvertOp convert) -> WalkResult {
      auto memory = dyn_cast_or_null<MemoryAttr>(cast<RankedTensorType>(convert.getType()).getEncoding());
      if (!memory || memory.getSpace() == possible)
        return WalkResult::advance();
      return convert.emitOpError() << "keeps a tile in " << stringifySpace(memory.getSpace()) << " memory, but "
                                   << (possible == Space::Private
                                           ? "a program is one thread, which shares it with nobody"
                                           : "threads compute it together, and must share it");
    });
    return failure(result.wasInterrupted());
  }

  /// SettleMemory has seen to both.
  LogicalResult checkShared(FuncOp func, bool sharesTiles) {
    if (sharesTiles && func.getCluster().value_or(1) > 1)
      return func.emitOpError("has tiles that workgroups of a cluster would have to read of each other");
    const int64_t bytes = bytesOf(func, Space::Shared);
    if (bytes > target->simt.sharedBytes)
      return func.emitOpError() << "has threads that share " << bytes << " bytes; there are "
                                << target->simt.sharedBytes;
    return success();
  }

  /// Exponentials of distances to the maximum of a row, as a softmax has them.
  static void markNonpositive(FuncOp func) {
    func.walk([&](math::ExpOp exponential) {
      std::optional<SoftmaxExponential> softmax = matchSoftmaxExponential(exponential, /*throughMemory=*/true);
      if (softmax && softmax->isBroadcast)
        exponential->setAttr(nonpositiveAttrName, UnitAttr::get(func.getContext()));
    });
  }

  /// Schedules are applied before, but for those of an attention that threads share.
  LogicalResult lowerShared(FuncOp func) {
    unshareConstants(func);
    FailureOr<Axes> axes = Axes::compute(func);
    if (failed(axes))
      return failure();
    if (!sharedStepOf(func, *axes))
      return func.emitOpError("has a schedule that was not applied");
    if (failed(checkBuffers(func)))
      return failure();
    markNonpositive(func);
    return lowerSharedAttention(func, *axes, *target);
  }

  LogicalResult lower(FuncOp func) {
    if (func.getForm() != Form::Tiled)
      return success();
    if (func.getSchedule())
      return lowerShared(func);
    if (failed(checkBuffers(func)) || failed(checkSpaces(func)))
      return failure();
    unshareConstants(func);
    markNonpositive(func);
    FailureOr<Axes> axes = Axes::compute(func);
    if (failed(axes))
      return failure();
    FailureOr<FuncOp> lowered = lowerTiles(func, *axes);
    if (failed(lowered))
      return failure();
    func.erase();
    return success();
  }

  /// Whether nothing is done to what is read: finding elements is all that takes time.
  static bool isCopy(FuncOp func) {
    bool copies = true;
    func.walk([&](StoreOp store) { copies &= isa_and_nonnull<LoadOp>(store.getValue().getDefiningOp()); });
    return copies;
  }

  FailureOr<FuncOp> lowerTiles(FuncOp func, const Axes &axes) {
    OpBuilder builder(func);
    auto lowered = cast<FuncOp>(builder.cloneWithoutRegions(*func.getOperation()));
    lowered.setForm(Form::Lowered);
    Block &entry = lowered.getBody().emplaceBlock();
    builder.setInsertionPointToEnd(&entry);
    TileLowering lowering(func, builder, axes, *target);
    if (target->hasSubgroups() && isCopy(func))
      lowering.sumByDimension();
    for (BlockArgument argument : func.getBody().getArguments())
      lowering.mapping().map(argument, entry.addArgument(argument.getType(), argument.getLoc()));
    if (failed(lowering.lower(func.getBody().front()))) {
      lowered.erase();
      return failure();
    }
    builder.setInsertionPointToEnd(&entry);
    ReturnOp::create(builder, func.getLoc());
    if (lowering.threads > 1 && failed(checkShared(lowered, lowering.sharesTiles))) {
      lowered.erase();
      return failure();
    }
    return lowered;
  }

  void runOnOperation() override {
    const zyx::target::TargetInfo *known = findTarget(getOperation());
    const zyx::target::TargetInfo unknown = known ? zyx::target::TargetInfo() : zyx::target::unknownTarget();
    target = known ? known : &unknown;
    SmallVector<FuncOp> funcs;
    getOperation()->walk([&](FuncOp func) { funcs.push_back(func); });
    for (FuncOp func : funcs) {
      CrashNote note(func);
      if (failed(lower(func)))
        return signalPassFailure();
    }
    // What reads several blocks of a view or parts of one has made views of its own.
    getOperation()->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isa<ViewOp, SubviewOp>(op) && op->use_empty())
        op->erase();
    });
  }

private:
  /// While the pass runs, the machine that kernels are for.
  const zyx::target::TargetInfo *target = nullptr;
};

} // namespace
