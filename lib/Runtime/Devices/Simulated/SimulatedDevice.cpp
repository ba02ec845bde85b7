//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SimulatedDevice.h"

#include "../Host/Host.h"

#include "zyx/Artifact/Commands.h"

#include <algorithm>
#include <cstring>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;
using artifact::BufferRef;

namespace {

/// Host memory of a device that can be lost, and whose uses by the host are checked.
class SimulatedPool : public MemoryPool {
public:
  SimulatedPool(std::shared_ptr<Scheduler> scheduler, unsigned device, uint64_t limit)
      : scheduler(std::move(scheduler)), device(device), host(createHostPool(limit)) {}

  PoolUsage usage() const override { return host->usage(); }
  bool isHostMemory() const override { return true; }

  Result<Allocation> allocate(uint64_t size) override {
    if (Status status = scheduler->allocation(device); !status.isOk())
      return status.withDevice(Scheduler::nameOf(device));
    return host->allocate(size);
  }
  Status deallocate(const Allocation &allocation) override {
    use(allocation, 0, allocation.size, true, "the end of the memory");
    return host->deallocate(allocation);
  }
  Status copyIn(const Allocation &to, uint64_t offset, std::span<const std::byte> from) override {
    ZYX_RETURN_IF_ERROR(scheduler->lost(device));
    use(to, offset, from.size(), true, "a write by the host");
    return host->copyIn(to, offset, from);
  }
  Status copyOut(const Allocation &from, uint64_t offset, std::span<std::byte> to) override {
    ZYX_RETURN_IF_ERROR(scheduler->lost(device));
    use(from, offset, to.size(), false, "a read by the host");
    return host->copyOut(from, offset, to);
  }
  Status copyTo(const Allocation &from, MemoryPool &pool, const Allocation &to, uint64_t size) override {
    ZYX_RETURN_IF_ERROR(scheduler->lost(device));
    use(from, 0, size, false, "a read by the host");
    return host->copyTo(from, pool, to, size);
  }
  Result<std::byte *> address(const Allocation &of, uint64_t offset, uint64_t size) override {
    ZYX_RETURN_IF_ERROR(scheduler->lost(device));
    return host->address(of, offset, size);
  }

private:
  void use(const Allocation &of, uint64_t offset, uint64_t size, bool isWrite, const char *name) {
    scheduler->hostUse({of.handle + offset, of.handle + offset + size, isWrite}, name);
  }

  std::shared_ptr<Scheduler> scheduler;
  unsigned device;
  std::shared_ptr<MemoryPool> host;
};

class SimulatedQueue : public Queue {
public:
  SimulatedQueue(std::shared_ptr<Scheduler> scheduler, unsigned device, unsigned index)
      : scheduler(std::move(scheduler)), device(device), index(index) {}
  void submit(Work work) override {
    std::vector<Scheduler::Submission> batch;
    batch.push_back({std::move(work), index});
    scheduler->submit(device, std::move(batch));
  }

private:
  std::shared_ptr<Scheduler> scheduler;
  unsigned device, index;
};

/// Each command is a piece of work of its own, on any queue, with the waits of the plan and no
/// others; those of a loop are one for each pass. A loop whose passes are counted by a buffer, or
/// are too many, is one piece of work with all of its body.
class SimulatedReplay : public Replay {
public:
  SimulatedReplay(Scheduler &scheduler, unsigned device, const Artifact &artifact, std::unique_ptr<HostReplay> commands)
      : scheduler(scheduler), device(device), artifact(artifact), commands(std::move(commands)),
        handles(artifact.buffers.size()) {}

  void bind(uint32_t buffer, uint64_t handle, uint64_t offset) override {
    handles[buffer] = handle + offset;
    commands->bind(buffer, handle, offset);
  }
  Status run(Part part, std::span<uint64_t> nanoseconds) override {
    const Point done{std::make_shared<Timeline>(), 1};
    begun = true;
    submit(part, {}, {}, done, nullptr, {}, nanoseconds);
    return done.wait();
  }
  void submit(Part part, std::vector<Point> wait, std::vector<Point> after, Point signal, std::shared_ptr<void> held,
              std::function<void()> skipped) override {
    submit(part, std::move(wait), std::move(after), std::move(signal), std::move(held), std::move(skipped), {});
  }

private:
  /// What is handed over at once.
  struct Batch {
    std::vector<Scheduler::Submission> works;
    /// The ends of the commands in the present pass.
    std::vector<Point> points;
    std::span<uint64_t> nanoseconds;
  };
  /// Of a run.
  static constexpr uint64_t maxWorks = 4096;

