//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The calls of a plug-in's table as a backend.
#include "../Host/Host.h"
#include "Plugin.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

using namespace zyx;
using namespace zyx::runtime;

namespace {

// Arguments are handed over as they lie in a replay.
static_assert(sizeof(zyx_backend_argument) == sizeof(KernelArgument));
static_assert(offsetof(zyx_backend_argument, value) == offsetof(KernelArgument, value));
static_assert(offsetof(zyx_backend_argument, memory) == offsetof(KernelArgument, memory));
static_assert(offsetof(zyx_backend_argument, is_buffer) == offsetof(KernelArgument, isBuffer));
static_assert(sizeof(zyx_backend_memory) == sizeof(MemoryRef));

zyx_backend_memory toC(MemoryRef memory) { return {memory.handle, memory.offset}; }

[[gnu::noinline]] zyx_backend_launch_v1 toC(const LaunchCommand &launch) {
  zyx_backend_launch_v1 made = {};
  made.struct_size = sizeof(made);
  made.kernel = static_cast<uint64_t>(launch.kernel);
  made.groups = launch.groups;
  made.threads = launch.threads;
  made.shared_bytes = launch.sharedBytes;
  made.num_arguments = static_cast<uint32_t>(launch.arguments.size());
  made.arguments = reinterpret_cast<const zyx_backend_argument *>(launch.arguments.data());
  made.parameters = launch.parameters;
  made.programs = launch.arguments.back().value;
  return made;
}

/// Where calls of this thread say why they fail, until the next one.
zyx_backend_error *freshError() {
  static thread_local char text[512];
  static thread_local zyx_backend_error error;
  text[0] = text[sizeof(text) - 1] = '\0';
  error = {sizeof(error), text, sizeof(text)};
  return &error;
}

/// Of a call of this thread that has failed. The device is null where none is open.
Status failureOf(const Plugin &plugin, void *device, zyx_backend_code code, const char *text) {
  const bool isKnown = code > 0 && code <= static_cast<int>(ErrorCode::Internal);
  ErrorCode kind = isKnown ? static_cast<ErrorCode>(code) : ErrorCode::Internal;
  if (device && plugin.table.is_lost && plugin.table.is_lost(device))
    kind = ErrorCode::DeviceLost;
  return {kind, *text ? std::string(text)
                      : textOf({"backend '", plugin.name, "' returns ", std::to_string(code), " and gives no reason"})};
}

class PluginGraph;

class PluginBackend : public Backend {
public:
  explicit PluginBackend(const Plugin &plugin) : plugin(plugin) {}
  ~PluginBackend() override {
    if (device)
      plugin.table.close(device);
  }
  Status open(std::string name, uint32_t index) {
    ZYX_RETURN_IF_ERROR(readPluginFacts(plugin, index, itsFacts));
    itsFacts.name = std::move(name);
    zyx_backend_error *const error = freshError();
    const zyx_backend_code code = plugin.table.open(index, &device, error);
    if (code == 0)
      return Status::ok();
    device = nullptr;
    return failureOf(plugin, nullptr, code, error->text);
  }

  /// Calls a function of the table for the device.
  template <typename... Parameters, typename... Arguments>
  Status call(zyx_backend_code (*function)(void *, Parameters...), Arguments... arguments) const {
    zyx_backend_error *const error = freshError();
    const zyx_backend_code code = function(device, arguments..., error);
    return code == 0 ? Status::ok() : failureOf(plugin, device, code, error->text);
  }
  /// One that gives a number.
  template <typename HandleT, typename... Parameters, typename... Arguments>
  Result<HandleT> make(zyx_backend_code (*function)(void *, Parameters...), Arguments... arguments) const {
    uint64_t made = 0;
    ZYX_RETURN_IF_ERROR(call(function, arguments..., &made));
    return static_cast<HandleT>(made);
  }

  const BackendFacts &facts() const override { return itsFacts; }
  Status enter() override { return table().enter ? call(table().enter) : Status::ok(); }
  void leave() override {
    if (table().leave)
      table().leave(device);
  }

  Result<uint64_t> allocate(StreamHandle stream, uint64_t bytes) override {
    return make<uint64_t>(table().allocate, raw(stream), bytes);
  }
  Status free(StreamHandle stream, uint64_t handle) override { return call(table().free, raw(stream), handle); }
  std::optional<uint64_t> freeMemory() override {
    const Result<uint64_t> bytes = table().free_memory ? make<uint64_t>(table().free_memory) : Status::unsupported("");
    return bytes ? std::optional<uint64_t>(*bytes) : std::nullopt;
  }
  Status trim() override { return table().trim ? call(table().trim) : Status::ok(); }
  Result<void *> allocateHost(uint64_t bytes) override {
    void *memory = nullptr;
    ZYX_RETURN_IF_ERROR(call(table().allocate_host, bytes, &memory));
    return memory;
  }
  void freeHost(void *memory) override { table().free_host(device, memory); }
  Status upload(StreamHandle stream, MemoryRef to, const void *from, uint64_t bytes) override {
    return call(table().upload, raw(stream), toC(to), from, bytes);
  }
  Status download(StreamHandle stream, void *to, MemoryRef from, uint64_t bytes) override {
    return call(table().download, raw(stream), to, toC(from), bytes);
  }
  Status copy(StreamHandle stream, const CopyCommand &copy) override {
    return call(table().copy, raw(stream), toC(copy.to), toC(copy.from), copy.bytes);
  }
  Status fill(StreamHandle stream, const FillCommand &fill) override {
    return call(table().fill, raw(stream), toC(fill.to), fill.bytes, fill.pattern, uint32_t(fill.patternBytes));
  }

