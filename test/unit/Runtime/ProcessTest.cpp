//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a process may do to itself around the runtime: fork, forbid code in memory, use an executor twice at once.
//===----------------------------------------------------------------------===//
#include "../Children.h"
#include "TestArtifact.h"
#include "TestKernels.h"
#include "zyx/Base/Forked.h"
#include "zyx/Runtime/Executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <fcntl.h>
#include <functional>
#include <new>
#include <sched.h>
#include <stdexcept>
#include <thread>
#include <unistd.h>

using namespace zyx;
using namespace zyx::runtime;
using testing::HasSubstr;

namespace {

struct Sample {
  explicit Sample(unsigned threads = 2)
      : device(*createDevice("cpu", {.threads = threads, .oversubscribe = true})),
        executor(*Executor::create(device, sampleArtifact(testKernels()))) {
    EXPECT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  }
  bool isRight() const {
    float y[4] = {};
    return executor->readOutput(0, std::as_writable_bytes(std::span(y))).isOk() && y[0] == 13 && y[3] == 49;
  }
  const float x[4] = {1, 2, 3, 4};
  std::shared_ptr<Device> device;
  std::unique_ptr<Executor> executor;
};

constexpr const char *forked =
    "this process was forked after zyx began, and has none of the threads that zyx began with; "
    "begin with zyx behind fork(), or run another program";

TEST(ProcessTest, AForkedProcessIsRefusedInsteadOfHanging) {
  Sample sample;
  ASSERT_TRUE(sample.executor->run().isOk());
  EXPECT_EQ(inChild([&] {
              const Status status = sample.executor->run();
              return status.code() == ErrorCode::Unsupported && status.message().starts_with(forked) ? 0 : 1;
            }),
            0);
  EXPECT_EQ(inChild([&] { return sample.executor->submit().status().code() == ErrorCode::Unsupported ? 0 : 1; }), 0);
  EXPECT_EQ(inChild([&] {
              return sample.executor->setInput(0, std::as_bytes(std::span(sample.x))).message().starts_with(forked) ? 0
                                                                                                                    : 1;
            }),
            0);
  // The queue itself, as whoever copies later uses it.
  EXPECT_EQ(inChild([&] {
              const Point done{std::make_shared<Timeline>(), 1};
              bool isSkipped = false;
              sample.device->queue().submit({.body = [] { return Status::ok(); },
                                             .wait = {},
                                             .after = {},
                                             .signal = done,
                                             .name = "work",
                                             .accesses = {},
                                             .skipped = [&] { isSkipped = true; }});
              return done.wait().message().starts_with(forked) && isSkipped ? 0 : 1;
            }),
            0);
  // Kernels run on the one thread that is there.
  auto pool = *createThreadPool({.threads = 4, .oversubscribe = true});
  EXPECT_EQ(inChild([&] {
              std::atomic<int> calls = 0;
              pool->run(4, [](void *context, unsigned) { ++*static_cast<std::atomic<int> *>(context); }, &calls);
              return calls == 1 ? 0 : 1;
            }),
            0);
  // The parent has lost nothing.
  EXPECT_TRUE(sample.executor->run().isOk());
  EXPECT_TRUE(sample.isRight());
}

TEST(ProcessTest, AForkedProcessWaitsForNobodyWhoIsNotThere) {
  auto device = *createDevice("cpu", {.threads = 1});
  const Point never{std::make_shared<Timeline>(), 1}, there{std::make_shared<Timeline>(), 1};
  ASSERT_TRUE(there.timeline->signal(1).isOk());
  EXPECT_EQ(inChild([&] { return never.wait().message().starts_with(forked) && there.wait().isOk() ? 0 : 1; }), 0);
}

TEST(ProcessTest, WhatBeganBeforeAForkEndsInTheChild) {
  auto sample = std::make_unique<Sample>(4);
  ASSERT_TRUE(sample->executor->run().isOk());
  // A run that waits for something, and threads that sleep and wait in all their ways.
  const Point gate{std::make_shared<Timeline>(), 1};
  const Point done = *sample->executor->submit(std::span(&gate, 1));
  std::thread waits([&] { EXPECT_TRUE(done.wait().isOk()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(inChild([&] {
              sample.reset();
              return 0;
            }),
            0);
  ASSERT_TRUE(gate.timeline->signal(1).isOk());
  waits.join();
  EXPECT_TRUE(sample->isRight());
}

TEST(ProcessTest, AForkedProcessMayBeginAnew) {
  Sample before;
  ASSERT_TRUE(before.executor->run().isOk());
  EXPECT_EQ(inChild([&] {
              Sample own;
              const Point done = *own.executor->submit();
              return done.wait().isOk() && own.executor->run().isOk() && own.isRight() ? 0 : 1;
            }),
            0);
}

/// As an executor of a slow program is: the second call comes while the first is in its kernels.
TEST(ProcessTest, AnExecutorOfTwoThreadsIsRefused) {
  Sample sample;
  const Point gate{std::make_shared<Timeline>(), 1};
  // A buffer whose last writer is not done: the run waits for it, in the middle of the call.
  auto buffer = *Buffer::allocate(sample.device->pool(), 16);
  ASSERT_TRUE(buffer->write(std::as_bytes(std::span(sample.x))).isOk());
  ASSERT_TRUE(sample.executor->bindInput(0, buffer).isOk());
  ASSERT_TRUE(sample.executor->run().isOk());
  buffer->noteWrite(gate);
  std::thread runs([&] {
    // It may be this one that comes second.
    Status ran;
    do
      ran = sample.executor->run();
    while (ran.code() == ErrorCode::Aborted);
    EXPECT_TRUE(ran.isOk()) << ran.toString();
  });
  Status status;
  for (int i = 0; i < 10000 && status.isOk(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    float y[4];
    status = sample.executor->readOutput(1, std::as_writable_bytes(std::span(y)));
  }
  EXPECT_EQ(status.code(), ErrorCode::Aborted);
  EXPECT_THAT(status.message(),
              HasSubstr("the executor of 'main' is in use by another thread; it is one thread's at a time"));
  for (const Status &other :
       {sample.executor->run(), sample.executor->submit().status(), sample.executor->bindInput(0, buffer),
        sample.executor->setInput(0, std::as_bytes(std::span(sample.x))), sample.executor->profile().status(),
        sample.executor->measure(1).status()})
    EXPECT_THAT(other.message(), HasSubstr("is in use by another thread"));
  ASSERT_TRUE(gate.timeline->signal(1).isOk());
  runs.join();
  EXPECT_TRUE(sample.executor->run().isOk());
  EXPECT_TRUE(sample.isRight());
}

TEST(ProcessTest, ThreadsAreBounded) {
  struct Many : ThreadPool {
    explicit Many(unsigned number) : number(number) {}
    unsigned threads() const override { return number; }
    void run(unsigned, Body body, void *context) override { body(context, 0); }
    unsigned number;
  };
  for (unsigned number : {0u, 4097u, 0x7fffffffu, 0xffffffffu})
    EXPECT_EQ(createDevice("cpu", {.threadPool = std::make_shared<Many>(number)}).status().message(),
              "a thread pool of " + std::to_string(number) + " threads is given; it may have 1 to 4096");
  EXPECT_TRUE(createDevice("cpu", {.threadPool = std::make_shared<Many>(4096)}).isOk());
  EXPECT_EQ(createThreadPool({.threads = 1025, .oversubscribe = true}).status().message(),
            "a pool of 1025 threads; at most 1024 are made");
}

/// As administrators set it who allow no code in memory. In a process namespace of its own, so that nobody else meets
/// it.
TEST(ProcessTest, LoadsCodeWhereFilesInMemoryMayNotBeRun) {
  constexpr int cannot = 77;
  const int code = inChild([] {
    if (::unshare(CLONE_NEWPID) != 0)
      return cannot;
    return inChild([] {
      const int file = ::open("/proc/sys/vm/memfd_noexec", O_WRONLY | O_CLOEXEC);
      if (file < 0 || ::write(file, "2\n", 2) != 2)
        return cannot;
      Sample sample;
      return sample.executor->run().isOk() && sample.isRight() ? 0 : 1;
    });
  });
  if (code == cannot)
    GTEST_SKIP() << "needs root, and Linux 6.3";
  EXPECT_EQ(code, 0);
}

/// Work that waits for what nobody will reach is told so, instead of staying for ever.
TEST(TimelineTest, AtItsEndFailsWhoWaits) {
  auto queue = *createThreadQueue();
  const Point done{std::make_shared<Timeline>(), 1};
  std::atomic<int> skipped = 0;
  {
    const Point lost{std::make_shared<Timeline>(), 3};
    queue->submit({.body = [] { return Status::ok(); },
                   .wait = {lost},
                   .after = {},
                   .signal = done,
                   .name = "work",
                   .accesses = {},
                   .skipped = [&] { ++skipped; }});
  }
  const Status status = done.wait(std::chrono::steady_clock::now() + std::chrono::minutes(1));
  EXPECT_EQ(status.code(), ErrorCode::Aborted);
  EXPECT_EQ(status.cause().code(), ErrorCode::Cancelled);
  EXPECT_EQ(status.cause().message(), "nobody is left who could reach 3 on the timeline, which is at 0");
  EXPECT_EQ(skipped, 1);
}

/// A queue that ends tells of work that it has not begun, as one whose wait failed.
TEST(QueueTest, AtItsEndSkipsWhatHasNotBegun) {
  const Point gate{std::make_shared<Timeline>(), 1}, done{std::make_shared<Timeline>(), 1};
  int skipped = 0;
  {
    auto queue = *createThreadQueue();
    queue->submit({.body = [] { return Status::ok(); },
                   .wait = {gate},
                   .after = {},
                   .signal = done,
                   .name = "work",
                   .accesses = {},
                   .skipped = [&] { ++skipped; }});
  }
  EXPECT_EQ(done.wait().code(), ErrorCode::Cancelled);
  EXPECT_EQ(skipped, 1);
}

/// What a body throws ends in its point, not in the end of the process.
TEST(QueueTest, WhatAWorkThrowsIsItsFailure) {
  auto queue = *createThreadQueue();
  auto run = [&](std::function<Status()> body) {
    const Point done{std::make_shared<Timeline>(), 1};
    queue->submit({.body = std::move(body), .wait = {}, .after = {}, .signal = done, .name = "work", .accesses = {}});
    return done.wait();
  };
  EXPECT_EQ(run([]() -> Status { throw std::bad_alloc(); }).code(), ErrorCode::OutOfMemory);
  const Status other = run([]() -> Status { throw std::runtime_error("a reason"); });
  EXPECT_EQ(other.code(), ErrorCode::Internal);
  EXPECT_EQ(other.message(), "an exception: a reason");
  EXPECT_EQ(run([]() -> Status { throw 7; }).message(), "an exception of a type that is not known");
  EXPECT_TRUE(run([] { return Status::ok(); }).isOk());
}

} // namespace
