//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../PoolLedger.h"

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Processors.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace zyx;
using namespace zyx::runtime;

namespace {

constexpr uint64_t hugePage = uint64_t(2) << 20;

class HostPool : public MemoryPool {
public:
  HostPool(uint64_t limit, std::shared_ptr<HostAllocator> allocator)
      : ledger("host", limit), allocator(std::move(allocator)) {}

  PoolUsage usage() const override { return ledger.usage(); }
  bool isHostMemory() const override { return true; }

  Result<Allocation> allocate(uint64_t size) override {
    return ledger.allocate(size, [&]() -> std::optional<uint64_t> {
      // Fewer page faults and misses of the address cache for what is streamed through.
      const bool huge = size >= 2 * hugePage;
      void *address = nullptr;
      if (allocator) {
        address = allocator->allocate(std::max<uint64_t>(size, 1), artifact::alignment);
        return address ? std::optional(reinterpret_cast<uint64_t>(address)) : std::nullopt;
      }
      if (::posix_memalign(&address, huge ? hugePage : artifact::alignment, std::max<uint64_t>(size, 1)) != 0)
        return std::nullopt;
      if (huge)
        ::madvise(address, size, MADV_HUGEPAGE);
      return reinterpret_cast<uint64_t>(address);
    });
  }

  Status deallocate(const Allocation &allocation) override {
    ZYX_RETURN_IF_ERROR(ledger.deallocate(allocation));
    void *address = reinterpret_cast<void *>(allocation.handle);
    if (allocator)
      allocator->deallocate(address, std::max<uint64_t>(allocation.size, 1));
    else
      std::free(address);
    return Status::ok();
  }

  Status copyIn(const Allocation &to, uint64_t offset, std::span<const std::byte> from) override {
    ZYX_RETURN_IF_ERROR(ledger.check(to, offset, from.size()));
    if (!from.empty())
      std::memcpy(reinterpret_cast<std::byte *>(to.handle) + offset, from.data(), from.size());
    return Status::ok();
  }

  Status copyOut(const Allocation &from, uint64_t offset, std::span<std::byte> to) override {
    ZYX_RETURN_IF_ERROR(ledger.check(from, offset, to.size()));
    if (!to.empty())
      std::memcpy(to.data(), reinterpret_cast<const std::byte *>(from.handle) + offset, to.size());
    return Status::ok();
  }

  Status copyTo(const Allocation &from, MemoryPool &pool, const Allocation &to, uint64_t size) override {
    ZYX_RETURN_IF_ERROR(ledger.check(from, 0, size));
    return pool.copyIn(to, 0, {reinterpret_cast<const std::byte *>(from.handle), size});
  }

  Result<std::byte *> address(const Allocation &of, uint64_t offset, uint64_t size) override {
    ZYX_RETURN_IF_ERROR(ledger.check(of, offset, size));
    return reinterpret_cast<std::byte *>(of.handle) + offset;
  }

private:
  PoolLedger ledger;
  const std::shared_ptr<HostAllocator> allocator;
};

} // namespace

std::shared_ptr<MemoryPool> runtime::createHostPool(uint64_t limit, std::shared_ptr<HostAllocator> allocator) {
  return std::make_shared<HostPool>(limit ? limit : usableMemory(), std::move(allocator));
}
