//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "CodeObject.h"

#include "zyx/Target/Backend/LLVMAnalyses.h"
#include "zyx/Target/Backend/Link.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>

using namespace zyx;
using namespace zyx::target;

/// Of the code objects that are made: 5, which ROCm loads since its version 5.3.
static constexpr uint32_t codeObjectVersion = 500;

static std::unique_ptr<llvm::TargetMachine> createMachine(const TargetInfo &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
  });
  llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const llvm::Target *llvmTarget = llvm::TargetRegistry::lookupTarget(triple, error);
  ZYX_ASSERT(llvmTarget, "the backend is linked and registered above");
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  const std::string features = "+wavefrontsize" + std::to_string(target.simt.subgroupSize);
  return std::unique_ptr<llvm::TargetMachine>(llvmTarget->createTargetMachine(
      triple, target.cpu, features, options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

CodeObjectCompilation::CodeObjectCompilation() {
  context->setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *into) {
        if (info->getSeverity() != llvm::DS_Error)
          return;
        llvm::raw_string_ostream stream(*static_cast<std::string *>(into));
        llvm::DiagnosticPrinterRawOStream printer(stream);
        stream << (stream.str().empty() ? "" : "; ");
        info->print(printer);
      },
      &errors);
}

Status CodeObjectCompilation::translate(mlir::ModuleOp llvmModule) {
  mlir::MLIRContext *from = llvmModule.getContext();
  mlir::registerBuiltinDialectTranslation(*from);
  mlir::registerLLVMDialectTranslation(*from);
  mlir::registerROCDLDialectTranslation(*from);
  module = mlir::translateModuleToLLVMIR(llvmModule, *context, "kernels");
  if (!module)
    return Status::compileFailed("the kernels hold what has no translation to LLVM IR");
  module->addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", codeObjectVersion);
  return Status::ok();
}

/// Masked accesses become branches, and vectors are taken apart but where they are loaded and stored, as on other GPUs.
/// Registers have 32 bits: two elements of 16 stay together.
static constexpr const char *scalarisingPasses =
    "function(scalarize-masked-mem-intrin,scalarizer<no-load-store;variable-insert-extract;min-bits=32>)";

/// What sums are made of: arithmetic of floats, and additions of what is a product or was read.
static bool isPartOfSum(const llvm::Instruction &instruction) {
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return llvm::is_contained({llvm::Intrinsic::fma, llvm::Intrinsic::maximum, llvm::Intrinsic::minimum},
                              call->getIntrinsicID());
  if (instruction.getOpcode() == llvm::Instruction::Add)
    return llvm::any_of(instruction.operands(), [](const llvm::Use &operand) {
      auto *part = llvm::dyn_cast<llvm::Instruction>(operand);
      return part && (llvm::isa<llvm::LoadInst>(part) ||
                      (part->getOpcode() == llvm::Instruction::Mul && !llvm::isa<llvm::Constant>(part->getOperand(1))));
    });
  return llvm::is_contained({llvm::Instruction::FAdd, llvm::Instruction::FSub, llvm::Instruction::FMul},
                            instruction.getOpcode());
}

/// One register, or two: an integer, a float, or a pair of floats.
static bool fitsRegisters(llvm::Type *type) {
  const auto bits = type->getPrimitiveSizeInBits();
  return type->isIntegerTy(32) || (type->isFPOrFPVectorTy() && (bits == 32 || bits == 64));
}

/// LLVM moves what a block computes into the later block that reads it. Of a sum all parts that were read, which it
/// does not move, would be in registers at the same time. That an empty instruction of their own block reads them keeps
/// the sums there.
static void keepSumsInPlace(llvm::Module &module) {
  llvm::Type *none = llvm::Type::getVoidTy(module.getContext());
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function) {
      if (block.empty() || block.getTerminator()->getNumSuccessors() < 2)
        continue;
      llvm::SmallVector<llvm::Instruction *> sums;
      for (llvm::Instruction &instruction : block)
        if (fitsRegisters(instruction.getType()) && isPartOfSum(instruction) &&
            llvm::none_of(instruction.users(), [&](llvm::User *user) {
              const auto *reader = llvm::cast<llvm::Instruction>(user);
              return reader->getParent() == &block && isPartOfSum(*reader);
            }))
          sums.push_back(&instruction);
      for (llvm::Instruction *sum : sums) {
        auto *type = llvm::FunctionType::get(none, {sum->getType()}, false);
        llvm::CallInst::Create(type, llvm::InlineAsm::get(type, "", "v", /*hasSideEffects=*/true), {sum}, "",
                               block.getTerminator()->getIterator());
      }
    }
}

