//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Executor.h"
#include "TestArtifact.h"
#include "TestKernels.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <sys/resource.h>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;
using testing::ElementsAre;

static std::atomic<size_t> allocations = 0;

// Sanitizers have operators of their own, with which nothing is counted.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ZYX_TEST_SANITIZED
#endif
#endif

#ifndef ZYX_TEST_SANITIZED
// Counts for the whole program; the array forms end here too.
void *operator new(size_t size) {
  ++allocations;
  return std::malloc(size);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
#endif

namespace {

class ExecutorTest : public testing::Test {
protected:
  void SetUp() override {
    auto created = createDevice("cpu", {.threads = 2, .oversubscribe = true});
    ASSERT_TRUE(created.isOk());
    device = *created;
    make(sampleArtifact(testKernels()));
  }
  void make(Artifact artifact) {
    auto created = Executor::create(device, std::move(artifact));
    ASSERT_TRUE(created.isOk()) << created.status().toString();
    executor = std::move(*created);
  }
  Status setInput(std::vector<float> x) { return executor->setInput(0, std::as_bytes(std::span(x))); }
  template <typename T> std::vector<T> read(size_t index, size_t count) {
    std::vector<T> values(count);
    Status status = executor->readOutput(index, std::as_writable_bytes(std::span(values)));
    EXPECT_TRUE(status.isOk()) << status.toString();
    return values;
  }

  std::shared_ptr<Device> device;
  std::unique_ptr<Executor> executor;
};

TEST_F(ExecutorTest, RunsItsCommands) {
  ASSERT_TRUE(setInput({1, 2, 3, 4}).isOk());
  ASSERT_TRUE(executor->run().isOk());
  EXPECT_THAT(read<float>(0, 4), ElementsAre(13, 25, 37, 49));
  EXPECT_THAT(read<float>(1, 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read<int32_t>(2, 2), ElementsAre(7, 7));
}

TEST_F(ExecutorTest, ReadsAnOutputInPieces) {
  ASSERT_TRUE(setInput({1, 2, 3, 4}).isOk());
  ASSERT_TRUE(executor->run().isOk());
  std::vector<float> part(2);
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(part));
  ASSERT_TRUE(executor->readOutput(0, 8, bytes).isOk());
  EXPECT_THAT(part, ElementsAre(37, 49));
  ASSERT_TRUE(executor->readOutput(0, 0, bytes).isOk());
  EXPECT_THAT(part, ElementsAre(13, 25));
  EXPECT_TRUE(executor->readOutput(0, 16, {}).isOk());
  EXPECT_THAT(executor->readOutput(0, 12, bytes).message(),
              testing::HasSubstr("bytes 12 to 20 of a buffer of 16 are read"));
  EXPECT_FALSE(executor->readOutput(0, UINT64_MAX, bytes).isOk());
}

TEST_F(ExecutorTest, ReplaysWithNewInputs) {
  for (float first : {1.0f, 5.0f, -3.0f}) {
    ASSERT_TRUE(setInput({first, 0, 0, 0}).isOk());
    ASSERT_TRUE(executor->run().isOk());
    EXPECT_EQ(read<float>(0, 4)[0], first * 2 + 11);
  }
}

TEST_F(ExecutorTest, AllocatesNothingAfterTheFirstRun) {
  ASSERT_TRUE(setInput({1, 2, 3, 4}).isOk());
  ASSERT_TRUE(executor->run().isOk());
  const PoolUsage before = device->pool()->usage();
  const size_t allocationsBefore = allocations;
  Status status;
  for (int i = 0; i < 10 && status.isOk(); ++i)
    status = executor->run();
  EXPECT_EQ(allocations, allocationsBefore);
  EXPECT_TRUE(status.isOk());
  EXPECT_EQ(device->pool()->usage().inUse, before.inUse);
  EXPECT_EQ(device->pool()->usage().highWater, before.highWater);
  executor.reset();
  EXPECT_EQ(device->pool()->usage().inUse, 0u);
}

TEST_F(ExecutorTest, RunsOnBorrowedMemory) {
  alignas(4) float x[4] = {1, 1, 1, 1}, y[4] = {};
  ASSERT_TRUE(executor->bindInput(0, Buffer::borrow(x, sizeof(x))).isOk());
  ASSERT_TRUE(executor->bindOutput(0, Buffer::borrow(y, sizeof(y))).isOk());
  ASSERT_TRUE(executor->run().isOk());
  EXPECT_THAT(y, ElementsAre(13, 23, 33, 43));
  x[3] = 2;
  ASSERT_TRUE(executor->run().isOk());
  EXPECT_EQ(y[3], 45);
  // Setting copies, and leaves the caller's memory alone.
  ASSERT_TRUE(setInput({0, 0, 0, 0}).isOk());
  ASSERT_TRUE(executor->run().isOk());
  EXPECT_EQ(y[3], 41);
  EXPECT_EQ(x[3], 2);
}

TEST_F(ExecutorTest, RefusesOutputsThatShareMemory) {
  float memory[9] = {1, 2, 3, 4};
  ASSERT_TRUE(executor->bindInput(0, Buffer::borrow(memory, 16)).isOk());
  // All of it, its last element, its first one.
  for (size_t at : {0, 3}) {
    ASSERT_TRUE(executor->bindOutput(0, Buffer::borrow(memory + at, 16)).isOk());
    EXPECT_EQ(executor->run().message(), "output 'y' is bound to memory of input 'x'") << at;
    EXPECT_EQ(executor->submit().status().message(), "output 'y' is bound to memory of input 'x'");
  }
  EXPECT_EQ(memory[3], 4);
  ASSERT_TRUE(executor->bindInput(0, Buffer::borrow(memory + 5, 16)).isOk());
  ASSERT_TRUE(executor->bindOutput(0, Buffer::borrow(memory + 2, 16)).isOk());
  EXPECT_FALSE(executor->run().isOk());
  // Neighbours share nothing.
  ASSERT_TRUE(executor->bindInput(0, Buffer::borrow(memory, 16)).isOk());
  ASSERT_TRUE(executor->bindOutput(0, Buffer::borrow(memory + 4, 16)).isOk());
  EXPECT_TRUE(executor->run().isOk());
  EXPECT_THAT(std::span(memory + 4, 4), ElementsAre(13, 25, 37, 49));

  // Nor may outputs be one.
  ASSERT_TRUE(executor->bindOutput(1, Buffer::borrow(memory + 5, 16)).isOk());
  EXPECT_EQ(executor->run().message(), "output 'z' is bound to memory of output 'y'");
  // What is bound later is looked at again.
  float other[4];
  ASSERT_TRUE(executor->bindOutput(1, Buffer::borrow(other, 16)).isOk());
  EXPECT_TRUE(executor->run().isOk());
}

TEST_F(ExecutorTest, SubmitsInOrder) {
  ASSERT_TRUE(setInput({1, 2, 3, 4}).isOk());
  auto gate = std::make_shared<Timeline>();
  const Point wait[] = {{gate, 1}};
  auto first = executor->submit(wait), second = executor->submit();
  ASSERT_TRUE(first.isOk() && second.isOk());
  EXPECT_FALSE(second->isReached());
  ASSERT_TRUE(gate->signal(1).isOk());
  EXPECT_TRUE(second->wait().isOk());
  EXPECT_TRUE(first->isReached());
  EXPECT_THAT(read<float>(0, 4), ElementsAre(13, 25, 37, 49));
}

TEST_F(ExecutorTest, ChainsThroughSharedBuffers) {
  auto between = Buffer::allocate(device->pool(), 16);
  auto second = Executor::create(device, sampleArtifact(testKernels()));
  ASSERT_TRUE(between.isOk() && second.isOk());
  ASSERT_TRUE(setInput({0, 0, 0, 0}).isOk());
  ASSERT_TRUE(executor->bindOutput(0, *between).isOk());
  ASSERT_TRUE((*second)->bindInput(0, *between).isOk());
  auto gate = std::make_shared<Timeline>();
  const Point wait[] = {{gate, 1}};
  ASSERT_TRUE(executor->submit(wait).isOk());
  ASSERT_TRUE((*second)->submit().isOk());
  ASSERT_TRUE(gate->signal(1).isOk());
  float y[4];
  ASSERT_TRUE((*second)->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
  EXPECT_THAT(y, ElementsAre(33, 63, 93, 123));
}

TEST_F(ExecutorTest, HandsFailuresToDependentsAndRecovers) {
  auto between = Buffer::allocate(device->pool(), 16);
  auto second = Executor::create(device, sampleArtifact(testKernels()));
  ASSERT_TRUE(setInput({0, 0, 0, 0}).isOk());
  ASSERT_TRUE(executor->bindOutput(0, *between).isOk());
  ASSERT_TRUE((*second)->bindInput(0, *between).isOk());
  auto gate = std::make_shared<Timeline>();
  const Point wait[] = {{gate, 1}};
  auto failed = executor->submit(wait), dependent = (*second)->submit();
  gate->fail(Status::internal("the gate broke"));
  EXPECT_EQ(failed->wait().code(), ErrorCode::Aborted);
  EXPECT_EQ(dependent->wait().cause().cause().message(), "the gate broke");
  float y[4];
  EXPECT_FALSE((*second)->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
  EXPECT_FALSE((*second)->run().isOk());

  ASSERT_TRUE(executor->run().isOk());
  ASSERT_TRUE((*second)->run().isOk());
  EXPECT_TRUE((*second)->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
  EXPECT_TRUE(executor->submit()->wait().isOk());
}

TEST_F(ExecutorTest, ProfilesEachCommand) {
  ASSERT_TRUE(setInput({1, 2, 3, 4}).isOk());
  auto times = executor->profile();
  ASSERT_TRUE(times.isOk());
  std::vector<std::string> names;
  for (const CommandTime &time : *times)
    names.push_back(time.name);
  EXPECT_THAT(names, ElementsAre("affine", "affine", "copy", "fill", "sum"));
}

TEST_F(ExecutorTest, MeasuresRuns) {
  EXPECT_EQ(executor->measure(1).status().message(), "input 'x' is not set");
  ASSERT_TRUE(setInput({1, 2, 3, 4}).isOk());
  auto took = executor->measure(3);
  ASSERT_TRUE(took.isOk());
  EXPECT_GT(took->hostNanoseconds, 0u);
  EXPECT_EQ(took->hostNanoseconds, took->deviceNanoseconds);
}

TEST_F(ExecutorTest, FindsArguments) {
  EXPECT_EQ(*executor->inputIndex("x"), 0u);
  EXPECT_EQ(*executor->outputIndex("w"), 2u);
  EXPECT_EQ(executor->inputIndex("a").status().message(), "no input 'a'; there is 'x'");
  EXPECT_EQ(executor->outputIndex("a").status().message(), "no output 'a'; there is 'y', 'z', 'w'");
  Artifact nothing;
  nothing.target = "cpu";
  make(nothing);
  EXPECT_EQ(executor->inputIndex("a").status().message(), "no input 'a'; there is none");
  EXPECT_TRUE(executor->run().isOk());
}

TEST_F(ExecutorTest, RefusesWrongArguments) {
  EXPECT_EQ(executor->run().message(), "input 'x' is not set");
  EXPECT_EQ(executor->submit().status().message(), "input 'x' is not set");
  EXPECT_EQ(executor->profile().status().message(), "input 'x' is not set");
  EXPECT_EQ(executor->setInput(1, {}).message(), "input 1 of 1 does not exist");
  EXPECT_EQ(setInput({1, 2, 3}).message(), "input 'x' is f32[4] of 16 bytes; 12 were given");
  EXPECT_EQ(executor->bindInput(0, nullptr).message(), "input 'x' is bound to no buffer");
  alignas(16) std::byte memory[20];
  EXPECT_EQ(executor->bindInput(0, Buffer::borrow(memory, 20)).message(),
            "input 'x' is f32[4] of 16 bytes; 20 were given");
  EXPECT_EQ(executor->bindOutput(0, Buffer::borrow(memory + 1, 16)).message(),
            "output 'y' is not aligned to its 4 byte elements");
  EXPECT_EQ(executor->bindOutput(3, Buffer::borrow(memory, 16)).message(), "output 3 of 3 does not exist");
  EXPECT_EQ(executor->readOutput(3, {}).message(), "output 3 of 3 does not exist");
  EXPECT_EQ(executor->readOutput(0, std::span(memory).first(16)).message(),
            "output 'y' is not there before the first run");
  EXPECT_EQ(executor->readOutput(0, memory).message(), "output 'y' is f32[4] of 16 bytes; 20 were given");
}

#ifndef ZYX_TEST_SANITIZED
TEST(ExecutorMemoryTest, AnArenaThatTheSystemDoesNotGiveChangesNothing) {
  auto device = *createDevice("cpu", {.threads = 1});
  auto executor = *Executor::create(device, sampleArtifact(testKernels()));
  const float x[4] = {1, 2, 3, 4};
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  ASSERT_TRUE(executor->run().isOk());
  const uint64_t inUse = device->pool()->usage().inUse;
  Artifact large = sampleArtifact(testKernels());
  large.arenaSize = uint64_t(1) << 30;

  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  rlimit less = before;
  less.rlim_cur = uint64_t(1) << 29;
  ::setrlimit(RLIMIT_AS, &less);
  const Status status = Executor::create(device, large).status();
  ::setrlimit(RLIMIT_AS, &before);

  EXPECT_EQ(status.code(), ErrorCode::OutOfMemory);
  EXPECT_THAT(status.message(), testing::HasSubstr("cannot give 1073741824 more"));
  EXPECT_EQ(device->pool()->usage().inUse, inUse);
  ASSERT_TRUE(executor->run().isOk());
  float y[4];
  ASSERT_TRUE(executor->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
  EXPECT_THAT(y, ElementsAre(13, 25, 37, 49));
  EXPECT_TRUE(Executor::create(device, large).isOk());
}
#endif

TEST(ExecutorMemoryTest, OutOfMemoryChangesNothing) {
  // Constants 80, arena 128, input 16, outputs 40: each limit below the sum fails at one of them.
  for (uint64_t limit : {1u, 79u, 80u, 207u, 208u, 223u, 224u, 240u, 263u}) {
    auto device = *createDevice("cpu", {.threads = 1, .memoryLimit = limit});
    auto executor = Executor::create(device, sampleArtifact(testKernels()));
    EXPECT_EQ(executor.isOk(), limit >= 208);
    if (!executor.isOk()) {
      EXPECT_EQ(executor.status().code(), ErrorCode::OutOfMemory);
      EXPECT_EQ(executor.status().device(), "cpu");
      EXPECT_EQ(device->pool()->usage().inUse, 0u);
      continue;
    }
    const float x[4] = {1, 2, 3, 4};
    Status set = (*executor)->setInput(0, std::as_bytes(std::span(x)));
    EXPECT_EQ(set.isOk(), limit >= 224);
    if (!set.isOk()) {
      EXPECT_EQ(device->pool()->usage().inUse, 208u);
      continue;
    }
    EXPECT_EQ((*executor)->run().code(), ErrorCode::OutOfMemory);
    EXPECT_EQ((*executor)->submit().status().code(), ErrorCode::OutOfMemory);
    EXPECT_EQ(device->pool()->usage().inUse, 224u);
  }
  auto device = *createDevice("cpu", {.threads = 1, .memoryLimit = 264});
  auto executor = Executor::create(device, sampleArtifact(testKernels()));
  const float x[4] = {1, 2, 3, 4};
  EXPECT_TRUE((*executor)->setInput(0, std::as_bytes(std::span(x))).isOk());
  EXPECT_TRUE((*executor)->run().isOk());
}

/// y, sum of x over `n` passes (an input, or 4), each with a loop of three passes inside that
/// doubles w; i is the last index.
Artifact loopArtifact(bool counted) {
  Artifact a = sampleArtifact(testKernels());
  using namespace artifact;
  a.inputs.push_back({"n", {DType::I64, {}}});
  a.outputs = {{"y", {DType::F32, {4}}}, {"w", {DType::F32, {4}}}, {"i", {DType::I64, {}}}};
  a.buffers = {{BufferKind::Input, 0, 16}, {BufferKind::Output, 0, 16}, {BufferKind::Output, 1, 16},
               {BufferKind::Arena, 0, 16}, {BufferKind::Input, 1, 8},   {BufferKind::Output, 2, 8}};
  Loop outer{5, 4, {}, BufferRef{5, 0}};
  if (counted)
    outer.count = BufferRef{4, 0};
  a.commands = {{Fill{{1, 0}, 16, 0, 4}, {}},
                {Fill{{2, 0}, 16, 0x3f800000, 4}, {}},
                {Fill{{5, 0}, 8, 7, 8}, {}},
                {outer, {0, 1, 2}},
                {Launch{0, {{1, 0}, {0, 0}, {3, 0}}, {4, 1, 1}, {}}, {}},
                {Copy{{3, 0}, {1, 0}, 16}, {4}},
                {Loop{2, 3, {}, {}}, {5}},
                {Launch{1, {{2, 0}, {3, 0}}, {4, 1, 1}, {2, 0}}, {}},
                {Copy{{3, 0}, {2, 0}, 16}, {7}}};
  return a;
}

TEST_F(ExecutorTest, RunsLoops) {
  for (bool counted : {false, true})
    for (int64_t n : {4, 1, 0, -3}) {
      make(loopArtifact(counted));
      ASSERT_TRUE(setInput({1, 2, 3, 4}).isOk());
      ASSERT_TRUE(executor->setInput(1, std::as_bytes(std::span(&n, 1))).isOk());
      for (int run = 0; run < 2; ++run) {
        ASSERT_TRUE(executor->run().isOk());
        const float passes = counted ? static_cast<float>(std::max<int64_t>(n, 0)) : 4;
        EXPECT_THAT(read<float>(0, 4), ElementsAre(passes, 2 * passes, 3 * passes, 4 * passes));
        EXPECT_EQ(read<float>(1, 4)[0], std::exp2(3 * passes));
        EXPECT_EQ(read<int64_t>(2, 1)[0], passes == 0 ? 7 : static_cast<int64_t>(passes) - 1);
      }
    }
}

TEST_F(ExecutorTest, LoopsAllocateNothingAndTakeTheirTime) {
  make(loopArtifact(false));
  const int64_t n = 0;
  ASSERT_TRUE(setInput({1, 2, 3, 4}).isOk());
  ASSERT_TRUE(executor->setInput(1, std::as_bytes(std::span(&n, 1))).isOk());
  ASSERT_TRUE(executor->run().isOk());
  const size_t before = allocations;
  const Status status = executor->run();
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(status.isOk());
  auto times = executor->profile();
  ASSERT_TRUE(times.isOk());
  ASSERT_EQ(times->size(), 9u);
  EXPECT_EQ((*times)[3].name, "loop");
  EXPECT_EQ((*times)[7].name, "affine");
  EXPECT_GT((*times)[7].nanoseconds, 0u);
  EXPECT_EQ(read<float>(1, 4)[0], 4096);
}

TEST_F(ExecutorTest, CountsTheWorkOfAllPasses) {
  for (bool counted : {false, true}) {
    Artifact artifact = loopArtifact(counted);
    auto &launch = std::get<artifact::Launch>(artifact.commands[7].action);
    launch.flops = 8;
    launch.bytes = 32;
    make(artifact);
    const int64_t n = 4;
    ASSERT_TRUE(setInput({1, 2, 3, 4}).isOk());
    ASSERT_TRUE(executor->setInput(1, std::as_bytes(std::span(&n, 1))).isOk());
    const std::vector<CommandTime> times = *executor->profile();
    EXPECT_EQ(times[0].bytes, 16u);
    // Of the outer loop 4 passes, or as many as data says; of the inner one 3.
    EXPECT_EQ(times[5].bytes, counted ? 0u : 4 * 2 * 16u);
    EXPECT_EQ(times[7].flops, counted ? 0u : 12 * 8u);
    EXPECT_EQ(times[7].bytes, counted ? 0u : 12 * 32u);
    EXPECT_EQ(times[3].flops + times[3].bytes, 0u);
  }
}

TEST(ExecutorFillTest, RepeatsPatternsOfEverySize) {
  auto device = *createDevice("cpu", {.threads = 1});
  for (uint8_t size : {1, 2, 4, 8}) {
    Artifact artifact;
    artifact.entry = "fill";
    artifact.target = "cpu";
    artifact.outputs = {{"y", {DType::U8, {40}}}};
    artifact.buffers = {{artifact::BufferKind::Output, 0, 40}};
    artifact.commands = {{artifact::Fill{{0, 0}, 24, 0x0807060504030201, size}, {}},
                         {artifact::Fill{{0, 24}, 0, 0, 8}, {}},
                         {artifact::Fill{{0, 24}, 16, 0x0807060504030201, size}, {}}};
    auto executor = Executor::create(device, artifact);
    ASSERT_TRUE(executor.isOk());
    ASSERT_TRUE((*executor)->run().isOk());
    uint8_t y[40];
    ASSERT_TRUE((*executor)->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
    for (size_t i = 0; i < 40; ++i)
      EXPECT_EQ(y[i], i % size + 1);
  }
}

} // namespace
