//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The compiler on one page: its phases in order, a line per pass.
//===----------------------------------------------------------------------===//
#include "zyx/Pipelines/Pipelines.h"

#include "OnlyKernel.h"

#include "zyx/Codegen/Loops/Passes.h"
#include "zyx/Codegen/Matrix/Passes.h"
#include "zyx/Codegen/Tile/Passes.h"
#include "zyx/Conversion/GraphToKernel/GraphToKernel.h"
#include "zyx/Conversion/GraphToKernel/Passes.h"
#include "zyx/Cost/Passes.h"
#include "zyx/Dialect/Graph/Transforms/Passes.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Dialect/Plan/Transforms/Passes.h"
#include "zyx/Fusion/Passes.h"
#include "zyx/Pipelines/Backends.h"
#include "zyx/Schedule/Passes.h"
#include "zyx/Target/Info/Budgets.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace zyx;
using namespace zyx::pipelines;
using target::TargetInfo;

namespace {

/// Canonicalization stops after this many rounds, converged or not: two patterns that undo each
/// other must not hang a compilation.
std::unique_ptr<Pass> boundedCanonicalizer() {
  return createCanonicalizerPass(GreedyRewriteConfig().setMaxIterations(10));
}

/// graph -> graph: constants folded, one of each node, none that nobody needs; custom ops are what they mean, or
/// kernels of the user's own.
void addGraphPhase(OpPassManager &passes, const Options &options) {
  passes.addNestedPass<func::FuncOp>(
      graph::ir::createInlineCustomPass({{}, {options.target.name, options.target.device, "any"}}));
  if (!options.optimise)
    return;
  passes.addPass(boundedCanonicalizer());
  passes.addPass(createCSEPass());
}

/// graph -> graph.group: each group becomes one kernel.
void addGroupsPhase(OpPassManager &passes, const Options &options) {
  addGroupPasses(passes, options, target::matrixOperandBits(options.target));
}

/// graph.group -> kernel.func of whole tiles, func.func -> plan.func.
void addKernelPhase(OpPassManager &passes, const Options &options) {
  if (options.optimise)
    passes.addNestedPass<func::FuncOp>(createSplitGroupsPass());
  if (options.optimise && options.fusion == Fusion::Weighed)
    passes.addNestedPass<func::FuncOp>(cost::createCutGroupsPass());
  if (options.optimise && options.fusion == Fusion::Weighed &&
      (options.target.hasTensorTiles() || options.target.hasVectors()))
    passes.addNestedPass<func::FuncOp>(cost::createLayOutResultsPass());
  addKernelPasses(passes, options);
}

/// Goes on with one kernel alone, once its factors lie as tensor cores read them.
struct KeepKernelPass : PassWrapper<KeepKernelPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeepKernelPass)
  explicit KeepKernelPass(std::string key) : key(std::move(key)) {}
  void runOnOperation() override {
    if (Status kept = keepOnlyKernel(getOperation(), key); !kept.isOk()) {
      getOperation().emitError() << kept.message();
      signalPassFailure();
    }
  }
  const std::string key;
};

/// kernel.func -> the same with a schedule for the target.
void addSchedulePhase(OpPassManager &passes, const Options &options) {
  if (options.optimise) {
    if (options.target.hasSubgroups())
      passes.addPass(schedule::createPadRowsPass());
    if (options.target.hasTensorCores())
      passes.addPass(schedule::createLayOutFactorsPass());
    if (options.target.hasTensorTiles())
      passes.addPass(schedule::createFindVisiblePass());
    if (!options.onlyKernel.empty())
      passes.addPass(std::make_unique<KeepKernelPass>(options.onlyKernel));
    passes.addPass(schedule::createChooseSchedulePass({options.measured, options.listChoices}));
    if (!options.target.hasSubgroups())
      passes.addPass(schedule::createPackWeightsPass());
    if (options.target.simt.hasCountedBarriers && options.fusion != Fusion::None)
      passes.addPass(schedule::createJoinLaunchesPass());
  } else {
    passes.addPass(schedule::createFitStackPass());
  }
}

