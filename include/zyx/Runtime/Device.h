//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_DEVICE_H
#define ZYX_RUNTIME_DEVICE_H

#include "zyx/Runtime/DeviceFacts.h"
#include "zyx/Runtime/Kept.h"
#include "zyx/Runtime/Program.h"
#include "zyx/Runtime/Queue.h"
#include "zyx/Runtime/ThreadPool.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zyx::runtime {

/// Keeps what a driver has made of code, for later processes, by keys that name device, driver and code.
struct CodeCache {
  std::function<std::optional<std::vector<std::byte>>(const std::string &key)> find;
  std::function<void(const std::string &key, std::span<const std::byte> code)> keep;
};

struct DeviceOptions {
  /// Of host devices; 0 = as many as the process may use processors, which is also the most.
  unsigned threads = 0;
  /// Of the device's pool, in bytes; 0 = the memory of the machine, or what a card has free when it is opened.
  uint64_t memoryLimit = 0;
  /// Runs kernels of host devices instead of a pool of their own.
  std::shared_ptr<ThreadPool> threadPool = nullptr;
  /// Gives `threads` even where that are more than the process may use processors.
  bool oversubscribe = false;
  /// Gives a host device its memory; devices whose memory is not the host's refuse one.
  std::shared_ptr<HostAllocator> allocator = nullptr;
  /// For devices whose driver compiles; null where nothing is kept.
  std::shared_ptr<const CodeCache> codeCache = nullptr;
  /// Devices that the caller has besides those of the runtime, for the error of a name that nobody has.
  std::string_view otherDevices = {};
};

/// What a machine reaches at best, per second: operations of f32, a multiplication and an addition being
/// two, and bytes that come from memory.
struct Peak {
  double flops = 0, bytes = 0;
};

/// A machine that runs programs: its memory, its queue, its loader. Calls from several threads are
/// safe.
class Device {
public:
  virtual ~Device() = default;
  /// As in createDevice.
  virtual const std::string &name() const = 0;
  virtual std::shared_ptr<MemoryPool> pool() const = 0;
  /// The first of its queues.
  virtual Queue &queue() = 0;
  /// The record of targets that code for it is compiled with: "cpu", "sm_90a".
  virtual std::string target() const { return name(); }
  /// The machine behind it, as text for keys of what was measured there: two of one identity take as long.
  virtual std::string identity() const { return name(); }
  /// Bytes to whose multiples buffers of its programs are aligned, beside what their elements need.
  virtual uint64_t alignment() const { return 1; }
  /// Inputs of at most so many bytes may be bound to memory of the host. A run takes their values with it when it
  /// begins, to where its kernels read them, so that such an input needs no memory of the device and no copy of its
  /// own.
  virtual uint64_t largestHostInput() const { return 0; }
  /// What it is, with the memory that is free now. Where a device says nothing else, its memory is that of its pool.
  virtual DeviceFacts facts() const;
  /// Verifies the artifact, and refuses code that this machine cannot run. The device must outlive
  /// the program.
  virtual Result<std::shared_ptr<Program>> load(artifact::Artifact artifact) = 0;
  /// Measured on all its threads, in some 50 ms of a machine that does nothing else; none where that
  /// is not done.
  virtual std::optional<Peak> measurePeak() { return std::nullopt; }

  // What lets other libraries of the process work on the same memory.

  /// Kind 0, which nobody has, where the memory has no place that DLPack knows.
  virtual DLPackPlace dlpackPlace() const;
  /// Memory of somebody else, at an address of this device's, as a buffer that programs of it use; `owner` is let go at
  /// the end of the buffer, and must keep the memory until then. Unsupported where the device cannot.
  virtual Result<std::shared_ptr<Buffer>> borrow(uint64_t address, uint64_t size, std::shared_ptr<void> owner) const;
  /// The stream that orders all its work, as its driver knows it (CUDA's CUstream); null where it has none. Work that
  /// another library puts there, or has it wait for, is behind all that was handed over before, and in front of all
  /// that is handed over later.
  virtual void *nativeStream() const { return nullptr; }
  /// Whether somebody has asked for that stream. From then on Executor::submit() puts a run there on the calling
  /// thread, wherever the device itself can wait for what the run is behind.
  virtual bool isShared() const { return false; }

  // Streams of the host program, as the device's driver knows them: CUDA's CUstream, HIP's hipStream_t. They are of the
  // device's context, and live until the call is over. Unsupported where the device takes none.

  /// A fence behind all that such a stream has now, for which Executor::submitBehind has a run wait.
  virtual Result<std::shared_ptr<Fence>> recordStream(void *stream);
  /// Has such a stream wait for a point: what is put there later is behind it. Returns when the work that reaches the
  /// point was handed to a device, which the stream then waits for without the host; fails where it has failed. Where
  /// the device cannot wait for that one, it returns when the point is reached.
  virtual Status letStreamWait(void *stream, const Point &point);

  /// What its programs have made of weights.
  KeptStore &kept() { return keptStore; }

private:
  KeptStore keptStore;
};

/// The name by which a device is known everywhere: the first of its kind is the kind, "cuda:0" is "cuda" and "cpu:0"
/// is "cpu". Any other name is as it was.
std::string canonicalDeviceName(std::string_view name);

/// "cpu" and "c" run the compiler's machine code and its C code, both on the host; "cuda" is the first card and
/// "cuda:1" the second; "" is the fastest device that is present (fastestDevice). A device has its canonical name,
/// whichever of its names it is made by. NotFound for names that are not known, and for "gpu", with the GPUs that there
/// are, Unsupported for those that this build lacks, OutOfMemory where the system gives no threads.
Result<std::shared_ptr<Device>> createDevice(std::string_view name, const DeviceOptions &options = {});

/// Takes artifacts of every target, counts what they would take of a memory of `memoryLimit` bytes
/// (0 = without end), and computes nothing: what one would read of its memory is refused.
Result<std::shared_ptr<Device>> createDummyDevice(uint64_t memoryLimit = 0);

/// Features of this machine's processor that its operating system lets programs use, by LLVM's
/// names; code for a host device may need them.
std::vector<std::string> hostCpuFeatures();

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_DEVICE_H
