//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Simulation.h"
#include "TestArtifact.h"
#include "TestKernels.h"
#include "zyx/Runtime/Executor.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::unique_ptr<Simulation> simulate(const SimulationOptions &options = {}) {
  auto simulation = Simulation::create(options);
  EXPECT_TRUE(simulation.isOk());
  return std::move(*simulation);
}

/// The sample in an order that has every wait, and halves that do not share a buffer.
Artifact chain() {
  Artifact a = sampleArtifact(testKernels());
  using namespace zyx::artifact;
  a.commands = {{Launch{1, {{0, 0}, {4, 0}}, {1, 4, 1}, {2, 1}}, {}},
                {Copy{{0, 0}, {2, 0}, 16}, {}},
                {Fill{{3, 0}, 8, 7, 4}, {}},
                {Launch{0, {{4, 0}, {5, 0}, {1, 0}}, {4, 1, 1}, {}}, {0}}};
  return a;
}

std::unique_ptr<Executor> load(Simulation &simulation, Artifact artifact) {
  auto executor = Executor::create(simulation.device(), std::move(artifact));
  EXPECT_TRUE(executor.isOk()) << executor.status().toString();
  const float x[] = {1, 2, 3, 4};
  EXPECT_TRUE((*executor)->setInput(0, std::as_bytes(std::span(x))).isOk());
  return std::move(*executor);
}

std::vector<std::string> texts(const std::vector<Race> &races) {
  std::vector<std::string> all;
  for (const Race &race : races)
    all.push_back(race.toString());
  return all;
}

Work work(
    const std::string &name, std::vector<Access> accesses, std::vector<Point> wait, Point signal,
    std::function<Status()> body = [] { return Status::ok(); }) {
  return {std::move(body), std::move(wait), {}, std::move(signal), name, std::move(accesses)};
}
Point newPoint() { return {std::make_shared<Timeline>(), 1}; }

TEST(SimulationTest, RunsPrograms) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto simulation = simulate({.seed = seed, .queues = 3});
    auto executor = load(*simulation, chain());
    ASSERT_TRUE(executor->run().isOk());
    float y[4];
    ASSERT_TRUE(executor->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
    EXPECT_THAT(y, ElementsAre(13, 25, 37, 49));
    auto times = executor->profile();
    ASSERT_TRUE(times.isOk());
    for (const CommandTime &time : *times) {
      EXPECT_GE(time.nanoseconds, 1u);
      EXPECT_LE(time.nanoseconds, 1000u);
    }
    ASSERT_TRUE(executor->submit().isOk());
    ASSERT_TRUE(executor->submit()->wait().isOk());
    EXPECT_TRUE(simulation->races().empty());
    executor.reset();
    EXPECT_EQ(simulation->device()->pool()->usage().inUse, 0u);
    const SimulationCounts counts = simulation->counts();
    // Four runs of four commands and an end.
    EXPECT_EQ(counts.submitted, 20u);
    EXPECT_EQ(counts.succeeded, 20u);
  }
}

TEST(SimulationTest, ReportsAMissingWaitOfAPlan) {
  auto simulation = simulate();
  Artifact artifact = chain();
  artifact.commands[3].wait = {1};
  auto executor = load(*simulation, artifact);
  ASSERT_TRUE(executor->run().isOk());
  ASSERT_EQ(simulation->races().size(), 1u);
  const Race race = simulation->races()[0];
  std::vector<std::string> names = {race.first, race.second};
  std::sort(names.begin(), names.end());
  EXPECT_THAT(names, ElementsAre("affine, command 0 of main", "sum, command 3 of main"));
  EXPECT_EQ(race.end - race.begin, 16u);
}

/// The chain with its launches as the body of a loop, `trips` passes, and what is around it.
Artifact looped(int64_t trips) {
  Artifact artifact = chain();
  artifact.buffers.push_back({artifact::BufferKind::Arena, 0, 8});
  artifact.commands = {{artifact::Loop{2, trips, {}, artifact::BufferRef{6, 0}}, {}},
                       artifact.commands[0],
                       artifact.commands[3],
                       artifact.commands[1],
                       artifact.commands[2]};
  artifact.commands[2].wait = {1};
  return artifact;
}

