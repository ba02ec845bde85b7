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
  EXPECT_THAT(device.status().message(),
              HasSubstr("ZYX_CUDA_GRAPHS is 'late'; it may be chain, early, branches or early,branches"));
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

} // namespace
