//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Backend/WorkerPool.h"

#include "gtest/gtest.h"

#include <atomic>
#include <thread>

using namespace zyx::target;

TEST(WorkerPool, RunsEveryJobOnce) {
  for (size_t most : {0, 1, 2, 64}) {
    std::vector<int> runs(most);
    WorkerPool pool(most);
    for (int &run : runs)
      pool.add([&run](WorkerPool::Runner) { ++run; });
    size_t last = 0;
    pool.finish([&](size_t done, size_t total) {
      EXPECT_EQ(done, ++last);
      EXPECT_EQ(total, most);
    });
    EXPECT_EQ(last, most);
    EXPECT_EQ(runs, std::vector<int>(most, 1));
  }
}

TEST(WorkerPool, OneJobIsTheCallers) {
  const std::thread::id caller = std::this_thread::get_id();
  WorkerPool pool(1);
  bool isRun = false;
  pool.add([&](WorkerPool::Runner runner) {
    isRun = true;
    EXPECT_EQ(runner, WorkerPool::Runner::Caller);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
  EXPECT_FALSE(isRun);
  pool.finish();
  EXPECT_TRUE(isRun);
}

TEST(WorkerPool, CallerIsToldFromWorkers) {
  const std::thread::id caller = std::this_thread::get_id();
  WorkerPool pool(32);
  for (int i = 0; i < 32; ++i)
    pool.add([&](WorkerPool::Runner runner) {
      EXPECT_EQ(runner == WorkerPool::Runner::Caller, std::this_thread::get_id() == caller);
    });
  pool.finish();
}

TEST(WorkerPool, EndsWithoutJobsThatHaveNotBegun) {
  std::atomic<int> begun = 0, ended = 0;
  {
    WorkerPool pool(1000);
    for (int i = 0; i < 1000; ++i)
      pool.add([&](WorkerPool::Runner) {
        ++begun;
        std::this_thread::yield();
        ++ended;
      });
  }
  EXPECT_EQ(begun, ended);
}

TEST(WorkerPool, EndsBetweenTwoJobs) {
  std::atomic<int> run = 0, asked = 0;
  {
    WorkerPool pool(1);
    for (int i = 0; i < 8; ++i)
      pool.add([&](WorkerPool::Runner) { ++run; });
    EXPECT_FALSE(pool.finish(nullptr, [&] { return ++asked == 4; }));
  }
  // Jobs that had not begun never do.
  EXPECT_EQ(run, 3);
}
