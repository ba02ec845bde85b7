//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// How commands of CUDA graphs are ordered: docs/device-cuda.md. The driver does those first that it may do last.
//===----------------------------------------------------------------------===//
#include "CudaTest.h"

#include <utility>

using namespace zyx;
using namespace zyx::artifact;
using namespace zyx::runtime;
using test::bytes;
using test::count;
using testing::HasSubstr;

namespace {

/// Where all of it begins, and ends.
constexpr uint32_t in = 0, out = 1, more = 2;

class CudaGraphTest : public test::CudaTest {
protected:
  void TearDown() override {
    unsetenv("ZYX_CUDA_GRAPHS");
    CudaTest::TearDown();
  }

  /// x, and a second input for what else there is; y and z; then buffers of the arena at these places.
  static Artifact programOf(std::vector<Command> commands, std::vector<uint64_t> places, bool waits = true) {
    Artifact a = test::sampleForCuda();
    a.inputs = {{"x", {DType::I32, {count}}}, {"b", {DType::I32, {count}}}};
    a.outputs = {{"y", {DType::I32, {count}}}, {"z", {DType::I32, {count}}}};
    a.buffers = {{BufferKind::Input, 0, bytes},
                 {BufferKind::Output, 0, bytes},
                 {BufferKind::Output, 1, bytes},
                 {BufferKind::Input, 1, bytes}};
    for (const uint64_t place : places)
      a.buffers.push_back({BufferKind::Arena, place, bytes});
    a.arenaSize = 65536;
    a.constants.clear();
    a.kernels[0].waits = waits;
    a.commands = std::move(commands);
    return a;
  }
  static Command increment(uint32_t from, uint32_t to) {
    return {Launch{0, {{from, 0}, {to, 0}}, {count, 1, 1}, {}}, {}};
  }
  static Command copy(uint32_t from, uint32_t to) { return {Copy{{from, 0}, {to, 0}, bytes}, {}}; }

