//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/ThreadPool.h"

#include "Thread.h"

#include <algorithm>
#include <atomic>
#include <sched.h>
#include <thread>
#include <vector>

using namespace zyx;
using namespace zyx::runtime;

namespace {

/// Some ten microseconds: about what waking a sleeping thread costs.
constexpr int spins = 1000;
constexpr unsigned maxThreads = 1024;

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until `word` is no longer `old`: spins, then sleeps.
uint32_t awaitChange(const std::atomic<uint32_t> &word, uint32_t old) {
  for (int i = 0; i < spins; ++i) {
    const uint32_t now = word.load(std::memory_order_acquire);
    if (now != old)
      return now;
    relax();
  }
  word.wait(old, std::memory_order_acquire);
  return word.load(std::memory_order_acquire);
}

unsigned usableProcessors() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0)
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

/// Part `part` of [0, total) cut into `parts` whose sizes differ by one at most.
int64_t bound(int64_t total, unsigned parts, unsigned part) {
  const int64_t each = total / parts, rest = total % parts;
  return each * part + std::min<int64_t>(rest, part);
}

class StaticPool : public ThreadPool {
public:
  explicit StaticPool(unsigned threads) : workers(threads - 1) {}

  /// After a failure the pool is of no use.
  Status start() {
    for (Worker &worker : workers) {
      ZYX_ASSIGN_OR_RETURN(worker.thread, Thread::start([this, &worker] { loop(worker); }));
    }
    return Status::ok();
  }

  ~StaticPool() override {
    for (Worker &worker : workers)
      post(worker, nullptr, nullptr, 0, 0);
    for (Worker &worker : workers)
      worker.thread.join();
  }

  unsigned threads() const override { return static_cast<unsigned>(workers.size()) + 1; }

  void run(int64_t total, unsigned parts, Body body, void *context) override {
    if (total <= 0)
      return;
    parts = static_cast<unsigned>(std::min<int64_t>(std::min(parts, threads()), total));
    if (parts <= 1 || busy.exchange(true, std::memory_order_acquire)) {
      body(context, 0, total);
      return;
    }
    pending.store(parts - 1, std::memory_order_relaxed);
    for (unsigned part = 1; part < parts; ++part)
      post(workers[part - 1], body, context, bound(total, parts, part),
           bound(total, parts, part + 1));
    body(context, 0, bound(total, parts, 1));
    for (uint32_t left = pending.load(std::memory_order_acquire); left != 0;)
      left = awaitChange(pending, left);
    busy.store(false, std::memory_order_release);
  }

private:
  /// A mailbox of one job; `posted` counts the jobs. Each on cache lines of its own, because its
  /// thread spins on it.
  struct alignas(128) Worker {
    std::atomic<uint32_t> posted = 0;
    Body body = nullptr;
    void *context = nullptr;
    int64_t begin = 0, end = 0;
    Thread thread;
  };

  static void post(Worker &worker, Body body, void *context, int64_t begin, int64_t end) {
    worker.body = body;
    worker.context = context;
    worker.begin = begin;
    worker.end = end;
    worker.posted.fetch_add(1, std::memory_order_release);
    worker.posted.notify_one();
  }

  void loop(Worker &worker) {
    uint32_t seen = 0;
    for (;;) {
      seen = awaitChange(worker.posted, seen);
      if (!worker.body)
        return;
      worker.body(worker.context, worker.begin, worker.end);
      if (pending.fetch_sub(1, std::memory_order_acq_rel) == 1)
        pending.notify_one();
    }
  }

  std::vector<Worker> workers;
  alignas(128) std::atomic<uint32_t> pending = 0;
  std::atomic<bool> busy = false;
};

} // namespace

Result<std::shared_ptr<ThreadPool>> zyx::runtime::createThreadPool(unsigned threads) {
  if (threads == 0)
    threads = usableProcessors();
  auto pool = std::make_shared<StaticPool>(std::min(threads, maxThreads));
  ZYX_RETURN_IF_ERROR(pool->start());
  return std::shared_ptr<ThreadPool>(std::move(pool));
}
