//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a card does beside a run: allocations, uploads, downloads, copies and frees.
//===----------------------------------------------------------------------===//
#include "CudaTest.h"

#include <chrono>
#include <cstring>
#include <future>

using namespace zyx;
using namespace zyx::artifact;
using namespace zyx::runtime;
using test::bytes;
using test::count;
using testing::HasSubstr;

namespace {

using runtime::Buffer;

class CudaOverlapTest : public test::CudaTest {
protected:
  void SetUp() override {
    CudaTest::SetUp();
    device = *createDevice("cuda");
    executor = *Executor::create(device, test::sampleForCuda());
    const std::vector<int32_t> x = input();
    ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  }
  void TearDown() override {
    holdRuns(0);
    executor.reset();
    device.reset();
    expectNothingLeft();
    CudaTest::TearDown();
  }

  /// Whether `what` ends, in time, while no run does.
  static bool ends(std::future<Status> &what, std::chrono::milliseconds time = std::chrono::seconds(20)) {
    return what.wait_for(time) == std::future_status::ready;
  }
  template <typename F> static std::future<Status> begin(F what) {
    return std::async(std::launch::async, std::move(what));
  }

  std::shared_ptr<Device> device;
  std::unique_ptr<Executor> executor;
};

/// Of more bytes than all staging memory has.
std::vector<std::byte> manyBytes(int seed) {
  std::vector<std::byte> values((uint64_t(17) << 20) + 3);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::byte>((i * 31 >> 3) + seed);
  return values;
}

TEST_F(CudaOverlapTest, CopiesAndAllocationsDoNotWaitForARun) {
  holdRuns(1);
  Result<Point> run = executor->submit();
  ASSERT_TRUE(run);
  std::future<Status> beside = begin([&]() -> Status {
    const std::vector<std::byte> values = manyBytes(1);
    ZYX_ASSIGN_OR_RETURN(const std::shared_ptr<Buffer> a, Buffer::allocate(device->pool(), values.size()));
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> b, Buffer::allocate(device->pool(), values.size()));
    ZYX_RETURN_IF_ERROR(a->write(values));
    ZYX_RETURN_IF_ERROR(b->copyFrom(*a));
    std::vector<std::byte> back(values.size());
    ZYX_RETURN_IF_ERROR(b->read(back));
    EXPECT_EQ(back, values);
    // Memory that was freed is another buffer's without a wait.
    b.reset();
    ZYX_ASSIGN_OR_RETURN(const std::shared_ptr<Buffer> c, Buffer::allocate(device->pool(), values.size()));
    ZYX_RETURN_IF_ERROR(c->write(manyBytes(2)));
    ZYX_RETURN_IF_ERROR(a->read(back));
    EXPECT_EQ(back, values);
    return Status::ok();
  });
  ASSERT_TRUE(ends(beside));
  const Status status = beside.get();
  EXPECT_TRUE(status.isOk()) << status.toString();
  EXPECT_FALSE(run->isDecided());
  holdRuns(0);
  EXPECT_TRUE(run->wait().isOk());
  EXPECT_TRUE(check(*executor).isOk());
}

TEST_F(CudaOverlapTest, AWriteWaitsForTheRunThatReadsThere) {
  std::vector<int32_t> x = input(), next = x;
  for (int32_t &value : next)
    value += 7;
  const std::shared_ptr<Buffer> in = *Buffer::allocate(device->pool(), bytes);
  ASSERT_TRUE(in->write(std::as_bytes(std::span(x))).isOk());
  ASSERT_TRUE(executor->bindInput(0, in).isOk());
  holdRuns(1);
  Result<Point> run = executor->submit();
  ASSERT_TRUE(run);
  std::future<Status> same = begin([&] { return in->write(std::as_bytes(std::span(next))); });
  // Another write, which nobody is in the way of, does not wait for that one.
  const std::shared_ptr<Buffer> other = *Buffer::allocate(device->pool(), bytes);
  std::future<Status> apart = begin([&] { return other->write(std::as_bytes(std::span(next))); });
  EXPECT_TRUE(ends(apart));
  EXPECT_TRUE(apart.get().isOk());
  EXPECT_FALSE(ends(same, std::chrono::milliseconds(50)));
  EXPECT_FALSE(run->isDecided());
  holdRuns(0);
  EXPECT_TRUE(run->wait().isOk());
  EXPECT_TRUE(same.get().isOk());
  // The run has read what was there before.
  EXPECT_TRUE(check(*executor).isOk());
  std::vector<int32_t> now(count);
  ASSERT_TRUE(in->read(std::as_writable_bytes(std::span(now))).isOk());
  EXPECT_EQ(now, next);
}

