//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What it costs to hand work to the other threads of the runtime's pool and to wait for them.
#include "Worker.h"

#include "zyx/Runtime/ThreadPool.h"

namespace zyx::bench {

Contender poolContender(unsigned threads) {
  Result<std::shared_ptr<runtime::ThreadPool>> pool =
      runtime::createThreadPool({.threads = threads});
  if (!pool.isOk())
    throw std::runtime_error(pool.status().message());
  return {"", [pool = *pool, threads](const Task &task) -> Call {
            if (task.kind != "fork")
              throw Unsupported("only forks");
            return [pool, threads, output = task.output] {
              // As many calls as threads write a number each, a cache line apart.
              pool->run(
                  threads,
                  [](void *data, unsigned index) { static_cast<float *>(data)[16 * index] = 1; },
                  output.data());
            };
          }};
}

} // namespace zyx::bench
