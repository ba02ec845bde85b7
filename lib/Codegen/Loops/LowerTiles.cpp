//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "StageCarried.h"
#include "TileLowering.h"

#include "zyx/Codegen/Loops/Passes.h"
#include "zyx/Codegen/Simt/Simt.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"
#include "zyx/Dialect/Kernel/IR/Target.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Remarks.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_LOWERTILESPASS
#include "zyx/Codegen/Loops/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// For what a module without a target is lowered: vectors of 64 bytes, an fma and maxima, and shared memory of any
/// size.
zyx::target::TargetInfo unknownMachine() {
  zyx::target::TargetInfo info;
  info.vector.bytes = 64;
  info.vector.registers = 32;
  info.arithmetic.hasFma = true;
  info.simt.sharedBytes = std::numeric_limits<int64_t>::max();
  return info;
}

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

  /// Some kernels are made in the lowered form: they have nothing but loops over scalars.
  static bool isLowered(FuncOp func) {
    auto isTileType = [](Type type) { return isa<TensorType>(type); };
    return !func.walk([&](Operation *op) {
                  auto view = dyn_cast<ViewOp>(op);
                  bool isComplex = view && (!view.getMap().isSingleBlock() || view.getMap().front().hasValid());
                  return isComplex || llvm::any_of(op->getOperandTypes(), isTileType) ||
                                 llvm::any_of(op->getResultTypes(), isTileType)
                             ? WalkResult::interrupt()
                             : WalkResult::advance();
                })
                .wasInterrupted();
  }

  /// Exponentials of distances to the maximum of a row, as a softmax has them.
  static void markNonpositive(FuncOp func) {
    auto skip = [](Value tile) {
      while (isa_and_nonnull<ConvertOp, arith::ExtFOp>(tile.getDefiningOp()))
        tile = tile.getDefiningOp()->getOperand(0);
      return tile;
    };
    func.walk([&](math::ExpOp exponential) {
      auto distance = skip(exponential.getOperand()).getDefiningOp<arith::SubFOp>();
      auto spread = distance ? skip(distance.getRhs()).getDefiningOp<BroadcastOp>() : BroadcastOp();
      auto row = spread ? skip(spread.getInput()).getDefiningOp<ReduceOp>() : ReduceOp();
      if (!row || row.getKind() != Combine::Max || skip(row.getInput()) != skip(distance.getLhs()))
        return;
      SmallVector<int64_t> kept;
      for (int64_t dim = 0, rank = cast<RankedTensorType>(row.getInput().getType()).getRank(); dim < rank; ++dim)
        if (!llvm::is_contained(row.getDims(), dim))
          kept.push_back(dim);
      if (llvm::equal(kept, spread.getDims()))
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
    if (func.getSchedule())
      return lowerShared(func);
    if (isMachineForm(func) || isLowered(func))
      return success();
    if (failed(checkBuffers(func)))
      return failure();
    unshareConstants(func);
    stageCarried(func);
    markNonpositive(func);
    FailureOr<Axes> axes = Axes::compute(func);
    if (failed(axes))
      return failure();
    FailureOr<FuncOp> lowered = lowerTiles(func, *axes);
    // Where its threads would share more than there is, a program is one thread, and what it keeps is its own.
    if (succeeded(lowered) && func.getThreads().value_or(1) > 1 &&
        bytesOf(*lowered, Space::Shared) > target->simt.sharedBytes) {
      remark::passed(func.getLoc(), remark::RemarkOpts::name("ProgramIsOneThread").category("zyx-shared"))
          << ("threads of " + func.getName() + " would share " + Twine(bytesOf(*lowered, Space::Shared)) +
              " bytes; there are " + Twine(target->simt.sharedBytes))
                 .str();
      lowered->erase();
      func.removeThreadsAttr();
      func->removeAttr(residentsAttrName);
      func.removeClusterAttr();
      lowered = lowerTiles(func, *axes);
    }
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

  /// Where workgroups of a cluster would have to read each other's tiles, the program is one workgroup's.
  FailureOr<FuncOp> lowerTiles(FuncOp func, const Axes &axes) {
    OpBuilder builder(func);
    auto lowered = cast<FuncOp>(builder.cloneWithoutRegions(*func.getOperation()));
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
    if (lowering.wantsOneThread() || lowering.keepsApart()) {
      lowered.erase();
      if (lowering.wantsOneThread()) {
        func.removeThreadsAttr();
        func->removeAttr(residentsAttrName);
      }
      func.removeClusterAttr();
      return lowerTiles(func, axes);
    }
    builder.setInsertionPointToEnd(&entry);
    ReturnOp::create(builder, func.getLoc());
    // What reads several blocks or parts of one has made views of its own.
    lowered->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isa<ViewOp, SubviewOp>(op) && op->use_empty())
        op->erase();
    });
    return lowered;
  }

  void runOnOperation() override {
    const zyx::target::TargetInfo *known = findTarget(getOperation());
    const zyx::target::TargetInfo unknown = known ? zyx::target::TargetInfo() : unknownMachine();
    target = known ? known : &unknown;
    SmallVector<FuncOp> funcs;
    getOperation()->walk([&](FuncOp func) { funcs.push_back(func); });
    for (FuncOp func : funcs) {
      CrashNote note(func);
      if (failed(lower(func)))
        return signalPassFailure();
    }
  }

private:
  /// While the pass runs, the machine that kernels are for.
  const zyx::target::TargetInfo *target = nullptr;
};

} // namespace
