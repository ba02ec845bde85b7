//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_POOLLEDGER_H
#define ZYX_LIB_RUNTIME_POOLLEDGER_H

#include "zyx/Runtime/MemoryPool.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace zyx::runtime {

/// What is allocated in a pool, under its budget. Calls from several threads are safe; a failed one
/// changes nothing.
class PoolLedger {
public:
  /// `pool` is its name in what is refused; `limit` counts bytes.
  PoolLedger(std::string pool, uint64_t limit) : pool(std::move(pool)) { counts.limit = limit; }

  PoolUsage usage() const;
  /// `take` gives a handle that is not in use, or nothing where the system has no more memory. No lock is held while it
  /// runs; what it is asked for counts as in use.
  Result<Allocation> allocate(uint64_t size, const std::function<std::optional<uint64_t>()> &take);
  /// Forgets an allocation; its memory can be freed then.
  Status deallocate(const Allocation &allocation);
  /// Memory of somebody else, which check() knows, and no budget.
  void addForeign(const Allocation &allocation);
  void dropForeign(const Allocation &allocation);
  /// Whether `size` bytes from byte `offset` lie in an allocation.
  Status check(const Allocation &allocation, uint64_t offset, uint64_t size) const;

private:
  Status unknown() const;

  const std::string pool;
  mutable std::mutex mutex;
  PoolUsage counts;
  /// Size of each allocation, by its handle.
  std::map<uint64_t, uint64_t> live;
  std::multimap<uint64_t, uint64_t> foreign;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_POOLLEDGER_H
