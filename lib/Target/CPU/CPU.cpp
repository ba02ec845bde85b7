//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/CPU/CPU.h"

#include "Emitter.h"

namespace zyx::target {

Result<std::vector<std::byte>> emitSharedObject(mlir::ModuleOp llvmModule, const TargetInfo &target,
                                                const CPUOptions &options, CPUTimes *times) {
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<ObjectEmitter> emitter, ObjectEmitter::create(target, options.passes, {}, 1));
  ZYX_RETURN_IF_ERROR(emitter->add(llvmModule));
  Result<std::vector<artifact::CodeBlob>> code = emitter->finish();
  if (times)
    *times = emitter->times();
  if (!code)
    return code.status();
  return std::move(code->front().bytes);
}

/// Translates and optimises.
static Result<std::unique_ptr<llvm::Module>> prepare(CodeGenerator &generator, mlir::ModuleOp from,
                                                     llvm::LLVMContext &context) {
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module, generator.translate(from, context));
  generator.optimise(*module);
  return module;
}

Result<std::string> emitLLVMIR(mlir::ModuleOp llvmModule, const TargetInfo &target, const CPUOptions &options) {
  ZYX_ASSIGN_OR_RETURN(CodeGenerator::Owned generator, CodeGenerator::take(target, options.passes));
  llvm::LLVMContext context;
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module, prepare(*generator, llvmModule, context));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  return text;
}

Result<std::string> emitAssembly(mlir::ModuleOp llvmModule, const TargetInfo &target, const CPUOptions &options) {
  ZYX_ASSIGN_OR_RETURN(CodeGenerator::Owned generator, CodeGenerator::take(target, options.passes));
  llvm::LLVMContext context;
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module, prepare(*generator, llvmModule, context));
  llvm::SmallVector<char, 0> text;
  generator->generate(*module, llvm::CodeGenFileType::AssemblyFile, text);
  return std::string(text.data(), text.size());
}

} // namespace zyx::target
