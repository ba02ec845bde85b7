//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FakeCuda.h"

#include "Kernels.h"
#include "ptx/TensorMap.h"

#include "../../lib/Runtime/Devices/Cuda/Driver.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace zyx::runtime::cuda;

namespace zyx::runtime::cuda {
struct ContextTag {
  int device;
};
struct MemoryPoolTag {
  int device;
  /// Other devices that reach its memory.
  std::set<int> readers;
};
struct StreamTag {
  int device;
  std::deque<std::function<void()>> work;
  /// Pieces of work that were handed over, those that are over, and up to the last that is a launch or waits for one.
  uint64_t handed = 0, over = 0, ofRuns = 0;
};
struct EventTag {
  /// Work may write it when the event is no more.
  std::shared_ptr<std::chrono::steady_clock::time_point> time;
  /// Where it was recorded last.
  std::shared_ptr<StreamTag> stream;
  uint64_t number = 0;
};
struct FunctionTag {
  std::string name;
  /// Null where the kernel is not executed.
  std::shared_ptr<const zyx::ptx::Module> module;
  const zyx::ptx::Program *program = nullptr;
};
/// Checks what a command does, and hands it over; a kernel may be told to begin before the one in front is over.
using Work = std::function<int(Stream, bool isEarly)>;
struct NodeTag {
  Work launch;
  bool isKernel = false;
  /// What it is behind. Where it begins early, that is one kernel.
  std::vector<Node> before;
  bool isEarly = false;
};
struct GraphTag {
  std::vector<std::unique_ptr<NodeTag>> nodes;
};
struct GraphExecTag {
  /// In the order in which they were added.
  std::vector<NodeTag> nodes;
  std::map<Node, size_t> numbers;
};
struct ModuleTag {
  std::map<std::string, FunctionTag> functions;
  /// Of text that is executed.
  std::shared_ptr<const zyx::ptx::Module> kernels;
};
} // namespace zyx::runtime::cuda

