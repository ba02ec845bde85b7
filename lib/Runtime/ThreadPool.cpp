//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/ThreadPool.h"

#include "Parker.h"
#include "Thread.h"

#include "zyx/Base/Forked.h"
#include "zyx/Base/Processors.h"

#include <algorithm>
#include <deque>

using namespace zyx;
using namespace zyx::runtime;

namespace {

constexpr unsigned maxThreads = 1024;

class OwnPool : public ThreadPool {
public:
  OwnPool(unsigned threads, bool spins) : caller(spins) {
    for (unsigned i = 1; i < threads; ++i)
      workers.emplace_back(spins);
  }

  /// After a failure the pool is of no use.
  Status start() {
    for (Worker &worker : workers) {
      ZYX_ASSIGN_OR_RETURN(worker.thread, Thread::start([this, &worker] { loop(worker); }));
    }
    return Status::ok();
  }

  ~OwnPool() override {
    for (Worker &worker : workers)
      tell(worker, Stop);
    for (Worker &worker : workers)
      worker.thread.join();
  }

  unsigned threads() const override { return static_cast<unsigned>(workers.size()) + 1; }

  void run(unsigned calls, Body body, void *context) override {
    if (calls == 0)
      return;
    const unsigned helpers = std::min(calls, threads()) - 1;
    // Whoever finds the threads in use works alone: so does a body that calls, and a process that was forked.
    if (helpers == 0 || mark.isForked() || busy.exchange(true, std::memory_order_acquire)) {
      body(context, 0);
      return;
    }
    for (unsigned i = 0; i < helpers; ++i) {
      workers[i].body = body;
      workers[i].context = context;
      workers[i].index = i + 1;
      tell(workers[i], Posted);
    }
    body(context, 0);
    // One call does all the work, so those that still sleep are not needed any more.
    for (unsigned i = 0; i < helpers; ++i) {
      uint32_t posted = Posted;
      if (workers[i].state.compare_exchange_strong(posted, Idle, std::memory_order_acquire))
        continue;
      caller.await([&] { return workers[i].state.load(std::memory_order_acquire) == Idle; });
    }
    busy.store(false, std::memory_order_release);
  }

private:
  enum State : uint32_t { Idle, Posted, Running, Stop };

  /// A mailbox of one job, which the worker takes, or the caller takes back.
  struct alignas(linePair) Worker {
    explicit Worker(bool spins) : parker(spins) {}
    std::atomic<uint32_t> state = Idle;
    Parker parker;
    Body body = nullptr;
    void *context = nullptr;
    unsigned index = 0;
    Thread thread;
  };

  static void tell(Worker &worker, State state) {
    worker.state.exchange(state, std::memory_order_seq_cst);
    worker.parker.wake();
  }

  void loop(Worker &worker) {
    wakeSoon();
    for (;;) {
      worker.parker.await([&] { return worker.state.load(std::memory_order_acquire) != Idle; });
      uint32_t posted = Posted;
      if (worker.state.compare_exchange_strong(posted, Running, std::memory_order_acquire)) {
        worker.body(worker.context, worker.index);
        worker.state.exchange(Idle, std::memory_order_seq_cst);
        caller.wake();
      } else if (posted == Stop) {
        return;
      }
    }
  }

  const ForkMark mark;
  // A deque, because a worker cannot be moved.
  std::deque<Worker> workers;
  alignas(linePair) Parker caller;
  alignas(linePair) std::atomic<bool> busy = false;
};

} // namespace

// Runs once for a device, so that it is compiled for size.
[[gnu::cold]] Result<std::shared_ptr<ThreadPool>> zyx::runtime::createThreadPool(const ThreadPoolOptions &options) {
  const unsigned processors = usableProcessors();
  unsigned threads = options.threads == 0 ? processors : options.threads;
  if (options.oversubscribe && threads > maxThreads)
    return Status::invalidArgument("a pool of " + std::to_string(threads) + " threads; at most " +
                                   std::to_string(maxThreads) + " are made");
  if (!options.oversubscribe)
    threads = std::min(threads, processors);
  auto pool = std::make_shared<OwnPool>(std::min(threads, maxThreads), threads <= processors);
  ZYX_RETURN_IF_ERROR(pool->start());
  return std::shared_ptr<ThreadPool>(std::move(pool));
}
