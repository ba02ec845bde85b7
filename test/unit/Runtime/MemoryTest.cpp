//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Buffer.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace zyx;
using namespace zyx::runtime;
using testing::HasSubstr;

namespace {

constexpr std::byte ones[4] = {std::byte{1}, std::byte{1}, std::byte{1}, std::byte{1}};

TEST(HostPoolTest, KeepsItsBudget) {
  auto pool = createHostPool(100);
  auto a = pool->allocate(60);
  ASSERT_TRUE(a.isOk());
  EXPECT_EQ(a->handle % 64, 0u);
  // An exact fit is a fit.
  auto b = pool->allocate(40);
  ASSERT_TRUE(b.isOk());
  EXPECT_EQ(pool->usage().inUse, 100u);
  Status full = pool->allocate(1).status();
  EXPECT_EQ(full.code(), ErrorCode::OutOfMemory);
  EXPECT_EQ(full.message(), "pool host holds 100 of 100 bytes and cannot give 1 more");
  EXPECT_EQ(pool->usage().inUse, 100u);
  EXPECT_TRUE(pool->deallocate(*a).isOk());
  EXPECT_EQ(pool->usage().inUse, 40u);
  EXPECT_EQ(pool->usage().highWater, 100u);
  EXPECT_FALSE(pool->allocate(61).isOk());
  EXPECT_FALSE(pool->allocate(UINT64_MAX).isOk());
  EXPECT_THAT(pool->deallocate(*a).message(), HasSubstr("pool host has no such allocation"));
  EXPECT_TRUE(pool->deallocate(*b).isOk());
  EXPECT_EQ(pool->usage().inUse, 0u);
}

TEST(HostPoolTest, GivesMemoryToZeroBytes) {
  auto pool = createHostPool(1);
  auto a = pool->allocate(0), b = pool->allocate(0);
  ASSERT_TRUE(a.isOk() && b.isOk());
  EXPECT_NE(a->handle, b->handle);
  EXPECT_EQ(pool->usage().inUse, 0u);
  EXPECT_TRUE(pool->copyIn(*a, 0, {}).isOk());
  EXPECT_TRUE(pool->copyOut(*a, 0, {}).isOk());
  EXPECT_TRUE(pool->deallocate(*a).isOk());
  EXPECT_TRUE(pool->deallocate(*b).isOk());
}

TEST(HostPoolTest, AlignsLargeMemoryToLargePages) {
  auto pool = createHostPool();
  EXPECT_GT(pool->usage().limit, uint64_t(1) << 20);
  auto a = pool->allocate(5 << 20);
  ASSERT_TRUE(a.isOk());
  EXPECT_EQ(a->handle % (2 << 20), 0u);
  EXPECT_TRUE(pool->deallocate(*a).isOk());
}

TEST(HostPoolTest, ChecksCopies) {
  auto pool = createHostPool(), other = createHostPool();
  auto a = pool->allocate(8);
  auto b = other->allocate(4);
  std::byte back[4] = {};
  EXPECT_TRUE(pool->copyIn(*a, 4, ones).isOk());
  EXPECT_TRUE(pool->copyOut(*a, 4, back).isOk());
  EXPECT_EQ(std::memcmp(back, ones, 4), 0);
  EXPECT_THAT(pool->copyIn(*a, 5, ones).message(), HasSubstr("a copy of 4 bytes at byte 5 leaves an allocation of 8"));
  EXPECT_FALSE(pool->copyOut(*a, 9, {}).isOk());
  EXPECT_FALSE(pool->copyOut(*b, 0, back).isOk());
  EXPECT_TRUE(pool->copyIn(*a, 0, ones).isOk());
  EXPECT_TRUE(pool->copyTo(*a, *other, *b, 4).isOk());
  EXPECT_TRUE(other->copyOut(*b, 0, back).isOk());
  EXPECT_EQ(std::memcmp(back, ones, 4), 0);
  EXPECT_FALSE(pool->copyTo(*a, *other, *b, 5).isOk());
  EXPECT_FALSE(pool->copyTo(*a, *other, *b, 9).isOk());
  EXPECT_TRUE(pool->deallocate(*a).isOk());
  EXPECT_TRUE(other->deallocate(*b).isOk());
}

TEST(BufferTest, FreesItsMemory) {
  auto pool = createHostPool(16);
  {
    auto buffer = Buffer::allocate(pool, 16);
    ASSERT_TRUE(buffer.isOk());
    EXPECT_EQ(pool->usage().inUse, 16u);
    EXPECT_EQ(Buffer::allocate(pool, 1).status().code(), ErrorCode::OutOfMemory);
  }
  EXPECT_EQ(pool->usage().inUse, 0u);
}

TEST(BufferTest, CopiesBorrowedAndOwnMemory) {
  std::byte memory[4] = {}, back[4] = {};
  auto own = Buffer::allocate(createHostPool(), 4);
  for (const std::shared_ptr<Buffer> &buffer : {Buffer::borrow(memory, 4), *own}) {
    EXPECT_TRUE(buffer->write(ones).isOk());
    EXPECT_TRUE(buffer->read(back).isOk());
    EXPECT_EQ(std::memcmp(back, ones, 4), 0);
    EXPECT_THAT(buffer->write({}).message(), HasSubstr("the buffer has 4 bytes, not 0"));
    EXPECT_FALSE(buffer->read(std::span(back).first(3)).isOk());
  }
  auto empty = Buffer::borrow(nullptr, 0);
  EXPECT_TRUE(empty->write({}).isOk());
  EXPECT_TRUE(empty->read({}).isOk());
}

TEST(BufferTest, OrdersItsUsers) {
  std::byte memory[4] = {};
  auto buffer = Buffer::borrow(memory, 4);
  auto timeline = std::make_shared<Timeline>();
  buffer->noteWrite({timeline, 1});
  buffer->noteRead({timeline, 2});
  buffer->noteRead({timeline, 3});
  std::vector<Point> read, write;
  buffer->beforeRead(read);
  buffer->beforeWrite(write);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].value, 1u);
  EXPECT_EQ(write.size(), 3u);
  // What is over no longer matters.
  ASSERT_TRUE(timeline->signal(2).isOk());
  buffer->noteRead({timeline, 4});
  write.clear();
  buffer->beforeWrite(write);
  ASSERT_EQ(write.size(), 2u);
  EXPECT_EQ(write[0].value, 3u);
  ASSERT_TRUE(timeline->signal(4).isOk());
  EXPECT_TRUE(buffer->wait(true).isOk());
}

