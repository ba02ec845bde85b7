//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Buffer.h"

#include <algorithm>
#include <atomic>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;

Result<std::shared_ptr<Buffer>> Buffer::allocate(std::shared_ptr<MemoryPool> pool, uint64_t size) {
  // Made first: once there is memory, nothing fails any more.
  std::shared_ptr<Buffer> buffer(new Buffer(nullptr, {}));
  ZYX_ASSIGN_OR_RETURN(buffer->memory, pool->allocate(size));
  buffer->pool = std::move(pool);
  return buffer;
}

std::shared_ptr<Buffer> Buffer::adopt(std::shared_ptr<MemoryPool> pool, Allocation memory) {
  return std::shared_ptr<Buffer>(new Buffer(std::move(pool), memory));
}

std::shared_ptr<Buffer> Buffer::borrow(void *data, uint64_t size, std::shared_ptr<void> owner) {
  std::shared_ptr<Buffer> buffer(new Buffer(nullptr, {reinterpret_cast<uint64_t>(data), size}));
  buffer->owner = std::move(owner);
  return buffer;
}

Result<std::shared_ptr<Buffer>> Buffer::borrow(std::shared_ptr<MemoryPool> pool, Allocation memory,
                                               std::shared_ptr<void> owner) {
  std::shared_ptr<Buffer> buffer(new Buffer(nullptr, memory));
  // An owner tells it from memory of the pool's.
  if (!owner)
    owner = std::make_shared<bool>();
  ZYX_RETURN_IF_ERROR(pool->addForeign(memory));
  buffer->pool = std::move(pool);
  buffer->owner = std::move(owner);
  return buffer;
}

uint64_t Buffer::nextNumber() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

Buffer::~Buffer() {
  for (const std::weak_ptr<Dependent> &weak : dependents)
    if (const std::shared_ptr<Dependent> dependent = weak.lock())
      dependent->sourceIsGone();
  if (pool && owner)
    pool->dropForeign(memory);
  if (!ownsMemory() || isTakenBack)
    return;
  [[maybe_unused]] Status status = pool->deallocate(memory);
  ZYX_ASSERT(status.isOk(), "a buffer's memory is allocated until its end");
}

bool Buffer::isUsableIn(const MemoryPool &other) const {
  return pool.get() == &other || (isOnHost() && other.isHostMemory());
}

bool Buffer::isReady() const {
  std::lock_guard lock(mutex);
  return lastWrite.isReached();
}

bool Buffer::hasFailed() const {
  std::lock_guard lock(mutex);
  return lastWrite.isDecided() && !lastWrite.isReached();
}

void Buffer::beforeRead(std::vector<Point> &points) const {
  std::lock_guard lock(mutex);
  points.push_back(lastWrite);
}

void Buffer::beforeWrite(std::vector<Point> &points) const {
  std::lock_guard lock(mutex);
  // Contents that never came are overwritten like others.
  if (!lastWrite.isDecided())
    points.push_back(lastWrite);
  for (const Point &read : reads)
    if (!read.isDecided())
      points.push_back(read);
}

static bool isSame(const Point &a, const Point &b) { return a.timeline == b.timeline && a.value == b.value; }

void Buffer::makeRoom(size_t notes) const {
  std::lock_guard lock(mutex);
  std::erase_if(reads, [](const Point &read) { return read.isDecided(); });
  for (std::vector<Point> *points : {&reads, &before})
    if (points->capacity() - points->size() < notes)
      points->reserve(std::max(points->size() + notes, 2 * points->capacity()));
}

void Buffer::noteRead(Point point) const {
  std::lock_guard lock(mutex);
  // Readers that are done no longer matter.
  std::erase_if(reads, [](const Point &read) { return read.isDecided(); });
  if (reads.empty() || !isSame(reads.back(), point))
    reads.push_back(std::move(point));
}

void Buffer::noteWrite(Point point) {
  std::lock_guard lock(mutex);
  if (point.timeline && isSame(lastWrite, point))
    return;
  reads.clear();
  lastWrite = std::move(point);
  before.clear();
  previous = {};
  isUntouched = false;
  ++numWrites;
}

void Buffer::noteDonation(Point point) {
  std::lock_guard lock(mutex);
  std::vector<Point> earlier = std::move(before);
  if (lastWrite.isReached())
    earlier.clear();
  Point contents = lastWrite;
  if (!isUntouched)
    earlier.push_back(contents);
  noteWrite(std::move(point));
  before = std::move(earlier);
  previous = std::move(contents);
}

void Buffer::noteNeverBegan(const Point &point) {
  std::lock_guard lock(mutex);
  isUntouched |= isSame(lastWrite, point);
  std::erase_if(before, [&](const Point &write) { return isSame(write, point); });
}

void Buffer::cancelDonation(const Point &point) {
  std::lock_guard lock(mutex);
  if (isSame(lastWrite, point))
    noteWrite(std::move(previous));
}

std::shared_ptr<Buffer> Buffer::recoverDonated() {
  std::vector<Point> last;
  beforeRead(last);
  if (last.front().wait().isOk())
    return nullptr;
  std::lock_guard lock(mutex);
  if (!isSame(lastWrite, last.front()) || !isUntouched || before.empty() || !before.back().isReached())
    return nullptr;
  std::shared_ptr<Buffer> back = adopt(pool, memory);
  back->lastWrite = before.back();
  isTakenBack = true;
  before.clear();
  return back;
}

uint64_t Buffer::writes() const {
  std::lock_guard lock(mutex);
  return numWrites;
}

void Buffer::countWrite() {
  std::lock_guard lock(mutex);
  ++numWrites;
}

void Buffer::addDependent(std::weak_ptr<Dependent> dependent) const {
  std::lock_guard lock(mutex);
  std::erase_if(dependents, [](const std::weak_ptr<Dependent> &one) { return one.expired(); });
  dependents.push_back(std::move(dependent));
}

Status Buffer::wait(bool toWrite) const {
  {
    // The usual case, which must not allocate: nobody else uses the buffer.
    std::lock_guard lock(mutex);
    if (lastWrite.isReached() && (!toWrite || reads.empty()))
      return Status::ok();
  }
  std::vector<Point> points;
  if (toWrite)
    beforeWrite(points);
  else
    beforeRead(points);
  for (const Point &point : points)
    if (Status status = point.wait(); !status.isOk() && !toWrite)
      return status;
  return Status::ok();
}
