//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TestArtifact.h"
#include "TestKernels.h"
#include "zyx/Runtime/Executor.h"

#include <gmock/gmock.h>

using namespace zyx;
using namespace zyx::runtime;
using testing::HasSubstr;

namespace {

TEST(DummyDeviceTest, CountsWhatAProgramTakes) {
  // Constants 80, arena 128, input 16, outputs 40.
  auto device = *createDummyDevice(264);
  auto artifact = sampleArtifact(testKernels());
  artifact.target = "cuda";
  artifact.code[0].format = "cubin";
  auto executor = Executor::create(device, artifact);
  ASSERT_TRUE(executor.isOk()) << executor.status().toString();
  const float x[4] = {};
  ASSERT_TRUE((*executor)->setInput(0, std::as_bytes(std::span(x))).isOk());
  EXPECT_TRUE((*executor)->run().isOk());
  EXPECT_TRUE((*executor)->submit()->wait().isOk());
  auto times = (*executor)->profile();
  ASSERT_TRUE(times.isOk());
  EXPECT_EQ(times->size(), 5u);
  EXPECT_EQ(device->pool()->usage().inUse, 264u);
  float y[4];
  EXPECT_EQ((*executor)->readOutput(0, std::as_writable_bytes(std::span(y))).message(),
            "pool dummy keeps no data that could be read");
  executor->reset();
  EXPECT_EQ(device->pool()->usage().inUse, 0u);
  EXPECT_EQ(device->pool()->usage().highWater, 264u);
}

TEST(DummyDeviceTest, FailsAsTheDeviceItStandsFor) {
  auto small = *createDummyDevice(200);
  EXPECT_EQ(Executor::create(small, sampleArtifact(testKernels())).status().message(),
            "pool dummy holds 80 of 200 bytes and cannot give 128 more");
  EXPECT_EQ(small->pool()->usage().inUse, 0u);
  auto artifact = sampleArtifact(testKernels());
  artifact.commands[0].wait = {9};
  EXPECT_THAT(small->load(artifact).status().toString(), HasSubstr("waits for command 9"));
}

TEST(DummyDeviceTest, ChecksItsAllocations) {
  auto pool = (*createDummyDevice())->pool();
  auto a = *pool->allocate(4), b = *pool->allocate(0);
  EXPECT_NE(a.handle, b.handle);
  const std::byte bytes[4] = {};
  EXPECT_TRUE(pool->copyIn(a, 0, bytes).isOk());
  EXPECT_EQ(pool->copyIn(a, 1, bytes).message(), "a copy of 4 bytes at byte 1 leaves an allocation of 4");
  EXPECT_FALSE(pool->copyTo(a, *pool, b, 0).isOk());
  EXPECT_FALSE(pool->address(a, 0, 0).isOk());
  EXPECT_TRUE(pool->deallocate(a).isOk());
  EXPECT_EQ(pool->deallocate(a).message(), "pool dummy has no such allocation");
  EXPECT_EQ(pool->copyIn(a, 0, {}).message(), "pool dummy has no such allocation");
}

} // namespace
