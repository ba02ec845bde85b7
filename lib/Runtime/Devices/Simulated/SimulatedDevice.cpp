//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SimulatedDevice.h"

#include "../Host/Host.h"

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
  Status copyTo(const Allocation &from, MemoryPool &pool, const Allocation &to,
                uint64_t size) override {
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
/// others. A loop is one piece of work with all of its body.
class SimulatedReplay : public Replay {
public:
  SimulatedReplay(Scheduler &scheduler, unsigned device, const Artifact &artifact,
                  std::unique_ptr<HostReplay> commands)
      : scheduler(scheduler), device(device), artifact(artifact), commands(std::move(commands)),
        handles(artifact.buffers.size()) {
    for (size_t i = 0; i < artifact.commands.size(); ++i) {
      Step step{i, nameOf(i), {}};
      const auto *loop = std::get_if<artifact::Loop>(&artifact.commands[i].action);
      const size_t end = i + (loop ? loop->body : 0);
      for (size_t part = i; part <= end; ++part)
        std::visit([&](const auto &action) { uses(action, step.uses); },
                   artifact.commands[part].action);
      i = end;
      steps.push_back(std::move(step));
    }
  }

  void bind(uint32_t buffer, uint64_t handle) override {
    handles[buffer] = handle;
    commands->bind(buffer, handle);
  }
  Status run(std::span<uint64_t> nanoseconds) override {
    const Point done{std::make_shared<Timeline>(), 1};
    submit({}, {}, done, nanoseconds);
    return done.wait();
  }
  void submit(std::vector<Point> wait, std::vector<Point> after, Point signal) override {
    submit(std::move(wait), std::move(after), std::move(signal), {});
  }

private:
  struct Use {
    BufferRef ref;
    uint64_t size;
    bool isWrite;
  };
  struct Step {
    size_t command;
    std::string name;
    std::vector<Use> uses;
  };

  std::string nameOf(size_t command) const {
    static constexpr const char *kinds[] = {"launch", "copy", "fill", "loop"};
    const auto &action = artifact.commands[command].action;
    const auto *launch = std::get_if<artifact::Launch>(&action);
    return (launch ? artifact.kernels[launch->kernel].name : kinds[action.index()]) +
           std::string(", command ") + std::to_string(command) + " of " + artifact.entry;
  }

  /// A kernel may touch its buffers from the offset to the end.
  void uses(const artifact::Launch &launch, std::vector<Use> &to) const {
    const artifact::Kernel &kernel = artifact.kernels[launch.kernel];
    for (size_t i = 0; i < launch.buffers.size(); ++i) {
      const BufferRef &ref = launch.buffers[i];
      to.push_back({ref, artifact.buffers[ref.buffer].size - ref.offset,
                    i >= kernel.numBuffers - kernel.numWritten});
    }
  }
  void uses(const artifact::Copy &copy, std::vector<Use> &to) const {
    to.push_back({copy.source, copy.size, false});
    to.push_back({copy.destination, copy.size, true});
  }
  void uses(const artifact::Fill &fill, std::vector<Use> &to) const {
    to.push_back({fill.destination, fill.size, true});
  }
  void uses(const artifact::Loop &loop, std::vector<Use> &to) const {
    if (loop.count)
      to.push_back({*loop.count, sizeof(int64_t), false});
    if (loop.index)
      to.push_back({*loop.index, sizeof(int64_t), true});
  }

  void submit(std::vector<Point> wait, std::vector<Point> after, Point signal,
              std::span<uint64_t> nanoseconds);

  Scheduler &scheduler;
  unsigned device;
  const Artifact &artifact;
  std::unique_ptr<HostReplay> commands;
  std::vector<uint64_t> handles;
  std::vector<Step> steps;
};

void SimulatedReplay::submit(std::vector<Point> wait, std::vector<Point> after, Point signal,
                             std::span<uint64_t> nanoseconds) {
  std::vector<Point> points(artifact.commands.size());
  std::vector<Scheduler::Submission> batch;
  for (const Step &step : steps) {
    Scheduler::Submission one;
    one.work.body = [this, &step] {
      commands->runCommand(step.command);
      return Status::ok();
    };
    one.work.name = step.name;
    for (const Use &use : step.uses) {
      const uint64_t begin = handles[use.ref.buffer] + use.ref.offset;
      one.work.accesses.push_back({begin, begin + use.size, use.isWrite});
    }
    for (uint32_t earlier : artifact.commands[step.command].wait)
      one.work.wait.push_back(points[earlier]);
    if (one.work.wait.empty()) {
      one.work.wait = wait;
      one.work.after = after;
    }
    points[step.command] = one.work.signal = {std::make_shared<Timeline>(), 1};
    if (!nanoseconds.empty())
      one.latency = &nanoseconds[step.command];
    batch.push_back(std::move(one));
  }
  // The end of the run is over when all commands are, after a failure too.
  Scheduler::Submission end;
  end.work = {[] { return Status::ok(); },
              std::move(wait),
              std::move(after),
              std::move(signal),
              "the end of " + artifact.entry,
              {}};
  for (const Step &step : steps)
    end.work.wait.push_back(points[step.command]);
  batch.push_back(std::move(end));
  scheduler.submit(device, std::move(batch));
}

class SimulatedProgram : public Program {
public:
  SimulatedProgram(Device &owner, Scheduler &scheduler, unsigned index, ThreadPool &threads,
                   Artifact source, HostCode code, std::shared_ptr<Buffer> constants)
      : owner(owner), scheduler(scheduler), index(index), threads(threads),
        source(std::move(source)), code(std::move(code)), blob(std::move(constants)) {}

  Device &device() const override { return owner; }
  const Artifact &artifact() const override { return source; }
  const Buffer &constants() const override { return *blob; }
  std::unique_ptr<Replay> record() const override {
    return std::make_unique<SimulatedReplay>(
        scheduler, index, source, recordHost(source, code.functions(), threads, owner.queue()));
  }

private:
  Device &owner;
  Scheduler &scheduler;
  unsigned index;
  ThreadPool &threads;
  Artifact source;
  HostCode code;
  std::shared_ptr<Buffer> blob;
};

} // namespace

