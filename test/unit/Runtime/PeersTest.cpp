//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Two cards of one driver: copies between them, and work of one behind work of the other.
//===----------------------------------------------------------------------===//
#include "CudaTest.h"

#include <chrono>
#include <functional>
#include <thread>

using namespace zyx;
using namespace zyx::runtime;
using test::count;
using testing::AllOf;
using testing::HasSubstr;

namespace {

class PeersTest : public test::CudaTest {
protected:
  void SetUp() override {
    CudaTest::SetUp();
    open();
  }
  void TearDown() override {
    holdRuns(0);
    CudaTest::TearDown();
  }

  void open() {
    fake->devices = 2;
    here = *createDevice("cuda");
    there = *createDevice("cuda:1");
  }
  void close() { here = there = nullptr; }
  /// As if nothing had happened.
  void begin() {
    close();
    reset();
    open();
  }

  std::shared_ptr<Buffer> make(const std::shared_ptr<Device> &device, uint64_t size = test::bytes) {
    return *Buffer::allocate(device->pool(), size);
  }
  /// One that has the input.
  std::shared_ptr<Buffer> makeFull(const std::shared_ptr<Device> &device) {
    std::shared_ptr<Buffer> buffer = make(device);
    const std::vector<int32_t> x = input();
    EXPECT_TRUE(buffer->write(std::as_bytes(std::span(x))).isOk());
    return buffer;
  }
  static std::vector<int32_t> read(const Buffer &buffer) {
    std::vector<int32_t> found(buffer.size() / 4);
    const Status status = buffer.read(std::as_writable_bytes(std::span(found)));
    EXPECT_TRUE(status.isOk()) << status.toString();
    return found;
  }
  /// A program on a device that reads this buffer, and adds 2 by two kernels. No loop of it asks the host.
  static Result<std::unique_ptr<Executor>> tryProgram(const std::shared_ptr<Device> &device,
                                                      const std::shared_ptr<Buffer> &x,
                                                      const std::string &kernel = "increment") {
    artifact::Artifact artifact = test::sampleForCuda();
    artifact.commands.resize(2);
    artifact.kernels[0].symbol = kernel;
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, Executor::create(device, std::move(artifact)));
    ZYX_RETURN_IF_ERROR(executor->bindInput(0, x));
    return executor;
  }
  static std::unique_ptr<Executor> makeProgram(const std::shared_ptr<Device> &device,
                                               const std::shared_ptr<Buffer> &x) {
    return std::move(*tryProgram(device, x));
  }
  static std::vector<int32_t> resultOf(const Executor &executor) {
    std::vector<int32_t> found(count);
    const Status status = executor.readOutput(0, std::as_writable_bytes(std::span(found)));
    EXPECT_TRUE(status.isOk()) << status.toString();
    return found;
  }
  std::vector<int32_t> inputPlus(int32_t number) {
    std::vector<int32_t> x = input();
    for (int32_t &each : x)
      each += number;
    return x;
  }
  bool waitForEarlyWaits(int waits) {
    for (int i = 0; i < 10000 && earlyWaits() < waits; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return earlyWaits() >= waits;
  }

  std::shared_ptr<Device> here, there;
};

TEST_F(PeersTest, CopiesWithoutTheHost) {
  const std::shared_ptr<Buffer> from = makeFull(here), to = make(there), back = make(here);
  EXPECT_TRUE(to->reaches(*from));
  const uint64_t before = fake->hostBytes;
  ASSERT_TRUE(to->copyFrom(*from).isOk());
  ASSERT_TRUE(back->copyFrom(*to).isOk());
  EXPECT_EQ(fake->peerCopies, 2);
  EXPECT_EQ(fake->hostBytes, before);
  EXPECT_EQ(read(*to), input());
  EXPECT_EQ(read(*back), input());
  // The host's memory is none that a card reaches.
  const std::shared_ptr<Buffer> host = *Buffer::allocate(createHostPool(), test::bytes);
  EXPECT_FALSE(to->reaches(*host));
  EXPECT_FALSE(host->reaches(*to));
  ASSERT_TRUE(host->copyFrom(*to).isOk());
  EXPECT_EQ(read(*host), input());
  EXPECT_EQ(fake->peerCopies, 2);
}

TEST_F(PeersTest, OneCardThatIsOpenedTwiceIsItsOwnPeer) {
  const std::shared_ptr<Device> again = *createDevice("cuda");
  fake->arePeers = false;
  const std::shared_ptr<Buffer> from = makeFull(here), to = make(again);
  ASSERT_TRUE(to->copyFrom(*from).isOk());
  EXPECT_EQ(fake->peerCopies, 1);
  EXPECT_EQ(read(*to), input());
}

TEST_F(PeersTest, GoesThroughTheHostWhereCardsDoNotReachEachOther) {
  for (bool isRefused : {false, true}) {
    begin();
    fake->arePeers = isRefused;
    fake->failAccess = isRefused ? 1 : 0;
    const std::shared_ptr<Buffer> from = makeFull(here), to = make(there);
    EXPECT_FALSE(to->reaches(*from));
    const uint64_t before = fake->hostBytes;
    ASSERT_TRUE(to->copyFrom(*from).isOk());
    EXPECT_EQ(fake->peerCopies, 0);
    EXPECT_EQ(fake->hostBytes, before + 2 * test::bytes);
    EXPECT_EQ(read(*to), input());
    // It is asked for once, and for each direction.
    EXPECT_FALSE(to->reaches(*from));
    EXPECT_EQ(from->reaches(*to), isRefused);
  }
}

TEST_F(PeersTest, SaysWhyCopiesGoThroughTheHost) {
  // What is debugged is read once, so in another process.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("ZYX_DEBUG", "devices", 1);
  const std::string said =
      "copies from 'cuda' to 'cuda:1' go through the host: cannot let device 'cuda:1' reach the memory "
      "of device 'cuda': the cards are not connected";
  const auto isSaidOnce = [&](const std::string &text) {
    return text.find(said) != std::string::npos && text.find(said) == text.rfind(said);
  };
  const auto copyTwice = [&] {
    fake->arePeers = false;
    const std::shared_ptr<Buffer> from = makeFull(here), to = make(there);
    const bool isGood = to->copyFrom(*from).isOk() && to->copyFrom(*from).isOk();
    std::_Exit(isGood ? 0 : 1);
  };
  EXPECT_EXIT(copyTwice(), testing::ExitedWithCode(0), testing::Truly(isSaidOnce));
  unsetenv("ZYX_DEBUG");
}

TEST_F(PeersTest, ACopyThatFailsChangesNothing) {
  const std::shared_ptr<Buffer> from = makeFull(here), to = make(there);
  ASSERT_TRUE(to->copyFrom(*from).isOk());
  std::vector<int32_t> other(count, 5);
  ASSERT_TRUE(from->write(std::as_bytes(std::span(other))).isOk());
  fake->failPeerCopy = 1;
  EXPECT_THAT(to->copyFrom(*from).message(),
              HasSubstr("cannot copy from device 'cuda' to device 'cuda:1': CUDA_ERROR_INVALID_VALUE"));
  EXPECT_EQ(read(*to), input());
  fake->failPeerCopy = 1;
  Result<Point> later = Buffer::copyLater(from, to, there->queue());
  ASSERT_TRUE(later);
  EXPECT_THAT(later->wait().message(), HasSubstr("cannot copy from device 'cuda' to device 'cuda:1'"));
  // Both cards go on.
  ASSERT_TRUE(to->copyFrom(*from).isOk());
  EXPECT_EQ(read(*to), other);
  const std::shared_ptr<Buffer> small = make(there, 8);
  EXPECT_EQ(Buffer::copyLater(from, small, there->queue()).status().message(), "the buffer has 8 bytes, not 4000");
}

TEST_F(PeersTest, WorkOfOneCardBeginsBehindWorkOfTheOtherWithoutTheHost) {
  const std::shared_ptr<Buffer> x = makeFull(here), y = make(here), moved = make(there);
  std::unique_ptr<Executor> first = makeProgram(here, x), second = makeProgram(there, moved);
  ASSERT_TRUE(first->bindOutput(0, y).isOk());
  holdRuns(1);
  Result<Point> run = first->submit();
  ASSERT_TRUE(run);
  Result<Point> copy = Buffer::copyLater(y, moved, there->queue());
  ASSERT_TRUE(copy);
  // The host still waits for the first card, and the second one has the copy already.
  EXPECT_TRUE(waitForEarlyWaits(1));
  EXPECT_FALSE(run->isDecided());
  EXPECT_FALSE(copy->isDecided());
  Result<Point> behind = second->submit();
  ASSERT_TRUE(behind);
  holdRuns(0);
  EXPECT_TRUE(behind->wait().isOk());
  EXPECT_TRUE(run->isReached());
  EXPECT_TRUE(copy->isReached());
  EXPECT_EQ(resultOf(*second), inputPlus(4));
}

TEST_F(PeersTest, ARunOfOneCardWaitsForTheOther) {
  const std::shared_ptr<Buffer> x = makeFull(here), other = makeFull(there);
  std::unique_ptr<Executor> first = makeProgram(here, x), second = makeProgram(there, other);
  holdRuns(1);
  Result<Point> run = first->submit();
  ASSERT_TRUE(run);
  Result<Point> behind = second->submit(std::span(&*run, 1));
  ASSERT_TRUE(behind);
  EXPECT_TRUE(waitForEarlyWaits(1));
  EXPECT_FALSE(behind->isDecided());
  holdRuns(0);
  EXPECT_TRUE(behind->wait().isOk());
  EXPECT_EQ(resultOf(*second), inputPlus(2));
}

TEST_F(PeersTest, OneCardMakesNoEvents) {
  there = nullptr;
  const std::shared_ptr<Buffer> x = makeFull(here);
  std::unique_ptr<Executor> program = makeProgram(here, x);
  const int before = fake->events;
  Result<Point> run = program->submit();
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->wait().isOk());
  EXPECT_EQ(fake->events, before);
  EXPECT_EQ(fake->eventWaits, 0);
}

