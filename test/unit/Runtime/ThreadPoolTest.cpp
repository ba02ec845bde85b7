//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/ThreadPool.h"
#include "zyx/Runtime/Device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <set>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace zyx::runtime;

namespace {

struct Marks {
  std::vector<std::atomic<int>> seen;
  std::atomic<int> calls = 0;
  explicit Marks(size_t size) : seen(size) {}
  static void body(void *context, int64_t begin, int64_t end) {
    auto &marks = *static_cast<Marks *>(context);
    ++marks.calls;
    for (int64_t i = begin; i < end; ++i)
      ++marks.seen[static_cast<size_t>(i)];
  }
};

TEST(ThreadPoolTest, CoversTheRangeOnce) {
  for (unsigned threads : {1u, 2u, 3u, 8u}) {
    auto pool = *createThreadPool(threads);
    EXPECT_EQ(pool->threads(), threads);
    for (int64_t total : {0, 1, 2, 7, 8, 9, 1000})
      for (unsigned parts : {0u, 1u, 2u, 5u, 100u}) {
        Marks marks(static_cast<size_t>(total));
        pool->run(total, parts, Marks::body, &marks);
        for (const auto &seen : marks.seen)
          EXPECT_EQ(seen, 1);
        EXPECT_LE(marks.calls, static_cast<int>(std::max(1u, std::min(threads, parts))));
      }
  }
}

TEST(ThreadPoolTest, IsReusedQuickly) {
  auto pool = *createThreadPool(3);
  Marks marks(64);
  for (int i = 0; i < 2000; ++i)
    pool->run(64, 3, Marks::body, &marks);
  for (const auto &seen : marks.seen)
    EXPECT_EQ(seen, 2000);
}

TEST(ThreadPoolTest, WakesAfterSleeping) {
  auto pool = *createThreadPool(2);
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    Marks marks(2);
    pool->run(2, 2, Marks::body, &marks);
    EXPECT_EQ(marks.calls, 2);
  }
}

TEST(ThreadPoolTest, UsesOtherThreads) {
  auto pool = *createThreadPool(2);
  struct Meeting {
    std::atomic<int> arrived = 0;
  } meeting;
  // Each part waits for the other, so one thread alone would never end.
  pool->run(
      2, 2,
      [](void *context, int64_t, int64_t) {
        auto &arrived = static_cast<Meeting *>(context)->arrived;
        ++arrived;
        while (arrived != 2)
          std::this_thread::yield();
      },
      &meeting);
  EXPECT_EQ(meeting.arrived, 2);
}

TEST(ThreadPoolTest, ServesSeveralCallers) {
  auto pool = *createThreadPool(2);
  Marks marks(100);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 100; ++i)
        pool->run(100, 2, Marks::body, &marks);
    });
  for (std::thread &caller : callers)
    caller.join();
  for (const auto &seen : marks.seen)
    EXPECT_EQ(seen, 400);
}

TEST(ThreadPoolTest, CountsProcessors) {
  EXPECT_GE((*createThreadPool())->threads(), 1u);
  EXPECT_LE((*createThreadPool())->threads(), 1024u);
}

// A sanitizer itself ends where memory ends.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ZYX_TEST_SANITIZED
#endif
#endif

#ifndef ZYX_TEST_SANITIZED
/// Leaves the process less address space than a stack takes.
void forbidThreads() {
  unsigned long pages = 0;
  if (std::FILE *file = std::fopen("/proc/self/statm", "r")) {
    EXPECT_EQ(std::fscanf(file, "%lu", &pages), 1);
    std::fclose(file);
  }
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t(1) << 20);
  ::setrlimit(RLIMIT_AS, &limit);
}

TEST(ThreadPoolDeathTest, FailsWhereTheSystemGivesNoThreads) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        forbidThreads();
        auto pool = createThreadPool(3);
        auto device = createDevice("cpu", {.threads = 3});
        // A device without a pool of its own still has a queue.
        auto borrowing = createDevice("cpu", {.threadPool = *createThreadPool(1)});
        for (const zyx::Status &status : {pool.status(), device.status(), borrowing.status()})
          std::fprintf(stderr, "%s\n", status.toString().c_str());
        _exit(0);
      },
      testing::ExitedWithCode(0),
      "^(out of memory: cannot start a thread: Resource temporarily unavailable\n){3}$");
}
#endif

} // namespace
