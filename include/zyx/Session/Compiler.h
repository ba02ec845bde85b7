//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SESSION_COMPILER_H
#define ZYX_SESSION_COMPILER_H

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Status.h"
#include "zyx/Base/Trace.h"
#include "zyx/Graph/Graph.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zyx::session {

struct CompileOptions {
  /// The name of a target record.
  std::string target = "cpu";
  /// The device that is to run it, as "cuda:1"; empty is the first one of the target's kind. A program that
  /// names another one is refused.
  std::string device = {};
  /// The instruction set of code for "cpu", by the name of its record; "native" is this machine's.
  std::string isa = "native";
  /// The phase whose text is wanted instead of an artifact; empty makes an artifact.
  std::string stopAfter = {};
  bool verifyRoundtrip = false;
  /// Whether to leave out all that only makes the program faster: fusing ops, schedules.
  bool noOptimise = false;
  /// Which ops share a kernel: "weighed", where that is estimated to pay; "all", as many as can; "none".
  std::string fusion = "weighed";
  /// Whether the text of `stopAfter` (graph, groups or plan) is a drawing for Graphviz.
  bool dumpDot = false;
  /// Schedules that were measured: for each kernel a line of its key, a space, and the text of the choice.
  std::string measured = {};
  /// Unless 0, nothing is compiled, but at most so many choices of each kernel are listed.
  unsigned listChoices = 0;
  /// The key of a kernel, of which alone an artifact is made; empty for the whole graph.
  std::string onlyKernel = {};
  /// Of target "c": whether the artifact has the text of its kernels, of which artifact::printCSource makes a source.
  bool cSource = false;
};

/// Whoever watches a compilation; none of it changes what is compiled.
struct CompileCallbacks {
  /// Takes a span per stage and pass.
  Trace *trace = nullptr;
  /// Learns of each stage when it begins, and of how many kernels of all are done; 0 of 0 where they
  /// are not counted.
  std::function<void(std::string_view stage, size_t done, size_t total)> progress = nullptr;
  /// Asked at each phase and each kernel, and while another thread compiles the same: whether nobody wants the program
  /// any more. The compilation then fails with ErrorCode::Cancelled. Where it runs in a child process nobody is asked.
  std::function<bool()> isCancelled = nullptr;
};

/// Calls of the compiler run in a child process each, whose death is a Status that says how it died
/// and, where it came that far, in which pass and on which kernel. What a driver compiles is loaded by a child first,
/// too.
struct Isolation {
  /// The program zyx-compiler-worker; empty looks beside the compiler's library.
  std::string worker = {};
  /// Address space of the child; 0 is 16 GiB.
  uint64_t memoryBytes = 0;
  /// 0 is 10 minutes.
  uint64_t milliseconds = 0;
  /// The program zyx-driver-worker; empty looks beside this program, and beside the library that has this code.
  std::string driverWorker = {};
};

/// Where kernels are kept that were compiled before. Keys and bytes are the compiler's, which finds out what is
/// damaged.
struct KernelStore {
  /// What was stored under a key, if it is still there.
  std::function<std::optional<std::vector<std::byte>>(const std::string &key)> lookup = nullptr;
  std::function<void(const std::string &key, std::span<const std::byte> bytes)> store = nullptr;
};

struct Stage {
  std::string name;
  uint64_t nanoseconds = 0;
};

/// A schedule that a kernel may have.
struct KernelChoice {
  /// What the kernel is known by in whatever program, and its name in this one.
  std::string key, kernel;
  std::string text;
  /// Estimated cycles; 0 where nothing estimates them.
  double cost = 0;
};

struct Compiled {
  /// The artifact, or the text of the phase.
  std::vector<std::byte> output;
  size_t numKernels = 0;
  /// Of these, those that were not compiled, but found in the store of kernels.
  size_t numFoundKernels = 0;
  std::vector<Stage> stages;
  /// What the compiler chose, one line each.
  std::string remarks;
  /// Where they were to be listed: those of a kernel follow each other, the one that it gets without measuring first.
  std::vector<KernelChoice> choices;
  /// What the artifact's bytes hold, where they have been read.
  std::shared_ptr<const artifact::Artifact> program = nullptr;

  /// The same, read where that has not been done.
  Result<artifact::Artifact> readArtifact() const;
};

/// libZyxCompiler.so, opened. Nothing of LLVM is in the process before.
class Compiler {
public:
  /// Looks at the environment variable ZYX_COMPILER; without it beside the running program, in ../lib
  /// of its folder, and in the folders of the program's other libraries (its RUNPATH, LD_LIBRARY_PATH).
  /// NotFound says where it looked.
  static Result<std::unique_ptr<Compiler>> open(std::optional<Isolation> isolation = std::nullopt);
  /// Where it may lie, in order.
  static std::vector<std::string> candidates();
  /// The one that open() takes: the first that is there, whether or not it can be opened. So it is known without
  /// opening it what code is made by. Empty where there is none.
  static std::string chosen();
  ~Compiler();
  Compiler(const Compiler &) = delete;
  Compiler &operator=(const Compiler &) = delete;

  /// Every entry of a text, and of MLIR bytecode where calls are isolated. `name` starts the messages.
  Result<std::vector<graph::Graph>> parse(std::string_view text, const std::string &name) const;
  Result<Compiled> compile(const graph::Graph &graph, const CompileOptions &options,
                           const CompileCallbacks &callbacks = {}, const KernelStore &kernels = {}) const;

private:
  struct Functions;
  Compiler();
  std::optional<Isolation> isolation;
  void *library = nullptr;
  std::unique_ptr<Functions> functions;
};

} // namespace zyx::session

#endif // ZYX_SESSION_COMPILER_H