  Status accept(const artifact::Artifact &artifact) const override;
  Result<ModuleHandle> load(const artifact::CodeBlob &code) override {
    return make<ModuleHandle>(table().load, code.format.c_str(), static_cast<const void *>(code.bytes.data()),
                              code.bytes.size());
  }
  void unload(ModuleHandle module) override { table().unload(device, raw(module)); }
  Result<KernelHandle> find(ModuleHandle module, const artifact::Kernel &kernel) override;
  Status launch(StreamHandle stream, const LaunchCommand &launch) override {
    const zyx_backend_launch_v1 made = toC(launch);
    return call(table().launch, raw(stream), &made);
  }

  Result<StreamHandle> createStream() override { return make<StreamHandle>(table().create_stream); }
  void destroyStream(StreamHandle stream) override { table().destroy_stream(device, raw(stream)); }
  void *nativeStream(StreamHandle stream) const override {
    return table().native_stream ? table().native_stream(device, raw(stream)) : nullptr;
  }
  Status synchronize(StreamHandle stream) override { return call(table().synchronize_stream, raw(stream)); }
  Result<EventHandle> createEvent(bool isTimed) override {
    return make<EventHandle>(table().create_event, int(isTimed));
  }
  void destroyEvent(EventHandle event) override { table().destroy_event(device, raw(event)); }
  Status record(StreamHandle stream, EventHandle event) override {
    return call(table().record, raw(stream), raw(event));
  }
  Status wait(StreamHandle stream, EventHandle event) override { return call(table().wait, raw(stream), raw(event)); }
  Status synchronize(EventHandle event) override { return call(table().synchronize_event, raw(event)); }
  Result<uint64_t> elapsed(EventHandle begin, EventHandle end) override {
    return make<uint64_t>(table().elapsed, raw(begin), raw(end));
  }
  Status hold(StreamHandle stream, const uint32_t *word) override {
    return table().hold ? call(table().hold, raw(stream), word) : Backend::hold(stream, word);
  }
  std::unique_ptr<CommandGraph> createGraph() override;

private:
  friend class PluginGraph;
  template <typename HandleT> static uint64_t raw(HandleT handle) { return static_cast<uint64_t>(handle); }
  const zyx_backend_v1 &table() const { return plugin.table; }

  const Plugin &plugin;
  BackendFacts itsFacts;
  void *device = nullptr;
};

/// A graph of the plug-in, made when the first command is added, so that a failure is told.
class PluginGraph : public CommandGraph {
public:
  explicit PluginGraph(const PluginBackend &backend) : backend(backend), table(backend.table()) {}
  ~PluginGraph() override {
    if (graph)
      table.destroy_graph(backend.device, *graph);
  }

  Result<Node> add(const AnyCommand &command, std::span<const Node>) override {
    ZYX_RETURN_IF_ERROR(begin());
    return std::visit([&](const auto &each) { return append(each); }, command);
  }
  Status finish() override {
    ZYX_RETURN_IF_ERROR(begin());
    return backend.call(table.finish_graph, *graph);
  }
  Status update(Node node, const AnyCommand &command) override {
    return std::visit([&](const auto &each) { return change(node, each); }, command);
  }
  Status launch(StreamHandle stream) override {
    return backend.call(table.launch_graph, static_cast<uint64_t>(stream), *graph);
  }

private:
  Result<Node> append(const LaunchCommand &launch) {
    const zyx_backend_launch_v1 made = toC(launch);
    return backend.make<Node>(table.add_launch, *graph, &made);
  }
  Result<Node> append(const CopyCommand &copy) {
    return backend.make<Node>(table.add_copy, *graph, toC(copy.to), toC(copy.from), copy.bytes);
  }
  Result<Node> append(const FillCommand &fill) {
    return backend.make<Node>(table.add_fill, *graph, toC(fill.to), fill.bytes, fill.pattern,
                              uint32_t(fill.patternBytes));
  }
  Status change(Node node, const LaunchCommand &launch) {
    const zyx_backend_launch_v1 made = toC(launch);
    return backend.call(table.update_launch, *graph, uint64_t(node), &made);
  }
  Status change(Node node, const CopyCommand &copy) {
    return backend.call(table.update_copy, *graph, uint64_t(node), toC(copy.to), toC(copy.from), copy.bytes);
  }
  Status change(Node node, const FillCommand &fill) {
    return backend.call(table.update_fill, *graph, uint64_t(node), toC(fill.to), fill.bytes, fill.pattern,
                        uint32_t(fill.patternBytes));
  }
  Status begin() {
    if (graph)
      return Status::ok();
    ZYX_ASSIGN_OR_RETURN(graph, backend.make<uint64_t>(table.create_graph));
    return Status::ok();
  }

