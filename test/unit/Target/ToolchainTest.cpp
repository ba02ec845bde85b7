//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Info/Toolchain.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace zyx;
using namespace zyx::target;

TEST(Toolchain, ProgramsFollowFromTheRecord) {
  EXPECT_TRUE(programsOf(*lookUpTarget("cpu")).empty());
  ASSERT_EQ(programsOf(*lookUpTarget("c")).size(), 1u);
  EXPECT_STREQ(programsOf(*lookUpTarget("c")).front().name, "cc");
  for (const char *card : {"cuda", "sm_80", "sm_90a-fast"}) {
    ASSERT_EQ(programsOf(*lookUpTarget(card)).size(), 1u) << card;
    EXPECT_STREQ(programsOf(*lookUpTarget(card)).front().name, "ptxas");
  }
}

TEST(Toolchain, FindsProgramsAsAShellDoes) {
  // Every Linux has this folder and this program, and no folder is a program.
  ::setenv("PATH", ":/proc:/usr/bin", 1);
  EXPECT_EQ(findProgram({"env"}), "/usr/bin/env");
  EXPECT_EQ(findProgram({"self"}), "");
  EXPECT_EQ(findProgram({"no-such-program"}), "");
  ::setenv("PATH", "", 1);
  EXPECT_EQ(findProgram({"env"}), "");
  EXPECT_EQ(findProgram({"env", nullptr, "/usr/bin"}), "/usr/bin/env");
  EXPECT_EQ(findProgram({"env", "TEST_TOOL", "/usr/bin"}), "/usr/bin/env");
  ::setenv("ZYX_TEST_TOOL", "/elsewhere/env", 1);
  EXPECT_EQ(findProgram({"env", "TEST_TOOL", "/usr/bin"}), "/elsewhere/env");
  // An empty value says that there is none.
  ::setenv("ZYX_TEST_TOOL", "", 1);
  EXPECT_EQ(findProgram({"env", "TEST_TOOL", "/usr/bin"}), "");
}
