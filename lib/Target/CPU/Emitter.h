//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TARGET_CPU_EMITTER_H
#define ZYX_LIB_TARGET_CPU_EMITTER_H

#include "CodeGenerator.h"

#include "zyx/Target/Backend/Backend.h"
#include "zyx/Target/Backend/WorkerPool.h"
#include "zyx/Target/CPU/CPU.h"

#include <deque>

namespace zyx::target {

/// Makes one shared object of several modules of the LLVM dialect. Each is compiled by itself.
class ObjectEmitter final : public Emitter {
public:
  /// `most` modules will be added.
  static Result<std::unique_ptr<ObjectEmitter>> create(const TargetInfo &target, CPUPasses passes, EmitOptions options,
                                                       size_t most);
  Status add(mlir::ModuleOp llvmModule) override;
  /// See emitSharedObject.
  Result<std::vector<artifact::CodeBlob>> finish() override;
  std::vector<EmitStage> stages() const override;
  std::string_view keptFormat() const override { return "elf-o"; }
  bool sharesSymbols() const override { return true; }
  Status addKept(std::vector<std::byte> object) override;
  std::vector<std::vector<std::byte>> takeKept() override;
  const CPUTimes &times() const { return spent; }

private:
  /// One module on its way to an object.
  struct Job {
    // In this order: the module is in the context.
    std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
    std::unique_ptr<llvm::Module> module;
    llvm::SmallVector<char, 0> object;
    Status status;
    /// Whether the object came as it is.
    bool isKept = false;
  };

  ObjectEmitter(const TargetInfo &target, CPUPasses passes, EmitOptions options, size_t most,
                CodeGenerator::Owned generator)
      : target(target), passes(passes), options(std::move(options)), generator(std::move(generator)), pool(most) {}
  void compile(Job &job, WorkerPool::Runner runner);

  const TargetInfo target;
  const CPUPasses passes;
  const EmitOptions options;
  /// Of the calling thread.
  CodeGenerator::Owned generator;
  CPUTimes spent;
  /// A deque: jobs stay where they are while others come.
  std::deque<Job> jobs;
  /// The last: its workers end before what they use does.
  WorkerPool pool;
};

} // namespace zyx::target

#endif // ZYX_LIB_TARGET_CPU_EMITTER_H
