//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Runs in an order with streams of the host program, whose own work is done by the driver's functions.
//===----------------------------------------------------------------------===//
#include "CudaTest.h"

#include "../../../lib/Runtime/Devices/Cuda/Driver.h"

#include <chrono>
#include <future>

using namespace zyx;
using namespace zyx::runtime;
using test::bytes;
using test::count;
using testing::HasSubstr;

namespace {

class CudaStreamsTest : public test::CudaTest {
protected:
  void SetUp() override {
    CudaTest::SetUp();
    driver = *cuda::Driver::open(cuda::Family::CUDA);
    device = *createDevice("cuda");
    ASSERT_EQ(driver->contextRetain(&context, 0), 0);
    ASSERT_EQ(driver->contextPush(context), 0);
    ASSERT_EQ(driver->streamCreate(&stream, cuda::streamNonBlocking), 0);
    // y = x + 2 alone: the host reads how often the sample's loop runs, behind half of the run.
    artifact::Artifact sample = test::sampleForCuda();
    std::erase_if(sample.commands, [](const artifact::Command &command) {
      const auto *launch = std::get_if<artifact::Launch>(&command.action);
      return !launch || launch->buffers[0].buffer == 2;
    });
    executor = *Executor::create(device, sample);
    in = *Buffer::allocate(device->pool(), bytes);
    out = *Buffer::allocate(device->pool(), bytes);
    ASSERT_TRUE(executor->bindInput(0, in).isOk());
    ASSERT_TRUE(executor->bindOutput(0, out).isOk());
    const std::vector<int32_t> nothing(count, -1);
    ASSERT_TRUE(in->write(std::as_bytes(std::span(nothing))).isOk());
  }
  void TearDown() override {
    holdRuns(0);
    in.reset();
    out.reset();
    executor.reset();
    device.reset();
    cuda::Context popped = nullptr;
    EXPECT_EQ(driver->streamDestroy(stream), 0);
    EXPECT_EQ(driver->contextPop(&popped), 0);
    EXPECT_EQ(driver->contextRelease(0), 0);
    expectNothingLeft();
    CudaTest::TearDown();
  }

  /// On the host program's stream.
  void upload(const std::vector<int32_t> &x) { ASSERT_EQ(driver->copyIn(in->handle(), x.data(), bytes, stream), 0); }
  void download(std::vector<int32_t> &y) { ASSERT_EQ(driver->copyOut(y.data(), out->handle(), bytes, stream), 0); }
  void expectResult() {
    std::vector<int32_t> y(count);
    ASSERT_TRUE(out->read(std::as_writable_bytes(std::span(y))).isOk());
    EXPECT_EQ(y, plusTwo(input()));
  }
  static std::vector<int32_t> plusTwo(std::vector<int32_t> x) {
    for (int32_t &value : x)
      value += 2;
    return x;
  }