TEST_F(PeersTest, ALostCardTakesNothingFromTheOther) {
  const std::shared_ptr<Buffer> x = makeFull(here), value = makeFull(there), moved = make(there);
  std::unique_ptr<Executor> first = std::move(*tryProgram(here, x, "trap"));
  const std::shared_ptr<Buffer> y = make(here);
  ASSERT_TRUE(first->bindOutput(0, y).isOk());
  holdRuns(1);
  Result<Point> run = first->submit();
  ASSERT_TRUE(run);
  Result<Point> copy = Buffer::copyLater(y, moved, there->queue());
  ASSERT_TRUE(copy);
  std::unique_ptr<Executor> second = makeProgram(there, moved), third = makeProgram(there, value);
  EXPECT_TRUE(waitForEarlyWaits(1));
  Result<Point> behind = second->submit();
  ASSERT_TRUE(behind);
  holdRuns(0);
  EXPECT_EQ(run->wait().code(), ErrorCode::DeviceLost);
  // What depends on the card has run in vain, or not at all.
  EXPECT_THAT(copy->wait().toString(),
              AllOf(HasSubstr("work that this depends on failed"), HasSubstr("device 'cuda' is lost")));
  EXPECT_THAT(behind->wait().toString(), HasSubstr("device 'cuda' is lost"));
  EXPECT_EQ(moved->copyFrom(*x).code(), ErrorCode::DeviceLost);
  // All that it does not depend on goes on.
  EXPECT_EQ(read(*value), input());
  ASSERT_TRUE(third->run().isOk());
  EXPECT_EQ(resultOf(*third), inputPlus(2));
}

