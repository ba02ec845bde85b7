//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_MEMORYPOOL_H
#define ZYX_RUNTIME_MEMORYPOOL_H

#include "zyx/Runtime/Timeline.h"

#include <cstddef>
#include <memory>
#include <span>

namespace zyx::runtime {

/// Memory of one pool. `handle` is the address in pools of host memory. Elsewhere it is an address of the device, or a
/// number that its driver maps to an object: the ranges [handle, handle + size) of what is allocated never overlap.
struct Allocation {
  uint64_t handle = 0;
  uint64_t size = 0;
};

struct PoolUsage {
  /// Bytes: the most that may be in use, in use now, and in use at the highest.
  uint64_t limit = 0, inUse = 0, highWater = 0;
};

/// A device's memory under a budget. Calls from several threads are safe; a failed call changes
/// nothing. Reads and writes take effect before they return.
class MemoryPool {
public:
  virtual ~MemoryPool() = default;

  virtual PoolUsage usage() const = 0;
  /// Handles are addresses that this process can read and write.
  virtual bool isHostMemory() const = 0;
  /// Aligned to artifact::alignment. Uninitialised. Fails where `size` bytes more would exceed the
  /// limit, or the system has no more.
  virtual Result<Allocation> allocate(uint64_t size) = 0;
  /// Refuses what is not allocated here.
  virtual Status deallocate(const Allocation &allocation) = 0;

  /// Memory of somebody else that lies here, which is copied like allocations until dropForeign(). It counts for no
  /// limit. Several may have one handle.
  virtual Status addForeign(const Allocation &) { return Status::unsupported("this memory is its pool's alone"); }
  virtual void dropForeign(const Allocation &) {}

  virtual Status copyIn(const Allocation &to, uint64_t offset, std::span<const std::byte> from) = 0;
  virtual Status copyOut(const Allocation &from, uint64_t offset, std::span<std::byte> to) = 0;
  /// `from` is of this pool, `to` of the same or another one.
  virtual Status copyTo(const Allocation &from, MemoryPool &pool, const Allocation &to, uint64_t size) = 0;
  /// Whether copies from there need no host, so that they can be left to this memory's device.
  virtual bool reaches(const MemoryPool &) { return false; }
  /// Whether what is done in this memory can wait for the fence without the host; and has all that comes do so.
  virtual bool canWaitFor(const Fence &) const { return false; }
  virtual Status waitFor(const Fence &) { return Status::unsupported("this memory knows no fences"); }
  /// Where the host finds `size` bytes from `offset`, in pools of host memory.
  virtual Result<std::byte *> address(const Allocation &of, uint64_t offset, uint64_t size) = 0;
};

/// Where a pool of host memory takes its memory. Calls from several threads at once.
class HostAllocator {
public:
  virtual ~HostAllocator() = default;
  /// `size` bytes, at least 1, at a multiple of `alignment`, a power of two; null where there are none.
  virtual void *allocate(uint64_t size, uint64_t alignment) = 0;
  /// What was given for so many bytes.
  virtual void deallocate(void *data, uint64_t size) = 0;
};

/// Host memory. A limit of 0 means what the process may use of the machine's memory. Without an allocator it is the
/// system's.
std::shared_ptr<MemoryPool> createHostPool(uint64_t limit = 0, std::shared_ptr<HostAllocator> allocator = nullptr);

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_MEMORYPOOL_H
