//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Inputs of a few bytes that lie in the host's memory, such as a learning rate: runs take their values with them.
//===----------------------------------------------------------------------===//
#include "../../fake-opencl/FakeOpenCL.h"
#include "../../fake-vulkan/FakeVulkan.h"
#include "CudaTest.h"

#include <chrono>
#include <cstring>
#include <future>
#include <random>

using namespace zyx;
using namespace zyx::artifact;
using namespace zyx::runtime;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using runtime::Buffer;
using Bytes = std::vector<std::byte>;

template <typename T> auto bytesOf(const T &value) { return std::as_bytes(std::span(&value, 1)); }
template <typename T> auto bytesToWrite(T &value) { return std::as_writable_bytes(std::span(&value, 1)); }

class HostInputTest : public test::CudaTest {
protected:
  void SetUp() override {
    CudaTest::SetUp();
    device = *createDevice("cuda");
  }
  void TearDown() override {
    holdRuns(0);
    executor.reset();
    past.reset();
    device.reset();
    expectNothingLeft();
    CudaTest::TearDown();
  }

  /// With a history of zeros, which is given up for the next one.
  void make(Artifact artifact, uint64_t elementBytes = 4) {
    auto made = Executor::create(device, std::move(artifact), {{1, 0}});
    ASSERT_TRUE(made) << made.status().toString();
    executor = std::move(*made);
    past = *Buffer::allocate(device->pool(), 4 * elementBytes);
    ASSERT_TRUE(past->write(Bytes(4 * elementBytes)).isOk());
    ASSERT_TRUE(executor->bindInput(1, past).isOk());
    ASSERT_TRUE(executor->bindOutput(0, past).isOk());
  }
  Status set(int32_t number) { return executor->setInput(0, bytesOf(number)); }
  std::vector<int32_t> numbers() {
    std::vector<int32_t> read(4);
    EXPECT_TRUE(past->read(std::as_writable_bytes(std::span(read))).isOk());
    return read;
  }
  static bool ends(std::future<Status> &what, std::chrono::milliseconds time = std::chrono::seconds(20)) {
    return what.wait_for(time) == std::future_status::ready;
  }

  std::shared_ptr<Device> device;
  std::unique_ptr<Executor> executor;
  std::shared_ptr<Buffer> past;
};

// The host goes on to the fourth number while the first run is held back, and each run has its own.
TEST_F(HostInputTest, RunsInFlightHaveTheNumbersOfTheirSubmission) {
  make(test::history("cuda", DType::I32));
  for (int round = 0; round < 3; ++round) {
    holdRuns(1);
    std::vector<Point> runs;
    auto submitted = std::async(std::launch::async, [&]() -> Status {
      for (int32_t i = 1; i <= 4; ++i) {
        ZYX_RETURN_IF_ERROR(set(10 * round + i));
        ZYX_ASSIGN_OR_RETURN(runs.emplace_back(), executor->submit());
        if (i == 1)
          waitForRun();
      }
      return Status::ok();
    });
    const bool isOver = ends(submitted);
    EXPECT_TRUE(isOver) << "a number waits for the run before";
    if (isOver)
      EXPECT_FALSE(runs.front().isDecided());
    holdRuns(0);
    const Status status = submitted.get();
    ASSERT_TRUE(status.isOk()) << status.toString();
    EXPECT_TRUE(runs.back().wait().isOk());
    EXPECT_THAT(numbers(), ElementsAre(10 * round + 4, 10 * round + 3, 10 * round + 2, 10 * round + 1));
  }
}

// The same of memory that others have, of which the order is known: a write waits for the run that reads there.
TEST_F(HostInputTest, AWriteWaitsForTheRunThatReadsThere) {
  make(test::history("cuda", DType::I32));
  const std::shared_ptr<Buffer> number = *Buffer::allocate(createHostPool(), 4);
  ASSERT_TRUE(number->write(bytesOf(int32_t(1))).isOk());
  ASSERT_TRUE(executor->bindInput(0, number).isOk());
  // The first one waits for something else, so that it has not read yet.
  auto other = std::make_shared<Timeline>();
  const std::vector<Point> wait = {{other, 1}};
  Result<Point> run = executor->submit(wait);
  ASSERT_TRUE(run);
  std::future<Status> write = std::async(std::launch::async, [&] { return number->write(bytesOf(int32_t(2))); });
  EXPECT_FALSE(ends(write, std::chrono::milliseconds(50)));
  ASSERT_TRUE(other->signal(1).isOk());
  EXPECT_TRUE(write.get().isOk());
  EXPECT_TRUE(run->wait().isOk());
  ASSERT_TRUE(executor->run().isOk());
  EXPECT_THAT(numbers(), ElementsAre(2, 1, 0, 0));
}

