//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// C: one source of all kernels, which the system's compiler makes a shared object of.
//===----------------------------------------------------------------------===//
#include "zyx/Target/Text/C.h"

#include "zyx/Dialect/Kernel/IR/LaunchInfo.h"
#include "zyx/Target/Backend/Backend.h"

#include <chrono>
#include <span>
#include <type_traits>

using namespace zyx;
using namespace zyx::target;

namespace {

class CEmitter final : public Emitter {
public:
  explicit CEmitter(EmitOptions options) : options(std::move(options)) {}

  /// What kernels share of the text, its head and helpers, is there once: they are printed together.
  Status add(mlir::ModuleOp lowered) override {
    if (!kernels)
      kernels = mlir::ModuleOp::create(lowered.getLoc());
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(kernels->getBody());
    for (mlir::Operation &op : *lowered.getBody())
      builder.clone(op);
    return Status::ok();
  }

  Result<std::vector<artifact::CodeBlob>> finish() override {
    ZYX_ASSERT(kernels, "a program has a module, though no kernel may be in it");
    ZYX_ASSIGN_OR_RETURN(const std::string text, timed("print", [&] { return printC(*kernels); }));
    if (options.wantsSource) {
      const auto bytes = std::as_bytes(std::span(text));
      return std::vector<artifact::CodeBlob>{{"c", {bytes.begin(), bytes.end()}}};
    }
    ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> code, timed("cc", [&] { return compileC(text); }));
    return std::vector<artifact::CodeBlob>{{"elf-so", std::move(code)}};
  }

  std::vector<EmitStage> stages() const override { return spent; }

private:
  template <typename Body> std::invoke_result_t<Body> timed(const char *stage, Body body) {
    if (options.progress)
      options.progress(stage, 0, 0);
    const auto begin = std::chrono::steady_clock::now();
    std::invoke_result_t<Body> result = body();
    spent.push_back(
        {stage, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count()});
    return result;
  }

  const EmitOptions options;
  mlir::OwningOpRef<mlir::ModuleOp> kernels;
  std::vector<EmitStage> spent;
};

class CBackend final : public Backend {
public:
  std::string_view name() const override { return "Text/C"; }
  bool makesCodeFor(const TargetInfo &target) const override {
    return target.kind == TargetKind::C && target.device == "c";
  }

  Status supports(kernel::FuncOp kernel, const TargetInfo &) const override {
    ZYX_ASSIGN_OR_RETURN(const kernel::LaunchInfo info, checkOneThread(kernel, "C"));
    if (info.sharedBytes != 0)
      return refuseKernel(kernel, "allocates shared memory, which C has not");
    return Status::ok();
  }

  void addLowering(mlir::OpPassManager &passes, const TargetInfo &) const override { addScalarLowering(passes); }

  Result<std::unique_ptr<Emitter>> createEmitter(const TargetInfo &, EmitOptions options, size_t) const override {
    return std::unique_ptr<Emitter>(std::make_unique<CEmitter>(std::move(options)));
  }

  Result<ExternalCode> emitExternal(kernel::FuncOp kernel, const TargetInfo &target) const override {
    if (kernel.getExternalAttr().getLanguage() != kernel::Language::C)
      return Backend::emitExternal(kernel, target);
    return compileExternalC(kernel);
  }

  Result<std::string> toText(mlir::ModuleOp lowered, const TargetInfo &) const override { return printC(lowered); }
};

} // namespace

Status zyx::target::registerCBackend(BackendRegistry &registry) { return registry.add(std::make_unique<CBackend>()); }