TEST_F(CudaOverlapTest, WhatARunWritesIsReadBehindIt) {
  const std::shared_ptr<Buffer> out = *Buffer::allocate(device->pool(), bytes);
  ASSERT_TRUE(executor->bindOutput(0, out).isOk());
  holdRuns(1);
  ASSERT_TRUE(executor->submit());
  std::vector<int32_t> y(count);
  std::future<Status> read = begin([&] { return out->read(std::as_writable_bytes(std::span(y))); });
  EXPECT_FALSE(ends(read, std::chrono::milliseconds(50)));
  holdRuns(0);
  ASSERT_TRUE(read.get().isOk());
  for (uint64_t i = 0; i < count; ++i)
    EXPECT_EQ(y[i], input()[i] + 2);
}

TEST_F(CudaOverlapTest, AStreamThatOthersHaveOrdersCopiesToo) {
  ASSERT_TRUE(device->nativeStream());
  const std::shared_ptr<Buffer> other = *Buffer::allocate(device->pool(), bytes);
  const std::vector<int32_t> x = input();
  holdRuns(1);
  Result<Point> run = executor->submit();
  ASSERT_TRUE(run);
  waitForRun();
  std::future<Status> write = begin([&] { return other->write(std::as_bytes(std::span(x))); });
  EXPECT_FALSE(ends(write, std::chrono::milliseconds(50)));
  holdRuns(0);
  EXPECT_TRUE(write.get().isOk());
  EXPECT_TRUE(run->wait().isOk());
  EXPECT_TRUE(check(*executor).isOk());
}

TEST_F(CudaOverlapTest, ACopyBesideARunThatFailsChangesNothing) {
  const std::shared_ptr<Buffer> other = *Buffer::allocate(device->pool(), bytes);
  fake->failPinned = 3;
  holdRuns(1);
  Result<Point> run = executor->submit();
  ASSERT_TRUE(run);
  std::vector<int32_t> x(count, 5), y(count);
  // The first download needs staging memory of its own.
  EXPECT_THAT(other->read(std::as_writable_bytes(std::span(y))).toString(),
              HasSubstr("cannot allocate staging memory"));
  ASSERT_TRUE(other->write(std::as_bytes(std::span(x))).isOk());
  ASSERT_TRUE(other->read(std::as_writable_bytes(std::span(y))).isOk());
  EXPECT_EQ(x, y);
  holdRuns(0);
  EXPECT_TRUE(run->wait().isOk());
  EXPECT_TRUE(check(*executor).isOk());
}

TEST_F(CudaOverlapTest, ACardThatIsLostInARunIsLostForCopies) {
  Artifact artifact = test::sampleForCuda();
  artifact.kernels[0].symbol = "trap";
  executor = *Executor::create(device, artifact);
  const std::vector<int32_t> x = input();
  ASSERT_TRUE(executor->setInput(0, std::as_bytes(std::span(x))).isOk());
  std::shared_ptr<Buffer> other = *Buffer::allocate(device->pool(), bytes);
  holdRuns(1);
  Result<Point> run = executor->submit();
  ASSERT_TRUE(run);
  EXPECT_TRUE(other->write(std::as_bytes(std::span(x))).isOk());
  holdRuns(0);
  EXPECT_EQ(run->wait().code(), ErrorCode::DeviceLost);
  EXPECT_EQ(other->write(std::as_bytes(std::span(x))).code(), ErrorCode::DeviceLost);
  EXPECT_EQ(Buffer::allocate(device->pool(), bytes).status().code(), ErrorCode::DeviceLost);
  other.reset();
  executor.reset();
  device.reset();
  // Its memory went with it.
  fake->allocations = 0;
}

TEST_F(CudaOverlapTest, ManyThreadsUseOneCard) {
  fake->slowness = 1;
  std::vector<std::future<Status>> workers;
  for (int worker = 0; worker < 4; ++worker)
    workers.push_back(begin([&, worker]() -> Status {
      ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executor> program, Executor::create(device, test::sampleForCuda()));
      for (int step = 0; step < 6; ++step) {
        std::vector<int32_t> x(count, 100 * worker + step), y(count);
        ZYX_ASSIGN_OR_RETURN(const std::shared_ptr<Buffer> in, Buffer::allocate(device->pool(), bytes));
        ZYX_ASSIGN_OR_RETURN(const std::shared_ptr<Buffer> out, Buffer::allocate(device->pool(), bytes));
        ZYX_RETURN_IF_ERROR(in->write(std::as_bytes(std::span(x))));
        ZYX_RETURN_IF_ERROR(program->bindInput(0, in));
        ZYX_RETURN_IF_ERROR(program->bindOutput(0, out));
        ZYX_RETURN_IF_ERROR(step % 2 ? program->run() : program->submit().status());
        ZYX_RETURN_IF_ERROR(out->read(std::as_writable_bytes(std::span(y))));
        for (int32_t &value : x)
          value += 2;
        EXPECT_EQ(x, y);
      }
      return Status::ok();
    }));
  for (std::future<Status> &worker : workers) {
    const Status status = worker.get();
    EXPECT_TRUE(status.isOk()) << status.toString();
  }
}

} // namespace
