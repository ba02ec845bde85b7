//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FakeCuda.h"

#include "../../lib/Runtime/Devices/Cuda/Driver.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace zyx::runtime::cuda;

namespace zyx::runtime::cuda {
struct ContextTag {};
struct MemoryPoolTag {};
struct EventTag {
  std::chrono::steady_clock::time_point time;
};
struct StreamTag {
  std::vector<std::function<void()>> work;
};
struct FunctionTag {
  std::string name;
};
struct NodeTag {
  /// Checks what the command does, and hands it over.
  std::function<int(Stream)> launch;
};
struct GraphTag {
  std::vector<std::unique_ptr<NodeTag>> nodes;
};
struct GraphExecTag {
  std::vector<Node> order;
  std::map<Node, std::function<int(Stream)>> commands;
};
struct ModuleTag {
  std::map<std::string, FunctionTag> functions;
};
} // namespace zyx::runtime::cuda

namespace {

constexpr int success = 0, invalid = 1, outOfMemory = 2, badImage = 218, notFound = 500, illegalAddress = 700,
              outOfResources = 701, notSupported = 801;

struct State {
  FakeCuda facts;
  std::recursive_mutex mutex;
  int lost = 0;
  ContextTag context;
  MemoryPoolTag pool;
  struct Block {
    size_t size;
    std::shared_ptr<void> owner;
  };
  /// What was given out, until it is given back; a lost device keeps it to its end.
  std::map<uint64_t, Block> memory;
};

State &state() {
  static State &state = *new State;
  return state;
}

/// Every function of the driver holds the lock, and says so where the device is lost.
struct Call {
  Call() : lock(state().mutex) {}
  int code() const { return state().lost; }
  std::lock_guard<std::recursive_mutex> lock;
};

/// Counts down, and is true once.
bool strikes(int &counter) { return counter > 0 && --counter == 0; }

void wait(Stream stream) {
  if (state().facts.slowness)
    std::this_thread::sleep_for(std::chrono::milliseconds(state().facts.slowness));
  std::vector<std::function<void()>> work;
  work.swap(stream->work);
  for (const auto &one : work) {
    if (state().lost)
      break;
    if (strikes(state().facts.loseAtWork))
      state().lost = illegalAddress;
    else
      one();
  }
}

/// Whether the memory was given out.
bool isAlive(uint64_t address, size_t size) {
  auto after = state().memory.upper_bound(address);
  if (after == state().memory.begin())
    return false;
  auto found = std::prev(after);
  return address + size <= found->first + found->second.size;
}

int enqueue(Stream stream, std::function<void()> work) {
  stream->work.push_back(std::move(work));
  return success;
}

template <typename T> int fill(uint64_t to, T value, size_t count, Stream stream) {
  Call call;
  if (call.code())
    return call.code();
  if (!isAlive(to, count * sizeof(T)))
    return invalid;
  return enqueue(stream, [=] {
    for (size_t i = 0; i < count; ++i)
      std::memcpy(reinterpret_cast<char *>(to) + i * sizeof(T), &value, sizeof(T));
  });
}

} // namespace

