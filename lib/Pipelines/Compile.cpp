//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "KernelReuse.h"

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
#include <set>

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
    if (options.isCancelled && options.isCancelled())
      return target::cancelled();
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

/// The code of a program's kernels, and what the artifact says of them.
struct Emitted {
  std::vector<artifact::CodeBlob> code;
  /// That of external kernels, by their names; it follows the other.
  std::vector<std::pair<std::string, artifact::CodeBlob>> external;
  plan::FactsByName facts;
  /// Kernels that were not compiled.
  size_t numFound = 0;
};

/// Parts of kernels that nothing launches by themselves.
llvm::SmallPtrSet<Operation *, 8> findPartsAlone(ModuleOp module) {
  llvm::SmallPtrSet<Operation *, 8> parts;
  for (auto func : module.getOps<kernel::FuncOp>())
    if (std::optional<ArrayAttr> own = func.getParts())
      for (auto part : own->getAsRange<FlatSymbolRefAttr>())
        parts.insert(module.lookupSymbol(part.getValue()));
  if (!parts.empty())
    module.walk([&](plan::LaunchOp launch) { parts.erase(module.lookupSymbol(launch.getKernel())); });
  return parts;
}

/// A module of the parts of a kernel.
OwningOpRef<ModuleOp> cloneParts(kernel::FuncOp func) {
  OwningOpRef<ModuleOp> own = ModuleOp::create(func.getLoc());
  auto module = func->getParentOfType<ModuleOp>();
  llvm::SmallPtrSet<Attribute, 8> added;
  for (auto part : func.getPartsAttr().getAsRange<FlatSymbolRefAttr>())
    if (added.insert(part).second)
      own->push_back(module.lookupSymbol(part.getValue())->clone());
  return own;
}

/// Takes each kernel by itself down to its code.
class KernelCompiler {
public:
  KernelCompiler(ModuleOp module, const Options &options, std::vector<Stage> &stages, target::Emitter &emitter,
                 Emitted &into)
      : module(module), options(options), stages(stages), emitter(emitter), into(into), reuse(options, emitter) {}

  /// Lowers the kernels that no earlier program has compiled, and hands each to the emitter. `module` keeps the lowered
  /// ones, and its plan is brought to its last form.
  Status lowerEach() {
    {
      // Their times are listed in the opposite order.
      Turns toTarget("target", options, stages), toLowered("lowered", options, stages);
      PhaseRunner lowered(module.getContext(), options, Phase::Lowered);
      PhaseRunner target(module.getContext(), options, Phase::Target);
      const llvm::SmallPtrSet<Operation *, 8> parts = findPartsAlone(module);
      SmallVector<kernel::FuncOp> kernels;
      // Parts that are launched by themselves, too, become another form below.
      llvm::DenseMap<Operation *, Hash128> identities;
      llvm::DenseMap<Operation *, OwningOpRef<ModuleOp>> alone;
      for (auto func : module.getOps<kernel::FuncOp>()) {
        if (parts.contains(func))
          continue;
        kernels.push_back(func);
        if (func.getParts()) {
          identities[func] = reuse.identify(func);
          alone[func] = cloneParts(func);
        }
      }
      size_t numLowered = 0;
      for (kernel::FuncOp func : kernels) {
        const Hash128 identity = func.getParts() ? identities.lookup(func) : reuse.identify(func);
        if (func.getExternal()) {
          ZYX_RETURN_IF_ERROR(addExternal(func, identity));
          continue;
        }
        ++numLowered;
        if (const KeptKernel *kept = reuse.find(identity)) {
          ZYX_RETURN_IF_ERROR(addFound(func, *kept));
          continue;
        }
        const size_t remarksBefore = options.remarks ? options.remarks->size() : 0;
        const std::string name = func.getName().str();
        OwningOpRef<ModuleOp> own = func.getParts() ? std::move(alone[func]) : ModuleOp::create(func.getLoc());
        kernel::copyTarget(module, *own);
        Operation *behind = func->getNextNode();
        func->moveBefore(own->getBody(), own->getBody()->end());
        ZYX_RETURN_IF_ERROR(toLowered([&] { return lowered.run(*own); }));
        // The facts are those of the lowered form.
        OpBuilder builder(module.getContext());
        if (behind)
          builder.setInsertionPoint(behind);
        else
          builder.setInsertionPointToEnd(module.getBody());
        SmallVector<kernel::FuncOp> copies;
        for (Operation &op : *own->getBody())
          if (auto copy = dyn_cast<kernel::FuncOp>(builder.clone(op)))
            copies.push_back(copy);
        ZYX_RETURN_IF_ERROR(toTarget([&] { return target.run(*own); }));
        for (kernel::FuncOp copy : copies)
          noteFacts(copy, *own, identity);
        std::optional<KeptKernel> kept;
        if (copies.size() == 1)
          kept = KeptKernel{into.facts.at(name), options.remarks ? options.remarks->substr(remarksBefore) : "", {}};
        reuse.noteCompiled(std::move(kept));
        ZYX_RETURN_IF_ERROR(emitter.add(*own));
      }
      for (Operation *part : parts)
        part->erase();
      // A plan that only copies has code too, though nothing is in it, and one whose kernels are all external.
      if (numLowered == 0) {
        OwningOpRef<ModuleOp> none = ModuleOp::create(module.getLoc());
        kernel::copyTarget(module, *none);
        ZYX_RETURN_IF_ERROR(toTarget([&] { return target.run(*none); }));
        ZYX_RETURN_IF_ERROR(emitter.add(*none));
      }
    }
    return runPhase(module, options, Phase::Plan, stages);
  }

