//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the host does with the contents of buffers. Compiled for size: a copy takes longer than the call.
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Buffer.h"

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Exceptions.h"

#include <cstring>
#include <functional>
#include <new>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;

std::shared_ptr<Buffer> Buffer::onHost(uint64_t size) {
  constexpr std::align_val_t alignment{artifact::alignment};
  // An array of bytes made by make_shared need be aligned to one byte only.
  const std::shared_ptr<void> data(::operator new(size, alignment),
                                   [](void *memory) { ::operator delete(memory, alignment); });
  std::memset(data.get(), 0, size);
  std::shared_ptr<Buffer> buffer = borrow(data.get(), size, data);
  buffer->isOwnHostMemory = true;
  return buffer;
}

Status Buffer::checkSize(size_t given) const {
  if (given == memory.size)
    return Status::ok();
  return Status::invalidArgument("the buffer has " + std::to_string(memory.size) + " bytes, not " +
                                 std::to_string(given));
}

/// Two buffers, or one of them, held in the order of their addresses.
class Buffer::Pair {
public:
  Pair(const Buffer *a, const Buffer *b) : first(a), second(b) {
    if (std::less<>()(second, first))
      std::swap(first, second);
    for (const Buffer *buffer : {first, second})
      if (buffer)
        buffer->lock();
  }
  ~Pair() {
    for (const Buffer *buffer : {first, second})
      if (buffer)
        buffer->unlock();
  }
  Pair(const Pair &) = delete;

private:
  const Buffer *first, *second;
};

/// A use by the host, which is ordered among the others before it begins and over at its end.
class Buffer::HostUse {
public:
  HostUse(const Buffer *read, Buffer *written) {
    Pair held(read, written);
    // Nothing is noted where memory ends.
    if (read) {
      read->beforeRead(reached);
      read->makeRoom();
    }
    if (written) {
      written->beforeRead(contents);
      written->beforeWrite(over);
      written->noteWrite(done);
    }
    if (read)
      read->noteRead(done);
  }

  /// Calls `copy` when all is there, and tells how that ended.
  template <typename Copy> Status run(Copy copy) {
    Status status;
    for (const Point &point : reached)
      if (status.isOk())
        status = point.wait();
    for (const Point &point : over) [[maybe_unused]]
      Status ended = point.wait();
    if (status.isOk())
      status = withoutExceptions(copy);
    // A copy that fails has changed nothing: what was there before still is, if it was.
    Status there;
    if (!status.isOk())
      for (const Point &point : contents)
        there = point.wait();
    if (there.isOk())
      there = done.timeline->signal(done.value);
    if (!there.isOk())
      done.timeline->fail(there);
    return status;
  }

private:
  Point done{std::make_shared<Timeline>(), 1};
  std::vector<Point> reached, over, contents;
};

Status Buffer::write(std::span<const std::byte> from) {
  ZYX_RETURN_IF_ERROR(checkSize(from.size()));
  return HostUse(nullptr, this).run([&] {
    if (pool)
      return pool->copyIn(memory, 0, from);
    if (!from.empty())
      std::memcpy(reinterpret_cast<void *>(memory.handle), from.data(), from.size());
    return Status::ok();
  });
}

Status Buffer::update(std::span<const std::byte> from) {
  ZYX_RETURN_IF_ERROR(checkSize(from.size()));
  if (!from.empty() && isOnHost()) {
    bool isSame = false;
    const Status status = HostUse(this, nullptr).run([&] {
      isSame = std::memcmp(reinterpret_cast<const void *>(memory.handle), from.data(), from.size()) == 0;
      return Status::ok();
    });
    if (status.isOk() && isSame)
      return Status::ok();
  }
  return write(from);
}

Status Buffer::read(std::span<std::byte> to) const {
  ZYX_RETURN_IF_ERROR(checkSize(to.size()));
  return read(0, to);
}

Status Buffer::read(uint64_t offset, std::span<std::byte> to) const {
  if (offset > memory.size || to.size() > memory.size - offset)
    return Status::invalidArgument("bytes " + std::to_string(offset) + " to " + std::to_string(offset + to.size()) +
                                   " of a buffer of " + std::to_string(memory.size) + " are read");
  return HostUse(this, nullptr).run([&] {
    if (pool)
      return pool->copyOut(memory, offset, to);
    if (!to.empty())
      std::memcpy(to.data(), reinterpret_cast<const std::byte *>(memory.handle) + offset, to.size());
    return Status::ok();
  });
}

Status Buffer::copyFrom(const Buffer &from) {
  ZYX_RETURN_IF_ERROR(checkSize(from.size()));
  if (&from == this)
    return wait(false);
  return HostUse(&from, this).run([&] {
    std::byte *own = reinterpret_cast<std::byte *>(memory.handle);
    const std::byte *other = reinterpret_cast<const std::byte *>(from.memory.handle);
    if (pool && from.pool)
      return from.pool->copyTo(from.memory, *pool, memory, memory.size);
    if (pool)
      return pool->copyIn(memory, 0, {other, memory.size});
    if (from.pool)
      return from.pool->copyOut(from.memory, 0, {own, memory.size});
    if (memory.size != 0)
      std::memmove(own, other, memory.size);
    return Status::ok();
  });
}

Result<Point> Buffer::copyLater(std::shared_ptr<const Buffer> from, std::shared_ptr<Buffer> to, Queue &queue) {
  ZYX_RETURN_IF_ERROR(to->checkSize(from->memory.size));
  ZYX_ASSERT(from != to && to->pool && from->pool, "a queue copies from one pool to another");
  Work work;
  work.name = "copy of " + std::to_string(to->memory.size) + " bytes";
  work.signal = {std::make_shared<Timeline>(), 1};
  auto fences = std::make_shared<std::vector<std::shared_ptr<Fence>>>();
  work.take = [fences, pool = to->pool](const std::shared_ptr<Fence> &fence) {
    const bool isTaken = pool->canWaitFor(*fence);
    if (isTaken)
      fences->push_back(fence);
    return isTaken;
  };
  work.body = [fences, from, to] {
    for (const std::shared_ptr<Fence> &fence : std::exchange(*fences, {}))
      ZYX_RETURN_IF_ERROR(to->pool->waitFor(*fence));
    return from->pool->copyTo(from->memory, *to->pool, to->memory, to->memory.size);
  };
  Point done = work.signal;
  Pair held(from.get(), to.get());
  from->beforeRead(work.wait);
  to->beforeWrite(work.after);
  from->makeRoom();
  from->noteRead(done);
  to->noteWrite(done);
  queue.submit(std::move(work));
  return done;
}
