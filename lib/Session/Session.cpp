//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Session/Session.h"

#include "zyx/Base/Debug.h"
#include "zyx/Base/File.h"
#include "zyx/Base/Hash.h"
#include "zyx/Graph/Devices.h"
#include "zyx/Graph/Symbols.h"
#include "zyx/Runtime/Executor.h"
#include "zyx/Runtime/Plugin.h"
#include "zyx/Session/DriverTrial.h"

#include "Executables.h"
#include "KernelCache.h"
#include "Toolchain.h"
#include "Tuner.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>

using namespace zyx;
using namespace zyx::session;

namespace {

using Clock = std::chrono::steady_clock;

uint64_t nanosecondsSince(Clock::time_point begin) { return std::chrono::nanoseconds(Clock::now() - begin).count(); }

/// What a compilation is of, beside the machine and the compiler.
std::string programKey(const graph::Graph &graph, const CompileOptions &options) {
  return graph.canonicalHash().toHex() + " " + options.target + " " + options.isa +
         (options.noOptimise ? " unoptimised " : " ") + (options.fusion == "weighed" ? "" : options.fusion + " ") +
         graph.name +
         (options.measured.empty() ? "" : " measured " + hashBytes(std::string_view(options.measured)).toHex()) +
         // What names no device is the same program on each of a kind.
         (graph::namesDevices(graph) ? " on " + options.device : "");
}

} // namespace

Result<graph::Graph> session::selectEntry(std::vector<graph::Graph> graphs, const std::string &entry,
                                          const std::string &file, const std::vector<std::string> &bind) {
  std::string names;
  for (graph::Graph &graph : graphs) {
    if (graph.name == entry || (entry.empty() && graphs.size() == 1)) {
      if (bind.empty())
        return std::move(graph);
      ZYX_ASSIGN_OR_RETURN(const Bindings bindings, readBindings(bind));
      return graph::specialise(graph, bindings);
    }
    names += (names.empty() ? "" : ", ") + graph.name;
  }
  if (entry.empty())
    return Status::invalidArgument(file + ": choose one of its entries by --entry: " + names);
  return Status::notFound(file + ": has no entry '" + entry + "', but " + names);
}

std::string session::toString(const std::vector<Stage> &stages) {
  auto milliseconds = [](uint64_t nanoseconds) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.2f", static_cast<double>(nanoseconds) / 1e6);
    return std::string(text);
  };
  uint64_t total = 0;
  std::string parts;
  for (const Stage &stage : stages) {
    total += stage.nanoseconds;
    parts += (parts.empty() ? "" : ", ") + stage.name + " " + milliseconds(stage.nanoseconds);
  }
  return milliseconds(total) + " ms (" + parts + ")";
}

SessionOptions SessionOptions::from(const Config &config) {
  SessionOptions options;
  options.config = config;
  options.cacheFolder = ArtifactCache::defaultFolder(config);
  options.cacheBytes = config.cacheSize;
  options.tune = config.tune;
  return options;
}

Session::Session(SessionOptions options)
    : isolation(std::move(options.isolation)), isa(std::move(options.isa)), config(std::move(options.config)),
      cacheFolder(options.cacheFolder), cacheBytes(options.cacheBytes), tunes(options.tune),
      artifactBytes(options.artifactBytes), readyBytes(options.readyBytes) {
  runtime::loadBackends(config.backends);
  if (options.cacheFolder)
    cache.emplace(std::move(*options.cacheFolder), options.cacheBytes);
  kernels = std::make_unique<KernelCache>(cache ? &*cache : nullptr, options.kernelBytes);
}
Session::~Session() = default;

KernelStatistics Session::kernelStatistics() const { return kernels->statistics(); }

Result<Compiler *> Session::compiler() {
  ZYX_RETURN_IF_ERROR(mark.check());
  std::lock_guard lock(opening);
  if (!openCompiler) {
    ZYX_ASSIGN_OR_RETURN(openCompiler, Compiler::open(isolation));
  }
  return openCompiler.get();
}

Status Session::checkEnabled(const std::string &name) const {
  const std::string device = runtime::canonicalDeviceName(name);
  if (config.isEnabled(device))
    return Status::ok();
  return Status::unsupported("device '" + device + "' is off in the configuration");
}

