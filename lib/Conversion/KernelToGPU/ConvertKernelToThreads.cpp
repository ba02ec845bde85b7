//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The way to GPUs that every kernel of the lowered form can go: a program per thread.
//===----------------------------------------------------------------------===//
#include "NVVMInstructions.h"
#include "ROCDLInstructions.h"
#include "ThreadFunction.h"

#include "zyx/Conversion/KernelToGPU/Passes.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"

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
    const NVVMInstructions nvvm;
    const ROCDLInstructions rocdl;
    const GPUInstructions &gpu = dialect == GPUDialect::ROCDL ? static_cast<const GPUInstructions &>(rocdl) : nvvm;
    SmallVector<Operation *> funcs;
    for (FuncOp func : llvm::make_early_inc_range(getOperation().getOps<FuncOp>())) {
      CrashNote note(func);
      const int64_t shared = bytesOf(func, Space::Shared), mostShared = sharedBytes;
      if (shared > mostShared) {
        func.emitOpError() << "needs " << shared << " bytes of shared memory; a workgroup has " << mostShared;
        return signalPassFailure();
      }
      if (failed(gpu.check(func)))
        return signalPassFailure();
      const bool fitsStack = bytesOf(func, Space::Private) <= privateBytes;
      FailureOr<ThreadFunction> made = lowerThreadFunction(func, gpu);
      if (failed(made))
        return signalPassFailure();
      MemoryFacts facts{privateBytes};
      facts.shared = made->shared;
      facts.isCluster = made->isCluster;
      facts.streams = false;
      facts.threads = &gpu;
      facts.bufferAlignment = gpuBufferAlignment;
      facts.stackSpace = gpu.privateSpace();
      facts.barriers = made->readsBack ? BarrierMemory::All : BarrierMemory::Shared;
      if (!fitsStack)
        facts.scratch = made->scratch;
      const SmallFloatConversions all{.half = true,
                                      .bfloat = true,
                                      .halfOfDouble = true,
                                      .halfPairs = packedHalf,
                                      .bfloatPairs = packedBfloat,
                                      .maximum = maximum,
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
