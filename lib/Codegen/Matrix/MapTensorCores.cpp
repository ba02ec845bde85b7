//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MapProduct.h"
#include "MapWarps.h"

#include "zyx/Codegen/Matrix/Epilogue.h"
#include "zyx/Codegen/Matrix/Passes.h"
#include "zyx/Codegen/Matrix/TensorAttention.h"
#include "zyx/Codegen/Matrix/TensorChain.h"
#include "zyx/Codegen/Matrix/TensorDot.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_MAPTENSORCORESPASS
#include "zyx/Codegen/Matrix/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Three groups have registers for sums of so many columns each.
constexpr int64_t rowsOfTwo = 128, mostColumnsOfThree = 192;

/// An attention, a chain of products, or a sum over batches of what is computed of products.
LogicalResult mapStreaming(FuncOp func, const Axes &axes, const zyx::target::TargetInfo &machine) {
  TensorStepAttr step = tensorStepOf(func);
  if (step.getTf32() || step.getWarps() || step.getDepth() != 64)
    return func.emitOpError() << "walks blocks: its tiles are of groups of four warps, its slices of 64 elements";
  std::string reason;
  if (isAttention(func) && !isTotal(func)) {
    if (std::optional<TensorAttention> attention = matchTensorAttention(func, axes, machine, reason))
      return mapAttention(func, *attention, axes), success();
    return func.emitOpError() << "is no attention for tensor cores: " << reason;
  }
  if (std::optional<TensorChain> chain = matchTensorChain(func, axes, machine, reason))
    return mapChain(func, *chain, axes), success();
  return func.emitOpError() << "is no chain of products for tensor cores: " << reason;
}

struct MapTensorCores : zyx::kernel::impl::MapTensorCoresPassBase<MapTensorCores> {
  using MapTensorCoresPassBase::MapTensorCoresPassBase;

  void runOnOperation() override {
    SmallVector<FuncOp> funcs;
    getOperation()->walk([&](FuncOp func) {
      if (tensorStepOf(func))
        funcs.push_back(func);
    });
    if (funcs.empty())
      return;
    const zyx::target::TargetInfo *machine = requireTarget(getOperation());
    if (!machine)
      return signalPassFailure();
    if (!machine->hasTensorCores()) {
      funcs.front().emitOpError() << "has a step for tensor cores, which " << machine->name << " does not have";
      return signalPassFailure();
    }
    for (FuncOp func : funcs) {
      CrashNote note(func);
      unshareConstants(func);
      FailureOr<Axes> axes = Axes::compute(func);
      if (failed(axes))
        return signalPassFailure();
      std::string reason;
      TensorStepAttr step = tensorStepOf(func);
      if (isAttention(func) || isChain(func) || isTotal(func)) {
        if (failed(mapStreaming(func, *axes, *machine)))
          return signalPassFailure();
        continue;
      }
      std::optional<TensorDot> dot =
          matchTensorDot(func, *axes, *machine, step.getTf32() || step.getDepth() == 128, reason);
      if (dot && step.getWarps()) {
        if (failed(mapWarps(func, *dot, *axes, reason))) {
          func.emitOpError() << "is not for tensor cores: " << reason;
          return signalPassFailure();
        }
        continue;
      }
      if (dot && step.getRows() > rowsOfTwo &&
          (dot->isSimtF32 || dot->sumsSlices() || step.getSplit() != 1 || step.getColumns() > mostColumnsOfThree)) {
        dot.reset();
        reason = "tiles of 192 rows have at most 192 columns, of one workgroup, whose tensor cores keep the sums";
      }
      if (dot && dot->isSimtF32 && (step.getColumns() != 128 || step.getSplit() != 1)) {
        dot.reset();
        reason = "threads multiply tiles of 128 columns, each in one workgroup";
      }
      if (dot && !dot->rhs.alongDepth && step.getColumns() % MachineShape::panelColumns != 0) {
        dot.reset();
        reason = "a factor that does not run along the contraction lies in panels of 64 columns";
      }
      if (!dot) {
        func.emitOpError() << "is not for tensor cores: " << reason;
        return signalPassFailure();
      }
      if (step.getDepth() != dot->sliceElements()) {
        func.emitOpError() << "has slices of " << step.getDepth() << " elements, which are not "
                           << TensorDot::sliceBytes << " bytes";
        return signalPassFailure();
      }
      mapProduct(func, *dot, *axes);
    }
  }
};

} // namespace