/// What drivers compile, among the kernels of the compiler. Devices may outlive the session.
static runtime::CodeCache codeCacheIn(const ArtifactCache &disk) {
  return {[disk](const std::string &key) {
            std::optional<CacheEntry> entry = disk.find(key);
            return entry ? std::move(entry->kernel) : std::nullopt;
          },
          [disk](const std::string &key, std::span<const std::byte> code) {
            CacheEntry entry;
            entry.key = key;
            entry.kernel.emplace(code.begin(), code.end());
            // What is not kept is compiled again.
            (void)disk.insert(entry);
          }};
}

Result<std::shared_ptr<runtime::Device>> Session::device(const std::string &given) {
  ZYX_RETURN_IF_ERROR(mark.check());
  const std::string name = runtime::canonicalDeviceName(given);
  std::lock_guard lock(opening);
  auto found = devices.find(name);
  if (found != devices.end())
    return found->second;
  ZYX_RETURN_IF_ERROR(checkEnabled(name));
  runtime::DeviceOptions options;
  options.threads = config.threads;
  options.memoryLimit = config.memoryLimit(name);
  if (cache)
    options.codeCache = std::make_shared<runtime::CodeCache>(codeCacheIn(*cache));
  std::string others;
  for (const GraphDevice &other : graphDevices())
    others += (others.empty() ? "" : ", ") + std::string(other.name) + ", " + std::string(other.kind);
  options.otherDevices = others;
  ZYX_ASSIGN_OR_RETURN(const std::shared_ptr<runtime::Device> made, runtime::createDevice(name, options));
  ZYX_DEBUG(Devices, "open '" + name + "' with " + (options.threads ? std::to_string(options.threads) : "all") +
                         " threads and " +
                         (options.memoryLimit ? std::to_string(options.memoryLimit) + " bytes" : "all memory"));
  devices[name] = made;
  return made;
}

Result<std::string> Session::targetOf(const std::string &deviceName) {
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<runtime::Device> on, device(deviceName));
  return on->target();
}

Result<std::vector<graph::Graph>> Session::readGraphs(const std::string &path) {
  ZYX_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, readFile(path, maxTextBytes));
  return parseGraphs(bytes, path);
}

Result<std::vector<graph::Graph>> Session::parseGraphs(std::span<const std::byte> text, const std::string &name) {
  ZYX_ASSIGN_OR_RETURN(Compiler * opened, compiler());
  ScopedSpan span(callbacks.trace, "compiler", "parse", name);
  const std::string_view characters(reinterpret_cast<const char *>(text.data()), text.size());
  ZYX_ASSIGN_OR_RETURN(std::vector<graph::Graph> graphs, opened->parse(characters, name));
  for (graph::Graph &graph : graphs)
    graph.bindParameters();
  return graphs;
}

TuningTable &Session::tableOf(const runtime::Device &device, const CompileOptions &options) {
  const std::string target = options.target + " " + options.isa, identity = device.identity();
  const auto found = tables.find(target + "\n" + identity);
  if (found != tables.end())
    return found->second;
  TuningTable table(cacheFolder, {target, identity, toolchainKey(options.target)});
  ZYX_DEBUG(Cache, std::to_string(table.choices().size()) + " measured schedules in " + table.path());
  return tables.emplace(target + "\n" + identity, std::move(table)).first->second;
}

/// Of what is not known yet. Gives remarks.
Result<std::string> Session::tuneKernels(const graph::Graph &graph, const CompileOptions &options,
                                         const std::shared_ptr<runtime::Device> &on, TuningTable &table,
                                         const CompileCallbacks &told) {
  ZYX_ASSIGN_OR_RETURN(Compiler * opened, compiler());
  ScopedSpan span(told.trace, "compiler", "tune", graph.name);
  Tuner tuner(*opened, on, options);
  ZYX_ASSIGN_OR_RETURN(const MeasuredChoices chosen, tuner.tune(graph, table.choices()));
  if (chosen.empty())
    return tuner.remarks;
  if (Status kept = table.add(chosen); !kept.isOk())
    tuner.remarks += "measured schedules are not kept: " + kept.message() + "\n";
  return tuner.remarks;
}