TEST(SimulationTest, RunsLoops) {
  // The last one is too long to be one piece of work for each pass.
  for (int64_t trips : {0, 1, 3, 5000}) {
    auto simulation = simulate({.queues = 4});
    auto executor = load(*simulation, looped(trips));
    ASSERT_TRUE(executor->run().isOk());
    auto times = executor->profile();
    ASSERT_TRUE(times.isOk());
    EXPECT_EQ((*times)[1].nanoseconds > 0, trips == 1 || trips == 3);
    // Runs of a loop, three commands outside of it and an end.
    EXPECT_EQ(simulation->counts().succeeded, trips == 5000 ? 8u : 2u * (4 + 3 * trips));
    if (trips > 0) {
      float y[4];
      ASSERT_TRUE(executor->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
      EXPECT_THAT(y, ElementsAre(13, 25, 37, 49));
    }
    EXPECT_EQ(texts(simulation->races()), std::vector<std::string>());
  }
}

TEST(SimulationTest, ReportsMissingWaitsInsideAndBehindLoops) {
  Artifact artifact = looped(2);
  artifact.commands[2].wait.clear();
  auto simulation = simulate();
  auto executor = load(*simulation, artifact);
  ASSERT_TRUE(executor->run().isOk());
  // One in each pass, and none between the passes.
  ASSERT_EQ(simulation->races().size(), 2u);
  for (const std::string &race : texts(simulation->races())) {
    EXPECT_THAT(race, HasSubstr("'affine, command 1 of main' writes"));
    EXPECT_THAT(race, HasSubstr("'sum, command 2 of main' reads"));
  }

  for (int64_t trips : {1, 5000}) {
    artifact = looped(trips);
    // A copy of what the loop makes must wait for it.
    artifact.commands[3].action = artifact::Copy{{4, 0}, {2, 0}, 16};
    simulation = simulate();
    executor = load(*simulation, artifact);
    ASSERT_TRUE(executor->run().isOk());
    ASSERT_EQ(simulation->races().size(), 1u);
    const std::string race = simulation->races()[0].toString();
    EXPECT_THAT(race, HasSubstr("'copy, command 3 of main' reads"));
    EXPECT_THAT(race,
                HasSubstr(trips == 1 ? "'affine, command 1 of main' writes" : "'loop, command 0 of main' writes"));
    artifact.commands[3].wait = {0};
    simulation = simulate();
    executor = load(*simulation, artifact);
    ASSERT_TRUE(executor->run().isOk());
    EXPECT_TRUE(simulation->races().empty());
  }
}

/// The order in which eight pieces of work end that wait for nothing.
std::vector<int> order(uint64_t seed, uint64_t *time) {
  auto simulation = simulate({.seed = seed, .lanes = 3});
  simulation->hold();
  std::vector<int> ends;
  std::vector<Point> points;
  for (int i = 0; i < 8; ++i) {
    points.push_back(newPoint());
    simulation->queue(0, i % 2).submit(work("w", {}, {}, points.back(), [&ends, i] {
      ends.push_back(i);
      return Status::ok();
    }));
  }
  simulation->waitIdle();
  EXPECT_TRUE(ends.empty());
  simulation->release();
  for (const Point &point : points)
    EXPECT_TRUE(point.wait().isOk());
  *time = simulation->now();
  return ends;
}

TEST(SimulationTest, IsAFunctionOfTheSeed) {
  std::set<std::vector<int>> orders;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    uint64_t time = 0, again = 0;
    const std::vector<int> first = order(seed, &time);
    EXPECT_EQ(first, order(seed, &again));
    EXPECT_EQ(time, again);
    orders.insert(first);
  }
  EXPECT_GT(orders.size(), 5u);
}

