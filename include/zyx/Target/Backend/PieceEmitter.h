//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_BACKEND_PIECEEMITTER_H
#define ZYX_TARGET_BACKEND_PIECEEMITTER_H

#include "zyx/Target/Backend/Backend.h"
#include "zyx/Target/Backend/WorkerPool.h"

#include <deque>

namespace zyx::target {

/// Makes a piece of code of each module, so that one can be loaded, and kept, without the others. GPUs have this one.
class PieceEmitter final : public Emitter {
public:
  using Code = std::vector<std::byte>;
  /// Makes a module's code, on any thread. Owns what it needs.
  using Compile = std::function<Result<Code>()>;
  /// Takes what `Compile` needs of a module, where the module's context may be used.
  using Translate = std::function<Result<Compile>(mlir::ModuleOp lowered)>;

  /// `format` is the artifact's name of the code. `most` modules will be added.
  PieceEmitter(std::string format, Translate translate, EmitOptions options, size_t most);
  Status add(mlir::ModuleOp lowered) override;
  Result<std::vector<artifact::CodeBlob>> finish() override;
  std::vector<EmitStage> stages() const override { return {{"generate", milliseconds}}; }
  std::string_view keptFormat() const override { return format; }
  Status addKept(Code code) override;
  std::vector<Code> takeKept() override;

private:
  struct Job {
    Compile compile;
    Code code;
    Status status;
    /// Whether the code came as it is.
    bool isKept = false;
  };

  const std::string format;
  const Translate translate;
  const EmitOptions options;
  double milliseconds = 0;
  /// A deque: jobs stay where they are while others come.
  std::deque<Job> jobs;
  /// The last: its workers end before what they use does.
  WorkerPool pool;
};

/// A backend of one kind of machines, which takes kernels of the lowered form alone, and whose code is such pieces.
class PieceBackend : public Backend {
public:
  /// `machines` is what people call them, and `format` the artifact's name of the code.
  PieceBackend(const char *backend, TargetKind kind, const char *machines, const char *format)
      : backend(backend), machines(machines), format(format), kind(kind) {}

  std::string_view name() const override { return backend; }
  bool makesCodeFor(const TargetInfo &target) const override { return target.kind == kind; }
  Status supports(kernel::FuncOp kernel, const TargetInfo &target) const override {
    return checkLowered(kernel, target, machines);
  }
  Result<std::unique_ptr<Emitter>> createEmitter(const TargetInfo &target, EmitOptions options,
                                                 size_t most) const override {
    auto translate = [this, target](mlir::ModuleOp lowered) { return this->translate(lowered, target); };
    return std::make_unique<PieceEmitter>(format, translate, std::move(options), most);
  }

protected:
  virtual Result<PieceEmitter::Compile> translate(mlir::ModuleOp lowered, const TargetInfo &target) const = 0;

private:
  const char *const backend, *const machines, *const format;
  const TargetKind kind;
};

} // namespace zyx::target

#endif // ZYX_TARGET_BACKEND_PIECEEMITTER_H
