//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../../lib/Runtime/Devices/Stream/Crowding.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

using namespace zyx::runtime;

namespace {

constexpr uint64_t processors = 132, reserved = 1024;

Occupancy kernel(uint64_t groups, uint64_t threads, uint64_t sharedBytes, uint64_t resident, bool hasClusters = false) {
  return {groups, threads, reserved + sharedBytes, resident, hasClusters};
}
void expect(const Occupancy &before, const Occupancy &behind, uint64_t alone, uint64_t beside, bool isGood) {
  const Crowding crowding = crowdingOf(before, behind, processors);
  EXPECT_EQ(crowding.alone, alone);
  EXPECT_EQ(crowding.beside, beside);
  EXPECT_EQ(isUncrowded(before, behind, processors), isGood);
}

TEST(CrowdingTest, ProductsBesideFewThreads) {
  // A product with shared memory for two workgroups, and none where others have all that there is as first cache: those
  // multiprocessors that are free first would run two, and the others none.
  expect(kernel(512, 64, 0, 32), kernel(128, 256, 69632, 2), 1, 2, false);
  // It fills them anyway; or there is one at a time.
  expect(kernel(512, 64, 0, 32), kernel(256, 256, 69632, 2), 2, 2, true);
  expect(kernel(512, 64, 0, 32), kernel(128, 256, 213200, 1), 1, 1, true);
  // Both have room.
  expect(kernel(132, 256, 40000, 5), kernel(132, 256, 40000, 5), 1, 1, true);
}

TEST(CrowdingTest, FewThreadsBesideProducts) {
  // Four multiprocessors have nothing else, and take many.
  expect(kernel(128, 256, 69632, 2), kernel(512, 64, 0, 32), 4, 20, false);
  // Who has all of one leaves no room.
  expect(kernel(128, 256, 120832, 1), kernel(432, 64, 0, 20), 4, 20, false);
  // So few that it does not matter.
  expect(kernel(128, 256, 120832, 1), kernel(4, 32, 0, 32), 1, 1, true);
  expect(kernel(132, 256, 120832, 1), kernel(8, 32, 0, 32), 1, 8, true);
  expect(kernel(132, 256, 120832, 1), kernel(9, 32, 0, 32), 1, 9, false);
  // 96 of 132 are not enough for 256.
  expect(kernel(96, 256, 49152, 2), kernel(256, 32, 0, 32), 2, 8, true);
}

TEST(CrowdingTest, ManyBesideFew) {
  expect(kernel(16, 32, 0, 32), kernel(2048, 64, 320, 24), 16, 16, true);
  // Of 132 multiprocessors 64 have one less. Of what follows all have the same.
  expect(kernel(2048, 64, 320, 24), kernel(16, 32, 0, 32), 1, 1, true);
  expect(kernel(16 * processors, 64, 320, 24), kernel(16, 32, 0, 32), 1, 1, true);
  // Several waves: some are free before others.
  expect(kernel(2 * processors, 1024, 0, 1), kernel(processors, 128, 0, 16), 1, 16, false);
  // What has several itself loses nothing.
  expect(kernel(2 * processors, 1024, 0, 1), kernel(16 * processors, 128, 0, 16), 16, 16, true);
}

TEST(CrowdingTest, KnowsNothingOfClusters) {
  const Occupancy each = kernel(processors, 256, 40000, 5), clusters = kernel(processors, 256, 40000, 5, true);
  expect(each, each, 1, 1, true);
  expect(clusters, each, 1, 5, false);
  expect(each, clusters, 1, 5, false);
}

/// What a workgroup takes of a multiprocessor, in three kinds.
using Needs = std::array<uint64_t, 3>;
constexpr uint64_t whole = 100;

uint64_t fits(const Needs &left, const Needs &each) {
  uint64_t count = whole;
  for (size_t i = 0; i < each.size(); ++i)
    count = std::min(count, left[i] / each[i]);
  return count;
}

// Workgroups are given to multiprocessors as the comment of crowdingOf() says: no one ever has more than that says.
TEST(CrowdingTest, BoundsWhatADeviceMayDo) {
  std::mt19937_64 random(7);
  const auto upTo = [&](uint64_t most) { return 1 + random() % most; };
  int numBelow = 0;
  for (int turn = 0; turn < 20000; ++turn) {
    const uint64_t cores = upTo(12);
    Needs before, behind;
    for (size_t i = 0; i < before.size(); ++i) {
      before[i] = upTo(upTo(whole));
      behind[i] = upTo(upTo(whole));
    }
    const Needs all = {whole, whole, whole};
    // The last one is shared memory.
    const Occupancy first = {upTo(cores * fits(all, before)), 32, before[2], fits(all, before), false},
                    second = {upTo(3 * cores), 32, behind[2], fits(all, behind), false};
    const Crowding crowding = crowdingOf(first, second, cores);
    ASSERT_LE(crowding.alone, crowding.beside);
    numBelow += crowding.beside < std::min(second.resident, second.groups);
    std::vector<Needs> left(cores, all);
    std::vector<uint64_t> counts(cores), theirs(cores);
    for (uint64_t group = 0; group < first.groups; ++group) {
      for (size_t i = 0; i < before.size(); ++i)
        left[group % cores][i] -= before[i];
      ++theirs[group % cores];
    }
    for (uint64_t given = 0; given < second.groups; ++given) {
      std::vector<uint64_t> room;
      for (uint64_t core = 0; core < cores; ++core)
        room.push_back(fits(left[core], behind));
      auto best = static_cast<size_t>(std::ranges::max_element(room) - room.begin());
      while (room[best] == 0) {
        // One of the kernel before is over. Where there is none the rest follows when some of its own are.
        best = random() % cores;
        for (size_t i = 0; i < before.size() && theirs[best] != 0; ++i)
          left[best][i] += before[i];
        if (theirs[best] != 0)
          --theirs[best];
        else if (std::ranges::count(theirs, 0U) == static_cast<ptrdiff_t>(cores))
          break;
        room[best] = fits(left[best], behind);
      }
      if (room[best] == 0)
        break;
      for (size_t i = 0; i < behind.size(); ++i)
        left[best][i] -= behind[i];
      ++counts[best];
    }
    ASSERT_LE(std::ranges::max(counts), crowding.beside) << "turn " << turn;
  }
  // Most often nothing is certain, and often enough something is.
  EXPECT_GT(numBelow, 500);
}

} // namespace