  const cuda::Driver *driver = nullptr;
  cuda::Context context = nullptr;
  cuda::Stream stream = nullptr;
  std::shared_ptr<Device> device;
  std::unique_ptr<Executor> executor;
  std::shared_ptr<Buffer> in, out;
};

TEST_F(CudaStreamsTest, ARunIsBehindWhatTheStreamHas) {
  const std::vector<int32_t> x = input();
  // Nobody waits for the copy but the run.
  upload(x);
  Result<Point> run = executor->submitBehind(stream);
  ASSERT_TRUE(run) << run.status().toString();
  EXPECT_TRUE(run->wait().isOk());
  EXPECT_GE(fake->eventWaits, 1);
  expectResult();
}

TEST_F(CudaStreamsTest, TakesAStreamOfTheHostProgram) {
  const std::vector<int32_t> x = input();
  std::vector<int32_t> y(count);
  upload(x);
  holdRuns(1);
  // On one card nobody else asks for events, and the host waits for none of this.
  auto handed = std::async(std::launch::async, [&] { return executor->submitOn(stream); });
  ASSERT_EQ(handed.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  const Result<Point> run = handed.get();
  ASSERT_TRUE(run) << run.status().toString();
  EXPECT_FALSE(run->isDecided());
  download(y);
  EXPECT_NE(y, plusTwo(x));
  holdRuns(0);
  // The stream's end is behind the run, which nobody has waited for.
  ASSERT_EQ(driver->streamSynchronize(stream), 0);
  EXPECT_EQ(y, plusTwo(x));
  EXPECT_TRUE(run->wait().isOk());
}

TEST_F(CudaStreamsTest, ManyStepsOfTwoLibrariesNeedNoHost) {
  std::vector<std::vector<int32_t>> xs, ys(8, std::vector<int32_t>(count));
  for (int step = 0; step < 8; ++step)
    xs.push_back(std::vector<int32_t>(count, 10 * step));
  for (int step = 0; step < 8; ++step) {
    upload(xs[step]);
    const Result<Point> run = executor->submitOn(stream);
    ASSERT_TRUE(run) << run.status().toString();
    download(ys[step]);
  }
  ASSERT_EQ(driver->streamSynchronize(stream), 0);
  for (int step = 0; step < 8; ++step)
    EXPECT_EQ(ys[step], plusTwo(xs[step])) << step;
}

TEST_F(CudaStreamsTest, RunsOfASharedStreamWaitForNoThread) {
  EXPECT_FALSE(device->isShared());
  ASSERT_TRUE(device->nativeStream());
  EXPECT_TRUE(device->isShared());
  const std::vector<int32_t> x = input();
  upload(x);
  ASSERT_EQ(driver->streamSynchronize(stream), 0);
  holdRuns(1);
  // Each run has an output of its own, which is bound while those before are under way.
  std::vector<std::shared_ptr<Buffer>> outputs;
  std::vector<Point> runs;
  auto handed = std::async(std::launch::async, [&] {
    for (int i = 0; i < 8; ++i) {
      outputs.push_back(*Buffer::allocate(device->pool(), bytes));
      ASSERT_TRUE(executor->bindOutput(0, outputs.back()).isOk());
      runs.push_back(*executor->submit());
    }
  });
  ASSERT_EQ(handed.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  for (const Point &run : runs)
    EXPECT_FALSE(run.isDecided());
  // Their memory is bounded: one more waits for the first.
  auto last = std::async(std::launch::async, [&] { return executor->submit(); });
  EXPECT_EQ(last.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  holdRuns(0);
  const Result<Point> end = last.get();
  ASSERT_TRUE(end) << end.status().toString();
  EXPECT_TRUE(end->wait().isOk());
  for (size_t i = 0; i < runs.size(); ++i) {
    EXPECT_TRUE(runs[i].wait().isOk());
    std::vector<int32_t> y(count);
    ASSERT_TRUE(outputs[i]->read(std::as_writable_bytes(std::span(y))).isOk());
    EXPECT_EQ(y, plusTwo(x)) << i;
  }
}

TEST_F(CudaStreamsTest, RunsOfASharedStreamFailAsOthersDo) {
  ASSERT_TRUE(device->nativeStream());
  const std::vector<int32_t> x = input();
  upload(x);
  ASSERT_EQ(driver->streamSynchronize(stream), 0);
  fake->failLaunch = 1;
  Result<Point> run = executor->submit();
  ASSERT_TRUE(run) << run.status().toString();
  EXPECT_THAT(run->wait().toString(), HasSubstr("cannot launch kernel"));
  // What it waits for is somebody's who tells later: the queue has it, and the next one is behind it.
  const auto own = std::make_shared<Timeline>();
  const Point wanted{own, 1};
  run = executor->submit({&wanted, 1});
  ASSERT_TRUE(run) << run.status().toString();
  const Result<Point> next = executor->submit();
  ASSERT_TRUE(next) << next.status().toString();
  EXPECT_FALSE(run->isDecided());
  EXPECT_FALSE(next->isDecided());
  own->fail(Status::aborted("says the test"));
  EXPECT_THAT(run->wait().toString(), HasSubstr("says the test"));
  EXPECT_TRUE(next->wait().isOk());
  expectResult();
}

TEST_F(CudaStreamsTest, AStreamWaitsForAnyPoint) {
  EXPECT_TRUE(device->letStreamWait(stream, Point()).isOk());
  const auto own = std::make_shared<Timeline>();
  const Point wanted{own, 1};
  auto waiting = std::async(std::launch::async, [&] { return device->letStreamWait(stream, wanted); });
  // No work of a device: the host waits for it.
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  ASSERT_TRUE(own->signal(1).isOk());
  EXPECT_TRUE(waiting.get().isOk());
  EXPECT_TRUE(device->letStreamWait(stream, wanted).isOk());
  own->fail(Status::aborted("says the test"));
  EXPECT_EQ(device->letStreamWait(stream, {own, 2}).message(), "says the test");
}

TEST_F(CudaStreamsTest, AFailureIsTheRunsAndTheCardsOwn) {
  const auto own = std::make_shared<Timeline>();
  own->fail(Status::aborted("says the test"));
  const Point failed{own, 1};
  const Result<Point> run = executor->submitOn(stream, {&failed, 1});
  ASSERT_TRUE(run) << run.status().toString();
  EXPECT_THAT(run->wait().toString(), HasSubstr("says the test"));
  // The stream goes on, and so does the executor.
  const std::vector<int32_t> x = input();
  upload(x);
  EXPECT_TRUE(executor->submitOn(stream)->wait().isOk());
  expectResult();
  // The run's own wait is refused by the driver.
  upload(x);
  fake->failWait = 1;
  const Result<Point> refused = executor->submitOn(stream);
  ASSERT_TRUE(refused) << refused.status().toString();
  EXPECT_THAT(refused->wait().toString(), HasSubstr("cannot wait for another device: CUDA_ERROR_INVALID_VALUE"));
  // Then that of the stream, which has no need to wait for a run that is over.
  fake->failWait = 2;
  holdRuns(1);
  EXPECT_THAT(executor->submitOn(stream).status().toString(),
              HasSubstr("cannot have a stream of the host program wait: CUDA_ERROR_INVALID_VALUE"));
  holdRuns(0);
  EXPECT_TRUE(executor->run().isOk());
  expectResult();
}

TEST_F(CudaStreamsTest, RefusesWhatIsNoStream) {
  int nothing = 0;
  const char *const said = "CUDA_ERROR_INVALID_HANDLE";
  for (const Status &status : {executor->submitBehind(&nothing).status(), executor->submitOn(&nothing).status(),
                               device->recordStream(&nothing).status()})
    EXPECT_THAT(status.toString(), HasSubstr(said));
  // A stream of another card is none of this one's.
  fake->devices = 2;
  auto other = *createDevice("cuda:1");
  EXPECT_THAT(other->recordStream(stream).status().toString(), HasSubstr(said));
  EXPECT_EQ((*createDevice("cpu", {.threads = 1}))->recordStream(stream).status().message(),
            "device 'cpu' takes no streams of the host program");
  EXPECT_TRUE(executor->run().isOk());
}

} // namespace
