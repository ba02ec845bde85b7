//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What depends on weights alone runs once for many runs, and again when a weight changes.
#include "TestArtifact.h"
#include "TestKernels.h"
#include "zyx/Runtime/Executor.h"
#include "zyx/Runtime/Simulation.h"

#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;
using artifact::BufferKind;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Values = std::vector<float>;

/// y = x + kept, where the init computes t = w * 2 + 1 and kept = t + t. With an `identity` it is a step that others
/// share.
Artifact withInit(std::optional<Hash128> identity) {
  using namespace zyx::artifact;
  Artifact a = sampleArtifact(testKernels());
  const TensorType type{DType::F32, {4}};
  a.inputs = {{"x", type}, {"w", type, true}};
  a.outputs = {{"y", type}};
  a.buffers = {{BufferKind::Input, 0, 16},
               {BufferKind::Input, 1, 16},
               {BufferKind::Output, 0, 16},
               {BufferKind::Arena, 0, 16},
               {BufferKind::Kept, 64, 16}};
  a.arenaSize = 16;
  a.keptSize = 80;
  a.constants.clear();
  a.commands = {{Launch{1, {{1, 0}, {3, 0}}, {4, 1, 1}, {2, 1}, 8, 16}, {}},
                {Launch{0, {{3, 0}, {3, 0}, {4, 0}}, {4, 1, 1}, {}}, {0}},
                {Launch{0, {{0, 0}, {4, 0}, {2, 0}}, {4, 1, 1}, {}}, {}}};
  a.numInitCommands = 2;
  if (identity)
    a.initSteps = {{2, 80, *identity}};
  return a;
}

/// The same where a run overwrites what the init had in the arena.
Artifact withSharedArena(std::optional<Hash128> identity) {
  using namespace zyx::artifact;
  Artifact a = withInit(identity);
  a.commands.push_back({Fill{{3, 0}, 16, 0, 4}, {}});
  return a;
}

/// Whether the init is a step of an identity.
class InitTest : public testing::TestWithParam<bool> {
protected:
  static constexpr Hash128 identity{1, 2};
  static std::optional<Hash128> given() { return GetParam() ? std::optional(identity) : std::nullopt; }
  static Artifact withInit() { return ::withInit(given()); }
  static Artifact withSharedArena() { return ::withSharedArena(given()); }
  std::unique_ptr<Executor> load(const std::shared_ptr<Device> &device, Artifact artifact) {
    auto created = Executor::create(device, std::move(artifact));
    EXPECT_TRUE(created.isOk()) << created.status().toString();
    return std::move(*created);
  }
  std::unique_ptr<Executor> load() { return load(cpu, withInit()); }
  void SetUp() override {
    auto created = createDevice("cpu", {.threads = 2, .oversubscribe = true});
    ASSERT_TRUE(created.isOk());
    cpu = *created;
  }
  static void set(Executor &executor, size_t index, const Values &values) {
    ASSERT_TRUE(executor.setInput(index, std::as_bytes(std::span(values))).isOk());
  }
  static Values read(Executor &executor) {
    Values values(4);
    Status status = executor.readOutput(0, std::as_writable_bytes(std::span(values)));
    EXPECT_TRUE(status.isOk()) << status.toString();
    return values;
  }
  static Values run(Executor &executor) {
    Status status = executor.run();
    EXPECT_TRUE(status.isOk()) << status.toString();
    return read(executor);
  }

  std::shared_ptr<Device> cpu;
};

TEST_P(InitTest, RunsOnceUntilAWeightIsSet) {
  auto executor = load();
  alignas(4) float w[4] = {1, 2, 3, 4};
  set(*executor, 0, {0, 0, 0, 0});
  ASSERT_TRUE(executor->bindInput(1, Buffer::borrow(w, sizeof(w))).isOk());
  EXPECT_THAT(run(*executor), ElementsAre(6, 10, 14, 18));
  // An input is no reason to run it again, and neither is what nobody has told of.
  w[0] = 10;
  set(*executor, 0, {1, 0, 0, 0});
  EXPECT_THAT(run(*executor), ElementsAre(7, 10, 14, 18));
  ASSERT_TRUE(executor->bindInput(1, Buffer::borrow(w, sizeof(w))).isOk());
  EXPECT_THAT(run(*executor), ElementsAre(43, 10, 14, 18));
  set(*executor, 1, {0, 0, 0, 0});
  EXPECT_THAT(run(*executor), ElementsAre(3, 2, 2, 2));
  set(*executor, 1, {1, 1, 1, 1});
  EXPECT_THAT(run(*executor), ElementsAre(7, 6, 6, 6));
}

