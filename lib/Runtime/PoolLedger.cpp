//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "PoolLedger.h"

#include "zyx/Base/Debug.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::runtime;

PoolUsage PoolLedger::usage() const {
  std::lock_guard lock(mutex);
  return counts;
}

Status PoolLedger::unknown() const { return Status::invalidArgument("pool " + pool + " has no such allocation"); }

Result<Allocation> PoolLedger::allocate(uint64_t size, const std::function<std::optional<uint64_t>()> &take) {
  std::unique_lock lock(mutex);
  // What is taken is noted without needing memory.
  decltype(live) fresh;
  fresh.emplace(0, size);
  auto noted = fresh.extract(fresh.begin());
  const bool fits = size <= counts.limit - counts.inUse;
  std::optional<uint64_t> handle;
  if (fits) {
    // Of this budget nobody else takes meanwhile. The system may let us wait, and others need not.
    counts.inUse += size;
    lock.unlock();
    try {
      handle = take();
    } catch (...) {
      lock.lock();
      counts.inUse -= size;
      throw;
    }
    lock.lock();
    if (!handle)
      counts.inUse -= size;
  }
  if (!handle)
    return Status::outOfMemory("pool " + pool + " holds " + std::to_string(counts.inUse) + " of " +
                               std::to_string(counts.limit) + " bytes and cannot give " + std::to_string(size) +
                               " more");
  noted.key() = *handle;
  live.insert(std::move(noted));
  counts.highWater = std::max(counts.highWater, counts.inUse);
  ZYX_DEBUG(Memory, "pool " + pool + " gives " + std::to_string(size) + " bytes, and has " +
                        std::to_string(counts.limit - counts.inUse) + " left");
  return Allocation{*handle, size};
}

Status PoolLedger::deallocate(const Allocation &allocation) {
  std::lock_guard lock(mutex);
  const auto found = live.find(allocation.handle);
  if (found == live.end())
    return unknown();
  counts.inUse -= found->second;
  ZYX_DEBUG(Memory, "pool " + pool + " gets back " + std::to_string(found->second) + " bytes, and has " +
                        std::to_string(counts.limit - counts.inUse) + " left");
  live.erase(found);
  return Status::ok();
}

void PoolLedger::addForeign(const Allocation &allocation) {
  std::lock_guard lock(mutex);
  foreign.emplace(allocation.handle, allocation.size);
}

void PoolLedger::dropForeign(const Allocation &allocation) {
  std::lock_guard lock(mutex);
  const auto [begin, end] = foreign.equal_range(allocation.handle);
  const auto found = std::find_if(begin, end, [&](const auto &one) { return one.second == allocation.size; });
  if (found != end)
    foreign.erase(found);
}

Status PoolLedger::check(const Allocation &allocation, uint64_t offset, uint64_t size) const {
  std::lock_guard lock(mutex);
  const auto [begin, end] = foreign.equal_range(allocation.handle);
  for (auto one = begin; one != end; ++one)
    if (offset <= one->second && size <= one->second - offset)
      return Status::ok();
  const auto found = live.find(allocation.handle);
  if (found == live.end())
    return unknown();
  if (offset > found->second || size > found->second - offset)
    return Status::invalidArgument("a copy of " + std::to_string(size) + " bytes at byte " + std::to_string(offset) +
                                   " leaves an allocation of " + std::to_string(found->second));
  return Status::ok();
}
