//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../../lib/Runtime/Devices/Stream/CommandOrder.h"
#include "../../../lib/Runtime/Devices/Stream/BoundMemory.h"

#include <gmock/gmock.h>

#include <chrono>
#include <random>
#include <set>

using namespace zyx;
using namespace zyx::artifact;
using namespace zyx::runtime;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

std::vector<size_t> add(CommandOrder &order, std::vector<Touch> touches) {
  const std::span<const size_t> behind = order.add(touches);
  return {behind.begin(), behind.end()};
}
Touch reads(uint64_t begin, uint64_t end) { return {begin, end, false}; }
Touch writes(uint64_t begin, uint64_t end) { return {begin, end, true}; }

TEST(CommandOrderTest, OrdersReadersAndWriters) {
  CommandOrder order;
  EXPECT_THAT(add(order, {writes(0, 10)}), IsEmpty());
  // A diamond: two readers of one writer, and one of both.
  EXPECT_THAT(add(order, {reads(0, 10), writes(20, 30)}), ElementsAre(0));
  EXPECT_THAT(add(order, {reads(5, 10), writes(30, 40)}), ElementsAre(0));
  EXPECT_THAT(add(order, {reads(20, 40), writes(40, 50)}), ElementsAre(2, 1));
  // A writer behind the readers since, for memory that is reused; the one that wrote it before is behind nothing new.
  EXPECT_THAT(add(order, {writes(0, 5)}), ElementsAre(1));
  EXPECT_THAT(add(order, {writes(4, 6)}), ElementsAre(4, 2));
  // Neighbours touch nothing of each other, and two readers neither.
  EXPECT_THAT(add(order, {writes(50, 60)}), IsEmpty());
  EXPECT_THAT(add(order, {reads(40, 50)}), ElementsAre(3));
  EXPECT_THAT(add(order, {reads(40, 50)}), ElementsAre(3));
  // One that touches nothing.
  EXPECT_THAT(add(order, {writes(7, 7), reads(9, 9)}), IsEmpty());
}

TEST(CommandOrderTest, TakesCommandsThatWriteWhatTheyRead) {
  CommandOrder order;
  EXPECT_THAT(add(order, {reads(0, 8), writes(0, 8)}), IsEmpty());
  EXPECT_THAT(add(order, {writes(4, 12), reads(0, 8)}), ElementsAre(0));
  EXPECT_THAT(add(order, {reads(0, 12), writes(2, 3)}), ElementsAre(1));
  EXPECT_THAT(add(order, {reads(0, 1), writes(0, 1)}), ElementsAre(2));
}

// All pairs that share bytes of which one writes some are in order, by edges none of which the others make needless.
TEST(CommandOrderTest, IsThatOfAllPairs) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](uint64_t most) { return random() % most; };
    const uint64_t bytes = 8 + draw(200);
    CommandOrder order;
    std::vector<std::vector<Touch>> commands;
    std::vector<std::set<size_t>> needed, reached;
    for (size_t i = 0; i < 60; ++i) {
      std::vector<Touch> touches(1 + draw(4));
      for (Touch &touch : touches) {
        touch.begin = draw(bytes);
        touch.end = touch.begin + draw(bytes / 4 + 1);
        touch.isWritten = draw(3) == 0;
      }
      const std::vector<size_t> behind = add(order, touches);
      auto conflicts = [&](const std::vector<Touch> &others) {
        for (const Touch &one : touches)
          for (const Touch &other : others)
            if (std::max(one.begin, other.begin) < std::min(one.end, other.end) && (one.isWritten || other.isWritten))
              return true;
        return false;
      };
      std::set<size_t> must, may;
      for (size_t k = 0; k < i; ++k)
        if (conflicts(commands[k])) {
          must.insert(k);
          must.insert(needed[k].begin(), needed[k].end());
        }
      for (const size_t other : behind) {
        EXPECT_LT(other, i);
        EXPECT_FALSE(may.contains(other)) << "needless: " << other << " in front of " << i;
        may.insert(other);
        may.insert(reached[other].begin(), reached[other].end());
      }
      EXPECT_EQ(may, must) << "seed " << seed << ", command " << i;
      commands.push_back(touches);
      needed.push_back(must);
      reached.push_back(may);
    }
  }
}

// As many as a graph has at most: a chain, one value that all read and one overwrites, and slices of one that grow.
TEST(CommandOrderTest, TakesManyCommands) {
  const auto begun = std::chrono::steady_clock::now();
  CommandOrder chain, wide, slices;
  size_t numEdges = 0;
  for (uint64_t i = 0; i < 4096; ++i) {
    numEdges += add(chain, {reads(i * 8, i * 8 + 8), writes(i * 8 + 8, i * 8 + 16)}).size();
    add(wide, {reads(0, 64), writes(64 * i + 64, 64 * i + 128)});
    add(slices, {reads(16 * i, 1 << 20), writes((1 << 21) + 16 * i, (1 << 21) + 16 * i + 16)});
  }
  EXPECT_EQ(numEdges, 4095u);
  EXPECT_EQ(add(wide, {writes(0, 64)}).size(), 4096u);
  EXPECT_EQ(add(slices, {writes(0, 1 << 20)}).size(), 4096u);
  // Where each pair is compared it is seconds; sanitizers take their time.
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
}

/// Inputs 0 and 1, outputs 2 and 3, two buffers of the arena, a constant.
Artifact bound() {
  Artifact a;
  a.buffers = {{BufferKind::Input, 0, 64},   {BufferKind::Input, 1, 64}, {BufferKind::Output, 0, 64},
               {BufferKind::Output, 1, 0},   {BufferKind::Arena, 0, 64}, {BufferKind::Arena, 32, 64},
               {BufferKind::Constant, 0, 64}};
  a.arenaSize = 128;
  a.commands = {{Copy{{0, 0}, {4, 0}, 64}, {}}, {Copy{{5, 0}, {2, 0}, 64}, {}}};
  return a;
}

TEST(BoundMemoryTest, FindsWhatLiesInWhatIsWritten) {
  BoundMemory memory(bound());
  // Where nobody has bound anything yet, all lies in one place.
  const auto bind = [&](std::vector<uint64_t> places) {
    for (uint32_t i = 0; i < places.size(); ++i)
      memory.bind(i, places[i]);
    return memory.overlaps();
  };
  EXPECT_THAT(bind({1000, 2000, 3000, 4000, 5000, 5032, 6000}), IsEmpty());
  // What is only read may lie twice; the second buffer of the arena is where it is.
  EXPECT_THAT(bind({1000, 1000, 3000, 4000, 5000, 5032, 1000}), IsEmpty());
  // The numbers are the arena's, then those of the other buffers in their order.
  EXPECT_THAT(bind({1000, 2000, 1000, 4000, 5000, 5032, 6000}), ElementsAre(Overlap{1, 3, 0}));
  EXPECT_THAT(bind({1000, 1032, 1063, 1000, 5000, 5032, 6000}), ElementsAre(Overlap{1, 3, 63}, Overlap{2, 3, 31}));
  EXPECT_THAT(bind({1000, 2000, 1064, 1000, 5000, 5032, 6000}), IsEmpty());
  EXPECT_THAT(bind({5127, 2000, 4937, 4000, 5000, 5032, 6000}),
              ElementsAre(Overlap{0, 1, 127}, Overlap{0, 3, uint64_t(0) - 63}));
}

} // namespace
