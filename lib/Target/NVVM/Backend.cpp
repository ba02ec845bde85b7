//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// NVIDIA's GPUs: PTX by LLVM in this process, and a cubin where there is ptxas.
//===----------------------------------------------------------------------===//
#include "PTXCompilation.h"

#include "zyx/Conversion/KernelToGPU/Passes.h"
#include "zyx/Conversion/KernelToNVVM/Passes.h"
#include "zyx/Dialect/Kernel/IR/LaunchInfo.h"
#include "zyx/Target/Backend/PieceEmitter.h"
#include "zyx/Target/Info/Toolchain.h"
#include "zyx/Target/NVVM/NVVM.h"

#include <span>

using namespace zyx;
using namespace zyx::target;

namespace {

class NVVMBackend final : public Backend {
public:
  std::string_view name() const override { return "NVVM"; }
  bool makesCodeFor(const TargetInfo &target) const override { return target.kind == TargetKind::CUDA; }

  Status supports(kernel::FuncOp kernel, const TargetInfo &target) const override {
    mlir::FailureOr<kernel::LaunchInfo> info = kernel::launchInfoOf(kernel, &target);
    if (failed(info))
      return refuseKernel(kernel, "copies what no tensor map describes");
    return checkWorkgroup(kernel, *info, target);
  }

  void addLowering(mlir::OpPassManager &passes, const TargetInfo &target) const override {
    if (target.hasTensorCores())
      passes.addPass(kernel::createConvertKernelToNVVMPass());
    passes.addPass(kernel::createConvertKernelToThreadsPass());
  }

  Result<std::unique_ptr<Emitter>> createEmitter(const TargetInfo &target, EmitOptions options,
                                                 size_t most) const override {
    // Cubins, or PTX where the driver is to assemble.
    const std::string assembler = target.isAssembledByDriver ? "" : findProgram(ptxasProgram);
    auto translate = [target, assembler](mlir::ModuleOp lowered) -> Result<PieceEmitter::Compile> {
      auto compilation = std::make_shared<PTXCompilation>();
      ZYX_RETURN_IF_ERROR(compilation->translate(lowered, target));
      return PieceEmitter::Compile([=]() -> Result<PieceEmitter::Code> {
        const std::string ptx = compilation->generate(target, /*scalarise=*/true);
        if (!assembler.empty())
          return assemble(ptx, target, assembler);
        const auto bytes = std::as_bytes(std::span(ptx));
        return PieceEmitter::Code(bytes.begin(), bytes.end());
      });
    };
    return std::unique_ptr<Emitter>(std::make_unique<PieceEmitter>(assembler.empty() ? "ptx" : "cubin",
                                                                   std::move(translate), std::move(options), most));
  }

  Result<ExternalCode> emitExternal(kernel::FuncOp kernel, const TargetInfo &target) const override {
    if (kernel.getExternalAttr().getLanguage() != kernel::Language::PTX)
      return Backend::emitExternal(kernel, target);
    return assembleExternal(kernel, target);
  }

  Result<std::string> toText(mlir::ModuleOp lowered, const TargetInfo &target) const override {
    return emitPTX(lowered, target, /*scalarise=*/true);
  }
};

} // namespace

Status zyx::target::registerNVVMBackend(BackendRegistry &registry) {
  return registry.add(std::make_unique<NVVMBackend>());
}
