//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_PIPELINES_PIPELINES_H
#define ZYX_PIPELINES_PIPELINES_H

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Trace.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The phases of the compiler, in order. Each has a name at which compilation can stop.
namespace zyx::pipelines {

/// Named by what the module holds when the phase is over.
enum class Phase : uint8_t { Graph, Groups, Kernel, Schedule, Lowered, Plan, Target };
inline constexpr Phase allPhases[] = {Phase::Graph,   Phase::Groups, Phase::Kernel, Phase::Schedule,
                                      Phase::Lowered, Phase::Plan,   Phase::Target};

/// "graph", "groups", "kernel", "schedule", "lowered", "plan", "target".
std::string_view toString(Phase phase);
/// The inverse of toString.
std::optional<Phase> parsePhase(std::string_view name);

/// Registers `-zyx-compile`, with the options `target`, `stop-after`, `optimise` and `fusion`.
void registerCompilePipeline();

/// What the passes that form groups do. Facts of the machine they ask of the module (`#kernel.target`).
struct FusionOptions {
  /// Whether ops are rewritten for the sake of fewer and better kernels, and whether they then share kernels.
  bool fuse = true, join = true;
  /// Bits of the widest factors that tensor cores multiply: from such, gradients of an attention compute its weights
  /// again. 0 for none.
  int64_t tensorBits = 0;
  /// Whether sums fall into parts for the order in which contractions read, as -zyx-cost-lay-out-results may store it.
  bool turn = false;
};

/// graph -> graph.group, in entries of one block without custom ops.
void addFusionPasses(mlir::OpPassManager &passes, const FusionOptions &options);
/// Registers these passes as `-zyx-fuse`.
void registerFusePipeline();

/// Which ops share a kernel: those for which that is estimated to pay; as many as can; none.
enum class Fusion : uint8_t { Weighed, All, None };
/// "weighed", "all", "none".
std::optional<Fusion> parseFusion(std::string_view name);

/// Where kernels that were compiled are kept for later programs. Keys and bytes are the compiler's: whoever keeps them
/// need not know what they are, and may lose them.
struct KernelStore {
  /// What was stored under a key, if it is still there. Bytes that are damaged count as none.
  std::function<std::optional<std::vector<std::byte>>(const std::string &key)> lookup = nullptr;
  std::function<void(const std::string &key, std::span<const std::byte> bytes)> store = nullptr;
};

struct Options {
  target::TargetInfo target;
  /// Prints the module, parses it and prints it again behind every phase, and fails where the two
  /// texts differ.
  bool verifyRoundtrip = false;
  /// Without it only what is needed runs: each op is a kernel of its own, with no schedule. Every
  /// program must mean the same then.
  bool optimise = true;
  Fusion fusion = Fusion::Weighed;
  /// Takes a span per stage and per pass.
  Trace *trace = nullptr;
  /// Learns of each stage when it begins, and how many of all kernels are done where they are taken
  /// one by one; else 0 of 0.
  std::function<void(std::string_view stage, size_t done, size_t total)> progress = nullptr;
  /// Asked at each phase, and at each kernel where they are taken one by one: whether nobody wants the program any
  /// more. Called by the thread that compiles.
  std::function<bool()> isCancelled = nullptr;
  /// Of C: whether the code of the artifact is the text of its kernels, which nothing loads.
  bool wantsSource = false;
  /// Schedules that were measured to be the best, as -zyx-schedule-choose takes them.
  std::string measured = {};
  /// How many schedules of each kernel are listed.
  unsigned listChoices = 0;
  /// The key of a kernel, of which alone a program is made; empty for the whole.
  std::string onlyKernel = {};
  /// Both functions are called by the thread that compiles.
  KernelStore kernels = {};
  /// Where the remarks of this compilation are collected, if anywhere: those of a kernel are kept with it.
  std::string *remarks = nullptr;
  /// An extension point for tests, which the compiler itself never sets: appends passes in place of a phase's own, or
  /// returns false for those.
  std::function<bool(Phase phase, mlir::OpPassManager &passes, const Options &options)> replacePhase = nullptr;
};

/// How a kernel may be scheduled.
struct KernelChoices {
  struct One {
    std::string text;
    /// Estimated cycles; 0 where nothing estimates them.
    double cost = 0;
  };
  /// What it is known by, and its name in this program.
  std::string key, kernel;
  /// The one that is taken without measuring first.
  std::vector<One> choices;
};

/// Appends the passes of one phase.
void addPhase(Phase phase, mlir::OpPassManager &passes, const Options &options);

/// Ops into groups. `matrixBits` are those of the operands that matrix instructions multiply: contractions of no more
/// bits are kept for them; 0 where there are none.
void addGroupPasses(mlir::OpPassManager &passes, const Options &options, int64_t matrixBits);

/// Groups into kernels of whole tiles, behind what has cut the groups.
void addKernelPasses(mlir::OpPassManager &passes, const Options &options);

struct Stage {
  std::string name;
  uint64_t nanoseconds = 0;
};

/// Runs the phases up to `last` on a module of one entry. The failure holds the diagnostics. Their
/// times are appended to `stages`.
Status runPhases(mlir::ModuleOp module, const Options &options, Phase last, std::vector<Stage> &stages);

/// All phases, and the code of the target: the artifact of the module's one entry. `numFound` kernels were not
/// compiled, but found in the store of the options.
Result<artifact::Artifact> compile(mlir::ModuleOp module, const Options &options, std::vector<Stage> &stages,
                                   size_t *numFound = nullptr);

/// Of each kernel of the module's one entry, the schedules that there are: as many as the options say.
Result<std::vector<KernelChoices>> listChoices(mlir::ModuleOp module, const Options &options,
                                               std::vector<Stage> &stages);

/// The module after `last`; for targets that are text, `target` gives that text.
Result<std::string> compileToText(mlir::ModuleOp module, const Options &options, Phase last,
                                  std::vector<Stage> &stages);

/// The program after phase graph, groups or plan as a drawing; see Dot.h.
Result<std::string> compileToDot(mlir::ModuleOp module, const Options &options, Phase last, std::vector<Stage> &stages);

} // namespace zyx::pipelines

#endif // ZYX_PIPELINES_PIPELINES_H
