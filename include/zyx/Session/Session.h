//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SESSION_SESSION_H
#define ZYX_SESSION_SESSION_H

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Forked.h"
#include "zyx/Base/Tensor.h"
#include "zyx/Runtime/DeviceFacts.h"
#include "zyx/Session/Cache.h"
#include "zyx/Session/TuningTable.h"

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace zyx::runtime {
class Buffer;
class Device;
} // namespace zyx::runtime

/// Compiler and runtime together.
namespace zyx::session {

/// An entry that is ready to run on one device.
class Executable {
public:
  virtual ~Executable() = default;
  const std::vector<artifact::Argument> &inputs() const { return inputArguments; }
  /// Where the graph has symbols, extents are numbers once inputs are set.
  const std::vector<artifact::Argument> &outputs() const { return outputArguments; }

  /// One tensor per input, in their order and of their types; kept until others are given.
  virtual Status setInputs(std::vector<HostTensor> tensors) = 0;
  virtual Status run() = 0;
  /// As run(), with a span per command of the plan, and dependencies where one waits for another. A
  /// command inside of a loop has one span for all passes.
  virtual Status run(Trace &trace) = 0;
  /// The outputs of the latest run.
  virtual Result<std::vector<HostTensor>> readOutputs() = 0;
  /// One of them.
  Result<HostTensor> readOutput(size_t index);
  /// Hands its elements to `take` in their order. Pieces are in the memory of `piece` or of the executable's own:
  /// where none is left, a result still gets to a file.
  virtual Status streamOutput(size_t index, std::span<std::byte> piece,
                              const std::function<Status(std::span<const std::byte>)> &take) = 0;
  /// Weights by their input: has those of the same sizes in common with others that were given the same map, and
  /// adds its own. What one of them sets is set for all.
  virtual Status shareWeights(std::map<size_t, std::shared_ptr<runtime::Buffer>> &weights) { return Status::ok(); }

  /// Kernels and launches of one run; 0 where the device has none.
  size_t numKernels = 0, numLaunches = 0;
  /// Of the device: arguments and temporaries; and what is kept between runs, at most.
  uint64_t memoryBytes = 0, keptBytes = 0;
  /// Calls with each buffer of what is kept, which others may have, too.
  virtual void forEachKept(const std::function<void(const runtime::Buffer &)> &visit) const {}
  /// What making it took: the compiler's stages, loading.
  std::vector<Stage> stages;
  std::string remarks;

protected:
  Status checkInputs(std::span<const HostTensor> tensors) const;
  std::vector<artifact::Argument> inputArguments, outputArguments;
};

/// The graph of that name, or the only one where `entry` is empty. `file` starts the messages;
/// `bind` are values for all symbols of the graph, as "n=4", or none.
Result<graph::Graph> selectEntry(std::vector<graph::Graph> graphs, const std::string &entry, const std::string &file,
                                 const std::vector<std::string> &bind = {});

/// "12.30 ms (parse 10.00, compile 2.30)".
std::string toString(const std::vector<Stage> &stages);

using runtime::DeviceListing;

/// Of kernels that the compiler was asked for, each by itself.
struct KernelStatistics {
  /// Those that it has compiled.
  uint64_t compiled = 0;
  /// Those that an earlier compilation of this session, or of any process that uses the folder, had compiled.
  uint64_t foundInMemory = 0, foundOnDisk = 0;
};

struct SessionOptions {
  /// The folder in which artifacts are kept for later processes; none without a value.
  /// ArtifactCache::defaultFolder is the user's.
  std::optional<std::string> cacheFolder = std::nullopt;
  /// Of all that is kept there together.
  uint64_t cacheBytes = ArtifactCache::defaultMaxBytes;
  /// Of artifacts that are kept in memory for as long as the session; those used last stay.
  uint64_t artifactBytes = uint64_t(64) << 20;
  /// Of kernels that are kept in memory for other programs, each by itself; those used last stay.
  uint64_t kernelBytes = uint64_t(64) << 20;
  /// Of the memory of programs that are kept ready for a graph with symbols, one for each set of values;
  /// those used last stay.
  uint64_t readyBytes = uint64_t(1) << 30;
  /// With a value the compiler runs in child processes, and what a driver compiles is loaded in one first.
  std::optional<Isolation> isolation = std::nullopt;
  /// The instruction set of what prepare() compiles for "cpu", as in CompileOptions.
  std::string isa = "native";
  /// Whether compilations for a device measure the schedules that their kernels may have, and take the best ones. What
  /// was measured once, in this folder, is used in any case, and not measured again.
  bool tune = false;
  /// Which devices may be used, their memory and threads; the rest of it is not looked at.
  Config config = {};

  /// What a user's configuration says, with the user's folder of artifacts.
  static SessionOptions from(const Config &config);
};

class KernelCache;

/// Opens the compiler and devices when they are first needed. compile(), device() and targetOf() may be called by
/// several threads at once; the rest by one at a time. A process that was forked since is refused.
class Session {
public:
  /// Asked and told by every call that reads, compiles or loads, but for those of compile() that bring their own.
  CompileCallbacks callbacks;

  explicit Session(SessionOptions options = {});
  ~Session();

