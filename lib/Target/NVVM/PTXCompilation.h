//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TARGET_NVVM_PTXCOMPILATION_H
#define ZYX_LIB_TARGET_NVVM_PTXCOMPILATION_H

#include "zyx/Base/Status.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <string>

namespace zyx::target {

/// One module on its way to PTX. `translate` is called where the module's context may be used, `generate`
/// on any thread behind it.
struct PTXCompilation {
  /// Refuses what the record's machine does not have.
  Status translate(mlir::ModuleOp llvmModule, const TargetInfo &target);
  std::string generate(const TargetInfo &target, bool scalarise);

private:
  // In this order: the module is in the context.
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

} // namespace zyx::target

#endif // ZYX_LIB_TARGET_NVVM_PTXCOMPILATION_H
