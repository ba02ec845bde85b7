//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_EXECUTOR_H
#define ZYX_RUNTIME_EXECUTOR_H

#include "zyx/Artifact/Donate.h"
#include "zyx/Base/Forked.h"
#include "zyx/Runtime/Arena.h"
#include "zyx/Runtime/Device.h"

#include <atomic>
#include <functional>
#include <optional>

namespace zyx::runtime {

/// Time of one command of a run: the sum over the passes of the loops around it. That of a loop is
/// what its commands leave.
struct CommandTime {
  /// The kernel's name, "copy", "fill" or "loop".
  std::string name;
  uint64_t nanoseconds = 0;
  /// What it does in all passes: operations that it counts, bytes of the buffers that it touches. 0 where
  /// that is not known, as in a loop whose trips are data.
  uint64_t flops = 0, bytes = 0;
};

/// Runs a program again and again: owns the arena where it shares none, and binds memory to inputs and outputs. One
/// thread at a time: a call while another thread is in one is refused, and so is one in a process that was forked
/// since. Binding and reading wait for runs in flight.
///
/// What depends on weights alone is kept from run to run, once for all executors of the device that make it in the same
/// way of the same buffers (Kept). It is made in the first run that needs it after one was set or written through a
/// Buffer, by whomever: whoever changes memory that was lent (Buffer::borrow) by other means binds it again. Runs that
/// rely on it wait for it, and so for the runs before it in an arena that its maker shares.
class Executor {
public:
  /// Loads the artifact and allocates its arena. With `shared`, which lies in the device's pool, runs lie in that and
  /// come one behind the other with those of all who have it; it grows when a run needs more. Outputs of `donations`
  /// may be bound to the buffers of their inputs, which a run then overwrites; one that fails after it began leaves
  /// neither. Where nothing of it began they are what they were, at once or after Buffer::recoverDonated() where the
  /// run was submitted.
  static Result<std::unique_ptr<Executor>> create(std::shared_ptr<Device> device, artifact::Artifact artifact,
                                                  std::vector<artifact::Donation> donations = {},
                                                  std::shared_ptr<Arena> shared = nullptr);
  ~Executor();

  /// Entry, inputs, outputs, kernels, commands, arena size.
  const artifact::Artifact &artifact() const { return program->artifact(); }
  /// The device's.
  std::shared_ptr<MemoryPool> pool() const { return device->pool(); }
  /// Index of an argument by its name.
  Result<size_t> inputIndex(std::string_view name) const;
  Result<size_t> outputIndex(std::string_view name) const;

  /// The buffer has the size of the argument. Host memory is aligned to the element. A run is refused
  /// where an output shares memory with an input or another output, but with all of that of which it was said at
  /// the creation. Inputs of a few bytes may lie in the host's memory on every device (Device::largestHostInput):
  /// binding those waits for nothing.
  Status bindInput(size_t index, std::shared_ptr<Buffer> buffer);
  /// Outputs that are not bound get buffers of their own at the first run.
  Status bindOutput(size_t index, std::shared_ptr<Buffer> buffer);
  /// Copies into a buffer of the executor. A weight that is set to what it is has not changed. Runs in flight have the
  /// values with which they were submitted; what a run takes with it (Device::largestHostInput) does not wait for them.
  Status setInput(size_t index, std::span<const std::byte> bytes);
  Status readOutput(size_t index, std::span<std::byte> bytes) const;
  /// Some bytes of it, from `offset` on.
  Status readOutput(size_t index, uint64_t offset, std::span<std::byte> bytes) const;
  /// Forgets all that is bound. A run in flight keeps what it uses to its end; else it belongs to its
  /// other owners alone. With `keepWeights` weights stay bound for as long as others own them, and what was computed of
  /// them is good for the next run.
  void release(bool keepWeights = false);

  /// Gives back the arena, where it is not shared, and what is kept from run to run, where no other executor has it,
  /// behind the latest run. The next run takes memory again, which may fail, and computes again what nobody has kept.
  void trim();
  /// Bytes of the arena where it is not shared.
  uint64_t bytesHeld() const { return arena && !shared ? arena->size() : 0; }
  /// Calls with each buffer of what is kept, which other executors may have, too.
  void forEachKept(const std::function<void(const Buffer &)> &visit) const;
  /// Launches that have made what is kept, so far.
  uint64_t initLaunches() const { return numInitLaunches; }
  /// Whether no submitted run is in flight.
  bool isIdle() const { return last.isDecided() && init.isDecided(); }

