//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "CodeGenerator.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <map>
#include <mutex>

namespace zyx::target {
namespace {

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
  std::unique_ptr<llvm::MCSubtargetInfo> subtargets(llvmTarget->createMCSubtargetInfo(triple, "", ""));
  if (!subtargets->isCPUStringValid(target.cpu))
    return Status::invalidArgument("LLVM knows no processor '" + target.cpu + "'");
  std::unique_ptr<llvm::TargetMachine> machine(
      llvmTarget->createTargetMachine(triple, target.cpu, target.featureString(), options, llvm::Reloc::PIC_,
                                      std::nullopt, llvm::CodeGenOptLevel::Default, /*JIT=*/false));
  return machine;
}

/// Vectors are native already: what is left is to clean up addresses and loops. The full pipeline
/// takes twice to three times as long and makes code that is not measurably faster. Loops are
/// rotated because only out of a loop that is known to run can loads be hoisted.
constexpr const char *shortPasses =
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint;max-iterations=1>,"
    "loop-mssa(loop-rotate,licm),early-cse<memssa>,simplifycfg)";

/// Code generators that nobody uses, for the life of the process.
struct Shelf {
  std::mutex mutex;
  std::map<std::string, std::vector<std::unique_ptr<CodeGenerator>>> idle;
  /// Of one kind; more are only there while more threads compile.
  static constexpr size_t most = 16;
};

/// Never freed: LLVM's own globals may be gone before it would be.
Shelf &shelf() {
  static Shelf &shelf = *new Shelf;
  return shelf;
}

} // namespace

CodeGenerator::CodeGenerator(std::string key, std::unique_ptr<llvm::TargetMachine> itsMachine, CPUPasses passes)
    : key(std::move(key)), machine(std::move(itsMachine)), analyses(machine.get()) {
  if (passes == CPUPasses::O2)
    manager = analyses.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  else if (passes == CPUPasses::Short)
    llvm::cantFail(analyses.builder.parsePassPipeline(manager, shortPasses));
}

void CodeGenerator::GiveBack::operator()(CodeGenerator *generator) const {
  std::unique_ptr<CodeGenerator> owned(generator);
  Shelf &all = shelf();
  std::lock_guard lock(all.mutex);
  auto &idle = all.idle[owned->key];
  if (idle.size() < Shelf::most)
    idle.push_back(std::move(owned));
}

Result<CodeGenerator::Owned> CodeGenerator::take(const TargetInfo &target, CPUPasses passes) {
  const std::string key = target.triple + " " + target.cpu + " " + target.featureString() + " " +
                          std::to_string(static_cast<int>(passes)) + std::to_string(static_cast<int>(target.kind));
  {
    Shelf &all = shelf();
    std::lock_guard lock(all.mutex);
    if (auto &idle = all.idle[key]; !idle.empty()) {
      Owned taken(idle.back().release());
      idle.pop_back();
      return taken;
    }
  }
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, createMachine(target));
  return Owned(new CodeGenerator(key, std::move(machine), passes));
}

Result<std::unique_ptr<llvm::Module>> CodeGenerator::translate(mlir::ModuleOp from, llvm::LLVMContext &context) const {
  mlir::registerBuiltinDialectTranslation(*from.getContext());
  mlir::registerLLVMDialectTranslation(*from.getContext());
  std::unique_ptr<llvm::Module> module = mlir::translateModuleToLLVMIR(from, context, "kernels");
  if (!module)
    return Status::compileFailed("the kernels cannot be translated to LLVM IR");
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  module->setPICLevel(llvm::PICLevel::SmallPIC);
  return module;
}

void CodeGenerator::optimise(llvm::Module &module) {
  if (manager.isEmpty())
    return;
  manager.run(module, analyses.modules);
  // They hold on to what the module consists of.
  analyses.loops.clear();
  analyses.functions.clear();
  analyses.callGraphs.clear();
  analyses.modules.clear();
}

void CodeGenerator::generate(llvm::Module &module, llvm::CodeGenFileType type,
                             llvm::SmallVectorImpl<char> &into) const {
  llvm::raw_svector_ostream stream(into);
  llvm::legacy::PassManager passes;
  [[maybe_unused]] bool unable = machine->addPassesToEmitFile(passes, stream, nullptr, type);
  ZYX_ASSERT(!unable, "every native target writes objects and assembly");
  passes.run(module);
}

} // namespace zyx::target
