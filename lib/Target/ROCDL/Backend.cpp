//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// AMD's GPUs: code objects by LLVM and lld in this process.
//===----------------------------------------------------------------------===//
#include "CodeObject.h"

#include "zyx/Conversion/KernelToGPU/Passes.h"
#include "zyx/Target/Backend/PieceEmitter.h"
#include "zyx/Target/ROCDL/ROCDL.h"

using namespace zyx;
using namespace zyx::target;

namespace {

class ROCDLBackend final : public PieceBackend {
public:
  ROCDLBackend() : PieceBackend("ROCDL", TargetKind::HIP, "AMD's GPUs", "hsaco") {}

  void addLowering(mlir::OpPassManager &passes, const TargetInfo &) const override {
    passes.addPass(kernel::createConvertKernelToThreadsPass({kernel::GPUDialect::ROCDL}));
  }

  Result<PieceEmitter::Compile> translate(mlir::ModuleOp lowered, const TargetInfo &target) const override {
    auto compilation = std::make_shared<CodeObjectCompilation>();
    ZYX_RETURN_IF_ERROR(compilation->translate(lowered));
    return PieceEmitter::Compile([=] { return compilation->link(target); });
  }

  Result<std::string> toText(mlir::ModuleOp lowered, const TargetInfo &target) const override {
    CodeObjectCompilation compilation;
    ZYX_RETURN_IF_ERROR(compilation.translate(lowered));
    return compilation.toAssembly(target);
  }
};

} // namespace

Status zyx::target::registerROCDLBackend(BackendRegistry &registry) {
  return registry.add(std::make_unique<ROCDLBackend>());
}