TEST_F(HostInputTest, ANewNumberIsOneFillAndChangesNoGraph) {
  make(test::history("cuda", DType::I32));
  for (int32_t i = 1; i <= 2; ++i) {
    ASSERT_TRUE(set(i).isOk());
    ASSERT_TRUE(executor->run().isOk());
  }
  fake->fills = fake->uploads = fake->allocated = fake->graphLaunches = fake->graphUpdates = 0;
  for (int32_t i = 3; i <= 6; ++i) {
    ASSERT_TRUE(set(i).isOk());
    ASSERT_TRUE(executor->run().isOk());
  }
  EXPECT_EQ(fake->graphLaunches, 4);
  EXPECT_EQ(fake->graphUpdates, 0);
  EXPECT_EQ(fake->fills, 4);
  EXPECT_EQ(fake->uploads, 0);
  EXPECT_EQ(fake->allocated, 0);
  EXPECT_THAT(numbers(), ElementsAre(6, 5, 4, 3));
  // One that stays is there already, wherever the host has it.
  fake->fills = 0;
  ASSERT_TRUE(executor->run().isOk());
  ASSERT_TRUE(set(6).isOk());
  ASSERT_TRUE(executor->run().isOk());
  EXPECT_EQ(fake->fills, 0);
  EXPECT_THAT(numbers(), ElementsAre(6, 6, 6, 5));
  // Memory of the device is another place, whose node is changed there and back.
  const std::shared_ptr<Buffer> number = *Buffer::allocate(device->pool(), 4);
  ASSERT_TRUE(number->write(bytesOf(int32_t(7))).isOk());
  ASSERT_TRUE(executor->bindInput(0, number).isOk());
  ASSERT_TRUE(executor->run().isOk());
  EXPECT_EQ(std::exchange(fake->graphUpdates, 0), 1);
  ASSERT_TRUE(set(8).isOk());
  ASSERT_TRUE(executor->run().isOk());
  EXPECT_EQ(std::exchange(fake->graphUpdates, 0), 1);
  EXPECT_THAT(numbers(), ElementsAre(8, 7, 6, 6));
}

/// What a library of a driver that is ours exports.
template <typename F> F *symbolOf(const char *library, const char *name) {
  return reinterpret_cast<F *>(dlsym(dlopen(library, RTLD_NOW), name));
}

TEST_F(HostInputTest, ValuesOfEveryType) {
  symbolOf<void()>(ZYX_FAKE_HIP, "zyxFakeCudaReset")();
  symbolOf<FakeCuda *()>(ZYX_FAKE_HIP, "zyxFakeCuda")()->version = 60200000;
  *symbolOf<FakeOpenCL *()>(ZYX_FAKE_OPENCL, "zyxFakeOpenCL")() = {};
  *symbolOf<FakeVulkan *()>(ZYX_FAKE_VULKAN, "zyxFakeVulkan")() = {};
  std::mt19937_64 draw(18);
  setenv("ZYX_HIP_DRIVER", ZYX_FAKE_HIP, 1);
  setenv("ZYX_OPENCL_DRIVER", ZYX_FAKE_OPENCL, 1);
  setenv("ZYX_VULKAN_DRIVER", ZYX_FAKE_VULKAN, 1);
  for (const char *name : {"cuda", "hip", "opencl", "vulkan"}) {
    executor.reset();
    past.reset();
    auto made = createDevice(name);
    ASSERT_TRUE(made) << made.status().toString();
    device = std::move(*made);
    for (DType dtype : allDTypes()) {
      const auto size = static_cast<size_t>(byteSize(dtype));
      executor.reset();
      make(test::history(name, dtype), size);
      ASSERT_TRUE(executor);
      Bytes expected(4 * size), read(4 * size);
      for (int run = 0; run < 12; ++run) {
        // Of some, one half or both are those of the last.
        Bytes number(size);
        for (size_t i = 0; i < size; ++i)
          number[i] = run % 3 == 2                       ? expected[i]
                      : (run % 3 == 1) == (i < size / 2) ? static_cast<std::byte>(draw())
                                                         : expected[i];
        ASSERT_TRUE(executor->setInput(0, number).isOk());
        ASSERT_TRUE(executor->run().isOk());
        std::memmove(expected.data() + size, expected.data(), 3 * size);
        std::memcpy(expected.data(), number.data(), size);
        ASSERT_TRUE(past->read(read).isOk());
        EXPECT_EQ(read, expected) << name << ", " << toString(dtype) << ", run " << run;
      }
    }
  }
  for (const char *variable : {"ZYX_HIP_DRIVER", "ZYX_OPENCL_DRIVER", "ZYX_VULKAN_DRIVER"})
    unsetenv(variable);
}

