//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the body of a kernel of each form may contain.
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

/// What every form may contain.
static bool isStructure(Operation *op) {
  return isa<FuncOp, ReturnOp, GridOp, YieldOp, ViewOp>(op) ||
         isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp>(op);
}

static bool isTileOp(Operation *op) {
  return isa<LoadOp, StoreOp, GatherOp, DotOp, ReduceOp, SplatOp, BroadcastOp, TransposeOp, ReshapeOp, IotaOp,
             ConvertOp>(op);
}

static bool isMachineOp(Operation *op) {
  return isa<AllocOp, SubviewOp, PeerOp, IdOp, BarrierOp, RolesOp, RoleOp, ElectOp, BarriersOp, ExpectOp, ArriveOp,
             WaitOp, AsyncLoadOp, AsyncStoreOp, StoreSharedOp, AsyncWaitOp, MmaFenceOp, MmaAsyncOp, MmaCommitOp,
             MmaWaitOp, ExtractOp, ClusterArriveOp, ClusterWaitOp, ClusterSendOp, ClusterReceiveOp, OuterProductsOp,
             TransposeSharedOp, CopyAsyncOp, CopyCommitOp, CopyWaitOp, FetchOp, LoadMatrixOp, MmaOp, AnyOp>(op);
}

static bool isLoweredOp(Operation *op) {
  return isa<LoadOp, PrefetchOp, GatherOp, StoreOp, MatrixMultiplyOp, AllocOp, SubviewOp, PeerOp, IdOp, BarrierOp,
             ShuffleOp, SubgroupReduceOp, SubgroupScanOp, WarpReadOp, WarpMultiplyOp>(op) ||
         isa_and_nonnull<vector::VectorDialect>(op->getDialect());
}

static bool isArithOrMath(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect());
}

static LogicalResult verifyTiled(Operation *op) {
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

static LogicalResult verifyMachine(Operation *op) {
  if (!isStructure(op) && !isTileOp(op) && !isArithOrMath(op) && !isMachineOp(op))
    return op->emitOpError("does not belong to the machine form");
  for (Type type : op->getResultTypes())
    if (auto tile = dyn_cast<RankedTensorType>(type); tile && !tile.getEncoding())
      return op->emitOpError() << "makes the tile " << tile << " without a layout, which the machine form requires";
  return success();
}

static LogicalResult verifyLowered(Operation *op) {
  if (!isStructure(op) && !isLoweredOp(op) && !isArithOrMath(op))
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

LogicalResult FuncOp::verifyRegions() {
  auto *verify = getForm() == Form::Tiled ? verifyTiled : getForm() == Form::Machine ? verifyMachine : verifyLowered;
  return failure(
      getBody()
          .walk([&](Operation *op) { return failed(verify(op)) ? WalkResult::interrupt() : WalkResult::advance(); })
          .wasInterrupted());
}

LogicalResult zyx::kernel::requireForm(FuncOp func, Form form) {
  if (func.getForm() == form)
    return success();
  return func.emitOpError() << "is in the " << stringifyForm(func.getForm()) << " form, not in the "
                            << stringifyForm(form) << " one";
}
