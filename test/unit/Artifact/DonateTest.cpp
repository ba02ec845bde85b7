//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What becomes of plans whose outputs may lie in the memory of inputs; that they compute the same is tested by
// RandomPlanTest.
#include "zyx/Artifact/Donate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using namespace zyx::artifact;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr uint64_t size = 4096;

/// Buffers 0 to 4: inputs p and x, outputs next and y, and a temporary t behind another one.
Artifact plan() {
  Artifact a;
  a.entry = "step";
  a.target = "cpu";
  const TensorType type{DType::F32, {size / 4}};
  a.inputs = {{"p", type}, {"x", type}};
  a.outputs = {{"next", type}, {"y", type}};
  a.buffers = {{BufferKind::Input, 0, size},
               {BufferKind::Input, 1, size},
               {BufferKind::Output, 0, size},
               {BufferKind::Output, 1, size},
               {BufferKind::Arena, 0, size}};
  a.arenaSize = size;
  a.code = {{"elf-so", {}}};
  a.kernels = {{"two", 0, 2, 0, "two", {}, 1}, {"three", 0, 3, 0, "three", {}, 1}};
  return a;
}

Command two(uint32_t from, uint32_t to, std::vector<uint32_t> wait = {}) {
  return {Launch{0, {{from, 0}, {to, 0}}, {1, 1, 1}, {}}, std::move(wait)};
}
Command three(uint32_t a, uint32_t b, uint32_t to, std::vector<uint32_t> wait = {}) {
  return {Launch{1, {{a, 0}, {b, 0}, {to, 0}}, {1, 1, 1}, {}}, std::move(wait)};
}

std::string refusal(const Artifact &artifact, std::vector<Donation> donations) {
  return donate(artifact, donations).status().toString();
}

} // namespace

// t = x + p; next = f(p, t); y = g(t, p)
TEST(DonateTest, WhatIsReadWhereItIsWrittenIsMadeBeside) {
  Artifact a = plan();
  a.commands = {three(1, 0, 4), three(0, 4, 2, {0}), three(4, 0, 3, {0})};
  const Result<Artifact> given = donate(a, {{{0, 0}}});
  ASSERT_TRUE(given.isOk()) << given.status().toString();
  ASSERT_EQ(given->commands.size(), 4u);
  // Behind the last reader of p, not behind its own maker.
  EXPECT_EQ(given->commands[1], three(0, 4, 5, {0}));
  EXPECT_EQ(given->commands[2], a.commands[2]);
  EXPECT_EQ(given->commands[3], (Command{Copy{{5, 0}, {2, 0}, size}, {0, 1, 2}}));
  EXPECT_EQ(given->buffers[5], (Buffer{BufferKind::Arena, size, size}));
  EXPECT_EQ(given->arenaSize, 2 * size);
}

// t = x; y = g(t); next = f(p), where t is over.
TEST(DonateTest, WhatIsMadeBesideTakesTheMemoryOfWhatIsOver) {
  Artifact a = plan();
  a.commands = {two(1, 4), two(4, 3, {0}), two(0, 2)};
  const Result<Artifact> given = donate(a, {{{0, 0}}});
  ASSERT_TRUE(given.isOk()) << given.status().toString();
  EXPECT_EQ(given->arenaSize, size);
  EXPECT_EQ(given->buffers[5], (Buffer{BufferKind::Arena, 0, size}));
  // So it waits for who used it.
  EXPECT_EQ(given->commands[2], two(0, 5, {0, 1}));
  EXPECT_THAT(given->commands[3].wait, ElementsAre(0, 1, 2));
}

// t = p; next = f(x)
TEST(DonateTest, WhatIsWrittenBehindTheLastReaderStays) {
  Artifact a = plan();
  a.commands = {two(0, 4), two(1, 2), two(4, 3, {0})};
  const Result<Artifact> given = donate(a, {{{0, 0}}});
  ASSERT_TRUE(given.isOk()) << given.status().toString();
  EXPECT_EQ(given->arenaSize, size);
  EXPECT_THAT(given->commands, ElementsAre(a.commands[0], two(1, 2, {0}), a.commands[2]));
}

