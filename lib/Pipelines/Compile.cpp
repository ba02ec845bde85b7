//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Conversion/PlanToArtifact/PlanToArtifact.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Dialect/Plan/IR/PlanOps.h"
#include "zyx/Pipelines/Backends.h"
#include "zyx/Pipelines/Dot.h"
#include "zyx/Pipelines/Pipelines.h"
#include "zyx/Schedule/Choices.h"
#include "zyx/Target/Backend/Backend.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <chrono>

using namespace mlir;
using namespace zyx;
using namespace zyx::pipelines;

namespace {

/// Measures one stage until its end of scope.
class StageTimer {
public:
  StageTimer(const std::string &name, const Options &options, std::vector<Stage> &stages)
      : span(options.trace, "compiler", name), name(name), stages(stages), begin(std::chrono::steady_clock::now()) {
    if (options.progress)
      options.progress(name, 0, 0);
  }
  ~StageTimer() {
    auto elapsed = std::chrono::steady_clock::now() - begin;
    stages.push_back({std::move(name), static_cast<uint64_t>(std::chrono::nanoseconds(elapsed).count())});
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
    trace.add(
        {"compiler", pass->getArgument().str(), symbol ? symbol.str() : std::string(), begin, Trace::now() - begin});
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
            stream << place.getFilename().getValue() << ':' << place.getLine() << ':' << place.getColumn() << ": ";
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
    return Status::internal("the text of phase '" + std::string(toString(phase)) + "' does not round-trip");
  return Status::ok();
}

/// The kernels alone, as the emitters take them.
OwningOpRef<ModuleOp> cloneKernels(ModuleOp module) {
  OwningOpRef<ModuleOp> kernels(module.clone());
  for (auto func : llvm::make_early_inc_range(kernels->getOps<plan::FuncOp>()))
    func.erase();
  return kernels;
}

/// One phase, for one module after the other.
class PhaseRunner {
public:
  PhaseRunner(MLIRContext *context, const Options &options, Phase phase)
      : options(options), phase(phase), passes(context) {
    if (options.trace)
      passes.addInstrumentation(std::make_unique<PassSpans>(*options.trace));
    // Behind every pass it takes as long as many a pass; once behind them all is enough to know
    // that what goes on is sound.
    passes.enableVerifier(options.verifyRoundtrip);
    addPhase(phase, passes, options);
  }

  Status run(ModuleOp module) {
    Errors errors(module.getContext());
    if (phase == Phase::Target)
      ZYX_RETURN_IF_ERROR(checkSupport(module));
    if (failed(passes.run(module)) || failed(verify(module)))
      return errors.status("phase '" + std::string(toString(phase)) + "'");
    return options.verifyRoundtrip ? checkRoundtrip(module, phase) : Status::ok();
  }

private:
  /// Whether the target runs all kernels.
  Status checkSupport(ModuleOp module) {
    ZYX_ASSIGN_OR_RETURN(const target::Backend *backend, backends().find(options.target));
    for (auto func : module.getOps<kernel::FuncOp>())
      ZYX_RETURN_IF_ERROR(backend->supports(func, options.target));
    return Status::ok();
  }

  const Options &options;
  const Phase phase;
  PassManager passes;
};

Status runPhase(ModuleOp module, const Options &options, Phase phase, std::vector<Stage> &stages) {
  StageTimer timer(std::string(toString(phase)), options, stages);
  return PhaseRunner(module.getContext(), options, phase).run(module);
}

/// Adds up the time of what is done in turns.
class Turns {
public:
  Turns(const char *name, const Options &options, std::vector<Stage> &stages)
      : name(name), options(options), stages(stages) {}
  ~Turns() { stages.push_back({name, nanoseconds}); }

