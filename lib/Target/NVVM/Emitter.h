//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TARGET_NVVM_EMITTER_H
#define ZYX_LIB_TARGET_NVVM_EMITTER_H

#include "PTXCompilation.h"

#include "zyx/Target/Backend/Backend.h"
#include "zyx/Target/Backend/WorkerPool.h"

#include <deque>

namespace zyx::target {

/// Makes a piece of code of each module, so that one can be loaded without the others: cubins, or PTX where the driver
/// is to assemble.
class PTXEmitter final : public Emitter {
public:
  /// `most` modules will be added.
  PTXEmitter(const TargetInfo &target, EmitOptions options, size_t most);
  Status add(mlir::ModuleOp llvmModule) override;
  Result<std::vector<artifact::CodeBlob>> finish() override;
  std::vector<EmitStage> stages() const override { return {{"generate", milliseconds}}; }
  std::string_view keptFormat() const override { return assembler.empty() ? "ptx" : "cubin"; }
  Status addKept(std::vector<std::byte> code) override;
  std::vector<std::vector<std::byte>> takeKept() override;

private:
  struct Job {
    PTXCompilation compilation;
    std::vector<std::byte> code;
    Status status;
    /// Whether the code came as it is.
    bool isKept = false;
  };
  void compile(Job &job) const;

  const TargetInfo target;
  const EmitOptions options;
  /// Empty where the driver assembles.
  const std::string assembler;
  double milliseconds = 0;
  /// A deque: jobs stay where they are while others come.
  std::deque<Job> jobs;
  /// The last: its workers end before what they use does.
  WorkerPool pool;
};

} // namespace zyx::target

#endif // ZYX_LIB_TARGET_NVVM_EMITTER_H