namespace {

constexpr int success = 0, invalid = 1, outOfMemory = 2, invalidContext = 201, badImage = 218, invalidHandle = 400,
              notFound = 500, illegalAddress = 700, outOfResources = 701, launchFailed = 719, notSupported = 801;
constexpr int mostDevices = 8;

struct Card {
  explicit Card(int number) : context{number} {}
  int lost = 0;
  ContextTag context;
};

struct State {
  State() {
    for (int i = 0; i < mostDevices; ++i)
      cards.emplace_back(i);
  }
  FakeCuda facts;
  std::recursive_mutex mutex;
  std::deque<Card> cards;
  struct Block {
    size_t size;
    int device;
    std::shared_ptr<void> owner;
    std::shared_ptr<MemoryPoolTag> pool;
    /// Whether the stream on which it was allocated has come there: others may use it from then on.
    std::shared_ptr<bool> isThere;
  };
  /// What was given out, until it is given back; a lost device keeps it to its end.
  std::map<uint64_t, Block> memory;
  /// What was given back, while work that stands before that may still use it.
  std::map<uint64_t, Block> leaving;
  std::map<Stream, std::shared_ptr<StreamTag>> streams;
  /// Of each card, the one that its driver has by itself.
  std::map<int, Stream> ownStreams;
  std::map<MemoryPoolHandle, std::shared_ptr<MemoryPoolTag>> pools;
  /// The word for which a stream waits.
  std::atomic<const uint32_t *> gate = nullptr;
  std::atomic<bool> areRunsHeld = false;
  /// Waits that were held by that, so far.
  std::atomic<int> numHeld = 0;
};

State &state() {
  static State &state = *new State;
  return state;
}

/// The devices of the calling thread's contexts; the last one is current. Without a destructor: a program's statics
/// free their buffers when those of its main thread are gone.
class ContextStack {
public:
  bool push(int device) {
    if (count == devices.size())
      return false;
    devices[count++] = device;
    return true;
  }
  void pop() { --count; }
  bool empty() const { return count == 0; }
  size_t size() const { return count; }
  int back() const { return devices[count - 1]; }

private:
  std::array<int, 64> devices{};
  size_t count = 0;
};
thread_local ContextStack contexts;
struct Current {
  operator int() const { return contexts.empty() ? -1 : contexts.back(); }
} current;

/// What needs no context, and succeeds.
template <typename F> int always(F &&body) {
  std::lock_guard lock(state().mutex);
  body();
  return success;
}
/// What needs one; where the device is lost, that is what it says.
template <typename F> int onDevice(F &&body) {
  std::lock_guard lock(state().mutex);
  if (current < 0)
    return invalidContext;
  if (state().cards[current].lost)
    return state().cards[current].lost;
  return body();
}
/// What is done on a stream of the current context.
template <typename F> int onStream(Stream stream, F &&body) {
  return onDevice(
      [&] { return state().streams.contains(stream) && stream->device == current ? body() : invalidHandle; });
}

/// Whether a stream is one of the driver itself: that which all others wait for, or that of a thread.
bool isDrivers(Stream stream) {
  constexpr uintptr_t legacy = 1, perThread = 2;
  const auto number = reinterpret_cast<uintptr_t>(stream);
  return number == legacy || number == perThread;
}
/// The same of any stream. Here the driver has one for both, and nobody waits for it by itself.
template <typename F> int onAnyStream(Stream stream, F &&body) {
  if (!isDrivers(stream))
    return onStream(stream, [&] { return body(stream); });
  return onDevice([&] {
    auto [own, isNew] = state().ownStreams.try_emplace(int(current));
    if (isNew) {
      auto made = std::make_shared<StreamTag>(StreamTag{int(current), {}});
      own->second = made.get();
      state().streams[made.get()] = std::move(made);
    }
    return body(own->second);
  });
}

/// Counts down, and is true once.
bool strikes(int &counter) { return counter > 0 && --counter == 0; }

/// Work of a device that is lost is over without being done.
void run(StreamTag &stream, uint64_t number) {
  while (stream.over < number && !stream.work.empty()) {
    const std::function<void()> one = std::move(stream.work.front());
    stream.work.pop_front();
    int &lost = state().cards[stream.device].lost;
    if (!lost && strikes(state().facts.loseAtWork))
      lost = illegalAddress;
    else if (!lost)
      one();
    ++stream.over;
  }
}

/// Before somebody waits for a stream to have done so many pieces of work, without the lock.
void beSlow(const std::function<bool()> &isOfRuns) {
  if (state().facts.slowness)
    std::this_thread::sleep_for(std::chrono::milliseconds(state().facts.slowness));
  const auto isHeld = [&] {
    std::lock_guard lock(state().mutex);
    return isOfRuns();
  };
  if (state().areRunsHeld && isHeld())
    ++state().numHeld;
  while (state().areRunsHeld && isHeld())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Whether a device reaches this memory, and it was given out.
bool isAlive(uint64_t address, size_t size, int device) {
  auto after = state().memory.upper_bound(address);
  if (after == state().memory.begin())
    return false;
  const auto &[begin, block] = *std::prev(after);
  const bool isReached = block.device == device || block.pool->readers.contains(device);
  return isReached && address + size <= begin + block.size;
}

/// Of what is done now: whether the memory is allocated there, and not yet free.
void checkOrder(uint64_t address, size_t size) {
  for (const auto *blocks : {&state().memory, &state().leaving}) {
    const auto after = blocks->upper_bound(address);
    if (after == blocks->begin())
      continue;
    const auto &[begin, block] = *std::prev(after);
    if (address + size <= begin + block.size) {
      state().facts.unordered += !*block.isThere;
      return;
    }
  }
  ++state().facts.unordered;
}

int enqueue(Stream stream, std::function<void()> work) {
  stream->work.push_back(std::move(work));
  ++stream->handed;
  return success;
}

template <typename T> int fill(uint64_t to, T value, size_t count, Stream stream) {
  return onStream(stream, [=] {
    if (!isAlive(to, count * sizeof(T), stream->device))
      return invalid;
    ++state().facts.fills;
    return enqueue(stream, [=] {
      checkOrder(to, count * sizeof(T));
      for (size_t i = 0; i < count; ++i)
        std::memcpy(reinterpret_cast<char *>(to) + i * sizeof(T), &value, sizeof(T));
    });
  });
}

} // namespace

extern "C" {

// With the types by which they are called.
#define ZYX_DECLARE_SHARED(member, symbol, hip, parameters) Code symbol parameters;
#define ZYX_DECLARE(member, symbol, parameters) Code symbol parameters;
ZYX_DRIVER_FUNCTIONS(ZYX_DECLARE_SHARED)
ZYX_CUDA_FUNCTIONS(ZYX_DECLARE)
ZYX_CUDA_NEWER_FUNCTIONS(ZYX_DECLARE)
#undef ZYX_DECLARE_SHARED
#undef ZYX_DECLARE

FakeCuda *zyxFakeCuda() { return &state().facts; }
void zyxFakeCudaReset() {
  always([] {
    state().facts = {};
    state().memory.clear();
    state().leaving.clear();
    state().areRunsHeld = false;
    state().gate = nullptr;
    for (Card &card : state().cards)
      card.lost = 0;
  });
}
int zyxFakeCudaHoldRuns(int areHeld) {
  if (areHeld >= 0)
    state().areRunsHeld = areHeld != 0;
  return areHeld < 0 ? state().numHeld.load() : state().numHeld.exchange(0);
}
int zyxFakeCudaEarlyWaits() {
  int waits = 0;
  always([&] { waits = state().facts.earlyWaits; });
  return waits;
}
int zyxFakeCudaAllocationFaults() {
  int faults = 0;
  always([&] { faults = state().facts.failAllocation; });
  return faults;
}

int cuInit(unsigned) { return state().facts.initCode; }
int cuDriverGetVersion(int *version) {
  // The first that is asked: tests of programs set these from outside.
  if (const char *given = std::getenv("FAKE_CUDA_VERSION"))
    state().facts.version = std::atoi(given);
  if (const char *given = std::getenv("FAKE_CUDA_CAPABILITY"))
    state().facts.capability = std::atoi(given);
  if (const char *given = std::getenv("FAKE_CUDA_PROCESSORS"))
    state().facts.processors = std::max(1, std::atoi(given));
  if (const char *given = std::getenv("FAKE_CUDA_SEED"))
    state().facts.graphSeed = std::strtoull(given, nullptr, 0);
  *version = state().facts.version;
  return success;
}
int cuGetErrorName(int code, const char **name) {
  *name = code == illegalAddress   ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == invalid        ? "CUDA_ERROR_INVALID_VALUE"
          : code == outOfMemory    ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == badImage       ? "CUDA_ERROR_INVALID_PTX"
          : code == outOfResources ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
          : code == launchFailed   ? "CUDA_ERROR_LAUNCH_FAILED"
          : code == invalidHandle  ? "CUDA_ERROR_INVALID_HANDLE"
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
  switch (attribute) {
  case 1:
    *value = 1024;
    break;
  case 10:
    *value = 32;
    break;
  case 13:
    *value = state().facts.kilohertz;
    break;
  case 16:
    *value = state().facts.processors;
    break;
  case 75:
    *value = capability / 10;
    break;
  case 76:
    *value = capability % 10;
    break;
  case 97:
    *value = 227 << 10;
    break;
  default:
    *value = 0;
  }
  return success;
}
int cuDeviceTotalMem_v2(size_t *bytes, int) {
  *bytes = state().facts.memoryBytes;
  return success;
}
int cuMemGetInfo_v2(size_t *free, size_t *all) {
  return onDevice([&] {
    *all = state().facts.memoryBytes;
    *free = state().facts.memoryBytes - state().facts.othersBytes;
    return success;
  });
}
int cuMemPoolCreate(MemoryPoolHandle *pool, const PoolProperties *properties) {
  return always([&] {
    ++state().facts.pools;
    auto made = std::make_shared<MemoryPoolTag>(MemoryPoolTag{properties->device, {}});
    *pool = made.get();
    state().pools[made.get()] = std::move(made);
  });
}
int cuMemPoolDestroy(MemoryPoolHandle pool) {
  return always([=] {
    --state().facts.pools;
    state().pools.erase(pool);
  });
}
int cuMemPoolSetAttribute(MemoryPoolHandle, int, void *) { return success; }
int cuMemPoolTrimTo(MemoryPoolHandle pool, size_t) {
  std::lock_guard lock(state().mutex);
  ++state().facts.trims;
  return state().cards[pool->device].lost;
}
int cuDeviceCanAccessPeer(int *reaches, int, int) {
  return always([=] { *reaches = state().facts.arePeers; });
}
int cuMemPoolSetAccess(MemoryPoolHandle pool, const PoolAccess *access, size_t count) {
  std::lock_guard lock(state().mutex);
  if (strikes(state().facts.failAccess) || count != 1 || access->placeKind != 1 || access->access != 3 ||
      access->device == pool->device || !state().facts.arePeers)
    return invalid;
  pool->readers.insert(access->device);
  return state().cards[pool->device].lost;
}
int cuDevicePrimaryCtxRetain(Context *context, int device) {
  return always([&] {
    ++state().facts.contexts;
    *context = &state().cards.at(device).context;
  });
}
int cuDevicePrimaryCtxRelease_v2(int) {
  return always([] { --state().facts.contexts; });
}
int cuCtxPushCurrent_v2(Context context) { return contexts.push(context->device) ? success : outOfMemory; }
int cuCtxPopCurrent_v2(Context *context) {
  if (contexts.empty())
    return invalidContext;
  *context = &state().cards.at(contexts.back()).context;
  contexts.pop();
  return success;
}
int zyxFakeCudaCurrent() { return current; }
int zyxFakeCudaDepth() { return static_cast<int>(contexts.size()); }
int cuStreamCreate(Stream *stream, unsigned) {
  return onDevice([&] {
    ++state().facts.streams;
    auto made = std::make_shared<StreamTag>(StreamTag{int(current), {}});
    *stream = made.get();
    state().streams[made.get()] = std::move(made);
    return success;
  });
}
int cuStreamDestroy_v2(Stream stream) {
  return always([=] {
    --state().facts.streams;
    // Who waits for an event of it has it still.
    state().streams.erase(stream);
  });
}
int cuStreamSynchronize(Stream stream) {
  if (!isDrivers(stream))
    beSlow([=] { return stream->ofRuns > stream->over; });
  return onAnyStream(stream, [=](Stream stream) {
    run(*stream, stream->handed);
    return state().cards[current].lost;
  });
}
int cuStreamWaitEvent(Stream stream, Event event, unsigned) {
  return onAnyStream(stream, [=](Stream stream) {
    if (strikes(state().facts.failWait) || !event->stream)
      return invalid;
    ++state().facts.eventWaits;
    state().facts.earlyWaits += event->stream->over < event->number;
    if (event->stream->ofRuns > event->stream->over)
      stream->ofRuns = stream->handed + 1;
    return enqueue(stream, [other = event->stream, number = event->number] { run(*other, number); });
  });
}
int cuEventCreate(Event *event, unsigned) {
  return onDevice([=] {
    ++state().facts.events;
    *event = new EventTag;
    return success;
  });
}
int cuEventDestroy_v2(Event event) {
  return always([=] {
    --state().facts.events;
    delete event;
  });
}
int cuEventRecord(Event event, Stream stream) {
  return onAnyStream(stream, [=](Stream stream) {
    event->time = std::make_shared<std::chrono::steady_clock::time_point>();
    event->stream = state().streams.at(stream);
    event->number = stream->handed + 1;
    return enqueue(stream, [time = event->time] { *time = std::chrono::steady_clock::now(); });
  });
}
int cuEventSynchronize(Event event) {
  beSlow([=] { return event->stream->ofRuns > event->stream->over && event->stream->over < event->number; });
  return onDevice([=] {
    run(*event->stream, event->number);
    return state().cards[current].lost;
  });
}
int cuEventElapsedTime(float *milliseconds, Event begin, Event end) {
  return onDevice([=] {
    *milliseconds = std::chrono::duration<float, std::milli>(*end->time - *begin->time).count();
    return success;
  });
}
int cuMemAllocFromPoolAsync(uint64_t *address, size_t size, MemoryPoolHandle pool, Stream stream) {
  return onStream(stream, [=] {
    if (pool->device != current)
      return invalid;
    if (strikes(state().facts.failAllocation) || state().facts.allocations == state().facts.room)
      return outOfMemory;
    void *memory = nullptr;
    if (::posix_memalign(&memory, 256, (size + 511) / 256 * 256) != 0)
      return outOfMemory;
    const std::shared_ptr<void> owner(memory, std::free);
    memory = static_cast<char *>(memory) + state().facts.shift;
    // Nobody may rely on what is there. Programs whose kernels do nothing have results that a program can go on with
    // where that is asked for.
    const char *given = std::getenv("FAKE_CUDA_FILL");
    std::memset(memory, given ? std::atoi(given) : 0xa5, size);
    *address = reinterpret_cast<uint64_t>(memory);
    const auto isThere = std::make_shared<bool>(false);
    state().memory[*address] = {size, current, owner, state().pools.at(pool), isThere};
    ++state().facts.allocations;
    ++state().facts.allocated;
    return enqueue(stream, [=] { *isThere = true; });
  });
}
int cuMemFreeAsync(uint64_t address, Stream stream) {
  return onStream(stream, [=] {
    const auto found = state().memory.find(address);
    if (found == state().memory.end() || found->second.device != current)
      return invalid;
    --state().facts.allocations;
    // It goes with the work that stands in the stream.
    state().leaving.insert_or_assign(address, found->second);
    state().memory.erase(found);
    return enqueue(stream, [address] { state().leaving.erase(address); });
  });
}
int cuMemHostAlloc(void **memory, size_t size, unsigned) {
  return onDevice([=] {
    if (strikes(state().facts.failPinned))
      return outOfMemory;
    *memory = std::malloc(size);
    ++state().facts.pinned;
    return success;
  });
}
int cuMemFreeHost(void *memory) {
  return always([=] {
    --state().facts.pinned;
    if (state().gate == memory)
      state().gate = nullptr;
    std::free(memory);
  });
}
/// Each end that is memory of a device.
static int copyLater(void *to, const void *from, size_t size, std::initializer_list<uint64_t> onDevices,
                     Stream stream) {
  return onStream(stream, [&] {
    for (uint64_t address : onDevices)
      if (!isAlive(address, size, current))
        return invalid;
    return enqueue(stream, [=, memory = std::vector<uint64_t>(onDevices)] {
      for (uint64_t address : memory)
        checkOrder(address, size);
      std::memcpy(to, from, size);
    });
  });
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, Stream stream) {
  always([=] {
    state().facts.hostBytes += size;
    ++state().facts.uploads;
  });
  return copyLater(reinterpret_cast<void *>(to), from, size, {to}, stream);
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, Stream stream) {
  always([=] { state().facts.hostBytes += size; });
  return copyLater(to, reinterpret_cast<const void *>(from), size, {from}, stream);
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, Stream stream) {
  if (to < from + size && from < to + size)
    return invalid;
  return copyLater(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), size, {to, from}, stream);
}
int cuMemcpyPeerAsync(uint64_t to, Context, uint64_t from, Context, size_t size, Stream stream) {
  bool fails = false;
  always([&] {
    ++state().facts.peerCopies;
    fails = strikes(state().facts.failPeerCopy);
  });
  return fails
             ? invalid
             : copyLater(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), size, {to, from}, stream);
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
  return onStream(stream, [=] {
    if (state().facts.hasNoGates)
      return notSupported;
    ++state().facts.gates;
    const auto *gate = reinterpret_cast<const uint32_t *>(address);
    state().gate = gate;
    return enqueue(stream, [=] { state().facts.stuck += __atomic_load_n(gate, __ATOMIC_ACQUIRE) != value; });
  });
}
int cuModuleLoadDataEx(Module *module, const void *image, unsigned count, int *options, void **values) {
  return onDevice([=] {
    if (std::strstr(static_cast<const char *>(image), "broken")) {
      for (unsigned i = 0; i < count; ++i)
        if (options[i] == 5)
          std::strcpy(static_cast<char *>(values[i]), "line 1 is broken");
      return badImage;
    }
    if (const char *target = std::strstr(static_cast<const char *>(image), ".target "))
      std::sscanf(target, ".target %15[a-z0-9_]", state().facts.lastTarget);
    std::shared_ptr<const zyx::ptx::Module> kernels;
    if (isExecuted(static_cast<const char *>(image))) {
      std::string log;
      kernels = loadKernels(static_cast<const char *>(image), log);
      size_t room = 0;
      for (unsigned i = 0; i < count; ++i)
        if (options[i] == 6)
          room = reinterpret_cast<size_t>(values[i]);
      for (unsigned i = 0; i < count; ++i)
        if (options[i] == 5 && room)
          std::snprintf(static_cast<char *>(values[i]), room, "%s", log.c_str());
      if (!kernels)
        return badImage;
    }
    ++state().facts.modules;
    *module = new ModuleTag{{}, kernels};
    return success;
  });
}
int cuModuleUnload(Module module) {
  return always([=] {
    --state().facts.modules;
    delete module;
  });
}
int cuModuleGetFunction(Function *function, Module module, const char *name) {
  return onDevice([=] {
    if (std::strncmp(name, "missing", 7) == 0)
      return notFound;
    FunctionTag &made = module->functions[name];
    made.name = name;
    made.module = module->kernels;
    if (module->kernels) {
      made.program = nullptr;
      for (const zyx::ptx::Program &program : module->kernels->programs)
        if (program.name == name)
          made.program = &program;
      if (!made.program)
        return notFound;
    }
    *function = &made;
    return success;
  });
}
int cuFuncSetAttribute(Function, int, int) { return success; }
int cuFuncGetAttribute(int *value, int attribute, Function function) {
  if (strikes(state().facts.failQuestion))
    return invalid;
  *value = attribute == 1 && function->program ? static_cast<int>(function->program->sharedBytes) : 0;
  return attribute == 1 ? success : invalid;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *groups, Function function, int threads, size_t sharedBytes) {
  if (strikes(state().facts.failQuestion))
    return invalid;
  static const zyx::ptx::Program nothing;
  zyx::ptx::Launch launch;
  launch.program = function->program ? function->program : &nothing;
  launch.threads[0] = static_cast<unsigned>(threads);
  launch.dynamicSharedBytes = static_cast<uint32_t>(sharedBytes);
  *groups = static_cast<int>(zyx::ptx::residentGroups(launch));
  return success;
}
/// In the map: what copies need of it, the address first.
int cuTensorMapEncodeTiled(TensorMap *map, int type, unsigned rank, void *address, const uint64_t *extents,
                           const uint64_t *strides, const unsigned *box, const unsigned *every, int interleave,
                           int swizzle, int, int fill) {
  return onDevice([&] {
    const auto place = reinterpret_cast<uint64_t>(address);
    uint64_t bytes = extents[0] * (uint64_t(1) << type);
    for (unsigned i = 1; i < rank; ++i) {
      if (strides[i - 1] % 16 != 0)
        return invalid;
      bytes += strides[i - 1] * (extents[i] - 1);
    }
    if (reinterpret_cast<uintptr_t>(map) % 64 != 0 || place % 16 != 0 || !isAlive(place, bytes, current) ||
        every[0] != 1 || interleave != 0 || fill != 0 || swizzle < 1 || swizzle > 3)
      return invalid;
    ++state().facts.tensorMaps;
    zyx::ptx::TensorMap made;
    made.address = place;
    made.rank = rank;
    made.elementBytes = 1u << type;
    made.swizzle = 16u << swizzle;
    for (unsigned i = 0; i < rank; ++i) {
      made.extents[i] = extents[i];
      made.strides[i] = i == 0 ? made.elementBytes : strides[i - 1];
      made.box[i] = box[i];
      made.steps[i] = every[i];
    }
    zyx::ptx::pack(made, map);
    return success;
  });
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
  const unsigned every[] = {1, 1, 1, 1, 1}, box[] = {channels, pixels, 1, 1, 1};
  if (const int code = cuTensorMapEncodeTiled(map, type, rank, address, extents, strides, box, every, interleave,
                                              swizzle, promotion, fill))
    return code;
  zyx::ptx::TensorMap made;
  zyx::ptx::unpack(map, made);
  made.isPixels = true;
  for (unsigned i = 0; i < rank; ++i)
    made.steps[i] = steps[i];
  for (unsigned i = 0; i + 2 < rank; ++i) {
    made.low[i] = low[i];
    made.high[i] = high[i];
  }
  zyx::ptx::pack(made, map);
  for (unsigned i = 0; i + 2 < rank; ++i) {
    state().facts.lastLow[i] = low[i];
    state().facts.lastHigh[i] = high[i];
    state().facts.lastSteps[i] = steps[i + 1];
  }
  return success;
}
/// Takes the parameters now, as the driver does.
static Work prepare(Function function, unsigned groups, unsigned threads, unsigned sharedBytes, void **parameters) {
  const std::string name = function->name;
  if (function->program) {
    zyx::ptx::Launch launch;
    launch.module = function->module.get();
    launch.program = function->program;
    launch.groups[0] = groups;
    launch.threads[0] = threads;
    launch.dynamicSharedBytes = sharedBytes;
    launch.parameters = takeParameters(*function->program, parameters);
    return [launch, groups, threads, module = function->module](Stream stream, bool isEarly) -> int {
      ++state().facts.launches;
      state().facts.lastGroups = groups;
      state().facts.lastThreads = threads;
      stream->ofRuns = stream->handed + 1;
      return enqueue(stream, [launch, module, stream, isEarly] {
        zyx::ptx::Launch now = launch;
        now.isEarly = isEarly;
        for (const auto *blocks : {&state().memory, &state().leaving})
          for (const auto &[address, block] : *blocks)
            if (!*block.isThere)
              continue;
            else if (block.device == stream->device || block.pool->readers.contains(stream->device))
              now.memory.emplace_back(address, address + block.size);
        if (const int code = execute(now))
          state().cards[stream->device].lost = code;
      });
    };
  }
  const bool isMapped = name.rfind("mapped", 0) == 0;
  const bool computes = name.rfind("increment", 0) == 0 || isMapped;
  // In, out, scratch, programs.
  std::array<uint64_t, 4> given = {};
  if (computes)
    for (size_t i = 0; i < 4; ++i)
      std::memcpy(&given[i], parameters[i + isMapped], sizeof(uint64_t));
  if (isMapped)
    std::memcpy(&given[0], parameters[0], sizeof(uint64_t));
  return [=](Stream stream, bool) -> int {
    ++state().facts.launches;
    state().facts.lastGroups = groups;
    state().facts.lastThreads = threads;
    stream->ofRuns = stream->handed + 1;
    if (name.rfind("trap", 0) == 0 || (computes && (!isAlive(given[0], 4 * given[3], stream->device) ||
                                                    !isAlive(given[1], 4 * given[3], stream->device))))
      return enqueue(stream, [stream] { state().cards[stream->device].lost = illegalAddress; });
    return enqueue(stream, [=] {
      for (size_t i = 0; computes && i < 2; ++i)
        checkOrder(given[i], 4 * given[3]);
      for (uint64_t i = 0; computes && i < given[3]; ++i)
        reinterpret_cast<int32_t *>(given[1])[i] = reinterpret_cast<const int32_t *>(given[0])[i] + 1;
    });
  };
}
int cuLaunchKernel(Function function, unsigned groups, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned sharedBytes, Stream stream, void **parameters, void **) {
  // As where somebody else has what a launch needs, and waits for the card.
  if (state().facts.launchesWait)
    for (const uint32_t *gate = state().gate; gate && __atomic_load_n(gate, __ATOMIC_ACQUIRE) == 0;)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return onStream(stream, [=] {
    return strikes(state().facts.failLaunch)
               ? outOfResources
               : prepare(function, groups, threads, sharedBytes, parameters)(stream, false);
  });
}