  template <typename Body> auto operator()(Body body) {
    if (nanoseconds == 0 && options.progress)
      options.progress(name, 0, 0);
    const uint64_t begin = Trace::now();
    auto result = body();
    const uint64_t spent = Trace::now() - begin;
    nanoseconds += spent;
    if (options.trace)
      options.trace->add({"compiler", name, "", begin, spent});
    return result;
  }

private:
  const char *name;
  const Options &options;
  std::vector<Stage> &stages;
  uint64_t nanoseconds = 0;
};

/// Lowers each kernel by itself down to what the target's emitter takes, and hands it to `take`; where there is no
/// kernel, a module without any. `module` keeps the lowered ones, and its plan is brought to its last form.
Status lowerEach(ModuleOp module, const Options &options, std::vector<Stage> &stages,
                 llvm::function_ref<Status(ModuleOp)> take) {
  MLIRContext *context = module.getContext();
  SmallVector<kernel::FuncOp> kernels(module.getOps<kernel::FuncOp>());
  {
    // Their times are listed in the opposite order.
    Turns toTarget("target", options, stages), toLowered("lowered", options, stages);
    PhaseRunner lowered(context, options, Phase::Lowered), target(context, options, Phase::Target);
    auto emit = [&](ModuleOp own) -> Status {
      ZYX_RETURN_IF_ERROR(toTarget([&] { return target.run(own); }));
      return take(own);
    };
    for (kernel::FuncOp func : kernels) {
      OwningOpRef<ModuleOp> own = ModuleOp::create(func.getLoc());
      kernel::copyTarget(module, *own);
      Operation *behind = func->getNextNode();
      func->moveBefore(own->getBody(), own->getBody()->end());
      ZYX_RETURN_IF_ERROR(toLowered([&] { return lowered.run(*own); }));
      // The plan needs its grid.
      OpBuilder builder(context);
      if (behind)
        builder.setInsertionPoint(behind);
      else
        builder.setInsertionPointToEnd(module.getBody());
      for (Operation &op : *own->getBody())
        builder.clone(op);
      ZYX_RETURN_IF_ERROR(emit(*own));
    }
    // A plan that only copies has code too, though nothing is in it.
    if (kernels.empty()) {
      OwningOpRef<ModuleOp> none = ModuleOp::create(module.getLoc());
      kernel::copyTarget(module, *none);
      ZYX_RETURN_IF_ERROR(emit(*none));
    }
  }
  return runPhase(module, options, Phase::Plan, stages);
}

/// Has each kernel compiled while the next one is lowered.
Result<std::vector<artifact::CodeBlob>> emit(ModuleOp module, const Options &options, std::vector<Stage> &stages) {
  ZYX_ASSIGN_OR_RETURN(const target::Backend *backend, backends().find(options.target));
  const size_t numKernels = llvm::range_size(module.getOps<kernel::FuncOp>());
  ZYX_ASSIGN_OR_RETURN(
      std::unique_ptr<target::Emitter> emitter,
      backend->createEmitter(options.target, {.progress = options.progress}, std::max<size_t>(numKernels, 1)));
  ZYX_RETURN_IF_ERROR(lowerEach(module, options, stages, [&](ModuleOp own) { return emitter->add(own); }));
  uint64_t begin = Trace::now();
  ZYX_ASSIGN_OR_RETURN(std::vector<artifact::CodeBlob> code, emitter->finish());
  for (const target::EmitStage &stage : emitter->stages()) {
    const auto nanoseconds = static_cast<uint64_t>(stage.milliseconds * 1e6);
    stages.push_back({stage.name, nanoseconds});
    if (options.trace && stage.isInFinish) {
      options.trace->add({"compiler", stage.name, "", begin, nanoseconds});
      begin += nanoseconds;
    }
  }
  return code;
}

} // namespace

Status zyx::pipelines::runPhases(ModuleOp module, const Options &options, Phase last, std::vector<Stage> &stages) {
  for (Phase phase : allPhases) {
    if (phase > last)
      break;
    ZYX_RETURN_IF_ERROR(runPhase(module, options, phase, stages));
  }
  return Status::ok();
}

Result<artifact::Artifact> zyx::pipelines::compile(ModuleOp module, const Options &options,
                                                   std::vector<Stage> &stages) {
  ZYX_RETURN_IF_ERROR(runPhases(module, options, Phase::Schedule, stages));
  ZYX_ASSIGN_OR_RETURN(std::vector<artifact::CodeBlob> code, emit(module, options, stages));
  const uint64_t begin = Trace::now();
  Result<artifact::Artifact> made = plan::toArtifact(module, options.target, std::move(code));
  stages.push_back({"artifact", Trace::now() - begin});
  if (options.trace)
    options.trace->add({"compiler", "artifact", "", begin, stages.back().nanoseconds});
  return made;
}

Result<std::vector<KernelChoices>> zyx::pipelines::listChoices(ModuleOp module, const Options &options,
                                                               std::vector<Stage> &stages) {
  ZYX_RETURN_IF_ERROR(runPhases(module, options, Phase::Schedule, stages));
  std::vector<KernelChoices> listed;
  for (auto func : module.getOps<kernel::FuncOp>()) {
    auto key = func->getAttrOfType<StringAttr>(schedule::keyAttr);
    // One that came with a schedule has no other.
    if (!key)
      continue;
    KernelChoices &kernel = listed.emplace_back();
    kernel.key = key.str();
    kernel.kernel = func.getName().str();
    auto costs = func->getAttrOfType<ArrayAttr>(schedule::costsAttr).getAsValueRange<FloatAttr>();
    for (auto [text, cost] :
         llvm::zip(func->getAttrOfType<ArrayAttr>(schedule::choicesAttr).getAsValueRange<StringAttr>(), costs))
      kernel.choices.push_back({text.str(), cost.convertToDouble()});
  }
  return listed;
}

Result<std::string> zyx::pipelines::compileToText(ModuleOp module, const Options &options, Phase last,
                                                  std::vector<Stage> &stages) {
  if (last != Phase::Target) {
    ZYX_RETURN_IF_ERROR(runPhases(module, options, last, stages));
    return print(module);
  }
  ZYX_RETURN_IF_ERROR(runPhases(module, options, Phase::Plan, stages));
  ZYX_ASSIGN_OR_RETURN(const target::Backend *backend, backends().find(options.target));
  OwningOpRef<ModuleOp> kernels = cloneKernels(module);
  ZYX_RETURN_IF_ERROR(runPhase(*kernels, options, Phase::Target, stages));
  return backend->toText(*kernels, options.target);
}

Result<std::string> zyx::pipelines::compileToDot(ModuleOp module, const Options &options, Phase last,
                                                 std::vector<Stage> &stages) {
  if (last != Phase::Graph && last != Phase::Groups && last != Phase::Plan)
    return Status::invalidArgument("phase '" + std::string(toString(last)) +
                                   "' is not drawn; graph, groups and plan are");
  ZYX_RETURN_IF_ERROR(runPhases(module, options, last, stages));
  return toDot(module);
}