  std::string nameOf(size_t command) const {
    static constexpr const char *kinds[] = {"launch", "copy", "fill", "loop"};
    const auto &action = artifact.commands[command].action;
    const auto *launch = std::get_if<artifact::Launch>(&action);
    return (launch ? artifact.kernels[launch->kernel].name : kinds[action.index()]) + std::string(", command ") +
           std::to_string(command) + " of " + artifact.entry;
  }

  void use(const BufferRef &ref, uint64_t size, bool isWrite, std::vector<Access> &to) const {
    const uint64_t begin = handles[ref.buffer] + ref.offset;
    to.push_back({begin, begin + size, isWrite});
  }
  /// A kernel may touch its buffers from the offset to the end.
  void uses(const artifact::Launch &launch, std::vector<Access> &to) const {
    const artifact::Kernel &kernel = artifact.kernels[launch.kernel];
    for (size_t i = 0; i < launch.buffers.size(); ++i) {
      const BufferRef &ref = launch.buffers[i];
      use(ref, artifact.buffers[ref.buffer].size - ref.offset, i >= kernel.numBuffers - kernel.numWritten, to);
    }
  }
  void uses(const artifact::Copy &copy, std::vector<Access> &to) const {
    use(copy.source, copy.size, false, to);
    use(copy.destination, copy.size, true, to);
  }
  void uses(const artifact::Fill &fill, std::vector<Access> &to) const { use(fill.destination, fill.size, true, to); }
  void uses(const artifact::Loop &loop, std::vector<Access> &to) const {
    if (loop.count)
      use(*loop.count, loop.countSize(), false, to);
    if (loop.index)
      use(*loop.index, sizeof(int64_t), true, to);
  }

  const artifact::Loop *loopAt(size_t command) const {
    return std::get_if<artifact::Loop>(&artifact.commands[command].action);
  }
  size_t endOf(size_t command) const {
    const artifact::Loop *loop = loopAt(command);
    return command + 1 + (loop ? loop->body : 0);
  }
  /// Pieces of work of the commands [begin, end), or more than `maxWorks`.
  uint64_t count(size_t begin, size_t end) const;
  bool isUnrolled(size_t command) const {
    return loopAt(command) && !loopAt(command)->count && count(command, endOf(command)) <= maxWorks;
  }

  Scheduler::Submission &add(Batch &batch, size_t command, std::string name, Point signal) const;
  void addAll(Batch &batch, size_t begin, size_t end, const std::vector<Point> &wait,
              const std::vector<Point> &after) const;
  void addLoop(Batch &batch, size_t command, std::vector<Point> wait, std::vector<Point> after) const;
  void submit(Part part, std::vector<Point> wait, std::vector<Point> after, Point signal, std::shared_ptr<void> held,
              std::function<void()> skipped, std::span<uint64_t> nanoseconds);