Result<std::vector<std::string>> Session::tunableKernels(const graph::Graph &graph, const CompileOptions &options,
                                                         const CompileCallbacks &told) {
  const std::string key = "kernels of " + programKey(graph, options);
  if (const auto known = kernelsOf.find(key); known != kernelsOf.end())
    return known->second;
  const std::string entryKey = cache ? toolchainKey(options.target) + key : "";
  std::optional<CacheEntry> entry = cache ? cache->find(entryKey) : std::nullopt;
  if (!entry || !entry->kernels) {
    ZYX_ASSIGN_OR_RETURN(Compiler * opened, compiler());
    CompileOptions listing = options;
    listing.listChoices = Tuner::mostChoices;
    ZYX_ASSIGN_OR_RETURN(const Compiled listed, opened->compile(graph, listing, told));
    std::map<std::string, unsigned> counts;
    for (const KernelChoice &choice : listed.choices)
      ++counts[choice.key];
    entry = {entryKey, loadedTools(), 0, "", std::vector<std::string>(), {}};
    for (const auto &[kernel, count] : counts)
      if (count > 1)
        entry->kernels->push_back(kernel);
    // What is not kept is listed again by the next process.
    if (cache)
      if (const Status kept = cache->insert(*entry); !kept)
        ZYX_DEBUG(Cache, "not kept: " + kept.message());
  }
  return kernelsOf[key] = std::move(*entry->kernels);
}

Result<Compiled> Session::compile(graph::Graph graph, CompileOptions options,
                                  const std::shared_ptr<runtime::Device> &on, const CompileCallbacks *told) {
  ZYX_RETURN_IF_ERROR(mark.check());
  const CompileCallbacks &watching = told ? *told : callbacks;
  graph.bindParameters();
  std::string remarks;
  if (on && !options.noOptimise) {
    std::lock_guard lock(tuning);
    TuningTable &table = tableOf(*on, options);
    remarks = table.remark();
    const bool measures = tunes && options.stopAfter.empty();
    if (measures || !table.choices().empty()) {
      ZYX_ASSIGN_OR_RETURN(const std::vector<std::string> kernels, tunableKernels(graph, options, watching));
      if (measures && std::ranges::any_of(kernels, [&](const std::string &kernel) {
            return !table.choices().contains(kernel) && !notMeasured.contains({&table, kernel});
          })) {
        ZYX_ASSIGN_OR_RETURN(std::string measured, tuneKernels(graph, options, on, table, watching));
        remarks += measured;
        for (const std::string &kernel : kernels)
          if (!table.choices().contains(kernel))
            notMeasured.emplace(&table, kernel);
      }
      // No others, so that the program stays the same when those are measured.
      options.measured = table.text(kernels);
    }
  }
  ZYX_ASSIGN_OR_RETURN(Compiled compiled, compileOrKeep(graph, options, watching));
  printTexts(graph, options);
  compiled.remarks = remarks + compiled.remarks;
  return compiled;
}

void Session::printTexts(const graph::Graph &graph, const CompileOptions &options) {
  if (!options.stopAfter.empty() || options.listChoices != 0 || options.cSource)
    return;
  for (const auto &[topic, phase] : {std::pair(DebugTopic::Ir, "lowered"), std::pair(DebugTopic::Assembly, "target")}) {
    if (!isDebugged(topic))
      continue;
    // What was found again has no texts: it is compiled for them alone.
    CompileOptions wanted = options;
    wanted.stopAfter = phase;
    Result<Compiler *> opened = compiler();
    Result<Compiled> text = opened ? (*opened)->compile(graph, wanted) : Result<Compiled>(opened.status());
    printDebug(topic, "'" + graph.name + "':\n" +
                          (text ? std::string(reinterpret_cast<const char *>(text->output.data()), text->output.size())
                                : text.status().toString()));
  }
}

/// A compilation that others wait for, who learn of its end in whatever way it comes.
class Session::Underway {
public:
  /// With the lock held.
  Underway(Session &session, std::string ofKey) : session(session), key(std::move(ofKey)) {
    session.underway.emplace(key, promise.get_future().share());
  }
  ~Underway() {
    {
      std::lock_guard lock(session.keeping);
      session.underway.erase(key);
    }
    promise.set_value(std::move(result));
  }
  Underway(const Underway &) = delete;

  /// As it is where an exception passes.
  Result<Compiled> result = Status::aborted("the thread that compiled the program ended before it was done");

private:
  Session &session;
  const std::string key;
  std::promise<Result<Compiled>> promise;
};

