//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_HOST_WORKERGROUP_H
#define ZYX_LIB_RUNTIME_DEVICES_HOST_WORKERGROUP_H

#include "../../Parker.h"

#include "zyx/Runtime/ThreadPool.h"

#include <deque>

namespace zyx::runtime {

/// Work that is cut into chunks, which may run in any order and at once. The cuts follow from the
/// two numbers alone, so that each chunk is the same work whoever runs it.
struct Job {
  using Body = void (*)(void *context, int64_t begin, int64_t end);
  Body body = nullptr;
  void *context = nullptr;
  int64_t total = 0;
  uint32_t chunks = 1;

  /// All chunks on this thread, in their order.
  void runAlone() const;
};

/// The threads of a pool inside of one fork, which share out the chunks of one job after the other.
/// Each has a share of every job that is its own, and takes from the shares of others when that is
/// done. Nobody waits for a thread that has not come: a chunk belongs to whoever takes it, and a job
/// is over when its last chunk is. One run at a time; it allocates nothing.
class WorkerGroup {
public:
  /// For jobs on up to `members` threads. Those of the pool whose stacks have less than `stackBytes`
  /// left do not help; whoever calls has them.
  WorkerGroup(ThreadPool &pool, unsigned members, uint64_t stackBytes = 0);

  /// Runs one job.
  void run(const Job &job);
  /// Calls `drive` on one thread, once, and lends it the others for the jobs that it shares.
  void run(unsigned members, void (*drive)(void *context), void *context);
  /// Runs one job, from inside of `drive`.
  void share(const Job &job);

private:
  /// The chunks of one member that nobody has taken, and the number of their job above: whoever
  /// comes late finds another number, and leaves them alone.
  struct alignas(linePair) Share {
    explicit Share(bool spins) : parker(spins) {}
    std::atomic<uint64_t> left = 0;
    Parker parker;
  };
  /// The number of no job: there will be no more.
  static constexpr uint32_t closed = UINT32_MAX;

  void post(const Job &job);
  void close();
  uint32_t work(uint32_t number, unsigned index);
  uint32_t take(Share &share, unsigned index, uint32_t number);
  void help(unsigned index);
  static void enterJob(void *group, unsigned index);
  static void enterFork(void *group, unsigned index);

  ThreadPool &pool;
  const uint64_t stackBytes;
  /// Of the run.
  unsigned members = 1;
  void (*drive)(void *) = nullptr;
  void *driveContext = nullptr;
  /// The index of the driver.
  unsigned driverIndex = 0;
  /// Written while no chunk of it can be taken.
  alignas(linePair) Job job;
  uint32_t number = 0;
  alignas(linePair) std::atomic<bool> hasDriver = false;
  /// Chunks of the job that are not done.
  alignas(linePair) std::atomic<uint32_t> undone = 0;
  Parker driver;
  // A deque, because a share cannot be moved.
  std::deque<Share> shares;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_HOST_WORKERGROUP_H