extern "C" {

// With the types by which they are called.
#define ZYX_DECLARE(member, symbol, parameters) Code symbol parameters;
ZYX_CUDA_FUNCTIONS(ZYX_DECLARE)
ZYX_CUDA_NEWER_FUNCTIONS(ZYX_DECLARE)
#undef ZYX_DECLARE

FakeCuda *zyxFakeCuda() { return &state().facts; }
void zyxFakeCudaReset() {
  Call call;
  state().facts = {};
  state().lost = 0;
  state().memory.clear();
}

int cuInit(unsigned) { return state().facts.initCode; }
int cuDriverGetVersion(int *version) {
  // The first that is asked: tests of programs set these from outside.
  if (const char *given = std::getenv("FAKE_CUDA_VERSION"))
    state().facts.version = std::atoi(given);
  if (const char *given = std::getenv("FAKE_CUDA_CAPABILITY"))
    state().facts.capability = std::atoi(given);
  *version = state().facts.version;
  return success;
}
int cuGetErrorName(int code, const char **name) {
  *name = code == illegalAddress   ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == outOfMemory    ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == badImage       ? "CUDA_ERROR_INVALID_PTX"
          : code == outOfResources ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
          : code == 100            ? "CUDA_ERROR_NO_DEVICE"
                                   : nullptr;
  return *name ? success : invalid;
}
int cuGetErrorString(int, const char **text) {
  *text = "says the fake driver";
  return success;
}
int cuDeviceGetCount(int *count) {
  *count = state().facts.devices;
  return success;
}
int cuDeviceGet(int *device, int index) {
  *device = index;
  return index < state().facts.devices ? success : 101;
}
int cuDeviceGetName(char *name, int size, int) {
  std::strncpy(name, "Fake card", static_cast<size_t>(size));
  return success;
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  const int capability = state().facts.capability;
  *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : attribute == 16 ? 4 : 0;
  return success;
}
int cuDeviceTotalMem_v2(size_t *bytes, int) {
  *bytes = state().facts.memoryBytes;
  return success;
}
int cuDeviceGetDefaultMemPool(MemoryPoolHandle *pool, int) {
  *pool = &state().pool;
  return success;
}
int cuMemPoolSetAttribute(MemoryPoolHandle, int, void *) { return success; }
int cuMemPoolTrimTo(MemoryPoolHandle, size_t) {
  Call call;
  ++state().facts.trims;
  return call.code();
}
int cuDevicePrimaryCtxRetain(Context *context, int) {
  Call call;
  ++state().facts.contexts;
  *context = &state().context;
  return success;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  Call call;
  --state().facts.contexts;
  return success;
}
int cuCtxSetCurrent(Context) { return success; }
int cuStreamCreate(Stream *stream, unsigned) {
  Call call;
  ++state().facts.streams;
  *stream = new StreamTag;
  return call.code();
}
int cuStreamDestroy_v2(Stream stream) {
  Call call;
  --state().facts.streams;
  delete stream;
  return success;
}
int cuStreamSynchronize(Stream stream) {
  Call call;
  wait(stream);
  return call.code();
}
int cuEventCreate(Event *event, unsigned) {
  Call call;
  ++state().facts.events;
  *event = new EventTag;
  return call.code();
}
int cuEventDestroy_v2(Event event) {
  Call call;
  --state().facts.events;
  delete event;
  return success;
}
/// The stream on which it was recorded last comes with it: there is one stream in all.
static Stream recorded = nullptr;
int cuEventRecord(Event event, Stream stream) {
  Call call;
  recorded = stream;
  if (call.code())
    return call.code();
  return enqueue(stream, [=] { event->time = std::chrono::steady_clock::now(); });
}
int cuEventSynchronize(Event) {
  Call call;
  wait(recorded);
  return call.code();
}
int cuEventElapsedTime(float *milliseconds, Event begin, Event end) {
  Call call;
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return call.code();
}
int cuMemAllocAsync(uint64_t *address, size_t size, Stream) {
  Call call;
  if (call.code())
    return call.code();
  if (strikes(state().facts.failAllocation) || state().facts.allocations == state().facts.room)
    return outOfMemory;
  void *memory = nullptr;
  if (::posix_memalign(&memory, 256, (size + 511) / 256 * 256) != 0)
    return outOfMemory;
  const std::shared_ptr<void> owner(memory, std::free);
  memory = static_cast<char *>(memory) + state().facts.shift;
  // Nobody may rely on what is there.
  std::memset(memory, 0xa5, size);
  *address = reinterpret_cast<uint64_t>(memory);
  state().memory[*address] = {size, owner};
  ++state().facts.allocations;
  return success;
}
int cuMemFreeAsync(uint64_t address, Stream stream) {
  Call call;
  if (call.code())
    return call.code();
  const auto found = state().memory.find(address);
  if (found == state().memory.end())
    return invalid;
  --state().facts.allocations;
  // It goes with the work that stands in the stream.
  const std::shared_ptr<void> owner = found->second.owner;
  state().memory.erase(found);
  return enqueue(stream, [owner] {});
}
int cuMemHostAlloc(void **memory, size_t size, unsigned) {
  Call call;
  if (strikes(state().facts.failPinned))
    return outOfMemory;
  *memory = std::malloc(size);
  ++state().facts.pinned;
  return call.code();
}
int cuMemFreeHost(void *memory) {
  Call call;
  --state().facts.pinned;
  std::free(memory);
  return success;
}
static int copyLater(void *to, const void *from, size_t size, uint64_t onDevice, Stream stream) {
  Call call;
  if (call.code())
    return call.code();
  if (!isAlive(onDevice, size))
    return invalid;
  return enqueue(stream, [=] { std::memcpy(to, from, size); });
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, Stream stream) {
  return copyLater(reinterpret_cast<void *>(to), from, size, to, stream);
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, Stream stream) {
  return copyLater(to, reinterpret_cast<const void *>(from), size, from, stream);
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, Stream stream) {
  if (to < from + size && from < to + size)
    return invalid;
  return copyLater(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), size, from, stream);
}
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, Stream stream) {
  return fill(to, value, count, stream);
}
int cuMemsetD16Async(uint64_t to, unsigned short value, size_t count, Stream stream) {
  return fill(to, value, count, stream);
}
int cuMemsetD32Async(uint64_t to, unsigned value, size_t count, Stream stream) {
  return fill(to, value, count, stream);
}
int cuMemsetD2D32Async(uint64_t to, size_t pitch, unsigned value, size_t width, size_t height, Stream stream) {
  for (size_t row = 0; row < height; ++row)
    if (int code = fill(to + row * pitch, value, width, stream))
      return code;
  return success;
}
int cuStreamWaitValue32_v2(Stream stream, uint64_t address, uint32_t value, unsigned) {
  Call call;
  if (call.code())
    return call.code();
  ++state().facts.gates;
  return enqueue(stream, [=] { state().facts.stuck += *reinterpret_cast<const volatile uint32_t *>(address) != value; });
}
int cuModuleLoadDataEx(Module *module, const void *image, unsigned count, int *options, void **values) {
  Call call;
  if (call.code())
    return call.code();
  if (std::strstr(static_cast<const char *>(image), "broken")) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == 5)
        std::strcpy(static_cast<char *>(values[i]), "line 1 is broken");
    return badImage;
  }
  ++state().facts.modules;
  *module = new ModuleTag;
  return success;
}
int cuModuleUnload(Module module) {
  Call call;
  --state().facts.modules;
  delete module;
  return success;
}
int cuModuleGetFunction(Function *function, Module module, const char *name) {
  Call call;
  if (std::strncmp(name, "missing", 7) == 0)
    return notFound;
  FunctionTag &made = module->functions[name];
  made.name = name;
  *function = &made;
  return call.code();
}
int cuFuncSetAttribute(Function, int, int) { return success; }
/// In the map: the address, the extents, and what the box has along the first dimension.
int cuTensorMapEncodeTiled(TensorMap *map, int type, unsigned rank, void *address, const uint64_t *extents,
                           const uint64_t *strides, const unsigned *box, const unsigned *every, int interleave,
                           int swizzle, int, int fill) {
  Call call;
  if (call.code())
    return call.code();
  const auto place = reinterpret_cast<uint64_t>(address);
  uint64_t bytes = extents[0] * (uint64_t(1) << type);
  for (unsigned i = 1; i < rank; ++i) {
    if (strides[i - 1] % 16 != 0)
      return invalid;
    bytes += strides[i - 1] * (extents[i] - 1);
  }
  if (reinterpret_cast<uintptr_t>(map) % 64 != 0 || place % 16 != 0 || !isAlive(place, bytes) || every[0] != 1 ||
      interleave != 0 || fill != 0 || swizzle < 1 || swizzle > 3)
    return invalid;
  ++state().facts.tensorMaps;
  map->words[0] = place;
  map->words[1] = box[0];
  return success;
}
/// As boxes, with pixels for the elements that the box has.
int cuTensorMapEncodeIm2col(TensorMap *map, int type, unsigned rank, void *address, const uint64_t *extents,
                            const uint64_t *strides, const int *low, const int *high, unsigned channels,
                            unsigned pixels, const unsigned *steps, int interleave, int swizzle, int promotion,
                            int fill) {
  if (rank < 3 || rank > 5 || channels > 256 || pixels > 1024)
    return invalid;
  for (unsigned i = 0; i + 2 < rank; ++i) {
    // There is a window along each dimension, and none begins so far away that nobody can say where.
    const int reach = rank == 3 ? 32768 : rank == 4 ? 128 : 16;
    if (low[i] < -reach || low[i] >= reach || high[i] < -reach || high[i] >= reach || steps[i + 1] < 1 ||
        steps[i + 1] > 8 || static_cast<int64_t>(extents[i + 1]) - 1 + high[i] < low[i])
      return invalid;
  }
  const unsigned every[] = {1};
  if (const int code = cuTensorMapEncodeTiled(map, type, rank, address, extents, strides, &pixels, every, interleave,
                                              swizzle, promotion, fill))
    return code;
  for (unsigned i = 0; i + 2 < rank; ++i) {
    state().facts.lastLow[i] = low[i];
    state().facts.lastHigh[i] = high[i];
    state().facts.lastSteps[i] = steps[i + 1];
  }
  return success;
}
/// Takes the parameters now, as the driver does.
static std::function<int(Stream)> prepare(Function function, unsigned groups, unsigned threads, void **parameters) {
  const std::string name = function->name;
  const bool isMapped = name.rfind("mapped", 0) == 0;
  const bool computes = name.rfind("increment", 0) == 0 || isMapped;
  // In, out, scratch, programs.
  std::array<uint64_t, 4> given = {};
  if (computes)
    for (size_t i = 0; i < 4; ++i)
      std::memcpy(&given[i], parameters[i + isMapped], sizeof(uint64_t));
  if (isMapped)
    std::memcpy(&given[0], parameters[0], sizeof(uint64_t));
  return [=](Stream stream) -> int {
    ++state().facts.launches;
    state().facts.lastGroups = groups;
    state().facts.lastThreads = threads;
    if (name.rfind("trap", 0) == 0 ||
        (computes && (!isAlive(given[0], 4 * given[3]) || !isAlive(given[1], 4 * given[3]))))
      return enqueue(stream, [] { state().lost = illegalAddress; });
    return enqueue(stream, [=] {
      for (uint64_t i = 0; computes && i < given[3]; ++i)
        reinterpret_cast<int32_t *>(given[1])[i] = reinterpret_cast<const int32_t *>(given[0])[i] + 1;
    });
  };
}
int cuLaunchKernel(Function function, unsigned groups, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned, Stream stream, void **parameters, void **) {
  Call call;
  if (call.code())
    return call.code();
  return strikes(state().facts.failLaunch) ? outOfResources : prepare(function, groups, threads, parameters)(stream);
}