TEST(BufferTest, IsWrittenAgainAfterItsWriterFailed) {
  std::byte memory[4] = {}, back[4] = {};
  auto buffer = Buffer::borrow(memory, 4);
  auto timeline = std::make_shared<Timeline>();
  buffer->noteWrite({timeline, 1});
  timeline->fail(Status::internal("broken"));
  EXPECT_EQ(buffer->read(back).message(), "broken");
  EXPECT_TRUE(buffer->write(ones).isOk());
  EXPECT_TRUE(buffer->read(back).isOk());
}

/// A buffer of four ones that runs take.
struct Taken {
  Taken() { EXPECT_TRUE(buffer->write(ones).isOk()); }
  Point take() {
    Point run{std::make_shared<Timeline>(), 1};
    buffer->noteDonation(run);
    return run;
  }
  void fail(const Point &run, bool hasBegun) {
    if (!hasBegun)
      buffer->noteNeverBegan(run);
    run.timeline->fail(Status::internal("it failed"));
  }
  static Status read(const Buffer &from) {
    std::byte bytes[4] = {};
    ZYX_RETURN_IF_ERROR(from.read(bytes));
    EXPECT_EQ(std::memcmp(bytes, ones, sizeof(ones)), 0);
    return Status::ok();
  }
  std::shared_ptr<MemoryPool> pool = createHostPool(100);
  std::shared_ptr<Buffer> buffer = *Buffer::allocate(pool, 4);
};

TEST(TakingTest, WhatNeverBeganIsTakenBackIntoAnotherBuffer) {
  for (const int count : {1, 2, 3}) {
    Taken taken;
    std::vector<Point> runs;
    for (int i = 0; i < count; ++i)
      runs.push_back(taken.take());
    for (const Point &run : runs)
      taken.fail(run, false);
    const std::shared_ptr<Buffer> back = taken.buffer->recoverDonated();
    ASSERT_TRUE(back) << count;
    EXPECT_TRUE(Taken::read(*back).isOk());
    // Who holds the old one as a result learns of the failure, and gets nothing once more.
    EXPECT_EQ(Taken::read(*taken.buffer).message(), "it failed");
    EXPECT_FALSE(taken.buffer->recoverDonated());
    taken.buffer = nullptr;
    EXPECT_TRUE(Taken::read(*back).isOk());
    EXPECT_EQ(taken.pool->usage().inUse, 4u);
  }
}

TEST(TakingTest, WhatHasBegunIsLost) {
  for (const size_t begun : {0, 1, 2}) {
    Taken taken;
    std::vector<Point> runs = {taken.take(), taken.take(), taken.take()};
    for (size_t i = 0; i < runs.size(); ++i)
      taken.fail(runs[i], i == begun);
    EXPECT_FALSE(taken.buffer->recoverDonated()) << begun;
    EXPECT_FALSE(Taken::read(*taken.buffer).isOk());
    // It may be written again.
    EXPECT_TRUE(taken.buffer->write(ones).isOk());
    EXPECT_TRUE(Taken::read(*taken.buffer).isOk());
    EXPECT_FALSE(taken.buffer->recoverDonated());
  }
}

TEST(TakingTest, ASuccessIsTheValueFromThenOn) {
  Taken taken;
  const Point good = taken.take();
  EXPECT_TRUE(good.timeline->signal(1).isOk());
  EXPECT_FALSE(taken.buffer->recoverDonated());
  taken.fail(taken.take(), false);
  const std::shared_ptr<Buffer> back = taken.buffer->recoverDonated();
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->isReady());
}

TEST(TakingTest, IsUndoneWhereItIs) {
  Taken taken;
  const Point run = taken.take();
  run.timeline->fail(Status::internal("it failed"));
  taken.buffer->cancelDonation({std::make_shared<Timeline>(), 1});
  EXPECT_FALSE(Taken::read(*taken.buffer).isOk());
  taken.buffer->cancelDonation(run);
  EXPECT_TRUE(Taken::read(*taken.buffer).isOk());
  // Behind another one that failed there is nothing to come back to.
  taken.fail(taken.take(), false);
  const Point second = taken.take();
  second.timeline->fail(Status::internal("this one, too"));
  taken.buffer->cancelDonation(second);
  EXPECT_EQ(Taken::read(*taken.buffer).message(), "it failed");
}

} // namespace