TEST_F(PeersTest, LosesNothingWhereCallsFail) {
  const auto tryAll = [&]() -> Status {
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> from, Buffer::allocate(here->pool(), test::bytes));
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> to, Buffer::allocate(there->pool(), test::bytes));
    const std::vector<int32_t> x = input();
    ZYX_RETURN_IF_ERROR(from->write(std::as_bytes(std::span(x))));
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executor> first, tryProgram(here, from));
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executor> second, tryProgram(there, to));
    ZYX_ASSIGN_OR_RETURN(Point run, first->submit());
    ZYX_ASSIGN_OR_RETURN(Point copy, Buffer::copyLater(from, to, there->queue()));
    ZYX_ASSIGN_OR_RETURN(Point behind, second->submit(std::span(&run, 1)));
    for (const Point &point : {run, copy, behind})
      ZYX_RETURN_IF_ERROR(point.wait());
    std::vector<int32_t> found(count);
    ZYX_RETURN_IF_ERROR(second->readOutput(0, std::as_writable_bytes(std::span(found))));
    EXPECT_EQ(found, inputPlus(2));
    return Status::ok();
  };
  EXPECT_TRUE(tryAll().isOk());
  const std::function<void(int)> faults[] = {
      [&](int at) { fake->failPeerCopy = at; }, [&](int at) { fake->failWait = at; },
      [&](int at) { fake->failAccess = at; }, [&](int at) { fake->failLaunch = at; },
      [&](int at) { fake->loseAtWork = at; }};
  int failures = 0;
  for (const auto &fault : faults)
    for (int at = 1; at < 40; at += at < 4 ? 1 : 5) {
      begin();
      fault(at);
      failures += !tryAll().isOk();
      const bool isLost = !Buffer::allocate(here->pool(), 1) || !Buffer::allocate(there->pool(), 1);
      close();
      if (!isLost)
        expectNothingLeft();
      EXPECT_EQ(fake->events, 0);
      EXPECT_EQ(fake->contexts, 0);
    }
  EXPECT_GT(failures, 8);
}

} // namespace
