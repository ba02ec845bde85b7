//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// NVIDIA's GPUs: PTX by LLVM in this process, and a cubin where there is ptxas.
//===----------------------------------------------------------------------===//
#include "Emitter.h"

#include "zyx/Conversion/KernelToGPU/Passes.h"
#include "zyx/Conversion/KernelToNVVM/Passes.h"
#include "zyx/Dialect/Kernel/IR/LaunchInfo.h"
#include "zyx/Target/NVVM/NVVM.h"

using namespace zyx;
using namespace zyx::target;

namespace {

class NVVMBackend final : public Backend {
public:
  std::string_view name() const override { return "NVVM"; }
  bool makesCodeFor(const TargetInfo &target) const override { return target.kind == TargetKind::CUDA; }

  Status supports(kernel::FuncOp kernel, const TargetInfo &target) const override {
    mlir::FailureOr<kernel::LaunchInfo> info = kernel::launchInfoOf(kernel);
    if (failed(info))
      return refuseKernel(kernel, "copies what no tensor map describes");
    return checkWorkgroup(kernel, *info, target);
  }

  void addLowering(mlir::OpPassManager &passes, const TargetInfo &target) const override {
    if (target.hasTensorCores())
      passes.addPass(kernel::createConvertKernelToNVVMPass({/*onlyMachine=*/true}));
    passes.addPass(kernel::createConvertKernelToThreadsPass(
        {target.memory.privateBytes, target.simt.sharedBytes, target.arithmetic.hasPackedHalf,
         target.arithmetic.hasPackedBfloat, target.arithmetic.hasMaximum}));
  }

  Result<std::unique_ptr<Emitter>> createEmitter(const TargetInfo &target, EmitOptions options,
                                                 size_t most) const override {
    return std::unique_ptr<Emitter>(std::make_unique<PTXEmitter>(target, std::move(options), most));
  }

  Result<std::string> toText(mlir::ModuleOp lowered, const TargetInfo &target) const override {
    return emitPTX(lowered, target, /*scalarise=*/true);
  }
};

} // namespace

Status zyx::target::registerNVVMBackend(BackendRegistry &registry) {
  return registry.add(std::make_unique<NVVMBackend>());
}
