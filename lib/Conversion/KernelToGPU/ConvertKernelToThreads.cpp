//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The way to GPUs that every kernel of the lowered form can go: a program per thread.
//===----------------------------------------------------------------------===//
#include "GPUInstructions.h"
#include "ThreadFunction.h"

#include "zyx/Conversion/KernelToGPU/Passes.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"
#include "zyx/Dialect/Kernel/IR/Target.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_CONVERTKERNELTOTHREADSPASS
#include "zyx/Conversion/KernelToGPU/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

struct ConvertKernelToThreads : zyx::kernel::impl::ConvertKernelToThreadsPassBase<ConvertKernelToThreads> {
  using ConvertKernelToThreadsPassBase::ConvertKernelToThreadsPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    converter = addPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    const zyx::target::TargetInfo *machine = requireTarget(getOperation());
    if (!machine)
      return signalPassFailure();
    const GPUInstructions &gpu = dialect == GPUDialect::ROCDL ? rocdlInstructions() : nvvmInstructions();
    SmallVector<Operation *> funcs;
    for (FuncOp func : llvm::make_early_inc_range(getOperation().getOps<FuncOp>())) {
      // Code of the user's own is compiled by itself.
      if (func.getExternal())
        continue;
      CrashNote note(func);
      if (failed(requireForm(func, Form::Lowered)))
        return signalPassFailure();
      const int64_t shared = bytesOf(func, Space::Shared), mostShared = machine->simt.sharedBytes;
      if (shared > mostShared) {
        func.emitOpError() << "needs " << shared << " bytes of shared memory; a workgroup has " << mostShared;
        return signalPassFailure();
      }
      if (failed(gpu.check(func)))
        return signalPassFailure();
      const bool fitsStack = bytesOf(func, Space::Private) <= machine->memory.privateBytes;
      FailureOr<ThreadFunction> made = lowerThreadFunction(func, gpu, *machine);
      if (failed(made))
        return signalPassFailure();
      MemoryFacts facts{machine->memory.privateBytes};
      facts.shared = made->shared;
      facts.isCluster = made->isCluster;
      facts.streams = false;
      facts.threads = &gpu;
      facts.bufferAlignment = gpuBufferAlignment;
      facts.stackSpace = gpu.privateSpace();
      facts.barriers = made->readsBack || !machine->simt.hasSharedFences ? BarrierMemory::All : BarrierMemory::Shared;
      if (!fitsStack)
        facts.scratch = made->scratch;
      const SmallFloatConversions all{.half = true,
                                      .bfloat = true,
                                      .halfOfDouble = true,
                                      .halfPairs = machine->arithmetic.hasPackedHalf,
                                      .bfloatPairs = machine->arithmetic.hasPackedBfloat,
                                      .maximum = machine->arithmetic.hasMaximum,
                                      .pairs = gpu.pairs()};
      if (failed(lowerMemory(made->func, facts)) || failed(lowerSmallFloats(made->func, all)))
        return signalPassFailure();
      gpu.lowerArithmetic(made->func);
      funcs.push_back(made->func);
    }
    ConversionTarget target(getContext());
    target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, ROCDL::ROCDLDialect>();
    if (failed(applyFullConversion(funcs, target, patterns)))
      signalPassFailure();
  }

private:
  std::shared_ptr<LLVMTypeConverter> converter;
  FrozenRewritePatternSet patterns;
};

} // namespace