Result<std::string> CodeObjectCompilation::generate(const TargetInfo &target, bool asText) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(target);
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  // Loops arrive with as many elements a trip as a thread has registers for. LLVM would repeat a body for all trips and
  // read what all of them need at first.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  LLVMAnalyses analyses(machine.get(), tuning);
  llvm::ModulePassManager passes;
  llvm::cantFail(analyses.builder.parsePassPipeline(passes, scalarisingPasses));
  passes.addPass(analyses.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3));
  passes.run(*module, analyses.modules);
  // Where values are too many for the registers, instructions are ordered for the fewest. A block of thousands of them
  // has too many sums to keep all until its end: they may move then.
  for (int attempt = 0;; ++attempt) {
    std::unique_ptr<llvm::Module> made = llvm::CloneModule(*module);
    if (attempt < 2)
      keepSumsInPlace(*made);
    if (attempt % 2 == 1)
      for (llvm::Function &function : *made)
        function.addFnAttr("amdgpu-sched-strategy", "iterative-minreg");
    ZYX_ASSIGN_OR_RETURN(std::string object, emit(*machine, *llvm::CloneModule(*made), target, /*asText=*/false));
    if (attempt < 3 && !checkMetadata(object, target).isOk())
      continue;
    return asText ? emit(*machine, *made, target, asText) : Result<std::string>(std::move(object));
  }
}

Result<std::string> CodeObjectCompilation::emit(llvm::TargetMachine &machine, llvm::Module &from,
                                                const TargetInfo &target, bool asText) {
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  [[maybe_unused]] const bool cannot = machine.addPassesToEmitFile(
      passes, stream, nullptr, asText ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile);
  ZYX_ASSERT(!cannot, "the backend writes objects and assembly");
  passes.run(from);
  if (!errors.empty())
    return Status::compileFailed("LLVM makes no code for '" + target.name + "': " + errors);
  return std::string(text.data(), text.size());
}

Result<std::string> CodeObjectCompilation::toAssembly(const TargetInfo &target) {
  return generate(target, /*asText=*/true);
}

Result<std::vector<std::byte>> CodeObjectCompilation::link(const TargetInfo &target) {
  ZYX_ASSIGN_OR_RETURN(const std::string object, generate(target, /*asText=*/false));
  ZYX_RETURN_IF_ERROR(checkMetadata(object, target));
  return linkSharedObject(llvm::StringRef(object), {"--no-undefined"});
}

/// The metadata of a code object's kernels, which its note of this type holds as MessagePack; empty where there is
/// none.
static llvm::Expected<std::string> readMetadata(llvm::StringRef codeObject) {
  auto file = llvm::object::ELF64LEFile::create(codeObject);
  if (!file)
    return file.takeError();
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    std::string found;
    for (const auto &note : file->notes(section, error))
      if (note.getName() == "AMDGPU" && note.getType() == llvm::ELF::NT_AMDGPU_METADATA)
        found = note.getDescAsStringRef(section.sh_addralign).str();
    if (error)
      return std::move(error);
    if (!found.empty())
      return found;
  }
  return std::string();
}

Status zyx::target::checkMetadata(llvm::StringRef codeObject, const TargetInfo &target) {
  llvm::Expected<std::string> metadata = readMetadata(codeObject);
  if (!metadata)
    return Status::internal("cannot read the generated object: " + llvm::toString(metadata.takeError()));
  llvm::msgpack::Document document;
  if (metadata->empty() || !document.readFromBlob(*metadata, /*Multi=*/false))
    return Status::internal("cannot read the generated object: it has no metadata");
  for (llvm::msgpack::DocNode &node : document.getRoot().getMap()["amdhsa.kernels"].getArray(/*Convert=*/true)) {
    auto &kernel = node.getMap();
    const std::string name = kernel[".name"].toString();
    auto number = [&](const char *field) { return static_cast<int64_t>(kernel[field].getUInt()); };
    if (number(".private_segment_fixed_size") != 0 || kernel[".uses_dynamic_stack"].getBool())
      return Status::compileFailed("kernel '" + name + "' does not fit the registers of a thread of '" + target.name +
                                   "': it needs " + std::to_string(number(".private_segment_fixed_size")) +
                                   " bytes of scratch memory, which kernels may not have");
    if (number(".wavefront_size") != target.simt.subgroupSize)
      return Status::internal("kernel '" + name + "' has waves of " + std::to_string(number(".wavefront_size")) +
                              " threads; those of '" + target.name + "' have " +
                              std::to_string(target.simt.subgroupSize));
  }
  return Status::ok();
}
