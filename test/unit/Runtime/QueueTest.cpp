//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Queue.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;
using testing::HasSubstr;

namespace {

using namespace std::chrono_literals;

std::unique_ptr<Queue> makeQueue() {
  auto queue = createThreadQueue();
  EXPECT_TRUE(queue.isOk());
  return std::move(*queue);
}

void submit(Queue &queue, std::vector<Point> wait, std::function<Status()> body, Point signal) {
  queue.submit({std::move(body), std::move(wait), {}, std::move(signal), "work", {}});
}

TEST(TimelineTest, OnlyGrows) {
  Timeline timeline;
  EXPECT_EQ(timeline.value(), 0u);
  EXPECT_TRUE(timeline.wait(0).isOk());
  EXPECT_TRUE(timeline.signal(5).isOk());
  EXPECT_TRUE(timeline.wait(3).isOk());
  EXPECT_EQ(timeline.signal(5).message(), "the timeline is at 5 and cannot be signalled to 5");
  EXPECT_EQ(timeline.value(), 5u);
}

TEST(TimelineTest, WaitsUntilTheDeadline) {
  Timeline timeline;
  Status late = timeline.wait(1, std::chrono::steady_clock::now() + 1ms);
  EXPECT_EQ(late.code(), ErrorCode::Timeout);
  EXPECT_EQ(late.message(), "the timeline is at 0 and did not reach 1 in time");
  EXPECT_EQ(timeline.wait(1, Deadline::min()).code(), ErrorCode::Timeout);
}

TEST(TimelineTest, MayBeWaitedForBeforeItIsSignalled) {
  auto timeline = std::make_shared<Timeline>();
  std::vector<std::thread> waiters;
  std::atomic<int> woken = 0;
  for (uint64_t value = 1; value <= 4; ++value)
    waiters.emplace_back([=, &woken] {
      if (Point{timeline, value}.wait().isOk())
        ++woken;
    });
  for (uint64_t value = 1; value <= 4; ++value)
    EXPECT_TRUE(timeline->signal(value).isOk());
  for (std::thread &waiter : waiters)
    waiter.join();
  EXPECT_EQ(woken, 4);
}

TEST(TimelineTest, FailsForEverWithItsFirstCause) {
  Timeline timeline;
  ASSERT_TRUE(timeline.signal(2).isOk());
  std::thread waiter([&] { EXPECT_EQ(timeline.wait(3).message(), "first"); });
  timeline.fail(Status::internal("first"));
  timeline.fail(Status::internal("second"));
  waiter.join();
  EXPECT_EQ(timeline.status().message(), "first");
  EXPECT_EQ(timeline.signal(3).message(), "first");
  EXPECT_EQ(timeline.wait(9).message(), "first");
  // What was reached stays reached.
  EXPECT_TRUE(timeline.wait(2).isOk());
}

TEST(TimelineTest, CallsBackOnceWithoutALock) {
  Timeline timeline;
  std::vector<std::string> calls;
  auto note = [&](const std::string &name) {
    return [&, name](const Status &status) {
      // Would never return if a lock were held.
      calls.push_back(name + (timeline.status().isOk() ? "" : "!") + status.message());
    };
  };
  timeline.onReach(0, note("now"));
  timeline.onReach(2, note("two"));
  timeline.onReach(1, note("one"));
  timeline.onReach(5, note("five"));
  EXPECT_TRUE(timeline.signal(1).isOk());
  EXPECT_TRUE(timeline.signal(3).isOk());
  timeline.fail(Status::internal(" failed"));
  timeline.onReach(6, note("six"));
  timeline.onReach(3, note("three"));
  EXPECT_THAT(calls, testing::ElementsAre("now", "one", "two", "five! failed", "six! failed", "three!"));
}

TEST(TimelineTest, AsksWhoTakesAFence) {
  Timeline timeline;
  std::string calls;
  const auto note = [&](const std::string &name) {
    return [&, name](const Status &status) { calls += name + (status.isOk() ? " " : "! "); };
  };
  const auto take = [&](const std::string &name, bool answer) {
    return [&, name, answer](const std::shared_ptr<Fence> &) {
      // Would never return if a lock were held.
      calls += "?" + name + std::to_string(timeline.value()) + " ";
      return answer;
    };
  };
  timeline.onReach(1, note("plain"));
  timeline.onReach(1, note("taken"), take("taken", true));
  timeline.onReach(2, note("left"), take("left", false));
  timeline.onReach(3, note("later"), take("later", true));
  timeline.announce(2, std::make_shared<Fence>());
  EXPECT_EQ(calls, "?taken0 taken ?left0 ");
  // Who comes now is asked at once, but for what was announced alone.
  timeline.onReach(2, note("now"), take("now", true));
  timeline.onReach(3, note("far"), take("far", true));
  EXPECT_EQ(std::exchange(calls, ""), "?taken0 taken ?left0 ?now0 now ");
  EXPECT_TRUE(timeline.signal(2).isOk());
  EXPECT_EQ(std::exchange(calls, ""), "plain left ");
  timeline.onReach(2, note("reached"), take("reached", true));
  EXPECT_EQ(std::exchange(calls, ""), "reached ");
  // Of what is reached, or never will be, there is nothing to announce.
  timeline.announce(2, std::make_shared<Fence>());
  timeline.fail(Status::internal("failed"));
  timeline.announce(3, std::make_shared<Fence>());
  EXPECT_EQ(calls, "later! far! ");
}

TEST(TimelineTest, LetsGoOfFencesThatAreOver) {
  for (bool fails : {false, true}) {
    Timeline timeline;
    auto fence = std::make_shared<Fence>();
    timeline.announce(1, fence);
    EXPECT_EQ(fence.use_count(), 2);
    if (fails)
      timeline.fail(Status::internal("failed"));
    else
      EXPECT_TRUE(timeline.signal(1).isOk());
    EXPECT_EQ(fence.use_count(), 1);
  }
}

TEST(QueueTest, BeginsBehindFencesThatItTakes) {
  for (const auto [fails, bodyFails] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
    auto queue = makeQueue();
    const Point before{std::make_shared<Timeline>(), 1}, end{std::make_shared<Timeline>(), 1},
        done{std::make_shared<Timeline>(), 1};
    std::atomic<bool> hasRun = false;
    Work work{[&, bodyFails = bodyFails] {
                hasRun = true;
                return bodyFails ? Status::internal("refused") : Status::ok();
              },
              {before},
              {end},
              done,
              "work",
              {}};
    int taken = 0;
    work.take = [&](const std::shared_ptr<Fence> &fence) { return fence && ++taken; };
    queue->submit(std::move(work));
    before.timeline->announce(1, std::make_shared<Fence>());
    EXPECT_FALSE(hasRun);
    end.timeline->announce(1, std::make_shared<Fence>());
    // It runs, and is over when the others are.
    while (!hasRun)
      std::this_thread::yield();
    EXPECT_EQ(taken, 2);
    EXPECT_FALSE(done.isDecided());
    // How the earlier user ends does not matter.
    end.timeline->fail(Status::internal("of no interest"));
    if (!fails) {
      EXPECT_TRUE(before.timeline->signal(1).isOk());
      EXPECT_EQ(done.wait().message(), bodyFails ? "refused" : "");
      continue;
    }
    // The body of one that fails may fail by it.
    before.timeline->fail(Status::internal("lost after all"));
    EXPECT_THAT(done.wait().toString(),
                testing::AllOf(HasSubstr("work that this depends on failed"), HasSubstr("lost after all")));
  }
}

TEST(QueueTest, RunsInOrder) {
  auto timeline = std::make_shared<Timeline>();
  std::vector<int> order;
  {
    auto queue = makeQueue();
    for (int i = 0; i < 100; ++i)
      submit(*queue, {},
             [&order, i] {
               order.push_back(i);
               return Status::ok();
             },
             {timeline, static_cast<uint64_t>(i) + 1});
    EXPECT_TRUE(timeline->wait(100).isOk());
  }
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(QueueTest, WaitsAcrossQueuesBeforeTheSignal) {
  auto first = std::make_shared<Timeline>(), second = std::make_shared<Timeline>();
  auto a = makeQueue(), b = makeQueue();
  int value = 0;
  const std::vector<Point> waits = {{first, 1}, {}};
  submit(*b, waits,
         [&] {
           value *= 3;
           return Status::ok();
         },
         {second, 1});
  submit(*a, {},
         [&] {
           value = 7;
           return Status::ok();
         },
         {first, 1});
  EXPECT_TRUE(second->wait(1).isOk());
  EXPECT_EQ(value, 21);
}

TEST(QueueTest, HandsFailuresOnAndGoesOn) {
  auto failing = std::make_shared<Timeline>(), dependent = std::make_shared<Timeline>(),
       other = std::make_shared<Timeline>();
  auto queue = makeQueue();
  bool ran = false;
  submit(*queue, {}, [] { return Status::internal("kernel broke"); }, {failing, 1});
  const std::vector<Point> waits = {{failing, 1}};
  submit(*queue, waits,
         [&] {
           ran = true;
           return Status::ok();
         },
         {dependent, 1});
  submit(*queue, {}, [] { return Status::ok(); }, {other, 1});
  EXPECT_TRUE(other->wait(1).isOk());
  EXPECT_EQ(failing->status().message(), "kernel broke");
  EXPECT_EQ(dependent->status().code(), ErrorCode::Aborted);
  EXPECT_EQ(dependent->status().message(), "work that this depends on failed");
  EXPECT_EQ(dependent->status().cause().message(), "kernel broke");
  EXPECT_FALSE(ran);
}

TEST(QueueTest, GoesOnAfterWhatOnlyHadToBeOver) {
  auto failing = std::make_shared<Timeline>(), next = std::make_shared<Timeline>();
  auto queue = makeQueue();
  queue->submit({[] { return Status::ok(); }, {}, {{failing, 1}, {}}, {next, 1}, "work", {}});
  EXPECT_EQ(next->value(), 0u);
  failing->fail(Status::internal("kernel broke"));
  EXPECT_TRUE(next->wait(1).isOk());
}

TEST(QueueTest, FailsWhereItsSignalIsNotAhead) {
  auto timeline = std::make_shared<Timeline>();
  ASSERT_TRUE(timeline->signal(3).isOk());
  submit(*makeQueue(), {}, [] { return Status::ok(); }, {timeline, 2});
  EXPECT_THAT(timeline->status().message(), HasSubstr("cannot be signalled to 2"));
}

TEST(QueueTest, CancelsWhatCannotStart) {
  auto endless = std::make_shared<Timeline>(), ready = std::make_shared<Timeline>(),
       stuck = std::make_shared<Timeline>();
  {
    auto queue = makeQueue();
    submit(*queue, {}, [] { return Status::ok(); }, {ready, 1});
    const std::vector<Point> waits = {{endless, 1}};
    submit(*queue, waits, [] { return Status::ok(); }, {stuck, 1});
    submit(*queue, {}, [] { return Status::ok(); }, {ready, 2});
  }
  EXPECT_EQ(stuck->status().code(), ErrorCode::Cancelled);
  EXPECT_EQ(stuck->status().message(), "the queue was destroyed before the work could start");
  EXPECT_EQ(ready->value(), 2u);
  // Its callback outlives the queue.
  EXPECT_TRUE(endless->signal(1).isOk());
}

TEST(QueueTest, TakesWorkFromManyThreads) {
  std::atomic<int> done = 0;
  std::vector<std::shared_ptr<Timeline>> timelines(8);
  {
    auto queue = makeQueue();
    std::vector<std::thread> threads;
    for (auto &timeline : timelines)
      threads.emplace_back([&] {
        timeline = std::make_shared<Timeline>();
        for (uint64_t i = 1; i <= 50; ++i) {
          const std::vector<Point> previous = {{timeline, i - 1}};
          submit(*queue, previous,
                 [&] {
                   ++done;
                   return Status::ok();
                 },
                 {timeline, i});
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    for (const auto &timeline : timelines)
      EXPECT_TRUE(timeline->wait(50).isOk());
  }
  EXPECT_EQ(done, 400);
}

} // namespace
