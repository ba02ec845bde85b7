//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The phases of the compiler with random choices in place of weighed ones, by Options::replacePhase.
//===----------------------------------------------------------------------===//
#include "DrawnSchedules.h"

#include "lib/Cost/DrawGroups.h"
#include "lib/Schedule/DrawSchedule.h"

#include "zyx/Conversion/GraphToKernel/Passes.h"
#include "zyx/Dialect/Graph/Transport.h"
#include "zyx/Pipelines/InitAll.h"
#include "zyx/Pipelines/Pipelines.h"
#include "zyx/Schedule/Passes.h"
#include "zyx/Target/Info/Budgets.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace zyx;
using pipelines::Fusion;
using pipelines::Options;
using pipelines::Phase;

namespace {

/// No grouping, cut, layout or schedule may change a value.
class RandomPhases {
public:
  explicit RandomPhases(uint64_t seed) : seed(seed) {}

  /// Appends the passes of a phase in which random choices differ from weighed ones; false where none do.
  bool operator()(Phase phase, OpPassManager &passes, const Options &options) const {
    switch (phase) {
    case Phase::Groups:
      pipelines::addGroupPasses(passes, options, drawMatrixBits(options));
      return true;
    case Phase::Kernel:
      addKernelPhase(passes, options);
      return true;
    case Phase::Schedule:
      passes.addPass(test::createDrawSchedulePass(
          seed, options.target.hasSharedMemory() ? std::min<int64_t>(256, options.target.simt.workgroupThreads) : 1));
      passes.addPass(schedule::createFitStackPass());
      return true;
    default:
      return false;
    }
  }

private:
  /// On machines without tensor cores, half of the seeds group ops as for tensor cores of operands of any size.
  int64_t drawMatrixBits(const Options &options) const {
    const int64_t bits = target::matrixOperandBits(options.target);
    return bits == 0 && seed % 2 == 1 ? 64 : bits;
  }

  /// Groups are cut anywhere, and results are stored in any order of their axes.
  void addKernelPhase(OpPassManager &passes, const Options &options) const {
    const bool isWeighed = options.optimise && options.fusion == Fusion::Weighed;
    if (options.optimise)
      passes.addNestedPass<func::FuncOp>(createSplitGroupsPass());
    if (isWeighed)
      passes.addNestedPass<func::FuncOp>(test::createDrawCutsPass(seed));
    if (isWeighed && options.target.hasTensorCores())
      passes.addNestedPass<func::FuncOp>(test::createDrawOrdersPass(seed));
    pipelines::addKernelPasses(passes, options);
  }

  uint64_t seed;
};

Options drawnOptions(target::TargetInfo target, uint64_t seed) {
  Options options{.target = std::move(target)};
  options.replacePhase = RandomPhases(seed);
  return options;
}

struct TestPipelineOptions : PassPipelineOptions<TestPipelineOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc("Name of a target record"), llvm::cl::init("cpu")};
  ListOption<std::string> facts{*this, "facts", llvm::cl::desc("Facts that the record says otherwise")};
  Option<uint64_t> seed{*this, "seed", llvm::cl::desc("Unless 0, what choices are drawn from"), llvm::cl::init(0)};
  Option<std::string> stopAfter{*this, "stop-after", llvm::cl::desc("Last phase"), llvm::cl::init("target")};
};

} // namespace

Result<artifact::Artifact> zyx::test::compileDrawn(const graph::Graph &graph, const std::string &target,
                                                   const std::string &isa, uint64_t seed) {
  ZYX_ASSIGN_OR_RETURN(target::TargetInfo record, target::lookUpTarget(target, isa));
  graph::Graph bound = graph;
  bound.bindParameters();
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = graph::ir::importGraph(bound, &context);
  std::vector<pipelines::Stage> stages;
  return pipelines::compile(*module, drawnOptions(std::move(record), seed), stages);
}

namespace zyx::test {
void registerTestCompilePipeline() {
  registerPassPipeline(
      "zyx-test-compile", "Phases of the compiler, by a record with other facts or with choices that are drawn",
      [](OpPassManager &passes, StringRef text, function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
        TestPipelineOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        Result<target::TargetInfo> target = target::lookUpTarget(options.target.getValue());
        if (!target.isOk())
          return error(target.status().message());
        const std::optional<Phase> last = pipelines::parsePhase(options.stopAfter.getValue());
        if (!last)
          return error("there is no phase '" + options.stopAfter.getValue() + "'");
        Options how{.target = std::move(*target)};
        how.replacePhase = [seed = options.seed.getValue(),
                            facts = SmallVector<std::string>(options.facts.begin(), options.facts.end())](
                               Phase phase, OpPassManager &passes, const Options &options) {
          // In front of whoever asks the machine.
          if (phase == Phase::Groups && !facts.empty())
            passes.addPass(kernel::createAttachTargetPass({options.target.name, facts}));
          return seed != 0 && RandomPhases(seed)(phase, passes, options);
        };
        for (Phase phase : pipelines::allPhases)
          if (phase <= *last)
            pipelines::addPhase(phase, passes, how);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handler) { handler(TestPipelineOptions()); });
}
} // namespace zyx::test