TEST_P(InitTest, TakesNoTimeInLaterRuns) {
  auto executor = load();
  set(*executor, 0, {0, 0, 0, 0});
  set(*executor, 1, {1, 2, 3, 4});
  auto first = executor->profile(), second = executor->profile();
  ASSERT_TRUE(first.isOk() && second.isOk());
  ASSERT_EQ(second->size(), 3u);
  auto timeOfInit = [](const std::vector<CommandTime> &times) { return times[0].nanoseconds + times[1].nanoseconds; };
  EXPECT_GT(timeOfInit(*first), 0u);
  EXPECT_EQ(timeOfInit(*second), 0u);
  // Who sets all inputs for each run sets the same weights again.
  set(*executor, 1, {1, 2, 3, 4});
  EXPECT_EQ(timeOfInit(*executor->profile()), 0u);
  set(*executor, 1, {1, 2, 3, 5});
  EXPECT_GT(timeOfInit(*executor->profile()), 0u);
  EXPECT_EQ((*first)[0].bytes, 16u);
  EXPECT_EQ((*second)[0].bytes, 0u);
}

TEST_P(InitTest, RunsAgainWhereAnotherProgramWritesTheWeight) {
  auto executor = load(), trainer = load();
  auto buffer = *Buffer::allocate(cpu->pool(), 16);
  ASSERT_TRUE(trainer->bindOutput(0, buffer).isOk());
  ASSERT_TRUE(executor->bindInput(1, buffer).isOk());
  set(*executor, 0, {0, 0, 0, 0});
  set(*trainer, 1, {0, 0, 0, 0});
  for (float step : {1.0f, 2.0f}) {
    set(*trainer, 0, {step, 0, 0, 0});
    // The weight is step + 2, 2, ...
    EXPECT_THAT(run(*trainer), ElementsAre(step + 2, 2, 2, 2));
    EXPECT_THAT(run(*executor), ElementsAre(4 * (step + 2) + 2, 10, 10, 10));
    EXPECT_THAT(run(*executor), ElementsAre(4 * (step + 2) + 2, 10, 10, 10));
  }
  ASSERT_TRUE(trainer->submit().isOk());
  auto submitted = executor->submit();
  ASSERT_TRUE(submitted.isOk() && submitted->wait().isOk());
  EXPECT_THAT(read(*executor), ElementsAre(18, 10, 10, 10));
}

TEST_P(InitTest, KeepsForEachExecutor) {
  auto one = load(), other = load();
  for (Executor *executor : {one.get(), other.get()})
    set(*executor, 0, {0, 0, 0, 0});
  set(*one, 1, {1, 1, 1, 1});
  set(*other, 1, {2, 2, 2, 2});
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(run(*one), ElementsAre(6, 6, 6, 6));
    EXPECT_THAT(run(*other), ElementsAre(10, 10, 10, 10));
  }
}

TEST_P(InitTest, RunsOnceForSubmittedRuns) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto simulation = *Simulation::create({.seed = seed, .queues = 3});
    auto executor = load(simulation->device(), withSharedArena());
    set(*executor, 0, {1, 2, 3, 4});
    set(*executor, 1, {1, 2, 3, 4});
    Point last;
    for (int i = 0; i < 3; ++i) {
      auto submitted = executor->submit();
      ASSERT_TRUE(submitted.isOk());
      last = *submitted;
    }
    ASSERT_TRUE(last.wait().isOk());
    EXPECT_THAT(read(*executor), ElementsAre(7, 12, 17, 22));
    // Two commands and an end for the init, and for each run.
    EXPECT_EQ(simulation->counts().succeeded, 3u + 3 * 3);
    set(*executor, 1, {0, 0, 0, 0});
    EXPECT_THAT(run(*executor), ElementsAre(3, 4, 5, 6));
    EXPECT_EQ(simulation->counts().succeeded, 3u + 4 * 3 + 3);
    EXPECT_TRUE(simulation->races().empty());
  }
}

TEST_P(InitTest, RunsAgainAfterAFailure) {
  for (uint64_t failing : {1, 2}) {
    auto simulation = *Simulation::create();
    auto executor = load(simulation->device(), withInit());
    set(*executor, 0, {1, 2, 3, 4});
    set(*executor, 1, {1, 2, 3, 4});
    simulation->failWork(0, failing);
    EXPECT_THAT(executor->run().toString(), HasSubstr("the work was told to fail"));
    EXPECT_THAT(run(*executor), ElementsAre(7, 12, 17, 22));

    // Whoever relies on an init in flight fails with it.
    set(*executor, 1, {0, 0, 0, 0});
    simulation->hold();
    simulation->failWork(0, failing);
    auto first = executor->submit(), second = executor->submit();
    ASSERT_TRUE(first.isOk() && second.isOk());
    simulation->release();
    EXPECT_FALSE(first->wait().isOk());
    EXPECT_THAT(second->wait().toString(), HasSubstr("the work was told to fail"));
    EXPECT_THAT(run(*executor), ElementsAre(3, 4, 5, 6));
    EXPECT_TRUE(simulation->races().empty());
  }
}

