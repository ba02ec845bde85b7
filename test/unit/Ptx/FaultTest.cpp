//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "PtxTest.h"

using namespace zyx::test;
using testing::AllOf;
using testing::HasSubstr;

TEST(PtxFault, WhatIsNotKnownIsRefusedByItsName) {
  EXPECT_THAT(faultOf(kernel("frobnicate.b32 %r2, %r3;")),
              AllOf(HasSubstr("line 19"), HasSubstr("'frobnicate' is not known")));
  EXPECT_THAT(faultOf(kernel("add.s32.sideways %r2, %r3, %r4;")), HasSubstr("'sideways' is not known of 'add'"));
  EXPECT_THAT(faultOf(kernel("add.s64 %rd6, %rd7, %r4;")), HasSubstr("another width"));
  EXPECT_THAT(faultOf(kernel("mov.b32 %r2, nowhere;")), HasSubstr("'nowhere' is not declared"));
}

TEST(PtxFault, AccessesOutOfBounds) {
  EXPECT_THAT(faultOf(kernel("ld.global.b32 %r2, [%rd3+4096];")),
              AllOf(HasSubstr("in no allocation"), HasSubstr("lane 0"), HasSubstr("ld.global.b32")));
  EXPECT_THAT(faultOf(kernel("st.global.b32 [%rd4+4096], %r1;")), HasSubstr("in no allocation"));
  EXPECT_THAT(faultOf(kernel("mov.b32 %r2, dynamic;\nst.shared.b32 [%r2+256], %r1;"), {.sharedBytes = 256}),
              HasSubstr("outside of shared memory"));
  EXPECT_THAT(faultOf(kernel("ld.global.v2.b32 {%r2, %r3}, [%rd1+4];")), HasSubstr("no multiple of 8"));
}

TEST(PtxFault, ABarrierThatNotAllReach) {
  // The second warp never comes, and the first one has not ended.
  const std::string text =
      kernel("mov.b32 %r2, dynamic;\nsetp.gt.u32 %p1, %r1, 31;\n@%p1 bra OTHER;\nbar.sync 1, 64;\nOTHER:\n");
  EXPECT_THAT(
      faultOf(text, {.threads = 64}),
      AllOf(HasSubstr("nothing can go on"), HasSubstr("warp 0, line 22: bar.sync 1, 64"), HasSubstr("all lanes")));
}

TEST(PtxFault, MemoryBeforeTheKernelInFrontIsOver) {
  const std::string wait = "griddepcontrol.wait;\ngriddepcontrol.launch_dependents;\n",
                    touch = "ld.global.b32 %r2, [%rd3];\n";
  EXPECT_EQ(faultOf(kernel(wait + touch)), "");
  EXPECT_THAT(faultOf(kernel(touch + wait)),
              AllOf(HasSubstr("touches memory before it has waited for the kernel before"), HasSubstr("line 19"),
                    HasSubstr("ld.global.b32")));
  EXPECT_THAT(faultOf(kernel("griddepcontrol.launch_dependents;\n" + wait)),
              HasSubstr("lane 0: lets the next kernel begin before it has waited for the kernel before"));
  // Shared memory, parameters and barriers are a kernel's own.
  EXPECT_EQ(faultOf(kernel("mov.b32 %r2, dynamic;\nst.shared.b32 [%r2], %r1;\nbar.sync 0;\n" + wait + touch),
                    {.sharedBytes = 256}),
            "");
  // Each thread waits by itself.
  const std::string half = "setp.gt.u32 %p1, %r1, 15;\n@%p1 bra END;\n" + wait + "END:\n";
  EXPECT_THAT(faultOf(kernel(half + touch)), AllOf(HasSubstr("touches memory"), HasSubstr("lane 16")));
  EXPECT_THAT(faultOf(kernel(half)), HasSubstr("lane 16: ends without having waited for the kernel before"));
  EXPECT_THAT(faultOf(kernel("griddepcontrol.sleep;")), HasSubstr("controls grids in a way that is not known"));
}

TEST(PtxFault, LanesOfAWarpAtDifferentBarriers) {
  const std::string text =
      kernel("setp.gt.u32 %p1, %r1, 15;\n@%p1 bra OTHER;\nbar.sync 0;\nbra END;\nOTHER:\nbar.sync 0;\nEND:\n");
  EXPECT_THAT(faultOf(text), HasSubstr("lanes of a warp stand at different barriers"));
}

TEST(PtxFault, AShuffleThatNotAllReach) {
  const std::string text =
      kernel("setp.gt.u32 %p1, %r1, 15;\n@%p1 bra END;\nshfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\nEND:\n");
  EXPECT_THAT(faultOf(text),
              AllOf(HasSubstr("lanes that have ended are asked to take part"), HasSubstr("lanes 16-31")));
}

TEST(PtxFault, ABarrierInMemoryThatNobodyCompletes) {
  const std::string text = kernel("mov.b32 %r2, dynamic;\nmbarrier.init.shared.b64 [%r2], 1;\nWAIT:\n"
                                  "mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;\n@!%p1 bra WAIT;");
  EXPECT_THAT(faultOf(text, {.threads = 1, .sharedBytes = 64}),
              AllOf(HasSubstr("nothing can go on"), HasSubstr("mbarrier.try_wait.parity")));
  EXPECT_THAT(
      faultOf(kernel("mov.b32 %r2, dynamic;\nmbarrier.arrive.shared.b64 _, [%r2];"), {.threads = 1, .sharedBytes = 64}),
      HasSubstr("no barrier that has been initialised"));
}

TEST(PtxFault, ALoopWithoutAnEnd) { EXPECT_THAT(faultOf(kernel("AGAIN:\nbra AGAIN;")), HasSubstr("no end after")); }

TEST(PtxFault, ATrap) { EXPECT_THAT(faultOf(kernel("trap;")), HasSubstr("trap")); }
