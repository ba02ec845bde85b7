//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// AMD's GPUs: code objects by LLVM and lld in this process.
//===----------------------------------------------------------------------===//
#include "CodeObject.h"

#include "zyx/Conversion/KernelToGPU/Passes.h"
#include "zyx/Target/Backend/Backend.h"
#include "zyx/Target/Backend/WorkerPool.h"
#include "zyx/Target/ROCDL/ROCDL.h"

#include <chrono>
#include <deque>

using namespace zyx;
using namespace zyx::target;

namespace {

/// Makes a code object of each module, so that one can be loaded without the others.
class CodeObjectEmitter final : public Emitter {
public:
  CodeObjectEmitter(const TargetInfo &target, EmitOptions options, size_t most)
      : target(target), options(std::move(options)), pool(most) {}

  Status add(mlir::ModuleOp llvmModule) override {
    Job &job = jobs.emplace_back();
    ZYX_RETURN_IF_ERROR(job.compilation.translate(llvmModule));
    pool.add([this, &job](WorkerPool::Runner) {
      Result<std::vector<std::byte>> linked = job.compilation.link(target);
      if (linked)
        job.code = std::move(*linked);
      else
        job.status = linked.status();
    });
    return Status::ok();
  }

  Result<std::vector<artifact::CodeBlob>> finish() override {
    const auto begin = std::chrono::steady_clock::now();
    pool.finish([this](size_t done, size_t total) {
      if (options.progress)
        options.progress("generate", done, total);
    });
    milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    std::vector<artifact::CodeBlob> code;
    for (Job &job : jobs) {
      ZYX_RETURN_IF_ERROR(job.status);
      code.push_back({"hsaco", std::move(job.code)});
    }
    return code;
  }

  std::vector<EmitStage> stages() const override { return {{"generate", milliseconds}}; }

private:
  struct Job {
    CodeObjectCompilation compilation;
    std::vector<std::byte> code;
    Status status;
  };

  const TargetInfo target;
  const EmitOptions options;
  double milliseconds = 0;
  /// A deque: jobs stay where they are while others come.
  std::deque<Job> jobs;
  /// The last: its workers end before what they use does.
  WorkerPool pool;
};

class ROCDLBackend final : public Backend {
public:
  std::string_view name() const override { return "ROCDL"; }
  bool makesCodeFor(const TargetInfo &target) const override { return target.kind == TargetKind::HIP; }

  Status supports(kernel::FuncOp kernel, const TargetInfo &target) const override {
    mlir::FailureOr<kernel::LaunchInfo> info = kernel::launchInfoOf(kernel);
    if (failed(info) || kernel::isMachineForm(kernel))
      return refuseKernel(kernel, "is in the machine form, for which AMD's GPUs have no lowering");
    return checkWorkgroup(kernel, *info, target);
  }

  void addLowering(mlir::OpPassManager &passes, const TargetInfo &target) const override {
    passes.addPass(kernel::createConvertKernelToThreadsPass(
        {target.memory.privateBytes, target.simt.sharedBytes, target.arithmetic.hasPackedHalf,
         target.arithmetic.hasPackedBfloat, target.arithmetic.hasMaximum, kernel::GPUDialect::ROCDL}));
  }

  Result<std::unique_ptr<Emitter>> createEmitter(const TargetInfo &target, EmitOptions options,
                                                 size_t most) const override {
    return std::unique_ptr<Emitter>(std::make_unique<CodeObjectEmitter>(target, std::move(options), most));
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