static Work prepare(const KernelNode &kernel) {
  return prepare(kernel.function, kernel.groups[0], kernel.threads[0], kernel.sharedBytes, kernel.parameters);
}
static Work prepare(const CopyNode &copy) {
  return
      [=](Stream stream, bool) { return cuMemcpyDtoDAsync_v2(copy.to.address, copy.from.address, copy.width, stream); };
}
static Work prepare(const FillNode &fill) {
  return [=](Stream stream, bool) {
    if (fill.height != 1)
      return cuMemsetD2D32Async(fill.address, fill.pitch, fill.value, fill.width, fill.height, stream);
    return fill.elementBytes == 1
               ? cuMemsetD8Async(fill.address, static_cast<unsigned char>(fill.value), fill.width, stream)
           : fill.elementBytes == 2
               ? cuMemsetD16Async(fill.address, static_cast<unsigned short>(fill.value), fill.width, stream)
               : cuMemsetD32Async(fill.address, fill.value, fill.width, stream);
  };
}
} // extern "C"

/// What calls of graphs do where there are graphs.
template <typename F> static int ofGraph(F &&body) {
  return onDevice(
      [&] { return strikes(state().facts.failGraph) || state().facts.hasNoGraphs ? notSupported : body(); });
}

static bool isOf(Graph graph, Node node) {
  return std::ranges::any_of(graph->nodes, [&](const auto &each) { return each.get() == node; });
}
template <typename Command>
static int addNode(Node *node, Graph graph, const Node *before, size_t count, const Command &command) {
  return ofGraph([&] {
    std::vector<Node> all(before, before + count);
    if (!std::ranges::all_of(all, [&](Node each) { return isOf(graph, each); }))
      return invalid;
    state().facts.edges += static_cast<int>(count);
    constexpr bool isKernel = std::is_same_v<Command, KernelNode>;
    graph->nodes.push_back(std::make_unique<NodeTag>(NodeTag{prepare(command), isKernel, std::move(all)}));
    *node = graph->nodes.back().get();
    return success;
  });
}
template <typename Command> static int setNode(GraphExec made, Node node, const Command &command) {
  return ofGraph([&] {
    ++state().facts.graphUpdates;
    made->nodes[made->numbers.at(node)].launch = prepare(command);
    return success;
  });
}
/// Some order that keeps to the edges: by default the command that was added last of those that may go, so that one
/// that lacks an edge is too early.
static std::vector<size_t> orderOf(GraphExec made) {
  std::mt19937_64 random(state().facts.graphSeed);
  std::vector<size_t> waits(made->nodes.size()), ready, order;
  std::vector<std::vector<size_t>> behind(made->nodes.size());
  for (size_t i = 0; i < made->nodes.size(); ++i) {
    waits[i] = made->nodes[i].before.size();
    for (Node before : made->nodes[i].before)
      behind[made->numbers.at(before)].push_back(i);
    if (waits[i] == 0)
      ready.push_back(i);
  }
  while (!ready.empty()) {
    const auto next = state().facts.graphSeed ? ready.begin() + static_cast<ptrdiff_t>(random() % ready.size())
                                              : std::ranges::max_element(ready);
    order.push_back(*next);
    ready.erase(next);
    for (size_t other : behind[order.back()])
      if (--waits[other] == 0)
        ready.push_back(other);
  }
  return order;
}