TEST_P(InitTest, ARunThatFailsLeavesItsInitToOthers) {
  auto simulation = *Simulation::create({.queues = 3});
  for (const auto &device : {cpu, simulation->device()}) {
    auto executor = load(device, withSharedArena());
    set(*executor, 0, {1, 2, 3, 4});
    set(*executor, 1, {1, 2, 3, 4});
    auto gate = std::make_shared<Timeline>();
    const Point wait[] = {{gate, 1}};
    auto first = executor->submit(wait), second = executor->submit();
    ASSERT_TRUE(first.isOk() && second.isOk());
    gate->fail(Status::internal("the gate broke"));
    EXPECT_FALSE(first->wait().isOk());
    EXPECT_TRUE(second->wait().isOk()) << second->wait().toString();
    EXPECT_THAT(read(*executor), ElementsAre(7, 12, 17, 22));
  }
  EXPECT_TRUE(simulation->races().empty());
}

/// Another thread hands over a program that writes the weights while a run on this one reads them.
TEST_P(InitTest, NobodyWritesWeightsDuringARun) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto simulation = *Simulation::create({.seed = seed, .queues = 3});
    const auto device = simulation->device();
    auto executor = load(device, withInit()), trainer = load(device, withInit());
    auto buffer = *Buffer::allocate(device->pool(), 16);
    const Values ones(4, 1);
    ASSERT_TRUE(buffer->write(std::as_bytes(std::span(ones))).isOk());
    ASSERT_TRUE(trainer->bindOutput(0, buffer).isOk());
    ASSERT_TRUE(executor->bindInput(1, buffer).isOk());
    set(*executor, 0, {0, 0, 0, 0});
    set(*trainer, 0, {1, 2, 3, 4});
    set(*trainer, 1, {0, 0, 0, 0});
    simulation->hold();
    std::thread running([&] { EXPECT_TRUE(executor->run().isOk()); });
    while (simulation->counts().submitted < 3)
      std::this_thread::yield();
    auto written = trainer->submit();
    simulation->release();
    running.join();
    ASSERT_TRUE(written.isOk() && written->wait().isOk());
    EXPECT_TRUE(simulation->races().empty()) << simulation->races()[0].toString();
    EXPECT_THAT(read(*executor), ElementsAre(6, 6, 6, 6));
    EXPECT_THAT(run(*executor), ElementsAre(14, 18, 22, 26));
  }
}

/// Runs take the buffers in one order whatever the threads are: each sees all of a write, or nothing.
TEST_P(InitTest, ThreadsTakeTurns) {
  auto one = load(), other = load();
  auto a = *Buffer::allocate(cpu->pool(), 16), b = *Buffer::allocate(cpu->pool(), 16);
  const Values zeros(4);
  for (const auto &buffer : {a, b})
    ASSERT_TRUE(buffer->write(std::as_bytes(std::span(zeros))).isOk());
  // Each writes what the other one reads, as its weights.
  ASSERT_TRUE(one->bindInput(1, a).isOk() && one->bindOutput(0, b).isOk());
  ASSERT_TRUE(other->bindInput(1, b).isOk() && other->bindOutput(0, a).isOk());
  for (Executor *executor : {one.get(), other.get()})
    set(*executor, 0, {0, 0, 0, 0});
  auto work = [](Executor &executor) {
    for (int i = 0; i < 300; ++i) {
      if (i % 3 == 0) {
        auto submitted = executor.submit();
        EXPECT_TRUE(submitted.isOk() && submitted->wait().isOk());
      } else {
        EXPECT_TRUE(executor.run().isOk());
      }
    }
  };
  std::thread running([&] { work(*one); });
  work(*other);
  running.join();
  // Floats of both are infinite by now; with the weights at rest, one run says what they are.
  const Values weights{1, 2, 3, 4};
  ASSERT_TRUE(a->write(std::as_bytes(std::span(weights))).isOk());
  EXPECT_THAT(run(*one), ElementsAre(6, 10, 14, 18));
  EXPECT_THAT(run(*other), ElementsAre(26, 42, 58, 74));
  EXPECT_THAT(run(*one), ElementsAre(106, 170, 234, 298));
}

TEST_P(InitTest, CountsWhatIsKept) {
  auto device = *createDummyDevice();
  auto executor = load(device, withInit());
  auto inUse = [&] { return device->pool()->usage().inUse; };
  EXPECT_EQ(inUse(), 16u);
  set(*executor, 0, {0, 0, 0, 0});
  set(*executor, 1, {0, 0, 0, 0});
  ASSERT_TRUE(executor->run().isOk());
  // The arena, what is kept, two inputs and an output.
  EXPECT_EQ(inUse(), 16u + 80u + 3 * 16u);
  executor->trim();
  EXPECT_EQ(inUse(), 3 * 16u);
  ASSERT_TRUE(executor->run().isOk());
  EXPECT_EQ(inUse(), 16u + 80u + 3 * 16u);
  executor.reset();
  EXPECT_EQ(inUse(), 0u);

  device = *createDummyDevice(127);
  executor = load(device, withInit());
  set(*executor, 0, {0, 0, 0, 0});
  set(*executor, 1, {0, 0, 0, 0});
  EXPECT_THAT(executor->run().message(), HasSubstr("holds 48 of 127 bytes and cannot give 80 more"));
}