  /// Every entry of a file of MLIR text. Parameters follow the arguments as inputs.
  Result<std::vector<graph::Graph>> readGraphs(const std::string &path);
  /// More text than this is not read; the compiler refuses less than that too.
  static constexpr uint64_t maxTextBytes = uint64_t(1) << 30;
  /// The same of a text; `name` starts the messages.
  Result<std::vector<graph::Graph>> parseGraphs(std::span<const std::byte> text, const std::string &name);

  /// An artifact for a target, or the text of a phase. Artifacts are kept: a graph that computes the
  /// same is compiled once per target and options, and a kernel that several graphs have once for all of them. Where
  /// there is a cache folder, that holds for all processes that use it; the only stage is then "cache", and places in
  /// messages are those of the graph that was compiled first. Where the device is given that is to run it, schedules
  /// that were measured there are used, and are measured before where the session tunes. Who asks for what another
  /// thread compiles waits for that, and learns of its failure; the next one to ask tries again. `told` takes the place
  /// of `callbacks`.
  Result<Compiled> compile(graph::Graph graph, CompileOptions options,
                           const std::shared_ptr<runtime::Device> &on = nullptr,
                           const CompileCallbacks *told = nullptr);
  /// Makes a graph run on "reference", or on a device of the runtime, for which it is compiled.
  /// A graph with symbols is compiled when its inputs are set, once for each set of values; such an
  /// executable must not outlive the session. Code of an instruction set that this machine lacks is
  /// refused when it is loaded.
  Result<std::unique_ptr<Executable>> prepare(graph::Graph graph, const std::string &device);
  /// Loads what was compiled before. An empty `device` is the artifact's own.
  Result<std::unique_ptr<Executable>> load(artifact::Artifact artifact, const std::string &device);

  /// Of all compilations until now, but for those that measure.
  KernelStatistics kernelStatistics() const;

  /// The target that code for the device is compiled with: "cpu", or for the card that "cuda" is, "sm_90a".
  Result<std::string> targetOf(const std::string &deviceName);

  /// "reference" and the runtime's devices.
  static std::vector<DeviceListing> listDevices();
  /// Where programs run that do not say it: the device of the configuration, or else the fastest one that is present
  /// and that the configuration does not turn off, by its record (runtime::fastestDevice).
  static std::string defaultDevice(const Config &config);
  /// Refuses a device that is off in the configuration.
  Status checkEnabled(const std::string &device) const;
  /// One of the runtime's devices, opened once, with the memory and threads of the configuration.
  Result<std::shared_ptr<runtime::Device>> device(const std::string &name);

private:
  /// For who debugs: the texts of a program that is about to run.
  void printTexts(const graph::Graph &graph, const CompileOptions &options);
  Result<Compiled> compileOrKeep(const graph::Graph &graph, const CompileOptions &options,
                                 const CompileCallbacks &told);
  Result<Compiled> compileOrFind(const graph::Graph &graph, const CompileOptions &options,
                                 const std::string &programKey, const CompileCallbacks &told);
  Result<Compiler *> compiler();
  TuningTable &tableOf(const runtime::Device &device, const CompileOptions &options);
  /// The keys of a program's kernels that have several schedules. Nothing is compiled where they were listed before.
  Result<std::vector<std::string>> tunableKernels(const graph::Graph &graph, const CompileOptions &options,
                                                  const CompileCallbacks &told);
  Result<std::string> tuneKernels(const graph::Graph &graph, const CompileOptions &options,
                                  const std::shared_ptr<runtime::Device> &on, TuningTable &table,
                                  const CompileCallbacks &told);
  class Underway;
  void keep(const std::string &key, const Compiled &compiled);

  /// While the compiler or a device is opened; while tables are read and changed, and kernels measured; while what is
  /// kept is looked at. Of these only `opening` is taken while another one, `tuning`, is held.
  std::mutex opening, tuning, keeping;
  /// Of a process that was forked another thread may have held them.
  const ForkMark mark;
  std::unique_ptr<Compiler> openCompiler;
  std::optional<Isolation> isolation;
  std::string isa;
  Config config;
  std::optional<ArtifactCache> cache;
  /// Kernels by themselves, for programs that are not in the cache as a whole.
  std::unique_ptr<KernelCache> kernels;
  std::optional<std::string> cacheFolder;
  uint64_t cacheBytes;
  bool tunes;
  /// By target, instruction set and device.
  std::map<std::string, TuningTable> tables;
  /// By program: the kernels of each that has several schedules. And by table those of which no choice could be
  /// measured.
  std::map<std::string, std::vector<std::string>> kernelsOf;
  std::set<std::pair<const TuningTable *, std::string>> notMeasured;
  struct KeptArtifact {
    Compiled compiled;
    uint64_t lastUse = 0;
  };
  /// By hash, entry, target and options.
  std::map<std::string, KeptArtifact> artifacts;
  /// By the same: what some thread compiles now.
  std::map<std::string, std::shared_future<Result<Compiled>>> underway;
  /// Of all of them, and of what may be.
  uint64_t keptBytes = 0, artifactBytes, readyBytes;
  uint64_t uses = 0;
  std::map<std::string, std::shared_ptr<runtime::Device>> devices;
};

} // namespace zyx::session

#endif // ZYX_SESSION_SESSION_H
