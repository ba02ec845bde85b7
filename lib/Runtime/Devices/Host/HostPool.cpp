//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Artifact/Artifact.h"
#include "zyx/Runtime/MemoryPool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>

using namespace zyx;
using namespace zyx::runtime;

namespace {

constexpr uint64_t hugePage = uint64_t(2) << 20;

class HostPool : public MemoryPool {
public:
  explicit HostPool(uint64_t limit) { counts.limit = limit; }

  PoolUsage usage() const override {
    std::lock_guard lock(mutex);
    return counts;
  }

  bool isHostMemory() const override { return true; }

  Result<Allocation> allocate(uint64_t size) override {
    std::lock_guard lock(mutex);
    if (size > counts.limit - counts.inUse)
      return outOfMemory(size);
    // Fewer page faults and misses of the address cache for what is streamed through.
    const bool huge = size >= 2 * hugePage;
    void *address = nullptr;
    if (::posix_memalign(&address, huge ? hugePage : artifact::alignment,
                         std::max<uint64_t>(size, 1)) != 0)
      return outOfMemory(size);
    if (huge)
      ::madvise(address, size, MADV_HUGEPAGE);
    const Allocation allocation{reinterpret_cast<uint64_t>(address), size};
    live.emplace(allocation.handle, size);
    counts.inUse += size;
    counts.highWater = std::max(counts.highWater, counts.inUse);
    return allocation;
  }

  Status deallocate(const Allocation &allocation) override {
    std::lock_guard lock(mutex);
    auto found = live.find(allocation.handle);
    if (found == live.end())
      return unknown();
    std::free(reinterpret_cast<void *>(found->first));
    counts.inUse -= found->second;
    live.erase(found);
    return Status::ok();
  }

  Status copyIn(const Allocation &to, uint64_t offset, std::span<const std::byte> from) override {
    ZYX_RETURN_IF_ERROR(check(to, offset, from.size()));
    if (!from.empty())
      std::memcpy(reinterpret_cast<std::byte *>(to.handle) + offset, from.data(), from.size());
    return Status::ok();
  }

  Status copyOut(const Allocation &from, uint64_t offset, std::span<std::byte> to) override {
    ZYX_RETURN_IF_ERROR(check(from, offset, to.size()));
    if (!to.empty())
      std::memcpy(to.data(), reinterpret_cast<const std::byte *>(from.handle) + offset, to.size());
    return Status::ok();
  }

  Status copyTo(const Allocation &from, MemoryPool &pool, const Allocation &to,
                uint64_t size) override {
    ZYX_RETURN_IF_ERROR(check(from, 0, size));
    return pool.copyIn(to, 0, {reinterpret_cast<const std::byte *>(from.handle), size});
  }

  Result<std::byte *> address(const Allocation &of, uint64_t offset, uint64_t size) override {
    ZYX_RETURN_IF_ERROR(check(of, offset, size));
    return reinterpret_cast<std::byte *>(of.handle) + offset;
  }

private:
  Status outOfMemory(uint64_t size) const {
    return Status::outOfMemory("pool host holds " + std::to_string(counts.inUse) + " of " +
                               std::to_string(counts.limit) + " bytes and cannot give " +
                               std::to_string(size) + " more");
  }
  static Status unknown() { return Status::invalidArgument("pool host has no such allocation"); }
  Status check(const Allocation &allocation, uint64_t offset, uint64_t size) const {
    std::lock_guard lock(mutex);
    auto found = live.find(allocation.handle);
    if (found == live.end())
      return unknown();
    if (offset > found->second || size > found->second - offset)
      return Status::invalidArgument("a copy of " + std::to_string(size) + " bytes at byte " +
                                     std::to_string(offset) + " leaves an allocation of " +
                                     std::to_string(found->second));
    return Status::ok();
  }

  mutable std::mutex mutex;
  PoolUsage counts;
  /// Size of each allocation, by its address.
  std::unordered_map<uint64_t, uint64_t> live;
};

uint64_t physicalMemory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(bytes)
                                : UINT64_MAX;
}

} // namespace

std::shared_ptr<MemoryPool> runtime::createHostPool(uint64_t limit) {
  return std::make_shared<HostPool>(limit ? limit : physicalMemory());
}
