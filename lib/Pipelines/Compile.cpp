//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Conversion/PlanToArtifact/PlanToArtifact.h"
#include "zyx/Dialect/Plan/IR/PlanOps.h"
#include "zyx/Pipelines/Dot.h"
#include "zyx/Pipelines/Pipelines.h"
#include "zyx/Target/CPU/CPU.h"
#include "zyx/Target/Text/C.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <chrono>

using namespace mlir;
using namespace zyx;
using namespace zyx::pipelines;

namespace {

/// Measures one stage until its end of scope.
class Timer {
public:
  Timer(const std::string &name, const Options &options, std::vector<Stage> &stages)
      : span(options.trace, "compiler", name), name(name), stages(stages),
        begin(std::chrono::steady_clock::now()) {
    if (options.progress)
      options.progress(name, 0, 0);
  }
  ~Timer() {
    auto elapsed = std::chrono::steady_clock::now() - begin;
    stages.push_back(
        {std::move(name), static_cast<uint64_t>(std::chrono::nanoseconds(elapsed).count())});
  }

private:
  ScopedSpan span;
  std::string name;
  std::vector<Stage> &stages;
  std::chrono::steady_clock::time_point begin;
};

/// A span per pass and what it runs on.
class PassSpans : public PassInstrumentation {
public:
  explicit PassSpans(Trace &trace) : trace(trace) {}
  void runBeforePass(Pass *, Operation *) override { begins.push_back(Trace::now()); }
  void runAfterPass(Pass *pass, Operation *op) override { end(pass, op); }
  void runAfterPassFailed(Pass *pass, Operation *op) override { end(pass, op); }

private:
  void end(Pass *pass, Operation *op) {
    const uint64_t begin = begins.pop_back_val();
    // What only passes on to the passes of nested ops has no argument.
    if (pass->getArgument().empty())
      return;
    auto symbol = SymbolTable::getSymbolName(op);
    trace.add({"compiler", pass->getArgument().str(), symbol ? symbol.str() : std::string(), begin,
               Trace::now() - begin});
  }
  Trace &trace;
  /// Of the passes that run now, the innermost last: a context has one thread.
  SmallVector<uint64_t> begins;
};

/// Errors of a scope as text, one per line, with the place of each.
class Errors {
public:
  explicit Errors(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return success();
          llvm::raw_string_ostream stream(text);
          if (!text.empty())
            stream << '\n';
          if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
            stream << place.getFilename().getValue() << ':' << place.getLine() << ':'
                   << place.getColumn() << ": ";
          stream << diagnostic;
          return success();
        }) {}
  Status status(const std::string &where) const {
    return Status::compileFailed(text.empty() ? where + " failed" : where + ": " + text);
  }

private:
  std::string text;
  ScopedDiagnosticHandler handler;
};

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

Status checkRoundtrip(ModuleOp module, Phase phase) {
  std::string text = print(module);
  auto again = parseSourceString<ModuleOp>(text, module.getContext());
  if (!again || print(*again) != text)
    return Status::internal("the text of phase '" + std::string(toString(phase)) +
                            "' does not round-trip");
  return Status::ok();
}

/// The kernels alone, as the emitters take them.
OwningOpRef<ModuleOp> cloneKernels(ModuleOp module) {
  OwningOpRef<ModuleOp> kernels(module.clone());
  for (auto func : llvm::make_early_inc_range(kernels->getOps<plan::FuncOp>()))
    func.erase();
  return kernels;
}

Status runPhase(ModuleOp module, const Options &options, Phase phase, std::vector<Stage> &stages) {
  Timer timer(std::string(toString(phase)), options, stages);
  Errors errors(module.getContext());
  PassManager passes(module.getContext());
  if (options.trace)
    passes.addInstrumentation(std::make_unique<PassSpans>(*options.trace));
  addPhase(phase, passes, options);
  if (failed(passes.run(module)))
    return errors.status("phase '" + std::string(toString(phase)) + "'");
  return options.verifyRoundtrip ? checkRoundtrip(module, phase) : Status::ok();
}

Result<artifact::CodeBlob> emitCode(ModuleOp kernels, const Options &options,
                                    std::vector<Stage> &stages) {
  if (options.target.kind == target::TargetKind::C) {
    std::string text;
    {
      Timer timer("print", options, stages);
      ZYX_ASSIGN_OR_RETURN(text, target::printC(kernels));
    }
    Timer timer("cc", options, stages);
    ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> code, target::compileC(text));
    return artifact::CodeBlob{"elf-so", std::move(code)};
  }
  if (options.target.kind != target::TargetKind::CPU)
    return Status::unsupported("target '" + options.target.name + "' has no code for artifacts");
  target::CPUTimes times;
  target::CPUOptions emission;
  if (options.progress)
    emission.progress = [&](size_t done, size_t total) { options.progress("generate", done, total); };
  uint64_t begin = Trace::now();
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> code,
                       target::emitSharedObject(kernels, options.target, emission, &times));
  auto add = [&](const char *name, double milliseconds) {
    const auto nanoseconds = static_cast<uint64_t>(milliseconds * 1e6);
    stages.push_back({name, nanoseconds});
    // One follows the other.
    if (options.trace)
      options.trace->add({"compiler", name, "", begin, nanoseconds});
    begin += nanoseconds;
  };
  add("translate", times.translate);
  add("optimise", times.optimise);
  add("generate", times.generate);
  add("link", times.link);
  return artifact::CodeBlob{"elf-so", std::move(code)};
}

} // namespace

Status zyx::pipelines::runPhases(ModuleOp module, const Options &options, Phase last,
                                 std::vector<Stage> &stages) {
  for (Phase phase : allPhases) {
    if (phase > last)
      break;
    ZYX_RETURN_IF_ERROR(runPhase(module, options, phase, stages));
  }
  return Status::ok();
}

Result<artifact::Artifact> zyx::pipelines::compile(ModuleOp module, const Options &options,
                                                   std::vector<Stage> &stages) {
  ZYX_RETURN_IF_ERROR(runPhases(module, options, Phase::Plan, stages));
  OwningOpRef<ModuleOp> kernels = cloneKernels(module);
  ZYX_RETURN_IF_ERROR(runPhase(*kernels, options, Phase::Target, stages));
  ZYX_ASSIGN_OR_RETURN(artifact::CodeBlob code, emitCode(*kernels, options, stages));
  return plan::toArtifact(module, options.target, std::move(code));
}

Result<std::string> zyx::pipelines::compileToText(ModuleOp module, const Options &options,
                                                  Phase last, std::vector<Stage> &stages) {
  if (last != Phase::Target) {
    ZYX_RETURN_IF_ERROR(runPhases(module, options, last, stages));
    return print(module);
  }
  ZYX_RETURN_IF_ERROR(runPhases(module, options, Phase::Plan, stages));
  OwningOpRef<ModuleOp> kernels = cloneKernels(module);
  ZYX_RETURN_IF_ERROR(runPhase(*kernels, options, Phase::Target, stages));
  if (options.target.kind == target::TargetKind::C)
    return target::printC(*kernels);
  return print(*kernels);
}

Result<std::string> zyx::pipelines::compileToDot(ModuleOp module, const Options &options,
                                                 Phase last, std::vector<Stage> &stages) {
  if (last != Phase::Graph && last != Phase::Groups && last != Phase::Plan)
    return Status::invalidArgument("phase '" + std::string(toString(last)) +
                                   "' is not drawn; graph, groups and plan are");
  ZYX_RETURN_IF_ERROR(runPhases(module, options, last, stages));
  return toDot(module);
}