/// Tiles -> loops over scalars and native vectors.
void addLoweredPhase(OpPassManager &passes, const Options &options) {
  passes.addPass(kernel::createApplySchedulePass());
  passes.addPass(boundedCanonicalizer());
  passes.addPass(createCSEPass());
  passes.addPass(kernel::createVerifyFormPass({.form = {"tiled", "lowered"}}));
  if (options.target.hasTensorCores())
    passes.addPass(kernel::createMapTensorCoresPass());
  if (options.optimise)
    passes.addPass(kernel::createStageReusedPass());
  passes.addPass(kernel::createSettleMemoryPass());
  passes.addPass(kernel::createLowerTilesPass());
  passes.addPass(kernel::createExpandMathPass());
  passes.addPass(boundedCanonicalizer());
  passes.addPass(kernel::createSpreadProgramsPass());
  if (options.optimise)
    passes.addPass(kernel::createDivideAlignedPass());
  passes.addPass(createCSEPass());
  if (options.optimise && options.target.hasSubgroups())
    passes.addNestedPass<kernel::FuncOp>(kernel::createPackProgramsPass());
  if (options.target.simt.hasCountedBarriers)
    passes.addPass(kernel::createJoinPartsPass());
  kernel::VerifyFormPassOptions last{.form = {"lowered"}, .expanded = true};
  if (options.target.hasTensorCores())
    last.form.push_back("machine");
  passes.addPass(kernel::createVerifyFormPass(last));
}

/// plan.func -> the same with one arena and the waits that are needed.
void addPlanPhase(OpPassManager &passes, const Options &) {
  passes.addNestedPass<plan::FuncOp>(plan::createAssignArenaPass());
  passes.addNestedPass<plan::FuncOp>(plan::createInsertWaitsPass());
}

/// kernel.func -> what the target's emitter takes.
void addTargetPhase(OpPassManager &passes, const Options &options) {
  Result<const target::Backend *> backend = backends().find(options.target);
  ZYX_ASSERT(backend.isOk(), "every record has a backend");
  (*backend)->addLowering(passes, options.target);
}

struct PhaseEntry {
  Phase phase;
  const char *name;
  void (*add)(OpPassManager &, const Options &);
};
constexpr PhaseEntry phases[] = {
    {Phase::Graph, "graph", addGraphPhase},       {Phase::Groups, "groups", addGroupsPhase},
    {Phase::Kernel, "kernel", addKernelPhase},    {Phase::Schedule, "schedule", addSchedulePhase},
    {Phase::Lowered, "lowered", addLoweredPhase}, {Phase::Plan, "plan", addPlanPhase},
    {Phase::Target, "target", addTargetPhase},
};

const PhaseEntry &entryOf(Phase phase) { return phases[static_cast<size_t>(phase)]; }

struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc("Name of a target record"), llvm::cl::init("cpu")};
  Option<std::string> stopAfter{*this, "stop-after",
                                llvm::cl::desc("Last phase: graph, groups, kernel, schedule, lowered, plan or target"),
                                llvm::cl::init("target")};
  Option<bool> optimise{*this, "optimise", llvm::cl::desc("Whether to fuse ops and to schedule kernels"),
                        llvm::cl::init(true)};
  Option<std::string> fusion{
      *this, "fusion", llvm::cl::desc("Which ops share kernels: weighed (where that is estimated to pay), all or none"),
      llvm::cl::init("weighed")};
};

struct FusePipelineOptions : PassPipelineOptions<FusePipelineOptions> {
  Option<bool> fuse{*this, "fuse", llvm::cl::desc("Whether ops are rewritten for the sake of fewer and better kernels"),
                    llvm::cl::init(true)};
  Option<bool> join{*this, "join", llvm::cl::desc("Whether ops share kernels where they can; not without fuse"),
                    llvm::cl::init(true)};
  Option<int64_t> tensor{*this, "tensor",
                         llvm::cl::desc("Bits of the widest factors that tensor cores multiply; 0 for none"),
                         llvm::cl::init(0)};
  Option<bool> turn{*this, "turn",
                    llvm::cl::desc("Whether sums fall into parts for the order in which contractions read, as "
                                   "-zyx-cost-lay-out-results may store it"),
                    llvm::cl::init(false)};
};

} // namespace