void Session::keep(const std::string &key, const Compiled &compiled) {
  std::lock_guard lock(keeping);
  artifacts[key] = {compiled, ++uses};
  // The bytes are enough, and are what is counted.
  artifacts[key].compiled.program = nullptr;
  // Behind what may run out of memory.
  keptBytes += compiled.output.size();
  while (keptBytes > artifactBytes) {
    const auto oldest = std::ranges::min_element(artifacts, {}, [](const auto &one) { return one.second.lastUse; });
    keptBytes -= oldest->second.compiled.output.size();
    artifacts.erase(oldest);
  }
}

Result<Compiled> Session::compileOrKeep(const graph::Graph &graph, const CompileOptions &options,
                                        const CompileCallbacks &told) {
  if (!options.stopAfter.empty() || options.verifyRoundtrip || options.listChoices != 0 || options.cSource ||
      !options.onlyKernel.empty()) {
    // What is wanted is the compilation itself.
    ZYX_ASSIGN_OR_RETURN(Compiler * opened, compiler());
    return opened->compile(graph, options, told);
  }
  const std::string key = programKey(graph, options);
  std::optional<Underway> mine;
  std::shared_future<Result<Compiled>> others;
  {
    std::lock_guard lock(keeping);
    const auto found = artifacts.find(key);
    const auto begun = underway.find(key);
    ZYX_DEBUG(Cache, (found != artifacts.end()  ? "hit in memory: "
                      : begun != underway.end() ? "is compiled by another thread: "
                                                : "miss in memory: ") +
                         key);
    if (found != artifacts.end()) {
      found->second.lastUse = ++uses;
      Compiled kept = found->second.compiled;
      kept.stages.clear();
      return kept;
    }
    if (begun != underway.end())
      others = begun->second;
    else
      mine.emplace(*this, key);
  }
  if (!mine) {
    constexpr auto patience = std::chrono::milliseconds(50);
    while (told.isCancelled && others.wait_for(patience) != std::future_status::ready)
      if (told.isCancelled())
        return Status(ErrorCode::Cancelled, "the compilation was cancelled");
    Result<Compiled> made = others.get();
    // Who compiled it wants it no more; who waits does.
    if (!made && made.status().code() == ErrorCode::Cancelled)
      return compileOrKeep(graph, options, told);
    if (made)
      made->stages.clear();
    return made;
  }
  mine->result = compileOrFind(graph, options, key, told);
  if (mine->result)
    keep(key, *mine->result);
  return mine->result;
}

/// What a compilation would have said to whoever asked for it.
static void noteHit(const graph::Graph &graph, const CompileOptions &options) {
  ZYX_DEBUG(Graph, "found '" + graph.name + "' for " + options.target + " in the cache: " +
                       std::to_string(graph.reachable().size()) + " nodes, " + std::to_string(graph.inputs.size()) +
                       " inputs, " + std::to_string(graph.outputs.size()) + " outputs");
  const std::string nothing =
      "'" + graph.name + "' is found in the cache, and not compiled: ZYX_CACHE_DIR=off compiles it";
  ZYX_DEBUG(Fusion, nothing);
  ZYX_DEBUG(Schedule, nothing);
  ZYX_DEBUG(Timing, nothing);
}

