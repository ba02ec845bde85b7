//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_BACKEND_WORKERPOOL_H
#define ZYX_TARGET_BACKEND_WORKERPOOL_H

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace zyx::target {

/// Compiles modules on threads of its own while the caller lowers the next one. The caller helps in `finish`. Where the
/// system gives no thread, the caller does all the work.
class WorkerPool {
public:
  /// Who runs a job: the thread that calls `finish`, or one of the pool.
  enum class Runner : uint8_t { Caller, Worker };
  using Job = std::function<void(Runner)>;
  /// Learns how many of all jobs are done.
  using Progress = std::function<void(size_t done, size_t total)>;

  /// `mostJobs` will be added. There are never more threads than jobs, or than processors that the process may use.
  explicit WorkerPool(size_t mostJobs);
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;
  /// Waits for the jobs that run. Those that have not begun never do.
  ~WorkerPool();

  /// A worker begins the job as soon as one is free.
  void add(Job job);
  /// Runs jobs until none is left, and waits for the workers. What jobs have written can be read behind it. Ends with
  /// false where `isCancelled`, which is asked between two jobs, says so: workers may still run jobs then.
  bool finish(const Progress &progress = nullptr, const std::function<bool()> &isCancelled = nullptr);

private:
  /// The number of the first job that nobody has begun; `jobs.size()` where there is none. Holds the mutex.
  size_t next() { return begun == jobs.size() ? begun : begun++; }
  void run(size_t number, Runner runner);
  void work();
  void startWorker();

  const size_t maxWorkers;
  std::vector<pthread_t> workers;
  std::mutex mutex;
  std::condition_variable changed;
  /// A deque: jobs stay where they are while others come.
  std::deque<Job> jobs;
  size_t begun = 0, done = 0;
  bool isStopping = false;
};

} // namespace zyx::target

#endif // ZYX_TARGET_BACKEND_WORKERPOOL_H
