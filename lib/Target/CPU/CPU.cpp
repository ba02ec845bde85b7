//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/CPU/CPU.h"

#include "Link.h"

#include "zyx/Target/Info/LLVMAnalyses.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <chrono>
#include <mutex>

namespace zyx::target {
namespace {

/// Milliseconds since the last call, or since construction.
class StopWatch {
public:
  double lap() {
    auto now = std::chrono::steady_clock::now();
    double ms = std::chrono::duration<double, std::milli>(now - last).count();
    last = now;
    return ms;
  }

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

/// One compilation: its contexts live and die with it.
struct Compilation {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
};

Result<std::unique_ptr<llvm::TargetMachine>> createMachine(const TargetInfo &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
  if (target.kind != TargetKind::CPU)
    return Status::invalidArgument("target '" + target.name + "' is not a CPU");
  llvm::Triple triple(target.triple.empty() ? llvm::sys::getDefaultTargetTriple() : target.triple);
  std::string error;
  const llvm::Target *llvmTarget = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!llvmTarget)
    return Status::unsupported("this LLVM makes no code for '" + triple.str() + "': " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // A TargetMachine would only print a warning.
  std::unique_ptr<llvm::MCSubtargetInfo> subtargets(
      llvmTarget->createMCSubtargetInfo(triple, "", ""));
  if (!subtargets->isCPUStringValid(target.cpu))
    return Status::invalidArgument("LLVM knows no processor '" + target.cpu + "'");
  std::unique_ptr<llvm::TargetMachine> machine(llvmTarget->createTargetMachine(
      triple, target.cpu, target.featureString(), options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Default, /*JIT=*/false));
  return machine;
}

/// Vectors are native already: what is left is to clean up addresses and loops. The full pipeline
/// takes twice to three times as long and makes code that is not measurably faster. Loops are
/// rotated because only out of a loop that is known to run can loads be hoisted.
constexpr const char *shortPasses =
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint;max-iterations=1>,"
    "loop-mssa(loop-rotate,licm),early-cse<memssa>,simplifycfg)";

void optimise(Compilation &compilation, CPUPasses passes) {
  if (passes == CPUPasses::None)
    return;
  LLVMAnalyses analyses(compilation.machine.get());
  llvm::ModulePassManager manager;
  if (passes == CPUPasses::O2)
    manager = analyses.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  else
    llvm::cantFail(analyses.builder.parsePassPipeline(manager, shortPasses));
  manager.run(*compilation.module, analyses.modules);
}

/// Translates and optimises.
Status prepare(Compilation &compilation, mlir::ModuleOp module, const TargetInfo &target,
               const CPUOptions &options, CPUTimes &times) {
  StopWatch watch;
  ZYX_ASSIGN_OR_RETURN(compilation.machine, createMachine(target));
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  compilation.module = mlir::translateModuleToLLVMIR(module, compilation.context, "kernels");
  if (!compilation.module)
    return Status::compileFailed("the kernels cannot be translated to LLVM IR");
  compilation.module->setTargetTriple(compilation.machine->getTargetTriple());
  compilation.module->setDataLayout(compilation.machine->createDataLayout());
  compilation.module->setPICLevel(llvm::PICLevel::SmallPIC);
  times.translate = watch.lap();
  optimise(compilation, options.passes);
  times.optimise = watch.lap();
  return Status::ok();
}

/// Runs behind the passes that generate code, which take one function after the other.
class CountGenerated : public llvm::FunctionPass {
public:
  using Progress = std::function<void(size_t, size_t)>;
  CountGenerated(const Progress &progress, size_t total)
      : FunctionPass(id), progress(progress), total(total) {}
  bool runOnFunction(llvm::Function &function) override {
    if (function.hasExternalLinkage())
      progress(++done, total);
    return false;
  }
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override { usage.setPreservesAll(); }

private:
  static char id;
  const Progress &progress;
  size_t done = 0, total;
};
char CountGenerated::id = 0;

void generate(Compilation &compilation, llvm::CodeGenFileType type,
              llvm::SmallVectorImpl<char> &into,
              const std::function<void(size_t, size_t)> &progress = nullptr) {
  llvm::raw_svector_ostream stream(into);
  llvm::legacy::PassManager manager;
  bool unable = compilation.machine->addPassesToEmitFile(manager, stream, nullptr, type);
  ZYX_ASSERT(!unable, "every native target writes objects and assembly");
  if (progress)
    manager.add(new CountGenerated(
        progress, llvm::count_if(*compilation.module, [](const llvm::Function &function) {
          return !function.isDeclaration() && function.hasExternalLinkage();
        })));
  manager.run(*compilation.module);
}

} // namespace

Result<std::vector<std::byte>> emitSharedObject(mlir::ModuleOp llvmModule, const TargetInfo &target,
                                                const CPUOptions &options, CPUTimes *times) {
  CPUTimes local;
  CPUTimes &spent = times ? *times : local;
  Compilation compilation;
  ZYX_RETURN_IF_ERROR(prepare(compilation, llvmModule, target, options, spent));
  StopWatch watch;
  llvm::SmallVector<char, 0> object;
  generate(compilation, llvm::CodeGenFileType::ObjectFile, object, options.progress);
  spent.generate = watch.lap();
  llvm::StringRef bytes(object.data(), object.size());
  ZYX_RETURN_IF_ERROR(checkUndefinedSymbols(bytes));
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> shared, linkSharedObject(bytes));
  spent.link = watch.lap();
  return shared;
}

Result<std::string> emitLLVMIR(mlir::ModuleOp llvmModule, const TargetInfo &target,
                               const CPUOptions &options) {
  CPUTimes times;
  Compilation compilation;
  ZYX_RETURN_IF_ERROR(prepare(compilation, llvmModule, target, options, times));
  std::string text;
  llvm::raw_string_ostream stream(text);
  compilation.module->print(stream, nullptr);
  return text;
}

Result<std::string> emitAssembly(mlir::ModuleOp llvmModule, const TargetInfo &target,
                                 const CPUOptions &options) {
  CPUTimes times;
  Compilation compilation;
  ZYX_RETURN_IF_ERROR(prepare(compilation, llvmModule, target, options, times));
  llvm::SmallVector<char, 0> text;
  generate(compilation, llvm::CodeGenFileType::AssemblyFile, text);
  return std::string(text.data(), text.size());
}

} // namespace zyx::target