SimulatedDevice::SimulatedDevice(std::shared_ptr<SimulatedWorld> itsWorld,
                                 std::shared_ptr<ThreadPool> threads, unsigned index,
                                 const SimulationOptions &options)
    : world(std::move(itsWorld)), threads(std::move(threads)), index(index),
      deviceName(Scheduler::nameOf(index)),
      memory(std::make_shared<SimulatedPool>(world->scheduler, index, options.memoryLimit)) {
  for (unsigned i = 0; i < options.queues; ++i)
    queues.push_back(std::make_unique<SimulatedQueue>(world->scheduler, index, i));
}

Result<std::shared_ptr<Program>> SimulatedDevice::load(Artifact artifact) {
  Result<std::shared_ptr<Program>> program = tryLoad(std::move(artifact));
  if (!program)
    return program.status().withDevice(deviceName);
  return program;
}

Result<std::shared_ptr<Program>> SimulatedDevice::tryLoad(Artifact artifact) {
  ZYX_RETURN_IF_ERROR(world->scheduler->lost(index));
  ZYX_RETURN_IF_ERROR(artifact.verify());
  ZYX_ASSIGN_OR_RETURN(HostCode code, HostCode::load(artifact));
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> constants,
                       Buffer::allocate(memory, artifact.constants.size()));
  ZYX_RETURN_IF_ERROR(constants->write(artifact.constants));
  artifact.constants = {};
  for (artifact::CodeBlob &blob : artifact.code)
    blob.bytes = {};
  return std::shared_ptr<Program>(std::make_shared<SimulatedProgram>(
      *this, *world->scheduler, index, *threads, std::move(artifact), std::move(code),
      std::move(constants)));
}