Result<Compiled> Session::compileOrFind(const graph::Graph &graph, const CompileOptions &options,
                                        const std::string &programKey, const CompileCallbacks &told) {
  Clock::time_point begin = Clock::now();
  std::string key;
  const std::string toolchain = cache || kernels->isOn() ? toolchainKey(options.target) : "";
  if (cache) {
    key = toolchain + programKey;
    std::optional<CacheEntry> entry = cache->find(key);
    ZYX_DEBUG(Cache, (entry ? "hit: " : "miss: ") + cache->path(key));
    if (entry && !entry->kernels && !entry->kernel) {
      noteHit(graph, options);
      Compiled kept;
      kept.output = std::move(entry->artifact);
      kept.program = std::move(entry->program);
      kept.numKernels = entry->numKernels;
      kept.remarks = std::move(entry->remarks);
      kept.stages = {{"cache", nanosecondsSince(begin)}};
      return kept;
    }
  }
  ZYX_ASSIGN_OR_RETURN(Compiler * opened, compiler());
  ZYX_DEBUG(Graph, "compile '" + graph.name + "' for " + options.target + ": " +
                       std::to_string(graph.reachable().size()) + " nodes, " + std::to_string(graph.inputs.size()) +
                       " inputs, " + std::to_string(graph.outputs.size()) + " outputs");
  KernelCache::User user(*kernels, toolchain);
  ZYX_ASSIGN_OR_RETURN(Compiled compiled,
                       opened->compile(graph, options, told, kernels->isOn() ? user.store() : KernelStore()));
  kernels->note(compiled.numKernels - std::min(compiled.numFoundKernels, compiled.numKernels));
  ZYX_DEBUG(Timing, "compile '" + graph.name + "': " + toString(compiled.stages));
  ZYX_DEBUG(Cache, std::to_string(compiled.numFoundKernels) + " of " + std::to_string(compiled.numKernels) +
                       " kernels of '" + graph.name + "' were compiled before");
  if (cache) {
    begin = Clock::now();
    Status kept = user.keep();
    if (kept)
      kept = cache->insert({key, loadedTools(), compiled.numKernels, compiled.remarks, std::nullopt, compiled.output});
    ZYX_DEBUG(Cache, (kept ? "kept: " + cache->path(key) : "not kept: " + kept.message()));
    if (!kept)
      compiled.remarks += "not kept in the cache: " + kept.message() + "\n";
    compiled.stages.push_back({"keep", nanosecondsSince(begin)});
  }
  return compiled;
}

Result<std::unique_ptr<Executable>> Session::prepare(graph::Graph graph, const std::string &deviceName) {
  graph.bindParameters();
  ZYX_RETURN_IF_ERROR(checkEnabled(deviceName));
  if (!graph::collectSymbols(graph).empty())
    return makeSymbolicExecutable(*this, std::move(graph), deviceName, readyBytes);
  if (const GraphDevice *graphDevice = findGraphDevice(deviceName)) {
    ZYX_RETURN_IF_ERROR(graph::checkDevices(graph, deviceName));
    if (isa != "native")
      return Status::invalidArgument("device '" + deviceName + "' has no instruction set '" + isa +
                                     "'; only 'cpu' has one");
    return makeGraphExecutable(*graphDevice, std::move(graph));
  }
  // A device that is not there is found before the time of a compilation is spent.
  CompileOptions options;
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<runtime::Device> on, device(deviceName));
  options.target = on->target();
  options.isa = isa;
  options.device = deviceName;
  ZYX_ASSIGN_OR_RETURN(Compiled compiled, compile(std::move(graph), options, on));
  ZYX_ASSIGN_OR_RETURN(artifact::Artifact artifact, compiled.readArtifact());
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable, load(std::move(artifact), deviceName));
  executable->stages.insert(executable->stages.begin(), compiled.stages.begin(), compiled.stages.end());
  executable->remarks = std::move(compiled.remarks);
  return executable;
}

Result<std::unique_ptr<Executable>> Session::load(artifact::Artifact artifact, const std::string &deviceName) {
  Clock::time_point begin = Clock::now();
  ScopedSpan span(callbacks.trace, "host", "load", artifact.entry);
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<runtime::Device> on, device(deviceName.empty() ? artifact.target : deviceName));
  if (isolation && isCompiledByDriver(artifact))
    ZYX_RETURN_IF_ERROR(tryInChild(artifact, {on->name(), cacheFolder, cacheBytes}, *isolation));
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<runtime::Executor> executor, runtime::Executor::create(on, std::move(artifact)));
  std::unique_ptr<Executable> executable = makeDeviceExecutable(std::move(executor));
  executable->stages.push_back({"load", nanosecondsSince(begin)});
  return executable;
}

std::vector<DeviceListing> Session::listDevices() {
  std::vector<DeviceListing> listings;
  for (const GraphDevice &device : graphDevices())
    listings.push_back(device.listing());
  std::ranges::move(runtime::listDevices(), std::back_inserter(listings));
  return listings;
}

std::string Session::defaultDevice(const Config &config) {
  if (config.device)
    return *config.device;
  runtime::loadBackends(config.backends);
  std::vector<DeviceListing> listings = runtime::listDefaultDevices();
  std::erase_if(listings, [&](const DeviceListing &one) { return !config.isEnabled(one.name); });
  return runtime::fastestDevice(listings);
}
