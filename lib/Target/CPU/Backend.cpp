//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Processors: one shared object, by LLVM and lld in this process.
//===----------------------------------------------------------------------===//
#include "Emitter.h"

#include "zyx/Conversion/KernelToLLVM/KernelToLLVM.h"
#include "zyx/Dialect/Kernel/IR/LaunchInfo.h"
#include "zyx/Target/Text/C.h"

using namespace zyx;
using namespace zyx::target;

namespace {

class CPUBackend final : public Backend {
public:
  std::string_view name() const override { return "CPU"; }
  bool makesCodeFor(const TargetInfo &target) const override { return target.kind == TargetKind::CPU; }

  Status supports(kernel::FuncOp kernel, const TargetInfo &) const override {
    return checkOneThread(kernel, "a processor").status();
  }

  void addLowering(mlir::OpPassManager &passes, const TargetInfo &) const override {
    passes.addPass(kernel::createConvertKernelToLLVMPass());
  }

  Result<std::unique_ptr<Emitter>> createEmitter(const TargetInfo &target, EmitOptions options,
                                                 size_t most) const override {
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<ObjectEmitter> emitter,
                         ObjectEmitter::create(target, CPUPasses::Short, std::move(options), most));
    return std::unique_ptr<Emitter>(std::move(emitter));
  }

  Result<ExternalCode> emitExternal(kernel::FuncOp kernel, const TargetInfo &target) const override {
    if (kernel.getExternalAttr().getLanguage() != kernel::Language::C)
      return Backend::emitExternal(kernel, target);
    return compileExternalC(kernel);
  }

  Result<std::string> toText(mlir::ModuleOp lowered, const TargetInfo &) const override {
    std::string text;
    llvm::raw_string_ostream(text) << *lowered;
    return text;
  }
};

} // namespace

Status zyx::target::registerCPUBackend(BackendRegistry &registry) {
  return registry.add(std::make_unique<CPUBackend>());
}
