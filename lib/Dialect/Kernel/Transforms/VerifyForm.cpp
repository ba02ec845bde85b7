//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_VERIFYFORMPASS
#include "zyx/Dialect/Kernel/Transforms/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// What every form may contain.
bool isStructure(Operation *op) {
  return isa<FuncOp, ReturnOp, GridOp, YieldOp, ViewOp>(op) ||
         isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp>(op);
}

bool isExactMath(Operation *op) {
  return isa<math::FmaOp, math::SqrtOp, math::AbsFOp, math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp,
             math::CopySignOp>(op);
}

/// A power of two by the machine's instruction.
bool isMachinePower(Operation *op) {
  auto power = dyn_cast<math::Exp2Op>(op);
  return power && bitEnumContainsAll(power.getFastmath(), arith::FastMathFlags::afn);
}

bool isTileOp(Operation *op) {
  return isa<LoadOp, StoreOp, GatherOp, DotOp, ReduceOp, ScanOp, SplatOp, BroadcastOp, TransposeOp, ReshapeOp, IotaOp,
             ConvertOp>(op);
}

bool isMachineOp(Operation *op) {
  return isa<AllocOp, SubviewOp, PeerOp, IdOp, BarrierOp, RolesOp, RoleOp, ElectOp, BarriersOp, ExpectOp, ArriveOp,
             WaitOp, AsyncLoadOp, AsyncStoreOp, AsyncWaitOp, MmaFenceOp, MmaAsyncOp, MmaCommitOp, MmaWaitOp, ExtractOp,
             ClusterArriveOp, ClusterWaitOp, ClusterSendOp, ClusterReceiveOp, OuterProductsOp, TurnOp, CopyAsyncOp,
             CopyCommitOp, CopyWaitOp, FetchOp, LoadMatrixOp, MmaOp, AnyOp>(op);
}

bool isArithOrMath(Operation *op) { return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()); }

LogicalResult verifyTiled(Operation *op) {
  if (!isStructure(op) && !isTileOp(op) && !isArithOrMath(op))
    return op->emitOpError("does not belong to the tiled form");
  for (Type type : op->getResultTypes()) {
    if (isa<VectorType>(type))
      return op->emitOpError("makes a vector, which the tiled form does not have");
    if (auto tile = dyn_cast<RankedTensorType>(type))
      if (Attribute layout = tile.getEncoding(); layout && !isa<MemoryAttr>(layout))
        return op->emitOpError() << "makes a tile with the layout " << layout << ", which belongs to the machine form";
  }
  return success();
}

LogicalResult verifyMachine(Operation *op) {
  if (!isStructure(op) && !isTileOp(op) && !isArithOrMath(op) && !isMachineOp(op))
    return op->emitOpError("does not belong to the machine form");
  for (Type type : op->getResultTypes())
    if (auto tile = dyn_cast<RankedTensorType>(type); tile && !tile.getEncoding())
      return op->emitOpError() << "makes the tile " << tile << " without a layout, which the machine form requires";
  return success();
}

LogicalResult verifyLowered(Operation *op) {
  bool tileOpAllowed = isa<LoadOp, PrefetchOp, GatherOp, StoreOp, MatrixMultiplyOp>(op);
  bool threadOp = isa<AllocOp, SubviewOp, PeerOp, IdOp, BarrierOp, WarpReadOp, WarpMultiplyOp>(op);
  bool vectorOp = isa_and_nonnull<vector::VectorDialect>(op->getDialect());
  bool math =
      isa_and_nonnull<math::MathDialect>(op->getDialect()) ? isExactMath(op) || isMachinePower(op) : isArithOrMath(op);
  if (!isStructure(op) && !tileOpAllowed && !threadOp && !vectorOp && !math)
    return op->emitOpError("does not belong to the lowered form");
  for (Type type : op->getResultTypes()) {
    if (isa<TensorType>(type))
      return op->emitOpError("makes a tile, which the lowered form does not have");
    if (auto vector = dyn_cast<VectorType>(type); vector && vector.getRank() > 1)
      return op->emitOpError() << "makes " << vector << "; vectors of the lowered form have one dimension";
  }
  if (auto view = dyn_cast<ViewOp>(op))
    if (!view.getMap().isSingleBlock() || view.getMap().front().hasValid())
      return op->emitOpError("has a map that is not one whole block, as the lowered form requires");
  return success();
}

/// Kernels that are lowered from the start have their math before it is expanded.
LogicalResult verifyLoweredTile(Operation *op) {
  return isa_and_nonnull<math::MathDialect>(op->getDialect()) ? success() : verifyLowered(op);
}

/// Whether a kernel's programs tell threads apart, or have memory of their own or vectors without any tile.
bool isLoweredFromTheStart(FuncOp func) {
  bool tellsThreadsApart = false, hasMemory = false, hasTiles = false;
  func.walk([&](Operation *op) {
    auto id = dyn_cast<IdOp>(op);
    tellsThreadsApart |= id && id.getKind() == IdKind::Thread;
    const bool isOwn = isa<AllocOp>(op) || llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>);
    hasMemory |= isOwn && op->getParentOfType<GridOp>();
    hasTiles |= llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
  });
  return tellsThreadsApart || (hasMemory && !hasTiles);
}

struct VerifyForm : zyx::kernel::impl::VerifyFormPassBase<VerifyForm> {
  using VerifyFormPassBase::VerifyFormPassBase;

  void runOnOperation() override {
    LogicalResult (*verifyOfForm)(Operation *) = form == "tiled"     ? verifyTiled
                                                 : form == "machine" ? verifyMachine
                                                 : form == "lowered" ? verifyLowered
                                                                     : nullptr;
    if (!verifyOfForm) {
      getOperation()->emitError() << "there is no form '" << form << "'; tiled, machine and lowered exist";
      return signalPassFailure();
    }
    WalkResult result = getOperation()->walk([&](FuncOp func) {
      // Kernels of rows in an order are in the lowered form from the start.
      auto verify = form == "lowered" && isMachineForm(func)         ? verifyMachine
                    : form == "tiled" && isLoweredFromTheStart(func) ? verifyLoweredTile
                                                                     : verifyOfForm;
      return func.walk(
          [&](Operation *op) { return failed(verify(op)) ? WalkResult::interrupt() : WalkResult::advance(); });
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