TEST_F(HostInputTest, LoopsReadThem) {
  make(test::history("cuda", DType::I32, 3));
  for (int32_t i = 1; i <= 4; ++i) {
    ASSERT_TRUE(set(i).isOk());
    ASSERT_TRUE(executor->run().isOk());
    EXPECT_THAT(numbers(), ElementsAre(i, i, i, i - 1));
    // All of it is one graph.
    EXPECT_EQ(std::exchange(fake->graphLaunches, 0), i == 1 ? 0 : 1);
    EXPECT_EQ(fake->graphUpdates, 0);
  }
}

TEST_F(HostInputTest, ALoopRunsAsOftenAsTheHostSays) {
  Artifact artifact = test::sampleForCuda();
  artifact.inputs.push_back({"trips", {DType::I64, {}}});
  artifact.buffers.push_back({BufferKind::Input, 1, 8});
  std::get<Loop>(artifact.commands[3].action).count = BufferRef{8, 0};
  executor = *Executor::create(device, artifact);
  const std::vector<int32_t> x = input();
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  for (int64_t trips : {2, 5, 1, 1, 9}) {
    ASSERT_TRUE(executor->setInput(1, bytesOf(trips)).isOk());
    ASSERT_TRUE(executor->run().isOk());
    int64_t z[2];
    ASSERT_TRUE(executor->readOutput(1, std::as_writable_bytes(std::span(z))).isOk());
    EXPECT_THAT(z, ElementsAre(0x100000005 + trips, trips - 1));
  }
}

/// y = kept + 1, where the init computes kept = w + 1.
Artifact ofWeight() {
  Artifact a = test::history("cuda", DType::I32);
  a.inputs = {{"w", {DType::I32, {}}, true}};
  a.outputs = {{"y", {DType::I32, {}}}};
  a.buffers = {{BufferKind::Input, 0, 4}, {BufferKind::Kept, 0, 4}, {BufferKind::Output, 0, 4}};
  a.arenaSize = 0;
  a.keptSize = 64;
  a.commands = {{Launch{0, {{0, 0}, {1, 0}}, {1, 1, 1}, {}}, {}}, {Launch{0, {{1, 0}, {2, 0}}, {1, 1, 1}, {}}, {}}};
  a.numInitCommands = 1;
  return a;
}

TEST_F(HostInputTest, WhatIsMadeOfWeightsIsMadeOfTheirValues) {
  executor = *Executor::create(device, ofWeight());
  uint64_t launches = 0;
  int32_t last = 0;
  for (int32_t value : {5, 5, 9, 9, -3}) {
    launches += std::exchange(last, value) != value;
    ASSERT_TRUE(set(value).isOk());
    ASSERT_TRUE(value == 9 ? executor->submit()->wait().isOk() : executor->run().isOk());
    int32_t y = 0;
    ASSERT_TRUE(executor->readOutput(0, std::as_writable_bytes(std::span(&y, 1))).isOk());
    EXPECT_EQ(y, value + 2);
    EXPECT_EQ(executor->initLaunches(), launches);
  }
}