INSTANTIATE_TEST_SUITE_P(Identities, InitTest, testing::Bool(),
                         [](const auto &info) { return info.param ? "Shared" : "Own"; });

class SharedInitTest : public InitTest {
protected:
  struct One {
    std::unique_ptr<Executor> executor;
    std::shared_ptr<Buffer> y;
  };
  One bound(const std::shared_ptr<Device> &device, Artifact artifact, const std::shared_ptr<Buffer> &w) {
    One one{load(device, std::move(artifact)), *Buffer::allocate(device->pool(), 16)};
    set(*one.executor, 0, {0, 0, 0, 0});
    EXPECT_TRUE(one.executor->bindInput(1, w).isOk());
    EXPECT_TRUE(one.executor->bindOutput(0, one.y).isOk());
    return one;
  }
  static std::shared_ptr<Buffer> weight(const std::shared_ptr<Device> &device, const Values &values) {
    auto buffer = *Buffer::allocate(device->pool(), 16);
    EXPECT_TRUE(buffer->write(std::as_bytes(std::span(values))).isOk());
    return buffer;
  }
  /// Each of two weights has a step, which doubles it.
  static Artifact twoSteps() {
    using namespace zyx::artifact;
    Artifact a = ::withInit(std::nullopt);
    a.inputs[0].isWeight = true;
    a.buffers = {{BufferKind::Input, 0, 16},
                 {BufferKind::Input, 1, 16},
                 {BufferKind::Output, 0, 16},
                 {BufferKind::Kept, 0, 16},
                 {BufferKind::Kept, 64, 16}};
    a.arenaSize = 0;
    a.keptSize = 80;
    a.commands = {{Launch{1, {{0, 0}, {3, 0}}, {4, 1, 1}, {2, 1}, 8, 16}, {}},
                  {Launch{1, {{1, 0}, {4, 0}}, {4, 1, 1}, {2, 1}, 8, 16}, {0}},
                  {Launch{0, {{3, 0}, {4, 0}, {2, 0}}, {4, 1, 1}, {}}, {}}};
    // Equal steps, of other weights.
    a.initSteps = {{1, 64, identity}, {1, 16, {1, 3}}};
    return a;
  }
};

TEST_F(SharedInitTest, OneMakesItForAllAndTheLastLetsItGo) {
  const Artifact artifact = ::withInit(identity);
  auto w = weight(cpu, {1, 2, 3, 4});
  const uint64_t before = cpu->pool()->usage().inUse;
  auto held = [&](size_t executors) {
    // Each has an arena, an input and an output of its own.
    return cpu->pool()->usage().inUse - before - executors * 3 * 16;
  };
  std::vector<One> all;
  for (size_t i = 1; i <= 4; ++i) {
    all.push_back(bound(cpu, artifact, w));
    EXPECT_THAT(run(*all.back().executor), ElementsAre(6, 10, 14, 18));
    EXPECT_EQ(held(i), 80u);
    EXPECT_EQ(all.back().executor->initLaunches(), i == 1 ? 2u : 0u);
  }
  // Whoever runs first makes it anew.
  const Values ones(4, 1);
  ASSERT_TRUE(w->write(std::as_bytes(std::span(ones))).isOk());
  for (size_t i = 4; i-- != 0;) {
    EXPECT_THAT(run(*all[i].executor), ElementsAre(6, 6, 6, 6));
    EXPECT_EQ(all[i].executor->initLaunches(), i == 3 || i == 0 ? 2u : 0u);
  }
  EXPECT_EQ(held(4), 80u);
  // Of another buffer, or made in another way, it is another.
  Artifact other = artifact;
  other.initSteps[0].identity.low = 3;
  std::get<artifact::Launch>(other.commands[0].action).scalars = {3, 1};
  all.push_back(bound(cpu, other, w));
  EXPECT_THAT(run(*all.back().executor), ElementsAre(8, 8, 8, 8));
  EXPECT_THAT(run(*all.front().executor), ElementsAre(6, 6, 6, 6));
  EXPECT_EQ(held(5), 160u);
  all.pop_back();
  EXPECT_EQ(held(4), 80u);
  // One that gives it back finds it again.
  all[0].executor->trim();
  EXPECT_EQ(held(4), 80u - 16);
  EXPECT_THAT(run(*all[0].executor), ElementsAre(6, 6, 6, 6));
  EXPECT_EQ(all[0].executor->initLaunches(), 2u);
  all.resize(1);
  EXPECT_EQ(held(1), 80u);
  all.clear();
  EXPECT_EQ(held(0), 0u);
}

