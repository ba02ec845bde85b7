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
  explicit HostPool(uint64_t limit) : ledger("host", limit) {}

  PoolUsage usage() const override { return ledger.usage(); }
  bool isHostMemory() const override { return true; }

  Result<Allocation> allocate(uint64_t size) override {
    return ledger.allocate(size, [&]() -> std::optional<uint64_t> {
      // Fewer page faults and misses of the address cache for what is streamed through.
      const bool huge = size >= 2 * hugePage;
      void *address = nullptr;
      if (::posix_memalign(&address, huge ? hugePage : artifact::alignment, std::max<uint64_t>(size, 1)) != 0)
        return std::nullopt;
      if (huge)
        ::madvise(address, size, MADV_HUGEPAGE);
      return reinterpret_cast<uint64_t>(address);
    });
  }

  Status deallocate(const Allocation &allocation) override {
    ZYX_RETURN_IF_ERROR(ledger.deallocate(allocation));
    std::free(reinterpret_cast<void *>(allocation.handle));
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
};

} // namespace

std::shared_ptr<MemoryPool> runtime::createHostPool(uint64_t limit) {
  return std::make_shared<HostPool>(limit ? limit : usableMemory());
}
