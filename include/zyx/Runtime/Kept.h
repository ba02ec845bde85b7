//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_KEPT_H
#define ZYX_RUNTIME_KEPT_H

#include "zyx/Base/Forked.h"
#include "zyx/Base/Hash.h"
#include "zyx/Runtime/Buffer.h"

#include <compare>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace zyx::runtime {

/// What a step of an init made of weights, such as a packed one, in memory that all executors which run an equal step
/// on the same buffers have in common. The memory goes with the last of them, and with the first of the weights. A step
/// that makes it is noted as one that writes the memory, so that whoever reads it comes behind.
class Kept : public Dependent {
public:
  explicit Kept(std::shared_ptr<Buffer> memory, size_t numWeights) : own(std::move(memory)), made(numWeights) {}

  /// None once a weight is gone.
  std::shared_ptr<Buffer> memory() const;
  /// Whether the bytes are those of the weights as they have been written so often, once the last write of the memory
  /// is over. This and `noteMade` are for who holds the memory.
  bool isMadeOf(const Buffer &held, std::span<const uint64_t> writes) const;
  void noteMade(std::span<const uint64_t> writes);

  void sourceIsGone() override;

private:
  const ForkMark mark;
  mutable std::mutex mutex;
  std::shared_ptr<Buffer> own;
  bool isMade = false;
  /// How often each weight had been written.
  std::vector<uint64_t> made;
};

/// All of a device. Calls from several threads are safe.
class KeptStore {
public:
  /// What the step of this identity makes of these buffers, whether or not it has been made yet. OutOfMemory changes
  /// nothing.
  Result<std::shared_ptr<Kept>> find(const Hash128 &identity, std::span<const std::shared_ptr<Buffer>> weights,
                                     const std::shared_ptr<MemoryPool> &pool, uint64_t size);
  /// The same of a step that is like no other.
  static Result<std::shared_ptr<Kept>> make(std::span<const std::shared_ptr<Buffer>> weights,
                                            const std::shared_ptr<MemoryPool> &pool, uint64_t size);

private:
  struct Key {
    uint64_t high, low, size;
    /// Numbers of the buffers.
    std::vector<uint64_t> weights;
    auto operator<=>(const Key &) const = default;
  };
  std::mutex mutex;
  std::map<Key, std::weak_ptr<Kept>> all;
};

/// Bytes of what several keep, each buffer counted once: with the first who has it, until the last is gone.
class KeptBytes {
public:
  /// Of what an executor has, say: its forEachKept() visits it.
  template <typename Keeper> void add(const Keeper &keeper) {
    keeper.forEachKept([&](const Buffer &kept) { bytes += keepers[&kept]++ == 0 ? kept.size() : 0; });
  }
  /// One that was added.
  template <typename Keeper> void remove(const Keeper &keeper) {
    keeper.forEachKept([&](const Buffer &kept) { bytes -= --keepers[&kept] == 0 ? kept.size() : 0; });
  }
  uint64_t total() const { return bytes; }

private:
  std::unordered_map<const Buffer *, size_t> keepers;
  uint64_t bytes = 0;
};

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_KEPT_H