  void keepCompiled() { reuse.store(emitter.takeKept()); }

private:
  Status addFound(kernel::FuncOp func, const KeptKernel &kept) {
    into.facts[func.getName().str()] = kept.facts;
    ++into.numFound;
    // The parts of a kernel end before the plan is verified, and its code has them.
    func.removePartsAttr();
    func.removePartArgumentsAttr();
    if (options.remarks)
      *options.remarks += kept.remarks;
    // Of equal kernels one function is enough where they are in one piece of code.
    if (emitter.sharesSymbols() && !added.insert(kept.facts.symbol).second)
      return Status::ok();
    return emitter.addKept(kept.code);
  }

  Status addExternal(kernel::FuncOp func, const Hash128 &identity) {
    if (options.wantsSource)
      return Status::unsupported("kernel '" + func.getName().str() + "' is the user's own, and no C source has it");
    ZYX_ASSIGN_OR_RETURN(const target::Backend *backend, backends().find(options.target));
    ZYX_RETURN_IF_ERROR(backend->supports(func, options.target));
    ZYX_ASSIGN_OR_RETURN(target::ExternalCode made, backend->emitExternal(func, options.target));
    const std::string name = func.getName().str();
    plan::KernelFacts facts = plan::factsOf(func, options.target, identity);
    facts.symbol = std::move(made.symbol);
    into.facts[name] = std::move(facts);
    into.external.emplace_back(name, std::move(made.code));
    return Status::ok();
  }

  void noteFacts(kernel::FuncOp copy, ModuleOp own, const Hash128 &identity) {
    plan::KernelFacts facts = plan::factsOf(copy, options.target, identity);
    // Functions of different programs meet in one piece of code: no name may mean two of them.
    if (emitter.sharesSymbols()) {
      facts.symbol += "_" + identity.toHex();
      if (Operation *function = SymbolTable::lookupSymbolIn(own, copy.getName()))
        SymbolTable::setSymbolName(function, facts.symbol);
    }
    into.facts[copy.getName().str()] = std::move(facts);
  }