extern "C" {

int cuGraphCreate(Graph *graph, unsigned) {
  return ofGraph([=] {
    ++state().facts.graphs;
    *graph = new GraphTag;
    return success;
  });
}
int cuGraphDestroy(Graph graph) {
  return always([=] {
    --state().facts.graphs;
    delete graph;
  });
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
int cuGraphAddDependencies_v2(Graph graph, const Node *from, const Node *to, const EdgeData *data, size_t count) {
  return ofGraph([=] {
    if (state().facts.version < 12030)
      return notSupported;
    for (size_t i = 0; i < count; ++i) {
      // What has other edges is none of ours.
      if (!isOf(graph, from[i]) || !isOf(graph, to[i]) || !from[i]->isKernel || !to[i]->isKernel ||
          !to[i]->before.empty() || data[i].from != 1 || data[i].to != 0 || data[i].type != 1)
        return invalid;
      to[i]->before = {from[i]};
      to[i]->isEarly = true;
      ++state().facts.edges;
      ++state().facts.earlyEdges;
    }
    return success;
  });
}
int cuGraphInstantiateWithFlags(GraphExec *made, Graph graph, unsigned long long) {
  return ofGraph([=] {
    ++state().facts.graphs;
    *made = new GraphExecTag;
    for (const auto &node : graph->nodes) {
      (*made)->numbers[node.get()] = (*made)->nodes.size();
      (*made)->nodes.push_back(*node);
    }
    return success;
  });
}
int cuGraphExecDestroy(GraphExec made) {
  return always([=] {
    --state().facts.graphs;
    delete made;
  });
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
  return ofGraph([=] {
    if (strikes(state().facts.failLaunch))
      return outOfResources;
    ++state().facts.graphLaunches;
    for (const size_t number : orderOf(made))
      if (const NodeTag &node = made->nodes[number]; const int code = node.launch(stream, node.isEarly))
        return code;
    return success;
  });
}

} // extern "C"
