//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Device.h"

#include <algorithm>
#include <unordered_map>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;

namespace {

/// Counts like a pool of this size, and holds no byte.
class DummyPool : public MemoryPool {
public:
  explicit DummyPool(uint64_t limit) { counts.limit = limit ? limit : UINT64_MAX; }

  PoolUsage usage() const override {
    std::lock_guard lock(mutex);
    return counts;
  }
  bool isHostMemory() const override { return false; }

  Result<Allocation> allocate(uint64_t size) override {
    std::lock_guard lock(mutex);
    if (size > counts.limit - counts.inUse)
      return Status::outOfMemory("pool dummy holds " + std::to_string(counts.inUse) + " of " +
                                 std::to_string(counts.limit) + " bytes and cannot give " +
                                 std::to_string(size) + " more");
    const Allocation allocation{artifact::alignment * ++allocations, size};
    live.emplace(allocation.handle, size);
    counts.inUse += size;
    counts.highWater = std::max(counts.highWater, counts.inUse);
    return allocation;
  }

  Status deallocate(const Allocation &allocation) override {
    std::lock_guard lock(mutex);
    auto found = live.find(allocation.handle);
    if (found == live.end())
      return Status::invalidArgument("pool dummy has no such allocation");
    counts.inUse -= found->second;
    live.erase(found);
    return Status::ok();
  }

  Status copyIn(const Allocation &to, uint64_t offset, std::span<const std::byte> from) override {
    std::lock_guard lock(mutex);
    auto found = live.find(to.handle);
    if (found == live.end())
      return Status::invalidArgument("pool dummy has no such allocation");
    if (offset > found->second || from.size() > found->second - offset)
      return Status::invalidArgument("a copy of " + std::to_string(from.size()) +
                                     " bytes at byte " + std::to_string(offset) +
                                     " leaves an allocation of " + std::to_string(found->second));
    return Status::ok();
  }
  Status copyOut(const Allocation &, uint64_t, std::span<std::byte>) override { return noData(); }
  Status copyTo(const Allocation &, MemoryPool &, const Allocation &, uint64_t) override {
    return noData();
  }
  Result<std::byte *> address(const Allocation &, uint64_t, uint64_t) override { return noData(); }

private:
  static Status noData() {
    return Status::unsupported("pool dummy keeps no data that could be read");
  }

  mutable std::mutex mutex;
  PoolUsage counts;
  uint64_t allocations = 0;
  /// Size of each allocation.
  std::unordered_map<uint64_t, uint64_t> live;
};

/// Runs nothing, in the right order.
class DummyReplay : public Replay {
public:
  DummyReplay(Queue &queue, std::string name) : queue(queue), name(std::move(name)) {}
  void bind(uint32_t, uint64_t) override {}
  Status run(std::span<uint64_t> nanoseconds) override {
    std::fill(nanoseconds.begin(), nanoseconds.end(), 0);
    return Status::ok();
  }
  void submit(std::vector<Point> wait, std::vector<Point> after, Point signal) override {
    queue.submit({[] { return Status::ok(); },
                  std::move(wait),
                  std::move(after),
                  std::move(signal),
                  name,
                  {}});
  }

private:
  Queue &queue;
  std::string name;
};

class DummyProgram : public Program {
public:
  DummyProgram(Device &owner, Artifact source, std::shared_ptr<Buffer> constants)
      : owner(owner), source(std::move(source)), blob(std::move(constants)) {}

  Device &device() const override { return owner; }
  const Artifact &artifact() const override { return source; }
  const Buffer &constants() const override { return *blob; }
  std::unique_ptr<Replay> record() const override {
    return std::make_unique<DummyReplay>(owner.queue(), source.entry);
  }

private:
  Device &owner;
  Artifact source;
  std::shared_ptr<Buffer> blob;
};

class DummyDevice : public Device {
public:
  DummyDevice(uint64_t memoryLimit, std::unique_ptr<Queue> submissions)
      : memory(std::make_shared<DummyPool>(memoryLimit)), submissions(std::move(submissions)) {}

  const std::string &name() const override { return deviceName; }
  std::shared_ptr<MemoryPool> pool() const override { return memory; }
  Queue &queue() override { return *submissions; }

  Result<std::shared_ptr<Program>> load(Artifact artifact) override {
    Result<std::shared_ptr<Program>> program = tryLoad(std::move(artifact));
    if (!program)
      return program.status().withDevice(deviceName);
    return program;
  }

private:
  Result<std::shared_ptr<Program>> tryLoad(Artifact artifact) {
    ZYX_RETURN_IF_ERROR(artifact.verify());
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> constants,
                         Buffer::allocate(memory, artifact.constants.size()));
    artifact.constants = {};
    for (artifact::CodeBlob &code : artifact.code)
      code.bytes = {};
    return std::shared_ptr<Program>(
        std::make_shared<DummyProgram>(*this, std::move(artifact), std::move(constants)));
  }

  std::string deviceName = "dummy";
  std::shared_ptr<MemoryPool> memory;
  std::unique_ptr<Queue> submissions;
};

} // namespace

Result<std::shared_ptr<Device>> runtime::createDummyDevice(uint64_t memoryLimit) {
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Queue> queue, createThreadQueue());
  return std::shared_ptr<Device>(std::make_shared<DummyDevice>(memoryLimit, std::move(queue)));
}