  Scheduler &scheduler;
  unsigned device;
  const Artifact &artifact;
  std::unique_ptr<HostReplay> commands;
  std::vector<uint64_t> handles;
};

uint64_t SimulatedReplay::count(size_t begin, size_t end) const {
  uint64_t works = 0;
  for (size_t i = begin; i < end && works <= maxWorks; i = endOf(i)) {
    const artifact::Loop *loop = loopAt(i);
    if (!loop || loop->count) {
      ++works;
      continue;
    }
    uint64_t pass = 0;
    for (size_t body = i + 1; size_t end : artifact::endsOfBodies(*loop, i)) {
      pass = std::max(pass, count(body, end) + 1);
      body = end;
    }
    const auto trips = static_cast<uint64_t>(loop->trips);
    works += trips > maxWorks ? maxWorks + 1 : trips * std::min(pass, maxWorks + 1) + 1;
  }
  return works;
}

Scheduler::Submission &SimulatedReplay::add(Batch &batch, size_t command, std::string name, Point signal) const {
  Scheduler::Submission one;
  one.work.name = std::move(name);
  one.work.signal = std::move(signal);
  if (!batch.nanoseconds.empty())
    one.latency = &batch.nanoseconds[command];
  return batch.works.emplace_back(std::move(one));
}

void SimulatedReplay::addAll(Batch &batch, size_t begin, size_t end, const std::vector<Point> &wait,
                             const std::vector<Point> &after) const {
  for (size_t i = begin; i < end; i = endOf(i)) {
    std::vector<Point> earlier;
    for (uint32_t command : artifact.commands[i].wait)
      // Of another part it is over.
      if (batch.points[command].timeline)
        earlier.push_back(batch.points[command]);
    const bool isFirst = earlier.empty();
    if (isFirst)
      earlier = wait;
    batch.points[i] = {std::make_shared<Timeline>(), 1};
    if (isUnrolled(i)) {
      addLoop(batch, i, std::move(earlier), isFirst ? after : std::vector<Point>());
      continue;
    }
    Work &work = add(batch, i, nameOf(i), batch.points[i]).work;
    work.wait = std::move(earlier);
    if (isFirst)
      work.after = after;
    work.body = [this, i] { return commands->runCommand(i); };
    for (size_t part = i; part < endOf(i); ++part)
      std::visit([&](const auto &action) { uses(action, work.accesses); }, artifact.commands[part].action);
  }
}

void SimulatedReplay::addLoop(Batch &batch, size_t command, std::vector<Point> wait, std::vector<Point> after) const {
  const artifact::Loop &loop = *loopAt(command);
  const std::vector<size_t> ends = artifact::endsOfBodies(loop, command);
  for (int64_t trip = 0; trip < loop.trips; ++trip) {
    const Point begin{std::make_shared<Timeline>(), 1};
    Work &work = add(batch, command, nameOf(command) + ", pass " + std::to_string(trip), begin).work;
    work.wait = std::move(wait);
    work.after = std::move(after);
    uses(loop, work.accesses);
    work.body = [this, &loop, trip] {
      if (loop.index)
        std::memcpy(reinterpret_cast<std::byte *>(handles[loop.index->buffer]) + loop.index->offset, &trip,
                    sizeof(trip));
      return Status::ok();
    };
    const auto [from, to] = artifact::bodyOf(ends, command, trip);
    addAll(batch, from, to, {begin}, {});
    // The next pass comes after all of this one.
    wait = {begin};
    after.clear();
    for (size_t i = from; i < to; i = endOf(i))
      wait.push_back(batch.points[i]);
  }
  Work &end = add(batch, command, "the end of " + nameOf(command), batch.points[command]).work;
  end.wait = std::move(wait);
  end.after = std::move(after);
  end.body = [] { return Status::ok(); };
}

void SimulatedReplay::submit(Part part, std::vector<Point> wait, std::vector<Point> after, Point signal,
                             std::shared_ptr<void> held, std::function<void()> skipped,
                             std::span<uint64_t> nanoseconds) {
  Batch batch{{}, std::vector<Point>(artifact.commands.size()), nanoseconds};
  const size_t first = part.from, last = part.to;
  const bool isInit = first < artifact.numInitCommands;
  addAll(batch, first, last, wait, after);
  // All that wait for nothing else are skipped with it.
  if (!batch.works.empty())
    batch.works.front().work.skipped = std::move(skipped);
  // The end is over when all commands are, after a failure too.
  Scheduler::Submission end;
  for (size_t i = first; i < last; i = endOf(i))
    wait.push_back(batch.points[i]);
  end.work = {[held = std::move(held)] { return Status::ok(); },
              std::move(wait),
              std::move(after),
              std::move(signal),
              (isInit ? "the end of the init of " : "the end of ") + artifact.entry,
              {},
              {},
              {}};
  batch.works.push_back(std::move(end));
  scheduler.submit(device, std::move(batch.works));
}

class SimulatedProgram : public LoadedProgram {
public:
  SimulatedProgram(Device &owner, Scheduler &scheduler, unsigned index, ThreadPool &threads, Artifact source,
                   HostCode code, std::shared_ptr<Buffer> constants)
      : LoadedProgram(owner, std::move(source), std::move(constants)), scheduler(scheduler), index(index),
        threads(threads), code(std::move(code)) {}

  std::unique_ptr<Replay> record() const override {
    return std::make_unique<SimulatedReplay>(scheduler, index, source,
                                             recordHost(source, code.functions(), threads, device().queue()));
  }

private:
  Scheduler &scheduler;
  unsigned index;
  ThreadPool &threads;
  HostCode code;
};

} // namespace

SimulatedDevice::SimulatedDevice(std::shared_ptr<SimulatedWorld> itsWorld, std::shared_ptr<ThreadPool> threads,
                                 unsigned index, const SimulationOptions &options)
    : LoadingDevice(Scheduler::nameOf(index),
                    std::make_shared<SimulatedPool>(itsWorld->scheduler, index, options.memoryLimit)),
      world(std::move(itsWorld)), threads(std::move(threads)), index(index) {
  for (unsigned i = 0; i < options.queues; ++i)
    queues.push_back(std::make_unique<SimulatedQueue>(world->scheduler, index, i));
}

Result<std::shared_ptr<Program>> SimulatedDevice::loadVerified(Artifact artifact) {
  ZYX_RETURN_IF_ERROR(world->scheduler->lost(index));
  ZYX_ASSIGN_OR_RETURN(HostCode code, HostCode::load(artifact));
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> constants, placeConstants(artifact));
  return std::shared_ptr<Program>(std::make_shared<SimulatedProgram>(
      *this, *world->scheduler, index, *threads, std::move(artifact), std::move(code), std::move(constants)));
}
