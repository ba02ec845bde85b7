//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "WorkerGroup.h"

#include "../../Thread.h"

#include "zyx/Base/Processors.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::runtime;

/// Where part `part` of [0, total) begins, cut into `parts` whose sizes differ by one at most.
static int64_t bound(int64_t total, int64_t parts, int64_t part) {
  const int64_t each = total / parts, rest = total % parts;
  return each * part + std::min(rest, part);
}

static uint64_t pack(uint32_t number, uint32_t left) { return uint64_t(number) << 32 | left; }
static uint32_t numberOf(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

/// Read once: it takes some hundred microseconds, and nothing but the time to sleep depends on it.
static bool hasProcessors(unsigned threads) {
  static const unsigned processors = usableProcessors();
  return threads <= processors;
}

WorkerGroup::WorkerGroup(ThreadPool &pool, unsigned most, uint64_t stackBytes)
    : pool(pool), stackBytes(stackBytes), driver(hasProcessors(pool.threads())) {
  for (unsigned i = 0; i < most; ++i)
    shares.emplace_back(hasProcessors(pool.threads()));
}

void Job::runAlone() const {
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    body(context, bound(total, chunks, chunk), bound(total, chunks, chunk + 1));
}

/// Lets the members take chunks of a job. All of the one before are done.
void WorkerGroup::post(const Job &next) {
  job = next;
  number = number + 1 == closed ? 1 : number + 1;
  undone.store(job.chunks, std::memory_order_relaxed);
  // Who gets nothing need not look up.
  const unsigned busy = std::min(members, job.chunks);
  for (unsigned i = 0; i < busy; ++i) {
    const auto size = static_cast<uint32_t>(bound(job.chunks, busy, i + 1) - bound(job.chunks, busy, i));
    shares[i].left.exchange(pack(number, size), std::memory_order_seq_cst);
    shares[i].parker.wake();
  }
}

void WorkerGroup::close() {
  for (unsigned i = 0; i < members; ++i) {
    shares[i].left.exchange(pack(closed, 0), std::memory_order_seq_cst);
    shares[i].parker.wake();
  }
}

/// Runs chunks of a share for as long as it has some; returns how many.
uint32_t WorkerGroup::take(Share &share, unsigned index, uint32_t ofNumber) {
  uint32_t done = 0;
  uint64_t left = share.left.load(std::memory_order_acquire);
  while (numberOf(left) == ofNumber && static_cast<uint32_t>(left) != 0) {
    if (!share.left.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    // The job stays as it is until this chunk is done.
    const unsigned busy = std::min(members, job.chunks);
    const int64_t chunk = bound(job.chunks, busy, index + 1) - static_cast<uint32_t>(left);
    job.body(job.context, bound(job.total, job.chunks, chunk), bound(job.total, job.chunks, chunk + 1));
    ++done;
    left = share.left.load(std::memory_order_acquire);
  }
  return done;
}

/// Runs chunks of a job for as long as there are some; returns how many.
uint32_t WorkerGroup::work(uint32_t ofNumber, unsigned index) {
  uint32_t done = 0;
  for (unsigned i = 0; i < members; ++i) {
    const unsigned from = index + i < members ? index + i : index + i - members;
    done += take(shares[from], from, ofNumber);
  }
  return done;
}

void WorkerGroup::help(unsigned index) {
  Share &own = shares[index];
  uint32_t seen = 0;
  for (;;) {
    own.parker.await([&] { return numberOf(own.left.load(std::memory_order_acquire)) != seen; });
    seen = numberOf(own.left.load(std::memory_order_acquire));
    if (seen == closed)
      return;
    const uint32_t done = work(seen, index);
    if (done != 0 && undone.fetch_sub(done, std::memory_order_seq_cst) == done)
      driver.wake();
  }
}

void WorkerGroup::enterJob(void *context, unsigned index) {
  WorkerGroup &group = *static_cast<WorkerGroup *>(context);
  if (index >= group.members || stackRoom() < group.stackBytes)
    return;
  const uint32_t done = group.work(group.number, index);
  group.undone.fetch_sub(done, std::memory_order_acq_rel);
}

void WorkerGroup::enterFork(void *context, unsigned index) {
  WorkerGroup &group = *static_cast<WorkerGroup *>(context);
  if (index >= group.members || stackRoom() < group.stackBytes)
    return;
  if (group.hasDriver.exchange(true, std::memory_order_acq_rel)) {
    group.help(index);
    return;
  }
  group.driverIndex = index;
  group.drive(group.driveContext);
  group.close();
}

void WorkerGroup::run(const Job &next) {
  members = std::min<unsigned>(static_cast<unsigned>(shares.size()), next.chunks);
  post(next);
  pool.run(members, enterJob, this);
  // A pool that calls nothing is slow, not wrong.
  if (undone.load(std::memory_order_acquire) != 0)
    enterJob(this, 0);
}

void WorkerGroup::run(unsigned most, void (*body)(void *), void *context) {
  members = std::min<unsigned>(static_cast<unsigned>(shares.size()), most);
  drive = body;
  driveContext = context;
  hasDriver.store(false, std::memory_order_relaxed);
  number = 0;
  for (unsigned i = 0; i < members; ++i)
    shares[i].left.store(0, std::memory_order_relaxed);
  pool.run(members, enterFork, this);
  if (!hasDriver.load(std::memory_order_acquire))
    enterFork(this, 0);
}

void WorkerGroup::share(const Job &next) {
  post(next);
  const uint32_t done = work(number, driverIndex);
  if (undone.fetch_sub(done, std::memory_order_acq_rel) != done)
    driver.await([&] { return undone.load(std::memory_order_acquire) == 0; });
}
