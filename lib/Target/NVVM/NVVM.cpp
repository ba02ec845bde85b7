//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/NVVM/NVVM.h"
#include "zyx/Target/Info/LLVMAnalyses.h"

#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;

namespace zyx::target {
namespace {

/// What an instruction needs.
struct Needs {
  int sm = 0;
  int ptx = 0;
  /// It exists on that one machine only ("sm_90a").
  bool exact = false;
};

Needs needsOf(Operation *op) {
  if (auto load = dyn_cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op))
    return {90, load.getIsCTAOnly() ? 86 : 80};
  if (isa<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp, NVVM::CpAsyncBulkCommitGroupOp,
          NVVM::CpAsyncBulkWaitGroupOp, NVVM::MBarrierTryWaitOp, NVVM::MBarrierArriveExpectTxOp,
          NVVM::FenceMbarrierInitOp, NVVM::FenceProxyOp>(op))
    return {90, 80};
  if (isa<NVVM::StMatrixOp>(op))
    return {90, 78};
  if (isa<NVVM::MBarrierInitOp, NVVM::MBarrierArriveOp>(op))
    return {80, 70};
  if (isa<NVVM::WgmmaMmaAsyncOp, NVVM::WgmmaFenceAlignedOp, NVVM::WgmmaGroupSyncAlignedOp,
          NVVM::WgmmaWaitGroupSyncOp, NVVM::SetMaxRegisterOp>(op))
    return {90, 80, true};
  if (auto text = dyn_cast<LLVM::InlineAsmOp>(op); text && text.getAsmString().contains("wgmma."))
    return {90, 80, true};
  return {};
}

/// 90 of "sm_90a"; 0 of anything else.
int architectureOf(StringRef cpu) {
  int number = 0;
  if (!cpu.consume_front("sm_") || cpu.consumeInteger(10, number))
    return 0;
  return number;
}

std::string version(int number) {
  return std::to_string(number / 10) + "." + std::to_string(number % 10);
}

/// One compilation: its contexts live and die with it.
struct Compilation {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
};

std::unique_ptr<llvm::TargetMachine> createMachine(const TargetInfo &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *llvmTarget = llvm::TargetRegistry::lookupTarget(triple, error);
  ZYX_ASSERT(llvmTarget, "the backend is linked and registered above");
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      llvmTarget->createTargetMachine(triple, target.cpu, target.featureString(), options, std::nullopt,
                                      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

void optimise(Compilation &compilation) {
  LLVMAnalyses analyses(compilation.machine.get());
  analyses.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(*compilation.module, analyses.modules);
}

} // namespace

Status checkNVVMFeatures(ModuleOp llvmModule, const TargetInfo &target) {
  int sm = architectureOf(target.cpu);
  if (target.kind != TargetKind::CUDA || sm == 0)
    return Status::invalidArgument("target '" + target.name + "' runs no PTX");
  Status result;
  llvmModule.walk([&](Operation *op) {
    Needs needs = needsOf(op);
    bool exact = StringRef(target.cpu).ends_with("a") && sm == needs.sm;
    std::string name = op->getName().getStringRef().str();
    if (needs.exact ? !exact : sm < needs.sm)
      result = Status::unsupported(name + " needs sm_" + std::to_string(needs.sm) + (needs.exact ? "a" : "") +
                                   "; the target is " + target.cpu);
    else if (target.ptxVersion < needs.ptx)
      result = Status::unsupported(name + " needs PTX " + version(needs.ptx) + "; target '" + target.name +
                                   "' has " + version(target.ptxVersion));
    return result.isOk() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result;
}

Result<std::string> emitPTX(ModuleOp llvmModule, const TargetInfo &target) {
  ZYX_RETURN_IF_ERROR(checkNVVMFeatures(llvmModule, target));
  Compilation compilation;
  compilation.machine = createMachine(target);

  MLIRContext *context = llvmModule.getContext();
  registerBuiltinDialectTranslation(*context);
  registerLLVMDialectTranslation(*context);
  registerNVVMDialectTranslation(*context);
  OwningOpRef<ModuleOp> module = llvmModule.clone();
  PassManager passes(context);
  passes.addPass(createConvertNVVMToLLVMPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (succeeded(passes.run(*module)))
    compilation.module = translateModuleToLLVMIR(*module, compilation.context, "kernels");
  if (!compilation.module)
    return Status::compileFailed("the kernels hold what has no translation to LLVM IR");
  compilation.module->setTargetTriple(compilation.machine->getTargetTriple());
  compilation.module->setDataLayout(compilation.machine->createDataLayout());
  optimise(compilation);

  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager emit;
  bool cannot = compilation.machine->addPassesToEmitFile(emit, stream, nullptr,
                                                         llvm::CodeGenFileType::AssemblyFile);
  ZYX_ASSERT(!cannot, "PTX is what the backend writes");
  (void)cannot;
  emit.run(*compilation.module);
  return std::string(text.data(), text.size());
}

} // namespace zyx::target