  const PluginBackend &backend;
  const zyx_backend_v1 &table;
  std::optional<uint64_t> graph;
};

Status PluginBackend::accept(const artifact::Artifact &artifact) const {
  // An artifact of a card has the architecture among its features.
  if (artifact.target != itsFacts.target && !std::ranges::count(artifact.cpuFeatures, itsFacts.target))
    return Status::unsupported(textOf({"code for '", artifact.target, "' does not run on device '", itsFacts.name,
                                       "', which takes code for '", itsFacts.target, "'"}));
  return itsFacts.hasStacks ? checkCpuFeatures(artifact.cpuFeatures) : Status::ok();
}

Result<KernelHandle> PluginBackend::find(ModuleHandle module, const artifact::Kernel &kernel) {
  if (!kernel.tensorMaps.empty())
    return Status::unsupported(
        textOf({"kernel ", kernel.name, " needs tensor maps, which backends of ABI version 1 do not have"}));
  static_assert(ZYX_BACKEND_ABI_VERSION == 1);
  zyx_backend_kernel_v1 what = {};
  what.struct_size = sizeof(what);
  what.symbol = kernel.symbol.c_str();
  what.name = kernel.name.c_str();
  what.num_buffers = kernel.numBuffers;
  what.num_scalars = kernel.numScalars;
  what.num_written = kernel.numWritten;
  what.group_threads = kernel.groupThreads;
  what.shared_bytes = kernel.sharedBytes;
  what.cluster_groups = kernel.clusterGroups;
  what.stack_bytes = kernel.stackBytes;
  return make<KernelHandle>(table().find, raw(module), &what);
}

std::unique_ptr<CommandGraph> PluginBackend::createGraph() {
  return table().create_graph ? std::make_unique<PluginGraph>(*this) : nullptr;
}

} // namespace

Status runtime::readPluginFacts(const Plugin &plugin, uint32_t index, BackendFacts &facts) {
  zyx_backend_facts_v1 given = {};
  given.struct_size = sizeof(given);
  zyx_backend_error *const error = freshError();
  if (const zyx_backend_code code = plugin.table.get_facts(index, &given, error))
    return failureOf(plugin, nullptr, code, error->text);
  const uint64_t alignment = std::max<uint64_t>(given.alignment, 1);
  const char *const wrong = !given.target || !*given.target ? "no target"
                            : !given.identity               ? "no identity"
                            : !std::has_single_bit(alignment) || alignment > artifact::alignment
                                ? "an alignment that is no power of two up to 64"
                            : given.free_bytes == 0 ? "no memory: free_bytes is 0"
                                                    : nullptr;
  static_assert(artifact::alignment == 64);
  if (wrong)
    return Status::invalidArgument(textOf({"backend '", plugin.name, "' gives its device ", wrong}));
  facts.target = given.target;
  facts.identity = given.identity;
  facts.alignment = alignment;
  facts.freeBytes = given.free_bytes;
  facts.processors = static_cast<int>(std::clamp<uint32_t>(given.processors, 1, 1 << 20));
  facts.hasStacks = (given.flags & ZYX_BACKEND_RUNS_HOST_CODE) != 0;
  if (given.largest_copy_in_graph != 0)
    facts.largestCopyInGraph = given.largest_copy_in_graph;
  facts.place = {given.dlpack_kind, given.dlpack_number};
  DeviceFacts &device = facts.device;
  device.target = facts.target;
  device.identity = facts.identity;
  if (given.architecture)
    device.architecture = given.architecture;
  device.processors = given.processors;
  device.lanes = given.lanes;
  device.megahertz = given.megahertz;
  device.memoryBytes = std::max(given.memory_bytes, given.free_bytes);
  device.alignment = alignment;
  device.workgroupThreads = given.workgroup_threads;
  device.subgroupThreads = given.subgroup_threads;
  device.sharedBytes = given.shared_bytes;
  device.dtypes = allDTypes();
  if (given.dtypes != 0)
    std::erase_if(device.dtypes, [&](DType dtype) { return !(given.dtypes >> static_cast<unsigned>(dtype) & 1); });
  return Status::ok();
}

Result<std::unique_ptr<Backend>> runtime::openPlugin(const Plugin &plugin, std::string name, uint32_t index) {
  auto backend = std::make_unique<PluginBackend>(plugin);
  ZYX_RETURN_IF_ERROR(backend->open(std::move(name), index));
  return std::unique_ptr<Backend>(std::move(backend));
}