TEST(SimulationTest, ReportsRacesOfWorkAndOfTheHost) {
  auto simulation = simulate();
  auto pool = simulation->device()->pool();
  auto buffer = *Buffer::allocate(pool, 16);
  const uint64_t at = buffer->handle();
  simulation->hold();
  const Point a = newPoint(), b = newPoint(), c = newPoint(), d = newPoint();
  Queue &queue = simulation->device()->queue();
  queue.submit(work("a", {{at, at + 8, true}}, {}, a));
  queue.submit(work("b", {{at, at + 8, false}}, {a}, b));
  queue.submit(work("c", {{at + 8, at + 16, true}}, {}, c));
  queue.submit(work("d", {{at, at + 16, false}}, {b, c}, d));
  simulation->release();
  simulation->waitIdle();
  EXPECT_TRUE(simulation->races().empty());

  // Once all is over, the next need not wait; two at once must.
  simulation->hold();
  const Point e = newPoint(), f = newPoint();
  queue.submit(work("e", {{at, at + 4, true}}, {}, e));
  queue.submit(work("f", {{at + 2, at + 8, true}}, {}, f));
  simulation->release();
  simulation->waitIdle();
  const std::string both = " the same 2 bytes, and neither waits for the other";
  EXPECT_THAT(texts(simulation->races()),
              ElementsAre(testing::AnyOf("'e' writes and 'f' writes" + both, "'f' writes and 'e' writes" + both)));

  // What the host does without waiting races; what it does before it submits does not.
  simulation->hold();
  const std::vector<std::byte> bytes(16);
  ASSERT_TRUE(buffer->write(bytes).isOk());
  const Point g = newPoint();
  queue.submit(work("g", {{at, at + 16, false}}, {}, g));
  std::vector<std::byte> read(16);
  ASSERT_TRUE(buffer->read(read).isOk());
  buffer.reset();
  simulation->release();
  simulation->waitIdle();
  EXPECT_THAT(texts(simulation->races()),
              ElementsAre(testing::_, "'the end of the memory' writes and 'g' reads the same 16 bytes, "
                                      "and neither waits for the other"));
}

TEST(SimulationTest, OrdersByPointsOfTheHost) {
  auto simulation = simulate();
  auto buffer = *Buffer::allocate(simulation->device()->pool(), 8);
  const Access whole{buffer->handle(), buffer->handle() + 8, true};
  Queue &queue = simulation->device()->queue();
  const Point gate = newPoint(), first = newPoint(), second = newPoint();
  queue.submit(work("second", {whole}, {gate}, second));
  queue.submit(work("first", {whole}, {}, first));
  ASSERT_TRUE(first.wait().isOk());
  simulation->waitIdle();
  EXPECT_FALSE(second.isDecided());
  ASSERT_TRUE(gate.timeline->signal(1).isOk());
  EXPECT_TRUE(second.wait().isOk());
  EXPECT_TRUE(simulation->races().empty());
}

TEST(SimulationTest, FailsWorkAndWhatDependsOnIt) {
  auto simulation = simulate();
  auto executor = load(*simulation, chain());
  simulation->failWork(0, 4);
  Status status = executor->run();
  EXPECT_EQ(status.code(), ErrorCode::Aborted);
  EXPECT_THAT(status.toString(), HasSubstr("the work was told to fail"));
  EXPECT_TRUE(executor->run().isOk());
  EXPECT_EQ(simulation->device()->pool()->usage().inUse, 80u + 128 + 16 + 40);
}

TEST(SimulationTest, LosesADeviceForEver) {
  auto simulation = simulate({.devices = 2});
  auto executor = load(*simulation, chain());
  auto buffer = *Buffer::allocate(simulation->device(0)->pool(), 8);
  simulation->loseDevice(0, 2);
  Status status = executor->submit()->wait();
  while (!status.cause().isOk())
    status = status.cause();
  EXPECT_EQ(status.code(), ErrorCode::DeviceLost);
  EXPECT_EQ(status.message(), "the device was lost");
  EXPECT_EQ(status.device(), "simulated0");
  EXPECT_THAT(status.where(), HasSubstr(" of main"));
  // The first cause is named by whatever comes later.
  EXPECT_EQ(executor->run().code(), ErrorCode::Aborted);
  std::byte bytes[16];
  EXPECT_EQ(executor->readOutput(0, bytes).code(), ErrorCode::Aborted);
  EXPECT_EQ(buffer->read(std::span(bytes).first(8)).where(), status.where());
  EXPECT_EQ(buffer->write(std::span(bytes).first(8)).code(), ErrorCode::DeviceLost);
  EXPECT_EQ((*Buffer::allocate(createHostPool(), 8))->copyFrom(*buffer).code(), ErrorCode::DeviceLost);
  auto pool = simulation->device(0)->pool();
  EXPECT_EQ(pool->address({buffer->handle(), 8}, 0, 8).status().code(), ErrorCode::DeviceLost);
  EXPECT_EQ(Buffer::allocate(pool, 8).status().code(), ErrorCode::DeviceLost);
  EXPECT_EQ(Executor::create(simulation->device(0), chain()).status().code(), ErrorCode::DeviceLost);
  executor.reset();
  buffer.reset();
  EXPECT_EQ(pool->usage().inUse, 0u);

  // The other one is as before.
  auto other = Executor::create(simulation->device(1), chain());
  ASSERT_TRUE(other.isOk());
  ASSERT_TRUE((*other)->setInput(0, bytes).isOk());
  EXPECT_TRUE((*other)->run().isOk());
}

