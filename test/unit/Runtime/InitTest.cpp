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

#include <thread>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;
using artifact::BufferKind;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Values = std::vector<float>;

/// y = x + kept, where the init computes t = w * 2 + 1 and kept = t + t.
Artifact withInit() {
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
  return a;
}

/// The same where a run overwrites what the init had in the arena.
Artifact withSharedArena() {
  using namespace zyx::artifact;
  Artifact a = withInit();
  a.commands.push_back({Fill{{3, 0}, 16, 0, 4}, {}});
  return a;
}

class InitTest : public testing::Test {
protected:
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

TEST_F(InitTest, RunsOnceUntilAWeightIsSet) {
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

TEST_F(InitTest, TakesNoTimeInLaterRuns) {
  auto executor = load();
  set(*executor, 0, {0, 0, 0, 0});
  set(*executor, 1, {1, 2, 3, 4});
  auto first = executor->profile(), second = executor->profile();
  ASSERT_TRUE(first.isOk() && second.isOk());
  ASSERT_EQ(second->size(), 3u);
  auto timeOfInit = [](const std::vector<CommandTime> &times) {
    return times[0].nanoseconds + times[1].nanoseconds;
  };
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

TEST_F(InitTest, RunsAgainWhereAnotherProgramWritesTheWeight) {
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

TEST_F(InitTest, KeepsForEachExecutor) {
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

TEST_F(InitTest, RunsOnceForSubmittedRuns) {
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

TEST_F(InitTest, RunsAgainAfterAFailure) {
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

TEST_F(InitTest, ARunThatFailsLeavesItsInitToOthers) {
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
TEST_F(InitTest, NobodyWritesWeightsDuringARun) {
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
TEST_F(InitTest, ThreadsTakeTurns) {
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

TEST_F(InitTest, CountsWhatIsKept) {
  auto device = *createDummyDevice();
  auto executor = load(device, withInit());
  EXPECT_EQ(device->pool()->usage().inUse, 16u + 80u);
  executor.reset();
  EXPECT_EQ(device->pool()->usage().inUse, 0u);
  EXPECT_THAT(Executor::create(*createDummyDevice(95), withInit()).status().message(),
              HasSubstr("holds 16 of 95 bytes and cannot give 80 more"));
}

} // namespace
