//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "PtxTest.h"

using namespace zyx::test;
using testing::Each;
using testing::ElementsAreArray;

static std::vector<uint32_t> iota(size_t count) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(PtxMemory, LoadsAndStores) {
  const std::string text =
      kernel("mul.wide.u32 %rd6, %r1, 16;\nadd.s64 %rd7, %rd1, %rd6;\nadd.s64 %rd8, %rd2, %rd6;\n"
             "ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd7];\nst.global.v4.b32 [%rd8], {%r5, %r4, %r3, %r2};");
  const std::vector<uint32_t> out = run<uint32_t, uint32_t>(text, iota(128), 128);
  EXPECT_EQ(out[4], 7u);
  EXPECT_EQ(out[127], 124u);
}

TEST(PtxMemory, BytesHaveSigns) {
  EXPECT_EQ(compute("ld.global.s8 %r9, [%rd1];", {0x80}), 0xffffff80u);
  EXPECT_EQ(compute("ld.global.u8 %r9, [%rd1];", {0x180}), 0x80u);
}

/// Each thread gives its word to the one of another warp.
static std::string exchange(const std::string &barrier) {
  return kernel(
      "ld.global.b32 %r2, [%rd3];\nmov.b32 %r3, dynamic;\nshl.b32 %r4, %r1, 2;\nadd.s32 %r5, %r3, %r4;\nst.shared.b32 "
      "[%r5], %r2;\n" +
      barrier +
      "\nxor.b32 %r6, %r4, 252;\nadd.s32 %r7, %r3, %r6;\nld.shared.b32 %r8, [%r7];\nst.global.b32 [%rd4], %r8;");
}

TEST(PtxMemory, ThreadsMeetAtBarriers) {
  std::vector<uint32_t> expected = iota(64);
  std::reverse(expected.begin(), expected.end());
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_THAT((run<uint32_t, uint32_t>(exchange("bar.sync 0;"), iota(64), 64,
                                         {.threads = 64, .sharedBytes = 256, .seed = seed})),
                ElementsAreArray(expected));
  // Without a barrier they read what is not there yet.
  EXPECT_NE((run<uint32_t, uint32_t>(exchange(""), iota(64), 64, {.threads = 64, .sharedBytes = 256})), expected);
}

TEST(PtxMemory, WarpsExchangeRegisters) {
  const auto out = run<uint32_t, uint32_t>(
      kernel("shfl.sync.bfly.b32 %r2, %r1, 5, 31, -1;\nst.global.b32 [%rd4], %r2;"), iota(32), 32);
  EXPECT_EQ(out[3], 6u);
  const auto down = run<uint32_t, uint32_t>(
      kernel("shfl.sync.down.b32 %r2|%p1, %r1, 30, 31, -1;\nselp.b32 %r3, %r2, 99, %p1;\nst.global.b32 [%rd4], %r3;"),
      iota(32), 32);
  EXPECT_EQ(down[1], 31u);
  EXPECT_EQ(down[2], 99u);
}

TEST(PtxMemory, LanesThatPartMeetAgain) {
  // Half of the lanes take a longer way to a vote.
  const std::string text =
      kernel("and.b32 %r2, %r1, 1;\nsetp.eq.s32 %p1, %r2, 0;\nmov.b32 %r3, 1;\n@%p1 bra SKIP;\nmov.b32 %r3, "
             "2;\nadd.s32 %r3, %r3, 1;\nSKIP:\n"
             "vote.sync.ballot.b32 %r4, %p1, -1;\nadd.s32 %r5, %r4, %r3;\nst.global.b32 [%rd4], %r5;");
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto out = run<uint32_t, uint32_t>(text, iota(32), 32, {.seed = seed});
    EXPECT_EQ(out[0], 0x55555556u);
    EXPECT_EQ(out[1], 0x55555558u);
  }
}

TEST(PtxMemory, AtomicsAdd) {
  const auto out = run<uint32_t, uint32_t>(kernel("atom.global.add.u32 %r2, [%rd2], 1;"), iota(32), 1, {.groups = 3});
  EXPECT_EQ(out[0], 96u);
}

TEST(PtxMemory, LocalMemoryIsAThreads) {
  const std::string text = kernel(".local .align 8 .b8 depot[16];\nmov.b64 %rd6, depot;\ncvta.local.u64 %rd7, "
                                  "%rd6;\nst.u32 [%rd7+4], %r1;\nld.local.b32 %r2, [%rd6+4];\n"
                                  "st.global.b32 [%rd4], %r2;");
  EXPECT_THAT((run<uint32_t, uint32_t>(text, iota(32), 32)), ElementsAreArray(iota(32)));
}

TEST(PtxMemory, TablesAreThere) {
  const std::string text =
      kernel("mov.b64 %rd6, table;\nadd.s64 %rd7, %rd6, %rd5;\nld.global.b32 %r2, [%rd7];\nst.global.b32 [%rd4], %r2;",
             ".global .align 4 .b32 table[4] = {5, 6, 7, 8};\n");
  EXPECT_EQ((run<uint32_t, uint32_t>(text, iota(4), 4, {.threads = 4})[2]), 7u);
}

TEST(PtxMemory, CopiesOfThreadsAreDoneWhenTheyAreWaitedFor) {
  auto text = [](const std::string &wait) {
    return kernel("mov.b32 %r2, dynamic;\nshl.b32 %r3, %r1, 4;\nadd.s32 %r4, %r2, %r3;\nmul.wide.u32 %rd6, %r1, "
                  "16;\nadd.s64 %rd7, %rd1, %rd6;\n"
                  "cp.async.cg.shared.global [%r4], [%rd7], 16, 8;\ncp.async.commit_group;\n" +
                  wait +
                  "\nadd.s64 %rd8, %rd2, %rd6;\nld.shared.v4.b32 {%r5, %r6, %r7, %r8}, [%r4];\nst.global.v4.b32 "
                  "[%rd8], {%r5, %r6, %r7, %r8};");
  };
  const auto out = run<uint32_t, uint32_t>(text("cp.async.wait_group 0;"), iota(128), 128, {.sharedBytes = 512});
  EXPECT_EQ(out[5], 5u);
  EXPECT_EQ(out[6], 0u);
  const auto early = run<uint32_t, uint32_t>(text("cp.async.wait_group 1;"), iota(128), 128, {.sharedBytes = 512});
  EXPECT_THAT(early, Each(0xffffffffu));
}