TEST_F(SharedInitTest, GoesWithTheWeight) {
  auto w = weight(cpu, {1, 2, 3, 4});
  One one = bound(cpu, ::withInit(identity), w), other = bound(cpu, ::withInit(identity), w);
  for (const One *each : {&one, &other})
    EXPECT_THAT(run(*each->executor), ElementsAre(6, 10, 14, 18));
  for (const One *each : {&one, &other})
    each->executor->release(/*keepWeights=*/true);
  // Bound as long as others own it.
  set(*one.executor, 0, {1, 1, 1, 1});
  EXPECT_THAT(run(*one.executor), ElementsAre(7, 11, 15, 19));
  EXPECT_EQ(one.executor->initLaunches(), 2u);
  one.executor->release(/*keepWeights=*/true);
  const uint64_t before = cpu->pool()->usage().inUse;
  w = nullptr;
  EXPECT_EQ(cpu->pool()->usage().inUse, before - 80 - 16);
  set(*one.executor, 0, {0, 0, 0, 0});
  EXPECT_THAT(one.executor->run().message(), HasSubstr("input 'w' is not set"));
  // A buffer that may lie where it lay is another one.
  w = weight(cpu, {0, 0, 0, 0});
  for (const One *each : {&one, &other}) {
    set(*each->executor, 0, {0, 0, 0, 0});
    ASSERT_TRUE(each->executor->bindInput(1, w).isOk());
    EXPECT_THAT(run(*each->executor), ElementsAre(2, 2, 2, 2));
  }
}

/// Steps are made one by one: kept 1 = 2 w + 1 and kept 2 = 2 v + 1, y = kept 1 + kept 2.
TEST_F(SharedInitTest, MakesTheStepsWhoseWeightsChanged) {
  const Artifact a = twoSteps();
  auto simulation = *Simulation::create({.seed = 7, .queues = 3});
  for (const auto &device : {cpu, simulation->device()}) {
    auto executor = load(device, a);
    set(*executor, 0, {1, 1, 1, 1});
    set(*executor, 1, {2, 2, 2, 2});
    EXPECT_THAT(run(*executor), ElementsAre(8, 8, 8, 8));
    EXPECT_EQ(executor->initLaunches(), 2u);
    set(*executor, 1, {3, 3, 3, 3});
    auto submitted = executor->submit();
    ASSERT_TRUE(submitted.isOk() && submitted->wait().isOk());
    EXPECT_THAT(read(*executor), ElementsAre(10, 10, 10, 10));
    EXPECT_EQ(executor->initLaunches(), 3u);
    set(*executor, 0, {0, 0, 0, 0});
    EXPECT_THAT(run(*executor), ElementsAre(8, 8, 8, 8));
    EXPECT_EQ(executor->initLaunches(), 4u);
  }
  EXPECT_TRUE(simulation->races().empty());
}

TEST_F(SharedInitTest, LentMemoryIsReadAgainWhereItIsBound) {
  alignas(64) float lent[4] = {1, 2, 3, 4};
  const auto w = Buffer::borrow(lent, sizeof(lent));
  One one = bound(cpu, ::withInit(identity), w);
  EXPECT_THAT(run(*one.executor), ElementsAre(6, 10, 14, 18));
  lent[0] = 0;
  One other = bound(cpu, ::withInit(identity), w);
  EXPECT_THAT(run(*other.executor), ElementsAre(2, 10, 14, 18));
  EXPECT_THAT(run(*one.executor), ElementsAre(2, 10, 14, 18));
}

/// Who relies on an init that fails in flight fails with it, and the next one makes it.
TEST_F(SharedInitTest, AFailureIsMadeGoodByWhoeverComesNext) {
  auto simulation = *Simulation::create();
  const auto device = simulation->device();
  auto w = weight(device, {1, 2, 3, 4});
  One one = bound(device, ::withInit(identity), w), other = bound(device, ::withInit(identity), w);
  simulation->hold();
  simulation->failWork(0, 1);
  auto first = one.executor->submit(), second = other.executor->submit();
  ASSERT_TRUE(first.isOk() && second.isOk());
  simulation->release();
  EXPECT_FALSE(first->wait().isOk());
  EXPECT_THAT(second->wait().toString(), HasSubstr("the work was told to fail"));
  EXPECT_THAT(run(*other.executor), ElementsAre(6, 10, 14, 18));
  EXPECT_THAT(run(*one.executor), ElementsAre(6, 10, 14, 18));
  EXPECT_EQ(other.executor->initLaunches(), 2u);
  EXPECT_TRUE(simulation->races().empty());
}