static std::function<int(Stream)> prepare(const KernelNode &kernel) {
  return prepare(kernel.function, kernel.groups[0], kernel.threads[0], kernel.parameters);
}
static std::function<int(Stream)> prepare(const CopyNode &copy) {
  return [=](Stream stream) { return cuMemcpyDtoDAsync_v2(copy.to.address, copy.from.address, copy.width, stream); };
}
static std::function<int(Stream)> prepare(const FillNode &fill) {
  return [=](Stream stream) {
    if (fill.height != 1)
      return cuMemsetD2D32Async(fill.address, fill.pitch, fill.value, fill.width, fill.height, stream);
    return fill.elementBytes == 1   ? cuMemsetD8Async(fill.address, static_cast<unsigned char>(fill.value), fill.width, stream)
           : fill.elementBytes == 2 ? cuMemsetD16Async(fill.address, static_cast<unsigned short>(fill.value), fill.width, stream)
                                    : cuMemsetD32Async(fill.address, fill.value, fill.width, stream);
  };
}
/// What every call of a graph says first.
static int enterGraph(const Call &call) {
  return call.code() ? call.code() : strikes(state().facts.failGraph) || state().facts.hasNoGraphs ? notSupported : success;
}
} // extern "C"

/// Commands stand one behind the other: others are none of ours.
template <typename Command>
static int addNode(Node *node, Graph graph, const Node *before, size_t count, const Command &command) {
  Call call;
  if (int code = enterGraph(call))
    return code;
  if (graph->nodes.empty() ? count != 0 : count != 1 || *before != graph->nodes.back().get())
    return invalid;
  graph->nodes.push_back(std::make_unique<NodeTag>(NodeTag{prepare(command)}));
  *node = graph->nodes.back().get();
  return success;
}
template <typename Command> static int setNode(GraphExec made, Node node, const Command &command) {
  Call call;
  if (int code = enterGraph(call))
    return code;
  ++state().facts.graphUpdates;
  made->commands.at(node) = prepare(command);
  return success;
}

