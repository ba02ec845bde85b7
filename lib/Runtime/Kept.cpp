//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Kept.h"

#include <algorithm>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;

std::shared_ptr<Buffer> Kept::memory() const {
  std::lock_guard lock(mutex);
  return own;
}

bool Kept::isMadeOf(const Buffer &held, std::span<const uint64_t> writes) const {
  return isMade && !held.hasFailed() && std::ranges::equal(made, writes);
}

void Kept::noteMade(std::span<const uint64_t> writes) {
  isMade = true;
  std::ranges::copy(writes, made.begin());
}

void Kept::sourceIsGone() {
  // A thread that is not here may hold the lock.
  if (mark.isForked())
    return;
  std::shared_ptr<Buffer> memory;
  std::lock_guard lock(mutex);
  // Freed without the lock.
  memory = std::exchange(own, nullptr);
}

Result<std::shared_ptr<Kept>> KeptStore::make(std::span<const std::shared_ptr<Buffer>> weights,
                                              const std::shared_ptr<MemoryPool> &pool, uint64_t size) {
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> memory, Buffer::allocate(pool, size));
  auto kept = std::make_shared<Kept>(std::move(memory), weights.size());
  for (const std::shared_ptr<Buffer> &weight : weights)
    weight->addDependent(kept);
  return kept;
}

Result<std::shared_ptr<Kept>> KeptStore::find(const Hash128 &identity, std::span<const std::shared_ptr<Buffer>> weights,
                                              const std::shared_ptr<MemoryPool> &pool, uint64_t size) {
  Key key{identity.high, identity.low, size, {}};
  for (const std::shared_ptr<Buffer> &weight : weights)
    key.weights.push_back(weight->number());
  std::lock_guard lock(mutex);
  if (const auto found = all.find(key); found != all.end())
    if (std::shared_ptr<Kept> kept = found->second.lock())
      return kept;
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Kept> kept, make(weights, pool, size));
  std::erase_if(all, [](const auto &one) { return one.second.expired(); });
  all[std::move(key)] = kept;
  return kept;
}
