//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// How a replay shares out its launches among the threads of a pool.
//===----------------------------------------------------------------------===//
#include "TestArtifact.h"
#include "TestKernels.h"
#include "zyx/Runtime/Executor.h"

#include <gmock/gmock.h>

#include <functional>
#include <mutex>
#include <thread>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;
using artifact::BufferKind;
using artifact::BufferRef;
using artifact::Copy;
using artifact::Fill;
using artifact::Launch;
using artifact::Loop;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

namespace {

constexpr int64_t count = 1000;
/// The traffic of a launch that is worth one chunk more.
constexpr uint64_t chunk = 8 * 20'000;

/// Two buffers of u64 that kernels turn into each other; the outputs are both, and the ranges.
class Plan {
public:
  Plan() {
    a.entry = "main";
    a.target = "cpu";
    const TensorType type{DType::U64, {count}};
    a.outputs = {{"x", type}, {"y", type}, {"ranges", type}};
    const uint64_t size = 8 * count;
    a.buffers = {{BufferKind::Output, 0, size}, {BufferKind::Output, 1, size}, {BufferKind::Output, 2, size}};
    if (auto code = readFile(testKernels()); code.isOk())
      a.code = {{"elf-so", std::move(*code)}};
    a.kernels = {{"mix", 0, 3, 1, "mix", {}, 1}, {"ranges", 0, 1, 0, "ranges", {}, 1}};
    add(Fill{{0, 0}, size, 3, 8});
    add(Fill{{1, 0}, size, 5, 8});
    add(Fill{{2, 0}, size, 0, 8});
  }
  /// y = mix(x, x), then x = mix(y, y).
  Plan &mix(uint64_t bytes) {
    add(launch(0, {{0, 0}, {0, 0}, {1, 0}}, bytes));
    return add(launch(0, {{1, 0}, {1, 0}, {0, 0}}, bytes));
  }
  Plan &ranges(uint64_t bytes) { return add(launch(1, {{2, 0}}, bytes)); }
  Plan &copy() { return add(Copy{{0, 0}, {1, 0}, 8 * count}); }
  Plan &loop(int64_t trips, uint32_t body) { return add(Loop{body, trips, {}, {}}); }

