//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What it costs to hand work to the other threads of the runtime's pool and to wait for them.
#include "Worker.h"

#include "zyx/Runtime/ThreadPool.h"

#include <atomic>

namespace zyx::bench {
namespace {

/// The caller's part ends when those of the others have begun. A pool that leaves them out because the
/// caller is faster would otherwise be measured as a function call.
struct Meeting {
  unsigned threads;
  std::atomic<unsigned> present = 0;

  static void attend(void *context, unsigned index) {
    auto &meeting = *static_cast<Meeting *>(context);
    ++meeting.present;
    // A bound, for a pool that lends fewer threads.
    for (int i = 0; i != 1000000 && meeting.present != meeting.threads; ++i)
      __builtin_ia32_pause();
  }
};

} // namespace

Contender poolContender(unsigned threads) {
  Result<std::shared_ptr<runtime::ThreadPool>> pool = runtime::createThreadPool({.threads = threads});
  if (!pool.isOk())
    throw std::runtime_error(pool.status().message());
  return {"", [pool = *pool, threads](const Task &task) -> Call {
            if (task.kind != "fork")
              throw Unsupported("only forks");
            return [pool, threads] {
              Meeting meeting{threads};
              pool->run(threads, Meeting::attend, &meeting);
            };
          }};
}

} // namespace zyx::bench
