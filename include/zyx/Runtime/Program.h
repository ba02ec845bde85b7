//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_PROGRAM_H
#define ZYX_RUNTIME_PROGRAM_H

#include "zyx/Artifact/Artifact.h"
#include "zyx/Runtime/Buffer.h"

#include <functional>
#include <memory>
#include <span>

namespace zyx::runtime {

/// An input that is bound to memory of the host on a device that takes such ones (Device::largestHostInput).
struct HostInput {
  /// An index in Artifact::buffers.
  uint32_t buffer = 0;
  uint64_t size = 0;
  const void *data = nullptr;
};

/// The commands [from, to) of an artifact: a step of the init, or all behind the init.
struct Part {
  size_t from = 0, to = 0;
  /// All of the run's, which are read when the commands begin. They are there until then, as what Replay::submit holds.
  std::span<const HostInput> hostInputs = {};
};

/// What some runs took that were handed over one behind the other.
struct Measurement {
  /// Of the device, from the beginning of the first to the end of the last.
  uint64_t deviceNanoseconds = 0;
  /// Of the host, until the last was handed over.
  uint64_t hostNanoseconds = 0;
};

/// The commands of an artifact, prepared for being run many times. Addresses are slots that are
/// patched when a buffer is bound to other memory.
class Replay {
public:
  virtual ~Replay() = default;
  /// `buffer` is an index in Artifact::buffers. It begins `offset` bytes into the allocation with this handle.
  virtual void bind(uint32_t buffer, uint64_t handle, uint64_t offset) = 0;
  /// Runs the commands and returns when they are done. `nanoseconds` is empty, or has a number for each
  /// command of the artifact, to which its time is added, as often as loops repeat it. Allocates nothing.
  virtual Status run(Part part, std::span<uint64_t> nanoseconds) = 0;
  /// Runs the commands so many times. A device that works beside the host begins when all is handed over, so that
  /// its time has none of the host's. Here the host is the device.
  virtual Result<Measurement> measure(Part part, unsigned times);
  /// Hands the commands to the device's queues and returns. They start after `wait` and `after`, as
  /// in Work; `signal` is decided when all are over, and `held` is let go right before. One part at a
  /// time: the next one comes after the `signal` of this one. `skipped`, where it is given, is called before `signal`
  /// fails where no command began.
  virtual void submit(Part part, std::vector<Point> wait, std::vector<Point> after, Point signal,
                      std::shared_ptr<void> held, std::function<void()> skipped = {}) = 0;
  /// Whether no submitted run reads what is bound: other buffers may be bound while it goes on.
  virtual bool isHandedOver() const { return false; }
  /// Before a run whose outputs have so many bytes is submitted: waits where so many go on that the memory that they
  /// hold is worth more than that they overlap.
  virtual void awaitRoom(uint64_t bytes) {}
  /// Of a run() that failed: whether commands may have written something.
  bool hasBegun() const { return begun; }

protected:
  bool begun = false;
};

class Device;

/// The code and constants of one artifact, loaded on one device.
class Program {
public:
  virtual ~Program() = default;
  virtual Device &device() const = 0;
  /// What was loaded, without the bytes of code and constants.
  virtual const artifact::Artifact &artifact() const = 0;
  /// Where the constant blob lies.
  virtual const Buffer &constants() const = 0;
  /// The program must outlive the result.
  virtual std::unique_ptr<Replay> record() const = 0;
};

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_PROGRAM_H
