//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../Loading.h"
#include "../../PoolLedger.h"
#include "../../QueuedReplay.h"

#include <algorithm>
#include <atomic>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;

namespace {

/// Counts like a pool of this size, and holds no byte.
class DummyPool : public MemoryPool {
public:
  explicit DummyPool(uint64_t limit) : ledger("dummy", limit ? limit : UINT64_MAX) {}

  PoolUsage usage() const override { return ledger.usage(); }
  bool isHostMemory() const override { return false; }

  Result<Allocation> allocate(uint64_t size) override {
    return ledger.allocate(size, [&] { return artifact::alignment * ++allocations; });
  }
  Status deallocate(const Allocation &allocation) override { return ledger.deallocate(allocation); }
  Status copyIn(const Allocation &to, uint64_t offset, std::span<const std::byte> from) override {
    return ledger.check(to, offset, from.size());
  }
  Status copyOut(const Allocation &, uint64_t, std::span<std::byte>) override { return noData(); }
  Status copyTo(const Allocation &, MemoryPool &, const Allocation &, uint64_t) override { return noData(); }
  Result<std::byte *> address(const Allocation &, uint64_t, uint64_t) override { return noData(); }

private:
  static Status noData() { return Status::unsupported("pool dummy keeps no data that could be read"); }

  PoolLedger ledger;
  std::atomic<uint64_t> allocations = 0;
};

/// Runs nothing, in the right order.
class DummyReplay : public QueuedReplay {
public:
  using QueuedReplay::QueuedReplay;
  void bind(uint32_t, uint64_t, uint64_t) override {}
  Status run(Part, std::span<uint64_t>) override { return Status::ok(); }
};

class DummyProgram : public LoadedProgram {
public:
  using LoadedProgram::LoadedProgram;
  std::unique_ptr<Replay> record() const override {
    return std::make_unique<DummyReplay>(device().queue(), source.entry);
  }
};

class DummyDevice : public LoadingDevice {
public:
  DummyDevice(uint64_t memoryLimit, std::unique_ptr<Queue> submissions)
      : LoadingDevice("dummy", std::make_shared<DummyPool>(memoryLimit)), submissions(std::move(submissions)) {}

  Queue &queue() override { return *submissions; }

private:
  Result<std::shared_ptr<Program>> loadVerified(Artifact artifact) override {
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> constants, placeConstants(artifact));
    return std::shared_ptr<Program>(std::make_shared<DummyProgram>(*this, std::move(artifact), std::move(constants)));
  }

  std::unique_ptr<Queue> submissions;
};

} // namespace

Result<std::shared_ptr<Device>> runtime::createDummyDevice(uint64_t memoryLimit) {
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Queue> queue, createThreadQueue());
  return std::shared_ptr<Device>(std::make_shared<DummyDevice>(memoryLimit, std::move(queue)));
}
