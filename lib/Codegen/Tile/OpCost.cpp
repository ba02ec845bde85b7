//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/OpCost.h"

#include "zyx/Dialect/Kernel/IR/Functions.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace zyx::kernel;

double zyx::kernel::costOf(Operation *op, const zyx::target::CostFacts &costs) {
  if (isa<math::PowFOp>(op))
    return static_cast<double>(costs.longFunctionOps);
  if (isa<arith::DivFOp>(op))
    return static_cast<double>(costs.divideOps);
  if (isa<math::SqrtOp>(op))
    return static_cast<double>(costs.rootOps);
  if (std::optional<FunctionFacts> function = findFunction(op))
    switch (function->length) {
    case FunctionLength::Root:
      return static_cast<double>(costs.inverseRootOps);
    case FunctionLength::Short:
      return static_cast<double>(costs.functionOps);
    case FunctionLength::Long:
      return static_cast<double>(costs.longFunctionOps);
    }
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::RemFOp>(op))
    return static_cast<double>(costs.integerDivideOps);
  if (isa<GatherOp>(op))
    return zyx::target::fits::kernels::gatherOps;
  if (isa<LoadOp, StoreOp>(op))
    return 1;
  if (isa<ViewOp, BroadcastOp, TransposeOp, ReshapeOp, SplatOp, IotaOp, ConvertOp, DotOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return 0;
  return 1;
}

double zyx::kernel::elementsOf(Value tile) {
  return static_cast<double>(cast<RankedTensorType>(tile.getType()).getNumElements());
}