/// Nobody reads what is half made, or made of weights before their last write.
TEST_F(SharedInitTest, ThreadsShareItWhileTheWeightChanges) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    auto simulation = *Simulation::create({.seed = seed, .queues = 3});
    for (const auto &device : {cpu, simulation->device()}) {
      auto w = weight(device, {0, 0, 0, 0});
      std::vector<One> all;
      for (int i = 0; i < 2; ++i)
        all.push_back(bound(device, ::withInit(identity), w));
      // Writes w, of an input.
      auto trainer = load(device, ::withInit(std::nullopt));
      ASSERT_TRUE(trainer->bindOutput(0, w).isOk());
      set(*trainer, 1, {0, 0, 0, 0});
      std::atomic<bool> isOver = false;
      auto work = [&](One &one) {
        Values last(4);
        for (int i = 0; !isOver || i < 20; ++i) {
          auto submitted = i % 3 == 0 ? one.executor->submit() : Result<Point>(Point());
          const Status ran = i % 3 == 0 ? submitted->wait() : one.executor->run();
          ASSERT_TRUE(ran.isOk()) << ran.toString();
          const Values now = read(*one.executor);
          // All four are of one write, and no older than those seen before.
          for (float value : now)
            EXPECT_EQ(value, now[0]);
          EXPECT_GE(now[0], last[0]);
          last = now;
        }
      };
      std::vector<std::thread> threads;
      for (One &one : all)
        threads.emplace_back([&] { work(one); });
      for (float step = 1; step <= 20; ++step) {
        set(*trainer, 0, Values(4, step));
        EXPECT_TRUE(trainer->run().isOk());
      }
      isOver = true;
      for (std::thread &thread : threads)
        thread.join();
      // w = 20 + 2.
      for (const One &one : all)
        EXPECT_THAT(run(*one.executor), ElementsAre(90, 90, 90, 90));
    }
    EXPECT_TRUE(simulation->races().empty()) << simulation->races()[0].toString();
  }
}

/// A plan in flight has the value from before a write, and the next one waits for it and makes the new one.
TEST_F(SharedInitTest, AWriteComesBetweenPlansInFlight) {
  for (const bool isMadeBefore : {true, false})
    for (uint64_t seed = 0; seed < 10; ++seed) {
      auto simulation = *Simulation::create({.seed = seed, .queues = 3});
      const auto device = simulation->device();
      auto w = weight(device, {1, 2, 3, 4});
      One one = bound(device, ::withSharedArena(identity), w), other = bound(device, ::withInit(identity), w);
      if (isMadeBefore)
        EXPECT_THAT(run(*other.executor), ElementsAre(6, 10, 14, 18));
      simulation->hold();
      auto first = one.executor->submit();
      const uint64_t writes = w->writes();
      std::thread writing([&] {
        const Values ones(4, 1);
        EXPECT_TRUE(w->write(std::as_bytes(std::span(ones))).isOk());
      });
      while (w->writes() == writes)
        std::this_thread::yield();
      auto second = other.executor->submit();
      simulation->release();
      writing.join();
      ASSERT_TRUE(first.isOk() && first->wait().isOk());
      ASSERT_TRUE(second.isOk() && second->wait().isOk());
      EXPECT_THAT(read(*one.executor), ElementsAre(6, 10, 14, 18));
      EXPECT_THAT(read(*other.executor), ElementsAre(6, 6, 6, 6));
      EXPECT_THAT(run(*one.executor), ElementsAre(6, 6, 6, 6));
      EXPECT_EQ(one.executor->initLaunches(), isMadeBefore ? 0u : 2u);
      EXPECT_EQ(other.executor->initLaunches(), isMadeBefore ? 4u : 2u);
      EXPECT_TRUE(simulation->races().empty()) << simulation->races()[0].toString();
    }
}

/// Who makes it for others ends behind that, and what he made is theirs.
TEST_F(SharedInitTest, AnExecutorEndsWhileOthersRelyOnItsInit) {
  auto simulation = *Simulation::create({.seed = 3, .queues = 3});
  for (const auto &device : {cpu, simulation->device()}) {
    auto w = weight(device, {0, 0, 0, 0});
    auto trainer = load(device, ::withInit(std::nullopt));
    set(*trainer, 0, {5, 5, 5, 5});
    set(*trainer, 1, {0, 0, 0, 0});
    ASSERT_TRUE(trainer->bindOutput(0, w).isOk());
    One one = bound(device, ::withInit(identity), w), other = bound(device, ::withSharedArena(identity), w);
    auto gate = std::make_shared<Timeline>();
    const Point wait[] = {{gate, 1}};
    ASSERT_TRUE(trainer->submit(wait).isOk());
    auto first = one.executor->submit(), second = other.executor->submit();
    ASSERT_TRUE(first.isOk() && second.isOk());
    std::thread ends([&] { one.executor = nullptr; });
    ASSERT_TRUE(gate->signal(1).isOk());
    ends.join();
    ASSERT_TRUE(first->wait().isOk() && second->wait().isOk());
    EXPECT_THAT(read(*other.executor), ElementsAre(30, 30, 30, 30));
    EXPECT_THAT(run(*other.executor), ElementsAre(30, 30, 30, 30));
    EXPECT_EQ(other.executor->initLaunches(), 0u);
  }
  EXPECT_TRUE(simulation->races().empty());
}