// A caller who binds all inputs for each run binds the same weights again.
TEST_F(HostInputTest, ABindOfAnUnchangedWeightStartsNoInit) {
  executor = *Executor::create(device, ofWeight());
  const std::shared_ptr<Buffer> weight = Buffer::onHost(4), other = Buffer::onHost(4);
  auto expect = [&](int32_t value, uint64_t launches) {
    ASSERT_TRUE(executor->run().isOk());
    int32_t y = 0;
    ASSERT_TRUE(executor->readOutput(0, bytesToWrite(y)).isOk());
    EXPECT_EQ(y, value + 2);
    EXPECT_EQ(executor->initLaunches(), launches);
  };
  ASSERT_TRUE(weight->write(bytesOf(int32_t(5))).isOk());
  ASSERT_TRUE(other->write(bytesOf(int32_t(7))).isOk());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(executor->bindInput(0, weight).isOk());
    expect(5, 1);
  }
  // A write counts whether a bind follows or not.
  ASSERT_TRUE(weight->write(bytesOf(int32_t(6))).isOk());
  ASSERT_TRUE(executor->bindInput(0, weight).isOk());
  expect(6, 2);
  ASSERT_TRUE(weight->write(bytesOf(int32_t(-2))).isOk());
  expect(-2, 3);
  ASSERT_TRUE(weight->copyFrom(*other).isOk());
  ASSERT_TRUE(executor->bindInput(0, weight).isOk());
  expect(7, 4);
  ASSERT_TRUE(executor->bindInput(0, other).isOk());
  expect(7, 5);
  // Of memory of the caller nobody knows whether it was written.
  int32_t lent = 3;
  const std::shared_ptr<Buffer> borrowed = Buffer::borrow(&lent, 4);
  ASSERT_TRUE(executor->bindInput(0, borrowed).isOk());
  expect(3, 6);
  lent = 4;
  ASSERT_TRUE(executor->bindInput(0, borrowed).isOk());
  expect(4, 7);
}

TEST_F(HostInputTest, MeasuresRunsThatTakeThem) {
  make(test::history("cuda", DType::I32));
  ASSERT_TRUE(set(3).isOk());
  const auto took = executor->measure(2);
  ASSERT_TRUE(took) << took.status().toString();
  EXPECT_EQ(fake->stuck, 0);
  EXPECT_THAT(numbers(), ElementsAre(3, 3, 3, 0));
  EXPECT_TRUE(executor->profile().isOk());
  EXPECT_THAT(numbers(), ElementsAre(3, 3, 3, 3));
}

TEST_F(HostInputTest, MemoryOfTheHostIsForFewBytesAndForInputs) {
  EXPECT_EQ(device->largestHostInput(), 8u);
  make(test::history("cuda", DType::I32));
  const std::string beyond = "lies in memory that device 'cuda' does not reach";
  EXPECT_THAT(executor->bindInput(1, Buffer::onHost(16)).message(), HasSubstr("input 'h' " + beyond));
  EXPECT_THAT(executor->bindOutput(0, Buffer::onHost(16)).message(), HasSubstr("output 'next' " + beyond));
  EXPECT_THAT(executor->bindInput(0, Buffer::onHost(8)).message(), HasSubstr("input 'n' is i32[] of 4 bytes"));
  // Where memory is the host's, there is nothing to take along.
  EXPECT_EQ((*createDevice("cpu"))->largestHostInput(), 0u);
}

// Elements of any type are read there, by a device whose memory is the host's, too.
TEST_F(HostInputTest, MemoryOfTheHostIsAligned) {
  std::vector<std::shared_ptr<Buffer>> held;
  for (uint64_t size = 0; size < 40; ++size) {
    held.push_back(Buffer::onHost(size));
    EXPECT_EQ(held.back()->handle() % artifact::alignment, 0u) << size << " bytes";
    Bytes read(size, std::byte(1));
    ASSERT_TRUE(held.back()->read(read).isOk());
    EXPECT_EQ(read, Bytes(size)) << "not zero";
  }
}

TEST_F(HostInputTest, ARunWithoutMemoryForThemFailsAndTheNextOneDoesNot) {
  make(test::history("cuda", DType::I32));
  ASSERT_TRUE(set(3).isOk());
  fake->failAllocation = 1;
  const Status status = executor->run();
  EXPECT_EQ(status.code(), ErrorCode::OutOfMemory);
  EXPECT_THAT(status.toString(), HasSubstr("cannot take an input of the host along: CUDA_ERROR_OUT_OF_MEMORY"));
  // Nothing began, so that what was given up is there.
  ASSERT_TRUE(executor->run().isOk());
  EXPECT_THAT(numbers(), ElementsAre(3, 0, 0, 0));
}

} // namespace
