//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Backend/WorkerPool.h"

#include "zyx/Base/Processors.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::target;

/// What a main thread usually has: LLVM's instruction selection recurses.
static constexpr size_t stackBytes = size_t(8) << 20;

WorkerPool::WorkerPool(size_t mostJobs)
    : maxWorkers(mostJobs > 1 ? std::min<size_t>(usableProcessors(), mostJobs) - 1 : 0) {}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(mutex);
    isStopping = true;
    changed.notify_all();
  }
  for (pthread_t worker : workers)
    ::pthread_join(worker, nullptr);
}

void WorkerPool::run(size_t number, Runner runner) {
  Job *job = nullptr;
  {
    std::lock_guard lock(mutex);
    job = &jobs[number];
  }
  (*job)(runner);
  std::lock_guard lock(mutex);
  ++done;
  changed.notify_all();
}

void WorkerPool::work() {
  for (;;) {
    size_t number = 0;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return isStopping || begun < jobs.size(); });
      if (isStopping)
        return;
      number = next();
    }
    run(number, Runner::Worker);
  }
}

void WorkerPool::startWorker() {
  if (workers.size() == maxWorkers)
    return;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, stackBytes);
  auto begin = [](void *self) -> void * {
    static_cast<WorkerPool *>(self)->work();
    return nullptr;
  };
  pthread_t worker;
  if (::pthread_create(&worker, &attributes, begin, this) == 0)
    workers.push_back(worker);
  ::pthread_attr_destroy(&attributes);
}

void WorkerPool::add(Job job) {
  {
    std::lock_guard lock(mutex);
    jobs.push_back(std::move(job));
    changed.notify_all();
  }
  startWorker();
}

bool WorkerPool::finish(const Progress &progress, const std::function<bool()> &isCancelled) {
  size_t told = 0;
  for (bool isOver = false; !isOver;) {
    if (isCancelled && isCancelled())
      return false;
    size_t number = 0, total = 0, known = 0;
    {
      std::unique_lock lock(mutex);
      total = jobs.size();
      number = next();
      if (number == total)
        changed.wait(lock, [&] { return done > told || done == total; });
      known = done;
      isOver = number == total && known == total;
    }
    while (told < known) {
      ++told;
      if (progress)
        progress(told, total);
    }
    if (number != total)
      run(number, Runner::Caller);
  }
  return true;
}