extern "C" {

int cuGraphCreate(Graph *graph, unsigned) {
  Call call;
  if (int code = enterGraph(call))
    return code;
  ++state().facts.graphs;
  *graph = new GraphTag;
  return success;
}
int cuGraphDestroy(Graph graph) {
  Call call;
  --state().facts.graphs;
  delete graph;
  return success;
}
int cuGraphAddKernelNode(Node *node, Graph graph, const Node *before, size_t count, const KernelNode *kernel) {
  return addNode(node, graph, before, count, *kernel);
}
int cuGraphAddMemcpyNode(Node *node, Graph graph, const Node *before, size_t count, const CopyNode *copy, Context) {
  return addNode(node, graph, before, count, *copy);
}
int cuGraphAddMemsetNode(Node *node, Graph graph, const Node *before, size_t count, const FillNode *fill, Context) {
  return addNode(node, graph, before, count, *fill);
}
int cuGraphInstantiateWithFlags(GraphExec *made, Graph graph, unsigned long long) {
  Call call;
  if (int code = enterGraph(call))
    return code;
  ++state().facts.graphs;
  *made = new GraphExecTag;
  for (const auto &node : graph->nodes) {
    (*made)->order.push_back(node.get());
    (*made)->commands[node.get()] = node->launch;
  }
  return success;
}
int cuGraphExecDestroy(GraphExec made) {
  Call call;
  --state().facts.graphs;
  delete made;
  return success;
}
int cuGraphExecKernelNodeSetParams(GraphExec made, Node node, const KernelNode *kernel) {
  return setNode(made, node, *kernel);
}
int cuGraphExecMemcpyNodeSetParams(GraphExec made, Node node, const CopyNode *copy, Context) {
  return setNode(made, node, *copy);
}
int cuGraphExecMemsetNodeSetParams(GraphExec made, Node node, const FillNode *fill, Context) {
  return setNode(made, node, *fill);
}
int cuGraphLaunch(GraphExec made, Stream stream) {
  Call call;
  if (int code = enterGraph(call))
    return code;
  if (strikes(state().facts.failLaunch))
    return outOfResources;
  ++state().facts.graphLaunches;
  for (Node node : made->order)
    if (int code = made->commands.at(node)(stream))
      return code;
  return success;
}

} // extern "C"
