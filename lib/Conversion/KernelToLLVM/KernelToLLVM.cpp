//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Conversion/KernelToLLVM/KernelToLLVM.h"

#include "Detail.h"

#include "zyx/Codegen/Scalar/Scalars.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/Target.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_CONVERTKERNELTOLLVMPASS
#include "zyx/Conversion/KernelToLLVM/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

std::shared_ptr<LLVMTypeConverter> zyx::kernel::addPatterns(RewritePatternSet &patterns) {
  LowerToLLVMOptions options(patterns.getContext());
  options.overrideIndexBitwidth(64);
  auto converter = std::make_shared<LLVMTypeConverter>(patterns.getContext(), options);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(*converter, patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(*converter, patterns);
  populateMathToLLVMConversionPatterns(*converter, patterns);
  populateVectorToLLVMConversionPatterns(*converter, patterns);
  return converter;
}

namespace {

struct ConvertKernelToLLVM : zyx::kernel::impl::ConvertKernelToLLVMPassBase<ConvertKernelToLLVM> {
  using ConvertKernelToLLVMPassBase::ConvertKernelToLLVMPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    converter = addPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    const zyx::target::TargetInfo *machine = findTarget(getOperation());
    MemoryFacts memory{.privateBytes = 512 << 10, .amx = true};
    if (machine)
      memory = {.privateBytes = machine->memory.stackBytes, .amx = machine->hasTileRegisters()};
    const bool halfConversion = !machine || machine->arithmetic.hasHalfConversion;
    SmallVector<Operation *> bodies;
    for (FuncOp func : llvm::make_early_inc_range(getOperation().getOps<FuncOp>())) {
      // Code of the user's own is compiled by itself.
      if (func.getExternal())
        continue;
      CrashNote note(func);
      if (failed(requireForm(func, Form::Lowered)))
        return signalPassFailure();
      FailureOr<LLVM::LLVMFuncOp> body = lowerFunction(func);
      if (failed(body) || failed(lowerMemory(*body, memory)) ||
          failed(lowerSmallFloats(*body, {.half = halfConversion})))
        return signalPassFailure();
      bodies.push_back(*body);
    }
    ConversionTarget target(getContext());
    target.addLegalDialect<LLVM::LLVMDialect>();
    if (failed(applyFullConversion(bodies, target, patterns)))
      signalPassFailure();
  }

private:
  std::shared_ptr<LLVMTypeConverter> converter;
  FrozenRewritePatternSet patterns;
};

} // namespace