// next = p, and some of it f(x); y = g(next)
TEST(DonateTest, WhatBeginsAsACopyIsUpdatedWhereItLies) {
  Artifact a = plan();
  a.commands = {{Copy{{0, 0}, {2, 0}, size}, {}}, two(1, 2, {0}), two(2, 3, {1})};
  const Result<Artifact> given = donate(a, {{{0, 0}}});
  ASSERT_TRUE(given.isOk()) << given.status().toString();
  EXPECT_THAT(given->commands, ElementsAre(a.commands[0], a.commands[1], two(2, 3, {0, 1})));
  EXPECT_EQ(given->arenaSize, size);
}

// next = p, and some of it f(x); y = g(p)
TEST(DonateTest, WhatIsReadBehindItsUpdateIsMadeBeside) {
  Artifact a = plan();
  a.commands = {{Copy{{0, 0}, {2, 0}, size}, {}}, two(1, 2, {0}), two(0, 3)};
  const Result<Artifact> given = donate(a, {{{0, 0}}});
  ASSERT_TRUE(given.isOk()) << given.status().toString();
  EXPECT_THAT(given->commands, ElementsAre(Command{Copy{{0, 0}, {5, 0}, size}, {}}, two(1, 5, {0}), two(0, 3),
                                           Command{Copy{{5, 0}, {2, 0}, size}, {0, 1, 2}}));
}

// A loop that reads p in each pass, around what makes next; the init comes before all.
TEST(DonateTest, LoopsAreOneReader) {
  Artifact a = plan();
  a.inputs.push_back({"w", a.inputs[0].type, /*isWeight=*/true});
  a.buffers.push_back({BufferKind::Input, 2, size});
  a.buffers.push_back({BufferKind::Kept, 0, size});
  a.keptSize = size;
  a.numInitCommands = 1;
  a.commands = {two(5, 6), {Loop{2, 3, {}, {}}, {}}, three(0, 6, 4), two(4, 2, {2}), two(2, 3, {1})};
  const Result<Artifact> given = donate(a, {{{0, 0}}});
  ASSERT_TRUE(given.isOk()) << given.status().toString();
  EXPECT_EQ(given->numInitCommands, 1u);
  // What reads the output reads what is made beside, too.
  EXPECT_THAT(given->commands, ElementsAre(a.commands[0], a.commands[1], a.commands[2], two(4, 7, {2}), two(7, 3, {1}),
                                           Command{Copy{{7, 0}, {2, 0}, size}, {1, 4}}));
  EXPECT_EQ(given->arenaSize, 2 * size);
}

TEST(DonateTest, WhatNobodyReadsOrWritesIsFree) {
  Artifact a = plan();
  a.commands = {two(1, 2)};
  EXPECT_EQ(*donate(a, {{{0, 0}}}), a);
  EXPECT_EQ(*donate(a, {{{1, 1}}}), a);
}

TEST(DonateTest, Refusals) {
  Artifact a = plan();
  EXPECT_THAT(refusal(a, {{2, 0}}), HasSubstr("input 2 is not donated to output 0: there are 2 and 2"));
  EXPECT_THAT(refusal(a, {{0, 2}}), HasSubstr("input 0 is not donated to output 2: there are 2 and 2"));
  EXPECT_THAT(refusal(a, {{0, 0}, {0, 1}}),
              HasSubstr("input 0 is not donated to output 1: one of them is named twice"));
  EXPECT_THAT(refusal(a, {{0, 0}, {1, 0}}),
              HasSubstr("input 1 is not donated to output 0: one of them is named twice"));
  a.inputs[1].isWeight = true;
  EXPECT_THAT(refusal(a, {{1, 0}}), HasSubstr("input 1 is not donated to output 0: it is a weight"));
  a.outputs[1].type.shape = {7};
  EXPECT_THAT(refusal(a, {{0, 1}}), HasSubstr("input 0 is not donated to output 1: they have different sizes"));
}
