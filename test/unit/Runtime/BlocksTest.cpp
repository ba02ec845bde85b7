//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../../lib/Runtime/Devices/Stream/Blocks.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

using namespace zyx;
using namespace zyx::runtime;

namespace {

constexpr uint64_t blockBytes = 4096;

/// Of a driver with so many bytes. Addresses of the device are none of the host.
class BlocksTest : public ::testing::Test {
protected:
  struct Memory {
    uint64_t address = 0;
    std::byte *mapped = nullptr;
    std::shared_ptr<void> owned = nullptr;
  };
  struct Made {
    std::unique_ptr<std::byte[]> bytes;
    uint64_t size = 0;
  };

  Result<std::unique_ptr<Memory>> make(uint64_t bytes) {
    if (bytes > left)
      return Status::outOfMemory("no more");
    left -= bytes;
    sizes.push_back(bytes);
    const uint64_t address = next;
    next += 2 * bytes;
    Made &made = all[address] = {std::make_unique<std::byte[]>(bytes), bytes};
    return std::make_unique<Memory>(
        Memory{address, made.bytes.get(), {nullptr, [this, address](void *) { destroy(address); }}});
  }
  void destroy(uint64_t address) {
    left += all.at(address).size;
    all.erase(address);
  }

  uint64_t left = 1 << 20, next = uint64_t(1) << 40;
  std::vector<uint64_t> sizes;
  std::map<uint64_t, Made> all;
  Blocks<Memory> blocks{blockBytes, [this](uint64_t bytes) { return make(bytes); }};
};

TEST_F(BlocksTest, SmallOnesShareALargeOne) {
  const uint64_t first = *blocks.allocate(1), second = *blocks.allocate(300);
  EXPECT_EQ(second, first + 256);
  EXPECT_EQ(*blocks.allocate(256), second + 512);
  EXPECT_EQ(sizes, std::vector<uint64_t>{blockBytes});
}

TEST_F(BlocksTest, ALargerOneHasItsOwn) {
  (void)*blocks.allocate(256);
  (void)*blocks.allocate(blockBytes + 1);
  EXPECT_EQ(sizes, (std::vector<uint64_t>{blockBytes, blockBytes + 256}));
}

TEST_F(BlocksTest, NeighboursThatAreFreedAreOne) {
  std::vector<uint64_t> parts;
  for (int i = 0; i < 4; ++i)
    parts.push_back(*blocks.allocate(blockBytes / 4));
  // Behind, before, and between what is free.
  for (int i : {1, 3, 0, 2})
    blocks.free(parts[i]);
  EXPECT_EQ(*blocks.allocate(blockBytes), parts[0]);
  EXPECT_EQ(sizes.size(), 1u);
}

TEST_F(BlocksTest, WhereMemoryIsShortItTakesNoMoreThanIsAskedFor) {
  left = 1024;
  EXPECT_TRUE(blocks.allocate(1000));
  EXPECT_EQ(sizes, std::vector<uint64_t>{1024});
  EXPECT_EQ(blocks.allocate(1).status().code(), ErrorCode::OutOfMemory);
}

TEST_F(BlocksTest, TrimGivesBackWhatNobodyHas) {
  const uint64_t first = *blocks.allocate(blockBytes), second = *blocks.allocate(256);
  blocks.trim();
  EXPECT_EQ(all.size(), 2u);
  blocks.free(first);
  blocks.trim();
  EXPECT_EQ(all.size(), 1u);
  EXPECT_EQ(blocks.find(first).memory, nullptr);
  EXPECT_NE(blocks.find(second).memory, nullptr);
}

TEST_F(BlocksTest, FindsWhereAnAddressLies) {
  (void)*blocks.allocate(256);
  const uint64_t second = *blocks.allocate(256);
  const auto place = blocks.find(second + 3);
  ASSERT_NE(place.memory, nullptr);
  EXPECT_EQ(place.offset, 259u);
  EXPECT_EQ(place.address(), second + 3);
  const auto same = blocks.findMapped(place.mapped());
  EXPECT_EQ(same.memory, place.memory);
  EXPECT_EQ(same.offset, place.offset);
  EXPECT_EQ(blocks.find(second - 512).memory, nullptr);
  EXPECT_EQ(blocks.find(second + blockBytes).memory, nullptr);
  int other = 0;
  EXPECT_EQ(blocks.findMapped(&other).memory, nullptr);
}

} // namespace