  /// Runs on the calling thread, in the order in which programs of all threads take the bound buffers;
  /// after the first run it allocates nothing. The outputs of a run that fails are not there.
  Status run();
  /// Runs on the device's queues after `wait`, after earlier runs and after all who use the bound
  /// buffers; the point is reached when the outputs are there.
  Result<Point> submit(std::span<const Point> wait = {});
  /// The same, and behind all that a stream of the host program has now (Device::recordStream). The device waits for
  /// that, and the host does not.
  Result<Point> submitBehind(void *stream, std::span<const Point> wait = {});
  /// The same, and what is put on the stream later is behind the run, as if it ran there (Device::letStreamWait).
  /// Returns when the run was handed to the device, so behind what it waits for on the host.
  Result<Point> submitOn(void *stream, std::span<const Point> wait = {});
  /// As `run`, with the time of each command; 0 for those of the init where it need not run.
  Result<std::vector<CommandTime>> profile();
  /// Runs once, and then `times` more without a wait in between; says what these took.
  Result<Measurement> measure(unsigned times);

private:
  struct Slot {
    std::shared_ptr<Buffer> buffer;
    /// Made by the executor, so that setInput may write to it.
    bool owned = false;
    /// The buffer is the host's, and each run takes its value with it.
    bool isOnHost = false;
    /// A weight that is bound while others own it.
    std::weak_ptr<Buffer> others = {};
  };
  /// A step of the init.
  struct InitStep {
    Part part;
    uint64_t numLaunches = 0;
    /// None where it is like no other.
    std::optional<Hash128> identity;
    uint64_t size = 0;
    /// The inputs that it reads, and the buffers that lie in what it makes, with their place there.
    std::vector<uint32_t> weights;
    std::vector<std::pair<uint32_t, uint64_t>> buffers;
    /// Made of the buffers of these numbers.
    std::shared_ptr<Kept> kept;
    std::vector<uint64_t> numbers;
    /// During a call.
    std::shared_ptr<Buffer> memory;
    /// That of the last call, which may be gone, and where the replay's slots are.
    const Buffer *lastMemory = nullptr;
    uint64_t handle = 0;
    /// Of a run: how often the weights have been written, and whether what is kept must be made of them; then when it
    /// is made, and behind what, kept for their memory.
    std::vector<uint64_t> writes;
    bool isStale = false;
    Point made;
    std::vector<Point> wait, after;
  };
  Executor(std::shared_ptr<Device> device, std::shared_ptr<Program> program, std::vector<artifact::Donation> donations,
           std::shared_ptr<Arena> shared);
  Status takeMemory();
  void bindAll(artifact::BufferKind kind, uint64_t handle);
  void findInitSteps();
  Status takeArena();
  Status takeKept(InitStep &step);
  void leaveMemory();
  class MemoryUse;
  /// Of one call.
  class Use;
  Result<const artifact::Argument *> argument(bool isInput, size_t index) const;
  Status bind(bool isInput, size_t index, std::shared_ptr<Buffer> buffer, bool owned);
  /// Whether runs take an input of that size, or the value of this one, with them.
  bool takes(uint64_t size) const;
  bool takes(const Buffer &input) const;
  class Hold;
  Status checkApart();
  Status prepare();
  size_t findStale();
  template <typename F> void forEachTaken(F &&visit) const;
  void findInitOrder(InitStep &step);
  void noteInit(InitStep &step);
  Status makeNow(InitStep &step, const std::function<Status(Part)> &runPart);
  void findOrder(std::vector<Point> &wait, std::vector<Point> &after, size_t numStale) const;
  void note(const Point &run);
  void finishAll();
  void leaveSlots();
  Result<Point> submitBehind(std::span<const Point> wait, const std::shared_ptr<Fence> &fence);
  Status runNow(const std::function<Status(Part)> &runPart);

  const ForkMark mark;
  /// While a call is being made.
  mutable std::atomic<bool> isUsed = false;
  // Destroyed in the opposite order: the replay before what it points to.
  std::shared_ptr<Device> device;
  std::shared_ptr<Program> program;
  const std::vector<artifact::Donation> donations;
  /// None where the arena is the executor's own.
  const std::shared_ptr<Arena> shared;
  /// None after trim(); where it is shared, it is there while a run begins, so that it can grow.
  std::shared_ptr<Buffer> arena;
  /// Where the arena lay that the replay's slots are of, and the buffer that it was, which may be gone.
  uint64_t arenaHandle = 0;
  std::weak_ptr<const Buffer> lastArena;
  std::vector<Slot> inputs, outputs;
  /// All that is bound, each once, in the order of addresses; up to date where `isApart`.
  std::vector<const Buffer *> bound;
  /// Of inputs that lie in the host's memory; up to date where `isApart`.
  std::vector<HostInput> hostInputs;
  std::vector<InitStep> initSteps;
  uint64_t numInitLaunches = 0;
  /// Whether checkApart() has seen all that is bound.
  bool isApart = false;
  std::unique_ptr<Replay> replay;
  /// The latest submitted run.
  Point last;
  /// The latest submitted init.
  Point init;
  /// Of the runs on calling threads, one value each; none after a failure.
  std::shared_ptr<Timeline> runs;
  uint64_t numRuns = 0;
  /// What such a run waits for, kept for their memory.
  std::vector<Point> reached, over;
};

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_EXECUTOR_H