TEST(SimulationTest, FailsEveryAllocationOfAProgram) {
  auto simulation = simulate();
  auto pool = simulation->device()->pool();
  auto scenario = [&]() -> Status {
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, Executor::create(simulation->device(), chain()));
    const float x[] = {1, 2, 3, 4};
    ZYX_RETURN_IF_ERROR(executor->setInput(0, std::as_bytes(std::span(x))));
    const uint64_t before = pool->usage().inUse;
    if (Status status = executor->run(); !status.isOk()) {
      // Nothing has changed, and the same program runs when there is memory.
      EXPECT_EQ(pool->usage().inUse, before);
      simulation->failAllocations(0, 0);
      EXPECT_TRUE(executor->run().isOk());
      return status;
    }
    float y[4];
    ZYX_RETURN_IF_ERROR(executor->readOutput(0, std::as_writable_bytes(std::span(y))));
    EXPECT_THAT(y, ElementsAre(13, 25, 37, 49));
    return Status::ok();
  };
  // Constants, arena, the input, three outputs.
  for (uint64_t failing = 1; failing <= 7; ++failing) {
    simulation->failAllocations(0, failing);
    const Status status = scenario();
    EXPECT_EQ(status.isOk(), failing == 7);
    if (!status.isOk()) {
      EXPECT_EQ(status.code(), ErrorCode::OutOfMemory);
      EXPECT_EQ(status.message(), "allocation " + std::to_string(failing) + " was told to fail");
      EXPECT_EQ(status.device(), "simulated0");
    }
    EXPECT_EQ(pool->usage().inUse, 0u);
    simulation->failAllocations(0, 0);
    EXPECT_TRUE(scenario().isOk());
  }
}

TEST(SimulationTest, TakesWorkFromManyThreads) {
  auto simulation = simulate({.devices = 2, .queues = 2});
  auto shared = *Buffer::allocate(simulation->device()->pool(), 8);
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      auto created = Executor::create(simulation->device(i % 2), chain());
      const float x[] = {1, 2, 3, 4};
      Status status = created.status();
      for (int run = 0; run < 20 && status.isOk(); ++run) {
        status = (*created)->setInput(0, std::as_bytes(std::span(x)));
        std::vector<Point> wait;
        shared->beforeRead(wait);
        const Point point = newPoint();
        simulation->queue(i % 2, run % 2)
            .submit(work("r", {{shared->handle(), shared->handle() + 8, false}}, wait, point));
        shared->noteRead(point);
        if (status.isOk())
          status = (*created)->submit({&point, 1}).status();
      }
      float y[4];
      if (status.isOk())
        status = (*created)->readOutput(0, std::as_writable_bytes(std::span(y)));
      done += status.isOk();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(done, 4);
  EXPECT_TRUE(simulation->races().empty());
}

TEST(SimulationTest, CancelsWhatCannotStart) {
  const Point gate = newPoint(), stuck = newPoint(), next = newPoint(), done = newPoint();
  {
    auto simulation = simulate();
    Queue &queue = simulation->device()->queue();
    queue.submit(work("stuck", {}, {gate}, stuck));
    queue.submit(work("next", {}, {stuck}, next));
    queue.submit(work("done", {}, {Point()}, done));
  }
  EXPECT_EQ(stuck.wait().code(), ErrorCode::Cancelled);
  EXPECT_EQ(next.wait().cause().code(), ErrorCode::Cancelled);
  EXPECT_TRUE(done.wait().isOk());
  EXPECT_TRUE(gate.timeline->signal(1).isOk());
}

TEST(SimulationTest, RefusesWhatCouldNotRun) {
  EXPECT_EQ(Simulation::create({.queues = 0}).status().message(),
            "a simulation needs a device, a queue, a lane and a latency");
  Artifact artifact = chain();
  artifact.target = "cuda";
  EXPECT_EQ(simulate()->device()->load(artifact).status().device(), "simulated0");
}

} // namespace