  /// Runs a program some times; y and z are x plus these.
  void expect(const Artifact &artifact, const char *graphs, int y, int z, int runs = 4) {
    setenv("ZYX_CUDA_GRAPHS", graphs, 1);
    fake->edges = fake->earlyEdges = fake->graphLaunches = 0;
    std::shared_ptr<Device> device = *createDevice("cuda");
    auto executor = Executor::create(device, artifact);
    ASSERT_TRUE(executor.isOk()) << executor.status().toString();
    for (int run = 0; run < runs; ++run)
      expectRun(**executor, 10 * run, y, z);
    EXPECT_GT(fake->graphLaunches, 0) << graphs;
    executor = std::unique_ptr<Executor>();
    device.reset();
    expectNothingLeft();
  }
  static void expectRun(Executor &executor, int first, int y, int z) {
    std::vector<int32_t> x(count);
    for (uint64_t i = 0; i < count; ++i)
      x[i] = first + static_cast<int32_t>(i);
    for (size_t input : {0, 1})
      ASSERT_TRUE(executor.setInput(input, std::as_bytes(std::span(x))).isOk());
    const Status status = executor.run();
    ASSERT_TRUE(status.isOk()) << status.toString();
    for (size_t output : {0, 1}) {
      std::vector<int32_t> made(count);
      ASSERT_TRUE(executor.readOutput(output, std::as_writable_bytes(std::span(made))).isOk());
      EXPECT_EQ(made[7], x[7] + (output == 0 ? y : z)) << "output " << output;
    }
  }
};

/// x, then two ways from what is made of it, which come together: a copy reads one, and writes what the other wrote.
const std::vector<Command> diamond(auto &&increment, auto &&copy) {
  return {increment(in, 4), increment(4, 5), increment(4, 6), increment(6, more), copy(5, 6), increment(6, out)};
}

TEST_F(CudaGraphTest, OrdersADiamond) {
  const Artifact artifact = programOf(diamond(increment, copy), {0, 4096, 8192});
  expect(artifact, "chain", 3, 3);
  EXPECT_EQ(fake->edges, 5);
  EXPECT_EQ(fake->earlyEdges, 0);
  // All but the copy, and what is behind it.
  expect(artifact, "early", 3, 3);
  EXPECT_EQ(fake->edges, 5);
  EXPECT_EQ(fake->earlyEdges, 3);
  // The copy is behind who writes what it reads, and who reads what it writes.
  expect(artifact, "branches", 3, 3);
  EXPECT_EQ(fake->edges, 6);
  EXPECT_EQ(fake->earlyEdges, 0);
  expect(artifact, "early,branches", 3, 3);
  EXPECT_EQ(fake->edges, 6);
  EXPECT_EQ(fake->earlyEdges, 3);
}

// Two chains of values of which the second one lies where the first one was.
TEST_F(CudaGraphTest, WritesMemoryAgainBehindItsReaders) {
  const Artifact artifact = programOf(
      {increment(in, 4), increment(4, out), increment(3, 5), increment(5, 6), increment(6, more)}, {0, 2048, 16384});
  for (const char *graphs : {"branches", "early,branches"}) {
    expect(artifact, graphs, 2, 3);
    EXPECT_EQ(fake->edges, 4);
  }
  // Apart they have nothing to do with each other.
  const Artifact apart = programOf(
      {increment(in, 4), increment(4, out), increment(3, 5), increment(5, 6), increment(6, more)}, {0, 4096, 16384});
  expect(apart, "branches", 2, 3);
  EXPECT_EQ(fake->edges, 3);
}

// The driver has four multiprocessors.
TEST_F(CudaGraphTest, ChoosesKernelsThatHaveRoom) {
  Artifact artifact = programOf({increment(in, 4), increment(4, 5), increment(5, out), increment(4, more)}, {0, 4096});
  expect(artifact, "chosen", 3, 2);
  EXPECT_EQ(fake->edges, 3);
  EXPECT_EQ(fake->earlyEdges, 3);
  // Of 20 workgroups each would have five, and the first that is free 16, if the second kernel were in front, of which
  // none has two.
  artifact.kernels.push_back(artifact.kernels[0]);
  artifact.kernels[0].groupThreads = 64;
  artifact.kernels[1].groupThreads = 512;
  artifact.kernels[1].sharedBytes = 200 << 10;
  for (Command &command : artifact.commands)
    std::get<Launch>(command.action).grid = {20, 1, 1};
  std::get<Launch>(artifact.commands[1].action).kernel = 1;
  expect(artifact, "chosen", 3, 2);
  EXPECT_EQ(fake->edges, 3);
  // The second kernel, and the last one.
  EXPECT_EQ(fake->earlyEdges, 2);
  expect(artifact, "early", 3, 2);
  EXPECT_EQ(fake->earlyEdges, 3);
  expect(artifact, "chosen,branches", 3, 2);
  EXPECT_EQ(fake->edges, 3);
  EXPECT_EQ(fake->earlyEdges, 2);
  // One that does not wait.
  artifact.kernels[1].waits = false;
  expect(artifact, "chosen", 3, 2);
  EXPECT_EQ(fake->earlyEdges, 1);
  // Nothing is known of where clusters lie.
  artifact.kernels[0].clusterGroups = 2;
  expect(artifact, "chosen", 3, 2);
  EXPECT_EQ(fake->earlyEdges, 0);
}

// Where the driver does not say what a kernel takes, there is no graph.
TEST_F(CudaGraphTest, GoesOnWithoutWhatCannotBeAsked) {
  const Artifact artifact = programOf({increment(in, 4), increment(4, out), increment(4, more)}, {0});
  for (const int question : {1, 2}) {
    fake->failQuestion = question;
    expect(artifact, "chosen", 2, 2);
    // The second run had none, the third and the fourth had one.
    EXPECT_EQ(fake->failQuestion, 0);
    EXPECT_EQ(fake->graphLaunches, 2);
    EXPECT_EQ(fake->earlyEdges, 2);
  }
}

TEST_F(CudaGraphTest, KernelsThatDoNotWaitBeginLate) {
  const Artifact artifact = programOf(diamond(increment, copy), {0, 4096, 8192}, /*waits=*/false);
  for (const char *graphs : {"early", "early,branches"}) {
    expect(artifact, graphs, 3, 3);
    EXPECT_EQ(fake->earlyEdges, 0);
  }
  // Nor does any on a card that has no such instruction.
  fake->capability = 80;
  expect(programOf(diamond(increment, copy), {0, 4096, 8192}), "early", 3, 3);
  EXPECT_EQ(fake->earlyEdges, 0);
}

TEST_F(CudaGraphTest, AnOlderDriverHasNoEarlyEdges) {
  fake->version = 12020;
  const Artifact artifact = programOf(diamond(increment, copy), {0, 4096, 8192});
  expect(artifact, "early", 3, 3);
  // The first graph was refused; the second one was made without.
  EXPECT_EQ(fake->earlyEdges, 0);
  EXPECT_EQ(fake->graphLaunches, 2);
}

// Whatever the driver refuses of such a graph, the next one is made without.
TEST_F(CudaGraphTest, RefusedChangesEndEarlyEdges) {
  const Artifact artifact = programOf(diamond(increment, copy), {0, 4096, 8192});
  for (const bool isLaunch : {false, true}) {
    reset();
    setenv("ZYX_CUDA_GRAPHS", "early", 1);
    std::shared_ptr<Device> device = *createDevice("cuda");
    std::unique_ptr<Executor> executor = *Executor::create(device, artifact);
    for (int run = 0; run < 6; ++run) {
      if (run == 3) {
        EXPECT_EQ(fake->earlyEdges, 3);
        ASSERT_TRUE(executor->bindOutput(1, *runtime::Buffer::allocate(device->pool(), bytes)).isOk());
        (isLaunch ? fake->failLaunch : fake->failGraph) = 1;
      }
      expectRun(*executor, 10 * run, 3, 3);
    }
    EXPECT_EQ(fake->edges, 2 * 5);
    EXPECT_EQ(fake->earlyEdges, 3);
    // One of the runs, or two, had none.
    EXPECT_EQ(fake->graphLaunches, isLaunch ? 4 : 5);
    executor.reset();
    device.reset();
    expectNothingLeft();
  }
}

TEST_F(CudaGraphTest, RefusesWhatIsNoWay) {
  setenv("ZYX_CUDA_GRAPHS", "late", 1);
  const auto device = createDevice("cuda");
  ASSERT_FALSE(device.isOk());
  EXPECT_THAT(
      device.status().message(),
      HasSubstr(
          "ZYX_CUDA_GRAPHS is 'late'; it may be chain, chosen, early, branches, chosen,branches or early,branches"));
  for (const char *way : {"chosen,", "chain,branches", "early,chosen", "branches,early", "chosen,branches,branches"}) {
    setenv("ZYX_CUDA_GRAPHS", way, 1);
    EXPECT_FALSE(createDevice("cuda").isOk()) << way;
  }
  expectNothingLeft();
}

// z reads b, and y is made in its memory where that is given up: two commands that have nothing to do with each other
// otherwise.
TEST_F(CudaGraphTest, KeepsAnOrderWhereMemoryIsGivenUp) {
  const Artifact artifact = programOf({increment(3, more), increment(in, out)}, {});
  for (const char *graphs : {"chain", "branches", "early,branches"}) {
    setenv("ZYX_CUDA_GRAPHS", graphs, 1);
    std::shared_ptr<Device> device = *createDevice("cuda");
    auto executor = Executor::create(device, artifact, {{1, 0}});
    ASSERT_TRUE(executor.isOk()) << executor.status().toString();
    auto given = *runtime::Buffer::allocate(device->pool(), bytes),
         own = *runtime::Buffer::allocate(device->pool(), bytes),
         other = *runtime::Buffer::allocate(device->pool(), bytes);
    std::vector<int32_t> x(count, 5), b(count, 70);
    ASSERT_TRUE((*executor)->setInput(0, std::as_bytes(std::span(x))).isOk());
    for (int run = 0; run < 12; ++run) {
      // Three runs in the memory of its own, three in that of b, and so on.
      const bool isGiven = run / 3 % 2 == 1;
      ASSERT_TRUE(given->write(std::as_bytes(std::span(b))).isOk());
      ASSERT_TRUE((*executor)->bindInput(1, given).isOk());
      ASSERT_TRUE((*executor)->bindOutput(0, isGiven ? given : run < 6 ? own : other).isOk());
      const Status status = (*executor)->run();
      ASSERT_TRUE(status.isOk()) << run << ": " << status.toString();
      std::vector<int32_t> y(count), z(count);
      ASSERT_TRUE((*executor)->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
      ASSERT_TRUE((*executor)->readOutput(1, std::as_writable_bytes(std::span(z))).isOk());
      EXPECT_EQ(y[3], 6) << graphs << " " << run;
      EXPECT_EQ(z[3], 71) << graphs << " " << run;
    }
    executor = std::unique_ptr<Executor>();
    given = own = other = nullptr;
    device.reset();
    expectNothingLeft();
  }
}

// The numbers of trips, what a body makes, and what the next trip makes of it, in one place each.
TEST_F(CudaGraphTest, OrdersLoops) {
  Artifact artifact = test::sampleForCuda();
  auto &loop = std::get<Loop>(artifact.commands[3].action);
  loop.count.reset();
  loop.trips = 3;
  for (uint64_t seed = 0; seed < 8; ++seed)
    for (const char *graphs : {"branches", "early,branches"}) {
      setenv("ZYX_CUDA_GRAPHS", graphs, 1);
      fake->graphSeed = seed;
      std::shared_ptr<Device> device = *createDevice("cuda");
      std::unique_ptr<Executor> executor = *Executor::create(device, artifact);
      for (int run = 0; run < 3; ++run) {
        const Status status = test::runSample(*executor);
        EXPECT_TRUE(status.isOk()) << status.toString();
      }
      // A command is profiled alone.
      fake->graphLaunches = 0;
      EXPECT_TRUE(executor->profile().isOk());
      EXPECT_EQ(fake->graphLaunches, 0);
      executor.reset();
      device.reset();
      expectNothingLeft();
    }
}

/// y is a history of 16 numbers, the latest first: of each trip of an inner loop with two bodies its number, and that
/// of the loop around it, both from 1 on. z is what the last number is behind the loops.
Artifact numbersOfTrips() {
  Artifact a = test::sampleForCuda();
  a.inputs = {};
  a.outputs = {{"y", {DType::I32, {16}}}, {"z", {DType::I32, {}}}};
  a.buffers = {{BufferKind::Output, 0, 64},
               {BufferKind::Output, 1, 4},
               {BufferKind::Arena, 0, 8},
               {BufferKind::Arena, 64, 8},
               {BufferKind::Arena, 128, 64}};
  a.arenaSize = 192;
  a.constants.clear();
  a.kernels[0].waits = true;
  a.commands = {{Fill{{0, 0}, 64, 0, 4}, {}}};
  const auto push = [&](uint32_t number) {
    a.commands.push_back({Copy{{0, 0}, {4, 0}, 60}, {}});
    a.commands.push_back({Copy{{4, 0}, {0, 4}, 60}, {}});
    a.commands.push_back({Launch{0, {{number, 0}, {0, 0}}, {1, 1, 1}, {}}, {}});
  };
  a.commands.push_back({Loop{13, 2, {}, BufferRef{2, 0}, {}}, {}});
  a.commands.push_back({Loop{12, 3, {}, BufferRef{3, 0}, {6, 6}}, {}});
  for (uint32_t number : {3, 2, 3, 2})
    push(number);
  a.commands.push_back({Launch{0, {{3, 0}, {1, 0}}, {1, 1, 1}, {}}, {}});
  return a;
}

TEST_F(CudaGraphTest, FindsNumbersOfTripsInATable) {
  for (const char *graphs : {"chain", "chosen", "early", "branches", "chosen,branches", "early,branches"}) {
    setenv("ZYX_CUDA_GRAPHS", graphs, 1);
    fake->edges = 0;
    std::shared_ptr<Device> device = *createDevice("cuda");
    auto executor = Executor::create(device, numbersOfTrips());
    ASSERT_TRUE(executor.isOk()) << executor.status().toString();
    for (int run = 0; run < 5; ++run) {
      if (run == 3) {
        // All launches of the loops write there.
        auto other = *runtime::Buffer::allocate(device->pool(), 64);
        ASSERT_TRUE((*executor)->bindOutput(0, other).isOk());
      }
      const Status status = (*executor)->run();
      ASSERT_TRUE(status.isOk()) << status.toString();
      std::vector<int32_t> y(16), z(1);
      ASSERT_TRUE((*executor)->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
      ASSERT_TRUE((*executor)->readOutput(1, std::as_writable_bytes(std::span(z))).isOk());
      EXPECT_THAT(y, testing::ElementsAre(2, 3, 2, 2, 2, 1, 1, 3, 1, 2, 1, 1, 0, 0, 0, 0)) << graphs << " " << run;
      EXPECT_EQ(z[0], 3) << graphs << " " << run;
    }
    // A fill, 36 commands of the bodies, the last number behind each loop, and a launch.
    if (graphs == std::string("chain"))
      EXPECT_EQ(fake->edges, 1 + 36 + 3 + 1 - 1);
    executor = std::unique_ptr<Executor>();
    device.reset();
    expectNothingLeft();
  }
}

// Numbers that something else looks at, too, are copied for each trip.
TEST_F(CudaGraphTest, CopiesNumbersOfTripsThatOthersRead) {
  setenv("ZYX_CUDA_GRAPHS", "chain", 1);
  const auto edgesOf = [&](const Artifact &artifact) {
    fake->edges = 0;
    std::shared_ptr<Device> device = *createDevice("cuda");
    std::unique_ptr<Executor> executor = *Executor::create(device, artifact);
    for (int run = 0; run < 2; ++run)
      EXPECT_TRUE(executor->run().isOk());
    return fake->edges;
  };
  const int given = edgesOf(numbersOfTrips());
  // A copy of it in the inner loop: six trips, of which two had a copy behind them.
  Artifact copied = numbersOfTrips();
  copied.commands[3].action = Copy{{3, 0}, {4, 0}, 8};
  EXPECT_EQ(edgesOf(copied), given + 6 - 2);
  // Memory that has something else behind it.
  Artifact longer = numbersOfTrips();
  longer.buffers[3].size = 16;
  EXPECT_EQ(edgesOf(longer), given + 6 - 2);
  // What is written there: the outer one's, of two trips.
  Artifact written = numbersOfTrips();
  std::get<Launch>(written.commands[5].action).buffers = {{3, 0}, {2, 0}};
  EXPECT_EQ(edgesOf(written), given + 2 - 1);
  // What the caller may look at.
  Artifact shown = numbersOfTrips();
  shown.outputs.push_back({"n", {DType::I64, {}}});
  shown.buffers[2] = {BufferKind::Output, 2, 8};
  EXPECT_EQ(edgesOf(shown), given + 2 - 1);
}

} // namespace
