//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_THREADPOOL_H
#define ZYX_RUNTIME_THREADPOOL_H

#include "zyx/Base/Status.h"

#include <cstdint>
#include <memory>

namespace zyx::runtime {

/// Lends threads to kernels. A host program may bring its own: whatever it makes of `run` is right
/// as long as `body` is not called twice with one index, because the calls share out the work among
/// themselves, and one of them alone does all of it.
class ThreadPool {
public:
  /// `index` is below the number of calls.
  using Body = void (*)(void *context, unsigned index);

  virtual ~ThreadPool() = default;
  /// Threads that work at once, the caller among them; always the same.
  virtual unsigned threads() const = 0;
  /// Calls `body(context, index)` for indices below `calls`, for each at most once, on as many
  /// threads at once as it has, the caller's among them; returns when all these calls have. A
  /// thread that always gets the same index finds its part of the data in its caches. The body does
  /// not throw. Called inside of a body, or while others use the threads, it may do with the
  /// caller's thread and one call. A thread whose stack is too small for the kernels does nothing.
  virtual void run(unsigned calls, Body body, void *context) = 0;
};

struct ThreadPoolOptions {
  /// 0 = as many as the process may use processors, which is also the most: see usableProcessors.
  unsigned threads = 0;
  /// Gives `threads` even where that are more than the process may use processors.
  bool oversubscribe = false;
};

/// A pool of threads of its own. They look for work for some microseconds, then sleep; `run` never
/// waits for one that has not begun when the caller is done. OutOfMemory where the system does not
/// give that many.
Result<std::shared_ptr<ThreadPool>> createThreadPool(const ThreadPoolOptions &options = {});

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_THREADPOOL_H
