//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What backends of drivers with one queue have alike, on a driver that is ours.
//===----------------------------------------------------------------------===//
#include "../../../lib/Runtime/Devices/Stream/QueueBackend.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

using namespace zyx;
using namespace zyx::runtime;

namespace {

/// Counts what comes to it. A list is the number of its commands.
class CountingBackend final : public QueueBackend {
public:
  const BackendFacts &facts() const override { return itsFacts; }
  Result<uint64_t> allocate(StreamHandle, uint64_t) override { return 0; }
  Status free(StreamHandle, uint64_t) override { return Status::ok(); }
  Status upload(StreamHandle, MemoryRef, const void *, uint64_t) override { return Status::ok(); }
  Status download(StreamHandle, void *, MemoryRef, uint64_t) override { return Status::ok(); }
  Status copy(StreamHandle, const CopyCommand &) override { return Status::ok(); }
  Status fill(StreamHandle, const FillCommand &) override { return Status::ok(); }
  Status accept(const artifact::Artifact &) const override { return Status::ok(); }
  Result<ModuleHandle> load(const artifact::CodeBlob &) override { return ModuleHandle(); }
  void unload(ModuleHandle) override {}
  Result<KernelHandle> find(ModuleHandle, const artifact::Kernel &) override { return KernelHandle(); }
  Status launch(StreamHandle stream, const LaunchCommand &) override {
    const std::lock_guard lock(mutex);
    ZYX_RETURN_IF_ERROR(collect(stream));
    ++list;
    return Status::ok();
  }

  Status beginList() override {
    list = 0;
    return failsToBegin ? Status::internal("no list") : Status::ok();
  }
  Status submitList(uint64_t &next) override {
    if (failsToSubmit)
      return Status::internal("no queue");
    submitted.push_back(list);
    next = place += 10;
    return Status::ok();
  }
  Status waitFor(uint64_t awaited) override {
    waits.push_back(awaited);
    return Status::ok();
  }

  BackendFacts itsFacts;
  unsigned list = 0;
  uint64_t place = 0;
  std::vector<unsigned> submitted;
  std::vector<uint64_t> waits;
  bool failsToBegin = false, failsToSubmit = false;
};

TEST(QueueBackendTest, CollectsUntilAListIsFullOrSomebodyWaits) {
  CountingBackend backend;
  const StreamHandle one = *backend.createStream(), other = *backend.createStream();
  EXPECT_NE(one, other);
  for (int i = 0; i < 65; ++i)
    ASSERT_TRUE(backend.launch(i % 2 == 0 ? one : other, {}).isOk());
  EXPECT_EQ(backend.submitted, std::vector<unsigned>{64});
  // The queue is one: who waits for a stream waits for all before.
  ASSERT_TRUE(backend.synchronize(other).isOk());
  EXPECT_EQ(backend.submitted, (std::vector<unsigned>{64, 1}));
  EXPECT_EQ(backend.waits, std::vector<uint64_t>{20});
  // Nothing is handed over where nothing came.
  ASSERT_TRUE(backend.synchronize(one).isOk());
  EXPECT_EQ(backend.submitted.size(), 2u);
}

TEST(QueueBackendTest, TellsThoseWhoseCommandsAreLost) {
  CountingBackend backend;
  const StreamHandle one = *backend.createStream(), other = *backend.createStream();
  ASSERT_TRUE(backend.launch(one, {}).isOk());
  backend.failsToSubmit = true;
  EXPECT_TRUE(backend.synchronize(other).isOk());
  backend.failsToSubmit = false;
  // Once, by whatever it does next that tells.
  const EventHandle event = *backend.createEvent(/*isTimed=*/false);
  EXPECT_EQ(backend.record(one, event).message(), "no queue");
  EXPECT_TRUE(backend.synchronize(one).isOk());
  backend.failsToBegin = true;
  EXPECT_EQ(backend.launch(one, {}).message(), "no list");
  backend.failsToBegin = false;
  ASSERT_TRUE(backend.launch(one, {}).isOk());
  EXPECT_TRUE(backend.synchronize(one).isOk());
  EXPECT_EQ(backend.submitted, std::vector<unsigned>{1});
  backend.destroyEvent(event);
}

TEST(QueueBackendTest, EventsAreWhereTheQueueWas) {
  CountingBackend backend;
  const StreamHandle stream = *backend.createStream();
  const EventHandle begin = *backend.createEvent(/*isTimed=*/true), end = *backend.createEvent(/*isTimed=*/true),
                    never = *backend.createEvent(/*isTimed=*/false);
  ASSERT_TRUE(backend.record(stream, begin).isOk());
  ASSERT_TRUE(backend.launch(stream, {}).isOk());
  std::this_thread::sleep_for(std::chrono::microseconds(10));
  ASSERT_TRUE(backend.record(stream, end).isOk());
  ASSERT_TRUE(backend.launch(stream, {}).isOk());
  backend.waits.clear();
  for (const EventHandle each : {begin, end, never})
    EXPECT_TRUE(backend.synchronize(each).isOk());
  EXPECT_EQ(backend.waits, (std::vector<uint64_t>{0, 10, 0}));
  // By the host's clock, which does not go back.
  EXPECT_GT(*backend.elapsed(begin, end), 0u);
  EXPECT_EQ(*backend.elapsed(end, begin), 0u);
  for (const EventHandle each : {begin, end, never})
    backend.destroyEvent(each);
}

} // namespace