  ModuleOp module;
  const Options &options;
  std::vector<Stage> &stages;
  target::Emitter &emitter;
  Emitted &into;
  KernelReuse reuse;
  /// The functions of kernels that were found.
  std::set<std::string> added;
};

/// Has each kernel compiled while the next one is lowered.
Result<Emitted> emit(ModuleOp module, const Options &options, std::vector<Stage> &stages) {
  ZYX_ASSIGN_OR_RETURN(const target::Backend *backend, backends().find(options.target));
  const size_t numKernels = llvm::range_size(module.getOps<kernel::FuncOp>()) - findPartsAlone(module).size();
  ZYX_ASSIGN_OR_RETURN(
      std::unique_ptr<target::Emitter> emitter,
      backend->createEmitter(
          options.target,
          {.progress = options.progress, .isCancelled = options.isCancelled, .wantsSource = options.wantsSource},
          std::max<size_t>(numKernels, 1)));
  Emitted made;
  KernelCompiler compiler(module, options, stages, *emitter, made);
  ZYX_RETURN_IF_ERROR(compiler.lowerEach());
  uint64_t begin = Trace::now();
  ZYX_ASSIGN_OR_RETURN(made.code, emitter->finish());
  for (auto &[name, code] : made.external) {
    made.facts.at(name).code = static_cast<uint32_t>(made.code.size());
    made.code.push_back(std::move(code));
  }
  for (const target::EmitStage &stage : emitter->stages()) {
    const auto nanoseconds = static_cast<uint64_t>(stage.milliseconds * 1e6);
    stages.push_back({stage.name, nanoseconds});
    if (options.trace && stage.isInFinish) {
      options.trace->add({"compiler", stage.name, "", begin, nanoseconds});
      begin += nanoseconds;
    }
  }
  compiler.keepCompiled();
  return made;
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

Result<artifact::Artifact> zyx::pipelines::compile(ModuleOp module, const Options &options, std::vector<Stage> &stages,
                                                   size_t *numFound) {
  ZYX_RETURN_IF_ERROR(runPhases(module, options, Phase::Schedule, stages));
  ZYX_ASSIGN_OR_RETURN(Emitted emitted, emit(module, options, stages));
  if (numFound)
    *numFound = emitted.numFound;
  const uint64_t begin = Trace::now();
  Result<artifact::Artifact> made =
      plan::toArtifact(module, options.target, std::move(emitted.code), std::move(emitted.facts));
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
    const std::optional<StringRef> key = func.getKey();
    // One that came with a schedule has no other.
    if (!key)
      continue;
    KernelChoices &kernel = listed.emplace_back();
    kernel.key = key->str();
    kernel.kernel = func.getName().str();
    for (auto [text, cost] : llvm::zip_equal(func.getChoicesAttr().getAsValueRange<StringAttr>(),
                                             func.getCostsAttr().getAsValueRange<FloatAttr>()))
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
  // The texts of the user's own follow, as they are.
  std::string external;
  for (auto func : llvm::make_early_inc_range(kernels->getOps<kernel::FuncOp>()))
    if (kernel::ExternalAttr own = func.getExternalAttr()) {
      external += "\n" + own.getText().str() + "\n";
      func.erase();
    }
  ZYX_RETURN_IF_ERROR(runPhase(*kernels, options, Phase::Target, stages));
  ZYX_ASSIGN_OR_RETURN(std::string text, backend->toText(*kernels, options.target));
  return text + external;
}

Result<std::string> zyx::pipelines::compileToDot(ModuleOp module, const Options &options, Phase last,
                                                 std::vector<Stage> &stages) {
  if (last != Phase::Graph && last != Phase::Groups && last != Phase::Plan)
    return Status::invalidArgument("phase '" + std::string(toString(last)) +
                                   "' is not drawn; graph, groups and plan are");
  ZYX_RETURN_IF_ERROR(runPhases(module, options, last, stages));
  return toDot(module);
}
