//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_BUFFER_H
#define ZYX_RUNTIME_BUFFER_H

#include "zyx/Runtime/MemoryPool.h"
#include "zyx/Runtime/Queue.h"

#include <mutex>
#include <vector>

namespace zyx::runtime {

/// What was made of a buffer's contents and means nothing without them.
class Dependent {
public:
  virtual ~Dependent() = default;
  /// On the thread that ends the buffer.
  virtual void sourceIsGone() = 0;
};

/// A range of device memory with the points at which it was last used. Shared by the programs that
/// pass it on; freed with its last owner, work in flight included.
class Buffer {
public:
  static Result<std::shared_ptr<Buffer>> allocate(std::shared_ptr<MemoryPool> pool, uint64_t size);
  /// Memory that is allocated in `pool`, and is freed by the buffer.
  static std::shared_ptr<Buffer> adopt(std::shared_ptr<MemoryPool> pool, Allocation memory);
  /// Memory of the caller, which must outlive all use; `owner`, which may keep it, is let go when there is none any
  /// more.
  static std::shared_ptr<Buffer> borrow(void *data, uint64_t size, std::shared_ptr<void> owner = nullptr);
  /// Memory of somebody else in a pool that is not the host's; `owner` keeps it until then.
  static Result<std::shared_ptr<Buffer>> borrow(std::shared_ptr<MemoryPool> pool, Allocation memory,
                                                std::shared_ptr<void> owner);
  /// Memory of the host that the buffer alone has, of no pool: for a few bytes that a run takes with it
  /// (Device::largestHostInput). It is aligned as a pool's is, so that elements of any type may be read there.
  static std::shared_ptr<Buffer> onHost(uint64_t size);
  ~Buffer();
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  uint64_t size() const { return memory.size; }
  /// No other buffer of the process has it, before or after.
  uint64_t number() const { return ownNumber; }
  /// It is not the caller's, who may have it elsewhere and may not want it written.
  bool ownsMemory() const { return pool && !owner; }
  /// Somebody else may write the memory and note nothing.
  bool isLent() const { return !ownsMemory() && !isOwnHostMemory; }
  /// The address in pools of host memory and of borrowed memory.
  uint64_t handle() const { return memory.handle; }
  /// Work on memory of `other` can use this buffer too: it lies there, or both are host memory.
  bool isUsableIn(const MemoryPool &other) const;
  bool isOnHost() const { return !pool || pool->isHostMemory(); }

  /// Held from what a piece of work must wait for to what is noted of it, over all its buffers and while
  /// it is handed to a queue, so that of two pieces one is behind the other wherever they meet. One thread
  /// may hold a buffer twice; several are locked in the order of their addresses.
  void lock() const { mutex.lock(); }
  void unlock() const { mutex.unlock(); }

  /// Whether the last writer has succeeded.
  bool isReady() const;
  /// Whether the last writer has failed.
  bool hasFailed() const;
  /// What the next reader must wait for, added to `points`: it fails with the last writer.
  void beforeRead(std::vector<Point> &points) const;
  /// What must be over, in whatever way, before the next writer starts, added to `points`.
  void beforeWrite(std::vector<Point> &points) const;
  /// What the notes of one piece of work need: where memory ends it throws, and has changed nothing, while they do not
  /// throw.
  void makeRoom(size_t notes = 1) const;
  /// Once, however often the work reads it.
  void noteRead(Point point) const;
  /// Nothing where it was noted before.
  void noteWrite(Point point);
  /// The same of a run that gets the buffer as an input, too: until it begins, what is there now still is.
  void noteDonation(Point point);
  /// That run has failed, or is about to, and never began.
  void noteNeverBegan(const Point &point);
  /// The same; and what was there is the buffer's value again, which nobody has yet taken for what the run makes.
  void cancelDonation(const Point &point);
  /// The value before runs that took the buffer, where none of them has begun and the last has failed, for which this
  /// waits: a buffer that has the memory from now on. This one's value stays what has failed. Else none.
  std::shared_ptr<Buffer> recoverDonated();
  /// Waits for the last writer; where `toWrite`, for the readers too, and failed users are no
  /// failure.
  Status wait(bool toWrite) const;

  /// Grows with each write that is noted: by a program, or by the functions below. One that is counted
  /// may still be in flight.
  uint64_t writes() const;
  /// Counts one by other means, of memory of the caller, which he has ordered.
  void countWrite();
  /// Is told of the buffer's end, unless it ends before.
  void addDependent(std::weak_ptr<Dependent> dependent) const;

  /// Waits for those who use the range, then copies all of it; whoever uses it meanwhile comes after. A
  /// failure changes nothing.
  Status write(std::span<const std::byte> from);
  /// As `write`, but no write is noted where host memory holds these bytes already: who keeps what depends on
  /// them need not make it again.
  Status update(std::span<const std::byte> from);
  Status read(std::span<std::byte> to) const;
  /// The same of the bytes from `offset` on; refuses those beyond the end.
  Status read(uint64_t offset, std::span<std::byte> to) const;
  /// As `write`, with the contents of a buffer of the same size, from pool to pool.
  Status copyFrom(const Buffer &from);
  /// The same by a queue, which is that of this buffer's device: the point that is reached when it is over. Who uses
  /// either of both comes after. Where fences are known, the host waits for nobody before it begins.
  static Result<Point> copyLater(std::shared_ptr<const Buffer> from, std::shared_ptr<Buffer> to, Queue &queue);
  /// Whether copies from there need no host.
  bool reaches(const Buffer &from) const { return pool && from.pool && pool->reaches(*from.pool); }

private:
  class HostUse;
  class Pair;
  Buffer(std::shared_ptr<MemoryPool> pool, Allocation memory)
      : pool(std::move(pool)), memory(memory), ownNumber(nextNumber()) {}
  static uint64_t nextNumber();
  Status checkSize(size_t given) const;

  /// Null where the memory is borrowed.
  std::shared_ptr<MemoryPool> pool;
  /// Of memory that is somebody else's, where that is known. Let go behind the pool's deallocation.
  std::shared_ptr<void> owner;
  Allocation memory;
  /// Of no pool, and nobody else has it.
  bool isOwnHostMemory = false;
  const uint64_t ownNumber;
  mutable std::recursive_mutex mutex;
  Point lastWrite;
  /// Where the last write is a taking: the writes before it from the last one that is over, without those that never
  /// began; and whether it is such a one itself.
  mutable std::vector<Point> before;
  bool isUntouched = false;
  /// The one right before it, whatever became of that.
  Point previous;
  /// Another buffer has the memory.
  bool isTakenBack = false;
  uint64_t numWrites = 0;
  mutable std::vector<Point> reads;
  mutable std::vector<std::weak_ptr<Dependent>> dependents;
};

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_BUFFER_H
