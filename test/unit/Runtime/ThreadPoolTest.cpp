//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/ThreadPool.h"

#include "zyx/Base/File.h"
#include "zyx/Base/Processors.h"
#include "zyx/Base/TempFolder.h"
#include "zyx/Runtime/Device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace zyx;
using namespace zyx::runtime;

namespace {

/// How often each index was called.
struct Marks {
  std::vector<std::atomic<int>> seen;
  explicit Marks(size_t size) : seen(size) {}
  static void body(void *context, unsigned index) { ++static_cast<Marks *>(context)->seen[index]; }
  int total() const {
    int sum = 0;
    for (const auto &times : seen)
      sum += times;
    return sum;
  }
};

/// Calls that wait for each other, so that one thread alone would never end.
struct Meeting {
  int expected;
  std::atomic<int> arrived = 0;
  static void body(void *context, unsigned) {
    auto &meeting = *static_cast<Meeting *>(context);
    ++meeting.arrived;
    while (meeting.arrived != meeting.expected)
      std::this_thread::yield();
  }
};

std::shared_ptr<ThreadPool> poolOf(unsigned threads) {
  return *createThreadPool({.threads = threads, .oversubscribe = true});
}

TEST(ThreadPoolTest, CallsEachIndexOnceAtMost) {
  for (unsigned threads : {1u, 2u, 3u, 8u}) {
    auto pool = poolOf(threads);
    EXPECT_EQ(pool->threads(), threads);
    for (unsigned calls : {0u, 1u, 2u, 5u, 100u}) {
      Marks marks(calls);
      pool->run(calls, Marks::body, &marks);
      for (size_t index = 0; index < calls; ++index)
        EXPECT_LE(marks.seen[index], index < threads ? 1 : 0);
      // The caller's.
      if (calls != 0)
        EXPECT_EQ(marks.seen[0], 1);
    }
  }
}

TEST(ThreadPoolTest, IsReusedQuickly) {
  auto pool = poolOf(3);
  Marks marks(3);
  for (int i = 0; i < 2000; ++i)
    pool->run(3, Marks::body, &marks);
  EXPECT_EQ(marks.seen[0], 2000);
  EXPECT_LE(marks.total(), 6000);
}

TEST(ThreadPoolTest, UsesOtherThreadsAndWakesThem) {
  auto pool = poolOf(3);
  for (int i = 0; i < 3; ++i) {
    Meeting meeting{3};
    pool->run(3, Meeting::body, &meeting);
    EXPECT_EQ(meeting.arrived, 3);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// What the system calls have: the first version of the structure.
struct SchedulingAttributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t slice, deadline, period;
};

TEST(ThreadPoolTest, AsksForSlicesThatPutAThreadBeforeOthersWhenItIsWoken) {
  struct Seen {
    Meeting meeting{2};
    SchedulingAttributes caller{}, helper{};
  } seen;
  auto pool = poolOf(2);
  pool->run(
      2,
      [](void *context, unsigned index) {
        auto &here = *static_cast<Seen *>(context);
        ::syscall(SYS_sched_getattr, 0, index == 0 ? &here.caller : &here.helper, sizeof(SchedulingAttributes), 0);
        Meeting::body(&here.meeting, index);
      },
      &seen);
  EXPECT_EQ(seen.meeting.arrived, 2);
  EXPECT_EQ(seen.helper.policy, seen.caller.policy);
  EXPECT_EQ(seen.helper.nice, seen.caller.nice);
  // Linux has no slices of its own for a thread before 6.12, and tells of none.
  if (seen.caller.slice == 0 || seen.caller.policy != SCHED_OTHER)
    GTEST_SKIP() << "this system has no slices";
  EXPECT_EQ(seen.helper.slice, 100'000u);
}

TEST(ThreadPoolTest, ServesSeveralCallers) {
  auto pool = poolOf(2);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        Marks marks(2);
        pool->run(2, Marks::body, &marks);
        EXPECT_EQ(marks.seen[0], 1);
        EXPECT_LE(marks.seen[1], 1);
      }
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST(ThreadPoolTest, WorksAloneInsideOfABody) {
  auto pool = poolOf(2);
  struct Nested {
    ThreadPool *pool;
    std::atomic<int> inner = 0;
    std::atomic<bool> sameThread = true;
  } nested{pool.get()};
  pool->run(
      2,
      [](void *context, unsigned) {
        auto &outer = *static_cast<Nested *>(context);
        struct Call {
          Nested *outer;
          std::thread::id thread = std::this_thread::get_id();
        } call{&outer};
        outer.pool->run(
            2,
            [](void *innerContext, unsigned) {
              const Call &of = *static_cast<Call *>(innerContext);
              ++of.outer->inner;
              if (of.thread != std::this_thread::get_id())
                of.outer->sameThread = false;
            },
            &call);
      },
      &nested);
  EXPECT_GE(nested.inner, 1);
  EXPECT_LE(nested.inner, 2);
  EXPECT_TRUE(nested.sameThread);
}

/// Gives back what the test takes away.
class OneProcessor {
public:
  OneProcessor() {
    ::sched_getaffinity(0, sizeof(before), &before);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &before)) {
        CPU_SET(i, &one);
        break;
      }
    ::sched_setaffinity(0, sizeof(one), &one);
  }
  ~OneProcessor() { ::sched_setaffinity(0, sizeof(before), &before); }

private:
  cpu_set_t before;
};

TEST(ThreadPoolTest, HasNoMoreThreadsThanProcessors) {
  const unsigned processors = usableProcessors();
  EXPECT_GE(processors, 1u);
  EXPECT_EQ((*createThreadPool())->threads(), processors);
  EXPECT_EQ((*createThreadPool({.threads = 1000}))->threads(), processors);
  OneProcessor one;
  EXPECT_EQ(usableProcessors(), 1u);
  EXPECT_EQ((*createThreadPool())->threads(), 1u);
  EXPECT_EQ((*createThreadPool({.threads = 8}))->threads(), 1u);
  // On request; all of them share the one.
  auto pool = poolOf(8);
  EXPECT_EQ(pool->threads(), 8u);
  for (int i = 0; i < 20; ++i) {
    Meeting meeting{8};
    pool->run(8, Meeting::body, &meeting);
    EXPECT_EQ(meeting.arrived, 8);
  }
}

/// The files in which a system tells its control groups, in a folder of their own.
class ControlGroups : public testing::Test {
protected:
  void write(const std::string &path, const std::string &text) {
    std::filesystem::create_directories(std::filesystem::path(root() + path).parent_path());
    ASSERT_TRUE(zyx::writeFileAtomically(root() + path, std::as_bytes(std::span(text))).isOk());
  }
  std::string root() const { return folder.file("root"); }
  unsigned limit() const { return usableProcessors(root()); }
  zyx::TempFolder folder = *zyx::TempFolder::create();
  unsigned processors = usableProcessors(folder.file("nothing"));
};

TEST_F(ControlGroups, OfVersion2LimitWithTheGroupsAbove) {
  write("/proc/self/cgroup", "0::/user.slice/job\n");
  write("/proc/self/mountinfo", "22 1 8:1 / / rw shared:1 - ext4 /dev/root rw\n"
                                "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(limit(), processors);
  write("/sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n");
  EXPECT_EQ(limit(), processors);
  write("/sys/fs/cgroup/user.slice/job/cpu.max", "100000 100000\n");
  EXPECT_EQ(limit(), 1u);
  // Rounded down, but never to none.
  write("/sys/fs/cgroup/user.slice/job/cpu.max", "190000 100000\n");
  EXPECT_EQ(limit(), 1u);
  write("/sys/fs/cgroup/user.slice/job/cpu.max", "5000 100000\n");
  EXPECT_EQ(limit(), 1u);
  write("/sys/fs/cgroup/user.slice/job/cpu.max", "9000000 100000\n");
  EXPECT_EQ(limit(), std::min(processors, 90u));
  write("/sys/fs/cgroup/user.slice/cpu.max", "50000 50000\n");
  EXPECT_EQ(limit(), 1u);
}

TEST_F(ControlGroups, OfVersion1LimitInAContainer) {
  write("/proc/self/cgroup", "9:memory:/docker/7f\n4:cpu,cpuacct:/docker/7f\n1:name=systemd:/\n");
  // The container sees its own group as the top.
  write("/proc/self/mountinfo", "41 40 0:29 /docker/7f /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
                                "42 40 0:30 /docker/7f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  const std::string cpu = "/sys/fs/cgroup/cpu,cpuacct/";
  write(cpu + "cpu.cfs_quota_us", "-1\n");
  write(cpu + "cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(limit(), processors);
  write(cpu + "cpu.cfs_quota_us", "100000\n");
  EXPECT_EQ(limit(), 1u);
}

TEST_F(ControlGroups, LimitMemory) {
  const uint64_t machine = zyx::usableMemory(folder.file("nothing"));
  EXPECT_GT(machine, uint64_t(1) << 28);
  auto bytes = [&] { return zyx::usableMemory(root()); };
  // Version 2: the group, and those above it.
  write("/proc/self/cgroup", "0::/user.slice/job\n");
  write("/proc/self/mountinfo", "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(bytes(), machine);
  write("/sys/fs/cgroup/user.slice/job/memory.max", "max\n");
  EXPECT_EQ(bytes(), machine);
  write("/sys/fs/cgroup/user.slice/job/memory.max", "104857600\n");
  EXPECT_EQ(bytes(), 104857600u);
  write("/sys/fs/cgroup/user.slice/memory.max", "52428800\n");
  EXPECT_EQ(bytes(), 52428800u);
  // Version 1, as a container sees it: no limit is more than a machine has.
  write("/proc/self/cgroup", "9:memory:/docker/7f\n4:cpu,cpuacct:/docker/7f\n");
  write("/proc/self/mountinfo", "42 40 0:30 /docker/7f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(bytes(), machine);
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "67108864\n");
  EXPECT_EQ(bytes(), 67108864u);
  for (const char *text : {"", "x", "-1\n", "99999999999999999999999\n"}) {
    write("/sys/fs/cgroup/memory/memory.limit_in_bytes", text);
    EXPECT_EQ(bytes(), machine) << text;
  }
  // It is what a device of the host may allocate.
  EXPECT_EQ((*createDevice("cpu", {.threads = 1}))->pool()->usage().limit, zyx::usableMemory());
}

TEST_F(ControlGroups, ThatMakeNoSenseLimitNothing) {
  for (const char *text :
       {"", "x", "100000", "100000 0\n", "0 100000\n", "-5 -5\n", "a b\n", "99999999999999999999999 1\n"}) {
    write("/proc/self/cgroup", "0::/\n::\nx\n");
    write("/proc/self/mountinfo", "\n-\n - \n1 2 3 / /sys/fs/cgroup rw - cgroup2 none rw\n");
    write("/sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(limit(), processors) << text;
  }
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
        auto pool = createThreadPool({.threads = 3, .oversubscribe = true});
        auto device = createDevice("cpu", {.threads = 3, .oversubscribe = true});
        // A device without a pool of its own still has a queue.
        auto borrowing = createDevice("cpu", {.threadPool = *createThreadPool({.threads = 1})});
        for (const zyx::Status &status : {pool.status(), device.status(), borrowing.status()})
          std::fprintf(stderr, "%s\n", status.toString().c_str());
        _exit(0);
      },
      testing::ExitedWithCode(0), "^(out of memory: cannot start a thread: Resource temporarily unavailable\n){3}$");
}
#endif

} // namespace
