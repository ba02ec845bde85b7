//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TARGET_ROCDL_CODEOBJECT_H
#define ZYX_LIB_TARGET_ROCDL_CODEOBJECT_H

#include "zyx/Base/Status.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
}

namespace zyx::target {

/// One module on its way to a code object. `translate` is called where the module's context may be used, the others on
/// any thread behind it, one of them once.
class CodeObjectCompilation {
public:
  CodeObjectCompilation();
  Status translate(mlir::ModuleOp llvmModule);
  /// Linked, and checked: no kernel uses scratch memory, and all have waves as wide as the record's.
  Result<std::vector<std::byte>> link(const TargetInfo &target);
  Result<std::string> toAssembly(const TargetInfo &target);

private:
  Result<std::string> generate(const TargetInfo &target, bool asText);
  Result<std::string> emit(llvm::TargetMachine &machine, llvm::Module &from, const TargetInfo &target, bool asText);

  /// What LLVM reports as an error: it would end the process otherwise.
  std::string errors;
  // In this order: the module is in the context.
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

/// Refuses a code object with a kernel that uses scratch memory, or whose waves are not as wide as the record's.
Status checkMetadata(llvm::StringRef codeObject, const TargetInfo &target);

} // namespace zyx::target

#endif // ZYX_LIB_TARGET_ROCDL_CODEOBJECT_H