void zyx::pipelines::addFusionPasses(OpPassManager &passes, const FusionOptions &options) {
  const auto [fuse, join, tensorBits, turn] = options;
  const bool joins = fuse && join;
  OpPassManager &entry = passes.nest<func::FuncOp>();
  entry.addPass(fusion::createCheckEntryPass());
  if (joins) {
    entry.addPass(fusion::createSimplifyLoopsPass());
    entry.addPass(fusion::createMarkElementLoopsPass());
  }
  if (fuse) {
    entry.addPass(fusion::createFoldIndexArithmeticPass());
    entry.addPass(fusion::createFormUpdatesPass());
    entry.addPass(fusion::createViewGathersPass());
    entry.addPass(fusion::createGatherScatteredPass());
    entry.addPass(fusion::createSumSegmentsPass());
    entry.addPass(fusion::createFoldTablesPass());
    entry.addPass(fusion::createSortOncePass());
    entry.addPass(fusion::createSortRunsPass());
    // Of the runs indices are wanted, too.
    entry.addPass(fusion::createSortOncePass());
    entry.addPass(fusion::createPartScansPass());
    entry.addPass(fusion::createScatterOneHotsPass());
    entry.addPass(fusion::createCountOneHotsPass());
    entry.addPass(fusion::createPartScattersPass());
    entry.addPass(fusion::createNarrowScattersPass());
    entry.addPass(fusion::createLeaveOutPaddingPass());
    entry.addPass(fusion::createSumTapsPass());
    if (join)
      entry.addPass(fusion::createSeparateSinksPass());
  }
  entry.addPass(fusion::createDecomposeMovementPass());
  entry.addPass(fusion::createEraseUnusedPass());
  if (fuse) {
    entry.addPass(fusion::createGatherOneHotsPass());
    entry.addPass(fusion::createAddOneHotsPass());
    entry.addPass(fusion::createGatherFirstPass());
    if (tensorBits != 0 && join)
      entry.addPass(fusion::createKeepHeadSumsPass());
    entry.addPass(fusion::createMergeReductionsPass());
    entry.addPass(fusion::createDistributeSumsPass());
    entry.addPass(fusion::createSplitGroupSumsPass());
    if (join) {
      entry.addPass(fusion::createPartRowsPass());
      entry.addPass(fusion::createJoinHeadsPass());
      entry.addPass(fusion::createPartAttentionPass());
    }
    entry.addPass(fusion::createPartContractionsPass());
    entry.addPass(fusion::createPartReductionsPass({turn}));
    entry.addPass(fusion::createNormalizeViewsPass());
    entry.addPass(fusion::createOrderGatheredPass());
    if (join)
      entry.addPass(fusion::createJoinGathersPass());
    entry.addPass(fusion::createSinkJoinedReshapesPass());
    if (tensorBits != 0 && join) {
      entry.addPass(fusion::createRecomputeWeightsPass({tensorBits}));
      // Again: weights that gradients read have no other readers now.
      entry.addPass(fusion::createSeparateSinksPass());
    }
    entry.addPass(fusion::createDivideAfterwardsPass());
    entry.addPass(fusion::createSplitReductionsPass());
    entry.addPass(fusion::createSplitContractionsPass());
    entry.addPass(fusion::createNarrowIndicesPass());
    entry.addPass(fusion::createEraseUnusedPass());
    if (tensorBits != 0 && join)
      entry.addPass(fusion::createSumProductsPass({tensorBits}));
    entry.addPass(fusion::createSeparateIotasPass());
  }
  // Behind the views, which would move what the seed alone decides in front of its expand.
  entry.addPass(fusion::createExpandRandomBitsPass());
  entry.addPass(fusion::createStoreIotasPass());
  entry.addPass(fusion::createNoteFirstElementsPass({fuse}));
  if (joins) {
    entry.addPass(fusion::createStoreTablesPass());
    entry.addPass(fusion::createRecomputeProductsPass());
    entry.addPass(fusion::createSumSmallProductsPass());
  }
  entry.addPass(fusion::createFormGroupsPass({joins}));
}

