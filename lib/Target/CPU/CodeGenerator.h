//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TARGET_CPU_CODEGENERATOR_H
#define ZYX_LIB_TARGET_CPU_CODEGENERATOR_H

#include "zyx/Target/Backend/LLVMAnalyses.h"
#include "zyx/Target/CPU/CPU.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

namespace zyx::target {

/// LLVM for one processor: its machine, and the passes before the machine's own. Used by one thread
/// at a time, for one module after the other: making it takes as long as a small kernel.
class CodeGenerator {
public:
  struct GiveBack {
    void operator()(CodeGenerator *generator) const;
  };
  /// Back where it came from at the end of its life.
  using Owned = std::unique_ptr<CodeGenerator, GiveBack>;
  /// One that nobody uses, or a new one.
  static Result<Owned> take(const TargetInfo &target, CPUPasses passes);

  /// LLVM IR for the machine.
  Result<std::unique_ptr<llvm::Module>> translate(mlir::ModuleOp module, llvm::LLVMContext &context) const;
  void optimise(llvm::Module &module);
  void generate(llvm::Module &module, llvm::CodeGenFileType type, llvm::SmallVectorImpl<char> &into) const;

private:
  CodeGenerator(std::string key, std::unique_ptr<llvm::TargetMachine> machine, CPUPasses passes);
  std::string key;
  std::unique_ptr<llvm::TargetMachine> machine;
  LLVMAnalyses analyses;
  llvm::ModulePassManager manager;
};

} // namespace zyx::target

#endif // ZYX_LIB_TARGET_CPU_CODEGENERATOR_H
