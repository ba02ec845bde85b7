//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a driver does for a device. Everything else is shared by all devices that work beside the host: pool and
// staging, replay with loops and graphs, profiles, fences, loss (docs/runtime-devices.md).
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_BACKEND_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_BACKEND_H

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Status.h"
#include "zyx/Runtime/DeviceFacts.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

namespace zyx::runtime {

/// What a backend gives out, and it alone understands: a pointer of its driver, an index.
enum class StreamHandle : uint64_t {};
enum class EventHandle : uint64_t {};
enum class ModuleHandle : uint64_t {};
enum class KernelHandle : uint64_t {};

struct BackendFacts {
  /// As in createDevice: "cuda", "cuda:1".
  std::string name;
  /// As Device::target and Device::identity say them.
  std::string target, identity;
  /// Of buffers, in bytes; at most artifact::alignment.
  uint64_t alignment = 1;
  /// Bytes that nobody had when the device was opened.
  uint64_t freeBytes = 0;
  /// Each runs workgroups beside the others: the multiprocessors of a card.
  int processors = 1;
  /// Kernels have their private memory on a stack, and get no scratch memory: code for the host's processor.
  bool hasStacks = false;
  /// Fewer commands are handed over one by one.
  size_t fewestOfGraph = 2;
  /// Longer copies are faster outside of graphs.
  uint64_t largestCopyInGraph = UINT64_MAX;
  /// Commands of a graph that nothing orders may run at once. Of others each is behind the one before.
  bool hasBranches = false;
  /// A graph takes the arguments of a launch when it is added or changed, and looks at them no more.
  bool takesArguments = false;
  /// As Device::facts says them, but for the memory that is free; without a target the device tells nothing of its own.
  DeviceFacts device = {};
  /// Kind 0 where DLPack knows no place of the device's memory, or its handles are no addresses.
  DLPackPlace place = {0, 0};
};

/// A byte of a device's memory. Drivers that have addresses add the two; others bind the object behind the handle, at
/// the offset.
struct MemoryRef {
  /// As Backend::allocate gave it.
  uint64_t handle = 0;
  uint64_t offset = 0;

  /// Places are compared by this: allocations do not overlap.
  uint64_t address() const { return handle + offset; }
};

struct CopyCommand {
  MemoryRef to, from;
  uint64_t bytes = 0;

  /// Whether it writes nothing of what it reads.
  bool isApart() const { return to.address() >= from.address() + bytes || from.address() >= to.address() + bytes; }
};

/// Repeats the low `patternBytes` (1, 2, 4 or 8) bytes of the pattern; `bytes` is a multiple of it, and not 0.
struct FillCommand {
  MemoryRef to;
  uint64_t bytes = 0, pattern = 0;
  uint8_t patternBytes = 1;

  /// The pattern as often as it is in 8 bytes.
  uint64_t repeated() const {
    uint64_t all = pattern;
    for (unsigned bits = 8U * patternBytes; bits < 64; bits *= 2)
      all = (all & ((uint64_t(1) << bits) - 1)) | all << bits;
    return all;
  }
};

/// What a kernel gets for one of its parameters.
struct KernelArgument {
  /// A scalar, or the address of a buffer.
  uint64_t value = 0;
  /// Of a buffer.
  MemoryRef memory;
  bool isBuffer = false;
};

/// What a kernel gets of a buffer that the device's copy engine reads, as the driver writes it.
struct alignas(64) EncodedTensorMap {
  uint64_t words[16] = {};
};

struct LaunchCommand {
  KernelHandle kernel{};
  unsigned groups = 1, threads = 1, sharedBytes = 0;
  /// The buffers, the scalars, the scratch memory and the number of programs, as artifact::Kernel says.
  std::span<const KernelArgument> arguments;
  /// Where the bytes of each parameter lie: its tensor maps, then the values of its arguments.
  void **parameters = nullptr;
  /// A program is a workgroup, else a thread. Threads count all of them, however a driver groups them.
  bool isByGroup = false;
  /// As artifact::Kernel says them.
  bool waits = false;
  unsigned clusterGroups = 0;

  uint64_t allThreads() const { return groups * uint64_t(threads); }
  /// Workgroups, where a driver has so many threads in each that are programs.
  uint64_t groupsOf(uint64_t groupThreads) const {
    return isByGroup ? groups : (allThreads() + groupThreads - 1) / groupThreads;
  }
};

using AnyCommand = std::variant<LaunchCommand, CopyCommand, FillCommand>;

/// Commands that the driver keeps and launches as one. What a command does may change in its memory and values, and not
/// in its kind. Arguments of a launch stay where they are, and what they are where the graph does not take them. A call
/// that fails leaves what may only be destroyed.
class CommandGraph {
public:
  using Node = size_t;

  virtual ~CommandGraph() = default;
  /// Appends a command, by whose node it is changed. It begins when those of some nodes are over, and what they are
  /// behind; a driver may put it behind more of those that were added before.
  virtual Result<Node> add(const AnyCommand &command, std::span<const Node> behind) = 0;
  /// Makes what is launched of the commands that were added; none is added later.
  virtual Status finish() = 0;
  virtual Status update(Node node, const AnyCommand &command) = 0;
  virtual Status launch(StreamHandle stream) = 0;
};

/// The calls of one driver for one device. What is handed to a stream is done in order, and the host goes on
/// meanwhile. Calls from several threads are safe; all but those marked * come between enter() and leave().
///
/// A call that fails says what the driver says, such as "CUDA_ERROR_INVALID_VALUE: invalid argument"; whoever calls
/// says what could not be done. A refusal of the backend itself is Unsupported, and a whole sentence. Where memory is
/// short the code is OutOfMemory. After DeviceLost nothing else than giving back comes.
class Backend {
public:
  /// Called when all that was given out is given back. *
  virtual ~Backend() = default;
  /// *
  virtual const BackendFacts &facts() const = 0;