void zyx::pipelines::registerFusePipeline() {
  PassPipelineRegistration<FusePipelineOptions>(
      "zyx-fuse", "The passes that form groups, for the machine of the module",
      [](OpPassManager &passes, const FusePipelineOptions &options) {
        addFusionPasses(
            passes, {.fuse = options.fuse, .join = options.join, .tensorBits = options.tensor, .turn = options.turn});
      });
}

void zyx::pipelines::addGroupPasses(OpPassManager &passes, const Options &options, int64_t matrixBits) {
  addFusionPasses(passes, {.fuse = options.optimise, .join = options.fusion != Fusion::None, .tensorBits = matrixBits});
  // A processor computes a curve no faster than it reads one.
  if (options.optimise && options.fusion != Fusion::None && matrixBits != 0)
    passes.addNestedPass<func::FuncOp>(fusion::createRecomputeResultsPass());
  if (options.optimise && options.fusion != Fusion::None)
    passes.addNestedPass<func::FuncOp>(fusion::createJoinSumsPass());
  if (options.optimise && options.fusion != Fusion::None && matrixBits != 0)
    passes.addNestedPass<func::FuncOp>(fusion::createPadMasksPass());
  passes.addNestedPass<func::FuncOp>(fusion::createVerifyGroupsPass());
}

void zyx::pipelines::addKernelPasses(OpPassManager &passes, const Options &options) {
  passes.addPass(createConvertGraphToKernelPass({options.optimise}));
  if (options.optimise) {
    passes.addPass(kernel::createMergeIdenticalPass());
    passes.addNestedPass<plan::FuncOp>(plan::createHoistInitPass());
  }
  passes.addPass(kernel::createVerifyFormPass({.form = {"tiled", "lowered"}}));
}

std::optional<Fusion> zyx::pipelines::parseFusion(std::string_view name) {
  constexpr std::pair<std::string_view, Fusion> all[] = {
      {"weighed", Fusion::Weighed}, {"all", Fusion::All}, {"none", Fusion::None}};
  for (const auto &[known, fusion] : all)
    if (known == name)
      return fusion;
  return std::nullopt;
}

std::string_view zyx::pipelines::toString(Phase phase) { return entryOf(phase).name; }

std::optional<Phase> zyx::pipelines::parsePhase(std::string_view name) {
  for (const PhaseEntry &entry : phases)
    if (entry.name == name)
      return entry.phase;
  return std::nullopt;
}

void zyx::pipelines::addPhase(Phase phase, OpPassManager &passes, const Options &options) {
  // Groups become kernels of a machine: from here on passes ask the module for its facts.
  if (phase == Phase::Groups)
    passes.addPass(kernel::createAttachTargetPass({options.target.name, {}}));
  if (!options.replacePhase || !options.replacePhase(phase, passes, options))
    entryOf(phase).add(passes, options);
}

void zyx::pipelines::registerCompilePipeline() {
  registerPassPipeline(
      "zyx-compile", "Every phase of the compiler up to one of them",
      [](OpPassManager &passes, StringRef text, function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
        PipelineOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        Result<TargetInfo> target = target::lookUpTarget(options.target.getValue());
        if (!target.isOk())
          return error(target.status().message());
        std::optional<Phase> last = parsePhase(options.stopAfter.getValue());
        if (!last)
          return error("there is no phase '" + options.stopAfter.getValue() + "'");
        std::optional<Fusion> fusion = parseFusion(options.fusion.getValue());
        if (!fusion)
          return error("there is no fusion '" + options.fusion.getValue() + "'; there are weighed, all and none");
        // What comes by another door was checked there.
        passes.addNestedPass<func::FuncOp>(graph::ir::createCheckDevicesPass({target->device}));
        for (Phase phase : allPhases)
          if (phase <= *last)
            addPhase(phase, passes, {.target = *target, .optimise = options.optimise, .fusion = *fusion});
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handler) { handler(PipelineOptions()); });
}