  Artifact a;

private:
  template <typename Action> Plan &add(Action action) {
    // Without waits: this device runs commands in their order.
    a.commands.push_back({std::move(action), {}});
    return *this;
  }
  Launch launch(uint32_t kernel, std::vector<BufferRef> buffers, uint64_t bytes) {
    Launch made{kernel, std::move(buffers), {count, 1, 1}, {}};
    if (kernel == 0)
      made.scalars = {static_cast<int64_t>(a.commands.size())};
    made.bytes = bytes;
    return made;
  }
};

/// All outputs after two runs.
std::vector<uint64_t> results(std::shared_ptr<Device> device, const Plan &plan) {
  auto executor = Executor::create(std::move(device), plan.a);
  EXPECT_TRUE(executor.isOk()) << executor.status().toString();
  std::vector<uint64_t> all(3 * count);
  for (int run = 0; run < 2; ++run)
    EXPECT_TRUE((*executor)->run().isOk());
  for (size_t i = 0; i < 3; ++i)
    EXPECT_TRUE((*executor)->readOutput(i, std::as_writable_bytes(std::span(all).subspan(i * count, count))).isOk());
  return all;
}

std::vector<uint64_t> results(std::shared_ptr<ThreadPool> pool, const Plan &plan) {
  return results(*createDevice("cpu", {.threadPool = std::move(pool)}), plan);
}

std::vector<uint64_t> results(unsigned threads, const Plan &plan) {
  return results(*createDevice("cpu", {.threads = threads, .oversubscribe = true}), plan);
}

/// Neighbours, loops in loops, short steps between, long ones on one thread.
Plan everything() {
  Plan plan;
  plan.mix(5 * chunk).copy().mix(chunk / 2).ranges(7 * chunk);
  plan.loop(3, 6).mix(3 * chunk).loop(2, 3).mix(2 * chunk).copy();
  plan.loop(2, 2).mix(0).mix(300 * chunk).mix(1);
  return plan;
}

/// A host program's pool, as a function.
class GivenPool : public ThreadPool {
public:
  using Run = std::function<void(unsigned calls, Body body, void *context)>;
  GivenPool(unsigned threads, Run how) : count(threads), how(std::move(how)) {}
  unsigned threads() const override { return count; }
  void run(unsigned calls, Body body, void *context) override {
    asked.push_back(calls);
    how(calls, body, context);
  }
  std::vector<unsigned> asked;

private:
  unsigned count;
  Run how;
};

TEST(ForkTest, CallsKernelsOnTheSameRangesWhateverTheThreads) {
  const Plan plan = everything();
  const std::vector<uint64_t> expected = results(1, plan);
  // Eight chunks for seven times what is worth one, and so 125 each.
  EXPECT_EQ(expected[2 * count], 125u);
  EXPECT_EQ(expected[3 * count - 1], uint64_t(875) << 32 | 1000);
  for (unsigned threads = 2; threads <= 8; ++threads)
    EXPECT_THAT(results(threads, plan), ElementsAreArray(expected)) << threads;
}

TEST(ForkTest, IsRightUnderEveryPool) {
  const Plan plan = everything();
  const std::vector<uint64_t> expected = results(1, plan);
  const GivenPool::Run ways[] = {// One after the other, from either end.
                                 [](unsigned calls, ThreadPool::Body body, void *context) {
                                   for (unsigned i = 0; i < calls; ++i)
                                     body(context, i);
                                 },
                                 [](unsigned calls, ThreadPool::Body body, void *context) {
                                   for (unsigned i = calls; i-- > 0;)
                                     body(context, i);
                                 },
                                 // One call; none; and with an index that does not exist.
                                 [](unsigned calls, ThreadPool::Body body, void *context) { body(context, calls / 2); },
                                 [](unsigned, ThreadPool::Body, void *) {},
                                 [](unsigned calls, ThreadPool::Body body, void *context) { body(context, calls + 5); },
                                 // New threads each time, without the caller.
                                 [](unsigned calls, ThreadPool::Body body, void *context) {
                                   std::vector<std::thread> threads;
                                   for (unsigned i = 0; i < calls; ++i)
                                     threads.emplace_back(body, context, i);
                                   for (std::thread &thread : threads)
                                     thread.join();
                                 }};
  for (const GivenPool::Run &way : ways)
    EXPECT_THAT(results(std::make_shared<GivenPool>(4, way), plan), ElementsAreArray(expected));
}

TEST(ForkTest, IsSharedByNeighbours) {
  auto asked = [](const std::function<void(Plan &)> &build) {
    auto alone = [](unsigned, ThreadPool::Body body, void *context) { body(context, 0); };
    auto pool = std::make_shared<GivenPool>(4, alone);
    Plan plan;
    build(plan);
    EXPECT_THAT(results(pool, plan), ElementsAreArray(results(1, plan)));
    // Of the first of two runs.
    pool->asked.resize(pool->asked.size() / 2);
    return pool->asked;
  };
  // Too small for a second thread.
  EXPECT_THAT(asked([](Plan &plan) { plan.mix(chunk - 8).copy().mix(1); }), IsEmpty());
  // As many as there are chunks, and threads.
  EXPECT_THAT(asked([](Plan &plan) { plan.ranges(2 * chunk); }), ElementsAre(3));
  EXPECT_THAT(asked([](Plan &plan) { plan.ranges(9 * chunk); }), ElementsAre(4));
  // Neighbours, and short steps between them.
  EXPECT_THAT(asked([](Plan &plan) { plan.mix(2 * chunk).copy().mix(1).ranges(9 * chunk); }), ElementsAre(4));
  // A fork ends with its last such launch.
  EXPECT_THAT(asked([](Plan &plan) { plan.ranges(2 * chunk).copy(); }), ElementsAre(3));
  // A loop is one with what stands around it, however often it runs.
  EXPECT_THAT(asked([](Plan &plan) { plan.ranges(chunk).loop(5, 3).mix(chunk).copy().ranges(chunk); }), ElementsAre(2));
  // Long work on one thread ends a fork: nobody else is kept from the pool meanwhile.
  auto longAlone = [](Plan &plan) {
    plan.mix(chunk).ranges(9 * chunk).mix(chunk);
    std::get<Launch>(plan.a.commands[5].action).grid = {1, 1, 1};
  };
  EXPECT_THAT(asked(longAlone), ElementsAre(2, 2));
  // A loop with such work inside is none, and what it repeats is forked by itself.
  EXPECT_THAT(asked([&](Plan &plan) {
                plan.loop(2, 2).ranges(9 * chunk).ranges(chunk);
                std::get<Launch>(plan.a.commands[4].action).grid = {1, 1, 1};
              }),
              ElementsAre(2, 2));
}

/// Numbers of 16 bits, which a copy moves by `by` elements.
std::vector<uint16_t> moved(unsigned threads, int64_t size, int64_t by, bool isInPlace) {
  Artifact a;
  a.entry = "main";
  a.target = "cpu";
  a.inputs = {{"x", {DType::U16, {size}}}};
  a.outputs = {{"y", {DType::U16, {size + by}}}};
  const auto bytes = static_cast<uint64_t>(2 * size), further = static_cast<uint64_t>(2 * by);
  a.buffers = {{BufferKind::Input, 0, bytes}, {BufferKind::Output, 0, bytes + further}};
  a.commands = {{Copy{{0, 0}, {1, isInPlace ? 0 : further}, bytes}, {}}};
  if (isInPlace)
    a.commands.push_back({Copy{{1, 0}, {1, further}, bytes}, {}});
  if (auto code = readFile(testKernels()); code.isOk())
    a.code = {{"elf-so", std::move(*code)}};
  auto executor = Executor::create(*createDevice("cpu", {.threads = threads, .oversubscribe = true}), a);
  EXPECT_TRUE(executor.isOk()) << executor.status().toString();
  std::vector<uint16_t> x(static_cast<size_t>(size)), y(static_cast<size_t>(size + by));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<uint16_t>(i * 40503 >> 3);
  EXPECT_TRUE((*executor)->setInput(0, std::as_bytes(std::span(x))).isOk());
  EXPECT_TRUE((*executor)->run().isOk());
  EXPECT_TRUE((*executor)->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
  y.erase(y.begin(), y.begin() + by);
  return y == x ? std::vector<uint16_t>() : y;
}

TEST(ForkTest, SharesOutLongCopies) {
  // Ends within a line, and behind one.
  for (const int64_t size : {3 * int64_t(chunk), 5 * int64_t(chunk) / 2 + 1, 40 * int64_t(chunk) + 64})
    for (const unsigned threads : {1u, 2u, 5u}) {
      EXPECT_THAT(moved(threads, size, 0, false), IsEmpty()) << size << " on " << threads;
      EXPECT_THAT(moved(threads, size, 3, false), IsEmpty()) << size << " on " << threads;
      // What overlaps is moved from one end.
      EXPECT_THAT(moved(threads, size, 101, true), IsEmpty()) << size << " on " << threads;
    }
}

TEST(ForkTest, SurvivesFourTimesAsManyThreadsAsProcessors) {
  const Plan plan = everything();
  const std::vector<uint64_t> expected = results(1, plan);
  const unsigned processors = (*createThreadPool())->threads();
  std::vector<std::vector<uint64_t>> got(4);
  std::vector<std::thread> callers;
  for (auto &one : got)
    callers.emplace_back([&] { one = results(4 * processors, plan); });
  for (std::thread &caller : callers)
    caller.join();
  for (const auto &one : got)
    EXPECT_THAT(one, ElementsAreArray(expected));
}

TEST(ForkTest, SharesAPoolAmongExecutors) {
  const Plan plan = everything();
  const std::vector<uint64_t> expected = results(1, plan);
  auto pool = *createThreadPool({.threads = 3, .oversubscribe = true});
  std::vector<std::vector<uint64_t>> got(3);
  std::vector<std::thread> callers;
  for (auto &one : got)
    callers.emplace_back([&] { one = results(pool, plan); });
  for (std::thread &caller : callers)
    caller.join();
  for (const auto &one : got)
    EXPECT_THAT(one, ElementsAreArray(expected));
}

} // namespace
