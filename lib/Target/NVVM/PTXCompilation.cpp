//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "PTXCompilation.h"

#include "zyx/Conversion/KernelToNVVM/Passes.h"
#include "zyx/Target/Backend/LLVMAnalyses.h"
#include "zyx/Target/NVVM/NVVM.h"

#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;

namespace zyx::target {
namespace {

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
      llvmTarget->createTargetMachine(triple, target.cpu, target.featureString(), options, std::nullopt, std::nullopt,
                                      llvm::CodeGenOptLevel::Aggressive));
}

/// Masked accesses become branches, which the scalariser would leave alone.
constexpr const char *scalarisingPasses =
    "scalarize-masked-mem-intrin,scalarizer<no-load-store;variable-insert-extract>";

/// Buffers begin at multiples of 16 bytes, but their pointers reach accesses through a cast to the generic space,
/// behind which LLVM forgets that. Without it, what a thread writes one by one, as where two tensors are interleaved,
/// is not joined to vectors when code is made.
constexpr const char *aligningPasses = "infer-address-spaces,infer-alignment";

/// Of the largest of three numbers, which is one instruction on Hopper, ptxas of CUDA 13.0 leaves out that the one in
/// the middle is negated. What it does not take for a negation it computes: -x is ~(x - 1), which LLVM would make one
/// again.
void hideNegations(llvm::Module &module) {
  auto *word = llvm::Type::getInt32Ty(module.getContext()), *half = llvm::Type::getInt16Ty(module.getContext());
  auto makeNegation = [](llvm::Type *type, const char *text, const char *registers) {
    return llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), text, registers,
                                /*hasSideEffects=*/false);
  };
  auto *negateWord = makeNegation(word, "add.s32 $0, $1, -1; not.b32 $0, $0;", "=r,r");
  auto *negateHalf = makeNegation(half, "add.s16 $0, $1, -1; not.b16 $0, $0;", "=h,h");
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *extreme = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&instruction);
      if (!extreme || !extreme->getType()->isIntegerTy() || extreme->getType()->getIntegerBitWidth() > 32)
        continue;
      llvm::IRBuilder<> builder(extreme);
      for (llvm::Use &operand : extreme->args()) {
        llvm::Value *x = nullptr;
        if (!llvm::PatternMatch::match(operand.get(), llvm::PatternMatch::m_Neg(llvm::PatternMatch::m_Value(x))))
          continue;
        const bool isWord = x->getType()->getIntegerBitWidth() > 16;
        x = builder.CreateCall(isWord ? negateWord : negateHalf, {builder.CreateSExtOrTrunc(x, isWord ? word : half)});
        operand.set(builder.CreateSExtOrTrunc(x, extreme->getType()));
      }
    }
}

/// The first instructions of each kernel: it waits for what it is behind, and then what is behind it may begin. They
/// are written into the text, as LLVM may move reads of what a kernel does not write in front of any instruction. In
/// the other order a kernel could begin while one two before it still reads, and fills first caches with what the one
/// in between overwrites.
std::string withWaits(llvm::StringRef text) {
  constexpr llvm::StringLiteral entry = ".entry ",
                                first = "\tgriddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;\n";
  std::string result;
  while (true) {
    size_t at = text.find(entry);
    if (at == text.npos)
      return result + text.str();
    // Behind the brace of its body, and the declarations there.
    at = text.find("\n{\n", at);
    ZYX_ASSERT(at != text.npos, "an entry of LLVM's has a body");
    for (at += 3; text.substr(at).ltrim(" \t").starts_with("."); at = text.find('\n', at) + 1)
      ;
    result += text.take_front(at).str() + first.str();
    text = text.drop_front(at);
  }
}

} // namespace

Status PTXCompilation::translate(ModuleOp llvmModule, const TargetInfo &target) {
  ZYX_RETURN_IF_ERROR(checkNVVMFeatures(llvmModule, target));
  MLIRContext *from = llvmModule.getContext();
  registerBuiltinDialectTranslation(*from);
  registerLLVMDialectTranslation(*from);
  registerNVVMDialectTranslation(*from);
  OwningOpRef<ModuleOp> copy = llvmModule.clone();
  PassManager passes(from);
  passes.addPass(createConvertNVVMToLLVMPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (succeeded(passes.run(*copy)))
    module = translateModuleToLLVMIR(*copy, *context, "kernels");
  if (!module)
    return Status::compileFailed("the kernels hold what has no translation to LLVM IR");
  return Status::ok();
}

std::string PTXCompilation::generate(const TargetInfo &target, bool scalarise) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(target);
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  LLVMAnalyses analyses(machine.get());
  llvm::ModulePassManager passes;
  if (scalarise) {
    llvm::FunctionPassManager scalarising;
    llvm::cantFail(analyses.builder.parsePassPipeline(scalarising, scalarisingPasses));
    for (llvm::Function &function : *module)
      if (!function.isDeclaration() && !function.hasFnAttribute(kernel::keepsVectorsName))
        scalarising.run(function, analyses.functions);
    analyses.modules.clear();
    analyses.functions.clear();
  }
  passes.addPass(analyses.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3));
  llvm::FunctionPassManager aligning;
  llvm::cantFail(analyses.builder.parsePassPipeline(aligning, aligningPasses));
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(aligning)));
  passes.run(*module, analyses.modules);
  hideNegations(*module);

  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager emit;
  [[maybe_unused]] bool cannot =
      machine->addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::AssemblyFile);
  ZYX_ASSERT(!cannot, "PTX is what the backend writes");
  emit.run(*module);
  const llvm::StringRef made(text.data(), text.size());
  return target.simt.hasEarlyLaunches ? withWaits(made) : made.str();
}

} // namespace zyx::target