  /// Makes the device that of the calling thread, and gives back what the thread had before. *
  virtual Status enter() { return Status::ok(); }
  virtual void leave() {}

  /// Memory of the device, aligned to artifact::alignment, for what comes behind on the stream. The ranges
  /// [handle, handle + bytes) of what is allocated do not overlap; bytes are never 0.
  virtual Result<uint64_t> allocate(StreamHandle stream, uint64_t bytes) = 0;
  /// Of what is behind on the stream nothing uses it.
  virtual Status free(StreamHandle stream, uint64_t handle) = 0;
  /// Bytes that nobody has now, where the driver tells.
  virtual std::optional<uint64_t> freeMemory() { return std::nullopt; }
  /// Gives memory that was freed and kept back to the system. Nothing is at work.
  virtual Status trim() { return Status::ok(); }
  /// Memory of the host that copies go to and come from, and that hold() looks at. Any memory, where the driver copies
  /// it.
  virtual Result<void *> allocateHost(uint64_t bytes) {
    void *const made =
        std::aligned_alloc(artifact::alignment, (bytes + artifact::alignment - 1) & -artifact::alignment);
    return made ? Result<void *>(made) : Status::outOfMemory("the host has no memory");
  }
  /// Waits for what the streams still do with it: nothing, where calls return when copies are over.
  virtual void freeHost(void *memory) { std::free(memory); }
  /// The host's side is of allocateHost(), and stays as it is until the stream is behind the copy.
  virtual Status upload(StreamHandle stream, MemoryRef to, const void *from, uint64_t bytes) = 0;
  virtual Status download(StreamHandle stream, void *to, MemoryRef from, uint64_t bytes) = 0;
  /// Of copies, here and in graphs, both sides are apart.
  virtual Status copy(StreamHandle stream, const CopyCommand &copy) = 0;
  virtual Status fill(StreamHandle stream, const FillCommand &fill) = 0;

  /// Refuses an artifact with code that the device cannot run. *
  virtual Status accept(const artifact::Artifact &artifact) const = 0;
  /// Code of an artifact that was accepted. This failure and that of find() are whole sentences.
  virtual Result<ModuleHandle> load(const artifact::CodeBlob &code) = 0;
  virtual void unload(ModuleHandle module) = 0;
  virtual Result<KernelHandle> find(ModuleHandle module, const artifact::Kernel &kernel) = 0;
  /// Kernels with tensor maps are found where this is done.
  virtual Status encode(const artifact::TensorMap &map, MemoryRef memory, EncodedTensorMap &encoded) {
    return Status::unsupported("device '" + facts().name + "' has no tensor maps");
  }
  virtual Status launch(StreamHandle stream, const LaunchCommand &launch) = 0;

  virtual Result<StreamHandle> createStream() = 0;
  virtual void destroyStream(StreamHandle stream) = 0;
  /// As other libraries know it; null where they do not. *
  virtual void *nativeStream([[maybe_unused]] StreamHandle stream) const { return nullptr; }
  /// A stream of the host program, which other libraries know by this; it stays theirs.
  virtual Result<StreamHandle> adoptStream([[maybe_unused]] void *native) const {
    return Status::unsupported("device '" + facts().name + "' takes no streams of the host program");
  }
  virtual Status synchronize(StreamHandle stream) = 0;
  /// One that is timed says when it was reached.
  virtual Result<EventHandle> createEvent(bool isTimed) = 0;
  virtual void destroyEvent(EventHandle event) = 0;
  virtual Status record(StreamHandle stream, EventHandle event) = 0;
  /// Has the stream wait for an event, of this backend or of a peer.
  virtual Status wait(StreamHandle stream, EventHandle event) = 0;
  virtual Status synchronize(EventHandle event) = 0;
  /// Nanoseconds between two that were reached.
  virtual Result<uint64_t> elapsed(EventHandle begin, EventHandle end) = 0;
  /// Has the stream wait until the host writes 1 to a word of allocateHost(). Measuring needs it.
  virtual Status hold(StreamHandle stream, const uint32_t *word) {
    return Status::unsupported("device '" + facts().name + "' cannot hold back what is to be measured");
  }
  /// None where the driver has no graphs: commands are handed over one by one.
  virtual std::unique_ptr<CommandGraph> createGraph() { return nullptr; }

  /// Whether this device can wait for events of the other one, and copy from its memory where that allows it. *
  virtual bool isPeer(const Backend &other) const { return false; }
  /// Whether a peer is open: without one nobody needs fences. *
  virtual bool hasPeers() const { return false; }
  /// Lets a peer reach this device's memory. *
  virtual Status allow(const Backend &reader) { return Status::unsupported("the devices are no peers"); }
  /// From a peer's memory, which it allows; on a stream of this device.
  virtual Status copyFromPeer(StreamHandle stream, MemoryRef to, Backend &peer, MemoryRef from, uint64_t bytes) {
    return Status::unsupported("the devices are no peers");
  }
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_BACKEND_H