/// What is in flight keeps the weight, and with it what is made of it; both go with the last of that.
TEST_F(SharedInitTest, AWeightEndsWhilePlansAreInFlight) {
  auto w = weight(cpu, {0, 0, 0, 0});
  auto trainer = load(cpu, ::withInit(std::nullopt));
  set(*trainer, 0, {5, 5, 5, 5});
  set(*trainer, 1, {0, 0, 0, 0});
  ASSERT_TRUE(trainer->bindOutput(0, w).isOk());
  One one = bound(cpu, ::withInit(identity), w), other = bound(cpu, ::withInit(identity), w);
  auto gate = std::make_shared<Timeline>();
  const Point wait[] = {{gate, 1}};
  auto written = trainer->submit(wait);
  trainer->release();
  auto first = one.executor->submit(), second = other.executor->submit();
  ASSERT_TRUE(written.isOk() && first.isOk() && second.isOk());
  for (const One *each : {&one, &other})
    each->executor->release(/*keepWeights=*/true);
  const uint64_t before = cpu->pool()->usage().inUse;
  w = nullptr;
  EXPECT_EQ(cpu->pool()->usage().inUse, before);
  ASSERT_TRUE(gate->signal(1).isOk());
  EXPECT_TRUE(first->wait().isOk() && second->wait().isOk());
  for (const One *each : {&one, &other}) {
    Values values(4);
    ASSERT_TRUE(each->y->read(std::as_writable_bytes(std::span(values))).isOk());
    EXPECT_THAT(values, ElementsAre(30, 30, 30, 30));
    each->executor->forEachKept([](const Buffer &) { ADD_FAILURE(); });
  }
}

/// The same where a run on a calling thread makes it.
TEST_F(SharedInitTest, AFailureOfAThreadIsMadeGoodByWhoeverComesNext) {
  auto simulation = *Simulation::create({.queues = 3});
  const auto device = simulation->device();
  auto w = weight(device, {1, 2, 3, 4});
  One one = bound(device, ::withInit(identity), w), other = bound(device, ::withInit(identity), w);
  simulation->hold();
  simulation->failWork(0, 1);
  Status ran;
  std::thread running([&] { ran = one.executor->run(); });
  while (simulation->counts().submitted < 3)
    std::this_thread::yield();
  auto second = other.executor->submit();
  simulation->release();
  running.join();
  EXPECT_THAT(ran.toString(), HasSubstr("the work was told to fail"));
  ASSERT_TRUE(second.isOk());
  EXPECT_THAT(second->wait().toString(), HasSubstr("the work was told to fail"));
  EXPECT_THAT(run(*other.executor), ElementsAre(6, 10, 14, 18));
  EXPECT_THAT(run(*one.executor), ElementsAre(6, 10, 14, 18));
  EXPECT_EQ(one.executor->initLaunches() + other.executor->initLaunches(), 4u);
  EXPECT_TRUE(simulation->races().empty());
}

TEST_F(SharedInitTest, WhoGetsNoMemoryForItLeavesItToOthers) {
  auto simulation = *Simulation::create();
  const auto device = simulation->device();
  auto w = weight(device, {1, 2, 3, 4});
  One one = bound(device, ::withInit(identity), w), other = bound(device, ::withInit(identity), w);
  const uint64_t before = device->pool()->usage().inUse;
  simulation->failAllocations(0, 1);
  for (const Status &status : {one.executor->run(), one.executor->submit().status()}) {
    EXPECT_EQ(status.code(), ErrorCode::OutOfMemory);
    EXPECT_EQ(status.device(), "simulated0");
  }
  EXPECT_EQ(device->pool()->usage().inUse, before);
  simulation->failAllocations(0, 0);
  EXPECT_THAT(run(*other.executor), ElementsAre(6, 10, 14, 18));
  EXPECT_THAT(run(*one.executor), ElementsAre(6, 10, 14, 18));
  EXPECT_EQ(one.executor->initLaunches(), 0u);
}

