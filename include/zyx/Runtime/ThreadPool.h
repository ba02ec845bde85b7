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

/// What runs the grid of a kernel on several threads. A host program may bring its own.
class ThreadPool {
public:
  using Body = void (*)(void *context, int64_t begin, int64_t end);

  virtual ~ThreadPool() = default;
  /// Threads that work at once, the caller among them.
  virtual unsigned threads() const = 0;
  /// Calls `body` on at most `parts` disjoint ranges that cover [0, total); returns when all are
  /// done. The body neither throws nor calls `run`.
  virtual void run(int64_t total, unsigned parts, Body body, void *context) = 0;
};

/// A pool with equal parts, one for each thread. Its threads spin for some microseconds after
/// work, then sleep. When it is busy with another caller's work, `run` works on the caller alone.
/// 0 threads means as many as the process may use processors. OutOfMemory where the system does not
/// give that many.
Result<std::shared_ptr<ThreadPool>> createThreadPool(unsigned threads = 0);

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_THREADPOOL_H