/// Equal steps of one plan are one.
TEST_F(SharedInitTest, APlanSharesWithItself) {
  using namespace zyx::artifact;
  Artifact a = ::withInit(std::nullopt);
  a.buffers[3] = {BufferKind::Kept, 0, 16};
  a.arenaSize = 0;
  a.keptSize = 128;
  a.commands = {{Launch{1, {{1, 0}, {3, 0}}, {4, 1, 1}, {2, 1}, 8, 16}, {}},
                {Launch{1, {{1, 0}, {4, 0}}, {4, 1, 1}, {2, 1}, 8, 16}, {}},
                {Launch{0, {{3, 0}, {4, 0}, {2, 0}}, {4, 1, 1}, {}}, {}}};
  a.initSteps = {{1, 64, identity}, {1, 64, identity}};
  auto simulation = *Simulation::create({.seed = 5, .queues = 3});
  for (const auto &device : {cpu, simulation->device()}) {
    auto w = weight(device, {1, 2, 3, 4});
    One one = bound(device, a, w);
    const uint64_t before = device->pool()->usage().inUse;
    EXPECT_THAT(run(*one.executor), ElementsAre(6, 10, 14, 18));
    EXPECT_EQ(device->pool()->usage().inUse, before + 64);
    const Values ones(4, 1);
    ASSERT_TRUE(w->write(std::as_bytes(std::span(ones))).isOk());
    auto submitted = one.executor->submit();
    ASSERT_TRUE(submitted.isOk() && submitted->wait().isOk());
    EXPECT_THAT(read(*one.executor), ElementsAre(6, 6, 6, 6));
  }
  EXPECT_TRUE(simulation->races().empty());
}

/// Whoever shares a step waits for the step, and not for what its maker's run waits for.
TEST_F(SharedInitTest, AStepWaitsForNoReaderOfTheRunsOutputs) {
  const auto w = weight(cpu, {1, 2, 3, 4});
  One one = bound(cpu, ::withInit(identity), w), other = bound(cpu, ::withInit(identity), w);
  // Reads the output of the one, behind a point that comes later.
  One reader = bound(cpu, ::withInit(std::nullopt), weight(cpu, {0, 0, 0, 0}));
  const Values zeros(4);
  ASSERT_TRUE(one.y->write(std::as_bytes(std::span(zeros))).isOk());
  ASSERT_TRUE(reader.executor->bindInput(0, one.y).isOk());
  const auto gate = std::make_shared<Timeline>();
  const Point open{gate, 1};
  const auto reading = reader.executor->submit({&open, 1});
  ASSERT_TRUE(reading.isOk());
  const uint64_t writes = one.y->writes();
  std::thread running([&] { EXPECT_TRUE(one.executor->run().isOk()); });
  while (one.y->writes() == writes)
    std::this_thread::yield();
  EXPECT_THAT(run(*other.executor), ElementsAre(6, 10, 14, 18));
  EXPECT_EQ(other.executor->initLaunches(), 0u);
  ASSERT_TRUE(gate->signal(1).isOk());
  running.join();
  EXPECT_TRUE(reading->wait().isOk());
}

/// A step of one weight neither waits for another weight nor fails with it.
TEST_F(SharedInitTest, StepsOfOneRunFailByThemselves) {
  const Artifact artifact = twoSteps();
  const auto good = weight(cpu, {1, 1, 1, 1}), bad = weight(cpu, {2, 2, 2, 2});
  std::unique_ptr<Executor> one = load(cpu, artifact), other = load(cpu, artifact);
  const auto y = *Buffer::allocate(cpu->pool(), 16);
  ASSERT_TRUE(one->bindOutput(0, y).isOk());
  for (Executor *executor : {one.get(), other.get()})
    ASSERT_TRUE(executor->bindInput(0, good).isOk());
  ASSERT_TRUE(one->bindInput(1, bad).isOk());
  ASSERT_TRUE(other->bindInput(1, weight(cpu, {2, 2, 2, 2})).isOk());
  const auto writer = std::make_shared<Timeline>();
  bad->noteWrite({writer, 1});
  const uint64_t writes = y->writes();
  std::thread running([&] { EXPECT_THAT(one->run().toString(), HasSubstr("the writer failed")); });
  while (y->writes() == writes)
    std::this_thread::yield();
  EXPECT_THAT(run(*other), ElementsAre(8, 8, 8, 8));
  EXPECT_EQ(other->initLaunches(), 1u);
  writer->fail(Status::internal("the writer failed"));
  running.join();
}

/// There it is neither used nor waited for, and the parent still has it.
TEST_F(SharedInitTest, AForkedProcessLetsItGo) {
  auto w = weight(cpu, {1, 2, 3, 4});
  One one = bound(cpu, ::withInit(identity), w), other = bound(cpu, ::withInit(identity), w);
  EXPECT_THAT(run(*one.executor), ElementsAre(6, 10, 14, 18));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    const bool isRefused = other.executor->run().code() == ErrorCode::Unsupported;
    other.executor->release(/*keepWeights=*/true);
    one.executor->release(/*keepWeights=*/true);
    w = nullptr;
    one.executor = nullptr;
    other.executor = nullptr;
    ::_exit(isRefused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_THAT(run(*other.executor), ElementsAre(6, 10, 14, 18));
  EXPECT_EQ(other.executor->initLaunches(), 0u);
}

} // namespace
